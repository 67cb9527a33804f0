/* Objects that live in contexts: where they are created and found, what their code sees, and the end of their contexts.
 * docs/rules/contexts.md. */
/* sanitize: yes */
#include "check.h"

/* An object that says what happens to it. */
typedef struct worker {
    char name[24];
    invivo_object inputs[2];
    invivo_callable call; /* an injected callable, retained */
    invivo_context home;  /* the current context of its initializer */
} worker;

static invivo_runtime runtime;
static char trace[1 << 14];
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static int live;
static void (*in_stop)(worker *self);  /* called by each stop */
static void (*in_init)(worker *self);  /* called by each initializer */
static void (*in_last)(worker *self);  /* called by each last hook */
static const char *failing;            /* the name of the object whose stop fails */

/* The call fails with this code, and its text contains `part`. */
#define refuses(call, code, part) refuses_(__LINE__, #call, (check_error = NULL, (call)), code, part)
static void refuses_(int line, const char *call, invivo_status status, invivo_status code, const char *part) {
    if (status != code || !strstr(invivo_error_text(check_error), part))
        check_failed(__FILE__, line, "%s answers %s, and says\n    %s\nexpected %s with\n    %s", call, invivo_status_name(status),
                     invivo_error_text(check_error), invivo_status_name(code), part);
    invivo_error_release(check_error);
    check_error = NULL;
}

