/* Typed settings: sections of the configuration as values of the host. docs/rules/spec-files.md, Typed settings. */
/* sanitize: yes */
#include "check.h"

typedef struct place { double x, y; } place;
typedef struct audio {
    double rate;
    int64_t voices;
    char device[16];
    bool loud;
    int32_t wave;
    place at;
} audio;
static const invivo_choice waves[] = {{"sine", 0}, {"saw", 1}};
static const invivo_property place_fields[] = {INVIVO_FIELD(place, x), INVIVO_FIELD(place, y)};
static const invivo_property fields[] = {
    INVIVO_FIELD(audio, rate, .initial = 48000, .unit = "Hz", .min = 8000, .max = 192000),
    INVIVO_FLAGGED_FIELD(audio, INVIVO_PROPERTY_REQUIRED, voices, .min = 1, .max = 64),
    INVIVO_FIELD(audio, device, .initial_text = "default", .was = (const char *const[]){"card"}, .was_count = 1),
    INVIVO_FIELD(audio, loud),
    INVIVO_FIELD(audio, wave, .choices = waves, .choice_count = 2),
    {.struct_size = sizeof(invivo_property), .name = "at", .kind = INVIVO_KIND_MAP, .offset = offsetof(audio, at), .size = sizeof(place),
     .fields = place_fields, .field_count = 2}};

static invivo_runtime runtime;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static int destroyed, checked, created, released, entered, let_go;
static char logged[4096];
static pthread_t checker;

static void await_count(const int *count, int least) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (*count < least && pthread_cond_timedwait(&came, &lock, &limit) == 0) {}
    CHECK(*count >= least);
    pthread_mutex_unlock(&lock);
}
static void add_one(int *count) {
    pthread_mutex_lock(&lock);
    ++*count;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}
static void destroy(void *user_data) {
    (void)user_data;
    add_one(&destroyed);
}
static void keep_log(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (entry->level < INVIVO_LOG_WARNING) return;
    pthread_mutex_lock(&lock);
    size_t length = strlen(logged);
    snprintf(logged + length, sizeof logged - length, "%s\n", entry->message);
    pthread_mutex_unlock(&lock);
}

static void begin_limited(uint32_t limit_ms) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    options.rule_timeout_ms = limit_ms;
    options.log = keep_log;
    options.load_timeout_ms = 120000;
    logged[0] = 0;
    destroyed = checked = created = released = entered = let_go = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
}
static void begin(void) { begin_limited(0); }
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(set, error);
}
static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}

/* ---- structs ---- */

/* Loud needs at most 8 voices. Waits at 13 voices until it is let go. */
static invivo_status check_audio(const void *value, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                 invivo_error **error) {
    const audio *read = value;
    (void)user_data;
    add_one(&checked);
    checker = pthread_self();
    CHECK_EQUAL(count, 6);
    CHECK_EQUAL(values[1].as.signed_integer, read->voices);
    if (read->voices == 13) {
        add_one(&entered);
        await_count(&let_go, 1);
    }
    if (!read->loud || read->voices <= 8) return INVIVO_OK;
    *at = 1;
    *error = invivo_error_make(INVIVO_E_RANGE, "loud permits 8 voices", NULL, NULL);
    return INVIVO_E_RANGE;
}
static invivo_settings audio_settings(void) {
    return (invivo_settings){.struct_size = sizeof(invivo_settings), .name = "Audio", .path = "audio", .fields = fields,
                             .field_count = sizeof fields / sizeof *fields, .size = sizeof(audio), .check = check_audio, .destroy = destroy};
}
static void bind_audio(void) {
    invivo_settings settings = audio_settings();
    OK(invivo_settings_bind(runtime, &settings, E));
}
static const void *seen(invivo_view view, const char *name) {
    invivo_config id;
    OK(invivo_settings_id(runtime, name, &id, E));
    return invivo_view_settings(view, id);
}
/* A copy of the current struct; without voices if there is none. */
static audio current(void) {
    invivo_view view = invivo_view_begin(runtime);
    const audio *found = seen(view, "Audio");
    audio copy = found ? *found : (audio){.voices = -1};
    invivo_view_end(view);
    return copy;
}

static void a_section_is_read_into_a_struct(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { rate: 44.1 kHz, voices: 8, card: hw0, loud: true, wave: saw, at: { y: 2 } } }", E));
    bind_audio();
    audio read = current();
    CHECK_EQUAL(read.rate, 44100);
    CHECK_EQUAL(read.voices, 8);
    CHECK_TEXT(read.device, "hw0");
    CHECK_EQUAL(read.loud, 1);
    CHECK_EQUAL(read.wave, 1);
    CHECK(read.at.x == 0 && read.at.y == 2);
    CHECK_EQUAL(checked, 1);
    CHECK(!pthread_equal(checker, pthread_self()));
    OK(document("b.yaml", "config: { audio: { voices: 3 } }", E));
    CHECK_EQUAL(current().voices, 3);
    CHECK_EQUAL(current().rate, 44100);
    end();
    CHECK_EQUAL(destroyed, 1);
}

