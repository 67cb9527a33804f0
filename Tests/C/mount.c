/* Mounts with remapped outer references, and factories that receive their requester, through aliases and mounts. */
#include "thing.h"

static invivo_runtime runtime;

static void begin(void) { things = 0, runtime = thing_runtime(); }
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
}

static const invivo_collaborator voice_needs[] = {{.prefix = "output"}};
static const invivo_definition voice_table[] = {
    INVIVO_LAZY_SINGLETON("filter", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("output.mixer")))),
    INVIVO_LAZY_SINGLETON("lead", "Thing",
        INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_REF("clock.main"))),
        INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("filter")))),
    INVIVO_LAZY_SINGLETON("echo", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("output.other")))),
    INVIVO_ALIAS("first", "lead"),
    INVIVO_LAZY_SINGLETON("typed", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_BY_TYPE("Inner")))),
    INVIVO_LAZY_SINGLETON("inner", "Inner", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_GRAPH, "Thing")))),
};
static const invivo_assembly voice = INVIVO_ASSEMBLY("voice", voice_table, INVIVO_COLLABORATORS(voice_needs));

static const invivo_definition stage_table[] = {
    INVIVO_LAZY_SINGLETON("mixer", "Thing"), INVIVO_LAZY_SINGLETON("other", "Thing"), INVIVO_LAZY_SINGLETON("clock", "Thing"),
};
static const invivo_assembly output = INVIVO_ASSEMBLY("output", stage_table, .flags = 0);
static const invivo_assembly stage = INVIVO_ASSEMBLY("stage", stage_table, .flags = 0);

static invivo_status mount(const char *prefix, const invivo_remap *remaps, size_t count) {
    return invivo_mount(runtime, &voice, prefix, remaps, count, E);
}
static void prepare(void) {
    const invivo_assembly *both[] = {&output, &stage};
    begin();
    thing_register(runtime, "Inner");
    OK(invivo_activate(runtime, both, 2, NULL, E));
}

static void mounts_of_one_assembly_exist_side_by_side(void) {
    const invivo_remap left[] = {{"clock.main", "stage.clock"}};
    const invivo_remap right[] = {{"clock.main", "output.clock"}, {"output", "stage"}, {"output.mixer", "stage.other"}};
    uint32_t state = 0;
    prepare();
    OK(mount("left", left, 1));
    OK(mount("band.right", right, 3));
    thing *lead = thing_of(thing_shared(runtime, "left.lead"));
    CHECK_TEXT(lead->key, "left.lead");
    CHECK_TEXT(thing_key(lead->given), "stage.clock");
    CHECK_TEXT(thing_key(lead->left), "left.filter");
    CHECK_TEXT(thing_key(thing_of(lead->left)->left), "output.mixer");
    CHECK(thing_shared(runtime, "left.first").bits == thing_shared(runtime, "left.lead").bits);
    lead = thing_of(thing_shared(runtime, "band.right.lead"));
    CHECK_TEXT(thing_key(lead->given), "output.clock");
    CHECK_TEXT(thing_key(lead->left), "band.right.filter");
    CHECK_TEXT(thing_key(thing_of(lead->left)->left), "stage.other"); /* the longest match */
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "band.right.echo"))->left), "stage.other");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "left.echo"))->left), "output.other");
    /* Types from inside a mount, and inline definitions. */
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "left.typed"))->left), "left.inner");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "band.right.typed"))->left), "band.right.inner");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "band.right.inner"))->left), "band.right.inner.left");
    OK(invivo_assembly_state(runtime, "band.right", &state, E));
    CHECK_EQUAL(state, INVIVO_ASSEMBLY_ACTIVE);
    OK(invivo_assembly_state(runtime, "voice", &state, E));
    CHECK_EQUAL(state, INVIVO_ASSEMBLY_UNKNOWN);
    end();
}

static void a_mount_comes_and_goes_alone(void) {
    const invivo_remap remaps[] = {{"clock.main", "stage.clock"}}, others[] = {{"clock.main", "stage.other"}};
    const char *left = "left", *used = "output";
    invivo_object object;
    prepare();
    OK(mount("left", remaps, 1));
    OK(mount("right", remaps, 1));
    invivo_object right = thing_shared(runtime, "right.lead"), filter = thing_shared(runtime, "left.filter");
    invivo_object lead = thing_shared(runtime, "left.lead");
    OK(mount("left", remaps, 1)); /* repeated: no-op */
    CHECK(thing_shared(runtime, "left.lead").bits == lead.bits);
    OK(mount("left", others, 1)); /* changed: only the affected definitions */
    CHECK(thing_shared(runtime, "left.lead").bits != lead.bits);
    CHECK(thing_shared(runtime, "left.filter").bits == filter.bits);
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "left.lead"))->given), "stage.other");
    expects_error(invivo_deactivate(runtime, &used, 1, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_deactivate(runtime, &left, 1, E));
    CHECK(invivo_resolve_name(runtime, "left.lead", &object, NULL) == INVIVO_E_NOT_FOUND);
    CHECK(thing_shared(runtime, "right.lead").bits == right.bits);
    end();
}

