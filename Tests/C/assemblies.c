/* Assemblies: description, activation, replacement, extension, removal, derivation, collaborators, duplicate keys,
 * inline definitions. */
#include "thing.h"

static invivo_runtime runtime;

static void begin(void) { things = 0, runtime = thing_runtime(); }
static void begin_without_history(void) {
    const invivo_runtime_options options = without_history();
    things = 0, runtime = thing_runtime_with(&options);
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
}

static invivo_status activate(const invivo_assembly *assembly) { return invivo_activate(runtime, &assembly, 1, NULL, E); }
static invivo_status deactivate(const char *name) { return invivo_deactivate(runtime, &name, 1, E); }
static uint32_t state(const char *name) {
    uint32_t found = 99;
    OK(invivo_assembly_state(runtime, name, &found, E));
    return found;
}
static uint64_t generation(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return info.generation;
}

/* ---- an assembly by itself ---------------------------------------------------------------------------- */

static const invivo_definition camelot_table[] = {
    INVIVO_LAZY_SINGLETON("table", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(12)))),
    INVIVO_PROTOTYPE("knight", "Thing",
        INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_REF("quest"))),
        INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("table")))),
    INVIVO_GRAPH("quest", "Thing"),
    INVIVO_ALIAS("hero", "knight"),
    INVIVO_CHILD("duke", "knight", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(3)))),
};
static const invivo_assembly camelot = INVIVO_ASSEMBLY("camelot", camelot_table, .flags = 0);

static void an_assembly_is_a_set_of_definitions_under_its_name(void) {
    invivo_object duke;
    begin();
    OK(activate(&camelot));
    OK(invivo_resolve_name(runtime, "camelot.duke", &duke, E));
    thing *it = thing_of(duke);
    CHECK_TEXT(thing_key(it->left), "camelot.table");
    CHECK_TEXT(thing_key(it->given), "camelot.quest");
    CHECK_EQUAL(it->number, 3);
    CHECK_EQUAL(thing_of(it->left)->number, 12);
    OK(invivo_object_release(duke));
    OK(invivo_resolve_name(runtime, "camelot.hero", &duke, E));
    CHECK_TEXT(thing_key(duke), "camelot.knight");
    OK(invivo_object_release(duke));
    end();
}

static void before_activation_every_resolve_names_the_assembly(void) {
    invivo_object object = {0};
    invivo_key key;
    invivo_value list;
    begin();
    CHECK_EQUAL(state("camelot"), INVIVO_ASSEMBLY_UNKNOWN);
    OK(invivo_assembly_describe(runtime, &camelot, E));
    CHECK_EQUAL(state("camelot"), INVIVO_ASSEMBLY_INACTIVE);
    const char *text = "camelot.table: the assembly 'camelot' must be activated before 'camelot.table' is resolved";
    expects_error(invivo_resolve_name(runtime, "camelot.table", &object, E), INVIVO_E_NOT_READY, text);
    expects_error(invivo_key_find(runtime, "camelot.table", &key, E), INVIVO_E_NOT_READY, text);
    OK(invivo_key_intern(runtime, "camelot.table", &key, E));
    expects_error(invivo_resolve(runtime, key, &object, E), INVIVO_E_NOT_READY, text);
    expects_error(invivo_resolve_with(runtime, key, NULL, 0, &object, E), INVIVO_E_NOT_READY, text);
    expects_error(invivo_resolve_optional(runtime, key, NULL, 0, &object, E), INVIVO_E_NOT_READY, text);
    expects_error(invivo_resolve_type(runtime, "Any", NULL, 0, &object, E), INVIVO_E_NOT_READY, text);
    OK(invivo_resolve_all(runtime, "Any", 0, &list, E));
    CHECK_EQUAL(list.as.list.count, 0);
    invivo_value_clear(&list);
    invivo_type type;
    OK(invivo_type_find(runtime, "Thing", &type, E));
    invivo_injection left[] = {INVIVO_NAMED("left", INVIVO_REF("camelot.table"))};
    invivo_definition user = {.struct_size = sizeof user, .key = "user", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                              .properties = left, .property_count = 1, .file = "user.c", .line = 7};
    expects_error(invivo_define(runtime, &user, NULL, E), INVIVO_E_NOT_FOUND,
        "user.c:7: user: the property 'left' needs 'camelot.table', which is not defined: the assembly 'camelot' must be activated");
    OK(activate(&(invivo_assembly){.struct_size = sizeof(invivo_assembly), .name = "camelot", .flags = INVIVO_ASSEMBLY_DESCRIBED}));
    CHECK_EQUAL(state("camelot"), INVIVO_ASSEMBLY_ACTIVE);
    OK(invivo_define(runtime, &user, NULL, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "user"))->left), "camelot.table");
    OK(invivo_changes_remove((invivo_changes){0}, "x", NULL) == INVIVO_E_HANDLE ? INVIVO_OK : INVIVO_E_HOST);
    end();
}

