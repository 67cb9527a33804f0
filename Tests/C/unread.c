/* Configuration values that nothing reads: if one resembles a path that is read, the report and the log contain a
 * warning, once for the edit. */
#include "check.h"

typedef struct voice { int64_t number, other; } voice;
static const invivo_property properties[] = {INVIVO_FIELD(voice, number), INVIVO_FIELD(voice, other)};

static invivo_runtime runtime;
static invivo_type type;

/* ---- the warnings of the last report ------------------------------------------------------------------- */

static char warned[65536];
static int reports;
static void hear(void *user_data, const invivo_report *report) {
    (void)user_data;
    warned[0] = 0;
    reports++;
    for (size_t i = 0; i < invivo_report_warning_count(report); i++) {
        size_t length = strlen(warned);
        snprintf(warned + length, sizeof(warned) - length, "%s%s", i ? "\n" : "", invivo_report_warning(report, i));
    }
    CHECK_TEXT(invivo_report_warning(report, invivo_report_warning_count(report)), "");
}

static char logged[65536];
static void note(void *user_data, const invivo_log_entry *entry) {
    size_t length = strlen(logged);
    (void)user_data;
    snprintf(logged + length, sizeof(logged) - length, "%s\n", entry->message);
}

static void begin(void) {
    const invivo_type_options options = {
        .struct_size = sizeof(options), .name = "Voice", .concurrency = INVIVO_SHARED, .size = sizeof(voice),
        .alignment = 8, .properties = properties, .property_count = 2};
    invivo_observer_options observer = {.struct_size = sizeof(observer), .reloaded = hear};
    invivo_runtime_options open;
    invivo_observer handle;
    invivo_runtime_options_init(&open);
    open.log = note, open.log_level = INVIVO_LOG_WARNING;
    logged[0] = 0;
    OK(invivo_runtime_open(&runtime, &open, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_observe(runtime, &observer, &handle, E));
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

/* A definition whose number is the value at `path`, or 1. */
static void read_by(const char *key, const char *path, const char *each) {
    static const invivo_injection one = {.how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 1}};
    const invivo_injection number = {
        .name = "number", .how = each ? INVIVO_INJECT_ENTRY : INVIVO_INJECT_CONFIG, .reference = path, .items = &one, .item_count = 1};
    const invivo_definition definition = {
        .struct_size = sizeof(definition), .key = key, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
        .properties = &number, .property_count = 1, .each = each};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static void says(const char *name, const char *text) {
    invivo_changes changes;
    warned[0] = 0;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, strlen(text), E));
    OK(invivo_changes_commit(changes, E));
}
static void removed(const char *key) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, key, E));
    OK(invivo_changes_commit(changes, E));
}
static void expect(const char *config, const char *warning) {
    char text[1024];
    snprintf(text, sizeof(text), "config:\n  %s\n", config);
    says("a.yaml", "{}");
    says("a.yaml", text);
    CHECK_TEXT(warned, warning);
}

#define NEAR(place, path, near) "a.yaml:2:" place ": '" path "' is not read by anything; did you mean '" near "'?"

static void a_misspelled_path_names_the_nearest_one(void) {
    begin();
    read_by("audio.out", "volume", NULL); /* audio.volume, or global.volume */
    expect("audio: { volume: 3 }", "");
    expect("audio: { volum: 3 }", NEAR("19", "audio.volum", "audio.volume"));
    expect("audio.volum: 3", NEAR("16", "audio.volum", "audio.volume"));
    expect("audio: { vlouem: 3 }", NEAR("20", "audio.vlouem", "audio.volume"));       /* two swaps */
    expect("audio: { vollumee: 3 }", NEAR("22", "audio.vollumee", "audio.volume"));   /* two insertions */
    expect("audio: { volxxe: 3 }", NEAR("20", "audio.volxxe", "audio.volume"));       /* two substitutions */
    expect("audio: { vulumme: 3 }", NEAR("21", "audio.vulumme", "audio.volume"));     /* one of each */
    expect("audio: { xolumexx: 3 }", "");                                             /* three edits */
    expect("audoi: { volume: 3 }", NEAR("10", "audoi", "audio"));
    expect("globl: { volume: 3 }", NEAR("10", "globl", "global"));
    expect("audio_volume: 3", NEAR("17", "audio_volume", "audio.volume"));
    expect("audiovolume: 3", NEAR("16", "audiovolume", "audio.volume"));
    expect("other: { entirely: 3 }", "");
    expect("volume: 3", "");                                                          /* far from both paths */
    /* Beside the path that is read. */
    expect("audio: { volume: 3, volumes: [1, 2] }", NEAR("32", "audio.volumes", "audio.volume"));
    end();
}

