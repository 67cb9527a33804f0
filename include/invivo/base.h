/* base.h: versions, status codes, owned errors, and the tags that every declaration carries. */
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

/* Tags. Every function carries exactly one of the first two; bindings are generated from them.
 *
 * INVIVO_NOWAIT  takes no lock, waits for nobody and runs no host code: may be called while a lock of the
 *                host (Python's GIL, say) is held, and from a real-time thread.
 * INVIVO_WAITS   may take a lock, wait, or run host code (constructors, setters, disposal): call it without
 *                locks of the host. From Python it goes through CDLL, which drops the GIL.
 *
 * Threads: a function may be called from any thread unless its comment says otherwise.
 * Strings: names and paths are NUL-terminated UTF-8; data is pointer + length. Neither is kept after the
 * call unless the comment says so. A pointer returned by a function is borrowed; what comes through an
 * out parameter is owned by the caller. Out parameters are zeroed when the call fails.
 * Structs: where a struct begins with `struct_size`, the caller sets it to its sizeof. A size that no version has, as one that
 * ends within a field, is INVIVO_E_ARGUMENT. */
#define INVIVO_NOWAIT
#define INVIVO_WAITS

#define INVIVO_VERSION_MAJOR 0
#define INVIVO_VERSION_MINOR 1
#define INVIVO_VERSION_PATCH 0

INVIVO_EXTERN_C_BEGIN

/* ---- status ------------------------------------------------------------------------------------------ */

/* Zero is good, negative is bad. X(name, number, text). Numbers never change and are never reused. */
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
    X(E_STALE, -14, "the handle belongs to a generation that is gone")                                          \
    X(E_DOMAIN, -15, "the object may only be touched in its domain")                                            \
    X(E_WOULD_WAIT, -16, "the call would have to wait, and may not wait here")                                  \
    X(E_IN_CALLBACK, -17, "the call is not allowed from inside a callback")                                     \
    X(E_BUSY, -18, "something is still in use")                                                                 \
    X(E_TIMEOUT, -19, "the deadline has passed")                                                                \
    X(E_CYCLE, -20, "the wiring goes round in a circle")                                                        \
    X(E_SYNTAX, -21, "the document is not well-formed")                                                         \
    X(E_SPEC, -22, "the document says something that is not known here")                                        \
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
    X(E_AMBIGUOUS, -37, "several fit, and none comes first")                                                    \
    X(E_ABSTRACT, -38, "the definition is abstract: only its children are made")                                \
    X(E_NOT_CONFIGURED, -39, "the configuration says nothing there")                                            \
    X(E_CONVERSION, -40, "the text does not say such a value")                                            \
    X(E_STOP, -41, "it is done, and something failed while it was stopped")                                     \
    X(E_DORMANT, -42, "the definition is dormant: something that it needs is not there")                        \
    X(E_CAPTIVE, -49, "what lives long would hold what must not live so long, or be touched there")

typedef int32_t invivo_status;

enum {
#define INVIVO_STATUS_ENUMERATOR(name, number, text) INVIVO_##name = number,
    INVIVO_STATUS_TABLE(INVIVO_STATUS_ENUMERATOR)
#undef INVIVO_STATUS_ENUMERATOR
    INVIVO_STATUS_LAST = -49
};

/* The constant's name ("INVIVO_E_RANGE") and its text. Never NULL; unknown numbers give "INVIVO_E_UNKNOWN". */
INVIVO_API const char *invivo_status_name(invivo_status status) INVIVO_NOWAIT;
INVIVO_API const char *invivo_status_text(invivo_status status) INVIVO_NOWAIT;

/* The library's version: major * 1000000 + minor * 1000 + patch, and as text ("0.1.0"). */
INVIVO_API uint32_t invivo_version(void) INVIVO_NOWAIT;
INVIVO_API const char *invivo_version_text(void) INVIVO_NOWAIT;

/* ---- errors ------------------------------------------------------------------------------------------ */

/* An owned error. Calls that take `invivo_error **error` set it after a failure when the pointer is not NULL;
 * the caller releases it. Errors may be read from any thread. */
typedef struct invivo_error invivo_error;

/* Makes an error, for a callback to answer with. `path` (key path, may be NULL) and `message` are copied.
 * `cause` (may be NULL) is taken over; of more than 250 causes beneath each other those in between are left out. Never NULL
 * unless memory is out. */
INVIVO_API invivo_error *invivo_error_make(invivo_status code, const char *message, const char *path,
                                           invivo_error *cause) INVIVO_NOWAIT;

/* The same for what was found at a place: `file` (may be NULL) is copied, `line` and `column` count from 1, columns in
 * Unicode scalars (0 = unknown). */
INVIVO_API invivo_error *invivo_error_make_at(invivo_status code, const char *message, const char *path, const char *file,
                                              uint32_t line, uint32_t column, invivo_error *cause) INVIVO_NOWAIT;
