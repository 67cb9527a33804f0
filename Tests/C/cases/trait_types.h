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
    if (script_says(said, 3, "repeats")) reversal->flags = INVIVO_REVERSAL_REPEATS;
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

/* ---- types that a case describes ------------------------------------------------------------------------ */

/* The index of the field that a word names. */
static bool trait_field(const line *said, const char *name, size_t *index) {
    *index = 0;
    for (size_t i = 0; i < said->below_count; i++) {
        if (!script_is(said->below[i], "field")) continue;
        if (!strcmp(said->below[i]->words[1].text, name)) return true;
        ++*index;
    }
    return false;
}
/* The value of a field, or the value of a word. Owned. */
static invivo_value trait_value(const line *said, const part *word, const invivo_value *values) {
    size_t index;
    invivo_value value = invivo_null();
    if (word->quoted || word->call || !trait_field(said, word->text, &index)) return value_of(word);
    invivo_value_copy(&value, &values[index], NULL);
    return value;
}

/* The values before an application. */
typedef struct trait_former {
    const line *said;
    struct { const char *property; invivo_value value; } items[16];
    size_t count;
} trait_former;
static void trait_former_free(void *data) {
    trait_former *self = data;
    for (size_t i = 0; i < self->count; i++) invivo_value_clear(&self->items[i].value);
    free(self);
}
static invivo_status trait_restore(invivo_object target, void *instance, void *data, invivo_error **error) {
    const trait_former *self = data;
    (void)instance;
    invivo_status status = event(error, "revert(%s)", self->said->words[1].text);
    for (size_t i = self->count; i > 0 && !status; i--)
        status = invivo_object_set(target, self->items[i - 1].property, &self->items[i - 1].value, error);
    return status;
}

/* The check: `refuse FIELD VALUE TEXT`. */
static invivo_status trait_refuse(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                  invivo_error **error) {
    const line *said = user_data;
    (void)fields, (void)count;
    for (size_t i = 0; i < said->below_count; i++) {
        const part *words = said->below[i]->words;
        if (!script_is(said->below[i], "refuse") || !trait_field(said, words[1].text, at)) continue;
        invivo_value refused = value_of(&words[2]);
        bool is_equal = values_equal(&values[*at], &refused);
        invivo_value_clear(&refused);
        if (!is_equal) continue;
        *error = invivo_error_make(INVIVO_E_HOST, words[3].text, NULL, NULL);
        return INVIVO_E_HOST;
    }
    return INVIVO_OK;
}
/* The lines `set` and `event`, for layers or for an object. A field without a value sets nothing. */
static invivo_status trait_perform(const line *said, const invivo_value *values, invivo_layers *layers, invivo_object object,
                                   trait_former *former, invivo_error **error) {
    invivo_status status = INVIVO_OK;
    for (size_t i = 0; i < said->below_count && !status; i++) {
        const line *below = said->below[i];
        if (script_is(below, "event")) status = event(error, "%s", event_of(&below->words[1]));
        if (!script_is(below, "set")) continue;
        const char *property = below->words[1].text;
        invivo_value value = trait_value(said, &below->words[2], values);
        if (value.kind == INVIVO_KIND_NULL) continue;
        if (former && former->count < 16) {
            former->items[former->count].property = property;
            status = invivo_object_get(object, property, &former->items[former->count].value, error);
            former->count += !status;
        }
        if (!status) status = layers ? invivo_layers_set(layers, property, &value, error) : invivo_object_set(object, property, &value, error);
        invivo_value_clear(&value);
    }
    return status;
}
static invivo_status trait_declare(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                   invivo_error **error) {
    (void)fields, (void)count;
    return trait_perform(user_data, values, layers, (invivo_object){0}, NULL, error);
}
static invivo_status trait_change(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                  invivo_reversal *reversal, void *user_data, invivo_error **error) {
    const line *said = user_data;
    trait_former *former = NULL;
    (void)instance, (void)fields, (void)count;
    for (size_t i = 0; i < said->below_count && !former; i++) {
        if (!script_is(said->below[i], "reversal")) continue;
        former = calloc(1, sizeof *former);
        former->said = said;
        reversal->revert = trait_restore, reversal->data = former, reversal->destroy = trait_former_free;
    }
    return trait_perform(said, values, NULL, target, former, error);
}
static bool trait_is_described(const line *said) {
    for (size_t i = 0; i < said->below_count; i++)
        if (script_is(said->below[i], "set")) return true;
    return false;
}
/* `field NAME KIND [required] [codec=CODEC] [default=VALUE]`. */
static invivo_property trait_field_of(const line *said) {
    static const char *const codecs[] = {"none", "size", "point", "decibel", "percent", "color", "duration"};
    const part *codec = script_labelled(said, "codec"), *initial = script_labelled(said, "default");
    invivo_property field = {.struct_size = sizeof field, .name = said->words[1].text, .kind = kind_of_word(said->words[2].text)};
    if (script_says(said, 3, "required")) field.flags = INVIVO_PROPERTY_REQUIRED;
    for (uint32_t i = 0; codec && i < sizeof codecs / sizeof *codecs; i++)
        if (!strcmp(codecs[i], codec->text)) field.codec = i;
    if (initial) {
        invivo_value *value = script_memory(sizeof *value);
        *value = value_of(initial);
        constants[constant_count++] = *value;
        field.initial_value = value;
    }
    return field;
}
static void trait_describe(const line *said, invivo_trait *trait) {
    invivo_property *fields = script_memory(said->below_count * sizeof *fields);
    for (size_t i = 0; i < said->below_count; i++) {
        static const char *const parts[] = {"field", "refuse", "set", "event", "reversal", "fails", "finds"};
        size_t part = 0;
        while (part < sizeof parts / sizeof *parts && !script_is(said->below[i], parts[part])) part++;
        if (part == sizeof parts / sizeof *parts) WRONG("a trait has no part '%s'", said->below[i]->words[0].text);
        if (part == 0) fields[trait->field_count++] = trait_field_of(said->below[i]);
        if (part == 1) trait->check = trait_refuse;
    }
    if (trait->field_count) trait->fields = fields;
    const char *kind = said->words[2].text;
    if (!strcmp(kind, "code")) trait->apply = trait_change;
    else if (!strcmp(kind, "layers")) trait->layers = trait_declare;
    else WRONG("'%s' is no kind of a trait that a case describes", kind);
}

