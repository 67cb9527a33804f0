/* The status of a runtime: former generations, pins, kept dependencies, documents that differ, waiting work. */
/* sanitize: yes */
#include "on_change.h"

#include <sched.h>
#include <unistd.h>

static invivo_value status_value;
static const invivo_value *status(const char *name) {
    invivo_value_clear(&status_value);
    OK(invivo_runtime_status(runtime, &status_value, E));
    const invivo_value *found = field(&status_value, name);
    CHECK(found != NULL);
    return found;
}
static uint64_t number_in(const invivo_value *map, const char *name) { return field(map, name)->as.unsigned_integer; }
static uint64_t count_of(const char *name) { return status(name)->as.list.count; }

static void nothing_is_open(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK_EQUAL(status("generation")->as.unsigned_integer, generation());
    CHECK_EQUAL(status("reloads")->as.unsigned_integer, 1);
    CHECK_EQUAL(status("last_error")->kind, INVIVO_KIND_NULL);
    CHECK_EQUAL(status("running")->kind, INVIVO_KIND_NULL);
    const char *none[] = {"diverged", "kept", "restart", "unrestored", "former", "pins"};
    for (size_t index = 0; index < COUNT(none); index++) CHECK_EQUAL(count_of(none[index]), 0);
    CHECK_EQUAL(status("waiting_sets")->as.unsigned_integer, 0);
    expects_error(invivo_runtime_status(runtime, NULL, E), INVIVO_E_ARGUMENT, "out is NULL");
    end();
}

static void pins_and_former_generations(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    invivo_object leased = resolve("a.part");
    static const invivo_place place = {.file = "server.c", .line = 12};
    invivo_pin pin = invivo_pin_begin(runtime, &place);
    uint64_t pinned = generation();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_value *pins = status("pins");
    CHECK_EQUAL(pins->as.list.count, 1);
    CHECK_EQUAL(number_in(&pins->as.list.items[0], "generation"), pinned);
    CHECK_EQUAL(number_in(&pins->as.list.items[0], "thread"), (uint64_t)gettid());
    CHECK_TEXT(field(&pins->as.list.items[0], "place")->as.string.data, "server.c:12");
    const invivo_value *former = status("former");
    CHECK_EQUAL(former->as.list.count, 1);
    CHECK_EQUAL(number_in(&former->as.list.items[0], "generation"), pinned);
    CHECK_EQUAL(number_in(&former->as.list.items[0], "objects"), 1);
    CHECK(number_in(&former->as.list.items[0], "age_ns") > 0);
    CHECK_EQUAL(number_in(&former->as.list.items[0], "bytes"), sizeof(part));
    OK(invivo_pin_end(pin));
    drop(leased);
    CHECK_EQUAL(count_of("pins"), 0);
    CHECK_EQUAL(count_of("former"), 0);
    end();
}

