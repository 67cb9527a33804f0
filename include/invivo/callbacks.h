/** @file callbacks.h
 * Callbacks of a host language whose interpreter can end before the runtimes that call it. */
#ifndef INVIVO_CALLBACKS_H
#define INVIVO_CALLBACKS_H

#include "app.h"
#include "config.h"
#include "context.h"
#include "reload.h"
#include "runtime.h"
#include "settings.h"
#include "trait.h"
#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/** One function for each kind of call from a runtime to its host. `user_data` identifies the host's object.
 * Unused functions may be NULL. */
typedef struct invivo_callbacks {
    size_t struct_size;
    /* types */
    invivo_status (*make)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error);
    void (*release)(void *instance, void *user_data);
    invivo_status (*start)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*stop)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*get)(void *instance, void *user_data, invivo_value *out, invivo_error **error);
    invivo_status (*set)(void *instance, void *user_data, const invivo_value *value, invivo_error **error);
    invivo_status (*call)(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                          invivo_value *result, invivo_error **error);
    /* definitions */
    invivo_status (*factory)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error);
    /* callables, domains, observers and the log */
    invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                            invivo_error **error);
    invivo_status (*post)(void *user_data, invivo_job job, invivo_error **error);
    void (*reloaded)(void *user_data, const invivo_report *report);
    void (*log)(void *user_data, const invivo_log_entry *entry);
    /* all */
    void (*destroy)(void *user_data);
    /* properties */
    invivo_status (*capture)(void *instance, void *user_data, invivo_value *out, void **kept, invivo_error **error);
    invivo_status (*restore)(void *instance, void *user_data, void *kept, invivo_error **error);
    void (*forget)(void *user_data, void *kept);
    /* types */
    invivo_status (*will_inject)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*did_inject)(void *instance, void *user_data, invivo_error **error);
    void *(*weak_make)(void *instance, void *user_data);
    void *(*weak_load)(void *weak, void *user_data);
    void (*weak_free)(void *weak, void *user_data);
    /* definitions */
    invivo_status (*inject)(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                            void *user_data, invivo_error **error);
    /* types, for trees */
    invivo_status (*child)(void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error);
    invivo_status (*key_name)(void *instance, void *user_data, const char **out, invivo_error **error);
    /* processors and asynchronous resolves */
    invivo_status (*process)(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error);
    invivo_status (*decorate)(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data,
                              invivo_error **error);
    void (*resolved)(void *user_data, invivo_object object, const invivo_error *error);
    /* types */
    invivo_status (*prepare)(void *instance, void *user_data, invivo_error **error);
    /* observers of the configuration, and converters */
    void (*changed)(void *user_data, const char *path, const invivo_value *value, uint64_t generation);
    invivo_status (*convert)(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error);
    /* pools and scopes */
    invivo_status (*pool_make)(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error);
    invivo_status (*scope_find)(void *user_data, uint64_t *place, invivo_error **error);
    void (*scope_keep)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    void (*scope_drop)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    /* types */
    invivo_status (*take_runtime)(void *instance, void *user_data, invivo_runtime runtime, invivo_error **error);
    /* observers */
    void (*publishing)(void *user_data, uint32_t published);
    /* types */
    invivo_status (*count_references)(void *instance, void *user_data, uint64_t *out, invivo_error **error);
    /** Returns the calling thread's cell for the status of a callback (invivo_callbacks_cell). May be NULL.
     *
     * For a host whose functions may return without having run. For example, ctypes drops an exception that a signal
     * handler raises at the entry of a callback. The returned status is then uninitialized. With this function, a status counts
     * only if the callback stored it in the cell; a callback without a status stores INVIVO_OK. A callback that stored
     * nothing has not run. The runtime calls `stop`, `teardown`, `undo`, `restore`, `revert` and callbacks without a status
     * again; for others, the call fails with INVIVO_E_HOST. NULL: the returned status counts. */
    invivo_status *(*cell)(void);
    /* applications and trees */
    invivo_status (*load_module)(void *user_data, invivo_runtime runtime, const char *name, const char *path,
                                 invivo_error **error);
    invivo_status (*assemblies)(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error);
    invivo_status (*tree_child)(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error);
    invivo_status (*tree_key_name)(invivo_object object, const char **out, void *user_data, invivo_error **error);
    uint8_t (*tree_is_foreign)(invivo_object object, void *user_data);
    /* converters */
    invivo_status (*read)(void *user_data, const invivo_value *value, invivo_value *out, invivo_error **error);
    /* rules */
    invivo_status (*check)(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error);
    /* types, and effects of setups */
    invivo_status (*setup)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*teardown)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*refresh)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*finalize)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*undo)(void *user_data, invivo_error **error);
    /* domains */
    void (*begin)(void *user_data);
    void (*end)(void *user_data);
    /* observers */
    void (*ready)(void *user_data, uint64_t generation, const invivo_error *error);
    void (*progress)(void *user_data, const invivo_progress *progress);
    /* trait types, and the reversals of their applications */
    invivo_status (*trait_check)(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                 invivo_error **error);
    invivo_status (*layers)(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                            void *user_data, invivo_error **error);
    invivo_status (*apply)(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                           invivo_reversal *reversal, void *user_data, invivo_error **error);
    invivo_status (*revert)(invivo_object target, void *instance, void *data, invivo_error **error);
    /* settings */
    invivo_status (*create)(const invivo_section *section, void **out, void *user_data, invivo_error **error);
    invivo_status (*bind)(invivo_changes changes, const char *name, const char *path, void *user_data, invivo_error **error);
    /* properties */
    invivo_status (*verify)(void *user_data, const invivo_value *value, invivo_error **error);
    /* observers of contexts, and types */
    void (*context_changed)(void *user_data, invivo_context context, invivo_key key, const invivo_value *value);
    invivo_status (*parent)(void *instance, void *user_data, invivo_object *out, invivo_error **error);
} invivo_callbacks;

/** Returns the calling thread's cell for the status of a callback. Valid until the thread ends. */
INVIVO_API invivo_status *invivo_callbacks_cell(void) INVIVO_NOWAIT;

/** Returns guarded versions of callbacks, which can be called as long as the process lives.
 *
 * They call `callbacks` until invivo_callbacks_end. After that they do nothing and return INVIVO_E_CLOSED (`stop`:
 * INVIVO_OK, because an object that ended with its language needs no stop). Pass them to runtimes of any copy of the
 * library. A copy has one set at a time. After its end there may be another one, whose user data must be different. */
INVIVO_API invivo_status invivo_callbacks_guard(const invivo_callbacks *callbacks, invivo_callbacks *out,
                                                invivo_error **error) INVIVO_NOWAIT;
/** Ends the guarded callbacks, before the host's code ends.
 * Returns when no thread executes one, except calls that the calling thread itself is in. INVIVO_E_TIMEOUT if a call
 * does not return within 5 s. */
INVIVO_API invivo_status invivo_callbacks_end(invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
