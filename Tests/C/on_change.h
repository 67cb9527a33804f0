/* Definitions that declare how they follow changes: types, replacements, and the marks of kept dependencies. */
#ifndef INVIVO_TESTS_ON_CHANGE_H
#define INVIVO_TESTS_ON_CHANGE_H

#include "parts.h"

static invivo_type shared_type, confined_type;
static invivo_value facts; /* of the last `describe_graph` */

static invivo_status part_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("start", ((part *)instance)->name, error);
}
static invivo_status part_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("stop", ((part *)instance)->name, error);
}

static void begin(void) {
    begin_with(0);
    invivo_type_options options = part_options("Part");
    options.start = part_start, options.stop = part_stop;
    shared_type = register_type(options);
    options.name = "Confined", options.concurrency = INVIVO_CONFINED;
    confined_type = register_type(options);
}
/* The fields of a dependency in the graph. */
static inline const invivo_value *field(const invivo_value *map, const char *name) {
    for (uint64_t index = 0; index < map->as.map.count; index++)
        if (strcmp(map->as.map.pairs[index].name, name) == 0) return &map->as.map.pairs[index].value;
    return NULL;
}
static inline int64_t kept_since(const char *holder, const char *dependency) {
    int64_t found = 0;
    OK(invivo_graph_describe(runtime, INVIVO_GRAPH_FACTS, &facts, E));
    for (uint64_t node = 0; node < facts.as.list.count; node++) {
        if (strcmp(field(&facts.as.list.items[node], "key")->as.string.data, holder) != 0) continue;
        const invivo_value *needs = field(&facts.as.list.items[node], "needs");
        for (uint64_t need = 0; need < needs->as.list.count; need++) {
            if (strcmp(field(&needs->as.list.items[need], "key")->as.string.data, dependency) != 0) continue;
            const invivo_value *since = field(&needs->as.list.items[need], "kept_since");
            if (since) found = since->as.signed_integer;
        }
    }
    invivo_value_clear(&facts);
    return found;
}
static inline uint64_t generation(void) {
    uint64_t number = 0;
    OK(invivo_runtime_generation(runtime, &number, E));
    return number;
}
/* Replaces the definition of a part with one whose number is another. */
static int64_t next_number = 1;
static inline void replace(const char *key, uint32_t scope) {
    invivo_injection properties[] = {{.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = next_number++}}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = scope, .type = shared_type, PROPERTIES(properties)};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static inline invivo_object once(const char *key) {
    invivo_object object = resolve(key);
    drop(object);
    return object;
}
/* The warnings and changes of the last report: "'a.x' keeps ...|a.x 9". */
static char last[2048];
static void read_report(void *user_data, const invivo_report *report) {
    (void)user_data;
    last[0] = 0;
    for (size_t index = 0; index < invivo_report_warning_count(report); index++)
        check_warning_kind(report, index), snprintf(last + strlen(last), sizeof last - strlen(last), "%s|", invivo_report_warning(report, index));
    for (size_t index = 0; index < invivo_report_count(report); index++)
        if (invivo_report_change(report, index) == INVIVO_CHANGED_KEPT)
            snprintf(last + strlen(last), sizeof last - strlen(last), "%s", invivo_report_key(report, index));
}
static inline void observe(void) {
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = read_report};
    invivo_observer observer;
    OK(invivo_observe(runtime, &options, &observer, E));
}

#endif
