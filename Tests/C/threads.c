/* Threads: shared objects are built once, no thread waits for an unrelated constructor, asynchronous resolves. Barriers
 * control the threads; no test depends on timing. */
/* sanitize: yes */
#include "parts.h"

enum { MANY = 64 };

static invivo_type part_type, slow_type;
static pthread_t opener;

/* ---- a constructor that blocks until it is released ---------------------------------------------------- */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int inside, is_open, made;

static void wait_for(int *what, int least) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&gate_lock);
    while (*what < least)
        if (pthread_cond_timedwait(&gate_moved, &gate_lock, &limit)) {
            check_failed(__FILE__, __LINE__, "waited in vain");
            break;
        }
    pthread_mutex_unlock(&gate_lock);
}
static void set(int *what, int value) {
    pthread_mutex_lock(&gate_lock);
    *what = value;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}
static void count(int *what) {
    pthread_mutex_lock(&gate_lock);
    ++*what;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}
static int now(int *what) {
    pthread_mutex_lock(&gate_lock);
    int value = *what;
    pthread_mutex_unlock(&gate_lock);
    return value;
}
static invivo_status slow_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t given,
                               void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)given, (void)user_data, (void)error;
    count(&inside);
    wait_for(&is_open, 1);
    count(&made);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void slow_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status quiet_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t given,
                                void *user_data, invivo_error **error) {
    part *self = instance;
    (void)build, (void)user_data, (void)error;
    if (given && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static invivo_status quiet_set(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)error;
    *(invivo_object *)((char *)instance + (size_t)user_data) = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}
static const invivo_property quiet_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = quiet_set, .user_data = (void *)offsetof(part, left)}};

static invivo_type_options quiet(const char *name) {
    invivo_type_options options = part_options(name);
    options.init = quiet_init, options.deinit = slow_deinit;
    options.properties = quiet_properties, options.property_count = 1;
    return options;
}
static void begin(void) {
    begin_with(0);
    inside = is_open = made = 0;
    opener = pthread_self();
    part_type = register_type(quiet("Part"));
    invivo_type_options options = quiet("Slow");
    options.init = slow_init;
    slow_type = register_type(options);
}

static void *resolve_slow(void *out) {
    OK(invivo_resolve_name(runtime, "a.slow", out, E));
    return NULL;
}

static void a_cold_object_is_made_once_by_64_threads(void) {
    static const uint32_t scopes[] = {INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON};
    for (size_t round = 0; round < COUNT(scopes); round++) {
        pthread_t threads[MANY];
        invivo_object objects[MANY];
        begin();
        describe();
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.slow", .scope = scopes[round], .type = slow_type}, NULL, E));
        commit();
        for (int i = 0; i < MANY; i++) pthread_create(&threads[i], NULL, resolve_slow, &objects[i]);
        wait_for(&inside, 1);
        set(&is_open, 1);
        for (int i = 0; i < MANY; i++) pthread_join(threads[i], NULL);
        CHECK_EQUAL(made, 1);
        for (int i = 0; i < MANY; i++) {
            CHECK(objects[i].bits == objects[0].bits);
            drop(objects[i]);
        }
        end();
    }
}

/* A failing build fails all waiting threads: the factory is not called once for each of them. */
static int failed_makings, failed_askers;
static invivo_status fail_slowly(void **instance, const invivo_build *build, const invivo_value *arguments, size_t given, void *user_data,
                                 invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)given, (void)user_data;
    count(&failed_makings);
    wait_for(&failed_askers, 2);
    for (int i = 0; i < 200; i++) sched_yield(); /* the other one is about to wait, or waits */
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static void *resolve_in_vain(void *unused) {
    invivo_object object;
    (void)unused;
    count(&failed_askers);
    CHECK_EQUAL(invivo_resolve_name(runtime, "a.bad", &object, NULL), INVIVO_E_HOST);
    return NULL;
}
static void threads_that_wait_for_a_failing_build_get_its_error(void) {
    begin();
    describe();
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.bad",
                                                           .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = slow_type, .factory = fail_slowly}, NULL, E));
    commit();
    /* The second one may be too late to wait: then it is repeated. */
    bool has_waited = false;
    for (int i = 0; i < 1000 && !has_waited; i++) {
        pthread_t threads[2];
        set(&failed_makings, 0), set(&failed_askers, 0);
        for (int j = 0; j < 2; j++) pthread_create(&threads[j], NULL, resolve_in_vain, NULL);
        for (int j = 0; j < 2; j++) pthread_join(threads[j], NULL);
        has_waited = now(&failed_makings) == 1;
    }
    CHECK(has_waited);
    end();
}

