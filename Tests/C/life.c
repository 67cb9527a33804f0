/* Life cycle: prepare, start and stop in dependency order, in parallel if independent; failures and timeouts; disposal
 * in reverse order of creation, once, over many commits; states. */
/* sanitize: yes */
#include "check.h"

typedef struct service {
    char name[24];
    invivo_object inputs[4];
} service;

static char trace[1 << 16];
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *fail_at, *slow_at; /* the events that fail, "start:b stop:a", and the one that takes `slow_ms` */
static int slow_ms;
/* A limit within which a start or stop begins on a separate thread on a busy machine, and a duration that exceeds it. */
enum { SHORT_LIMIT_MS = 500, OVERRUN_MS = 900 };
static int live, running;

/* Whether `fail_at` contains the event. */
static bool is_named(const char *event) {
    size_t length = strlen(event);
    for (const char *at = fail_at; (at = strstr(at, event)); at += length)
        if ((at == fail_at || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) return true;
    return false;
}

/* Records "what:name "; fails if requested. */
static invivo_status say(const char *what, const char *name, invivo_error **error) {
    char event[64];
    snprintf(event, sizeof event, "%s:%s", what, name);
    pthread_mutex_lock(&trace_lock);
    if (strlen(trace) + strlen(event) + 2 < sizeof trace) strcat(strcat(trace, event), " ");
    pthread_mutex_unlock(&trace_lock);
    if (slow_at && strcmp(slow_at, event) == 0) {
        struct timespec time = {.tv_nsec = slow_ms * 1000000};
        nanosleep(&time, NULL);
    }
    /* "*stop" matches every stop. */
    if (!fail_at || (!is_named(event) && (fail_at[0] != '*' || strcmp(fail_at + 1, what) != 0))) return INVIVO_OK;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static invivo_status service_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    service *self = instance;
    const char *key = build->key.bits ? invivo_key_name(build->key) : "made";
    (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", strchr(key, '.') ? strchr(key, '.') + 1 : key);
    for (size_t i = 0; i < count && i < 4; i++)
        if (arguments[i].kind == INVIVO_KIND_OBJECT) self->inputs[i] = arguments[i].as.object;
    invivo_status status = say("init", self->name, error);
    if (!status) __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return status;
}
static const char *held_up; /* its end waits for the second of two barriers, and signals its begin with the first */
static pthread_barrier_t barriers[2];
static void service_deinit(void *instance, void *user_data) {
    (void)user_data;
    if (held_up && strcmp(held_up, ((service *)instance)->name) == 0) {
        held_up = NULL;
        for (int i = 0; i < 2; i++) pthread_barrier_wait(&barriers[i]);
    }
    say("end", ((service *)instance)->name, NULL);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status service_prepare(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("prepare", ((service *)instance)->name, error);
}
static void (*in_start)(const char *name);
static invivo_status service_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    invivo_status status = say("start", ((service *)instance)->name, error);
    if (!status && in_start) in_start(((service *)instance)->name);
    if (!status) __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
    return status;
}
static void (*in_stop)(const char *name);
static invivo_status service_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
    if (in_stop) in_stop(((service *)instance)->name);
    return say("stop", ((service *)instance)->name, error);
}
static int set_fails;
static invivo_status get_object(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((service *)instance)->inputs[(size_t)user_data]);
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_object(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    if (set_fails && set_fails--) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "not set", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((service *)instance)->inputs[(size_t)user_data] = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}

static const invivo_parameter inputs[] = {
    {.name = "a", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "b", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "c", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "d", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)1},
};

static invivo_runtime runtime;
static invivo_type shared_type, confined_type, plain_type;

