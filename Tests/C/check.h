/* check.h: shared by the C tests. A failed check prints its source location and the test continues. `check_end` reports
 * failures, and checks that no runtime, object, thread or descriptor remains. */
#ifndef INVIVO_TESTS_CHECK_H
#define INVIVO_TESTS_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <invivo/invivo.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A longer wait is hopeless on the busiest machine. */
enum { CHECK_LIMIT_SECONDS = 60 };

static int check_failures;
static int check_tasks, check_descriptors;
static char check_place[256];
static __thread invivo_error *check_error;

/* The error out parameter of the call in OK or expects_error. */
#define E (&check_error)

static inline void check_failed(const char *file, int line, const char *format, ...) {
    va_list arguments;
    char text[8192];
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED) <= 100) fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

/* The options of a runtime that keeps no former generations: their definitions end at once. */
static inline invivo_runtime_options without_history(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.history = INVIVO_HISTORY_NONE;
    return options;
}

#define CHECK(condition) ((condition) ? 1 : (check_failed(__FILE__, __LINE__, "does not hold: %s", #condition), 0))

#define CHECK_EQUAL(found, expected) check_equal_(__FILE__, __LINE__, #found, (double)(found), (double)(expected))
static inline int check_equal_(const char *file, int line, const char *what, double found, double expected) {
    if (found != expected) check_failed(file, line, "%s is %.17g, expected %.17g", what, found, expected);
    return found == expected;
}

#define CHECK_TEXT(found, expected) check_text_(__FILE__, __LINE__, #found, found, expected)
static inline int check_text_(const char *file, int line, const char *what, const char *found, const char *expected) {
    int same = found && strcmp(found, expected) == 0;
    if (!same) check_failed(file, line, "%s is\n    \"%s\"\nexpected\n    \"%s\"", what, found ? found : "(NULL)", expected);
    return same;
}

/* OK(invivo_watch(runtime, "a.yaml", E)): the call succeeds. */
#define OK(call) (check_error = NULL, check_ok_(__FILE__, __LINE__, #call, (call)))
static inline int check_ok_(const char *file, int line, const char *call, invivo_status status) {
    if (status != INVIVO_OK)
        check_failed(file, line, "%s answers %s: %s", call, invivo_status_name(status), invivo_error_text(check_error));
    else if (check_error)
        check_failed(file, line, "%s succeeds and leaves an error: %s", call, invivo_error_text(check_error));
    invivo_error_release(check_error);
    check_error = NULL;
    return status == INVIVO_OK;
}

/* The end of the error about a key without a target. */
#define LATER " (pending_targets, or --wait, permits keys that are defined later)"

/* expects_error(call(..., E), code, "the complete text"): a NULL text compares only the code. */
#define expects_error(call, code, text) (check_error = NULL, check_expected_(__FILE__, __LINE__, #call, (call), code, text))
static inline int check_expected_(const char *file, int line, const char *call, invivo_status status, invivo_status code,
                                  const char *text) {
    int good = 1;
    if (status != code) {
        check_failed(file, line, "%s answers %s (%s), expected %s", call, invivo_status_name(status),
                     invivo_error_text(check_error), invivo_status_name(code));
        good = 0;
    } else if (text && strcmp(invivo_error_text(check_error), text) != 0) {
        check_failed(file, line, "%s says\n    %s\nexpected\n    %s", call, invivo_error_text(check_error), text);
        good = 0;
    }
    invivo_error_release(check_error);
    check_error = NULL;
    return good;
}

static inline int check_entries(const char *directory) {
    DIR *open = opendir(directory);
    int count = 0;
    if (!open) return -1;
    while (readdir(open)) count++;
    closedir(open);
    return count;
}

/* ---- temporary directories ----------------------------------------------------------------------------- */

static inline int check_remove(const char *path, const struct stat *facts, int kind, struct FTW *walk) {
    (void)facts, (void)kind, (void)walk;
    return remove(path);
}

