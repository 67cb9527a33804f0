/* trait_types.h: statements of trait types. */
#ifndef INVIVO_TESTS_CASES_TRAIT_TYPES_H
#define INVIVO_TESTS_CASES_TRAIT_TYPES_H

#include "processing.h"

static int64_t trait_times(const line *said) {
    const part *times = script_labelled(said, "times");
    return times ? atoll(times->text) : 1;
}

/* The event check(NAME). `plus` is at most `amount`. */
static invivo_status check_trait(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                 invivo_error **error) {
    const line *said = user_data;
    (void)fields, (void)count;
    invivo_status status = event(error, "check(%s)", said->words[1].text);
    if (status || values[1].as.signed_integer <= values[0].as.signed_integer) return status;
    *at = 1;
    *error = invivo_error_make(INVIVO_E_HOST, "plus is above amount", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status trait_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                  invivo_error **error) {
    (void)fields, (void)count;
    double factor = (double)(values[0].as.signed_integer * trait_times(user_data));
    invivo_status status = invivo_layers_scale(layers, "number", factor, error);
    return status ? status : invivo_layers_offset(layers, "number", (double)values[1].as.signed_integer, error);
}

/* Adds to the number of an object. */
static invivo_status trait_add(invivo_object target, int64_t amount, invivo_error **error) {
    invivo_value number = invivo_null();
    invivo_status status = invivo_object_get(target, "number", &number, error);
    if (status) return status;
    number = invivo_int64(number.as.signed_integer + amount);
    return invivo_object_set(target, "number", &number, error);
}
typedef struct trait_application {
    const line *said;
    int64_t added;
} trait_application;
static invivo_status trait_revert(invivo_object target, void *instance, void *data, invivo_error **error) {
    const trait_application *self = data;
    (void)instance;
    invivo_status status = event(error, "revert(%s)", self->said->words[1].text);
    return status ? status : trait_add(target, -self->added, error);
}
static invivo_status trait_apply(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                 invivo_reversal *reversal, void *user_data, invivo_error **error) {
    const line *said = user_data;
    (void)instance, (void)fields, (void)count;
    int64_t added = values[0].as.signed_integer * trait_times(said);
    invivo_status status = event(error, "apply(%s)", said->words[1].text);
    if (!status) status = trait_add(target, added, error);
    if (status) return status;
    trait_application *self = malloc(sizeof *self);
    *self = (trait_application){said, added};
    reversal->revert = trait_revert, reversal->data = self, reversal->destroy = free;
    return INVIVO_OK;
}
/* Has no reversal. */
static invivo_status trait_set(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                               invivo_reversal *reversal, void *user_data, invivo_error **error) {
    const line *said = user_data;
    (void)instance, (void)fields, (void)values, (void)count, (void)reversal;
    invivo_value number = invivo_int64(100 * trait_times(said));
    invivo_status status = event(error, "apply(%s)", said->words[1].text);
    if (!status) status = invivo_object_set(target, "number", &number, error);
    return status ? status : event(error, "applied(%s)", said->words[1].text);
}

static const invivo_property trait_layer_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "amount", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PROPERTY_REQUIRED, .min = 0, .max = 100},
    {.struct_size = sizeof(invivo_property), .name = "plus", .kind = INVIVO_KIND_INT64, .initial_value = &(const invivo_value){.kind = INVIVO_KIND_INT64}}};
static const invivo_property trait_code_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "by", .kind = INVIVO_KIND_INT64, .initial = 1}};

STATEMENT(trait) {
    UNUSED;
    const part *target = script_labelled(said, "for");
    const char *targets[] = {target ? target->text : "Thing"}, *kind = words[2].text;
    invivo_trait trait = {.struct_size = sizeof trait, .name = words[1].text, .targets = targets, .target_count = 1,
                          .user_data = (void *)(uintptr_t)said};
    if (!strcmp(kind, "layers")) {
        trait.fields = trait_layer_fields, trait.field_count = 2, trait.check = check_trait, trait.layers = trait_layers;
    } else if (!strcmp(kind, "code")) {
        trait.fields = trait_code_fields, trait.field_count = 1, trait.apply = trait_apply;
    } else if (!strcmp(kind, "sets")) {
        trait.apply = trait_set;
    } else {
        WRONG("'%s' is no kind of a trait type", kind);
    }
    IN_CHANGES(invivo_changes_add_trait(set, &trait, error));
}
STATEMENT(untrait) {
    UNUSED;
    IN_CHANGES(invivo_changes_remove_trait(set, words[1].text, error));
}

#endif
