/* The configuration: precedence, merging, search order, effects of a change, typed targets and their errors, views,
 * observers, runtime settings. */
/* sanitize: no, its readers are like those of views.c and consistency.c */
#include "check.h"

/* Records its arguments and counts its creations. */
typedef struct voice {
    int64_t count;
    double gain;
    int32_t small;
    char name[16];
    invivo_object input;
} voice;

static int made, gone, set_small;

static invivo_status voice_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    voice *self = instance;
    (void)build, (void)user_data;
    made++;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_INT64 && arguments[0].as.signed_integer == 13) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "not thirteen", NULL, NULL);
        return INVIVO_E_HOST;
    }
    if (count > 0 && arguments[0].kind == INVIVO_KIND_INT64) self->count = arguments[0].as.signed_integer;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_OBJECT) self->input = arguments[1].as.object;
    return INVIVO_OK;
}
static void voice_deinit(void *instance, void *user_data) { (void)instance, (void)user_data, gone++; }
static invivo_status get_small(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_int64(((voice *)instance)->small);
    return INVIVO_OK;
}
static invivo_status put_small(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    set_small++;
    ((voice *)instance)->small = (int32_t)value->as.signed_integer;
    return INVIVO_OK;
}

static const invivo_parameter voice_parameters[] = {
    {.name = "count", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 2000, .unit = "Hz"),
    INVIVO_FIELD(voice, name),
    {.struct_size = sizeof(invivo_property), .name = "small", .kind = INVIVO_KIND_INT32, .get = get_small, .set = put_small},
};

static invivo_runtime runtime;
static invivo_type type;

static void open_runtime(void) {
    const invivo_type_options options = {
        .struct_size = sizeof(options), .name = "Voice", .concurrency = INVIVO_SHARED, .size = sizeof(voice), .alignment = 8,
        .init = voice_init, .deinit = voice_deinit, .parameters = voice_parameters, .parameter_count = 2,
        .properties = voice_properties, .property_count = 3};
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    made = gone = set_small = 0;
}
static void close_runtime(void) { OK(invivo_runtime_close(runtime, E)); }

static invivo_status says(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_document(changes, name, text, text ? strlen(text) : 0, error);
    return status ? status : invivo_changes_commit(changes, error);
}
static invivo_status configured(const char *path, const invivo_value *value, invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_configure(changes, path, value, error);
    return status ? status : invivo_changes_commit(changes, error);
}

static invivo_injection config(const char *name, const char *path) {
    return (invivo_injection){.name = name, .how = INVIVO_INJECT_CONFIG, .reference = path};
}
static invivo_status define(const char *key, uint32_t scope, const invivo_injection *initializer, uint64_t initializers,
                            const invivo_injection *properties, uint64_t count, invivo_error **error) {
    const invivo_definition definition = {
        .struct_size = sizeof(definition), .key = key, .scope = scope, .type = type, .initializer = initializer,
        .initializer_count = initializers, .properties = properties, .property_count = count, .file = "host.c", .line = 7};
    return invivo_define(runtime, &definition, NULL, error);
}

static voice *instance(invivo_object object) {
    static voice none;
    void *found = NULL;
    return OK(invivo_object_instance(object, (invivo_type){0}, &found, E)) && found ? found : &none;
}
static voice *get(const char *key, invivo_object *object) {
    return instance(OK(invivo_resolve_name(runtime, key, object, E)) ? *object : (invivo_object){0});
}
static void let_go(invivo_object object) { OK(invivo_object_release(object)); }

static int64_t read_int(const char *path) {
    invivo_value value;
    int64_t number = -1;
    if (OK(invivo_config_read(runtime, path, &value, E)) && CHECK_EQUAL(value.kind, INVIVO_KIND_INT64))
        number = value.as.signed_integer;
    invivo_value_clear(&value);
    return number;
}

/* ---- precedence -------------------------------------------------------------------------------------------- */

