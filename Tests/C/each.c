/* One instance per configuration entry: each is added, changed and removed independently. */
#include "thing.h"

static invivo_runtime runtime;

static void begin(void) { things = 0, runtime = thing_runtime(); }
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
}

static invivo_status say(const char *text, invivo_error **error) {
    invivo_changes changes;
    if (!OK(invivo_changes_open(runtime, &changes, E))) return INVIVO_E_INTERNAL;
    invivo_changes_document(changes, "voices.yaml", text, text ? strlen(text) : 0, NULL);
    return invivo_changes_commit(changes, error);
}
static invivo_status activate(const invivo_assembly *assembly) { return invivo_activate(runtime, &assembly, 1, NULL, E); }
static int64_t number(const char *name) { return thing_of(thing_shared(runtime, name))->number; }
static int is_there(const char *name) {
    invivo_object object = {0};
    invivo_status status = invivo_resolve_name(runtime, name, &object, NULL);
    if (!status) invivo_object_release(object);
    return !status;
}

static const invivo_definition table[] = {
    INVIVO_LAZY_SINGLETON("clock", "Thing"),
    INVIVO_SINGLETON("voice", "Thing",
        INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_INLINE(INVIVO_SCOPE_LAZY_SINGLETON, "Thing",
            INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY("depth"), INVIVO_WITH(INVIVO_GIVE(INVIVO_INT(-1))))))),
            INVIVO_GIVE(INVIVO_ENTRY("note"))),
        INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("clock"))), .each = "voices"),
};
static const invivo_assembly synth = INVIVO_ASSEMBLY("synth", table, .flags = 0);

static void each_entry_of_a_map_has_one(void) {
    invivo_value all;
    invivo_object object;
    begin();
    OK(activate(&synth));
    CHECK_EQUAL(things, 0); /* no entry, no instance */
    OK(say("config: { synth: { voices: { lead: { note: 60 }, bass: { note: 36, depth: 4 } } } }\n", E));
    CHECK_EQUAL(number("synth.voice[lead]"), 60);
    CHECK_EQUAL(number("synth.voice[bass]"), 36);
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "synth.voice[bass]"))->left), "synth.clock");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "synth.voice[bass]"))->given), "synth.voice[bass].0");
    CHECK_EQUAL(number("synth.voice[bass].0"), 4);
    CHECK_EQUAL(number("synth.voice[lead].0"), -1);
    /* The pattern is no instance; by type there are those of the entries and the clock. */
    expects_error(invivo_resolve_name(runtime, "synth.voice", &object, E), INVIVO_E_ABSTRACT, NULL);
    OK(invivo_resolve_all(runtime, "Thing", 0, &all, E));
    CHECK_EQUAL(all.as.list.count, 3);
    invivo_value_clear(&all);
    end();
}

static void an_entry_that_comes_changes_or_goes_concerns_its_own_alone(void) {
    begin();
    OK(activate(&synth));
    OK(say("config: { synth: { voices: { lead: { note: 60 }, bass: { note: 36 } } } }\n", E));
    invivo_object lead = thing_shared(runtime, "synth.voice[lead]"), bass = thing_shared(runtime, "synth.voice[bass]");
    invivo_object inner = thing_shared(runtime, "synth.voice[bass].0");
    OK(say("config: { synth: { voices: { lead: { note: 60 }, pad: { note: 48 }, bass: { note: 36 } } } }\n", E));
    CHECK_EQUAL(number("synth.voice[pad]"), 48);
    CHECK(thing_shared(runtime, "synth.voice[lead]").bits == lead.bits && thing_shared(runtime, "synth.voice[bass]").bits == bass.bits);
    OK(say("config: { synth: { voices: { pad: { note: 48 }, bass: { note: 36, depth: 2 } } } }\n", E));
    CHECK(!is_there("synth.voice[lead]") && !is_there("synth.voice[lead].0"));
    CHECK(thing_shared(runtime, "synth.voice[bass]").bits == bass.bits);    /* the property of its inline definition */
    CHECK(thing_shared(runtime, "synth.voice[bass].0").bits == inner.bits); /* is set again */
    CHECK_EQUAL(number("synth.voice[bass].0"), 2);
    OK(say("config: { synth: { voices: { pad: { note: 48 }, bass: { note: 37, depth: 2 } } } }\n", E));
    CHECK(thing_shared(runtime, "synth.voice[bass]").bits != bass.bits); /* through the initializer: rebuilt */
    CHECK_EQUAL(number("synth.voice[bass]"), 37);
    OK(say(NULL, E));
    CHECK(!is_there("synth.voice[bass]") && !is_there("synth.voice[pad]"));
    end();
}

