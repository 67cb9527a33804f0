/* config.c: the cost of reading and changing configuration values. */
#define _GNU_SOURCE
#include "events.h"
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

/* A runtime with `paths` values, each injected into its own singleton. */
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

/* One value changed, and injected again into its one object, in microseconds. */
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

/* Loading a document with this number of top-level keys, each a path below the same name, in microseconds: the minimum
 * of several. */
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

/* The documents of `config.one.of.N`. */
enum shape { FLAT, GROUPED };

/* A document of this number of values, the first of which is `first`; grouped: each hundred in its own map. */
static char *document_of(int values, enum shape shape, int first, size_t *length) {
    size_t size = (size_t)values * 40 + 128;
    char *text = malloc(size);
    *length = (size_t)snprintf(text, size, "config:\n  bench:\n");
    for (int i = 0; i < values; i++) {
        if (shape == GROUPED && i % 100 == 0) *length += (size_t)snprintf(text + *length, size - *length, "    group%03d:\n", i / 100);
        *length += (size_t)snprintf(text + *length, size - *length, "%s    gain%05d: %d\n", shape == GROUPED ? "  " : "", i, i ? i : first);
    }
    return text;
}

typedef struct { double document, api, pass; } edits;

/* One value edited, in the document and by the API, in microseconds: the minimum of several. */
static edits edit_one(int values, enum shape shape) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.max_document_bytes = 1 << 24, options.max_document_nodes = 1 << 20, options.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    invivo_runtime runtime;
    must(invivo_runtime_open(&runtime, &options, &error));
    const char *path = shape == GROUPED ? "bench.group000.gain00001" : "bench.gain00001";
    edits best = {0};
    for (int i = 0; i < 20 * rounds; i++) {
        size_t length;
        char *text = document_of(values, shape, i, &length);
        invivo_changes changes;
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_document(changes, "bench.yaml", text, length, &error));
        double begun = cpu_ns();
        must(invivo_changes_commit(changes, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 1 || (i && took < best.document)) best.document = took;
        if (i == 0) best.pass = event_pass(text, length, rounds);
        free(text);
    }
    for (int i = 0; i < 20 * rounds; i++) {
        invivo_changes changes;
        invivo_value gain = invivo_double(i + 0.5);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_configure(changes, path, &gain, &error));
        double begun = cpu_ns();
        must(invivo_changes_commit(changes, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 1 || (i && took < best.api)) best.api = took;
    }
    must(invivo_runtime_close(runtime, &error));
    return best;
}

/* One of many documents with one value each, edited, in microseconds: the minimum of several. */
static double edit_document(int documents) {
    invivo_runtime runtime;
    must(invivo_runtime_open(&runtime, NULL, &error));
    double best = 0;
    invivo_changes changes;
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < documents; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "d%05d.yaml", i);
        int length = snprintf(text, sizeof text, "config: { bench: { gain%05d: 1 } }", i);
        must(invivo_changes_document(changes, name, text, (size_t)length, &error));
    }
    must(invivo_changes_commit(changes, &error));
    for (int i = 0; i < 20 * rounds; i++) {
        char text[64];
        int length = snprintf(text, sizeof text, "config: { bench: { gain00003: %d } }", i + 2);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_document(changes, "d00003.yaml", text, (size_t)length, &error));
        double begun = cpu_ns();
        must(invivo_changes_commit(changes, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 0 || took < best) best = took;
    }
    must(invivo_runtime_close(runtime, &error));
    return best;
}

static void one_of(int many) {
    static const char *const names[] = {"flat", "grouped"};
    for (enum shape shape = FLAT; shape <= GROUPED; shape++) {
        char name[64];
        edits few = edit_one(10, shape), all = edit_one(many, shape);
        double floor = 3 * all.pass + few.document;
        snprintf(name, sizeof name, "config.one.of.%d.%s", many, names[shape]);
        row(name, all.document, "us", "3 libyaml event passes + one of 10", floor, "<= 1 times", all.document <= floor);
        snprintf(name, sizeof name, "config.one.of.%d.%s.api", many, names[shape]);
        row(name, all.api, "us", "one of 10", few.api, "<= 2 times", all.api <= 2 * few.api);
    }
}

/* One value changed in a section of 20 numbers, in microseconds. */
typedef struct { double fields[20]; } section;
static double change_section(invivo_runtime runtime) {
    double best = 0;
    for (int i = 0; i < changes_of_each; i++) {
        invivo_changes changes;
        invivo_value number = invivo_double(i);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_configure(changes, "section.field7", &number, &error));
        double begun = cpu_ns();
        must(invivo_changes_commit(changes, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 0 || took < best) best = took;
    }
    return best;
}
static void settings_rows(invivo_runtime runtime) {
    static char names[20][16];
    invivo_property fields[20];
    for (int i = 0; i < 20; i++) {
        char path[32];
        invivo_value number = invivo_double(i);
        invivo_changes changes;
        snprintf(names[i], sizeof names[i], "field%d", i), snprintf(path, sizeof path, "section.%s", names[i]);
        fields[i] = (invivo_property){.struct_size = sizeof *fields, .name = names[i], .kind = INVIVO_KIND_DOUBLE,
                                      .offset = (uint64_t)i * sizeof(double), .size = sizeof(double)};
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_configure(changes, path, &number, &error));
        must(invivo_changes_commit(changes, &error));
    }
    double unbound = change_section(runtime), call, value;
    invivo_settings settings = {.struct_size = sizeof settings, .name = "Section", .path = "section", .fields = fields, .field_count = 20,
                                .size = sizeof(section)};
    must(invivo_settings_bind(runtime, &settings, &error));
    double bound = change_section(runtime);
    row("settings.change.c", bound, "us", "without the binding", unbound, "<= 2 times", bound <= 2 * unbound);
    invivo_config id;
    must(invivo_settings_id(runtime, "Section", &id, &error));
    void *(*volatile function)(void *) = called;
    MEASURE(call, rounds, count, KEEP(function(&call)));
    invivo_view view = invivo_view_begin(runtime);
    MEASURE(value, rounds, count, KEEP(invivo_view_settings(view, id)));
    invivo_view_end(view);
    row("settings.view.get", value, "ns", "function pointer call", call, "<= 4 ns", value <= 4);
    must(invivo_settings_unbind(runtime, "Section", &error));
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
    settings_rows(few_runtime);
    few = change_one(few_runtime);
    value = change_one(runtime);
    row("config.change.one.of.1000", value, "us", "one of 10", few, "recorded", true);
    few = load_paths(2000);
    value = load_paths(20000);
    /* 10 if proportional to the number, 100 if quadratic. */
    row("config.load.paths.20000", value, "us", "2000 of them", few, "<= 20 times", value <= 20 * few);
    one_of(10000);
    few = edit_document(10);
    value = edit_document(1000);
    row("config.documents.1000", value, "us", "one of 10", few, "<= 2 times", value <= 2 * few);
    must(invivo_runtime_close(few_runtime, &error));
    must(invivo_runtime_close(runtime, &error));
    return 0;
}
