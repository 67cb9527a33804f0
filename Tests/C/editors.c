/* Files saved by system calls and by real editors: each save takes effect exactly once, by content and number of
 * reports, and the file is still followed afterwards. */
#include "check.h"

#include <spawn.h>

extern char **environ;

typedef struct { int32_t stamp; double gain; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, stamp), INVIVO_FIELD(voice, gain, .initial = 1)};

static invivo_runtime runtime;
static invivo_key lead;
static listener heard;
static int stamp, fence;

static const char *document(int number) {
    static char text[256];
    snprintf(text, sizeof(text), "traits:\n  synth.lead:\n    - Set: { stamp: %d }\n# %0*d\n", number, 40, 0);
    return text;
}

static int seen(invivo_key key) {
    invivo_view view = invivo_view_begin(runtime);
    int found = ((const voice *)invivo_view_block(view, key))->stamp;
    invivo_view_end(view);
    return found;
}

static void run(const char *program, char *const arguments[]) {
    pid_t child;
    int status = -1;
    if (posix_spawnp(&child, program, NULL, NULL, arguments, environ) != 0) {
        check_failed(program, 0, "cannot be started");
        return;
    }
    waitpid(child, &status, 0);
    if (status != 0) check_failed(program, 0, "ended with %d", status);
}
#define RUN(program, ...) run(program, (char *const[]){(char *)program, __VA_ARGS__, NULL})

static bool there_is(const char *program) {
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
    return system(command) == 0;
}

/* ---- ways of saving: each leaves document(number) in tuning.yaml ------------------------------------- */

