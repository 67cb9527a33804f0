/* Limits of loading, and of waiting for a reload that does not end: slow work is abandoned, or its operation is named. */
/* sanitize: no, it measures how long calls take */
#include "check.h"

#include <sys/resource.h>

static invivo_runtime runtime;
static invivo_type shared_type;
typedef struct { int64_t number; } shared;

/* The host code that blocks: a constructor, an observer, a converter. */
static char stops_in[16];
static int is_inside, is_released;
static void stop_in(const char *what) {
    if (strcmp(stops_in, what) != 0) return;
    stops_in[0] = 0;
    __atomic_store_n(&is_inside, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&is_released, __ATOMIC_SEQ_CST)) sched_yield();
}
static invivo_status init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                          invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    stop_in("constructor");
    return INVIVO_OK;
}
static void reloaded(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    stop_in("observer");
}
static int converted, is_converting, spends_the_limit;
static pid_t closing;
static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
static invivo_status convert(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)text, (void)error;
    __atomic_store_n(&is_converting, 1, __ATOMIC_SEQ_CST);
    stop_in("converter");
    if (spends_the_limit) {
        for (uint64_t begun = milliseconds(); milliseconds() <= begun + 1000;) sched_yield();
    } else if (closing && converted == 0) check_await_sleep(closing);
    converted++;
    *out = invivo_int64((int64_t)length);
    return INVIVO_OK;
}

static void begin(uint32_t load_timeout_ms, uint32_t commit_timeout_ms) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.load_timeout_ms = load_timeout_ms, options.commit_timeout_ms = commit_timeout_ms;
    options.log_level = INVIVO_LOG_SILENT, options.quiet_ms = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    static const invivo_property properties[] = {INVIVO_FIELD(shared, number)};
    const invivo_type_options type = {.struct_size = sizeof type, .name = "Shared", .size = sizeof(shared), .alignment = 8,
                                      .concurrency = INVIVO_SHARED, .init = init, .properties = properties, .property_count = 1};
    OK(invivo_type_register(runtime, &type, &shared_type, E));
    const invivo_converter_options converter = {.struct_size = sizeof converter, .name = "length", .convert = convert};
    OK(invivo_converter_register(runtime, &converter, E));
    converted = is_converting = spends_the_limit = closing = is_inside = is_released = 0;
    stops_in[0] = 0;
}
static const invivo_injection word = {.how = INVIVO_INJECT_CONFIG, .reference = "/x.word"};
static const invivo_injection number_of_word = {
    .name = "number", .how = INVIVO_INJECT_TEXT, .reference = "length", .items = &word, .item_count = 1};

static invivo_status define(const char *key, const invivo_injection *property, invivo_error **error) {
    return invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type = shared_type,
                         .scope = property ? INVIVO_SCOPE_LAZY_SINGLETON : INVIVO_SCOPE_SINGLETON, .properties = property,
                         .property_count = property != NULL}, NULL, error);
}
static invivo_status load(const char *name, const char *text, invivo_error **error) {
    invivo_source source;
    return invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .name = name,
                              .text = text, .length = strlen(text)}, &source, error);
}
enum { DEFINITIONS = 20 };
/* Definitions that each convert the same string. */
static void define_readers(void) {
    char key[32];
    OK(load("former", "config: { x: { word: good } }", E));
    for (int i = 0; i < DEFINITIONS; i++) sprintf(key, "x.reader%d", i), OK(define(key, &number_of_word, E));
    CHECK_EQUAL(converted, DEFINITIONS);
    converted = 0;
}
static const char *next_text = "config: { x: { word: better } }";

/* Values without definitions: the reader alone, and the conversion of its result. */
static void a_long_document_is_abandoned(void) {
    begin(1, 0);
    char *text = malloc(1 << 20), *end = text + sprintf(text, "config:\n  x:\n    list:\n");
    for (int i = 0; i < 45000; i++) end += sprintf(end, "      - %d\n", i);
    expects_error(load("memory", text, E), INVIVO_E_TIMEOUT, "memory: loading takes too long and is abandoned; load_timeout_ms permits more");
    text[0] = 0;
    end = text + sprintf(text, "{ \"config\": { \"list\": [ 0");
    for (int i = 0; i < 45000; i++) end += sprintf(end, ", %d", i);
    sprintf(end, " ] } }");
    write_text("long.json", text);
    expects_error(invivo_watch(runtime, "long.json", E), INVIVO_E_TIMEOUT, NULL);
    OK(invivo_runtime_close(runtime, E));
    free(text);
}
/* The first converter uses up the time: no other is called. A single one is detected when it returns. */
static void planning_ends_at_the_limit(void) {
    begin(1000, 0);
    define_readers();
    spends_the_limit = 1;
    expects_error(load("memory", next_text, E), INVIVO_E_TIMEOUT, NULL);
    CHECK_EQUAL(converted, 1);
    OK(invivo_runtime_close(runtime, E));
    begin(1000, 0);
    OK(load("former", "config: { x: { word: good } }", E));
    OK(define("x.reader", &number_of_word, E));
    spends_the_limit = 1;
    expects_error(load("memory", next_text, E), INVIVO_E_TIMEOUT, NULL);
    spends_the_limit = 0;
    OK(load("memory", next_text, E));
    OK(invivo_runtime_close(runtime, E));
}
static invivo_status loaded;
static void *load_entries(void *unused) {
    (void)unused;
    loaded = load("memory", next_text, NULL);
    return NULL;
}
/* The first converter waits for the close: no other is called. */
static void close_ends_planning(void) {
    pthread_t thread;
    begin(INVIVO_LOAD_UNLIMITED, 0);
    define_readers();
    is_converting = 0;
    closing = gettid();
    pthread_create(&thread, NULL, load_entries, NULL);
    while (!__atomic_load_n(&is_converting, __ATOMIC_SEQ_CST)) sched_yield();
    OK(invivo_runtime_close(runtime, E));
    pthread_join(thread, NULL);
    CHECK_EQUAL(loaded, INVIVO_E_CLOSED);
    CHECK_EQUAL(converted, 1);
}

