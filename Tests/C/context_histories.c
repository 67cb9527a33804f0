/* Recorded histories of threads over a chain of contexts are linearizable: all operations of a round have one order that respects
 * their times and a sequential model of the chain.
 *
 *   context_histories                          the default run
 *   context_histories --seed N --rounds N      N rounds with consecutive seeds
 *
 * Eight threads read and change a chain of three contexts. Each operation takes a number from one counter before and after it. A
 * checker then searches an order (Wing and Gong, with memory of the states that it has seen). Timers make threads pause at
 * random points inside the functions of the library, while others go on. If there is no order, the program prints the seed and the history. */
/* sanitize: yes */
#include "check.h"
#include <time.h>
#include <ucontext.h>

enum { THREADS = 8, LEVELS = 3, KEYS = 3, OPERATIONS = 8, NOTHING = 0, HIDDEN = 1, FIRST_VALUE = 2 };
static const char *const names[KEYS] = {"k0", "k1", "k2"};

/* ---- the sequential model --------------------------------------------------------------------------------- */

typedef enum { GET, GET_LOCAL, BORROW, SET, REMOVE, HIDE, CHANGE, ENTRIES, ENTRIES_LOCAL, END } what;
static const char *const what_names[] = {"get", "get_local", "borrow", "set", "remove", "hide", "change", "entries", "entries_local", "end"};

typedef struct outcome {
    int16_t status;
    uint16_t values[KEYS];  /* found values; of a get: the first one */
    uint16_t distances[KEYS];
} outcome;
typedef struct operation {
    uint64_t begin, end;
    what what;
    int level, key;
    int changes[KEYS];      /* of CHANGE: INVIVO_VALUE_... or -1 */
    uint16_t values[KEYS];  /* of SET and CHANGE */
    outcome outcome;
} operation;
typedef struct chain { uint16_t content[LEVELS][KEYS], ended; } chain; /* level 0 is the root */

static outcome looked_up(const chain *state, int level, int key) {
    if (state->ended & 1 << level) return (outcome){.status = INVIVO_E_STALE};
    for (int at = level; at >= 0; at--) {
        if (state->ended & 1 << at) return (outcome){.status = INVIVO_E_ORPHANED};
        if (state->content[at][key] == HIDDEN) break;
        if (state->content[at][key] != NOTHING) return (outcome){.values = {state->content[at][key]}};
    }
    return (outcome){.status = INVIVO_E_NOT_FOUND};
}
static outcome listed(const chain *state, int level, bool is_local) {
    outcome found = {0};
    bool seen[KEYS] = {false};
    if (state->ended & 1 << level) return (outcome){.status = INVIVO_E_STALE};
    for (int at = level; at >= (is_local ? level : 0); at--) {
        if (state->ended & 1 << at) return (outcome){.status = INVIVO_E_ORPHANED};
        for (int key = 0; key < KEYS; key++) {
            uint16_t content = state->content[at][key];
            if (content == NOTHING || seen[key]) continue;
            seen[key] = true;
            if (content != HIDDEN) found.values[key] = content, found.distances[key] = (uint16_t)(level - at);
        }
    }
    return found;
}
static outcome changed(chain *state, int level, const int *changes, const uint16_t *values) {
    if (state->ended & 1 << level) return (outcome){.status = INVIVO_E_STALE};
    for (int key = 0; key < KEYS; key++)
        if (changes[key] == INVIVO_VALUE_REMOVE && state->content[level][key] == NOTHING) return (outcome){.status = INVIVO_E_NOT_FOUND};
    for (int key = 0; key < KEYS; key++)
        if (changes[key] >= 0)
            state->content[level][key] = changes[key] == INVIVO_VALUE_SET ? values[key] : changes[key] == INVIVO_VALUE_HIDE ? HIDDEN : NOTHING;
    return (outcome){0};
}
/* The outcome that an operation has in a state, which it changes. */
static outcome applied(chain *state, const operation *operation) {
    int changes[KEYS] = {-1, -1, -1};
    outcome local;
    switch (operation->what) {
    case GET: return looked_up(state, operation->level, operation->key);
    case BORROW:
        local = looked_up(state, operation->level, operation->key);
        return local.status ? (outcome){.status = INVIVO_E_NOT_FOUND} : local; /* NULL has no reason */
    case GET_LOCAL:
        local = listed(state, operation->level, true);
        if (local.status) return local;
        if (!local.values[operation->key]) return (outcome){.status = INVIVO_E_NOT_FOUND};
        return (outcome){.values = {local.values[operation->key]}};
    case SET: changes[operation->key] = INVIVO_VALUE_SET; return changed(state, operation->level, changes, operation->values);
    case REMOVE: changes[operation->key] = INVIVO_VALUE_REMOVE; return changed(state, operation->level, changes, operation->values);
    case HIDE: changes[operation->key] = INVIVO_VALUE_HIDE; return changed(state, operation->level, changes, operation->values);
    case CHANGE: return changed(state, operation->level, operation->changes, operation->values);
    case ENTRIES: return listed(state, operation->level, false);
    case ENTRIES_LOCAL: return listed(state, operation->level, true);
    case END: state->ended |= (uint16_t)(1 << operation->level); return (outcome){0};
    }
    return (outcome){.status = INVIVO_E_INTERNAL};
}
static bool is_same(outcome one, outcome other) { return memcmp(&one, &other, sizeof one) == 0; }