static void in_place(int number) {
    /* Without truncation: the text always has the same length. */
    const char *text = document(number);
    int file = open("tuning.yaml", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(ftruncate(file, (off_t)strlen(text)) == 0);
    close(file);
}

static void truncate_then_write_in_two_steps(int number) {
    const char *text = document(number);
    size_t half = strlen(text) / 2;
    struct timespec pause = {0, 60 * 1000 * 1000}; /* longer than the quiet time: a slow writer */
    int file = open("tuning.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    nanosleep(&pause, NULL);
    CHECK(write(file, text, half) == (ssize_t)half);
    nanosleep(&pause, NULL);
    CHECK(write(file, text + half, strlen(text) - half) > 0);
    close(file);
}

static void temporary_file_and_rename(int number) {
    write_text(".tuning.yaml.tmp", document(number));
    CHECK(rename(".tuning.yaml.tmp", "tuning.yaml") == 0);
}

static void backup_rename_create(int number) {
    CHECK(rename("tuning.yaml", "tuning.yaml~") == 0);
    write_text("tuning.yaml", document(number));
    unlink("tuning.yaml~");
}

static void delete_and_create_after_a_second(int number) {
    struct timespec second = {1, 0};
    CHECK(unlink("tuning.yaml") == 0);
    nanosleep(&second, NULL);
    write_text("tuning.yaml", document(number));
}

static void hard_link_over(int number) {
    write_text("other.yaml", document(number));
    unlink("tuning.yaml");
    CHECK(link("other.yaml", "tuning.yaml") == 0);
    unlink("other.yaml");
}

static void mapped_and_written_elsewhere(int number) {
    /* Written through another name of the same file: no event names the followed path, the scan finds it. */
    const char *text = document(number);
    CHECK(link("tuning.yaml", "../alias.yaml") == 0);
    int file = open("../alias.yaml", O_WRONLY | O_CLOEXEC);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    unlink("../alias.yaml");
}

static void directory_moved_away_and_back(int number) {
    struct timespec pause = {0, 60 * 1000 * 1000};
    CHECK(rename("../here", "../there") == 0);
    nanosleep(&pause, NULL);
    write_text("../there/tuning.yaml", document(number));
    CHECK(rename("../there", "../here") == 0);
}

static void directory_replaced(int number) {
    CHECK(mkdir("../fresh", 0755) == 0);
    write_text("../fresh/tuning.yaml", document(number));
    CHECK(rename("../here", "../gone") == 0);
    CHECK(rename("../fresh", "../here") == 0);
    CHECK(chdir("../here") == 0);
    nftw("../gone", check_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static void by_cp(int number) {
    write_text("../copy.yaml", document(number));
    RUN("cp", "../copy.yaml", "tuning.yaml");
}
static void by_mv(int number) {
    write_text("../copy.yaml", document(number));
    RUN("mv", "../copy.yaml", "tuning.yaml");
}
static void by_install(int number) {
    write_text("../copy.yaml", document(number));
    RUN("install", "-m", "644", "../copy.yaml", "tuning.yaml");
}
static void by_sed(int number) {
    char command[64];
    snprintf(command, sizeof(command), "s/stamp: [0-9]*/stamp: %d/", number);
    RUN("sed", "-i", command, "tuning.yaml");
}
static void by_vim(int number) {
    char command[64];
    snprintf(command, sizeof(command), "+%%s/stamp: [0-9]*/stamp: %d/", number);
    RUN("vim", "-u", "NONE", "-i", "NONE", "-es", command, "+wq", "tuning.yaml");
}
static void by_vim_with_backup(int number) {
    char command[64];
    snprintf(command, sizeof(command), "+%%s/stamp: [0-9]*/stamp: %d/", number);
    RUN("vim", "-u", "NONE", "-i", "NONE", "-es", "+set backup backupcopy=no", command, "+wq", "tuning.yaml");
}
static void by_git_checkout(int number) {
    char branch[32];
    snprintf(branch, sizeof(branch), "b%d", number);
    RUN("git", "checkout", "-q", branch);
}

/* ---- the same through links -------------------------------------------------------------------------- */

static void link_switched(int number) {
    char target[64];
    snprintf(target, sizeof(target), "../versions-%d.yaml", number);
    write_text(target, document(number));
    CHECK(symlink(target, ".next") == 0);
    CHECK(rename(".next", "tuning.yaml") == 0);
}
static void by_ln_sfn(int number) {
    char target[64];
    snprintf(target, sizeof(target), "../versions-%d.yaml", number);
    write_text(target, document(number));
    RUN("ln", "-sfn", target, "tuning.yaml");
}
static void link_target_written(int number) {
    char target[256];
    ssize_t length = readlink("tuning.yaml", target, sizeof(target) - 1);
    CHECK(length > 0);
    target[length > 0 ? length : 0] = 0;
    write_text(target, document(number));
}
/* Like Kubernetes with a mounted ConfigMap: tuning.yaml -> ..data/tuning.yaml, ..data -> a dated directory. */
static void data_switched(int number) {
    char directory[64], file[128], former[64] = "";
    ssize_t length = readlink("..data", former, sizeof(former) - 1);
    snprintf(directory, sizeof(directory), "..2026_%d", number);
    snprintf(file, sizeof(file), "%s/tuning.yaml", directory);
    CHECK(mkdir(directory, 0755) == 0);
    write_text(file, document(number));
    CHECK(symlink(directory, "..data_tmp") == 0);
    CHECK(rename("..data_tmp", "..data") == 0);
    if (length > 0) nftw(former, check_remove, 16, FTW_DEPTH | FTW_PHYS);
}
static void data_begun(int number) {
    unlink("tuning.yaml");
    CHECK(symlink("..data/tuning.yaml", "tuning.yaml") == 0);
    data_switched(number);
}

/* ---- the rule ---------------------------------------------------------------------------------------- */

/* Saves, waits for the report, then changes a second file: its report shows that no report of the save was pending. */
static void takes_effect_once(const char *way, void (*save)(int number)) {
    size_t before = listener_count(&heard);
    int failures = check_failures;
    char text[128];
    save(++stamp);
    if (listener_wait(&heard, before + 1)) {
        CHECK_EQUAL(heard.reports[before].status, INVIVO_OK);
        CHECK_TEXT(heard.reports[before].changes, "synth.lead.stamp tuned");
        CHECK_TEXT(heard.reports[before].cause, "tuning.yaml");
    }
    CHECK_EQUAL(seen(lead), stamp);
    snprintf(text, sizeof(text), "traits:\n  synth.lead:\n    - Set: { gain: %d }\n", ++fence);
    write_text("../fence.new", text);
    CHECK(rename("../fence.new", "../fence.yaml") == 0);
    if (listener_wait(&heard, before + 2)) {
        CHECK_EQUAL(listener_count(&heard), before + 2);
        CHECK_TEXT(heard.reports[before + 1].cause, "../fence.yaml");
        CHECK_TEXT(heard.reports[before + 1].changes, "synth.lead.gain tuned");
    }
    CHECK_EQUAL(seen(lead), stamp);
    if (check_failures > failures) {
        fprintf(stderr, "  when saved: %s\n", way);
        for (size_t i = before; i < listener_count(&heard); i++)
            fprintf(stderr, "    report: %s: %s %s\n", heard.reports[i].cause, heard.reports[i].changes, heard.reports[i].error);
    }
}
#define TAKES_EFFECT_ONCE(way) takes_effect_once(#way, way)

/* Equal bytes are no change, whatever the operation on the file. */
static void the_same_bytes_are_no_change(void) {
    size_t before = listener_count(&heard);
    char text[128];
    write_text("tuning.yaml", document(stamp));
    write_text(".tmp", document(stamp));
    CHECK(rename(".tmp", "tuning.yaml") == 0);
    snprintf(text, sizeof(text), "traits:\n  synth.lead:\n    - Set: { gain: %d }\n", ++fence);
    write_text("../fence.new", text);
    CHECK(rename("../fence.new", "../fence.yaml") == 0);
    if (listener_wait(&heard, before + 1)) CHECK_TEXT(listener_last(&heard)->changes, "synth.lead.gain tuned");
    CHECK_EQUAL(listener_count(&heard), before + 1);
}

/* During continuous saves the content is read, and the last content takes effect. */
static void endless_writes_cannot_starve_it(void) {
    size_t before = listener_count(&heard);
    struct timespec now;
    time_t limit;
    clock_gettime(CLOCK_MONOTONIC, &now);
    limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    while (listener_count(&heard) < before + 3 && now.tv_sec < limit) {
        temporary_file_and_rename(++stamp);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    CHECK(listener_count(&heard) >= before + 3);
    clock_gettime(CLOCK_MONOTONIC, &now);
    limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    for (size_t count = listener_count(&heard); seen(lead) != stamp && now.tv_sec < limit; count++) {
        listener_wait(&heard, count + 1);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    CHECK_EQUAL(seen(lead), stamp);
}

int main(void) {
    check_begin();
    check_directory();
    mkdir("here", 0755);
    CHECK(chdir("here") == 0);
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, E));
    write_text("tuning.yaml", document(0));
    write_text("../fence.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0 }\n");
    OK(invivo_watch(runtime, "tuning.yaml", E));
    OK(invivo_watch(runtime, "../fence.yaml", E));
    listener_open(&heard, runtime);

    TAKES_EFFECT_ONCE(in_place);
    TAKES_EFFECT_ONCE(truncate_then_write_in_two_steps);
    TAKES_EFFECT_ONCE(temporary_file_and_rename);
    TAKES_EFFECT_ONCE(in_place);
    TAKES_EFFECT_ONCE(backup_rename_create);
    TAKES_EFFECT_ONCE(in_place);
    TAKES_EFFECT_ONCE(delete_and_create_after_a_second);
    TAKES_EFFECT_ONCE(hard_link_over);
    TAKES_EFFECT_ONCE(mapped_and_written_elsewhere);
    TAKES_EFFECT_ONCE(directory_moved_away_and_back);
    TAKES_EFFECT_ONCE(in_place);
    TAKES_EFFECT_ONCE(directory_replaced);
    TAKES_EFFECT_ONCE(in_place);
    TAKES_EFFECT_ONCE(by_cp);
    TAKES_EFFECT_ONCE(by_mv);
    TAKES_EFFECT_ONCE(by_install);
    TAKES_EFFECT_ONCE(by_sed);
    if (there_is("vim")) {
        TAKES_EFFECT_ONCE(by_vim);
        TAKES_EFFECT_ONCE(by_vim_with_backup);
        TAKES_EFFECT_ONCE(in_place);
    }
    RUN_TEST(the_same_bytes_are_no_change);
    TAKES_EFFECT_ONCE(link_switched);
    TAKES_EFFECT_ONCE(link_target_written);
    TAKES_EFFECT_ONCE(by_ln_sfn);
    TAKES_EFFECT_ONCE(link_target_written);
    TAKES_EFFECT_ONCE(link_switched);
    TAKES_EFFECT_ONCE(data_begun);
    TAKES_EFFECT_ONCE(data_switched);
    TAKES_EFFECT_ONCE(data_switched);
    TAKES_EFFECT_ONCE(link_target_written);
    unlink("tuning.yaml");
    TAKES_EFFECT_ONCE(in_place);
    if (there_is("git")) {
        setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
        RUN("git", "init", "-q", "-b", "main");
        RUN("git", "config", "user.name", "t");
        RUN("git", "config", "user.email", "t@example.org");
        RUN("git", "add", "tuning.yaml");
        RUN("git", "commit", "-q", "-m", "now");
        char branch[32];
        for (int i = 1; i <= 2; i++) {
            /* Committed without touching the file in the work tree: first by a separate tree. */
            char file[64];
            snprintf(branch, sizeof(branch), "b%d", stamp + i);
            snprintf(file, sizeof(file), "../work%d/tuning.yaml", i);
            char tree[64];
            snprintf(tree, sizeof(tree), "../work%d", i);
            RUN("git", "worktree", "add", "-q", "-b", branch, tree);
            write_text(file, document(stamp + i));
            RUN("git", "-C", tree, "commit", "-qam", branch);
            RUN("git", "worktree", "remove", tree);
        }
        TAKES_EFFECT_ONCE(by_git_checkout);
        TAKES_EFFECT_ONCE(by_git_checkout);
        TAKES_EFFECT_ONCE(in_place);
    }
    RUN_TEST(endless_writes_cannot_starve_it);
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
    return check_end();
}