static void begin_with(const invivo_runtime_options *given) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Service", .size = sizeof(service), .alignment = 8,
                                   .concurrency = INVIVO_SHARED, .init = service_init, .deinit = service_deinit,
                                   .prepare = service_prepare, .start = service_start, .stop = service_stop,
                                   .parameters = inputs, .parameter_count = 4, .properties = properties, .property_count = 2};
    trace[0] = 0, live = running = 0, fail_at = slow_at = NULL, slow_ms = 30, in_start = in_stop = NULL;
    OK(invivo_runtime_open(&runtime, given, E));
    OK(invivo_type_register(runtime, &options, &shared_type, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &confined_type, E));
    options.name = "Plain", options.concurrency = INVIVO_SHARED, options.prepare = options.start = options.stop = NULL;
    OK(invivo_type_register(runtime, &options, &plain_type, E));
}
static void begin(void) { begin_with(NULL); }
static void end(void) {
    if (fail_at) fail_at = NULL; /* otherwise a hook may be reading it */
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(running, 0);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define KEY(given) {.how = INVIVO_INJECT_REFERENCE, .reference = given}
#define INTO(parameter, given) {.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = given}
static invivo_changes changes;
static void describe(void) { OK(invivo_changes_open(runtime, &changes, E)); }
#define ADD(given_key, given_scope, given_type, ...)                                                                        \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key,      \
                                                           .scope = INVIVO_SCOPE_##given_scope, .type = given_type, __VA_ARGS__}, NULL, E))
#define INITIALIZER(array) .initializer = array, .initializer_count = COUNT(array)
#define PROPERTIES(array) .properties = array, .property_count = COUNT(array)
static void commit(void) { OK(invivo_changes_commit(changes, E)); }

static invivo_key key_of(const char *name) {
    invivo_key key = {0};
    OK(invivo_key_find(runtime, name, &key, E));
    return key;
}
static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static void drop(invivo_object object) { OK(invivo_object_release(object)); }
static void clear(void) { trace[0] = 0; }

/* The name of a key's state. */
static const char *state_of(const char *key) {
    static char found[32];
    invivo_value states;
    snprintf(found, sizeof found, "(none)");
    OK(invivo_runtime_states(runtime, &states, E));
    for (uint64_t i = 0; i < states.as.list.count; i++) {
        const invivo_value *entry = &states.as.list.items[i];
        const invivo_pair *pairs = entry->as.map.pairs;
        if (pairs[0].value.as.string.length == strlen(key) && !memcmp(pairs[0].value.as.string.data, key, strlen(key)))
            snprintf(found, sizeof found, "%.*s", (int)pairs[2].value.as.string.length, pairs[2].value.as.string.data);
    }
    invivo_value_clear(&states);
    return found;
}

/* ---- order ------------------------------------------------------------------------------------------- */

/* c -> b -> (plain) -> a: everything is created, then prepared, then started, dependencies first, also through objects
 * without hooks; stopped and disposed of in reverse. */
static void dependencies_start_first_and_stop_last(void) {
    begin();
    invivo_injection plain[] = {KEY("s.a")}, b[] = {KEY("s.plain")}, c[] = {KEY("s.b")};
    describe();
    ADD("s.c", SINGLETON, shared_type, INITIALIZER(c));
    ADD("s.b", SINGLETON, shared_type, INITIALIZER(b));
    ADD("s.plain", LAZY_SINGLETON, plain_type, INITIALIZER(plain));
    ADD("s.a", LAZY_SINGLETON, shared_type);
    commit();
    CHECK_TEXT(trace, "init:a init:plain init:b init:c prepare:a prepare:b prepare:c start:a start:b start:c ");
    CHECK_TEXT(state_of("s.a"), "started");
    CHECK_TEXT(state_of("s.plain"), "made");
    clear();
    end();
    CHECK_TEXT(trace, "stop:c stop:b stop:a end:c end:b end:plain end:a ");
}

static void one_resolve_starts_all_it_makes_when_it_is_complete(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")}, c[] = {INTO("left", "s.b")};
    describe();
    ADD("s.c", LAZY_SINGLETON, confined_type, PROPERTIES(c));
    ADD("s.b", PROTOTYPE, confined_type, INITIALIZER(b));
    ADD("s.a", LAZY_SINGLETON, shared_type);
    commit();
    CHECK_TEXT(trace, "");
    CHECK_TEXT(state_of("s.a"), "cold");
    invivo_object c_object = resolve("s.c");
    CHECK_TEXT(trace, "init:c init:a init:b prepare:a prepare:b prepare:c start:a start:b start:c ");
    clear();
    drop(c_object), drop(resolve("s.c"));
    CHECK_TEXT(trace, ""); /* once */
    drop(resolve("s.b"));
    CHECK_TEXT(trace, "init:b prepare:b start:b stop:b end:b ");
    end();
}

/* A replaced object stops after the new one has started, dependents first. */
static void the_former_generation_stops_after_the_new_one_has_started(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")};
    describe();
    ADD("s.a", SINGLETON, shared_type);
    ADD("s.b", SINGLETON, shared_type, INITIALIZER(b));
    commit();
    clear();
    describe();
    ADD("s.a", SINGLETON, shared_type);
    commit();
    CHECK_TEXT(trace, "init:a init:b prepare:a prepare:b start:a start:b stop:b stop:a end:b end:a ");
    end();
}

/* ---- in parallel --------------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;
static int at_barrier;
static void wait_for_the_others(const char *name) {
    if (name[0] != 'p') return;
    __atomic_add_fetch(&at_barrier, 1, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&barrier);
}
static void four_that_wait_for_one_another_complete(void) {
    begin();
    pthread_barrier_init(&barrier, NULL, 4);
    in_start = in_stop = wait_for_the_others, at_barrier = 0;
    invivo_injection all[] = {KEY("s.p1"), KEY("s.p2"), KEY("s.p3"), KEY("s.p4")};
    describe();
    ADD("s.top", LAZY_SINGLETON, confined_type, INITIALIZER(all));
    for (int i = 1; i <= 4; i++) {
        char key[] = {'s', '.', 'p', (char)('0' + i), 0};
        ADD(key, SINGLETON, shared_type);
    }
    commit();
    CHECK_EQUAL(at_barrier, 4);
    /* Also by a resolve: its own start follows theirs. */
    describe();
    for (int i = 1; i <= 4; i++) {
        char key[] = {'s', '.', 'p', (char)('0' + i), 0};
        ADD(key, LAZY_SINGLETON, shared_type);
    }
    commit();
    invivo_live_counts counts = {.struct_size = sizeof counts};
    invivo_live(&counts);
    CHECK_EQUAL(counts.threads, 0); /* they exist only temporarily */
    in_stop = NULL;
    describe();
    for (int i = 1; i <= 4; i++) {
        char key[] = {'s', '.', 'p', (char)('0' + i), 0};
        OK(invivo_changes_reset(changes, key, 0, E));
    }
    commit();
    in_stop = wait_for_the_others;
    clear(), at_barrier = 0;
    drop(resolve("s.top"));
    CHECK_EQUAL(at_barrier, 4);
    CHECK(strstr(trace, "start:top") && strstr(trace, "start:top")[10] == 0);
    at_barrier = 0;
    end(); /* they stop together too */
    CHECK_EQUAL(at_barrier, 4);
    pthread_barrier_destroy(&barrier);
}

