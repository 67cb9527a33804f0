/* The trait Ramp: properties that move to their values, on a clock that the test advances. docs/rules/traits.md, T-M1 to T-M9. */
/* sanitize: yes */
#include "parts.h"
#include "tell.h"
#include <math.h>

typedef struct voice { double gain; int64_t steps; float pan; struct { double x, y; } place; char wave[16]; } voice;
static const invivo_property place_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "x", .kind = INVIVO_KIND_DOUBLE, .offset = 0, .size = 8},
    {.struct_size = sizeof(invivo_property), .name = "y", .kind = INVIVO_KIND_DOUBLE, .offset = 8, .size = 8}};
static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 8),
    INVIVO_FIELD(voice, steps, .initial = 5, .min = -100, .max = 100),
    INVIVO_FIELD(voice, pan, .initial = 0),
    {.struct_size = sizeof(invivo_property), .name = "place", .kind = INVIVO_KIND_MAP, .offset = offsetof(voice, place),
     .size = 16, .fields = place_fields, .field_count = 2},
    INVIVO_FIELD(voice, wave, .initial_text = "sine")};

typedef struct tone { double level; int64_t count; } tone;
static const invivo_property tone_properties[] = {
    INVIVO_BLOCK_FIELD(tone, level, .initial = 4, .min = 0, .max = 100),
    INVIVO_BLOCK_FIELD(tone, count, .initial = 7)};

static invivo_object object;
static voice *seen;
static invivo_type voice_handle;
static int reports;

static invivo_status make_voice(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    voice *self = (voice *)instance;
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    *self = (voice){.gain = 1, .steps = 5, .wave = "sine"};
    return INVIVO_OK;
}

static void observe(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    reports++;
}

static voice *instance_of(invivo_object of) {
    void *instance;
    OK(invivo_object_instance(of, voice_handle, &instance, E));
    return instance;
}

static void open_with(uint32_t tick) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    options.log_level = INVIVO_LOG_SILENT;
    options.ramp_tick_ms = tick;
    reports = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type type;
    invivo_type_options voice_type = {.struct_size = sizeof voice_type, .name = "Voice", .size = sizeof(voice), .init = make_voice,
                                      .properties = voice_properties, .property_count = 5};
    OK(invivo_type_register(runtime, &voice_type, &voice_handle, E));
    invivo_type_options tone_type = {.struct_size = sizeof tone_type, .name = "Tone", .block_size = sizeof(tone),
                                     .concurrency = INVIVO_SHARED, .properties = tone_properties, .property_count = 2};
    OK(invivo_type_register(runtime, &tone_type, &type, E));
    invivo_definition lead = {.struct_size = sizeof lead, .key = "synth.lead", .type_name = "Voice",
                              .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &lead, NULL, E));
    invivo_definition shape = {.struct_size = sizeof shape, .key = "synth.tone", .type_name = "Tone",
                               .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &shape, NULL, E));
    invivo_key key;
    OK(invivo_key_find(runtime, "synth.lead", &key, E));
    OK(invivo_resolve(runtime, key, &object, E));
    seen = instance_of(object);
}
static void begin_all(void) { open_with(INVIVO_RAMP_TICK_MANUAL); }
static void end_all(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

static void advance(int milliseconds) { OK(invivo_runtime_advance(runtime, (uint64_t)milliseconds * 1000000, E)); }
static tone block(void) {
    invivo_key key;
    OK(invivo_key_find(runtime, "synth.tone", &key, E));
    invivo_view view = invivo_view_begin(runtime);
    const tone *found = invivo_view_block(view, key);
    tone copy = found ? *found : (tone){-1, -1};
    invivo_view_end(view);
    return copy;
}
static uint64_t status(const char *name) { return check_status_number(runtime, name); }
static uint64_t generation(void) {
    uint64_t found;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}

static void an_object_moves_at_each_tick(void) {
    begin_all();
    OK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 3, steps: 10, pan: 1 }, over: 100 ms } }] }"));
    CHECK(seen->gain == 1 && seen->steps == 5 && seen->pan == 0);
    for (int tick = 1; tick <= 10; tick++) {
        advance(10);
        double part = tick / 10.0;
        CHECK(tick == 10 ? seen->gain == 3 : seen->gain == 1 * (1 - part) + 3 * part);
        CHECK(seen->steps == (int64_t)round(5 * (1 - part) + 10 * part));
        CHECK(seen->pan == (float)part);
    }
    CHECK(seen->gain == 3 && seen->steps == 10 && seen->pan == 1);
    CHECK_EQUAL(status("moving"), 0);
    advance(1000);
    CHECK(seen->gain == 3);
    OK(tell("a", NULL));
    CHECK(seen->gain == 1 && seen->steps == 5 && seen->pan == 0);
    end_all();
}

