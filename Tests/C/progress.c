/* The phases of reloads, as observers hear them: their order, one answer for each reload, and the end of former generations. */
/* sanitize: yes */
#include "parts.h"

static invivo_type part_type;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static char heard[8192];
static uint64_t first; /* the number of the first reload of a test */
static int destroyed;

static void hear(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    size_t length = strlen(heard);
    vsnprintf(heard + length, sizeof heard - length, format, arguments);
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
}
static void on_progress(void *user_data, const invivo_progress *progress) {
    static const char *const names[] = {"detected", "planned", "committed", "refused", "unchanged", "retired"};
    (void)user_data;
    CHECK(progress->struct_size >= sizeof *progress && progress->reserved == 0);
    CHECK_EQUAL(progress->error != NULL, progress->phase == INVIVO_PROGRESS_REFUSED);
    if (progress->phase == INVIVO_PROGRESS_RETIRED) {
        CHECK(progress->reload == 0 && *progress->cause == 0);
        hear("retired %llu; ", (unsigned long long)progress->generation);
        return;
    }
    CHECK(progress->reload > 0);
    if (!first) first = progress->reload;
    hear("%s %llu of %s at %llu%s%s; ", names[progress->phase], (unsigned long long)(progress->reload - first + 1), progress->cause,
         (unsigned long long)progress->generation, progress->error ? ": " : "", progress->error ? invivo_error_message(progress->error) : "");
}
static void on_reload(void *user_data, const invivo_report *report) {
    (void)user_data;
    hear("report of %s; ", invivo_report_cause(report));
}
static void destroy(void *user_data) {
    (void)user_data;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}
/* Waits until a text was heard `times` times. */
static void wait_heard(const char *text, int times) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    for (int late = 0;;) {
        int found = 0;
        for (const char *at = heard; (at = strstr(at, text)); at++) found++;
        if (found >= times || late) {
            if (found < times) check_failed(__FILE__, __LINE__, "'%s' was not heard %d times: %s", text, times, heard);
            break;
        }
        late = pthread_cond_timedwait(&came, &lock, &limit) == ETIMEDOUT;
    }
    pthread_mutex_unlock(&lock);
}
static int times_heard(const char *text) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (const char *at = heard; (at = strstr(at, text)); at++) found++;
    pthread_mutex_unlock(&lock);
    return found;
}
#define HEARD(text) (CHECK_TEXT(heard, text), heard[0] = 0)

static invivo_observer observe_phases(void) {
    invivo_observer observer = {0};
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .progress = on_progress, .reloaded = on_reload, .destroy = destroy},
                      &observer, E));
    return observer;
}
static void begin_at(uint32_t quiet, uint32_t most) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = quiet, options.settle_max_ms = most, options.log_level = INVIVO_LOG_ERROR + 1;
    trace[0] = 0, live = 0, fail_at = NULL, heard[0] = 0, first = 0, destroyed = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    part_type = register_type(part_options("Part"));
}
static void begin(void) { begin_at(0, 0); }
static void define(const char *key, uint32_t scope, invivo_status expected) {
    static int32_t rank;
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = scope, .type = part_type, .rank = ++rank};
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_define(runtime, &definition, NULL, &error), expected);
    invivo_error_release(error);
}
static invivo_source source_of(const char *name, const char *text) {
    invivo_source source = {0};
    invivo_source_options options = {.struct_size = sizeof options, .name = name, .text = text, .length = strlen(text)};
    OK(invivo_source_open(runtime, &options, &source, E));
    return source;
}

static void a_reload_has_its_phases_before_its_report(void) {
    begin();
    observe_phases();
    HEARD("");
    define("a.one", INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_OK);
    HEARD("detected 1 of define a.one at 0; planned 1 of define a.one at 0; committed 1 of define a.one at 1; "
          "report of define a.one; retired 0; ");
    end();
}

