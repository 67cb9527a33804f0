/* Weak pools: keys, lifetimes, single creation, and a comparison with a simple model by several threads. */
/* sanitize: yes */
#include "check.h"

#include <malloc.h>

enum { THREADS = 4 };

typedef struct thing { uint64_t mark; int64_t number; } thing;
static const uint64_t alive = 0x6976612d65766c61, dead = 0x646165642d616564;

static invivo_runtime runtime;
static invivo_type type;
static int live, made, wrong;

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    thing *self = instance;
    __atomic_store_n(&self->mark, alive, __ATOMIC_RELEASE);
    self->number = count > 0 ? arguments[0].as.signed_integer : 0;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void thing_deinit(void *instance, void *user_data) {
    (void)user_data;
    if (__atomic_exchange_n(&((thing *)instance)->mark, dead, __ATOMIC_ACQ_REL) != alive) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static const invivo_parameter thing_parameters[] = {{.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}};

/* Creates a thing with the number of the key. */
static invivo_status make_thing(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    if (user_data) __atomic_add_fetch((int *)user_data, 1, __ATOMIC_SEQ_CST);
    invivo_value number = invivo_int64(key->kind == INVIVO_KIND_INT64 ? key->as.signed_integer : 0);
    return invivo_object_make(runtime, type, &number, 1, out, error);
}
static invivo_status make_nothing(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)key, (void)out;
    *error = invivo_error_make(INVIVO_E_HOST, "there is no such thing", NULL, NULL);
    return INVIVO_E_HOST;
}

static thing *of(invivo_object object) {
    void *instance = NULL;
    return invivo_object_instance(object, (invivo_type){0}, &instance, NULL) ? NULL : instance;
}
static void open_runtime(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Thing", .concurrency = INVIVO_SHARED, .size = sizeof(thing),
                                   .alignment = 8, .init = thing_init, .deinit = thing_deinit, .parameters = thing_parameters, .parameter_count = 1};
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    live = made = wrong = 0;
}
static void close_runtime(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(wrong, 0);
}
static invivo_pool open_pool(const char *name) {
    invivo_pool pool = {0};
    invivo_pool_options options = {.struct_size = sizeof options, .name = name, .make = make_thing, .user_data = &made};
    OK(invivo_pool_open(runtime, &options, &pool, E));
    return pool;
}
static uint64_t count(invivo_pool pool) {
    uint64_t found = 0;
    OK(invivo_pool_count(pool, &found, E));
    return found;
}

static void an_entry_lives_as_long_as_it_is_held(void) {
    open_runtime();
    invivo_pool pool = open_pool("things");
    invivo_value key = invivo_int64(7);
    invivo_object first = {0}, second = {0}, third = {0};
    CHECK_EQUAL(invivo_pool_peek(pool, &key, &first), INVIVO_E_NOT_FOUND);
    OK(invivo_pool_get(pool, &key, NULL, NULL, &first, E));
    OK(invivo_pool_get(pool, &key, NULL, NULL, &second, E));
    CHECK(first.bits == second.bits);
    CHECK_EQUAL(made, 1);
    CHECK_EQUAL(of(first)->number, 7);
    CHECK_EQUAL(count(pool), 1);
    OK(invivo_object_release(first));
    OK(invivo_pool_peek(pool, &key, &third));
    CHECK(third.bits == second.bits);
    OK(invivo_object_release(second));
    OK(invivo_object_release(third));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(count(pool), 0);
    CHECK_EQUAL(invivo_pool_peek(pool, &key, &first), INVIVO_E_NOT_FOUND);
    OK(invivo_pool_get(pool, &key, NULL, NULL, &first, E));
    CHECK_EQUAL(made, 2);
    CHECK(first.bits != second.bits);
    OK(invivo_object_release(first));
    close_runtime();
}

