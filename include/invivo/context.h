/** @file context.h
 * Contexts: values that are inherited from context to context, for a request, a session, a window or a plug-in. */
#ifndef INVIVO_CONTEXT_H
#define INVIVO_CONTEXT_H

#include "object.h"
#include "pin.h"
#include "view.h"

INVIVO_EXTERN_C_BEGIN

/* A context is a table of values under keys, with an optional parent, an optional kind and an optional object. A lookup begins in
 * the context and goes upward; the first context with the key answers. Writes act on one context only.
 *
 * Contexts with the same outermost context form a tree. Each get, enumeration and change takes effect at one instant between its
 * call and its return, for the whole chain of contexts, and a thread sees its own changes. A get takes no lock, never retries, and
 * completes while other threads are suspended at any point. Changes of one tree wait for each other, for a moment.
 *
 * A context has holders: its opener, the objects that it is attached to, and its children that hold it strongly. It ends by
 * invivo_context_end, or with its last holder. A context with a kind is to be ended: if its last holder leaves it before, that is
 * logged, and its parent or the runtime ends it. After its end, functions return INVIVO_E_STALE for its handle, and the handle never
 * denotes another context.
 *
 * All functions may be called from any thread and from callbacks, unless a comment states otherwise. In a forked child they return
 * INVIVO_E_FORKED. */

/* ---- kinds ------------------------------------------------------------------------------------------- */

/** How the contexts of a kind take part in reloads. */
enum {
    INVIVO_CONTEXT_FOLLOWS = 1 /**< their objects follow reloads */
};

/** A value that contexts of a kind have from their opening on. */
typedef struct invivo_context_provided {
    const char *key;
    uint32_t flags; /**< INVIVO_PROVIDED_... */
    uint32_t reserved;
} invivo_context_provided;
enum {
    INVIVO_PROVIDED_LIVE = 1 /**< it may change while the context is open; without it, changes return INVIVO_E_READ_ONLY */
};

/** A kind of contexts, such as "session" or "request". */
typedef struct invivo_context_kind {
    size_t struct_size;
    const char *name;
    uint32_t policy; /**< INVIVO_CONTEXT_FOLLOWS; required */
    uint32_t reserved;
    const invivo_context_provided *provides; /**< the values that each context of the kind must have when it opens */
    uint64_t provided_count;
} invivo_context_kind;

/** Declares kinds of contexts, from the outermost to the innermost; they follow those that are declared already.
 * A context of a kind is opened in contexts of the same kind or of outer ones. Kinds may be skipped. Declaring a kind again with
 * the same content is a no-op; with other content it is INVIVO_E_EXISTS. All kinds are added, or none. */
INVIVO_API invivo_status invivo_context_declare_kinds(invivo_runtime runtime, const invivo_context_kind *kinds, size_t count,
                                                      invivo_error **error) INVIVO_WAITS;

/** The declaration of a key of contexts. */
typedef struct invivo_context_key {
    size_t struct_size;
    const char *name;
    invivo_kind kind;      /**< values are converted to this kind, exactly; INVIVO_KIND_ANY: any kind */
    uint32_t reserved;
    const char *type_name; /**< for objects: the type or supertype of the values; NULL = any */
    const invivo_value *initial; /**< the result of a get that finds no value; NULL = none. Copied */
} invivo_context_key;

/** Declares the type and the default of a key. It applies to values that are set afterwards, and to all lookups.
 * Declaring a key again with the same content is a no-op; with other content it is INVIVO_E_EXISTS. */
INVIVO_API invivo_status invivo_context_declare_key(invivo_runtime runtime, const invivo_context_key *key,
                                                    invivo_error **error) INVIVO_WAITS;

/* ---- life -------------------------------------------------------------------------------------------- */

/** A value for a key of a context. */
typedef struct invivo_context_value {
    invivo_key key; /**< of invivo_key_intern */
    invivo_value value; /**< copied; null is INVIVO_E_NULL */
} invivo_context_value;

/** Flags of invivo_context_options. */
enum {
    INVIVO_CONTEXT_DETACHED = 1,      /**< no parent, even if the thread has a current context */
    INVIVO_CONTEXT_STRONG_PARENT = 2, /**< the context holds its parent; the default for a context with a kind */
    INVIVO_CONTEXT_WEAK_PARENT = 4    /**< the context does not hold its parent; the default without a kind */
};

