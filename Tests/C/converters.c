/* Converters: predefined ones, those of the host, where they apply automatically, and where they do not. */
#include "check.h"

typedef struct colour { uint32_t bits; } colour;
typedef struct lamp { double wait, size; invivo_object colour; int32_t rgba; char name[24]; } lamp;

static int converted, destroyed;
static invivo_runtime runtime;
static invivo_type colour_type, lamp_type;

static invivo_status make_colour(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    invivo_object object;
    void *instance;
    invivo_status status;
    converted++;
    CHECK(user_data == &converted);
    if (length < 3) {
        if (error) *error = invivo_error_make(INVIVO_E_CONVERSION, "a colour has a name of three letters at least", NULL, NULL);
        return INVIVO_E_CONVERSION;
    }
    status = invivo_object_make(runtime, colour_type, NULL, 0, &object, error);
    if (status) return status;
    invivo_object_instance(object, colour_type, &instance, NULL);
    ((colour *)instance)->bits = (uint32_t)(unsigned char)text[0];
    /* The result has its own lease. */
    const invivo_value borrowed = invivo_object_value(object);
    status = invivo_value_copy(out, &borrowed, error);
    invivo_object_release(object);
    return status;
}
static void count_destroyed(void *user_data) { CHECK(user_data == &converted), destroyed++; }

static invivo_status lamp_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) ((lamp *)instance)->colour = arguments[0].as.object;
    return INVIVO_OK;
}
static const invivo_parameter lamp_parameters[] = {
    {.name = "colour", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL, .type_name = "Colour"}};
static const invivo_property lamp_properties[] = {
    INVIVO_FIELD(lamp, wait, .unit = "ms"), INVIVO_FIELD(lamp, size), INVIVO_FIELD(lamp, rgba), INVIVO_FIELD(lamp, name)};

static void open_runtime(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Colour", .concurrency = INVIVO_SHARED,
                                   .size = sizeof(colour), .alignment = 4};
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &colour_type, E));
    options.name = "Lamp", options.size = sizeof(lamp), options.alignment = 8, options.init = lamp_init;
    options.parameters = lamp_parameters, options.parameter_count = 1;
    options.properties = lamp_properties, options.property_count = 4;
    OK(invivo_type_register(runtime, &options, &lamp_type, E));
    converted = destroyed = 0;
}
static void close_runtime(void) { OK(invivo_runtime_close(runtime, E)); }
static invivo_status register_colour(invivo_error **error) {
    const invivo_converter_options options = {.struct_size = sizeof(options), .name = "Colour", .convert = make_colour,
                                              .user_data = &converted, .destroy = count_destroyed};
    return invivo_converter_register(runtime, &options, error);
}
static invivo_status says(const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    return invivo_changes_commit(changes, error);
}
static lamp *get(const char *key, invivo_object *object) {
    static lamp none;
    void *found = NULL;
    if (!OK(invivo_resolve_name(runtime, key, object, E))) return &none;
    OK(invivo_object_instance(*object, lamp_type, &found, E));
    return found ? found : &none;
}
static invivo_status define(const invivo_injection *initializer, const invivo_injection *property, invivo_error **error) {
    const invivo_definition definition = {.struct_size = sizeof(definition), .key = "room.lamp", .type = lamp_type,
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON, .initializer = initializer,
                                          .initializer_count = initializer != NULL, .properties = property,
                                          .property_count = property != NULL, .file = "host.c", .line = 9};
    return invivo_define(runtime, &definition, NULL, error);
}

/* Both in one change set. */
static invivo_status says_and_defines(const char *text, const invivo_injection *property, invivo_error **error) {
    const invivo_definition definition = {.struct_size = sizeof(definition), .key = "room.lamp", .type = lamp_type,
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = property, .property_count = 1};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_define(changes, &definition, NULL, E));
    return invivo_changes_commit(changes, error);
}

