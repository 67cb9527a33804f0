/* Values that a host checks while a change is planned (invivo_property.verify), and maps that a codec describes. */
/* sanitize: yes */
#include "check.h"

#include <semaphore.h>

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

/* A color in three parts. */
static int64_t color[3];
static const char *const parts[] = {"red", "green", "blue"};
static invivo_status get_color(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_pair pairs[3];
    for (int i = 0; i < 3; i++) pairs[i] = (invivo_pair){parts[i], strlen(parts[i]), invivo_int64(color[i])};
    invivo_value map = {.kind = INVIVO_KIND_MAP, .as.map = {pairs, 3}};
    return invivo_value_copy(out, &map, error);
}
static invivo_status set_color(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    for (size_t i = 0; i < value->as.map.count; i++)
        for (int part = 0; part < 3; part++)
            if (!strcmp(value->as.map.pairs[i].name, parts[part])) color[part] = value->as.map.pairs[i].value.as.signed_integer;
    return INVIVO_OK;
}
/* A struct with a secret field; the host quotes it. */
static const invivo_property login_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "pin", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PROPERTY_SECRET, .size = 8}};
static invivo_status get_login(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_pair pairs[] = {{"pin", 3, invivo_int64(1)}};
    invivo_value map = {.kind = INVIVO_KIND_MAP, .as.map = {pairs, 1}};
    return invivo_value_copy(out, &map, error);
}
static invivo_status set_login(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data;
    char message[64];
    snprintf(message, sizeof message, "the pin %lld is wrong", (long long)value->as.map.pairs[0].value.as.signed_integer);
    *error = invivo_error_make(INVIVO_E_HOST, message, NULL, NULL);
    return INVIVO_E_HOST;
}

static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "gain", .kind = INVIVO_KIND_DOUBLE, .get = get_gain, .set = set_gain,
     .user_data = &verified, .verify = verify_even},
    {.struct_size = sizeof(invivo_property), .name = "secret", .kind = INVIVO_KIND_DOUBLE, .flags = INVIVO_PROPERTY_SECRET,
     .get = get_gain, .set = set_gain, .user_data = &verified, .verify = verify_even},
    {.struct_size = sizeof(invivo_property), .name = "size", .kind = INVIVO_KIND_MAP, .get = get_size, .set = set_size,
     .codec = INVIVO_CODEC_SIZE},
    {.struct_size = sizeof(invivo_property), .name = "color", .kind = INVIVO_KIND_MAP, .get = get_color, .set = set_color,
     .codec = INVIVO_CODEC_COLOR},
    {.struct_size = sizeof(invivo_property), .name = "login", .kind = INVIVO_KIND_MAP, .fields = login_fields, .field_count = 1,
     .get = get_login, .set = set_login},
};

static void begin(void) {
    invivo_runtime_options options = without_history();
    invivo_type_options described = {.struct_size = sizeof described, .name = "Voice", .size = sizeof(voice),
                                     .properties = properties,
                                     .property_count = sizeof properties / sizeof *properties};
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
                  "a.yaml:1:36: v.voice.secret: <secret> is a value outside of the range; expected a value that the verify function of 'secret' accepts");
    OK(invivo_object_release(object));
    end();
}

static invivo_status apply_nothing(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                   invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)instance, (void)fields, (void)values, (void)count, (void)reversal, (void)user_data, (void)error;
    return INVIVO_OK;
}
static void each_value_that_an_object_gets_is_checked(void) {
    begin();
    static const char *targets[] = {"Voice"};
    const invivo_trait code = {.struct_size = sizeof code, .name = "v.Code", .targets = targets, .target_count = 1, .apply = apply_nothing};
    OK(invivo_trait_add(runtime, &code, E));
    /* The code above it sees the lower value. */
    expects_error(say("a.yaml", "traits: { v.voice: [v.Code: {}, Set: { gain: 3 }, v.Code: {}, Set: { gain: 4 }] }", E), INVIVO_E_RANGE,
                  "a.yaml:1:46: v.voice.gain: expected an even number");
    /* A value over one of an object is not known before. */
    verified = 0;
    OK(say("a.yaml", "traits: { v.voice: [Offset: { gain: 1 }] }", E));
    CHECK_EQUAL(verified, 0);
    end();
}

