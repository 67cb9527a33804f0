/* Random sequences of operations on objects that live in contexts, against a simple model, by one thread.
 *
 *   context_object_model                         the sequences of each test run
 *   context_object_model --seed N --sequences N  N sequences with consecutive seeds
 *
 * A sequence opens, holds, enters and ends contexts, resolves objects of all scopes in them, releases and attaches them, lets
 * initializers and stop functions fail, and changes and overrides definitions. After each operation its status, the objects that were
 * created, their contexts and dependencies, the stopped and the ended objects are those of the model. */
/* sanitize: yes */
#include "check.h"

enum { MOST_NODES = 48, MOST_OBJECTS = 1200, MOST_LEASES = 24, MOST_INPUTS = 3, MOST_OVERRIDES = 3, ENTERED = 4, STEPS = 70, NOWHERE = -1 };
enum { NO_KIND, OUTER, INNER };
static const char *const kind_names[] = {NULL, "outer", "inner"};

/* ---- definitions ------------------------------------------------------------------------------------------- */

enum { POOL, USER, CACHE, MAIL, HANDLER, SESSION, PART, EACH, UPLOAD, BARE, SHARED, VIEW, LOCAL, KEYS };
typedef struct design {
    const char *name, *type;
    uint32_t scope;
    int kind; /* of a context scope */
    int inputs[MOST_INPUTS]; /* terminated by -1, or full */
} design;
static const design designs[KEYS] = {
    [POOL] = {"pool", "Worker", INVIVO_SCOPE_LAZY_SINGLETON, 0, {-1}},
    [USER] = {"user", "Worker", INVIVO_SCOPE_CONTEXT, OUTER, {POOL, -1}},
    [CACHE] = {"cache", "Plain", INVIVO_SCOPE_CONTEXT, NO_KIND, {-1}},
    [MAIL] = {"mail", "Worker", INVIVO_SCOPE_GRAPH, 0, {-1}},
    [HANDLER] = {"handler", "Worker", INVIVO_SCOPE_CONTEXT, INNER, {USER, CACHE, -1}},
    [SESSION] = {"session", "Worker", INVIVO_SCOPE_CONTEXT, OUTER, {MAIL, USER, -1}},
    [PART] = {"part", "Plain", INVIVO_SCOPE_GRAPH, 0, {CACHE, -1}},
    [EACH] = {"each", "Worker", INVIVO_SCOPE_PROTOTYPE, 0, {PART, HANDLER, PART}},
    [UPLOAD] = {"upload", "Worker", INVIVO_SCOPE_PROTOTYPE, 0, {MAIL, SESSION, SHARED}},
    [BARE] = {"bare", "Plain", INVIVO_SCOPE_PROTOTYPE, 0, {-1}},
    [SHARED] = {"shared", "Worker", INVIVO_SCOPE_LAZY_SINGLETON, 0, {MAIL, POOL, -1}},
    [VIEW] = {"view", "Worker", INVIVO_SCOPE_CONTEXT, NO_KIND, {MAIL, SESSION, SHARED}},
    [LOCAL] = {"local", "Worker", INVIVO_SCOPE_THREAD, 0, {POOL, -1}},
};
static bool is_shared(int key) { return designs[key].scope != INVIVO_SCOPE_GRAPH && designs[key].scope != INVIVO_SCOPE_PROTOTYPE; }
static int input_count(int key) {
    int count = 0;
    while (count < MOST_INPUTS && designs[key].inputs[count] >= 0) count++;
    return count;
}
static bool has_stop(int key) { return strcmp(designs[key].type, "Worker") == 0; }

/* ---- the model --------------------------------------------------------------------------------------------- */

typedef struct node {
    invivo_context handle;
    int parent;
    bool is_strong, has_ended, has_failed;
    int kind, holders, cells[KEYS]; /* the shared objects that live here; -1: none */
} node;
/* An object. The first part is expected, the second is what its code reports. */
typedef struct object {
    int key, home, inputs[MOST_INPUTS], input_count, holders;
    bool is_started, is_stopped, has_ended;
    int attached;
    int stops, ends;
    invivo_context seen;
    invivo_object handle;
} object;
typedef struct worker { int number; uint32_t magic; invivo_object inputs[MOST_INPUTS]; } worker;
enum { ALIVE = 0x600d600d, DEAD = 0xdeaddead };

