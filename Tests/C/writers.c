/* Files that are read during a save: a file that is open for writing is not read until it is closed, and content from
 * the middle of a save is never reported. */
/* sanitize: no, its thread only writes files */
#include "check.h"

#include <sys/mman.h>

typedef struct { int32_t stamp, check; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, stamp), INVIVO_FIELD(voice, check)};

static invivo_runtime runtime;
static invivo_key lead;
static listener heard;
static int stamp, fence;

/* Of equal length for all numbers. Truncated anywhere it is invalid, or different. */
static const char *document(int number) {
    static _Thread_local char text[256];
    snprintf(text, sizeof(text), "traits:\n  synth.lead:\n    - { type: Set, stamp: %06d, check: %06d }\n# %040d\n", number + 100000,
             number + 100000, 0);
    return text;
}

static int seen(void) {
    invivo_view view = invivo_view_begin(runtime);
    const voice *found = invivo_view_block(view, lead);
    int number = found->stamp - 100000;
    CHECK_EQUAL(found->stamp, found->check);
    invivo_view_end(view);
    return number;
}

static void put(int file, const char *text, size_t from, size_t to) {
    CHECK(pwrite(file, text + from, to - from, (off_t)from) == (ssize_t)(to - from));
}

/* Another file changes: when that is reported, all earlier events have been processed. */
static void only_the_fence_is_reported(size_t before) {
    char text[128];
    snprintf(text, sizeof(text), "traits:\n  synth.fence:\n    - Set: { stamp: %d }\n", ++fence);
    write_text("fence.new", text);
    CHECK(rename("fence.new", "fence.yaml") == 0);
    if (listener_wait(&heard, before + 1)) {
        CHECK_TEXT(heard.reports[before].cause, "fence.yaml");
        CHECK_TEXT(heard.reports[before].error, "");
    }
    CHECK_EQUAL(listener_count(&heard), before + 1);
}

static void the_save_is_reported(size_t before) {
    if (listener_wait(&heard, before + 1)) {
        CHECK_TEXT(heard.reports[before].cause, "tuning.yaml");
        CHECK_TEXT(heard.reports[before].error, "");
    }
    CHECK_EQUAL(seen(), stamp);
}

static void a_file_written_in_pieces_is_read_when_it_is_closed(void) {
    size_t before = listener_count(&heard);
    const char *text = document(++stamp);
    int file = open("tuning.yaml", O_WRONLY | O_TRUNC | O_CLOEXEC);
    only_the_fence_is_reported(before);
    put(file, text, 0, 30);
    only_the_fence_is_reported(before + 1);
    put(file, text, 30, strlen(text));
    close(file);
    the_save_is_reported(before + 2);
}

static void a_file_with_two_writers_is_read_when_the_last_one_closes(void) {
    size_t before = listener_count(&heard);
    const char *text = document(++stamp);
    int first = open("tuning.yaml", O_WRONLY | O_CLOEXEC), second = open("tuning.yaml", O_WRONLY | O_CLOEXEC);
    put(second, text, 0, 30);
    CHECK(ftruncate(second, 30) == 0);
    close(first); /* a sign of an end, and not the end */
    only_the_fence_is_reported(before);
    put(second, text, 30, strlen(text));
    close(second);
    the_save_is_reported(before + 1);
}

static void a_mapped_file_is_read_when_it_is_unmapped(void) {
    size_t before = listener_count(&heard);
    const char *text = document(++stamp);
    size_t length = strlen(text);
    int file = open("tuning.yaml", O_RDWR | O_CLOEXEC);
    CHECK(ftruncate(file, (off_t)length) == 0);
    char *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    memset(mapped, '!', length);
    only_the_fence_is_reported(before);
    memcpy(mapped, text, length);
    munmap(mapped, length);
    the_save_is_reported(before + 1);
}

/* The name of the followed file gets no event. */
static void a_file_written_under_another_name_is_read_when_it_is_closed(void) {
    size_t before = listener_count(&heard);
    const char *text = document(++stamp);
    CHECK(mkdir("elsewhere", 0755) == 0 && link("tuning.yaml", "elsewhere/alias.yaml") == 0);
    int file = open("elsewhere/alias.yaml", O_WRONLY | O_CLOEXEC);
    put(file, "!", 0, 1);
    CHECK(chmod("tuning.yaml", 0600) == 0 && chmod("tuning.yaml", 0644) == 0); /* detected in the middle of the save */
    only_the_fence_is_reported(before);
    put(file, text, 0, strlen(text));
    close(file);
    the_save_is_reported(before + 1);
    CHECK(unlink("elsewhere/alias.yaml") == 0 && rmdir("elsewhere") == 0);
}

/* ---- calls that wait --------------------------------------------------------------------------------- */

