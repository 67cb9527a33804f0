/* Properties that move by Ramp, crossing other operations: threads, domains that do not answer, reloads, close, and decisions of
 * documents. docs/rules/traits.md, Ramp. */
/* sanitize: yes */
#include "check.h"
#include "gate.h"

#include <sys/epoll.h>
#include <sys/syscall.h>

static invivo_runtime runtime;
#include "tell.h"

/* Replaces the function of libc: the loop of a runtime cannot be started without it. */
static _Atomic bool has_no_loop;
int epoll_create1(int flags) {
    if (!has_no_loop) return (int)syscall(SYS_epoll_create1, flags);
    errno = EMFILE;
    return -1;
}

typedef struct tone { double level; int64_t count; } tone;
static const invivo_property tone_properties[] = {INVIVO_BLOCK_FIELD(tone, level, .initial = 4, .min = 0, .max = 1000),
                                                  INVIVO_BLOCK_FIELD(tone, count, .initial = 7)};

/* A dial may act in its setter. */
typedef struct dial { _Atomic double angle; } dial; /* a test reads it while a reload may set it */
static void (*in_set)(double angle);
static _Atomic int dial_sets, goes_back; /* objects of several domains */
static bool only_rises;
static invivo_status get_dial(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((dial *)instance)->angle);
    return INVIVO_OK;
}
static invivo_status set_dial(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    dial *self = instance;
    (void)user_data, (void)error;
    if (only_rises && value->as.number < self->angle) goes_back++;
    self->angle = value->as.number;
    dial_sets++;
    void (*act)(double) = in_set;
    if (act) act(self->angle);
    return INVIVO_OK;
}

/* Domains whose jobs run where they are posted, or never. */
static bool answers;
static pthread_mutex_t domain_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int inside;
static invivo_job kept[64];
static int kept_count;
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)error;
    if (answers) {
        /* A thread that runs jobs. The domain of "Free" permits any thread, and has no lock of its own here. */
        bool is_free = user_data != NULL;
        if (!is_free) pthread_mutex_lock(&domain_lock);
        if (is_free && inside++) goes_back++;
        invivo_status status = invivo_job_run(job);
        if (is_free) inside--;
        if (!is_free) pthread_mutex_unlock(&domain_lock);
        return status;
    }
    pthread_mutex_lock(&domain_lock);
    if (kept_count < 64) kept[kept_count++] = job;
    pthread_mutex_unlock(&domain_lock);
    return INVIVO_OK;
}
static void begin_or_end(void *user_data) { (void)user_data; }

