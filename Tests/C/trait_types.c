/* Trait types of the host, and the built-in traits. docs/rules/traits.md. */
/* sanitize: yes */
#include "parts.h"
#include "tell.h"

typedef struct voice { double gain; double cutoff; int64_t steps; struct { double x, y; } place; char wave[16]; } voice;
static const invivo_property place_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "x", .kind = INVIVO_KIND_DOUBLE, .offset = 0, .size = 8},
    {.struct_size = sizeof(invivo_property), .name = "y", .kind = INVIVO_KIND_DOUBLE, .offset = 8, .size = 8}};
static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 8),
    INVIVO_FIELD(voice, cutoff, .initial = 1000, .unit = "Hz"),
    INVIVO_FIELD(voice, steps, .initial = 5, .min = 0, .max = 100),
    {.struct_size = sizeof(invivo_property), .name = "place", .kind = INVIVO_KIND_MAP, .offset = offsetof(voice, place),
     .size = 16, .fields = place_fields, .field_count = 2},
    INVIVO_FIELD(voice, wave, .initial_text = "sine")};

typedef struct tone { double level; int64_t count; } tone;
static const invivo_property tone_properties[] = {
    INVIVO_BLOCK_FIELD(tone, level, .initial = 4, .min = 0, .max = 100),
    INVIVO_BLOCK_FIELD(tone, count, .initial = 7)};

static invivo_object object;
static voice *seen;
static int destroyed, applied, reverted, dropped;

static void destroy(void *user_data) {
    (void)user_data;
    destroyed++;
}

static invivo_type voice_handle;
static voice *instance_of(invivo_object of) {
    void *instance;
    OK(invivo_object_instance(of, voice_handle, &instance, E));
    return instance;
}

