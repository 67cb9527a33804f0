/* Base values (invivo_changes_set): inheritance, and sets that change other things too. */
/* sanitize: yes */
#include "thing.h"

static invivo_runtime runtime;

/* `Thing` has the properties left and number. `Shared` has the same, and `Other` has them at other indices. */
static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Other", .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = INVIVO_CONFINED, .init = thing_init, .deinit = thing_deinit};
    const invivo_property properties[] = {thing_properties[1], thing_properties[0]};
    invivo_type type;
    options.properties = properties, options.property_count = 2;
    options.parameters = thing_parameters, options.parameter_count = 2;
    things = 0, thing_concurrency = INVIVO_CONFINED, runtime = thing_runtime();
    OK(invivo_type_register(runtime, &options, &type, E));
    thing_concurrency = INVIVO_SHARED;
    thing_register(runtime, "Shared");
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
}
static invivo_changes open_set(void) {
    invivo_changes changes = {0};
    OK(invivo_changes_open(runtime, &changes, E));
    return changes;
}
static void add(invivo_changes changes, const char *key, const char *type, const char *parent) {
    const invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type_name = type, .parent = parent,
                                          .scope = parent ? INVIVO_SCOPE_DEFAULT : INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_changes_define(changes, &definition, NULL, E));
}
static void define(const char *key, const char *type, const char *parent) {
    invivo_changes changes = open_set();
    add(changes, key, type, parent);
    OK(invivo_changes_commit(changes, E));
}
static void say(invivo_changes changes, const char *text) { OK(invivo_changes_document(changes, "w.yaml", text, strlen(text), E)); }
static void set(invivo_changes changes, const char *key, int64_t number) {
    const invivo_value value = invivo_int64(number);
    OK(invivo_changes_set(changes, key, "number", &value, E));
}
static void set_alone(const char *key, int64_t number) {
    invivo_changes changes = open_set();
    set(changes, key, number);
    OK(invivo_changes_commit(changes, E));
}
static int64_t number_of(const char *key) { return thing_of(thing_shared(runtime, key))->number; }

/* ---- inheritance --------------------------------------------------------------------------------------- */

static void children_inherit_a_base_value(void) {
    begin();
    define("a.one", "Thing", NULL), define("a.child", NULL, "a.one"), define("a.grandchild", NULL, "a.child");
    define("a.other", "Other", "a.one"), define("a.shared", "Shared", "a.one");
    static const char *const children[] = {"a.one", "a.child", "a.grandchild", "a.other", "a.shared"};
    invivo_object objects[5];
    uint64_t generation = 0;
    for (int i = 0; i < 5; i++) objects[i] = thing_shared(runtime, children[i]), CHECK_EQUAL(number_of(children[i]), 0);
    for (int64_t number = 5; number < 7; number++) {
        set_alone("a.one", number);
        for (int i = 0; i < 5; i++) CHECK_EQUAL(number_of(children[i]), number);
        if (!generation) OK(invivo_runtime_generation(runtime, &generation, E));
    }
    /* Only the object of the shared type is another one. */
    for (int i = 0; i < 4; i++) CHECK(thing_shared(runtime, children[i]).bits == objects[i].bits);
    set_alone("a.child", 8);
    CHECK_EQUAL(number_of("a.one"), 6);
    CHECK_EQUAL(number_of("a.child"), 8);
    CHECK_EQUAL(number_of("a.grandchild"), 8);
    CHECK_EQUAL(number_of("a.other"), 6);
    OK(invivo_rollback(runtime, generation, E));
    for (int i = 0; i < 5; i++) CHECK_EQUAL(number_of(children[i]), 5);
    define("a.one", "Thing", NULL);
    for (int i = 0; i < 5; i++) CHECK_EQUAL(number_of(children[i]), 0);
    end();
}

