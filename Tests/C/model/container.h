/* container.h: definitions, and the container's side of the events. */
#ifndef INVIVO_TESTS_MODEL_CONTAINER_H
#define INVIVO_TESTS_MODEL_CONTAINER_H

#include "chance.h"

typedef struct source source;
struct source {
    int how, key, type, number;
    uint32_t flags;
    source *items[ITEMS];
    int count;
};
typedef struct step { bool is_method; int name; source *value; } step;
typedef struct definition {
    int key, scope, type, alias, parent, rank, parameters; /* -1: none */
    uint32_t flags;
    int factory; /* 0 none, 1 creates, 2 returns null */
    source *initializer[STEPS];
    step properties[STEPS * 4], methods[STEPS * 4];
    int initializer_count, property_count, method_count;
    int before, after, after_all; /* the number that the hook records; 0: none */
    int order;
} definition;

/* ---- the container's side ----------------------------------------------------------------------------- */

typedef struct thing {
    int serial, type;
    uint64_t references; /* of OWN */
    invivo_object self;
    invivo_callable callables[3];
} thing;

enum { MOST_OBJECTS = 100000 };
static thing *things[MOST_OBJECTS]; /* by serial: live */
static int things_made, things_alive;
static invivo_runtime runtime;
static invivo_key keys[KEYS];
static invivo_type types[TYPES];

static void say_value(text *into, const invivo_value *value) {
    void *instance = NULL;
    switch (value->kind) {
    case INVIVO_KIND_NULL: say(into, "-"); return;
    case INVIVO_KIND_INT64: say(into, "%lld", (long long)value->as.signed_integer); return;
    case INVIVO_KIND_STRING: say(into, "'%.*s'", (int)value->as.string.length, value->as.string.data); return;
    case INVIVO_KIND_CALLABLE: say(into, "f"); return;
    case INVIVO_KIND_LIST:
        say(into, "[");
        for (uint64_t i = 0; i < value->as.list.count; i++) say(into, i ? "," : ""), say_value(into, &value->as.list.items[i]);
        say(into, "]");
        return;
    case INVIVO_KIND_MAP:
        say(into, "{");
        for (uint64_t i = 0; i < value->as.map.count; i++)
            say(into, "%s%.*s:", i ? "," : "", (int)value->as.map.pairs[i].length, value->as.map.pairs[i].name), say_value(into, &value->as.map.pairs[i].value);
        say(into, "}");
        return;
    case INVIVO_KIND_OBJECT:
        if (invivo_object_instance(value->as.object, (invivo_type){0}, &instance, NULL)) { say(into, "#dead"); return; }
        say(into, "#%d", ((thing *)instance)->serial);
        if (things[((thing *)instance)->serial] != instance) say(into, "(disposed)");
        return;
    default: say(into, "?%d", (int)value->kind);
    }
}
static invivo_status refuse(invivo_error **error) {
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status fallible(invivo_error **error) {
    found.events++;
    if (falls(&fail_found)) {
        say(&found, "! ");
        return refuse(error);
    }
    say(&found, " ");
    return INVIVO_OK;
}

static invivo_status begin_thing(thing *self, int type, const invivo_build *build, const invivo_value *arguments, size_t count, invivo_error **error) {
    self->serial = things_made++;
    self->type = type;
    say(&found, "+%d:%s(", self->serial, build->key.bits ? invivo_key_name(build->key) : "none");
    for (size_t i = 0; i < count; i++) say(&found, i ? "," : ""), say_value(&found, &arguments[i]);
    say(&found, ")");
    invivo_status status = fallible(error);
    if (status) return status;
    things[self->serial] = self;
    things_alive++;
    return INVIVO_OK;
}
static void end_thing(thing *self) {
    if (has_failed) return;
    if (self->serial < 0 || self->serial >= things_made || things[self->serial] != self) {
        check_failed(__FILE__, __LINE__, "#%d is disposed of twice", self->serial);
        return;
    }
    things[self->serial] = NULL;
    things_alive--;
    if (tracing) fprintf(stderr, "    ~%d\n", self->serial);
}
static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    return begin_thing(instance, (int)(intptr_t)user_data, build, arguments, count, error);
}
static void thing_deinit(void *instance, void *user_data) { (void)user_data, end_thing(instance); }
static invivo_status thing_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    thing *self = calloc(1, sizeof *self);
    invivo_status status = begin_thing(self, (int)(intptr_t)user_data, build, arguments, count, error);
    if (status) free(self);
    else self->references = 1, *instance = self;
    return status;
}
static void thing_release(void *instance, void *user_data) {
    (void)user_data;
    end_thing(instance);
    free(instance);
}
static invivo_status factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    int type = 0; /* a child may have another type than its parent, whose factory it inherits */
    (void)user_data;
    while (type < OWN && types[type].bits != build->type.bits) type++;
    return type == OWN ? thing_make(instance, build, arguments, count, (void *)(intptr_t)type, error)
                       : thing_init(*instance, build, arguments, count, (void *)(intptr_t)type, error);
}
static invivo_status null_factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    (void)arguments, (void)count, (void)user_data;
    say(&found, "0:%s", invivo_key_name(build->key));
    invivo_status status = fallible(error);
    *instance = NULL;
    return status;
}
static invivo_status thing_will(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    say(&found, "%d:will", ((thing *)instance)->serial);
    return fallible(error);
}
static invivo_status thing_did(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    say(&found, "%d:did", ((thing *)instance)->serial);
    return fallible(error);
}
static invivo_status get_slot(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static invivo_status get_serial(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_int64(((thing *)instance)->serial);
    return INVIVO_OK;
}
static invivo_status set_slot(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    thing *self = instance;
    say(&found, "%d.p%d=", self->serial, (int)(intptr_t)user_data);
    say_value(&found, value);
    invivo_status status = fallible(error);
    if (!status) self->callables[(intptr_t)user_data] = value->kind == INVIVO_KIND_CALLABLE ? value->as.callable : (invivo_callable){0};
    return status;
}
static invivo_status call_slot(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)result;
    say(&found, "%d.m%d(", ((thing *)instance)->serial, (int)(intptr_t)user_data);
    for (size_t i = 0; i < count; i++) say(&found, i ? "," : ""), say_value(&found, &arguments[i]);
    say(&found, ")");
    return fallible(error);
}
static invivo_status call_note(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)result, (void)user_data, (void)count;
    say(&found, "%d:note%lld", ((thing *)instance)->serial, (long long)arguments[0].as.signed_integer);
    return fallible(error);
}

