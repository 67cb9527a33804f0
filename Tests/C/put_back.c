/* Values that cannot be put back at once: base values stay until they are back, whichever call of a setter or a reversal fails.
 * docs/rules/traits.md, T-R5. */
/* sanitize: yes */
#include "check.h"

enum kind { SETTERS, REVERSALS };
static enum kind failing;
static int calls, fails_at, lasts; /* fails_at 0: never */

static int fails(enum kind kind, invivo_error **error) {
    if (kind != failing || !fails_at) return 0;
    calls++;
    if (calls != fails_at && !(lasts && calls > fails_at)) return 0;
    *error = invivo_error_make(INVIVO_E_HOST, "device busy", NULL, NULL);
    return 1;
}

typedef struct voice { double values[3]; int applied[8], depth; } voice;
static invivo_status get_value(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)error;
    *out = invivo_double(((voice *)instance)->values[(intptr_t)user_data]);
    return INVIVO_OK;
}
static invivo_status set_value(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    if (fails(SETTERS, error)) return INVIVO_E_HOST;
    ((voice *)instance)->values[(intptr_t)user_data] = value->as.number;
    return INVIVO_OK;
}
#define VALUE(label, at) \
    {.struct_size = sizeof(invivo_property), .name = label, .kind = INVIVO_KIND_DOUBLE, .max = 1e6, .get = get_value, .set = set_value, \
     .user_data = (void *)(intptr_t)(at)}
static const invivo_property voice_properties[] = {VALUE("gain", 0), VALUE("tune", 1), VALUE("pan", 2)};

typedef struct parameters { int64_t id; } parameters;
static const invivo_property fields[] = {INVIVO_FIELD(parameters, id, .initial = 1)};
static invivo_status revert(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target;
    voice *of = instance;
    CHECK(of->depth > 0 && of->applied[of->depth - 1] == (int)(intptr_t)data);
    if (of->depth) of->depth--;
    return fails(REVERSALS, error) ? INVIVO_E_HOST : INVIVO_OK;
}
static invivo_status apply(invivo_object target, void *instance, const void *given, const invivo_value *values, size_t count,
                           invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)values, (void)count, (void)user_data, (void)error;
    voice *of = instance;
    int id = (int)((const parameters *)given)->id;
    of->applied[of->depth++] = id;
    reversal->revert = revert, reversal->data = (void *)(intptr_t)id;
    return INVIVO_OK;
}
/* Without a reversal: the runtime puts back what it sets. The second value of `pan` is not what is put back. */
static invivo_status apply_values(invivo_object target, void *instance, const void *given, const invivo_value *values, size_t count,
                                  invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)instance, (void)values, (void)count, (void)reversal, (void)user_data;
    double number = (double)((const parameters *)given)->id;
    const struct { const char *name; double value; } set[] = {{"pan", 50}, {"tune", number}, {"pan", number}};
    for (int at = 0; at < 3; at++) {
        invivo_value value = invivo_double(set[at].value);
        invivo_status status = invivo_object_set(target, set[at].name, &value, error);
        if (status) return status;
    }
    return INVIVO_OK;
}

static invivo_runtime runtime;
static const char *const keys[] = {"synth.lead", "synth.bass"};
static voice *voices[2];
static invivo_object objects[2];
static invivo_type type;

static void begin(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options of_voices = {.struct_size = sizeof of_voices, .name = "Voice", .size = sizeof(voice),
                                     .properties = voice_properties, .property_count = 3};
    OK(invivo_type_register(runtime, &of_voices, &type, E));
    static const char *all[] = {"Voice"};
    invivo_trait code = {.struct_size = sizeof code, .name = "synth.Code", .targets = all, .target_count = 1, .fields = fields,
                         .field_count = 1, .size = sizeof(parameters), .apply = apply};
    invivo_trait setting = code;
    setting.name = "synth.Values", setting.apply = apply_values;
    OK(invivo_trait_add(runtime, &code, E));
    OK(invivo_trait_add(runtime, &setting, E));
    for (int at = 0; at < 2; at++) {
        invivo_definition definition = {.struct_size = sizeof definition, .key = keys[at], .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
        void *instance = NULL;
        OK(invivo_define(runtime, &definition, NULL, E));
        OK(invivo_resolve_name(runtime, keys[at], &objects[at], E));
        OK(invivo_object_instance(objects[at], type, &instance, E));
        voices[at] = instance;
        for (int value = 0; value < 3; value++) voices[at]->values[value] = 7 + 10 * at + value;
    }
    fails_at = 0;
}
static void end(void) {
    for (int at = 0; at < 2; at++) OK(invivo_object_release(objects[at]));
    OK(invivo_runtime_close(runtime, E));
}
static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(set, error);
}
/* A commit that changes no traits. */
static void commit_other(void) {
    static int number;
    char text[64];
    snprintf(text, sizeof text, "config: { other: %d }", number++);
    OK(document("other", text, E));
}

