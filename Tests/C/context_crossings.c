/* Objects that live in contexts, together with each other feature of wiring. docs/rules/contexts.md. */
/* sanitize: yes */
#include "check.h"
#include <sys/wait.h>

typedef struct part {
    char name[24];
    invivo_object inputs[2], peer;
    invivo_callable call; /* a provider, lazy or weak reference, borrowed */
    invivo_context home;
    int64_t number;
} part;

static invivo_runtime runtime;
static char trace[1 << 13];
static int live;
static void (*in_init)(part *self);
static void (*in_stop)(part *self);
static const char *failing_init, *failing_stop;
static const invivo_context nowhere;

static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static void say(const char *what, const char *name) {
    pthread_mutex_lock(&trace_lock);
    if (strlen(trace) + strlen(what) + strlen(name) + 3 < sizeof trace) sprintf(trace + strlen(trace), "%s%s:%s", trace[0] ? " " : "", what, name);
    pthread_mutex_unlock(&trace_lock);
}
static invivo_status fails(invivo_error **error) {
    *error = invivo_error_make(INVIVO_E_HOST, "the disk is full", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)user_data;
    part *self = instance;
    snprintf(self->name, sizeof self->name, "%s", build->key.bits ? invivo_key_name(build->key) : "made");
    for (size_t i = 0; i < count && i < 2; i++) {
        if (arguments[i].kind == INVIVO_KIND_OBJECT) self->inputs[i] = arguments[i].as.object;
        if (arguments[i].kind == INVIVO_KIND_CALLABLE) self->call = arguments[i].as.callable;
        if (arguments[i].kind == INVIVO_KIND_INT64) self->number = arguments[i].as.signed_integer;
    }
    self->home = invivo_context_current(runtime);
    if (in_init) in_init(self);
    if (failing_init && !strcmp(failing_init, self->name)) return fails(error);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)user_data;
    say("end", ((part *)instance)->name);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status part_start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_status part_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    part *self = instance;
    say("stop", self->name);
    if (in_stop) in_stop(self);
    return failing_stop && !strcmp(failing_stop, self->name) ? fails(error) : INVIVO_OK;
}
static invivo_status get_peer(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    invivo_value peer = invivo_object_value(((part *)instance)->peer);
    return peer.as.object.bits ? invivo_value_copy(out, &peer, error) : INVIVO_OK;
}
static void (*in_set)(part *self);
static invivo_status set_peer(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->peer = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    if (in_set) in_set(instance);
    return INVIVO_OK;
}
static const invivo_parameter inputs[] = {{.name = "one", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                                          {.name = "two", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "peer", .kind = INVIVO_KIND_OBJECT, .get = get_peer, .set = set_peer}};

static void open_in(invivo_runtime *out) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Plain", .concurrency = INVIVO_SHARED, .size = sizeof(part),
                                   .alignment = 8, .init = part_init, .deinit = part_deinit, .parameters = inputs, .parameter_count = 2,
                                   .properties = properties, .property_count = 1};
    invivo_type type;
    invivo_runtime_options with;
    invivo_runtime_options_init(&with);
    with.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(out, &with, E));
    OK(invivo_type_register(*out, &options, &type, E));
    options.name = "Part", options.start = part_start, options.stop = part_stop;
    OK(invivo_type_register(*out, &options, &type, E));
    const invivo_context_kind kinds[] = {{.struct_size = sizeof *kinds, .name = "session", .policy = INVIVO_CONTEXT_FOLLOWS},
                                         {.struct_size = sizeof *kinds, .name = "request", .policy = INVIVO_CONTEXT_FOLLOWS}};
    OK(invivo_context_declare_kinds(*out, kinds, 2, E));
    trace[0] = 0, in_init = in_stop = in_set = NULL, failing_init = failing_stop = NULL;
}
static void begin(void) { open_in(&runtime), live = 0; }
static void finish(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}
static invivo_context open_kind(const char *kind, invivo_context parent) {
    invivo_context context;
    invivo_context_options options = {.struct_size = sizeof options, .kind = kind, .parent = parent, .flags = parent.bits ? 0 : INVIVO_CONTEXT_DETACHED};
    OK(invivo_context_open(runtime, &options, &context, E));
    return context;
}
#define REFERENCE(key) {.how = INVIVO_INJECT_REFERENCE, .reference = key}
/* A definition with an initializer of up to two keys, and a property `peer`. */
static invivo_definition definition_of(const char *key, const char *type, uint32_t scope, const char *kind, const invivo_injection *initializer, uint64_t count) {
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type_name = type, .scope = scope, .scope_name = kind,
                               .initializer = initializer, .initializer_count = count};
}
static void define_with(const char *key, uint32_t scope, const char *kind, const invivo_injection *initializer, uint64_t count) {
    invivo_definition definition = definition_of(key, "Part", scope, kind, initializer, count);
    OK(invivo_define(runtime, &definition, NULL, E));
}
static void define(const char *key, uint32_t scope, const char *kind, const char *one, const char *two) {
    invivo_injection references[] = {REFERENCE(one), REFERENCE(two)};
    define_with(key, scope, kind, references, two ? 2 : one ? 1 : 0);
}
static invivo_key key_of(const char *name) {
    invivo_key key;
    OK(invivo_key_find(runtime, name, &key, E));
    return key;
}
static invivo_object object_in(invivo_context context, const char *key) {
    invivo_object object = {0};
    OK(invivo_context_resolve(context, key_of(key), &object, E));
    return object;
}
static uint64_t bits_in(invivo_context context, const char *key) {
    invivo_object object = object_in(context, key);
    OK(invivo_object_release(object));
    return object.bits;
}
static part *part_of(invivo_object object) {
    void *instance = NULL;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
static uint64_t called(invivo_callable callable) {
    invivo_value result = invivo_null();
    OK(invivo_callable_call(callable, NULL, 0, &result, E));
    uint64_t bits = result.kind == INVIVO_KIND_OBJECT ? result.as.object.bits : 0;
    invivo_value_clear(&result);
    return bits;
}

/* ---- where unshared objects live --------------------------------------------------------------------------- */

static void a_graph_object_is_shared_within_one_context_only(void) {
    begin();
    define("mail", INVIVO_SCOPE_GRAPH, NULL, NULL, NULL);
    define("pool", INVIVO_SCOPE_LAZY_SINGLETON, NULL, "mail", NULL);
    define("user", INVIVO_SCOPE_CONTEXT, "session", "mail", "pool");
    define("handler", INVIVO_SCOPE_CONTEXT, "request", "mail", "user");
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session);
    invivo_object handler = object_in(request, "handler");
    part *self = part_of(handler), *user = part_of(self->inputs[1]), *pool = part_of(user->inputs[1]);
    CHECK(self->inputs[0].bits != user->inputs[0].bits);
    CHECK(user->inputs[0].bits != pool->inputs[0].bits);
    CHECK_EQUAL(part_of(self->inputs[0])->home.bits, request.bits);
    CHECK_EQUAL(part_of(user->inputs[0])->home.bits, session.bits);
    CHECK_EQUAL(part_of(pool->inputs[0])->home.bits, 0);
    OK(invivo_object_release(handler));
    OK(invivo_context_end(request, E));
    CHECK_TEXT(trace, "stop:handler stop:mail end:handler end:mail");
    OK(invivo_context_end(session, E));
    CHECK_TEXT(trace, "stop:handler stop:mail end:handler end:mail stop:user stop:mail end:user end:mail");
    finish();
}

