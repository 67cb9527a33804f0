/* Random sequences of operations on trees of contexts against a simple model, by one thread.
 *
 *   context_model                         the sequences of each test run
 *   context_model --seed N --sequences N  N sequences with consecutive seeds
 *
 * A sequence opens, holds, enters and ends contexts with strong and weak parents and with kinds, changes, hides and observes keys,
 * and attaches contexts to objects. After each operation its status, the values that lookups find, the number of calls of each
 * observer and the number of open contexts are those of the model. At the end the runtime closes with all that is open. */
/* sanitize: yes */
#include "thing.h"

enum { MOST = 64, KEYS = 4, STEPS = 60, OBJECTS = 3, OBSERVERS = 4, ENTERED = 4, DEFAULT_KEY = 3, DEFAULT = 99 };
enum { NOTHING = 0, HIDDEN = -1 }; /* contents; others are values */
enum { NO_KIND, OUTER, MIDDLE, INNER };
static const char *const kind_names[] = {NULL, "outer", "middle", "inner"};
static const char *const key_names[KEYS] = {"fixed", "live", "free", "number"};

/* ---- the model --------------------------------------------------------------------------------------------- */

typedef struct node {
    invivo_context handle;
    int parent; /* -1: none */
    bool is_strong, has_ended;
    int kind, holders, content[KEYS];
    bool has_object;
} node;
typedef struct watch { int node, key, levels[MOST], level_count, expected, calls; int64_t last; invivo_observer observer; bool is_open; } watch;

static node nodes[MOST];
static int node_count, attached[OBJECTS], entered[ENTERED], entered_count, next_value;
static watch watches[OBSERVERS];
static invivo_object objects[OBJECTS];
static invivo_runtime runtime;
static invivo_type type;
static invivo_key keys[KEYS];
static uint64_t random_state, sequence_seed;
static const char *operation;

static int below(int limit) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (int)((random_state >> 16) % (uint64_t)limit);
}
static bool chance(int percent) { return below(100) < percent; }

static invivo_status looked_up(int from, int key, int *value) {
    *value = 0;
    if (nodes[from].has_ended) return INVIVO_E_STALE;
    for (int at = from; at >= 0; at = nodes[at].parent) {
        if (nodes[at].has_ended) return INVIVO_E_ORPHANED;
        if (nodes[at].content[key] == HIDDEN) return INVIVO_E_NOT_FOUND;
        if (nodes[at].content[key] != NOTHING) return *value = nodes[at].content[key], INVIVO_OK;
    }
    if (key != DEFAULT_KEY) return INVIVO_E_NOT_FOUND;
    return *value = DEFAULT, INVIVO_OK;
}
static bool concerns(const watch *watch, int node) {
    for (int i = 0; i < watch->level_count; i++) if (watch->levels[i] == node) return true;
    return false;
}
static bool is_within(int node, int top) {
    for (; node != top; node = nodes[node].parent)
        if (node < 0 || !nodes[node].is_strong || nodes[node].has_ended) return false;
    return !nodes[node].has_ended;
}
static void release_node(int node);
/* Ends a context with those that hold it: one change for observers. */
static void end_node(int top) {
    bool ends[MOST] = {false};
    for (int i = 0; i < node_count; i++) ends[i] = is_within(i, top);
    for (int i = 0; i < node_count; i++) if (ends[i]) nodes[i].has_ended = true;
    for (int i = 0; i < OBSERVERS; i++) {
        if (!watches[i].is_open) continue;
        if (ends[watches[i].node]) { watches[i].is_open = false; continue; }
        for (int n = 0; n < node_count; n++)
            if (ends[n] && concerns(&watches[i], n)) { watches[i].expected++; break; }
    }
    int parent = nodes[top].parent;
    if (nodes[top].is_strong && parent >= 0) release_node(parent);
}
static void release_node(int node) {
    if (nodes[node].has_ended || nodes[node].holders == 0) return;
    if (--nodes[node].holders == 0 && nodes[node].kind == NO_KIND) end_node(node);
}
static int current_node(void) {
    for (int i = entered_count; i-- > 0;) if (!nodes[entered[i]].has_ended) return entered[i];
    return -1;
}

/* ---- the library ------------------------------------------------------------------------------------------- */

