/* compare.h: the observable state of a runtime as text, and the comparison of the live runtime with a new one. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_COMPARE_H
#define INVIVO_TESTS_DIFFERENTIAL_COMPARE_H

#include "describe.h"

/* The rules for equal results of two runtimes, one of which has a history:
 *
 * - An object that two resolves return is shared. It is named by its first key, and its content is shown once.
 * - Prototypes and graph-scope objects are compared by structure: within one shared object, or within one resolve,
 *   because the order of calls decides which resolve builds a shared object. In a shared object of a confined type:
 *   within one step, because a reload that injects again has its own graph.
 * - Results of providers, lazies and weak references are compared after every key has been resolved on the thread, in
 *   the scope instance, with each argument, and is held.
 * - A lookup by type keeps its binding unless it is greedy (W-L2): a new runtime receives the bindings (world.h).
 * - Resolves of a constructor are listed as long as its object exists, also after a reload has injected other objects.
 * - The names in a map of the configuration have no order.
 * - An error has the source location that a decision of a document had when its definition was compiled. An equal decision of
 *   another document compiles nothing, nor does one without effect. The location is at the beginning or at the end.
 * - Among equally near names, the suggestion of an error depends on the order of their first use.
 * - Children are created by setups that reloads run at other times: each has a graph of its own. An owner that keeps its
 *   children has those of its first setup.
 * - The children of an object that was dropped again do not count as its dependencies, and an owner may keep those that it has. The
 *   live runtime may therefore have a shared object that a new one cannot create, because a child on the way cannot be created.
 * - States are compared on the main thread, where every key can be resolved. The state `failed` belongs to the last
 *   attempt, and every key has just been resolved. */
enum { MOST_TEXT = 1 << 17, NAMES = KEYS + ENTRIES, MOST_LOCAL = 256, MOST_CALLS = 2 };
typedef struct text { char data[MOST_TEXT]; size_t length; } text;
static text live_text, fresh_text;
static pthread_t main_thread;

static void put(text *into, const char *format, ...) {
    va_list arguments;
    if (into->length > MOST_TEXT - 4096) return;
    va_start(arguments, format);
    into->length += (size_t)vsnprintf(into->data + into->length, 4000, format, arguments);
    va_end(arguments);
    if (into->length > MOST_TEXT - 1) into->length = MOST_TEXT - 1;
}

typedef struct observation {
    text *into;
    bool is_injected_again; /* the shown content is that of an object that reloads inject into */
    bool is_held;           /* a shared object holds it */
    invivo_object found[2][NAMES]; /* in both instances of the host scope */
    bool is_shared[2][NAMES];
    invivo_object with_argument[2][KEYS * ARGUMENTS];
    invivo_object local[MOST_LOCAL];
    int local_count, calls;
} observation;
static const char *name_of(int index) {
    static const char *const each[ENTRIES] = {"a.each[x]", "a.each[y]", "a.each[z]"};
    return index < KEYS ? key_names[index] : each[index - KEYS];
}