static void later_documents_win_maps_merge_lists_are_replaced_and_null_removes(void) {
    invivo_value value;
    open_runtime();
    OK(says("a.yaml", "config:\n  synth: { voices: 8, list: [1, 2, 3], deep: { one: 1, two: 2 } }\n", E));
    OK(says("b.yaml", "config: { synth: { voices: 9, list: [4], deep: { two: 22, three: 3 } }, synth.deep.four: 4 }", E));
    CHECK_EQUAL(read_int("synth.voices"), 9);
    CHECK_EQUAL(read_int("/synth.deep.one"), 1);
    CHECK_EQUAL(read_int("synth.deep.two"), 22);
    CHECK_EQUAL(read_int("synth.deep.three"), 3);
    CHECK_EQUAL(read_int("synth.deep.four"), 4);
    OK(invivo_config_read(runtime, "synth.list", &value, E));
    CHECK_EQUAL(value.as.list.count, 1);
    invivo_value_clear(&value);

    OK(says("c.json", "{\"config\": {\"synth\": {\"deep\": {\"two\": null}, \"voices\": null}}}", E));
    expects_error(invivo_config_read(runtime, "synth.voices", &value, E), INVIVO_E_NOT_CONFIGURED, NULL);
    expects_error(invivo_config_read(runtime, "synth.deep.tow", &value, E), INVIVO_E_NOT_CONFIGURED, NULL);
    CHECK_EQUAL(read_int("synth.deep.three"), 3);
    /* A runtime setting overrides all documents until it is removed. */
    const invivo_value five = invivo_int64(5), none = invivo_null();
    OK(configured("synth.deep.two", &five, E));
    CHECK_EQUAL(read_int("synth.deep.two"), 5);
    OK(configured("synth.deep.three", &none, E));
    expects_error(invivo_config_read(runtime, "synth.deep.three", &value, E), INVIVO_E_NOT_CONFIGURED,
                  "synth.deep.three: the configuration has no value at 'synth.deep.three'");
    OK(configured("synth.deep", NULL, E));
    expects_error(invivo_config_read(runtime, "synth.deep.two", &value, E), INVIVO_E_NOT_CONFIGURED, NULL);
    CHECK_EQUAL(read_int("synth.deep.three"), 3);
    OK(says("c.json", NULL, E));
    CHECK_EQUAL(read_int("synth.voices"), 9);
    OK(says("b.yaml", NULL, E));
    CHECK_EQUAL(read_int("synth.deep.two"), 2);
    OK(says("a.yaml", NULL, E));
    OK(invivo_config_read(runtime, "", &value, E));
    CHECK_EQUAL(value.as.map.count, 0);
    invivo_value_clear(&value);
    /* The root is a map. */
    expects_error(configured("", &five, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(configured("a..b", &five, E), INVIVO_E_ARGUMENT, NULL);
    close_runtime();
}

/* A map with more names than are compared one by one: each layer adds, replaces and removes some, including the first. */
static void wide_maps_merge_as_small_ones_do(void) {
    enum { NAMES = 60, LAYERS = 3 };
    static const char *const documents[LAYERS] = {"a.yaml", "b.yaml", "c.yaml"};
    int expected[NAMES];
    invivo_value value;
    open_runtime();
    for (int i = 0; i < NAMES; i++) expected[i] = -1;
    for (int layer = 0; layer < LAYERS; layer++) {
        char text[NAMES * 24] = "config:\n  wide:\n";
        for (int i = 0; i < NAMES; i++) {
            char *end = text + strlen(text);
            /* The names that a layer sets and removes differ between layers. */
            if ((i + layer) % 4 == 1) snprintf(end, 24, "    n%02d: null\n", i), expected[i] = -1;
            if ((i + layer) % 4 == 2) snprintf(end, 24, "    n%02d: %d\n", i, expected[i] = 100 * layer + i);
        }
        OK(says(documents[layer], text, E));
    }
    int64_t left = 0;
    for (int i = 0; i < NAMES; i++) {
        char path[] = "wide.n00";
        path[6] += i / 10, path[7] += i % 10;
        if (expected[i] >= 0) CHECK_EQUAL(read_int(path), expected[i]), left++;
        else expects_error(invivo_config_read(runtime, path, &value, E), INVIVO_E_NOT_CONFIGURED, NULL);
    }
    OK(invivo_config_read(runtime, "wide", &value, E));
    CHECK_EQUAL(value.as.map.count, left);
    invivo_value_clear(&value);
    /* A runtime setting for one of them, its removal, and a new name. */
    const invivo_value five = invivo_int64(5), none = invivo_null();
    OK(configured("wide.n00", &five, E));
    OK(configured("wide.own", &five, E));
    OK(configured("wide.n59", &none, E));
    CHECK_EQUAL(read_int("wide.n00"), 5);
    CHECK_EQUAL(read_int("wide.own"), 5);
    expects_error(invivo_config_read(runtime, "wide.n59", &value, E), INVIVO_E_NOT_CONFIGURED, NULL);
    close_runtime();
}

static void documents_with_other_kinds_are_refused_with_their_locations(void) {
    open_runtime();
    expects_error(says("a.yaml", "config: [1]", E), INVIVO_E_SPEC,
                  "a.yaml:1:9: config: expected a map of assemblies and their values, found a list");
    expects_error(says("a.yaml", "config:\n", E), INVIVO_E_SPEC,
                  "a.yaml:1:8: config: expected a map of assemblies and their values, found nothing; write {} if nothing is configured");
    expects_error(says("a.yaml", "config: {}\nconfigs: {}\n", E), INVIVO_E_SPEC,
                  "a.yaml:2:1: unknown key 'configs'; did you mean 'config'?");
    expects_error(says("a.yaml", "config: { a..b: 1 }", E), INVIVO_E_SPEC, NULL);
    expects_error(says("a.yaml", "config:\n  a: { b: 1 }\n  a.b: 2\n", E), INVIVO_E_SPEC,
                  "a.yaml:3:3: config.a.b: it is set twice: as a key, and as part of another key");
    expects_error(says("a.yaml", "config:\n  a.b: 2\n  a: { b: 1 }\n", E), INVIVO_E_SPEC,
                  "a.yaml:3:3: config.a: it is set twice: as a key, and as part of another key");
    expects_error(says("a.yaml", "config:\n  a.b.c: 2\n  a: { d: 1, b: { e: 4 } }\n  a.b: { f: 1, c: {} }\n", E), INVIVO_E_SPEC,
                  "a.yaml:4:3: config.a.b: it is set twice: as a key, and as part of another key");
    OK(says("a.yaml", "config:\n  a.b.c: 2\n  a: { d: 1, b: { e: 4 } }\n  a.b: { f: 6 }\n  a.b.g.h: 7\n", E));
    CHECK_EQUAL(read_int("a.b.c") * 10000 + read_int("a.d") * 1000 + read_int("a.b.e") * 100 + read_int("a.b.f") * 10 + read_int("a.b.g.h"),
                21467);
    OK(says("a.yaml", "config: {}", E));
    /* The extension determines the format. */
    invivo_error *error = NULL;
    CHECK_EQUAL(says("a.json", "{\"config\": {},\n \"confgi\": {}}", &error), INVIVO_E_SPEC);
    CHECK_TEXT(invivo_error_file(error), "a.json");
    CHECK_EQUAL(invivo_error_line(error), 2);
    CHECK_EQUAL(invivo_error_column(error), 2);
    CHECK_EQUAL(invivo_error_count(error), 1);
    CHECK_TEXT(invivo_error_message(error), "unknown key 'confgi'; did you mean 'config'?");
    invivo_error_release(error);
    error = NULL;
    CHECK_EQUAL(says("a.json", "config: {}", &error), INVIVO_E_SYNTAX);
    CHECK_TEXT(invivo_error_file(error), "a.json");
    CHECK_EQUAL(invivo_error_line(error), 1);
    invivo_error_release(error);
    close_runtime();
}

/* ---- the search order ---------------------------------------------------------------------------------- */

static void an_assembly_reads_its_own_scope_and_global_values(void) {
    invivo_object object;
    const invivo_injection count = config("count", "count");
    const invivo_injection whole = config("count", "/drums.count");
    open_runtime();
    OK(says("a.yaml", "config: { synth: { count: 1, osc: { count: 3 } }, drums: { count: 2 }, global: { count: 4 } }", E));
    OK(define("synth.lead", INVIVO_SCOPE_LAZY_SINGLETON, &count, 1, NULL, 0, E));
    OK(define("drums.kick", INVIVO_SCOPE_LAZY_SINGLETON, &count, 1, NULL, 0, E));
    OK(define("bass.low", INVIVO_SCOPE_LAZY_SINGLETON, &count, 1, NULL, 0, E));
    OK(define("synth.osc.input", INVIVO_SCOPE_LAZY_SINGLETON, &count, 1, NULL, 0, E));
    OK(define("bass.other", INVIVO_SCOPE_LAZY_SINGLETON, &whole, 1, NULL, 0, E));
    CHECK_EQUAL(get("synth.lead", &object)->count, 1), let_go(object);
    CHECK_EQUAL(get("drums.kick", &object)->count, 2), let_go(object);
    CHECK_EQUAL(get("bass.low", &object)->count, 4), let_go(object);
    CHECK_EQUAL(get("synth.osc.input", &object)->count, 3), let_go(object);
    CHECK_EQUAL(get("bass.other", &object)->count, 2), let_go(object);
    /* A nearer value wins; its removal reveals the next one. */
    OK(says("b.yaml", "config: { bass: { count: 5 }, synth: { count: null } }", E));
    CHECK_EQUAL(get("bass.low", &object)->count, 5), let_go(object);
    CHECK_EQUAL(get("synth.lead", &object)->count, 4), let_go(object);
    CHECK_EQUAL(made, 7);
    close_runtime();
}

static void a_mount_is_configured_by_its_prefix_then_as_its_assembly(void) {
    const invivo_injection small[] = {config("small", "small")};
    const invivo_definition table[] = {{.struct_size = sizeof(table[0]), .key = "lead", .type_name = "Voice",
                                        .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = small, .property_count = 1}};
    const invivo_assembly assembly = {.struct_size = sizeof(assembly), .name = "voice", .definitions = table, .definition_count = 1};
    invivo_object object;
    open_runtime();
    OK(says("a.yaml", "config: { voice: { small: 1 }, left: { small: 2 } }", E));
    OK(invivo_mount(runtime, &assembly, "left", NULL, 0, E));
    OK(invivo_mount(runtime, &assembly, "right", NULL, 0, E));
    CHECK_EQUAL(get("left.lead", &object)->small, 2), let_go(object);
    CHECK_EQUAL(get("right.lead", &object)->small, 1), let_go(object);
    OK(says("b.yaml", "config: { right: { small: 3 }, voice: { small: null } }", E));
    CHECK_EQUAL(get("right.lead", &object)->small, 3), let_go(object);
    close_runtime();
}

/* Many dependents of one value, also through a parent: the error has one source location. */
static void an_unsuitable_value_is_reported_once(void) {
    static const char *const keys[] = {"synth.one", "synth.two", "bass.three"};
    const invivo_injection voices = config("count", "voices");
    invivo_changes changes;
    open_runtime();
    OK(says("a.yaml", "config: { global: { voices: loud } }", E));
    OK(invivo_changes_open(runtime, &changes, E));
    invivo_definition parent = {.struct_size = sizeof parent, .key = "synth.parent", .type = type, .initializer = &voices, .initializer_count = 1};
    OK(invivo_changes_define(changes, &parent, NULL, E));
    for (int i = 0; i < 3; i++) {
        invivo_definition child = {.struct_size = sizeof child, .key = keys[i], .parent = "synth.parent"};
        OK(invivo_changes_define(changes, &child, NULL, E));
    }
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CONVERSION,
                  "a.yaml:1:29: config.global.voices: initializer parameter 'count' of 'synth.parent': expected a number at character 1 of "
                  "'loud' (3 more definitions need it)");
    close_runtime();
}

static void missing_configuration_is_reported_with_its_dependents_and_the_searched_paths(void) {
    const invivo_injection voices = config("count", "voices");
    invivo_injection optional = voices, other = voices;
    const invivo_injection seven = {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(7)};
    invivo_object object;
    open_runtime();
    OK(says("a.yaml", "config: { synth: { voicse: 8 }, voices: 3 }", E));
    expects_error(define("synth.lead", 0, &voices, 1, NULL, 0, E), INVIVO_E_NOT_CONFIGURED,
                  "host.c:7: synth.lead: initializer parameter 'count' needs the configuration 'voices', which is not set: "
                  "looked for 'synth.voices', then 'global.voices'; did you mean 'synth.voicse'?");
    expects_error(define("bass.low", 0, &voices, 1, NULL, 0, E), INVIVO_E_NOT_CONFIGURED,
                  "host.c:7: bass.low: initializer parameter 'count' needs the configuration 'voices', which is not set: "
                  "looked for 'bass.voices', then 'global.voices'; '/voices' is there, in no assembly: ask for it so, or put it under 'global'");
    optional.flags = INVIVO_INJECT_OPTIONAL;
    OK(define("bass.low", INVIVO_SCOPE_LAZY_SINGLETON, &optional, 1, NULL, 0, E));
    CHECK_EQUAL(get("bass.low", &object)->count, 0), let_go(object);
    other.items = &seven, other.item_count = 1;
    OK(define("bass.high", INVIVO_SCOPE_LAZY_SINGLETON, &other, 1, NULL, 0, E));
    CHECK_EQUAL(get("bass.high", &object)->count, 7), let_go(object);
    /* An added value reaches those with the default; its removal refuses those who require it. */
    OK(says("b.yaml", "config: { global: { voices: 6 } }", E));
    CHECK_EQUAL(get("bass.low", &object)->count, 6), let_go(object);
    CHECK_EQUAL(get("bass.high", &object)->count, 6), let_go(object);
    OK(define("synth.lead", 0, &voices, 1, NULL, 0, E));
    expects_error(says("b.yaml", NULL, E), INVIVO_E_NOT_CONFIGURED, NULL);
    CHECK_EQUAL(read_int("global.voices"), 6);
    close_runtime();
}

/* ---- effects of a change ------------------------------------------------------------------------------- */

static void initializers_rebuild_properties_are_injected_again_providers_and_views_unaffected(void) {
    static listener heard;
    const invivo_injection by_initializer[] = {config("count", "count")};
    const invivo_injection by_property[] = {config("small", "small")};
    const invivo_injection holds[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .reference = "synth.made"}};
    invivo_object objects[5], again[5];
    const char *keys[] = {"synth.made", "synth.set", "synth.holder", "synth.apart"};
    open_runtime();
    OK(says("a.yaml", "config: { synth: { count: 1, small: 1, unrelated: 1 } }", E));
    OK(define("synth.made", INVIVO_SCOPE_SINGLETON, by_initializer, 1, NULL, 0, E));
    OK(define("synth.set", INVIVO_SCOPE_SINGLETON, NULL, 0, by_property, 1, E));
    OK(define("synth.holder", INVIVO_SCOPE_SINGLETON, holds, 1, NULL, 0, E));
    OK(define("synth.apart", INVIVO_SCOPE_SINGLETON, NULL, 0, NULL, 0, E));
    listener_open(&heard, runtime);
    CHECK_EQUAL(set_small, 1);
    for (int i = 0; i < 4; i++) get(keys[i], &objects[i]);
    OK(says("a.yaml", "config: { synth: { count: 2, small: 1, unrelated: 2 } }", E));
    CHECK_TEXT(listener_last(&heard)->changes,
               "synth.count configured; synth.unrelated configured; synth.made remade; synth.holder remade");
    CHECK_EQUAL(set_small, 1);
    OK(says("a.yaml", "config: { synth: { count: 2, small: 3, unrelated: 2 } }", E));
    CHECK_TEXT(listener_last(&heard)->changes, "synth.small configured; synth.set remade");
    CHECK_EQUAL(set_small, 2);
    for (int i = 0; i < 4; i++) get(keys[i], &again[i]);
    CHECK(again[0].bits != objects[0].bits);
    CHECK(again[1].bits != objects[1].bits); /* any thread may read it: it is rebuilt */
    CHECK(again[2].bits != objects[2].bits);
    CHECK(again[3].bits == objects[3].bits);
    CHECK_EQUAL(instance(again[1])->small, 3);
    CHECK_EQUAL(instance(again[0])->count, 2);
    /* The same value from another source is no change. */
    OK(says("a.yaml", "config:\n\n  synth: { unrelated: 2, small: 3, count: 2 }", E));
    CHECK_TEXT(listener_last(&heard)->changes, "");
    for (int i = 0; i < 4; i++) let_go(objects[i]), let_go(again[i]);
    OK(invivo_observer_close(heard.observer, E));
    close_runtime();
    listener_end(&heard);
    CHECK_EQUAL(made, gone);
}