/* No code gets a shared instance before it is started. */
static int started_before;
static void note_slowly(const char *name) {
    struct timespec time = {.tv_nsec = 50 * 1000000};
    if (strcmp(name, "inner") != 0) return;
    nanosleep(&time, NULL);
    __atomic_store_n(&started_before, 1, __ATOMIC_SEQ_CST);
}
static void *get_outer(void *unused) {
    (void)unused;
    drop(resolve("s.outer"));
    return NULL;
}
static void no_code_gets_an_object_before_it_is_started(void) {
    begin();
    invivo_injection outer[] = {KEY("s.inner")};
    describe();
    ADD("s.outer", LAZY_SINGLETON, shared_type, INITIALIZER(outer));
    ADD("s.inner", LAZY_SINGLETON, shared_type);
    commit();
    started_before = 0, in_start = note_slowly;
    pthread_t thread;
    pthread_create(&thread, NULL, get_outer, NULL);
    while (!strstr(trace, "start:inner")) sched_yield();
    invivo_object inner = resolve("s.inner"); /* waits */
    CHECK(__atomic_load_n(&started_before, __ATOMIC_SEQ_CST));
    drop(inner);
    pthread_join(thread, NULL);
    end();
}

/* A start may resolve objects, built or not. */
static void resolve_others(const char *name) {
    if (name[0] == 'x') drop(resolve("s.made")), drop(resolve("s.cold"));
}
static void a_start_may_resolve(void) {
    begin();
    in_start = resolve_others;
    invivo_injection top[] = {KEY("s.x1"), KEY("s.x2"), KEY("s.x3"), KEY("s.made")};
    describe();
    ADD("s.top", LAZY_SINGLETON, shared_type, INITIALIZER(top));
    for (int i = 1; i <= 3; i++) {
        char key[] = {'s', '.', 'x', (char)('0' + i), 0};
        ADD(key, LAZY_SINGLETON, shared_type);
    }
    ADD("s.made", LAZY_SINGLETON, shared_type);
    ADD("s.cold", LAZY_SINGLETON, shared_type);
    commit();
    drop(resolve("s.top"));
    CHECK_EQUAL(running, 6);
    CHECK(strstr(trace, "start:cold") && !strstr(strstr(trace, "start:cold") + 1, "start:cold"));
    end();
}

/* ---- failures ---------------------------------------------------------------------------------------- */

/* Objects that hooks of a commit resolve are started with the commit. */
static void resolve_late(const char *name) {
    if (strcmp(name, "eager") == 0) drop(resolve("s.late"));
}
static invivo_status resolve_late_when_injected(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    resolve_late(((service *)instance)->name);
    return INVIVO_OK;
}
static void objects_that_hooks_of_a_commit_resolve_are_started(void) {
    for (int by_start = 0; by_start < 2; by_start++) {
        begin();
        invivo_type type = shared_type;
        if (by_start) {
            in_start = resolve_late;
        } else {
            OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Hearing", .size = sizeof(service),
                                             .alignment = 8, .concurrency = INVIVO_SHARED, .init = service_init, .deinit = service_deinit,
                                             .start = service_start, .stop = service_stop, .did_inject = resolve_late_when_injected}, &type, E));
        }
        describe();
        ADD("s.late", LAZY_SINGLETON, shared_type);
        ADD("s.eager", SINGLETON, type);
        commit();
        CHECK_EQUAL(running, 2);
        CHECK_TEXT(state_of("s.late"), "started");
        end();
    }
}

static void a_failing_start_stops_what_was_started(void) {
    for (int by_resolve = 0; by_resolve < 2; by_resolve++) {
        begin();
        invivo_injection b[] = {KEY("s.a")}, c[] = {KEY("s.b")}, d[] = {KEY("s.c")};
        invivo_object none;
        fail_at = "start:c";
        describe();
        if (by_resolve) {
            ADD("s.a", LAZY_SINGLETON, shared_type);
            ADD("s.b", LAZY_SINGLETON, confined_type, INITIALIZER(b));
            ADD("s.c", LAZY_SINGLETON, confined_type, INITIALIZER(c));
            ADD("s.d", LAZY_SINGLETON, confined_type, INITIALIZER(d));
            commit();
            expects_error(invivo_resolve_name(runtime, "s.d", &none, E), INVIVO_E_HOST, "s.c: on purpose");
            CHECK_TEXT(state_of("s.a"), "cold");
        } else {
            ADD("s.a", SINGLETON, shared_type);
            ADD("s.b", SINGLETON, confined_type, INITIALIZER(b));
            ADD("s.c", SINGLETON, confined_type, INITIALIZER(c));
            ADD("s.d", SINGLETON, confined_type, INITIALIZER(d));
            expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, "s.c: on purpose");
        }
        CHECK_TEXT(trace, "init:a init:b init:c init:d prepare:a prepare:b prepare:c prepare:d start:a start:b start:c "
                          "stop:b stop:a end:d end:c end:b end:a ");
        CHECK_EQUAL(running, 0);
        fail_at = NULL;
        if (by_resolve) {
            drop(resolve("s.d"));
            CHECK_EQUAL(running, 4);
        } else {
            expects_error(invivo_resolve_name(runtime, "s.a", &none, E), INVIVO_E_NOT_FOUND, NULL);
        }
        end();
    }
}

static void a_failing_prepare_starts_nothing(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")};
    fail_at = "prepare:b";
    describe();
    ADD("s.a", SINGLETON, shared_type);
    ADD("s.b", SINGLETON, shared_type, INITIALIZER(b));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, "s.b: on purpose");
    CHECK_TEXT(trace, "init:a init:b prepare:a prepare:b end:b end:a ");
    end();
}

/* The same if a resolve builds it; the next resolve prepares and starts all of it. */
static void a_prepare_that_fails_in_a_resolve_starts_nothing(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")}, c[] = {KEY("s.b")};
    invivo_object none;
    describe();
    ADD("s.a", LAZY_SINGLETON, shared_type);
    ADD("s.b", LAZY_SINGLETON, confined_type, INITIALIZER(b));
    ADD("s.c", LAZY_SINGLETON, confined_type, INITIALIZER(c));
    commit();
    for (int i = 0; i < 2; i++) {
        fail_at = "prepare:b";
        clear();
        expects_error(invivo_resolve_name(runtime, "s.c", &none, E), INVIVO_E_HOST, "s.b: on purpose");
        CHECK(strstr(trace, "prepare:b ") && !strstr(trace, "start:") && !strstr(trace, "stop:"));
        CHECK_TEXT(state_of("s.a"), "cold");
        CHECK_EQUAL(live, 0);
        fail_at = NULL;
        clear();
        if (i == 1) drop(resolve("s.c"));
    }
    CHECK_TEXT(trace, "init:a init:b init:c prepare:a prepare:b prepare:c start:a start:b start:c ");
    end();
}

