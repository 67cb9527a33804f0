#define _GNU_SOURCE /* pthread_getattr_np */
#include "contexts.h"
#include "hot.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

__thread struct iv_thread iv_thread_state;
struct iv_core *iv_cores[IV_CORES];
struct iv_slot *iv_slot_chunks[IV_SLOT_CHUNKS];
struct iv_pin *iv_pin_chunks[IV_PIN_CHUNKS];
struct iv_context_slot *iv_context_chunks[IV_CONTEXT_CHUNKS];
struct iv_live iv_live;
uint64_t iv_fork_count;

const struct iv_graph *iv_no_graph(void) {
    static const struct iv_graph none;
    return &none;
}
const uint64_t *iv_version_of_forked_keys(void) {
    static const uint64_t version = 1;
    return &version;
}

static void dispose_nothing(struct iv_record *record) { (void)record; }
static void ignore(uint64_t number) { (void)number; }
static bool is_never_asked(void *engine) {
    (void)engine;
    return false;
}
struct iv_hooks iv_hooks = {dispose_nothing, ignore, ignore, is_never_asked};

static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static void (*exit_function)(struct iv_thread *);

static void run_exit(void *thread) {
    void (*function)(struct iv_thread *) = __atomic_load_n(&exit_function, __ATOMIC_ACQUIRE);
    if (function) function(thread);
}
static void make_exit_key(void) { (void)pthread_key_create(&exit_key, run_exit); }

void iv_at_thread_exit(void (*function)(struct iv_thread *)) {
    __atomic_store_n(&exit_function, function, __ATOMIC_RELEASE);
    pthread_once(&exit_once, make_exit_key);
}
void iv_thread_exit_arm(void) { (void)pthread_setspecific(exit_key, &iv_thread_state); }

/* Entries are only added, at the head: a fork unlocks the entries from the head at which it began to lock. */
static struct iv_held *first_held;
static __thread struct iv_held *held_now;

void iv_hold_across_fork(struct iv_held *held) {
    struct iv_held *next = __atomic_load_n(&first_held, __ATOMIC_RELAXED);
    do held->next = next;
    while (!__atomic_compare_exchange_n(&first_held, &next, held, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}
static void hold_all(void) {
    held_now = __atomic_load_n(&first_held, __ATOMIC_ACQUIRE);
    for (struct iv_held *held = held_now; held; held = held->next) pthread_mutex_lock(held->mutex);
}
static void let_all_go(void) {
    for (struct iv_held *held = held_now; held; held = held->next) pthread_mutex_unlock(held->mutex);
    held_now = 0;
}

static void forked(void) {
    let_all_go();
    __atomic_store_n(&iv_fork_count, iv_fork_count + 1, __ATOMIC_RELEASE);
    /* The open runtimes now belong to the parent: built objects may be read, and none is built. The thread's views stay
     * open, and memory that they read is never freed here. */
    for (uint32_t i = 0; i < IV_CORES; i++) {
        struct iv_core *core = iv_cores[i];
        if (core && core->tag) core->closing = IV_CLOSING_FORKED, core->state = IV_CORE_FORKED;
    }
    iv_thread_state.build = 0;
    iv_thread_state.engine = 0;
    iv_thread_state.around = 0;
}
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static void install_fork(void) { (void)pthread_atfork(hold_all, let_all_go, forked); }
void iv_at_fork_install(void) { pthread_once(&fork_once, install_fork); }

int iv_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result) return result;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    result = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return result;
}

/* ---- the stack --------------------------------------------------------------------------------------- */

/* Where the thread's stack ends, found out once for each thread; 1 when it cannot be. */
static __thread uintptr_t stack_end;

uint64_t iv_stack_left(void) {
    /* Not the address of a variable, which a sanitizer puts elsewhere. */
    uintptr_t place = (uintptr_t)__builtin_frame_address(0);
    if (!stack_end) {
        pthread_attr_t attributes;
        void *lowest = NULL;
        size_t size = 0;
        stack_end = 1;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &lowest, &size) == 0 && lowest) stack_end = (uintptr_t)lowest;
            pthread_attr_destroy(&attributes);
        }
    }
    return stack_end > 1 && place > stack_end ? place - stack_end : UINT64_MAX;
}

int iv_is_open_for_writing(int descriptor, int thread) {
    struct f_owner_ex nobody = {F_OWNER_PGRP, thread ? thread : iv_gettid()};
    int answer, error = errno;
    if (nobody.pid == getpid() || fcntl(descriptor, F_SETOWN_EX, &nobody) != 0) {
        errno = error;
        return 0;
    }
    answer = fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
    errno = error;
    return answer;
}

