/** @file assembly.h
 * Assemblies: named sets of definitions that are activated, replaced, mounted and removed as a whole. */
#ifndef INVIVO_ASSEMBLY_H
#define INVIVO_ASSEMBLY_H

#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

typedef struct invivo_assembly invivo_assembly;

enum {
    INVIVO_COLLABORATOR_OPTIONAL = 1 /**< may be missing; references to it must then be optional */
};

/** Another assembly that references of this one lead to.
 * It is determined at activation: the reference "armory.sword" leads to the member `sword` of the assembly that the
 * collaborator `armory` stands for. */
typedef struct invivo_collaborator {
    const char *prefix;           /**< prefix of the references */
    const char *assembly;         /**< the name of the assembly or of one of its supertypes; NULL = `prefix` */
    /** the assembly to activate if none is given, active or described; may be NULL. Tables may refer to each other in
     * cycles */
    const invivo_assembly *table;
    uint32_t flags;               /* INVIVO_COLLABORATOR_... */
    uint32_t reserved;
} invivo_collaborator;

enum {
    INVIVO_ASSEMBLY_DESCRIBED = 1, /**< refers to the described assembly with this name; all other fields are ignored */
    /** Adds to the active assembly of this name, or creates it. In it, a reference without a dot is always to a member. Repeated
     * definitions are a no-op; removed ones are added again. */
    INVIVO_ASSEMBLY_EXTENDS = 2
};

/** An assembly: a table of definitions with a name. In it
 *
 * - a key without a dot is a member: `knight` is the key "camelot.knight". A key with a dot is used unchanged.
 * - a reference (also an alias, parent or maker) without a dot leads to a member, if there is one with this name. A
 *   reference that begins with the prefix of a collaborator leads to that assembly. Other references are used
 *   unchanged. */
struct invivo_assembly {
    size_t struct_size;
    const char *name; /**< NULL = the name of `base` */
    const invivo_definition *definitions; /**< each begins with its struct_size, which is also the stride of the table */
    uint64_t definition_count;
    const invivo_collaborator *collaborators; /**< adds to the collaborators of `base`; the same prefix replaces one */
    uint64_t collaborator_count;
    /** The base assembly. This one inherits its definitions, except for the keys that it defines itself.
     * The derived assembly has the base as a supertype, and replaces it wherever both are candidates. An overridden
     * definition is dropped unused: its `destroy` is never called, and the caller keeps its `user_data`. */
    const invivo_assembly *base;
    const char *const *supertypes; /**< names of interfaces by which collaborators can find it */
    uint64_t supertype_count;
    uint32_t flags; /* INVIVO_ASSEMBLY_... */
    uint32_t line, column;
    uint32_t reserved;
    const char *file; /**< source location of the declaration, for messages; may be NULL */
    /** Configuration paths that are secret (config.h) while the assembly is active. Those of `base` are, too. */
    const char *const *secrets;
    uint64_t secret_count;
};

/* ---- description and activation ------------------------------------------------------------------------ */

/** Describes an assembly and the tables of its collaborators. Active definitions do not change.
 * Until the assembly is activated, a resolve of one of its keys returns INVIVO_E_NOT_READY; the error names the
 * assembly. A repeated description replaces the former one. Copied like definitions. Types named by `type_name` need
 * not be registered yet. If the call fails, it has called no `destroy`. */
INVIVO_API invivo_status invivo_assembly_describe(invivo_runtime runtime, const invivo_assembly *assembly,
                                                  invivo_error **error) INVIVO_WAITS;
/** Removes a description. An active assembly stays active. */
INVIVO_API invivo_status invivo_assembly_forget(invivo_runtime runtime, const char *name, invivo_error **error) INVIVO_WAITS;

enum {
    INVIVO_ASSEMBLY_UNKNOWN = 0,
    INVIVO_ASSEMBLY_INACTIVE = 1, /**< described, but not active */
    INVIVO_ASSEMBLY_ACTIVE = 2
};
/** Returns the state of an assembly, or of a mount by its prefix: INVIVO_ASSEMBLY_UNKNOWN, ... */
INVIVO_API invivo_status invivo_assembly_state(invivo_runtime runtime, const char *name, uint32_t *out,
                                               invivo_error **error) INVIVO_WAITS;

