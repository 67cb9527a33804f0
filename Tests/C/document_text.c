/* Documents as text: traits and whole documents, with references as they were written. docs/rules/codecs.md. */
/* sanitize: yes */
#include "check.h"

typedef struct voice { double gain; int64_t steps; char wave[24]; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1), INVIVO_FIELD(voice, steps, .initial = 5),
                                                   INVIVO_FIELD(voice, wave, .initial_text = "sine")};
static invivo_runtime runtime;
static invivo_type type;
static invivo_object object;

static voice *own(void) {
    void *instance;
    OK(invivo_object_instance(object, type, &instance, E));
    return instance;
}
static void begin(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options described = {.struct_size = sizeof described, .name = "Voice", .size = sizeof(voice),
                                     .properties = voice_properties, .property_count = 3};
    OK(invivo_type_register(runtime, &described, &type, E));
    invivo_definition lead = {.struct_size = sizeof lead, .key = "synth.lead", .type_name = "Voice",
                              .scope = INVIVO_SCOPE_SINGLETON};
    invivo_key key;
    OK(invivo_define(runtime, &lead, &key, E));
    lead.key = "synth.other";
    OK(invivo_define(runtime, &lead, NULL, E));
    OK(invivo_resolve(runtime, key, &object, E));
}
static void end(void) {
    invivo_object_release(object);
    OK(invivo_runtime_close(runtime, E));
}
static invivo_status says(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_document(changes, name, text, text ? strlen(text) : 0, error);
    return status ? status : invivo_changes_commit(changes, error);
}
static void document_is(const char *name, uint32_t format, const char *wanted) {
    invivo_value text;
    OK(invivo_document_text(runtime, name, format, &text, E));
    CHECK_TEXT(text.kind == INVIVO_KIND_STRING ? text.as.string.data : "", wanted);
    invivo_value_clear(&text);
}
static void traits_are(const char *key, const char *document, uint32_t format, const char *wanted) {
    invivo_value text;
    OK(invivo_traits_text(runtime, key, document, format, &text, E));
    CHECK_TEXT(text.kind == INVIVO_KIND_STRING ? text.as.string.data : "", wanted);
    invivo_value_clear(&text);
}

static void a_document_is_written_and_read_back(void) {
    begin();
    OK(says("a.yaml", "# A comment.\ntraits: { synth.lead: [ Set: { gain: 0x10, wave: 'a: b' } ] }\nconfig: { synth: { rates: [1, 2.5, ~] } }\n", E));
    static const char yaml[] = "traits:\n  synth.lead:\n    -\n      Set:\n        gain: 16\n        wave: \"a: b\"\n"
                               "config:\n  synth:\n    rates:\n      - 1\n      - 2.5\n      - null\n";
    document_is("a.yaml", INVIVO_FORMAT_YAML, yaml);
    document_is("a.yaml", INVIVO_FORMAT_JSON,
                "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":16,\"wave\":\"a: b\"}}]},\"config\":{\"synth\":{\"rates\":[1,2.5,null]}}}");
    OK(says("a.yaml", yaml, E));
    document_is("a.yaml", INVIVO_FORMAT_YAML, yaml);
    CHECK_EQUAL(own()->gain, 16);
    end();
}

