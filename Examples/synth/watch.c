/* Counts forbidden actions of the render callback: locks, allocations, system calls. For LD_PRELOAD:
 *
 *   LD_PRELOAD=build/watch.so build/host 5
 *
 * It prints at exit: watch: <callbacks> callbacks, <n> locks, ... Locks and allocations are intercepted at the
 * functions of the C library. System calls are intercepted by the kernel (system call user dispatch, per thread, Linux
 * 5.11): a call with the selector set arrives as SIGSYS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static __thread bool inside __attribute__((tls_model("initial-exec")));
static __thread volatile char selector __attribute__((tls_model("initial-exec"))); /* 0 permits, 1 intercepts */
static __thread int prepared __attribute__((tls_model("initial-exec")));
static unsigned long callbacks, locks, allocations, system_calls;
static bool refused;

/* With SYNTH_WATCH_TRACE it also prints the location. */
static void seen(unsigned long *what) {
    void *frames[32];
    selector = 0;
    inside = false;
    __atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
    if (getenv("SYNTH_WATCH_TRACE")) backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
    inside = true;
}
static void count(unsigned long *what) {
    char before = selector;
    if (!inside) return;
    seen(what);
    selector = before;
}

/* The intercepted call is not made; the rest of this callback is permitted, so that the process continues. */
static void caught(int signal) {
    (void)signal;
    seen(&system_calls);
}

void synth_watch_enter(void) {
    if (!prepared) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = caught;
        sigaction(SIGSYS, &action, NULL);
        prepared = prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) == 0 ? 1 : -1;
        if (prepared < 0) __atomic_store_n(&refused, true, __ATOMIC_RELAXED);
    }
    __atomic_add_fetch(&callbacks, 1, __ATOMIC_RELAXED);
    inside = true;
    if (prepared > 0) selector = 1;
    if (getenv("SYNTH_WATCH_SPOIL")) { /* a self-test of each kind */
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        void *volatile memory = malloc(1);
        free(memory);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        getppid();
    }
}

void synth_watch_leave(void) {
    selector = 0;
    inside = false;
}

__attribute__((destructor)) static void tell(void) {
    if (!callbacks) return; /* another program in the same environment */
    fprintf(stderr, "watch: %lu callbacks, %lu locks, %lu allocations, %lu system calls%s\n", callbacks, locks, allocations,
            system_calls, refused ? " (not watched: the kernel cannot)" : "");
}

/* ---- allocations ------------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) { count(&allocations); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(&allocations); return __libc_calloc(number, size); }
void *realloc(void *memory, size_t size) { count(&allocations); return __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { count(&allocations); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(&allocations); return __libc_memalign(alignment, size); }
int posix_memalign(void **out, size_t alignment, size_t size) {
    count(&allocations);
    return (*out = __libc_memalign(alignment, size)) ? 0 : 12;
}
void free(void *memory) { if (memory) count(&allocations); __libc_free(memory); }

/* ---- locks ------------------------------------------------------------------------------------------- */

#define WATCHED(name, parameters, arguments)                                                                    \
    int name parameters {                                                                                       \
        static int(*real) parameters;                                                                           \
        if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                           \
        count(&locks);                                                                                          \
        return real arguments;                                                                                  \
    }
WATCHED(pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
WATCHED(pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
WATCHED(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WATCHED(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WATCHED(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
WATCHED(sem_wait, (sem_t * semaphore), (semaphore))