static void open_with(uint32_t flags) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    options.flags = flags;
    options.log_level = INVIVO_LOG_SILENT;
    options.load_timeout_ms = INVIVO_LOAD_UNLIMITED; /* timings decide no test */
    destroyed = applied = reverted = dropped = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type type;
    invivo_type_options voice_type = {.struct_size = sizeof voice_type, .name = "Voice", .size = sizeof(voice),
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
static void begin_all(void) { open_with(0); }
static void end_all(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

static double level(void) {
    invivo_key key;
    OK(invivo_key_find(runtime, "synth.tone", &key, E));
    invivo_view view = invivo_view_begin(runtime);
    const tone *block = invivo_view_block(view, key);
    double found = block ? block->level : -1;
    invivo_view_end(view);
    return found;
}

/* Scale and Offset. */
static void relative_layers_change_the_value_below(void) {
    begin_all();
    OK(tell("a", "traits: { synth.lead: [{ Scale: { gain: 0.5 } }, { Offset: { cutoff: 0.2 kHz } }] }"));
    CHECK(seen->gain == 0.5 && seen->cutoff == 1200);
    OK(tell("b", "traits: { synth.lead: [{ Offset: { gain: 1 } }, { Set: { cutoff: 100 } }, { Scale: { cutoff: 50 % } }] }"));
    CHECK(seen->gain == 1.5 && seen->cutoff == 50);
    OK(tell("a", "traits: { synth.lead: [{ Scale: { gain: 4 } }] }"));
    CHECK(seen->gain == 5 && seen->cutoff == 50);
    OK(tell("a", NULL));
    CHECK(seen->gain == 2 && seen->cutoff == 50);
    OK(tell("b", NULL));
    CHECK(seen->gain == 1 && seen->cutoff == 1000);
    end_all();
}

static void integers_are_rounded_to_the_nearest(void) {
    begin_all();
    OK(tell("a", "traits: { synth.lead: [{ Scale: { steps: 0.5 } }] }"));
    CHECK(seen->steps == 3);
    OK(tell("a", "traits: { synth.lead: [{ Offset: { steps: -2 } }] }"));
    CHECK(seen->steps == 3);
    CHECK(tell("a", "traits: { synth.lead: [{ Scale: { steps: 21 } }] }") == INVIVO_E_RANGE);
    SAYS("a:1:");
    SAYS("synth.lead.steps");
    CHECK(seen->steps == 3);
    end_all();
}

static void fields_of_a_struct_are_scaled_one_by_one(void) {
    begin_all();
    seen->place.x = 2, seen->place.y = 3;
    OK(tell("a", "traits: { synth.lead: [{ Scale: { place: { x: 10 } } }, { Set: { place: { y: 7 } } }, { Offset: { place: { x: 1, y: 1 } } }] }"));
    CHECK(seen->place.x == 21 && seen->place.y == 8);
    OK(tell("a", "traits: { synth.lead: [{ Offset: { place: { y: 1 } } }] }"));
    CHECK(seen->place.x == 2 && seen->place.y == 4);
    OK(tell("a", NULL));
    CHECK(seen->place.x == 2 && seen->place.y == 3);
    end_all();
}

static void relative_layers_reach_blocks(void) {
    begin_all();
    OK(tell("a", "traits: { synth.tone: [{ Scale: { level: 3 } }] }"));
    CHECK(level() == 12);
    invivo_value ten = invivo_double(10);
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_set(set, "synth.tone", "level", &ten, E));
    OK(invivo_changes_commit(set, E));
    CHECK(level() == 30);
    CHECK(tell("a", "traits: { synth.tone: [{ Scale: { level: 30 } }] }") == INVIVO_E_RANGE);
    CHECK(level() == 30);
    OK(tell("a", NULL));
    CHECK(level() == 10);
    end_all();
}

static void what_is_no_number_is_not_scaled(void) {
    begin_all();
    CHECK(tell("a", "traits: { synth.lead: [{ Scale: { wave: 2 } }] }") == INVIVO_E_TYPE);
    SAYS("Scale changes numbers");
    CHECK(tell("a", "traits: { synth.lead: [{ Scale: { gain: loud } }] }") == INVIVO_E_TYPE);
    SAYS("a factor, such as 0.5");
    CHECK(tell("a", "traits: { synth.lead: [{ Offset: { cutoff: 1 s } }] }") == INVIVO_E_TYPE);
    SAYS("a finite number of Hz");
    CHECK(tell("a", "traits: { synth.lead: [{ Scale: { gian: 2 } }] }") == INVIVO_E_PROPERTY);
    SAYS("did you mean 'gain'");
    CHECK(tell("a", "traits: { synth.lead: [{ Scale: { place: { z: 2 } } }] }") == INVIVO_E_PROPERTY);
    SAYS("no field 'z'");
    end_all();
}

/* Inherit. */
static void traits_are_inherited_through_several_keys(void) {
    begin_all();
    OK(tell("base", "traits:\n  .quiet: [{ Set: { gain: 0.25 } }]\n  .dark:\n    - Inherit: { traits: .quiet }\n    - Set: { cutoff: 200 }\n"));
    OK(tell("app", "traits: { synth.lead: [{ Inherit: { traits: [.dark] } }, { Scale: { gain: 2 } }] }"));
    CHECK(seen->gain == 0.5 && seen->cutoff == 200);
    /* An edit of an inherited key reaches those that inherit from it. */
    OK(tell("base", "traits:\n  .quiet: [{ Set: { gain: 2 } }]\n  .dark: [{ Inherit: { traits: .quiet } }]\n"));
    CHECK(seen->gain == 4 && seen->cutoff == 1000);
    CHECK(tell("base", "traits: { .quiet: [{ Set: { gain: 2 } }] }") == INVIVO_E_SPEC);
    SAYS("no document has traits for '.dark'");
    SAYS("app:1:");
    CHECK(seen->gain == 4);
    CHECK(tell("base", "traits:\n  .quiet: [{ Set: { gain: 99 } }]\n  .dark: [{ Inherit: { traits: .quiet } }]\n") == INVIVO_E_RANGE);
    SAYS("base:2:");
    CHECK(seen->gain == 4);
    OK(tell("app", NULL));
    CHECK(seen->gain == 1);
    end_all();
}

static void cycles_of_inheritance_are_refused(void) {
    begin_all();
    CHECK(tell("a", "traits:\n  .a: [{ Inherit: { traits: .b } }]\n  .b: [{ Inherit: { traits: .a } }]\n  synth.lead: [{ Inherit: { traits: .a } }]\n") == INVIVO_E_CYCLE);
    SAYS(".a -> .b -> .a");
    /* Once, although three keys lead into it. */
    CHECK(!strchr(last_error, (char)10));
    CHECK(tell("a", "traits: { synth.lead: [{ Inherit: { traits: synth.lead } }] }") == INVIVO_E_CYCLE);
    /* Each key inherits twice from the next. */
    char text[4096] = "traits:\n  synth.lead: [{ Inherit: { traits: .k0 } }]\n";
    for (int i = 0; i < 14; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  .k%d: [{ Inherit: { traits: [.k%d, .k%d] } }]\n", i, i + 1, i + 1);
    strcat(text, "  .k14: [{ Set: { gain: 2 } }]\n");
    CHECK(tell("a", text) == INVIVO_E_TOO_LARGE);
    CHECK(seen->gain == 1);
    end_all();
}

static char chain[100000];
/* `count` keys in a row, of which each inherits from the next as often as `again` says. */
static const char *chain_of(int count, const char *again) {
    size_t used = (size_t)snprintf(chain, sizeof chain, "traits:\n  synth.lead: [{ Inherit: { traits: .k1 } }]\n");
    for (int i = 1; i < count; i++)
        used += (size_t)snprintf(chain + used, sizeof chain - used, again, i, i + 1, i + 1);
    snprintf(chain + used, sizeof chain - used, "  .k%d: []\n", count);
    return chain;
}
static void each_inherited_key_is_resolved_once(void) {
    begin_all();
    OK(tell("a", chain_of(63, "  .k%d: [{ Inherit: { traits: [.k%d, .k%d] } }]\n")));
    CHECK(tell("a", chain_of(1000, "  .k%d: [{ Inherit: { traits: .k%d } }]\n")) == INVIVO_E_TOO_LARGE);
    SAYS("more than 64 keys inherit from each other in a row, from 'synth.lead'");
    end_all();
}

/* A row of keys, each of which inherits from the one before it, or after it. */
static const char *row_of(int count, bool backwards) {
    static char text[1 << 13];
    int length = sprintf(text, "traits:\n");
    for (int i = 0; i < count; i++) {
        int next = backwards ? i - 1 : i + 1;
        if (next < 0 || next == count) {
            length += sprintf(text + length, "  .k%02d: [{ Set: { gain: 2 } }]\n", i);
        } else {
            length += sprintf(text + length, "  .k%02d: [{ Inherit: { traits: .k%02d } }]\n", i, next);
        }
    }
    return text;
}
/* The keys are resolved in their order, so that in one of the two rows those below are known. */
static void the_length_of_a_row_does_not_depend_on_the_first_key(void) {
    begin_all();
    OK(tell("a", row_of(64, false)));
    OK(tell("a", row_of(64, true)));
    CHECK(tell("a", row_of(66, false)) == INVIVO_E_TOO_LARGE);
    SAYS("a:2:31: traits..k00[0].Inherit.traits: more than 64 keys inherit from each other in a row, from '.k00'");
    SAYS("a:3:31: traits..k01[0].Inherit.traits: more than 64 keys inherit from each other in a row, from '.k01'");
    CHECK(tell("a", row_of(66, true)) == INVIVO_E_TOO_LARGE);
    SAYS("a:66:31: traits..k64[0].Inherit.traits: more than 64 keys inherit from each other in a row, from '.k64'");
    SAYS("a:67:31: traits..k65[0].Inherit.traits: more than 64 keys inherit from each other in a row, from '.k65'");
    end_all();
}

/* A base with many traits, and keys that inherit it. */
static const char *bases_of(int traits, int first, int keys) {
    static char text[1 << 13];
    int length = sprintf(text, "traits:\n");
    if (traits) length += sprintf(text + length, "  .base: [");
    for (int i = 0; i < traits; i++) length += sprintf(text + length, "%s{ Set: { gain: 2 } }", i ? ", " : "");
    if (traits) length += sprintf(text + length, "]\n");
    for (int i = first; i < first + keys; i++) length += sprintf(text + length, "  .k%02d: [{ Inherit: { traits: .base } }]\n", i);
    return text;
}
static void inherited_traits_are_limited_together(void) {
    begin_all();
    invivo_runtime_options options = {.struct_size = sizeof options};
    OK(invivo_runtime_options_read(runtime, &options, E));
    options.max_document_nodes = 100;
    OK(invivo_runtime_options_change(runtime, &options, E));
    CHECK(tell("a", bases_of(20, 0, 6)) == INVIVO_E_TOO_LARGE);
    SAYS("a:8:3: traits..k05: the keys inherit more than 100 traits together; max_document_nodes permits more");
    OK(tell("a", bases_of(20, 0, 5)));
    /* All documents count, and only what they have now. */
    CHECK(tell("b", bases_of(0, 5, 1)) == INVIVO_E_TOO_LARGE);
    SAYS("b:2:3: traits..k05: the keys inherit more than 100 traits together; max_document_nodes permits more");
    OK(tell("a", bases_of(10, 0, 5)));
    OK(tell("b", bases_of(0, 5, 5)));
    CHECK(tell("a", bases_of(11, 0, 5)) == INVIVO_E_TOO_LARGE);
    OK(tell("b", NULL));
    OK(tell("a", bases_of(20, 0, 5)));
    /* Moved from one key to another, in one commit. */
    OK(tell("a", bases_of(20, 5, 5)));
    OK(tell("a", bases_of(20, 0, 5)));
    end_all();
}

/* A suggestion names a key that documents have now. */
static void a_key_that_a_document_has_no_more_is_not_suggested(void) {
    begin_all();
    const char *wrong = "traits: { synth.lead: [{ Inherit: { traits: .basi } }] }";
    OK(tell("b", "traits: { .basis: [{ Set: { gain: 2 } }] }"));
    CHECK(tell("a", wrong) == INVIVO_E_SPEC);
    SAYS("no document has traits for '.basi'; did you mean '.basis'?");
    OK(tell("b", "traits: { .other: [{ Set: { gain: 2 } }] }"));
    CHECK(tell("a", wrong) == INVIVO_E_SPEC);
    SAYS("no document has traits for '.basi'");
    CHECK(!strstr(last_error, "did you mean"));
    end_all();
}

static void a_key_that_is_only_inherited_needs_no_target(void) {
    begin_all();
    CHECK(tell("a", "traits: { synth.laed: [{ Set: { gain: 2 } }] }") == INVIVO_E_SPEC);
    SAYS("no target has the key 'synth.laed'");
    OK(tell("a", "traits: { base: [{ Set: { gain: 2 } }], synth.lead: [{ Inherit: { traits: base } }] }"));
    CHECK(seen->gain == 2);
    CHECK(tell("a", "traits: { base: [{ Set: { gain: 2 } }], synth.lead: [] }") == INVIVO_E_SPEC);
    SAYS("no target has the key 'base'");
    CHECK(seen->gain == 2);
    OK(tell("a", "traits: { .base: [{ Set: { gain: 2 } }], synth.lead: [] }"));
    CHECK(seen->gain == 1);
    end_all();
}

/* When. */
static void configure(const char *path, const invivo_value *value) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_configure(set, path, value, E));
    OK(invivo_changes_commit(set, E));
}
static void conditions_follow_the_configuration(void) {
    begin_all();
    const char *text =
        "config: { audio: { mode: day, level: 3 }, profiles: [studio] }\n"
        "traits:\n"
        "  synth.lead:\n"
        "    - When: { config: audio.mode, is: night, traits: [{ Set: { gain: 0.5 } }], otherwise: [{ Set: { gain: 2 } }] }\n"
        "    - When: { profile: stage, traits: [{ Scale: { gain: 3 } }] }\n"
        "    - When: { config: audio.level, is: 3.0, traits: [{ Set: { cutoff: 3 } }] }\n";
    OK(tell("a", text));
    CHECK(seen->gain == 2 && seen->cutoff == 3);
    invivo_value night = invivo_string("night");
    configure("audio.mode", &night);
    CHECK(seen->gain == 0.5);
    OK(tell("b", "config: { profiles: [stage], audio: { level: 4 } }"));
    CHECK(seen->gain == 1.5 && seen->cutoff == 1000);
    OK(tell("b", NULL));
    CHECK(seen->gain == 0.5 && seen->cutoff == 3);
    configure("audio.mode", NULL);
    CHECK(seen->gain == 2);
    end_all();
}

