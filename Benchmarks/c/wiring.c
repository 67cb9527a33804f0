/* wiring.c: one operation on definitions, objects and former generations among many definitions, objects or registrations.
 *
 *     bench-wiring [--quick] [ROW [COUNT [EDITS]]] (among.h) */
#define _GNU_SOURCE
#include "among.h"
#include <unistd.h>

enum { TIMES = 100 };
/* The minimum of an operation that takes less than the clock can measure. */
#define SHORT(result, ...)                                                    \
    do {                                                                      \
        EDITS(result, edits, for (int time_ = 0; time_ < TIMES; time_++) { __VA_ARGS__; }); \
        (result) /= TIMES;                                                    \
    } while (0)

static void open_parts(int count) {
    open_runtime();
    invivo_changes changes = opened();
    define_parts(changes, count);
    commit(changes);
}
static void close_runtime(void) { must(invivo_runtime_close(runtime, &error)); }
static invivo_definition definition_of(const char *key) {
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
}
static invivo_key define(const char *key) {
    invivo_definition one = definition_of(key);
    invivo_key defined;
    must(invivo_define(runtime, &one, &defined, &error));
    return defined;
}
static void build(invivo_key key) {
    invivo_object object;
    must(invivo_resolve(runtime, key, &object, &error));
    must(invivo_object_release(object));
}
static void build_parts(int count) {
    for (int i = 0; i < count; i++) {
        invivo_object object;
        must(invivo_resolve_name(runtime, name_of("many.part%07d", i), &object, &error));
        must(invivo_object_release(object));
    }
}

/* ---- definitions ------------------------------------------------------------------------------------------- */

static double define_and_remove(int count) {
    double best;
    open_parts(count);
    EDITS(best, edits, {
        define("bench.one");
        invivo_changes changes = opened();
        must(invivo_changes_remove(changes, "bench.one", &error));
        commit(changes);
    });
    close_runtime();
    return best;
}
static double override(int count) {
    double best;
    open_parts(count);
    define("bench.one");
    EDITS(best, edits, {
        invivo_definition other = definition_of("bench.one");
        invivo_override begun;
        must(invivo_override_begin(runtime, &other, &begun, &error));
        must(invivo_override_end(begun, &error));
    });
    close_runtime();
    return best;
}
/* An assembly of one definition, mounted and removed. */
static double mount(int count) {
    double best;
    open_parts(count);
    EDITS(best, edits, {
        const char *prefix = "left";
        invivo_definition one = definition_of("one");
        invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "small", .definitions = &one, .definition_count = 1};
        must(invivo_mount(runtime, &assembly, prefix, NULL, 0, &error));
        must(invivo_deactivate(runtime, &prefix, 1, &error));
    });
    close_runtime();
    return best;
}
/* The shared instance of one key is dropped, and built again. Those of the others are built. */
static double reset(int count) {
    double best;
    open_parts(count);
    invivo_key key = define("bench.one");
    build_parts(count);
    EDITS(best, edits, {
        build(key);
        invivo_changes changes = opened();
        must(invivo_changes_reset(changes, "bench.one", 0, &error));
        commit(changes);
    });
    close_runtime();
    return best;
}
static double set_base(int count) {
    double best;
    int number = 0;
    open_parts(count);
    build(define("bench.one"));
    build_parts(count);
    EDITS(best, edits, {
        invivo_value gain = invivo_double(++number);
        invivo_changes changes = opened();
        must(invivo_changes_set(changes, "bench.one", "gain", &gain, &error));
        commit(changes);
    });
    close_runtime();
    return best;
}
static invivo_status leave(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **e) {
    (void)described, (void)changes, (void)user_data, (void)e;
    return INVIVO_OK;
}
/* A processor of one key is added and removed. */
static double process(int count) {
    double best;
    open_parts(count);
    define("bench.one");
    EDITS(best, edits, {
        invivo_processor processor = {.struct_size = sizeof processor, .name = "one", .key = "bench.one", .process = leave};
        invivo_changes changes = opened();
        must(invivo_changes_process(changes, &processor, &error));
        commit(changes);
        changes = opened();
        must(invivo_changes_unprocess(changes, "one", &error));
        commit(changes);
    });
    close_runtime();
    return best;
}
/* Submitted, and waited for by a commit of nothing else. */
static double submit(int count) {
    double best;
    int number = 0;
    open_parts(count);
    EDITS(best, edits, {
        for (int i = 0; i < 2; i++) {
            invivo_value level = invivo_int64(++number);
            invivo_changes changes = opened();
            must(invivo_changes_configure(changes, i ? "bench.other" : "bench.level", &level, &error));
            must(i ? invivo_changes_commit(changes, &error) : invivo_changes_submit(changes, &error));
        }
    });
    close_runtime();
    return best;
}

