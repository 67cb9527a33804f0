/* value.h: values as they cross between languages, and callables. */
#ifndef INVIVO_VALUE_H
#define INVIVO_VALUE_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

typedef uint32_t invivo_kind;

/* X(name, number). INVIVO_KIND_ANY is a wish ("whatever it is"), never the kind of a value. */
#define INVIVO_KIND_TABLE(X)                                                                                    \
    X(NULL, 0)                                                                                                  \
    X(BOOL, 1)                                                                                                  \
    X(INT8, 2)                                                                                                  \
    X(INT16, 3)                                                                                                 \
    X(INT32, 4)                                                                                                 \
    X(INT64, 5)                                                                                                 \
    X(UINT8, 6)                                                                                                 \
    X(UINT16, 7)                                                                                                \
    X(UINT32, 8)                                                                                                \
    X(UINT64, 9)                                                                                                \
    X(FLOAT, 10)                                                                                                \
    X(DOUBLE, 11)                                                                                               \
    X(STRING, 12)                                                                                               \
    X(BYTES, 13)                                                                                                \
    X(LIST, 14)                                                                                                 \
    X(MAP, 15)                                                                                                  \
    X(OBJECT, 16)                                                                                               \
    X(TYPE, 17)                                                                                                 \
    X(CALLABLE, 18)                                                                                             \
    X(ENUMERATION, 19)                                                                                          \
    X(ANY, 255)

enum {
#define INVIVO_KIND_ENUMERATOR(name, number) INVIVO_KIND_##name = number,
    INVIVO_KIND_TABLE(INVIVO_KIND_ENUMERATOR)
#undef INVIVO_KIND_ENUMERATOR
    INVIVO_KIND_COUNT = 20
};

typedef struct invivo_pair invivo_pair;

/* A value: 24 bytes. Values passed into a call are borrowed for its length. A value that comes through an out
 * parameter is owned: give it back with invivo_value_clear. Nested plain structs cross as maps of their fields.
 * Signed kinds are in `signed_integer`, unsigned ones in `unsigned_integer`, whatever their width.
 * Text is UTF-8 and need not end with NUL. An enumeration has its number and its name (name may be NULL on the
 * way in: then the number decides; with a name the name decides). */
typedef struct invivo_value {
    invivo_kind kind;
    uint32_t reserved; /* zero in what a host makes; the runtime marks what it owns, and frees nothing else */
    union {
        bool boolean;
        int64_t signed_integer;
        uint64_t unsigned_integer;
        float single;
        double number;
        struct { const char *data; uint64_t length; } string;
        struct { const uint8_t *data; uint64_t length; } bytes;
        struct { const struct invivo_value *items; uint64_t count; } list;
        struct { const invivo_pair *pairs; uint64_t count; } map;
        struct { int64_t number; const char *name; } enumeration;
        invivo_object object;
        invivo_type type;
        invivo_callable callable;
    } as;
} invivo_value;

struct invivo_pair {
    const char *name; /* UTF-8, `length` bytes */
    uint64_t length;
    invivo_value value;
};

/* A deep copy that the caller owns: objects and callables in it are held by leases. */
INVIVO_API invivo_status invivo_value_copy(invivo_value *out, const invivo_value *value, invivo_error **error) INVIVO_WAITS;
/* Frees what an owned value holds and makes it null. A null value or NULL does nothing. */
INVIVO_API void invivo_value_clear(invivo_value *value) INVIVO_WAITS;
/* The same value in another kind, owned. Nothing is ever lost: an integer that does not fit, a fraction that would
 * be cut, a double that a float cannot hold exactly (other than by rounding its last digits) answer
 * INVIVO_E_RANGE; kinds that do not convert INVIVO_E_TYPE. Text is never parsed. */
INVIVO_API invivo_status invivo_value_convert(invivo_value *out, const invivo_value *value, invivo_kind kind,
                                              invivo_error **error) INVIVO_WAITS;
/* "int8", "string", ... for messages; "unknown" for numbers that are no kind. */
INVIVO_API const char *invivo_kind_name(invivo_kind kind) INVIVO_NOWAIT;

/* ---- callables --------------------------------------------------------------------------------------- */

typedef struct invivo_callable_options {
    size_t struct_size; /* sizeof(invivo_callable_options) */
    const char *name;   /* for messages; may be NULL */
    /* Runs on the calling thread. `arguments` are borrowed. Sets `*result` (null beforehand) to an owned value,
     * made by invivo_value_copy or holding nothing that must be freed, or answers a status and sets `*error`. */
    invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                            invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /* called exactly once, after the last release; may be NULL */
} invivo_callable_options;

INVIVO_API invivo_status invivo_callable_make(invivo_runtime runtime, const invivo_callable_options *options,
                                              invivo_callable *out, invivo_error **error) INVIVO_WAITS;
INVIVO_API invivo_status invivo_callable_call(invivo_callable callable, const invivo_value *arguments, size_t count,
                                              invivo_value *result, invivo_error **error) INVIVO_WAITS;
INVIVO_API invivo_status invivo_callable_retain(invivo_callable callable) INVIVO_WAITS;
INVIVO_API invivo_status invivo_callable_release(invivo_callable callable) INVIVO_WAITS;
/* The user_data of a callable whose invoke function is `invoke`, or NULL: how a binding knows its own again. */
INVIVO_API void *invivo_callable_user_data(invivo_callable callable,
                                           invivo_status (*invoke)(void *user_data, const invivo_value *arguments,
                                                                   size_t count, invivo_value *result,
                                                                   invivo_error **error)) INVIVO_WAITS;

/* ---- making values ----------------------------------------------------------------------------------- */

static inline invivo_value invivo_null(void) {
    invivo_value value;
    value.kind = INVIVO_KIND_NULL, value.reserved = 0, value.as.string.data = NULL, value.as.string.length = 0;
    return value;
}
static inline invivo_value invivo_bool(bool boolean) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_BOOL, value.as.boolean = boolean;
    return value;
}
static inline invivo_value invivo_int64(int64_t number) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_INT64, value.as.signed_integer = number;
    return value;
}
static inline invivo_value invivo_uint64(uint64_t number) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_UINT64, value.as.unsigned_integer = number;
    return value;
}
static inline invivo_value invivo_float(float number) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_FLOAT, value.as.single = number;
    return value;
}
static inline invivo_value invivo_double(double number) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_DOUBLE, value.as.number = number;
    return value;
}
static inline invivo_value invivo_string_n(const char *data, uint64_t length) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_STRING, value.as.string.data = data, value.as.string.length = length;
    return value;
}
static inline invivo_value invivo_string(const char *text) {
    uint64_t length = 0;
    while (text && text[length]) length++;
    return invivo_string_n(text, length);
}
static inline invivo_value invivo_bytes(const uint8_t *data, uint64_t length) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_BYTES, value.as.bytes.data = data, value.as.bytes.length = length;
    return value;
}
static inline invivo_value invivo_list(const invivo_value *items, uint64_t count) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_LIST, value.as.list.items = items, value.as.list.count = count;
    return value;
}
static inline invivo_value invivo_map(const invivo_pair *pairs, uint64_t count) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_MAP, value.as.map.pairs = pairs, value.as.map.count = count;
    return value;
}
static inline invivo_value invivo_object_value(invivo_object object) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_OBJECT, value.as.object = object;
    return value;
}
static inline invivo_value invivo_type_value(invivo_type type) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_TYPE, value.as.type = type;
    return value;
}
static inline invivo_value invivo_callable_value(invivo_callable callable) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_CALLABLE, value.as.callable = callable;
    return value;
}

INVIVO_EXTERN_C_END

#endif