static const char *const lists[] = {
    "{}",
    "traits: { synth.lead: [synth.Code: { id: 1 }, Set: { gain: 90 }], synth.bass: [Set: { gain: 1 }] }",
    "traits: { synth.lead: [Set: { gain: 2, pan: 3 }, synth.Values: { id: 100 }, Set: { tune: 5, gain: 6 }, synth.Code: { id: 2 }, "
    "Set: { pan: 4 }], synth.bass: [synth.Values: { id: 200 }] }",
    "traits: { synth.lead: [synth.Values: { id: 300 }, synth.Code: { id: 3 }], synth.bass: [synth.Code: { id: 4 }, Scale: { gain: 2 }, "
    "synth.Values: { id: 1 }, Offset: { tune: 4 }] }",
};
enum { LISTS = 4 };

static int is_as(const voice *state) { return !memcmp(&state[0], voices[0], sizeof *state) && !memcmp(&state[1], voices[1], sizeof *state); }
static void keep(voice *state) {
    for (int at = 0; at < 2; at++) {
        for (int slot = voices[at]->depth; slot < 8; slot++) voices[at]->applied[slot] = 0;
        state[at] = *voices[at];
    }
}

/* From one list to another, where the call of this number fails. Returns whether there was such a call. */
static int exchange(const char *from, const char *to, int number, const voice *own) {
    voice before[2], now[2];
    OK(document("traits", from, E));
    keep(before);
    calls = 0, fails_at = number;
    invivo_error *error = NULL;
    invivo_status status = document("traits", to, &error);
    invivo_error_release(error);
    int has_failed = calls >= number;
    CHECK(has_failed == (status != INVIVO_OK));
    keep(now);
    if (has_failed && !is_as(before)) CHECK(*check_status_names(runtime, "unrestored"));
    /* A commit while it still fails loses no base value. */
    if (has_failed && lasts) commit_other();
    fails_at = 0;
    commit_other();
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    keep(now);
    if (has_failed) CHECK(is_as(before));
    OK(document("traits", "traits: {}", E));
    keep(now);
    CHECK(is_as(own));
    return has_failed;
}
static void exchange_all(enum kind kind) {
    begin();
    voice own[2];
    keep(own);
    failing = kind;
    int failures = 0;
    for (lasts = 0; lasts < 2; lasts++)
        for (int from = 0; from < LISTS; from++)
            for (int to = 0; to < LISTS; to++) {
                int number = 1;
                while (from != to && exchange(lists[from], lists[to], number, own)) number++;
                failures += number - 1;
            }
    CHECK(failures > 20);
    end();
}
static void base_values_stay_whichever_setter_fails(void) { exchange_all(SETTERS); }
static void base_values_stay_whichever_reversal_fails(void) { exchange_all(REVERSALS); }

/* A layer above a trait that runs code: its base value is not lost with the trait. */
static void a_layer_that_stays_keeps_the_trait_below_it(void) {
    begin();
    /* The second setter fails in the commit, and those of its undo. */
    failing = SETTERS, lasts = 1, calls = 0, fails_at = 2;
    invivo_error *error = NULL;
    CHECK_EQUAL(document("traits", lists[1], &error), INVIVO_E_HOST);
    invivo_error_release(error);
    CHECK(voices[0]->values[0] == 90 && voices[0]->depth == 1);
    commit_other();
    CHECK(*check_status_names(runtime, "unrestored"));
    CHECK(voices[0]->values[0] == 90 && voices[0]->depth == 1);
    fails_at = 0;
    commit_other();
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    CHECK(voices[0]->values[0] == 7 && voices[0]->depth == 0);
    end();
}

/* A restore that fails again is undone as a whole: no property has a value that other code seems to have set. */
static void a_restore_that_fails_changes_nothing(void) {
    begin();
    failing = SETTERS;
    OK(document("traits", "traits: { synth.lead: [Set: { gain: 20, tune: 21 }] }", E));
    /* The third setter fails, and those of the undo. */
    lasts = 1, calls = 0, fails_at = 3;
    expects_error(document("traits", "traits: { synth.lead: [Set: { gain: 30, tune: 31, pan: 32 }] }", E), INVIVO_E_HOST, NULL);
    CHECK(voices[0]->values[0] == 30 && voices[0]->values[1] == 31 && voices[0]->values[2] == 9);
    /* Of the restore, the second one fails. */
    lasts = 0, calls = 0, fails_at = 2;
    commit_other();
    CHECK_EQUAL(calls, 3);
    CHECK(voices[0]->values[0] == 30 && voices[0]->values[1] == 31 && voices[0]->values[2] == 9);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.lead");
    fails_at = 0;
    OK(document("traits", "traits: {}", E));
    for (int value = 0; value < 3; value++) CHECK(voices[0]->values[value] == 7 + value);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    end();
}

