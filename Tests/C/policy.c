/* Sources that keep going when traits have errors. docs/rules/spec-files.md, Errors. */
/* sanitize: yes */
#include "check.h"

typedef struct voice { double gain, cutoff, start; } voice;
static invivo_status get_gain(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((voice *)instance)->gain);
    return INVIVO_OK;
}
static invivo_status set_gain(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    if (value->as.number == 13) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "not thirteen", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((voice *)instance)->gain = value->as.number;
    return INVIVO_OK;
}
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "gain", .kind = INVIVO_KIND_DOUBLE, .get = get_gain, .set = set_gain},
    INVIVO_FIELD(voice, cutoff, .initial = 100, .max = 1000),
    INVIVO_FLAGGED_FIELD(voice, INVIVO_PROPERTY_RESTART, start, .initial = 1)};
static const char *const voices_only[] = {"Voice"};

static invivo_runtime runtime;
static invivo_type type;
static invivo_object object;
static voice *self;
static listener *heard;

static void begin(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT, options.quiet_ms = options.settle_max_ms = 3600000;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options voice_options = {.struct_size = sizeof voice_options, .name = "Voice", .size = sizeof(voice),
                                         .properties = properties, .property_count = 3};
    OK(invivo_type_register(runtime, &voice_options, &type, E));
    invivo_definition lead = {.struct_size = sizeof lead, .key = "synth.lead", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &lead, NULL, E));
    OK(invivo_resolve_name(runtime, "synth.lead", &object, E));
    void *instance = NULL;
    OK(invivo_object_instance(object, type, &instance, E));
    self = instance;
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
}
static void end(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
    listener_end(heard), free(heard);
    unlink("t.yaml"), unlink("u.yaml"), unlink("base.yaml");
}
static invivo_status open_source(const char *name, const char *text, uint32_t flags, invivo_source *out, invivo_error **error) {
    return invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .name = name, .text = text,
                                                                .length = strlen(text), .flags = flags}, out, error);
}