static void a_block_moves_at_each_tick(void) {
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8, count: -3 }, over: 40 ms } }] }"));
    uint64_t current = generation();
    CHECK(block().level == 4 && block().count == 7);
    advance(10);
    CHECK(block().level == 5 && block().count == 5); /* 4.5, half away from zero */
    advance(10);
    CHECK(block().level == 6 && block().count == 2);
    advance(10);
    CHECK(block().level == 7 && block().count == -1); /* -0.5 */
    CHECK_EQUAL(status("moving"), 1);
    advance(10);
    CHECK(block().level == 8 && block().count == -3);
    CHECK_EQUAL(generation(), current);
    CHECK_EQUAL(status("step"), 4);
    CHECK_EQUAL(status("moving"), 0);
    OK(tell("a", NULL));
    CHECK(block().level == 4 && block().count == 7);
    CHECK_EQUAL(generation(), current + 1);
    CHECK_EQUAL(status("step"), 0);
    end_all();
}

static void a_step_is_no_reload(void) {
    begin_all();
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = observe};
    invivo_observer observer;
    OK(invivo_observe(runtime, &options, &observer, E));
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 1 s } }], synth.lead: [{ Ramp: { to: { gain: 2 }, over: 1 s } }] }"));
    CHECK_EQUAL(reports, 1);
    invivo_value before, after;
    OK(invivo_runtime_history(runtime, &before, E));
    for (int tick = 0; tick < 100; tick++) advance(10);
    OK(invivo_runtime_history(runtime, &after, E));
    CHECK_EQUAL(reports, 1);
    CHECK_EQUAL(before.as.list.count, after.as.list.count);
    CHECK(block().level == 8 && seen->gain == 2);
    invivo_value_clear(&before), invivo_value_clear(&after);
    OK(invivo_observer_close(observer, E));
    end_all();
}

static void a_step_that_changes_nothing_is_none(void) {
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }] }"));
    advance(10);
    uint64_t steps = status("step");
    advance(0);
    CHECK(status("step") == steps && block().level == 5);
    advance(10);
    CHECK(status("step") == steps + 1 && block().level == 6);
    end_all();
}

static void views_and_pins_keep_their_step(void) {
    begin_all();
    invivo_key key;
    OK(invivo_key_find(runtime, "synth.tone", &key, E));
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }] }"));
    advance(10);
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    uint64_t pinned = invivo_pin_generation(pin);
    advance(10);
    advance(10);
    CHECK(block().level == 5);
    CHECK_EQUAL(pinned, generation());
    OK(invivo_pin_end(pin));
    CHECK(block().level == 7);
    invivo_view view = invivo_view_begin(runtime);
    const tone *held = invivo_view_block(view, key);
    for (int tick = 0; tick < 100; tick++) advance(10);
    CHECK(held->level == 7);
    invivo_view_end(view);
    CHECK(block().level == 8);
    end_all();
}