static void a_section_that_changes_with_its_binding_is_read_once(void) {
    begin();
    invivo_settings settings = audio_settings();
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    const char *text = "config: { audio: { voices: 8 } }";
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_bind_settings(changes, &settings, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(checked, 1);
    CHECK_EQUAL(current().voices, 8);
    end();
}

static void defaults_stand_for_missing_fields(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    audio read = current();
    CHECK_EQUAL(read.rate, 48000);
    CHECK_TEXT(read.device, "default");
    end();
}

static void all_errors_are_reported_with_their_locations(void) {
    begin();
    {
        invivo_settings settings = audio_settings();
        expects_error(invivo_settings_bind(runtime, &settings, E), INVIVO_E_NOT_CONFIGURED,
                      "config.audio.voices: the settings 'Audio' need 'voices', which is not set");
    }
    CHECK_EQUAL(destroyed, 1);
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    uint64_t before = generation();
    expects_error(document("a.yaml",
                           "config:\n  audio:\n    rate: fast\n    voises: 8\n    wave: swa\n    loud: 3\n    at: { z: 1 }\n", E),
                  INVIVO_E_CONVERSION, NULL);
    invivo_error *error = NULL;
    OK(invivo_runtime_last_error(runtime, &error));
    const char *text = invivo_error_text(error);
    static const char *const parts[] = {
        "a.yaml:3:11: config.audio.rate: ",
        "a.yaml:4:5: config.audio.voises: the settings 'Audio' have no field 'voises'; did you mean 'voices'?",
        "a.yaml:5:11: config.audio.wave: 'swa' is not one of sine, saw; did you mean 'saw'?",
        "a.yaml:6:11: config.audio.loud: ",
        "a.yaml:7:11: config.audio.at.z: 'at' has no field 'z'; expected x, y",
        "a.yaml:3:5: config.audio.voices: the settings 'Audio' need 'voices', which is not set"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) check_failed(__FILE__, __LINE__, "'%s' is missing in:\n%s", parts[i], text);
    CHECK_EQUAL(invivo_error_count(error), 6);
    invivo_error_release(error);
    CHECK_EQUAL(generation(), before);
    CHECK_EQUAL(current().voices, 1);
    CHECK_EQUAL(checked, 1);
    expects_error(document("a.yaml", "config:\n  audio: [1]\n", E), INVIVO_E_TYPE, NULL);
    end();
}

/* A struct in a struct, and lists and maps that a function reads. An unknown key has the location of the key. */
typedef struct line { place from, to; } line;
typedef struct drawing { line edge; int64_t width; } drawing;
static const invivo_property line_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "from", .kind = INVIVO_KIND_MAP, .offset = offsetof(line, from), .size = sizeof(place),
     .fields = place_fields, .field_count = 2, .was = (const char *const[]){"start"}, .was_count = 1},
    {.struct_size = sizeof(invivo_property), .name = "to", .kind = INVIVO_KIND_MAP, .offset = offsetof(line, to), .size = sizeof(place),
     .fields = place_fields, .field_count = 2}};
static const invivo_property drawing_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "edge", .kind = INVIVO_KIND_MAP, .offset = offsetof(drawing, edge), .size = sizeof(line),
     .fields = line_fields, .field_count = 2},
    INVIVO_FIELD(drawing, width)};
/* Reports each part that is a string or has the key "bad". */
static invivo_error *faults(const invivo_value *value, const char *path, invivo_error *all) {
    char inner[128];
    if (value->kind == INVIVO_KIND_STRING) return invivo_error_join(all, invivo_error_make(INVIVO_E_TYPE, "a string", path, NULL));
    for (size_t i = 0; value->kind == INVIVO_KIND_LIST && i < value->as.list.count; i++) {
        snprintf(inner, sizeof inner, "%s.%d", path, (int)i);
        all = faults(&value->as.list.items[i], inner, all);
    }
    for (size_t i = 0; value->kind == INVIVO_KIND_MAP && i < value->as.map.count; i++) {
        const invivo_pair *pair = &value->as.map.pairs[i];
        snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", pair->name);
        all = strcmp(pair->name, "bad") ? faults(&pair->value, inner, all)
                                        : invivo_error_join(all, invivo_error_make(INVIVO_E_PROPERTY, "unknown", inner, NULL));
    }
    return all;
}
static invivo_status create_parts(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    (void)user_data;
    *out = NULL;
    *error = faults(section->value, "", NULL);
    return *error ? INVIVO_E_TYPE : INVIVO_OK;
}
static void errors_in_parts_have_their_locations(void) {
    static const struct { const char *section, *errors; } fields_of_structs[] = {
        {"{ edge: { form: { x: 1 } } }", "a.yaml:1:24: config.s.edge.form: 'edge' has no field 'form'; did you mean 'from'?"},
        {"{ edge: { to: { z: 1 } } }", "a.yaml:1:30: config.s.edge.to.z: 'to' has no field 'z'; expected x, y"},
        {"{ edge: { start: { z: 1, x: 2 } } }", "a.yaml:1:33: config.s.edge.start.z: 'from' has no field 'z'; expected x, y"},
        {"{ edge: { from: [1] } }", "a.yaml:1:30: config.s.edge.from: [1] (a list) is not a map of the fields x, y"},
        {"{ edge: { from: { x: [1] } } }", "a.yaml:1:35: config.s.edge.from.x: [1] (a list) is not a number"},
        {"{ egde: 1 }", "a.yaml:1:16: config.s.egde: the settings 'Drawing' have no field 'egde'; did you mean 'edge'?"},
        {"{ edge: { from: { a: 1 }, to: { b: 2 } } }",
         "a.yaml:1:32: config.s.edge.from.a: 'from' has no field 'a'; expected x, y\n"
         "a.yaml:1:46: config.s.edge.to.b: 'to' has no field 'b'; expected x, y"}};
    static const struct { const char *section, *errors; } values[] = {
        {"{ hosts: [{ port: 1 }, { bad: 1 }] }", "a.yaml:1:39: config.s.hosts[1].bad: unknown"},
        {"{ hosts: [1, [2, a]] }", "a.yaml:1:31: config.s.hosts[1][1]: a string"},
        {"{ limits: { a: { bad: 1 }, b: c } }",
         "a.yaml:1:31: config.s.limits.a.bad: unknown\na.yaml:1:44: config.s.limits.b: a string"},
        {"{ bad: 1 }", "a.yaml:1:16: config.s.bad: unknown"},
        /* A name may contain dots. */
        {"{ hosts: [{ www.a: { bad: 1 } }] }", "a.yaml:1:35: config.s.hosts[0].www.a.bad: unknown"}};
    char text[256];
    begin();
    invivo_settings settings = {.struct_size = sizeof settings, .name = "Drawing", .path = "s", .fields = drawing_fields, .field_count = 2,
                                .size = sizeof(drawing)};
    OK(invivo_settings_bind(runtime, &settings, E));
    for (size_t i = 0; i < sizeof fields_of_structs / sizeof *fields_of_structs; i++) {
        snprintf(text, sizeof text, "config: { s: %s }", fields_of_structs[i].section);
        invivo_error *error = NULL;
        CHECK(document("a.yaml", text, &error));
        CHECK_TEXT(invivo_error_text(error), fields_of_structs[i].errors);
        invivo_error_release(error);
    }
    settings = (invivo_settings){.struct_size = sizeof settings, .name = "Drawing", .path = "s", .create = create_parts};
    OK(invivo_settings_bind(runtime, &settings, E));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(text, sizeof text, "config: { s: %s }", values[i].section);
        invivo_error *error = NULL;
        CHECK(document("a.yaml", text, &error));
        CHECK_TEXT(invivo_error_text(error), values[i].errors);
        invivo_error_release(error);
    }
    end();
}