static void activation_is_idempotent(void) {
    begin();
    OK(activate(&camelot));
    invivo_object table = thing_shared(runtime, "camelot.table");
    uint64_t before = generation();
    OK(activate(&camelot));
    OK(invivo_assembly_describe(runtime, &camelot, E));
    OK(activate(&camelot));
    CHECK_EQUAL(generation(), before);
    CHECK(thing_shared(runtime, "camelot.table").bits == table.bits);
    end();
}

static void a_replaced_assembly_keeps_unchanged_definitions(void) {
    const invivo_definition other[] = {
        INVIVO_LAZY_SINGLETON("table", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(12)))),
        INVIVO_PROTOTYPE("knight", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("table")))),
        INVIVO_LAZY_SINGLETON("horse", "Thing"),
    };
    const invivo_assembly changed = INVIVO_ASSEMBLY("camelot", other, .flags = 0);
    const invivo_activate_options fresh = {.struct_size = sizeof fresh, .flags = INVIVO_ACTIVATE_NEW};
    const invivo_assembly *pointer = &changed;
    invivo_object knight;
    begin();
    OK(activate(&camelot));
    invivo_object table = thing_shared(runtime, "camelot.table");
    CHECK(invivo_activate(runtime, &pointer, 1, &fresh, NULL) == INVIVO_E_EXISTS);
    OK(activate(&changed));
    CHECK(thing_shared(runtime, "camelot.table").bits == table.bits);
    OK(invivo_resolve_name(runtime, "camelot.knight", &knight, E));
    CHECK(thing_of(knight)->given.bits == 0);
    OK(invivo_object_release(knight));
    CHECK(invivo_resolve_name(runtime, "camelot.duke", &knight, NULL) == INVIVO_E_NOT_FOUND);
    CHECK_TEXT(thing_key(thing_shared(runtime, "camelot.horse")), "camelot.horse");
    OK(deactivate("camelot"));
    CHECK_EQUAL(state("camelot"), INVIVO_ASSEMBLY_UNKNOWN);
    CHECK(invivo_resolve_name(runtime, "camelot.table", &knight, NULL) == INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(things, 0);
    expects_error(deactivate("camelot"), INVIVO_E_NOT_FOUND, "camelot: no assembly 'camelot' is active");
    end();
}

static void a_single_definition_of_an_assembly_is_replaced_and_removed(void) {
    invivo_object object;
    invivo_changes changes;
    begin();
    OK(activate(&camelot));
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_LAZY_SINGLETON("camelot.table", "Thing"), NULL, E));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "camelot.table"))->number, 0);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "camelot.duke", E));
    OK(invivo_changes_commit(changes, E));
    CHECK(invivo_resolve_name(runtime, "camelot.duke", &object, NULL) == INVIVO_E_NOT_FOUND);
    OK(deactivate("camelot"));
    CHECK(invivo_resolve_name(runtime, "camelot.table", &object, NULL) == INVIVO_E_NOT_FOUND);
    end();
}

