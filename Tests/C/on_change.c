/* How a definition follows changes of its dependencies: it keeps what it has, is rebuilt, or refuses the change. */
/* sanitize: yes */
#include "on_change.h"

static void forget(void) { trace[0] = 0; }

static void a_holder_keeps_the_former_object(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    const invivo_injection properties[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    describe();
    ADD("a.shared", SINGLETON, .type = shared_type, INITIALIZER(arguments));
    ADD("a.confined", SINGLETON, .type = confined_type, PROPERTIES(properties));
    ADD("a.over", SINGLETON, .type = shared_type, .initializer = (invivo_injection[]){KEY("input", "a.shared")}, .initializer_count = 1);
    commit();
    invivo_object shared = once("a.shared"), confined = once("a.confined"), over = once("a.over"), former = once("a.part");
    int64_t number = at(former)->number;
    observe();
    forget();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK_TEXT(trace, "init:part start:part "); /* nothing is injected, stopped or ended */
    CHECK_TEXT(last, "'a.shared' keeps the former 'a.part' until it is rebuilt (on_change: keep)|"
                     "'a.confined' keeps the former 'a.part' until it is rebuilt (on_change: keep)|a.shareda.confined");
    CHECK_EQUAL(once("a.shared").bits, shared.bits);
    CHECK_EQUAL(once("a.confined").bits, confined.bits);
    CHECK_EQUAL(once("a.over").bits, over.bits);
    CHECK(once("a.part").bits != former.bits);
    CHECK_EQUAL(at(shared)->input.bits, former.bits);
    CHECK_EQUAL(at(at(shared)->input)->number, number);
    CHECK_EQUAL(kept_since("a.shared", "a.part"), generation());
    CHECK_EQUAL(kept_since("a.over", "a.shared"), 0);
    uint64_t since = generation();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK_EQUAL(kept_since("a.shared", "a.part"), since); /* of the first change that it does not have */
    CHECK_EQUAL(at(shared)->input.bits, former.bits);

    /* It catches up when it is rebuilt. */
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.shared", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type,
                                    INITIALIZER(arguments), .rank = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK(once("a.shared").bits != shared.bits);
    CHECK_EQUAL(at(once("a.shared"))->input.bits, once("a.part").bits);
    CHECK_EQUAL(kept_since("a.shared", "a.part"), 0);
    CHECK_EQUAL(kept_since("a.confined", "a.part"), since);
    forget();
    describe();
    OK(invivo_changes_reset(changes, "a.confined", 0, E));
    commit();
    CHECK_EQUAL(at(once("a.confined"))->left.bits, once("a.part").bits);
    CHECK_EQUAL(kept_since("a.confined", "a.part"), 0);
    CHECK(strstr(trace, "stop:part ") != NULL); /* the last lease on the former part */
    end();
}

static void a_definition_declares_it_for_all(void) {
    begin();
    replace("a.one", INVIVO_SCOPE_SINGLETON);
    replace("a.two", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {KEY("input", "a.one")};
    const invivo_injection properties[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_REBUILD, .reference = "a.two"}};
    describe();
    ADD("a.holder", SINGLETON, .type = confined_type, INITIALIZER(arguments), PROPERTIES(properties), .on_change = INVIVO_ON_CHANGE_KEEP);
    ADD("a.child", SINGLETON, .parent = "a.holder");
    commit();
    invivo_object holder = once("a.holder"), child = once("a.child"), one = once("a.one");
    replace("a.one", INVIVO_SCOPE_SINGLETON);
    CHECK_EQUAL(once("a.holder").bits, holder.bits);
    CHECK_EQUAL(once("a.child").bits, child.bits); /* inherited */
    CHECK_EQUAL(at(holder)->input.bits, one.bits);
    CHECK(kept_since("a.child", "a.one") > 0);
    replace("a.two", INVIVO_SCOPE_SINGLETON); /* this injection declares another one */
    CHECK(once("a.holder").bits != holder.bits);
    CHECK_EQUAL(at(once("a.holder"))->left.bits, once("a.two").bits);
    CHECK_EQUAL(at(once("a.holder"))->input.bits, once("a.one").bits);
    CHECK_EQUAL(kept_since("a.holder", "a.one"), 0);
    end();
}

static void a_property_is_rebuilt_on_request(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection properties[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_REBUILD, .reference = "a.part"}};
    describe();
    ADD("a.holder", SINGLETON, .type = confined_type, PROPERTIES(properties));
    commit();
    invivo_object holder = once("a.holder");
    forget();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(once("a.holder").bits != holder.bits);
    CHECK(strstr(trace, "init:holder ") != NULL);
    /* Objects in a cycle of properties are no cycle of initializers. */
    describe();
    const invivo_injection other[] = {{.name = "right", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_REBUILD, .reference = "a.holder"}};
    ADD("a.part", SINGLETON, .type = confined_type, PROPERTIES(other));
    commit();
    CHECK_EQUAL(at(once("a.part"))->right.bits, once("a.holder").bits);
    end();
}

