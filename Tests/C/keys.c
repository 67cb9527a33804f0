/* Typed functions for keys: what `invivo keys` writes is as golden/ has it, compiles, and resolves. With KEYS_WRITE in the
 * environment the golden files are written anew. */
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
    snprintf(path, sizeof path, "%.*s/golden/%s", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
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

static void what_is_written_is_as_the_golden_files_have_it(void) {
    invivo_runtime runtime = begin();
    written(runtime, INVIVO_GRAPH_KEYS_C, "keys.h");
    written(runtime, INVIVO_GRAPH_KEYS_SWIFT, "keys.swift.txt");
    written(runtime, INVIVO_GRAPH_KEYS_PYTHON, "keys.py.txt");
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
    what_is_written_is_as_the_golden_files_have_it();
    keys_of_one_name_are_refused();
#if !defined(KEYS_BOOTSTRAP)
    a_key_is_a_function();
#endif
    return check_end();
}
