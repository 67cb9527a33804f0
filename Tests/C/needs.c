/* Type needs: injected into created and injected objects, with and without a definition. */
#include "parts.h"

static invivo_type plain, part_type;

/* A Part needs a Lamp by type on its left and the key a.right on its right; a Lamp has no needs. */
static const invivo_injection needs[] = {BY_TYPE("left", "Lamp"), KEY("right", "a.right")};

static void begin(uint32_t flags) {
    begin_with(flags);
    invivo_type_options options = part_options("Lamp");
    plain = register_type(options);
    options = part_options("Part");
    options.needs = needs, options.need_count = 2;
    options.will_inject = part_will, options.did_inject = part_did;
    part_type = register_type(options);
    describe();
    ADD("a.lamp", LAZY_SINGLETON, .type = plain);
    ADD("a.right", LAZY_SINGLETON, .type = plain, .flags = INVIVO_DEFINITION_HIDDEN_CLASS);
    commit();
}

static void type_needs_are_injected_into_objects_of_definitions(void) {
    begin(0);
    describe();
    ADD("a.one", PROTOTYPE, .type = part_type);
    commit();
    invivo_object one = resolve("a.one");
    CHECK_TEXT(name_of(at(one)->left), "lamp");
    CHECK_TEXT(name_of(at(one)->right), "right");
    CHECK_TEXT(trace, "init:one will:one init:lamp left:one init:right right:one did:one ");
    drop(one);
    end();
}

static void a_definitions_own_injection_of_a_property_wins(void) {
    static const invivo_injection own[] = {KEY("left", "a.other")};
    begin(0);
    describe();
    ADD("a.other", LAZY_SINGLETON, .type = plain, .flags = INVIVO_DEFINITION_HIDDEN_CLASS);
    ADD("a.parent", PROTOTYPE, .type = part_type, .flags = INVIVO_DEFINITION_ABSTRACT, PROPERTIES(own));
    ADD("a.one", PROTOTYPE, .parent = "a.parent");
    commit();
    invivo_object one = resolve("a.one");
    CHECK_TEXT(name_of(at(one)->left), "other");
    CHECK_TEXT(name_of(at(one)->right), "right");
    drop(one);
    end();
}

static void objects_without_a_definition_get_their_type_needs(void) {
    begin(0);
    invivo_object one = make(part_type);
    CHECK_TEXT(name_of(at(one)->left), "lamp");
    CHECK_TEXT(trace, "init:made will:made init:lamp left:made init:right right:made did:made ");
    drop(one);
    /* An object of the host, when it is injected. */
    part own = {.name = "own"};
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    part *copy = malloc(sizeof own);
    *copy = own;
    OK(invivo_object_wrap(runtime, part_type, copy, &one, E));
    CHECK_EQUAL(copy->left.bits, 0);
    OK(invivo_inject(one, (invivo_key){0}, E));
    CHECK_TEXT(name_of(copy->left), "lamp");
    drop(one);
    free(copy);
    end();
}

static invivo_status factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error) {
    return part_init(*instance, build, arguments, count, user_data, error);
}

static void results_of_factories_and_methods_get_type_needs_too(void) {
    static const invivo_injection maker[] = {KEY(NULL, "a.lamp")};
    begin(0);
    describe();
    ADD("a.built", PROTOTYPE, .type = part_type, .factory = factory);
    ADD("a.answered", PROTOTYPE, .type = part_type, .maker_method = "make", .maker = maker, .maker_count = 1);
    commit();
    invivo_object object = resolve("a.built");
    CHECK_TEXT(name_of(at(object)->left), "lamp");
    drop(object);
    trace[0] = 0;
    object = resolve("a.answered");
    CHECK_TEXT(name_of(at(object)->left), "lamp");
    /* Injected once, at its creation. The hooks are those of its creation and of the definition. */
    CHECK_TEXT(trace, "init:made will:made left:made right:made will:made did:made did:made ");
    drop(object);
    end();
}