static void a_change_is_refused_with_a_reason(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    replace("a.other", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_REFUSE, .reference = "a.part"}};
    describe();
    ADD("a.recorder", LAZY_SINGLETON, .type = shared_type, INITIALIZER(arguments), .on_change_reason = "a recording is under way",
        .file = "studio.c", .line = 7);
    ADD("a.all", SINGLETON, .type = shared_type, .initializer = (invivo_injection[]){KEY("input", "a.other")}, .initializer_count = 1,
        .on_change = INVIVO_ON_CHANGE_REFUSE);
    commit();
    replace("a.part", INVIVO_SCOPE_SINGLETON); /* the recorder is not built */
    invivo_object recorder = once("a.recorder"), part_before = once("a.part");
    uint64_t before = generation();
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.part", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type, .rank = 3};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_REFUSED,
                  "studio.c:7: a.recorder: 'a.recorder' refuses a change of 'a.part': a recording is under way; define 'a.recorder' again in the same "
                  "change set, or remove the declaration (on_change)");
    definition.key = "a.other";
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_REFUSED,
                  "a.all: 'a.all' refuses a change of 'a.other'; define 'a.all' again in the same change set, or remove the declaration (on_change)");
    describe();
    OK(invivo_changes_define(changes, &definition, NULL, E));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_REFUSED, NULL);
    OK(invivo_changes_reset(changes, "a.part", 0, E));
    invivo_changes_discard(changes);
    CHECK_EQUAL(generation(), before);
    const invivo_injection free_one[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_REFUSE, .reference = "a.part"}};
    invivo_definition prototype = {.struct_size = sizeof prototype, .key = "a.free", .scope = INVIVO_SCOPE_PROTOTYPE, .type = shared_type, INITIALIZER(free_one)};
    expects_error(invivo_define(runtime, &prototype, NULL, E), INVIVO_E_ARGUMENT,
                  "a.free: on_change: refuse is for shared and tracked definitions: the objects of scope prototype are not known");
    CHECK_EQUAL(once("a.part").bits, part_before.bits);
    CHECK_EQUAL(once("a.recorder").bits, recorder.bits);

    /* A set that changes the holder, too. */
    describe();
    definition.key = "a.part";
    OK(invivo_changes_define(changes, &definition, NULL, E));
    ADD("a.recorder", LAZY_SINGLETON, .type = shared_type, INITIALIZER(arguments), .rank = 2);
    commit();
    CHECK_EQUAL(at(once("a.recorder"))->input.bits, once("a.part").bits);
    end();
}