static void a_reload_that_leaves_a_ramp_does_not_restart_it(void) {
    begin_all();
    const char *ramps = "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }], synth.lead: [{ Ramp: { to: { gain: 5 }, over: 40 ms } }] }";
    OK(tell("a", ramps));
    advance(10);
    OK(tell("b", "traits: { synth.tone: [{ Set: { count: 1 } }], synth.lead: [{ Set: { steps: 1 } }] }"));
    CHECK(block().level == 5 && block().count == 1 && seen->gain == 2 && seen->steps == 1);
    advance(10);
    CHECK(block().level == 6 && seen->gain == 3);
    OK(tell("b", NULL));
    CHECK(block().level == 6 && block().count == 7 && seen->gain == 3 && seen->steps == 5);
    advance(20);
    CHECK(block().level == 8 && seen->gain == 5);
    /* When it has ended, too. */
    OK(tell("b", "traits: { synth.tone: [{ Set: { count: 1 } }], synth.lead: [{ Set: { steps: 1 } }] }"));
    CHECK(block().level == 8 && seen->gain == 5 && status("moving") == 0);
    end_all();
}

static void a_changed_ramp_begins_at_the_value_shown(void) {
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }], synth.lead: [{ Ramp: { to: { gain: 5 }, over: 40 ms } }] }"));
    advance(20);
    CHECK(block().level == 6 && seen->gain == 3);
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 4 }, over: 20 ms } }], synth.lead: [{ Ramp: { to: { gain: 1 }, over: 20 ms } }] }"));
    CHECK(block().level == 6 && seen->gain == 3);
    advance(10);
    CHECK(block().level == 5 && seen->gain == 2);
    /* A Set ends the movement. */
    OK(tell("a", "traits: { synth.tone: [{ Set: { level: 50 } }], synth.lead: [{ Set: { gain: 7 } }] }"));
    CHECK(block().level == 50 && seen->gain == 7);
    advance(10);
    CHECK(block().level == 50 && seen->gain == 7 && status("moving") == 0);
    /* Also one of the same value. */
    OK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 3 }, over: 40 ms } }], synth.tone: [{ Ramp: { to: { level: 5 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(seen->gain == 6);
    OK(tell("a", "traits: { synth.lead: [{ Set: { gain: 3 } }], synth.tone: [{ Set: { level: 5 } }] }"));
    CHECK(seen->gain == 3 && block().level == 5);
    end_all();
}

/* Another duration alone is another trait, and so is another start for new objects. */
static void a_change_of_the_time_or_the_start_begins_again(void) {
    static const char *const others[] = {"to: { level: 8 }, over: 80 ms", "to: { level: 8 }, over: 40 ms, from: { level: 0 }",
                                         "to: { level: 8 }, over: 40 ms, from: { level: 1 }", "to: { level: 8 }, over: 40 ms"};
    static const double steps[] = {4.5, 5.5625, 6.4765625, 7.0478515625};
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }] }"));
    for (int i = 0; i < 4; i++) {
        char text[128];
        double shown = block().level;
        snprintf(text, sizeof text, "traits: { synth.tone: [{ Ramp: { %s } }] }", others[i]);
        OK(tell("a", text));
        CHECK_EQUAL(block().level, shown);
        advance(10);
        CHECK_EQUAL(block().level, steps[i]);
        OK(tell("a", text)); /* the same does not begin again */
        advance(5);
    }
    end_all();
}

static void new_objects_have_the_end_value_or_begin_at_from(void) {
    begin_all();
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    invivo_definition late = {.struct_size = sizeof late, .key = "late.tone", .type_name = "Tone", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_changes_define(set, &late, NULL, E));
    late.key = "late.voice", late.type_name = "Voice";
    OK(invivo_changes_define(set, &late, NULL, E));
    const char *text = "traits:\n  late.tone: [{ Ramp: { to: { level: 8, count: 3 }, over: 40 ms, from: { level: 0 } } }]\n"
                       "  late.voice: [{ Ramp: { to: { gain: 5, steps: 9 }, over: 40 ms, from: { gain: 1 } } }]\n";
    OK(invivo_changes_document(set, "a", text, strlen(text), E));
    OK(invivo_changes_commit(set, E));
    invivo_key key;
    OK(invivo_key_find(runtime, "late.tone", &key, E));
    invivo_view view = invivo_view_begin(runtime);
    const tone *first = invivo_view_block(view, key);
    CHECK(first->level == 0 && first->count == 3);
    invivo_view_end(view);
    OK(invivo_key_find(runtime, "late.voice", &key, E));
    invivo_object made;
    OK(invivo_resolve(runtime, key, &made, E));
    voice *self = instance_of(made);
    CHECK(self->gain == 1 && self->steps == 9);
    advance(10);
    CHECK(self->gain == 2 && self->steps == 9);
    advance(30);
    CHECK(self->gain == 5);
    OK(invivo_object_release(made));
    end_all();
}

