/* A live runtime after a random sequence of changes behaves like a new one with the final definitions, documents and
 * overrides.
 *
 * differential/operations.h describes the operations, differential/compare.h the comparison and the permitted
 * differences. Each sequence ends with close, after which nothing may remain.
 *
 *   differential                           the sequences of each test run
 *   differential --seed N --sequences N    N sequences with consecutive seeds
 *   differential ... --limit SECONDS       the time after which a sequence is treated as hanging; default 60
 *   differential ... --children            each in its own process, so that crashes and hangs are shortened too
 *   differential ... --trace               prints all operations
 *   differential ... --whole               does not shorten failures
 *   differential ... --on                  continues after a failure and prints all failing seeds
 *
 * A failing sequence is shortened while it fails in the same way, each attempt in a child process. */
/* sanitize: yes */
#include "differential/operations.h"

#include <sys/mman.h>

enum { SHRINK_SECONDS = 60, HANGS = 100, CRASHES = 101 };

static uint64_t first_seed = 1;
static int wanted = 1000, failed, limit_seconds = 60;
static bool shrinks = true, goes_on, in_child, is_shrinking;

/* ---- the shortest failing sequence --------------------------------------------------------------------- */

static int outcome(int seconds) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)seconds);
        run(seed_of_sequence);
        _exit(failure);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return AGREES;
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? HANGS : CRASHES;
    return WEXITSTATUS(status);
}
static time_t shrink_end;
static bool still_fails(int how) { return time(NULL) < shrink_end && outcome(how == HANGS ? 3 : 6) == how; }

static void shrink(int how) {
    bool is_less = true;
    is_replay = is_silent = is_shrinking = true, is_tracing = false;
    shrink_end = time(NULL) + SHRINK_SECONDS;
    while (is_less && time(NULL) < shrink_end) {
        is_less = false;
        for (int size = OPERATIONS / 2; size > 0; size /= 2)
            for (int from = 1; from < OPERATIONS; from += size) {
                bool former[OPERATIONS], any = false;
                for (int i = from; i < from + size && i < OPERATIONS; i++) former[i] = tapes[i].is_left_out, any |= !former[i], tapes[i].is_left_out = true;
                if (any && still_fails(how)) is_less = true;
                else for (int i = from; i < from + size && i < OPERATIONS; i++) tapes[i].is_left_out = former[i];
            }
        for (int i = 0; i < OPERATIONS; i++) {
            tape *tape = &tapes[i];
            if (tape->is_left_out) continue;
            for (int size = MOST_DRAWS / 2; size > 0; size /= 2)
                while (tape->count > size && (tape->count -= size, !still_fails(how) ? (tape->count += size, false) : true)) is_less = true;
            for (int j = 0; j < tape->count; j++) {
                uint8_t former = tape->draws[j];
                if (!former) continue;
                tape->draws[j] = 0;
                if (still_fails(how)) is_less = true;
                else tape->draws[j] = former;
            }
        }
    }
    is_tracing = true, is_silent = false;
    fprintf(stderr, "differential: the shortest that fails of seed %llu:\n", (unsigned long long)seed_of_sequence);
    outcome(10);
    is_tracing = is_replay = is_shrinking = false;
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

static uint64_t beats;
/* A hanging sequence is reported and ends the program. */
static void *watch(void *unused) {
    uint64_t known = 0;
    int seconds = 0;
    (void)unused;
    for (;;) {
        sleep(1);
        uint64_t beat = __atomic_load_n(&beats, __ATOMIC_SEQ_CST);
        seconds = beat == known && !in_child && !is_shrinking ? seconds + 1 : 0, known = beat;
        if (seconds < limit_seconds) continue;
        fprintf(stderr, "differential: seed %llu has not ended after %d s\n", (unsigned long long)seed_of_sequence, limit_seconds);
        _exit(3);
    }
}
static void raise_again(int signal_number) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}
static void crashed(int signal_number) {
    char text[96];
    if (is_silent) raise_again(signal_number);
    int length = snprintf(text, sizeof text, "differential: seed %llu ends with signal %d\n", (unsigned long long)seed_of_sequence, signal_number);
    if (write(2, text, (size_t)length) < 0) {}
    raise_again(signal_number);
}

int main(int argc, char **argv) {
    pthread_t watcher;
    int done = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc) first_seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--sequences") && i + 1 < argc) wanted = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--limit") && i + 1 < argc) limit_seconds = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--children")) in_child = true;
        else if (!strcmp(argv[i], "--trace")) is_tracing = true, shrinks = false;
        else if (!strcmp(argv[i], "--whole")) shrinks = false;
        else if (!strcmp(argv[i], "--on")) goes_on = true, shrinks = false;
        else return fprintf(stderr, "usage: differential [--seed N] [--sequences N] [--limit SECONDS] [--children] [--trace] [--whole] [--on]\n"), 2;
    }
    main_thread = pthread_self();
    /* The random choices of a child are known here. */
    tapes = mmap(NULL, sizeof(tape) * OPERATIONS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tapes == MAP_FAILED) return perror("mmap"), 2;
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_detach(watcher);
    check_begin();
    for (int i = 0; i < 5; i++) signal((int[]){SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT}[i], crashed);
    for (; done < wanted && (!failed || goes_on); done++) {
        is_silent = shrinks;
        if (in_child) {
            seed_of_sequence = first_seed + (uint64_t)done;
            int how = outcome(limit_seconds);
            __atomic_add_fetch(&beats, 1, __ATOMIC_SEQ_CST);
            failed += how != 0;
            if (how) fprintf(stderr, "differential: seed %llu fails (%d)\n", (unsigned long long)seed_of_sequence, how);
            if (how && shrinks) shrink(how);
            continue;
        }
        run(first_seed + (uint64_t)done);
        is_silent = false;
        __atomic_add_fetch(&beats, 1, __ATOMIC_SEQ_CST);
        if (!failure) continue;
        failed++;
        if (shrinks) shrink(failure);
    }
    printf("differential: %d sequences from seed %llu, %d fail\n", done, (unsigned long long)first_seed, failed);
    return check_end() || failed;
}
