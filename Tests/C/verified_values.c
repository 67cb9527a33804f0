/* Values that a host checks while a change is planned (invivo_property.verify), and maps that a codec describes. */
/* sanitize: yes */
#include "check.h"

typedef struct { double gain; int64_t width, height; } voice;

static invivo_runtime runtime;
static int verified, set_count;

static invivo_status say(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(changes, error);
}

static invivo_status get_gain(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((voice *)instance)->gain);
    return INVIVO_OK;
}
static invivo_status set_gain(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    set_count++;
    ((voice *)instance)->gain = value->as.number;
    return INVIVO_OK;
}
static invivo_status verify_even(void *user_data, const invivo_value *value, invivo_error **error) {
    CHECK(user_data == &verified);
    verified++;
    invivo_key key;
    CHECK_EQUAL(invivo_key_find(runtime, "v.voice", &key, NULL), INVIVO_E_IN_CALLBACK); /* it must not call its runtime */
    if ((int64_t)value->as.number % 2 == 0) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_RANGE, "expected an even number", NULL, NULL);
    return INVIVO_E_RANGE;
}
static invivo_status get_size(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    const voice *self = instance;
    invivo_pair pairs[] = {{"width", 5, invivo_int64(self->width)}, {"height", 6, invivo_int64(self->height)}};
    invivo_value map = {.kind = INVIVO_KIND_MAP, .as.map = {pairs, 2}};
    return invivo_value_copy(out, &map, error);
}
static invivo_status set_size(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    voice *self = instance;
    for (size_t i = 0; i < value->as.map.count; i++) {
        const invivo_pair *pair = &value->as.map.pairs[i];
        *(pair->name[0] == 'w' ? &self->width : &self->height) = pair->value.as.signed_integer;
    }
    return INVIVO_OK;
}

static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "gain", .kind = INVIVO_KIND_DOUBLE, .get = get_gain, .set = set_gain,
     .user_data = &verified, .verify = verify_even},
    {.struct_size = sizeof(invivo_property), .name = "secret", .kind = INVIVO_KIND_DOUBLE, .flags = INVIVO_PROPERTY_SECRET,
     .get = get_gain, .set = set_gain, .user_data = &verified, .verify = verify_even},
    {.struct_size = sizeof(invivo_property), .name = "size", .kind = INVIVO_KIND_MAP, .get = get_size, .set = set_size,
     .codec = INVIVO_CODEC_SIZE},
};

static void begin(void) {
    invivo_runtime_options options = without_history();
    invivo_type_options described = {.struct_size = sizeof described, .name = "Voice", .size = sizeof(voice),
                                     .properties = properties, .property_count = 3};
    invivo_type type;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &described, &type, E));
    static const struct { const char *key; uint32_t scope; } keys[] = {
        {"v.voice", INVIVO_SCOPE_LAZY_SINGLETON}, {"v.each", INVIVO_SCOPE_PROTOTYPE}};
    for (int i = 0; i < 2; i++) {
        invivo_definition definition = {.struct_size = sizeof definition, .key = keys[i].key, .scope = keys[i].scope, .type = type};
        OK(invivo_define(runtime, &definition, NULL, E));
    }
    verified = set_count = 0;
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

static void a_value_is_refused_before_an_object_exists(void) {
    begin();
    static const char *const keys[] = {"v.voice", "v.each"};
    for (int i = 0; i < 2; i++) {
        char text[128], expected[128];
        snprintf(text, sizeof text, "traits: { %s: [Set: { gain: 3 }] }", keys[i]);
        snprintf(expected, sizeof expected, "a.yaml:1:%d: %s.gain: expected an even number", i == 0 ? 34 : 33, keys[i]);
        expects_error(say("a.yaml", text, E), INVIVO_E_RANGE, expected);
    }
    CHECK_EQUAL(verified, 2);
    CHECK_EQUAL(set_count, 0);
    OK(say("a.yaml", "traits: { v.voice: [Set: { gain: 3 }, Set: { gain: 4 }] }", E)); /* the topmost value alone shows */
    invivo_key key;
    invivo_object object;
    void *instance = NULL;
    OK(invivo_key_find(runtime, "v.voice", &key, E));
    OK(invivo_resolve(runtime, key, &object, E));
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    CHECK_EQUAL(((voice *)instance)->gain, 4);
    expects_error(say("a.yaml", "traits: { v.voice: [Set: { gain: 5 }] }", E), INVIVO_E_RANGE, NULL);
    CHECK_EQUAL(((voice *)instance)->gain, 4);
    expects_error(say("a.yaml", "traits: { v.voice: [Set: { secret: 7 }] }", E), INVIVO_E_RANGE,
                  "a.yaml:1:36: v.voice.secret: <secret> is a value outside of the range; expected a number");
    OK(invivo_object_release(object));
    end();
}

static void a_map_has_the_parts_of_its_codec(void) {
    begin();
    OK(say("a.yaml", "traits: { v.voice: [Set: { size: { width: 3, height: 4 } }] }", E));
    OK(say("a.yaml", "traits: { v.voice: [Set: { size: 640 x 480 }] }", E));
    expects_error(say("a.yaml", "traits: { v.voice: [Set: { size: { width: 3, heigth: 4 } }] }", E), INVIVO_E_PROPERTY,
                  "a.yaml:1:46: traits.v.voice[0].Set.size.heigth: a size has no part 'heigth'; did you mean 'height'?");
    expects_error(say("a.yaml", "traits: { v.voice: [Set: { size: { width: 3 } }] }", E), INVIVO_E_PROPERTY,
                  "a.yaml:1:28: traits.v.voice[0].Set.size: a size needs width, height; height is missing");
    end();
}

static void a_verify_function_needs_a_setter(void) {
    begin();
    invivo_property wrong[] = {properties[0], properties[0], {.struct_size = sizeof(invivo_property), .name = "field", .kind = INVIVO_KIND_DOUBLE, .verify = verify_even}};
    wrong[1].name = "other", wrong[1].set = NULL;
    invivo_type_options described = {.struct_size = sizeof described, .name = "Wrong", .size = sizeof(voice), .properties = wrong, .property_count = 3};
    invivo_type type;
    expects_error(invivo_type_register(runtime, &described, &type, E), INVIVO_E_ARGUMENT,
                  "Wrong.other: there is a verify function without a set function\n"
                  "Wrong.field: there is a verify function without a get function");
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_value_is_refused_before_an_object_exists);
    RUN_TEST(a_map_has_the_parts_of_its_codec);
    RUN_TEST(a_verify_function_needs_a_setter);
    return check_end();
}
