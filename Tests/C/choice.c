/* Choices: the selected option, the effect of configuration changes, and errors. */
#include "check.h"

typedef struct part { char name[24]; invivo_object input; int64_t number; } part;

static int made;
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data, (void)error;
    made++;
    snprintf(self->name, sizeof(self->name), "%s", invivo_key_name(build->key));
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    return INVIVO_OK;
}
static invivo_status get_input(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)out, (void)error;
    return INVIVO_OK;
}
static invivo_status set_input(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->input = value->as.object;
    return INVIVO_OK;
}
static const invivo_parameter parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "later", .kind = INVIVO_KIND_OBJECT, .get = get_input, .set = set_input}};

static invivo_runtime runtime;
static invivo_type part_type, wave_type;

static void open_runtime(void) {
    const char *const wave_is[] = {"Source"};
    invivo_type_options options = {
        .struct_size = sizeof(options), .name = "Part", .concurrency = INVIVO_SHARED, .size = sizeof(part), .alignment = 8,
        .init = part_init, .parameters = parameters, .parameter_count = 2, .properties = properties, .property_count = 1};
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &part_type, E));
    options.name = "Wave", options.supertypes = wave_is, options.supertype_count = 1;
    OK(invivo_type_register(runtime, &options, &wave_type, E));
    made = 0;
}
static void close_runtime(void) { OK(invivo_runtime_close(runtime, E)); }

static void says(const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_commit(changes, E));
}
static invivo_status tries(const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    return invivo_changes_commit(changes, error);
}
static void define(const char *key, invivo_type type, uint32_t scope, const invivo_injection *initializer, uint64_t count) {
    const invivo_definition definition = {.struct_size = sizeof(definition), .key = key, .type = type, .scope = scope,
                                          .initializer = initializer, .initializer_count = count};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static invivo_status choose(const char *key, const invivo_injection *chooser, const invivo_option *options, uint64_t count,
                            invivo_error **error) {
    const invivo_definition definition = {.struct_size = sizeof(definition), .key = key, .chooser = chooser, .options = options,
                                          .option_count = count, .file = "host.c", .line = 3};
    return invivo_define(runtime, &definition, NULL, error);
}
static invivo_injection use(const char *key) { return (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = key}; }
static part *instance(invivo_object object) {
    static part none;
    void *found = NULL;
    return OK(invivo_object_instance(object, (invivo_type){0}, &found, E)) && found ? found : &none;
}
/* The name of the object of a key. */
static const char *is(const char *key) {
    static char name[24];
    invivo_object object;
    snprintf(name, sizeof(name), "nothing");
    if (!OK(invivo_resolve_name(runtime, key, &object, E))) return name;
    snprintf(name, sizeof(name), "%s", instance(object)->name);
    OK(invivo_object_release(object));
    return name;
}

static void the_first_option_that_fits_the_configuration_is_taken(void) {
    const invivo_injection null = {.how = INVIVO_INJECT_VALUE}, chooser = {.how = INVIVO_INJECT_CONFIG, .reference = "wave", .items = &null, .item_count = 1};
    const invivo_option options[] = {
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_string("saw"), .use = use("s.saw")},
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(3), .use = use("s.sine")},
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_null(), .use = use("s.noise")},
        {.when = INVIVO_WHEN_NAMED},
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_string("sine"), .use = use("s.saw")},
    };
    invivo_injection input = {.name = "input", .how = INVIVO_INJECT_REFERENCE, .reference = "s.wave"};
    invivo_object before, after, by_property, same;
    static listener heard;
    open_runtime();
    define("s.saw", part_type, INVIVO_SCOPE_LAZY_SINGLETON, NULL, 0);
    define("s.sine", part_type, INVIVO_SCOPE_LAZY_SINGLETON, NULL, 0);
    define("s.noise", part_type, INVIVO_SCOPE_LAZY_SINGLETON, NULL, 0);
    define("other.sine", part_type, INVIVO_SCOPE_LAZY_SINGLETON, NULL, 0);
    OK(choose("s.wave", &chooser, options, 5, E));
    CHECK_TEXT(is("s.wave"), "s.noise");
    define("s.holder", part_type, INVIVO_SCOPE_SINGLETON, &input, 1);
    input.name = "later";
    const invivo_definition late = {.struct_size = sizeof(late), .key = "s.late", .type = part_type, .scope = INVIVO_SCOPE_SINGLETON,
                                    .properties = &input, .property_count = 1};
    OK(invivo_define(runtime, &late, NULL, E));
    OK(invivo_resolve_name(runtime, "s.holder", &before, E));
    OK(invivo_resolve_name(runtime, "s.late", &by_property, E));
    CHECK_TEXT(instance(instance(before)->input)->name, "s.noise");
    listener_open(&heard, runtime);
    says("config: { s: { wave: saw } }");
    CHECK_TEXT(listener_last(&heard)->changes,
               "s.wave configured; s.wave remade; s.holder remade; s.late remade");
    CHECK_TEXT(is("s.wave"), "s.saw");
    OK(invivo_resolve_name(runtime, "s.holder", &after, E));
    OK(invivo_resolve_name(runtime, "s.late", &same, E));
    CHECK(after.bits != before.bits);
    CHECK(same.bits != by_property.bits); /* any thread may read it: it is rebuilt */
    CHECK_TEXT(instance(instance(after)->input)->name, "s.saw");
    CHECK_TEXT(instance(instance(same)->input)->name, "s.saw");
    says("config: { s: { wave: 3.0 } }");
    CHECK_TEXT(is("s.wave"), "s.sine");
    says("config: { s: { wave: sine } }");
    CHECK_TEXT(is("s.wave"), "s.sine");
    says("config: { s: { wave: other.sine } }");
    CHECK_TEXT(is("s.wave"), "other.sine");
    expects_error(tries("config: { s: { wave: sien } }", E), INVIVO_E_NOT_FOUND,
                  "a.yaml:1:22: s.wave: the chooser names the definition 'sien', which is not there; did you mean 'sine'? (needed by s.holder)");
    expects_error(tries("config: { s: { wave: [1] } }", E), INVIVO_E_RANGE,
                  "a.yaml:1:22: s.wave: no option is for [1]; there are options for 'saw', 3, null, the name of a definition, "
                  "'sine' (needed by s.holder)");
    CHECK_TEXT(is("s.wave"), "other.sine");
    {
        /* An option that is not selected cannot be removed either. */
        invivo_changes changes;
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_remove(changes, "s.saw", E));
        expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    }
    invivo_object_release(before), invivo_object_release(after), invivo_object_release(by_property), invivo_object_release(same);
    OK(invivo_observer_close(heard.observer, E));
    close_runtime();
    listener_end(&heard);
}

