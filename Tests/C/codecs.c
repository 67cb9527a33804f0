/* Codecs: the text forms of values of properties. docs/rules/codecs.md. */
/* sanitize: yes */
#include "check.h"

static invivo_runtime runtime;

typedef struct lamp {
    double gain, share, seconds, hertz, any_number;
    float level, part;
    int64_t milliseconds;
    uint32_t packed;
    int32_t mode;
    struct { int32_t width, height; } frame;
    struct { double x, y; } place;
    struct { uint8_t red, green, blue; } tint;
    struct { float r, g, b, a; } light;
    bool on;
    char name[24];
    uint8_t key[5];
} lamp;

#define PART(NAME, KIND, OFFSET, SIZE) \
    {.struct_size = sizeof(invivo_property), .name = NAME, .kind = INVIVO_KIND_##KIND, .offset = OFFSET, .size = SIZE}
#define NESTED(FIELD, FIELDS, CODEC)                                                                             \
    {.struct_size = sizeof(invivo_property), .name = #FIELD, .kind = INVIVO_KIND_MAP, .offset = offsetof(lamp, FIELD), \
     .size = sizeof(((lamp *)0)->FIELD), .fields = FIELDS, .field_count = sizeof FIELDS / sizeof *FIELDS, .codec = CODEC}
static const invivo_property frame_fields[] = {PART("width", INT32, 0, 4), PART("height", INT32, 4, 4)};
static const invivo_property place_fields[] = {PART("x", DOUBLE, 0, 8), PART("y", DOUBLE, 8, 8)};
static const invivo_property tint_fields[] = {PART("red", UINT8, 0, 1), PART("green", UINT8, 1, 1), PART("blue", UINT8, 2, 1)};
static const invivo_property light_fields[] = {PART("r", FLOAT, 0, 4), PART("g", FLOAT, 4, 4), PART("b", FLOAT, 8, 4),
                                               PART("a", FLOAT, 12, 4)};
static const invivo_choice modes[] = {{"off", 0}, {"dim", 3}, {"full", 9}, {"dark", 0}};
static const invivo_property lamp_properties[] = {
    INVIVO_FIELD(lamp, gain, .initial = 1, .min = 0, .max = 8, .codec = INVIVO_CODEC_DECIBEL),
    INVIVO_FIELD(lamp, share, .codec = INVIVO_CODEC_PERCENT),
    INVIVO_FIELD(lamp, seconds, .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(lamp, hertz, .unit = "Hz"),
    INVIVO_FIELD(lamp, any_number, .initial = 0),
    INVIVO_FIELD(lamp, level, .codec = INVIVO_CODEC_DECIBEL),
    INVIVO_FIELD(lamp, part, .codec = INVIVO_CODEC_PERCENT),
    INVIVO_FIELD(lamp, milliseconds, .unit = "ms", .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(lamp, packed, .codec = INVIVO_CODEC_COLOR),
    INVIVO_FIELD(lamp, mode, .choices = modes, .choice_count = 4),
    NESTED(frame, frame_fields, INVIVO_CODEC_SIZE),
    NESTED(place, place_fields, INVIVO_CODEC_POINT),
    NESTED(tint, tint_fields, INVIVO_CODEC_COLOR),
    NESTED(light, light_fields, INVIVO_CODEC_COLOR),
    INVIVO_FIELD(lamp, on, .initial = 0),
    INVIVO_FIELD(lamp, name, .initial_text = ""),
    INVIVO_FIELD(lamp, key, .initial = 0)};

static invivo_type type;
static invivo_object object;

static lamp *own(void) {
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
    invivo_type_options described = {.struct_size = sizeof described, .name = "Lamp", .size = sizeof(lamp),
                                     .properties = lamp_properties,
                                     .property_count = sizeof lamp_properties / sizeof *lamp_properties};
    OK(invivo_type_register(runtime, &described, &type, E));
    invivo_definition desk = {.struct_size = sizeof desk, .key = "room.desk", .type_name = "Lamp",
                              .scope = INVIVO_SCOPE_SINGLETON};
    invivo_key key;
    OK(invivo_define(runtime, &desk, &key, E));
    OK(invivo_resolve(runtime, key, &object, E));
}
static void end(void) {
    invivo_object_release(object);
    OK(invivo_runtime_close(runtime, E));
}
static invivo_status set_traits(const char *traits) {
    char text[2048];
    snprintf(text, sizeof text, "traits: { room.desk: %s }", traits);
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, E);
    if (!status) status = invivo_changes_document(changes, "a.yaml", text, strlen(text), E);
    return status ? status : invivo_changes_commit(changes, E);
}

static invivo_status read_text(const char *property, const char *text, invivo_value *out) {
    return invivo_property_read(type, property, text, strlen(text), out, &check_error);
}
/* The text that is written for the value of a text. */
static void rewrites(const char *property, const char *text, const char *written) {
    invivo_value value, again;
    OK(read_text(property, text, &value));
    OK(invivo_property_text(type, property, &value, &again, E));
    CHECK_TEXT(again.as.string.data, written);
    invivo_value_clear(&again);
    invivo_value_clear(&value);
}
static void refuses(const char *property, const char *text, invivo_status code, const char *message) {
    invivo_value value;
    expects_error(read_text(property, text, &value), code, message);
    CHECK_EQUAL(value.kind, INVIVO_KIND_NULL);
}

static void text_is_read_and_written(void) {
    begin();
    invivo_value value;
    OK(read_text("gain", "-6 dB", &value));
    CHECK(value.as.number > 0.5011 && value.as.number < 0.5012);
    OK(read_text("gain", "-inf dB", &value));
    CHECK_EQUAL(value.as.number, 0);
    OK(read_text("gain", "0 dB", &value));
    CHECK_EQUAL(value.as.number, 1);
    OK(read_text("share", "12.3 %", &value));
    CHECK_EQUAL(value.as.number, 0.123);
    OK(read_text("milliseconds", "1.001 s", &value));
    CHECK_EQUAL(value.kind, INVIVO_KIND_INT64);
    CHECK_EQUAL(value.as.signed_integer, 1001);
    OK(read_text("packed", "teal", &value));
    CHECK_EQUAL(value.as.unsigned_integer, 0x008080ff);
    OK(read_text("light", "#336699cc", &value));
    CHECK_EQUAL(value.kind, INVIVO_KIND_MAP);
    invivo_value_clear(&value);

    rewrites("gain", "-6 dB", "-6 dB");
    rewrites("gain", "-inf dB", "-inf dB");
    rewrites("gain", "2", "6.020599913279624 dB");
    rewrites("level", "-12.5dB", "-12.5 dB");
    rewrites("share", "0.5", "50 %");
    rewrites("share", "12.3%", "12.3 %");
    rewrites("part", "0.1 %", "0.1 %");
    rewrites("seconds", "5400", "1 h 30 min");
    rewrites("seconds", "250ms", "250 ms");
    rewrites("seconds", "1.5", "1.5 s");
    rewrites("seconds", "0", "0 s");
    rewrites("milliseconds", "1 d 1 s", "1 d 1 s");
    rewrites("milliseconds", "61250", "61250 ms");
    rewrites("hertz", "1.2 kHz", "1200 Hz");
    rewrites("any_number", "1e3", "1000.0");
    rewrites("packed", "0xff8800ff", "#ff8800");
    rewrites("packed", "#f80c", "#ff8800cc");
    rewrites("packed", "Red", "#ff0000");
    rewrites("tint", "#123456", "#123456");
    rewrites("light", "#12345678", "#12345678");
    rewrites("light", "{ r: 0.1, g: 0, b: 0, a: 1 }", "{\"r\":0.10000000149011612,\"g\":0.0,\"b\":0.0,\"a\":1.0}");
    rewrites("frame", "640x480", "640 x 480");
    rewrites("frame", "{ width: 3, height: 4 }", "3 x 4");
    rewrites("frame", "{ width: 3 }", "{\"width\":3}");
    rewrites("place", "-1.5,2e3", "-1.5, 2000");
    rewrites("mode", "dim", "dim");
    rewrites("mode", "9", "full");
    rewrites("mode", "dark", "off"); /* the first name of the number */
    rewrites("name", "a name of 23 characters", "a name of 23 characters");
    rewrites("on", "true", "true");
    rewrites("name", " a\tb ", " a\tb ");
    rewrites("key", "AQIDBAU=", "AQIDBAU=");
    rewrites("frame.width", "12", "12");
    end();
}

static void garbage_is_refused(void) {
    begin();
    refuses("gain", "-6 db", INVIVO_E_CONVERSION, "gain: expected a factor such as 0.5 or '-6 dB' at character 4 of '-6 db'");
    refuses("gain", "99999 dB", INVIVO_E_CONVERSION, "gain: expected a factor such as 0.5 or '-6 dB' at character 7 of '99999 dB'");
    refuses("gain", "20 dB", INVIVO_E_RANGE, "gain: 10 is outside 0...8");
    refuses("gain", "", INVIVO_E_CONVERSION, "gain: expected a factor such as 0.5 or '-6 dB' at character 1 of ''");
    refuses("share", "50 k%", INVIVO_E_CONVERSION, "share: expected a fraction such as 0.5 or '50 %' at character 4 of '50 k%'");
    refuses("seconds", "1 min 1 h", INVIVO_E_CONVERSION, "seconds: expected units that get smaller, each once at character 9 of '1 min 1 h'");
    refuses("seconds", "soon", INVIVO_E_CONVERSION, "seconds: expected a duration such as '250 ms' or '1 h 30 min' at character 1 of 'soon'");
    refuses("milliseconds", "1.5 ms", INVIVO_E_RANGE, "milliseconds: 1.5 is not a whole number");
    refuses("packed", "#12345", INVIVO_E_CONVERSION, "packed: expected a color such as '#f80' or '#ff8800cc' at character 7 of '#12345'");
    refuses("packed", "rde", INVIVO_E_CONVERSION,
            "packed: expected a color such as '#ff8800', '#ff8800cc' or 'red' at character 1 of 'rde'; did you mean 'red'?");
    refuses("tint", "#12345678", INVIVO_E_CONVERSION, "tint: '#12345678' has an alpha, and 'tint' has none: write '#rrggbb'");
    refuses("frame", "640", INVIVO_E_CONVERSION, "frame: expected a size such as '640 x 480' at character 4 of '640'");
    refuses("frame", "640 x 480 x 3", INVIVO_E_CONVERSION,
            "frame: expected nothing after a size such as '640 x 480' at character 11 of '640 x 480 x 3'");
    refuses("frame", "640 x 4.5", INVIVO_E_RANGE, "frame.height: 4.5 is not a whole number");
    refuses("frame", "640 by 480", INVIVO_E_CONVERSION, "frame: expected a size such as '640 x 480' at character 5 of '640 by 480'");
    refuses("place", "1 2", INVIVO_E_CONVERSION, "place: expected a point such as '10, 20' at character 3 of '1 2'");
    refuses("place", "1,", INVIVO_E_CONVERSION, "place: expected a point such as '10, 20' at character 3 of '1,'");
    refuses("mode", "dm", INVIVO_E_RANGE, "mode: 'dm' is not one of off, dim, full, dark; did you mean 'dim'?");
    refuses("on", "yes", INVIVO_E_CONVERSION, "on: expected 'true' or 'false' at character 1 of 'yes'");
    refuses("key", "AQI", INVIVO_E_CONVERSION, "key: 'AQI' is not base64, as in 'AQID': it ends with 0 '=' instead of 1");
    refuses("name", "a name of 24 characters.", INVIVO_E_RANGE, "name: the string has 24 bytes; at most 23 fit");
    refuses("nam", "x", INVIVO_E_PROPERTY, "nam: Lamp has no property 'nam'; did you mean 'name'?");
    refuses("frame.widht", "1", INVIVO_E_PROPERTY, "frame.widht: 'frame' has no field 'widht'; did you mean 'width'?");
    invivo_value value = invivo_string("x"), text;
    expects_error(invivo_property_text(type, "gain", &value, &text, E), INVIVO_E_TYPE, "gain: 'x' (a string) is not a number");
    CHECK_EQUAL(text.kind, INVIVO_KIND_NULL);
    end();
}

static uint64_t state;
static uint64_t next_random(void) {
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double random_number(void) {
    switch (next_random() % 4) {
        case 0: return (double)(int64_t)(next_random() % 2001) / 100;
        case 1: return (double)(next_random() % 1000);
        case 2: return (double)(next_random() >> 11) / 9007199254740992.0;
        default: {
            uint64_t bits = next_random();
            double number;
            memcpy(&number, &bits, sizeof number);
            return number;
        }
    }
}
static invivo_value map_of(const char *const *names, invivo_value *values, size_t count, invivo_pair *pairs) {
    for (size_t index = 0; index < count; index++) pairs[index] = (invivo_pair){names[index], strlen(names[index]), values[index]};
    return invivo_map(pairs, count);
}
static bool round_trips(const char *property, const invivo_value *value) {
    invivo_value text, again, rewritten;
    invivo_status status = invivo_property_text(type, property, value, &text, NULL);
    if (status) return CHECK(status == INVIVO_E_RANGE);
    if (!CHECK(!invivo_property_read(type, property, text.as.string.data, text.as.string.length, &again, NULL))) {
        fprintf(stderr, "%s: %s\n", property, text.as.string.data);
        invivo_value_clear(&text);
        return false;
    }
    OK(invivo_property_text(type, property, &again, &rewritten, E));
    bool same = !strcmp(text.as.string.data, rewritten.as.string.data);
    if (value->kind == INVIVO_KIND_DOUBLE && again.kind == INVIVO_KIND_DOUBLE)
        same = same && (memcmp(&again.as.number, &value->as.number, 8) == 0 || again.as.number != again.as.number);
    if (value->kind == INVIVO_KIND_INT64 && again.kind == INVIVO_KIND_INT64) same = same && again.as.signed_integer == value->as.signed_integer;
    if (value->kind == INVIVO_KIND_UINT32) same = same && again.as.unsigned_integer == value->as.unsigned_integer;
    if (!CHECK(same)) fprintf(stderr, "%s: %s, then %s\n", property, text.as.string.data, rewritten.as.string.data);
    invivo_value_clear(&text);
    invivo_value_clear(&again);
    invivo_value_clear(&rewritten);
    return same;
}

static void random_values_are_read_back(void) {
    begin();
    state = 7;
    static const char *const numbers[] = {"gain", "share", "seconds", "hertz", "any_number", "level", "part"};
    static const char *const sides[] = {"width", "height"}, *const axes[] = {"x", "y"}, *const rgb[] = {"red", "green", "blue"},
                             *const rgba[] = {"r", "g", "b", "a"};
    bool good = true;
    for (int round = 0; round < 3000 && good; round++) {
        for (size_t index = 0; index < sizeof numbers / sizeof *numbers && good; index++) {
            invivo_value value = invivo_double(random_number());
            good = round_trips(numbers[index], &value);
        }
        invivo_value parts[4];
        invivo_pair pairs[4];
        invivo_value whole = invivo_int64((int64_t)(round % 2 ? next_random() % 100000000 : next_random()));
        good = good && round_trips("milliseconds", &whole);
        invivo_value packed = {.kind = INVIVO_KIND_UINT32};
        packed.as.unsigned_integer = (uint32_t)next_random();
        good = good && round_trips("packed", &packed);
        for (int side = 0; side < 2; side++) parts[side] = invivo_int64((int32_t)next_random());
        invivo_value frame = map_of(sides, parts, 2, pairs);
        good = good && round_trips("frame", &frame);
        for (int axis = 0; axis < 2; axis++) parts[axis] = invivo_double(random_number());
        invivo_value place = map_of(axes, parts, 2, pairs);
        good = good && round_trips("place", &place);
        for (int part = 0; part < 3; part++) parts[part] = invivo_int64((int64_t)(next_random() % 256));
        invivo_value tint = map_of(rgb, parts, 3, pairs);
        good = good && round_trips("tint", &tint);
        for (int part = 0; part < 4; part++) parts[part] = invivo_double((double)(float)((double)(next_random() % 256) / 255));
        invivo_value light = map_of(rgba, parts, 4, pairs);
        good = good && round_trips("light", &light);
    }
    end();
}

static void spec_files_use_codecs(void) {
    begin();
    OK(set_traits("[ Set: { gain: -6 dB, share: 25 %, seconds: 1 h 30 min, milliseconds: 2 s, packed: '#ff8800', frame: 640 x 480,"
                  " place: '1, 2', tint: navy, light: '#ffffff00', mode: full } ]"));
    lamp *lamp = own();
    CHECK(lamp->gain > 0.5011 && lamp->gain < 0.5012);
    CHECK_EQUAL(lamp->share, 0.25);
    CHECK_EQUAL(lamp->seconds, 5400);
    CHECK_EQUAL(lamp->milliseconds, 2000);
    CHECK_EQUAL(lamp->packed, 0xff8800ffu);
    CHECK_EQUAL(lamp->frame.width, 640);
    CHECK_EQUAL(lamp->frame.height, 480);
    CHECK_EQUAL(lamp->place.y, 2);
    CHECK_EQUAL(lamp->tint.blue, 128);
    CHECK_EQUAL(lamp->light.r, 1);
    CHECK_EQUAL(lamp->light.a, 0);
    CHECK_EQUAL(lamp->mode, 9);
    OK(set_traits("[ Set: { gain: 0.5, share: 0.5, seconds: 3, packed: 255, frame: { width: 7 } }, Scale: { gain: 6 dB } ]"));
    OK(set_traits("[ Set: { gain: 1, seconds: 3, share: 50 % }, Scale: { gain: -20 dB }, Offset: { seconds: 250 ms, share: 10 % } ]"));
    CHECK(lamp->gain > 0.0999 && lamp->gain < 0.1001);
    CHECK_EQUAL(lamp->seconds, 3.25);
    CHECK_EQUAL(lamp->share, 0.6);
    expects_error(set_traits("[ Set: { packed: #ff8800\n } ]"), INVIVO_E_NULL,
                  "a.yaml:2:2: traits.room.desk[0].Set.packed: expected a color, found nothing; write it in quotes, as in "
                  "'#ff8800': '#' begins a comment");
    expects_error(set_traits("[ Set: { gain: loud } ]"), INVIVO_E_CONVERSION,
                  "a.yaml:1:37: traits.room.desk[0].Set.gain: expected a factor such as 0.5 or '-6 dB' at character 1 of 'loud'");
    expects_error(set_traits("[ Scale: { gain: loud } ]"), INVIVO_E_TYPE,
                  "a.yaml:1:39: traits.room.desk[0].Scale.gain: expected a factor, such as 0.5, '50 %' or '-6 dB', found the string 'loud'");
    expects_error(set_traits("[ Offset: { gain: 6 dB } ]"), INVIVO_E_TYPE,
                  "a.yaml:1:40: traits.room.desk[0].Offset.gain: expected a finite number, found the string '6 dB'");
    expects_error(set_traits("[ Set: { frame: { width: 1 x 2 } } ]"), INVIVO_E_TYPE,
                  "a.yaml:1:47: traits.room.desk[0].Set.frame.width: expected a number, got the string '1 x 2'");
    CHECK_EQUAL(lamp->seconds, 3.25);
    end();
}

static double layered;
static invivo_status glow_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                                 void *user_data, invivo_error **error) {
    (void)fields, (void)user_data;
    CHECK_EQUAL(count, 2);
    layered = values[0].as.number;
    return invivo_layers_set(layers, "packed", &values[1], error);
}

static void fields_of_traits_have_codecs(void) {
    begin();
    static const invivo_property fields[] = {
        {.struct_size = sizeof(invivo_property), .name = "after", .kind = INVIVO_KIND_DOUBLE, .codec = INVIVO_CODEC_DURATION},
        {.struct_size = sizeof(invivo_property), .name = "color", .kind = INVIVO_KIND_UINT32, .codec = INVIVO_CODEC_COLOR}};
    static const char *const targets[] = {"Lamp"};
    const invivo_trait glow = {.struct_size = sizeof glow, .name = "Glow", .targets = targets, .target_count = 1, .fields = fields,
                               .field_count = 2, .layers = glow_layers};
    OK(invivo_trait_add(runtime, &glow, E));
    OK(set_traits("[ Glow: { after: 1 min, color: lime } ]"));
    CHECK_EQUAL(layered, 60);
    CHECK_EQUAL(own()->packed, 0x00ff00ffu);
    expects_error(set_traits("[ Glow: { color: limr } ]"), INVIVO_E_CONVERSION,
                  "a.yaml:1:39: traits.room.desk[0].Glow.color: expected a color such as '#ff8800', '#ff8800cc' or 'red' at character 1 "
                  "of 'limr'; did you mean 'lime'?");
    end();
}

static void the_configuration_uses_codecs(void) {
    begin();
    invivo_injection steps[] = {
        {.name = "frame", .how = INVIVO_INJECT_CONFIG, .reference = "frame"},
        {.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = "gain"}};
    static const char text[] = "config: { room: { frame: 3 x 4, gain: -20 dB } }";
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "c.yaml", text, strlen(text), E));
    invivo_definition other = {.struct_size = sizeof other, .key = "room.other", .type_name = "Lamp",
                               .scope = INVIVO_SCOPE_SINGLETON, .properties = steps, .property_count = 2};
    invivo_key key;
    OK(invivo_changes_define(changes, &other, &key, E));
    OK(invivo_changes_commit(changes, E));
    invivo_object made;
    void *instance;
    OK(invivo_resolve(runtime, key, &made, E));
    OK(invivo_object_instance(made, type, &instance, E));
    CHECK_EQUAL(((lamp *)instance)->frame.height, 4);
    CHECK(((lamp *)instance)->gain > 0.0999 && ((lamp *)instance)->gain < 0.1001);
    invivo_object_release(made);
    end();
}

