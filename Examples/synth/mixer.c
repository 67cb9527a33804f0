/* The mixer: a C module with the two threads of the output.
 *
 * - The real-time thread: every 64 frames, view -> source -> effect -> slot of the ring. It never waits.
 * - The writer thread: drains the ring into FILE.wav (32-bit float) and FILE.csv, one line per buffer.
 *
 * A buffer is lost, and counted, if the ring is full; the ring holds eleven seconds. FILE.reloads.csv contains the time
 * of each reload on the clock of FILE.csv, so that the sound can be compared with the changes. */
#define _GNU_SOURCE
#include <errno.h>
#include <invivo/invivo.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stage/stage.h"

enum { SLOTS = 8192, PERIOD_NS = 1333333 };

/* Defined if a test counts the actions of the render callback: see watch.c. */
extern void synth_watch_enter(void) __attribute__((weak));
extern void synth_watch_leave(void) __attribute__((weak));

typedef struct slot {
    uint64_t buffer, generation, began_ns, late_ns, lost;
    uint64_t sum;  /* of the frames' bits, in order */
    float source;  /* peak before the effect */
    float level;   /* peak after it */
    float frames[SYNTH_FRAMES];
} slot;

typedef struct input {
    const synth_stage *stage;
    invivo_key key;
} input;

typedef struct mixer {
    char file[200];
    invivo_runtime runtime;
    input source, effect;
    slot *ring;
    uint64_t written __attribute__((aligned(64))); /* by the real-time thread */
    uint64_t drained __attribute__((aligned(64))); /* by the writer thread */
    uint64_t lost;
    bool ending, rendered, runs;
    pthread_t render_thread, writer_thread;
    FILE *wav, *journal, *reloads;
    invivo_observer observer;
} mixer;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static invivo_status failed(invivo_error **error, const char *what, const char *path, int number) {
    char text[320];
    snprintf(text, sizeof text, "%s: %s", what, strerror(number));
    if (error) *error = invivo_error_make(INVIVO_E_SYSTEM, text, path, NULL);
    return INVIVO_E_SYSTEM;
}

/* ---- the real-time thread ---------------------------------------------------------------------------- */

static float peak(const float *frames) {
    float most = 0;
    for (size_t i = 0; i < SYNTH_FRAMES; i++) most = fmaxf(most, fabsf(frames[i]));
    return most;
}

static void render(mixer *self, slot *out) {
    const void *source, *effect;
    invivo_view view = invivo_view_begin(self->runtime); /* both blocks belong to one generation */
    out->generation = invivo_view_generation(view);
    source = invivo_view_block(view, self->source.key);
    effect = invivo_view_block(view, self->effect.key);
    memset(out->frames, 0, sizeof out->frames);
    if (source) self->source.stage->render(self->source.stage->state, source, out->frames, SYNTH_FRAMES);
    out->source = peak(out->frames);
    if (effect) self->effect.stage->render(self->effect.stage->state, effect, out->frames, SYNTH_FRAMES);
    invivo_view_end(view);
    out->level = peak(out->frames);
    out->sum = 0;
    for (size_t i = 0; i < SYNTH_FRAMES; i++) {
        uint32_t bits;
        memcpy(&bits, &out->frames[i], sizeof bits);
        out->sum = out->sum * 31 + bits;
    }
}

