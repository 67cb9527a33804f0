/* Ownership of arguments: `destroy` is called once after the runtime has taken them over, and never by a failing call.
 * Leases of the runtime itself do not prevent close. */
#include "check.h"

typedef struct { int number; void *other; } thing;

static invivo_runtime runtime;
static int destroyed;

static void destroy(void *user_data) {
    (void)user_data;
    destroyed++;
}
static invivo_status factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    ((thing *)*instance)->number = 7;
    return INVIVO_OK;
}
static void begin(void) {
    invivo_type_options type = {.struct_size = sizeof(type), .name = "Thing", .size = sizeof(thing), .concurrency = INVIVO_SHARED};
    destroyed = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &type, NULL, E));
}
static invivo_definition owned(const char *key) {
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = INVIVO_SCOPE_PROTOTYPE,
                               .type_name = "Thing", .factory = factory, .user_data = runtime.bits ? &runtime : NULL, .destroy = destroy};
}

static void a_failing_call_takes_no_ownership(void) {
    begin();
    invivo_injection missing = {.how = INVIVO_INJECT_REFERENCE, .reference = "nowhere.at_all"};
    invivo_definition broken = owned("m"), good = owned("m");
    broken.initializer = &missing, broken.initializer_count = 1;
    invivo_assembly fails = {.struct_size = sizeof(fails), .name = "fails", .definitions = &broken, .definition_count = 1};
    invivo_assembly works = {.struct_size = sizeof(works), .name = "works", .definitions = &good, .definition_count = 1};
    invivo_assembly named = {.struct_size = sizeof(named), .name = "named.", .definitions = &good, .definition_count = 1};
    invivo_assembly extends = works, placed = works;
    extends.flags = INVIVO_ASSEMBLY_EXTENDS, placed.file = "\xff.c";
    const invivo_assembly *one[] = {&fails}, *two[] = {&works, &named};
    expects_error(invivo_activate(runtime, one, 1, NULL, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_activate(runtime, two, 2, NULL, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_mount(runtime, &fails, "left", NULL, 0, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_mount(runtime, &extends, "left", NULL, 0, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_assembly_describe(runtime, &placed, E), INVIVO_E_ENCODING, NULL);

    invivo_definition inside = owned("");
    invivo_injection need = {.name = "other", .how = INVIVO_INJECT_REFERENCE, .definition = &inside};
    invivo_type_options needy = {.struct_size = sizeof(needy), .name = "Needy", .size = 8, .needs = &need, .need_count = 1};
    expects_error(invivo_type_register(runtime, &needy, NULL, E), INVIVO_E_ARGUMENT, NULL);
    CHECK_EQUAL(destroyed, 0);

    invivo_changes changes;
    invivo_processor processor = {.struct_size = sizeof(processor), .name = "p", .component = "a.b", .destroy = destroy};
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &processor, E));
    expects_error(invivo_changes_process(changes, &processor, E), INVIVO_E_EXISTS, NULL);
    CHECK_EQUAL(destroyed, 0);
    invivo_changes_discard(changes);
    CHECK_EQUAL(destroyed, 1);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(destroyed, 1);
}

static void the_data_of_an_alias_ends_with_it(void) {
    begin();
    invivo_definition target = owned("a.b"), alias = {.struct_size = sizeof(alias), .key = "a.c", .alias = "a.b", .destroy = destroy};
    OK(invivo_define(runtime, &target, NULL, E));
    OK(invivo_define(runtime, &alias, NULL, E));
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.c", E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(destroyed, 2);
}

static void defaults_that_are_objects_do_not_hinder_a_close(void) {
    begin();
    invivo_object object;
    invivo_definition source = owned("a.b"), taking = owned("a.c");
    invivo_parameter parameter = {.name = "p", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL, .type_name = "Thing"};
    OK(invivo_define(runtime, &source, NULL, E));
    OK(invivo_resolve_name(runtime, "a.b", &object, E));
    invivo_value value = invivo_object_value(object);
    taking.parameters = &parameter, taking.parameter_count = 1, taking.defaults = &value;
    OK(invivo_define(runtime, &taking, NULL, E));
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

static invivo_object kept;
static invivo_status current(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                             invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count;
    invivo_value value = invivo_object_value(kept);
    return invivo_value_copy(result, &value, error);
}
static uint64_t leases(void) {
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return info.leases;
}

static void a_factory_method_that_returns_an_existing_object_adds_no_lease(void) {
    begin();
    invivo_method method = {.struct_size = sizeof(method), .name = "current", .result = INVIVO_KIND_OBJECT, .call = current};
    invivo_type_options registry = {.struct_size = sizeof(registry), .name = "Registry", .size = 8, .concurrency = INVIVO_SHARED, .methods = &method, .method_count = 1};
    invivo_definition owner = {.struct_size = sizeof(owner), .key = "a.registry", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type_name = "Registry"};
    invivo_definition shared = {.struct_size = sizeof(shared), .key = "a.kept", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type_name = "Thing"};
    invivo_injection by = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.registry"};
    invivo_definition asked = {.struct_size = sizeof(asked), .key = "a.current", .scope = INVIVO_SCOPE_PROTOTYPE, .type_name = "Thing",
                               .maker_method = "current", .maker = &by, .maker_count = 1};
    OK(invivo_type_register(runtime, &registry, NULL, E));
    OK(invivo_define(runtime, &owner, NULL, E));
    OK(invivo_define(runtime, &shared, NULL, E));
    OK(invivo_define(runtime, &asked, NULL, E));
    OK(invivo_resolve_name(runtime, "a.kept", &kept, E));
    uint64_t before = leases();
    for (int i = 0; i < 100; i++) {
        invivo_object object;
        OK(invivo_resolve_name(runtime, "a.current", &object, E));
        CHECK_EQUAL(object.bits, kept.bits);
        OK(invivo_object_release(object));
    }
    CHECK_EQUAL(leases(), before);
    OK(invivo_object_release(kept));
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_begin();
    RUN_TEST(a_failing_call_takes_no_ownership);
    RUN_TEST(the_data_of_an_alias_ends_with_it);
    RUN_TEST(defaults_that_are_objects_do_not_hinder_a_close);
    RUN_TEST(a_factory_method_that_returns_an_existing_object_adds_no_lease);
    return check_end();
}
