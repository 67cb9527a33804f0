/* Cycles across several runtimes are errors, on one thread and on several, and never block. Gates control the threads;
 * no test depends on timing. */
/* sanitize: yes */
#include "check.h"

enum { RUNTIMES = 3 };
typedef struct part { int number; } part;

static invivo_runtime runtimes[RUNTIMES];
static invivo_type types[RUNTIMES];
static invivo_pool pools[RUNTIMES];

/* The keys that a factory resolves, optionally after another thread has reached a gate. */
typedef struct step {
    int runtime;
    const char *key, *then;
    bool meets;
} step;
#define TO(given_runtime, given_key, ...) (&(step){.runtime = given_runtime, .key = given_key, __VA_ARGS__})

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int met;
static const int threads = 2;

/* Waits once until all threads have arrived. */
static void meet(void) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&gate_lock);
    met++;
    pthread_cond_broadcast(&gate_moved);
    while (met < threads)
        if (pthread_cond_timedwait(&gate_moved, &gate_lock, &limit)) {
            check_failed(__FILE__, __LINE__, "waited in vain");
            break;
        }
    pthread_mutex_unlock(&gate_lock);
}

static invivo_status make_entry(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error);
static step of_pool;

static invivo_status resolve_key(int runtime, const char *key, invivo_error **error) {
    invivo_object object;
    invivo_status status;
    invivo_value one = invivo_int64(1);
    if (strcmp(key, "pool") == 0) status = invivo_pool_get(pools[runtime], &one, make_entry, &of_pool, &object, error);
    else status = invivo_resolve_name(runtimes[runtime], key, &object, error);
    return status ? status : invivo_object_release(object);
}
static invivo_status make_part(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    const step *step = user_data;
    (void)instance, (void)build, (void)arguments, (void)count;
    if (step->meets) meet();
    invivo_status status = step->key ? resolve_key(step->runtime, step->key, error) : INVIVO_OK;
    return !status && step->then ? resolve_key(step->runtime, step->then, error) : status;
}
static invivo_status make_entry(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    const step *step = user_data;
    (void)key;
    if (step->meets) meet();
    if (resolve_key(step->runtime, step->key, error)) return INVIVO_E_HOST;
    return invivo_object_make(runtimes[0], types[0], NULL, 0, out, error);
}

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .alignment = 8,
                                   .concurrency = INVIVO_SHARED};
    met = 0;
    for (int i = 0; i < RUNTIMES; i++) {
        OK(invivo_runtime_open(&runtimes[i], NULL, E));
        OK(invivo_type_register(runtimes[i], &options, &types[i], E));
    }
}
static void end(void) {
    for (int i = 0; i < RUNTIMES; i++) OK(invivo_runtime_close(runtimes[i], E));
}
static void open_pool(int runtime) {
    invivo_pool_options options = {.struct_size = sizeof options, .name = "entries"};
    OK(invivo_pool_open(runtimes[runtime], &options, &pools[runtime], E));
}
static void define_scoped(int runtime, const char *key, uint32_t scope, const step *step) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = scope, .type = types[runtime],
                                    .factory = make_part, .user_data = (void *)step};
    OK(invivo_define(runtimes[runtime], &definition, NULL, E));
}
static void define(int runtime, const char *key, const step *step) { define_scoped(runtime, key, INVIVO_SCOPE_LAZY_SINGLETON, step); }

/* Whether an error, or one of its causes, contains a text. */
static bool says(const invivo_error *error, const char *text) {
    for (; error; error = invivo_error_cause(error))
        if (strstr(invivo_error_text(error), text)) return true;
    return false;
}
static void expects_cycle(int runtime, const char *key, const char *path) {
    invivo_error *error = NULL;
    CHECK(resolve_key(runtime, key, &error) != INVIVO_OK);
    if (!CHECK(says(error, path))) fprintf(stderr, "    \"%s\", expected \"%s\"\n", invivo_error_text(error), path);
    invivo_error_release(error);
}

static void a_cycle_through_another_runtime_is_an_error(void) {
    begin();
    define(0, "a.part", TO(1, "b.part"));
    define(1, "b.part", TO(0, "a.part"));
    expects_cycle(0, "a.part", "cyclic dependency: a.part -> b.part -> a.part");
    expects_cycle(1, "b.part", "cyclic dependency: b.part -> a.part -> b.part");
    end();
}

static void a_cycle_through_three_runtimes_and_prototypes_is_an_error(void) {
    begin();
    define(0, "a.part", TO(1, "b.part"));
    define_scoped(1, "b.part", INVIVO_SCOPE_PROTOTYPE, TO(2, "c.part"));
    define_scoped(2, "c.part", INVIVO_SCOPE_GRAPH, TO(0, "a.user"));
    define_scoped(0, "a.user", INVIVO_SCOPE_PROTOTYPE, TO(0, "a.part"));
    /* Frequently created graphs use a build plan. */
    for (int i = 0; i < 4; i++) {
        expects_cycle(0, "a.part", "a.part -> b.part -> c.part -> a.user -> a.part");
        expects_cycle(1, "b.part", "cyclic dependency: ");
        expects_cycle(0, "a.user", "cyclic dependency: ");
    }
    end();
}