/* An assembly replaces its former version under its name, and no other assembly: remove that first, or in the same
 * reload. */
static void another_assembly_is_not_replaced(void) {
    const invivo_remap remaps[] = {{"clock.main", "stage.clock"}};
    const invivo_definition one[] = {INVIVO_LAZY_SINGLETON("clock", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(7))))};
    const invivo_assembly organ = {.struct_size = sizeof organ, .name = "organ", .definitions = one, .definition_count = 1, .file = "organ.c", .line = 3};
    const invivo_assembly left = {.struct_size = sizeof left, .name = "left", .definitions = one, .definition_count = 1, .file = "left.c", .line = 5};
    const invivo_assembly again = {.struct_size = sizeof again, .name = "stage", .definitions = one, .definition_count = 1};
    const invivo_assembly *pointer = &left;
    invivo_error *error = NULL;
    invivo_changes changes;
    prepare();
    invivo_object clock = thing_shared(runtime, "stage.clock");
    CHECK_EQUAL(invivo_mount(runtime, &organ, "stage", NULL, 0, &error), INVIVO_E_EXISTS);
    CHECK(strstr(invivo_error_text(error), "organ.c:3: stage: the assembly 'stage' is active under this name, declared at ") != NULL);
    CHECK(strstr(invivo_error_text(error), ": 'organ' needs another name, or to take that away first") != NULL);
    invivo_error_release(error);
    CHECK(thing_shared(runtime, "stage.clock").bits == clock.bits);
    OK(mount("left", remaps, 1));
    invivo_object lead = thing_shared(runtime, "left.lead");
    error = NULL;
    CHECK_EQUAL(invivo_mount(runtime, &organ, "left", NULL, 0, &error), INVIVO_E_EXISTS);
    CHECK(strstr(invivo_error_text(error), "organ.c:3: left: the assembly 'voice' is mounted under this name, declared at ") != NULL);
    invivo_error_release(error);
    expects_error(invivo_activate(runtime, &pointer, 1, NULL, E), INVIVO_E_EXISTS, NULL);
    CHECK(thing_shared(runtime, "left.lead").bits == lead.bits);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_deactivate(changes, "left", E));
    OK(invivo_changes_mount(changes, &organ, "left", NULL, 0, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "left.clock"))->number, 7);
    /* Its own name is not another assembly. */
    OK(invivo_mount(runtime, &organ, "organ", NULL, 0, E));
    pointer = &organ;
    OK(invivo_activate(runtime, &pointer, 1, NULL, E));
    pointer = &again;
    const char *gone = "stage";
    OK(invivo_deactivate(runtime, &gone, 1, E));
    OK(invivo_activate(runtime, &pointer, 1, NULL, E));
    CHECK_EQUAL(thing_of(thing_shared(runtime, "stage.clock"))->number, 7);
    end();
}

static void an_invalid_mount_is_an_error(void) {
    const invivo_remap wrong[] = {{"clock.mian", "stage.clock"}}, twice[] = {{"clock", "stage"}, {"clock", "output"}};
    invivo_definition outside[] = {voice_table[3]};
    outside[0].key = "elsewhere.x", outside[0].file = "v.c", outside[0].line = 4;
    const invivo_assembly loose = {.struct_size = sizeof loose, .name = "loose", .definitions = outside, .definition_count = 1};
    const invivo_assembly named = {.struct_size = sizeof named, .name = "voice", .flags = INVIVO_ASSEMBLY_DESCRIBED};
    invivo_object object;
    prepare();
    invivo_error *error = NULL;
    CHECK(invivo_mount(runtime, &voice, "left", wrong, 1, &error) == INVIVO_E_ARGUMENT);
    CHECK(strstr(invivo_error_text(error), "left: nothing in the assembly 'voice' refers to 'clock.mian'; its references to the "
                                           "outside: clock.main, output.mixer, "
                                           "output.other") != NULL);
    invivo_error_release(error);
    expects_error(mount("left", NULL, 0), INVIVO_E_NOT_FOUND, NULL); /* clock.main does not exist */
    expects_error(mount("left", twice, 2), INVIVO_E_ARGUMENT, "left: 'clock' is remapped twice");
    expects_error(mount("left.", NULL, 0), INVIVO_E_ARGUMENT, "left.: the prefix 'left.' begins or ends with a dot, or is empty");
    expects_error(invivo_mount(runtime, &loose, "left", NULL, 0, E), INVIVO_E_ARGUMENT,
        "v.c:4: left: the assembly 'loose' cannot be mounted: the key 'elsewhere.x' is not under its name");
    expects_error(invivo_mount(runtime, &named, "left", NULL, 0, E), INVIVO_E_NOT_FOUND, "left: no assembly 'voice' is described");
    OK(invivo_assembly_describe(runtime, &voice, E));
    const invivo_remap good[] = {{"clock", "stage"}};
    expects_error(invivo_mount(runtime, &named, "left", good, 1, E), INVIVO_E_NOT_FOUND, NULL); /* stage.main */
    const invivo_remap better[] = {{"clock.main", "stage.clock"}};
    OK(invivo_mount(runtime, &named, "left", better, 1, E));
    expects_error(invivo_resolve_name(runtime, "voice.lead", &object, E), INVIVO_E_NOT_READY, NULL);
    end();
}

