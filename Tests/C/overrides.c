/* Overrides: another definition, or an object, for a key. */
/* sanitize: yes */
#include "nodes.h"

static int64_t number_of(const char *key) {
    invivo_object object = resolve(key);
    int64_t number = object.bits ? at(object)->number : -1;
    drop(object);
    return number;
}
static invivo_override override(const char *key, int64_t number) {
    invivo_override made = {0};
    invivo_injection with[] = {CONSTANT("number", invivo_int64(number))};
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type = node_type,
                             INITIALIZER(with)}, &made, E));
    return made;
}

static void overrides_lie_on_each_other_and_go_in_any_order(void) {
    begin();
    invivo_injection one[] = {CONSTANT("number", invivo_int64(1))}, into[] = {KEY("left", "a.key")}, through[] = {KEY("input", "a.key")};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(one), .flags = INVIVO_DEFINITION_HIDDEN_INTERFACE);
    DEFINE("a.keeps", LAZY_SINGLETON, .type = held_type, PROPERTIES(into));
    DEFINE("a.follows", LAZY_SINGLETON, INITIALIZER(through));
    invivo_object keeps = resolve("a.keeps");
    CHECK_EQUAL(at(at(keeps)->left)->number, 1);
    CHECK_EQUAL(at(at(keeps)->left)->serial, 2);
    invivo_override two = override("a.key", 2), three = override("a.key", 3);
    CHECK_EQUAL(number_of("a.key"), 3);
    CHECK_EQUAL(at(at(keeps)->left)->number, 3); /* the dependent is updated and keeps its identity */
    invivo_object first = resolve("a.key"), again = resolve("a.key");
    CHECK(first.bits == again.bits); /* the scope stays */
    drop(first), drop(again);
    expects_error(by_type("Thing", "key", 0, &first), INVIVO_E_NOT_FOUND, NULL); /* and so does its visibility */
    OK(invivo_override_end(two, E));
    CHECK_EQUAL(number_of("a.key"), 3);
    expects_error(invivo_override_end(two, E), INVIVO_E_HANDLE, NULL);
    /* Redefined meanwhile: the new definition shows when the override ends. */
    invivo_injection four[] = {CONSTANT("number", invivo_int64(4))};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(four));
    CHECK_EQUAL(number_of("a.key"), 3);
    OK(invivo_override_end(three, E));
    CHECK_EQUAL(number_of("a.key"), 4);
    CHECK_EQUAL(at(at(keeps)->left)->number, 4);
    invivo_override lost;
    invivo_definition unknown = {.struct_size = sizeof unknown, .key = "a.kye", .type = node_type};
    expects_error(invivo_override_begin(runtime, &unknown, &lost, E), INVIVO_E_NOT_FOUND,
                  "a.kye: no definition has the key 'a.kye'; did you mean 'a.key'?");
    (void)override("a.key", 9); /* ends with the runtime */
    drop(keeps);
    end();
}

/* A definition under an override is checked when it is defined, not when the override ends. */
static void a_definition_under_an_override_is_checked(void) {
    begin();
    invivo_injection one[] = {CONSTANT("number", invivo_int64(1))}, four[] = {CONSTANT("number", invivo_int64(4))};
    invivo_injection missing[] = {KEY("left", "a.missing")};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(one));
    invivo_override two = override("a.key", 2);
    invivo_definition wrong = {.struct_size = sizeof wrong, .key = "a.key", .type = held_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                               PROPERTIES(missing)};
    expects_error(invivo_define(runtime, &wrong, NULL, E), INVIVO_E_NOT_FOUND,
                  "a.key: the property 'left' needs 'a.missing', which is not defined");
    CHECK_EQUAL(number_of("a.key"), 2);
    /* So are later changes that affect it. */
    invivo_injection there[] = {KEY("left", "a.there")};
    DEFINE("a.there", LAZY_SINGLETON);
    DEFINE("a.key", LAZY_SINGLETON, .type = held_type, PROPERTIES(there));
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.there", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    invivo_injection configured[] = {{.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = "/a.n"}};
    const invivo_value five = invivo_int64(5), none = invivo_null();
    for (int round = 0; round < 2; round++) {
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_configure(changes, "a.n", round ? &none : &five, E));
        if (round) {
            expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_CONFIGURED,
                          "a.key: initializer parameter 'number' needs the configuration '/a.n', which is not set: "
                          "looked for 'a.n'; null removes 'a.n'");
        } else {
            OK(invivo_changes_commit(changes, E));
            DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(configured));
        }
    }
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(four));
    CHECK_EQUAL(number_of("a.key"), 2);
    OK(invivo_override_end(two, E));
    CHECK_EQUAL(number_of("a.key"), 4);
    end();
}

