/* Files of a change set: their content is part of the same reload; afterwards they are followed; an uncommitted set
 * leaves nothing. */
/* sanitize: yes */
#include "check.h"

typedef struct { int64_t count; double gain; } voice;
static int made, live;

/* A constructor waits here while `holds` is set. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static bool holds, is_held;

static void set_holding(bool to) {
    pthread_mutex_lock(&lock);
    holds = to;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
}
static void wait_until_held(void) {
    pthread_mutex_lock(&lock);
    while (!is_held) pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
}

static invivo_status voice_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    voice *self = instance;
    (void)build, (void)user_data;
    if (count && arguments[0].as.signed_integer == 13) {
        *error = invivo_error_make(INVIVO_E_HOST, "not thirteen", NULL, NULL);
        return INVIVO_E_HOST;
    }
    pthread_mutex_lock(&lock);
    is_held = holds;
    pthread_cond_broadcast(&moved);
    while (holds) pthread_cond_wait(&moved, &lock);
    is_held = false;
    pthread_mutex_unlock(&lock);
    self->count = count ? arguments[0].as.signed_integer : 0, self->gain = 1;
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED), __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}
static void voice_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
}
static invivo_status get_gain(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((voice *)instance)->gain);
    return INVIVO_OK;
}
static invivo_status set_gain(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((voice *)instance)->gain = value->as.number;
    return INVIVO_OK;
}
static const invivo_parameter parameters[] = {{.name = "count", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "gain", .kind = INVIVO_KIND_DOUBLE, .get = get_gain, .set = set_gain}};
static const invivo_injection required[] = {{.name = "count", .how = INVIVO_INJECT_CONFIG, .reference = "count"}};

static invivo_runtime runtime;
static invivo_type type;
static listener *heard;
static int tasks, descriptors;

static void begin_with(const invivo_runtime_options *options) {
    invivo_type_options voices = {.struct_size = sizeof voices, .name = "Voice", .size = sizeof(voice), .alignment = 8,
                                  .concurrency = INVIVO_CONFINED, .init = voice_init, .deinit = voice_deinit, .parameters = parameters,
                                  .parameter_count = 1, .properties = properties, .property_count = 1};
    made = live = 0;
    OK(invivo_runtime_open(&runtime, options, E));
    OK(invivo_type_register(runtime, &voices, &type, E));
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
    tasks = check_entries("/proc/self/task"), descriptors = check_entries("/proc/self/fd");
}
static void begin(void) { begin_with(NULL); }
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    listener_end(heard), free(heard);
    unlink("a.yaml"), unlink("b.yaml");
}

/* The names of all sources. */
static const char *sources(void) {
    static char text[1024];
    invivo_value found = invivo_null();
    size_t length = 0;
    text[0] = 0;
    OK(invivo_runtime_sources(runtime, &found, E));
    for (uint64_t i = 0; i < found.as.list.count; i++) {
        const invivo_value *each = &found.as.list.items[i];
        for (uint64_t j = 0; j < each->as.map.count; j++)
            if (strcmp(each->as.map.pairs[j].name, "name") == 0)
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%.*s", i ? " " : "",
                                           (int)each->as.map.pairs[j].value.as.string.length,
                                           each->as.map.pairs[j].value.as.string.data);
    }
    invivo_value_clear(&found);
    return text;
}
/* No file is followed, and no thread or descriptor for it exists. */
#define FOLLOWS_NOTHING() follows_nothing(__LINE__)
static void follows_nothing(int line) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    if (*sources()) check_failed(__FILE__, line, "'%s' is followed", sources());
    if (check_entries("/proc/self/fd") != descriptors) check_failed(__FILE__, line, "a descriptor is left");
    while (check_entries("/proc/self/task") > tasks && now.tv_sec < limit) clock_gettime(CLOCK_MONOTONIC, &now);
    if (check_entries("/proc/self/task") > tasks) check_failed(__FILE__, line, "a thread is left");
}

static bool has_inotify(void) {
    char name[64], target[64];
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(name, target, sizeof target - 1);
        if (length > 0 && (target[length] = 0, strstr(target, "inotify"))) return true;
    }
    return false;
}

