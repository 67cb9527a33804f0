/* The default log: warnings and errors go to standard error, each once. It changes nothing in the process, and an
 * unread standard error neither blocks nor ends the program. */
#include "check.h"

#include <poll.h>
#include <sys/socket.h>

typedef struct { double gain; } voice;
static const invivo_property properties[] = {INVIVO_FIELD(voice, gain, .max = 1)};

/* ---- capturing ----------------------------------------------------------------------------------------- */

static int kept = -1, reading = -1;

/* Replaces standard error by `descriptor`. */
static void redirect(int descriptor) {
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    if (kept < 0 || dup2(descriptor, STDERR_FILENO) < 0) exit(2);
    close(descriptor);
}
static void capture(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) exit(2);
    reading = ends[0];
    redirect(ends[1]);
}
static void restore(void) {
    if (dup2(kept, STDERR_FILENO) < 0) exit(2);
    close(kept);
    kept = -1;
}
/* The output since `capture`. */
static const char *captured(void) {
    static char text[65536];
    size_t length = 0;
    restore();
    for (ssize_t count; (count = read(reading, text + length, sizeof(text) - 1 - length)) > 0;) length += (size_t)count;
    text[length] = 0;
    close(reading);
    reading = -1;
    return text;
}

/* ---- a runtime ------------------------------------------------------------------------------------------- */

static invivo_runtime runtime;
static listener heard;

static void start(const invivo_runtime_options *options) {
    OK(invivo_runtime_open(&runtime, options, E));
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, properties), NULL, E));
    listener_open(&heard, runtime);
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}
static invivo_runtime_options defaults(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    return options;
}
static invivo_status say(invivo_source source, const char *text) {
    invivo_error *error = NULL;
    invivo_status status = invivo_source_update(source, text, strlen(text), &error);
    invivo_error_release(error);
    return status;
}
/* Writes a file and waits for the reload. */
static void edit(const char *path, const char *text) {
    size_t count = listener_count(&heard);
    write_text(path, text);
    listener_wait(&heard, count + 1);
}

static void a_broken_edit_of_a_followed_file_is_written_once(void) {
    write_text("a.yaml", "traits: { synth.lead: [ Set: { gain: 0.5 } ] }\n");
    capture();
    start(NULL);
    OK(invivo_watch(runtime, "a.yaml", E));
    edit("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ] }\n");
    edit("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ] }\n"); /* saved again */
    edit("a.yaml", "traits: { synth.lead: [ Set: { gain: 0.25 } ] }\n");
    edit("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ] }\n"); /* invalid again */
    end();
    CHECK_TEXT(captured(), "invivo: error: a.yaml:1:38: traits.synth.lead[0].Set.gain: 2 is outside 0...1\n"
                           "generation 2 stays: a.yaml was not applied\n"
                           "invivo: error: a.yaml:1:38: traits.synth.lead[0].Set.gain: 2 is outside 0...1\n"
                           "generation 3 stays: a.yaml was not applied\n");
}

/* The same error for other bytes is another edit. */
static void another_edit_with_the_same_error_is_written_too(void) {
    write_text("a.yaml", "traits: { synth.lead: [ Set: { gain: 0.5 } ] }\n");
    capture();
    start(NULL);
    OK(invivo_watch(runtime, "a.yaml", E));
    edit("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ] }\n");
    edit("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ] }\n# a comment\n");
    end();
    CHECK_TEXT(captured(), "invivo: error: a.yaml:1:38: traits.synth.lead[0].Set.gain: 2 is outside 0...1\n"
                           "generation 2 stays: a.yaml was not applied\n"
                           "invivo: error: a.yaml:1:38: traits.synth.lead[0].Set.gain: 2 is outside 0...1\n"
                           "generation 2 stays: a.yaml was not applied\n");
}

/* An edit is logged although a call returned the same error before. */
static void an_edit_that_a_call_was_refused_before_is_written(void) {
    static const char *const text = "traits: { synth.lead: [ Set: { gain: 2 } ] }\n";
    invivo_source_options followed = {.struct_size = sizeof(followed), .path = "a.yaml"};
    invivo_runtime_options options = defaults();
    invivo_source source;
    options.quiet_ms = 200; /* until then an edit is not logged */
    write_text("a.yaml", "{}");
    capture();
    start(&options);
    OK(invivo_source_open(runtime, &followed, &source, E));
    size_t count = listener_count(&heard);
    write_text("a.yaml", text);
    invivo_status status = invivo_source_refresh(source, NULL);
    listener_wait(&heard, count + 2);
    end();
    CHECK_EQUAL(status, INVIVO_E_RANGE);
    CHECK_TEXT(captured(), "invivo: error: a.yaml:1:38: traits.synth.lead[0].Set.gain: 2 is outside 0...1\n"
                           "generation 2 stays: a.yaml was not applied\n");
}

