/* assembly.h: named sets of definitions, activated, replaced, mounted and removed as a whole. */
#ifndef INVIVO_ASSEMBLY_H
#define INVIVO_ASSEMBLY_H

#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

typedef struct invivo_assembly invivo_assembly;

enum {
    INVIVO_COLLABORATOR_OPTIONAL = 1 /* may be missing: what is referred to there must then be optional too */
};

/* Another assembly that references of this one lead to. Which one it is, is found at activation: the reference "armory.sword"
 * goes to the key `sword` of whatever assembly the collaborator `armory` turned out to be. */
typedef struct invivo_collaborator {
    const char *prefix;           /* what references begin with */
    const char *assembly;         /* its name, or the name of something that it says it is; NULL = `prefix` */
    const invivo_assembly *table; /* the one to activate when none is given, active or described; may be NULL. Tables may refer
                                     to each other in a circle */
    uint32_t flags;               /* INVIVO_COLLABORATOR_... */
    uint32_t reserved;
} invivo_collaborator;

enum {
    INVIVO_ASSEMBLY_DESCRIBED = 1, /* only the name counts: the assembly that has been described under it */
    INVIVO_ASSEMBLY_EXTENDS = 2    /* adds to the assembly that is active under the name, or is the first of it; what it refers to
                                      without a dot is always a member. What it says and is there the same is nothing, what was
                                      removed comes back */
};

/* An assembly: a table of definitions under one name. In it
 * - a key without a dot is a member: `knight` is the key "camelot.knight"; one with a dot stands as it is;
 * - a reference (also an alias, parent, or maker) without a dot is to a member, where there is one of this name; one that
 *   begins with a collaborator's prefix leads to that; another stands as it is. */
struct invivo_assembly {
    size_t struct_size;
    const char *name; /* NULL = the name of `base` */
    const invivo_definition *definitions; /* each begins with its struct_size, which is also the table's stride */
    uint64_t definition_count;
    const invivo_collaborator *collaborators; /* those of `base` too, except where a prefix comes again */
    uint64_t collaborator_count;
    /* Whose definitions this one takes over, except for the keys that it defines itself: the most derived wins. It then says
     * that it is that assembly, and stands in for it wherever it is given and that one is wanted. Of a definition that is
     * overridden nothing is taken: its `destroy` is never called, and its `user_data` stays the caller's. */
    const invivo_assembly *base;
    const char *const *supertypes; /* names of what it also is: interfaces by which collaborators look for it */
    uint64_t supertype_count;
    uint32_t flags; /* INVIVO_ASSEMBLY_... */
    uint32_t line, column;
    uint32_t reserved;
    const char *file; /* where it is declared, for messages; may be NULL */
};

/* ---- describe, then activate ------------------------------------------------------------------------- */

/* Makes an assembly and the tables of its collaborators known, without any effect on what is active. Until it is activated
 * every resolve of one of its keys answers INVIVO_E_NOT_READY, which says which assembly must be activated. Described again
 * with other content it is replaced. Copied as definitions are; types that a definition names by `type_name` need not be
 * registered yet. When the call fails, no `destroy` of a definition has been called. */
INVIVO_API invivo_status invivo_assembly_describe(invivo_runtime runtime, const invivo_assembly *assembly,
                                                  invivo_error **error) INVIVO_WAITS;
/* Takes a description back. What is active stays active. */
INVIVO_API invivo_status invivo_assembly_forget(invivo_runtime runtime, const char *name, invivo_error **error) INVIVO_WAITS;

enum {
    INVIVO_ASSEMBLY_UNKNOWN = 0,
    INVIVO_ASSEMBLY_INACTIVE = 1, /* described, not activated */
    INVIVO_ASSEMBLY_ACTIVE = 2
};
/* What is known of a name, or of the prefix of a mounted assembly. */
INVIVO_API invivo_status invivo_assembly_state(invivo_runtime runtime, const char *name, uint32_t *out,
                                               invivo_error **error) INVIVO_WAITS;

enum {
    INVIVO_ACTIVATE_NEW = 1 /* another assembly that is active under the same name is INVIVO_E_EXISTS, not replaced */
};
typedef struct invivo_activate_options {
    size_t struct_size;
    uint32_t flags; /* INVIVO_ACTIVATE_... */
    uint32_t reserved;
} invivo_activate_options;

/* Activates assemblies, with the collaborators that they need, in any order, as one reload: all of them or none. The very same
 * assembly again is nothing, also where single definitions of it were replaced or removed meanwhile: these stay so until it is
 * activated with other content, or taken away and activated again, which one change set may do. One that is active under the
 * name with other content is replaced: keys of which nothing changed
 * keep their instances, those that the new one does not have go. A key that two assemblies define, or one and a definition
 * outside of assemblies, is INVIVO_E_EXISTS, which names both places; so is one that comes twice in a table. A collaborator is,
 * in this order: a derived one among those given, the one given, the one bound before, an active one, one that was described,
 * its table; none is INVIVO_E_NOT_FOUND. `options` may be NULL. */
INVIVO_API invivo_status invivo_activate(invivo_runtime runtime, const invivo_assembly *const *assemblies, size_t count,
                                         const invivo_activate_options *options, invivo_error **error) INVIVO_WAITS;
/* Takes active assemblies away by name, as one reload, with all their definitions. One that others still need is
 * INVIVO_E_NOT_FOUND, which names who needs what. */
INVIVO_API invivo_status invivo_deactivate(invivo_runtime runtime, const char *const *names, size_t count,
                                           invivo_error **error) INVIVO_WAITS;

