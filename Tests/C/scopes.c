/* Scopes with several instances: threads, and host scopes. */
/* sanitize: yes */
#include "check.h"

typedef struct thing { int64_t number; } thing;

static invivo_runtime runtime;
static invivo_type type, confined;
static invivo_key key;
static int live, made, order[64], ended;

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)build, (void)user_data, (void)error, (void)arguments, (void)count;
    ((thing *)instance)->number = __atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void thing_deinit(void *instance, void *user_data) {
    (void)user_data;
    order[__atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST) % 64] = (int)((thing *)instance)->number;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static void open_runtime(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Thing", .concurrency = INVIVO_SHARED, .size = sizeof(thing),
                                   .alignment = 8, .init = thing_init, .deinit = thing_deinit};
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    options.name = "Own", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &confined, E));
    live = made = ended = 0;
}
static invivo_key define(const char *name, invivo_type its_type, uint32_t scope, const char *scope_name) {
    invivo_key found = {0};
    invivo_definition definition = {.struct_size = sizeof definition, .key = name, .type = its_type, .scope = scope, .scope_name = scope_name};
    OK(invivo_define(runtime, &definition, &found, E));
    return found;
}
static int64_t number_of(invivo_key of) {
    invivo_object object;
    void *instance = NULL;
    if (!OK(invivo_resolve(runtime, of, &object, E))) return -1;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    int64_t number = ((thing *)instance)->number;
    OK(invivo_object_release(object));
    return number;
}

/* ---- threads ------------------------------------------------------------------------------------------- */

static invivo_key own;
static pthread_barrier_t barrier;
static void *use(void *context) {
    int64_t *numbers = context;
    numbers[0] = number_of(key);
    numbers[1] = number_of(own);
    CHECK_EQUAL(number_of(key), numbers[0]);
    CHECK_EQUAL(number_of(own), numbers[1]);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}
static void each_thread_has_its_own_until_it_ends(void) {
    open_runtime();
    key = define("t.shared", type, INVIVO_SCOPE_THREAD, NULL);
    own = define("t.own", confined, INVIVO_SCOPE_THREAD, NULL);
    enum { MANY = 8 };
    pthread_t threads[MANY];
    int64_t numbers[MANY][2];
    pthread_barrier_init(&barrier, NULL, MANY + 1);
    for (int i = 0; i < MANY; i++) pthread_create(&threads[i], NULL, use, numbers[i]);
    pthread_barrier_wait(&barrier);
    CHECK_EQUAL(made, 2 * MANY);
    CHECK_EQUAL(live, 2 * MANY);
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < i; j++) CHECK(numbers[i][0] != numbers[j][0] && numbers[i][1] != numbers[j][1]);
    int64_t mine = number_of(key);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < MANY; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(live, 1);
    CHECK_EQUAL(number_of(key), mine);
    /* A changed definition drops the instances of all threads. */
    key = define("t.shared", type, INVIVO_SCOPE_THREAD, NULL);
    CHECK(number_of(key) != mine);
    CHECK_EQUAL(live, 1);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    pthread_barrier_destroy(&barrier);
}

/* ---- host scopes --------------------------------------------------------------------------------------- */

static __thread uint64_t here;
static int kept, dropped, destroyed;
static invivo_status find_here(void *user_data, uint64_t *place, invivo_error **error) {
    (void)user_data;
    if (here == 99) {
        *error = invivo_error_make(INVIVO_E_HOST, "the map is lost", NULL, NULL);
        return INVIVO_E_HOST;
    }
    *place = here;
    return INVIVO_OK;
}
static void keep_it(void *user_data, uint64_t place, invivo_key of, invivo_object object) {
    (void)user_data, (void)of, (void)object;
    CHECK_EQUAL(place, here);
    __atomic_add_fetch(&kept, 1, __ATOMIC_SEQ_CST);
    if (place == 77) OK(invivo_scope_end(runtime, "request", place, E));
}
static void drop_it(void *user_data, uint64_t place, invivo_key of, invivo_object object) {
    (void)user_data, (void)place, (void)object;
    CHECK(of.bits != 0);
    __atomic_add_fetch(&dropped, 1, __ATOMIC_SEQ_CST);
}
static void count_destroyed(void *user_data) { ++*(int *)user_data; }
static void register_scope(void) {
    invivo_scope_options options = {.struct_size = sizeof options, .name = "request", .find = find_here, .keep = keep_it, .drop = drop_it,
                                    .user_data = &destroyed, .destroy = count_destroyed};
    OK(invivo_scope_register(runtime, &options, E));
    expects_error(invivo_scope_register(runtime, &options, E), INVIVO_E_EXISTS, "a scope 'request' is registered already");
    options.name = "thread";
    expects_error(invivo_scope_register(runtime, &options, E), INVIVO_E_EXISTS, "a scope 'thread' is registered already");
}
static int64_t at(uint64_t place, invivo_key of) {
    uint64_t former = here;
    here = place;
    int64_t number = number_of(of);
    here = former;
    return number;
}