/* Errors of stops in a failed commit are reported with the failure. */
static void failing_stops_in_a_failed_commit_are_reported_with_it(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")}, c[] = {KEY("s.b")};
    fail_at = "start:c stop:a stop:b";
    describe();
    ADD("s.a", SINGLETON, shared_type);
    ADD("s.b", SINGLETON, confined_type, INITIALIZER(b));
    ADD("s.c", SINGLETON, confined_type, INITIALIZER(c));
    check_error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, E), INVIVO_E_HOST);
    const char *text = invivo_error_text(check_error);
    CHECK(strstr(text, "s.c: on purpose") && strstr(text, "s.b: on purpose") && strstr(text, "s.a: on purpose"));
    invivo_error_release(check_error);
    check_error = NULL;
    CHECK_EQUAL(running, 0);
    CHECK_EQUAL(live, 0);
    end();
}

/* A commit stops its started objects in reverse order before any of them ends, also if the failure follows the starts. */
static void a_commit_that_fails_after_its_starts_stops_what_it_started(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")}, left[] = {INTO("left", "s.b")};
    describe();
    ADD("s.a", SINGLETON, shared_type);
    ADD("s.b", SINGLETON, shared_type, INITIALIZER(b));
    ADD("s.user", SINGLETON, confined_type, PROPERTIES(left));
    commit();
    clear();
    fail_at = "stop:a stop:b", set_fails = 1;
    describe();
    ADD("s.a", SINGLETON, shared_type);
    check_error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, E), INVIVO_E_HOST);
    CHECK_EQUAL(invivo_error_count(check_error), 3);
    CHECK_TEXT(invivo_error_text(check_error), "s.user: not set\ns.b: on purpose\ns.a: on purpose");
    invivo_error_release(check_error);
    check_error = NULL;
    CHECK_TEXT(trace, "init:a init:b prepare:a prepare:b start:a start:b stop:b stop:a end:b end:a ");
    CHECK_EQUAL(running, 3);
    end();
}

/* A resolve that fails inside a hook, and is handled there, rolls back nothing of the outer one. */
static invivo_status caught;
static void resolve_in_vain(const char *name) {
    invivo_object object;
    if (strcmp(name, "top") != 0) return;
    caught = invivo_resolve_name(runtime, "s.outer", &object, NULL);
    if (caught == INVIVO_OK) drop(object);
}
static void a_nested_failure_that_is_caught_takes_nothing_back(void) {
    begin();
    in_start = resolve_in_vain;
    invivo_injection top[] = {KEY("s.base")}, outer[] = {KEY("s.base"), KEY("s.bad")};
    describe();
    ADD("s.base", LAZY_SINGLETON, shared_type);
    ADD("s.bad", LAZY_SINGLETON, shared_type);
    ADD("s.outer", LAZY_SINGLETON, shared_type, INITIALIZER(outer));
    ADD("s.top", LAZY_SINGLETON, shared_type, INITIALIZER(top));
    commit();
    for (int i = 0; i < 2; i++) {
        fail_at = i == 0 ? "init:bad" : "start:bad";
        caught = INVIVO_OK;
        drop(resolve("s.top"));
        CHECK_EQUAL(caught, INVIVO_E_HOST);
        CHECK_EQUAL(running, 2);
        CHECK_EQUAL(live, 2);
        CHECK_TEXT(state_of("s.base"), "started");
        CHECK_TEXT(state_of("s.top"), "started");
        fail_at = NULL;
        describe();
        OK(invivo_changes_reset(changes, "s.top", 0, E));
        OK(invivo_changes_reset(changes, "s.base", 0, E));
        commit();
    }
    end();
}

static void the_error_of_a_hook_names_the_definitions_location(void) {
    static const char *const hooks[] = {"prepare:a", "start:a", "stop:a"};
    for (int hook = 0; hook < 3; hook++) {
        for (int by_resolve = 0; by_resolve < 2; by_resolve++) {
            invivo_object none;
            begin();
            describe();
            if (by_resolve)
                ADD("s.a", LAZY_SINGLETON, shared_type, .file = "app.c", .line = 7, .column = 3);
            else
                ADD("s.a", SINGLETON, shared_type, .file = "app.c", .line = 7, .column = 3);
            fail_at = hooks[hook];
            if (hook == 2) {
                commit();
                if (by_resolve) drop(resolve("s.a"));
                expects_error(invivo_stop(runtime, key_of("s.a"), E), INVIVO_E_HOST, "app.c:7:3: s.a: on purpose");
            } else if (by_resolve) {
                commit();
                expects_error(invivo_resolve_name(runtime, "s.a", &none, E), INVIVO_E_HOST, "app.c:7:3: s.a: on purpose");
            } else {
                expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, "app.c:7:3: s.a: on purpose");
            }
            end();
        }
    }
    begin();
    describe();
    ADD("s.a", SINGLETON, shared_type, .file = "app.c", .line = 7, .column = 3);
    commit();
    fail_at = "stop:a";
    check_error = NULL;
    CHECK_EQUAL(invivo_runtime_close(runtime, E), INVIVO_E_STOP);
    CHECK(strstr(invivo_error_text(check_error), "app.c:7:3: s.a: on purpose"));
    invivo_error_release(check_error);
}