static invivo_type slow_type;
static void open_with(uint32_t tick, uint32_t commit_timeout_ms) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.rule_timeout_ms = 120000;
    options.quiet_ms = 0, options.log_level = INVIVO_LOG_SILENT, options.ramp_tick_ms = tick, options.load_timeout_ms = 120000;
    if (commit_timeout_ms) options.commit_timeout_ms = commit_timeout_ms;
    OK(invivo_runtime_open(&runtime, &options, E));
    answers = true;
    dial_sets = 0;
    goes_back = 0;
    only_rises = false;
    kept_count = 0;
    in_set = NULL;
    invivo_type type;
    invivo_type_options tones = {.struct_size = sizeof tones, .name = "Tone", .block_size = sizeof(tone), .concurrency = INVIVO_SHARED,
                                 .properties = tone_properties, .property_count = 2};
    OK(invivo_type_register(runtime, &tones, &type, E));
    static invivo_property properties[] = {{.struct_size = sizeof(invivo_property), .name = "angle", .kind = INVIVO_KIND_DOUBLE}};
    properties[0].get = get_dial, properties[0].set = set_dial;
    invivo_type_options dials = {.struct_size = sizeof dials, .name = "Dial", .size = sizeof(dial), .properties = properties, .property_count = 1};
    OK(invivo_type_register(runtime, &dials, &type, E));
    invivo_domain_options domains = {.struct_size = sizeof domains, .name = "slow", .post = post,
                                     .begin = begin_or_end, .end = begin_or_end};
    invivo_domain domain;
    OK(invivo_domain_register(runtime, &domains, &domain, E));
    dials.name = "Slow", dials.domain = domain;
    OK(invivo_type_register(runtime, &dials, &slow_type, E));
    domains.name = "free", domains.flags = INVIVO_DOMAIN_ANY_THREAD, domains.user_data = &answers;
    OK(invivo_domain_register(runtime, &domains, &domain, E));
    dials.name = "Free", dials.domain = domain;
    OK(invivo_type_register(runtime, &dials, &type, E));
}
static void begin(void) { open_with(INVIVO_RAMP_TICK_MANUAL, 0); }
static void define_as(const char *key, const char *type, const char *spec_key) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type_name = type, .scope = INVIVO_SCOPE_SINGLETON, .spec_key = spec_key};
    OK(invivo_define(runtime, &definition, NULL, E));
}
/* An object of the program in the slow domain. */
static dial slow;
static invivo_object slow_object;
static void attach_slow(void) {
    invivo_target target;
    slow.angle = 0;
    OK(invivo_target_declare(runtime, "a.slow", slow_type, E));
    OK(invivo_object_wrap(runtime, slow_type, &slow, &slow_object, E));
    OK(invivo_target_attach(slow_object, "a.slow", &target, E));
}
static void end(void) {
    if (slow_object.bits) OK(invivo_object_release(slow_object));
    slow_object.bits = 0;
    OK(invivo_runtime_close(runtime, E));
}
static double slow_angle(void) {
    pthread_mutex_lock(&domain_lock);
    double angle = slow.angle;
    pthread_mutex_unlock(&domain_lock);
    return angle;
}
static void advance(int milliseconds) { OK(invivo_runtime_advance(runtime, (uint64_t)milliseconds * 1000000, E)); }
static double level_of(const char *name) {
    invivo_view view = invivo_view_begin(runtime);
    invivo_key key = invivo_view_key(view, name, (uint32_t)strlen(name));
    const tone *found = key.bits ? invivo_view_block(view, key) : NULL;
    double level = found ? found->level : -1;
    invivo_view_end(view);
    return level;
}
static double angle_of(const char *name) {
    invivo_object object;
    void *instance = NULL;
    if (!OK(invivo_resolve_name(runtime, name, &object, E))) return -1;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    double angle = ((dial *)instance)->angle;
    OK(invivo_object_release(object));
    return angle;
}
static uint64_t moving(void) { return check_status_number(runtime, "moving"); }

/* ---- threads ---------------------------------------------------------------------------------------------- */

enum { STEPS = 300 };
static void *advance_often(void *unused) {
    (void)unused;
    for (int i = 0; i < STEPS; i++) advance(1);
    return NULL;
}
static void two_threads_advance_and_nothing_goes_back(void) {
    begin();
    define_as("a.tone", "Tone", NULL), define_as("a.free", "Free", NULL), attach_slow();
    CHECK(angle_of("a.free") == 0);
    OK(tell("a", "traits: { a.tone: [{ Ramp: { to: { level: 604 }, over: 600 ms } }], a.slow: [{ Ramp: { to: { angle: 700 }, over: 700 ms } }], "
                 "a.free: [{ Ramp: { to: { angle: 700 }, over: 700 ms } }] }"));
    pthread_t threads[2];
    only_rises = true;
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, advance_often, NULL) == 0);
    for (double last = 4; last < 604;) {
        double level = level_of("a.tone");
        CHECK(level >= last);
        last = level;
    }
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(level_of("a.tone") == 604);
    CHECK(slow_angle() == 600 && angle_of("a.free") == 600);
    CHECK_EQUAL(goes_back, 0);
    CHECK_EQUAL(moving(), 2);
    only_rises = false;
    end();
}

/* ---- domains that do not answer --------------------------------------------------------------------------- */