/* A type whose property takes a callable. */
static invivo_callable kept;
static invivo_status keep_callable(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    kept = value->as.callable;
    return INVIVO_OK;
}
static invivo_status give_none(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)out, (void)error;
    return INVIVO_OK;
}

static void a_provider_of_configuration_reads_the_current_value(void) {
    const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "read", .kind = INVIVO_KIND_CALLABLE, .get = give_none, .set = keep_callable}};
    const invivo_type_options options = {.struct_size = sizeof(options), .name = "Reader", .concurrency = INVIVO_SHARED, .size = 8,
                                         .alignment = 8, .properties = properties, .property_count = 1};
    const invivo_injection nine = {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(9)};
    const invivo_injection reads = {.how = INVIVO_INJECT_CONFIG, .reference = "count", .items = &nine, .item_count = 1};
    const invivo_injection property = {.name = "read", .how = INVIVO_INJECT_PROVIDER, .items = &reads, .item_count = 1};
    invivo_definition definition = {.struct_size = sizeof(definition), .key = "synth.reader", .scope = INVIVO_SCOPE_SINGLETON,
                                    .properties = &property, .property_count = 1};
    invivo_object before, after;
    invivo_value value;
    open_runtime();
    OK(invivo_type_register(runtime, &options, &definition.type, E));
    OK(invivo_define(runtime, &definition, NULL, E));
    OK(invivo_resolve_name(runtime, "synth.reader", &before, E));
    OK(invivo_callable_call(kept, NULL, 0, &value, E));
    CHECK_EQUAL(value.as.signed_integer, 9);
    OK(says("a.yaml", "config: { global: { count: 3 } }", E));
    OK(invivo_callable_call(kept, NULL, 0, &value, E));
    CHECK_EQUAL(value.as.signed_integer, 3);
    OK(says("b.yaml", "config: { synth: { count: 4 } }", E));
    OK(invivo_callable_call(kept, NULL, 0, &value, E));
    CHECK_EQUAL(value.as.signed_integer, 4);
    OK(invivo_resolve_name(runtime, "synth.reader", &after, E));
    CHECK(before.bits == after.bits);
    let_go(before), let_go(after);
    close_runtime();
}

