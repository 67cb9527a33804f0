/* row.h: how a benchmark says what it measured: one JSON object a line. */
#ifndef ROW_H
#define ROW_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
/* Of this thread alone: what else the machine does is not counted. */
static inline double cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
static inline double wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

enum bound { AT_MOST, AT_LEAST };

static inline void row(const char *name, double value, const char *unit, const char *floor_name, double floor,
                       const char *budget, bool within) {
    printf("{\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", \"floor\": \"%s\", \"floor_value\": %.4g, "
           "\"ratio\": %.3g, \"budget\": \"%s\", \"within\": %s}\n",
           name, value, unit, floor_name, floor, floor > 0 ? value / floor : 0, budget, within ? "true" : "false");
    fflush(stdout);
}

/* The best of `rounds` runs of `body` over `count` repetitions, nanoseconds each. */
#define MEASURE(result, rounds, count, body)                          \
    do {                                                              \
        double best_ = 1e300;                                         \
        for (int round_ = 0; round_ < (rounds); round_++) {           \
            double begun_ = cpu_ns();                                 \
            for (long i_ = 0; i_ < (count); i_++) { body; }           \
            double each_ = (cpu_ns() - begun_) / (double)(count);     \
            if (each_ < best_) best_ = each_;                         \
        }                                                             \
        (result) = best_;                                             \
    } while (0)

#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

#endif
