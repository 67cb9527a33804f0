/* Blocks move while a reload is under way, and what it publishes has the values of that moment. docs/rules/traits.md, T-M4 and T-M5. */
/* sanitize: yes */
#include "check.h"
#include <pthread.h>

typedef struct tone { double level, width; int64_t count; } tone;
static const invivo_property properties[] = {INVIVO_FIELD(tone, level, .max = 1e6), INVIVO_FIELD(tone, width, .max = 1e6), INVIVO_FIELD(tone, count)};
static invivo_runtime runtime;
static invivo_key key, copy;

/* The gate of the rule: 0 closed, 1 the rule is there, 2 open. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int gate;
static void gate_to(int state) {
    pthread_mutex_lock(&lock);
    gate = state;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
}
static void gate_await(int state) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (gate < state && pthread_cond_timedwait(&moved, &lock, &limit) == 0) {}
    CHECK(gate >= state);
    pthread_mutex_unlock(&lock);
}
static int refuses;
static invivo_status wait_in_rule(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)count, (void)at, (void)user_data;
    if (values[0].as.signed_integer == 0) return INVIVO_OK;
    gate_to(1);
    gate_await(2);
    if (!refuses) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "refused", NULL, NULL);
    return INVIVO_E_HOST;
}

static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(set, error);
}
static tone block_of(invivo_key of) {
    invivo_view view = invivo_view_begin(runtime);
    tone found = *(const tone *)invivo_view_block(view, of);
    invivo_view_end(view);
    return found;
}
static tone block(void) { return block_of(key); }

/* Two movements that last longer than the test. */
#define RAMP "{ Ramp: { to: { level: 100000 }, over: 1000 s } }"
#define MOVING "traits: { synth.tone: [" RAMP ", { Ramp: { to: { width: 50000 }, over: 1000 s } }] }"
static void begin_with(uint32_t tick) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    options.ramp_tick_ms = tick;
    options.rule_timeout_ms = 1000 * CHECK_LIMIT_SECONDS;
    gate = refuses = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_define_block(runtime, "synth.tone", INVIVO_BLOCK(tone, properties), &key, E));
    invivo_definition alias = {.struct_size = sizeof alias, .key = "synth.copy", .alias = "synth.tone"};
    OK(invivo_define(runtime, &alias, NULL, E));
    OK(invivo_key_find(runtime, "synth.copy", &copy, E));
    static const char *inputs[] = {"x.gate"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "gate", .inputs = inputs, .input_count = 1, .check = wait_in_rule};
    OK(document("config", "config: { x: { gate: 0 } }", E));
    OK(invivo_rule_add(runtime, &rule, E));
    OK(document("traits", MOVING, E));
}
static void begin(void) { begin_with(1); }
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