/* Creates a directory and changes to it, so that messages contain short file paths. */
static inline void check_directory(void) {
    const char *base = getenv("TMPDIR");
    snprintf(check_place, sizeof(check_place), "%s/invivo-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(check_place) || chdir(check_place) != 0) {
        perror(check_place);
        exit(2);
    }
}

static inline void write_bytes(const char *path, const void *data, size_t length) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, data, length) != (ssize_t)length) check_failed(path, 0, "cannot be written: %s", strerror(errno));
    if (file >= 0) close(file);
}
static inline void write_text(const char *path, const char *text) { write_bytes(path, text, strlen(text)); }

/* ---- begin and end ---------------------------------------------------------------------------------- */

static inline void check_begin(void) {
    /* libuv creates one pipe per process with its first loop, and keeps it: count after that. */
    invivo_runtime_options options;
    invivo_runtime first = {0};
    invivo_runtime_options_init(&options);
    options.default_domain = INVIVO_DOMAIN_LOOP;
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(invivo_runtime_open(&first, &options, E));
    OK(invivo_runtime_close(first, E));
    check_tasks = check_entries("/proc/self/task");
    check_descriptors = check_entries("/proc/self/fd");
}

/* Runs a test, unless INVIVO_TEST in the environment names another one; RUN_TEST_WITH gives it arguments. `main` calls only set-up
 * and tests by these macros. A program without them is one test. */
static int check_run;
static inline bool check_wanted(const char *test) {
    const char *wanted = getenv("INVIVO_TEST");
    if (wanted && *wanted && strcmp(wanted, test) != 0) return false;
    check_run++;
    return true;
}
#define RUN_TEST(test) ((void)(check_wanted(#test) && (test(), true)))
#define RUN_TEST_WITH(test, ...) ((void)(check_wanted(#test) && (test(__VA_ARGS__), true)))

/* The exit status of the program. */
static inline int check_end(void) {
    const char *wanted = getenv("INVIVO_TEST");
    if (wanted && *wanted && !check_run) check_failed(__FILE__, __LINE__, "there is no test '%s' here", wanted);
    invivo_live_counts live = {.struct_size = sizeof(live)};
    struct timespec now;
    time_t limit;
    clock_gettime(CLOCK_MONOTONIC, &now);
    limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    invivo_live(&live);
#define CHECK_NONE_LEFT(what) \
    if (live.what) check_failed(__FILE__, __LINE__, "%llu " #what " are left", (unsigned long long)live.what);
    CHECK_NONE_LEFT(runtimes)
    CHECK_NONE_LEFT(objects)
    CHECK_NONE_LEFT(callables)
    CHECK_NONE_LEFT(errors)
    CHECK_NONE_LEFT(graphs)
    CHECK_NONE_LEFT(blocks)
    CHECK_NONE_LEFT(threads)
    CHECK_NONE_LEFT(descriptors)
    CHECK_NONE_LEFT(contexts)
    /* A joined thread is removed from /proc shortly after pthread_join has returned. */
    while (check_entries("/proc/self/task") > check_tasks && now.tv_sec < limit) clock_gettime(CLOCK_MONOTONIC, &now);
    if (check_entries("/proc/self/task") > check_tasks) check_failed(__FILE__, __LINE__, "a thread is left");
    if (check_entries("/proc/self/fd") != check_descriptors) {
        check_failed(__FILE__, __LINE__, "%d descriptors, %d at the start:", check_entries("/proc/self/fd"), check_descriptors);
        for (int i = 0; i < 64; i++) {
            char path[64], target[256];
            ssize_t length;
            snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
            length = readlink(path, target, sizeof(target) - 1);
            if (length > 0) fprintf(stderr, "  %d: %.*s\n", i, (int)length, target);
        }
    }
    if (check_place[0] && chdir("/") == 0) nftw(check_place, check_remove, 16, FTW_DEPTH | FTW_PHYS);
    if (check_failures) fprintf(stderr, "%d checks failed\n", check_failures);
    return check_failures != 0;
}

/* Whether a thread of this process waits for anything. A caller that needs a permanent wait must check repeatedly. */
static inline bool check_is_asleep(pid_t thread) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    if (file) fclose(file);
    return state == 'S';
}
static inline void check_await_sleep(pid_t thread) {
    /* Yielding to other threads while it sleeps would take seconds on a busy machine. */
    for (int i = 0, asleep = 0; i < 100000 && asleep < 50; i++) asleep = check_is_asleep(thread) ? asleep + 1 : (sched_yield(), 0);
}

