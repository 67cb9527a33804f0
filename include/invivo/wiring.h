/** @file wiring.h
 * Keys, definitions, change sets, and resolving. */
#ifndef INVIVO_WIRING_H
#define INVIVO_WIRING_H

#include "object.h"

INVIVO_EXTERN_C_BEGIN

/** Scopes: the sharing and lifetime of instances. */
enum {
    INVIVO_SCOPE_DEFAULT = 0,        /**< the parent's scope, or GRAPH */
    /** a new object for each reference; a cyclic reference, during the object's creation, gets the object itself */
    INVIVO_SCOPE_PROTOTYPE = 1,
    INVIVO_SCOPE_GRAPH = 2,          /**< one object per outermost resolve, shared within it */
    INVIVO_SCOPE_SINGLETON = 3,      /**< one object, built by the commit that adds the definition */
    INVIVO_SCOPE_LAZY_SINGLETON = 4, /**< one object, built by the first resolve */
    INVIVO_SCOPE_WEAK_SINGLETON = 5, /**< one object that lives as long as it has a holder */
    /** one object in each context of the kind `scope_name`; NULL: in each context in which it is resolved (context.h) */
    INVIVO_SCOPE_CONTEXT = 6,
    INVIVO_SCOPE_THREAD = 7,         /**< one object per thread, until the thread ends */
    INVIVO_SCOPE_HOST = 8            /**< one object per instance of the host scope `scope_name` (scope.h) */
};

/** Sources of injected values. */
enum {
    INVIVO_INJECT_VALUE = 0,     /**< the constant `value` */
    INVIVO_INJECT_REFERENCE = 1, /**< the object of the key `reference`, with `items` as its runtime arguments */
    /** The object of the one definition whose type is `reference` or has that supertype.
     * The candidates are narrowed in this order: the highest rank; the exact type; the same generic arguments, if
     * `reference` names generic arguments ("Repository[User]"); the mount or assembly of the holder. More than one left is
     * INVIVO_E_AMBIGUOUS. A definition with other generic arguments is not a candidate; one without generic arguments
     * is. */
    INVIVO_INJECT_TYPE = 2,
    /** a list with one object per definition of the type `reference`, by rank, then in declaration order */
    INVIVO_INJECT_ALL = 3,
    INVIVO_INJECT_ARGUMENT = 4,  /**< the runtime argument number `index` of the definition */
    INVIVO_INJECT_ARGUMENTS = 5, /**< a list of all runtime arguments */
    INVIVO_INJECT_PATH = 6,      /**< the property at the path `reference` ("theme.name") of the object from items[0] */
    INVIVO_INJECT_LIST = 7,      /**< a list of `items`, a new one for each object */
    INVIVO_INJECT_SET = 8,       /**< as LIST, without duplicates */
    INVIVO_INJECT_MAP = 9,       /**< a map of `items` by their names */
    /** A provider: a callable that resolves items[0] at each call.
     * Its arguments follow those of items[0]. Together they are the runtime arguments of the target. Arguments of
     * items[0] are evaluated when the provider is injected, and follow reloads as if they were injected directly. */
    INVIVO_INJECT_PROVIDER = 10,
    /** A lazy: a callable that resolves items[0] once, and again after a reload changed it.
     * For a host scope it resolves once per scope instance. The resolved object is treated as injected into the holder,
     * so cycles through lazies are collected. A reload that changes the object releases it, with or without a further
     * call. When the holder ends, the callable keeps the object until it is released itself. */
    INVIVO_INJECT_LAZY = 11,
    /** A weak reference: a callable that returns the existing instance of items[0], or null.
     *
     * It finds a built shared object, a weak singleton with a holder, the object of the calling scope instance, or a
     * constant. The caller owns the lease of the result. A weak reference creates nothing, holds nothing, is never a
     * captive dependency, and does not affect the order of build, start and disposal. A reload of its target does not
     * affect its holder. It does not find an object that is being created. In hooks, it finds complete
     * objects of the same build.
     *
     * Arguments of items[0] are as for PROVIDER. If an alias or choice would have to create an argument, the result is
     * null. A prototype, a graph-scope definition, or a definition that receives its ASKER is never shared: a weak
     * reference to it is an error of the plan. Threads and errors are as for PROVIDER: a confined object is returned in
     * its domain only. The call never waits for a build. */
    INVIVO_INJECT_WEAK = 16,
    INVIVO_INJECT_RESOLVER = 12, /**< a callable that resolves the key in its first argument, with the further arguments */
    /** the key of the requester, as a string; null if there is none. The object that receives it is never shared */
    INVIVO_INJECT_ASKER = 13,
    /** The configuration value at the path `reference`, converted to the kind of its target.
     * config.h describes the search for a path. items[0] gives the default. A missing value without default is an error
     * of the plan, unless OPTIONAL. A change of the value affects dependents like a changed definition: they are
     * rebuilt or injected again, or unaffected if it is in a PROVIDER. */
    INVIVO_INJECT_CONFIG = 14,
    INVIVO_INJECT_TEXT = 15, /**< the string `value`, or the string from items[0] (a CONFIG), read by the converter `reference` */
    /** For a definition with `each`: the value of its entry, at the path `reference` below the entry.
     * NULL: the entry itself. items[0] gives the default, as for CONFIG. */
    INVIVO_INJECT_ENTRY = 20,
    INVIVO_INJECT_ENTRY_NAME = 21, /**< for a definition with `each`: the name of its entry, a string */
    /** The value of the key `reference` of contexts (context.h): a lookup from the context in which the object is created. With a string
     * in `value`, from the nearest context of that kind. items[0] gives the default. A missing value without default is
     * INVIVO_E_NOT_FOUND, unless OPTIONAL. For a definition with the scope of a kind of contexts it is an error of the plan if neither
     * that kind nor an outer one provides the value and nothing gives a default; for an object that lives in no context, always. */
    INVIVO_INJECT_CONTEXT = 22
};
enum {
    /** Null if no definition has the key or type, or if the definition's factory returns null. */
    INVIVO_INJECT_OPTIONAL = 1,
    INVIVO_INJECT_EXACT = 2,    /**< for TYPE and ALL: the exact type only */
    INVIVO_INJECT_GREEDY = 4,   /**< for TYPE: a better candidate that is added later replaces the bound one */
    /** For TYPE and ALL in an initializer, also within a provider, lazy or weak reference. If no definition has the type,
     * the argument is left out, and the parameter has its default (invivo_build.given). */
    INVIVO_INJECT_OR_DEFAULT = 8,
    INVIVO_INJECT_BY_POSITION = 16, /**< in an initializer: the injection goes by position; `name` is for messages only */
    /** How the holder follows a change of what it receives; see INVIVO_ON_CHANGE_KEEP and the others. At most one of
     * them, of an injection as a whole; without one, `on_change` of the definition decides. Not for a field of a block, nor
     * with `added` and `removed`, which receive each change. */
    INVIVO_INJECT_KEEP = 32,
    INVIVO_INJECT_REBUILD = 64,
    INVIVO_INJECT_REFUSE = 128,
    INVIVO_INJECT_FOLLOW = 256,
    /** The holder is the owner of what it receives, also through a provider, lazy or weak reference: when that changes, the
     * holder is set up again, like the owner of a child (setup.h). Of an injection as a whole that refers to keys or paths; for
     * shared and tracked holders; not for a field of a block, and not with KEEP. Owners that own each other are an error
     * of the plan. */
    INVIVO_INJECT_OWNS = 512
};