static void a_check_refuses_fields_at_their_line(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    expects_error(document("a.yaml", "config:\n  audio:\n    loud: true\n    voices: 9\n", E), INVIVO_E_HOST,
                  "a.yaml:4:13: config.audio.voices: the check of the settings 'Audio' refuses this value (because loud permits 8 voices)");
    CHECK_EQUAL(current().voices, 1);
    end();
}

/* A secret path of settings with fields is the path of one of them. */
static void a_secret_path_is_that_of_a_field(void) {
    static const char *const wrong[] = {"pasword", "voics", "at.z", "voices.x"};
    static const char *const messages[] = {"Audio: the secret path 'pasword' leads to no field of the settings; expected rate, voices, device, loud, wave, at",
                                           "Audio: the secret path 'voics' leads to no field of the settings; did you mean 'voices'?",
                                           "Audio: the secret path 'at.z' leads to no field of the settings; expected x, y",
                                           "Audio: the secret path 'voices.x' leads to no field of the settings"};
    static const char *const right[] = {"at.x", "card"};
    begin();
    for (int i = 0; i < 4; i++) {
        invivo_settings settings = audio_settings();
        settings.secrets = wrong + i, settings.secret_count = 1;
        expects_error(invivo_settings_bind(runtime, &settings, E), INVIVO_E_ARGUMENT, messages[i]);
    }
    OK(document("a.yaml", "config: { audio: { voices: 3 } }", E));
    invivo_settings settings = audio_settings();
    settings.secrets = right, settings.secret_count = 2;
    OK(invivo_settings_bind(runtime, &settings, E));
    end();
}

/* Without the value, an error states which values are possible. */
static void errors_without_the_value_have_the_range(void) {
    static const char *const secrets[] = {"voices", "device", "rate", "wave", "loud"};
    begin();
    invivo_settings settings = audio_settings();
    settings.secrets = secrets, settings.secret_count = 5;
    OK(document("a.yaml", "config: { audio: { voices: 3 } }", E));
    OK(invivo_settings_bind(runtime, &settings, E));
    expects_error(document("a.yaml",
                           "config:\n  audio:\n    voices: 0\n    device: longer than the struct\n    rate: 1 Hz\n    wave: sow\n"
                           "    loud: 7\n",
                           E),
                  INVIVO_E_RANGE,
                  "a.yaml:3:13: config.audio.voices: <secret> is a value outside of the range; expected a whole number from 1 to 64\n"
                  "a.yaml:4:13: config.audio.device: <secret> is a value outside of the range; expected a string of at most 15 bytes\n"
                  "a.yaml:5:11: config.audio.rate: <secret> is a value outside of the range; expected a number from 8000 to 192000 Hz\n"
                  "a.yaml:6:11: config.audio.wave: <secret> is a value outside of the range; expected one of sine, saw\n"
                  "a.yaml:7:11: config.audio.loud: <secret> is an unsuitable value; expected a bool");
    end();
}

/* ---- generations ---- */

