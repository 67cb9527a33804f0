/* Invariants of random graphs with threads: several resolve, hold and examine objects while another one commits
 * definitions, overrides and failing changes. Each definition has a unique number, which its objects know; the
 * committing thread records the numbers of each generation. Invariants:
 *
 * - an object that was resolved during a generation belongs to it, and so do its dependencies;
 * - a shared object is created once per generation;
 * - a view shows objects of its generation;
 * - objects of a failed change are never visible;
 * - no thread gets a disposed object; each is disposed of once, and all by the end.
 *
 *   model_threads                                                    the default run
 *   model_threads --seed N --rounds N --threads N --commits N */
/* sanitize: yes */
#include "check.h"

enum { KEYS = 10, GIVEN = 3, MOST_THREADS = 8, MOST_HELD = 12, MOST_OBJECTS = 4 << 20 };
enum { ALIVE = 0x41a11fe5, GONE = 0x00dead00 };

typedef struct thing {
    uint32_t state;
    int key, scope, serial;
    uint64_t number; /* number of the definition that created it */
    invivo_object given[GIVEN]; /* borrowed */
} thing;

static invivo_runtime runtime;
static invivo_type type;
static invivo_key keys[KEYS];
static char names[KEYS][8];

/* For each generation: the number of each key's definition, as observed and as committed; and its shared object. */
static uint64_t (*seen)[KEYS], (*committed)[KEYS];
static int (*shared)[KEYS];
static uint64_t most_generations;

static uint8_t *disposals; /* by serial */
static int serials, live, is_over;
static uint64_t doomed; /* objects with this number cannot be created */
static uint64_t resolved, refused, looked_through;

static uint64_t chance(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int below(uint64_t *state, int limit) { return (int)(chance(state) % (uint64_t)limit); }

/* ---- objects ------------------------------------------------------------------------------------------ */

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    thing *self = instance;
    (void)user_data, (void)count;
    self->key = invivo_key_name(build->key)[2] - 'a';
    self->number = (uint64_t)arguments[0].as.signed_integer;
    self->scope = (int)arguments[1].as.signed_integer;
    for (int i = 0; i < 2; i++) if (count > (size_t)i + 2 && arguments[i + 2].kind == INVIVO_KIND_OBJECT) self->given[i] = arguments[i + 2].as.object;
    if (self->number % 3 == 0) sched_yield(); /* other threads request it meanwhile */
    if (self->number == __atomic_load_n(&doomed, __ATOMIC_RELAXED)) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    if (self->serial >= MOST_OBJECTS) abort();
    __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    self->state = ALIVE;
    return INVIVO_OK;
}
static void thing_deinit(void *instance, void *user_data) {
    thing *self = instance;
    (void)user_data;
    if (self->state != ALIVE || __atomic_add_fetch(&disposals[self->serial], 1, __ATOMIC_RELAXED) != 1) check_failed(__FILE__, __LINE__, "an object is disposed of twice");
    self->state = GONE;
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
}
static invivo_status get_last(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((thing *)instance)->given[2]);
    (void)user_data;
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_last(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((thing *)instance)->given[2] = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}

/* ---- observations -------------------------------------------------------------------------------------- */