static void keys_are_equal_by_value(void) {
    static const invivo_value pair_a[2] = {{.kind = INVIVO_KIND_INT32, .as.signed_integer = 1}, {.kind = INVIVO_KIND_STRING, .as.string = {"x", 1}}};
    static const invivo_value pair_b[2] = {{.kind = INVIVO_KIND_UINT64, .as.unsigned_integer = 1}, {.kind = INVIVO_KIND_STRING, .as.string = {"x", 1}}};
    static const invivo_value pair_c[2] = {{.kind = INVIVO_KIND_STRING, .as.string = {"x", 1}}, {.kind = INVIVO_KIND_INT32, .as.signed_integer = 1}};
    open_runtime();
    invivo_pool pool = open_pool(NULL);
    const invivo_value different[] = {
        invivo_int64(0), invivo_int64(1), invivo_int64(-1), invivo_uint64(UINT64_MAX), invivo_double(0.5), invivo_bool(false), invivo_bool(true),
        invivo_null(), invivo_string(""), invivo_string("a"), invivo_string("eight by"), invivo_string("nine byte"), invivo_string("a name of twenty-three b"),
        invivo_string_n("\0\0\0\0\0\0\0\0", 8), invivo_string_n("a\0b", 3), invivo_bytes((const uint8_t *)"a", 1), invivo_list(pair_a, 2), invivo_list(pair_c, 2),
        invivo_list(NULL, 0), invivo_type_value(type), {.kind = INVIVO_KIND_ENUMERATION, .as.enumeration = {1, NULL}},
    };
    enum { COUNT = sizeof different / sizeof *different };
    invivo_object objects[COUNT], again;
    for (int i = 0; i < COUNT; i++) OK(invivo_pool_get(pool, &different[i], NULL, NULL, &objects[i], E));
    CHECK_EQUAL(made, COUNT);
    CHECK_EQUAL(count(pool), COUNT);
    for (int i = 0; i < COUNT; i++) {
        OK(invivo_pool_peek(pool, &different[i], &again));
        CHECK(again.bits == objects[i].bits);
        invivo_object_release(again);
    }
    const invivo_value same[][2] = {{invivo_int64(1), {.kind = INVIVO_KIND_UINT8, .as.unsigned_integer = 1}},
                                    {invivo_int64(1), invivo_double(1)}, {invivo_int64(-1), invivo_float(-1)},
                                    {invivo_list(pair_a, 2), invivo_list(pair_b, 2)}, {invivo_double(0.5), invivo_float(0.5f)}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invivo_object a = {0}, b = {0};
        OK(invivo_pool_peek(pool, &same[i][0], &a));
        OK(invivo_pool_peek(pool, &same[i][1], &b));
        CHECK(a.bits == b.bits);
        invivo_object_release(a), invivo_object_release(b);
    }
    /* The list contains the keys as requested. */
    invivo_value list = invivo_null();
    OK(invivo_pool_list(pool, &list, E));
    CHECK_EQUAL(list.as.list.count, COUNT);
    for (uint64_t i = 0; i < list.as.list.count; i++) {
        const invivo_value *entry = list.as.list.items[i].as.list.items;
        OK(invivo_pool_peek(pool, &entry[0], &again));
        CHECK(again.bits == entry[1].as.object.bits);
        invivo_object_release(again);
    }
    invivo_value_clear(&list);
    invivo_object none;
    invivo_value nan = invivo_double(0.0 / 0.0), map = invivo_map(NULL, 0), long_key = invivo_string_n((const char *)calloc(1, 65536), 65536);
    expects_error(invivo_pool_get(pool, &nan, NULL, NULL, &none, E), INVIVO_E_ARGUMENT, "NaN cannot be a key: it never equals itself");
    expects_error(invivo_pool_get(pool, &map, NULL, NULL, &none, E), INVIVO_E_TYPE, "a map cannot be the key of a pool");
    expects_error(invivo_pool_get(pool, &long_key, NULL, NULL, &none, E), INVIVO_E_TOO_LARGE, "the key has 65536 bytes; a pool takes 65535");
    free((void *)long_key.as.string.data);
    for (int i = 0; i < COUNT; i++) invivo_object_release(objects[i]);
    CHECK_EQUAL(count(pool), 0);
    close_runtime();
}