/* Refused by the document, by the commit, and because the set was written for another generation. */
static void a_refused_reload_has_an_error(void) {
    begin();
    observe_phases();
    invivo_source source = source_of("a.yaml", "{}");
    heard[0] = 0, first = 0;
    expects_error(invivo_source_update(source, "traits: 1", 9, E), INVIVO_E_SPEC, NULL);
    HEARD("detected 1 of a.yaml at 1; refused 1 of a.yaml at 1: expected a map of targets and their lists of traits, found the integer 1; report of a.yaml; ");
    fail_at = "init:two";
    define("a.two", INVIVO_SCOPE_SINGLETON, INVIVO_E_HOST);
    fail_at = NULL;
    HEARD("detected 2 of define a.two at 1; planned 2 of define a.two at 1; refused 2 of define a.two at 1: on purpose; "
          "report of define a.two; ");
    describe();
    OK(invivo_changes_expect(changes, 77, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_STALE, NULL);
    CHECK_EQUAL(times_heard("refused 3 of"), 1);
    end();
}

static void a_reload_without_a_change_is_answered(void) {
    begin();
    observe_phases();
    invivo_source source = source_of("a.yaml", "config: {n: 1}");
    heard[0] = 0, first = 0;
    OK(invivo_source_update(source, "config: {n: 1}", 14, E));
    HEARD("detected 1 of a.yaml at 1; unchanged 1 of a.yaml at 1; ");
    end();
}

static invivo_changes waiting[2];
static void submit_both(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    for (int i = 0; i < 2; i++) {
        if (waiting[i].bits) OK(invivo_changes_submit(waiting[i], E));
        waiting[i].bits = 0;
    }
}
/* Sets that the worker joins keep their numbers. */
static void joined_change_sets_are_each_answered(void) {
    begin();
    for (int i = 0; i < 2; i++) {
        invivo_value value = invivo_int64(i);
        OK(invivo_changes_open(runtime, &waiting[i], E));
        OK(invivo_changes_configure(waiting[i], i ? "b" : "a", &value, E));
    }
    invivo_observer submitting;
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = submit_both}, &submitting, E));
    observe_phases();
    describe();
    OK(invivo_changes_configure(changes, "c", &(invivo_value){.kind = INVIVO_KIND_NULL}, E));
    OK(invivo_changes_configure(changes, "d", &(invivo_value){.kind = INVIVO_KIND_INT64}, E));
    OK(invivo_changes_submit(changes, E));
    wait_heard("committed 3 of", 1);
    wait_heard("report of", 2);
    CHECK_EQUAL(times_heard("detected 2 of configure a"), 1);
    CHECK_EQUAL(times_heard("detected 3 of configure b"), 1);
    CHECK_EQUAL(times_heard("planned 2 of configure a, configure b"), 1);
    CHECK_EQUAL(times_heard("committed 2 of configure a, configure b at 2"), 1);
    CHECK_EQUAL(times_heard("committed 3 of configure a, configure b at 2"), 1);
    end();
}

static void an_edit_of_a_file_is_detected_and_answered(void) {
    invivo_source a, b;
    begin();
    write_text("a.yaml", "config: {a: 1}"), write_text("b.yaml", "config: {b: 1}");
    observe_phases();
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "a.yaml"}, &a, E));
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "b.yaml"}, &b, E));
    CHECK_EQUAL(times_heard("committed 1 of a.yaml"), 1);
    CHECK_EQUAL(times_heard("committed 2 of b.yaml"), 1);
    heard[0] = 0;
    write_text("a.yaml", "config: {a: 2}");
    wait_heard("report of a.yaml", 1);
    CHECK(strncmp(heard, "detected 3 of a.yaml at 2; ", 27) == 0);
    CHECK_EQUAL(times_heard("detected 3 of a.yaml"), 1);
    CHECK_EQUAL(times_heard("committed 3 of a.yaml at 3"), 1);
    /* Refused bytes. */
    write_text("b.yaml", "config: [");
    wait_heard("refused 4 of b.yaml", 1);
    /* The former content again. */
    write_text("b.yaml", "config: {b: 1}");
    wait_heard("unchanged 5 of b.yaml", 1);
    CHECK_EQUAL(times_heard("refused"), 1);
    end();
}

