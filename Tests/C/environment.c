/* Environment variables in documents, and the environment as a layer of the configuration: docs/rules/spec-files.md. */
/* sanitize: no, the sanitizers have not been tried on it */
#include "check.h"

typedef struct { double gain; int64_t count; char label[24]; bool on; double clamped; int32_t wave; } voice;

static double clamped;
static invivo_status get_clamped(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_double(clamped);
    return INVIVO_OK;
}
static invivo_status set_clamped(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data;
    if (value->as.number > 1000) {
        if (error) *error = invivo_error_make(INVIVO_E_RANGE, "1234 is refused", NULL, NULL);
        return INVIVO_E_RANGE;
    }
    clamped = value->as.number > 10 ? 10 : value->as.number;
    return INVIVO_OK;
}
static const invivo_choice waves[] = {{"sine", 0}, {"saw", 1}};
static const invivo_property properties[] = {
    INVIVO_FIELD(voice, gain, .max = 2), INVIVO_FIELD(voice, count), INVIVO_FIELD(voice, label), INVIVO_FIELD(voice, on),
    {.struct_size = sizeof(invivo_property), .name = "clamped", .kind = INVIVO_KIND_DOUBLE, .get = get_clamped, .set = set_clamped},
    INVIVO_FIELD(voice, wave, .choices = waves, .choice_count = 2)};

static invivo_runtime runtime;
static invivo_type type;
static invivo_object object;
static char last_report[4096], logged[16384];

static void note_report(void *user_data, const invivo_report *report) {
    size_t length = 0;
    (void)user_data;
    last_report[0] = 0;
    for (size_t i = 0; i < invivo_report_count(report); i++)
        length += (size_t)snprintf(last_report + length, sizeof last_report - length, "%s%s%s%s %u(%s) %s:%u:%u", i ? "; " : "", invivo_report_key(report, i),
                                   *invivo_report_property(report, i) ? "." : "", invivo_report_property(report, i), invivo_report_origin(report, i),
                                   invivo_report_layer(report, i), invivo_report_file(report, i), invivo_report_line(report, i), invivo_report_column(report, i));
    for (size_t i = 0; i < invivo_report_warning_count(report); i++)
        length += (size_t)snprintf(last_report + length, sizeof last_report - length, "; warning: %s", invivo_report_warning(report, i));
}
static const char *report(void) {
    OK(invivo_runtime_reports(runtime, note_report, NULL, E));
    return last_report;
}
static void keep_log(void *user_data, const invivo_log_entry *entry) {
    size_t length = strlen(logged);
    (void)user_data;
    snprintf(logged + length, sizeof logged - length, "%s\n", entry->message);
}
static invivo_status open_with(const char *prefix, uint64_t bytes, uint64_t nodes, invivo_error **error) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.environment_prefix = prefix;
    options.max_document_bytes = bytes, options.max_document_nodes = nodes;
    options.log = keep_log;
    options.log_level = INVIVO_LOG_TRACE;
    logged[0] = 0;
    return invivo_runtime_open(&runtime, &options, error);
}
static void begin(const char *prefix) {
    invivo_type_options type_options = {.struct_size = sizeof type_options, .name = "Voice", .size = sizeof(voice), .properties = properties,
                                        .property_count = sizeof properties / sizeof *properties};
    clamped = 0;
    OK(open_with(prefix, 0, 0, E));
    OK(invivo_type_register(runtime, &type_options, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_target_attach(object, "a.t", NULL, E));
}
static void end(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}
static void set(const char *name, const char *value) { CHECK(setenv(name, value, 1) == 0); }
static invivo_status document(const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    return invivo_changes_commit(changes, error);
}
static invivo_status refresh(invivo_error **error) { return invivo_runtime_refresh_environment(runtime, error); }
static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}
/* Checks a value of the configuration as a string or a number. */
static void is_text(const char *path, const char *text) {
    invivo_value value = invivo_null();
    OK(invivo_config_read(runtime, path, &value, E));
    if (CHECK_EQUAL(value.kind, INVIVO_KIND_STRING)) CHECK_TEXT(value.as.string.data, text);
    invivo_value_clear(&value);
}
static void is_number(const char *path, int64_t number) {
    invivo_value value = invivo_null();
    OK(invivo_config_read(runtime, path, &value, E));
    if (CHECK_EQUAL(value.kind, INVIVO_KIND_INT64)) CHECK_EQUAL(value.as.signed_integer, number);
    invivo_value_clear(&value);
}
static voice *instance(invivo_object found) {
    static voice none;
    void *pointer = NULL;
    return OK(invivo_object_instance(found, (invivo_type){0}, &pointer, E)) && pointer ? pointer : &none;
}
static voice *live(void) { return instance(object); }
static invivo_injection config(const char *name, const char *path) {
    return (invivo_injection){.name = name, .how = INVIVO_INJECT_CONFIG, .reference = path};
}