static void what_cannot_move_is_refused(void) {
    begin_all();
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { wave: saw }, over: 1 s } }] }") == INVIVO_E_TYPE);
    SAYS("a:1:46: traits.synth.lead[0].Ramp.to.wave: Ramp changes numbers, and 'wave' is a string");
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 99 }, over: 1 s } }] }") == INVIVO_E_RANGE);
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 2 } } }] }") == INVIVO_E_SPEC);
    SAYS("'over' is missing");
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { gain: 2, over: 1 s } }] }") == INVIVO_E_SPEC);
    SAYS("Ramp has no parameter 'gain'");
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 2 }, over: soon } }] }") == INVIVO_E_SPEC);
    SAYS("a:1:57: traits.synth.lead[0].Ramp.over: expected a time of at most one day");
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 2 }, over: -1 } }] }") == INVIVO_E_SPEC);
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 2 }, over: 1, from: { pan: 0 } } }] }") == INVIVO_E_SPEC);
    SAYS("'pan' has a start value and no end value");
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 2 }, over: 1, from: { gain: 9 } } }] }") == INVIVO_E_RANGE);
    SAYS("Ramp.from.gain");
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: [gain], over: 1 } }] }") == INVIVO_E_SPEC);
    CHECK(seen->gain == 1);
    end_all();
}

/* A layer above. */
static void a_relative_layer_above_moves_too(void) {
    begin_all();
    OK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 3 }, over: 40 ms } }, { Scale: { gain: 2 } }] }"));
    CHECK(seen->gain == 1);
    advance(20);
    CHECK(seen->gain == 3.5);
    advance(20);
    CHECK(seen->gain == 6);
    OK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { place: { x: 8 } }, over: 40 ms } }, { Set: { place: { y: 4 } } }] }"));
    CHECK(seen->gain == 1);
    advance(10);
    CHECK(seen->place.x == 2 && seen->place.y == 1);
    CHECK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { place: { x: 8 } }, over: 40 ms } }, { Scale: { place: { y: 4 } } }] }") == INVIVO_E_TYPE);
    SAYS("use Ramp for all of them, or for none");
    OK(tell("a", NULL));
    CHECK(seen->place.x == 0 && seen->place.y == 0);
    end_all();
}

static invivo_status apply_nothing(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                   invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)instance, (void)fields, (void)values, (void)count, (void)reversal, (void)user_data, (void)error;
    return INVIVO_OK;
}
static void code_does_not_lie_above_a_ramp(void) {
    begin_all();
    static const char *const targets[] = {"Voice"};
    invivo_trait still = {.struct_size = sizeof still, .name = "synth.Still", .targets = targets, .target_count = 1, .apply = apply_nothing};
    OK(invivo_trait_add(runtime, &still, E));
    CHECK(tell("a", "traits:\n  synth.lead:\n    - Ramp: { to: { gain: 3 }, over: 40 ms }\n    - synth.Still: {}\n") == INVIVO_E_SPEC);
    SAYS("a:4:7: traits.synth.lead[1]: the trait 'synth.Still' runs code");
    SAYS("cannot lie above a Ramp (a:3:");
    OK(tell("a", "traits:\n  synth.lead:\n    - synth.Still: {}\n    - Ramp: { to: { gain: 3 }, over: 40 ms }\n"));
    advance(20);
    CHECK(seen->gain == 2);
    advance(20);
    CHECK(seen->gain == 3);
    OK(tell("a", NULL));
    CHECK(seen->gain == 1);
    end_all();
}