/* The initial value as spec files have it. */
static void an_initial_text_has_the_form_of_the_property(void) {
    begin();
    typedef struct { double cutoff, level, time; uint32_t tint; bool on; } dish;
    const invivo_property properties[] = {
        INVIVO_FIELD(dish, cutoff, .unit = "Hz", .initial_text = "1.2 kHz"),
        INVIVO_FIELD(dish, level, .codec = INVIVO_CODEC_PERCENT, .initial_text = "50 %"),
        INVIVO_FIELD(dish, time, .unit = "s", .codec = INVIVO_CODEC_DURATION, .initial_text = "250 ms"),
        INVIVO_FIELD(dish, tint, .codec = INVIVO_CODEC_COLOR, .initial_text = "#ff8800"),
        INVIVO_FIELD(dish, on, .initial_text = "true")};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Dish", .size = sizeof(dish), .properties = properties,
                                   .property_count = sizeof properties / sizeof *properties};
    invivo_type made;
    invivo_object object;
    void *instance = NULL;
    if (OK(invivo_type_register(runtime, &options, &made, E)) && OK(invivo_object_make(runtime, made, NULL, 0, &object, E))) {
        OK(invivo_object_instance(object, made, &instance, E));
        const dish *read = instance;
        CHECK_EQUAL(read->cutoff, 1200), CHECK_EQUAL(read->level, 0.5), CHECK_EQUAL(read->time, 0.25);
        CHECK_EQUAL(read->tint, 0xff8800ff), CHECK_EQUAL(read->on, 1);
        OK(invivo_object_release(object));
    }
    invivo_property wrong = properties[0];
    options.name = "Wrong", options.properties = &wrong, options.property_count = 1;
    wrong.initial_text = "1.2 kg";
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_type_register(runtime, &options, NULL, &error), INVIVO_E_ARGUMENT);
    CHECK(strstr(invivo_error_text(error), "Wrong.cutoff: the initial_text: ") != NULL);
    invivo_error_release(error);
    wrong = (invivo_property){.struct_size = sizeof wrong, .name = "frame", .kind = INVIVO_KIND_MAP, .size = 8, .fields = frame_fields,
                              .field_count = 2, .codec = INVIVO_CODEC_SIZE, .initial_text = "640 x 480"};
    CHECK_EQUAL(invivo_type_register(runtime, &options, NULL, &error), INVIVO_E_ARGUMENT);
    CHECK(strstr(invivo_error_text(error), "Wrong.frame: an initial_text is for a plain value, not for a map") != NULL);
    invivo_error_release(error);
    wrong = properties[0];
    wrong.initial_text = "1.2 kHz", wrong.min = 0, wrong.max = 1000;
    CHECK_EQUAL(invivo_type_register(runtime, &options, NULL, &error), INVIVO_E_ARGUMENT);
    CHECK(strstr(invivo_error_text(error), "1200 is outside 0...1000") != NULL);
    invivo_error_release(error);
    end();
}

