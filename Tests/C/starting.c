/* Start and stop in domains: confined objects one after the other on the thread of their domain, in dependency order;
 * shared objects on other threads. */
/* sanitize: yes */
#include "check.h"

/* A domain with a thread of its own. */
static pthread_t worker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
enum { MOST = 64 };
static invivo_job jobs[MOST];
static int posted, done;
static bool ends;

static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    pthread_mutex_lock(&lock);
    bool fits = posted - done < MOST;
    if (fits) jobs[posted++ % MOST] = job;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return fits ? INVIVO_OK : INVIVO_E_BUSY;
}
static uint8_t is_current(void *user_data) { return (void)user_data, pthread_equal(pthread_self(), worker) != 0; }
static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!ends || done < posted) {
        if (done == posted) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        invivo_job job = jobs[done++ % MOST];
        pthread_mutex_unlock(&lock);
        (void)invivo_job_run(job); /* a withdrawn job is skipped */
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- started objects ----------------------------------------------------------------------------------- */

typedef struct service { char name[8]; bool is_confined; } service;
static char trace[1024];
static int elsewhere;
static const char *fail_at;

/* "start:b ", and whether the thread is right. */
static invivo_status say(const char *what, service *self, invivo_error **error) {
    char event[32];
    snprintf(event, sizeof event, "%s:%s", what, self->name);
    if (self->is_confined && !is_current(NULL)) __atomic_add_fetch(&elsewhere, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    strcat(strcat(trace, event), " ");
    pthread_mutex_unlock(&lock);
    if (!fail_at || strcmp(fail_at, event) != 0) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status service_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    service *self = instance;
    (void)arguments, (void)count;
    snprintf(self->name, sizeof self->name, "%s", strchr(invivo_key_name(build->key), '.') + 1);
    self->is_confined = user_data != NULL;
    return say("init", self, error);
}
static invivo_status service_prepare(void *instance, void *user_data, invivo_error **error) { return (void)user_data, say("prepare", instance, error); }
static invivo_status service_start(void *instance, void *user_data, invivo_error **error) { return (void)user_data, say("start", instance, error); }
static invivo_status service_stop(void *instance, void *user_data, invivo_error **error) { return (void)user_data, say("stop", instance, error); }
static void service_deinit(void *instance, void *user_data) { (void)user_data, say("end", instance, NULL); }
static const invivo_parameter inputs[] = {{.name = "a", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
                                          {.name = "b", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};

static invivo_runtime runtime;
static invivo_type confined, shared;

static void begin(void) {
    invivo_domain domain;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Shared", .size = sizeof(service), .alignment = 1,
                                   .concurrency = INVIVO_SHARED, .init = service_init, .deinit = service_deinit,
                                   .prepare = service_prepare, .start = service_start, .stop = service_stop, .parameters = inputs, .parameter_count = 2};
    trace[0] = 0, posted = done = elsewhere = 0, ends = false, fail_at = NULL;
    pthread_create(&worker, NULL, work, NULL);
    OK(invivo_runtime_open(&runtime, NULL, E));
    const invivo_domain_options where = {.struct_size = sizeof where, .name = "ui", .post = post, .is_current = is_current};
    OK(invivo_domain_register(runtime, &where, &domain, E));
    OK(invivo_type_register(runtime, &options, &shared, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED, options.domain = domain, options.user_data = &worker;
    OK(invivo_type_register(runtime, &options, &confined, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    pthread_mutex_lock(&lock);
    ends = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    CHECK_EQUAL(elsewhere, 0);
}
/* last and c need b and other, b needs first and a; the confined ones are a, b, c and other. */
static invivo_status commit_all(uint32_t scope, invivo_error **error) {
    static const invivo_injection b[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "s.a"}, {.how = INVIVO_INJECT_REFERENCE, .reference = "s.first"}};
    static const invivo_injection c[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "s.b"}, {.how = INVIVO_INJECT_REFERENCE, .reference = "s.other"}};
    const invivo_definition definitions[] = {
        {.key = "s.c", .type = confined, .initializer = c, .initializer_count = 2}, {.key = "s.b", .type = confined, .initializer = b, .initializer_count = 2},
        {.key = "s.a", .type = confined}, {.key = "s.other", .type = confined}, {.key = "s.first", .type = shared}};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        invivo_definition definition = definitions[i];
        definition.struct_size = sizeof definition, definition.scope = scope;
        OK(invivo_changes_define(changes, &definition, NULL, E));
    }
    return invivo_changes_commit(changes, error);
}
static bool before(const char *one, const char *other) {
    const char *first = strstr(trace, one), *second = strstr(trace, other);
    return first && second && first < second;
}

/* By a commit on another thread. */
static void confined_ones_start_and_stop_in_order_where_they_belong(void) {
    begin();
    OK(commit_all(INVIVO_SCOPE_SINGLETON, E));
    CHECK(before("start:a ", "start:b ") && before("start:first ", "start:b ") && before("start:b ", "start:c ") && before("start:other ", "start:c "));
    CHECK(before("init:c ", "prepare:a ") && before("prepare:c ", "start:a "));
    trace[0] = 0;
    end();
    CHECK(before("stop:c ", "stop:b ") && before("stop:c ", "stop:other ") && before("stop:b ", "stop:a ") && before("stop:b ", "stop:first "));
    CHECK(before("stop:a ", "end:c ") && before("end:c ", "end:b ") && before("end:b ", "end:a "));
}

static void a_start_that_fails_there_stops_what_was_started_there(void) {
    begin();
    fail_at = "start:c";
    expects_error(commit_all(INVIVO_SCOPE_SINGLETON, E), INVIVO_E_HOST, "s.c: on purpose");
    CHECK(before("start:b ", "start:c ") && before("start:c ", "stop:b ") && before("stop:b ", "stop:a ") && before("stop:b ", "stop:first "));
    CHECK(strstr(trace, "stop:c ") == NULL);
    fail_at = NULL;
    end(); /* jobs of the domain dispose of the objects, and close waits for them */
    CHECK(before("stop:a ", "end:c ") && before("end:c ", "end:b ") && before("end:b ", "end:a "));
}

/* By a resolve of another thread. */
static void came(void *user_data, invivo_object object, const invivo_error *error) {
    CHECK(error == NULL);
    if (object.bits) OK(invivo_object_release(object));
    pthread_mutex_lock(&lock);
    *(bool *)user_data = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
static void an_asynchronous_resolve_starts_there_too(void) {
    bool is_there = false;
    invivo_key key;
    begin();
    OK(commit_all(INVIVO_SCOPE_LAZY_SINGLETON, E));
    CHECK_TEXT(trace, "");
    OK(invivo_key_find(runtime, "s.c", &key, E));
    OK(invivo_resolve_async(runtime, key, NULL, 0, came, &is_there, (invivo_domain){0}, E));
    pthread_mutex_lock(&lock);
    while (!is_there) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    CHECK(before("start:a ", "start:b ") && before("start:b ", "start:c ") && before("start:other ", "start:c "));
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(confined_ones_start_and_stop_in_order_where_they_belong);
    RUN_TEST(a_start_that_fails_there_stops_what_was_started_there);
    RUN_TEST(an_asynchronous_resolve_starts_there_too);
    return check_end();
}