static void an_exclusive_dependency_is_not_kept(void) {
    begin();
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.alias"}};
    describe();
    ADD("a.port", SINGLETON, .type = shared_type, .flags = INVIVO_DEFINITION_EXCLUSIVE);
    ADD("a.alias", DEFAULT, .alias = "a.port");
    ADD("a.holder", SINGLETON, .type = shared_type, INITIALIZER(arguments));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_ARGUMENT,
                  "a.holder: 'a.holder' would keep the former 'a.port' of 'a.alias' after a change (on_change: keep), but that one is exclusive: a "
                  "reload stops it before it creates the new one; declare another on_change for its injection");
    invivo_changes_discard(changes);
    /* Behind a choice, or held by a prototype. */
    describe();
    ADD("a.port", SINGLETON, .type = shared_type, .flags = INVIVO_DEFINITION_EXCLUSIVE);
    ADD("a.alias", PROTOTYPE, .type = shared_type, .initializer = (invivo_injection[]){KEY("input", "a.port")}, .initializer_count = 1);
    ADD("a.holder", SINGLETON, .type = shared_type, INITIALIZER(arguments));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_ARGUMENT,
                  "a.holder: 'a.holder' would keep the former 'a.port' of 'a.alias' after a change (on_change: keep), but that one is "
                  "exclusive: a reload stops it before it creates the new one; declare another on_change for its injection");
    invivo_changes_discard(changes);
    /* It becomes exclusive later. */
    describe();
    ADD("a.port", SINGLETON, .type = shared_type);
    ADD("a.alias", DEFAULT, .alias = "a.port");
    ADD("a.holder", SINGLETON, .type = shared_type, INITIALIZER(arguments));
    commit();
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.port", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type,
                                    .flags = INVIVO_DEFINITION_EXCLUSIVE};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

static invivo_status resolve_part(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                  invivo_error **error) {
    invivo_object object;
    invivo_status status = invivo_resolve_name(runtime, "a.part", &object, error);
    if (status) return status;
    status = part_init(*instance, build, arguments, count, user_data, error);
    ((part *)*instance)->input = object;
    invivo_object_release(object); /* the runtime leases what is kept */
    return status;
}

/* Its objects may keep anything: the runtime does not know. */
static void objects_that_a_factory_resolves_are_followed(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    describe();
    ADD("a.holder", SINGLETON, .type = shared_type, .factory = resolve_part, .on_change = INVIVO_ON_CHANGE_KEEP);
    commit();
    invivo_object holder = once("a.holder");
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(once("a.holder").bits != holder.bits);
    CHECK_EQUAL(at(once("a.holder"))->input.bits, once("a.part").bits);
    CHECK_EQUAL(kept_since("a.holder", "a.part"), 0);
    end();
}

static void configuration_values_are_kept(void) {
    begin();
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config: {a: {left: 1}}", 22, E));
    const invivo_injection properties[] = {
        {.name = "number", .how = INVIVO_INJECT_CONFIG, .flags = INVIVO_INJECT_KEEP, .reference = "left"}};
    ADD("a.holder", SINGLETON, .type = confined_type, PROPERTIES(properties));
    commit();
    invivo_object holder = once("a.holder");
    CHECK_EQUAL(at(holder)->number, 1);
    observe();
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config: {a: {left: 5}}", 22, E));
    commit();
    CHECK_EQUAL(once("a.holder").bits, holder.bits);
    CHECK_EQUAL(at(holder)->number, 1);
    CHECK(kept_since("a.holder", "a.left") > 0);
    CHECK_TEXT(last, "'a.holder' keeps the former value of 'a.left' until it is rebuilt (on_change: keep)|a.holder");
    /* The value that it has is the current one again. */
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config: {a: {left: 1}}", 22, E));
    commit();
    CHECK_TEXT(last, "");
    CHECK_EQUAL(kept_since("a.holder", "a.left"), 0);
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config: {a: {left: 5}}", 22, E));
    commit();
    CHECK(kept_since("a.holder", "a.left") > 0);
    describe();
    OK(invivo_changes_reset(changes, "a.holder", 0, E));
    commit();
    CHECK_EQUAL(at(once("a.holder"))->number, 5);
    end();
}

