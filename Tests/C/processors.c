/* Processors: definitions changed before they are compiled, objects replaced at their creation. */
#include "parts.h"

static invivo_type part_type, shell_type;
static int destroyed;

static void begin(void) {
    begin_with(0);
    destroyed = 0;
    invivo_type_options options = part_options("Part");
    options.did_inject = part_did;
    part_type = register_type(options);
    options = part_options("Shell");
    shell_type = register_type(options);
}
static void destroy(void *unused) {
    (void)unused;
    destroyed++;
}

/* Wraps the object in a shell with the number of the user data. */
static invivo_status wrap(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    invivo_value arguments[] = {invivo_object_value(object), {.kind = INVIVO_KIND_INT64, .as.signed_integer = (int64_t)(intptr_t)user_data}};
    char name[40];
    snprintf(name, sizeof name, "%d:%s", (int)(intptr_t)user_data, invivo_key_name(build->key));
    say("wrap", name, NULL);
    return invivo_object_make(build->runtime, shell_type, arguments, 2, out, error);
}
static invivo_status look(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)object, (void)out, (void)user_data;
    return say("look", invivo_key_name(build->key), error);
}

static void a_decorator_replaces_the_object(void) {
    static const invivo_injection left[] = {KEY("left", "a.one")};
    begin();
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    ADD("a.user", PROTOTYPE, .type = part_type, PROPERTIES(left));
    ADD("a.other", PROTOTYPE, .type = part_type);
    PROCESS("shells", .key = "a.one", .decorate = wrap, .user_data = (void *)7, .destroy = destroy);
    commit();
    invivo_object one = resolve("a.one"), user = resolve("a.user"), other = resolve("a.other");
    CHECK_EQUAL(at(one)->number, 7);
    CHECK_TEXT(name_of(at(one)->input), "one");
    CHECK(at(user)->left.bits == one.bits);
    CHECK_TEXT(name_of(other), "other");
    drop(one), drop(user), drop(other);
    /* The replacement holds the wrapped object, and nothing else does: both end. */
    trace[0] = 0;
    describe();
    OK(invivo_changes_unprocess(changes, "shells", E));
    commit();
    CHECK_TEXT(trace, "init:one did:one end:made end:one ");
    CHECK_EQUAL(destroyed, 1);
    one = resolve("a.one");
    CHECK_TEXT(name_of(one), "one");
    drop(one);
    end();
}

static void decorators_come_in_the_order_of_their_priority(void) {
    begin();
    describe();
    ADD("a.one", PROTOTYPE, .type = part_type);
    PROCESS("last", .decorate = wrap, .user_data = (void *)3, .priority = 5);
    PROCESS("first", .type = "Part", .decorate = look, .priority = -5);
    PROCESS("third", .type = "Thing", .decorate = wrap, .user_data = (void *)2, .key = "a.one");
    PROCESS("second", .decorate = wrap, .user_data = (void *)1);
    commit();
    invivo_object one = resolve("a.one");
    /* Equal priorities in order of registration. */
    CHECK_TEXT(trace, "init:one look:a.one wrap:2:a.one init:made wrap:1:a.one init:made wrap:3:a.one init:made did:one ");
    CHECK_EQUAL(at(one)->number, 3);
    CHECK_EQUAL(at(at(one)->input)->number, 1);
    CHECK_TEXT(name_of(at(at(at(one)->input)->input)->input), "one");
    drop(one);
    end();
}

/* a.first <-> a.second by properties; a.first is decorated. */
static void a_reference_back_is_set_when_the_object_is_decorated(void) {
    static const invivo_injection first[] = {KEY("left", "a.second")}, second[] = {KEY("left", "a.first")};
    static const uint32_t scopes[] = {INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON,
                                      INVIVO_SCOPE_SINGLETON};
    for (size_t i = 0; i < COUNT(scopes); i++) {
        begin();
        describe();
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.first", .scope = scopes[i], .type = part_type, PROPERTIES(first)}, NULL, E));
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.second", .scope = scopes[i], .type = part_type, PROPERTIES(second)}, NULL, E));
        PROCESS("shells", .key = "a.first", .decorate = wrap);
        commit();
        invivo_object outer = resolve("a.first");
        part *bare = at(at(outer)->input);
        CHECK_TEXT(bare->name, "first");
        CHECK(at(bare->left)->left.bits == outer.bits);
        drop(outer);
        end();
    }
}