/* Repeated activation is a no-op: replaced and removed members stay so. */
static void separate_changes_survive_repeated_activation(void) {
    const invivo_definition ridden[] = {
        INVIVO_LAZY_SINGLETON("rider", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("stable.horse")))),
        INVIVO_LAZY_SINGLETON("saddle", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(1)))),
        INVIVO_LAZY_SINGLETON("spur", "Thing"),
    };
    const invivo_collaborator needs[] = {{.prefix = "stable"}};
    const invivo_assembly riders = INVIVO_ASSEMBLY("riders", ridden, INVIVO_COLLABORATORS(needs));
    const invivo_definition horses[] = {INVIVO_LAZY_SINGLETON("horse", "Thing")};
    const invivo_assembly stable = INVIVO_ASSEMBLY("stable", horses, .flags = 0);
    const invivo_assembly fine = INVIVO_ASSEMBLY("fine", horses, .base = &stable);
    const invivo_assembly more = {.struct_size = sizeof more, .name = "riders", .definitions = &ridden[2], .definition_count = 1,
                                  .flags = INVIVO_ASSEMBLY_EXTENDS};
    const invivo_assembly *first[] = {&riders, &stable}, *second[] = {&riders, &fine};
    invivo_object object;
    invivo_changes changes;
    begin();
    OK(invivo_activate(runtime, first, 2, NULL, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition)INVIVO_LAZY_SINGLETON("riders.saddle", "Thing"), NULL, E));
    OK(invivo_changes_remove(changes, "riders.spur", E));
    OK(invivo_changes_commit(changes, E));
    invivo_object saddle = thing_shared(runtime, "riders.saddle");
    CHECK_EQUAL(thing_of(saddle)->number, 0);
    uint64_t before = generation();
    OK(activate(&riders));
    CHECK_EQUAL(generation(), before);
    CHECK(thing_shared(runtime, "riders.saddle").bits == saddle.bits);
    CHECK(invivo_resolve_name(runtime, "riders.spur", &object, NULL) == INVIVO_E_NOT_FOUND);
    /* Neither if its collaborators are given again. */
    OK(invivo_activate(runtime, second, 2, NULL, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "riders.rider"))->left), "fine.horse");
    CHECK(thing_shared(runtime, "riders.saddle").bits == saddle.bits);
    CHECK(invivo_resolve_name(runtime, "riders.spur", &object, NULL) == INVIVO_E_NOT_FOUND);
    /* Added members are added, including formerly removed ones. */
    OK(activate(&more));
    CHECK_TEXT(thing_key(thing_shared(runtime, "riders.spur")), "riders.spur");
    CHECK(thing_shared(runtime, "riders.saddle").bits == saddle.bits);
    /* Removed and activated in one set, it is restored; untouched members keep their instances. */
    invivo_object rider = thing_shared(runtime, "riders.rider");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_deactivate(changes, "riders", E));
    OK(invivo_changes_activate(changes, &riders, NULL, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "riders.saddle"))->number, 1);
    CHECK(thing_shared(runtime, "riders.rider").bits == rider.bits);
    /* Different content replaces the whole assembly. */
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_LAZY_SINGLETON("riders.saddle", "Thing"), NULL, E));
    const invivo_assembly other = {.struct_size = sizeof other, .name = "riders", .definitions = ridden, .definition_count = 2,
                                   INVIVO_COLLABORATORS(needs)};
    OK(activate(&other));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "riders.saddle"))->number, 1);
    CHECK(invivo_resolve_name(runtime, "riders.spur", &object, NULL) == INVIVO_E_NOT_FOUND);
    OK(deactivate("riders"));
    CHECK(invivo_resolve_name(runtime, "riders.saddle", &object, NULL) == INVIVO_E_NOT_FOUND);
    end();
}

static void a_table_may_extend_an_assembly(void) {
    const invivo_definition more[] = {
        INVIVO_LAZY_SINGLETON("squire", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("table")))),
    };
    const invivo_assembly extension = INVIVO_ASSEMBLY("camelot", more, .flags = INVIVO_ASSEMBLY_EXTENDS);
    const invivo_assembly *both[] = {&camelot, &extension};
    begin();
    OK(invivo_activate(runtime, both, 2, NULL, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "camelot.squire"))->left), "camelot.table");
    uint64_t before = generation();
    OK(activate(&extension));
    CHECK_EQUAL(generation(), before);
    OK(deactivate("camelot"));
    CHECK_EQUAL(state("camelot"), INVIVO_ASSEMBLY_UNKNOWN);
    end();
}

/* ---- duplicate keys ------------------------------------------------------------------------------------ */

static void a_key_that_comes_twice_names_both_places(void) {
    invivo_type type;
    invivo_changes changes;
    begin();
    OK(invivo_type_find(runtime, "Thing", &type, E));
    const invivo_definition twice[] = {
        {.struct_size = sizeof(invivo_definition), .key = "x", .type = type, .file = "a.c", .line = 1, .column = 5},
        {.struct_size = sizeof(invivo_definition), .key = "a.x", .type = type, .file = "a.c", .line = 2, .column = 5},
    };
    const invivo_assembly within = INVIVO_ASSEMBLY("a", twice, .flags = 0);
    expects_error(activate(&within), INVIVO_E_EXISTS,
        "a.c:2:5: a.x: the key is defined twice, at a.c:1:5 and at a.c:2:5; give one of the two another name");
    const invivo_definition first[] = {{.struct_size = sizeof(invivo_definition), .key = "common.x", .type = type, .file = "a.c", .line = 3}};
    const invivo_definition second[] = {{.struct_size = sizeof(invivo_definition), .key = "common.x", .type = type, .file = "b.c", .line = 4}};
    const invivo_assembly a = INVIVO_ASSEMBLY("a", first, .flags = 0), b = INVIVO_ASSEMBLY("b", second, .flags = 0);
    const invivo_assembly *both[] = {&a, &b};
    const char *text = "b.c:4: common.x: the key is defined twice, at a.c:3 (assembly 'a') and at b.c:4 (assembly 'b'); "
                       "give one of the two another name";
    expects_error(invivo_activate(runtime, both, 2, NULL, E), INVIVO_E_EXISTS, text);
    CHECK_EQUAL(state("a"), INVIVO_ASSEMBLY_UNKNOWN);
    OK(activate(&a));
    expects_error(activate(&b), INVIVO_E_EXISTS, text);
    /* Members of the same set, and definitions outside of assemblies. */
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &twice[1], NULL, E));
    invivo_definition again = twice[1];
    again.line = 9;
    expects_error(invivo_changes_define(changes, &again, NULL, E), INVIVO_E_EXISTS,
        "a.c:9:5: a.x: the key is defined twice, at a.c:2:5 and at a.c:9:5; give one of the two another name");
    OK(invivo_changes_commit(changes, E));
    OK(invivo_define(runtime, &again, NULL, E)); /* a repeated definition replaces */
    const invivo_definition outside[] = {{.struct_size = sizeof(invivo_definition), .key = "x", .type = type, .file = "c.c", .line = 1}};
    const invivo_assembly c = {.struct_size = sizeof c, .name = "a", .definitions = outside, .definition_count = 1};
    expects_error(activate(&c), INVIVO_E_EXISTS,
        "c.c:1: a.x: the key is defined twice, at a.c:9:5 and at c.c:1 (assembly 'a'); give one of the two another name");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.x", E));
    OK(invivo_changes_activate(changes, &c, NULL, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(state("a"), INVIVO_ASSEMBLY_ACTIVE);
    end();
}

/* ---- derived ------------------------------------------------------------------------------------------ */

static const invivo_definition wild_table[] = {
    INVIVO_LAZY_SINGLETON("table", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(99)))),
    INVIVO_LAZY_SINGLETON("dragon", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("quest")))),
};
static const invivo_assembly wild = INVIVO_ASSEMBLY(NULL, wild_table, .base = &camelot);
static const invivo_assembly wilder = INVIVO_ASSEMBLY("wilder", wild_table, .base = &camelot);