/* Values that an application has set stay to be put back, also if it fails. */
static invivo_status apply_and_fail(invivo_object target, void *instance, const void *given, const invivo_value *values, size_t count,
                                    invivo_reversal *reversal, void *user_data, invivo_error **error) {
    invivo_status status = apply_values(target, instance, given, values, count, reversal, user_data, error);
    if (status) return status;
    calls = 0, fails_at = 1; /* the setters fail from here on */
    *error = invivo_error_make(INVIVO_E_HOST, "the application fails", NULL, NULL);
    return INVIVO_E_HOST;
}
static void values_of_a_failed_application_are_put_back_later(void) {
    begin();
    static const char *all[] = {"Voice"};
    invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Late", .targets = all, .target_count = 1, .fields = fields,
                          .field_count = 1, .size = sizeof(parameters), .apply = apply_and_fail};
    OK(invivo_trait_add(runtime, &trait, E));
    failing = SETTERS, lasts = 1;
    invivo_error *error = NULL;
    CHECK_EQUAL(document("traits", "traits: { synth.lead: [Set: { gain: 3 }, synth.Late: { id: 60 }] }", &error), INVIVO_E_HOST);
    invivo_error_release(error);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.lead");
    CHECK(voices[0]->values[1] == 60 && voices[0]->values[2] == 60);
    CHECK_EQUAL(calls, 2); /* each value once: the undo of the commit does not try again */
    fails_at = 0;
    commit_other();
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    for (int value = 0; value < 3; value++) CHECK(voices[0]->values[value] == 7 + value);
    end();
}