static void an_object_may_refer_to_its_own_decorated_self(void) {
    static const invivo_injection own[] = {KEY("left", "a.one")};
    begin();
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = part_type, PROPERTIES(own));
    PROCESS("shells", .key = "a.one", .decorate = wrap);
    commit();
    invivo_object outer = resolve("a.one");
    CHECK(at(at(outer)->input)->left.bits == outer.bits);
    drop(outer);
    end();
}

static void an_initializer_that_takes_the_bare_object_is_an_error_that_names_both(void) {
    static const invivo_injection first[] = {KEY("left", "a.second")}, second[] = {KEY("input", "a.first")};
    begin();
    describe();
    ADD("a.first", LAZY_SINGLETON, .type = part_type, PROPERTIES(first));
    ADD("a.second", LAZY_SINGLETON, .type = part_type, INITIALIZER(second), .file = "parts.c", .line = 4);
    PROCESS("shells", .key = "a.first", .decorate = wrap);
    commit();
    invivo_object object;
    expects_error(invivo_resolve_name(runtime, "a.first", &object, E), INVIVO_E_CYCLE,
                  "parts.c:4: a.second: 'a.second' takes 'a.first', which is under construction and not yet decorated by 'shells': "
                  "a.first -> a.second -> a.first; let 'a.second' take it as a property, or by a provider");
    /* From the other end it is complete before the initializer is called. */
    object = resolve("a.second");
    CHECK_TEXT(name_of(at(at(object)->input)->input), "first");
    CHECK(at(at(at(object)->input)->input)->left.bits == object.bits);
    drop(object);
    end();
}