static void one_object_may_be_in_several_pools_under_several_keys(void) {
    open_runtime();
    invivo_pool a = open_pool("a"), b = open_pool("b");
    invivo_value one = invivo_int64(1), two = invivo_string("two");
    invivo_object object, found;
    OK(invivo_pool_get(a, &one, NULL, NULL, &object, E));
    OK(invivo_pool_put(a, &two, object, E));
    OK(invivo_pool_put(b, &one, object, E));
    OK(invivo_pool_peek(a, &two, &found));
    CHECK(found.bits == object.bits);
    OK(invivo_object_release(found));
    CHECK_EQUAL(count(a) + count(b), 3);
    OK(invivo_pool_remove(a, &one, E));
    expects_error(invivo_pool_remove(a, &one, E), INVIVO_E_NOT_FOUND, "no live object in the pool 'a' under 1");
    OK(invivo_pool_peek(b, &one, &found));
    OK(invivo_object_release(found));
    OK(invivo_object_release(object));
    CHECK_EQUAL(count(a) + count(b), 0);
    expects_error(invivo_pool_put(b, &two, object, E), INVIVO_E_HANDLE, NULL);
    close_runtime();
}

static void pools_are_found_by_name_and_end(void) {
    open_runtime();
    invivo_pool things = open_pool("things"), found, none;
    OK(invivo_pool_find(runtime, "things", &found, E));
    CHECK(found.bits == things.bits);
    invivo_pool_options options = {.struct_size = sizeof options, .name = "things"};
    expects_error(invivo_pool_open(runtime, &options, &none, E), INVIVO_E_EXISTS, "a pool 'things' is open already");
    expects_error(invivo_pool_find(runtime, "thinks", &none, E), INVIVO_E_NOT_FOUND, "no pool 'thinks' is open; did you mean 'things'?");
    invivo_value key = invivo_int64(1);
    invivo_object object;
    expects_error(invivo_pool_get(things, &key, make_nothing, NULL, &object, E), INVIVO_E_HOST, NULL);
    OK(invivo_pool_get(things, &key, NULL, NULL, &object, E));
    OK(invivo_pool_close(things, E));
    invivo_object gone;
    expects_error(invivo_pool_get(things, &key, NULL, NULL, &gone, E), INVIVO_E_HANDLE, "the pool is closed");
    CHECK_EQUAL(invivo_pool_peek(things, &key, &gone), INVIVO_E_HANDLE);
    OK(invivo_pool_open(runtime, &options, &none, E));
    expects_error(invivo_pool_get(none, &key, NULL, NULL, &gone, E), INVIVO_E_NOT_FOUND, "no live object in the pool 'things' under 1");
    CHECK_EQUAL(live, 1);
    invivo_value list = invivo_null();
    expects_error(invivo_pool_list((invivo_pool){42}, &list, E), INVIVO_E_HANDLE, NULL);
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(invivo_pool_peek(none, &key, &gone), INVIVO_E_CLOSED);
    OK(invivo_object_release(object));
    CHECK_EQUAL(live, 0);
}

static int clearings;
static void saw(void *user_data, const invivo_report *report) {
    (void)user_data;
    if (strcmp(invivo_report_cause(report), "clear things")) return;
    CHECK_EQUAL(invivo_report_count(report), 1);
    CHECK_TEXT(invivo_report_key(report, 0), "things");
    CHECK_EQUAL(invivo_report_change(report, 0), INVIVO_CHANGED_CLEARED);
    clearings++;
}
static invivo_status clear_inside(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)key, (void)out;
    return invivo_pool_clear(*(invivo_pool *)user_data, NULL, error);
}
static void clearing_is_a_reload_that_forgets(void) {
    open_runtime();
    invivo_pool pool = open_pool("things");
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = saw};
    invivo_observer observer;
    OK(invivo_observe(runtime, &options, &observer, E));
    invivo_object objects[100], fresh;
    for (int i = 0; i < 100; i++) {
        invivo_value key = invivo_int64(i);
        OK(invivo_pool_get(pool, &key, NULL, NULL, &objects[i], E));
    }
    OK(invivo_object_release(objects[0]));
    uint64_t cleared = 0;
    OK(invivo_pool_clear(pool, &cleared, E));
    CHECK_EQUAL(cleared, 99);
    CHECK_EQUAL(clearings, 1);
    CHECK_EQUAL(count(pool), 0);
    CHECK_EQUAL(live, 99);
    invivo_value key = invivo_int64(5);
    OK(invivo_pool_get(pool, &key, NULL, NULL, &fresh, E));
    CHECK(fresh.bits != objects[5].bits);
    OK(invivo_object_release(fresh));
    expects_error(invivo_pool_get(pool, &key, clear_inside, &pool, &fresh, E), INVIVO_E_WOULD_WAIT, NULL);
    for (int i = 1; i < 100; i++) OK(invivo_object_release(objects[i]));
    OK(invivo_observer_close(observer, E));
    close_runtime();
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static pthread_barrier_t barrier;
static invivo_pool shared;
static int slow_makes, fails;

