/** @file value.h
 * Values that cross between languages, and callables. */
#ifndef INVIVO_VALUE_H
#define INVIVO_VALUE_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

/** The kind of a value: INVIVO_KIND_... */
typedef uint32_t invivo_kind;

/** The kinds of values: X(name, number).
 * INVIVO_KIND_ANY is for requests ("any kind") only. A value never has this kind. */
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

/** A value of 24 bytes.
 *
 * Values passed into a call are borrowed for its duration. A value in an out parameter is owned by the caller, who
 * frees it with invivo_value_clear. Nested plain structs are maps of their fields. Signed kinds of all widths use
 * `signed_integer`, unsigned ones `unsigned_integer`. Strings are UTF-8 and need no NUL at the end. An enumeration has
 * a number and a name. As input, its name may be NULL; if it is not, the name determines the value. */
typedef struct invivo_value {
    invivo_kind kind;
    uint32_t reserved; /**< zero in values of the host; the runtime marks values that it owns, and frees no others */
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

/** One entry of a map. */
struct invivo_pair {
    const char *name; /**< UTF-8, `length` bytes */
    uint64_t length;
    invivo_value value;
};

/** Makes a deep copy that the caller owns. The copy holds leases on its objects and callables. */
INVIVO_API invivo_status invivo_value_copy(invivo_value *out, const invivo_value *value, invivo_error **error) INVIVO_WAITS;
/** Frees the contents of an owned value and makes it null. A null value or NULL is a no-op. */
INVIVO_API void invivo_value_clear(invivo_value *value) INVIVO_WAITS;
/** Converts a value to another kind. The result is owned.
 * The conversion is exact. INVIVO_E_RANGE: an integer does not fit, a fraction would be lost, or a double is outside
 * the range of a float (rounding of its last digits is allowed). INVIVO_E_TYPE: the kinds are not convertible. Strings
 * are never parsed. */
INVIVO_API invivo_status invivo_value_convert(invivo_value *out, const invivo_value *value, invivo_kind kind,
                                              invivo_error **error) INVIVO_WAITS;
/** Returns the name of a kind for messages: "int8", "string"; "unknown" for an unknown number. */
INVIVO_API const char *invivo_kind_name(invivo_kind kind) INVIVO_NOWAIT;

/* ---- callables --------------------------------------------------------------------------------------- */

/** Options of invivo_callable_make. */
typedef struct invivo_callable_options {
    size_t struct_size; /**< sizeof(invivo_callable_options) */
    const char *name;   /**< for messages; may be NULL */
    /** The function. It runs on the calling thread.
     * `arguments` are borrowed. On success it sets `*result` (initially null) to an owned value: one that
     * invivo_value_copy made, or one without memory to free. On failure it returns a status and sets `*error`. */
    invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                            invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /**< called exactly once, after the last release; may be NULL */
} invivo_callable_options;

/** Creates a callable. The caller owns one reference. */
INVIVO_API invivo_status invivo_callable_make(invivo_runtime runtime, const invivo_callable_options *options,
                                              invivo_callable *out, invivo_error **error) INVIVO_WAITS;
/** Calls a callable. The result is owned by the caller; `result` may be NULL. */
INVIVO_API invivo_status invivo_callable_call(invivo_callable callable, const invivo_value *arguments, size_t count,
                                              invivo_value *result, invivo_error **error) INVIVO_WAITS;
/** Adds a reference. */
INVIVO_API invivo_status invivo_callable_retain(invivo_callable callable) INVIVO_WAITS;
/** Removes a reference. The last one destroys the callable. */
INVIVO_API invivo_status invivo_callable_release(invivo_callable callable) INVIVO_WAITS;
/** Returns the user_data of a callable if its function is `invoke`, else NULL.
 * A binding uses it to recognize its own callables. */
INVIVO_API void *invivo_callable_user_data(invivo_callable callable,
                                           invivo_status (*invoke)(void *user_data, const invivo_value *arguments,
                                                                   size_t count, invivo_value *result,
                                                                   invivo_error **error)) INVIVO_WAITS;

/* ---- constructors of values ---------------------------------------------------------------------------- */

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