/** How the objects of a definition follow a change of a dependency: of a key or a configuration path that they received by
 * injection, not through a provider, lazy or weak reference. Of several references to one key, the strongest decides:
 * REFUSE, REBUILD, FOLLOW, KEEP. */
enum {
    INVIVO_ON_CHANGE_DEFAULT = 0, /**< the parent's, or FOLLOW */
    /** The reference decides: after a change of an initializer argument the object is rebuilt; a property or method is
     * injected again. */
    INVIVO_ON_CHANGE_FOLLOW = 1,
    /** The object keeps what it has, with a lease, until it is rebuilt for another reason. A method is called again if
     * another of its arguments changes, with the current values of all. A report that replaces something that objects
     * keep has a warning and a change of kind INVIVO_CHANGED_KEPT for each of their keys; invivo_graph_describe shows it
     * ("kept_since"). An error of the plan for an EXCLUSIVE dependency, of which there is one at a time, and for one that
     * holds such an object. */
    INVIVO_ON_CHANGE_KEEP = 2,
    /** The object is rebuilt, also for a property or method. A tracked object without an owner is injected again. */
    INVIVO_ON_CHANGE_REBUILD = 3,
    /** The change set fails (INVIVO_E_REFUSED), with `on_change_reason`, unless it defines or removes the holder, too. For
     * shared and tracked definitions; without objects they refuse nothing. */
    INVIVO_ON_CHANGE_REFUSE = 4
};

/** One injected value. In an initializer, `name` is the name of a parameter; NULL = by position. */
typedef struct invivo_injection {
    const char *name;
    uint32_t how;   /* INVIVO_INJECT_... */
    uint32_t flags; /**< INVIVO_INJECT_OPTIONAL, _EXACT, _GREEDY, _OR_DEFAULT, _BY_POSITION, _KEEP, _REBUILD, _REFUSE, _FOLLOW, _OWNS */
    invivo_value value;    /**< for VALUE; copied */
    const char *reference; /**< a key, a type or a path; a key may be defined later in the same change set */
    const struct invivo_injection *items;
    uint64_t item_count;
    /** for ARGUMENT: the index from 0; for CONFIG: the requested kind if the target declares none, 0 = any */
    uint64_t index;
    /** For REFERENCE, instead of a key: an inline definition.
     * Its key is derived from its position, and its own `key` is ignored: the key of the holder and the property or
     * parameter ("camelot.knight.quest"; by position "camelot.knight.0"; for a method "camelot.knight.ride.0"). It is
     * not found by type, may use the runtime arguments of the holder, and is removed with the holder. */
    const struct invivo_definition *definition;
    /** For ALL, in a property: methods of the holder that receive later changes of the list. Both or none.
     *
     * Each takes one object. They run in the object's domain instead of a new assignment of the list: `removed` for each
     * removed or replaced object, then `added` for each new object. They receive no position, so the list of
     * the holder may have another order than the definitions. A reload that fails restores the former list in order:
     * `removed` for the objects behind the first difference, in reverse order, then `added` for the former objects. */
    const char *added, *removed;
} invivo_injection;