/* ---- requesters ---------------------------------------------------------------------------------------- */

static const invivo_definition logs_table[] = {
    INVIVO_LAZY_SINGLETON("log", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(1)))),
    INVIVO_ALIAS("alias", "asking"),
    INVIVO_ALIAS("bound", "alias"),
    INVIVO_DEFINITION("asking", "Asking", INVIVO_SCOPE_LAZY_SINGLETON,
        INVIVO_INITIALIZER(INVIVO_GIVE(.how = INVIVO_INJECT_ASKER))),
    INVIVO_LAZY_SINGLETON("user", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("bound")))),
    INVIVO_PROTOTYPE("maker", "Thing", INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_REF("asking"))),
        INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("alias")))),
};
static const invivo_assembly logs = INVIVO_ASSEMBLY("logs", logs_table, .flags = 0);

static char asked_for[8][64];
static int asked;
static invivo_status asking_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    (void)build;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_STRING && asked < 8)
        snprintf(asked_for[asked++], 64, "%.*s", (int)arguments[0].as.string.length, arguments[0].as.string.data);
    return thing_init(instance, build, NULL, 0, user_data, error);
}

static void the_requester_is_known_through_aliases_and_mounts(void) {
    const invivo_parameter parameters[] = {{.name = "asker", .kind = INVIVO_KIND_STRING, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Asking", .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = INVIVO_SHARED, .init = asking_init, .deinit = thing_deinit,
                                   .parameters = parameters, .parameter_count = 1};
    invivo_object maker;
    begin();
    OK(invivo_type_register(runtime, &options, NULL, E));
    const char *const prefixes[] = {"logs", "left", "far.right"};
    const invivo_assembly *pointer = &logs;
    OK(invivo_activate(runtime, &pointer, 1, NULL, E));
    OK(invivo_mount(runtime, &logs, "left", NULL, 0, E));
    OK(invivo_mount(runtime, &logs, "far.right", NULL, 0, E));
    for (int i = 0; i < 3; i++) {
        char name[64];
        asked = 0;
        snprintf(name, sizeof name, "%s.user", prefixes[i]);
        invivo_object user = thing_shared(runtime, name);
        CHECK_EQUAL(asked, 1);
        CHECK_TEXT(asked_for[0], name);
        CHECK_TEXT(thing_of(thing_of(user)->left)->asker, name);
        snprintf(name, sizeof name, "%s.maker", prefixes[i]);
        asked = 0;
        OK(invivo_resolve_name(runtime, name, &maker, E));
        CHECK_EQUAL(asked, 2);
        CHECK_TEXT(asked_for[0], name);
        CHECK_TEXT(asked_for[1], name);
        thing *it = thing_of(maker);
        CHECK(it->given.bits != it->left.bits && it->left.bits != thing_of(user)->left.bits);
        OK(invivo_object_release(maker));
    }
    /* There is no requester. */
    asked = 0;
    OK(invivo_resolve_name(runtime, "left.bound", &maker, E));
    CHECK_EQUAL(asked, 0);
    OK(invivo_object_release(maker));
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(mounts_of_one_assembly_exist_side_by_side);
    RUN_TEST(a_mount_comes_and_goes_alone);
    RUN_TEST(another_assembly_is_not_replaced);
    RUN_TEST(an_invalid_mount_is_an_error);
    RUN_TEST(the_requester_is_known_through_aliases_and_mounts);
    return check_end();
}