static invivo_status make_slowly(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    __atomic_add_fetch(&slow_makes, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 2000; i++) sched_yield();
    if (__atomic_load_n(&fails, __ATOMIC_SEQ_CST)) return make_nothing(user_data, key, out, error);
    return make_thing(NULL, key, out, error);
}
static void *ask(void *context) {
    invivo_value key = invivo_int64(1);
    invivo_object *out = context;
    pthread_barrier_wait(&barrier);
    invivo_error *error = NULL;
    invivo_status status = invivo_pool_get(shared, &key, make_slowly, NULL, out, &error);
    CHECK_EQUAL(status, fails ? INVIVO_E_HOST : INVIVO_OK);
    invivo_error_release(error);
    return NULL;
}
static void an_entry_is_created_once_for_many_threads(void) {
    open_runtime();
    shared = open_pool("shared");
    enum { MANY = 64 };
    for (fails = 0; fails < 2; fails++) {
        pthread_t threads[MANY];
        invivo_object objects[MANY];
        slow_makes = 0;
        pthread_barrier_init(&barrier, NULL, MANY);
        for (int i = 0; i < MANY; i++) pthread_create(&threads[i], NULL, ask, &objects[i]);
        for (int i = 0; i < MANY; i++) pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        if (!fails) CHECK_EQUAL(slow_makes, 1);
        for (int i = 0; i < MANY; i++) {
            CHECK(objects[i].bits == objects[0].bits);
            if (!fails) OK(invivo_object_release(objects[i]));
        }
    }
    fails = 0;
    close_runtime();
}

/* A thread that waits for a failing creation gets its error, and does not create the object itself. */
static pid_t waiting;
static int failing_makes;
static invivo_status fail_when_awaited(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    if (__atomic_add_fetch(&failing_makes, 1, __ATOMIC_SEQ_CST) == 1) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        check_await_sleep(waiting);
    }
    return make_nothing(user_data, key, out, error);
}
static void *ask_in_vain(void *unused) {
    invivo_value key = invivo_int64(1);
    invivo_object object;
    (void)unused;
    pthread_barrier_wait(&barrier);
    waiting = gettid();
    pthread_barrier_wait(&barrier);
    expects_error(invivo_pool_get(shared, &key, fail_when_awaited, NULL, &object, E), INVIVO_E_HOST, "there is no such thing");
    return NULL;
}
static void threads_that_wait_for_a_failing_creation_get_its_error(void) {
    pthread_t thread;
    invivo_value key = invivo_int64(1);
    invivo_object object;
    open_runtime();
    shared = open_pool("shared");
    failing_makes = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, ask_in_vain, NULL);
    expects_error(invivo_pool_get(shared, &key, fail_when_awaited, NULL, &object, E), INVIVO_E_HOST, "there is no such thing");
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    CHECK_EQUAL(failing_makes, 1);
    close_runtime();
}

static invivo_status make_itself(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)user_data;
    return invivo_pool_get(shared, key, make_itself, NULL, out, error);
}
/* Each requests the object of the other. */
static int in_making;
static invivo_status make_other(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    invivo_object other = {0};
    invivo_value other_key = invivo_int64(3 - key->as.signed_integer);
    /* Both are being created before either requests. */
    if (__atomic_add_fetch(&in_making, 1, __ATOMIC_SEQ_CST) <= 2)
        while (__atomic_load_n(&in_making, __ATOMIC_SEQ_CST) < 2) sched_yield();
    invivo_status status = invivo_pool_get(shared, &other_key, make_thing, NULL, &other, error);
    if (status == INVIVO_E_CYCLE) __atomic_add_fetch((int *)user_data, 1, __ATOMIC_SEQ_CST);
    if (status) return status;
    invivo_object_release(other);
    return make_thing(NULL, key, out, error);
}
static int cycles;
static void *ask_other(void *context) {
    invivo_value key = invivo_int64((int64_t)(intptr_t)context);
    invivo_object object = {0};
    invivo_error *error = NULL;
    if (!invivo_pool_get(shared, &key, make_other, &cycles, &object, &error)) invivo_object_release(object);
    invivo_error_release(error);
    return NULL;
}
static void a_cycle_of_creations_is_an_error_and_no_deadlock(void) {
    open_runtime();
    shared = open_pool("shared");
    invivo_value key = invivo_int64(1);
    invivo_object object;
    expects_error(invivo_pool_get(shared, &key, make_itself, NULL, &object, E), INVIVO_E_CYCLE,
                  "shared[1]: cyclic dependency: shared[1]");
    for (int i = 0; i < 200; i++) {
        pthread_t one, two;
        cycles = in_making = 0;
        pthread_create(&one, NULL, ask_other, (void *)1);
        pthread_create(&two, NULL, ask_other, (void *)2);
        pthread_join(one, NULL);
        pthread_join(two, NULL);
        CHECK(cycles >= 1);
    }
    close_runtime();
}