static void variables_are_written_by_their_names(void) {
    begin();
    setenv("INVIVO_TEST_GAIN", "0.25", 1);
    setenv("INVIVO_TEST_WAVE", "secret", 1);
    OK(invivo_runtime_refresh_environment(runtime, E));
    OK(says("a.yaml", "traits:\n synth.lead:\n - type: Set\n   gain: ${INVIVO_TEST_GAIN}\n   steps: '${INVIVO_TEST_STEPS:-7}'\n"
                      "   wave: \"$${x} ${INVIVO_TEST_WAVE}\"\n"
                      "config:\n synth:\n  a: !!int ${INVIVO_TEST_STEPS:-7}\n  b: ${INVIVO_TEST_GAIN}\n  c: \"${INVIVO_TEST_GAIN}\"\n"
                      "  d: a ${INVIVO_TEST_GAIN}\n\n   b", E));
    CHECK_EQUAL(own()->gain, 0.25);
    CHECK_TEXT(own()->wave, "${x} secret");
    static const char yaml[] = "traits:\n  synth.lead:\n    -\n      type: Set\n      gain: ${INVIVO_TEST_GAIN}\n"
                               "      steps: \"${INVIVO_TEST_STEPS:-7}\"\n      wave: \"$${x} ${INVIVO_TEST_WAVE}\"\n"
                               "config:\n  synth:\n    a: !!int \"${INVIVO_TEST_STEPS:-7}\"\n    b: ${INVIVO_TEST_GAIN}\n"
                               "    c: \"${INVIVO_TEST_GAIN}\"\n    d: a ${INVIVO_TEST_GAIN}\n\n      b\n";
    document_is("a.yaml", INVIVO_FORMAT_YAML, yaml);
    OK(says("a.yaml", NULL, E));
    CHECK_EQUAL(own()->gain, 1);
    OK(says("a.yaml", yaml, E));
    document_is("a.yaml", INVIVO_FORMAT_YAML, yaml);
    CHECK_EQUAL(own()->gain, 0.25);
    CHECK_EQUAL(own()->steps, 7);
    const struct { const char *path; invivo_kind kind; } kinds[] = {
        {"synth.a", INVIVO_KIND_INT64}, {"synth.b", INVIVO_KIND_DOUBLE}, {"synth.c", INVIVO_KIND_STRING}};
    for (int index = 0; index < 3; index++) {
        invivo_value value;
        OK(invivo_config_read(runtime, kinds[index].path, &value, E));
        CHECK_EQUAL(value.kind, kinds[index].kind);
        invivo_value_clear(&value);
    }
    invivo_value text;
    expects_error(invivo_document_text(runtime, "a.yaml", INVIVO_FORMAT_JSON, &text, E), INVIVO_E_UNSUPPORTED,
                  "a.yaml:5:13: traits.synth.lead[0].gain: JSON cannot say '${INVIVO_TEST_GAIN}' without quotes: its value may be "
                  "a number; write YAML, or put the value in quotes");
    CHECK_EQUAL(text.kind, INVIVO_KIND_NULL);
    /* A document in JSON has strings alone. */
    OK(says("a.yaml", NULL, E));
    OK(says("b.json", "{\"traits\": {\"synth.lead\": [{\"Set\": {\"gain\": \"${INVIVO_TEST_GAIN}\"}}]}}", E));
    document_is("b.json", INVIVO_FORMAT_JSON, "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":\"${INVIVO_TEST_GAIN}\"}}]}}");
    document_is("b.json", INVIVO_FORMAT_YAML, "traits:\n  synth.lead:\n    -\n      Set:\n        gain: \"${INVIVO_TEST_GAIN}\"\n");
    unsetenv("INVIVO_TEST_GAIN");
    unsetenv("INVIVO_TEST_WAVE");
    end();
}

static void files_are_written_by_their_paths(void) {
    write_text("wave.txt", "saw\n");
    write_text("other.yaml", "traits: { synth.lead: [ Set: { steps: 2 } ] }\n");
    write_text("main.yaml", "include: other.yaml\ntraits: { synth.lead: [ Set: { wave: 'file:wave.txt' } ] }\nconfig: { a: { b: 'file::x' } }\n");
    begin();
    invivo_source_options options = {.struct_size = sizeof options, .path = "main.yaml"};
    invivo_source source;
    OK(invivo_source_open(runtime, &options, &source, E));
    CHECK_TEXT(own()->wave, "saw");
    document_is("main.yaml", INVIVO_FORMAT_YAML,
                "include: other.yaml\ntraits:\n  synth.lead:\n    -\n      Set:\n        wave: \"file:wave.txt\"\nconfig:\n  a:\n    b: \"file::x\"\n");
    traits_are("synth.lead", NULL, INVIVO_FORMAT_JSON,
               "{\"traits\":{\"synth.lead\":[{\"Set\":{\"steps\":2}},{\"Set\":{\"wave\":\"file:wave.txt\"}}]}}");
    OK(invivo_source_close(source, E));
    end();
}

