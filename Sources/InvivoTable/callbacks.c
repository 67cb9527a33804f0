/* callbacks.h: functions that outlive the code behind them. In C, because they must have an address for each signature. */
#include "../../include/invivo/invivo.h"

#include <pthread.h>
#include <time.h>

/* Written while no call is let through, read by calls that are. */
static invivo_callbacks behind;
/* Whether calls are let through. Calls count themselves before they look, and the end closes before it counts: in one
 * order for all, so that a call that was let through is waited for. */
static uint32_t is_open;
static uint32_t calls;
static __thread uint32_t own_calls;

static bool enter(void) {
    __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    own_calls++;
    if (__atomic_load_n(&is_open, __ATOMIC_SEQ_CST)) return true;
    own_calls--;
    __atomic_sub_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    return false;
}

/* In a forked child nobody else is in a call. */
static void forget_others(void) { calls = own_calls; }

static void leave(void) {
    own_calls--;
    __atomic_sub_fetch(&calls, 1, __ATOMIC_SEQ_CST);
}

static invivo_status fail(invivo_error **error, invivo_status status, const char *message) {
    if (error) *error = invivo_error_make(status, message, NULL, NULL);
    return status;
}

static __thread invivo_status own_cell;

invivo_status *invivo_callbacks_cell(void) { return &own_cell; }

/* No status is this. */
#define UNWRITTEN INT32_MIN
/* How often a function that did not run is called again. */
#define TRIES 1000

/* One call of a host that stores its status. Calls nest: the cell has the outer call's state again afterwards. */
typedef struct {
    invivo_status *cell, former;
} stored;

static stored expect(void) {
    stored call = {.cell = behind.cell ? behind.cell() : NULL};
    if (call.cell) {
        call.former = *call.cell;
        *call.cell = UNWRITTEN;
    }
    return call;
}

/* Whether the function has run; `status` becomes what it stored. */
static bool has_run(stored call, invivo_status *status) {
    if (!call.cell) return true;
    *status = *call.cell;
    *call.cell = call.former;
    return *status != UNWRITTEN;
}

static invivo_status interrupted(invivo_error **error) {
    return error && *error ? INVIVO_E_HOST : fail(error, INVIVO_E_HOST, "the callback was interrupted before it ran");
}

#define ANSWERING(name, parameters, arguments) ANSWERING_OR(INVIVO_E_CLOSED, 1, name, parameters, arguments)
#define ANSWERING_OR(ended, tries, name, parameters, arguments) \
    static invivo_status guarded_##name parameters {          \
        if (!enter()) return ended;                           \
        invivo_status status = INVIVO_OK;                     \
        bool ran = false;                                     \
        for (int left = tries; !ran && left > 0; left--) {    \
            stored call = expect();                           \
            status = behind.name arguments;                   \
            ran = has_run(call, &status);                     \
        }                                                     \
        if (!ran) status = interrupted(error);                \
        leave();                                              \
        return status;                                        \
    }
#define TELLING(name, parameters, arguments)                  \
    static void guarded_##name parameters {                   \
        if (!enter()) return;                                 \
        bool ran = false;                                     \
        for (int left = TRIES; !ran && left > 0; left--) {    \
            stored call = expect();                           \
            behind.name arguments;                            \
            ran = has_run(call, &(invivo_status){0});         \
        }                                                     \
        leave();                                              \
    }

#define LEADING(name, parameters, arguments) RETURNING(void *, NULL, name, parameters, arguments)
#define RETURNING(type, nothing, name, parameters, arguments) \
    static type guarded_##name parameters {                   \
        if (!enter()) return nothing;                         \
        type answer = nothing;                                \
        bool ran = false;                                     \
        for (int left = TRIES; !ran && left > 0; left--) {    \
            stored call = expect();                           \
            answer = behind.name arguments;                   \
            ran = has_run(call, &(invivo_status){0});         \
        }                                                     \
        leave();                                              \
        return ran ? answer : nothing;                        \
    }

ANSWERING(make,
          (void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
           invivo_error **error),
          (instance, build, arguments, count, user_data, error))
