/* Components in a manifest: scopes, visibility, dependencies and life cycle. Each word has the meaning of the same word
 * in a definition. */
/* sanitize: no, its thread makes one call while the main thread waits */
#include "check.h"

typedef struct part {
    invivo_object left; /* borrowed */
    invivo_value any;
    char key[32];
} part;

static char trace[512];
static int live;
static void say(const char *what, const part *self) {
    size_t length = strlen(trace);
    snprintf(trace + length, sizeof trace - length, "%s:%s ", what, self->key);
}
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    snprintf(self->key, sizeof self->key, "%s", build->key.bits ? invivo_key_name(build->key) : "made");
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return count ? invivo_value_copy(&self->any, &arguments[0], error) : INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)user_data;
    invivo_value_clear(&((part *)instance)->any);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status part_start(void *instance, void *user_data, invivo_error **error) { return (void)user_data, (void)error, say("start", instance), INVIVO_OK; }
static invivo_status part_stop(void *instance, void *user_data, invivo_error **error) { return (void)user_data, (void)error, say("stop", instance), INVIVO_OK; }
static invivo_status get_left(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    const invivo_value left = invivo_object_value(((part *)instance)->left);
    (void)user_data;
    return left.as.object.bits ? invivo_value_copy(out, &left, error) : INVIVO_OK;
}
static invivo_status set_left(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->left = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}
static invivo_status answer_none(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                                 invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count, (void)result, (void)error;
    return INVIVO_OK;
}

static const invivo_parameter parameters[] = {{.name = "any", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_left, .set = set_left}};
static const invivo_method methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "none", .result = INVIVO_KIND_ANY, .call = answer_none}};
static const char *const sources[] = {"Source"};

static __thread uint64_t here;
static invivo_status find_here(void *user_data, uint64_t *place, invivo_error **error) {
    (void)user_data, (void)error;
    *place = here;
    return INVIVO_OK;
}
/* Confined objects live where they are requested. */
static invivo_status run_at_once(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    return invivo_job_run(job);
}
static invivo_status load(void *user_data, invivo_runtime runtime, const char *name, const char *path, invivo_error **error) {
    invivo_type_options options = {
        .struct_size = sizeof options, .name = "Part", .concurrency = INVIVO_SHARED, .size = sizeof(part), .alignment = 8,
        .init = part_init, .deinit = part_deinit, .parameters = parameters, .parameter_count = 1, .properties = properties,
        .property_count = 1, .methods = methods, .method_count = 1};
    const invivo_scope_options request = {.struct_size = sizeof request, .name = "request", .find = find_here};
    const invivo_domain_options anywhere = {.struct_size = sizeof anywhere, .name = "anywhere", .flags = INVIVO_DOMAIN_ANY_THREAD, .post = run_at_once};
    (void)user_data, (void)name, (void)path;
    invivo_status status = invivo_type_register(runtime, &options, NULL, error);
    options.name = "Loud", options.supertypes = sources, options.supertype_count = 1;
    if (!status) status = invivo_type_register(runtime, &options, NULL, error);
    options.name = "Held", options.concurrency = INVIVO_CONFINED, options.supertype_count = 0;
    if (!status) status = invivo_domain_register(runtime, &anywhere, &options.domain, error);
    if (!status) status = invivo_type_register(runtime, &options, NULL, error);
    options.name = "Port", options.start = part_start, options.stop = part_stop;
    if (!status) status = invivo_type_register(runtime, &options, NULL, error);
    return status ? status : invivo_scope_register(runtime, &request, error);
}

static invivo_app app;
static invivo_runtime runtime;
#define MODULES "modules: { parts: parts.py }\ncomponents:\n"
static invivo_status open_app(const char *text, invivo_error **error) {
    const invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    write_text("app.yaml", text);
    app = (invivo_app){0}, trace[0] = 0, live = 0;
    invivo_status status = invivo_app_open(&app, &options, error);
    return status ? status : invivo_app_runtime(app, &runtime, error);
}
static void end(void) {
    OK(invivo_app_close(app, E));
    CHECK_EQUAL(live, 0);
}
static void refused(const char *text, const char *line) {
    invivo_error *error = NULL;
    CHECK(open_app(text, &error) != INVIVO_OK);
    const char *found = error ? strstr(invivo_error_text(error), "app.yaml") : NULL;
    CHECK_TEXT(found ? found : "(nothing)", line);
    invivo_error_release(error);
}
static invivo_object resolve(const char *name) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, name, &object, E));
    return object;
}
static part *at(invivo_object object) {
    static part none;
    void *instance = NULL;
    return OK(invivo_object_instance(object, (invivo_type){0}, &instance, E)) && instance ? instance : &none;
}
static void drop(invivo_object object) { OK(invivo_object_release(object)); }
static const char *key_of(invivo_object object) { return object.bits ? at(object)->key : "nothing"; }
static void define(const char *key, const char *type, int32_t rank) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type_name = type,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, .rank = rank}, NULL, E));
}