/* ---- the checker ------------------------------------------------------------------------------------------ */

typedef struct history { operation operations[THREADS][OPERATIONS]; int counts[THREADS]; } history;
typedef struct position { uint8_t done[THREADS]; chain state; } position;

/* The positions from which no order was found. Entries of former rounds have another stamp. */
enum { SEEN = 1 << 20 };
static struct { uint32_t stamp; position position; } *seen;
static uint32_t stamp, seen_count;
static uint64_t examined;

/* Whether a position is new. */
static bool note_position(const position *at) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof *at; i++) hash = (hash ^ ((const uint8_t *)at)[i]) * 0x100000001b3;
    for (size_t index = hash >> 20;; index++) {
        index &= SEEN - 1;
        if (seen[index].stamp != stamp) {
            if (++seen_count > SEEN / 2) check_failed(__FILE__, __LINE__, "the history has too many positions to be checked"), exit(1);
            seen[index].stamp = stamp, seen[index].position = *at;
            return true;
        }
        if (memcmp(&seen[index].position, at, sizeof *at) == 0) return false;
    }
}
static bool continues(const history *history, position at) {
    uint64_t first_end = UINT64_MAX;
    bool is_over = true;
    examined++;
    for (int t = 0; t < THREADS; t++) {
        if (at.done[t] == history->counts[t]) continue;
        is_over = false;
        if (history->operations[t][at.done[t]].end < first_end) first_end = history->operations[t][at.done[t]].end;
    }
    if (is_over) return true;
    if (!note_position(&at)) return false;
    for (int t = 0; t < THREADS; t++) {
        if (at.done[t] == history->counts[t]) continue;
        const operation *next = &history->operations[t][at.done[t]];
        if (next->begin > first_end) continue; /* another one was over before it began */
        position after = at;
        if (!is_same(applied(&after.state, next), next->outcome)) continue;
        after.done[t]++;
        if (continues(history, after)) return true;
    }
    return false;
}
static bool is_linearizable(const history *history, const chain *start) {
    position at;
    if (!seen) seen = calloc(SEEN, sizeof *seen);
    memset(&at, 0, sizeof at);
    at.state = *start;
    stamp++, seen_count = 0;
    return continues(history, at);
}

