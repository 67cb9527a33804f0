/* Components and configuration in a manifest, and their errors with source locations. */
#include "check.h"

/* Records the calls. */
typedef struct note {
    char said[256];
    invivo_object held[8]; /* borrowed */
    int64_t level;
    invivo_callable call;
} note;

static void say(void *instance, const char *format, ...) {
    note *self = instance;
    va_list arguments;
    size_t length = strlen(self->said);
    va_start(arguments, format);
    vsnprintf(self->said + length, sizeof self->said - length, format, arguments);
    va_end(arguments);
}

static void say_value(void *instance, const invivo_value *value) {
    invivo_key key;
    switch (value->kind) {
    case INVIVO_KIND_NULL: say(instance, "null "); break;
    case INVIVO_KIND_BOOL: say(instance, "%s ", value->as.boolean ? "true" : "false"); break;
    case INVIVO_KIND_INT64: say(instance, "%lld ", (long long)value->as.signed_integer); break;
    case INVIVO_KIND_DOUBLE: say(instance, "%g ", value->as.number); break;
    case INVIVO_KIND_STRING: say(instance, "'%s' ", value->as.string.data); break;
    case INVIVO_KIND_OBJECT:
        invivo_object_key(value->as.object, &key, NULL);
        say(instance, "$%s ", invivo_key_name(key));
        break;
    case INVIVO_KIND_LIST:
        say(instance, "[ ");
        for (uint64_t i = 0; i < value->as.list.count; i++) say_value(instance, &value->as.list.items[i]);
        say(instance, "] ");
        break;
    case INVIVO_KIND_CALLABLE: ((note *)instance)->call = value->as.callable, say(instance, "call "); break;
    case INVIVO_KIND_MAP:
        for (uint64_t i = 0; i < value->as.map.count; i++) {
            say(instance, "%.*s=", (int)value->as.map.pairs[i].length, value->as.map.pairs[i].name);
            say_value(instance, &value->as.map.pairs[i].value);
        }
        break;
    default: say(instance, "kind %u ", value->kind);
    }
}

static invivo_status note_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    for (size_t i = 0; i < count; i++) say_value(instance, &arguments[i]);
    return INVIVO_OK;
}
static invivo_status get_level(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_int64(((note *)instance)->level);
    return INVIVO_OK;
}
static invivo_status set_level(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((note *)instance)->level = value->as.signed_integer;
    return INVIVO_OK;
}
static invivo_status get_any(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)out, (void)error;
    return INVIVO_OK;
}
static invivo_status set_any(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    say_value(instance, value);
    return INVIVO_OK;
}
static invivo_status call_tell(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    (void)result, (void)error;
    say(instance, "%s( ", (const char *)user_data);
    for (size_t i = 0; i < count; i++) say_value(instance, &arguments[i]);
    say(instance, ") ");
    return INVIVO_OK;
}
static invivo_status call_make(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    invivo_type type;
    invivo_object object;
    invivo_object self;
    invivo_runtime runtime = *(invivo_runtime *)user_data;
    (void)instance, (void)self;
    invivo_status status = invivo_type_find(runtime, "Note", &type, error);
    if (!status) status = invivo_object_make(runtime, type, arguments, count, &object, error);
    if (status) return status;
    const invivo_value borrowed = invivo_object_value(object);
    status = invivo_value_copy(result, &borrowed, error);
    invivo_object_release(object);
    return status;
}