static void values_reach_methods_arguments_and_prototypes(void) {
    const invivo_parameter takes[] = {{.name = "n", .kind = INVIVO_KIND_INT64}};
    const invivo_injection argument = {.name = "count", .how = INVIVO_INJECT_ARGUMENT};
    const invivo_injection count = config(NULL, "count");
    const invivo_injection passes = {.name = "input", .how = INVIVO_INJECT_REFERENCE, .reference = "synth.made", .items = &count,
                                     .item_count = 1};
    const invivo_definition definition = {.struct_size = sizeof(definition), .key = "synth.made", .type = type,
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON, .initializer = &argument, .initializer_count = 1,
                                          .parameters = takes, .parameter_count = 1};
    invivo_object object;
    open_runtime();
    invivo_definition typed = definition;
    typed.type = type;
    OK(says("a.yaml", "config: { synth: { count: 5 } }", E));
    OK(invivo_define(runtime, &typed, NULL, E));
    OK(define("synth.holder", INVIVO_SCOPE_PROTOTYPE, &passes, 1, NULL, 0, E));
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(instance(get("synth.holder", &object)->input)->count, 5);
        let_go(object);
    }
    CHECK_EQUAL(made, 5);
    OK(says("a.yaml", "config: { synth: { count: 6 } }", E));
    CHECK_EQUAL(instance(get("synth.holder", &object)->input)->count, 6);
    let_go(object);
    /* The argument is checked against its target. */
    expects_error(says("a.yaml", "config: { synth: { count: [6] } }", E), INVIVO_E_TYPE, NULL);
    close_runtime();
}