static void show_value(observation *self, const invivo_value *value);
static void show_slot(observation *self, const char *name, const slot *slot);
/* An object without a scope instance has the traits and base values of its creation, and a shared object may hold it for long. */
static bool has_traits_of_its_creation(const observation *self) { return (with(WITH_TRAITS) || has_set_bases) && self->is_held; }
static void show_object(observation *self, invivo_object object);
/* A child has a graph of its own. */
static void show_child(observation *self, const slot *child) {
    observation former = *self;
    self->is_injected_again = false, self->is_held = true, self->local_count = 0;
    if (child->kind) put(self->into, " child "), show_object(self, child->object);
    self->is_injected_again = former.is_injected_again, self->is_held = former.is_held, self->local_count = former.local_count;
    memcpy(self->local, former.local, sizeof self->local);
}
static int kind_of(const char *type) {
    for (int i = 0; i < TYPES; i++) if (!strcmp(kinds[i].name, type)) return i;
    return -1;
}
static void show_content(observation *self, const part *part, invivo_object object, bool has_former_traits) {
    invivo_type type = {0};
    (void)invivo_object_type(object, &type, NULL);
    int kind = kind_of(invivo_type_name(type));
    put(self->into, "{%s %d level %d", invivo_type_name(type), (int)part->number, has_former_traits ? 0 : (int)part->level);
    /* An object that a method or factory creates is finalized before its definition sets properties. */
    if (with(WITH_SETUPS) && !has_former_traits && *part->key) put(self->into, " derived %d", (int)part->derived);
    if (with(WITH_SETUPS) && kind >= 0 && kinds[kind].has_setup) {
        put(self->into, " effects %d", seen[part->serial].effects);
        if (!kinds[kind].keeps_children) show_child(self, &part->child);
    }
    show_slot(self, "input", &part->input), show_slot(self, "given", &part->given), show_slot(self, "left", &part->left);
    show_slot(self, "right", &part->right), show_slot(self, "any", &part->any), show_slot(self, "accepted", &part->accepted);
    put(self->into, "}");
}
static bool show_name(observation *self, invivo_object object) {
    for (int place = 0; place < 2; place++)
        for (int i = 0; i < NAMES; i++)
            if (self->is_shared[place][i] && self->found[place][i].bits == object.bits) return put(self->into, "@%s%s", name_of(i), place ? "'" : ""), true;
    return false;
}
static void show_object(observation *self, invivo_object object) {
    if (show_name(self, object)) return;
    for (int i = 0; i < self->local_count; i++) if (self->local[i].bits == object.bits) return put(self->into, "%%%d", i);
    part *part = part_of(object);
    if (!part) return put(self->into, "DEAD");
    if (self->local_count == MOST_LOCAL) return put(self->into, "...");
    put(self->into, "%%%d", self->local_count);
    self->local[self->local_count++] = object;
    bool was_held = self->is_held, has_former_traits = has_traits_of_its_creation(self);
    /* An object that is shared by the resolves with an argument holds others, too. */
    for (int i = 0; i < KEYS * ARGUMENTS * 2 && !self->is_held; i++) self->is_held = self->with_argument[i % 2][i / 2].bits == object.bits;
    show_content(self, part, object, has_former_traits);
    self->is_held = was_held;
}
static void show_slot(observation *self, const char *name, const slot *slot) {
    if (!slot->kind) return;
    if (self->is_injected_again) {
        self->is_injected_again = false, self->local_count = 0;
        show_slot(self, name, slot);
        self->is_injected_again = true;
        return;
    }
    put(self->into, " %s ", name);
    if (slot->kind == 'n') put(self->into, "%lld", (long long)slot->number);
    if (slot->kind == 'o') show_object(self, slot->object);
    if (slot->kind == 'l') {
        put(self->into, "[");
        for (int i = 0; i < slot->count; i++) put(self->into, i ? ", " : ""), show_object(self, slot->list[i]);
        put(self->into, "]");
    }
    if (slot->kind != 'f') return;
    if (self->calls == MOST_CALLS) return put(self->into, "callable");
    self->calls++;
    invivo_value value = invivo_null();
    invivo_error *error = NULL;
    invivo_status status = invivo_callable_call(slot->callable, NULL, 0, &value, &error);
    put(self->into, "call(");
    if (status) put(self->into, "%s", invivo_status_name(status));
    else show_value(self, &value);
    put(self->into, ")");
    invivo_error_release(error);
    invivo_value_clear(&value);
    self->calls--;
}
static bool precedes(const invivo_value *map, uint64_t one, uint64_t other) {
    const invivo_pair *a = &map->as.map.pairs[one], *b = &map->as.map.pairs[other];
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order < 0 || (order == 0 && a->length < b->length);
}
static void show_value(observation *self, const invivo_value *value) {
    switch (value->kind) {
    case INVIVO_KIND_NULL: return put(self->into, "null");
    case INVIVO_KIND_OBJECT: return show_object(self, value->as.object);
    case INVIVO_KIND_BOOL: return put(self->into, value->as.boolean ? "true" : "false");
    case INVIVO_KIND_STRING: return put(self->into, "'%.*s'", (int)value->as.string.length, value->as.string.data);
    case INVIVO_KIND_DOUBLE: return put(self->into, "%g", value->as.number);
    case INVIVO_KIND_LIST:
        put(self->into, "[");
        for (uint64_t i = 0; i < value->as.list.count; i++) put(self->into, i ? ", " : ""), show_value(self, &value->as.list.items[i]);
        return put(self->into, "]");
    case INVIVO_KIND_MAP:
        put(self->into, "{");
        for (uint64_t shown = 0, last = UINT64_MAX; shown < value->as.map.count; shown++) {
            uint64_t next = UINT64_MAX;
            for (uint64_t i = 0; i < value->as.map.count; i++)
                if ((last == UINT64_MAX || precedes(value, last, i)) && (next == UINT64_MAX || precedes(value, i, next))) next = i;
            last = next;
            put(self->into, "%s%.*s: ", shown ? ", " : "", (int)value->as.map.pairs[last].length, value->as.map.pairs[last].name);
            show_value(self, &value->as.map.pairs[last].value);
        }
        return put(self->into, "}");
    default: return put(self->into, "%lld", (long long)value->as.signed_integer);
    }
}
static void show_status(observation *self, invivo_status status, invivo_error *error) {
    const char *text = status ? invivo_error_text(error) : "", *suggestion = strstr(text, "; did you mean"), *past = strstr(text, ": ");
    if (with(WITH_WIRING) && past && !strncmp(text, "document", strlen("document"))) text = past + 2;
    const char *end = suggestion ? suggestion : text + strlen(text), *location = with(WITH_WIRING) ? strstr(text, " (document") : NULL;
    if (location && location < end) end = location;
    put(self->into, "%s %.*s", invivo_status_name(status), (int)(end - text), text);
    invivo_error_release(error);
}