static void a_component_decorates_but_not_its_dependencies(void) {
    static const invivo_parameter takes[] = {{.name = "wrapped", .kind = INVIVO_KIND_OBJECT}};
    static const invivo_injection initializer[] = {ARGUMENT("input", 0)}, left[] = {KEY("left", "a.log")}, log[] = {KEY("left", "a.clock")};
    begin();
    describe();
    ADD("a.clock", LAZY_SINGLETON, .type = part_type);
    ADD("a.log", LAZY_SINGLETON, .type = part_type, PROPERTIES(log));
    ADD("a.logged", PROTOTYPE, .type = part_type, .parameters = takes, .parameter_count = 1, INITIALIZER(initializer), PROPERTIES(left));
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    ADD("a.two", PROTOTYPE, .type = part_type);
    PROCESS("logging", .component = "a.logged"); /* everything */
    commit();
    invivo_object clock = resolve("a.clock"), one = resolve("a.one"), two = resolve("a.two");
    CHECK_TEXT(name_of(clock), "clock");
    CHECK_TEXT(name_of(one), "logged");
    CHECK_TEXT(name_of(at(one)->input), "one");
    CHECK_TEXT(name_of(at(one)->left), "log");
    CHECK_TEXT(name_of(two), "logged");
    drop(one), drop(two), drop(clock);
    /* A change of its dependency rebuilds the decorated objects. */
    invivo_object former = resolve("a.one");
    describe();
    ADD("a.logged", PROTOTYPE, .type = part_type, .parameters = takes, .parameter_count = 1, INITIALIZER(initializer));
    commit();
    one = resolve("a.one");
    CHECK(one.bits != former.bits);
    CHECK_TEXT(name_of(at(one)->left), "-");
    drop(one), drop(former);
    /* The clock is no dependency any more: now it is decorated too. */
    clock = resolve("a.clock");
    CHECK_TEXT(name_of(clock), "logged");
    drop(clock);
    /* A dependency of a processor cannot be removed. */
    describe();
    OK(invivo_changes_remove(changes, "a.logged", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

static invivo_status call_shell(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                                invivo_error **error) {
    invivo_object made;
    (void)instance, (void)user_data, (void)count;
    invivo_status status = invivo_object_make(runtime, shell_type, arguments, 1, &made, error);
    if (status) return status;
    *result = invivo_object_value(made);
    invivo_value copy = *result;
    *result = invivo_null();
    status = invivo_value_copy(result, &copy, error);
    invivo_object_release(made);
    return status;
}

static void a_method_of_a_component_decorates(void) {
    static const invivo_parameter takes[] = {{.name = "wrapped", .kind = INVIVO_KIND_OBJECT}};
    static const invivo_method methods[] = {
        {.struct_size = sizeof(invivo_method), .name = "shell", .parameters = takes, .parameter_count = 1, .result = INVIVO_KIND_ANY, .call = call_shell}};
    begin();
    invivo_type_options options = part_options("Maker");
    options.methods = methods, options.method_count = 1;
    invivo_type maker = register_type(options);
    invivo_status status;
    describe();
    ADD("a.maker", LAZY_SINGLETON, .type = maker);
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    PROCESS("shells", .type = "Part", .component = "a.maker", .method = "shell");
    commit();
    invivo_object one = resolve("a.one");
    CHECK_TEXT(name_of(at(one)->input), "one");
    drop(one);
    describe();
    PROCESS("shells", .type = "Part", .component = "a.maker", .method = "shel");
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_METHOD, NULL);
    describe();
    PROCESS("shells", .type = "Part", .component = "a.makr");
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND,
                  "a.makr: the processor 'shells' needs 'a.makr', which is not defined; did you mean 'a.maker'?");
    /* It is a dependency of the processor, not of the decorated object. */
    describe();
    OK(invivo_changes_remove(changes, "a.maker", E));
    status = invivo_changes_commit(changes, &check_error);
    CHECK_EQUAL(status, INVIVO_E_NOT_FOUND);
    CHECK_TEXT(invivo_error_text(check_error), "a.maker: the processor 'shells' needs 'a.maker', which is not defined");
    CHECK_TEXT(invivo_error_needed_by(check_error), "");
    invivo_error_release(check_error), check_error = NULL;
    describe();
    PROCESS("more", .key = "a.on", .decorate = look);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    describe();
    OK(invivo_changes_unprocess(changes, "shell", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, "shell: no processor has the name 'shell'; did you mean 'shells'?");
    end();
}

static invivo_status answer_stranger(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)object;
    return invivo_object_make(build->runtime, *(invivo_type *)user_data, NULL, 0, out, error);
}

static void a_failing_decorator_fails_the_resolve_and_leaves_nothing(void) {
    begin();
    invivo_type_options options = part_options("Stranger");
    options.supertype_count = 0;
    invivo_type stranger = register_type(options);
    invivo_object object;
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    PROCESS("looks", .decorate = look);
    PROCESS("shells", .decorate = wrap);
    commit();
    fail_at = "look:a.one";
    expects_error(invivo_resolve_name(runtime, "a.one", &object, E), INVIVO_E_HOST, "a.one: on purpose");
    CHECK_EQUAL(live, 0);
    fail_at = "init:made";
    expects_error(invivo_resolve_name(runtime, "a.one", &object, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(live, 0);
    /* An after-all hook fails after the decoration. */
    fail_at = "did:one";
    expects_error(invivo_resolve_name(runtime, "a.one", &object, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(live, 0);
    fail_at = NULL;
    describe();
    PROCESS("strangers", .decorate = answer_stranger, .user_data = &stranger);
    commit();
    expects_error(invivo_resolve_name(runtime, "a.one", &object, E), INVIVO_E_TYPE, NULL);
    CHECK_EQUAL(live, 0);
    end();
}

static void traits_and_reloads_apply_to_the_original_object(void) {
    static const invivo_injection left[] = {KEY("left", "a.other")};
    begin();
    invivo_type_options options = part_options("Own");
    options.concurrency = INVIVO_CONFINED;
    invivo_type own = register_type(options);
    options.name = "OwnShell";
    invivo_type former = shell_type;
    shell_type = register_type(options);
    describe();
    ADD("a.other", LAZY_SINGLETON, .type = part_type);
    ADD("a.one", LAZY_SINGLETON, .type = own, PROPERTIES(left));
    PROCESS("shells", .key = "a.one", .decorate = wrap, .user_data = (void *)9);
    OK(invivo_changes_document(changes, "t.yaml", "traits: { a.one: [ { Set: { number: 5 } } ] }", 45, E));
    commit();
    invivo_object one = resolve("a.one");
    part *bare = at(at(one)->input);
    CHECK_EQUAL(at(one)->number, 9);
    CHECK_EQUAL(bare->number, 5);
    invivo_object other = bare->left;
    describe();
    OK(invivo_changes_document(changes, "t.yaml", "traits: { a.one: [ { Set: { number: 6 } } ] }", 45, E));
    ADD("a.other", LAZY_SINGLETON, .type = part_type);
    commit();
    CHECK_EQUAL(at(one)->number, 9);
    CHECK_EQUAL(bare->number, 6);
    CHECK(bare->left.bits != other.bits);
    drop(one);
    shell_type = former;
    end();
}

/* Returned without its own lease: it is still the same object. */
static invivo_status answer_itself(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    *out = object;
    return INVIVO_OK;
}
static invivo_status answer_leased(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    *out = object;
    return invivo_object_retain(object);
}
static void a_decorator_that_returns_the_object_changes_nothing(void) {
    begin();
    describe();
    PROCESS("itself", .key = "a.one", .decorate = answer_itself);
    PROCESS("leased", .key = "a.one", .decorate = answer_leased);
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    commit();
    invivo_object one;
    OK(invivo_resolve_name(runtime, "a.one", &one, E));
    OK(invivo_object_release(one));
    CHECK_EQUAL(invivo_object_release(one), INVIVO_E_HANDLE); /* the hold of the graph is not a lease */
    end();
}

static void constants_are_not_decorated(void) {
    begin();
    invivo_object made = make(part_type);
    describe();
    ADD("a.one", LAZY_SINGLETON, .constant = made);
    PROCESS("shells", .decorate = wrap);
    commit();
    invivo_object one = resolve("a.one");
    CHECK(one.bits == made.bits);
    drop(one), drop(made);
    end();
}

static void shared_objects_with_arguments_are_decorated_each(void) {
    static const invivo_parameter takes[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    static const invivo_injection initializer[] = {ARGUMENT("number", 0)};
    begin();
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = part_type, .parameters = takes, .parameter_count = 1, INITIALIZER(initializer));
    PROCESS("shells", .decorate = wrap);
    commit();
    invivo_object objects[3];
    for (int i = 0; i < 3; i++) {
        invivo_value argument = {.kind = INVIVO_KIND_INT64, .as.signed_integer = i / 2};
        OK(invivo_resolve_with(runtime, key_of("a.one"), &argument, 1, &objects[i], E));
    }
    CHECK(objects[0].bits == objects[1].bits && objects[0].bits != objects[2].bits);
    CHECK_EQUAL(at(at(objects[2])->input)->number, 1);
    for (int i = 0; i < 3; i++) drop(objects[i]);
    end();
}

static void objects_of_a_build_plan_are_decorated(void) {
    static const invivo_injection input[] = {KEY("input", "a.leaf")};
    begin();
    describe();
    ADD("a.leaf", PROTOTYPE, .type = shell_type);
    ADD("a.root", PROTOTYPE, .type = shell_type, INITIALIZER(input));
    commit();
    for (int i = 0; i < 4; i++) drop(resolve("a.root"));
    describe();
    PROCESS("shells", .key = "a.leaf", .decorate = wrap, .user_data = (void *)4);
    commit();
    for (int i = 0; i < 4; i++) {
        invivo_object root = resolve("a.root");
        CHECK_EQUAL(at(at(root)->input)->number, 4);
        drop(root);
    }
    end();
}

/* ---- definitions ------------------------------------------------------------------------------------- */

static int visits;
static char visited[256];

/* Changes prototypes to graph scope, and injects a left into each; keeps everything else. */
static invivo_status rewrite(const invivo_definition *described, invivo_changes given, void *user_data, invivo_error **error) {
    static const invivo_injection left[] = {KEY("left", "a.lamp")};
    invivo_definition mine = *described;
    (void)user_data;
    visits++;
    strcat(strcat(visited, described->key), " ");
    if (described->property_count || strcmp(described->key, "a.lamp") == 0) return INVIVO_OK;
    mine.properties = left, mine.property_count = 1;
    return invivo_changes_define(given, &mine, NULL, error);
}
static invivo_status share(const invivo_definition *described, invivo_changes given, void *user_data, invivo_error **error) {
    invivo_definition mine = *described;
    (void)user_data;
    if (described->property_count == 0) return INVIVO_OK;
    mine.scope = INVIVO_SCOPE_LAZY_SINGLETON;
    return invivo_changes_define(given, &mine, NULL, error);
}

static invivo_status factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error) {
    CHECK_TEXT((char *)user_data, "data");
    return part_init(*instance, build, arguments, count, user_data, error);
}

static void processors_change_definitions_one_after_the_other(void) {
    parts_without_history = true;
    begin();
    visits = 0, visited[0] = 0;
    describe();
    ADD("a.lamp", LAZY_SINGLETON, .type = part_type);
    ADD("a.one", PROTOTYPE, .type = part_type, .factory = factory, .user_data = "data", .destroy = destroy);
    PROCESS("sharing", .process = share, .type = "Part", .priority = 2);
    PROCESS("lamps", .process = rewrite, .type = "Part", .priority = 1);
    commit();
    CHECK_TEXT(visited, "a.lamp a.one ");
    invivo_object one = resolve("a.one"), again = resolve("a.one");
    CHECK(one.bits == again.bits);
    CHECK_TEXT(name_of(at(one)->left), "lamp");
    drop(one), drop(again);
    /* An unchanged definition is not visited; a redefined one is, with its original description. */
    describe();
    ADD("a.two", PROTOTYPE, .type = part_type);
    commit();
    CHECK_TEXT(visited, "a.lamp a.one a.two ");
    CHECK_EQUAL(destroyed, 0);
    /* Without processors everything is as described, including factory and data. */
    describe();
    OK(invivo_changes_unprocess(changes, "lamps", E));
    OK(invivo_changes_unprocess(changes, "sharing", E));
    commit();
    one = resolve("a.one"), again = resolve("a.one");
    CHECK(one.bits != again.bits);
    CHECK_TEXT(name_of(at(one)->left), "-");
    drop(one), drop(again);
    CHECK_EQUAL(destroyed, 0);
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    CHECK_EQUAL(destroyed, 1);
    end();
}

static void processors_see_parents_and_their_children_follow(void) {
    begin();
    visits = 0, visited[0] = 0;
    describe();
    ADD("a.lamp", LAZY_SINGLETON, .type = part_type);
    ADD("a.parent", PROTOTYPE, .type = part_type, .flags = INVIVO_DEFINITION_ABSTRACT);
    ADD("a.child", DEFAULT, .parent = "a.parent");
    commit();
    describe();
    PROCESS("lamps", .process = rewrite, .key = "a.parent");
    commit();
    CHECK_TEXT(visited, "a.parent ");
    invivo_object child = resolve("a.child");
    CHECK_TEXT(name_of(at(child)->left), "lamp");
    drop(child);
    end();
}

static invivo_status everything(const invivo_definition *described, invivo_changes given, void *user_data, invivo_error **error) {
    invivo_definition mine = *described;
    (void)user_data;
    return invivo_changes_define(given, &mine, NULL, error);
}

static invivo_value text_value(const char *text) {
    return (invivo_value){.kind = INVIVO_KIND_STRING, .as.string = {.data = text, .length = strlen(text)}};
}

static void a_copied_definition_is_equal(void) {
    static const invivo_parameter takes[] = {{.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}};
    static const invivo_injection initializer[] = {KEY("input", "a.leaf"), ARGUMENT("number", 0)}, right[] = {BY_TYPE("right", "Shell")};
    invivo_injection note[] = {{.how = INVIVO_INJECT_VALUE, .value = text_value("hello")}};
    invivo_invocation hello[] = {{.method = "note", .arguments = note, .argument_count = 1}};
    begin();
    describe();
    ADD("a.leaf", LAZY_SINGLETON, .type = shell_type);
    ADD("a.one", PROTOTYPE, .type = part_type, INITIALIZER(initializer), PROPERTIES(right), .parameters = takes, .parameter_count = 1,
        .methods = hello, .method_count = 1, .before = hello, .before_count = 1, .after = hello, .after_count = 1,
        .after_all = hello, .after_all_count = 1);
    PROCESS("same", .process = everything);
    commit();
    invivo_value argument = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 12};
    invivo_object one;
    OK(invivo_resolve_with(runtime, key_of("a.one"), &argument, 1, &one, E));
    CHECK_EQUAL(at(one)->number, 12);
    CHECK_TEXT(name_of(at(one)->input), "leaf");
    CHECK_TEXT(name_of(at(one)->right), "leaf");
    CHECK_TEXT(trace, "init:leaf init:one hello:one right:one hello:one hello:one hello:one did:one ");
    drop(one);
    end();
}

static invivo_status define_another(const invivo_definition *described, invivo_changes given, void *user_data, invivo_error **error) {
    invivo_definition mine = *described;
    (void)user_data;
    mine.key = "a.another";
    return invivo_changes_define(given, &mine, NULL, error);
}
static invivo_status remove_it(const invivo_definition *described, invivo_changes given, void *user_data, invivo_error **error) {
    (void)user_data;
    return invivo_changes_remove(given, described->key, error);
}

static void a_processor_redefines_only_the_visited_key(void) {
    begin();
    describe();
    ADD("a.one", PROTOTYPE, .type = part_type);
    commit();
    describe();
    PROCESS("more", .process = define_another, .destroy = destroy);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARGUMENT, NULL);
    describe();
    PROCESS("less", .process = remove_it, .destroy = destroy);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARGUMENT,
                  "a.one: the processor 'less': a processor that visits 'a.one' can replace its definition, and nothing else");
    CHECK_EQUAL(destroyed, 2);
    drop(resolve("a.one"));
    end();
}

/* Other fields survive a copying processor: host scopes, patterns, choices, inline definitions. */
static void nothing_is_lost_in_a_copy(void) {
    static const char config[] = "config: { a: { voices: { low: 1, high: 2 } } }";
    invivo_definition inner = {.struct_size = sizeof inner};
    invivo_injection left[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .definition = &inner}};
    begin();
    inner.type = shell_type;
    describe();
    OK(invivo_changes_document(changes, "c.yaml", config, strlen(config), E));
    ADD("a.one", THREAD, .type = part_type);
    ADD("a.holder", PROTOTYPE, .type = part_type, PROPERTIES(left));
    ADD("a.voice", LAZY_SINGLETON, .type = part_type, .each = "voices");
    PROCESS("same", .process = everything);
    commit();
    invivo_object one = resolve("a.one"), again = resolve("a.one"), holder = resolve("a.holder"), low = resolve("a.voice[low]");
    CHECK(one.bits == again.bits);
    CHECK_TEXT(name_of(at(holder)->left), "holder.left");
    CHECK_TEXT(name_of(low), "voice[low]");
    drop(one), drop(again), drop(holder), drop(low);
    /* A later processor visits the pattern, and thereby its instances. */
    visits = 0, visited[0] = 0;
    describe();
    ADD("a.lamp", LAZY_SINGLETON, .type = part_type);
    PROCESS("lamps", .process = rewrite, .key = "a.voice");
    commit();
    CHECK_TEXT(visited, "a.voice ");
    low = resolve("a.voice[low]");
    CHECK_TEXT(name_of(at(low)->left), "lamp");
    drop(low);
    end();
}