static void *advance_once(void *status) {
    *(invivo_status *)status = invivo_runtime_advance(runtime, 10000000, NULL);
    return NULL;
}
static void nobody_else_waits_for_a_domain_that_does_not_answer(void) {
    open_with(INVIVO_RAMP_TICK_MANUAL, 200);
    define_as("a.tone", "Tone", NULL), attach_slow(), define_as("a.dial", "Dial", NULL);
    CHECK(angle_of("a.dial") == 0);
    OK(tell("a", "traits: { a.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }], a.slow: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }], "
                 "a.dial: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }] }"));
    answers = false;
    invivo_status status = INVIVO_OK;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, advance_once, &status) == 0);
    /* The block has moved before the objects, and others commit while the step waits. This thread lets the dial move. */
    while (level_of("a.tone") != 5) {}
    OK(tell("b", "config: { x: 1 }"));
    while (angle_of("a.dial") != 1) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(status, INVIVO_E_TIMEOUT);
    answers = true;
    advance(10);
    CHECK(level_of("a.tone") == 6 && slow_angle() == 2 && angle_of("a.dial") == 2);
    end();
    for (int i = 0; i < kept_count; i++) (void)invivo_job_run(kept[i]);
}
static void close_drops_a_step_that_waits_for_its_domain(void) {
    open_with(1, 200);
    define_as("a.tone", "Tone", NULL), attach_slow();
    OK(tell("a", "traits: { a.tone: [{ Ramp: { to: { level: 8 }, over: 20 ms } }], a.slow: [{ Ramp: { to: { angle: 4 }, over: 1 h } }] }"));
    answers = false;
    while (level_of("a.tone") != 8) {}
    for (bool has = false; !has;) {
        pthread_mutex_lock(&domain_lock);
        has = kept_count > 0;
        pthread_mutex_unlock(&domain_lock);
    }
    /* A commit that needs the domain fails; others do not wait. */
    OK(tell("b", "config: { x: 1 }"));
    CHECK(tell("a", NULL) == INVIVO_E_TIMEOUT);
    answers = true;
    int left = kept_count;
    end();
    for (int i = 0; i < left; i++) (void)invivo_job_run(kept[i]);
}

/* ---- from a setter ------------------------------------------------------------------------------------------ */

static invivo_status answered;
static void close_once(double angle) {
    (void)angle;
    in_set = NULL;
    invivo_error *error = NULL;
    answered = invivo_runtime_close(runtime, &error);
    snprintf(last_error, sizeof last_error, "%s", error ? invivo_error_text(error) : "");
    invivo_error_release(error);
}
static void a_setter_cannot_close_the_runtime(void) {
    for (int in_domain = 0; in_domain < 2; in_domain++) {
        begin();
        define_as("a.it", in_domain ? "Free" : "Dial", NULL);
        CHECK(angle_of("a.it") == 0);
        OK(tell("a", "traits: { a.it: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }] }"));
        in_set = close_once, answered = INVIVO_OK;
        advance(10);
        CHECK(!in_set && answered != INVIVO_OK);
        CHECK(*last_error);
        CHECK(angle_of("a.it") == 1);
        advance(10);
        CHECK(angle_of("a.it") == 2);
        end();
    }
}
static const char *edit;
static void edit_once(double angle) {
    (void)angle;
    in_set = NULL;
    answered = tell("a", edit);
}
/* It is refused, because the step waits for the setter; or, if not, it is in force as any other reload. */
static void a_setter_cannot_wait_for_a_reload(void) {
    for (int in_domain = 0; in_domain < 2; in_domain++) {
        begin();
        define_as("a.it", in_domain ? "Free" : "Dial", NULL);
        CHECK(angle_of("a.it") == 0);
        OK(tell("a", "traits: { a.it: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }] }"));
        in_set = edit_once, answered = INVIVO_OK, edit = "traits: { a.it: [{ Set: { angle: 9 } }] }";
        advance(10);
        CHECK_EQUAL(answered, INVIVO_E_WOULD_WAIT);
        CHECK(angle_of("a.it") == 1);
        advance(10);
        CHECK(angle_of("a.it") == 2);
        OK(tell("a", NULL));
        CHECK(angle_of("a.it") == 0);
        end();
    }
}
static void submit_once(double angle) {
    (void)angle;
    in_set = NULL;
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, "a", edit, strlen(edit), E));
    answered = invivo_changes_submit(set, E);
}
static void a_setter_may_submit_a_reload(void) {
    begin();
    define_as("a.it", "Free", NULL);
    CHECK(angle_of("a.it") == 0);
    OK(tell("a", "traits: { a.it: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }] }"));
    in_set = submit_once, answered = INVIVO_E_HOST, edit = "traits: { a.it: [{ Set: { angle: 9 } }] }";
    advance(10);
    CHECK_EQUAL(answered, INVIVO_OK);
    while (angle_of("a.it") != 9) {}
    advance(10);
    CHECK(angle_of("a.it") == 9 && moving() == 0);
    OK(tell("a", NULL));
    CHECK(angle_of("a.it") == 0);
    end();
}

