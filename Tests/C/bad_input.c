/* Invalid input causes a clear error with its source location and changes nothing, in a running program and at the
 * first start. */
#include "check.h"

#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

typedef struct { double gain; int32_t wave; uint8_t level; char label[16]; bool mute; double seen; } voice;

static const invivo_choice waves[] = {{"sine", 0}, {"saw", 1}, {"square", 2}};

static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 2),
    INVIVO_FIELD(voice, wave, .initial_text = "sine", .choices = waves, .choice_count = 3),
    INVIVO_FIELD(voice, level, .initial = 7),
    INVIVO_FIELD(voice, label, .initial_text = "lead"),
    INVIVO_FIELD(voice, mute),
    INVIVO_FLAGGED_FIELD(voice, INVIVO_PROPERTY_READ_ONLY, seen),
};

typedef struct { double width; } stage;
static const invivo_property stage_properties[] = {INVIVO_FIELD(stage, width, .min = 0, .max = 1)};

typedef struct {
    const char *rule;
    const char *file;          /* "a.yaml" or "a.json" */
    const char *text;          /* NULL: `make` creates the file instead */
    size_t length;             /* 0: the length of the text */
    void (*make)(const char *path);
    invivo_status code;
    const char *message;
} bad_case;

static void make_directory(const char *path) { mkdir(path, 0755); }
static void make_fifo(const char *path) { CHECK(mkfifo(path, 0644) == 0); }
static void make_nothing(const char *path) { (void)path; }
static void make_dangling(const char *path) { CHECK(symlink("nowhere/at/all", path) == 0); }
static void make_circle(const char *path) { CHECK(symlink(path, path) == 0); }
static void make_device(const char *path) { CHECK(symlink("/dev/zero", path) == 0); }
static void make_unreadable(const char *path) {
    write_text(path, "{}\n");
    chmod(path, 0);
}
static void make_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    CHECK(bind(made, (struct sockaddr *)&address, sizeof(address)) == 0);
    close(made);
}
static void make_large(const char *path) {
    static char text[5000];
    memset(text, '#', sizeof(text) - 1);
    write_text(path, text);
}

#define BOM "\xef\xbb\xbf"
#define BYTES(text) text, sizeof(text) - 1

static const bad_case cases[] = {
#include "bad_input_cases.h"
};

static invivo_runtime_options options;
static listener heard;
static invivo_key lead;

static void open_runtime(invivo_runtime *runtime) {
    OK(invivo_runtime_open(runtime, &options, E));
    OK(invivo_define_block(*runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, E));
    OK(invivo_define_block(*runtime, "synth.stage", INVIVO_BLOCK(stage, stage_properties), NULL, E));
}

static voice values(invivo_runtime runtime, uint64_t *generation) {
    invivo_view view = invivo_view_begin(runtime);
    voice copy = *(const voice *)invivo_view_block(view, lead);
    if (generation) *generation = invivo_view_generation(view);
    invivo_view_end(view);
    return copy;
}

/* Atomically replaces a valid file by an invalid one. */
static void put(const bad_case *bad, const char *path) {
    if (bad->text) {
        write_bytes("next", bad->text, bad->length ? bad->length : strlen(bad->text));
        CHECK(rename("next", path) == 0);
        return;
    }
    unlink(path);
    bad->make(path);
}

static void take_away(const char *path) {
    if (unlink(path) != 0) rmdir(path);
}

static void a_bad_edit_keeps_the_generation(const bad_case *bad) {
    invivo_runtime runtime;
    invivo_source source;
    invivo_source_options file = {.struct_size = sizeof(file), .path = bad->file};
    const char *good = strstr(bad->file, ".json") ? "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":0.5}}]}}"
                                                  : "traits:\n  synth.lead:\n    - Set: { gain: 0.5 }\n";
    const char *better = strstr(bad->file, ".json") ? "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":0.75}}]}}"
                                                    : "traits:\n  synth.lead:\n    - Set: { gain: 0.75 }\n";
    uint64_t before, after;
    invivo_error *last = NULL;
    open_runtime(&runtime);
    write_text(bad->file, good);
    OK(invivo_source_open(runtime, &file, &source, E));
    listener_open(&heard, runtime);
    CHECK_EQUAL(values(runtime, &before).gain, 0.5);

    put(bad, bad->file);
    struct stat facts;
    bool is_gone = lstat(bad->file, &facts) != 0;
    if (is_gone) {
        /* Editors remove files for a moment: no reload begins before a request. */
        expects_error(invivo_source_refresh(source, E), bad->code, bad->message);
    }
    if (listener_wait(&heard, 1)) {
        CHECK_EQUAL(listener_last(&heard)->status, bad->code);
        CHECK_TEXT(listener_last(&heard)->error, bad->message);
        CHECK_EQUAL(listener_last(&heard)->generation, before);
    }
    CHECK_EQUAL(values(runtime, &after).gain, 0.5);
    CHECK_EQUAL(after, before);
    OK(invivo_runtime_last_error(runtime, &last));
    if (!is_gone) CHECK_TEXT(invivo_error_text(last), bad->message);
    invivo_error_release(last);

    take_away(bad->file);
    write_text("next", better);
    CHECK(rename("next", bad->file) == 0);
    if (listener_wait(&heard, 2)) CHECK_EQUAL(listener_last(&heard)->status, INVIVO_OK);
    CHECK_EQUAL(values(runtime, &after).gain, 0.75);
    CHECK_EQUAL(after, before + 1);
    OK(invivo_runtime_last_error(runtime, &last));
    CHECK(last == NULL);
    invivo_error_release(last);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(listener_count(&heard), 2);
    listener_end(&heard);
    take_away(bad->file);
}

