/* A module for the tests of schemas: each kind of property, codecs, choices, a trait type, a choice between definitions. */
#include <invivo/invivo.h>

#include <stddef.h>
#include <string.h>

typedef struct lamp {
    double gain, share, seconds, hertz, plain;
    float level;
    int8_t small;
    uint16_t wide;
    int64_t milliseconds, count;
    uint32_t packed;
    int32_t mode;
    struct {
        int32_t width, height;
    } frame;
    struct {
        double x, y;
    } place;
    struct {
        uint8_t red, green, blue;
    } tint;
    struct {
        float r, g, b, a;
    } light;
    bool on;
    char name[24];
    uint8_t key[3];
    double fixed, later;
} lamp;
typedef struct clock {
    int64_t hour;
} clock;
typedef struct panel {
    double level;
} panel;
typedef struct station {
    double rate, range;
    int64_t slots;
    int32_t mode;
    struct {
        int32_t width, height;
    } frame;
    char title[8];
    bool open;
} station;
typedef struct fade {
    double amount, time;
    int32_t mode;
    char curve[12];
} fade;

#define PART(NAME, KIND, OFFSET, SIZE) \
    {.struct_size = sizeof(invivo_property), .name = NAME, .kind = INVIVO_KIND_##KIND, .offset = OFFSET, .size = SIZE}
#define NESTED(FIELD, FIELDS, CODEC)                                                                       \
    {.struct_size = sizeof(invivo_property), .name = #FIELD, .kind = INVIVO_KIND_MAP, .offset = offsetof(lamp, FIELD), \
     .size = sizeof(((lamp *)0)->FIELD), .fields = FIELDS, .field_count = sizeof FIELDS / sizeof *FIELDS, .codec = CODEC}
static const invivo_property frame_fields[] = {PART("width", INT32, 0, 4), PART("height", INT32, 4, 4)};
static const invivo_property place_fields[] = {PART("x", DOUBLE, 0, 8), PART("y", DOUBLE, 8, 8)};
static const invivo_property tint_fields[] = {PART("red", UINT8, 0, 1), PART("green", UINT8, 1, 1), PART("blue", UINT8, 2, 1)};
static const invivo_property light_fields[] = {PART("r", FLOAT, 0, 4), PART("g", FLOAT, 4, 4), PART("b", FLOAT, 8, 4),
                                               PART("a", FLOAT, 12, 4)};
static const invivo_choice modes[] = {{"off", 0}, {"dim", 3}, {"full", 9}};
static const char *former[] = {"loudness"};
static const invivo_property lamp_properties[] = {
    INVIVO_FIELD(lamp, gain, .initial = 1, .min = 0, .max = 8, .codec = INVIVO_CODEC_DECIBEL, .text = "The gain.",
                 .was = former, .was_count = 1),
    INVIVO_FIELD(lamp, share, .codec = INVIVO_CODEC_PERCENT),
    INVIVO_FIELD(lamp, seconds, .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(lamp, hertz, .initial = 50, .min = 20, .max = 20000, .unit = "Hz"),
    INVIVO_FIELD(lamp, plain, .initial = 0),
    INVIVO_FIELD(lamp, level, .codec = INVIVO_CODEC_DECIBEL),
    INVIVO_FIELD(lamp, small, .initial = 0),
    INVIVO_FIELD(lamp, wide, .initial = 0, .unit = "B"),
    INVIVO_FIELD(lamp, milliseconds, .unit = "ms", .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(lamp, count, .initial = 1, .min = 1, .max = 64),
    INVIVO_FIELD(lamp, packed, .codec = INVIVO_CODEC_COLOR),
    INVIVO_FIELD(lamp, mode, .choices = modes, .choice_count = 3),
    NESTED(frame, frame_fields, INVIVO_CODEC_SIZE),
    NESTED(place, place_fields, INVIVO_CODEC_POINT),
    NESTED(tint, tint_fields, INVIVO_CODEC_COLOR),
    NESTED(light, light_fields, INVIVO_CODEC_COLOR),
    INVIVO_FIELD(lamp, on, .initial = 0),
    INVIVO_FIELD(lamp, name, .initial_text = ""),
    INVIVO_FIELD(lamp, key, .initial = 0),
    INVIVO_FLAGGED_FIELD(lamp, INVIVO_PROPERTY_NOT_TUNABLE, fixed, .initial = 0),
    INVIVO_FLAGGED_FIELD(lamp, INVIVO_PROPERTY_RESTART, later, .initial = 0)};
static const invivo_property clock_properties[] = {INVIVO_FIELD(clock, hour, .initial = 0, .max = 23)};
static const invivo_property panel_properties[] = {INVIVO_BLOCK_FIELD(panel, level, .initial = 1, .max = 8)};
static const invivo_property fade_fields[] = {
    INVIVO_FLAGGED_FIELD(fade, INVIVO_PROPERTY_REQUIRED, amount, .min = 0, .max = 1),
    INVIVO_FIELD(fade, time, .initial = 1, .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(fade, mode, .choices = modes, .choice_count = 3),
    INVIVO_FIELD(fade, curve, .initial_text = "linear")};
static const invivo_property station_fields[] = {
    INVIVO_FIELD(station, rate, .initial = 48000, .min = 8000, .max = 192000, .unit = "Hz"),
    INVIVO_FIELD(station, range, .initial = 1, .codec = INVIVO_CODEC_PERCENT),
    INVIVO_FIELD(station, slots, .initial = 4, .min = 1, .max = 16),
    INVIVO_FIELD(station, mode, .choices = modes, .choice_count = 3),
    {.struct_size = sizeof(invivo_property), .name = "frame", .kind = INVIVO_KIND_MAP, .offset = offsetof(station, frame), .size = 8,
     .fields = frame_fields, .field_count = 2},
    INVIVO_FIELD(station, title, .initial_text = ""),
    INVIVO_FIELD(station, open, .initial = 0)};
static const char *lamps[] = {"Lamp"};

static invivo_status fade_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                                 void *user_data, invivo_error **error) {
    (void)values, (void)count, (void)user_data;
    return invivo_layers_scale(layers, "gain", 1 - ((const fade *)fields)->amount, error);
}
static const invivo_parameter clock_parameters[] = {{"hour", INVIVO_KIND_INT64, INVIVO_PARAMETER_OPTIONAL, NULL}};

INVIVO_MODULE(runtime, error) {
    invivo_type type;
    invivo_status status = invivo_type_register(
        runtime,
        &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Lamp", .size = sizeof(lamp), .properties = lamp_properties,
                               .property_count = sizeof lamp_properties / sizeof *lamp_properties},
        &type, error);
    if (!status)
        status = invivo_type_register(
            runtime,
            &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Clock", .size = sizeof(clock), .properties = clock_properties,
                                   .property_count = 1, .parameters = clock_parameters, .parameter_count = 1},
            &type, error);
    if (!status)
        status = invivo_type_register(
            runtime,
            &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Panel", .block_size = sizeof(panel),
                                   .concurrency = INVIVO_SHARED, .properties = panel_properties, .property_count = 1},
            &type, error);
    if (!status)
        status = invivo_trait_add(
            runtime,
            &(invivo_trait){.struct_size = sizeof(invivo_trait), .name = "desk.Fade", .targets = lamps, .target_count = 1, .fields = fade_fields,
                            .field_count = sizeof fade_fields / sizeof *fade_fields, .size = sizeof(fade), .layers = fade_layers},
            error);
    if (!status)
        status = invivo_settings_bind(
            runtime,
            &(invivo_settings){.struct_size = sizeof(invivo_settings), .name = "Station", .path = "station", .fields = station_fields,
                               .field_count = sizeof station_fields / sizeof *station_fields, .size = sizeof(station)},
            error);
    return status;
}
