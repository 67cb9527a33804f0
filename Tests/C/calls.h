/* calls.h: one call of each function, with arguments by their types. Written by scripts/generate from the other headers; do not edit. */
#ifndef INVIVO_TESTS_CALLS_H
#define INVIVO_TESTS_CALLS_H

#include <invivo/invivo.h>
#include <stddef.h>
#include <string.h>

/* What a call is given for each type of parameter. `outs`: NULL, or 1024 bytes for each out parameter. */
typedef struct arguments {
    uint64_t runtime, object, key, type, callable, domain, job, changes, source, target, observer, module, app, override, config, pool, pin, context;
    invivo_view view;
    const char *text;
    const char *const *texts;
    const invivo_value *value;
    const invivo_error *failure;
    char *record;       /* a struct with a struct_size; NULL for none */
    size_t record_size; /* of it; 0 = what the headers say */
    char *outs;
    uint64_t number;
    void (*function)(void);
    invivo_error **error;
} arguments;

enum { ROOM = 1024 };

/* What a function takes and answers. */
enum {
    ANSWERS_STATUS = 1, /* of the call itself */
    TAKES_HANDLE = 2,
    TAKES_RECORD = 4, /* a struct with a struct_size */
    TAKES_ERROR = 8
};

typedef struct every_call {
    const char *name;
    invivo_status (*call)(const arguments *use);
    unsigned flags;
    const char *handle; /* the kind of its first handle; "" when it takes none */
    const size_t *cuts; /* struct sizes that end within a field of its struct, up to a zero; NULL when it takes none */
    uint32_t outs;      /* a bit for each out parameter whose first word is zero after a failure */
} every_call;

static inline char *out_of(const arguments *use, int index) {
    return use->outs ? use->outs + (size_t)index * ROOM : NULL;
}
static inline char *record_of(const arguments *use, size_t size) {
    if (use->record) memcpy(use->record, use->record_size ? &use->record_size : &size, sizeof size);
    return use->record;
}