static void each_prototype_knows_its_context(void) {
    begin();
    invivo_definition definition = definition_of("bare", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, NULL, 0);
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_injection bare = REFERENCE("bare");
    definition = definition_of("two", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, &bare, 1);
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_context request = open_kind("request", nowhere), found;
    for (int i = 0; i < 4; i++) bits_in(request, "two"); /* it has a build plan now */
    OK(invivo_context_enter(request, E));
    for (int i = 0; i < 4; i++) {
        invivo_object object;
        OK(invivo_resolve(runtime, key_of(i % 2 ? "two" : "bare"), &object, E));
        OK(invivo_context_of(object, &found, E));
        CHECK_EQUAL(found.bits, request.bits);
        OK(invivo_object_release(object));
    }
    OK(invivo_context_leave(request, E));
    OK(invivo_context_end(request, E));
    finish();
}
static void resolve_bare(part *self) {
    (void)self;
    invivo_object object;
    expects_error(invivo_resolve(runtime, key_of("bare"), &object, E), INVIVO_E_STALE, NULL);
}
static void a_stop_creates_no_plain_prototype(void) {
    begin();
    invivo_definition definition = definition_of("bare", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, NULL, 0);
    OK(invivo_define(runtime, &definition, NULL, E));
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    for (int i = 0; i < 4; i++) bits_in(request, "bare");
    bits_in(request, "handler");
    in_stop = resolve_bare;
    OK(invivo_context_end(request, E));
    in_stop = NULL;
    finish();
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

static void a_failure_is_known_for_the_context_in_which_it_happened(void) {
    begin();
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session), other = open_kind("request", session);
    bits_in(request, "handler");
    failing_stop = "handler";
    expects_error(invivo_context_end(session, E), INVIVO_E_HOST, NULL);
    expects_error(invivo_context_end(request, E), INVIVO_E_HOST, NULL);
    expects_error(invivo_context_end(session, E), INVIVO_E_HOST, NULL);
    OK(invivo_context_end(other, E));
    failing_stop = NULL;
    finish();
}