/* While an unrelated constructor blocks: built objects, other cold ones, prototypes and reloads. */
static void no_thread_waits_for_an_unrelated_constructor(void) {
    static const invivo_injection input[] = {KEY("input", "a.built")};
    pthread_t thread;
    invivo_object slow, object;
    begin();
    describe();
    ADD("a.slow", LAZY_SINGLETON, .type = slow_type);
    ADD("a.built", LAZY_SINGLETON, .type = part_type);
    ADD("a.cold", LAZY_SINGLETON, .type = part_type, INITIALIZER(input));
    ADD("a.proto", PROTOTYPE, .type = part_type, INITIALIZER(input));
    ADD("a.graph", GRAPH, .type = part_type, INITIALIZER(input));
    commit();
    drop(resolve("a.built"));
    pthread_create(&thread, NULL, resolve_slow, &slow);
    wait_for(&inside, 1);
    drop(resolve("a.built")), drop(resolve("a.cold"));
    for (int i = 0; i < 4; i++) drop(resolve("a.proto")), drop(resolve("a.graph"));
    describe();
    ADD("a.more", SINGLETON, .type = part_type, INITIALIZER(input));
    commit();
    drop(resolve("a.more"));
    OK(invivo_resolve_type(runtime, "Part", "built", 0, &object, E));
    drop(object);
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_get(view, key_of("a.built")) != NULL);
    invivo_view_end(view);
    CHECK_EQUAL(now(&made), 0);
    set(&is_open, 1);
    pthread_join(thread, NULL);
    drop(slow);
    end();
}

/* Two threads with the same keys are no cycle: each has its own chain. */
static pthread_barrier_t meeting;

static invivo_status meet(void *instance, const invivo_build *build, const invivo_value *arguments, size_t given, void *user_data,
                          invivo_error **error) {
    pthread_barrier_wait(&meeting);
    return quiet_init(instance, build, arguments, given, user_data, error);
}
static void *resolve_top(void *out) {
    OK(invivo_resolve_name(runtime, "a.top", out, E));
    return NULL;
}

static void builds_of_several_threads_are_no_cycle(void) {
    static const invivo_injection inner[] = {KEY("input", "a.meeting")}, top[] = {KEY("input", "a.inner")};
    static const uint32_t scopes[] = {INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH};
    for (size_t round = 0; round < COUNT(scopes); round++) {
        pthread_t threads[2];
        invivo_object objects[2];
        begin();
        invivo_type_options options = quiet("Meeting");
        options.init = meet;
        invivo_type type = register_type(options);
        describe();
        ADD("a.meeting", PROTOTYPE, .type = type);
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.inner", .scope = scopes[round], .type = part_type, INITIALIZER(inner)}, NULL, E));
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.top", .scope = scopes[round], .type = part_type, INITIALIZER(top)}, NULL, E));
        commit();
        /* Both are in the innermost constructor; several times, for each way of creation. */
        for (int times = 0; times < 4; times++) {
            pthread_barrier_init(&meeting, NULL, 2);
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, resolve_top, &objects[i]);
            for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
            CHECK(at(objects[0])->input.bits != at(objects[1])->input.bits);
            for (int i = 0; i < 2; i++) drop(objects[i]);
            pthread_barrier_destroy(&meeting);
        }
        end();
    }
}

