/* Close ends the loading of documents, including a document that is written continuously. A refused close loses no
 * edit. */
/* sanitize: no, it measures how long a close takes */
#include "check.h"

static invivo_runtime runtime;

static void open_with(uint32_t settle_max_ms) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.settle_max_ms = settle_max_ms;
    options.quiet_ms = 0;
    options.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    OK(invivo_runtime_open(&runtime, &options, E));
}
static pid_t loading;
static invivo_status status;
static void *load(void *unused) {
    invivo_source source;
    (void)unused;
    loading = gettid();
    invivo_source_options options = {.struct_size = sizeof(options), .path = "a.yaml"};
    status = invivo_source_open(runtime, &options, &source, NULL);
    return NULL;
}

/* The writer continues for as long as the runtime would wait for it: ten minutes. */
static void close_ends_the_wait_for_a_writer(void) {
    pthread_t thread;
    write_text("a.yaml", "config: { a: ");
    int writer = open("a.yaml", O_WRONLY | O_CLOEXEC);
    open_with(600000);
    loading = 0;
    pthread_create(&thread, NULL, load, NULL);
    while (!__atomic_load_n(&loading, __ATOMIC_SEQ_CST)) sched_yield();
    check_await_sleep(loading);
    OK(invivo_runtime_close(runtime, E));
    pthread_join(thread, NULL);
    CHECK_EQUAL(status, INVIVO_E_CLOSED);
    close(writer);
}

/* The load of an edit waits here until a close waits for it. */
static pid_t closing;
static int is_armed;
static void wait_for_close(void *unused, const invivo_log_entry *entry) {
    (void)unused;
    if (strncmp(entry->message, "a.yaml: ", 8) != 0 || !strstr(entry->message, " bytes")) return;
    int armed = 1;
    if (!__atomic_compare_exchange_n(&is_armed, &armed, 2, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
    while (!__atomic_load_n(&closing, __ATOMIC_SEQ_CST)) sched_yield();
    check_await_sleep(closing);
}
typedef struct { int64_t number; } plain;
static const invivo_property plain_properties[] = {INVIVO_FIELD(plain, number)};
static int64_t number(void) {
    invivo_value value = {0};
    OK(invivo_config_read(runtime, "a.number", &value, E));
    int64_t found = value.as.signed_integer;
    invivo_value_clear(&value);
    return found;
}
static void an_edit_that_a_refused_close_has_abandoned_takes_effect(void) {
    invivo_runtime_options options;
    invivo_type type;
    invivo_object held;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0, options.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    options.log = wait_for_close, options.log_level = INVIVO_LOG_DEBUG;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Plain", .concurrency = INVIVO_SHARED,
                                     .size = sizeof(plain), .alignment = 8, .properties = plain_properties, .property_count = 1}, &type, E));
    write_text("a.yaml", "config: { a: { number: 1 } }");
    OK(invivo_watch(runtime, "a.yaml", E));
    OK(invivo_object_make(runtime, type, NULL, 0, &held, E));
    char *text = malloc(1 << 20), *end = text + sprintf(text, "config: { a: { number: 2");
    for (int i = 0; i < 20000; i++) end += sprintf(end, ", x%d: %d", i, i);
    sprintf(end, " } }");
    is_armed = 1;
    write_text("a.yaml", text);
    while (__atomic_load_n(&is_armed, __ATOMIC_SEQ_CST) == 1) sched_yield();
    __atomic_store_n(&closing, gettid(), __ATOMIC_SEQ_CST);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL); /* the lease */
    time_t limit = time(NULL) + CHECK_LIMIT_SECONDS;
    while (number() != 2 && time(NULL) < limit) sched_yield();
    CHECK_EQUAL(number(), 2);
    OK(invivo_object_release(held));
    OK(invivo_runtime_close(runtime, E));
    free(text);
}

int main(void) {
    check_directory();
    check_begin();
    RUN_TEST(close_ends_the_wait_for_a_writer);
    RUN_TEST(an_edit_that_a_refused_close_has_abandoned_takes_effect);
    return check_end();
}