static invivo_status accept(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)values, (void)count, (void)at, (void)user_data, (void)error;
    return INVIVO_OK;
}
/* A property of any kind, which is known when the object has a value. */
static invivo_value anything;
static invivo_status get_anything(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    return invivo_value_copy(out, &anything, error);
}
static invivo_status set_anything(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    anything = *value; /* a number */
    return INVIVO_OK;
}
static void a_value_that_is_no_number_does_not_move(void) {
    begin_all();
    static const invivo_property loose[] = {{.struct_size = sizeof(invivo_property), .name = "any", .kind = INVIVO_KIND_ANY,
                                             .get = get_anything, .set = set_anything}};
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Loose", .size = 8, .properties = loose, .property_count = 1};
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.loose", .type_name = "Loose", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    anything = invivo_string("sine");
    CHECK(tell("a", "traits: { synth.loose: [{ Ramp: { to: { any: 5.0 }, over: 40 ms } }] }") == INVIVO_E_TYPE);
    SAYS("synth.loose.any: Ramp changes numbers, and a value of 'any' is a string; use Set");
    CHECK(anything.kind == INVIVO_KIND_STRING);
    anything = invivo_double(1);
    OK(tell("a", "traits: { synth.loose: [{ Ramp: { to: { any: 5.0 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(anything.as.number == 2);
    end_all();
}

static void a_value_that_is_not_finite_moves_at_once(void) {
    begin_all();
    seen->gain = INFINITY, seen->pan = -INFINITY;
    OK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 3, pan: 1 }, over: 40 ms } }] }"));
    CHECK(seen->gain == 3 && seen->pan == 1 && status("moving") == 0);
    OK(tell("a", NULL));
    CHECK(seen->gain == (double)INFINITY && seen->pan == -INFINITY);
    end_all();
}

static void a_property_that_a_rule_reads_does_not_move(void) {
    begin_all();
    static const char *const inputs[] = {"synth.tone.level"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "level", .inputs = inputs, .input_count = 1, .check = accept};
    OK(invivo_rule_add(runtime, &rule, E));
    CHECK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 1 s } }] }") == INVIVO_E_SPEC);
    SAYS("a:1:47: synth.tone.level: the rule 'level' reads a property that moves by Ramp");
    OK(invivo_rule_remove(runtime, "level", E));
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 1 s } }] }"));
    CHECK(invivo_rule_add(runtime, &rule, NULL) == INVIVO_E_SPEC);
    end_all();
}