static bool is_confined(invivo_object object) {
    invivo_type type = {0};
    const char *name = invivo_object_type(object, &type, NULL) ? "" : invivo_type_name(type);
    for (int i = 0; i < TYPES; i++) if (!strcmp(kinds[i].name, name)) return !kinds[i].is_shared;
    return false;
}
static invivo_status resolve_with_argument(invivo_runtime runtime, const char *name, int number, invivo_object *out, invivo_error **error) {
    invivo_key key = {0};
    invivo_value argument = invivo_int64(number);
    invivo_status status = invivo_key_find(runtime, name, &key, error);
    return status ? status : invivo_resolve_with(runtime, key, &argument, 1, out, error);
}
static void show_shared(observation *self, invivo_object object) {
    self->is_injected_again = is_confined(object), self->is_held = true;
    show_content(self, part_of(object), object, false);
    self->is_injected_again = self->is_held = false;
}
/* The result of each key with a runtime argument. */
static void show_with_arguments(observation *self, twin *twin) {
    for (int i = 0; i < KEYS; i++) {
        invivo_object object = {0};
        invivo_error *error = NULL;
        invivo_status status = resolve_with_argument(twin->runtime, name_of(i), 2, &object, &error);
        if (status == INVIVO_E_ARITY || status == INVIVO_E_NOT_FOUND) {
            invivo_error_release(error);
            continue;
        }
        put(self->into, "%s of 2: ", name_of(i));
        self->local_count = 0;
        invivo_object again = {0};
        if (object.bits) (void)resolve_with_argument(twin->runtime, name_of(i), 2, &again, NULL);
        if (object.bits && again.bits != object.bits) show_object(self, object);
        else if (object.bits && !show_name(self, object)) show_shared(self, object);
        if (again.bits) MUST(invivo_object_release(again));
        if (object.bits) MUST(invivo_object_release(object));
        show_status(self, status, error), put(self->into, "\n");
    }
}
static void resolve_all_keys(observation *self, twin *twin, int place) {
    for (int i = 0; i < NAMES; i++) {
        invivo_error *error = NULL;
        invivo_status status = invivo_resolve_name(twin->runtime, name_of(i), &self->found[place][i], &error);
        if (status) put(self->into, "%s at place %d: ", name_of(i), place), show_status(self, status, error), put(self->into, "\n");
    }
    for (int i = 0; i < NAMES; i++) {
        invivo_object again = {0};
        if (!self->found[place][i].bits) continue;
        MUST(invivo_resolve_name(twin->runtime, name_of(i), &again, E));
        self->is_shared[place][i] = again.bits == self->found[place][i].bits;
        if (again.bits) MUST(invivo_object_release(again));
    }
    for (int i = 0; i < KEYS * ARGUMENTS && with(WITH_ARGUMENTS); i++)
        (void)resolve_with_argument(twin->runtime, name_of(i / ARGUMENTS), 1 + i % ARGUMENTS, &self->with_argument[place][i], NULL);
}
static const invivo_value *entry_of(const invivo_value *map, const char *name) {
    for (uint64_t i = 0; i < map->as.map.count; i++)
        if (!strncmp(map->as.map.pairs[i].name, name, map->as.map.pairs[i].length) && !name[map->as.map.pairs[i].length]) return &map->as.map.pairs[i].value;
    return NULL;
}
static void show_needs(observation *self, const invivo_value *needs) {
    for (uint64_t i = 0; i < needs->as.list.count; i++) {
        const invivo_value *need = &needs->as.list.items[i], *how = entry_of(need, "how");
        if (how->as.string.length != 5 || strncmp(how->as.string.data, "asked", 5)) put(self->into, "needs "), show_value(self, need), put(self->into, " ");
    }
}
static void show_facts(observation *self, const invivo_value *list, const char *const *names) {
    for (uint64_t i = 0; i < list->as.list.count; i++) {
        for (const char *const *name = names; *name; name++) {
            const invivo_value *found = entry_of(&list->as.list.items[i], *name);
            if (found && !strcmp(*name, "needs")) show_needs(self, found);
            else if (found) put(self->into, "%s%s ", name == names ? "" : *name, name == names ? "" : ":"), show_value(self, found), put(self->into, " ");
        }
        put(self->into, "\n");
    }
}

