/* wiring.h: keys, definitions, change sets, resolving. */
#ifndef INVIVO_WIRING_H
#define INVIVO_WIRING_H

#include "object.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_SCOPE_PROTOTYPE = 0,      /* a new one for each resolve */
    INVIVO_SCOPE_LAZY_SINGLETON = 1, /* one, built by the first resolve */
    INVIVO_SCOPE_SINGLETON = 2       /* one, built by the commit that brings the definition */
};

enum {
    INVIVO_INJECT_VALUE = 0,    /* a constant */
    INVIVO_INJECT_REFERENCE = 1 /* what another key resolves to, as an object */
};

/* One thing injected. In an initializer `name` names a parameter, or is NULL: then it goes by position. */
typedef struct invivo_injection {
    const char *name;
    uint32_t how; /* INVIVO_INJECT_... */
    uint32_t reserved;
    invivo_value value; /* of INVIVO_INJECT_VALUE; copied */
    const char *reference; /* of INVIVO_INJECT_REFERENCE: a key's name; it may be defined later in the same change set */
} invivo_injection;

typedef struct invivo_definition {
    size_t struct_size;
    const char *key;   /* "assembly.name" */
    uint32_t scope;    /* INVIVO_SCOPE_... */
    uint32_t flags;    /* zero */
    invivo_type type;  /* what it makes; zero only for an alias */
    /* How it is made: the type's own init or make, with `initializer`; or, when not NULL, this factory, which answers an
     * instance for a type without size, or fills the zeroed memory at *instance for one with a size. It may resolve
     * other keys: these become dependencies. */
    invivo_status (*factory)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /* once, when the definition is gone (also after a failed commit); may be NULL */
    const invivo_injection *initializer;
    uint64_t initializer_count;
    const invivo_injection *properties; /* set in this order after making; base values for a block's fields */
    uint64_t property_count;
    const char *alias;  /* another key's name: this key is then that one; the rest is ignored */
    const char *file;   /* where it is declared, for messages; may be NULL */
    uint32_t line, column;
} invivo_definition;

/* ---- keys -------------------------------------------------------------------------------------------- */

/* The key of a name, made when new. A key's low 32 bits are dense and never change while the runtime lives. */
INVIVO_API invivo_status invivo_key_intern(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/* The key of a defined name; an unknown one is INVIVO_E_NOT_FOUND and names the nearest. */
INVIVO_API invivo_status invivo_key_find(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/* Borrowed while the runtime lives; NULL for a bad handle. */
INVIVO_API const char *invivo_key_name(invivo_key key) INVIVO_WAITS;
/* A word that changes with every commit that changes what the key resolves to (and with close). Its memory is never
 * freed, so a cache may read it at any time; 0 is never a version. NULL for a bad handle. */
INVIVO_API const uint64_t *invivo_key_version(invivo_key key) INVIVO_WAITS;

/* ---- change sets ------------------------------------------------------------------------------------- */

/* Describe, then commit: everything in the set takes effect as one reload, or nothing does. */
INVIVO_API invivo_status invivo_changes_open(invivo_runtime runtime, invivo_changes *out, invivo_error **error) INVIVO_WAITS;
/* Adds or replaces a definition; `out` (may be NULL) receives the key. Copied, except functions and user_data. */
INVIVO_API invivo_status invivo_changes_define(invivo_changes changes, const invivo_definition *definition, invivo_key *out,
                                               invivo_error **error) INVIVO_WAITS;
INVIVO_API invivo_status invivo_changes_remove(invivo_changes changes, const char *key, invivo_error **error) INVIVO_WAITS;
/* Gives or replaces the text of an in-memory document; NULL text takes the document away. Copied. */
INVIVO_API invivo_status invivo_changes_document(invivo_changes changes, const char *name, const char *text, uint64_t length,
                                                 invivo_error **error) INVIVO_WAITS;
/* Sets the base value of a tunable property of a key's definition, under whatever traits lie on top. */
INVIVO_API invivo_status invivo_changes_set(invivo_changes changes, const char *key, const char *property,
                                            const invivo_value *value, invivo_error **error) INVIVO_WAITS;
/* Commits and closes the set, also when it fails. Waits until the reload is done. All errors are in `error` at once. */
INVIVO_API invivo_status invivo_changes_commit(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
/* Hands the set to the scheduler and closes it: the outcome reaches observers. Allowed from inside callbacks. */
INVIVO_API invivo_status invivo_changes_submit(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
INVIVO_API void invivo_changes_discard(invivo_changes changes) INVIVO_WAITS;

/* A change set of one definition, committed. */
INVIVO_API invivo_status invivo_define(invivo_runtime runtime, const invivo_definition *definition, invivo_key *out,
                                       invivo_error **error) INVIVO_WAITS;

/* A key that is nothing but a block: a plain struct whose fields are tuned by specs and read through views. */
typedef struct invivo_block_options {
    size_t struct_size;
    const char *type_name;
    uint64_t size;
    const invivo_property *properties;
    uint64_t property_count;
} invivo_block_options;

#define INVIVO_BLOCK(structure, properties)                                                                     \
    (&(const invivo_block_options){sizeof(invivo_block_options), #structure, sizeof(structure), properties,     \
                                   sizeof(properties) / sizeof((properties)[0])})

/* Registers the type when it is new (the same name must then mean the same) and commits the definition. */
INVIVO_API invivo_status invivo_define_block(invivo_runtime runtime, const char *key, const invivo_block_options *block,
                                             invivo_key *out, invivo_error **error) INVIVO_WAITS;

/* ---- resolving --------------------------------------------------------------------------------------- */

/* The object of a key: one lease of it is yours. Builds it when it must be built (a cold shared instance once, however
 * many threads ask). Built shared objects cost nanoseconds and never wait. */
INVIVO_API invivo_status invivo_resolve(invivo_runtime runtime, invivo_key key, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* With runtime arguments, which follow what the definition injects into the initializer. Prototypes only. */
INVIVO_API invivo_status invivo_resolve_with(invivo_runtime runtime, invivo_key key, const invivo_value *arguments,
                                             size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* By name. */
INVIVO_API invivo_status invivo_resolve_name(invivo_runtime runtime, const char *name, invivo_object *out,
                                             invivo_error **error) INVIVO_WAITS;
/* The shared object if it is built (one lease is yours), else INVIVO_E_COLD; never builds, never waits. */
INVIVO_API invivo_status invivo_peek(invivo_runtime runtime, invivo_key key, invivo_object *out) INVIVO_NOWAIT;

INVIVO_EXTERN_C_END

#endif
