/* Domains: where objects live and changes are applied; jobs that run once; waits, refusals and undo. */
/* sanitize: yes */
#include "check.h"
#include "gate.h"

#include <poll.h>

typedef struct { double gain, depth; uint64_t thread; } voice;

static invivo_runtime runtime;
static invivo_type type;

/* An additional action of the next setter call. */
static void (*in_setter)(void);
static double last_depth;
static uint64_t this_thread(void) { return (uint64_t)pthread_self(); }

static invivo_status get_depth(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((voice *)instance)->depth);
    return INVIVO_OK;
}
/* The last depth set by the main thread and by others; the setter that refuses 3. */
static pthread_t main_thread;
static double depth_of[2];
static int threes, refuses_three = -1;
static invivo_status set_depth(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    voice *self = instance;
    (void)user_data;
    int here = !pthread_equal(pthread_self(), main_thread);
    if (refuses_three >= 0 && value->as.number == 3) {
        if (here == refuses_three) {
            if (error) *error = invivo_error_make(INVIVO_E_HOST, "three is refused", NULL, NULL);
            return INVIVO_E_HOST;
        }
        threes++;
    }
    depth_of[here] = value->as.number;
    self->depth = last_depth = value->as.number;
    self->thread = this_thread();
    if (in_setter) {
        void (*act)(void) = in_setter;
        in_setter = NULL;
        act();
    }
    return INVIVO_OK;
}
static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1),
    {.struct_size = sizeof(invivo_property), .name = "depth", .kind = INVIVO_KIND_DOUBLE, .get = get_depth, .set = set_depth},
};

static void begin(const invivo_runtime_options *options) {
    OK(invivo_runtime_open(&runtime, options, E));
}
static void register_voice(invivo_domain domain) {
    invivo_type_options voice_type = {.struct_size = sizeof(voice_type), .name = "Voice", .size = sizeof(voice),
                                      .alignment = _Alignof(voice), .domain = domain, .properties = voice_properties,
                                      .property_count = 2};
    OK(invivo_type_register(runtime, &voice_type, &type, E));
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

static uint64_t generation(void) {
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return info.generation;
}

static voice *make(const char *key, invivo_object *object) {
    void *instance = NULL;
    invivo_definition lead = {.struct_size = sizeof(lead), .key = key, .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    OK(invivo_define(runtime, &lead, NULL, E));
    if (object) OK(invivo_resolve_name(runtime, key, object, E));
    if (object) OK(invivo_object_instance(*object, type, &instance, E));
    return instance;
}

static invivo_changes document(const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    return changes;
}
#define DEPTH(key, number) "traits: { " key ": [ Set: { depth: " #number " } ] }"

/* A commit on another thread. */
typedef struct { const char *text; invivo_status status; char error[512]; pthread_t thread; } commit;
static void *run_commit(void *argument) {
    commit *self = argument;
    invivo_error *error = NULL;
    self->status = invivo_changes_commit(document(self->text), &error);
    snprintf(self->error, sizeof(self->error), "%s", invivo_error_text(error));
    invivo_error_release(error);
    return NULL;
}
static void commit_elsewhere(commit *self, const char *text) {
    memset(self, 0, sizeof(*self));
    self->text = text;
    pthread_create(&self->thread, NULL, run_commit, self);
}

/* ---- the opener's domain ----------------------------------------------------------------------------- */

static void the_opener_is_served_when_it_polls(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    commit other;
    uint32_t ran = 0;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    OK(invivo_runtime_poll(runtime, CHECK_LIMIT_SECONDS * 1000, &ran, E));
    CHECK_EQUAL(ran, 1);
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    CHECK_EQUAL(self->depth, 3);
    CHECK(self->thread == this_thread());
    OK(invivo_runtime_poll(runtime, 0, &ran, E));
    CHECK_EQUAL(ran, 0);
    OK(invivo_object_release(object));
    end();
}

static void the_descriptor_is_readable_while_a_job_waits(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    struct pollfd waits = {.events = POLLIN};
    OK(invivo_runtime_descriptor(runtime, &waits.fd, E));
    for (int round = 1; round <= 3; round++) {
        commit other;
        invivo_runtime_info info = {.struct_size = sizeof(info)};
        CHECK_EQUAL(poll(&waits, 1, 0), 0);
        commit_elsewhere(&other, round % 2 ? DEPTH("a.voice", 3) : DEPTH("a.voice", 4));
        CHECK_EQUAL(poll(&waits, 1, CHECK_LIMIT_SECONDS * 1000), 1);
        OK(invivo_runtime_inspect(runtime, &info, E));
        CHECK_EQUAL(info.waiting_jobs, 1);
        CHECK(info.waiting_since_ns > 0);
        OK(invivo_runtime_poll(runtime, 0, NULL, E));
        pthread_join(other.thread, NULL);
        CHECK_EQUAL(self->depth, round % 2 ? 3 : 4);
    }
    CHECK_EQUAL(poll(&waits, 1, 0), 0);
    OK(invivo_object_release(object));
    end();
}

/* A blocking call of the runtime serves the thread's own domain while it waits. */
static void waiting_inside_the_runtime_serves_the_domain(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    struct pollfd waits = {.events = POLLIN};
    OK(invivo_runtime_descriptor(runtime, &waits.fd, E));
    commit other;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    CHECK_EQUAL(poll(&waits, 1, CHECK_LIMIT_SECONDS * 1000), 1); /* the other commit has the turn and waits for this thread */
    OK(invivo_changes_commit(document(DEPTH("a.voice", 5)), E)); /* and this thread waits for the turn */
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    CHECK_EQUAL(self->depth, 5);
    OK(invivo_object_release(object));
    end();
}

static void a_domain_that_does_not_poll_fails_the_reload(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.commit_timeout_ms = 30;
    begin(&options);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    commit other;
    uint32_t ran = 1;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_E_TIMEOUT);
    CHECK_TEXT(other.error, "the domain 'opener' did not take its job in time; its thread must poll the runtime (or run posted jobs)");
    OK(invivo_runtime_poll(runtime, 0, &ran, E));
    CHECK_EQUAL(ran, 0); /* withdrawn */
    CHECK_EQUAL(self->depth, 0);
    OK(invivo_changes_commit(document(DEPTH("a.voice", 4)), E));
    CHECK_EQUAL(self->depth, 4);
    OK(invivo_object_release(object));
    end();
}

static invivo_object foreign_object;
static invivo_key foreign_key;
static void *touch_from_elsewhere(void *unused) {
    invivo_value value;
    invivo_object object;
    (void)unused;
    expects_error(invivo_object_get(foreign_object, "gain", &value, E), INVIVO_E_DOMAIN,
                  "an object of the confined type 'Voice' belongs to the domain 'opener' and cannot be touched on this thread");
    value = invivo_double(2);
    expects_error(invivo_object_set(foreign_object, "gain", &value, E), INVIVO_E_DOMAIN, NULL);
    expects_error(invivo_object_call(foreign_object, "play", NULL, 0, NULL, E), INVIVO_E_METHOD, NULL);
    expects_error(invivo_resolve(runtime, foreign_key, &object, E), INVIVO_E_DOMAIN,
                  "a.voice: an object of the confined type 'Voice' belongs to the domain 'opener' and cannot be resolved on this "
                  "thread; resolve it there or asynchronously, or register the type as shared");
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_get(view, foreign_key) == NULL);
    invivo_view_end(view);
    OK(invivo_object_retain(foreign_object)); /* any thread may use a lease */
    OK(invivo_object_release(foreign_object));
    return NULL;
}
static void a_foreign_thread_may_not_touch_confined_objects(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    make("a.voice", &foreign_object);
    OK(invivo_key_find(runtime, "a.voice", &foreign_key, E));
    pthread_t thread;
    pthread_create(&thread, NULL, touch_from_elsewhere, NULL);
    pthread_join(thread, NULL);
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_get(view, foreign_key) != NULL);
    invivo_view_end(view);
    OK(invivo_object_release(foreign_object));
    end();
}

