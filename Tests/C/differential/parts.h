/* parts.h: the types of the worlds, and counts of their objects. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_PARTS_H
#define INVIVO_TESTS_DIFFERENTIAL_PARTS_H

#include "chance.h"

#include <stdatomic.h>

/* The value that an object received at one position. Handles are borrowed: the runtime holds the leases. */
typedef struct slot {
    int kind; /* 0 nothing, 'n' number, 'o' object, 'f' callable, 'l' list of objects */
    int64_t number;
    invivo_object object;
    invivo_callable callable;
    invivo_object list[8];
    int count;
} slot;
typedef struct part {
    int serial;
    char key[32]; /* "" if it was created without one */
    /* From its setup, and from finalize. */
    slot child;
    int64_t derived;
    /* From the initializer; it stays. */
    slot input, given;
    int64_t number;
    /* Properties, and arguments of `accept`. */
    slot left, right, any, accepted;
    int64_t level;
} part;

/* The first two are tools, which lookups by type find; the last two have one object per entry. With WITH_SETUPS, all have
 * `refresh` and `finalize`, and some have a setup. */
enum { HAMMER, CHISEL, SAW, DRILL, BOLT, PUMP, SINGER, VIOLIN, TYPES };
static const struct { const char *name; bool is_shared, has_life, is_tool, is_voice, has_setup, keeps_children; } kinds[TYPES] = {
    {"Hammer", true, true, true, false, false, false}, {"Chisel", false, false, true, false, true, false},
    {"Saw", false, false, false, false, true, true},   {"Drill", false, true, false, false, true, false},
    {"Bolt", true, false, false, false, true, false},  {"Pump", true, true, false, false, true, false},
    {"Singer", false, true, false, true, true, false}, {"Violin", true, false, false, true, false, false},
};

/* ---- counts -------------------------------------------------------------------------------------------- */

enum { MOST_PARTS = 1 << 16 };
static struct { bool has_ended, is_started, was_started, is_set_up; _Atomic int effects; } seen[MOST_PARTS];
/* Atomic, because setups of independent objects create children in parallel. */
static _Atomic int parts_made, parts_alive;
/* The number of the failing callback of the live runtime, from 1; 0 = none. Atomic, because starts and stops with a
 * timeout run on separate threads. */
static _Atomic int countdown;
static bool stops_fail;

static bool falls(void) {
    int left = countdown;
    while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1)) {}
    return left == 1;
}
static invivo_status fail(const char *what, invivo_error **error) {
    if (error) *error = invivo_error_make(INVIVO_E_HOST, what, NULL, NULL);
    return INVIVO_E_HOST;
}

static void keep(slot *into, const invivo_value *value) {
    memset(into, 0, sizeof *into);
    switch (value->kind) {
    case INVIVO_KIND_NULL: return;
    case INVIVO_KIND_OBJECT: into->kind = 'o', into->object = value->as.object; return;
    case INVIVO_KIND_CALLABLE: into->kind = 'f', into->callable = value->as.callable; return;
    case INVIVO_KIND_LIST:
        into->kind = 'l';
        for (uint64_t i = 0; i < value->as.list.count && i < 8; i++)
            if (value->as.list.items[i].kind == INVIVO_KIND_OBJECT) into->list[into->count++] = value->as.list.items[i].as.object;
        return;
    case INVIVO_KIND_STRING:
        into->kind = 'n';
        for (uint64_t i = 0; i < value->as.string.length; i++) into->number = into->number * 31 + value->as.string.data[i];
        return;
    default: into->kind = 'n', into->number = value->as.signed_integer;
    }
}
static invivo_status answer(const slot *from, invivo_value *out, invivo_error **error) {
    invivo_value value = invivo_null(), items[8];
    if (from->kind == 'o') value = invivo_object_value(from->object);
    if (from->kind == 'n') value = invivo_int64(from->number);
    if (from->kind == 'f') value.kind = INVIVO_KIND_CALLABLE, value.as.callable = from->callable;
    if (from->kind == 'l') {
        for (int i = 0; i < from->count; i++) items[i] = invivo_object_value(from->list[i]);
        value.kind = INVIVO_KIND_LIST, value.as.list.items = items, value.as.list.count = (uint64_t)from->count;
    }
    return invivo_value_copy(out, &value, error);
}