/* A job that waits for the opening thread: an object of its domain that another thread resolves. */
static void ignore_object(void *user_data, invivo_object object, const invivo_error *error) {
    (void)user_data, (void)error;
    if (object.bits) drop(object);
}
static void *resolve_elsewhere(void *unused) {
    (void)unused;
    OK(invivo_resolve_async(runtime, key_of("a.confined"), NULL, 0, ignore_object, NULL, (invivo_domain){0}, E));
    return NULL;
}
static void waiting_jobs(void) {
    begin();
    uint32_t ran = 0;
    pthread_t thread;
    describe();
    ADD("a.confined", LAZY_SINGLETON, .type = confined_type);
    commit();
    CHECK_EQUAL(pthread_create(&thread, NULL, resolve_elsewhere, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(status("waiting_jobs")->as.unsigned_integer, 1);
    OK(invivo_runtime_poll(runtime, 0, &ran, E));
    CHECK_EQUAL(ran, 1);
    CHECK_EQUAL(status("waiting_jobs")->as.unsigned_integer, 0);
    end();
}

/* A thread that reads a former generation. */
static void readers_of_former_generations(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    invivo_view view = invivo_view_begin(runtime);
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_value *former = status("former");
    CHECK_EQUAL(former->as.list.count, 1);
    const invivo_value *threads = field(&former->as.list.items[0], "threads");
    CHECK_EQUAL(threads->as.list.count, 1);
    CHECK_EQUAL(threads->as.list.items[0].as.unsigned_integer, (uint64_t)gettid());
    invivo_view_end(view);
    CHECK_EQUAL(count_of("former"), 0);
    end();
}

static void kept_dependencies(void) {
    begin();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    describe();
    ADD("a.holder", SINGLETON, .type = shared_type, INITIALIZER(arguments));
    commit();
    CHECK_EQUAL(count_of("kept"), 0);
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    uint64_t since = generation();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_value *kept = status("kept");
    CHECK_EQUAL(kept->as.list.count, 1);
    CHECK_TEXT(field(&kept->as.list.items[0], "key")->as.string.data, "a.holder");
    CHECK_TEXT(field(&kept->as.list.items[0], "dependency")->as.string.data, "a.part");
    CHECK_EQUAL(number_in(&kept->as.list.items[0], "since"), since);
    describe();
    OK(invivo_changes_reset(changes, "a.holder", 0, E));
    commit();
    once("a.holder");
    CHECK_EQUAL(count_of("kept"), 0);
    end();
}

static void the_last_error_has_its_location(void) {
    begin();
    const char *text = "config:\n  a: [\n";
    invivo_source_options options = {.struct_size = sizeof options, .name = "bad.yaml", .text = text, .length = strlen(text)};
    invivo_source source;
    CHECK(invivo_source_open(runtime, &options, &source, NULL) != INVIVO_OK);
    const invivo_value *error = status("last_error");
    CHECK_EQUAL(error->kind, INVIVO_KIND_MAP);
    CHECK_TEXT(field(error, "file")->as.string.data, "bad.yaml");
    CHECK(number_in(error, "line") >= 2);
    CHECK(field(error, "message")->as.string.length > 0);
    CHECK_EQUAL(status("failures")->as.unsigned_integer, 1);
    end();
}

/* Another thread asks while a reload runs, and while a set waits. */
static invivo_status ask_in_setup(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    invivo_changes waiting;
    OK(invivo_changes_open(runtime, &waiting, E));
    OK(invivo_changes_configure(waiting, "a.n", NULL, E));
    OK(invivo_changes_submit(waiting, E));
    CHECK_EQUAL(status("running")->kind, INVIVO_KIND_STRING);
    CHECK(strstr(status("running")->as.string.data, "define a.asking") != NULL);
    CHECK_EQUAL(status("waiting_sets")->as.unsigned_integer, 1);
    return INVIVO_OK;
}
static void running_and_waiting_reloads(void) {
    begin();
    invivo_type_options options = part_options("Asking");
    options.setup = ask_in_setup;
    invivo_type type = register_type(options);
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.asking", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    OK(invivo_define(runtime, &definition, NULL, E));
    /* The submitted set ends some time. */
    while (status("waiting_sets")->as.unsigned_integer || status("running")->kind != INVIVO_KIND_NULL) sched_yield();
    end();
}

/* The thread that asks is the domain of a replaced object, which a loop thread stops there. */
static bool is_stopped;
static invivo_status note_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    is_stopped = true;
    return INVIVO_OK;
}
static void the_domain_of_the_calling_thread_is_served(void) {
    begin();
    invivo_type_options options = part_options("Own");
    options.concurrency = INVIVO_CONFINED, options.stop = note_stop;
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.own", .scope = INVIVO_SCOPE_SINGLETON,
                                    .type = register_type(options)};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_view view = invivo_view_begin(runtime);
    definition.rank = 1;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK(!is_stopped);
    invivo_view_end(view);
    /* One call is enough unless the loop thread is starved. */
    for (time_t limit = time(NULL) + CHECK_LIMIT_SECONDS; !is_stopped && time(NULL) < limit;) count_of("former");
    CHECK(is_stopped);
    end();
}

int main(void) {
    check_begin();
    nothing_is_open();
    pins_and_former_generations();
    waiting_jobs();
    readers_of_former_generations();
    kept_dependencies();
    the_last_error_has_its_location();
    running_and_waiting_reloads();
    the_domain_of_the_calling_thread_is_served();
    invivo_value_clear(&status_value);
    return check_end();
}