/* ---- the loop's domain ------------------------------------------------------------------------------- */

static void the_loop_thread_applies_changes_by_itself(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.default_domain = INVIVO_DOMAIN_LOOP;
    begin(&options);
    register_voice((invivo_domain){0});
    make("a.voice", NULL);
    int descriptor;
    invivo_object object;
    expects_error(invivo_runtime_descriptor(runtime, &descriptor, E), INVIVO_E_UNSUPPORTED, NULL);
    expects_error(invivo_resolve_name(runtime, "a.voice", &object, E), INVIVO_E_DOMAIN, NULL);
    listener *heard = malloc(sizeof(*heard));
    listener_open(heard, runtime);
    OK(invivo_changes_submit(document(DEPTH("a.voice", 3)), E));
    if (listener_wait(heard, 1)) CHECK_TEXT(listener_last(heard)->changes, "a.voice.depth tuned");
    end();
    listener_end(heard);
    free(heard);
}

/* ---- a domain of the host ------------------------------------------------------------------------------ */

static invivo_job posted;
static int posts, destroys;
static pthread_mutex_t post_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t post_came = PTHREAD_COND_INITIALIZER;
static bool refuses;

static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data;
    if (refuses) {
        if (error) *error = invivo_error_make(INVIVO_E_BUSY, "the window is gone", NULL, NULL);
        return INVIVO_E_BUSY;
    }
    pthread_mutex_lock(&post_lock);
    posted = job;
    posts++;
    pthread_cond_signal(&post_came);
    pthread_mutex_unlock(&post_lock);
    return INVIVO_OK;
}
static void count_destroy(void *user_data) { ++*(int *)user_data; }
static invivo_job next_job(int number) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&post_lock);
    while (posts < number && pthread_cond_timedwait(&post_came, &post_lock, &limit) == 0) {}
    CHECK(posts >= number);
    invivo_job job = posted;
    pthread_mutex_unlock(&post_lock);
    return job;
}
static invivo_domain begin_posted(uint32_t timeout) {
    invivo_runtime_options options;
    invivo_domain_options host = {.struct_size = sizeof(host), .name = "window", .post = post, .user_data = &destroys, .destroy = count_destroy};
    invivo_domain domain;
    invivo_runtime_options_init(&options);
    options.commit_timeout_ms = timeout;
    posts = destroys = 0;
    refuses = false;
    begin(&options);
    OK(invivo_domain_register(runtime, &host, &domain, E));
    register_voice(domain);
    return domain;
}
static void *define_voice(void *unused) {
    (void)unused;
    make("a.voice", NULL);
    return NULL;
}

static void a_posted_job_runs_once(void) {
    begin_posted(0);
    pthread_t thread;
    pthread_create(&thread, NULL, define_voice, NULL);
    invivo_job job = next_job(1);
    CHECK_EQUAL(invivo_job_run(job), INVIVO_OK);
    CHECK_EQUAL(invivo_job_run(job), INVIVO_E_STALE);
    CHECK_EQUAL(invivo_job_drop(job), INVIVO_E_STALE);
    pthread_join(thread, NULL);
    commit other;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    job = next_job(2);
    CHECK_EQUAL(invivo_job_drop(job), INVIVO_OK); /* dropped without a run: the reload fails */
    CHECK_EQUAL(invivo_job_run(job), INVIVO_E_STALE);
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_E_HOST);
    CHECK_TEXT(other.error, "the domain 'window' dropped its job");
    refuses = true;
    commit_elsewhere(&other, DEPTH("a.voice", 4));
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_E_BUSY);
    refuses = false;
    commit_elsewhere(&other, DEPTH("a.voice", 5));
    CHECK_EQUAL(invivo_job_run(next_job(3)), INVIVO_OK);
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    /* The disposal at close is a job too; afterwards the token is stale. */
    end();
    CHECK_EQUAL(posts, 4);
    CHECK_EQUAL(invivo_job_run(posted), INVIVO_E_STALE);
    CHECK_EQUAL(invivo_job_drop(posted), INVIVO_E_STALE);
    CHECK_EQUAL(destroys, 1);
}

/* A domain without `is_current` knows its location by the running job; a job that runs inside another one ends before
 * it. */
static invivo_domain window;
static invivo_object seen;
static int deliveries;
static void see(void *user_data, invivo_object object, const invivo_error *error) {
    (void)user_data;
    CHECK(error == NULL);
    deliveries++;
    seen = object;
}
static void deliver_inside(void) {
    invivo_object own = seen;
    invivo_value value = invivo_null();
    invivo_key key;
    OK(invivo_key_find(runtime, "a.voice", &key, E));
    OK(invivo_resolve_async(runtime, key, NULL, 0, see, NULL, window, E));
    if (deliveries < 2) CHECK_EQUAL(invivo_job_run(next_job(posts)), INVIVO_OK);
    CHECK_EQUAL(deliveries, 2);
    OK(invivo_object_get(own, "depth", &value, E));
    OK(invivo_object_release(seen));
    seen = own;
}
static void a_job_inside_a_job_leaves_the_outer_one_where_it_is(void) {
    invivo_key key;
    commit other;
    pthread_t thread;
    window = begin_posted(0), deliveries = 0, seen = (invivo_object){0};
    pthread_create(&thread, NULL, define_voice, NULL);
    CHECK_EQUAL(invivo_job_run(next_job(1)), INVIVO_OK);
    pthread_join(thread, NULL);
    OK(invivo_key_find(runtime, "a.voice", &key, E));
    OK(invivo_resolve_async(runtime, key, NULL, 0, see, NULL, window, E));
    for (int i = 2; deliveries < 1 && i <= posts; i++) CHECK_EQUAL(invivo_job_run(next_job(i)), INVIVO_OK);
    CHECK_EQUAL(deliveries, 1);
    int before = posts;
    in_setter = deliver_inside;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    CHECK_EQUAL(invivo_job_run(next_job(before + 1)), INVIVO_OK);
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    OK(invivo_object_release(seen));
    end();
}

