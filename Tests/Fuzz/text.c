/* Arbitrary text as the value of properties with and without a unit or a codec, and for each converter: it is read exactly, or
 * refused. A value that was read is written as text and read back. A JSON document contains the text of a property. */
#include <invivo/invivo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double gain, cutoff, delay, level, share; uint32_t color; } voice;
static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain), INVIVO_FIELD(voice, cutoff, .unit = "Hz"),
    INVIVO_FIELD(voice, delay, .unit = "s", .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(voice, level, .codec = INVIVO_CODEC_DECIBEL), INVIVO_FIELD(voice, share, .codec = INVIVO_CODEC_PERCENT),
    INVIVO_FIELD(voice, color, .codec = INVIVO_CODEC_COLOR)};

/* A text that is read yields a value of the converter's kind; a refused one yields an error with a position in it. */
static void convert(invivo_runtime runtime, const uint8_t *data, size_t size) {
    static const char *const converters[] = {"number", "bool", "duration", "bytes", "base64", "path", "url", "colour"};
    for (size_t i = 0; i < sizeof(converters) / sizeof(converters[0]); i++) {
        invivo_value value = {0};
        invivo_error *error = NULL;
        if (invivo_convert(runtime, converters[i], (const char *)data, size, &value, &error) != INVIVO_OK) {
            if (!error || !*invivo_error_text(error) || value.kind != INVIVO_KIND_NULL) abort();
            invivo_error_release(error);
            continue;
        }
        if (value.kind == INVIVO_KIND_NULL) abort();
        if (value.kind == INVIVO_KIND_BYTES && value.as.bytes.length > size) abort();
        invivo_value_clear(&value);
    }
}

static void read_back(invivo_type type, const char *name, const uint8_t *data, size_t size) {
    invivo_value value = {0}, text = {0}, again = {0}, same = {0};
    invivo_error *error = NULL;
    if (invivo_property_read(type, name, (const char *)data, size, &value, &error) != INVIVO_OK) {
        if (!error || !*invivo_error_text(error) || value.kind != INVIVO_KIND_NULL) abort();
        invivo_error_release(error);
        return;
    }
    if (invivo_property_text(type, name, &value, &text, NULL) != INVIVO_OK) abort();
    if (invivo_property_read(type, name, text.as.string.data, text.as.string.length, &again, NULL) != INVIVO_OK) abort();
    if (invivo_property_text(type, name, &again, &same, NULL) != INVIVO_OK) abort();
    if (strcmp(text.as.string.data, same.as.string.data) != 0) abort();
    invivo_value_clear(&value);
    invivo_value_clear(&text);
    invivo_value_clear(&again);
    invivo_value_clear(&same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static invivo_runtime runtime;
    static invivo_type type;
    static const char *const names[] = {"gain", "cutoff", "delay", "level", "share", "color"};
    if (!runtime.bits) {
        if (invivo_runtime_open(&runtime, NULL, NULL) != INVIVO_OK) abort();
        if (invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), NULL, NULL) != INVIVO_OK) abort();
        if (invivo_type_find(runtime, "voice", &type, NULL) != INVIVO_OK) abort();
    }
    if (size > 4096) return 0;
    convert(runtime, data, size);
    char *text = malloc(size * 6 + 128);
    for (int i = 0; i < 6; i++) {
        read_back(type, names[i], data, size);
        invivo_source_options options = {.struct_size = sizeof(options), .name = "fuzz.json", .text = text};
        invivo_source source = {0};
        invivo_error *error = NULL;
        char *end = text + sprintf(text, "{\"traits\": {\"synth.lead\": [{\"Set\": {\"%s\": \"", names[i]);
        for (size_t j = 0; j < size; j++) end += sprintf(end, "\\u%04x", data[j] ? data[j] : 1);
        end += sprintf(end, "\"}}]}}");
        options.length = (uint64_t)(end - text);
        if (invivo_source_open(runtime, &options, &source, &error) != INVIVO_OK) {
            if (!error || !*invivo_error_text(error)) abort();
            invivo_error_release(error);
        } else if (invivo_source_close(source, NULL) != INVIVO_OK) {
            abort();
        }
    }
    free(text);
    return 0;
}