/** A method that is called while an object is created, as a hook or among the properties.
 * If a reload replaces one of its arguments, objects that keep their identity receive this call again, with the new
 * arguments. If the reload then fails, they receive it once more with the former arguments. */
typedef struct invivo_invocation {
    const char *method;
    const invivo_injection *arguments; /**< by position */
    uint64_t argument_count;
} invivo_invocation;

enum {
    /** For children only: never created, never found by type. */
    INVIVO_DEFINITION_ABSTRACT = 1,
    INVIVO_DEFINITION_HIDDEN_CLASS = 2,     /**< not found by the name of its own type */
    INVIVO_DEFINITION_HIDDEN_INTERFACE = 4, /**< not found by the names of its supertypes */
    INVIVO_DEFINITION_NULLABLE = 8,         /**< its factory may return no instance */
    /** At most one object exists at a time, for example for a port or a device.
     * For a singleton or lazy singleton whose type has `start` and `stop`. A reload stops the old object before it
     * creates the new one. If the commit fails, the old object is started again. The report states how long there was
     * no started object (INVIVO_PHASE_OUTAGE). */
    INVIVO_DEFINITION_EXCLUSIVE = 16,
    /** Missing dependencies are not an error: they block the definition.
     *
     * Dependencies are definitions, configuration values, and the type itself (`type_name`). While the definition is
     * blocked, a resolve returns INVIVO_E_DORMANT with the missing dependencies, and lookups by type do not find it.
     * Its dependents are blocked too if they have this flag; otherwise they cannot be activated. The reload that adds
     * the last missing dependency unblocks it; the reload that removes one blocks it again. The registration of a
     * missing type is followed by such a reload, as if submitted. */
    INVIVO_DEFINITION_WAITS = 32,
    /** Live objects of a prototype or graph-scope definition of a confined type follow reloads.
     * They belong to the domain of their type. A reload injects new values into their properties and methods. Values
     * from the initializer stay. */
    INVIVO_DEFINITION_TRACKED = 64,
    /** A change of the definition takes effect when its object is next created: at the next start of the program, or when
     * a change set resets it (invivo_changes_reset) or rebuilds it for another reason.
     *
     * For singletons and lazy singletons without runtime arguments whose type has no block. While the object exists, a
     * change set that changes the definition is checked as a whole and committed; the object stays, the report has a
     * change of kind INVIVO_CHANGED_PENDING, and invivo_runtime_status lists the key ("restart"). Base values
     * (invivo_changes_set) wait too. Rank, visibility, removal and overrides take effect at once. Another type, scope or
     * `exclusive`, and a definition that would be blocked (WAITS), are refused (INVIVO_E_REFUSED) while the object exists. A
     * decorator rebuilds it. Injections of it that declare nothing else keep what they have
     * (INVIVO_ON_CHANGE_KEEP), unless `on_change` is given. Traits still change its properties; see INVIVO_PROPERTY_RESTART for
     * those that must not change meanwhile. */
    INVIVO_DEFINITION_RESTART = 128
};

/** Conditions of the options of a choice. */
enum {
    /** the value of the chooser equals `value`, which may be null; numbers are equal regardless of their kinds */
    INVIVO_WHEN_EQUAL = 0,
    INVIVO_WHEN_EXACT = 1,   /**< the value is an object of exactly the type `name` */
    INVIVO_WHEN_KIND = 2,    /**< the value is an object whose type is `name` or has that supertype */
    INVIVO_WHEN_NAMED = 3,   /**< the value is a string: a definition of the same assembly, or a whole key; `use` is ignored */
    INVIVO_WHEN_OTHERWISE = 4 /**< always true */
};
/** An option of a choice. */
typedef struct invivo_option {
    uint32_t when; /* INVIVO_WHEN_... */
    uint32_t reserved;
    invivo_value value;
    const char *name;
    invivo_injection use; /**< a REFERENCE, with arguments, or a TYPE: the target of the choice */
} invivo_option;

/** A definition: describes how the object of a key is created.
 *
 * The steps of a creation, in this order: the initializer; the hook `will_inject` of the type; `before`; `properties`;
 * `methods`; `inject`; `after`. When all objects of the outermost resolve are complete, children before parents:
 * `after_all`, then `take_runtime` and `did_inject` of the type. */