static void expect(invivo_status found, invivo_status expected) {
    if (found != expected)
        check_failed(__FILE__, __LINE__, "--seed %llu: %s returns %s, expected %s", (unsigned long long)sequence_seed, operation,
                     invivo_status_name(found), invivo_status_name(expected));
}
/* Values are numbers, strings or objects; the key with a default takes numbers. */
typedef struct text { char text[40]; } text;
static invivo_value value_of(int number, int key, text *text) {
    if (key == DEFAULT_KEY || number % 3 == 0) return invivo_int64(number);
    if (number % 3 == 1) return snprintf(text->text, sizeof text->text, "the value %d", number), invivo_string(text->text);
    invivo_value items[] = {invivo_int64(number), invivo_object_value(objects[number % OBJECTS])};
    static invivo_value kept[64][2];
    static int next;
    memcpy(kept[next %= 64], items, sizeof items);
    return invivo_list(kept[next++], 2);
}
static int number_of(const invivo_value *value) {
    int number = 0;
    if (value->kind == INVIVO_KIND_INT64) return (int)value->as.signed_integer;
    if (value->kind == INVIVO_KIND_STRING) return sscanf(value->as.string.data, "the value %d", &number) == 1 ? number : -2;
    return value->kind == INVIVO_KIND_LIST && value->as.list.count == 2 ? (int)value->as.list.items[0].as.signed_integer : -3;
}
static void changed(void *user_data, invivo_context context, invivo_key key, const invivo_value *value) {
    watch *watch = user_data;
    (void)context, (void)key;
    watch->calls++;
    watch->last = value ? number_of(value) : 0;
}

static int any_node(void) { return node_count ? chance(80) ? node_count - 1 - below(node_count < 12 ? node_count : 12) : below(node_count) : -1; }