static void a_refused_value_is_named_with_its_location(void) {
    begin();
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config: {a: {left: 1}}", 22, E));
    const invivo_injection properties[] = {
        {.name = "number", .how = INVIVO_INJECT_CONFIG, .flags = INVIVO_INJECT_REFUSE, .reference = "left"}};
    ADD("a.holder", SINGLETON, .type = confined_type, PROPERTIES(properties), .on_change_reason = "a show is running", .file = "show.c",
        .line = 12);
    commit();
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config: {a: {left: 5}}", 22, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED,
                  "a.yaml:1:20: config.a.left: 'a.holder' (show.c:12) refuses a change of this value: a show is running; restore the "
                  "former value, or remove the declaration (on_change)");
    end();
}

/* A lookup by type that finds another definition, and a removed dependency. */
static void bindings_are_kept(void) {
    begin();
    replace("a.first", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {
        {.name = "input", .how = INVIVO_INJECT_TYPE, .flags = INVIVO_INJECT_KEEP | INVIVO_INJECT_OPTIONAL, .reference = "Part"}};
    describe();
    ADD("a.holder", SINGLETON, .type = confined_type, INITIALIZER(arguments), .properties = (invivo_injection[]){{
        .name = "left", .how = INVIVO_INJECT_TYPE, .flags = INVIVO_INJECT_KEEP | INVIVO_INJECT_OPTIONAL, .reference = "Part"}}, .property_count = 1);
    commit();
    invivo_object holder = once("a.holder"), first = once("a.first");
    CHECK_EQUAL(at(holder)->input.bits, first.bits);
    describe();
    OK(invivo_changes_remove(changes, "a.first", E));
    ADD("a.second", SINGLETON, .type = shared_type);
    commit();
    CHECK_EQUAL(once("a.holder").bits, holder.bits);
    CHECK_EQUAL(at(holder)->input.bits, first.bits);
    CHECK_EQUAL(at(holder)->left.bits, first.bits);
    CHECK_TEXT(at(first)->name, "first");
    describe();
    OK(invivo_changes_reset(changes, "a.holder", 0, E));
    commit();
    CHECK_EQUAL(at(once("a.holder"))->input.bits, once("a.second").bits);
    CHECK_EQUAL(at(once("a.holder"))->left.bits, once("a.second").bits);
    end();
}

/* A lookup that finds a better candidate, and an optional key that is defined later. */
static void rebindings_are_kept_or_refused(void) {
    static const uint32_t flags[] = {INVIVO_INJECT_KEEP, INVIVO_INJECT_REFUSE};
    for (int which = 0; which < 2; which++) {
        begin();
        replace("a.first", INVIVO_SCOPE_SINGLETON);
        const invivo_injection greedy[] = {{.name = "input", .how = INVIVO_INJECT_TYPE, .flags = flags[which] | INVIVO_INJECT_GREEDY, .reference = "Part"}};
        const invivo_injection optional[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = flags[which] | INVIVO_INJECT_OPTIONAL, .reference = "a.late"}};
        describe();
        ADD("a.greedy", SINGLETON, .type = confined_type, INITIALIZER(greedy));
        ADD("a.optional", SINGLETON, .type = confined_type, INITIALIZER(optional));
        ADD("a.each", PROTOTYPE, .type = shared_type, .initializer = (invivo_injection[]){{.name = "input", .how = INVIVO_INJECT_TYPE,
            .flags = INVIVO_INJECT_KEEP | INVIVO_INJECT_GREEDY, .reference = "Part"}}, .initializer_count = 1,
            .flags = INVIVO_DEFINITION_HIDDEN_CLASS);
        commit();
        observe();
        const uint64_t *version = invivo_key_version(key_of("a.each"));
        invivo_object kept = once("a.greedy"), empty = once("a.optional"), first = once("a.first");
        uint64_t before = invivo_version_read(version);
        invivo_definition better = {.struct_size = sizeof better, .key = "a.better", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type, .rank = 5};
        invivo_definition late = {.struct_size = sizeof late, .key = "a.late", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type, .rank = -5};
        if (flags[which] == INVIVO_INJECT_REFUSE) {
            expects_error(invivo_define(runtime, &better, NULL, E), INVIVO_E_REFUSED, NULL);
            expects_error(invivo_define(runtime, &late, NULL, E), INVIVO_E_REFUSED, NULL);
        } else {
            OK(invivo_define(runtime, &better, NULL, E));
            CHECK(strstr(last, "'a.greedy' keeps the former 'a.first'") != NULL);
            CHECK(kept_since("a.greedy", "a.first") > 0);
            CHECK(invivo_version_read(version) != before);
            OK(invivo_define(runtime, &late, NULL, E));
            CHECK(strstr(last, "'a.optional' keeps the former 'a.late'") != NULL);
        }
        CHECK_EQUAL(once("a.greedy").bits, kept.bits);
        CHECK_EQUAL(at(kept)->input.bits, first.bits);
        CHECK_EQUAL(once("a.optional").bits, empty.bits);
        CHECK_EQUAL(at(empty)->input.bits, 0);
        end();
    }
}