/* `text` contains the duration after `what`: `slow_ms`, or more on a busy machine. */
static bool tells_how_long(const char *text, const char *what) {
    const char *found = strstr(text, what);
    char *end = NULL;
    return found && strtod(found + strlen(what), &end) >= slow_ms && strncmp(end, " ms", 3) == 0;
}

static void a_start_that_overruns_its_deadline_fails_with_how_long_it_took(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.start_timeout_ms = SHORT_LIMIT_MS;
    begin_with(&options);
    slow_at = "start:a", slow_ms = OVERRUN_MS;
    describe();
    ADD("s.a", SINGLETON, shared_type);
    check_error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, E), INVIVO_E_TIMEOUT);
    CHECK_TEXT(invivo_error_path(check_error), "s.a");
    CHECK(tells_how_long(invivo_error_text(check_error), "the start of Service took "));
    CHECK(strstr(invivo_error_text(check_error), "may take 500.0 ms"));
    invivo_error_release(check_error);
    CHECK_TEXT(trace, "init:a prepare:a start:a stop:a end:a "); /* it had been started */
    slow_ms = 30;
    /* A definition may declare another limit. */
    describe();
    ADD("s.a", SINGLETON, shared_type, .start_timeout_ms = 10000);
    commit();
    slow_at = "start:b";
    describe();
    ADD("s.b", LAZY_SINGLETON, shared_type, .start_timeout_ms = 20);
    commit();
    invivo_object none;
    expects_error(invivo_resolve_name(runtime, "s.b", &none, E), INVIVO_E_TIMEOUT, NULL);
    CHECK_TEXT(state_of("s.b"), "failed");
    slow_at = NULL;
    /* Each attempt is new; on a busy machine the fast one may also take longer than 20 ms. */
    invivo_status status = INVIVO_E_TIMEOUT;
    for (int i = 0; i < 1000 && status == INVIVO_E_TIMEOUT; i++) status = invivo_resolve_name(runtime, "s.b", &none, NULL);
    if (CHECK_EQUAL(status, INVIVO_OK)) drop(none);
    end();
}

/* An object that a failed change set starts again has the limit of its own definition. */
static void a_restarted_object_has_the_limit_of_its_definition(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.start_timeout_ms = SHORT_LIMIT_MS;
    begin_with(&options);
    describe();
    ADD("s.a", SINGLETON, shared_type, .flags = INVIVO_DEFINITION_EXCLUSIVE, .start_timeout_ms = 10000);
    commit();
    slow_at = "start:a", slow_ms = OVERRUN_MS, fail_at = "start:z";
    describe();
    ADD("s.a", SINGLETON, shared_type, .flags = INVIVO_DEFINITION_EXCLUSIVE, .start_timeout_ms = 20000);
    ADD("s.z", SINGLETON, shared_type);
    check_error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, E), INVIVO_E_HOST);
    CHECK(!strstr(invivo_error_text(check_error), "could not be started again"));
    invivo_error_release(check_error);
    CHECK_TEXT(state_of("s.a"), "started");
    fail_at = NULL;
    OK(invivo_stop(runtime, key_of("s.a"), E));
    OK(invivo_start(runtime, key_of("s.a"), E));
    slow_at = NULL;
    end();
}

/* A start hook resolves a lazy singleton of its own change set, which is then complete and started; the commit fails
 * later. */
static void resolves_helper(const char *name) {
    invivo_object object = {0};
    if (*name != 'a') return;
    OK(invivo_resolve_name(runtime, "s.helper", &object, E));
    OK(invivo_object_release(object));
}
static void objects_that_a_start_hook_resolved_end_with_a_failed_commit(void) {
    static const invivo_injection after[] = {KEY("s.a")};
    begin();
    in_start = resolves_helper, fail_at = "start:z";
    describe();
    ADD("s.helper", LAZY_SINGLETON, shared_type);
    ADD("s.a", SINGLETON, shared_type);
    ADD("s.z", SINGLETON, shared_type, INITIALIZER(after));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK(strstr(trace, "start:helper") != NULL && strstr(trace, "stop:helper") != NULL && strstr(trace, "end:helper") != NULL);
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(running, 0);
    end();
}

/* ---- hooks that do not return ------------------------------------------------------------------------ */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool is_open;
static void at_gate(const char *name) {
    if (*name != 'h') return;
    pthread_mutex_lock(&gate_lock);
    while (!is_open) pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}
static void open_gate(void) {
    pthread_mutex_lock(&gate_lock);
    is_open = true;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

/* The start of a shared type does not return: its change set fails, others commit, and it is stopped when it returns. */
static void a_start_that_does_not_return_holds_up_its_own_change_set_alone(void) {
    begin();
    is_open = false, in_start = at_gate;
    describe();
    ADD("s.h", SINGLETON, shared_type, .start_timeout_ms = SHORT_LIMIT_MS);
    ADD("s.a", SINGLETON, shared_type);
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, &error), INVIVO_E_TIMEOUT);
    CHECK(strstr(invivo_error_text(error), "s.h: "));
    CHECK(strstr(invivo_error_text(error), "the start of 's.h' has not finished after"));
    CHECK(strstr(invivo_error_text(error), "ms: its effects are undone when it returns"));
    invivo_error_release(error);
    describe();
    ADD("s.b", SINGLETON, shared_type);
    commit();
    CHECK_TEXT(state_of("s.b"), "started");
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    open_gate();
    end();
    const char *stopped = strstr(trace, "stop:h"), *ended = strstr(trace, "end:h");
    CHECK(stopped && ended && stopped < ended);
}

