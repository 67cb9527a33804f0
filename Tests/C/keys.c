/* Typed functions for keys: the output of `invivo keys` equals golden/ and Tests/InvivoTests/WrittenKeys.swift,
 * compiles, and resolves. KEYS_WRITE in the environment writes these files. */
#include "thing.h"
#if !defined(KEYS_BOOTSTRAP)
#include "golden/keys.h"
#endif

static const invivo_definition definitions[] = {
    INVIVO_LAZY_SINGLETON("table", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(12)))),
    INVIVO_PROTOTYPE("knight", "Knight",
        INVIVO_PARAMETERS({.name = "quest", .kind = INVIVO_KIND_OBJECT, .type_name = "Thing"},
                          {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}),
        INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_ARG(0)), INVIVO_GIVE(INVIVO_ARG(1))),
        INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_INLINE(INVIVO_SCOPE_GRAPH, "Thing")))),
    {.struct_size = sizeof(invivo_definition), .key = "galahad", .alias = "knight",
     .initializer = (const invivo_injection[]){INVIVO_GIVE(INVIVO_REF("table"))}, .initializer_count = 1},
    INVIVO_DEFINITION("pattern", "Thing", INVIVO_SCOPE_GRAPH, .flags = INVIVO_DEFINITION_ABSTRACT),
    INVIVO_PROTOTYPE("any", "Thing",
        INVIVO_PARAMETERS({.name = "runtime", .kind = INVIVO_KIND_BOOL}, {.name = "class", .kind = INVIVO_KIND_UINT8},
                          {.name = "rate", .kind = INVIVO_KIND_DOUBLE}, {.name = "name", .kind = INVIVO_KIND_STRING},
                          {.name = "more", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                          {.name = "level", .kind = INVIVO_KIND_FLOAT, .flags = INVIVO_PARAMETER_OPTIONAL})),
};
static const invivo_assembly camelot = INVIVO_ASSEMBLY("camelot", definitions, .flags = 0);

static invivo_status nothing(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                             invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    return INVIVO_OK;
}

static invivo_runtime begin(void) {
    invivo_runtime runtime = thing_runtime();
    const invivo_assembly *pointer = &camelot;
    static const char *const is[] = {"Thing"};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Knight", .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = INVIVO_SHARED, .init = thing_init, .deinit = thing_deinit,
                                   .parameters = thing_parameters, .parameter_count = 2, .properties = thing_properties,
                                   .property_count = 2, .supertypes = is, .supertype_count = 1};
    invivo_type_options ghost = {.struct_size = sizeof ghost, .name = "Ghost", .make = nothing, .release = thing_deinit,
                                 .concurrency = INVIVO_SHARED};
    OK(invivo_type_register(runtime, &options, NULL, E));
    OK(invivo_type_register(runtime, &ghost, NULL, E));
    OK(invivo_activate(runtime, &pointer, 1, NULL, E));
    OK(invivo_mount(runtime, &camelot, "far.away", NULL, 0, E));
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_PROTOTYPE("ghost_key", "Ghost", .factory = nothing, .flags = INVIVO_DEFINITION_NULLABLE), NULL, E));
    return runtime;
}

static void written(invivo_runtime runtime, uint32_t format, const char *name) {
    invivo_value value;
    char path[512], golden[65536] = "";
    snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
    if (!OK(invivo_graph_describe(runtime, format, &value, E))) return;
    if (getenv("KEYS_WRITE")) {
        FILE *file = fopen(path, "w");
        if (CHECK(file != NULL)) fwrite(value.as.string.data, 1, value.as.string.length, file), fclose(file);
    }
    FILE *file = fopen(path, "r");
    if (CHECK(file != NULL)) golden[fread(golden, 1, sizeof golden - 1, file)] = 0, fclose(file);
    CHECK_TEXT(value.as.string.data, golden);
    invivo_value_clear(&value);
}

static void the_output_equals_the_golden_files(void) {
    invivo_runtime runtime = begin();
    written(runtime, INVIVO_GRAPH_KEYS_C, "golden/keys.h");
    written(runtime, INVIVO_GRAPH_KEYS_SWIFT, "../InvivoTests/WrittenKeys.swift");
    written(runtime, INVIVO_GRAPH_KEYS_PYTHON, "golden/keys.py.txt");
    OK(invivo_runtime_close(runtime, E));
}

static void expect_written(invivo_runtime runtime, uint32_t format, const char *const *parts) {
    invivo_value value;
    if (!OK(invivo_graph_describe(runtime, format, &value, E))) return;
    for (; *parts; parts++)
        if (!strstr(value.as.string.data, *parts)) check_failed(__FILE__, __LINE__, "'%s' is not in\n%s", *parts, value.as.string.data);
    invivo_value_clear(&value);
}

