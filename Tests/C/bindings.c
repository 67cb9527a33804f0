/* The functions that language bindings use: type descriptions, outlines, version words and cells, manifest checks, and
 * guarded callbacks. */
#include "thing.h"

static void the_parameters_of_a_type_can_be_read(void) {
    invivo_runtime runtime = thing_runtime();
    invivo_type type;
    OK(invivo_type_find(runtime, "Thing", &type, E));
    CHECK_TEXT(invivo_type_name(type), "Thing");
    CHECK_EQUAL(invivo_type_parameter_count(type), 2);
    invivo_parameter parameter;
    OK(invivo_type_parameter_at(type, 0, &parameter));
    CHECK_TEXT(parameter.name, "given");
    CHECK_EQUAL(parameter.kind, INVIVO_KIND_OBJECT);
    CHECK_EQUAL(parameter.flags, INVIVO_PARAMETER_OPTIONAL);
    OK(invivo_type_parameter_at(type, 1, &parameter));
    CHECK_TEXT(parameter.name, "number");
    CHECK(invivo_type_parameter_at(type, 2, &parameter) != INVIVO_OK);
    CHECK_EQUAL(invivo_type_parameter_count((invivo_type){0}), 0);
    CHECK_EQUAL(invivo_type_property_count(type), 2);
    invivo_property property = {.struct_size = sizeof property};
    OK(invivo_type_property_at(type, 1, &property));
    CHECK_TEXT(property.name, "number");
    CHECK_EQUAL(invivo_type_method_count(type), 0);
    OK(invivo_runtime_close(runtime, E));
}

static void versions_and_cells_are_read_where_they_lie(void) {
    invivo_runtime runtime = thing_runtime();
    invivo_key key;
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "a.thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type_name = "Thing"};
    OK(invivo_define(runtime, &definition, &key, E));
    CHECK(invivo_key_is_of(key, runtime));
    const uint64_t *word = invivo_key_version(key), version = invivo_version_read(word);
    CHECK(version != 0);
    invivo_view view = invivo_view_begin(runtime);
    const invivo_entry *entry = invivo_view_entry(view, key);
    invivo_type type;
    OK(invivo_type_find(runtime, "Thing", &type, E));
    CHECK(entry && invivo_entry_type(entry) == type.bits);
    CHECK(!invivo_entry_cell(entry) || !invivo_cell_instance(invivo_entry_cell(entry)));
    CHECK(!invivo_view_get(view, key) && !invivo_view_get_confined(view, key));
    CHECK(!invivo_view_entry(view, (invivo_key){0}));
    invivo_view_end(view);
    thing *made = thing_of(thing_shared(runtime, "a.thing"));
    view = invivo_view_begin(runtime);
    invivo_cell *cell = invivo_entry_cell(invivo_view_entry(view, key));
    CHECK(cell && invivo_cell_instance(cell) == made && invivo_view_get(view, key) == made);
    CHECK(invivo_version_read(word) == version);
    invivo_view_end(view);
    OK(invivo_define(runtime, &definition, &key, E));
    CHECK(invivo_version_read(word) != version);
    OK(invivo_runtime_close(runtime, E));
    CHECK(invivo_version_read(word) != version && invivo_version_read(word) != 0); /* the memory is never freed */
}

static void a_confined_object_is_read_in_its_domain_alone(void) {
    thing_concurrency = INVIVO_CONFINED;
    invivo_runtime runtime = thing_runtime();
    thing_concurrency = INVIVO_SHARED;
    invivo_key key;
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.thing", .scope = INVIVO_SCOPE_SINGLETON, .type_name = "Thing"}, &key, E));
    thing *made = thing_of(thing_shared(runtime, "a.thing"));
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_get_confined(view, key) == made);
    CHECK(invivo_view_get(view, key) == made);
    invivo_view_end(view);
    OK(invivo_runtime_close(runtime, E));
}