/** Options of invivo_context_open. */
typedef struct invivo_context_options {
    size_t struct_size;
    const char *kind; /**< a declared kind; NULL = none */
    /** Where lookups continue. Zero: the current context of the thread, or none. It never changes. */
    invivo_context parent;
    uint32_t flags;   /**< INVIVO_CONTEXT_... */
    uint32_t reserved;
    const invivo_context_value *values; /**< in the context before any other code has it */
    uint64_t value_count;
    /** The context as an object with methods; zero = none. The context holds a lease until it ends. */
    invivo_object object;
    invivo_place place; /**< where it is opened, for messages */
} invivo_context_options;

/** Opens a context. The caller is its holder, and ends or releases it.
 * Errors: INVIVO_E_NOT_FOUND for an unknown kind, or for provided values that are missing (all of them are named);
 * INVIVO_E_ARGUMENT for a kind that is opened inside an inner one; INVIVO_E_STALE for a parent that has ended.
 *
 * @param options may be NULL */
INVIVO_API invivo_status invivo_context_open(invivo_runtime runtime, const invivo_context_options *options, invivo_context *out,
                                             invivo_error **error) INVIVO_WAITS;
/** Ends a context, whoever holds it: first the open contexts that hold it strongly, the newest first.
 *
 * Waits for builds in it. Then stops the objects that live in it and have a stop function, the last created first, and releases the
 * shared ones; an object that is still leased ends with its last lease. Then its values are released, and it is detached from its
 * objects. Contexts that hold it weakly stay open; their lookups upward then return INVIVO_E_ORPHANED.
 *
 * While it ends, its values can be read, and what is built in it and not stopped can be resolved; building is INVIVO_E_STALE. All
 * this has one deadline, `end_timeout_ms` of the runtime; what has not ended by then is abandoned and reported.
 * Errors: all errors of stops, as one; INVIVO_E_TIMEOUT for what is abandoned; INVIVO_E_IN_CALLBACK, without effect, in a build or
 * hook of an object in it. Ending a context again returns the result of the first call, which it waits for; the failures of the last
 * 256 ends that failed are known. */
INVIVO_API invivo_status invivo_context_end(invivo_context context, invivo_error **error) INVIVO_WAITS;

/** Options of invivo_context_end_with. */
typedef struct invivo_context_ending {
    size_t struct_size;
    uint32_t timeout_ms; /**< 0: `end_timeout_ms` of the runtime */
    uint32_t flags;      /**< INVIVO_END_... */
    /** Why the work in the context failed; for the stop functions (invivo_context_failure). INVIVO_OK: it did not fail. */
    invivo_status failure;
    uint32_t reserved;
    const char *failure_message; /**< copied; may be NULL */
} invivo_context_ending;
enum {
    INVIVO_END_REFUSES_CHILDREN = 1 /**< while contexts hold it strongly, the end is INVIVO_E_BUSY, lists them, and has no effect */
};
/** Ends a context as invivo_context_end does.
 *
 * @param options may be NULL
 * @param leased receives the names of the objects that lived in it and are still leased, as an owned list of strings, the last created
 * first: keys, or types for objects without one. May be NULL. */
INVIVO_API invivo_status invivo_context_end_with(invivo_context context, const invivo_context_ending *options, invivo_value *leased,
                                                 invivo_error **error) INVIVO_WAITS;
/** Returns `failure` of the end that is under way, for stop functions of the objects of a context; INVIVO_OK if there is none,
 * INVIVO_E_HANDLE for a handle that is not one of a context.
 *
 * @param message receives `failure_message`, borrowed until the stop function returns; NULL if there is none. May be NULL. */
INVIVO_API invivo_status invivo_context_failure(invivo_context context, const char **message) INVIVO_WAITS;
/** Adds a holder. */
INVIVO_API invivo_status invivo_context_retain(invivo_context context, invivo_error **error) INVIVO_WAITS;
/** Removes a holder. The last one ends a context without a kind. Zero and a context that has ended are a no-op. */
INVIVO_API invivo_status invivo_context_release(invivo_context context, invivo_error **error) INVIVO_WAITS;

