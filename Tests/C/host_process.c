/* The library changes no signal handler or mask, working directory, umask, locale, environment or stdio. A forked child
 * reads its parent's runtime, gets errors instead of deadlocks, and may open its own runtime. Exit without close does
 * not hang. */
/* sanitize: no, a sanitizer does not survive its forks */
#include "check.h"

#include <locale.h>

extern char **environ;

typedef struct { int32_t stamp; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, stamp)};

static volatile sig_atomic_t children, pipes;
static void child_ended(int number) { (void)number, children++; }
static void pipe_broken(int number) { (void)number, pipes++; }

typedef struct {
    struct sigaction actions[65];
    sigset_t mask;
    char directory[4096], locale[256];
    mode_t umask;
    char **environment;
    size_t variables;
    int stdio_flags[3];
    struct stat stdio[3];
    int nice;
} state;

static void remember(state *now) {
    memset(now, 0, sizeof(*now));
    for (int number = 1; number < 65; number++) sigaction(number, NULL, &now->actions[number]);
    pthread_sigmask(SIG_BLOCK, NULL, &now->mask);
    CHECK(getcwd(now->directory, sizeof(now->directory)) != NULL);
    snprintf(now->locale, sizeof(now->locale), "%s", setlocale(LC_ALL, NULL));
    now->umask = umask(0);
    umask(now->umask);
    now->environment = environ;
    while (environ[now->variables]) now->variables++;
    for (int i = 0; i < 3; i++) {
        now->stdio_flags[i] = fcntl(i, F_GETFL);
        fstat(i, &now->stdio[i]);
    }
}

static void compare(const state *before) {
    state now;
    remember(&now);
    for (int number = 1; number < 65; number++) {
        bool same = before->actions[number].sa_handler == now.actions[number].sa_handler &&
                    before->actions[number].sa_flags == now.actions[number].sa_flags;
        if (!same) check_failed(__FILE__, __LINE__, "the handler of signal %d is another", number);
        if (sigismember(&before->mask, number) != sigismember(&now.mask, number))
            check_failed(__FILE__, __LINE__, "signal %d is masked otherwise", number);
    }
    CHECK_TEXT(now.directory, before->directory);
    CHECK_TEXT(now.locale, before->locale);
    CHECK_EQUAL(now.umask, before->umask);
    CHECK(now.environment == before->environment);
    CHECK_EQUAL(now.variables, before->variables);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(now.stdio_flags[i], before->stdio_flags[i]);
        CHECK(now.stdio[i].st_ino == before->stdio[i].st_ino && now.stdio[i].st_dev == before->stdio[i].st_dev);
    }
}

static invivo_key lead;
static void stamp_file(int number) {
    char text[128];
    snprintf(text, sizeof(text), "traits:\n  synth.lead:\n    - Set: { stamp: %d }\n", number);
    write_text("next", text);
    CHECK(rename("next", "a.yaml") == 0);
}
static invivo_runtime open_and_watch(listener *heard) {
    invivo_runtime runtime;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, E));
    stamp_file(1);
    OK(invivo_watch(runtime, "a.yaml", E));
    listener_open(heard, runtime);
    return runtime;
}
static int stamp(invivo_runtime runtime) {
    invivo_view view = invivo_view_begin(runtime);
    const voice *now = invivo_view_block(view, lead);
    int number = now ? now->stamp : -1;
    invivo_view_end(view);
    return number;
}

