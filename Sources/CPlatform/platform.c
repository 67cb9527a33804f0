#define _GNU_SOURCE /* pthread_getattr_np */
#include "hot.h"

__thread struct iv_thread iv_thread_state;
struct iv_core *iv_cores[IV_CORES];
struct iv_slot *iv_slot_chunks[IV_SLOT_CHUNKS];
struct iv_live iv_live;
uint64_t iv_fork_count;

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

/* Only ever added to, at the head: what a fork has locked is what it finds from the head that it began with. */
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
    /* The open runtimes are the parent's from now on: what is built may be read, and nothing is built. The thread's views
     * stay open, and nothing that they read is ever freed here. */
    for (uint32_t i = 0; i < IV_CORES; i++) {
        struct iv_core *core = iv_cores[i];
        if (core && core->tag) core->closing = IV_CLOSING_FORKED, core->state = IV_CORE_FORKED;
    }
    iv_thread_state.chain = 0;
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