/* ---- reloads -------------------------------------------------------------------------------------------------- */

static invivo_status wait_at_the_gate(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)values, (void)count, (void)at, (void)user_data, (void)error;
    if (gate_state() == 2) return INVIVO_OK;
    gate_to(1);
    gate_await(2);
    return INVIVO_OK;
}
static void *commit_other(void *status) {
    *(invivo_status *)status = tell("b", "config: { x: 2 }");
    return NULL;
}
static void *commit_x_again(void *status) {
    *(invivo_status *)status = tell("b", "config: { x: 3 }");
    return NULL;
}
/* A rule holds the plan of another reload. Blocks and objects move on. */
static void a_step_during_a_reload_is_made_after_it(void) {
    open_with(1, 0);
    OK(tell("b", "config: { x: 1 }"));
    define_as("a.tone", "Tone", NULL), attach_slow();
    static const char *const inputs[] = {"/x"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "waits", .inputs = inputs, .input_count = 1, .check = wait_at_the_gate};
    gate_to(2);
    OK(invivo_rule_add(runtime, &rule, E));
    gate_to(0);
    invivo_status status = INVIVO_E_HOST;
    pthread_t thread;
    OK(tell("a", "traits: { a.tone: [{ Ramp: { to: { level: 8 }, over: 20 ms } }], a.slow: [{ Ramp: { to: { angle: 4 }, over: 20 ms } }] }"));
    CHECK(pthread_create(&thread, NULL, commit_other, &status) == 0);
    gate_await(1);
    /* Objects need no turn. */
    while (slow_angle() != 4) {}
    gate_to(2);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(status, INVIVO_OK);
    while (level_of("a.tone") != 8) {}
    while (moving()) {}
    end();
}