/* Everything that a commit checks is checked for the state in which the overrides have ended. */
static void an_override_can_always_end(void) {
    begin();
    invivo_injection to_core[] = {KEY("input", "a.core")}, to_other[] = {KEY("input", "a.other")}, to_user[] = {KEY("input", "a.user")};
    DEFINE("a.core", THREAD);
    DEFINE("a.user", LAZY_SINGLETON);
    invivo_override lower = {0}, upper = {0};
    invivo_definition user = {.struct_size = sizeof user, .key = "a.user", .type = node_type};
    OK(invivo_override_begin(runtime, &user, &lower, E));
    /* A captive dependency, and a cycle. */
    invivo_definition captive = {.struct_size = sizeof captive, .key = "a.user", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                 INITIALIZER(to_core)};
    expects_error(invivo_define(runtime, &captive, NULL, E), INVIVO_E_CAPTIVE,
                  "a.user: 'a.user' (lazy singleton) would hold 'a.core', of which there is one for each thread: a.user -> a.core; inject a "
                  "provider, or give them scopes and types that fit; this is the definition below an override, which applies when the override ends");
    describe();
    ADD("a.user", LAZY_SINGLETON, INITIALIZER(to_other));
    ADD("a.other", LAZY_SINGLETON, INITIALIZER(to_user));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CYCLE, NULL);
    /* A dependency becomes unsuitable. */
    DEFINE("a.core", LAZY_SINGLETON);
    OK(invivo_define(runtime, &captive, NULL, E));
    invivo_definition core = {.struct_size = sizeof core, .key = "a.core", .type = node_type, .scope = INVIVO_SCOPE_THREAD};
    expects_error(invivo_define(runtime, &core, NULL, E), INVIVO_E_CAPTIVE, NULL);
    OK(invivo_override_end(lower, E));
    drop(resolve("a.user"));
    /* An override below another one can end first. */
    DEFINE("a.user", LAZY_SINGLETON);
    captive.scope = 0;
    OK(invivo_override_begin(runtime, &captive, &lower, E));
    OK(invivo_override_begin(runtime, &user, &upper, E));
    OK(invivo_define(runtime, &core, NULL, E));
    expects_error(invivo_override_end(upper, E), INVIVO_E_CAPTIVE, NULL);
    OK(invivo_override_end(lower, E));
    OK(invivo_override_end(upper, E));
    end();
}

/* Below an override, the children of its definition have what they inherit from that one. */
static void children_below_an_override_inherit_from_its_definition(void) {
    begin();
    invivo_injection to_base[] = {KEY("left", "a.base")};
    DEFINE("a.base", LAZY_SINGLETON, .type = held_type);
    invivo_definition child = {.struct_size = sizeof child, .key = "a.child", .parent = "a.base", PROPERTIES(to_base)};
    OK(invivo_define(runtime, &child, NULL, E));
    /* A shared type for a confined one: until it ends, the child is shared, too. */
    invivo_override over = override("a.base", 2);
    child.key = "a.other";
    OK(invivo_define(runtime, &child, NULL, E));
    OK(invivo_override_end(over, E));
    drop(resolve("a.child"));
    end();
}

/* An alias has no scope of its own: the override has its own, or is shared. */
static void an_override_of_an_alias_is_one_object(void) {
    begin();
    DEFINE("a.core", LAZY_SINGLETON);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.alias", .alias = "a.core"}, NULL, E));
    static const uint32_t scopes[] = {INVIVO_SCOPE_DEFAULT, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH};
    for (size_t i = 0; i < COUNT(scopes); i++) {
        invivo_override shared = {0};
        OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.alias", .type = node_type,
                                 .scope = scopes[i]}, &shared, E));
        invivo_object one = resolve("a.alias"), two = resolve("a.alias"), core = resolve("a.core");
        CHECK((one.bits == two.bits) == (i < 2) && one.bits != core.bits);
        drop(one), drop(two);
        OK(invivo_override_end(shared, E));
        one = resolve("a.alias");
        CHECK(one.bits == core.bits);
        drop(one), drop(core);
    }
    end();
}

static bool is_kept(const char *key, invivo_object object) {
    invivo_object found = resolve(key);
    drop(found);
    return CHECK(found.bits == object.bits);
}
static void document(const char *text) {
    describe();
    OK(invivo_changes_document(changes, "w.yaml", text, text ? strlen(text) : 0, E));
    commit();
}