static node nodes[MOST_NODES];
static object objects[MOST_OBJECTS];
static int node_count, object_count, global_cells[KEYS], entered[ENTERED], entered_count;
static struct { int object; invivo_object handle; } leases[MOST_LEASES];
static int lease_count;
static struct { int key; invivo_override handle; } overrides[MOST_OVERRIDES];
static int override_count;
static invivo_runtime runtime;
static invivo_key keys[KEYS];
static uint64_t random_state, sequence_seed;
static const char *operation;
static int failing_init, failing_stop; /* the number of initializers until one fails, -1: none; the key whose stops fail, -1: none */
static int stop_order[MOST_OBJECTS], stop_count, expected_stops[MOST_OBJECTS], expected_stop_count;
static int noted_failures; /* of stops that no call reports */
static int made_from; /* the number of objects before the operation */

static int below(int limit) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (int)((random_state >> 16) % (uint64_t)limit);
}
static bool chance(int percent) { return below(100) < percent; }

#define SAME(found, expected) same_(__LINE__, #found, (int64_t)(found), (int64_t)(expected))
static void same_(int line, const char *what, int64_t found, int64_t expected) {
    if (found != expected)
        check_failed(__FILE__, line, "--seed %llu: after %s, %s is %lld, expected %lld", (unsigned long long)sequence_seed, operation, what,
                     (long long)found, (long long)expected);
}
static void expect_(int line, invivo_status found, invivo_status expected) {
    if (found != expected)
        check_failed(__FILE__, line, "--seed %llu: %s returns %s (%s), expected %s", (unsigned long long)sequence_seed, operation,
                     invivo_status_name(found), invivo_error_text(check_error), invivo_status_name(expected));
    invivo_error_release(check_error);
    check_error = NULL;
}
#define EXPECT(call, expected) (check_error = NULL, expect_(__LINE__, (call), expected))

static int current_node(void) {
    for (int i = entered_count; i-- > 0;) if (!nodes[entered[i]].has_ended) return entered[i];
    return NOWHERE;
}
static uint64_t bits_of(int node) { return node == NOWHERE || nodes[node].has_ended ? 0 : nodes[node].handle.bits; }
static int *cell_of(int key, int home) { return home == NOWHERE ? &global_cells[key] : &nodes[home].cells[key]; }

static void release_node(int node);
static void release_object(int number) {
    object *self = &objects[number];
    if (--self->holders > 0 || self->has_ended) return;
    self->has_ended = true;
    if (self->is_started && !self->is_stopped) self->is_stopped = true, noted_failures += self->key == failing_stop;
    if (self->attached != NOWHERE) { int node = self->attached; self->attached = NOWHERE; release_node(node); }
    for (int i = 0; i < self->input_count; i++) release_object(self->inputs[i]);
}
/* Ends one context after those that hold it: the objects in it are stopped, the newest first, and released. */
static void end_one(int top) {
    for (int i = node_count; i-- > 0;)
        if (!nodes[i].has_ended && nodes[i].is_strong && nodes[i].parent == top) end_one(i), nodes[top].has_failed |= nodes[i].has_failed;
    for (int i = object_count; i-- > 0;) {
        object *self = &objects[i];
        if (self->home != top || !self->is_started || self->is_stopped || self->has_ended) continue;
        self->is_stopped = true;
        expected_stops[expected_stop_count++] = i;
        nodes[top].has_failed |= self->key == failing_stop;
    }
    nodes[top].has_ended = true;
    for (int key = 0; key < KEYS; key++) {
        int number = nodes[top].cells[key];
        nodes[top].cells[key] = -1;
        if (number >= 0) release_object(number);
    }
    for (int i = 0; i < object_count; i++) if (objects[i].attached == top) objects[i].attached = NOWHERE;
}
static void end_node(int top) {
    end_one(top);
    if (nodes[top].is_strong && nodes[top].parent >= 0) release_node(nodes[top].parent);
}
static void release_node(int node) {
    if (nodes[node].has_ended || nodes[node].holders == 0) return;
    if (--nodes[node].holders == 0 && nodes[node].kind == NO_KIND) end_node(node);
}

/* ---- what a resolve creates ---------------------------------------------------------------------------------- */

static object planned[64];
static int planned_count, graph[64][3], graph_count; /* graph: key, home, object */
static invivo_status planned_status;

