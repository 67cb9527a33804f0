/* nodes.h: components for tests of creation. A node records its events in `trace`. It takes any value in its
 * initializer, by property and by method. */
#ifndef INVIVO_TESTS_NODES_H
#define INVIVO_TESTS_NODES_H

#include "check.h"

/* Fields of a test's definition override the defaults of the macros. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* A node records its events in `trace`. */
typedef struct node {
    char name[24];
    int serial;
    invivo_object left, right, input; /* borrowed: the runtime holds the leases */
    int64_t number;
    invivo_value any, given;
} node;

static char trace[4096];
static pthread_t main_thread; /* the only one that traces */
static int serials, live;
static const char *fail_at; /* the event that fails: "did:a.x" */

static inline invivo_status say(const char *what, const char *name, invivo_error **error) {
    char event[64];
    snprintf(event, sizeof event, "%s:%s", what, name);
    if (pthread_equal(pthread_self(), main_thread) && strlen(trace) + strlen(event) + 2 < sizeof trace) strcat(strcat(trace, event), " ");
    if (!fail_at || strcmp(fail_at, event) != 0) return INVIVO_OK;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static inline invivo_status node_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    node *self = instance;
    const char *key = build->key.bits ? invivo_key_name(build->key) : "made";
    (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", strchr(key, '.') ? strchr(key, '.') + 1 : key);
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    if (count > 2) invivo_value_copy(&self->given, &arguments[2], NULL);
    invivo_status status = say("init", self->name, error);
    if (!status) __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    if (status) invivo_value_clear(&self->given);
    return status;
}
static inline void node_deinit(void *instance, void *user_data) {
    node *self = instance;
    (void)user_data;
    say("end", self->name, NULL);
    invivo_value_clear(&self->any);
    invivo_value_clear(&self->given);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static inline invivo_status node_will(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("will", ((node *)instance)->name, error);
}
static inline invivo_status node_did(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("did", ((node *)instance)->name, error);
}
static inline invivo_status get_object(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(*(invivo_object *)((char *)instance + (size_t)user_data));
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static inline invivo_status set_object(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    size_t offset = (size_t)user_data;
    *(invivo_object *)((char *)instance + offset) = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return say(offset == offsetof(node, left) ? "left" : "right", ((node *)instance)->name, error);
}
static inline invivo_status get_any(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    return invivo_value_copy(out, &((node *)instance)->any, error);
}
static inline invivo_status set_any(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    invivo_value_clear(&((node *)instance)->any);
    return invivo_value_copy(&((node *)instance)->any, value, error);
}
static inline invivo_status call_note(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    char what[40];
    (void)user_data, (void)result, (void)count;
    snprintf(what, sizeof what, "%.*s", (int)arguments[0].as.string.length, arguments[0].as.string.data);
    return say(what, ((node *)instance)->name, error);
}
static inline invivo_status call_add(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                              invivo_error **error) {
    node *self = instance;
    (void)user_data, (void)result;
    self->number += count > 0 && arguments[0].kind == INVIVO_KIND_INT64 ? arguments[0].as.signed_integer : 1;
    return say("add", self->name, error);
}
/* make(number): another object of the type of `left`, or null for 0. */
static inline invivo_status call_make(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    invivo_runtime runtime;
    invivo_type type;
    invivo_object self = ((node *)instance)->left, made;
    (void)user_data, (void)count;
    if (arguments[0].as.signed_integer == 0) return INVIVO_OK;
    if (invivo_object_runtime(self, &runtime, error) || invivo_object_type(self, &type, error)) return INVIVO_E_HOST;
    invivo_value values[] = {invivo_null(), arguments[0]};
    if (invivo_object_make(runtime, type, values, 2, &made, error)) return INVIVO_E_HOST;
    invivo_value borrowed = invivo_object_value(made);
    invivo_status status = invivo_value_copy(result, &borrowed, error);
    invivo_object_release(made);
    return status;
}

static const invivo_parameter one_any[] = {{.name = "value", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_parameter one_text[] = {{.name = "text", .kind = INVIVO_KIND_STRING}};
static const invivo_parameter one_number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
static const invivo_method node_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "note", .parameters = one_text, .parameter_count = 1, .call = call_note},
    {.struct_size = sizeof(invivo_method), .name = "add", .parameters = one_any, .parameter_count = 1, .call = call_add},
    {.struct_size = sizeof(invivo_method), .name = "make", .parameters = one_number, .parameter_count = 1, .result = INVIVO_KIND_ANY, .call = call_make},
};
static const invivo_parameter node_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property node_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(node, left)},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(node, right)},
    {.struct_size = sizeof(invivo_property), .name = "any", .kind = INVIVO_KIND_ANY, .get = get_any, .set = set_any},
    INVIVO_FIELD(node, number),
};
static const char *node_supertypes[] = {"Thing"};

static invivo_runtime runtime;
static invivo_type node_type, leaf_type, held_type;

static inline void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Node", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = node_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3, .properties = node_properties, .property_count = 4,
                                   .methods = node_methods, .method_count = 3, .supertypes = node_supertypes, .supertype_count = 1,
                                   .will_inject = node_will, .did_inject = node_did};
    trace[0] = 0, serials = live = 0, fail_at = NULL;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &node_type, E));
    options.name = "Leaf", options.will_inject = options.did_inject = NULL;
    OK(invivo_type_register(runtime, &options, &leaf_type, E));
    /* Injected again in place, while a shared object is rebuilt. */
    options.name = "Held", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &held_type, E));
}
static inline void end(void) {
    fail_at = NULL;
    /* Nodes keep copies of values, which hold leases until their end. */
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(live, 0);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define KEY(parameter, given) {.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = given}
#define CONSTANT(parameter, given) {.name = parameter, .how = INVIVO_INJECT_VALUE, .value = given}
#define ARGUMENT(parameter, number) {.name = parameter, .how = INVIVO_INJECT_ARGUMENT, .index = number}
#define DEFINE(given_key, given_scope, ...)                                                                     \
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key,  \
                                                   .scope = INVIVO_SCOPE_##given_scope, .type = node_type, __VA_ARGS__}, NULL, E))
#define PROPERTIES(array) .properties = array, .property_count = COUNT(array)
#define INITIALIZER(array) .initializer = array, .initializer_count = COUNT(array)

static inline invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static inline node *at(invivo_object object) {
    void *instance = NULL;
    if (object.bits) OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
static inline void drop(invivo_object object) { OK(invivo_object_release(object)); }
static inline invivo_key key_of(const char *name) {
    invivo_key key = {0};
    OK(invivo_key_find(runtime, name, &key, E));
    return key;
}
static inline int64_t live_objects(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return (int64_t)info.objects;
}

static inline invivo_status by_type(const char *type, const char *name, uint32_t flags, invivo_object *out) {
    return invivo_resolve_type(runtime, type, name, flags, out, E);
}

/* Several definitions that refer to each other are one change set. */
static invivo_changes changes;
static inline void describe(void) { OK(invivo_changes_open(runtime, &changes, E)); }
#define ADD(given_key, given_scope, ...)                                                                        \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, \
                                                           .scope = INVIVO_SCOPE_##given_scope, .type = node_type, __VA_ARGS__}, NULL, E))
#define ADD_ALIAS(given_key, target, ...)                                                                       \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, \
                                                           .alias = target, __VA_ARGS__}, NULL, E))
static inline void commit(void) { OK(invivo_changes_commit(changes, E)); }

#endif