/* ---- typed targets ------------------------------------------------------------------------------------- */

static void values_are_made_to_fit_and_errors_have_the_place_of_the_document(void) {
    const invivo_injection small[] = {config("small", "small")};
    const invivo_injection gain[] = {config("gain", "gain")};
    const invivo_injection name[] = {config("name", "name")};
    invivo_object object;
    open_runtime();
    OK(says("a.yaml", "config:\n  synth:\n    small: 7.0\n    gain: 1.2 kHz\n    name: Type(x)\n", E));
    OK(define("synth.a", INVIVO_SCOPE_SINGLETON, NULL, 0, small, 1, E));
    OK(define("synth.b", INVIVO_SCOPE_SINGLETON, NULL, 0, gain, 1, E));
    OK(define("synth.c", INVIVO_SCOPE_SINGLETON, NULL, 0, name, 1, E));
    CHECK_EQUAL(get("synth.a", &object)->small, 7), let_go(object);
    CHECK_EQUAL(get("synth.b", &object)->gain, 1200), let_go(object);
    CHECK_TEXT(get("synth.c", &object)->name, "Type(x)"), let_go(object);
    expects_error(says("a.yaml", "config:\n  synth:\n    small: 3000000000\n    gain: 1\n    name: x\n", E), INVIVO_E_RANGE,
                  "a.yaml:3:12: config.synth.small: the property 'small' of 'synth.a': 3000000000 is outside "
                  "-2147483648...2147483647 (int32)");
    expects_error(says("a.yaml", "config:\n  synth:\n    small: 1\n    gain: 3 kHz\n    name: x\n", E), INVIVO_E_RANGE, NULL);
    expects_error(says("a.yaml", "config:\n  synth: { small: 1, gain: loud, name: 5 }\n", E), INVIVO_E_CONVERSION,
                  "a.yaml:2:28: config.synth.gain: the property 'gain' of 'synth.b': expected a number of Hz, as in "
                  "1200 or '1.2 kHz' at character 1 of 'loud'\n"
                  "a.yaml:2:40: config.synth.name: the property 'name' of 'synth.c': 5 (a whole number) is not a string; in a document, write it in quotes");
    /* Errors of traits are reported too. */
    expects_error(says("a.yaml", "config:\n  synth: { small: 1, gain: loud, name: x }\ntraits:\n  synth.a: [Set: { smal: 1 }]\n"
                       "  synth.none: [Set: { a: 1 }]\n", E), INVIVO_E_CONVERSION,
                  "a.yaml:2:28: config.synth.gain: the property 'gain' of 'synth.b': expected a number of Hz, as in "
                  "1200 or '1.2 kHz' at character 1 of 'loud'\n"
                  "a.yaml:4:20: traits.synth.a[0].Set.smal: Voice has no property 'smal'; did you mean 'small'?\n"
                  "a.yaml:5:3: traits.synth.none: no target has the key 'synth.none'" LATER);
    CHECK_EQUAL(get("synth.a", &object)->small, 7), let_go(object);
    close_runtime();
}

typedef struct tuned { double depth; int64_t steps; } tuned;

