/** @file base.h
 * Version, status codes, errors, handles, and the tags of all declarations. */
#ifndef INVIVO_BASE_H
#define INVIVO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define INVIVO_EXTERN_C_BEGIN extern "C" {
#define INVIVO_EXTERN_C_END }
#else
#define INVIVO_EXTERN_C_BEGIN
#define INVIVO_EXTERN_C_END
#endif

#define INVIVO_API extern

/* Tags. Each function carries exactly one of them. The bindings are generated from them.
 *
 * INVIVO_NOWAIT: the function takes no lock, never waits and runs no host code. It may be called while the host holds a
 * lock (such as Python's GIL), and from a real-time thread. The exception is the first read of a thread that has not called
 * invivo_thread_prepare: it takes a lock of the process for a moment, and allocates.
 *
 * INVIVO_WAITS: the function may take a lock, wait, or run host code (constructors, setters, disposal). Call it without
 * holding a lock that any host code may need. Python calls it through CDLL, which releases the GIL.
 *
 * Rules for all functions, unless a comment states otherwise:
 *
 * - Threads: a function may be called from any thread.
 * - Strings: names and paths are NUL-terminated UTF-8; data is a pointer and a length. The library copies what it
 *   keeps.
 * - Ownership: a returned pointer is borrowed. A value in an out parameter is owned by the caller.
 * - Errors: a function that returns an invivo_status zeroes its out parameters on failure and sets `*error`.
 * - Structs: if a struct begins with `struct_size`, the caller sets it to the sizeof of the struct. A size that belongs
 *   to no version of the struct is INVIVO_E_ARGUMENT. */
#define INVIVO_NOWAIT
#define INVIVO_WAITS

#define INVIVO_VERSION_MAJOR 0
#define INVIVO_VERSION_MINOR 1
#define INVIVO_VERSION_PATCH 0

INVIVO_EXTERN_C_BEGIN

/* ---- status ------------------------------------------------------------------------------------------ */

/** The status codes: X(name, number, text).
 * Zero means success, negative numbers are errors. Numbers never change and are never reused. Some are reserved: -43 to -48. */
#define INVIVO_STATUS_TABLE(X)                                                                                  \
    X(OK, 0, "success")                                                                                         \
    X(E_ARGUMENT, -1, "an argument is missing or not allowed")                                                  \
    X(E_HANDLE, -2, "the handle is stale, foreign or of another kind")                                          \
    X(E_CLOSED, -3, "the runtime is closed")                                                                    \
    X(E_MEMORY, -4, "out of memory")                                                                            \
    X(E_NOT_FOUND, -5, "no such key, name or file")                                                             \
    X(E_EXISTS, -6, "the name is taken")                                                                        \
    X(E_TYPE, -7, "the value or object has another type")                                                       \
    X(E_RANGE, -8, "the value is outside the range")                                                            \
    X(E_READ_ONLY, -9, "the property cannot be set")                                                            \
    X(E_PROPERTY, -10, "the type has no such property")                                                         \
    X(E_METHOD, -11, "the type has no such method")                                                             \
    X(E_ARITY, -12, "the number of arguments is wrong")                                                         \
    X(E_COLD, -13, "the shared object is not built yet")                                                        \
    X(E_STALE, -14, "the handle or change set belongs to a former generation")                                \
    X(E_DOMAIN, -15, "the object may only be touched in its domain")                                            \
    X(E_WOULD_WAIT, -16, "the call would have to wait, and may not wait here")                                  \
    X(E_IN_CALLBACK, -17, "the call is not allowed from inside a callback")                                     \
    X(E_BUSY, -18, "something is still in use")                                                                 \
    X(E_TIMEOUT, -19, "the deadline has passed")                                                                \
    X(E_CYCLE, -20, "the dependencies form a cycle")                                                            \
    X(E_SYNTAX, -21, "the document is not well-formed")                                                         \
    X(E_SPEC, -22, "the document names something unknown")                                                      \
    X(E_ENCODING, -23, "the text is not UTF-8")                                                                 \
    X(E_EMPTY, -24, "the document is empty")                                                                    \
    X(E_TOO_LARGE, -25, "a limit is exceeded")                                                                  \
    X(E_FILE, -26, "not a readable regular file")                                                               \
    X(E_SYSTEM, -27, "the operating system refused")                                                            \
    X(E_MODULE, -28, "the module cannot be used")                                                               \
    X(E_VERSION, -29, "the versions do not fit")                                                                \
    X(E_HOST, -30, "host code failed")                                                                          \
    X(E_FORKED, -31, "the runtime belongs to the parent process")                                               \
    X(E_NOT_READY, -32, "not built, not started or not there yet")                                              \
    X(E_CHANGED, -33, "something else changed it meanwhile")                                                    \
    X(E_NULL, -34, "null where a value is needed")                                                              \
    X(E_UNSUPPORTED, -35, "not supported here")                                                                 \
    X(E_INTERNAL, -36, "a fault of the runtime itself; please report it")                                       \
    X(E_AMBIGUOUS, -37, "several candidates match, and none has priority")                                      \
    X(E_ABSTRACT, -38, "the definition is abstract: only its children can be resolved")                         \
    X(E_NOT_CONFIGURED, -39, "there is no configuration value at the path")                                     \
    X(E_CONVERSION, -40, "the string cannot be converted to the requested kind")                                \
    X(E_STOP, -41, "the call succeeded, but an object failed to stop")                                          \
    X(E_DORMANT, -42, "the definition is blocked on a missing dependency")                                      \
    X(E_CAPTIVE, -49, "captive dependency: a longer-lived object would hold a shorter-lived or thread-confined one") \
    X(E_REFUSED, -50, "a definition refuses a change of its dependency")                                       \
    X(E_ORPHANED, -51, "the parent of the context has ended")

