/* Rules: conditions over values that each generation satisfies. docs/rules/reload.md, Rules. */
/* sanitize: yes */
#include "parts.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

typedef struct band { double low, high; int64_t count; } band;
static const invivo_property band_properties[] = {
    INVIVO_FIELD(band, low, .initial = 1), INVIVO_FIELD(band, high, .initial = 10), INVIVO_FIELD(band, count, .initial = 3)};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static int destroyed, reported, entered, let_go;
static char logged[4096], last_error[512];
static invivo_status last_status;

/* What the last call of a rule received. */
static struct { int calls; size_t count; invivo_kind kinds[8]; double numbers[8]; pid_t thread; char name[17]; } seen;

static void await_count(const int *count, int least) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (*count < least && pthread_cond_timedwait(&came, &lock, &limit) == 0) {}
    CHECK(*count >= least);
    pthread_mutex_unlock(&lock);
}
static void add_one(int *count) {
    pthread_mutex_lock(&lock);
    ++*count;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}

static void keep_log(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (entry->level < INVIVO_LOG_WARNING) return;
    pthread_mutex_lock(&lock);
    size_t length = strlen(logged);
    snprintf(logged + length, sizeof logged - length, "%s\n", entry->message);
    pthread_mutex_unlock(&lock);
}
static void note(void *user_data, const invivo_report *report) {
    (void)user_data;
    pthread_mutex_lock(&lock);
    last_status = invivo_report_status(report);
    snprintf(last_error, sizeof last_error, "%s", last_status ? invivo_error_text(invivo_report_error(report)) : "");
    pthread_mutex_unlock(&lock);
    add_one(&reported);
}
static void destroy(void *user_data) {
    (void)user_data;
    add_one(&destroyed);
}

static uint32_t commit_timeout;
static void begin_limited(uint32_t limit_ms, uint32_t domain) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    options.rule_timeout_ms = limit_ms;
    options.commit_timeout_ms = commit_timeout;
    options.default_domain = domain;
    options.log = keep_log;
    logged[0] = 0;
    destroyed = reported = entered = let_go = 0;
    memset(&seen, 0, sizeof seen);
    OK(invivo_runtime_open(&runtime, &options, E));
}
static void begin(void) { begin_limited(0, INVIVO_DOMAIN_OPENER); }

static double number_of(const invivo_value *value) {
    return value->kind == INVIVO_KIND_INT64 ? (double)value->as.signed_integer : value->kind == INVIVO_KIND_DOUBLE ? value->as.number : 0;
}
static void look(const invivo_value *values, size_t count) {
    seen.calls++;
    seen.count = count;
    seen.thread = (pid_t)syscall(SYS_gettid);
    prctl(PR_GET_NAME, seen.name);
    for (size_t i = 0; i < count && i < 8; i++) seen.kinds[i] = values[i].kind, seen.numbers[i] = number_of(&values[i]);
}
/* low < high, where both are there. */
static invivo_status ordered(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)at, (void)user_data;
    look(values, count);
    if (values[0].kind == INVIVO_KIND_NULL || values[1].kind == INVIVO_KIND_NULL) return INVIVO_OK;
    if (number_of(&values[0]) < number_of(&values[1])) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_RANGE, "low must be below high", NULL, NULL);
    return INVIVO_E_RANGE;
}
static invivo_status second_is_wrong(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    invivo_status status = ordered(values, count, at, user_data, error);
    *at = user_data ? 99 : 1;
    return status;
}
static invivo_status accept(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)at, (void)user_data, (void)error;
    look(values, count);
    return INVIVO_OK;
}
/* Blocks if the first input is 99, until it is let go. */
static invivo_status block(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)at, (void)user_data, (void)error;
    look(values, count);
    if (number_of(&values[0]) != 99) return INVIVO_OK;
    add_one(&entered);
    await_count(&let_go, 1);
    return INVIVO_OK;
}

typedef invivo_status (*check_function)(const invivo_value *, size_t, size_t *, void *, invivo_error **);
static invivo_rule rule_of(const char *name, const char *const *inputs, size_t count, check_function check) {
    return (invivo_rule){.struct_size = sizeof(invivo_rule), .name = name, .inputs = inputs, .input_count = count, .check = check,
                         .destroy = destroy};
}
static const char *const config_inputs[] = {"band.low", "band.high"};
static invivo_rule low_high(check_function check) { return rule_of("low < high", config_inputs, 2, check); }

static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, name, text, strlen(text), E));
    return invivo_changes_commit(set, error);
}
static double config_number(const char *path) {
    invivo_value value = invivo_null();
    OK(invivo_config_read(runtime, path, &value, E));
    double found = number_of(&value);
    invivo_value_clear(&value);
    return found;
}
static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}