static void a_branch_that_is_not_taken_is_checked_too(void) {
    begin_all();
    CHECK(tell("a", "traits: { synth.lead: [{ When: { profile: p, traits: [{ Set: { gain: 99 } }] } }] }") == INVIVO_E_RANGE);
    CHECK(tell("a", "traits: { synth.lead: [{ When: { profile: p, traits: [{ Sett: { gain: 1 } }] } }] }") == INVIVO_E_SPEC);
    SAYS("unknown trait 'Sett'");
    SAYS("did you mean 'Set'");
    CHECK(tell("a", "traits: { synth.lead: [{ When: { traits: [{ Set: { gain: 1 } }] } }] }") == INVIVO_E_SPEC);
    SAYS("expected either 'config'");
    CHECK(tell("a", "traits: { synth.lead: [{ When: { profile: p, is: 3, traits: [] } }] }") == INVIVO_E_SPEC);
    CHECK(tell("a", "traits: { synth.lead: [{ When: { profile: p, traits: { Set: { gain: 1 } } } }] }") == INVIVO_E_SPEC);
    SAYS("a list of traits");
    CHECK(tell("a", "traits: { synth.lead: [{ When: { profil: p, traits: [] } }] }") == INVIVO_E_SPEC);
    SAYS("did you mean 'profile'");
    end_all();
}

