/* Build plans: frequently created graphs in one pass, without leaks. */
/* sanitize: yes */
#include "nodes.h"

/* Its init resolves `asked`. */
static const char *asked;
static invivo_object answered;
static invivo_status asking_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    invivo_status status = node_init(instance, build, arguments, count, user_data, error);
    if (status || !asked) return status;
    status = invivo_resolve_name(build->runtime, asked, &answered, error);
    if (status) node_deinit(instance, user_data);
    return status;
}

static void begin_with_simple_types(invivo_type *asking) {
    begin();
    invivo_type_options options = {.struct_size = sizeof options, .name = "Asks", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = asking_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3};
    asked = NULL;
    OK(invivo_type_register(runtime, &options, asking, E));
}
#define LEAF(given_key, given_scope, ...) ADD(given_key, given_scope, .type = leaf_type, __VA_ARGS__)

/* By key: a resolve by name uses the general way. */
static invivo_object make_top(void) {
    invivo_object object = {0};
    OK(invivo_resolve(runtime, key_of("a.top"), &object, E));
    return object;
}

static void a_graph_made_by_a_program_is_the_same_graph(void) {
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection base[] = {KEY("input", "a.base"), CONSTANT("number", invivo_int64(3))}, shared[] = {KEY("input", "a.shared")};
    invivo_injection both[] = {KEY("input", "a.one"), CONSTANT("number", invivo_int64(9)), KEY("given", "a.two")};
    describe();
    LEAF("a.shared", LAZY_SINGLETON, .flags = 0);
    LEAF("a.base", GRAPH, INITIALIZER(shared));
    LEAF("a.one", PROTOTYPE, INITIALIZER(base));
    LEAF("a.two", PROTOTYPE, INITIALIZER(base));
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    invivo_object kept = {0};
    for (int round = 0; round < 6; round++) {
        trace[0] = 0;
        invivo_object top = make_top();
        invivo_object one = at(top)->input, two = at(top)->given.as.object;
        CHECK_TEXT(trace, round ? "init:base init:one init:two init:top " : "init:shared init:base init:one init:two init:top ");
        CHECK_EQUAL(at(top)->number, 9);
        CHECK_EQUAL(at(one)->number, 3);
        CHECK(one.bits != two.bits && at(one)->input.bits == at(two)->input.bits);
        CHECK(at(at(one)->input)->input.bits != 0);
        CHECK_EQUAL(live, 5);
        trace[0] = 0;
        if (round % 2) {
            /* A held part outlives the whole, with all its dependencies. */
            kept = one;
            OK(invivo_object_retain(kept));
        }
        drop(top);
        if (round % 2) {
            CHECK_EQUAL(live, 3);
            CHECK(at(at(kept)->input)->input.bits != 0);
            drop(kept);
        }
        CHECK_EQUAL(live, 1);
        if (round % 2 == 0) CHECK_TEXT(trace, "end:top end:two end:one end:base ");
    }
    /* A reload of its dependencies, or constants, takes effect at once. */
    both[1].value = invivo_int64(10);
    base[1].value = invivo_int64(4);
    describe();
    LEAF("a.top", GRAPH, INITIALIZER(both));
    LEAF("a.two", PROTOTYPE, INITIALIZER(base));
    commit();
    for (int round = 0; round < 4; round++) {
        invivo_object top = make_top();
        CHECK_EQUAL(at(top)->number, 10);
        CHECK_EQUAL(at(at(top)->given.as.object)->number, 4);
        CHECK_EQUAL(at(at(top)->input)->number, 3);
        drop(top);
    }
    /* So do traits for a part of it. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.shared", .type = leaf_type,
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    for (int round = 0; round < 3; round++) {
        invivo_object top = make_top(), now = resolve("a.shared");
        CHECK(at(at(at(top)->input)->input)->input.bits == now.bits);
        drop(top), drop(now);
    }
    end();
}

static void a_program_that_fails_takes_all_of_it_back(void) {
    static const char *events[] = {"init:base", "init:one", "init:two", "init:top"};
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection base[] = {KEY("input", "a.base")}, shared[] = {KEY("input", "a.shared")};
    invivo_injection both[] = {KEY("input", "a.one"), CONSTANT("number", invivo_int64(9)), KEY("given", "a.two")};
    describe();
    LEAF("a.shared", LAZY_SINGLETON, .flags = 0);
    LEAF("a.base", GRAPH, INITIALIZER(shared));
    LEAF("a.one", PROTOTYPE, INITIALIZER(base));
    LEAF("a.two", PROTOTYPE, INITIALIZER(base));
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    for (int round = 0; round < 3; round++) drop(make_top());
    for (size_t i = 0; i < COUNT(events); i++) {
        char key[16];
        invivo_object object = {0};
        invivo_error *error = NULL;
        fail_at = events[i];
        CHECK_EQUAL(invivo_resolve(runtime, key_of("a.top"), &object, &error), INVIVO_E_HOST);
        snprintf(key, sizeof key, "a.%s", events[i] + 5);
        CHECK_TEXT(invivo_error_path(error), key);
        invivo_error_release(error);
        CHECK_EQUAL(live, 1);
        CHECK_EQUAL(live_objects(), 1);
        fail_at = NULL;
        drop(make_top());
    }
    end();
}

static void an_init_in_a_program_resolves_in_the_same_graph(void) {
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection base[] = {KEY("input", "a.base")}, both[] = {KEY("input", "a.base"), CONSTANT("number", invivo_int64(1)), KEY("given", "a.asks")};
    describe();
    LEAF("a.base", GRAPH, .flags = 0);
    LEAF("a.other", GRAPH, INITIALIZER(base));
    ADD("a.asks", GRAPH, .type = asking);
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    for (int round = 0; round < 5; round++) {
        asked = "a.base";
        invivo_object top = make_top();
        CHECK(answered.bits == at(top)->input.bits);
        drop(answered);
        drop(top);
        asked = "a.other"; /* created meanwhile, from the same base */
        top = make_top();
        CHECK(at(answered)->input.bits == at(top)->input.bits);
        drop(answered), drop(top);
        CHECK_EQUAL(live, 0);
        /* An object in progress is not visible yet. */
        asked = "a.top";
        invivo_object none;
        invivo_error *error = NULL;
        CHECK_EQUAL(invivo_resolve(runtime, key_of("a.top"), &none, &error), INVIVO_E_CYCLE);
        invivo_error_release(error);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static void *make_graphs(void *key) {
    for (int i = 0; i < 2000; i++) {
        invivo_object object;
        if (invivo_resolve(runtime, *(invivo_key *)key, &object, NULL)) {
            check_failed(__FILE__, __LINE__, "a graph is not made");
        } else if (invivo_object_release(object)) {
            check_failed(__FILE__, __LINE__, "a graph is not given back");
        }
    }
    return NULL;
}
static void programs_run_in_many_threads_while_reloads_change_them(void) {
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection shared[] = {KEY("input", "a.shared")}, base[] = {KEY("input", "a.base")};
    describe();
    LEAF("a.shared", LAZY_SINGLETON, .flags = 0);
    LEAF("a.base", GRAPH, INITIALIZER(shared));
    LEAF("a.top", PROTOTYPE, INITIALIZER(base));
    commit();
    invivo_key key = key_of("a.top");
    pthread_t threads[3];
    for (size_t i = 0; i < COUNT(threads); i++) pthread_create(&threads[i], NULL, make_graphs, &key);
    for (int i = 0; i < 100; i++) DEFINE("a.shared", LAZY_SINGLETON, .type = leaf_type);
    for (size_t i = 0; i < COUNT(threads); i++) pthread_join(threads[i], NULL);
    /* If the threads finished during one change, the shared object has not been requested since. */
    drop(make_top());
    (void)live_objects(); /* retires finished generations */
    CHECK_EQUAL(live, 1);
    end();
}

static void *replace_both(void *unused) {
    describe();
    LEAF("a.top", GRAPH, .flags = 0);
    LEAF("a.beside", LAZY_SINGLETON, .flags = INVIVO_DEFINITION_NULLABLE);
    commit();
    (void)live_objects(); /* retires finished generations */
    return unused;
}
static int live_meanwhile;
static invivo_status replacing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                    void *user_data, invivo_error **error) {
    pthread_t thread;
    invivo_status status = node_init(instance, build, arguments, count, user_data, error);
    if (status || !asked) return status;
    pthread_create(&thread, NULL, replace_both, NULL);
    pthread_join(thread, NULL);
    live_meanwhile = __atomic_load_n(&live, __ATOMIC_SEQ_CST);
    return status;
}

