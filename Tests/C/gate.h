/* gate.h: a gate at which one thread waits until another one opens it. */
#ifndef INVIVO_TESTS_GATE_H
#define INVIVO_TESTS_GATE_H

#include <pthread.h>

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate; /* 0 closed, 1 a thread has arrived, 2 open */

static inline void gate_to(int state) {
    pthread_mutex_lock(&gate_lock);
    gate = state;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}
static inline void gate_await(int state) {
    pthread_mutex_lock(&gate_lock);
    while (gate < state) pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}
static inline int gate_state(void) {
    pthread_mutex_lock(&gate_lock);
    int state = gate;
    pthread_mutex_unlock(&gate_lock);
    return state;
}

#endif
