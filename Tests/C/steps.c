/* The steps of a creation: hooks in their order, and the state after a failure. */
/* sanitize: yes */
#include "nodes.h"

static invivo_status inject_by_code(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                    void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data;
    return say("inject", ((node *)instance)->name, error);
}

static void hooks_run_in_their_order(void) {
    begin();
    invivo_injection leaf[] = {KEY("left", "a.leaf")}, text[] = {CONSTANT(NULL, invivo_string("before"))};
    invivo_injection after_text[] = {CONSTANT(NULL, invivo_string("after"))}, all_text[] = {CONSTANT(NULL, invivo_string("all"))};
    invivo_invocation before[] = {{"note", text, 1}}, methods[] = {{"add", NULL, 0}, {"add", NULL, 0}};
    invivo_invocation after[] = {{"note", after_text, 1}}, all[] = {{"note", all_text, 1}};
    DEFINE("a.leaf", GRAPH, .after_all = all, .after_all_count = 1);
    DEFINE("a.top", LAZY_SINGLETON, PROPERTIES(leaf), .before = before, .before_count = 1, .methods = methods, .method_count = 2,
           .after = after, .after_count = 1, .after_all = all, .after_all_count = 1, .inject = inject_by_code);
    invivo_object top = resolve("a.top");
    CHECK_TEXT(trace, "init:top will:top before:top init:leaf will:leaf left:top add:top add:top inject:top after:top "
                      "all:leaf did:leaf all:top did:top ");
    CHECK_EQUAL(at(top)->number, 2);
    drop(top);
    end();
}

static void a_failing_step_leaves_nothing_half_made(void) {
    static const char *events[] = {"init:b", "will:b", "left:a", "did:b", "did:a", "init:c", "will:a", "left:c"};
    for (size_t i = 0; i < COUNT(events); i++) {
        begin();
        invivo_injection to_b[] = {KEY("left", "a.b"), KEY("right", "a.c")}, to_a[] = {KEY("left", "a.a")};
        describe();
        ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
        ADD("a.b", LAZY_SINGLETON);
        ADD("a.c", LAZY_SINGLETON, PROPERTIES(to_a));
        commit();
        fail_at = events[i];
        invivo_object object;
        expects_error(invivo_resolve_name(runtime, "a.a", &object, E), INVIVO_E_HOST, NULL);
        /* Independently complete objects may stay; nothing that leads to a. */
        invivo_object found = {0};
        CHECK_EQUAL(invivo_peek(runtime, key_of("a.a"), &found), INVIVO_E_COLD);
        CHECK_EQUAL(invivo_peek(runtime, key_of("a.c"), &found), INVIVO_E_COLD);
        CHECK(live <= 1);
        fail_at = NULL;
        object = resolve("a.a");
        CHECK(at(at(object)->right)->left.bits == object.bits);
        CHECK_EQUAL(live, 3);
        drop(object);
        end();
    }
}

static int refused_in; /* the number of the refused set, counted from now on; 0: none */
static invivo_status set_or_refuse(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    if (refused_in == 0 || --refused_in > 0) return set_object(instance, user_data, value, error);
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "not back", NULL, NULL);
    return INVIVO_E_HOST;
}
/* A value that could not be restored stays; a later failing reload restores it without a new object. */
static void values_that_could_not_be_restored_are_restored_later(void) {
    static const invivo_property stubborn[] = {
        {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_or_refuse, .user_data = (void *)offsetof(node, left)},
        {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(node, right)}};
    begin();
    invivo_type type;
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Stubborn", .size = sizeof(node),
        .alignment = _Alignof(node), .concurrency = INVIVO_CONFINED, .init = node_init, .deinit = node_deinit, .properties = stubborn, .property_count = 2}, &type, E));
    invivo_injection both[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.d", .flags = INVIVO_INJECT_OPTIONAL}, KEY("right", "a.e")};
    describe();
    ADD("a.d", GRAPH, .type = leaf_type);
    ADD("a.e", GRAPH, .type = leaf_type);
    ADD("a.h", LAZY_SINGLETON, .type = type, PROPERTIES(both));
    commit();
    invivo_object holder = resolve("a.h");
    CHECK(at(holder)->left.bits != 0);
    fail_at = "init:e", refused_in = 2;
    describe();
    OK(invivo_changes_remove(changes, "a.d", E));
    ADD("a.e", GRAPH, .type = leaf_type);
    check_error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, E), INVIVO_E_HOST);
    CHECK(strstr(invivo_error_text(check_error), "could not be undone: not back"));
    invivo_error_release(check_error);
    CHECK_EQUAL(at(holder)->left.bits, 0);
    trace[0] = 0;
    describe();
    ADD("a.d", GRAPH, .type = leaf_type);
    ADD("a.e", GRAPH, .type = leaf_type);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_TEXT(trace, "init:d left:h init:e right:h left:h end:d ");
    CHECK_EQUAL(at(holder)->left.bits, 0);
    drop(holder);
    end();
}

