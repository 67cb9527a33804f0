/* Traits are layers over a base value: layers can be removed in any order, and the last removal restores the exact
 * former value. */
/* sanitize: no, the sanitizers have not been tried on it */
#include "check.h"

typedef struct { double x, y; } point;

typedef struct {
    double gain, cutoff;
    int32_t wave;
    uint64_t large;
    char label[24];
    point where;
    double clamped; /* by function: never above 10 */
    int32_t restart;
    int32_t set_calls; /* how often a setter by function was called */
    int32_t fail_at;   /* the call that fails; 0 = none */
    double a, b, c;    /* by function, counted */
    uint8_t salt[4];
    bool disposed;
} voice;

static const invivo_choice waves[] = {{"sine", 0}, {"saw", 1}, {"square", 7}};
static const char *const former_names[] = {"volume", "loudness"};
static const invivo_property point_fields[] = {INVIVO_FIELD(point, x, .max = 100), INVIVO_FIELD(point, y)};

static void (*in_init)(void), (*in_setter)(void);
static invivo_status get_clamped(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((voice *)instance)->clamped);
    return INVIVO_OK;
}
static invivo_status set_clamped(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    if (in_setter) in_setter();
    ((voice *)instance)->clamped = value->as.number > 10 ? 10 : value->as.number;
    return INVIVO_OK;
}

/* a, b, c: user_data is the field's offset. */
static invivo_status get_counted(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)error;
    *out = invivo_double(*(double *)((char *)instance + (size_t)user_data));
    return INVIVO_OK;
}
static char set_order[256]; /* "a=4 c! ": values that were set, and refusals */
static void note_set(size_t offset, bool fails, double value) {
    const char name = offset == offsetof(voice, a) ? 'a' : offset == offsetof(voice, b) ? 'b' : 'c';
    size_t length = strlen(set_order);
    if (fails) snprintf(set_order + length, sizeof set_order - length, "%c! ", name);
    else snprintf(set_order + length, sizeof set_order - length, "%c=%g ", name, value);
}
static invivo_status set_counted(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    voice *self = instance;
    bool fails = ++self->set_calls == self->fail_at;
    note_set((size_t)user_data, fails, value->as.number);
    if (fails) {
        if (error) *error = invivo_error_make(INVIVO_E_RANGE, "this one fails", NULL, NULL);
        return INVIVO_E_RANGE;
    }
    *(double *)((char *)instance + (size_t)user_data) = value->as.number;
    return INVIVO_OK;
}
#define COUNTED(field)                                                                                                    \
    {.struct_size = sizeof(invivo_property), .name = #field, .kind = INVIVO_KIND_DOUBLE, .get = get_counted,              \
     .set = set_counted, .user_data = (void *)offsetof(voice, field)}

static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .max = 50, .was = former_names, .was_count = 2),
    INVIVO_FIELD(voice, cutoff, .initial = 800, .min = 20, .max = 20000, .unit = "Hz"),
    INVIVO_FIELD(voice, wave, .choices = waves, .choice_count = 3),
    INVIVO_FIELD(voice, large),
    INVIVO_FIELD(voice, label, .initial_text = "lead"),
    INVIVO_FIELD(voice, where, .fields = point_fields, .field_count = 2),
    {.struct_size = sizeof(invivo_property), .name = "clamped", .kind = INVIVO_KIND_DOUBLE, .get = get_clamped, .set = set_clamped},
    INVIVO_FLAGGED_FIELD(voice, INVIVO_PROPERTY_RESTART, restart, .initial = 1),
    COUNTED(a), COUNTED(b), COUNTED(c),
    INVIVO_FIELD(voice, salt),
};

static int disposals, made_fail_at;
static invivo_status voice_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    ((voice *)instance)->fail_at = made_fail_at;
    if (in_init) in_init();
    return INVIVO_OK;
}
static void voice_deinit(void *instance, void *user_data) {
    (void)user_data;
    ((voice *)instance)->disposed = true;
    disposals++;
}

static invivo_runtime runtime;
static invivo_type type;
static invivo_runtime_options options;

/* ---- the log ---- */
static char log_text[16384];
static void note(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (entry->level < INVIVO_LOG_WARNING) return;
    size_t length = strlen(log_text);
    snprintf(log_text + length, sizeof(log_text) - length, "%s\n", entry->message);
}

static void begin(void) {
    invivo_type_options voice_type = {.struct_size = sizeof(voice_type), .name = "Voice", .size = sizeof(voice),
                                      .alignment = _Alignof(voice), .init = voice_init, .deinit = voice_deinit, .properties = voice_properties,
                                      .property_count = sizeof(voice_properties) / sizeof(voice_properties[0])};
    log_text[0] = 0;
    disposals = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &voice_type, &type, E));
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }

static voice *make(invivo_object *object) {
    void *instance = NULL;
    OK(invivo_object_make(runtime, type, NULL, 0, object, E));
    OK(invivo_object_instance(*object, type, &instance, E));
    return instance;
}

static invivo_status say(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(changes, error);
}

static double number(const char *trait) { return atof(strstr(trait, "gain: ") + 6); }

/* ---- layers ------------------------------------------------------------------------------------------ */

