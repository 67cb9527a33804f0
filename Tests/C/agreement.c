/* Two ways to the same result agree: types, dependencies with and without a definition, single and joined sets,
 * spellings of names, reports in several domains. */
/* sanitize: no, each thread serves a domain of its own */
#include "check.h"

typedef struct { int number; } thing;
typedef struct { double gain; } gain;

static invivo_runtime runtime;

static void begin(void) {
    invivo_type_options type = {.struct_size = sizeof(type), .name = "Thing", .size = sizeof(thing), .concurrency = INVIVO_SHARED};
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &type, NULL, E));
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }
static invivo_definition plain(const char *key, const char *type) {
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = INVIVO_SCOPE_PROTOTYPE, .type_name = type};
}

static void a_definition_that_waits_sees_the_type_of_a_block(void) {
    static const invivo_property properties[] = {INVIVO_FIELD(gain, gain)};
    begin();
    invivo_definition waits = plain("a.waits", "gain");
    waits.flags = INVIVO_DEFINITION_WAITS, waits.scope = INVIVO_SCOPE_LAZY_SINGLETON;
    OK(invivo_define(runtime, &waits, NULL, E));
    OK(invivo_define_block(runtime, "a.block", INVIVO_BLOCK(gain, properties), NULL, E));
    /* A blocked definition is defined on the worker. */
    invivo_status status = INVIVO_E_DORMANT;
    for (int i = 0; i < CHECK_LIMIT_SECONDS * 1000 && status == INVIVO_E_DORMANT; i++) {
        invivo_object object = {0};
        status = invivo_resolve_name(runtime, "a.waits", &object, NULL);
        if (object.bits) OK(invivo_object_release(object));
        usleep(1000);
    }
    CHECK(status != INVIVO_E_DORMANT);
    end();
}

typedef struct { uint32_t kind; } node;
static invivo_status get_left(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static int sets;
static invivo_status set_left(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    CHECK(sets >= 0 && (value->kind == INVIVO_KIND_NULL || value->kind == INVIVO_KIND_OBJECT));
    sets++;
    return INVIVO_OK;
}
static invivo_type node_with(const invivo_injection *need) {
    static const invivo_property left = {.struct_size = sizeof(left), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_left, .set = set_left};
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Node", .size = sizeof(node), .properties = &left, .property_count = 1, .needs = need, .need_count = 1};
    invivo_type type = {0};
    OK(invivo_type_register(runtime, &options, &type, E));
    return type;
}

static void an_optional_dependency_on_a_blocked_key_is_null_without_a_definition_too(void) {
    begin();
    invivo_injection need = {.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.waits", .flags = INVIVO_INJECT_OPTIONAL};
    invivo_type type = node_with(&need);
    invivo_definition waits = plain("a.waits", "Nobody"), defined = plain("a.node", "Node");
    invivo_object object;
    waits.flags = INVIVO_DEFINITION_WAITS;
    OK(invivo_define(runtime, &waits, NULL, E));
    OK(invivo_define(runtime, &defined, NULL, E));
    sets = 0;
    OK(invivo_resolve_name(runtime, "a.node", &object, E));
    OK(invivo_object_release(object));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_object_release(object));
    CHECK_EQUAL(sets, 2);
    end();
}

static void an_object_that_a_type_needs_does_not_hinder_a_close(void) {
    begin();
    invivo_definition source = plain("a.thing", "Thing");
    invivo_object object;
    OK(invivo_define(runtime, &source, NULL, E));
    OK(invivo_resolve_name(runtime, "a.thing", &object, E));
    invivo_injection need = {.name = "left", .how = INVIVO_INJECT_VALUE, .value = invivo_object_value(object)};
    node_with(&need);
    OK(invivo_object_release(object));
    end();
}

static void declare(const char *path, bool is_secret) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(is_secret ? invivo_changes_add_secret(changes, path, E) : invivo_changes_remove_secret(changes, path, E));
    OK(invivo_changes_commit(changes, E));
}
static void spellings_of_a_path_are_compared_by_their_bytes(void) {
    begin();
    const char *composed = "a.\xc3\xa9", *decomposed = "a.e\xcc\x81";
    invivo_value one = invivo_int64(1), two = invivo_int64(2), found;
    const struct { const char *path; const invivo_value *value; } said[] = {{composed, &one}, {decomposed, &two}};
    for (int i = 0; i < 2; i++) {
        invivo_changes changes;
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_configure(changes, said[i].path, said[i].value, E));
        OK(invivo_changes_commit(changes, E));
    }
    for (int i = 0; i < 2; i++) {
        OK(invivo_config_read(runtime, said[i].path, &found, E));
        CHECK_EQUAL(found.as.signed_integer, i + 1);
        invivo_value_clear(&found);
    }
    /* Both are secret if both are declared, and one if the declaration of the other ends. */
    for (int i = 0; i < 2; i++) declare(said[i].path, true);
    for (int ended = 0; ended < 3; ended++) {
        bool is_secret[2];
        for (int i = 0; i < 2; i++) OK(invivo_config_is_secret(runtime, said[i].path, &is_secret[i], E));
        CHECK(is_secret[0] == (ended < 1) && is_secret[1] == (ended < 2));
        if (ended < 2) declare(said[ended].path, false);
    }
    end();
}

