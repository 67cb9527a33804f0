/* processing.h: statements of overrides, processors, converters, configuration and reloads. */
#ifndef INVIVO_TESTS_CASES_PROCESSING_H
#define INVIVO_TESTS_CASES_PROCESSING_H

#include "asking.h"

STATEMENT(override) {
    UNUSED;
    invivo_override handle;
    invivo_status status = invivo_override_begin(runtime, definition_of(said, 1), &handle, error);
    if (!status) *out = invivo_uint64(handle.bits);
    return status;
}
STATEMENT(restore) {
    UNUSED;
    named *found = named_find(words[1].text, strlen(words[1].text));
    if (!found) return INVIVO_E_ARGUMENT;
    return invivo_override_end((invivo_override){found->value.as.unsigned_integer}, error);
}

/* Wraps: a new object of the same type, whose input is the original. */
static invivo_status decorate_native(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    invivo_type type;
    invivo_status status = invivo_object_type(object, &type, error);
    invivo_value arguments[] = {invivo_object_value(object), invivo_int64((int64_t)(intptr_t)user_data)};
    return status ? status : invivo_object_make(build->runtime, type, arguments, 2, out, error);
}
static invivo_processor processor_of(const line *said) {
    const part *key = script_labelled(said, "key"), *type = script_labelled(said, "type"), *priority = script_labelled(said, "priority");
    return (invivo_processor){.struct_size = sizeof(invivo_processor), .name = said->words[1].text, .key = key ? key->text : NULL,
                              .type = type ? type->text : NULL, .priority = priority ? atoi(priority->text) : 0};
}
STATEMENT(decorate) {
    UNUSED;
    invivo_processor processor = processor_of(said);
    const part *by = script_labelled(said, "by"), *method = script_labelled(said, "method"), *number = script_labelled(said, "number");
    if (by) processor.component = by->text, processor.method = method ? method->text : NULL;
    else processor.decorate = decorate_native, processor.user_data = (void *)(intptr_t)(number ? atoi(number->text) : 0);
    IN_CHANGES(invivo_changes_process(set, &processor, error));
}
static invivo_status process_native(const invivo_definition *described, invivo_changes into, void *user_data, invivo_error **error) {
    invivo_definition made = *described;
    const line *said = user_data;
    made.properties = NULL, made.property_count = 0;
    for (uint64_t i = 0; i < described->property_count; i++) {
        bool is_said = false;
        for (size_t j = 0; j < said->below_count; j++)
            if (script_is(said->below[j], "set") && !strcmp(said->below[j]->words[1].text, described->properties[i].name)) is_said = true;
        if (is_said) continue;
        invivo_injection *table = script_more(made.properties, made.property_count, sizeof *table);
        table[made.property_count++] = described->properties[i];
        made.properties = table;
    }
    code unused;
    for (size_t i = 0; i < said->below_count; i++) definition_part(&made, &unused, said->below[i]);
    return invivo_changes_define(into, &made, NULL, error);
}
STATEMENT(process) {
    UNUSED;
    invivo_processor processor = processor_of(said);
    processor.process = process_native, processor.user_data = (void *)(uintptr_t)said;
    IN_CHANGES(invivo_changes_process(set, &processor, error));
}
STATEMENT(unprocess) {
    UNUSED;
    IN_CHANGES(invivo_changes_unprocess(set, words[1].text, error));
}

/* A rule: the first input is less than the second. The event check(NAME). */
static double number_in(const invivo_value *value) {
    return value->kind == INVIVO_KIND_DOUBLE ? value->as.number : (double)value->as.signed_integer;
}
static invivo_status check_required(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    const line *said = user_data;
    const part *input = script_labelled(said, "at");
    invivo_status status = event(error, "check(%s)", said->words[1].text);
    (void)count;
    if (!status && values[0].kind != INVIVO_KIND_NULL && values[1].kind != INVIVO_KIND_NULL && number_in(&values[0]) >= number_in(&values[1])) {
        *error = invivo_error_make(INVIVO_E_HOST, "the first is not below the second", NULL, NULL);
        status = INVIVO_E_HOST;
    }
    if (status && input) *at = (size_t)atoi(input->text);
    return status;
}
STATEMENT(require) {
    UNUSED;
    const char *inputs[] = {words[2].text, words[3].text};
    invivo_rule rule = {.struct_size = sizeof rule, .name = words[1].text, .inputs = inputs, .input_count = 2, .check = check_required,
                        .user_data = (void *)(uintptr_t)said};
    IN_CHANGES(invivo_changes_add_rule(set, &rule, error));
}
STATEMENT(unrequire) {
    UNUSED;
    IN_CHANGES(invivo_changes_remove_rule(set, words[1].text, error));
}

