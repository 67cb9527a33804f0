/* The memory of contexts: what ends is freed, in whatever order, and nothing grows with the number of ended contexts.
 *
 *   context_memory                 the default run
 *   context_memory --contexts N    N contexts under one parent */
/* sanitize: yes */
#include "thing.h"
#include <malloc.h>

static invivo_runtime runtime;
static int destroyed;

static invivo_key key_of(const char *name) {
    invivo_key key;
    OK(invivo_key_intern(runtime, name, &key, E));
    return key;
}
static invivo_context open_with(invivo_context parent, uint32_t flags, const invivo_context_value *values, uint64_t count) {
    invivo_context context;
    OK(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = parent, .flags = flags,
                                                              .values = values, .value_count = count}, &context, E));
    return context;
}
static invivo_status nothing(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)error;
    *result = invivo_null();
    return INVIVO_OK;
}
static invivo_callable callable(void (*destroy)(void *user_data), void *user_data) {
    invivo_callable made;
    OK(invivo_callable_make(runtime, &(invivo_callable_options){.struct_size = sizeof(invivo_callable_options), .name = "nothing", .invoke = nothing,
                                                                .user_data = user_data, .destroy = destroy}, &made, E));
    return made;
}
static void count_destroyed(void *user_data) { (void)user_data, __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST); }
/* A sanitizer has its own allocator, which keeps freed memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
#else
enum { IS_SANITIZED = 0 };
#endif
static size_t allocated(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }
static size_t resident(void) {
    size_t size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%zu %zu", &size, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- order of the end ------------------------------------------------------------------------------------- */

static invivo_context ends_in_destroy;
static void end_and_free(void *user_data) {
    (void)user_data;
    OK(invivo_context_end(ends_in_destroy, E));
    /* Enough to free whatever no reader sees. */
    for (int i = 0; i < 2000; i++) OK(invivo_context_end(open_with((invivo_context){0}, INVIVO_CONTEXT_DETACHED, NULL, 0), E));
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}
/* A value of the opening is replaced, and its context ends and is freed before the value is. */
static void a_replaced_value_of_the_opening_outlives_its_context(void) {
    runtime = thing_runtime();
    destroyed = 0;
    invivo_key first = key_of("first"), second = key_of("second");
    invivo_callable ending = callable(end_and_free, NULL), counting = callable(count_destroyed, NULL);
    invivo_value number = invivo_int64(1);
    invivo_context_value values[] = {{.key = first, .value = invivo_callable_value(counting)}, {.key = second, .value = invivo_string("text")}};
    ends_in_destroy = open_with((invivo_context){0}, 0, values, 2);
    OK(invivo_callable_release(counting));
    invivo_context_value other = {.key = first, .value = invivo_callable_value(ending)};
    invivo_context trigger = open_with((invivo_context){0}, 0, &other, 1);
    OK(invivo_callable_release(ending));
    /* While a view is open, nothing is freed: then both values are freed together, in this order. */
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_context_value(view, trigger, first) != NULL);
    OK(invivo_context_set(trigger, first, &number, E));
    OK(invivo_context_set(ends_in_destroy, first, &number, E));
    OK(invivo_context_set(ends_in_destroy, second, &number, E));
    invivo_view_end(view);
    /* This thread frees them, or one of the runtime. */
    alarm(CHECK_LIMIT_SECONDS);
    while (__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST) < 2) OK(invivo_context_set(trigger, second, &number, E));
    alarm(0);
    OK(invivo_context_end(trigger, E));
    OK(invivo_runtime_close(runtime, E));
}

/* Close ends a context together with those that hold it. */
static void close_ends_held_contexts_once(void) {
    enum { HELD = 1000 };
    runtime = thing_runtime();
    destroyed = 0;
    invivo_key key = key_of("callable");
    invivo_context parent = open_with((invivo_context){0}, 0, NULL, 0), held[HELD];
    for (int i = 0; i < HELD; i++) {
        invivo_callable made = callable(count_destroyed, NULL);
        invivo_context_value value = {.key = key, .value = invivo_callable_value(made)};
        held[i] = open_with(i % 3 ? held[i - 1] : parent, INVIVO_CONTEXT_STRONG_PARENT, &value, 1);
        OK(invivo_callable_release(made));
    }
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), HELD);
    OK(invivo_context_end(held[0], E));
}

/* A removed key needs a new entry where a full table drops the entries of removed keys. */
static void removed_keys_change_together_with_new_ones(void) {
    enum { MOST = 32 };
    runtime = thing_runtime();
    invivo_key keys[MOST];
    for (int i = 0; i < MOST; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        keys[i] = key_of(name);
    }
    for (int removed = 1; removed < MOST; removed++) {
        invivo_context context = open_with((invivo_context){0}, 0, NULL, 0);
        invivo_context_change changes[MOST];
        for (int i = 0; i < removed; i++) {
            invivo_value value = invivo_int64(i);
            OK(invivo_context_set(context, keys[i], &value, E));
        }
        for (int i = 0; i < removed; i++) OK(invivo_context_remove(context, keys[i], E));
        for (int i = 0; i <= removed; i++)
            changes[i] = (invivo_context_change){.key = keys[i], .what = i % 3 == 2 ? INVIVO_VALUE_HIDE : INVIVO_VALUE_SET, .value = invivo_int64(100 + i)};
        OK(invivo_context_change_values(context, changes, (size_t)removed + 1, E));
        for (int i = 0; i <= removed; i++) {
            invivo_value value;
            invivo_status status = invivo_context_get_local(context, keys[i], &value, NULL);
            CHECK_EQUAL(status == INVIVO_OK ? value.as.signed_integer : -1, i % 3 == 2 ? -1 : 100 + i);
            if (i % 3 == 2) OK(invivo_context_remove(context, keys[i], E));
        }
        OK(invivo_context_end(context, E));
    }
    OK(invivo_runtime_close(runtime, E));
}

