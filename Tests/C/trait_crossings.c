/* Trait types of the host crossing other operations: limits, reloads from their code, targets that end, and close.
 * docs/rules/traits.md. */
/* sanitize: yes */
#include "check.h"
#include "gate.h"

static invivo_runtime runtime;
typedef struct voice { double gain; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 100)};
static const char *all[] = {"Voice"};
static invivo_type voice_type;
static int applied, reverted, dropped, destroyed;
static int fails_to_apply, fails_to_revert; /* -1: always */
static void (*in_apply)(invivo_object target);
static void (*in_revert)(void);

static void destroy(void *user_data) {
    (void)user_data;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}
static void drop(void *data) {
    (void)data;
    dropped++;
}
static invivo_status revert(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target, (void)data;
    reverted++;
    ((voice *)instance)->gain -= 1;
    if (fails_to_revert && fails_to_revert--) {
        *error = invivo_error_make(INVIVO_E_HOST, "the reversal fails", NULL, NULL);
        return INVIVO_E_HOST;
    }
    void (*act)(void) = in_revert;
    in_revert = NULL;
    if (act) act();
    return INVIVO_OK;
}
static invivo_status apply(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                           invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)fields, (void)values, (void)count, (void)user_data;
    if (fails_to_apply && fails_to_apply--) {
        *error = invivo_error_make(INVIVO_E_HOST, "the application fails", NULL, NULL);
        return INVIVO_E_HOST;
    }
    applied++;
    ((voice *)instance)->gain += 1;
    reversal->revert = revert, reversal->data = &applied, reversal->destroy = drop;
    void (*act)(invivo_object) = in_apply;
    in_apply = NULL;
    if (act) act(target);
    return INVIVO_OK;
}

/* Fails always. */
static invivo_status fail_late(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                               invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)instance, (void)fields, (void)values, (void)count, (void)reversal, (void)user_data;
    *error = invivo_error_make(INVIVO_E_HOST, "too late", NULL, NULL);
    return INVIVO_E_HOST;
}

static void define(const char *key, const char *type, uint32_t scope) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type_name = type, .scope = scope};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static invivo_object object;
static voice *seen;
static voice *instance_of(invivo_object of) {
    void *instance = NULL;
    OK(invivo_object_instance(of, voice_type, &instance, E));
    return instance;
}
static void begin(uint32_t commit_timeout_ms) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    options.load_timeout_ms = 120000;
    if (commit_timeout_ms) options.commit_timeout_ms = commit_timeout_ms;
    applied = reverted = dropped = destroyed = fails_to_apply = fails_to_revert = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options voices = {.struct_size = sizeof voices, .name = "Voice", .size = sizeof(voice),
                                  .properties = voice_properties, .property_count = 1};
    OK(invivo_type_register(runtime, &voices, &voice_type, E));
    define("synth.lead", "Voice", INVIVO_SCOPE_SINGLETON);
    OK(invivo_resolve_name(runtime, "synth.lead", &object, E));
    seen = instance_of(object);
    invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Code", .targets = all, .target_count = 1, .apply = apply,
                          .destroy = destroy};
    OK(invivo_trait_add(runtime, &trait, E));
}
static void end(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(dropped, applied);
    CHECK_EQUAL(destroyed, 1);
}
static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(set, error);
}

/* ---- values below layers -------------------------------------------------------------------------------- */

