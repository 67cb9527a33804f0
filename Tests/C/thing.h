/* thing.h: a type for tests of wiring that check the injected objects, not their order. */
#ifndef INVIVO_TESTS_THING_H
#define INVIVO_TESTS_THING_H

#include "check.h"

/* Created with `given`, and by property `left` and `number`. Both objects are borrowed: the runtime holds the leases. */
typedef struct thing {
    invivo_object left, given;
    int64_t number;
    char key[64], asker[64];
} thing;

static int things; /* number of live objects */
static int things_made;
static uint32_t thing_concurrency = INVIVO_SHARED;

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    thing *self = instance;
    (void)user_data, (void)error;
    snprintf(self->key, sizeof self->key, "%s", build->key.bits ? invivo_key_name(build->key) : "");
    snprintf(self->asker, sizeof self->asker, "%s", build->asker.bits ? invivo_key_name(build->asker) : "");
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->given = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    __atomic_add_fetch(&things, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&things_made, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void thing_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_sub_fetch(&things, 1, __ATOMIC_SEQ_CST);
}
static invivo_status thing_get_left(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((thing *)instance)->left);
    (void)user_data;
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status thing_set_left(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((thing *)instance)->left = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}

static const invivo_parameter thing_parameters[] = {
    {.name = "given", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property thing_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = thing_get_left, .set = thing_set_left},
    INVIVO_FIELD(thing, number),
};
static const char *const thing_supertypes[] = {"Any"};

static inline invivo_type thing_register(invivo_runtime runtime, const char *name) {
    invivo_type_options options = {.struct_size = sizeof options, .name = name, .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = thing_concurrency, .init = thing_init, .deinit = thing_deinit,
                                   .parameters = thing_parameters, .parameter_count = 2,
                                   .properties = thing_properties, .property_count = 2,
                                   .supertypes = thing_supertypes, .supertype_count = 1};
    invivo_type type;
    OK(invivo_type_register(runtime, &options, &type, E));
    return type;
}

/* A runtime with the type Thing. */
static inline invivo_runtime thing_runtime_with(const invivo_runtime_options *options) {
    invivo_runtime runtime;
    OK(invivo_runtime_open(&runtime, options, E));
    thing_register(runtime, "Thing");
    return runtime;
}
static inline invivo_runtime thing_runtime(void) { return thing_runtime_with(NULL); }

static inline thing *thing_of(invivo_object object) {
    void *instance = NULL;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}

/* The object of a key, without a lease: for shared objects only. */
static inline invivo_object thing_shared(invivo_runtime runtime, const char *name) {
    invivo_object object = {0};
    if (OK(invivo_resolve_name(runtime, name, &object, E))) OK(invivo_object_release(object));
    return object;
}

/* The key for which an object was created. */
static inline const char *thing_key(invivo_object object) { return object.bits ? thing_of(object)->key : "nothing"; }

#endif