static int plan(int key, int current) {
    const design *design = &designs[key];
    int home = current;
    if (design->scope == INVIVO_SCOPE_LAZY_SINGLETON || design->scope == INVIVO_SCOPE_THREAD) home = NOWHERE;
    if (design->scope == INVIVO_SCOPE_CONTEXT) {
        if (current == NOWHERE) return planned_status = INVIVO_E_NOT_READY, -1;
        while (design->kind && home >= 0 && nodes[home].kind != design->kind) {
            home = nodes[home].parent;
            if (home >= 0 && nodes[home].has_ended) return planned_status = INVIVO_E_ORPHANED, -1;
        }
        if (home == NOWHERE) return planned_status = INVIVO_E_NOT_READY, -1;
    }
    if (is_shared(key)) {
        if (*cell_of(key, home) >= 0) return *cell_of(key, home);
        for (int i = 0; i < planned_count; i++) if (planned[i].key == key && planned[i].home == home) return object_count + i;
    }
    if (design->scope == INVIVO_SCOPE_GRAPH)
        for (int i = 0; i < graph_count; i++) if (graph[i][0] == key && graph[i][1] == home) return graph[i][2];
    object next = {.key = key, .home = home, .attached = NOWHERE, .input_count = input_count(key)};
    for (int i = 0; i < next.input_count; i++)
        if ((next.inputs[i] = plan(design->inputs[i], home)) < 0) return -1;
    if (planned_count == failing_init) return planned_status = INVIVO_E_HOST, planned[planned_count++] = next, -1;
    planned[planned_count] = next;
    if (design->scope == INVIVO_SCOPE_GRAPH) memcpy(graph[graph_count++], (int[]){key, home, object_count + planned_count}, sizeof *graph);
    return object_count + planned_count++;
}

/* ---- the objects --------------------------------------------------------------------------------------------- */

static int reported; /* objects whose initializer was called */
static int number_of(invivo_object handle) {
    void *instance = NULL;
    if (!handle.bits || invivo_object_instance(handle, (invivo_type){0}, &instance, NULL) != INVIVO_OK) return -1;
    return ((worker *)instance)->number;
}
static int key_number(const invivo_build *build) {
    for (int key = 0; key < KEYS; key++) if (keys[key].bits == build->key.bits) return key;
    return -1;
}
static invivo_status worker_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                 invivo_error **error) {
    (void)user_data;
    worker *self = instance;
    int number = made_from + reported++;
    object *seen = &objects[number];
    seen->seen = invivo_context_current(runtime);
    seen->stops = seen->ends = 0, seen->is_started = false;
    *self = (worker){.number = number, .magic = ALIVE};
    for (size_t i = 0; i < count && i < MOST_INPUTS; i++) self->inputs[i] = arguments[i].as.object;
    /* A reload creates objects that no resolve has planned. */
    if (number >= object_count + planned_count || planned_count == 0) {
        *seen = (object){.key = key_number(build), .home = -2, .attached = NOWHERE, .input_count = input_count(key_number(build)), .seen = seen->seen};
        for (int i = 0; i < seen->input_count; i++) seen->inputs[i] = number_of(self->inputs[i]);
    } else {
        object *expected = &planned[number - object_count];
        SAME(key_number(build), expected->key);
        SAME(seen->seen.bits, bits_of(expected->home));
        for (int i = 0; i < expected->input_count; i++) SAME(number_of(self->inputs[i]), expected->inputs[i]);
    }
    if (failing_init >= 0 && failing_init-- == 0) {
        *error = invivo_error_make(INVIVO_E_HOST, "the initializer fails", NULL, NULL);
        return INVIVO_E_HOST;
    }
    return INVIVO_OK;
}
static void worker_deinit(void *instance, void *user_data) {
    (void)user_data;
    worker *self = instance;
    SAME(self->magic, ALIVE);
    self->magic = DEAD;
    objects[self->number].ends++;
}
static invivo_status worker_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    SAME(((worker *)instance)->magic, ALIVE);
    objects[((worker *)instance)->number].is_started = true;
    return INVIVO_OK;
}
static invivo_status worker_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    worker *self = instance;
    SAME(self->magic, ALIVE);
    object *seen = &objects[self->number];
    SAME(seen->stops++, 0);
    stop_order[stop_count++] = self->number;
    /* Its dependencies are alive, and its context is current. */
    for (int i = 0; i < seen->input_count; i++) SAME(number_of(self->inputs[i]), seen->inputs[i]);
    invivo_context current = invivo_context_current(runtime);
    if (current.bits) SAME(current.bits, seen->home == NOWHERE ? 0 : nodes[seen->home].handle.bits);
    if (seen->key != failing_stop) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "the stop fails", NULL, NULL);
    return INVIVO_E_HOST;
}

