/* Several threads define, override, reset, resolve and release the same few keys while one of them closes the runtime.
 * Each call succeeds or returns CLOSED; no false cycle is reported, nothing blocks, each object ends once, and nothing
 * remains. Usage: contention [ROUNDS [SEED]] */
/* sanitize: yes */
#include "check.h"

enum { KEYS = 8, THREADS = 4, HELD = 6 };

typedef struct thing { int key; uint32_t state; } thing;
enum { ALIVE = 0x41a11fe5 };

static invivo_runtime runtime;
static invivo_type type;
static invivo_key keys[KEYS];
static char names[KEYS][8];
static invivo_pool pool;
static int live, is_over, wanted, done; /* counts of calls that succeeded, and that returned CLOSED */
static __thread uint64_t chance_state;
static __thread bool is_in_end;

static int below(int limit) {
    uint64_t z = chance_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (int)((z ^ z >> 31) % (uint64_t)limit);
}

/* Accepts only these statuses, and `also` if it is not 0. Returns true on success. */
#define ENDS(call, also) (check_error = NULL, ends(__LINE__, #call, (call), also))
static bool ends(int line, const char *call, invivo_status status, invivo_status also) {
    if (status != INVIVO_OK && status != INVIVO_E_CLOSED && status != INVIVO_E_HOST && status != also)
        check_failed(__FILE__, line, "%s answers %s: %s", call, invivo_status_name(status), invivo_error_text(check_error));
    invivo_error_release(check_error);
    check_error = NULL;
    if (status == INVIVO_OK) __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return status == INVIVO_OK;
}

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    thing *self = instance;
    (void)arguments, (void)count, (void)user_data;
    self->key = build->key.bits ? invivo_key_name(build->key)[2] - 'a' : 0;
    if (below(16) == 0) sched_yield();
    if (below(40) == 0) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    self->state = ALIVE;
    return INVIVO_OK;
}
/* Some disposals resolve another key. This thread may be creating it, which is a cycle. */
static void thing_deinit(void *instance, void *user_data) {
    thing *self = instance;
    invivo_object object;
    (void)user_data;
    if (self->state != ALIVE) check_failed(__FILE__, __LINE__, "an object ends twice");
    self->state = 0;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    if (is_in_end || below(8) != 0) return;
    is_in_end = true;
    if (ENDS(invivo_resolve(runtime, keys[below(KEYS)], &object, E), INVIVO_E_CYCLE)) OK(invivo_object_release(object));
    is_in_end = false;
}
static invivo_status make_entry(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)key;
    return invivo_resolve(runtime, keys[below(KEYS)], out, error);
}

/* A definition that refers only to later keys, so that there is no cycle. */
static void describe(int key, invivo_definition *definition, invivo_injection into[2]) {
    static const uint32_t scopes[] = {INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON,
                                      INVIVO_SCOPE_WEAK_SINGLETON, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_PROTOTYPE};
    size_t count = 0;
    for (int i = 0; i < 2 && key + 1 < KEYS; i++)
        if (below(3)) into[count++] = (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = names[key + 1 + below(KEYS - key - 1)]};
    *definition = (invivo_definition){.struct_size = sizeof *definition, .key = names[key], .type = type, .scope = scopes[below(6)],
                                      .initializer = into, .initializer_count = count};
}

