/* wiring.h: keys, definitions, change sets, resolving. */
#ifndef INVIVO_WIRING_H
#define INVIVO_WIRING_H

#include "object.h"

INVIVO_EXTERN_C_BEGIN

/* How long an instance is shared, and among whom. */
enum {
    INVIVO_SCOPE_DEFAULT = 0,        /* the parent's, or GRAPH */
    INVIVO_SCOPE_PROTOTYPE = 1,      /* a new one for each reference; inside its own making a reference back is itself */
    INVIVO_SCOPE_GRAPH = 2,          /* one for each outermost resolve, for everything made in it */
    INVIVO_SCOPE_SINGLETON = 3,      /* one, built by the commit that brings the definition */
    INVIVO_SCOPE_LAZY_SINGLETON = 4, /* one, built by the first resolve */
    INVIVO_SCOPE_WEAK_SINGLETON = 5, /* one as long as somebody holds it */
    INVIVO_SCOPE_CONTEXT = 6,        /* one for each context */
    INVIVO_SCOPE_THREAD = 7,         /* one for each thread, until it ends */
    INVIVO_SCOPE_HOST = 8            /* one for each place of the scope `scope_name` (scope.h) */
};

/* How a value comes about when an object is made. */
enum {
    INVIVO_INJECT_VALUE = 0,     /* the constant `value` */
    INVIVO_INJECT_REFERENCE = 1, /* what the key `reference` resolves to, with `items` as its runtime arguments */
    /* The object of the one definition whose type is, or says that it is, `reference`. Of the candidates, those of the highest rank
     * are taken, then those of the exact type, then those with the same generic arguments, where `reference` has some
     * ("Repository[User]"), then those of the holder's own mount or assembly. More than one left is INVIVO_E_AMBIGUOUS. A
     * definition with other generic arguments is no candidate, one without any is. */
    INVIVO_INJECT_TYPE = 2,
    INVIVO_INJECT_ALL = 3,       /* a list: one of each definition of the type `reference`, by rank, then as declared */
    INVIVO_INJECT_ARGUMENT = 4,  /* the runtime argument number `index` of the definition being made */
    INVIVO_INJECT_ARGUMENTS = 5, /* a list of all of them */
    INVIVO_INJECT_PATH = 6,      /* the property at the path `reference` ("theme.name") of the object that items[0] gives */
    INVIVO_INJECT_LIST = 7,      /* a list of `items`, a fresh one for each object */
    INVIVO_INJECT_SET = 8,       /* the same, what is equal once */
    INVIVO_INJECT_MAP = 9,       /* a map of `items` by their names */
    /* A callable that resolves items[0] each time, with its own arguments after those of items[0]; together they are the runtime
     * arguments that its definition declares. What is given to items[0] is
     * worked out when the callable is injected, and followed as if it were injected itself. */
    INVIVO_INJECT_PROVIDER = 10,
    /* A callable that resolves items[0] once; again when a reload has changed it, and, of a scope with places, for each place.
     * What it has resolved counts as injected into its holder: circles through lazies end like others. A reload that changes it
     * lets go of it, whether anybody asks again or not. When the holder ends it is the callable's own. */
    INVIVO_INJECT_LAZY = 11,
    /* A callable that answers the instance of items[0] that there is when it is called, null when there is none: a shared one
     * that is built, a weak singleton that somebody holds, of a scope with places the one of the calling place, a constant. The
     * lease that comes with it is the caller's. It makes nothing, holds no instance, is never captive, and sets no order of
     * building, starting or ending; a reload of what it names leaves its holder alone. While an instance is made there is none
     * yet; what is made with it finds it in its hooks when it is complete. What is given to items[0] is as for PROVIDER; where an
     * alias or a choice would have to make what it gives, there is none. Of a prototype, of graph scope, or of what takes its
     * ASKER there never is one: an error of the plan. Threads and errors are those of PROVIDER: what is confined is answered in
     * its domain alone; it waits for no build. */
    INVIVO_INJECT_WEAK = 16,
    INVIVO_INJECT_RESOLVER = 12, /* a callable that resolves the key it is called with, further arguments passed on */
    INVIVO_INJECT_ASKER = 13,    /* the key for which it is made, as a string; null when none. What it goes into is never shared */
    /* The configuration value at the path `reference`, in the kind of the place it goes to (config.h says where a path is
     * looked for); what items[0] gives when there is none. Neither: an error of the plan, unless OPTIONAL. A change of the
     * value is a change of what names it: remade, injected again, or, in a PROVIDER, nothing. */
    INVIVO_INJECT_CONFIG = 14,
    INVIVO_INJECT_TEXT = 15, /* the text `value`, or the one that items[0] (a CONFIG) finds, read by the converter `reference` */
    /* In a definition with `each`: the value of its entry, at the path `reference` below it (NULL: the entry itself), as CONFIG
     * gives one, with items[0] as the default. */
    INVIVO_INJECT_ENTRY = 20,
    INVIVO_INJECT_ENTRY_NAME = 21 /* the same: the entry's name, a text */
};
enum {
    INVIVO_INJECT_OPTIONAL = 1, /* null when nothing has the key or type, or what makes it answers null */
    INVIVO_INJECT_EXACT = 2,    /* of TYPE and ALL: the type itself only */
    INVIVO_INJECT_GREEDY = 4,   /* of TYPE: a better candidate that comes later is taken; otherwise what was bound stays */
    /* Of TYPE and ALL, in an initializer, also in a provider, lazy or weak reference: left out when nothing has the type, so that
     * the parameter has its default (invivo_build.given). */
    INVIVO_INJECT_OR_DEFAULT = 8,
    INVIVO_INJECT_BY_POSITION = 16 /* in an initializer: it goes by position, and `name` is for messages alone */
};

