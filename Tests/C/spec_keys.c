/* The key in documents whose traits apply to an object: of a definition (`spec_key`), and of an attached target. docs/rules/traits.md, Keys. */
/* sanitize: yes */
#include "check.h"

typedef struct voice { double gain; char name; } voice;
typedef struct tone { double level; } tone;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 100)};
static const invivo_property tone_properties[] = {INVIVO_BLOCK_FIELD(tone, level, .initial = 4, .min = 0, .max = 100)};
static const char *const voices_only[] = {"Voice"};

static invivo_runtime runtime;
static invivo_type voice_type, tone_type;
/* The names of the objects that the trait `t.Code` is applied to (a+) and reversed for (a-), with the gain that it finds. */
static char events[256];

static void note(const voice *of, char what) {
    size_t length = strlen(events);
    snprintf(events + length, sizeof events - length, "%c%c%g ", of->name, what, of->gain);
}
static invivo_status reverse(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target, (void)data, (void)error;
    note(instance, '-');
    return INVIVO_OK;
}
static invivo_status apply(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                           invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)fields, (void)values, (void)count, (void)user_data, (void)error;
    note(instance, '+');
    reversal->revert = reverse;
    return INVIVO_OK;
}

static void begin(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options voice_options = {.struct_size = sizeof voice_options, .name = "Voice", .size = sizeof(voice),
                                         .properties = voice_properties, .property_count = 1};
    OK(invivo_type_register(runtime, &voice_options, &voice_type, E));
    invivo_type_options tone_options = {.struct_size = sizeof tone_options, .name = "Tone", .block_size = sizeof(tone),
                                        .concurrency = INVIVO_SHARED, .properties = tone_properties, .property_count = 1};
    OK(invivo_type_register(runtime, &tone_options, &tone_type, E));
    invivo_trait code = {.struct_size = sizeof code, .name = "t.Code", .targets = voices_only, .target_count = 1, .apply = apply};
    OK(invivo_trait_add(runtime, &code, E));
    OK(invivo_target_declare(runtime, "first", voice_type, E));
    OK(invivo_target_declare(runtime, "second", voice_type, E));
    events[0] = 0;
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }
static invivo_status say(const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "t.yaml", text, strlen(text), E));
    return invivo_changes_commit(changes, error);
}
static voice *instance_of(invivo_object object) {
    void *instance = NULL;
    OK(invivo_object_instance(object, voice_type, &instance, E));
    return instance;
}
static voice *make(invivo_object *object, char name) {
    OK(invivo_object_make(runtime, voice_type, NULL, 0, object, E));
    instance_of(*object)->name = name;
    return instance_of(*object);
}
static const char *since(void) {
    static char text[sizeof events];
    memcpy(text, events, sizeof text);
    events[0] = 0;
    return text;
}

/* ---- targets ------------------------------------------------------------------------------------------- */

static void another_key_reverses_the_former_traits_first(void) {
    begin();
    invivo_object object;
    voice *self = make(&object, 'a');
    OK(say("traits: { first: [Set: { gain: 2 }, t.Code: {}], second: [Set: { gain: 3 }, t.Code: {}] }", E));
    OK(invivo_target_attach(object, "first", NULL, E));
    CHECK_TEXT(since(), "a+2 ");
    OK(invivo_target_attach(object, "second", NULL, E));
    CHECK_TEXT(since(), "a-2 a+3 ");
    CHECK_EQUAL(self->gain, 3);
    /* An attachment that fails changes nothing. */
    OK(say("traits: { first: [Set: { gain: 60 }, Scale: { gain: 1 }], second: [Set: { gain: 3 }, t.Code: {}] }", E));
    CHECK_TEXT(since(), "");
    expects_error(invivo_target_attach((invivo_object){0}, "first", NULL, E), INVIVO_E_HANDLE, NULL);
    CHECK_TEXT(since(), "");
    OK(invivo_target_attach(object, "first", NULL, E));
    CHECK_TEXT(since(), "a-3 ");
    CHECK_EQUAL(self->gain, 60);
    OK(invivo_object_release(object));
    end();
}

static void an_equal_list_is_not_touched(void) {
    begin();
    invivo_object object;
    invivo_target target;
    voice *self = make(&object, 'a');
    OK(say("traits: { first: [Set: { gain: 2 }, t.Code: {}], second: [Set: { gain: 2 }, t.Code: {}] }", E));
    OK(invivo_target_attach(object, "first", NULL, E));
    CHECK_TEXT(since(), "a+2 ");
    /* The same key again, and another key with an equal list. */
    OK(invivo_target_attach(object, "first", NULL, E));
    OK(invivo_target_attach(object, "second", &target, E));
    CHECK_TEXT(since(), "");
    /* The list of another key changes. */
    OK(say("traits: { first: [Set: { gain: 5 }], second: [Set: { gain: 2 }, t.Code: {}] }", E));
    CHECK_TEXT(since(), "");
    OK(invivo_target_detach(target, E));
    CHECK_TEXT(since(), "a-2 ");
    CHECK_EQUAL(self->gain, 1);
    OK(invivo_object_release(object));
    end();
}

