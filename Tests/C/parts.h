/* parts.h: components for tests of wiring. A part records its events in `trace`. It takes one object in its initializer
 * and two by properties. */
#ifndef INVIVO_TESTS_PARTS_H
#define INVIVO_TESTS_PARTS_H

#include "check.h"

typedef struct part {
    char name[24];
    invivo_object input, left, right; /* borrowed: the runtime holds the leases */
    int64_t number;
    invivo_object children[4]; /* leased by the test */
    int child_count;
    const char *wants; /* its key */
} part;

static char trace[8192];
static int live;
static const char *fail_at; /* the event that fails: "did:a.x" */
static invivo_runtime runtime;

/* Any thread may call. */
static inline invivo_status say(const char *what, const char *name, invivo_error **error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char event[64];
    snprintf(event, sizeof event, "%s:%s", what, name);
    pthread_mutex_lock(&lock);
    if (strlen(trace) + strlen(event) + 2 < sizeof trace) strcat(strcat(trace, event), " ");
    pthread_mutex_unlock(&lock);
    if (!fail_at || strcmp(fail_at, event) != 0) return INVIVO_OK;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static inline invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                      void *user_data, invivo_error **error) {
    part *self = (part *)instance;
    const char *key = build->key.bits ? invivo_key_name(build->key) : "made";
    (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", strchr(key, '.') ? strchr(key, '.') + 1 : key);
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    invivo_status status = say("init", self->name, error);
    if (!status) __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return status;
}
static inline void part_deinit(void *instance, void *user_data) {
    (void)user_data;
    say("end", ((part *)instance)->name, NULL);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static inline invivo_status part_will(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("will", ((part *)instance)->name, error);
}
static inline invivo_status part_did(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("did", ((part *)instance)->name, error);
}
static inline invivo_status get_object(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(*(invivo_object *)((char *)instance + (size_t)user_data));
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static inline invivo_status set_object(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    size_t offset = (size_t)user_data;
    *(invivo_object *)((char *)instance + offset) = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return say(offset == offsetof(part, left) ? "left" : "right", ((part *)instance)->name, error);
}
static inline invivo_status call_note(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                      invivo_value *result, invivo_error **error) {
    char what[40];
    (void)user_data, (void)result, (void)count;
    snprintf(what, sizeof what, "%.*s", (int)arguments[0].as.string.length, arguments[0].as.string.data);
    return say(what, ((part *)instance)->name, error);
}
/* make(): a part without a definition, of the type of this one. */
static inline invivo_status call_make(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                      invivo_value *result, invivo_error **error) {
    invivo_type type;
    invivo_object made;
    (void)user_data, (void)arguments, (void)count, (void)instance;
    invivo_status status = invivo_type_find(runtime, "Part", &type, error);
    if (!status) status = invivo_object_make(runtime, type, NULL, 0, &made, error);
    if (status) return status;
    invivo_value borrowed = invivo_object_value(made);
    status = invivo_value_copy(result, &borrowed, error);
    invivo_object_release(made);
    return status;
}
static inline invivo_status part_child(void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error) {
    part *self = (part *)instance;
    (void)user_data, (void)error;
    if (index >= (uint64_t)self->child_count) return INVIVO_OK;
    *out = self->children[index];
    return invivo_object_retain(*out);
}
static inline invivo_status part_key_name(void *instance, void *user_data, const char **out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = ((part *)instance)->wants;
    return INVIVO_OK;
}

static const invivo_parameter one_text[] = {{.name = "text", .kind = INVIVO_KIND_STRING}};
static const invivo_method part_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "note", .parameters = one_text, .parameter_count = 1, .call = call_note},
    {.struct_size = sizeof(invivo_method), .name = "make", .result = INVIVO_KIND_ANY, .call = call_make},
};
static const invivo_parameter part_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property part_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(part, left)},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(part, right)},
    INVIVO_FIELD(part, number),
};
static const char *part_supertypes[] = {"Thing"};

static inline invivo_type_options part_options(const char *name) {
    return (invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = name, .size = sizeof(part), .alignment = _Alignof(part),
                                 .concurrency = INVIVO_SHARED, .init = part_init, .deinit = part_deinit,
                                 .parameters = part_parameters, .parameter_count = 2, .properties = part_properties, .property_count = 3,
                                 .methods = part_methods, .method_count = 2, .supertypes = part_supertypes, .supertype_count = 1};
}
static inline invivo_type register_type(invivo_type_options options) {
    invivo_type type = {0};
    OK(invivo_type_register(runtime, &options, &type, E));
    return type;
}

static bool parts_without_history; /* of the next runtime */
static inline void begin_with(uint32_t flags) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.flags = flags, options.history = parts_without_history ? INVIVO_HISTORY_NONE : 0;
    parts_without_history = false;
    trace[0] = 0, live = 0, fail_at = NULL;
    OK(invivo_runtime_open(&runtime, &options, E));
}
static inline void end(void) {
    fail_at = NULL;
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define KEY(parameter, given) {.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = given}
#define BY_TYPE(parameter, given) {.name = parameter, .how = INVIVO_INJECT_TYPE, .reference = given}
#define ARGUMENT(parameter, number) {.name = parameter, .how = INVIVO_INJECT_ARGUMENT, .index = number}
#define PROPERTIES(array) .properties = array, .property_count = COUNT(array)
#define INITIALIZER(array) .initializer = array, .initializer_count = COUNT(array)

/* Several definitions that refer to each other are one change set. */
static invivo_changes changes;
static inline void describe(void) { OK(invivo_changes_open(runtime, &changes, E)); }
#define ADD(given_key, given_scope, ...)                                                                        \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, \
                                                           .scope = INVIVO_SCOPE_##given_scope, __VA_ARGS__}, NULL, E))
#define PROCESS(given_name, ...)                                                                                \
    OK(invivo_changes_process(changes, &(invivo_processor){.struct_size = sizeof(invivo_processor), .name = given_name, __VA_ARGS__}, E))
static inline void commit(void) { OK(invivo_changes_commit(changes, E)); }

static inline invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static inline part *at(invivo_object object) {
    void *instance = NULL;
    if (object.bits) OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return (part *)instance;
}
/* The name of an object, or "-" for none. */
static inline const char *name_of(invivo_object object) { return object.bits ? at(object)->name : "-"; }
static inline void drop(invivo_object object) { OK(invivo_object_release(object)); }
static inline invivo_key key_of(const char *name) {
    invivo_key key = {0};
    OK(invivo_key_find(runtime, name, &key, E));
    return key;
}
static inline invivo_object make(invivo_type type) {
    invivo_object object = {0};
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    return object;
}

#endif
