/* A C module for the tests of the Python package: a type that gives back what it is given, and threads that commit. */
#include <invivo/invivo.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    double gain;
    int64_t note;
    uint8_t small;
    bool on;
    char label[16];
    invivo_value kept;
} voice;

static int alive;

static invivo_status voice_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    voice *self = instance;
    (void)build, (void)user_data, (void)error;
    if (count > 0 && arguments[0].kind != INVIVO_KIND_NULL) self->note = arguments[0].as.signed_integer;
    __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    if (count > 1 && arguments[1].kind != INVIVO_KIND_NULL) return invivo_value_copy(&self->kept, &arguments[1], error);
    return INVIVO_OK;
}

static void voice_deinit(void *instance, void *user_data) {
    (void)user_data;
    invivo_value_clear(&((voice *)instance)->kept);
    __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
}

static invivo_status voice_echo(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                invivo_value *result, invivo_error **error) {
    (void)instance, (void)user_data, (void)count;
    return invivo_value_copy(result, &arguments[0], error);
}

static invivo_status voice_apply(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                 invivo_value *result, invivo_error **error) {
    (void)instance, (void)user_data;
    return invivo_callable_call(arguments[0].as.callable, arguments + 1, count - 1, result, error);
}

static invivo_status voice_keep(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                invivo_value *result, invivo_error **error) {
    voice *self = instance;
    invivo_value former = self->kept;
    (void)user_data, (void)count, (void)result;
    self->kept = invivo_null();
    invivo_value_clear(&former);
    return invivo_value_copy(&self->kept, &arguments[0], error);
}

static invivo_status voice_kept(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count;
    return invivo_value_copy(result, &((voice *)instance)->kept, error);
}

static invivo_status voice_fail(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                invivo_value *result, invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count, (void)result;
    if (error)
        *error = invivo_error_make(INVIVO_E_RANGE, "too loud", "synth.lead.gain",
                                   invivo_error_make(INVIVO_E_HOST, "the amplifier said so", NULL, NULL));
    return INVIVO_E_RANGE;
}

/* Gets a property of an object of any language. */
static invivo_status voice_get_of(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                  invivo_value *result, invivo_error **error) {
    char name[64];
    (void)instance, (void)user_data, (void)count;
    snprintf(name, sizeof name, "%.*s", (int)arguments[1].as.string.length, arguments[1].as.string.data);
    return invivo_object_get(arguments[0].as.object, name, result, error);
}

static invivo_status voice_set_of(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                  invivo_value *result, invivo_error **error) {
    char name[64];
    (void)instance, (void)user_data, (void)count, (void)result;
    snprintf(name, sizeof name, "%.*s", (int)arguments[1].as.string.length, arguments[1].as.string.data);
    return invivo_object_set(arguments[0].as.object, name, &arguments[2], error);
}

static invivo_status voice_call_of(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                   invivo_value *result, invivo_error **error) {
    char name[64];
    (void)instance, (void)user_data;
    snprintf(name, sizeof name, "%.*s", (int)arguments[1].as.string.length, arguments[1].as.string.data);
    return invivo_object_call(arguments[0].as.object, name, arguments + 2, count - 2, result, error);
}

static invivo_status voice_twice(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                                 invivo_error **error) {
    (void)user_data, (void)count, (void)error;
    *result = invivo_double(2 * arguments[0].as.number);
    return INVIVO_OK;
}

static invivo_runtime home;

static invivo_status voice_doubler(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                                   invivo_value *result, invivo_error **error) {
    invivo_callable_options options = {.struct_size = sizeof options, .name = "twice", .invoke = voice_twice};
    invivo_callable made;
    invivo_status status = invivo_callable_make(home, &options, &made, error);
    (void)instance, (void)user_data, (void)arguments, (void)count;
    if (!status) {
        invivo_value value = invivo_callable_value(made);
        status = invivo_value_copy(result, &value, error);
        invivo_callable_release(made);
    }
    return status;
}

