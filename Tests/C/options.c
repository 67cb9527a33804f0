/* Options of an open runtime: reading them, changing them, and the time at which each new value takes effect. */
/* sanitize: yes */
#include "check.h"

typedef struct thing { int64_t number; } thing;

static invivo_runtime runtime;
static invivo_type thing_type;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char logged[1 << 14]; /* a line each: "2 options: ..." */
static int stops, destroyed, is_let_go;

static void update(int *counter) {
    pthread_mutex_lock(&lock);
    ++*counter;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
/* Waits until the log has a text, or a counter is not 0. */
static bool await(const char *text, const int *counter) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (!(text ? strstr(logged, text) != NULL : *counter != 0) && pthread_cond_timedwait(&changed, &lock, &limit) == 0) {}
    bool is_there = text ? strstr(logged, text) != NULL : *counter != 0;
    pthread_mutex_unlock(&lock);
    return is_there;
}
static bool has_logged(const char *text) {
    pthread_mutex_lock(&lock);
    bool has = strstr(logged, text) != NULL;
    pthread_mutex_unlock(&lock);
    return has;
}
static void (*in_log)(void);
static void keep_log(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    pthread_mutex_lock(&lock);
    size_t length = strlen(logged);
    snprintf(logged + length, sizeof logged - length, "%u %s\n", entry->level, entry->message);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    void (*run)(void) = __atomic_exchange_n(&in_log, NULL, __ATOMIC_SEQ_CST);
    if (run) run();
}

/* A constructor, a start and a stop that take longer than a limit of 1 ms. */
static int starts_late, stops_late;
static void exceed(void) {
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000000 + (now.tv_nsec - begun.tv_nsec) < 2000000);
}
static void (*in_init)(void);
static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    void (*run)(void) = __atomic_exchange_n(&in_init, NULL, __ATOMIC_SEQ_CST);
    if (run) run();
    return INVIVO_OK;
}
static invivo_status thing_start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    if (starts_late) exceed();
    return INVIVO_OK;
}
static invivo_status thing_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    if (stops_late) exceed();
    update(&stops);
    return INVIVO_OK;
}
/* A type of a language with reference counts, which refers to each object for ever. The first call is at its creation. */
static int references;
static invivo_status make_counted(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    *instance = calloc(1, sizeof(thing));
    return INVIVO_OK;
}
static void release_counted(void *instance, void *user_data) {
    (void)user_data;
    free(instance);
}
static invivo_status count_references(void *instance, void *user_data, uint64_t *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = (uint64_t)__atomic_fetch_add(&references, 1, __ATOMIC_SEQ_CST) ? 2 : 1;
    return INVIVO_OK;
}
static void note_destroyed(void *user_data) {
    (void)user_data;
    update(&destroyed);
}