static void a_document_that_may_come_later_is_an_error_until_it_is_good(void) {
    invivo_source_options options = {.struct_size = sizeof(options), .path = "later.yaml", .flags = INVIVO_SOURCE_WAIT};
    invivo_source source;
    write_text("later.yaml", "traits: [");
    capture();
    start(NULL);
    OK(invivo_source_open(runtime, &options, &source, E));
    end();
    const char *text = captured();
    CHECK(strstr(text, "invivo: error: later.yaml:1:") == text);
}

static void errors_of_a_call_are_not_logged(void) {
    invivo_source_options document = {.struct_size = sizeof(document), .name = "b.yaml", .text = "{}", .length = 2};
    invivo_source source;
    capture();
    start(NULL);
    OK(invivo_source_open(runtime, &document, &source, E));
    CHECK_EQUAL(say(source, "traits: ["), INVIVO_E_SYNTAX);
    CHECK_EQUAL(say(source, "traits: { synth.lead: [ Set: { gain: 0.25 } ] }"), INVIVO_OK);
    end();
    CHECK_TEXT(captured(), "");
}

/* ... and again only after it was missing. */
static void a_warning_that_holds_is_written_once(void) {
    invivo_source_options document = {.struct_size = sizeof(document), .name = "b.yaml", .text = "{}", .length = 2};
    invivo_runtime_options options = defaults();
    invivo_source source;
    options.flags = INVIVO_RUNTIME_PENDING_TARGETS;
    options.name = "studio";
    capture();
    start(&options);
    OK(invivo_source_open(runtime, &document, &source, E));
    CHECK_EQUAL(say(source, "traits:\n  synth.leda: [ Set: { gain: 1 } ]"), INVIVO_OK);
    CHECK_EQUAL(say(source, "traits:\n  synth.lead: [ Set: { gain: 1 } ]\n  synth.leda: [ Set: { gain: 1 } ]"), INVIVO_OK);
    CHECK_EQUAL(say(source, "{}"), INVIVO_OK);
    CHECK_EQUAL(say(source, "traits:\n  synth.leda: [ Set: { gain: 1 } ]"), INVIVO_OK);
    end();
    CHECK_TEXT(captured(), "studio: warning: b.yaml:2:3: no target has the key 'synth.leda' yet; its traits wait for one\n"
                           "studio: warning: b.yaml:2:3: no target has the key 'synth.leda' yet; its traits wait for one\n");
}

static void the_level_and_silence_are_the_hosts(void) {
    static const uint32_t levels[] = {INVIVO_LOG_TRACE, INVIVO_LOG_ERROR, INVIVO_LOG_SILENT};
    for (int i = 0; i < 3; i++) {
        invivo_source_options document = {.struct_size = sizeof(document), .name = "b.yaml", .text = "{}", .length = 2};
        invivo_runtime_options options = defaults();
        invivo_source source;
        options.flags = INVIVO_RUNTIME_PENDING_TARGETS;
        options.log_level = levels[i];
        write_text("a.yaml", "{}");
        capture();
        start(&options);
        OK(invivo_watch(runtime, "a.yaml", E));
        OK(invivo_source_open(runtime, &document, &source, E));
        CHECK_EQUAL(say(source, "traits:\n  synth.leda: [ Set: { gain: 1 } ]"), INVIVO_OK);
        edit("a.yaml", "traits: [");
        end();
        const char *text = captured();
        CHECK((strstr(text, "warning: ") != NULL) == (i == 0));
        CHECK((strstr(text, "error: ") != NULL) == (i < 2));
        CHECK(strstr(text, "trace: ") == NULL && strstr(text, "info: ") == NULL);
    }
}

/* ---- asynchronous failures ----------------------------------------------------------------------------- */

static invivo_job posted;
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    posted = job;
    return INVIVO_OK;
}
static void never(void *user_data, const invivo_report *report) { (void)user_data, (void)report; }
static void a_dropped_job_without_a_waiting_call_is_a_warning(void) {
    invivo_domain_options host = {.struct_size = sizeof(host), .name = "window", .post = post};
    invivo_observer_options options = {.struct_size = sizeof(options), .reloaded = never};
    invivo_observer observer;
    capture();
    start(NULL);
    OK(invivo_domain_register(runtime, &host, &options.domain, E));
    OK(invivo_observe(runtime, &options, &observer, E));
    OK(invivo_define_block(runtime, "synth.bass", INVIVO_BLOCK(voice, properties), NULL, E));
    CHECK_EQUAL(invivo_job_drop(posted), INVIVO_OK);
    end();
    CHECK_TEXT(captured(), "invivo: warning: the domain 'window' dropped a job without a waiting thread: its work is not done\n");
}

