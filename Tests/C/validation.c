/* A check of the wiring reports all errors at once, each with a stable rule and its dependents, and runs no host code:
 * every function of the types here ends the process. */
#include "check.h"

typedef struct part { invivo_object a, b; int64_t number; } part;

static invivo_status never_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    abort();
}
static invivo_status never_factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                   void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    abort();
}
static invivo_status never_call(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                invivo_value *result, invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count, (void)result, (void)error;
    abort();
}
static invivo_status never(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    abort();
}

static const invivo_parameter parameters[] = {
    {.name = "a", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "b", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL, .type_name = "Thread"},
};
static const invivo_parameter parts[] = {
    {.name = "a", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "b", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL, .type_name = "Thread"},
};
static invivo_status get_count(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)out, (void)error;
    abort();
}
static invivo_status set_part(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)value, (void)error;
    abort();
}
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "a", .kind = INVIVO_KIND_OBJECT, .get = get_count, .set = set_part},
    INVIVO_FIELD(part, number, .min = 0, .max = 9),
    {.struct_size = sizeof(invivo_property), .name = "count", .kind = INVIVO_KIND_INT64, .get = get_count},
};
static const invivo_method methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "add", .parameters = parts, .parameter_count = 1, .call = never_call},
};

static invivo_runtime own;
static invivo_type shared_type, confined_type;

static void open_runtime(void) {
    OK(invivo_runtime_open(&own, NULL, E));
    invivo_type_options options = {.struct_size = sizeof options, .name = "Any", .concurrency = INVIVO_SHARED,
        .size = sizeof(part), .alignment = 8, .init = never_init, .parameters = parameters, .parameter_count = 2,
        .properties = properties, .property_count = 3, .methods = methods, .method_count = 1, .start = never,
        .will_inject = never, .did_inject = never};
    OK(invivo_type_register(own, &options, &shared_type, E));
    options.name = "Thread", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(own, &options, &confined_type, E));
}

static invivo_changes changes;
static void add(const char *key, uint32_t line, invivo_definition given) {
    given.struct_size = sizeof given, given.key = key, given.file = "app.c", given.line = line;
    if (!given.type.bits && !given.alias) given.type = shared_type;
    OK(invivo_changes_define(changes, &given, NULL, E));
}

#define INJECTIONS(field, count, ...) .field = (const invivo_injection[]){__VA_ARGS__}, \
    .count = sizeof((const invivo_injection[]){__VA_ARGS__}) / sizeof(invivo_injection)
#define REFERENCE(name_, key_) {.name = name_, .how = INVIVO_INJECT_REFERENCE, .reference = key_}

/* The error about `path`: its rule, its dependents, its line (0: any), and a part of its message. */
static void expect_at(const invivo_error *error, const char *path, const char *rule, const char *needed_by, uint32_t line, const char *part_) {
    for (size_t i = 0; i < invivo_error_count(error); i++) {
        const invivo_error *one = invivo_error_at(error, i);
        if (strcmp(invivo_error_path(one), path) || strcmp(invivo_error_rule(one), rule)) continue;
        CHECK_TEXT(invivo_error_needed_by(one), needed_by);
        if (!strstr(invivo_error_message(one), part_))
            check_failed(__FILE__, __LINE__, "'%s' does not say '%s'", invivo_error_message(one), part_);
        CHECK_TEXT(invivo_error_file(one), "app.c");
        if (line) CHECK_EQUAL(invivo_error_line(one), line);
        return;
    }
    check_failed(__FILE__, __LINE__, "nothing is told of %s as %s in\n%s", path, rule, invivo_error_text(error));
}

static void expect(const invivo_error *error, const char *path, const char *rule, const char *needed_by, const char *part_) {
    expect_at(error, path, rule, needed_by, 0, part_);
}

