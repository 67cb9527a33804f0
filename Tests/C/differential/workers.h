/* workers.h: threads that run one task at a time while the main thread waits. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_WORKERS_H
#define INVIVO_TESTS_DIFFERENTIAL_WORKERS_H

#include "compare.h"

enum { WORKERS = 2 };
typedef struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*job)(void *context);
    void *context;
    bool is_there, is_ending;
} worker;
static worker workers[WORKERS];

static void *work(void *context) {
    worker *self = context;
    pthread_mutex_lock(&self->lock);
    while (!self->is_ending) {
        if (self->job) {
            self->job(self->context);
            self->job = NULL;
            pthread_cond_broadcast(&self->changed);
        }
        pthread_cond_wait(&self->changed, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}
static void on_worker(int number, void (*job)(void *context), void *context) {
    worker *self = &workers[number];
    if (!self->is_there) {
        *self = (worker){.is_there = true};
        pthread_mutex_init(&self->lock, NULL);
        pthread_cond_init(&self->changed, NULL);
        pthread_create(&self->thread, NULL, work, self);
    }
    pthread_mutex_lock(&self->lock);
    self->job = job, self->context = context;
    pthread_cond_broadcast(&self->changed);
    while (self->job) pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}
static void end_worker(int number) {
    worker *self = &workers[number];
    if (!self->is_there) return;
    pthread_mutex_lock(&self->lock);
    self->is_ending = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    self->is_there = false;
}

#endif