static void a_parameter_of_a_trait(void) {
    set("IV_GAIN", "0.5"), set("IV_COUNT", "3"), set("IV_ON", "true"), set("IV_WAVE", "saw");
    begin(NULL);
    OK(document("traits:\n  a.t:\n    - Set:\n        gain: ${IV_GAIN}\n        count: ${IV_COUNT}\n        label: ${IV_COUNT}\n        on: ${IV_ON}\n        wave: ${IV_WAVE}\n", E));
    CHECK_EQUAL(live()->gain, 0.5);
    CHECK_EQUAL(live()->count, 3);
    CHECK_TEXT(live()->label, "3");
    CHECK(live()->on);
    CHECK_EQUAL(live()->wave, 1);
    expects_error(document("traits: { a.t: [ Set: { gain: \"1${IV_GAIN}\", count: 7 } ] }", E), INVIVO_E_RANGE,
                  "a.yaml:1:31: traits.a.t[0].Set.gain: the environment variable 'IV_GAIN' gives a value outside of the range; expected a number from 0 to 2");
    CHECK_EQUAL(live()->count, 3);
    OK(document("traits: { a.t: [ Set: { gain: \"1${IV_NONE:-.25}\", count: '${IV_COUNT}${IV_COUNT}', label: 'x${IV_GAIN}', on: \"${IV_OFF:-false}\", wave: \"${IV_NONE:-sine}\" } ] }", E));
    CHECK_EQUAL(live()->gain, 1.25);
    CHECK_EQUAL(live()->count, 33);
    CHECK_TEXT(live()->label, "x0.5");
    CHECK(!live()->on);
    CHECK_EQUAL(live()->wave, 0);
    /* A refresh changes the values of traits, too. */
    set("IV_COUNT", "4");
    OK(refresh(E));
    CHECK_EQUAL(live()->count, 44);
    CHECK_TEXT(report(), "a.t.count 2(a.yaml) a.yaml:1:58");
    end();
}