static void an_error_names_the_dependents(void) {
    begin();
    invivo_injection to_b[] = {KEY("left", "a.b")}, to_c[] = {KEY("input", "a.c")};
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b), .file = "wiring.c", .line = 7);
    ADD("a.b", GRAPH, INITIALIZER(to_c), .file = "wiring.c", .line = 8);
    ADD("a.c", GRAPH, .file = "wiring.c", .line = 9);
    commit();
    fail_at = "init:c";
    invivo_object object;
    expects_error(invivo_resolve_name(runtime, "a.a", &object, E), INVIVO_E_HOST,
                  "wiring.c:9: a.c: on purpose; needed by 'a.b' (wiring.c:8), by 'a.a' (wiring.c:7)");
    end();
}

static invivo_key hook_key;
static int hook_depth;
static invivo_status resolve_in_hook(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                     void *user_data, invivo_error **error) {
    invivo_object object;
    invivo_status status;
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    if (hook_depth++ > 3) return INVIVO_E_HOST;
    status = invivo_resolve(runtime, hook_key, &object, error);
    if (!status) invivo_object_release(object);
    return status;
}
static invivo_status did_resolve(void *instance, void *user_data, invivo_error **error) {
    return resolve_in_hook(instance, NULL, NULL, 0, user_data, error);
}
static void a_hook_may_resolve_and_that_completes_by_itself(void) {
    begin();
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Asking", .size = 8, .alignment = 8, .concurrency = INVIVO_SHARED,
                                   .did_inject = did_resolve};
    OK(invivo_type_register(runtime, &options, &type, E));
    DEFINE("a.leaf", GRAPH);
    DEFINE("a.asking", LAZY_SINGLETON, .type = type);
    hook_key = key_of("a.leaf"), hook_depth = 0;
    drop(resolve("a.asking"));
    CHECK_EQUAL(hook_depth, 1);
    CHECK_TEXT(trace, "init:leaf will:leaf did:leaf end:leaf ");
    /* Even itself: it exists, only its hooks are pending. */
    DEFINE("a.self", LAZY_SINGLETON, .type = type);
    hook_key = key_of("a.self"), hook_depth = 0;
    drop(resolve("a.self"));
    CHECK_EQUAL(hook_depth, 1);
    end();
}

/* Properties are set in order of declaration, regardless of their order in the type. */
static void properties_are_set_in_declared_order(void) {
    begin();
    invivo_injection one[] = {KEY("right", "a.leaf"), KEY("left", "a.leaf")}, other[] = {KEY("left", "a.leaf"), KEY("right", "a.leaf")};
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    DEFINE("a.one", PROTOTYPE, .type = leaf_type, PROPERTIES(one));
    DEFINE("a.other", PROTOTYPE, .type = leaf_type, PROPERTIES(other));
    drop(resolve("a.one"));
    CHECK_TEXT(trace, "init:one init:leaf right:one left:one end:one ");
    trace[0] = 0;
    drop(resolve("a.other"));
    CHECK_TEXT(trace, "init:other left:other right:other end:other ");
    end();
}

/* Objects that a handled nested failure rolled back run no last hooks and no deferred steps. */
static invivo_status caught;
static invivo_status make_catching(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                   invivo_error **error) {
    invivo_object object = {0};
    caught = invivo_resolve_name(runtime, "a.outer", &object, NULL);
    if (object.bits) drop(object);
    return node_init(*instance, build, arguments, count, user_data, error);
}
static void rolled_back_objects_run_no_further_steps(void) {
    begin();
    invivo_injection left[] = {KEY("left", "a.top")}, kid[] = {KEY("input", "a.kid"), CONSTANT("number", invivo_int64(1))};
    invivo_injection both[] = {KEY("left", "a.holder"), KEY("right", "a.bad")};
    invivo_invocation last[] = {{.method = "add"}};
    DEFINE("a.top", LAZY_SINGLETON, .factory = make_catching);
    DEFINE("a.kid", PROTOTYPE, .type = leaf_type, PROPERTIES(left), .after_all = last, .after_all_count = 1);
    DEFINE("a.holder", PROTOTYPE, .type = leaf_type, INITIALIZER(kid));
    DEFINE("a.bad", PROTOTYPE, .type = leaf_type);
    DEFINE("a.outer", PROTOTYPE, .type = leaf_type, PROPERTIES(both));
    for (int fails = 1; fails >= 0; fails--) {
        trace[0] = 0;
        fail_at = fails ? "init:bad" : NULL;
        invivo_object top = resolve("a.top");
        CHECK_EQUAL(caught, fails ? INVIVO_E_HOST : INVIVO_OK);
        CHECK_EQUAL(strstr(trace, "left:kid ") != NULL, !fails);
        CHECK_EQUAL(strstr(trace, "add:kid ") != NULL, !fails);
        drop(top);
        invivo_changes changes;
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_reset(changes, "a.top", 0, E));
        OK(invivo_changes_commit(changes, E));
    }
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(values_that_could_not_be_restored_are_restored_later);
    RUN_TEST(an_error_names_the_dependents);
    RUN_TEST(hooks_run_in_their_order);
    RUN_TEST(a_failing_step_leaves_nothing_half_made);
    RUN_TEST(a_hook_may_resolve_and_that_completes_by_itself);
    RUN_TEST(properties_are_set_in_declared_order);
    RUN_TEST(rolled_back_objects_run_no_further_steps);
    return check_end();
}