/* Trait types that declare layers. */
typedef struct duck { double amount; } duck;
static const invivo_property duck_fields[] = {INVIVO_FIELD(duck, amount, .min = 0, .max = 1, .initial = 0.5)};
static const char *const voices[] = {"Voice"};
static const char *const all[] = {"*"};

static invivo_status duck_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                                 void *user_data, invivo_error **error) {
    (void)values, (void)user_data;
    CHECK(count == 1);
    return invivo_layers_scale(layers, "gain", 1 - ((const duck *)fields)->amount, error);
}
static invivo_status refuse_one(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                invivo_error **error) {
    (void)values, (void)count, (void)user_data;
    if (((const duck *)fields)->amount < 1) return INVIVO_OK;
    *at = 0;
    *error = invivo_error_make(INVIVO_E_RANGE, "it would be silent", NULL, NULL);
    return INVIVO_E_RANGE;
}
static invivo_trait duck_of(void) {
    return (invivo_trait){.struct_size = sizeof(invivo_trait), .name = "synth.Duck", .targets = voices, .target_count = 1,
                          .fields = duck_fields, .field_count = 1, .size = sizeof(duck), .check = refuse_one,
                          .layers = duck_layers, .destroy = destroy};
}

static void a_trait_type_declares_layers(void) {
    begin_all();
    invivo_trait trait = duck_of();
    OK(invivo_trait_add(runtime, &trait, E));
    OK(tell("a", "traits: { synth.lead: [{ Set: { gain: 4 } }, { synth.Duck: { amount: 0.75 } }] }"));
    CHECK(seen->gain == 1);
    OK(tell("a", "traits: { synth.lead: [synth.Duck: {}] }"));
    CHECK(seen->gain == 0.5);
    CHECK(tell("a", "traits: { synth.lead: [synth.Duck: { amount: 1 }] }") == INVIVO_E_HOST);
    SAYS("a:1:");
    SAYS("synth.Duck.amount");
    SAYS("it would be silent");
    CHECK(tell("a", "traits: { synth.lead: [synth.Duck: { amount: 2 }] }") == INVIVO_E_RANGE);
    CHECK(tell("a", "traits: { synth.lead: [synth.Duck: { amonut: 0 }] }") == INVIVO_E_PROPERTY);
    SAYS("did you mean 'amount'");
    CHECK(tell("a", "traits: { synth.tone: [synth.Duck: {}] }") == INVIVO_E_TYPE);
    SAYS("is for Voice, and not for Tone");
    CHECK(tell("a", "traits: { synth.lead: [synth.Dukc: {}] }") == INVIVO_E_SPEC);
    SAYS("did you mean 'synth.Duck'");
    CHECK(seen->gain == 0.5 && destroyed == 0);
    OK(invivo_trait_remove(runtime, "synth.Duck", E));
    CHECK(seen->gain == 1 && destroyed == 1);
    CHECK(invivo_trait_remove(runtime, "synth.Duck", NULL) == INVIVO_E_NOT_FOUND);
    /* The document waits for the type. */
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(seen->gain == 0.5);
    end_all();
    CHECK(destroyed == 2);
}

static invivo_status loud_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                                 void *user_data, invivo_error **error) {
    (void)fields, (void)values, (void)count, (void)user_data;
    return invivo_layers_offset(layers, "gain", 6, error);
}
static void a_new_version_of_a_trait_type_takes_the_place_of_the_former(void) {
    begin_all();
    invivo_trait trait = duck_of();
    OK(invivo_trait_add(runtime, &trait, E));
    OK(tell("a", "traits: { synth.lead: [synth.Duck: {}] }"));
    trait.layers = loud_layers;
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(seen->gain == 7 && destroyed == 1);
    /* A version with which a document is wrong is refused. */
    OK(tell("a", "traits: { synth.lead: [synth.Duck: {}, Set: { gain: 0 }] }"));
    end_all();
    CHECK(destroyed == 2);
}

