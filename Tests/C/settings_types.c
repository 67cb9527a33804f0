/* Types of settings that manifests name, and types as which settings are read. docs/rules/spec-files.md, Typed settings. */
/* sanitize: yes */
#include "check.h"

typedef struct audio { double rate; int64_t voices; } audio;
static const invivo_property fields[] = {INVIVO_FIELD(audio, rate, .initial = 48000, .unit = "Hz"),
                                         INVIVO_FLAGGED_FIELD(audio, INVIVO_PROPERTY_REQUIRED, voices, .min = 1, .max = 64)};
static int destroyed, bound;
static char sections[256];
static bool binds_nothing, binds_other, adds_twice;

static void destroy(void *user_data) {
    (void)user_data;
    destroyed++;
}
static invivo_status bind(invivo_changes changes, const char *name, const char *path, void *user_data, invivo_error **error) {
    size_t length = strlen(sections);
    snprintf(sections + length, sizeof sections - length, "%s=%s ", name, path);
    bound++;
    if (binds_nothing) return INVIVO_OK;
    invivo_settings settings = {.struct_size = sizeof settings, .name = binds_other ? "Other" : name, .path = path, .fields = fields,
                                .field_count = 2, .size = sizeof(audio), .type = user_data};
    return invivo_changes_bind_settings(changes, &settings, error);
}
static invivo_settings_type audio_type(void) {
    return (invivo_settings_type){.struct_size = sizeof(invivo_settings_type), .name = "Audio", .bind = bind, .destroy = destroy,
                                  .user_data = (void *)"audio"};
}
/* A module of the application. */
static invivo_status load(void *user_data, invivo_runtime loading, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path;
    invivo_settings_type type = audio_type();
    invivo_status status = invivo_settings_type_add(loading, &type, error);
    return status || !adds_twice ? status : invivo_settings_type_add(loading, &type, error);
}
static invivo_app_options begin(const char *manifest, const char *spec) {
    static invivo_runtime_options silent;
    invivo_runtime_options_init(&silent);
    silent.log_level = INVIVO_LOG_SILENT, silent.load_timeout_ms = 120000;
    destroyed = bound = 0, sections[0] = 0;
    binds_nothing = binds_other = adds_twice = false;
    char text[1024];
    snprintf(text, sizeof text, "modules: { audio: audio.py }\nspecs: [spec.yaml]\n%s", manifest);
    write_text("audio.py", "");
    write_text("app.yaml", text);
    write_text("spec.yaml", spec);
    return (invivo_app_options){.struct_size = sizeof(invivo_app_options), .manifest = "app.yaml", .load_module = load, .runtime = &silent};
}
static void end(void) { unlink("app.yaml"), unlink("spec.yaml"), unlink("audio.py"); }

/* An error of the call contains a text. */
#define FAILS(call, code, part) (check_error = NULL, fails(__LINE__, (call), code, part))
static void fails(int line, invivo_status status, invivo_status code, const char *part) {
    if (status != code) check_failed(__FILE__, line, "the status is %d, not %d", (int)status, (int)code);
    if (!strstr(invivo_error_text(check_error), part)) check_failed(__FILE__, line, "'%s' is missing in:\n%s", part, invivo_error_text(check_error));
    invivo_error_release(check_error);
    check_error = NULL;
}

static audio read_settings(invivo_runtime runtime, const char *name) {
    invivo_config id;
    audio read = {0};
    if (!OK(invivo_settings_typed_id(runtime, name, "audio", sizeof(audio), &id, E))) return read;
    invivo_view view = invivo_view_begin(runtime);
    const audio *seen = invivo_view_settings(view, id);
    if (CHECK(seen)) read = *seen;
    invivo_view_end(view);
    return read;
}