static int visits;
static invivo_status configures(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error) {
    (void)described, (void)user_data, (void)error;
    invivo_value value = invivo_int64(5);
    visits++;
    expects_error(invivo_changes_configure(changes, "a.b", &value, E), INVIVO_E_ARGUMENT,
                  "a.thing: a processor that visits 'a.thing' can replace its definition, and nothing else");
    return INVIVO_OK;
}
static void a_processor_configures_nothing(void) {
    begin();
    invivo_changes changes;
    invivo_processor processor = {.struct_size = sizeof(processor), .name = "p", .process = configures};
    invivo_definition thing = plain("a.thing", "Thing");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &processor, E));
    OK(invivo_changes_define(changes, &thing, NULL, E));
    OK(invivo_changes_commit(changes, E));
    CHECK(visits > 0);
    end();
}

/* ---- joined sets ------------------------------------------------------------------------------------ */

static int held, finished;
static void hold(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    __atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&held, __ATOMIC_SEQ_CST)) usleep(100);
}
static void submit(const invivo_definition *definition) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, definition, NULL, E));
    OK(invivo_changes_submit(changes, E));
}
static void wait_for(int reports) {
    for (int i = 0; i < CHECK_LIMIT_SECONDS * 1000 && __atomic_load_n(&finished, __ATOMIC_SEQ_CST) < reports; i++) usleep(1000);
    CHECK(__atomic_load_n(&finished, __ATOMIC_SEQ_CST) >= reports);
}
static void joined_sets_leave_no_inline_definition_of_a_former_one(void) {
    begin();
    invivo_observer_options watching = {.struct_size = sizeof(watching), .reloaded = hold};
    invivo_observer observer;
    invivo_definition inside = plain("", "Thing"), first = plain("a.first", "Thing"), now = plain("a.both", "Needy"), before = now;
    invivo_parameter parameter = {.name = "it", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL};
    invivo_type_options needy = {.struct_size = sizeof(needy), .name = "Needy", .size = 8, .concurrency = INVIVO_SHARED, .parameters = &parameter, .parameter_count = 1};
    invivo_injection inlined = {.how = INVIVO_INJECT_REFERENCE, .definition = &inside};
    invivo_key key;
    before.initializer = &inlined, before.initializer_count = 1;
    OK(invivo_type_register(runtime, &needy, NULL, E));
    OK(invivo_observe(runtime, &watching, &observer, E));
    held = 1, finished = 0;
    submit(&first);
    wait_for(1); /* the worker is held, and joins the sets that arrive meanwhile */
    submit(&before);
    submit(&now);
    __atomic_store_n(&held, 0, __ATOMIC_SEQ_CST);
    wait_for(2);
    for (int i = 0; i < CHECK_LIMIT_SECONDS * 1000 && invivo_key_find(runtime, "a.both", &key, NULL); i++) usleep(1000);
    OK(invivo_key_find(runtime, "a.both", &key, E));
    CHECK(invivo_key_find(runtime, "a.both.0", &key, NULL) == INVIVO_E_NOT_FOUND);
    OK(invivo_observer_close(observer, E));
    end();
}