static invivo_context releasing;
static void release_home(part *self) { (void)self; OK(invivo_context_release(releasing, E)); }
static void the_last_holder_may_leave_in_a_build(void) {
    begin();
    define("cache", INVIVO_SCOPE_CONTEXT, NULL, NULL, NULL);
    releasing = open_kind(NULL, nowhere);
    in_init = release_home;
    invivo_object object = object_in(releasing, "cache");
    in_init = NULL;
    /* It ends when the build has. */
    expects_error(invivo_context_retain(releasing, E), INVIVO_E_STALE, NULL);
    CHECK_TEXT(trace, "stop:cache");
    OK(invivo_object_release(object));
    CHECK_TEXT(trace, "stop:cache end:cache");
    finish();
}

static invivo_context inner_home;
static pthread_barrier_t barrier;
static int slow_is_built; /* atomic */
static void build_slowly(part *self) {
    if (!strcmp(self->name, "outer")) {
        invivo_object object;
        OK(invivo_context_resolve(inner_home, key_of("slow"), &object, E));
        OK(invivo_object_release(object));
    } else {
        pthread_barrier_wait(&barrier);
        /* Until the context is ending. */
        invivo_context_options options = {.struct_size = sizeof options, .parent = inner_home};
        invivo_context below;
        while (invivo_context_open(runtime, &options, &below, NULL) == INVIVO_OK) invivo_context_end(below, NULL);
        __atomic_store_n(&slow_is_built, 1, __ATOMIC_RELEASE);
    }
}
static void *build_outer(void *context) {
    bits_in(*(invivo_context *)context, "outer");
    return NULL;
}
static void the_end_waits_for_a_prototype_of_a_build_in_another_context(void) {
    begin();
    define("slow", INVIVO_SCOPE_PROTOTYPE, NULL, NULL, NULL);
    define("outer", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    inner_home = open_kind("request", nowhere);
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    in_init = build_slowly, slow_is_built = 0;
    pthread_create(&thread, NULL, build_outer, &request);
    pthread_barrier_wait(&barrier);
    OK(invivo_context_end(inner_home, E));
    CHECK_EQUAL(__atomic_load_n(&slow_is_built, __ATOMIC_ACQUIRE), 1);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    in_init = NULL;
    OK(invivo_context_end(request, E));
    finish();
}

/* ---- features of definitions ----------------------------------------------------------------------------------- */

static void runtime_arguments_have_one_object_each(void) {
    begin();
    invivo_injection argument = {.how = INVIVO_INJECT_ARGUMENT};
    invivo_definition definition = definition_of("page", "Part", INVIVO_SCOPE_CONTEXT, "request", &argument, 1);
    invivo_parameter number = {.name = "number", .kind = INVIVO_KIND_INT64};
    definition.parameters = &number, definition.parameter_count = 1;
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_context request = open_kind("request", nowhere), other = open_kind("request", nowhere);
    invivo_value one = invivo_int64(1), two = invivo_int64(2);
    invivo_object first, same, second, elsewhere;
    OK(invivo_context_enter(request, E));
    OK(invivo_resolve_with(runtime, key_of("page"), &one, 1, &first, E));
    OK(invivo_resolve_with(runtime, key_of("page"), &one, 1, &same, E));
    OK(invivo_resolve_with(runtime, key_of("page"), &two, 1, &second, E));
    OK(invivo_context_leave(request, E));
    OK(invivo_context_enter(other, E));
    OK(invivo_resolve_with(runtime, key_of("page"), &one, 1, &elsewhere, E));
    OK(invivo_context_leave(other, E));
    CHECK_EQUAL(first.bits, same.bits);
    CHECK(first.bits != second.bits && first.bits != elsewhere.bits);
    OK(invivo_object_release(first)), OK(invivo_object_release(same)), OK(invivo_object_release(second)), OK(invivo_object_release(elsewhere));
    OK(invivo_context_end(request, E));
    CHECK_EQUAL(live, 1);
    OK(invivo_context_end(other, E));
    finish();
}

static void a_cycle_by_properties_ends_with_its_context(void) {
    begin();
    invivo_injection to_b = {.name = "peer", .how = INVIVO_INJECT_REFERENCE, .reference = "b"}, to_a = {.name = "peer", .how = INVIVO_INJECT_REFERENCE, .reference = "a"};
    invivo_definition a = definition_of("a", "Part", INVIVO_SCOPE_CONTEXT, "request", NULL, 0), b = definition_of("b", "Part", INVIVO_SCOPE_CONTEXT, "request", NULL, 0);
    a.properties = &to_b, a.property_count = 1, b.properties = &to_a, b.property_count = 1;
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &a, NULL, E));
    OK(invivo_changes_define(changes, &b, NULL, E));
    OK(invivo_changes_commit(changes, E));
    for (int i = 0; i < 2; i++) {
        invivo_context request = open_kind("request", nowhere);
        invivo_object object = object_in(request, "a");
        CHECK_EQUAL(part_of(object)->peer.bits, bits_in(request, "b"));
        if (i) OK(invivo_object_release(object));
        OK(invivo_context_end(request, E));
        CHECK(strstr(trace, "stop:a") && strstr(trace, "stop:b"));
        if (!i) OK(invivo_object_release(object));
        CHECK_EQUAL(live, 0);
        trace[0] = 0;
    }
    finish();
}

