/* The assemblies of an application: listed by the manifest from described ones, or given by the host. */
#include "thing.h"

static char directory[] = "/tmp/invivo-assemblies-XXXXXX";
static char manifest[256];

static void write_manifest(const char *text) {
    FILE *file = fopen(manifest, "w");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}

static const invivo_definition stage_table[] = {
    INVIVO_LAZY_SINGLETON("clock", "Thing"),
    INVIVO_LAZY_SINGLETON("other", "Thing"),
};
static const invivo_definition voice_table[] = {
    INVIVO_LAZY_SINGLETON("lead", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("stage.clock")))),
};
static const invivo_assembly stage = {.struct_size = sizeof stage, .name = "stage", .definitions = stage_table, .definition_count = 2,
                                      .file = "stage.c", .line = 1};
static const invivo_assembly voice = {.struct_size = sizeof voice, .name = "voice", .definitions = voice_table, .definition_count = 1,
                                      .file = "voice.c", .line = 1};

/* A module whose entry describes assemblies and activates none. */
static invivo_status load(void *user_data, invivo_runtime runtime, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)path;
    thing_register(runtime, "Thing");
    if (strcmp(name, "empty") == 0) return INVIVO_OK;
    invivo_status status = invivo_assembly_describe(runtime, &stage, error);
    return status ? status : invivo_assembly_describe(runtime, &voice, error);
}
static invivo_status give(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error) {
    const invivo_remap remaps[] = {{"stage.clock", "stage.other"}};
    (void)user_data, (void)runtime;
    invivo_status status = invivo_changes_activate(changes, &stage, NULL, error);
    return status ? status : invivo_changes_mount(changes, &voice, "left", remaps, 1, error);
}
static invivo_status refuse(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error) {
    (void)user_data, (void)runtime, (void)changes;
    *error = invivo_error_make(INVIVO_E_HOST, "no assemblies today", NULL, NULL);
    return INVIVO_E_HOST;
}

typedef invivo_status (*giving)(void *, invivo_runtime, invivo_changes, invivo_error **);

static invivo_status open_app(invivo_app *app, giving assemblies, invivo_error **error) {
    invivo_app_options options = {.struct_size = sizeof options, .manifest = manifest, .load_module = load, .assemblies = assemblies};
    return invivo_app_open(app, &options, error);
}

static void the_manifest_activates_and_mounts(void) {
    invivo_app app;
    invivo_runtime runtime;
    write_manifest("modules: { music: music.py }\n"
                   "assemblies:\n"
                   "  - { mount: voice, as: left, remap: { stage.clock: stage.other } }\n"
                   "  - stage\n"
                   "  - { mount: voice, as: band.right }\n"
                   "components:\n"
                   "  user: { type: Thing, properties: { left: $left.lead } }\n");
    OK(open_app(&app, NULL, E));
    OK(invivo_app_runtime(app, &runtime, E));
    invivo_object lead = thing_of(thing_shared(runtime, "user"))->left;
    CHECK_TEXT(thing_key(lead), "left.lead");
    CHECK_TEXT(thing_key(thing_of(lead)->left), "stage.other");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "band.right.lead"))->left), "stage.clock");
    invivo_object none;
    expects_error(invivo_resolve_name(runtime, "voice.lead", &none, E), INVIVO_E_NOT_READY,
        "voice.lead: the assembly 'voice' must be activated before 'voice.lead' is resolved");
    OK(invivo_app_close(app, E));
}

static void the_host_may_give_them_instead(void) {
    invivo_app app;
    invivo_runtime runtime;
    invivo_error *error = NULL;
    write_manifest("modules: { music: music.py }\n");
    OK(open_app(&app, give, E));
    OK(invivo_app_runtime(app, &runtime, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "left.lead"))->left), "stage.other");
    OK(invivo_app_close(app, E));
    CHECK(open_app(&app, refuse, &error) == INVIVO_E_HOST);
    CHECK(error && strstr(invivo_error_text(error), "no assemblies today"));
    invivo_error_release(error);
}

/* `lines`: the expected errors, one per line, without the directory of the manifest. */
static void refused(giving assemblies, const char *lines) {
    invivo_app app = {0};
    invivo_error *error = NULL;
    char text[4096] = "";
    CHECK(open_app(&app, assemblies, &error) != INVIVO_OK);
    for (size_t i = 0; error && i < invivo_error_count(error); i++) {
        const char *line = invivo_error_text(invivo_error_at(error, i)), *name = strstr(line, "app.yaml");
        strncat(strncat(text, name ? name : line, sizeof text - strlen(text) - 2), "\n", 2);
    }
    CHECK_TEXT(text, lines);
    invivo_error_release(error);
}