/* The domain of the object cannot be asked whether it has been put back: the next commit restores it. */
static int posts, refused_post;
static invivo_status post_here(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data;
    if (++posts == refused_post) {
        *error = invivo_error_make(INVIVO_E_HOST, "the window is busy", NULL, NULL);
        return INVIVO_E_HOST;
    }
    invivo_job_run(job);
    return INVIVO_OK;
}
static invivo_object far_object;
static voice *far;
static void keep_far(void *user_data, invivo_object object, const invivo_error *error) {
    (void)user_data;
    void *instance = NULL;
    CHECK(error == NULL);
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    far_object = object, far = instance;
}
static void an_object_whose_domain_does_not_answer_is_restored_later(void) {
    begin();
    invivo_domain_options window = {.struct_size = sizeof window, .name = "window", .post = post_here};
    invivo_domain domain;
    OK(invivo_domain_register(runtime, &window, &domain, E));
    invivo_type_options of_far = {.struct_size = sizeof of_far, .name = "Far", .size = sizeof(voice), .properties = voice_properties,
                                  .property_count = 3, .domain = domain};
    invivo_type far_type;
    OK(invivo_type_register(runtime, &of_far, &far_type, E));
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.far", .type = far_type,
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_key key;
    OK(invivo_define(runtime, &definition, &key, E));
    OK(invivo_resolve_async(runtime, key, NULL, 0, keep_far, NULL, domain, E));
    const voice *of = far;
    OK(document("traits", "traits: { synth.far: [Set: { gain: 20 }] }", E));
    CHECK_EQUAL(of->values[0], 20);
    failing = SETTERS, lasts = 1, calls = 0, fails_at = 2, refused_post = posts + 2;
    expects_error(document("traits", "traits: { synth.far: [Set: { gain: 30, tune: 31 }] }", E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(posts, refused_post);
    CHECK_EQUAL(of->values[0], 30);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.far");
    fails_at = refused_post = 0;
    commit_other();
    CHECK_EQUAL(of->values[0], 20);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    OK(invivo_object_release(far_object));
    end();
}

/* A change set that sets another base value leaves a value of the program. */
static void set_base(const char *property, double number) {
    invivo_changes set;
    invivo_value value = invivo_double(number);
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_set(set, keys[0], property, &value, E));
    OK(invivo_changes_commit(set, E));
}
static void a_base_value_is_set_once(void) {
    begin();
    set_base("gain", 20);
    CHECK_EQUAL(voices[0]->values[0], 20);
    voices[0]->values[0] = 25;
    set_base("tune", 30);
    CHECK(voices[0]->values[0] == 25 && voices[0]->values[1] == 30);
    set_base("gain", 21);
    CHECK(voices[0]->values[0] == 21 && voices[0]->values[1] == 30);
    end();
}

/* A level that a cap limits: the cap is put back first, because it was set last. */
typedef struct limited { double level, cap; } limited;
static invivo_status get_limited(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)error;
    *out = invivo_double(user_data ? ((limited *)instance)->cap : ((limited *)instance)->level);
    return INVIVO_OK;
}
static invivo_status set_limited(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    limited *of = instance;
    if (fails(SETTERS, error)) return INVIVO_E_HOST;
    if (user_data) of->cap = value->as.number;
    else of->level = value->as.number;
    if (of->level > of->cap) of->level = of->cap;
    return INVIVO_OK;
}
static invivo_status apply_limits(invivo_object target, void *instance, const void *given, const invivo_value *values, size_t count,
                                  invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)instance, (void)given, (void)values, (void)count, (void)reversal, (void)user_data;
    invivo_value level = invivo_double(3), cap = invivo_double(5);
    invivo_status status = invivo_object_set(target, "level", &level, error);
    return status ? status : invivo_object_set(target, "cap", &cap, error);
}
static void values_are_put_back_in_the_reverse_order(void) {
    begin();
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "level", .kind = INVIVO_KIND_DOUBLE, .get = get_limited, .set = set_limited},
        {.struct_size = sizeof(invivo_property), .name = "cap", .kind = INVIVO_KIND_DOUBLE, .get = get_limited, .set = set_limited,
         .user_data = &runtime}};
    invivo_type_options of_limited = {.struct_size = sizeof of_limited, .name = "Limited", .size = sizeof(limited),
                                      .properties = properties, .property_count = 2};
    invivo_type limited_type;
    OK(invivo_type_register(runtime, &of_limited, &limited_type, E));
    static const char *targets[] = {"Limited"};
    const invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Limits", .targets = targets, .target_count = 1, .apply = apply_limits};
    OK(invivo_trait_add(runtime, &trait, E));
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.limited", .type = limited_type,
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_object object = {0};
    void *instance = NULL;
    OK(invivo_resolve_name(runtime, "synth.limited", &object, E));
    OK(invivo_object_instance(object, limited_type, &instance, E));
    limited *of = instance;
    *of = (limited){.level = 8, .cap = 10};
    const char *list = "traits: { synth.limited: [synth.Limits: {}] }";
    OK(document("traits", list, E));
    CHECK(of->level == 3 && of->cap == 5);
    OK(document("traits", "{}", E));
    CHECK(of->level == 8 && of->cap == 10);
    /* Also if both are refused at first. */
    OK(document("traits", list, E));
    failing = SETTERS, lasts = 1, calls = 0, fails_at = 1;
    expects_error(document("traits", "{}", E), INVIVO_E_HOST, NULL);
    CHECK(of->level == 3 && of->cap == 5);
    fails_at = 0;
    OK(document("traits", "{}", E));
    CHECK(of->level == 8 && of->cap == 10);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    OK(invivo_object_release(object));
    end();
}