/* A reload replaces the plan during its run, and an unrelated shared object. */
static void a_program_ends_in_the_generation_in_which_it_began(void) {
    begin();
    invivo_type replacing;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Replaces", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = replacing_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3};
    OK(invivo_type_register(runtime, &options, &replacing, E));
    invivo_injection base[] = {KEY("input", "a.base"), CONSTANT("number", invivo_int64(5))};
    describe();
    LEAF("a.beside", LAZY_SINGLETON, .flags = 0);
    ADD("a.base", GRAPH, .type = replacing);
    LEAF("a.one", GRAPH, INITIALIZER(base));
    invivo_injection both[] = {KEY("input", "a.one"), CONSTANT("number", invivo_int64(9)), KEY("given", "a.base")};
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    asked = NULL;
    for (int round = 0; round < 3; round++) drop(make_top());
    drop(resolve("a.beside"));
    CHECK_EQUAL(live, 1);
    asked = "now";
    invivo_object top = make_top();
    asked = NULL;
    /* The base, the replacement beside it, and the former one, which belongs to the generation in which this run began. */
    CHECK_EQUAL(live_meanwhile, 3);
    CHECK_EQUAL(at(top)->number, 9);
    CHECK_EQUAL(at(at(top)->input)->number, 5);
    CHECK(at(at(top)->input)->input.bits == at(top)->given.as.object.bits);
    drop(top);
    (void)live_objects();
    CHECK_EQUAL(live, 1);
    top = make_top();
    CHECK_EQUAL(at(top)->input.bits, 0);
    drop(top);
    end();
}