/* What changes below an override is not in force: its object and its holders stay. */
static void changes_below_an_override_keep_its_object(void) {
    begin();
    invivo_injection to_core[] = {KEY("input", "a.core")}, one[] = {CONSTANT("number", invivo_int64(1))};
    DEFINE("a.core", LAZY_SINGLETON);
    DEFINE("a.other", LAZY_SINGLETON);
    DEFINE("a.user", LAZY_SINGLETON, INITIALIZER(to_core));
    invivo_override lower = override("a.core", 2), upper = override("a.core", 3);
    invivo_object core = resolve("a.core"), user = resolve("a.user");
    DEFINE("a.core", LAZY_SINGLETON, INITIALIZER(one));
    is_kept("a.core", core), is_kept("a.user", user);
    OK(invivo_override_end(lower, E));
    is_kept("a.core", core), is_kept("a.user", user);
    document("wiring: { a.core: { alias: a.other } }");
    is_kept("a.core", core), is_kept("a.user", user);
    document(NULL);
    is_kept("a.core", core), is_kept("a.user", user);
    /* What the key keeps of its definition is in force: with another rank the object is rebuilt. */
    DEFINE("a.core", LAZY_SINGLETON, INITIALIZER(one), .rank = 7);
    CHECK_EQUAL(number_of("a.core"), 3);
    OK(invivo_override_end(upper, E));
    CHECK_EQUAL(number_of("a.core"), 1);
    drop(core), drop(user);
    end();
}