static void wrong_descriptions_are_refused(void) {
    begin();
    static const invivo_property other_fields[] = {PART("width", INT32, 0, 4), PART("depth", INT32, 4, 4)};
    const struct { invivo_property property; const char *message; } wrong[] = {
        {{.kind = INVIVO_KIND_DOUBLE, .size = 8, .codec = 77}, "the codec 77 is unknown; expected a constant INVIVO_CODEC_..."},
        {{.kind = INVIVO_KIND_INT32, .size = 4, .codec = INVIVO_CODEC_DECIBEL}, "the codec decibel needs a float or double, not an int32"},
        {{.kind = INVIVO_KIND_DOUBLE, .size = 8, .unit = "%", .codec = INVIVO_CODEC_PERCENT},
         "the codec percent needs a property without the unit '%': its values are factors"},
        {{.kind = INVIVO_KIND_DOUBLE, .size = 8, .unit = "Hz", .codec = INVIVO_CODEC_DURATION},
         "the codec duration needs a unit of time: ns, us, ms, s, min, h or d, not 'Hz'"},
        {{.kind = INVIVO_KIND_UINT8, .size = 1, .codec = INVIVO_CODEC_COLOR}, "the codec color needs a uint32, int64, uint64 or map, not a uint8"},
        {{.kind = INVIVO_KIND_MAP, .size = 8, .fields = other_fields, .field_count = 2, .codec = INVIVO_CODEC_SIZE},
         "the codec size needs the fields width, height and no others"},
        {{.kind = INVIVO_KIND_MAP, .size = 8, .fields = frame_fields, .field_count = 1, .codec = INVIVO_CODEC_SIZE},
         "the codec size needs the fields width, height"},
        {{.kind = INVIVO_KIND_MAP, .size = 8, .fields = frame_fields, .field_count = 2, .codec = INVIVO_CODEC_COLOR},
         "the codec color needs the fields red, green, blue, perhaps alpha and no others"},
    };
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        invivo_property property = wrong[index].property;
        char message[256];
        property.struct_size = sizeof property, property.name = "it";
        invivo_type_options other = {.struct_size = sizeof other, .name = "Other", .size = 8, .properties = &property, .property_count = 1};
        snprintf(message, sizeof message, "Other.it: %s", wrong[index].message);
        expects_error(invivo_type_register(runtime, &other, NULL, E), INVIVO_E_ARGUMENT, message);
    }
    invivo_property seen = {.struct_size = sizeof seen};
    OK(invivo_type_property_at(type, 2, &seen));
    CHECK_EQUAL(seen.codec, INVIVO_CODEC_DURATION);
    CHECK_TEXT(seen.unit, "s");
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(text_is_read_and_written);
    RUN_TEST(garbage_is_refused);
    RUN_TEST(random_values_are_read_back);
    RUN_TEST(spec_files_use_codecs);
    RUN_TEST(fields_of_traits_have_codecs);
    RUN_TEST(the_configuration_uses_codecs);
    RUN_TEST(an_initial_text_has_the_form_of_the_property);
    RUN_TEST(wrong_descriptions_are_refused);
    return check_end();
}