/* The quiet time does not end in the test. */
static void an_edit_is_detected_before_its_quiet_time_ends(void) {
    invivo_source a, b;
    begin_at(600000, 600000);
    write_text("a.yaml", "config: {a: 1}"), write_text("b.yaml", "config: {b: 1}");
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "a.yaml"}, &a, E));
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "b.yaml"}, &b, E));
    observe_phases();
    write_text("a.yaml", "config: {a: 2}");
    wait_heard("detected 1 of a.yaml at 2; ", 1);
    write_text("b.yaml", "config: {b: 2}"); /* of the same burst */
    wait_heard("detected 1 of b.yaml at 2; ", 1);
    write_text("a.yaml", "config: {a: 3}");
    OK(invivo_source_close(a, E)); /* a reload of its own; b is still pending */
    wait_heard("report of a.yaml closed; ", 1);
    CHECK_EQUAL(times_heard("committed 2 of a.yaml closed at 3; "), 1);
    CHECK_EQUAL(times_heard("unchanged"), 0);
    heard[0] = 0;
    OK(invivo_source_close(b, E));
    CHECK_EQUAL(times_heard("unchanged 1 of b.yaml at 4; "), 1);
    heard[0] = 0, first = 0;
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "a.yaml"}, &a, E));
    write_text("a.yaml", "config: {a: 4}");
    wait_heard("detected 2 of a.yaml", 1);
    end(); /* refuses what is pending */
    CHECK_EQUAL(times_heard("refused 2 of  at 5: the runtime is closing; "), 1);
    CHECK_EQUAL(destroyed, 1);
}

static void a_former_generation_ends_once(void) {
    begin();
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    observe_phases();
    invivo_pin pin = invivo_pin_hold(runtime, NULL);
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    CHECK_EQUAL(times_heard("retired"), 0); /* pinned */
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    CHECK_EQUAL(times_heard("retired 1; "), 0);
    CHECK_EQUAL(times_heard("retired 2; "), 1); /* nothing reads it */
    OK(invivo_pin_end(pin));
    wait_heard("retired 1; ", 1);
    invivo_object leased = resolve("a.one");
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    wait_heard("retired 3; ", 1); /* a lease keeps its object alone */
    CHECK_TEXT(name_of(leased), "one");
    drop(leased);
    invivo_view view = invivo_view_begin(runtime);
    invivo_view_end(view);
    define("a.two", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    end();
    for (int i = 1; i < 5; i++) {
        char text[32];
        snprintf(text, sizeof text, "retired %d; ", i);
        CHECK_EQUAL(times_heard(text), 1);
    }
    CHECK_EQUAL(times_heard("retired"), 4);
}

static void close_once(void *user_data, const invivo_progress *progress) {
    hear("%u", progress->phase);
    OK(invivo_observer_close(*(invivo_observer *)user_data, E));
}
static void observers_of_phases_are_like_others(void) {
    invivo_observer one, two, wrong, closing = {0};
    invivo_observer_options options = {.struct_size = sizeof options, .progress = on_progress, .destroy = destroy};
    begin();
    OK(invivo_observe(runtime, &options, &one, E));
    OK(invivo_observe(runtime, &options, &two, E));
    CHECK(one.bits == two.bits);
    options.reloaded = on_reload;
    OK(invivo_observe(runtime, &options, &two, E));
    CHECK(one.bits != two.bits);
    options.key = "a.one";
    expects_error(invivo_observe(runtime, &options, &wrong, E), INVIVO_E_ARGUMENT,
                  "options.key and options.progress are given: the phases of reloads are those of the whole runtime");
    OK(invivo_observer_close(one, E));
    OK(invivo_observer_close(two, E));
    CHECK_EQUAL(destroyed, 2);
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof options, .progress = close_once, .user_data = &closing}, &closing, E));
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    HEARD("0");
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    HEARD("");
    end();
}

static void observe_late(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    observe_phases();
}
/* An observer hears of the reloads that begin after it was added. */
static void an_observer_hears_of_whole_reloads(void) {
    invivo_observer observer;
    begin();
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .progress = on_progress}, &observer, E));
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = observe_late}, &observer, E));
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    CHECK_EQUAL(times_heard("committed 1 of"), 1);
    define("a.two", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    CHECK_EQUAL(times_heard("committed 2 of"), 2);
    end();
}

