/* pool.c: weak pools with a million entries: finding a live entry, creating and releasing entries, two threads, memory. */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

typedef struct { double data[8]; } leaf; /* 64 bytes */

enum { ASKED = 1024 };
static long entries = 1000000, count = 2000000;
static int rounds = 5;
static invivo_runtime runtime;
static invivo_pool numbers, names;
static invivo_key prototype;
static invivo_object *objects;
static char (*texts)[24]; /* 23 bytes each */
static char queries[ASKED][24]; /* the requested names, in the program's own memory */
static uint32_t *asked;   /* the requested entries, in order; the first ASKED repeatedly, or all */

static void must(invivo_status status, invivo_error *error) {
    if (status) exit(invivo_error_report(error));
}
static uint32_t next(void) {
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 32);
}
static invivo_status make(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)key;
    return invivo_resolve(runtime, prototype, out, error);
}
/* Realistic numbers: not consecutive. */
static int64_t number(long i) { return (int64_t)i * 2654435761 + 17; }

__attribute__((noinline)) static void get_number(uint32_t i) {
    invivo_value key = invivo_int64(number(i));
    invivo_object object;
    invivo_pool_get(numbers, &key, NULL, NULL, &object, NULL);
    KEEP(object.bits);
}
__attribute__((noinline)) static void get_name(uint32_t i) {
    invivo_value key = invivo_string_n(queries[i], 23);
    invivo_object object;
    invivo_pool_get(names, &key, NULL, NULL, &object, NULL);
    KEEP(object.bits);
}
static double bytes_in_use(void) { return (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd; }

/* ---- the floor: a single-threaded table of pointers without counts ------------------------------------- */

static struct { int64_t key; void *value; } *plain;
static uint64_t plain_mask;
static uint64_t plain_at(int64_t key) {
    __uint128_t p = (__uint128_t)((uint64_t)key ^ 0x9e3779b97f4a7c15ull) * 0xa0761d6478bd642full;
    uint64_t at = ((uint64_t)(p >> 64) ^ (uint64_t)p) & plain_mask;
    while (plain[at].value && plain[at].key != key) at = (at + 1) & plain_mask;
    return at;
}
__attribute__((noinline)) static void get_plain(uint32_t i) {
    uint64_t *counted = plain[plain_at(number(i))].value;
    __atomic_fetch_add(counted, 1, __ATOMIC_ACQ_REL);
}

/* ---- creation and release ------------------------------------------------------------------------------ */

/* Each round replaces scattered entries: the old one is released, another is created, found again and kept with one
 * lease. */
static double churn_floor(long steps, leaf **held) {
    double begun = cpu_ns();
    for (long i = 0; i < steps; i++) {
        uint32_t at = asked[i % entries];
        free(held[at]);
        leaf *fresh = malloc(sizeof *fresh);
        memset(fresh, 0, sizeof *fresh);
        held[at] = fresh;
        KEEP(fresh);
    }
    return (cpu_ns() - begun) / (double)steps;
}
static double churn(long steps) {
    double begun = cpu_ns();
    for (long i = 0; i < steps; i++) {
        uint32_t at = asked[i % entries];
        invivo_value key = invivo_int64(number(at));
        invivo_object found;
        invivo_object_release(objects[at]);
        if (invivo_pool_get(numbers, &key, make, NULL, &objects[at], NULL)) exit(1);
        invivo_pool_peek(numbers, &key, &found);
        invivo_object_release(found);
    }
    return (cpu_ns() - begun) / (double)steps;
}

/* ---- two threads ---------------------------------------------------------------------------------------- */

static volatile int go;
struct lane { int core; long first; bool all; double each; };
static void *run(void *context) {
    struct lane *lane = context;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(lane->core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    while (!go) {}
    double begun = wall_ns();
    for (long i = 0; i < count; i++) {
        uint32_t at = lane->all ? asked[(lane->first + i) % entries] : asked[lane->first + i % ASKED];
        invivo_value key = invivo_int64(number(at));
        invivo_object object;
        invivo_pool_get(numbers, &key, NULL, NULL, &object, NULL);
        invivo_object_release(object);
    }
    lane->each = (wall_ns() - begun) / (double)count;
    return NULL;
}
static double two_over_one(bool all) {
    enum { TRIES = 9 };
    double ratios[TRIES];
    for (int round = 0; round < TRIES; round++) {
        struct lane one = {0, 0, all, 0}, two[2] = {{0, 0, all, 0}, {1, all ? entries / 2 : ASKED, all, 0}};
        pthread_t a, b;
        go = 1;
        pthread_create(&a, NULL, run, &one);
        pthread_join(a, NULL);
        go = 0;
        pthread_create(&a, NULL, run, &two[0]);
        pthread_create(&b, NULL, run, &two[1]);
        go = 1;
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        /* Both start together; the work is done when the slower one is. */
        ratios[round] = 2 * one.each / fmax(two[0].each, two[1].each);
    }
    return median(ratios, TRIES);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    if (quick) count = 500000, rounds = 3;
    invivo_error *error = NULL;
    must(invivo_runtime_open(&runtime, NULL, &error), error);
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Leaf", .concurrency = INVIVO_SHARED, .size = sizeof(leaf), .alignment = 8};
    must(invivo_type_register(runtime, &options, &type, &error), error);
    invivo_definition definition = {.struct_size = sizeof definition, .key = "bench.leaf", .type = type, .scope = INVIVO_SCOPE_PROTOTYPE};
    must(invivo_define(runtime, &definition, &prototype, &error), error);
    must(invivo_pool_open(runtime, NULL, &numbers, &error), error);
    must(invivo_pool_open(runtime, NULL, &names, &error), error);
    objects = calloc((size_t)entries, sizeof *objects);
    texts = calloc((size_t)entries, sizeof *texts);
    asked = calloc((size_t)entries, sizeof *asked);
    for (long i = 0; i < entries; i++) {
        must(invivo_resolve(runtime, prototype, &objects[i], &error), error);
        snprintf(texts[i], sizeof texts[i], "textures/brick-%08ld", i);
        asked[i] = (uint32_t)i;
    }
    for (long i = entries - 1; i > 0; i--) {
        uint32_t other = next() % (uint32_t)(i + 1), kept = asked[i];
        asked[i] = asked[other], asked[other] = kept;
    }
    for (int i = 0; i < ASKED; i++) memcpy(queries[i], texts[asked[i]], 24);
    /* Memory and filling, in numerical order. */
    double before = bytes_in_use(), begun = cpu_ns(), worst = 0;
    for (long i = 0; i < entries; i++) {
        invivo_value key = invivo_int64(number(i));
        must(invivo_pool_put(numbers, &key, objects[i], &error), error);
        if (i > entries / 2 && i % 10000 == 0) worst = fmax(worst, (bytes_in_use() - before) / (double)i);
    }
    double filling = (cpu_ns() - begun) / (double)entries;
    double bytes = (bytes_in_use() - before) / (double)entries;
    row("memory.pool", bytes, "bytes", "worst while it grows", worst, "<= 64 an entry", bytes <= 64);
    before = bytes_in_use(), worst = 0;
    for (long i = 0; i < entries; i++) {
        invivo_value key = invivo_string_n(texts[i], 23);
        must(invivo_pool_put(names, &key, objects[i], &error), error);
        if (i > entries / 2 && i % 10000 == 0) worst = fmax(worst, (bytes_in_use() - before) / (double)i);
    }
    bytes = (bytes_in_use() - before) / (double)entries;
    row("memory.pool.names", bytes, "bytes", "worst while it grows", worst, "<= 64 an entry with its name of 23 bytes", bytes <= 64);
    row("pool.put", filling, "ns", "none", 0, "recorded, growth included", true);

    /* The floor. */
    plain_mask = (1 << 21) - 1;
    plain = calloc(plain_mask + 1, sizeof *plain);
    uint64_t *counts = calloc((size_t)entries, 3 * sizeof *counts);
    for (long i = 0; i < entries; i++) {
        uint64_t at = plain_at(number(i));
        plain[at].key = number(i), plain[at].value = &counts[i * 3];
    }
    double floor, value;
    MEASURE(floor, rounds, count, get_plain(asked[i_ % ASKED]));
    MEASURE(value, rounds, count, get_number(asked[i_ % ASKED]));
    row("pool.get", value, "ns", "table of one thread, count", floor, "<= 40 ns", value <= 40);
    MEASURE(value, rounds, count, get_name((uint32_t)(i_ % ASKED)));
    row("pool.get.name", value, "ns", "table of one thread, count", floor, "<= 40 ns", value <= 40);
    MEASURE(floor, rounds, count, get_plain(asked[i_ % entries]));
    MEASURE(value, rounds, count, get_number(asked[i_ % entries]));
    row("pool.get.anywhere", value, "ns", "table of one thread, count", floor, "recorded: no entry is in a cache", true);
    free(plain), free(counts);
    /* Release the measured leases. */
    for (long i = 0; i < entries; i++)
        while (!invivo_object_release(objects[i])) {}
    for (long i = 0; i < entries; i++) must(invivo_resolve(runtime, prototype, &objects[i], &error), error);
    for (long i = 0; i < entries; i++) {
        invivo_value key = invivo_int64(number(i));
        must(invivo_pool_put(numbers, &key, objects[i], &error), error);
    }

    leaf **held = calloc((size_t)entries, sizeof *held);
    for (long i = 0; i < entries; i++) held[i] = calloc(1, sizeof **held);
    floor = value = 1e300;
    for (int round = 0; round < rounds; round++) {
        floor = fmin(floor, churn_floor(count, held));
        value = fmin(value, churn(count));
    }
    row("pool.churn", value, "ns", "malloc and free, no table", floor, "<= 2 x", value <= 2 * floor);
    for (long i = 0; i < entries; i++) free(held[i]);

    value = two_over_one(false);
    row("threads2.pool", value, "x", "one thread", 1, ">= 1.8 x one", value >= 1.8);
    value = two_over_one(true);
    row("threads2.pool.anywhere", value, "x", "one thread", 1, ">= 1.8 x one", value >= 1.8);
    for (long i = 0; i < entries; i++) invivo_object_release(objects[i]);
    must(invivo_runtime_close(runtime, &error), error);
    return 0;
}
