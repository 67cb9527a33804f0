/* A get of a context completes while a writer is suspended at any step, and allocates nothing.
 *
 *   context_progress            the default run
 *   context_progress --stops N  N stops of the writer inside of a change */
/* sanitize: no, the suspended writer may hold a lock of the sanitizer */
#include "check.h"

/* ---- allocations of this thread --------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);
static __thread long allocations __attribute__((tls_model("initial-exec")));
void *malloc(size_t size) { return allocations++, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return allocations++, __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return allocations++, __libc_realloc(memory, size); }
void free(void *memory) { __libc_free(memory); }

enum { LEVELS = 4 };
static invivo_runtime runtime;
static invivo_context contexts[LEVELS];
static invivo_key first, second, added[64];

static void open_chain(void) {
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_key_intern(runtime, "first", &first, E));
    OK(invivo_key_intern(runtime, "second", &second, E));
    for (int i = 0; i < 64; i++) {
        char name[16];
        snprintf(name, sizeof name, "added.%d", i);
        OK(invivo_key_intern(runtime, name, &added[i], E));
    }
    for (int i = 0; i < LEVELS; i++)
        OK(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options),
                                                                  .parent = i ? contexts[i - 1] : (invivo_context){0}}, &contexts[i], E));
}
static void close_chain(void) {
    for (int i = LEVELS; i-- > 0;) OK(invivo_context_end(contexts[i], E));
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status nothing(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)error;
    *result = invivo_null();
    return INVIVO_OK;
}
static void *get_all(void *is_first) {
    invivo_value value, items[] = {invivo_int64(1), invivo_string("an item")};
    invivo_pair pair = {.name = "name", .length = 4, .value = invivo_string("value")};
    invivo_callable callable;
    invivo_key missing;
    OK(invivo_key_intern(runtime, "missing", &missing, E));
    OK(invivo_callable_make(runtime, &(invivo_callable_options){.struct_size = sizeof(invivo_callable_options), .name = "nothing", .invoke = nothing}, &callable, E));
    const invivo_value values[] = {invivo_int64(5), invivo_double(0.5), invivo_string("a longer string, which has memory of its own"),
                                   invivo_bytes((const uint8_t *)"bytes", 5), invivo_list(items, 2), invivo_map(&pair, 1), invivo_callable_value(callable)};
    enum { VALUES = sizeof values / sizeof *values };
    for (int i = 0; i < VALUES; i++) OK(invivo_context_set(contexts[0], added[i], &values[i], E));
    OK(invivo_context_hide(contexts[1], second, E));
    OK(invivo_thread_prepare(runtime, E));
    invivo_view outer = invivo_view_begin(runtime);
    invivo_view_end(outer);
    long before = allocations;
    int wrong = 0;
    for (int round = is_first ? -1 : 0; round < 1000; round++) {
        if (round == 0) before = allocations; /* the first calls of the process may allocate */
        invivo_view view = invivo_view_begin(runtime);
        for (int i = 0; i < VALUES; i++) {
            wrong += invivo_context_get(contexts[LEVELS - 1], added[i], &value, NULL) != INVIVO_OK || value.kind != values[i].kind;
            invivo_value_clear(&value);
            wrong += invivo_context_get_local(contexts[0], added[i], &value, NULL) != INVIVO_OK;
            invivo_value_clear(&value);
            wrong += invivo_view_context_value(view, contexts[LEVELS - 1], added[i]) == NULL;
        }
        wrong += invivo_context_get(contexts[LEVELS - 1], missing, &value, NULL) != INVIVO_E_NOT_FOUND;
        wrong += invivo_context_get(contexts[LEVELS - 1], second, &value, NULL) != INVIVO_E_NOT_FOUND;
        wrong += invivo_context_get_local(contexts[1], missing, &value, NULL) != INVIVO_E_NOT_FOUND;
        invivo_view_end(view);
    }
    CHECK_EQUAL(allocations - before, 0);
    CHECK_EQUAL(wrong, 0);
    before = allocations;
    OK(invivo_context_set(contexts[0], added[0], &values[2], E));
    CHECK(allocations > before); /* the count works */
    OK(invivo_callable_release(callable));
    return NULL;
}
static void a_get_allocates_nothing(void) {
    pthread_t thread;
    open_chain();
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, get_all, i == 0 ? &thread : NULL);
        pthread_join(thread, NULL);
    }
    close_chain();
}

/* ---- a suspended writer ----------------------------------------------------------------------------------- */

static int stopped_pipe[2], go_pipe[2];
static volatile sig_atomic_t is_inside; /* of the writer: in a change */
static bool is_over;
static uint64_t changes;