static void a_graph_object_in_a_cycle_through_contexts_is_of_one_context(void) {
    begin();
    invivo_injection handle = {.name = "peer", .how = INVIVO_INJECT_REFERENCE, .reference = "part"};
    invivo_definition user = definition_of("user", "Part", INVIVO_SCOPE_CONTEXT, "session", NULL, 0);
    user.properties = &handle, user.property_count = 1;
    invivo_injection of_part = REFERENCE("user");
    invivo_definition graph = definition_of("part", "Part", INVIVO_SCOPE_GRAPH, NULL, &of_part, 1);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &user, NULL, E));
    OK(invivo_changes_define(changes, &graph, NULL, E));
    OK(invivo_changes_commit(changes, E));
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session);
    invivo_object object = object_in(request, "part"), user_object = object_in(session, "user");
    CHECK(part_of(user_object)->peer.bits != object.bits);
    CHECK_EQUAL(part_of(part_of(user_object)->peer)->home.bits, session.bits);
    OK(invivo_object_release(object)), OK(invivo_object_release(user_object));
    OK(invivo_context_end(request, E));
    OK(invivo_context_end(session, E));
    CHECK_EQUAL(live, 0);
    finish();
}

static void references_of_singletons_keep_no_object_of_a_context(void) {
    static const uint32_t hows[] = {INVIVO_INJECT_PROVIDER, INVIVO_INJECT_LAZY, INVIVO_INJECT_WEAK};
    for (int i = 0; i < 3; i++) {
        begin();
        invivo_injection handler = REFERENCE("handler");
        invivo_injection deferred = {.how = hows[i], .items = &handler, .item_count = 1};
        define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
        define_with("pool", INVIVO_SCOPE_LAZY_SINGLETON, NULL, &deferred, 1);
        invivo_context first = open_kind("request", nowhere), second = open_kind("request", nowhere);
        uint64_t one = bits_in(first, "handler"), two = bits_in(second, "handler");
        invivo_object pool = object_in(first, "pool");
        invivo_callable call = part_of(pool)->call;
        OK(invivo_context_enter(first, E));
        CHECK_EQUAL(called(call), one);
        OK(invivo_context_leave(first, E));
        OK(invivo_context_enter(second, E));
        CHECK_EQUAL(called(call), two);
        OK(invivo_context_leave(second, E));
        OK(invivo_context_end(first, E));
        CHECK_TEXT(trace, "stop:handler end:handler");
        OK(invivo_context_end(second, E));
        CHECK_TEXT(trace, "stop:handler end:handler stop:handler end:handler");
        invivo_value result;
        if (hows[i] == INVIVO_INJECT_WEAK) CHECK_EQUAL(called(call), 0);
        else expects_error(invivo_callable_call(call, NULL, 0, &result, E), INVIVO_E_NOT_READY, NULL);
        OK(invivo_object_release(pool));
        finish();
    }
}
static void references_of_objects_in_contexts_lead_to_their_context(void) {
    static const uint32_t hows[] = {INVIVO_INJECT_PROVIDER, INVIVO_INJECT_LAZY, INVIVO_INJECT_WEAK};
    for (int i = 0; i < 3; i++) {
        begin();
        invivo_injection handler = REFERENCE("handler");
        invivo_injection deferred = {.how = hows[i], .items = &handler, .item_count = 1};
        define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
        define_with("view", INVIVO_SCOPE_CONTEXT, "request", &deferred, 1);
        invivo_context first = open_kind("request", nowhere), second = open_kind("request", nowhere);
        uint64_t one = bits_in(first, "handler");
        bits_in(second, "handler");
        invivo_object view = object_in(first, "view");
        OK(invivo_context_enter(first, E));
        CHECK_EQUAL(called(part_of(view)->call), one);
        OK(invivo_context_leave(first, E));
        OK(invivo_object_release(view));
        OK(invivo_context_end(first, E));
        CHECK_EQUAL(live, 1);
        OK(invivo_context_end(second, E));
        finish();
    }
}