/* ---- observers of reloads ------------------------------------------------------------------------------ */

typedef struct heard_report {
    uint64_t generation;
    invivo_status status;
    char *cause, *error, *stop_error, *changes; /* changes: "key.property what; ..." */
    char *warnings;                             /* a line each */
} heard_report;

typedef struct listener {
    pthread_mutex_t lock;
    pthread_cond_t came;
    heard_report reports[1024];
    size_t count;
    int destroyed;
    invivo_observer observer;
} listener;

/* Each warning has a kind, and these texts have theirs. */
static inline void check_warning_kind(const invivo_report *report, size_t index) {
    static const struct { const char *part; uint32_t kind; } known[] = {
        {"' keeps the former ", INVIVO_WARNING_KEPT}, {"the new object has no former object", INVIVO_WARNING_RETYPED},
        {"; each later commit tries again", INVIVO_WARNING_SETUP}, {" failed after the commit: ", INVIVO_WARNING_SETUP},
        {"still refused: ", INVIVO_WARNING_REFUSED}, {" still cannot be ", INVIVO_WARNING_UNRESTORED}, {"and the file has other bytes: ", INVIVO_WARNING_DIVERGED}};
    const char *text = invivo_report_warning(report, index);
    uint32_t kind = invivo_report_warning_kind(report, index);
    if (kind == INVIVO_WARNING_OTHER) check_failed(__FILE__, __LINE__, "no kind: %s", text);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(text, known[i].part) && kind != known[i].kind) check_failed(__FILE__, __LINE__, "kind %u: %s", kind, text);
}
static inline char *listener_warnings(const invivo_report *report) {
    size_t count = invivo_report_warning_count(report), length = 1;
    for (size_t i = 0; i < count; i++) check_warning_kind(report, i);
    for (size_t i = 0; i < count; i++) length += strlen(invivo_report_warning(report, i)) + 1;
    char *all = (char *)calloc(1, length);
    for (size_t i = 0; i < count; i++) strcat(strcat(all, invivo_report_warning(report, i)), "\n");
    return all;
}

/* The names of INVIVO_CHANGED_... */
static const char *const change_names[] __attribute__((unused)) = {
    "defined", "removed", "remade", "reinjected", "tuned", "pending", "configured", "dormant", "cleared", "kept"};

static inline void listener_reloaded(void *user_data, const invivo_report *report) {
    listener *self = (listener *)user_data;
    heard_report heard;
    char changes[4096] = "";
    size_t length = 0;
    for (size_t i = 0; i < invivo_report_count(report) && length < sizeof(changes) - 256; i++) {
        const char *property = invivo_report_property(report, i);
        length += (size_t)snprintf(changes + length, sizeof(changes) - length, "%s%s%s%s %s", i ? "; " : "",
                                   invivo_report_key(report, i), *property ? "." : "", property,
                                   change_names[invivo_report_change(report, i)]);
    }
    heard.generation = invivo_report_generation(report);
    heard.status = invivo_report_status(report);
    heard.cause = strdup(invivo_report_cause(report));
    heard.error = strdup(invivo_error_text(invivo_report_error(report)));
    heard.stop_error = strdup(invivo_error_text(invivo_report_stop_error(report)));
    heard.changes = strdup(changes);
    heard.warnings = listener_warnings(report);
    pthread_mutex_lock(&self->lock);
    if (self->count < sizeof(self->reports) / sizeof(self->reports[0])) {
        self->reports[self->count++] = heard;
    } else {
        free(heard.cause), free(heard.error), free(heard.stop_error), free(heard.changes), free(heard.warnings);
    }
    pthread_cond_broadcast(&self->came);
    pthread_mutex_unlock(&self->lock);
}