static void a_reference_to_another_object_is_no_cycle(void) {
    begin();
    define(0, "a.part", TO(1, "b.part"));
    define(1, "b.part", TO(0, "a.other", .then = "a.more"));
    define(0, "a.other", TO(1, "b.other"));
    define(0, "a.more", TO(0, "a.other"));
    define(1, "b.other", TO(0, NULL));
    OK(resolve_key(0, "a.part", E));
    end();
}

static void a_cycle_through_pools_is_an_error(void) {
    begin();
    of_pool = *TO(1, "b.part");
    open_pool(0);
    define(1, "b.part", TO(0, "pool"));
    expects_cycle(0, "pool", "cyclic dependency: ");
    expects_cycle(1, "b.part", "cyclic dependency: ");
    end();
}

/* ---- two threads -------------------------------------------------------------------------------------- */

typedef struct task {
    int runtime;
    const char *key;
    invivo_status status;
    invivo_error *error;
} task;
static void *resolve_task(void *given) {
    task *task = given;
    task->status = resolve_key(task->runtime, task->key, &task->error);
    return NULL;
}
/* Both factories have begun before either continues. At least one thread receives the cycle error, and so does each
 * thread that waited for it. */
static void expects_cycle_of(task *first, task *second, const char *one, const char *other) {
    pthread_t thread;
    if (!CHECK_EQUAL(pthread_create(&thread, NULL, resolve_task, second), 0)) return;
    resolve_task(first);
    pthread_join(thread, NULL);
    CHECK(first->status && second->status);
    if (!CHECK(says(first->error, one) || says(first->error, other) || says(second->error, one) || says(second->error, other)))
        fprintf(stderr, "    \"%s\"\n    \"%s\"\n", invivo_error_text(first->error), invivo_error_text(second->error));
    invivo_error_release(first->error);
    invivo_error_release(second->error);
}

static void a_cycle_of_two_threads_is_an_error(void) {
    begin();
    define(0, "a.part", TO(1, "b.part", .meets = true));
    define(1, "b.part", TO(0, "a.part", .meets = true));
    expects_cycle_of(&(task){.key = "a.part"}, &(task){.runtime = 1, .key = "b.part"}, "cyclic dependency: a.part -> b.part -> a.part",
                      "cyclic dependency: b.part -> a.part -> b.part");
    end();
}

/* A chain waits for an object that the wiring of the other runtime waits for. */
static void a_longer_cycle_of_two_threads_is_an_error(void) {
    begin();
    define(0, "a.part", TO(1, "b.user", .meets = true));
    define(1, "b.user", TO(1, "b.part"));
    define(1, "b.part", TO(2, "c.part", .meets = true));
    define_scoped(2, "c.part", INVIVO_SCOPE_PROTOTYPE, TO(0, "a.part"));
    expects_cycle_of(&(task){.key = "a.part"}, &(task){.runtime = 1, .key = "b.part"}, "cyclic dependency: a.part -> b.user -> b.part -> c.part -> a.part",
                      "cyclic dependency: b.part -> c.part -> a.part -> b.user -> b.part");
    end();
}

static void a_cycle_of_two_threads_through_pools_is_an_error(void) {
    begin();
    of_pool = *TO(1, "b.part", .meets = true);
    open_pool(0);
    define(1, "b.part", TO(0, "pool", .meets = true));
    expects_cycle_of(&(task){.key = "pool"}, &(task){.runtime = 1, .key = "b.part"}, "cyclic dependency: ",
                      "cyclic dependency: ");
    end();
}

/* Two threads that depend on each other's runtimes without a cycle: both resolves succeed. */
static void two_threads_that_use_each_others_runtimes_both_succeed(void) {
    for (int round = 0; round < 50; round++) {
        begin();
        define(0, "a.part", TO(1, "b.leaf", .meets = true));
        define(1, "b.part", TO(0, "a.leaf", .then = "a.more", .meets = true));
        define(0, "a.leaf", TO(2, "c.leaf"));
        define(1, "b.leaf", TO(2, "c.leaf"));
        define(0, "a.more", TO(1, "b.leaf"));
        define(2, "c.leaf", TO(0, NULL));
        task first = {.key = "a.part"}, second = {.runtime = 1, .key = "b.part"};
        pthread_t thread;
        if (!CHECK_EQUAL(pthread_create(&thread, NULL, resolve_task, &second), 0)) return;
        resolve_task(&first);
        pthread_join(thread, NULL);
        if (!CHECK(!first.status && !second.status))
            fprintf(stderr, "    %s\n    %s\n", first.error ? invivo_error_text(first.error) : "", second.error ? invivo_error_text(second.error) : "");
        invivo_error_release(first.error), invivo_error_release(second.error);
        end();
    }
}

int main(void) {
    check_begin();
    RUN_TEST(a_cycle_through_another_runtime_is_an_error);
    RUN_TEST(a_cycle_through_three_runtimes_and_prototypes_is_an_error);
    RUN_TEST(a_reference_to_another_object_is_no_cycle);
    RUN_TEST(a_cycle_through_pools_is_an_error);
    RUN_TEST(a_cycle_of_two_threads_is_an_error);
    RUN_TEST(a_longer_cycle_of_two_threads_is_an_error);
    RUN_TEST(a_cycle_of_two_threads_through_pools_is_an_error);
    RUN_TEST(two_threads_that_use_each_others_runtimes_both_succeed);
    return check_end();
}
