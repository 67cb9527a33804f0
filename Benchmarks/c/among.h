/* among.h: rows of one operation among many things that do not change. The budget is 1.5 times the same among 10. Of
 * a row of the time for each thing, it is 1.5 times that among 100: of 10, the time of the call itself is a large part.
 *
 *     bench-... [--quick] [ROW [COUNT [EDITS]]]
 * ROW measures one operation. With COUNT, it is measured once among so many things, by so many edits: for profilers. */
#ifndef AMONG_H
#define AMONG_H

#include "row.h"
#include <invivo/invivo.h>
#include <string.h>

static invivo_error *error;
static invivo_runtime runtime;
static invivo_type type;
static int edits = 100;

static void must(invivo_status status) {
    if (status) exit(invivo_error_report(error));
}

typedef struct { double gain, cutoff; } part;
static const invivo_property part_properties[] = {INVIVO_FIELD(part, gain, .max = 1e9), INVIVO_FIELD(part, cutoff)};

static char *name_of(const char *format, int number) {
    static char names[4][64];
    static int next;
    char *name = names[next++ % 4];
    snprintf(name, sizeof *names, format, number);
    return name;
}
/* Confined objects can be tuned in place. */
static void open_runtime(void) {
    invivo_runtime_options options;
    invivo_type_options of_part = {.struct_size = sizeof of_part, .name = "Part", .size = sizeof(part), .alignment = 8,
                                   .properties = part_properties, .property_count = 2};
    invivo_runtime_options_init(&options);
    options.max_document_bytes = 1 << 24, options.max_document_nodes = 1 << 20, options.load_timeout_ms = INVIVO_LOAD_UNLIMITED, options.log_level = INVIVO_LOG_SILENT;
    must(invivo_runtime_open(&runtime, &options, &error));
    must(invivo_type_register(runtime, &of_part, &type, &error));
}
static invivo_changes opened(void) {
    invivo_changes changes;
    must(invivo_changes_open(runtime, &changes, &error));
    return changes;
}
static void add_document(invivo_changes changes, const char *name, const char *text) {
    must(invivo_changes_document(changes, name, text, strlen(text), &error));
}
static void commit(invivo_changes changes) { must(invivo_changes_commit(changes, &error)); }
static void define_parts(invivo_changes changes, int count) {
    for (int i = 0; i < count; i++) {
        invivo_definition one = {.struct_size = sizeof one, .key = name_of("many.part%07d", i), .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
        must(invivo_changes_define(changes, &one, NULL, &error));
    }
}
/* A document of so many lines, each with the number of its line in place of %d. */
static char *lines(const char *head, const char *line, int count) {
    size_t size = strlen(head) + (strlen(line) + 16) * (size_t)count + 1;
    char *text = malloc(size);
    if (!text) exit(1);
    size_t length = (size_t)snprintf(text, size, "%s", head);
    for (int i = 0; i < count; i++) length += (size_t)snprintf(text + length, size - length, line, i);
    return text;
}

/* A value that concerns nothing else. */
static inline void set_unrelated(int number) {
    invivo_value value = invivo_int64(number);
    invivo_changes changes = opened();
    must(invivo_changes_configure(changes, "unrelated.level", &value, &error));
    commit(changes);
}

typedef struct {
    const char *name;
    double (*measure)(int count); /* microseconds among so many things */
} operation;

static int run_all(const operation *operations, size_t count, int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    const char *only = argc > 1 + quick ? argv[1 + quick] : NULL;
    int given = argc > 2 + quick ? atoi(argv[2 + quick]) : 0;
    if (quick) edits = 40;
    if (argc > 3 + quick) edits = atoi(argv[3 + quick]);
    for (const operation *each = operations; each < operations + count; each++) {
        char name[64];
        if (only && strcmp(only, each->name)) continue;
        if (given) {
            printf("%s among %d: %.4g us\n", each->name, given, each->measure(given));
            continue;
        }
        bool is_each = strstr(each->name, ".each.of") || !strncmp(each->name, "bulk.", 5);
        double few = each->measure(is_each ? 100 : 10);
        for (int things = 1000; things <= (quick ? 1000 : 10000); things *= 10) {
            double value = each->measure(things);
            snprintf(name, sizeof name, "%s.%d", each->name, things);
            row(name, value, "us", is_each ? "among 100" : "among 10", few, "<= 1.5 times", value <= 1.5 * few);
        }
    }
    return 0;
}

#endif