static invivo_changes open_set(void) {
    invivo_changes changes = {0};
    OK(invivo_changes_open(runtime, &changes, E));
    return changes;
}
static invivo_source watch_with(invivo_changes changes, const char *path, uint32_t flags) {
    invivo_source_options options = {.struct_size = sizeof options, .path = path, .flags = flags};
    invivo_source source = {0};
    OK(invivo_changes_watch(changes, &options, &source, E));
    CHECK(source.bits != 0);
    return source;
}
static invivo_source watch(invivo_changes changes, const char *path) { return watch_with(changes, path, 0); }
static void define(invivo_changes changes, const char *key) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = INVIVO_SCOPE_SINGLETON, .type = type,
                                    .initializer = required, .initializer_count = 1};
    OK(invivo_changes_define(changes, &definition, NULL, E));
}
static void say(const char *path, int count, double gain) {
    char text[256];
    snprintf(text, sizeof text, "config: { synth: { count: %d } }\ntraits:\n  synth.lead:\n    - Set: { gain: %g }\n", count, gain);
    write_text(path, text);
}
static void expects_voice_(int line, const char *key, int64_t count, double gain) {
    invivo_object object = {0};
    void *instance = NULL;
    if (!OK(invivo_resolve_name(runtime, key, &object, E)) || !OK(invivo_object_instance(object, type, &instance, E))) return;
    voice *found = instance;
    if (found->count != count || found->gain != gain)
        check_failed(__FILE__, line, "%s has %lld and %g, expected %lld and %g", key, (long long)found->count, found->gain,
                     (long long)count, gain);
    OK(invivo_object_release(object));
}
#define EXPECTS_VOICE(...) expects_voice_(__LINE__, __VA_ARGS__)
static int64_t configured(const char *path) {
    invivo_value found = invivo_null();
    if (invivo_config_read(runtime, path, &found, NULL)) return -1;
    int64_t value = found.as.signed_integer;
    invivo_value_clear(&found);
    return value;
}
/* Waits for an edit to appear in the configuration, and serves this thread's domain. */
static void wait_for(const char *path, int64_t value) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    while (configured(path) != value && now.tv_sec < limit) {
        OK(invivo_runtime_poll(runtime, 5, NULL, E));
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    CHECK_EQUAL(configured(path), value);
}

/* ---- one reload --------------------------------------------------------------------------------------- */