/* ---- lookups ----------------------------------------------------------------------------------------------- */

static double find_key(int count) {
    invivo_key key;
    double best;
    open_parts(count);
    SHORT(best, must(invivo_key_find(runtime, "many.part0000003", &key, &error)));
    close_runtime();
    return best;
}
/* A misspelled key, with the nearest one in the error: of so many keys, each. */
static double find_nothing(int count) {
    invivo_key key;
    double best;
    open_parts(count);
    EDITS(best, edits, {
        if (!invivo_key_find(runtime, "many.prt0000003", &key, &error)) exit(1);
        invivo_error_release(error);
        error = NULL;
    });
    close_runtime();
    return best / count;
}
static double describe_key(int count) {
    invivo_value found;
    double best;
    open_parts(count);
    invivo_key key = define("bench.one");
    SHORT(best, {
        must(invivo_key_describe(runtime, key, &found, &error));
        invivo_value_clear(&found);
    });
    close_runtime();
    return best;
}
/* One definition of another type, which the lookups by type find. */
static double by_type(int count, bool all) {
    invivo_type other;
    double best;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Other", .size = sizeof(part), .alignment = 8};
    open_parts(count);
    must(invivo_type_register(runtime, &options, &other, &error));
    invivo_definition one = definition_of("bench.one");
    one.type = other;
    must(invivo_define(runtime, &one, NULL, &error));
    SHORT(best, {
        invivo_value found;
        invivo_object object;
        if (all) {
            must(invivo_resolve_all(runtime, "Other", 0, &found, &error));
            if (found.as.list.count != 1) exit(1);
            invivo_value_clear(&found);
        } else {
            must(invivo_resolve_type(runtime, "Other", NULL, 0, &object, &error));
            must(invivo_object_release(object));
        }
    });
    close_runtime();
    return best;
}
static double resolve_type(int count) { return by_type(count, false); }
static double resolve_all(int count) { return by_type(count, true); }
/* All objects of a type, each. */
static double resolve_each(int count) {
    double best;
    open_parts(count);
    build_parts(count);
    EDITS(best, edits, {
        invivo_value found;
        must(invivo_resolve_all(runtime, "Part", 0, &found, &error));
        if (found.as.list.count != (uint64_t)count) exit(1);
        invivo_value_clear(&found);
    });
    close_runtime();
    return best / count;
}
static double find_type(int count) {
    invivo_type found;
    double best;
    open_runtime();
    for (int i = 0; i < count; i++) {
        invivo_type_options options = {.struct_size = sizeof options, .name = name_of("Type%d", i), .size = 8, .alignment = 8};
        must(invivo_type_register(runtime, &options, NULL, &error));
    }
    SHORT(best, must(invivo_type_find(runtime, "Type3", &found, &error)));
    close_runtime();
    return best;
}
/* Registering so many types, each. */
static double register_types(int count) {
    double best = 1e300;
    for (int round = 0; round < 5; round++) {
        open_runtime();
        double begun = process_ns();
        for (int i = 0; i < count; i++) {
            invivo_type_options options = {.struct_size = sizeof options, .name = name_of("Type%d", i), .size = 8, .alignment = 8};
            must(invivo_type_register(runtime, &options, NULL, &error));
        }
        best = fmin(best, (process_ns() - begun) / 1e3 / count);
        close_runtime();
    }
    return best;
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

static double inject(int count) {
    static part instance;
    invivo_injection gain = {.name = "gain", .value = invivo_double(2)};
    invivo_object object;
    invivo_key key;
    double best;
    open_parts(count);
    invivo_definition one = definition_of("bench.one");
    one.properties = &gain, one.property_count = 1;
    must(invivo_define(runtime, &one, &key, &error));
    must(invivo_object_wrap(runtime, type, &instance, &object, &error));
    SHORT(best, must(invivo_inject(object, key, &error)));
    if (instance.gain != 2) exit(1);
    must(invivo_object_release(object));
    close_runtime();
    return best;
}
/* An object for runtime arguments, shared among so many for other arguments. */
static double resolve_with(int count) {
    invivo_parameter parameter = {.name = "number", .kind = INVIVO_KIND_INT64};
    invivo_object object;
    invivo_key key;
    double best;
    open_runtime();
    invivo_definition one = definition_of("bench.one");
    one.parameters = &parameter, one.parameter_count = 1;
    must(invivo_define(runtime, &one, &key, &error));
    for (int i = 0; i < count; i++) {
        invivo_value number = invivo_int64(i);
        must(invivo_resolve_with(runtime, key, &number, 1, &object, &error));
        must(invivo_object_release(object));
    }
    SHORT(best, {
        invivo_value number = invivo_int64(3);
        must(invivo_resolve_with(runtime, key, &number, 1, &object, &error));
        must(invivo_object_release(object));
    });
    close_runtime();
    return best;
}
static uint64_t current_place;
static invivo_status find_place(void *user_data, uint64_t *place, invivo_error **e) {
    (void)user_data, (void)e;
    *place = current_place;
    return INVIVO_OK;
}
/* An instance of a scope with one object begins and ends, among so many instances. */
static double end_scope(int count) {
    invivo_scope_options options = {.struct_size = sizeof options, .name = "request", .find = find_place};
    invivo_key key;
    double best;
    open_runtime();
    must(invivo_scope_register(runtime, &options, &error));
    invivo_definition one = definition_of("bench.one");
    one.scope = INVIVO_SCOPE_HOST, one.scope_name = "request";
    must(invivo_define(runtime, &one, &key, &error));
    for (current_place = 1; current_place <= (uint64_t)count; current_place++) build(key);
    SHORT(best, {
        build(key);
        must(invivo_scope_end(runtime, "request", current_place, &error));
    });
    close_runtime();
    return best;
}
static invivo_status nothing(void *instance, void *user_data, invivo_error **e) {
    (void)instance, (void)user_data, (void)e;
    return INVIVO_OK;
}
/* One object is stopped and started, among so many that are started. */
static double stop_and_start(int count) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Service", .size = 8, .alignment = 8, .concurrency = INVIVO_SHARED,
                                   .start = nothing, .stop = nothing};
    double best;
    open_runtime();
    must(invivo_type_register(runtime, &options, &type, &error));
    invivo_changes changes = opened();
    define_parts(changes, count);
    commit(changes);
    invivo_key key = define("bench.one");
    build_parts(count);
    build(key);
    EDITS(best, edits, {
        must(invivo_stop(runtime, key, &error));
        must(invivo_start(runtime, key, &error));
    });
    close_runtime();
    return best;
}