/* Runs in the writer. Reports where it is, and waits. */
static void stop_here(int signal) {
    int error = errno;
    char byte = is_inside ? 1 : 0;
    (void)signal;
    while (write(stopped_pipe[1], &byte, 1) < 0 && errno == EINTR) {}
    while (read(go_pipe[0], &byte, 1) < 0 && errno == EINTR) {}
    errno = error;
}
/* Keeps `first` and `second` equal, in one change of the root, and changes other contexts of the tree. */
static void *write_always(void *unused) {
    uint64_t random = 1;
    (void)unused;
    for (int64_t n = 1; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); n++) {
        char text[32];
        snprintf(text, sizeof text, "number %lld", (long long)n);
        invivo_context_change both[] = {{.key = first, .value = invivo_int64(n)}, {.key = second, .value = invivo_int64(n)}};
        invivo_value value = invivo_string(text);
        random = random * 6364136223846793005u + 1442695040888963407u;
        invivo_key key = added[random >> 58];
        is_inside = 1;
        invivo_status status = invivo_context_change_values(contexts[0], both, 2, NULL);
        is_inside = 0;
        CHECK_EQUAL(status, INVIVO_OK);
        is_inside = 1;
        if (random >> 40 & 1) status = invivo_context_set(contexts[1], key, &value, NULL);
        else invivo_context_remove(contexts[1], key, NULL); /* there may be none */
        is_inside = 0;
        CHECK_EQUAL(status, INVIVO_OK);
        __atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}
/* Gets of all levels: the keys of one change have one value. */
static void get_both(void) {
    int64_t numbers[2 * LEVELS + 2];
    int count = 0;
    invivo_value value;
    for (int level = 0; level < LEVELS; level++) {
        CHECK_EQUAL(invivo_context_get(contexts[level], first, &value, NULL), INVIVO_OK);
        numbers[count++] = value.as.signed_integer;
        CHECK_EQUAL(invivo_context_get(contexts[level], second, &value, NULL), INVIVO_OK);
        numbers[count++] = value.as.signed_integer;
        if (invivo_context_get(contexts[level], added[0], &value, NULL) == INVIVO_OK) invivo_value_clear(&value);
        CHECK_EQUAL(invivo_context_get_local(contexts[2], first, &value, NULL), INVIVO_E_NOT_FOUND);
    }
    invivo_view view = invivo_view_begin(runtime);
    const invivo_value *borrowed = invivo_view_context_value(view, contexts[LEVELS - 1], first);
    numbers[count++] = borrowed ? borrowed->as.signed_integer : -1;
    borrowed = invivo_view_context_value(view, contexts[LEVELS - 1], second);
    numbers[count++] = borrowed ? borrowed->as.signed_integer : -1;
    invivo_view_end(view);
    for (int i = 1; i < count; i++) CHECK_EQUAL(numbers[i], numbers[0]);
}
static void gets_complete_while_a_writer_is_suspended(int wanted) {
    pthread_t writer;
    struct sigaction action = {.sa_handler = stop_here, .sa_flags = SA_RESTART};
    int stops = 0, inside = 0;
    uint64_t random = 7;
    invivo_value zero = invivo_int64(0);
    changes = 0, is_over = false;
    open_chain();
    CHECK(pipe2(stopped_pipe, O_CLOEXEC) == 0 && pipe2(go_pipe, O_CLOEXEC) == 0);
    sigaction(SIGUSR1, &action, NULL);
    OK(invivo_context_set(contexts[0], first, &zero, E));
    OK(invivo_context_set(contexts[0], second, &zero, E));
    get_both();
    alarm(4 * CHECK_LIMIT_SECONDS); /* a get that waits would wait for ever */
    pthread_create(&writer, NULL, write_always, NULL);
    while (inside < wanted && !check_failures) {
        char byte = 0;
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* A different part of a change each time. */
        for (volatile uint64_t i = 0; i < random >> 54; i++) {}
        pthread_kill(writer, SIGUSR1);
        while (read(stopped_pipe[0], &byte, 1) < 0 && errno == EINTR) {}
        stops++, inside += byte;
        get_both();
        get_both();
        byte = 1;
        CHECK(write(go_pipe[1], &byte, 1) == 1);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(writer, NULL);
    alarm(0);
    printf("context_progress: the writer was suspended %d times, %d times inside of one of its %llu changes\n", stops, inside,
           2 * (unsigned long long)changes);
    for (int i = 0; i < 2; i++) close(stopped_pipe[i]), close(go_pipe[i]);
    close_chain();
}

int main(int count, char **arguments) {
    int stops = 4000;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--stops") && i + 1 < count) stops = atoi(arguments[++i]);
        else return fprintf(stderr, "usage: context_progress [--stops N]\n"), 2;
    }
    check_begin();
    RUN_TEST(a_get_allocates_nothing);
    RUN_TEST_WITH(gets_complete_while_a_writer_is_suspended, stops);
    return check_end();
}