static void entries_of_a_list_are_identified_by_their_values(void) {
    static const char *const wrong[] = {"config: { synth: { voices: [{ note: 60 }] } }\n", "config: { synth: { voices: [a.b] } }\n",
                                        "config: { synth: { voices: [a, a] } }\n", "config: { synth: { voices: 12 } }\n"};
    static const char *const texts[] = {
        "voices.yaml:1:29: config.synth.voices: an entry of a list is known by its text or number, or as a map by its 'name', and this "
        "one has none; or write a map",
        "voices.yaml:1:29: config.synth.voices: 'a.b' is no name for an entry: it is part of a key, without dots and brackets",
        "voices.yaml:1:32: config.synth.voices: two entries are 'a'",
        "voices.yaml:1:28: config.synth.voices: 'synth.voice' is for each entry of a map or list, and here is an int64",
    };
    begin();
    OK(activate(&synth));
    OK(say("config: { synth: { voices: [{ name: lead, note: 60 }, { name: bass, note: 36 }] } }\n", E));
    invivo_object lead = thing_shared(runtime, "synth.voice[lead]");
    CHECK_EQUAL(number("synth.voice[bass]"), 36);
    OK(say("config: { synth: { voices: [{ name: pad, note: 48 }, { name: bass, note: 35 }, { name: lead, note: 60 }] } }\n", E));
    CHECK(thing_shared(runtime, "synth.voice[lead]").bits == lead.bits);
    CHECK_EQUAL(number("synth.voice[bass]"), 35);
    CHECK_EQUAL(number("synth.voice[pad]"), 48);
    for (int i = 0; i < 4; i++) {
        expects_error(say(wrong[i], E), i == 2 ? INVIVO_E_EXISTS : i == 3 ? INVIVO_E_TYPE : INVIVO_E_SPEC, texts[i]);
        CHECK(thing_shared(runtime, "synth.voice[lead]").bits == lead.bits);
    }
    end();
}

static void entries_may_be_plain_values(void) {
    const invivo_definition plain[] = {
        INVIVO_LAZY_SINGLETON("tone", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY(NULL))), .each = "tones")};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("a", plain, .flags = 0);
    begin();
    OK(activate(&assembly));
    OK(say("config: { a: { tones: [440, 220] } }\n", E));
    CHECK_EQUAL(number("a.tone[440]"), 440);
    OK(say("config: { a: { tones: { low: 110 } } }\n", E));
    CHECK_EQUAL(number("a.tone[low]"), 110);
    CHECK(!is_there("a.tone[440]"));
    end();
}

static void a_pattern_changes_and_goes_with_all_of_its_own(void) {
    const invivo_definition other[] = {
        INVIVO_LAZY_SINGLETON("voice", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY("note"))), .each = "voices")};
    const invivo_assembly changed = INVIVO_ASSEMBLY("synth", other, .flags = 0);
    const invivo_remap none[1] = {{0}};
    begin();
    OK(say("config: { synth: { voices: { lead: { note: 60 } } }, left: { voices: { solo: { note: 7 } } } }\n", E));
    OK(activate(&synth));
    CHECK_EQUAL(number("synth.voice[lead]"), 60);
    OK(activate(&changed));
    CHECK_EQUAL(number("synth.voice[lead]"), 60);
    CHECK(!is_there("synth.voice[lead].0"));
    /* A mount has the entries of its own scope. */
    OK(invivo_mount(runtime, &changed, "left", none, 0, E));
    CHECK_EQUAL(number("left.voice[solo]"), 7);
    CHECK(!is_there("left.voice[lead]"));
    const char *gone[] = {"synth", "left"};
    OK(invivo_deactivate(runtime, gone, 2, E));
    CHECK(!is_there("synth.voice[lead]") && !is_there("left.voice[solo]"));
    CHECK_EQUAL(things, 0);
    end();
}

/* Only the inline object is replaced. */
static void inline_definitions_of_a_pattern_change_in_each_instance(void) {
    const invivo_definition other[] = {
        INVIVO_LAZY_SINGLETON("clock", "Thing"),
        INVIVO_SINGLETON("voice", "Thing",
            INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_INLINE(INVIVO_SCOPE_LAZY_SINGLETON, "Thing",
                INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY("depth"), INVIVO_WITH(INVIVO_GIVE(INVIVO_INT(-2))))))),
                INVIVO_GIVE(INVIVO_ENTRY("note"))),
            INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("clock"))), .each = "voices"),
    };
    const invivo_assembly changed = INVIVO_ASSEMBLY("synth", other, .flags = 0);
    begin();
    OK(say("config: { synth: { voices: { lead: { note: 60 }, bass: { note: 36, depth: 4 } } } }\n", E));
    OK(activate(&synth));
    CHECK_EQUAL(number("synth.voice[lead].0"), -1);
    OK(activate(&changed));
    CHECK_EQUAL(number("synth.voice[lead].0"), -2);
    CHECK_EQUAL(number("synth.voice[bass].0"), 4);
    end();
}