/* What an outer reference of a mounted assembly becomes: `from` is a whole key, or the first parts of one ("armory"). */
typedef struct invivo_remap {
    const char *from;
    const char *to;
} invivo_remap;

/* Activates an assembly under a prefix of its own, beside others of the same table: its member `voice` is then the key
 * "left.voice". References among its members stay inside the mount; those that lead out follow `remaps`, the longest that
 * fits. A remap that nothing uses is an error. Lookups by type from inside a mount prefer what the same mount makes. Mounted
 * again the same way it is nothing; deactivated by its prefix. A prefix under which another assembly is active is
 * INVIVO_E_EXISTS, which names both places. */
INVIVO_API invivo_status invivo_mount(invivo_runtime runtime, const invivo_assembly *assembly, const char *prefix,
                                      const invivo_remap *remaps, size_t count, invivo_error **error) INVIVO_WAITS;

/* ---- in change sets ----------------------------------------------------------------------------------- */

INVIVO_API invivo_status invivo_changes_activate(invivo_changes changes, const invivo_assembly *assembly,
                                                 const invivo_activate_options *options, invivo_error **error) INVIVO_WAITS;
INVIVO_API invivo_status invivo_changes_deactivate(invivo_changes changes, const char *name, invivo_error **error) INVIVO_WAITS;
INVIVO_API invivo_status invivo_changes_mount(invivo_changes changes, const invivo_assembly *assembly, const char *prefix,
                                              const invivo_remap *remaps, size_t count, invivo_error **error) INVIVO_WAITS;

/* ---- writing tables ----------------------------------------------------------------------------------- */

/* For tables of constants, in C; `static` at file scope, not in a function (what they point to is not constant there):
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
 *         INVIVO_COLLABORATORS(camelot_collaborators));
 */
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
/* Another name: INVIVO_ALIAS("hero", "knight"), with arguments after it INVIVO_PARAMETERS(...), INVIVO_INITIALIZER(...). */
#define INVIVO_ALIAS(its_key, ...) INVIVO_ALIAS_(its_key, __VA_ARGS__, .reserved = 0)
#define INVIVO_ALIAS_(its_key, target, ...)                                                                     \
    INVIVO_DEFINITION(its_key, NULL, INVIVO_SCOPE_DEFAULT, .alias = (target), __VA_ARGS__)
/* A child of another definition: INVIVO_CHILD("duke", "knight", INVIVO_PROPERTIES(...)). */
#define INVIVO_CHILD(its_key, ...) INVIVO_CHILD_(its_key, __VA_ARGS__, .reserved = 0)
#define INVIVO_CHILD_(its_key, its_parent, ...)                                                                 \
    INVIVO_DEFINITION(its_key, NULL, INVIVO_SCOPE_DEFAULT, .parent = (its_parent), __VA_ARGS__)

/* Parts of a definition. */
#define INVIVO_PARAMETERS(...) .parameters = INVIVO_TABLE_(invivo_parameter, __VA_ARGS__), .parameter_count = INVIVO_COUNT_(invivo_parameter, __VA_ARGS__)
#define INVIVO_INITIALIZER(...) .initializer = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .initializer_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)
#define INVIVO_PROPERTIES(...) .properties = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .property_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)
#define INVIVO_METHODS(...) .methods = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .method_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
#define INVIVO_BEFORE(...) .before = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .before_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
#define INVIVO_AFTER(...) .after = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .after_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
#define INVIVO_AFTER_ALL(...) .after_all = INVIVO_TABLE_(invivo_invocation, __VA_ARGS__), .after_all_count = INVIVO_COUNT_(invivo_invocation, __VA_ARGS__)
/* A method called while the object is made: INVIVO_CALL("add", INVIVO_GIVE(INVIVO_INT(1))). */
#define INVIVO_CALL(its_method, ...) {.method = (its_method), .arguments = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .argument_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)}

/* One thing injected: by position, or by name; and what it is. */
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
/* A literal. */
#define INVIVO_TEXT(text) .how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_STRING, .as = {.string = {text, sizeof(text) - 1}}}
#define INVIVO_CONFIG(path) .how = INVIVO_INJECT_CONFIG, .reference = (path)
/* In a definition with `.each = "voices"`: what its entry says at a path below it, and the entry's name. */
#define INVIVO_ENTRY(path) .how = INVIVO_INJECT_ENTRY, .reference = (path)
#define INVIVO_ENTRY_NAME() .how = INVIVO_INJECT_ENTRY_NAME
/* Arguments of a reference, items of a list, the target of a provider or weak reference. */
#define INVIVO_WITH(...) .items = INVIVO_TABLE_(invivo_injection, __VA_ARGS__), .item_count = INVIVO_COUNT_(invivo_injection, __VA_ARGS__)
#define INVIVO_LIST(...) .how = INVIVO_INJECT_LIST, INVIVO_WITH(__VA_ARGS__)
#define INVIVO_PROVIDER(...) .how = INVIVO_INJECT_PROVIDER, INVIVO_WITH(INVIVO_GIVE(__VA_ARGS__))
#define INVIVO_WEAK(...) .how = INVIVO_INJECT_WEAK, INVIVO_WITH(INVIVO_GIVE(__VA_ARGS__))
/* A definition that stands where it is used, with the key of its place ("camelot.knight.quest"):
 * INVIVO_INLINE(INVIVO_SCOPE_GRAPH, "Quest", INVIVO_PROPERTIES(...)). */
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