static void the_most_derived_wins_and_nothing_bleeds(void) {
    invivo_object duke;
    begin();
    for (int round = 0; round < 3; round++) {
        OK(activate(&camelot));
        OK(invivo_resolve_name(runtime, "camelot.duke", &duke, E));
        CHECK_EQUAL(thing_of(thing_of(duke)->left)->number, 12);
        OK(invivo_object_release(duke));
        CHECK(invivo_resolve_name(runtime, "camelot.dragon", &duke, NULL) == INVIVO_E_NOT_FOUND);
        OK(activate(&wild));
        OK(invivo_resolve_name(runtime, "camelot.duke", &duke, E));
        CHECK_EQUAL(thing_of(thing_of(duke)->left)->number, 99);
        OK(invivo_object_release(duke));
        CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "camelot.dragon"))->left), "camelot.quest");
    }
    /* With its own name it exists beside its base. */
    OK(activate(&camelot));
    OK(activate(&wilder));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "camelot.table"))->number, 12);
    CHECK_EQUAL(thing_of(thing_shared(runtime, "wilder.table"))->number, 99);
    OK(invivo_resolve_name(runtime, "wilder.knight", &duke, E));
    CHECK_TEXT(thing_key(thing_of(duke)->left), "wilder.table");
    OK(invivo_object_release(duke));
    end();
}

/* ---- collaborators ------------------------------------------------------------------------------------ */

/* Two tables that depend on each other, and an interface. */
static const invivo_assembly armory;
static const invivo_definition court_table[] = {
    INVIVO_LAZY_SINGLETON("king", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("armory.sword")))),
    INVIVO_LAZY_SINGLETON("crown", "Thing"),
};
static const invivo_collaborator court_needs[] = {{.prefix = "armory", .assembly = "Armory", .table = &armory}};
static const invivo_assembly court = INVIVO_ASSEMBLY("court", court_table, INVIVO_COLLABORATORS(court_needs));
static const invivo_definition armory_table[] = {
    INVIVO_LAZY_SINGLETON("sword", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("owner.crown")))),
};
static const invivo_collaborator armory_needs[] = {{.prefix = "owner", .assembly = "court", .table = &court}};
static const char *const armory_is[] = {"Armory"};
static const invivo_assembly armory = INVIVO_ASSEMBLY("weapons", armory_table, .supertypes = armory_is, .supertype_count = 1,
    INVIVO_COLLABORATORS(armory_needs));

static void collaborators_are_found_by_interface_in_any_order_and_in_cycles(void) {
    const invivo_assembly *orders[2][2] = {{&court, &armory}, {&armory, &court}};
    for (int order = 0; order < 4; order++) {
        begin();
        if (order < 2) OK(invivo_activate(runtime, orders[order], 2, NULL, E));
        if (order == 2) OK(activate(&court)); /* its table adds the other one */
        if (order == 3) {
            OK(invivo_assembly_describe(runtime, &armory, E));
            OK(activate(&court));
        }
        int made = things_made;
        invivo_object king = thing_shared(runtime, "court.king");
        CHECK_TEXT(thing_key(thing_of(king)->left), "weapons.sword");
        CHECK_TEXT(thing_key(thing_of(thing_of(king)->left)->left), "court.crown");
        /* Each assembly exists once, under its own name only. */
        CHECK(thing_of(king)->left.bits == thing_shared(runtime, "weapons.sword").bits);
        CHECK(thing_of(thing_of(king)->left)->left.bits == thing_shared(runtime, "court.crown").bits);
        CHECK_EQUAL(things_made - made, 3);
        static const char *const names[] = {"court", "weapons", "armory", "owner"};
        for (int i = 0; i < 4; i++) {
            uint32_t state = 9;
            OK(invivo_assembly_state(runtime, names[i], &state, E));
            CHECK_EQUAL(state, i < 2 ? INVIVO_ASSEMBLY_ACTIVE : INVIVO_ASSEMBLY_UNKNOWN);
        }
        invivo_runtime_info info = {.struct_size = sizeof info};
        OK(invivo_runtime_inspect(runtime, &info, E));
        CHECK_EQUAL(info.definitions, 3);
        end();
    }
}

