/* Injection into objects of the host: one that becomes shared, and whole trees. */
/* sanitize: no, its thread only has a larger stack */
#include "parts.h"

static invivo_type plain, view, strange;

static void begin(void) {
    begin_with(0);
    invivo_type_options options = part_options("Plain");
    plain = register_type(options);
    options = part_options("View");
    options.will_inject = part_will, options.did_inject = part_did, options.child = part_child, options.key_name = part_key_name;
    view = register_type(options);
    options = part_options("Strange");
    options.child = part_child;
    strange = register_type(options);
}

/* An object of the host, identified by `name`. */
static invivo_object hosts(invivo_type type, const char *name) {
    invivo_object object = make(type);
    snprintf(at(object)->name, sizeof at(object)->name, "%s", name);
    return object;
}
/* The parent leases its children from now on; the test's leases stay. */
static void add(invivo_object parent, invivo_object child) { at(parent)->children[at(parent)->child_count++] = child; }

static invivo_object root, a, b, a1;

/* root(a(a1), b) */
static void plant(void) {
    root = hosts(view, "root"), a = hosts(view, "A"), b = hosts(view, "B"), a1 = hosts(view, "A1");
    add(root, a), add(root, b), add(a, a1);
    trace[0] = 0;
}
static void fell(void) { drop(root), drop(a), drop(b), drop(a1); }

static void a_tree_is_injected_by_type_and_completes_children_first(void) {
    static const invivo_injection left[] = {KEY("left", "a.shared")};
    begin();
    describe();
    ADD("a.shared", GRAPH, .type = plain);
    ADD("a.view", PROTOTYPE, .type = view, PROPERTIES(left));
    commit();
    plant();
    OK(invivo_inject_tree(root, NULL, E));
    CHECK_TEXT(trace, "will:root init:shared left:root will:A left:A will:A1 left:A1 will:B left:B did:A1 did:A did:B did:root ");
    /* One graph: a graph-scope object is shared in the whole tree. */
    CHECK(at(root)->left.bits == at(a1)->left.bits && at(a1)->left.bits == at(b)->left.bits);
    fell();
    end();
}

static void each_is_injected_by_the_key_it_names(void) {
    static const invivo_injection left[] = {KEY("left", "a.x")}, right[] = {KEY("right", "a.x")};
    begin();
    describe();
    ADD("a.x", LAZY_SINGLETON, .type = plain);
    ADD("a.view", PROTOTYPE, .type = view, PROPERTIES(left));
    ADD("a.special", PROTOTYPE, .type = view, .rank = -1, PROPERTIES(right));
    commit();
    plant();
    at(a)->wants = "a.special";
    OK(invivo_inject_tree(root, NULL, E));
    CHECK_TEXT(trace, "will:root init:x left:root will:A right:A will:A1 left:A1 will:B left:B did:A1 did:A did:B did:root ");
    trace[0] = 0;
    OK(invivo_inject_tree(root, &(invivo_tree){.struct_size = sizeof(invivo_tree), .key = "a.special"}, E));
    CHECK(strncmp(trace, "will:root right:root will:A right:A", 35) == 0);
    fell();
    end();
}

static invivo_status two_children(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    if (parent.bits != root.bits || index > 1) return INVIVO_OK;
    *out = index ? b : a;
    return invivo_object_retain(*out);
}
static invivo_status names(invivo_object object, const char **out, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    *out = object.bits == a.bits ? "a.special" : NULL;
    return INVIVO_OK;
}
static uint8_t is_b(invivo_object object, void *user_data) { return (void)user_data, object.bits == b.bits; }

static void callbacks_walk_the_tree_in_the_place_of_its_types(void) {
    static const invivo_injection left[] = {KEY("left", "a.x")}, right[] = {KEY("right", "a.x")};
    begin();
    describe();
    ADD("a.x", LAZY_SINGLETON, .type = plain);
    ADD("a.view", PROTOTYPE, .type = view, PROPERTIES(left));
    ADD("a.special", PROTOTYPE, .type = view, .rank = -1, PROPERTIES(right));
    commit();
    plant();
    invivo_tree tree = {.struct_size = sizeof tree, .child = two_children, .key_name = names};
    OK(invivo_inject_tree(root, &tree, E));
    CHECK_TEXT(trace, "will:root init:x left:root will:A right:A will:B left:B did:A did:B did:root ");
    /* Handled by another loader. */
    trace[0] = 0;
    tree.is_foreign = is_b;
    OK(invivo_inject_tree(root, &tree, E));
    CHECK_TEXT(trace, "will:root left:root will:A right:A did:A did:root ");
    fell();
    end();
}