/* The factory of a pool resolves a shared object whose factory requests the same entry. */
static invivo_key shared_key;
static invivo_status factory_asks_pool(void **instance, const invivo_build *build, const invivo_value *arguments, size_t n, void *user_data,
                                       invivo_error **error) {
    (void)instance, (void)arguments, (void)n, (void)user_data;
    invivo_object object = {0};
    invivo_value key = invivo_int64(9);
    invivo_status status = invivo_pool_get(shared, &key, make_thing, NULL, &object, error);
    if (status) return status;
    invivo_object_release(object);
    return thing_init(*instance, build, NULL, 0, NULL, error);
}
static invivo_status make_by_resolving(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)key;
    if (user_data)
        while (__atomic_load_n((int *)user_data, __ATOMIC_SEQ_CST) == 0) sched_yield();
    return invivo_resolve(runtime, shared_key, out, error);
}
static invivo_status factory_asks_for_maker(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                            void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    invivo_value key = invivo_int64(9);
    invivo_object object = {0};
    invivo_status status = invivo_pool_get(shared, &key, make_by_resolving, NULL, &object, error);
    if (!status) invivo_object_release(object);
    return status;
}
static void *resolve_it(void *context) {
    invivo_object object;
    __atomic_store_n((int *)context, 1, __ATOMIC_SEQ_CST);
    if (!invivo_resolve(runtime, shared_key, &object, NULL)) invivo_object_release(object);
    return NULL;
}
static void cycles_through_definitions_are_found(void) {
    open_runtime();
    shared = open_pool("shared");
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.b", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
                                    .factory = factory_asks_pool};
    OK(invivo_define(runtime, &definition, &shared_key, E));
    invivo_value key = invivo_int64(9);
    invivo_object object = {0};
    expects_error(invivo_pool_get(shared, &key, make_by_resolving, NULL, &object, E), INVIVO_E_CYCLE, NULL);
    CHECK_EQUAL(count(shared), 0);
    /* The error contains the whole path, including the pool. */
    definition.scope = INVIVO_SCOPE_SINGLETON, definition.factory = factory_asks_for_maker;
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_CYCLE,
                  "a.b: cyclic dependency: a.b -> the pool 'shared' -> a.b");
    definition.scope = INVIVO_SCOPE_LAZY_SINGLETON, definition.factory = factory_asks_pool;
    for (int i = 0; i < 100; i++) {
        pthread_t other;
        int begun = 0;
        pthread_create(&other, NULL, resolve_it, &begun);
        invivo_error *error = NULL;
        if (!invivo_pool_get(shared, &key, make_by_resolving, &begun, &object, &error)) invivo_object_release(object);
        invivo_error_release(error);
        pthread_join(other, NULL);
        OK(invivo_define(runtime, &definition, &shared_key, E));
    }
    close_runtime();
}

/* ---- instances with host reference counts -------------------------------------------------------------- */

/* An object model of the host: reference counts, and weak references that detect the end of the instance. */
typedef struct model { int count; int weak; bool gone; } model;
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static int models, weaks;

