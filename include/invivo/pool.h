/* pool.h: weak pools: tables whose entries live as long as somebody holds them. */
#ifndef INVIVO_POOL_H
#define INVIVO_POOL_H

#include "object.h"

INVIVO_EXTERN_C_BEGIN

/* A pool finds what is alive again by a key, and keeps nothing alive. An entry lives as long as its object is held: by a lease or
 * the graph; of a type with weak references (weak_make in invivo_type_options) as long as anybody holds the instance, whatever
 * handles there are. One object may be in several pools, under several keys.
 *
 * A key is a number, a text, bytes, a bool, an enumeration, an object, type or callable (by identity), or a list of these.
 * Numbers of any width are one key when they are equal. It is copied, up to 65,535 bytes.
 *
 * Every function may be called from any thread, also from inside callbacks unless it says otherwise. Looking an entry up takes
 * no lock and waits for nobody; who makes, puts or removes one keeps others of the same part of the table out for a moment. */

/* Makes the object of a key: sets `*out` with one lease for who asked. It may resolve and use pools, this one too; asking for
 * what is just being made for this call answers INVIVO_E_CYCLE. */
typedef invivo_status (*invivo_pool_make)(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error);

typedef struct invivo_pool_options {
    size_t struct_size;
    const char *name;      /* for messages and invivo_pool_find; NULL: the pool has none. Taken: INVIVO_E_EXISTS */
    invivo_pool_make make; /* how what is missing comes about, unless a call says it; may be NULL */
    void *user_data;       /* of `make` */
    void (*destroy)(void *user_data); /* once, when the pool is gone; may be NULL */
} invivo_pool_options;

/* Opens a pool of objects of this runtime; `options` may be NULL. It ends with the runtime at the latest. */
INVIVO_API invivo_status invivo_pool_open(invivo_runtime runtime, const invivo_pool_options *options, invivo_pool *out,
                                          invivo_error **error) INVIVO_WAITS;
/* The pool of a name, whatever language opened it; an unknown one is INVIVO_E_NOT_FOUND and names the nearest. */
INVIVO_API invivo_status invivo_pool_find(invivo_runtime runtime, const char *name, invivo_pool *out,
                                          invivo_error **error) INVIVO_WAITS;
/* The pool's handle is stale from now on. The objects are who holds them's. */
INVIVO_API invivo_status invivo_pool_close(invivo_pool pool, invivo_error **error) INVIVO_WAITS;

/* The live object of a key, or a new one that `make` (NULL: the pool's own) makes: once, however many threads ask; the others
 * wait for it alone, and get its failure. One lease is yours. Without a `make` what is missing is INVIVO_E_NOT_FOUND.
 * A call that races with the last release gets the living object or a new one. */
INVIVO_API invivo_status invivo_pool_get(invivo_pool pool, const invivo_value *key, invivo_pool_make make, void *user_data,
                                         invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* The live object of a key with one lease, or INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_pool_peek(invivo_pool pool, const invivo_value *key, invivo_object *out) INVIVO_WAITS;
/* The same for a type that counts its instances itself: the instance with one reference of the type's, without a handle.
 * Another type is INVIVO_E_TYPE. */
INVIVO_API invivo_status invivo_pool_peek_instance(invivo_pool pool, const invivo_value *key, invivo_type type, void **out,
                                                   invivo_error **error) INVIVO_WAITS;
/* Enters an object that exists, in the place of what the key had. What is being made for the key is awaited. */
INVIVO_API invivo_status invivo_pool_put(invivo_pool pool, const invivo_value *key, invivo_object object,
                                         invivo_error **error) INVIVO_WAITS;
/* Forgets an entry; its object lives on. INVIVO_E_NOT_FOUND when there is none. What is being made for the key goes to those who
 * asked, and into no entry. */
INVIVO_API invivo_status invivo_pool_remove(invivo_pool pool, const invivo_value *key, invivo_error **error) INVIVO_WAITS;
/* The live entries as an owned list of lists of two: key, object. Their order means nothing; what comes or goes meanwhile may be
 * in it or not. It costs what the pool holds. */
INVIVO_API invivo_status invivo_pool_list(invivo_pool pool, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/* How many entries are alive, counted now: it costs what the pool holds. */
INVIVO_API invivo_status invivo_pool_count(invivo_pool pool, uint64_t *out, invivo_error **error) INVIVO_WAITS;
/* Forgets all entries, as a reload: observers hear of it with the cause "clear NAME", and `*count` (may be NULL) is how many were
 * alive. Their objects live on with who holds them; who asks afterwards gets new ones. From inside a callback, where
 * waiting for a reload is refused, it answers INVIVO_E_WOULD_WAIT. */
INVIVO_API invivo_status invivo_pool_clear(invivo_pool pool, uint64_t *count, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
