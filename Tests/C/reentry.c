/* Callbacks of a host that call their runtime: they return, and nothing remains. */
#include "parts.h"

static invivo_type part_type;
static int resolves, statuses[64];

/* ---- destroy ------------------------------------------------------------------------------------------ */

static void define_in_destroy(void *user_data) {
    (void)user_data;
    invivo_definition late = {.struct_size = sizeof late, .key = "a.late", .type = part_type};
    invivo_error *error = NULL;
    statuses[0] = invivo_define(runtime, &late, NULL, &error);
    invivo_error_release(error), error = NULL;
    statuses[1] = invivo_runtime_close_deferred(runtime, &error);
    invivo_error_release(error);
}

static void a_destroy_is_a_callback_that_may_not_wait(void) {
    parts_without_history = true;
    begin_with(0);
    part_type = register_type(part_options("Part"));
    invivo_definition first = {.struct_size = sizeof first, .key = "a.x", .type = part_type, .destroy = define_in_destroy};
    invivo_definition second = {.struct_size = sizeof second, .key = "a.x", .type = part_type, .rank = 1};
    OK(invivo_define(runtime, &first, NULL, E));
    OK(invivo_define(runtime, &second, NULL, E));
    CHECK_EQUAL(statuses[0], INVIVO_E_WOULD_WAIT);
    CHECK_EQUAL(statuses[1], INVIVO_E_IN_CALLBACK);
    end();
}

/* ---- notifications while shared instances become visible ----------------------------------------------- */

static int started, made;
static invivo_status count_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    made++;
    return part_init(instance, build, arguments, count, user_data, error);
}
static invivo_status count_start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    started++;
    return INVIVO_OK;
}
static void resolve_everything(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    invivo_value all;
    if (!strstr(entry->message, "is built") || resolves >= 8) return;
    resolves++;
    OK(invivo_resolve_all(runtime, "Part", 0, &all, E));
    invivo_value_clear(&all);
}

static void what_the_log_resolves_is_a_graph_of_its_own(uint32_t scope) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = resolve_everything, options.log_level = INVIVO_LOG_DEBUG;
    trace[0] = 0, live = 0, resolves = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options part = part_options("Part");
    part.init = count_init, part.start = count_start, made = started = 0;
    part_type = register_type(part);
    invivo_injection inner[] = {KEY("left", "a.inner")};
    invivo_definition definitions[] = {
        {.key = "a.inner", .type = part_type, .scope = scope},
        {.key = "a.outer", .type = part_type, .scope = scope, PROPERTIES(inner)},
        {.key = "a.other", .type = part_type, .scope = scope},
        {.key = "a.eager", .type = part_type, .scope = INVIVO_SCOPE_SINGLETON},
        {.key = "a.graph", .type = part_type, .scope = INVIVO_SCOPE_GRAPH},
    };
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (size_t i = 0; i < COUNT(definitions); i++) {
        definitions[i].struct_size = sizeof *definitions;
        OK(invivo_changes_define(changes, &definitions[i], NULL, E));
    }
    OK(invivo_changes_commit(changes, E));
    for (int i = 0; i < 2; i++) {
        invivo_object outer;
        OK(invivo_resolve_name(runtime, "a.outer", &outer, E));
        OK(invivo_object_release(outer));
    }
    CHECK(resolves > 0);
    CHECK(started >= 5);
    CHECK_EQUAL(started, made); /* each created object was started */
    end();
}

/* ---- pools -------------------------------------------------------------------------------------------------- */

static invivo_pool pool;
static invivo_status make_part(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)key;
    return invivo_object_make(runtime, part_type, NULL, 0, out, error);
}
static invivo_status start_and_ask(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_value key = invivo_int64(1);
    invivo_object object;
    return invivo_pool_get(pool, &key, make_part, NULL, &object, error);
}

static void a_start_that_requests_a_pool_entry_in_creation_is_a_cycle(void) {
    begin_with(0);
    invivo_type_options options = part_options("Part");
    options.start = start_and_ask;
    part_type = register_type(options);
    OK(invivo_pool_open(runtime, NULL, &pool, E));
    invivo_value key = invivo_int64(1);
    invivo_object object;
    expects_error(invivo_pool_get(pool, &key, make_part, NULL, &object, E), INVIVO_E_CYCLE, NULL);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_destroy_is_a_callback_that_may_not_wait);
    RUN_TEST_WITH(what_the_log_resolves_is_a_graph_of_its_own, INVIVO_SCOPE_SINGLETON);
    RUN_TEST_WITH(what_the_log_resolves_is_a_graph_of_its_own, INVIVO_SCOPE_LAZY_SINGLETON);
    RUN_TEST_WITH(what_the_log_resolves_is_a_graph_of_its_own, INVIVO_SCOPE_WEAK_SINGLETON);
    RUN_TEST_WITH(what_the_log_resolves_is_a_graph_of_its_own, INVIVO_SCOPE_THREAD);
    RUN_TEST(a_start_that_requests_a_pool_entry_in_creation_is_a_cycle);
    return check_end();
}