static void the_content_of_the_file_is_part_of_the_reload(void) {
    begin();
    say("a.yaml", 3, 0.5);
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    invivo_source source = watch(changes, "a.yaml");
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(listener_count(heard), 1);
    CHECK_TEXT(listener_last(heard)->cause, "define synth.lead, a.yaml");
    CHECK_EQUAL(made, 1);
    EXPECTS_VOICE("synth.lead", 3, 0.5);
    CHECK_TEXT(sources(), "a.yaml");
    say("a.yaml", 4, 0.25);
    wait_for("synth.count", 4);
    EXPECTS_VOICE("synth.lead", 4, 0.25);
    listener_wait(heard, 2); /* the values are there before the report */
    CHECK_TEXT(listener_last(heard)->cause, "a.yaml");
    say("a.yaml", 5, 0.75);
    OK(invivo_source_refresh(source, E));
    EXPECTS_VOICE("synth.lead", 5, 0.75);
    expects_error(invivo_source_close(source, E), INVIVO_E_NOT_CONFIGURED, NULL);
    changes = open_set();
    OK(invivo_changes_remove(changes, "synth.lead", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_SPEC, "a.yaml:3:3: traits.synth.lead: no target has the key 'synth.lead'" LATER);
    write_text("a.yaml", "config: { synth: { count: 5 } }");
    OK(invivo_source_refresh(source, E));
    changes = open_set();
    OK(invivo_changes_remove(changes, "synth.lead", E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_source_close(source, E));
    CHECK_TEXT(sources(), "");
    expects_error(invivo_source_close(source, E), INVIVO_E_HANDLE, NULL);
    end();
}

static void entries_and_choices_come_from_the_file(void) {
    begin();
    write_text("a.yaml", "config: { synth: { voices: { low: 1, high: 2 }, count: 7, wave: second } }\n");
    invivo_injection entry[] = {{.name = "count", .how = INVIVO_INJECT_ENTRY}};
    invivo_definition each = {.struct_size = sizeof each, .key = "synth.voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
                              .initializer = entry, .initializer_count = 1, .each = "voices"};
    invivo_injection chooser = {.how = INVIVO_INJECT_CONFIG, .reference = "wave"};
    invivo_option named = {.when = INVIVO_WHEN_NAMED};
    invivo_definition choice = {.struct_size = sizeof choice, .key = "synth.wave", .chooser = &chooser, .options = &named, .option_count = 1};
    invivo_changes changes = open_set();
    OK(invivo_changes_define(changes, &each, NULL, E));
    define(changes, "synth.first");
    define(changes, "synth.second");
    OK(invivo_changes_define(changes, &choice, NULL, E));
    watch(changes, "a.yaml");
    OK(invivo_changes_check(changes, E));
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.voice[low]", 1, 1);
    EXPECTS_VOICE("synth.voice[high]", 2, 1);
    EXPECTS_VOICE("synth.wave", 7, 1);
    end();
}

static void of_documents_in_one_set_the_later_wins(void) {
    static const char *const text = "config: { synth: { count: 2, memory: 1 } }";
    begin();
    write_text("a.yaml", "config: { synth: { count: 1, a: 1 } }\n");
    write_text("b.yaml", "config: { synth: { count: 3, b: 1 } }\n");
    for (int order = 0; order < 3; order++) {
        invivo_changes changes = open_set();
        invivo_source left = {0}, right = {0};
        define(changes, "synth.lead");
        if (order == 1) right = watch(changes, "b.yaml");
        if (order == 2) left = watch(changes, "a.yaml"), right = watch(changes, "b.yaml");
        OK(invivo_changes_document(changes, "memory.yaml", text, strlen(text), E));
        if (order == 0) left = watch(changes, "a.yaml"), right = watch(changes, "b.yaml");
        if (order == 1) left = watch(changes, "a.yaml");
        OK(invivo_changes_commit(changes, E));
        EXPECTS_VOICE("synth.lead", order == 0 ? 3 : order == 1 ? 1 : 2, 1);
        CHECK_TEXT(sources(), order == 0 ? "memory.yaml a.yaml b.yaml" : order == 1 ? "b.yaml memory.yaml a.yaml" : "a.yaml b.yaml memory.yaml");
        CHECK_EQUAL(configured("synth.memory") + configured("synth.a") + configured("synth.b"), 3);
        changes = open_set();
        OK(invivo_changes_remove(changes, "synth.lead", E));
        OK(invivo_changes_document(changes, "memory.yaml", NULL, 0, E));
        OK(invivo_changes_commit(changes, E));
        OK(invivo_source_close(left, E));
        OK(invivo_source_close(right, E));
    }
    end();
}

static void a_file_that_is_watched_twice_is_two_documents(void) {
    begin();
    say("a.yaml", 3, 0.5);
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    invivo_source first = watch(changes, "a.yaml"), second = watch(changes, "a.yaml");
    CHECK(first.bits != second.bits);
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.lead", 3, 0.5);
    CHECK_TEXT(sources(), "a.yaml a.yaml");
    say("a.yaml", 4, 0.25);
    wait_for("synth.count", 4);
    OK(invivo_source_close(first, E));
    EXPECTS_VOICE("synth.lead", 4, 0.25);
    end();
}

static void an_override_hides_values_of_the_file(void) {
    begin();
    say("a.yaml", 3, 0.5);
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    watch(changes, "a.yaml");
    OK(invivo_changes_commit(changes, E));
    invivo_definition over = {.struct_size = sizeof over, .key = "synth.lead", .type = type};
    invivo_override override = {0};
    OK(invivo_override_begin(runtime, &over, &override, E));
    write_text("b.yaml", "config: { synth: { count: 8 } }\ntraits: { synth.lead: [Set: { gain: 2 }], synth.pad: [Set: { gain: 4 }] }\n");
    changes = open_set();
    define(changes, "synth.pad");
    watch(changes, "b.yaml");
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.lead", 0, 2);
    EXPECTS_VOICE("synth.pad", 8, 4);
    OK(invivo_override_end(override, E));
    EXPECTS_VOICE("synth.lead", 8, 2);
    end();
}

/* ---- no remains ---------------------------------------------------------------------------------------- */

static void fails(const char *what, invivo_status code, const char *text, const char *second) {
    begin();
    if (text) write_text("a.yaml", text);
    if (second) write_text("b.yaml", second);
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    invivo_source source = watch(changes, "a.yaml");
    if (second) watch(changes, "b.yaml");
    FOLLOWS_NOTHING();
    if (strcmp(what, "a constructor") != 0) expects_error(invivo_changes_check(changes, E), code, NULL);
    FOLLOWS_NOTHING();
    expects_error(invivo_changes_commit(changes, E), code, NULL);
    FOLLOWS_NOTHING();
    CHECK_EQUAL(listener_count(heard), 1);
    CHECK_EQUAL(listener_last(heard)->status, code);
    CHECK_EQUAL(configured("synth.count"), -1);
    expects_error(invivo_source_refresh(source, E), INVIVO_E_HANDLE, NULL);
    expects_error(invivo_source_close(source, E), INVIVO_E_HANDLE, NULL);
    /* Nor does another file activate it. */
    write_text("b.yaml", "config: { synth: { b: 1 } }");
    OK(invivo_watch(runtime, "b.yaml", E));
    CHECK_EQUAL(configured("synth.b"), 1);
    CHECK_EQUAL(configured("synth.count"), -1);
    CHECK_TEXT(sources(), "b.yaml");
    end();
}
static void a_set_that_fails_leaves_nothing(void) {
    fails("a file that is not there", INVIVO_E_NOT_FOUND, NULL, NULL);
    fails("a file that is no document", INVIVO_E_SYNTAX, "config: {", NULL);
    fails("a value that is missing", INVIVO_E_NOT_CONFIGURED, "config: { synth: { gain: 1 } }", NULL);
    fails("a key that nobody has", INVIVO_E_SPEC, "config: { synth: { count: 1 } }\ntraits: { synth.laed: [] }", NULL);
    fails("a constructor", INVIVO_E_HOST, "config: { synth: { count: 13 } }", NULL);
    fails("another file", INVIVO_E_SYNTAX, "config: { synth: { count: 1 } }", "config: {");
}

static void a_set_that_is_discarded_leaves_nothing(void) {
    begin();
    say("a.yaml", 3, 0.5);
    invivo_changes changes = open_set();
    invivo_source source = watch(changes, "a.yaml");
    invivo_changes_discard(changes);
    FOLLOWS_NOTHING();
    expects_error(invivo_source_close(source, E), INVIVO_E_HANDLE, NULL);
    /* With the runtime. */
    changes = open_set();
    source = watch(changes, "a.yaml");
    end();
    CHECK(invivo_source_close(source, NULL) == INVIVO_E_HANDLE);
    CHECK(invivo_changes_commit(changes, NULL) == INVIVO_E_HANDLE);
}

static void a_check_follows_nothing(void) {
    begin();
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    watch(changes, "a.yaml");
    expects_error(invivo_changes_check(changes, E), INVIVO_E_NOT_FOUND, NULL);
    say("a.yaml", 3, 0.5);
    OK(invivo_changes_check(changes, E));
    FOLLOWS_NOTHING();
    CHECK_EQUAL(made, 0);
    CHECK_EQUAL(listener_count(heard), 0);
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.lead", 3, 0.5);
    end();
}

static void a_file_that_is_gone_at_the_commit_is_not_there(void) {
    begin();
    say("a.yaml", 3, 0.5);
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    watch(changes, "a.yaml");
    OK(invivo_changes_check(changes, E));
    unlink("a.yaml");
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    FOLLOWS_NOTHING();
    /* A committed set keeps the content of a file that was removed meanwhile. */
    say("a.yaml", 3, 0.5);
    changes = open_set();
    define(changes, "synth.lead");
    watch(changes, "a.yaml");
    OK(invivo_changes_commit(changes, E));
    unlink("a.yaml");
    EXPECTS_VOICE("synth.lead", 3, 0.5);
    say("a.yaml", 4, 0.25);
    wait_for("synth.count", 4);
    end();
}

/* ---- before the commit -------------------------------------------------------------------------------- */

static void a_source_is_not_ready_before_the_commit(void) {
    begin();
    say("a.yaml", 3, 0.5);
    write_text("b.yaml", "config: {");
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    invivo_source source = watch(changes, "a.yaml"), closed = watch(changes, "b.yaml");
    expects_error(invivo_source_refresh(source, E), INVIVO_E_NOT_READY,
                  "a.yaml: the change set that opens the source is not committed yet");
    expects_error(invivo_source_update(source, "{}", 2, E), INVIVO_E_UNSUPPORTED, NULL);
    OK(invivo_source_close(closed, E));
    expects_error(invivo_source_close(closed, E), INVIVO_E_HANDLE, NULL);
    invivo_changes_discard(changes);
    changes = open_set();
    define(changes, "synth.lead");
    source = watch(changes, "a.yaml");
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.lead", 3, 0.5);
    OK(invivo_source_refresh(source, E));
    end();
}

/* Otherwise the loss of the file would go unnoticed. */
static void a_source_that_is_closed_before_the_commit_is_an_error(void) {
    static const char message[] =
        "b.yaml: the source was closed before its change set was committed: close it after the commit, or discard the set and leave "
        "the file out of the next one";
    begin();
    say("a.yaml", 3, 0.5);
    say("b.yaml", 4, 0.25);
    for (int round = 0; round < 4; round++) {
        invivo_changes changes = open_set();
        define(changes, "synth.lead");
        watch(changes, "a.yaml");
        invivo_source closed = watch_with(changes, "b.yaml", round % 2 ? INVIVO_SOURCE_WAIT : 0);
        OK(invivo_source_close(closed, E));
        expects_error(invivo_changes_check(changes, E), INVIVO_E_ARGUMENT, message);
        expects_error(round < 2 ? invivo_changes_commit(changes, E) : invivo_changes_submit(changes, E), INVIVO_E_ARGUMENT, message);
        FOLLOWS_NOTHING();
        CHECK_EQUAL(made, 0);
    }
    end();
}

static invivo_status visit(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error) {
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
    (void)described, (void)user_data, (void)error;
    CHECK(invivo_changes_watch(changes, &options, NULL, NULL) == INVIVO_E_ARGUMENT);
    return INVIVO_OK;
}
static void directories_that_cannot_be_watched(void) {
    invivo_source_options memory = {.struct_size = sizeof memory, .name = "m.yaml", .text = "{}", .length = 2};
    invivo_source_options empty = {.struct_size = sizeof empty, .path = ""};
    invivo_source source = {1};
    begin();
    invivo_changes changes = open_set();
    expects_error(invivo_changes_watch(changes, &memory, &source, E), INVIVO_E_ARGUMENT,
                  "options.path is NULL: only a file is watched; add a string as a document of the change set");
    CHECK_EQUAL(source.bits, 0);
    expects_error(invivo_changes_watch(changes, &empty, &source, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_changes_watch(changes, NULL, &source, E), INVIVO_E_ARGUMENT, NULL);
    /* The set that a processor receives accepts only a definition. */
    invivo_processor processor = {.struct_size = sizeof processor, .name = "p", .process = visit};
    say("a.yaml", 3, 0.5);
    OK(invivo_changes_process(changes, &processor, E));
    define(changes, "synth.lead");
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
    OK(invivo_changes_watch(changes, &options, NULL, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_TEXT(sources(), "a.yaml");
    end();
}

/* ---- files that may be invalid at first ---------------------------------------------------------------- */

static void a_file_that_may_wait(void) {
    static const invivo_injection optional[] = {
        {.name = "count", .how = INVIVO_INJECT_CONFIG, .reference = "count", .flags = INVIVO_INJECT_OPTIONAL}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.lead", .scope = INVIVO_SCOPE_SINGLETON,
                                    .type = type, .initializer = optional, .initializer_count = 1};
    begin();
    definition.type = type;
    write_text("b.yaml", "config: { synth: { b: 1 } }");
    invivo_changes changes = open_set();
    OK(invivo_changes_define(changes, &definition, NULL, E));
    invivo_source missing = watch_with(changes, "a.yaml", INVIVO_SOURCE_WAIT);
    watch_with(changes, "b.yaml", INVIVO_SOURCE_WAIT);
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.lead", 0, 1);
    CHECK_EQUAL(configured("synth.b"), 1);
    CHECK_TEXT(sources(), "a.yaml b.yaml");
    expects_error(invivo_source_refresh(missing, E), INVIVO_E_NOT_FOUND, NULL);
    say("a.yaml", 4, 0.25);
    wait_for("synth.count", 4);
    EXPECTS_VOICE("synth.lead", 4, 0.25);
    OK(invivo_source_close(missing, E));
    EXPECTS_VOICE("synth.lead", 0, 1);
    end();
    /* Requirements of the set itself do not wait. */
    begin();
    changes = open_set();
    define(changes, "synth.lead");
    missing = watch_with(changes, "a.yaml", INVIVO_SOURCE_WAIT);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_CONFIGURED, NULL);
    CHECK_EQUAL(listener_count(heard), 1);
    CHECK(strstr(listener_last(heard)->error, "a.yaml") != NULL);
    FOLLOWS_NOTHING();
    expects_error(invivo_source_close(missing, E), INVIVO_E_HANDLE, NULL);
    end();
    /* As a separate source. */
    begin();
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml", .flags = INVIVO_SOURCE_WAIT};
    OK(invivo_source_open(runtime, &options, &missing, E));
    CHECK_EQUAL(listener_count(heard), 1);
    CHECK_TEXT(sources(), "a.yaml");
    write_text("a.yaml", "config: { synth: { count: 6 } }");
    wait_for("synth.count", 6);
    end();
}

/* ---- callbacks, threads, processes --------------------------------------------------------------------- */

static bool in_callback;
static invivo_source submitted;
static void reloaded(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    if (!in_callback) return;
    in_callback = false;
    invivo_changes changes = {0};
    invivo_source source = {0};
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_watch(changes, &options, &source, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_WOULD_WAIT, NULL);
    CHECK(invivo_source_refresh(source, NULL) == INVIVO_E_HANDLE);
    FOLLOWS_NOTHING();
    options.flags = INVIVO_SOURCE_WAIT;
    expects_error(invivo_source_open(runtime, &options, &source, E), INVIVO_E_WOULD_WAIT, NULL);
    FOLLOWS_NOTHING();
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_watch(changes, &options, &submitted, E));
    OK(invivo_changes_submit(changes, E));
}
static void a_callback_submits(void) {
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = reloaded};
    invivo_observer observer = {0};
    begin();
    say("a.yaml", 3, 0.5);
    OK(invivo_observe(runtime, &options, &observer, E));
    invivo_changes changes = open_set();
    invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.lead", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    OK(invivo_changes_define(changes, &definition, NULL, E));
    in_callback = true;
    OK(invivo_changes_commit(changes, E));
    CHECK(!in_callback);
    wait_for("synth.count", 3);
    EXPECTS_VOICE("synth.lead", 0, 0.5);
    OK(invivo_source_refresh(submitted, E));
    OK(invivo_source_close(submitted, E));
    EXPECTS_VOICE("synth.lead", 0, 1);
    end();
}

static void a_submitted_set_that_fails_leaves_nothing(void) {
    begin();
    for (int round = 0; round < 3; round++) {
        size_t count = listener_count(heard);
        write_text("a.yaml", "config: { synth: { count: 1 } }\ntraits: { synth.laed: [] }");
        invivo_changes changes = open_set();
        invivo_source source = watch(changes, "a.yaml");
        OK(invivo_changes_submit(changes, E));
        listener_wait(heard, count + 1);
        CHECK_EQUAL(listener_last(heard)->status, INVIVO_E_SPEC);
        CHECK(invivo_source_close(source, NULL) == INVIVO_E_HANDLE);
        tasks = 1000; /* the worker stays */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        time_t limit = now.tv_sec + CHECK_LIMIT_SECONDS;
        while (check_entries("/proc/self/fd") != descriptors && now.tv_sec < limit) clock_gettime(CLOCK_MONOTONIC, &now);
        FOLLOWS_NOTHING();
    }
    /* A valid file is not added with another one. */
    write_text("a.yaml", "config: { synth: { count: 1 } }");
    write_text("b.yaml", "config: {");
    invivo_changes changes = open_set();
    watch(changes, "a.yaml"), watch(changes, "b.yaml");
    OK(invivo_changes_submit(changes, E));
    listener_wait(heard, 4);
    write_text("b.yaml", "config: { synth: { b: 1 } }");
    OK(invivo_watch(runtime, "b.yaml", E));
    CHECK_EQUAL(configured("synth.b"), 1);
    CHECK_EQUAL(configured("synth.count"), -1);
    end();
}

/* A reload that lasts until set_holding(false). */
static void *commit_held(void *unused) {
    invivo_changes changes = open_set();
    invivo_type_options shared = {.struct_size = sizeof shared, .name = "Shared", .size = sizeof(voice), .alignment = 8,
                                  .concurrency = INVIVO_SHARED, .init = voice_init, .deinit = voice_deinit};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "held.one", .scope = INVIVO_SCOPE_SINGLETON};
    (void)unused;
    (void)invivo_type_register(runtime, &shared, &definition.type, NULL);
    if (!definition.type.bits) OK(invivo_type_find(runtime, "Shared", &definition.type, E));
    OK(invivo_changes_define(changes, &definition, NULL, E));
    OK(invivo_changes_commit(changes, E));
    return NULL;
}
static pthread_t begin_holding(void) {
    pthread_t thread;
    set_holding(true);
    pthread_create(&thread, NULL, commit_held, NULL);
    wait_until_held();
    return thread;
}
static void end_holding(pthread_t thread) {
    set_holding(false);
    pthread_join(thread, NULL);
}

/* Events of a file, as the runtime logs them. */
static int hearings;
static void log_line(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (strncmp(entry->message, "heard of", 8) == 0) __atomic_add_fetch(&hearings, 1, __ATOMIC_RELEASE);
}
static void begin_logged(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = log_line, options.log_level = INVIVO_LOG_TRACE, options.quiet_ms = 1;
    hearings = 0;
    begin_with(&options);
}
static void wait_for_hearing(int count) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    while (__atomic_load_n(&hearings, __ATOMIC_ACQUIRE) < count && now.tv_sec < limit) clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(__atomic_load_n(&hearings, __ATOMIC_ACQUIRE) >= count);
}