static void targets_keep_their_order_of_attachment(void) {
    begin();
    invivo_object objects[3];
    invivo_target targets[3];
    for (int i = 0; i < 3; i++) make(&objects[i], (char)('a' + i));
    for (int i = 2; i >= 0; i--) OK(invivo_target_attach(objects[i], "first", &targets[i], E));
    OK(say("traits: { first: [t.Code: {}] }", E));
    CHECK_TEXT(since(), "c+1 b+1 a+1 ");
    /* One that is attached again is the last one. */
    OK(invivo_target_attach(objects[1], "second", &targets[1], E));
    OK(invivo_target_attach(objects[1], "first", &targets[1], E));
    CHECK_TEXT(since(), "b-1 b+1 ");
    OK(say("traits: { first: [Set: { gain: 2 }, t.Code: {}] }", E));
    CHECK_TEXT(since(), "c-1 c+2 a-1 a+2 b-1 b+2 ");
    for (int i = 0; i < 3; i++) OK(invivo_object_release(objects[i]));
    end();
}

/* ---- definitions --------------------------------------------------------------------------------------- */

#define DEFINE(given, named, ...)                                                                                              \
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given, .spec_key = named, \
                                                   .type_name = "Voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON, __VA_ARGS__},   \
                     NULL, E))

static void an_object_without_traits_is_attached_elsewhere(void) {
    begin();
    invivo_object free_one, named, other;
    invivo_target target;
    DEFINE("a.free", INVIVO_SPEC_KEY_NONE, .rank = 0);
    DEFINE("a.named", "voices", .rank = 0);
    OK(invivo_resolve_name(runtime, "a.free", &free_one, E));
    OK(invivo_resolve_name(runtime, "a.named", &named, E));
    instance_of(free_one)->name = 'f', instance_of(named)->name = 'n';
    OK(say("traits: { first: [Set: { gain: 2 }, t.Code: {}], voices: [Set: { gain: 3 }] }", E));
    OK(invivo_target_attach(free_one, "first", &target, E));
    CHECK_EQUAL(instance_of(free_one)->gain, 2);
    CHECK_TEXT(since(), "f+2 ");
    /* Documents tune the other one already. */
    expects_error(invivo_target_attach(named, "first", NULL, E), INVIVO_E_EXISTS,
                  "first: the object is the shared instance of 'a.named' and cannot be attached to 'first' too: documents tune it as 'voices'");
    expects_error(invivo_target_attach(named, "voices", NULL, E), INVIVO_E_EXISTS, NULL);
    expects_error(invivo_target_attach(named, "a.named", NULL, E), INVIVO_E_EXISTS, NULL);
    CHECK_EQUAL(instance_of(named)->gain, 3);
    /* Another object may be attached to the key of the definition, and to the key that it names. */
    make(&other, 'o');
    OK(invivo_target_attach(other, "voices", NULL, E));
    CHECK_EQUAL(instance_of(other)->gain, 3);
    OK(invivo_target_attach(other, "a.named", NULL, E));
    CHECK_EQUAL(instance_of(other)->gain, 1);
    OK(say("traits: { first: [Set: { gain: 2 }, t.Code: {}], voices: [Set: { gain: 3 }], a.named: [Set: { gain: 7 }] }", E));
    CHECK_EQUAL(instance_of(other)->gain, 7);
    CHECK_EQUAL(instance_of(named)->gain, 3);
    OK(say("traits: { first: [Set: { gain: 2 }, t.Code: {}], voices: [Set: { gain: 3 }] }", E));
    CHECK_EQUAL(instance_of(other)->gain, 1);
    CHECK_TEXT(since(), "");
    /* By its own key, too. */
    OK(invivo_target_detach(target, E));
    CHECK_TEXT(since(), "f-2 ");
    OK(invivo_target_attach(free_one, "a.free", &target, E));
    OK(say("traits: { a.free: [Set: { gain: 8 }], voices: [Set: { gain: 3 }] }", E));
    CHECK_EQUAL(instance_of(free_one)->gain, 8);
    OK(invivo_object_release(free_one));
    OK(invivo_object_release(named));
    OK(invivo_object_release(other));
    end();
}

static void a_block_has_the_values_of_the_named_key(void) {
    begin();
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.tone", .spec_key = "tones",
                                                   .type = tone_type, .scope = INVIVO_SCOPE_SINGLETON}, NULL, E));
    invivo_key key;
    OK(invivo_key_find(runtime, "a.tone", &key, E));
    OK(say("traits: { tones: [Set: { level: 9 }] }", E));
    invivo_view view = invivo_view_begin(runtime);
    const tone *block = invivo_view_block(view, key);
    if (CHECK(block)) CHECK_EQUAL(block->level, 9);
    invivo_view_end(view);
    OK(say("{}", E));
    view = invivo_view_begin(runtime);
    block = invivo_view_block(view, key);
    if (CHECK(block)) CHECK_EQUAL(block->level, 4);
    invivo_view_end(view);
    end();
}