static void see(const thing *object, uint64_t generation, const char *how) {
    if (object->state != ALIVE) {
        check_failed(__FILE__, __LINE__, "an object of %s that is disposed of is %s", names[object->key], how);
        return;
    }
    uint64_t first = 0;
    if (!__atomic_compare_exchange_n(&seen[generation][object->key], &first, object->number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && first != object->number)
        check_failed(__FILE__, __LINE__, "in generation %llu %s is of definition %llu and of %llu (%s)", (unsigned long long)generation, names[object->key], (unsigned long long)first, (unsigned long long)object->number, how);
    if (object->scope != INVIVO_SCOPE_SINGLETON && object->scope != INVIVO_SCOPE_LAZY_SINGLETON) return;
    int other = 0;
    if (!__atomic_compare_exchange_n(&shared[generation][object->key], &other, object->serial, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && other != object->serial)
        check_failed(__FILE__, __LINE__, "in generation %llu %s is #%d and #%d (%s)", (unsigned long long)generation, names[object->key], other, object->serial, how);
}
/* All dependencies of an object belong to the generation of its resolve. */
static void look_through(invivo_object object, uint64_t generation, int depth) {
    void *instance = NULL;
    if (invivo_object_instance(object, type, &instance, NULL)) {
        check_failed(__FILE__, __LINE__, "what a live object was given is gone");
        return;
    }
    thing *self = instance;
    __atomic_add_fetch(&looked_through, 1, __ATOMIC_RELAXED);
    see(self, generation, depth ? "given" : "resolved");
    for (int i = 0; i < GIVEN; i++) if (self->given[i].bits) look_through(self->given[i], generation, depth + 1);
}
static uint64_t generation_now(void) {
    invivo_view view = invivo_view_begin(runtime);
    uint64_t generation = invivo_view_generation(view);
    invivo_view_end(view);
    return generation;
}

static void *resolve_all_the_time(void *seed) {
    uint64_t state = *(uint64_t *)seed;
    invivo_object held[MOST_HELD] = {{0}};
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        int kind = below(&state, 10), key = below(&state, KEYS), place = below(&state, MOST_HELD);
        if (kind < 6) {
            invivo_object object = {0};
            invivo_error *error = NULL;
            uint64_t before = generation_now();
            invivo_status status = kind < 5 ? invivo_resolve(runtime, keys[key], &object, &error) : invivo_resolve_name(runtime, names[key], &object, &error);
            uint64_t after = generation_now();
            if (status == INVIVO_E_HOST) __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
            else if (status) check_failed(__FILE__, __LINE__, "%s answers %s: %s", names[key], invivo_status_name(status), invivo_error_text(error));
            invivo_error_release(error);
            if (status) continue;
            __atomic_add_fetch(&resolved, 1, __ATOMIC_RELAXED);
            if (before == after) look_through(object, after, 0);
            if (held[place].bits) OK(invivo_object_release(held[place]));
            held[place] = object;
        } else if (kind < 8) {
            if (held[place].bits) OK(invivo_object_release(held[place]));
            held[place] = (invivo_object){0};
        } else {
            invivo_view view = invivo_view_begin(runtime);
            for (int i = 0; i < KEYS; i++) {
                const thing *object = invivo_view_get(view, keys[i]);
                if (object) see(object, invivo_view_generation(view), "in a view");
            }
            invivo_view_end(view);
        }
    }
    for (int i = 0; i < MOST_HELD; i++) if (held[i].bits) OK(invivo_object_release(held[i]));
    return NULL;
}

/* ---- commits ------------------------------------------------------------------------------------------- */

typedef struct layer { uint64_t number; invivo_override handle; } layer;
enum { MOST_LAYERS = 4 };
static uint64_t numbers;

/* It depends on earlier keys only, so there is no cycle. */
typedef struct described { invivo_definition definition; invivo_injection initializer[4], property; } described;
static void describe(described *into, int key, uint64_t number, uint64_t *state) {
    static const uint32_t scopes[] = {INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON};
    uint32_t scope = scopes[key % 6]; /* an override keeps it, and so do its holders */
    int given = key == 0 ? 0 : below(state, 3), last = key == 0 ? 0 : below(state, 2);
    memset(into, 0, sizeof *into);
    into->initializer[0] = (invivo_injection){.how = INVIVO_INJECT_VALUE, .value = invivo_int64((int64_t)number)};
    into->initializer[1] = (invivo_injection){.how = INVIVO_INJECT_VALUE, .value = invivo_int64(scope)};
    for (int i = 0; i < given; i++) into->initializer[2 + i] = (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = names[below(state, key)]};
    if (last) into->property = (invivo_injection){.name = "last", .how = INVIVO_INJECT_REFERENCE, .reference = names[below(state, key)]};
    into->definition = (invivo_definition){
        .struct_size = sizeof into->definition, .key = names[key], .scope = scope, .type = type, .initializer = into->initializer,
        .initializer_count = (uint64_t)(2 + given), .properties = &into->property, .property_count = (uint64_t)last};
}
static void write_down(uint64_t (*base), layer (*layers)[MOST_LAYERS], const int *depth) {
    uint64_t generation = generation_now();
    if (generation >= most_generations) abort();
    for (int key = 0; key < KEYS; key++) committed[generation][key] = depth[key] ? layers[key][depth[key] - 1].number : base[key];
}

static void round_of(uint64_t seed, int threads, int commits) {
    static const invivo_parameter parameters[] = {
        {.name = "number", .kind = INVIVO_KIND_INT64}, {.name = "scope", .kind = INVIVO_KIND_INT64},
        {.name = "a", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}, {.name = "b", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    static const invivo_property properties[] = {{.struct_size = sizeof(invivo_property), .name = "last", .kind = INVIVO_KIND_OBJECT, .get = get_last, .set = set_last}};
    invivo_type_options options = {
        .struct_size = sizeof options, .name = "Thing", .size = sizeof(thing), .alignment = _Alignof(thing), .concurrency = INVIVO_SHARED,
        .init = thing_init, .deinit = thing_deinit, .parameters = parameters, .parameter_count = 4, .properties = properties, .property_count = 1};
    uint64_t state = seed, base[KEYS] = {0}, seeds[MOST_THREADS];
    layer layers[KEYS][MOST_LAYERS];
    int depth[KEYS] = {0}, failed = 0;
    pthread_t workers[MOST_THREADS];
    described all[KEYS];
    most_generations = (uint64_t)commits + 16;
    seen = calloc(most_generations, sizeof *seen), committed = calloc(most_generations, sizeof *committed), shared = calloc(most_generations, sizeof *shared);
    disposals = calloc(MOST_OBJECTS, 1);
    serials = live = is_over = 0, doomed = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (int key = 0; key < KEYS; key++) {
        snprintf(names[key], sizeof names[key], "r.%c", 'a' + key);
        OK(invivo_key_intern(runtime, names[key], &keys[key], E));
    }
    for (int key = 0; key < KEYS; key++) {
        describe(&all[key], key, base[key] = ++numbers, &state);
        OK(invivo_changes_define(changes, &all[key].definition, NULL, E));
    }
    OK(invivo_changes_commit(changes, E));
    write_down(base, layers, depth);
    for (int i = 0; i < threads; i++) {
        seeds[i] = chance(&state);
        CHECK_EQUAL(pthread_create(&workers[i], NULL, resolve_all_the_time, &seeds[i]), 0);
    }
    for (int i = 0; i < commits; i++) {
        int kind = below(&state, 10), key = below(&state, KEYS);
        uint64_t number = ++numbers;
        bool fails = below(&state, 5) == 0;
        invivo_error *error = NULL;
        invivo_status status;
        described one;
        if (below(&state, 4) == 0) sched_yield();
        if (fails) __atomic_store_n(&doomed, number, __ATOMIC_RELAXED);
        if (kind < 6) {
            uint64_t next[KEYS];
            int count = 1 + below(&state, 3);
            memcpy(next, base, sizeof next);
            OK(invivo_changes_open(runtime, &changes, E));
            for (int j = 0; j < count; j++, key = (key + 1) % KEYS) {
                describe(&all[key], key, next[key] = number, &state);
                OK(invivo_changes_define(changes, &all[key].definition, NULL, E));
            }
            status = invivo_changes_commit(changes, &error);
            if (!status) memcpy(base, next, sizeof next);
        } else if (kind < 8 && depth[key] < MOST_LAYERS) {
            describe(&one, key, number, &state);
            layer *top = &layers[key][depth[key]];
            status = invivo_override_begin(runtime, &one.definition, &top->handle, &error);
            top->number = number;
            if (!status) depth[key]++;
        } else if (depth[key]) {
            int index = below(&state, depth[key]);
            status = invivo_override_end(layers[key][index].handle, &error);
            if (!status) {
                memmove(&layers[key][index], &layers[key][index + 1], sizeof(layer) * (size_t)(depth[key] - index - 1));
                depth[key]--;
            }
        } else {
            continue;
        }
        if (status == INVIVO_E_HOST) failed++;
        else if (status) check_failed(__FILE__, __LINE__, "a commit answers %s: %s", invivo_status_name(status), invivo_error_text(error));
        invivo_error_release(error);
        if (!status) write_down(base, layers, depth);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < threads; i++) pthread_join(workers[i], NULL);
    int generations = 0;
    for (uint64_t i = 0; i < most_generations; i++)
        for (int key = 0; key < KEYS; key++) {
            generations += key == 0 && seen[i][key];
            if (seen[i][key] && seen[i][key] != committed[i][key])
                check_failed(__FILE__, __LINE__, "in generation %llu %s was of definition %llu, and is of %llu", (unsigned long long)i, names[key], (unsigned long long)seen[i][key], (unsigned long long)committed[i][key]);
        }
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    for (int i = 1; i <= serials; i++) if (disposals[i] != 1) check_failed(__FILE__, __LINE__, "#%d was disposed of %d times", i, disposals[i]);
    printf("seed %llu: %d threads, %d commits (%d failed), %d generations seen, %llu resolved (%llu refused), %llu looked through, %d made\n",
           (unsigned long long)seed, threads, commits, failed, generations, (unsigned long long)resolved, (unsigned long long)refused,
           (unsigned long long)looked_through, serials);
    resolved = refused = looked_through = 0;
    free(seen), free(committed), free(shared), free(disposals);
}

int main(int argc, char **argv) {
    uint64_t seed = 1;
    int rounds = 12, threads = 0, commits = 150;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc) seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--rounds") && i + 1 < argc) rounds = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc) threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--commits") && i + 1 < argc) commits = atoi(argv[++i]);
        else return fprintf(stderr, "usage: model_threads [--seed N] [--rounds N] [--threads N] [--commits N]\n"), 2;
    }
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    check_begin();
    for (int i = 0; i < rounds && !check_failures; i++) round_of(seed + (uint64_t)i, threads ? threads : 2 + i % 3, commits);
    return check_end();
}