static invivo_status make_null(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)error;
    ++*(int *)user_data;
    *instance = NULL;
    return INVIVO_OK;
}
static void a_factory_may_return_null(void) {
    begin();
    static int calls;
    calls = 0;
    invivo_definition definition = definition_of("maybe", "Part", INVIVO_SCOPE_CONTEXT, "request", NULL, 0);
    definition.flags = INVIVO_DEFINITION_NULLABLE, definition.factory = make_null, definition.user_data = &calls;
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_context request = open_kind("request", nowhere);
    invivo_object object;
    OK(invivo_context_enter(request, E));
    OK(invivo_resolve_optional(runtime, key_of("maybe"), NULL, 0, &object, E));
    CHECK_EQUAL(object.bits, 0);
    CHECK_EQUAL(calls, 1);
    OK(invivo_context_leave(request, E));
    OK(invivo_context_end(request, E));
    finish();
}

static invivo_status decorate(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)build;
    invivo_value argument = invivo_object_value(object);
    return invivo_object_make(runtime, *(invivo_type *)user_data, &argument, 1, out, error);
}
static void a_decorated_object_is_stopped_with_its_context(void) {
    begin();
    static invivo_type type;
    OK(invivo_type_find(runtime, "Part", &type, E));
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_processor processor = {.struct_size = sizeof processor, .name = "wrap", .key = "handler", .decorate = decorate, .user_data = &type};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &processor, E));
    OK(invivo_changes_commit(changes, E));
    invivo_context request = open_kind("request", nowhere);
    invivo_object handler = object_in(request, "handler");
    CHECK_TEXT(part_of(handler)->name, "made");
    CHECK_EQUAL(bits_in(request, "handler"), handler.bits);
    OK(invivo_object_release(handler));
    OK(invivo_context_end(request, E));
    CHECK_TEXT(trace, "stop:made stop:handler end:made end:handler");
    finish();
}

static void an_override_keeps_the_scope(void) {
    begin();
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere), other = open_kind("request", nowhere);
    uint64_t before = bits_in(request, "handler");
    invivo_definition definition = definition_of("handler", "Part", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL, 0);
    definition.stop_timeout_ms = 4000;
    invivo_override override;
    OK(invivo_override_begin(runtime, &definition, &override, E));
    uint64_t during = bits_in(request, "handler");
    CHECK(during != before);
    CHECK_EQUAL(bits_in(request, "handler"), during);
    CHECK(bits_in(other, "handler") != during);
    OK(invivo_override_end(override, E));
    CHECK(bits_in(request, "handler") != during);
    OK(invivo_context_end(request, E));
    OK(invivo_context_end(other, E));
    finish();
}

static void an_exclusive_definition_has_no_scope_of_contexts(void) {
    begin();
    invivo_definition definition = definition_of("port", "Part", INVIVO_SCOPE_CONTEXT, "request", NULL, 0);
    definition.flags = INVIVO_DEFINITION_EXCLUSIVE;
    CHECK(invivo_define(runtime, &definition, NULL, NULL) != INVIVO_OK);
    finish();
}

