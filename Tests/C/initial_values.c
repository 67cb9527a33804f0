/* The initial value of a property or block is exactly the declared one, or it is an error. */
#include "check.h"

typedef struct {
    uint8_t quiet; /* described by no property */
    double gain;
    int64_t large;
    uint64_t largest;
    char label[8];
    uint64_t seed; /* described by no property */
} voice;

static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .min = 0.5, .max = 2), INVIVO_FIELD(voice, large), INVIVO_FIELD(voice, largest),
    INVIVO_FIELD(voice, label),
};
static const voice lead = {.quiet = 7, .gain = 1.5, .large = 9007199254740993, .largest = UINT64_MAX, .label = "\xff\xfe\0x", .seed = 77};

static invivo_runtime runtime;

static invivo_status say(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(changes, error);
}

static void check_block(invivo_key key, const voice *expected) {
    invivo_view now = invivo_view_begin(runtime);
    const voice *found = invivo_view_block(now, key);
    if (CHECK(found != NULL)) {
        CHECK_EQUAL(found->quiet, expected->quiet);
        CHECK_EQUAL(found->gain, expected->gain);
        CHECK(found->large == expected->large);
        CHECK(found->largest == expected->largest);
        CHECK(memcmp(found->label, expected->label, 8) == 0);
        CHECK_EQUAL(found->seed, expected->seed);
    }
    invivo_view_end(now);
}

/* Including fields without a property. Two keys with one struct may begin differently. */
static void a_block_begins_with_the_bytes_it_was_given(void) {
    invivo_key first, second;
    voice bass = lead, tuned = lead, outside = lead;
    bass.gain = 1, bass.large = -1, bass.seed = 78;
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK_FROM(voice, voice_properties, &lead), &first, E));
    OK(invivo_define_block(runtime, "synth.bass", INVIVO_BLOCK_FROM(voice, voice_properties, &bass), &second, E));
    check_block(first, &lead);
    check_block(second, &bass);
    OK(say("a.yaml", "traits: { synth.lead: [Set: { gain: 2, label: hi }], synth.bass: [Set: { large: 3 }] }", E));
    tuned.gain = 2;
    memcpy(tuned.label, "hi\0\0\0\0\0\0", 8);
    check_block(first, &tuned);
    OK(say("a.yaml", "{}", E));
    check_block(first, &lead);
    check_block(second, &bass);
    /* A redefined block begins anew. */
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK_FROM(voice, voice_properties, &bass), &first, E));
    check_block(first, &bass);
    /* An initial value must be in the range of its property. */
    outside.gain = 3;
    expects_error(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK_FROM(voice, voice_properties, &outside), &first, E),
                  INVIVO_E_ARGUMENT, "voice.gain: the initial value: 3 is outside 0.5...2");
    /* Without bytes it begins with zeros, regardless of other blocks of its type. */
    expects_error(invivo_define_block(runtime, "synth.third", INVIVO_BLOCK(voice, voice_properties), &first, E), INVIVO_E_ARGUMENT,
                  "voice.gain: the initial value: 0 is outside 0.5...2");
    invivo_type type;
    invivo_definition definition = {.struct_size = sizeof(definition), .key = "synth.third", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .block_initial = &outside};
    OK(invivo_type_find(runtime, "voice", &type, E));
    definition.type = type;
    expects_error(invivo_define(runtime, &definition, &first, E), INVIVO_E_RANGE, "synth.third.gain: the initial value: 3 is outside 0.5...2");
    definition.block_initial = &bass;
    OK(invivo_define(runtime, &definition, &first, E));
    check_block(first, &bass);
}

static void one_type_name_with_other_initial_values_is_refused(void) {
    static const invivo_property one[] = {INVIVO_FIELD(voice, gain, .initial = 1)}, two[] = {INVIVO_FIELD(voice, gain, .initial = 2)};
    invivo_block_options block = {sizeof(block), "Named", sizeof(voice), one, 1, NULL};
    OK(invivo_define_block(runtime, "n.one", &block, NULL, E));
    block.properties = two;
    expects_error(invivo_define_block(runtime, "n.two", &block, NULL, E), INVIVO_E_EXISTS,
                  "the type 'Named' is registered already and means something else");
}

static invivo_status nothing(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_int64(1);
    return INVIVO_OK;
}

static void an_initial_value_is_exact(void) {
    invivo_value values[] = {invivo_int64(9007199254740993), invivo_uint64(UINT64_MAX), invivo_double(0.1)};
    invivo_property table[] = {INVIVO_FIELD(voice, large, .initial_value = &values[0]), INVIVO_FIELD(voice, largest, .initial_value = &values[1]),
                               INVIVO_FIELD(voice, gain, .initial_value = &values[2]),
                               {.struct_size = sizeof(invivo_property), .name = "asked", .kind = INVIVO_KIND_INT64, .get = nothing,
                                .initial_value = &values[0]}};
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Exact", .size = sizeof(voice), .properties = table, .property_count = 4};
    invivo_type type;
    invivo_object object;
    invivo_property told = {.struct_size = sizeof(told)};
    void *instance = NULL;
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    CHECK(((voice *)instance)->large == 9007199254740993);
    CHECK(((voice *)instance)->largest == UINT64_MAX);
    OK(invivo_type_property_at(type, 1, &told));
    CHECK(told.initial_value && told.initial_value->kind == INVIVO_KIND_UINT64 && told.initial_value->as.unsigned_integer == UINT64_MAX);
    OK(invivo_type_property_at(type, 3, &told));
    CHECK(told.initial_value && told.initial_value->as.signed_integer == 9007199254740993);
    OK(invivo_object_release(object));

    options.name = "Wrong";
    table[0].initial = 1;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_ARGUMENT,
                  "Wrong.large: there is an initial_value and another initial beside it");
    table[0].initial = 0;
    values[0] = invivo_double(0.5);
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_ARGUMENT,
                  "Wrong.large: the initial value: 0.5 is not a whole number\n"
                  "Wrong.asked: the initial value: 0.5 is not a whole number");
}

