/* config.c: what it costs to read values of the configuration, and to change one. */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <string.h>

typedef struct { double gain; } voice;

static invivo_error *error;
static long count = 5000000;
static int rounds = 5, changes_of_each = 2000;

static void must(invivo_status status) {
    if (status) exit(invivo_error_report(error));
}
__attribute__((noinline)) static void *called(void *p) { __asm__ volatile("" ::: "memory"); return p; }

/* A runtime with `paths` values, each injected into a singleton of its own. */
static invivo_runtime open_with(int paths) {
    static const invivo_property properties[] = {INVIVO_FIELD(voice, gain)};
    invivo_runtime runtime;
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Voice", .size = sizeof(voice), .alignment = 8,
                                   .properties = properties, .property_count = 1};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &type, &error));
    invivo_changes changes;
    must(invivo_changes_open(runtime, &changes, &error));
    size_t size = (size_t)paths * 32 + 64, length = 0;
    char *text = malloc(size);
    length += (size_t)snprintf(text, size, "config:\n  bench:\n    name: a text of the configuration\n");
    for (int i = 0; i < paths; i++) {
        char key[32], path[32];
        length += (size_t)snprintf(text + length, size - length, "    gain%05d: 0.5\n", i);
        snprintf(key, sizeof key, "bench.voice%05d", i), snprintf(path, sizeof path, "gain%05d", i);
        invivo_injection into[] = {{.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = path}};
        invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type = type, .scope = INVIVO_SCOPE_SINGLETON,
                                        .properties = into, .property_count = 1};
        must(invivo_changes_define(changes, &definition, NULL, &error));
    }
    must(invivo_changes_document(changes, "bench.yaml", text, length, &error));
    must(invivo_changes_commit(changes, &error));
    free(text);
    return runtime;
}

/* One value said anew, and injected again into the one object that has it, microseconds. */
static double change_one(invivo_runtime runtime) {
    double begun = cpu_ns();
    for (int i = 0; i < changes_of_each; i++) {
        invivo_changes changes;
        invivo_value gain = invivo_double(i);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_configure(changes, "bench.gain00001", &gain, &error));
        must(invivo_changes_commit(changes, &error));
    }
    return (cpu_ns() - begun) / changes_of_each / 1e3;
}

/* A document of so many keys at the top, each a path below the same name, loaded, microseconds: the best of some. */
static double load_paths(int paths) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.max_document_bytes = 1 << 24, options.max_document_nodes = 1 << 20, options.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    size_t size = (size_t)paths * 40 + 64, length = 0;
    char *text = malloc(size);
    length += (size_t)snprintf(text, size, "config:\n");
    for (int i = 0; i < paths; i++) length += (size_t)snprintf(text + length, size - length, "  bench.paths.c%d: 1\n", i);
    double best = 0;
    for (int i = 0; i < rounds; i++) {
        invivo_runtime runtime;
        invivo_changes changes;
        must(invivo_runtime_open(&runtime, &options, &error));
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_document(changes, "paths.yaml", text, length, &error));
        double begun = cpu_ns();
        must(invivo_changes_commit(changes, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 0 || took < best) best = took;
        must(invivo_runtime_close(runtime, &error));
    }
    free(text);
    return best;
}

int main(int argc, char **argv) {
    int many = 1000;
    if (argc > 1 && !strcmp(argv[1], "--quick")) count = 500000, rounds = 3, changes_of_each = 100;
    invivo_runtime few_runtime = open_with(10), runtime = open_with(many);
    invivo_config gain, name;
    must(invivo_config_id(runtime, "bench.gain00007", INVIVO_KIND_DOUBLE, &gain, &error));
    must(invivo_config_id(runtime, "bench.name", INVIVO_KIND_STRING, &name, &error));
    double call, value, few;
    void *(*volatile function)(void *) = called;
    MEASURE(call, rounds, count, KEEP(function(&call)));
    invivo_view view = invivo_view_begin(runtime);
    if (invivo_view_config_double(view, gain, 0) != 0.5) return 1;
    double sum = 0;
    MEASURE(value, rounds, count, { sum += invivo_view_config_double(view, gain, 0); __asm__ volatile("" : "+x"(sum) : : "memory"); });
    row("config.view.get", value, "ns", "function pointer call", call, "<= 4 ns", value <= 4);
    MEASURE(value, rounds, count, KEEP(invivo_view_config_string(view, name, "")));
    row("config.view.text", value, "ns", "function pointer call", call, "<= 4 ns", value <= 4);
    invivo_view_end(view);
    MEASURE(value, rounds, count, {
        invivo_view now = invivo_view_begin(runtime);
        sum += invivo_view_config_double(now, gain, 0);
        __asm__ volatile("" : "+x"(sum) : : "memory");
        invivo_view_end(now);
    });
    row("config.view.whole", value, "ns", "function pointer call", call, "recorded", true);
    long reads = count / 100;
    MEASURE(value, rounds, reads, {
        invivo_value found;
        must(invivo_config_read(runtime, "bench.gain00007", &found, &error));
        invivo_value_clear(&found);
    });
    row("config.read", value, "ns", "function pointer call", call, "recorded", true);
    few = change_one(few_runtime);
    value = change_one(runtime);
    row("config.change.one.of.1000", value, "us", "one of 10", few, "recorded", true);
    few = load_paths(2000);
    value = load_paths(20000);
    /* In proportion to their number it is 10, with its square 100. */
    row("config.load.paths.20000", value, "us", "2000 of them", few, "<= 20 times", value <= 20 * few);
    must(invivo_runtime_close(few_runtime, &error));
    must(invivo_runtime_close(runtime, &error));
    return 0;
}