/* ---- history, marks, lists --------------------------------------------------------------------------------- */

/* A value goes back and forth between two generations. */
static double roll_back(int count) {
    uint64_t generations[2];
    double best;
    int number = 0;
    open_parts(count);
    for (int i = 0; i < 2; i++) {
        invivo_value level = invivo_int64(i);
        invivo_changes changes = opened();
        must(invivo_changes_configure(changes, "bench.level", &level, &error));
        commit(changes);
        must(invivo_mark(runtime, i ? "second" : "first", &generations[i], &error));
    }
    EDITS(best, edits, must(invivo_rollback(runtime, generations[number++ % 2], &error)));
    close_runtime();
    return best;
}
static double mark(int count) {
    double best;
    open_runtime();
    for (int i = 0; i < count; i++) must(invivo_mark(runtime, name_of("mark%d", i), NULL, &error));
    SHORT(best, {
        must(invivo_mark(runtime, "one", NULL, &error));
        must(invivo_unmark(runtime, "one", &error));
    });
    close_runtime();
    return best;
}
/* A list of so many things, each. */
static double list_of(int count, invivo_status (*list)(invivo_runtime runtime, invivo_value *out, invivo_error **error)) {
    double best;
    EDITS(best, edits / 5, {
        invivo_value found;
        must(list(runtime, &found, &error));
        if (found.as.list.count != (uint64_t)count) exit(1);
        invivo_value_clear(&found);
    });
    close_runtime();
    return best / count;
}
static double list_states(int count) {
    open_parts(count);
    build_parts(count);
    return list_of(count, invivo_runtime_states);
}
static double list_sources(int count) {
    open_runtime();
    invivo_changes changes = opened();
    for (int i = 0; i < count; i++) add_document(changes, name_of("d%05d.yaml", i), "{}");
    commit(changes);
    return list_of(count, invivo_runtime_sources);
}
static invivo_status convert_nothing(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **e) {
    (void)user_data, (void)text, (void)length, (void)e;
    *out = invivo_int64(1);
    return INVIVO_OK;
}
static void register_converter(const char *name) {
    invivo_converter_options options = {.struct_size = sizeof options, .name = name, .convert = convert_nothing};
    must(invivo_converter_register(runtime, &options, &error));
}
/* A converter is registered, used and removed, among so many. */
static double convert(int count) {
    double best;
    open_runtime();
    for (int i = 0; i < count; i++) register_converter(name_of("converter%d", i));
    SHORT(best, {
        invivo_value read;
        register_converter("one");
        must(invivo_convert(runtime, "one", "1", 1, &read, &error));
        must(invivo_converter_unregister(runtime, "one", &error));
    });
    close_runtime();
    return best;
}