/* The file changes after it is followed and before the set has its turn: this is no separate reload. */
static void an_edit_before_the_commit_is_part_of_it(void) {
    begin_logged();
    say("a.yaml", 3, 0.5);
    pthread_t thread = begin_holding();
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    invivo_source source = watch(changes, "a.yaml");
    OK(invivo_changes_submit(changes, E));
    say("a.yaml", 4, 0.25);
    wait_for_hearing(1);
    end_holding(thread);
    wait_for("synth.count", 4);
    EXPECTS_VOICE("synth.lead", 4, 0.25);
    OK(invivo_source_refresh(source, E));
    for (size_t i = 0; i < listener_count(heard); i++) CHECK_EQUAL(heard->reports[i].status, INVIVO_OK);
    CHECK_EQUAL(made, 2);
    end();
}

/* A file that a set opens is part of it, although it is open for writing, and although an edit of another file joins
 * the set. */
static void a_file_that_is_being_written_is_not_left_for_later(void) {
    begin_logged();
    say("a.yaml", 3, 1);
    write_text("b.yaml", "config: { synth: { b: 1 } }");
    OK(invivo_watch(runtime, "b.yaml", E));
    pthread_t thread = begin_holding();
    invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.lead", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    invivo_changes changes = open_set();
    OK(invivo_changes_define(changes, &definition, NULL, E));
    watch(changes, "a.yaml");
    int writer = open("a.yaml", O_WRONLY | O_CLOEXEC);
    OK(invivo_changes_submit(changes, E));
    write_text("b.yaml", "config: { synth: { b: 2 } }");
    wait_for_hearing(1);
    end_holding(thread);
    wait_for("synth.b", 2);
    wait_for("synth.count", 3);
    close(writer);
    bool found = false;
    /* The values are there before the report. */
    for (size_t i = 0; !found && listener_wait(heard, i + 1); i++) {
        CHECK_EQUAL(heard->reports[i].status, INVIVO_OK);
        found = strstr(heard->reports[i].changes, "synth.lead defined");
        if (found) CHECK(strstr(heard->reports[i].changes, "synth.count configured"));
    }
    CHECK(found);
    end();
}

