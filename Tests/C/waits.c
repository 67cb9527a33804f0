/* Definitions with the flag `waits`: blocked until their dependencies are defined, and again when these are removed. */
#include "check.h"

typedef struct part { invivo_object input, helper; } part;
static int live;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    live++;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) ((part *)instance)->input = arguments[0].as.object;
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    live--;
}
static invivo_status get_helper(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((part *)instance)->helper);
    (void)user_data;
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_helper(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->helper = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}
static const invivo_parameter parameters[] = {{.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "helper", .kind = INVIVO_KIND_OBJECT, .get = get_helper, .set = set_helper}};

static invivo_runtime runtime;
static invivo_type part_type, display_type, held_type;
static listener *heard;

static void begin(void) {
    static const char *is_display[] = {"Display"};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .alignment = 8,
                                   .concurrency = INVIVO_SHARED, .init = part_init, .deinit = part_deinit,
                                   .parameters = parameters, .parameter_count = 1, .properties = properties, .property_count = 1};
    live = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &part_type, E));
    options.name = "Held", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &held_type, E));
    options.name = "Screen", options.concurrency = INVIVO_SHARED, options.supertypes = is_display, options.supertype_count = 1;
    OK(invivo_type_register(runtime, &options, &display_type, E));
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    listener_end(heard), free(heard);
}
#define DEFINITION(given_key, given_scope, given_type, ...) \
    (&(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, .scope = INVIVO_SCOPE_##given_scope, .type = given_type, __VA_ARGS__})
#define DEFINE(...) OK(invivo_define(runtime, DEFINITION(__VA_ARGS__), NULL, E))
#define WAITS .flags = INVIVO_DEFINITION_WAITS
#define KEY(parameter, given) (invivo_injection[]){{.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = given}}
#define TYPE(parameter, given) (invivo_injection[]){{.name = parameter, .how = INVIVO_INJECT_TYPE, .reference = given}}
#define INITIALIZER(array) .initializer = array, .initializer_count = 1
#define PROPERTIES(array) .properties = array, .property_count = 1

static void removes(const char *key, invivo_status status, const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, key, E));
    if (status) expects_error(invivo_changes_commit(changes, E), status, text);
    else OK(invivo_changes_commit(changes, E));
}
/* "key waits for ..." for blocked definitions; the names of the states of the others. */
static const char *states(void) {
    static char text[1024];
    invivo_value all;
    size_t length = 0;
    text[0] = 0;
    OK(invivo_runtime_states(runtime, &all, E));
    for (uint64_t i = 0; i < all.as.list.count; i++) {
        const invivo_pair *pairs = all.as.list.items[i].as.map.pairs;
        const invivo_value *waits = &pairs[4].value;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%.*s %.*s", i ? "; " : "", (int)pairs[0].value.as.string.length,
                                   pairs[0].value.as.string.data, (int)pairs[2].value.as.string.length, pairs[2].value.as.string.data);
        for (uint64_t j = 0; j < waits->as.list.count; j++)
            length += (size_t)snprintf(text + length, sizeof text - length, " %.*s", (int)waits->as.list.items[j].as.string.length,
                                       waits->as.list.items[j].as.string.data);
    }
    invivo_value_clear(&all);
    return text;
}
static bool resolves(const char *key) {
    invivo_object object;
    if (invivo_resolve_name(runtime, key, &object, NULL)) return false;
    OK(invivo_object_release(object));
    return true;
}

