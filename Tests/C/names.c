/* Names are compared byte by byte: two spellings that Unicode treats as equal are two names, for keys, types, members,
 * assemblies, the configuration, documents and manifests. */
#include "thing.h"

#define COMPOSED "caf\xC3\xA9"    /* e with an acute accent, as one scalar */
#define APART "cafe\xCC\x81"      /* e, followed by the accent */

static invivo_runtime runtime;

static int64_t number_of(const char *key) { return thing_of(thing_shared(runtime, key))->number; }
static void define(const char *key, const char *alias, int64_t number) {
    invivo_injection numbers[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(number)}};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = alias ? 0 : INVIVO_SCOPE_LAZY_SINGLETON,
                                                   .alias = alias, .type_name = alias ? NULL : "Thing", .properties = numbers, .property_count = alias ? 0 : 1}, NULL, E));
}

static void keys_and_their_documents(void) {
    runtime = thing_runtime();
    define("a." COMPOSED, NULL, 1);
    define("a." APART, NULL, 2);
    define("a.alias", "a." APART, 0);
    CHECK_EQUAL(number_of("a." COMPOSED), 1);
    CHECK_EQUAL(number_of("a." APART), 2);
    CHECK_EQUAL(number_of("a.alias"), 2);
    OK(invivo_runtime_close(runtime, E));
}

typedef struct tuned { int64_t number; } tuned;
static const invivo_property tuned_properties[] = {INVIVO_FIELD(tuned, number)};
static void documents_speak_of_each_alone(void) {
    const invivo_block_options block = {.struct_size = sizeof block, .type_name = "Tuned", .size = sizeof(tuned), .properties = tuned_properties, .property_count = 1};
    invivo_key composed, apart;
    invivo_source source;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_define_block(runtime, "a." COMPOSED, &block, &composed, E));
    OK(invivo_define_block(runtime, "a." APART, &block, &apart, E));
    static const char *const texts[] = {
        "traits:\n  a." COMPOSED ": [ { Set: { number: 1 } } ]\n  a." APART ": [ { Set: { number: 2 } } ]\n",
        "{ \"traits\": { \"a." COMPOSED "\": [ { \"Set\": { \"number\": 1 } } ], \"a." APART "\": [ { \"Set\": { \"number\": 2 } } ] } }"};
    for (int i = 0; i < 2; i++) {
        const invivo_source_options options = {.struct_size = sizeof options, .name = i ? "alike.json" : "alike.yaml", .text = texts[i], .length = strlen(texts[i])};
        if (!OK(invivo_source_open(runtime, &options, &source, E))) continue;
        invivo_view view = invivo_view_begin(runtime);
        CHECK_EQUAL(((const tuned *)invivo_view_block(view, composed))->number, 1);
        CHECK_EQUAL(((const tuned *)invivo_view_block(view, apart))->number, 2);
        invivo_view_end(view);
        OK(invivo_source_close(source, E));
    }
    /* A real duplicate is still found. */
    invivo_changes changes;
    static const char twice[] = "traits:\n  a." APART ": [ { Set: { number: 1 } } ]\n  a." APART ": [ { Set: { number: 2 } } ]\n";
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "twice.yaml", twice, strlen(twice), E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_SYNTAX, NULL);
    OK(invivo_runtime_close(runtime, E));
}