/* All state of a runtime that the calling thread can observe. */
static void observe(twin *twin, text *into, bool is_main) {
    static const char *const state_facts[] = {"key", "name", "waits", NULL};
    static const char *const wiring_facts[] = {"key", "type", "scope", "alias", "abstract", "rank", "needs", NULL};
    static const char *const sought[] = {"Tool", "Hammer", "Chisel", "Voice", "Saw", "Thing"}, *const all_of[] = {"Tool", "Voice"};
    observation self = {.into = into};
    invivo_error *error = NULL;
    invivo_value value = invivo_null();
    uint64_t former_place = place_of_host;
    int places = with(WITH_HOST_SCOPE) ? 2 : 1;
    into->length = 0, into->data[0] = 0;
    for (int place = 0; place < places; place++) place_of_host = (uint64_t)place + 1, resolve_all_keys(&self, twin, place);
    for (int place = 0; place < places; place++)
        for (int i = 0; i < NAMES; i++) {
            invivo_object object = self.found[place][i];
            place_of_host = (uint64_t)place + 1;
            if (!object.bits || (place && object.bits == self.found[0][i].bits)) continue;
            put(into, "%s%s %s: ", name_of(i), place ? "'" : "", self.is_shared[place][i] ? "shared" : "new");
            self.local_count = 0;
            bool is_first = true; /* another name of a shared object is shown as such */
            for (int j = 0; j < i && self.is_shared[place][i]; j++) if (self.is_shared[place][j] && self.found[place][j].bits == object.bits) is_first = false;
            if (is_first && self.is_shared[place][i]) {
                show_shared(&self, object);
            } else {
                show_object(&self, object);
            }
            put(into, "\n");
        }
    place_of_host = 1;
    if (with(WITH_ARGUMENTS)) show_with_arguments(&self, twin);
    for (size_t i = 0; i < sizeof sought / sizeof *sought; i++)
        for (uint32_t flags = 0; flags < 2; flags++) {
            invivo_key key = {0};
            invivo_status status = invivo_key_of_type(twin->runtime, sought[i], NULL, flags ? INVIVO_LOOKUP_EXACT : 0, &key, (error = NULL, &error));
            put(into, "the %s%s: %s ", sought[i], flags ? " itself" : "", status ? "" : invivo_key_name(key));
            /* The order of assemblies among other definitions is not compared. */
            if (i < 4) show_status(&self, status, error);
            else put(into, "%s", invivo_status_name(status)), invivo_error_release(error);
            put(into, "\n");
        }
    for (int i = 0; i < 2; i++) {
        invivo_status status = invivo_resolve_all(twin->runtime, all_of[i], 0, &value, (error = NULL, &error));
        self.local_count = 0;
        put(into, "all %s: ", all_of[i]), show_value(&self, &value), show_status(&self, status, error), put(into, "\n");
        invivo_value_clear(&value);
    }
    for (int i = 0; i < GROUPS; i++) {
        uint32_t state = 0;
        MUST(invivo_assembly_state(twin->runtime, group_names[i], &state, E));
        put(into, "%s: %u\n", group_names[i], state);
    }
    for (int i = 0; i <= PATHS; i++) {
        const char *path = i < PATHS ? whole_paths[i] : "a.voices";
        invivo_status status = invivo_config_read(twin->runtime, path, &value, (error = NULL, &error));
        put(into, "%s: ", path), show_value(&self, &value), show_status(&self, status, error), put(into, "\n");
        invivo_value_clear(&value);
    }
    char settings[4096];
    print_settings(twin, settings, sizeof settings);
    put(into, "%s", settings);
    if (is_main && MUST(invivo_runtime_states(twin->runtime, &value, E))) show_facts(&self, &value, state_facts);
    invivo_value_clear(&value);
    if (is_main && MUST(invivo_graph_describe(twin->runtime, INVIVO_GRAPH_FACTS, &value, E))) show_facts(&self, &value, wiring_facts);
    invivo_value_clear(&value);
    for (int i = 0; i < KEYS * ARGUMENTS * 2; i++) if (self.with_argument[i % 2][i / 2].bits) MUST(invivo_object_release(self.with_argument[i % 2][i / 2]));
    for (int place = 1; place >= 0; place--)
        for (int i = NAMES - 1; i >= 0; i--) if (self.found[place][i].bits) MUST(invivo_object_release(self.found[place][i]));
    place_of_host = former_place;
}