/* The properties of the new type are found by their names. */
static void a_base_value_follows_an_inherited_type(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Bare", .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = INVIVO_CONFINED, .init = thing_init, .deinit = thing_deinit};
    static const char *const types[] = {"Other", "Thing", "Bare"};
    invivo_type type;
    for (int i = 0; i < 2; i++) {
        begin();
        OK(invivo_type_register(runtime, &options, &type, E));
        define("a.one", "Thing", NULL), define("a.child", NULL, "a.one"), define("a.grandchild", NULL, "a.child");
        set_alone("a.grandchild", 5);
        CHECK_EQUAL(number_of("a.grandchild"), 5);
        for (int j = 0; j < 3; j++) {
            invivo_changes changes = open_set();
            add(changes, "a.one", types[j], NULL);
            if (i && j < 2) set(changes, "a.grandchild", 6 + j);
            OK(invivo_changes_commit(changes, E));
            CHECK_EQUAL(number_of("a.grandchild"), j == 2 ? 0 : i ? 6 + j : 5);
            CHECK(!thing_of(thing_shared(runtime, "a.grandchild"))->left.bits);
        }
        end();
    }
}

/* ---- beside other changes ------------------------------------------------------------------------------ */

static void a_set_defines_a_key_and_its_base_value(void) {
    begin();
    define("a.one", "Thing", NULL);
    invivo_changes changes = open_set();
    add(changes, "a.child", NULL, "a.one");
    set(changes, "a.child", 5);
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(number_of("a.child"), 5);
    /* The type of the new definition counts, not that of the former one. */
    define("a.two", "Shared", NULL);
    changes = open_set();
    add(changes, "a.two", "Thing", NULL);
    set(changes, "a.two", 6);
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(number_of("a.two"), 6);
    changes = open_set();
    add(changes, "a.two", "Shared", NULL);
    set(changes, "a.two", 7);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_READ_ONLY, NULL);
    CHECK_EQUAL(number_of("a.two"), 6);
    end();
}

/* Nor the type of an override. */
static void a_base_value_below_an_override_is_that_of_the_definition(void) {
    static const char *const above[] = {"Shared", NULL};
    for (int i = 0; i < 2; i++) {
        begin();
        define("a.one", "Thing", NULL), define("a.two", "Thing", NULL);
        const invivo_definition definition = {.struct_size = sizeof definition, .key = "a.one", .type_name = above[i], .alias = above[i] ? NULL : "a.two"};
        invivo_override override;
        OK(invivo_override_begin(runtime, &definition, &override, E));
        set_alone("a.one", 5);
        CHECK_EQUAL(number_of("a.one"), 0);
        OK(invivo_override_end(override, E));
        CHECK_EQUAL(number_of("a.one"), 5);
        end();
    }
}

static void a_set_ends_a_decision_and_sets_a_base_value(void) {
    begin();
    define("a.one", "Thing", NULL), define("a.two", "Thing", NULL);
    invivo_changes changes = open_set();
    say(changes, "wiring: { a.two: { alias: a.one } }");
    OK(invivo_changes_commit(changes, E));
    changes = open_set();
    say(changes, "{}");
    set(changes, "a.two", 5);
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(number_of("a.two"), 5);
    CHECK_EQUAL(number_of("a.one"), 0);
    end();
}

/* The parent changes in another way too: the child inherits that its object is created at once. */
static void a_set_changes_a_parent_and_sets_a_base_value(void) {
    begin();
    define("a.one", "Thing", NULL), define("a.child", NULL, "a.one");
    CHECK_EQUAL(things, 0);
    const invivo_definition one = {.struct_size = sizeof one, .key = "a.one", .type_name = "Thing", .scope = INVIVO_SCOPE_SINGLETON};
    invivo_changes changes = open_set();
    OK(invivo_changes_define(changes, &one, NULL, E));
    set(changes, "a.child", 5);
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(things, 2);
    CHECK_EQUAL(number_of("a.child"), 5);
    CHECK_EQUAL(number_of("a.one"), 0);
    end();
}