/* ---- operations ---------------------------------------------------------------------------------------------- */

static int any_node(void) { return node_count ? chance(80) ? node_count - 1 - below(node_count < 8 ? node_count : 8) : below(node_count) : -1; }

static void open_one(void) {
    if (node_count == MOST_NODES) return;
    node next = {.parent = NOWHERE, .kind = chance(40) ? NO_KIND : 1 + below(2), .holders = 1};
    for (int key = 0; key < KEYS; key++) next.cells[key] = -1;
    invivo_context_options options = {.struct_size = sizeof options, .kind = kind_names[next.kind]};
    next.is_strong = next.kind != NO_KIND;
    if (chance(25)) options.flags |= INVIVO_CONTEXT_STRONG_PARENT, next.is_strong = true;
    else if (chance(15)) options.flags |= INVIVO_CONTEXT_WEAK_PARENT, next.is_strong = false;
    if (chance(15)) options.flags |= INVIVO_CONTEXT_DETACHED;
    else if (chance(85) && node_count) next.parent = any_node(), options.parent = nodes[next.parent].handle;
    else next.parent = current_node();
    invivo_status expected = INVIVO_OK;
    if (next.parent >= 0 && nodes[next.parent].has_ended) expected = INVIVO_E_STALE;
    else if (next.kind)
        for (int at = next.parent; at >= 0 && !nodes[at].has_ended; at = nodes[at].parent)
            if (nodes[at].kind) {
                if (nodes[at].kind > next.kind) expected = INVIVO_E_ARGUMENT;
                break;
            }
    operation = "open";
    EXPECT(invivo_context_open(runtime, &options, &next.handle, E), expected);
    if (expected) return;
    if (next.parent >= 0 && next.is_strong) nodes[next.parent].holders++;
    nodes[node_count++] = next;
}
static void enter_one(void) {
    int node = any_node();
    if (node < 0) return;
    if (entered_count < ENTERED && chance(50)) {
        operation = "enter";
        EXPECT(invivo_context_enter(nodes[node].handle, E), nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK);
        if (!nodes[node].has_ended) entered[entered_count++] = node;
        return;
    }
    operation = "leave";
    int index = -1;
    for (int i = 0; i < entered_count; i++) if (entered[i] == node) index = i;
    EXPECT(invivo_context_leave(nodes[node].handle, E), index >= 0 ? INVIVO_OK : nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_E_DOMAIN);
    if (index < 0) return;
    memmove(&entered[index], &entered[index + 1], sizeof *entered * (size_t)(--entered_count - index));
}
static void resolve_one(void) {
    if (object_count + 64 > MOST_OBJECTS || lease_count == MOST_LEASES) return;
    int key = below(KEYS), node = chance(70) ? any_node() : NOWHERE, from = node >= 0 ? node : current_node(), result = -1;
    static char name[64];
    snprintf(name, sizeof name, "resolve of '%s' in %d", designs[key].name, from);
    operation = name;
    planned_count = graph_count = 0, planned_status = INVIVO_OK;
    int wanted_failure = chance(8) ? below(4) : -1;
    failing_init = wanted_failure;
    if (node >= 0 && nodes[node].has_ended) planned_status = INVIVO_E_STALE;
    else result = plan(key, from);
    invivo_object handle = {0};
    made_from = object_count, reported = 0;
    if (node >= 0) EXPECT(invivo_context_resolve(nodes[node].handle, keys[key], &handle, E), planned_status);
    else EXPECT(invivo_resolve(runtime, keys[key], &handle, E), planned_status);
    failing_init = -1;
    SAME(reported, planned_count);
    for (int i = 0; i < reported; i++) {
        object *self = &objects[object_count];
        *self = (object){.key = planned[i].key, .home = planned[i].home, .input_count = planned[i].input_count, .attached = NOWHERE,
                         .is_started = self->is_started, .stops = self->stops, .ends = self->ends};
        memcpy(self->inputs, planned[i].inputs, sizeof self->inputs);
        object_count++;
    }
    planned_count = 0;
    if (planned_status == INVIVO_OK) SAME(number_of(handle), result);
    for (int i = made_from; i < object_count; i++) {
        /* After a failure, complete shared objects may be kept. The failed one has no end of its own. */
        bool is_kept = planned_status == INVIVO_OK || (is_shared(objects[i].key) && !objects[i].ends && (i < object_count - 1 || planned_status != INVIVO_E_HOST));
        if (!is_kept) { objects[i].has_ended = true, objects[i].ends = 1, objects[i].is_stopped = objects[i].stops; continue; }
        SAME(objects[i].is_started, has_stop(objects[i].key));
        for (int n = 0; n < objects[i].input_count; n++) objects[objects[i].inputs[n]].holders++;
        if (is_shared(objects[i].key)) *cell_of(objects[i].key, objects[i].home) = i, objects[i].holders++;
    }
    if (result < 0) return;
    objects[result].handle = handle;
    objects[result].holders++;
    if (chance(60)) { OK(invivo_object_release(handle)); release_object(result); return; }
    leases[lease_count].object = result, leases[lease_count++].handle = handle;
}
static void release_one(void) {
    if (!lease_count) return;
    int index = below(lease_count), number = leases[index].object;
    operation = "release of an object";
    OK(invivo_object_release(leases[index].handle));
    leases[index] = leases[--lease_count];
    release_object(number);
}
static void hold_one(void) {
    int node = any_node();
    if (node < 0) return;
    invivo_context handle = nodes[node].handle;
    bool has_ended = nodes[node].has_ended;
    failing_stop = chance(20) ? below(KEYS) : -1;
    switch (below(5)) {
    case 0:
    case 1: {
        operation = "end";
        bool refuses = chance(30), has_children = false;
        for (int i = 0; i < node_count; i++) has_children |= nodes[i].parent == node && nodes[i].is_strong && !nodes[i].has_ended;
        invivo_context_ending options = {.struct_size = sizeof options, .flags = refuses ? INVIVO_END_REFUSES_CHILDREN : 0};
        invivo_value list = invivo_null();
        if (!has_ended && refuses && has_children) {
            EXPECT(invivo_context_end_with(handle, &options, NULL, E), INVIVO_E_BUSY);
            break;
        }
        if (!has_ended) end_node(node);
        EXPECT(invivo_context_end_with(handle, &options, &list, E), nodes[node].has_failed ? INVIVO_E_HOST : INVIVO_OK);
        invivo_value_clear(&list);
        break;
    }
    case 2:
        operation = "retain";
        EXPECT(invivo_context_retain(handle, E), has_ended ? INVIVO_E_STALE : INVIVO_OK);
        if (!has_ended) nodes[node].holders++;
        break;
    default:
        operation = "release of a context";
        invivo_status expected = !has_ended && nodes[node].holders == 0 ? INVIVO_E_HANDLE : INVIVO_OK;
        release_node(node);
        EXPECT(invivo_context_release(handle, E), expected);
    }
}
static void attach_one(void) {
    if (!lease_count) return;
    int index = below(lease_count), node = any_node();
    object *self = &objects[leases[index].object];
    if (node < 0) return;
    int former = self->attached;
    if (chance(60)) {
        operation = "attach";
        EXPECT(invivo_context_attach(nodes[node].handle, leases[index].handle, E), nodes[node].has_ended ? INVIVO_E_STALE : INVIVO_OK);
        if (nodes[node].has_ended) return;
        nodes[node].holders++;
        self->attached = node;
    } else {
        operation = "detach";
        EXPECT(invivo_context_detach(leases[index].handle, E), INVIVO_OK);
        self->attached = NOWHERE;
    }
    if (former >= 0) release_node(former);
}