/* ---- standard error ---------------------------------------------------------------------------------- */

/* How long a message waits for a reader that takes nothing, and how much a pipe takes in one piece. */
enum { WRITE_PATIENCE_MS = 100, WRITE_PIECE = 4096 };

/* The next piece: whole lines where they fit. */
static size_t piece_of(const char *bytes, size_t length) {
    if (length <= WRITE_PIECE) return length;
    for (size_t end = WRITE_PIECE; end > 0; end--)
        if (bytes[end - 1] == '\n') return end;
    return WRITE_PIECE;
}

/* Whether the reader is gone. */
static int write_all(int descriptor, mode_t mode, const char *bytes, size_t length) {
    const uint64_t end = iv_now_ns() + WRITE_PATIENCE_MS * UINT64_C(1000000);
    while (length > 0) {
        struct pollfd room = {.fd = descriptor, .events = POLLOUT};
        uint64_t now = iv_now_ns();
        ssize_t written;
        if (!S_ISREG(mode)) {
            int ready = poll(&room, 1, now < end ? (int)((end - now + 999999) / 1000000) : 0);
            if (ready < 0 && errno == EINTR) continue;
            if (ready <= 0 || !(room.revents & POLLOUT)) return 0;
        }
        written = S_ISSOCK(mode) ? send(descriptor, bytes, piece_of(bytes, length), MSG_NOSIGNAL | MSG_DONTWAIT)
                                 : write(descriptor, bytes, piece_of(bytes, length));
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
            return written < 0 && errno == EPIPE;
        } else if (errno == EAGAIN && iv_now_ns() >= end) {
            return 0;
        }
    }
    return 0;
}

void iv_write_error(const char *bytes, size_t length) {
    int error = errno, own = -1, is_broken;
    struct stat facts;
    sigset_t broken, former, pending;
    static const struct timespec at_once = {0, 0};
    if (fstat(STDERR_FILENO, &facts) != 0) goto done;
    /* The flags of a descriptor belong to all processes that share it: a pipe is opened once more, so as not to block. */
    if (S_ISFIFO(facts.st_mode)) {
        own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (own < 0 && errno == ENXIO) goto done; /* nobody reads it */
    }
    /* If the reader closes the pipe meanwhile, SIGPIPE is raised in this thread: it is removed before it is delivered. */
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    if (pthread_sigmask(SIG_BLOCK, &broken, &former) == 0) {
        is_broken = write_all(own < 0 ? STDERR_FILENO : own, facts.st_mode, bytes, length);
        if (is_broken && !sigismember(&pending, SIGPIPE))
            while (sigtimedwait(&broken, NULL, &at_once) < 0 && errno == EINTR) {}
        pthread_sigmask(SIG_SETMASK, &former, NULL);
    }
    if (own >= 0) close(own);
done:
    errno = error;
}

/* ---- files below a directory ---------------------------------------------------------------------------- */

enum { BELOW_DEPTH = 64, BELOW_LINKS = 40, BELOW_TRIES = 8 };

struct below {
    const char *const *roots;
    size_t root_count;
    int stack[BELOW_DEPTH]; /* the directories on the way, the root first */
    int depth;
    int links;
    char root[PATH_MAX]; /* the real path of the root */
    char pending[2 * PATH_MAX];
};

static void below_leave(struct below *walk) {
    while (walk->depth > 0) close(walk->stack[--walk->depth]);
}

/* The part of `path` behind the directory; NULL if it is not below it. */
static const char *below_rest(const char *path, const char *directory) {
    size_t length = strlen(directory);
    while (length > 0 && directory[length - 1] == '/') length--;
    return strncmp(path, directory, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* Begins at the root that an absolute path is below. Returns the reason of a failure, or -1. */
static int below_begin(struct below *walk, const char *path) {
    char real[PATH_MAX];
    const char *rest = NULL;
    below_leave(walk);
    for (size_t i = 0; i < walk->root_count && !rest; i++) {
        if (!realpath(walk->roots[i], real)) {
            if (below_rest(path, walk->roots[i])) return IV_BELOW_FAILS;
            continue;
        }
        rest = below_rest(path, walk->roots[i]);
        if (!rest) rest = below_rest(path, real);
    }
    if (!rest) return IV_BELOW_OUTSIDE;
    char copy[sizeof walk->pending];
    snprintf(copy, sizeof copy, "%s", rest);
    memcpy(walk->pending, copy, sizeof copy);
    memcpy(walk->root, real, sizeof real);
    int root = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) return IV_BELOW_FAILS;
    walk->stack[walk->depth++] = root;
    return -1;
}

/* Continues at the target of a link, or at the parent of the root. */
static int below_jump(struct below *walk, const char *target, const char *rest) {
    char path[sizeof walk->pending];
    int length = snprintf(path, sizeof path, "%s%s%s", target, *rest ? "/" : "", rest);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return IV_BELOW_FAILS;
    }
    if (path[0] == '/') return below_begin(walk, path);
    memcpy(walk->pending, path, sizeof path);
    return -1;
}