static void an_edit_that_breaks_a_rule_is_refused_at_the_line_of_the_value(void) {
    begin();
    invivo_rule rule = low_high(ordered);
    OK(document("a.yaml", "config:\n  band: { low: 1, high: 10 }\n", E));
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK_EQUAL(seen.calls, 1);
    uint64_t before = generation();
    expects_error(document("a.yaml", "config:\n  band:\n    low: 20\n    high: 10\n", E), INVIVO_E_HOST,
                  "a.yaml:3:10: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    CHECK_EQUAL(config_number("band.low"), 1);
    CHECK_EQUAL(generation(), before);
    invivo_error *last = NULL;
    OK(invivo_runtime_last_error(runtime, &last));
    CHECK_TEXT(invivo_error_path(last), "band.low");
    CHECK_EQUAL(invivo_error_line(last), 3);
    CHECK_EQUAL(invivo_error_code(invivo_error_cause(last)), INVIVO_E_RANGE);
    invivo_error_release(last);
    /* Both together are good. */
    OK(document("a.yaml", "config:\n  band:\n    low: 20\n    high: 100\n", E));
    CHECK_EQUAL(config_number("band.low"), 20);
    /* The first input that changes is at fault, if the rule names no other one. */
    expects_error(document("a.yaml", "config:\n  band:\n    low: 20\n    high: 2\n", E), INVIVO_E_HOST,
                  "a.yaml:4:11: band.high: the rule 'low < high' refuses this value (because low must be below high)");
    end();
    CHECK_EQUAL(destroyed, 1);
}

static void a_rule_names_the_input_at_fault(void) {
    begin();
    invivo_rule rule = low_high(second_is_wrong);
    OK(document("a.yaml", "config:\n  band: { low: 1, high: 10 }\n", E));
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("b.yaml", "config:\n  band: { low: 20 }\n", E), INVIVO_E_HOST,
                  "a.yaml:2:25: band.high: the rule 'low < high' refuses this value (because low must be below high)");
    /* An index that names none is treated as the default. */
    rule.user_data = "none";
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("b.yaml", "config:\n  band: { low: 20 }\n", E), INVIVO_E_HOST,
                  "b.yaml:2:16: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    end();
    CHECK_EQUAL(destroyed, 2);
}

