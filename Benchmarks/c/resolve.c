/* resolve.c: the cost of access to objects: borrowed, leased, by name, created; one and two threads; open and close. */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

typedef struct { double data[8]; } leaf; /* 64 bytes */

static invivo_runtime runtime;
static invivo_key shared_key, prototype_key;
static long count = 5000000;
static int rounds = 5;

static void must(invivo_status status, invivo_error *error) {
    if (status) exit(invivo_error_report(error));
}

__attribute__((noinline)) static void *called(void *p) { __asm__ volatile("" ::: "memory"); return p; }
static uint64_t counted_word;
__attribute__((noinline)) static int counted_take(uint64_t **out) { __atomic_fetch_add(&counted_word, 1, __ATOMIC_ACQ_REL); *out = &counted_word; return 0; }
__attribute__((noinline)) static int counted_give(uint64_t *word) { __atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL); return 0; }
__attribute__((noinline)) static uint64_t plain_hash(const char *text, size_t length) {
    uint64_t hash = 0x9e3779b97f4a7c15ull, word = 0;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, text + i, 8);
        __uint128_t p = (__uint128_t)(hash ^ word) * 0xa0761d6478bd642full;
        hash = (uint64_t)(p >> 64) ^ (uint64_t)p;
    }
    memcpy(&word, text + length - 8, 8);
    __uint128_t p = (__uint128_t)(hash ^ word) * 0xa0761d6478bd642full;
    return (uint64_t)(p >> 64) ^ (uint64_t)p;
}