/* A value that is not suitable, in each place where it may be given. */
static void no_error_shows_a_value(void) {
    set("IV_SECRET", "hunter2"), set("IV_BIG", "1234");
    set("IV_S__b__rate", "hunter2"), set("IV_S__b__count", "1234"), set("IV_S__b__map", "{x: hunter2, y: 1234}");
    begin("IV_S__");
    invivo_config id;
    expects_error(document("traits:\n  a.t:\n    - Set:\n        gain: ${IV_SECRET}\n        count: x${IV_BIG}\n        wave: ${IV_SECRET}\n        label: '${IV_SECRET}${IV_SECRET}${IV_SECRET}${IV_SECRET}'\n        on: ${IV_BIG}\n", E), INVIVO_E_TYPE,
                  "a.yaml:4:15: traits.a.t[0].Set.gain: the environment variable 'IV_SECRET' gives an unsuitable value; expected a number from 0 to 2\n"
                  "a.yaml:5:16: traits.a.t[0].Set.count: the environment variable 'IV_BIG' gives an unsuitable value; expected a whole number\n"
                  "a.yaml:6:15: traits.a.t[0].Set.wave: the environment variable 'IV_SECRET' gives a value outside of the range; expected one of sine, saw\n"
                  "a.yaml:7:16: traits.a.t[0].Set.label: the environment variable 'IV_SECRET' gives a value outside of the range; expected a string of at most 23 bytes\n"
                  "a.yaml:8:13: traits.a.t[0].Set.on: the environment variable 'IV_BIG' gives an unsuitable value; expected a bool");
    expects_error(document("traits:\n  a.t:\n    - Set:\n        gain: ${IV_BIG}\n", E), INVIVO_E_RANGE,
                  "a.yaml:4:15: traits.a.t[0].Set.gain: the environment variable 'IV_BIG' gives a value outside of the range; expected a number from 0 to 2");
    /* The property is set, but has another value then; and it is refused. */
    set("IV_BIG", "777");
    OK(refresh(E));
    OK(document("traits:\n  a.t:\n    - Set:\n        clamped: ${IV_BIG}\n", E));
    CHECK_TEXT(report(), "a.t.clamped 2(a.yaml) a.yaml:4:18; warning: a.yaml:4:18: a.t.clamped: the object returns another value than the environment variable 'IV_BIG' gives");
    set("IV_BIG", "1234");
    expects_error(refresh(E), INVIVO_E_RANGE, "a.yaml:4:18: a.t.clamped: the environment variable 'IV_BIG' gives a value outside of the range; expected a number");
    OK(document("{}", E));
    /* The layer of the environment. */
    expects_error(invivo_config_id(runtime, "b.rate", INVIVO_KIND_INT64, &id, E), INVIVO_E_TYPE,
                  "IV_S__b__rate: config.b.rate: the host reads it as an int64: the environment variable 'IV_S__b__rate' gives an unsuitable value; expected an int64");
    expects_error(invivo_config_id(runtime, "b.map", INVIVO_KIND_INT64, &id, E), INVIVO_E_TYPE,
                  "IV_S__b__map: config.b.map: the host reads it as an int64: the environment variable 'IV_S__b__map' gives an unsuitable value; expected an int64");
    CHECK_EQUAL(invivo_config_id(runtime, "b.count", INVIVO_KIND_INT8, &id, E), INVIVO_E_RANGE);
    CHECK(!strstr(invivo_error_text(check_error), "1234"));
    invivo_error_release(check_error);
    CHECK(!strstr(logged, "hunter2"));
    CHECK(!strstr(logged, "1234"));
    end();
    unsetenv("IV_S__b__rate"), unsetenv("IV_S__b__count"), unsetenv("IV_S__b__map");
}