static void print_outcome(const operation *operation) {
    const outcome *outcome = &operation->outcome;
    if (outcome->status) fprintf(stderr, " -> %s", invivo_status_name(outcome->status));
    else if (operation->what == GET || operation->what == GET_LOCAL || operation->what == BORROW) fprintf(stderr, " -> %d", outcome->values[0]);
    else if (operation->what == ENTRIES || operation->what == ENTRIES_LOCAL)
        for (int key = 0; key < KEYS; key++)
            if (outcome->values[key]) fprintf(stderr, " %s=%d/%d", names[key], outcome->values[key], outcome->distances[key]);
}
static int by_begin(const void *one, const void *other) {
    const operation *a = *(operation *const *)one, *b = *(operation *const *)other;
    return (a->begin > b->begin) - (a->begin < b->begin);
}
static void print_history(history *history, const chain *start) {
    operation *all[THREADS * OPERATIONS];
    int count = 0;
    for (int level = 0; level < LEVELS; level++)
        for (int key = 0; key < KEYS; key++)
            if (start->content[level][key]) fprintf(stderr, "  at first: level %d: %s = %d\n", level, names[key], start->content[level][key]);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < history->counts[t]; i++) all[count++] = &history->operations[t][i];
    qsort(all, (size_t)count, sizeof *all, by_begin);
    for (int i = 0; i < count; i++) {
        const operation *o = all[i];
        fprintf(stderr, "  %4llu..%-4llu thread %d: level %d: %s", (unsigned long long)o->begin, (unsigned long long)o->end,
                (int)((o - history->operations[0]) / OPERATIONS), o->level, what_names[o->what]);
        if (o->what == CHANGE) {
            for (int key = 0; key < KEYS; key++)
                if (o->changes[key] >= 0)
                    fprintf(stderr, " %s:%s%d", names[key], o->changes[key] == INVIVO_VALUE_SET ? "set " : o->changes[key] == INVIVO_VALUE_REMOVE ? "remove " : "hide ", o->values[key]);
        } else if (o->what < ENTRIES) {
            fprintf(stderr, " %s", names[o->key]);
            if (o->what == SET) fprintf(stderr, " = %d", o->values[o->key]);
        }
        print_outcome(o);
        fprintf(stderr, "\n");
    }
}

/* ---- the checker is right ---------------------------------------------------------------------------------- */

static operation op(uint64_t begin, uint64_t end, what what, int level, int key, uint16_t value, int status) {
    operation made = {.begin = begin, .end = end, .what = what, .level = level, .key = key, .outcome.status = (int16_t)status};
    if (what == SET) made.values[key] = value;
    else made.outcome.values[0] = value;
    return made;
}
static void add(history *history, int thread, operation operation) { history->operations[thread][history->counts[thread]++] = operation; }