/* The target of a choice is created in its own domain, regardless of the choice's type. */
static void an_asynchronous_resolve_of_a_choice_runs_in_the_domain_of_its_target(void) {
    const invivo_parameter parameter = {.name = "size", .kind = INVIVO_KIND_INT64};
    const invivo_injection argument = {.how = INVIVO_INJECT_ARGUMENT, .index = 0};
    const invivo_option options[] = {
        {.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.voice"}},
        {.when = INVIVO_WHEN_OTHERWISE, .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.inner", .items = &argument, .item_count = 1}},
    };
    invivo_value size = invivo_int64(2);
    invivo_key key;
    begin_posted(0), deliveries = 0, seen = (invivo_object){0};
    const invivo_definition voice_definition = {.struct_size = sizeof(invivo_definition), .key = "a.voice", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type};
    OK(invivo_define(runtime, &voice_definition, NULL, E));
    const invivo_definition alias = {.struct_size = sizeof(alias), .key = "a.other", .alias = "a.voice"};
    OK(invivo_define(runtime, &alias, NULL, E));
    const invivo_option inner_options[] = {
        {.when = INVIVO_WHEN_EQUAL, .value = size, .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.other"}}};
    const invivo_definition inner = {.struct_size = sizeof(inner), .key = "a.inner", .chooser = &argument, .options = inner_options,
                                     .option_count = 1, .parameters = &parameter, .parameter_count = 1};
    OK(invivo_define(runtime, &inner, NULL, E));
    const invivo_definition choice = {.struct_size = sizeof(choice), .key = "a.choice", .chooser = &argument, .options = options,
                                      .option_count = 2, .parameters = &parameter, .parameter_count = 1};
    OK(invivo_define(runtime, &choice, NULL, E));
    OK(invivo_key_find(runtime, "a.choice", &key, E));
    for (int i = 1; i <= 2; i++) {
        size = invivo_int64(i);
        OK(invivo_resolve_async(runtime, key, &size, 1, see, NULL, (invivo_domain){0}, E));
        CHECK_EQUAL(invivo_job_run(next_job(i)), INVIVO_OK);
        CHECK_EQUAL(deliveries, i);
        OK(invivo_object_release(seen));
    }
    end();
}

static invivo_status late_definition;
static bool is_late_definition_over;
static void *define_voice_maybe_late(void *unused) {
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.voice", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    late_definition = invivo_define(runtime, &lead, NULL, NULL);
    __atomic_store_n(&is_late_definition_over, true, __ATOMIC_SEQ_CST);
    return unused;
}
/* Defines "a.voice" on another thread and creates it here. On a busy machine this may exceed the timeout: then it is
 * repeated. */
static void define_voice_in_time(void) {
    late_definition = INVIVO_E_TIMEOUT;
    for (int tries = 0; tries < 1000 && late_definition == INVIVO_E_TIMEOUT; tries++) {
        pthread_t thread;
        int before = posts;
        pthread_create(&thread, NULL, define_voice_maybe_late, NULL);
        (void)invivo_job_run(next_job(before + 1));
        pthread_join(thread, NULL);
        if (posts > before + 1) (void)invivo_job_run(posted); /* the end of an object that was created too late */
    }
    CHECK_EQUAL(late_definition, INVIVO_OK);
}
static void a_job_run_after_its_deadline_does_nothing(void) {
    begin_posted(30);
    define_voice_in_time();
    int before = posts;
    commit other;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    invivo_job job = next_job(before + 1);
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_E_TIMEOUT);
    CHECK_EQUAL(invivo_job_run(job), INVIVO_E_STALE);
    end();
    CHECK_EQUAL(destroys, 1);
}

/* A job that began in time cannot be withdrawn: it is awaited, and undone where it ran. */
static void outlast_the_deadline(void) {
    struct timespec time = {.tv_nsec = 400 * 1000000};
    nanosleep(&time, NULL);
}
/* Commits on another thread, and runs the job here. On a busy machine this may exceed the timeout: then it is repeated. */
static void commit_in_time(commit *other, const char *text, void (*meanwhile)(void)) {
    invivo_status ran = INVIVO_E_STALE;
    for (int tries = 0; tries < 1000 && ran == INVIVO_E_STALE; tries++) {
        int before = posts;
        in_setter = meanwhile;
        commit_elsewhere(other, text);
        ran = invivo_job_run(next_job(before + 1));
        pthread_join(other->thread, NULL);
        CHECK_EQUAL(posts, before + 1); /* the undo runs in the job itself */
        if (ran == INVIVO_E_STALE) CHECK_EQUAL(other->status, INVIVO_E_TIMEOUT);
    }
    CHECK_EQUAL(ran, INVIVO_OK);
}
static void a_job_finished_after_its_deadline_is_undone(void) {
    begin_posted(300);
    define_voice_in_time();
    uint64_t before = generation();
    commit other;
    commit_in_time(&other, DEPTH("a.voice", 3), outlast_the_deadline);
    CHECK_EQUAL(other.status, INVIVO_E_TIMEOUT);
    CHECK_TEXT(other.error,
               "a.voice: the domain 'window' began its job in time and finished it after the deadline: its effects are undone");
    CHECK_EQUAL(generation(), before);
    CHECK_EQUAL(last_depth, 0);
    other.status = INVIVO_E_TIMEOUT;
    for (int tries = 0; tries < 1000 && other.status == INVIVO_E_TIMEOUT; tries++) commit_in_time(&other, DEPTH("a.voice", 4), NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    CHECK_EQUAL(last_depth, 4);
    end();
}
/* An object that was created too late is not kept either. */
static int late_objects;
static invivo_status make_late(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    late_objects++;
    outlast_the_deadline();
    return INVIVO_OK;
}
static void end_late(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    late_objects--;
}
static invivo_status late_status;
static void *define_late(void *definition) {
    late_status = invivo_define(runtime, definition, NULL, NULL);
    return NULL;
}
static void an_object_made_after_the_deadline_is_dropped(void) {
    invivo_domain domain = begin_posted(300);
    invivo_type_options late = {.struct_size = sizeof(late), .name = "Late", .size = sizeof(voice), .alignment = _Alignof(voice),
                                .domain = domain, .init = make_late, .deinit = end_late};
    OK(invivo_type_register(runtime, &late, &type, E));
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.late", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    invivo_status ran = INVIVO_E_STALE;
    for (int tries = 0; tries < 1000 && ran == INVIVO_E_STALE; tries++) { /* until it is begun in time */
        pthread_t thread;
        int before = posts;
        pthread_create(&thread, NULL, define_late, &lead);
        ran = invivo_job_run(next_job(before + 1));
        if (ran == INVIVO_OK) CHECK_EQUAL(invivo_job_run(next_job(before + 2)), INVIVO_OK); /* its disposal */
        pthread_join(thread, NULL);
        CHECK_EQUAL(late_status, INVIVO_E_TIMEOUT);
        CHECK_EQUAL(late_objects, 0);
    }
    CHECK_EQUAL(ran, INVIVO_OK);
    end();
}

/* A wait of more than 1 s is the runtime's last error until the reload is over, with the awaited operation. */
static bool last_error_names(const char *what) {
    invivo_error *error = NULL;
    OK(invivo_runtime_last_error(runtime, &error));
    bool names = error && strstr(invivo_error_text(error), what);
    invivo_error_release(error);
    return names;
}
static void a_long_wait_is_the_last_error_with_the_awaited_operation(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    commit other;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    bool names = false;
    for (int i = 0; i < CHECK_LIMIT_SECONDS * 200 && !names; i++) {
        struct pollfd nothing = {.fd = -1};
        poll(&nothing, 1, 5);
        names = last_error_names("waited 1 s for the domain 'opener'");
    }
    CHECK(names);
    OK(invivo_runtime_poll(runtime, 0, NULL, E));
    pthread_join(other.thread, NULL);
    if (other.status == INVIVO_OK) { /* or the busy machine withdrew it */
        CHECK_EQUAL(self->depth, 3);
        CHECK(!last_error_names(""));
    } else {
        CHECK_EQUAL(other.status, INVIVO_E_TIMEOUT);
    }
    OK(invivo_object_release(object));
    end();
}

/* A job that does not end is left to its domain: the reload fails, others commit meanwhile, and its effect is undone
 * when it returns. */
static bool is_at_gate;
static void wait_at_the_gate(void) {
    is_at_gate = true;
    gate_to(1);
    gate_await(2);
}
static invivo_status window_ran;
static void *run_next_job(void *number) {
    window_ran = invivo_job_run(next_job((int)(intptr_t)number));
    if (window_ran) gate_to(1);
    return NULL;
}
static void a_job_that_does_not_end_is_left_to_its_domain(void) {
    begin_posted(1000);
    invivo_type_options plain = {.struct_size = sizeof(plain), .name = "Plain", .size = sizeof(voice), .alignment = _Alignof(voice),
                                 .properties = voice_properties, .property_count = 2};
    define_voice_in_time();
    OK(invivo_type_register(runtime, &plain, &type, E));
    invivo_object object;
    voice *self = make("b.plain", &object);
    uint64_t before = generation();
    commit stuck;
    pthread_t window;
    for (int tries = 0; tries < 100; tries++) { /* until the job is begun in time */
        gate_to(0);
        is_at_gate = false;
        in_setter = wait_at_the_gate;
        void *number = (void *)(intptr_t)(posts + 1);
        commit_elsewhere(&stuck, DEPTH("a.voice", 3));
        pthread_create(&window, NULL, run_next_job, number);
        gate_await(1);
        pthread_join(stuck.thread, NULL); /* the wait has an end */
        CHECK_EQUAL(stuck.status, INVIVO_E_TIMEOUT);
        if (is_at_gate) break;
        pthread_join(window, NULL);
    }
    CHECK(strstr(stuck.error, "the domain 'window' began its job and has not finished it after"));
    CHECK_EQUAL(generation(), before);
    /* The turn is free for change sets that do not use that domain; others wait for it in order. */
    OK(invivo_changes_commit(document(DEPTH("b.plain", 5)), E));
    CHECK_EQUAL(self->depth, 5);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    gate_to(2);
    pthread_join(window, NULL);
    CHECK_EQUAL(window_ran, INVIVO_OK);
    CHECK_EQUAL(last_depth, 0); /* undone where it ran */
    OK(invivo_object_release(object));
    end();
}

/* A domain that does not return for the undo: the reload fails, and the domain undoes its part before any other work. */
static void a_late_domain_undoes_its_part_when_it_answers(void) {
    begin_posted(1500);
    invivo_type_options plain = {.struct_size = sizeof(plain), .name = "Plain", .size = sizeof(voice), .alignment = _Alignof(voice),
                                 .properties = voice_properties, .property_count = 2};
    invivo_type posted_type = type;
    OK(invivo_type_register(runtime, &plain, &type, E));
    invivo_object object;
    voice *self = make("b.plain", &object); /* first: it runs first */
    type = posted_type;
    define_voice_in_time();
    commit other;
    self->depth = 0;
    for (int tries = 0; tries < 100 && self->depth != 2; tries++) { /* until this thread ran it in time */
        uint32_t ran = 0;
        commit_elsewhere(&other, "traits: { b.plain: [ Set: { depth: 2 } ], a.voice: [ Set: { depth: 2 } ] }");
        OK(invivo_runtime_poll(runtime, CHECK_LIMIT_SECONDS * 1000, &ran, E));
        pthread_join(other.thread, NULL); /* no thread runs the window's job, or this thread's undo */
        CHECK_EQUAL(other.status, INVIVO_E_TIMEOUT);
    }
    CHECK_EQUAL(self->depth, 2);
    CHECK(strstr(other.error, "could not be undone: the domain 'opener' did not do its job in time: its objects are restored when it does"));
    CHECK(strstr(other.error, "the domain 'window' did not take its job in time"));
    OK(invivo_runtime_poll(runtime, 0, NULL, E));
    CHECK_EQUAL(self->depth, 0);
    OK(invivo_changes_commit(document(DEPTH("b.plain", 4)), E));
    CHECK_EQUAL(self->depth, 4);
    OK(invivo_object_release(object));
    end();
}

/* Two domains in one commit: if the second does not run its job, the part of the first is undone. */
static void a_commit_that_times_out_in_one_domain_is_undone_in_the_other(void) {
    begin_posted(30);
    invivo_type_options plain = {.struct_size = sizeof(plain), .name = "Plain", .size = sizeof(voice), .alignment = _Alignof(voice),
                                 .properties = voice_properties, .property_count = 2};
    invivo_type posted_type = type;
    OK(invivo_type_register(runtime, &plain, &type, E));
    invivo_object object;
    voice *self = make("a.plain", &object);
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = posted_type};
    OK(invivo_define(runtime, &lead, NULL, E));
    OK(invivo_changes_commit(document(DEPTH("a.plain", 2)), E));
    CHECK_EQUAL(self->depth, 2);
    /* Now eager, of the plain type. This thread may be too late on a busy machine: then it is repeated. */
    late_definition = INVIVO_E_TIMEOUT;
    for (int i = 0; i < 100 && late_definition == INVIVO_E_TIMEOUT; i++) {
        pthread_t thread;
        __atomic_store_n(&is_late_definition_over, false, __ATOMIC_SEQ_CST);
        pthread_create(&thread, NULL, define_voice_maybe_late, NULL);
        while (!__atomic_load_n(&is_late_definition_over, __ATOMIC_SEQ_CST)) OK(invivo_runtime_poll(runtime, 5, NULL, E));
        pthread_join(thread, NULL);
    }
    CHECK_EQUAL(late_definition, INVIVO_OK);
    lead.scope = INVIVO_SCOPE_SINGLETON, lead.key = "b.voice";
    expects_error(invivo_define(runtime, &lead, NULL, E), INVIVO_E_TIMEOUT, NULL); /* no thread runs the window's jobs */
    invivo_changes both = document(DEPTH("a.plain", 3));
    OK(invivo_changes_define(both, &lead, NULL, E));
    expects_error(invivo_changes_commit(both, E), INVIVO_E_TIMEOUT, NULL);
    CHECK_EQUAL(self->depth, 2);
    OK(invivo_object_release(object));
    end();
}

static bool window_is_over;
static void *run_posted_jobs(void *unused) {
    (void)unused;
    pthread_mutex_lock(&post_lock);
    for (int ran = 0;;) {
        while (posts == ran && !window_is_over) pthread_cond_wait(&post_came, &post_lock);
        if (posts == ran) break;
        ran = posts;
        invivo_job job = posted;
        pthread_mutex_unlock(&post_lock);
        (void)invivo_job_run(job);
        pthread_mutex_lock(&post_lock);
    }
    pthread_mutex_unlock(&post_lock);
    return NULL;
}
/* Each of two domains fails once: the part of the first one is undone there, on its own thread. */
static void a_failure_in_one_domain_is_undone_in_the_one_before(void) {
    main_thread = pthread_self();
    threes = 0;
    for (int failing = 0; failing < 2; failing++) {
        begin_posted(0);
        invivo_type posted_type = type;
        invivo_type_options plain = {.struct_size = sizeof(plain), .name = "Plain", .size = sizeof(voice), .alignment = _Alignof(voice),
                                     .properties = voice_properties, .property_count = 2};
        pthread_t window_thread;
        window_is_over = false;
        pthread_create(&window_thread, NULL, run_posted_jobs, NULL);
        make("a.window", NULL);
        OK(invivo_type_register(runtime, &plain, &type, E));
        make("b.plain", NULL);
        type = posted_type;
        OK(invivo_changes_commit(document("traits: { a.window: [ Set: { depth: 2 } ], b.plain: [ Set: { depth: 2 } ] }"), E));
        CHECK_EQUAL(depth_of[0], 2);
        CHECK_EQUAL(depth_of[1], 2);
        refuses_three = failing;
        expects_error(invivo_changes_commit(document("traits: { a.window: [ Set: { depth: 3 } ], b.plain: [ Set: { depth: 3 } ] }"), E),
                      INVIVO_E_HOST, NULL);
        refuses_three = -1;
        CHECK_EQUAL(depth_of[0], 2);
        CHECK_EQUAL(depth_of[1], 2);
        end();
        pthread_mutex_lock(&post_lock);
        window_is_over = true;
        pthread_cond_signal(&post_came);
        pthread_mutex_unlock(&post_lock);
        pthread_join(window_thread, NULL);
    }
    CHECK_EQUAL(threes, 1); /* one of them runs first */
}

/* A dropped job is no longer awaited: a close with a leased object is refused at once. */
static pid_t closing_thread;
static int close_is_over;
static void *release_when_close_waits(void *object) {
    for (int asleep = 0; asleep < 3000;) {
        if (__atomic_load_n(&close_is_over, __ATOMIC_SEQ_CST)) return NULL;
        asleep = check_is_asleep(closing_thread) ? asleep + 1 : 0;
    }
    OK(invivo_object_release(*(invivo_object *)object));
    return NULL;
}
static void observe_nothing(void *user_data, const invivo_report *report) { (void)user_data, (void)report; }
static void a_job_that_was_dropped_keeps_no_close_waiting(void) {
    invivo_domain domain = begin_posted(0);
    invivo_type_options shared = {.struct_size = sizeof(shared), .name = "Shared", .size = 8, .alignment = 8, .concurrency = INVIVO_SHARED};
    invivo_type shared_type;
    invivo_object held;
    invivo_observer observer;
    pthread_t thread;
    OK(invivo_type_register(runtime, &shared, &shared_type, E));
    OK(invivo_object_make(runtime, shared_type, NULL, 0, &held, E));
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = observe_nothing,
                                                          .domain = domain}, &observer, E));
    OK(invivo_changes_commit(document("{}"), E));
    OK(invivo_job_drop(next_job(1)));
    closing_thread = gettid(), close_is_over = 0;
    pthread_create(&thread, NULL, release_when_close_waits, &held);
    bool is_refused = expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    __atomic_store_n(&close_is_over, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    if (!is_refused) return;
    OK(invivo_object_release(held));
    end();
}

/* An object that a method returns during a commit belongs to the thread that created it. */
static invivo_object prepared;
static invivo_status answer_prepared(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                                     invivo_error **error) {
    invivo_value value = invivo_object_value(prepared);
    (void)instance, (void)user_data, (void)arguments, (void)count;
    return invivo_value_copy(result, &value, error);
}
static int kept_is_defined, polls;
static pthread_t ended_on;
static void note_end(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    ended_on = pthread_self();
}
static void *define_kept(void *maker_type) {
    invivo_changes changes;
    invivo_injection of_maker[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.maker"}};
    OK(invivo_object_make(runtime, type, NULL, 0, &prepared, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.maker", .type = *(invivo_type *)maker_type,
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.kept", .type = type,
                                                   .scope = INVIVO_SCOPE_SINGLETON, .maker_method = "answer", .maker = of_maker,
                                                   .maker_count = 1}, NULL, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.kept", E));
    OK(invivo_changes_commit(changes, E));
    /* The opener's poll holds it until it returns; the removed generation holds it until its end. */
    for (int seen = __atomic_load_n(&polls, __ATOMIC_SEQ_CST); __atomic_load_n(&polls, __ATOMIC_SEQ_CST) < seen + 2;) sched_yield();
    invivo_runtime_info info = {.struct_size = sizeof info};
    while (OK(invivo_runtime_inspect(runtime, &info, E)) && info.retiring) sched_yield();
    OK(invivo_object_release(prepared));
    CHECK(pthread_equal(ended_on, pthread_self()));
    __atomic_store_n(&kept_is_defined, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
static void an_object_from_a_method_in_a_commit_keeps_its_domain(void) {
    static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "answer", .result = INVIVO_KIND_ANY, .call = answer_prepared}};
    pthread_t thread;
    invivo_type maker_type;
    begin(NULL);
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Ending", .size = 8, .alignment = 8,
                                     .deinit = note_end}, &type, E));
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Maker", .size = 8, .alignment = 8,
                                     .concurrency = INVIVO_SHARED, .methods = methods, .method_count = 1}, &maker_type, E));
    kept_is_defined = 0;
    pthread_create(&thread, NULL, define_kept, &maker_type);
    while (!__atomic_load_n(&kept_is_defined, __ATOMIC_SEQ_CST)) {
        OK(invivo_runtime_poll(runtime, 10, NULL, E));
        __atomic_add_fetch(&polls, 1, __ATOMIC_SEQ_CST);
    }
    pthread_join(thread, NULL);
    end();
}