static void names_that_are_other_names_are_no_mistakes(void) {
    begin();
    read_by("studio.one", "voice1", NULL);
    read_by("studio.two", "host", NULL);
    read_by("studio.three", "x", NULL);
    expect("studio: { voice2: 3 }", "");  /* only digits */
    expect("studio: { port: 3 }", "");    /* half of it */
    expect("studio: { y: 3 }", "");
    expect("studio: { vioce1: 3 }", NEAR("21", "studio.vioce1", "studio.voice1"));
    expect("studio: { hosts: 3 }", NEAR("20", "studio.hosts", "studio.host"));
    end();
}

static void it_is_reported_once_per_edit(void) {
    begin();
    read_by("audio.out", "volume", NULL);
    says("a.yaml", "config: { audio: { volum: 3 } }");
    CHECK(strstr(warned, "'audio.volum'") != NULL);
    says("a.yaml", "config: { audio: { volum: 4 } }");
    CHECK_TEXT(warned, "");
    says("b.yaml", "config: { audio: { pan: 4 } }");
    CHECK_TEXT(warned, "");
    says("a.yaml", "config: { audio: { volume: 4 } }");
    CHECK_TEXT(warned, "");
    says("a.yaml", "config: { audio: { volum: 4 } }");
    CHECK(strstr(warned, "'audio.volum'") != NULL);
    end();
    CHECK_TEXT(logged, "a.yaml:1:27: 'audio.volum' is not read by anything; did you mean 'audio.volume'?\n"
                       "a.yaml:1:27: 'audio.volum' is not read by anything; did you mean 'audio.volume'?\n");
}

/* A definition that is added after the document: misspelled values for it are reported then. */
static void later_readers_report_misspelled_entries(void) {
    begin();
    says("a.yaml", "config:\n  audio: { volum: 3, pan: 1 }\n  audio-in: { volume: 3 }\n  midi: { volume: 3 }\n");
    CHECK_TEXT(warned, "");
    read_by("audio.out", "volume", NULL);
    CHECK_TEXT(warned, NEAR("19", "audio.volum", "audio.volume"));
    warned[0] = 0;
    read_by("audio.side", "volume", NULL); /* the same path: not again */
    CHECK_TEXT(warned, "");
    read_by("midi.out", "volume", NULL);
    CHECK_TEXT(warned, "");
    read_by("mixer.out", "volume", NULL);
    CHECK_TEXT(warned, "");
    says("a.yaml", "config:\n  mixre: { volume: 3 }\n  voices: { lead: { nte: 3 } }\n");
    CHECK_TEXT(warned, NEAR("10", "mixre", "mixer"));
    warned[0] = 0;
    read_by("synth.voice", "note", "voices");
    CHECK_TEXT(warned, "");
    says("a.yaml", "config:\n  drums: { voices: { lead: { nte: 3 } } }\n");
    CHECK_TEXT(warned, "");
    read_by("drums.voice", "note", "voices");
    CHECK_TEXT(warned, NEAR("35", "drums.voices.lead.nte", "drums.voices.lead.note"));
    end();
}

static void removed_readers_read_nothing(void) {
    begin();
    read_by("audio.out", "volume", NULL);
    read_by("audio.in", "volum", NULL);
    expect("audio: { volum: 3 }", "");
    removed("audio.in");
    expect("audio: { volum: 3 }", NEAR("19", "audio.volum", "audio.volume"));
    removed("audio.out");
    expect("audio: { volum: 3 }", "");
    /* Defined in the same change set as the document. */
    invivo_changes changes;
    const invivo_injection number = {.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = "volume",
                                     .flags = INVIVO_INJECT_OPTIONAL};
    const invivo_definition definition = {
        .struct_size = sizeof(definition), .key = "audio.mix", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
        .properties = &number, .property_count = 1};
    says("a.yaml", "{}");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &definition, NULL, E));
    OK(invivo_changes_document(changes, "a.yaml", "config: { audio.volum: 3 }", 26, E));
    OK(invivo_changes_commit(changes, E));
    CHECK(strstr(warned, "did you mean 'audio.volume'?") != NULL);
    end();
}