static void texts_are_read_exactly_or_refused_with_the_place_in_them(void) {
    static const struct { const char *converter, *text; invivo_kind kind; double number; const char *wrong; } cases[] = {
        {"number", "12", INVIVO_KIND_INT64, 12, NULL},
        {"number", "-0.5", INVIVO_KIND_DOUBLE, -0.5, NULL},
        {"number", "0x20", INVIVO_KIND_INT64, 32, NULL},
        {"number", "12abc", 0, 0, "expected a number at character 3 of '12abc': no unit is expected here; write the number alone"},
        {"number", "100 ms", 0, 0, "expected a number at character 4 of '100 ms': no unit is expected here; the converter 'duration' reads this"},
        {"number", "4 KiB", 0, 0, "expected a number at character 2 of '4 KiB': no unit is expected here; the converter 'bytes' reads this"},
        {"number", "", 0, 0, "expected a number at character 1 of ''"},
        {"number", "99999999999999999999", 0, 0, "the integer '99999999999999999999' does not fit in 64 bits; write a fraction or "
                                                 "an exponent if it may be rounded"},
        {"bool", "true", INVIVO_KIND_BOOL, 1, NULL},
        {"bool", "yes", 0, 0, "expected 'true' or 'false' at character 1 of 'yes'"},
        {"duration", "250 ms", INVIVO_KIND_DOUBLE, 0.25, NULL},
        {"duration", "1h 30min", INVIVO_KIND_DOUBLE, 5400, NULL},
        {"duration", "-1.5 s", INVIVO_KIND_DOUBLE, -1.5, NULL},
        {"duration", "0.3ms", INVIVO_KIND_DOUBLE, 0.0003, NULL},
        {"duration", "30 min 1 h", 0, 0, "expected units that get smaller, each once at character 10 of '30 min 1 h'"},
        {"duration", "5 parsecs", 0, 0, "expected a unit of time: ns, us, ms, s, min, h or d at character 3 of '5 parsecs'"},
        {"duration", "5", 0, 0, "expected a unit of time: ns, us, ms, s, min, h or d at character 2 of '5'"},
        {"bytes", "4096", INVIVO_KIND_INT64, 4096, NULL},
        {"bytes", "64 KiB", INVIVO_KIND_INT64, 65536, NULL},
        {"bytes", "1.5 MB", INVIVO_KIND_INT64, 1500000, NULL},
        {"bytes", "0.3 B", 0, 0, "expected a whole number of bytes, at most 8 PiB at character 1 of '0.3 B'"},
        {"bytes", "3 KiB!", 0, 0, "expected nothing after the unit at character 6 of '3 KiB!'"},
        {"url", "https://example.org/a?b#c", INVIVO_KIND_STRING, 0, NULL},
        {"url", "example.org", 0, 0, "expected a URL that begins with a scheme, as in 'https://...' at character 12 of 'example.org'"},
        {"url", "x:a b", 0, 0, "expected a character that a URL may have; write others as %XX at character 4 of 'x:a b'"},
        {"url", "x:%2", 0, 0, "expected two hexadecimal digits after '%' at character 4 of 'x:%2'"},
        {"path", "/a/b", INVIVO_KIND_STRING, 0, NULL},
        {"colour", "#ff8800", INVIVO_KIND_MAP, 0, NULL},
        {"colour", "#fg8", 0, 0, "expected a hexadecimal digit at character 3 of '#fg8'"},
        {"colour", "red", 0, 0, "expected a color such as '#f80' or '#ff8800cc' at character 1 of 'red'"},
        {"base64", "AQID", INVIVO_KIND_BYTES, 0, NULL},
    };
    invivo_value value;
    open_runtime();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = cases[i].text;
        if (cases[i].wrong) {
            expects_error(invivo_convert(runtime, cases[i].converter, text, strlen(text), &value, E), INVIVO_E_CONVERSION,
                          cases[i].wrong);
            continue;
        }
        if (!OK(invivo_convert(runtime, cases[i].converter, text, strlen(text), &value, E))) continue;
        if (!CHECK_EQUAL(value.kind, cases[i].kind)) fprintf(stderr, "    %s\n", text);
        if (value.kind == INVIVO_KIND_INT64) CHECK_EQUAL(value.as.signed_integer, cases[i].number);
        if (value.kind == INVIVO_KIND_DOUBLE) CHECK_EQUAL(value.as.number, cases[i].number);
        if (value.kind == INVIVO_KIND_STRING) CHECK_TEXT(value.as.string.data, text);
        invivo_value_clear(&value);
    }
    expects_error(invivo_convert(runtime, "colur", "x", 1, &value, E), INVIVO_E_NOT_FOUND,
                  "colur: there is no converter 'colur'; did you mean 'colour'?");
    close_runtime();
}