/* Only the last values are computed: the former layer does not fit the new value, nor the new layer the former one. */
static void a_value_and_the_layer_over_it_change_together(void) {
    begin(0);
    const invivo_injection usual = {.how = INVIVO_INJECT_VALUE, .value = invivo_double(50)};
    const invivo_injection gain = {.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = "vol", .items = &usual, .item_count = 1};
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.bass", .type_name = "Voice",
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = &gain, .property_count = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_object bass = {0};
    OK(invivo_resolve_name(runtime, "synth.bass", &bass, E));
    const voice *of = instance_of(bass);
    for (int code = 0; code < 2; code++) {
        const char *above = code ? ", synth.Code: {}, Offset: { gain: 1 }" : "";
        char low[200], high[200];
        snprintf(low, sizeof low, "config: { synth: { vol: 95 } }\ntraits: { synth.bass: [Offset: { gain: -90 }%s] }", above);
        snprintf(high, sizeof high, "config: { synth: { vol: 5 } }\ntraits: { synth.bass: [Offset: { gain: 90 }%s] }", above);
        uint64_t generation = 0;
        for (int round = 0; round < 3; round++) {
            OK(document("t.yaml", low, E));
            CHECK_EQUAL(of->gain, 5 + 2 * code);
            if (!generation) OK(invivo_runtime_generation(runtime, &generation, E));
            OK(document("t.yaml", high, E));
            CHECK_EQUAL(of->gain, 95 + 2 * code);
        }
        OK(invivo_rollback(runtime, generation, E));
        CHECK_EQUAL(of->gain, 5 + 2 * code);
        OK(document("t.yaml", NULL, E));
        CHECK_EQUAL(of->gain, 50);
        OK(document("t.yaml", high, E));
        /* The layer stays, and does not fit the new value. */
        invivo_error *error = NULL;
        CHECK_EQUAL(document("u.yaml", "config: { synth: { vol: 20 } }", &error), INVIVO_E_RANGE);
        CHECK(error && strstr(invivo_error_text(error), "synth.bass.gain: 110 is outside"));
        invivo_error_release(error);
        CHECK_EQUAL(of->gain, 95 + 2 * code);
        OK(document("t.yaml", NULL, E));
        CHECK_EQUAL(of->gain, 50);
    }
    OK(invivo_object_release(bass));
    end();
}

/* An object that cannot be injected again. */
static int fragile_fails;
static invivo_status set_fragile(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    if (fragile_fails) {
        *error = invivo_error_make(INVIVO_E_HOST, "fragile", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((voice *)instance)->gain = value->as.number;
    return INVIVO_OK;
}
static invivo_status get_fragile(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((voice *)instance)->gain);
    return INVIVO_OK;
}
static invivo_type register_fragile(void) {
    static const invivo_property properties[] = {{.struct_size = sizeof(invivo_property), .name = "gain", .kind = INVIVO_KIND_DOUBLE,
                                                  .get = get_fragile, .set = set_fragile}};
    invivo_type type;
    invivo_type_options fragiles = {.struct_size = sizeof fragiles, .name = "Fragile", .size = sizeof(voice), .properties = properties,
                                    .property_count = 1};
    OK(invivo_type_register(runtime, &fragiles, &type, E));
    return type;
}
/* Two objects whose gain is a value of the configuration, 10. */
static void begin_with_volume(invivo_object *bass, invivo_object *fragile) {
    begin(0);
    register_fragile();
    const invivo_injection gain = {.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = "/synth.vol"};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.bass", .type_name = "Voice",
                                    .scope = INVIVO_SCOPE_SINGLETON, .properties = &gain, .property_count = 1};
    OK(document("v.yaml", "config: { synth: { vol: 10 } }", E));
    OK(invivo_define(runtime, &definition, NULL, E));
    definition.key = "synth.fragile", definition.type_name = "Fragile";
    OK(invivo_define(runtime, &definition, NULL, E));
    OK(invivo_resolve_name(runtime, "synth.bass", bass, E));
    OK(invivo_resolve_name(runtime, "synth.fragile", fragile, E));
}
/* A value that waited for the layers over it, in a commit that failed before it changed them: the next value is not kept waiting. */
static void a_value_below_layers_follows_after_a_failed_commit(void) {
    invivo_object bass, other;
    begin_with_volume(&bass, &other);
    OK(document("t.yaml", "traits: { synth.bass: [synth.Code: {}] }", E));
    CHECK_EQUAL(instance_of(bass)->gain, 11);
    fragile_fails = 1;
    expects_error(document("u.yaml", "config: { synth: { vol: 20 } }\ntraits: { synth.bass: [Offset: { gain: 5 }] }", E), INVIVO_E_HOST, NULL);
    fragile_fails = 0;
    CHECK_EQUAL(instance_of(bass)->gain, 11);
    OK(document("v.yaml", "config: { synth: { vol: 30 } }", E));
    CHECK_EQUAL(instance_of(bass)->gain, 31);
    OK(document("t.yaml", NULL, E));
    CHECK_EQUAL(instance_of(bass)->gain, 30);
    OK(invivo_object_release(bass));
    OK(invivo_object_release(other));
    end();
}