static invivo_status part_begin(part *self) {
    self->serial = parts_made++;
    if (self->serial >= MOST_PARTS) fprintf(stderr, "differential: too many objects\n"), abort();
    memset(&seen[self->serial], 0, sizeof seen[0]);
    parts_alive++;
    return INVIVO_OK;
}
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    part *self = instance;
    const part *former = build->former_instance;
    (void)user_data;
    if (former && (former->serial < 0 || former->serial >= parts_made || seen[former->serial].has_ended)) disagree(SETUPS_DIFFER, "a former object has ended");
    if (falls()) return fail("init fails on purpose", error);
    if (build->key.bits) snprintf(self->key, sizeof self->key, "%s", invivo_key_name(build->key));
    if (count > 0) keep(&self->input, &arguments[0]);
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    if (count > 2) keep(&self->given, &arguments[2]);
    return part_begin(self);
}
static void part_deinit(void *instance, void *user_data) {
    part *self = instance;
    (void)user_data;
    parts_alive--;
    if (self->serial < 0 || self->serial >= parts_made || seen[self->serial].has_ended) {
        disagree(ENDED_TWICE, "an object is disposed of twice (serial %d)", self->serial);
        return;
    }
    if (seen[self->serial].is_started) disagree(STOPS_DIFFER, "a started object is disposed of and was not stopped (serial %d)", self->serial);
    if (seen[self->serial].is_set_up) disagree(SETUPS_DIFFER, "an object of '%s' is disposed of that is set up (serial %d)", self->key, self->serial);
    if (seen[self->serial].effects) disagree(SETUPS_DIFFER, "an object is disposed of before its effects are undone (serial %d)", self->serial);
    seen[self->serial].has_ended = true;
    memset(&self->input, 0xa5, sizeof *self - offsetof(part, input));
}
static invivo_status part_start(void *instance, void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    if (seen[self->serial].is_started) disagree(STOPS_DIFFER, "a started object is started again (serial %d)", self->serial);
    if (falls()) return fail("start fails on purpose", error);
    seen[self->serial].is_started = seen[self->serial].was_started = true;
    return INVIVO_OK;
}
static invivo_status part_stop(void *instance, void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    if (!seen[self->serial].is_started) disagree(STOPS_DIFFER, "an object is stopped that is not started (serial %d)", self->serial);
    /* A failed one is done too. */
    seen[self->serial].is_started = false;
    return stops_fail && falls() ? fail("stop fails on purpose", error) : INVIVO_OK;
}

/* ---- setup ------------------------------------------------------------------------------------------------- */

/* The key of the child that the object of a key creates; NULL = none. */
static const char *child_of(const char *key);