/* A value that is the name of something: it is not shown if that is not there. */
static void no_error_shows_a_value_that_is_a_name(void) {
    static const struct { const char *text, *message; } wrong[] = {
        {"config: { a: \"file:${IV_SECRET}\" }", "a.yaml:1:14: config.a: the file of this value cannot be read: no such file"},
        {"config: { a: \"file:../${IV_SECRET}\" }", NULL},
        {"config: { a: \"file:/${IV_SECRET}/x\" }", NULL},
        {"include: \"${IV_SECRET}\"", "a.yaml:1:10: include: the file cannot be included: no such file"},
        {"include: [\"../${IV_SECRET}\"]", NULL},
        {"traits: { a.t: [{ Inherit: { traits: \"${IV_SECRET}\" } }] }",
         "a.yaml:1:38: traits.a.t[0].Inherit.traits: no document has traits for the key that is the value of the environment variable 'IV_SECRET'"},
        {"traits: { a.t: [{ type: \"${IV_SECRET}\" }] }", NULL},
        {"wiring: { a.part: { alias: \"${IV_SECRET}\" } }",
         "a.yaml:1:28: wiring.a.part: no definition has the key that is the value of the environment variable 'IV_SECRET'"},
        {"wiring: { a.part: { scope: \"${IV_SECRET}\" } }",
         "a.yaml:1:28: wiring.a.part: no scope is registered whose name is the value of the environment variable 'IV_SECRET'"},
        {"wiring: { a.part: { scope: \"${IV_NEAR}\" } }", NULL},
        {"wiring: { a.part: { choose: \"${IV_SECRET}\" } }", NULL},
        {"traits: { a.t: [{ When: { profile: \"${IV_SECRET}\", traits: [{ Set: { gain: 99 } }] } }] }", NULL},
        {"traits: { a.t: [{ Ramp: { to: { gain: 1 }, over: \"${IV_SECRET}\" } }] }", NULL},
        {"traits: { a.t: [{ Set: { label: a } }, { Scale: { gain: \"${IV_SECRET}\" } }] }", NULL}};
    const char *roots[] = {"."};
    char folder[512];
    invivo_runtime_options options;
    if (!getcwd(folder, sizeof folder)) return;
    roots[0] = folder;
    set("IV_SECRET", "hunter2"), set("IV_NEAR", "singletonn");
    invivo_runtime_options_init(&options);
    options.document_roots = roots, options.document_root_count = 1;
    options.log = keep_log, options.log_level = INVIVO_LOG_TRACE;
    logged[0] = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options voice_type = {.struct_size = sizeof voice_type, .name = "Voice", .size = sizeof(voice), .properties = properties,
                                      .property_count = sizeof properties / sizeof *properties};
    OK(invivo_type_register(runtime, &voice_type, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_target_attach(object, "a.t", NULL, E));
    const invivo_definition part = {.struct_size = sizeof part, .key = "a.part", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
    OK(invivo_define(runtime, &part, NULL, E));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        invivo_error *error = NULL;
        CHECK(document(wrong[i].text, &error) != INVIVO_OK);
        if (!error) continue;
        const char *text = invivo_error_text(error);
        if (strstr(text, "hunter2") || strstr(text, "singletonn") || (wrong[i].message && strcmp(text, wrong[i].message)))
            check_failed(__FILE__, __LINE__, "%s: %s", wrong[i].text, text);
        invivo_error_release(error);
    }
    if (strstr(logged, "hunter2") || strstr(logged, "singletonn")) check_failed(__FILE__, __LINE__, "the log: %s", logged);
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

static void the_receiver_decides_the_kind(void) {
    set("IV_K__b__text", "0123"), set("IV_K__b__number", "12"), set("IV_K__b__on", "true");
    begin("IV_K__");
    is_number("b.text", 123);
    OK(document("config: { b: { quoted: \"${IV_K__b__number}\" } }", E));
    is_text("b.quoted", "12");
    const invivo_injection values[] = {config("label", "text"), config("count", "number"), config("gain", "quoted"), config("on", "on")};
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "b.voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
                                          .properties = values, .property_count = 4};
    invivo_object found;
    OK(document("config: { b: { quoted: \"1.${IV_K__b__number}\" } }", E));
    OK(invivo_define(runtime, &definition, NULL, E));
    OK(invivo_resolve_name(runtime, "b.voice", &found, E));
    CHECK_TEXT(instance(found)->label, "0123");
    CHECK_EQUAL(instance(found)->count, 12);
    CHECK_EQUAL(instance(found)->gain, 1.12);
    CHECK(instance(found)->on);
    OK(invivo_object_release(found));
    /* A value that does not fit is refused where it comes from. */
    set("IV_K__b__number", "twelve");
    expects_error(refresh(E), INVIVO_E_CONVERSION,
                  "IV_K__b__number: config.b.number: the property 'count' of 'b.voice': the environment variable 'IV_K__b__number' gives an unsuitable value; expected a whole number\n"
                  "a.yaml:1:24: config.b.quoted: the property 'gain' of 'b.voice': the environment variable 'IV_K__b__number' gives an unsuitable value; expected a number from 0 to 2");
    end();
    unsetenv("IV_K__b__text"), unsetenv("IV_K__b__number"), unsetenv("IV_K__b__on");
}

/* The kind of an id is that of its value in views. */
static void the_declared_kind_decides_in_views(void) {
    set("IV_V__b__text", "0123"), set("IV_V__b__number", "12"), set("IV_V__b__later", "7");
    begin("IV_V__");
    OK(document("config: { b: { quoted: \"${IV_V__b__number}\", plain: \"x\" } }", E));
    invivo_config text, quoted, later, other;
    OK(invivo_config_id(runtime, "b.text", INVIVO_KIND_STRING, &text, E));
    OK(invivo_config_id(runtime, "b.quoted", INVIVO_KIND_INT64, &quoted, E));
    OK(invivo_config_id(runtime, "b.later", INVIVO_KIND_STRING, &later, E));
    invivo_view view = invivo_view_begin(runtime);
    CHECK_TEXT(invivo_view_config_string(view, text, "none"), "0123");
    CHECK_EQUAL(invivo_view_config_int64(view, quoted, -1), 12);
    CHECK_TEXT(invivo_view_config_string(view, later, "none"), "7");
    invivo_view_end(view);
    /* Later values, too. */
    set("IV_V__b__text", "0456"), set("IV_V__b__number", "13"), unsetenv("IV_V__b__later");
    OK(refresh(E));
    set("IV_V__b__later", "true");
    OK(refresh(E));
    view = invivo_view_begin(runtime);
    CHECK_TEXT(invivo_view_config_string(view, text, "none"), "0456");
    CHECK_EQUAL(invivo_view_config_int64(view, quoted, -1), 13);
    CHECK_TEXT(invivo_view_config_string(view, later, "none"), "true");
    invivo_view_end(view);
    /* Both at once is not possible. */
    expects_error(invivo_config_id(runtime, "b.text", INVIVO_KIND_INT64, &other, E), INVIVO_E_TYPE, NULL);
    expects_error(invivo_config_id(runtime, "b.plain", INVIVO_KIND_INT64, &other, E), INVIVO_E_TYPE, NULL);
    end();
    unsetenv("IV_V__b__text"), unsetenv("IV_V__b__number"), unsetenv("IV_V__b__later");
}

static void a_value_that_is_not_utf8(void) {
    set("IV_BAD", "a\xff" "b"), set("IV_U__bad", "a\xff" "b");
    expects_error(open_with("IV_U__", 0, 0, E), INVIVO_E_ENCODING, "IV_U__bad: the value of the environment variable is not UTF-8");
    unsetenv("IV_U__bad");
    begin("IV_U__");
    expects_error(document("config: { a: { b: \"x${IV_BAD}\" } }", E), INVIVO_E_ENCODING, "a.yaml:1:21: config.a.b: the environment variable 'IV_BAD' is not UTF-8");
    OK(document("config: { a: { b: \"x${IV_NONE:-}\" } }", E));
    set("IV_U__bad", "\xc3");
    expects_error(refresh(E), INVIVO_E_ENCODING, "IV_U__bad: the value of the environment variable is not UTF-8");
    is_text("a.b", "x");
    end();
    unsetenv("IV_U__bad"), unsetenv("IV_BAD");
    CHECK(putenv((char *)(uintptr_t)"IV_U__\xff=1") == 0);
    expects_error(open_with("IV_U__", 0, 0, E), INVIVO_E_ENCODING, "the name of an environment variable is not UTF-8: 'IV_U__\xef\xbf\xbd'");
    unsetenv("IV_U__\xff");
    /* Without the prefix, a name belongs to somebody else. */
    CHECK(putenv((char *)(uintptr_t)"IV_OTHER_\xff=1") == 0);
    begin("IV_U__");
    end();
    unsetenv("IV_OTHER_\xff");
}

/* Its content is not shown, even if it is empty. */
static void an_empty_list_of_a_variable_has_its_origin(void) {
    set("IV_M__a__n", "[]");
    begin("IV_M__");
    const invivo_injection gain = {.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = "/a.n"};
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "a.voice", .type = type, .scope = INVIVO_SCOPE_SINGLETON,
                                          .properties = &gain, .property_count = 1};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_TYPE,
                  "IV_M__a__n: config.a.n: the property 'gain' of 'a.voice': the environment variable 'IV_M__a__n' gives an unsuitable value; "
                  "expected a number from 0 to 2");
    end();
    unsetenv("IV_M__a__n");
}