static void fields_of_a_block_follow_without_anything_being_made(void) {
    static const invivo_property fields[] = {INVIVO_BLOCK_FIELD(tuned, depth, .initial = 1), INVIVO_BLOCK_FIELD(tuned, steps)};
    const invivo_type_options options = {.struct_size = sizeof(options), .name = "Tuned", .concurrency = INVIVO_SHARED, .size = 8,
                                         .alignment = 8, .block_size = sizeof(tuned), .properties = fields, .property_count = 2};
    const invivo_injection properties[] = {config("steps", "steps")};
    invivo_definition definition = {.struct_size = sizeof(definition), .key = "synth.tuned", .scope = INVIVO_SCOPE_SINGLETON,
                                    .properties = properties, .property_count = 1};
    invivo_key key;
    invivo_object before, after;
    open_runtime();
    OK(says("a.yaml", "config: { synth: { steps: 12 } }", E));
    OK(invivo_type_register(runtime, &options, &definition.type, E));
    OK(invivo_define(runtime, &definition, &key, E));
    OK(invivo_resolve(runtime, key, &before, E));
    for (int round = 0; round < 2; round++) {
        invivo_view view = invivo_view_begin(runtime);
        const tuned *block = invivo_view_block(view, key);
        CHECK(block && block->steps == (round ? 24 : 12) && block->depth == 1);
        invivo_view_end(view);
        OK(says("a.yaml", "config: { synth: { steps: 24 } }", E));
    }
    OK(invivo_resolve(runtime, key, &after, E));
    CHECK(before.bits == after.bits);
    let_go(before), let_go(after);
    close_runtime();
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

static void views_read_values_of_one_generation_by_id(void) {
    invivo_config whole, part, gain, name, on, none;
    open_runtime();
    OK(invivo_config_id(runtime, "/synth", INVIVO_KIND_ANY, &whole, E));
    OK(invivo_config_id(runtime, "synth.count", INVIVO_KIND_INT32, &part, E));
    OK(invivo_config_id(runtime, "synth.gain", INVIVO_KIND_DOUBLE, &gain, E));
    OK(invivo_config_id(runtime, "synth.name", INVIVO_KIND_STRING, &name, E));
    OK(invivo_config_id(runtime, "synth.on", INVIVO_KIND_BOOL, &on, E));
    OK(invivo_config_id(runtime, "nowhere", INVIVO_KIND_ANY, &none, E));
    CHECK_TEXT(invivo_config_path(runtime, part), "synth.count");
    CHECK(invivo_config_path(runtime, (invivo_config){part.bits + 1000}) == NULL);
    CHECK(invivo_config_path(runtime, (invivo_config){17}) == NULL);
    invivo_view view = invivo_view_begin(runtime);
    CHECK_EQUAL(invivo_view_config_int64(view, part, 3), 3);
    OK(says("a.yaml", "config: { synth: { count: 8, gain: 2, name: lead, on: true } }", E));
    CHECK_EQUAL(invivo_view_config_int64(view, part, 3), 3); /* still the generation of the begin */
    CHECK(invivo_view_config(view, whole) == NULL);
    invivo_view_end(view);
    view = invivo_view_begin(runtime);
    CHECK_EQUAL(invivo_view_config_int64(view, part, 3), 8);
    CHECK_EQUAL(invivo_view_config_double(view, gain, 0), 2);
    CHECK_TEXT(invivo_view_config_string(view, name, "?"), "lead");
    CHECK(invivo_view_config_bool(view, on, false));
    CHECK_EQUAL(invivo_view_config(view, whole)->as.map.count, 4);
    CHECK(invivo_view_config(view, whole) == invivo_view_config(view, whole) && invivo_view_config_late(view, whole));
    CHECK(invivo_view_config_scalar(view, whole) == NULL && invivo_view_config_scalar(view, none) == NULL);
    CHECK_EQUAL(invivo_view_config_scalar(view, part)->as.signed_integer, 8);
    CHECK(invivo_view_config_late(view, none) == NULL && invivo_view_config_late(view, (invivo_config){0}) == NULL);
    CHECK_TEXT(invivo_view_config_string(view, none, "default"), "default");
    CHECK(invivo_view_config(view, (invivo_config){0}) == NULL);
    invivo_view_end(view);
    /* A value that is read as a kind must have it. */
    expects_error(says("a.yaml", "config:\n  synth: { count: 1e99, gain: 2, name: lead, on: 1 }", E), INVIVO_E_RANGE, NULL);
    expects_error(says("a.yaml", "config:\n  synth: { name: 7 }", E), INVIVO_E_TYPE,
                  "a.yaml:2:18: config.synth.name: the host reads it as a string: 7 (a whole number) is not a string");
    expects_error(invivo_config_id(runtime, "synth.name", INVIVO_KIND_INT64, &none, E), INVIVO_E_TYPE, NULL);
    expects_error(invivo_config_id(runtime, "synth.name", INVIVO_KIND_OBJECT, &none, E), INVIVO_E_ARGUMENT, NULL);
    close_runtime();
    view = invivo_view_begin(runtime);
    CHECK_EQUAL(invivo_view_config_int64(view, part, 3), 3);
    invivo_view_end(view);
}

/* The first reader creates a map: all readers see the same one. */
static struct { invivo_config a, b, both; int mixed; bool done; uint64_t reads; } race;
static bool is_mixed(invivo_view view) {
    int64_t a = invivo_view_config_int64(view, race.a, 0);
    const invivo_value *both = invivo_view_config(view, race.both);
    if (a != invivo_view_config_int64(view, race.b, 0) || both != invivo_view_config(view, race.both)) return true;
    if (!both) return a != 0;
    return both->as.map.count != 2 || both->as.map.pairs[0].value.as.signed_integer != a || both->as.map.pairs[1].value.as.signed_integer != a;
}
static void *read_on(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&race.done, __ATOMIC_ACQUIRE)) {
        invivo_view view = invivo_view_begin(runtime);
        if (is_mixed(view)) __atomic_add_fetch(&race.mixed, 1, __ATOMIC_RELAXED);
        invivo_view_end(view);
        __atomic_add_fetch(&race.reads, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
static void values_read_in_one_view_are_never_mixed_while_reloads_commit(void) {
    pthread_t readers[3];
    char text[128];
    open_runtime();
    OK(invivo_config_id(runtime, "s.a", INVIVO_KIND_INT64, &race.a, E));
    OK(invivo_config_id(runtime, "s.b", INVIVO_KIND_INT64, &race.b, E));
    OK(invivo_config_id(runtime, "s", INVIVO_KIND_MAP, &race.both, E));
    for (int i = 0; i < 3; i++) pthread_create(&readers[i], NULL, read_on, NULL);
    while (__atomic_load_n(&race.reads, __ATOMIC_ACQUIRE) == 0) sched_yield(); /* a busy machine may start it late */
    for (int i = 1; i <= 300; i++) {
        snprintf(text, sizeof(text), "config: { s: { a: %d, b: %d } }", i, i);
        OK(says("a.yaml", text, E));
    }
    __atomic_store_n(&race.done, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) pthread_join(readers[i], NULL);
    CHECK_EQUAL(race.mixed, 0);
    close_runtime();
}

/* ---- observers ---------------------------------------------------------------------------------------------------- */

static struct { int count, destroyed; uint64_t generation; int64_t number; invivo_kind kind; char path[32]; } told;
static void hear(void *user_data, const char *path, const invivo_value *value, uint64_t generation) {
    CHECK(user_data == &told);
    told.count++;
    told.generation = generation;
    told.kind = value->kind;
    if (value->kind == INVIVO_KIND_INT64) told.number = value->as.signed_integer;
    snprintf(told.path, sizeof(told.path), "%s", path);
}
static void hear_destroyed(void *user_data) { (void)user_data, told.destroyed++; }

static void paths_lead_through_so_many_names_and_no_more(void) {
    static char path[80001], text[sizeof path + 64];
    for (size_t i = 0; i < sizeof path - 1; i += 2) path[i] = 'p', path[i + 1] = i + 2 < sizeof path - 1 ? '.' : 0;
    snprintf(text, sizeof text, "{\"config\":{\"%s\":1}}", path);
    open_runtime();
    expects_error(says("deep.json", text, E), INVIVO_E_SPEC, "deep.json:1:12: config: a path leads through at most 64 names, not 40000");
    const invivo_value one = invivo_int64(1);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    expects_error(invivo_changes_configure(changes, path, &one, E), INVIVO_E_TOO_LARGE,
                  "a path of the configuration leads through at most 64 names, not 40000: 'p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p....'");
    path[127] = 0;
    OK(invivo_changes_configure(changes, path, &one, E));
    OK(invivo_changes_commit(changes, E));
    invivo_value value;
    OK(invivo_config_read(runtime, path, &value, E));
    invivo_value_clear(&value);
    close_runtime();
}

static void a_path_and_a_prefix_are_observed(void) {
    const invivo_config_observer_options options = {
        .struct_size = sizeof(options), .changed = hear, .user_data = &told, .destroy = hear_destroyed};
    invivo_observer leaf, prefix;
    uint64_t generation;
    memset(&told, 0, sizeof(told));
    open_runtime();
    OK(invivo_config_observe(runtime, "/synth.deep.count", &options, &leaf, E));
    OK(says("a.yaml", "config: { synth: { deep: { count: 3, other: 1 } } }", E));
    generation = invivo_view_generation(invivo_view_begin(runtime));
    CHECK_EQUAL(told.count, 1);
    CHECK_EQUAL(told.number, 3);
    CHECK_EQUAL(told.generation, generation);
    CHECK_TEXT(told.path, "synth.deep.count");
    OK(says("a.yaml", "config: { synth: { deep: { count: 3, other: 2 } } }", E));
    CHECK_EQUAL(told.count, 1);
    OK(invivo_observer_close(leaf, E));
    CHECK_EQUAL(told.destroyed, 1);
    OK(invivo_config_observe(runtime, "synth", &options, &prefix, E));
    OK(says("a.yaml", "config: { synth: { deep: { count: 4, other: 3 } }, drums: { a: 1 } }", E));
    CHECK_EQUAL(told.count, 2);
    CHECK_EQUAL(told.kind, INVIVO_KIND_MAP);
    OK(says("a.yaml", "config: { synth: { deep: { count: 4, other: 3 } }, drums: { a: 2 } }", E));
    CHECK_EQUAL(told.count, 2);
    expects_error(says("a.yaml", "config: { synth: [", E), INVIVO_E_SYNTAX, NULL);
    CHECK_EQUAL(told.count, 2);
    OK(says("a.yaml", NULL, E));
    CHECK_EQUAL(told.count, 3);
    CHECK_EQUAL(told.kind, INVIVO_KIND_NULL);
    {
        invivo_view view = invivo_view_begin(runtime);
        invivo_view_end(view), invivo_view_end(view);
    }
    close_runtime();
    CHECK_EQUAL(told.destroyed, 2);
}

static void a_change_that_fails_while_objects_are_made_changes_no_value(void) {
    const invivo_config_observer_options options = {.struct_size = sizeof(options), .changed = hear, .user_data = &told};
    const invivo_injection count[] = {config("count", "count")};
    invivo_config id;
    memset(&told, 0, sizeof(told));
    open_runtime();
    OK(says("a.yaml", "config: { synth: { count: 1, other: 1 } }", E));
    OK(define("synth.made", INVIVO_SCOPE_SINGLETON, count, 1, NULL, 0, E));
    OK(invivo_config_id(runtime, "synth.other", INVIVO_KIND_INT64, &id, E));
    OK(invivo_config_observe(runtime, "synth", &options, NULL, E));
    expects_error(says("a.yaml", "config: { synth: { count: 13, other: 2 } }", E), INVIVO_E_HOST, NULL);
    invivo_view view = invivo_view_begin(runtime);
    CHECK_EQUAL(invivo_view_config_int64(view, id, 0), 1);
    invivo_view_end(view);
    CHECK_EQUAL(read_int("synth.count"), 1);
    CHECK_EQUAL(told.count, 0);
    OK(says("a.yaml", "config: { synth: { count: 14, other: 2 } }", E));
    CHECK_EQUAL(told.count, 1);
    CHECK_EQUAL(read_int("synth.other"), 2);
    close_runtime();
}

static void a_followed_file_changes_the_configuration(void) {
    static listener heard;
    invivo_object object;
    const invivo_injection count[] = {config("count", "count")};
    open_runtime();
    write_text("live.yaml", "config: { synth: { count: 1 } }\n");
    OK(invivo_watch(runtime, "live.yaml", E));
    OK(define("synth.made", INVIVO_SCOPE_LAZY_SINGLETON, count, 1, NULL, 0, E));
    CHECK_EQUAL(get("synth.made", &object)->count, 1), let_go(object);
    listener_open(&heard, runtime);
    write_text("next.yaml", "config: { synth: { count: 2 } }\n");
    rename("next.yaml", "live.yaml");
    listener_wait(&heard, 1);
    CHECK_EQUAL(get("synth.made", &object)->count, 2), let_go(object);
    write_text("next.yaml", "config: { synth: { count: two } }\n");
    rename("next.yaml", "live.yaml");
    listener_wait(&heard, 2);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_E_CONVERSION);
    CHECK(strstr(listener_last(&heard)->error, "live.yaml:1:27: config.synth.count: initializer parameter 'count' of 'synth.made'"));
    CHECK_EQUAL(get("synth.made", &object)->count, 2), let_go(object);
    OK(invivo_observer_close(heard.observer, E));
    close_runtime();
    listener_end(&heard);
}

/* ---- a trait over a configuration value ---------------------------------------------------------------- */

typedef struct mixer {
    double gain, rate, other;
} mixer;
static int sets, fail_set_at, gets, fail_get_at;
static invivo_status get_double(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    if (++gets == fail_get_at) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    *out = invivo_double(((double *)instance)[(size_t)user_data]);
    return INVIVO_OK;
}
static invivo_status put_double(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    if (++sets == fail_set_at) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((double *)instance)[(size_t)user_data] = value->as.number;
    return INVIVO_OK;
}
/* A reload injects into a confined object in place: a trait stays on top of the injected value, which shows when the
 * trait is removed. A failing reload, at any call, keeps both. */
static void a_value_that_changes_goes_under_a_trait(void) {
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "gain", .kind = INVIVO_KIND_DOUBLE, .get = get_double, .set = put_double},
        {.struct_size = sizeof(invivo_property), .name = "rate", .kind = INVIVO_KIND_DOUBLE, .get = get_double, .set = put_double,
         .user_data = (void *)1, .flags = INVIVO_PROPERTY_RESTART},
        {.struct_size = sizeof(invivo_property), .name = "other", .kind = INVIVO_KIND_DOUBLE, .get = get_double,
         .set = put_double, .user_data = (void *)2},
    };
    const invivo_type_options options = {.struct_size = sizeof(options), .name = "Mixer", .size = sizeof(mixer), .alignment = 8,
                                         .properties = properties, .property_count = 3};
    const invivo_injection injected[] = {config("gain", "gain"), config("rate", "rate"), config("other", "other")};
    invivo_object object;
    open_runtime();
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "m.tuned",
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type}, NULL, E));
    OK(says("values", "config: { m: { gain: 1, rate: 1, other: 1 } }", E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "m.tuned",
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
                                                   .properties = injected, .property_count = 3}, NULL, E));
    OK(says("traits", "traits: { m.tuned: [Set: { gain: 5, rate: 6 }] }", E));
    fail_set_at = 0;
    if (!OK(invivo_resolve_name(runtime, "m.tuned", &object, E))) return;
    mixer *self;
    OK(invivo_object_instance(object, type, (void **)&self, E));