/* Waits until a file was taken in or refused. */
/* Whether the only source is shown as refused. */
static bool is_refused(void) {
    invivo_value found = invivo_null();
    OK(invivo_runtime_sources(runtime, &found, E));
    CHECK_EQUAL(found.as.list.count, 1);
    const invivo_value *facts = found.as.list.items;
    const invivo_pair *last = facts->as.map.pairs + facts->as.map.count - 1;
    CHECK_TEXT(last->name, "refused");
    bool refused = last->value.as.boolean;
    invivo_value_clear(&found);
    return refused;
}
static void note_text(void *user_data, const invivo_report *report) {
    (void)user_data;
    snprintf(last_error, sizeof last_error, "%s", invivo_report_text(report));
}
static void a_file_with_an_unknown_trait_waits_for_its_type(void) {
    begin_all();
    const char *path = "blocked.yaml";
    write_text(path, "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }");
    invivo_source source;
    invivo_source_options options = {.struct_size = sizeof options, .path = path};
    /* Opening it succeeds: it is blocked and reported. */
    OK(invivo_source_open(runtime, &options, &source, E));
    CHECK(seen->gain == 1);
    CHECK(is_refused());
    OK(invivo_runtime_reports(runtime, note_text, NULL, E));
    SAYS("blocked.yaml was not applied; it is blocked, and applied when trait types of these names are added");
    invivo_trait trait = duck_of();
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(seen->gain == 0.75);
    CHECK(!is_refused());
    OK(invivo_trait_remove(runtime, "synth.Duck", E));
    CHECK(seen->gain == 1);
    /* Another error in the file: the type is added, and the file stays refused. */
    write_text(path, "traits: { synth.lead: [synth.Duck: { amount: 9 }] }");
    CHECK(invivo_source_refresh(source, NULL) != INVIVO_OK);
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(seen->gain == 0.75);
    write_text(path, "traits: { synth.lead: [synth.Duck: { amount: 0 }] }");
    OK(invivo_source_refresh(source, E));
    CHECK(seen->gain == 1);
    OK(invivo_source_close(source, E));
    /* The name of a built-in trait misspelled is a mistake: nothing is expected to add such a type. */
    const char *misspelled[] = {"Sett", "set", "Scal", "Inherits"};
    for (size_t i = 0; i < sizeof misspelled / sizeof *misspelled; i++) {
        char text[96];
        snprintf(text, sizeof text, "traits: { synth.lead: [%s: { gain: 2 }] }", misspelled[i]);
        write_text(path, text);
        CHECK(invivo_source_open(runtime, &options, &source, NULL) == INVIVO_E_SPEC);
    }
    /* An error besides the unknown type refuses the opening. */
    write_text(path, "traits: { synth.lead: [synth.Other: {}, Set: { gain: 99 }] }");
    CHECK(invivo_source_open(runtime, &options, &source, NULL) != INVIVO_OK);
    end_all();
}

/* It takes part in change sets that add types, and in no other; and another refused file does not keep it from taking effect. */
static void a_blocked_file_is_tried_where_types_are_added(void) {
    begin_all();
    const char *paths[] = {"wrong.yaml", "blocked.yaml"};
    invivo_source sources[2];
    listener heard;
    write_text(paths[0], "traits: { synth.tone: [Set: { level: 1 }] }");
    write_text(paths[1], "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }");
    for (int i = 0; i < 2; i++) {
        invivo_source_options options = {.struct_size = sizeof options, .path = paths[i]};
        OK(invivo_source_open(runtime, &options, &sources[i], E));
    }
    listener_open(&heard, runtime);
    OK(tell("c", "config: { x: 1 }"));
    listener_wait(&heard, 1);
    CHECK_TEXT(listener_last(&heard)->warnings, "");
    write_text(paths[0], "traits: { synth.tone: [Set: { levle: 1 }] }");
    CHECK_EQUAL(invivo_source_refresh(sources[0], NULL), INVIVO_E_PROPERTY);
    OK(tell("c", "config: { x: 2 }"));
    listener_wait(&heard, 3);
    CHECK(strstr(listener_last(&heard)->warnings, "still refused: Tone has no property 'levle'"));
    CHECK(!strstr(listener_last(&heard)->warnings, "Duck"));
    CHECK(seen->gain == 1);
    invivo_trait trait = duck_of();
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(seen->gain == 0.75);
    listener_wait(&heard, 4);
    CHECK(strstr(listener_last(&heard)->warnings, "still refused: Tone has no property 'levle'"));
    for (int i = 0; i < 2; i++) OK(invivo_source_close(sources[i], E));
    end_all();
    listener_end(&heard);
}