static void the_checker_refuses_wrong_histories(void) {
    const chain empty = {0};
    /* child.k = 5, then parent.k = 7: a read of the child that began before may not return 7. */
    for (int read = 0; read < 4; read++) {
        history h = {0};
        add(&h, 0, op(2, 3, SET, 1, 0, 5, 0));
        add(&h, 0, op(4, 5, SET, 0, 0, 7, 0));
        static const uint16_t values[] = {7, 5, 0, 6};
        add(&h, 1, op(1, 6, GET, 1, 0, values[read], values[read] ? 0 : INVIVO_E_NOT_FOUND));
        CHECK_EQUAL(is_linearizable(&h, &empty), read == 1 || read == 2);
    }
    /* Two keys change at once: k0 new and then k1 old is wrong, k0 old and then k1 new is right. */
    for (int read = 0; read < 4; read++) {
        history h = {0};
        operation change = {.begin = 1, .end = 8, .what = CHANGE, .level = 0, .changes = {INVIVO_VALUE_SET, INVIVO_VALUE_SET, -1}, .values = {5, 6, 0}};
        add(&h, 0, change);
        add(&h, 1, op(2, 3, GET, 2, 0, read & 1 ? 5 : 0, read & 1 ? 0 : INVIVO_E_NOT_FOUND));
        add(&h, 1, op(4, 5, GET, 2, 1, read & 2 ? 6 : 0, read & 2 ? 0 : INVIVO_E_NOT_FOUND));
        CHECK_EQUAL(is_linearizable(&h, &empty), read != 1);
    }
    /* A thread sees its own changes; another one sees them once the call has returned. */
    for (int thread = 0; thread < 2; thread++) {
        history h = {0};
        add(&h, 0, op(1, 2, SET, 1, 0, 5, 0));
        add(&h, thread, op(3, 4, GET, 1, 0, 0, INVIVO_E_NOT_FOUND));
        CHECK(!is_linearizable(&h, &empty));
    }
    /* New values do not become old ones again, also for two readers. */
    for (int second = 5; second < 7; second++) {
        history h = {0};
        add(&h, 0, op(1, 2, SET, 0, 0, 5, 0));
        add(&h, 0, op(3, 9, SET, 0, 0, 6, 0));
        add(&h, 1, op(4, 5, GET, 2, 0, 6, 0));
        add(&h, 2, op(6, 7, GET, 1, 0, (uint16_t)second, 0));
        CHECK_EQUAL(is_linearizable(&h, &empty), second == 6);
    }
    /* The end of the middle: an orphan does not find the root again, and its own values stay. */
    for (int last = 0; last < 2; last++) {
        history h = {0};
        add(&h, 0, op(1, 2, SET, 0, 0, 5, 0));
        add(&h, 0, op(3, 10, END, 1, 0, 0, 0));
        add(&h, 1, op(4, 5, GET, 2, 0, 0, INVIVO_E_ORPHANED));
        if (last == 0) add(&h, 2, op(6, 7, GET, 2, 0, 5, 0));
        else add(&h, 2, op(6, 7, GET, 1, 0, 0, INVIVO_E_STALE)), add(&h, 2, op(8, 9, SET, 2, 0, 9, 0)), add(&h, 1, op(11, 12, GET, 2, 0, 9, 0));
        CHECK_EQUAL(is_linearizable(&h, &empty), last == 1);
    }
    /* An enumeration has values of one instant, with their origins. */
    for (int distance = 0; distance < 3; distance++) {
        history h = {0};
        add(&h, 0, op(1, 2, SET, 0, 0, 5, 0));
        add(&h, 0, op(3, 4, SET, 0, 1, 6, 0));
        add(&h, 0, op(5, 6, REMOVE, 0, 0, 0, 0));
        operation entries = {.begin = 0, .end = 9, .what = ENTRIES, .level = 2, .outcome = {.values = {5, 6, 0}, .distances = {2, (uint16_t)distance, 0}}};
        add(&h, 1, entries);
        CHECK_EQUAL(is_linearizable(&h, &empty), distance == 2);
        h.operations[1][0].outcome.values[1] = 0, h.operations[1][0].outcome.distances[1] = 0;
        CHECK(is_linearizable(&h, &empty));
        h.operations[1][0].begin = 7;
        CHECK(!is_linearizable(&h, &empty));
    }
}

/* ---- rounds ------------------------------------------------------------------------------------------------ */

static invivo_runtime runtime;
static invivo_key keys[KEYS];
static invivo_context contexts[LEVELS];
static history recorded;
static uint64_t clock_of_round, round_seed;
static int next_value, kinds_of_work;
static pthread_barrier_t gate; /* before and after each round */
static bool is_over;
static uint64_t overlaps;