static void types_and_their_members(void) {
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = COMPOSED, .kind = INVIVO_KIND_INT64, .offset = 0, .size = 8},
        {.struct_size = sizeof(invivo_property), .name = APART, .kind = INVIVO_KIND_INT64, .offset = 8, .size = 8}};
    invivo_type_options options = {.struct_size = sizeof options, .name = COMPOSED, .size = 16, .alignment = 8, .concurrency = INVIVO_SHARED, .properties = properties, .property_count = 2};
    invivo_type composed, apart, found;
    invivo_object object;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &composed, E));
    expects_error(invivo_type_find(runtime, APART, &found, E), INVIVO_E_NOT_FOUND, NULL);
    options.name = APART;
    OK(invivo_type_register(runtime, &options, &apart, E));
    expects_error(invivo_type_register(runtime, &options, &found, E), INVIVO_E_EXISTS, NULL);
    OK(invivo_type_find(runtime, COMPOSED, &found, E));
    CHECK(found.bits == composed.bits);
    OK(invivo_type_find(runtime, APART, &found, E));
    CHECK(found.bits == apart.bits);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.it", .type = apart}, NULL, E));
    expects_error(invivo_resolve_type(runtime, COMPOSED, NULL, 0, &object, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_resolve_type(runtime, APART, NULL, 0, &object, E));
    invivo_value one = invivo_int64(1), two = invivo_int64(2), is = {0};
    OK(invivo_object_release(object));
    OK(invivo_object_make(runtime, composed, NULL, 0, &object, E));
    CHECK_EQUAL(invivo_object_set(object, COMPOSED, &one, NULL), INVIVO_E_READ_ONLY); /* of a shared type; it exists nevertheless */
    CHECK_EQUAL(invivo_object_set(object, "cafe", &two, NULL), INVIVO_E_PROPERTY);
    OK(invivo_object_get(object, APART, &is, E));
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

static int64_t configured(const char *path) {
    invivo_value found = {0};
    if (!OK(invivo_config_read(runtime, path, &found, E))) return -1;
    int64_t number = found.kind == INVIVO_KIND_INT64 ? found.as.signed_integer : -2;
    invivo_value_clear(&found);
    return number;
}
static void the_configuration(void) {
    invivo_changes changes;
    invivo_value three = invivo_int64(3);
    static const char text[] = "config: { " COMPOSED ": 1, " APART ": 2, deep: { " APART ": 4 } }\n";
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "alike.yaml", text, strlen(text), E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(configured(COMPOSED), 1);
    CHECK_EQUAL(configured(APART), 2);
    CHECK_EQUAL(configured("deep." APART), 4);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, APART, &three, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(configured(COMPOSED), 1);
    CHECK_EQUAL(configured(APART), 3);
    OK(invivo_runtime_close(runtime, E));
}

static void assemblies_and_their_members(void) {
    runtime = thing_runtime();
    invivo_injection one[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(1)}},
                     two[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(2)}};
    const invivo_definition members[] = {
        {.struct_size = sizeof(invivo_definition), .key = COMPOSED, .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = one, .property_count = 1},
        {.struct_size = sizeof(invivo_definition), .key = APART, .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = two, .property_count = 1}};
    const invivo_assembly first = {.struct_size = sizeof first, .name = COMPOSED, .definitions = members, .definition_count = 2},
                          second = {.struct_size = sizeof second, .name = APART, .definitions = members, .definition_count = 1};
    const invivo_assembly *both[] = {&first, &second};
    OK(invivo_activate(runtime, both, 2, NULL, E));
    CHECK_EQUAL(number_of(COMPOSED "." COMPOSED), 1);
    CHECK_EQUAL(number_of(COMPOSED "." APART), 2);
    CHECK_EQUAL(number_of(APART "." COMPOSED), 1);
    const char *gone = COMPOSED;
    OK(invivo_deactivate(runtime, &gone, 1, E));
    uint32_t state = 0;
    OK(invivo_assembly_state(runtime, APART, &state, E));
    CHECK_EQUAL(state, INVIVO_ASSEMBLY_ACTIVE);
    OK(invivo_assembly_state(runtime, COMPOSED, &state, E));
    CHECK(state != INVIVO_ASSEMBLY_ACTIVE);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status load(void *user_data, invivo_runtime opened, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path, (void)error;
    thing_register(opened, "Thing");
    return INVIVO_OK;
}
static void manifests(void) {
    static const char text[] = "modules: { things: things.py }\n"
                               "components:\n"
                               "  a." COMPOSED ": { type: Thing, properties: { number: 1 } }\n"
                               "  a." APART ": { type: Thing, properties: { number: 2, left: $a." COMPOSED " } }\n"
                               "  a.child: { parent: a." APART " }\n";
    write_text("things.py", "");
    write_text("app.yaml", text);
    invivo_app app;
    const invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    if (!OK(invivo_app_open(&app, &options, E))) return;
    OK(invivo_app_runtime(app, &runtime, E));
    CHECK_EQUAL(number_of("a." COMPOSED), 1);
    CHECK_EQUAL(number_of("a." APART), 2);
    CHECK_EQUAL(number_of("a.child"), 2);
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "a." APART))->left), "a." COMPOSED);
    OK(invivo_app_close(app, E));
}