/* ---- values ------------------------------------------------------------------------------------------ */

/** Returns the value of a key in the context, in the nearest context above it that has one, or the default of the key.
 *
 * The result is owned: invivo_value_clear frees it. A get copies a number, and adds a reference to everything else: it allocates
 * nothing, except an error. Errors: INVIVO_E_NOT_FOUND, also for a key that is hidden; INVIVO_E_ORPHANED if a parent has ended below
 * which the key was not found. Pass NULL for `error` where a missing value is expected. */
INVIVO_API invivo_status invivo_context_get(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error) INVIVO_NOWAIT;
/** Returns the value that the context itself has. Otherwise as invivo_context_get; without a default. */
INVIVO_API invivo_status invivo_context_get_local(invivo_context context, invivo_key key, invivo_value *out,
                                                  invivo_error **error) INVIVO_NOWAIT;
/** Returns the value that invivo_context_get would return, borrowed until the view ends; NULL if there is none.
 * For real-time threads: there is nothing to release. */
INVIVO_API const invivo_value *invivo_view_context_value(invivo_view view, invivo_context context, invivo_key key) INVIVO_NOWAIT;

/** Sets a value in this context. It shadows the values above.
 * Errors: INVIVO_E_NULL for null (see invivo_context_hide), INVIVO_E_TYPE, INVIVO_E_RANGE, INVIVO_E_READ_ONLY. */
INVIVO_API invivo_status invivo_context_set(invivo_context context, invivo_key key, const invivo_value *value,
                                            invivo_error **error) INVIVO_WAITS;
/** Removes the value or the tombstone of this context: lookups find the value above again. INVIVO_E_NOT_FOUND if there is none. */
INVIVO_API invivo_status invivo_context_remove(invivo_context context, invivo_key key, invivo_error **error) INVIVO_WAITS;
/** Hides a key with a tombstone: lookups from this context and below find no value above it, and not the default. */
INVIVO_API invivo_status invivo_context_hide(invivo_context context, invivo_key key, invivo_error **error) INVIVO_WAITS;

/** The kinds of changes of one key. */
enum { INVIVO_VALUE_SET = 0, INVIVO_VALUE_REMOVE = 1, INVIVO_VALUE_HIDE = 2 };
/** One part of a change of several keys. */
typedef struct invivo_context_change {
    invivo_key key;
    uint32_t what; /**< INVIVO_VALUE_... */
    uint32_t reserved;
    invivo_value value; /**< of SET */
} invivo_context_change;
/** Changes several keys of a context at one instant: all or none. A key that occurs twice is INVIVO_E_ARGUMENT. */
INVIVO_API invivo_status invivo_context_change_values(invivo_context context, const invivo_context_change *changes, size_t count,
                                                      invivo_error **error) INVIVO_WAITS;

/** Lists the values that lookups from a context find, sorted by name, as an owned list of lists: the name of the key, the value,
 * the number of contexts between (0: the context itself).
 * INVIVO_E_ORPHANED if a parent has ended; with `local`, only the values of the context itself are listed. */
INVIVO_API invivo_status invivo_context_entries(invivo_context context, bool local, invivo_value *out,
                                                invivo_error **error) INVIVO_WAITS;

/** Options of invivo_context_observe. */
typedef struct invivo_context_observer {
    size_t struct_size;
    /** Called after changes of the key in the context or above it, without locks held. Changes that follow each other closely are
     * one call. `value` is the current one, borrowed; NULL if there is none. Close of the observer waits for a call on another
     * thread. */
    void (*changed)(void *user_data, invivo_context context, invivo_key key, const invivo_value *value);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once, when the observer is gone; may be NULL */
    invivo_domain domain;             /**< where it is called; zero = the thread of the change */
} invivo_context_observer;
/** Observes a key of a context. The observer ends by invivo_observer_close, or with the context. */
INVIVO_API invivo_status invivo_context_observe(invivo_context context, invivo_key key, const invivo_context_observer *options,
                                                invivo_observer *out, invivo_error **error) INVIVO_WAITS;

/* ---- the chain --------------------------------------------------------------------------------------- */