/* An edit of a file of a failed set does not activate it. */
static void an_edit_of_a_file_that_a_failed_set_would_open_is_nothing(void) {
    static const invivo_injection nobody[] = {{.name = "count", .how = INVIVO_INJECT_REFERENCE, .reference = "synth.nobody"}};
    for (int round = 0; round < 5; round++) {
        begin_logged();
        write_text("a.yaml", "config: { synth: { count: 3 } }");
        pthread_t thread = begin_holding();
        invivo_changes changes = open_set();
        invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.lead", .scope = INVIVO_SCOPE_SINGLETON,
                                        .type = type, .initializer = nobody, .initializer_count = 1};
        OK(invivo_changes_define(changes, &definition, NULL, E));
        watch(changes, "a.yaml");
        OK(invivo_changes_submit(changes, E));
        write_text("a.yaml", "config: { synth: { count: 4 } }");
        wait_for_hearing(1);
        end_holding(thread);
        listener_wait(heard, 2);
        changes = open_set();
        OK(invivo_changes_remove(changes, "held.one", E));
        OK(invivo_changes_commit(changes, E));
        CHECK_EQUAL(listener_count(heard), 3);
        CHECK_EQUAL(configured("synth.count"), -1);
        end();
    }
}

/* A source that was closed after an edit of its file was detected, and before its turn. */
static void *close_source(void *source) {
    OK(invivo_source_close(*(invivo_source *)source, E));
    return NULL;
}
static void an_edit_of_a_closed_source_is_nothing(void) {
    for (int round = 0; round < 20; round++) {
        begin_logged();
        invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
        invivo_source source = {0};
        pthread_t closing;
        write_text("a.yaml", "config: { synth: { count: 3 } }");
        OK(invivo_source_open(runtime, &options, &source, E));
        pthread_t thread = begin_holding();
        pthread_create(&closing, NULL, close_source, &source);
        write_text("a.yaml", "config: { synth: { count: 4 } }");
        wait_for_hearing(1);
        end_holding(thread);
        pthread_join(closing, NULL);
        /* All pending reloads have had their turn when this has. */
        size_t count = listener_count(heard);
        invivo_changes changes = open_set();
        OK(invivo_changes_document(changes, "m.yaml", "config: { synth: { m: 1 } }", 27, E));
        OK(invivo_changes_submit(changes, E));
        listener_wait(heard, count + 1);
        wait_for("synth.m", 1);
        CHECK_EQUAL(configured("synth.count"), -1);
        CHECK_TEXT(sources(), "m.yaml");
        end();
    }
}