static void sizes_beyond_reason_are_refused(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Large", .block_size = 1ull << 40, .concurrency = INVIVO_SHARED};
    invivo_type type;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_TOO_LARGE, NULL);
    options.block_size = 0, options.size = 1ull << 40;
    expects_error(invivo_type_register(runtime, &options, &type, E), INVIVO_E_TOO_LARGE, NULL);
    options.size = 0, options.block_size = 1ull << 20;
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_definition definition = {.struct_size = sizeof(definition), .key = "l.l", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
    OK(invivo_define(runtime, &definition, NULL, E));
}

/* ---- values richer than an invivo_value ---------------------------------------------------------------- */

/* Represents an object of the host: `number` is its value, `identity` is known to the host only. */
typedef struct { double number; int identity; } own;
typedef struct { own value; int refuses; } holder;
static int kept_count;

static invivo_status get_own(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((holder *)instance)->value.number);
    return INVIVO_OK;
}
static invivo_status set_own(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    if (((holder *)instance)->refuses) {
        *error = invivo_error_make(INVIVO_E_HOST, "it refuses", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((holder *)instance)->value = (own){value->as.number, 0};
    return INVIVO_OK;
}
static invivo_status capture_own(void *instance, void *user_data, invivo_value *out, void **kept, invivo_error **error) {
    own *copy = malloc(sizeof(*copy));
    if (copy) *copy = ((holder *)instance)->value;
    *kept = copy;
    kept_count++;
    return get_own(instance, user_data, out, error);
}
static invivo_status restore_own(void *instance, void *user_data, void *kept, invivo_error **error) {
    (void)user_data, (void)error;
    ((holder *)instance)->value = *(own *)kept;
    return INVIVO_OK;
}
static void forget_own(void *user_data, void *kept) {
    (void)user_data;
    free(kept);
    kept_count--;
}
#define OWN(title)                                                                                              \
    {.struct_size = sizeof(invivo_property), .name = title, .kind = INVIVO_KIND_DOUBLE, .get = get_own,         \
     .set = set_own, .capture = capture_own, .restore = restore_own, .forget = forget_own}

static void a_hosts_own_value_comes_back_as_itself(void) {
    const invivo_property table[] = {OWN("value")};
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Holder", .size = sizeof(holder), .properties = table, .property_count = 1};
    invivo_type type;
    invivo_object objects[2];
    holder *holders[2];
    void *instance = NULL;
    OK(invivo_type_register(runtime, &options, &type, E));
    for (int i = 0; i < 2; i++) {
        OK(invivo_object_make(runtime, type, NULL, 0, &objects[i], E));
        OK(invivo_object_instance(objects[i], type, &instance, E));
        holders[i] = instance;
        holders[i]->value = (own){1, 42 + i};
        OK(invivo_target_attach(objects[i], "h.h", NULL, E));
    }
    OK(say("a.yaml", "traits: { h.h: [Set: { value: 3 }] }", E));
    OK(say("a.yaml", "traits: { h.h: [Set: { value: 4 }] }", E));
    CHECK_EQUAL(holders[0]->value.identity, 0);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(holders[0]->value.identity, 42);
    CHECK_EQUAL(holders[1]->value.identity, 43);
    /* Even if a layer has the same number, and a reload that set it fails. */
    holders[1]->refuses = 1;
    expects_error(say("a.yaml", "traits: { h.h: [Set: { value: 1 }] }", E), INVIVO_E_HOST, "a.yaml:1:31: h.h.value: it refuses");
    CHECK_EQUAL(holders[0]->value.identity, 42);
    CHECK_EQUAL(holders[1]->value.identity, 43);
    holders[1]->refuses = 0;
    OK(say("a.yaml", "traits: { h.h: [Set: { value: 1 }] }", E));
    CHECK_EQUAL(holders[0]->value.identity, 0);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(holders[0]->value.identity, 42);
    for (int i = 0; i < 2; i++) OK(invivo_object_release(objects[i]));
}

int main(void) {
    check_begin();
    OK(invivo_runtime_open(&runtime, NULL, E));
    RUN_TEST(a_block_begins_with_the_bytes_it_was_given);
    RUN_TEST(one_type_name_with_other_initial_values_is_refused);
    RUN_TEST(an_initial_value_is_exact);
    RUN_TEST(sizes_beyond_reason_are_refused);
    RUN_TEST(a_hosts_own_value_comes_back_as_itself);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(kept_count, 0);
    return check_end();
}