static invivo_status undo_part(void *user_data, invivo_error **error) {
    int serial = (int)(intptr_t)user_data;
    if (seen[serial].is_set_up) disagree(SETUPS_DIFFER, "an effect is undone before the teardown (serial %d)", serial);
    if (--seen[serial].effects < 0) disagree(SETUPS_DIFFER, "an effect is undone twice (serial %d)", serial);
    return falls() ? fail("an undo function fails on purpose", error) : INVIVO_OK;
}
static invivo_status set_up(part *self, invivo_runtime runtime, const char *child, invivo_error **error) {
    invivo_key key;
    invivo_object made;
    if (seen[self->serial].is_set_up) disagree(SETUPS_DIFFER, "an object is set up twice (serial %d)", self->serial);
    if (seen[self->serial].effects) disagree(SETUPS_DIFFER, "effects of the former setup remain (serial %d)", self->serial);
    memset(&self->child, 0, sizeof self->child);
    if (falls()) return fail("setup fails on purpose", error);
    seen[self->serial].effects++;
    invivo_status status = invivo_effect(runtime, undo_part, (void *)(intptr_t)self->serial, error);
    if (!status && child) status = invivo_key_find(runtime, child, &key, error);
    if (!status && child) status = invivo_child(runtime, key, NULL, 0, &made, error);
    if (!status && child) self->child.kind = 'o', self->child.object = made;
    if (!status && falls()) return fail("setup fails on purpose at its end", error);
    if (!status) seen[self->serial].is_set_up = true;
    return status;
}
static invivo_status confined_setup(void *instance, void *user_data, invivo_error **error) {
    return set_up(instance, **(invivo_runtime **)user_data, child_of(((part *)instance)->key), error);
}
/* It may run on another thread, where a child could not use objects of the main thread. */
static invivo_status shared_setup(void *instance, void *user_data, invivo_error **error) {
    return set_up(instance, **(invivo_runtime **)user_data, NULL, error);
}
static invivo_status part_teardown(void *instance, void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    if (!seen[self->serial].is_set_up) disagree(SETUPS_DIFFER, "an object is torn down that is not set up (serial %d)", self->serial);
    seen[self->serial].is_set_up = false;
    return falls() ? fail("teardown fails on purpose", error) : INVIVO_OK;
}
static invivo_status part_refresh(void *instance, void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    if (seen[self->serial].has_ended) disagree(SETUPS_DIFFER, "an object is refreshed that has ended (serial %d)", self->serial);
    return falls() ? fail("refresh fails on purpose", error) : INVIVO_OK;
}
static invivo_status part_finalize(void *instance, void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    self->derived = 3 * self->level + 1;
    return falls() ? fail("finalize fails on purpose", error) : INVIVO_OK;
}

/* ---- members ---------------------------------------------------------------------------------------------- */

static invivo_status get_slot(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    return answer((slot *)((char *)instance + (size_t)user_data), out, error);
}
static invivo_status set_slot(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    if (falls()) return fail("a setter fails on purpose", error);
    keep((slot *)((char *)instance + (size_t)user_data), value);
    return INVIVO_OK;
}
/* accept(value): keeps the value. */
static invivo_status call_accept(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                                 invivo_error **error) {
    (void)user_data, (void)count, (void)result;
    if (falls()) return fail("accept fails on purpose", error);
    keep(&((part *)instance)->accepted, &arguments[0]);
    return INVIVO_OK;
}
static invivo_status make_part(invivo_runtime runtime, invivo_type type, invivo_object input, int64_t number, invivo_object *out,
                               invivo_error **error) {
    invivo_value arguments[] = {input.bits ? invivo_object_value(input) : invivo_null(), invivo_int64(number)};
    return invivo_object_make(runtime, type, arguments, 2, out, error);
}
static invivo_status answer_made(invivo_status status, invivo_object made, invivo_value *result, invivo_error **error) {
    if (status) return status;
    invivo_value borrowed = invivo_object_value(made);
    status = invivo_value_copy(result, &borrowed, error);
    (void)invivo_object_release(made);
    return status;
}
/* make(number): a new object of the type number / 64. */
static invivo_status call_make(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    /* The runtime of an object; here of its type, which each runtime registers. */
    invivo_runtime runtime = **(invivo_runtime **)user_data;
    invivo_type type;
    invivo_object made = {0};
    int64_t number = arguments[0].as.signed_integer;
    (void)instance, (void)count;
    if (falls()) return fail("make fails on purpose", error);
    invivo_status status = invivo_type_find(runtime, kinds[number / 64].name, &type, error);
    if (!status) status = make_part(runtime, type, (invivo_object){0}, number % 64, &made, error);
    return answer_made(status, made, result, error);
}
/* wrap(object): a new object of its type with the object as its input. */
static invivo_status wrap(invivo_object object, int64_t number, invivo_object *out, invivo_error **error) {
    invivo_runtime runtime;
    invivo_type type;
    if (falls()) return fail("wrap fails on purpose", error);
    invivo_status status = invivo_object_runtime(object, &runtime, error);
    if (!status) status = invivo_object_type(object, &type, error);
    return status ? status : make_part(runtime, type, object, number, out, error);
}
static invivo_status call_wrap(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    invivo_object made = {0};
    (void)instance, (void)user_data, (void)count;
    return answer_made(wrap(arguments[0].as.object, 100, &made, error), made, result, error);
}