static void *resolve_elsewhere(void *out) {
    *(invivo_object *)out = resolve("a.mine");
    return NULL;
}
static void scopes_are_declared_by_name(void) {
    invivo_object first, again, other;
    pthread_t thread;
    OK(open_app(MODULES
                "  a.mine: { type: Part, scope: thread }\n"
                "  a.visit: { type: Part, scope: request }\n"
                "  a.weak: { type: Part, scope: weak-singleton }\n"
                "  a.each: { type: Part, scope: prototype }\n"
                "  a.eager: { type: Part, scope: singleton }\n"
                "  a.shared: { type: Part, scope: graph }\n"
                "  a.holder: { type: Part, scope: prototype, init: [[$a.shared, $a.shared, $a.each, $a.each]] }\n", E));
    CHECK_EQUAL(live, 1); /* the eager one */
    first = resolve("a.mine"), again = resolve("a.mine");
    CHECK(first.bits == again.bits);
    pthread_create(&thread, NULL, resolve_elsewhere, &other);
    pthread_join(thread, NULL);
    CHECK(other.bits != first.bits);
    drop(first), drop(again), drop(other);
    expects_error(invivo_resolve_name(runtime, "a.visit", &first, E), INVIVO_E_NOT_READY, NULL);
    here = 1;
    first = resolve("a.visit"), again = resolve("a.visit");
    here = 2;
    other = resolve("a.visit");
    here = 0;
    CHECK(first.bits == again.bits && first.bits != other.bits);
    drop(first), drop(again), drop(other);
    int before = live;
    first = resolve("a.weak"), again = resolve("a.weak");
    CHECK(first.bits == again.bits);
    drop(first), drop(again);
    CHECK_EQUAL(live, before);
    first = resolve("a.holder");
    const invivo_value *given = at(first)->any.as.list.items;
    CHECK(given[0].as.object.bits == given[1].as.object.bits && given[2].as.object.bits != given[3].as.object.bits);
    drop(first);
    end();
    refused(MODULES "  a.x: { type: Part, scope: requst }\n", "app.yaml:3:29: components.a.x.scope: no scope 'requst' is registered; did you mean 'request'?");
}

static void lookup_rules_are_declared(void) {
    OK(open_app(MODULES
                "  a.loud: { type: Loud, hidden: class }\n"
                "  a.quiet: { type: Loud, hidden: interface }\n"
                "  a.none: { type: Loud, hidden: true }\n"
                "  a.keeps: { type: Held, properties: { left: { $type: Source } } }\n"
                "  a.takes: { type: Held, properties: { left: { $type: Source, greedy: true } } }\n"
                "  a.exact: { type: Held, properties: { left: { $type: Loud, exact: true } } }\n"
                "  a.all: { type: Part, init: [{ $all: Source }] }\n"
                "  a.only: { type: Part, init: [{ $all: Source, exact: true }] }\n", E));
    invivo_object keeps = resolve("a.keeps"), takes = resolve("a.takes"), exact = resolve("a.exact"), all = resolve("a.all"), only = resolve("a.only");
    CHECK_TEXT(key_of(at(keeps)->left), "a.loud");
    CHECK_TEXT(key_of(at(takes)->left), "a.loud");
    CHECK_TEXT(key_of(at(exact)->left), "a.quiet");
    CHECK_EQUAL(at(all)->any.as.list.count, 1);
    CHECK_EQUAL(at(only)->any.as.list.count, 0);
    define("a.better", "Loud", 3);
    CHECK_TEXT(key_of(at(keeps)->left), "a.loud");
    CHECK_TEXT(key_of(at(takes)->left), "a.better");
    drop(keeps), drop(takes), drop(exact), drop(all), drop(only);
    end();
}

static void a_tracked_component_follows(void) {
    OK(open_app(MODULES
                "  a.base: { type: Part }\n"
                "  a.follows: { type: Held, scope: prototype, tracked: true, properties: { left: $a.base } }\n"
                "  a.stays: { type: Held, scope: prototype, properties: { left: $a.base } }\n", E));
    invivo_object follows = resolve("a.follows"), stays = resolve("a.stays"), former = at(stays)->left;
    define("a.base", "Part", 0);
    invivo_object base = resolve("a.base");
    CHECK(at(follows)->left.bits == base.bits && base.bits != former.bits);
    CHECK(at(stays)->left.bits == former.bits);
    drop(follows), drop(stays), drop(base);
    end();
}