static void a_rule_runs_only_when_an_input_changes(void) {
    begin();
    invivo_rule rule = low_high(ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK_EQUAL(seen.calls, 1);
    CHECK_EQUAL(seen.kinds[0], INVIVO_KIND_NULL);
    OK(document("a.yaml", "config: { band: { low: 1, high: 10, other: 3 }, more: 4 }", E));
    CHECK_EQUAL(seen.calls, 2);
    OK(document("a.yaml", "config: { band: { low: 1, high: 10, other: 4 }, more: 5 }", E));
    OK(document("b.yaml", "config: { band: { low: 1 } }", E));
    CHECK_EQUAL(seen.calls, 2);
    OK(document("b.yaml", "config: { band: { low: 2 } }", E));
    CHECK_EQUAL(seen.calls, 3);
    CHECK_EQUAL(seen.numbers[0], 2);
    /* A removed value is absent. */
    OK(document("b.yaml", "config: { band: null }", E));
    CHECK_EQUAL(seen.calls, 4);
    CHECK_EQUAL(seen.kinds[0], INVIVO_KIND_NULL);
    CHECK_EQUAL(seen.kinds[1], INVIVO_KIND_NULL);
    /* A runtime setting is a value like any other. Its source has no location. */
    invivo_value high = invivo_int64(5), low = invivo_int64(7);
    describe();
    OK(invivo_changes_configure(changes, "band.high", &high, E));
    OK(invivo_changes_configure(changes, "band.low", &low, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST,
                  "band.low: the rule 'low < high' refuses this value (because low must be below high)");
    CHECK_EQUAL(seen.calls, 5);
    end();
}

static void the_current_values_satisfy_a_rule_that_is_added(void) {
    begin();
    OK(document("a.yaml", "config:\n  band: { low: 20, high: 10 }\n", E));
    invivo_rule rule = low_high(ordered);
    expects_error(invivo_rule_add(runtime, &rule, E), INVIVO_E_HOST,
                  "a.yaml:2:16: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    await_count(&destroyed, 1);
    OK(document("a.yaml", "config:\n  band: { low: 30, high: 10 }\n", E));
    /* The rule and the values that satisfy it, in one set. */
    describe();
    OK(invivo_changes_add_rule(changes, &rule, E));
    expects_error(invivo_changes_add_rule(changes, &rule, E), INVIVO_E_EXISTS,
                  "low < high: the rule 'low < high' is given twice in one change set");
    OK(invivo_changes_document(changes, "a.yaml", "config: { band: { low: 1, high: 2 } }", 37, E));
    commit();
    CHECK_EQUAL(destroyed, 1);
    /* A rule with the same name replaces it. */
    rule.check = accept;
    OK(invivo_rule_add(runtime, &rule, E));
    await_count(&destroyed, 2);
    OK(document("a.yaml", "config:\n  band: { low: 30, high: 10 }\n", E));
    /* A set that is discarded, and one that is checked. */
    rule.check = ordered;
    describe();
    OK(invivo_changes_add_rule(changes, &rule, E));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_HOST, NULL);
    invivo_changes_discard(changes);
    CHECK_EQUAL(destroyed, 3);
    OK(invivo_rule_remove(runtime, "low < high", E));
    CHECK_EQUAL(destroyed, 4);
    expects_error(invivo_rule_remove(runtime, "low < high", E), INVIVO_E_NOT_FOUND, "low < high: no rule has the name 'low < high'");
    /* A set that adds and removes it. */
    describe();
    OK(invivo_changes_add_rule(changes, &rule, E));
    OK(invivo_changes_remove_rule(changes, "low < high", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(destroyed, 5);
    end();
    CHECK_EQUAL(destroyed, 5);
}

static void descriptions_are_checked(void) {
    static const char *const empty[] = {"a..b"};
    begin();
    invivo_rule rule = low_high(ordered);
    rule.name = "";
    expects_error(invivo_rule_add(runtime, &rule, E), INVIVO_E_ARGUMENT, "rule.name is empty");
    CHECK_EQUAL(destroyed, 1);
    rule = low_high(NULL);
    expects_error(invivo_rule_add(runtime, &rule, E), INVIVO_E_ARGUMENT, "low < high: rule.check is NULL");
    rule = rule_of("none", NULL, 0, ordered);
    expects_error(invivo_rule_add(runtime, &rule, E), INVIVO_E_ARGUMENT,
                  "none: the rule names no input; expected configuration paths, or properties as 'key.property'");
    rule = rule_of("empty", empty, 1, ordered);
    describe();
    expects_error(invivo_changes_add_rule(changes, &rule, E), INVIVO_E_ARGUMENT,
                  "empty: the input 'a..b' is not a path; expected names with a dot between them: 'audio.rate'");
    invivo_changes_discard(changes);
    /* The last one stays the caller's. */
    CHECK_EQUAL(destroyed, 3);
    end();
}

static void fields_of_blocks_and_layered_properties_are_inputs(void) {
    static const char *const inputs[] = {"a.band.low", "a.band.high", "a.part.number", "a.nothing.low"};
    begin();
    invivo_key key;
    OK(invivo_define_block(runtime, "a.band", INVIVO_BLOCK(band, band_properties), &key, E));
    invivo_definition part = {.struct_size = sizeof part, .key = "a.part", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_type_options confined = part_options("Part");
    confined.concurrency = INVIVO_CONFINED;
    part.type = register_type(confined);
    OK(invivo_define(runtime, &part, NULL, E));
    invivo_rule rule = rule_of("low < high", inputs, 4, ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK_EQUAL(seen.numbers[0], 1);
    CHECK_EQUAL(seen.numbers[1], 10);
    CHECK_EQUAL(seen.kinds[2], INVIVO_KIND_NULL);
    CHECK_EQUAL(seen.kinds[3], INVIVO_KIND_NULL);
    OK(document("t.yaml", "traits:\n  a.part:\n    - Set: { number: 7 }\n", E));
    CHECK_EQUAL(seen.calls, 2);
    CHECK_EQUAL(seen.kinds[2], INVIVO_KIND_INT64);
    CHECK_EQUAL(seen.numbers[2], 7);
    expects_error(document("t.yaml", "traits:\n  a.band:\n    - Set: { high: 0.5 }\n  a.part:\n    - Set: { number: 7 }\n", E),
                  INVIVO_E_HOST, "t.yaml:3:20: a.band.high: the rule 'low < high' refuses this value (because low must be below high)");
    /* Unrelated fields do not run it. */
    OK(document("t.yaml", "traits:\n  a.band:\n    - Set: { count: 4 }\n  a.part:\n    - Set: { number: 7 }\n", E));
    CHECK_EQUAL(seen.calls, 3);
    /* A base value that a call sets. */
    invivo_value low = invivo_double(50);
    describe();
    OK(invivo_changes_set(changes, "a.band", "low", &low, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST,
                  "a.band.low: the rule 'low < high' refuses this value (because low must be below high)");
    /* The trait is removed. */
    OK(document("t.yaml", "{}", E));
    CHECK_EQUAL(seen.kinds[2], INVIVO_KIND_NULL);
    /* The keys are removed. */
    describe();
    OK(invivo_changes_remove(changes, "a.band", E));
    commit();
    CHECK_EQUAL(seen.kinds[0], INVIVO_KIND_NULL);
    CHECK_EQUAL(seen.kinds[1], INVIVO_KIND_NULL);
    /* A path of the configuration, as no key has this name. */
    OK(document("c.yaml", "config: { a: { band: { low: 3, high: 4 } } }", E));
    CHECK_EQUAL(seen.numbers[1], 4);
    end();
}

/* A field of a block that the configuration gives is at fault there. */
static void a_field_that_the_configuration_gives_has_its_location(void) {
    static const invivo_property fields[] = {INVIVO_BLOCK_FIELD(band, low, .initial = 1), INVIVO_BLOCK_FIELD(band, high, .initial = 10)};
    static const invivo_injection low = {.name = "low", .how = INVIVO_INJECT_CONFIG, .reference = "low", .flags = INVIVO_INJECT_OPTIONAL};
    static const char *const inputs[] = {"a.child.low", "a.child.high"};
    invivo_type_options type = {.struct_size = sizeof type, .name = "Band", .concurrency = INVIVO_SHARED, .block_size = sizeof(band),
                                .properties = fields, .property_count = 2};
    begin();
    OK(document("c.yaml", "config: { a: { low: 2 } }", E));
    invivo_definition parent = {.struct_size = sizeof parent, .key = "a.parent", .type = register_type(type), .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                .properties = &low, .property_count = 1};
    OK(invivo_define(runtime, &parent, NULL, E));
    invivo_definition child = {.struct_size = sizeof child, .key = "a.child", .parent = "a.parent"};
    OK(invivo_define(runtime, &child, NULL, E));
    invivo_rule rule = rule_of("low < high", inputs, 2, ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK_EQUAL(seen.numbers[0], 2);
    expects_error(document("c.yaml", "config:\n  a:\n    low: 20\n", E), INVIVO_E_HOST,
                  "c.yaml:3:10: a.child.low: the rule 'low < high' refuses this value (because low must be below high)");
    end();
}

static void a_name_with_a_slash_is_a_configuration_path(void) {
    static const char *const inputs[] = {"/a.band.low", "a.band.high"}, *const wrong[] = {"/"};
    begin();
    OK(invivo_define_block(runtime, "a.band", INVIVO_BLOCK(band, band_properties), NULL, E));
    invivo_rule rule = rule_of("low < high", inputs, 2, ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK_EQUAL(seen.kinds[0], INVIVO_KIND_NULL);
    expects_error(document("c.yaml", "config: { a: { band: { low: 20, high: 30 } } }", E), INVIVO_E_HOST,
                  "c.yaml:1:29: a.band.low: the rule 'low < high' refuses this value (because low must be below high)");
    OK(document("c.yaml", "config: { a: { band: { low: 2 } } }", E));
    CHECK_EQUAL(seen.numbers[0], 2);
    expects_error(document("t.yaml", "traits: { a.band: [Set: { high: 1 }] }", E), INVIVO_E_HOST, NULL);
    rule = rule_of("wrong", wrong, 1, ordered);
    expects_error(invivo_rule_add(runtime, &rule, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

/* The location of a trait that did not change is the one in the new version of its document. */
static void a_trait_that_moved_is_at_fault(void) {
    begin();
    OK(invivo_define_block(runtime, "a.band", INVIVO_BLOCK(band, band_properties), NULL, E));
    OK(invivo_define_block(runtime, "b.band", INVIVO_BLOCK(band, band_properties), NULL, E));
    static const char *const inputs[] = {"b.band.low", "a.band.high"};
    invivo_rule rule = rule_of("low < high", inputs, 2, second_is_wrong);
    OK(document("t.yaml", "traits:\n  a.band:\n    - Set: { high: 5 }\n", E));
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("t.yaml", "traits:\n  b.band:\n    - Set: { low: 6 }\n  a.band:\n    - Set: { high: 5 }\n", E), INVIVO_E_HOST,
                  "t.yaml:5:20: a.band.high: the rule 'low < high' refuses this value (because low must be below high)");
    /* The former version stays in force, with its lines. */
    expects_error(document("u.yaml", "traits:\n  b.band:\n    - Set: { low: 6 }\n", E), INVIVO_E_HOST,
                  "t.yaml:3:20: a.band.high: the rule 'low < high' refuses this value (because low must be below high)");
    end();
}

static void aliases_and_overrides_are_seen(void) {
    static const char *const inputs[] = {"a.other.number", "a.limit"};
    begin();
    invivo_definition part = {.struct_size = sizeof part, .key = "a.part", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_type_options confined = part_options("Part");
    confined.concurrency = INVIVO_CONFINED;
    part.type = register_type(confined);
    OK(invivo_define(runtime, &part, NULL, E));
    OK(invivo_define_block(runtime, "a.band", INVIVO_BLOCK(band, band_properties), NULL, E));
    invivo_definition alias = {.struct_size = sizeof alias, .key = "a.other", .alias = "a.part"};
    OK(invivo_define(runtime, &alias, NULL, E));
    invivo_rule rule = rule_of("aliased", inputs, 2, ordered);
    OK(document("c.yaml", "config: { a: { limit: 5 } }", E));
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("t.yaml", "traits:\n  a.part:\n    - Set: { number: 7 }\n", E), INVIVO_E_HOST,
                  "t.yaml:3:22: a.other.number: the rule 'aliased' refuses this value (because low must be below high)");
    OK(document("t.yaml", "traits:\n  a.part:\n    - Set: { number: 4 }\n", E));
    /* An override that is an alias of the block has no number: the input is absent. */
    invivo_override override;
    invivo_definition above = {.struct_size = sizeof above, .key = "a.other", .alias = "a.band"};
    OK(invivo_override_begin(runtime, &above, &override, E));
    CHECK_EQUAL(seen.kinds[0], INVIVO_KIND_NULL);
    OK(document("c.yaml", "config: { a: { limit: 3 } }", E));
    expects_error(invivo_override_end(override, E), INVIVO_E_HOST, NULL);
    OK(document("c.yaml", "config: { a: { limit: 5 } }", E));
    OK(invivo_override_end(override, E));
    CHECK_EQUAL(seen.numbers[0], 4);
    end();
}

/* ---- threads --------------------------------------------------------------------------------------------- */

static void a_rule_runs_on_a_thread_of_its_own(void) {
    begin();
    invivo_rule rule = low_high(ordered);
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = note};
    invivo_observer observer;
    OK(invivo_rule_add(runtime, &rule, E));
    pid_t runner = seen.thread;
    CHECK(runner != (pid_t)syscall(SYS_gettid));
    CHECK_TEXT(seen.name, "invivo-rule");
    /* An edit of a file, which the loop thread plans. */
    write_text("edit.yaml", "config:\n  band: { low: 1, high: 10 }\n");
    OK(invivo_watch(runtime, "edit.yaml", E));
    OK(invivo_observe(runtime, &options, &observer, E));
    reported = 0;
    write_text("edit.yaml", "config:\n  band: { low: 2, high: 10 }\n");
    await_count(&reported, 1);
    CHECK_EQUAL(last_status, INVIVO_OK);
    CHECK_EQUAL(config_number("band.low"), 2);
    CHECK_EQUAL(seen.thread, runner);
    write_text("edit.yaml", "config:\n  band: { low: 22, high: 10 }\n");
    await_count(&reported, 2);
    CHECK_EQUAL(last_status, INVIVO_E_HOST);
    CHECK_TEXT(last_error, "edit.yaml:2:16: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    CHECK_EQUAL(config_number("band.low"), 2);
    CHECK_EQUAL(seen.thread, runner);
    /* The next edit is taken in. */
    write_text("edit.yaml", "config:\n  band: { low: 3, high: 10 }\n");
    await_count(&reported, 3);
    CHECK_EQUAL(config_number("band.low"), 3);
    OK(invivo_observer_close(observer, E));
    end();
}

static invivo_object kept_object;
static invivo_changes kept_changes;
static invivo_key kept_key;
/* Calls the runtime in every way. */
static invivo_status call(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)at, (void)user_data;
    invivo_value value = invivo_int64(1);
    invivo_object object = {0};
    invivo_pin pin = {0};
    invivo_changes set = {0};
    uint64_t number = 0;
    look(values, count);
    expects_error(invivo_resolve(runtime, kept_key, &object, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_changes_open(runtime, &set, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_changes_set(kept_changes, "a.part", "number", &value, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_changes_commit(kept_changes, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_object_get(kept_object, "number", &value, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_config_read(runtime, "band.low", &value, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_runtime_poll(runtime, 0, NULL, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_IN_CALLBACK, NULL);
    expects_error(invivo_runtime_generation(runtime, &number, E), INVIVO_E_IN_CALLBACK, NULL);
    invivo_view view = invivo_view_begin(runtime);
    CHECK(!view.reader);
    invivo_view_end(view);
    pin = invivo_pin_begin(runtime, NULL);
    CHECK_EQUAL(pin.bits, 0);
    /* Another runtime can be read. */
    invivo_runtime other = {0};
    OK(invivo_runtime_open(&other, NULL, E));
    OK(invivo_runtime_generation(other, &number, E));
    expects_error(invivo_runtime_close(other, E), INVIVO_E_IN_CALLBACK, NULL);
    *(invivo_runtime *)user_data = other;
    /* The error of the call is the refusal. */
    return invivo_config_read(runtime, "band.low", &value, error);
}

static void a_rule_must_not_call_its_runtime(void) {
    begin();
    invivo_runtime other = {0};
    invivo_definition part = {.struct_size = sizeof part, .key = "a.part", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_type_options shared = part_options("Part");
    shared.concurrency = INVIVO_SHARED;
    part.type = register_type(shared);
    OK(invivo_define(runtime, &part, &kept_key, E));
    OK(invivo_resolve(runtime, kept_key, &kept_object, E));
    OK(invivo_changes_open(runtime, &kept_changes, E));
    invivo_rule rule = low_high(call);
    rule.user_data = &other;
    expects_error(invivo_rule_add(runtime, &rule, E), INVIVO_E_HOST,
                  "band.low: the rule 'low < high' refuses this value (because a rule must not call its runtime, nor use change "
                  "sets, pools or sources: it decides by the values that it receives)");
    CHECK_EQUAL(seen.calls, 1);
    OK(invivo_runtime_close(other, E));
    invivo_changes_discard(kept_changes);
    drop(kept_object);
    end();
}

static void a_rule_that_does_not_return_is_given_up(void) {
    static const char *const others[] = {"other.low", "other.high"};
    begin_limited(50, INVIVO_DOMAIN_OPENER);
    invivo_rule rule = low_high(block), other = rule_of("other", others, 2, ordered);
    OK(document("a.yaml", "config:\n  band: { low: 1, high: 10 }\n", E));
    OK(invivo_rule_add(runtime, &rule, E));
    OK(invivo_rule_add(runtime, &other, E));
    expects_error(document("a.yaml", "config:\n  band: { low: 99, high: 10 }\n", E), INVIVO_E_TIMEOUT,
                  "a.yaml:2:16: band.low: the rule 'low < high' has not answered after 50.0 ms, the rule timeout of the "
                  "runtime: it must return at once, without waiting");
    await_count(&entered, 1);
    CHECK_EQUAL(config_number("band.low"), 1);
    invivo_error *last = NULL;
    OK(invivo_runtime_last_error(runtime, &last));
    CHECK(strstr(invivo_error_text(last), "'low < high'") != NULL);
    invivo_error_release(last);
    /* The rules that return may take long on a busy machine. */
    invivo_runtime_options options = {.struct_size = sizeof options};
    OK(invivo_runtime_options_read(runtime, &options, E));
    options.rule_timeout_ms = 60000;
    OK(invivo_runtime_options_change(runtime, &options, E));
    /* The same rule is refused at once; others run, as do reloads without rules. */
    expects_error(document("a.yaml", "config:\n  band: { low: 2, high: 10 }\n", E), INVIVO_E_TIMEOUT,
                  "a.yaml:2:16: band.low: the rule 'low < high' is still running for an earlier change set: changes of its inputs are "
                  "refused until it returns, is replaced or is removed");
    OK(document("b.yaml", "config: { other: { low: 1, high: 10 }, more: 1 }", E));
    expects_error(document("b.yaml", "config: { other: { low: 100, high: 10 } }", E), INVIVO_E_HOST, NULL);
    /* Another function can replace it. */
    rule.check = ordered;
    OK(invivo_rule_add(runtime, &rule, E));
    OK(document("a.yaml", "config:\n  band: { low: 2, high: 10 }\n", E));
    CHECK_EQUAL(destroyed, 0);
    add_one(&let_go);
    await_count(&destroyed, 1);
    end();
    CHECK_EQUAL(destroyed, 3);
}

/* When it returns, its inputs can change again. */
static void a_rule_that_returns_late_runs_again(void) {
    begin_limited(50, INVIVO_DOMAIN_OPENER);
    invivo_rule rule = low_high(block);
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("a.yaml", "config: { band: { low: 99 } }", E), INVIVO_E_TIMEOUT, NULL);
    await_count(&entered, 1);
    add_one(&let_go);
    invivo_status status;
    do { status = document("a.yaml", "config: { band: { low: 2 } }", NULL); } while (status == INVIVO_E_TIMEOUT);
    CHECK_EQUAL(status, INVIVO_OK);
    CHECK_EQUAL(config_number("band.low"), 2);
    end();
}

static void close_does_not_wait_for_a_rule(void) {
    begin_limited(50, INVIVO_DOMAIN_OPENER);
    invivo_rule rule = low_high(block);
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("a.yaml", "config: { band: { low: 99 } }", E), INVIVO_E_TIMEOUT, NULL);
    await_count(&entered, 1);
    end();
    CHECK_TEXT(logged, "the rule 'low < high' has not returned: the runtime closes, and the rule's thread ends when it returns\n");
    CHECK_EQUAL(destroyed, 0);
    invivo_live_counts live = {.struct_size = sizeof live};
    invivo_live(&live);
    CHECK_EQUAL(live.threads, 1);
    add_one(&let_go);
    await_count(&destroyed, 1);
    /* The last step of the thread follows. */
    while (live.threads) {
        sched_yield();
        invivo_live(&live);
    }
}

/* A commit on another thread, whose rule has an hour. */
static void *commit_99(void *succeeds) {
    invivo_status status = document("a.yaml", "config: { band: { low: 99 } }", NULL);
    CHECK_EQUAL(status, succeeds ? INVIVO_OK : INVIVO_E_CLOSED);
    return NULL;
}
static void *let_it_go(void *unused) {
    (void)unused;
    await_count(&entered, 1);
    add_one(&let_go);
    return NULL;
}
static void close_gives_up_a_rule_under_way(void) {
    pthread_t thread;
    begin_limited(3600000, INVIVO_DOMAIN_OPENER);
    invivo_rule rule = low_high(block);
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK(pthread_create(&thread, NULL, commit_99, NULL) == 0);
    await_count(&entered, 1);
    end();
    pthread_join(thread, NULL);
    add_one(&let_go);
    await_count(&destroyed, 1);
    invivo_live_counts live = {.struct_size = sizeof live};
    do {
        sched_yield();
        invivo_live(&live);
    } while (live.threads);
}
/* Another change waits for the reload, and reports the rule. */
static void a_waiting_change_names_the_rule(void) {
    pthread_t thread;
    commit_timeout = 50;
    begin_limited(3600000, INVIVO_DOMAIN_OPENER);
    commit_timeout = 0;
    invivo_rule rule = low_high(block);
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK(pthread_create(&thread, NULL, commit_99, (void *)1) == 0);
    await_count(&entered, 1);
    expects_error(document("b.yaml", "config: { free: 1 }", E), INVIVO_E_TIMEOUT,
                  "the reload of 'a.yaml', which is in the rule 'low < high', takes longer than commit_timeout_ms permits a change to "
                  "wait for it");
    add_one(&let_go);
    pthread_join(thread, NULL);
    CHECK_EQUAL(config_number("band.low"), 99);
    end();
}
/* The rule returns while close waits for it. */
static void close_waits_briefly_for_a_rule(void) {
    pthread_t thread;
    begin_limited(50, INVIVO_DOMAIN_OPENER);
    invivo_rule rule = low_high(block);
    OK(invivo_rule_add(runtime, &rule, E));
    expects_error(document("a.yaml", "config: { band: { low: 99 } }", E), INVIVO_E_TIMEOUT, NULL);
    CHECK(pthread_create(&thread, NULL, let_it_go, NULL) == 0);
    end();
    pthread_join(thread, NULL);
    CHECK_TEXT(logged, "");
    CHECK_EQUAL(destroyed, 1);
}

/* ---- other operations -------------------------------------------------------------------------------------- */

static void a_check_runs_rules_and_changes_nothing(void) {
    begin();
    invivo_rule rule = low_high(ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    uint64_t before = generation();
    describe();
    OK(invivo_changes_document(changes, "a.yaml", "config:\n  band: { low: 20, high: 10 }\n", 38, E));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_HOST,
                  "a.yaml:2:16: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    OK(invivo_changes_document(changes, "a.yaml", "config:\n  band: { low: 2, high: 10 }\n", 37, E));
    OK(invivo_changes_check(changes, E));
    CHECK_EQUAL(generation(), before);
    commit();
    CHECK_EQUAL(generation(), before + 1);
    end();
}

/* All errors of a set are reported at once. */
static void all_rules_of_a_set_are_reported(void) {
    static const char *const others[] = {"other.low", "other.high"};
    begin();
    invivo_rule rule = low_high(ordered), other = rule_of("a second", others, 2, ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    OK(invivo_rule_add(runtime, &other, E));
    expects_error(document("a.yaml", "config:\n  band: { low: 20, high: 10 }\n  other: { low: 3, high: 1 }\n", E), INVIVO_E_HOST,
                  "a.yaml:3:17: other.low: the rule 'a second' refuses this value (because low must be below high)\n"
                  "a.yaml:2:16: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    end();
}

/* A set that a rule refuses does not hold back the sets that were submitted with it. */
static void submitted_sets_are_refused_alone(void) {
    begin();
    invivo_rule rule = low_high(ordered);
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = note};
    invivo_observer observer;
    OK(invivo_rule_add(runtime, &rule, E));
    OK(document("a.yaml", "config: { band: { low: 1, high: 10 } }", E));
    OK(invivo_observe(runtime, &options, &observer, E));
    const char *texts[] = {"config: { band: { low: 20 } }", "config: { free: 2 }"};
    for (int i = 0; i < 2; i++) {
        invivo_changes set;
        OK(invivo_changes_open(runtime, &set, E));
        OK(invivo_changes_document(set, i ? "free.yaml" : "band.yaml", texts[i], strlen(texts[i]), E));
        OK(invivo_changes_submit(set, E));
    }
    await_count(&reported, 2);
    CHECK_EQUAL(config_number("free"), 2);
    CHECK_EQUAL(config_number("band.low"), 1);
    OK(invivo_observer_close(observer, E));
    end();
}

static void a_commit_in_a_pin_checks_the_newest_values(void) {
    begin();
    invivo_rule rule = low_high(ordered);
    OK(invivo_rule_add(runtime, &rule, E));
    OK(document("a.yaml", "config: { band: { low: 1, high: 10 } }", E));
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    OK(document("a.yaml", "config: { band: { low: 15, high: 20 } }", E));
    CHECK_EQUAL(config_number("band.low"), 1);
    expects_error(document("b.yaml", "config: { band: { high: 12 } }", E), INVIVO_E_HOST, NULL);
    OK(document("b.yaml", "config: { band: { high: 16 } }", E));
    OK(invivo_pin_end(pin));
    CHECK_EQUAL(config_number("band.high"), 16);
    end();
}

/* The inputs of a rule count as read. */
static void an_input_is_read_by_its_rule(void) {
    static const char *const inputs[] = {"audio.volume"};
    begin();
    invivo_rule rule = rule_of("volume", inputs, 1, accept);
    OK(invivo_rule_add(runtime, &rule, E));
    OK(document("a.yaml", "config:\n  audio: { volume: 1 }\n", E));
    CHECK_TEXT(logged, "");
    OK(document("a.yaml", "config:\n  audio: { volum: 1 }\n", E));
    CHECK_TEXT(logged, "a.yaml:2:19: 'audio.volum' is not read by anything; did you mean 'audio.volume'?\n");
    logged[0] = 0;
    OK(invivo_rule_remove(runtime, "volume", E));
    OK(document("a.yaml", "config:\n  audio: { volum: 2, volumes: 1 }\n", E));
    CHECK_TEXT(logged, "");
    /* A rule whose path was meant. */
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK(strstr(logged, "did you mean 'audio.volume'?") != NULL);
    end();
}

/* Inputs that nothing defines, and that resemble something. */
static void a_misspelled_input_is_a_warning(void) {
    static const struct { const char *input, *near; } inputs[] = {
        {"band.lwo", "band.low"}, {"bnad.low", "band.low"}, {"a.block.gian", "a.block.gain"}, {"a.blcok.gain", "a.block.gain"}};
    static const char *const fine[] = {"band.low", "a.block.gain", "/a.block.gain", "band.high", "late.value", "band.low2"};
    begin();
    typedef struct { double gain; } block;
    static const invivo_property properties[] = {INVIVO_BLOCK_FIELD(block, gain)};
    invivo_key key;
    OK(invivo_define_block(runtime, "a.block", INVIVO_BLOCK(block, properties), &key, E));
    OK(document("a.yaml", "config: { band: { low: 1 }, a: { block: { gain: 1 } } }\n", E));
    logged[0] = 0;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        invivo_rule rule = rule_of("fine", &fine[i], 1, accept);
        OK(invivo_rule_add(runtime, &rule, E));
        CHECK_TEXT(logged, "");
    }
    OK(document("a.yaml", "config: { band: { low: 1 } }\n", E));
    OK(invivo_rule_remove(runtime, "fine", E));
    static const char *const low = "band.low";
    invivo_rule reader = rule_of("reader", &low, 1, accept);
    OK(invivo_rule_add(runtime, &reader, E));
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char expected[160];
        logged[0] = 0;
        invivo_rule rule = rule_of("wrong", &inputs[i].input, 1, accept);
        OK(invivo_rule_add(runtime, &rule, E));
        snprintf(expected, sizeof expected, "the rule 'wrong' reads '%s', which nothing defines; did you mean '%s'?\n", inputs[i].input, inputs[i].near);
        CHECK_TEXT(logged, expected);
        OK(invivo_rule_remove(runtime, "wrong", E));
    }
    end();
}

/* A module of the application adds a rule; its documents break it. */
static invivo_status load_rule(void *user_data, invivo_runtime loading, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path;
    invivo_rule rule = low_high(ordered);
    return invivo_rule_add(loading, &rule, error);
}
static void a_check_of_an_application_runs_rules(void) {
    invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load_rule};
    destroyed = 0;
    memset(&seen, 0, sizeof seen);
    write_text("rule.py", "");
    write_text("spec.yaml", "config:\n  band:\n    low: 3\n    high: 2\n");
    write_text("app.yaml", "modules: { rule: rule.py }\nspecs: [spec.yaml]\n");
    invivo_runtime_options silent;
    invivo_runtime_options_init(&silent);
    silent.log_level = INVIVO_LOG_SILENT;
    options.runtime = &silent;
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_HOST,
                  "spec.yaml:3:10: band.low: the rule 'low < high' refuses this value (because low must be below high)");
    write_text("spec.yaml", "config:\n  band:\n    low: 1\n    high: 2\n");
    OK(invivo_app_check(&options, 0, NULL, E));
    CHECK_EQUAL(destroyed, 2);
}

enum { WRITERS = 4, ROUNDS = 50 };
static void *write_bands(void *given) {
    int number = (int)(intptr_t)given;
    for (int i = 0; i < ROUNDS; i++) {
        char name[16], text[96];
        int low = i % 3 == 0 ? 30 : i + 1;
        snprintf(name, sizeof name, "w%d.yaml", number);
        snprintf(text, sizeof text, "config: { w%d: { low: %d, high: %d } }", number, low, i % 3 == 0 ? 20 : 100 + i);
        invivo_status status = document(name, text, NULL);
        CHECK_EQUAL(status, i % 3 == 0 ? INVIVO_E_HOST : INVIVO_OK);
    }
    return NULL;
}
static void rules_and_commits_under_threads(void) {
    pthread_t threads[WRITERS];
    begin_limited(60000, INVIVO_DOMAIN_OPENER);
    for (int i = 0; i < WRITERS; i++) {
        char low[16], high[16], name[16];
        snprintf(low, sizeof low, "w%d.low", i), snprintf(high, sizeof high, "w%d.high", i), snprintf(name, sizeof name, "rule %d", i);
        const char *inputs[] = {low, high};
        invivo_rule rule = rule_of(name, inputs, 2, ordered);
        OK(invivo_rule_add(runtime, &rule, E));
    }
    for (int i = 0; i < WRITERS; i++) CHECK(pthread_create(&threads[i], NULL, write_bands, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(seen.calls, WRITERS * (ROUNDS + 1));
    end();
    CHECK_EQUAL(destroyed, WRITERS);
}

/* Change sets that fail together are tried alone, each in a turn of its own: a commit of another thread comes between them. */
enum { QUEUED = 200 };
static int tried;
static invivo_status refuse_all(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)count, (void)at, (void)user_data, (void)error;
    if (values[0].kind == INVIVO_KIND_NULL) return INVIVO_OK;
    if (!__atomic_fetch_add(&tried, 1, __ATOMIC_SEQ_CST)) await_count(&let_go, 1);
    return INVIVO_E_HOST;
}
static void a_queue_that_fails_leaves_turns_to_others(void) {
    begin_limited(1000 * CHECK_LIMIT_SECONDS, INVIVO_DOMAIN_OPENER);
    static const char *const inputs[] = {"band.low"};
    const invivo_rule rule = {.struct_size = sizeof rule, .name = "none", .inputs = inputs, .input_count = 1, .check = refuse_all};
    OK(invivo_rule_add(runtime, &rule, E));
    tried = 0;
    for (int i = 0; i < QUEUED; i++) {
        invivo_changes set;
        invivo_value value = invivo_int64(i);
        OK(invivo_changes_open(runtime, &set, E));
        OK(invivo_changes_configure(set, "band.low", &value, E));
        OK(invivo_changes_submit(set, E));
    }
    add_one(&let_go);
    OK(document("b.yaml", "config: { other: 1 }", E));
    CHECK(__atomic_load_n(&tried, __ATOMIC_SEQ_CST) < QUEUED);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(an_edit_that_breaks_a_rule_is_refused_at_the_line_of_the_value);
    RUN_TEST(a_rule_names_the_input_at_fault);
    RUN_TEST(a_rule_runs_only_when_an_input_changes);
    RUN_TEST(the_current_values_satisfy_a_rule_that_is_added);
    RUN_TEST(descriptions_are_checked);
    RUN_TEST(fields_of_blocks_and_layered_properties_are_inputs);
    RUN_TEST(a_field_that_the_configuration_gives_has_its_location);
    RUN_TEST(a_name_with_a_slash_is_a_configuration_path);
    RUN_TEST(a_trait_that_moved_is_at_fault);
    RUN_TEST(aliases_and_overrides_are_seen);
    RUN_TEST(a_rule_runs_on_a_thread_of_its_own);
    RUN_TEST(a_rule_must_not_call_its_runtime);
    RUN_TEST(a_rule_that_does_not_return_is_given_up);
    RUN_TEST(a_rule_that_returns_late_runs_again);
    RUN_TEST(close_does_not_wait_for_a_rule);
    RUN_TEST(close_gives_up_a_rule_under_way);
    RUN_TEST(a_waiting_change_names_the_rule);
    RUN_TEST(close_waits_briefly_for_a_rule);
    RUN_TEST(a_check_runs_rules_and_changes_nothing);
    RUN_TEST(all_rules_of_a_set_are_reported);
    RUN_TEST(submitted_sets_are_refused_alone);
    RUN_TEST(a_commit_in_a_pin_checks_the_newest_values);
    RUN_TEST(an_input_is_read_by_its_rule);
    RUN_TEST(a_misspelled_input_is_a_warning);
    RUN_TEST(a_check_of_an_application_runs_rules);
    RUN_TEST(rules_and_commits_under_threads);
    RUN_TEST(a_queue_that_fails_leaves_turns_to_others);
    return check_end();
}