/* An application that fails after it has stored a reversal that repeats: what it has done until then is reversed at once, or later. */
static invivo_status revert_half(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target;
    if (fails(REVERSALS, error)) return INVIVO_E_HOST;
    ((voice *)instance)->applied[0] = *(int *)data;
    return INVIVO_OK;
}
static int halves;
static void destroy_half(void *data) { (void)data, halves--; }
static invivo_status apply_half(invivo_object target, void *instance, const void *given, const invivo_value *values, size_t count,
                                invivo_reversal *reversal, void *user_data, invivo_error **error) {
    static int former = 50;
    invivo_status status = apply_values(target, instance, given, values, count, reversal, user_data, error);
    if (status) return status;
    ((voice *)instance)->applied[0] = 40;
    halves++;
    reversal->revert = revert_half, reversal->destroy = destroy_half, reversal->data = &former;
    reversal->flags = *(const uint32_t *)user_data;
    *error = invivo_error_make(INVIVO_E_HOST, "the application fails", NULL, NULL);
    return INVIVO_E_HOST;
}
static void a_failed_application_is_reversed_if_its_reversal_repeats(void) {
    begin();
    static const char *all[] = {"Voice"};
    static uint32_t flags;
    invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Half", .targets = all, .target_count = 1, .fields = fields,
                          .field_count = 1, .size = sizeof(parameters), .apply = apply_half, .user_data = &flags};
    OK(invivo_trait_add(runtime, &trait, E));
    failing = REVERSALS, lasts = 1;
    for (int round = 0; round < 3; round++) {
        flags = round ? INVIVO_REVERSAL_REPEATS : 0;
        calls = 0, fails_at = round == 2 ? 1 : 0, voices[0]->applied[0] = 0;
        invivo_error *error = NULL;
        CHECK_EQUAL(document("traits", "traits: { synth.lead: [Set: { gain: 3 }, synth.Half: { id: 60 }] }", &error), INVIVO_E_HOST);
        CHECK(strstr(invivo_error_text(error), "could not be applied (because the application fails)"));
        if (round == 2) CHECK(strstr(invivo_error_text(error), "could not be reversed (because device busy)"));
        invivo_error_release(error);
        CHECK_EQUAL(voices[0]->applied[0], round == 1 ? 50 : 40);
        CHECK_TEXT(check_status_names(runtime, "unrestored"), round == 2 ? "synth.lead" : "");
        CHECK_EQUAL(halves, round == 2);
        for (int value = 1; value < 3; value++) CHECK(voices[0]->values[value] == 7 + value);
        CHECK(voices[0]->values[0] == (round == 2 ? 3 : 7));
    }
    commit_other();
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.lead");
    fails_at = 0;
    commit_other();
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    CHECK_EQUAL(voices[0]->applied[0], 50);
    CHECK_EQUAL(halves, 0);
    CHECK(voices[0]->values[0] == 7);
    end();
}

/* An object that cannot move to another key has the traits of its former key again, which alone is listed. */
static void an_object_that_could_not_move_has_its_former_traits(void) {
    for (int kind = 0, number = 1; kind < 2; number++) {
        begin();
        OK(invivo_target_declare(runtime, "synth.one", type, E));
        OK(invivo_target_declare(runtime, "synth.two", type, E));
        OK(document("traits", "traits:\n  synth.one: [synth.Values: { id: 60 }, synth.Code: { id: 1 }, Set: { gain: 3 }]\n"
                              "  synth.two: [synth.Code: { id: 2 }, synth.Values: { id: 70 }]\n  synth.bass: [Set: { gain: 2 }]", E));
        invivo_object loose = {0};
        invivo_target one = {0}, two = {0};
        void *instance = NULL;
        OK(invivo_object_make(runtime, type, NULL, 0, &loose, E));
        OK(invivo_object_instance(loose, type, &instance, E));
        voices[0] = instance;
        for (int value = 0; value < 3; value++) voices[0]->values[value] = 7 + value;
        OK(invivo_target_attach(loose, "synth.one", &one, E));
        voice before[2];
        keep(before);
        failing = kind ? REVERSALS : SETTERS, lasts = 0, calls = 0, fails_at = number;
        invivo_error *error = NULL;
        invivo_status status = invivo_target_attach(loose, "synth.two", &two, &error);
        invivo_error_release(error);
        CHECK((status != INVIVO_OK) == (calls >= number));
        if (!status) {
            fails_at = 0;
            OK(invivo_target_detach(two, E)); /* no such call: the other kind */
            kind++, number = 0;
        } else {
            const char *listed = check_status_names(runtime, "unrestored");
            CHECK(!*listed || !strcmp(listed, "synth.one"));
            fails_at = 0;
            commit_other();
            CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
            voice now[2];
            keep(now);
            CHECK(is_as(before));
            OK(invivo_target_detach(one, E));
        }
        for (int value = 0; value < 3; value++) CHECK(voices[0]->values[value] == 7 + value);
        CHECK_EQUAL(voices[0]->depth, 0);
        OK(invivo_object_release(loose));
        end();
        if (number > 50) CHECK(!"ends"), kind++;
    }
}

int main(void) {
    check_begin();
    RUN_TEST(base_values_stay_whichever_setter_fails);
    RUN_TEST(base_values_stay_whichever_reversal_fails);
    RUN_TEST(a_layer_that_stays_keeps_the_trait_below_it);
    RUN_TEST(a_restore_that_fails_changes_nothing);
    RUN_TEST(values_of_a_failed_application_are_put_back_later);
    RUN_TEST(an_object_whose_domain_does_not_answer_is_restored_later);
    RUN_TEST(a_base_value_is_set_once);
    RUN_TEST(values_are_put_back_in_the_reverse_order);
    RUN_TEST(a_failed_application_is_reversed_if_its_reversal_repeats);
    RUN_TEST(an_object_that_could_not_move_has_its_former_traits);
    return check_end();
}
