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

enum { HELD = 16 };
static pthread_mutex_t *held[HELD];
static uint32_t held_count;
static __thread uint32_t held_now;

void iv_hold_across_fork(pthread_mutex_t *mutex) {
    uint32_t index = __atomic_fetch_add(&held_count, 1, __ATOMIC_ACQ_REL);
    if (index < HELD) __atomic_store_n(&held[index], mutex, __ATOMIC_RELEASE);
}
static pthread_mutex_t *held_at(uint32_t index) { return __atomic_load_n(&held[index], __ATOMIC_ACQUIRE); }
static void hold_all(void) {
    uint32_t count = __atomic_load_n(&held_count, __ATOMIC_ACQUIRE);
    held_now = 0;
    while (held_now < count && held_now < HELD && held_at(held_now)) pthread_mutex_lock(held_at(held_now++));
}
static void let_all_go(void) {
    while (held_now > 0) pthread_mutex_unlock(held_at(--held_now));
}

static void forked(void) {
    let_all_go();
    __atomic_store_n(&iv_fork_count, iv_fork_count + 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < IV_CORES; i++) {
        struct iv_core *core = iv_cores[i];
        if (core && core->tag) core->tag = 0, core->state = IV_CORE_FORKED;
    }
    /* The child has one thread: it reads nothing of its parent's runtimes any more. */
    for (uint32_t i = 0; i < iv_thread_state.seat_count; i++) {
        iv_thread_state.seats[i].reader->depth = 0;
        iv_thread_state.seats[i].reader->epoch = 0;
    }
    iv_thread_state.chain = 0;
    iv_thread_state.engine = 0;
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
