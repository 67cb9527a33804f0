/* Lookups by type, injection into objects of the host, and precedence of declarations. */
/* sanitize: yes */
#include "nodes.h"

/* ---- lookups ----------------------------------------------------------------------------------------- */

static void types_are_looked_up(void) {
    begin();
    invivo_object object = {0}, other = {0};
    expects_error(by_type("Node", NULL, 0, &object), INVIVO_E_NOT_FOUND, "Node: no definition creates a 'Node'");
    OK(by_type("Node", NULL, INVIVO_LOOKUP_OPTIONAL, &object));
    CHECK_EQUAL(object.bits, 0);
    DEFINE("a.one", LAZY_SINGLETON);
    OK(by_type("Node", NULL, 0, &object));
    OK(by_type("Thing", NULL, 0, &other));
    CHECK(object.bits == other.bits);
    CHECK_TEXT(at(object)->name, "one");
    drop(other);
    other = resolve("a.one");
    CHECK(object.bits == other.bits);
    drop(object), drop(other);
    static const char *const wrong[][2] = {{"", "no definition has the key ''"}, {"a.oen", "a.oen: no definition has the key 'a.oen'; did you mean 'a.one'?"}};
    for (int i = 0; i < 2; i++) {
        invivo_error *error = NULL;
        CHECK_EQUAL(invivo_resolve_name(runtime, wrong[i][0], &object, &error), INVIVO_E_NOT_FOUND);
        CHECK_EQUAL(object.bits, 0);
        CHECK_EQUAL(invivo_error_code(error), INVIVO_E_NOT_FOUND);
        CHECK_TEXT(invivo_error_path(error), wrong[i][0]);
        CHECK_TEXT(invivo_error_text(error), wrong[i][1]);
        CHECK_EQUAL(invivo_error_count(error), 1);
        invivo_error_release(error);
    }
    expects_error(by_type("Thing", NULL, INVIVO_LOOKUP_EXACT, &object), INVIVO_E_NOT_FOUND, NULL);
    expects_error(by_type("Thingy", NULL, 0, &object), INVIVO_E_NOT_FOUND, "Thingy: no definition creates a 'Thingy'; did you mean 'Thing'?");
    DEFINE("a.two", LAZY_SINGLETON);
    DEFINE("a.base", LAZY_SINGLETON, .flags = INVIVO_DEFINITION_ABSTRACT);
    DEFINE("a.hidden", LAZY_SINGLETON, .flags = INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE);
    expects_error(by_type("Node", NULL, 0, &object), INVIVO_E_AMBIGUOUS,
                  "Node: several definitions create a 'Node': a.one, a.two; name one, or give one a higher rank");
    OK(by_type("Node", "two", 0, &object));
    drop(object);
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type, .rank = 1);
    OK(by_type("Thing", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "leaf");
    drop(object);
    invivo_value all;
    OK(invivo_resolve_all(runtime, "Thing", 0, &all, E));
    CHECK_EQUAL(all.as.list.count, 3);
    if (all.as.list.count == 3) {
        CHECK_TEXT(at(all.as.list.items[0].as.object)->name, "leaf");
        CHECK_TEXT(at(all.as.list.items[1].as.object)->name, "one");
        CHECK_TEXT(at(all.as.list.items[2].as.object)->name, "two");
    }
    invivo_value_clear(&all);
    OK(invivo_resolve_all(runtime, "Nothing", 0, &all, E));
    CHECK_EQUAL(all.as.list.count, 0);
    invivo_value_clear(&all);
    end();
}

