/** @file trait.h
 * Trait types: named and reversible changes of objects, which spec files use. */
#ifndef INVIVO_TRAIT_H
#define INVIVO_TRAIT_H

#include "type.h"

INVIVO_EXTERN_C_BEGIN

/* A spec file lists traits for a key. The built-in ones are Set, Scale, Offset, Ramp, Inherit and When (docs/rules/traits.md). A
 * program adds its own types under a name ("synth.Duck"):
 *
 *     traits:
 *       synth.lead:
 *         - synth.Duck: { amount: 0.4 }
 *
 * A trait type has fields, which are the parameters in a spec file, and either declares layers or runs code.
 *
 * With `layers`, it is a function from its fields to layers over properties. The runtime applies and removes these like
 * those of Set, in any order.
 *
 * With `apply`, it changes the object by code, and returns the reversal. It is for objects of confined types only. The list
 * of traits of an object is a stack: before anything below a code trait changes or is removed, the code trait is reversed,
 * and afterwards it is applied again, in the same commit.
 *
 * The stack is taken off strictly from the top. If a value cannot be put back, it keeps its base value, and everything below it stays,
 * until a later commit has put it back. A `revert` that fails is treated as done: what it leaves is the base of what is applied
 * next, and the object is listed (`unrestored`) until a commit has built its traits again, with a warning.
 *
 * `check` and `layers` run as rules do (rule.h): on a thread of the runtime, without locks held, within `rule_timeout_ms`
 * for all of them in a change set. They must be pure functions of the fields, must not wait, and must not call the runtime,
 * except for the invivo_layers_... functions in `layers`. `apply` and the reversal run in the domain of the object, during
 * the commit, within its time limit. They cannot wait for reloads: such calls fail with INVIVO_E_WOULD_WAIT.
 *
 * Adding a type under the name of another one replaces it: each application of the former type is reversed by the former
 * type, and the new one is applied, in one commit. Removing a type reverses its applications. Spec files that use a
 * removed type stay live without it, with a warning. A spec file whose only errors are unknown trait types is blocked: its
 * bytes take part in each later change set, and it becomes live with the change set that adds the types. */

/** The layers that a trait declares, in order. Valid during the call of `layers`, on its thread. */
typedef struct invivo_layers invivo_layers;

/** Sets a property. The value is checked and converted when `layers` returns. For a nested struct it may be a map of some
 * fields. */
INVIVO_API invivo_status invivo_layers_set(invivo_layers *layers, const char *property, const invivo_value *value,
                                           invivo_error **error) INVIVO_NOWAIT;
/** Multiplies the value of the layer below, or the base value, by a number. The result is rounded to the nearest integer
 * for integer properties, half away from zero, and must be in the range of the property. */
INVIVO_API invivo_status invivo_layers_scale(invivo_layers *layers, const char *property, double factor,
                                             invivo_error **error) INVIVO_NOWAIT;
/** Adds a number to the value of the layer below, or to the base value. Rounded and checked as by invivo_layers_scale. */
INVIVO_API invivo_status invivo_layers_offset(invivo_layers *layers, const char *property, double amount,
                                              invivo_error **error) INVIVO_NOWAIT;

/** The reversal of an application. `apply` fills it in. */
typedef struct invivo_reversal {
    size_t struct_size;
    /** Takes the changes of `apply` back. Called at most once, in the domain of the object, also if it fails, unless `flags` say
     * otherwise. NULL: the values that `apply` has set by invivo_object_set are put back, the last first; later commits try those
     * again that are refused. */
    invivo_status (*revert)(invivo_object target, void *instance, void *data, invivo_error **error);
    void *data;
    /** Called once: after `revert`, or when the object ends without it. It may run on any thread. May be NULL. */
    void (*destroy)(void *data);
    uint32_t flags;    /**< INVIVO_REVERSAL_... */
    uint32_t reserved; /* zero */
} invivo_reversal;
/** Flags of invivo_reversal. */
enum {
    /** After a failure, later commits call `revert` again until it succeeds. Nothing below the trait changes until then. */
    INVIVO_REVERSAL_REPEATS = 1
};

/** A trait type. */
typedef struct invivo_trait {
    size_t struct_size;
    const char *name;           /**< unique: "module.Type"; not that of a built-in trait */
    const char *text;           /**< a description in one line; may be NULL */
    const char *const *targets; /**< the names of the accepted types and supertypes; "*" accepts all. At least one */
    uint64_t target_count;
    /** The fields. INVIVO_PROPERTY_REQUIRED marks those that a spec file must give. The default of another field is its
     * initial value. With `size` they are fields of a struct, otherwise `offset` and `size` of the fields are 0, and
     * a field without an initial value has none. The flags INVIVO_PROPERTY_BLOCK, _RESTART, _READ_ONLY and _NOT_TUNABLE, and
     * functions, are errors. */
    const invivo_property *fields;
    uint64_t field_count;
    uint64_t size;              /**< the size of the struct that `fields` describe; 0: there is none */
    /** Refuses fields that are invalid together: returns the status of the refusal, with an error that says why. It may store
     * the index of the field at fault in `*at`. May be NULL.
     *
     * In all three functions, `fields` is the struct, or NULL if `size` is 0; `values` holds the value of each field, and
     * INVIVO_KIND_NULL for a field without one. Both are valid during the call. */
    invivo_status (*check)(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data,
                           invivo_error **error);
    /** Declares the layers. Exactly one of `layers` and `apply` is given. */
    invivo_status (*layers)(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                            void *user_data, invivo_error **error);
    /** Changes an object, and stores the reversal. If it fails, the values that it has set by invivo_object_set are put back, and
     * the reversal is not used, except that its `destroy` is called. A reversal with INVIVO_REVERSAL_REPEATS that is stored before the
     * failure is called at once, and by later commits until it succeeds. */
    invivo_status (*apply)(invivo_object target, void *instance, const void *fields, const invivo_value *values,
                           size_t count, invivo_reversal *reversal, void *user_data, invivo_error **error);
    void *user_data;
    /** Called once when the type is dropped, and no application of it is left. It may be called on a thread of the runtime, and
     * after close. May be NULL. */
    void (*destroy)(void *user_data);
} invivo_trait;

/** Adds or replaces a trait type. Copied, except the functions and `user_data`. If this call returns an error, the caller
 * keeps `user_data`. */
INVIVO_API invivo_status invivo_changes_add_trait(invivo_changes changes, const invivo_trait *trait,
                                                  invivo_error **error) INVIVO_WAITS;
/** Removes a trait type by name. An unknown name is an error of the commit, INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_changes_remove_trait(invivo_changes changes, const char *name,
                                                     invivo_error **error) INVIVO_WAITS;

/** Adds or replaces a trait type in a change set of its own. The runtime owns `user_data` from this call on, and calls
 * `destroy` also if the call fails. */
INVIVO_API invivo_status invivo_trait_add(invivo_runtime runtime, const invivo_trait *trait, invivo_error **error) INVIVO_WAITS;
/** Removes a trait type by name in a change set of its own. An unknown name is INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_trait_remove(invivo_runtime runtime, const char *name, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
