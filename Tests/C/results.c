/* Results of creation: callbacks that build and inject beside declarations, and null results. */
#include "parts.h"

static invivo_type part_type;
static int asked, gives;

static void begin(void) {
    begin_with(0);
    asked = gives = 0;
    invivo_type_options options = part_options("Part");
    options.will_inject = part_will, options.did_inject = part_did;
    part_type = register_type(options);
}
static invivo_status maybe(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                           invivo_error **error) {
    asked++;
    if (gives) return part_init(*instance, build, arguments, count, user_data, error);
    *instance = NULL;
    return INVIVO_OK;
}
static invivo_status look(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)object, (void)out, (void)user_data;
    return say("look", invivo_key_name(build->key), error);
}

static void null_runs_no_hook_is_not_decorated_and_is_not_kept(void) {
    static const uint32_t scopes[] = {INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON};
    for (size_t i = 0; i < COUNT(scopes); i++) {
        invivo_object object = {0}, again = {0};
        begin();
        describe();
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.maybe", .scope = scopes[i],
                                                               .type = part_type, .factory = maybe, .flags = INVIVO_DEFINITION_NULLABLE}, NULL, E));
        PROCESS("looks", .decorate = look);
        commit();
        OK(invivo_resolve_optional(runtime, key_of("a.maybe"), NULL, 0, &object, E));
        OK(invivo_resolve_optional(runtime, key_of("a.maybe"), NULL, 0, &object, E));
        CHECK_EQUAL(object.bits, 0);
        CHECK_EQUAL(asked, 2);
        CHECK_TEXT(trace, "");
        gives = 1;
        OK(invivo_resolve_optional(runtime, key_of("a.maybe"), NULL, 0, &object, E));
        OK(invivo_resolve_optional(runtime, key_of("a.maybe"), NULL, 0, &again, E));
        CHECK_EQUAL(asked, i < 2 ? 4 : 3);
        CHECK_EQUAL(object.bits == again.bits, i >= 2);
        drop(object), drop(again);
        end();
    }
}

static void null_is_left_out_of_lists_and_optional_targets(void) {
    static const invivo_injection left[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.maybe", .flags = INVIVO_INJECT_OPTIONAL}};
    invivo_value all;
    begin();
    describe();
    ADD("a.maybe", PROTOTYPE, .type = part_type, .factory = maybe, .flags = INVIVO_DEFINITION_NULLABLE);
    ADD("a.user", PROTOTYPE, .type = part_type, PROPERTIES(left));
    commit();
    OK(invivo_resolve_all(runtime, "Part", 0, &all, E));
    CHECK_EQUAL(all.as.list.count, 1);
    invivo_value_clear(&all);
    invivo_object user = resolve("a.user");
    CHECK_TEXT(name_of(at(user)->left), "-");
    drop(user);
    end();
}

static invivo_status fill(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                          invivo_error **error) {
    part *self = instance;
    invivo_object lamp;
    (void)user_data;
    CHECK_EQUAL(count, 1);
    self->number = arguments[0].as.signed_integer;
    /* Its resolves belong to the same graph. */
    invivo_status status = invivo_resolve_name(build->runtime, "a.lamp", &lamp, error);
    if (status) return status;
    CHECK(lamp.bits == self->left.bits);
    invivo_object_release(lamp);
    return say("inject", self->name, error);
}
static invivo_status build_part(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)arguments;
    CHECK_EQUAL(count, 1);
    return part_init(*instance, build, NULL, 0, user_data, error);
}

static void callbacks_combine_with_declarations(void) {
    static const invivo_parameter takes[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    static const invivo_injection left[] = {KEY("left", "a.lamp")}, initializer[] = {ARGUMENT(NULL, 0)};
    invivo_injection text[] = {{.how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_STRING, .as.string = {.data = "note", .length = 4}}}};
    invivo_invocation note[] = {{.method = "note", .arguments = text, .argument_count = 1}};
    begin();
    describe();
    ADD("a.lamp", GRAPH, .type = part_type);
    ADD("a.one", PROTOTYPE, .type = part_type, .factory = build_part, .inject = fill, PROPERTIES(left), INITIALIZER(initializer), .parameters = takes,
        .parameter_count = 1, .methods = note, .method_count = 1, .after = note, .after_count = 1);
    commit();
    invivo_value argument = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 8};
    invivo_object one;
    OK(invivo_resolve_with(runtime, key_of("a.one"), &argument, 1, &one, E));
    CHECK_EQUAL(at(one)->number, 8);
    CHECK_TEXT(trace, "init:one will:one init:lamp will:lamp left:one note:one inject:one note:one did:lamp did:one ");
    drop(one);
    trace[0] = 0, fail_at = "inject:one";
    expects_error(invivo_resolve_with(runtime, key_of("a.one"), &argument, 1, &one, E), INVIVO_E_HOST, "a.one: on purpose");
    CHECK_EQUAL(live, 0);
    end();
}

static void a_path_that_ends_early_is_an_error_unless_it_is_optional(void) {
    static const invivo_injection start[] = {KEY(NULL, "a.settings")};
    static const invivo_injection needed[] = {{.name = "right", .how = INVIVO_INJECT_PATH, .reference = "left.left", .items = start, .item_count = 1}};
    static const invivo_injection optional[] = {
        {.name = "right", .how = INVIVO_INJECT_PATH, .reference = "left.left", .items = start, .item_count = 1, .flags = INVIVO_INJECT_OPTIONAL}};
    static const invivo_injection theme[] = {KEY("left", "a.theme")}, name[] = {KEY("left", "a.name")};
    invivo_object object;
    begin();
    describe();
    ADD("a.settings", LAZY_SINGLETON, .type = part_type);
    ADD("a.needed", PROTOTYPE, .type = part_type, PROPERTIES(needed));
    ADD("a.optional", PROTOTYPE, .type = part_type, PROPERTIES(optional));
    commit();
    expects_error(invivo_resolve_name(runtime, "a.needed", &object, E), INVIVO_E_NULL, NULL);
    object = resolve("a.optional");
    CHECK_TEXT(name_of(at(object)->right), "-");
    drop(object);
    describe();
    ADD("a.name", LAZY_SINGLETON, .type = part_type);
    ADD("a.theme", LAZY_SINGLETON, .type = part_type, PROPERTIES(name));
    ADD("a.settings", LAZY_SINGLETON, .type = part_type, PROPERTIES(theme));
    commit();
    object = resolve("a.needed");
    CHECK_TEXT(name_of(at(object)->right), "name");
    drop(object);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(null_runs_no_hook_is_not_decorated_and_is_not_kept);
    RUN_TEST(null_is_left_out_of_lists_and_optional_targets);
    RUN_TEST(callbacks_combine_with_declarations);
    RUN_TEST(a_path_that_ends_early_is_an_error_unless_it_is_optional);
    return check_end();
}