/* At equal rank the exact type wins, for lookups and injections; rank has precedence. */
static void the_exact_type_is_preferred_at_equal_rank(void) {
    begin();
    static const char *const supertypes[] = {"Node"};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Derived", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = node_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3, .supertypes = supertypes, .supertype_count = 1};
    invivo_injection wanted[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Node"}};
    invivo_type derived;
    invivo_object object = {0};
    invivo_key key = {0};
    OK(invivo_type_register(runtime, &options, &derived, E));
    DEFINE("a.derived", LAZY_SINGLETON, .type = derived);
    OK(invivo_key_of_type(runtime, "Node", NULL, 0, &key, E));
    CHECK_TEXT(invivo_key_name(key), "a.derived");
    DEFINE("a.exact", LAZY_SINGLETON);
    OK(by_type("Node", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "exact");
    drop(object);
    OK(invivo_key_of_type(runtime, "Node", NULL, 0, &key, E));
    CHECK_TEXT(invivo_key_name(key), "a.exact");
    DEFINE("a.holder", LAZY_SINGLETON, .type = held_type, PROPERTIES(wanted));
    object = resolve("a.holder");
    CHECK_TEXT(at(at(object)->left)->name, "exact");
    drop(object);
    DEFINE("a.first", LAZY_SINGLETON, .type = derived, .rank = 1);
    OK(invivo_key_of_type(runtime, "Node", NULL, 0, &key, E));
    CHECK_TEXT(invivo_key_name(key), "a.first");
    DEFINE("a.second", LAZY_SINGLETON, .type = derived, .rank = 1);
    expects_error(invivo_key_of_type(runtime, "Node", NULL, 0, &key, E), INVIVO_E_AMBIGUOUS, NULL);
    CHECK_EQUAL(key.bits, 0);
    expects_error(invivo_key_of_type(runtime, "Nod", NULL, 0, &key, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_key_of_type(runtime, "Nod", NULL, INVIVO_LOOKUP_OPTIONAL, &key, E));
    CHECK_EQUAL(key.bits, 0);
    end();
}

/* A definition, or its type, declares generic arguments; a lookup without them matches all. */
static void generic_arguments_are_preferred_after_rank_and_type(void) {
    begin();
    static const char *const supertypes[] = {"Node", "Node[User]"};
    invivo_type_options options = {.struct_size = sizeof options, .name = "UserNode", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = node_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3, .supertypes = supertypes, .supertype_count = 2};
    invivo_injection wanted[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Node[User]"}};
    invivo_type user_node;
    invivo_object object = {0};
    OK(invivo_type_register(runtime, &options, &user_node, E));
    expects_error(by_type("Node[User]", NULL, 0, &object), INVIVO_E_NOT_FOUND, NULL);
    DEFINE("a.order", LAZY_SINGLETON, .generic = "Node[Order]");
    expects_error(by_type("Node[User]", NULL, 0, &object), INVIVO_E_NOT_FOUND, NULL); /* of another type */
    DEFINE("a.bare", LAZY_SINGLETON);
    OK(by_type("Node[User]", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "bare");
    drop(object);
    DEFINE("a.user", LAZY_SINGLETON, .generic = "Node[User]");
    DEFINE("a.derived", LAZY_SINGLETON, .type = user_node); /* not of the exact type */
    OK(by_type("Node[User]", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "user");
    drop(object);
    OK(by_type("Node[Order]", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "order");
    drop(object);
    expects_error(by_type("Node", NULL, 0, &object), INVIVO_E_AMBIGUOUS,
                  "Node: several definitions create a 'Node': a.order, a.bare, a.user; name one, or give one a higher rank");
    DEFINE("a.holder", LAZY_SINGLETON, .type = held_type, PROPERTIES(wanted));
    object = resolve("a.holder");
    CHECK_TEXT(at(at(object)->left)->name, "user");
    drop(object);
    DEFINE("a.top", LAZY_SINGLETON, .rank = 1);
    OK(by_type("Node[User]", NULL, 0, &object)); /* rank has precedence */
    CHECK_TEXT(at(object)->name, "top");
    drop(object);
    DEFINE("a.best", LAZY_SINGLETON, .rank = 1, .type = user_node);
    DEFINE("a.top", LAZY_SINGLETON, .type = user_node, .rank = 0);
    OK(by_type("Node[User]", NULL, 0, &object)); /* the type declares it */
    CHECK_TEXT(at(object)->name, "best");
    drop(object);
    end();
}

/* A type may stand for another one: its definitions are found as that one's. */
static void a_type_that_stands_for_another_is_an_exact_match(void) {
    begin();
    static const char *const supertypes[] = {"Node"};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Node (managed)", .size = sizeof(node),
                                   .alignment = _Alignof(node), .concurrency = INVIVO_SHARED, .init = node_init,
                                   .deinit = node_deinit, .parameters = node_parameters, .parameter_count = 3,
                                   .supertypes = supertypes, .supertype_count = 1, .lookup_name = "Node"};
    invivo_type managed, derived;
    invivo_object object = {0};
    OK(invivo_type_register(runtime, &options, &managed, E));
    options.name = "Derived", options.lookup_name = NULL;
    OK(invivo_type_register(runtime, &options, &derived, E));
    DEFINE("a.derived", LAZY_SINGLETON, .type = derived);
    DEFINE("a.managed", LAZY_SINGLETON, .type = managed);
    OK(by_type("Node", NULL, INVIVO_LOOKUP_EXACT, &object));
    CHECK_TEXT(at(object)->name, "managed");
    drop(object);
    OK(by_type("Node", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "managed");
    drop(object);
    end();
}

/* A parameter keeps its default if no definition has the type. */
static void an_argument_without_a_definition_is_left_out(void) {
    begin();
    invivo_injection wanted[] = {{.name = "input", .how = INVIVO_INJECT_TYPE, .reference = "Leaf", .flags = INVIVO_INJECT_OR_DEFAULT}};
    DEFINE("a.holder", LAZY_SINGLETON, .initializer = wanted, .initializer_count = 1);
    invivo_object object = resolve("a.holder");
    CHECK_EQUAL(at(object)->input.bits, 0);
    drop(object);
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    object = resolve("a.holder");
    CHECK(at(object)->input.bits != 0);
    drop(object);
    DEFINE("a.other", LAZY_SINGLETON, .type = leaf_type, .rank = 0);
    invivo_injection more[] = {{.name = "input", .how = INVIVO_INJECT_TYPE, .reference = "Leaf", .flags = INVIVO_INJECT_OR_DEFAULT}};
    const invivo_definition several = {.struct_size = sizeof several, .key = "a.several", .type = node_type,
                                       .scope = INVIVO_SCOPE_LAZY_SINGLETON, .initializer = more, .initializer_count = 1};
    expects_error(invivo_define(runtime, &several, NULL, E), INVIVO_E_AMBIGUOUS, NULL);
    end();
}

static void bindings_by_type_stay_unless_they_are_greedy(void) {
    begin();
    invivo_injection kept[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Leaf"}};
    invivo_injection greedy[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Leaf", .flags = INVIVO_INJECT_GREEDY}};
    invivo_injection every[] = {{.name = "any", .how = INVIVO_INJECT_ALL, .reference = "Leaf"}};
    DEFINE("a.one", LAZY_SINGLETON, .type = leaf_type);
    DEFINE("a.kept", LAZY_SINGLETON, .type = held_type, PROPERTIES(kept));
    DEFINE("a.greedy", LAZY_SINGLETON, .type = held_type, PROPERTIES(greedy));
    DEFINE("a.all", LAZY_SINGLETON, .type = held_type, PROPERTIES(every));
    invivo_object keeps = resolve("a.kept"), takes = resolve("a.greedy"), all = resolve("a.all");
    int serial = at(takes)->serial;
    CHECK_TEXT(at(at(keeps)->left)->name, "one");
    DEFINE("a.two", LAZY_SINGLETON, .type = leaf_type, .rank = 5);
    CHECK_TEXT(at(at(keeps)->left)->name, "one");
    CHECK_TEXT(at(at(takes)->left)->name, "two");
    CHECK_EQUAL(at(takes)->serial, serial); /* injected again, the same object */
    CHECK_EQUAL(at(all)->any.as.list.count, 2);
    /* After a redefinition, an existing binding stays; without its target it changes. */
    DEFINE("a.kept", LAZY_SINGLETON, .type = held_type, PROPERTIES(kept));
    drop(keeps), keeps = resolve("a.kept");
    CHECK_TEXT(at(at(keeps)->left)->name, "one");
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    CHECK_TEXT(at(at(keeps)->left)->name, "two");
    CHECK_EQUAL(at(all)->any.as.list.count, 1);
    describe();
    OK(invivo_changes_remove(changes, "a.two", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    drop(keeps), drop(takes), drop(all);
    end();
}

static void hosts_objects_are_injected_into(void) {
    begin();
    invivo_injection leaf[] = {KEY("left", "a.leaf")};
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    DEFINE("a.node", LAZY_SINGLETON, PROPERTIES(leaf));
    invivo_object object;
    OK(invivo_object_make(runtime, node_type, NULL, 0, &object, E));
    trace[0] = 0;
    OK(invivo_inject(object, (invivo_key){0}, E));
    CHECK_TEXT(trace, "will:made init:leaf left:made did:made ");
    CHECK(at(object)->left.bits != 0);
    invivo_object shared = resolve("a.node");
    CHECK(shared.bits != object.bits);
    drop(shared);
    OK(invivo_inject(object, key_of("a.node"), E));
    expects_error(invivo_inject(object, key_of("a.leaf"), E), INVIVO_E_TYPE, NULL);
    drop(object);
    end();
}

static void the_last_change_of_a_key_in_one_change_set_wins(void) {
    begin();
    DEFINE("a.v", LAZY_SINGLETON);
    describe();
    OK(invivo_changes_remove(changes, "a.v", E));
    ADD("a.v", LAZY_SINGLETON);
    commit();
    drop(resolve("a.v"));
    describe();
    ADD("a.v", LAZY_SINGLETON);
    OK(invivo_changes_remove(changes, "a.v", E));
    commit();
    invivo_object none;
    expects_error(invivo_resolve_name(runtime, "a.v", &none, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

static void a_type_may_be_extended_later(void) {
    begin();
    invivo_injection wants[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Singer"}};
    invivo_object object;
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    expects_error(invivo_resolve_type(runtime, "Singer", NULL, 0, &object, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_type_extend(runtime, leaf_type, "Singer", E));
    OK(invivo_type_extend(runtime, leaf_type, "Singer", E)); /* again: no-op */
    OK(invivo_resolve_type(runtime, "Singer", NULL, 0, &object, E));
    invivo_object same = resolve("a.leaf");
    CHECK(object.bits == same.bits);
    drop(same), drop(object);
    DEFINE("a.user", LAZY_SINGLETON, PROPERTIES(wants));
    invivo_object user = resolve("a.user");
    CHECK_TEXT(at(at(user)->left)->name, "leaf");
    drop(user);
    /* Later definitions are found by it too. */
    DEFINE("a.second", LAZY_SINGLETON, .type = leaf_type, .rank = 3);
    OK(invivo_resolve_type(runtime, "Singer", NULL, 0, &object, E));
    CHECK_TEXT(at(object)->name, "second");
    drop(object);
    expects_error(invivo_resolve_type(runtime, "Singer", NULL, INVIVO_LOOKUP_EXACT, &object, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_type_extend(runtime, leaf_type, "", E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_type_extend(runtime, (invivo_type){0}, "Singer", E), INVIVO_E_HANDLE, NULL);
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(types_are_looked_up);
    RUN_TEST(the_exact_type_is_preferred_at_equal_rank);
    RUN_TEST(generic_arguments_are_preferred_after_rank_and_type);
    RUN_TEST(a_type_that_stands_for_another_is_an_exact_match);
    RUN_TEST(an_argument_without_a_definition_is_left_out);
    RUN_TEST(bindings_by_type_stay_unless_they_are_greedy);
    RUN_TEST(hosts_objects_are_injected_into);
    RUN_TEST(the_last_change_of_a_key_in_one_change_set_wins);
    RUN_TEST(a_type_may_be_extended_later);
    return check_end();
}