static uint64_t chance(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int below(uint64_t *state, int limit) { return (int)(chance(state) % (uint64_t)limit); }

/* Odd values are strings, which have memory of their own. */
typedef struct text { char text[32]; } text;
static invivo_value value_of(uint16_t number, text *text) {
    if (number % 2 == 0) return invivo_int64(number);
    snprintf(text->text, sizeof text->text, "a string of %d", number);
    return invivo_string(text->text);
}
static uint16_t number_of(const invivo_value *value) {
    int number = -1, length = 0;
    if (value->kind == INVIVO_KIND_INT64) return (uint16_t)value->as.signed_integer;
    if (value->kind == INVIVO_KIND_STRING && sscanf(value->as.string.data, "a string of %d%n", &number, &length) == 1 && length == (int)value->as.string.length)
        return (uint16_t)number;
    check_failed(__FILE__, __LINE__, "a value of kind %d was never set", (int)value->kind);
    return 0;
}

static outcome found(invivo_status status, invivo_value *value) {
    outcome result = {.status = (int16_t)status};
    if (status == INVIVO_OK) result.values[0] = number_of(value), invivo_value_clear(value);
    return result;
}
static outcome enumerated(invivo_context context, bool is_local) {
    invivo_value list;
    outcome result = {.status = (int16_t)invivo_context_entries(context, is_local, &list, NULL)};
    if (result.status) return result;
    for (size_t i = 0; i < list.as.list.count; i++) {
        const invivo_value *entry = list.as.list.items[i].as.list.items;
        int key = entry[0].as.string.data[1] - '0';
        if (key < 0 || key >= KEYS || result.values[key]) check_failed(__FILE__, __LINE__, "the key '%s' is listed", entry[0].as.string.data);
        else result.values[key] = number_of(&entry[1]), result.distances[key] = (uint16_t)entry[2].as.unsigned_integer;
    }
    invivo_value_clear(&list);
    return result;
}
static uint16_t new_value(void) { return (uint16_t)(FIRST_VALUE + __atomic_fetch_add(&next_value, 1, __ATOMIC_RELAXED)); }

typedef struct borrowing { invivo_view view; const invivo_value *value; uint16_t number; } borrowing;

/* ---- pauses within operations ---- */

static __thread uint64_t pauses;
static __thread timer_t timer;

/* Lets other threads perform a few operations, if they can. */
static void pause_here(int signal) {
    int error = errno;
    uint64_t until = __atomic_load_n(&clock_of_round, __ATOMIC_RELAXED) + 2 + pauses++ % 12;
    (void)signal;
    for (int i = 0; i < 12 && __atomic_load_n(&clock_of_round, __ATOMIC_RELAXED) < until; i++) sched_yield();
    errno = error;
}
static void pauses_after(long nanoseconds) {
    timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = nanoseconds}, NULL);
}
#if defined(__x86_64__)
/* A read is shorter than the latency of a timer: the processor traps after each instruction, until the count is over. */
static __thread int steps_left;
static void after_instruction(int signal, siginfo_t *facts, void *state) {
    (void)signal, (void)facts;
    if (--steps_left > 0) return;
    ((ucontext_t *)state)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x100;
    if (steps_left == 0) pause_here(SIGTRAP);
}
static void steps(int count) {
    steps_left = count;
    if (count) __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::: "memory", "cc");
}
static void begin_steps(void) {
    struct sigaction action = {.sa_sigaction = after_instruction, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGTRAP, &action, NULL);
}
#else
static void steps(int count) { (void)count; }
static void begin_steps(void) {}
#endif
static void begin_pauses(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = gettid();
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
}

static void perform(operation *o, uint64_t *random, borrowing *borrowing) {
    text texts[KEYS];
    invivo_context context = contexts[o->level];
    invivo_value value;
    size_t count = 0;
    invivo_context_change changes[KEYS];
    if (o->what == SET) o->values[o->key] = new_value(), value = value_of(o->values[o->key], texts);
    for (int key = 0; key < KEYS && o->what == CHANGE; key++) {
        o->changes[key] = below(random, 6) - 2;
        if (o->changes[key] > INVIVO_VALUE_HIDE) o->changes[key] = INVIVO_VALUE_SET;
        if (o->changes[key] < 0) { o->changes[key] = -1; continue; }
        changes[count] = (invivo_context_change){.key = keys[key], .what = (uint32_t)o->changes[key]};
        if (o->changes[key] == INVIVO_VALUE_SET) o->values[key] = new_value(), changes[count].value = value_of(o->values[key], &texts[key]);
        count++;
    }
    if (o->what == CHANGE && count == 0) o->what = HIDE; /* changes of nothing succeed in ended contexts too */
    if (o->what == BORROW && !borrowing->view.reader) borrowing->view = invivo_view_begin(runtime);
    bool is_read = o->what <= BORROW;
    int count_of_steps = is_read && below(random, 8) == 0 ? 1 + below(random, 64 << below(random, 7)) : 0;
    long delay = !is_read && below(random, 2) ? 1 + below(random, 250 << below(random, 8)) : 0;
    o->begin = __atomic_fetch_add(&clock_of_round, 1, __ATOMIC_SEQ_CST);
    if (delay) pauses_after(delay);
    if (count_of_steps) steps(count_of_steps);
    switch (o->what) {
    case GET: o->outcome = found(invivo_context_get(context, keys[o->key], &value, NULL), &value); break;
    case GET_LOCAL: o->outcome = found(invivo_context_get_local(context, keys[o->key], &value, NULL), &value); break;
    case BORROW: {
        const invivo_value *borrowed = invivo_view_context_value(borrowing->view, context, keys[o->key]);
        o->outcome = borrowed ? (outcome){.values = {number_of(borrowed)}} : (outcome){.status = INVIVO_E_NOT_FOUND};
        if (borrowed) borrowing->value = borrowed, borrowing->number = o->outcome.values[0];
        break;
    }
    case SET: o->outcome.status = (int16_t)invivo_context_set(context, keys[o->key], &value, NULL); break;
    case REMOVE: o->outcome.status = (int16_t)invivo_context_remove(context, keys[o->key], NULL); break;
    case HIDE: o->outcome.status = (int16_t)invivo_context_hide(context, keys[o->key], NULL); break;
    case CHANGE: o->outcome.status = (int16_t)invivo_context_change_values(context, changes, count, NULL); break;
    case ENTRIES: o->outcome = enumerated(context, false); break;
    case ENTRIES_LOCAL: o->outcome = enumerated(context, true); break;
    case END: o->outcome.status = (int16_t)invivo_context_end(context, NULL); break;
    }
    if (count_of_steps) steps(0); /* the next trap is the last one, and no pause */
    if (delay) pauses_after(0);
    o->end = __atomic_fetch_add(&clock_of_round, 1, __ATOMIC_SEQ_CST);
}