/* ---- growth ----------------------------------------------------------------------------------------------- */

/* Each context is opened below the one before, which then ends: only the last one is left. */
static void a_succession_of_contexts_keeps_no_memory(void) {
    enum { CONTEXTS = 40000 };
    runtime = thing_runtime();
    invivo_context root = open_with((invivo_context){0}, 0, NULL, 0), last = open_with(root, 0, NULL, 0);
    invivo_key key = key_of("number");
    invivo_value value = invivo_int64(5), found;
    OK(invivo_context_set(root, key, &value, E));
    size_t before = 0;
    CHECK_EQUAL(invivo_context_get(last, key, &found, NULL), INVIVO_OK);
    for (int i = 0; i < CONTEXTS; i++) {
        OK(invivo_context_set(last, key, &value, E));
        invivo_context next = open_with(last, 0, NULL, 0);
        CHECK_EQUAL(invivo_context_get(next, key, &found, NULL), INVIVO_OK);
        OK(invivo_context_end(last, E));
        CHECK_EQUAL(invivo_context_get(next, key, &found, NULL), INVIVO_E_ORPHANED);
        last = next;
        if (i == CONTEXTS / 4) before = allocated();
    }
    CHECK(allocated() < before + (512 << 10));
    OK(invivo_context_end(last, E));
    OK(invivo_context_end(root, E));
    OK(invivo_runtime_close(runtime, E));
}

static int calls;
static void changed(void *user_data, invivo_context context, invivo_key key, const invivo_value *value) {
    (void)user_data, (void)context, (void)key, (void)value;
    calls++;
}
/* Each with keys of its own, below a context that is observed: the memory after all of them is that after the first tenth. */
static void contexts_under_one_parent_leave_nothing(int contexts) {
    enum { OPEN = 64, OWN = 3 };
    runtime = thing_runtime();
    invivo_context parent = open_with((invivo_context){0}, 0, NULL, 0), open[OPEN] = {{0}};
    invivo_context_observer options = {.struct_size = sizeof options, .changed = changed};
    invivo_observer observer;
    invivo_key keys[OWN], shared = key_of("shared");
    char name[OWN][16];
    size_t allocated_before = 0, resident_before = 0;
    for (int i = 0; i < OWN; i++) snprintf(name[i], sizeof name[i], "own.%d", i), keys[i] = key_of(name[i]);
    calls = 0;
    OK(invivo_context_observe(parent, shared, &options, &observer, E));
    for (int i = 0; i < contexts + OPEN; i++) {
        if (i >= OPEN) OK(invivo_context_end(open[i % OPEN], E));
        if (i == contexts / 10) allocated_before = allocated(), resident_before = resident();
        if (i >= contexts) continue;
        invivo_context_value values[] = {{.key = keys[0], .value = invivo_int64(i)}, {.key = keys[1], .value = invivo_string("a value of some length")}};
        open[i % OPEN] = open_with(parent, i % 2 ? INVIVO_CONTEXT_STRONG_PARENT : 0, values, i % 3);
        invivo_value text = invivo_string("another value"), found;
        OK(invivo_context_set(open[i % OPEN], keys[2], &text, E));
        if (i % 16 == 0) OK(invivo_context_set(parent, shared, &text, E));
        OK(invivo_context_get(open[i % OPEN], shared, &found, E));
        invivo_value_clear(&found);
    }
    size_t more = allocated(), pages = resident();
    CHECK(more < allocated_before + (512 << 10));
    CHECK(IS_SANITIZED || pages < resident_before + (4 << 20));
    CHECK_EQUAL(calls, (contexts + 15) / 16);
    printf("context_memory: %d contexts: %.0f KiB allocated more than after a tenth, %.0f KiB more resident\n", contexts,
           ((double)more - (double)allocated_before) / 1024, ((double)pages - (double)resident_before) / 1024);
    OK(invivo_context_end(parent, E));
    OK(invivo_runtime_close(runtime, E));
}

int main(int count, char **arguments) {
    int contexts = 20000;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--contexts") && i + 1 < count) contexts = atoi(arguments[++i]);
        else return fprintf(stderr, "usage: context_memory [--contexts N]\n"), 2;
    }
    check_begin();
    RUN_TEST(a_replaced_value_of_the_opening_outlives_its_context);
    RUN_TEST(close_ends_held_contexts_once);
    RUN_TEST(removed_keys_change_together_with_new_ones);
    RUN_TEST(a_succession_of_contexts_keeps_no_memory);
    RUN_TEST_WITH(contexts_under_one_parent_leave_nothing, contexts);
    return check_end();
}
