/* config.h: the configuration: values that documents and operators give; and converters, which read values from texts. */
#ifndef INVIVO_CONFIG_H
#define INVIVO_CONFIG_H

#include "view.h"
#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/* A document says values beside traits:
 *
 *     config:
 *       synth: { voices: 8, cutoff: 1.2 kHz }    # what definitions of the assembly `synth` are given
 *       global: { folder: /var/lib/synth }       # what everybody is given
 *
 * Of several documents the later one wins, and invivo_changes_configure over all of them: maps merge, lists and scalars are
 * replaced, null removes. A path names a value through the maps: "synth.voices"; a key at the top may be such a path itself.
 * A definition asks by INVIVO_INJECT_CONFIG for "voices" and gets what its own assembly has: that of the key
 * "synth.osc.input" looks for synth.osc.voices, synth.voices and global.voices, in this order; "/drums.voices" says the
 * whole path. Everywhere else in this header paths are whole, with or without the slash. A path has at most 64 names. */

/* ---- reading in views ---------------------------------------------------------------------------------- */

/* A path by a small number, for reading in views; there need be nothing at the path. `kind` (INVIVO_KIND_ANY: whatever it is;
 * else a number kind, BOOL, STRING, LIST or MAP) is what will be read: what the documents say now must convert to it, or the
 * answer is INVIVO_E_TYPE or _E_RANGE with its place, and a later document that says something else is refused. */
INVIVO_API invivo_status invivo_config_id(invivo_runtime runtime, const char *path, invivo_kind kind, invivo_config *out,
                                          invivo_error **error) INVIVO_WAITS;
/* The path of an id, borrowed while the runtime lives; NULL for a bad one. */
INVIVO_API const char *invivo_config_path(invivo_runtime runtime, invivo_config id) INVIVO_WAITS;
/* What holds now at a path, as an owned value. Nothing there is INVIVO_E_NOT_CONFIGURED, which names the nearest. */
INVIVO_API invivo_status invivo_config_read(invivo_runtime runtime, const char *path, invivo_value *out,
                                            invivo_error **error) INVIVO_WAITS;

/* What `type` of an entry is where a configuration value lies in `block`. No type has these bits. Of a list or map `block` leads
 * to a pointer to the value, which is NULL until somebody reads it: INVIVO_ENTRY_CONFIG_LATE. */
enum { INVIVO_ENTRY_CONFIG = 1, INVIVO_ENTRY_CONFIG_LATE = 2 };

/* The part of invivo_view_config that needs to look closer: a list or map, whose value is made when it is first read. */
INVIVO_API const invivo_value *invivo_view_config_late(invivo_view view, invivo_config id) INVIVO_NOWAIT;

/* The scalar at a path, borrowed until the view ends; NULL for a list, a map or a missing value. */
static inline const invivo_value *invivo_view_config_scalar(invivo_view view, invivo_config id) {
    const invivo_entry *entry;
    uint32_t index = (uint32_t)id.bits;
    if (!view.graph || (uint32_t)(id.bits >> 32) != view.graph->owner || index >= view.graph->count) return NULL;
    entry = &view.graph->chunks[index >> INVIVO_CHUNK_SHIFT][index & INVIVO_CHUNK_MASK];
    return entry->type == INVIVO_ENTRY_CONFIG ? (const invivo_value *)entry->block : NULL;
}

/* The value, borrowed until the view ends; NULL when there is none. Values read in one view are of one generation. Integers
 * are INT64 (UINT64 above its range), other numbers DOUBLE; the bytes of a string are followed by a NUL. */
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

/* The same as what C works with; `otherwise` when there is none, or when the id was made for another kind and the value is of
 * a third. An integer reads as a double where that is exact, a whole double as an integer. */
static inline bool invivo_view_config_bool(invivo_view view, invivo_config id, bool otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    return value && value->kind == INVIVO_KIND_BOOL ? value->as.boolean : otherwise;
}
static inline int64_t invivo_view_config_int64(invivo_view view, invivo_config id, int64_t otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    if (!value) return otherwise;
    if (value->kind == INVIVO_KIND_INT64) return value->as.signed_integer;
    if (value->kind == INVIVO_KIND_DOUBLE && value->as.number >= -9223372036854775808.0 &&
        value->as.number < 9223372036854775808.0 && (double)(int64_t)value->as.number == value->as.number)
        return (int64_t)value->as.number;
    return otherwise;
}
static inline double invivo_view_config_double(invivo_view view, invivo_config id, double otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    if (!value) return otherwise;
    if (value->kind == INVIVO_KIND_DOUBLE) return value->as.number;
    if (value->kind == INVIVO_KIND_INT64) return (double)value->as.signed_integer;
    if (value->kind == INVIVO_KIND_UINT64) return (double)value->as.unsigned_integer;
    return otherwise;
}
/* NUL-terminated. */
static inline const char *invivo_view_config_string(invivo_view view, invivo_config id, const char *otherwise) {
    const invivo_value *value = invivo_view_config_scalar(view, id);
    return value && value->kind == INVIVO_KIND_STRING ? value->as.string.data : otherwise;
}