/* A source that is closed while its set waits for its turn: the file is neither read nor followed. The scheduler
 * decides the order of close and set. */
static invivo_status closed_early;
static void *close_early(void *source) {
    closed_early = invivo_source_close(*(invivo_source *)source, NULL);
    return NULL;
}
static void a_source_is_closed_before_its_set_has_its_turn(void) {
    bool was_first = false;
    for (int round = 0; round < 200 && !was_first; round++) {
        pthread_t closing;
        begin();
        write_text("a.yaml", "config: {"); /* the set fails if it is read */
        pthread_t thread = begin_holding();
        invivo_changes changes = open_set();
        invivo_source source = watch(changes, "a.yaml");
        pthread_create(&closing, NULL, close_early, &source);
        OK(invivo_changes_submit(changes, E));
        end_holding(thread);
        pthread_join(closing, NULL);
        /* All pending reloads have had their turn when this has. */
        changes = open_set();
        OK(invivo_changes_document(changes, "m.yaml", "config: { synth: { m: 1 } }", 27, E));
        OK(invivo_changes_submit(changes, E));
        wait_for("synth.m", 1);
        changes = open_set();
        OK(invivo_changes_document(changes, "m.yaml", NULL, 0, E));
        OK(invivo_changes_commit(changes, E));
        was_first = closed_early == INVIVO_OK;
        for (size_t i = 0; i < listener_count(heard); i++) was_first = was_first && heard->reports[i].status == INVIVO_OK;
        /* The loop and the worker may have been started for other reasons, and stay until close; the watch may not. */
        if (was_first) CHECK_TEXT(sources(), "");
        for (time_t limit = time(NULL) + CHECK_LIMIT_SECONDS; was_first && has_inotify() && time(NULL) < limit;) sched_yield();
        if (was_first) CHECK(!has_inotify());
        end();
    }
    CHECK(was_first);
}