static void errors_have_their_locations(void) {
    write_manifest("modules: { music: music.py }\nassemblies: [stage]\n");
    refused(give, "app.yaml:2:14: assemblies[0]: the manifest lists assemblies, and the host gives others: use only one of the "
                  "two\n");
    write_manifest("modules: { music: music.py }\nassemblies: [stge, { mount: voise, as: left }]\n"
                   "components: { x: { type: Thing, properties: { numer: 1 } } }\n");
    refused(NULL, "app.yaml:2:14: assemblies[0]: no module describes an assembly 'stge'; did you mean 'stage'?\n"
                  "app.yaml:2:20: assemblies[1]: no module describes an assembly 'voise'; did you mean 'voice'?\n"
                  "app.yaml:3:47: components.x.properties.numer: Thing has no property 'numer'; did you mean 'number'?\n");
    write_manifest("modules: { music: music.py }\nassemblies:\n  - { mount: voice, to: left }\n  - 12\n  - { mount: voice, as: left. }\n");
    refused(NULL, "app.yaml:3:5: assemblies[0]: a mount needs 'mount', an assembly, and 'as', a prefix\n"
                  "app.yaml:3:21: assemblies[0]: unknown key 'to'; expected 'mount', 'as' or 'remap'\n"
                  "app.yaml:4:5: assemblies[1]: expected the name of an assembly, or a mount such as '{ mount: voice, as: left }', "
                  "found the integer 12\n"
                  "app.yaml:5:5: assemblies[2].as: the prefix 'left.' begins or ends with a dot\n");
    write_manifest("modules: { empty: empty.py }\nassemblies: [stage]\n");
    refused(NULL, "app.yaml:2:14: assemblies[0]: no module describes an assembly 'stage'\n");
}

static void a_component_must_not_take_a_members_key(void) {
    invivo_app app = {0};
    invivo_error *error = NULL;
    write_manifest("modules: { music: music.py }\nassemblies: [stage]\ncomponents:\n  stage.clock: { type: Thing }\n");
    CHECK(open_app(&app, NULL, &error) == INVIVO_E_EXISTS);
    const char *text = error ? invivo_error_text(error) : "";
    CHECK(strstr(text, "stage.clock: the key is defined twice, at ") && strstr(text, "app_assemblies.c:") && strstr(text, "app.yaml:4:3"));
    invivo_error_release(error);
}

static void a_component_may_be_one_for_each_entry(void) {
    invivo_app app;
    invivo_runtime runtime;
    invivo_changes changes;
    write_manifest("modules: { music: music.py }\n"
                   "config: { band: { voices: { lead: { note: 60 }, bass: { note: 36 } } } }\n"
                   "components:\n"
                   "  band.clock: { type: Thing }\n"
                   "  band.voice: { type: Thing, each: voices, properties: { number: $entry.note, left: $band.clock } }\n"
                   "  band.low: { type: Thing, each: voices, properties: { number: { $entry: depth, default: 3 } } }\n");
    OK(open_app(&app, NULL, E));
    OK(invivo_app_runtime(app, &runtime, E));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "band.voice[lead]"))->number, 60);
    CHECK_EQUAL(thing_of(thing_shared(runtime, "band.voice[bass]"))->number, 36);
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "band.voice[bass]"))->left), "band.clock");
    CHECK_EQUAL(thing_of(thing_shared(runtime, "band.low[bass]"))->number, 3);
    invivo_object lead = thing_shared(runtime, "band.voice[lead]"), none;
    invivo_value gone = invivo_null();
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "band.voices.bass", &gone, E));
    OK(invivo_changes_commit(changes, E));
    CHECK(invivo_resolve_name(runtime, "band.voice[bass]", &none, NULL) == INVIVO_E_NOT_FOUND);
    CHECK(thing_shared(runtime, "band.voice[lead]").bits == lead.bits);
    OK(invivo_app_close(app, E));
}

static char spec[256], watched[256];
static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}
static invivo_status give_documents(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error) {
    static const char *const text = "config: { app: { c: 3, d: 3 } }";
    invivo_source_options options = {.struct_size = sizeof options, .path = watched};
    (void)user_data, (void)runtime;
    invivo_status status = invivo_changes_document(changes, "host.yaml", text, strlen(text), error);
    return status ? status : invivo_changes_watch(changes, &options, NULL, error);
}
static int64_t configured(invivo_runtime runtime, const char *path) {
    invivo_value found = invivo_null();
    OK(invivo_config_read(runtime, path, &found, E));
    int64_t value = found.as.signed_integer;
    invivo_value_clear(&found);
    return value;
}
/* Documents of the host override those of the manifest. */
static void the_host_may_give_documents(void) {
    invivo_app app;
    invivo_runtime runtime;
    snprintf(spec, sizeof spec, "%s/spec.yaml", directory), snprintf(watched, sizeof watched, "%s/watched.yaml", directory);
    write_manifest("config: { app: { a: 1, b: 1, c: 1, d: 1 } }\nspecs: [spec.yaml]\nmodules: {}\ncomponents: {}\n");
    write_file(spec, "config: { app: { b: 2, c: 2, d: 2 } }");
    expects_error(open_app(&app, give_documents, E), INVIVO_E_NOT_FOUND, NULL);
    write_file(watched, "config: { app: { d: 4 } }");
    OK(open_app(&app, give_documents, E));
    OK(invivo_app_runtime(app, &runtime, E));
    CHECK_EQUAL(configured(runtime, "app.a"), 1);
    CHECK_EQUAL(configured(runtime, "app.b"), 2);
    CHECK_EQUAL(configured(runtime, "app.c"), 3);
    CHECK_EQUAL(configured(runtime, "app.d"), 4);
    OK(invivo_app_close(app, E));
    unlink(spec), unlink(watched);
}

int main(void) {
    CHECK(mkdtemp(directory) != NULL);
    snprintf(manifest, sizeof manifest, "%s/app.yaml", directory);
    check_begin();
    RUN_TEST(the_manifest_activates_and_mounts);
    RUN_TEST(the_host_may_give_them_instead);
    RUN_TEST(errors_have_their_locations);
    RUN_TEST(a_component_must_not_take_a_members_key);
    RUN_TEST(a_component_may_be_one_for_each_entry);
    RUN_TEST(the_host_may_give_documents);
    unlink(manifest);
    rmdir(directory);
    return check_end();
}