static void a_bad_first_start_leaves_nothing_running(const bad_case *bad) {
    invivo_runtime runtime;
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    invivo_live_counts live_before = {.struct_size = sizeof(live_before)}, live = {.struct_size = sizeof(live)};
    uint64_t before, after;
    open_runtime(&runtime);
    put(bad, bad->file);
    values(runtime, &before);
    invivo_live(&live_before);
    /* A file with an unknown trait alone is blocked, and waits for the type, unless the name is that of a built-in trait misspelled. */
    bool is_blocked = strstr(bad->message, "unknown trait") != NULL && !strstr(bad->message, "did you mean");
    if (is_blocked)
        OK(invivo_watch(runtime, bad->file, E));
    else
        expects_error(invivo_watch(runtime, bad->file, E), bad->code, bad->message);
    CHECK_EQUAL(values(runtime, &after).gain, 1);
    CHECK_EQUAL(after, before);
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.sources, is_blocked ? 1 : 0);
    /* No following thread and no inotify descriptor exists. */
    invivo_live(&live);
    CHECK(is_blocked || (live.threads <= live_before.threads && live.descriptors <= live_before.descriptors));
    OK(invivo_runtime_close(runtime, E));
    take_away(bad->file);
}

/* ---- empty and seemingly empty files ------------------------------------------------------------------- */

static void an_empty_map_takes_all_layers_away(void) {
    invivo_runtime runtime;
    open_runtime(&runtime);
    write_text("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0.5, label: bass, level: 200, wave: saw, mute: true }\n");
    OK(invivo_watch(runtime, "a.yaml", E));
    listener_open(&heard, runtime);
    voice now = values(runtime, NULL);
    CHECK_EQUAL(now.gain, 0.5);
    CHECK_EQUAL(now.level, 200);
    CHECK_EQUAL(now.wave, 1);
    CHECK_EQUAL(now.mute, true);
    CHECK_TEXT(now.label, "bass");
    write_text("next", "{}\n");
    rename("next", "a.yaml");
    if (listener_wait(&heard, 1)) {
        CHECK_EQUAL(listener_last(&heard)->status, INVIVO_OK);
        CHECK_TEXT(listener_last(&heard)->changes,
                   "synth.lead.gain tuned; synth.lead.wave tuned; synth.lead.level tuned; synth.lead.label tuned; "
                   "synth.lead.mute tuned");
    }
    now = values(runtime, NULL);
    CHECK_EQUAL(now.gain, 1);
    CHECK_EQUAL(now.level, 7);
    CHECK_EQUAL(now.wave, 0);
    CHECK_EQUAL(now.mute, false);
    CHECK_TEXT(now.label, "lead");
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
    unlink("a.yaml");
}

/* All errors are reported at once, in the order of the text, and nothing is applied. */
static void every_error_of_a_document_is_reported(void) {
    invivo_runtime runtime;
    open_runtime(&runtime);
    write_text("a.yaml",
               "traits:\n  synth.lead:\n    - Set: { gain: 3, wvae: saw, mute: 1 }\n  synth.lead2:\n    - Set: { gain: 1 }\n");
    expects_error(invivo_watch(runtime, "a.yaml", E), INVIVO_E_RANGE,
                  "a.yaml:3:20: traits.synth.lead[0].Set.gain: 3 is outside 0...2\n"
                  "a.yaml:3:23: traits.synth.lead[0].Set.wvae: voice has no property 'wvae'; did you mean 'wave'?\n"
                  "a.yaml:3:40: traits.synth.lead[0].Set.mute: 1 (a whole number) is not a bool\n"
                  "a.yaml:4:3: traits.synth.lead2: no target has the key 'synth.lead2'; did you mean 'synth.lead'?" LATER);
    OK(invivo_runtime_close(runtime, E));
    unlink("a.yaml");
}