static void open_one(void) {
    if (node_count == MOST) return;
    node next = {.parent = -1, .kind = chance(50) ? NO_KIND : 1 + below(3), .holders = 1};
    invivo_context_value values[KEYS];
    text texts[KEYS];
    invivo_context_options options = {.struct_size = sizeof options, .kind = kind_names[next.kind], .values = values};
    for (int key = 0; key < KEYS; key++) {
        if (!chance(next.kind == INNER && key < 2 ? 90 : 25)) continue;
        next.content[key] = ++next_value;
        values[options.value_count++] = (invivo_context_value){.key = keys[key], .value = value_of(next_value, key, &texts[key])};
    }
    next.is_strong = next.kind != NO_KIND;
    if (chance(25)) options.flags |= INVIVO_CONTEXT_STRONG_PARENT, next.is_strong = true;
    else if (chance(25)) options.flags |= INVIVO_CONTEXT_WEAK_PARENT, next.is_strong = false;
    if (chance(20)) options.flags |= INVIVO_CONTEXT_DETACHED;
    else if (chance(85) && node_count) next.parent = any_node(), options.parent = nodes[next.parent].handle;
    else next.parent = current_node();
    if (chance(15)) options.object = objects[below(OBJECTS)], next.has_object = true;
    invivo_status expected = INVIVO_OK;
    if (next.kind == INNER && (!next.content[0] || !next.content[1])) expected = INVIVO_E_NOT_FOUND;
    else if (next.parent >= 0 && nodes[next.parent].has_ended) expected = INVIVO_E_STALE;
    else if (next.kind)
        for (int at = next.parent; at >= 0 && !nodes[at].has_ended; at = nodes[at].parent)
            if (nodes[at].kind) {
                if (nodes[at].kind > next.kind) expected = INVIVO_E_ARGUMENT;
                break;
            }
    operation = "open";
    expect(invivo_context_open(runtime, &options, &next.handle, NULL), expected);
    if (expected) return;
    if (next.parent >= 0 && next.is_strong) nodes[next.parent].holders++;
    nodes[node_count++] = next;
}
static void change_one(void) {
    int node = any_node(), wanted[KEYS];
    invivo_context_change changes[KEYS];
    text texts[KEYS];
    size_t count = 0;
    if (node < 0) return;
    for (int key = 0; key < KEYS; key++) wanted[key] = -1;
    for (int i = 0, keys_now = 1 + below(3); i < keys_now; i++) wanted[below(KEYS)] = chance(55) ? INVIVO_VALUE_SET : chance(50) ? INVIVO_VALUE_REMOVE : INVIVO_VALUE_HIDE;
    invivo_status expected = nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK;
    uint32_t changed_keys = 0;
    int values[KEYS];
    for (int key = 0; key < KEYS; key++) {
        if (wanted[key] < 0) continue;
        changed_keys |= 1u << key;
        values[key] = ++next_value;
        changes[count++] = (invivo_context_change){.key = keys[key], .what = (uint32_t)wanted[key], .value = value_of(values[key], key, &texts[key])};
        if (expected == INVIVO_OK && wanted[key] == INVIVO_VALUE_REMOVE && nodes[node].content[key] == NOTHING) expected = INVIVO_E_NOT_FOUND;
        if (expected != INVIVO_E_STALE && key == 0 && nodes[node].kind == INNER) expected = INVIVO_E_READ_ONLY;
    }
    operation = "change";
    invivo_status status;
    if (count > 1) status = invivo_context_change_values(nodes[node].handle, changes, count, NULL);
    else if (changes[0].what == INVIVO_VALUE_SET) status = invivo_context_set(nodes[node].handle, changes[0].key, &changes[0].value, NULL);
    else if (changes[0].what == INVIVO_VALUE_REMOVE) status = invivo_context_remove(nodes[node].handle, changes[0].key, NULL);
    else status = invivo_context_hide(nodes[node].handle, changes[0].key, NULL);
    expect(status, expected);
    if (expected) return;
    for (int key = 0; key < KEYS; key++)
        if (wanted[key] >= 0) nodes[node].content[key] = wanted[key] == INVIVO_VALUE_SET ? values[key] : wanted[key] == INVIVO_VALUE_HIDE ? HIDDEN : NOTHING;
    for (int i = 0; i < OBSERVERS; i++)
        if (watches[i].is_open && changed_keys & 1u << watches[i].key && concerns(&watches[i], node)) watches[i].expected++;
}
static void hold_one(void) {
    int node = any_node();
    if (node < 0) return;
    invivo_context handle = nodes[node].handle;
    bool has_ended = nodes[node].has_ended;
    switch (below(4)) {
    case 0:
        operation = "end";
        expect(invivo_context_end(handle, NULL), INVIVO_OK);
        if (!has_ended) end_node(node);
        break;
    case 1:
        operation = "retain";
        expect(invivo_context_retain(handle, NULL), has_ended ? INVIVO_E_STALE : INVIVO_OK);
        if (!has_ended) nodes[node].holders++;
        break;
    default:
        operation = "release";
        expect(invivo_context_release(handle, NULL), !has_ended && nodes[node].holders == 0 ? INVIVO_E_HANDLE : INVIVO_OK);
        release_node(node);
    }
}
static void attach_one(void) {
    int node = any_node(), object = below(OBJECTS), former = attached[object];
    if (node < 0) return;
    if (chance(60)) {
        operation = "attach";
        expect(invivo_context_attach(nodes[node].handle, objects[object], NULL), nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK);
        if (nodes[node].has_ended) return;
        nodes[node].holders++;
        attached[object] = node;
    } else {
        operation = "detach";
        expect(invivo_context_detach(objects[object], NULL), INVIVO_OK);
        attached[object] = -1;
    }
    if (former >= 0) release_node(former);
}
static void watch_one(void) {
    watch *watch = &watches[below(OBSERVERS)];
    if (watch->is_open) {
        operation = "close of an observer";
        expect(invivo_observer_close(watch->observer, NULL), INVIVO_OK);
        watch->is_open = false;
        return;
    }
    int node = any_node();
    if (node < 0) return;
    *watch = (struct watch){.node = node, .key = below(KEYS)};
    invivo_context_observer options = {.struct_size = sizeof options, .changed = changed, .user_data = watch};
    operation = "observe";
    watch->is_open = !nodes[node].has_ended;
    for (int at = node; at >= 0 && !nodes[at].has_ended; at = nodes[at].parent) watch->levels[watch->level_count++] = at;
    expect(invivo_context_observe(nodes[node].handle, keys[watch->key], &options, &watch->observer, NULL), nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK);
}
static void enter_one(void) {
    int node = any_node();
    if (node < 0) return;
    if (entered_count < ENTERED && chance(50)) {
        operation = "enter";
        expect(invivo_context_enter(nodes[node].handle, NULL), nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK);
        if (!nodes[node].has_ended) entered[entered_count++] = node;
        return;
    }
    operation = "leave";
    int index = -1;
    for (int i = 0; i < entered_count; i++) if (entered[i] == node) index = i;
    expect(invivo_context_leave(nodes[node].handle, NULL), index >= 0 ? INVIVO_OK : nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_E_DOMAIN);
    if (index < 0) return;
    memmove(&entered[index], &entered[index + 1], sizeof *entered * (size_t)(--entered_count - index));
}

/* ---- comparison -------------------------------------------------------------------------------------------- */