/* ---- a commit and a resolve that depend on each other -------------------------------------------------- */

static pid_t resolving; /* the thread, once it runs */
static void *resolve_both(void *out) {
    __atomic_store_n(&resolving, gettid(), __ATOMIC_SEQ_CST);
    OK(invivo_resolve_name(runtime, "a.second", out, E));
    return NULL;
}
/* Releases the other thread, until it waits for an object of this one. */
static invivo_status overtake(void *instance, const invivo_build *build, const invivo_value *arguments, size_t given, void *user_data,
                              invivo_error **error) {
    set(&is_open, 1);
    wait_for(&made, 1);
    check_await_sleep(resolving);
    return quiet_init(instance, build, arguments, given, user_data, error);
}
static invivo_status fail_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t given,
                               void *user_data, invivo_error **error);

/* A commit keeps its objects until its end. If it depends on another thread that waits for the commit, the other one
 * restarts, whatever the result of the commit. */
static void a_commit_and_a_resolve_that_depend_on_each_other_both_end(void) {
    static const invivo_injection gate[] = {KEY("input", "a.gate")}, left[] = {KEY("left", "a.first")};
    static const invivo_injection first[] = {KEY("input", "a.first")}, overtaking[] = {KEY("input", "a.overtaking")};
    static const invivo_injection second[] = {KEY("left", "a.second")}, both[] = {KEY("input", "a.both")};
    for (int fails = 0; fails < 2; fails++) {
        pthread_t thread;
        invivo_object object;
        begin();
        resolving = 0;
        invivo_type_options options = quiet("Overtaking");
        options.init = overtake;
        invivo_type overtaking_type = register_type(options);
        options = quiet("Fails");
        options.init = fail_init;
        invivo_type fails_type = register_type(options);
        describe();
        ADD("a.first", LAZY_SINGLETON, .type = part_type);
        ADD("a.gate", PROTOTYPE, .type = slow_type);
        ADD("a.second", LAZY_SINGLETON, .type = part_type, INITIALIZER(gate), PROPERTIES(left));
        commit();
        pthread_create(&thread, NULL, resolve_both, &object);
        wait_for(&inside, 1);
        describe();
        ADD("a.overtaking", PROTOTYPE, .type = overtaking_type, INITIALIZER(first));
        ADD("a.both", SINGLETON, .type = part_type, INITIALIZER(overtaking), PROPERTIES(second));
        if (fails) ADD("a.last", SINGLETON, .type = fails_type, INITIALIZER(both));
        if (fails) expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, "a.last: on purpose");
        else commit();
        pthread_join(thread, NULL);
        invivo_object one = resolve("a.first");
        CHECK(at(object)->left.bits == one.bits);
        if (!fails) {
            invivo_object holder = resolve("a.both");
            CHECK(at(holder)->left.bits == object.bits);
            CHECK(at(at(holder)->input)->input.bits == one.bits);
            drop(holder);
        }
        drop(one), drop(object);
        end();
    }
}

/* ---- asynchronous resolves ----------------------------------------------------------------------------- */

typedef struct answer {
    int came;
    invivo_object object;
    invivo_status status;
    char text[512];
    pthread_t thread;
} answer;

static void answered(void *user_data, invivo_object object, const invivo_error *error) {
    answer *self = user_data;
    self->object = object;
    self->status = error ? invivo_error_code(error) : INVIVO_OK;
    snprintf(self->text, sizeof self->text, "%s", error ? invivo_error_text(error) : "");
    self->thread = pthread_self();
    count(&self->came);
}
static void ask(const char *key, answer *self) {
    memset(self, 0, sizeof *self);
    OK(invivo_resolve_async(runtime, key_of(key), NULL, 0, answered, self, (invivo_domain){0}, E));
}