static void a_manifest_binds_sections(void) {
    invivo_app app;
    invivo_runtime runtime;
    invivo_app_options options = begin("settings: { audio: Audio, synth.left: { type: Audio, name: left } }\n"
                                       "config: { audio: { voices: 3 } }\n",
                                       "config: { audio: { rate: 44.1 kHz }, synth: { left: { voices: 5 } } }\n");
    if (OK(invivo_app_open(&app, &options, E))) {
        OK(invivo_app_runtime(app, &runtime, E));
        audio all = read_settings(runtime, "Audio"), left = read_settings(runtime, "left");
        CHECK_EQUAL(all.rate, 44100), CHECK_EQUAL(all.voices, 3), CHECK_EQUAL(left.voices, 5), CHECK_EQUAL(left.rate, 48000);
        CHECK_TEXT(sections, "Audio=audio left=synth.left ");
        OK(invivo_app_close(app, E));
    }
    CHECK_EQUAL(destroyed, 1);
    end();
}

static void a_check_reads_the_sections(void) {
    invivo_app_options options = begin("settings: { audio: Audio }\n", "config:\n  audio: { voices: 99, raet: 1 }\n");
    FAILS(invivo_app_check(&options, 0, NULL, E), INVIVO_E_RANGE, "spec.yaml:2:20: config.audio.voices: ");
    FAILS(invivo_app_check(&options, 0, NULL, E), INVIVO_E_RANGE,
                  "spec.yaml:2:24: config.audio.raet: the settings 'Audio' have no field 'raet'; did you mean 'rate'?");
    options = begin("settings: { audio: Audio }\n", "config: { audio: {} }\n");
    FAILS(invivo_app_check(&options, 0, NULL, E), INVIVO_E_NOT_CONFIGURED,
                  "spec.yaml:1:18: config.audio.voices: the settings 'Audio' need 'voices', which is not set");
    options = begin("settings: { audio: Audio }\n", "config: { audio: { voices: 4 } }\n");
    OK(invivo_app_check(&options, 0, NULL, E));
    CHECK_EQUAL(destroyed, 1);
    end();
}

/* An error elsewhere repeats the check without the files: it adds no error of a section. */
static void other_errors_bring_no_errors_of_sections(void) {
    invivo_app_options options = begin("settings: { audio: Audio }\ncomponents: { a.one: { alias: a.two } }\n", "config: { audio: { voices: 4 } }\n");
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_app_check(&options, 0, NULL, &error), INVIVO_E_NOT_FOUND);
    CHECK(strstr(invivo_error_text(error), "a.two") && !strstr(invivo_error_text(error), "voices"));
    invivo_error_release(error);
    end();
}