/* One error for all that two say, in this order, for a callback that found several. Both are taken over; either may be
 * NULL. The first gives the code. */
INVIVO_API invivo_error *invivo_error_join(invivo_error *first, invivo_error *second) INVIVO_NOWAIT;
/* Another error that says all that a borrowed one says, with its causes and parts: for a callback to answer with what it keeps
 * itself. NULL gives NULL. */
INVIVO_API invivo_error *invivo_error_copy(const invivo_error *error) INVIVO_NOWAIT;

/* Parts of an error; each answers a neutral value for NULL. Strings are borrowed from the error; "" when there
 * is none. Line and column count from 1; 0 when unknown; a column counts Unicode scalars. */
INVIVO_API invivo_status invivo_error_code(const invivo_error *error) INVIVO_NOWAIT;
INVIVO_API const char *invivo_error_message(const invivo_error *error) INVIVO_NOWAIT;
INVIVO_API const char *invivo_error_path(const invivo_error *error) INVIVO_NOWAIT;
INVIVO_API const char *invivo_error_file(const invivo_error *error) INVIVO_NOWAIT;
INVIVO_API uint32_t invivo_error_line(const invivo_error *error) INVIVO_NOWAIT;
INVIVO_API uint32_t invivo_error_column(const invivo_error *error) INVIVO_NOWAIT;
/* Of an error that a check of the wiring found: a name that stays, "wiring.missing", "wiring.cycle", "wiring.ambiguous",
 * "wiring.arity", "wiring.unknown-property", "wiring.unknown-method", "wiring.type", "wiring.read-only",
 * "wiring.configuration", "wiring.duplicate", "wiring.captive", "wiring.abstract", "wiring.description", "config.unread"; "" of
 * other errors. */
INVIVO_API const char *invivo_error_rule(const invivo_error *error) INVIVO_NOWAIT;
/* Who needs the definition that is wrong, the outermost first: "app.main -> app.player"; "" when nobody does. */
INVIVO_API const char *invivo_error_needed_by(const invivo_error *error) INVIVO_NOWAIT;
/* The error underneath, borrowed, or NULL. */
INVIVO_API const invivo_error *invivo_error_cause(const invivo_error *error) INVIVO_NOWAIT;
/* One call may find several errors: how many (1 for a plain error, 0 for NULL), and the one at `index`, borrowed. */
INVIVO_API size_t invivo_error_count(const invivo_error *error) INVIVO_NOWAIT;
INVIVO_API const invivo_error *invivo_error_at(const invivo_error *error, size_t index) INVIVO_NOWAIT;
/* The whole as a person would read it, one line an error: "file:line:column: key.path: message (because ...)". */
INVIVO_API const char *invivo_error_text(const invivo_error *error) INVIVO_NOWAIT;

/* Releases an error and its causes. NULL does nothing. */
INVIVO_API void invivo_error_release(invivo_error *error) INVIVO_NOWAIT;
/* Prints the text to standard error, releases the error, answers 1: `return invivo_error_report(error);` */
INVIVO_API int invivo_error_report(invivo_error *error) INVIVO_WAITS;

/* ---- handles ----------------------------------------------------------------------------------------- */

/* A handle is one word; zero is none. All are checked on use: a stale, foreign or wrong-kind handle answers
 * INVIVO_E_HANDLE. Handles may be copied and used from any thread. */
typedef struct invivo_runtime { uint64_t bits; } invivo_runtime;   /* an engine */
typedef struct invivo_object { uint64_t bits; } invivo_object;     /* one live instance; holding it is a lease */
typedef struct invivo_key { uint64_t bits; } invivo_key;           /* a name in the graph; the low 32 bits are dense */
typedef struct invivo_type { uint64_t bits; } invivo_type;         /* a registered description */
typedef struct invivo_callable { uint64_t bits; } invivo_callable; /* a function of any language; counted */
typedef struct invivo_domain { uint64_t bits; } invivo_domain;     /* where objects may be touched */
typedef struct invivo_job { uint64_t bits; } invivo_job;           /* work posted to a domain of the host's */
typedef struct invivo_changes { uint64_t bits; } invivo_changes;   /* a change set being written */
typedef struct invivo_source { uint64_t bits; } invivo_source;     /* where documents come from */
typedef struct invivo_target { uint64_t bits; } invivo_target;     /* a live object attached to a spec key */
typedef struct invivo_observer { uint64_t bits; } invivo_observer; /* hears of reloads */
typedef struct invivo_module { uint64_t bits; } invivo_module;     /* loaded code */
typedef struct invivo_app { uint64_t bits; } invivo_app;           /* an application manifest run */
typedef struct invivo_override { uint64_t bits; } invivo_override; /* another recipe in a key's place */
typedef struct invivo_config { uint64_t bits; } invivo_config;     /* a path of the configuration; dense like keys */
typedef struct invivo_pool { uint64_t bits; } invivo_pool;         /* a table whose entries live while somebody holds them */

INVIVO_EXTERN_C_END

#endif