static void *define_slow(void *key) {
    invivo_error *error = NULL;
    invivo_status status = define(key, strcmp(key, "x.converted") == 0 ? &number_of_word : NULL, &error);
    CHECK_EQUAL(status, INVIVO_OK);
    if (error) invivo_error_release(error);
    return NULL;
}
static int64_t number(const char *path) {
    invivo_value value = {0};
    if (invivo_config_read(runtime, path, &value, NULL)) return -1;
    int64_t found = value.as.signed_integer;
    invivo_value_clear(&value);
    return found;
}
/* A reload that does not end delays another one for its limit only, whose error gives the reason. An edit waits. */
static void a_reload_that_does_not_end_is_named(const char *where, const char *key, const char *text) {
    pthread_t thread;
    invivo_observer observer;
    write_text("followed.yaml", "config: { y: { n: 1 } }");
    begin(0, 100);
    OK(load("memory", "config: { x: { word: good } }", E));
    OK(invivo_watch(runtime, "followed.yaml", E));
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = reloaded}, &observer, E));
    strcpy(stops_in, where);
    pthread_create(&thread, NULL, define_slow, (void *)key);
    while (!__atomic_load_n(&is_inside, __ATOMIC_SEQ_CST)) sched_yield();
    expects_error(define("x.other", NULL, E), INVIVO_E_TIMEOUT, text);
    invivo_source source;
    invivo_source_options file = {.struct_size = sizeof file, .path = "followed.yaml"};
    expects_error(invivo_source_open(runtime, &file, &source, E), INVIVO_E_TIMEOUT, text);
    write_text("followed.yaml", "config: { y: { n: 2 } }");
    __atomic_store_n(&is_released, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    OK(define("x.other", NULL, E));
    time_t limit = time(NULL) + CHECK_LIMIT_SECONDS;
    while (number("y.n") != 2 && time(NULL) < limit) sched_yield();
    CHECK_EQUAL(number("y.n"), 2);
    OK(invivo_observer_close(observer, E));
    OK(invivo_runtime_close(runtime, E));
}

/* An edit that cannot be read for lack of descriptors is read later without another save. */
static void an_edit_is_read_when_there_are_descriptors(void) {
    int taken[64], count = 0;
    struct rlimit former, few;
    write_text("few.yaml", "config: { x: { n: 1 } }");
    begin(0, 0);
    OK(invivo_watch(runtime, "few.yaml", E));
    int file = open("few.yaml", O_WRONLY | O_CLOEXEC);
    getrlimit(RLIMIT_NOFILE, &former);
    few = former, few.rlim_cur = 64;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (count < 64 && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) count++;
    CHECK(pwrite(file, "config: { x: { n: 2 } }", 23, 0) == 23);
    /* The descriptor of the writer is used up too. */
    CHECK(dup2(taken[0], file) == file);
    invivo_runtime_info info = {.struct_size = sizeof info};
    time_t limit = time(NULL) + CHECK_LIMIT_SECONDS;
    while (info.failures == 0 && time(NULL) < limit) OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK(info.failures > 0);
    CHECK_EQUAL(number("x.n"), 1);
    while (count) close(taken[--count]);
    close(file);
    CHECK(setrlimit(RLIMIT_NOFILE, &former) == 0);
    limit = time(NULL) + CHECK_LIMIT_SECONDS;
    while (number("x.n") != 2 && time(NULL) < limit) sched_yield();
    CHECK_EQUAL(number("x.n"), 2);
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_directory();
    check_begin();
    RUN_TEST(a_long_document_is_abandoned);
    RUN_TEST(planning_ends_at_the_limit);
    RUN_TEST(close_ends_planning);
    RUN_TEST_WITH(a_reload_that_does_not_end_is_named, "constructor", "x.slow",
        "the reload of 'define x.slow', which is creating 'x.slow', takes longer than commit_timeout_ms permits a change to wait for it");
    RUN_TEST_WITH(a_reload_that_does_not_end_is_named, "observer", "x.slow",
        "the reload of 'define x.slow', which is in the callback of an observer, takes longer than commit_timeout_ms permits a change to wait for it");
    RUN_TEST_WITH(a_reload_that_does_not_end_is_named, "converter", "x.converted",
        "the reload of 'define x.converted', which is in the converter 'length', takes longer than commit_timeout_ms permits a change to wait for it");
    RUN_TEST(an_edit_is_read_when_there_are_descriptors);
    return check_end();
}