static void wrong_entries_are_reported(void) {
    static const struct { const char *manifest, *text; } wrong[] = {
        {"settings: { audio: Adio }\n", "app.yaml:3:20: settings.audio: no module has a settings type 'Adio'; did you mean 'Audio'?"},
        {"settings: { audio: Sound }\n", "app.yaml:3:20: settings.audio: no module has a settings type 'Sound'; there are: Audio"},
        {"settings: { audio: { typ: Audio } }\n", "app.yaml:3:22: settings.audio: unknown key 'typ'; did you mean 'type'?"},
        {"settings: { audio: { name: left } }\n", "app.yaml:3:13: settings.audio: the key 'type' is missing; it has the name of a settings type"},
        {"settings: { audio: 5 }\n", "app.yaml:3:20: settings.audio: expected the name of a settings type"},
        {"settings: [Audio]\n", "app.yaml:3:11: settings: expected a map of sections and their types, found a list"},
        {"settings: { audio: Audio, other: Audio }\n",
         "app.yaml:3:34: settings.other: the sections 'audio' and 'other' are both bound as 'Audio': name one of them"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        invivo_app_options options = begin(wrong[i].manifest, "config: { audio: { voices: 4 } }\n");
        FAILS(invivo_app_check(&options, 0, NULL, E), i < 2 ? INVIVO_E_NOT_FOUND : INVIVO_E_SPEC, wrong[i].text);
    }
    end();
}

static void types_are_checked(void) {
    invivo_app_options options = begin("settings: { audio: Audio }\n", "config: { audio: { voices: 4 } }\n");
    binds_nothing = true;
    FAILS(invivo_app_check(&options, 0, NULL, E), INVIVO_E_ARGUMENT, "has bound no settings with the name 'Audio'");
    binds_nothing = false, binds_other = true;
    FAILS(invivo_app_check(&options, 0, NULL, E), INVIVO_E_ARGUMENT, "app.yaml:3:20: settings.audio: ");
    binds_other = false, adds_twice = true;
    FAILS(invivo_app_check(&options, 0, NULL, E), INVIVO_E_EXISTS, "the module 'audio' cannot be loaded");
    CHECK_EQUAL(destroyed, 4);
    end();
    invivo_runtime runtime;
    OK(invivo_runtime_open(&runtime, NULL, E));
    invivo_settings_type type = audio_type();
    destroyed = 0;
    type.name = "";
    FAILS(invivo_settings_type_add(runtime, &type, E), INVIVO_E_ARGUMENT, "type.name is empty");
    type.name = "Audio", type.bind = NULL;
    FAILS(invivo_settings_type_add(runtime, &type, E), INVIVO_E_ARGUMENT, "type.bind is NULL");
    CHECK_EQUAL(destroyed, 2);
    type.bind = bind;
    OK(invivo_settings_type_add(runtime, &type, E));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(destroyed, 3);
}

/* ---- the type as which settings are read --------------------------------------------------------------- */

static invivo_status bind_as(invivo_runtime runtime, const char *type, uint64_t size, invivo_error **error) {
    static const invivo_property none[] = {{.struct_size = sizeof(invivo_property), .name = "n", .kind = INVIVO_KIND_INT64, .size = 8}};
    invivo_settings settings = {.struct_size = sizeof settings, .name = "S", .path = "s", .fields = none, .field_count = 1, .size = size,
                                .type = type};
    return invivo_settings_bind(runtime, &settings, error);
}
static invivo_status create(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    (void)section, (void)user_data, (void)error;
    *out = &destroyed;
    return INVIVO_OK;
}
static void settings_are_read_as_their_type(void) {
    invivo_runtime runtime;
    invivo_config id;
    OK(invivo_runtime_open(&runtime, NULL, E));
    FAILS(invivo_settings_typed_id(runtime, "S", "one", 16, &id, E), INVIVO_E_NOT_FOUND, "no binding of settings has the name 'S'");
    OK(bind_as(runtime, "one", 16, E));
    FAILS(invivo_settings_typed_id(runtime, "S", "other", 16, &id, E), INVIVO_E_TYPE,
                  "S: the settings 'S' are read as 'other', a type of 16 bytes, and are bound to 'one'");
    FAILS(invivo_settings_typed_id(runtime, "S", "one", 24, &id, E), INVIVO_E_TYPE, "are bound to a struct of 16 bytes");
    CHECK_EQUAL(id.bits, 0);
    OK(bind_as(runtime, "other", 16, E)); /* nobody reads it as `one` */
    OK(invivo_settings_typed_id(runtime, "S", "other", 16, &id, E));
    FAILS(bind_as(runtime, "one", 16, E), INVIVO_E_TYPE, "are read as 'other'");
    OK(invivo_settings_unbind(runtime, "S", E));
    FAILS(bind_as(runtime, NULL, 8, E), INVIVO_E_TYPE, "are bound to a struct of 8 bytes");
    OK(bind_as(runtime, NULL, 16, E));
    OK(invivo_settings_unbind(runtime, "S", E));
    invivo_settings host = {.struct_size = sizeof host, .name = "S", .path = "s", .create = create};
    FAILS(invivo_settings_bind(runtime, &host, E), INVIVO_E_TYPE, "are bound to values of another language");
    host.type = "other";
    OK(invivo_settings_bind(runtime, &host, E));
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_manifest_binds_sections);
    RUN_TEST(a_check_reads_the_sections);
    RUN_TEST(other_errors_bring_no_errors_of_sections);
    RUN_TEST(wrong_entries_are_reported);
    RUN_TEST(types_are_checked);
    RUN_TEST(settings_are_read_as_their_type);
    return check_end();
}
