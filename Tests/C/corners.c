/* Corner cases of combined features, reduced from failures of the random comparison with a model (model.c). */
#include "thing.h"

static invivo_runtime runtime;
static invivo_changes changes;

static void begin(void) {
    thing_concurrency = INVIVO_CONFINED; /* injected again in place */
    runtime = thing_runtime();
    things_made = 0;
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
}
static invivo_type type(void) {
    invivo_type found = {0};
    OK(invivo_type_find(runtime, "Thing", &found, E));
    return found;
}
static void describe(void) { OK(invivo_changes_open(runtime, &changes, E)); }
static void commit(void) { OK(invivo_changes_commit(changes, E)); }

static const invivo_parameter one[] = {{.name = "it", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
#define KEY(into, key) {.name = into, .how = INVIVO_INJECT_REFERENCE, .reference = key}
#define KEY_WITH(into, key, arguments) {.name = into, .how = INVIVO_INJECT_REFERENCE, .reference = key, .items = arguments, .item_count = 1}
#define ADD(given_key, given_scope, ...)                                                                               \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, \
                                                           .scope = INVIVO_SCOPE_##given_scope, __VA_ARGS__}, NULL, E))
#define MADE .type = type()
#define PROPERTY(array) .properties = array, .property_count = 1
#define INITIALIZER(array) .initializer = array, .initializer_count = 1
#define TAKES_ONE .parameters = one, .parameter_count = 1

static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}

static void a_deferred_step_in_a_reload_creates_once(void) {
    begin();
    invivo_injection with_holder[] = {KEY("given", "a.holder")}, shared[] = {KEY(NULL, "a.shared")},
                     from_shared[] = {KEY_WITH("left", "a.late", shared)}, with_inner[] = {KEY("given", "a.inner")};
    describe();
    ADD("a.shared", LAZY_SINGLETON, MADE);
    ADD("a.late", GRAPH, MADE, TAKES_ONE, INITIALIZER(with_holder));
    ADD("a.inner", GRAPH, MADE, PROPERTY(from_shared)); /* waits for the holder, after the shared object is created */
    ADD("a.holder", SINGLETON, MADE, INITIALIZER(with_inner));
    commit();
    CHECK_EQUAL(things_made, 4);
    CHECK_EQUAL(things, 4);
    end();
}
static void a_holder_by_an_alias_with_arguments_follows_in_place(void) {
    begin();
    invivo_injection seven[] = {{.how = INVIVO_INJECT_VALUE, .value = invivo_int64(7)}}, through[] = {KEY("left", "a.seven")};
    describe();
    ADD("a.part", GRAPH, MADE, TAKES_ONE);
    ADD("a.seven", DEFAULT, .alias = "a.part", INITIALIZER(seven));
    ADD("a.holder", SINGLETON, MADE, PROPERTY(through));
    commit();
    invivo_object holder = thing_shared(runtime, "a.holder"), part = thing_of(holder)->left;
    describe();
    ADD("a.part", GRAPH, MADE, TAKES_ONE);
    commit();
    CHECK(thing_shared(runtime, "a.holder").bits == holder.bits); /* injected again, not rebuilt */
    CHECK(thing_of(holder)->left.bits != part.bits);
    CHECK_EQUAL(things_made, 3);
    end();
}
static invivo_status nothing(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    *instance = NULL;
    return INVIVO_OK;
}
static void a_deferred_step_for_a_null_result_gets_null(void) {
    begin();
    invivo_injection with_part[] = {KEY("given", "a.part")}, back[] = {KEY("left", "a.none")};
    describe();
    ADD("a.none", GRAPH, MADE, .factory = nothing, .flags = INVIVO_DEFINITION_NULLABLE, INITIALIZER(with_part));
    ADD("a.part", GRAPH, MADE, PROPERTY(back));
    commit();
    invivo_key none = {0};
    invivo_object object = {0};
    OK(invivo_key_find(runtime, "a.none", &none, E));
    expects_error(invivo_resolve_optional(runtime, none, NULL, 0, &object, E), INVIVO_E_NULL, NULL);
    back[0].flags = INVIVO_INJECT_OPTIONAL;
    describe();
    ADD("a.part", GRAPH, MADE, PROPERTY(back));
    commit();
    OK(invivo_resolve_optional(runtime, none, NULL, 0, &object, E));
    CHECK(!object.bits);
    CHECK_EQUAL(things, 0);
    end();
}
static void a_cycle_through_a_runtime_argument_ends(void) {
    begin();
    invivo_injection self[] = {KEY(NULL, "a.whole")}, its[] = {KEY_WITH("left", "a.part", self)},
                     given[] = {{.name = "left", .how = INVIVO_INJECT_ARGUMENT}};
    describe();
    ADD("a.part", GRAPH, MADE, TAKES_ONE, PROPERTY(given));
    ADD("a.whole", GRAPH, MADE, PROPERTY(its));
    commit();
    invivo_object whole = resolve("a.whole");
    CHECK(thing_of(thing_of(whole)->left)->left.bits == whole.bits);
    OK(invivo_object_release(whole));
    CHECK_EQUAL(things, 0);
    end();
}
static void a_cycle_that_a_reload_closes_through_a_runtime_argument_ends(void) {
    begin();
    invivo_injection end_of_it[] = {KEY("left", "a.end")}, link[] = {KEY(NULL, "a.link")}, its[] = {KEY_WITH("left", "a.part", link)},
                     given[] = {{.name = "left", .how = INVIVO_INJECT_ARGUMENT}}, back[] = {KEY("left", "a.whole")};
    describe();
    ADD("a.end", LAZY_SINGLETON, MADE);
    ADD("a.link", LAZY_SINGLETON, MADE, PROPERTY(end_of_it));
    ADD("a.part", GRAPH, MADE, TAKES_ONE, PROPERTY(given));
    ADD("a.whole", LAZY_SINGLETON, MADE, PROPERTY(its));
    commit();
    invivo_object whole = resolve("a.whole");
    describe();
    ADD("a.end", LAZY_SINGLETON, MADE, PROPERTY(back));
    commit();
    CHECK_EQUAL(things, 4); /* whole -> part -> link -> end -> whole */
    describe();
    OK(invivo_changes_remove(changes, "a.whole", E));
    OK(invivo_changes_remove(changes, "a.end", E));
    OK(invivo_changes_remove(changes, "a.link", E));
    commit();
    CHECK_EQUAL(things, 4);
    OK(invivo_object_release(whole));
    CHECK_EQUAL(things, 0);
    end();
}
static void a_cycle_that_a_reload_closes_through_an_alias_ends(void) {
    begin();
    invivo_injection part[] = {KEY("left", "a.part")}, with_whole[] = {KEY("given", "a.whole")}, back[] = {KEY("left", "a.name")};
    describe();
    ADD("a.part", GRAPH, MADE);
    ADD("a.whole", SINGLETON, MADE, PROPERTY(part));
    ADD("a.link", GRAPH, MADE, INITIALIZER(with_whole));
    ADD("a.name", DEFAULT, .alias = "a.link");
    commit();
    describe();
    ADD("a.part", GRAPH, MADE, PROPERTY(back));
    commit();
    CHECK_EQUAL(things, 3);
    end(); /* whole -> part -> link -> whole */
}
static void an_alias_follows_a_new_binding(void) {
    begin();
    invivo_injection wish[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Other", .flags = INVIVO_INJECT_OPTIONAL}};
    describe();
    ADD("a.weak", WEAK_SINGLETON, MADE, PROPERTY(wish));
    ADD("a.name", DEFAULT, .alias = "a.weak");
    ADD("a.name_of_name", DEFAULT, .alias = "a.name");
    commit();
    invivo_key name = {0};
    OK(invivo_key_find(runtime, "a.name_of_name", &name, E));
    const uint64_t *version = invivo_key_version(name), before = *version;
    invivo_object weak = resolve("a.weak");
    describe();
    ADD("a.other", LAZY_SINGLETON, .type = thing_register(runtime, "Other"));
    commit();
    CHECK_TEXT(thing_key(thing_of(weak)->left), "a.other");
    CHECK(*version != before);
    OK(invivo_object_release(weak));
    weak = resolve("a.name_of_name");
    CHECK_TEXT(thing_key(thing_of(weak)->left), "a.other");
    OK(invivo_object_release(weak));
    end();
}
static void a_name_of_names_of_any_number_is_followed_to_its_end(void) {
    enum { NAMES = 200 };
    begin();
    char names[NAMES][16];
    invivo_injection last[] = {KEY("left", "a.199")};
    describe();
    ADD("a.0", LAZY_SINGLETON, MADE);
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "a.%d", i);
        if (i > 0) ADD(names[i], DEFAULT, .alias = names[i - 1]);
    }
    ADD("a.holder", LAZY_SINGLETON, MADE, PROPERTY(last));
    commit();
    invivo_object former = thing_shared(runtime, "a.199");
    CHECK(thing_of(thing_shared(runtime, "a.holder"))->left.bits == former.bits);
    CHECK(thing_shared(runtime, "a.0").bits == former.bits);
    describe();
    ADD("a.0", LAZY_SINGLETON, MADE);
    commit();
    CHECK(thing_shared(runtime, "a.199").bits == thing_shared(runtime, "a.0").bits);
    CHECK(thing_of(thing_shared(runtime, "a.holder"))->left.bits == thing_shared(runtime, "a.0").bits);
    describe();
    ADD("a.0", DEFAULT, .alias = "a.199");
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CYCLE, NULL);
    end();
}
static char told[256];
static invivo_status tell(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)instance, (void)user_data, (void)count, (void)result, (void)error;
    size_t length = strlen(told);
    if (arguments[0].kind == INVIVO_KIND_LIST) snprintf(told + length, sizeof told - length, "%d of %d ", (int)arguments[0].as.list.count, (int)arguments[0].as.list.items[0].kind);
    else snprintf(told + length, sizeof told - length, "no list ");
    return INVIVO_OK;
}
static invivo_status refuse(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static void a_binding_without_target_is_restored(void) {
    begin();
    static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "tell", .parameters = one, .parameter_count = 1, .call = tell}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Teller", .size = 8, .alignment = 8, .concurrency = INVIVO_CONFINED, .methods = methods, .method_count = 1};
    invivo_type teller, other = thing_register(runtime, "Other");
    OK(invivo_type_register(runtime, &options, &teller, E));
    invivo_injection wish[] = {{.how = INVIVO_INJECT_TYPE, .reference = "Other", .flags = INVIVO_INJECT_OPTIONAL}},
                     list[] = {{.how = INVIVO_INJECT_LIST, .items = wish, .item_count = 1}};
    invivo_invocation calls[] = {{.method = "tell", .arguments = list, .argument_count = 1}};
    told[0] = 0;
    describe();
    ADD("a.teller", SINGLETON, .type = teller, .methods = calls, .method_count = 1);
    commit();
    describe();
    ADD("a.other", GRAPH, .type = other, .factory = refuse);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_TEXT(told, "1 of 0 1 of 0 "); /* a list of null, and the same again */
    end();
}
static void a_former_alias_gets_only_its_declared_arguments(void) {
    begin();
    static const invivo_parameter two[] = {{.name = "x", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}, {.name = "y", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_injection both[] = {{.how = INVIVO_INJECT_VALUE, .value = invivo_int64(1)}, {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(2)}},
                     with_both[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.name", .items = both, .item_count = 2}};
    describe();
    ADD("a.part", GRAPH, MADE, .parameters = two, .parameter_count = 2);
    ADD("a.name", DEFAULT, .alias = "a.part");
    ADD("a.holder", GRAPH, MADE, PROPERTY(with_both));
    commit();
    describe();
    ADD("a.name", GRAPH, MADE, TAKES_ONE);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARITY, NULL);
    end();
}
static invivo_status asking(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    invivo_object found = {0};
    invivo_status status = invivo_resolve_name(build->runtime, "a.asked_for", &found, error);
    if (status) return status;
    invivo_object_release(found);
    return thing_init(*instance, build, arguments, count, user_data, error);
}
static void resolves_of_a_prototype_are_dependencies_of_its_holders(void) {
    begin();
    invivo_injection prototype[] = {KEY("given", "a.prototype")}, two[] = {KEY("left", "a.graph"), KEY("given", "a.user")}, graph[] = {KEY("given", "a.graph")};
    describe();
    ADD("a.asked_for", LAZY_SINGLETON, MADE);
    ADD("a.prototype", PROTOTYPE, MADE, .factory = asking);
    ADD("a.graph", GRAPH, MADE, .factory = asking);
    ADD("a.user", LAZY_SINGLETON, MADE, INITIALIZER(graph)); /* created first; uses the object of the graph */
    ADD("a.holder", SINGLETON, MADE, INITIALIZER(prototype));
    ADD("a.second", SINGLETON, MADE, .initializer = &two[1], .initializer_count = 1, .properties = two, .property_count = 1);
    ADD("a.other", SINGLETON, MADE);
    commit();
    invivo_object holder = thing_shared(runtime, "a.holder"), second = thing_shared(runtime, "a.second"), other = thing_shared(runtime, "a.other");
    describe();
    ADD("a.asked_for", LAZY_SINGLETON, MADE);
    commit();
    CHECK(thing_shared(runtime, "a.holder").bits != holder.bits);
    CHECK(thing_shared(runtime, "a.second").bits != second.bits);
    CHECK(thing_shared(runtime, "a.other").bits == other.bits);
    end();
}
static void the_parent_of_an_overridden_definition_stays(void) {
    begin();
    describe();
    ADD("a.base", LAZY_SINGLETON, MADE);
    ADD("a.child", DEFAULT, .parent = "a.base");
    commit();
    invivo_override above;
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.child", .type = type()}, &above, E));
    describe();
    OK(invivo_changes_remove(changes, "a.base", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND,
                  "a.child: the parent 'a.base' is not defined");
    OK(invivo_override_end(above, E));
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_deferred_step_in_a_reload_creates_once);
    RUN_TEST(a_holder_by_an_alias_with_arguments_follows_in_place);
    RUN_TEST(a_deferred_step_for_a_null_result_gets_null);
    RUN_TEST(a_cycle_through_a_runtime_argument_ends);
    RUN_TEST(a_cycle_that_a_reload_closes_through_a_runtime_argument_ends);
    RUN_TEST(a_cycle_that_a_reload_closes_through_an_alias_ends);
    RUN_TEST(an_alias_follows_a_new_binding);
    RUN_TEST(a_binding_without_target_is_restored);
    RUN_TEST(a_former_alias_gets_only_its_declared_arguments);
    RUN_TEST(resolves_of_a_prototype_are_dependencies_of_its_holders);
    RUN_TEST(the_parent_of_an_overridden_definition_stays);
    RUN_TEST(a_name_of_names_of_any_number_is_followed_to_its_end);
    return check_end();
}