/* Other code. */
static void a_value_that_other_code_sets_stays(void) {
    begin_all();
    OK(tell("a", "traits: { synth.lead: [{ Ramp: { to: { gain: 5 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(seen->gain == 2);
    seen->gain = 0.5;
    advance(10);
    CHECK(seen->gain == 0.5);
    CHECK_EQUAL(status("moving"), 0);
    end_all();
}

static void targets_have_the_end_value_at_once(void) {
    begin_all();
    OK(invivo_target_declare(runtime, "other.voice", voice_handle, E));
    OK(tell("a", "traits: { other.voice: [{ Ramp: { to: { gain: 3 }, over: 40 ms } }] }"));
    voice own = {.gain = 1};
    invivo_object mine;
    OK(invivo_object_wrap(runtime, voice_handle, &own, &mine, E));
    invivo_target target;
    OK(invivo_target_attach(mine, "other.voice", &target, E));
    CHECK(own.gain == 3);
    OK(tell("a", "traits: { other.voice: [{ Ramp: { to: { gain: 5 }, over: 40 ms } }] }"));
    CHECK(own.gain == 3);
    advance(20);
    CHECK(own.gain == 4);
    OK(invivo_target_detach(target, E));
    CHECK(own.gain == 1);
    advance(20);
    CHECK(own.gain == 1 && status("moving") == 0);
    OK(invivo_target_attach(mine, "other.voice", &target, E));
    OK(tell("a", "traits: { other.voice: [{ Ramp: { to: { gain: 1 }, over: 40 ms } }] }"));
    OK(invivo_object_release(mine));
    /* The object ends while it moves. */
    advance(20);
    advance(20);
    end_all();
}

/* Each part of a color moves, also of one in a struct. */
static void a_color_in_a_struct_moves_part_by_part(void) {
    begin_all();
    typedef struct { uint32_t tint; int64_t width; } style;
    static const invivo_property parts[] = {INVIVO_FIELD(style, tint, .codec = INVIVO_CODEC_COLOR), INVIVO_FIELD(style, width)};
    static const invivo_property fields[] = {{.struct_size = sizeof(invivo_property), .name = "style", .kind = INVIVO_KIND_MAP,
                                              .size = sizeof(style), .fields = parts, .field_count = 2}};
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Styled", .size = sizeof(style), .properties = fields,
                                   .property_count = 1};
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.styled", .type_name = "Styled", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    invivo_object held;
    void *instance = NULL;
    OK(invivo_resolve_name(runtime, "synth.styled", &held, E));
    OK(invivo_object_instance(held, type, &instance, E));
    style *shown = instance;
    shown->tint = 0x00ff00ff;
    OK(tell("a", "traits: { synth.styled: [{ Ramp: { to: { style: { tint: '#ff0000ff', width: 8 } }, over: 40 ms } }] }"));
    advance(20);
    CHECK(shown->tint == 0x808000ff && shown->width == 4);
    advance(20);
    CHECK(shown->tint == 0xff0000ff && shown->width == 8);
    OK(tell("a", NULL));
    CHECK(shown->tint == 0x00ff00ff && shown->width == 0);
    OK(invivo_object_release(held));
    end_all();
}

/* Two fields in the same memory: the layer above decides at each step. */
static void a_field_that_moves_leaves_the_layer_of_another_one(void) {
    begin_all();
    static const invivo_property twins[] = {
        {.struct_size = sizeof(invivo_property), .name = "one", .kind = INVIVO_KIND_DOUBLE, .size = 8},
        {.struct_size = sizeof(invivo_property), .name = "other", .kind = INVIVO_KIND_DOUBLE, .size = 8}};
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Twins", .size = 8, .properties = twins, .property_count = 2};
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.twins", .type_name = "Twins", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    invivo_object held;
    void *instance = NULL;
    OK(invivo_resolve_name(runtime, "synth.twins", &held, E));
    OK(invivo_object_instance(held, type, &instance, E));
    const double *shown = instance;
    OK(tell("a", "traits: { synth.twins: [{ Ramp: { to: { one: 5 }, over: 40 ms } }, { Set: { other: 9 } }] }"));
    CHECK_EQUAL(*shown, 9);
    for (int step = 0; step < 5; step++) {
        advance(10);
        CHECK_EQUAL(*shown, 9);
    }
    OK(tell("a", NULL));
    CHECK_EQUAL(*shown, 0);
    OK(invivo_object_release(held));
    end_all();
}

/* An object with a setter. */
static double dial = 1;
static int dial_sets, dial_fails, dial_is_dark, dial_breaks, finalized;
static invivo_status finalize_dial(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    finalized++;
    return INVIVO_OK;
}
static invivo_status get_dial(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    if (dial_is_dark) {
        *error = invivo_error_make(INVIVO_E_HOST, "the dial is dark", NULL, NULL);
        return INVIVO_E_HOST;
    }
    *out = invivo_double(dial);
    return INVIVO_OK;
}
static invivo_status set_dial(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data;
    if (dial_fails) {
        *error = invivo_error_make(INVIVO_E_HOST, "the dial is stuck", NULL, NULL);
        return INVIVO_E_HOST;
    }
    dial = value->as.number;
    dial_sets++;
    /* It cannot be read or set any more. */
    if (dial_breaks) dial_breaks = 0, dial_fails = dial_is_dark = 1;
    return INVIVO_OK;
}
/* Never fails. */
static double trim = 1;
static invivo_status get_trim(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_double(trim);
    return INVIVO_OK;
}
static invivo_status set_trim(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    trim = value->as.number;
    return INVIVO_OK;
}
static void register_dial(void) {
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "angle", .kind = INVIVO_KIND_DOUBLE, .get = get_dial, .set = set_dial},
        {.struct_size = sizeof(invivo_property), .name = "trim", .kind = INVIVO_KIND_DOUBLE, .get = get_trim, .set = set_trim}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Dial", .size = 8, .properties = properties, .property_count = 2,
                                   .finalize = finalize_dial};
    invivo_type type;
    dial = trim = 1, dial_sets = dial_fails = dial_is_dark = dial_breaks = 0;
    OK(invivo_type_register(runtime, &options, &type, E));
}
/* The thread of the object does not poll while the loop makes the steps of a block. */
static void a_busy_domain_gets_the_latest_step(void) {
    open_with(1);
    register_dial();
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.dial", .type_name = "Dial", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 50 ms } }], synth.dial: [{ Ramp: { to: { angle: 5 }, over: 50 ms } }] }"));
    dial_sets = 0;
    while (block().level != 8) {}
    CHECK(dial == 1 && dial_sets == 0);
    /* One job waits, unless the call of the status has waited, and has run it. */
    uint64_t waiting = status("waiting_jobs");
    CHECK_EQUAL(waiting + (uint64_t)dial_sets, 1);
    while (dial != 5) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    CHECK(dial_sets <= 2);
    while (status("moving")) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    OK(tell("a", NULL));
    CHECK(dial == 1);
    end_all();
}