static const invivo_place place = {__FILE__, __LINE__, 0};
static volatile int go;
enum { VIEW, LEASE, PIN };
struct lane { int core; int what; double each; };
static void *lane_run(void *context) {
    struct lane *lane = context;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(lane->core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    invivo_object object;
    while (!go) {}
    double begun = wall_ns();
    if (lane->what == PIN) {
        for (long i = 0; i < count; i++) invivo_pin_end(invivo_pin_begin(runtime, &place));
    } else if (lane->what == LEASE) {
        for (long i = 0; i < count; i++) { invivo_resolve(runtime, shared_key, &object, NULL); invivo_object_release(object); }
    } else {
        for (long i = 0; i < count; i++) {
            invivo_view view = invivo_view_begin(runtime);
            KEEP(invivo_view_get(view, shared_key));
            invivo_view_end(view);
        }
    }
    lane->each = (wall_ns() - begun) / (double)count;
    return NULL;
}

/* The wall-clock throughput of two threads relative to one, and the nanoseconds of one operation on two: medians of several runs. */
static double two_over_one(int what, double *each) {
    enum { TRIES = 9 };
    double ratios[TRIES], times[TRIES];
    for (int round = 0; round < TRIES; round++) {
        struct lane one = {0, what, 0}, two[2] = {{0, what, 0}, {1, what, 0}};
        pthread_t a, b;
        go = 1;
        pthread_create(&a, NULL, lane_run, &one);
        pthread_join(a, NULL);
        go = 0;
        pthread_create(&a, NULL, lane_run, &two[0]);
        pthread_create(&b, NULL, lane_run, &two[1]);
        go = 1;
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        /* Both start together; the work is done when the slower one is. */
        times[round] = fmax(two[0].each, two[1].each);
        ratios[round] = 2 * one.each / times[round];
    }
    *each = median(times, TRIES);
    return median(ratios, TRIES);
}

static void *close_descriptor(void *descriptor) {
    close(*(int *)descriptor);
    return NULL;
}

/* The kernel's share of watching a file in /tmp: Linux may take 20 ms to close an inotify descriptor with watched
 * directories. */
static double watched_and_closed_ms(void) {
    double begun = wall_ns();
    int descriptor = inotify_init1(IN_CLOEXEC);
    int watches[] = {inotify_add_watch(descriptor, "/", IN_CREATE), inotify_add_watch(descriptor, "/tmp", IN_CLOSE_WRITE)};
    for (size_t i = 0; i < 2; i++) inotify_rm_watch(descriptor, watches[i]);
    pthread_t thread;
    if (pthread_create(&thread, NULL, close_descriptor, &descriptor) == 0) pthread_join(thread, NULL);
    return (wall_ns() - begun) / 1e6;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--quick")) count = 500000, rounds = 3;
    invivo_error *error = NULL;
    must(invivo_runtime_open(&runtime, NULL, &error), error);
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Leaf", .concurrency = INVIVO_SHARED,
                                   .size = sizeof(leaf), .alignment = 8};
    must(invivo_type_register(runtime, &options, &type, &error), error);
    invivo_changes changes;
    must(invivo_changes_open(runtime, &changes, &error), error);
    for (int i = 0; i < 1024; i++) {
        char name[64];
        snprintf(name, sizeof name, "assembly.component%05d", i);
        invivo_definition definition = {.struct_size = sizeof definition, .key = name, .type = type,
                                        .scope = i == 1023 ? INVIVO_SCOPE_PROTOTYPE : INVIVO_SCOPE_LAZY_SINGLETON};
        must(invivo_changes_define(changes, &definition, i == 1023 ? &prototype_key : &shared_key, &error), error);
    }
    must(invivo_changes_commit(changes, &error), error);
    invivo_object object;
    must(invivo_resolve(runtime, shared_key, &object, &error), error);
    invivo_object_release(object);

    double call, value, floor;
    void *(*volatile function)(void *) = called;
    MEASURE(call, rounds, count, KEEP(function(&call)));

    invivo_view view = invivo_view_begin(runtime);
    MEASURE(value, rounds, count, KEEP(invivo_view_get(view, shared_key)));
    row("c.view.get", value, "ns", "function pointer call", call, "<= 4 ns", value <= 4);
    static const char name[] = "assembly.component01022";
    const char *volatile text = name; /* a result that is known beforehand would be no floor */
    MEASURE(floor, rounds, count, KEEP(plain_hash(text, 23)));
    MEASURE(value, rounds, count, KEEP(invivo_view_find(view, name, 23)));
    row("c.view.find", value, "ns", "hash of 23 bytes", floor, "<= 30 ns", value <= 30);
    invivo_view_end(view);
    MEASURE(value, rounds, count, { invivo_view v = invivo_view_begin(runtime); KEEP(invivo_view_get(v, shared_key)); invivo_view_end(v); });
    row("c.view.whole", value, "ns", "function pointer call", call, "recorded", true);

    uint64_t *word;
    MEASURE(floor, rounds, count, { counted_take(&word); counted_give(word); });
    MEASURE(value, rounds, count, { invivo_resolve(runtime, shared_key, &object, NULL); invivo_object_release(object); });
    row("c.resolve", value, "ns", "two calls with a counted return", floor, "<= 25 ns", value <= 25);

    MEASURE(floor, rounds, count, { void *p = malloc(64); KEEP(p); free(p); });
    MEASURE(value, rounds, count, { invivo_resolve(runtime, prototype_key, &object, NULL); invivo_object_release(object); });
    row("c.prototype", value, "ns", "malloc + free", floor, "<= 60 ns", value <= 60);

    MEASURE(value, rounds, count, invivo_pin_end(invivo_pin_begin(runtime, &place)));
    row("c.pin", value, "ns", "malloc + free", floor, "<= 60 ns", value <= 60);

    if (COUNTING) return 0; /* one thread, without waiting */
    double each;
    value = two_over_one(VIEW, &each);
    row("threads2.shared", value, "x", "one thread", 1, ">= 1.9 x one", value >= 1.9);
    value = two_over_one(LEASE, &each);
    row("threads2.lease", value, "x", "one thread", 1, ">= 0.4 x one", value >= 0.4);
    value = two_over_one(PIN, &each);
    row("threads2.pin", each, "ns", "throughput over one thread", value, "<= 120 ns", each <= 120);

    double begun = wall_ns();
    for (int i = 0; i < 300; i++) {
        invivo_runtime other;
        must(invivo_runtime_open(&other, NULL, &error), error);
        must(invivo_runtime_close(other, &error), error);
    }
    value = (wall_ns() - begun) / 300 / 1e3;
    row("open.close", value, "us", "nothing", 0, "<= 500 us", value <= 500);
    char path[] = "/tmp/invivo-bench-XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0 || dprintf(descriptor, "{}\n") < 0) return 1;
    close(descriptor); /* a source waits for the writers of its file */
    floor = value = 0;
    for (int i = 0; i < 50; i++) {
        floor += watched_and_closed_ms() / 50;
        begun = wall_ns();
        invivo_runtime other;
        must(invivo_runtime_open(&other, NULL, &error), error);
        must(invivo_watch(other, path, &error), error);
        must(invivo_runtime_close(other, &error), error);
        value += (wall_ns() - begun) / 50 / 1e6;
    }
    row("open.close.source", value, "ms", "a bare inotify of /, /tmp, closed by a thread", floor, "<= 25 ms", value <= 25);
    remove(path);
    must(invivo_runtime_close(runtime, &error), error);
    return 0;
}