static void limits_of_the_layer(void) {
    set("IV_L__a", "[1, 2, 3]"), set("IV_L__b", "12345678901234567890");
    expects_error(open_with("IV_L__", 16, 0, E), INVIVO_E_TOO_LARGE, "IV_L__b: the variables have more than 16 bytes together; max_document_bytes permits more");
    expects_error(open_with("IV_L__", 0, 4, E), INVIVO_E_TOO_LARGE, "IV_L__b: the variables have more than 4 values together; max_document_nodes permits more");
    expects_error(open_with("IV_L__", 0, 3, E), INVIVO_E_TOO_LARGE,
                  "IV_L__a: the document has more than the 3 values allowed; max_document_nodes permits more");
    unsetenv("IV_L__a"), unsetenv("IV_L__b");
    char deep[300] = "";
    for (int i = 0; i < 140; i++) strcat(deep, "[");
    set("IV_L__deep", deep);
    expects_error(open_with("IV_L__", 0, 0, E), INVIVO_E_TOO_LARGE, "IV_L__deep: lists and maps lie deeper inside each other than the 64 levels allowed");
    unsetenv("IV_L__deep");
    char name[512] = "IV_L__a";
    for (int i = 0; i < 64; i++) strcat(name, "__a");
    set(name, "1");
    CHECK_EQUAL(open_with("IV_L__", 0, 0, NULL), INVIVO_E_TOO_LARGE);
    unsetenv(name);
}