static void overrides_lie_above_processors(void) {
    begin();
    describe();
    ADD("a.lamp", LAZY_SINGLETON, .type = part_type);
    ADD("a.one", PROTOTYPE, .type = part_type);
    PROCESS("lamps", .process = rewrite, .key = "a.one");
    commit();
    invivo_override override;
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.one", .type = shell_type}, &override, E));
    invivo_object one = resolve("a.one");
    CHECK_TEXT(name_of(at(one)->left), "-");
    drop(one);
    OK(invivo_override_end(override, E));
    one = resolve("a.one");
    CHECK_TEXT(name_of(at(one)->left), "lamp");
    drop(one);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_decorator_replaces_the_object);
    RUN_TEST(decorators_come_in_the_order_of_their_priority);
    RUN_TEST(a_reference_back_is_set_when_the_object_is_decorated);
    RUN_TEST(an_object_may_refer_to_its_own_decorated_self);
    RUN_TEST(an_initializer_that_takes_the_bare_object_is_an_error_that_names_both);
    RUN_TEST(a_component_decorates_but_not_its_dependencies);
    RUN_TEST(a_method_of_a_component_decorates);
    RUN_TEST(a_failing_decorator_fails_the_resolve_and_leaves_nothing);
    RUN_TEST(traits_and_reloads_apply_to_the_original_object);
    RUN_TEST(a_decorator_that_returns_the_object_changes_nothing);
    RUN_TEST(constants_are_not_decorated);
    RUN_TEST(shared_objects_with_arguments_are_decorated_each);
    RUN_TEST(objects_of_a_build_plan_are_decorated);
    RUN_TEST(processors_change_definitions_one_after_the_other);
    RUN_TEST(processors_see_parents_and_their_children_follow);
    RUN_TEST(a_copied_definition_is_equal);
    RUN_TEST(a_processor_redefines_only_the_visited_key);
    RUN_TEST(nothing_is_lost_in_a_copy);
    RUN_TEST(overrides_lie_above_processors);
    return check_end();
}