static void run_thread(int thread) {
    uint64_t random = round_seed * THREADS + (uint64_t)thread;
    borrowing borrowing = {0};
    /* Most rounds have few kinds of operations: then the same ones meet often. */
    static const what mixes[4][8] = {{GET, GET, GET, BORROW, SET, SET, CHANGE, CHANGE}, {GET, GET, SET, SET, CHANGE, CHANGE, GET_LOCAL, ENTRIES},
                                     {GET, GET, SET, HIDE, REMOVE, END, BORROW, ENTRIES}, {GET, BORROW, CHANGE, HIDE, REMOVE, SET, ENTRIES, ENTRIES_LOCAL}};
    for (int i = 0; i < OPERATIONS; i++) {
        operation *o = &recorded.operations[thread][i];
        memset(o, 0, sizeof *o);
        o->what = mixes[kinds_of_work][below(&random, 8)];
        o->level = o->what <= BORROW || o->what == ENTRIES ? LEVELS - 1 - below(&random, 5) / 2 : below(&random, LEVELS);
        o->key = below(&random, kinds_of_work == 1 ? KEYS : 2);
        if (kinds_of_work == 0) {
            /* Few contents, so that each order of two changes is seen: the middle and the root change, the leaf is read. */
            o->level = o->what <= BORROW ? LEVELS - 1 : below(&random, 2);
            if (o->what <= BORROW && below(&random, 3) == 0) o->level = 0;
            if (o->what == SET) o->key = 0;
        }
        if (o->what == END && below(&random, 3)) o->what = SET;
        if (o->what == END) o->level = 1;
        perform(o, &random, &borrowing);
        recorded.counts[thread] = i + 1;
        if (borrowing.view.reader && below(&random, 3) == 0) {
            if (borrowing.value) CHECK_EQUAL(number_of(borrowing.value), borrowing.number);
            invivo_view_end(borrowing.view);
            borrowing = (struct borrowing){0};
        }
    }
    if (borrowing.value) CHECK_EQUAL(number_of(borrowing.value), borrowing.number);
    if (borrowing.view.reader) invivo_view_end(borrowing.view);
}