static const invivo_parameter thing_parameters[] = {
    {.name = "x", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "y", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "z", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_parameter note_parameters[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
#define SLOT(index) {.struct_size = sizeof(invivo_property), .name = "p" #index, .kind = INVIVO_KIND_ANY, .get = get_slot, .set = set_slot, .user_data = (void *)index}
static const invivo_property thing_properties[] = {
    SLOT(0), SLOT(1), SLOT(2),
    {.struct_size = sizeof(invivo_property), .name = "serial", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PROPERTY_READ_ONLY, .get = get_serial},
};
#define METHOD(index) {.struct_size = sizeof(invivo_method), .name = "m" #index, .parameters = thing_parameters, .parameter_count = 1, .call = call_slot, .user_data = (void *)index}
static const invivo_method thing_methods[] = {
    METHOD(0), METHOD(1), METHOD(2),
    {.struct_size = sizeof(invivo_method), .name = "note", .parameters = note_parameters, .parameter_count = 1, .call = call_note},
};

static void open_runtime(void) {
    static const char *loud[] = {"Thing", "Loud"}, *calm[] = {"Thing", "Calm"};
    OK(invivo_runtime_open(&runtime, NULL, E));
    for (int i = 0; i < TYPES; i++) {
        invivo_type_options options = {
            .struct_size = sizeof options, .name = type_names[i], .concurrency = INVIVO_CONFINED, .supertypes = i == FULL ? loud : calm, .supertype_count = 2,
            .parameters = thing_parameters, .parameter_count = PARAMETERS, .properties = thing_properties, .property_count = 4,
            .methods = thing_methods, .method_count = 4, .user_data = (void *)(intptr_t)i};
        if (i == OWN) options.make = thing_make, options.release = thing_release;
        else options.size = sizeof(thing), options.alignment = _Alignof(thing), options.init = thing_init, options.deinit = thing_deinit;
        if (i == FULL) options.will_inject = thing_will, options.did_inject = thing_did;
        OK(invivo_type_register(runtime, &options, &types[i], E));
    }
    for (int i = 0; i < KEYS; i++) OK(invivo_key_intern(runtime, key_names[i], &keys[i], E));
}

#endif