STATEMENT(trait) {
    UNUSED;
    const part *target = script_labelled(said, "for");
    const char *targets[] = {target ? target->text : "Thing"}, *kind = words[2].text;
    invivo_trait trait = {.struct_size = sizeof trait, .name = words[1].text, .targets = targets, .target_count = 1,
                          .user_data = (void *)(uintptr_t)said};
    if (trait_is_described(said)) {
        if (target && !strcmp(target->text, "none")) trait.targets = NULL, trait.target_count = 0;
        trait_describe(said, &trait);
    } else if (!strcmp(kind, "layers")) {
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

/* ---- targets -------------------------------------------------------------------------------------------- */

static struct attached { const char *name; invivo_target target; } attached[16];
static size_t attached_count;

STATEMENT(attach) {
    UNUSED;
    invivo_value object = value_at(words[1].text);
    size_t at = 0;
    while (at < attached_count && strcmp(attached[at].name, words[1].text)) at++;
    if (at == sizeof attached / sizeof *attached) WRONG("too many objects are attached");
    else attached[at].name = words[1].text;
    invivo_status status = invivo_target_attach(object.as.object, words[2].text, &attached[at].target, error);
    if (!status && at == attached_count) attached_count++;
    invivo_value_clear(&object);
    return status;
}
STATEMENT(detach) {
    UNUSED;
    for (size_t i = 0; i < attached_count; i++) {
        if (strcmp(attached[i].name, words[1].text)) continue;
        invivo_target target = attached[i].target;
        attached[i] = attached[--attached_count];
        return invivo_target_detach(target, error);
    }
    WRONG("'%s' is not attached", words[1].text);
    return INVIVO_OK;
}
STATEMENT(declare) {
    UNUSED;
    kind *kind = kind_named(words[2].text);
    return kind ? invivo_target_declare(runtime, words[1].text, kind->type[runtime_number], error) : INVIVO_E_TYPE;
}

#endif
