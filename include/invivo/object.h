/** @file object.h
 * Live objects of any language. */
#ifndef INVIVO_OBJECT_H
#define INVIVO_OBJECT_H

#include "type.h"

INVIVO_EXTERN_C_BEGIN

/** Adds a lease.
 * An object takes up to 2^31 leases; more are refused with INVIVO_E_TOO_LARGE. A handle is never reused for a second
 * object. */
INVIVO_API invivo_status invivo_object_retain(invivo_object object) INVIVO_NOWAIT;
/** Removes a lease.
 * The last lease of an object that the graph does not hold disposes of the object, in its domain. A release without any
 * lease returns INVIVO_E_HANDLE. Leases have no owner: one release too many takes the lease of another holder, but
 * never the hold of the graph. */
INVIVO_API invivo_status invivo_object_release(invivo_object object) INVIVO_WAITS;

/** Reads a property by name. The value is owned by the caller.
 * Call it in the object's domain; elsewhere it returns INVIVO_E_DOMAIN. */
INVIVO_API invivo_status invivo_object_get(invivo_object object, const char *property, invivo_value *out,
                                           invivo_error **error) INVIVO_WAITS;
/** Sets a property by name. The value is converted and range-checked exactly.
 * Setting a property of a block is a reload. Call it in the object's domain; elsewhere it returns INVIVO_E_DOMAIN. */
INVIVO_API invivo_status invivo_object_set(invivo_object object, const char *property, const invivo_value *value,
                                           invivo_error **error) INVIVO_WAITS;
/** Calls a method. Arguments are checked against its parameters.
 * The result is owned by the caller; `result` may be NULL. */
INVIVO_API invivo_status invivo_object_call(invivo_object object, const char *method, const invivo_value *arguments,
                                            size_t count, invivo_value *result, invivo_error **error) INVIVO_WAITS;

/** Returns the instance of an object, borrowed while the caller holds a lease.
 *
 * @param type the expected type, or zero for any; another type is INVIVO_E_TYPE */
INVIVO_API invivo_status invivo_object_instance(invivo_object object, invivo_type type, void **out,
                                                invivo_error **error) INVIVO_WAITS;
/** Returns the type of an object. */
INVIVO_API invivo_status invivo_object_type(invivo_object object, invivo_type *out, invivo_error **error) INVIVO_WAITS;
/** Returns the key for which an object was created; zero if there is none. */
INVIVO_API invivo_status invivo_object_key(invivo_object object, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/** Returns the runtime of an object. */
INVIVO_API invivo_status invivo_object_runtime(invivo_object object, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;

/** Creates an object of a type without a definition. The caller owns one lease.
 * The object belongs to the domain of the calling thread. */
INVIVO_API invivo_status invivo_object_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments,
                                            size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Creates an object for an instance that the host created. The caller owns one lease.
 * The object takes over one reference: disposal calls the type's `release` once (or only `deinit`, for a type with a
 * size). */
INVIVO_API invivo_status invivo_object_wrap(invivo_runtime runtime, invivo_type type, void *instance, invivo_object *out,
                                            invivo_error **error) INVIVO_WAITS;

/* ---- targets of specs -------------------------------------------------------------------------------- */

/** Attaches a live object to a spec key. Traits for the key apply to it now and at each reload.
 *
 * The runtime holds the object weakly and detaches it at its disposal. Several objects may share a key. An object has
 * one key at a time: attaching it again first removes the traits of its former key. Attaching the shared instance of a
 * key to another key returns INVIVO_E_EXISTS. When the runtime closes, attached objects get their own values back.
 * `out` may be NULL.
 *
 * In a `setup` (setup.h), the target belongs to the object that is set up: it is detached before `setup` runs again, and
 * when the object ends. It is then attached and detached by submitted change sets, which follow the commit; `out` receives a
 * zero handle, and an error of the traits is reported to the observers. */
INVIVO_API invivo_status invivo_target_attach(invivo_object object, const char *key, invivo_target *out,
                                              invivo_error **error) INVIVO_WAITS;
/** Detaches a target: removes its traits and drops the attachment. */
INVIVO_API invivo_status invivo_target_detach(invivo_target target, invivo_error **error) INVIVO_WAITS;
/** Detaches a target asynchronously, in the object's domain.
 * For callbacks, where waiting is refused, and for finalizers. The object is kept alive until then. */
INVIVO_API invivo_status invivo_target_detach_later(invivo_target target, invivo_error **error) INVIVO_WAITS;
/** Declares that targets of this key and type will be attached. Documents may name the key before that. */
INVIVO_API invivo_status invivo_target_declare(invivo_runtime runtime, const char *key, invivo_type type,
                                               invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