/* Opens the file itself, unless its entry was replaced since it was looked at. Returns -2 then. */
static int below_open(int directory, const char *name, const struct stat *seen) {
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return errno == ELOOP || errno == ENOENT || errno == ENXIO ? -2 : -1;
    struct stat facts;
    if (fstat(file, &facts) == 0 && facts.st_dev == seen->st_dev && facts.st_ino == seen->st_ino) return file;
    close(file);
    return -2;
}

/* One attempt. Returns -2 if an entry was replaced meanwhile. */
static int below_walk(struct below *walk, const char *path, int *reason, mode_t *mode) {
    walk->links = 0;
    if ((*reason = below_begin(walk, path)) >= 0) return -1;
    for (;;) {
        char *name = walk->pending + strspn(walk->pending, "/");
        size_t length = strcspn(name, "/");
        char *rest = name + length + strspn(name + length, "/");
        bool is_last = !*rest;
        if (length == 0) { /* the root itself, or a directory that a link leads to */
            *reason = IV_BELOW_KIND;
            *mode = S_IFDIR;
            errno = EISDIR;
            return -1;
        }
        name[length] = 0;
        char tail[sizeof walk->pending];
        memcpy(tail, rest, strlen(rest) + 1);
        if (strcmp(name, ".") == 0) {
            memcpy(walk->pending, tail, strlen(tail) + 1);
            continue;
        }
        if (strcmp(name, "..") == 0) {
            if (walk->depth > 1) {
                close(walk->stack[--walk->depth]);
                memcpy(walk->pending, tail, strlen(tail) + 1);
                continue;
            }
            char *slash = strrchr(walk->root, '/');
            char parent[PATH_MAX];
            snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - walk->root) : 0, walk->root);
            if ((*reason = below_jump(walk, parent, tail)) >= 0) return -1;
            continue;
        }
        int top = walk->stack[walk->depth - 1];
        int entry = openat(top, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat facts;
        if (entry < 0 || fstat(entry, &facts) != 0) {
            int error = errno;
            if (entry >= 0) close(entry);
            errno = error;
            *reason = IV_BELOW_FAILS;
            return -1;
        }
        if (S_ISLNK(facts.st_mode)) {
            char target[PATH_MAX];
            ssize_t count = readlinkat(entry, "", target, sizeof target - 1);
            int error = errno;
            close(entry);
            errno = count < 0 ? error : ELOOP;
            *reason = IV_BELOW_FAILS;
            if (count < 0 || ++walk->links > BELOW_LINKS) return -1;
            target[count] = 0;
            if ((*reason = below_jump(walk, target, tail)) >= 0) return -1;
            continue;
        }
        if (is_last) {
            close(entry);
            if (!S_ISREG(facts.st_mode)) {
                *reason = IV_BELOW_KIND;
                *mode = facts.st_mode;
                errno = EINVAL;
                return -1;
            }
            *reason = IV_BELOW_FAILS;
            return below_open(top, name, &facts);
        }
        if (!S_ISDIR(facts.st_mode) || walk->depth == BELOW_DEPTH) {
            close(entry);
            errno = S_ISDIR(facts.st_mode) ? ENAMETOOLONG : ENOTDIR;
            *reason = IV_BELOW_FAILS;
            return -1;
        }
        walk->stack[walk->depth++] = entry;
        memcpy(walk->pending, tail, strlen(tail) + 1);
    }
}

int iv_open_below(const char *const *roots, size_t root_count, const char *path, int *reason, mode_t *mode) {
    struct below walk = {.roots = roots, .root_count = root_count};
    int file = -2;
    *mode = 0;
    for (int tries = 0; file == -2 && tries < BELOW_TRIES; tries++) {
        file = below_walk(&walk, path, reason, mode);
        int error = errno;
        below_leave(&walk);
        errno = error;
    }
    if (file == -2) errno = EAGAIN;
    return file < 0 ? -1 : file;
}