/* A thread that stops inside of a sanitizer may hold its locks. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__x86_64__) && !defined(SANITIZED)
/* A get that another thread interrupts after each number of instructions: the child and then the root change meanwhile. */
static int interrupted; /* 1: the reader waits, 2: go on, 3: over */
static __thread int wanted_steps;
static void interrupt_here(int signal, siginfo_t *facts, void *state) {
    (void)signal, (void)facts;
    if (--wanted_steps > 0) return;
    ((ucontext_t *)state)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x100;
    if (wanted_steps < 0) return;
    __atomic_store_n(&interrupted, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&interrupted, __ATOMIC_ACQUIRE) != 2) sched_yield();
}
static int64_t read_number;
static int needed_steps;
static void *read_interrupted(void *count) {
    invivo_value value;
    wanted_steps = *(int *)count;
    steps(1);
    invivo_status status = invivo_context_get(contexts[2], keys[0], &value, NULL);
    needed_steps = *(int *)count - wanted_steps;
    wanted_steps = 0;
    read_number = status == INVIVO_OK ? value.as.signed_integer : -status;
    __atomic_store_n(&interrupted, 3, __ATOMIC_RELEASE);
    return NULL;
}
static void a_get_that_is_interrupted_anywhere_reads_one_instant(void) {
    struct sigaction action = {.sa_sigaction = interrupt_here, .sa_flags = SA_SIGINFO | SA_RESTART};
    int interruptions = 0, before = 0;
    sigaction(SIGTRAP, &action, NULL);
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_key_intern(runtime, names[0], &keys[0], E));
    for (int level = 0; level < LEVELS; level++)
        OK(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options),
                                                                  .parent = level ? contexts[level - 1] : (invivo_context){0}}, &contexts[level], E));
    invivo_value first = invivo_int64(10), second = invivo_int64(20), third = invivo_int64(30);
    /* A get has so many instructions (the first one of the process has more), and searches near its end. */
    int all = 1 << 30;
    for (int round = 0, count = all; round < 3 || count < all; round++) {
        pthread_t reader;
        OK(invivo_context_set(contexts[0], keys[0], &first, E));
        if (round) OK(invivo_context_remove(contexts[1], keys[0], E));
        __atomic_store_n(&interrupted, 0, __ATOMIC_RELEASE);
        pthread_create(&reader, NULL, read_interrupted, &count);
        int state;
        while ((state = __atomic_load_n(&interrupted, __ATOMIC_ACQUIRE)) == 0) sched_yield();
        OK(invivo_context_set(contexts[1], keys[0], &second, E));
        OK(invivo_context_set(contexts[0], keys[0], &third, E));
        if (state == 1) __atomic_store_n(&interrupted, 2, __ATOMIC_RELEASE), interruptions++;
        pthread_join(reader, NULL);
        if (round == 1) all = needed_steps, count = 1;
        if (read_number != 10 && read_number != 20) check_failed(__FILE__, __LINE__, "after %d instructions: the get reads %d", count, (int)read_number);
        before += read_number == 10;
        if (round > 1) count += count < all - 700 ? 211 : 3;
    }
    CHECK(before > 0);
    printf("context_histories: a get was interrupted at %d points; after %d of them it read the value from before\n", interruptions, before);
    for (int level = LEVELS; level-- > 0;) OK(invivo_context_end(contexts[level], E));
    OK(invivo_runtime_close(runtime, E));
}
#else
static void a_get_that_is_interrupted_anywhere_reads_one_instant(void) {}
#endif

static void *work(void *number) {
    begin_pauses();
    for (;;) {
        pthread_barrier_wait(&gate);
        if (is_over) break;
        run_thread((int)(intptr_t)number);
        pthread_barrier_wait(&gate);
    }
    timer_delete(timer);
    return NULL;
}
static void a_round(uint64_t seed, int round) {
    uint64_t random = seed * 7919;
    chain start;
    memset(&start, 0, sizeof start);
    round_seed = seed, kinds_of_work = below(&random, 6) % 4 * (seed % 2), next_value = 0, clock_of_round = 0;
    for (int level = 0; level < LEVELS; level++) {
        invivo_context_value values[KEYS];
        text texts[KEYS];
        invivo_context_options options = {.struct_size = sizeof options, .values = values};
        if (level) options.parent = contexts[level - 1];
        for (int key = 0; key < KEYS; key++) {
            if (below(&random, 3) || (kinds_of_work == 0 && level)) continue;
            start.content[level][key] = new_value();
            values[options.value_count++] = (invivo_context_value){.key = keys[key], .value = value_of(start.content[level][key], &texts[key])};
        }
        OK(invivo_context_open(runtime, &options, &contexts[level], E));
    }
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < OPERATIONS; i++)
            overlaps += recorded.operations[t][i].end != recorded.operations[t][i].begin + 1;
    if (!is_linearizable(&recorded, &start)) {
        check_failed(__FILE__, __LINE__, "round %d: the history has no order: --seed %llu", round, (unsigned long long)seed);
        print_history(&recorded, &start);
    }
    for (int level = LEVELS; level-- > 0;) OK(invivo_context_end(contexts[level], E));
}