static void *render_main(void *argument) {
    mixer *self = argument;
    uint64_t due = now_ns(), buffer = 0;
    invivo_thread_prepare(self->runtime, NULL);
    while (!__atomic_load_n(&self->ending, __ATOMIC_RELAXED)) {
        uint64_t began = now_ns();
        if (buffer - __atomic_load_n(&self->drained, __ATOMIC_ACQUIRE) >= SLOTS) {
            self->lost++;
        } else {
            slot *out = &self->ring[buffer % SLOTS];
            out->buffer = buffer, out->began_ns = began, out->lost = self->lost;
            out->late_ns = began > due ? began - due : 0;
            if (synth_watch_enter) synth_watch_enter();
            render(self, out);
            __atomic_store_n(&self->written, ++buffer, __ATOMIC_RELEASE);
            if (synth_watch_leave) synth_watch_leave();
        }
        due += PERIOD_NS;
        struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    __atomic_store_n(&self->rendered, true, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- the writer thread ------------------------------------------------------------------------------- */

static void write_header(FILE *wav, uint64_t frames) {
    struct { char riff[4]; uint32_t size; char wave[4], fmt[4]; uint32_t fmt_size; uint16_t kind, channels;
             uint32_t rate, bytes; uint16_t align, bits; char data[4]; uint32_t length; } header = {
        "RIFF", (uint32_t)(36 + frames * 4), "WAVE", "fmt ", 16, 3, 1, SYNTH_RATE, SYNTH_RATE * 4, 4, 32, "data",
        (uint32_t)(frames * 4)};
    fseek(wav, 0, SEEK_SET);
    fwrite(&header, sizeof header, 1, wav);
    fseek(wav, 0, SEEK_END);
}

static void *writer_main(void *argument) {
    mixer *self = argument;
    uint64_t done = 0;
    for (bool last = false; !last;) {
        const struct timespec pause = {0, 5000000};
        last = __atomic_load_n(&self->rendered, __ATOMIC_ACQUIRE);
        for (; done < __atomic_load_n(&self->written, __ATOMIC_ACQUIRE); done++) {
            const slot *one = &self->ring[done % SLOTS];
            fwrite(one->frames, sizeof one->frames, 1, self->wav);
            fprintf(self->journal, "%llu,%llu,%llu,%llu,%.9g,%.9g,%llu,%llu\n", (unsigned long long)one->buffer,
                    (unsigned long long)one->generation, (unsigned long long)one->began_ns,
                    (unsigned long long)one->late_ns, (double)one->source, (double)one->level,
                    (unsigned long long)one->sum, (unsigned long long)one->lost);
            __atomic_store_n(&self->drained, done + 1, __ATOMIC_RELEASE);
        }
        fflush(self->journal);
        if (!last) nanosleep(&pause, NULL);
    }
    write_header(self->wav, done * SYNTH_FRAMES);
    return NULL;
}

/* ---- callbacks ----------------------------------------------------------------------------------------- */

/* The time is taken after the reload: every later view sees it. */
static void reloaded(void *user_data, const invivo_report *report) {
    mixer *self = user_data;
    fprintf(self->reloads, "%llu,%d,%llu,%.6f\n", (unsigned long long)invivo_report_generation(report),
            (int)invivo_report_status(report), (unsigned long long)now_ns(),
            (double)invivo_report_nanoseconds(report, INVIVO_PHASE_TOTAL) / 1e6);
    fflush(self->reloads);
}

static invivo_status connect(input *out, const invivo_value *argument, invivo_error **error) {
    invivo_value stage;
    invivo_status status = invivo_object_key(argument->as.object, &out->key, error);
    if (status == INVIVO_OK) status = invivo_object_get(argument->as.object, "stage", &stage, error);
    if (status == INVIVO_OK) out->stage = (const synth_stage *)(uintptr_t)stage.as.unsigned_integer;
    return status;
}

/* Injected objects outlive the mixer: the runtime disposes of dependents first. */
static invivo_status init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error) {
    mixer *self = instance;
    invivo_status status;
    (void)count, (void)user_data;
    self->runtime = build->runtime;
    status = connect(&self->source, &arguments[0], error);
    return status ? status : connect(&self->effect, &arguments[1], error);
}

static FILE *create(const mixer *self, const char *suffix, const char *first, invivo_error **error) {
    char path[240];
    FILE *file;
    snprintf(path, sizeof path, "%s%s", self->file, suffix);
    file = fopen(path, "w");
    if (file) fputs(first, file);
    else failed(error, "the output cannot be written", path, errno);
    return file;
}

/* The real-time thread requests SCHED_FIFO, and continues without it if it is not permitted. */
static int start_thread(mixer *self) {
    pthread_attr_t attributes;
    const struct sched_param priority = {.sched_priority = 20};
    int failure;
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &priority);
    failure = pthread_create(&self->render_thread, &attributes, render_main, self);
    pthread_attr_destroy(&attributes);
    return failure ? pthread_create(&self->render_thread, NULL, render_main, self) : 0;
}

static void close_files(mixer *self) {
    if (self->wav) fclose(self->wav);
    if (self->journal) fclose(self->journal);
    if (self->reloads) fclose(self->reloads);
    self->wav = self->journal = self->reloads = NULL;
    free(self->ring);
    self->ring = NULL;
}

static invivo_status start(void *instance, void *user_data, invivo_error **error) {
    mixer *self = instance;
    const invivo_observer_options observer = {.struct_size = sizeof observer, .reloaded = reloaded, .user_data = self};
    invivo_status status = INVIVO_E_SYSTEM;
    int failure;
    (void)user_data;
    self->ring = calloc(SLOTS, sizeof *self->ring);
    if (!self->ring) return failed(error, "the ring", "", errno);
    if ((self->wav = create(self, ".wav", "", error))
        && (self->journal = create(self, ".csv", "buffer,generation,began_ns,late_ns,source,level,sum,lost\n", error))
        && (self->reloads = create(self, ".reloads.csv", "generation,status,applied_ns,total_ms\n", error)))
        status = invivo_observe(self->runtime, &observer, &self->observer, error);
    if (status) {
        close_files(self);
        return status;
    }
    write_header(self->wav, 0);
    if ((failure = start_thread(self))) {
        invivo_observer_close(self->observer, NULL);
        close_files(self);
        return failed(error, "the real-time thread", "", failure);
    }
    if ((failure = pthread_create(&self->writer_thread, NULL, writer_main, self))) {
        __atomic_store_n(&self->ending, true, __ATOMIC_RELAXED);
        pthread_join(self->render_thread, NULL);
        invivo_observer_close(self->observer, NULL);
        close_files(self);
        return failed(error, "the writer thread", "", failure);
    }
    self->runs = true;
    return INVIVO_OK;
}

static invivo_status stop(void *instance, void *user_data, invivo_error **error) {
    mixer *self = instance;
    (void)user_data, (void)error;
    if (!self->runs) return INVIVO_OK;
    self->runs = false;
    __atomic_store_n(&self->ending, true, __ATOMIC_RELAXED);
    pthread_join(self->render_thread, NULL);
    pthread_join(self->writer_thread, NULL);
    invivo_observer_close(self->observer, NULL);
    close_files(self);
    return INVIVO_OK;
}

static const invivo_parameter parameters[] = {
    {"source", INVIVO_KIND_OBJECT, 0, NULL}, {"effect", INVIVO_KIND_OBJECT, 0, NULL}};
static const invivo_property properties[] = {
    INVIVO_FLAGGED_FIELD(mixer, INVIVO_PROPERTY_RESTART, file, .initial_text = "synth",
                         .text = "where the output goes, without its suffix")};

INVIVO_MODULE(runtime, error) {
    const invivo_type_options type = {
        .struct_size = sizeof type, .name = "Mixer", .concurrency = INVIVO_CONFINED,
        .size = sizeof(mixer), .alignment = _Alignof(mixer), .init = init, .start = start, .stop = stop,
        .parameters = parameters, .parameter_count = 2, .properties = properties, .property_count = 1};
    return invivo_type_register(runtime, &type, NULL, error);
}