static void a_setter_that_fails_ends_the_movement(void) {
    begin_all();
    register_dial();
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.dial", .type_name = "Dial", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    OK(tell("a", "traits: { synth.dial: [{ Ramp: { to: { angle: 5 }, over: 40 ms } }] }"));
    finalized = 0;
    advance(10);
    CHECK(dial == 2 && finalized == 1);
    dial_fails = 1;
    advance(10);
    CHECK(dial == 2 && status("moving") == 0 && finalized == 1);
    dial_fails = 0;
    advance(10);
    CHECK(dial == 2);
    /* The next reload begins again. */
    OK(tell("b", "config: { x: 1 }"));
    advance(20);
    CHECK(dial == 3.5);
    OK(tell("a", NULL));
    CHECK(dial == 1);
    end_all();
}

/* Of the properties of one object, all stay where they are. */
static void a_step_that_fails_is_undone(void) {
    begin_all();
    register_dial();
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.dial", .type_name = "Dial", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    OK(tell("a", "traits: { synth.dial: [{ Ramp: { to: { trim: 5, angle: 5 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(trim == 2 && dial == 2);
    dial_fails = 1;
    advance(10);
    CHECK(trim == 2 && dial == 2 && status("moving") == 0);
    dial_fails = 0;
    OK(tell("b", "config: { x: 1 }"));
    advance(20);
    CHECK(trim == 3.5 && dial == 3.5);
    OK(tell("a", NULL));
    CHECK(trim == 1 && dial == 1);
    end_all();
}

/* What cannot be read counts as the value of the layer: it is restored when it can be set again. */
static void a_value_that_cannot_be_read_is_restored(void) {
    begin_all();
    register_dial();
    invivo_definition own = {.struct_size = sizeof own, .key = "synth.dial", .type_name = "Dial", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &own, NULL, E));
    OK(tell("a", "traits: { synth.dial: [{ Ramp: { to: { angle: 5 }, over: 40 ms } }] }"));
    advance(10);
    dial_breaks = 1;
    advance(10);
    CHECK(dial == 3 && status("moving") == 0);
    dial_fails = dial_is_dark = 0;
    OK(tell("a", NULL));
    CHECK(dial == 1);
    /* The same for a layer that does not move. */
    OK(tell("a", "traits: { synth.dial: [{ Set: { angle: 7 } }] }"));
    dial_breaks = 1;
    CHECK(tell("a", "traits: { synth.dial: [{ Set: { angle: 8 } }] }") == INVIVO_E_HOST);
    CHECK(dial == 8);
    dial_fails = dial_is_dark = 0;
    OK(tell("a", NULL));
    CHECK(dial == 1);
    end_all();
}

static void a_failed_commit_lets_it_go_on(void) {
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 40 ms } }], synth.lead: [{ Ramp: { to: { gain: 5 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(tell("b", "traits: { synth.lead: [{ Set: { gain: 99 } }] }") == INVIVO_E_RANGE);
    CHECK(seen->gain == 2);
    advance(10);
    CHECK(seen->gain == 3 && block().level == 6);
    OK(tell("a", NULL));
    CHECK(seen->gain == 1 && block().level == 4);
    end_all();
}

static void a_rollback_moves_back(void) {
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Set: { level: 10 } }] }"));
    uint64_t former = generation();
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 20 }, over: 40 ms } }] }"));
    advance(10);
    CHECK(block().level == 12.5);
    OK(invivo_rollback(runtime, former, E));
    CHECK(block().level == 10);
    advance(10);
    CHECK(block().level == 10 && status("moving") == 0);
    OK(invivo_rollback(runtime, former + 1, E));
    CHECK(block().level == 10);
    advance(20);
    CHECK(block().level == 15);
    end_all();
}