static void fail_next_reversal(void) { fails_to_revert = 1; }
/* The value below the trait cannot be put back in the undo. */
static void a_failed_undo_below_a_trait_is_restored(void) {
    invivo_object bass, other;
    begin_with_volume(&bass, &other);
    OK(document("t.yaml", "traits: { synth.bass: [synth.Code: {}, Scale: { gain: 2 }] }", E));
    CHECK_EQUAL(instance_of(bass)->gain, 22);
    in_revert = fail_next_reversal, fragile_fails = 1;
    expects_error(document("v.yaml", "config: { synth: { vol: 20 } }", E), INVIVO_E_HOST, NULL);
    fragile_fails = 0;
    CHECK(!fails_to_revert);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.bass, synth.fragile");
    OK(document("b", "config: { x: { y: 3 } }", E));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    CHECK_EQUAL(instance_of(bass)->gain, 22);
    OK(document("t.yaml", NULL, E));
    CHECK_EQUAL(instance_of(bass)->gain, 10);
    OK(invivo_object_release(bass));
    OK(invivo_object_release(other));
    end();
}

/* ---- limits ---------------------------------------------------------------------------------------------- */

static void hang(void) {
    gate_to(1);
    gate_await(2);
}
static int sticks;
static void hang_in_apply(invivo_object target) {
    (void)target;
    hang();
    fragile_fails = sticks;
}

/* A commit on another thread, which opens the gate when it has failed. */
typedef struct commit { const char *text; invivo_status status; char error[512]; } commit;
static void *run_commit(void *argument) {
    commit *self = argument;
    invivo_error *error = NULL;
    self->status = document("a", self->text, &error);
    snprintf(self->error, sizeof self->error, "%s", error ? invivo_error_text(error) : "");
    invivo_error_release(error);
    gate_to(2);
    return NULL;
}
/* Commits a text whose code hangs, until it has begun in time. This thread runs the code. */
static void commit_that_hangs(commit *self, const char *text, bool in_reversal) {
    for (bool began = false; !began;) {
        pthread_t thread;
        *self = (commit){.text = text};
        gate_to(0);
        if (in_reversal) in_revert = hang;
        else in_apply = hang_in_apply;
        CHECK(pthread_create(&thread, NULL, run_commit, self) == 0);
        while (gate_state() < 2) {
            uint32_t ran;
            OK(invivo_runtime_poll(runtime, 10, &ran, E));
        }
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_EQUAL(self->status, INVIVO_E_TIMEOUT);
        began = in_reversal ? !in_revert : !in_apply;
    }
    in_apply = NULL, in_revert = NULL;
    OK(invivo_runtime_poll(runtime, 0, NULL, E));
}

static void an_application_that_does_not_end_is_reversed_when_it_returns(void) {
    begin(300);
    commit other;
    commit_that_hangs(&other, "traits: { synth.lead: [synth.Code: {}] }", false);
    CHECK(strstr(other.error, "the domain 'opener' began its job and has not finished it after"));
    CHECK_EQUAL(seen->gain, 1);
    CHECK(applied > 0 && applied == reverted);
    OK(document("a", "traits: { synth.lead: [synth.Code: {}] }", E));
    CHECK_EQUAL(seen->gain, 2);
    end();
}

