/* The JSON Schema of spec files (INVIVO_GRAPH_SCHEMA). bindings/python/tests/test_schema.py compares it with checks. */
/* sanitize: yes */
#include "check.h"

typedef struct audio {
    double rate;
    int64_t voices;
} audio;
typedef struct lamp {
    double gain;
} lamp;
static const invivo_property fields[] = {INVIVO_FIELD(audio, rate, .initial = 48000, .unit = "Hz", .min = 8000, .max = 192000),
                                         INVIVO_FLAGGED_FIELD(audio, INVIVO_PROPERTY_REQUIRED, voices, .min = 1, .max = 64)};
static const invivo_property lamp_properties[] = {INVIVO_FIELD(lamp, gain, .initial = 1, .max = 8, .text = "The gain.")};
static invivo_runtime runtime;

static void begin(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options type = {.struct_size = sizeof type, .name = "Lamp", .size = sizeof(lamp), .properties = lamp_properties,
                                .property_count = 1};
    OK(invivo_type_register(runtime, &type, NULL, E));
    invivo_definition desk = {.struct_size = sizeof desk, .key = "room.desk", .type_name = "Lamp", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &desk, NULL, E));
}

static void document(const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    invivo_settings settings = {.struct_size = sizeof settings, .name = "Audio", .path = "audio", .fields = fields, .field_count = 2,
                                .size = sizeof(audio)};
    OK(invivo_changes_bind_settings(changes, &settings, E));
    OK(invivo_changes_commit(changes, E));
}

static void contains(const char *part, bool is_there) {
    invivo_value value;
    if (!OK(invivo_graph_describe(runtime, INVIVO_GRAPH_SCHEMA, &value, E))) return;
    if ((strstr(value.as.string.data, part) != NULL) != is_there)
        check_failed(__FILE__, __LINE__, "'%s' is %sin\n%s", part, is_there ? "not " : "", value.as.string.data);
    invivo_value_clear(&value);
}

static void a_schema_has_keys_properties_and_sections(void) {
    begin();
    document("config: { audio: { voices: 4 } }");
    contains("\"room.desk\": {\n          \"description\": \"Lamp\"", true);
    contains("\"description\": \"The gain. A number, 0 to 8.\",\n          \"default\": 1,", true);
    contains("\"minimum\": 8000,\n          \"maximum\": 192000", true);
    contains("\"required\": [\"voices\"]", true);
    /* Another layer gives the required field. */
    invivo_changes changes;
    invivo_value two = invivo_int64(2);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "audio.voices", &two, E));
    OK(invivo_changes_commit(changes, E));
    contains("\"required\": [\"voices\"]", false);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status create(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    (void)section, (void)user_data, (void)error;
    *out = &runtime;
    return INVIVO_OK;
}

static void bind(const char *schema) {
    OK(invivo_settings_bind(runtime, &(invivo_settings){.struct_size = sizeof(invivo_settings), .name = "Own", .path = "own", .create = create, .schema = schema}, E));
}

static void a_host_describes_a_section_that_it_reads(void) {
    begin();
    bind(NULL);
    contains("\"own\"", false);
    bind("{ \"$ref\": \"#/$defs/Own\", \"$defs\": { \"Own\": { \"type\": \"object\", \"properties\": { \"size\": { \"type\": \"integer\" } },"
         " \"additionalProperties\": false } } }");
    contains("\"^own\\\\.size$\": { \"$ref\": \"#/$defs/settings.Own.Own/properties/size\" }", true);
    contains("\"settings.Own.Own\": {\n      \"type\": \"object\"", true);
    bind("no schema");
    invivo_value value;
    expects_error(invivo_graph_describe(runtime, INVIVO_GRAPH_SCHEMA, &value, E), INVIVO_E_ARGUMENT, NULL);
    invivo_settings both = {.struct_size = sizeof both, .name = "Audio", .path = "audio", .fields = fields, .field_count = 2,
                            .size = sizeof(audio), .schema = "{}"};
    expects_error(invivo_settings_bind(runtime, &both, E), INVIVO_E_ARGUMENT, "Audio: settings.schema is for values of create; fields describe themselves");
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status in_callback = INVIVO_OK;
static void describe(void *user_data, const invivo_report *report) {
    invivo_value value;
    (void)user_data, (void)report;
    in_callback = invivo_graph_describe(runtime, INVIVO_GRAPH_SCHEMA, &value, NULL);
}

static void a_callback_cannot_wait_for_it(void) {
    begin();
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = describe};
    OK(invivo_observe(runtime, &options, NULL, E));
    document("config: { audio: { voices: 4 } }");
    CHECK_EQUAL(in_callback, INVIVO_E_WOULD_WAIT);
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_begin();
    RUN_TEST(a_schema_has_keys_properties_and_sections);
    RUN_TEST(a_host_describes_a_section_that_it_reads);
    RUN_TEST(a_callback_cannot_wait_for_it);
    return check_end();
}