/* ---- names with their own tables ----------------------------------------------------------------------- */

static const char *const names[] = {COMPOSED, APART};

static void pools(void) {
    invivo_pool opened[2], found;
    runtime = thing_runtime();
    for (int i = 0; i < 2; i++) {
        const invivo_pool_options options = {.struct_size = sizeof options, .name = names[i]};
        OK(invivo_pool_open(runtime, &options, &opened[i], E));
    }
    for (int i = 0; i < 2; i++)
        if (OK(invivo_pool_find(runtime, names[i], &found, E))) CHECK(found.bits == opened[i].bits);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status convert(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)text, (void)length, (void)error;
    *out = invivo_int64((int64_t)(intptr_t)user_data);
    return INVIVO_OK;
}
static void converters(void) {
    invivo_value read = {0};
    runtime = thing_runtime();
    for (int i = 0; i < 2; i++) {
        const invivo_converter_options options = {.struct_size = sizeof options, .name = names[i], .convert = convert, .user_data = (void *)(intptr_t)(i + 1)};
        OK(invivo_converter_register(runtime, &options, E));
    }
    for (int i = 0; i < 2; i++) {
        OK(invivo_convert(runtime, names[i], "x", 1, &read, E));
        CHECK_EQUAL(read.as.signed_integer, i + 1);
    }
    OK(invivo_converter_unregister(runtime, COMPOSED, E));
    OK(invivo_convert(runtime, APART, "x", 1, &read, E));
    expects_error(invivo_convert(runtime, COMPOSED, "x", 1, &read, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status find_place(void *user_data, uint64_t *place, invivo_error **error) {
    (void)error;
    *place = (uint64_t)(uintptr_t)user_data;
    return INVIVO_OK;
}
static void scopes(void) {
    static const char *const keys[] = {"a.one", "a.two"};
    invivo_object made[2], again;
    runtime = thing_runtime();
    for (int i = 0; i < 2; i++) {
        const invivo_scope_options options = {.struct_size = sizeof options, .name = names[i], .find = find_place, .user_data = (void *)(uintptr_t)7};
        OK(invivo_scope_register(runtime, &options, E));
        OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = keys[i], .type_name = "Thing",
                                                       .scope = INVIVO_SCOPE_HOST, .scope_name = names[i]}, NULL, E));
        made[i] = thing_shared(runtime, keys[i]);
    }
    OK(invivo_scope_end(runtime, COMPOSED, 7, E));
    again = thing_shared(runtime, "a.one");
    CHECK(again.bits != made[0].bits);
    again = thing_shared(runtime, "a.two");
    CHECK(again.bits == made[1].bits);
    OK(invivo_runtime_close(runtime, E));
}

static int decorated[2];
static invivo_status decorate(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)object, (void)build, (void)out, (void)error;
    ++*(int *)user_data;
    return INVIVO_OK;
}
static void processors(void) {
    invivo_changes changes;
    runtime = thing_runtime();
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < 2; i++) {
        const invivo_processor processor = {.struct_size = sizeof processor, .name = names[i], .decorate = decorate, .user_data = &decorated[i]};
        OK(invivo_changes_process(changes, &processor, E));
    }
    OK(invivo_changes_commit(changes, E));
    define("a.one", NULL, 1);
    CHECK_EQUAL(number_of("a.one"), 1);
    CHECK_EQUAL(decorated[0], 1);
    CHECK_EQUAL(decorated[1], 1);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_unprocess(changes, COMPOSED, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(number_of("a.one"), 1);
    CHECK_EQUAL(decorated[0], 1);
    CHECK_EQUAL(decorated[1], 2);
    OK(invivo_runtime_close(runtime, E));
}

