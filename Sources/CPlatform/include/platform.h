/* platform.h: C shims for what Swift cannot express: thread-local state, atomics, barriers, a few system calls.
 * Static inline shims, no logic. */
#ifndef INVIVO_PLATFORM_H
#define INVIVO_PLATFORM_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- atomics ----------------------------------------------------------------------------------------- */

static inline uint64_t iv_load_u64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline uint64_t iv_load_relaxed_u64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void iv_store_u64(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void iv_store_relaxed_u64(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline uint64_t iv_or_u64(uint64_t *p, uint64_t v) { return __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL); }
static inline uint64_t iv_and_u64(uint64_t *p, uint64_t v) { return __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL); }
static inline uint64_t iv_add_u64(uint64_t *p, uint64_t v) { return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL); }
static inline uint64_t iv_sub_u64(uint64_t *p, uint64_t v) { return __atomic_fetch_sub(p, v, __ATOMIC_ACQ_REL); }
static inline bool iv_cas_u64(uint64_t *p, uint64_t *expected, uint64_t desired) {
    return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline uint32_t iv_load_u32(const uint32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void iv_store_u32(uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void *iv_load_pointer(void *const *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
/* Stores `v` if the pointer is NULL; returns the pointer's value afterwards. */
static inline void *iv_settle_pointer(void **p, void *v) {
    void *there = NULL;
    return __atomic_compare_exchange_n(p, &there, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? v : there;
}
static inline void iv_store_pointer(void **p, void *v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
/* Stores `v` if the pointer is NULL; returns the value that another thread stored first, or NULL. */
static inline void *iv_store_first(void **p, void *v) {
    void *found = 0;
    return __atomic_compare_exchange_n(p, &found, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? 0 : found;
}
static inline bool iv_same_bytes(const void *a, const void *b, size_t n) { return memcmp(a, b, n) == 0; }
static inline void iv_compiler_barrier(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/* Bytes left of the calling thread's stack; plenty where that cannot be found out. */
uint64_t iv_stack_left(void);

/* ---- membarrier -------------------------------------------------------------------------------------- */

static inline int iv_membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }
static inline int iv_membarrier_register(void) { return iv_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }
static inline int iv_membarrier_all(void) { return iv_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

/* ---- threads, time ----------------------------------------------------------------------------------- */

static inline int iv_gettid(void) { return (int)syscall(SYS_gettid); }
/* A GNU extension, declared by hand: with _GNU_SOURCE some structs of libc differ from those that Swift sees. */
extern int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *mask);
static inline int iv_attr_set_mask(pthread_attr_t *attributes, const sigset_t *mask) {
    return pthread_attr_setsigmask_np(attributes, mask);
}
/* Names the calling thread; at most 15 bytes are kept. */
static inline void iv_name_thread(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline uint64_t iv_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
/* The same clock, exact to a tick of the kernel (1 to 10 ms), and read in a fraction of the time. */
/* The environment of the process. The caller makes sure that no other thread changes it. */
static inline char *const *iv_environment(void) {
    extern char **environ;
    return environ;
}

static inline uint64_t iv_coarse_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static inline uint64_t iv_wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static inline int iv_open(const char *path, int flags) { return open(path, flags, 0); }
/* The reason for which iv_open_below refuses a path, if it is not the error of a system call. */
enum { IV_BELOW_FAILS, IV_BELOW_OUTSIDE, IV_BELOW_KIND };
/* Opens a regular file for reading, and follows no symbolic link out of the directories `roots`. `path` is absolute, without '.' and
 * '..', and begins with one of the roots, which are absolute. Each component is opened without following links, from the descriptor of
 * its directory. Returns the descriptor, or -1 with errno and `reason`; for IV_BELOW_KIND, `mode` is that of the file. */
int iv_open_below(const char *const *roots, size_t root_count, const char *path, int *reason, mode_t *mode);
/* Whether somebody has the file of a read-only descriptor open for writing, or mapped so. 0 also where that cannot be found out: the
 * file is another user's, its file system has no leases, `thread` is 0 and the caller is the process's first thread. The lease that
 * answers the question stays until the descriptor is closed: close it soon, for a writer that comes meanwhile waits for that.
 * The kernel would signal the lease's owner then; the owner is a process group of a number that no group can have, the number of
 * `thread` (0: the caller), which is not the first of its process. So no signal is ever sent. */
int iv_is_open_for_writing(int descriptor, int thread);
/* Writes to the process's standard error, without its stream: nothing of stdio changes. Never raises SIGPIPE, and waits for at most
 * 0.1 s for a reader that takes nothing; what could not be written then is dropped. errno stays as it is. */
void iv_write_error(const char *bytes, size_t length);
static inline int iv_open_create(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

#endif