static uint32_t kind, line;
static void note(void *user_data, const invivo_report *report) {
    (void)user_data;
    if (!invivo_report_warning_count(report)) return;
    kind = invivo_report_warning_kind(report, 0), line = invivo_report_warning_line(report, 0);
}
static void a_skipped_trait_is_a_warning_with_its_line(void) {
    invivo_source source;
    begin();
    const char *text = "traits:\n  synth.lead:\n    - Set: { gain: 2 }\n    - Set: { cutoff: 5000 }\n    - Scale: { start: 2 }\n    - Set: { start: 4 }\n";
    expects_error(open_source("t.yaml", text, 0, &source, E), INVIVO_E_RANGE, NULL);
    OK(open_source("t.yaml", text, INVIVO_SOURCE_KEEP_GOING, &source, E));
    CHECK_EQUAL(self->gain, 2);
    CHECK_EQUAL(self->cutoff, 100);
    CHECK_TEXT(listener_last(heard)->warnings, "t.yaml:4:22: traits.synth.lead[1].Set.cutoff: 5000 is outside 0...1000; skipped\n");
    OK(invivo_runtime_reports(runtime, note, NULL, E));
    CHECK_EQUAL(kind, INVIVO_WARNING_SKIPPED);
    CHECK_EQUAL(line, 4);
    /* A factor without a value that it could change. */
    text = "traits:\n  synth.lead:\n    - Set: { gain: 3 }\n    - Scale: { start: 2 }\n";
    OK(invivo_source_update(source, text, strlen(text), E));
    CHECK(strstr(listener_last(heard)->warnings, "t.yaml:4:23: synth.lead.start: 'start' takes effect when the object is next created"));
    CHECK_EQUAL(self->gain, 3);
    OK(invivo_source_close(source, E));
    CHECK_EQUAL(self->gain, 0);
    expects_error(open_source("t.yaml", text, 4, &source, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

static invivo_status apply(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                           invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)fields, (void)values, (void)count, (void)user_data, (void)error, (void)reversal;
    ((voice *)instance)->cutoff = 7;
    return INVIVO_OK;
}
static void an_added_trait_type_makes_a_trait_valid(void) {
    invivo_source source;
    begin();
    OK(open_source("t.yaml", "traits: { synth.lead: [Set: { gain: 2 }, t.Code: {}] }", INVIVO_SOURCE_KEEP_GOING, &source, E));
    CHECK_EQUAL(self->gain, 2);
    CHECK(strstr(listener_last(heard)->warnings, "unknown trait 't.Code'"));
    invivo_trait code = {.struct_size = sizeof code, .name = "t.Code", .targets = voices_only, .target_count = 1, .apply = apply};
    OK(invivo_trait_add(runtime, &code, E));
    CHECK_EQUAL(self->cutoff, 7);
    CHECK_TEXT(listener_last(heard)->warnings, "");
    end();
}

static void an_error_of_applying_refuses_the_document(void) {
    invivo_source source;
    begin();
    expects_error(open_source("t.yaml", "traits: { synth.lead: [Set: { cutoff: 2 }, Set: { gain: 13 }] }", INVIVO_SOURCE_KEEP_GOING, &source, E),
                  INVIVO_E_HOST, NULL);
    expects_error(open_source("t.yaml", "traits: { synth.lead: [Scale: { cutoff: 20 }] }", INVIVO_SOURCE_KEEP_GOING, &source, E),
                  INVIVO_E_RANGE, NULL);
    CHECK_EQUAL(self->cutoff, 100);
    end();
}

/* The plan knows the values of a block. */
static void a_result_over_a_block_is_skipped(void) {
    typedef struct small { double level, other; } small;
    static const invivo_property small_properties[] = {INVIVO_FIELD(small, level, .max = 100), INVIVO_FIELD(small, other)};
    const small initial = {60, 1};
    const char *text = "traits:\n  s.one:\n    - Set: { other: 2 }\n    - Scale: { level: 2 }\n";
    invivo_source source;
    invivo_key one;
    begin();
    OK(invivo_define_block(runtime, "s.one", INVIVO_BLOCK_FROM(small, small_properties, &initial), &one, E));
    expects_error(open_source("t.yaml", text, 0, &source, E), INVIVO_E_RANGE, "t.yaml:4:23: s.one.level: 120 is outside 0...100");
    OK(open_source("t.yaml", text, INVIVO_SOURCE_KEEP_GOING, &source, E));
    CHECK_TEXT(listener_last(heard)->warnings, "t.yaml:4:23: s.one.level: 120 is outside 0...100; skipped\n");
    invivo_view view = invivo_view_begin(runtime);
    const small *block = invivo_view_block(view, one);
    CHECK(block->level == 60 && block->other == 2);
    invivo_view_end(view);
    end();
}

static void a_file_of_two_sources_has_the_policy_of_the_lower_one(void) {
    invivo_source lower, upper;
    invivo_source_options options = {.struct_size = sizeof options, .path = "t.yaml", .flags = INVIVO_SOURCE_KEEP_GOING};
    begin();
    write_text("base.yaml", "traits: { synth.lead: [Set: { gian: 5 }, Set: { cutoff: 50 }] }");
    write_text("t.yaml", "include: base.yaml");
    write_text("u.yaml", "include: base.yaml\ntraits: { synth.lead: [Set: { gain: 5 }] }");
    OK(invivo_source_open(runtime, &options, &lower, E));
    CHECK_EQUAL(self->cutoff, 50);
    options.path = "u.yaml", options.flags = 0;
    OK(invivo_source_open(runtime, &options, &upper, E));
    CHECK_EQUAL(self->gain, 5);
    /* Then the file belongs to the other source alone, which does not keep going. */
    expects_error(invivo_source_close(lower, E), INVIVO_E_PROPERTY, NULL);
    OK(invivo_source_close(upper, E));
    OK(invivo_source_close(lower, E));
    CHECK_EQUAL(self->cutoff, 100);
    end();
}

/* A manifest gives each of its spec files a policy. */
static invivo_status load_voice(void *user_data, invivo_runtime loading, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Voice", .size = sizeof(voice), .properties = properties, .property_count = 3};
    return invivo_type_register(loading, &options, NULL, error);
}
static void a_manifest_states_the_policy(void) {
    static const char *const head = "modules: { voice: voice.py }\ncomponents: { synth.lead: { type: Voice } }\n";
    invivo_runtime_options silent;
    invivo_runtime_options_init(&silent);
    silent.log_level = INVIVO_LOG_SILENT;
    invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load_voice, .runtime = &silent};
    char text[512];
    write_text("voice.py", "");
    write_text("t.yaml", "traits: { synth.lead: [{ Set: { gian: 1 } }] }\n");
    static const struct { const char *specs, *wrong; } given[] = {
        {"[{ file: t.yaml, keep_going: true }]", NULL},
        {"[{ file: t.yaml }]", "t.yaml:1:33: traits.synth.lead[0].Set.gian"},
        {"[t.yaml]", "t.yaml:1:33: traits.synth.lead[0].Set.gian"},
        {"[{ file: t.yaml, keep_going: yes }]", "app.yaml:3:37: specs[0].keep_going: expected true or false"},
        {"[{ keep_going: true }]", "app.yaml:3:9: specs[0]: the key 'file' is missing"},
        {"[{ file: t.yaml, keepgoing: true }]", "app.yaml:3:25: specs[0]: unknown key 'keepgoing'; did you mean 'keep_going'?"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        snprintf(text, sizeof text, "%sspecs: %s\n", head, given[i].specs);
        write_text("app.yaml", text);
        invivo_error *error = NULL;
        invivo_status status = invivo_app_check(&options, 0, NULL, &error);
        CHECK_EQUAL(status == INVIVO_OK, given[i].wrong == NULL);
        if (given[i].wrong && !strstr(invivo_error_text(error), given[i].wrong)) CHECK_TEXT(invivo_error_text(error), given[i].wrong);
        invivo_error_release(error);
    }
    unlink("app.yaml"), unlink("voice.py"), unlink("t.yaml");
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_skipped_trait_is_a_warning_with_its_line);
    RUN_TEST(an_added_trait_type_makes_a_trait_valid);
    RUN_TEST(an_error_of_applying_refuses_the_document);
    RUN_TEST(a_result_over_a_block_is_skipped);
    RUN_TEST(a_file_of_two_sources_has_the_policy_of_the_lower_one);
    RUN_TEST(a_manifest_states_the_policy);
    return check_end();
}