/* One thing injected. In an initializer `name` names a parameter, or is NULL: then it goes by position. */
typedef struct invivo_injection {
    const char *name;
    uint32_t how;   /* INVIVO_INJECT_... */
    uint32_t flags; /* INVIVO_INJECT_OPTIONAL, _EXACT, _GREEDY, _OR_DEFAULT, _BY_POSITION */
    invivo_value value;    /* of VALUE; copied */
    const char *reference; /* a key's name, which may be defined later in the same change set; or a type's; or a path */
    const struct invivo_injection *items;
    uint64_t item_count;
    uint64_t index;        /* of ARGUMENT; from 0. Of CONFIG: the kind that is wanted where the place does not say it; 0 = any */
    /* Of REFERENCE, in the place of a key: a definition that stands here. Its key (that in it counts for nothing) is its place:
     * the holder's key and the property or parameter ("camelot.knight.quest"; by position the number, "camelot.knight.0"; of
     * a method "camelot.knight.ride.0"). It is not found by type, may use the holder's runtime arguments, and goes with it. */
    const struct invivo_definition *definition;
    /* Of ALL, in a property: methods of the object that it goes into, each taking one object; both or none. When candidates
     * come or go later they are called, in the object's domain, instead of setting the whole list again: `removed` with what
     * went or is replaced, then `added` with what came. Neither tells a position: the list need not be in the order of the
     * definitions afterwards. A reload that fails brings the former list back in its order: `removed` with the objects behind the
     * first difference, the last first, then `added` with those that were there. */
    const char *added, *removed;
} invivo_injection;

/* A method called while an object is made, as hook or in its place among the properties. What it is given is got by method: when
 * a reload replaces some of that, an object that keeps its identity gets the call again, this one alone, with what there is
 * now; when the reload then fails, once more with the former. */
typedef struct invivo_invocation {
    const char *method;
    const invivo_injection *arguments; /* by position */
    uint64_t argument_count;
} invivo_invocation;

enum {
    INVIVO_DEFINITION_ABSTRACT = 1,         /* for children only: never made, never found by type */
    INVIVO_DEFINITION_HIDDEN_CLASS = 2,     /* not found by the name of its own type */
    INVIVO_DEFINITION_HIDDEN_INTERFACE = 4, /* not found by the names of its supertypes */
    INVIVO_DEFINITION_NULLABLE = 8,         /* its factory may answer no instance */
    /* There can be only one at a time (a port, a device), which start takes and stop gives back: of a singleton or lazy
     * singleton whose type has both. A reload that replaces it stops the former one before the new one is made. When the
     * new one, or anything else in the commit, fails, the former one is started again. The report says how long there was
     * none (INVIVO_PHASE_OUTAGE). */
    INVIVO_DEFINITION_EXCLUSIVE = 16,
    /* When something that it needs is not there - a definition, a value of the configuration, the type that it names itself
     * (`type_name`) -, this is no error: the definition lies dormant. Resolving it answers
     * INVIVO_E_DORMANT and says what it waits for, it is not found by type, and what needs it lies dormant too, if it may,
     * or cannot be activated. The reload in which everything comes activates it; when a need goes it is dormant again.
     * The reload that a type brings follows its registration, as if it were submitted. */
    INVIVO_DEFINITION_WAITS = 32,
    /* Of a prototype or of graph scope, of a confined type: its instances belong to their type's domain, and a reload injects
     * into those alive what they got by property or method and is new. What they got through the initializer they keep. */
    INVIVO_DEFINITION_TRACKED = 64
};