static void another_key_injects_no_type_needs_again(void) {
    static const invivo_injection own[] = {KEY("left", "a.other")};
    begin(0);
    describe();
    ADD("a.other", LAZY_SINGLETON, .type = plain, .flags = INVIVO_DEFINITION_HIDDEN_CLASS);
    ADD("a.own", LAZY_SINGLETON, .type = part_type, PROPERTIES(own));
    commit();
    invivo_object object = resolve("a.own");
    /* Injected again with another key: the type needs were injected at its creation. */
    describe();
    ADD("a.bare", PROTOTYPE, .type = part_type);
    commit();
    OK(invivo_inject(object, key_of("a.bare"), E));
    CHECK_TEXT(name_of(at(object)->left), "other");
    drop(object);
    end();
}

static void a_reload_adds_the_type_needs(void) {
    begin(0);
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    commit();
    invivo_object one = resolve("a.one");
    invivo_object former = at(one)->left;
    describe();
    ADD("a.lamp", LAZY_SINGLETON, .type = plain, .rank = 1);
    commit();
    invivo_object again = resolve("a.one");
    CHECK(again.bits != one.bits); /* any thread may read it: it is rebuilt */
    CHECK(at(again)->left.bits != former.bits);
    drop(one), drop(again);
    end();
}

static void needs_are_turned_off_for_a_runtime(void) {
    begin(INVIVO_RUNTIME_WITHOUT_NEEDS);
    describe();
    ADD("a.one", PROTOTYPE, .type = part_type);
    commit();
    invivo_object one = resolve("a.one"), made = make(part_type);
    CHECK_TEXT(name_of(at(one)->left), "-");
    CHECK_TEXT(name_of(at(made)->left), "-");
    drop(one), drop(made);
    end();
}

static void an_unmet_need_is_an_error(void) {
    begin_with(0);
    invivo_type_options options = part_options("Part");
    options.needs = needs, options.need_count = 2;
    part_type = register_type(options);
    describe();
    ADD("a.one", PROTOTYPE, .type = part_type);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    invivo_object one = {0};
    expects_error(invivo_object_make(runtime, part_type, NULL, 0, &one, E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(one.bits, 0);
    end();
}

static void needs_that_cannot_be_are_refused_with_their_type(void) {
    static const invivo_injection unknown[] = {KEY("lft", "a.x")}, twice[] = {KEY("left", "a.x"), KEY("left", "a.y")},
                                  argument[] = {ARGUMENT("left", 0)}, nameless[] = {KEY(NULL, "a.x")};
    invivo_type type;
    begin_with(0);
    invivo_type_options options = part_options("Part");
    options.needs = unknown, options.need_count = 1;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_PROPERTY, NULL);
    options.needs = twice, options.need_count = 2;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_EXISTS, "Part: the need 'left' is declared twice");
    options.needs = argument, options.need_count = 1;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_ARGUMENT, NULL);
    /* At any depth: in a default, in a list, under a text. */
    static const invivo_injection index[] = {ARGUMENT(NULL, 0)};
    static const invivo_injection hidden[][1] = {
        {{.name = "left", .how = INVIVO_INJECT_CONFIG, .reference = "left", .items = index, .item_count = 1}},
        {{.name = "left", .how = INVIVO_INJECT_LIST, .items = index, .item_count = 1}},
        {{.name = "left", .how = INVIVO_INJECT_SET, .items = index, .item_count = 1}},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        options.needs = hidden[i];
        expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_ARGUMENT, "Part: the need 'left' takes runtime arguments, which its type has none of");
    }
    options.needs = nameless;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

static void a_failing_need_leaves_nothing(void) {
    begin(0);
    fail_at = "right:made";
    invivo_object one = {0};
    expects_error(invivo_object_make(runtime, part_type, NULL, 0, &one, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(one.bits, 0);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(type_needs_are_injected_into_objects_of_definitions);
    RUN_TEST(a_definitions_own_injection_of_a_property_wins);
    RUN_TEST(objects_without_a_definition_get_their_type_needs);
    RUN_TEST(results_of_factories_and_methods_get_type_needs_too);
    RUN_TEST(another_key_injects_no_type_needs_again);
    RUN_TEST(a_reload_adds_the_type_needs);
    RUN_TEST(needs_are_turned_off_for_a_runtime);
    RUN_TEST(an_unmet_need_is_an_error);
    RUN_TEST(needs_that_cannot_be_are_refused_with_their_type);
    RUN_TEST(a_failing_need_leaves_nothing);
    return check_end();
}