static void a_shared_object_is_made_elsewhere_and_handed_over(void) {
    answer first, second, third;
    begin();
    describe();
    ADD("a.slow", LAZY_SINGLETON, .type = slow_type);
    ADD("a.other", LAZY_SINGLETON, .type = part_type);
    ADD("a.alias", DEFAULT, .alias = "a.slow");
    commit();
    ask("a.slow", &first), ask("a.other", &second), ask("a.alias", &third);
    /* Another one does not wait for the slow one. */
    wait_for(&second.came, 1);
    wait_for(&inside, 1);
    CHECK_EQUAL(now(&first.came), 0);
    CHECK(!pthread_equal(second.thread, pthread_self()));
    set(&is_open, 1);
    wait_for(&first.came, 1), wait_for(&third.came, 1);
    CHECK_EQUAL(made, 1);
    CHECK(first.object.bits == third.object.bits && first.object.bits);
    /* A built object is delivered at once. */
    answer fourth;
    ask("a.slow", &fourth);
    CHECK_EQUAL(fourth.came, 1);
    CHECK(pthread_equal(fourth.thread, pthread_self()) && fourth.object.bits == first.object.bits);
    drop(first.object), drop(second.object), drop(third.object), drop(fourth.object);
    end();
}

static uint8_t is_here(void *unused) { return (void)unused, pthread_equal(pthread_self(), opener) != 0; }

static invivo_type confined_type(void) {
    invivo_type_options options = quiet("Confined");
    options.concurrency = INVIVO_CONFINED;
    return register_type(options);
}

static void *ask_elsewhere(void *self) {
    invivo_object object;
    expects_error(invivo_resolve_name(runtime, "a.own", &object, E), INVIVO_E_DOMAIN,
                  "a.own: an object of the confined type 'Confined' belongs to the domain 'opener' and cannot be resolved on this "
                  "thread; resolve it there or asynchronously, or register the type as shared");
    ask("a.own", self);
    wait_for(&((answer *)self)->came, 1);
    invivo_value value;
    expects_error(invivo_object_get(((answer *)self)->object, "left", &value, E), INVIVO_E_DOMAIN, NULL);
    return NULL;
}
static void poll_until(int *what) {
    for (int i = 0; i < CHECK_LIMIT_SECONDS * 10 && !now(what); i++) OK(invivo_runtime_poll(runtime, 100, NULL, E));
}

static void a_confined_object_is_resolved_where_it_belongs(void) {
    pthread_t thread;
    answer self = {0};
    begin();
    describe();
    ADD("a.own", LAZY_SINGLETON, .type = confined_type());
    commit();
    pthread_create(&thread, NULL, ask_elsewhere, &self);
    poll_until(&self.came);
    pthread_join(thread, NULL);
    CHECK_EQUAL(self.status, INVIVO_OK);
    CHECK(pthread_equal(self.thread, pthread_self()));
    invivo_object again = resolve("a.own");
    CHECK(again.bits == self.object.bits);
    drop(again), drop(self.object);
    end();
}

static void *ask_for_delivery(void *self) {
    invivo_domain *domain = ((void **)self)[1];
    OK(invivo_resolve_async(runtime, key_of("a.one"), NULL, 0, answered, ((void **)self)[0], *domain, E));
    return NULL;
}
static invivo_job posted;
static int posts;
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    posted = job;
    count(&posts);
    return INVIVO_OK;
}