/* Commits on another thread, until a rule holds the plan. */
static pthread_t begin_a_reload(invivo_status *status) {
    OK(tell("b", "config: { x: 1 }"));
    static const char *const inputs[] = {"/x"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "waits", .inputs = inputs, .input_count = 1, .check = wait_at_the_gate};
    gate_to(2);
    OK(invivo_rule_add(runtime, &rule, E));
    gate_to(0);
    *status = INVIVO_E_HOST;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, commit_other, status) == 0);
    gate_await(1);
    return thread;
}
static void end_the_reload(pthread_t thread, const invivo_status *status) {
    gate_to(2);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(*status, INVIVO_OK);
}
/* A step of the clock that the host advances waits for a reload only if an object needs the turn. */
static void a_manual_step_does_not_wait_for_a_reload(void) {
    open_with(INVIVO_RAMP_TICK_MANUAL, 200);
    define_as("a.tone", "Tone", NULL), define_as("a.dial", "Dial", NULL), define_as("a.free", "Free", NULL), attach_slow();
    CHECK(angle_of("a.dial") == 0 && angle_of("a.free") == 0);
    OK(tell("a", "traits: { a.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }], a.slow: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }], "
                 "a.dial: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }] }"));
    invivo_status status;
    pthread_t thread = begin_a_reload(&status);
    advance(10);
    CHECK(level_of("a.tone") == 5 && slow_angle() == 1 && angle_of("a.dial") == 1);
    end_the_reload(thread, &status);
    /* The jobs of this domain run where they are posted. The others move all the same. */
    OK(tell("c", "traits: { a.free: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }] }"));
    gate_to(0);
    CHECK(pthread_create(&thread, NULL, commit_x_again, &status) == 0);
    gate_await(1);
    expects_error(invivo_runtime_advance(runtime, 10000000, E), INVIVO_E_TIMEOUT, NULL);
    CHECK(level_of("a.tone") == 6 && slow_angle() == 2 && angle_of("a.dial") == 2 && angle_of("a.free") == 0);
    end_the_reload(thread, &status);
    advance(10);
    CHECK(level_of("a.tone") == 7 && angle_of("a.free") == 2);
    end();
}
/* The loop cannot be started: everything has its end value, also objects whose steps need the turn. */
static void without_a_loop_values_are_set_at_once(void) {
    open_with(1, 0);
    define_as("a.tone", "Tone", NULL), define_as("a.dial", "Dial", NULL), define_as("a.free", "Free", NULL), attach_slow();
    invivo_definition late = {.struct_size = sizeof late, .key = "a.late", .type_name = "Free", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &late, NULL, E));
    CHECK(angle_of("a.dial") == 0 && angle_of("a.free") == 0);
    has_no_loop = true;
    OK(tell("a", "traits: { a.tone: [{ Ramp: { to: { level: 8 }, over: 1 h } }], a.slow: [{ Ramp: { to: { angle: 4 }, over: 1 h } }], "
                 "a.dial: [{ Ramp: { to: { angle: 4 }, over: 1 h } }], a.free: [{ Ramp: { to: { angle: 4 }, over: 1 h } }], "
                 "a.late: [{ Ramp: { to: { angle: 4 }, from: { angle: 1 }, over: 1 h } }] }"));
    CHECK(level_of("a.tone") == 8 && slow_angle() == 4 && angle_of("a.free") == 4 && angle_of("a.dial") == 4);
    CHECK_EQUAL(moving(), 0);
    /* An object that begins to move while another thread has the turn. */
    invivo_status status;
    pthread_t thread = begin_a_reload(&status);
    CHECK(angle_of("a.late") == 4);
    end_the_reload(thread, &status);
    CHECK_EQUAL(moving(), 0);
    has_no_loop = false;
    end();
}