#define CUT(type, field) (offsetof(type, field) + sizeof(((type *)0)->field) / 2)
static const size_t cuts_of_callable_options[] = {CUT(invivo_callable_options, struct_size), CUT(invivo_callable_options, name), CUT(invivo_callable_options, invoke), CUT(invivo_callable_options, user_data), CUT(invivo_callable_options, destroy), 0};
static const size_t cuts_of_type_options[] = {CUT(invivo_type_options, struct_size), CUT(invivo_type_options, name), CUT(invivo_type_options, text), CUT(invivo_type_options, supertypes), CUT(invivo_type_options, supertype_count), CUT(invivo_type_options, concurrency), CUT(invivo_type_options, reserved), CUT(invivo_type_options, domain), CUT(invivo_type_options, size), CUT(invivo_type_options, alignment), CUT(invivo_type_options, init), CUT(invivo_type_options, deinit), CUT(invivo_type_options, make), CUT(invivo_type_options, release), CUT(invivo_type_options, block_size), CUT(invivo_type_options, parameters), CUT(invivo_type_options, parameter_count), CUT(invivo_type_options, properties), CUT(invivo_type_options, property_count), CUT(invivo_type_options, methods), CUT(invivo_type_options, method_count), CUT(invivo_type_options, start), CUT(invivo_type_options, stop), CUT(invivo_type_options, user_data), CUT(invivo_type_options, destroy), CUT(invivo_type_options, will_inject), CUT(invivo_type_options, did_inject), CUT(invivo_type_options, weak_make), CUT(invivo_type_options, weak_load), CUT(invivo_type_options, weak_free), CUT(invivo_type_options, block_initial), CUT(invivo_type_options, needs), CUT(invivo_type_options, need_count), CUT(invivo_type_options, child), CUT(invivo_type_options, key_name), CUT(invivo_type_options, prepare), CUT(invivo_type_options, take_runtime), CUT(invivo_type_options, count_references), CUT(invivo_type_options, lookup_name), CUT(invivo_type_options, setup), CUT(invivo_type_options, teardown), CUT(invivo_type_options, refresh), CUT(invivo_type_options, finalize), CUT(invivo_type_options, keeps_children), CUT(invivo_type_options, reserved_end), CUT(invivo_type_options, parent), 0};
static const size_t cuts_of_property[] = {CUT(invivo_property, struct_size), CUT(invivo_property, name), CUT(invivo_property, kind), CUT(invivo_property, flags), CUT(invivo_property, offset), CUT(invivo_property, size), CUT(invivo_property, initial), CUT(invivo_property, min), CUT(invivo_property, max), CUT(invivo_property, step), CUT(invivo_property, initial_text), CUT(invivo_property, unit), CUT(invivo_property, text), CUT(invivo_property, choices), CUT(invivo_property, choice_count), CUT(invivo_property, was), CUT(invivo_property, was_count), CUT(invivo_property, fields), CUT(invivo_property, field_count), CUT(invivo_property, get), CUT(invivo_property, set), CUT(invivo_property, user_data), CUT(invivo_property, initial_value), CUT(invivo_property, capture), CUT(invivo_property, restore), CUT(invivo_property, forget), CUT(invivo_property, reserved), CUT(invivo_property, codec), CUT(invivo_property, reserved_end), CUT(invivo_property, verify), 0};
static const size_t cuts_of_method[] = {CUT(invivo_method, struct_size), CUT(invivo_method, name), CUT(invivo_method, text), CUT(invivo_method, parameters), CUT(invivo_method, parameter_count), CUT(invivo_method, result), CUT(invivo_method, call), CUT(invivo_method, user_data), 0};
static const size_t cuts_of_runtime_options[] = {CUT(invivo_runtime_options, struct_size), CUT(invivo_runtime_options, name), CUT(invivo_runtime_options, default_domain), CUT(invivo_runtime_options, flags), CUT(invivo_runtime_options, quiet_ms), CUT(invivo_runtime_options, settle_max_ms), CUT(invivo_runtime_options, commit_timeout_ms), CUT(invivo_runtime_options, log_level), CUT(invivo_runtime_options, log), CUT(invivo_runtime_options, log_user_data), CUT(invivo_runtime_options, log_destroy), CUT(invivo_runtime_options, max_document_bytes), CUT(invivo_runtime_options, start_timeout_ms), CUT(invivo_runtime_options, stop_timeout_ms), CUT(invivo_runtime_options, stop_grace_ms), CUT(invivo_runtime_options, load_timeout_ms), CUT(invivo_runtime_options, max_document_nodes), CUT(invivo_runtime_options, max_each_entries), CUT(invivo_runtime_options, pin_max_age_ms), CUT(invivo_runtime_options, history), CUT(invivo_runtime_options, rule_timeout_ms), CUT(invivo_runtime_options, revision), CUT(invivo_runtime_options, environment_prefix), CUT(invivo_runtime_options, document_roots), CUT(invivo_runtime_options, document_root_count), CUT(invivo_runtime_options, ramp_tick_ms), CUT(invivo_runtime_options, end_timeout_ms), 0};
static const size_t cuts_of_domain_options[] = {CUT(invivo_domain_options, struct_size), CUT(invivo_domain_options, name), CUT(invivo_domain_options, flags), CUT(invivo_domain_options, reserved), CUT(invivo_domain_options, post), CUT(invivo_domain_options, user_data), CUT(invivo_domain_options, destroy), CUT(invivo_domain_options, is_current), CUT(invivo_domain_options, begin), CUT(invivo_domain_options, end), 0};
static const size_t cuts_of_runtime_info[] = {CUT(invivo_runtime_info, struct_size), CUT(invivo_runtime_info, generation), CUT(invivo_runtime_info, reloads), CUT(invivo_runtime_info, failures), CUT(invivo_runtime_info, definitions), CUT(invivo_runtime_info, objects), CUT(invivo_runtime_info, leases), CUT(invivo_runtime_info, targets), CUT(invivo_runtime_info, sources), CUT(invivo_runtime_info, retiring), CUT(invivo_runtime_info, waiting_jobs), CUT(invivo_runtime_info, waiting_since_ns), CUT(invivo_runtime_info, overflows), CUT(invivo_runtime_info, rescans), CUT(invivo_runtime_info, unannounced), 0};
static const size_t cuts_of_live_counts[] = {CUT(invivo_live_counts, struct_size), CUT(invivo_live_counts, runtimes), CUT(invivo_live_counts, objects), CUT(invivo_live_counts, callables), CUT(invivo_live_counts, errors), CUT(invivo_live_counts, graphs), CUT(invivo_live_counts, blocks), CUT(invivo_live_counts, threads), CUT(invivo_live_counts, descriptors), CUT(invivo_live_counts, contexts), 0};
static const size_t cuts_of_definition[] = {CUT(invivo_definition, struct_size), CUT(invivo_definition, key), CUT(invivo_definition, scope), CUT(invivo_definition, flags), CUT(invivo_definition, type), CUT(invivo_definition, factory), CUT(invivo_definition, user_data), CUT(invivo_definition, destroy), CUT(invivo_definition, initializer), CUT(invivo_definition, initializer_count), CUT(invivo_definition, properties), CUT(invivo_definition, property_count), CUT(invivo_definition, alias), CUT(invivo_definition, file), CUT(invivo_definition, line), CUT(invivo_definition, column), CUT(invivo_definition, parent), CUT(invivo_definition, parameters), CUT(invivo_definition, parameter_count), CUT(invivo_definition, methods), CUT(invivo_definition, method_count), CUT(invivo_definition, before), CUT(invivo_definition, after), CUT(invivo_definition, after_all), CUT(invivo_definition, before_count), CUT(invivo_definition, after_count), CUT(invivo_definition, after_all_count), CUT(invivo_definition, maker_method), CUT(invivo_definition, maker), CUT(invivo_definition, maker_count), CUT(invivo_definition, inject), CUT(invivo_definition, rank), CUT(invivo_definition, reserved), CUT(invivo_definition, block_initial), CUT(invivo_definition, constant), CUT(invivo_definition, type_name), CUT(invivo_definition, chooser), CUT(invivo_definition, options), CUT(invivo_definition, option_count), CUT(invivo_definition, start_timeout_ms), CUT(invivo_definition, stop_timeout_ms), CUT(invivo_definition, each), CUT(invivo_definition, scope_name), CUT(invivo_definition, generic), CUT(invivo_definition, defaults), CUT(invivo_definition, owner), CUT(invivo_definition, on_change), CUT(invivo_definition, reserved2), CUT(invivo_definition, on_change_reason), CUT(invivo_definition, spec_key), 0};
static const size_t cuts_of_block_options[] = {CUT(invivo_block_options, struct_size), CUT(invivo_block_options, type_name), CUT(invivo_block_options, size), CUT(invivo_block_options, properties), CUT(invivo_block_options, property_count), CUT(invivo_block_options, initial), 0};
static const size_t cuts_of_source_options[] = {CUT(invivo_source_options, struct_size), CUT(invivo_source_options, path), CUT(invivo_source_options, name), CUT(invivo_source_options, flags), CUT(invivo_source_options, reserved), CUT(invivo_source_options, text), CUT(invivo_source_options, length), 0};
static const size_t cuts_of_observer_options[] = {CUT(invivo_observer_options, struct_size), CUT(invivo_observer_options, reloaded), CUT(invivo_observer_options, user_data), CUT(invivo_observer_options, destroy), CUT(invivo_observer_options, domain), CUT(invivo_observer_options, publishing), CUT(invivo_observer_options, key), CUT(invivo_observer_options, type), CUT(invivo_observer_options, object), CUT(invivo_observer_options, ready), CUT(invivo_observer_options, progress), 0};
static const size_t cuts_of_app_options[] = {CUT(invivo_app_options, struct_size), CUT(invivo_app_options, manifest), CUT(invivo_app_options, runtime), CUT(invivo_app_options, flags), CUT(invivo_app_options, reserved), CUT(invivo_app_options, load_module), CUT(invivo_app_options, user_data), CUT(invivo_app_options, assemblies), 0};
static const size_t cuts_of_callbacks[] = {CUT(invivo_callbacks, struct_size), CUT(invivo_callbacks, make), CUT(invivo_callbacks, release), CUT(invivo_callbacks, start), CUT(invivo_callbacks, stop), CUT(invivo_callbacks, get), CUT(invivo_callbacks, set), CUT(invivo_callbacks, call), CUT(invivo_callbacks, factory), CUT(invivo_callbacks, invoke), CUT(invivo_callbacks, post), CUT(invivo_callbacks, reloaded), CUT(invivo_callbacks, log), CUT(invivo_callbacks, destroy), CUT(invivo_callbacks, capture), CUT(invivo_callbacks, restore), CUT(invivo_callbacks, forget), CUT(invivo_callbacks, will_inject), CUT(invivo_callbacks, did_inject), CUT(invivo_callbacks, weak_make), CUT(invivo_callbacks, weak_load), CUT(invivo_callbacks, weak_free), CUT(invivo_callbacks, inject), CUT(invivo_callbacks, child), CUT(invivo_callbacks, key_name), CUT(invivo_callbacks, process), CUT(invivo_callbacks, decorate), CUT(invivo_callbacks, resolved), CUT(invivo_callbacks, prepare), CUT(invivo_callbacks, changed), CUT(invivo_callbacks, convert), CUT(invivo_callbacks, pool_make), CUT(invivo_callbacks, scope_find), CUT(invivo_callbacks, scope_keep), CUT(invivo_callbacks, scope_drop), CUT(invivo_callbacks, take_runtime), CUT(invivo_callbacks, publishing), CUT(invivo_callbacks, count_references), CUT(invivo_callbacks, cell), CUT(invivo_callbacks, load_module), CUT(invivo_callbacks, assemblies), CUT(invivo_callbacks, tree_child), CUT(invivo_callbacks, tree_key_name), CUT(invivo_callbacks, tree_is_foreign), CUT(invivo_callbacks, read), CUT(invivo_callbacks, check), CUT(invivo_callbacks, setup), CUT(invivo_callbacks, teardown), CUT(invivo_callbacks, refresh), CUT(invivo_callbacks, finalize), CUT(invivo_callbacks, undo), CUT(invivo_callbacks, begin), CUT(invivo_callbacks, end), CUT(invivo_callbacks, ready), CUT(invivo_callbacks, progress), CUT(invivo_callbacks, trait_check), CUT(invivo_callbacks, layers), CUT(invivo_callbacks, apply), CUT(invivo_callbacks, revert), CUT(invivo_callbacks, create), CUT(invivo_callbacks, bind), CUT(invivo_callbacks, verify), CUT(invivo_callbacks, context_changed), CUT(invivo_callbacks, parent), 0};
static const size_t cuts_of_assembly[] = {CUT(invivo_assembly, struct_size), CUT(invivo_assembly, name), CUT(invivo_assembly, definitions), CUT(invivo_assembly, definition_count), CUT(invivo_assembly, collaborators), CUT(invivo_assembly, collaborator_count), CUT(invivo_assembly, base), CUT(invivo_assembly, supertypes), CUT(invivo_assembly, supertype_count), CUT(invivo_assembly, flags), CUT(invivo_assembly, line), CUT(invivo_assembly, column), CUT(invivo_assembly, reserved), CUT(invivo_assembly, file), CUT(invivo_assembly, secrets), CUT(invivo_assembly, secret_count), 0};
static const size_t cuts_of_activate_options[] = {CUT(invivo_activate_options, struct_size), CUT(invivo_activate_options, flags), CUT(invivo_activate_options, reserved), 0};
static const size_t cuts_of_processor[] = {CUT(invivo_processor, struct_size), CUT(invivo_processor, name), CUT(invivo_processor, key), CUT(invivo_processor, type), CUT(invivo_processor, priority), CUT(invivo_processor, reserved), CUT(invivo_processor, process), CUT(invivo_processor, decorate), CUT(invivo_processor, component), CUT(invivo_processor, method), CUT(invivo_processor, user_data), CUT(invivo_processor, destroy), 0};
static const size_t cuts_of_tree[] = {CUT(invivo_tree, struct_size), CUT(invivo_tree, key), CUT(invivo_tree, flags), CUT(invivo_tree, reserved), CUT(invivo_tree, child), CUT(invivo_tree, key_name), CUT(invivo_tree, is_foreign), CUT(invivo_tree, user_data), 0};
static const size_t cuts_of_config_observer_options[] = {CUT(invivo_config_observer_options, struct_size), CUT(invivo_config_observer_options, changed), CUT(invivo_config_observer_options, user_data), CUT(invivo_config_observer_options, destroy), CUT(invivo_config_observer_options, domain), 0};
static const size_t cuts_of_converter_options[] = {CUT(invivo_converter_options, struct_size), CUT(invivo_converter_options, name), CUT(invivo_converter_options, convert), CUT(invivo_converter_options, user_data), CUT(invivo_converter_options, destroy), CUT(invivo_converter_options, read), 0};
static const size_t cuts_of_pool_options[] = {CUT(invivo_pool_options, struct_size), CUT(invivo_pool_options, name), CUT(invivo_pool_options, make), CUT(invivo_pool_options, user_data), CUT(invivo_pool_options, destroy), 0};
static const size_t cuts_of_scope_options[] = {CUT(invivo_scope_options, struct_size), CUT(invivo_scope_options, name), CUT(invivo_scope_options, find), CUT(invivo_scope_options, keep), CUT(invivo_scope_options, drop), CUT(invivo_scope_options, user_data), CUT(invivo_scope_options, destroy), 0};
static const size_t cuts_of_rule[] = {CUT(invivo_rule, struct_size), CUT(invivo_rule, name), CUT(invivo_rule, inputs), CUT(invivo_rule, input_count), CUT(invivo_rule, check), CUT(invivo_rule, user_data), CUT(invivo_rule, destroy), 0};
static const size_t cuts_of_trait[] = {CUT(invivo_trait, struct_size), CUT(invivo_trait, name), CUT(invivo_trait, text), CUT(invivo_trait, targets), CUT(invivo_trait, target_count), CUT(invivo_trait, fields), CUT(invivo_trait, field_count), CUT(invivo_trait, size), CUT(invivo_trait, check), CUT(invivo_trait, layers), CUT(invivo_trait, apply), CUT(invivo_trait, user_data), CUT(invivo_trait, destroy), 0};
static const size_t cuts_of_settings[] = {CUT(invivo_settings, struct_size), CUT(invivo_settings, name), CUT(invivo_settings, path), CUT(invivo_settings, fields), CUT(invivo_settings, field_count), CUT(invivo_settings, size), CUT(invivo_settings, check), CUT(invivo_settings, create), CUT(invivo_settings, release), CUT(invivo_settings, user_data), CUT(invivo_settings, destroy), CUT(invivo_settings, flags), CUT(invivo_settings, reserved), CUT(invivo_settings, secrets), CUT(invivo_settings, secret_count), CUT(invivo_settings, schema), CUT(invivo_settings, type), 0};
static const size_t cuts_of_settings_type[] = {CUT(invivo_settings_type, struct_size), CUT(invivo_settings_type, name), CUT(invivo_settings_type, bind), CUT(invivo_settings_type, user_data), CUT(invivo_settings_type, destroy), 0};
static const size_t cuts_of_context_kind[] = {CUT(invivo_context_kind, struct_size), CUT(invivo_context_kind, name), CUT(invivo_context_kind, policy), CUT(invivo_context_kind, reserved), CUT(invivo_context_kind, provides), CUT(invivo_context_kind, provided_count), 0};
static const size_t cuts_of_context_key[] = {CUT(invivo_context_key, struct_size), CUT(invivo_context_key, name), CUT(invivo_context_key, kind), CUT(invivo_context_key, reserved), CUT(invivo_context_key, type_name), CUT(invivo_context_key, initial), 0};
static const size_t cuts_of_context_options[] = {CUT(invivo_context_options, struct_size), CUT(invivo_context_options, kind), CUT(invivo_context_options, parent), CUT(invivo_context_options, flags), CUT(invivo_context_options, reserved), CUT(invivo_context_options, values), CUT(invivo_context_options, value_count), CUT(invivo_context_options, object), CUT(invivo_context_options, place), 0};
static const size_t cuts_of_context_observer[] = {CUT(invivo_context_observer, struct_size), CUT(invivo_context_observer, changed), CUT(invivo_context_observer, user_data), CUT(invivo_context_observer, destroy), CUT(invivo_context_observer, domain), 0};
static const size_t cuts_of_context_query[] = {CUT(invivo_context_query, struct_size), CUT(invivo_context_query, kind), CUT(invivo_context_query, type), CUT(invivo_context_query, flags), CUT(invivo_context_query, reserved), 0};
static const size_t cuts_of_context_ending[] = {CUT(invivo_context_ending, struct_size), CUT(invivo_context_ending, timeout_ms), CUT(invivo_context_ending, flags), CUT(invivo_context_ending, failure), CUT(invivo_context_ending, reserved), CUT(invivo_context_ending, failure_message), 0};

