/** @file scope.h
 * Scopes of the host: one instance per request, window, document, or any other lifetime of the host. */
#ifndef INVIVO_SCOPE_H
#define INVIVO_SCOPE_H

#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/** Options of invivo_scope_register.
 *
 * A definition with INVIVO_SCOPE_HOST and this `scope_name` has one shared instance for each scope instance. The first
 * resolve in a scope instance builds it, once, for all threads. The runtime holds it until the scope instance ends, the
 * definition changes or the runtime closes. Then it disposes of the objects in reverse order of creation.
 *
 * INVIVO_SCOPE_THREAD is such a scope with the name "thread". It always exists; each thread is a scope instance.
 *
 * The callbacks run without locks held, on the thread that resolves or releases. */
typedef struct invivo_scope_options {
    size_t struct_size;
    const char *name;
    /** Finds the scope instance of the calling code.
     * Sets `*place` to a number that the host chooses. The initial 0 means none: the resolve returns
     * INVIVO_E_NOT_READY. */
    invivo_status (*find)(void *user_data, uint64_t *place, invivo_error **error);
    /** Called when an object has been created for a scope instance and is kept. The object is borrowed. May be NULL. */
    void (*keep)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    /** Called before an object of a scope instance is disposed of. May be NULL.
     * The object has no holder any more. Use its handle only to identify it. */
    void (*drop)(void *user_data, uint64_t place, invivo_key key, invivo_object object);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once, when the runtime is gone; may be NULL */
} invivo_scope_options;

/** Registers a scope of the host.
 * Call it before a definition that names the scope takes effect. A name that is in use is INVIVO_E_EXISTS, and
 * `destroy` is not called. */
INVIVO_API invivo_status invivo_scope_register(invivo_runtime runtime, const invivo_scope_options *options, invivo_error **error) INVIVO_WAITS;
/** Ends a scope instance.
 * Its objects are released in reverse order of creation, and disposed of if they have no other holder. A scope instance
 * without objects is a no-op. The number may then identify another scope instance. */
INVIVO_API invivo_status invivo_scope_end(invivo_runtime runtime, const char *name, uint64_t place, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
