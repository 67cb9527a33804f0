/** @file setup.h
 * Effects and children, which belong to an object. */
#ifndef INVIVO_SETUP_H
#define INVIVO_SETUP_H

#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

/* A type may have a function `setup` (type.h). Everything that it registers through the runtime belongs to the object:
 * effects (invivo_effect), children (invivo_child), observers (invivo_observe), and targets (invivo_target_attach). It is undone in reverse order when the
 * object ends, and before `setup` runs again, after `teardown`.
 *
 * The object is then the owner of its children. When the definition of a child changes, or something that the child is
 * created from, the nearest owner is set up again: `teardown`, the undo functions, and `setup` run once, in the owner's
 * domain. Objects below this owner are not notified. An owner whose type has `keeps_children` keeps its children and is
 * refreshed; the owner above it is set up again. The same holds for an owner by injection (INVIVO_INJECT_OWNS) whose type has
 * no `setup`. If there is no other owner, a child with `setup` is set up again
 * itself. A tracked object (INVIVO_DEFINITION_TRACKED) whose definition changed is set up again after its injection. An
 * object that is only injected again is refreshed instead.
 *
 * If the object itself is replaced, the new object is set up before the former one is torn down, after the commit: for a moment both
 * exist. Declare the definition exclusive (INVIVO_DEFINITION_EXCLUSIVE) if only one object can have what `setup` takes, such as
 * a port or a file. The children of the new object have no `former`.
 *
 * Setting up again is the last step of a commit that can fail. `setup` resolves from the new generation. If it fails, or
 * another step fails after it, then what it registered is undone, the former injections are restored, and `setup` runs again in
 * the former generation. The children that it creates are new objects: this is the one exception to the rule that a failed
 * reload changes nothing. If that setup fails too, the log reports it, and each later commit tries again.
 *
 * A reload that `setup` requests must be submitted (invivo_changes_submit). It joins the next change set. */

/** Registers the undo function of an effect of the running `setup`: it belongs to the object that is set up.
 *
 * `undo` is called exactly once, in the object's domain. It runs when the object ends, or before it is set up again. If it fails,
 * the remaining undo functions run nevertheless: before a commit its error fails the setup, at the end of the object the
 * report has it. On another thread than that of the setup, outside of a setup, or in the initializer of an object that the
 * setup creates, the result is INVIVO_E_ARGUMENT, and `undo` is called at once. */
INVIVO_API invivo_status invivo_effect(invivo_runtime runtime, invivo_status (*undo)(void *user_data, invivo_error **error),
                                       void *user_data, invivo_error **error) INVIVO_WAITS;
/** Creates an object that belongs to the object that is set up.
 *
 * The definition of `key` must be a prototype, or an alias of one. While the child is created, `former` (invivo_build) is the child with the same
 * key and arguments from before, if the owner is set up again. These former children live until the new `setup` has returned.
 *
 * @param out receives the child, borrowed: the owner holds its lease until its teardown */
INVIVO_API invivo_status invivo_child(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count,
                                      invivo_object *out, invivo_error **error) INVIVO_WAITS;
/** Creates an object of a type without a definition that belongs to the object that is set up.
 * `former` is the former child of the same type in the order of creation. Otherwise as invivo_child. */
INVIVO_API invivo_status invivo_child_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments,
                                           size_t count, invivo_object *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