static invivo_status take(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)result, (void)count;
    part *self = (part *)instance;
    if (arguments[0].kind == INVIVO_KIND_OBJECT) self->left = arguments[0].as.object;
    return say((const char *)user_data, self->name, error);
}
static const invivo_parameter one_object[] = {{.name = "object", .kind = INVIVO_KIND_OBJECT}};
static const invivo_parameter two_objects[] = {{.name = "object", .kind = INVIVO_KIND_OBJECT}, {.name = "other", .kind = INVIVO_KIND_OBJECT}};
static const invivo_method taking_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "plug", .parameters = one_object, .parameter_count = 1, .call = take, .user_data = (void *)"plug"},
    {.struct_size = sizeof(invivo_method), .name = "unplug", .parameters = one_object, .parameter_count = 1, .call = take, .user_data = (void *)"unplug"},
    {.struct_size = sizeof(invivo_method), .name = "take", .parameters = two_objects, .parameter_count = 2, .call = take, .user_data = (void *)"take"},
};
static invivo_status set_list(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)value;
    return say("list", ((part *)instance)->name, error);
}
static invivo_status get_list(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    const invivo_value none = invivo_list(NULL, 0);
    (void)instance, (void)user_data;
    return invivo_value_copy(out, &none, error);
}
static const invivo_property taking_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "all", .kind = INVIVO_KIND_LIST, .get = get_list, .set = set_list},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(part, right)},
};
static invivo_type taking_type(void) {
    invivo_type_options options = part_options("Taking");
    options.concurrency = INVIVO_CONFINED, options.methods = taking_methods, options.method_count = 3;
    options.properties = taking_properties, options.property_count = 2, options.supertype_count = 0;
    return register_type(options);
}

static void candidates_are_always_received(void) {
    begin();
    replace("a.first", INVIVO_SCOPE_SINGLETON);
    describe();
    ADD("a.rack", SINGLETON, .type = taking_type(), .on_change = INVIVO_ON_CHANGE_KEEP, .properties = (invivo_injection[]){{
        .name = "all", .how = INVIVO_INJECT_ALL, .reference = "Part", .added = "plug", .removed = "unplug"}}, .property_count = 1);
    commit();
    once("a.rack");
    forget();
    replace("a.second", INVIVO_SCOPE_SINGLETON);
    CHECK(strstr(trace, "plug:rack ") != NULL);
    end();
}