/* A domain that moves between threads: its host reports where it is. */
static __thread bool is_window;
static uint8_t is_window_now(void *user_data) {
    (void)user_data;
    return is_window;
}
static void a_domain_without_a_thread_is_where_its_host_reports(void) {
    invivo_domain_options host = {.struct_size = sizeof(host), .name = "window", .post = post, .user_data = &destroys,
                                  .destroy = count_destroy, .flags = INVIVO_DOMAIN_DEFAULT, .is_current = is_window_now};
    invivo_domain domain;
    invivo_object object, again;
    invivo_value value;
    posts = destroys = 0;
    begin(NULL);
    OK(invivo_domain_register(runtime, &host, &domain, E));
    register_voice((invivo_domain){0}); /* names no domain: the default is now the window's */
    is_window = true;
    voice *self = make("a.voice", &object);
    CHECK_EQUAL(posts, 0); /* at once, in its domain */
    commit other;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    invivo_job job = next_job(1);
    OK(invivo_runtime_poll(runtime, CHECK_LIMIT_SECONDS * 1000, NULL, E)); /* a thread that waits there runs its jobs */
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    CHECK_EQUAL(self->depth, 3);
    CHECK_EQUAL(self->thread, this_thread());
    CHECK_EQUAL(invivo_job_run(job), INVIVO_E_STALE);
    invivo_view view = invivo_view_begin(runtime);
    invivo_key key;
    OK(invivo_key_intern(runtime, "a.voice", &key, E));
    CHECK(invivo_view_get(view, key) == self);
    is_window = false;
    CHECK(invivo_view_get(view, key) == NULL);
    invivo_view_end(view);
    expects_error(invivo_resolve_name(runtime, "a.voice", &again, E), INVIVO_E_DOMAIN, NULL);
    expects_error(invivo_object_get(object, "depth", &value, E), INVIVO_E_DOMAIN, NULL);
    is_window = true;
    OK(invivo_object_release(object));
    end();
    CHECK_EQUAL(posts, 1);
    CHECK_EQUAL(destroys, 1);
}