static void the_clock_is_manual_or_not(void) {
    open_with(1);
    invivo_error *error = NULL;
    CHECK(invivo_runtime_advance(runtime, 1, &error) == INVIVO_E_UNSUPPORTED);
    invivo_error_release(error);
    OK(tell("a", "traits: { synth.tone: [{ Ramp: { to: { level: 8 }, over: 5 ms } }], synth.lead: [{ Ramp: { to: { gain: 5 }, over: 5 ms } }] }"));
    while (block().level != 8 || seen->gain != 5) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    CHECK_EQUAL(status("moving"), 0);
    end_all();
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.ramp_tick_ms = 10001;
    CHECK(invivo_runtime_open(&runtime, &options, NULL) == INVIVO_E_ARGUMENT);
}

int main(void) {
    check_begin();
    RUN_TEST(an_object_moves_at_each_tick);
    RUN_TEST(a_block_moves_at_each_tick);
    RUN_TEST(a_step_is_no_reload);
    RUN_TEST(a_step_that_changes_nothing_is_none);
    RUN_TEST(views_and_pins_keep_their_step);
    RUN_TEST(a_reload_that_leaves_a_ramp_does_not_restart_it);
    RUN_TEST(a_changed_ramp_begins_at_the_value_shown);
    RUN_TEST(a_change_of_the_time_or_the_start_begins_again);
    RUN_TEST(new_objects_have_the_end_value_or_begin_at_from);
    RUN_TEST(what_cannot_move_is_refused);
    RUN_TEST(a_relative_layer_above_moves_too);
    RUN_TEST(code_does_not_lie_above_a_ramp);
    RUN_TEST(a_value_that_is_no_number_does_not_move);
    RUN_TEST(a_value_that_is_not_finite_moves_at_once);
    RUN_TEST(a_property_that_a_rule_reads_does_not_move);
    RUN_TEST(a_value_that_other_code_sets_stays);
    RUN_TEST(targets_have_the_end_value_at_once);
    RUN_TEST(a_color_in_a_struct_moves_part_by_part);
    RUN_TEST(a_field_that_moves_leaves_the_layer_of_another_one);
    RUN_TEST(a_busy_domain_gets_the_latest_step);
    RUN_TEST(a_setter_that_fails_ends_the_movement);
    RUN_TEST(a_step_that_fails_is_undone);
    RUN_TEST(a_value_that_cannot_be_read_is_restored);
    RUN_TEST(a_failed_commit_lets_it_go_on);
    RUN_TEST(a_rollback_moves_back);
    RUN_TEST(the_clock_is_manual_or_not);
    return check_end();
}
