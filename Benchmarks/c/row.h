/* row.h: the output of a benchmark: one JSON object per line. */
#ifndef ROW_H
#define ROW_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Under callgrind, instructions are counted instead of times: each MEASURE runs its body COUNTED times between two
 * dumps, and a row labels the last of them (Benchmarks/instructions.py). */
#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define COUNTING RUNNING_ON_VALGRIND
#endif
#endif
#ifndef COUNTING
#define COUNTING 0
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(label)
#endif
enum { WARM = 100, COUNTED = 1000 };

static inline double clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
/* Time of this thread only: other work of the machine is not counted. */
static inline double cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
static inline double wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
/* Time of all threads of this process: rules and trait types run on a thread of the runtime. */
static inline double process_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

enum bound { AT_MOST, AT_LEAST };

static inline void row(const char *name, double value, const char *unit, const char *floor_name, double floor,
                       const char *budget, bool within) {
    if (COUNTING) {
        CALLGRIND_DUMP_STATS_AT(name);
        return;
    }
    printf("{\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", \"floor\": \"%s\", \"floor_value\": %.4g, "
           "\"ratio\": %.3g, \"budget\": \"%s\", \"within\": %s}\n",
           name, value, unit, floor_name, floor, floor > 0 ? value / floor : 0, budget, within ? "true" : "false");
    fflush(stdout);
}

/* The minimum of `rounds` runs of `body` with `count` repetitions, in nanoseconds each. */
#define MEASURE(result, rounds, count, body)                          \
    do {                                                              \
        double best_ = 1e300;                                         \
        if (COUNTING) {                                               \
            for (long i_ = 0; i_ < WARM; i_++) { body; }              \
            CALLGRIND_ZERO_STATS;                                     \
            for (long i_ = 0; i_ < COUNTED; i_++) { body; }           \
            CALLGRIND_DUMP_STATS_AT("measured");                      \
        }                                                             \
        for (int round_ = 0; round_ < (COUNTING ? 0 : (rounds)); round_++) { \
            double begun_ = cpu_ns();                                 \
            for (long i_ = 0; i_ < (count); i_++) { body; }           \
            double each_ = (cpu_ns() - begun_) / (double)(count);     \
            if (each_ < best_) best_ = each_;                         \
        }                                                             \
        (result) = best_;                                             \
    } while (0)

/* The minimum, in microseconds, of the processor time of so many edits. The first one is left out. */
#define EDITS(result, count, ...)                         \
    do {                                                  \
        (result) = 1e300;                                 \
        for (int edit_ = 0; edit_ <= (count); edit_++) {  \
            double begun_ = process_ns();                 \
            __VA_ARGS__;                                  \
            double took_ = (process_ns() - begun_) / 1e3; \
            if (edit_) (result) = fmin((result), took_);  \
        }                                                 \
    } while (0)

static inline int ascending_doubles(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}
static inline double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, ascending_doubles);
    return values[count / 2];
}

#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

#endif