typedef int32_t invivo_status;

enum {
#define INVIVO_STATUS_ENUMERATOR(name, number, text) INVIVO_##name = number,
    INVIVO_STATUS_TABLE(INVIVO_STATUS_ENUMERATOR)
#undef INVIVO_STATUS_ENUMERATOR
    INVIVO_STATUS_LAST = -51
};

/** Returns the name of a status code, such as "INVIVO_E_RANGE".
 * Never NULL. Returns "INVIVO_E_UNKNOWN" for an unknown number. */
INVIVO_API const char *invivo_status_name(invivo_status status) INVIVO_NOWAIT;
/** Returns the text of a status code. Never NULL. */
INVIVO_API const char *invivo_status_text(invivo_status status) INVIVO_NOWAIT;

/** Returns the version of the library: major * 1000000 + minor * 1000 + patch. */
INVIVO_API uint32_t invivo_version(void) INVIVO_NOWAIT;
/** Returns the version of the library as a string, such as "0.1.0". */
INVIVO_API const char *invivo_version_text(void) INVIVO_NOWAIT;

/* ---- errors ------------------------------------------------------------------------------------------ */

/** An error that its holder owns.
 * Functions with a parameter `invivo_error **error` set it on failure, if the pointer is not NULL. The caller releases
 * the error. Any thread may read it. */
typedef struct invivo_error invivo_error;

/** Creates an error, for a callback to return.
 *
 * @param code the status code
 * @param message the message; copied
 * @param path the key path, or NULL; copied
 * @param cause the cause, or NULL; the new error owns it. Of more than 250 nested causes, the middle ones are dropped.
 * @return the error; NULL only if memory is exhausted */
INVIVO_API invivo_error *invivo_error_make(invivo_status code, const char *message, const char *path,
                                           invivo_error *cause) INVIVO_NOWAIT;

/** Creates an error with a source location.
 *
 * @param file the file, or NULL; copied
 * @param line the line, counted from 1; 0 = unknown
 * @param column the column in Unicode scalars, counted from 1; 0 = unknown
 * @see invivo_error_make */
INVIVO_API invivo_error *invivo_error_make_at(invivo_status code, const char *message, const char *path, const char *file,
                                              uint32_t line, uint32_t column, invivo_error *cause) INVIVO_NOWAIT;
/** Combines two errors into one, for a callback that found several errors.
 *
 * @param first the first error, or NULL; its code is the code of the result. The result owns it.
 * @param second the second error, or NULL; the result owns it. */
INVIVO_API invivo_error *invivo_error_join(invivo_error *first, invivo_error *second) INVIVO_NOWAIT;
/** Copies an error with its causes and parts. Returns NULL for NULL. */
INVIVO_API invivo_error *invivo_error_copy(const invivo_error *error) INVIVO_NOWAIT;

