/* What module code is linked with instead of the library. Written by scripts/generate from the other headers; do not edit.
 *
 * Each function goes through the table that the module was handed. Before it is handed one, a function that answers
 * a status answers INVIVO_E_NOT_READY, and every other a neutral value. Nothing here is visible outside the image that
 * it is linked into: two modules, or a module and the library, never see each other's. */
#include <string.h>

#pragma GCC visibility push(hidden)
#include "include/invivo_stubs.h"
#undef invivo_runtime_options_init /* defined below, as a function */

/* The note by which a file is known as a module before it is loaded: name, type 1, the ABI version. */
#if defined(__ELF__)
__attribute__((used, section(".note.invivo"), aligned(4))) static const struct {
    uint32_t name_size, data_size, type;
    char name[8];
    uint32_t abi_version;
} note = {sizeof(INVIVO_MODULE_NOTE_NAME), 4, 1, INVIVO_MODULE_NOTE_NAME, INVIVO_ABI_VERSION};
#endif

/* ---- before a table is there ---------------------------------------------------------------------------- */

static const char *not_ready_status_name(invivo_status status) {
    (void)status;
    return "";
}

static const char *not_ready_status_text(invivo_status status) {
    (void)status;
    return "";
}

static uint32_t not_ready_version(void) {
    return 0;
}

static const char *not_ready_version_text(void) {
    return "";
}

static invivo_error *not_ready_error_make(invivo_status code, const char *message, const char *path, invivo_error *cause) {
    (void)code;
    (void)message;
    (void)path;
    (void)cause;
    return 0;
}