/* ---- an unread standard error -------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;
static void count_signal(int number) { (void)number, signals++; }

/* Fails reloads with the current standard error, and causes a warning on the calling thread, which accepts signals. */
static void write_something(void) {
    static const char text[] = "traits: { synth.leda: [ Set: { gain: 1 } ] }";
    invivo_source_options document = {.struct_size = sizeof(document), .name = "b.yaml", .text = text, .length = sizeof(text) - 1};
    invivo_runtime_options options = defaults();
    options.flags = INVIVO_RUNTIME_PENDING_TARGETS;
    write_text("a.yaml", "{}");
    start(&options);
    OK(invivo_watch(runtime, "a.yaml", E));
    edit("a.yaml", "traits: [");
    edit("a.yaml", "{ traits: [");
    OK(invivo_source_open(runtime, &document, NULL, E));
    end();
}
static void a_closed_pipe_or_socket_raises_no_signal(void) {
    struct sigaction counting = {.sa_handler = count_signal}, former;
    sigset_t before, after, pending;
    memset(&before, 0, sizeof(before)), memset(&after, 0, sizeof(after));
    sigaction(SIGPIPE, &counting, &former);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    for (int i = 0; i < 2; i++) {
        int ends[2];
        CHECK(i == 0 ? pipe2(ends, O_CLOEXEC) == 0 : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        close(ends[0]);
        redirect(ends[1]);
        write_something();
        restore();
    }
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    sigpending(&pending);
    sigaction(SIGPIPE, &former, NULL);
    CHECK_EQUAL(signals, 0);
    CHECK_EQUAL(memcmp(&before, &after, sizeof(before)), 0);
    CHECK(!sigismember(&pending, SIGPIPE));
}

/* Without /proc a pipe is not reopened: a write then meets the missing reader. A separate process has no /proc. */
static void a_closed_pipe_raises_no_signal_where_it_cannot_be_opened_again(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int ends[2];
        if (chroot(".") != 0) _exit(errno == EPERM ? 0 : 2); /* requires root */
        if (pipe2(ends, O_CLOEXEC) != 0) _exit(2);
        close(ends[0]);
        redirect(ends[1]);
        write_something();
        restore();
        _exit(check_failures != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
}

static void a_full_pipe_or_socket_blocks_no_thread(void) {
    for (int i = 0; i < 2; i++) {
        char byte = '.';
        int ends[2], flags;
        CHECK(i == 0 ? pipe2(ends, O_CLOEXEC) == 0 : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        flags = fcntl(ends[1], F_GETFL);
        fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
        while (write(ends[1], &byte, 1) == 1) {}
        fcntl(ends[1], F_SETFL, flags);
        redirect(ends[1]);
        write_something();
        CHECK_EQUAL(fcntl(STDERR_FILENO, F_GETFL), flags);
        restore();
        close(ends[0]);
    }
}

static void a_socket_and_a_file_are_written_to_as_well(void) {
    char text[4096] = "";
    int ends[2], file;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    redirect(ends[1]);
    write_something();
    restore();
    CHECK(read(ends[0], text, sizeof(text) - 1) > 0);
    CHECK(strstr(text, "invivo: error: a.yaml:1:") == text);
    close(ends[0]);

    file = open("log.txt", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK_EQUAL(write(file, "former\n", 7), 7);
    redirect(fcntl(file, F_DUPFD_CLOEXEC, 0));
    write_something();
    restore();
    memset(text, 0, sizeof(text));
    CHECK(pread(file, text, sizeof(text) - 1, 0) > 0);
    CHECK(strstr(text, "former\ninvivo: error: a.yaml:1:") == text);
    close(file);
}

static void a_closed_standard_error_is_left_alone(void) {
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    close(STDERR_FILENO);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC); /* cannot be written to */
    CHECK_EQUAL(null, STDERR_FILENO);
    write_something();
    restore();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_broken_edit_of_a_followed_file_is_written_once);
    RUN_TEST(another_edit_with_the_same_error_is_written_too);
    RUN_TEST(an_edit_that_a_call_was_refused_before_is_written);
    RUN_TEST(a_document_that_may_come_later_is_an_error_until_it_is_good);
    RUN_TEST(errors_of_a_call_are_not_logged);
    RUN_TEST(a_warning_that_holds_is_written_once);
    RUN_TEST(the_level_and_silence_are_the_hosts);
    RUN_TEST(a_dropped_job_without_a_waiting_call_is_a_warning);
    RUN_TEST(a_closed_pipe_or_socket_raises_no_signal);
    RUN_TEST(a_closed_pipe_raises_no_signal_where_it_cannot_be_opened_again);
    RUN_TEST(a_full_pipe_or_socket_blocks_no_thread);
    RUN_TEST(a_socket_and_a_file_are_written_to_as_well);
    RUN_TEST(a_closed_standard_error_is_left_alone);
    return check_end();
}