/* Three documents put a layer on one property; they are removed in each of the six orders. */
static void layers_leave_in_any_order(void) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const char *const names[] = {"first.yaml", "second.yaml", "third.yaml"};
    static const char *const texts[] = {"traits: { synth.lead: [ Set: { gain: 8 } ] }", "traits: { synth.lead: [ Set: { gain: 61 } ] }",
                                        "traits: { synth.lead: [ Set: { gain: 5, label: third } ] }"};
    static const char *const good[] = {"traits: { synth.lead: [ Set: { gain: 8 } ] }", "traits: { synth.lead: [ Set: { gain: 21 } ] }", NULL};
    begin();
    invivo_object object;
    invivo_target target;
    voice *self = make(&object);
    (void)texts;
    OK(invivo_target_attach(object, "synth.lead", &target, E));
    for (int order = 0; order < 6; order++) {
        const char *there[3];
        self->gain = 0.1 + 0.2; /* not exactly 0.3: the base is restored bit by bit */
        double base = self->gain;
        for (int i = 0; i < 3; i++) {
            there[i] = i < 2 ? good[i] : texts[2];
            OK(say(names[i], there[i], E));
            CHECK_EQUAL(self->gain, number(there[i]));
        }
        CHECK_TEXT(self->label, "third");
        for (int left = 0; left < 3; left++) {
            OK(say(names[orders[order][left]], NULL, E));
            there[orders[order][left]] = NULL;
            double expected = base;
            for (int i = 0; i < 3; i++) expected = there[i] ? number(there[i]) : expected;
            CHECK_EQUAL(self->gain, expected);
        }
        CHECK_TEXT(self->label, "lead");
        CHECK(memcmp(&self->gain, &base, sizeof(base)) == 0);
    }
    CHECK_TEXT(log_text, "");
    OK(invivo_object_release(object));
    end();
    CHECK_EQUAL(disposals, 1);
}

/* Several layers in one document: the last wins; removing a middle one changes no value. */
static void layers_of_one_document_are_a_stack(void) {
    begin();
    invivo_object object;
    voice *self = make(&object);
    OK(invivo_target_attach(object, "synth.lead", NULL, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2, cutoff: 100 }\n    - Set: { gain: 3 }\n    - Set: { gain: 4 }\n", E));
    CHECK_EQUAL(self->gain, 4);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2, cutoff: 100 }\n    - Set: { gain: 4 }\n", E));
    CHECK_EQUAL(self->gain, 4);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2, cutoff: 100 }\n", E));
    CHECK_EQUAL(self->gain, 2);
    CHECK_EQUAL(self->cutoff, 100);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - { type: Set, cutoff: 200 }\n", E));
    CHECK_EQUAL(self->gain, 1);
    CHECK_EQUAL(self->cutoff, 200);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->cutoff, 800);
    OK(invivo_object_release(object));
    end();
}

/* ---- setters and other code ---------------------------------------------------------------------------- */

static uint32_t last_kind;
static void note_kind(void *user_data, const invivo_report *report) {
    (void)user_data;
    last_kind = invivo_report_warning_count(report) == 1 ? invivo_report_warning_kind(report, 0) : 0;
}
#define LAST_WARNING(kind) (OK(invivo_runtime_reports(runtime, note_kind, NULL, E)), CHECK_EQUAL(last_kind, INVIVO_WARNING_##kind))

static void a_setter_that_clamps_is_reported_and_reversed(void) {
    begin();
    invivo_object object;
    voice *self = make(&object);
    self->clamped = 3;
    OK(invivo_target_attach(object, "synth.lead", NULL, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { clamped: 25 }\n", E));
    CHECK_EQUAL(self->clamped, 10);
    CHECK_TEXT(log_text, "a.yaml:3:23: synth.lead.clamped: set to 25, but the object returns 10\n");
    LAST_WARNING(ADJUSTED);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->clamped, 3);
    /* So is a base value that the setter no longer accepts. */
    self->clamped = 25;
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { clamped: 4 }\n", E));
    CHECK_EQUAL(self->clamped, 4);
    log_text[0] = 0;
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->clamped, 10);
    CHECK_TEXT(log_text, "synth.lead.clamped: set to 25, but the object returns 10\n");
    OK(invivo_object_release(object));
    end();
}

static void values_changed_by_other_code_stay(void) {
    begin();
    invivo_object object;
    voice *self = make(&object);
    OK(invivo_target_attach(object, "synth.lead", NULL, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 5, cutoff: 100 }\n", E));
    self->gain = 6.5;
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->gain, 6.5);
    CHECK_EQUAL(self->cutoff, 800);
    CHECK_TEXT(log_text, "synth.lead.gain: other code changed it from 5 to 6.5; that value stays\n");
    LAST_WARNING(FOREIGN);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 7 }\n", E)); /* its base is now 6.5 */
    CHECK_EQUAL(self->gain, 7);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->gain, 6.5);
    OK(invivo_object_release(object));
    end();
}

/* The same with a single property under a layer, of each kind. */
static void a_single_property_that_other_code_changed_stays(void) {
    static const char *const texts[] = {"traits: { synth.lead: [ Set: { gain: 5 } ] }", "traits: { synth.lead: [ Set: { a: 5 } ] }"};
    for (int i = 0; i < 2; i++) {
        begin();
        invivo_object object;
        voice *self = make(&object);
        double *value = i == 0 ? &self->gain : &self->a;
        OK(invivo_target_attach(object, "synth.lead", NULL, E));
        OK(say("a.yaml", texts[i], E));
        CHECK_EQUAL(*value, 5);
        *value = 6.5;
        OK(say("a.yaml", NULL, E));
        CHECK_EQUAL(*value, 6.5);
        CHECK(strstr(log_text, "other code changed it from 5 to 6.5"));
        OK(say("a.yaml", texts[i], E));
        OK(say("a.yaml", NULL, E));
        CHECK_EQUAL(*value, 6.5); /* the base at that time */
        OK(invivo_object_release(object));
        end();
    }
}

/* Changes of one object in one change set are undone in reverse order. */
static void an_object_is_undone_in_reverse_order(void) {
    begin();
    invivo_object object;
    voice *self = make(&object);
    OK(invivo_target_attach(object, "synth.lead", NULL, E));
    OK(say("a.yaml", "traits: { synth.lead: [ Set: { a: 1, b: 2, c: 3 } ] }", E));
    set_order[0] = 0;
    self->set_calls = 0, self->fail_at = 3;
    expects_error(say("a.yaml", "traits: { synth.lead: [ Set: { a: 4, b: 5, c: 6 } ] }", E), INVIVO_E_RANGE, NULL);
    self->fail_at = 0;
    CHECK_TEXT(set_order, "a=4 b=5 c! b=2 a=1 ");
    CHECK_EQUAL(self->a, 1);
    CHECK_EQUAL(self->b, 2);
    CHECK_EQUAL(self->c, 3);
    OK(invivo_object_release(object));
    end();
}