enum {
    INVIVO_ACTIVATE_NEW = 1 /**< if another assembly with this name is active, returns INVIVO_E_EXISTS instead of replacing it */
};
/** Options of invivo_activate. */
typedef struct invivo_activate_options {
    size_t struct_size;
    uint32_t flags; /* INVIVO_ACTIVATE_... */
    uint32_t reserved;
} invivo_activate_options;

/** Activates assemblies with their collaborators, in any order, as one atomic reload.
 *
 * - Activating the same assembly again is a no-op. Definitions that were replaced or removed one by one stay so. To
 *   restore the assembly, remove and activate it in one change set.
 * - Another assembly with the same name is replaced. Unchanged keys keep their instances; missing keys are removed.
 * - A key with two definitions is INVIVO_E_EXISTS with both source locations: in two assemblies, in one table, or also
 *   outside of assemblies.
 * - A collaborator is the first of these that exists: a derived assembly among the given ones, the given one, the one
 *   bound before, an active one, a described one, its table. None is INVIVO_E_NOT_FOUND.
 *
 * @param options may be NULL */
INVIVO_API invivo_status invivo_activate(invivo_runtime runtime, const invivo_assembly *const *assemblies, size_t count,
                                         const invivo_activate_options *options, invivo_error **error) INVIVO_WAITS;
/** Removes active assemblies with all their definitions, by name, as one reload.
 * If an assembly has dependents, the result is INVIVO_E_NOT_FOUND; the error names them. */
INVIVO_API invivo_status invivo_deactivate(invivo_runtime runtime, const char *const *names, size_t count,
                                           invivo_error **error) INVIVO_WAITS;

/** Redirects outer references of a mount. `from` is a whole key, or the first parts of one ("armory"). */
typedef struct invivo_remap {
    const char *from;
    const char *to;
} invivo_remap;

/** Activates an assembly under its own prefix, beside others from the same table.
 *
 * Its member `voice` has the key "left.voice". References between members stay inside the mount. References to the
 * outside follow the longest matching remap. An unused remap is an error. Lookups by type from inside a mount prefer
 * objects of the mount. Mounting again in the same way is a no-op. Remove a mount with invivo_deactivate and its
 * prefix. If another assembly is active under the prefix, the result is INVIVO_E_EXISTS with both source locations. */
INVIVO_API invivo_status invivo_mount(invivo_runtime runtime, const invivo_assembly *assembly, const char *prefix,
                                      const invivo_remap *remaps, size_t count, invivo_error **error) INVIVO_WAITS;

/* ---- in change sets ----------------------------------------------------------------------------------- */

/** Adds an activation to a change set. See invivo_activate. */
INVIVO_API invivo_status invivo_changes_activate(invivo_changes changes, const invivo_assembly *assembly,
                                                 const invivo_activate_options *options, invivo_error **error) INVIVO_WAITS;
/** Adds a removal to a change set. See invivo_deactivate. */
INVIVO_API invivo_status invivo_changes_deactivate(invivo_changes changes, const char *name, invivo_error **error) INVIVO_WAITS;
/** Adds a mount to a change set. See invivo_mount. */
INVIVO_API invivo_status invivo_changes_mount(invivo_changes changes, const invivo_assembly *assembly, const char *prefix,
                                              const invivo_remap *remaps, size_t count, invivo_error **error) INVIVO_WAITS;

/* ---- macros for tables --------------------------------------------------------------------------------- */

/** Macros for tables of constants in C. Use `static` at file scope: in a function, their pointers are not constant.
 *
 *     static const invivo_definition camelot_definitions[] = {
 *         INVIVO_LAZY_SINGLETON("table", "Table", INVIVO_PROPERTIES(INVIVO_NAMED("seats", INVIVO_INT(12)))),
 *         INVIVO_PROTOTYPE("knight", "Knight",
 *             INVIVO_PARAMETERS({.name = "quest", .kind = INVIVO_KIND_OBJECT, .type_name = "Quest"}),
 *             INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_ARG(0)), INVIVO_GIVE(INVIVO_REF("armory.sword"))),
 *             INVIVO_PROPERTIES(INVIVO_NAMED("table", INVIVO_REF("table")))),
 *         INVIVO_ALIAS("hero", "knight"),
 *     };
 *     static const invivo_collaborator camelot_collaborators[] = {{.prefix = "armory"}};
 *     static const invivo_assembly camelot = INVIVO_ASSEMBLY("camelot", camelot_definitions,
 *         INVIVO_COLLABORATORS(camelot_collaborators)); */
