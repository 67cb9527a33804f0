/* The oscillator: a C module. The note to play is atomic; tunable values are in its block. */
#include <invivo/invivo.h>
#include <math.h>

#include "stage/stage.h"

typedef struct oscillator {
    synth_stage stage;
    double phase;       /* 0 to 1; used by the real-time thread only */
    uint64_t frequency; /* the bits of a double; written by `play`, read by the real-time thread */
} oscillator;

enum { WAVE_SINE, WAVE_SAW, WAVE_SQUARE, WAVE_TRIANGLE };

typedef struct oscillator_tuning {
    double gain, detune;
    int32_t wave;
} oscillator_tuning;

static const invivo_choice waves[] = {
    {"sine", WAVE_SINE}, {"saw", WAVE_SAW}, {"square", WAVE_SQUARE}, {"triangle", WAVE_TRIANGLE}};

static double sample(int32_t wave, double phase) {
    switch (wave) {
    case WAVE_SAW: return 2 * phase - 1;
    case WAVE_SQUARE: return phase < 0.5 ? 1 : -1;
    case WAVE_TRIANGLE: return 4 * fabs(phase - 0.5) - 1;
    default: return sin(phase * 6.283185307179586);
    }
}

static void render(void *state, const void *block, float *frames, size_t count) {
    oscillator *self = state;
    const oscillator_tuning *tuning = block;
    uint64_t bits = __atomic_load_n(&self->frequency, __ATOMIC_RELAXED);
    double frequency, step, phase = self->phase;
    __builtin_memcpy(&frequency, &bits, sizeof frequency);
    step = frequency * exp2(tuning->detune / 1200) / SYNTH_RATE;
    for (size_t i = 0; i < count; i++) {
        frames[i] = (float)(tuning->gain * sample(tuning->wave, phase));
        phase += step;
        phase -= floor(phase);
    }
    self->phase = phase;
}

static void tune_to(oscillator *self, double frequency) {
    uint64_t bits;
    __builtin_memcpy(&bits, &frequency, sizeof bits);
    __atomic_store_n(&self->frequency, bits, __ATOMIC_RELAXED);
}

static invivo_status init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error) {
    oscillator *self = instance;
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    self->stage = (synth_stage){render, self};
    tune_to(self, 220);
    return INVIVO_OK;
}

static invivo_status get_stage(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_uint64((uintptr_t) & ((oscillator *)instance)->stage);
    return INVIVO_OK;
}

static invivo_status play(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                          invivo_value *result, invivo_error **error) {
    (void)user_data, (void)count, (void)result;
    double frequency = arguments[0].as.number;
    if (!(frequency >= 0 && frequency < SYNTH_RATE / 2)) {
        *error = invivo_error_make(INVIVO_E_RANGE, "a frequency from 0 to 24000 Hz is expected", "frequency", NULL);
        return INVIVO_E_RANGE;
    }
    tune_to(instance, frequency);
    return INVIVO_OK;
}

static const invivo_property properties[] = {
    INVIVO_BLOCK_FIELD(oscillator_tuning, gain, .initial = 0.5, .min = 0, .max = 1, .text = "peak of the wave"),
    INVIVO_BLOCK_FIELD(oscillator_tuning, detune, .min = -1200, .max = 1200, .unit = "cents"),
    INVIVO_BLOCK_FIELD(oscillator_tuning, wave, .initial_text = "sine", .choices = waves,
                       .choice_count = sizeof waves / sizeof *waves),
    {.struct_size = sizeof(invivo_property), .name = "stage", .kind = INVIVO_KIND_UINT64,
     .flags = INVIVO_PROPERTY_READ_ONLY, .get = get_stage},
};
static const invivo_parameter play_parameters[] = {{"frequency", INVIVO_KIND_DOUBLE, 0, NULL}};
static const invivo_method methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "play", .text = "Changes to a frequency in Hz; any thread may call it.",
     .parameters = play_parameters, .parameter_count = 1, .result = INVIVO_KIND_NULL, .call = play}};

INVIVO_MODULE(runtime, error) {
    const invivo_type_options type = {
        .struct_size = sizeof type, .name = "Oscillator", .concurrency = INVIVO_SHARED,
        .size = sizeof(oscillator), .alignment = _Alignof(oscillator), .init = init,
        .block_size = sizeof(oscillator_tuning),
        .properties = properties, .property_count = sizeof properties / sizeof *properties,
        .methods = methods, .method_count = 1};
    return invivo_type_register(runtime, &type, NULL, error);
}