static void model_let_go(model *self, bool strongly) {
    pthread_mutex_lock(&model_lock);
    if (strongly ? --self->count == 0 : --self->weak < 0) self->gone = true;
    if (strongly && self->gone) models--;
    if (!strongly) weaks--;
    bool is_free = self->count == 0 && self->weak == 0;
    pthread_mutex_unlock(&model_lock);
    if (is_free) free(self);
}
static model *model_new(void) {
    model *self = calloc(1, sizeof *self);
    self->count = 1;
    pthread_mutex_lock(&model_lock);
    models++;
    pthread_mutex_unlock(&model_lock);
    return self;
}
static void model_release(void *instance, void *user_data) { (void)user_data, model_let_go(instance, true); }
static invivo_status model_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t n, void *user_data,
                                invivo_error **error) {
    (void)build, (void)arguments, (void)n, (void)user_data, (void)error;
    *instance = model_new();
    return INVIVO_OK;
}
static void *model_weak_make(void *instance, void *user_data) {
    (void)user_data;
    pthread_mutex_lock(&model_lock);
    ((model *)instance)->weak++, weaks++;
    pthread_mutex_unlock(&model_lock);
    return instance;
}
static void *model_weak_load(void *weak, void *user_data) {
    (void)user_data;
    model *self = weak;
    pthread_mutex_lock(&model_lock);
    bool lives = self->count > 0;
    if (lives) self->count++;
    pthread_mutex_unlock(&model_lock);
    return lives ? self : NULL;
}
static void model_weak_free(void *weak, void *user_data) { (void)user_data, model_let_go(weak, false); }
static invivo_type model_type;
static void register_model(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Model", .concurrency = INVIVO_SHARED, .make = model_make, .release = model_release,
                                   .weak_make = model_weak_make, .weak_load = model_weak_load, .weak_free = model_weak_free};
    OK(invivo_type_register(runtime, &options, &model_type, E));
}
static invivo_status make_model(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)key;
    if (user_data) __atomic_add_fetch((int *)user_data, 1, __ATOMIC_SEQ_CST);
    return invivo_object_wrap(runtime, model_type, model_new(), out, error);
}