typedef struct invivo_definition {
    size_t struct_size;
    const char *key;   /* "assembly.name" */
    uint32_t scope;    /* INVIVO_SCOPE_... */
    uint32_t flags;    /* INVIVO_DEFINITION_... */
    invivo_type type;  /**< the type of the object; may be zero for an alias, or if a parent or maker determines it */
    /** Creates the instance. NULL: the type's own `init` or `make` does, with `initializer`.
     * For a type without size it returns an instance; for a type with size it fills the zeroed memory at *instance. It
     * may resolve other keys, which become dependencies. */
    invivo_status (*factory)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                             void *user_data, invivo_error **error);
    void *user_data;
    /** Called exactly once when the definition is dropped, including after a failed commit. Not called if the call that
     * received it returns an error. May be NULL. */
    void (*destroy)(void *user_data);
    /** The arguments of the type's initializer, or of `factory`. Each parameter that is not optional needs one, in every
     * scope; otherwise the definition is refused (INVIVO_E_ARITY). */
    const invivo_injection *initializer;
    uint64_t initializer_count;
    const invivo_injection *properties; /**< set in this order after creation; base values for the fields of a block */
    uint64_t property_count;
    /** The target key, if this definition is an alias.
     * With `parameters`, which declare the arguments of the alias, `initializer` lists all arguments of the target
     * (INVIVO_INJECT_ARGUMENT). Without `parameters`, it lists the target's first arguments; the arguments of the resolve
     * are the others. The alias
     * creates nothing: type, scope, further injections and hooks are those of the target, and are ignored here. */
    const char *alias;
    const char *file;  /**< source location of the declaration, for messages; may be NULL */
    uint32_t line, column;
    /** The definition from which this one inherits.
     * It inherits each of these that it does not declare itself: type, scope, factory or initializer, parameters,
     * injections, hooks, timeouts and `on_change`. Properties are inherited by name. Inherited method calls run before its own
     * calls, except for methods that it calls itself. Not inherited: flags, rank, alias, constant, choice, `each`. */
    const char *parent;
    /** The runtime arguments of a resolve. INVIVO_INJECT_ARGUMENT injects them.
     * Without parameters, a resolve with arguments is INVIVO_E_ARITY. Only an alias without parameters passes arguments
     * on. */
    const invivo_parameter *parameters;
    uint64_t parameter_count;
    const invivo_invocation *methods;   /**< called in this order after the properties; a method may occur twice */
    uint64_t method_count;
    const invivo_invocation *before, *after, *after_all;
    uint64_t before_count, after_count, after_all_count;
    /** The instance is the result of `maker_method` of the object from maker[0]. Further items are its arguments. */
    const char *maker_method;
    const invivo_injection *maker;
    uint64_t maker_count;
    /** Injects by code. It may resolve other keys, and combines with all other injections. */
    invivo_status (*inject)(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                            void *user_data, invivo_error **error);
    int32_t rank; /**< the highest rank is first in lists and wins lookups by type */
    uint32_t reserved;
    /** The initial content of the block of this key, with the size of the type's block. Overrides the type's initial
     * values.
     * NULL = as the type declares. Requires `type`. */
    const void *block_initial;
    invivo_object constant; /**< an existing object; the definition takes a lease. Nothing is injected into it */
    const char *type_name; /**< the type by name, if `type` is zero; resolved when the definition takes effect */
    /** A choice between other definitions.
     * The key stands for the first option that matches the value of `chooser` (a CONFIG, an ARGUMENT or another
     * source). If no option matches, the error names the value. If a configuration value changes, the choice changes,
     * as a reload. A choice creates nothing: scope, injections and hooks are those of its target. With a `type`,
     * lookups find it by that type. */
    const invivo_injection *chooser;
    const invivo_option *options;
    uint64_t option_count;
    uint32_t start_timeout_ms; /**< start and stop timeouts of its objects; 0 = those of the runtime options */
    uint32_t stop_timeout_ms;
    /** A configuration path. Makes the definition a pattern with one instance for each entry of the map or list there.
     * The path is searched for as in CONFIG. The key of an instance is "assembly.name[entry]". Adding, removing or
     * changing an entry affects only that entry's instance. Entries of a map are named by their keys, entries of a list
     * by their string or number, or by the value under `name` if they are maps. Inline definitions of the pattern also
     * exist once per entry. */
    const char *each;
    const char *scope_name; /**< for INVIVO_SCOPE_HOST: the name of the scope; see scope.h */
    /** The type with its generic arguments, such as "Repository[User]". Lookups for that name prefer it; see
     * INVIVO_INJECT_TYPE. NULL = the type's own, which may be among its supertypes. */
    const char *generic;
    /** The defaults of runtime arguments, one for each of `parameters`, or NULL.
     * A null value means no default: the argument is then null if it is optional, and required otherwise. Copied, and
     * converted to the kind of the parameter. */
    const invivo_value *defaults;
    /** The key of the definition that contains this one, as written in the same table or change set; NULL = none.
     * It is removed with that definition, and is not found by type. If the containing definition has `each`, there is
     * one per entry. For languages that name inline definitions themselves; in C use `definition` of invivo_injection. */
    const char *owner;
    /** How its objects follow changes of what they receive by injections that do not declare it themselves,
     * INVIVO_ON_CHANGE_... Inherited with `on_change_reason`. Not for an alias or a choice, which create nothing. Objects that
     * `factory`, `inject` or a hook resolves are followed as before: inject them to declare something else. */
    uint32_t on_change;
    uint32_t reserved2;
    const char *on_change_reason; /**< why REFUSE refuses a change, for the error; NULL = none is given */
    /** The key in `traits:` of documents whose traits apply to its objects; NULL = its own key, or as the parent declares.
     * Several definitions may name one key, which needs no definition of its own. INVIVO_SPEC_KEY_NONE: no traits apply. Not for
     * an alias or a choice, which create nothing. A definition from a pattern (`each`) has its own key, or this one. */
    const char *spec_key;
} invivo_definition;