static void an_argument_chooses_by_value_by_type_and_by_name(void) {
    const invivo_parameter takes[] = {{.name = "what", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    const invivo_injection chooser = {.how = INVIVO_INJECT_ARGUMENT};
    const invivo_injection passed = {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(7)};
    const invivo_option options[] = {
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_null(), .use = use("s.none")},
        {.when = INVIVO_WHEN_EXACT, .name = "Part", .use = use("s.part")},
        {.when = INVIVO_WHEN_KIND, .name = "Source", .use = use("s.source")},
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(3), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "s.numbered", .items = &passed, .item_count = 1}},
        {.when = INVIVO_WHEN_NAMED},
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_bool(true), .use = use("s.none")},
    };
    const invivo_injection numbered[] = {{.name = "number", .how = INVIVO_INJECT_ARGUMENT}};
    const invivo_parameter number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    const invivo_definition definition = {.struct_size = sizeof(definition), .key = "s.choice", .chooser = &chooser, .options = options,
                                          .option_count = 6, .parameters = takes, .parameter_count = 1};
    invivo_object object, part_object, wave;
    invivo_key key;
    open_runtime();
    const invivo_definition counted = {.struct_size = sizeof(counted), .key = "s.numbered", .type = part_type,
                                       .initializer = numbered, .initializer_count = 1, .parameters = number, .parameter_count = 1};
    OK(invivo_define(runtime, &counted, NULL, E));
    define("s.none", part_type, 0, NULL, 0);
    define("s.part", part_type, 0, NULL, 0);
    define("s.source", wave_type, 0, NULL, 0);
    OK(invivo_define(runtime, &definition, &key, E));
    OK(invivo_resolve_name(runtime, "s.part", &part_object, E));
    OK(invivo_resolve_name(runtime, "s.source", &wave, E));
    const struct { invivo_value value; const char *name; int64_t number; } cases[] = {
        {invivo_null(), "s.none", 0}, {invivo_object_value(part_object), "s.part", 0}, {invivo_object_value(wave), "s.source", 0},
        {invivo_double(3), "s.numbered", 7}, {invivo_string("part"), "s.part", 0}, {invivo_bool(true), "s.none", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!OK(invivo_resolve_with(runtime, key, &cases[i].value, 1, &object, E))) continue;
        CHECK_TEXT(instance(object)->name, cases[i].name);
        CHECK_EQUAL(instance(object)->number, cases[i].number);
        OK(invivo_object_release(object));
    }
    OK(invivo_resolve(runtime, key, &object, E));
    CHECK_TEXT(instance(object)->name, "s.none");
    OK(invivo_object_release(object));
    const invivo_value wrong = invivo_int64(4), unknown = invivo_string("nobody");
    expects_error(invivo_resolve_with(runtime, key, &wrong, 1, &object, E), INVIVO_E_RANGE,
                  "s.choice: no option is for 4; there are options for null, exactly 'Part', a 'Source', 3, the name of a "
                  "definition, true");
    expects_error(invivo_resolve_with(runtime, key, &unknown, 1, &object, E), INVIVO_E_NOT_FOUND, NULL);
    invivo_object_release(part_object), invivo_object_release(wave);
    close_runtime();
}