static void say(const char *what, const char *name) {
    pthread_mutex_lock(&trace_lock);
    if (strlen(trace) + strlen(what) + strlen(name) + 3 < sizeof trace)
        sprintf(trace + strlen(trace), "%s%s:%s", trace[0] ? " " : "", what, name);
    pthread_mutex_unlock(&trace_lock);
}
static invivo_status worker_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                 invivo_error **error) {
    (void)user_data, (void)error;
    worker *self = instance;
    snprintf(self->name, sizeof self->name, "%s", build->key.bits ? invivo_key_name(build->key) : "made");
    for (size_t i = 0; i < count && i < 2; i++)
        if (arguments[i].kind == INVIVO_KIND_OBJECT) self->inputs[i] = arguments[i].as.object;
    if (count && arguments[0].kind == INVIVO_KIND_CALLABLE) OK(invivo_callable_retain(self->call = arguments[0].as.callable));
    self->home = invivo_context_current(runtime);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    if (in_init) in_init(self);
    return INVIVO_OK;
}
static void worker_deinit(void *instance, void *user_data) {
    (void)user_data;
    say("end", ((worker *)instance)->name);
    if (((worker *)instance)->call.bits) OK(invivo_callable_release(((worker *)instance)->call));
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status worker_did_inject(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    if (in_last) in_last(instance);
    return INVIVO_OK;
}
static invivo_status worker_start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_status worker_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    worker *self = instance;
    say("stop", self->name);
    if (in_stop) in_stop(self);
    if (!failing || strcmp(failing, self->name) != 0) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "the disk is full", NULL, NULL);
    return INVIVO_E_HOST;
}
static const invivo_parameter inputs[] = {{.name = "one", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
                                          {.name = "two", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static void open_runtime(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Plain", .concurrency = INVIVO_SHARED, .size = sizeof(worker),
                                   .alignment = 8, .init = worker_init, .deinit = worker_deinit, .parameters = inputs, .parameter_count = 2};
    invivo_type type;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    options.name = "Worker", options.start = worker_start, options.stop = worker_stop, options.did_inject = worker_did_inject;
    OK(invivo_type_register(runtime, &options, &type, E));
    static const char *const names[] = {"session", "page", "request"};
    invivo_context_kind kinds[3];
    for (int i = 0; i < 3; i++)
        kinds[i] = (invivo_context_kind){.struct_size = sizeof kinds[i], .name = names[i], .policy = INVIVO_CONTEXT_FOLLOWS};
    OK(invivo_context_declare_kinds(runtime, kinds, 3, E));
    trace[0] = 0, live = 0, in_stop = NULL, in_init = NULL, in_last = NULL, failing = NULL;
}
static void close_runtime(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

static invivo_context open_kind(const char *kind, invivo_context parent) {
    invivo_context context;
    invivo_context_options options = {.struct_size = sizeof options, .kind = kind, .parent = parent,
                                      .flags = parent.bits ? 0 : INVIVO_CONTEXT_DETACHED};
    OK(invivo_context_open(runtime, &options, &context, E));
    return context;
}
static const invivo_context nowhere;

/* A definition whose initializer receives the objects of up to two keys. */
static invivo_status try_define(const char *key, const char *type, uint32_t scope, const char *kind, const char *one, const char *two,
                                invivo_error **error) {
    invivo_injection injections[2] = {{.how = INVIVO_INJECT_REFERENCE, .reference = one},
                                      {.how = INVIVO_INJECT_REFERENCE, .reference = two}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type_name = type, .scope = scope, .scope_name = kind,
                                    .initializer = injections, .initializer_count = two ? 2 : one ? 1 : 0};
    return invivo_define(runtime, &definition, NULL, error);
}
static void define(const char *key, const char *type, uint32_t scope, const char *kind, const char *one, const char *two) {
    OK(try_define(key, type, scope, kind, one, two, E));
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
/* The handle of the object, without a lease. */
static uint64_t bits_in(invivo_context context, const char *key) {
    invivo_object object = object_in(context, key);
    OK(invivo_object_release(object));
    return object.bits;
}
static worker *worker_of(invivo_object object) {
    void *instance = NULL;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}

/* ---- where objects are ---------------------------------------------------------------------------------- */

static void each_context_of_a_kind_has_its_own(void) {
    open_runtime();
    define("web.user", "Plain", INVIVO_SCOPE_CONTEXT, "session", NULL, NULL);
    define("web.handler", "Plain", INVIVO_SCOPE_CONTEXT, "request", "web.user", NULL);
    invivo_context session = open_kind("session", nowhere), first = open_kind("request", session), second = open_kind("request", session);
    invivo_object handler = object_in(first, "web.handler");
    CHECK_EQUAL(bits_in(first, "web.handler"), handler.bits);
    CHECK(bits_in(second, "web.handler") != handler.bits);
    uint64_t user = bits_in(session, "web.user");
    CHECK_EQUAL(worker_of(handler)->inputs[0].bits, user);
    CHECK_EQUAL(bits_in(second, "web.user"), user);
    CHECK_EQUAL(live, 3);
    /* A request inside of a request is another one. */
    invivo_context inner = open_kind("request", first);
    CHECK(bits_in(inner, "web.handler") != handler.bits);
    OK(invivo_object_release(handler));
    OK(invivo_context_end(first, E));
    CHECK_EQUAL(live, 2);
    invivo_object object;
    refuses(invivo_context_resolve(first, key_of("web.handler"), &object, E), INVIVO_E_STALE, "the context has ended");
    OK(invivo_context_end(session, E));
    CHECK_EQUAL(live, 0);
    close_runtime();
}

static void an_object_without_a_kind_lives_where_it_is_resolved(void) {
    open_runtime();
    define("cache", "Plain", INVIVO_SCOPE_CONTEXT, NULL, NULL, NULL);
    define("user", "Plain", INVIVO_SCOPE_CONTEXT, "session", "cache", NULL);
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session);
    uint64_t here = bits_in(request, "cache");
    CHECK(bits_in(session, "cache") != here);
    /* The dependency of an object in an outer context is that of the outer context. */
    invivo_object user = object_in(request, "user");
    CHECK_EQUAL(worker_of(user)->inputs[0].bits, bits_in(session, "cache"));
    OK(invivo_object_release(user));
    OK(invivo_context_end(session, E));
    close_runtime();
}

static void an_object_of_a_kind_that_is_not_open_is_an_error(void) {
    open_runtime();
    define("handler", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context session = open_kind("session", nowhere), page = open_kind("page", session);
    invivo_object object;
    refuses(invivo_resolve(runtime, key_of("handler"), &object, E), INVIVO_E_NOT_READY,
                  "'handler' has one instance for each context of the kind 'request', and the calling code is in no context");
    refuses(invivo_context_resolve(page, key_of("handler"), &object, E), INVIVO_E_NOT_READY,
                  "'handler' cannot be resolved here: the context 'page' (in 'session') is in no context of the kind 'request'");
    refuses(try_define("other", "Plain", INVIVO_SCOPE_CONTEXT, "requst", NULL, NULL, E), INVIVO_E_NOT_FOUND,
                  "no kind of contexts 'requst' is declared; did you mean 'request'?");
    refuses(try_define("other", "Plain", INVIVO_SCOPE_SINGLETON, "request", NULL, NULL, E), INVIVO_E_ARGUMENT,
                  "only a scope of contexts may have one");
    OK(invivo_context_end(session, E));
    close_runtime();
}

static void the_current_context_is_used_without_an_explicit_one(void) {
    open_runtime();
    define("handler", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("each", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, "handler", NULL);
    invivo_context request = open_kind("request", nowhere);
    invivo_object object, each;
    OK(invivo_context_enter(request, E));
    OK(invivo_resolve(runtime, key_of("handler"), &object, E));
    OK(invivo_resolve(runtime, key_of("each"), &each, E));
    CHECK_EQUAL(worker_of(each)->inputs[0].bits, object.bits);
    CHECK_EQUAL(worker_of(each)->home.bits, request.bits);
    invivo_context found;
    OK(invivo_context_of(each, &found, E));
    CHECK_EQUAL(found.bits, request.bits);
    OK(invivo_context_leave(request, E));
    OK(invivo_object_release(each));
    OK(invivo_object_release(object));
    refuses(invivo_resolve(runtime, key_of("handler"), &object, E), INVIVO_E_NOT_READY, "in no context");
    OK(invivo_context_end(request, E));
    close_runtime();
}

static void a_longer_lived_object_does_not_hold_a_shorter_lived_one(void) {
    open_runtime();
    define("handler", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("cache", "Plain", INVIVO_SCOPE_CONTEXT, NULL, NULL, NULL);
    refuses(try_define("pool", "Plain", INVIVO_SCOPE_LAZY_SINGLETON, NULL, "handler", NULL, E), INVIVO_E_CAPTIVE,
                  "'pool' (lazy singleton) would hold 'handler', of which there is one for each context of the kind 'request'");
    refuses(try_define("pool", "Plain", INVIVO_SCOPE_LAZY_SINGLETON, NULL, "cache", NULL, E), INVIVO_E_CAPTIVE, "one for each context");
    refuses(try_define("user", "Plain", INVIVO_SCOPE_CONTEXT, "session", "handler", NULL, E), INVIVO_E_CAPTIVE,
                  "'user' (context(session)) would hold 'handler'");
    /* Through an object of its own. */
    define("part", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, "handler", NULL);
    refuses(try_define("user", "Plain", INVIVO_SCOPE_CONTEXT, "session", "part", NULL, E), INVIVO_E_CAPTIVE, "user -> part -> handler");
    /* Contexts of the same kind, of inner ones, and without a kind. */
    define("same", "Plain", INVIVO_SCOPE_CONTEXT, "request", "handler", "cache");
    define("any", "Plain", INVIVO_SCOPE_CONTEXT, NULL, "handler", NULL);
    close_runtime();
}

/* ---- what code of objects sees --------------------------------------------------------------------------- */

static invivo_context seen[8];
static void note_current(worker *self) { seen[self->name[0] - 'a'] = invivo_context_current(runtime); }

static void code_of_an_object_sees_the_context_in_which_it_lives(void) {
    open_runtime();
    define("a.pool", "Worker", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL, NULL);
    define("b.user", "Worker", INVIVO_SCOPE_CONTEXT, "session", "a.pool", NULL);
    define("c.handler", "Worker", INVIVO_SCOPE_CONTEXT, "request", "b.user", NULL);
    define("d.each", "Worker", INVIVO_SCOPE_PROTOTYPE, NULL, "c.handler", NULL);
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session), expected[] = {nowhere, session, request, request};
    memset(seen, 0xff, sizeof seen);
    in_init = note_current;
    invivo_object each = object_in(request, "d.each");
    for (int i = 0; i < 4; i++) CHECK_EQUAL(seen[i].bits, expected[i].bits);
    memset(seen, 0xff, sizeof seen);
    in_init = NULL, in_stop = note_current;
    OK(invivo_context_enter(request, E)); /* the stop of the singleton does not see the context of its caller */
    OK(invivo_context_leave(request, E));
    OK(invivo_context_end(request, E));
    CHECK_EQUAL(seen[2].bits, request.bits);
    CHECK_EQUAL(seen[3].bits, request.bits);
    OK(invivo_object_release(each));
    invivo_context other = open_kind("request", session);
    OK(invivo_context_enter(other, E));
    OK(invivo_context_end(session, E));
    CHECK_EQUAL(seen[1].bits, session.bits);
    OK(invivo_context_leave(other, E));
    invivo_context another = open_kind("request", nowhere);
    OK(invivo_context_enter(another, E));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(seen[0].bits, 0);
    CHECK_EQUAL(live, 0);
}

static void leave_unbalanced(worker *self) {
    (void)self;
    static invivo_context left;
    invivo_context_options options = {.struct_size = sizeof options, .flags = INVIVO_CONTEXT_DETACHED};
    OK(invivo_context_open(runtime, &options, &left, E));
    OK(invivo_context_enter(left, E));
    seen[0] = left;
}
static void last_hooks_are_code_of_their_own_object(void) {
    open_runtime();
    define("a.pool", "Worker", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL, NULL);
    define("b.user", "Worker", INVIVO_SCOPE_CONTEXT, "session", "a.pool", NULL);
    define("c.handler", "Worker", INVIVO_SCOPE_CONTEXT, "request", "b.user", NULL);
    define("d.each", "Worker", INVIVO_SCOPE_PROTOTYPE, NULL, "c.handler", NULL);
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session), expected[] = {nowhere, session, request, request};
    memset(seen, 0xff, sizeof seen);
    in_last = note_current;
    OK(invivo_object_release(object_in(request, "d.each")));
    for (int i = 0; i < 4; i++) CHECK_EQUAL(seen[i].bits, expected[i].bits);
    close_runtime();
}

static void code_that_enters_a_context_and_does_not_leave_it_changes_that_of_no_other(void) {
    open_runtime();
    define("a.pool", "Plain", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL, NULL);
    define("handler", "Plain", INVIVO_SCOPE_CONTEXT, "request", "a.pool", NULL);
    invivo_context request = open_kind("request", nowhere);
    in_init = leave_unbalanced;
    invivo_object handler = object_in(request, "handler");
    CHECK_EQUAL(worker_of(handler)->home.bits, request.bits);
    CHECK_EQUAL(invivo_context_current(runtime).bits, 0);
    refuses(invivo_context_leave(seen[0], E), INVIVO_E_DOMAIN, "the calling thread has not entered the context");
    OK(invivo_object_release(handler));
    close_runtime();
}

/* ---- the end ---------------------------------------------------------------------------------------------- */

static void the_end_stops_what_was_created_in_reverse_order(void) {
    open_runtime();
    define("user", "Worker", INVIVO_SCOPE_CONTEXT, "session", NULL, NULL);
    define("log", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("files", "Worker", INVIVO_SCOPE_CONTEXT, "request", "log", "user");
    define("upload", "Worker", INVIVO_SCOPE_PROTOTYPE, NULL, "files", NULL);
    define("mail", "Worker", INVIVO_SCOPE_GRAPH, NULL, "files", NULL);
    define("handler", "Worker", INVIVO_SCOPE_CONTEXT, "request", "files", NULL);
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session);
    invivo_object upload = object_in(request, "upload"), mail = object_in(request, "mail"), handler = object_in(request, "handler");
    OK(invivo_object_release(object_in(request, "upload"))); /* a second one, which ends with its lease */
    CHECK_TEXT(trace, "stop:upload end:upload");
    trace[0] = 0;
    OK(invivo_object_release(handler));
    invivo_value leased;
    OK(invivo_context_end_with(request, NULL, &leased, E));
    CHECK_TEXT(trace, "stop:handler stop:mail stop:upload stop:files end:handler");
    /* What is leased is listed, the newest first, and ends with its last lease; with it, what it holds. */
    CHECK_EQUAL(leased.as.list.count, 4);
    if (leased.as.list.count == 4) {
        CHECK_TEXT(leased.as.list.items[0].as.string.data, "mail");
        CHECK_TEXT(leased.as.list.items[1].as.string.data, "upload");
        CHECK_TEXT(leased.as.list.items[2].as.string.data, "files");
        CHECK_TEXT(leased.as.list.items[3].as.string.data, "log");
    }
    invivo_value_clear(&leased);
    trace[0] = 0;
    OK(invivo_object_release(mail));
    CHECK_TEXT(trace, "end:mail");
    OK(invivo_object_release(upload));
    CHECK_TEXT(trace, "end:mail end:upload end:files end:log");
    trace[0] = 0;
    OK(invivo_context_end(request, E));
    CHECK_TEXT(trace, "");
    OK(invivo_context_end(session, E));
    CHECK_TEXT(trace, "stop:user end:user");
    close_runtime();
}

static void contexts_inside_end_first(void) {
    open_runtime();
    define("user", "Worker", INVIVO_SCOPE_CONTEXT, "session", NULL, NULL);
    define("one", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("two", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("three", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context session = open_kind("session", nowhere), first = open_kind("request", session), second = open_kind("request", session),
                   inner = open_kind("request", second);
    bits_in(first, "one"), bits_in(inner, "three"), bits_in(second, "two"), bits_in(session, "user");
    invivo_context_ending refusing = {.struct_size = sizeof refusing, .flags = INVIVO_END_REFUSES_CHILDREN};
    refuses(invivo_context_end_with(session, &refusing, NULL, E), INVIVO_E_BUSY,
                  "the context 'session' cannot end while contexts in it are open: the context 'request', the context 'request'");
    CHECK_TEXT(trace, "");
    OK(invivo_context_end(session, E));
    CHECK_TEXT(trace, "stop:three end:three stop:two end:two stop:one end:one stop:user end:user");
    refuses(invivo_context_retain(first, E), INVIVO_E_STALE, "has ended");
    close_runtime();
}

static void failures_of_stops_are_collected_and_known_afterwards(void) {
    open_runtime();
    define("one", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("two", "Worker", INVIVO_SCOPE_CONTEXT, "request", "one", NULL);
    invivo_context session = open_kind("session", nowhere), request = open_kind("request", session);
    bits_in(request, "two");
    failing = "two";
    refuses(invivo_context_end(request, E), INVIVO_E_HOST, "the context 'request' has ended: the disk is full");
    CHECK_TEXT(trace, "stop:two stop:one end:two end:one");
    failing = NULL;
    refuses(invivo_context_end(request, E), INVIVO_E_HOST, "the disk is full"); /* the first result */
    failing = "one";
    invivo_context other = open_kind("request", session);
    bits_in(other, "two");
    refuses(invivo_context_end(session, E), INVIVO_E_HOST, "the disk is full");
    CHECK_EQUAL(live, 0);
    failing = NULL;
    close_runtime();
}

static invivo_context shared_end;
static volatile int is_asked;
static void wait_until_asked(worker *self) {
    (void)self;
    while (!__atomic_load_n(&is_asked, __ATOMIC_ACQUIRE)) sched_yield();
}
static void *end_too(void *unused) {
    (void)unused;
    __atomic_store_n(&is_asked, 1, __ATOMIC_RELEASE);
    refuses(invivo_context_end(shared_end, E), INVIVO_E_HOST, "the disk is full");
    return NULL;
}
static void *end_first(void *unused) {
    (void)unused;
    refuses(invivo_context_end(shared_end, E), INVIVO_E_HOST, "the disk is full");
    return NULL;
}
static void all_calls_that_end_a_context_have_the_same_result(void) {
    open_runtime();
    define("one", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[3];
        shared_end = open_kind("request", nowhere);
        bits_in(shared_end, "one");
        failing = "one", in_stop = wait_until_asked, is_asked = 0;
        pthread_create(&threads[0], NULL, end_first, NULL);
        pthread_create(&threads[1], NULL, end_too, NULL);
        pthread_create(&threads[2], NULL, end_too, NULL);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    }
    failing = NULL, in_stop = NULL;
    close_runtime();
}

static invivo_context ending;
static invivo_status found[6];
static void look_around(worker *self) {
    if (strcmp(self->name, "last") != 0) return;
    invivo_object object;
    invivo_value value;
    invivo_key user;
    OK(invivo_key_intern(runtime, "user", &user, E));
    found[0] = invivo_context_get(ending, user, &value, NULL);
    if (!found[0]) invivo_value_clear(&value);
    found[1] = invivo_context_resolve(ending, key_of("first"), &object, NULL);
    if (!found[1]) invivo_object_release(object);
    refuses(invivo_context_resolve(ending, key_of("unbuilt"), &object, E), INVIVO_E_STALE,
                  "the context 'request' is ending, and 'unbuilt' is not built in it: nothing is created in it any more");
    refuses(invivo_context_resolve(ending, key_of("each"), &object, E), INVIVO_E_STALE, "nothing is created in it any more");
    refuses(invivo_context_resolve(ending, key_of("newest"), &object, E), INVIVO_E_STALE, "'newest' is stopped");
    refuses(invivo_context_end(ending, E), INVIVO_E_IN_CALLBACK, "cannot be ended by a build or hook of an object in it");
    invivo_context below;
    invivo_context_options options = {.struct_size = sizeof options, .parent = ending};
    refuses(invivo_context_open(runtime, &options, &below, E), INVIVO_E_STALE, "is ending: no context is opened in it");
    const char *message;
    found[2] = invivo_context_failure(ending, &message);
    CHECK_TEXT(message, "the client is gone");
    /* What lives outside can be built. */
    found[3] = invivo_context_resolve(ending, key_of("outside"), &object, NULL);
    if (!found[3]) invivo_object_release(object);
}
static void a_stop_can_use_what_is_built(void) {
    open_runtime();
    define("outside", "Plain", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL, NULL);
    define("each", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, NULL, NULL);
    define("first", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("unbuilt", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("last", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("newest", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    ending = open_kind("request", nowhere);
    invivo_value name = invivo_string("Ann");
    invivo_key user;
    OK(invivo_key_intern(runtime, "user", &user, E));
    OK(invivo_context_set(ending, user, &name, E));
    bits_in(ending, "first"), bits_in(ending, "last"), bits_in(ending, "newest");
    in_stop = look_around;
    for (int i = 0; i < 6; i++) found[i] = -1000;
    invivo_context_ending options = {.struct_size = sizeof options, .failure = INVIVO_E_HOST, .failure_message = "the client is gone"};
    OK(invivo_context_end_with(ending, &options, NULL, E));
    CHECK_EQUAL(found[0], INVIVO_OK);
    CHECK_EQUAL(found[1], INVIVO_OK);
    CHECK_EQUAL(found[2], INVIVO_E_HOST);
    CHECK_EQUAL(found[3], INVIVO_OK);
    CHECK_EQUAL(invivo_context_failure(ending, NULL), INVIVO_OK);
    in_stop = NULL;
    close_runtime();
}

static void end_home(worker *self) {
    (void)self;
    refuses(invivo_context_end(ending, E), INVIVO_E_IN_CALLBACK, "cannot be ended by a build or hook of an object in it");
}
static void a_build_cannot_end_its_context(void) {
    open_runtime();
    define("handler", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("each", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, NULL, NULL);
    ending = open_kind("session", nowhere);
    invivo_context request = open_kind("request", ending);
    in_init = end_home;
    bits_in(request, "handler");
    OK(invivo_context_end(request, E));
    in_init = NULL;
    OK(invivo_context_end(ending, E));
    close_runtime();
}

static pthread_barrier_t barrier;
static volatile int may_return;
static void build_slowly(worker *self) {
    (void)self;
    pthread_barrier_wait(&barrier);
    while (!__atomic_load_n(&may_return, __ATOMIC_ACQUIRE)) sched_yield();
}
static void *build_in(void *context) {
    invivo_object object;
    if (invivo_context_resolve(*(invivo_context *)context, key_of("slow"), &object, NULL) == INVIVO_OK) OK(invivo_object_release(object));
    return NULL;
}
static void *let_return(void *context) {
    (void)context;
    /* When the context is ending, a build in it is refused. */
    invivo_object object;
    while (invivo_context_resolve(ending, key_of("other"), &object, NULL) == INVIVO_OK) OK(invivo_object_release(object));
    __atomic_store_n(&may_return, 1, __ATOMIC_RELEASE);
    return NULL;
}
static void the_end_waits_for_builds(void) {
    open_runtime();
    define("slow", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("other", "Plain", INVIVO_SCOPE_PROTOTYPE, NULL, NULL, NULL);
    ending = open_kind("request", nowhere);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t builder, watcher;
    in_init = NULL, may_return = 0;
    define("slow", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    in_init = build_slowly;
    pthread_create(&builder, NULL, build_in, &ending);
    pthread_barrier_wait(&barrier);
    in_init = NULL;
    pthread_create(&watcher, NULL, let_return, NULL);
    OK(invivo_context_end(ending, E));
    pthread_join(builder, NULL); /* which releases the object */
    CHECK_TEXT(trace + (strstr(trace, "stop:slow") ? strstr(trace, "stop:slow") - trace : 0), "stop:slow end:slow");
    pthread_join(watcher, NULL);
    pthread_barrier_destroy(&barrier);
    close_runtime();
}

static void a_build_that_does_not_return_is_abandoned(void) {
    open_runtime();
    define("slow", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t builder;
    may_return = 0, in_init = build_slowly;
    pthread_create(&builder, NULL, build_in, &request);
    pthread_barrier_wait(&barrier);
    in_init = NULL;
    invivo_context_ending options = {.struct_size = sizeof options, .timeout_ms = 50};
    refuses(invivo_context_end_with(request, &options, NULL, E), INVIVO_E_TIMEOUT,
                  "the context 'request' has ended: a build in the context 'request' has not ended in time: it is abandoned");
    __atomic_store_n(&may_return, 1, __ATOMIC_RELEASE);
    pthread_join(builder, NULL);
    pthread_barrier_destroy(&barrier);
    CHECK_EQUAL(live, 0); /* it ended with its build */
    close_runtime();
}

static void hang(worker *self) {
    if (strcmp(self->name, "stuck") == 0)
        while (!__atomic_load_n(&may_return, __ATOMIC_ACQUIRE)) sched_yield();
}
static void a_stop_that_does_not_return_is_abandoned(void) {
    open_runtime();
    define("first", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("stuck", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_context request = open_kind("request", nowhere);
    bits_in(request, "first"), bits_in(request, "stuck");
    may_return = 0, in_stop = hang;
    invivo_context_ending options = {.struct_size = sizeof options, .timeout_ms = 50};
    refuses(invivo_context_end_with(request, &options, NULL, E), INVIVO_E_TIMEOUT, "stuck");
    refuses(invivo_context_get(request, key_of("first"), &(invivo_value){0}, E), INVIVO_E_STALE, "has ended");
    __atomic_store_n(&may_return, 1, __ATOMIC_RELEASE);
    in_stop = NULL;
    close_runtime();
}

static void *enter_and_leave(void *context) {
    OK(invivo_context_enter(*(invivo_context *)context, E));
    pthread_barrier_wait(&barrier);
    /* While the context ends, none is opened in it. */
    invivo_context below;
    invivo_context_options options = {.struct_size = sizeof options, .parent = *(invivo_context *)context};
    while (invivo_context_open(runtime, &options, &below, NULL) == INVIVO_OK) OK(invivo_context_release(below, E));
    CHECK_TEXT(trace, "");
    OK(invivo_context_leave(*(invivo_context *)context, E));
    return NULL;
}
static void *enter_for_ever(void *context) {
    OK(invivo_context_enter(*(invivo_context *)context, E));
    return NULL;
}
static void the_end_waits_for_threads_inside(void) {
    open_runtime();
    define("cache", "Worker", INVIVO_SCOPE_CONTEXT, NULL, NULL, NULL);
    invivo_context context = open_kind("request", nowhere);
    bits_in(context, "cache");
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, enter_and_leave, &context);
    pthread_barrier_wait(&barrier);
    OK(invivo_context_enter(context, E)); /* its own block is no reason to wait */
    OK(invivo_context_end(context, E));
    CHECK_TEXT(trace, "stop:cache end:cache");
    OK(invivo_context_leave(context, E));
    pthread_join(thread, NULL);
    /* A thread that has ended is in no context. */
    context = open_kind("request", nowhere);
    pthread_create(&thread, NULL, enter_for_ever, &context);
    pthread_join(thread, NULL);
    OK(invivo_context_end(context, E));
    pthread_barrier_destroy(&barrier);
    close_runtime();
}

static void *enter_until_told(void *context) {
    OK(invivo_context_enter(*(invivo_context *)context, E));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    CHECK_EQUAL(invivo_context_current(runtime).bits, 0);
    OK(invivo_context_leave(*(invivo_context *)context, E));
    return NULL;
}
static void a_thread_that_stays_inside_is_reported(void) {
    open_runtime();
    invivo_context context = open_kind("request", nowhere);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, enter_until_told, &context);
    pthread_barrier_wait(&barrier);
    invivo_context_ending options = {.struct_size = sizeof options, .timeout_ms = 20};
    refuses(invivo_context_end_with(context, &options, NULL, E), INVIVO_E_TIMEOUT,
            "another thread has entered the context 'request', and has not left it in time");
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    close_runtime();
}

/* ---- callables that resolve later ---------------------------------------------------------------------------- */

static void a_provider_resolves_where_it_is_called_or_else_where_its_holder_lives(void) {
    open_runtime();
    define("files", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    invivo_injection target = {.how = INVIVO_INJECT_REFERENCE, .reference = "files"},
                     injections[] = {{.how = INVIVO_INJECT_PROVIDER, .items = &target, .item_count = 1}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "handler", .type_name = "Plain", .scope = INVIVO_SCOPE_CONTEXT,
                                    .scope_name = "request", .initializer = injections, .initializer_count = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
    definition.key = "pool", definition.scope = INVIVO_SCOPE_LAZY_SINGLETON, definition.scope_name = NULL;
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_context first = open_kind("request", nowhere), second = open_kind("request", nowhere);
    invivo_object handler = object_in(first, "handler"), pool = object_in(second, "pool");
    uint64_t here = bits_in(first, "files"), there = bits_in(second, "files");
    struct { invivo_object holder; invivo_context current; uint64_t expected; } cases[] = {
        {handler, nowhere, here}, {handler, second, there}, {pool, second, there}, {pool, first, here}, {pool, nowhere, 0}};
    for (int i = 0; i < 5; i++) {
        invivo_value result;
        if (cases[i].current.bits) OK(invivo_context_enter(cases[i].current, E));
        invivo_status status = invivo_callable_call(worker_of(cases[i].holder)->call, NULL, 0, &result, NULL);
        CHECK_EQUAL(status, cases[i].expected ? INVIVO_OK : INVIVO_E_NOT_READY);
        if (!status) CHECK_EQUAL(result.as.object.bits, cases[i].expected), invivo_value_clear(&result);
        if (cases[i].current.bits) OK(invivo_context_leave(cases[i].current, E));
    }
    OK(invivo_object_release(handler));
    OK(invivo_object_release(pool));
    close_runtime();
}

static void the_last_holder_ends_a_context_without_a_kind(void) {
    open_runtime();
    define("cache", "Worker", INVIVO_SCOPE_CONTEXT, NULL, NULL, NULL);
    invivo_context context = open_kind(NULL, nowhere);
    bits_in(context, "cache");
    OK(invivo_context_release(context, E));
    CHECK_TEXT(trace, "stop:cache end:cache");
    close_runtime();
}

static void close_ends_contexts(void) {
    open_runtime();
    define("cache", "Worker", INVIVO_SCOPE_CONTEXT, NULL, NULL, NULL);
    define("each", "Worker", INVIVO_SCOPE_PROTOTYPE, NULL, "cache", NULL);
    invivo_context context = open_kind(NULL, nowhere);
    invivo_object each = object_in(context, "each"), other = object_in(context, "each");
    OK(invivo_object_release(other));
    trace[0] = 0;
    refuses(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, "still leased: 'each'");
    CHECK_TEXT(trace, "");
    bits_in(context, "cache");
    OK(invivo_object_release(each));
    close_runtime();
    CHECK_TEXT(trace, "stop:each end:each stop:cache end:cache");
}

/* ---- reloads ----------------------------------------------------------------------------------------------- */

static void a_changed_definition_has_a_new_object_in_each_open_context(void) {
    open_runtime();
    define("files", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    define("handler", "Worker", INVIVO_SCOPE_CONTEXT, "request", "files", NULL);
    invivo_context request = open_kind("request", nowhere);
    uint64_t handler = bits_in(request, "handler");
    define("spare", "Worker", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    CHECK_EQUAL(bits_in(request, "handler"), handler);
    define("files", "Plain", INVIVO_SCOPE_CONTEXT, "request", NULL, NULL);
    CHECK(bits_in(request, "handler") != handler);
    trace[0] = 0;
    OK(invivo_context_end(request, E));
    CHECK(strstr(trace, "stop:handler"));
    CHECK_EQUAL(live, 0);
    close_runtime();
}

int main(void) {
    check_begin();
    each_context_of_a_kind_has_its_own();
    an_object_without_a_kind_lives_where_it_is_resolved();
    an_object_of_a_kind_that_is_not_open_is_an_error();
    the_current_context_is_used_without_an_explicit_one();
    a_longer_lived_object_does_not_hold_a_shorter_lived_one();
    code_of_an_object_sees_the_context_in_which_it_lives();
    last_hooks_are_code_of_their_own_object();
    code_that_enters_a_context_and_does_not_leave_it_changes_that_of_no_other();
    the_end_stops_what_was_created_in_reverse_order();
    contexts_inside_end_first();
    failures_of_stops_are_collected_and_known_afterwards();
    all_calls_that_end_a_context_have_the_same_result();
    a_stop_can_use_what_is_built();
    a_build_cannot_end_its_context();
    the_end_waits_for_builds();
    a_build_that_does_not_return_is_abandoned();
    a_stop_that_does_not_return_is_abandoned();
    the_end_waits_for_threads_inside();
    a_thread_that_stays_inside_is_reported();
    a_provider_resolves_where_it_is_called_or_else_where_its_holder_lives();
    the_last_holder_ends_a_context_without_a_kind();
    close_ends_contexts();
    a_changed_definition_has_a_new_object_in_each_open_context();
    return check_end();
}