/* After a change set removes or changes a reader, its value is unread. */
static void removed_definitions_read_nothing(void) {
    static const char *const text = "config: { audio.volum: 3 }";
    for (int is_removed = 0; is_removed < 2; is_removed++) {
        const invivo_injection number = {.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = "balance",
                                         .flags = INVIVO_INJECT_OPTIONAL};
        const invivo_definition definition = {
            .struct_size = sizeof(definition), .key = "audio.in", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
            .properties = &number, .property_count = 1};
        invivo_changes changes;
        begin();
        read_by("audio.out", "volume", NULL);
        read_by("audio.in", "volum", NULL);
        OK(invivo_changes_open(runtime, &changes, E));
        invivo_definition redefined = definition;
        redefined.type = type;
        if (is_removed) OK(invivo_changes_remove(changes, "audio.in", E));
        else OK(invivo_changes_define(changes, &redefined, NULL, E));
        OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
        OK(invivo_changes_commit(changes, E));
        CHECK_TEXT(warned, "a.yaml:1:24: 'audio.volum' is not read by anything; did you mean 'audio.volume'?");
        end();
    }
}

/* Entries of an `each`, and their map, have free names. */
static void entries_are_no_mistakes(void) {
    const invivo_definition voice = {
        .struct_size = sizeof(voice), .key = "synth.voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .each = "voices"};
    begin();
    invivo_definition definition = voice;
    definition.type = type;
    OK(invivo_define(runtime, &definition, NULL, E));
    read_by("synth.one", "voice", NULL);
    read_by("synth.two", "voices.leda", NULL);
    expect("synth: { voices: { lead: 3, bass: 4 } }", "");
    end();
}

static void configure(const char *path, const invivo_value *value) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, path, value, E));
    OK(invivo_changes_commit(changes, E));
}
/* A runtime setting belongs to no document: it is logged again after it was correct meanwhile. */
static void runtime_settings_are_logged_each_time(void) {
    const invivo_value three = invivo_int64(3);
    begin();
    read_by("audio.out", "volume", NULL);
    for (int round = 0; round < 2; round++) {
        logged[0] = 0;
        configure("audio.volum", &three);
        CHECK_TEXT(logged, "'audio.volum' is not read by anything; did you mean 'audio.volume'?\n");
        configure("audio.volum", NULL);
    }
    end();
}

static void changed(void *user_data, const char *path, const invivo_value *value, uint64_t generation) {
    (void)user_data, (void)path, (void)value, (void)generation;
}
static void all_kinds_of_readers_count(void) {
    invivo_config_observer_options options = {.struct_size = sizeof(options), .changed = changed};
    const invivo_injection need = {.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = "rotation",
                                   .flags = INVIVO_INJECT_OPTIONAL};
    const invivo_type_options needy = {
        .struct_size = sizeof(needy), .name = "Needy", .concurrency = INVIVO_SHARED, .size = sizeof(voice), .alignment = 8,
        .properties = properties, .property_count = 2, .needs = &need, .need_count = 1};
    invivo_observer observer;
    invivo_config id;
    invivo_type other;
    begin();
    OK(invivo_config_id(runtime, "studio.height", INVIVO_KIND_INT64, &id, E));
    OK(invivo_config_observe(runtime, "studio.lights", &options, &observer, E));
    OK(invivo_type_register(runtime, &needy, &other, E));
    read_by("synth.voice", "note", "voices");
    expect("studio: { hieght: 3 }", NEAR("21", "studio.hieght", "studio.height"));
    expect("studio: { light: 3 }", NEAR("20", "studio.light", "studio.lights"));
    expect("studio: { lights: { left: 3 } }", ""); /* a path that is read includes everything below it */
    expect("rotatoin: 3", NEAR("13", "rotatoin", "rotation"));
    expect("synth: { voices: { lead: { note: 3 } } }", "");
    expect("synth: { voices: { lead: { noet: 3 } } }", NEAR("36", "synth.voices.lead.noet", "synth.voices.lead.note"));
    expect("synth: { voicse: { lead: { note: 3 } } }", NEAR("20", "synth.voicse", "synth.voices"));
    end();
}