static void an_alias_or_choice_declares_nothing(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    invivo_definition alias = {.struct_size = sizeof alias, .key = "a.alias", .alias = "a.part", .on_change = INVIVO_ON_CHANGE_KEEP};
    expects_error(invivo_define(runtime, &alias, NULL, E), INVIVO_E_ARGUMENT,
                  "a.alias: on_change is declared, but an alias creates no object: declare it for the definition that receives 'a.alias', or "
                  "for its injection");
    const invivo_injection chooser = {.how = INVIVO_INJECT_CONFIG, .flags = INVIVO_INJECT_OPTIONAL, .reference = "which"};
    const invivo_option options[] = {{.when = INVIVO_WHEN_OTHERWISE, .use = KEY(NULL, "a.part")}};
    invivo_definition choice = {.struct_size = sizeof choice, .key = "a.choice", .chooser = &chooser, .options = options, .option_count = 1,
                                .on_change = INVIVO_ON_CHANGE_REFUSE};
    expects_error(invivo_define(runtime, &choice, NULL, E), INVIVO_E_ARGUMENT, NULL);
    const invivo_injection refusing = {.how = INVIVO_INJECT_CONFIG, .flags = INVIVO_INJECT_OPTIONAL | INVIVO_INJECT_REFUSE, .reference = "which"};
    choice.chooser = &refusing, choice.on_change = INVIVO_ON_CHANGE_DEFAULT;
    expects_error(invivo_define(runtime, &choice, NULL, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

static void marks_are_those_of_each_object(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    replace("a.other", INVIVO_SCOPE_SINGLETON);
    const invivo_injection both[] = {{.how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}, KEY(NULL, "a.other")};
    const invivo_invocation methods[] = {{.method = "take", .arguments = both, .argument_count = 2}};
    const invivo_injection properties[] = {{.name = "right", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    invivo_type taking = taking_type();
    describe();
    ADD("a.tracked", PROTOTYPE, .type = taking, .flags = INVIVO_DEFINITION_TRACKED, PROPERTIES(properties));
    ADD("a.caller", SINGLETON, .type = taking, .methods = methods, .method_count = 1);
    ADD("a.double", SINGLETON, .type = taking, INITIALIZER(arguments), .methods = methods, .method_count = 1);
    commit();
    invivo_object first = resolve("a.tracked");
    once("a.caller"), once("a.double");
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(kept_since("a.tracked", "a.part") > 0 && kept_since("a.caller", "a.part") > 0);
    replace("a.other", INVIVO_SCOPE_SINGLETON); /* the method is called again, with the current part */
    CHECK_EQUAL(at(once("a.caller"))->left.bits, once("a.part").bits);
    CHECK_EQUAL(kept_since("a.caller", "a.part"), 0);
    CHECK(kept_since("a.double", "a.part") > 0); /* its initializer received the former one */
    invivo_object second = resolve("a.tracked");
    drop(first);
    CHECK_EQUAL(kept_since("a.tracked", "a.part"), 0);
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(kept_since("a.tracked", "a.part") > 0);
    describe();
    ADD("a.tracked", PROTOTYPE, .type = taking, .flags = INVIVO_DEFINITION_TRACKED, PROPERTIES(properties), .rank = 1);
    commit(); /* everything is injected again */
    CHECK_EQUAL(at(second)->right.bits, once("a.part").bits);
    CHECK_EQUAL(kept_since("a.tracked", "a.part"), 0);
    drop(second);
    end();
}

static invivo_status set_up(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    invivo_object child;
    invivo_status status = invivo_child(runtime, key_of("a.kid"), NULL, 0, &child, error);
    return status ? status : say("setup", ((part *)instance)->name, error);
}
static void a_tracked_child_keeps_its_initializer(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    replace("a.other", INVIVO_SCOPE_SINGLETON);
    invivo_type_options options = part_options("Owner");
    options.setup = set_up, options.concurrency = INVIVO_CONFINED;
    invivo_type owner = register_type(options);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    const invivo_injection properties[] = {KEY("left", "a.other")};
    const invivo_injection rebuilt[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_REBUILD, .reference = "a.other"}};
    describe();
    ADD("a.kid", PROTOTYPE, .type = confined_type, .flags = INVIVO_DEFINITION_TRACKED, INITIALIZER(arguments), PROPERTIES(properties));
    commit();
    describe();
    ADD("a.owner", SINGLETON, .type = owner);
    commit();
    once("a.owner");
    forget();
    describe();
    ADD("a.part", SINGLETON, .type = shared_type, .rank = 1);
    ADD("a.other", SINGLETON, .type = shared_type, .rank = 1);
    commit();
    CHECK(strstr(trace, "left:kid ") != NULL && !strstr(trace, "setup:owner"));
    describe();
    ADD("a.kid", PROTOTYPE, .type = confined_type, .flags = INVIVO_DEFINITION_TRACKED, INITIALIZER(arguments), PROPERTIES(rebuilt));
    commit();
    forget();
    replace("a.other", INVIVO_SCOPE_SINGLETON);
    CHECK(strstr(trace, "init:kid ") != NULL && strstr(trace, "setup:owner ") != NULL);
    end();
}

/* A property that follows is injected again; beside it, a kept one stays. */
static void kept_and_followed_injections_mix(void) {
    begin();
    replace("a.kept", INVIVO_SCOPE_SINGLETON);
    replace("a.followed", INVIVO_SCOPE_SINGLETON);
    const invivo_injection properties[] = {
        {.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.kept"}, KEY("right", "a.followed")};
    describe();
    ADD("a.holder", SINGLETON, .type = confined_type, PROPERTIES(properties));
    commit();
    invivo_object holder = once("a.holder"), kept = once("a.kept");
    describe();
    ADD("a.kept", SINGLETON, .type = shared_type, .rank = 1);
    ADD("a.followed", SINGLETON, .type = shared_type, .rank = 1);
    commit();
    CHECK_EQUAL(once("a.holder").bits, holder.bits);
    CHECK_EQUAL(at(holder)->left.bits, kept.bits);
    CHECK_EQUAL(at(holder)->right.bits, once("a.followed").bits);
    CHECK(kept_since("a.holder", "a.kept") > 0);
    replace("a.followed", INVIVO_SCOPE_SINGLETON);
    CHECK_EQUAL(at(holder)->left.bits, kept.bits);
    CHECK_EQUAL(at(holder)->right.bits, once("a.followed").bits);
    CHECK(kept_since("a.holder", "a.kept") > 0);
    end();
}

/* Prototypes are not followed; new ones have the new dependency, also from caches. */
static void a_prototype_does_not_pass_a_change_on(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    const invivo_injection over[] = {KEY("input", "a.each")};
    describe();
    ADD("a.each", PROTOTYPE, .type = shared_type, INITIALIZER(arguments));
    ADD("a.holder", SINGLETON, .type = shared_type, INITIALIZER(over));
    ADD("a.tracked", PROTOTYPE, .type = confined_type, .flags = INVIVO_DEFINITION_TRACKED, .properties = (invivo_injection[]){{
        .name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}, KEY("right", "a.holder")},
        .property_count = 2);
    commit();
    invivo_object holder = once("a.holder"), former = once("a.part"), tracked = resolve("a.tracked");
    const uint64_t *version = invivo_key_version(key_of("a.each"));
    uint64_t before = invivo_version_read(version);
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK_EQUAL(once("a.holder").bits, holder.bits);
    CHECK_EQUAL(at(at(holder)->input)->input.bits, former.bits);
    CHECK(invivo_version_read(version) != before);
    invivo_object fresh = resolve("a.each");
    CHECK_EQUAL(at(fresh)->input.bits, once("a.part").bits);
    CHECK_EQUAL(at(tracked)->left.bits, former.bits);
    CHECK(kept_since("a.tracked", "a.part") > 0);
    CHECK_EQUAL(kept_since("a.each", "a.part"), 0); /* its objects are not known */
    drop(fresh);
    drop(tracked);
    end();
}

/* A weak singleton that ended and was created again keeps nothing. */
static void a_new_object_keeps_nothing(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    describe();
    ADD("a.weak", WEAK_SINGLETON, .type = shared_type, INITIALIZER(arguments));
    commit();
    invivo_object weak = resolve("a.weak");
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(kept_since("a.weak", "a.part") > 0);
    drop(weak);
    CHECK_EQUAL(kept_since("a.weak", "a.part"), 0);
    weak = resolve("a.weak");
    CHECK_EQUAL(kept_since("a.weak", "a.part"), 0);
    CHECK_EQUAL(at(weak)->input.bits, once("a.part").bits);
    drop(weak);
    end();
}

/* Defines the key again, with another rank. */
static invivo_status raise_rank(const invivo_definition *described, invivo_changes open, void *user_data, invivo_error **error) {
    invivo_definition copy = *described;
    (void)user_data;
    copy.rank = 7;
    return invivo_changes_define(open, &copy, NULL, error);
}

/* An injection, a child and a new definition declare something else; a processor passes declarations on. */
static void declarations_replace_each_other(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection plain[] = {KEY("input", "a.part")};
    const invivo_injection follows[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_FOLLOW, .reference = "a.part"}};
    const invivo_injection keeps[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    describe();
    PROCESS("ranks", .key = "a.processed", .process = raise_rank);
    ADD("a.processed", SINGLETON, .type = shared_type, INITIALIZER(keeps), .on_change = INVIVO_ON_CHANGE_REBUILD);
    ADD("a.keeps", SINGLETON, .type = shared_type, INITIALIZER(plain), .on_change = INVIVO_ON_CHANGE_KEEP);
    ADD("a.follows", SINGLETON, .type = shared_type, INITIALIZER(follows), .on_change = INVIVO_ON_CHANGE_KEEP);
    ADD("a.child", SINGLETON, .parent = "a.keeps", .on_change = INVIVO_ON_CHANGE_FOLLOW);
    ADD("a.later", SINGLETON, .type = shared_type, INITIALIZER(plain));
    commit();
    invivo_definition later = {.struct_size = sizeof later, .key = "a.later", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type,
                               INITIALIZER(plain), .on_change = INVIVO_ON_CHANGE_KEEP};
    OK(invivo_define(runtime, &later, NULL, E)); /* differs in this alone */
    const char *keys[] = {"a.processed", "a.keeps", "a.later", "a.follows", "a.child"};
    invivo_object former[5];
    for (int i = 0; i < 5; i++) former[i] = once(keys[i]);
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    for (int i = 0; i < 5; i++) CHECK_EQUAL(once(keys[i]).bits == former[i].bits, i < 3);
    end();
}

static void a_failed_reload_leaves_no_mark(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    describe();
    ADD("a.holder", SINGLETON, .type = shared_type, INITIALIZER(arguments));
    commit();
    once("a.holder");
    fail_at = "start:part";
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.part", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type, .rank = 3};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(kept_since("a.holder", "a.part"), 0);
    CHECK_EQUAL(at(once("a.holder"))->input.bits, once("a.part").bits);
    end();
}

static void bad_input_is_refused(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP | INVIVO_INJECT_REBUILD, .reference = "a.part"}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.x", .scope = INVIVO_SCOPE_SINGLETON, .type = shared_type, INITIALIZER(arguments)};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_ARGUMENT,
                  "a.x: initializer[0].flags: an injection has one of KEEP, REBUILD, REFUSE and FOLLOW");
    const invivo_injection item = {.how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"};
    arguments[0] = (invivo_injection){.name = "input", .how = INVIVO_INJECT_LIST, .items = &item, .item_count = 1};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_ARGUMENT,
                  "a.x: initializer[0].items[0].flags: KEEP, REBUILD, REFUSE and FOLLOW are for an injection as a whole, not for an item of it");
    definition.initializer_count = 0, definition.on_change = 5;
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_ARGUMENT,
                  "a.x: definition.on_change is 5, which is not one of INVIVO_ON_CHANGE_...");
    end();
}

int main(void) {
    check_begin();
    a_holder_keeps_the_former_object();
    a_definition_declares_it_for_all();
    a_property_is_rebuilt_on_request();
    a_change_is_refused_with_a_reason();
    an_exclusive_dependency_is_not_kept();
    objects_that_a_factory_resolves_are_followed();
    rebindings_are_kept_or_refused();
    candidates_are_always_received();
    an_alias_or_choice_declares_nothing();
    marks_are_those_of_each_object();
    a_tracked_child_keeps_its_initializer();
    configuration_values_are_kept();
    a_refused_value_is_named_with_its_location();
    bindings_are_kept();
    kept_and_followed_injections_mix();
    a_prototype_does_not_pass_a_change_on();
    a_new_object_keeps_nothing();
    declarations_replace_each_other();
    a_failed_reload_leaves_no_mark();
    bad_input_is_refused();
    return check_end();
}
