/* Compares the container with a sequential model, for random definitions and operations.
 *
 * The container runs them through the public functions; the model below has no threads, generations or leases. They
 * must agree on the created objects, their order and arguments, the setters, methods and hooks, sharing, the results of
 * calls, and the disposed objects.
 *
 *   model                           the sequences of each test run
 *   model --seed N --sequences N    N sequences with consecutive seeds
 *   model ... --trace               prints all events
 *   model ... --whole               does not shorten failures
 *   model ... --on                  prints the seeds of all failures
 *
 * A failing sequence is shortened while it fails, and then printed. */
/* sanitize: no, its thread only has a larger stack */
#include "model/operations.h"

/* ---- the shortest failing sequence --------------------------------------------------------------------- */

static int tries_left;
static bool still_disagrees(void) {
    if (tries_left-- <= 0) return false;
    run(seed_of_this);
    if (!has_failed) return false;
    for (int i = 0; i < OPERATIONS; i++)
        for (int j = 0; j < PARTS; j++) if (tapes[i][j].count > tapes[i][j].used) tapes[i][j].count = tapes[i][j].used;
    return true;
}
static bool without(int from, int count, int part) {
    bool former[OPERATIONS], any = false;
    for (int i = from; i < from + count && i < OPERATIONS; i++) {
        former[i] = tapes[i][part].is_left_out;
        any |= !former[i];
        tapes[i][part].is_left_out = true;
    }
    if (!any) return false;
    static tape kept[OPERATIONS][PARTS];
    memcpy(kept, tapes, sizeof tapes);
    if (still_disagrees()) return true;
    memcpy(tapes, kept, sizeof tapes);
    for (int i = from; i < from + count && i < OPERATIONS; i++) tapes[i][part].is_left_out = former[i];
    return false;
}
static bool with_less(tape *changed, int from, int count, int by) { /* by 0: without these */
    static tape kept[OPERATIONS][PARTS];
    if (from + count > changed->count) return false;
    memcpy(kept, tapes, sizeof tapes);
    if (!by) {
        memmove(changed->draws + from, changed->draws + from + count, (size_t)(changed->count - from - count));
        changed->count -= count;
    } else {
        if (changed->draws[from] < by) return false;
        changed->draws[from] = (uint8_t)(changed->draws[from] - by);
    }
    if (still_disagrees()) return true;
    memcpy(tapes, kept, sizeof tapes);
    return false;
}
static void shrink(void) {
    bool was_tracing = tracing, is_less = true;
    tracing = false, is_silent = replays = true, tries_left = 60000;
    while (is_less && tries_left > 0) {
        is_less = false;
        for (int count = OPERATIONS / 2; count > 0; count /= 2)
            for (int i = 1; i < OPERATIONS; i += count) is_less |= without(i, count, 0);
        for (int i = 0; i < OPERATIONS; i++)
            for (int part = 1; part < PARTS && !tapes[i][0].is_left_out; part++) is_less |= tapes[i][part].used && without(i, 1, part);
        for (int i = OPERATIONS - 1; i >= 0; i--) {
            for (int part = 0; part < PARTS && !tapes[i][0].is_left_out; part++) {
                tape *changed = &tapes[i][part];
                for (int count = 32; count > 0; count /= 2)
                    for (int from = changed->count - count; from >= 0; from--) is_less |= with_less(changed, from, count, 0);
                for (int from = 0; from < changed->count; from++) {
                    is_less |= changed->draws[from] > 0 && with_less(changed, from, 1, changed->draws[from]);
                    for (int by = changed->draws[from] / 2; by > 0; by /= 2) is_less |= with_less(changed, from, 1, by);
                }
            }
        }
    }
    is_silent = false, tracing = true;
    fprintf(stderr, "seed %llu disagrees; the least of it that does (%d tries left):\n", (unsigned long long)seed_of_this, tries_left);
    run(seed_of_this);
    tracing = was_tracing, replays = false;
}

static uint64_t first_seed = 1;
static int wanted = 3000, disagreed;
static bool shrinks = true, goes_on;

/* On a stack for the longest chain that the container permits, in any build. */
static void *run_all(void *unused) {
    int done = 0, given_up = 0;
    (void)unused;
    for (; done < wanted && (!disagreed || goes_on); done++) {
        is_silent = shrinks || goes_on;
        run(first_seed + (uint64_t)done);
        is_silent = false;
        given_up += too_much;
        if (!has_failed) continue;
        disagreed++;
        if (shrinks) shrink();
        else if (goes_on) fprintf(stderr, "seed %llu disagrees\n", (unsigned long long)first_seed + (unsigned long long)done);
    }
    printf("model: %d sequences from seed %llu, %d of them cut short, %d disagree\n", done, (unsigned long long)first_seed, given_up, disagreed);
    if (given_up > 1 + done / 100) check_failed(__FILE__, __LINE__, "that many are cut short: too little is compared");
    return NULL;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc) first_seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--sequences") && i + 1 < argc) wanted = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--trace")) tracing = true, shrinks = false;
        else if (!strcmp(argv[i], "--whole")) shrinks = false;
        else if (!strcmp(argv[i], "--on")) goes_on = true, shrinks = false;
        else return fprintf(stderr, "usage: model [--seed N] [--sequences N] [--trace] [--whole] [--on]\n"), 2;
    }
    pthread_attr_t attributes;
    pthread_t thread;
    arena = malloc(ARENA), expected.data = calloc(1, MOST_TEXT), found.data = calloc(1, MOST_TEXT);
    check_begin();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)256 << 20);
    if (CHECK_EQUAL(pthread_create(&thread, &attributes, run_all, NULL), 0)) pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    free(arena), free(expected.data), free(found.data);
    return check_end() || disagreed;
}