static void a_reversal_that_does_not_end_is_applied_again_when_it_returns(void) {
    begin(300);
    OK(document("a", "traits: { synth.lead: [synth.Code: {}, Scale: { gain: 3 }] }", E));
    CHECK_EQUAL(seen->gain, 6);
    commit other;
    commit_that_hangs(&other, NULL, true);
    CHECK_EQUAL(seen->gain, 6);
    CHECK_EQUAL(applied, reverted + 1);
    OK(document("a", NULL, E));
    CHECK_EQUAL(seen->gain, 1);
    CHECK_EQUAL(applied, reverted);
    end();
}

/* The object changes after the commit has failed, and cannot be put back then: the next commit does it. */
static void an_object_of_an_abandoned_commit_is_restored_by_the_next_one(void) {
    begin(300);
    invivo_type type = register_fragile();
    static const char *targets[] = {"Fragile"};
    invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Slow", .targets = targets, .target_count = 1, .apply = apply};
    OK(invivo_trait_add(runtime, &trait, E));
    define("synth.fragile", "Fragile", INVIVO_SCOPE_SINGLETON);
    invivo_object other = {0};
    void *instance = NULL;
    OK(invivo_resolve_name(runtime, "synth.fragile", &other, E));
    OK(invivo_object_instance(other, type, &instance, E));
    const voice *of = instance;
    sticks = 1;
    commit late;
    commit_that_hangs(&late, "traits: { synth.fragile: [Set: { gain: 10 }, synth.Slow: {}] }", false);
    CHECK_EQUAL(of->gain, 10);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.fragile");
    sticks = fragile_fails = 0;
    OK(document("b", "config: { x: { y: 3 } }", E));
    CHECK_EQUAL(of->gain, 0);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    OK(invivo_object_release(other));
    end();
}

/* ---- calls of the runtime -------------------------------------------------------------------------------- */

static int calls;
static void reload_inside(invivo_object target) {
    (void)target;
    invivo_value five = invivo_int64(5);
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_configure(set, "x.y", &five, E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_WOULD_WAIT, NULL);
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_configure(set, "x.y", &five, E));
    OK(invivo_changes_submit(set, E));
    calls++;
}
static void reload_in_reversal(void) { reload_inside((invivo_object){0}); }
static int64_t configured_at(const char *path) {
    invivo_value value = invivo_null();
    OK(invivo_config_read(runtime, path, &value, E));
    int64_t number = value.kind == INVIVO_KIND_INT64 ? value.as.signed_integer : 0;
    invivo_value_clear(&value);
    return number;
}
static void await_generation(uint64_t least) {
    uint64_t generation;
    do {
        OK(invivo_runtime_poll(runtime, 10, NULL, E));
        OK(invivo_runtime_generation(runtime, &generation, E));
    } while (generation < least);
}
static void code_cannot_wait_for_a_reload_and_may_submit_one(void) {
    begin(0);
    uint64_t generation;
    OK(invivo_runtime_generation(runtime, &generation, E));
    calls = 0;
    in_apply = reload_inside;
    OK(document("a", "traits: { synth.lead: [synth.Code: {}] }", E));
    await_generation(generation + 2);
    CHECK_EQUAL(configured_at("x.y"), 5);
    in_revert = reload_in_reversal;
    OK(document("a", NULL, E));
    CHECK_EQUAL(calls, 2);
    CHECK_EQUAL(seen->gain, 1);
    end();
}

static void resolve_inside(invivo_object target) {
    (void)target;
    invivo_object other;
    OK(invivo_resolve_name(runtime, "synth.other", &other, E));
    CHECK_EQUAL(instance_of(other)->gain, 7);
    OK(invivo_object_release(other));
    OK(invivo_resolve_name(runtime, "synth.many", &other, E));
    CHECK_EQUAL(instance_of(other)->gain, 1);
    OK(invivo_object_release(other));
    calls++;
}
static void code_may_resolve_other_objects(void) {
    begin(0);
    define("synth.other", "Voice", INVIVO_SCOPE_LAZY_SINGLETON);
    define("synth.many", "Voice", INVIVO_SCOPE_PROTOTYPE);
    OK(document("b", "traits: { synth.other: [Set: { gain: 7 }] }", E));
    calls = 0;
    in_apply = resolve_inside;
    OK(document("a", "traits: { synth.lead: [synth.Code: {}] }", E));
    CHECK_EQUAL(calls, 1);
    CHECK_EQUAL(seen->gain, 2);
    OK(document("a", NULL, E));
    end();
}