/* Callbacks of phases, and those before and after a publication, may call what neither waits for a reload nor closes. */
static pthread_t main_thread;
static bool is_closing;
static int used_in_callbacks, submitted;
static void use_the_runtime(void) {
    invivo_value value = invivo_null();
    invivo_runtime_info info = {.struct_size = sizeof info};
    invivo_runtime_options options = {.struct_size = sizeof options};
    invivo_changes set;
    invivo_key key;
    if (is_closing || !pthread_equal(pthread_self(), main_thread)) return; /* the submitted set; the parts belong to the main thread */
    used_in_callbacks++;
    if (invivo_key_find(runtime, "a.cold", &key, NULL) == INVIVO_OK) drop(resolve("a.cold"));
    invivo_view view = invivo_view_begin(runtime);
    invivo_view_end(view);
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    CHECK(pin.bits);
    OK(invivo_pin_end(pin));
    OK(invivo_config_read(runtime, "", &value, E));
    invivo_value_clear(&value);
    OK(invivo_runtime_status(runtime, &value, E));
    invivo_value_clear(&value);
    OK(invivo_graph_describe(runtime, INVIVO_GRAPH_FACTS, &value, E));
    invivo_value_clear(&value);
    OK(invivo_runtime_inspect(runtime, &info, E));
    OK(invivo_runtime_options_read(runtime, &options, E));
    OK(invivo_runtime_options_change(runtime, &options, E));
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, "b.yaml", "{}", 2, E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_WOULD_WAIT, NULL);
    if (submitted++ == 0) {
        OK(invivo_changes_open(runtime, &set, E));
        OK(invivo_changes_document(set, "b.yaml", "config: { submitted: 1 }", 24, E));
        OK(invivo_changes_submit(set, E));
    }
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_IN_CALLBACK, NULL);
}
static void use_in_phase(void *user_data, const invivo_progress *progress) {
    (void)user_data;
    use_the_runtime();
    if (progress->phase == INVIVO_PROGRESS_RETIRED) hear("retired; ");
}
static void use_around_publication(void *user_data, uint32_t published) {
    (void)user_data, (void)published;
    use_the_runtime();
}
static void callbacks_may_call_what_does_not_wait_for_a_reload(void) {
    begin();
    main_thread = pthread_self(), used_in_callbacks = submitted = 0, is_closing = false;
    invivo_observer observer;
    define("a.cold", INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_OK);
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .progress = use_in_phase}, &observer, E));
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .publishing = use_around_publication}, &observer, E));
    define("a.one", INVIVO_SCOPE_SINGLETON, INVIVO_OK);
    /* Detected, planned, before and after the publication, committed. */
    CHECK(used_in_callbacks >= 5);
    /* A resolve in a callback does not lose the next definition of its key. */
    define("a.cold", INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_OK);
    drop(resolve("a.cold"));
    used_in_callbacks = 0, fail_at = "init:bad";
    define("a.bad", INVIVO_SCOPE_SINGLETON, INVIVO_E_HOST);
    fail_at = NULL;
    CHECK(used_in_callbacks >= 3); /* detected, planned, refused */
    wait_heard("retired; ", 1);
    is_closing = true; /* the last generations end in close, where each call answers INVIVO_E_CLOSED */
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_reload_has_its_phases_before_its_report);
    RUN_TEST(a_refused_reload_has_an_error);
    RUN_TEST(a_reload_without_a_change_is_answered);
    RUN_TEST(joined_change_sets_are_each_answered);
    RUN_TEST(an_edit_of_a_file_is_detected_and_answered);
    RUN_TEST(an_edit_is_detected_before_its_quiet_time_ends);
    RUN_TEST(a_former_generation_ends_once);
    RUN_TEST(observers_of_phases_are_like_others);
    RUN_TEST(an_observer_hears_of_whole_reloads);
    RUN_TEST(callbacks_may_call_what_does_not_wait_for_a_reload);
    return check_end();
}
