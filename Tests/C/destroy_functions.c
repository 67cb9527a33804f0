/* Destroy functions of the host: they may read the runtime, whatever has dropped their user data. docs/rules/reload.md. */
/* sanitize: yes */
#include "parts.h"

static int destroyed;

/* Reads the description of the generation in each way. */
static void read_all(void *user_data) {
    invivo_value value;
    uint64_t generation;
    (void)user_data;
    destroyed++;
    OK(invivo_runtime_status(runtime, &value, E));
    invivo_value_clear(&value);
    static const uint32_t formats[] = {INVIVO_GRAPH_FACTS, INVIVO_GRAPH_JSON, INVIVO_GRAPH_DOT};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        OK(invivo_graph_describe(runtime, formats[i], &value, E));
        invivo_value_clear(&value);
    }
    CHECK(invivo_graph_describe(runtime, INVIVO_GRAPH_SCHEMA, &value, NULL) == INVIVO_E_WOULD_WAIT); /* it plans */
    OK(invivo_runtime_generation(runtime, &generation, E));
}

static invivo_status declare(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                             invivo_error **error) {
    (void)fields, (void)values, (void)count, (void)layers, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_status create(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    (void)section, (void)user_data, (void)error;
    *out = NULL;
    return INVIVO_OK;
}
static invivo_status accept(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)values, (void)count, (void)at, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_status visit(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error) {
    (void)described, (void)changes, (void)user_data, (void)error;
    return INVIVO_OK;
}

static const char *const targets[] = {"*"};
static const char *const inputs[] = {"a.b"};

static void add_trait(void) {
    invivo_trait trait = {.struct_size = sizeof trait, .name = "x.T", .targets = targets, .target_count = 1, .layers = declare,
                          .destroy = read_all};
    OK(invivo_trait_add(runtime, &trait, E));
}
static void bind_settings(void) {
    invivo_settings settings = {.struct_size = sizeof settings, .name = "A", .path = "a", .create = create, .destroy = read_all};
    OK(invivo_settings_bind(runtime, &settings, E));
}
static void add_rule(void) {
    invivo_rule rule = {.struct_size = sizeof rule, .name = "R", .inputs = inputs, .input_count = 1, .check = accept,
                        .destroy = read_all};
    OK(invivo_rule_add(runtime, &rule, E));
}
static void add_processor(void) {
    invivo_processor processor = {.struct_size = sizeof processor, .name = "p", .process = visit, .destroy = read_all};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &processor, E));
    OK(invivo_changes_commit(changes, E));
}
static void define(void) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.x", .type_name = "Part",
                                    .scope = INVIVO_SCOPE_LAZY_SINGLETON, .destroy = read_all};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static void remove_processor(void) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_unprocess(changes, "p", E));
    OK(invivo_changes_commit(changes, E));
}
static void remove_trait(void) { OK(invivo_trait_remove(runtime, "x.T", E)); }
static void unbind_settings(void) { OK(invivo_settings_unbind(runtime, "A", E)); }
static void remove_rule(void) { OK(invivo_rule_remove(runtime, "R", E)); }
static void remove_definition(void) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.x", E));
    OK(invivo_changes_commit(changes, E));
}

/* Nothing keeps former generations: what a commit replaces or removes ends with it. */
static void destroy_functions_read_the_runtime(void) {
    static void (*const pairs[][2])(void) = {{add_trait, remove_trait},         {bind_settings, unbind_settings},
                                             {add_rule, remove_rule},           {add_processor, remove_processor},
                                             {define, remove_definition}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        invivo_runtime_options options;
        invivo_runtime_options_init(&options);
        options.history = INVIVO_HISTORY_NONE;
        options.log_level = INVIVO_LOG_SILENT;
        OK(invivo_runtime_open(&runtime, &options, E));
        invivo_type_options part = part_options("Part");
        register_type(part);
        destroyed = 0;
        pairs[i][0]();
        pairs[i][0]();
        CHECK_EQUAL(destroyed, 1);
        pairs[i][1]();
        CHECK_EQUAL(destroyed, 2);
        OK(invivo_runtime_close(runtime, NULL));
        runtime = (invivo_runtime){0};
    }
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(destroy_functions_read_the_runtime);
    return check_end();
}