/* ---- objects that could not be put back ------------------------------------------------------------------- */

static void an_object_that_cannot_be_restored_blocks_no_other_change(void) {
    begin(0);
    OK(document("a", "traits: { synth.lead: [Set: { gain: 10 }, synth.Code: {}] }", E));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    /* The reversal fails, and its trait cannot be applied again. */
    fails_to_revert = 1, fails_to_apply = 1000;
    expects_error(document("a", "traits: {}", E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(seen->gain, 10);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.lead");
    OK(document("b", "config: { x: { y: 3 } }", E));
    CHECK_EQUAL(configured_at("x.y"), 3);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.lead");
    CHECK_EQUAL(seen->gain, 10);
    fails_to_apply = 0;
    OK(document("b", "config: { x: { y: 4 } }", E));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    CHECK_EQUAL(seen->gain, 11);
    OK(document("a", NULL, E));
    CHECK_EQUAL(seen->gain, 1);
    end();
}

/* The object follows the configuration below its traits. */
static void a_failed_injection_below_a_trait_is_listed(void) {
    begin(0);
    OK(document("b", "config: { x: { y: 3 } }", E));
    invivo_injection property = {.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = "/x.y"};
    invivo_definition other = {.struct_size = sizeof other, .key = "synth.other", .type_name = "Voice", .scope = INVIVO_SCOPE_SINGLETON,
                               .properties = &property, .property_count = 1};
    OK(invivo_define(runtime, &other, NULL, E));
    invivo_object one;
    OK(invivo_resolve_name(runtime, "synth.other", &one, E));
    OK(document("a", "traits: { synth.other: [synth.Code: {}, Scale: { gain: 2 }] }", E));
    CHECK_EQUAL(instance_of(one)->gain, 8);
    fails_to_revert = 1;
    expects_error(document("b", "config: { x: { y: 5 } }", E), INVIVO_E_HOST, NULL);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.other");
    CHECK_EQUAL(configured_at("x.y"), 3);
    OK(document("c", "config: { z: 1 }", E));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    CHECK_EQUAL(instance_of(one)->gain, 8);
    OK(document("a", NULL, E));
    CHECK_EQUAL(instance_of(one)->gain, 3);
    OK(invivo_object_release(one));
    end();
}

/* An object with a reference, which is injected again below a trait that runs code. */
typedef struct holder { double gain; invivo_object held; } holder;
static invivo_status get_held(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value value = invivo_object_value(((holder *)instance)->held);
    (void)user_data;
    return value.as.object.bits ? invivo_value_copy(out, &value, error) : INVIVO_OK;
}
static invivo_status set_held(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((holder *)instance)->held = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}
static invivo_status apply_nothing(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                   invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)instance, (void)fields, (void)values, (void)count, (void)reversal, (void)user_data, (void)error;
    return INVIVO_OK;
}
static int ended;
static void count_end(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    ended++;
}
static void define_part(int64_t level) {
    invivo_injection property = {.name = "gain", .how = INVIVO_INJECT_VALUE, .value = invivo_double((double)level)};
    invivo_definition part = {.struct_size = sizeof part, .key = "synth.part", .type_name = "Part", .scope = INVIVO_SCOPE_SINGLETON,
                              .properties = &property, .property_count = 1};
    OK(invivo_define(runtime, &part, NULL, E));
}
static void a_former_dependency_ends_below_a_trait(void) {
    begin(0);
    static const invivo_property properties[] = {
        INVIVO_FIELD(holder, gain),
        {.struct_size = sizeof(invivo_property), .name = "held", .kind = INVIVO_KIND_OBJECT, .get = get_held, .set = set_held}};
    invivo_type type;
    invivo_type_options parts = {.struct_size = sizeof parts, .name = "Part", .size = sizeof(voice), .properties = voice_properties,
                                 .property_count = 1, .deinit = count_end, .concurrency = INVIVO_SHARED};
    OK(invivo_type_register(runtime, &parts, &type, E));
    invivo_type_options holders = {.struct_size = sizeof holders, .name = "Holder", .size = sizeof(holder), .properties = properties,
                                   .property_count = 2};
    OK(invivo_type_register(runtime, &holders, &type, E));
    static const char *any[] = {"*"};
    invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Nothing", .targets = any, .target_count = 1, .apply = apply_nothing};
    OK(invivo_trait_add(runtime, &trait, E));
    define_part(1);
    invivo_injection reference = {.name = "held", .how = INVIVO_INJECT_REFERENCE, .reference = "synth.part"};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "synth.holder", .type_name = "Holder",
                                    .scope = INVIVO_SCOPE_SINGLETON, .properties = &reference, .property_count = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_object one;
    void *instance = NULL;
    OK(invivo_resolve_name(runtime, "synth.holder", &one, E));
    OK(invivo_object_instance(one, type, &instance, E));
    OK(document("a", "traits: { synth.holder: [Set: { gain: 3 }, synth.Nothing: {}] }", E));
    invivo_object former = ((holder *)instance)->held;
    ended = 0;
    define_part(2);
    CHECK(((holder *)instance)->held.bits != former.bits && ((holder *)instance)->gain == 3);
    CHECK_EQUAL(ended, 1);
    OK(invivo_object_release(one));
    end();
}

/* The upper reversal fails in the undo: the lower one is reversed all the same, before the layers below it are put back. */
static void an_undo_continues_below_a_reversal_that_fails(void) {
    begin(0);
    invivo_trait late = {.struct_size = sizeof late, .name = "synth.Late", .targets = all, .target_count = 1, .apply = fail_late};
    OK(invivo_trait_add(runtime, &late, E));
    fails_to_revert = 1;
    expects_error(document("a", "traits: { synth.lead: [Set: { gain: 10 }, synth.Code: {}, Scale: { gain: 2 }, synth.Code: {}, synth.Late: {}] }", E),
                  INVIVO_E_HOST, NULL);
    CHECK_EQUAL(seen->gain, 1);
    CHECK_EQUAL(reverted, 2);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "synth.lead");
    OK(document("a", "traits: { synth.lead: [synth.Code: {}] }", E));
    CHECK_EQUAL(seen->gain, 2);
    OK(document("a", NULL, E));
    CHECK_EQUAL(seen->gain, 1);
    end();
}