static void an_entry_takes_no_key_that_is_defined(void) {
    const invivo_definition tones[] = {
        INVIVO_LAZY_SINGLETON("tone", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY(NULL))), .each = "tones")};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("a", tones, .flags = 0);
    begin();
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.tone[440]", .type_name = "Thing",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    invivo_object mine = thing_shared(runtime, "a.tone[440]");
    OK(activate(&assembly));
    expects_error(say("config: { a: { tones: [220, 440] } }\n", E), INVIVO_E_EXISTS, NULL);
    CHECK(!is_there("a.tone[220]"));
    CHECK(thing_shared(runtime, "a.tone[440]").bits == mine.bits);
    end();
}

static void a_definition_with_each_requires_an_entry(void) {
    const invivo_definition plain[] = {
        INVIVO_LAZY_SINGLETON("tone", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY("x"))))};
    const invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "a", .definitions = plain, .definition_count = 1};
    invivo_error *error = NULL;
    begin();
    const invivo_assembly *pointer = &assembly;
    CHECK(invivo_activate(runtime, &pointer, 1, NULL, &error) == INVIVO_E_ARGUMENT);
    CHECK(error && strstr(invivo_error_text(error), "the property 'number' needs an entry, and 'a.tone' is not one for each of them"));
    invivo_error_release(error);
    end();
}

