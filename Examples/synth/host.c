/* The synthesizer with a C host: the same components, and a short sequencer whose tempo is a block.
 * cc host.c $(pkg-config --cflags --libs invivo) -lm -o host && ./host 10 */
#include <invivo/invivo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct sequencer { double tempo; } sequencer;

static const invivo_property sequencer_properties[] = {
    INVIVO_FIELD(sequencer, tempo, .initial = 120, .min = 30, .max = 3000, .unit = "bpm")};

static void reloaded(void *user_data, const invivo_report *report) {
    (void)user_data;
    printf("%s\n", invivo_report_text(report));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static invivo_status define(invivo_runtime runtime, const char *key, const char *type, const invivo_injection *initializer,
                            const invivo_injection *properties, invivo_error **error) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = INVIVO_SCOPE_SINGLETON,
                                    .initializer = initializer, .initializer_count = initializer ? 2 : 0,
                                    .properties = properties, .property_count = properties ? 1 : 0};
    invivo_status status = invivo_type_find(runtime, type, &definition.type, error);
    return status ? status : invivo_define(runtime, &definition, NULL, error);
}

static invivo_status build(invivo_runtime runtime, invivo_key *tempo, invivo_error **error) {
    const invivo_observer_options observer = {.struct_size = sizeof observer, .reloaded = reloaded};
    const invivo_injection wave = {.name = "wave", .value = invivo_string("saw")};
    const invivo_injection file = {.name = "file", .value = invivo_string("output/c")};
    const invivo_injection inputs[] = {
        {.name = "source", .how = INVIVO_INJECT_REFERENCE, .reference = "synth.lead"},
        {.name = "effect", .how = INVIVO_INJECT_REFERENCE, .reference = "synth.filter"}};
    invivo_status status;
    if ((status = invivo_module_load(runtime, "build/oscillator.so", NULL, error))
        || (status = invivo_module_load(runtime, "build/libfilter.so", NULL, error))
        || (status = invivo_module_load(runtime, "build/mixer.so", NULL, error))
        || (status = invivo_define_block(runtime, "synth.sequencer", INVIVO_BLOCK(sequencer, sequencer_properties), tempo, error))
        || (status = define(runtime, "synth.lead", "Oscillator", NULL, &wave, error))
        || (status = define(runtime, "synth.filter", "LowPass", NULL, NULL, error))
        || (status = invivo_watch(runtime, "tuning.yaml", error))
        || (status = invivo_observe(runtime, &observer, NULL, error))
        || (status = define(runtime, "synth.mixer", "Mixer", inputs, &file, error)))
        return status;
    return INVIVO_OK;
}

static invivo_status play(invivo_runtime runtime, invivo_key tempo, double seconds, invivo_error **error) {
    static const int notes[] = {57, 60, 64, 69, 67, 64, 60, 64};
    const double end = now() + seconds;
    invivo_object lead;
    invivo_status status = invivo_resolve_name(runtime, "synth.lead", &lead, error);
    for (unsigned step = 0; status == INVIVO_OK && now() < end; step++) {
        const invivo_value frequency = invivo_double(440 * exp2((notes[step % 8] - 69) / 12.0));
        invivo_view view = invivo_view_begin(runtime);
        const sequencer *tuned = invivo_view_block(view, tempo);
        double next = fmin(end, now() + 60 / tuned->tempo);
        invivo_view_end(view);
        status = invivo_object_call(lead, "play", &frequency, 1, NULL, error);
        for (double left; status == INVIVO_OK && (left = next - now()) > 0;)
            status = invivo_runtime_poll(runtime, (uint32_t)ceil(left * 1000), NULL, error);
    }
    invivo_object_release(lead);
    return status;
}

int main(int count, char **arguments) {
    invivo_runtime runtime = {0};
    invivo_key tempo = {0};
    invivo_error *error = NULL;
    if (invivo_runtime_open(&runtime, NULL, &error) || build(runtime, &tempo, &error)
        || play(runtime, tempo, count > 1 ? atof(arguments[1]) : 10, &error) || invivo_runtime_close(runtime, &error))
        return invivo_error_report(error);
    return 0;
}
