/* Written by `invivo keys`; do not edit. A function for each key, which resolves it with the arguments that its definition
 * takes. What comes through `out` is a lease: give it back with invivo_object_release(it.object). An argument that may be left
 * out is a pointer, or an object without bits. */
#pragma once
#include <invivo/invivo.h>

#ifndef INVIVO_KEYS_FUNCTIONS
#define INVIVO_KEYS_FUNCTIONS
/* `known` is the key that the function last found: it is that of its name as long as the runtime lives. */
static inline invivo_status invivo_keys_resolve(invivo_runtime runtime, uint64_t *known, const char *name, bool is_nullable,
                                                const invivo_value *arguments, size_t count, invivo_object *out,
                                                invivo_error **error) {
    invivo_key key;
    if (out) out->bits = 0;
    key.bits = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!invivo_key_is_of(key, runtime)) {
        invivo_status status = invivo_key_find(runtime, name, &key, error);
        if (status) return status;
        __atomic_store_n(known, key.bits, __ATOMIC_RELAXED);
    }
    return is_nullable ? invivo_resolve_optional(runtime, key, arguments, count, out, error)
                       : invivo_resolve_with(runtime, key, arguments, count, out, error);
}
static inline void *invivo_keys_instance(invivo_object object) {
    invivo_type any;
    void *instance = NULL;
    any.bits = 0;
    return invivo_object_instance(object, any, &instance, NULL) ? NULL : instance;
}
#endif

#ifndef INVIVO_KEYS_Any
#define INVIVO_KEYS_Any
typedef struct Any_object { invivo_object object; } Any_object;
/* Borrowed while the lease is held; NULL when there is none. */
static inline void *Any_instance(Any_object it) { return invivo_keys_instance(it.object); }
#endif
#ifndef INVIVO_KEYS_Ghost
#define INVIVO_KEYS_Ghost
typedef struct Ghost_object { invivo_object object; } Ghost_object;
/* Borrowed while the lease is held; NULL when there is none. */
static inline void *Ghost_instance(Ghost_object it) { return invivo_keys_instance(it.object); }
#endif
#ifndef INVIVO_KEYS_Knight
#define INVIVO_KEYS_Knight
typedef struct Knight_object { invivo_object object; } Knight_object;
/* Borrowed while the lease is held; NULL when there is none. */
static inline void *Knight_instance(Knight_object it) { return invivo_keys_instance(it.object); }
#endif
#ifndef INVIVO_KEYS_Thing
#define INVIVO_KEYS_Thing
typedef struct Thing_object { invivo_object object; } Thing_object;
/* Borrowed while the lease is held; NULL when there is none. */
static inline void *Thing_instance(Thing_object it) { return invivo_keys_instance(it.object); }
#endif
#ifndef INVIVO_KEYS_Knight_as_Thing
#define INVIVO_KEYS_Knight_as_Thing
static inline Thing_object Knight_as_Thing(Knight_object it) {
    Thing_object as;
    as.object = it.object;
    return as;
}
#endif
#ifndef INVIVO_KEYS_Thing_as_Any
#define INVIVO_KEYS_Thing_as_Any
static inline Any_object Thing_as_Any(Thing_object it) {
    Any_object as;
    as.object = it.object;
    return as;
}
#endif

/* camelot.any: prototype. */
static inline invivo_status camelot_any(invivo_runtime runtime, Thing_object *out, bool runtime_, uint8_t class_, double rate, const char *name, invivo_value more, const float *level, invivo_error **error) {
    static uint64_t known;
    const invivo_value arguments[] = {invivo_bool(runtime_), invivo_uint64(class_), invivo_double(rate), invivo_string(name), more, level ? invivo_float(*level) : invivo_null()};
    return invivo_keys_resolve(runtime, &known, "camelot.any", false, arguments, 6, out ? &out->object : NULL, error);
}

/* camelot.galahad: stands for camelot.knight. */
static inline invivo_status camelot_galahad(invivo_runtime runtime, Knight_object *out, const int64_t *number, invivo_error **error) {
    static uint64_t known;
    const invivo_value arguments[] = {number ? invivo_int64(*number) : invivo_null()};
    return invivo_keys_resolve(runtime, &known, "camelot.galahad", false, arguments, 1, out ? &out->object : NULL, error);
}

/* camelot.knight: prototype. */
static inline invivo_status camelot_knight(invivo_runtime runtime, Knight_object *out, Thing_object quest, const int64_t *number, invivo_error **error) {
    static uint64_t known;
    const invivo_value arguments[] = {invivo_object_value(quest.object), number ? invivo_int64(*number) : invivo_null()};
    return invivo_keys_resolve(runtime, &known, "camelot.knight", false, arguments, 2, out ? &out->object : NULL, error);
}

/* camelot.table: lazy singleton. */
static inline invivo_status camelot_table(invivo_runtime runtime, Thing_object *out, invivo_error **error) {
    static uint64_t known;
    return invivo_keys_resolve(runtime, &known, "camelot.table", false, NULL, 0, out ? &out->object : NULL, error);
}

/* far.away.any: prototype. */
static inline invivo_status far_away_any(invivo_runtime runtime, Thing_object *out, bool runtime_, uint8_t class_, double rate, const char *name, invivo_value more, const float *level, invivo_error **error) {
    static uint64_t known;
    const invivo_value arguments[] = {invivo_bool(runtime_), invivo_uint64(class_), invivo_double(rate), invivo_string(name), more, level ? invivo_float(*level) : invivo_null()};
    return invivo_keys_resolve(runtime, &known, "far.away.any", false, arguments, 6, out ? &out->object : NULL, error);
}

/* far.away.galahad: stands for far.away.knight. */
static inline invivo_status far_away_galahad(invivo_runtime runtime, Knight_object *out, const int64_t *number, invivo_error **error) {
    static uint64_t known;
    const invivo_value arguments[] = {number ? invivo_int64(*number) : invivo_null()};
    return invivo_keys_resolve(runtime, &known, "far.away.galahad", false, arguments, 1, out ? &out->object : NULL, error);
}

/* far.away.knight: prototype. */
static inline invivo_status far_away_knight(invivo_runtime runtime, Knight_object *out, Thing_object quest, const int64_t *number, invivo_error **error) {
    static uint64_t known;
    const invivo_value arguments[] = {invivo_object_value(quest.object), number ? invivo_int64(*number) : invivo_null()};
    return invivo_keys_resolve(runtime, &known, "far.away.knight", false, arguments, 2, out ? &out->object : NULL, error);
}

/* far.away.table: lazy singleton. */
static inline invivo_status far_away_table(invivo_runtime runtime, Thing_object *out, invivo_error **error) {
    static uint64_t known;
    return invivo_keys_resolve(runtime, &known, "far.away.table", false, NULL, 0, out ? &out->object : NULL, error);
}

/* ghost_key: prototype; `out` may have no object. */
static inline invivo_status ghost_key(invivo_runtime runtime, Ghost_object *out, invivo_error **error) {
    static uint64_t known;
    return invivo_keys_resolve(runtime, &known, "ghost_key", true, NULL, 0, out ? &out->object : NULL, error);
}