/* Objects are not checked: the function has no runtime to look at them. */
static invivo_object peer;
static invivo_status verify_peer(void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)value, (void)error;
    verified++;
    return INVIVO_OK;
}
static invivo_status get_peer(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_value value = peer.bits ? invivo_object_value(peer) : invivo_null();
    return invivo_value_copy(out, &value, error);
}
static invivo_status set_peer(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    peer = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}
static invivo_status connect(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                             invivo_error **error) {
    (void)fields, (void)values, (void)count;
    invivo_value value = invivo_object_value(*(invivo_object *)user_data);
    return invivo_layers_set(layers, "peer", &value, error);
}
static void an_object_is_not_checked(void) {
    begin();
    static const invivo_property own[] = {{.struct_size = sizeof(invivo_property), .name = "peer", .kind = INVIVO_KIND_ANY, .get = get_peer,
                                           .set = set_peer, .verify = verify_peer}};
    invivo_type type;
    invivo_type_options described = {.struct_size = sizeof described, .name = "Phone", .size = 8, .properties = own, .property_count = 1};
    OK(invivo_type_register(runtime, &described, &type, E));
    invivo_definition definition = {.struct_size = sizeof definition, .key = "v.phone", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_object phone = {0}, voice = {0};
    OK(invivo_resolve_name(runtime, "v.phone", &phone, E));
    OK(invivo_resolve_name(runtime, "v.voice", &voice, E));
    static const char *targets[] = {"Phone"};
    const invivo_trait trait = {.struct_size = sizeof trait, .name = "v.Connect", .targets = targets, .target_count = 1, .layers = connect,
                                .user_data = &voice};
    OK(invivo_trait_add(runtime, &trait, E));
    OK(say("a.yaml", "traits: { v.phone: [v.Connect: {}] }", E));
    CHECK(peer.bits == voice.bits && verified == 0);
    OK(say("a.yaml", "traits: { v.phone: [Set: { peer: 5 }] }", E));
    CHECK_EQUAL(verified, 1);
    OK(say("a.yaml", "{}", E));
    OK(invivo_object_release(phone));
    OK(invivo_object_release(voice));
    end();
}

static void an_error_about_a_struct_shows_no_secret_field(void) {
    begin();
    invivo_key key;
    invivo_object object;
    OK(invivo_key_find(runtime, "v.voice", &key, E));
    OK(invivo_resolve(runtime, key, &object, E));
    invivo_error *error = NULL;
    CHECK_EQUAL(say("a.yaml", "traits: { v.voice: [Set: { login: { pin: 4711 } }] }", &error), INVIVO_E_HOST);
    CHECK(strstr(invivo_error_text(error), "v.voice.login") && !strstr(invivo_error_text(error), "4711"));
    invivo_error_release(error);
    OK(invivo_object_release(object));
    end();
}

/* A function that does not return: the error says so, also of a property whose values are not shown. */
static sem_t let_go;
static invivo_status verify_never(void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)value, (void)error;
    while (sem_wait(&let_go)) continue;
    return INVIVO_OK;
}
static void a_function_that_does_not_return_is_named(void) {
    invivo_runtime_options options = without_history();
    options.rule_timeout_ms = 50;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_property slow = properties[1];
    slow.verify = verify_never;
    invivo_type_options described = {.struct_size = sizeof described, .name = "Slow", .size = sizeof(voice), .properties = &slow, .property_count = 1};
    invivo_type type;
    OK(invivo_type_register(runtime, &described, &type, E));
    invivo_definition definition = {.struct_size = sizeof definition, .key = "v.slow", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &definition, NULL, E));
    sem_init(&let_go, 0, 0);
    expects_error(say("a.yaml", "traits: { v.slow: [Set: { secret: 7 }] }", E), INVIVO_E_TIMEOUT,
                  "a.yaml:1:35: v.slow.secret: the verify function of 'secret' has not answered after 50.0 ms, the rule timeout of the runtime: it must return at once, "
                  "without waiting");
    sem_post(&let_go);
    end();
}

static void a_map_has_the_parts_of_its_codec(void) {
    begin();
    OK(say("a.yaml", "traits: { v.voice: [Set: { size: { width: 3, height: 4 } }] }", E));
    OK(say("a.yaml", "traits: { v.voice: [Set: { size: 640 x 480 }] }", E));
    OK(say("a.yaml", "traits: { v.voice: [Set: { color: { red: 1, green: 2, blue: 3 } }] }", E)); /* it is opaque */
    expects_error(say("a.yaml", "traits: { v.voice: [Set: { color: { red: 1, green: 2 } }] }", E), INVIVO_E_PROPERTY,
                  "a.yaml:1:28: traits.v.voice[0].Set.color: a color needs red, green, blue; blue is missing");
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
    RUN_TEST(each_value_that_an_object_gets_is_checked);
    RUN_TEST(an_object_is_not_checked);
    RUN_TEST(an_error_about_a_struct_shows_no_secret_field);
    RUN_TEST(a_function_that_does_not_return_is_named);
    RUN_TEST(a_map_has_the_parts_of_its_codec);
    RUN_TEST(a_verify_function_needs_a_setter);
    return check_end();
}
