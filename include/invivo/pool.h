/** @file pool.h
 * Weak pools: tables whose entries live as long as their objects have holders. */
#ifndef INVIVO_POOL_H
#define INVIVO_POOL_H

#include "object.h"

INVIVO_EXTERN_C_BEGIN

/* A pool finds live objects by key, and keeps none alive. An entry lives as long as its object has a lease or is in the
 * graph. With weak references (weak_make in invivo_type_options), it lives as long as the host language refers to the
 * instance. An object may be in several pools, under several keys.
 *
 * A key is a number, string, bytes, bool, enumeration, object, type or callable (by identity), or a list of these.
 * Equal numbers of any width are one key. Keys are copied; they have up to 65,535 bytes.
 *
 * All functions may be called from any thread and from callbacks, unless a comment states otherwise. Lookups take no
 * lock and never wait. Creating, adding or removing an entry briefly locks a part of the table. */

/** Creates the object of a key. Sets `*out` with one lease for the requester.
 * It may resolve, and use pools, including this one. A request for an entry that is being created for this call returns
 * INVIVO_E_CYCLE. */
typedef invivo_status (*invivo_pool_make)(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error);

/** Options of invivo_pool_open. */
typedef struct invivo_pool_options {
    size_t struct_size;
    const char *name;      /**< for messages and invivo_pool_find; NULL = no name. A name that is in use is INVIVO_E_EXISTS */
    invivo_pool_make make; /**< the default function for missing entries; may be NULL */
    void *user_data;       /**< for `make` */
    void (*destroy)(void *user_data); /**< called once, when the pool is gone; may be NULL */
} invivo_pool_options;

/** Opens a pool for objects of a runtime. `options` may be NULL. Closing the runtime closes it. */
INVIVO_API invivo_status invivo_pool_open(invivo_runtime runtime, const invivo_pool_options *options, invivo_pool *out,
                                          invivo_error **error) INVIVO_WAITS;
/** Finds a pool by name, in all languages. An unknown name is INVIVO_E_NOT_FOUND; the error names the nearest one. */
INVIVO_API invivo_status invivo_pool_find(invivo_runtime runtime, const char *name, invivo_pool *out,
                                          invivo_error **error) INVIVO_WAITS;
/** Closes a pool. Its handle is stale afterwards. Its objects live on with their holders. */
INVIVO_API invivo_status invivo_pool_close(invivo_pool pool, invivo_error **error) INVIVO_WAITS;

/** Returns the live object of a key, or creates it. The caller owns one lease.
 * Concurrent requests create one object: the other threads wait for this creation only, and receive its error. Without
 * a `make` function a missing entry is INVIVO_E_NOT_FOUND. A call that races with the last release returns the live
 * object or a new one.
 *
 * @param make creates a missing object; NULL = the function of the pool */
INVIVO_API invivo_status invivo_pool_get(invivo_pool pool, const invivo_value *key, invivo_pool_make make, void *user_data,
                                         invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Returns the live object of a key with one lease, or INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_pool_peek(invivo_pool pool, const invivo_value *key, invivo_object *out) INVIVO_WAITS;
/** Returns the live instance of a key with one reference of its language, without a handle.
 * For types with their own reference counts. Another type is INVIVO_E_TYPE. */
INVIVO_API invivo_status invivo_pool_peek_instance(invivo_pool pool, const invivo_value *key, invivo_type type, void **out,
                                                   invivo_error **error) INVIVO_WAITS;
/** Adds an existing object, or replaces the entry of the key. Waits if an object of the key is being created. */
INVIVO_API invivo_status invivo_pool_put(invivo_pool pool, const invivo_value *key, invivo_object object,
                                         invivo_error **error) INVIVO_WAITS;
/** Removes an entry. Its object lives on. INVIVO_E_NOT_FOUND if there is none.
 * An object that is being created for the key goes to its requesters only, and gets no entry. */
INVIVO_API invivo_status invivo_pool_remove(invivo_pool pool, const invivo_value *key, invivo_error **error) INVIVO_WAITS;
/** Lists the live entries as an owned list of pairs: key, object.
 * The order is unspecified. Concurrent changes may or may not be included. The cost is proportional to the size of the
 * pool. */
INVIVO_API invivo_status invivo_pool_list(invivo_pool pool, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Counts the live entries. The cost is proportional to the size of the pool. */
INVIVO_API invivo_status invivo_pool_count(invivo_pool pool, uint64_t *out, invivo_error **error) INVIVO_WAITS;
/** Removes all entries, as a reload with the cause "clear NAME". Their objects live on with their holders.
 * In a callback, where waiting for a reload is refused, it returns INVIVO_E_WOULD_WAIT.
 *
 * @param count receives the number of live entries; may be NULL */
INVIVO_API invivo_status invivo_pool_clear(invivo_pool pool, uint64_t *count, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