static void wrong_variables_refuse_the_opening(void) {
    expects_error(open_with("", 0, 0, E), INVIVO_E_ARGUMENT, "options.environment_prefix is empty; expected the beginning of the names of variables, such as INVIVO__; leave the prefix out for no variables");
    expects_error(open_with("A=", 0, 0, E), INVIVO_E_ARGUMENT, "options.environment_prefix is 'A='; expected the beginning of the names of variables, such as INVIVO__; leave the prefix out for no variables");
    set("IV_W__", "1"), set("IV_W__a.b", "1"), set("IV_W__c", "{x: [}"), set("IV_W__d", "{a: 1, a: 2}"), set("IV_W___e", "1");
    expects_error(open_with("IV_W__", 0, 0, E), INVIVO_E_SPEC,
                  "IV_W__: a part of the name is empty; expected IV_W__NAME or IV_W__NAME__NAME, such as IV_W__audio__rate for the path audio.rate\n"
                  "IV_W__a.b: the name contains a dot; expected IV_W__NAME or IV_W__NAME__NAME: write two underscores between the names of the path\n"
                  "IV_W__c: the value is not a list or map of YAML in flow form: error at column 6; expected such as [1, 2] or {a: 1}\n"
                  "IV_W__d: the value is not a list or map of YAML in flow form: error at column 8; expected such as [1, 2] or {a: 1}");
    unsetenv("IV_W__"), unsetenv("IV_W__a.b"), unsetenv("IV_W__c"), unsetenv("IV_W__d");
    begin("IV_W__");
    is_number("_e", 1);
    /* A wrong one refuses the refresh. */
    set("IV_W__a____b", "5");
    uint64_t before = generation();
    CHECK_EQUAL(refresh(NULL), INVIVO_E_SPEC);
    CHECK_EQUAL(generation(), before);
    unsetenv("IV_W__a____b");
    OK(refresh(E));
    CHECK_EQUAL(generation(), before);
    end();
    unsetenv("IV_W___e");
}

static void a_refresh_without_changes_is_no_reload(void) {
    set("IV_A", "1"), set("IV_R__a__two", "1");
    begin("IV_R__");
    OK(document("config: { a: { one: \"${IV_A}\" } }", E));
    uint64_t before = generation();
    OK(refresh(E));
    CHECK_EQUAL(generation(), before);
    set("IV_A", "2");
    OK(refresh(E));
    CHECK_EQUAL(generation(), before + 1);
    is_text("a.one", "2");
    expects_error(invivo_runtime_refresh_environment((invivo_runtime){0}, E), INVIVO_E_HANDLE, NULL);
    end();
    unsetenv("IV_R__a__two");
}

static void an_edit_is_read_with_the_copy(void) {
    set("IV_A", "1");
    begin(NULL);
    char folder[] = "/tmp/invivo-environment-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.yaml", folder);
    write_text(path, "config: { a: { one: \"${IV_A}\" } }");
    invivo_source_options options = {.struct_size = sizeof options, .path = path, .name = "a.yaml"};
    invivo_source source;
    OK(invivo_source_open(runtime, &options, &source, E));
    is_text("a.one", "1");
    set("IV_A", "2");
    write_text(path, "config: { a: { one: \"x${IV_A}\" } }");
    OK(invivo_source_refresh(source, E));
    is_text("a.one", "x1");
    OK(refresh(E));
    is_text("a.one", "x2");
    /* The live content is read again, and not the file. */
    write_text(path, "config: { a: { one: [");
    CHECK_EQUAL(invivo_source_refresh(source, NULL), INVIVO_E_SYNTAX);
    set("IV_A", "3");
    OK(refresh(E));
    is_text("a.one", "x3");
    OK(invivo_source_close(source, E));
    CHECK(remove(path) == 0 && remove(folder) == 0);
    end();
}