static void change(void) {
    invivo_changes changes;
    invivo_definition definition;
    invivo_injection into[2];
    if (!ENDS(invivo_changes_open(runtime, &changes, E), 0)) return;
    bool is_open = true;
    int first = below(KEYS), count = 1 + below(3);
    for (int i = 0; i < count && is_open; i++) {
        int key = (first + i) % KEYS;
        describe(key, &definition, into);
        switch (below(4)) {
        /* Close ends open change sets too. */
        case 0: is_open = ENDS(invivo_changes_reset(changes, names[key], 0, E), INVIVO_E_HANDLE); break;
        case 1: is_open = ENDS(invivo_changes_reset_scope(changes, INVIVO_SCOPE_WEAK_SINGLETON, E), INVIVO_E_HANDLE); break;
        default: is_open = ENDS(invivo_changes_define(changes, &definition, NULL, E), INVIVO_E_HANDLE); break;
        }
    }
    if (below(16) == 0) invivo_changes_discard(changes);
    else if (below(4) == 0) (void)ENDS(invivo_changes_submit(changes, E), INVIVO_E_HANDLE);
    else (void)ENDS(invivo_changes_commit(changes, E), INVIVO_E_HANDLE);
}
static void override(invivo_override *own) {
    invivo_definition definition;
    invivo_injection into[2];
    if (own->bits) {
        (void)ENDS(invivo_override_end(*own, E), INVIVO_E_HANDLE);
        own->bits = 0;
        return;
    }
    describe(below(KEYS), &definition, into);
    /* Close makes the handle of the type stale. */
    if (!ENDS(invivo_override_begin(runtime, &definition, own, E), INVIVO_E_HANDLE)) own->bits = 0;
}
static void hold(invivo_object held[HELD], invivo_object object) {
    int place = below(HELD);
    if (held[place].bits) OK(invivo_object_release(held[place]));
    held[place] = object;
}

static void *use(void *seed) {
    invivo_object held[HELD] = {{0}};
    invivo_override own = {0};
    chance_state = (uint64_t)(uintptr_t)seed;
    while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST)) {
        invivo_object object;
        invivo_value key = invivo_int64(below(4));
        switch (below(12)) {
        case 0: case 1: change(); break;
        case 2: override(&own); break;
        case 3: if (ENDS(invivo_pool_get(pool, &key, make_entry, NULL, &object, E), INVIVO_E_HANDLE)) hold(held, object); break;
        case 4: if (invivo_peek(runtime, keys[below(KEYS)], &object) == INVIVO_OK) hold(held, object); break;
        case 5: case 6: for (int i = 0; i < HELD; i++) {
            if (held[i].bits) OK(invivo_object_release(held[i]));
            held[i].bits = 0;
        }
        break;
        default: if (ENDS(invivo_resolve(runtime, keys[below(KEYS)], &object, E), 0)) hold(held, object); break;
        }
    }
    for (int i = 0; i < HELD; i++) if (held[i].bits) OK(invivo_object_release(held[i]));
    return NULL;
}

static void round_of(uint64_t seed) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Thing", .size = sizeof(thing), .concurrency = INVIVO_SHARED,
                                   .init = thing_init, .deinit = thing_deinit};
    static const invivo_parameter two[] = {{.name = "one", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
                                           {.name = "two", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_pool_options pooling = {.struct_size = sizeof pooling, .name = "entries"};
    pthread_t threads[THREADS];
    chance_state = seed;
    live = is_over = done = 0, wanted = below(400);
    options.parameters = two, options.parameter_count = 2;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_pool_open(runtime, &pooling, &pool, E));
    for (int i = KEYS; i-- > 0;) {
        invivo_definition definition = {.struct_size = sizeof definition, .key = names[i], .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
        OK(invivo_define(runtime, &definition, &keys[i], E));
    }
    bool deferring = below(2);
    for (uint64_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use, (void *)(uintptr_t)(seed * 31 + i));
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < wanted) sched_yield();
    /* A lease, or a long-running call, keeps the runtime open. */
    invivo_status status = (deferring ? invivo_runtime_close_deferred : invivo_runtime_close)(runtime, NULL);
    if (status != INVIVO_OK && status != INVIVO_E_BUSY) check_failed(__FILE__, __LINE__, "close answers %s", invivo_status_name(status));
    __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (status != INVIVO_OK) OK(invivo_runtime_close(runtime, E));
    if (!CHECK_EQUAL(live, 0)) fprintf(stderr, "  in the round of seed %llu\n", (unsigned long long)seed);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    check_begin();
    for (int i = 0; i < KEYS; i++) snprintf(names[i], sizeof names[i], "k.%c", 'a' + i);
    for (int i = 0; i < rounds && !check_failures; i++) round_of(seed + (uint64_t)i);
    return check_end();
}