#define SHOWS(given_gain, given_rate, given_other) \
    (CHECK(self->gain == given_gain), CHECK(self->rate == given_rate), CHECK(self->other == given_other))
    SHOWS(5, 6, 1);
    sets = 0;
    OK(says("values", "config: { m: { gain: 2, rate: 2, other: 2 } }", E));
    SHOWS(5, 6, 2);
    CHECK_EQUAL(sets, 1); /* the hidden value is not set */
    /* The trait and the value; each call fails once. */
    int failures[2] = {0};
    for (int which = 0; which < 2; which++)
        for (int at = 1; at <= 50; at++) {
            invivo_changes changes;
            const char *values = "config: { m: { gain: 3, rate: 3, other: 3 } }", *traits = "traits: { m.tuned: [Set: { gain: 7, other: 8, rate: 6 }] }";
            OK(invivo_changes_open(runtime, &changes, E));
            OK(invivo_changes_document(changes, "values", values, strlen(values), E));
            OK(invivo_changes_document(changes, "traits", traits, strlen(traits), E));
            sets = gets = 0, fail_set_at = which ? 0 : at, fail_get_at = which ? at : 0;
            invivo_status status = invivo_changes_commit(changes, NULL);
            bool is_through = (which ? gets : sets) < at;
            fail_set_at = fail_get_at = 0;
            if (is_through) {
                CHECK_EQUAL(status, INVIVO_OK);
                SHOWS(7, 6, 8);
                OK(says("values", "config: { m: { gain: 2, rate: 2, other: 2 } }", E));
                OK(says("traits", "traits: { m.tuned: [Set: { gain: 5, rate: 6 }] }", E));
                break;
            }
            CHECK_EQUAL(status, INVIVO_E_HOST);
            SHOWS(5, 6, 2);
            failures[which]++;
        }
    CHECK(failures[0] >= 2 && failures[1] >= 2);
    SHOWS(5, 6, 2);
    fail_set_at = 0;
    OK(says("traits", NULL, E));
    CHECK(self->gain == 2); /* the value under the trait; a property with RESTART keeps its value */
    OK(says("values", "config: { m: { gain: 4, rate: 4, other: 4 } }", E));
    CHECK(self->gain == 4 && self->other == 4);
    /* A base value of a change set also hides an injected value. */
    invivo_changes changes;
    const invivo_value nine = invivo_double(9);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "m.tuned", "other", &nine, E));
    OK(invivo_changes_commit(changes, E));
    CHECK(self->other == 9);
    OK(says("values", "config: { m: { gain: 5, rate: 4, other: 5 } }", E));
    CHECK(self->gain == 5 && self->other == 9);
    OK(invivo_object_release(object));
    close_runtime();
}