/* A type name for lookups. */
static void lookups_by_type(void) {
    invivo_object object;
    runtime = thing_runtime();
    define("a." COMPOSED, NULL, 1);
    expects_error(invivo_resolve_type(runtime, "Thing", APART, 0, &object, E), INVIVO_E_NOT_FOUND, NULL);
    define("a." APART, NULL, 2);
    for (int i = 0; i < 2; i++) {
        if (!OK(invivo_resolve_type(runtime, "Thing", names[i], 0, &object, E))) continue;
        CHECK_EQUAL(thing_of(object)->number, i + 1);
        OK(invivo_object_release(object));
    }
    OK(invivo_runtime_close(runtime, E));
}

/* Prefixes, remaps, and runtime settings. */
static void prefixes(void) {
    static const char from_composed[] = COMPOSED ".out", from_apart[] = APART ".out";
    const invivo_injection out[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = from_apart},
                                    {.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(3)}};
    const invivo_definition member[] = {
        {.struct_size = sizeof(invivo_definition), .key = "one", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = out, .property_count = 2}};
    const invivo_assembly part = {.struct_size = sizeof part, .name = "part", .definitions = member, .definition_count = 1};
    const invivo_remap other[] = {{COMPOSED, "elsewhere"}}, right[] = {{APART, "elsewhere"}};
    runtime = thing_runtime();
    define(from_composed, NULL, 1);
    define(from_apart, NULL, 2);
    define("elsewhere.out", NULL, 4);
    expects_error(invivo_mount(runtime, &part, "p", other, 1, E), INVIVO_E_ARGUMENT, NULL); /* nothing uses it */
    OK(invivo_mount(runtime, &part, "p." COMPOSED, right, 1, E));
    OK(invivo_mount(runtime, &part, "p." APART, NULL, 0, E));
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "p." COMPOSED ".one"))->left), "elsewhere.out");
    CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "p." APART ".one"))->left), from_apart);
    OK(invivo_runtime_close(runtime, E));
}

/* A definition that refers to the other name is different. */
static void redefined_keys(void) {
    runtime = thing_runtime();
    define("a." COMPOSED, NULL, 1);
    define("a." APART, NULL, 2);
    define("a.alias", "a." COMPOSED, 0);
    CHECK_EQUAL(number_of("a.alias"), 1);
    define("a.alias", "a." APART, 0);
    CHECK_EQUAL(number_of("a.alias"), 2);
    for (int i = 0; i < 2; i++) {
        char key[32];
        snprintf(key, sizeof key, "a.%s", names[i]);
        invivo_injection left[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = key}};
        OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.holder", .type_name = "Thing",
                                                       .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = left, .property_count = 1}, NULL, E));
        CHECK_TEXT(thing_key(thing_of(thing_shared(runtime, "a.holder"))->left), key);
    }
    OK(invivo_runtime_close(runtime, E));
}

/* A swap of two letters is one edit: that name is nearer than one with two other letters. */
static void the_nearest_name_by_letters_that_changed_places(void) {
    invivo_object object;
    runtime = thing_runtime();
    define("a.aloka", NULL, 1);
    define("a.clock", NULL, 2);
    expects_error(invivo_resolve_name(runtime, "a.clokc", &object, E), INVIVO_E_NOT_FOUND,
                  "a.clokc: no definition has the key 'a.clokc'; did you mean 'a.clock'?");
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(keys_and_their_documents);
    RUN_TEST(documents_speak_of_each_alone);
    RUN_TEST(types_and_their_members);
    RUN_TEST(the_configuration);
    RUN_TEST(assemblies_and_their_members);
    RUN_TEST(manifests);
    RUN_TEST(pools);
    RUN_TEST(converters);
    RUN_TEST(scopes);
    RUN_TEST(processors);
    RUN_TEST(lookups_by_type);
    RUN_TEST(prefixes);
    RUN_TEST(redefined_keys);
    RUN_TEST(the_nearest_name_by_letters_that_changed_places);
    return check_end();
}