static void an_unrelated_reload_reads_nothing(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    invivo_view view = invivo_view_begin(runtime);
    const void *before = seen(view, "Audio");
    invivo_view_end(view);
    OK(document("b.yaml", "config: { video: { rate: 25 } }", E));
    OK(document("a.yaml", "config: { audio: { voices: 1 } } # the same", E));
    view = invivo_view_begin(runtime);
    CHECK(seen(view, "Audio") == before);
    invivo_view_end(view);
    CHECK_EQUAL(checked, 1);
    end();
}

static void views_and_pins_have_their_own_value(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    invivo_view view = invivo_view_begin(runtime);
    const audio *former = seen(view, "Audio");
    OK(document("a.yaml", "config: { audio: { voices: 2 } }", E));
    CHECK_EQUAL(former->voices, 1);
    CHECK(seen(view, "Audio") == former);
    invivo_view_end(view);
    CHECK_EQUAL(current().voices, 1);
    OK(invivo_pin_end(pin));
    CHECK_EQUAL(current().voices, 2);
    end();
}

static void a_rollback_reads_the_former_section(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    uint64_t one = generation();
    OK(document("a.yaml", "config: { audio: { voices: 2 } }", E));
    OK(invivo_rollback(runtime, one, E));
    CHECK_EQUAL(current().voices, 1);
    /* What the binding refuses now does not come back. */
    OK(document("a.yaml", "config: { audio: { voices: 9, loud: false } }", E));
    end();
}

/* Hosts define "settings:NAME" for the value of a binding. */
static void a_rollback_keeps_the_definitions_of_bindings(void) {
    begin();
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .concurrency = INVIVO_SHARED, .size = 8, .alignment = 8};
    invivo_type part = {0};
    OK(invivo_type_register(runtime, &options, &part, E));
    uint64_t before = generation();
    invivo_definition own = {.struct_size = sizeof own, .key = "settings:Audio", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = part};
    invivo_definition holder = {.struct_size = sizeof holder, .key = "a.holder", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = part};
    invivo_definition alias = {.struct_size = sizeof alias, .key = "a.alias", .alias = "settings:Audio"};
    OK(invivo_define(runtime, &own, NULL, E));
    OK(invivo_define(runtime, &holder, NULL, E));
    OK(invivo_rollback(runtime, before, E));
    invivo_object found = {0};
    expects_error(invivo_resolve_name(runtime, "a.holder", &found, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_resolve_name(runtime, "settings:Audio", &found, E));
    OK(invivo_object_release(found));
    OK(invivo_define(runtime, &alias, NULL, E));
    uint64_t with_alias = generation();
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_remove(set, "settings:Audio", E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_NOT_FOUND, "the settings 'Audio' cannot be removed: the alias 'a.alias' names it");
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_remove(set, "a.alias", E));
    OK(invivo_changes_remove(set, "settings:Audio", E));
    OK(invivo_changes_commit(set, E));
    expects_error(invivo_rollback(runtime, with_alias, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

static void a_failed_reload_keeps_the_value(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    const char *text = "config: { audio: { voices: 2 } }";
    OK(invivo_changes_document(set, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_remove(set, "nothing", E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(current().voices, 1);
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_check(set, E));
    invivo_changes_discard(set);
    CHECK_EQUAL(current().voices, 1);
    end();
}

/* Where settings change and no object does, too: what is read before the publication is the former value. */
static char published_values[128];
static void note_publishing(void *user_data, uint32_t published) {
    size_t length = strlen(published_values);
    (void)user_data;
    snprintf(published_values + length, sizeof published_values - length, "%u:%d ", (unsigned)published, (int)current().voices);
}
static void caches_are_emptied_when_settings_change(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { rate: 44.1 kHz, voices: 8 } }", E));
    invivo_observer_options options = {.struct_size = sizeof options, .publishing = note_publishing};
    invivo_observer observer;
    OK(invivo_observe(runtime, &options, &observer, E));
    bind_audio();
    CHECK_TEXT(published_values, "0:-1 1:8 ");
    published_values[0] = 0;
    OK(document("a.yaml", "config: { audio: { rate: 44.1 kHz, voices: 7 } }", E));
    CHECK_TEXT(published_values, "0:8 1:7 ");
    published_values[0] = 0;
    OK(invivo_settings_unbind(runtime, "Audio", E));
    CHECK_TEXT(published_values, "0:7 1:-1 ");
    end();
}

static void two_bindings_share_a_section(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1, at: { x: 1 } } }", E));
    bind_audio();
    invivo_settings inner = {.struct_size = sizeof inner, .name = "Place", .path = "audio.at", .fields = place_fields, .field_count = 2,
                             .size = sizeof(place), .destroy = destroy};
    OK(invivo_settings_bind(runtime, &inner, E));
    OK(document("a.yaml", "config: { audio: { voices: 1, at: { x: 7 } } }", E));
    invivo_view view = invivo_view_begin(runtime);
    CHECK_EQUAL(((const place *)seen(view, "Place"))->x, 7);
    CHECK_EQUAL(((const audio *)seen(view, "Audio"))->at.x, 7);
    const void *before = seen(view, "Place");
    invivo_view_end(view);
    OK(document("a.yaml", "config: { audio: { voices: 2, at: { x: 7 } } }", E));
    view = invivo_view_begin(runtime);
    CHECK(seen(view, "Place") == before);
    CHECK_EQUAL(((const audio *)seen(view, "Audio"))->voices, 2);
    invivo_view_end(view);
    end();
}

static void a_binding_is_replaced_and_removed(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 }, other: { voices: 5 } }", E));
    bind_audio();
    invivo_settings settings = audio_settings();
    settings.path = "other";
    OK(invivo_settings_bind(runtime, &settings, E));
    CHECK_EQUAL(current().voices, 5);
    /* The first one reads no longer. */
    OK(document("a.yaml", "config: { audio: nonsense, other: { voices: 5 } }", E));
    OK(invivo_settings_unbind(runtime, "Audio", E));
    CHECK_EQUAL(current().voices, -1);
    expects_error(invivo_settings_unbind(runtime, "Audoi", E), INVIVO_E_NOT_FOUND, NULL);
    settings.path = "other";
    OK(invivo_settings_bind(runtime, &settings, E));
    expects_error(invivo_settings_unbind(runtime, "Audoi", E), INVIVO_E_NOT_FOUND,
                  "Audoi: no binding of settings has the name 'Audoi'; did you mean 'Audio'?");
    end();
    CHECK_EQUAL(destroyed, 3);
}