/* The entries with a Thing, in the order of the list. */
static const char *listed(void) {
    static char text[4096];
    invivo_value all;
    size_t length = 0;
    text[0] = 0;
    if (!OK(invivo_resolve_all(runtime, "Thing", 0, &all, E))) return "";
    for (uint64_t i = 0; i < all.as.list.count; i++) {
        const char *key = thing_key(all.as.list.items[i].as.object), *bracket = strchr(key, '[');
        if (bracket) length += (size_t)snprintf(text + length, sizeof text - length, "%s%.*s", length ? " " : "", (int)strcspn(bracket + 1, "]"), bracket + 1);
    }
    invivo_value_clear(&all);
    return text;
}
static void entries_are_listed_in_the_order_of_the_configuration(void) {
    begin();
    OK(say("config: { synth: { voices: { lead: { note: 60 }, bass: { note: 36 } } } }\n", E));
    OK(activate(&synth));
    CHECK_TEXT(listed(), "lead bass");
    invivo_object lead = thing_shared(runtime, "synth.voice[lead]"), bass = thing_shared(runtime, "synth.voice[bass]");
    OK(say("config: { synth: { voices: { pad: { note: 48 }, lead: { note: 60 }, solo: { note: 1 }, bass: { note: 36 } } } }\n", E));
    CHECK_TEXT(listed(), "pad lead solo bass");
    OK(say("config: { synth: { voices: { bass: { note: 36 }, lead: { note: 60 }, solo: { note: 2 }, pad: { note: 48 } } } }\n", E));
    CHECK_TEXT(listed(), "bass lead solo pad");
    OK(say("config: { synth: { voices: { lead: { note: 60 }, bass: { note: 36 } } } }\n", E));
    CHECK_TEXT(listed(), "lead bass");
    CHECK(thing_shared(runtime, "synth.voice[lead]").bits == lead.bits && thing_shared(runtime, "synth.voice[bass]").bits == bass.bits);
    OK(say("config: { synth: { voices: [{ name: solo, note: 1 }, { name: bass, note: 36 }, { name: lead, note: 60 }] } }\n", E));
    CHECK_TEXT(listed(), "solo bass lead");
    OK(say("config: { synth: { voices: [{ name: lead, note: 60 }, { name: solo, note: 1 }, { name: bass, note: 36 }] } }\n", E));
    CHECK_TEXT(listed(), "lead solo bass");
    end();
}
/* Lookups follow every edit, also when the gap between two positions is used up. */
static void every_edit_is_followed_by_the_order(void) {
    enum { ROUNDS = 150, MOST = 40 };
    const invivo_definition plain[] = {
        INVIVO_LAZY_SINGLETON("tone", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY(NULL))), .each = "tones")};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("a", plain, .flags = 0);
    int entries[MOST] = {0}, count = 0, next = 0;
    uint32_t random = 1;
    begin();
    OK(activate(&assembly));
    for (int round = 0; round < ROUNDS; round++) {
        char text[2048], expected[1024] = "";
        size_t length = (size_t)snprintf(text, sizeof text, "config: { a: { tones: ["), known = 0;
        random = random * 1664525 + 1013904223;
        int what = (int)(random >> 24) % 8, at = count ? (int)(random >> 8 & 0xffff) % count : 0, moved = entries[at];
        if (count > 1 && (what == 0 || count == MOST)) memmove(&entries[at], &entries[at + 1], sizeof *entries * (size_t)(--count - at));
        else if (count && what == 1) memmove(&entries[at], &entries[at + 1], sizeof *entries * (size_t)(count - 1 - at)), entries[count - 1] = moved;
        else if (count && what == 2) memmove(&entries[1], &entries[0], sizeof *entries * (size_t)at), entries[0] = moved;
        /* Most are added at the same index, which uses up the gap there. */
        else at = count < 2 ? count : 1, memmove(&entries[at + 1], &entries[at], sizeof *entries * (size_t)(count - at)), entries[at] = ++next, count++;
        for (int i = 0; i < count; i++) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d", i ? ", " : "", entries[i]);
            known += (size_t)snprintf(expected + known, sizeof expected - known, "%s%d", i ? " " : "", entries[i]);
        }
        snprintf(text + length, sizeof text - length, "] } }\n");
        OK(say(text, E));
        CHECK_TEXT(listed(), expected);
    }
    end();
}
static invivo_status define(const invivo_definition *definitions, int count) {
    invivo_changes changes;
    if (!OK(invivo_changes_open(runtime, &changes, E))) return INVIVO_E_INTERNAL;
    for (int i = 0; i < count; i++) OK(invivo_changes_define(changes, &definitions[i], NULL, E));
    return invivo_changes_commit(changes, E);
}
static void a_parent_and_an_override_reach_the_instance_of_an_entry(void) {
    const invivo_injection one = {.name = "number", INVIVO_INT(1)}, two = {.name = "number", INVIVO_INT(2)}, three = {.name = "number", INVIVO_INT(3)};
    const invivo_definition first[] = {
        {.struct_size = sizeof *first, .key = "a.base", .type_name = "Thing", .flags = INVIVO_DEFINITION_ABSTRACT, .properties = &one, .property_count = 1},
        {.struct_size = sizeof *first, .key = "a.tone", .type_name = "Thing", .parent = "a.base", .each = "tones", .scope = INVIVO_SCOPE_LAZY_SINGLETON}};
    invivo_definition other = first[0];
    invivo_override override;
    begin();
    OK(say("config: { a: { tones: [x, y] } }\n", E));
    OK(define(first, 2));
    CHECK_EQUAL(number("a.tone[x]"), 1);
    other.properties = &two;
    OK(define(&other, 1));
    CHECK_EQUAL(number("a.tone[x]"), 2);
    CHECK_EQUAL(number("a.tone[y]"), 2);
    invivo_definition above = {.struct_size = sizeof above, .key = "a.tone[x]", .type_name = "Thing", .properties = &three, .property_count = 1};
    OK(invivo_override_begin(runtime, &above, &override, E));
    CHECK_EQUAL(number("a.tone[x]"), 3);
    OK(say("config: { a: { tones: [y, x] } }\n", E));
    CHECK_TEXT(listed(), "y x");
    CHECK_EQUAL(number("a.tone[x]"), 3);
    OK(invivo_override_end(override, E));
    CHECK_EQUAL(number("a.tone[x]"), 2);
    CHECK_TEXT(listed(), "y x");
    end();
}

int main(void) {
    thing_concurrency = INVIVO_CONFINED; /* its properties are set again in place */
    check_begin();
    RUN_TEST(each_entry_of_a_map_has_one);
    RUN_TEST(an_entry_that_comes_changes_or_goes_concerns_its_own_alone);
    RUN_TEST(entries_of_a_list_are_identified_by_their_values);
    RUN_TEST(entries_may_be_plain_values);
    RUN_TEST(a_pattern_changes_and_goes_with_all_of_its_own);
    RUN_TEST(inline_definitions_of_a_pattern_change_in_each_instance);
    RUN_TEST(an_entry_takes_no_key_that_is_defined);
    RUN_TEST(a_definition_with_each_requires_an_entry);
    RUN_TEST(entries_are_listed_in_the_order_of_the_configuration);
    RUN_TEST(every_edit_is_followed_by_the_order);
    RUN_TEST(a_parent_and_an_override_reach_the_instance_of_an_entry);
    return check_end();
}
