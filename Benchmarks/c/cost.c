/* cost.c: the cost of a change among many things that do not change, and what each of them takes in memory.
 *
 *     bench-cost [--quick] [--long]
 * --long: `activate.1000000` too. */
#define _GNU_SOURCE
#include "events.h"
#include <invivo/invivo.h>
#include <malloc.h>
#include <string.h>

static invivo_error *error;
static int rounds = 5;

static void must(invivo_status status) {
    if (status) exit(invivo_error_report(error));
}

typedef struct { double gain, cutoff; } part;
static const invivo_property part_properties[] = {INVIVO_FIELD(part, gain), INVIVO_FIELD(part, cutoff)};

/* Shared objects are not tuned in place: `tuned` is a type of confined ones. */
static invivo_runtime open_runtime(invivo_type *type, bool tuned) {
    invivo_runtime runtime;
    invivo_runtime_options options;
    invivo_type_options of_part = {.struct_size = sizeof of_part, .name = "Part", .concurrency = INVIVO_SHARED, .size = sizeof(part),
                                   .alignment = 8, .properties = part_properties, .property_count = 2};
    invivo_runtime_options_init(&options);
    options.max_document_bytes = 1 << 24, options.max_document_nodes = 1 << 20, options.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    must(invivo_runtime_open(&runtime, &options, &error));
    if (tuned) of_part.concurrency = INVIVO_CONFINED;
    must(invivo_type_register(runtime, &of_part, type, &error));
    return runtime;
}
static double bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

/* ---- assemblies ---- */

/* A table of so many definitions; with `whole`, each with a source location and two properties. */
static invivo_definition *table_of(long count, invivo_type type, bool whole) {
    static invivo_injection given[2];
    given[0] = (invivo_injection){.name = "gain", .value = invivo_double(0.5)};
    given[1] = (invivo_injection){.name = "cutoff", .value = invivo_double(900)};
    invivo_definition *table = calloc((size_t)count, sizeof *table);
    char *names = malloc((size_t)count * 16);
    if (!table || !names) exit(1);
    for (long i = 0; i < count; i++) {
        snprintf(names + i * 16, 16, "part%07ld", i);
        table[i] = (invivo_definition){.struct_size = sizeof *table, .key = names + i * 16, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
        if (!whole) continue;
        table[i].file = __FILE__, table[i].line = (uint32_t)i + 1, table[i].column = 1;
        table[i].properties = given, table[i].property_count = 2;
    }
    return table;
}
static void free_table(invivo_definition *table) {
    free((void *)table[0].key);
    free(table);
}
static void activate(invivo_runtime runtime, const invivo_assembly *assembly) {
    must(invivo_activate(runtime, &assembly, 1, NULL, &error));
}

/* One assembly of so many definitions, nanoseconds for each: the best of some. */
static double activate_many(long count, int times) {
    double best = 0;
    for (int i = 0; i < times; i++) {
        invivo_type type;
        invivo_runtime runtime = open_runtime(&type, false);
        invivo_definition *table = table_of(count, type, false);
        invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "many", .definitions = table, .definition_count = (uint64_t)count};
        double begun = cpu_ns();
        activate(runtime, &assembly);
        double took = (cpu_ns() - begun) / (double)count;
        if (i == 0 || took < best) best = took;
        must(invivo_runtime_close(runtime, &error));
        free_table(table);
    }
    return best;
}
static void activation(bool quick, bool is_long) {
    double few = 0;
    for (long count = 100; count <= (is_long ? 1000000 : quick ? 10000 : 100000); count *= 10) {
        char name[64];
        double each = activate_many(count, count > 100000 ? 1 : count > 10000 ? 2 : rounds) / 1e3;
        if (count == 100) few = each;
        snprintf(name, sizeof name, "activate.%ld", count);
        row(name, each, "us", "a definition among 100", few, "<= 8 us a definition and <= 1.5 times", each <= 8 && each <= 1.5 * few);
    }
}

/* An assembly of one definition activated and removed beside one of so many, microseconds: the best of some. */
static double beside(long count) {
    invivo_type type;
    invivo_runtime runtime = open_runtime(&type, false);
    invivo_definition *table = table_of(count, type, false), *one = table_of(1, type, false);
    invivo_assembly many = {.struct_size = sizeof many, .name = "many", .definitions = table, .definition_count = (uint64_t)count};
    invivo_assembly small = {.struct_size = sizeof small, .name = "small", .definitions = one, .definition_count = 1};
    const char *removed[] = {"small"};
    activate(runtime, &many);
    double best = 0;
    for (int i = 0; i <= (count > 10000 ? rounds : 10 * rounds); i++) {
        double begun = cpu_ns();
        activate(runtime, &small);
        must(invivo_deactivate(runtime, removed, 1, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 1 || (i && took < best)) best = took;
    }
    must(invivo_runtime_close(runtime, &error));
    free_table(table);
    free_table(one);
    return best;
}
static void assemblies_beside(bool quick) {
    double few = beside(100);
    for (long count = 1000; count <= (quick ? 10000 : 100000); count *= 10) {
        char name[64];
        double value = beside(count);
        snprintf(name, sizeof name, "assembly.beside.%ld", count);
        row(name, value, "us", "beside 100", few, "<= 2 times", value <= 2 * few);
    }
}

/* Bytes of each definition of an assembly with a source location and two properties. */
static void memory_of_definitions(long count) {
    invivo_type type;
    invivo_runtime runtime = open_runtime(&type, false);
    invivo_definition *table = table_of(count, type, true);
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "many", .definitions = table, .definition_count = (uint64_t)count};
    char name[64];
    double before = bytes_in_use();
    activate(runtime, &assembly);
    double each = (bytes_in_use() - before) / (double)count;
    snprintf(name, sizeof name, "memory.definition.%ld.whole", count);
    row(name, each, "bytes", "none", 0, "<= 400 with an assembly, a source location and two properties", each <= 400);
    must(invivo_runtime_close(runtime, &error));
    free_table(table);
}