/* ---- values of the host ---- */

typedef struct list { int64_t sum; uint64_t count; } list;
static const invivo_value *entry_of(const invivo_value *map, const char *name) {
    for (uint64_t i = 0; map->kind == INVIVO_KIND_MAP && i < map->as.map.count; i++)
        if (!strcmp(map->as.map.pairs[i].name, name)) return &map->as.map.pairs[i].value;
    return NULL;
}
static char variables[256];
static uint32_t section_flags;
/* The sum of "items", a list of integers. All others are errors. */
static invivo_status create_list(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    (void)user_data;
    variables[0] = 0;
    section_flags = section->flags;
    if (section->variables->kind == INVIVO_KIND_MAP)
        for (uint64_t i = 0; i < section->variables->as.map.count; i++)
            snprintf(variables + strlen(variables), sizeof variables - strlen(variables), "%s=%s;", section->variables->as.map.pairs[i].name,
                     section->variables->as.map.pairs[i].value.as.string.data);
    add_one(&created);
    const invivo_value *items = entry_of(section->value, "items");
    if (!items) {
        *error = invivo_error_make(INVIVO_E_NOT_CONFIGURED, "no items", "items", NULL);
        return INVIVO_E_NOT_CONFIGURED;
    }
    list *made = calloc(1, sizeof *made);
    invivo_error *all = NULL;
    for (uint64_t i = 0; i < items->as.list.count; i++) {
        char path[32];
        snprintf(path, sizeof path, "items.%d", (int)i);
        if (items->as.list.items[i].kind == INVIVO_KIND_INT64) {
            made->sum += items->as.list.items[i].as.signed_integer;
        } else {
            all = invivo_error_join(all, invivo_error_make(INVIVO_E_TYPE, "no integer", path, NULL));
        }
    }
    if (!all) {
        *out = made;
        return INVIVO_OK;
    }
    free(made);
    *error = all;
    return INVIVO_E_TYPE;
}
static void release_list(void *value, void *user_data) {
    (void)user_data;
    free(value);
    add_one(&released);
}
static invivo_settings list_settings(void) {
    return (invivo_settings){.struct_size = sizeof(invivo_settings), .name = "List", .path = "list", .create = create_list,
                             .release = release_list, .destroy = destroy};
}
static int64_t sum(void) {
    invivo_view view = invivo_view_begin(runtime);
    const list *found = seen(view, "List");
    int64_t sum = found ? found->sum : -1;
    invivo_view_end(view);
    return sum;
}
static void the_host_creates_a_value(void) {
    begin();
    invivo_settings settings = list_settings();
    expects_error(invivo_settings_bind(runtime, &settings, E), INVIVO_E_NOT_CONFIGURED, "config.list.items: no items");
    OK(document("a.yaml", "config: { list: { items: [1, 2] } }", E));
    OK(invivo_settings_bind(runtime, &settings, E));
    CHECK_EQUAL(sum(), 3);
    expects_error(document("a.yaml", "config:\n  list:\n    items: [1, b,\n      c]\n", E), INVIVO_E_TYPE,
                  "a.yaml:3:16: config.list.items[1]: no integer\na.yaml:4:7: config.list.items[2]: no integer");
    CHECK_EQUAL(sum(), 3);
    OK(document("a.yaml", "config: { list: { items: [4] } }", E));
    CHECK_EQUAL(sum(), 4);
    end();
    CHECK_EQUAL(created, 4);
    CHECK_EQUAL(released, 2);
    CHECK_EQUAL(destroyed, 2);
}

static void a_value_ends_after_its_readers(void) {
    begin();
    OK(document("a.yaml", "config: { list: { items: [1] } }", E));
    invivo_settings settings = list_settings();
    OK(invivo_settings_bind(runtime, &settings, E));
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    OK(invivo_settings_unbind(runtime, "List", E));
    CHECK_EQUAL(sum(), 1);
    CHECK_EQUAL(released, 0);
    OK(invivo_pin_end(pin));
    await_count(&released, 1);
    CHECK_EQUAL(sum(), -1);
    end();
    CHECK_EQUAL(destroyed, 1);
}