/* The first different line of two texts, of each. */
static void compare_texts(const char *where) {
    const char *a = live_text.data, *b = fresh_text.data;
    if (!strcmp(a, b)) return;
    while (*a && *b) {
        size_t one = strcspn(a, "\n"), other = strcspn(b, "\n");
        if (one != other || strncmp(a, b, one)) break;
        a += one + (a[one] != 0), b += other + (b[other] != 0);
    }
    disagree(TEXT_DIFFERS, "%s: the live runtime answers\n    %.*s\n  and a fresh one\n    %.*s", where, (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    trace("---- live\n%s---- fresh\n%s----\n", live_text.data, fresh_text.data);
}

/* A shared object may exist in the live runtime that a new one cannot create, because a setup on the way creates a child that cannot be
 * created now: nothing looks at the children of objects that were dropped again, and an owner may keep those that it has. */
static bool is_undecided(twin *live, twin *fresh) {
    place_of_host = 1;
    for (int i = 0; i < NAMES; i++) {
        invivo_object object = {0}, other = {0};
        invivo_error *error = NULL;
        bool is_undecided = false;
        if (invivo_resolve_name(fresh->runtime, name_of(i), &object, &error)) {
            const char *path = invivo_error_path(error);
            for (int key = FIRST_CHILD; key < FIRST_CHILD + CHILDREN; key++)
                is_undecided |= is_child(key) && i != key && !strcmp(path, key_names[key]);
            is_undecided = is_undecided && !invivo_resolve_name(live->runtime, name_of(i), &other, NULL);
        }
        invivo_error_release(error);
        if (object.bits) MUST(invivo_object_release(object));
        if (other.bits) MUST(invivo_object_release(other));
        if (is_undecided) return true;
    }
    return false;
}

static void close_twin(twin *twin, const char *which) {
    invivo_error *error = NULL;
    invivo_status status = invivo_runtime_close(twin->runtime, &error);
    if (status) disagree(CLOSE_FAILED, "close of the %s runtime answers %s: %s", which, invivo_status_name(status), invivo_error_text(error));
    if (status) (void)invivo_runtime_close_deferred(twin->runtime, NULL);
    invivo_error_release(error);
}

/* Compares the live runtime with a new one, on the main thread and on existing workers. */
typedef struct comparison { twin *live, fresh; } comparison;
static void compare_here(void *context) {
    comparison *self = context;
    if (failure) return;
    bool is_main = pthread_equal(pthread_self(), main_thread);
    observe(self->live, &live_text, is_main);
    observe(&self->fresh, &fresh_text, is_main);
    if (!failure && strcmp(live_text.data, fresh_text.data) && !is_undecided(self->live, &self->fresh)) compare_texts("compared");
}

#endif