static void it_is_blocked_while_a_dependency_is_missing(void) {
    begin();
    invivo_object none;
    invivo_injection both[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .reference = "a.clock"}};
    DEFINE("a.player", SINGLETON, part_type, WAITS, INITIALIZER(both), PROPERTIES(TYPE("helper", "Display")));
    CHECK_TEXT(listener_last(heard)->changes, "a.player dormant");
    CHECK_TEXT(states(), "a.player dormant a.clock Display");
    expects_error(invivo_resolve_name(runtime, "a.player", &none, E), INVIVO_E_DORMANT,
                  "a.player: 'a.player' is blocked on missing dependencies: 'a.clock', 'Display'");
    expects_error(invivo_resolve_type(runtime, "Part", NULL, 0, &none, E), INVIVO_E_NOT_FOUND, NULL);
    invivo_key key;
    OK(invivo_key_find(runtime, "a.player", &key, E));
    OK(invivo_resolve_optional(runtime, key, NULL, 0, &none, E));
    CHECK_EQUAL(none.bits, 0);
    DEFINE("a.clock", LAZY_SINGLETON, part_type);
    CHECK_TEXT(states(), "a.clock cold; a.player dormant Display");
    CHECK_EQUAL(live, 0);
    DEFINE("a.screen", LAZY_SINGLETON, display_type);
    CHECK_TEXT(listener_last(heard)->changes, "a.player defined; a.screen defined");
    CHECK_EQUAL(live, 3); /* an eager one is built in that reload */
    CHECK(resolves("a.player"));
    CHECK_TEXT(states(), "a.clock made; a.player made; a.screen made");
    removes("a.screen", INVIVO_OK, NULL);
    CHECK_TEXT(states(), "a.clock made; a.player dormant Display");
    CHECK_EQUAL(live, 1);
    CHECK(!resolves("a.player"));
    DEFINE("a.screen", LAZY_SINGLETON, display_type);
    CHECK_EQUAL(live, 3);
    /* Two dependencies are removed and added in one reload. */
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.screen", E));
    OK(invivo_changes_remove(changes, "a.clock", E));
    OK(invivo_changes_commit(changes, E));
    CHECK_TEXT(states(), "a.player dormant a.clock Display");
    CHECK_EQUAL(live, 0);
    end();
}

/* Whether the missing key has ever had a definition makes no difference. */
static void an_alias_of_a_blocked_alias_is_blocked_on_it(void) {
    for (int was_there = 0; was_there < 2; was_there++) {
        invivo_object object;
        begin();
        if (was_there) DEFINE("b.gone", SINGLETON, part_type), removes("b.gone", INVIVO_OK, NULL);
        invivo_definition name = {.struct_size = sizeof name, .key = "b.name", .alias = "b.gone", WAITS};
        OK(invivo_define(runtime, &name, NULL, E));
        OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "b.other", .alias = "b.name"}, NULL, E));
        expects_error(invivo_resolve_name(runtime, "b.other", &object, E), INVIVO_E_DORMANT,
                      "b.other: 'b.other' is blocked on missing dependencies: 'b.name'");
        DEFINE("b.gone", SINGLETON, part_type);
        CHECK(resolves("b.other"));
        end();
    }
}

static void a_dependent_of_a_blocked_definition_is_blocked_or_refused(void) {
    begin();
    DEFINE("b.inner", LAZY_SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "b.clock")));
    DEFINE("b.outer", SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "b.name")));
    CHECK_TEXT(states(), "b.inner dormant b.clock; b.outer dormant b.name");
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "b.name", .alias = "b.inner"}, NULL, E));
    expects_error(invivo_define(runtime, DEFINITION("b.firm", SINGLETON, part_type, INITIALIZER(KEY("input", "b.inner"))), NULL, E), INVIVO_E_NOT_FOUND,
                  "b.firm: initializer parameter 'input' needs 'b.inner', which is blocked on missing dependencies: 'b.clock'");
    CHECK_EQUAL(live, 0);
    DEFINE("b.clock", LAZY_SINGLETON, part_type);
    CHECK_EQUAL(live, 3); /* through the alias too */
    CHECK(resolves("b.name") && resolves("b.outer"));
    DEFINE("b.firm", SINGLETON, part_type, INITIALIZER(KEY("input", "b.inner")));
    /* Its dependent would be blocked and does not wait: the dependency cannot be removed. */
    removes("b.clock", INVIVO_E_NOT_FOUND, "b.firm: initializer parameter 'input' needs 'b.inner', which is blocked on missing dependencies: 'b.clock'");
    CHECK(resolves("b.firm"));
    removes("b.firm", INVIVO_OK, NULL);
    removes("b.clock", INVIVO_OK, NULL);
    CHECK_EQUAL(live, 0);
    CHECK(!resolves("b.outer") && !resolves("b.name"));
    removes("b.outer", INVIVO_OK, NULL);
    removes("b.name", INVIVO_OK, NULL);
    removes("b.inner", INVIVO_OK, NULL);
    CHECK_TEXT(states(), "");
    end();
}

