/* System calls fail: the first, then the second, and so on until everything works. Each call returns, close succeeds,
 * nothing remains, and afterwards the file takes effect again. The functions below replace those of libc, for this
 * program and the library. */
#include "check.h"

#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

static int counting, count, failing, inotify = -1;
static bool for_ever;

/* Whether this call fails. */
static bool fails(void) {
    if (!__atomic_load_n(&counting, __ATOMIC_ACQUIRE)) return false;
    int number = __atomic_add_fetch(&count, 1, __ATOMIC_ACQ_REL);
    return for_ever ? number >= failing : number == failing;
}
#define FAILS_WITH(code) \
    if (fails()) { errno = code; return -1; }

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    FAILS_WITH(EMFILE)
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t pread(int file, void *to, size_t length, off_t offset) {
    FAILS_WITH(EIO)
    return syscall(SYS_pread64, file, to, length, offset);
}
ssize_t pread64(int file, void *to, size_t length, off64_t offset) {
    FAILS_WITH(EIO)
    return syscall(SYS_pread64, file, to, length, offset);
}
ssize_t read(int file, void *to, size_t length) {
    /* libuv ends the process if it cannot read its own descriptors. */
    if (file == __atomic_load_n(&inotify, __ATOMIC_ACQUIRE)) FAILS_WITH(EIO)
    return syscall(SYS_read, file, to, length);
}
int stat(const char *path, struct stat *facts) {
    FAILS_WITH(EACCES)
    return fstatat(AT_FDCWD, path, facts, 0);
}
int lstat(const char *path, struct stat *facts) {
    FAILS_WITH(EACCES)
    return fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat *facts) {
    FAILS_WITH(EIO)
    return fstatat(file, "", facts, AT_EMPTY_PATH);
}
ssize_t readlink(const char *path, char *to, size_t length) {
    FAILS_WITH(EIO)
    return syscall(SYS_readlink, path, to, length);
}
int inotify_init1(int flags) {
    FAILS_WITH(EMFILE)
    int made = (int)syscall(SYS_inotify_init1, flags);
    __atomic_store_n(&inotify, made, __ATOMIC_RELEASE);
    return made;
}
int inotify_add_watch(int file, const char *path, uint32_t mask) {
    FAILS_WITH(ENOSPC)
    return (int)syscall(SYS_inotify_add_watch, file, path, mask);
}
int epoll_create1(int flags) {
    FAILS_WITH(EMFILE)
    return (int)syscall(SYS_epoll_create1, flags);
}

typedef struct { int32_t stamp; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, stamp)};

/* Uses system calls that do not count. */
static void edit(int stamp) {
    char text[128];
    int length = snprintf(text, sizeof(text), "traits:\n  synth.lead:\n    - Set: { stamp: %d }\n", stamp);
    int file = (int)syscall(SYS_openat, AT_FDCWD, "next.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(write(file, text, (size_t)length) == length);
    close(file);
    CHECK(rename("next.yaml", "tuning.yaml") == 0);
}

static int seen(invivo_runtime runtime, invivo_key lead) {
    invivo_view view = invivo_view_begin(runtime);
    int found = ((const voice *)invivo_view_block(view, lead))->stamp;
    invivo_view_end(view);
    return found;
}

static int answered[2];
static void tally(invivo_status status) { answered[status != INVIVO_OK]++; }

/* Opens, watches, reloads, closes; returns whether a call failed. */
static bool once(int number) {
    invivo_runtime runtime = {0};
    invivo_key lead = {0};
    invivo_source source = {0};
    invivo_source_options options = {.struct_size = sizeof(options), .path = "tuning.yaml"};
    edit(1);
    failing = number;
    __atomic_store_n(&inotify, -1, __ATOMIC_RELEASE);
    __atomic_store_n(&count, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&counting, 1, __ATOMIC_RELEASE);
    invivo_status opened = invivo_runtime_open(&runtime, NULL, NULL);
    tally(opened);
    if (opened == INVIVO_OK) {
        OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, E));
        invivo_status watched = invivo_source_open(runtime, &options, &source, NULL);
        tally(watched);
        edit(2);
        if (watched == INVIVO_OK) tally(invivo_source_refresh(source, NULL));
        __atomic_store_n(&counting, 0, __ATOMIC_RELEASE);
        if (watched != INVIVO_OK) OK(invivo_source_open(runtime, &options, &source, E));
        OK(invivo_source_refresh(source, E));
        CHECK_EQUAL(seen(runtime, lead), 2);
        __atomic_store_n(&counting, 1, __ATOMIC_RELEASE);
        tally(invivo_source_close(source, NULL));
        OK(invivo_runtime_close(runtime, E));
    }
    __atomic_store_n(&counting, 0, __ATOMIC_RELEASE);
    return __atomic_load_n(&count, __ATOMIC_ACQUIRE) >= number;
}

int main(void) {
    check_begin();
    check_directory();
    for (int mode = 0; mode < 2; mode++) {
        int number = 1;
        for_ever = mode;
        answered[0] = answered[1] = 0;
        while (number < 2000 && once(number)) number++;
        printf("%s: %d faults, %d calls succeeded, %d answered an error\n", mode ? "from one call on" : "one call", number - 1,
               answered[0], answered[1]);
        CHECK(number > 20 && number < 2000);
        CHECK(answered[1] > 0);
    }
    return check_end();
}