/* The same for the stop of a replaced object, and for a stop at close. */
static void a_stop_that_does_not_return_is_an_error_of_the_report(void) {
    begin();
    listener *heard = malloc(sizeof *heard);
    is_open = false, in_stop = at_gate;
    describe();
    ADD("s.h", SINGLETON, shared_type, .stop_timeout_ms = SHORT_LIMIT_MS);
    commit();
    listener_open(heard, runtime);
    describe();
    ADD("s.h", SINGLETON, shared_type, .stop_timeout_ms = SHORT_LIMIT_MS);
    commit(); /* the commit succeeds nevertheless */
    CHECK(strstr(heard->reports[0].stop_error, "the stop of 's.h' has not finished after"));
    CHECK(strstr(heard->reports[0].stop_error, "ms: the wait for it has ended"));
    describe();
    ADD("s.b", SINGLETON, shared_type);
    commit();
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    open_gate();
    end();
    listener_end(heard);
    free(heard);
}

/* A wait of more than 1 s for creations or starts on other threads is reported once: in the log, and as the last error
 * meanwhile. */
static int waits_logged;
static void count_waits(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (strstr(entry->message, "waited 1 s for")) __atomic_add_fetch(&waits_logged, 1, __ATOMIC_SEQ_CST);
}
static bool last_error_comes(const char *what) {
    bool names = false;
    for (int i = 0; i < CHECK_LIMIT_SECONDS * 200 && !names; i++) {
        invivo_error *error = NULL;
        struct timespec time = {.tv_nsec = 5 * 1000000};
        nanosleep(&time, NULL);
        OK(invivo_runtime_last_error(runtime, &error));
        names = error && strstr(invivo_error_text(error), what);
        invivo_error_release(error);
    }
    return names;
}
static void *resolve_and_drop(void *key) {
    invivo_object object;
    if (OK(invivo_resolve_name(runtime, key, &object, E))) drop(object);
    return NULL;
}
static pthread_t resolver;
static void at_gate_elsewhere(const char *name) {
    if (!pthread_equal(pthread_self(), resolver)) at_gate(name);
}
static void long_waits_for_other_threads_are_reported(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = count_waits, options.log_level = INVIVO_LOG_WARNING;
    waits_logged = 0;
    begin_with(&options);
    is_open = false, in_start = at_gate;
    describe();
    ADD("s.h", LAZY_SINGLETON, shared_type);
    commit();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(!pthread_create(&threads[i], NULL, resolve_and_drop, "s.h"));
    CHECK(last_error_comes("waited 1 s for 's.h', which another thread is creating"));
    open_gate();
    for (int i = 0; i < 4; i++) CHECK(!pthread_join(threads[i], NULL));
    CHECK_EQUAL(waits_logged, 1);
    invivo_error *error = NULL;
    OK(invivo_runtime_last_error(runtime, &error));
    CHECK(!error);
    /* Two that start in parallel: the resolving thread waits for the other. */
    is_open = false, in_start = at_gate_elsewhere;
    describe();
    ADD("s.h1", LAZY_SINGLETON, shared_type);
    ADD("s.h2", LAZY_SINGLETON, shared_type);
    const invivo_injection both[] = {KEY("s.h1"), KEY("s.h2")};
    ADD("s.all", LAZY_SINGLETON, shared_type, INITIALIZER(both));
    commit();
    CHECK(!pthread_create(&resolver, NULL, resolve_and_drop, "s.all"));
    CHECK(last_error_comes("waited 1 s for the start of 's.h"));
    open_gate();
    CHECK(!pthread_join(resolver, NULL));
    CHECK_EQUAL(waits_logged, 2);
    OK(invivo_runtime_last_error(runtime, &error));
    CHECK(!error);
    end();
}

static void stops_that_fail_are_gathered(void) {
    begin();
    listener *heard = malloc(sizeof *heard);
    describe();
    ADD("s.a", SINGLETON, shared_type);
    ADD("s.b", SINGLETON, confined_type);
    ADD("s.c", SINGLETON, shared_type, .stop_timeout_ms = SHORT_LIMIT_MS);
    commit();
    listener_open(heard, runtime);
    fail_at = "stop:a";
    describe();
    ADD("s.a", SINGLETON, shared_type);
    commit(); /* the commit succeeds nevertheless */
    CHECK_TEXT(heard->reports[0].error, "");
    CHECK_TEXT(heard->reports[0].stop_error, "s.a: on purpose");
    fail_at = "*stop", slow_at = "stop:c", slow_ms = OVERRUN_MS;
    check_error = NULL;
    CHECK_EQUAL(invivo_runtime_close(runtime, E), INVIVO_E_STOP);
    CHECK_EQUAL(invivo_error_count(check_error), 4);
    CHECK_TEXT(invivo_error_message(check_error), "the runtime is closed, and 3 objects failed while being stopped");
    CHECK(strstr(invivo_error_text(check_error), "s.a: on purpose"));
    CHECK(strstr(invivo_error_text(check_error), "s.b: on purpose"));
    CHECK(strstr(invivo_error_text(check_error), "s.c: on purpose"));
    invivo_error_release(check_error);
    CHECK_EQUAL(live, 0);
    listener_end(heard);
    free(heard);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_CLOSED, NULL);
    /* A slow one is reported too. */
    begin();
    describe();
    ADD("s.c", SINGLETON, shared_type, .stop_timeout_ms = SHORT_LIMIT_MS);
    commit();
    slow_at = "stop:c", slow_ms = OVERRUN_MS;
    check_error = NULL;
    CHECK_EQUAL(invivo_runtime_close(runtime, E), INVIVO_E_STOP);
    CHECK(tells_how_long(invivo_error_text(check_error), "s.c: the stop of Service took "));
    invivo_error_release(check_error);
    /* A replaced object has the limit of its own definition, not that of the next. */
    begin();
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
    describe();
    ADD("s.c", SINGLETON, shared_type, .stop_timeout_ms = SHORT_LIMIT_MS);
    commit();
    slow_at = "stop:c", slow_ms = OVERRUN_MS;
    describe();
    ADD("s.c", SINGLETON, shared_type);
    commit();
    CHECK(tells_how_long(heard->reports[1].stop_error, "s.c: the stop of Service took "));
    end();
    listener_end(heard);
    free(heard);
}

