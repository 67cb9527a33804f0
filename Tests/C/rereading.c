/* A file that changes while it is read is read again: a document is never a mix of two versions. The function below
 * replaces that of libc, for this program and the library. */
#include "check.h"

#include <sys/syscall.h>

/* The contents of the file after the next reads, each once, with the modification time set explicitly. */
static const char *next_texts[8];
static int next, reads;
static time_t changed_at, passes = 1;

static void put(const char *text, time_t when) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, "a.yaml", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = when}};
    CHECK(syscall(SYS_write, file, text, strlen(text)) == (long)strlen(text));
    if (when) CHECK(futimens(file, times) == 0);
    syscall(SYS_close, file);
}
static ssize_t read_at(int file, void *to, size_t length, off_t offset) {
    ssize_t got = syscall(SYS_pread64, file, to, length, offset);
    reads++;
    if (next_texts[next]) put(next_texts[next], changed_at ? changed_at += passes : 0), next++;
    return got;
}
ssize_t pread(int file, void *to, size_t length, off_t offset) { return read_at(file, to, length, offset); }
ssize_t pread64(int file, void *to, size_t length, off64_t offset) { return read_at(file, to, length, offset); }

/* The number in the document when it has been opened; nothing else reads the file then. */
static int64_t opened(const char *text, const char *const *changes, time_t when) {
    invivo_runtime runtime;
    invivo_runtime_options options;
    invivo_value value = {0};
    invivo_runtime_options_init(&options);
    options.quiet_ms = options.settle_max_ms = 600000;
    memset(next_texts, 0, sizeof(next_texts));
    next = reads = 0;
    changed_at = when;
    put(text, when);
    for (int i = 0; changes[i]; i++) next_texts[i] = changes[i];
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_watch(runtime, "a.yaml", E));
    OK(invivo_config_read(runtime, "a.number", &value, E));
    int64_t number = value.kind == INVIVO_KIND_INT64 ? value.as.signed_integer : -1;
    invivo_value_clear(&value);
    OK(invivo_runtime_close(runtime, E));
    CHECK(!next_texts[next]);
    return number;
}

#define SAYS(number) "config: { a: { number: " #number " } }\n"

int main(void) {
    check_directory();
    check_begin();
    CHECK_EQUAL(opened(SAYS(1), (const char *[]){NULL}, 0), 1);
    /* Longer, shorter, and of equal length with another time. */
    CHECK_EQUAL(opened(SAYS(1), (const char *[]){SAYS(20), NULL}, 0), 20);
    CHECK_EQUAL(opened(SAYS(20), (const char *[]){SAYS(3), NULL}, 0), 3);
    CHECK_EQUAL(opened(SAYS(1), (const char *[]){SAYS(4), NULL}, 1000000000), 4);
    /* Within one tick of the file system's clock. */
    passes = 0;
    CHECK_EQUAL(opened(SAYS(1), (const char *[]){SAYS(50), NULL}, 1000000000), 50);
    CHECK_EQUAL(opened(SAYS(60), (const char *[]){SAYS(7), NULL}, 1000000000), 7);
    CHECK_EQUAL(opened(SAYS(1), (const char *[]){SAYS(20), SAYS(300), NULL}, 0), 300);
    return check_end();
}