static void *commit_while_closing(void *result) {
    invivo_changes changes = {0};
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
    *(invivo_status *)result = invivo_changes_open(runtime, &changes, NULL);
    if (*(invivo_status *)result == INVIVO_OK) *(invivo_status *)result = invivo_changes_watch(changes, &options, NULL, NULL);
    if (*(invivo_status *)result == INVIVO_OK) *(invivo_status *)result = invivo_changes_commit(changes, NULL);
    return NULL;
}
static void a_close_meets_the_commit(void) {
    say("a.yaml", 3, 0.5);
    write_text("a.yaml", "config: { synth: { count: 3 } }");
    for (int round = 0; round < 60; round++) {
        invivo_status status = INVIVO_OK;
        pthread_t thread;
        OK(invivo_runtime_open(&runtime, NULL, E));
        pthread_create(&thread, NULL, commit_while_closing, &status);
        for (int pause = 0; pause < round * 200; pause++) (void)invivo_live(&(invivo_live_counts){.struct_size = sizeof(invivo_live_counts)});
        OK(invivo_runtime_close(runtime, E));
        pthread_join(thread, NULL);
        if (status != INVIVO_OK && status != INVIVO_E_HANDLE && status != INVIVO_E_CLOSED)
            check_failed(__FILE__, __LINE__, "the commit answers %s", invivo_status_name(status));
    }
    unlink("a.yaml");
}

