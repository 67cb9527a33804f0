/** @file config.h
 * The configuration: values from documents and runtime settings; and converters, which read values from strings. */
#ifndef INVIVO_CONFIG_H
#define INVIVO_CONFIG_H

#include "view.h"
#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/* The `config:` part of a document contains values:
 *
 *     config:
 *       synth: { voices: 8, cutoff: 1.2 kHz }    # for definitions of the assembly `synth`
 *       global: { folder: /var/lib/synth }       # for all definitions
 *
 * Later documents override earlier ones, and runtime settings (invivo_changes_configure) override all documents. Maps
 * merge, lists and scalars are replaced, and null removes. A path names a value through the maps: "synth.voices". A key
 * at the top may itself be a path. A path has at most 64 names.
 *
 * A definition requests "voices" with INVIVO_INJECT_CONFIG. For the key "synth.osc.input", the search order is
 * synth.osc.voices, synth.voices, global.voices. "/drums.voices" is a whole path. All other paths in this header are
 * whole paths, with or without the slash. */

/* ---- reads in views ------------------------------------------------------------------------------------ */

/** Returns the id of a path, for reads in views. The path may have no value.
 *
 * @param kind the kind that the caller will read: INVIVO_KIND_ANY, a number kind, BOOL, STRING, LIST or MAP. The
 *     current value must convert to it, else the call returns INVIVO_E_TYPE or INVIVO_E_RANGE with the source location.
 *     Later documents with another kind are refused. A scalar with environment variables is a string for STRING, and is
 *     read as a number or a boolean for these. If its kind in views changes by that, the call is a reload. */
INVIVO_API invivo_status invivo_config_id(invivo_runtime runtime, const char *path, invivo_kind kind, invivo_config *out,
                                          invivo_error **error) INVIVO_WAITS;
/** Returns the path of an id, borrowed while the runtime lives; NULL for an invalid id. */
INVIVO_API const char *invivo_config_path(invivo_runtime runtime, invivo_config id) INVIVO_WAITS;
/** Reads the current value at a path, as an owned value.
 * A missing value is INVIVO_E_NOT_CONFIGURED; the error names the nearest path. */
INVIVO_API invivo_status invivo_config_read(invivo_runtime runtime, const char *path, invivo_value *out,
                                            invivo_error **error) INVIVO_WAITS;

/* The `type` of an entry whose `block` is a configuration value. No type has these bits. For a list or map
 * (INVIVO_ENTRY_CONFIG_LATE) `block` points to a pointer to the value, which is NULL until the first read. */
enum { INVIVO_ENTRY_CONFIG = 1, INVIVO_ENTRY_CONFIG_LATE = 2 };

/** The slow path of invivo_view_config, for a list or map, whose value the first read creates. */
INVIVO_API const invivo_value *invivo_view_config_late(invivo_view view, invivo_config id) INVIVO_NOWAIT;

/** Returns the scalar at a path, borrowed until the view ends; NULL for a list, a map or a missing value. */
static inline const invivo_value *invivo_view_config_scalar(invivo_view view, invivo_config id) {
    const invivo_entry *entry;
    uint32_t index = (uint32_t)id.bits;
    if (!view.graph || (uint32_t)(id.bits >> 32) != view.graph->owner || index >= view.graph->count) return NULL;
    entry = &view.graph->chunks[index >> INVIVO_CHUNK_SHIFT][index & INVIVO_CHUNK_MASK];
    return entry->type == INVIVO_ENTRY_CONFIG ? (const invivo_value *)entry->block : NULL;
}

/** Returns the value at a path, borrowed until the view ends; NULL if it is missing.
 * All values of a view belong to one generation. Integers are INT64 (UINT64 above its range), other numbers DOUBLE. The
 * bytes of a string are followed by a NUL. */