static void the_receiver_decides_the_kind_of_a_variable(void) {
    setenv("SETTINGS_TEN", "10", 1);
    begin();
    OK(document("a.yaml", "config: { audio: { voices: \"${SETTINGS_TEN}\", card: '${SETTINGS_TEN}' }, list: { items: [] } }", E));
    bind_audio();
    CHECK_EQUAL(current().voices, 10);
    CHECK_TEXT(current().device, "10");
    OK(document("a.yaml", "config:\n  audio: { voices: 1, card: x }\n  list:\n    items: [1]\n    more: ${SETTINGS_TEN}\n", E));
    invivo_settings settings = list_settings();
    OK(invivo_settings_bind(runtime, &settings, E));
    CHECK_TEXT(variables, "more=10;");
    CHECK_EQUAL(section_flags, 0);
    setenv("SETTINGS_TEN", "secret", 1);
    OK(invivo_runtime_refresh_environment(runtime, E));
    CHECK_TEXT(variables, "more=secret;");
    expects_error(document("b.yaml", "config:\n  audio: { voices: \"${SETTINGS_TEN}\" }\n", E), INVIVO_E_CONVERSION, NULL);
    invivo_error *error = NULL;
    OK(invivo_runtime_last_error(runtime, &error));
    CHECK(strstr(invivo_error_text(error), "b.yaml:2:20: config.audio.voices: the environment variable 'SETTINGS_TEN' gives") != NULL);
    CHECK(strstr(invivo_error_text(error), "secret") == NULL);
    invivo_error_release(error);
    end();
}

static void errors_about_files_quote_nothing(void) {
    begin();
    write_text("word", "secret");
    write_text("a.yaml", "config: { audio: { voices: 1, card: 'file:word' }, list: { items: [1] } }");
    invivo_source source;
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "a.yaml"}, &source, E));
    bind_audio();
    CHECK_TEXT(current().device, "secret");
    invivo_settings settings = list_settings();
    OK(invivo_settings_bind(runtime, &settings, E));
    CHECK_EQUAL(section_flags, INVIVO_SECTION_PRIVATE);
    end();
}