/* When an option of a choice is the one. */
enum {
    INVIVO_WHEN_EQUAL = 0,   /* the chooser's value is `value`, which may be null; numbers are equal whatever their kinds */
    INVIVO_WHEN_EXACT = 1,   /* it is an object of the type `name` itself */
    INVIVO_WHEN_KIND = 2,    /* it is an object whose type is, or says that it is, `name` */
    INVIVO_WHEN_NAMED = 3,   /* it is a text: the name of a definition of the same assembly, or a whole key. `use` is not read */
    INVIVO_WHEN_OTHERWISE = 4 /* always */
};
typedef struct invivo_option {
    uint32_t when; /* INVIVO_WHEN_... */
    uint32_t reserved;
    invivo_value value;
    const char *name;
    invivo_injection use; /* a REFERENCE, with arguments, or a TYPE: what the choice then is */
} invivo_option;

/* What goes into an object, in this order: the initializer; the hook `will_inject` of its type; `before`; `properties`, then
 * `methods`, each in their order; `inject`; `after`. When everything that the outermost resolve makes is complete, children
 * before parents: `after_all`, then the type's `take_runtime`, then its `did_inject`. */
typedef struct invivo_definition {
    size_t struct_size;
    const char *key;   /* "assembly.name" */
    uint32_t scope;    /* INVIVO_SCOPE_... */
    uint32_t flags;    /* INVIVO_DEFINITION_... */
    invivo_type type;  /* what it makes; may be zero for an alias, and with a parent or maker that says it */
    /* How it is made: the type's own init or make, with `initializer`; or, when not NULL, this factory, which answers an
     * instance for a type without size, or fills the zeroed memory at *instance for one with a size. It may resolve
     * other keys: these become dependencies. */
    invivo_status (*factory)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /* once, when the definition is gone, also after the failed commit of a change
                                       * set that has it; never when the call that was given it fails. May be NULL */
    /* Gives each parameter of the type's initializer that is not optional, in every scope, or the definition is refused
     * (INVIVO_E_ARITY). With a factory: the arguments of its call. */
    const invivo_injection *initializer;
    uint64_t initializer_count;
    const invivo_injection *properties; /* set in this order after making; base values for a block's fields */
    uint64_t property_count;
    /* Another key's name: this key is then that one, with `initializer` as its runtime arguments: with all of them, in any order,
     * where `parameters` say what this one takes itself (INVIVO_INJECT_ARGUMENT); else with those before what a resolve gives.
     * It makes nothing: type, scope, other injections and hooks are those of what it names, and what is said of them here is not
     * read. */
    const char *alias;
    const char *file;  /* where it is declared, for messages; may be NULL */
    uint32_t line, column;
    /* A definition that this one takes over from: type, scope, factory or initializer, parameters, injections, hooks and
     * deadlines, each where this one has none; properties by name; calls of methods that this one does not call itself, before
     * its own. Not inherited: flags, rank, alias, constant, choice, `each`. */
    const char *parent;
    /* The runtime arguments that a resolve gives; INVIVO_INJECT_ARGUMENT injects each of them. Without parameters a resolve with
     * arguments is INVIVO_E_ARITY, except of an alias, which passes them on. */
    const invivo_parameter *parameters;
    uint64_t parameter_count;
    const invivo_invocation *methods;   /* called in this order after the properties; one method may come twice */
    uint64_t method_count;
    const invivo_invocation *before, *after, *after_all;
    uint64_t before_count, after_count, after_all_count;
    /* The instance is what `method` of the object that maker[0] gives answers; the further items are its arguments. */
    const char *maker_method;
    const invivo_injection *maker;
    uint64_t maker_count;
    /* Injects by code; may resolve other keys and mixes with all of the above. */
    invivo_status (*inject)(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                            void *user_data, invivo_error **error);
    int32_t rank; /* higher comes first in lists and wins lookups by type */
    uint32_t reserved;
    /* As many bytes as the type's block has: what the block of this key holds at the start, with its type's initial values
     * overridden; NULL = as the type says. Needs `type`. */
    const void *block_initial;
    invivo_object constant; /* the object itself, made elsewhere; a lease of it is taken. Nothing is injected into it */
    const char *type_name; /* the type by its name, where `type` is zero: looked for when the definition takes effect */
    /* A choice: the key is then what the first option says that fits what `chooser` gives, a CONFIG, an ARGUMENT or anything
     * else; none fits: an error that names the value. A configuration value that changes makes it another one, as a reload. It
     * makes nothing itself: scope, injections and hooks are those of what it is. With a `type` it is found by that type. */
    const invivo_injection *chooser;
    const invivo_option *options;
    uint64_t option_count;
    uint32_t start_timeout_ms; /* for its objects, in the place of what the runtime's options say; 0 = that */
    uint32_t stop_timeout_ms;
    /* A path of the configuration, looked for as CONFIG's is: the definition is then a pattern, and there is one of it for each
     * entry of the map or list there, with the key "assembly.name[entry]". What has no entry makes nothing. An entry that comes,
     * goes or changes concerns its own one alone. Entries of a map go by their keys; of a list by their text or number, or, where
     * they are maps, by what they say under `name`. What stands inline in it is there for each of them too. */
    const char *each;
    const char *scope_name; /* of scope INVIVO_SCOPE_HOST: which; see scope.h */
    /* The type with its arguments, where it is a generic one: "Repository[User]". Lookups for that name prefer it; see
     * INVIVO_INJECT_TYPE. NULL = the type's own, which may be among its supertypes. */
    const char *generic;
    /* NULL, or one for each of `parameters`: the value of a runtime argument that is left out. Null = none: then it may be left
     * out only where it is optional, and is null. Copied, and converted to the parameter's kind. */
    const invivo_value *defaults;
    /* The key of the definition in which this one stands, written as a key of the same table or change set; NULL = none. It is
     * removed with that definition and is not found by type. Where that definition has `each`, there is one for each entry. For
     * languages that name inline definitions themselves; C writes them in place (`definition` of invivo_injection). */
    const char *owner;
} invivo_definition;