static void traits_are_chosen_by_key_and_document(void) {
    begin();
    OK(says("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ], synth.other: [ Offset: { gain: 1 } ] }", E));
    OK(says("b.yaml", "{\"specs\": {\"synth.lead\": [{\"type\": \"Scale\", \"gain\": 0.5}]}}", E));
    CHECK_EQUAL(own()->gain, 1);
    traits_are("synth.lead", NULL, INVIVO_FORMAT_JSON,
               "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":2}},{\"type\":\"Scale\",\"gain\":0.5}]}}");
    traits_are("synth.lead", "b.yaml", INVIVO_FORMAT_JSON, "{\"traits\":{\"synth.lead\":[{\"type\":\"Scale\",\"gain\":0.5}]}}");
    traits_are(NULL, "a.yaml", INVIVO_FORMAT_JSON,
               "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":2}}],\"synth.other\":[{\"Offset\":{\"gain\":1}}]}}");
    traits_are("synth.none", NULL, INVIVO_FORMAT_YAML, "traits:\n  synth.none: []\n");
    document_is("b.yaml", INVIVO_FORMAT_JSON, "{\"specs\":{\"synth.lead\":[{\"type\":\"Scale\",\"gain\":0.5}]}}");
    /* The text of the traits of all documents stands for them. */
    invivo_value text;
    OK(invivo_traits_text(runtime, NULL, NULL, INVIVO_FORMAT_YAML, &text, E));
    OK(says("a.yaml", NULL, E));
    OK(says("b.yaml", NULL, E));
    OK(says("c.yaml", text.as.string.data, E));
    invivo_value_clear(&text);
    CHECK_EQUAL(own()->gain, 1);
    traits_are("synth.lead", "c.yaml", INVIVO_FORMAT_JSON,
               "{\"traits\":{\"synth.lead\":[{\"Set\":{\"gain\":2}},{\"type\":\"Scale\",\"gain\":0.5}]}}");
    expects_error(invivo_traits_text(runtime, NULL, "d.yaml", INVIVO_FORMAT_YAML, &text, E), INVIVO_E_NOT_FOUND,
                  "d.yaml: there is no live document 'd.yaml'; did you mean 'c.yaml'?");
    expects_error(invivo_document_text(runtime, "a.yaml", INVIVO_FORMAT_YAML, &text, E), INVIVO_E_NOT_FOUND,
                  "a.yaml: there is no live document 'a.yaml'; did you mean 'c.yaml'?");
    expects_error(invivo_document_text(runtime, "c.yaml", 2, &text, E), INVIVO_E_ARGUMENT,
                  "the format 2 is unknown; expected a constant INVIVO_FORMAT_...");
    end();
}

static void the_form_of_the_traits_library_is_read(void) {
    begin();
    OK(says("a.json", "{\"specs\": {\"synth.lead\": [{\"type\": \"Set\", \"gain\": 3}, {\"type\": \"Scale\", \"gain\": 2}]}}", E));
    CHECK_EQUAL(own()->gain, 6);
    expects_error(says("a.json", "{\"specks\": {\"synth.lead\": []}}", E), INVIVO_E_SPEC,
                  "a.json:1:2: unknown key 'specks'; expected 'traits', 'config', 'wiring' or 'include'");
    expects_error(says("a.json", "{\"specs\": [], \"config\": {}}", E), INVIVO_E_SPEC,
                  "a.json:1:11: specs: expected a map of targets and their lists of traits, found a list");
    expects_error(says("a.json", "{\"specs\": {}, \"traits\": {}}", E), INVIVO_E_SPEC,
                  "a.json:1:15: 'traits' and 'specs' are the same key: give one of them");
    expects_error(says("a.json", "{\"specs\": {\"synth.lead\": [{\"type\": \"Sett\", \"gain\": 3}]}}", E), INVIVO_E_SPEC,
                  "a.json:1:36: specs.synth.lead[0]: unknown trait 'Sett'; did you mean 'Set'?");
    expects_error(says("a.json", "{\"specs\": {\"synth.lead\": [{\"gain\": 3, \"steps\": 1}]}}", E), INVIVO_E_SPEC,
                  "a.json:1:39: specs.synth.lead[0]: expected one trait such as 'Set: { gain: 0.5 }', found the keys 'gain', 'steps'; begin "
                  "each trait with '- ', or give its name by 'type:'");
    CHECK_EQUAL(own()->gain, 6);
    end();
}

static void try_text(void *user_data, const invivo_report *report) {
    (void)report;
    invivo_value text;
    *(invivo_status *)user_data = invivo_traits_text(runtime, NULL, NULL, INVIVO_FORMAT_YAML, &text, NULL);
}

static void an_observer_may_not_wait_for_it(void) {
    begin();
    invivo_status found = INVIVO_OK;
    const invivo_observer_options options = {.struct_size = sizeof options, .reloaded = try_text, .user_data = &found};
    invivo_observer observer;
    OK(invivo_observe(runtime, &options, &observer, E));
    OK(says("a.yaml", "traits: { synth.lead: [ Set: { gain: 2 } ] }", E));
    CHECK_EQUAL(found, INVIVO_E_WOULD_WAIT);
    OK(invivo_observer_close(observer, E));
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_document_is_written_and_read_back);
    RUN_TEST(variables_are_written_by_their_names);
    RUN_TEST(files_are_written_by_their_paths);
    RUN_TEST(traits_are_chosen_by_key_and_document);
    RUN_TEST(the_form_of_the_traits_library_is_read);
    RUN_TEST(an_observer_may_not_wait_for_it);
    return check_end();
}