#define SAME(found, expected) same_(__LINE__, #found, (int64_t)(found), (int64_t)(expected))
static void same_(int line, const char *what, int64_t found, int64_t expected) {
    if (found != expected)
        check_failed(__FILE__, line, "--seed %llu: after %s, %s is %lld, expected %lld", (unsigned long long)sequence_seed, operation, what,
                     (long long)found, (long long)expected);
}
static void compare_values(int node) {
    for (int key = 0; key < KEYS; key++) {
        int expected, own = nodes[node].content[key];
        invivo_value value;
        invivo_status status = looked_up(node, key, &expected);
        SAME(invivo_context_get(nodes[node].handle, keys[key], &value, NULL), status);
        SAME(status ? 0 : number_of(&value), expected);
        if (!status) invivo_value_clear(&value);
        invivo_view view = invivo_view_begin(runtime);
        const invivo_value *borrowed = invivo_view_context_value(view, nodes[node].handle, keys[key]);
        SAME(borrowed ? number_of(borrowed) : 0, expected);
        invivo_view_end(view);
        status = nodes[node].has_ended ? INVIVO_E_STALE : own > 0 ? INVIVO_OK : INVIVO_E_NOT_FOUND;
        SAME(invivo_context_get_local(nodes[node].handle, keys[key], &value, NULL), status);
        if (!status) SAME(number_of(&value), own), invivo_value_clear(&value);
    }
}
static void compare_entries(int node, bool is_local) {
    invivo_value list;
    int expected[KEYS] = {0}, distance[KEYS] = {0};
    invivo_status status = nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK;
    for (int at = node, far = 0; at >= 0 && !status; at = is_local ? -1 : nodes[at].parent, far++) {
        if (nodes[at].has_ended) status = INVIVO_E_ORPHANED;
        for (int key = 0; key < KEYS; key++)
            if (!expected[key]) expected[key] = nodes[at].content[key], distance[key] = far;
    }
    SAME(invivo_context_entries(nodes[node].handle, is_local, &list, NULL), status);
    if (status) return;
    static const int by_name[KEYS] = {0, 2, 1, 3}; /* fixed, free, live, number */
    size_t index = 0;
    for (int i = 0; i < KEYS; i++) {
        int key = by_name[i];
        if (expected[key] <= 0) continue;
        if (index >= list.as.list.count) { index++; continue; }
        const invivo_value *entry = list.as.list.items[index++].as.list.items;
        SAME(strcmp(entry[0].as.string.data, key_names[key]), 0);
        SAME(number_of(&entry[1]), expected[key]);
        SAME(entry[2].as.unsigned_integer, distance[key]);
    }
    SAME(list.as.list.count, index);
    invivo_value_clear(&list);
}
static void compare_chain(int node) {
    invivo_context found;
    int parent = nodes[node].parent, kind = 1 + below(3), at = node;
    invivo_status status = INVIVO_OK;
    if (nodes[node].has_ended) status = INVIVO_E_STALE;
    else if (parent >= 0 && nodes[parent].has_ended) status = INVIVO_E_ORPHANED;
    SAME(invivo_context_parent(nodes[node].handle, &found, NULL), status);
    SAME(found.bits, status || parent < 0 ? 0 : nodes[parent].handle.bits);
    const char *name = NULL;
    status = nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK;
    SAME(invivo_context_kind_name(nodes[node].handle, &name, NULL), status);
    if (!status) SAME(name ? strcmp(name, kind_names[nodes[node].kind] ? kind_names[nodes[node].kind] : "") : -99, nodes[node].kind ? 0 : -99);
    while (!status && at >= 0 && nodes[at].kind != kind) {
        if ((at = nodes[at].parent) >= 0 && nodes[at].has_ended) status = INVIVO_E_ORPHANED;
    }
    if (!status && at < 0) status = INVIVO_E_NOT_FOUND;
    SAME(invivo_context_find(nodes[node].handle, &(invivo_context_query){.struct_size = sizeof(invivo_context_query), .kind = kind_names[kind]}, &found, NULL), status);
    SAME(found.bits, status ? 0 : nodes[at].handle.bits);
    invivo_object object;
    status = nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK;
    SAME(invivo_context_object(nodes[node].handle, &object, NULL), status);
    if (!status) SAME(object.bits != 0, nodes[node].has_object);
    if (object.bits) OK(invivo_object_release(object));
}
static void compare(bool all) {
    uint64_t open = 0;
    invivo_live_counts live = {.struct_size = sizeof live};
    for (int i = 0; i < node_count; i++) open += !nodes[i].has_ended;
    invivo_live(&live);
    SAME(live.contexts, open);
    for (int i = 0; i < OBSERVERS; i++) {
        int value;
        SAME(watches[i].calls, watches[i].expected);
        if (watches[i].calls && watches[i].is_open) {
            looked_up(watches[i].node, watches[i].key, &value);
            SAME(watches[i].last, value);
        }
        watches[i].calls = watches[i].expected = 0;
    }
    for (int i = 0; i < OBJECTS; i++) {
        invivo_context found;
        SAME(invivo_context_of(objects[i], &found, NULL), INVIVO_OK);
        SAME(found.bits, attached[i] < 0 || nodes[attached[i]].has_ended ? 0 : nodes[attached[i]].handle.bits);
    }
    int current = current_node();
    SAME(invivo_context_current(runtime).bits, current < 0 ? 0 : nodes[current].handle.bits);
    for (int i = 0; i < (all ? node_count : node_count ? 2 : 0); i++) {
        int node = all ? i : any_node();
        compare_values(node);
        compare_entries(node, false);
        compare_entries(node, true);
        compare_chain(node);
    }
}

