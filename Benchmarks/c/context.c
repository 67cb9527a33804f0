/* context.c: contexts: reads three levels up, alone and beside a writer, from two threads; changes, openings, memory. */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { LEVELS = 4 };
static long count = 2000000;
static int rounds = 5;
static invivo_runtime runtime;
static invivo_context chain[LEVELS];
static invivo_key number, text, other;

static void must(invivo_status status, invivo_error *error) {
    if (status) exit(invivo_error_report(error));
}
static invivo_key key_of(const char *name) {
    invivo_error *error = NULL;
    invivo_key key;
    must(invivo_key_intern(runtime, name, &key, &error), error);
    return key;
}
static double bytes_in_use(void) { return (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd; }

__attribute__((noinline)) static void get(invivo_key key) {
    invivo_value value;
    invivo_context_get(chain[LEVELS - 1], key, &value, NULL);
    KEEP(value.as.signed_integer);
    if (value.reserved) invivo_value_clear(&value);
}
__attribute__((noinline)) static void borrow(void) {
    invivo_view view = invivo_view_begin(runtime);
    KEEP(invivo_view_context_value(view, chain[LEVELS - 1], text));
    invivo_view_end(view);
}
static void set(int64_t to) {
    invivo_value value = invivo_int64(to);
    invivo_context_set(chain[0], number, &value, NULL);
}

/* ---- the floor: a chain of small hash tables of one thread ------------------------------------------------ */

static struct level { struct { uint64_t key; int64_t value; } slots[4]; struct level *parent; } levels[LEVELS];
__attribute__((noinline)) static int64_t plain_get(const struct level *level, uint64_t key) {
    for (; level; level = level->parent)
        for (uint64_t at = key & 3; level->slots[at].key; at = (at + 1) & 3)
            if (level->slots[at].key == key) return level->slots[at].value;
    return -1;
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

static int go, stop;
static void *write_without_pause(void *unused) {
    (void)unused;
    for (int64_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) set(i);
    return NULL;
}
static void *read_lane(void *each) {
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) sched_yield();
    get(number);
    double begun = wall_ns();
    for (long i = 0; i < count; i++) get(number);
    *(double *)each = (wall_ns() - begun) / (double)count;
    return NULL;
}
static double two_over_one(void) {
    enum { TRIES = 9 };
    double ratios[TRIES];
    for (int round = 0; round < TRIES; round++) {
        double one, two[2];
        pthread_t a, b;
        go = 1;
        pthread_create(&a, NULL, read_lane, &one);
        pthread_join(a, NULL);
        go = 0;
        pthread_create(&a, NULL, read_lane, &two[0]);
        pthread_create(&b, NULL, read_lane, &two[1]);
        __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        ratios[round] = 2 * one / fmax(two[0], two[1]);
    }
    return median(ratios, TRIES);
}

/* ---- openings and memory ---------------------------------------------------------------------------------- */

__attribute__((noinline)) static void open_and_end(invivo_context parent) {
    invivo_context_value values[] = {{.key = other, .value = invivo_int64(1)}};
    invivo_context context;
    invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = parent, .values = values,
                                                           .value_count = 1}, &context, NULL);
    invivo_context_end(context, NULL);
}
/* The time to open and end a context below one that has so many others. */
static double among(int siblings) {
    invivo_context *open = calloc((size_t)siblings, sizeof *open), parent;
    double value;
    invivo_context_open(runtime, NULL, &parent, NULL);
    invivo_context_options options = {.struct_size = sizeof options, .parent = parent, .flags = INVIVO_CONTEXT_STRONG_PARENT};
    for (int i = 0; i < siblings; i++) invivo_context_open(runtime, &options, &open[i], NULL);
    MEASURE(value, rounds, count / 20, open_and_end(parent));
    invivo_context_end(parent, NULL);
    free(open);
    return value;
}
static double bytes_each(bool has_value) {
    enum { CONTEXTS = 100000 };
    static invivo_context open[CONTEXTS];
    invivo_context_value values[] = {{.key = other, .value = invivo_int64(1)}};
    invivo_context_options options = {.struct_size = sizeof options, .values = values, .value_count = has_value};
    double before = bytes_in_use();
    for (int i = 0; i < CONTEXTS; i++) invivo_context_open(runtime, &options, &open[i], NULL);
    double each = (bytes_in_use() - before) / CONTEXTS;
    for (int i = 0; i < CONTEXTS; i++) invivo_context_end(open[i], NULL);
    return each;
}

/* ---- objects in contexts ------------------------------------------------------------------------------------ */

