/** @file table.h
 * A table of all functions of these headers. Written by scripts/generate from the other headers; do not edit.
 *
 * The names have no prefix. New functions are only appended. */
#ifndef INVIVO_TABLE_H
#define INVIVO_TABLE_H

#include "app.h"
#include "assembly.h"
#include "base.h"
#include "callbacks.h"
#include "config.h"
#include "context.h"
#include "graph.h"
#include "history.h"
#include "module.h"
#include "object.h"
#include "pin.h"
#include "pool.h"
#include "reload.h"
#include "rule.h"
#include "runtime.h"
#include "scope.h"
#include "settings.h"
#include "setup.h"
#include "source.h"
#include "trait.h"
#include "type.h"
#include "value.h"
#include "view.h"
#include "wiring.h"

INVIVO_EXTERN_C_BEGIN

struct invivo_table {
    size_t struct_size;      /**< size of the table in this copy of the library; callers may know a shorter table */
    uint32_t abi_version;    /**< INVIVO_ABI_VERSION */
    uint32_t function_count;
    const char *(*status_name)(invivo_status status);
    const char *(*status_text)(invivo_status status);
    uint32_t (*version)(void);
    const char *(*version_text)(void);
    invivo_error *(*error_make)(invivo_status code, const char *message, const char *path, invivo_error *cause);
    invivo_status (*error_code)(const invivo_error *error);
    const char *(*error_message)(const invivo_error *error);
    const char *(*error_path)(const invivo_error *error);
    const char *(*error_file)(const invivo_error *error);
    uint32_t (*error_line)(const invivo_error *error);
    uint32_t (*error_column)(const invivo_error *error);
    const invivo_error *(*error_cause)(const invivo_error *error);
    size_t (*error_count)(const invivo_error *error);
    const invivo_error *(*error_at)(const invivo_error *error, size_t index);
    const char *(*error_text)(const invivo_error *error);
    void (*error_release)(invivo_error *error);
    int (*error_report)(invivo_error *error);
    invivo_status (*value_copy)(invivo_value *out, const invivo_value *value, invivo_error **error);
    void (*value_clear)(invivo_value *value);
    invivo_status (*value_convert)(invivo_value *out, const invivo_value *value, invivo_kind kind, invivo_error **error);
    const char *(*kind_name)(invivo_kind kind);
    invivo_status (*callable_make)(invivo_runtime runtime, const invivo_callable_options *options, invivo_callable *out, invivo_error **error);
    invivo_status (*callable_call)(invivo_callable callable, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error);
    invivo_status (*callable_retain)(invivo_callable callable);
    invivo_status (*callable_release)(invivo_callable callable);
    void *(*callable_user_data)(invivo_callable callable, invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error));
    invivo_status (*type_register)(invivo_runtime runtime, const invivo_type_options *options, invivo_type *out, invivo_error **error);
    invivo_status (*type_find)(invivo_runtime runtime, const char *name, invivo_type *out, invivo_error **error);
    const char *(*type_name)(invivo_type type);
    uint64_t (*type_property_count)(invivo_type type);
    invivo_status (*type_property_at)(invivo_type type, uint64_t index, invivo_property *out);
    uint64_t (*type_method_count)(invivo_type type);
    invivo_status (*type_method_at)(invivo_type type, uint64_t index, invivo_method *out);
    void (*runtime_options_init)(invivo_runtime_options *options);
    invivo_status (*runtime_open)(invivo_runtime *out, const invivo_runtime_options *options, invivo_error **error);
    invivo_status (*runtime_close)(invivo_runtime runtime, invivo_error **error);
    invivo_status (*runtime_close_deferred)(invivo_runtime runtime, invivo_error **error);
    invivo_status (*runtime_poll)(invivo_runtime runtime, uint32_t timeout_ms, uint32_t *ran, invivo_error **error);
    invivo_status (*runtime_descriptor)(invivo_runtime runtime, int *out, invivo_error **error);
    invivo_status (*thread_prepare)(invivo_runtime runtime, invivo_error **error);
    invivo_status (*domain_register)(invivo_runtime runtime, const invivo_domain_options *options, invivo_domain *out, invivo_error **error);
    invivo_status (*job_run)(invivo_job job);
    invivo_status (*job_drop)(invivo_job job);
    invivo_status (*runtime_inspect)(invivo_runtime runtime, invivo_runtime_info *out, invivo_error **error);
    invivo_status (*runtime_last_error)(invivo_runtime runtime, invivo_error **out);
    void (*live)(invivo_live_counts *out);
    invivo_status (*object_retain)(invivo_object object);
    invivo_status (*object_release)(invivo_object object);
    invivo_status (*object_get)(invivo_object object, const char *property, invivo_value *out, invivo_error **error);
    invivo_status (*object_set)(invivo_object object, const char *property, const invivo_value *value, invivo_error **error);
    invivo_status (*object_call)(invivo_object object, const char *method, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error);
    invivo_status (*object_instance)(invivo_object object, invivo_type type, void **out, invivo_error **error);
    invivo_status (*object_type)(invivo_object object, invivo_type *out, invivo_error **error);
    invivo_status (*object_key)(invivo_object object, invivo_key *out, invivo_error **error);
    invivo_status (*object_runtime)(invivo_object object, invivo_runtime *out, invivo_error **error);
    invivo_status (*object_make)(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error);
    invivo_status (*object_wrap)(invivo_runtime runtime, invivo_type type, void *instance, invivo_object *out, invivo_error **error);
    invivo_status (*target_attach)(invivo_object object, const char *key, invivo_target *out, invivo_error **error);
    invivo_status (*target_detach)(invivo_target target, invivo_error **error);
    invivo_status (*target_declare)(invivo_runtime runtime, const char *key, invivo_type type, invivo_error **error);
    invivo_status (*key_intern)(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error);
    invivo_status (*key_find)(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error);
    const char *(*key_name)(invivo_key key);
    const uint64_t *(*key_version)(invivo_key key);
    invivo_status (*changes_open)(invivo_runtime runtime, invivo_changes *out, invivo_error **error);
    invivo_status (*changes_define)(invivo_changes changes, const invivo_definition *definition, invivo_key *out, invivo_error **error);
    invivo_status (*changes_remove)(invivo_changes changes, const char *key, invivo_error **error);
    invivo_status (*changes_document)(invivo_changes changes, const char *name, const char *text, uint64_t length, invivo_error **error);
    invivo_status (*changes_set)(invivo_changes changes, const char *key, const char *property, const invivo_value *value, invivo_error **error);
    invivo_status (*changes_commit)(invivo_changes changes, invivo_error **error);
    invivo_status (*changes_submit)(invivo_changes changes, invivo_error **error);
    void (*changes_discard)(invivo_changes changes);
    invivo_status (*define)(invivo_runtime runtime, const invivo_definition *definition, invivo_key *out, invivo_error **error);
    invivo_status (*define_block)(invivo_runtime runtime, const char *key, const invivo_block_options *block, invivo_key *out, invivo_error **error);
    invivo_status (*resolve)(invivo_runtime runtime, invivo_key key, invivo_object *out, invivo_error **error);
    invivo_status (*resolve_with)(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error);
    invivo_status (*resolve_name)(invivo_runtime runtime, const char *name, invivo_object *out, invivo_error **error);
    invivo_status (*peek)(invivo_runtime runtime, invivo_key key, invivo_object *out);
    invivo_view (*view_begin)(invivo_runtime runtime);
    void (*view_end)(invivo_view view);
    invivo_key (*view_key)(invivo_view view, const char *name, size_t length);
    void *(*view_get_confined)(invivo_view view, invivo_key key);
    invivo_status (*source_open)(invivo_runtime runtime, const invivo_source_options *options, invivo_source *out, invivo_error **error);
    invivo_status (*watch)(invivo_runtime runtime, const char *path, invivo_error **error);
    invivo_status (*source_update)(invivo_source source, const char *text, uint64_t length, invivo_error **error);
    invivo_status (*source_refresh)(invivo_source source, invivo_error **error);
    invivo_status (*source_close)(invivo_source source, invivo_error **error);
    uint64_t (*report_generation)(const invivo_report *report);
    invivo_status (*report_status)(const invivo_report *report);
    const char *(*report_cause)(const invivo_report *report);
    const invivo_error *(*report_error)(const invivo_report *report);
    size_t (*report_count)(const invivo_report *report);
    const char *(*report_key)(const invivo_report *report, size_t index);
    uint32_t (*report_change)(const invivo_report *report, size_t index);
    const char *(*report_property)(const invivo_report *report, size_t index);
    uint64_t (*report_nanoseconds)(const invivo_report *report, uint32_t phase);
    const char *(*report_text)(const invivo_report *report);
    invivo_status (*observe)(invivo_runtime runtime, const invivo_observer_options *options, invivo_observer *out, invivo_error **error);
    invivo_status (*observer_close)(invivo_observer observer, invivo_error **error);
    const invivo_table *(*table_get)(void);
    invivo_status (*module_load)(invivo_runtime runtime, const char *path, invivo_module *out, invivo_error **error);
    invivo_status (*stubs_use)(const invivo_table *table);
    invivo_status (*share)(invivo_runtime runtime, const invivo_token **out, invivo_error **error);
    invivo_status (*attach)(const invivo_token *token, invivo_runtime *out, invivo_error **error);
    invivo_status (*app_open)(invivo_app *out, const invivo_app_options *options, invivo_error **error);
    invivo_status (*app_runtime)(invivo_app app, invivo_runtime *out, invivo_error **error);
    invivo_status (*app_close)(invivo_app app, invivo_error **error);
    invivo_status (*app_needs_python)(const char *manifest, bool *out, invivo_error **error);
    invivo_error *(*error_make_at)(invivo_status code, const char *message, const char *path, const char *file, uint32_t line, uint32_t column, invivo_error *cause);
    invivo_error *(*error_join)(invivo_error *first, invivo_error *second);
    uint64_t (*type_parameter_count)(invivo_type type);
    invivo_status (*type_parameter_at)(invivo_type type, uint64_t index, invivo_parameter *out);
    invivo_status (*callbacks_guard)(const invivo_callbacks *callbacks, invivo_callbacks *out, invivo_error **error);
    invivo_status (*callbacks_end)(invivo_error **error);
    invivo_status (*resolve_optional)(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error);
    invivo_status (*resolve_type)(invivo_runtime runtime, const char *type, const char *name, uint32_t flags, invivo_object *out, invivo_error **error);
    invivo_status (*resolve_all)(invivo_runtime runtime, const char *type, uint32_t flags, invivo_value *out, invivo_error **error);
    invivo_status (*inject)(invivo_object object, invivo_key key, invivo_error **error);
    invivo_status (*runtime_note_error)(invivo_runtime runtime, const invivo_error *error);
    invivo_status (*override_begin)(invivo_runtime runtime, const invivo_definition *definition, invivo_override *out, invivo_error **error);
    invivo_status (*override_end)(invivo_override override, invivo_error **error);
    invivo_status (*target_detach_later)(invivo_target target, invivo_error **error);
    const char *(*error_rule)(const invivo_error *error);
    const char *(*error_needed_by)(const invivo_error *error);
    invivo_status (*changes_check)(invivo_changes changes, invivo_error **error);
    invivo_status (*assembly_describe)(invivo_runtime runtime, const invivo_assembly *assembly, invivo_error **error);
    invivo_status (*assembly_forget)(invivo_runtime runtime, const char *name, invivo_error **error);
    invivo_status (*assembly_state)(invivo_runtime runtime, const char *name, uint32_t *out, invivo_error **error);
    invivo_status (*activate)(invivo_runtime runtime, const invivo_assembly *const *assemblies, size_t count, const invivo_activate_options *options, invivo_error **error);
    invivo_status (*deactivate)(invivo_runtime runtime, const char *const *names, size_t count, invivo_error **error);
    invivo_status (*mount)(invivo_runtime runtime, const invivo_assembly *assembly, const char *prefix, const invivo_remap *remaps, size_t count, invivo_error **error);
    invivo_status (*changes_activate)(invivo_changes changes, const invivo_assembly *assembly, const invivo_activate_options *options, invivo_error **error);
    invivo_status (*changes_deactivate)(invivo_changes changes, const char *name, invivo_error **error);
    invivo_status (*changes_mount)(invivo_changes changes, const invivo_assembly *assembly, const char *prefix, const invivo_remap *remaps, size_t count, invivo_error **error);
    invivo_status (*graph_describe)(invivo_runtime runtime, uint32_t format, invivo_value *out, invivo_error **error);
    invivo_status (*app_check)(const invivo_app_options *options, uint32_t format, invivo_value *graph, invivo_error **error);
    invivo_status (*changes_process)(invivo_changes changes, const invivo_processor *processor, invivo_error **error);
    invivo_status (*changes_unprocess)(invivo_changes changes, const char *name, invivo_error **error);
    invivo_status (*inject_with)(invivo_object object, invivo_key key, uint32_t flags, invivo_error **error);
    invivo_status (*inject_tree)(invivo_object root, const invivo_tree *tree, invivo_error **error);
    invivo_status (*resolve_async)(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, void (*resolved)(void *user_data, invivo_object object, const invivo_error *error), void *user_data, invivo_domain deliver, invivo_error **error);
    invivo_status (*config_id)(invivo_runtime runtime, const char *path, invivo_kind kind, invivo_config *out, invivo_error **error);
    const char *(*config_path)(invivo_runtime runtime, invivo_config id);
    invivo_status (*config_read)(invivo_runtime runtime, const char *path, invivo_value *out, invivo_error **error);
    invivo_status (*config_observe)(invivo_runtime runtime, const char *path, const invivo_config_observer_options *options, invivo_observer *out, invivo_error **error);
    invivo_status (*changes_configure)(invivo_changes changes, const char *path, const invivo_value *value, invivo_error **error);
    invivo_status (*converter_register)(invivo_runtime runtime, const invivo_converter_options *options, invivo_error **error);
    invivo_status (*converter_unregister)(invivo_runtime runtime, const char *name, invivo_error **error);
    invivo_status (*convert)(invivo_runtime runtime, const char *converter, const char *text, uint64_t length, invivo_value *out, invivo_error **error);
    invivo_status (*type_extend)(invivo_runtime runtime, invivo_type type, const char *supertype, invivo_error **error);
    invivo_status (*runtime_states)(invivo_runtime runtime, invivo_value *out, invivo_error **error);
    invivo_status (*changes_reset)(invivo_changes changes, const char *key, uint32_t flags, invivo_error **error);
    invivo_status (*changes_reset_scope)(invivo_changes changes, uint32_t scope, invivo_error **error);
    invivo_status (*start)(invivo_runtime runtime, invivo_key key, invivo_error **error);
    invivo_status (*stop)(invivo_runtime runtime, invivo_key key, invivo_error **error);
    const invivo_error *(*report_stop_error)(const invivo_report *report);
    invivo_status (*pool_open)(invivo_runtime runtime, const invivo_pool_options *options, invivo_pool *out, invivo_error **error);
    invivo_status (*pool_find)(invivo_runtime runtime, const char *name, invivo_pool *out, invivo_error **error);
    invivo_status (*pool_close)(invivo_pool pool, invivo_error **error);
    invivo_status (*pool_get)(invivo_pool pool, const invivo_value *key, invivo_pool_make make, void *user_data, invivo_object *out, invivo_error **error);
    invivo_status (*pool_peek)(invivo_pool pool, const invivo_value *key, invivo_object *out);
    invivo_status (*pool_peek_instance)(invivo_pool pool, const invivo_value *key, invivo_type type, void **out, invivo_error **error);
    invivo_status (*pool_put)(invivo_pool pool, const invivo_value *key, invivo_object object, invivo_error **error);
    invivo_status (*pool_remove)(invivo_pool pool, const invivo_value *key, invivo_error **error);
    invivo_status (*pool_list)(invivo_pool pool, invivo_value *out, invivo_error **error);
    invivo_status (*pool_count)(invivo_pool pool, uint64_t *out, invivo_error **error);
    invivo_status (*pool_clear)(invivo_pool pool, uint64_t *count, invivo_error **error);
    invivo_status (*key_outline)(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error);
    invivo_status (*scope_register)(invivo_runtime runtime, const invivo_scope_options *options, invivo_error **error);
    invivo_status (*scope_end)(invivo_runtime runtime, const char *name, uint64_t place, invivo_error **error);
    uint64_t (*report_untracked)(const invivo_report *report, size_t index);
    invivo_error *(*error_copy)(const invivo_error *error);
    invivo_status (*runtime_retired)(invivo_runtime runtime, invivo_value *out, invivo_error **error);
    invivo_status (*key_of_type)(invivo_runtime runtime, const char *type, const char *name, uint32_t flags, invivo_key *out, invivo_error **error);
    invivo_status (*runtime_sources)(invivo_runtime runtime, invivo_value *out, invivo_error **error);
    invivo_status *(*callbacks_cell)(void);
    void (*runtime_options_init_sized)(invivo_runtime_options *options, size_t struct_size);
    invivo_status (*changes_watch)(invivo_changes changes, const invivo_source_options *options, invivo_source *out, invivo_error **error);
    size_t (*report_warning_count)(const invivo_report *report);
    const char *(*report_warning)(const invivo_report *report, size_t index);
    invivo_status (*key_describe)(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error);
    invivo_status (*runtime_generation)(invivo_runtime runtime, uint64_t *out, invivo_error **error);
    const invivo_value *(*view_config_late)(invivo_view view, invivo_config id);
    invivo_status (*changes_expect)(invivo_changes changes, uint64_t generation, invivo_error **error);
    const char *(*report_location)(const invivo_report *report, size_t index);
    uint64_t (*report_omitted)(const invivo_report *report);
    invivo_status (*runtime_reports)(invivo_runtime runtime, invivo_report_visit visit, void *user_data, invivo_error **error);
    invivo_pin (*pin_begin)(invivo_runtime runtime, const invivo_place *place);
    invivo_pin (*pin_hold)(invivo_runtime runtime, const invivo_place *place);
    invivo_status (*pin_enter)(invivo_pin pin, invivo_pin *out, invivo_error **error);
    invivo_status (*pin_end)(invivo_pin pin);
    uint64_t (*pin_generation)(invivo_pin pin);
    invivo_pin (*pin_current)(invivo_runtime runtime);
    invivo_status (*source_retry)(invivo_source source, invivo_error **error);
    invivo_status (*rollback)(invivo_runtime runtime, uint64_t generation, invivo_error **error);
    invivo_status (*changes_rollback)(invivo_changes changes, uint64_t generation, invivo_error **error);
    invivo_status (*runtime_history)(invivo_runtime runtime, invivo_value *out, invivo_error **error);
    invivo_status (*mark)(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error);
    invivo_status (*unmark)(invivo_runtime runtime, const char *name, invivo_error **error);
    invivo_status (*marked)(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error);
    invivo_status (*changes_add_rule)(invivo_changes changes, const invivo_rule *rule, invivo_error **error);
    invivo_status (*changes_remove_rule)(invivo_changes changes, const char *name, invivo_error **error);
    invivo_status (*rule_add)(invivo_runtime runtime, const invivo_rule *rule, invivo_error **error);
    invivo_status (*rule_remove)(invivo_runtime runtime, const char *name, invivo_error **error);
    invivo_status (*effect)(invivo_runtime runtime, invivo_status (*undo)(void *user_data, invivo_error **error), void *user_data, invivo_error **error);
    invivo_status (*child)(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error);
    invivo_status (*child_make)(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error);
    invivo_status (*observer_generation)(invivo_observer observer, uint64_t *out, invivo_error **error);
    invivo_status (*runtime_status)(invivo_runtime runtime, invivo_value *out, invivo_error **error);
    invivo_status (*runtime_options_read)(invivo_runtime runtime, invivo_runtime_options *out, invivo_error **error);
    invivo_status (*runtime_options_change)(invivo_runtime runtime, const invivo_runtime_options *options, invivo_error **error);
    size_t (*report_cause_count)(const invivo_report *report);
    uint32_t (*report_cause_kind)(const invivo_report *report, size_t index);
    const char *(*report_cause_name)(const invivo_report *report, size_t index);
    uint32_t (*report_warning_kind)(const invivo_report *report, size_t index);
    const char *(*report_warning_file)(const invivo_report *report, size_t index);
    uint32_t (*report_warning_line)(const invivo_report *report, size_t index);
    uint32_t (*report_warning_column)(const invivo_report *report, size_t index);
    uint32_t (*report_origin)(const invivo_report *report, size_t index);
    const char *(*report_layer)(const invivo_report *report, size_t index);
    const char *(*report_file)(const invivo_report *report, size_t index);
    uint32_t (*report_line)(const invivo_report *report, size_t index);
    uint32_t (*report_column)(const invivo_report *report, size_t index);
    invivo_status (*layers_set)(invivo_layers *layers, const char *property, const invivo_value *value, invivo_error **error);
    invivo_status (*layers_scale)(invivo_layers *layers, const char *property, double factor, invivo_error **error);
    invivo_status (*layers_offset)(invivo_layers *layers, const char *property, double amount, invivo_error **error);
    invivo_status (*changes_add_trait)(invivo_changes changes, const invivo_trait *trait, invivo_error **error);
    invivo_status (*changes_remove_trait)(invivo_changes changes, const char *name, invivo_error **error);
    invivo_status (*trait_add)(invivo_runtime runtime, const invivo_trait *trait, invivo_error **error);
    invivo_status (*trait_remove)(invivo_runtime runtime, const char *name, invivo_error **error);
    invivo_status (*runtime_refresh_environment)(invivo_runtime runtime, invivo_error **error);
    invivo_status (*runtime_advance)(invivo_runtime runtime, uint64_t nanoseconds, invivo_error **error);
    invivo_status (*property_text)(invivo_type type, const char *property, const invivo_value *value, invivo_value *out, invivo_error **error);
    invivo_status (*property_read)(invivo_type type, const char *property, const char *text, uint64_t length, invivo_value *out, invivo_error **error);
    invivo_status (*document_text)(invivo_runtime runtime, const char *name, uint32_t format, invivo_value *out, invivo_error **error);
    invivo_status (*traits_text)(invivo_runtime runtime, const char *key, const char *document, uint32_t format, invivo_value *out, invivo_error **error);
    invivo_status (*changes_bind_settings)(invivo_changes changes, const invivo_settings *settings, invivo_error **error);
    invivo_status (*changes_unbind_settings)(invivo_changes changes, const char *name, invivo_error **error);
    invivo_status (*settings_bind)(invivo_runtime runtime, const invivo_settings *settings, invivo_error **error);
    invivo_status (*settings_unbind)(invivo_runtime runtime, const char *name, invivo_error **error);
    invivo_status (*settings_id)(invivo_runtime runtime, const char *name, invivo_config *out, invivo_error **error);
    invivo_status (*settings_read)(invivo_view view, invivo_runtime runtime, invivo_config id, const void **out, invivo_error **error);
    invivo_status (*changes_add_secret)(invivo_changes changes, const char *path, invivo_error **error);
    invivo_status (*changes_remove_secret)(invivo_changes changes, const char *path, invivo_error **error);
    invivo_status (*config_is_secret)(invivo_runtime runtime, const char *path, bool *out, invivo_error **error);
    invivo_status (*settings_typed_id)(invivo_runtime runtime, const char *name, const char *type, uint64_t size, invivo_config *out, invivo_error **error);
    invivo_status (*settings_type_add)(invivo_runtime runtime, const invivo_settings_type *type, invivo_error **error);
    invivo_status (*context_declare_kinds)(invivo_runtime runtime, const invivo_context_kind *kinds, size_t count, invivo_error **error);
    invivo_status (*context_declare_key)(invivo_runtime runtime, const invivo_context_key *key, invivo_error **error);
    invivo_status (*context_open)(invivo_runtime runtime, const invivo_context_options *options, invivo_context *out, invivo_error **error);
    invivo_status (*context_end)(invivo_context context, invivo_error **error);
    invivo_status (*context_retain)(invivo_context context, invivo_error **error);
    invivo_status (*context_release)(invivo_context context, invivo_error **error);
    invivo_status (*context_get)(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error);
    invivo_status (*context_get_local)(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error);
    const invivo_value *(*view_context_value)(invivo_view view, invivo_context context, invivo_key key);
    invivo_status (*context_set)(invivo_context context, invivo_key key, const invivo_value *value, invivo_error **error);
    invivo_status (*context_remove)(invivo_context context, invivo_key key, invivo_error **error);
    invivo_status (*context_hide)(invivo_context context, invivo_key key, invivo_error **error);
    invivo_status (*context_change_values)(invivo_context context, const invivo_context_change *changes, size_t count, invivo_error **error);
    invivo_status (*context_entries)(invivo_context context, bool local, invivo_value *out, invivo_error **error);
    invivo_status (*context_observe)(invivo_context context, invivo_key key, const invivo_context_observer *options, invivo_observer *out, invivo_error **error);
    invivo_status (*context_parent)(invivo_context context, invivo_context *out, invivo_error **error);
    invivo_status (*context_kind_name)(invivo_context context, const char **out, invivo_error **error);
    invivo_status (*context_object)(invivo_context context, invivo_object *out, invivo_error **error);
    invivo_status (*context_runtime)(invivo_context context, invivo_runtime *out, invivo_error **error);
    invivo_status (*context_find)(invivo_context context, const invivo_context_query *query, invivo_context *out, invivo_error **error);
    invivo_status (*context_enter)(invivo_context context, invivo_error **error);
    invivo_status (*context_leave)(invivo_context context, invivo_error **error);
    invivo_context (*context_current)(invivo_runtime runtime);
    invivo_status (*context_attach)(invivo_context context, invivo_object object, invivo_error **error);
    invivo_status (*context_detach)(invivo_object object, invivo_error **error);
    invivo_status (*context_of)(invivo_object object, invivo_context *out, invivo_error **error);
    invivo_status (*context_end_with)(invivo_context context, const invivo_context_ending *options, invivo_value *leased, invivo_error **error);
    invivo_status (*context_failure)(invivo_context context, const char **message);
    invivo_status (*context_resolve)(invivo_context context, invivo_key key, invivo_object *out, invivo_error **error);
};

INVIVO_EXTERN_C_END

#endif