static void a_derived_assembly_replaces_its_base_as_a_collaborator(void) {
    const invivo_definition fine_table[] = {
        INVIVO_LAZY_SINGLETON("sword", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(7)))),
    };
    const invivo_assembly fine = INVIVO_ASSEMBLY("fine", fine_table, .base = &armory);
    const invivo_assembly *both[] = {&court, &fine};
    begin();
    OK(invivo_activate(runtime, both, 2, NULL, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "court.king"))->left), "fine.sword");
    CHECK_EQUAL(state("weapons"), INVIVO_ASSEMBLY_UNKNOWN);
    /* A better candidate that is added later changes nothing; if both are given, it wins. */
    OK(activate(&armory));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "court.king"))->left), "fine.sword");
    const char *gone = "fine";
    OK(invivo_deactivate(runtime, &gone, 1, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "court.king"))->left), "weapons.sword");
    end();
}

static void an_unmet_collaborator_is_an_error(void) {
    const invivo_collaborator needs[] = {{.prefix = "stable"}};
    const invivo_definition table[] = {INVIVO_LAZY_SINGLETON("rider", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("stable.horse"))))};
    const invivo_assembly riders = {.struct_size = sizeof riders, .name = "riders", .definitions = table, .definition_count = 1,
                                           .collaborators = needs, .collaborator_count = 1, .file = "riders.c", .line = 3};
    const invivo_definition horses[] = {INVIVO_LAZY_SINGLETON("horse", "Thing")};
    const invivo_assembly stable = INVIVO_ASSEMBLY("stable", horses, .flags = 0);
    begin();
    OK(activate(&camelot));
    expects_error(activate(&riders), INVIVO_E_NOT_FOUND,
        "riders.c:3: riders: 'riders' needs the collaborator 'stable', an assembly that is 'stable', and none is given, active "
        "or described; there are: camelot");
    OK(invivo_assembly_describe(runtime, &stable, E));
    OK(activate(&riders));
    expects_error(deactivate("stable"), INVIVO_E_NOT_FOUND,
        "riders.c:3: riders: 'riders' needs the collaborator 'stable', an assembly that is 'stable', and none is given, active "
        "or described; there are: camelot");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "riders.rider"))->left), "stable.horse");
    end();
}

/* ---- inline ------------------------------------------------------------------------------------------- */

static void an_inline_definition_has_the_key_of_its_place(void) {
    const invivo_definition table[] = {
        INVIVO_PROTOTYPE("knight", "Thing",
            INVIVO_PARAMETERS({.name = "number", .kind = INVIVO_KIND_INT64}),
            INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_INLINE(INVIVO_SCOPE_LAZY_SINGLETON, "Thing"))),
            INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_GRAPH, "Thing",
                INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ARG(0)), INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_GRAPH, "Thing")))))))};
    const invivo_definition bare[] = {INVIVO_PROTOTYPE("knight", "Thing")};
    const invivo_assembly with = INVIVO_ASSEMBLY("camelot", table, .flags = 0), without = INVIVO_ASSEMBLY("camelot", bare, .flags = 0);
    invivo_object knight, first, other;
    invivo_key key;
    invivo_value seven = invivo_int64(7);
    begin();
    OK(activate(&with));
    OK(invivo_key_find(runtime, "camelot.knight", &key, E));
    OK(invivo_resolve_with(runtime, key, &seven, 1, &knight, E));
    thing *it = thing_of(knight);
    CHECK_TEXT(thing_key(it->given), "camelot.knight.0");
    CHECK_TEXT(thing_key(it->left), "camelot.knight.left");
    CHECK_TEXT(thing_key(thing_of(it->left)->left), "camelot.knight.left.left");
    CHECK_EQUAL(thing_of(it->left)->number, 7);
    first = it->given;
    OK(invivo_object_release(knight));
    /* A reload recognizes it: its instance stays. */
    uint64_t before = generation();
    OK(activate(&with));
    CHECK_EQUAL(generation(), before);
    CHECK(thing_shared(runtime, "camelot.knight.0").bits == first.bits);
    /* Not found by type, and removed with its holder. */
    expects_error(invivo_resolve_type(runtime, "Thing", "0", 0, &other, E), INVIVO_E_NOT_FOUND, NULL);
    OK(activate(&without));
    CHECK(invivo_resolve_name(runtime, "camelot.knight.left", &other, NULL) == INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(things, 0);
    invivo_definition single = table[0];
    single.key = "alone";
    OK(invivo_define(runtime, &single, NULL, E));
    CHECK_TEXT(thing_key(thing_shared(runtime, "alone.0")), "alone.0");
    single = bare[0];
    single.key = "alone";
    OK(invivo_define(runtime, &single, NULL, E));
    CHECK(invivo_resolve_name(runtime, "alone.0", &other, NULL) == INVIVO_E_NOT_FOUND);
    end();
}