/* Typed settings: the type Voice, with these fields. */
typedef struct voice { int64_t voices; double rate; char label[32]; } voice;
static const invivo_property voice_fields[] = {
    INVIVO_FLAGGED_FIELD(voice, INVIVO_PROPERTY_REQUIRED, voices), INVIVO_FIELD(voice, rate, .initial = 48000),
    INVIVO_FIELD(voice, label, .initial_text = "none")};
STATEMENT(bind) {
    UNUSED;
    invivo_settings settings = {.struct_size = sizeof settings, .name = words[1].text, .path = words[2].text, .fields = voice_fields,
                                .field_count = 3, .size = sizeof(voice)};
    IN_CHANGES(invivo_changes_bind_settings(set, &settings, error));
}
STATEMENT(unbind) {
    UNUSED;
    IN_CHANGES(invivo_changes_unbind_settings(set, words[1].text, error));
}
STATEMENT(settings) {
    UNUSED;
    invivo_config id;
    const void *found;
    invivo_status status = invivo_settings_id(runtime, words[1].text, &id, error);
    if (status) return status;
    invivo_view view = invivo_view_begin(runtime);
    status = invivo_settings_read(view, runtime, id, &found, error);
    if (!status) {
        const voice *read = found;
        invivo_pair pairs[] = {{.name = "voices", .length = 6, .value = invivo_int64(read->voices)},
                               {.name = "rate", .length = 4, .value = invivo_double(read->rate)},
                               {.name = "label", .length = 5, .value = invivo_string(read->label)}};
        invivo_value map = invivo_map(pairs, 3);
        status = invivo_value_copy(out, &map, error);
    }
    invivo_view_end(view);
    return status;
}

static invivo_status convert_length(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)user_data;
    if (length == 0) {
        *error = invivo_error_make_at(INVIVO_E_CONVERSION, "an empty text has no length here", NULL, NULL, 1, 1, NULL);
        return INVIVO_E_CONVERSION;
    }
    (void)text;
    *out = invivo_int64((int64_t)length);
    return INVIVO_OK;
}
STATEMENT(converter) { /* reads a string as the number of its bytes */
    UNUSED;
    invivo_converter_options options = {.struct_size = sizeof options, .name = words[1].text, .convert = convert_length};
    return invivo_converter_register(runtime, &options, error);
}
STATEMENT(unconverter) {
    UNUSED;
    return invivo_converter_unregister(runtime, words[1].text, error);
}
STATEMENT(property_text) {
    invivo_type type;
    UNUSED;
    invivo_value value = value_of(&words[3]);
    constants[constant_count++] = value;
    invivo_status status = invivo_type_find(runtime, words[1].text, &type, error);
    return status ? status : invivo_property_text(type, words[2].text, &value, out, error);
}
STATEMENT(property_read) {
    invivo_type type;
    UNUSED;
    invivo_status status = invivo_type_find(runtime, words[1].text, &type, error);
    return status ? status : invivo_property_read(type, words[2].text, words[3].text, strlen(words[3].text), out, error);
}
static uint32_t text_format(const part *word) {
    if (strcmp(word->text, "json") && strcmp(word->text, "yaml")) WRONG("the format '%s' is neither yaml nor json", word->text);
    return strcmp(word->text, "json") ? INVIVO_FORMAT_YAML : INVIVO_FORMAT_JSON;
}
STATEMENT(document_text) {
    UNUSED;
    return invivo_document_text(runtime, words[1].text, text_format(&words[2]), out, error);
}
STATEMENT(traits_text) {
    UNUSED;
    return invivo_traits_text(runtime, words[1].text, NULL, text_format(&words[2]), out, error);
}
STATEMENT(convert) {
    UNUSED;
    return invivo_convert(runtime, words[1].text, words[2].text, strlen(words[2].text), out, error);
}

/* ---- configuration and reloads ------------------------------------------------------------------------- */

STATEMENT(configured) {
    UNUSED;
    return invivo_config_read(runtime, words[1].text, out, error);
}
static void config_changed(void *user_data, const char *path, const invivo_value *value, uint64_t generation) {
    (void)user_data, (void)value, (void)generation;
    event(NULL, "changed(%s)", path);
}
STATEMENT(observe) {
    UNUSED;
    invivo_observer observer;
    invivo_config_observer_options options = {.struct_size = sizeof options, .changed = config_changed};
    return invivo_config_observe(runtime, words[1].text, &options, &observer, error);
}