static invivo_status not_ready_error_code(const invivo_error *error) {
    (void)error;
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_error_message(const invivo_error *error) {
    (void)error;
    return "";
}

static const char *not_ready_error_path(const invivo_error *error) {
    (void)error;
    return "";
}

static const char *not_ready_error_file(const invivo_error *error) {
    (void)error;
    return "";
}

static uint32_t not_ready_error_line(const invivo_error *error) {
    (void)error;
    return 0;
}

static uint32_t not_ready_error_column(const invivo_error *error) {
    (void)error;
    return 0;
}

static const invivo_error *not_ready_error_cause(const invivo_error *error) {
    (void)error;
    return 0;
}

static size_t not_ready_error_count(const invivo_error *error) {
    (void)error;
    return 0;
}

static const invivo_error *not_ready_error_at(const invivo_error *error, size_t index) {
    (void)error;
    (void)index;
    return 0;
}

static const char *not_ready_error_text(const invivo_error *error) {
    (void)error;
    return "";
}

static void not_ready_error_release(invivo_error *error) {
    (void)error;
}

static int not_ready_error_report(invivo_error *error) {
    (void)error;
    return 0;
}

static invivo_status not_ready_value_copy(invivo_value *out, const invivo_value *value, invivo_error **error) {
    if (out) memset(out, 0, sizeof(*out));
    (void)value;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static void not_ready_value_clear(invivo_value *value) {
    (void)value;
}

static invivo_status not_ready_value_convert(invivo_value *out, const invivo_value *value, invivo_kind kind, invivo_error **error) {
    if (out) memset(out, 0, sizeof(*out));
    (void)value;
    (void)kind;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_kind_name(invivo_kind kind) {
    (void)kind;
    return "";
}

static invivo_status not_ready_callable_make(invivo_runtime runtime, const invivo_callable_options *options, invivo_callable *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_callable_call(invivo_callable callable, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)callable;
    (void)arguments;
    (void)count;
    if (result) memset(result, 0, sizeof(*result));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_callable_retain(invivo_callable callable) {
    (void)callable;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_callable_release(invivo_callable callable) {
    (void)callable;
    return INVIVO_E_NOT_READY;
}

static void *not_ready_callable_user_data(invivo_callable callable, invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error)) {
    (void)callable;
    (void)invoke;
    return 0;
}

static invivo_status not_ready_type_register(invivo_runtime runtime, const invivo_type_options *options, invivo_type *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_type_find(invivo_runtime runtime, const char *name, invivo_type *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_type_name(invivo_type type) {
    (void)type;
    return "";
}

static uint64_t not_ready_type_property_count(invivo_type type) {
    (void)type;
    return 0;
}

static invivo_status not_ready_type_property_at(invivo_type type, uint64_t index, invivo_property *out) {
    (void)type;
    (void)index;
    (void)out;
    return INVIVO_E_NOT_READY;
}

static uint64_t not_ready_type_method_count(invivo_type type) {
    (void)type;
    return 0;
}

static invivo_status not_ready_type_method_at(invivo_type type, uint64_t index, invivo_method *out) {
    (void)type;
    (void)index;
    (void)out;
    return INVIVO_E_NOT_READY;
}

static void not_ready_runtime_options_init(invivo_runtime_options *options) {
    (void)options;
}

static invivo_status not_ready_runtime_open(invivo_runtime *out, const invivo_runtime_options *options, invivo_error **error) {
    if (out) memset(out, 0, sizeof(*out));
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_close(invivo_runtime runtime, invivo_error **error) {
    (void)runtime;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_close_deferred(invivo_runtime runtime, invivo_error **error) {
    (void)runtime;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_poll(invivo_runtime runtime, uint32_t timeout_ms, uint32_t *ran, invivo_error **error) {
    (void)runtime;
    (void)timeout_ms;
    (void)ran;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_descriptor(invivo_runtime runtime, int *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_thread_prepare(invivo_runtime runtime, invivo_error **error) {
    (void)runtime;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_domain_register(invivo_runtime runtime, const invivo_domain_options *options, invivo_domain *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_job_run(invivo_job job) {
    (void)job;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_job_drop(invivo_job job) {
    (void)job;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_inspect(invivo_runtime runtime, invivo_runtime_info *out, invivo_error **error) {
    (void)runtime;
    (void)out;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_last_error(invivo_runtime runtime, invivo_error **out) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    return INVIVO_E_NOT_READY;
}

static void not_ready_live(invivo_live_counts *out) {
    (void)out;
}

static invivo_status not_ready_object_retain(invivo_object object) {
    (void)object;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_release(invivo_object object) {
    (void)object;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_get(invivo_object object, const char *property, invivo_value *out, invivo_error **error) {
    (void)object;
    (void)property;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_set(invivo_object object, const char *property, const invivo_value *value, invivo_error **error) {
    (void)object;
    (void)property;
    (void)value;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_call(invivo_object object, const char *method, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)object;
    (void)method;
    (void)arguments;
    (void)count;
    if (result) memset(result, 0, sizeof(*result));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_instance(invivo_object object, invivo_type type, void **out, invivo_error **error) {
    (void)object;
    (void)type;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_type(invivo_object object, invivo_type *out, invivo_error **error) {
    (void)object;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_key(invivo_object object, invivo_key *out, invivo_error **error) {
    (void)object;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_runtime(invivo_object object, invivo_runtime *out, invivo_error **error) {
    (void)object;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)arguments;
    (void)count;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_object_wrap(invivo_runtime runtime, invivo_type type, void *instance, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)instance;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_target_attach(invivo_object object, const char *key, invivo_target *out, invivo_error **error) {
    (void)object;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_target_detach(invivo_target target, invivo_error **error) {
    (void)target;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_target_declare(invivo_runtime runtime, const char *key, invivo_type type, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)type;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_key_intern(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_key_find(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_key_name(invivo_key key) {
    (void)key;
    return "";
}

static const uint64_t *not_ready_key_version(invivo_key key) {
    (void)key;
    return 0;
}

static invivo_status not_ready_changes_open(invivo_runtime runtime, invivo_changes *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_define(invivo_changes changes, const invivo_definition *definition, invivo_key *out, invivo_error **error) {
    (void)changes;
    (void)definition;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_remove(invivo_changes changes, const char *key, invivo_error **error) {
    (void)changes;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_document(invivo_changes changes, const char *name, const char *text, uint64_t length, invivo_error **error) {
    (void)changes;
    (void)name;
    (void)text;
    (void)length;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_set(invivo_changes changes, const char *key, const char *property, const invivo_value *value, invivo_error **error) {
    (void)changes;
    (void)key;
    (void)property;
    (void)value;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_commit(invivo_changes changes, invivo_error **error) {
    (void)changes;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_submit(invivo_changes changes, invivo_error **error) {
    (void)changes;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static void not_ready_changes_discard(invivo_changes changes) {
    (void)changes;
}

static invivo_status not_ready_define(invivo_runtime runtime, const invivo_definition *definition, invivo_key *out, invivo_error **error) {
    (void)runtime;
    (void)definition;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_define_block(invivo_runtime runtime, const char *key, const invivo_block_options *block, invivo_key *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)block;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve(invivo_runtime runtime, invivo_key key, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve_with(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)arguments;
    (void)count;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve_name(invivo_runtime runtime, const char *name, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_peek(invivo_runtime runtime, invivo_key key, invivo_object *out) {
    (void)runtime;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    return INVIVO_E_NOT_READY;
}

static const invivo_graph no_graph = {0, 0, 0, NULL};

static invivo_view not_ready_view_begin(invivo_runtime runtime) {
    invivo_view view = {&no_graph, NULL};
    (void)runtime;
    return view;
}

static void not_ready_view_end(invivo_view view) {
    (void)view;
}

static invivo_key not_ready_view_key(invivo_view view, const char *name, size_t length) {
    (void)view;
    (void)name;
    (void)length;
    invivo_key none;
    memset(&none, 0, sizeof(none));
    return none;
}

static void *not_ready_view_get_confined(invivo_view view, invivo_key key) {
    (void)view;
    (void)key;
    return 0;
}

static invivo_status not_ready_source_open(invivo_runtime runtime, const invivo_source_options *options, invivo_source *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_watch(invivo_runtime runtime, const char *path, invivo_error **error) {
    (void)runtime;
    (void)path;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_source_update(invivo_source source, const char *text, uint64_t length, invivo_error **error) {
    (void)source;
    (void)text;
    (void)length;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_source_refresh(invivo_source source, invivo_error **error) {
    (void)source;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_source_close(invivo_source source, invivo_error **error) {
    (void)source;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static uint64_t not_ready_report_generation(const invivo_report *report) {
    (void)report;
    return 0;
}

static invivo_status not_ready_report_status(const invivo_report *report) {
    (void)report;
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_report_cause(const invivo_report *report) {
    (void)report;
    return "";
}

static const invivo_error *not_ready_report_error(const invivo_report *report) {
    (void)report;
    return 0;
}

static size_t not_ready_report_count(const invivo_report *report) {
    (void)report;
    return 0;
}

static const char *not_ready_report_key(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static uint32_t not_ready_report_change(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static const char *not_ready_report_property(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static uint64_t not_ready_report_nanoseconds(const invivo_report *report, uint32_t phase) {
    (void)report;
    (void)phase;
    return 0;
}

static const char *not_ready_report_text(const invivo_report *report) {
    (void)report;
    return "";
}

static invivo_status not_ready_observe(invivo_runtime runtime, const invivo_observer_options *options, invivo_observer *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_observer_close(invivo_observer observer, invivo_error **error) {
    (void)observer;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const invivo_table *not_ready_table_get(void) {
    return 0;
}

static invivo_status not_ready_module_load(invivo_runtime runtime, const char *path, invivo_module *out, invivo_error **error) {
    (void)runtime;
    (void)path;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_stubs_use(const invivo_table *table) {
    (void)table;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_share(invivo_runtime runtime, const invivo_token **out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_attach(const invivo_token *token, invivo_runtime *out, invivo_error **error) {
    (void)token;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_app_open(invivo_app *out, const invivo_app_options *options, invivo_error **error) {
    if (out) memset(out, 0, sizeof(*out));
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_app_runtime(invivo_app app, invivo_runtime *out, invivo_error **error) {
    (void)app;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_app_close(invivo_app app, invivo_error **error) {
    (void)app;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_app_needs_python(const char *manifest, bool *out, invivo_error **error) {
    (void)manifest;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_error *not_ready_error_make_at(invivo_status code, const char *message, const char *path, const char *file, uint32_t line, uint32_t column, invivo_error *cause) {
    (void)code;
    (void)message;
    (void)path;
    (void)file;
    (void)line;
    (void)column;
    (void)cause;
    return 0;
}

static invivo_error *not_ready_error_join(invivo_error *first, invivo_error *second) {
    (void)first;
    (void)second;
    return 0;
}

static uint64_t not_ready_type_parameter_count(invivo_type type) {
    (void)type;
    return 0;
}

static invivo_status not_ready_type_parameter_at(invivo_type type, uint64_t index, invivo_parameter *out) {
    (void)type;
    (void)index;
    if (out) memset(out, 0, sizeof(*out));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_callbacks_guard(const invivo_callbacks *callbacks, invivo_callbacks *out, invivo_error **error) {
    (void)callbacks;
    (void)out;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_callbacks_end(invivo_error **error) {
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve_optional(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)arguments;
    (void)count;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)name;
    (void)flags;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve_all(invivo_runtime runtime, const char *type, uint32_t flags, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)flags;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_inject(invivo_object object, invivo_key key, invivo_error **error) {
    (void)object;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_note_error(invivo_runtime runtime, const invivo_error *error) {
    (void)runtime;
    (void)error;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_override_begin(invivo_runtime runtime, const invivo_definition *definition, invivo_override *out, invivo_error **error) {
    (void)runtime;
    (void)definition;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_override_end(invivo_override override, invivo_error **error) {
    (void)override;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_target_detach_later(invivo_target target, invivo_error **error) {
    (void)target;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_error_rule(const invivo_error *error) {
    (void)error;
    return "";
}

static const char *not_ready_error_needed_by(const invivo_error *error) {
    (void)error;
    return "";
}

static invivo_status not_ready_changes_check(invivo_changes changes, invivo_error **error) {
    (void)changes;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_assembly_describe(invivo_runtime runtime, const invivo_assembly *assembly, invivo_error **error) {
    (void)runtime;
    (void)assembly;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_assembly_forget(invivo_runtime runtime, const char *name, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_assembly_state(invivo_runtime runtime, const char *name, uint32_t *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_activate(invivo_runtime runtime, const invivo_assembly *const *assemblies, size_t count, const invivo_activate_options *options, invivo_error **error) {
    (void)runtime;
    (void)assemblies;
    (void)count;
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_deactivate(invivo_runtime runtime, const char *const *names, size_t count, invivo_error **error) {
    (void)runtime;
    (void)names;
    (void)count;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_mount(invivo_runtime runtime, const invivo_assembly *assembly, const char *prefix, const invivo_remap *remaps, size_t count, invivo_error **error) {
    (void)runtime;
    (void)assembly;
    (void)prefix;
    (void)remaps;
    (void)count;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_activate(invivo_changes changes, const invivo_assembly *assembly, const invivo_activate_options *options, invivo_error **error) {
    (void)changes;
    (void)assembly;
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_deactivate(invivo_changes changes, const char *name, invivo_error **error) {
    (void)changes;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_mount(invivo_changes changes, const invivo_assembly *assembly, const char *prefix, const invivo_remap *remaps, size_t count, invivo_error **error) {
    (void)changes;
    (void)assembly;
    (void)prefix;
    (void)remaps;
    (void)count;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_graph_describe(invivo_runtime runtime, uint32_t format, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)format;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_app_check(const invivo_app_options *options, uint32_t format, invivo_value *graph, invivo_error **error) {
    (void)options;
    (void)format;
    (void)graph;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_process(invivo_changes changes, const invivo_processor *processor, invivo_error **error) {
    (void)changes;
    (void)processor;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_unprocess(invivo_changes changes, const char *name, invivo_error **error) {
    (void)changes;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_inject_with(invivo_object object, invivo_key key, uint32_t flags, invivo_error **error) {
    (void)object;
    (void)key;
    (void)flags;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_inject_tree(invivo_object root, const invivo_tree *tree, invivo_error **error) {
    (void)root;
    (void)tree;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_resolve_async(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, void (*resolved)(void *user_data, invivo_object object, const invivo_error *error), void *user_data, invivo_domain deliver, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)arguments;
    (void)count;
    (void)resolved;
    (void)user_data;
    (void)deliver;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_config_id(invivo_runtime runtime, const char *path, invivo_kind kind, invivo_config *out, invivo_error **error) {
    (void)runtime;
    (void)path;
    (void)kind;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_config_path(invivo_runtime runtime, invivo_config id) {
    (void)runtime;
    (void)id;
    return "";
}

static invivo_status not_ready_config_read(invivo_runtime runtime, const char *path, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)path;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_config_observe(invivo_runtime runtime, const char *path, const invivo_config_observer_options *options, invivo_observer *out, invivo_error **error) {
    (void)runtime;
    (void)path;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_configure(invivo_changes changes, const char *path, const invivo_value *value, invivo_error **error) {
    (void)changes;
    (void)path;
    (void)value;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_converter_register(invivo_runtime runtime, const invivo_converter_options *options, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_converter_unregister(invivo_runtime runtime, const char *name, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_convert(invivo_runtime runtime, const char *converter, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)converter;
    (void)text;
    (void)length;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_type_extend(invivo_runtime runtime, invivo_type type, const char *supertype, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)supertype;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_states(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_reset(invivo_changes changes, const char *key, uint32_t flags, invivo_error **error) {
    (void)changes;
    (void)key;
    (void)flags;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_reset_scope(invivo_changes changes, uint32_t scope, invivo_error **error) {
    (void)changes;
    (void)scope;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_start(invivo_runtime runtime, invivo_key key, invivo_error **error) {
    (void)runtime;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_stop(invivo_runtime runtime, invivo_key key, invivo_error **error) {
    (void)runtime;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const invivo_error *not_ready_report_stop_error(const invivo_report *report) {
    (void)report;
    return 0;
}

static invivo_status not_ready_pool_open(invivo_runtime runtime, const invivo_pool_options *options, invivo_pool *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_find(invivo_runtime runtime, const char *name, invivo_pool *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_close(invivo_pool pool, invivo_error **error) {
    (void)pool;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_get(invivo_pool pool, const invivo_value *key, invivo_pool_make make, void *user_data, invivo_object *out, invivo_error **error) {
    (void)pool;
    (void)key;
    (void)make;
    (void)user_data;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_peek(invivo_pool pool, const invivo_value *key, invivo_object *out) {
    (void)pool;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_peek_instance(invivo_pool pool, const invivo_value *key, invivo_type type, void **out, invivo_error **error) {
    (void)pool;
    (void)key;
    (void)type;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_put(invivo_pool pool, const invivo_value *key, invivo_object object, invivo_error **error) {
    (void)pool;
    (void)key;
    (void)object;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_remove(invivo_pool pool, const invivo_value *key, invivo_error **error) {
    (void)pool;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_list(invivo_pool pool, invivo_value *out, invivo_error **error) {
    (void)pool;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_count(invivo_pool pool, uint64_t *out, invivo_error **error) {
    (void)pool;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pool_clear(invivo_pool pool, uint64_t *count, invivo_error **error) {
    (void)pool;
    (void)count;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_key_outline(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_scope_register(invivo_runtime runtime, const invivo_scope_options *options, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_scope_end(invivo_runtime runtime, const char *name, uint64_t place, invivo_error **error) {
    (void)runtime;
    (void)name;
    (void)place;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static uint64_t not_ready_report_untracked(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static invivo_error *not_ready_error_copy(const invivo_error *error) {
    (void)error;
    return 0;
}

static invivo_status not_ready_runtime_retired(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_key_of_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags, invivo_key *out, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)name;
    (void)flags;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_sources(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status *not_ready_callbacks_cell(void) {
    return 0;
}

static void not_ready_runtime_options_init_sized(invivo_runtime_options *options, size_t struct_size) {
    (void)options;
    (void)struct_size;
}

static invivo_status not_ready_changes_watch(invivo_changes changes, const invivo_source_options *options, invivo_source *out, invivo_error **error) {
    (void)changes;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static size_t not_ready_report_warning_count(const invivo_report *report) {
    (void)report;
    return 0;
}

static const char *not_ready_report_warning(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static invivo_status not_ready_key_describe(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_generation(invivo_runtime runtime, uint64_t *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const invivo_value *not_ready_view_config_late(invivo_view view, invivo_config id) {
    (void)view;
    (void)id;
    return 0;
}

static invivo_status not_ready_changes_expect(invivo_changes changes, uint64_t generation, invivo_error **error) {
    (void)changes;
    (void)generation;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const char *not_ready_report_location(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static uint64_t not_ready_report_omitted(const invivo_report *report) {
    (void)report;
    return 0;
}

static invivo_status not_ready_runtime_reports(invivo_runtime runtime, invivo_report_visit visit, void *user_data, invivo_error **error) {
    (void)runtime;
    (void)visit;
    (void)user_data;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_pin not_ready_pin_begin(invivo_runtime runtime, const invivo_place *place) {
    (void)runtime;
    (void)place;
    invivo_pin none;
    memset(&none, 0, sizeof(none));
    return none;
}

static invivo_pin not_ready_pin_hold(invivo_runtime runtime, const invivo_place *place) {
    (void)runtime;
    (void)place;
    invivo_pin none;
    memset(&none, 0, sizeof(none));
    return none;
}

static invivo_status not_ready_pin_enter(invivo_pin pin, invivo_pin *out, invivo_error **error) {
    (void)pin;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_pin_end(invivo_pin pin) {
    (void)pin;
    return INVIVO_E_NOT_READY;
}

static uint64_t not_ready_pin_generation(invivo_pin pin) {
    (void)pin;
    return 0;
}

static invivo_pin not_ready_pin_current(invivo_runtime runtime) {
    (void)runtime;
    invivo_pin none;
    memset(&none, 0, sizeof(none));
    return none;
}

static invivo_status not_ready_source_retry(invivo_source source, invivo_error **error) {
    (void)source;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_rollback(invivo_runtime runtime, uint64_t generation, invivo_error **error) {
    (void)runtime;
    (void)generation;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_rollback(invivo_changes changes, uint64_t generation, invivo_error **error) {
    (void)changes;
    (void)generation;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_history(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_mark(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_unmark(invivo_runtime runtime, const char *name, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_marked(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_add_rule(invivo_changes changes, const invivo_rule *rule, invivo_error **error) {
    (void)changes;
    (void)rule;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_remove_rule(invivo_changes changes, const char *name, invivo_error **error) {
    (void)changes;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_rule_add(invivo_runtime runtime, const invivo_rule *rule, invivo_error **error) {
    (void)runtime;
    (void)rule;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_rule_remove(invivo_runtime runtime, const char *name, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_effect(invivo_runtime runtime, invivo_status (*undo)(void *user_data, invivo_error **error), void *user_data, invivo_error **error) {
    (void)runtime;
    (void)undo;
    (void)user_data;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_child(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)arguments;
    (void)count;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_child_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    (void)runtime;
    (void)type;
    (void)arguments;
    (void)count;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_observer_generation(invivo_observer observer, uint64_t *out, invivo_error **error) {
    (void)observer;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_status(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    (void)runtime;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_options_read(invivo_runtime runtime, invivo_runtime_options *out, invivo_error **error) {
    (void)runtime;
    (void)out;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_options_change(invivo_runtime runtime, const invivo_runtime_options *options, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static size_t not_ready_report_cause_count(const invivo_report *report) {
    (void)report;
    return 0;
}

static uint32_t not_ready_report_cause_kind(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static const char *not_ready_report_cause_name(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static uint32_t not_ready_report_warning_kind(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static const char *not_ready_report_warning_file(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static uint32_t not_ready_report_warning_line(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static uint32_t not_ready_report_warning_column(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static uint32_t not_ready_report_origin(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static const char *not_ready_report_layer(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static const char *not_ready_report_file(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return "";
}

static uint32_t not_ready_report_line(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static uint32_t not_ready_report_column(const invivo_report *report, size_t index) {
    (void)report;
    (void)index;
    return 0;
}

static invivo_status not_ready_layers_set(invivo_layers *layers, const char *property, const invivo_value *value, invivo_error **error) {
    (void)layers;
    (void)property;
    (void)value;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_layers_scale(invivo_layers *layers, const char *property, double factor, invivo_error **error) {
    (void)layers;
    (void)property;
    (void)factor;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_layers_offset(invivo_layers *layers, const char *property, double amount, invivo_error **error) {
    (void)layers;
    (void)property;
    (void)amount;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_add_trait(invivo_changes changes, const invivo_trait *trait, invivo_error **error) {
    (void)changes;
    (void)trait;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_remove_trait(invivo_changes changes, const char *name, invivo_error **error) {
    (void)changes;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_trait_add(invivo_runtime runtime, const invivo_trait *trait, invivo_error **error) {
    (void)runtime;
    (void)trait;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_trait_remove(invivo_runtime runtime, const char *name, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_refresh_environment(invivo_runtime runtime, invivo_error **error) {
    (void)runtime;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_runtime_advance(invivo_runtime runtime, uint64_t nanoseconds, invivo_error **error) {
    (void)runtime;
    (void)nanoseconds;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_property_text(invivo_type type, const char *property, const invivo_value *value, invivo_value *out, invivo_error **error) {
    (void)type;
    (void)property;
    (void)value;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_property_read(invivo_type type, const char *property, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)type;
    (void)property;
    (void)text;
    (void)length;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_document_text(invivo_runtime runtime, const char *name, uint32_t format, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    (void)format;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_traits_text(invivo_runtime runtime, const char *key, const char *document, uint32_t format, invivo_value *out, invivo_error **error) {
    (void)runtime;
    (void)key;
    (void)document;
    (void)format;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_bind_settings(invivo_changes changes, const invivo_settings *settings, invivo_error **error) {
    (void)changes;
    (void)settings;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_unbind_settings(invivo_changes changes, const char *name, invivo_error **error) {
    (void)changes;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_settings_bind(invivo_runtime runtime, const invivo_settings *settings, invivo_error **error) {
    (void)runtime;
    (void)settings;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_settings_unbind(invivo_runtime runtime, const char *name, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_settings_id(invivo_runtime runtime, const char *name, invivo_config *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_settings_read(invivo_view view, invivo_runtime runtime, invivo_config id, const void **out, invivo_error **error) {
    (void)view;
    (void)runtime;
    (void)id;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_add_secret(invivo_changes changes, const char *path, invivo_error **error) {
    (void)changes;
    (void)path;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_changes_remove_secret(invivo_changes changes, const char *path, invivo_error **error) {
    (void)changes;
    (void)path;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_config_is_secret(invivo_runtime runtime, const char *path, bool *out, invivo_error **error) {
    (void)runtime;
    (void)path;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_settings_typed_id(invivo_runtime runtime, const char *name, const char *type, uint64_t size, invivo_config *out, invivo_error **error) {
    (void)runtime;
    (void)name;
    (void)type;
    (void)size;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_settings_type_add(invivo_runtime runtime, const invivo_settings_type *type, invivo_error **error) {
    (void)runtime;
    (void)type;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_declare_kinds(invivo_runtime runtime, const invivo_context_kind *kinds, size_t count, invivo_error **error) {
    (void)runtime;
    (void)kinds;
    (void)count;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_declare_key(invivo_runtime runtime, const invivo_context_key *key, invivo_error **error) {
    (void)runtime;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_open(invivo_runtime runtime, const invivo_context_options *options, invivo_context *out, invivo_error **error) {
    (void)runtime;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_end(invivo_context context, invivo_error **error) {
    (void)context;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_retain(invivo_context context, invivo_error **error) {
    (void)context;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_release(invivo_context context, invivo_error **error) {
    (void)context;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_get(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error) {
    (void)context;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_get_local(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error) {
    (void)context;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const invivo_value *not_ready_view_context_value(invivo_view view, invivo_context context, invivo_key key) {
    (void)view;
    (void)context;
    (void)key;
    return 0;
}

static invivo_status not_ready_context_set(invivo_context context, invivo_key key, const invivo_value *value, invivo_error **error) {
    (void)context;
    (void)key;
    (void)value;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_remove(invivo_context context, invivo_key key, invivo_error **error) {
    (void)context;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_hide(invivo_context context, invivo_key key, invivo_error **error) {
    (void)context;
    (void)key;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_change_values(invivo_context context, const invivo_context_change *changes, size_t count, invivo_error **error) {
    (void)context;
    (void)changes;
    (void)count;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_entries(invivo_context context, bool local, invivo_value *out, invivo_error **error) {
    (void)context;
    (void)local;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_observe(invivo_context context, invivo_key key, const invivo_context_observer *options, invivo_observer *out, invivo_error **error) {
    (void)context;
    (void)key;
    (void)options;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_parent(invivo_context context, invivo_context *out, invivo_error **error) {
    (void)context;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_kind_name(invivo_context context, const char **out, invivo_error **error) {
    (void)context;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_object(invivo_context context, invivo_object *out, invivo_error **error) {
    (void)context;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_runtime(invivo_context context, invivo_runtime *out, invivo_error **error) {
    (void)context;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_find(invivo_context context, const invivo_context_query *query, invivo_context *out, invivo_error **error) {
    (void)context;
    (void)query;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_enter(invivo_context context, invivo_error **error) {
    (void)context;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_leave(invivo_context context, invivo_error **error) {
    (void)context;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_context not_ready_context_current(invivo_runtime runtime) {
    (void)runtime;
    invivo_context none;
    memset(&none, 0, sizeof(none));
    return none;
}

static invivo_status not_ready_context_attach(invivo_context context, invivo_object object, invivo_error **error) {
    (void)context;
    (void)object;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_detach(invivo_object object, invivo_error **error) {
    (void)object;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_of(invivo_object object, invivo_context *out, invivo_error **error) {
    (void)object;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_end_with(invivo_context context, const invivo_context_ending *options, invivo_value *leased, invivo_error **error) {
    (void)context;
    (void)options;
    (void)leased;
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_failure(invivo_context context, const char **message) {
    (void)context;
    (void)message;
    return INVIVO_E_NOT_READY;
}

static invivo_status not_ready_context_resolve(invivo_context context, invivo_key key, invivo_object *out, invivo_error **error) {
    (void)context;
    (void)key;
    if (out) memset(out, 0, sizeof(*out));
    if (error) memset(error, 0, sizeof(*error));
    return INVIVO_E_NOT_READY;
}

static const struct invivo_table not_ready = {
    .struct_size = sizeof(struct invivo_table),
    .abi_version = INVIVO_ABI_VERSION,
    .function_count = 276,
    .status_name = not_ready_status_name,
    .status_text = not_ready_status_text,
    .version = not_ready_version,
    .version_text = not_ready_version_text,
    .error_make = not_ready_error_make,
    .error_code = not_ready_error_code,
    .error_message = not_ready_error_message,
    .error_path = not_ready_error_path,
    .error_file = not_ready_error_file,
    .error_line = not_ready_error_line,
    .error_column = not_ready_error_column,
    .error_cause = not_ready_error_cause,
    .error_count = not_ready_error_count,
    .error_at = not_ready_error_at,
    .error_text = not_ready_error_text,
    .error_release = not_ready_error_release,
    .error_report = not_ready_error_report,
    .value_copy = not_ready_value_copy,
    .value_clear = not_ready_value_clear,
    .value_convert = not_ready_value_convert,
    .kind_name = not_ready_kind_name,
    .callable_make = not_ready_callable_make,
    .callable_call = not_ready_callable_call,
    .callable_retain = not_ready_callable_retain,
    .callable_release = not_ready_callable_release,
    .callable_user_data = not_ready_callable_user_data,
    .type_register = not_ready_type_register,
    .type_find = not_ready_type_find,
    .type_name = not_ready_type_name,
    .type_property_count = not_ready_type_property_count,
    .type_property_at = not_ready_type_property_at,
    .type_method_count = not_ready_type_method_count,
    .type_method_at = not_ready_type_method_at,
    .runtime_options_init = not_ready_runtime_options_init,
    .runtime_open = not_ready_runtime_open,
    .runtime_close = not_ready_runtime_close,
    .runtime_close_deferred = not_ready_runtime_close_deferred,
    .runtime_poll = not_ready_runtime_poll,
    .runtime_descriptor = not_ready_runtime_descriptor,
    .thread_prepare = not_ready_thread_prepare,
    .domain_register = not_ready_domain_register,
    .job_run = not_ready_job_run,
    .job_drop = not_ready_job_drop,
    .runtime_inspect = not_ready_runtime_inspect,
    .runtime_last_error = not_ready_runtime_last_error,
    .live = not_ready_live,
    .object_retain = not_ready_object_retain,
    .object_release = not_ready_object_release,
    .object_get = not_ready_object_get,
    .object_set = not_ready_object_set,
    .object_call = not_ready_object_call,
    .object_instance = not_ready_object_instance,
    .object_type = not_ready_object_type,
    .object_key = not_ready_object_key,
    .object_runtime = not_ready_object_runtime,
    .object_make = not_ready_object_make,
    .object_wrap = not_ready_object_wrap,
    .target_attach = not_ready_target_attach,
    .target_detach = not_ready_target_detach,
    .target_declare = not_ready_target_declare,
    .key_intern = not_ready_key_intern,
    .key_find = not_ready_key_find,
    .key_name = not_ready_key_name,
    .key_version = not_ready_key_version,
    .changes_open = not_ready_changes_open,
    .changes_define = not_ready_changes_define,
    .changes_remove = not_ready_changes_remove,
    .changes_document = not_ready_changes_document,
    .changes_set = not_ready_changes_set,
    .changes_commit = not_ready_changes_commit,
    .changes_submit = not_ready_changes_submit,
    .changes_discard = not_ready_changes_discard,
    .define = not_ready_define,
    .define_block = not_ready_define_block,
    .resolve = not_ready_resolve,
    .resolve_with = not_ready_resolve_with,
    .resolve_name = not_ready_resolve_name,
    .peek = not_ready_peek,
    .view_begin = not_ready_view_begin,
    .view_end = not_ready_view_end,
    .view_key = not_ready_view_key,
    .view_get_confined = not_ready_view_get_confined,
    .source_open = not_ready_source_open,
    .watch = not_ready_watch,
    .source_update = not_ready_source_update,
    .source_refresh = not_ready_source_refresh,
    .source_close = not_ready_source_close,
    .report_generation = not_ready_report_generation,
    .report_status = not_ready_report_status,
    .report_cause = not_ready_report_cause,
    .report_error = not_ready_report_error,
    .report_count = not_ready_report_count,
    .report_key = not_ready_report_key,
    .report_change = not_ready_report_change,
    .report_property = not_ready_report_property,
    .report_nanoseconds = not_ready_report_nanoseconds,
    .report_text = not_ready_report_text,
    .observe = not_ready_observe,
    .observer_close = not_ready_observer_close,
    .table_get = not_ready_table_get,
    .module_load = not_ready_module_load,
    .stubs_use = not_ready_stubs_use,
    .share = not_ready_share,
    .attach = not_ready_attach,
    .app_open = not_ready_app_open,
    .app_runtime = not_ready_app_runtime,
    .app_close = not_ready_app_close,
    .app_needs_python = not_ready_app_needs_python,
    .error_make_at = not_ready_error_make_at,
    .error_join = not_ready_error_join,
    .type_parameter_count = not_ready_type_parameter_count,
    .type_parameter_at = not_ready_type_parameter_at,
    .callbacks_guard = not_ready_callbacks_guard,
    .callbacks_end = not_ready_callbacks_end,
    .resolve_optional = not_ready_resolve_optional,
    .resolve_type = not_ready_resolve_type,
    .resolve_all = not_ready_resolve_all,
    .inject = not_ready_inject,
    .runtime_note_error = not_ready_runtime_note_error,
    .override_begin = not_ready_override_begin,
    .override_end = not_ready_override_end,
    .target_detach_later = not_ready_target_detach_later,
    .error_rule = not_ready_error_rule,
    .error_needed_by = not_ready_error_needed_by,
    .changes_check = not_ready_changes_check,
    .assembly_describe = not_ready_assembly_describe,
    .assembly_forget = not_ready_assembly_forget,
    .assembly_state = not_ready_assembly_state,
    .activate = not_ready_activate,
    .deactivate = not_ready_deactivate,
    .mount = not_ready_mount,
    .changes_activate = not_ready_changes_activate,
    .changes_deactivate = not_ready_changes_deactivate,
    .changes_mount = not_ready_changes_mount,
    .graph_describe = not_ready_graph_describe,
    .app_check = not_ready_app_check,
    .changes_process = not_ready_changes_process,
    .changes_unprocess = not_ready_changes_unprocess,
    .inject_with = not_ready_inject_with,
    .inject_tree = not_ready_inject_tree,
    .resolve_async = not_ready_resolve_async,
    .config_id = not_ready_config_id,
    .config_path = not_ready_config_path,
    .config_read = not_ready_config_read,
    .config_observe = not_ready_config_observe,
    .changes_configure = not_ready_changes_configure,
    .converter_register = not_ready_converter_register,
    .converter_unregister = not_ready_converter_unregister,
    .convert = not_ready_convert,
    .type_extend = not_ready_type_extend,
    .runtime_states = not_ready_runtime_states,
    .changes_reset = not_ready_changes_reset,
    .changes_reset_scope = not_ready_changes_reset_scope,
    .start = not_ready_start,
    .stop = not_ready_stop,
    .report_stop_error = not_ready_report_stop_error,
    .pool_open = not_ready_pool_open,
    .pool_find = not_ready_pool_find,
    .pool_close = not_ready_pool_close,
    .pool_get = not_ready_pool_get,
    .pool_peek = not_ready_pool_peek,
    .pool_peek_instance = not_ready_pool_peek_instance,
    .pool_put = not_ready_pool_put,
    .pool_remove = not_ready_pool_remove,
    .pool_list = not_ready_pool_list,
    .pool_count = not_ready_pool_count,
    .pool_clear = not_ready_pool_clear,
    .key_outline = not_ready_key_outline,
    .scope_register = not_ready_scope_register,
    .scope_end = not_ready_scope_end,
    .report_untracked = not_ready_report_untracked,
    .error_copy = not_ready_error_copy,
    .runtime_retired = not_ready_runtime_retired,
    .key_of_type = not_ready_key_of_type,
    .runtime_sources = not_ready_runtime_sources,
    .callbacks_cell = not_ready_callbacks_cell,
    .runtime_options_init_sized = not_ready_runtime_options_init_sized,
    .changes_watch = not_ready_changes_watch,
    .report_warning_count = not_ready_report_warning_count,
    .report_warning = not_ready_report_warning,
    .key_describe = not_ready_key_describe,
    .runtime_generation = not_ready_runtime_generation,
    .view_config_late = not_ready_view_config_late,
    .changes_expect = not_ready_changes_expect,
    .report_location = not_ready_report_location,
    .report_omitted = not_ready_report_omitted,
    .runtime_reports = not_ready_runtime_reports,
    .pin_begin = not_ready_pin_begin,
    .pin_hold = not_ready_pin_hold,
    .pin_enter = not_ready_pin_enter,
    .pin_end = not_ready_pin_end,
    .pin_generation = not_ready_pin_generation,
    .pin_current = not_ready_pin_current,
    .source_retry = not_ready_source_retry,
    .rollback = not_ready_rollback,
    .changes_rollback = not_ready_changes_rollback,
    .runtime_history = not_ready_runtime_history,
    .mark = not_ready_mark,
    .unmark = not_ready_unmark,
    .marked = not_ready_marked,
    .changes_add_rule = not_ready_changes_add_rule,
    .changes_remove_rule = not_ready_changes_remove_rule,
    .rule_add = not_ready_rule_add,
    .rule_remove = not_ready_rule_remove,
    .effect = not_ready_effect,
    .child = not_ready_child,
    .child_make = not_ready_child_make,
    .observer_generation = not_ready_observer_generation,
    .runtime_status = not_ready_runtime_status,
    .runtime_options_read = not_ready_runtime_options_read,
    .runtime_options_change = not_ready_runtime_options_change,
    .report_cause_count = not_ready_report_cause_count,
    .report_cause_kind = not_ready_report_cause_kind,
    .report_cause_name = not_ready_report_cause_name,
    .report_warning_kind = not_ready_report_warning_kind,
    .report_warning_file = not_ready_report_warning_file,
    .report_warning_line = not_ready_report_warning_line,
    .report_warning_column = not_ready_report_warning_column,
    .report_origin = not_ready_report_origin,
    .report_layer = not_ready_report_layer,
    .report_file = not_ready_report_file,
    .report_line = not_ready_report_line,
    .report_column = not_ready_report_column,
    .layers_set = not_ready_layers_set,
    .layers_scale = not_ready_layers_scale,
    .layers_offset = not_ready_layers_offset,
    .changes_add_trait = not_ready_changes_add_trait,
    .changes_remove_trait = not_ready_changes_remove_trait,
    .trait_add = not_ready_trait_add,
    .trait_remove = not_ready_trait_remove,
    .runtime_refresh_environment = not_ready_runtime_refresh_environment,
    .runtime_advance = not_ready_runtime_advance,
    .property_text = not_ready_property_text,
    .property_read = not_ready_property_read,
    .document_text = not_ready_document_text,
    .traits_text = not_ready_traits_text,
    .changes_bind_settings = not_ready_changes_bind_settings,
    .changes_unbind_settings = not_ready_changes_unbind_settings,
    .settings_bind = not_ready_settings_bind,
    .settings_unbind = not_ready_settings_unbind,
    .settings_id = not_ready_settings_id,
    .settings_read = not_ready_settings_read,
    .changes_add_secret = not_ready_changes_add_secret,
    .changes_remove_secret = not_ready_changes_remove_secret,
    .config_is_secret = not_ready_config_is_secret,
    .settings_typed_id = not_ready_settings_typed_id,
    .settings_type_add = not_ready_settings_type_add,
    .context_declare_kinds = not_ready_context_declare_kinds,
    .context_declare_key = not_ready_context_declare_key,
    .context_open = not_ready_context_open,
    .context_end = not_ready_context_end,
    .context_retain = not_ready_context_retain,
    .context_release = not_ready_context_release,
    .context_get = not_ready_context_get,
    .context_get_local = not_ready_context_get_local,
    .view_context_value = not_ready_view_context_value,
    .context_set = not_ready_context_set,
    .context_remove = not_ready_context_remove,
    .context_hide = not_ready_context_hide,
    .context_change_values = not_ready_context_change_values,
    .context_entries = not_ready_context_entries,
    .context_observe = not_ready_context_observe,
    .context_parent = not_ready_context_parent,
    .context_kind_name = not_ready_context_kind_name,
    .context_object = not_ready_context_object,
    .context_runtime = not_ready_context_runtime,
    .context_find = not_ready_context_find,
    .context_enter = not_ready_context_enter,
    .context_leave = not_ready_context_leave,
    .context_current = not_ready_context_current,
    .context_attach = not_ready_context_attach,
    .context_detach = not_ready_context_detach,
    .context_of = not_ready_context_of,
    .context_end_with = not_ready_context_end_with,
    .context_failure = not_ready_context_failure,
    .context_resolve = not_ready_context_resolve,
};

/* Set once as a rule, by the module's entry, before anything else of the module runs. */
static const struct invivo_table *current = &not_ready;

static const struct invivo_table *functions(void) { return __atomic_load_n(&current, __ATOMIC_ACQUIRE); }

/* ---- the table ------------------------------------------------------------------------------------------ */

const invivo_table *invivo_table_get(void) {
    const struct invivo_table *table = functions();
    return table == &not_ready ? NULL : table;
}

invivo_status invivo_stubs_use(const invivo_table *table) {
    if (!table) return INVIVO_E_ARGUMENT;
    if (table->abi_version != INVIVO_ABI_VERSION || table->struct_size < sizeof(struct invivo_table))
        return INVIVO_E_VERSION;
    __atomic_store_n(&current, table, __ATOMIC_RELEASE);
    return INVIVO_OK;
}

/* Joining a runtime means joining the copy of the library that it belongs to. */
invivo_status invivo_attach(const invivo_token *token, invivo_runtime *out, invivo_error **error) {
    invivo_status status;
    if (out) out->bits = 0;
    if (error) *error = NULL;
    if (!token) return INVIVO_E_ARGUMENT;
    if (token->magic != INVIVO_TOKEN_MAGIC) return INVIVO_E_HANDLE;
    status = invivo_stubs_use(token->table);
    return status ? status : functions()->attach(token, out, error);
}

/* ---- everything else ------------------------------------------------------------------------------------ */

const char *invivo_status_name(invivo_status status) {
    return functions()->status_name(status);
}

const char *invivo_status_text(invivo_status status) {
    return functions()->status_text(status);
}

uint32_t invivo_version(void) {
    return functions()->version();
}

const char *invivo_version_text(void) {
    return functions()->version_text();
}

invivo_error *invivo_error_make(invivo_status code, const char *message, const char *path, invivo_error *cause) {
    return functions()->error_make(code, message, path, cause);
}

invivo_status invivo_error_code(const invivo_error *error) {
    return functions()->error_code(error);
}

const char *invivo_error_message(const invivo_error *error) {
    return functions()->error_message(error);
}

const char *invivo_error_path(const invivo_error *error) {
    return functions()->error_path(error);
}

const char *invivo_error_file(const invivo_error *error) {
    return functions()->error_file(error);
}

uint32_t invivo_error_line(const invivo_error *error) {
    return functions()->error_line(error);
}

uint32_t invivo_error_column(const invivo_error *error) {
    return functions()->error_column(error);
}

const invivo_error *invivo_error_cause(const invivo_error *error) {
    return functions()->error_cause(error);
}

size_t invivo_error_count(const invivo_error *error) {
    return functions()->error_count(error);
}

const invivo_error *invivo_error_at(const invivo_error *error, size_t index) {
    return functions()->error_at(error, index);
}

const char *invivo_error_text(const invivo_error *error) {
    return functions()->error_text(error);
}

void invivo_error_release(invivo_error *error) {
    functions()->error_release(error);
}

int invivo_error_report(invivo_error *error) {
    return functions()->error_report(error);
}

invivo_status invivo_value_copy(invivo_value *out, const invivo_value *value, invivo_error **error) {
    return functions()->value_copy(out, value, error);
}

void invivo_value_clear(invivo_value *value) {
    functions()->value_clear(value);
}

invivo_status invivo_value_convert(invivo_value *out, const invivo_value *value, invivo_kind kind, invivo_error **error) {
    return functions()->value_convert(out, value, kind, error);
}

const char *invivo_kind_name(invivo_kind kind) {
    return functions()->kind_name(kind);
}

invivo_status invivo_callable_make(invivo_runtime runtime, const invivo_callable_options *options, invivo_callable *out, invivo_error **error) {
    return functions()->callable_make(runtime, options, out, error);
}

invivo_status invivo_callable_call(invivo_callable callable, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    return functions()->callable_call(callable, arguments, count, result, error);
}

invivo_status invivo_callable_retain(invivo_callable callable) {
    return functions()->callable_retain(callable);
}

invivo_status invivo_callable_release(invivo_callable callable) {
    return functions()->callable_release(callable);
}

void *invivo_callable_user_data(invivo_callable callable, invivo_status (*invoke)(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error)) {
    return functions()->callable_user_data(callable, invoke);
}

invivo_status invivo_type_register(invivo_runtime runtime, const invivo_type_options *options, invivo_type *out, invivo_error **error) {
    return functions()->type_register(runtime, options, out, error);
}

invivo_status invivo_type_find(invivo_runtime runtime, const char *name, invivo_type *out, invivo_error **error) {
    return functions()->type_find(runtime, name, out, error);
}

const char *invivo_type_name(invivo_type type) {
    return functions()->type_name(type);
}

uint64_t invivo_type_property_count(invivo_type type) {
    return functions()->type_property_count(type);
}

invivo_status invivo_type_property_at(invivo_type type, uint64_t index, invivo_property *out) {
    return functions()->type_property_at(type, index, out);
}

uint64_t invivo_type_method_count(invivo_type type) {
    return functions()->type_method_count(type);
}

invivo_status invivo_type_method_at(invivo_type type, uint64_t index, invivo_method *out) {
    return functions()->type_method_at(type, index, out);
}

void invivo_runtime_options_init(invivo_runtime_options *options) {
    functions()->runtime_options_init(options);
}

invivo_status invivo_runtime_open(invivo_runtime *out, const invivo_runtime_options *options, invivo_error **error) {
    return functions()->runtime_open(out, options, error);
}

invivo_status invivo_runtime_close(invivo_runtime runtime, invivo_error **error) {
    return functions()->runtime_close(runtime, error);
}

invivo_status invivo_runtime_close_deferred(invivo_runtime runtime, invivo_error **error) {
    return functions()->runtime_close_deferred(runtime, error);
}

invivo_status invivo_runtime_poll(invivo_runtime runtime, uint32_t timeout_ms, uint32_t *ran, invivo_error **error) {
    return functions()->runtime_poll(runtime, timeout_ms, ran, error);
}

invivo_status invivo_runtime_descriptor(invivo_runtime runtime, int *out, invivo_error **error) {
    return functions()->runtime_descriptor(runtime, out, error);
}

invivo_status invivo_thread_prepare(invivo_runtime runtime, invivo_error **error) {
    return functions()->thread_prepare(runtime, error);
}

invivo_status invivo_domain_register(invivo_runtime runtime, const invivo_domain_options *options, invivo_domain *out, invivo_error **error) {
    return functions()->domain_register(runtime, options, out, error);
}

invivo_status invivo_job_run(invivo_job job) {
    return functions()->job_run(job);
}

invivo_status invivo_job_drop(invivo_job job) {
    return functions()->job_drop(job);
}

invivo_status invivo_runtime_inspect(invivo_runtime runtime, invivo_runtime_info *out, invivo_error **error) {
    return functions()->runtime_inspect(runtime, out, error);
}

invivo_status invivo_runtime_last_error(invivo_runtime runtime, invivo_error **out) {
    return functions()->runtime_last_error(runtime, out);
}

void invivo_live(invivo_live_counts *out) {
    functions()->live(out);
}

invivo_status invivo_object_retain(invivo_object object) {
    return functions()->object_retain(object);
}

invivo_status invivo_object_release(invivo_object object) {
    return functions()->object_release(object);
}

invivo_status invivo_object_get(invivo_object object, const char *property, invivo_value *out, invivo_error **error) {
    return functions()->object_get(object, property, out, error);
}

invivo_status invivo_object_set(invivo_object object, const char *property, const invivo_value *value, invivo_error **error) {
    return functions()->object_set(object, property, value, error);
}

invivo_status invivo_object_call(invivo_object object, const char *method, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    return functions()->object_call(object, method, arguments, count, result, error);
}

invivo_status invivo_object_instance(invivo_object object, invivo_type type, void **out, invivo_error **error) {
    return functions()->object_instance(object, type, out, error);
}

invivo_status invivo_object_type(invivo_object object, invivo_type *out, invivo_error **error) {
    return functions()->object_type(object, out, error);
}

invivo_status invivo_object_key(invivo_object object, invivo_key *out, invivo_error **error) {
    return functions()->object_key(object, out, error);
}

invivo_status invivo_object_runtime(invivo_object object, invivo_runtime *out, invivo_error **error) {
    return functions()->object_runtime(object, out, error);
}

invivo_status invivo_object_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    return functions()->object_make(runtime, type, arguments, count, out, error);
}

invivo_status invivo_object_wrap(invivo_runtime runtime, invivo_type type, void *instance, invivo_object *out, invivo_error **error) {
    return functions()->object_wrap(runtime, type, instance, out, error);
}

invivo_status invivo_target_attach(invivo_object object, const char *key, invivo_target *out, invivo_error **error) {
    return functions()->target_attach(object, key, out, error);
}

invivo_status invivo_target_detach(invivo_target target, invivo_error **error) {
    return functions()->target_detach(target, error);
}

invivo_status invivo_target_declare(invivo_runtime runtime, const char *key, invivo_type type, invivo_error **error) {
    return functions()->target_declare(runtime, key, type, error);
}

invivo_status invivo_key_intern(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) {
    return functions()->key_intern(runtime, name, out, error);
}

invivo_status invivo_key_find(invivo_runtime runtime, const char *name, invivo_key *out, invivo_error **error) {
    return functions()->key_find(runtime, name, out, error);
}

const char *invivo_key_name(invivo_key key) {
    return functions()->key_name(key);
}

const uint64_t *invivo_key_version(invivo_key key) {
    return functions()->key_version(key);
}

invivo_status invivo_changes_open(invivo_runtime runtime, invivo_changes *out, invivo_error **error) {
    return functions()->changes_open(runtime, out, error);
}

invivo_status invivo_changes_define(invivo_changes changes, const invivo_definition *definition, invivo_key *out, invivo_error **error) {
    return functions()->changes_define(changes, definition, out, error);
}

invivo_status invivo_changes_remove(invivo_changes changes, const char *key, invivo_error **error) {
    return functions()->changes_remove(changes, key, error);
}

invivo_status invivo_changes_document(invivo_changes changes, const char *name, const char *text, uint64_t length, invivo_error **error) {
    return functions()->changes_document(changes, name, text, length, error);
}

invivo_status invivo_changes_set(invivo_changes changes, const char *key, const char *property, const invivo_value *value, invivo_error **error) {
    return functions()->changes_set(changes, key, property, value, error);
}

invivo_status invivo_changes_commit(invivo_changes changes, invivo_error **error) {
    return functions()->changes_commit(changes, error);
}

invivo_status invivo_changes_submit(invivo_changes changes, invivo_error **error) {
    return functions()->changes_submit(changes, error);
}

void invivo_changes_discard(invivo_changes changes) {
    functions()->changes_discard(changes);
}

invivo_status invivo_define(invivo_runtime runtime, const invivo_definition *definition, invivo_key *out, invivo_error **error) {
    return functions()->define(runtime, definition, out, error);
}

invivo_status invivo_define_block(invivo_runtime runtime, const char *key, const invivo_block_options *block, invivo_key *out, invivo_error **error) {
    return functions()->define_block(runtime, key, block, out, error);
}

invivo_status invivo_resolve(invivo_runtime runtime, invivo_key key, invivo_object *out, invivo_error **error) {
    return functions()->resolve(runtime, key, out, error);
}

invivo_status invivo_resolve_with(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    return functions()->resolve_with(runtime, key, arguments, count, out, error);
}

invivo_status invivo_resolve_name(invivo_runtime runtime, const char *name, invivo_object *out, invivo_error **error) {
    return functions()->resolve_name(runtime, name, out, error);
}

invivo_status invivo_peek(invivo_runtime runtime, invivo_key key, invivo_object *out) {
    return functions()->peek(runtime, key, out);
}

invivo_view invivo_view_begin(invivo_runtime runtime) {
    return functions()->view_begin(runtime);
}

void invivo_view_end(invivo_view view) {
    functions()->view_end(view);
}

invivo_key invivo_view_key(invivo_view view, const char *name, size_t length) {
    return functions()->view_key(view, name, length);
}

void *invivo_view_get_confined(invivo_view view, invivo_key key) {
    return functions()->view_get_confined(view, key);
}

invivo_status invivo_source_open(invivo_runtime runtime, const invivo_source_options *options, invivo_source *out, invivo_error **error) {
    return functions()->source_open(runtime, options, out, error);
}

invivo_status invivo_watch(invivo_runtime runtime, const char *path, invivo_error **error) {
    return functions()->watch(runtime, path, error);
}

invivo_status invivo_source_update(invivo_source source, const char *text, uint64_t length, invivo_error **error) {
    return functions()->source_update(source, text, length, error);
}

invivo_status invivo_source_refresh(invivo_source source, invivo_error **error) {
    return functions()->source_refresh(source, error);
}

invivo_status invivo_source_close(invivo_source source, invivo_error **error) {
    return functions()->source_close(source, error);
}

uint64_t invivo_report_generation(const invivo_report *report) {
    return functions()->report_generation(report);
}

invivo_status invivo_report_status(const invivo_report *report) {
    return functions()->report_status(report);
}

const char *invivo_report_cause(const invivo_report *report) {
    return functions()->report_cause(report);
}

const invivo_error *invivo_report_error(const invivo_report *report) {
    return functions()->report_error(report);
}

size_t invivo_report_count(const invivo_report *report) {
    return functions()->report_count(report);
}

const char *invivo_report_key(const invivo_report *report, size_t index) {
    return functions()->report_key(report, index);
}

uint32_t invivo_report_change(const invivo_report *report, size_t index) {
    return functions()->report_change(report, index);
}

const char *invivo_report_property(const invivo_report *report, size_t index) {
    return functions()->report_property(report, index);
}

uint64_t invivo_report_nanoseconds(const invivo_report *report, uint32_t phase) {
    return functions()->report_nanoseconds(report, phase);
}

const char *invivo_report_text(const invivo_report *report) {
    return functions()->report_text(report);
}

invivo_status invivo_observe(invivo_runtime runtime, const invivo_observer_options *options, invivo_observer *out, invivo_error **error) {
    return functions()->observe(runtime, options, out, error);
}

invivo_status invivo_observer_close(invivo_observer observer, invivo_error **error) {
    return functions()->observer_close(observer, error);
}

invivo_status invivo_module_load(invivo_runtime runtime, const char *path, invivo_module *out, invivo_error **error) {
    return functions()->module_load(runtime, path, out, error);
}

invivo_status invivo_share(invivo_runtime runtime, const invivo_token **out, invivo_error **error) {
    return functions()->share(runtime, out, error);
}

invivo_status invivo_app_open(invivo_app *out, const invivo_app_options *options, invivo_error **error) {
    return functions()->app_open(out, options, error);
}

invivo_status invivo_app_runtime(invivo_app app, invivo_runtime *out, invivo_error **error) {
    return functions()->app_runtime(app, out, error);
}

invivo_status invivo_app_close(invivo_app app, invivo_error **error) {
    return functions()->app_close(app, error);
}

invivo_status invivo_app_needs_python(const char *manifest, bool *out, invivo_error **error) {
    return functions()->app_needs_python(manifest, out, error);
}

invivo_error *invivo_error_make_at(invivo_status code, const char *message, const char *path, const char *file, uint32_t line, uint32_t column, invivo_error *cause) {
    return functions()->error_make_at(code, message, path, file, line, column, cause);
}

invivo_error *invivo_error_join(invivo_error *first, invivo_error *second) {
    return functions()->error_join(first, second);
}

uint64_t invivo_type_parameter_count(invivo_type type) {
    return functions()->type_parameter_count(type);
}

invivo_status invivo_type_parameter_at(invivo_type type, uint64_t index, invivo_parameter *out) {
    return functions()->type_parameter_at(type, index, out);
}

invivo_status invivo_callbacks_guard(const invivo_callbacks *callbacks, invivo_callbacks *out, invivo_error **error) {
    return functions()->callbacks_guard(callbacks, out, error);
}

invivo_status invivo_callbacks_end(invivo_error **error) {
    return functions()->callbacks_end(error);
}

invivo_status invivo_resolve_optional(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    return functions()->resolve_optional(runtime, key, arguments, count, out, error);
}

invivo_status invivo_resolve_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags, invivo_object *out, invivo_error **error) {
    return functions()->resolve_type(runtime, type, name, flags, out, error);
}

invivo_status invivo_resolve_all(invivo_runtime runtime, const char *type, uint32_t flags, invivo_value *out, invivo_error **error) {
    return functions()->resolve_all(runtime, type, flags, out, error);
}

invivo_status invivo_inject(invivo_object object, invivo_key key, invivo_error **error) {
    return functions()->inject(object, key, error);
}

invivo_status invivo_runtime_note_error(invivo_runtime runtime, const invivo_error *error) {
    return functions()->runtime_note_error(runtime, error);
}

invivo_status invivo_override_begin(invivo_runtime runtime, const invivo_definition *definition, invivo_override *out, invivo_error **error) {
    return functions()->override_begin(runtime, definition, out, error);
}

invivo_status invivo_override_end(invivo_override override, invivo_error **error) {
    return functions()->override_end(override, error);
}

invivo_status invivo_target_detach_later(invivo_target target, invivo_error **error) {
    return functions()->target_detach_later(target, error);
}

const char *invivo_error_rule(const invivo_error *error) {
    return functions()->error_rule(error);
}

const char *invivo_error_needed_by(const invivo_error *error) {
    return functions()->error_needed_by(error);
}

invivo_status invivo_changes_check(invivo_changes changes, invivo_error **error) {
    return functions()->changes_check(changes, error);
}

invivo_status invivo_assembly_describe(invivo_runtime runtime, const invivo_assembly *assembly, invivo_error **error) {
    return functions()->assembly_describe(runtime, assembly, error);
}

invivo_status invivo_assembly_forget(invivo_runtime runtime, const char *name, invivo_error **error) {
    return functions()->assembly_forget(runtime, name, error);
}

invivo_status invivo_assembly_state(invivo_runtime runtime, const char *name, uint32_t *out, invivo_error **error) {
    return functions()->assembly_state(runtime, name, out, error);
}

invivo_status invivo_activate(invivo_runtime runtime, const invivo_assembly *const *assemblies, size_t count, const invivo_activate_options *options, invivo_error **error) {
    return functions()->activate(runtime, assemblies, count, options, error);
}

invivo_status invivo_deactivate(invivo_runtime runtime, const char *const *names, size_t count, invivo_error **error) {
    return functions()->deactivate(runtime, names, count, error);
}

invivo_status invivo_mount(invivo_runtime runtime, const invivo_assembly *assembly, const char *prefix, const invivo_remap *remaps, size_t count, invivo_error **error) {
    return functions()->mount(runtime, assembly, prefix, remaps, count, error);
}

invivo_status invivo_changes_activate(invivo_changes changes, const invivo_assembly *assembly, const invivo_activate_options *options, invivo_error **error) {
    return functions()->changes_activate(changes, assembly, options, error);
}

invivo_status invivo_changes_deactivate(invivo_changes changes, const char *name, invivo_error **error) {
    return functions()->changes_deactivate(changes, name, error);
}

invivo_status invivo_changes_mount(invivo_changes changes, const invivo_assembly *assembly, const char *prefix, const invivo_remap *remaps, size_t count, invivo_error **error) {
    return functions()->changes_mount(changes, assembly, prefix, remaps, count, error);
}

invivo_status invivo_graph_describe(invivo_runtime runtime, uint32_t format, invivo_value *out, invivo_error **error) {
    return functions()->graph_describe(runtime, format, out, error);
}

invivo_status invivo_app_check(const invivo_app_options *options, uint32_t format, invivo_value *graph, invivo_error **error) {
    return functions()->app_check(options, format, graph, error);
}

invivo_status invivo_changes_process(invivo_changes changes, const invivo_processor *processor, invivo_error **error) {
    return functions()->changes_process(changes, processor, error);
}

invivo_status invivo_changes_unprocess(invivo_changes changes, const char *name, invivo_error **error) {
    return functions()->changes_unprocess(changes, name, error);
}

invivo_status invivo_inject_with(invivo_object object, invivo_key key, uint32_t flags, invivo_error **error) {
    return functions()->inject_with(object, key, flags, error);
}

invivo_status invivo_inject_tree(invivo_object root, const invivo_tree *tree, invivo_error **error) {
    return functions()->inject_tree(root, tree, error);
}

invivo_status invivo_resolve_async(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, void (*resolved)(void *user_data, invivo_object object, const invivo_error *error), void *user_data, invivo_domain deliver, invivo_error **error) {
    return functions()->resolve_async(runtime, key, arguments, count, resolved, user_data, deliver, error);
}

invivo_status invivo_config_id(invivo_runtime runtime, const char *path, invivo_kind kind, invivo_config *out, invivo_error **error) {
    return functions()->config_id(runtime, path, kind, out, error);
}

const char *invivo_config_path(invivo_runtime runtime, invivo_config id) {
    return functions()->config_path(runtime, id);
}

invivo_status invivo_config_read(invivo_runtime runtime, const char *path, invivo_value *out, invivo_error **error) {
    return functions()->config_read(runtime, path, out, error);
}

invivo_status invivo_config_observe(invivo_runtime runtime, const char *path, const invivo_config_observer_options *options, invivo_observer *out, invivo_error **error) {
    return functions()->config_observe(runtime, path, options, out, error);
}

invivo_status invivo_changes_configure(invivo_changes changes, const char *path, const invivo_value *value, invivo_error **error) {
    return functions()->changes_configure(changes, path, value, error);
}

invivo_status invivo_converter_register(invivo_runtime runtime, const invivo_converter_options *options, invivo_error **error) {
    return functions()->converter_register(runtime, options, error);
}

invivo_status invivo_converter_unregister(invivo_runtime runtime, const char *name, invivo_error **error) {
    return functions()->converter_unregister(runtime, name, error);
}

invivo_status invivo_convert(invivo_runtime runtime, const char *converter, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    return functions()->convert(runtime, converter, text, length, out, error);
}

invivo_status invivo_type_extend(invivo_runtime runtime, invivo_type type, const char *supertype, invivo_error **error) {
    return functions()->type_extend(runtime, type, supertype, error);
}

invivo_status invivo_runtime_states(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    return functions()->runtime_states(runtime, out, error);
}

invivo_status invivo_changes_reset(invivo_changes changes, const char *key, uint32_t flags, invivo_error **error) {
    return functions()->changes_reset(changes, key, flags, error);
}

invivo_status invivo_changes_reset_scope(invivo_changes changes, uint32_t scope, invivo_error **error) {
    return functions()->changes_reset_scope(changes, scope, error);
}

invivo_status invivo_start(invivo_runtime runtime, invivo_key key, invivo_error **error) {
    return functions()->start(runtime, key, error);
}

invivo_status invivo_stop(invivo_runtime runtime, invivo_key key, invivo_error **error) {
    return functions()->stop(runtime, key, error);
}

const invivo_error *invivo_report_stop_error(const invivo_report *report) {
    return functions()->report_stop_error(report);
}

invivo_status invivo_pool_open(invivo_runtime runtime, const invivo_pool_options *options, invivo_pool *out, invivo_error **error) {
    return functions()->pool_open(runtime, options, out, error);
}

invivo_status invivo_pool_find(invivo_runtime runtime, const char *name, invivo_pool *out, invivo_error **error) {
    return functions()->pool_find(runtime, name, out, error);
}

invivo_status invivo_pool_close(invivo_pool pool, invivo_error **error) {
    return functions()->pool_close(pool, error);
}

invivo_status invivo_pool_get(invivo_pool pool, const invivo_value *key, invivo_pool_make make, void *user_data, invivo_object *out, invivo_error **error) {
    return functions()->pool_get(pool, key, make, user_data, out, error);
}

invivo_status invivo_pool_peek(invivo_pool pool, const invivo_value *key, invivo_object *out) {
    return functions()->pool_peek(pool, key, out);
}

invivo_status invivo_pool_peek_instance(invivo_pool pool, const invivo_value *key, invivo_type type, void **out, invivo_error **error) {
    return functions()->pool_peek_instance(pool, key, type, out, error);
}

invivo_status invivo_pool_put(invivo_pool pool, const invivo_value *key, invivo_object object, invivo_error **error) {
    return functions()->pool_put(pool, key, object, error);
}

invivo_status invivo_pool_remove(invivo_pool pool, const invivo_value *key, invivo_error **error) {
    return functions()->pool_remove(pool, key, error);
}

invivo_status invivo_pool_list(invivo_pool pool, invivo_value *out, invivo_error **error) {
    return functions()->pool_list(pool, out, error);
}

invivo_status invivo_pool_count(invivo_pool pool, uint64_t *out, invivo_error **error) {
    return functions()->pool_count(pool, out, error);
}

invivo_status invivo_pool_clear(invivo_pool pool, uint64_t *count, invivo_error **error) {
    return functions()->pool_clear(pool, count, error);
}

invivo_status invivo_key_outline(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) {
    return functions()->key_outline(runtime, key, out, error);
}

invivo_status invivo_scope_register(invivo_runtime runtime, const invivo_scope_options *options, invivo_error **error) {
    return functions()->scope_register(runtime, options, error);
}

invivo_status invivo_scope_end(invivo_runtime runtime, const char *name, uint64_t place, invivo_error **error) {
    return functions()->scope_end(runtime, name, place, error);
}

uint64_t invivo_report_untracked(const invivo_report *report, size_t index) {
    return functions()->report_untracked(report, index);
}

invivo_error *invivo_error_copy(const invivo_error *error) {
    return functions()->error_copy(error);
}

invivo_status invivo_runtime_retired(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    return functions()->runtime_retired(runtime, out, error);
}

invivo_status invivo_key_of_type(invivo_runtime runtime, const char *type, const char *name, uint32_t flags, invivo_key *out, invivo_error **error) {
    return functions()->key_of_type(runtime, type, name, flags, out, error);
}

invivo_status invivo_runtime_sources(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    return functions()->runtime_sources(runtime, out, error);
}

invivo_status *invivo_callbacks_cell(void) {
    return functions()->callbacks_cell();
}

void invivo_runtime_options_init_sized(invivo_runtime_options *options, size_t struct_size) {
    functions()->runtime_options_init_sized(options, struct_size);
}

invivo_status invivo_changes_watch(invivo_changes changes, const invivo_source_options *options, invivo_source *out, invivo_error **error) {
    return functions()->changes_watch(changes, options, out, error);
}

size_t invivo_report_warning_count(const invivo_report *report) {
    return functions()->report_warning_count(report);
}

const char *invivo_report_warning(const invivo_report *report, size_t index) {
    return functions()->report_warning(report, index);
}

invivo_status invivo_key_describe(invivo_runtime runtime, invivo_key key, invivo_value *out, invivo_error **error) {
    return functions()->key_describe(runtime, key, out, error);
}

invivo_status invivo_runtime_generation(invivo_runtime runtime, uint64_t *out, invivo_error **error) {
    return functions()->runtime_generation(runtime, out, error);
}

const invivo_value *invivo_view_config_late(invivo_view view, invivo_config id) {
    return functions()->view_config_late(view, id);
}

invivo_status invivo_changes_expect(invivo_changes changes, uint64_t generation, invivo_error **error) {
    return functions()->changes_expect(changes, generation, error);
}

const char *invivo_report_location(const invivo_report *report, size_t index) {
    return functions()->report_location(report, index);
}

uint64_t invivo_report_omitted(const invivo_report *report) {
    return functions()->report_omitted(report);
}

invivo_status invivo_runtime_reports(invivo_runtime runtime, invivo_report_visit visit, void *user_data, invivo_error **error) {
    return functions()->runtime_reports(runtime, visit, user_data, error);
}

invivo_pin invivo_pin_begin(invivo_runtime runtime, const invivo_place *place) {
    return functions()->pin_begin(runtime, place);
}

invivo_pin invivo_pin_hold(invivo_runtime runtime, const invivo_place *place) {
    return functions()->pin_hold(runtime, place);
}

invivo_status invivo_pin_enter(invivo_pin pin, invivo_pin *out, invivo_error **error) {
    return functions()->pin_enter(pin, out, error);
}

invivo_status invivo_pin_end(invivo_pin pin) {
    return functions()->pin_end(pin);
}

uint64_t invivo_pin_generation(invivo_pin pin) {
    return functions()->pin_generation(pin);
}

invivo_pin invivo_pin_current(invivo_runtime runtime) {
    return functions()->pin_current(runtime);
}

invivo_status invivo_source_retry(invivo_source source, invivo_error **error) {
    return functions()->source_retry(source, error);
}

invivo_status invivo_rollback(invivo_runtime runtime, uint64_t generation, invivo_error **error) {
    return functions()->rollback(runtime, generation, error);
}

invivo_status invivo_changes_rollback(invivo_changes changes, uint64_t generation, invivo_error **error) {
    return functions()->changes_rollback(changes, generation, error);
}

invivo_status invivo_runtime_history(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    return functions()->runtime_history(runtime, out, error);
}

invivo_status invivo_mark(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error) {
    return functions()->mark(runtime, name, out, error);
}

invivo_status invivo_unmark(invivo_runtime runtime, const char *name, invivo_error **error) {
    return functions()->unmark(runtime, name, error);
}

invivo_status invivo_marked(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error) {
    return functions()->marked(runtime, name, out, error);
}

invivo_status invivo_changes_add_rule(invivo_changes changes, const invivo_rule *rule, invivo_error **error) {
    return functions()->changes_add_rule(changes, rule, error);
}

invivo_status invivo_changes_remove_rule(invivo_changes changes, const char *name, invivo_error **error) {
    return functions()->changes_remove_rule(changes, name, error);
}

invivo_status invivo_rule_add(invivo_runtime runtime, const invivo_rule *rule, invivo_error **error) {
    return functions()->rule_add(runtime, rule, error);
}

invivo_status invivo_rule_remove(invivo_runtime runtime, const char *name, invivo_error **error) {
    return functions()->rule_remove(runtime, name, error);
}

invivo_status invivo_effect(invivo_runtime runtime, invivo_status (*undo)(void *user_data, invivo_error **error), void *user_data, invivo_error **error) {
    return functions()->effect(runtime, undo, user_data, error);
}

invivo_status invivo_child(invivo_runtime runtime, invivo_key key, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    return functions()->child(runtime, key, arguments, count, out, error);
}

invivo_status invivo_child_make(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count, invivo_object *out, invivo_error **error) {
    return functions()->child_make(runtime, type, arguments, count, out, error);
}

invivo_status invivo_observer_generation(invivo_observer observer, uint64_t *out, invivo_error **error) {
    return functions()->observer_generation(observer, out, error);
}

invivo_status invivo_runtime_status(invivo_runtime runtime, invivo_value *out, invivo_error **error) {
    return functions()->runtime_status(runtime, out, error);
}

invivo_status invivo_runtime_options_read(invivo_runtime runtime, invivo_runtime_options *out, invivo_error **error) {
    return functions()->runtime_options_read(runtime, out, error);
}

invivo_status invivo_runtime_options_change(invivo_runtime runtime, const invivo_runtime_options *options, invivo_error **error) {
    return functions()->runtime_options_change(runtime, options, error);
}

size_t invivo_report_cause_count(const invivo_report *report) {
    return functions()->report_cause_count(report);
}

uint32_t invivo_report_cause_kind(const invivo_report *report, size_t index) {
    return functions()->report_cause_kind(report, index);
}

const char *invivo_report_cause_name(const invivo_report *report, size_t index) {
    return functions()->report_cause_name(report, index);
}

uint32_t invivo_report_warning_kind(const invivo_report *report, size_t index) {
    return functions()->report_warning_kind(report, index);
}

const char *invivo_report_warning_file(const invivo_report *report, size_t index) {
    return functions()->report_warning_file(report, index);
}

uint32_t invivo_report_warning_line(const invivo_report *report, size_t index) {
    return functions()->report_warning_line(report, index);
}

uint32_t invivo_report_warning_column(const invivo_report *report, size_t index) {
    return functions()->report_warning_column(report, index);
}

uint32_t invivo_report_origin(const invivo_report *report, size_t index) {
    return functions()->report_origin(report, index);
}

const char *invivo_report_layer(const invivo_report *report, size_t index) {
    return functions()->report_layer(report, index);
}

const char *invivo_report_file(const invivo_report *report, size_t index) {
    return functions()->report_file(report, index);
}

uint32_t invivo_report_line(const invivo_report *report, size_t index) {
    return functions()->report_line(report, index);
}

uint32_t invivo_report_column(const invivo_report *report, size_t index) {
    return functions()->report_column(report, index);
}

invivo_status invivo_layers_set(invivo_layers *layers, const char *property, const invivo_value *value, invivo_error **error) {
    return functions()->layers_set(layers, property, value, error);
}

invivo_status invivo_layers_scale(invivo_layers *layers, const char *property, double factor, invivo_error **error) {
    return functions()->layers_scale(layers, property, factor, error);
}

invivo_status invivo_layers_offset(invivo_layers *layers, const char *property, double amount, invivo_error **error) {
    return functions()->layers_offset(layers, property, amount, error);
}

invivo_status invivo_changes_add_trait(invivo_changes changes, const invivo_trait *trait, invivo_error **error) {
    return functions()->changes_add_trait(changes, trait, error);
}

invivo_status invivo_changes_remove_trait(invivo_changes changes, const char *name, invivo_error **error) {
    return functions()->changes_remove_trait(changes, name, error);
}

invivo_status invivo_trait_add(invivo_runtime runtime, const invivo_trait *trait, invivo_error **error) {
    return functions()->trait_add(runtime, trait, error);
}

invivo_status invivo_trait_remove(invivo_runtime runtime, const char *name, invivo_error **error) {
    return functions()->trait_remove(runtime, name, error);
}

invivo_status invivo_runtime_refresh_environment(invivo_runtime runtime, invivo_error **error) {
    return functions()->runtime_refresh_environment(runtime, error);
}

invivo_status invivo_runtime_advance(invivo_runtime runtime, uint64_t nanoseconds, invivo_error **error) {
    return functions()->runtime_advance(runtime, nanoseconds, error);
}

invivo_status invivo_property_text(invivo_type type, const char *property, const invivo_value *value, invivo_value *out, invivo_error **error) {
    return functions()->property_text(type, property, value, out, error);
}

invivo_status invivo_property_read(invivo_type type, const char *property, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    return functions()->property_read(type, property, text, length, out, error);
}

invivo_status invivo_document_text(invivo_runtime runtime, const char *name, uint32_t format, invivo_value *out, invivo_error **error) {
    return functions()->document_text(runtime, name, format, out, error);
}

invivo_status invivo_traits_text(invivo_runtime runtime, const char *key, const char *document, uint32_t format, invivo_value *out, invivo_error **error) {
    return functions()->traits_text(runtime, key, document, format, out, error);
}

invivo_status invivo_changes_bind_settings(invivo_changes changes, const invivo_settings *settings, invivo_error **error) {
    return functions()->changes_bind_settings(changes, settings, error);
}

invivo_status invivo_changes_unbind_settings(invivo_changes changes, const char *name, invivo_error **error) {
    return functions()->changes_unbind_settings(changes, name, error);
}

invivo_status invivo_settings_bind(invivo_runtime runtime, const invivo_settings *settings, invivo_error **error) {
    return functions()->settings_bind(runtime, settings, error);
}

invivo_status invivo_settings_unbind(invivo_runtime runtime, const char *name, invivo_error **error) {
    return functions()->settings_unbind(runtime, name, error);
}

invivo_status invivo_settings_id(invivo_runtime runtime, const char *name, invivo_config *out, invivo_error **error) {
    return functions()->settings_id(runtime, name, out, error);
}

invivo_status invivo_settings_read(invivo_view view, invivo_runtime runtime, invivo_config id, const void **out, invivo_error **error) {
    return functions()->settings_read(view, runtime, id, out, error);
}

invivo_status invivo_changes_add_secret(invivo_changes changes, const char *path, invivo_error **error) {
    return functions()->changes_add_secret(changes, path, error);
}

invivo_status invivo_changes_remove_secret(invivo_changes changes, const char *path, invivo_error **error) {
    return functions()->changes_remove_secret(changes, path, error);
}

invivo_status invivo_config_is_secret(invivo_runtime runtime, const char *path, bool *out, invivo_error **error) {
    return functions()->config_is_secret(runtime, path, out, error);
}

invivo_status invivo_settings_typed_id(invivo_runtime runtime, const char *name, const char *type, uint64_t size, invivo_config *out, invivo_error **error) {
    return functions()->settings_typed_id(runtime, name, type, size, out, error);
}

invivo_status invivo_settings_type_add(invivo_runtime runtime, const invivo_settings_type *type, invivo_error **error) {
    return functions()->settings_type_add(runtime, type, error);
}

invivo_status invivo_context_declare_kinds(invivo_runtime runtime, const invivo_context_kind *kinds, size_t count, invivo_error **error) {
    return functions()->context_declare_kinds(runtime, kinds, count, error);
}

invivo_status invivo_context_declare_key(invivo_runtime runtime, const invivo_context_key *key, invivo_error **error) {
    return functions()->context_declare_key(runtime, key, error);
}

invivo_status invivo_context_open(invivo_runtime runtime, const invivo_context_options *options, invivo_context *out, invivo_error **error) {
    return functions()->context_open(runtime, options, out, error);
}

invivo_status invivo_context_end(invivo_context context, invivo_error **error) {
    return functions()->context_end(context, error);
}

invivo_status invivo_context_retain(invivo_context context, invivo_error **error) {
    return functions()->context_retain(context, error);
}

invivo_status invivo_context_release(invivo_context context, invivo_error **error) {
    return functions()->context_release(context, error);
}

invivo_status invivo_context_get(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error) {
    return functions()->context_get(context, key, out, error);
}

invivo_status invivo_context_get_local(invivo_context context, invivo_key key, invivo_value *out, invivo_error **error) {
    return functions()->context_get_local(context, key, out, error);
}

const invivo_value *invivo_view_context_value(invivo_view view, invivo_context context, invivo_key key) {
    return functions()->view_context_value(view, context, key);
}

invivo_status invivo_context_set(invivo_context context, invivo_key key, const invivo_value *value, invivo_error **error) {
    return functions()->context_set(context, key, value, error);
}

invivo_status invivo_context_remove(invivo_context context, invivo_key key, invivo_error **error) {
    return functions()->context_remove(context, key, error);
}

invivo_status invivo_context_hide(invivo_context context, invivo_key key, invivo_error **error) {
    return functions()->context_hide(context, key, error);
}

invivo_status invivo_context_change_values(invivo_context context, const invivo_context_change *changes, size_t count, invivo_error **error) {
    return functions()->context_change_values(context, changes, count, error);
}

invivo_status invivo_context_entries(invivo_context context, bool local, invivo_value *out, invivo_error **error) {
    return functions()->context_entries(context, local, out, error);
}

invivo_status invivo_context_observe(invivo_context context, invivo_key key, const invivo_context_observer *options, invivo_observer *out, invivo_error **error) {
    return functions()->context_observe(context, key, options, out, error);
}

invivo_status invivo_context_parent(invivo_context context, invivo_context *out, invivo_error **error) {
    return functions()->context_parent(context, out, error);
}

invivo_status invivo_context_kind_name(invivo_context context, const char **out, invivo_error **error) {
    return functions()->context_kind_name(context, out, error);
}

invivo_status invivo_context_object(invivo_context context, invivo_object *out, invivo_error **error) {
    return functions()->context_object(context, out, error);
}

invivo_status invivo_context_runtime(invivo_context context, invivo_runtime *out, invivo_error **error) {
    return functions()->context_runtime(context, out, error);
}

invivo_status invivo_context_find(invivo_context context, const invivo_context_query *query, invivo_context *out, invivo_error **error) {
    return functions()->context_find(context, query, out, error);
}

invivo_status invivo_context_enter(invivo_context context, invivo_error **error) {
    return functions()->context_enter(context, error);
}

invivo_status invivo_context_leave(invivo_context context, invivo_error **error) {
    return functions()->context_leave(context, error);
}

invivo_context invivo_context_current(invivo_runtime runtime) {
    return functions()->context_current(runtime);
}

invivo_status invivo_context_attach(invivo_context context, invivo_object object, invivo_error **error) {
    return functions()->context_attach(context, object, error);
}

invivo_status invivo_context_detach(invivo_object object, invivo_error **error) {
    return functions()->context_detach(object, error);
}

invivo_status invivo_context_of(invivo_object object, invivo_context *out, invivo_error **error) {
    return functions()->context_of(object, out, error);
}

invivo_status invivo_context_end_with(invivo_context context, const invivo_context_ending *options, invivo_value *leased, invivo_error **error) {
    return functions()->context_end_with(context, options, leased, error);
}

invivo_status invivo_context_failure(invivo_context context, const char **message) {
    return functions()->context_failure(context, message);
}

invivo_status invivo_context_resolve(invivo_context context, invivo_key key, invivo_object *out, invivo_error **error) {
    return functions()->context_resolve(context, key, out, error);
}

#pragma GCC visibility pop