static void an_entry_lives_as_long_as_the_hosts_own_instance(void) {
    open_runtime();
    register_model();
    invivo_pool pool = open_pool("models");
    invivo_value key = invivo_string("one"), plain = invivo_int64(1);
    invivo_object object, again;
    OK(invivo_pool_get(pool, &key, make_model, &made, &object, E));
    void *instance;
    OK(invivo_object_instance(object, model_type, &instance, E));
    CHECK(model_weak_load(instance, NULL) == instance); /* of the host */
    OK(invivo_object_release(object));
    CHECK_EQUAL(count(pool), 1);
    OK(invivo_pool_get(pool, &key, make_model, &made, &again, E));
    void *same;
    OK(invivo_object_instance(again, model_type, &same, E));
    CHECK(same == instance);
    CHECK_EQUAL(made, 1);
    void *third = NULL;
    OK(invivo_pool_peek_instance(pool, &key, model_type, &third, E));
    CHECK(third == instance);
    model_release(third, NULL);
    expects_error(invivo_pool_peek_instance(pool, &key, type, &third, E), INVIVO_E_TYPE, "the object is a 'Model', not a 'Thing'");
    OK(invivo_pool_get(pool, &plain, NULL, NULL, &object, E));
    expects_error(invivo_pool_peek_instance(pool, &plain, type, &third, E), INVIVO_E_TYPE,
                  "the object has no weak references; peek at it instead");
    OK(invivo_object_release(object));
    OK(invivo_object_release(again));
    model_release(instance, NULL);
    CHECK_EQUAL(models, 0);
    CHECK_EQUAL(count(pool), 0);
    CHECK_EQUAL(invivo_pool_peek(pool, &key, &object), INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(invivo_pool_peek_instance(pool, &key, model_type, &third, NULL), INVIVO_E_NOT_FOUND);
    OK(invivo_pool_get(pool, &key, make_model, &made, &object, E));
    OK(invivo_object_release(object));
    CHECK_EQUAL(models, 0);
    for (int i = 0; i < 20000; i++) {
        invivo_value number = invivo_int64(i);
        OK(invivo_pool_get(pool, &number, make_model, NULL, &object, E));
        OK(invivo_object_release(object));
    }
    close_runtime();
    CHECK_EQUAL(models, 0);
}

/* A full table drops ended instances and their weak references. */
static void a_pool_grows_with_instances_that_live_only(void) {
    open_runtime();
    register_model();
    invivo_pool pool = open_pool("models");
    invivo_object object, kept;
    invivo_value key = invivo_int64(-1);
    OK(invivo_pool_get(pool, &key, make_model, NULL, &kept, E));
    for (int64_t i = 0; i < 20000; i++) {
        key = invivo_int64(i);
        OK(invivo_pool_get(pool, &key, make_model, NULL, &object, E));
        OK(invivo_object_release(object));
    }
    CHECK_EQUAL(models, 1);
    CHECK(weaks < 2000);
    key = invivo_int64(-1);
    OK(invivo_pool_peek(pool, &key, &object));
    CHECK(object.bits == kept.bits);
    OK(invivo_object_release(object));
    OK(invivo_object_release(kept));
    close_runtime();
    CHECK_EQUAL(weaks, 0);
}

/* A key is removed while its entry is created: the object belongs to the caller alone, and its weak reference ends too. */
static invivo_status make_removed(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    CHECK_EQUAL(invivo_pool_remove(*(invivo_pool *)user_data, key, NULL), INVIVO_E_NOT_FOUND);
    return make_model(NULL, key, out, error);
}
static void a_key_removed_while_its_entry_is_made_keeps_nothing(void) {
    open_runtime();
    register_model();
    invivo_pool pool = open_pool("removed");
    invivo_value key = invivo_int64(1);
    invivo_object object = {0}, found = {0};
    OK(invivo_pool_get(pool, &key, make_removed, &pool, &object, E));
    CHECK_EQUAL(models, 1);
    CHECK_EQUAL(invivo_pool_peek(pool, &key, &found), INVIVO_E_NOT_FOUND);
    OK(invivo_object_release(object));
    CHECK_EQUAL(models, 0);
    close_runtime();
    CHECK_EQUAL(weaks, 0);
}

/* ---- comparison with a model --------------------------------------------------------------------------- */

enum { KEYS = 97, KEPT = 16, STEPS = 20000 };
static int steps = STEPS;

/* A key is live while its object is held. Each thread knows its own objects, and checks that a get returns the same
 * live object with the key's number. */
struct walker { unsigned seed; bool clears; };
static unsigned next(unsigned *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }
static void name_of(char *text, unsigned key) { snprintf(text, 64, key % 2 ? "k%u" : "a key with a longer name, %u", key); }

static void *walk(void *context) {
    struct walker *walker = context;
    unsigned seed = walker->seed;
    invivo_object held[KEPT] = {{0}};
    unsigned keys[KEPT] = {0};
    for (int step = 0; step < steps; step++) {
        unsigned choice = next(&seed) % 100, place = next(&seed) % KEPT, key = next(&seed) % KEYS;
        char text[64];
        if (choice < 3) key += KEYS * (1 + next(&seed) % 1000000); /* a key that is never requested again */
        name_of(text, key);
        invivo_value value = key % 3 ? invivo_string(text) : invivo_int64(key);
        bool is_model = key % 5 == 0;
        if (choice < 70) {
            invivo_object object = {0};
            invivo_error *error = NULL;
            invivo_status status = invivo_pool_get(shared, &value, is_model ? make_model : make_thing, NULL, &object, &error);
            if (status) {
                check_failed(__FILE__, __LINE__, "seed %u: get answers %s", walker->seed, invivo_error_text(error));
                invivo_error_release(error);
                continue;
            }
            if (is_model) {
                void *instance = NULL;
                if (invivo_object_instance(object, model_type, &instance, NULL) || ((model *)instance)->gone) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
            } else {
                thing *it = of(object);
                if (!it || __atomic_load_n(&it->mark, __ATOMIC_ACQUIRE) != alive || (!(key % 3) && it->number != (int64_t)key))
                    __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
            }
            for (int i = 0; i < KEPT && !walker->clears; i++)
                if (held[i].bits && keys[i] == key && held[i].bits != object.bits) {
                    check_failed(__FILE__, __LINE__, "seed %u: two objects live under one key", walker->seed);
                }
            if (held[place].bits) invivo_object_release(held[place]);
            held[place] = object, keys[place] = key;
        } else if (choice < 95) {
            if (held[place].bits) invivo_object_release(held[place]);
            held[place].bits = 0;
        } else if (choice < 98) {
            invivo_value list = invivo_null();
            OK(invivo_pool_list(shared, &list, E));
            invivo_value_clear(&list);
        } else if (walker->clears && choice == 99 && step % 16 == 0) {
            OK(invivo_pool_clear(shared, NULL, E));
        } else if (walker->clears) {
            (void)invivo_pool_remove(shared, &value, NULL);
        }
    }
    for (int i = 0; i < KEPT; i++)
        if (held[i].bits) invivo_object_release(held[i]);
    return NULL;
}

static void threads_find_what_a_model_says(bool clears) {
    open_runtime();
    register_model();
    shared = open_pool("shared");
    pthread_t threads[THREADS];
    struct walker walkers[THREADS];
    unsigned seed = (unsigned)time(NULL);
    const char *given = getenv("SEED");
    if (given) seed = (unsigned)strtoul(given, NULL, 10);
    printf("seed %u\n", seed);
    for (int i = 0; i < THREADS; i++) {
        walkers[i] = (struct walker){seed + (unsigned)i * 77773u, clears};
        pthread_create(&threads[i], NULL, walk, &walkers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(count(shared), 0);
    close_runtime();
    CHECK_EQUAL(models, 0);
    CHECK_EQUAL(weaks, 0);
}

/* Created and released entries leave nothing, even if no further key is added. */
static void entries_that_are_over_are_swept(void) {
    open_runtime();
    invivo_pool pool = open_pool("many");
    enum { MANY = 20000 };
    invivo_object *objects = calloc(MANY, sizeof *objects);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            invivo_value key = invivo_int64((int64_t)i * 7919 + round);
            OK(invivo_pool_get(pool, &key, NULL, NULL, &objects[i], E));
        }
        CHECK_EQUAL(count(pool), MANY);
        for (int i = 0; i < MANY; i++) invivo_object_release(objects[i]);
        CHECK_EQUAL(count(pool), 0);
    }
    free(objects);
    close_runtime();
}

/* A full table drops ended entries, so it does not grow with their total number. */
static size_t allocated(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }
static void a_pool_grows_with_live_entries_only(void) {
    open_runtime();
    invivo_pool pool = open_pool("passing");
    invivo_object kept[64] = {{0}}, passing;
    size_t before = 0;
    for (int64_t i = 0; i < 400000; i++) {
        invivo_value key = invivo_int64(i);
        OK(invivo_pool_get(pool, &key, NULL, NULL, i % 10000 == 0 ? &kept[i / 10000] : &passing, E));
        if (i % 10000) OK(invivo_object_release(passing));
        if (i == 40000) before = allocated();
    }
    CHECK(allocated() < before + (1 << 20));
    CHECK_EQUAL(count(pool), 40);
    for (int64_t i = 0; i < 40; i++) {
        invivo_value key = invivo_int64(i * 10000);
        OK(invivo_pool_get(pool, &key, NULL, NULL, &passing, E));
        CHECK(passing.bits == kept[i].bits);
        OK(invivo_object_release(passing));
        OK(invivo_object_release(kept[i]));
    }
    close_runtime();
}

int main(int argc, char **argv) {
    if (argc > 1) steps = atoi(argv[1]);
    check_begin();
    RUN_TEST(an_entry_lives_as_long_as_it_is_held);
    RUN_TEST(keys_are_equal_by_value);
    RUN_TEST(one_object_may_be_in_several_pools_under_several_keys);
    RUN_TEST(pools_are_found_by_name_and_end);
    RUN_TEST(clearing_is_a_reload_that_forgets);
    RUN_TEST(an_entry_is_created_once_for_many_threads);
    RUN_TEST(threads_that_wait_for_a_failing_creation_get_its_error);
    RUN_TEST(a_cycle_of_creations_is_an_error_and_no_deadlock);
    RUN_TEST(cycles_through_definitions_are_found);
    RUN_TEST(an_entry_lives_as_long_as_the_hosts_own_instance);
    RUN_TEST(a_pool_grows_with_instances_that_live_only);
    RUN_TEST(a_key_removed_while_its_entry_is_made_keeps_nothing);
    RUN_TEST_WITH(threads_find_what_a_model_says, false);
    RUN_TEST_WITH(threads_find_what_a_model_says, true);
    RUN_TEST(entries_that_are_over_are_swept);
    RUN_TEST(a_pool_grows_with_live_entries_only);
    return check_end();
}