static void open_runtime(void) {
    static const invivo_context_provided provided[] = {{.key = "fixed"}, {.key = "live", .flags = INVIVO_PROVIDED_LIVE}};
    const invivo_context_kind kinds[] = {
        {.struct_size = sizeof *kinds, .name = "outer", .policy = INVIVO_CONTEXT_FOLLOWS},
        {.struct_size = sizeof *kinds, .name = "middle", .policy = INVIVO_CONTEXT_FOLLOWS},
        {.struct_size = sizeof *kinds, .name = "inner", .policy = INVIVO_CONTEXT_FOLLOWS, .provides = provided, .provided_count = 2}};
    invivo_value initial = invivo_int64(DEFAULT);
    invivo_runtime_options options = without_history();
    options.log_level = INVIVO_LOG_ERROR;
    runtime = thing_runtime_with(&options);
    OK(invivo_type_find(runtime, "Thing", &type, E));
    for (int i = 0; i < KEYS; i++) OK(invivo_key_intern(runtime, key_names[i], &keys[i], E));
    OK(invivo_context_declare_kinds(runtime, kinds, 3, E));
    OK(invivo_context_declare_key(runtime, &(invivo_context_key){.struct_size = sizeof(invivo_context_key), .name = "number",
                                                                 .kind = INVIVO_KIND_INT64, .initial = &initial}, E));
    for (int i = 0; i < OBJECTS; i++) OK(invivo_object_make(runtime, type, NULL, 0, &objects[i], E)), attached[i] = -1;
    node_count = entered_count = next_value = 0;
    memset(watches, 0, sizeof watches);
}
static void sequence(uint64_t seed) {
    static void (*const operations[])(void) = {open_one, open_one, change_one, change_one, change_one, hold_one, hold_one, attach_one, watch_one, enter_one};
    sequence_seed = seed;
    random_state = seed * 0x9e3779b97f4a7c15 | 1;
    for (int i = 0; i < 8; i++) below(2);
    open_runtime();
    operation = "nothing";
    for (int step = 0; step < STEPS && !check_failures; step++) {
        operations[below(sizeof operations / sizeof *operations)]();
        compare(step % 16 == 15);
    }
    /* Ends all, or leaves what is open to close. */
    for (int i = 0; i < node_count && seed % 2; i++) OK(invivo_context_end(nodes[i].handle, E));
    for (int i = 0; i < OBJECTS; i++) OK(invivo_object_release(objects[i]));
    if (seed % 2) {
        invivo_live_counts live = {.struct_size = sizeof live};
        invivo_live(&live);
        CHECK_EQUAL(live.contexts, 0);
    }
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
}
static void sequences_match_the_model(uint64_t seed, int sequences) {
    for (int i = 0; i < sequences && !check_failures; i++) sequence(seed + (uint64_t)i);
}

int main(int count, char **arguments) {
    uint64_t seed = 1;
    int sequences = 1000;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--seed") && i + 1 < count) seed = strtoull(arguments[++i], NULL, 10);
        else if (!strcmp(arguments[i], "--sequences") && i + 1 < count) sequences = atoi(arguments[++i]);
        else return fprintf(stderr, "usage: context_model [--seed N] [--sequences N]\n"), 2;
    }
    check_begin();
    RUN_TEST_WITH(sequences_match_the_model, seed, sequences);
    return check_end();
}