static void it_is_delivered_in_the_domain_that_was_asked_for(void) {
    invivo_domain domain;
    answer self = {0};
    void *both[] = {&self, &domain};
    begin();
    posts = 0;
    OK(invivo_domain_register(runtime, &(invivo_domain_options){.struct_size = sizeof(invivo_domain_options), .name = "ui", .post = post}, &domain, E));
    describe();
    ADD("a.one", LAZY_SINGLETON, .type = part_type);
    commit();
    ask_for_delivery(both);
    wait_for(&posts, 1);
    CHECK_EQUAL(now(&self.came), 0);
    CHECK_EQUAL(invivo_job_run(posted), INVIVO_OK);
    CHECK_EQUAL(self.came, 1);
    drop(self.object);
    /* A dropped job is a result too, and no lease remains. */
    memset(&self, 0, sizeof self), posts = 0;
    ask_for_delivery(both);
    wait_for(&posts, 1);
    CHECK_EQUAL(invivo_job_drop(posted), INVIVO_OK);
    CHECK_EQUAL(self.came, 1);
    CHECK_EQUAL(self.status, INVIVO_E_HOST);
    end();
}

static invivo_status fail_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t given,
                               void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)given, (void)user_data;
    *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static void failures_are_handed_over_too(void) {
    answer self;
    invivo_key missing;
    begin();
    invivo_type_options options = quiet("Failing");
    options.init = fail_init;
    invivo_type failing = register_type(options);
    describe();
    ADD("a.failing", LAZY_SINGLETON, .type = failing);
    commit();
    ask("a.failing", &self);
    wait_for(&self.came, 1);
    CHECK_EQUAL(self.status, INVIVO_E_HOST);
    CHECK_TEXT(self.text, "a.failing: on purpose");
    CHECK_EQUAL(self.object.bits, 0);
    OK(invivo_key_intern(runtime, "a.missing", &missing, E));
    expects_error(invivo_resolve_async(runtime, missing, NULL, 0, answered, &self, (invivo_domain){0}, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_resolve_async(runtime, key_of("a.failing"), NULL, 0, NULL, &self, (invivo_domain){0}, E), INVIVO_E_ARGUMENT, NULL);
    CHECK_EQUAL(self.came, 1);
    end();
}

static void *only_ask(void *self) {
    ask("a.own", self);
    return NULL;
}

static void close_completes_pending_resolves(void) {
    answer self = {0};
    begin();
    describe();
    ADD("a.own", LAZY_SINGLETON, .type = confined_type());
    commit();
    /* Without a poll: close does it. */
    pthread_t thread;
    pthread_create(&thread, NULL, only_ask, &self);
    pthread_join(thread, NULL);
    CHECK_EQUAL(self.came, 0);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(self.came, 1);
    CHECK_EQUAL(self.status, INVIVO_E_CLOSED);
    CHECK_EQUAL(live, 0);
}

/* ---- jobs that arrive while their thread waits in a build ---------------------------------------------- */

static void *resolve_slow_and_drop(void *unused) {
    (void)unused;
    drop(resolve("a.slow"));
    return NULL;
}
static answer nested;
static invivo_object opener_of_gate;
static void open_gate(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    CHECK(pthread_equal(pthread_self(), opener));
    CHECK_EQUAL(now(&nested.came), 0);
    set(&is_open, 1);
}
/* Posts a resolve for the opening thread, then an object whose disposal is its job too, and releases a.slow. */
static void *ask_for_outer(void *unused) {
    (void)unused;
    ask("a.outer", &nested);
    drop(opener_of_gate);
    return NULL;
}
static void a_resolve_does_not_come_between_the_steps_of_a_build(void) {
    static const invivo_injection input[] = {KEY("input", "a.slow")};
    pthread_t slow, asking;
    begin();
    memset(&nested, 0, sizeof nested);
    invivo_type_options options = {.struct_size = sizeof options, .name = "Opener", .size = 8, .deinit = open_gate};
    invivo_type type = register_type(options);
    describe();
    ADD("a.slow", LAZY_SINGLETON, .type = slow_type);
    ADD("a.outer", LAZY_SINGLETON, .type = confined_type(), INITIALIZER(input));
    ADD("a.opener", WEAK_SINGLETON, .type = type);
    commit();
    opener_of_gate = resolve("a.opener");
    pthread_create(&slow, NULL, resolve_slow_and_drop, NULL);
    wait_for(&inside, 1);
    pthread_create(&asking, NULL, ask_for_outer, NULL);
    pthread_join(asking, NULL);
    /* This thread waits for a.slow in the initializer of a.outer, and runs jobs meanwhile. */
    invivo_object outer = resolve("a.outer");
    pthread_join(slow, NULL);
    poll_until(&nested.came);
    CHECK_EQUAL(nested.status, INVIVO_OK);
    CHECK(nested.object.bits == outer.bits);
    drop(outer);
    if (nested.object.bits) drop(nested.object);
    end();
}

/* An observer's job resolves an object that its own thread is building: an error, no wait. */
static invivo_status observed = INVIVO_OK;
static char observed_text[512];
static int heard;
static void reloaded(void *user_data, const invivo_report *report) {
    invivo_object object = {0};
    invivo_error *error = NULL;
    (void)user_data, (void)report;
    if (!pthread_equal(pthread_self(), opener) || now(&is_open)) return;
    observed = invivo_resolve_name(runtime, "a.outer", &object, &error);
    snprintf(observed_text, sizeof observed_text, "%s", invivo_error_text(error));
    if (object.bits) invivo_object_release(object);
    invivo_error_release(error);
    count(&heard);
    set(&is_open, 1);
}
static void *reload_something(void *unused) {
    (void)unused;
    invivo_changes set_of;
    OK(invivo_changes_open(runtime, &set_of, E));
    OK(invivo_changes_define(set_of, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "b.new", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = part_type}, NULL, E));
    OK(invivo_changes_commit(set_of, E));
    return NULL;
}
static void a_wait_under_a_job_is_an_error(void) {
    static const invivo_injection input[] = {KEY("input", "a.slow")};
    pthread_t slow, reloading;
    invivo_observer observer;
    begin();
    heard = 0, observed = INVIVO_OK;
    describe();
    ADD("a.slow", LAZY_SINGLETON, .type = slow_type);
    ADD("a.outer", LAZY_SINGLETON, .type = part_type, INITIALIZER(input));
    commit();
    /* A domain of this thread, whose jobs run while it waits inside the runtime. */
    invivo_domain domain;
    OK(invivo_domain_register(runtime, &(invivo_domain_options){.struct_size = sizeof(invivo_domain_options), .name = "here", .post = post, .is_current = is_here}, &domain, E));
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = reloaded, .domain = domain}, &observer, E));
    pthread_create(&slow, NULL, resolve_slow_and_drop, NULL);
    wait_for(&inside, 1);
    pthread_create(&reloading, NULL, reload_something, NULL);
    pthread_join(reloading, NULL);
    /* Waits for a.slow, and runs the observer's job meanwhile, which releases a.slow. */
    invivo_object outer = resolve("a.outer");
    CHECK_EQUAL(heard, 1);
    CHECK_EQUAL(observed, INVIVO_E_CYCLE);
    CHECK(strstr(observed_text, "waits below a job on the same thread") != NULL);
    pthread_join(slow, NULL);
    drop(outer);
    OK(invivo_observer_close(observer, E));
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_cold_object_is_made_once_by_64_threads);
    RUN_TEST(threads_that_wait_for_a_failing_build_get_its_error);
    RUN_TEST(no_thread_waits_for_an_unrelated_constructor);
    RUN_TEST(builds_of_several_threads_are_no_cycle);
    RUN_TEST(a_commit_and_a_resolve_that_depend_on_each_other_both_end);
    RUN_TEST(a_shared_object_is_made_elsewhere_and_handed_over);
    RUN_TEST(a_confined_object_is_resolved_where_it_belongs);
    RUN_TEST(it_is_delivered_in_the_domain_that_was_asked_for);
    RUN_TEST(failures_are_handed_over_too);
    RUN_TEST(close_completes_pending_resolves);
    RUN_TEST(a_resolve_does_not_come_between_the_steps_of_a_build);
    RUN_TEST(a_wait_under_a_job_is_an_error);
    return check_end();
}
