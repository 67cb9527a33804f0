/** @file settings.h
 * Typed settings: a section of the configuration as a value of the host's own type. */
#ifndef INVIVO_SETTINGS_H
#define INVIVO_SETTINGS_H

#include "config.h"
#include "type.h"

INVIVO_EXTERN_C_BEGIN

/* A binding reads a section of the configuration (config.h) into a value of the host: a struct, or any other value.
 *
 *     typedef struct audio { double rate; int64_t voices; } audio;
 *     static const invivo_property fields[] = {
 *         INVIVO_FIELD(audio, rate, .initial = 48000, .unit = "Hz"),
 *         INVIVO_FLAGGED_FIELD(audio, INVIVO_PROPERTY_REQUIRED, voices, .min = 1, .max = 64)};
 *
 * Each generation has its own value of each binding, which is created with the generation and never changes. A reload that
 * changes the section creates the next one, and all other reloads share the former one. If the section is invalid, the
 * reload fails, and the former generation stays. All errors of a change set are reported at once, each with its path, file,
 * line and column. A key that is no field is an error that names the nearest field. A section that is missing is read as an
 * empty map.
 *
 * With `fields`, the runtime reads the section into a struct of `size` bytes, as it reads the values of properties: strings
 * with units, environment variables, ranges and choices. Then it calls `check`. With `create`, the host reads the section.
 *
 * `check` and `create` run as rules do (rule.h): on a thread of the runtime, without locks held, within `rule_timeout_ms` for
 * all of them in a change set. They must be pure functions of the section, must not wait, and must not call this runtime. If
 * one does not return in time, the change set fails with INVIVO_E_TIMEOUT. Until it returns, changes of its section are refused.
 *
 * Observe the section with invivo_config_observe. A rollback reads the section of the former generation again. */

/** Flags of invivo_section. */
enum {
    INVIVO_SECTION_PRIVATE = 1 /**< errors must not quote values: one may be secret, or the content of a file (`file:`) */
};

/** Flags of invivo_settings. */
enum {
    /** `create` honors INVIVO_SECTION_PRIVATE. Without it, errors of `create` about a section with secrets are shown without their
     * messages. */
    INVIVO_SETTINGS_DISCREET = 1
};

/** The section that `create` reads. Valid during the call. */
typedef struct invivo_section {
    size_t struct_size;
    const invivo_value *value; /**< the merged value; an empty map if there is none */
    /** The values with environment variables: a map from their paths in the section ("hosts.0.port") to their strings; a value in the
     * list or map of a variable, a secret and the content of a file have null. A receiver of a string takes the string, and one of a number or bool reads it as one. Errors
     * must not quote these values. INVIVO_KIND_NULL if there are none. */
    const invivo_value *variables;
    uint32_t flags; /**< INVIVO_SECTION_... */
    uint32_t reserved;
} invivo_section;

/** A binding of a section. */
typedef struct invivo_settings {
    size_t struct_size;
    const char *name; /**< unique; a later binding with the same name replaces it */
    const char *path; /**< the path of the section: "audio"; "" is the whole configuration */
    /** The fields of the struct. INVIVO_PROPERTY_REQUIRED marks those without a default; the default of another one is its initial value.
     * INVIVO_PROPERTY_SECRET makes the path of a field secret (config.h). The flags INVIVO_PROPERTY_BLOCK, _RESTART, _READ_ONLY and
     * _NOT_TUNABLE, and functions, are errors. */
    const invivo_property *fields;
    uint64_t field_count;
    uint64_t size; /**< the size of the struct; 0 with `create` */
    /** Refuses fields that are invalid together: returns the status of the refusal, with an error that says why. It may store the
     * index of the field at fault in `*at`. `value` is the struct, and `values` holds the value of each field. Only with `fields`. May
     * be NULL. */
    invivo_status (*check)(const void *value, const invivo_value *values, size_t count, size_t *at, void *user_data,
                           invivo_error **error);
    /** Creates the value of a generation from the section, instead of `fields`. The path of an error ("port", "hosts.0.port") names the
     * part of the section at fault, and the error receives its source location. invivo_error_join reports several errors. */
    invivo_status (*create)(const invivo_section *section, void **out, void *user_data, invivo_error **error);
    /** Ends a value that `create` has stored: when its generation has ended, or its change set has failed. Called on any thread. May be
     * NULL. */
    void (*release)(void *value, void *user_data);
    void *user_data;
    /** Called once when the binding is dropped, and no value of it is left. It may be called on a thread of the runtime, and after close.
     * May be NULL. */
    void (*destroy)(void *user_data);
    uint32_t flags; /**< INVIVO_SETTINGS_... */
    uint32_t reserved;
    /** The paths in the section that are secret, with everything below them ("password", "tls.key"; "" for the whole section), in
     * addition to the fields with INVIVO_PROPERTY_SECRET. They are secret while the section is bound. */
    const char *const *secrets;
    uint64_t secret_count;
    /** With `create`: the accepted sections as a JSON Schema (draft 2020-12), for INVIVO_GRAPH_SCHEMA. References have the form
     * `#/$defs/NAME`. Strings with environment variables, and null for a value that is removed, are accepted in addition, and required
     * fields are required only if no other document can give them. NULL if any section is accepted. */
    const char *schema;
    /** The type of the values, for invivo_settings_typed_id: in C++ the name that typeid returns. NULL: of a struct, the size is compared
     * instead. A binding with another type, or another size, cannot replace one that is read by such an id. */
    const char *type;
} invivo_settings;