/* ---- targets that end ------------------------------------------------------------------------------------ */

static invivo_object free_objects[2];
static int left;
static void release_the_other(invivo_object target) {
    int other = free_objects[0].bits == target.bits;
    OK(invivo_object_release(free_objects[other]));
    free_objects[other].bits = 0;
    left = !other;
}
static void release_itself(invivo_object target) {
    int own = free_objects[1].bits == target.bits;
    OK(invivo_object_release(free_objects[own]));
    free_objects[own].bits = 0;
    left = !own;
}
static void attach_two(void) {
    for (int i = 0; i < 2; i++) {
        invivo_target target;
        OK(invivo_object_make(runtime, voice_type, NULL, 0, &free_objects[i], E));
        OK(invivo_target_attach(free_objects[i], i ? "synth.two" : "synth.one", &target, E));
    }
}
static void a_target_may_end_while_another_one_is_changed(void) {
    begin(0);
    attach_two();
    in_apply = release_the_other;
    OK(document("a", "traits: { synth.one: [synth.Code: {}], synth.two: [synth.Code: {}] }", E));
    CHECK_EQUAL(instance_of(free_objects[left])->gain, 2);
    /* The one that has ended was not changed, or its reversal was dropped. */
    CHECK_EQUAL(reverted, 0);
    CHECK_EQUAL(dropped, applied - 1);
    OK(document("a", "traits: {}", E));
    CHECK_EQUAL(instance_of(free_objects[left])->gain, 1);
    OK(invivo_object_release(free_objects[left]));
    end();
}
static void a_target_may_end_in_its_own_application(void) {
    begin(0);
    attach_two();
    in_apply = release_itself;
    OK(document("a", "traits: { synth.one: [synth.Code: {}], synth.two: [synth.Code: {}] }", E));
    CHECK_EQUAL(applied, 2);
    CHECK_EQUAL(dropped, 1);
    CHECK_EQUAL(reverted, 0);
    CHECK_EQUAL(instance_of(free_objects[left])->gain, 2);
    OK(invivo_object_release(free_objects[left]));
    CHECK_EQUAL(dropped, 2);
    end();
}
/* An object whose own reversal releases it: it ends afterwards. */
static void release_first(void) {
    OK(invivo_object_release(free_objects[0]));
    free_objects[0].bits = 0;
}
static void a_target_may_end_in_its_own_reversal(void) {
    begin(0);
    attach_two();
    OK(document("a", "traits: { synth.one: [synth.Code: {}] }", E));
    in_revert = release_first;
    OK(document("a", "traits: { synth.two: [Set: { gain: 4 }] }", E));
    CHECK_EQUAL(reverted, 1);
    CHECK_EQUAL(dropped, 1);
    CHECK_EQUAL(instance_of(free_objects[1])->gain, 4);
    OK(invivo_object_release(free_objects[1]));
    end();
}