/* ---- change sets, ownership, failure ------------------------------------------------------------------- */

static int destroyed;
static void count_destroyed(void *user_data) { (void)user_data, destroyed++; }
static invivo_status refuse(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                            invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static void the_references_of_a_definition_are_released_once(void) {
    static int held;
    const invivo_definition table[] = {
        INVIVO_LAZY_SINGLETON("x", "Thing", .user_data = &held, .destroy = count_destroyed),
        INVIVO_LAZY_SINGLETON("y", "Thing", .user_data = &held, .destroy = count_destroyed)};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("a", table, .flags = 0);
    invivo_definition wrong[] = {table[0], table[1]};
    wrong[1].scope = 77;
    const invivo_assembly bad = INVIVO_ASSEMBLY("a", wrong, .flags = 0);
    destroyed = 0;
    begin_without_history();
    char said[512];
    snprintf(said, sizeof said, "%s:%u: a.y: definition.scope is 77, which is not one of INVIVO_SCOPE_...", wrong[1].file, wrong[1].line);
    expects_error(activate(&bad), INVIVO_E_ARGUMENT, said);
    CHECK_EQUAL(destroyed, 0);
    OK(activate(&assembly));
    OK(activate(&assembly));
    OK(invivo_assembly_describe(runtime, &assembly, E));
    OK(invivo_assembly_describe(runtime, &assembly, E));
    CHECK_EQUAL(destroyed, 0);
    OK(deactivate("a"));
    CHECK_EQUAL(destroyed, 0); /* it is still described */
    CHECK_EQUAL(state("a"), INVIVO_ASSEMBLY_INACTIVE);
    OK(invivo_assembly_forget(runtime, "a", E));
    expects_error(invivo_assembly_forget(runtime, "a", E), INVIVO_E_NOT_FOUND, "a: no assembly 'a' is described");
    CHECK_EQUAL(destroyed, 2);
    end();
    CHECK_EQUAL(destroyed, 2);
}

static void the_caller_owns_overridden_definitions(void) {
    static int held;
    const invivo_definition base_table[] = {
        INVIVO_LAZY_SINGLETON("x", "Thing", .user_data = &held, .destroy = count_destroyed),
        INVIVO_LAZY_SINGLETON("y", "Thing", .user_data = &held, .destroy = count_destroyed)};
    const invivo_definition own_table[] = {INVIVO_LAZY_SINGLETON("x", "Thing", .user_data = &held, .destroy = count_destroyed)};
    const invivo_assembly base = INVIVO_ASSEMBLY("a", base_table, .flags = 0);
    const invivo_assembly derived = INVIVO_ASSEMBLY(NULL, own_table, .base = &base);
    destroyed = 0;
    begin_without_history();
    OK(activate(&derived));
    OK(deactivate("a"));
    CHECK_EQUAL(destroyed, 2); /* its own x and the inherited y; never the x of the base */
    end();
    CHECK_EQUAL(destroyed, 2);
}

static void the_caller_owns_what_follows_a_key_that_comes_twice(void) {
    static int held;
    const invivo_definition table[] = {
        INVIVO_LAZY_SINGLETON("x", "Thing", .user_data = &held, .destroy = count_destroyed),
        INVIVO_GRAPH("x", "Thing", .user_data = &held, .destroy = count_destroyed),
        INVIVO_LAZY_SINGLETON("y", "Thing", .user_data = &held, .destroy = count_destroyed)};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("a", table, .flags = 0);
    destroyed = 0;
    begin();
    expects_error(activate(&assembly), INVIVO_E_EXISTS, NULL);
    end();
    CHECK_EQUAL(destroyed, 0);
}

/* Also inline definitions in inline definitions. */
static void inline_definitions_end_with_the_overridden_one(void) {
    const invivo_definition base_table[] = {
        INVIVO_PROTOTYPE("knight", "Thing",
            INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_LAZY_SINGLETON, "Thing",
                INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_LAZY_SINGLETON, "Thing"))))))),
        INVIVO_PROTOTYPE("squire", "Thing",
            INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_LAZY_SINGLETON, "Thing"))))};
    const invivo_definition own_table[] = {INVIVO_PROTOTYPE("knight", "Thing")};
    const invivo_assembly base = INVIVO_ASSEMBLY("camelot", base_table, .flags = 0);
    const invivo_assembly derived = INVIVO_ASSEMBLY(NULL, own_table, .base = &base);
    invivo_object object;
    begin();
    OK(activate(&derived));
    CHECK_EQUAL(invivo_resolve_name(runtime, "camelot.knight.left", &object, NULL), INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(invivo_resolve_name(runtime, "camelot.knight.left.left", &object, NULL), INVIVO_E_NOT_FOUND);
    CHECK_TEXT(thing_key(thing_shared(runtime, "camelot.squire.left")), "camelot.squire.left");
    end();
}