/** Binds a section, or replaces the binding with the same name. The commit fails if the section is invalid.
 * Copied, except the functions and `user_data`. If this call returns an error, the caller keeps `user_data`. */
INVIVO_API invivo_status invivo_changes_bind_settings(invivo_changes changes, const invivo_settings *settings,
                                                      invivo_error **error) INVIVO_WAITS;
/** Removes a binding by name. An unknown name is an error of the commit, INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_changes_unbind_settings(invivo_changes changes, const char *name,
                                                        invivo_error **error) INVIVO_WAITS;

/** Binds a section in a change set of its own.
 * The runtime owns `user_data` from this call on, and calls `destroy` also if the call fails. */
INVIVO_API invivo_status invivo_settings_bind(invivo_runtime runtime, const invivo_settings *settings,
                                              invivo_error **error) INVIVO_WAITS;
/** Removes a binding by name in a change set of its own. An unknown name is INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_settings_unbind(invivo_runtime runtime, const char *name, invivo_error **error) INVIVO_WAITS;

/** Returns the id of a binding, for reads in views. It is valid while the runtime lives, also for a later binding with the
 * name. A name that was never bound is INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_settings_id(invivo_runtime runtime, const char *name, invivo_config *out,
                                            invivo_error **error) INVIVO_WAITS;

/** Returns the id of a binding whose values are read as a type. INVIVO_E_TYPE if the binding with the name has another type, or has none
 * and no struct of this size.
 *
 * @param type as invivo_settings.type
 * @param size the size of the type */
INVIVO_API invivo_status invivo_settings_typed_id(invivo_runtime runtime, const char *name, const char *type, uint64_t size,
                                                  invivo_config *out, invivo_error **error) INVIVO_WAITS;

/** Returns the value of a binding for the calling code: in a factory or hook that of the generation for which its object is built, which a
 * view does not show before the commit; elsewhere that of the view. Borrowed until the factory or hook returns, or the view ends.
 * INVIVO_E_NOT_FOUND if the generation has no such binding. INVIVO_E_FORKED in a forked child, which uses invivo_view_settings. */
INVIVO_API invivo_status invivo_settings_read(invivo_view view, invivo_runtime runtime, invivo_config id, const void **out,
                                              invivo_error **error) INVIVO_WAITS;

/** A type of settings that application manifests name:
 *
 *     settings: { audio: Audio, synth.left: { type: Voice, name: left } }
 *
 * The key is the path of a section, and the name of the binding is by default that of the type. */
typedef struct invivo_settings_type {
    size_t struct_size;
    const char *name; /**< unique in the runtime */
    /** Binds a section: calls invivo_changes_bind_settings with these names. It may define keys, too, such as one whose object is the
     * value. It must not commit the set. Called for each section, on the thread that opens or checks the application, also several times. */
    invivo_status (*bind)(invivo_changes changes, const char *name, const char *path, void *user_data, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once, at the latest when the runtime closes; may be NULL */
} invivo_settings_type;

/** Adds a type of settings for application manifests; a module does so in its entry. A second type with the name is INVIVO_E_EXISTS.
 * The runtime owns `user_data` from this call on, and calls `destroy` also if the call fails. */
INVIVO_API invivo_status invivo_settings_type_add(invivo_runtime runtime, const invivo_settings_type *type,
                                                  invivo_error **error) INVIVO_WAITS;

/** The `type` of an entry whose `block` is the value of a binding. No type has these bits. */
enum { INVIVO_ENTRY_SETTINGS = 3 };

/** Returns the value of a binding, borrowed until the view ends: the struct, or the pointer that `create` has stored.
 * NULL if the generation of the view has no such binding. In a pin, the view shows the generation of the pin. */
static inline const void *invivo_view_settings(invivo_view view, invivo_config id) {
    const invivo_entry *entry;
    uint32_t index = (uint32_t)id.bits;
    if (!view.graph || (uint32_t)(id.bits >> 32) != view.graph->owner || index >= view.graph->count) return NULL;
    entry = &view.graph->chunks[index >> INVIVO_CHUNK_SHIFT][index & INVIVO_CHUNK_MASK];
    return entry->type == INVIVO_ENTRY_SETTINGS ? entry->block : NULL;
}

INVIVO_EXTERN_C_END

#endif