/* 20,000 values that are read, and as many unread similar ones: at most a few seconds, also in a debug build. */
/* The host has read the path before: its similar entry was reported then. */
static void a_path_of_the_host_is_not_new_for_a_definition(void) {
    begin();
    invivo_config id;
    OK(invivo_config_id(runtime, "synth.voices", INVIVO_KIND_INT64, &id, E));
    says("a.yaml", "config: { synth: { voises: 3 } }");
    CHECK(strstr(warned, "did you mean 'synth.voices'?"));
    read_by("a.one", "/synth.voices", NULL);
    CHECK_TEXT(warned, "");
    end();
}

/* Secret paths that something reads, also in part, or that are secret fields, are no mistakes, whatever they resemble. */
static void declare_secret(const char *path) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_add_secret(changes, path, E));
    OK(invivo_changes_commit(changes, E));
}
static void secret_paths_with_a_meaning_are_no_mistakes(void) {
    typedef struct { char password[16], passwords[16]; } login;
    static const invivo_property fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password, .initial_text = ""),
                                             INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, passwords, .initial_text = "")};
    const invivo_settings settings = {.struct_size = sizeof settings, .name = "Login", .path = "server", .fields = fields, .field_count = 2,
                                      .size = sizeof(login)};
    begin();
    says("a.yaml", "config: { databases: { x: 1 } }");
    read_by("a.one", "/database.password", NULL);
    declare_secret("database");
    CHECK_TEXT(warned, "");
    declare_secret("databasis");
    CHECK(strstr(warned, "'databasis'"));
    declare_secret("server.password");
    OK(invivo_settings_bind(runtime, &settings, E));
    CHECK_TEXT(warned, "");
    declare_secret("server.pasword");
    CHECK(strstr(warned, "did you mean 'server.password'?"));
    end();
}

static void many_values_are_searched_in_a_bounded_time(void) {
    enum { COUNT = 20000 };
    static char text[COUNT * 40];
    size_t length = (size_t)sprintf(text, "config:\n  studio:\n");
    begin();
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < COUNT; i++) {
        char key[32], path[32], letters[6];
        for (int n = i, place = 4; place >= 0; place--, n /= 10) letters[place] = (char)('a' + n % 10);
        letters[5] = 0;
        snprintf(key, sizeof(key), "studio.key%d", i), snprintf(path, sizeof(path), "value%s", letters);
        const invivo_injection number = {.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = path,
                                         .flags = INVIVO_INJECT_OPTIONAL};
        const invivo_definition definition = {
            .struct_size = sizeof(definition), .key = key, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
            .properties = &number, .property_count = 1};
        OK(invivo_changes_define(changes, &definition, NULL, E));
        length += (size_t)sprintf(text + length, "    %s%s: 1\n", i % 2 ? "vaXueX" : "other", letters);
    }
    OK(invivo_changes_commit(changes, E));
    says("a.yaml", text);
    CHECK(strstr(warned, "a.yaml:4:18: 'studio.vaXueXaaaab' is not read by anything; did you mean 'studio.valueaaaab'?\n") == warned);
    int lines = 1;
    for (const char *c = warned; *c; c++) lines += *c == '\n';
    CHECK_EQUAL(lines, 100); /* at most */
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_misspelled_path_names_the_nearest_one);
    RUN_TEST(names_that_are_other_names_are_no_mistakes);
    RUN_TEST(it_is_reported_once_per_edit);
    RUN_TEST(later_readers_report_misspelled_entries);
    RUN_TEST(removed_readers_read_nothing);
    RUN_TEST(removed_definitions_read_nothing);
    RUN_TEST(entries_are_no_mistakes);
    RUN_TEST(runtime_settings_are_logged_each_time);
    RUN_TEST(all_kinds_of_readers_count);
    RUN_TEST(a_path_of_the_host_is_not_new_for_a_definition);
    RUN_TEST(secret_paths_with_a_meaning_are_no_mistakes);
    RUN_TEST(many_values_are_searched_in_a_bounded_time);
    return check_end();
}
