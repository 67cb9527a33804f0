/* chance.h: the random numbers of the model, its memory, and its output. */
#ifndef INVIVO_TESTS_MODEL_CHANCE_H
#define INVIVO_TESTS_MODEL_CHANCE_H

#include "../check.h"

enum { KEYS = 9, ITEMS = 3, STEPS = 3, MOST_EVENTS = 3000, MOST_ARGUMENTS = 3, PARAMETERS = 3 };
enum { VALUE, NOTHING, REFERENCE, BY_TYPE, ALL_OF, ARGUMENT, ARGUMENTS, LIST, SET, MAP, PATH, PROVIDER, LAZY, RESOLVER, ASKER };
enum { FULL, BARE, OWN, TYPES };
static const char *type_names[] = {"Full", "Bare", "Own", "Thing", "Loud", "Calm"};
enum { TYPE_NAMES = 6 };
static const char *key_names[KEYS] = {"m.a", "m.b", "m.c", "m.d", "m.e", "m.f", "m.g", "m.h", "m.i"};

/* ---- random numbers and memory ------------------------------------------------------------------------- */

/* Random numbers are kept on tapes: one per operation, and one per definition in it. A failing sequence is replayed
 * with ever fewer numbers, until nothing can be removed. An exhausted tape yields 0, the simplest choice everywhere. */
enum { SIZE = 24, OPERATIONS = SIZE + 1, PARTS = 10, MOST_DRAWS = 1 << 11 };
typedef struct tape { bool is_left_out; int count, used; uint8_t draws[MOST_DRAWS]; } tape;
static tape tapes[OPERATIONS][PARTS]; /* the first is the operation's own */
static tape *on;
static bool replays;

static uint64_t state_of_chance;
static uint64_t chance(void) {
    uint64_t z = state_of_chance += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int drawn(int made) {
    if (replays) return on->used < on->count ? on->draws[on->used++] : 0;
    if (on->count < MOST_DRAWS) on->draws[on->count++] = (uint8_t)made;
    return made;
}
static int below(int limit) { return drawn(replays ? 0 : (int)(chance() % (uint64_t)limit)) % limit; }
static bool in(int hundred) { return drawn(replays ? 0 : (int)(chance() % 100) < hundred) != 0; }

/* The memory of a sequence is freed with it. */
static char *arena;
static size_t arena_used;
enum { ARENA = 64 << 20 };
static void *take(size_t size) {
    void *place = arena + arena_used;
    arena_used += (size + 15) & ~(size_t)15;
    if (arena_used > ARENA) fprintf(stderr, "model: the arena is full\n"), abort();
    return memset(place, 0, size);
}
#define NEW(type) ((type *)take(sizeof(type)))

/* ---- events -------------------------------------------------------------------------------------------- */

typedef struct text { char *data; size_t length; int events; } text;
enum { MOST_TEXT = 1 << 20 };
static text expected, found;
static bool tracing, is_silent, has_failed;

static void say(text *into, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (into->length < MOST_TEXT - 4096)
        into->length += (size_t)vsnprintf(into->data + into->length, 4096, format, arguments);
    va_end(arguments);
}
/* Each side counts separately to the failing callback. */
static int fail_expected, fail_found;
static bool falls(int *counter) { return *counter > 0 && --*counter == 0; }

#endif