#define ANY(NAME) {.name = NAME, .kind = INVIVO_KIND_ANY}
#define MAYBE(NAME) {.name = NAME, .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}
static const invivo_parameter any[] = {ANY("value"), MAYBE("name"), MAYBE("third")};
static const invivo_parameter call_any[] = {{.name = "function", .kind = INVIVO_KIND_CALLABLE}, MAYBE("value")};
static const invivo_parameter making[] = {
    {.name = "note", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}, MAYBE("kept")};

#define METHOD(NAME, FUNCTION, PARAMETERS, COUNT)                                                                \
    {.struct_size = sizeof(invivo_method), .name = NAME, .parameters = PARAMETERS, .parameter_count = COUNT,     \
     .result = INVIVO_KIND_ANY, .call = FUNCTION}

static const invivo_property properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 2),
    INVIVO_FIELD(voice, note),
    INVIVO_FIELD(voice, small),
    INVIVO_FIELD(voice, on),
    INVIVO_FIELD(voice, label, .initial_text = "plain"),
};
static const invivo_method methods[] = {
    METHOD("echo", voice_echo, any, 1),       METHOD("apply", voice_apply, call_any, 2),
    METHOD("keep", voice_keep, any, 1),       METHOD("kept", voice_kept, NULL, 0),
    METHOD("fail", voice_fail, NULL, 0),      METHOD("get_of", voice_get_of, any, 2),
    METHOD("set_of", voice_set_of, any, 3),   METHOD("call_of", voice_call_of, any, 3),
    METHOD("doubler", voice_doubler, NULL, 0),
};

INVIVO_MODULE(runtime, error) {
    invivo_type_options options = {
        .struct_size = sizeof options,
        .name = "Voice",
        .size = sizeof(voice),
        .alignment = _Alignof(voice),
        .init = voice_init,
        .deinit = voice_deinit,
        .parameters = making,
        .parameter_count = 2,
        .properties = properties,
        .property_count = sizeof properties / sizeof *properties,
        .methods = methods,
        .method_count = sizeof methods / sizeof *methods,
    };
    invivo_type_options shared = options;
    invivo_status status;
    shared.name = "Token"; /* any thread may hold and end one */
    shared.concurrency = INVIVO_SHARED;
    shared.properties = NULL, shared.methods = NULL;
    shared.property_count = shared.method_count = 0;
    home = runtime;
    status = invivo_type_register(runtime, &options, NULL, error);
    return status ? status : invivo_type_register(runtime, &shared, NULL, error);
}

/* ---- for use by dlopen: threads that know nothing of Python ------------------------------------------- */

typedef struct {
    invivo_runtime runtime;
    char key[64];
    int commits, failures, stop;
    pthread_t thread;
} committer;

static committer committers[8];

static void *commit(void *argument) {
    committer *self = argument;
    int round = 0;
    while (!__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE)) {
        invivo_changes changes;
        char text[160];
        int length = snprintf(text, sizeof text, "traits: { %s: [ { Set: { level: %d } } ] }", self->key, ++round % 100);
        invivo_status status = invivo_changes_open(self->runtime, &changes, NULL);
        if (!status) status = invivo_changes_document(changes, self->key, text, (uint64_t)length, NULL);
        if (!status) status = invivo_changes_commit(changes, NULL);
        __atomic_add_fetch(status ? &self->failures : &self->commits, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

__attribute__((visibility("default"))) int native_start(int which, const invivo_table *table, uint64_t runtime, const char *key) {
    committer *self = &committers[which];
    memset(self, 0, sizeof *self);
    if (invivo_stubs_use(table)) return -1;
    self->runtime.bits = runtime;
    snprintf(self->key, sizeof self->key, "%s", key);
    return pthread_create(&self->thread, NULL, commit, self);
}

__attribute__((visibility("default"))) int native_commits(int which) {
    return __atomic_load_n(&committers[which].commits, __ATOMIC_RELAXED);
}
__attribute__((visibility("default"))) int native_failures(int which) {
    return __atomic_load_n(&committers[which].failures, __ATOMIC_RELAXED);
}
/* Call it without the GIL. */
__attribute__((visibility("default"))) void native_stop(int which) {
    __atomic_store_n(&committers[which].stop, 1, __ATOMIC_RELEASE);
    pthread_join(committers[which].thread, NULL);
}
__attribute__((visibility("default"))) int native_alive(void) { return alive; }