static void nothing_of_the_process_is_changed(void) {
    state before;
    listener *heard = malloc(sizeof(*heard));
    struct sigaction on_child = {.sa_handler = child_ended, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    struct sigaction on_pipe = {.sa_handler = pipe_broken};
    sigset_t blocked;
    sigaction(SIGCHLD, &on_child, NULL);
    sigaction(SIGPIPE, &on_pipe, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    umask(027);
    setlocale(LC_ALL, "C.UTF-8");
    remember(&before);
    invivo_runtime runtime = open_and_watch(heard);
    compare(&before);
    stamp_file(2);
    listener_wait(heard, 1);
    CHECK_EQUAL(stamp(runtime), 2);
    compare(&before);
    write_text("next", "traits: [\n");
    CHECK(rename("next", "a.yaml") == 0);
    listener_wait(heard, 2);
    compare(&before);
    /* The host's handlers keep working while threads of the runtime run. */
    pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    CHECK_EQUAL(children, 1);
    int ends[2];
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
    close(ends[1]);
    CHECK_EQUAL(pipes, 1);
    OK(invivo_runtime_close(runtime, E));
    compare(&before);
    listener_end(heard);
    free(heard);
}

/* Signals to the process are never delivered to a thread of the runtime. */
static volatile pthread_t signalled; /* kill is a leaf function for the compiler: it would treat the handler as uncalled */
static void note_thread(int number) {
    (void)number;
    signalled = pthread_self();
}
static void signals_go_to_threads_of_the_host(void) {
    listener *heard = malloc(sizeof(*heard));
    struct sigaction on_signal = {.sa_handler = note_thread};
    sigaction(SIGUSR1, &on_signal, NULL);
    invivo_runtime runtime = open_and_watch(heard);
    for (int i = 0; i < 100; i++) {
        signalled = 0;
        kill(getpid(), SIGUSR1);
        CHECK(pthread_equal(signalled, pthread_self()));
    }
    OK(invivo_runtime_close(runtime, E));
    listener_end(heard);
    free(heard);
}

/* Threads of the runtime never block faults, and block all other signals. */
static pthread_t main_thread;
static pthread_barrier_t both;
static int threads_seen, faults_held_back, signals_let_in;
static void look_at_the_mask(void) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (pthread_equal(pthread_self(), main_thread)) return;
    __atomic_add_fetch(&threads_seen, 1, __ATOMIC_SEQ_CST);
    if (sigismember(&mask, SIGSEGV) || sigismember(&mask, SIGABRT)) __atomic_add_fetch(&faults_held_back, 1, __ATOMIC_SEQ_CST);
    if (!sigismember(&mask, SIGINT) || !sigismember(&mask, SIGUSR1)) __atomic_add_fetch(&signals_let_in, 1, __ATOMIC_SEQ_CST);
}
static invivo_status part_init(void *self, const invivo_build *build, const invivo_value *given, size_t count, void *data,
                               invivo_error **error) {
    (void)self, (void)build, (void)given, (void)count, (void)data, (void)error;
    look_at_the_mask();
    return INVIVO_OK;
}
static invivo_status part_start(void *instance, void *data, invivo_error **error) {
    (void)instance, (void)data, (void)error;
    look_at_the_mask();
    pthread_barrier_wait(&both);
    return INVIVO_OK;
}
static void part_resolved(void *data, invivo_object object, const invivo_error *error) {
    (void)error;
    invivo_object_release(object);
    pthread_barrier_wait(data);
}
static void faults_on_threads_of_the_runtime_are_the_hosts(void) {
    invivo_runtime runtime;
    invivo_key lazy;
    pthread_barrier_t done;
    invivo_type_options type = {.struct_size = sizeof(type), .name = "Part", .size = 8, .alignment = 8, .concurrency = INVIVO_SHARED,
                                .init = part_init};
    invivo_type_options started = type;
    started.name = "Started", started.start = part_start;
    main_thread = pthread_self();
    pthread_barrier_init(&both, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &type, NULL, E));
    OK(invivo_type_register(runtime, &started, NULL, E));
    const invivo_definition table[] = {INVIVO_SINGLETON("one", "Started"), INVIVO_SINGLETON("two", "Started"),
                                       INVIVO_LAZY_SINGLETON("lazy", "Part")};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("parts", table, .flags = 0);
    OK(invivo_activate(runtime, &(const invivo_assembly *){&assembly}, 1, NULL, E));
    OK(invivo_key_find(runtime, "parts.lazy", &lazy, E));
    OK(invivo_resolve_async(runtime, lazy, NULL, 0, part_resolved, &done, (invivo_domain){0}, E));
    pthread_barrier_wait(&done);
    CHECK(threads_seen >= 2);
    CHECK_EQUAL(faults_held_back, 0);
    CHECK_EQUAL(signals_let_in, 0);
    OK(invivo_runtime_close(runtime, E));
    pthread_barrier_destroy(&both);
    pthread_barrier_destroy(&done);
}