static inline void listener_destroyed(void *user_data) { ((listener *)user_data)->destroyed++; }

static inline void listener_open(listener *self, invivo_runtime runtime) {
    pthread_condattr_t attributes;
    invivo_observer_options options = {.struct_size = sizeof(options), .reloaded = listener_reloaded, .user_data = self,
                                       .destroy = listener_destroyed};
    memset(self, 0, sizeof(*self));
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->came, &attributes);
    pthread_condattr_destroy(&attributes);
    OK(invivo_observe(runtime, &options, &self->observer, E));
}

static inline size_t listener_count(listener *self) {
    size_t count;
    pthread_mutex_lock(&self->lock);
    count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

/* Waits until there are `count` reports; false after the limit. */
#define listener_wait(self, count) listener_wait_(__FILE__, __LINE__, self, count)
static inline bool listener_wait_(const char *file, int line, listener *self, size_t count) {
    struct timespec limit;
    bool there;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&self->lock);
    while (self->count < count && pthread_cond_timedwait(&self->came, &self->lock, &limit) == 0) {}
    size_t came = self->count;
    there = came >= count;
    pthread_mutex_unlock(&self->lock);
    if (!there) check_failed(file, line, "%zu of %zu reports came in %d s", came, count, CHECK_LIMIT_SECONDS);
    return there;
}

/* The newest report. It does not change when others arrive. */
static inline const heard_report *listener_last(listener *self) {
    static const heard_report none = {0, 0, (char *)"", (char *)"", (char *)"", (char *)"", (char *)""};
    size_t count = listener_count(self);
    return count ? &self->reports[count - 1] : &none;
}

/* After its observer is closed, directly or with the runtime. */
static inline void listener_end(listener *self) {
    CHECK_EQUAL(self->destroyed, 1);
    for (size_t i = 0; i < self->count; i++) {
        free(self->reports[i].cause), free(self->reports[i].error), free(self->reports[i].stop_error), free(self->reports[i].warnings);
        free(self->reports[i].changes);
    }
    pthread_cond_destroy(&self->came);
    pthread_mutex_destroy(&self->lock);
}

/* A list of names of the status of a runtime, joined: "a.x, a.y". */
static inline const char *check_status_names(invivo_runtime runtime, const char *name) {
    static char joined[256];
    invivo_value found = invivo_null();
    joined[0] = 0;
    OK(invivo_runtime_status(runtime, &found, E));
    for (uint64_t pair = 0; pair < found.as.map.count; pair++) {
        if (strcmp(found.as.map.pairs[pair].name, name) != 0) continue;
        const invivo_value *list = &found.as.map.pairs[pair].value;
        for (uint64_t item = 0; item < list->as.list.count; item++)
            snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", item ? ", " : "", list->as.list.items[item].as.string.data);
    }
    invivo_value_clear(&found);
    return joined;
}

/* A number of the status of a runtime; UINT64_MAX if there is none. */
static inline uint64_t check_status_number(invivo_runtime runtime, const char *name) {
    invivo_value facts = invivo_null();
    uint64_t found = UINT64_MAX;
    OK(invivo_runtime_status(runtime, &facts, E));
    for (uint64_t i = 0; i < facts.as.map.count; i++)
        if (!strcmp(facts.as.map.pairs[i].name, name)) found = facts.as.map.pairs[i].value.as.unsigned_integer;
    invivo_value_clear(&facts);
    return found;
}

#endif