static void a_dormant_definition_is_blocked_in_contexts_too(void) {
    begin();
    invivo_injection files = REFERENCE("files");
    invivo_definition definition = definition_of("handler", "Part", INVIVO_SCOPE_CONTEXT, "request", &files, 1);
    definition.flags = INVIVO_DEFINITION_WAITS;
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_context request = open_kind("request", nowhere);
    invivo_object object;
    expects_error(invivo_context_resolve(request, key_of("handler"), &object, E), INVIVO_E_DORMANT, NULL);
    define("files", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    bits_in(request, "handler");
    CHECK_EQUAL(live, 2);
    OK(invivo_context_end(request, E));
    finish();
}

static void a_refused_reload_changes_no_context(void) {
    begin();
    define("files", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("handler", INVIVO_SCOPE_CONTEXT, "request", "files", NULL);
    define("eager", INVIVO_SCOPE_SINGLETON, NULL, NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    uint64_t handler = bits_in(request, "handler");
    invivo_changes changes;
    invivo_definition files = definition_of("files", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, 0), eager = definition_of("eager", "Plain", INVIVO_SCOPE_SINGLETON, NULL, NULL, 0);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &files, NULL, E));
    OK(invivo_changes_define(changes, &eager, NULL, E));
    failing_init = "eager";
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    failing_init = NULL;
    CHECK_EQUAL(bits_in(request, "handler"), handler);
    trace[0] = 0;
    OK(invivo_context_end(request, E));
    CHECK_TEXT(trace, "stop:handler stop:files end:handler end:files");
    finish();
}

/* ---- creation by other objects --------------------------------------------------------------------------------- */

static invivo_status make_part(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count;
    invivo_type type;
    invivo_object object;
    OK(invivo_type_find(runtime, "Part", &type, E));
    invivo_status status = invivo_object_make(runtime, type, NULL, 0, &object, error);
    if (status != INVIVO_OK) return status;
    invivo_value borrowed = invivo_object_value(object);
    status = invivo_value_copy(result, &borrowed, error);
    OK(invivo_object_release(object));
    return status;
}
static void a_factory_method_creates_in_the_context(void) {
    begin();
    invivo_method method = {.struct_size = sizeof method, .name = "make", .result = INVIVO_KIND_OBJECT, .call = make_part};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Factory", .concurrency = INVIVO_SHARED, .size = sizeof(part),
                                   .alignment = 8, .init = part_init, .deinit = part_deinit, .parameters = inputs, .parameter_count = 2,
                                   .methods = &method, .method_count = 1};
    invivo_type type;
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_definition factory = definition_of("factory", "Factory", INVIVO_SCOPE_CONTEXT, "session", NULL, 0);
    OK(invivo_define(runtime, &factory, NULL, E));
    invivo_injection maker = REFERENCE("factory");
    invivo_definition handler = definition_of("handler", "Part", INVIVO_SCOPE_CONTEXT, "request", NULL, 0);
    handler.maker_method = "make", handler.maker = &maker, handler.maker_count = 1;
    OK(invivo_define(runtime, &handler, NULL, E));
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session), found;
    invivo_object object = object_in(request, "handler");
    CHECK_EQUAL(bits_in(request, "handler"), object.bits);
    OK(invivo_context_of(object, &found, E));
    CHECK_EQUAL(found.bits, request.bits);
    OK(invivo_context_end(request, E));
    CHECK_TEXT(trace, "stop:made");
    OK(invivo_object_release(object));
    OK(invivo_context_end(session, E));
    CHECK_TEXT(trace, "stop:made end:made end:factory");
    finish();
}

static void each_entry_has_an_object_in_each_context(void) {
    begin();
    static const char text[] = "config:\n  synth:\n    voices: {low: 1, high: 2}\n";
    invivo_changes changes;
    invivo_injection entry = {.how = INVIVO_INJECT_ENTRY};
    invivo_definition voice = definition_of("synth.voice", "Part", INVIVO_SCOPE_CONTEXT, "request", &entry, 1);
    voice.each = "voices";
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "voices.yaml", text, sizeof text - 1, E));
    OK(invivo_changes_define(changes, &voice, NULL, E));
    OK(invivo_changes_commit(changes, E));
    invivo_context first = open_kind("request", nowhere), second = open_kind("request", nowhere);
    uint64_t low = bits_in(first, "synth.voice[low]");
    CHECK(bits_in(first, "synth.voice[high]") != low && bits_in(second, "synth.voice[low]") != low);
    CHECK_EQUAL(bits_in(first, "synth.voice[low]"), low);
    OK(invivo_context_end(first, E));
    CHECK_TEXT(trace, "stop:synth.voice[high] stop:synth.voice[low] end:synth.voice[high] end:synth.voice[low]");
    OK(invivo_context_end(second, E));
    finish();
}