static void two_that_wait_for_each_other_come_together(void) {
    begin();
    DEFINE("c.left", SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "c.right")));
    CHECK_TEXT(states(), "c.left dormant c.right");
    DEFINE("c.right", LAZY_SINGLETON, part_type, WAITS, PROPERTIES(KEY("helper", "c.left")));
    CHECK_TEXT(states(), "c.left made; c.right made");
    end();
    begin();
    DEFINE("c.left", SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "c.right")));
    invivo_injection more[] = {{.name = "helper", .how = INVIVO_INJECT_REFERENCE, .reference = "c.left"}};
    DEFINE("c.right", LAZY_SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "c.third")), PROPERTIES(more));
    CHECK_TEXT(states(), "c.left dormant c.right; c.right dormant c.third c.left");
    DEFINE("c.third", LAZY_SINGLETON, part_type);
    CHECK_TEXT(states(), "c.left made; c.right made; c.third made");
    end();
}

static void an_unblocked_definition_is_found_by_its_type(void) {
    begin();
    DEFINE("d.viewer", SINGLETON, part_type, WAITS, INITIALIZER(TYPE(NULL, "Display")));
    DEFINE("d.screen", LAZY_SINGLETON, display_type, WAITS, INITIALIZER(KEY(NULL, "d.power")));
    CHECK_TEXT(states(), "d.screen dormant d.power; d.viewer dormant Display");
    DEFINE("d.power", LAZY_SINGLETON, part_type);
    CHECK_TEXT(states(), "d.power made; d.screen made; d.viewer made");
    removes("d.power", INVIVO_OK, NULL);
    CHECK_TEXT(states(), "d.screen dormant d.power; d.viewer dormant Display");
    CHECK_EQUAL(live, 0);
    /* Other errors are errors. */
    expects_error(invivo_define(runtime, DEFINITION("d.wrong", SINGLETON, part_type, WAITS, PROPERTIES(KEY("hepler", "d.gone"))), NULL, E),
                  INVIVO_E_PROPERTY, NULL);
    end();
}

static void optional_needs_and_lists_do_without_sleepers(void) {
    begin();
    invivo_injection may[] = {{.name = "helper", .how = INVIVO_INJECT_TYPE, .reference = "Display", .flags = INVIVO_INJECT_OPTIONAL}};
    DEFINE("e.holder", LAZY_SINGLETON, held_type, PROPERTIES(may));
    DEFINE("e.screen", LAZY_SINGLETON, display_type, WAITS, INITIALIZER(KEY(NULL, "e.power")));
    invivo_object holder;
    void *instance;
    OK(invivo_resolve_name(runtime, "e.holder", &holder, E));
    OK(invivo_object_instance(holder, (invivo_type){0}, &instance, E));
    CHECK_EQUAL(((part *)instance)->helper.bits, 0);
    DEFINE("e.power", LAZY_SINGLETON, part_type);
    CHECK(((part *)instance)->helper.bits != 0);
    CHECK_EQUAL(live, 3);
    removes("e.power", INVIVO_OK, NULL);
    CHECK_EQUAL(((part *)instance)->helper.bits, 0);
    CHECK_EQUAL(live, 1); /* and the object that it held has ended */
    OK(invivo_object_release(holder));
    end();
}

/* Existing dependencies are listed, whether they were added before or after the missing one. */
static void a_blocked_definition_lists_an_added_optional_key(void) {
    invivo_value graph;
    begin();
    invivo_injection helper = {.name = "helper", .how = INVIVO_INJECT_REFERENCE, .reference = "helper", .flags = INVIVO_INJECT_OPTIONAL};
    DEFINE("needy", LAZY_SINGLETON, part_type, WAITS, .initializer = KEY("input", "input"), .initializer_count = 1,
           .properties = &helper, .property_count = 1);
    DEFINE("helper", LAZY_SINGLETON, part_type);
    OK(invivo_graph_describe(runtime, INVIVO_GRAPH_JSON, &graph, E));
    const char *needy = strstr(graph.as.string.data, "\"needy\"");
    CHECK(needy && strstr(needy, "\"needs\": [{\"key\": \"helper\", \"how\": \"late\"}]"));
    invivo_value_clear(&graph);
    end();
}