static invivo_status below_four(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)count, (void)at, (void)user_data, (void)error;
    return values[0].kind != INVIVO_KIND_NULL && values[0].as.number >= 4 ? INVIVO_E_HOST : INVIVO_OK;
}
static void a_rule_reads_no_value_that_only_the_object_has(void) {
    begin_all();
    static const char *const lead[] = {"synth.lead.gain"}, *const tone[] = {"synth.tone.level"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "low", .inputs = lead, .input_count = 1, .check = below_four};
    OK(invivo_rule_add(runtime, &rule, E));
    const char *relative[] = {"Scale: { gain: 5 }", "Offset: { gain: 5 }", "synth.Duck: { amount: 0.25 }"};
    invivo_trait duck = duck_of();
    OK(invivo_trait_add(runtime, &duck, E));
    char text[160];
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "traits:\n  synth.lead:\n    - %s\n", relative[i]);
        CHECK(tell("a", text) == INVIVO_E_SPEC);
        SAYS("a:3:");
        SAYS("synth.lead.gain: the rule 'low' reads a property that a layer changes relative to the value of the object itself");
        CHECK(seen->gain == 1);
    }
    /* Above a Set the rule sees the value. */
    OK(tell("a", "traits: { synth.lead: [{ Set: { gain: 1.5 } }, { Scale: { gain: 2 } }] }"));
    CHECK(seen->gain == 3);
    CHECK(tell("a", "traits: { synth.lead: [{ Set: { gain: 1.5 } }, { Scale: { gain: 3 } }] }") == INVIVO_E_HOST);
    CHECK(seen->gain == 3);
    OK(invivo_rule_remove(runtime, "low", E));
    OK(tell("a", "traits: { synth.lead: [{ Scale: { gain: 5 } }] }"));
    CHECK(seen->gain == 5);
    CHECK(invivo_rule_add(runtime, &rule, NULL) == INVIVO_E_SPEC);
    OK(tell("a", NULL));
    /* A block has its base value in the plan. */
    rule.inputs = tone;
    OK(tell("b", "traits: { synth.tone: [{ Offset: { level: -2 } }] }"));
    OK(invivo_rule_add(runtime, &rule, E));
    OK(tell("b", "traits: { synth.tone: [{ Offset: { level: -1 } }] }"));
    CHECK(tell("b", "traits: { synth.tone: [{ Offset: { level: 1 } }] }") == INVIVO_E_HOST);
    end_all();
}

static invivo_runtime called;
static invivo_status call_runtime(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                  invivo_error **error) {
    (void)fields, (void)values, (void)count, (void)at, (void)user_data;
    uint64_t generation;
    return invivo_runtime_generation(called, &generation, error);
}
static void functions_of_trait_types_run_as_rules_do(void) {
    begin_all();
    called = runtime;
    invivo_trait trait = duck_of();
    trait.check = call_runtime;
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(tell("a", "traits: { synth.lead: [synth.Duck: {}] }") == INVIVO_E_HOST);
    CHECK(seen->gain == 1);
    end_all();
}

static invivo_status wrong_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers,
                                  void *user_data, invivo_error **error) {
    (void)fields, (void)values, (void)count, (void)user_data;
    invivo_value text = invivo_string("much");
    if (invivo_layers_set(layers, "nothing", &text, error)) return INVIVO_E_HOST;
    return invivo_layers_set(layers, "gain", &text, error);
}
static void layers_that_are_not_possible_are_refused(void) {
    begin_all();
    invivo_trait trait = duck_of();
    trait.layers = wrong_layers;
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(tell("a", "traits: { synth.lead: [synth.Duck: {}] }") != INVIVO_OK);
    SAYS("declares a layer that is not possible");
    SAYS("no property 'nothing'");
    CHECK(seen->gain == 1);
    end_all();
}

static void descriptions_of_trait_types_are_checked(void) {
    begin_all();
    struct { const char *text; invivo_status status; invivo_trait trait; } wrong[] = {
        {"neither layers nor apply", INVIVO_E_ARGUMENT, duck_of()},
        {"accepts no target", INVIVO_E_ARGUMENT, duck_of()},
        {"is a built-in trait", INVIVO_E_EXISTS, duck_of()},
        {"trait.name is empty", INVIVO_E_ARGUMENT, duck_of()},
        {"set size to the size of the struct", INVIVO_E_ARGUMENT, duck_of()},
        {"has a space or a control character", INVIVO_E_ARGUMENT, duck_of()},
        {"has a space or a control character", INVIVO_E_ARGUMENT, duck_of()},
    };
    wrong[0].trait.layers = NULL;
    wrong[1].trait.targets = NULL, wrong[1].trait.target_count = 0;
    wrong[2].trait.name = "Inherit";
    wrong[3].trait.name = "";
    wrong[4].trait.size = 0;
    wrong[5].trait.name = "synth.Duck 2";
    wrong[6].trait.name = "synth.Duck\n";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        invivo_error *error = NULL;
        CHECK(invivo_trait_add(runtime, &wrong[i].trait, &error) == wrong[i].status);
        CHECK(error && strstr(invivo_error_text(error), wrong[i].text));
        invivo_error_release(error);
    }
    CHECK(destroyed == 7);
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    invivo_trait trait = duck_of();
    OK(invivo_changes_add_trait(set, &trait, E));
    CHECK(invivo_changes_add_trait(set, &trait, NULL) == INVIVO_E_EXISTS);
    CHECK(destroyed == 7);
    invivo_changes_discard(set);
    CHECK(destroyed == 8);
    end_all();
}

/* Traits that run code. */
static invivo_status put_back(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target, (void)error;
    voice *one = instance;
    one->gain -= *(double *)data;
    reverted++;
    return INVIVO_OK;
}
static void drop_data(void *data) {
    free(data);
    dropped++;
}
static double added = 1;
static invivo_status add_gain(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                              invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)fields, (void)values, (void)count, (void)user_data, (void)error;
    voice *one = instance;
    double *kept = malloc(sizeof *kept);
    *kept = added;
    one->gain += added;
    reversal->revert = put_back, reversal->data = kept, reversal->destroy = drop_data;
    applied++;
    return INVIVO_OK;
}
static invivo_trait code_of(void) {
    return (invivo_trait){.struct_size = sizeof(invivo_trait), .name = "synth.Code", .targets = all, .target_count = 1,
                          .apply = add_gain, .destroy = destroy};
}