static void graphs_come_and_go_without_a_trace(void) {
    begin();
    invivo_injection to_x[] = {KEY("left", "a.x"), KEY("right", "a.g")}, to_p[] = {KEY("left", "a.p"), KEY("right", "a.g")};
    describe();
    ADD("a.p", PROTOTYPE, PROPERTIES(to_x), .type = leaf_type);
    ADD("a.x", PROTOTYPE, PROPERTIES(to_p), .type = leaf_type);
    ADD("a.g", GRAPH, .type = leaf_type);
    commit();
    invivo_key key = key_of("a.p");
    for (int i = 0; i < 20000; i++) {
        invivo_object object;
        trace[0] = 0;
        if (invivo_resolve(runtime, key, &object, NULL) || invivo_object_release(object)) check_failed(__FILE__, __LINE__, "a graph is not made and given back");
    }
    CHECK_EQUAL(serials, 60000);
    CHECK_EQUAL(live, 0);
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(a_graph_made_by_a_program_is_the_same_graph);
    RUN_TEST(a_program_that_fails_takes_all_of_it_back);
    RUN_TEST(an_init_in_a_program_resolves_in_the_same_graph);
    RUN_TEST(programs_run_in_many_threads_while_reloads_change_them);
    RUN_TEST(a_program_ends_in_the_generation_in_which_it_began);
    RUN_TEST(graphs_come_and_go_without_a_trace);
    return check_end();
}