typedef struct part { void *one, *two; } part;
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_key handler, plain;
static void define_objects(invivo_error *error) {
    static const invivo_parameter parameters[] = {{.name = "one", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
                                                  {.name = "two", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_type_options type = {.struct_size = sizeof type, .name = "Part", .concurrency = INVIVO_SHARED, .size = sizeof(part), .alignment = 8,
                                .init = part_init, .parameters = parameters, .parameter_count = 2};
    invivo_type its;
    must(invivo_type_register(runtime, &type, &its, &error), error);
    invivo_context_kind kind = {.struct_size = sizeof kind, .name = "request", .policy = INVIVO_CONTEXT_FOLLOWS};
    must(invivo_context_declare_kinds(runtime, &kind, 1, &error), error);
    static const char *const names[2][3] = {{"web.user", "web.files", "web.handler"}, {"all.user", "all.files", "all.handler"}};
    for (int graph = 0; graph < 2; graph++)
        for (int i = 0; i < 3; i++) {
            invivo_injection needs[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = names[graph][0]},
                                        {.how = INVIVO_INJECT_REFERENCE, .reference = names[graph][1]}};
            invivo_definition definition = {.struct_size = sizeof definition, .key = names[graph][i], .type = its,
                                            .scope = graph ? INVIVO_SCOPE_GRAPH : INVIVO_SCOPE_CONTEXT, .scope_name = graph ? NULL : "request",
                                            .initializer = needs, .initializer_count = i == 2 ? 2 : 0};
            must(invivo_define(runtime, &definition, i == 2 ? (graph ? &plain : &handler) : NULL, &error), error);
        }
}
__attribute__((noinline)) static void serve(void) {
    invivo_context request;
    invivo_object object;
    invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .kind = "request"}, &request, NULL);
    invivo_context_resolve(request, handler, &object, NULL);
    invivo_object_release(object);
    invivo_context_end(request, NULL);
}
__attribute__((noinline)) static void make_graph(void) {
    invivo_object object;
    invivo_resolve(runtime, plain, &object, NULL);
    invivo_object_release(object);
}
static invivo_context served;
__attribute__((noinline)) static void find_built(void) {
    invivo_object object;
    invivo_context_resolve(served, handler, &object, NULL);
    invivo_object_release(object);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--quick")) count = 500000, rounds = 3;
    invivo_error *error = NULL;
    double floor, value;
    must(invivo_runtime_open(&runtime, NULL, &error), error);
    number = key_of("bench.number"), text = key_of("bench.text"), other = key_of("bench.other");
    for (int i = 0; i < LEVELS; i++) {
        invivo_value one = invivo_int64(i), name = invivo_string("a text of thirty characters...");
        invivo_context_options options = {.struct_size = sizeof options, .parent = i ? chain[i - 1] : (invivo_context){0}};
        must(invivo_context_open(runtime, &options, &chain[i], &error), error);
        must(invivo_context_set(chain[i], i ? other : number, &one, &error), error);
        if (i == 0) must(invivo_context_set(chain[i], text, &name, &error), error);
        levels[i].parent = i ? &levels[i - 1] : NULL;
        levels[i].slots[i ? 3 : 1].key = i ? 3 : 1;
    }
    MEASURE(floor, rounds, count, KEEP(plain_get(&levels[LEVELS - 1], 1)));
    MEASURE(value, rounds, count, get(number));
    row("context.get3", value, "ns", "chain of tables of one thread", floor, "<= 40 ns", value <= 40);
    double quiet = value;
    MEASURE(value, rounds, count, get(text));
    row("context.get3.text", value, "ns", "a number", quiet, "<= 2 x", value <= 2 * quiet);
    MEASURE(value, rounds, count, borrow());
    row("context.view.get3", value, "ns", "a number", quiet, "<= 1.5 x", value <= 1.5 * quiet);
    MEASURE(value, rounds, count / 10, set(i_));
    row("context.set", value, "ns", "get", quiet, "recorded", true);
    value = among(10);
    row("context.open", value, "ns", "get", quiet, "recorded: open with one value, end", true);
    double few = value;
    value = among(100000);
    row("context.open.among.100k", value, "ns", "among 10", few, "<= 1.5 x", value <= 1.5 * few);
    define_objects(error);
    MEASURE(floor, rounds, count / 20, make_graph());
    MEASURE(value, rounds, count / 100, serve());
    row("context.rate", value, "ns", "three objects of a graph", floor, "<= 2500 ns and <= 3 x", value <= 2500 && value <= 3 * floor);
    must(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .kind = "request"}, &served, &error),
         error);
    MEASURE(value, rounds, count / 20, find_built());
    row("context.resolve", value, "ns", "get", quiet, "recorded: a built object", true);
    must(invivo_context_end(served, &error), error);
    if (!COUNTING) {
        pthread_t writer;
        pthread_create(&writer, NULL, write_without_pause, NULL);
        MEASURE(value, rounds, count, get(number));
        __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
        pthread_join(writer, NULL);
        row("context.get3.writer", value, "ns", "quiet", quiet, "recorded: the lines of the clock and the value move between processors", true);
        value = two_over_one();
        row("threads2.context", value, "x", "one thread", 1, ">= 1.8 x one", value >= 1.8);
        value = bytes_each(false);
        row("memory.context", value, "B", "none", 0, "<= 256 B", value <= 256);
        value = bytes_each(true);
        row("memory.context.value", value, "B", "none", 0, "<= 256 B", value <= 256);
    }
    must(invivo_runtime_close(runtime, &error), error);
    return 0;
}
