/* scope.h: scopes of the host's own: one instance for each request, window, document, or whatever the host says. */
#ifndef INVIVO_SCOPE_H
#define INVIVO_SCOPE_H

#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/* A definition of scope INVIVO_SCOPE_HOST with this `scope_name` has one shared instance for each place, built by the first
 * resolve there, once however many threads ask. The runtime holds it until the place ends, the definition changes or the runtime
 * closes; then it is disposed of, last made first. INVIVO_SCOPE_THREAD is such a scope whose places are threads: it is there
 * always, under the name "thread", and a place ends with its thread.
 *
 * The callbacks are called without locks held, on the thread that resolves or lets go. */
typedef struct invivo_scope_options {
    size_t struct_size;
    const char *name;
    /* Where the calling code is: sets `*place` to a number of the host's choosing. 0, as it is beforehand: nowhere, and the
     * resolve answers INVIVO_E_NOT_READY. */
    invivo_status (*find)(void *user_data, uint64_t *place, invivo_error **error);
    /* An object was made for a place, and is kept from now on. It is borrowed. May be NULL. */
    void (*keep)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    /* The object is about to be disposed of: nobody holds it any more, and its handle is good for telling it from others alone.
     * May be NULL. */
    void (*drop)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    void *user_data;
    void (*destroy)(void *user_data); /* once, when the runtime is gone; may be NULL */
} invivo_scope_options;

/* Before the first definition that names it takes effect; a taken name is INVIVO_E_EXISTS (and `destroy` is not called). */
INVIVO_API invivo_status invivo_scope_register(invivo_runtime runtime, const invivo_scope_options *options, invivo_error **error) INVIVO_WAITS;
/* Ends a place: what was made there is let go, last made first, and disposed of when nobody else holds it. Where nothing was made
 * it does nothing. The number may stand for another place afterwards. */
INVIVO_API invivo_status invivo_scope_end(invivo_runtime runtime, const char *name, uint64_t place, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