static void objects_of_definitions_are_skipped_with_their_subtrees(void) {
    begin();
    describe();
    ADD("a.view", PROTOTYPE, .type = view);
    commit();
    plant();
    invivo_object made = resolve("a.view");
    add(a, made), add(made, b);
    trace[0] = 0;
    at(root)->child_count = 1;
    OK(invivo_inject_tree(root, NULL, E));
    CHECK_TEXT(trace, "will:root will:A will:A1 did:A1 did:A did:root ");
    fell();
    drop(made);
    end();
}

static void all_errors_of_a_tree_are_reported_before_the_injection(void) {
    begin();
    describe();
    ADD("a.view", PROTOTYPE, .type = view);
    ADD("a.plain", PROTOTYPE, .type = plain);
    commit();
    plant();
    invivo_object odd = hosts(strange, "odd");
    add(b, odd), add(odd, root);
    at(a)->wants = "a.viw", at(a1)->wants = "a.plain";
    trace[0] = 0;
    expects_error(invivo_inject_tree(root, NULL, E), INVIVO_E_NOT_FOUND,
                  "a.viw: the object at 'root.0': no definition has the key 'a.viw'; did you mean 'a.view'?\n"
                  "a.plain: the object at 'root.0.0': 'a.plain' injects into a 'Plain', the object is a 'View'\n"
                  "Strange: the object at 'root.1.0': no definition creates a 'Strange', so nothing can be injected\n"
                  "root.1.0.0: the object at 'root.1.0.0' is in the tree at 'root' too");
    CHECK_TEXT(trace, "");
    /* Unless such objects are permitted. */
    at(a)->wants = at(a1)->wants = NULL;
    at(odd)->child_count = 0;
    OK(invivo_inject_tree(root, &(invivo_tree){.struct_size = sizeof(invivo_tree), .flags = INVIVO_INTO_KNOWN}, E));
    CHECK_TEXT(trace, "will:root will:A will:A1 will:B did:A1 did:A did:B did:root ");
    fell();
    drop(odd);
    end();
}

static void a_failing_hook_fails_the_whole_tree(void) {
    static const invivo_injection left[] = {KEY("left", "a.x")};
    begin();
    describe();
    ADD("a.x", LAZY_SINGLETON, .type = plain);
    ADD("a.view", PROTOTYPE, .type = view, PROPERTIES(left));
    commit();
    plant();
    fail_at = "left:B";
    expects_error(invivo_inject_tree(root, NULL, E), INVIVO_E_HOST, NULL);
    CHECK(!strstr(trace, "did:"));
    fail_at = NULL;
    fell();
    end();
}

/* Another one below each. */
static invivo_status one_more(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error) {
    (void)parent, (void)user_data;
    return index ? INVIVO_OK : invivo_object_make(runtime, plain, NULL, 0, out, error);
}
static invivo_status no_more(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error) {
    (void)index, (void)out, (void)user_data;
    if (parent.bits != a.bits) return two_children(parent, index, out, user_data, error);
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "the branch is rotten", NULL, NULL);
    return INVIVO_E_HOST;
}
static void *inject_without_end(void *at_the_root) {
    const invivo_tree tree = {.struct_size = sizeof tree, .child = one_more};
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_inject_tree(*(invivo_object *)at_the_root, &tree, &error), INVIVO_E_TOO_LARGE);
    CHECK(strstr(invivo_error_text(error), "the thread's stack is full") || strstr(invivo_error_text(error), "deeper than 1000"));
    invivo_error_release(error);
    return NULL;
}
static void a_tree_without_end_is_an_error_on_any_stack(void) {
    begin();
    describe();
    ADD("a.plain", PROTOTYPE, .type = plain);
    commit();
    invivo_object top = make(plain);
    for (size_t size = 512 << 10; size <= 16 << 20; size <<= 1) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, size);
        if (CHECK(pthread_create(&thread, &attributes, inject_without_end, &top) == 0)) pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
    drop(top);
    /* The error of a failing child contains its source location. */
    plant();
    const invivo_tree tree = {.struct_size = sizeof tree, .child = no_more};
    expects_error(invivo_inject_tree(root, &tree, E), INVIVO_E_HOST, "root.0.0: the branch is rotten");
    fell();
    end();
}