static void a_choice_is_found_by_its_type_and_checked_against_it(void) {
    const invivo_injection chooser = {.how = INVIVO_INJECT_CONFIG, .reference = "which"};
    const invivo_injection by_type = {.name = "input", .how = INVIVO_INJECT_TYPE, .reference = "Source"};
    const invivo_option options[] = {{.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = use("s.one")},
                                     {.when = INVIVO_WHEN_OTHERWISE, .use = use("s.two")}};
    const invivo_option wrong[] = {{.when = INVIVO_WHEN_OTHERWISE, .use = use("s.part")}};
    invivo_definition definition = {.struct_size = sizeof(definition), .key = "s.source", .chooser = &chooser, .options = options,
                                    .option_count = 2};
    invivo_object object;
    open_runtime();
    says("config: { s: { which: 1 } }");
    invivo_definition hidden = {.struct_size = sizeof(hidden), .type = wave_type,
                                .flags = INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE};
    hidden.key = "s.one";
    OK(invivo_define(runtime, &hidden, NULL, E));
    hidden.key = "s.two";
    OK(invivo_define(runtime, &hidden, NULL, E));
    define("s.part", part_type, 0, NULL, 0);
    definition.type = wave_type;
    OK(invivo_define(runtime, &definition, NULL, E));
    define("s.holder", part_type, 0, &by_type, 1);
    for (int i = 1; i <= 2; i++) {
        OK(invivo_resolve_name(runtime, "s.holder", &object, E));
        CHECK_TEXT(instance(instance(object)->input)->name, i == 1 ? "s.one" : "s.two");
        OK(invivo_object_release(object));
        says("config: { s: { which: 2 } }");
    }
    definition.options = wrong, definition.option_count = 1;
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_TYPE,
                  "s.source: option 0 needs an object of type 'Wave', and 's.part' is of type 'Part' (needed by s.holder)");
    close_runtime();
}

static void errors_of_a_choice_are_reported_at_activation(void) {
    const invivo_injection chooser = {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(1)};
    const invivo_injection missing = {.how = INVIVO_INJECT_CONFIG, .reference = "which"};
    const invivo_option one[] = {{.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = use("s.part")},
                                 {.when = INVIVO_WHEN_OTHERWISE, .use = use("s.prat")}};
    const invivo_option self[] = {{.when = INVIVO_WHEN_OTHERWISE, .use = use("s.choice")}};
    const invivo_option constant[] = {{.when = INVIVO_WHEN_OTHERWISE, .use = {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(1)}}};
    const invivo_option unknown[] = {{.when = 77}};
    invivo_definition scoped = {.struct_size = sizeof(scoped), .key = "s.choice", .scope = INVIVO_SCOPE_SINGLETON, .chooser = &chooser,
                                .options = one, .option_count = 1};
    open_runtime();
    define("s.part", part_type, 0, NULL, 0);
    expects_error(choose("s.choice", &chooser, one, 2, E), INVIVO_E_NOT_FOUND,
                  "host.c:3: s.choice: option 1 needs 's.prat', which is not defined; did you mean 's.part'?");
    expects_error(choose("s.choice", &missing, one, 1, E), INVIVO_E_NOT_CONFIGURED, NULL);
    expects_error(choose("s.choice", &chooser, self, 1, E), INVIVO_E_CYCLE, NULL);
    expects_error(choose("s.choice", &chooser, constant, 1, E), INVIVO_E_ARGUMENT,
                  "host.c:3: s.choice: option 0 must be a key or a type: a choice selects another definition");
    expects_error(choose("s.choice", &chooser, unknown, 1, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(choose("s.choice", &chooser, NULL, 0, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_define(runtime, &scoped, NULL, E), INVIVO_E_ARGUMENT,
                  "s.choice: a choice creates no object itself, so it cannot have a scope; move this to the selected definitions");
    close_runtime();
}

int main(void) {
    check_begin();
    RUN_TEST(the_first_option_that_fits_the_configuration_is_taken);
    RUN_TEST(an_argument_chooses_by_value_by_type_and_by_name);
    RUN_TEST(a_choice_is_found_by_its_type_and_checked_against_it);
    RUN_TEST(errors_of_a_choice_are_reported_at_activation);
    return check_end();
}