/* A failing call takes no ownership, wherever it fails. */
static void the_caller_owns_refused_arguments(void) {
    static int held;
    const invivo_definition good = INVIVO_LAZY_SINGLETON("a.x", "Thing", .user_data = &held, .destroy = count_destroyed);
    const invivo_definition lacking = INVIVO_LAZY_SINGLETON("a.x", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("a.z"))),
        .user_data = &held, .destroy = count_destroyed);
    const invivo_definition failing = INVIVO_SINGLETON("a.y", "Thing", .factory = refuse, .user_data = &held, .destroy = count_destroyed);
    invivo_definition inline_one = INVIVO_LAZY_SINGLETON(NULL, "Thing", .user_data = &held, .destroy = count_destroyed);
    inline_one.key = NULL;
    const invivo_injection inner[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .definition = &inline_one}};
    invivo_definition holder = INVIVO_LAZY_SINGLETON("a.h", "Thing", .properties = inner, .property_count = 1, .user_data = &held,
        .destroy = count_destroyed);
    invivo_changes changes;
    invivo_override override = {0};
    destroyed = 0;
    begin();
    expects_error(invivo_define(runtime, &lacking, NULL, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_define(runtime, &failing, NULL, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(destroyed, 0);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &good, NULL, E));
    expects_error(invivo_changes_define(changes, &good, NULL, E), INVIVO_E_EXISTS, NULL);
    holder.rank = 0, holder.scope = 77;
    expects_error(invivo_changes_define(changes, &holder, NULL, E), INVIVO_E_ARGUMENT, NULL);
    CHECK_EQUAL(destroyed, 0);
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(destroyed, 0);
    expects_error(invivo_override_begin(runtime, &lacking, &override, E), INVIVO_E_NOT_FOUND, NULL);
    holder.key = "a.x", holder.scope = INVIVO_SCOPE_DEFAULT;
    expects_error(invivo_override_begin(runtime, &holder, &override, E), INVIVO_E_ARGUMENT, NULL);
    CHECK_EQUAL(destroyed, 0);
    /* A change set owns its definitions, whatever its outcome. */
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &failing, NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(destroyed, 1);
    end();
    CHECK_EQUAL(destroyed, 2);
}

static void a_set_of_assemblies_is_all_or_nothing(void) {
    const invivo_definition broken_table[] = {INVIVO_SINGLETON("x", "Thing", .factory = refuse)};
    const invivo_assembly broken = INVIVO_ASSEMBLY("broken", broken_table, .flags = 0);
    const invivo_definition unknown_table[] = {INVIVO_SINGLETON("x", "Thnig"), INVIVO_SINGLETON("y", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("z"))))};
    const invivo_assembly unknown = INVIVO_ASSEMBLY("unknown", unknown_table, .flags = 0);
    invivo_changes changes;
    invivo_object object;
    begin();
    OK(activate(&camelot));
    uint64_t before = generation();
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_deactivate(changes, "camelot", E));
    OK(invivo_changes_activate(changes, &broken, NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(generation(), before);
    CHECK_EQUAL(state("camelot"), INVIVO_ASSEMBLY_ACTIVE);
    CHECK_EQUAL(state("broken"), INVIVO_ASSEMBLY_UNKNOWN);
    OK(invivo_resolve_name(runtime, "camelot.table", &object, E));
    OK(invivo_object_release(object));
    /* Reports all errors at once. */
    invivo_error *error = NULL;
    const invivo_assembly *pointer = &unknown;
    CHECK(invivo_activate(runtime, &pointer, 1, NULL, &error) != INVIVO_OK);
    CHECK_EQUAL(invivo_error_count(error), 2);
    invivo_error_release(error);
    end();
}

/* Types can be registered between description and activation. */
static void a_type_is_looked_for_when_the_definition_takes_effect(void) {
    const invivo_definition table[] = {INVIVO_LAZY_SINGLETON("late", "Late")};
    const invivo_assembly assembly = INVIVO_ASSEMBLY("a", table, .flags = 0);
    begin();
    OK(invivo_assembly_describe(runtime, &assembly, E));
    CHECK(invivo_activate(runtime, &(const invivo_assembly *){&assembly}, 1, NULL, NULL) == INVIVO_E_NOT_FOUND);
    thing_register(runtime, "Late");
    OK(activate(&assembly));
    CHECK_TEXT(thing_key(thing_shared(runtime, "a.late")), "a.late");
    end();
}

/* ---- the order of growing assemblies -------------------------------------------------------------------- */

enum { MOST_MEMBERS = 3000 };

/* An assembly of `count` singletons "m0", "m1", …; with `each`, also one per configuration entry at its end. */
static void activate_of(const char *name, int count, bool each) {
    static char names[MOST_MEMBERS][8];
    static invivo_definition table[MOST_MEMBERS + 1];
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        table[i] = (invivo_definition)INVIVO_LAZY_SINGLETON(names[i], "Thing");
    }
    table[count] = (invivo_definition)INVIVO_LAZY_SINGLETON("voice", "Thing", .each = "voices");
    const invivo_assembly assembly = {.struct_size = sizeof assembly, .name = name, .definitions = count + each ? table : NULL, .definition_count = (uint64_t)(count + each)};
    OK(activate(&assembly));
}
/* All are listed in declaration order: the members of "early", one separate, of "empty", one separate, and of "late"
 * with its entries. */