static const char *new_document;
static int is_committed;
static void *commit(void *status) {
    invivo_error *error = NULL;
    *(invivo_status *)status = document("traits", new_document, &error);
    invivo_error_release(error);
    __atomic_store_n(&is_committed, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
/* Commits a document whose rule waits until the block has moved on. Returns the block that was shown last before it goes on. */
static tone commit_meanwhile(const char *text, invivo_status expected) {
    new_document = text, is_committed = 0;
    pthread_t thread;
    invivo_status status = INVIVO_OK;
    pthread_create(&thread, NULL, commit, &status);
    gate_await(1);
    tone planned = block();
    while (block().level < planned.level + 1 || block().width < planned.width + 0.5) {}
    tone last = block();
    CHECK(last.level > planned.level && last.width > planned.width);
    gate_to(2);
    while (!__atomic_load_n(&is_committed, __ATOMIC_SEQ_CST)) {}
    pthread_join(thread, NULL);
    CHECK_EQUAL(status, expected);
    return last;
}
static void await_steps(void) {
    uint64_t first, now;
    invivo_view view = invivo_view_begin(runtime);
    first = invivo_view_generation(view);
    invivo_view_end(view);
    double width = block().width;
    while (block().width == width) {}
    view = invivo_view_begin(runtime);
    now = invivo_view_generation(view);
    invivo_view_end(view);
    CHECK_EQUAL(now, first);
}

static void a_reload_that_leaves_the_ramps_does_not_stop_them(void) {
    begin();
    tone last = commit_meanwhile("config: { x: { gate: 1 } }\n" MOVING, INVIVO_OK);
    tone now = block();
    CHECK(now.level >= last.level && now.width >= last.width);
    await_steps();
    tone other = block_of(copy);
    CHECK(other.level >= now.level);
    end();
}
/* Another property of the block changes: the plan has made a block of its own. */
static void a_change_of_the_same_block_takes_the_values_of_this_moment(void) {
    begin();
    tone last = commit_meanwhile(
        "config: { x: { gate: 1 } }\ntraits: { synth.tone: [" RAMP ", { Ramp: { to: { width: 50000 }, over: 1000 s } }, { Set: { count: 5 } }] }", INVIVO_OK);
    tone now = block();
    CHECK(now.level >= last.level && now.width >= last.width && now.count == 5);
    CHECK_EQUAL(block_of(copy).count, 5);
    await_steps();
    end();
}
/* A movement that the reload changes begins at the value shown at its publication; the other one goes on. */
static void a_changed_ramp_begins_at_the_value_of_this_moment(void) {
    begin();
    tone last = commit_meanwhile(
        "config: { x: { gate: 1 } }\ntraits: { synth.tone: [{ Ramp: { to: { level: 200000 }, over: 10000 s } }, { Ramp: { to: { width: 50000 }, over: 1000 s } }] }",
        INVIVO_OK);
    tone now = block();
    CHECK(now.level >= last.level && now.width >= last.width);
    await_steps();
    CHECK(block().level >= now.level);
    end();
}
/* It goes on to the same end at the same time: it does not begin again. */
static void a_ramp_that_the_reload_leaves_ends_in_time(void) {
    begin_with(INVIVO_RAMP_TICK_MANUAL);
    new_document = "config: { x: { gate: 1 } }\ntraits: { synth.tone: [" RAMP ", { Ramp: { to: { width: 1000 }, over: 1000 s } }] }";
    pthread_t thread;
    invivo_status status = INVIVO_E_CLOSED;
    pthread_create(&thread, NULL, commit, &status);
    gate_await(1);
    OK(invivo_runtime_advance(runtime, 400000000000, E));
    CHECK(block().level == 40000 && block().width == 20000);
    gate_to(2);
    pthread_join(thread, NULL);
    CHECK_EQUAL(status, INVIVO_OK);
    CHECK(block().level == 40000 && block().width == 20000);
    OK(invivo_runtime_advance(runtime, 100000000000, E));
    CHECK(block().level == 50000 && block().width == 18100);
    OK(invivo_runtime_advance(runtime, 500000000000, E));
    CHECK_EQUAL(block().level, 100000);
    end();
}
static void a_ramp_that_the_reload_removes_is_over(void) {
    begin();
    commit_meanwhile("config: { x: { gate: 1 } }\ntraits: { synth.tone: [{ Set: { level: 3 } }, { Ramp: { to: { width: 50000 }, over: 1000 s } }] }", INVIVO_OK);
    CHECK(block().level == 3);
    await_steps();
    CHECK(block().level == 3 && block_of(copy).level == 3);
    end();
}
static void a_reload_that_is_refused_does_not_stop_them(void) {
    begin();
    refuses = 1;
    tone last = commit_meanwhile("config: { x: { gate: 1 } }\ntraits: { synth.tone: [{ Set: { level: 3 } }] }", INVIVO_E_HOST);
    CHECK(block().level >= last.level && block().width >= last.width);
    await_steps();
    end();
}
/* An alias that the reload removes keeps no block, also after a step. */
static void an_alias_that_the_reload_removes_does_not_move(void) {
    begin();
    invivo_changes set;
    OK(document("traits", "config: { x: { gate: 0 } }\n" MOVING, E));
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_remove(set, "synth.copy", E));
    OK(invivo_changes_commit(set, E));
    await_steps();
    invivo_view view = invivo_view_begin(runtime);
    CHECK(!invivo_view_block(view, copy));
    invivo_view_end(view);
    end();
}

/* Readers beside reloads and steps: no value goes back. */
static int is_over;
static void *read_all(void *unused) {
    (void)unused;
    double last = 0;
    while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST)) {
        double level = block().level;
        CHECK(level >= last);
        last = level;
    }
    return NULL;
}
static void no_reader_sees_a_value_go_back(void) {
    begin();
    is_over = 0;
    pthread_t reader;
    pthread_create(&reader, NULL, read_all, NULL);
    for (int number = 0; number < 300; number++) {
        char text[300];
        snprintf(text, sizeof text, "traits: { synth.tone: [" RAMP ", { Set: { count: %d } }] }", number);
        OK(document("traits", text, E));
        CHECK_EQUAL(block().count, number);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
    pthread_join(reader, NULL);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_reload_that_leaves_the_ramps_does_not_stop_them);
    RUN_TEST(a_change_of_the_same_block_takes_the_values_of_this_moment);
    RUN_TEST(a_changed_ramp_begins_at_the_value_of_this_moment);
    RUN_TEST(a_ramp_that_the_reload_leaves_ends_in_time);
    RUN_TEST(a_ramp_that_the_reload_removes_is_over);
    RUN_TEST(a_reload_that_is_refused_does_not_stop_them);
    RUN_TEST(an_alias_that_the_reload_removes_does_not_move);
    RUN_TEST(no_reader_sees_a_value_go_back);
    return check_end();
}