/* ---- manually ------------------------------------------------------------------------------------------ */

static void starting_twice_and_stopping_an_unstarted_object_are_no_ops(void) {
    begin();
    describe();
    ADD("s.a", LAZY_SINGLETON, shared_type);
    commit();
    invivo_key a = key_of("s.a");
    OK(invivo_stop(runtime, a, E));
    CHECK_TEXT(trace, ""); /* cold */
    OK(invivo_start(runtime, a, E));
    CHECK_TEXT(trace, "init:a prepare:a start:a ");
    OK(invivo_start(runtime, a, E));
    OK(invivo_stop(runtime, a, E));
    CHECK_TEXT(state_of("s.a"), "stopped");
    OK(invivo_stop(runtime, a, E));
    CHECK_TEXT(trace, "init:a prepare:a start:a stop:a ");
    fail_at = "start:a";
    expects_error(invivo_start(runtime, a, E), INVIVO_E_HOST, "s.a: on purpose");
    CHECK_TEXT(state_of("s.a"), "failed");
    fail_at = NULL;
    OK(invivo_start(runtime, a, E));
    OK(invivo_stop(runtime, a, E));
    clear();
    end();
    CHECK_TEXT(trace, "end:a "); /* it was stopped */
    invivo_object made;
    begin();
    OK(invivo_object_make(runtime, confined_type, NULL, 0, &made, E)); /* without a definition */
    CHECK_TEXT(trace, "init:made prepare:made start:made ");
    drop(made);
    CHECK_TEXT(trace, "init:made prepare:made start:made stop:made end:made ");
    end();
}

/* ---- disposal ---------------------------------------------------------------------------------------- */

static unsigned random_state;
static unsigned chance(unsigned limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

/* Random graphs, rebuilt by random commits while leases come and go: each object is stopped and disposed of once, never
 * while it is held; objects that end together end in exact reverse order of creation. */
typedef struct fact { int serial, made, ended, holders; } fact;
static fact facts[1 << 16];
static int fact_count, last_ended, order_broken, held_broken, twice;
typedef struct member { int serial; int count; int inputs[4]; } member;

static invivo_status member_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    member *self = instance;
    (void)build, (void)user_data, (void)error;
    for (size_t i = 0; i < count && i < 4; i++) {
        void *input = NULL;
        if (arguments[i].kind != INVIVO_KIND_OBJECT) continue;
        if (invivo_object_instance(arguments[i].as.object, (invivo_type){0}, &input, NULL) || !input) continue;
        self->inputs[self->count++] = ((member *)input)->serial;
    }
    self->serial = ++fact_count;
    facts[self->serial].made = 1;
    for (int i = 0; i < self->count; i++) facts[self->inputs[i]].holders++;
    return INVIVO_OK;
}
static void member_deinit(void *instance, void *user_data) {
    member *self = instance;
    (void)user_data;
    if (facts[self->serial].ended++) twice++;
    if (facts[self->serial].holders) held_broken++;
    if (last_ended && self->serial > last_ended) order_broken++;
    last_ended = self->serial;
    for (int i = 0; i < self->count; i++) facts[self->inputs[i]].holders--;
}
static void disposal_is_in_exact_reverse_order_of_creation_once(void) {
    enum { KEYS = 24, COMMITS = 40, ROUNDS = 12 };
    for (unsigned seed = 1; seed <= ROUNDS; seed++) {
        invivo_type_options options = {.struct_size = sizeof options, .name = "Member", .size = sizeof(member), .alignment = 8,
                                       .concurrency = INVIVO_SHARED, .init = member_init, .deinit = member_deinit,
                                       .parameters = inputs, .parameter_count = 4};
        invivo_type type;
        invivo_object leased[4] = {{0}};
        random_state = seed;
        memset(facts, 0, sizeof facts);
        fact_count = last_ended = order_broken = held_broken = twice = 0;
        OK(invivo_runtime_open(&runtime, NULL, E));
        OK(invivo_type_register(runtime, &options, &type, E));
        for (int round = 0; round < COMMITS; round++) {
            bool any_leased = false;
            for (int i = 0; i < 4; i++) any_leased |= leased[i].bits != 0;
            describe();
            for (int i = 0; i < KEYS; i++) {
                if (round && chance(6)) continue;
                char key[16], names[4][16];
                invivo_injection into[4];
                int count = 0;
                snprintf(key, sizeof key, "m.k%02d", i);
                for (int j = 0; j < 4 && i > 0; j++) {
                    if (!chance(2)) continue;
                    snprintf(names[count], sizeof names[count], "m.k%02u", chance((unsigned)i));
                    into[count] = (invivo_injection)KEY(names[count]);
                    count++;
                }
                OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key,
                                         .scope = chance(2) ? INVIVO_SCOPE_SINGLETON : INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
                                         .initializer = into, .initializer_count = (uint64_t)count}, NULL, E));
            }
            /* A view keeps its generation: what that shows ends in one order when the view does, after what was built and replaced
             * meanwhile. */
            invivo_view view = {0};
            invivo_runtime_info info = {.struct_size = sizeof info};
            bool viewed = chance(3) == 0;
            if (viewed) view = invivo_view_begin(runtime);
            last_ended = 0;
            commit();
            if (viewed) {
                describe();
                OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_LAZY_SINGLETON, E));
                commit();
                OK(invivo_runtime_inspect(runtime, &info, E)); /* what can end has ended */
                last_ended = 0;
                invivo_view_end(view);
            }
            OK(invivo_runtime_inspect(runtime, &info, E));
            /* Leased objects, and their dependencies, end at their release: the order is complete only without leases. */
            if (!any_leased && !CHECK_EQUAL(order_broken, 0)) fprintf(stderr, "seed %u, round %d\n", seed, round);
            for (int i = 0; i < 4; i++) {
                char key[16];
                last_ended = 0;
                if (leased[i].bits) drop(leased[i]), leased[i] = (invivo_object){0};
                if (round % 3 || chance(4)) continue;
                snprintf(key, sizeof key, "m.k%02u", chance(KEYS));
                leased[i] = resolve(key);
            }
            order_broken = 0;
        }
        bool deferred = seed % 2;
        for (int i = 0; i < 4 && !deferred; i++)
            if (leased[i].bits) drop(leased[i]);
        last_ended = order_broken = 0;
        if (deferred) {
            OK(invivo_runtime_close_deferred(runtime, E));
            for (int i = 0; i < 4; i++)
                if (leased[i].bits) drop(leased[i]);
        } else {
            OK(invivo_runtime_close(runtime, E));
            CHECK_EQUAL(order_broken, 0);
        }
        int ended = 0;
        for (int i = 1; i <= fact_count; i++) ended += facts[i].ended;
        if (!CHECK_EQUAL(ended, fact_count) || !CHECK_EQUAL(twice, 0) || !CHECK_EQUAL(held_broken, 0))
            fprintf(stderr, "seed %u\n", seed);
    }
}