/* Counted faults: the first setter call fails, then the second, ..., until the change succeeds. Each failure restores
 * everything. */
static void a_failing_setter_undoes_everything(void) {
    begin();
    invivo_object objects[2];
    voice *selves[2];
    uint64_t generation;
    for (int i = 0; i < 2; i++) {
        selves[i] = make(&objects[i]);
        selves[i]->a = 1 + i, selves[i]->b = 2 + i, selves[i]->c = 3 + i;
        OK(invivo_target_attach(objects[i], "synth.lead", NULL, E));
    }
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { a: 10, c: 30 }\n", E));
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    generation = info.generation;
    int faults = 0;
    for (int victim = 0; victim < 2; victim++) {
        for (int fault = 1;; fault++) {
            selves[victim]->set_calls = 0;
            selves[victim]->fail_at = fault;
            invivo_status status = say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 9 }\n    - Set: { b: 21, c: 31 }\n", E);
            if (status == INVIVO_OK) break;
            faults++;
            CHECK_EQUAL(status, INVIVO_E_RANGE);
            CHECK(strstr(invivo_error_text(check_error), "this one fails") != NULL);
            invivo_error_release(check_error);
            check_error = NULL;
            for (int i = 0; i < 2; i++) {
                CHECK_EQUAL(selves[i]->a, 10);
                CHECK_EQUAL(selves[i]->b, 2 + i);
                CHECK_EQUAL(selves[i]->c, 30);
                CHECK_EQUAL(selves[i]->gain, 1);
            }
            OK(invivo_runtime_inspect(runtime, &info, E));
            CHECK_EQUAL(info.generation, generation);
        }
        selves[victim]->fail_at = 0;
        for (int i = 0; i < 2; i++) {
            CHECK_EQUAL(selves[i]->a, 1 + i);
            CHECK_EQUAL(selves[i]->b, 21);
            CHECK_EQUAL(selves[i]->c, 31);
            CHECK_EQUAL(selves[i]->gain, 9);
        }
        OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { a: 10, c: 30 }\n", E));
        OK(invivo_runtime_inspect(runtime, &info, E));
        generation = info.generation;
    }
    CHECK_EQUAL(faults, 6); /* a back, b on, c other: three setter calls in each object */
    OK(say("a.yaml", NULL, E));
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(selves[i]->a, 1 + i);
        CHECK_EQUAL(selves[i]->b, 2 + i);
        CHECK_EQUAL(selves[i]->c, 3 + i);
        OK(invivo_object_release(objects[i]));
    }
    end();
}

/* ---- kinds of properties ----------------------------------------------------------------------------- */

static void former_names_units_enumerations_and_structs(void) {
    begin();
    invivo_object object;
    voice *self = make(&object);
    self->where.x = 1, self->where.y = 2;
    OK(invivo_target_attach(object, "synth.lead", NULL, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { volume: 4, cutoff: 1.2 kHz, wave: square, large: 18446744073709551615 }\n"
                     "    - Set: { where: { x: 3, y: 4 } }\n", E));
    CHECK_EQUAL(self->gain, 4);
    CHECK_EQUAL(self->cutoff, 1200);
    CHECK_EQUAL(self->wave, 7);
    CHECK(self->large == UINT64_MAX);
    CHECK_EQUAL(self->where.x, 3);
    CHECK_EQUAL(self->where.y, 4);
    CHECK_TEXT(log_text, "a.yaml:3:14: 'volume' is now called 'gain'\n");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { where: { x: 300, y: 1 } }\n", E), INVIVO_E_RANGE,
                  "a.yaml:3:26: traits.synth.lead[0].Set.where.x: 300 is outside 0...100");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { where: { x: 1, z: 1 } }\n", E), INVIVO_E_PROPERTY,
                  "a.yaml:3:29: traits.synth.lead[0].Set.where.z: 'where' has no field 'z'; expected x, y");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { cutoff: 1.2 kHzz }\n", E), INVIVO_E_TYPE,
                  "a.yaml:3:22: traits.synth.lead[0].Set.cutoff: expected a number of Hz, as in 1200 or '1.2 kHz', got the string '1.2 kHzz'");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { cutoff: 3 m }\n", E), INVIVO_E_TYPE,
                  "a.yaml:3:22: traits.synth.lead[0].Set.cutoff: expected a number of Hz, as in 1200 or '1.2 kHz', got the string '3 m'");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { cutoff: 30 kHz }\n", E), INVIVO_E_RANGE,
                  "a.yaml:3:22: traits.synth.lead[0].Set.cutoff: 30000 is outside 20...20000 Hz");
    CHECK_EQUAL(self->where.x, 3);
    log_text[0] = 0;
    /* Layers of a nested struct are layers of each of its fields. */
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { where: { x: 5 } }\n    - Set: { where: { y: 6 } }\n", E));
    CHECK_EQUAL(self->where.x, 5);
    CHECK_EQUAL(self->where.y, 6);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { where: { y: 6 } }\n", E));
    CHECK_EQUAL(self->where.x, 1);
    CHECK_EQUAL(self->where.y, 6);
    CHECK_TEXT(log_text, "");
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->where.x, 1);
    CHECK_EQUAL(self->where.y, 2);
    CHECK_EQUAL(self->wave, 0);
    CHECK_EQUAL(self->large, 0);
    OK(invivo_object_release(object));
    end();
}