/* ---- traits ---- */

typedef struct { double edit, pass; } tuned;

enum edit { ONE_KEY, MOVED };

/* A document that tunes so many keys is edited, microseconds: the minimum of several edits. An edit changes the value of one
 * key, or adds a line at the top or removes it. */
static tuned tune(int count, enum edit edit) {
    invivo_type type;
    invivo_runtime runtime = open_runtime(&type, true);
    invivo_definition *table = table_of(count, type, false);
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "many", .definitions = table, .definition_count = (uint64_t)count};
    activate(runtime, &assembly);
    size_t size = (size_t)count * 64 + 64;
    char *text = malloc(size);
    if (!text) exit(1);
    tuned best = {0};
    for (int i = 0; i <= 2 * rounds; i++) {
        invivo_changes changes;
        size_t length = (size_t)snprintf(text, size, "%straits:\n", edit == MOVED && i % 2 ? "# moved\n" : "");
        for (int key = 0; key < count; key++)
            length += (size_t)snprintf(text + length, size - length, "  many.part%07d: [ Set: { gain: %d } ]\n", key, edit == ONE_KEY && key == 3 ? i : 1);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_document(changes, "tuning.yaml", text, length, &error));
        double begun = cpu_ns();
        must(invivo_changes_commit(changes, &error));
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 1 || (i && took < best.edit)) best.edit = took;
        if (i == 0) best.pass = event_pass(text, length, rounds);
    }
    free(text);
    must(invivo_runtime_close(runtime, &error));
    free_table(table);
    return best;
}
static void traits(bool quick) {
    static const char *const names[] = {"one", "moved"};
    for (enum edit edit = ONE_KEY; edit <= MOVED; edit++) {
        tuned few = tune(10, edit);
        for (int count = 1000; count <= (quick ? 1000 : 10000); count *= 10) {
            char name[64];
            tuned all = tune(count, edit);
            double floor = 3 * all.pass + few.edit;
            snprintf(name, sizeof name, "traits.%s.of.%d", names[edit], count);
            row(name, all.edit, "us", "3 libyaml event passes + one of 10", floor, "<= 1 times", all.edit <= floor);
        }
    }
}

/* ---- views ---- */

/* Memory that so many reloads add while one view stays open. */
static void held_view(int reloads) {
    invivo_type type;
    invivo_runtime runtime = open_runtime(&type, false);
    invivo_key key;
    char name[64];
    double before = 0;
    invivo_view view = {0};
    for (int i = -100; i < reloads; i++) {
        invivo_injection gain = {.name = "gain", .value = invivo_double(i)};
        invivo_definition definition = {.struct_size = sizeof definition, .key = "view.part", .scope = INVIVO_SCOPE_SINGLETON,
                                        .type = type, .properties = &gain, .property_count = 1};
        must(invivo_define(runtime, &definition, &key, &error));
        if (i == -1) {
            view = invivo_view_begin(runtime);
            before = bytes_in_use();
        }
    }
    invivo_runtime_info info = {.struct_size = sizeof info};
    must(invivo_runtime_inspect(runtime, &info, &error)); /* what can end has ended */
    double grown = bytes_in_use() - before;
    if (((part *)invivo_view_get(view, key))->gain != -1) exit(1);
    snprintf(name, sizeof name, "memory.view.held.%d", reloads);
    row(name, grown, "bytes", "none", 0, "< 1 MB", grown < 1e6);
    invivo_view_end(view);
    must(invivo_runtime_close(runtime, &error));
}

/* ---- reports and former generations ---- */

/* Memory of the last 64 reports and 16 generations of a document that tunes so many keys. An edit changes the value of one key, or
 * of all. */
static void history(int count, bool all) {
    invivo_type type;
    invivo_runtime runtime = open_runtime(&type, true);
    invivo_definition *table = table_of(count, type, false);
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "many", .definitions = table, .definition_count = (uint64_t)count};
    activate(runtime, &assembly);
    size_t size = (size_t)count * 64 + 64;
    char *text = malloc(size), name[64];
    if (!text) exit(1);
    double before = 0;
    for (int i = 0; i < 80; i++) {
        invivo_changes changes;
        size_t length = (size_t)snprintf(text, size, "traits:\n");
        for (int key = 0; key < count; key++)
            length += (size_t)snprintf(text + length, size - length, "  many.part%07d: [ Set: { gain: %d } ]\n", key, all || key == 3 ? i : 1);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_document(changes, "tuning.yaml", text, length, &error));
        must(invivo_changes_commit(changes, &error));
        if (i == 1) before = bytes_in_use();
    }
    double grown = bytes_in_use() - before;
    snprintf(name, sizeof name, "memory.history.%s.of.%d", all ? "all" : "one", count);
    row(name, grown, "bytes", "none", 0, "<= 4 MiB", grown <= 4 << 20);
    free(text);
    must(invivo_runtime_close(runtime, &error));
    free_table(table);
}

int main(int argc, char **argv) {
    bool quick = false, is_long = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) quick = true;
        if (!strcmp(argv[i], "--long")) is_long = true;
    }
    if (quick) rounds = 3;
    history(quick ? 1000 : 10000, false), history(quick ? 1000 : 10000, true);
    held_view(quick ? 5000 : 30000);
    traits(quick);
    assemblies_beside(quick);
    activation(quick, is_long);
    memory_of_definitions(10000);
    return 0;
}