static void a_trait_that_runs_code_is_reversed(void) {
    begin_all();
    invivo_trait trait = code_of();
    OK(invivo_trait_add(runtime, &trait, E));
    OK(tell("a", "traits: { synth.lead: [synth.Code: {}] }"));
    CHECK(seen->gain == 2 && applied == 1 && reverted == 0);
    /* An unchanged list is not touched. */
    OK(tell("b", "config: { x: { y: 1 } }"));
    OK(tell("a", "# moved\ntraits: { synth.lead: [synth.Code: {}] }"));
    CHECK(applied == 1);
    OK(tell("a", NULL));
    CHECK(seen->gain == 1 && applied == 1 && reverted == 1 && dropped == 1);
    end_all();
}

static void code_is_applied_again_when_something_below_it_changes(void) {
    begin_all();
    invivo_trait trait = code_of();
    OK(invivo_trait_add(runtime, &trait, E));
    OK(tell("a", "traits: { synth.lead: [Set: { gain: 3 }, synth.Code: {}, Scale: { gain: 2 }, synth.Code: {}] }"));
    CHECK(seen->gain == 9 && applied == 2);
    /* Above both: no code runs. */
    OK(tell("b", "traits: { synth.lead: [Set: { cutoff: 7 }] }"));
    CHECK(seen->cutoff == 7 && applied == 2);
    /* Between both: the upper one is applied again. */
    OK(tell("a", "traits: { synth.lead: [Set: { gain: 3 }, synth.Code: {}, Scale: { gain: 0.5 }, synth.Code: {}] }"));
    CHECK(seen->gain == 3 && seen->cutoff == 7 && applied == 3 && reverted == 1);
    /* Below both. */
    OK(tell("a", "traits: { synth.lead: [Set: { gain: 1 }, synth.Code: {}, Scale: { gain: 0.5 }, synth.Code: {}] }"));
    CHECK(seen->gain == 2 && applied == 5 && reverted == 3);
    /* One from the middle. */
    OK(tell("a", "traits: { synth.lead: [Set: { gain: 1 }, synth.Code: {}, synth.Code: {}] }"));
    CHECK(seen->gain == 3 && applied == 6 && reverted == 4);
    OK(tell("a", NULL));
    CHECK(seen->gain == 1 && seen->cutoff == 7);
    OK(tell("b", NULL));
    CHECK(seen->cutoff == 1000 && applied == reverted && dropped == applied);
    end_all();
}

static void a_failed_commit_applies_the_former_code_again(void) {
    begin_all();
    invivo_trait trait = code_of();
    OK(invivo_trait_add(runtime, &trait, E));
    OK(tell("a", "traits: { synth.lead: [Set: { gain: 2 }, synth.Code: {}, Scale: { gain: 2 }] }"));
    CHECK(seen->gain == 6);
    /* 7 + 1, times 2, is out of range: found when it is applied. */
    CHECK(tell("a", "traits: { synth.lead: [Set: { gain: 7 }, synth.Code: {}, Scale: { gain: 2 }] }") == INVIVO_E_RANGE);
    CHECK(seen->gain == 6 && applied == reverted + 1);
    OK(tell("a", NULL));
    CHECK(seen->gain == 1 && applied == reverted);
    end_all();
}

static invivo_status half_way(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                              invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)instance, (void)fields, (void)values, (void)count;
    invivo_value five = invivo_double(5), four = invivo_double(4), two = invivo_double(2);
    OK(invivo_object_set(target, "gain", &five, error));
    OK(invivo_object_set(target, "cutoff", &four, error));
    OK(invivo_object_set(target, "gain", &two, error));
    reversal->destroy = drop_data;
    reversal->data = malloc(1);
    applied++;
    if (!user_data || !*(int *)user_data) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "no more", NULL, NULL);
    return INVIVO_E_HOST;
}
static void what_a_trait_sets_through_the_runtime_is_put_back(void) {
    begin_all();
    int fails = 1;
    invivo_trait trait = code_of();
    trait.apply = half_way, trait.user_data = &fails;
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(tell("a", "traits: { synth.lead: [synth.Code: {}] }") == INVIVO_E_HOST);
    SAYS("could not be applied");
    SAYS("no more");
    CHECK(seen->gain == 1 && seen->cutoff == 1000 && dropped == 1);
    fails = 0;
    OK(tell("a", "traits: { synth.lead: [synth.Code: {}] }"));
    CHECK(seen->gain == 2 && seen->cutoff == 4);
    /* Without a reversal of its own. */
    OK(tell("a", NULL));
    CHECK(seen->gain == 1 && seen->cutoff == 1000 && dropped == 2);
    end_all();
}