static void the_host_identifies_the_scope_instance(void) {
    open_runtime();
    kept = dropped = destroyed = 0;
    invivo_definition lost = {.struct_size = sizeof lost, .key = "r.lost", .type = type, .scope = INVIVO_SCOPE_HOST, .scope_name = "request"};
    expects_error(invivo_define(runtime, &lost, NULL, E), INVIVO_E_NOT_FOUND, NULL);
    register_scope();
    lost.scope_name = NULL;
    expects_error(invivo_define(runtime, &lost, NULL, E), INVIVO_E_ARGUMENT, "r.lost: a scope of the host has a name, and only a scope of contexts may have one: that of their kind");
    lost.scope = INVIVO_SCOPE_GRAPH, lost.scope_name = "request";
    expects_error(invivo_define(runtime, &lost, NULL, E), INVIVO_E_ARGUMENT, NULL);
    key = define("r.one", type, INVIVO_SCOPE_HOST, "request");
    invivo_key two = define("r.two", type, INVIVO_SCOPE_HOST, "request");
    invivo_object object;
    expects_error(invivo_resolve(runtime, key, &object, E), INVIVO_E_NOT_READY,
                  "r.one: 'r.one' has the scope 'request', and the calling code is in no instance of it");
    here = 99;
    expects_error(invivo_resolve(runtime, key, &object, E), INVIVO_E_HOST, "r.one: the map is lost");
    here = 0;
    int64_t first = at(1, key), second = at(2, key), other = at(1, two);
    CHECK(first != second && first != other);
    CHECK_EQUAL(at(1, key), first);
    CHECK_EQUAL(at(2, key), second);
    CHECK_EQUAL(kept, 3);
    ended = 0;
    OK(invivo_scope_end(runtime, "request", 1, E));
    CHECK_EQUAL(live, 1);
    CHECK_EQUAL(dropped, 2);
    CHECK_EQUAL(order[0], other); /* disposed of in reverse order of creation */
    CHECK_EQUAL(order[1], first);
    CHECK(at(1, key) != first);
    /* A held object outlives the scope instance. */
    here = 2;
    OK(invivo_resolve(runtime, key, &object, E));
    here = 0;
    OK(invivo_scope_end(runtime, "request", 2, E));
    OK(invivo_scope_end(runtime, "request", 2, E));
    CHECK_EQUAL(live, 2);
    OK(invivo_object_release(object));
    CHECK_EQUAL(live, 1);
    expects_error(invivo_scope_end(runtime, "requests", 1, E), INVIVO_E_NOT_FOUND, "no scope 'requests' is registered; did you mean 'request'?");
    /* A change of the definition, in every scope instance. */
    int64_t before = at(1, key);
    key = define("r.one", type, INVIVO_SCOPE_HOST, "request");
    CHECK_EQUAL(live, 0);
    CHECK(at(1, key) != before);
    /* A definition may inherit the scope of its parent. */
    invivo_definition child = {.struct_size = sizeof child, .key = "r.child", .parent = "r.one"};
    invivo_key child_key;
    OK(invivo_define(runtime, &child, &child_key, E));
    CHECK_EQUAL(at(3, child_key), at(3, child_key));
    CHECK_EQUAL(live, 2);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(kept, dropped);
    CHECK_EQUAL(destroyed, 1);
}