int main(void) {
    check_directory();
    check_begin();
    RUN_TEST(later_documents_win_maps_merge_lists_are_replaced_and_null_removes);
    RUN_TEST(wide_maps_merge_as_small_ones_do);
    RUN_TEST(documents_with_other_kinds_are_refused_with_their_locations);
    RUN_TEST(an_assembly_reads_its_own_scope_and_global_values);
    RUN_TEST(a_mount_is_configured_by_its_prefix_then_as_its_assembly);
    RUN_TEST(an_unsuitable_value_is_reported_once);
    RUN_TEST(missing_configuration_is_reported_with_its_dependents_and_the_searched_paths);
    RUN_TEST(initializers_rebuild_properties_are_injected_again_providers_and_views_unaffected);
    RUN_TEST(a_provider_of_configuration_reads_the_current_value);
    RUN_TEST(values_reach_methods_arguments_and_prototypes);
    RUN_TEST(values_are_made_to_fit_and_errors_have_the_place_of_the_document);
    RUN_TEST(fields_of_a_block_follow_without_anything_being_made);
    RUN_TEST(views_read_values_of_one_generation_by_id);
    RUN_TEST(values_read_in_one_view_are_never_mixed_while_reloads_commit);
    RUN_TEST(a_path_and_a_prefix_are_observed);
    RUN_TEST(paths_lead_through_so_many_names_and_no_more);
    RUN_TEST(a_change_that_fails_while_objects_are_made_changes_no_value);
    RUN_TEST(a_followed_file_changes_the_configuration);
    RUN_TEST(a_value_that_changes_goes_under_a_trait);
    return check_end();
}