/* ---- domains and other threads --------------------------------------------------------------------------------- */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    invivo_job jobs[16];
    int first, count;
    bool is_over;
} window = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    pthread_mutex_lock(&window.lock);
    window.jobs[(window.first + window.count++) % 16] = job;
    pthread_cond_broadcast(&window.came);
    pthread_mutex_unlock(&window.lock);
    return INVIVO_OK;
}
static void *run_window(void *argument) {
    pthread_mutex_lock(&window.lock);
    while (!window.is_over || window.count) {
        if (!window.count) { pthread_cond_wait(&window.came, &window.lock); continue; }
        invivo_job job = window.jobs[window.first++ % 16];
        window.count--;
        pthread_mutex_unlock(&window.lock);
        invivo_job_run(job);
        pthread_mutex_lock(&window.lock);
    }
    pthread_mutex_unlock(&window.lock);
    return argument;
}
static uint8_t is_in_window(void *user_data) { return (void)user_data, pthread_equal(pthread_self(), window.thread) != 0; }
static struct { invivo_object object; invivo_status status; int calls; } resolved;
static void on_resolved(void *user_data, invivo_object object, const invivo_error *error) {
    (void)user_data;
    pthread_mutex_lock(&window.lock);
    resolved.object = object, resolved.status = error ? invivo_error_code(error) : INVIVO_OK, resolved.calls++;
    pthread_cond_broadcast(&window.came);
    pthread_mutex_unlock(&window.lock);
}
static invivo_object resolved_from_elsewhere(const char *key) {
    resolved.calls = 0, resolved.object.bits = 0;
    OK(invivo_resolve_async(runtime, key_of(key), NULL, 0, on_resolved, NULL, (invivo_domain){0}, E));
    pthread_mutex_lock(&window.lock);
    while (!resolved.calls) pthread_cond_wait(&window.came, &window.lock);
    pthread_mutex_unlock(&window.lock);
    return resolved.object;
}
static bool stopped_in_window;
static void note_thread(part *self) { if (!strcmp(self->name, "button")) stopped_in_window = is_in_window(NULL); }
static void other_threads_resolve_in_the_context_of_the_requester(void) {
    begin();
    invivo_domain_options options = {.struct_size = sizeof options, .name = "window", .post = post, .is_current = is_in_window};
    invivo_domain domain;
    window.is_over = false, window.first = window.count = 0;
    pthread_create(&window.thread, NULL, run_window, NULL);
    OK(invivo_domain_register(runtime, &options, &domain, E));
    invivo_type_options confined = {.struct_size = sizeof confined, .name = "Button", .concurrency = INVIVO_CONFINED, .domain = domain, .size = sizeof(part),
                                    .alignment = 8, .init = part_init, .deinit = part_deinit, .start = part_start, .stop = part_stop,
                                    .parameters = inputs, .parameter_count = 2};
    invivo_type type;
    OK(invivo_type_register(runtime, &confined, &type, E));
    invivo_definition button = definition_of("button", "Button", INVIVO_SCOPE_CONTEXT, "request", NULL, 0);
    OK(invivo_define(runtime, &button, NULL, E));
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("each", INVIVO_SCOPE_PROTOTYPE, NULL, "handler", NULL);
    invivo_context request = open_kind("request", nowhere);
    OK(invivo_context_enter(request, E));
    invivo_object handler = resolved_from_elsewhere("handler");
    CHECK_EQUAL(resolved.status, INVIVO_OK);
    CHECK_EQUAL(handler.bits, bits_in(request, "handler"));
    invivo_object each = resolved_from_elsewhere("each");
    if (each.bits) CHECK_EQUAL(part_of(each)->home.bits, request.bits);
    invivo_object found = resolved_from_elsewhere("button");
    CHECK_EQUAL(resolved.status, INVIVO_OK);
    OK(invivo_context_leave(request, E));
    resolved_from_elsewhere("handler");
    CHECK_EQUAL(resolved.status, INVIVO_E_NOT_READY);
    OK(invivo_object_release(handler)), OK(invivo_object_release(each)), OK(invivo_object_release(found));
    trace[0] = 0, in_stop = note_thread, stopped_in_window = false;
    OK(invivo_context_end(request, E));
    CHECK(strncmp(trace, "stop:button stop:handler", 24) == 0);
    CHECK(stopped_in_window);
    in_stop = NULL;
    OK(invivo_runtime_close(runtime, E));
    pthread_mutex_lock(&window.lock);
    window.is_over = true;
    pthread_cond_broadcast(&window.came);
    pthread_mutex_unlock(&window.lock);
    pthread_join(window.thread, NULL);
    CHECK_EQUAL(live, 0);
}