static void a_converter_of_the_host_reads_targets_of_its_type(void) {
    const invivo_injection by_config = {.name = "colour", .how = INVIVO_INJECT_CONFIG, .reference = "colour"};
    invivo_injection by_text = {.name = "colour", .how = INVIVO_INJECT_TEXT, .value = invivo_string("green")};
    const invivo_injection by_value = {.name = "colour", .how = INVIVO_INJECT_VALUE, .value = invivo_string("green")};
    invivo_object object;
    void *found;
    open_runtime();
    OK(register_colour(E));
    expects_error(register_colour(E), INVIVO_E_EXISTS,
                  "Colour: the converter 'Colour' is registered already; unregister it first");
    CHECK_EQUAL(destroyed, 0);
    OK(says("config: { room: { colour: blue } }", E));
    CHECK_EQUAL(converted, 0);
    OK(define(&by_config, NULL, E));
    OK(invivo_object_instance(get("room.lamp", &object)->colour, colour_type, &found, E));
    CHECK_EQUAL(((colour *)found)->bits, 'b');
    CHECK_EQUAL(converted, 1);
    OK(invivo_object_release(object));
    OK(says("config: { room: { colour: red } }", E));
    OK(invivo_object_instance(get("room.lamp", &object)->colour, colour_type, &found, E));
    CHECK_EQUAL(((colour *)found)->bits, 'r');
    OK(invivo_object_release(object));
    expects_error(says("config: { room: { colour: no } }", E), INVIVO_E_CONVERSION,
                  "a.yaml:1:27: config.room.colour: initializer parameter 'colour' of 'room.lamp': a colour has a name of three "
                  "letters at least");
    OK(define(&by_text, NULL, E));
    OK(invivo_object_instance(get("room.lamp", &object)->colour, colour_type, &found, E));
    CHECK_EQUAL(((colour *)found)->bits, 'g');
    OK(invivo_object_release(object));
    by_text.value = invivo_string("no");
    expects_error(define(&by_text, NULL, E), INVIVO_E_CONVERSION,
                  "host.c:9: room.lamp: initializer parameter 'colour': a colour has a name of three letters at least");
    by_text.reference = "Colur";
    expects_error(define(&by_text, NULL, E), INVIVO_E_NOT_FOUND,
                  "host.c:9: room.lamp: initializer parameter 'colour': there is no converter 'Colur'; did you mean 'Colour'?");
    by_text.reference = "weight";
    expects_error(define(&by_text, NULL, E), INVIVO_E_NOT_FOUND,
                  "host.c:9: room.lamp: initializer parameter 'colour': there is no converter 'weight'; there are "
                  "Colour, base64, bool, bytes, colour, duration, number, path, url");
    /* A constant is not converted. */
    expects_error(define(&by_value, NULL, E), INVIVO_E_TYPE, NULL);
    /* Converted values stay. */
    OK(invivo_converter_unregister(runtime, "Colour", E));
    expects_error(invivo_converter_unregister(runtime, "Colour", E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(destroyed, 1);
    OK(invivo_object_instance(get("room.lamp", &object)->colour, colour_type, &found, E));
    OK(invivo_object_release(object));
    by_text.reference = NULL;
    expects_error(define(&by_text, NULL, E), INVIVO_E_TYPE,
                  "host.c:9: room.lamp: initializer parameter 'colour': expected an object of 'Colour', got 'no' (a string): no "
                  "converter is named 'Colour', and an object is given by its key");
    close_runtime();
    CHECK_EQUAL(destroyed, 1);
}

static void each_runtime_has_its_own(void) {
    invivo_runtime other;
    invivo_value value;
    open_runtime();
    OK(register_colour(E));
    OK(invivo_runtime_open(&other, NULL, E));
    expects_error(invivo_convert(other, "Colour", "blue", 4, &value, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_runtime_close(other, E));
    OK(invivo_converter_unregister(runtime, "colour", E)); /* a predefined one */
    const invivo_converter_options nameless = {.struct_size = sizeof nameless, .name = "", .convert = make_colour};
    expects_error(invivo_converter_register(runtime, &nameless, E), INVIVO_E_ARGUMENT, "a converter needs a name");
    close_runtime();
    CHECK_EQUAL(destroyed, 1);
}

static void texts_are_read_by_the_converter_that_is_named_or_that_the_place_has(void) {
    const invivo_injection text = {.how = INVIVO_INJECT_CONFIG, .reference = "text"};
    invivo_injection property = {.name = "wait", .how = INVIVO_INJECT_CONFIG, .reference = "text"};
    invivo_object object;
    char here[512], wanted[600];
    open_runtime();
    /* A target with a time unit accepts every duration. */
    OK(says_and_defines("config: { room: { text: 1 min 0.5 s } }", &property, E));
    CHECK_EQUAL(get("room.lamp", &object)->wait, 60500), OK(invivo_object_release(object));
    OK(says("config: { room: { text: \"12\" } }", E));
    CHECK_EQUAL(get("room.lamp", &object)->wait, 12), OK(invivo_object_release(object));
    /* A string target receives the string unchanged. */
    property.name = "name";
    OK(says_and_defines("config: { room: { text: \"Colour(dev)\" } }", &property, E));
    CHECK_TEXT(get("room.lamp", &object)->name, "Colour(dev)"), OK(invivo_object_release(object));
    property = (invivo_injection){.name = "size", .how = INVIVO_INJECT_TEXT, .reference = "bytes", .items = &text, .item_count = 1};
    OK(says_and_defines("config: { room: { text: 64 KiB } }", &property, E));
    CHECK_EQUAL(get("room.lamp", &object)->size, 65536), OK(invivo_object_release(object));
    OK(says("config: { room: { text: 2 MiB } }", E));
    CHECK_EQUAL(get("room.lamp", &object)->size, 2097152), OK(invivo_object_release(object));
    OK(says("config: { room: { text: 17 } }", E));
    CHECK_EQUAL(get("room.lamp", &object)->size, 17), OK(invivo_object_release(object));
    expects_error(says("config:\n  room:\n    text: 2 Mi\n", E), INVIVO_E_CONVERSION,
                  "a.yaml:3:11: config.room.text: the property 'size' of 'room.lamp': expected a unit: B, kB, MB, GB, TB, KiB, "
                  "MiB, GiB or TiB at character 3 of '2 Mi'");
    property.name = "rgba", property.reference = "colour";
    OK(says_and_defines("config: { room: { text: \"#00f\" } }", &property, E));
    CHECK_EQUAL(get("room.lamp", &object)->rgba, 0x0000ffff), OK(invivo_object_release(object));
    expects_error(says("config: { room: { text: \"#f00\" } }", E), INVIVO_E_RANGE, NULL); /* int32 */
    property.name = "name", property.reference = "path";
    CHECK(getcwd(here, sizeof(here)) != NULL);
    snprintf(wanted, sizeof(wanted), "%s/a/b", here);
    if (strlen(wanted) < sizeof(((lamp *)0)->name)) {
        OK(says_and_defines("config: { room: { text: a/b } }", &property, E));
        CHECK_TEXT(get("room.lamp", &object)->name, wanted), OK(invivo_object_release(object));
    }
    close_runtime();
}

/* Sums a list of numbers; an error has the path of the item that is no number. */
static invivo_status sum(void *user_data, const invivo_value *value, invivo_value *out, invivo_error **error) {
    int64_t all = 0;
    char path[32];
    CHECK(user_data == &converted);
    converted++;
    if (value->kind != INVIVO_KIND_LIST) {
        if (error) *error = invivo_error_make(INVIVO_E_TYPE, "a list is wanted", NULL, NULL);
        return INVIVO_E_TYPE;
    }
    for (uint64_t i = 0; i < value->as.list.count; i++) {
        const invivo_value *item = &value->as.list.items[i];
        if (item->kind != INVIVO_KIND_INT64) {
            snprintf(path, sizeof path, "value.%d", (int)i);
            if (error) *error = invivo_error_make(INVIVO_E_TYPE, "no number", path, NULL);
            return INVIVO_E_TYPE;
        }
        all += item->as.signed_integer;
    }
    *out = invivo_double((double)all);
    return INVIVO_OK;
}

static void a_reader_gets_values_of_every_kind_and_its_errors_their_place(void) {
    const invivo_converter_options options = {.struct_size = sizeof(options), .name = "sum", .read = sum,
                                              .user_data = &converted, .destroy = count_destroyed};
    const invivo_injection path = {.how = INVIVO_INJECT_CONFIG, .reference = "parts"};
    const invivo_injection size = {.name = "size", .how = INVIVO_INJECT_TEXT, .reference = "sum", .items = &path, .item_count = 1};
    invivo_object lamp_object;
    invivo_value value;
    open_runtime();
    OK(invivo_converter_register(runtime, &options, E));
    OK(says("config: { room: { parts: [1, 2, 3] } }", E));
    OK(define(NULL, &size, E));
    CHECK(get("room.lamp", &lamp_object)->size == 6);
    OK(invivo_object_release(lamp_object));
    expects_error(says("config: { room: { parts: [1, 2, x] } }", E), INVIVO_E_TYPE,
                  "a.yaml:1:33: config.room.parts: the property 'size' of 'room.lamp': no number");
    expects_error(says("config: { room: { parts: word } }", E), INVIVO_E_TYPE,
                  "a.yaml:1:26: config.room.parts: the property 'size' of 'room.lamp': a list is wanted");
    expects_error(invivo_convert(runtime, "sum", "x", 1, &value, E), INVIVO_E_TYPE, "a list is wanted");
    close_runtime();
    CHECK(destroyed == 1);
}

int main(void) {
    check_begin();
    if (chdir("/tmp") != 0) return 2;
    RUN_TEST(texts_are_read_exactly_or_refused_with_the_place_in_them);
    RUN_TEST(a_converter_of_the_host_reads_targets_of_its_type);
    RUN_TEST(each_runtime_has_its_own);
    RUN_TEST(texts_are_read_by_the_converter_that_is_named_or_that_the_place_has);
    RUN_TEST(a_reader_gets_values_of_every_kind_and_its_errors_their_place);
    return check_end();
}