/* Twelve errors, one call. */
static void all_errors_are_reported_at_once(void) {
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    add("app.main", 1, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.player"))});
    add("app.player", 2, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.clok"))});
    add("app.clock", 3, (invivo_definition){.scope = INVIVO_SCOPE_LAZY_SINGLETON});
    add("app.type", 4, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("b", "app.clock"))});
    add("app.arity", 5, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("c", "app.clock"))});
    add("app.property", 6, (invivo_definition){INJECTIONS(properties, property_count, REFERENCE("aa", "app.clock"))});
    add("app.fixed", 7, (invivo_definition){INJECTIONS(properties, property_count, {.name = "count", .value = {.kind = INVIVO_KIND_INT64}})});
    add("app.range", 8, (invivo_definition){INJECTIONS(properties, property_count,
                            {.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 10}})});
    add("app.twice", 9, (invivo_definition){INJECTIONS(properties, property_count, REFERENCE("a", "app.clock"), REFERENCE("a", "app.clock"))});
    add("app.method", 10, (invivo_definition){.methods = (const invivo_invocation[]){{.method = "ad"}}, .method_count = 1});
    add("app.wish", 11, (invivo_definition){INJECTIONS(initializer, initializer_count, {.how = INVIVO_INJECT_TYPE, .reference = "Any"})});
    add("app.made", 12, (invivo_definition){.factory = never_factory, .scope = INVIVO_SCOPE_SINGLETON,
                            .parameters = parameters, .parameter_count = 2});
    add("app.captor", 13, (invivo_definition){.scope = INVIVO_SCOPE_SINGLETON,
                              INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.between"))});
    add("app.between", 14, (invivo_definition){INJECTIONS(properties, property_count, REFERENCE("a", "app.thread"))});
    add("app.thread", 15, (invivo_definition){.type = confined_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON});
    invivo_error *error = NULL;
    CHECK(invivo_changes_check(changes, &error) != INVIVO_OK);
    expect_at(error, "app.player", "wiring.missing", "app.main", 2, "'app.clok', which is not defined; did you mean 'app.clock'?");
    expect_at(error, "app.type", "wiring.type", "", 4, "needs an object of type 'Thread', and 'app.clock' is of type 'Any'");
    expect_at(error, "app.arity", "wiring.arity", "", 5, "'Any' has no initializer parameter 'c'");
    expect_at(error, "app.property", "wiring.unknown-property", "", 6, "no property 'aa'; did you mean 'a'?");
    expect_at(error, "app.fixed", "wiring.read-only", "", 7, "read only");
    expect_at(error, "app.range", "wiring.type", "", 8, "the property 'number': 10 is outside 0...9");
    expect_at(error, "app.twice", "wiring.duplicate", "", 9, "the property 'a' is set twice");
    expect_at(error, "app.method", "wiring.unknown-method", "", 10, "no method 'ad'; did you mean 'add'?");
    expect_at(error, "app.wish", "wiring.ambiguous", "", 11, "several definitions create one");
    expect_at(error, "app.made", "wiring.arity", "", 12, "eager singleton");
    expect_at(error, "app.captor", "wiring.captive", "", 13, "app.captor -> app.between -> app.thread");
    CHECK(invivo_error_count(error) == 11);
    CHECK(strstr(invivo_error_text(error), "app.c:2: app.player: ") != NULL);
    CHECK(strstr(invivo_error_text(error), "(needed by app.main)") != NULL);
    invivo_error_release(error);
    /* The set is still open, and its commit finds the same. */
    error = NULL;
    CHECK(invivo_changes_commit(changes, &error) != INVIVO_OK);
    CHECK(invivo_error_count(error) == 11);
    invivo_error_release(error);
    OK(invivo_runtime_close(own, E));
}

static void a_wrong_kind_is_reported(void) {
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    const invivo_injection thing = REFERENCE(NULL, "app.thing");
    add("app.thing", 1, (invivo_definition){0});
    add("app.list", 2, (invivo_definition){INJECTIONS(properties, property_count, {.name = "a", .how = INVIVO_INJECT_LIST})});
    add("app.map", 3, (invivo_definition){INJECTIONS(properties, property_count, {.name = "a", .how = INVIVO_INJECT_MAP})});
    add("app.provider", 4, (invivo_definition){INJECTIONS(properties, property_count,
                               {.name = "a", .how = INVIVO_INJECT_PROVIDER, .items = &thing, .item_count = 1})});
    add("app.number", 5, (invivo_definition){INJECTIONS(properties, property_count, REFERENCE("number", "app.thing"))});
    const invivo_injection all[] = {{.how = INVIVO_INJECT_ALL, .reference = "Thread"}};
    const invivo_invocation methods_[] = {{.method = "add", .arguments = all, .argument_count = 1}};
    add("app.method", 6, (invivo_definition){.methods = methods_, .method_count = 1});
    add("app.good", 7, (invivo_definition){INJECTIONS(properties, property_count, REFERENCE("a", "app.thing"))});
    invivo_error *error = NULL;
    CHECK(invivo_changes_check(changes, &error) == INVIVO_E_TYPE);
    expect(error, "app.list", "wiring.type", "", "the property 'a' is of the kind object; expected the kind list");
    expect(error, "app.map", "wiring.type", "", "map");
    expect(error, "app.provider", "wiring.type", "", "callable");
    expect(error, "app.number", "wiring.type", "", "kind object");
    expect(error, "app.method", "wiring.type", "", "kind list");
    CHECK(invivo_error_count(error) == 5);
    invivo_error_release(error);
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

/* An error that every resolve would return is reported before. */
static void definitions_that_can_never_be_created_are_reported_with_their_dependents(void) {
    static const invivo_parameter note[] = {{.name = "note", .kind = INVIVO_KIND_INT64}};
    const invivo_injection text[] = {{.how = INVIVO_INJECT_VALUE, .value = invivo_string("loud")}},
                           two[] = {{.how = INVIVO_INJECT_VALUE, .value = invivo_int64(1)}, {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(2)}},
                           good = REFERENCE(NULL, "app.plain");
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    add("app.plain", 1, (invivo_definition){.scope = INVIVO_SCOPE_LAZY_SINGLETON});
    add("app.voice", 2, (invivo_definition){.parameters = note, .parameter_count = 1});
    add("app.few", 6, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.voice"))});
    add("app.kind", 8, (invivo_definition){INJECTIONS(initializer, initializer_count,
                           {.name = "a", .how = INVIVO_INJECT_REFERENCE, .reference = "app.voice", .items = text, .item_count = 1})});
    add("app.alias", 9, (invivo_definition){.alias = "app.voice", INJECTIONS(initializer, initializer_count, two[0], two[1])});
    add("app.path", 11, (invivo_definition){INJECTIONS(initializer, initializer_count,
                            {.name = "a", .how = INVIVO_INJECT_PATH, .reference = "numer.x", .items = &good, .item_count = 1})});
    add("app.init", 12, (invivo_definition){INJECTIONS(initializer, initializer_count, {.value = {0}}, {.value = {0}}, {.value = {0}}, {.value = {0}})});
    add("app.child", 13, (invivo_definition){.type = {0}, .parent = "app.chil"});
    add("app.choice", 14, (invivo_definition){.chooser = two, .options = (const invivo_option[]){
                              {.when = INVIVO_WHEN_OTHERWISE, .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "app.none", .flags = INVIVO_INJECT_OPTIONAL}}}, .option_count = 1});
    invivo_error *error = NULL;
    CHECK(invivo_changes_check(changes, &error) != INVIVO_OK);
    expect(error, "app.few", "wiring.arity", "", "gives 0 arguments to app.voice(note: int64)");
    expect(error, "app.kind", "wiring.type", "", "argument 'note' of app.voice(note: int64): 'loud' (a string) is not a whole number");
    expect(error, "app.alias", "wiring.arity", "", "the alias gives 2 arguments to app.voice(note: int64)");
    expect(error, "app.path", "wiring.unknown-property", "", "'numer'; did you mean 'number'?");
    expect(error, "app.init", "wiring.arity", "", "takes 2 initializer arguments, got 4");
    expect(error, "app.child", "wiring.missing", "", "the parent 'app.chil' is not defined");
    expect(error, "app.choice", "wiring.description", "", "option 0 gives nothing"); /* besides other errors */
    CHECK(strstr(invivo_error_text(error), "did you mean 'app.child'") == NULL); /* never itself */
    if (invivo_error_count(error) != 7) check_failed(__FILE__, __LINE__, "told is\n%s", invivo_error_text(error));
    invivo_error_release(error);
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

/* A type, and the required arguments of its initializer. */
static void missing_parts_of_a_definition_are_reported(void) {
    static const invivo_parameter strict[] = {{.name = "a", .kind = INVIVO_KIND_OBJECT}, {.name = "count", .kind = INVIVO_KIND_INT64}};
    invivo_type type;
    invivo_error *error = NULL;
    open_runtime();
    const invivo_type_options options = {.struct_size = sizeof options, .name = "Strict", .concurrency = INVIVO_SHARED,
        .size = sizeof(part), .alignment = 8, .init = never_init, .parameters = strict, .parameter_count = 2};
    OK(invivo_type_register(own, &options, &type, E));
    OK(invivo_changes_open(own, &changes, E));
    const invivo_definition nothing = {.struct_size = sizeof nothing, .key = "app.nothing", .file = "app.c", .line = 1};
    expects_error(invivo_changes_define(changes, &nothing, NULL, E), INVIVO_E_ARGUMENT, NULL);
    add("app.part", 2, (invivo_definition){0});
    /* In every scope; each error is reported once. */
    add("app.few", 3, (invivo_definition){.type = type, INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.part"))});
    add("app.user", 5, (invivo_definition){INJECTIONS(properties, property_count, REFERENCE("a", "app.few"))});
    add("app.eager", 6, (invivo_definition){.type = type, .scope = INVIVO_SCOPE_SINGLETON,
                            INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.part"))});
    add("app.many", 4, (invivo_definition){.type = type, INJECTIONS(initializer, initializer_count, REFERENCE(NULL, "app.part"),
                           {.value = {.kind = INVIVO_KIND_INT64}}, {.value = {.kind = INVIVO_KIND_INT64}})});
    CHECK(invivo_changes_check(changes, &error) == INVIVO_E_ARITY);
    expect(error, "app.few", "wiring.arity", "app.user", "no argument for the initializer parameter 'count' (int64) of 'Strict': "
           "inject a value, or declare a runtime argument (parameters)");
    expect(error, "app.eager", "wiring.arity", "", "'count' (int64) of 'Strict'");
    expect(error, "app.many", "wiring.arity", "", "takes 2 initializer arguments, got 3");
    CHECK(invivo_error_count(error) == 3);
    invivo_error_release(error);
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

/* An error of a parent affects all its children, and is reported once, at its source location. */
static void errors_of_parents_are_reported_once(void) {
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    add("app.lost", 1, (invivo_definition){.parent = "app.nobody"});
    add("app.lost2", 2, (invivo_definition){.type = {0}, .parent = "app.lost"});
    add("app.lost3", 3, (invivo_definition){.type = {0}, .parent = "app.lost2"});
    add("app.a", 4, (invivo_definition){.parent = "app.c"});
    add("app.b", 5, (invivo_definition){.parent = "app.a"});
    add("app.c", 6, (invivo_definition){.parent = "app.b"});
    add("app.d", 7, (invivo_definition){.parent = "app.c"});
    add("app.alias", 8, (invivo_definition){.alias = "app.good"});
    add("app.good", 9, (invivo_definition){0});
    add("app.of_alias", 10, (invivo_definition){.parent = "app.alias"});
    add("app.of_that", 11, (invivo_definition){.parent = "app.of_alias"});
    add("app.base", 13, (invivo_definition){INJECTIONS(properties, property_count, {.name = "speed", .value = {.kind = INVIVO_KIND_INT64}})});
    add("app.child", 12, (invivo_definition){.parent = "app.base", INJECTIONS(properties, property_count, {.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as = {.signed_integer = 99}}})});
    add("app.grandchild", 14, (invivo_definition){.parent = "app.child"});
    invivo_error *error = NULL;
    CHECK(invivo_changes_check(changes, &error) != INVIVO_OK);
    expect(error, "app.lost", "wiring.missing", "", "the parent 'app.nobody' is not defined");
    expect(error, "app.a", "wiring.cycle", "", "the parents form a cycle: app.a -> app.c -> app.b -> app.a");
    expect(error, "app.of_alias", "wiring.description", "", "the parent 'app.alias' is an alias");
    expect(error, "app.base", "wiring.unknown-property", "", "'speed'");
    expect(error, "app.child", "wiring.type", "", "99");
    if (invivo_error_count(error) != 5) check_failed(__FILE__, __LINE__, "told is\n%s", invivo_error_text(error));
    invivo_error_release(error);
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

static void cycles_of_initializers_show_their_path(void) {
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    add("app.one", 1, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.two"))});
    add("app.two", 2, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.one"))});
    invivo_error *error = NULL;
    CHECK(invivo_changes_check(changes, &error) == INVIVO_E_CYCLE);
    expect(error, "app.one", "wiring.cycle", "", "app.one -> app.two -> app.one");
    invivo_error_release(error);
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

static void deferred_references_are_no_captive_dependencies(void) {
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    const invivo_injection thread = REFERENCE(NULL, "app.thread");
    add("app.thread", 1, (invivo_definition){.type = confined_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON});
    add("app.asks", 2, (invivo_definition){.scope = INVIVO_SCOPE_LAZY_SINGLETON,
                           INJECTIONS(initializer, initializer_count, {.how = INVIVO_INJECT_PROVIDER, .items = &thread, .item_count = 1})});
    add("app.alone", 3, (invivo_definition){.type = confined_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                            INJECTIONS(properties, property_count, REFERENCE("a", "app.thread"))});
    OK(invivo_changes_check(changes, E));
    OK(invivo_changes_commit(changes, E));
    /* A definition that becomes confined makes captive dependencies of its holders. */
    OK(invivo_changes_open(own, &changes, E));
    add("app.part", 4, (invivo_definition){.scope = INVIVO_SCOPE_LAZY_SINGLETON});
    add("app.holder", 5, (invivo_definition){.scope = INVIVO_SCOPE_LAZY_SINGLETON,
                             INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.part"))});
    OK(invivo_changes_commit(changes, E));
    OK(invivo_changes_open(own, &changes, E));
    add("app.part", 6, (invivo_definition){.type = confined_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON});
    invivo_error *error = NULL;
    CHECK(invivo_changes_commit(changes, &error) == INVIVO_E_CAPTIVE);
    expect(error, "app.holder", "wiring.captive", "", "app.holder -> app.part");
    invivo_error_release(error);
    OK(invivo_runtime_close(own, E));
}

static void an_object_of_one_scope_instance_is_not_held_beyond_it(void) {
    open_runtime();
    OK(invivo_changes_open(own, &changes, E));
    add("app.here", 1, (invivo_definition){.scope = INVIVO_SCOPE_THREAD});
    add("app.between", 2, (invivo_definition){INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.here"))});
    add("app.same", 3, (invivo_definition){.scope = INVIVO_SCOPE_THREAD,
                           INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.between"))});
    OK(invivo_changes_check(changes, E));
    add("app.weak", 4, (invivo_definition){.scope = INVIVO_SCOPE_WEAK_SINGLETON,
                           INJECTIONS(initializer, initializer_count, REFERENCE("a", "app.between"))});
    add("app.context", 5, (invivo_definition){.scope = INVIVO_SCOPE_CONTEXT});
    add("app.one", 6, (invivo_definition){.scope = INVIVO_SCOPE_LAZY_SINGLETON,
                          INJECTIONS(properties, property_count, REFERENCE("a", "app.context"))});
    invivo_error *error = NULL;
    CHECK(invivo_changes_check(changes, &error) == INVIVO_E_CAPTIVE);
    expect(error, "app.weak", "wiring.captive", "", "one for each thread: app.weak -> app.between -> app.here");
    expect(error, "app.one", "wiring.captive", "", "one for each context: app.one -> app.context");
    CHECK(invivo_error_count(error) == 2);
    invivo_error_release(error);
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

/* The values of a block exist once for each key: a scope with several instances would have no effect. */
static void a_block_has_no_instances(void) {
    static const uint32_t several[] = {INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_WEAK_SINGLETON, INVIVO_SCOPE_THREAD};
    static const uint32_t once[] = {INVIVO_SCOPE_DEFAULT, INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON};
    static const invivo_property level[] = {{.struct_size = sizeof(invivo_property), .name = "level", .kind = INVIVO_KIND_DOUBLE,
                                             .flags = INVIVO_PROPERTY_BLOCK, .size = sizeof(double)}};
    open_runtime();
    const invivo_type_options options = {.struct_size = sizeof options, .name = "Tone", .concurrency = INVIVO_SHARED,
        .block_size = sizeof(double), .properties = level, .property_count = 1};
    invivo_type type;
    OK(invivo_type_register(own, &options, &type, E));
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        OK(invivo_changes_open(own, &changes, E));
        add("app.tone", 7, (invivo_definition){.type = type, .scope = several[i]});
        invivo_error *error = NULL;
        CHECK(invivo_changes_check(changes, &error) == INVIVO_E_ARGUMENT);
        expect_at(error, "app.tone", "wiring.description", "", 7, "the type 'Tone' has only a block, and no instances: the scope '");
        expect_at(error, "app.tone", "wiring.description", "", 7, "' would have no effect; leave it out");
        invivo_error_release(error);
        invivo_changes_discard(changes);
    }
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        OK(invivo_changes_open(own, &changes, E));
        add("app.tone", 7, (invivo_definition){.type = type, .scope = once[i]});
        OK(invivo_changes_commit(changes, E));
    }
    const char *text = "wiring: { app.tone: { scope: prototype } }";
    OK(invivo_changes_open(own, &changes, E));
    OK(invivo_changes_document(changes, "d", text, strlen(text), E));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_ARGUMENT,
                  "d:1:30: wiring.app.tone: 'app.tone' is of the type 'Tone', which has only a block, and no instances: the scope "
                  "'prototype' would have no effect");
    invivo_changes_discard(changes);
    OK(invivo_runtime_close(own, E));
}

int main(void) {
    check_begin();
    RUN_TEST(a_block_has_no_instances);
    RUN_TEST(all_errors_are_reported_at_once);
    RUN_TEST(a_wrong_kind_is_reported);
    RUN_TEST(definitions_that_can_never_be_created_are_reported_with_their_dependents);
    RUN_TEST(missing_parts_of_a_definition_are_reported);
    RUN_TEST(errors_of_parents_are_reported_once);
    RUN_TEST(cycles_of_initializers_show_their_path);
    RUN_TEST(deferred_references_are_no_captive_dependencies);
    RUN_TEST(an_object_of_one_scope_instance_is_not_held_beyond_it);
    return check_end();
}