static void a_restart_property_waits_for_the_next_making(void) {
    begin();
    listener *heard = malloc(sizeof(*heard));
    listener_open(heard, runtime);
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "synth.lead", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    invivo_key key;
    invivo_object object;
    void *instance = NULL;
    OK(invivo_define(runtime, &lead, &key, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { restart: 5, gain: 2 }\n", E));
    CHECK_TEXT(listener_last(heard)->changes, "synth.lead.gain tuned; synth.lead.restart pending");
    OK(invivo_resolve(runtime, key, &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    CHECK_EQUAL(((voice *)instance)->gain, 2);
    CHECK_EQUAL(((voice *)instance)->restart, 1);
    OK(invivo_object_release(object));
    OK(invivo_define(runtime, &lead, &key, E)); /* rebuilt */
    CHECK_TEXT(listener_last(heard)->changes, "synth.lead remade");
    OK(invivo_resolve(runtime, key, &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    CHECK_EQUAL(((voice *)instance)->restart, 5);
    CHECK_EQUAL(((voice *)instance)->gain, 2);
    OK(invivo_object_release(object));
    end();
    listener_end(heard);
    free(heard);
    CHECK_EQUAL(disposals, 2);
}

/* ---- targets ----------------------------------------------------------------------------------------- */

static void targets_come_go_and_change_their_key(void) {
    begin();
    invivo_object one, two;
    invivo_target first, second, third;
    voice *self = make(&one), *other = make(&two);
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2 }\n", E), INVIVO_E_SPEC,
                  "a.yaml:2:3: traits.synth.lead: no target has the key 'synth.lead'" LATER);
    OK(invivo_target_declare(runtime, "synth.lead", type, E));
    OK(invivo_target_declare(runtime, "synth.bass", type, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2 }\n  synth.bass:\n    - Set: { cutoff: 50 }\n", E));
    expects_error(say("b.yaml", "traits:\n  synth.lead:\n    - Set: { gian: 2 }\n", E), INVIVO_E_PROPERTY, NULL);
    OK(invivo_target_attach(one, "synth.lead", &first, E));
    OK(invivo_target_attach(two, "synth.lead", &second, E));
    CHECK_EQUAL(self->gain, 2);
    CHECK_EQUAL(other->gain, 2);
    /* Another key: the traits of the former key are removed first. */
    OK(invivo_target_attach(one, "synth.bass", &third, E));
    CHECK_EQUAL(self->gain, 1);
    CHECK_EQUAL(self->cutoff, 50);
    CHECK_EQUAL(other->gain, 2);
    OK(invivo_target_attach(one, "synth.lead", &third, E));
    CHECK_EQUAL(self->gain, 2);
    CHECK_EQUAL(self->cutoff, 800);
    OK(invivo_target_attach(one, "synth.bass", &third, E));
    expects_error(invivo_target_detach(first, E), INVIVO_E_HANDLE, NULL);
    OK(invivo_target_detach(third, E));
    CHECK_EQUAL(self->cutoff, 800);
    OK(invivo_target_attach(one, "synth.lead", NULL, E));
    CHECK_EQUAL(self->gain, 2);
    /* Attaching again to the same key changes no value. */
    OK(invivo_target_attach(one, "synth.lead", &first, E));
    CHECK_EQUAL(self->gain, 2);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 3 }\n", E));
    CHECK_EQUAL(self->gain, 3);
    CHECK_EQUAL(other->gain, 3);
    /* A target is held weakly. */
    OK(invivo_object_release(two));
    CHECK_EQUAL(disposals, 1);
    expects_error(invivo_target_detach(second, E), INVIVO_E_HANDLE, NULL);
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 4 }\n", E));
    CHECK_EQUAL(self->gain, 4);
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.targets, 1);
    OK(invivo_target_detach(first, E));
    CHECK_EQUAL(self->gain, 1);
    OK(invivo_object_release(one));
    end();
    CHECK_EQUAL(disposals, 2);
}

/* A failing attach leaves the object with its former key. */
/* Two threads detach one target at the same time: one of them succeeds. */
static invivo_target twice;
static pid_t letting_go[2];
static int let_go, refused;
static pthread_barrier_t barrier;
static void *detach_it(void *index) {
    letting_go[(size_t)index] = gettid();
    pthread_barrier_wait(&barrier);
    invivo_status status = invivo_target_detach(twice, NULL);
    if (status == INVIVO_OK) __atomic_add_fetch(&let_go, 1, __ATOMIC_SEQ_CST);
    if (status == INVIVO_E_HANDLE) __atomic_add_fetch(&refused, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
static pthread_t letting_go_threads[2];
static void await_both(void) {
    in_setter = NULL;
    for (size_t i = 0; i < 2; i++) pthread_create(&letting_go_threads[i], NULL, detach_it, (void *)i);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++) check_await_sleep(letting_go[i]);
}
static void a_target_is_let_go_once(void) {
    begin();
    invivo_object one;
    voice *self = make(&one);
    OK(invivo_target_attach(one, "synth.lead", &twice, E));
    pthread_barrier_init(&barrier, NULL, 3);
    /* Both wait for this reload. */
    in_setter = await_both;
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { clamped: 2 }\n", E));
    CHECK_EQUAL(self->clamped, 2);
    while (__atomic_load_n(&let_go, __ATOMIC_SEQ_CST) + __atomic_load_n(&refused, __ATOMIC_SEQ_CST) < 2)
        OK(invivo_runtime_poll(runtime, 10, NULL, E));
    for (int i = 0; i < 2; i++) pthread_join(letting_go_threads[i], NULL);
    CHECK_EQUAL(let_go, 1);
    CHECK_EQUAL(refused, 1);
    CHECK_EQUAL(self->clamped, 0);
    pthread_barrier_destroy(&barrier);
    OK(invivo_object_release(one));
    end();
}

/* Traits for an object that is being created apply soon after its creation. */
static void *say_five(void *unused) {
    (void)unused;
    OK(say("a.yaml", "traits:\n  synth.late:\n    - Set: { gain: 5 }\n", E));
    return NULL;
}
static void say_five_meanwhile(void) {
    pthread_t thread;
    in_init = NULL;
    pthread_create(&thread, NULL, say_five, NULL);
    pthread_join(thread, NULL);
}
static void traits_during_a_creation_reach_the_object(void) {
    begin();
    invivo_object object;
    void *instance = NULL;
    invivo_definition late = {.struct_size = sizeof(late), .key = "synth.late", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
    OK(invivo_define(runtime, &late, NULL, E));
    in_init = say_five_meanwhile;
    OK(invivo_resolve_name(runtime, "synth.late", &object, E));
    CHECK(!in_init);
    OK(invivo_object_instance(object, type, &instance, E));
    time_t limit = time(NULL) + CHECK_LIMIT_SECONDS;
    while (((voice *)instance)->gain != 5 && time(NULL) < limit) OK(invivo_runtime_poll(runtime, 10, NULL, E));
    CHECK_EQUAL(((voice *)instance)->gain, 5);
    OK(invivo_object_release(object));
    end();
}

static void a_failed_attach_changes_nothing(void) {
    begin();
    invivo_object object;
    invivo_target target;
    voice *self = make(&object);
    OK(invivo_target_declare(runtime, "synth.lead", type, E));
    OK(invivo_target_declare(runtime, "synth.bass", type, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2, a: 7 }\n  synth.bass:\n    - Set: { b: 50 }\n", E));
    OK(invivo_target_attach(object, "synth.lead", &target, E));
    for (int fault = 1; fault <= 2; fault++) {
        self->set_calls = 0, self->fail_at = fault; /* a is removed, then b is added */
        expects_error(invivo_target_attach(object, "synth.bass", NULL, E), INVIVO_E_RANGE, NULL);
        CHECK_EQUAL(self->gain, 2);
        CHECK_EQUAL(self->a, 7);
        CHECK_EQUAL(self->b, 0);
    }
    self->fail_at = 0;
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 3 }\n", E));
    CHECK_EQUAL(self->gain, 3);
    CHECK_EQUAL(self->a, 0);
    OK(invivo_target_detach(target, E));
    CHECK_EQUAL(self->gain, 1);
    OK(invivo_object_release(object));
    end();
}

static void pending_targets_wait_when_allowed(void) {
    options.flags = INVIVO_RUNTIME_PENDING_TARGETS;
    begin();
    options.flags = 0;
    invivo_object object;
    listener *heard = malloc(sizeof(*heard));
    listener_open(heard, runtime);
    OK(say("a.yaml", "traits:\n  synth.late:\n    - Set: { gain: 2 }\n", E));
    CHECK_TEXT(listener_last(heard)->changes, "synth.late pending");
    CHECK_TEXT(log_text, "a.yaml:2:3: no target has the key 'synth.late' yet; its traits wait for one\n");
    expects_error(say("b.yaml", "traits:\n  synth.late:\n    - Sett: { gain: 2 }\n", E), INVIVO_E_SPEC, NULL);
    voice *self = make(&object);
    OK(invivo_target_attach(object, "synth.late", NULL, E));
    CHECK_EQUAL(self->gain, 2);
    OK(invivo_object_release(object));
    end();
    listener_end(heard);
    free(heard);
}

/* The warnings of the last report, one a line. */
static char last_warnings[1024];
static void note_warnings(void *user_data, const invivo_report *report) {
    (void)user_data;
    last_warnings[0] = 0;
    for (size_t i = 0; i < invivo_report_warning_count(report); i++) {
        size_t length = strlen(last_warnings);
        snprintf(last_warnings + length, sizeof last_warnings - length, "%s\n", invivo_report_warning(report, i));
    }
}
/* A document that tunes several keys is edited: only the objects of the edited key are visited. Keys with warnings are planned
 * again, so that each report has all warnings that hold. */
static void an_edit_of_one_key_leaves_the_others_alone(void) {
    options.flags = INVIVO_RUNTIME_PENDING_TARGETS;
    begin();
    options.flags = 0;
    static const char *const names[] = {"synth.lead", "synth.bass", "synth.loud"};
    invivo_object objects[3];
    voice *voices[3];
    invivo_observer observer;
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = note_warnings},
                      &observer, E));
    for (int i = 0; i < 3; i++) {
        voices[i] = make(&objects[i]);
        OK(invivo_target_attach(objects[i], names[i], NULL, E));
    }
#define TUNING(number, rest)                                                                                                \
    "traits:\n  synth.lead: [ Set: { a: " number " } ]\n  synth.bass: [ Set: { b: 2 } ]\n  synth.loud: [ Set: { volume: 25 } ]\n" \
    "  synth.late: [ Set: { gain: 2 } ]\n" rest
    OK(say("a.yaml", TUNING("1", ""), E));
    CHECK(strstr(last_warnings, "volume") && strstr(last_warnings, "no target has the key 'synth.late' yet"));
    set_order[0] = 0;
    int visits = voices[1]->set_calls;
    OK(say("a.yaml", TUNING("3", ""), E));
    CHECK_TEXT(set_order, "a=3 ");
    CHECK_EQUAL(voices[1]->set_calls, visits);
    CHECK(strstr(last_warnings, "volume") && strstr(last_warnings, "no target has the key 'synth.late' yet"));
    /* The same key in a second document and out of the first. */
    OK(say("b.yaml", "traits: { synth.bass: [ Set: { b: 5 } ] }", E));
    CHECK_EQUAL(voices[1]->b, 5);
    OK(say("a.yaml", "traits:\n  synth.lead: [ Set: { a: 3 } ]\n", E));
    CHECK_EQUAL(voices[1]->b, 5);
    CHECK_TEXT(last_warnings, "");
    CHECK_EQUAL(voices[2]->gain, 1);
    OK(say("b.yaml", NULL, E));
    CHECK_EQUAL(voices[1]->b, 0);
    CHECK_EQUAL(voices[0]->a, 3);
    /* Lines above move a key: its warnings name the new line. */
    OK(say("a.yaml", "traits:\n  synth.lead: [ Set: { a: 3 } ]\n  synth.loud: [ Set: { volume: 25 } ]\n", E));
    CHECK(strstr(last_warnings, "a.yaml:3:"));
    OK(say("a.yaml", "# tuning\ntraits:\n  synth.lead: [ Set: { a: 3 } ]\n  synth.loud: [ Set: { volume: 25 } ]\n", E));
    CHECK(strstr(last_warnings, "a.yaml:4:"));
    OK(invivo_observer_close(observer, E));
    for (int i = 0; i < 3; i++) OK(invivo_object_release(objects[i]));
    end();
}

/* An edit that moves traits to other lines and columns plans no key, and errors show the new location. */
static void a_moved_trait_is_not_applied_again(void) {
    begin();
    invivo_definition made = {.struct_size = sizeof(made), .key = "synth.made", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type};
    invivo_key key;
    invivo_object object, never;
    OK(invivo_define(runtime, &made, &key, E));
    voice *lead = make(&object);
    OK(invivo_target_attach(object, "synth.lead", NULL, E));
    OK(say("a.yaml", "traits:\n  synth.lead: [ Set: { a: 1 } ]\n  synth.made: [ Set: { b: 2 } ]\n", E));
    made_fail_at = 1;
    expects_error(invivo_resolve(runtime, key, &never, E), INVIVO_E_RANGE, "a.yaml:3:27: synth.made.b: this one fails");
    const uint64_t *word = invivo_key_version(key), version = invivo_version_read(word);
    OK(say("a.yaml", "# moved\n\ntraits:\n  synth.made:\n    - Set: { b: 2 }\n  synth.lead:\n    - Set:\n        a: 1\n", E));
    CHECK_EQUAL(invivo_version_read(word), version);
    set_order[0] = 0;
    expects_error(invivo_resolve(runtime, key, &never, E), INVIVO_E_RANGE, "a.yaml:5:17: synth.made.b: this one fails");
    CHECK_TEXT(set_order, "b! ");
    /* A commit that fails in a setter: its own errors show the new line, later ones the line that is in effect. */
    lead->fail_at = lead->set_calls + 1;
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { a: 4 }\n  synth.made: [ Set: { b: 2 } ]\n", E),
                  INVIVO_E_RANGE, "a.yaml:3:17: synth.lead.a: this one fails");
    expects_error(invivo_resolve(runtime, key, &never, E), INVIVO_E_RANGE, "a.yaml:5:17: synth.made.b: this one fails");
    CHECK_EQUAL(lead->a, 1);
    /* A key that is planned for another reason, by a commit that moves its traits too. */
    invivo_changes changes;
    made.scope = INVIVO_SCOPE_SINGLETON;
    static const char moved[] = "traits:\n\n\n\n\n\n  synth.made:\n    - Set: { b: 2 }\n  synth.lead:\n    - Set: { a: 1 }\n";
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", moved, strlen(moved), E));
    OK(invivo_changes_define(changes, &made, NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_RANGE, "a.yaml:8:17: synth.made.b: this one fails");
    expects_error(invivo_resolve(runtime, key, &never, E), INVIVO_E_RANGE, "a.yaml:5:17: synth.made.b: this one fails");
    made_fail_at = 0;
    OK(invivo_object_release(object));
    end();
}

static void later_objects_get_the_current_traits(void) {
    begin();
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "synth.lead", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type};
    invivo_key key;
    invivo_object object;
    void *instance = NULL;
    OK(invivo_define(runtime, &lead, &key, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2, restart: 9, a: 1 }\n", E));
    OK(invivo_resolve(runtime, key, &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    CHECK_EQUAL(((voice *)instance)->gain, 2);
    CHECK_EQUAL(((voice *)instance)->restart, 9);
    CHECK_EQUAL(((voice *)instance)->a, 1);
    OK(invivo_object_release(object));
    end();
}

/* Other threads read it without a lock. */
typedef struct { double plain, next; } shared_part;
typedef struct { double gain; } shared_tuning;
static const invivo_property shared_properties[] = {
    INVIVO_FIELD(shared_part, plain, .initial = 1),
    INVIVO_FLAGGED_FIELD(shared_part, INVIVO_PROPERTY_RESTART, next, .initial = 2),
    INVIVO_BLOCK_FIELD(shared_tuning, gain, .initial = 3),
};
static invivo_status set_base(const char *property, double value, invivo_error **error) {
    invivo_changes changes;
    invivo_value number = invivo_double(value);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "a.part", property, &number, E));
    return invivo_changes_commit(changes, error);
}
static void an_instance_of_a_shared_type_never_changes_in_place(void) {
    begin();
    invivo_type part;
    invivo_key key;
    invivo_type_options options_of_part = {
        .struct_size = sizeof(options_of_part), .name = "Part", .concurrency = INVIVO_SHARED, .size = sizeof(shared_part),
        .alignment = _Alignof(shared_part), .block_size = sizeof(shared_tuning), .properties = shared_properties,
        .property_count = 3};
    OK(invivo_type_register(runtime, &options_of_part, &part, E));
    invivo_value plain = invivo_double(5), other = invivo_double(6);
    invivo_injection injections[] = {{.name = "plain", .how = INVIVO_INJECT_VALUE, .value = plain}};
    invivo_definition made = {.struct_size = sizeof(made), .key = "a.part", .scope = INVIVO_SCOPE_SINGLETON, .type = part,
                              .properties = injections, .property_count = 1};
    OK(invivo_define(runtime, &made, &key, E));
    invivo_view view = invivo_view_begin(runtime);
    const shared_part *self = invivo_view_get(view, key);
    CHECK_EQUAL(self->plain, 5); /* no thread reads it during its creation */
    invivo_view_end(view);
    expects_error(say("a.yaml", "traits:\n  a.part:\n    - Set: { plain: 7 }\n", E), INVIVO_E_READ_ONLY,
                  "a.yaml:3:14: traits.a.part[0].Set.plain: Part is a shared type: its instances are never changed in place; put 'plain' "
                  "into the block, or let it take effect at the next creation (a restart property)");
    expects_error(set_base("plain", 7, E), INVIVO_E_READ_ONLY, NULL);
    invivo_object object;
    OK(invivo_resolve(runtime, key, &object, E));
    expects_error(invivo_object_set(object, "plain", &other, E), INVIVO_E_READ_ONLY, NULL);
    OK(invivo_object_release(object));
    OK(say("a.yaml", "traits:\n  a.part:\n    - Set: { next: 8, gain: 9 }\n", E));
    OK(set_base("next", 10, E));
    OK(set_base("gain", 11, E)); /* of the block, under the value of the trait */
    view = invivo_view_begin(runtime);
    CHECK(invivo_view_get(view, key) == self);
    CHECK_EQUAL(self->plain, 5);
    CHECK_EQUAL(self->next, 2);
    CHECK_EQUAL(((const shared_tuning *)invivo_view_block(view, key))->gain, 9);
    invivo_view_end(view);
    OK(invivo_define(runtime, &made, &key, E)); /* the next creation */
    view = invivo_view_begin(runtime);
    CHECK_EQUAL(((const shared_part *)invivo_view_get(view, key))->next, 8);
    invivo_view_end(view);
    end();
}

static void bytes_are_written_in_base64(void) {
    begin();
    invivo_object object;
    invivo_target target;
    voice *self = make(&object);
    OK(invivo_target_attach(object, "synth.lead", &target, E));
    OK(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { salt: AP8Q/w== }\n", E));
    CHECK(!memcmp(self->salt, "\x00\xff\x10\xff", 4));
    OK(say("b.json", "{\"traits\": {\"synth.lead\": [{\"Set\": {\"salt\": \"Zm9vYg==\"}}]}}", E));
    CHECK(!memcmp(self->salt, "foob", 4));
    expects_error(say("b.json", "{\"traits\": {\"synth.lead\": [\n  {\"Set\": {\"salt\": \"Zm9vYg\"}}]}}", E), INVIVO_E_TYPE,
                  "b.json:2:20: traits.synth.lead[0].Set.salt: expected bytes in base64, as in 'AQID': it ends with 0 '=' instead of 2");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { salt: \"Zm 9vYg==\" }\n", E), INVIVO_E_TYPE,
                  "a.yaml:3:20: traits.synth.lead[0].Set.salt: expected bytes in base64, as in 'AQID': character 3 is not one of A to Z, "
                  "a to z, 0 to 9, '+' and '/'");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { salt: Zm9v }\n", E), INVIVO_E_RANGE,
                  "a.yaml:3:20: traits.synth.lead[0].Set.salt: 3 bytes where exactly 4 are needed");
    expects_error(say("a.yaml", "traits:\n  synth.lead:\n    - Set: { salt: 12 }\n", E), INVIVO_E_TYPE, NULL);
    CHECK(!memcmp(self->salt, "foob", 4));
    OK(say("b.json", NULL, E));
    OK(say("a.yaml", NULL, E));
    CHECK(!memcmp(self->salt, "\0\0\0\0", 4));
    OK(invivo_object_release(object));
    end();
}

