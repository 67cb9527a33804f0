/* A typical C program: tunes a block by a document, loads a module, uses an object of it. Usage: program MODULE TYPE */
#include <invivo/invivo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAS_KEYS
#include "app_keys.h"
#endif

typedef struct {
    double gain;
} voice;

static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1, .max = 2)};

/* Saves like an editor: a new file, renamed over the old one. */
static void save(const char *path, double gain) {
    char beside[600];
    FILE *file;
    snprintf(beside, sizeof(beside), "%s.new", path);
    file = fopen(beside, "w");
    if (!file) abort();
    fprintf(file, "traits:\n  synth.lead:\n    - Set: { gain: %g }\n", gain);
    fclose(file);
    if (rename(beside, path) != 0) abort();
}

static double gain(invivo_runtime runtime, invivo_key lead) {
    invivo_view now = invivo_view_begin(runtime);
    const voice *tuned = (const voice *)invivo_view_block(now, lead);
    double answer = tuned ? tuned->gain : -1;
    invivo_view_end(now);
    return answer;
}

static int follow_an_edit(invivo_runtime runtime, const char *path, invivo_error **error) {
    invivo_key lead = {0};
    int tries;
    save(path, 0.5);
    if (invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, error)
        || invivo_watch(runtime, path, error))
        return 1;
    if (gain(runtime, lead) != 0.5) return 1;
    save(path, 0.25);
    for (tries = 0; tries < 300 && gain(runtime, lead) != 0.25; tries++)
        if (invivo_runtime_poll(runtime, 100, NULL, error)) return 1;
    printf("the edit is live: gain %g\n", gain(runtime, lead));
    return gain(runtime, lead) != 0.25;
}

static int use_a_module(invivo_runtime runtime, const char *module, const char *type, invivo_error **error) {
    invivo_definition definition = {0};
    invivo_object object = {0};
    invivo_value value = invivo_double(880), cutoff = invivo_null();
    int wrong;
    definition.struct_size = sizeof(definition);
    definition.key = "synth.part";
    definition.scope = INVIVO_SCOPE_LAZY_SINGLETON;
    if (invivo_module_load(runtime, module, NULL, error)
        || invivo_type_find(runtime, type, &definition.type, error)
        || invivo_define(runtime, &definition, NULL, error)
        || invivo_resolve_name(runtime, "synth.part", &object, error)
        || invivo_object_set(object, "frequency", &value, error)
        || invivo_object_get(object, "frequency", &cutoff, error))
        return 1;
    printf("%s of %s has frequency %g\n", type, strrchr(module, '/') ? strrchr(module, '/') + 1 : module, cutoff.as.number);
    wrong = cutoff.kind != INVIVO_KIND_DOUBLE || cutoff.as.number != 880;
    invivo_value_clear(&cutoff);
    return wrong || invivo_object_release(object) != INVIVO_OK;
}

int main(int count, char **arguments) {
    char directory[] = "/tmp/invivo-consumer-XXXXXX", path[512];
    invivo_runtime runtime = {0};
    invivo_error *error = NULL;
    invivo_live_counts live = {0};
    int failed;
    if (count != 3 || !mkdtemp(directory)) return 2;
    snprintf(path, sizeof(path), "%s/tuning.yaml", directory);

    failed = invivo_runtime_open(&runtime, NULL, &error) || follow_an_edit(runtime, path, &error)
             || use_a_module(runtime, arguments[1], arguments[2], &error) || invivo_runtime_close(runtime, &error);
    unlink(path);
    rmdir(directory);
    if (error) return invivo_error_report(error);
    live.struct_size = sizeof(live);
    invivo_live(&live);
    if (live.runtimes || live.objects || live.threads || live.descriptors) failed = 1;
    puts(failed ? "FAILED" : "ok");
    return failed;
}
