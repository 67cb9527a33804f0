/** @file rule.h
 * Rules: conditions over values, which each generation satisfies. */
#ifndef INVIVO_RULE_H
#define INVIVO_RULE_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

/* A rule is a function of named values, such as `low < high` over "band.low" and "band.high". It runs for each change set
 * that changes one of them, with the values that the commit would make current. If it refuses them, the change set fails,
 * and the former generation stays. The error is INVIVO_E_HOST, with the error of the rule as its cause. It names the rule,
 * and has the path and the source location of the value at fault.
 *
 * An input is the property of a key ("synth.lead.gain": the key synth.lead, and its property gain), if there is a key whose
 * type has that property. Otherwise it is a whole path of the configuration ("audio.rate"). A name with a slash
 * ("/audio.rate") is always one. A further name is a field of the value. The value is
 * - of the configuration: the merged value as documents give it, as invivo_config_read returns it. Text with a unit ("1 s") is a
 *   STRING, also if settings (settings.h) read the section as numbers: a rule that compares such values checks their kind, or the
 *   check of the settings compares the fields;
 * - of a property in a block: its value in the block;
 * - of another property: the value that the traits of documents set.
 * An input without a value is absent, and its value has INVIVO_KIND_NULL: a configuration path that is not set, a property
 * outside of a block that no document sets, even if it has an initial or base value, a key or path that does not exist.
 *
 * Rules run on a thread of the runtime, without locks held, one after the other. The caller of a synchronous function waits
 * for them. A rule must be a pure function of its inputs. It must not wait, and must not call this runtime: such calls fail
 * with INVIVO_E_IN_CALLBACK. All rules of a change set together have `rule_timeout_ms` (runtime.h). If they have not
 * returned by then, the change set fails with INVIVO_E_TIMEOUT, and the error names the rule. That thread is given up. Until
 * that rule returns, changes of its inputs are refused at once; all others continue. Close waits for it for 2 s, and then
 * logs it. */

/** A rule. */
typedef struct invivo_rule {
    size_t struct_size;
    const char *name;          /**< unique; a later rule with the same name replaces it */
    const char *const *inputs; /**< the names of the inputs; at least one */
    uint64_t input_count;
    /** Checks the values of the inputs, in their order. Returns INVIVO_OK, or the status of a refusal, with an error that
     * says why.
     *
     * `values` are copies, valid during the call. `at` holds the index of the first input that changes; a refusal may store
     * the index of the input at fault in it. */
    invivo_status (*check)(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error);
    void *user_data;
    /** Called once when the rule is dropped and no call of it is under way, including after a failed commit. It may be called
     * on a thread of the runtime, and after close. May be NULL. */
    void (*destroy)(void *user_data);
} invivo_rule;

/** Adds or replaces a rule. The commit fails if the values that it makes current do not satisfy the rule.
 * Copied, except `check` and `user_data`. If this call returns an error, the caller keeps `user_data`. */
INVIVO_API invivo_status invivo_changes_add_rule(invivo_changes changes, const invivo_rule *rule,
                                                 invivo_error **error) INVIVO_WAITS;
/** Removes a rule by name. An unknown name is an error of the commit, INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_changes_remove_rule(invivo_changes changes, const char *name,
                                                    invivo_error **error) INVIVO_WAITS;

/** Adds or replaces a rule in a change set of its own.
 * The runtime owns `user_data` from this call on, and calls `destroy` also if the call fails: a rule that was given up may
 * still be running then. */
INVIVO_API invivo_status invivo_rule_add(invivo_runtime runtime, const invivo_rule *rule, invivo_error **error) INVIVO_WAITS;
/** Removes a rule by name in a change set of its own. An unknown name is INVIVO_E_NOT_FOUND. */
INVIVO_API invivo_status invivo_rule_remove(invivo_runtime runtime, const char *name, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