static void expect_in_order(int early, int empty, int late) {
    const struct { const char *prefix; int count; } parts[] = {
        {"early.m", early}, {"alone.one", -1}, {"empty.m", empty}, {"alone.two", -1}, {"late.m", late}, {"late.voice[a]", -1}, {"late.voice[b]", -1}};
    invivo_value all;
    OK(invivo_resolve_all(runtime, "Thing", 0, &all, E));
    uint64_t place = 0;
    int wrong = 0;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        for (int i = 0; i < (parts[part].count < 0 ? 1 : parts[part].count); i++, place++) {
            char key[32];
            snprintf(key, sizeof key, parts[part].count < 0 ? "%s" : "%s%d", parts[part].prefix, i);
            wrong += place >= all.as.list.count || strcmp(thing_key(all.as.list.items[place].as.object), key) != 0;
        }
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(all.as.list.count, place);
    invivo_value_clear(&all);
}
static void an_assembly_that_grows_stays_in_its_place(void) {
    static const char voices[] = "config: {late: {voices: {a: 1, b: 2}}}";
    begin();
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "voices", voices, sizeof voices - 1, E));
    OK(invivo_changes_commit(changes, E));
    activate_of("early", 8, false);
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_LAZY_SINGLETON("alone.one", "Thing"), NULL, E));
    activate_of("empty", 0, false);
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_LAZY_SINGLETON("alone.two", "Thing"), NULL, E));
    activate_of("late", 2, true);
    expect_in_order(8, 0, 2);
    activate_of("empty", 3, false);
    expect_in_order(8, 3, 2);
    activate_of("early", 600, false);
    expect_in_order(600, 3, 2);
    activate_of("late", 700, true);
    activate_of("empty", 650, false);
    expect_in_order(600, 650, 700);
    activate_of("early", 4, false);
    expect_in_order(4, 650, 700);
    activate_of("late", MOST_MEMBERS, true);
    activate_of("early", MOST_MEMBERS, false);
    expect_in_order(MOST_MEMBERS, 650, MOST_MEMBERS);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(an_assembly_is_a_set_of_definitions_under_its_name);
    RUN_TEST(before_activation_every_resolve_names_the_assembly);
    RUN_TEST(activation_is_idempotent);
    RUN_TEST(a_replaced_assembly_keeps_unchanged_definitions);
    RUN_TEST(a_single_definition_of_an_assembly_is_replaced_and_removed);
    RUN_TEST(separate_changes_survive_repeated_activation);
    RUN_TEST(a_table_may_extend_an_assembly);
    RUN_TEST(a_key_that_comes_twice_names_both_places);
    RUN_TEST(the_most_derived_wins_and_nothing_bleeds);
    RUN_TEST(collaborators_are_found_by_interface_in_any_order_and_in_cycles);
    RUN_TEST(a_derived_assembly_replaces_its_base_as_a_collaborator);
    RUN_TEST(an_unmet_collaborator_is_an_error);
    RUN_TEST(an_inline_definition_has_the_key_of_its_place);
    RUN_TEST(the_references_of_a_definition_are_released_once);
    RUN_TEST(the_caller_owns_overridden_definitions);
    RUN_TEST(the_caller_owns_what_follows_a_key_that_comes_twice);
    RUN_TEST(inline_definitions_end_with_the_overridden_one);
    RUN_TEST(the_caller_owns_refused_arguments);
    RUN_TEST(a_set_of_assemblies_is_all_or_nothing);
    RUN_TEST(a_type_is_looked_for_when_the_definition_takes_effect);
    RUN_TEST(an_assembly_that_grows_stays_in_its_place);
    return check_end();
}