static void a_report_names_each_object_once(void) {
    begin();
    listener heard;
    listener_open(&heard, runtime);
    DEFINE("a.one", "voices", .rank = 0);
    DEFINE("a.two", "voices", .rank = 0);
    invivo_object one, two;
    OK(invivo_resolve_name(runtime, "a.one", &one, E));
    OK(invivo_resolve_name(runtime, "a.two", &two, E));
    OK(say("traits: { voices: [Set: { gain: 3 }] }", E));
    CHECK_TEXT(listener_last(&heard)->changes, "a.one.gain tuned; a.two.gain tuned");
    /* One error for both, at its line. */
    expects_error(say("traits: { voices: [Set: { gain: 300 }] }", E), INVIVO_E_RANGE,
                  "t.yaml:1:33: traits.voices[0].Set.gain: 300 is outside 0...100");
    OK(invivo_object_release(one));
    OK(invivo_object_release(two));
    end();
    listener_end(&heard);
}

static void the_graph_shows_the_named_key(void) {
    begin();
    DEFINE("a.one", "voices", .rank = 0);
    DEFINE("a.two", INVIVO_SPEC_KEY_NONE, .rank = 0);
    DEFINE("a.own", NULL, .rank = 0);
    invivo_value drawing;
    if (OK(invivo_graph_describe(runtime, INVIVO_GRAPH_JSON, &drawing, E))) {
        CHECK(strstr(drawing.as.string.data, "\"spec_key\": \"voices\""));
        CHECK(strstr(drawing.as.string.data, "\"spec_key\": \"none\""));
        const char *own = strstr(drawing.as.string.data, "\"key\": \"a.own\"");
        if (CHECK(own)) CHECK(strstr(own, "spec_key") == NULL || strstr(own, "spec_key") > strstr(own, "\"key\": \"a.two\""));
        invivo_value_clear(&drawing);
    }
    end();
}

static invivo_status load(void *user_data, invivo_runtime loading, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Voice", .size = sizeof(voice),
                                   .properties = voice_properties, .property_count = 1};
    return invivo_type_register(loading, &options, NULL, error);
}
static void a_component_of_a_manifest_names_a_key(void) {
    invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    write_text("voices.py", "");
    write_text("t.yaml", "traits: { voices: [Set: { gain: 3 }] }");
    write_text("app.yaml", "modules: { voices: voices.py }\nspecs: [t.yaml]\ncomponents:\n"
                           "  a.one: { type: Voice, spec_key: voices }\n"
                           "  a.two: { type: Voice, spec_key: none }\n");
    OK(invivo_app_check(&options, 0, NULL, E));
    write_text("t.yaml", "traits: { voices: [Set: { gain: 3 }], a.two: [Set: { gain: 3 }] }");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_SPEC,
                  "t.yaml:1:39: traits.a.two: the definition 'a.two' has no traits (spec_key), and no target is attached to its own key");
    write_text("t.yaml", "traits: { voices: [Set: { gain: 3 }] }");
    /* Another error does not hide that the key is there. */
    write_text("app.yaml", "modules: { voices: voices.py }\nspecs: [t.yaml]\ncomponents:\n"
                           "  a.one: { type: Voice, spec_key: voices, properties: { gian: 1 } }\n");
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_app_check(&options, 0, NULL, &error), INVIVO_E_PROPERTY);
    CHECK_EQUAL(invivo_error_count(error), 1);
    invivo_error_release(error);
    write_text("app.yaml", "components:\n  a.one: { alias: a.two, spec_key: [] }\n");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_SPEC,
                  "app.yaml:2:36: components.a.one.spec_key: expected a key, or 'none', found a list");
    unlink("app.yaml"), unlink("t.yaml"), unlink("voices.py");
}

static void a_wrong_key_is_refused(void) {
    begin();
    const invivo_definition empty = {.struct_size = sizeof empty, .key = "a.one", .spec_key = "", .type_name = "Voice"};
    expects_error(invivo_define(runtime, &empty, NULL, E), INVIVO_E_ARGUMENT,
                  "a.one: definition.spec_key is empty; NULL stands for the key itself, INVIVO_SPEC_KEY_NONE for no traits");
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(another_key_reverses_the_former_traits_first);
    RUN_TEST(an_equal_list_is_not_touched);
    RUN_TEST(targets_keep_their_order_of_attachment);
    RUN_TEST(an_object_without_traits_is_attached_elsewhere);
    RUN_TEST(a_block_has_the_values_of_the_named_key);
    RUN_TEST(a_report_names_each_object_once);
    RUN_TEST(the_graph_shows_the_named_key);
    RUN_TEST(a_component_of_a_manifest_names_a_key);
    RUN_TEST(a_wrong_key_is_refused);
    return check_end();
}