static void an_injected_object_becomes_shared_only_on_request(void) {
    static const invivo_injection left[] = {KEY("left", "a.user")}, right[] = {KEY("right", "a.one")};
    begin();
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = view, PROPERTIES(left));
    ADD("a.user", LAZY_SINGLETON, .type = plain, PROPERTIES(right));
    ADD("a.proto", PROTOTYPE, .type = plain);
    commit();
    invivo_object mine = hosts(view, "mine"), other = hosts(view, "other"), resolved;
    OK(invivo_inject(other, key_of("a.one"), E));
    CHECK(at(other)->left.bits != 0);
    resolved = resolve("a.one");
    CHECK(resolved.bits != other.bits);
    drop(resolved);
    expects_error(invivo_inject_with(mine, key_of("a.one"), INVIVO_INTO_SHARED, E), INVIVO_E_EXISTS, NULL);
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = view, PROPERTIES(left), .rank = 1);
    ADD("a.user", LAZY_SINGLETON, .type = plain, PROPERTIES(right));
    commit();
    /* Both were built, so they are again; a new key is cold. */
    describe();
    ADD("b.one", LAZY_SINGLETON, .type = view, .flags = INVIVO_DEFINITION_HIDDEN_CLASS, .properties = (invivo_injection[]){KEY("left", "b.user")}, .property_count = 1);
    ADD("b.user", LAZY_SINGLETON, .type = plain, .properties = (invivo_injection[]){KEY("right", "b.one")}, .property_count = 1);
    commit();
    OK(invivo_inject_with(mine, key_of("b.one"), INVIVO_INTO_SHARED, E));
    /* A reference back during the injection leads to the object itself. */
    CHECK(at(at(mine)->left)->right.bits == mine.bits);
    resolved = resolve("b.one");
    CHECK(resolved.bits == mine.bits);
    drop(resolved);
    expects_error(invivo_inject_with(mine, key_of("a.proto"), INVIVO_INTO_SHARED, E), INVIVO_E_TYPE, NULL);
    invivo_object leaf = hosts(plain, "leaf");
    expects_error(invivo_inject_with(leaf, key_of("a.proto"), INVIVO_INTO_SHARED, E), INVIVO_E_ARGUMENT, NULL);
    drop(leaf), drop(mine), drop(other);
    end();
}

static void an_object_that_fails_to_become_shared_leaves_its_key_cold(void) {
    begin();
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = view);
    commit();
    invivo_object mine = hosts(view, "mine");
    fail_at = "did:mine";
    expects_error(invivo_inject_with(mine, key_of("a.one"), INVIVO_INTO_SHARED, E), INVIVO_E_HOST, NULL);
    fail_at = "will:mine";
    expects_error(invivo_inject_with(mine, key_of("a.one"), INVIVO_INTO_SHARED, E), INVIVO_E_HOST, NULL);
    fail_at = NULL;
    invivo_object peeked;
    CHECK_EQUAL(invivo_peek(runtime, key_of("a.one"), &peeked), INVIVO_E_COLD);
    OK(invivo_inject_with(mine, key_of("a.one"), INVIVO_INTO_SHARED, E));
    CHECK_EQUAL(invivo_peek(runtime, key_of("a.one"), &peeked), INVIVO_OK);
    CHECK(peeked.bits == mine.bits);
    drop(peeked), drop(mine);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_tree_is_injected_by_type_and_completes_children_first);
    RUN_TEST(each_is_injected_by_the_key_it_names);
    RUN_TEST(callbacks_walk_the_tree_in_the_place_of_its_types);
    RUN_TEST(objects_of_definitions_are_skipped_with_their_subtrees);
    RUN_TEST(all_errors_of_a_tree_are_reported_before_the_injection);
    RUN_TEST(a_failing_hook_fails_the_whole_tree);
    RUN_TEST(a_tree_without_end_is_an_error_on_any_stack);
    RUN_TEST(an_injected_object_becomes_shared_only_on_request);
    RUN_TEST(an_object_that_fails_to_become_shared_leaves_its_key_cold);
    return check_end();
}