/* Two files of one burst are one change: while one is invalid neither takes effect; when it is fixed, both do. */
static void a_good_file_beside_a_bad_one_is_not_lost(void) {
    invivo_runtime runtime;
    open_runtime(&runtime);
    mkdir("pair", 0755);
    mkdir("pair/one", 0755);
    write_text("pair/one/a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0.5 }\n");
    write_text("pair/one/b.yaml", "traits:\n  synth.lead:\n    - Set: { level: 1 }\n");
    CHECK(symlink("one", "pair/now") == 0);
    OK(invivo_watch(runtime, "pair/now/a.yaml", E));
    OK(invivo_watch(runtime, "pair/now/b.yaml", E));
    listener_open(&heard, runtime);
    mkdir("pair/two", 0755);
    write_text("pair/two/a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 5 }\n");
    write_text("pair/two/b.yaml", "traits:\n  synth.lead:\n    - Set: { level: 2 }\n");
    CHECK(symlink("two", "pair/next") == 0);
    CHECK(rename("pair/next", "pair/now") == 0);
    if (listener_wait(&heard, 1)) {
        CHECK_EQUAL(listener_last(&heard)->status, INVIVO_E_RANGE);
        CHECK_TEXT(listener_last(&heard)->cause, "pair/now/a.yaml, pair/now/b.yaml");
    }
    CHECK_EQUAL(values(runtime, NULL).level, 1);
    write_text("pair/two/a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 1.5 }\n");
    if (listener_wait(&heard, 2)) CHECK_EQUAL(listener_last(&heard)->status, INVIVO_OK);
    CHECK_EQUAL(values(runtime, NULL).gain, 1.5);
    CHECK_EQUAL(values(runtime, NULL).level, 2);
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}

/* Saving the former text again clears the error, although no value changes. */
static void the_former_text_again_clears_the_error(void) {
    invivo_runtime runtime;
    invivo_source source;
    invivo_source_options text = {.struct_size = sizeof(text), .name = "m.yaml", .text = "{}", .length = 2};
    invivo_error *last = NULL;
    open_runtime(&runtime);
    OK(invivo_source_open(runtime, &text, &source, E));
    expects_error(invivo_source_update(source, "{", 1, E), INVIVO_E_SYNTAX, NULL);
    OK(invivo_runtime_last_error(runtime, &last));
    CHECK(last != NULL);
    invivo_error_release(last);
    OK(invivo_source_update(source, "{}", 2, E));
    OK(invivo_runtime_last_error(runtime, &last));
    CHECK(last == NULL);
    invivo_error_release(last);
    OK(invivo_runtime_close(runtime, E));
}

static void begin_cases(void) {
    check_begin();
    check_directory();
    invivo_runtime_options_init(&options);
    options.quiet_ms = 5;
    options.max_document_bytes = 4096;
}

/* Root can read every file. Another user in a separate process, started before this one had threads, tries the
 * unreadable file. */
static void another_user_tries_an_unreadable_file(void) {
    pid_t child;
    int status = -1;
    if (geteuid() != 0) return;
    child = fork();
    if (child == 0) {
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)) _exit(2);
        begin_cases();
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            if (cases[i].make != make_unreadable) continue;
            a_bad_edit_keeps_the_generation(&cases[i]);
            a_bad_first_start_leaves_nothing_running(&cases[i]);
        }
        _exit(check_end() ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        check_failed(__FILE__, __LINE__, "the unreadable file, tried by another user, ends with status %d", status);
    }
}

/* A field whose size or offset does not match its type. */
static void fields_that_do_not_fit_are_refused(void) {
    static const struct { uint64_t offset, size; const char *text; } wrong[] = {
        {0, 4, "voice.gain: a double is 8 bytes long, the size says 4"},
        {12, 8, "voice.gain: bytes 12..<20 are outside the instance of 16 bytes"},
    };
    invivo_runtime runtime;
    OK(invivo_runtime_open(&runtime, NULL, E));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const invivo_property gain = {.struct_size = sizeof(gain), .name = "gain", .kind = INVIVO_KIND_DOUBLE,
                                      .offset = wrong[i].offset, .size = wrong[i].size};
        const invivo_type_options options = {.struct_size = sizeof(options), .name = "voice", .size = 16, .alignment = 8,
                                             .properties = &gain, .property_count = 1};
        invivo_type type = {0};
        expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_ARGUMENT, wrong[i].text);
        CHECK_EQUAL(type.bits, 0);
    }
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    RUN_TEST(another_user_tries_an_unreadable_file);
    RUN_TEST(begin_cases);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int before = check_failures;
        if (cases[i].make == make_unreadable && geteuid() == 0) continue; /* see above */
        a_bad_edit_keeps_the_generation(&cases[i]);
        a_bad_first_start_leaves_nothing_running(&cases[i]);
        if (check_failures > before) fprintf(stderr, "  in the case: %s\n", cases[i].rule);
    }
    RUN_TEST(fields_that_do_not_fit_are_refused);
    RUN_TEST(an_empty_map_takes_all_layers_away);
    RUN_TEST(every_error_of_a_document_is_reported);
    RUN_TEST(a_good_file_beside_a_bad_one_is_not_lost);
    RUN_TEST(the_former_text_again_clears_the_error);
    return check_end();
}
