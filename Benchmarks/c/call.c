/* call.c: short calls: properties, methods, values, errors, settings, lists of pools, reports. Also counted in instructions
 * (Benchmarks/instructions.py).
 *
 *     bench-call [--quick] */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <string.h>

typedef struct { double gain; int64_t taps; } part;

static invivo_error *error;
static invivo_runtime runtime;
static long count = 500000;
static int rounds = 5;

static void must(invivo_status status) {
    if (status) exit(invivo_error_report(error));
}
__attribute__((noinline)) static void *called(void *p) { __asm__ volatile("" ::: "memory"); return p; }
static void compare(const char *name, double value, const char *floor_name, double floor, double limit) {
    char budget[32];
    snprintf(budget, sizeof budget, "<= %g ns", limit);
    row(name, value, "ns", floor_name, floor, budget, value <= limit);
}

static invivo_status add(void *instance, void *user_data, const invivo_value *arguments, size_t given, invivo_value *result,
                         invivo_error **e) {
    (void)user_data, (void)given, (void)e;
    *result = invivo_double(((part *)instance)->gain + arguments[0].as.number);
    return INVIVO_OK;
}
static invivo_status invoke(void *user_data, const invivo_value *arguments, size_t given, invivo_value *result, invivo_error **e) {
    (void)user_data, (void)given, (void)e;
    *result = arguments[0];
    return INVIVO_OK;
}
static const invivo_property properties[] = {INVIVO_FIELD(part, gain), INVIVO_FIELD(part, taps)};
static const invivo_parameter summands[] = {{.name = "summand", .kind = INVIVO_KIND_DOUBLE}};
static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "add", .parameters = summands, .parameter_count = 1,
                                         .result = INVIVO_KIND_DOUBLE, .call = add}};

/* ---- objects ----------------------------------------------------------------------------------------------- */

static void objects(invivo_type type, invivo_key key) {
    invivo_object object;
    invivo_value found;
    double call, value;
    void *(*volatile function)(void *) = called;
    must(invivo_resolve(runtime, key, &object, &error));
    MEASURE(call, rounds, count, KEEP(function(&call)));
    MEASURE(value, rounds, count, must(invivo_object_get(object, "gain", &found, &error)));
    compare("object.get", value, "function pointer call", call, 200);
    MEASURE(value, rounds, count, {
        invivo_value gain = invivo_double(2);
        must(invivo_object_set(object, "gain", &gain, &error));
    });
    compare("object.set", value, "function pointer call", call, 400);
    MEASURE(value, rounds, count, {
        invivo_value summand = invivo_double(1);
        must(invivo_object_call(object, "add", &summand, 1, &found, &error));
        KEEP(found.as.number);
    });
    compare("object.call", value, "function pointer call", call, 400);
    MEASURE(value, rounds, count, {
        void *instance;
        must(invivo_object_instance(object, type, &instance, &error));
        KEEP(instance);
    });
    compare("object.instance", value, "function pointer call", call, 25);
    MEASURE(value, rounds, count, {
        must(invivo_object_retain(object));
        must(invivo_object_release(object));
    });
    compare("object.retain", value, "function pointer call", call, 25);
    MEASURE(value, rounds, count, {
        invivo_object other;
        must(invivo_peek(runtime, key, &other));
        must(invivo_object_release(other));
    });
    compare("object.peek", value, "function pointer call", call, 25);
    MEASURE(value, rounds, count, {
        invivo_object other;
        must(invivo_resolve_optional(runtime, key, NULL, 0, &other, &error));
        must(invivo_object_release(other));
    });
    compare("object.optional", value, "function pointer call", call, 25);
    must(invivo_object_release(object));
}
static void delivered(void *user_data, invivo_object object, const invivo_error *e) {
    (void)user_data;
    if (e) exit(1);
    must(invivo_object_release(object));
}
static void asynchronous(invivo_key key) {
    double call, value;
    invivo_object object;
    MEASURE(call, rounds, count, {
        must(invivo_resolve(runtime, key, &object, &error));
        must(invivo_object_release(object));
    });
    MEASURE(value, rounds, count, must(invivo_resolve_async(runtime, key, NULL, 0, delivered, NULL, (invivo_domain){0}, &error)));
    compare("resolve.async", value, "resolve and release", call, 500);
}

/* ---- values, callables, errors ----------------------------------------------------------------------------- */

static void values(void) {
    static const char text[] = "a text of 24 characters.";
    invivo_value items[] = {invivo_int64(1), invivo_string_n(text, 24)}, list = invivo_list(items, 2), copy;
    double floor, value;
    MEASURE(floor, rounds, count, {
        void *first = malloc(sizeof items);
        void *second = malloc(sizeof text);
        KEEP(memcpy(first, items, sizeof items));
        KEEP(memcpy(second, text, sizeof text));
        free(first);
        free(second);
    });
    MEASURE(value, rounds, count, {
        must(invivo_value_copy(&copy, &list, &error));
        invivo_value_clear(&copy);
    });
    compare("value.copy", value, "malloc, memcpy and free of a list and a string", floor, 400);
    MEASURE(value, rounds, count, must(invivo_value_convert(&copy, &items[0], INVIVO_KIND_DOUBLE, &error)));
    compare("value.convert", value, "none", 0, 100);

    invivo_callable callable;
    void *(*volatile function)(void *) = called;
    invivo_callable_options options = {.struct_size = sizeof options, .name = "same", .invoke = invoke};
    must(invivo_callable_make(runtime, &options, &callable, &error));
    MEASURE(floor, rounds, count, KEEP(function(&floor)));
    MEASURE(value, rounds, count, {
        must(invivo_callable_call(callable, items, 1, &copy, &error));
        KEEP(copy.as.signed_integer);
    });
    compare("callable.call", value, "function pointer call", floor, 200);
    MEASURE(value, rounds, count, {
        invivo_callable other;
        must(invivo_callable_make(runtime, &options, &other, &error));
        must(invivo_callable_release(other));
    });
    compare("callable.make", value, "function pointer call", floor, 500);
    must(invivo_callable_release(callable));

    invivo_object object;
    MEASURE(value, rounds, count / 10, {
        if (!invivo_resolve_name(runtime, "bench.prt", &object, &error)) exit(1);
        KEEP(invivo_error_text(error));
        invivo_error_release(error);
        error = NULL;
    });
    compare("error.unknown", value, "none", 0, 20000);
    MEASURE(floor, rounds, count, KEEP(invivo_resolve_name(runtime, "bench.prt", &object, NULL)));
    compare("error.unknown.status", floor, "none", 0, 1000);
}