static const invivo_value *of(const invivo_value *map, const char *name) {
    for (uint64_t i = 0; map && map->kind == INVIVO_KIND_MAP && i < map->as.map.count; i++)
        if (strcmp(map->as.map.pairs[i].name, name) == 0) return &map->as.map.pairs[i].value;
    return NULL;
}
static invivo_status make_own(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    *instance = malloc(1);
    return INVIVO_OK;
}
static void release_own(void *instance, void *user_data) { (void)user_data, free(instance); }
static void an_outline_is_a_list_of_steps(void) {
    invivo_runtime runtime = thing_runtime();
    static const invivo_parameter parameters[] = {{.name = "inner", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    const invivo_type_options options = {.struct_size = sizeof options, .name = "Own", .make = make_own, .release = release_own, .parameters = parameters, .parameter_count = 1};
    invivo_injection inner[] = {{.name = "inner", .how = INVIVO_INJECT_REFERENCE, .reference = "a.inner"}};
    invivo_changes changes;
    invivo_key key;
    invivo_value outline = {0};
    OK(invivo_type_register(runtime, &options, NULL, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.inner", .type_name = "Own"}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.outer", .type_name = "Own", .scope = INVIVO_SCOPE_PROTOTYPE, .initializer = inner, .initializer_count = 1}, &key, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.shared", .type_name = "Own", .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_key_outline(runtime, key, &outline, E));
    const invivo_value *steps = of(&outline, "steps");
    if (CHECK(steps && steps->kind == INVIVO_KIND_LIST && steps->as.list.count == 2)) {
        const invivo_value *first = &steps->as.list.items[0], *second = &steps->as.list.items[1];
        CHECK_TEXT(of(first, "key")->as.string.data, "a.inner");
        CHECK_TEXT(of(second, "key")->as.string.data, "a.outer");
        CHECK(of(second, "type") && of(second, "type")->kind == INVIVO_KIND_TYPE);
        const invivo_value *arguments = of(second, "arguments");
        CHECK(arguments && arguments->as.list.count == 1 && of(&arguments->as.list.items[0], "object"));
    }
    invivo_value_clear(&outline);
    /* Requires a resolve: shared and unknown objects. */
    OK(invivo_key_find(runtime, "a.shared", &key, E));
    OK(invivo_key_outline(runtime, key, &outline, E));
    CHECK_EQUAL(outline.kind, INVIVO_KIND_NULL);
    CHECK(invivo_key_outline(runtime, (invivo_key){0}, &outline, NULL) == INVIVO_E_HANDLE);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status no_place(void *user_data, uint64_t *place, invivo_error **error) {
    (void)user_data, (void)place, (void)error;
    return INVIVO_OK;
}
static void the_definition_in_force_is_described(void) {
    invivo_runtime runtime = thing_runtime();
    static const invivo_parameter inner[] = {{.name = "inner", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    const invivo_type_options options = {.struct_size = sizeof options, .name = "Own", .make = make_own, .release = release_own, .parameters = inner, .parameter_count = 1};
    static const invivo_parameter parameters[] = {{.name = "note", .kind = INVIVO_KIND_INT32}, {.name = "level", .kind = INVIVO_KIND_DOUBLE}};
    static const invivo_parameter given[] = {{.name = "part", .kind = INVIVO_KIND_OBJECT, .type_name = "Own", .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_value defaults[] = {{0}, {.kind = INVIVO_KIND_DOUBLE, .as.number = 0.5}};
    invivo_injection first = {.how = INVIVO_INJECT_ARGUMENT, .name = "inner"};
    invivo_injection passed = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.made", .items = &first, .item_count = 1, .name = "inner"};
    invivo_injection chooser = {.how = INVIVO_INJECT_ARGUMENT};
    invivo_option option = {.when = INVIVO_WHEN_OTHERWISE, .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.plain"}};
    invivo_changes changes;
    invivo_key key;
    invivo_value facts = {0};
    invivo_override override;
    invivo_type own_type;
    const invivo_scope_options place = {.struct_size = sizeof place, .name = "request", .find = no_place};
    OK(invivo_type_register(runtime, &options, &own_type, E));
    OK(invivo_scope_register(runtime, &place, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.plain", .type_name = "Own", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .file = "a.c", .line = 7}, &key, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.made", .type_name = "Own", .scope = INVIVO_SCOPE_PROTOTYPE, .initializer = &first, .initializer_count = 1, .parameters = parameters, .parameter_count = 2, .defaults = defaults}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.holder", .type_name = "Own", .scope = INVIVO_SCOPE_PROTOTYPE, .initializer = &passed, .initializer_count = 1, .parameters = parameters, .parameter_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.name", .alias = "a.made"}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.placed", .type_name = "Own", .scope = INVIVO_SCOPE_HOST, .scope_name = "request", .parameters = given, .parameter_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.choice", .chooser = &chooser, .options = &option, .option_count = 1, .parameters = parameters, .parameter_count = 1}, NULL, E));
    OK(invivo_changes_commit(changes, E));

    OK(invivo_key_describe(runtime, key, &facts, E));
    CHECK_EQUAL(of(&facts, "scope")->as.unsigned_integer, INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK(of(&facts, "type")->kind == INVIVO_KIND_TYPE && of(&facts, "type")->as.type.bits == own_type.bits);
    CHECK_EQUAL(of(&facts, "scope_name")->kind, INVIVO_KIND_NULL);
    CHECK_TEXT(of(&facts, "making")->as.string.data, "initializer");
    CHECK_TEXT(of(&facts, "file")->as.string.data, "a.c");
    CHECK_EQUAL(of(&facts, "line")->as.unsigned_integer, 7);
    CHECK_EQUAL(of(&facts, "parameters")->as.list.count, 0);
    CHECK_EQUAL(of(&facts, "receivers")->as.list.count, 0);
    invivo_value_clear(&facts);

    /* The override is described: its way of creation, and the key's scope. */
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.plain", .type_name = "Own", .file = "b.c"}, &override, E));
    OK(invivo_key_describe(runtime, key, &facts, E));
    CHECK_TEXT(of(&facts, "file")->as.string.data, "b.c");
    CHECK_EQUAL(of(&facts, "scope")->as.unsigned_integer, INVIVO_SCOPE_LAZY_SINGLETON);
    invivo_value_clear(&facts);
    OK(invivo_override_end(override, E));

    const char *names[] = {"a.made", "a.name", "a.holder"};
    for (int i = 0; i < 3; i++) {
        OK(invivo_key_find(runtime, names[i], &key, E));
        OK(invivo_key_describe(runtime, key, &facts, E));
        const invivo_value *own = of(&facts, "parameters");
        CHECK_EQUAL(own->as.list.count, i < 2 ? 2u : 1u);
        CHECK_TEXT(of(&own->as.list.items[0], "name")->as.string.data, "note");
        CHECK_EQUAL(of(&own->as.list.items[0], "kind")->as.unsigned_integer, INVIVO_KIND_INT32);
        CHECK(of(&own->as.list.items[0], "default") == NULL);
        if (i < 2) CHECK(of(&own->as.list.items[1], "default")->as.number == 0.5);
        const invivo_value *receivers = of(&facts, "receivers");
        CHECK(receivers->kind == INVIVO_KIND_LIST && receivers->as.list.count == 1);
        invivo_value_clear(&facts);
    }
    OK(invivo_key_find(runtime, "a.placed", &key, E));
    if (OK(invivo_key_describe(runtime, key, &facts, E))) {
        const invivo_value *only = &of(&facts, "parameters")->as.list.items[0];
        CHECK_EQUAL(of(&facts, "scope")->as.unsigned_integer, INVIVO_SCOPE_HOST);
        CHECK(of(&facts, "scope_name")->kind == INVIVO_KIND_STRING && !strcmp(of(&facts, "scope_name")->as.string.data, "request"));
        CHECK(of(only, "type")->kind == INVIVO_KIND_STRING && !strcmp(of(only, "type")->as.string.data, "Own"));
        CHECK(of(only, "optional")->as.boolean);
    }
    invivo_value_clear(&facts);
    OK(invivo_key_find(runtime, "a.choice", &key, E));
    OK(invivo_key_describe(runtime, key, &facts, E));
    CHECK_TEXT(of(&facts, "making")->as.string.data, "choice");
    CHECK_EQUAL(of(&facts, "receivers")->kind, INVIVO_KIND_NULL);
    invivo_value_clear(&facts);

    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.choice", E));
    OK(invivo_changes_commit(changes, E));
    CHECK(invivo_key_describe(runtime, key, &facts, NULL) == INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(facts.kind, INVIVO_KIND_NULL);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status load(void *user_data, invivo_runtime runtime, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path, (void)error;
    thing_register(runtime, "Thing");
    return INVIVO_OK;
}
static void a_manifest_is_checked_without_making_anything(void) {
    invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    invivo_value graph = {0};
    invivo_error *error = NULL;
    things_made = 0;
    write_text("things.py", "");
    write_text("app.yaml", "modules: { things: things.py }\ncomponents:\n  a.one: { type: Thing, properties: { left: $a.two } }\n  a.two: { type: Thing, scope: singleton }\n  a.alias: { alias: a.two }\n");
    OK(invivo_app_check(&options, INVIVO_GRAPH_DOT, &graph, E));
    CHECK(graph.kind == INVIVO_KIND_STRING && strstr(graph.as.string.data, "digraph") && strstr(graph.as.string.data, "a.two"));
    CHECK(strstr(graph.as.string.data, "app.yaml:5")); /* also with the source location of a name */
    invivo_value_clear(&graph);
    OK(invivo_app_check(&options, 0, NULL, E));
    /* All of it, each once, with its source location, the nearest name and the found name. */
    write_text("app.yaml", "modules: { things: things.py }\ncomponents:\n  a.one: { type: Thing, properties: { left: $a.tow, numer: 1 } }\n"
                           "  a.two: { type: Thing, scope: singleton, properties: { number: loud } }\n  a.three: { type: Thin }\n");
    CHECK(invivo_app_check(&options, 0, NULL, &error) != INVIVO_OK);
    static const char *const rules[][3] = {{"wiring.unknown-property", "app.yaml:3:53: ", "did you mean 'number'?"}, {"wiring.missing", "app.yaml:3:3: a.one", "did you mean 'a.two'?"},
                                           {"wiring.type", "app.yaml:4:65: ", "loud"}, {"wiring.missing", "app.yaml:5:20: ", "did you mean 'Thing'?"}};
    if (!CHECK_EQUAL(invivo_error_count(error), 4)) fprintf(stderr, "%s\n", invivo_error_text(error));
    for (int i = 0; i < 4; i++) {
        bool is_told = false;
        for (size_t j = 0; j < invivo_error_count(error); j++) {
            const invivo_error *one = invivo_error_at(error, j);
            is_told |= strcmp(invivo_error_rule(one), rules[i][0]) == 0 && strncmp(invivo_error_text(one), rules[i][1], strlen(rules[i][1])) == 0 && strstr(invivo_error_text(one), rules[i][2]);
        }
        if (!is_told) check_failed(__FILE__, __LINE__, "%s %s %s is not in\n%s", rules[i][0], rules[i][1], rules[i][2], invivo_error_text(error));
    }
    invivo_error_release(error);
    CHECK_EQUAL(things_made, 0);
}

static int logged, ended;
static void told(void *user_data, const invivo_report *report) { (void)user_data, (void)report, logged++; }
static invivo_status invoked(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)error;
    *result = invivo_int64(5);
    return INVIVO_OK;
}
static void destroyed(void *user_data) { (void)user_data, ended++; }
static void callbacks_end_before_the_runtimes_that_call_them(void) {
    const invivo_callbacks own = {.struct_size = sizeof own, .invoke = invoked, .reloaded = told, .destroy = destroyed};
    invivo_callbacks guarded = {.struct_size = sizeof guarded};
    invivo_runtime runtime = thing_runtime();
    invivo_observer observer;
    invivo_callable callable;
    invivo_value result = {0};
    OK(invivo_callbacks_guard(&own, &guarded, E));
    CHECK(guarded.invoke && guarded.invoke != invoked);
    invivo_callbacks second = {.struct_size = sizeof second};
    CHECK(invivo_callbacks_guard(&own, &second, NULL) != INVIVO_OK); /* one at a time */
    OK(invivo_callable_make(runtime, &(invivo_callable_options){.struct_size = sizeof(invivo_callable_options), .invoke = guarded.invoke, .destroy = guarded.destroy}, &callable, E));
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = guarded.reloaded}, &observer, E));
    OK(invivo_callable_call(callable, NULL, 0, &result, E));
    CHECK_EQUAL(result.as.signed_integer, 5);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.thing", .type_name = "Thing"}, NULL, E));
    CHECK_EQUAL(logged, 1);
    OK(invivo_callbacks_end(E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.other", .type_name = "Thing"}, NULL, E));
    CHECK_EQUAL(logged, 1);
    expects_error(invivo_callable_call(callable, NULL, 0, &result, E), INVIVO_E_CLOSED, NULL);
    OK(invivo_callable_release(callable));
    CHECK_EQUAL(ended, 0);
    OK(invivo_runtime_close(runtime, E));
}

/* Counts of callbacks that returned without having run, and that ran. */
static int dropped_calls, ran_calls;
static bool is_dropped(void) { return dropped_calls > 0 && dropped_calls-- > 0; }
static invivo_status store(invivo_status status) {
    ran_calls++;
    *invivo_callbacks_cell() = status;
    return INVIVO_E_INTERNAL; /* the returned status does not count */
}
static invivo_status store_invoked(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)error;
    if (is_dropped()) return INVIVO_OK;
    *result = invivo_int64(5);
    return store(INVIVO_OK);
}
static invivo_status store_stopped(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    return is_dropped() ? INVIVO_E_HOST : store(INVIVO_OK);
}
static invivo_status store_reverted(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target, (void)instance, (void)data, (void)error;
    return is_dropped() ? INVIVO_OK : store(INVIVO_OK);
}
static void *store_made(void *instance, void *user_data) {
    (void)user_data;
    if (is_dropped()) return &dropped_calls;
    store(INVIVO_OK);
    return instance;
}
static void store_destroyed(void *user_data) {
    (void)user_data;
    if (!is_dropped()) store(INVIVO_OK);
}
static invivo_status store_parent(void *instance, void *user_data, invivo_object *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)out, (void)error;
    return is_dropped() ? INVIVO_OK : store(INVIVO_OK);
}
static void store_changed(void *user_data, invivo_context context, invivo_key key, const invivo_value *value) {
    (void)user_data, (void)context, (void)key, (void)value;
    if (!is_dropped()) store(INVIVO_OK);
}
static void a_status_counts_only_where_the_host_has_stored_it(void) {
    const invivo_callbacks own = {.struct_size = sizeof own, .invoke = store_invoked, .stop = store_stopped, .revert = store_reverted, .weak_make = store_made, .destroy = store_destroyed, .context_changed = store_changed, .parent = store_parent, .cell = invivo_callbacks_cell};
    invivo_callbacks guarded = {.struct_size = sizeof guarded};
    invivo_runtime runtime = thing_runtime();
    invivo_callable callable;
    invivo_value result = {0};
    OK(invivo_callbacks_guard(&own, &guarded, E));
    CHECK(!guarded.cell);
    OK(invivo_callable_make(runtime, &(invivo_callable_options){.struct_size = sizeof(invivo_callable_options), .invoke = guarded.invoke, .destroy = guarded.destroy}, &callable, E));
    dropped_calls = 1;
    expects_error(invivo_callable_call(callable, NULL, 0, &result, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(ran_calls, 0); /* a call is not repeated automatically */
    OK(invivo_callable_call(callable, NULL, 0, &result, E));
    CHECK_EQUAL(result.as.signed_integer, 5);
    dropped_calls = 3, ran_calls = 0;
    OK(guarded.stop(NULL, NULL, E)); /* a pending task is done at the end if no other thread does it */
    CHECK(dropped_calls == 0 && ran_calls == 1);
    dropped_calls = 3, ran_calls = 0;
    OK(guarded.revert((invivo_object){0}, NULL, NULL, E)); /* nothing else reverses it */
    CHECK(dropped_calls == 0 && ran_calls == 1);
    dropped_calls = 3, ran_calls = 0;
    CHECK(guarded.weak_make(&result, NULL) == &result);
    CHECK(dropped_calls == 0 && ran_calls == 1);
    dropped_calls = 3, ran_calls = 0;
    guarded.context_changed(NULL, (invivo_context){0}, (invivo_key){0}, NULL); /* an observer misses no change */
    CHECK(dropped_calls == 0 && ran_calls == 1);
    dropped_calls = 1, ran_calls = 0;
    invivo_object above = {0};
    expects_error(guarded.parent(NULL, NULL, &above, E), INVIVO_E_HOST, NULL);
    OK(guarded.parent(NULL, NULL, &above, E));
    CHECK(dropped_calls == 0 && ran_calls == 1);
    dropped_calls = 3, ran_calls = 0;
    OK(invivo_callable_release(callable));
    CHECK(dropped_calls == 0 && ran_calls == 1);
    OK(invivo_runtime_close(runtime, E));
    OK(invivo_callbacks_end(E));
    ran_calls = 0;
    CHECK_EQUAL(guarded.parent(NULL, NULL, &above, NULL), INVIVO_E_CLOSED);
    guarded.context_changed(NULL, (invivo_context){0}, (invivo_key){0}, NULL);
    CHECK_EQUAL(ran_calls, 0);
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(the_parameters_of_a_type_can_be_read);
    RUN_TEST(versions_and_cells_are_read_where_they_lie);
    RUN_TEST(a_confined_object_is_read_in_its_domain_alone);
    RUN_TEST(an_outline_is_a_list_of_steps);
    RUN_TEST(the_definition_in_force_is_described);
    RUN_TEST(a_manifest_is_checked_without_making_anything);
    RUN_TEST(callbacks_end_before_the_runtimes_that_call_them);
    RUN_TEST(a_status_counts_only_where_the_host_has_stored_it);
    return check_end();
}