static void a_mark_keeps_the_copy(void) {
    set("IV_A", "1"), set("IV_M__a__two", "1");
    begin("IV_M__");
    OK(document("config: { a: { one: \"${IV_A}\" } }", E));
    uint64_t marked = 0;
    OK(invivo_mark(runtime, "good", &marked, E));
    char value[16];
    for (int i = 2; i < 40; i++) {
        snprintf(value, sizeof value, "%d", i);
        set("IV_A", value), set("IV_M__a__two", value);
        OK(refresh(E));
    }
    is_number("a.two", 39);
    OK(invivo_rollback(runtime, marked, E));
    is_text("a.one", "1");
    is_number("a.two", 1);
    CHECK_TEXT(report(), "a.one 7(a.yaml) a.yaml:1:21; a.two 7(IV_M__a__two) IV_M__a__two:0:0");
    end();
    unsetenv("IV_M__a__two");
}

/* Without the option environment_prefix, and with it. */
static void profiles_belong_to_the_generation(void) {
    for (int round = 0; round < 2; round++) {
        set("INVIVO_PROFILES", "stage");
        begin(round ? "IV_P__" : NULL);
        const char *text = "traits: { a.t: [ When: { profile: stage, traits: [Set: { count: 5 }], otherwise: [Set: { count: 6 }] } ] }";
        OK(document(text, E));
        CHECK_EQUAL(live()->count, 5);
        /* The variable is read with the copy only. */
        set("INVIVO_PROFILES", "studio");
        OK(document("traits: { a.t: [ When: { profile: stage, traits: [Set: { count: 7 }] } ] }", E));
        CHECK_EQUAL(live()->count, 7);
        OK(document(text, E));
        uint64_t marked = 0;
        OK(invivo_mark(runtime, "stage", &marked, E));
        OK(refresh(E));
        CHECK_EQUAL(live()->count, 6);
        CHECK_TEXT(report(), "a.t.count 2(a.yaml) a.yaml:1:97");
        OK(invivo_rollback(runtime, marked, E));
        CHECK_EQUAL(live()->count, 5);
        /* A value that is not UTF-8 refuses the refresh where a trait asks for a profile. */
        set("INVIVO_PROFILES", "\xff");
        expects_error(refresh(E), INVIVO_E_ENCODING,
                      "a.yaml:1:18: traits.a.t[0].When.profile: the environment variable 'INVIVO_PROFILES' is not UTF-8");
        CHECK_EQUAL(live()->count, 5);
        unsetenv("INVIVO_PROFILES");
        OK(refresh(E));
        CHECK_EQUAL(live()->count, 6);
        end();
    }
}

static void a_report_names_the_variable(void) {
    set("IV_A", "1");
    begin("IV_O__");
    set("IV_O__b__list", "[1, 2]"), set("IV_O__b__x", "1"), set("IV_A", "2");
    OK(document("config:\n  b: { x: 5, y: \"${IV_A}\" }\n", E));
    CHECK_TEXT(report(), "b.x 2(a.yaml) a.yaml:2:11; b.y 2(a.yaml) a.yaml:2:17");
    OK(refresh(E));
    CHECK_TEXT(report(), "b.x 8(IV_O__) IV_O__b__x:0:0; b.y 2(a.yaml) a.yaml:2:17; b.list 8(IV_O__) IV_O__b__list:0:0");
    unsetenv("IV_O__b__x");
    OK(refresh(E));
    CHECK_TEXT(report(), "b.x 2(a.yaml) a.yaml:2:11");
    end();
    unsetenv("IV_O__b__list");
}

int main(void) {
    check_begin();
    RUN_TEST(a_parameter_of_a_trait);
    RUN_TEST(no_error_shows_a_value);
    RUN_TEST(no_error_shows_a_value_that_is_a_name);
    RUN_TEST(the_receiver_decides_the_kind);
    RUN_TEST(the_declared_kind_decides_in_views);
    RUN_TEST(a_value_that_is_not_utf8);
    RUN_TEST(an_empty_list_of_a_variable_has_its_origin);
    RUN_TEST(limits_of_the_layer);
    RUN_TEST(wrong_variables_refuse_the_opening);
    RUN_TEST(a_refresh_without_changes_is_no_reload);
    RUN_TEST(an_edit_is_read_with_the_copy);
    RUN_TEST(a_mark_keeps_the_copy);
    RUN_TEST(profiles_belong_to_the_generation);
    RUN_TEST(a_report_names_the_variable);
    return check_end();
}