/* Handles of one runtime that lead to locked state without the runtime's own handle. */
typedef struct {
    invivo_source file, memory;
    invivo_changes changes;
    invivo_observer observer;
    invivo_object object;
} handles;
static void take_handles(handles *all, invivo_runtime runtime, const listener *heard) {
    invivo_source_options file = {.struct_size = sizeof(file), .path = "c.yaml"};
    invivo_source_options memory = {.struct_size = sizeof(memory), .name = "memory.yaml", .text = "{}", .length = 2};
    write_text("c.yaml", "{}");
    OK(invivo_source_open(runtime, &file, &all->file, E));
    OK(invivo_source_open(runtime, &memory, &all->memory, E));
    OK(invivo_changes_open(runtime, &all->changes, E));
    OK(invivo_resolve_name(runtime, "synth.lead", &all->object, E));
    all->observer = heard->observer;
}
static void give_handles(const handles *all) {
    invivo_changes_discard(all->changes);
    OK(invivo_object_release(all->object));
}
/* In a child: 0, or the number of the call that did not return INVIVO_E_FORKED. */
static int refused_to_a_child(const handles *all, invivo_runtime parents) {
    invivo_value value = invivo_int64(7);
    invivo_object object = all->object;
#define FORKED(number, call) if ((call) != INVIVO_E_FORKED) return number
    FORKED(21, invivo_source_refresh(all->file, NULL));
    FORKED(22, invivo_source_update(all->memory, "{}", 2, NULL));
    FORKED(23, invivo_source_close(all->file, NULL));
    FORKED(24, invivo_changes_document(all->changes, "b.yaml", "{}", 2, NULL));
    FORKED(25, invivo_changes_commit(all->changes, NULL));
    FORKED(26, invivo_changes_submit(all->changes, NULL));
    FORKED(27, invivo_observer_close(all->observer, NULL));
    FORKED(28, invivo_object_set(object, "stamp", &value, NULL));
    FORKED(29, invivo_object_get(object, "stamp", &value, NULL));
    FORKED(30, invivo_watch(parents, "a.yaml", NULL));
    if (invivo_resolve_name(parents, "synth.lead", &object, NULL) != INVIVO_OK || invivo_object_release(object) != INVIVO_OK) return 31;
    FORKED(32, invivo_runtime_poll(parents, 0, NULL, NULL));
#undef FORKED
    invivo_changes_discard(all->changes);
    if (invivo_object_retain(all->object) != INVIVO_OK || invivo_object_release(all->object) != INVIVO_OK) return 33;
    return invivo_object_release(all->object) == INVIVO_OK ? 0 : 34;
}

/* The actions of a child; its exit status is the number of the failing check. */
static int child_of(invivo_runtime parents) {
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    invivo_object object;
    invivo_changes changes;
    alarm(CHECK_LIMIT_SECONDS);
    if (stamp(parents) != 1) return 1; /* the state at the fork */
    if (invivo_runtime_inspect(parents, &info, NULL) != INVIVO_E_FORKED) return 2;
    if (invivo_resolve_name(parents, "synth.lead", &object, NULL) != INVIVO_E_FORKED) return 3;
    if (invivo_changes_open(parents, &changes, NULL) != INVIVO_E_FORKED) return 4;
    if (invivo_watch(parents, "a.yaml", NULL) != INVIVO_E_FORKED) return 5;
    if (invivo_runtime_close(parents, NULL) != INVIVO_OK || stamp(parents) != 1) return 6;
    listener *heard = calloc(1, sizeof(*heard));
    check_failures = 0;
    invivo_runtime own = open_and_watch(heard);
    if (stamp(own) != 1) return 7;
    stamp_file(5);
    if (!listener_wait(heard, 1) || stamp(own) != 5) return 8;
    if (invivo_runtime_close(own, NULL) != INVIVO_OK) return 9;
    listener_end(heard);
    return check_failures ? 10 : 0;
}