/** Returns the parent, borrowed; zero if there is none. INVIVO_E_ORPHANED if it has ended. */
INVIVO_API invivo_status invivo_context_parent(invivo_context context, invivo_context *out, invivo_error **error) INVIVO_WAITS;
/** Returns the name of the kind, borrowed until the runtime closes; NULL if there is none. */
INVIVO_API invivo_status invivo_context_kind_name(invivo_context context, const char **out, invivo_error **error) INVIVO_WAITS;
/** Returns the object of a context with a lease for the caller; zero if there is none. */
INVIVO_API invivo_status invivo_context_object(invivo_context context, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Returns the runtime of a context. */
INVIVO_API invivo_status invivo_context_runtime(invivo_context context, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;

/** The subject of invivo_context_find: exactly one of `kind` and `type`. */
typedef struct invivo_context_query {
    size_t struct_size;
    const char *kind; /**< contexts of this kind; NULL = not given */
    const char *type; /**< contexts with an object of this type or with this supertype or interface; NULL = not given */
    uint32_t flags;   /**< INVIVO_FIND_... */
    uint32_t reserved;
} invivo_context_query;
enum {
    INVIVO_FIND_ABOVE = 1,     /**< begins with the parent */
    INVIVO_FIND_EXACT_TYPE = 2 /**< exactly the type, no subtypes */
};
/** Finds the nearest context upward, borrowed. INVIVO_E_NOT_FOUND if there is none, INVIVO_E_ORPHANED if a parent has ended below
 * which none was found. */
INVIVO_API invivo_status invivo_context_find(invivo_context context, const invivo_context_query *query, invivo_context *out,
                                             invivo_error **error) INVIVO_WAITS;

/* ---- objects that live in contexts ---------------------------------------------------------------------- */

/* A definition with INVIVO_SCOPE_CONTEXT has one object in each context of its kind, and in the context of the resolve without a kind
 * (wiring.h). It is found from the current context upward, and its own dependencies from the context in which it lives. While code of
 * an object runs - a factory, a hook, a stop function - the current context is the one in which the object lives, or none for an object
 * that lives in no context, whoever has requested it. */

/** Resolves a key as invivo_resolve does, with `context` as the current context of the call. The caller owns the lease.
 * Errors: INVIVO_E_NOT_READY for an object of a kind of which no context is open here or above. */
INVIVO_API invivo_status invivo_context_resolve(invivo_context context, invivo_key key, invivo_object *out,
                                                invivo_error **error) INVIVO_WAITS;

/* ---- the current context ------------------------------------------------------------------------------ */

/** Makes a context the current one of the calling thread, until invivo_context_leave. Calls nest, also for the same context. */
INVIVO_API invivo_status invivo_context_enter(invivo_context context, invivo_error **error) INVIVO_WAITS;
/** Ends the innermost invivo_context_enter of this context on the calling thread; others may be left in any order. The context may
 * have ended. INVIVO_E_DOMAIN if the thread has not entered it; INVIVO_E_STALE if it has ended, too. */
INVIVO_API invivo_status invivo_context_leave(invivo_context context, invivo_error **error) INVIVO_WAITS;
/** Returns the current context of the calling thread, borrowed; zero if there is none. In code of an object it is the context in which
 * the object lives; otherwise the one that the thread entered last and that has not ended. */
INVIVO_API invivo_context invivo_context_current(invivo_runtime runtime) INVIVO_NOWAIT;

/* ---- objects ------------------------------------------------------------------------------------------ */

/** Attaches a context to an object, which is then one of its holders. An object has one context at a time; a former one is replaced.
 * Several objects may have the same context. The end of the object detaches it. */
INVIVO_API invivo_status invivo_context_attach(invivo_context context, invivo_object object, invivo_error **error) INVIVO_WAITS;
/** Detaches the context of an object. An object without one is a no-op. */
INVIVO_API invivo_status invivo_context_detach(invivo_object object, invivo_error **error) INVIVO_WAITS;
/** Returns the nearest context of an object, borrowed: its own, else that of its parent (`parent` of the type), and so on; for an
 * object without a parent, the one in which it was created. Zero if there is none. Call it in the object's domain. A cycle of parents is INVIVO_E_CYCLE. */
INVIVO_API invivo_status invivo_context_of(invivo_object object, invivo_context *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