static void histories_have_an_order(uint64_t seed, int rounds) {
    struct sigaction action = {.sa_handler = pause_here, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS];
    int round = 0;
    sigaction(SIGUSR1, &action, NULL);
    begin_steps();
    OK(invivo_runtime_open(&runtime, NULL, E));
    for (int key = 0; key < KEYS; key++) OK(invivo_key_intern(runtime, names[key], &keys[key], E));
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (; round < rounds && !check_failures; round++) a_round(seed + (uint64_t)round, round);
    is_over = true;
    pthread_barrier_wait(&gate);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&gate);
    OK(invivo_runtime_close(runtime, E));
    printf("context_histories: %d rounds of %d operations; %.0f of 100 operations met another one; %.0f positions a round\n", round,
           THREADS * OPERATIONS, 100.0 * (double)overlaps / round / THREADS / OPERATIONS, (double)examined / round);
}

/* ---- several keys ------------------------------------------------------------------------------------------ */

enum { PAIRS = 100000 };
static struct { invivo_runtime runtime; invivo_context context; invivo_key keys[2]; int is_over; } pair;

static int64_t number_under(int key) {
    invivo_value value = invivo_null();
    CHECK_EQUAL(invivo_context_get(pair.context, pair.keys[key], &value, NULL), INVIVO_OK);
    return value.as.signed_integer;
}
static void *change_both(void *unused) {
    (void)unused;
    for (int64_t i = 1; !__atomic_load_n(&pair.is_over, __ATOMIC_RELAXED); i++) {
        invivo_context_change changes[] = {{.key = pair.keys[0], .value = invivo_int64(i)}, {.key = pair.keys[1], .value = invivo_int64(i)}};
        CHECK_EQUAL(invivo_context_change_values(pair.context, changes, 2, NULL), INVIVO_OK);
    }
    return NULL;
}
/* Both keys always have one number, which grows: whoever has seen it under one key finds no smaller one under the other. */
static void keys_that_change_together_are_never_seen_apart(void) {
    pthread_t writer;
    invivo_context parent;
    memset(&pair, 0, sizeof pair);
    OK(invivo_runtime_open(&pair.runtime, NULL, E));
    for (int i = 0; i < 2; i++) OK(invivo_key_intern(pair.runtime, names[i], &pair.keys[i], E));
    OK(invivo_context_open(pair.runtime, NULL, &parent, E));
    invivo_context_value values[] = {{.key = pair.keys[0], .value = invivo_int64(0)}, {.key = pair.keys[1], .value = invivo_int64(0)}};
    OK(invivo_context_open(pair.runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = parent,
                                                                   .values = values, .value_count = 2}, &pair.context, E));
    pthread_create(&writer, NULL, change_both, NULL);
    int apart = 0;
    for (int i = 0; i < PAIRS; i++) {
        int first = i & 1;
        int64_t seen = number_under(first);
        apart += number_under(!first) < seen;
    }
    __atomic_store_n(&pair.is_over, 1, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    CHECK_EQUAL(apart, 0);
    OK(invivo_context_end(pair.context, E));
    OK(invivo_context_end(parent, E));
    OK(invivo_runtime_close(pair.runtime, E));
}

int main(int count, char **arguments) {
    uint64_t seed = 1;
    int rounds = 200;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--seed") && i + 1 < count) seed = strtoull(arguments[++i], NULL, 10);
        else if (!strcmp(arguments[i], "--rounds") && i + 1 < count) rounds = atoi(arguments[++i]);
        else return fprintf(stderr, "usage: context_histories [--seed N] [--rounds N]\n"), 2;
    }
    check_begin();
    RUN_TEST(the_checker_refuses_wrong_histories);
    RUN_TEST(a_get_that_is_interrupted_anywhere_reads_one_instant);
    RUN_TEST(keys_that_change_together_are_never_seen_apart);
    RUN_TEST_WITH(histories_have_an_order, seed, rounds);
    free(seen);
    return check_end();
}