/* A factory reads the generation for which its object is built. */
static int64_t built_with;
static invivo_status build_player(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                  invivo_error **error) {
    (void)arguments, (void)count, (void)user_data;
    invivo_config id;
    const void *value;
    invivo_status status = invivo_settings_id(build->runtime, "Audio", &id, error);
    if (status) return status;
    invivo_view view = invivo_view_begin(build->runtime);
    status = invivo_settings_read(view, build->runtime, id, &value, error);
    if (!status) built_with = ((const audio *)value)->voices;
    invivo_view_end(view);
    if (status) return status;
    *instance = calloc(1, 8);
    return *instance ? INVIVO_OK : INVIVO_E_MEMORY;
}
static void free_player(void *instance, void *user_data) {
    (void)user_data;
    free(instance);
}
static void a_factory_reads_the_generation_of_its_object(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    invivo_type type;
    invivo_parameter parameter = {.name = "section", .kind = INVIVO_KIND_ANY};
    invivo_type_options player = {.parameters = &parameter, .parameter_count = 1,
                                  .struct_size = sizeof player, .name = "Player", .make = build_player, .release = free_player};
    OK(invivo_type_register(runtime, &player, &type, E));
    invivo_injection section = {.how = INVIVO_INJECT_CONFIG, .reference = "/audio"};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "app.player", .type_name = "Player",
                                    .scope = INVIVO_SCOPE_SINGLETON, .initializer = &section, .initializer_count = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_key key;
    invivo_object object;
    OK(invivo_key_find(runtime, "app.player", &key, E));
    OK(invivo_resolve(runtime, key, &object, E));
    CHECK_EQUAL(built_with, 1);
    OK(invivo_object_release(object));
    OK(document("a.yaml", "config: { audio: { voices: 2 } }", E));
    CHECK_EQUAL(built_with, 2);
    const void *value;
    invivo_config id;
    OK(invivo_settings_id(runtime, "Audio", &id, E));
    invivo_view view = invivo_view_begin(runtime);
    OK(invivo_settings_read(view, runtime, id, &value, E));
    CHECK(value == invivo_view_settings(view, id));
    expects_error(invivo_settings_read(view, runtime, (invivo_config){0}, &value, E), INVIVO_E_HANDLE, NULL);
    CHECK(value == NULL);
    invivo_view_end(view);
    expects_error(invivo_settings_read((invivo_view){0}, runtime, id, &value, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

static void a_forked_child_reads_the_settings(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 6 } }", E));
    bind_audio();
    pid_t child = fork();
    if (child == 0) {
        invivo_config id;
        if (invivo_settings_id(runtime, "Audio", &id, NULL)) _exit(1);
        if (invivo_settings_id(runtime, "Other", &id, NULL) != INVIVO_E_FORKED) _exit(2);
        if (invivo_settings_id(runtime, "Audio", &id, NULL)) _exit(3);
        invivo_view view = invivo_view_begin(runtime);
        const audio *read = invivo_view_settings(view, id);
        _exit(read && read->voices == 6 ? 0 : 4);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    end();
}

/* ---- functions that do not return ---- */

static void a_check_that_does_not_return_is_given_up(void) {
    begin_limited(700);
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    expects_error(document("a.yaml", "config:\n  audio: { voices: 13 }\n", E), INVIVO_E_TIMEOUT,
                  "a.yaml:2:10: config.audio: the check of the settings 'Audio' has not answered after 700.0 ms, the rule timeout of "
                  "the runtime: it must return at once, without waiting");
    await_count(&entered, 1);
    CHECK_EQUAL(current().voices, 1);
    /* Refused at once. Others go on. */
    expects_error(document("a.yaml", "config:\n  audio: { voices: 2 }\n", E), INVIVO_E_TIMEOUT, NULL);
    OK(document("b.yaml", "config: { other: 1 }", E));
    add_one(&let_go);
    invivo_status status;
    do { status = document("a.yaml", "config: { audio: { voices: 2 } }", NULL); } while (status == INVIVO_E_TIMEOUT);
    CHECK_EQUAL(status, INVIVO_OK);
    CHECK_EQUAL(current().voices, 2);
    end();
}

static void *commit_busy(void *unused) {
    (void)unused;
    OK(document("a.yaml", "config: { audio: { voices: 13 } }", E));
    return NULL;
}
/* Another change waits for the reload, and reports what it is in. */
static void a_waiting_change_names_the_check(void) {
    pthread_t thread;
    begin_limited(3600000);
    invivo_runtime_options options = {.struct_size = sizeof options};
    OK(invivo_runtime_options_read(runtime, &options, E));
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    CHECK(pthread_create(&thread, NULL, commit_busy, NULL) == 0);
    await_count(&entered, 1);
    options.commit_timeout_ms = 50;
    OK(invivo_runtime_options_change(runtime, &options, E));
    expects_error(document("b.yaml", "config: { free: 1 }", E), INVIVO_E_TIMEOUT,
                  "the reload of 'a.yaml', which is in the check of the settings 'Audio', takes longer than commit_timeout_ms permits a "
                  "change to wait for it");
    add_one(&let_go);
    pthread_join(thread, NULL);
    CHECK_EQUAL(current().voices, 13);
    end();
}

/* The functions of traits, which would run after it, are not blamed. */
static int declared;
static invivo_status declare_nothing(const void *given, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                     invivo_error **error) {
    (void)given, (void)values, (void)count, (void)layers, (void)user_data, (void)error;
    declared++;
    return INVIVO_OK;
}
static void only_the_check_that_does_not_return_is_blamed(void) {
    begin_limited(700);
    static const char *all[] = {"*"};
    typedef struct dial { double level; } dial;
    static const invivo_property dial_fields[] = {INVIVO_FIELD(dial, level)};
    invivo_trait trait = {.struct_size = sizeof trait, .name = "t.Nothing", .targets = all, .target_count = 1, .layers = declare_nothing};
    OK(invivo_define_block(runtime, "a.level", INVIVO_BLOCK(dial, dial_fields), NULL, E));
    OK(invivo_trait_add(runtime, &trait, E));
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    declared = 0;
    expects_error(document("a.yaml", "config:\n  audio: { voices: 13 }\ntraits: { a.level: [t.Nothing: {}, t.Nothing: {}] }\n", E), INVIVO_E_TIMEOUT,
                  "a.yaml:2:10: config.audio: the check of the settings 'Audio' has not answered after 700.0 ms, the rule timeout of the "
                  "runtime: it must return at once, without waiting");
    CHECK_EQUAL(declared, 0);
    await_count(&entered, 1);
    OK(document("a.yaml", "{ config: { audio: { voices: 1 } }, traits: { a.level: [t.Nothing: {}] } }", E));
    CHECK_EQUAL(declared, 1);
    add_one(&let_go);
    end();
}

static void *commit_13(void *unused) {
    (void)unused;
    CHECK_EQUAL(document("a.yaml", "config: { audio: { voices: 13 } }", NULL), INVIVO_E_CLOSED);
    return NULL;
}
static void close_gives_up_a_check(void) {
    pthread_t thread;
    begin_limited(3600000);
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    CHECK(pthread_create(&thread, NULL, commit_13, NULL) == 0);
    await_count(&entered, 1);
    end();
    pthread_join(thread, NULL);
    add_one(&let_go);
    await_count(&destroyed, 1);
    invivo_live_counts live = {.struct_size = sizeof live};
    do {
        sched_yield();
        invivo_live(&live);
    } while (live.threads);
}

static invivo_status call_back(const void *value, const invivo_value *values, size_t count, size_t *at, void *user_data,
                               invivo_error **error) {
    (void)value, (void)values, (void)count, (void)at, (void)user_data, (void)error;
    CHECK_EQUAL(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a"}, NULL, NULL), INVIVO_E_IN_CALLBACK);
    return INVIVO_OK;
}
static void a_check_cannot_call_the_runtime(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    invivo_settings settings = audio_settings();
    settings.check = call_back;
    OK(invivo_settings_bind(runtime, &settings, E));
    end();
}

/* ---- observers and warnings ---- */

static int heard;
static int64_t heard_voices;
static void changed(void *user_data, const char *path, const invivo_value *value, uint64_t number) {
    (void)user_data, (void)value, (void)number;
    CHECK_TEXT(path, "audio");
    heard++;
    heard_voices = current().voices;
}
static void observers_of_the_section_see_the_new_value(void) {
    begin();
    heard = 0;
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    invivo_config_observer_options options = {.struct_size = sizeof options, .changed = changed};
    invivo_observer observer;
    OK(invivo_config_observe(runtime, "audio", &options, &observer, E));
    OK(document("a.yaml", "config: { audio: { voices: 4 } }", E));
    CHECK_EQUAL(heard, 1);
    CHECK_EQUAL(heard_voices, 4);
    OK(document("b.yaml", "config: { video: 1 }", E));
    CHECK_EQUAL(heard, 1);
    end();
}

static void a_bound_section_is_read(void) {
    begin();
    OK(document("a.yaml", "config: { audio: { voices: 1 } }", E));
    bind_audio();
    OK(document("b.yaml", "config: { audoi: { voices: 1 } }", E));
    CHECK(strstr(logged, "'audoi' is not read by anything; did you mean 'audio'?") != NULL);
    end();
}

/* ---- descriptions ---- */

static void wrong(invivo_settings settings, const char *message) {
    expects_error(invivo_settings_bind(runtime, &settings, E), INVIVO_E_ARGUMENT, message);
}
static void descriptions_are_checked(void) {
    begin();
    invivo_settings settings = audio_settings();
    settings.name = "";
    wrong(settings, "settings.name is empty");
    settings = audio_settings();
    settings.path = "a..b";
    wrong(settings, "'a..b' is not a configuration path: names joined by dots");
    settings = audio_settings();
    settings.size = 0;
    wrong(settings, "Audio: settings.size is 0; expected the size of the struct that the fields describe, or create");
    settings = audio_settings();
    settings.fields = NULL, settings.field_count = 0;
    wrong(settings, "Audio: the settings have a size, and neither fields nor create, so that nothing of the section would be read; "
                    "expected the fields of the struct, or create");
    settings = audio_settings();
    settings.create = create_list;
    wrong(settings, "Audio: the settings have create, and also fields, size or check; expected one of them");
    settings = audio_settings();
    settings.release = release_list;
    wrong(settings, "Audio: settings.release is for values of create, which is NULL");
    CHECK_EQUAL(destroyed, 6);
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    settings = audio_settings();
    OK(invivo_changes_bind_settings(set, &settings, E));
    expects_error(invivo_changes_bind_settings(set, &settings, E), INVIVO_E_EXISTS,
                  "Audio: the settings 'Audio' are bound twice in one change set");
    OK(invivo_changes_unbind_settings(set, "Audio", E));
    invivo_changes_discard(set);
    invivo_config id;
    expects_error(invivo_settings_id(runtime, "Audio", &id, E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(id.bits, 0);
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_settings(view, id) == NULL);
    invivo_view_end(view);
    end();
}

/* Readers always see a whole value. */
static int stopping;
static void *read_all(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
        audio read = current();
        CHECK(read.at.x == (double)read.voices);
        int64_t found = sum();
        if (found != 1 && found != 2) check_failed(__FILE__, __LINE__, "the sum is %d", (int)found);
    }
    return NULL;
}
static void readers_see_whole_values(void) {
    pthread_t threads[3];
    begin();
    stopping = 0;
    OK(document("a.yaml", "config: { audio: { voices: 1, at: { x: 1 } }, list: { items: [1] } }", E));
    bind_audio();
    invivo_settings settings = list_settings();
    OK(invivo_settings_bind(runtime, &settings, E));
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, read_all, NULL) == 0);
    for (int i = 0; i < 100; i++)
        OK(document("a.yaml", i % 2 ? "config: { audio: { voices: 1, at: { x: 1 } }, list: { items: [1] } }"
                                    : "config: { audio: { voices: 2, at: { x: 2 } }, list: { items: [2] } }", E));
    __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    end();
    CHECK_EQUAL(released, created);
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_section_is_read_into_a_struct);
    RUN_TEST(a_section_that_changes_with_its_binding_is_read_once);
    RUN_TEST(defaults_stand_for_missing_fields);
    RUN_TEST(all_errors_are_reported_with_their_locations);
    RUN_TEST(errors_in_parts_have_their_locations);
    RUN_TEST(a_check_refuses_fields_at_their_line);
    RUN_TEST(a_secret_path_is_that_of_a_field);
    RUN_TEST(errors_without_the_value_have_the_range);
    RUN_TEST(an_unrelated_reload_reads_nothing);
    RUN_TEST(views_and_pins_have_their_own_value);
    RUN_TEST(a_rollback_reads_the_former_section);
    RUN_TEST(a_rollback_keeps_the_definitions_of_bindings);
    RUN_TEST(a_failed_reload_keeps_the_value);
    RUN_TEST(caches_are_emptied_when_settings_change);
    RUN_TEST(two_bindings_share_a_section);
    RUN_TEST(a_binding_is_replaced_and_removed);
    RUN_TEST(the_host_creates_a_value);
    RUN_TEST(a_value_ends_after_its_readers);
    RUN_TEST(the_receiver_decides_the_kind_of_a_variable);
    RUN_TEST(errors_about_files_quote_nothing);
    RUN_TEST(a_factory_reads_the_generation_of_its_object);
    RUN_TEST(a_forked_child_reads_the_settings);
    RUN_TEST(a_check_that_does_not_return_is_given_up);
    RUN_TEST(a_waiting_change_names_the_check);
    RUN_TEST(close_gives_up_a_check);
    RUN_TEST(only_the_check_that_does_not_return_is_blamed);
    RUN_TEST(a_check_cannot_call_the_runtime);
    RUN_TEST(observers_of_the_section_see_the_new_value);
    RUN_TEST(a_bound_section_is_read);
    RUN_TEST(descriptions_are_checked);
    RUN_TEST(readers_see_whole_values);
    return check_end();
}