static invivo_status call_status_name(const arguments *use) {
    (void)invivo_status_name((invivo_status)use->number);
    return INVIVO_OK;
}
static invivo_status call_status_text(const arguments *use) {
    (void)invivo_status_text((invivo_status)use->number);
    return INVIVO_OK;
}
static invivo_status call_version(const arguments *use) {
    (void)use;
    (void)invivo_version();
    return INVIVO_OK;
}
static invivo_status call_version_text(const arguments *use) {
    (void)use;
    (void)invivo_version_text();
    return INVIVO_OK;
}
static invivo_status call_error_make(const arguments *use) {
    invivo_error_release(invivo_error_make((invivo_status)use->number, use->text, use->text, NULL));
    return INVIVO_OK;
}
static invivo_status call_error_code(const arguments *use) {
    (void)invivo_error_code(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_message(const arguments *use) {
    (void)invivo_error_message(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_path(const arguments *use) {
    (void)invivo_error_path(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_file(const arguments *use) {
    (void)invivo_error_file(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_line(const arguments *use) {
    (void)invivo_error_line(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_column(const arguments *use) {
    (void)invivo_error_column(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_cause(const arguments *use) {
    (void)invivo_error_cause(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_count(const arguments *use) {
    (void)invivo_error_count(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_at(const arguments *use) {
    (void)invivo_error_at(use->failure, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_error_text(const arguments *use) {
    (void)invivo_error_text(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_release(const arguments *use) {
    (void)use;
    invivo_error_release(NULL);
    return INVIVO_OK;
}
static invivo_status call_error_report(const arguments *use) {
    (void)use;
    (void)invivo_error_report(NULL);
    return INVIVO_OK;
}
static invivo_status call_value_copy(const arguments *use) {
    return invivo_value_copy((invivo_value *)out_of(use, 0), use->value, use->error);
}
static invivo_status call_value_clear(const arguments *use) {
    invivo_value_clear((invivo_value *)out_of(use, 0));
    return INVIVO_OK;
}
static invivo_status call_value_convert(const arguments *use) {
    return invivo_value_convert((invivo_value *)out_of(use, 0), use->value, (invivo_kind)use->number, use->error);
}
static invivo_status call_kind_name(const arguments *use) {
    (void)invivo_kind_name((invivo_kind)use->number);
    return INVIVO_OK;
}
static invivo_status call_callable_make(const arguments *use) {
    return invivo_callable_make((invivo_runtime){use->runtime}, (const invivo_callable_options *)record_of(use, sizeof(invivo_callable_options)), (invivo_callable *)out_of(use, 2), use->error);
}
static invivo_status call_callable_call(const arguments *use) {
    return invivo_callable_call((invivo_callable){use->callable}, use->value, (size_t)use->number, (invivo_value *)out_of(use, 3), use->error);
}
static invivo_status call_callable_retain(const arguments *use) {
    return invivo_callable_retain((invivo_callable){use->callable});
}
static invivo_status call_callable_release(const arguments *use) {
    return invivo_callable_release((invivo_callable){use->callable});
}
static invivo_status call_callable_user_data(const arguments *use) {
    (void)invivo_callable_user_data((invivo_callable){use->callable}, (invivo_status (*)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error))use->function);
    return INVIVO_OK;
}
static invivo_status call_type_register(const arguments *use) {
    return invivo_type_register((invivo_runtime){use->runtime}, (const invivo_type_options *)record_of(use, sizeof(invivo_type_options)), (invivo_type *)out_of(use, 2), use->error);
}
static invivo_status call_type_find(const arguments *use) {
    return invivo_type_find((invivo_runtime){use->runtime}, use->text, (invivo_type *)out_of(use, 2), use->error);
}
static invivo_status call_type_name(const arguments *use) {
    (void)invivo_type_name((invivo_type){use->type});
    return INVIVO_OK;
}
static invivo_status call_type_property_count(const arguments *use) {
    (void)invivo_type_property_count((invivo_type){use->type});
    return INVIVO_OK;
}
static invivo_status call_type_property_at(const arguments *use) {
    return invivo_type_property_at((invivo_type){use->type}, (uint64_t)use->number, (invivo_property *)record_of(use, sizeof(invivo_property)));
}
static invivo_status call_type_method_count(const arguments *use) {
    (void)invivo_type_method_count((invivo_type){use->type});
    return INVIVO_OK;
}
static invivo_status call_type_method_at(const arguments *use) {
    return invivo_type_method_at((invivo_type){use->type}, (uint64_t)use->number, (invivo_method *)record_of(use, sizeof(invivo_method)));
}
static invivo_status call_runtime_options_init(const arguments *use) {
    invivo_runtime_options_init((invivo_runtime_options *)record_of(use, sizeof(invivo_runtime_options)));
    return INVIVO_OK;
}
static invivo_status call_runtime_open(const arguments *use) {
    return invivo_runtime_open((invivo_runtime *)out_of(use, 0), (const invivo_runtime_options *)record_of(use, sizeof(invivo_runtime_options)), use->error);
}
static invivo_status call_runtime_close(const arguments *use) {
    return invivo_runtime_close((invivo_runtime){use->runtime}, use->error);
}
static invivo_status call_runtime_close_deferred(const arguments *use) {
    return invivo_runtime_close_deferred((invivo_runtime){use->runtime}, use->error);
}
static invivo_status call_runtime_poll(const arguments *use) {
    return invivo_runtime_poll((invivo_runtime){use->runtime}, 0, (uint32_t *)out_of(use, 2), use->error);
}
static invivo_status call_runtime_descriptor(const arguments *use) {
    return invivo_runtime_descriptor((invivo_runtime){use->runtime}, (int *)out_of(use, 1), use->error);
}
static invivo_status call_thread_prepare(const arguments *use) {
    return invivo_thread_prepare((invivo_runtime){use->runtime}, use->error);
}
static invivo_status call_domain_register(const arguments *use) {
    return invivo_domain_register((invivo_runtime){use->runtime}, (const invivo_domain_options *)record_of(use, sizeof(invivo_domain_options)), (invivo_domain *)out_of(use, 2), use->error);
}
static invivo_status call_job_run(const arguments *use) {
    return invivo_job_run((invivo_job){use->job});
}
static invivo_status call_job_drop(const arguments *use) {
    return invivo_job_drop((invivo_job){use->job});
}
static invivo_status call_runtime_inspect(const arguments *use) {
    return invivo_runtime_inspect((invivo_runtime){use->runtime}, (invivo_runtime_info *)record_of(use, sizeof(invivo_runtime_info)), use->error);
}
static invivo_status call_runtime_last_error(const arguments *use) {
    return invivo_runtime_last_error((invivo_runtime){use->runtime}, (invivo_error **)out_of(use, 1));
}
static invivo_status call_live(const arguments *use) {
    invivo_live((invivo_live_counts *)record_of(use, sizeof(invivo_live_counts)));
    return INVIVO_OK;
}
static invivo_status call_object_retain(const arguments *use) {
    return invivo_object_retain((invivo_object){use->object});
}
static invivo_status call_object_release(const arguments *use) {
    return invivo_object_release((invivo_object){use->object});
}
static invivo_status call_object_get(const arguments *use) {
    return invivo_object_get((invivo_object){use->object}, use->text, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_object_set(const arguments *use) {
    return invivo_object_set((invivo_object){use->object}, use->text, use->value, use->error);
}
static invivo_status call_object_call(const arguments *use) {
    return invivo_object_call((invivo_object){use->object}, use->text, use->value, (size_t)use->number, (invivo_value *)out_of(use, 4), use->error);
}
static invivo_status call_object_instance(const arguments *use) {
    return invivo_object_instance((invivo_object){use->object}, (invivo_type){use->type}, (void **)out_of(use, 2), use->error);
}
static invivo_status call_object_type(const arguments *use) {
    return invivo_object_type((invivo_object){use->object}, (invivo_type *)out_of(use, 1), use->error);
}
static invivo_status call_object_key(const arguments *use) {
    return invivo_object_key((invivo_object){use->object}, (invivo_key *)out_of(use, 1), use->error);
}
static invivo_status call_object_runtime(const arguments *use) {
    return invivo_object_runtime((invivo_object){use->object}, (invivo_runtime *)out_of(use, 1), use->error);
}
static invivo_status call_object_make(const arguments *use) {
    return invivo_object_make((invivo_runtime){use->runtime}, (invivo_type){use->type}, use->value, (size_t)use->number, (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_object_wrap(const arguments *use) {
    return invivo_object_wrap((invivo_runtime){use->runtime}, (invivo_type){use->type}, (void *)out_of(use, 2), (invivo_object *)out_of(use, 3), use->error);
}
static invivo_status call_target_attach(const arguments *use) {
    return invivo_target_attach((invivo_object){use->object}, use->text, (invivo_target *)out_of(use, 2), use->error);
}
static invivo_status call_target_detach(const arguments *use) {
    return invivo_target_detach((invivo_target){use->target}, use->error);
}
static invivo_status call_target_declare(const arguments *use) {
    return invivo_target_declare((invivo_runtime){use->runtime}, use->text, (invivo_type){use->type}, use->error);
}
static invivo_status call_key_intern(const arguments *use) {
    return invivo_key_intern((invivo_runtime){use->runtime}, use->text, (invivo_key *)out_of(use, 2), use->error);
}
static invivo_status call_key_find(const arguments *use) {
    return invivo_key_find((invivo_runtime){use->runtime}, use->text, (invivo_key *)out_of(use, 2), use->error);
}
static invivo_status call_key_name(const arguments *use) {
    (void)invivo_key_name((invivo_key){use->key});
    return INVIVO_OK;
}
static invivo_status call_key_version(const arguments *use) {
    (void)invivo_key_version((invivo_key){use->key});
    return INVIVO_OK;
}
static invivo_status call_changes_open(const arguments *use) {
    return invivo_changes_open((invivo_runtime){use->runtime}, (invivo_changes *)out_of(use, 1), use->error);
}
static invivo_status call_changes_define(const arguments *use) {
    return invivo_changes_define((invivo_changes){use->changes}, (const invivo_definition *)record_of(use, sizeof(invivo_definition)), (invivo_key *)out_of(use, 2), use->error);
}
static invivo_status call_changes_remove(const arguments *use) {
    return invivo_changes_remove((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_changes_document(const arguments *use) {
    return invivo_changes_document((invivo_changes){use->changes}, use->text, use->text, (uint64_t)use->number, use->error);
}
static invivo_status call_changes_set(const arguments *use) {
    return invivo_changes_set((invivo_changes){use->changes}, use->text, use->text, use->value, use->error);
}
static invivo_status call_changes_commit(const arguments *use) {
    return invivo_changes_commit((invivo_changes){use->changes}, use->error);
}
static invivo_status call_changes_submit(const arguments *use) {
    return invivo_changes_submit((invivo_changes){use->changes}, use->error);
}
static invivo_status call_changes_discard(const arguments *use) {
    invivo_changes_discard((invivo_changes){use->changes});
    return INVIVO_OK;
}
static invivo_status call_define(const arguments *use) {
    return invivo_define((invivo_runtime){use->runtime}, (const invivo_definition *)record_of(use, sizeof(invivo_definition)), (invivo_key *)out_of(use, 2), use->error);
}
static invivo_status call_define_block(const arguments *use) {
    return invivo_define_block((invivo_runtime){use->runtime}, use->text, (const invivo_block_options *)record_of(use, sizeof(invivo_block_options)), (invivo_key *)out_of(use, 3), use->error);
}
static invivo_status call_resolve(const arguments *use) {
    return invivo_resolve((invivo_runtime){use->runtime}, (invivo_key){use->key}, (invivo_object *)out_of(use, 2), use->error);
}
static invivo_status call_resolve_with(const arguments *use) {
    return invivo_resolve_with((invivo_runtime){use->runtime}, (invivo_key){use->key}, use->value, (size_t)use->number, (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_resolve_name(const arguments *use) {
    return invivo_resolve_name((invivo_runtime){use->runtime}, use->text, (invivo_object *)out_of(use, 2), use->error);
}
static invivo_status call_peek(const arguments *use) {
    return invivo_peek((invivo_runtime){use->runtime}, (invivo_key){use->key}, (invivo_object *)out_of(use, 2));
}
static invivo_status call_view_begin(const arguments *use) {
    invivo_view_end(invivo_view_begin((invivo_runtime){use->runtime}));
    return INVIVO_OK;
}
static invivo_status call_view_end(const arguments *use) {
    invivo_view_end(use->view);
    return INVIVO_OK;
}
static invivo_status call_view_key(const arguments *use) {
    (void)invivo_view_key(use->view, use->text, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_view_get_confined(const arguments *use) {
    (void)invivo_view_get_confined(use->view, (invivo_key){use->key});
    return INVIVO_OK;
}
static invivo_status call_source_open(const arguments *use) {
    return invivo_source_open((invivo_runtime){use->runtime}, (const invivo_source_options *)record_of(use, sizeof(invivo_source_options)), (invivo_source *)out_of(use, 2), use->error);
}
static invivo_status call_watch(const arguments *use) {
    return invivo_watch((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_source_update(const arguments *use) {
    return invivo_source_update((invivo_source){use->source}, use->text, (uint64_t)use->number, use->error);
}
static invivo_status call_source_refresh(const arguments *use) {
    return invivo_source_refresh((invivo_source){use->source}, use->error);
}
static invivo_status call_source_close(const arguments *use) {
    return invivo_source_close((invivo_source){use->source}, use->error);
}
static invivo_status call_report_generation(const arguments *use) {
    (void)use;
    (void)invivo_report_generation(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_status(const arguments *use) {
    (void)use;
    (void)invivo_report_status(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_cause(const arguments *use) {
    (void)use;
    (void)invivo_report_cause(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_error(const arguments *use) {
    (void)use;
    (void)invivo_report_error(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_count(const arguments *use) {
    (void)use;
    (void)invivo_report_count(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_key(const arguments *use) {
    (void)invivo_report_key(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_change(const arguments *use) {
    (void)invivo_report_change(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_property(const arguments *use) {
    (void)invivo_report_property(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_nanoseconds(const arguments *use) {
    (void)invivo_report_nanoseconds(NULL, (uint32_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_text(const arguments *use) {
    (void)use;
    (void)invivo_report_text(NULL);
    return INVIVO_OK;
}
static invivo_status call_observe(const arguments *use) {
    return invivo_observe((invivo_runtime){use->runtime}, (const invivo_observer_options *)record_of(use, sizeof(invivo_observer_options)), (invivo_observer *)out_of(use, 2), use->error);
}
static invivo_status call_observer_close(const arguments *use) {
    return invivo_observer_close((invivo_observer){use->observer}, use->error);
}
static invivo_status call_table_get(const arguments *use) {
    (void)use;
    (void)invivo_table_get();
    return INVIVO_OK;
}
static invivo_status call_module_load(const arguments *use) {
    return invivo_module_load((invivo_runtime){use->runtime}, use->text, (invivo_module *)out_of(use, 2), use->error);
}
static invivo_status call_stubs_use(const arguments *use) {
    (void)use;
    return invivo_stubs_use(NULL);
}
static invivo_status call_share(const arguments *use) {
    return invivo_share((invivo_runtime){use->runtime}, (const invivo_token **)out_of(use, 1), use->error);
}
static invivo_status call_attach(const arguments *use) {
    return invivo_attach(NULL, (invivo_runtime *)out_of(use, 1), use->error);
}
static invivo_status call_app_open(const arguments *use) {
    return invivo_app_open((invivo_app *)out_of(use, 0), (const invivo_app_options *)record_of(use, sizeof(invivo_app_options)), use->error);
}
static invivo_status call_app_runtime(const arguments *use) {
    return invivo_app_runtime((invivo_app){use->app}, (invivo_runtime *)out_of(use, 1), use->error);
}
static invivo_status call_app_close(const arguments *use) {
    return invivo_app_close((invivo_app){use->app}, use->error);
}
static invivo_status call_app_needs_python(const arguments *use) {
    return invivo_app_needs_python(use->text, (bool *)out_of(use, 1), use->error);
}
static invivo_status call_error_make_at(const arguments *use) {
    invivo_error_release(invivo_error_make_at((invivo_status)use->number, use->text, use->text, use->text, (uint32_t)use->number, (uint32_t)use->number, NULL));
    return INVIVO_OK;
}
static invivo_status call_error_join(const arguments *use) {
    (void)use;
    invivo_error_release(invivo_error_join(NULL, NULL));
    return INVIVO_OK;
}
static invivo_status call_type_parameter_count(const arguments *use) {
    (void)invivo_type_parameter_count((invivo_type){use->type});
    return INVIVO_OK;
}
static invivo_status call_type_parameter_at(const arguments *use) {
    return invivo_type_parameter_at((invivo_type){use->type}, (uint64_t)use->number, (invivo_parameter *)out_of(use, 2));
}
static invivo_status call_callbacks_guard(const arguments *use) {
    return invivo_callbacks_guard((const invivo_callbacks *)record_of(use, sizeof(invivo_callbacks)), (invivo_callbacks *)record_of(use, sizeof(invivo_callbacks)), use->error);
}
static invivo_status call_callbacks_end(const arguments *use) {
    return invivo_callbacks_end(use->error);
}
static invivo_status call_resolve_optional(const arguments *use) {
    return invivo_resolve_optional((invivo_runtime){use->runtime}, (invivo_key){use->key}, use->value, (size_t)use->number, (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_resolve_type(const arguments *use) {
    return invivo_resolve_type((invivo_runtime){use->runtime}, use->text, use->text, (uint32_t)use->number, (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_resolve_all(const arguments *use) {
    return invivo_resolve_all((invivo_runtime){use->runtime}, use->text, (uint32_t)use->number, (invivo_value *)out_of(use, 3), use->error);
}
static invivo_status call_inject(const arguments *use) {
    return invivo_inject((invivo_object){use->object}, (invivo_key){use->key}, use->error);
}
static invivo_status call_runtime_note_error(const arguments *use) {
    return invivo_runtime_note_error((invivo_runtime){use->runtime}, use->failure);
}
static invivo_status call_override_begin(const arguments *use) {
    return invivo_override_begin((invivo_runtime){use->runtime}, (const invivo_definition *)record_of(use, sizeof(invivo_definition)), (invivo_override *)out_of(use, 2), use->error);
}
static invivo_status call_override_end(const arguments *use) {
    return invivo_override_end((invivo_override){use->override}, use->error);
}
static invivo_status call_target_detach_later(const arguments *use) {
    return invivo_target_detach_later((invivo_target){use->target}, use->error);
}
static invivo_status call_error_rule(const arguments *use) {
    (void)invivo_error_rule(use->failure);
    return INVIVO_OK;
}
static invivo_status call_error_needed_by(const arguments *use) {
    (void)invivo_error_needed_by(use->failure);
    return INVIVO_OK;
}
static invivo_status call_changes_check(const arguments *use) {
    return invivo_changes_check((invivo_changes){use->changes}, use->error);
}
static invivo_status call_assembly_describe(const arguments *use) {
    return invivo_assembly_describe((invivo_runtime){use->runtime}, (const invivo_assembly *)record_of(use, sizeof(invivo_assembly)), use->error);
}
static invivo_status call_assembly_forget(const arguments *use) {
    return invivo_assembly_forget((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_assembly_state(const arguments *use) {
    return invivo_assembly_state((invivo_runtime){use->runtime}, use->text, (uint32_t *)out_of(use, 2), use->error);
}
static invivo_status call_activate(const arguments *use) {
    return invivo_activate((invivo_runtime){use->runtime}, NULL, (size_t)use->number, (const invivo_activate_options *)record_of(use, sizeof(invivo_activate_options)), use->error);
}
static invivo_status call_deactivate(const arguments *use) {
    return invivo_deactivate((invivo_runtime){use->runtime}, use->texts, (size_t)use->number, use->error);
}
static invivo_status call_mount(const arguments *use) {
    return invivo_mount((invivo_runtime){use->runtime}, (const invivo_assembly *)record_of(use, sizeof(invivo_assembly)), use->text, NULL, (size_t)use->number, use->error);
}
static invivo_status call_changes_activate(const arguments *use) {
    return invivo_changes_activate((invivo_changes){use->changes}, (const invivo_assembly *)record_of(use, sizeof(invivo_assembly)), (const invivo_activate_options *)record_of(use, sizeof(invivo_activate_options)), use->error);
}
static invivo_status call_changes_deactivate(const arguments *use) {
    return invivo_changes_deactivate((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_changes_mount(const arguments *use) {
    return invivo_changes_mount((invivo_changes){use->changes}, (const invivo_assembly *)record_of(use, sizeof(invivo_assembly)), use->text, NULL, (size_t)use->number, use->error);
}
static invivo_status call_graph_describe(const arguments *use) {
    return invivo_graph_describe((invivo_runtime){use->runtime}, (uint32_t)use->number, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_app_check(const arguments *use) {
    return invivo_app_check((const invivo_app_options *)record_of(use, sizeof(invivo_app_options)), (uint32_t)use->number, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_changes_process(const arguments *use) {
    return invivo_changes_process((invivo_changes){use->changes}, (const invivo_processor *)record_of(use, sizeof(invivo_processor)), use->error);
}
static invivo_status call_changes_unprocess(const arguments *use) {
    return invivo_changes_unprocess((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_inject_with(const arguments *use) {
    return invivo_inject_with((invivo_object){use->object}, (invivo_key){use->key}, (uint32_t)use->number, use->error);
}
static invivo_status call_inject_tree(const arguments *use) {
    return invivo_inject_tree((invivo_object){use->object}, (const invivo_tree *)record_of(use, sizeof(invivo_tree)), use->error);
}
static invivo_status call_resolve_async(const arguments *use) {
    return invivo_resolve_async((invivo_runtime){use->runtime}, (invivo_key){use->key}, use->value, (size_t)use->number, (void (*)(void *user_data, invivo_object object, const invivo_error *error))use->function, (void *)out_of(use, 5), (invivo_domain){use->domain}, use->error);
}
static invivo_status call_config_id(const arguments *use) {
    return invivo_config_id((invivo_runtime){use->runtime}, use->text, (invivo_kind)use->number, (invivo_config *)out_of(use, 3), use->error);
}
static invivo_status call_config_path(const arguments *use) {
    (void)invivo_config_path((invivo_runtime){use->runtime}, (invivo_config){use->config});
    return INVIVO_OK;
}
static invivo_status call_config_read(const arguments *use) {
    return invivo_config_read((invivo_runtime){use->runtime}, use->text, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_config_observe(const arguments *use) {
    return invivo_config_observe((invivo_runtime){use->runtime}, use->text, (const invivo_config_observer_options *)record_of(use, sizeof(invivo_config_observer_options)), (invivo_observer *)out_of(use, 3), use->error);
}
static invivo_status call_changes_configure(const arguments *use) {
    return invivo_changes_configure((invivo_changes){use->changes}, use->text, use->value, use->error);
}
static invivo_status call_converter_register(const arguments *use) {
    return invivo_converter_register((invivo_runtime){use->runtime}, (const invivo_converter_options *)record_of(use, sizeof(invivo_converter_options)), use->error);
}
static invivo_status call_converter_unregister(const arguments *use) {
    return invivo_converter_unregister((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_convert(const arguments *use) {
    return invivo_convert((invivo_runtime){use->runtime}, use->text, use->text, (uint64_t)use->number, (invivo_value *)out_of(use, 4), use->error);
}
static invivo_status call_type_extend(const arguments *use) {
    return invivo_type_extend((invivo_runtime){use->runtime}, (invivo_type){use->type}, use->text, use->error);
}
static invivo_status call_runtime_states(const arguments *use) {
    return invivo_runtime_states((invivo_runtime){use->runtime}, (invivo_value *)out_of(use, 1), use->error);
}
static invivo_status call_changes_reset(const arguments *use) {
    return invivo_changes_reset((invivo_changes){use->changes}, use->text, (uint32_t)use->number, use->error);
}
static invivo_status call_changes_reset_scope(const arguments *use) {
    return invivo_changes_reset_scope((invivo_changes){use->changes}, (uint32_t)use->number, use->error);
}
static invivo_status call_start(const arguments *use) {
    return invivo_start((invivo_runtime){use->runtime}, (invivo_key){use->key}, use->error);
}
static invivo_status call_stop(const arguments *use) {
    return invivo_stop((invivo_runtime){use->runtime}, (invivo_key){use->key}, use->error);
}
static invivo_status call_report_stop_error(const arguments *use) {
    (void)use;
    (void)invivo_report_stop_error(NULL);
    return INVIVO_OK;
}
static invivo_status call_pool_open(const arguments *use) {
    return invivo_pool_open((invivo_runtime){use->runtime}, (const invivo_pool_options *)record_of(use, sizeof(invivo_pool_options)), (invivo_pool *)out_of(use, 2), use->error);
}
static invivo_status call_pool_find(const arguments *use) {
    return invivo_pool_find((invivo_runtime){use->runtime}, use->text, (invivo_pool *)out_of(use, 2), use->error);
}
static invivo_status call_pool_close(const arguments *use) {
    return invivo_pool_close((invivo_pool){use->pool}, use->error);
}
static invivo_status call_pool_get(const arguments *use) {
    return invivo_pool_get((invivo_pool){use->pool}, use->value, (invivo_pool_make)use->function, (void *)out_of(use, 3), (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_pool_peek(const arguments *use) {
    return invivo_pool_peek((invivo_pool){use->pool}, use->value, (invivo_object *)out_of(use, 2));
}
static invivo_status call_pool_peek_instance(const arguments *use) {
    return invivo_pool_peek_instance((invivo_pool){use->pool}, use->value, (invivo_type){use->type}, (void **)out_of(use, 3), use->error);
}
static invivo_status call_pool_put(const arguments *use) {
    return invivo_pool_put((invivo_pool){use->pool}, use->value, (invivo_object){use->object}, use->error);
}
static invivo_status call_pool_remove(const arguments *use) {
    return invivo_pool_remove((invivo_pool){use->pool}, use->value, use->error);
}
static invivo_status call_pool_list(const arguments *use) {
    return invivo_pool_list((invivo_pool){use->pool}, (invivo_value *)out_of(use, 1), use->error);
}
static invivo_status call_pool_count(const arguments *use) {
    return invivo_pool_count((invivo_pool){use->pool}, (uint64_t *)out_of(use, 1), use->error);
}
static invivo_status call_pool_clear(const arguments *use) {
    return invivo_pool_clear((invivo_pool){use->pool}, (uint64_t *)out_of(use, 1), use->error);
}
static invivo_status call_key_outline(const arguments *use) {
    return invivo_key_outline((invivo_runtime){use->runtime}, (invivo_key){use->key}, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_scope_register(const arguments *use) {
    return invivo_scope_register((invivo_runtime){use->runtime}, (const invivo_scope_options *)record_of(use, sizeof(invivo_scope_options)), use->error);
}
static invivo_status call_scope_end(const arguments *use) {
    return invivo_scope_end((invivo_runtime){use->runtime}, use->text, (uint64_t)use->number, use->error);
}
static invivo_status call_report_untracked(const arguments *use) {
    (void)invivo_report_untracked(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_error_copy(const arguments *use) {
    invivo_error_release(invivo_error_copy(use->failure));
    return INVIVO_OK;
}
static invivo_status call_runtime_retired(const arguments *use) {
    return invivo_runtime_retired((invivo_runtime){use->runtime}, (invivo_value *)out_of(use, 1), use->error);
}
static invivo_status call_key_of_type(const arguments *use) {
    return invivo_key_of_type((invivo_runtime){use->runtime}, use->text, use->text, (uint32_t)use->number, (invivo_key *)out_of(use, 4), use->error);
}
static invivo_status call_runtime_sources(const arguments *use) {
    return invivo_runtime_sources((invivo_runtime){use->runtime}, (invivo_value *)out_of(use, 1), use->error);
}
static invivo_status call_callbacks_cell(const arguments *use) {
    (void)use;
    (void)invivo_callbacks_cell();
    return INVIVO_OK;
}
static invivo_status call_runtime_options_init_sized(const arguments *use) {
    invivo_runtime_options_init_sized((invivo_runtime_options *)record_of(use, sizeof(invivo_runtime_options)), (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_changes_watch(const arguments *use) {
    return invivo_changes_watch((invivo_changes){use->changes}, (const invivo_source_options *)record_of(use, sizeof(invivo_source_options)), (invivo_source *)out_of(use, 2), use->error);
}
static invivo_status call_report_warning_count(const arguments *use) {
    (void)use;
    (void)invivo_report_warning_count(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_warning(const arguments *use) {
    (void)invivo_report_warning(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_key_describe(const arguments *use) {
    return invivo_key_describe((invivo_runtime){use->runtime}, (invivo_key){use->key}, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_runtime_generation(const arguments *use) {
    return invivo_runtime_generation((invivo_runtime){use->runtime}, (uint64_t *)out_of(use, 1), use->error);
}
static invivo_status call_view_config_late(const arguments *use) {
    (void)invivo_view_config_late(use->view, (invivo_config){use->config});
    return INVIVO_OK;
}
static invivo_status call_changes_expect(const arguments *use) {
    return invivo_changes_expect((invivo_changes){use->changes}, (uint64_t)use->number, use->error);
}
static invivo_status call_report_location(const arguments *use) {
    (void)invivo_report_location(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_omitted(const arguments *use) {
    (void)use;
    (void)invivo_report_omitted(NULL);
    return INVIVO_OK;
}
static invivo_status call_runtime_reports(const arguments *use) {
    return invivo_runtime_reports((invivo_runtime){use->runtime}, (invivo_report_visit)use->function, (void *)out_of(use, 2), use->error);
}
static invivo_status call_pin_begin(const arguments *use) {
    (void)invivo_pin_begin((invivo_runtime){use->runtime}, NULL);
    return INVIVO_OK;
}
static invivo_status call_pin_hold(const arguments *use) {
    (void)invivo_pin_hold((invivo_runtime){use->runtime}, NULL);
    return INVIVO_OK;
}
static invivo_status call_pin_enter(const arguments *use) {
    return invivo_pin_enter((invivo_pin){use->pin}, (invivo_pin *)out_of(use, 1), use->error);
}
static invivo_status call_pin_end(const arguments *use) {
    return invivo_pin_end((invivo_pin){use->pin});
}
static invivo_status call_pin_generation(const arguments *use) {
    (void)invivo_pin_generation((invivo_pin){use->pin});
    return INVIVO_OK;
}
static invivo_status call_pin_current(const arguments *use) {
    (void)invivo_pin_current((invivo_runtime){use->runtime});
    return INVIVO_OK;
}
static invivo_status call_source_retry(const arguments *use) {
    return invivo_source_retry((invivo_source){use->source}, use->error);
}
static invivo_status call_rollback(const arguments *use) {
    return invivo_rollback((invivo_runtime){use->runtime}, (uint64_t)use->number, use->error);
}
static invivo_status call_changes_rollback(const arguments *use) {
    return invivo_changes_rollback((invivo_changes){use->changes}, (uint64_t)use->number, use->error);
}
static invivo_status call_runtime_history(const arguments *use) {
    return invivo_runtime_history((invivo_runtime){use->runtime}, (invivo_value *)out_of(use, 1), use->error);
}
static invivo_status call_mark(const arguments *use) {
    return invivo_mark((invivo_runtime){use->runtime}, use->text, (uint64_t *)out_of(use, 2), use->error);
}
static invivo_status call_unmark(const arguments *use) {
    return invivo_unmark((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_marked(const arguments *use) {
    return invivo_marked((invivo_runtime){use->runtime}, use->text, (uint64_t *)out_of(use, 2), use->error);
}
static invivo_status call_changes_add_rule(const arguments *use) {
    return invivo_changes_add_rule((invivo_changes){use->changes}, (const invivo_rule *)record_of(use, sizeof(invivo_rule)), use->error);
}
static invivo_status call_changes_remove_rule(const arguments *use) {
    return invivo_changes_remove_rule((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_rule_add(const arguments *use) {
    return invivo_rule_add((invivo_runtime){use->runtime}, (const invivo_rule *)record_of(use, sizeof(invivo_rule)), use->error);
}
static invivo_status call_rule_remove(const arguments *use) {
    return invivo_rule_remove((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_effect(const arguments *use) {
    return invivo_effect((invivo_runtime){use->runtime}, (invivo_status (*)(void *user_data, invivo_error **error))use->function, (void *)out_of(use, 2), use->error);
}
static invivo_status call_child(const arguments *use) {
    return invivo_child((invivo_runtime){use->runtime}, (invivo_key){use->key}, use->value, (size_t)use->number, (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_child_make(const arguments *use) {
    return invivo_child_make((invivo_runtime){use->runtime}, (invivo_type){use->type}, use->value, (size_t)use->number, (invivo_object *)out_of(use, 4), use->error);
}
static invivo_status call_observer_generation(const arguments *use) {
    return invivo_observer_generation((invivo_observer){use->observer}, (uint64_t *)out_of(use, 1), use->error);
}
static invivo_status call_runtime_status(const arguments *use) {
    return invivo_runtime_status((invivo_runtime){use->runtime}, (invivo_value *)out_of(use, 1), use->error);
}
static invivo_status call_runtime_options_read(const arguments *use) {
    return invivo_runtime_options_read((invivo_runtime){use->runtime}, (invivo_runtime_options *)record_of(use, sizeof(invivo_runtime_options)), use->error);
}
static invivo_status call_runtime_options_change(const arguments *use) {
    return invivo_runtime_options_change((invivo_runtime){use->runtime}, (const invivo_runtime_options *)record_of(use, sizeof(invivo_runtime_options)), use->error);
}
static invivo_status call_report_cause_count(const arguments *use) {
    (void)use;
    (void)invivo_report_cause_count(NULL);
    return INVIVO_OK;
}
static invivo_status call_report_cause_kind(const arguments *use) {
    (void)invivo_report_cause_kind(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_cause_name(const arguments *use) {
    (void)invivo_report_cause_name(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_warning_kind(const arguments *use) {
    (void)invivo_report_warning_kind(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_warning_file(const arguments *use) {
    (void)invivo_report_warning_file(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_warning_line(const arguments *use) {
    (void)invivo_report_warning_line(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_warning_column(const arguments *use) {
    (void)invivo_report_warning_column(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_origin(const arguments *use) {
    (void)invivo_report_origin(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_layer(const arguments *use) {
    (void)invivo_report_layer(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_file(const arguments *use) {
    (void)invivo_report_file(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_line(const arguments *use) {
    (void)invivo_report_line(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_report_column(const arguments *use) {
    (void)invivo_report_column(NULL, (size_t)use->number);
    return INVIVO_OK;
}
static invivo_status call_layers_set(const arguments *use) {
    return invivo_layers_set((invivo_layers *)out_of(use, 0), use->text, use->value, use->error);
}
static invivo_status call_layers_scale(const arguments *use) {
    return invivo_layers_scale((invivo_layers *)out_of(use, 0), use->text, (double)use->number, use->error);
}
static invivo_status call_layers_offset(const arguments *use) {
    return invivo_layers_offset((invivo_layers *)out_of(use, 0), use->text, (double)use->number, use->error);
}
static invivo_status call_changes_add_trait(const arguments *use) {
    return invivo_changes_add_trait((invivo_changes){use->changes}, (const invivo_trait *)record_of(use, sizeof(invivo_trait)), use->error);
}
static invivo_status call_changes_remove_trait(const arguments *use) {
    return invivo_changes_remove_trait((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_trait_add(const arguments *use) {
    return invivo_trait_add((invivo_runtime){use->runtime}, (const invivo_trait *)record_of(use, sizeof(invivo_trait)), use->error);
}
static invivo_status call_trait_remove(const arguments *use) {
    return invivo_trait_remove((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_runtime_refresh_environment(const arguments *use) {
    return invivo_runtime_refresh_environment((invivo_runtime){use->runtime}, use->error);
}
static invivo_status call_runtime_advance(const arguments *use) {
    return invivo_runtime_advance((invivo_runtime){use->runtime}, (uint64_t)use->number, use->error);
}
static invivo_status call_property_text(const arguments *use) {
    return invivo_property_text((invivo_type){use->type}, use->text, use->value, (invivo_value *)out_of(use, 3), use->error);
}
static invivo_status call_property_read(const arguments *use) {
    return invivo_property_read((invivo_type){use->type}, use->text, use->text, (uint64_t)use->number, (invivo_value *)out_of(use, 4), use->error);
}
static invivo_status call_document_text(const arguments *use) {
    return invivo_document_text((invivo_runtime){use->runtime}, use->text, (uint32_t)use->number, (invivo_value *)out_of(use, 3), use->error);
}
static invivo_status call_traits_text(const arguments *use) {
    return invivo_traits_text((invivo_runtime){use->runtime}, use->text, use->text, (uint32_t)use->number, (invivo_value *)out_of(use, 4), use->error);
}
static invivo_status call_changes_bind_settings(const arguments *use) {
    return invivo_changes_bind_settings((invivo_changes){use->changes}, (const invivo_settings *)record_of(use, sizeof(invivo_settings)), use->error);
}
static invivo_status call_changes_unbind_settings(const arguments *use) {
    return invivo_changes_unbind_settings((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_settings_bind(const arguments *use) {
    return invivo_settings_bind((invivo_runtime){use->runtime}, (const invivo_settings *)record_of(use, sizeof(invivo_settings)), use->error);
}
static invivo_status call_settings_unbind(const arguments *use) {
    return invivo_settings_unbind((invivo_runtime){use->runtime}, use->text, use->error);
}
static invivo_status call_settings_id(const arguments *use) {
    return invivo_settings_id((invivo_runtime){use->runtime}, use->text, (invivo_config *)out_of(use, 2), use->error);
}
static invivo_status call_settings_read(const arguments *use) {
    return invivo_settings_read(use->view, (invivo_runtime){use->runtime}, (invivo_config){use->config}, (const void **)out_of(use, 3), use->error);
}
static invivo_status call_changes_add_secret(const arguments *use) {
    return invivo_changes_add_secret((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_changes_remove_secret(const arguments *use) {
    return invivo_changes_remove_secret((invivo_changes){use->changes}, use->text, use->error);
}
static invivo_status call_config_is_secret(const arguments *use) {
    return invivo_config_is_secret((invivo_runtime){use->runtime}, use->text, (bool *)out_of(use, 2), use->error);
}
static invivo_status call_settings_typed_id(const arguments *use) {
    return invivo_settings_typed_id((invivo_runtime){use->runtime}, use->text, use->text, (uint64_t)use->number, (invivo_config *)out_of(use, 4), use->error);
}
static invivo_status call_settings_type_add(const arguments *use) {
    return invivo_settings_type_add((invivo_runtime){use->runtime}, (const invivo_settings_type *)record_of(use, sizeof(invivo_settings_type)), use->error);
}
static invivo_status call_context_declare_kinds(const arguments *use) {
    return invivo_context_declare_kinds((invivo_runtime){use->runtime}, (const invivo_context_kind *)record_of(use, sizeof(invivo_context_kind)), (size_t)use->number, use->error);
}
static invivo_status call_context_declare_key(const arguments *use) {
    return invivo_context_declare_key((invivo_runtime){use->runtime}, (const invivo_context_key *)record_of(use, sizeof(invivo_context_key)), use->error);
}
static invivo_status call_context_open(const arguments *use) {
    return invivo_context_open((invivo_runtime){use->runtime}, (const invivo_context_options *)record_of(use, sizeof(invivo_context_options)), (invivo_context *)out_of(use, 2), use->error);
}
static invivo_status call_context_end(const arguments *use) {
    return invivo_context_end((invivo_context){use->context}, use->error);
}
static invivo_status call_context_retain(const arguments *use) {
    return invivo_context_retain((invivo_context){use->context}, use->error);
}
static invivo_status call_context_release(const arguments *use) {
    return invivo_context_release((invivo_context){use->context}, use->error);
}
static invivo_status call_context_get(const arguments *use) {
    return invivo_context_get((invivo_context){use->context}, (invivo_key){use->key}, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_context_get_local(const arguments *use) {
    return invivo_context_get_local((invivo_context){use->context}, (invivo_key){use->key}, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_view_context_value(const arguments *use) {
    (void)invivo_view_context_value(use->view, (invivo_context){use->context}, (invivo_key){use->key});
    return INVIVO_OK;
}
static invivo_status call_context_set(const arguments *use) {
    return invivo_context_set((invivo_context){use->context}, (invivo_key){use->key}, use->value, use->error);
}
static invivo_status call_context_remove(const arguments *use) {
    return invivo_context_remove((invivo_context){use->context}, (invivo_key){use->key}, use->error);
}
static invivo_status call_context_hide(const arguments *use) {
    return invivo_context_hide((invivo_context){use->context}, (invivo_key){use->key}, use->error);
}
static invivo_status call_context_change_values(const arguments *use) {
    return invivo_context_change_values((invivo_context){use->context}, NULL, (size_t)use->number, use->error);
}
static invivo_status call_context_entries(const arguments *use) {
    return invivo_context_entries((invivo_context){use->context}, (bool)use->number, (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_context_observe(const arguments *use) {
    return invivo_context_observe((invivo_context){use->context}, (invivo_key){use->key}, (const invivo_context_observer *)record_of(use, sizeof(invivo_context_observer)), (invivo_observer *)out_of(use, 3), use->error);
}
static invivo_status call_context_parent(const arguments *use) {
    return invivo_context_parent((invivo_context){use->context}, (invivo_context *)out_of(use, 1), use->error);
}
static invivo_status call_context_kind_name(const arguments *use) {
    return invivo_context_kind_name((invivo_context){use->context}, (const char **)out_of(use, 1), use->error);
}
static invivo_status call_context_object(const arguments *use) {
    return invivo_context_object((invivo_context){use->context}, (invivo_object *)out_of(use, 1), use->error);
}
static invivo_status call_context_runtime(const arguments *use) {
    return invivo_context_runtime((invivo_context){use->context}, (invivo_runtime *)out_of(use, 1), use->error);
}
static invivo_status call_context_find(const arguments *use) {
    return invivo_context_find((invivo_context){use->context}, (const invivo_context_query *)record_of(use, sizeof(invivo_context_query)), (invivo_context *)out_of(use, 2), use->error);
}
static invivo_status call_context_enter(const arguments *use) {
    return invivo_context_enter((invivo_context){use->context}, use->error);
}
static invivo_status call_context_leave(const arguments *use) {
    return invivo_context_leave((invivo_context){use->context}, use->error);
}
static invivo_status call_context_current(const arguments *use) {
    (void)invivo_context_current((invivo_runtime){use->runtime});
    return INVIVO_OK;
}
static invivo_status call_context_attach(const arguments *use) {
    return invivo_context_attach((invivo_context){use->context}, (invivo_object){use->object}, use->error);
}
static invivo_status call_context_detach(const arguments *use) {
    return invivo_context_detach((invivo_object){use->object}, use->error);
}
static invivo_status call_context_of(const arguments *use) {
    return invivo_context_of((invivo_object){use->object}, (invivo_context *)out_of(use, 1), use->error);
}
static invivo_status call_context_end_with(const arguments *use) {
    return invivo_context_end_with((invivo_context){use->context}, (const invivo_context_ending *)record_of(use, sizeof(invivo_context_ending)), (invivo_value *)out_of(use, 2), use->error);
}
static invivo_status call_context_failure(const arguments *use) {
    return invivo_context_failure((invivo_context){use->context}, (const char **)out_of(use, 1));
}
static invivo_status call_context_resolve(const arguments *use) {
    return invivo_context_resolve((invivo_context){use->context}, (invivo_key){use->key}, (invivo_object *)out_of(use, 2), use->error);
}

static const every_call every_calls[] = {
    {"invivo_status_name", call_status_name, 0, "", NULL, 0},
    {"invivo_status_text", call_status_text, 0, "", NULL, 0},
    {"invivo_version", call_version, 0, "", NULL, 0},
    {"invivo_version_text", call_version_text, 0, "", NULL, 0},
    {"invivo_error_make", call_error_make, 0, "", NULL, 0},
    {"invivo_error_code", call_error_code, 0, "", NULL, 0},
    {"invivo_error_message", call_error_message, 0, "", NULL, 0},
    {"invivo_error_path", call_error_path, 0, "", NULL, 0},
    {"invivo_error_file", call_error_file, 0, "", NULL, 0},
    {"invivo_error_line", call_error_line, 0, "", NULL, 0},
    {"invivo_error_column", call_error_column, 0, "", NULL, 0},
    {"invivo_error_cause", call_error_cause, 0, "", NULL, 0},
    {"invivo_error_count", call_error_count, 0, "", NULL, 0},
    {"invivo_error_at", call_error_at, 0, "", NULL, 0},
    {"invivo_error_text", call_error_text, 0, "", NULL, 0},
    {"invivo_error_release", call_error_release, 0, "", NULL, 0},
    {"invivo_error_report", call_error_report, 0, "", NULL, 0},
    {"invivo_value_copy", call_value_copy, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_value_clear", call_value_clear, 0, "", NULL, 0},
    {"invivo_value_convert", call_value_convert, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_kind_name", call_kind_name, 0, "", NULL, 0},
    {"invivo_callable_make", call_callable_make, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_callable_options, 4},
    {"invivo_callable_call", call_callable_call, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "callable", NULL, 0},
    {"invivo_callable_retain", call_callable_retain, ANSWERS_STATUS | TAKES_HANDLE, "callable", NULL, 0},
    {"invivo_callable_release", call_callable_release, ANSWERS_STATUS | TAKES_HANDLE, "callable", NULL, 0},
    {"invivo_callable_user_data", call_callable_user_data, TAKES_HANDLE, "callable", NULL, 0},
    {"invivo_type_register", call_type_register, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_type_options, 4},
    {"invivo_type_find", call_type_find, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_type_name", call_type_name, TAKES_HANDLE, "type", NULL, 0},
    {"invivo_type_property_count", call_type_property_count, TAKES_HANDLE, "type", NULL, 0},
    {"invivo_type_property_at", call_type_property_at, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD, "type", cuts_of_property, 0},
    {"invivo_type_method_count", call_type_method_count, TAKES_HANDLE, "type", NULL, 0},
    {"invivo_type_method_at", call_type_method_at, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD, "type", cuts_of_method, 0},
    {"invivo_runtime_options_init", call_runtime_options_init, TAKES_RECORD, "", cuts_of_runtime_options, 0},
    {"invivo_runtime_open", call_runtime_open, ANSWERS_STATUS | TAKES_RECORD | TAKES_ERROR, "", cuts_of_runtime_options, 1},
    {"invivo_runtime_close", call_runtime_close, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_close_deferred", call_runtime_close_deferred, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_poll", call_runtime_poll, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_descriptor", call_runtime_descriptor, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_thread_prepare", call_thread_prepare, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_domain_register", call_domain_register, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_domain_options, 4},
    {"invivo_job_run", call_job_run, ANSWERS_STATUS | TAKES_HANDLE, "job", NULL, 0},
    {"invivo_job_drop", call_job_drop, ANSWERS_STATUS | TAKES_HANDLE, "job", NULL, 0},
    {"invivo_runtime_inspect", call_runtime_inspect, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_runtime_info, 0},
    {"invivo_runtime_last_error", call_runtime_last_error, ANSWERS_STATUS | TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_live", call_live, TAKES_RECORD, "", cuts_of_live_counts, 0},
    {"invivo_object_retain", call_object_retain, ANSWERS_STATUS | TAKES_HANDLE, "object", NULL, 0},
    {"invivo_object_release", call_object_release, ANSWERS_STATUS | TAKES_HANDLE, "object", NULL, 0},
    {"invivo_object_get", call_object_get, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_object_set", call_object_set, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_object_call", call_object_call, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_object_instance", call_object_instance, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_object_type", call_object_type, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 2},
    {"invivo_object_key", call_object_key, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 2},
    {"invivo_object_runtime", call_object_runtime, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 2},
    {"invivo_object_make", call_object_make, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_object_wrap", call_object_wrap, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 8},
    {"invivo_target_attach", call_target_attach, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 4},
    {"invivo_target_detach", call_target_detach, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "target", NULL, 0},
    {"invivo_target_declare", call_target_declare, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_key_intern", call_key_intern, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_key_find", call_key_find, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_key_name", call_key_name, TAKES_HANDLE, "key", NULL, 0},
    {"invivo_key_version", call_key_version, TAKES_HANDLE, "key", NULL, 0},
    {"invivo_changes_open", call_changes_open, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 2},
    {"invivo_changes_define", call_changes_define, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_definition, 4},
    {"invivo_changes_remove", call_changes_remove, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_document", call_changes_document, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_set", call_changes_set, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_commit", call_changes_commit, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_submit", call_changes_submit, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_discard", call_changes_discard, TAKES_HANDLE, "changes", NULL, 0},
    {"invivo_define", call_define, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_definition, 4},
    {"invivo_define_block", call_define_block, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_block_options, 8},
    {"invivo_resolve", call_resolve, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_resolve_with", call_resolve_with, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_resolve_name", call_resolve_name, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_peek", call_peek, ANSWERS_STATUS | TAKES_HANDLE, "runtime", NULL, 4},
    {"invivo_view_begin", call_view_begin, TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_view_end", call_view_end, 0, "", NULL, 0},
    {"invivo_view_key", call_view_key, 0, "", NULL, 0},
    {"invivo_view_get_confined", call_view_get_confined, TAKES_HANDLE, "key", NULL, 0},
    {"invivo_source_open", call_source_open, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_source_options, 4},
    {"invivo_watch", call_watch, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_source_update", call_source_update, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "source", NULL, 0},
    {"invivo_source_refresh", call_source_refresh, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "source", NULL, 0},
    {"invivo_source_close", call_source_close, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "source", NULL, 0},
    {"invivo_report_generation", call_report_generation, 0, "", NULL, 0},
    {"invivo_report_status", call_report_status, 0, "", NULL, 0},
    {"invivo_report_cause", call_report_cause, 0, "", NULL, 0},
    {"invivo_report_error", call_report_error, 0, "", NULL, 0},
    {"invivo_report_count", call_report_count, 0, "", NULL, 0},
    {"invivo_report_key", call_report_key, 0, "", NULL, 0},
    {"invivo_report_change", call_report_change, 0, "", NULL, 0},
    {"invivo_report_property", call_report_property, 0, "", NULL, 0},
    {"invivo_report_nanoseconds", call_report_nanoseconds, 0, "", NULL, 0},
    {"invivo_report_text", call_report_text, 0, "", NULL, 0},
    {"invivo_observe", call_observe, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_observer_options, 4},
    {"invivo_observer_close", call_observer_close, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "observer", NULL, 0},
    {"invivo_table_get", call_table_get, 0, "", NULL, 0},
    {"invivo_module_load", call_module_load, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_stubs_use", call_stubs_use, ANSWERS_STATUS, "", NULL, 0},
    {"invivo_share", call_share, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_attach", call_attach, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 2},
    {"invivo_app_open", call_app_open, ANSWERS_STATUS | TAKES_RECORD | TAKES_ERROR, "", cuts_of_app_options, 1},
    {"invivo_app_runtime", call_app_runtime, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "app", NULL, 2},
    {"invivo_app_close", call_app_close, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "app", NULL, 0},
    {"invivo_app_needs_python", call_app_needs_python, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_error_make_at", call_error_make_at, 0, "", NULL, 0},
    {"invivo_error_join", call_error_join, 0, "", NULL, 0},
    {"invivo_type_parameter_count", call_type_parameter_count, TAKES_HANDLE, "type", NULL, 0},
    {"invivo_type_parameter_at", call_type_parameter_at, ANSWERS_STATUS | TAKES_HANDLE, "type", NULL, 0},
    {"invivo_callbacks_guard", call_callbacks_guard, ANSWERS_STATUS | TAKES_RECORD | TAKES_ERROR, "", cuts_of_callbacks, 0},
    {"invivo_callbacks_end", call_callbacks_end, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_resolve_optional", call_resolve_optional, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_resolve_type", call_resolve_type, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_resolve_all", call_resolve_all, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_inject", call_inject, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_runtime_note_error", call_runtime_note_error, ANSWERS_STATUS | TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_override_begin", call_override_begin, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_definition, 4},
    {"invivo_override_end", call_override_end, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "override", NULL, 0},
    {"invivo_target_detach_later", call_target_detach_later, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "target", NULL, 0},
    {"invivo_error_rule", call_error_rule, 0, "", NULL, 0},
    {"invivo_error_needed_by", call_error_needed_by, 0, "", NULL, 0},
    {"invivo_changes_check", call_changes_check, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_assembly_describe", call_assembly_describe, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_assembly, 0},
    {"invivo_assembly_forget", call_assembly_forget, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_assembly_state", call_assembly_state, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_activate", call_activate, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_activate_options, 0},
    {"invivo_deactivate", call_deactivate, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_mount", call_mount, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_assembly, 0},
    {"invivo_changes_activate", call_changes_activate, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_assembly, 0},
    {"invivo_changes_deactivate", call_changes_deactivate, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_mount", call_changes_mount, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_assembly, 0},
    {"invivo_graph_describe", call_graph_describe, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_app_check", call_app_check, ANSWERS_STATUS | TAKES_RECORD | TAKES_ERROR, "", cuts_of_app_options, 0},
    {"invivo_changes_process", call_changes_process, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_processor, 0},
    {"invivo_changes_unprocess", call_changes_unprocess, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_inject_with", call_inject_with, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_inject_tree", call_inject_tree, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "object", cuts_of_tree, 0},
    {"invivo_resolve_async", call_resolve_async, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_config_id", call_config_id, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 8},
    {"invivo_config_path", call_config_path, TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_config_read", call_config_read, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_config_observe", call_config_observe, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_config_observer_options, 8},
    {"invivo_changes_configure", call_changes_configure, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_converter_register", call_converter_register, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_converter_options, 0},
    {"invivo_converter_unregister", call_converter_unregister, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_convert", call_convert, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_type_extend", call_type_extend, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_states", call_runtime_states, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_changes_reset", call_changes_reset, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_reset_scope", call_changes_reset_scope, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_start", call_start, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_stop", call_stop, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_report_stop_error", call_report_stop_error, 0, "", NULL, 0},
    {"invivo_pool_open", call_pool_open, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_pool_options, 4},
    {"invivo_pool_find", call_pool_find, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_pool_close", call_pool_close, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_pool_get", call_pool_get, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 16},
    {"invivo_pool_peek", call_pool_peek, ANSWERS_STATUS | TAKES_HANDLE, "pool", NULL, 4},
    {"invivo_pool_peek_instance", call_pool_peek_instance, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_pool_put", call_pool_put, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_pool_remove", call_pool_remove, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_pool_list", call_pool_list, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_pool_count", call_pool_count, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_pool_clear", call_pool_clear, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pool", NULL, 0},
    {"invivo_key_outline", call_key_outline, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_scope_register", call_scope_register, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_scope_options, 0},
    {"invivo_scope_end", call_scope_end, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_report_untracked", call_report_untracked, 0, "", NULL, 0},
    {"invivo_error_copy", call_error_copy, 0, "", NULL, 0},
    {"invivo_runtime_retired", call_runtime_retired, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_key_of_type", call_key_of_type, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_runtime_sources", call_runtime_sources, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_callbacks_cell", call_callbacks_cell, 0, "", NULL, 0},
    {"invivo_runtime_options_init_sized", call_runtime_options_init_sized, TAKES_RECORD, "", cuts_of_runtime_options, 0},
    {"invivo_changes_watch", call_changes_watch, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_source_options, 4},
    {"invivo_report_warning_count", call_report_warning_count, 0, "", NULL, 0},
    {"invivo_report_warning", call_report_warning, 0, "", NULL, 0},
    {"invivo_key_describe", call_key_describe, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_generation", call_runtime_generation, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_view_config_late", call_view_config_late, TAKES_HANDLE, "config", NULL, 0},
    {"invivo_changes_expect", call_changes_expect, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_report_location", call_report_location, 0, "", NULL, 0},
    {"invivo_report_omitted", call_report_omitted, 0, "", NULL, 0},
    {"invivo_runtime_reports", call_runtime_reports, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_pin_begin", call_pin_begin, TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_pin_hold", call_pin_hold, TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_pin_enter", call_pin_enter, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "pin", NULL, 2},
    {"invivo_pin_end", call_pin_end, ANSWERS_STATUS | TAKES_HANDLE, "pin", NULL, 0},
    {"invivo_pin_generation", call_pin_generation, TAKES_HANDLE, "pin", NULL, 0},
    {"invivo_pin_current", call_pin_current, TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_source_retry", call_source_retry, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "source", NULL, 0},
    {"invivo_rollback", call_rollback, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_changes_rollback", call_changes_rollback, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_runtime_history", call_runtime_history, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_mark", call_mark, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_unmark", call_unmark, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_marked", call_marked, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_changes_add_rule", call_changes_add_rule, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_rule, 0},
    {"invivo_changes_remove_rule", call_changes_remove_rule, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_rule_add", call_rule_add, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_rule, 0},
    {"invivo_rule_remove", call_rule_remove, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_effect", call_effect, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_child", call_child, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_child_make", call_child_make, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_observer_generation", call_observer_generation, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "observer", NULL, 0},
    {"invivo_runtime_status", call_runtime_status, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_options_read", call_runtime_options_read, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_runtime_options, 0},
    {"invivo_runtime_options_change", call_runtime_options_change, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_runtime_options, 0},
    {"invivo_report_cause_count", call_report_cause_count, 0, "", NULL, 0},
    {"invivo_report_cause_kind", call_report_cause_kind, 0, "", NULL, 0},
    {"invivo_report_cause_name", call_report_cause_name, 0, "", NULL, 0},
    {"invivo_report_warning_kind", call_report_warning_kind, 0, "", NULL, 0},
    {"invivo_report_warning_file", call_report_warning_file, 0, "", NULL, 0},
    {"invivo_report_warning_line", call_report_warning_line, 0, "", NULL, 0},
    {"invivo_report_warning_column", call_report_warning_column, 0, "", NULL, 0},
    {"invivo_report_origin", call_report_origin, 0, "", NULL, 0},
    {"invivo_report_layer", call_report_layer, 0, "", NULL, 0},
    {"invivo_report_file", call_report_file, 0, "", NULL, 0},
    {"invivo_report_line", call_report_line, 0, "", NULL, 0},
    {"invivo_report_column", call_report_column, 0, "", NULL, 0},
    {"invivo_layers_set", call_layers_set, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_layers_scale", call_layers_scale, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_layers_offset", call_layers_offset, ANSWERS_STATUS | TAKES_ERROR, "", NULL, 0},
    {"invivo_changes_add_trait", call_changes_add_trait, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_trait, 0},
    {"invivo_changes_remove_trait", call_changes_remove_trait, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_trait_add", call_trait_add, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_trait, 0},
    {"invivo_trait_remove", call_trait_remove, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_refresh_environment", call_runtime_refresh_environment, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_runtime_advance", call_runtime_advance, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_property_text", call_property_text, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "type", NULL, 0},
    {"invivo_property_read", call_property_read, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "type", NULL, 0},
    {"invivo_document_text", call_document_text, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_traits_text", call_traits_text, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_changes_bind_settings", call_changes_bind_settings, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "changes", cuts_of_settings, 0},
    {"invivo_changes_unbind_settings", call_changes_unbind_settings, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_settings_bind", call_settings_bind, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_settings, 0},
    {"invivo_settings_unbind", call_settings_unbind, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_settings_id", call_settings_id, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 4},
    {"invivo_settings_read", call_settings_read, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_changes_add_secret", call_changes_add_secret, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_changes_remove_secret", call_changes_remove_secret, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "changes", NULL, 0},
    {"invivo_config_is_secret", call_config_is_secret, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 0},
    {"invivo_settings_typed_id", call_settings_typed_id, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "runtime", NULL, 16},
    {"invivo_settings_type_add", call_settings_type_add, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_settings_type, 0},
    {"invivo_context_declare_kinds", call_context_declare_kinds, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_context_kind, 0},
    {"invivo_context_declare_key", call_context_declare_key, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_context_key, 0},
    {"invivo_context_open", call_context_open, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "runtime", cuts_of_context_options, 4},
    {"invivo_context_end", call_context_end, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_retain", call_context_retain, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_release", call_context_release, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_get", call_context_get, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_get_local", call_context_get_local, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_view_context_value", call_view_context_value, TAKES_HANDLE, "context", NULL, 0},
    {"invivo_context_set", call_context_set, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_remove", call_context_remove, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_hide", call_context_hide, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_change_values", call_context_change_values, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_entries", call_context_entries, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_observe", call_context_observe, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "context", cuts_of_context_observer, 8},
    {"invivo_context_parent", call_context_parent, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 2},
    {"invivo_context_kind_name", call_context_kind_name, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_object", call_context_object, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 2},
    {"invivo_context_runtime", call_context_runtime, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 2},
    {"invivo_context_find", call_context_find, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "context", cuts_of_context_query, 4},
    {"invivo_context_enter", call_context_enter, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_leave", call_context_leave, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_current", call_context_current, TAKES_HANDLE, "runtime", NULL, 0},
    {"invivo_context_attach", call_context_attach, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 0},
    {"invivo_context_detach", call_context_detach, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 0},
    {"invivo_context_of", call_context_of, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "object", NULL, 2},
    {"invivo_context_end_with", call_context_end_with, ANSWERS_STATUS | TAKES_HANDLE | TAKES_RECORD | TAKES_ERROR, "context", cuts_of_context_ending, 0},
    {"invivo_context_failure", call_context_failure, ANSWERS_STATUS | TAKES_HANDLE, "context", NULL, 0},
    {"invivo_context_resolve", call_context_resolve, ANSWERS_STATUS | TAKES_HANDLE | TAKES_ERROR, "context", NULL, 4},
};

#endif