static void says(const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_commit(changes, E));
}
#define CONFIG(parameter, path) (invivo_injection[]){{.name = parameter, .how = INVIVO_INJECT_CONFIG, .reference = path}}

static void it_is_blocked_until_its_value_is_configured(void) {
    static const invivo_property level[] = {{.struct_size = sizeof(invivo_property), .name = "level", .kind = INVIVO_KIND_INT32, .size = 4}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Level", .size = 8, .alignment = 8, .properties = level, .property_count = 1};
    invivo_type type;
    invivo_object object;
    void *instance;
    begin();
    OK(invivo_type_register(runtime, &options, &type, E));
    options.name = "SharedLevel", options.concurrency = INVIVO_SHARED;
    OK(invivo_type_register(runtime, &options, &type, E));
    DEFINE("g.tone", SINGLETON, type, WAITS, PROPERTIES(CONFIG("level", "level")));
    DEFINE("g.whole", SINGLETON, type, WAITS, PROPERTIES(CONFIG("level", "/other.level")));
    DEFINE("g.holder", SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "g.late")));
    DEFINE("g.late", LAZY_SINGLETON, type, WAITS, PROPERTIES(CONFIG("level", "/absent.path")));
    CHECK_TEXT(states(), "g.holder dormant g.late; g.late dormant config.absent.path; g.tone dormant config.level; g.whole dormant config.other.level");
    expects_error(invivo_resolve_name(runtime, "g.tone", &object, E), INVIVO_E_DORMANT, "g.tone: 'g.tone' is blocked on missing dependencies: 'config.level'");
    says("config: { g: { level: 3 } }");
    CHECK_TEXT(states(), "g.holder dormant g.late; g.late dormant config.absent.path; g.tone made; g.whole dormant config.other.level");
    OK(invivo_resolve_name(runtime, "g.tone", &object, E));
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    CHECK_EQUAL(*(int32_t *)instance, 3);
    OK(invivo_object_release(object));
    says("config: { global: { level: 4 }, other: { level: 5 } }");
    CHECK_TEXT(states(), "g.holder dormant g.late; g.late dormant config.absent.path; g.tone made; g.whole made");
    /* An unsuitable value is an error, and the former values stay. */
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    const char *wrong = "config: { global: { level: loud } }";
    OK(invivo_changes_document(changes, "a.yaml", wrong, strlen(wrong), E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CONVERSION, NULL);
    CHECK(resolves("g.tone"));
    says("config: {}");
    CHECK_TEXT(states(), "g.holder dormant g.late; g.late dormant config.absent.path; g.tone dormant config.level; g.whole dormant config.other.level");
    /* A dependent of a definition that waits for a value is unblocked with it. */
    says("config: { absent: { path: 1 } }");
    CHECK_TEXT(states(), "g.holder made; g.late made; g.tone dormant config.level; g.whole dormant config.other.level");
    says("config: {}");
    CHECK(!resolves("g.holder") && !resolves("g.late"));
    CHECK_EQUAL(live, 0);
    end();
}