/* Any string may be a key: it is written as a string. A key may be the prefix of another one. */
static void keys_are_written_as_strings_whatever_they_contain(void) {
    invivo_runtime runtime = thing_runtime();
    static const char *const names[] = {"int", "odd", "odd.lead", "odd.1st", "odd.voice_one", "odd.voiceOne",
                                        "odd.\"); abort(); (\"\\", "odd.*/ end /*\nline"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        OK(invivo_define(runtime, &(invivo_definition)INVIVO_PROTOTYPE(names[i], "Thing"), NULL, E));
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_ALIAS("odd.name", "odd.lead"), NULL, E));
    const char *const in_c[] = {"invivo_status int_(", "invivo_status odd(", "invivo_status odd_lead(", "invivo_status odd_name(",
                                "&known, \"odd.\\\"); abort(); (\\\"\\\\\", false", "&known, \"odd.*/ end /*\\012line\", false",
                                "/* odd.* / end / * line: prototype. */\n", NULL};
    const char *const in_swift[] = {"func lead()", "func _1st()", "func voiceOne()", "func voice_one()",
                                    "WrittenKey(\"odd.\\\"); abort(); (\\\"\\\\\")", "WrittenKey(\"odd.*/ end /*\\u{a}line\")", NULL};
    const char *const in_python[] = {"resolve(\"odd.\\\"); abort(); (\\\"\\\\\")", "resolve(\"odd.*/ end /*\\x0aline\")",
                                     "\"\"\"`odd.\\\"); abort(); (\\\"\\\\`: prototype.\"\"\"", "def lead(", NULL};
    expect_written(runtime, INVIVO_GRAPH_KEYS_C, in_c);
    expect_written(runtime, INVIVO_GRAPH_KEYS_SWIFT, in_swift);
    expect_written(runtime, INVIVO_GRAPH_KEYS_PYTHON, in_python);
    OK(invivo_runtime_close(runtime, E));
}

static void keys_of_one_name_are_refused(void) {
    invivo_runtime runtime = begin();
    invivo_value value;
    OK(invivo_define(runtime, &(invivo_definition)INVIVO_PROTOTYPE("camelot_table", "Thing"), NULL, E));
    expects_error(invivo_graph_describe(runtime, INVIVO_GRAPH_KEYS_C, &value, E), INVIVO_E_EXISTS,
        "camelot_table: the keys 'camelot.table' and 'camelot_table' would both be 'camelot_table'; name one of them otherwise");
    OK(invivo_runtime_close(runtime, E));
}

#if !defined(KEYS_BOOTSTRAP)
static void a_function_knows_its_key_in_every_runtime_and_generation(void) {
    invivo_runtime runtimes[2] = {begin(), begin()};
    const invivo_assembly *pointer = &camelot;
    const char *gone = "camelot";
    for (int round = 0; round < 6; round++) {
        Thing_object table, again;
        invivo_runtime runtime = runtimes[round & 1];
        invivo_key key;
        OK(camelot_table(runtime, &table, E));
        OK(camelot_table(runtime, &again, E));
        CHECK(table.object.bits == again.object.bits);
        OK(invivo_object_key(table.object, &key, E));
        CHECK(invivo_key_is_of(key, runtime) && !invivo_key_is_of(key, runtimes[~round & 1]));
        OK(invivo_object_release(again.object));
        OK(invivo_object_release(table.object));
        OK(invivo_deactivate(runtime, &gone, 1, E));
        CHECK(camelot_table(runtime, &table, NULL) == INVIVO_E_NOT_FOUND);
        OK(invivo_activate(runtime, &pointer, 1, NULL, E));
    }
    CHECK(!invivo_key_is_of((invivo_key){0}, runtimes[0]));
    OK(invivo_runtime_close(runtimes[0], E));
    OK(invivo_runtime_close(runtimes[1], E));
    Thing_object none;
    CHECK(camelot_table(runtimes[1], &none, NULL) < 0 && none.object.bits == 0);
}

static void a_key_is_a_function(void) {
    invivo_runtime runtime = begin();
    Thing_object table, upcast;
    Knight_object knight, galahad;
    Ghost_object ghost;
    int64_t seven = 7;
    OK(camelot_table(runtime, &table, E));
    CHECK_EQUAL(((thing *)Thing_instance(table))->number, 12);
    OK(camelot_knight(runtime, &knight, table, &seven, E));
    thing *it = Knight_instance(knight);
    CHECK(it->given.bits == table.object.bits && it->number == 7);
    upcast = Knight_as_Thing(knight);
    CHECK(upcast.object.bits == knight.object.bits);
    OK(far_away_galahad(runtime, &galahad, NULL, E));
    CHECK_TEXT(thing_key(((thing *)Knight_instance(galahad))->given), "far.away.table");
    OK(ghost_key(runtime, &ghost, E));
    CHECK(ghost.object.bits == 0);
    CHECK(Ghost_instance(ghost) == NULL);
    CHECK(camelot_table(runtime, NULL, NULL) == INVIVO_E_ARGUMENT);
    OK(invivo_object_release(galahad.object));
    OK(invivo_object_release(knight.object));
    OK(invivo_object_release(table.object));
    const char *gone = "camelot";
    OK(invivo_deactivate(runtime, &gone, 1, E));
    CHECK(camelot_table(runtime, &table, NULL) == INVIVO_E_NOT_FOUND);
    CHECK(table.object.bits == 0);
    OK(invivo_runtime_close(runtime, E));
}
#endif

int main(void) {
    check_begin();
    RUN_TEST(the_output_equals_the_golden_files);
    RUN_TEST(keys_are_written_as_strings_whatever_they_contain);
    RUN_TEST(keys_of_one_name_are_refused);
#if !defined(KEYS_BOOTSTRAP)
    RUN_TEST(a_key_is_a_function);
    RUN_TEST(a_function_knows_its_key_in_every_runtime_and_generation);
#endif
    return check_end();
}