static invivo_runtime_options defaults(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = keep_log;
    return options;
}
static void begin_with(const invivo_runtime_options *options) {
    logged[0] = 0, stops = destroyed = is_let_go = starts_late = stops_late = references = 0;
    OK(invivo_runtime_open(&runtime, options, E));
    static const invivo_property properties[] = {INVIVO_FIELD(thing, number)};
    invivo_type_options type = {.struct_size = sizeof type, .name = "Thing", .size = sizeof(thing), .alignment = 8,
                                .concurrency = INVIVO_SHARED, .init = thing_init, .start = thing_start, .stop = thing_stop,
                                .properties = properties, .property_count = 1};
    OK(invivo_type_register(runtime, &type, &thing_type, E));
}
static void begin(void) {
    invivo_runtime_options options = defaults();
    begin_with(&options);
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

static invivo_runtime_options read_options(void) {
    invivo_runtime_options options = {.struct_size = sizeof options};
    OK(invivo_runtime_options_read(runtime, &options, E));
    return options;
}
/* CHANGE(quiet_ms, 2): as a host does it. */
#define CHANGE(field, to)                                        \
    do {                                                         \
        invivo_runtime_options next_ = read_options();           \
        next_.field = to;                                        \
        OK(invivo_runtime_options_change(runtime, &next_, E));   \
        invivo_runtime_options now_ = read_options();            \
        CHECK_EQUAL(now_.field, next_.field);                    \
    } while (0)

static invivo_status define_as(const char *key, uint32_t scope, int64_t number, invivo_error **error) {
    invivo_injection property = {.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(number)};
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type = thing_type, .scope = scope,
                                    .properties = &property, .property_count = 1};
    return invivo_define(runtime, &definition, NULL, error);
}
static void define(const char *key, int64_t number) { OK(define_as(key, INVIVO_SCOPE_LAZY_SINGLETON, number, E)); }
static invivo_source source;
static invivo_status load(const char *text, invivo_error **error) {
    return source.bits ? invivo_source_update(source, text, strlen(text), error)
                       : invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .name = "memory",
                                            .text = text, .length = strlen(text)}, &source, error);
}
static int64_t configured(const char *path) {
    invivo_value value = {0};
    int64_t number = invivo_config_read(runtime, path, &value, NULL) == INVIVO_OK ? value.as.signed_integer : -1;
    invivo_value_clear(&value);
    return number;
}
static uint64_t generation(void) {
    uint64_t number = 0;
    OK(invivo_runtime_generation(runtime, &number, E));
    return number;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static void defaults_are_shown_as_numbers(void) {
    OK(invivo_runtime_open(&runtime, NULL, E));
    invivo_runtime_options found = read_options();
    CHECK_TEXT(found.name, "invivo");
    CHECK_EQUAL(found.struct_size, sizeof found);
    CHECK(!found.log && !found.log_user_data && !found.log_destroy);
    CHECK_EQUAL(found.default_domain, INVIVO_DOMAIN_OPENER);
    CHECK_EQUAL(found.flags, 0);
    CHECK_EQUAL(found.quiet_ms, 10);
    CHECK_EQUAL(found.settle_max_ms, 250);
    CHECK_EQUAL(found.commit_timeout_ms, 5000);
    CHECK_EQUAL(found.log_level, INVIVO_LOG_INFO);
    CHECK_EQUAL(found.max_document_bytes, 1 << 20);
    CHECK_EQUAL(found.start_timeout_ms, 60000);
    CHECK_EQUAL(found.stop_timeout_ms, 60000);
    CHECK_EQUAL(found.stop_grace_ms, 30000);
    CHECK_EQUAL(found.load_timeout_ms, 10000);
    CHECK_EQUAL(found.max_document_nodes, 50000);
    CHECK_EQUAL(found.max_each_entries, 10000);
    CHECK_EQUAL(found.pin_max_age_ms, 60000);
    CHECK_EQUAL(found.history, 16);
    CHECK_EQUAL(found.rule_timeout_ms, 1000);
    OK(invivo_runtime_options_change(runtime, &found, E));
    end();
}
static void given_options_are_shown_as_they_are(void) {
    int data;
    invivo_runtime_options given = defaults(), found;
    given.name = "app", given.default_domain = INVIVO_DOMAIN_LOOP, given.log_user_data = &data, given.log_destroy = note_destroyed;
    given.flags = INVIVO_RUNTIME_PENDING_TARGETS | INVIVO_RUNTIME_WITHOUT_NEEDS | INVIVO_RUNTIME_FOREIGN_FILES
                  | INVIVO_RUNTIME_WITHOUT_CONTENT;
    given.commit_timeout_ms = given.start_timeout_ms = given.stop_timeout_ms = INVIVO_TIMEOUT_UNLIMITED;
    given.stop_grace_ms = INVIVO_STOP_GRACE_UNLIMITED, given.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    given.pin_max_age_ms = INVIVO_PIN_AGE_UNLIMITED, given.history = INVIVO_HISTORY_NONE, given.quiet_ms = 0;
    given.max_each_entries = UINT64_MAX;
    begin_with(&given);
    found = read_options();
    CHECK_TEXT(found.name, "app");
    CHECK(found.log == keep_log && found.log_user_data == &data && found.log_destroy == note_destroyed);
    CHECK_EQUAL(found.default_domain, INVIVO_DOMAIN_LOOP);
    CHECK_EQUAL(found.flags, given.flags);
    CHECK_EQUAL(found.quiet_ms, 0);
    CHECK_EQUAL(found.commit_timeout_ms, INVIVO_TIMEOUT_UNLIMITED);
    CHECK_EQUAL(found.start_timeout_ms, INVIVO_TIMEOUT_UNLIMITED);
    CHECK_EQUAL(found.stop_timeout_ms, INVIVO_TIMEOUT_UNLIMITED);
    CHECK_EQUAL(found.stop_grace_ms, INVIVO_STOP_GRACE_UNLIMITED);
    CHECK_EQUAL(found.load_timeout_ms, INVIVO_LOAD_UNLIMITED);
    CHECK_EQUAL(found.pin_max_age_ms, INVIVO_PIN_AGE_UNLIMITED);
    CHECK_EQUAL(found.history, INVIVO_HISTORY_NONE);
    CHECK_EQUAL(found.max_each_entries, 2097151);
    OK(invivo_runtime_options_change(runtime, &found, E));
    CHECK(!has_logged("options:"));
    end();
    CHECK_EQUAL(destroyed, 1);
}
/* Programs that were compiled with a shorter struct. */
static void a_shorter_struct_has_the_first_fields(void) {
    size_t shorter = offsetof(invivo_runtime_options, max_document_bytes);
    begin();
    invivo_runtime_options found = {.struct_size = shorter, .history = 77};
    OK(invivo_runtime_options_read(runtime, &found, E));
    CHECK_EQUAL(found.struct_size, shorter);
    CHECK_EQUAL(found.quiet_ms, 10);
    CHECK_EQUAL(found.history, 77);
    CHANGE(history, 5);
    found.quiet_ms = 3;
    OK(invivo_runtime_options_change(runtime, &found, E));
    CHECK_EQUAL(read_options().quiet_ms, 3);
    CHECK_EQUAL(read_options().history, 5);
    found.struct_size = 3;
    CHECK_EQUAL(invivo_runtime_options_read(runtime, &found, NULL), INVIVO_E_ARGUMENT);
    CHECK_EQUAL(invivo_runtime_options_change(runtime, &found, NULL), INVIVO_E_ARGUMENT);
    expects_error(invivo_runtime_options_read(runtime, NULL, E), INVIVO_E_ARGUMENT, "out is NULL");
    expects_error(invivo_runtime_options_change(runtime, NULL, E), INVIVO_E_ARGUMENT, "options is NULL");
    end();
}

/* ---- changing ----------------------------------------------------------------------------------------- */

static void the_change_is_logged_and_is_no_generation(void) {
    begin();
    listener *heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
    invivo_runtime_options next = read_options();
    next.quiet_ms = 2, next.history = INVIVO_HISTORY_NONE, next.commit_timeout_ms = INVIVO_TIMEOUT_UNLIMITED, next.log_level = INVIVO_LOG_DEBUG;
    OK(invivo_runtime_options_change(runtime, &next, E));
    CHECK(has_logged("2 options: quiet_ms 10 -> 2, commit_timeout_ms 5000 -> unlimited, log_level info -> debug, history 16 -> none\n"));
    next.revision = 0, next.quiet_ms = UINT32_MAX, next.history = 0, next.commit_timeout_ms = 0; /* the defaults */
    OK(invivo_runtime_options_change(runtime, &next, E));
    CHECK(has_logged("2 options: quiet_ms 2 -> 10, commit_timeout_ms unlimited -> 5000, history none -> 16\n"));
    CHECK_EQUAL(generation(), 0);
    CHECK_EQUAL(listener_count(heard), 0);
    end();
    listener_end(heard), free(heard);
}
#define UNCHANGEABLE "it cannot change while the runtime is open; begin with the options of invivo_runtime_options_read, or open another runtime"
static void fixed_options_are_refused_and_nothing_changes(void) {
    invivo_runtime_options given = defaults();
    given.name = "a", given.environment_prefix = "A__";
    begin_with(&given);
#define REFUSES(field, to, text)                                                                                     \
    do {                                                                                                             \
        invivo_runtime_options next = read_options();                                                                \
        next.quiet_ms = 2, next.field = to;                                                                          \
        expects_error(invivo_runtime_options_change(runtime, &next, E), INVIVO_E_ARGUMENT, text);                    \
    } while (0)
    REFUSES(name, "b", "options.name is 'b', the runtime's is 'a': " UNCHANGEABLE);
    REFUSES(name, NULL, "options.name is NULL, the runtime's is 'a': " UNCHANGEABLE);
    REFUSES(default_domain, INVIVO_DOMAIN_LOOP, "options.default_domain is 1, the runtime's is 0: " UNCHANGEABLE);
    REFUSES(flags, INVIVO_RUNTIME_PENDING_TARGETS, "options.flags is 1, the runtime's is 0: " UNCHANGEABLE);
    REFUSES(environment_prefix, "B__", "options.environment_prefix is 'B__', the runtime's is 'A__': " UNCHANGEABLE);
    REFUSES(environment_prefix, NULL, "options.environment_prefix is NULL, the runtime's is 'A__': " UNCHANGEABLE);
    CHECK_TEXT(read_options().environment_prefix, "A__");
    REFUSES(log, NULL, "options.log is not the runtime's: " UNCHANGEABLE);
    REFUSES(log_user_data, &given, "options.log_user_data is not the runtime's: " UNCHANGEABLE);
    REFUSES(log_destroy, note_destroyed, "options.log_destroy is not the runtime's: " UNCHANGEABLE);
    REFUSES(log_level, 6, "options.log_level is 6; expected INVIVO_LOG_TRACE (0) to INVIVO_LOG_SILENT (5)");
    REFUSES(history, 1001, "options.history is 1001: at most 1,000 generations are kept, or none (INVIVO_HISTORY_NONE)");
    CHECK_EQUAL(read_options().quiet_ms, 10);
    CHECK(!has_logged("options:"));
    end();
}
static void a_change_of_outdated_options_is_refused(void) {
    begin();
    invivo_runtime_options first = read_options(), second = first;
    first.quiet_ms = 2, second.history = 3;
    OK(invivo_runtime_options_change(runtime, &first, E));
    expects_error(invivo_runtime_options_change(runtime, &second, E), INVIVO_E_STALE,
                  "the options were changed since they were read: read them again, or set options.revision to 0");
    second.revision = 0;
    OK(invivo_runtime_options_change(runtime, &second, E));
    CHECK_EQUAL(read_options().quiet_ms, 10);
    CHECK_EQUAL(read_options().history, 3);
    end();
}
/* Two threads change two options; no change is lost. */
enum { ROUNDS = 200 };
static void *change_history(void *unused) {
    (void)unused;
    for (uint32_t round = 1; round <= ROUNDS;) {
        invivo_runtime_options next = read_options();
        next.history = round;
        invivo_status status = invivo_runtime_options_change(runtime, &next, NULL);
        CHECK(status == INVIVO_OK || status == INVIVO_E_STALE);
        if (status == INVIVO_OK) round++;
    }
    return NULL;
}
static void threads_change_different_options(void) {
    pthread_t thread;
    begin();
    CHECK_EQUAL(pthread_create(&thread, NULL, change_history, NULL), 0);
    for (uint32_t round = 1; round <= ROUNDS;) {
        invivo_runtime_options next = read_options();
        next.quiet_ms = round;
        if (invivo_runtime_options_change(runtime, &next, NULL) == INVIVO_OK) round++;
    }
    pthread_join(thread, NULL);
    CHECK_EQUAL(read_options().quiet_ms, ROUNDS);
    CHECK_EQUAL(read_options().history, ROUNDS);
    end();
}
static int calls;
static void change_in_callback(void) {
    invivo_runtime_options next = read_options();
    next.quiet_ms++;
    OK(invivo_runtime_options_change(runtime, &next, E));
    calls++;
}
static void reloaded(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    change_in_callback();
}
static void callbacks_change_options(void) {
    begin();
    calls = 0;
    in_init = change_in_callback;
    OK(define_as("a.thing", INVIVO_SCOPE_SINGLETON, 1, E));
    CHECK_EQUAL(calls, 1);
    invivo_observer observer;
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = reloaded}, &observer, E));
    in_log = change_in_callback;
    define("a.other", 1);
    OK(invivo_observer_close(observer, E));
    CHECK_EQUAL(calls, 3);
    CHECK_EQUAL(read_options().quiet_ms, 13);
    end();
}
static void closed_and_forked_runtimes(void) {
    begin();
    invivo_runtime_options options = read_options();
    pid_t child = fork();
    if (child == 0) {
        options.quiet_ms = 2;
        _exit(invivo_runtime_options_read(runtime, &options, NULL) != INVIVO_E_FORKED
              || invivo_runtime_options_change(runtime, &options, NULL) != INVIVO_E_FORKED);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    end();
    CHECK_EQUAL(invivo_runtime_options_read(runtime, &options, NULL), INVIVO_E_CLOSED);
    CHECK_EQUAL(invivo_runtime_options_change(runtime, &options, NULL), INVIVO_E_CLOSED);
}

/* ---- each option -------------------------------------------------------------------------------------- */

static void log_level(void) {
    begin();
    CHANGE(log_level, INVIVO_LOG_WARNING);
    CHECK(!has_logged("options:"));
    define("a.thing", 1);
    CHECK(!has_logged("a.thing"));
    CHANGE(log_level, INVIVO_LOG_INFO);
    CHECK(has_logged("2 options: log_level warning -> info"));
    define("a.other", 1);
    CHECK(has_logged("a.other"));
    CHECK(!has_logged("\n1 "));
    CHANGE(log_level, INVIVO_LOG_DEBUG);
    define("a.last", 1);
    CHECK(has_logged("\n1 define a.last"));
    CHANGE(log_level, INVIVO_LOG_SILENT);
    end();
}
/* Before the change, the file could be read after an hour. */
static listener *begin_with_an_edit(void) {
    invivo_runtime_options given = defaults();
    given.quiet_ms = given.settle_max_ms = 3600000;
    begin_with(&given);
    write_text("a.yaml", "config: { a: { n: 1 } }");
    OK(invivo_watch(runtime, "a.yaml", E));
    listener *heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
    write_text("a.yaml", "config: { a: { n: 2 } }");
    return heard;
}
static void end_with_the_edit(listener *heard) {
    listener_wait(heard, 1);
    CHECK_EQUAL(configured("a.n"), 2);
    end();
    listener_end(heard), free(heard);
}
static void quiet_time(void) {
    listener *heard = begin_with_an_edit();
    CHANGE(quiet_ms, 0);
    end_with_the_edit(heard);
}
static void settle_maximum(void) {
    listener *heard = begin_with_an_edit();
    CHANGE(settle_max_ms, 1);
    end_with_the_edit(heard);
}
/* A confined object belongs to the opening thread, which takes no jobs. */
static invivo_status commit_status;
static void *commit_elsewhere(void *unused) {
    (void)unused;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Confined", .size = sizeof(thing), .alignment = 8,
                                   .concurrency = INVIVO_CONFINED};
    invivo_type type;
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.confined", .type = type, .scope = INVIVO_SCOPE_SINGLETON};
    commit_status = invivo_define(runtime, &definition, NULL, NULL);
    return NULL;
}
static void commit_timeout(void) {
    pthread_t thread;
    invivo_runtime_options given = defaults();
    given.commit_timeout_ms = INVIVO_TIMEOUT_UNLIMITED;
    begin_with(&given);
    CHANGE(commit_timeout_ms, 1);
    CHECK_EQUAL(pthread_create(&thread, NULL, commit_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(commit_status, INVIVO_E_TIMEOUT);
    end();
}
static void document_bytes(void) {
    char text[2000] = "config: { a: { n: 1 } } # ";
    memset(text + strlen(text), 'x', 1000);
    begin();
    source.bits = 0;
    OK(load(text, E));
    CHANGE(max_document_bytes, 100);
    CHECK_EQUAL(configured("a.n"), 1); /* what is live stays */
    text[17] = ' ', text[18] = '2';
    expects_error(load(text, E), INVIVO_E_TOO_LARGE, "memory: the document has 1026 bytes, at most 100 are allowed; max_document_bytes permits more");
    CHANGE(max_document_bytes, 1026);
    OK(load(text, E));
    CHECK_EQUAL(configured("a.n"), 2);
    invivo_source file;
    CHANGE(max_document_bytes, 100);
    write_text("large.yaml", text);
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "large.yaml",
                          .flags = INVIVO_SOURCE_WAIT}, &file, E));
    CHECK_EQUAL(invivo_source_refresh(file, NULL), INVIVO_E_TOO_LARGE);
    CHANGE(max_document_bytes, 1026);
    OK(invivo_source_refresh(file, E));
    end();
    unlink("large.yaml");
}
static void document_nodes(void) {
    begin();
    source.bits = 0;
    CHANGE(max_document_nodes, 8);
    CHECK_EQUAL(load("config: { a: { list: [1, 2, 3, 4, 5, 6] } }", NULL), INVIVO_E_TOO_LARGE);
    /* A refused file is part of the next reload, even if its bytes are the same. */
    write_text("many.yaml", "config: { b: { list: [1, 2, 3, 4, 5, 6], n: 3 } }");
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "many.yaml",
                          .flags = INVIVO_SOURCE_WAIT}, NULL, E));
    CHECK_EQUAL(configured("b.n"), -1);
    CHANGE(max_document_nodes, 20);
    OK(load("config: { a: { list: [1, 2, 3, 4, 5, 6] } }", E));
    CHECK_EQUAL(configured("b.n"), 3);
    end();
    unlink("many.yaml");
}
static void each_entries(void) {
    begin();
    source.bits = 0;
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.voice", .type = thing_type,
                                    .scope = INVIVO_SCOPE_LAZY_SINGLETON, .each = "voices"};
    OK(load("config: { a: { voices: { x: {}, y: {} } } }", E));
    OK(invivo_define(runtime, &definition, NULL, E));
    CHANGE(max_each_entries, 2);
    CHECK_EQUAL(load("config: { a: { voices: { x: {}, y: {}, z: {} } } }", NULL), INVIVO_E_TOO_LARGE);
    CHANGE(max_each_entries, 3);
    OK(load("config: { a: { voices: { x: {}, y: {}, z: {} } } }", E));
    end();
}
/* A rule waits until it is let go. */
static invivo_status wait_in_rule(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)values, (void)count, (void)at, (void)user_data, (void)error;
    CHECK(await(NULL, &is_let_go));
    return INVIVO_OK;
}
static void rule_timeout(void) {
    invivo_runtime_options given = defaults();
    given.rule_timeout_ms = 3600000;
    begin_with(&given);
    static const char *const inputs[] = {"a.n"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "waiting", .inputs = inputs, .input_count = 1, .check = wait_in_rule};
    source.bits = 0;
    is_let_go = 1;
    OK(load("config: { a: { n: 1 } }", E));
    OK(invivo_rule_add(runtime, &rule, E));
    CHANGE(rule_timeout_ms, 1);
    is_let_go = 0;
    CHECK_EQUAL(load("config: { a: { n: 2 } }", NULL), INVIVO_E_TIMEOUT);
    CHECK_EQUAL(configured("a.n"), 1);
    update(&is_let_go);
    end();
}
static void load_timeout(void) {
    invivo_runtime_options given = defaults();
    given.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    begin_with(&given);
    source.bits = 0;
    char *text = malloc(1 << 20), *at = text + sprintf(text, "config:\n  x:\n    list:\n");
    for (int i = 0; i < 45000; i++) at += sprintf(at, "      - %d\n", i);
    OK(load(text, E));
    CHANGE(load_timeout_ms, 1);
    text[strlen(text) - 2] = '0';
    expects_error(load(text, E), INVIVO_E_TIMEOUT, "memory: loading takes too long and is abandoned; load_timeout_ms permits more");
    CHANGE(load_timeout_ms, INVIVO_LOAD_UNLIMITED);
    OK(load(text, E));
    free(text);
    end();
}
static void start_and_stop_timeouts(void) {
    begin();
    invivo_object object = {0};
    starts_late = stops_late = 1;
    define("a.first", 1);
    OK(invivo_resolve_name(runtime, "a.first", &object, E));
    OK(invivo_object_release(object));
    CHANGE(start_timeout_ms, 1);
    define("a.second", 1);
    CHECK_EQUAL(invivo_resolve_name(runtime, "a.second", &object, NULL), INVIVO_E_TIMEOUT);
    CHANGE(start_timeout_ms, INVIVO_TIMEOUT_UNLIMITED);
    OK(invivo_resolve_name(runtime, "a.second", &object, E));
    OK(invivo_object_release(object));
    invivo_key first, second;
    OK(invivo_key_find(runtime, "a.first", &first, E));
    OK(invivo_key_find(runtime, "a.second", &second, E));
    OK(invivo_stop(runtime, first, E));
    CHANGE(stop_timeout_ms, 1);
    CHECK_EQUAL(invivo_stop(runtime, second, NULL), INVIVO_E_TIMEOUT);
    stops_late = 0;
    end();
}
/* Its language refers to the replaced object for ever. */
static void stop_grace(void) {
    invivo_runtime_options given = defaults();
    given.stop_grace_ms = INVIVO_STOP_GRACE_UNLIMITED;
    begin_with(&given);
    invivo_type_options counted = {.struct_size = sizeof counted, .name = "Counted", .concurrency = INVIVO_SHARED, .make = make_counted,
                                   .release = release_counted, .stop = thing_stop, .count_references = count_references};
    OK(invivo_type_register(runtime, &counted, &thing_type, E));
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.thing", .type = thing_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_object object = {0};
    OK(invivo_define(runtime, &definition, NULL, E));
    OK(invivo_resolve_name(runtime, "a.thing", &object, E));
    OK(invivo_object_release(object));
    definition.rank = 1;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(stops, 0);
    CHANGE(stop_grace_ms, 1);
    CHECK(await(NULL, &stops));
    CHECK(await("is stopped although its language still refers to it", NULL));
    end();
}
static void pin_age(void) {
    static const invivo_place place = {.file = "server.c", .line = 12};
    uint32_t first[] = {INVIVO_PIN_AGE_UNLIMITED, 3600000};
    for (int round = 0; round < 2; round++) {
        invivo_runtime_options given = defaults();
        given.pin_max_age_ms = first[round];
        begin_with(&given);
        invivo_pin pin = invivo_pin_begin(runtime, &place);
        CHANGE(pin_max_age_ms, 1);
        CHECK(await("3 server.c:12: the pin of generation 0", NULL));
        OK(invivo_pin_end(pin));
        CHANGE(pin_max_age_ms, INVIVO_PIN_AGE_UNLIMITED);
        end();
    }
}
static uint64_t kept(void) {
    invivo_value found;
    OK(invivo_runtime_history(runtime, &found, E));
    uint64_t count = found.as.list.count;
    invivo_value_clear(&found);
    return count - 1; /* the current one */
}
static void length_of_the_history(void) {
    begin();
    for (int64_t number = 1; number <= 6; number++) {
        invivo_injection property = {.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(number)};
        invivo_definition definition = {.struct_size = sizeof definition, .key = "a.thing", .type = thing_type, .properties = &property,
                                        .property_count = 1, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .user_data = &destroyed,
                                        .destroy = note_destroyed};
        OK(invivo_define(runtime, &definition, NULL, E));
        if (number == 1) OK(invivo_mark(runtime, "first", NULL, E));
    }
    CHECK_EQUAL(kept(), 6);
    CHECK_EQUAL(destroyed, 0);
    CHANGE(history, 2);
    CHECK_EQUAL(kept(), 3); /* with the mark */
    CHECK_EQUAL(destroyed, 2);
    OK(invivo_rollback(runtime, 5, E));
    CHANGE(history, 4);
    for (int64_t number = 1; number <= 6; number++) define("a.other", number);
    CHECK_EQUAL(kept(), 5);
    CHANGE(history, INVIVO_HISTORY_NONE);
    CHECK_EQUAL(kept(), 1);
    OK(invivo_unmark(runtime, "first", E));
    CHECK_EQUAL(kept(), 0);
    end();
}

int main(void) {
    check_directory();
    check_begin();
    RUN_TEST(defaults_are_shown_as_numbers);
    RUN_TEST(given_options_are_shown_as_they_are);
    RUN_TEST(a_shorter_struct_has_the_first_fields);
    RUN_TEST(the_change_is_logged_and_is_no_generation);
    RUN_TEST(fixed_options_are_refused_and_nothing_changes);
    RUN_TEST(a_change_of_outdated_options_is_refused);
    RUN_TEST(threads_change_different_options);
    RUN_TEST(callbacks_change_options);
    RUN_TEST(closed_and_forked_runtimes);
    RUN_TEST(log_level);
    RUN_TEST(quiet_time);
    RUN_TEST(settle_maximum);
    RUN_TEST(commit_timeout);
    RUN_TEST(document_bytes);
    RUN_TEST(document_nodes);
    RUN_TEST(each_entries);
    RUN_TEST(rule_timeout);
    RUN_TEST(load_timeout);
    RUN_TEST(start_and_stop_timeouts);
    RUN_TEST(stop_grace);
    RUN_TEST(pin_age);
    RUN_TEST(length_of_the_history);
    return check_end();
}