/* Two keys that tune one object would remove each other's layers. */
static void an_object_is_tuned_by_one_key(void) {
    begin();
    invivo_object object, prototype;
    invivo_target target;
    void *instance = NULL;
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "synth.lead", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
    invivo_definition voice_of = {.struct_size = sizeof(voice_of), .key = "synth.voice", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type};
    OK(invivo_define(runtime, &lead, NULL, E));
    OK(invivo_define(runtime, &voice_of, NULL, E));
    OK(invivo_target_declare(runtime, "synth.bass", type, E));
    OK(say("a.yaml", "traits: { synth.lead: [Set: { gain: 2 }], synth.bass: [Set: { cutoff: 50 }], synth.voice: [Set: { gain: 7 }] }", E));
    OK(invivo_resolve_name(runtime, "synth.lead", &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    voice *self = instance;
    expects_error(invivo_target_attach(object, "synth.bass", &target, E), INVIVO_E_EXISTS,
                  "synth.bass: the object is the shared instance of 'synth.lead' and cannot be attached to 'synth.bass' too: "
                  "documents tune it as 'synth.lead'");
    CHECK_EQUAL(self->gain, 2);
    CHECK_EQUAL(self->cutoff, 800);
    /* Its own key tunes it, attached or not. */
    OK(invivo_target_attach(object, "synth.lead", &target, E));
    self->set_calls = 0;
    OK(say("a.yaml", "traits: { synth.lead: [Set: { gain: 3, a: 5 }], synth.voice: [Set: { gain: 7 }] }", E));
    CHECK_EQUAL(self->gain, 3);
    CHECK_EQUAL(self->set_calls, 1);
    OK(invivo_target_detach(target, E));
    CHECK_EQUAL(self->gain, 3);
    /* An attached prototype leaves its key, and gets its own values back when the attachment ends. */
    OK(invivo_resolve_name(runtime, "synth.voice", &prototype, E));
    OK(invivo_object_instance(prototype, type, &instance, E));
    CHECK_EQUAL(((voice *)instance)->gain, 7);
    OK(invivo_target_attach(prototype, "synth.lead", &target, E));
    CHECK_EQUAL(((voice *)instance)->gain, 3);
    OK(invivo_target_detach(target, E));
    CHECK_EQUAL(((voice *)instance)->gain, 1);
    OK(invivo_object_release(prototype));
    /* An object that a definition no longer holds can be attached. */
    OK(say("a.yaml", "{}", E));
    invivo_changes removal;
    OK(invivo_changes_open(runtime, &removal, E));
    OK(invivo_changes_remove(removal, "synth.lead", E));
    OK(invivo_changes_commit(removal, E));
    OK(say("a.yaml", "traits: { synth.bass: [Set: { cutoff: 50 }] }", E));
    OK(invivo_target_attach(object, "synth.bass", &target, E));
    CHECK_EQUAL(self->cutoff, 50);
    OK(invivo_target_detach(target, E));
    CHECK_EQUAL(self->cutoff, 800);
    CHECK_EQUAL(self->gain, 1);
    OK(invivo_object_release(object));
    end();
}

/* Documents tune an object by one key: the shared instance of a key cannot be attached to another, in either order. */
static void the_first_key_keeps_an_object(void) {
    invivo_object object;
    invivo_target target;
    invivo_changes changes;
    invivo_key key;
    begin();
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    invivo_definition constant = {.struct_size = sizeof(constant), .key = "synth.fixed", .constant = object};
    invivo_definition shared = {.struct_size = sizeof(shared), .key = "synth.shared", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &constant, NULL, E));
    OK(invivo_define(runtime, &shared, &key, E));
    expects_error(invivo_target_attach(object, "synth.lead", &target, E), INVIVO_E_EXISTS,
                  "synth.lead: the object is the shared instance of 'synth.fixed' and cannot be attached to 'synth.lead' too: documents tune it as "
                  "'synth.fixed'");
    OK(invivo_target_attach(object, "synth.fixed", &target, E)); /* by its own */
    OK(invivo_target_detach(target, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "synth.fixed", E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_target_attach(object, "synth.lead", &target, E));
    expects_error(invivo_define(runtime, &constant, NULL, E), INVIVO_E_EXISTS,
                  "synth.fixed: the object is attached to 'synth.lead', by which documents tune it, and cannot be that of 'synth.fixed' too: detach "
                  "it first");
    expects_error(invivo_inject_with(object, key, INVIVO_INTO_SHARED, E), INVIVO_E_EXISTS,
                  "synth.shared: the object is attached to 'synth.lead', by which documents tune it: detach it first");
    OK(invivo_target_detach(target, E));
    OK(invivo_inject_with(object, key, INVIVO_INTO_SHARED, E));
    expects_error(invivo_target_attach(object, "synth.lead", &target, E), INVIVO_E_EXISTS, NULL);
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

/* For definitions and the program: spec files do not set it. A time accepts the same strings as the configuration. */
static void properties_that_are_not_tunable_are_refused_in_specs(void) {
    typedef struct { double fixed, delay; } plain;
    static const invivo_property fields[] = {{.struct_size = sizeof(invivo_property), .name = "fixed", .kind = INVIVO_KIND_DOUBLE,
                                              .flags = INVIVO_PROPERTY_NOT_TUNABLE, .offset = offsetof(plain, fixed), .size = 8},
                                             INVIVO_FIELD(plain, delay, .unit = "s")};
    static const invivo_type_options described = {.struct_size = sizeof described, .name = "Plain", .size = sizeof(plain),
                                                  .properties = fields, .property_count = 2};
    invivo_runtime own;
    invivo_object object = {0};
    void *instance = NULL;
    OK(invivo_runtime_open(&own, &options, E));
    OK(invivo_type_register(own, &described, NULL, E));
    OK(invivo_define(own, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.plain", .type_name = "Plain",
                                               .scope = INVIVO_SCOPE_LAZY_SINGLETON, .property_count = 1,
                                               .properties = &(invivo_injection){.name = "fixed", .value = invivo_double(4)}}, NULL, E));
    OK(invivo_resolve_name(own, "a.plain", &object, E));
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    invivo_source_options source = {.struct_size = sizeof source, .name = "a.yaml"};
    source.text = "traits: { a.plain: [Set: { fixed: 1 }] }", source.length = strlen(source.text);
    expects_error(invivo_source_open(own, &source, NULL, E), INVIVO_E_READ_ONLY,
                  "a.yaml:1:28: traits.a.plain[0].Set.fixed: Plain.fixed is not tunable: its type does not describe it as one that documents can set");
    source.text = "traits: { a.plain: [Set: { delay: 1 min 30 s }] }", source.length = strlen(source.text);
    OK(invivo_source_open(own, &source, NULL, E));
    CHECK(((plain *)instance)->fixed == 4 && ((plain *)instance)->delay == 90);
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(own, E));
}

int main(void) {
    check_begin();
    invivo_runtime_options_init(&options);
    options.log = note;
    options.log_level = INVIVO_LOG_WARNING;
    RUN_TEST(layers_leave_in_any_order);
    RUN_TEST(layers_of_one_document_are_a_stack);
    RUN_TEST(a_setter_that_clamps_is_reported_and_reversed);
    RUN_TEST(values_changed_by_other_code_stay);
    RUN_TEST(a_single_property_that_other_code_changed_stays);
    RUN_TEST(an_object_is_undone_in_reverse_order);
    RUN_TEST(a_failing_setter_undoes_everything);
    RUN_TEST(former_names_units_enumerations_and_structs);
    RUN_TEST(a_restart_property_waits_for_the_next_making);
    RUN_TEST(targets_come_go_and_change_their_key);
    RUN_TEST(a_target_is_let_go_once);
    RUN_TEST(traits_during_a_creation_reach_the_object);
    RUN_TEST(a_failed_attach_changes_nothing);
    RUN_TEST(an_object_is_tuned_by_one_key);
    RUN_TEST(bytes_are_written_in_base64);
    RUN_TEST(an_instance_of_a_shared_type_never_changes_in_place);
    RUN_TEST(pending_targets_wait_when_allowed);
    RUN_TEST(an_edit_of_one_key_leaves_the_others_alone);
    RUN_TEST(a_moved_trait_is_not_applied_again);
    RUN_TEST(later_objects_get_the_current_traits);
    RUN_TEST(the_first_key_keeps_an_object);
    RUN_TEST(properties_that_are_not_tunable_are_refused_in_specs);
    return check_end();
}