static inline const invivo_value *invivo_view_config(invivo_view view, invivo_config id) {
    const invivo_entry *entry;
    const invivo_value *value;
    uint32_t index = (uint32_t)id.bits;
    if (!view.graph || (uint32_t)(id.bits >> 32) != view.graph->owner || index >= view.graph->count) return NULL;
    entry = &view.graph->chunks[index >> INVIVO_CHUNK_SHIFT][index & INVIVO_CHUNK_MASK];
    if (entry->type == INVIVO_ENTRY_CONFIG) return (const invivo_value *)entry->block;
    if (entry->type != INVIVO_ENTRY_CONFIG_LATE) return NULL;
    value = __atomic_load_n((const invivo_value *const *)entry->block, __ATOMIC_ACQUIRE);
    return value ? value : invivo_view_config_late(view, id);
}

/** Returns a bool, or `otherwise` if it is missing or has another kind. */
static inline bool invivo_view_config_bool(invivo_view view, invivo_config id, bool otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    return value && value->kind == INVIVO_KIND_BOOL ? value->as.boolean : otherwise;
}
/** Returns an integer, also from a double without a fraction; else `otherwise`. */
static inline int64_t invivo_view_config_int64(invivo_view view, invivo_config id, int64_t otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    if (!value) return otherwise;
    if (value->kind == INVIVO_KIND_INT64) return value->as.signed_integer;
    if (value->kind == INVIVO_KIND_DOUBLE && value->as.number >= -9223372036854775808.0 &&
        value->as.number < 9223372036854775808.0 && (double)(int64_t)value->as.number == value->as.number)
        return (int64_t)value->as.number;
    return otherwise;
}
/** Returns a double, also from an integer; else `otherwise`. */
static inline double invivo_view_config_double(invivo_view view, invivo_config id, double otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    if (!value) return otherwise;
    if (value->kind == INVIVO_KIND_DOUBLE) return value->as.number;
    if (value->kind == INVIVO_KIND_INT64) return (double)value->as.signed_integer;
    if (value->kind == INVIVO_KIND_UINT64) return (double)value->as.unsigned_integer;
    return otherwise;
}
/** Returns a NUL-terminated string, borrowed until the view ends; else `otherwise`. */
static inline const char *invivo_view_config_string(invivo_view view, invivo_config id, const char *otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    return value && value->kind == INVIVO_KIND_STRING ? value->as.string.data : otherwise;
}

/* ---- observers ----------------------------------------------------------------------------------------- */

/** Options of invivo_config_observe. */
typedef struct invivo_config_observer_options {
    size_t struct_size;
    /** Called once after each reload that changed the value at the path or below. In order, without locks held.
     * `value` is the new value, borrowed; null if there is none. `generation` is the generation of the change. */
    void (*changed)(void *user_data, const char *path, const invivo_value *value, uint64_t generation);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once; may be NULL */
    invivo_domain domain;             /**< the domain of the calls; zero = the thread of the reload */
} invivo_config_observer_options;

/** Observes a path. "" observes everything. Ends with invivo_observer_close, or when the runtime closes. Called together with
 * the observers of reloads, in their order; an equal one (function, `user_data`, `domain`, path) is the same observer: see
 * invivo_observe. */
INVIVO_API invivo_status invivo_config_observe(invivo_runtime runtime, const char *path,
                                               const invivo_config_observer_options *options, invivo_observer *out,
                                               invivo_error **error) INVIVO_WAITS;

/* ---- runtime settings ---------------------------------------------------------------------------------- */

/** Sets a runtime setting, which overrides all documents until the runtime closes.
 * Later settings override earlier ones. A null value removes the value at the path. `value` NULL removes the settings
 * of the path and all paths below, so that the documents apply again. */
INVIVO_API invivo_status invivo_changes_configure(invivo_changes changes, const char *path, const invivo_value *value,
                                                  invivo_error **error) INVIVO_WAITS;

/* ---- secrets -------------------------------------------------------------------------------------------- */

