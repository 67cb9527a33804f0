/* chance.h: reproducible random numbers, and memory for one sequence. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_CHANCE_H
#define INVIVO_TESTS_DIFFERENTIAL_CHANCE_H

#include "../check.h"

/* Each operation of a sequence has a tape of its random numbers. A failing sequence is replayed from its tapes, with
 * operations removed and numbers set to 0, the simplest choice everywhere. An exhausted tape yields 0. */
enum { OPERATIONS = 36, MOST_DRAWS = 400 };
typedef struct tape {
    bool is_left_out;
    int count, used;
    uint8_t draws[MOST_DRAWS];
} tape;
static tape *tapes, *current_tape;
static bool is_replay;

static uint64_t random_state;
static uint64_t next_random(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int drawn(int number) {
    tape *tape = current_tape;
    if (is_replay) return tape->used < tape->count ? tape->draws[tape->used++] : 0;
    if (tape->count < MOST_DRAWS) tape->draws[tape->count++] = (uint8_t)number;
    return number;
}
/* A number from 0 to `limit` - 1. */
static int below(int limit) { return drawn((int)(next_random() % (uint64_t)limit)) % limit; }
/* True with this percentage. */
static bool chance(int percent) { return drawn((int)(next_random() % 100) < percent) != 0; }

enum { ARENA_SIZE = 8 << 20 };
static char arena[ARENA_SIZE] __attribute__((aligned(16)));
static size_t arena_used;
static void *take(size_t size) {
    void *memory = arena + arena_used;
    arena_used += (size + 15) & ~(size_t)15;
    if (arena_used > ARENA_SIZE) fprintf(stderr, "differential: the arena is full\n"), abort();
    return memset(memory, 0, size);
}
#define NEW(type) ((type *)take(sizeof(type)))

/* ---- reporting ------------------------------------------------------------------------------------------ */

static uint64_t seed_of_sequence;
static bool is_tracing, is_silent;
/* The kind of the failure of a sequence; 0 = none. Shortening keeps the kind. */
enum { AGREES, STATUS_DIFFERS, TEXT_DIFFERS, LEASED_CHANGED, CLOSE_FAILED, LEFT_BEHIND, ENDED_TWICE, STOPS_DIFFER, CALL_FAILED, SETUPS_DIFFER, PIN_CHANGED };
static int failure;

static void disagree(int kind, const char *format, ...) {
    char text[8000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!failure && !is_silent) check_failed(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed_of_sequence, text);
    if (!failure) failure = kind;
}
static void trace(const char *format, ...) {
    va_list arguments;
    if (!is_tracing) return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

/* A call that must succeed in every sequence. */
#define MUST(call) must_(__LINE__, #call, (check_error = NULL, (call)))
static bool must_(int line, const char *call, invivo_status status) {
    if (status) disagree(CALL_FAILED, "line %d: %s answers %s: %s", line, call, invivo_status_name(status), invivo_error_text(check_error));
    invivo_error_release(check_error);
    check_error = NULL;
    return status == INVIVO_OK;
}

#endif
