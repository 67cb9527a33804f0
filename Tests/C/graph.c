/* Descriptions and drawings of the wiring: definitions, dependencies and live objects at one moment. */
#include "check.h"

typedef struct part { invivo_object a; } part;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)instance, (void)arguments, (void)count, (void)user_data;
    invivo_object asked;
    if (strcmp(invivo_key_name(build->key), "app.asker") == 0) {
        invivo_status status = invivo_resolve_name(build->runtime, "app.clock", &asked, error);
        if (status) return status;
        invivo_object_release(asked);
    }
    return INVIVO_OK;
}
static const invivo_parameter parameters[] = {{.name = "a", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};

static const invivo_value *of(const invivo_value *map, const char *name) {
    for (uint64_t i = 0; map && i < map->as.map.count; i++)
        if (strcmp(map->as.map.pairs[i].name, name) == 0) return &map->as.map.pairs[i].value;
    return NULL;
}
static const char *text_of(const invivo_value *map, const char *name) {
    const invivo_value *found = of(map, name);
    return found && found->kind == INVIVO_KIND_STRING ? found->as.string.data : "(none)";
}
static int64_t number_of(const invivo_value *map, const char *name) {
    const invivo_value *found = of(map, name);
    return found ? found->as.signed_integer : -1;
}
static const invivo_value *node(const invivo_value *facts, const char *key) {
    for (uint64_t i = 0; i < facts->as.list.count; i++)
        if (strcmp(text_of(&facts->as.list.items[i], "key"), key) == 0) return &facts->as.list.items[i];
    check_failed(__FILE__, __LINE__, "no fact about %s", key);
    return NULL;
}
static const char *how(const invivo_value *node, const char *key) {
    const invivo_value *needs = of(node, "needs");
    for (uint64_t i = 0; needs && i < needs->as.list.count; i++)
        if (strcmp(text_of(&needs->as.list.items[i], "key"), key) == 0) return text_of(&needs->as.list.items[i], "how");
    return "(none)";
}

int main(void) {
    check_begin();
    invivo_runtime own;
    invivo_type type;
    OK(invivo_runtime_open(&own, NULL, E));
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .concurrency = INVIVO_SHARED,
        .size = sizeof(part), .alignment = 8, .init = part_init, .parameters = parameters, .parameter_count = 1};
    OK(invivo_type_register(own, &options, &type, E));
    const invivo_injection clock = {.how = INVIVO_INJECT_REFERENCE, .reference = "app.clock"};
    const invivo_injection later = {.how = INVIVO_INJECT_PROVIDER, .items = &clock, .item_count = 1};
    const invivo_definition definitions[] = {
        {.key = "app.clock", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .file = "a \"b\".c", .line = 7},
        {.key = "app.player", .type = type, .initializer = &clock, .initializer_count = 1, .rank = 2},
        {.key = "app.later", .type = type, .initializer = &later, .initializer_count = 1},
        {.key = "app.asker", .type = type, .scope = INVIVO_SCOPE_SINGLETON},
        {.key = "app.base", .type = type, .flags = INVIVO_DEFINITION_ABSTRACT},
        {.key = "other.time", .alias = "app.clock"},
    };
    invivo_changes changes;
    OK(invivo_changes_open(own, &changes, E));
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        invivo_definition definition = definitions[i];
        definition.struct_size = sizeof definition;
        OK(invivo_changes_define(changes, &definition, NULL, E));
    }
    OK(invivo_changes_commit(changes, E));
    invivo_object players[2];
    for (int i = 0; i < 2; i++) OK(invivo_resolve_name(own, "app.player", &players[i], E));

    invivo_value facts;
    OK(invivo_graph_describe(own, INVIVO_GRAPH_FACTS, &facts, E));
    CHECK_EQUAL(facts.as.list.count, 6);
    const invivo_value *found = node(&facts, "app.clock");
    CHECK_TEXT(text_of(found, "type"), "Part");
    CHECK_TEXT(text_of(found, "scope"), "lazy singleton");
    CHECK_TEXT(text_of(found, "file"), "a \"b\".c");
    CHECK_EQUAL(number_of(found, "line"), 7);
    CHECK_EQUAL(number_of(found, "live"), 1);
    CHECK_EQUAL(number_of(found, "generation"), 1);
    CHECK(number_of(found, "built_ns") > 0);
    found = node(&facts, "app.player");
    CHECK_EQUAL(number_of(found, "live"), 2);
    CHECK_EQUAL(number_of(found, "rank"), 2);
    CHECK(of(found, "built_ns") == NULL);
    CHECK_TEXT(how(found, "app.clock"), "initializer");
    CHECK_TEXT(how(node(&facts, "app.later"), "app.clock"), "late");
    CHECK_TEXT(how(node(&facts, "app.asker"), "app.clock"), "asked");
    CHECK(of(node(&facts, "app.base"), "abstract") != NULL);
    CHECK_TEXT(text_of(node(&facts, "other.time"), "alias"), "app.clock");
    CHECK_EQUAL(number_of(node(&facts, "other.time"), "live"), 0);
    invivo_value_clear(&facts);

    /* A redefined key has the generation of its change, its neighbors do not. */
    for (int i = 0; i < 2; i++) OK(invivo_object_release(players[i]));
    invivo_definition again = definitions[2];
    again.struct_size = sizeof again;
    OK(invivo_define(own, &again, NULL, E));
    OK(invivo_graph_describe(own, INVIVO_GRAPH_FACTS, &facts, E));
    CHECK_EQUAL(number_of(node(&facts, "app.later"), "generation"), 2);
    CHECK_EQUAL(number_of(node(&facts, "app.clock"), "generation"), 1);
    CHECK_EQUAL(number_of(node(&facts, "app.player"), "live"), 0);
    invivo_value_clear(&facts);

    invivo_value drawn;
    OK(invivo_graph_describe(own, INVIVO_GRAPH_DOT, &drawn, E));
    CHECK(strstr(drawn.as.string.data, "label=\"app.clock\\nPart, lazy singleton\\ngeneration 1, 1 live, ") != NULL);
    CHECK(strstr(drawn.as.string.data, "a \\\"b\\\".c:7\"") != NULL);
    CHECK(strstr(drawn.as.string.data, "style=dotted") != NULL);
    invivo_value_clear(&drawn);
    OK(invivo_graph_describe(own, INVIVO_GRAPH_MERMAID, &drawn, E));
    CHECK(strncmp(drawn.as.string.data, "flowchart LR\n", 13) == 0);
    CHECK(strstr(drawn.as.string.data, "a #34;b#34;.c:7") != NULL);
    invivo_value_clear(&drawn);
    OK(invivo_graph_describe(own, INVIVO_GRAPH_JSON, &drawn, E));
    CHECK(strncmp(drawn.as.string.data, "[{\"key\": \"app.asker\", \"type\": \"Part\", \"scope\": \"singleton\"", 58) == 0);
    invivo_value_clear(&drawn);
    CHECK(invivo_graph_describe(own, 9, &drawn, NULL) == INVIVO_E_ARGUMENT);
    OK(invivo_runtime_close(own, E));
    return check_end();
}