#define INVIVO_DEFINITION(its_key, its_type, its_scope, ...)                                                    \
    {                                                                                                           \
        .struct_size = sizeof(invivo_definition), .key = (its_key), .scope = (its_scope), .file = __FILE__,     \
        .line = __LINE__, .type_name = (its_type), __VA_ARGS__                                                  \
    }
#define INVIVO_PROTOTYPE(its_key, ...) INVIVO_DEFINITION_OF_(its_key, INVIVO_SCOPE_PROTOTYPE, __VA_ARGS__, .reserved = 0)
#define INVIVO_GRAPH(its_key, ...) INVIVO_DEFINITION_OF_(its_key, INVIVO_SCOPE_GRAPH, __VA_ARGS__, .reserved = 0)
#define INVIVO_SINGLETON(its_key, ...) INVIVO_DEFINITION_OF_(its_key, INVIVO_SCOPE_SINGLETON, __VA_ARGS__, .reserved = 0)
#define INVIVO_LAZY_SINGLETON(its_key, ...)                                                                     \
    INVIVO_DEFINITION_OF_(its_key, INVIVO_SCOPE_LAZY_SINGLETON, __VA_ARGS__, .reserved = 0)
#define INVIVO_WEAK_SINGLETON(its_key, ...)                                                                     \
    INVIVO_DEFINITION_OF_(its_key, INVIVO_SCOPE_WEAK_SINGLETON, __VA_ARGS__, .reserved = 0)
#define INVIVO_DEFINITION_OF_(its_key, its_scope, its_type, ...) INVIVO_DEFINITION(its_key, its_type, its_scope, __VA_ARGS__)
/** An alias: INVIVO_ALIAS("hero", "knight"). For arguments, add INVIVO_PARAMETERS(...), INVIVO_INITIALIZER(...). */
#define INVIVO_ALIAS(its_key, ...) INVIVO_ALIAS_(its_key, __VA_ARGS__, .reserved = 0)
#define INVIVO_ALIAS_(its_key, target, ...)                                                                     \
    INVIVO_DEFINITION(its_key, NULL, INVIVO_SCOPE_DEFAULT, .alias = (target), __VA_ARGS__)
/** A definition with a parent: INVIVO_CHILD("duke", "knight", INVIVO_PROPERTIES(...)). */
#define INVIVO_CHILD(its_key, ...) INVIVO_CHILD_(its_key, __VA_ARGS__, .reserved = 0)
#define INVIVO_CHILD_(its_key, its_parent, ...)                                                                 \
    INVIVO_DEFINITION(its_key, NULL, INVIVO_SCOPE_DEFAULT, .parent = (its_parent), __VA_ARGS__)

/** Parts of a definition. */
#define INVIVO_PARAMETERS(...) .parameters = INVIVO_TABLE_(invivo_parameter, __VA_ARGS__), .parameter_count = INVIVO_COUNT_(invivo_parameter, __VA_ARGS__)
#define INVIVO_INITIALIZER(...) .initializer = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .initializer_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)
#define INVIVO_PROPERTIES(...) .properties = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .property_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)
#define INVIVO_METHODS(...) .methods = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .method_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
#define INVIVO_BEFORE(...) .before = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .before_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
#define INVIVO_AFTER(...) .after = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .after_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
#define INVIVO_AFTER_ALL(...) .after_all = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .after_all_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
/** A method call during creation: INVIVO_CALL("add", INVIVO_GIVE(INVIVO_INT(1))). */
#define INVIVO_CALL(its_method, ...) {.method = (its_method), .arguments = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .argument_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)}