/* ---- other runtimes, threads and processes ------------------------------------------------------------------------ */

static void each_runtime_has_its_own_current_context(void) {
    begin();
    invivo_runtime first = runtime, second;
    open_in(&second);
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context one = open_kind("request", nowhere);
    runtime = second;
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context two = open_kind("request", nowhere);
    OK(invivo_context_enter(one, E));
    CHECK_EQUAL(invivo_context_current(second).bits, 0);
    OK(invivo_context_enter(two, E));
    CHECK_EQUAL(invivo_context_current(first).bits, one.bits);
    CHECK_EQUAL(invivo_context_current(second).bits, two.bits);
    invivo_object object;
    expects_error(invivo_context_resolve(one, key_of("handler"), &object, E), INVIVO_E_HANDLE, NULL);
    bits_in(two, "handler");
    runtime = first;
    bits_in(one, "handler");
    OK(invivo_context_end(one, E));
    CHECK_EQUAL(invivo_context_current(second).bits, two.bits);
    OK(invivo_context_leave(one, E));
    OK(invivo_context_leave(two, E));
    OK(invivo_runtime_close(second, E));
    finish();
}

static void a_forked_child_is_refused(void) {
    begin();
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    bits_in(request, "handler");
    invivo_key handler = key_of("handler");
    OK(invivo_context_enter(request, E));
    pid_t child = fork();
    if (child == 0) {
        invivo_object object;
        const char *message;
        bool good = invivo_context_resolve(request, handler, &object, NULL) == INVIVO_E_FORKED && invivo_context_end(request, NULL) == INVIVO_E_FORKED
                    && invivo_context_end_with(request, NULL, NULL, NULL) == INVIVO_E_FORKED && invivo_context_current(runtime).bits == 0
                    && invivo_context_failure(request, &message) != INVIVO_E_HOST;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
    CHECK_TEXT(trace, "");
    OK(invivo_context_leave(request, E));
    OK(invivo_context_end(request, E));
    finish();
}

static void a_deferred_close_stops_objects_of_contexts(void) {
    begin();
    define("handler", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    invivo_object handler = object_in(request, "handler");
    OK(invivo_runtime_close_deferred(runtime, E));
    OK(invivo_object_release(handler));
    CHECK_EQUAL(live, 0);
    CHECK_TEXT(trace, "stop:handler end:handler");
}

int main(void) {
    check_begin();
    RUN_TEST(a_graph_object_is_shared_within_one_context_only);
    RUN_TEST(each_prototype_knows_its_context);
    RUN_TEST(a_stop_creates_no_plain_prototype);
    RUN_TEST(a_failure_is_known_for_the_context_in_which_it_happened);
    RUN_TEST(the_last_holder_may_leave_in_a_build);
    RUN_TEST(the_end_waits_for_a_prototype_of_a_build_in_another_context);
    RUN_TEST(runtime_arguments_have_one_object_each);
    RUN_TEST(a_cycle_by_properties_ends_with_its_context);
    RUN_TEST(a_graph_object_in_a_cycle_through_contexts_is_of_one_context);
    RUN_TEST(references_of_singletons_keep_no_object_of_a_context);
    RUN_TEST(references_of_objects_in_contexts_lead_to_their_context);
    RUN_TEST(a_factory_may_return_null);
    RUN_TEST(a_decorated_object_is_stopped_with_its_context);
    RUN_TEST(an_override_keeps_the_scope);
    RUN_TEST(an_exclusive_definition_has_no_scope_of_contexts);
    RUN_TEST(a_dormant_definition_is_blocked_in_contexts_too);
    RUN_TEST(a_refused_reload_changes_no_context);
    RUN_TEST(a_factory_method_creates_in_the_context);
    RUN_TEST(each_entry_has_an_object_in_each_context);
    RUN_TEST(other_threads_resolve_in_the_context_of_the_requester);
    RUN_TEST(each_runtime_has_its_own_current_context);
    RUN_TEST(a_forked_child_is_refused);
    RUN_TEST(a_deferred_close_stops_objects_of_contexts);
    return check_end();
}
