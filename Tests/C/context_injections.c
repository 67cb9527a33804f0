/* Injected values of contexts: lookups, defaults, the check of the wiring, reloads, and their notation in manifests.
 * docs/rules/contexts.md. */
/* sanitize: yes */
#include "check.h"

/* An object that keeps what it receives. */
typedef struct note {
    char said[128]; /* the arguments of its initializer */
    char user[32];
    int64_t level;
} note;

static invivo_runtime runtime;
static invivo_app app;
static const invivo_context nowhere;
static int live;

/* The call fails with this code, and its text contains `part`. */
#define refuses(call, code, part) refuses_(__LINE__, #call, (check_error = NULL, (call)), code, part)
static void refuses_(int line, const char *call, invivo_status status, invivo_status code, const char *part) {
    if (status != code || !strstr(invivo_error_text(check_error), part))
        check_failed(__FILE__, line, "%s answers %s, and says\n    %s\nexpected %s with\n    %s", call, invivo_status_name(status),
                     invivo_error_text(check_error), invivo_status_name(code), part);
    invivo_error_release(check_error);
    check_error = NULL;
}

static void say_value(char *said, size_t size, const invivo_value *value) {
    size_t length = strlen(said);
    switch (value->kind) {
    case INVIVO_KIND_NULL: snprintf(said + length, size - length, "null "); break;
    case INVIVO_KIND_INT64: snprintf(said + length, size - length, "%lld ", (long long)value->as.signed_integer); break;
    case INVIVO_KIND_STRING: snprintf(said + length, size - length, "'%s' ", value->as.string.data); break;
    case INVIVO_KIND_OBJECT: snprintf(said + length, size - length, "object "); break;
    case INVIVO_KIND_LIST:
        for (uint64_t i = 0; i < value->as.list.count; i++) say_value(said, size, &value->as.list.items[i]);
        break;
    default: snprintf(said + length, size - length, "kind %u ", value->kind);
    }
}
static invivo_status note_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    note *self = instance;
    live++;
    for (size_t i = 0; i < count; i++) say_value(self->said, sizeof self->said, &arguments[i]);
    size_t length = strlen(self->said);
    if (length) self->said[length - 1] = 0;
    return INVIVO_OK;
}
static void note_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    live--;
}
static invivo_status get_user(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_string(((note *)instance)->user);
    return INVIVO_OK;
}
static invivo_status set_user(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    snprintf(((note *)instance)->user, sizeof ((note *)instance)->user, "%s", value->as.string.data);
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
static invivo_status set_thing(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)value, (void)error;
    return INVIVO_OK;
}
static invivo_status get_thing(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static const invivo_parameter any[] = {{.name = "a", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                                       {.name = "b", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_parameter number[] = {{.name = "size", .kind = INVIVO_KIND_INT64}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "user", .kind = INVIVO_KIND_STRING, .get = get_user, .set = set_user},
    {.struct_size = sizeof(invivo_property), .name = "level", .kind = INVIVO_KIND_INT64, .get = get_level, .set = set_level},
    {.struct_size = sizeof(invivo_property), .name = "thing", .kind = INVIVO_KIND_OBJECT, .get = get_thing, .set = set_thing},
};
static invivo_status register_types(invivo_runtime into, invivo_error **error) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Note", .concurrency = INVIVO_SHARED, .size = sizeof(note),
                                   .alignment = 8, .init = note_init, .deinit = note_deinit, .parameters = any, .parameter_count = 2,
                                   .properties = properties, .property_count = 3};
    invivo_status status = invivo_type_register(into, &options, NULL, error);
    options.name = "Number", options.parameters = number, options.parameter_count = 1;
    if (!status) status = invivo_type_register(into, &options, NULL, error);
    /* Only objects of a domain are changed in place by reloads. */
    options.name = "Main", options.parameters = any, options.parameter_count = 2, options.concurrency = INVIVO_CONFINED;
    return status ? status : invivo_type_register(into, &options, NULL, error);
}
static void open_runtime(void) {
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(register_types(runtime, E));
    const invivo_context_provided of_session[] = {{.key = "user"}}, of_request[] = {{.key = "path", .flags = INVIVO_PROVIDED_LIVE}};
    const invivo_context_kind kinds[] = {
        {.struct_size = sizeof kinds[0], .name = "session", .policy = INVIVO_CONTEXT_FOLLOWS, .provides = of_session, .provided_count = 1},
        {.struct_size = sizeof kinds[0], .name = "request", .policy = INVIVO_CONTEXT_FOLLOWS, .provides = of_request, .provided_count = 1}};
    OK(invivo_context_declare_kinds(runtime, kinds, 2, E));
}
static void close_runtime(void) { OK(invivo_runtime_close(runtime, E)); }

static invivo_key key_named(const char *name) {
    invivo_key key;
    OK(invivo_key_intern(runtime, name, &key, E));
    return key;
}
/* A context with one string. */
static invivo_context open_with(const char *kind, invivo_context parent, const char *key, const char *text) {
    invivo_context context;
    invivo_context_value value = {.key = key ? key_named(key) : (invivo_key){0}, .value = text ? invivo_string(text) : invivo_null()};
    invivo_context_options options = {.struct_size = sizeof options, .kind = kind, .parent = parent, .values = &value,
                                      .value_count = key ? 1 : 0, .flags = parent.bits ? 0 : INVIVO_CONTEXT_DETACHED};
    OK(invivo_context_open(runtime, &options, &context, E));
    return context;
}

static invivo_injection value_of(const char *key, const char *kind, uint32_t flags, const invivo_injection *other) {
    return (invivo_injection){.how = INVIVO_INJECT_CONTEXT, .reference = key, .value = kind ? invivo_string(kind) : invivo_null(),
                              .flags = flags, .items = other, .item_count = other ? 1 : 0};
}
/* A definition whose initializer receives `one`, and another key if it is not NULL. */
static invivo_status try_define(const char *key, const char *type, uint32_t scope, const char *kind, invivo_injection one,
                                const char *other, invivo_error **error) {
    invivo_injection injections[] = {one, {.how = INVIVO_INJECT_REFERENCE, .reference = other}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type_name = type, .scope = scope, .scope_name = kind,
                                    .initializer = injections, .initializer_count = other ? 2 : 1};
    return invivo_define(runtime, &definition, NULL, error);
}
static void define(const char *key, uint32_t scope, const char *kind, invivo_injection one) {
    OK(try_define(key, "Note", scope, kind, one, NULL, E));
}
/* The arguments of the object of a key in a context, and its properties after "|" if it has any. */
static const char *said(invivo_context context, const char *key) {
    static char text[200];
    invivo_object object;
    void *instance;
    snprintf(text, sizeof text, "nothing");
    if (!OK(invivo_context_resolve(context, key_named(key), &object, E))) return text;
    if (OK(invivo_object_instance(object, (invivo_type){0}, &instance, E))) {
        note *self = instance;
        snprintf(text, sizeof text, "%s", self->said);
        if (self->user[0]) snprintf(text + strlen(text), sizeof text - strlen(text), "|%s", self->user);
        if (self->level) snprintf(text + strlen(text), sizeof text - strlen(text), "|%lld", (long long)self->level);
    }
    OK(invivo_object_release(object));
    return text;
}

/* ---- lookups ---------------------------------------------------------------------------------------------- */

static void a_value_is_looked_up_from_the_context_of_the_object(void) {
    open_runtime();
    define("handler", INVIVO_SCOPE_CONTEXT, "request", value_of("user", NULL, 0, NULL));
    define("login", INVIVO_SCOPE_CONTEXT, "session", value_of("user", NULL, 0, NULL));
    define("owner", INVIVO_SCOPE_CONTEXT, "request", value_of("user", "session", 0, NULL));
    define("each", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("path", NULL, 0, NULL));
    define("view", INVIVO_SCOPE_CONTEXT, NULL, value_of("path", NULL, 0, NULL));
    invivo_context session = open_with("session", nowhere, "user", "ann"), request = open_with("request", session, "path", "/a");
    invivo_value other = invivo_string("bob");
    CHECK_TEXT(said(request, "handler"), "'ann'");
    invivo_context second = open_with("request", session, "path", "/b"), inner = open_with(NULL, second, "path", "/c");
    OK(invivo_context_set(second, key_named("user"), &other, E));
    CHECK_TEXT(said(second, "handler"), "'bob'");
    CHECK_TEXT(said(second, "owner"), "'ann'"); /* begins in the session */
    CHECK_TEXT(said(second, "login"), "'ann'"); /* lives in the session */
    CHECK_TEXT(said(second, "each"), "'/b'");
    CHECK_TEXT(said(inner, "each"), "'/c'");
    CHECK_TEXT(said(inner, "view"), "'/c'");
    OK(invivo_context_end(session, E));
    OK(invivo_context_release(inner, NULL));
    close_runtime();
}

static void a_missing_value_has_the_default_of_the_injection(void) {
    open_runtime();
    const invivo_injection guest = {.how = INVIVO_INJECT_VALUE, .value = invivo_string("guest")};
    define("needed", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("name", NULL, 0, NULL));
    define("usual", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("name", NULL, 0, &guest));
    define("optional", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("name", NULL, INVIVO_INJECT_OPTIONAL, NULL));
    define("outer", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("name", "session", 0, NULL));
    define("usual outer", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("name", "session", 0, &guest));
    invivo_context top = open_with(NULL, nowhere, "name", "ann"), low = open_with(NULL, top, NULL, NULL);
    invivo_object object;
    CHECK_TEXT(said(low, "usual"), "'ann'");
    CHECK_TEXT(said(low, "optional"), "'ann'");
    refuses(invivo_context_resolve(low, key_named("outer"), &object, E), INVIVO_E_NOT_READY,
            "the context (in a context without a kind) is in no context of the kind 'session'");
    CHECK_TEXT(said(low, "usual outer"), "'guest'"); /* without a context of the kind there is no value */
    OK(invivo_context_hide(low, key_named("name"), E));
    CHECK_TEXT(said(low, "usual"), "'guest'");
    CHECK_TEXT(said(low, "optional"), "null");
    refuses(invivo_context_resolve(low, key_named("needed"), &object, E), INVIVO_E_NOT_FOUND,
            "'needed' receives the value 'name' of a context, and the context (in a context without a kind) has none");
    OK(invivo_context_remove(low, key_named("name"), E));
    CHECK_TEXT(said(low, "needed"), "'ann'");
    /* The default of a declared key. */
    invivo_value initial = invivo_string("nobody");
    invivo_context_key declared = {.struct_size = sizeof declared, .name = "nick", .kind = INVIVO_KIND_STRING, .initial = &initial};
    OK(invivo_context_declare_key(runtime, &declared, E));
    define("nick", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("nick", NULL, 0, NULL));
    CHECK_TEXT(said(low, "nick"), "'nobody'");
    /* No context at all. */
    refuses(invivo_resolve(runtime, key_named("needed"), &object, E), INVIVO_E_NOT_READY,
            "'needed' receives the value 'name' of a context, and is created in no context: resolve it in one, or enter one");
    refuses(invivo_resolve(runtime, key_named("usual"), &object, E), INVIVO_E_NOT_READY, "is created in no context");
    OK(invivo_context_end(low, E));
    OK(invivo_context_end(top, E));
    close_runtime();
}

static void a_value_is_converted_and_checked_as_any_other(void) {
    open_runtime();
    OK(try_define("number", "Number", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("size", NULL, 0, NULL), NULL, E));
    const invivo_injection wrong = {.how = INVIVO_INJECT_VALUE, .value = invivo_string("many")};
    refuses(try_define("other", "Number", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("size", NULL, 0, &wrong), NULL, E), INVIVO_E_TYPE,
            "'size'");
    refuses(try_define("other", "Number", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("size", NULL, INVIVO_INJECT_OPTIONAL, NULL), NULL, E),
            INVIVO_E_NULL, "'size'");
    refuses(try_define("other", "Note", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("", NULL, 0, NULL), NULL, E), INVIVO_E_ARGUMENT,
            "a key of contexts has a name");
    invivo_injection level = value_of("size", NULL, 0, NULL);
    level.name = "level";
    invivo_definition definition = {.struct_size = sizeof definition, .key = "level", .type_name = "Note",
                                    .scope = INVIVO_SCOPE_PROTOTYPE, .properties = &level, .property_count = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_context context = open_with(NULL, nowhere, NULL, NULL);
    invivo_value value = invivo_double(12);
    OK(invivo_context_set(context, key_named("size"), &value, E));
    CHECK_TEXT(said(context, "number"), "12");
    CHECK_TEXT(said(context, "level"), "|12");
    value = invivo_double(1.5);
    OK(invivo_context_set(context, key_named("size"), &value, E));
    invivo_object object;
    refuses(invivo_context_resolve(context, key_named("number"), &object, E), INVIVO_E_RANGE, "size");
    refuses(invivo_context_resolve(context, key_named("level"), &object, E), INVIVO_E_RANGE, "level");
    /* An object is leased by its holder. */
    define("thing", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("usual", NULL, INVIVO_INJECT_OPTIONAL, NULL));
    define("holder", INVIVO_SCOPE_CONTEXT, NULL, value_of("thing", NULL, 0, NULL));
    OK(invivo_context_resolve(context, key_named("thing"), &object, E));
    value = invivo_object_value(object);
    OK(invivo_context_set(context, key_named("thing"), &value, E));
    CHECK_TEXT(said(context, "holder"), "object");
    OK(invivo_context_remove(context, key_named("thing"), E));
    OK(invivo_object_release(object));
    invivo_object held;
    OK(invivo_context_resolve(context, key_named("holder"), &held, E));
    CHECK_EQUAL(live, 2);
    OK(invivo_object_release(held));
    OK(invivo_context_end(context, E));
    CHECK_EQUAL(live, 0);
    close_runtime();
}

/* ---- the check -------------------------------------------------------------------------------------------- */

static void values_out_of_reach_are_errors_of_the_wiring(void) {
    open_runtime();
    const invivo_injection guest = {.how = INVIVO_INJECT_VALUE, .value = invivo_string("guest")};
    const invivo_injection name = value_of("name", NULL, 0, NULL), path = value_of("path", NULL, 0, NULL);
    /* No kind provides it. */
    refuses(try_define("handler", "Note", INVIVO_SCOPE_CONTEXT, "request", name, NULL, E), INVIVO_E_NOT_FOUND,
            "'handler' (context(request)) receives the value 'name' of a context, and neither the kind 'request' nor an outer one "
            "provides it: declare it for one of them, or give a default");
    /* Only an inner kind does. */
    refuses(try_define("login", "Note", INVIVO_SCOPE_CONTEXT, "session", path, NULL, E), INVIVO_E_NOT_FOUND,
            "neither the kind 'session' nor an outer one provides it");
    refuses(try_define("login", "Note", INVIVO_SCOPE_CONTEXT, "session", value_of("path", "request", 0, &guest), NULL, E), INVIVO_E_CAPTIVE,
            "contexts of the kind 'request' are inside of those of the kind 'session', in which the object lives: name 'session' or an outer kind");
    refuses(try_define("handler", "Note", INVIVO_SCOPE_CONTEXT, "request", value_of("path", "session", 0, NULL), NULL, E), INVIVO_E_NOT_FOUND,
            "receives the value 'path' of a context of the kind 'session', and neither the kind 'session' nor an outer one provides it");
    refuses(try_define("handler", "Note", INVIVO_SCOPE_CONTEXT, "request", value_of("path", "sesion", 0, NULL), NULL, E), INVIVO_E_NOT_FOUND,
            "no kind of contexts 'sesion' is declared; did you mean 'session'?");
    /* A default of the injection or of the key, or an optional value. */
    define("default", INVIVO_SCOPE_CONTEXT, "session", value_of("path", NULL, 0, &guest));
    define("optional", INVIVO_SCOPE_CONTEXT, "session", value_of("path", NULL, INVIVO_INJECT_OPTIONAL, NULL));
    invivo_value initial = invivo_string("nobody");
    invivo_context_key declared = {.struct_size = sizeof declared, .name = "nick", .kind = INVIVO_KIND_STRING, .initial = &initial};
    OK(invivo_context_declare_key(runtime, &declared, E));
    define("declared", INVIVO_SCOPE_CONTEXT, "session", value_of("nick", NULL, 0, NULL));
    /* Objects in no context. */
    const uint32_t outside[] = {INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON, INVIVO_SCOPE_THREAD};
    for (int i = 0; i < 4; i++)
        refuses(try_define("pool", "Note", outside[i], NULL, value_of("user", NULL, 0, &guest), NULL, E), INVIVO_E_CAPTIVE,
                "it lives in no context: inject a provider of an object of a context that receives the value, or declare the scope 'context'");
    /* Through objects that are created for the holder alone. */
    define("part", INVIVO_SCOPE_PROTOTYPE, NULL, path);
    OK(try_define("whole", "Note", INVIVO_SCOPE_GRAPH, NULL, guest, "part", E));
    refuses(try_define("pool", "Note", INVIVO_SCOPE_LAZY_SINGLETON, NULL, guest, "whole", E), INVIVO_E_CAPTIVE,
            "'pool' (lazy singleton) receives the value 'path' of a context (pool -> whole -> part), and it lives in no context");
    refuses(try_define("login", "Note", INVIVO_SCOPE_CONTEXT, "session", guest, "whole", E), INVIVO_E_NOT_FOUND, "(login -> whole -> part)");
    OK(try_define("handler", "Note", INVIVO_SCOPE_CONTEXT, "request", guest, "whole", E));
    /* A later change of the part. */
    refuses(try_define("part", "Note", INVIVO_SCOPE_PROTOTYPE, NULL, name, NULL, E), INVIVO_E_NOT_FOUND, "(handler -> whole -> part)");
    /* A provider holds nothing, and a kind is not known for objects of any context. */
    const invivo_injection reference = {.how = INVIVO_INJECT_REFERENCE, .reference = "part"};
    OK(try_define("pool", "Note", INVIVO_SCOPE_LAZY_SINGLETON, NULL,
                  (invivo_injection){.how = INVIVO_INJECT_PROVIDER, .items = &reference, .item_count = 1}, NULL, E));
    define("any", INVIVO_SCOPE_CONTEXT, NULL, name);
    const invivo_injection provider = {.how = INVIVO_INJECT_PROVIDER, .items = &path, .item_count = 1};
    refuses(try_define("late", "Note", INVIVO_SCOPE_PROTOTYPE, NULL, provider, NULL, E), INVIVO_E_ARGUMENT, "a provider resolves a key or a type");
    close_runtime();
}

/* ---- reloads ---------------------------------------------------------------------------------------------- */

static void a_reload_looks_up_values_from_the_context_of_the_holder(void) {
    open_runtime();
    define("part", INVIVO_SCOPE_CONTEXT, NULL, value_of("user", NULL, 0, NULL));
    invivo_injection injected[] = {value_of("user", NULL, 0, NULL)};
    injected[0].name = "user";
    invivo_definition login = {.struct_size = sizeof login, .key = "login", .type_name = "Main", .scope = INVIVO_SCOPE_CONTEXT,
                               .scope_name = "session", .properties = injected, .property_count = 1};
    OK(invivo_define(runtime, &login, NULL, E));
    invivo_context session = open_with("session", nowhere, "user", "ann"), request = open_with("request", session, "path", "/a");
    invivo_value other = invivo_string("bob");
    OK(invivo_context_set(request, key_named("user"), &other, E));
    CHECK_TEXT(said(request, "login"), "|ann");
    invivo_object former, next;
    OK(invivo_context_resolve(request, key_named("login"), &former, E));
    /* In place, and by another object. */
    injected[0] = value_of("user", "session", 0, NULL);
    injected[0].name = "user";
    OK(invivo_context_enter(request, E));
    OK(invivo_define(runtime, &login, NULL, E));
    CHECK_TEXT(said(request, "login"), "|ann");
    const invivo_injection text = {.how = INVIVO_INJECT_VALUE, .value = invivo_string("second")};
    login.initializer = &text, login.initializer_count = 1;
    OK(invivo_define(runtime, &login, NULL, E));
    CHECK_TEXT(said(request, "login"), "'second'|ann");
    OK(invivo_context_resolve(request, key_named("login"), &next, E));
    CHECK(former.bits != next.bits);
    OK(invivo_object_release(next));
    OK(invivo_object_release(former));
    OK(invivo_context_leave(request, E));
    OK(invivo_context_end(session, E));
    close_runtime();
}

static void a_reload_creates_objects_in_their_own_contexts(void) {
    open_runtime();
    define("part", INVIVO_SCOPE_CONTEXT, NULL, value_of("user", NULL, 0, NULL));
    const invivo_injection one = {.how = INVIVO_INJECT_REFERENCE, .reference = "part"};
    define("login", INVIVO_SCOPE_CONTEXT, "session", one);
    const invivo_injection text = {.how = INVIVO_INJECT_VALUE, .value = invivo_string("simple")};
    define("simple", INVIVO_SCOPE_CONTEXT, "session", text);
    invivo_definition target = {.struct_size = sizeof target, .key = "target", .alias = "simple"};
    OK(invivo_define(runtime, &target, NULL, E));
    const invivo_injection thing = {.name = "thing", .how = INVIVO_INJECT_REFERENCE, .reference = "target"};
    invivo_definition handler = {.struct_size = sizeof handler, .key = "handler", .type_name = "Main", .scope = INVIVO_SCOPE_CONTEXT,
                                 .scope_name = "request", .properties = &thing, .property_count = 1};
    OK(invivo_define(runtime, &handler, NULL, E));
    invivo_context session = open_with("session", nowhere, "user", "ann"), request = open_with("request", session, "path", "/a");
    CHECK_TEXT(said(request, "handler"), "");
    CHECK_EQUAL(live, 2);
    target.alias = "login";
    OK(invivo_define(runtime, &target, NULL, E));
    CHECK_EQUAL(live, 4);
    /* The part of the login is that of the session. */
    CHECK_TEXT(said(session, "part"), "'ann'");
    CHECK_EQUAL(live, 4);
    OK(invivo_context_end(session, E));
    CHECK_EQUAL(live, 0);
    close_runtime();
}

static void a_changed_definition_receives_another_value(void) {
    open_runtime();
    define("handler", INVIVO_SCOPE_CONTEXT, "request", value_of("user", "session", 0, NULL));
    define("handler", INVIVO_SCOPE_CONTEXT, "request", value_of("user", "session", 0, NULL)); /* the same */
    define("handler", INVIVO_SCOPE_CONTEXT, "request", value_of("user", NULL, 0, NULL));
    define("handler", INVIVO_SCOPE_CONTEXT, "request", value_of("path", NULL, 0, NULL));
    invivo_context session = open_with("session", nowhere, "user", "ann"), request = open_with("request", session, "path", "/a");
    CHECK_TEXT(said(request, "handler"), "'/a'");
    define("handler", INVIVO_SCOPE_CONTEXT, "request", value_of("user", NULL, 0, NULL));
    CHECK_TEXT(said(request, "handler"), "'ann'");
    invivo_value outline;
    define("each", INVIVO_SCOPE_PROTOTYPE, NULL, value_of("user", NULL, 0, NULL));
    OK(invivo_key_outline(runtime, key_named("each"), &outline, E));
    CHECK_EQUAL(outline.kind, INVIVO_KIND_NULL);
    invivo_value_clear(&outline);
    OK(invivo_context_end(session, E));
    close_runtime();
}

/* ---- manifests -------------------------------------------------------------------------------------------- */

static invivo_status load(void *user_data, invivo_runtime into, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path;
    return register_types(into, error);
}
static invivo_status open_app(const char *text, invivo_error **error) {
    const invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    write_text("app.yaml", text);
    app = (invivo_app){0};
    invivo_status status = invivo_app_open(&app, &options, error);
    if (!status) status = invivo_app_runtime(app, &runtime, error);
    return status;
}

static void a_manifest_declares_kinds_and_injects_values(void) {
    OK(open_app("modules: { notes: notes.py }\n"
                "contexts: [{ session: follows, provides: [user] }, { request: follows, provides: [path], live: [locale] }]\n"
                "components:\n"
                "  login:   { type: Note, scope: context(session), init: [$context.user] }\n"
                "  handler: { type: Note, scope: context(request), init: { a: $context.path, b: $context(session).user },\n"
                "             properties: { user: { $context: nick, default: none }, level: { $context: size, kind: session, default: 7 } } }\n"
                "  any:     { type: Note, scope: context, init: [[$context.user, { $context: nick, optional: true }]] }\n"
                "  each:    { type: Note, scope: prototype, init: [$context.user] }\n"
                "specs: [tuning.yaml]\n", E));
    invivo_context session = open_with("session", nowhere, "user", "ann"), request;
    invivo_context_value values[] = {{.key = key_named("path"), .value = invivo_string("/a")},
                                     {.key = key_named("locale"), .value = invivo_string("fr")}};
    invivo_context_options options = {.struct_size = sizeof options, .kind = "request", .parent = session, .values = values, .value_count = 1};
    refuses(invivo_context_open(runtime, &options, &request, E), INVIVO_E_NOT_FOUND, "locale");
    options.value_count = 2;
    OK(invivo_context_open(runtime, &options, &request, E));
    invivo_value other = invivo_string("de");
    OK(invivo_context_set(request, key_named("locale"), &other, E));
    refuses(invivo_context_set(request, key_named("path"), &other, E), INVIVO_E_READ_ONLY, "path");
    CHECK_TEXT(said(request, "login"), "'ann'");
    CHECK_TEXT(said(request, "handler"), "'/a' 'ann'|none|7");
    CHECK_TEXT(said(request, "any"), "'ann' null");
    CHECK_TEXT(said(request, "each"), "'ann'");
    /* A document has given it another scope. */
    invivo_object object;
    refuses(invivo_context_resolve(session, key_named("any"), &object, E), INVIVO_E_NOT_READY, "is in no context of the kind 'request'");
    OK(invivo_context_end(session, E));
    OK(invivo_app_close(app, E));
}

static void refused(const char *text, const char *lines) {
    invivo_error *error = NULL;
    char found[4096] = "", whole[2048];
    snprintf(whole, sizeof whole, "modules: { notes: notes.py }\n%s\n", text);
    CHECK(open_app(whole, &error) != INVIVO_OK);
    for (size_t i = 0; error && i < invivo_error_count(error); i++) {
        const char *line = invivo_error_text(invivo_error_at(error, i)), *name = strstr(line, "app.yaml");
        strncat(strncat(found, name ? name : line, sizeof found - strlen(found) - 2), "\n", 2);
    }
    CHECK_TEXT(found, lines);
    invivo_error_release(error);
}

static void errors_of_a_manifest_have_their_place(void) {
    refused("contexts: { session: follows }",
            "app.yaml:2:11: contexts: expected a list of kinds of contexts, from the outermost to the innermost, such as "
            "[{ session: follows }, { request: follows }], found a map\n");
    refused("contexts:\n  - session: pinned\n  - request: folows\n  - page\n  - {}",
            "app.yaml:3:14: contexts[0].session: the policy 'pinned' is not supported yet; expected 'follows'\n"
            "app.yaml:4:14: contexts[1].request: unknown policy 'folows'; did you mean 'follows'?\n"
            "app.yaml:5:5: contexts[2]: expected a map with the name of a kind and its policy, such as "
            "'{ request: follows, provides: [user] }', found the string 'page'\n"
            "app.yaml:6:5: contexts[3]: expected a map with the name of a kind and its policy, such as "
            "'{ request: follows, provides: [user] }'\n");
    refused("contexts:\n"
            "  - { session: follows, provide: [user] }\n"
            "  - { request: follows, provides: user }\n"
            "  - { page: follows, provides: [a], live: [a] }\n"
            "  - { session: follows }\n"
            "  - { window: follows, pane: follows }",
            "app.yaml:3:25: contexts[0]: unknown key 'provide' beside the kind 'session'; did you mean 'provides'?\n"
            "app.yaml:4:35: contexts[1].provides: expected a list of keys of contexts, found the string 'user'\n"
            "app.yaml:5:44: contexts[2].live[0]: the key 'a' is listed twice\n"
            "app.yaml:6:7: contexts[3]: the kind 'session' is declared twice\n"
            "app.yaml:7:24: contexts[4]: unknown key 'pane' beside the kind 'window'; each kind is an item of the list\n");
    refused("contexts: [{ request: follows }]\ncomponents:\n"
            "  one: { type: Note, scope: prototype, init: [$context.] }\n"
            "  two: { type: Note, scope: prototype, init: [$context(request)] }\n"
            "  three: { type: Note, scope: prototype, init: [$context().user] }\n"
            "  four: { type: Note, scope: prototype, init: [{ $context: user, kinds: request }] }\n"
            "  context.user: { type: Note }",
            "app.yaml:4:47: components.one.init[0]: '$context.' is no value of a context; expected $context.KEY or $context(KIND).KEY\n"
            "app.yaml:5:47: components.two.init[0]: '$context(request)' is no value of a context; expected $context.KEY or $context(KIND).KEY\n"
            "app.yaml:6:49: components.three.init[0]: '$context().user' is no value of a context; expected $context.KEY or $context(KIND).KEY\n"
            "app.yaml:7:66: components.four.init[0]: unknown key 'kinds' beside '$context'; did you mean 'kind'?\n"
            "app.yaml:8:3: components.context.user: the assembly name 'context' is taken: '$context.user' is a value of a context\n");
    refused("contexts: [{ request: follows }]\ncomponents:\n"
            "  one: { type: Note, scope: context(reqest) }\n"
            "  two: { type: Note, scope: context(request), init: [$context.user] }\n"
            "  three: { type: Note, init: [$context.user] }\n"
            "  four: { type: Note, scope: prototype, init: [$context(page).user] }",
            "app.yaml:4:29: components.one.scope: no kind of contexts 'reqest' is declared; did you mean 'request'?\n"
            "app.yaml:7:3: four: initializer parameter 'a': no kind of contexts 'page' is declared\n"
            "app.yaml:5:3: two: 'two' (context(request)) receives the value 'user' of a context, and neither the kind 'request' nor an "
            "outer one provides it: declare it for one of them, or give a default\n"
            "app.yaml:6:3: three: 'three' (lazy singleton) receives the value 'user' of a context, and it lives in no context: inject a "
            "provider of an object of a context that receives the value, or declare the scope 'context'\n");
}

int main(void) {
    check_begin();
    check_directory();
    write_text("tuning.yaml", "wiring: { any: { scope: context(request) } }\n");
    RUN_TEST(a_value_is_looked_up_from_the_context_of_the_object);
    RUN_TEST(a_missing_value_has_the_default_of_the_injection);
    RUN_TEST(a_value_is_converted_and_checked_as_any_other);
    RUN_TEST(values_out_of_reach_are_errors_of_the_wiring);
    RUN_TEST(a_reload_looks_up_values_from_the_context_of_the_holder);
    RUN_TEST(a_reload_creates_objects_in_their_own_contexts);
    RUN_TEST(a_changed_definition_receives_another_value);
    RUN_TEST(a_manifest_declares_kinds_and_injects_values);
    RUN_TEST(errors_of_a_manifest_have_their_place);
    return check_end();
}