static void a_decision_replaces_an_object_that_moves(void) {
    begin();
    define_as("a.one", "Dial", NULL), define_as("a.two", "Dial", NULL), define_as("a.tone", "Tone", NULL), define_as("a.other", "Tone", NULL);
    CHECK(angle_of("a.one") == 0 && angle_of("a.two") == 0);
    OK(tell("a", "traits: { a.one: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }], a.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(angle_of("a.one") == 1 && level_of("a.tone") == 5 && moving() == 2);
    OK(tell("a", NULL));
    OK(tell("w", "wiring: { a.two: { alias: a.one }, a.other: { alias: a.tone } }"));
    OK(tell("a", "traits: { a.one: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }], a.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }] }"));
    advance(10);
    /* Under both names. */
    CHECK(angle_of("a.two") == 1 && level_of("a.other") == 5);
    OK(tell("w", NULL));
    CHECK(angle_of("a.two") == 0 && level_of("a.other") == 4);
    advance(10);
    CHECK(angle_of("a.one") == 2 && level_of("a.tone") == 6 && angle_of("a.two") == 0 && level_of("a.other") == 4);
    /* Another scope is another object, which has the end value. */
    OK(tell("w", "wiring: { a.one: { scope: lazy-singleton } }"));
    CHECK(angle_of("a.one") == 4);
    advance(10);
    CHECK(angle_of("a.one") == 4 && level_of("a.tone") == 7);
    CHECK_EQUAL(moving(), 1);
    end();
}
static void all_objects_of_a_named_key_move(void) {
    begin();
    define_as("a.one", "Dial", "traits.dials"), define_as("a.two", "Free", "traits.dials");
    define_as("a.tone", "Tone", "traits.tones"), define_as("a.other", "Tone", "traits.tones");
    CHECK(angle_of("a.one") == 0 && angle_of("a.two") == 0);
    OK(tell("a", "traits: { traits.dials: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }], traits.tones: [{ Ramp: { to: { level: 8 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(angle_of("a.one") == 1 && angle_of("a.two") == 1 && level_of("a.tone") == 5 && level_of("a.other") == 5);
    CHECK_EQUAL(moving(), 4);
    OK(tell("a", NULL));
    CHECK(angle_of("a.one") == 0 && angle_of("a.two") == 0 && level_of("a.tone") == 4 && level_of("a.other") == 4);
    end();
}

static invivo_status apply_nothing(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                   invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)instance, (void)fields, (void)values, (void)count, (void)reversal, (void)user_data, (void)error;
    return INVIVO_OK;
}
/* A source that keeps going skips a Ramp with an error, and the others move on. Code above a Ramp refuses the document. */
static void a_source_that_keeps_going_moves_what_it_can(void) {
    begin();
    static const char *const any[] = {"*"};
    invivo_trait code = {.struct_size = sizeof code, .name = "t.Code", .targets = any, .target_count = 1, .apply = apply_nothing};
    OK(invivo_trait_add(runtime, &code, E));
    define_as("a.tone", "Tone", NULL), define_as("a.dial", "Dial", NULL);
    CHECK(angle_of("a.dial") == 0);
    invivo_source source;
    const char *text = "traits:\n  a.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }, { Ramp: { to: { count: x }, over: 40 ms } }]\n"
                       "  a.dial: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }]\n";
    invivo_source_options options = {.struct_size = sizeof options, .name = "k", .text = text, .length = strlen(text), .flags = INVIVO_SOURCE_KEEP_GOING};
    OK(invivo_source_open(runtime, &options, &source, E));
    advance(10);
    CHECK(level_of("a.tone") == 5 && angle_of("a.dial") == 1);
    text = "traits:\n  a.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }, { Ramp: { to: { count: 11 }, over: 40 ms } }]\n"
           "  a.dial: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }]\n";
    OK(invivo_source_update(source, text, strlen(text), E));
    advance(10);
    CHECK(level_of("a.tone") == 6 && angle_of("a.dial") == 2);
    text = "traits: { a.dial: [{ Ramp: { to: { angle: 4 }, over: 40 ms } }, { t.Code: {} }] }";
    expects_error(invivo_source_update(source, text, strlen(text), E), INVIVO_E_SPEC, NULL);
    advance(10);
    CHECK(level_of("a.tone") == 7 && angle_of("a.dial") == 3);
    OK(invivo_source_close(source, E));
    CHECK(level_of("a.tone") == 4 && angle_of("a.dial") == 0);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(two_threads_advance_and_nothing_goes_back);
    RUN_TEST(nobody_else_waits_for_a_domain_that_does_not_answer);
    RUN_TEST(close_drops_a_step_that_waits_for_its_domain);
    RUN_TEST(a_setter_cannot_close_the_runtime);
    RUN_TEST(a_setter_cannot_wait_for_a_reload);
    RUN_TEST(a_setter_may_submit_a_reload);
    RUN_TEST(a_step_during_a_reload_is_made_after_it);
    RUN_TEST(a_manual_step_does_not_wait_for_a_reload);
    RUN_TEST(without_a_loop_values_are_set_at_once);
    RUN_TEST(a_decision_replaces_an_object_that_moves);
    RUN_TEST(all_objects_of_a_named_key_move);
    RUN_TEST(a_source_that_keeps_going_moves_what_it_can);
    return check_end();
}