/* ---- reloads --------------------------------------------------------------------------------------------------- */

static bool depends_on(int key, int changed) {
    if (key == changed) return true;
    for (int i = 0; i < input_count(key); i++) if (depends_on(designs[key].inputs[i], changed)) return true;
    return false;
}
/* Into a change set, as an override, or by itself. */
static void define(int key, invivo_changes changes, invivo_override *override) {
    invivo_injection injections[MOST_INPUTS];
    for (int i = 0; i < input_count(key); i++)
        injections[i] = (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = designs[designs[key].inputs[i]].name};
    static uint32_t version; /* each definition differs from the former one */
    invivo_definition definition = {.struct_size = sizeof definition, .key = designs[key].name, .type_name = designs[key].type, .scope = designs[key].scope,
                                    .scope_name = designs[key].kind ? kind_names[designs[key].kind] : NULL, .initializer = injections,
                                    .initializer_count = (uint64_t)input_count(key),
                                    .stop_timeout_ms = 20000 + ++version};
    if (changes.bits) OK(invivo_changes_define(changes, &definition, NULL, E));
    else if (override) OK(invivo_override_begin(runtime, &definition, override, E));
    else OK(invivo_define(runtime, &definition, NULL, E));
}
/* The former shared objects of a changed key, and of those that were created with them, are replaced: by the commit or later. */
static void adopt_reload(int changed) {
    int former_count = object_count;
    object_count += reported;
    /* Those that the commit has created. */
    for (int i = former_count; i < object_count; i++) {
        object *self = &objects[i];
        SAME(self->is_started, has_stop(self->key));
        SAME(depends_on(self->key, changed) || !is_shared(self->key), true);
        self->home = NOWHERE;
        for (int node = 0; node < node_count; node++) if (self->seen.bits && nodes[node].handle.bits == self->seen.bits) self->home = node;
    }
    for (int node = NOWHERE; node < node_count; node++) {
        if (node >= 0 && nodes[node].has_ended) continue;
        for (int key = 0; key < KEYS; key++) {
            int *cell = cell_of(key, node), former = *cell;
            if (former < 0 || !depends_on(key, changed)) continue;
            *cell = -1;
            for (int i = former_count; i < object_count; i++)
                if (objects[i].key == key && objects[i].home == node) SAME(*cell, -1), *cell = i;
        }
    }
    for (int i = former_count; i < object_count; i++) {
        for (int n = 0; n < objects[i].input_count; n++) objects[objects[i].inputs[n]].holders++;
        if (!is_shared(objects[i].key)) continue;
        SAME(*cell_of(objects[i].key, objects[i].home), i);
        objects[i].holders++;
    }
}
static void reload_one(void) {
    if (object_count + 200 > MOST_OBJECTS) return;
    static char name[64];
    int key = below(KEYS), what = below(3), ended = -1;
    int formers[MOST_NODES + 1][KEYS];
    if (what == 2 && override_count) ended = below(override_count), key = overrides[ended].key;
    for (int node = NOWHERE; node < node_count; node++)
        for (int k = 0; k < KEYS; k++) formers[node + 1][k] = depends_on(k, key) ? *cell_of(k, node) : -1;
    bool is_overridden = false;
    for (int i = 0; i < override_count; i++) is_overridden |= overrides[i].key == key;
    if (what == 0 && is_overridden) return;
    made_from = object_count, reported = planned_count = 0;
    if (what == 0) {
        snprintf(name, sizeof name, "definition of '%s'", designs[key].name), operation = name;
        define(key, (invivo_changes){0}, NULL);
    } else if (what == 1 && override_count < MOST_OVERRIDES) {
        snprintf(name, sizeof name, "override of '%s'", designs[key].name), operation = name;
        define(key, (invivo_changes){0}, &overrides[override_count].handle);
        overrides[override_count++].key = key;
    } else if (ended >= 0) {
        snprintf(name, sizeof name, "end of an override of '%s'", designs[key].name), operation = name;
        bool is_last = true;
        for (int i = ended + 1; i < override_count; i++) is_last &= overrides[i].key != key;
        OK(invivo_override_end(overrides[ended].handle, E));
        memmove(&overrides[ended], &overrides[ended + 1], sizeof *overrides * (size_t)(--override_count - ended));
        if (!is_last) return SAME(reported, 0);
    } else return;
    adopt_reload(key);
    for (int node = NOWHERE; node < node_count; node++)
        for (int k = 0; k < KEYS; k++)
            if (formers[node + 1][k] >= 0) release_object(formers[node + 1][k]);
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static void compare(void) {
    uint64_t open = 0;
    invivo_live_counts live = {.struct_size = sizeof live};
    for (int i = 0; i < node_count; i++) open += !nodes[i].has_ended;
    invivo_live(&live);
    SAME(live.contexts, open);
    int alive = 0;
    for (int i = 0; i < object_count; i++) {
        object *self = &objects[i];
        alive += !self->has_ended;
        if (self->stops != self->is_stopped || self->ends != self->has_ended)
            check_failed(__FILE__, __LINE__, "--seed %llu: after %s, object %d '%s' in %d has %d stops and %d ends, expected %d and %d",
                         (unsigned long long)sequence_seed, operation, i, designs[self->key].name, self->home, self->stops, self->ends,
                         self->is_stopped, self->has_ended);
    }
    SAME(live.objects, alive);
    /* The expected order of stops, among others. */
    int next = 0;
    for (int i = 0; i < stop_count; i++) if (next < expected_stop_count && stop_order[i] == expected_stops[next]) next++;
    SAME(next, expected_stop_count);
    stop_count = expected_stop_count = 0;
    for (int i = 0; i < lease_count; i++) {
        invivo_context found;
        object *self = &objects[leases[i].object];
        EXPECT(invivo_context_of(leases[i].handle, &found, E), INVIVO_OK);
        SAME(found.bits, bits_of(self->attached != NOWHERE ? self->attached : self->home));
    }
    SAME(invivo_context_current(runtime).bits, bits_of(current_node()));
}
static void open_runtime(void) {
    const invivo_context_kind kinds[] = {{.struct_size = sizeof *kinds, .name = "outer", .policy = INVIVO_CONTEXT_FOLLOWS},
                                         {.struct_size = sizeof *kinds, .name = "inner", .policy = INVIVO_CONTEXT_FOLLOWS}};
    static const invivo_parameter parameters[] = {{.name = "one", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
                                                  {.name = "two", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
                                                  {.name = "three", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_type_options type = {.struct_size = sizeof type, .name = "Plain", .concurrency = INVIVO_SHARED, .size = sizeof(worker), .alignment = 8,
                                .init = worker_init, .deinit = worker_deinit, .parameters = parameters, .parameter_count = MOST_INPUTS};
    invivo_type out;
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    node_count = object_count = lease_count = override_count = entered_count = stop_count = expected_stop_count = noted_failures = 0;
    failing_init = failing_stop = -1;
    for (int key = 0; key < KEYS; key++) global_cells[key] = -1;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &type, &out, E));
    type.name = "Worker", type.start = worker_start, type.stop = worker_stop;
    OK(invivo_type_register(runtime, &type, &out, E));
    OK(invivo_context_declare_kinds(runtime, kinds, 2, E));
    static const int order[] = {POOL, MAIL, SHARED, LOCAL, USER, CACHE, HANDLER, SESSION, PART, EACH, UPLOAD, BARE, VIEW};
    for (int key = 0; key < KEYS; key++) OK(invivo_key_intern(runtime, designs[key].name, &keys[key], E));
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) define(order[i], changes, NULL);
    OK(invivo_changes_commit(changes, E));
}
static void sequence(uint64_t seed) {
    static void (*const operations[])(void) = {open_one, open_one, open_one, enter_one, enter_one, resolve_one, resolve_one, resolve_one,
                                               resolve_one, resolve_one, release_one, release_one, hold_one, hold_one, attach_one, reload_one};
    sequence_seed = seed;
    random_state = seed * 0x9e3779b97f4a7c15 | 1;
    for (int i = 0; i < 8; i++) below(2);
    open_runtime();
    operation = "nothing";
    for (int step = 0; step < STEPS && !check_failures; step++) {
        failing_stop = -1;
        operations[below(sizeof operations / sizeof *operations)]();
        compare();
    }
    failing_stop = -1;
    /* Ends all, or leaves what is open to close. */
    for (int i = 0; i < node_count && seed % 2; i++) invivo_context_end(nodes[i].handle, NULL);
    operation = "close";
    if (lease_count) EXPECT(invivo_runtime_close(runtime, E), INVIVO_E_BUSY);
    for (int i = 0; i < lease_count; i++) OK(invivo_object_release(leases[i].handle));
    /* Stops outside of ends that failed. */
    EXPECT(invivo_runtime_close(runtime, E), noted_failures ? INVIVO_E_STOP : INVIVO_OK);
    for (int i = 0; i < object_count && !check_failures; i++) {
        if (objects[i].is_started) SAME(objects[i].stops, 1);
        SAME(objects[i].ends, 1);
    }
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
        else return fprintf(stderr, "usage: context_object_model [--seed N] [--sequences N]\n"), 2;
    }
    check_begin();
    RUN_TEST_WITH(sequences_match_the_model, seed, sequences);
    return check_end();
}