/* ---- one report in several domains ------------------------------------------------------------------ */

enum { REPORTS = 200, READERS = 2, KEYS = 100 };
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    invivo_job job;
    int is_over;
} loop;

static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    loop *to = user_data;
    (void)error;
    pthread_mutex_lock(&to->lock);
    while (to->job.bits) pthread_cond_wait(&to->changed, &to->lock);
    to->job = job;
    pthread_cond_broadcast(&to->changed);
    pthread_mutex_unlock(&to->lock);
    return INVIVO_OK;
}
static void *serve(void *user_data) {
    loop *own = user_data;
    for (;;) {
        pthread_mutex_lock(&own->lock);
        while (!own->job.bits && !own->is_over) pthread_cond_wait(&own->changed, &own->lock);
        invivo_job job = own->job;
        own->job.bits = 0;
        pthread_cond_broadcast(&own->changed);
        pthread_mutex_unlock(&own->lock);
        if (!job.bits) return NULL;
        invivo_job_run(job);
    }
}
static int arrived, read_reports;
static void reads(void *user_data, const invivo_report *report) {
    (void)user_data;
    int own = __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST), both = (own + READERS - 1) / READERS * READERS;
    for (int i = 0; i < 1000000 && __atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < both; i++) sched_yield();
    const char *text = invivo_report_text(report), *key = invivo_report_key(report, 0);
    for (int i = 0; i < 100; i++) sched_yield();
    CHECK(text == invivo_report_text(report) && key == invivo_report_key(report, 0));
    __atomic_add_fetch(&read_reports, 1, __ATOMIC_SEQ_CST);
}
static void strings_of_a_report_are_the_same_in_all_domains(void) {
    static loop loops[READERS];
    pthread_t threads[READERS];
    invivo_observer observers[READERS];
    begin();
    for (int i = 0; i < READERS; i++) {
        invivo_domain domain;
        invivo_domain_options options = {.struct_size = sizeof(options), .name = "loop", .post = post, .user_data = &loops[i]};
        pthread_mutex_init(&loops[i].lock, NULL);
        pthread_cond_init(&loops[i].changed, NULL);
        CHECK_EQUAL(pthread_create(&threads[i], NULL, serve, &loops[i]), 0);
        OK(invivo_domain_register(runtime, &options, &domain, E));
        invivo_observer_options watching = {.struct_size = sizeof(watching), .reloaded = reads, .domain = domain};
        OK(invivo_observe(runtime, &watching, &observers[i], E));
    }
    for (int n = 1; n <= REPORTS; n++) {
        invivo_changes changes;
        OK(invivo_changes_open(runtime, &changes, E));
        for (int i = 0; i < KEYS; i++) {
            char key[16];
            snprintf(key, sizeof(key), "a.k%d", i);
            invivo_definition definition = plain(key, "Thing");
            definition.rank = n; /* otherwise nothing would change */
            OK(invivo_changes_define(changes, &definition, NULL, E));
        }
        OK(invivo_changes_commit(changes, E));
        while (__atomic_load_n(&read_reports, __ATOMIC_SEQ_CST) < n * READERS) sched_yield();
    }
    for (int i = 0; i < READERS; i++) {
        OK(invivo_observer_close(observers[i], E));
        pthread_mutex_lock(&loops[i].lock);
        loops[i].is_over = 1;
        pthread_cond_broadcast(&loops[i].changed);
        pthread_mutex_unlock(&loops[i].lock);
        pthread_join(threads[i], NULL);
    }
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(strings_of_a_report_are_the_same_in_all_domains);
    RUN_TEST(a_definition_that_waits_sees_the_type_of_a_block);
    RUN_TEST(an_optional_dependency_on_a_blocked_key_is_null_without_a_definition_too);
    RUN_TEST(an_object_that_a_type_needs_does_not_hinder_a_close);
    RUN_TEST(spellings_of_a_path_are_compared_by_their_bytes);
    RUN_TEST(a_processor_configures_nothing);
    RUN_TEST(joined_sets_leave_no_inline_definition_of_a_former_one);
    return check_end();
}
