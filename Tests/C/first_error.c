/* A forked child creates the first error of a process while other threads use the runtime for the first time: it never
 * blocks on a lock of the parent. Each round is a new process without errors. Usage: first_error [ROUNDS] */
/* sanitize: no, a sanitizer does not survive its forks */
#include "check.h"

enum { PROCESSES = 40, CHILDREN = 8, WORKERS = 2, CHILD_SECONDS = 30 };

typedef struct { int64_t number; } part;
static const invivo_property properties[] = {INVIVO_FIELD(part, number)};

static int begun;

/* Uses everything for the first time, repeatedly, without an error. */
static void *work(void *stop) {
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
        invivo_runtime runtime;
        invivo_type type;
        invivo_changes changes;
        invivo_object object;
        invivo_value value;
        if (invivo_runtime_open(&runtime, NULL, NULL)) _exit(3);
        __atomic_add_fetch(&begun, 1, __ATOMIC_RELEASE);
        const invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .alignment = 8,
                                             .concurrency = INVIVO_SHARED, .properties = properties, .property_count = 1};
        const char *text = "config: { a: { number: 1 } }\n";
        if (invivo_type_register(runtime, &options, &type, NULL) || invivo_changes_open(runtime, &changes, NULL)) _exit(3);
        const invivo_injection number = {.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = "number"};
        const invivo_definition definition = {.struct_size = sizeof definition, .key = "a.part", .type = type,
                                              .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = &number, .property_count = 1};
        if (invivo_changes_define(changes, &definition, NULL, NULL) ||
            invivo_changes_document(changes, "a.yaml", text, strlen(text), NULL) || invivo_changes_commit(changes, NULL) ||
            invivo_resolve_name(runtime, "a.part", &object, NULL) || invivo_config_read(runtime, "a", &value, NULL))
            _exit(3);
        invivo_value_clear(&value);
        if (invivo_object_release(object) || invivo_runtime_close(runtime, NULL)) _exit(3);
    }
    return NULL;
}

/* In the child: creates all parts of an error. */
static void make_an_error(void) {
    invivo_error *cause = invivo_error_make(INVIVO_E_HOST, "the cause", "a.cause", NULL);
    invivo_error *error = invivo_error_make_at(INVIVO_E_HOST, "on purpose", "a.part", "a.yaml", 3, 4, cause);
    invivo_error *both = invivo_error_join(error, invivo_error_make(INVIVO_E_NULL, "another", NULL, NULL));
    bool is_whole = both && strstr(invivo_error_text(both), "on purpose") && invivo_error_count(both) == 2 &&
                    invivo_error_at(both, 1) && *invivo_error_message(both) && invivo_error_cause(both);
    invivo_error_release(both);
    _exit(is_whole ? 0 : 2);
}

/* One process: its children create errors while threads work. */
static int forks(void) {
    pthread_t workers[WORKERS];
    int stop = 0, failures = 0;
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, work, &stop);
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < 1) sched_yield();
    for (int i = 0; i < CHILDREN; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(CHILD_SECONDS); /* a blocked child ends by this signal */
            make_an_error();
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) failures++;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    return failures;
}

int main(int count, char **arguments) {
    if (count > 1 && !strcmp(arguments[1], "--once")) return forks();
    int processes = count > 1 ? atoi(arguments[1]) : PROCESSES;
    check_begin();
    for (int i = 0; i < processes && !check_failures; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "first_error", "--once", (char *)NULL);
            _exit(127);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), 0); /* blocked or failed children */
    }
    return check_end();
}