static void null_needs_a_declaration(void) {
    invivo_object object = {0};
    invivo_key key;
    OK(open_app(MODULES
                "  a.maker: { type: Part }\n"
                "  a.none: { type: Part, nullable: true, maker: { of: $a.maker, method: none } }\n"
                "  a.may: { type: Part, properties: { left: { $key: a.none, optional: true } } }\n"
                "  a.must: { type: Part, properties: { left: $a.none } }\n", E));
    OK(invivo_key_find(runtime, "a.none", &key, E));
    OK(invivo_resolve_optional(runtime, key, NULL, 0, &object, E));
    CHECK_EQUAL(object.bits, 0);
    object = resolve("a.may");
    CHECK_TEXT(key_of(at(object)->left), "nothing");
    drop(object);
    expects_error(invivo_resolve_name(runtime, "a.must", &object, E), INVIVO_E_NULL, NULL);
    end();
}

static void the_resolver_is_a_callable(void) {
    const invivo_value name = invivo_string("a.other");
    invivo_value result = invivo_null();
    OK(open_app(MODULES "  a.other: { type: Part }\n  a.asks: { type: Part, init: [{ $resolver: any }] }\n", E));
    invivo_object asks = resolve("a.asks");
    if (CHECK_EQUAL(at(asks)->any.kind, INVIVO_KIND_CALLABLE)) OK(invivo_callable_call(at(asks)->any.as.callable, &name, 1, &result, E));
    if (CHECK_EQUAL(result.kind, INVIVO_KIND_OBJECT)) CHECK_TEXT(key_of(result.as.object), "a.other");
    invivo_value_clear(&result);
    drop(asks);
    end();
}

static void a_choice_depends_on_an_argument(void) {
    invivo_key key;
    invivo_object loud, chosen;
    OK(open_app(MODULES
                "  a.loud: { type: Loud }\n"
                "  a.one: { type: Part }\n"
                "  a.two: { type: Part }\n"
                "  a.three: { type: Part }\n"
                "  a.choice:\n"
                "    parameters: [what]\n"
                "    choose: { $argument: 0 }\n"
                "    options: [{ exactly: Part, use: $a.one }, { kind: Source, use: $a.two }, { when: 3, use: $a.three }, { otherwise: $a.loud }]\n", E));
    OK(invivo_key_find(runtime, "a.choice", &key, E));
    loud = resolve("a.loud");
    invivo_object part_ = resolve("a.three");
    const invivo_value given[] = {invivo_object_value(part_), invivo_object_value(loud), invivo_double(3), invivo_string("x")};
    static const char *const keys[] = {"a.one", "a.two", "a.three", "a.loud"};
    for (int i = 0; i < 4; i++) {
        if (!OK(invivo_resolve_with(runtime, key, &given[i], 1, &chosen, E))) continue;
        CHECK_TEXT(key_of(chosen), keys[i]);
        drop(chosen);
    }
    drop(loud), drop(part_);
    end();
}

static void exclusive_objects_are_stopped_first(void) {
    OK(open_app(MODULES "  a.port: { type: Port, exclusive: true, start_timeout: 60000, stop_timeout: 60000 }\n"
                        "  a.waits: { type: Port, waits: true, init: [$a.late] }\n", E));
    invivo_object port = resolve("a.port"), none;
    drop(port);
    expects_error(invivo_resolve_name(runtime, "a.waits", &none, E), INVIVO_E_DORMANT, NULL);
    trace[0] = 0;
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.port", .type_name = "Port",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, .flags = INVIVO_DEFINITION_EXCLUSIVE, .rank = 1}, NULL, E));
    CHECK_TEXT(trace, "stop:a.port start:a.port ");
    define("a.late", "Part", 0);
    drop(resolve("a.waits"));
    end();
}

int main(void) {
    check_directory();
    check_begin();
    RUN_TEST(scopes_are_declared_by_name);
    RUN_TEST(lookup_rules_are_declared);
    RUN_TEST(a_tracked_component_follows);
    RUN_TEST(null_needs_a_declaration);
    RUN_TEST(the_resolver_is_a_callable);
    RUN_TEST(a_choice_depends_on_an_argument);
    RUN_TEST(exclusive_objects_are_stopped_first);
    return check_end();
}