static void a_forked_child_gets_errors_and_may_open_a_runtime(void) {
    listener *heard = malloc(sizeof(*heard));
    invivo_runtime runtime = open_and_watch(heard);
    int status = -1;
    pid_t child;
    mkdir("child", 0755);
    child = fork();
    if (child == 0) {
        if (chdir("child") != 0) _exit(99);
        _exit(child_of(runtime));
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) check_failed(__FILE__, __LINE__, "the child ended with status %d, signal %d", WEXITSTATUS(status), WTERMSIG(status));
    /* The parent continues. */
    stamp_file(3);
    listener_wait(heard, 1);
    CHECK_EQUAL(stamp(runtime), 3);
    /* A child with an open view, too. */
    invivo_view view = invivo_view_begin(runtime);
    child = fork();
    if (child == 0) {
        alarm(CHECK_LIMIT_SECONDS);
        _exit(((const voice *)invivo_view_block(invivo_view_begin(runtime), lead))->stamp == 3 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    invivo_view_end(view);
    OK(invivo_runtime_close(runtime, E));
    listener_end(heard);
    free(heard);
}

/* Forks at any moment of other threads' work: the child may open its own runtime whatever was locked. */
static bool stop;
static void *work_on(void *user_data) {
    invivo_runtime runtime = *(invivo_runtime *)user_data;
    for (int number = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); number++) {
        char text[96];
        invivo_changes changes;
        invivo_runtime second;
        int length = snprintf(text, sizeof(text), "traits: { synth.lead: [ Set: { stamp: %d } ] }", number);
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_document(changes, "b.yaml", text, (uint64_t)length, E));
        OK(invivo_changes_commit(changes, E));
        if (OK(invivo_runtime_open(&second, NULL, E))) OK(invivo_runtime_close(second, E));
    }
    return NULL;
}
static void forks_at_any_moment(void) {
    listener *heard = malloc(sizeof(*heard));
    invivo_runtime runtime = open_and_watch(heard);
    pthread_t threads[2];
    handles all;
    take_handles(&all, runtime, heard);
    stop = false;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work_on, &runtime);
    for (int i = 0; i < 100 && !check_failures; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            invivo_runtime own;
            alarm(CHECK_LIMIT_SECONDS);
            invivo_runtime_info info = {.struct_size = sizeof(info)};
            if (invivo_runtime_inspect(runtime, &info, NULL) != INVIVO_E_FORKED) _exit(1);
            int refused = refused_to_a_child(&all, runtime);
            if (refused) _exit(refused);
            if (invivo_runtime_open(&own, NULL, NULL) != INVIVO_OK) _exit(2);
            if (invivo_define_block(own, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, NULL) != INVIVO_OK) _exit(3);
            if (invivo_runtime_close(own, NULL) != INVIVO_OK) _exit(4);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0)
            check_failed(__FILE__, __LINE__, "child %d ended with status %d, signal %d", i, WEXITSTATUS(status), WTERMSIG(status));
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    give_handles(&all);
    OK(invivo_runtime_close(runtime, E));
    listener_end(heard);
    free(heard);
}

/* In a child started before any runtime: exit() with everything running, from main and from another thread. */
static void *exit_here(void *unused) {
    (void)unused;
    exit(0);
}
static void exit_without_close_neither_hangs_nor_crashes(bool from_another_thread) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        alarm(CHECK_LIMIT_SECONDS);
        listener *heard = malloc(sizeof(*heard));
        invivo_runtime runtime = open_and_watch(heard);
        stamp_file(2);
        listener_wait(heard, 1);
        (void)stamp(runtime);
        if (check_failures) _exit(1);
        stamp_file(3); /* a reload is running */
        if (!from_another_thread) exit(0);
        pthread_create(&thread, NULL, exit_here, NULL);
        pthread_join(thread, NULL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) check_failed(__FILE__, __LINE__, "the child ended with status %d, signal %d", WEXITSTATUS(status), WTERMSIG(status));
}

/* A relative path is resolved at its first use; messages show the path as given. */
static void a_host_that_changes_its_directory_is_followed_to_the_same_file(void) {
    listener *heard = malloc(sizeof(*heard));
    invivo_runtime runtime = open_and_watch(heard);
    mkdir("elsewhere", 0755);
    write_text("elsewhere/a.yaml", "traits:\n  synth.lead:\n    - Set: { stamp: 77 }\n");
    CHECK(chdir("elsewhere") == 0);
    write_text("../next", "traits:\n  synth.lead:\n    - Set: { stamp: 2 }\n");
    CHECK(rename("../next", "../a.yaml") == 0);
    listener_wait(heard, 1);
    CHECK_EQUAL(stamp(runtime), 2);
    write_text("../next", "traits: []\n");
    CHECK(rename("../next", "../a.yaml") == 0);
    listener_wait(heard, 2);
    CHECK(strncmp(listener_last(heard)->error, "a.yaml:1:9: ", 12) == 0);
    CHECK(chdir("..") == 0);
    OK(invivo_runtime_close(runtime, E));
    listener_end(heard);
    free(heard);
}

int main(void) {
    check_begin();
    check_directory();
    exit_without_close_neither_hangs_nor_crashes(false);
    exit_without_close_neither_hangs_nor_crashes(true);
    RUN_TEST(nothing_of_the_process_is_changed);
    RUN_TEST(signals_go_to_threads_of_the_host);
    RUN_TEST(faults_on_threads_of_the_runtime_are_the_hosts);
    RUN_TEST(a_host_that_changes_its_directory_is_followed_to_the_same_file);
    RUN_TEST(a_forked_child_gets_errors_and_may_open_a_runtime);
    RUN_TEST(forks_at_any_moment);
    umask(022);
    return check_end();
}