static int fail_revert, fail_apply;
static invivo_status failing_revert(invivo_object target, void *instance, void *data, invivo_error **error) {
    if (!fail_revert) return put_back(target, instance, data, error);
    fail_revert--;
    *error = invivo_error_make(INVIVO_E_HOST, "the reversal fails", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status fragile(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                             invivo_reversal *reversal, void *user_data, invivo_error **error) {
    if (fail_apply && !--fail_apply) {
        *error = invivo_error_make(INVIVO_E_HOST, "the application fails", NULL, NULL);
        return INVIVO_E_HOST;
    }
    invivo_status status = add_gain(target, instance, fields, values, count, reversal, user_data, error);
    reversal->revert = failing_revert;
    return status;
}
static void a_target_that_cannot_be_put_back_is_restored_by_the_next_commit(void) {
    begin_all();
    invivo_trait trait = code_of();
    trait.apply = fragile;
    OK(invivo_trait_add(runtime, &trait, E));
    OK(tell("a", "traits: { synth.lead: [Set: { gain: 2 }, synth.Code: {}] }"));
    CHECK(seen->gain == 3);
    /* The application of the new list fails, and so does the repeated one of the former. */
    fail_apply = 1;
    CHECK(tell("a", "traits: { synth.lead: [Set: { gain: 4 }, synth.Code: {}] }") == INVIVO_E_HOST);
    CHECK(seen->gain == 3 && applied == reverted + 1);
    /* A reversal that fails: the object keeps what the trait did, and the next commit applies the list again. */
    fail_revert = 1;
    CHECK(tell("a", NULL) == INVIVO_E_HOST);
    SAYS("could not be reversed");
    CHECK(seen->gain == 3);
    OK(tell("b", "config: { x: 1 }"));
    CHECK(seen->gain == 4 && applied == reverted + 2);
    /* The rest of it counts as a change by other code. */
    OK(tell("a", NULL));
    CHECK(seen->gain == 3);
    end_all();
}

static void code_is_for_confined_targets(void) {
    begin_all();
    invivo_trait trait = code_of();
    OK(invivo_trait_add(runtime, &trait, E));
    CHECK(tell("a", "traits: { synth.tone: [synth.Code: {}] }") == INVIVO_E_TYPE);
    SAYS("is a shared type");
    end_all();
}

static void new_objects_are_created_with_code(void) {
    begin_all();
    invivo_trait trait = code_of();
    OK(invivo_trait_add(runtime, &trait, E));
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    invivo_definition many = {.struct_size = sizeof many, .key = "synth.many", .type_name = "Voice", .scope = INVIVO_SCOPE_PROTOTYPE};
    OK(invivo_changes_define(set, &many, NULL, E));
    const char *text = "traits: { synth.many: [synth.Code: {}, Scale: { gain: 3 }] }";
    OK(invivo_changes_document(set, "a", text, strlen(text), E));
    OK(invivo_changes_commit(set, E));
    invivo_key key;
    OK(invivo_key_find(runtime, "synth.many", &key, E));
    invivo_object one;
    OK(invivo_resolve(runtime, key, &one, E));
    CHECK(instance_of(one)->gain == 6 && applied == 1);
    OK(invivo_object_release(one));
    /* The object has ended: its reversal is dropped, and not called. */
    CHECK(reverted == 0 && dropped == 1);
    end_all();
}

static void a_detached_object_is_put_back(void) {
    begin_all();
    invivo_trait trait = code_of();
    OK(invivo_trait_add(runtime, &trait, E));
    invivo_object one;
    OK(invivo_object_make(runtime, voice_handle, NULL, 0, &one, E));
    invivo_target target;
    OK(invivo_target_attach(one, "synth.free", &target, E));
    OK(tell("a", "traits: { synth.free: [synth.Code: {}] }"));
    CHECK(applied == 1);
    CHECK(instance_of(one)->gain == 2);
    OK(invivo_target_detach(target, E));
    CHECK(instance_of(one)->gain == 1 && reverted == 1);
    OK(invivo_object_release(one));
    end_all();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(relative_layers_change_the_value_below);
    RUN_TEST(integers_are_rounded_to_the_nearest);
    RUN_TEST(fields_of_a_struct_are_scaled_one_by_one);
    RUN_TEST(relative_layers_reach_blocks);
    RUN_TEST(what_is_no_number_is_not_scaled);
    RUN_TEST(traits_are_inherited_through_several_keys);
    RUN_TEST(cycles_of_inheritance_are_refused);
    RUN_TEST(each_inherited_key_is_resolved_once);
    RUN_TEST(the_length_of_a_row_does_not_depend_on_the_first_key);
    RUN_TEST(inherited_traits_are_limited_together);
    RUN_TEST(a_key_that_a_document_has_no_more_is_not_suggested);
    RUN_TEST(a_key_that_is_only_inherited_needs_no_target);
    RUN_TEST(conditions_follow_the_configuration);
    RUN_TEST(a_branch_that_is_not_taken_is_checked_too);
    RUN_TEST(a_trait_type_declares_layers);
    RUN_TEST(a_new_version_of_a_trait_type_takes_the_place_of_the_former);
    RUN_TEST(a_file_with_an_unknown_trait_waits_for_its_type);
    RUN_TEST(a_blocked_file_is_tried_where_types_are_added);
    RUN_TEST(a_rule_reads_no_value_that_only_the_object_has);
    RUN_TEST(functions_of_trait_types_run_as_rules_do);
    RUN_TEST(layers_that_are_not_possible_are_refused);
    RUN_TEST(descriptions_of_trait_types_are_checked);
    RUN_TEST(a_trait_that_runs_code_is_reversed);
    RUN_TEST(code_is_applied_again_when_something_below_it_changes);
    RUN_TEST(a_failed_commit_applies_the_former_code_again);
    RUN_TEST(what_a_trait_sets_through_the_runtime_is_put_back);
    RUN_TEST(a_target_that_cannot_be_put_back_is_restored_by_the_next_commit);
    RUN_TEST(code_is_for_confined_targets);
    RUN_TEST(new_objects_are_created_with_code);
    RUN_TEST(a_detached_object_is_put_back);
    return check_end();
}