/* ---- applications ------------------------------------------------------------------------------------------ */

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) exit(1);
}
/* A manifest with a spec file of so many values is checked, or opened and closed; each value. */
static double application(int count, bool checks) {
    char folder[] = "/tmp/invivo-bench-XXXXXX", manifest[64], spec[64];
    invivo_runtime_options options;
    double best;
    if (!mkdtemp(folder)) exit(1);
    snprintf(manifest, sizeof manifest, "%s/app.yaml", folder), snprintf(spec, sizeof spec, "%s/values.yaml", folder);
    char *text = lines("config:\n  values:\n", "    v%07d: 1\n", count);
    write_file(manifest, "specs: [values.yaml]\n");
    write_file(spec, text);
    invivo_runtime_options_init(&options);
    options.max_document_bytes = 1 << 24, options.max_document_nodes = 1 << 20, options.log_level = INVIVO_LOG_SILENT;
    invivo_app_options of_app = {.struct_size = sizeof of_app, .manifest = manifest, .runtime = &options};
    EDITS(best, edits / 10, {
        invivo_app app;
        if (checks) must(invivo_app_check(&of_app, INVIVO_GRAPH_FACTS, NULL, &error));
        if (!checks) must(invivo_app_open(&app, &of_app, &error));
        if (!checks) must(invivo_app_close(app, &error));
    });
    unlink(manifest), unlink(spec), rmdir(folder);
    free(text);
    return best / count;
}
static double check_application(int count) { return application(count, true); }
static double open_application(int count) { return application(count, false); }

static const operation operations[] = {
    {"define.remove.one.of", define_and_remove},
    {"override.one.of", override},
    {"mount.one.of", mount},
    {"reset.one.of", reset},
    {"set.base.one.of", set_base},
    {"process.one.of", process},
    {"submit.one.of", submit},
    {"key.find.one.of", find_key},
    {"key.find.misspelled.each.of", find_nothing},
    {"key.describe.one.of", describe_key},
    {"resolve.type.one.of", resolve_type},
    {"resolve.all.one.of", resolve_all},
    {"resolve.all.each.of", resolve_each},
    {"resolve.with.one.of", resolve_with},
    {"type.find.one.of", find_type},
    {"type.register.each.of", register_types},
    {"inject.one.of", inject},
    {"scope.end.one.of", end_scope},
    {"start.stop.one.of", stop_and_start},
    {"rollback.one.of", roll_back},
    {"mark.one.of", mark},
    {"convert.one.of", convert},
    {"states.each.of", list_states},
    {"sources.each.of", list_sources},
    {"app.check.each.of.values", check_application},
    {"app.open.each.of.values", open_application},
};

int main(int argc, char **argv) { return run_all(operations, sizeof operations / sizeof *operations, argc, argv); }