static void it_is_blocked_until_its_type_is_registered(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Later", .size = sizeof(part), .alignment = 8, .concurrency = INVIVO_SHARED,
                                   .init = part_init, .deinit = part_deinit, .parameters = parameters, .parameter_count = 1,
                                   .properties = properties, .property_count = 1};
    invivo_object none;
    begin();
    expects_error(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.firm", .type_name = "Later"}, NULL, E),
                  INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.part", .type_name = "Later",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, WAITS}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.child", .parent = "h.part",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, WAITS}, NULL, E));
    DEFINE("h.user", SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "h.part")));
    DEFINE("h.finder", SINGLETON, part_type, WAITS, INITIALIZER(KEY(NULL, "h.child")));
    CHECK_TEXT(states(), "h.child dormant Later; h.finder dormant h.child; h.part dormant Later; h.user dormant h.part");
    expects_error(invivo_resolve_name(runtime, "h.part", &none, E), INVIVO_E_DORMANT, "h.part: 'h.part' is blocked on missing dependencies: 'Later'");
    /* Another added key does not unblock it. */
    DEFINE("h.other", LAZY_SINGLETON, part_type);
    CHECK(!resolves("h.part"));
    size_t before = listener_count(heard);
    OK(invivo_type_register(runtime, &options, NULL, E));
    listener_wait(heard, before + 1);
    CHECK_TEXT(listener_last(heard)->cause, "type Later");
    CHECK_TEXT(states(), "h.child made; h.finder made; h.other cold; h.part made; h.user made");
    /* Types are never removed: nothing waits any more. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.second", .type_name = "Later",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, WAITS}, NULL, E));
    CHECK(resolves("h.second"));
    end();
}

/* Random definitions against the expected set: the largest one in which all dependencies exist. */
static void unblocked_definitions_equal_a_model(void) {
    enum { KEYS = 10 };
    unsigned state = 11;
    begin();
    int defined[KEYS] = {0}, needs[KEYS][2], count[KEYS] = {0};
    for (int round = 0; round < 400; round++) {
        char names[3][8];
        state = state * 1664525u + 1013904223u;
        int i = (int)((state >> 8) % KEYS);
        if (defined[i] && (state >> 28) % 2) {
            snprintf(names[0], 8, "f.%d", i);
            removes(names[0], INVIVO_OK, NULL);
            defined[i] = 0;
        } else {
            /* By providers, which may form cycles. */
            invivo_injection into[2];
            count[i] = (int)((state >> 24) % 3);
            snprintf(names[2], 8, "f.%d", i);
            for (int j = 0; j < count[i]; j++) {
                state = state * 1664525u + 1013904223u;
                needs[i][j] = (int)((state >> 8) % KEYS);
                snprintf(names[j], 8, "f.%d", needs[i][j]);
                into[j] = (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = names[j]};
            }
            invivo_injection provider[2];
            for (int j = 0; j < count[i]; j++)
                provider[j] = (invivo_injection){.how = INVIVO_INJECT_PROVIDER, .items = &into[j], .item_count = 1};
            static const invivo_parameter two[] = {{.name = "a", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                                                   {.name = "b", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
            static invivo_type type;
            if (round == 0 || !type.bits) {
                invivo_type_options options = {.struct_size = sizeof options, .name = "Any", .size = 8, .alignment = 8,
                                               .concurrency = INVIVO_SHARED, .parameters = two, .parameter_count = 2};
                OK(invivo_type_register(runtime, &options, &type, E));
            }
            DEFINE(names[2], SINGLETON, type, WAITS, .initializer = provider, .initializer_count = (uint64_t)count[i]);
            defined[i] = 1;
        }
        int awake[KEYS];
        memcpy(awake, defined, sizeof awake);
        for (bool changed = true; changed;) {
            changed = false;
            for (int k = 0; k < KEYS; k++)
                for (int j = 0; awake[k] && j < count[k]; j++)
                    if (!awake[needs[k][j]]) awake[k] = 0, changed = true;
        }
        for (int k = 0; k < KEYS; k++) {
            snprintf(names[0], 8, "f.%d", k);
            if (!CHECK(resolves(names[0]) == (awake[k] != 0))) fprintf(stderr, "round %d, key %d\n", round, k);
        }
    }
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(it_is_blocked_while_a_dependency_is_missing);
    RUN_TEST(an_alias_of_a_blocked_alias_is_blocked_on_it);
    RUN_TEST(a_dependent_of_a_blocked_definition_is_blocked_or_refused);
    RUN_TEST(two_that_wait_for_each_other_come_together);
    RUN_TEST(an_unblocked_definition_is_found_by_its_type);
    RUN_TEST(optional_needs_and_lists_do_without_sleepers);
    RUN_TEST(a_blocked_definition_lists_an_added_optional_key);
    RUN_TEST(it_is_blocked_until_its_value_is_configured);
    RUN_TEST(it_is_blocked_until_its_type_is_registered);
    RUN_TEST(unblocked_definitions_equal_a_model);
    return check_end();
}