/* ---- keys -------------------------------------------------------------------------------------------- */

/* The key of a name, made when new. A key's low 32 bits are dense and never change while the runtime lives. */
INVIVO_API invivo_status invivo_key_intern(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/* The key of a defined name. An unknown one is INVIVO_E_NOT_FOUND, leaves no trace, and, unless `error` is NULL, names the
 * nearest. */
INVIVO_API invivo_status invivo_key_find(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/* Borrowed while the runtime lives; NULL for a bad handle. */
INVIVO_API const char *invivo_key_name(invivo_key key) INVIVO_WAITS;
/* Whether a key is one of this runtime's. A key stays that of its name as long as its runtime lives, whatever reloads do: who
 * keeps the key that he last found in one word needs no other for the other runtimes. */
static inline bool invivo_key_is_of(invivo_key key, invivo_runtime runtime) {
    return key.bits != 0 && (((key.bits ^ runtime.bits) >> 32) & 0x0fffffff) == 0;
}
/* A word that changes with every commit that changes what the key resolves to, or how it is made (and with close). Its memory
 * is never freed, so a cache may read it at any time; 0 is never a version. NULL for a bad handle. */
INVIVO_API const uint64_t *invivo_key_version(invivo_key key) INVIVO_WAITS;
/* Reads such a word, which other threads count up. Whoever begins a view and then still reads the version that he knows is in
 * a generation of that version. */
static inline uint64_t invivo_version_read(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

/* ---- change sets ------------------------------------------------------------------------------------- */

/* Describe, then commit: everything in the set takes effect as one reload, or nothing does. A set that is still open when
 * its runtime closes is closed with it. */
INVIVO_API invivo_status invivo_changes_open(invivo_runtime runtime, invivo_changes *out, invivo_error **error) INVIVO_WAITS;
/* Adds or replaces a definition, also one of an assembly; `out` (may be NULL) receives the key. Copied, except functions and
 * user_data. The same key twice in one set is INVIVO_E_EXISTS, which names both places. */
INVIVO_API invivo_status invivo_changes_define(invivo_changes changes, const invivo_definition *definition, invivo_key *out,
                                               invivo_error **error) INVIVO_WAITS;
/* Takes a definition away. When the set is committed, a key without one is INVIVO_E_NOT_FOUND, and so is what still needs it. */
INVIVO_API invivo_status invivo_changes_remove(invivo_changes changes, const char *key, invivo_error **error) INVIVO_WAITS;
/* Gives or replaces the text of an in-memory document; NULL text takes the document away. Copied. */
INVIVO_API invivo_status invivo_changes_document(invivo_changes changes, const char *name, const char *text, uint64_t length,
                                                 invivo_error **error) INVIVO_WAITS;
/* Sets the base value of a tunable property of a key's definition, under whatever traits lie on top. */
INVIVO_API invivo_status invivo_changes_set(invivo_changes changes, const char *key, const char *property,
                                            const invivo_value *value, invivo_error **error) INVIVO_WAITS;
/* What would be wrong with the set, without making anything or running a factory, initializer or hook: all errors at once,
 * each with its rule (invivo_error_rule) and who needs it. The set stays open. */
INVIVO_API invivo_status invivo_changes_check(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
enum {
    INVIVO_RESET_DEPENDENCIES = 1 /* also everything that the key's objects got, directly or through others */
};
/* Lets go of a key's shared instances, those with runtime arguments too: who holds them follows as in any reload, and the
 * former ones are stopped and disposed of. The key is then cold, unless it is an eager or exclusive singleton, or somebody who
 * follows needs a new one at once. What is cold anyway stays so. */
INVIVO_API invivo_status invivo_changes_reset(invivo_changes changes, const char *key, uint32_t flags, invivo_error **error) INVIVO_WAITS;
/* The same for all instances of a scope (INVIVO_SCOPE_SINGLETON, _LAZY_SINGLETON, _WEAK_SINGLETON). It costs what is held,
 * not what is defined. */
INVIVO_API invivo_status invivo_changes_reset_scope(invivo_changes changes, uint32_t scope, invivo_error **error) INVIVO_WAITS;
/* Commits and closes the set, also when it fails. Waits until the reload is done; from inside a callback, where that is refused, it
 * answers INVIVO_E_WOULD_WAIT: there it is submitted. All errors are in `error` at once. */
INVIVO_API invivo_status invivo_changes_commit(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
/* Hands the set to the scheduler and closes it: the outcome reaches observers. Allowed from inside callbacks. Sets that wait
 * at the same time become one reload, in which of what several say (a definition of the same key) the later holds, as after one
 * reload each; the report names them all. When that fails each set is tried by itself, in their order. */
INVIVO_API invivo_status invivo_changes_submit(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
/* Closes the set without a commit, and calls `destroy` of what it was given. A stale or zero handle does nothing. */
INVIVO_API void invivo_changes_discard(invivo_changes changes) INVIVO_WAITS;

/* Changes definitions before they are compiled, or replaces objects when they are made: of one key, of one type, or all. */
typedef struct invivo_processor {
    size_t struct_size;
    const char *name; /* its own; a later one of the same name takes its place */
    const char *key;  /* this key alone; NULL = any */
    const char *type; /* only what is, or says that it is, of this type; NULL = any */
    int32_t priority; /* lower ones come first; of equal ones the one that was added first */
    uint32_t reserved;
    /* Visits each definition that it concerns, as it was described or as the processor before left it, whenever that changes:
     * always from the description, never from its own result. It replaces the definition by defining the same key in
     * `changes`, which is valid during the call and takes nothing else; what is not said anew stays where `described` is
     * copied and changed. Everything in `described` is borrowed during the call; its `destroy` is NULL, and what it
     * belongs to lives on with the replacement. Overrides lie above and are not visited. May be NULL. */
    invivo_status (*process)(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error);
    /* When an object is made, injected, configured and started, and before anybody else gets it: answers the object that takes
     * its place, with one lease for the caller, or leaves zero (or that object itself). The replacement keeps the former one:
     * it needs no lease of its own. It must be of the definition's type, or of one that this says it is. A reference back from
     * within the making is set when the object is decorated; where an initializer would take it before that, it is a cycle
     * error that names both. Constants are not decorated. Documents tune, and reloads inject into, what was made. `build` says
     * the key. */
    invivo_status (*decorate)(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data,
                              invivo_error **error);
    /* In the place of `decorate`: the key whose object does it. With a `method` of it, which is called with the object and
     * answers what takes its place, or null; without, it takes the object as its one runtime argument and takes its place.
     * What the component needs is made first, and not processed by it. */
    const char *component;
    const char *method;
    void *user_data;
    void (*destroy)(void *user_data); /* once, when the processor is gone (also after a failed commit); never when the call that is given it fails; may be NULL */
} invivo_processor;

/* Adds or replaces a processor; what it concerns is made anew by the commit. Copied, except functions and user_data. */
INVIVO_API invivo_status invivo_changes_process(invivo_changes changes, const invivo_processor *processor,
                                                invivo_error **error) INVIVO_WAITS;
/* Takes one away by its name, likewise. */
INVIVO_API invivo_status invivo_changes_unprocess(invivo_changes changes, const char *name, invivo_error **error) INVIVO_WAITS;

/* A change set of one definition, committed. */
INVIVO_API invivo_status invivo_define(invivo_runtime runtime, const invivo_definition *definition, invivo_key *out,
                                       invivo_error **error) INVIVO_WAITS;

/* ---- overrides ------------------------------------------------------------------------------------------ */

/* Puts another recipe, or an object (`constant`), in a key's place, as a reload: for tests and trials. The key keeps its scope,
 * visibility and rank; its dependents follow. Overrides of one key lie on each other: the last one counts. */
INVIVO_API invivo_status invivo_override_begin(invivo_runtime runtime, const invivo_definition *definition, invivo_override *out,
                                               invivo_error **error) INVIVO_WAITS;
/* Takes one back, in any order, as a reload. What is open at close goes with the runtime. */
INVIVO_API invivo_status invivo_override_end(invivo_override override, invivo_error **error) INVIVO_WAITS;

/* A key that is nothing but a block: a plain struct whose fields are tuned by specs and read through views. */
typedef struct invivo_block_options {
    size_t struct_size;
    const char *type_name;
    uint64_t size;
    const invivo_property *properties;
    uint64_t property_count;
    const void *initial; /* `size` bytes: what it holds at the start, where a property does not say it; NULL = zeros */
} invivo_block_options;

/* INVIVO_BLOCK(structure, properties): the argument `block` of invivo_define_block, for a table of properties.
 * INVIVO_BLOCK_FROM takes the address of a `structure` too, whose bytes are what the block holds at the start;
 * in C++ the other one begins with the struct's default member initializers. */
#define INVIVO_BLOCK(structure, properties) INVIVO_BLOCK_(structure, properties, NULL)
#define INVIVO_BLOCK_FROM(structure, properties, initial) INVIVO_BLOCK_(structure, properties, initial)
#ifdef __cplusplus
INVIVO_EXTERN_C_END
/* Lives as long as the call it is an argument of. */
struct invivo_block_argument {
    invivo_block_options options;
    operator const invivo_block_options *() const { return &options; }
};
/* The name under which this image declares blocks of a struct, or NULL. */
template <typename T> struct __attribute__((visibility("hidden"))) invivo_block_of {
    static const char *name;
};
template <typename T> const char *invivo_block_of<T>::name = nullptr;
template <typename T, size_t N>
__attribute__((visibility("hidden")))
invivo_block_argument invivo_block(const char *name, const invivo_property (&properties)[N], const T *initial) {
    __atomic_store_n(&invivo_block_of<T>::name, name, __ATOMIC_RELAXED);
    static const T begin = T();
    return {{sizeof(invivo_block_options), name, sizeof(T), properties, N, initial ? initial : &begin}};
}
#define INVIVO_BLOCK_(structure, properties, initial) \
    invivo_block(#structure, properties, static_cast<const structure *>(initial))
INVIVO_EXTERN_C_BEGIN
#else
#define INVIVO_BLOCK_(structure, properties, initial)                                                           \
    (&(const invivo_block_options){sizeof(invivo_block_options), #structure, sizeof(structure), properties,     \
                                   sizeof(properties) / sizeof((properties)[0]), initial})
#endif

/* Registers the type when it is new (the same name must then mean the same) and commits the definition. */
INVIVO_API invivo_status invivo_define_block(invivo_runtime runtime, const char *key, const invivo_block_options *block,
                                             invivo_key *out, invivo_error **error) INVIVO_WAITS;

/* ---- resolving --------------------------------------------------------------------------------------- */

/* The object of a key: one lease of it is yours. Builds it when it must be built (a cold shared instance once, however
 * many threads ask). Built shared objects cost nanoseconds and never wait. A shared object of a confined type is resolved in its
 * domain; elsewhere, and where something is to be made that needs one, the answer is INVIVO_E_DOMAIN, never a wait for that
 * domain: invivo_resolve_async leads there. */
INVIVO_API invivo_status invivo_resolve(invivo_runtime runtime, invivo_key key, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* With runtime arguments. A shared object is kept for each key and set of arguments, compared by value (numbers whatever
 * their kinds, objects by identity). */
INVIVO_API invivo_status invivo_resolve_with(invivo_runtime runtime, invivo_key key, const invivo_value *arguments,
                                             size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* The same, or zero when the key has no definition, lies dormant, or what makes it answers null. */
INVIVO_API invivo_status invivo_resolve_optional(invivo_runtime runtime, invivo_key key, const invivo_value *arguments,
                                                 size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
enum {
    INVIVO_LOOKUP_EXACT = 1,   /* the type itself, not those that say they are it */
    INVIVO_LOOKUP_OPTIONAL = 2 /* zero when there is none */
};
/* The object of the one definition whose type is, or says that it is, `type`: of those of the highest rank, the one of the exact
 * type; for code that makes an object, then the one of that object's assembly. None, or several: an error that lists them.
 * `name` (may be NULL): only the key of this name, or "assembly.name" with this end. */
INVIVO_API invivo_status invivo_resolve_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags,
                                             invivo_object *out, invivo_error **error) INVIVO_WAITS;
/* The key of that definition; nothing is built. With INVIVO_LOOKUP_OPTIONAL it is zero where there is none. */
INVIVO_API invivo_status invivo_key_of_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags,
                                            invivo_key *out, invivo_error **error) INVIVO_WAITS;
/* One object of each definition of the type, by rank, then as declared, as an owned list; none is an empty list. Objects of
 * graph scope are shared within the call. */
INVIVO_API invivo_status invivo_resolve_all(invivo_runtime runtime, const char *type, uint32_t flags, invivo_value *out,
                                            invivo_error **error) INVIVO_WAITS;
/* Injects into an object as `key`'s definition says (zero: that of its type, or what its type needs): no initializer runs, all
 * hooks do. */
INVIVO_API invivo_status invivo_inject(invivo_object object, invivo_key key, invivo_error **error) INVIVO_WAITS;
enum {
    INVIVO_INTO_SHARED = 1, /* the object becomes the shared instance of its key, which must not have one yet */
    INVIVO_INTO_KNOWN = 2   /* of a tree: what nobody knows how to inject is left as it is, and is no error */
};
/* The same. With INVIVO_INTO_SHARED the key must be of a shared scope without arguments, and not built (INVIVO_E_EXISTS);
 * from then on the object counts as made by it: documents tune it, and the graph has a lease of it until a reload makes
 * another. */
INVIVO_API invivo_status invivo_inject_with(invivo_object object, invivo_key key, uint32_t flags, invivo_error **error) INVIVO_WAITS;

/* How a tree of objects is walked. Functions may be NULL: then the type of each object answers. */
typedef struct invivo_tree {
    size_t struct_size;
    const char *key; /* of the root; NULL = what it names itself, else the definition of its type */
    uint32_t flags;  /* INVIVO_INTO_KNOWN */
    uint32_t reserved;
    /* The child number `index` of `parent`, with one lease for the caller; zero after the last. */
    invivo_status (*child)(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error);
    /* The name of the key by which `object` is injected, borrowed until the next call; NULL = by its type. */
    invivo_status (*key_name)(invivo_object object, const char **out, void *user_data, invivo_error **error);
    /* Answers 1 for an object that another loader takes care of, with everything below. */
    uint8_t (*is_foreign)(invivo_object object, void *user_data);
    void *user_data;
} invivo_tree;

/* Injects into an object that the host made and into all its children: each by the key it names, else as the definition of
 * its type says, else what its type needs. Left alone, with everything below, are objects that another loader takes
 * care of, those of another runtime, and those that a definition of this runtime made, which are complete. The tree is
 * walked first: types that nobody knows, keys that nobody defined and objects that come twice are all reported at once,
 * before anything is injected. Then parents are injected before their children; when the whole tree is complete the hooks
 * after all run, children before parents. `tree` may be NULL. */
INVIVO_API invivo_status invivo_inject_tree(invivo_object root, const invivo_tree *tree, invivo_error **error) INVIVO_WAITS;

/* Resolves where the object belongs, and hands it over: `resolved` is called once, also when the runtime closes meanwhile,
 * with an object of which one lease is then the callee's, or with zero and an error that is borrowed during the call.
 * What is built, and may be had here, is handed over before this returns. Otherwise an object of a confined type is
 * resolved by a job of its domain, one of a shared type on a thread of the runtime's, of which there are few: other
 * calls do not wait for it unless those are all busy. `resolved` runs there, or, when `deliver` is not zero, as a job of
 * that domain. It may call the runtime, but not wait for reloads. Allowed from inside callbacks. When this answers an error
 * `resolved` is not called. A job that comes while its domain's thread is waiting inside the making of another
 * object runs after that. */
INVIVO_API invivo_status invivo_resolve_async(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count,
                                              void (*resolved)(void *user_data, invivo_object object, const invivo_error *error),
                                              void *user_data, invivo_domain deliver, invivo_error **error) INVIVO_WAITS;
/* By name. */
INVIVO_API invivo_status invivo_resolve_name(invivo_runtime runtime, const char *name, invivo_object *out,
                                             invivo_error **error) INVIVO_WAITS;
/* Starts a key's shared instances again after invivo_stop; a cold one is made, which starts it. What is started stays so: then
 * nothing happens. What it depends on is not touched. */
INVIVO_API invivo_status invivo_start(invivo_runtime runtime, invivo_key key, invivo_error **error) INVIVO_WAITS;
/* Stops a key's shared instances (those for runtime arguments or places too), which stay where they are; a cold one, or one that
 * is not started, is left alone: then nothing happens. What depends on it is not touched. A reload that replaces it, and close, do not stop it again. */
INVIVO_API invivo_status invivo_stop(invivo_runtime runtime, invivo_key key, invivo_error **error) INVIVO_WAITS;
/* What making the object of a key comes to, for a host that makes objects of its own language by itself, without a call for
 * each: an owned map, or null when it takes a resolve (the object is shared; something in its graph is not made by an initializer
 * or a factory of a type without size alone, has hooks, is in a circle, is tuned by documents, or is shared and not built yet).
 * It holds as long as the key's version: take that before, and compare it afterwards. The map has
 *   "steps"       a list of maps, to be taken in this order; the last object made for nobody is the result:
 *       "make", "for"       the number of an object, and of that for which it is made (-1 = for the resolve)
 *       "key", "file", "line"  of its definition, for messages
 *       "type"              its type; its `make` makes it, unless there is
 *       "function", "data"  the definition's `factory` and its `user_data`, as numbers
 *       "arguments"         a list of sources
 *     or
 *       "set", "property", "to"  the number of an object, a property's name, and the source of what it is set to
 *   "parameters"  a list of maps "kind", "type" (a name, or null): the runtime arguments that the definition declares; with
 *                 "default" where one may be left out
 * A source is a map of one entry: "value" (a constant or a shared object), "object" (a number), "argument" (the number of a
 * runtime argument), "list" or "map" (of sources), "left_out" (an argument that the initializer is not given). */
INVIVO_API invivo_status invivo_key_outline(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/* Describes the definition that is in force for a key: what overrides, replaces or removes a definition is taken into account. `out`
 * becomes an owned map, which holds as long as the key's version:
 *   "type"        the type of its objects, or one of its supertypes; null for a choice that declares none
 *   "scope", "scope_name"  INVIVO_SCOPE_..., and of a scope of the host its name, else null
 *   "making"      how its objects are created: "initializer", "factory", "method" (of another object), "constant", "choice",
 *                 "block", "abstract", or "dormant"
 *   "file", "line"  where it is declared
 *   "parameters"  a list of maps, one for each runtime argument: "name", "kind" (INVIVO_KIND_...), "type" (a name, or null),
 *                 "optional" (a bool), and "default" where it has one
 *   "receivers"   a list of the types whose objects receive the runtime arguments, also through references that pass them on;
 *                 null where a choice, a path or a method that creates an object reads them
 * A key without a definition is INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_key_describe(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/* The shared object if it is built (one lease is yours), else INVIVO_E_COLD; never builds, never waits. Weak singletons, objects of
 * the host's scopes and objects with runtime arguments are always INVIVO_E_COLD: only a lock tells whether they are there
 * (a weak reference does). */
INVIVO_API invivo_status invivo_peek(invivo_runtime runtime, invivo_key key, invivo_object *out) INVIVO_NOWAIT;

INVIVO_EXTERN_C_END

#endif