static void a_child_watches_nothing(void) {
    begin();
    say("a.yaml", 3, 0.5);
    invivo_changes changes = open_set();
    define(changes, "synth.lead");
    invivo_source source = watch(changes, "a.yaml");
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
    pid_t child = fork();
    if (child == 0) {
        if (invivo_changes_watch(changes, &options, NULL, NULL) != INVIVO_E_FORKED) _exit(1);
        if (invivo_changes_commit(changes, NULL) != INVIVO_E_FORKED) _exit(2);
        if (invivo_source_close(source, NULL) != INVIVO_E_FORKED) _exit(3);
        if (invivo_source_refresh(source, NULL) != INVIVO_E_FORKED) _exit(4);
        invivo_changes_discard(changes);
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(invivo_changes_commit(changes, E));
    EXPECTS_VOICE("synth.lead", 3, 0.5);
    say("a.yaml", 4, 0.25);
    wait_for("synth.count", 4);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(the_content_of_the_file_is_part_of_the_reload);
    RUN_TEST(entries_and_choices_come_from_the_file);
    RUN_TEST(of_documents_in_one_set_the_later_wins);
    RUN_TEST(a_file_that_is_watched_twice_is_two_documents);
    RUN_TEST(an_override_hides_values_of_the_file);
    RUN_TEST(a_set_that_fails_leaves_nothing);
    RUN_TEST(a_set_that_is_discarded_leaves_nothing);
    RUN_TEST(a_check_follows_nothing);
    RUN_TEST(a_file_that_is_gone_at_the_commit_is_not_there);
    RUN_TEST(a_source_is_not_ready_before_the_commit);
    RUN_TEST(a_source_that_is_closed_before_the_commit_is_an_error);
    RUN_TEST(directories_that_cannot_be_watched);
    RUN_TEST(a_file_that_may_wait);
    RUN_TEST(a_callback_submits);
    RUN_TEST(a_submitted_set_that_fails_leaves_nothing);
    RUN_TEST(an_edit_before_the_commit_is_part_of_it);
    RUN_TEST(a_file_that_is_being_written_is_not_left_for_later);
    RUN_TEST(an_edit_of_a_file_that_a_failed_set_would_open_is_nothing);
    RUN_TEST(an_edit_of_a_closed_source_is_nothing);
    RUN_TEST(a_source_is_closed_before_its_set_has_its_turn);
    RUN_TEST(a_close_meets_the_commit);
    RUN_TEST(a_child_watches_nothing);
    return check_end();
}