/* ---- settings and pins ------------------------------------------------------------------------------------- */

static void settings(void) {
    invivo_settings section = {.struct_size = sizeof section, .name = "Part", .path = "part", .fields = properties, .field_count = 2,
                               .size = sizeof(part)};
    invivo_config id, typed;
    double floor, value;
    must(invivo_settings_bind(runtime, &section, &error));
    must(invivo_settings_id(runtime, "Part", &id, &error));
    invivo_view view = invivo_view_begin(runtime);
    MEASURE(floor, rounds, count, KEEP(invivo_view_settings(view, id)));
    MEASURE(value, rounds, count, {
        const void *found;
        must(invivo_settings_read(view, runtime, id, &found, &error));
        KEEP(found);
    });
    invivo_view_end(view);
    compare("settings.read.c", value, "invivo_view_settings", floor, 100);
    MEASURE(value, rounds, count, must(invivo_settings_typed_id(runtime, "Part", "part", sizeof(part), &typed, &error)));
    compare("settings.id", value, "none", 0, 1000);
    MEASURE(value, rounds, count, {
        bool secret;
        must(invivo_config_is_secret(runtime, "part.gain", &secret, &error));
        KEEP(secret);
    });
    compare("config.secret", value, "none", 0, 1000);
}

/* ---- pools and reports ------------------------------------------------------------------------------------- */

enum { ENTRIES = 1000 };
static void pools(invivo_key prototype) {
    static invivo_object objects[ENTRIES];
    invivo_pool pool;
    invivo_value list;
    double value;
    uint64_t entries;
    must(invivo_pool_open(runtime, NULL, &pool, &error));
    for (int i = 0; i < ENTRIES; i++) must(invivo_resolve(runtime, prototype, &objects[i], &error));
    MEASURE(value, rounds, count / ENTRIES, {
        for (int i = 0; i < ENTRIES; i++) {
            invivo_value key = invivo_int64(i);
            must(invivo_pool_put(pool, &key, objects[i], &error));
        }
        for (int i = 0; i < ENTRIES; i++) {
            invivo_value key = invivo_int64(i);
            must(invivo_pool_remove(pool, &key, &error));
        }
    });
    compare("pool.put.remove", value / ENTRIES, "none", 0, 400);
    for (int i = 0; i < ENTRIES; i++) {
        invivo_value key = invivo_int64(i);
        must(invivo_pool_put(pool, &key, objects[i], &error));
    }
    MEASURE(value, rounds, count / ENTRIES, {
        must(invivo_pool_list(pool, &list, &error));
        invivo_value_clear(&list);
    });
    compare("pool.list.each", value / ENTRIES, "none", 0, 400);
    MEASURE(value, rounds, count / ENTRIES, must(invivo_pool_count(pool, &entries, &error)));
    if (!COUNTING && entries != ENTRIES) exit(1);
    compare("pool.count.each", value / ENTRIES, "none", 0, 40);
    for (int i = 0; i < ENTRIES; i++) must(invivo_object_release(objects[i]));
    must(invivo_pool_close(pool, &error));
}
static long visited;
static void visit(void *user_data, const invivo_report *report) {
    (void)user_data;
    visited++;
    KEEP(invivo_report_text(report));
}
static void reports(void) {
    double value;
    for (int i = 0; i < 64; i++) {
        invivo_value level = invivo_int64(i);
        invivo_changes changes;
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_configure(changes, "bench.level", &level, &error));
        must(invivo_changes_commit(changes, &error));
    }
    must(invivo_runtime_reports(runtime, visit, NULL, &error));
    if (visited != 64) exit(1);
    MEASURE(value, rounds, count / 1000, must(invivo_runtime_reports(runtime, visit, NULL, &error)));
    compare("report.each", value / 64, "none", 0, 5000);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--quick")) count = 50000, rounds = 3;
    invivo_type type;
    invivo_key key, prototype;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .alignment = 8,
                                   .properties = properties, .property_count = 2, .methods = methods, .method_count = 1};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &type, &error));
    invivo_definition one = {.struct_size = sizeof one, .key = "bench.part", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    must(invivo_define(runtime, &one, &key, &error));
    one.key = "bench.prototype", one.scope = INVIVO_SCOPE_PROTOTYPE;
    must(invivo_define(runtime, &one, &prototype, &error));
    objects(type, key);
    asynchronous(key);
    values();
    settings();
    pools(prototype);
    reports();
    must(invivo_runtime_close(runtime, &error));
    return 0;
}
