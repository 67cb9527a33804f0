/* object.h: live instances, whatever language made them. */
#ifndef INVIVO_OBJECT_H
#define INVIVO_OBJECT_H

#include "type.h"

INVIVO_EXTERN_C_BEGIN

/* One lease more; one lease less. The last lease of an object that the graph does not hold disposes of it, in its
 * domain. A release when there is no lease answers INVIVO_E_HANDLE. Leases have no owner: one
 * release too many takes the lease of another holder, while there is one, but never the graph's own hold.
 * An object takes 2^31 leases; more are refused with INVIVO_E_TOO_LARGE. A handle is never used for a second object. */
INVIVO_API invivo_status invivo_object_retain(invivo_object object) INVIVO_NOWAIT;
INVIVO_API invivo_status invivo_object_release(invivo_object object) INVIVO_WAITS;

/* Properties by name, in the object's domain (elsewhere INVIVO_E_DOMAIN). The value got is owned. A value set is
 * converted and range-checked exactly; setting a property that lives in a block is a reload of its own. */
INVIVO_API invivo_status invivo_object_get(invivo_object object, const char *property, invivo_value *out,
                                           invivo_error **error) INVIVO_WAITS;
INVIVO_API invivo_status invivo_object_set(invivo_object object, const char *property, const invivo_value *value,
                                           invivo_error **error) INVIVO_WAITS;
/* Calls a method; arguments are checked against its parameters. The result is owned; `result` may be NULL. */
INVIVO_API invivo_status invivo_object_call(invivo_object object, const char *method, const invivo_value *arguments,
                                            size_t count, invivo_value *result, invivo_error **error) INVIVO_WAITS;

/* The instance, borrowed while the lease is held. `type` zero = any; otherwise another type is INVIVO_E_TYPE. */
INVIVO_API invivo_status invivo_object_instance(invivo_object object, invivo_type type, void **out,
                                                invivo_error **error) INVIVO_WAITS;
/* Its type. */
INVIVO_API invivo_status invivo_object_type(invivo_object object, invivo_type *out, invivo_error **error) INVIVO_WAITS;
/* The key it was made for; zero when none. */
INVIVO_API invivo_status invivo_object_key(invivo_object object, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/* The runtime it belongs to. */
INVIVO_API invivo_status invivo_object_runtime(invivo_object object, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;

/* Makes an object of a type without a definition; it belongs to the calling thread's domain. One lease is yours. */
INVIVO_API invivo_status invivo_object_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments,
                                            size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* Makes a handle for an instance that the host made. Takes over one reference: the type's `release` (or `deinit` and
 * nothing else, for a type with a size) is called once when the object is disposed. One lease is yours. */
INVIVO_API invivo_status invivo_object_wrap(invivo_runtime runtime, invivo_type type, void *instance, invivo_object *out,
                                            invivo_error **error) INVIVO_WAITS;

/* ---- targets of specs -------------------------------------------------------------------------------- */

/* Attaches a live object to a spec key: what documents say for the key is applied now and at every reload. The object
 * is held weakly: it is detached when it is disposed. Several objects may share a key; an object has one key at a
 * time: attaching again takes the former key's traits away first. A key's shared instance is tuned as that key;
 * attaching it to another answers INVIVO_E_EXISTS. `out` may be NULL. When the runtime closes, what is still attached gets
 * its own values back. */
INVIVO_API invivo_status invivo_target_attach(invivo_object object, const char *key, invivo_target *out,
                                              invivo_error **error) INVIVO_WAITS;
/* Takes the traits away and lets go. */
INVIVO_API invivo_status invivo_target_detach(invivo_target target, invivo_error **error) INVIVO_WAITS;
/* The same, handed over: for inside a callback, where waiting is refused, and for finalizers. The runtime's own thread takes
 * the traits away soon, in the object's domain; the object is kept until then. */
INVIVO_API invivo_status invivo_target_detach_later(invivo_target target, invivo_error **error) INVIVO_WAITS;
/* Says that targets of this key and type will come, so that documents may name it before. */
INVIVO_API invivo_status invivo_target_declare(invivo_runtime runtime, const char *key, invivo_type type,
                                               invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