/* ---- hearing of changes --------------------------------------------------------------------------------- */

typedef struct invivo_config_observer_options {
    size_t struct_size;
    /* Called after each reload that changed what is at the path, or anywhere below it, once: `value` is what is there now
     * (borrowed; null when nothing is), `generation` the one that brought it. In order, without locks held. */
    void (*changed)(void *user_data, const char *path, const invivo_value *value, uint64_t generation);
    void *user_data;
    void (*destroy)(void *user_data); /* once; may be NULL */
    invivo_domain domain;             /* where to call it; zero = the thread that ran the reload */
} invivo_config_observer_options;

/* `path` may be "" for everything. Ends by invivo_observer_close, or with the runtime. */
INVIVO_API invivo_status invivo_config_observe(invivo_runtime runtime, const char *path,
                                               const invivo_config_observer_options *options, invivo_observer *out,
                                               invivo_error **error) INVIVO_WAITS;

/* ---- changing ------------------------------------------------------------------------------------------- */

/* The operator's word: lies over what documents say, in the order in which it is given, until the runtime closes. A null
 * value removes what is there; `value` NULL takes back what was said of the path and all below it, so that the documents show
 * again. */
INVIVO_API invivo_status invivo_changes_configure(invivo_changes changes, const char *path, const invivo_value *value,
                                                  invivo_error **error) INVIVO_WAITS;

/* ---- converters ------------------------------------------------------------------------------------------- */

/* Reads values from texts. There from the start:
 *
 *     number    12, -0.5, 1e3, 0x20; where the place has a unit, 1.2 kHz
 *     bool      true, false
 *     duration  250 ms, 1.5 s, 1 h 30 min: seconds
 *     bytes     4096, 64 KiB, 1.5 MB: a whole number of bytes
 *     base64    the bytes themselves
 *     path      made absolute, from the folder of the document that says it
 *     url       checked: a scheme, and nothing that must be escaped
 *     colour    #rgb, #rgba, #rrggbb, #rrggbbaa: for an integer 0xRRGGBBAA, else the map red, green, blue, alpha of 0 to 1
 *
 * A text of the configuration that goes to a place whose type has a converter is read by it: places of numbers by `number`
 * (times also by `duration`), of bools by `bool`, of bytes by `base64`, of a type of objects by the converter of that name. A
 * constant (INVIVO_INJECT_VALUE) is never read; INVIVO_INJECT_TEXT is, by the converter that it names. What a text looks like
 * plays no part: a place of strings gets every text as it stands. */
typedef struct invivo_converter_options {
    size_t struct_size;
    const char *name; /* to be named by; the name of a type: then also for what goes to places of that type */
    /* Sets `*out` to an owned value, as a callable does; a NUL follows the text. Called when what a text says is planned, once, on the thread that reloads; what it answers is
     * given to all who ask for it. An error of its own gets the text's place. */
    invivo_status (*convert)(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /* once, when nobody uses it any more; may be NULL */
    /* Reads values of every kind, not strings alone: called instead of `convert`, which may then be NULL, with what the
     * configuration says (borrowed; never null). The path of an error, as in "config.port" or "config.hosts.0", names the part
     * of the value that it is about after its first name: the error gets the place of that part. May be NULL. */
    invivo_status (*read)(void *user_data, const invivo_value *value, invivo_value *out, invivo_error **error);
} invivo_converter_options;

/* A name that has a converter already is INVIVO_E_EXISTS (and `destroy` is not called). */
INVIVO_API invivo_status invivo_converter_register(invivo_runtime runtime, const invivo_converter_options *options,
                                                   invivo_error **error) INVIVO_WAITS;
/* What was converted stays; what is planned later finds no converter. Those from the start may go too. */
INVIVO_API invivo_status invivo_converter_unregister(invivo_runtime runtime, const char *name,
                                                     invivo_error **error) INVIVO_WAITS;
/* Reads one text: an owned value. INVIVO_E_CONVERSION says what is wrong with it, and where in it. */
INVIVO_API invivo_status invivo_convert(invivo_runtime runtime, const char *converter, const char *text, uint64_t length,
                                        invivo_value *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