/** An injection: by position (INVIVO_GIVE) or by name (INVIVO_NAMED), with its source. */
#define INVIVO_GIVE(...) {__VA_ARGS__}
#define INVIVO_NAMED(its_name, ...) {.name = (its_name), __VA_ARGS__}
#define INVIVO_REF(...) INVIVO_REF_(__VA_ARGS__, .index = 0)
#define INVIVO_REF_(its_key, ...) .how = INVIVO_INJECT_REFERENCE, .reference = (its_key), __VA_ARGS__
#define INVIVO_REF_OPTIONAL(its_key) .how = INVIVO_INJECT_REFERENCE, .reference = (its_key), .flags = INVIVO_INJECT_OPTIONAL
#define INVIVO_BY_TYPE(its_type) .how = INVIVO_INJECT_TYPE, .reference = (its_type)
#define INVIVO_ALL_OF(its_type) .how = INVIVO_INJECT_ALL, .reference = (its_type)
#define INVIVO_ARG(its_index) .how = INVIVO_INJECT_ARGUMENT, .index = (its_index)
#define INVIVO_INT(number) .how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_INT64, .as = {.signed_integer = (number)}}
#define INVIVO_NUMBER(its_number) .how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_DOUBLE, .as = {.number = (its_number)}}
#define INVIVO_FLAG(its_value) .how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_BOOL, .as = {.boolean = (its_value)}}
/** A string literal. */
#define INVIVO_TEXT(text) .how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_STRING, .as = {.string = {text, sizeof(text) - 1}}}
#define INVIVO_CONFIG(path) .how = INVIVO_INJECT_CONFIG, .reference = (path)
/** In a definition with `.each = "voices"`: the value at a path below its entry (INVIVO_ENTRY), and the entry's name. */
#define INVIVO_ENTRY(path) .how = INVIVO_INJECT_ENTRY, .reference = (path)
#define INVIVO_ENTRY_NAME() .how = INVIVO_INJECT_ENTRY_NAME
/** Arguments of a reference, items of a list, the target of a provider or weak reference. */
#define INVIVO_WITH(...) .items = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .item_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)
#define INVIVO_LIST(...) .how = INVIVO_INJECT_LIST, INVIVO_WITH(__VA_ARGS__)
#define INVIVO_PROVIDER(...) .how = INVIVO_INJECT_PROVIDER, INVIVO_WITH(INVIVO_GIVE(__VA_ARGS__))
#define INVIVO_WEAK(...) .how = INVIVO_INJECT_WEAK, INVIVO_WITH(INVIVO_GIVE(__VA_ARGS__))
/** An inline definition: INVIVO_INLINE(INVIVO_SCOPE_GRAPH, "Quest", INVIVO_PROPERTIES(...)).
 * Its key is derived from its position ("camelot.knight.quest"). */
#define INVIVO_INLINE(its_scope, ...) .how = INVIVO_INJECT_REFERENCE, .definition = INVIVO_INLINE_(its_scope, __VA_ARGS__, .reserved = 0)
#define INVIVO_INLINE_(its_scope, its_type, ...) &(const invivo_definition)INVIVO_DEFINITION(NULL, its_type, its_scope, __VA_ARGS__)

#define INVIVO_ASSEMBLY(its_name, its_definitions, ...) INVIVO_ASSEMBLY_OF_(its_name, its_definitions, __VA_ARGS__)
#define INVIVO_ASSEMBLY_OF_(its_name, its_definitions, ...)                                                     \
    {                                                                                                           \
        .struct_size = sizeof(invivo_assembly), .name = (its_name), .definitions = (its_definitions),           \
        .definition_count = sizeof(its_definitions) / sizeof((its_definitions)[0]), .file = __FILE__,           \
        .line = __LINE__, __VA_ARGS__                                                                           \
    }
#define INVIVO_COLLABORATORS(table) .collaborators = (table), .collaborator_count = sizeof(table) / sizeof((table)[0])

#define INVIVO_TABLE_(structure, ...) (const structure[]){__VA_ARGS__}
#define INVIVO_COUNT_(structure, ...) (sizeof((const structure[]){__VA_ARGS__}) / sizeof(structure))

INVIVO_EXTERN_C_END

#endif