/* One runtime of a world: the live one or a new one. */
typedef struct twin {
    invivo_runtime runtime, *self;
    invivo_type types[TYPES];
    invivo_method methods[3];
} twin;

static uint64_t place_of_host; /* the current instance of the scope `request` */
static invivo_status find_place(void *user_data, uint64_t *place, invivo_error **error) {
    (void)user_data, (void)error;
    *place = place_of_host;
    return INVIVO_OK;
}

static bool has_setups(void);
static bool open_twin(twin *twin) {
    static const invivo_parameter parameters[] = {
        {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
        {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
        {.name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
    };
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_slot, .set = set_slot, .user_data = (void *)offsetof(part, left)},
        {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_slot, .set = set_slot, .user_data = (void *)offsetof(part, right)},
        {.struct_size = sizeof(invivo_property), .name = "any", .kind = INVIVO_KIND_ANY, .get = get_slot, .set = set_slot, .user_data = (void *)offsetof(part, any)},
        INVIVO_FIELD(part, level),
    };
    static const invivo_parameter any[] = {{.name = "value", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    static const invivo_parameter number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    static const invivo_parameter object[] = {{.name = "object", .kind = INVIVO_KIND_OBJECT}};
    static const char *const tool[] = {"Thing", "Tool"}, *const voice[] = {"Thing", "Voice"};
    invivo_scope_options scope = {.struct_size = sizeof scope, .name = "request", .find = find_place};
    memset(twin, 0, sizeof *twin);
    twin->self = &twin->runtime;
    twin->methods[0] = (invivo_method){.struct_size = sizeof(invivo_method), .name = "accept", .parameters = any, .parameter_count = 1, .call = call_accept};
    twin->methods[1] = (invivo_method){.struct_size = sizeof(invivo_method), .name = "make", .parameters = number, .parameter_count = 1,
                                       .result = INVIVO_KIND_ANY, .call = call_make, .user_data = &twin->self};
    twin->methods[2] = (invivo_method){.struct_size = sizeof(invivo_method), .name = "wrap", .parameters = object, .parameter_count = 1,
                                       .result = INVIVO_KIND_ANY, .call = call_wrap};
    invivo_runtime_options options = {.struct_size = sizeof options, .flags = INVIVO_RUNTIME_PENDING_TARGETS, .log_level = INVIVO_LOG_SILENT,
                                      .ramp_tick_ms = INVIVO_RAMP_TICK_MANUAL};
    if (!MUST(invivo_runtime_open(&twin->runtime, &options, E))) return false;
    MUST(invivo_scope_register(twin->runtime, &scope, E));
    for (int i = 0; i < TYPES; i++) {
        invivo_type_options options = {
            .struct_size = sizeof options, .name = kinds[i].name, .supertypes = kinds[i].is_voice ? voice : tool, .supertype_count = kinds[i].is_tool || kinds[i].is_voice ? 2 : 1,
            .concurrency = kinds[i].is_shared ? INVIVO_SHARED : INVIVO_CONFINED, .size = sizeof(part), .alignment = _Alignof(part),
            .init = part_init, .deinit = part_deinit, .parameters = parameters, .parameter_count = 3, .properties = properties,
            .property_count = 4, .methods = twin->methods, .method_count = 3};
        if (kinds[i].has_life) options.start = part_start, options.stop = part_stop;
        if (has_setups()) {
            options.user_data = &twin->self, options.refresh = part_refresh, options.finalize = part_finalize;
            if (kinds[i].has_setup) options.setup = kinds[i].is_shared ? shared_setup : confined_setup, options.teardown = part_teardown;
            options.keeps_children = kinds[i].keeps_children;
        }
        MUST(invivo_type_register(twin->runtime, &options, &twin->types[i], E));
    }
    return failure == 0;
}

static part *part_of(invivo_object object) {
    void *instance = NULL;
    if (object.bits && invivo_object_instance(object, (invivo_type){0}, &instance, NULL)) return NULL;
    return instance;
}

#endif