static int half_written;
static void *finishes(void *began) {
    const char *text = document(stamp);
    __atomic_store_n((int *)began, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 1000; i++) sched_yield();
    put(half_written, text, 10, strlen(text));
    close(half_written);
    return NULL;
}

static void a_call_waits_for_the_writer(void) {
    invivo_source_options options = {.struct_size = sizeof(options), .path = "called.yaml"};
    invivo_source source = {0};
    pthread_t writer;
    write_text("called.yaml", document(0));
    for (int opens = 1; opens >= 0; opens--) {
        int began = 0;
        stamp++;
        half_written = open("called.yaml", O_WRONLY | O_TRUNC | O_CLOEXEC);
        put(half_written, document(stamp), 0, 10);
        pthread_create(&writer, NULL, finishes, &began);
        if (opens) {
            OK(invivo_source_open(runtime, &options, &source, E));
        } else {
            OK(invivo_source_refresh(source, E));
        }
        pthread_join(writer, NULL);
        CHECK_EQUAL(seen(), stamp);
    }
    OK(invivo_source_close(source, E));
}

/* ---- a storm ----------------------------------------------------------------------------------------- */

static void pause_a_moment(unsigned *random) {
    struct timespec moment = {0, (long)(rand_r(random) % 3000) * 1000};
    if (rand_r(random) % 4 == 0) nanosleep(&moment, NULL);
}

/* Saves in pieces, with and without truncation, by mmap, by rename. */
static void save(const char *text, unsigned *random) {
    size_t length = strlen(text), half = 1 + (size_t)rand_r(random) % (length - 1);
    int way = rand_r(random) % 4, file;
    if (way == 3) {
        write_text("tuning.new", text);
        CHECK(rename("tuning.new", "tuning.yaml") == 0);
        return;
    }
    file = open("tuning.yaml", O_RDWR | (way == 0 ? O_TRUNC : 0) | O_CLOEXEC);
    pause_a_moment(random);
    if (way == 2) {
        char *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        memset(mapped, '!', half);
        pause_a_moment(random);
        memcpy(mapped, text, length);
        munmap(mapped, length);
    } else {
        put(file, text, 0, half);
        pause_a_moment(random);
        put(file, text, half, length);
    }
    close(file);
}

static void saves_without_end_are_never_seen_half(void) {
    size_t before = listener_count(&heard);
    unsigned random = 42;
    for (int i = 0; i < 400; i++) {
        save(document(++stamp), &random);
        pause_a_moment(&random);
    }
    for (size_t count = before; seen() != stamp && listener_wait(&heard, count + 1);) count = listener_count(&heard);
    CHECK_EQUAL(seen(), stamp);
    size_t count = listener_count(&heard), failed = 0;
    for (size_t i = before; i < count; i++) {
        if (heard.reports[i].status == INVIVO_OK) continue;
        if (failed++ < 3) fprintf(stderr, "  reported: %s\n", heard.reports[i].error);
    }
    CHECK_EQUAL(failed, 0);
    printf("%d saves, %zu reports, %zu of them failures\n", 400, count - before, failed);
}

/* A file that is invalid when its writer has closed it is reported, once. */
static void a_broken_file_is_still_reported(void) {
    size_t before = listener_count(&heard);
    write_text("tuning.yaml", "traits: [");
    if (listener_wait(&heard, before + 1)) CHECK_EQUAL(heard.reports[before].status, INVIVO_E_SYNTAX);
    CHECK_EQUAL(seen(), stamp);
    write_text("tuning.yaml", document(++stamp));
    the_save_is_reported(before + 1);
}

static void with_quiet_time(uint32_t quiet) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = quiet;
    options.settle_max_ms = 20000; /* nothing is interrupted here, however slow the machine is */
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, E));
    OK(invivo_define_block(runtime, "synth.fence", INVIVO_BLOCK(voice, voice_properties), NULL, E));
    stamp = fence = 0;
    write_text("tuning.yaml", document(0));
    write_text("fence.yaml", "traits:\n  synth.fence:\n    - Set: { stamp: 0 }\n");
    OK(invivo_watch(runtime, "tuning.yaml", E));
    OK(invivo_watch(runtime, "fence.yaml", E));
    listener_open(&heard, runtime);
    if (quiet == 0) {
        /* With a quiet time, a file that is being written belongs to the burst, and the fence waits for it. */
        a_file_written_in_pieces_is_read_when_it_is_closed();
        a_file_with_two_writers_is_read_when_the_last_one_closes();
        a_mapped_file_is_read_when_it_is_unmapped();
        a_file_written_under_another_name_is_read_when_it_is_closed();
    }
    a_broken_file_is_still_reported();
    saves_without_end_are_never_seen_half();
    a_call_waits_for_the_writer();
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}

int main(void) {
    check_begin();
    check_directory();
    with_quiet_time(0);
    with_quiet_time(3);
    return check_end();
}