/* `is_current` runs with locks of the runtime held: calls from it are refused, and nothing hangs. */
static invivo_key asked_key;
static invivo_object asked_object;
static invivo_pool asked_pool;
static invivo_job asked_job;
static int asked, answers_otherwise;
static void expect_refusal(invivo_status status) {
    if (status != INVIVO_E_IN_CALLBACK) answers_otherwise++;
}
static invivo_status make_none(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)key, (void)out, (void)error;
    answers_otherwise++;
    return INVIVO_E_HOST;
}
static uint8_t calls_the_runtime(void *user_data) {
    invivo_object object;
    invivo_value value, number = invivo_int64(1);
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.new", .type = type};
    (void)user_data;
    if (!__atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST) || !asked_pool.bits) return is_window;
    expect_refusal(invivo_resolve(runtime, asked_key, &object, NULL));
    expect_refusal(invivo_resolve_name(runtime, "a.cold", &object, NULL));
    expect_refusal(invivo_object_get(asked_object, "depth", &value, NULL));
    expect_refusal(invivo_runtime_inspect(runtime, &info, NULL));
    expect_refusal(invivo_runtime_poll(runtime, 0, NULL, NULL));
    expect_refusal(invivo_define(runtime, &lead, NULL, NULL));
    expect_refusal(invivo_pool_get(asked_pool, &number, make_none, NULL, &object, NULL));
    expect_refusal(invivo_job_run(asked_job));
    expect_refusal(invivo_runtime_close(runtime, NULL));
    if (invivo_key_name(asked_key)) answers_otherwise++;
    OK(invivo_object_retain(asked_object));
    OK(invivo_object_release(asked_object));
    return is_window;
}
static void is_current_may_not_call_the_runtime(void) {
    invivo_domain_options host = {.struct_size = sizeof(host), .name = "window", .post = post, .user_data = &destroys,
                                  .destroy = count_destroy, .flags = INVIVO_DOMAIN_DEFAULT, .is_current = calls_the_runtime};
    invivo_domain domain;
    invivo_definition cold = {.struct_size = sizeof(cold), .key = "a.cold", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    posts = destroys = asked = answers_otherwise = 0;
    begin(NULL);
    OK(invivo_domain_register(runtime, &host, &domain, E));
    register_voice((invivo_domain){0});
    is_window = true;
    make("a.voice", &asked_object);
    cold.type = type;
    OK(invivo_define(runtime, &cold, &asked_key, E));
    asked_job = posted;
    OK(invivo_pool_open(runtime, NULL, &asked_pool, E));
    commit other;
    commit_elsewhere(&other, DEPTH("a.voice", 3));
    next_job(1);
    OK(invivo_runtime_poll(runtime, CHECK_LIMIT_SECONDS * 1000, NULL, E)); /* calls under a lock */
    pthread_join(other.thread, NULL);
    CHECK_EQUAL(other.status, INVIVO_OK);
    invivo_object again;
    OK(invivo_resolve_name(runtime, "a.cold", &again, E)); /* and without one */
    OK(invivo_object_release(again));
    CHECK(asked > 1);
    CHECK_EQUAL(answers_otherwise, 0);
    OK(invivo_pool_close(asked_pool, E));
    asked_pool = (invivo_pool){0};
    OK(invivo_object_release(asked_object));
    end();
}

/* ---- callbacks --------------------------------------------------------------------------------------- */

static int ran_in_setter;
static void everything_that_waits(void) {
    invivo_object object;
    ran_in_setter++;
    expects_error(invivo_changes_commit(document("{}"), E), INVIVO_E_WOULD_WAIT,
                  "a reload cannot be waited for from inside a callback; submit the change set, which does not wait");
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_runtime_close_deferred(runtime, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_runtime_poll(runtime, 0, NULL, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_watch(runtime, "/nowhere/a.yaml", E), INVIVO_E_WOULD_WAIT, NULL);
    if (OK(invivo_resolve_name(runtime, "a.voice", &object, E))) { /* calls that do not wait are allowed */
        expects_error(invivo_target_attach(object, "b.voice", NULL, E), INVIVO_E_WOULD_WAIT, NULL);
        OK(invivo_object_release(object));
    }
}
static void a_callback_may_not_wait(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    make("a.voice", NULL);
    in_setter = everything_that_waits;
    ran_in_setter = 0;
    OK(invivo_changes_commit(document(DEPTH("a.voice", 3)), E));
    CHECK_EQUAL(ran_in_setter, 1);
    end();
}

static void submit_more(void) { OK(invivo_changes_submit(document(DEPTH("a.voice", 4)), E)); }
static void a_setter_may_ask_for_a_reload(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    in_setter = submit_more;
    OK(invivo_changes_commit(document(DEPTH("a.voice", 3)), E));
    CHECK_EQUAL(self->depth, 3); /* never nested ... */
    while (self->depth == 3) {
        uint32_t ran = 0;
        OK(invivo_runtime_poll(runtime, CHECK_LIMIT_SECONDS * 1000, &ran, E));
        if (!CHECK(ran > 0)) break;
    }
    CHECK_EQUAL(self->depth, 4); /* ... and never lost */
    OK(invivo_object_release(object));
    end();
}

/* A valid change set that is submitted with an invalid one is not lost. */
static void submitted_sets_do_not_fail_each_other(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    voice *self = make("a.voice", &object);
    struct pollfd waits = {.events = POLLIN};
    listener *heard = malloc(sizeof(*heard));
    listener_open(heard, runtime);
    OK(invivo_runtime_descriptor(runtime, &waits.fd, E));
    OK(invivo_changes_submit(document(DEPTH("a.voice", 3)), E));
    CHECK_EQUAL(poll(&waits, 1, CHECK_LIMIT_SECONDS * 1000), 1); /* the worker waits for this thread; the next two join */
    invivo_changes bad, good;
    invivo_value seven = invivo_double(7);
    OK(invivo_changes_open(runtime, &bad, E));
    OK(invivo_changes_set(bad, "a.voice", "nothing", &seven, E));
    OK(invivo_changes_submit(bad, E));
    OK(invivo_changes_open(runtime, &good, E));
    OK(invivo_changes_set(good, "a.voice", "gain", &seven, E));
    OK(invivo_changes_submit(good, E));
    for (size_t polls = 0; listener_count(heard) < 3 && polls < 1000; polls++) OK(invivo_runtime_poll(runtime, 20, NULL, E));
    listener_wait(heard, 3);
    CHECK_EQUAL(heard->reports[1].status, INVIVO_E_PROPERTY);
    CHECK_EQUAL(heard->reports[2].status, INVIVO_OK);
    CHECK_EQUAL(self->gain, 7);
    OK(invivo_object_release(object));
    end();
    listener_end(heard);
    free(heard);
}

/* If several joined sets define the same key, the last one wins, as with one reload each. */
static void of_submitted_sets_that_define_one_key_the_later_holds(void) {
    begin(NULL);
    register_voice((invivo_domain){0});
    invivo_object object;
    make("a.voice", NULL);
    struct pollfd waits = {.events = POLLIN};
    listener *heard = malloc(sizeof(*heard));
    listener_open(heard, runtime);
    OK(invivo_runtime_descriptor(runtime, &waits.fd, E));
    OK(invivo_changes_submit(document(DEPTH("a.voice", 3)), E));
    CHECK_EQUAL(poll(&waits, 1, CHECK_LIMIT_SECONDS * 1000), 1); /* the worker waits for this thread; the next ones join */
    invivo_injection first[] = {{.name = "gain", .value = invivo_double(1.25)}, {.name = "depth", .value = invivo_double(9)}};
    invivo_injection second[] = {{.name = "gain", .value = invivo_double(1.5)}};
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.lead", .scope = INVIVO_SCOPE_SINGLETON, .type = type,
                              .properties = first, .property_count = 2};
    invivo_value two = invivo_double(2);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &lead, NULL, E));
    OK(invivo_changes_set(changes, "a.lead", "gain", &two, E));
    OK(invivo_changes_submit(changes, E));
    lead.properties = second, lead.property_count = 1;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &lead, NULL, E));
    OK(invivo_changes_submit(changes, E));
    for (size_t polls = 0; listener_count(heard) < 2 && polls < 1000; polls++) OK(invivo_runtime_poll(runtime, 20, NULL, E));
    listener_wait(heard, 2);
    CHECK_TEXT(heard->reports[1].changes, "a.lead defined");
    void *instance;
    OK(invivo_resolve_name(runtime, "a.lead", &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    CHECK_EQUAL(((voice *)instance)->gain, 1.5);
    CHECK_EQUAL(((voice *)instance)->depth, 0);
    OK(invivo_object_release(object));
    end();
    listener_end(heard);
    free(heard);
}

/* A job that only the waiting thread could run: this cannot be detected, so the wait has a limit. */
static invivo_job kept_job;
static invivo_status keep_job(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    return kept_job = job, INVIVO_OK;
}
static void a_wait_for_a_domain_without_is_current_ends(void) {
    invivo_domain_options options = {.struct_size = sizeof(options), .name = "gui", .post = keep_job};
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.lead", .scope = INVIVO_SCOPE_SINGLETON};
    invivo_domain domain;
    begin(NULL);
    OK(invivo_domain_register(runtime, &options, &domain, E));
    register_voice(domain);
    lead.type = type;
    expects_error(invivo_define(runtime, &lead, NULL, E), INVIVO_E_TIMEOUT,
                  "the domain 'gui' did not take its job in time; its thread must poll the runtime (or run posted jobs). It may be the one that "
                  "waits here: let the domain report that by is_current");
    CHECK_EQUAL(invivo_job_run(kept_job), INVIVO_E_STALE);
    CHECK_EQUAL(generation(), 0);
    end();
}

/* ---- observers --------------------------------------------------------------------------------------- */

typedef struct { invivo_observer handle; int calls, destroyed; bool closes_itself; pthread_barrier_t *inside; } watcher;
static void watcher_called(void *user_data, const invivo_report *report) {
    watcher *self = user_data;
    self->calls++;
    CHECK(invivo_report_text(report)[0] != 0);
    if (self->closes_itself) OK(invivo_observer_close(self->handle, E));
    if (self->inside) {
        pthread_barrier_wait(self->inside); /* another thread closes the observer meanwhile ... */
        struct timespec pause = {0, 20 * 1000 * 1000};
        nanosleep(&pause, NULL);
        __atomic_store_n(&self->inside, NULL, __ATOMIC_RELEASE); /* ... and must not return before this */
    }
}
static void watcher_destroyed(void *user_data) { ((watcher *)user_data)->destroyed++; }
static void watch(watcher *self) {
    invivo_observer_options options = {.struct_size = sizeof(options), .reloaded = watcher_called, .user_data = self, .destroy = watcher_destroyed};
    OK(invivo_observe(runtime, &options, &self->handle, E));
}
static void *close_watcher(void *user_data) {
    watcher *self = user_data;
    pthread_barrier_wait(self->inside);
    OK(invivo_observer_close(self->handle, E));
    CHECK(__atomic_load_n(&self->inside, __ATOMIC_ACQUIRE) == NULL);
    return NULL;
}
static void observers_close_themselves_and_from_elsewhere(void) {
    begin(NULL);
    watcher itself = {.closes_itself = true}, stays = {0}, elsewhere = {0};
    pthread_barrier_t inside;
    pthread_t thread;
    pthread_barrier_init(&inside, NULL, 2);
    elsewhere.inside = &inside;
    watch(&itself);
    watch(&stays);
    OK(invivo_changes_commit(document("{}"), E));
    CHECK_EQUAL(itself.calls, 1);
    CHECK_EQUAL(itself.destroyed, 1);
    watch(&elsewhere);
    pthread_create(&thread, NULL, close_watcher, &elsewhere);
    OK(invivo_changes_commit(document("{} # 2"), E));
    pthread_join(thread, NULL);
    CHECK_EQUAL(elsewhere.destroyed, 1);
    OK(invivo_changes_commit(document("{} # 3"), E));
    CHECK_EQUAL(itself.calls, 1);
    CHECK_EQUAL(elsewhere.calls, 1);
    CHECK_EQUAL(stays.calls, 3);
    CHECK_EQUAL(invivo_observer_close(itself.handle, NULL), INVIVO_E_HANDLE);
    end();
    CHECK_EQUAL(stays.destroyed, 1);
    CHECK_EQUAL(invivo_observer_close(stays.handle, NULL), INVIVO_E_HANDLE);
    pthread_barrier_destroy(&inside);
}

/* An observer in a domain is called there. */
static void an_observer_in_a_domain_is_called_there(void) {
    invivo_domain domain = begin_posted(0);
    watcher there = {0};
    invivo_observer_options options = {.struct_size = sizeof(options), .reloaded = watcher_called, .user_data = &there,
                                       .destroy = watcher_destroyed, .domain = domain};
    OK(invivo_observe(runtime, &options, &there.handle, E));
    OK(invivo_changes_commit(document("{}"), E));
    CHECK_EQUAL(there.calls, 0);
    CHECK_EQUAL(invivo_job_run(next_job(1)), INVIVO_OK);
    CHECK_EQUAL(there.calls, 1);
    OK(invivo_changes_commit(document("{} # 2"), E));
    invivo_job late = next_job(2);
    end();
    CHECK_EQUAL(invivo_job_run(late), INVIVO_E_STALE);
    CHECK_EQUAL(there.calls, 1);
    CHECK_EQUAL(there.destroyed, 1);
    CHECK_EQUAL(destroys, 1);
}

int main(void) {
    check_begin();
    RUN_TEST(the_opener_is_served_when_it_polls);
    RUN_TEST(the_descriptor_is_readable_while_a_job_waits);
    RUN_TEST(waiting_inside_the_runtime_serves_the_domain);
    RUN_TEST(a_domain_that_does_not_poll_fails_the_reload);
    RUN_TEST(a_foreign_thread_may_not_touch_confined_objects);
    RUN_TEST(the_loop_thread_applies_changes_by_itself);
    RUN_TEST(a_posted_job_runs_once);
    RUN_TEST(a_job_inside_a_job_leaves_the_outer_one_where_it_is);
    RUN_TEST(an_asynchronous_resolve_of_a_choice_runs_in_the_domain_of_its_target);
    RUN_TEST(a_job_run_after_its_deadline_does_nothing);
    RUN_TEST(a_job_finished_after_its_deadline_is_undone);
    RUN_TEST(an_object_made_after_the_deadline_is_dropped);
    RUN_TEST(a_commit_that_times_out_in_one_domain_is_undone_in_the_other);
    RUN_TEST(a_failure_in_one_domain_is_undone_in_the_one_before);
    RUN_TEST(a_job_that_was_dropped_keeps_no_close_waiting);
    RUN_TEST(an_object_from_a_method_in_a_commit_keeps_its_domain);
    RUN_TEST(a_long_wait_is_the_last_error_with_the_awaited_operation);
    RUN_TEST(a_job_that_does_not_end_is_left_to_its_domain);
    RUN_TEST(a_late_domain_undoes_its_part_when_it_answers);
    RUN_TEST(a_domain_without_a_thread_is_where_its_host_reports);
    RUN_TEST(is_current_may_not_call_the_runtime);
    RUN_TEST(a_callback_may_not_wait);
    RUN_TEST(a_setter_may_ask_for_a_reload);
    RUN_TEST(submitted_sets_do_not_fail_each_other);
    RUN_TEST(of_submitted_sets_that_define_one_key_the_later_holds);
    RUN_TEST(a_wait_for_a_domain_without_is_current_ends);
    RUN_TEST(observers_close_themselves_and_from_elsewhere);
    RUN_TEST(an_observer_in_a_domain_is_called_there);
    return check_end();
}