static void an_object_overrides_a_key(void) {
    begin();
    invivo_injection into[] = {KEY("left", "a.key")};
    DEFINE("a.key", LAZY_SINGLETON);
    DEFINE("a.keeps", LAZY_SINGLETON, .type = held_type, PROPERTIES(into));
    invivo_object double_, keeps = resolve("a.keeps"), real = at(keeps)->left;
    OK(invivo_object_make(runtime, leaf_type, NULL, 0, &double_, E));
    invivo_definition stand_in = {.struct_size = sizeof stand_in, .key = "a.key", .constant = double_};
    invivo_override in_place;
    OK(invivo_override_begin(runtime, &stand_in, &in_place, E));
    CHECK(at(keeps)->left.bits == double_.bits);
    invivo_object found = resolve("a.key");
    CHECK(found.bits == double_.bits && found.bits != real.bits);
    drop(found);
    OK(invivo_override_end(in_place, E));
    found = resolve("a.key");
    CHECK(found.bits != double_.bits);
    drop(found);
    /* Two keys with one object: it ends with its last holder, not with one of the keys. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.one", .constant = double_,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.two", .constant = double_,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    drop(double_);
    found = resolve("a.one");
    CHECK(found.bits == double_.bits);
    drop(found), drop(resolve("a.two"));
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    (void)live_objects();
    found = resolve("a.two");
    CHECK(found.bits == double_.bits);
    drop(found), drop(keeps);
    end();
}

/* A type whose properties require objects of "Wave"; a Node is one, a Leaf is not. */
static invivo_type wave_type, player_type;
static void begin_typed(void) {
    static const char *supertypes[] = {"Wave"};
    static const invivo_parameter wants[] = {{.name = "input", .kind = INVIVO_KIND_OBJECT, .type_name = "Wave", .flags = INVIVO_PARAMETER_OPTIONAL}};
    static const invivo_method takes[] = {{.struct_size = sizeof(invivo_method), .name = "play", .parameters = wants, .parameter_count = 1, .call = call_add}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Saw", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = node_init, .deinit = node_deinit,
                                   .supertypes = supertypes, .supertype_count = 1};
    begin();
    OK(invivo_type_register(runtime, &options, &wave_type, E));
    options.name = "Player", options.supertype_count = 0, options.parameters = wants, options.parameter_count = 1;
    options.methods = takes, options.method_count = 1;
    OK(invivo_type_register(runtime, &options, &player_type, E));
    DEFINE("a.wave", LAZY_SINGLETON, .type = wave_type);
}
/* An unsuitable override of a.wave is refused, like an unsuitable redefinition; nothing has changed. */
static void expects_refused(const char *text) {
    invivo_override none = {0};
    invivo_object leaf = {0};
    invivo_definition wrong = {.struct_size = sizeof wrong, .key = "a.wave", .type = leaf_type};
    expects_error(invivo_override_begin(runtime, &wrong, &none, E), INVIVO_E_TYPE, text);
    CHECK(none.bits == 0);
    OK(invivo_object_make(runtime, leaf_type, NULL, 0, &leaf, E));
    wrong.type = (invivo_type){0}, wrong.constant = leaf;
    expects_error(invivo_override_begin(runtime, &wrong, &none, E), INVIVO_E_TYPE, text);
    drop(leaf);
    wrong = (invivo_definition){.struct_size = sizeof wrong, .key = "a.wave", .type = leaf_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    expects_error(invivo_define(runtime, &wrong, NULL, E), INVIVO_E_TYPE, text);
    invivo_override fits = {0};
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.wave", .type = wave_type}, &fits, E));
    OK(invivo_override_end(fits, E));
    drop(resolve("a.player"));
}

static void an_unsuitable_type_is_refused(void) {
    static const invivo_injection initializer[] = {KEY("input", "a.wave")};
    static const invivo_invocation method[] = {{.method = "play", .arguments = initializer, .argument_count = 1}};
    static const invivo_injection by_alias[] = {KEY("input", "a.other")};
    for (int is_made = 0; is_made < 2; is_made++) {
        begin_typed();
        DEFINE("a.player", LAZY_SINGLETON, .type = player_type, INITIALIZER(initializer));
        if (is_made) drop(resolve("a.player"));
        expects_refused("a.player: initializer parameter 'input' needs an object of type 'Wave', and 'a.wave' is of type 'Leaf'");
        end();
        begin_typed();
        DEFINE("a.player", PROTOTYPE, .type = player_type, .methods = method, .method_count = 1);
        if (is_made) drop(resolve("a.player"));
        expects_refused("a.player: the argument 'input' of 'play' needs an object of type 'Wave', and 'a.wave' is of type 'Leaf'");
        end();
        begin_typed();
        describe();
        ADD_ALIAS("a.another", "a.wave");
        ADD_ALIAS("a.other", "a.another");
        ADD("a.player", LAZY_SINGLETON, .type = player_type, INITIALIZER(by_alias));
        commit();
        if (is_made) drop(resolve("a.player"));
        expects_refused("a.player: initializer parameter 'input' needs an object of type 'Wave', and 'a.other' is of type 'Leaf'");
        end();
    }
    /* The target of an alias. */
    begin_typed();
    describe();
    ADD_ALIAS("a.other", "a.wave");
    ADD("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    ADD("a.player", LAZY_SINGLETON, .type = player_type, INITIALIZER(by_alias));
    commit();
    describe();
    ADD_ALIAS("a.other", "a.leaf");
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_TYPE, "a.player: initializer parameter 'input' needs an object of type 'Wave', and 'a.other' is of type 'Leaf'");
    invivo_override none;
    expects_error(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.wave", .alias = "a.leaf"}, &none, E),
                  INVIVO_E_TYPE, "a.player: initializer parameter 'input' needs an object of type 'Wave', and 'a.other' is of type 'Leaf'");
    drop(resolve("a.player"));
    end();
    /* Inherited from a parent. */
    begin_typed();
    DEFINE("a.abstract", LAZY_SINGLETON, .type = player_type, .flags = INVIVO_DEFINITION_ABSTRACT, INITIALIZER(initializer));
    DEFINE("a.player", LAZY_SINGLETON, .type = (invivo_type){0}, .parent = "a.abstract");
    expects_refused(NULL);
    end();
}

/* Inherited fields that the override does not declare stay: the scope, and the start timeout. */
static invivo_status start_slowly(void *instance, void *user_data, invivo_error **error) {
    struct timespec begun, now;
    (void)instance, (void)user_data, (void)error;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < 5);
    return INVIVO_OK;
}
static void inherited_properties_of_a_key_stay(void) {
    begin();
    invivo_type starting;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Starting", .size = 8, .alignment = 8, .concurrency = INVIVO_SHARED,
                                   .start = start_slowly};
    OK(invivo_type_register(runtime, &options, &starting, E));
    DEFINE("a.parent", LAZY_SINGLETON, .type = starting, .flags = INVIVO_DEFINITION_ABSTRACT, .start_timeout_ms = 1);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.child", .parent = "a.parent"}, NULL, E));
    invivo_override over;
    invivo_object one, two;
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.child", .type = starting}, &over, E));
    expects_error(invivo_resolve_name(runtime, "a.child", &one, E), INVIVO_E_TIMEOUT, NULL);
    OK(invivo_override_end(over, E));
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.child", .type = leaf_type,
                             .start_timeout_ms = INVIVO_TIMEOUT_UNLIMITED}, &over, E));
    one = resolve("a.child"), two = resolve("a.child");
    CHECK(one.bits == two.bits);
    drop(one), drop(two);
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(overrides_lie_on_each_other_and_go_in_any_order);
    RUN_TEST(a_definition_under_an_override_is_checked);
    RUN_TEST(an_override_can_always_end);
    RUN_TEST(children_below_an_override_inherit_from_its_definition);
    RUN_TEST(an_override_of_an_alias_is_one_object);
    RUN_TEST(changes_below_an_override_keep_its_object);
    RUN_TEST(an_object_overrides_a_key);
    RUN_TEST(an_unsuitable_type_is_refused);
    RUN_TEST(inherited_properties_of_a_key_stay);
    return check_end();
}