/* ---- close ----------------------------------------------------------------------------------------------- */

static int declared;
static invivo_status slow_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                 invivo_error **error) {
    (void)fields, (void)values, (void)count, (void)user_data;
    hang();
    declared++;
    return invivo_layers_scale(layers, "gain", 2, error);
}
static void *commit_slowly(void *unused) {
    (void)unused;
    CHECK_EQUAL(document("a", "traits: { synth.lead: [synth.Slow: {}] }", NULL), INVIVO_E_CLOSED);
    return NULL;
}
static void close_gives_up_a_declaration_under_way(void) {
    begin(0);
    invivo_trait trait = {.struct_size = sizeof trait, .name = "synth.Slow", .targets = all, .target_count = 1, .layers = slow_layers,
                          .destroy = destroy};
    OK(invivo_trait_add(runtime, &trait, E));
    declared = 0;
    gate_to(0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, commit_slowly, NULL) == 0);
    gate_await(1);
    CHECK_EQUAL(seen->gain, 1);
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(declared, 0);
    gate_to(2);
    /* The thread of the declaration ends when that returns. */
    invivo_live_counts live = {.struct_size = sizeof live};
    do {
        sched_yield();
        invivo_live(&live);
    } while (live.threads || __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST) < 2);
    CHECK_EQUAL(declared, 1);
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_value_and_the_layer_over_it_change_together);
    RUN_TEST(a_value_below_layers_follows_after_a_failed_commit);
    RUN_TEST(a_failed_undo_below_a_trait_is_restored);
    RUN_TEST(an_application_that_does_not_end_is_reversed_when_it_returns);
    RUN_TEST(a_reversal_that_does_not_end_is_applied_again_when_it_returns);
    RUN_TEST(an_object_of_an_abandoned_commit_is_restored_by_the_next_one);
    RUN_TEST(code_cannot_wait_for_a_reload_and_may_submit_one);
    RUN_TEST(code_may_resolve_other_objects);
    RUN_TEST(an_object_that_cannot_be_restored_blocks_no_other_change);
    RUN_TEST(a_failed_injection_below_a_trait_is_listed);
    RUN_TEST(a_former_dependency_ends_below_a_trait);
    RUN_TEST(an_undo_continues_below_a_reversal_that_fails);
    RUN_TEST(a_target_may_end_while_another_one_is_changed);
    RUN_TEST(a_target_may_end_in_its_own_application);
    RUN_TEST(a_target_may_end_in_its_own_reversal);
    RUN_TEST(close_gives_up_a_declaration_under_way);
    return check_end();
}
