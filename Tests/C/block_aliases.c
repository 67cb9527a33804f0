/* The blocks of keys that become aliases, and stop being aliases: by definitions and by decisions of documents. */
/* sanitize: yes */
#include "check.h"

typedef struct small { double level; } small;
typedef struct voice { double gain; } voice;
static const invivo_property small_properties[] = {INVIVO_FIELD(small, level, .max = 100)};
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 7)};
static invivo_runtime runtime;
static invivo_key one, two, plain, above;

static void begin(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT, options.ramp_tick_ms = INVIVO_RAMP_TICK_MANUAL;
    OK(invivo_runtime_open(&runtime, &options, E));
    const small initial[] = {{1}, {2}};
    OK(invivo_define_block(runtime, "s.one", INVIVO_BLOCK_FROM(small, small_properties, &initial[0]), &one, E));
    OK(invivo_define_block(runtime, "s.two", INVIVO_BLOCK_FROM(small, small_properties, &initial[1]), &two, E));
    invivo_type_options voices = {.struct_size = sizeof voices, .name = "Voice", .size = sizeof(voice), .properties = voice_properties,
                                  .property_count = 1};
    invivo_type type;
    OK(invivo_type_register(runtime, &voices, &type, E));
    invivo_definition own = {.struct_size = sizeof own, .key = "s.plain", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &own, &plain, E));
    invivo_definition alias = {.struct_size = sizeof alias, .key = "s.above", .alias = "s.plain"};
    OK(invivo_define(runtime, &alias, &above, E));
}
static void end(void) { OK(invivo_runtime_close(runtime, E)); }
static void tell(const char *text) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, "d", text, strlen(text), E));
    OK(invivo_changes_commit(set, E));
}
/* In one change set, the key becomes an alias, or a definition of Voice. */
static void redefine(const char *key, const char *alias, const char *text) {
    const invivo_definition as_alias = {.struct_size = sizeof as_alias, .key = key, .alias = alias};
    const invivo_definition own = {.struct_size = sizeof own, .key = key, .type_name = "Voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_define(set, alias ? &as_alias : &own, NULL, E));
    OK(invivo_changes_document(set, "d", text, strlen(text), E));
    OK(invivo_changes_commit(set, E));
}
/* The level in the block of a key; -1 without a block. */
static double level(invivo_key key) {
    invivo_view view = invivo_view_begin(runtime);
    const small *block = invivo_view_block(view, key);
    double found = block ? block->level : -1;
    invivo_view_end(view);
    return found;
}

static void a_key_without_a_block_has_none_again(void) {
    begin();
    CHECK(level(plain) == -1 && level(above) == -1);
    redefine("s.plain", "s.one", "{}");
    CHECK(level(plain) == 1 && level(above) == 1);
    redefine("s.plain", NULL, "traits: { s.one: [Set: { level: 3 }] }");
    CHECK(level(one) == 3 && level(plain) == -1 && level(above) == -1);
    tell("traits: { s.one: [Set: { level: 4 }] }");
    CHECK(level(one) == 4 && level(plain) == -1 && level(above) == -1);
    end();
}
static void a_key_with_a_block_shows_that_of_its_target(void) {
    begin();
    tell("wiring: { s.one: { alias: s.two } }");
    CHECK(level(one) == 2);
    tell("{ wiring: { s.one: { alias: s.two } }, traits: { s.two: [Set: { level: 5 }] } }");
    CHECK(level(one) == 5 && level(two) == 5);
    tell("{}");
    CHECK(level(one) == 1 && level(two) == 2);
    end();
}
/* The target has other traits in the same commit, and the key its own. */
static void a_decision_and_the_traits_change_together(void) {
    begin();
    tell("{ wiring: { s.one: { alias: s.two } }, traits: { s.two: [Set: { level: 5 }] } }");
    tell("traits: { s.two: [Set: { level: 6 }], s.one: [Scale: { level: 2 }] }");
    CHECK(level(one) == 2 && level(two) == 6);
    redefine("s.one", "s.plain", "traits: { s.two: [Set: { level: 7 }] }");
    CHECK(level(one) == -1 && level(two) == 7);
    end();
}
/* A movement of the former target does not reach the key, whose own begins at its own value. */
static void a_movement_of_the_former_target_stays_there(void) {
    begin();
    const char *moving = "{ wiring: { s.one: { alias: s.two } }, traits: { s.two: [Ramp: { to: { level: 12 }, over: 100 ms }] } }";
    tell(moving);
    OK(invivo_runtime_advance(runtime, 50000000, E));
    CHECK(level(one) == 7 && level(two) == 7);
    tell("traits: { s.two: [Ramp: { to: { level: 12 }, over: 100 ms }] }");
    CHECK(level(one) == 1 && level(two) == 7);
    OK(invivo_runtime_advance(runtime, 50000000, E));
    CHECK(level(one) == 1 && level(two) == 12);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_key_without_a_block_has_none_again);
    RUN_TEST(a_key_with_a_block_shows_that_of_its_target);
    RUN_TEST(a_decision_and_the_traits_change_together);
    RUN_TEST(a_movement_of_the_former_target_stays_there);
    return check_end();
}
