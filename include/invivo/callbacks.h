/* callbacks.h: for a host whose code can end before the runtimes that call it, as an interpreter's does. */
#ifndef INVIVO_CALLBACKS_H
#define INVIVO_CALLBACKS_H

#include "app.h"
#include "config.h"
#include "reload.h"
#include "runtime.h"
#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/* One function for each way in which a runtime calls its host; which of the host's things is meant is in `user_data`.
 * Functions that are not used may be NULL. */
typedef struct invivo_callbacks {
    size_t struct_size;
    /* of types */
    invivo_status (*make)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error);
    void (*release)(void *instance, void *user_data);
    invivo_status (*start)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*stop)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*get)(void *instance, void *user_data, invivo_value *out, invivo_error **error);
    invivo_status (*set)(void *instance, void *user_data, const invivo_value *value, invivo_error **error);
    invivo_status (*call)(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                          invivo_value *result, invivo_error **error);
    /* of definitions */
    invivo_status (*factory)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error);
    /* of callables, domains, observers and the log */
    invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                            invivo_error **error);
    invivo_status (*post)(void *user_data, invivo_job job, invivo_error **error);
    void (*reloaded)(void *user_data, const invivo_report *report);
    void (*log)(void *user_data, const invivo_log_entry *entry);
    /* of everything */
    void (*destroy)(void *user_data);
    /* of properties */
    invivo_status (*capture)(void *instance, void *user_data, invivo_value *out, void **kept, invivo_error **error);
    invivo_status (*restore)(void *instance, void *user_data, void *kept, invivo_error **error);
    void (*forget)(void *user_data, void *kept);
    /* of types again */
    invivo_status (*will_inject)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*did_inject)(void *instance, void *user_data, invivo_error **error);
    void *(*weak_make)(void *instance, void *user_data);
    void *(*weak_load)(void *weak, void *user_data);
    void (*weak_free)(void *weak, void *user_data);
    /* of definitions again */
    invivo_status (*inject)(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                            void *user_data, invivo_error **error);
    /* of types, for trees */
    invivo_status (*child)(void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error);
    invivo_status (*key_name)(void *instance, void *user_data, const char **out, invivo_error **error);
    /* of processors and of resolves that nobody waits for */
    invivo_status (*process)(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error);
    invivo_status (*decorate)(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data,
                              invivo_error **error);
    void (*resolved)(void *user_data, invivo_object object, const invivo_error *error);
    /* of types again */
    invivo_status (*prepare)(void *instance, void *user_data, invivo_error **error);
    /* of observers of the configuration and of converters */
    void (*changed)(void *user_data, const char *path, const invivo_value *value, uint64_t generation);
    invivo_status (*convert)(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error);
    /* of pools and scopes */
    invivo_status (*pool_make)(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error);
    invivo_status (*scope_find)(void *user_data, uint64_t *place, invivo_error **error);
    void (*scope_keep)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    void (*scope_drop)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    /* of types again */
    invivo_status (*take_runtime)(void *instance, void *user_data, invivo_runtime runtime, invivo_error **error);
    /* of observers again */
    void (*publishing)(void *user_data, uint32_t published);
    /* of types again */
    invivo_status (*count_references)(void *instance, void *user_data, uint64_t *out, invivo_error **error);
    /* For a host whose functions may return without having run: ctypes drops what the handler of a signal raises at the
     * entry of a callback, and the status is then uninitialized memory. With it a status counts only where the function has
     * stored it in the calling thread's cell, which this returns (invivo_callbacks_cell of any copy of the library); one
     * that returns no status stores INVIVO_OK. One that stores nothing has not run: it is called again when it returns no
     * status and for `stop` and `restore`, otherwise the call fails with INVIVO_E_HOST. NULL: what a function returns
     * counts. */
    invivo_status *(*cell)(void);
    /* of applications and trees */
    invivo_status (*load_module)(void *user_data, invivo_runtime runtime, const char *name, const char *path,
                                 invivo_error **error);
    invivo_status (*assemblies)(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error);
    invivo_status (*tree_child)(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error);
    invivo_status (*tree_key_name)(invivo_object object, const char **out, void *user_data, invivo_error **error);
    uint8_t (*tree_is_foreign)(invivo_object object, void *user_data);
    /* of converters again */
    invivo_status (*read)(void *user_data, const invivo_value *value, invivo_value *out, invivo_error **error);
} invivo_callbacks;

/* The calling thread's cell for the status of a callback. Valid until the thread ends. */
INVIVO_API invivo_status *invivo_callbacks_cell(void) INVIVO_NOWAIT;

/* Answers functions that do what those of `callbacks` do, until invivo_callbacks_end; after it they do nothing and answer
 * INVIVO_E_CLOSED (`stop` INVIVO_OK: what ended with its language needs none). They stay callable as long as the process
 * lives: give these to runtimes, of any copy of the library.
 * A process has one such set in each copy; after its end another may come, whose user data must not repeat. */
INVIVO_API invivo_status invivo_callbacks_guard(const invivo_callbacks *callbacks, invivo_callbacks *out,
                                                invivo_error **error) INVIVO_NOWAIT;
/* The host's code is about to end. Returns when no thread is in it any more, but for calls that the calling thread itself
 * is in; INVIVO_E_TIMEOUT when one does not leave it in 5 s. */
INVIVO_API invivo_status invivo_callbacks_end(invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