/* The objects that replacements of several generations retired end in one order when the view that shows them ends. What was
 * built and replaced meanwhile ends before. */
static void several_generations_that_end_together_end_in_one_order(void) {
    begin();
    invivo_injection b[] = {KEY("s.a")};
    describe();
    ADD("s.a", SINGLETON, plain_type);
    ADD("s.b", SINGLETON, plain_type, INITIALIZER(b));
    ADD("s.x", SINGLETON, plain_type);
    commit();
    invivo_view view = invivo_view_begin(runtime);
    describe();
    ADD("s.b", SINGLETON, plain_type, INITIALIZER(b));
    commit(); /* retires the first b */
    describe();
    ADD("s.a", SINGLETON, plain_type);
    ADD("s.x", SINGLETON, plain_type);
    clear();
    commit(); /* retires a, x and the second b, which no view shows */
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.retiring, 1);
    CHECK(strstr(trace, "end:b "));
    CHECK(!strstr(trace, "end:a ") && !strstr(trace, "end:x "));
    clear();
    invivo_view_end(view);
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.retiring, 0);
    CHECK_TEXT(trace, "end:x end:b end:a ");
    end();
}

static void *replace_a(void *unused) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "s.a", .scope = INVIVO_SCOPE_SINGLETON,
                              .type = plain_type}, NULL, E));
    return unused;
}
static void generations_end_in_order_on_every_thread(void) {
    begin();
    describe();
    ADD("s.a", SINGLETON, plain_type);
    ADD("s.x", SINGLETON, plain_type);
    commit();
    clear();
    held_up = "a";
    for (int i = 0; i < 2; i++) pthread_barrier_init(&barriers[i], NULL, 2);
    pthread_t other;
    CHECK(!pthread_create(&other, NULL, replace_a, NULL));
    pthread_barrier_wait(&barriers[0]);
    /* The other thread is within the end of the first a. */
    describe();
    ADD("s.x", SINGLETON, plain_type);
    commit();
    CHECK(!strstr(trace, "end:"));
    pthread_barrier_wait(&barriers[1]);
    CHECK(!pthread_join(other, NULL));
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E)); /* everything that can end has ended */
    CHECK(strstr(trace, "end:a end:x "));
    end();
    for (int i = 0; i < 2; i++) pthread_barrier_destroy(&barriers[i]);
}

int main(void) {
    check_begin();
    RUN_TEST(dependencies_start_first_and_stop_last);
    RUN_TEST(one_resolve_starts_all_it_makes_when_it_is_complete);
    RUN_TEST(the_former_generation_stops_after_the_new_one_has_started);
    RUN_TEST(four_that_wait_for_one_another_complete);
    RUN_TEST(no_code_gets_an_object_before_it_is_started);
    RUN_TEST(a_start_may_resolve);
    RUN_TEST(objects_that_hooks_of_a_commit_resolve_are_started);
    RUN_TEST(a_failing_start_stops_what_was_started);
    RUN_TEST(a_failing_prepare_starts_nothing);
    RUN_TEST(a_prepare_that_fails_in_a_resolve_starts_nothing);
    RUN_TEST(failing_stops_in_a_failed_commit_are_reported_with_it);
    RUN_TEST(a_commit_that_fails_after_its_starts_stops_what_it_started);
    RUN_TEST(a_nested_failure_that_is_caught_takes_nothing_back);
    RUN_TEST(the_error_of_a_hook_names_the_definitions_location);
    RUN_TEST(a_start_that_overruns_its_deadline_fails_with_how_long_it_took);
    RUN_TEST(a_restarted_object_has_the_limit_of_its_definition);
    RUN_TEST(objects_that_a_start_hook_resolved_end_with_a_failed_commit);
    RUN_TEST(a_start_that_does_not_return_holds_up_its_own_change_set_alone);
    RUN_TEST(a_stop_that_does_not_return_is_an_error_of_the_report);
    RUN_TEST(long_waits_for_other_threads_are_reported);
    RUN_TEST(stops_that_fail_are_gathered);
    RUN_TEST(starting_twice_and_stopping_an_unstarted_object_are_no_ops);
    RUN_TEST(disposal_is_in_exact_reverse_order_of_creation_once);
    RUN_TEST(several_generations_that_end_together_end_in_one_order);
    RUN_TEST(generations_end_in_order_on_every_thread);
    return check_end();
}