/** The `spec_key` of a definition whose objects have no traits. Its objects may be attached to other keys. */
#define INVIVO_SPEC_KEY_NONE "none"

/* ---- keys -------------------------------------------------------------------------------------------- */

/** Returns the key of a name, and creates it if it is new.
 * The low 32 bits of a key are dense, and never change while the runtime lives. */
INVIVO_API invivo_status invivo_key_intern(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/** Finds the key of a defined name.
 * An unknown name is INVIVO_E_NOT_FOUND and creates no key. The error, unless NULL, names the nearest key. */
INVIVO_API invivo_status invivo_key_find(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) INVIVO_WAITS;
/** Returns the name of a key, borrowed while the runtime lives; NULL for an invalid handle. */
INVIVO_API const char *invivo_key_name(invivo_key key) INVIVO_WAITS;
/** Reports whether a key belongs to a runtime.
 * A name keeps its key as long as its runtime lives. Code that caches keys needs one word per runtime only. */
static inline bool invivo_key_is_of(invivo_key key, invivo_runtime runtime) {
    return key.bits != 0 && (((key.bits ^ runtime.bits) >> 32) & 0x0fffffff) == 0;
}
/** Returns the version word of a key. A commit that changes the key's object, or how it is created, changes the word.
 * Closing the runtime changes the word too. The memory of the word is never freed, so a cache may read it at any time. 0
 * is never a version. NULL for an invalid handle. */
INVIVO_API const uint64_t *invivo_key_version(invivo_key key) INVIVO_WAITS;
/** Reads a version word, which other threads increment.
 * If a thread begins a view and then reads an unchanged version, the view belongs to that version. */
static inline uint64_t invivo_version_read(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

/* ---- change sets ------------------------------------------------------------------------------------- */

/** Opens a change set. All its changes take effect as one reload, or none does.
 * Closing the runtime closes an open set. */
INVIVO_API invivo_status invivo_changes_open(invivo_runtime runtime, invivo_changes *out, invivo_error **error) INVIVO_WAITS;
/** Adds or replaces a definition, also one of an assembly.
 * Copied, except functions and user_data. `out` receives the key and may be NULL. The same key twice in one set is
 * INVIVO_E_EXISTS; the error names both source locations. */
INVIVO_API invivo_status invivo_changes_define(invivo_changes changes, const invivo_definition *definition, invivo_key *out,
                                               invivo_error **error) INVIVO_WAITS;
/** Removes a definition. The commit returns INVIVO_E_NOT_FOUND if the key has no definition or still has dependents. */
INVIVO_API invivo_status invivo_changes_remove(invivo_changes changes, const char *key, invivo_error **error) INVIVO_WAITS;
/** Adds or replaces an in-memory document; NULL text removes it. The text is copied. */
INVIVO_API invivo_status invivo_changes_document(invivo_changes changes, const char *name, const char *text, uint64_t length,
                                                 invivo_error **error) INVIVO_WAITS;
/** Sets the base value of a tunable property of a definition. Traits still apply on top of it. Definitions that inherit from it have the value,
 * too. Defining the key again ends it. */
INVIVO_API invivo_status invivo_changes_set(invivo_changes changes, const char *key, const char *property,
                                            const invivo_value *value, invivo_error **error) INVIVO_WAITS;
/** Checks a change set without creating any object.
 * Runs no factory, initializer or hook. Returns all errors at once, each with its rule (invivo_error_rule) and its
 * dependents. The set stays open. */
INVIVO_API invivo_status invivo_changes_check(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
enum {
    INVIVO_RESET_DEPENDENCIES = 1 /**< also the objects that were injected into the key's objects, directly or indirectly */
};
/** Drops the shared instances of a key, including those for runtime arguments.
 * Dependents are updated as in any reload, and the former instances are stopped and disposed of. A new instance is
 * created on demand; for an eager or exclusive singleton, or if a dependent needs one, by the commit. A key that is not
 * built stays so. */
INVIVO_API invivo_status invivo_changes_reset(invivo_changes changes, const char *key, uint32_t flags, invivo_error **error) INVIVO_WAITS;
/** Drops all shared instances of a scope: INVIVO_SCOPE_SINGLETON, _LAZY_SINGLETON or _WEAK_SINGLETON.
 * The cost is proportional to the number of instances, not of definitions. */
INVIVO_API invivo_status invivo_changes_reset_scope(invivo_changes changes, uint32_t scope, invivo_error **error) INVIVO_WAITS;
/** Makes a change set depend on the generation that it was written for (invivo_runtime_generation).
 * If another generation is current when its reload begins, the check, commit or submitted reload fails with
 * INVIVO_E_STALE and changes nothing. A submitted set that expects a generation is a reload of its own. The last call
 * wins. */
INVIVO_API invivo_status invivo_changes_expect(invivo_changes changes, uint64_t generation, invivo_error **error) INVIVO_WAITS;
/** Commits a change set and closes it, also on failure. Returns when the reload is done.
 * Returns all errors at once. In a callback, where waiting is refused, it returns INVIVO_E_WOULD_WAIT; use
 * invivo_changes_submit there. */
INVIVO_API invivo_status invivo_changes_commit(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
/** Submits a change set and closes it. Observers receive the result. Allowed in callbacks.
 * Sets that are pending at the same time become one reload. If several define the same key, the last one wins. The
 * report names all sets. If that reload fails, each set is tried alone, in order. */
INVIVO_API invivo_status invivo_changes_submit(invivo_changes changes, invivo_error **error) INVIVO_WAITS;
/** Closes a change set without a commit, and calls `destroy` of its definitions. An invalid handle is a no-op. */
INVIVO_API void invivo_changes_discard(invivo_changes changes) INVIVO_WAITS;

/** A processor: changes definitions before they are compiled, or replaces objects when they are created. */
typedef struct invivo_processor {
    size_t struct_size;
    const char *name; /**< the name of the processor; a later processor with the same name replaces it */
    const char *key;  /**< this key only; NULL = any */
    const char *type; /**< this type, or types with this supertype, only; NULL = any */
    int32_t priority; /**< the lowest first; equal ones in the order of registration */
    uint32_t reserved;
    /** Visits each matching definition whenever it changes. May be NULL.
     * The input is the original description, or the output of the preceding processor; a processor never receives its own
     * output. To replace the definition, define the same key in `changes`. `changes` is valid during the call, and accepts
     * only that key. Copy
     * `described` and change the copy, so that other fields stay. `described` is borrowed during the call; its
     * `destroy` is NULL, and its user data stays valid with the replacement. Overrides are not visited. */
    invivo_status (*process)(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error);
    /** Replaces an object after it has been created, injected and started, before other code receives it. May be NULL.
     *
     * Returns the replacement with one lease for the caller, or zero (or the same object) for no change. The
     * replacement keeps the original alive; it needs no own lease. It must have the definition's type, or a type with
     * that supertype. Cyclic references to the object are set after decoration; if an initializer would receive the undecorated
     * object, the error is a cycle that names both keys. Constants are not decorated. Traits and reloads apply to the
     * original object. `build` names the key. */
    invivo_status (*decorate)(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data,
                              invivo_error **error);
    /** Instead of `decorate`: the key of a component that decorates. With `method`, that method receives the object and
     * returns the replacement or null. Without it, the component receives the object as its only runtime argument, and
     * is the replacement. Dependencies of the component are created first, and the processor does not apply to them. */
    const char *component;
    const char *method;
    void *user_data;
    /** Called once when the processor is dropped, including after a failed commit. Not called if the call that received
     * it returns an error. May be NULL. */
    void (*destroy)(void *user_data);
} invivo_processor;

/** Adds or replaces a processor. The commit rebuilds the affected objects. Copied, except functions and user_data. */
INVIVO_API invivo_status invivo_changes_process(invivo_changes changes, const invivo_processor *processor,
                                                invivo_error **error) INVIVO_WAITS;
/** Removes a processor by name. The commit rebuilds the affected objects. */
INVIVO_API invivo_status invivo_changes_unprocess(invivo_changes changes, const char *name, invivo_error **error) INVIVO_WAITS;

/** Commits a change set with one definition. */
INVIVO_API invivo_status invivo_define(invivo_runtime runtime, const invivo_definition *definition, invivo_key *out,
                                       invivo_error **error) INVIVO_WAITS;

/* ---- overrides ------------------------------------------------------------------------------------------ */

/** Overrides the definition of a key, as a reload. For tests and experiments.
 * The override is another definition, or an object (`constant`). The key keeps its scope, visibility and rank;
 * dependents are updated. For an alias or a choice, the override has its own scope; with INVIVO_SCOPE_DEFAULT it is a lazy
 * singleton. Overrides of a key stack; the last one is in effect. */
INVIVO_API invivo_status invivo_override_begin(invivo_runtime runtime, const invivo_definition *definition, invivo_override *out,
                                               invivo_error **error) INVIVO_WAITS;
/** Ends an override, as a reload. Overrides may end in any order. Closing the runtime ends all of them. */
INVIVO_API invivo_status invivo_override_end(invivo_override override, invivo_error **error) INVIVO_WAITS;

/** Options of invivo_define_block. */
typedef struct invivo_block_options {
    size_t struct_size;
    const char *type_name;
    uint64_t size;
    const invivo_property *properties;
    uint64_t property_count;
    const void *initial; /**< `size` bytes: the initial content, unless a property declares an initial value; NULL = zeros */
} invivo_block_options;

/** The argument `block` of invivo_define_block: INVIVO_BLOCK(structure, properties).
 * INVIVO_BLOCK_FROM also takes the address of a `structure` with the initial content. In C++, INVIVO_BLOCK uses the
 * default member initializers of the struct. */
#define INVIVO_BLOCK(structure, properties) INVIVO_BLOCK_(structure, properties, NULL)
#define INVIVO_BLOCK_FROM(structure, properties, initial) INVIVO_BLOCK_(structure, properties, initial)
#ifdef __cplusplus
INVIVO_EXTERN_C_END
/** A temporary that lives as long as the full call expression. */
struct invivo_block_argument {
    invivo_block_options options;
    operator const invivo_block_options *() const { return &options; }
};
/** The name under which this image declares blocks of a struct, or NULL. */
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

/** Defines a key that is only a block: a plain struct that spec files tune and views read.
 * Registers the type if it is new, and commits the definition. The same type name must always have the same
 * description. */
INVIVO_API invivo_status invivo_define_block(invivo_runtime runtime, const char *key, const invivo_block_options *block,
                                             invivo_key *out, invivo_error **error) INVIVO_WAITS;

/* ---- resolving --------------------------------------------------------------------------------------- */

/** Resolves the object of a key. The caller owns one lease.
 * Builds the object if needed. A shared object is built once, for all threads. Resolving a built shared object takes
 * nanoseconds and never waits. A confined shared object can be resolved in its domain only. Elsewhere, and if a
 * confined object would have to be created, the call returns INVIVO_E_DOMAIN; it never waits for the domain. Use
 * invivo_resolve_async there. */
INVIVO_API invivo_status invivo_resolve(invivo_runtime runtime, invivo_key key, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Resolves an object with runtime arguments.
 * Shared objects are kept per key and arguments. Arguments are compared by value: numbers regardless of their kinds,
 * objects by identity. */
INVIVO_API invivo_status invivo_resolve_with(invivo_runtime runtime, invivo_key key, const invivo_value *arguments,
                                             size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Resolves an object, or zero if the key has no definition, is blocked, or its factory returns null. */
INVIVO_API invivo_status invivo_resolve_optional(invivo_runtime runtime, invivo_key key, const invivo_value *arguments,
                                                 size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;
enum {
    INVIVO_LOOKUP_EXACT = 1,   /**< the exact type, without subtypes */
    INVIVO_LOOKUP_OPTIONAL = 2 /**< zero if there is none */
};
/** Resolves the object of the one definition of a type or supertype.
 * The highest rank wins, then the exact type. For code that creates an object, then the assembly of that object. No
 * match, or more than one, is an error that lists the candidates.
 *
 * @param name only the key with this name, or an "assembly.name" that ends with it; NULL = any
 * @param flags INVIVO_LOOKUP_... */
INVIVO_API invivo_status invivo_resolve_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags,
                                             invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Finds the key that invivo_resolve_type would resolve. Builds nothing. With INVIVO_LOOKUP_OPTIONAL, zero if there is
 * none. */
INVIVO_API invivo_status invivo_key_of_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags,
                                            invivo_key *out, invivo_error **error) INVIVO_WAITS;
/** Resolves one object of each definition of a type, as an owned list.
 * The order is by rank, then by declaration. The list may be empty. Graph-scope objects are shared within the call. */
INVIVO_API invivo_status invivo_resolve_all(invivo_runtime runtime, const char *type, uint32_t flags, invivo_value *out,
                                            invivo_error **error) INVIVO_WAITS;
/** Injects into an existing object. No initializer runs, all hooks run.
 *
 * @param key the definition to use; zero = the definition of the object's type, else its type needs */
INVIVO_API invivo_status invivo_inject(invivo_object object, invivo_key key, invivo_error **error) INVIVO_WAITS;
enum {
    /** The object becomes the shared instance of its key, which must not be built yet. */
    INVIVO_INTO_SHARED = 1,
    INVIVO_INTO_KNOWN = 2   /**< for trees: unknown types are left unchanged and are no error */
};
/** Injects into an existing object, with flags.
 * With INVIVO_INTO_SHARED, the key must have a shared scope without arguments, and must not be built (INVIVO_E_EXISTS).
 * The object is then treated as created by the key: traits apply to it, and the graph holds a lease until a reload
 * replaces it. */
INVIVO_API invivo_status invivo_inject_with(invivo_object object, invivo_key key, uint32_t flags, invivo_error **error) INVIVO_WAITS;

/** Options of invivo_inject_tree. A function that is NULL is replaced by the function of each object's type. */
typedef struct invivo_tree {
    size_t struct_size;
    const char *key; /**< of the root; NULL = the key that the root names, else the definition of its type */
    uint32_t flags;  /* INVIVO_INTO_KNOWN */
    uint32_t reserved;
    /** Returns the child number `index` of `parent`, with one lease for the caller; zero after the last. */
    invivo_status (*child)(invivo_object parent, uint64_t index, invivo_object *out, void *user_data, invivo_error **error);
    /** Returns the key for `object`, borrowed until the next call; NULL = by type. */
    invivo_status (*key_name)(invivo_object object, const char **out, void *user_data, invivo_error **error);
    /** Returns 1 for an object that another loader handles, with its subtree. */
    uint8_t (*is_foreign)(invivo_object object, void *user_data);
    void *user_data;
} invivo_tree;

/** Injects into an existing object and all its children.
 *
 * Each object uses the key that it names, else the definition of its type, else its type needs. Three kinds of subtrees
 * are skipped: those of another loader, those of another runtime, and objects that a definition of this runtime
 * created, which are complete. The tree is traversed before anything is injected: unknown types, undefined keys and
 * duplicate objects are reported together. Parents are injected before children. When the whole tree is complete, the
 * after-all hooks run, children before parents. `tree` may be NULL. */
INVIVO_API invivo_status invivo_inject_tree(invivo_object root, const invivo_tree *tree, invivo_error **error) INVIVO_WAITS;

/** Resolves an object in its domain, asynchronously. Allowed in callbacks.
 *
 * A built object that the calling thread may use is delivered before the function returns. Otherwise a job of its
 * domain resolves a confined object, and one of a few runtime threads resolves a shared object. If the domain's thread waits inside
 * the creation of another object when the job arrives, the job runs after that creation. If this function
 * returns an error, `resolved` is not called.
 *
 * @param resolved called once, also if the runtime closes first: with an object and one lease for the callee, or with
 *     zero and an error that is borrowed during the call. It may call the runtime, but must not wait for reloads.
 * @param deliver the domain for the call of `resolved`; zero = where the object was resolved */
INVIVO_API invivo_status invivo_resolve_async(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count,
                                              void (*resolved)(void *user_data, invivo_object object, const invivo_error *error),
                                              void *user_data, invivo_domain deliver, invivo_error **error) INVIVO_WAITS;
/** Resolves the object of a key by its name. */
INVIVO_API invivo_status invivo_resolve_name(invivo_runtime runtime, const char *name, invivo_object *out,
                                             invivo_error **error) INVIVO_WAITS;
/** Starts the shared instances of a key after invivo_stop. An instance that is not built is created, and thereby
 * started.
 * Starting a started instance is a no-op. Dependencies are not affected. */
INVIVO_API invivo_status invivo_start(invivo_runtime runtime, invivo_key key, invivo_error **error) INVIVO_WAITS;
/** Stops the shared instances of a key, including those for runtime arguments and scope instances. They stay in the
 * graph.
 * An instance that is not built or not started is skipped. Dependents are not affected. A reload that replaces the
 * instance, or close, does not stop it again. */
INVIVO_API invivo_status invivo_stop(invivo_runtime runtime, invivo_key key, invivo_error **error) INVIVO_WAITS;
/** Describes the creation of an object as steps, for a host that creates objects of its own language without callbacks.
 *
 * `out` becomes an owned map, or null if a resolve is necessary. That is so if the object is shared, or if an object in its
 * graph has one of these properties: it is created by other means than an initializer or factory of a type without size, it
 * has hooks, it is in a cycle, it is tuned by documents, or it is shared and not built. The result is valid for one version of the key: read the version before, and
 * compare it afterwards. The map has
 *     "steps"       a list of maps, in execution order; the last object created for no other is the result:
 *         "make", "for"       the number of an object, and of the object for which it is created (-1 = for the resolve)
 *         "key", "file", "line"  of its definition, for messages
 *         "type"              its type, whose `make` creates it, unless there is
 *         "function", "data"  the definition's `factory` and its `user_data`, as numbers
 *         "arguments"         a list of sources
 *       or
 *         "set", "property", "to"  the number of an object, a property name, and the source of its value
 *     "parameters"  a list of maps "kind", "type" (a name, or null): the declared runtime arguments; with
 *                   "default" if the argument may be left out
 * A source is a map with one entry: "value" (a constant or a shared object), "object" (a number), "argument" (the
 * number of a runtime argument), "list" or "map" (of sources), "left_out" (an argument that the initializer does not
 * receive). */
INVIVO_API invivo_status invivo_key_outline(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Describes the effective definition of a key, including overrides and processors.
 *
 * `out` becomes an owned map, valid for one version of the key:
 *     "type"        the type of its objects, or one of its supertypes; null for a choice that declares none
 *     "scope", "scope_name"  INVIVO_SCOPE_..., and the name of a host scope, else null
 *     "making"      how its objects are created: "initializer", "factory", "method" (of another object), "constant",
 *                   "choice", "block", "abstract", or "dormant" (blocked)
 *     "file", "line"  the source location of the declaration
 *     "parameters"  a list of maps, one per runtime argument: "name", "kind" (INVIVO_KIND_...), "type" (a name, or null),
 *                   "optional" (a bool), and "default" if there is one
 *     "receivers"   a list of the types whose objects receive the runtime arguments, also through references that pass them
 *                   on; null if a choice, a path or a method that creates an object reads them
 * A key without a definition is INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_key_describe(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Returns the shared object of a key if it is built, else INVIVO_E_COLD. The caller owns one lease.
 * Never builds, never waits. Weak singletons, objects of host scopes and objects with runtime arguments always return
 * INVIVO_E_COLD, because finding them requires a lock. Use a weak reference for them. */
INVIVO_API invivo_status invivo_peek(invivo_runtime runtime, invivo_key key, invivo_object *out) INVIVO_NOWAIT;

INVIVO_EXTERN_C_END

#endif