static invivo_runtime loading;
static const invivo_parameter any[] = {{.name = "a", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                                       {.name = "b", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                                       {.name = "c", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_parameter one[] = {{.name = "a", .kind = INVIVO_KIND_OBJECT}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "level", .kind = INVIVO_KIND_INT64, .get = get_level, .set = set_level},
    {.struct_size = sizeof(invivo_property), .name = "thing", .kind = INVIVO_KIND_ANY, .get = get_any, .set = set_any},
    {.struct_size = sizeof(invivo_property), .name = "other", .kind = INVIVO_KIND_ANY, .get = get_any, .set = set_any},
};
static const invivo_method methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "tell", .parameters = any, .parameter_count = 3, .call = call_tell, .user_data = "tell"},
    {.struct_size = sizeof(invivo_method), .name = "hook", .parameters = any, .parameter_count = 3, .call = call_tell, .user_data = "hook"},
    {.struct_size = sizeof(invivo_method), .name = "make", .parameters = any, .parameter_count = 3, .result = INVIVO_KIND_OBJECT,
     .call = call_make, .user_data = &loading},
    {.struct_size = sizeof(invivo_method), .name = "plug", .parameters = one, .parameter_count = 1, .call = call_tell, .user_data = "plug"},
    {.struct_size = sizeof(invivo_method), .name = "unplug", .parameters = one, .parameter_count = 1, .call = call_tell, .user_data = "unplug"},
};

static invivo_status hold(void *instance, const invivo_build *build, const invivo_value *given, size_t count, void *user_data,
                          invivo_error **error) {
    (void)instance, (void)build, (void)given, (void)count, (void)user_data, (void)error;
    return INVIVO_OK;
}

static invivo_status load(void *user_data, invivo_runtime runtime, const char *name, const char *path, invivo_error **error) {
    const char *const is[] = {"Source"};
    invivo_type_options options = {
        .struct_size = sizeof options, .name = "Note", .concurrency = INVIVO_SHARED, .size = sizeof(note), .alignment = 8,
        .init = note_init, .parameters = any, .parameter_count = 3, .properties = properties, .property_count = 3,
        .methods = methods, .method_count = 5};
    (void)user_data, (void)name, (void)path;
    loading = runtime;
    invivo_status status = invivo_type_register(runtime, &options, NULL, error);
    options.name = "Loud", options.supertypes = is, options.supertype_count = 1;
    if (!status) status = invivo_type_register(runtime, &options, NULL, error);
    options.name = "Plugged", options.supertype_count = 0;
    if (!status) status = invivo_type_register(runtime, &options, NULL, error);
    static const invivo_parameter note[] = {{.name = "a", .kind = INVIVO_KIND_OBJECT, .type_name = "Note"}};
    options.name = "Keep", options.init = hold, options.parameters = note, options.parameter_count = 1;
    return status ? status : invivo_type_register(runtime, &options, NULL, error);
}

static invivo_app app;
static invivo_runtime runtime;

static invivo_status open_app(const char *text, invivo_error **error) {
    const invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    write_text("app.yaml", text);
    app = (invivo_app){0};
    invivo_status status = invivo_app_open(&app, &options, error);
    if (!status) status = invivo_app_runtime(app, &runtime, error);
    return status;
}

/* The events of the object of a key. */
static const char *said(const char *key, const invivo_value *arguments, size_t count) {
    static char text[256];
    invivo_object object;
    invivo_key found;
    void *instance;
    snprintf(text, sizeof text, "nothing");
    if (!OK(invivo_key_find(runtime, key, &found, E)) || !OK(invivo_resolve_with(runtime, found, arguments, count, &object, E)))
        return text;
    if (OK(invivo_object_instance(object, (invivo_type){0}, &instance, E))) {
        note *self = instance;
        snprintf(text, sizeof text, "%s", self->said);
        if (text[0] && text[strlen(text) - 1] == ' ') text[strlen(text) - 1] = 0;
    }
    OK(invivo_object_release(object));
    return text;
}

static void all_data_can_be_declared(void) {
    const invivo_value sixty = invivo_int64(60);
    OK(open_app("modules: { notes: notes.py }\n"
                "config: { a: { name: lead, size: 64 KiB }, global: { level: 3 } }\n"
                "components:\n"
                "  a.one: { type: Note, properties: { level: $config.level } }\n"
                "  a.two: { type: Note, init: [$config.name, { $config: nothing, default: 7 }, { $config: none, optional: true }] }\n"
                "  a.loud: { type: Loud, rank: 5 }\n"
                "  a.quiet: { type: Loud, hidden: true }\n"
                "  a.types: { type: Note, init: [{ $type: Source }, { $type: Nobody, optional: true }, { $all: Source }] }\n"
                "  a.base: { type: Note, abstract: true, init: [base], properties: { thing: 1 }, methods: [{ tell: [2] }] }\n"
                "  a.child: { parent: a.base, properties: { other: 3 }, methods: [hook] }\n"
                "  a.takes: { type: Note, scope: prototype, parameters: [note], init: [{ $argument: 0 }, { $arguments: all }] }\n"
                "  a.given: { type: Note, properties: { thing: { $key: a.takes, arguments: [5] } } }\n"
                "  a.short: { alias: a.takes, init: [8] }\n"
                "  a.late: { type: Note, properties: { thing: { $provider: $a.takes }, other: { $lazy: $a.one } } }\n"
                "  a.path: { type: Note, init: [{ $path: level, of: $a.one }] }\n"
                "  a.text: { type: Note, init: [{ $text: 1.5 kB, by: bytes }, { $text: $config.size, by: bytes }] }\n"
                "  a.set: { type: Note, init: [{ $set: [1, 1, 2] }, { x: { $$y: $$z }, l: [$a.one] }, { $asker: key }] }\n"
                "  a.hooks: { type: Note, before: [hook], methods: [{ tell: [1, $a.one] }, tell], after: [{ hook: [true] }], after-all: [tell] }\n"
                "  a.made: { type: Note, maker: { of: $a.one, method: make, arguments: [made, 4] } }\n"
                "  a.choice: { choose: { $config: wave, default: null }, options: [{ when: saw, use: $a.two }, { when: null, use: $a.one }, named] }\n"
                "  a.chosen: { type: Note, properties: { thing: $a.choice } }\n"
                "specs: [tuning.yaml]\n", E));
    CHECK_TEXT(said("a.two", NULL, 0), "'bass' 7 null"); /* spec files override the manifest */
    CHECK_TEXT(said("a.types", NULL, 0), "$a.loud null [ $a.loud ]");
    CHECK_TEXT(said("a.child", NULL, 0), "'base' 1 3 tell( 2 ) hook( )");
    CHECK_TEXT(said("a.takes", &sixty, 1), "60 [ 60 ]");
    CHECK_TEXT(said("a.given", NULL, 0), "$a.takes");
    CHECK_TEXT(said("a.short", NULL, 0), "8 [ 8 ]");
    CHECK_TEXT(said("a.late", NULL, 0), "call call");
    CHECK_TEXT(said("a.path", NULL, 0), "3");
    CHECK_TEXT(said("a.text", NULL, 0), "1500 65536");
    CHECK_TEXT(said("a.set", NULL, 0), "[ 1 2 ] x=$y='$z' l=[ $a.one ] null");
    CHECK_TEXT(said("a.hooks", NULL, 0), "hook( ) tell( 1 $a.one ) tell( ) hook( true ) tell( )");
    CHECK_TEXT(said("a.made", NULL, 0), "'made' 4");
    CHECK_TEXT(said("a.chosen", NULL, 0), "$a.one");
    {
        invivo_value value;
        OK(invivo_config_read(runtime, "a.name", &value, E));
        CHECK_TEXT(value.as.string.data, "bass");
        invivo_value_clear(&value);
    }
    OK(invivo_app_close(app, E));
}

static void refused(const char *text, const char *lines) {
    invivo_error *error = NULL;
    char found[4096] = "";
    CHECK(open_app(text, &error) != INVIVO_OK);
    for (size_t i = 0; error && i < invivo_error_count(error); i++) {
        const char *line = invivo_error_text(invivo_error_at(error, i)), *name = strstr(line, "app.yaml");
        strncat(strncat(found, name ? name : line, sizeof found - strlen(found) - 2), "\n", 2);
    }
    CHECK_TEXT(found, lines);
    invivo_error_release(error);
}

static void a_component_is_notified_of_candidates(void) {
    OK(open_app("modules: { notes: notes.py }\n"
                "components:\n"
                "  a.loud: { type: Loud }\n"
                "  a.hears: { type: Plugged, properties: { thing: { $all: Loud, added: plug, removed: unplug } } }\n", E));
    CHECK_TEXT(said("a.hears", NULL, 0), "[ $a.loud ]");
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.late", .type_name = "Loud",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    CHECK_TEXT(said("a.hears", NULL, 0), "[ $a.loud ] plug( $a.late )");
    OK(invivo_app_close(app, E));
    refused("modules: { notes: notes.py }\ncomponents:\n  a.x: { type: Plugged, properties: { thing: { $all: Loud, added: plug } } }\n",
            "app.yaml:3:46: components.a.x.properties.thing: 'added' needs 'removed' beside it\n");
    refused("modules: { notes: notes.py }\ncomponents:\n"
            "  a.x: { type: Plugged, properties: { thing: { $all: Loud, added: plug, removed: unplg } } }\n",
            "app.yaml:3:3: a.x: Plugged has no method 'unplg'; did you mean 'unplug'?\n");
}

/* The object of a key. */
static uint64_t object_of(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    OK(invivo_object_release(object));
    return object.bits;
}
static void a_component_declares_how_it_follows_changes(void) {
    OK(open_app("modules: { notes: notes.py }\n"
                "components:\n"
                "  a.loud: { type: Loud }\n"
                "  a.port: { type: Plugged }\n"
                "  a.keeps: { type: Note, init: [{ $key: a.loud, on_change: keep }] }\n"
                "  a.whole: { type: Note, on_change: keep, init: [$a.loud] }\n"
                "  a.mixed: { type: Note, on_change: keep, init: [{ $key: a.loud, on_change: follow }] }\n"
                "  a.busy: { type: Note, on_change: refuse, on_change_reason: it records, init: [$a.port] }\n", E));
    uint64_t keeps = object_of("a.keeps"), whole = object_of("a.whole"), mixed = object_of("a.mixed"), busy = object_of("a.busy");
    invivo_definition next = {.struct_size = sizeof next, .key = "a.loud", .type_name = "Loud", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .rank = 1};
    OK(invivo_define(runtime, &next, NULL, E));
    CHECK_EQUAL(object_of("a.keeps"), keeps);
    CHECK_EQUAL(object_of("a.whole"), whole);
    CHECK(object_of("a.mixed") != mixed);
    next.key = "a.port", next.type_name = "Plugged";
    expects_error(invivo_define(runtime, &next, NULL, E), INVIVO_E_REFUSED, NULL);
    CHECK_EQUAL(object_of("a.busy"), busy);
    OK(invivo_app_close(app, E));
    refused("modules: { notes: notes.py }\ncomponents:\n  a.x: { type: Note, on_change: keeps }\n",
            "app.yaml:3:33: components.a.x.on_change: expected 'follow', 'keep', 'rebuild' or 'refuse', found the string 'keeps'\n");
    refused("modules: { notes: notes.py }\ncomponents:\n  a.y: { type: Loud }\n  a.x: { type: Note, init: [[{ $key: a.y, on_change: keep }]] }\n",
            "app.yaml:4:30: components.a.x.init[0][0]: on_change is for an injection as a whole, not for an item of it: write it at "
            "the outer one\n");
    refused("modules: { notes: notes.py }\ncomponents:\n  a.y: { type: Loud }\n"
            "  a.x: { type: Note, init: [{ $provider: { $key: a.y, on_change: keep } }] }\n",
            "app.yaml:4:42: components.a.x.init[0].$provider: on_change is for an injection as a whole, not for an item of it: write it "
            "at the outer one\n");
}

static void a_component_may_be_inline(void) {
    const invivo_value sixty = invivo_int64(60);
    OK(open_app("modules: { notes: notes.py }\n"
                "components:\n"
                "  a.holder:\n"
                "    type: Note\n"
                "    scope: prototype\n"
                "    parameters: [note]\n"
                "    init: [{ $new: { type: Plugged, scope: graph, init: [{ $argument: 0 }, { $new: { type: Plugged } }] } }]\n"
                "    properties: { thing: [{ $new: { type: Plugged, init: [seven] } }], other: { $provider: { $new: { type: Plugged } } } }\n"
                "    methods: [{ tell: [1, { $new: { type: Plugged } }] }]\n"
                "  a.choice: { choose: { $new: { type: Plugged } }, options: [{ kind: Loud, use: $a.all }, { otherwise: { $new: { type: Plugged, init: [nine] } } }] }\n"
                "  a.left: { type: Note, scope: prototype, parameters: [note, { name: by, kind: int64, default: 7 }], init: [{ $argument: 0 }, { $argument: 1 }] }\n"
                "  a.all: { type: Note, init: [{ $all: Plugged }] }\n", E));
    CHECK_TEXT(said("a.choice", NULL, 0), "'nine'");
    CHECK_TEXT(said("a.left", &sixty, 1), "60 7");
    CHECK_TEXT(said("a.choice.1", NULL, 0), "'nine'");
    CHECK_TEXT(said("a.choice.chooser", NULL, 0), "");
    CHECK_TEXT(said("a.holder", &sixty, 1), "$a.holder.0 [ $a.holder.thing.0 ] call tell( 1 $a.holder.tell.1 )");
    CHECK_TEXT(said("a.holder.0", &sixty, 1), "60 $a.holder.0.1");
    CHECK_TEXT(said("a.holder.thing.0", NULL, 0), "'seven'");
    CHECK_TEXT(said("a.all", NULL, 0), "[ ]"); /* not found by type */
    OK(invivo_app_close(app, E));
    refused("modules: { notes: notes.py }\ncomponents:\n  a.x: { type: Note, properties: { thing: { $new: { type: Nota, init: [1] } } } }\n"
            "  a.y: { type: Note, init: [{ $new: { type: Note, inti: [1] } }, { $new: 5 }] }\n",
            "app.yaml:4:51: components.a.y.init[0].$new: unknown key 'inti'; did you mean 'init'?\n"
            "app.yaml:4:74: components.a.y.init[1].$new: expected a map such as '{ type: Oscillator }', found the integer 5\n");
    refused("modules: { notes: notes.py }\ncomponents:\n  a.x: { type: Note, properties: { thing: { $new: { type: Nota, init: [1] } } } }\n",
            "app.yaml:3:59: components.a.x.properties.thing.$new: no type 'Nota' is registered; did you mean 'Note'?\n");
}

static void a_component_refers_weakly_to_others(void) {
    OK(open_app("modules: { notes: notes.py }\n"
                "components:\n"
                "  a.held: { type: Loud, scope: weak-singleton, parameters: [note], init: [{ $argument: 0 }] }\n"
                "  a.holder: { type: Note, properties: { thing: { $weak: { $key: a.held, arguments: [60] } }, other: { $weak: { $key: a.none, optional: true } } } }\n",
                E));
    CHECK_TEXT(said("a.holder", NULL, 0), "call null");
    invivo_object holder, held;
    invivo_key key;
    void *instance;
    invivo_value found = invivo_null(), sixty = invivo_int64(60);
    OK(invivo_resolve_name(runtime, "a.holder", &holder, E));
    OK(invivo_object_instance(holder, (invivo_type){0}, &instance, E));
    OK(invivo_callable_call(((note *)instance)->call, NULL, 0, &found, E));
    CHECK_EQUAL(found.kind, INVIVO_KIND_NULL);
    OK(invivo_key_find(runtime, "a.held", &key, E));
    OK(invivo_resolve_with(runtime, key, &sixty, 1, &held, E));
    OK(invivo_callable_call(((note *)instance)->call, NULL, 0, &found, E));
    CHECK(found.kind == INVIVO_KIND_OBJECT && found.as.object.bits == held.bits);
    invivo_value_clear(&found);
    OK(invivo_object_release(held));
    OK(invivo_callable_call(((note *)instance)->call, NULL, 0, &found, E));
    CHECK_EQUAL(found.kind, INVIVO_KIND_NULL);
    OK(invivo_object_release(holder));
    OK(invivo_app_close(app, E));
    refused("modules: { notes: notes.py }\ncomponents:\n  a.y: { type: Loud, scope: prototype }\n"
            "  a.x: { type: Note, properties: { thing: { $weak: $a.y } } }\n",
            "app.yaml:4:3: a.x: the property 'thing' is a weak reference to 'a.y', which has the scope 'prototype': it never finds an "
            "instance; use a provider, which creates one, or give it a scope that keeps one\n");
}

static void components_decorate_others(void) {
    OK(open_app("modules: { notes: notes.py }\n"
                "components:\n"
                "  a.one: { type: Note, init: [one] }\n"
                "  a.two: { type: Note, init: [two] }\n"
                "  a.maker: { type: Loud }\n"
                "  a.first: { type: Note, scope: prototype, parameters: [inner], init: [first, { $argument: 0 }] }\n"
                "  a.second: { type: Note, scope: prototype, parameters: [inner], init: [second, { $argument: 0 }] }\n"
                "decorators:\n"
                "  outer: { component: a.second, key: a.two, priority: 5 }\n"
                "  inner: { component: $a.first, key: $a.two }\n"
                "  by-method: { component: a.maker, method: make, key: a.one, type: Note }\n", E));
    CHECK_TEXT(said("a.two", NULL, 0), "'second' $a.first");
    CHECK_TEXT(said("a.one", NULL, 0), "$a.one");
    OK(invivo_app_close(app, E));
    refused("modules: { notes: notes.py }\ncomponents:\n  a.one: { type: Note }\n  a.maker: { type: Note }\ndecorators:\n  x: { component: a.makr }\n"
            "  y: { component: a.maker, method: mak }\n",
            "app.yaml:6:3: a.makr: the processor 'x' needs 'a.makr', which is not defined; did you mean 'a.maker'?\n"
            "app.yaml:7:3: a.maker: the processor 'y' calls a method of 'a.maker': Note has no method 'mak'; did you mean 'make'?\n");
    refused("modules: { notes: notes.py }\ncomponents:\n  a.one: { type: Note }\ndecorators:\n  x: { component: a.one, key: a.on }\n",
            "app.yaml:5:3: a.on: the processor 'x': no definition has the key 'a.on'; did you mean 'a.one'?\n");
    refused("decorators:\n  x: { method: make }\n  y: { component: a.one, priority: high, tpye: Note }\n",
            "app.yaml:2:3: decorators.x: the key 'component' is missing; it names the component that decorates\n"
            "app.yaml:3:36: decorators.y.priority: expected a priority such as 10, found the string 'high'\n"
            "app.yaml:3:42: decorators.y: unknown key 'tpye'; did you mean 'type'?\n");
}

static void a_start_reports_errors_of_components_and_traits(void) {
    write_text("tuning.yaml", "config: { a: { name: bass } }\ntraits: { a.x: [Set: { levl: 1 }], a.none: [Set: { a: 1 }] }\n");
    invivo_error *error = NULL;
    CHECK(open_app("modules: { notes: notes.py }\nspecs: [tuning.yaml]\ncomponents:\n"
                   "  a.x: { type: Note, properties: { level: $config.name } }\n", &error) != INVIVO_OK);
    CHECK_EQUAL(invivo_error_count(error), 3);
    CHECK(error && strstr(invivo_error_text(error), "levl") &&
          strstr(invivo_error_text(error), "no target has the key 'a.none'"));
    invivo_error_release(error);
    write_text("tuning.yaml", "config: { a: { name: bass } }\n");
}

static void errors_have_their_locations(void) {
    refused("modules: { notes: notes.py }\ncomponents:\n  a.x: { type: Note, init: [$config.none] }\n",
            "app.yaml:3:3: a.x: initializer parameter 'a' needs the configuration 'none', which is not set: looked for 'a.none', then "
            "'global.none'\n");
    refused("modules: { notes: notes.py }\nconfig:\n  a: { level: high }\ncomponents:\n  a.x: { type: Note, properties: { level: $config.level } }\n",
            "app.yaml:3:15: config.a.level: the property 'level' of 'a.x': expected a number at character 1 of 'high'\n");
    refused("components:\n  config.x: { type: Note }\n  a.x: { type: Note, init: [{ $confg: x }, { $path: y }, { $type: T, optinal: true }, { $argument: -1 }] }\n"
            "  a.y: { choose: 1 }\n  a.z: { type: Note, rank: high, hidden: maybe, methods: [{ a: 1, b: 2 }], parameters: [{ nam: x }] }\n",
            "app.yaml:2:3: components.config.x: the assembly name 'config' is taken: '$config.x' is a value of the configuration\n"
            "app.yaml:3:31: components.a.x.init[0]: unknown form '$confg'; did you mean '$config'?; double the dollar sign of a key "
            "that begins with one\n"
            "app.yaml:3:44: components.a.x.init[1]: the key 'of' is missing; it says whose property it is\n"
            "app.yaml:3:70: components.a.x.init[2]: unknown key 'optinal' beside '$type'; did you mean 'optional'?\n"
            "app.yaml:3:100: components.a.x.init[3].$argument: expected the number of a runtime argument, from 0, found the integer -1\n"
            "app.yaml:4:18: components.a.y.choose: a choice needs 'options'\n"
            "app.yaml:5:28: components.a.z.rank: expected a rank such as 10, found the string 'high'\n"
            "app.yaml:5:42: components.a.z.hidden: expected true, false, 'class' or 'interface', found the string 'maybe'\n"
            "app.yaml:5:59: components.a.z.methods[0]: expected the name of a method, or one with its arguments such as 'play: [60]', "
            "found a map\n"
            "app.yaml:5:89: components.a.z.parameters[0]: the key 'name' is missing\n"
            "app.yaml:5:91: components.a.z.parameters[0]: unknown key 'nam'; did you mean 'name'?\n");
    /* Beside an unknown type, all independent errors are reported. */
    refused("modules: { notes: notes.py }\ncomponents:\n  a.x: { type: Nota }\n  a.child: { parent: a.x }\n  a.y: { alias: a.z }\n"
            "  a.v: { parent: a.w }\n  a.c: { choose: level, options: [{ when: level, use: $a.k }] }\n  a.n: { type: Note, init: [$config.none] }\n",
            "app.yaml:3:16: components.a.x: no type 'Nota' is registered; did you mean 'Note'?\n"
            "app.yaml:5:3: a.y: the alias needs 'a.z', which is not defined; did you mean 'a.c'?\n"
            "app.yaml:6:3: a.v: the parent 'a.w' is not defined; did you mean 'a.c'?\n"
            "app.yaml:7:3: a.c: option 0 needs 'a.k', which is not defined; did you mean 'a.n'?\n"
            "app.yaml:8:3: a.n: initializer parameter 'a' needs the configuration 'none', which is not set: looked for 'a.none', then "
            "'global.none'\n");
}

/* A missing dollar sign is recognized first: the error has the value's source location and a suggestion. */
static void a_missing_dollar_sign_is_an_error(void) {
    refused("modules: { notes: notes.py }\ncomponents:\n  a.one: { type: Note }\n  a.keep: { type: Keep, init: [a.one] }\n",
            "app.yaml:4:32: components.a.keep.init[0]: expected an object, got the string 'a.one', which is a key: write $a.one\n");
    refused("modules: { notes: notes.py }\ncomponents:\n  a.one: { type: Note }\n  a.keep: { type: Keep, init: [a.on] }\n",
            "app.yaml:4:3: a.keep: initializer parameter 'a': expected an object of 'Note', got 'a.on' (a string): no converter is "
            "named 'Note', and an object is given by its key\n");
}

int main(void) {
    check_directory();
    check_begin();
    write_text("tuning.yaml", "config: { a: { name: bass } }\n");
    RUN_TEST(all_data_can_be_declared);
    RUN_TEST(a_component_is_notified_of_candidates);
    RUN_TEST(a_component_declares_how_it_follows_changes);
    RUN_TEST(a_component_may_be_inline);
    RUN_TEST(a_component_refers_weakly_to_others);
    RUN_TEST(components_decorate_others);
    RUN_TEST(a_start_reports_errors_of_components_and_traits);
    RUN_TEST(errors_have_their_locations);
    RUN_TEST(a_missing_dollar_sign_is_an_error);
    return check_end();
}