/** Returns the status code of an error; INVIVO_OK for NULL. */
INVIVO_API invivo_status invivo_error_code(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the message, borrowed from the error; "" for NULL. */
INVIVO_API const char *invivo_error_message(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the key path, borrowed from the error; "" if there is none. */
INVIVO_API const char *invivo_error_path(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the file, borrowed from the error; "" if there is none. */
INVIVO_API const char *invivo_error_file(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the line, counted from 1; 0 if unknown. */
INVIVO_API uint32_t invivo_error_line(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the column in Unicode scalars, counted from 1; 0 if unknown. */
INVIVO_API uint32_t invivo_error_column(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the name of the wiring rule that the error violates; "" if it violates none.
 * The names are stable: "wiring.missing", "wiring.cycle", "wiring.ambiguous", "wiring.arity",
 * "wiring.unknown-property", "wiring.unknown-method", "wiring.type", "wiring.read-only", "wiring.configuration",
 * "wiring.duplicate", "wiring.captive", "wiring.abstract", "wiring.description", "config.unread",
 * "trait.unknown", "trait.misspelled", "trait.condition", "trait.unread". */
INVIVO_API const char *invivo_error_rule(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the dependents of the definition at fault, the outermost first: "app.main -> app.player".
 * Borrowed from the error; "" if there are none. */
INVIVO_API const char *invivo_error_needed_by(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the cause of an error, borrowed, or NULL. */
INVIVO_API const invivo_error *invivo_error_cause(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the number of errors in an error: 1 for a plain error, 0 for NULL.
 * A function that finds several errors returns them as one. */
INVIVO_API size_t invivo_error_count(const invivo_error *error) INVIVO_NOWAIT;
/** Returns the error at `index`, borrowed. */
INVIVO_API const invivo_error *invivo_error_at(const invivo_error *error, size_t index) INVIVO_NOWAIT;
/** Returns the complete text, one line per error: "file:line:column: key.path: message (because ...)". */
INVIVO_API const char *invivo_error_text(const invivo_error *error) INVIVO_NOWAIT;

/** Releases an error and its causes. NULL is a no-op. */
INVIVO_API void invivo_error_release(invivo_error *error) INVIVO_NOWAIT;
/** Prints the text to standard error, releases the error, and returns 1.
 * For main: `return invivo_error_report(error);` */
INVIVO_API int invivo_error_report(invivo_error *error) INVIVO_WAITS;

/* ---- handles ----------------------------------------------------------------------------------------- */

/* Handles. A handle is one word; zero means no handle. The library checks each handle on use: a stale, foreign or
 * wrong-kind handle returns INVIVO_E_HANDLE. Any thread may copy and use a handle. */
typedef struct invivo_runtime { uint64_t bits; } invivo_runtime;   /**< a runtime */
typedef struct invivo_object { uint64_t bits; } invivo_object;     /**< a live object; its holder has a lease */
typedef struct invivo_key { uint64_t bits; } invivo_key;           /**< the name of a definition; the low 32 bits are dense */
typedef struct invivo_type { uint64_t bits; } invivo_type;         /**< a registered type */
typedef struct invivo_callable { uint64_t bits; } invivo_callable; /**< a function of any language; reference-counted */
typedef struct invivo_domain { uint64_t bits; } invivo_domain;     /**< a thread or executor for confined objects */
typedef struct invivo_job { uint64_t bits; } invivo_job;           /**< a job posted to a domain of the host */
typedef struct invivo_changes { uint64_t bits; } invivo_changes;   /**< an open change set */
typedef struct invivo_source { uint64_t bits; } invivo_source;     /**< the origin of a document */
typedef struct invivo_target { uint64_t bits; } invivo_target;     /**< a live object attached to a spec key */
typedef struct invivo_observer { uint64_t bits; } invivo_observer; /**< an observer of reloads */
typedef struct invivo_module { uint64_t bits; } invivo_module;     /**< a loaded module */
typedef struct invivo_app { uint64_t bits; } invivo_app;           /**< a running application */
typedef struct invivo_override { uint64_t bits; } invivo_override; /**< a temporary replacement of a definition */
typedef struct invivo_config { uint64_t bits; } invivo_config;     /**< a configuration path; dense like keys */
/** a table of objects whose entries live as long as their objects are held */
typedef struct invivo_pool { uint64_t bits; } invivo_pool;
typedef struct invivo_pin { uint64_t bits; } invivo_pin; /**< a kept generation */
typedef struct invivo_context { uint64_t bits; } invivo_context; /**< values that are inherited from context to context */

INVIVO_EXTERN_C_END

#endif