/* Observers of reloads, by name: the event "heard(NAME/KEY/...)" has the keys of the changes; without a subject, it is "heard(NAME)". */
typedef struct subscription {
    char name[32];
    bool is_filtered;
    invivo_observer observer;
} subscription;
static subscription subscriptions[32];
static size_t subscription_count;
static void hear(void *user_data, const invivo_report *report) {
    subscription *self = user_data;
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "heard(%s", self->name);
    for (size_t i = 0; self->is_filtered && i < invivo_report_count(report); i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "/%s", invivo_report_key(report, i));
    event(NULL, "%s)", text);
}
static subscription *subscription_named(const char *name) {
    for (size_t i = 0; i < subscription_count; i++)
        if (!strcmp(subscriptions[i].name, name)) return &subscriptions[i];
    return NULL;
}
STATEMENT(subscribe) {
    UNUSED;
    const part *key = script_labelled(said, "key"), *type = script_labelled(said, "type"), *object = script_labelled(said, "object");
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = hear};
    invivo_value value = object ? value_at(object->text) : invivo_null();
    subscription *self = subscription_named(words[1].text);
    if (!self) {
        self = &subscriptions[subscription_count++];
        self->observer = (invivo_observer){0};
    }
    snprintf(self->name, sizeof self->name, "%s", words[1].text);
    self->is_filtered = key || type || object;
    options.user_data = self, options.key = key ? key->text : NULL, options.type = type ? type->text : NULL;
    if (object) options.object = value.as.object;
    invivo_observer former = self->observer;
    invivo_status status = invivo_observe(runtime, &options, &self->observer, error);
    if (!status && former.bits && former.bits != self->observer.bits) WRONG("'%s' subscribes to something else", self->name);
    invivo_value_clear(&value);
    return status;
}
STATEMENT(unsubscribe) {
    UNUSED;
    subscription *self = subscription_named(words[1].text);
    if (!self) {
        WRONG("nothing is subscribed as '%s'", words[1].text);
        return INVIVO_OK;
    }
    invivo_observer observer = self->observer;
    self->observer = (invivo_observer){0};
    return invivo_observer_close(observer, error);
}

static invivo_view view;
static bool in_view;
STATEMENT(read) { /* in a view: a configuration path and its value */
    UNUSED;
    invivo_config id;
    invivo_status status = invivo_config_id(runtime, words[1].text, INVIVO_KIND_ANY, &id, error);
    if (status) return status;
    if (!in_view) WRONG("'read' stands in a view");
    const invivo_value *value = in_view ? invivo_view_config(view, id) : NULL;
    return value ? invivo_value_copy(out, value, error) : INVIVO_OK;
}
static void run(const line *said);
STATEMENT(view) {
    UNUSED;
    invivo_config unused;
    for (size_t i = 0; i < said->below_count; i++) /* an id is created before the view that uses it */
        if (script_is(said->below[i], "read")) OK(invivo_config_id(runtime, said->below[i]->words[1].text, INVIVO_KIND_ANY, &unused, E));
    view = invivo_view_begin(runtime), in_view = true;
    for (size_t i = 0; i < said->below_count; i++) run(said->below[i]);
    invivo_view_end(view), in_view = false;
    return INVIVO_OK;
}

STATEMENT(pinned) {
    UNUSED;
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    if (!pin.bits) WRONG("no pin begins");
    for (size_t i = 0; i < said->below_count; i++) run(said->below[i]);
    return invivo_pin_end(pin);
}

static void case_reloaded(void *user_data, const invivo_report *report) {
    (void)user_data;
    pthread_mutex_lock(&world_lock);
    texts_clear(&reported);
    for (size_t i = 0; i < invivo_report_count(report); i++) {
        char text[256];
        const char *property = invivo_report_property(report, i);
        snprintf(text, sizeof text, "%s%s%s %s", invivo_report_key(report, i), *property ? ":" : "", property, change_names[invivo_report_change(report, i)]);
        texts_add(&reported, text);
    }
    texts_sort(&reported);
    texts_clear(&warned);
    for (size_t i = 0; i < invivo_report_warning_count(report); i++) texts_add(&warned, invivo_report_warning(report, i));
    pthread_mutex_unlock(&world_lock);
}

#endif