/* An optional dependency of the same key is added, and removed. */
static void a_set_changes_a_dependency_and_sets_a_base_value(void) {
    begin();
    const invivo_injection left = {.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.two", .flags = INVIVO_INJECT_OPTIONAL};
    const invivo_definition one = {.struct_size = sizeof one, .key = "a.one", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                   .properties = &left, .property_count = 1};
    OK(invivo_define(runtime, &one, NULL, E));
    CHECK(!thing_of(thing_shared(runtime, "a.one"))->left.bits);
    invivo_changes changes = open_set();
    add(changes, "a.two", "Thing", NULL);
    set(changes, "a.one", 5);
    OK(invivo_changes_commit(changes, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "a.one"))->left), "a.two");
    CHECK_EQUAL(number_of("a.one"), 5);
    changes = open_set();
    set(changes, "a.one", 6);
    OK(invivo_changes_remove(changes, "a.two", E));
    OK(invivo_changes_commit(changes, E));
    CHECK(!thing_of(thing_shared(runtime, "a.one"))->left.bits);
    CHECK_EQUAL(number_of("a.one"), 6);
    end();
}

static int visits;
static invivo_status number_nine(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error) {
    invivo_definition mine = *described;
    const invivo_injection initializer[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(9)}};
    (void)user_data;
    visits++;
    mine.initializer = initializer, mine.initializer_count = 1, mine.properties = NULL, mine.property_count = 0;
    return invivo_changes_define(changes, &mine, NULL, error);
}
static void a_set_adds_a_processor_and_sets_a_base_value(void) {
    begin();
    define("a.one", "Thing", NULL);
    CHECK_EQUAL(number_of("a.one"), 0);
    uint64_t generation = 0;
    OK(invivo_runtime_generation(runtime, &generation, E));
    const invivo_processor processor = {.struct_size = sizeof processor, .name = "nine", .key = "a.one", .process = number_nine};
    invivo_changes changes = open_set();
    OK(invivo_changes_process(changes, &processor, E));
    set(changes, "a.one", 5);
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(visits, 1);
    CHECK_EQUAL(number_of("a.one"), 5);
    /* Without the base value, the result of the processor. */
    OK(invivo_rollback(runtime, generation, E));
    CHECK_EQUAL(number_of("a.one"), 9);
    end();
}

/* A key with another base value still refuses what it depends on. */
static void a_set_with_a_base_value_may_be_refused(void) {
    begin();
    const invivo_injection given = {.name = "given", .how = INVIVO_INJECT_REFERENCE, .reference = "a.two"};
    const invivo_definition one = {.struct_size = sizeof one, .key = "a.one", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                   .initializer = &given, .initializer_count = 1, .on_change = INVIVO_ON_CHANGE_REFUSE};
    define("a.two", "Thing", NULL);
    OK(invivo_define(runtime, &one, NULL, E));
    CHECK_EQUAL(number_of("a.one"), 0);
    invivo_changes changes = open_set();
    add(changes, "a.two", "Other", NULL);
    set(changes, "a.one", 5);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED, NULL);
    CHECK_EQUAL(number_of("a.one"), 0);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(children_inherit_a_base_value);
    RUN_TEST(a_base_value_follows_an_inherited_type);
    RUN_TEST(a_set_defines_a_key_and_its_base_value);
    RUN_TEST(a_base_value_below_an_override_is_that_of_the_definition);
    RUN_TEST(a_set_ends_a_decision_and_sets_a_base_value);
    RUN_TEST(a_set_changes_a_parent_and_sets_a_base_value);
    RUN_TEST(a_set_changes_a_dependency_and_sets_a_base_value);
    RUN_TEST(a_set_adds_a_processor_and_sets_a_base_value);
    RUN_TEST(a_set_with_a_base_value_may_be_refused);
    return check_end();
}