/* A secret is shown as `<secret>` in errors, warnings, reports, logs, graphs and the output of tools: neither its value, nor its length or
 * a hash. Messages of host functions (rules, checks, `create` functions) about a secret are dropped. Reads and injections give the
 * value itself, and so does the text of a document (invivo_document_text): its caller asks for it. A value is secret if
 *
 * - its path, or a path around it, was declared: by invivo_changes_add_secret, by the manifest (`secrets:`), or by an active assembly
 *   (invivo_assembly.secrets);
 * - it belongs to a secret field of bound settings (settings.h);
 * - the property or the field of a trait type that receives it has INVIVO_PROPERTY_SECRET.
 *
 * The content of a file (`file:`) and the value of an environment variable are never shown, either. Names of keys are not secret. */

/** Declares a configuration path as secret, with everything below it. "" is the whole configuration. It need not have a value. A rollback
 * brings the declarations of the former generation back. Declaring a path again is a no-op. */
INVIVO_API invivo_status invivo_changes_add_secret(invivo_changes changes, const char *path, invivo_error **error) INVIVO_WAITS;
/** Revokes a declaration of invivo_changes_add_secret. A path that was not declared is an error of the commit, INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_changes_remove_secret(invivo_changes changes, const char *path,
                                                      invivo_error **error) INVIVO_WAITS;
/** Stores whether the value at a path is secret, or a part of it, in the current generation. */
INVIVO_API invivo_status invivo_config_is_secret(invivo_runtime runtime, const char *path, bool *out,
                                                 invivo_error **error) INVIVO_WAITS;

/* ---- converters ------------------------------------------------------------------------------------------- */

/** Options of invivo_converter_register. A converter reads values from strings.
 *
 * Predefined converters:
 *
 *     number    12, -0.5, 1e3, 0x20; with the unit of its target, 1.2 kHz
 *     bool      true, false
 *     duration  250 ms, 1.5 s, 1 h 30 min: seconds
 *     bytes     4096, 64 KiB, 1.5 MB: a whole number of bytes
 *     base64    bytes
 *     path      made absolute, relative to the folder of its document
 *     url       checked: a scheme, and no characters that must be escaped
 *     colour    #rgb, #rgba, #rrggbb, #rrggbbaa: for an integer 0xRRGGBBAA, else a map red, green, blue, alpha from 0 to 1
 *
 * A configuration string is read by the converter of its target: numbers by `number` (times also by `duration`), bools
 * by `bool`, bytes by `base64`, and objects by the converter with the name of their type. A string target receives the
 * string unchanged. A constant (INVIVO_INJECT_VALUE) is never converted. INVIVO_INJECT_TEXT names its converter. */
typedef struct invivo_converter_options {
    size_t struct_size;
    const char *name; /**< the name; if it is the name of a type, also the converter of targets with this type */
    /** Reads a string. Sets `*out` to an owned value, as a callable does. A NUL follows the text.
     * Called once when a string is planned, on the thread of the reload; all its targets receive the result. An error
     * receives the source location of the string. */
    invivo_status (*convert)(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once, after the last use; may be NULL */
    /** Reads values of all kinds, instead of `convert`, which may then be NULL. May be NULL.
     * `value` is the configuration value, borrowed and never null. The path of an error ("config.port",
     * "config.hosts.0") names the part at fault after its first name; the error receives the source location of that
     * part. */
    invivo_status (*read)(void *user_data, const invivo_value *value, invivo_value *out, invivo_error **error);
} invivo_converter_options;

/** Registers a converter. A name that is in use is INVIVO_E_EXISTS, and `destroy` is not called. */
INVIVO_API invivo_status invivo_converter_register(invivo_runtime runtime, const invivo_converter_options *options,
                                                   invivo_error **error) INVIVO_WAITS;
/** Removes a converter, also a predefined one. Converted values stay; later plans do not find it. */
INVIVO_API invivo_status invivo_converter_unregister(invivo_runtime runtime, const char *name,
                                                     invivo_error **error) INVIVO_WAITS;
/** Converts one string to an owned value. INVIVO_E_CONVERSION describes the fault and its position in the string. */
INVIVO_API invivo_status invivo_convert(invivo_runtime runtime, const char *converter, const char *text, uint64_t length,
                                        invivo_value *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