TELLING(release, (void *instance, void *user_data), (instance, user_data))
ANSWERING(start, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
/* What ends with its language needs no stopping any more. */
ANSWERING_OR(INVIVO_OK, TRIES, stop, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING(get, (void *instance, void *user_data, invivo_value *out, invivo_error **error), (instance, user_data, out, error))
ANSWERING(set, (void *instance, void *user_data, const invivo_value *value, invivo_error **error),
          (instance, user_data, value, error))
ANSWERING(call,
          (void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
           invivo_error **error),
          (instance, user_data, arguments, count, result, error))
ANSWERING(factory,
          (void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
           invivo_error **error),
          (instance, build, arguments, count, user_data, error))
ANSWERING(invoke,
          (void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error),
          (user_data, arguments, count, result, error))
ANSWERING(post, (void *user_data, invivo_job job, invivo_error **error), (user_data, job, error))
TELLING(reloaded, (void *user_data, const invivo_report *report), (user_data, report))
TELLING(publishing, (void *user_data, uint32_t published), (user_data, published))
TELLING(log, (void *user_data, const invivo_log_entry *entry), (user_data, entry))
TELLING(destroy, (void *user_data), (user_data))
ANSWERING(capture, (void *instance, void *user_data, invivo_value *out, void **kept, invivo_error **error),
          (instance, user_data, out, kept, error))
/* An undo step, which nothing else replaces. */
ANSWERING_OR(INVIVO_E_CLOSED, TRIES, restore, (void *instance, void *user_data, void *kept, invivo_error **error),
             (instance, user_data, kept, error))
TELLING(forget, (void *user_data, void *kept), (user_data, kept))
ANSWERING(will_inject, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING(did_inject, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING(take_runtime, (void *instance, void *user_data, invivo_runtime runtime, invivo_error **error),
          (instance, user_data, runtime, error))
ANSWERING(count_references, (void *instance, void *user_data, uint64_t *out, invivo_error **error),
          (instance, user_data, out, error))
ANSWERING(setup, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING_OR(INVIVO_OK, TRIES, teardown, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING(refresh, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING(finalize, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
ANSWERING_OR(INVIVO_OK, TRIES, undo, (void *user_data, invivo_error **error), (user_data, error))
ANSWERING(prepare, (void *instance, void *user_data, invivo_error **error), (instance, user_data, error))
LEADING(weak_make, (void *instance, void *user_data), (instance, user_data))
LEADING(weak_load, (void *weak, void *user_data), (weak, user_data))
TELLING(weak_free, (void *weak, void *user_data), (weak, user_data))
ANSWERING(inject,
          (void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
           invivo_error **error),
          (instance, build, arguments, count, user_data, error))
ANSWERING(child, (void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error),
          (instance, user_data, index, out, error))
ANSWERING(key_name, (void *instance, void *user_data, const char **out, invivo_error **error),
          (instance, user_data, out, error))
ANSWERING(process,
          (const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error),
          (described, changes, user_data, error))
ANSWERING(decorate,
          (invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error),
          (object, build, out, user_data, error))

TELLING(changed, (void *user_data, const char *path, const invivo_value *value, uint64_t generation),
        (user_data, path, value, generation))
ANSWERING(convert, (void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error),
          (user_data, text, length, out, error))
ANSWERING(read, (void *user_data, const invivo_value *value, invivo_value *out, invivo_error **error),
          (user_data, value, out, error))

ANSWERING(check, (const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error),
          (values, count, at, user_data, error))

ANSWERING(load_module,
          (void *user_data, invivo_runtime runtime, const char *name, const char *path, invivo_error **error),
          (user_data, runtime, name, path, error))
ANSWERING(assemblies, (void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error),
          (user_data, runtime, changes, error))
ANSWERING(tree_child,
          (invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error),
          (parent, index, out, user_data, error))
ANSWERING(tree_key_name, (invivo_object object, const char **out, void *user_data, invivo_error **error),
          (object, out, user_data, error))
/* Where nobody can say, the object is left alone. */
RETURNING(uint8_t, 1, tree_is_foreign, (invivo_object object, void *user_data), (object, user_data))

/* Whoever got an object must give it back, also when the host is gone. */
static void guarded_resolved(void *user_data, invivo_object object, const invivo_error *error) {
    if (!enter()) {
        if (object.bits) invivo_object_release(object);
        return;
    }
    bool ran = false;
    for (int left = TRIES; !ran && left > 0; left--) {
        stored call = expect();
        behind.resolved(user_data, object, error);
        ran = has_run(call, &(invivo_status){0});
    }
    leave();
}

ANSWERING(pool_make, (void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error),
          (user_data, key, out, error))
ANSWERING(scope_find, (void *user_data, uint64_t *place, invivo_error **error), (user_data, place, error))
TELLING(scope_keep, (void *user_data, uint64_t place, invivo_key key, invivo_object object), (user_data, place, key, object))
TELLING(scope_drop, (void *user_data, uint64_t place, invivo_key key, invivo_object object), (user_data, place, key, object))
TELLING(begin, (void *user_data), (user_data))
TELLING(end, (void *user_data), (user_data))
TELLING(ready, (void *user_data, uint64_t generation, const invivo_error *error), (user_data, generation, error))
TELLING(progress, (void *user_data, const invivo_progress *progress), (user_data, progress))
ANSWERING(trait_check,
          (const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error),
          (fields, values, count, at, user_data, error))
ANSWERING(layers,
          (const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
           invivo_error **error),
          (fields, values, count, layers, user_data, error))
ANSWERING(apply,
          (invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
           invivo_reversal *reversal, void *user_data, invivo_error **error),
          (target, instance, fields, values, count, reversal, user_data, error))
ANSWERING(create, (const invivo_section *section, void **out, void *user_data, invivo_error **error),
          (section, out, user_data, error))
ANSWERING(bind, (invivo_changes changes, const char *name, const char *path, void *user_data, invivo_error **error),
          (changes, name, path, user_data, error))
ANSWERING(verify, (void *user_data, const invivo_value *value, invivo_error **error), (user_data, value, error))
TELLING(context_changed, (void *user_data, invivo_context context, invivo_key key, const invivo_value *value),
        (user_data, context, key, value))
ANSWERING(parent, (void *instance, void *user_data, invivo_object *out, invivo_error **error), (instance, user_data, out, error))
/* An undo step, which nothing else replaces. */
ANSWERING_OR(INVIVO_E_CLOSED, TRIES, revert, (invivo_object target, void *instance, void *data, invivo_error **error),
             (target, instance, data, error))

invivo_status invivo_callbacks_guard(const invivo_callbacks *callbacks, invivo_callbacks *out, invivo_error **error) {
    if (!callbacks || !out || callbacks->struct_size < sizeof *callbacks || callbacks->struct_size > (size_t)1 << 20)
        return fail(error, INVIVO_E_ARGUMENT,
                    "callbacks or out is NULL, or callbacks.struct_size is not sizeof(invivo_callbacks)");
    uint32_t claimed = 0;
    static uint32_t is_claimed, hears_of_forks;
    if (!__atomic_compare_exchange_n(&is_claimed, &claimed, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return fail(error, INVIVO_E_BUSY, "another thread is guarding callbacks");
    invivo_status status = INVIVO_OK;
    if (__atomic_load_n(&is_open, __ATOMIC_SEQ_CST)) {
        status = fail(error, INVIVO_E_EXISTS, "callbacks are guarded already; end them with invivo_callbacks_end first");
    } else {
        invivo_callbacks guarded = {.struct_size = sizeof guarded};
        behind = *callbacks;
        if (!hears_of_forks) hears_of_forks = pthread_atfork(NULL, NULL, forget_others) == 0;
#define GUARD(name) \
    if (callbacks->name) guarded.name = guarded_##name
        GUARD(make);
        GUARD(release);
        GUARD(start);
        GUARD(stop);
        GUARD(get);
        GUARD(set);
        GUARD(call);
        GUARD(factory);
        GUARD(invoke);
        GUARD(post);
        GUARD(reloaded);
        GUARD(log);
        GUARD(destroy);
        GUARD(capture);
        GUARD(restore);
        GUARD(forget);
        GUARD(will_inject);
        GUARD(did_inject);
        GUARD(prepare);
        GUARD(setup);
        GUARD(teardown);
        GUARD(refresh);
        GUARD(finalize);
        GUARD(undo);
        GUARD(weak_make);
        GUARD(weak_load);
        GUARD(weak_free);
        GUARD(inject);
        GUARD(child);
        GUARD(key_name);
        GUARD(process);
        GUARD(decorate);
        GUARD(resolved);
        GUARD(changed);
        GUARD(convert);
        GUARD(read);
        GUARD(check);
        GUARD(pool_make);
        GUARD(scope_find);
        GUARD(scope_keep);
        GUARD(scope_drop);
        GUARD(take_runtime);
        GUARD(publishing);
        GUARD(count_references);
        GUARD(load_module);
        GUARD(assemblies);
        GUARD(tree_child);
        GUARD(tree_key_name);
        GUARD(tree_is_foreign);
        GUARD(begin);
        GUARD(end);
        GUARD(ready);
        GUARD(progress);
        GUARD(trait_check);
        GUARD(layers);
        GUARD(apply);
        GUARD(revert);
        GUARD(create);
        GUARD(bind);
        GUARD(verify);
        GUARD(context_changed);
        GUARD(parent);
        *out = guarded;
        __atomic_store_n(&is_open, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&is_claimed, 0, __ATOMIC_SEQ_CST);
    return status;
}

invivo_status invivo_callbacks_end(invivo_error **error) {
    __atomic_store_n(&is_open, 0, __ATOMIC_SEQ_CST);
    for (int waited = 0; __atomic_load_n(&calls, __ATOMIC_SEQ_CST) > own_calls; waited++) {
        struct timespec pause = {.tv_nsec = 1000000};
        if (waited == 5000) return fail(error, INVIVO_E_TIMEOUT, "a thread has been in a callback for 5 s and does not leave it");
        nanosleep(&pause, NULL);
    }
    return INVIVO_OK;
}