static void *resolve_here(void *context) {
    here = 7;
    pthread_barrier_wait(&barrier);
    *(int64_t *)context = number_of(key);
    return NULL;
}
static void an_object_of_a_scope_instance_is_built_once_for_many_threads(void) {
    open_runtime();
    register_scope();
    key = define("r.one", type, INVIVO_SCOPE_HOST, "request");
    enum { MANY = 32 };
    pthread_t threads[MANY];
    int64_t numbers[MANY];
    pthread_barrier_init(&barrier, NULL, MANY);
    for (int i = 0; i < MANY; i++) pthread_create(&threads[i], NULL, resolve_here, &numbers[i]);
    for (int i = 0; i < MANY; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < MANY; i++) CHECK_EQUAL(numbers[i], numbers[0]);
    CHECK_EQUAL(made, 1);
    pthread_barrier_destroy(&barrier);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

/* Scope instances end while others resolve in them and the definition changes. */
static bool stop;
static void *come_and_go(void *context) {
    unsigned seed = (unsigned)(size_t)context;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        seed = seed * 1664525u + 1013904223u;
        here = 1 + (seed >> 8) % 3;
        number_of(key);
        if (seed >> 28 == 0) OK(invivo_scope_end(runtime, "request", here, E));
    }
    return NULL;
}
static void places_end_while_others_resolve(void) {
    open_runtime();
    register_scope();
    kept = dropped = 0;
    key = define("r.one", type, INVIVO_SCOPE_HOST, "request");
    pthread_t threads[3];
    stop = false;
    for (size_t i = 0; i < 3; i++) pthread_create(&threads[i], NULL, come_and_go, (void *)(i + 1));
    for (int i = 0; i < 200; i++) define("r.one", type, INVIVO_SCOPE_HOST, "request");
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    for (uint64_t place = 1; place < 4; place++) OK(invivo_scope_end(runtime, "request", place, E));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(kept, dropped);
}

static void a_context_is_missing_outside_of_one(void) {
    open_runtime();
    key = define("c.one", type, INVIVO_SCOPE_CONTEXT, NULL);
    invivo_object object;
    expects_error(invivo_resolve(runtime, key, &object, E), INVIVO_E_NOT_READY,
                  "c.one: 'c.one' has one instance for each context, and the calling code is in no context: resolve it in one, or enter one");
    OK(invivo_runtime_close(runtime, E));
}

static void a_place_that_ends_while_something_is_kept_there_holds_nothing(void) {
    open_runtime();
    kept = dropped = destroyed = 0;
    register_scope();
    key = define("r.one", type, INVIVO_SCOPE_HOST, "request");
    here = 77;
    invivo_object object;
    OK(invivo_resolve(runtime, key, &object, E));
    CHECK_EQUAL(live, 1);
    OK(invivo_object_release(object));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(kept, 1);
    CHECK_EQUAL(dropped, 1);
    here = 0;
    OK(invivo_runtime_close(runtime, E));
}

static void another_scope_of_the_host_s_is_another_definition(void) {
    open_runtime();
    kept = dropped = destroyed = 0;
    register_scope();
    invivo_scope_options options = {.struct_size = sizeof options, .name = "other", .find = find_here};
    OK(invivo_scope_register(runtime, &options, E));
    invivo_definition definition = {.struct_size = sizeof definition, .key = "one", .type = type, .scope = INVIVO_SCOPE_HOST,
                                    .scope_name = "request"};
    const invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "s", .definitions = &definition, .definition_count = 1};
    const invivo_assembly *const given[] = {&assembly};
    OK(invivo_activate(runtime, given, 1, NULL, E));
    OK(invivo_key_find(runtime, "s.one", &key, E));
    at(1, key);
    CHECK_EQUAL(kept, 1);
    definition.scope_name = "other";
    OK(invivo_activate(runtime, given, 1, NULL, E));
    CHECK_EQUAL(dropped, 1);
    at(1, key);
    CHECK_EQUAL(kept, 1);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

int main(void) {
    check_begin();
    RUN_TEST(each_thread_has_its_own_until_it_ends);
    RUN_TEST(the_host_identifies_the_scope_instance);
    RUN_TEST(an_object_of_a_scope_instance_is_built_once_for_many_threads);
    RUN_TEST(places_end_while_others_resolve);
    RUN_TEST(a_context_is_missing_outside_of_one);
    RUN_TEST(a_place_that_ends_while_something_is_kept_there_holds_nothing);
    RUN_TEST(another_scope_of_the_host_s_is_another_definition);
    return check_end();
}
