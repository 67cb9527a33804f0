/* Misuse returns an error and never crashes: NULL, zero, stale, foreign and wrong-kind handles, double release, use
 * after close, wrong struct sizes. Each call of this file has one fault. */
#include "check.h"

typedef struct { double gain; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1)};

static invivo_status play(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                          invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count, (void)result, (void)error;
    return INVIVO_OK;
}
static const invivo_method voice_methods[] = {{.struct_size = sizeof(invivo_method), .name = "play", .result = INVIVO_KIND_NULL, .call = play}};

static invivo_status invoke(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)result, (void)error;
    return INVIVO_OK;
}
static void reloaded(void *user_data, const invivo_report *report) { (void)user_data, (void)report; }
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    invivo_job_run(job);
    return INVIVO_OK;
}

/* One handle of each kind. */
typedef struct {
    invivo_runtime runtime;
    invivo_object object;
    invivo_key key;
    invivo_type type;
    invivo_callable callable;
    invivo_domain domain;
    invivo_changes changes;
    invivo_source source;
    invivo_target target;
    invivo_observer observer;
} handles;

static handles open_all(void) {
    handles h = {{0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}};
    invivo_type_options type = {.struct_size = sizeof(type), .name = "Voice", .size = sizeof(voice), .alignment = _Alignof(voice),
                                .properties = voice_properties, .property_count = 1, .methods = voice_methods, .method_count = 1};
    invivo_callable_options callable = {.struct_size = sizeof(callable), .invoke = invoke};
    invivo_domain_options domain = {.struct_size = sizeof(domain), .post = post};
    invivo_source_options source = {.struct_size = sizeof(source), .name = "m.yaml", .text = "{}", .length = 2};
    invivo_observer_options observer = {.struct_size = sizeof(observer), .reloaded = reloaded};
    OK(invivo_runtime_open(&h.runtime, NULL, E));
    OK(invivo_type_register(h.runtime, &type, &h.type, E));
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.voice", .scope = INVIVO_SCOPE_SINGLETON, .type = h.type};
    OK(invivo_define(h.runtime, &lead, &h.key, E));
    OK(invivo_object_make(h.runtime, h.type, NULL, 0, &h.object, E));
    OK(invivo_callable_make(h.runtime, &callable, &h.callable, E));
    OK(invivo_domain_register(h.runtime, &domain, &h.domain, E));
    OK(invivo_source_open(h.runtime, &source, &h.source, E));
    OK(invivo_target_attach(h.object, "b.voice", &h.target, E));
    OK(invivo_observe(h.runtime, &observer, &h.observer, E));
    OK(invivo_changes_open(h.runtime, &h.changes, E));
    return h;
}
static void close_all(handles h) {
    OK(invivo_object_release(h.object));
    OK(invivo_callable_release(h.callable));
    invivo_changes_discard(h.changes);
    OK(invivo_runtime_close(h.runtime, E));
}

/* Every function with a handle, called with wrong bits: it returns a handle error. */
static int calls;
static void refused(const char *call, invivo_status status, invivo_error *error, bool takes_error) {
    calls++;
    if (status != INVIVO_E_HANDLE && status != INVIVO_E_CLOSED && status != INVIVO_E_STALE && status != INVIVO_E_COLD)
        check_failed(__FILE__, __LINE__, "%s answers %s (%s)", call, invivo_status_name(status), invivo_error_text(error));
    if (takes_error && (!error || invivo_error_code(error) != status || !*invivo_error_message(error)))
        check_failed(__FILE__, __LINE__, "%s leaves no error that fits", call);
    invivo_error_release(error);
}
#define REFUSED(call) (error = NULL, status = (call), refused(#call, status, error, true))
#define REFUSED_PLAINLY(call) refused(#call, (call), NULL, false)

static void every_function_refuses(uint64_t bits, handles good) {
    invivo_error *error;
    invivo_status status;
    invivo_value value = invivo_double(1), out;
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.other", .scope = INVIVO_SCOPE_PROTOTYPE, .type = good.type};
    invivo_callable_options callable = {.struct_size = sizeof(callable), .invoke = invoke};
    invivo_domain_options domain = {.struct_size = sizeof(domain), .post = post};
    invivo_source_options source = {.struct_size = sizeof(source), .name = "n.yaml", .text = "{}", .length = 2};
    invivo_observer_options observer = {.struct_size = sizeof(observer), .reloaded = reloaded};
    invivo_type_options type = {.struct_size = sizeof(type), .name = "Other", .size = 8};
    static voice instance;
    const invivo_token *token;
    handles made;
    void *pointer;
    int descriptor;

    if (bits != good.runtime.bits) {
        invivo_runtime bad = {bits};
        REFUSED(invivo_runtime_close(bad, &error));
        REFUSED(invivo_runtime_close_deferred(bad, &error));
        REFUSED(invivo_runtime_poll(bad, 0, NULL, &error));
        REFUSED(invivo_runtime_descriptor(bad, &descriptor, &error));
        REFUSED(invivo_thread_prepare(bad, &error));
        REFUSED(invivo_domain_register(bad, &domain, &made.domain, &error));
        REFUSED(invivo_runtime_inspect(bad, &info, &error));
        error = NULL;
        REFUSED_PLAINLY(invivo_runtime_last_error(bad, &error));
        CHECK(error == NULL);
        REFUSED_PLAINLY(invivo_runtime_note_error(bad, NULL));
        REFUSED(invivo_callable_make(bad, &callable, &made.callable, &error));
        REFUSED(invivo_type_register(bad, &type, &made.type, &error));
        REFUSED(invivo_type_find(bad, "Voice", &made.type, &error));
        REFUSED(invivo_object_make(bad, good.type, NULL, 0, &made.object, &error));
        REFUSED(invivo_object_wrap(bad, good.type, &instance, &made.object, &error));
        REFUSED(invivo_target_declare(bad, "a.b", good.type, &error));
        REFUSED(invivo_key_intern(bad, "a.b", &made.key, &error));
        REFUSED(invivo_key_find(bad, "a.b", &made.key, &error));
        REFUSED(invivo_changes_open(bad, &made.changes, &error));
        REFUSED(invivo_define(bad, &lead, NULL, &error));
        REFUSED(invivo_define_block(bad, "a.b", INVIVO_BLOCK(voice, voice_properties), NULL, &error));
        REFUSED(invivo_resolve(bad, good.key, &made.object, &error));
        REFUSED(invivo_resolve_with(bad, good.key, NULL, 0, &made.object, &error));
        REFUSED(invivo_resolve_name(bad, "a.voice", &made.object, &error));
        REFUSED_PLAINLY(invivo_peek(bad, good.key, &made.object));
        REFUSED(invivo_source_open(bad, &source, &made.source, &error));
        REFUSED(invivo_watch(bad, "a.yaml", &error));
        REFUSED(invivo_observe(bad, &observer, &made.observer, &error));
        REFUSED(invivo_share(bad, &token, &error));
        REFUSED(invivo_module_load(bad, "a.so", NULL, &error));
        invivo_view view = invivo_view_begin(bad);
        CHECK(invivo_view_get(view, good.key) == NULL);
        CHECK(invivo_view_block(view, good.key) == NULL);
        CHECK(invivo_view_find(view, "a.voice", 7) == NULL);
        CHECK(invivo_view_key(view, "a.voice", 7).bits == 0);
        CHECK_EQUAL(invivo_view_generation(view), 0);
        invivo_view_end(view);
    }
    if (bits != good.object.bits) {
        invivo_object bad = {bits};
        REFUSED_PLAINLY(invivo_object_retain(bad));
        REFUSED_PLAINLY(invivo_object_release(bad));
        REFUSED(invivo_object_get(bad, "gain", &out, &error));
        CHECK_EQUAL(out.kind, INVIVO_KIND_NULL);
        REFUSED(invivo_object_set(bad, "gain", &value, &error));
        REFUSED(invivo_object_call(bad, "play", NULL, 0, NULL, &error));
        REFUSED(invivo_object_instance(bad, (invivo_type){0}, &pointer, &error));
        CHECK(pointer == NULL);
        REFUSED(invivo_object_type(bad, &made.type, &error));
        REFUSED(invivo_object_key(bad, &made.key, &error));
        REFUSED(invivo_object_runtime(bad, &made.runtime, &error));
        REFUSED(invivo_target_attach(bad, "a.b", NULL, &error));
        out = invivo_object_value(bad);
        REFUSED(invivo_object_call(good.object, "play", &out, 1, NULL, &error));
    }
    if (bits != good.key.bits) {
        invivo_key bad = {bits};
        REFUSED(invivo_resolve(good.runtime, bad, &made.object, &error));
        REFUSED(invivo_resolve_with(good.runtime, bad, NULL, 0, &made.object, &error));
        REFUSED_PLAINLY(invivo_peek(good.runtime, bad, &made.object));
        CHECK(invivo_key_name(bad) == NULL);
        CHECK(invivo_key_version(bad) == NULL);
        invivo_view view = invivo_view_begin(good.runtime);
        CHECK(invivo_view_get(view, bad) == NULL);
        CHECK(invivo_view_block(view, bad) == NULL);
        invivo_view_end(view);
    }
    if (bits != good.type.bits) {
        invivo_type bad = {bits};
        invivo_property property;
        invivo_method method;
        REFUSED(invivo_object_make(good.runtime, bad, NULL, 0, &made.object, &error));
        REFUSED(invivo_object_wrap(good.runtime, bad, &instance, &made.object, &error));
        REFUSED(invivo_target_declare(good.runtime, "a.b", bad, &error));
        CHECK(invivo_type_name(bad) == NULL);
        CHECK_EQUAL(invivo_type_property_count(bad), 0);
        CHECK_EQUAL(invivo_type_method_count(bad), 0);
        REFUSED_PLAINLY(invivo_type_property_at(bad, 0, &property));
        REFUSED_PLAINLY(invivo_type_method_at(bad, 0, &method));
        if (bits) {
            lead.type = bad;
            REFUSED(invivo_define(good.runtime, &lead, NULL, &error));
        }
    }
    if (bits != good.callable.bits) {
        invivo_callable bad = {bits};
        REFUSED(invivo_callable_call(bad, NULL, 0, NULL, &error));
        REFUSED_PLAINLY(invivo_callable_retain(bad));
        REFUSED_PLAINLY(invivo_callable_release(bad));
        CHECK(invivo_callable_user_data(bad, invoke) == NULL);
    }
    if (bits != good.domain.bits && bits) {
        type.domain.bits = bits;
        REFUSED(invivo_type_register(good.runtime, &type, &made.type, &error));
        type.domain.bits = 0;
        observer.domain.bits = bits;
        REFUSED(invivo_observe(good.runtime, &observer, &made.observer, &error));
    }
    REFUSED_PLAINLY(invivo_job_run((invivo_job){bits}));
    REFUSED_PLAINLY(invivo_job_drop((invivo_job){bits}));
    if (bits != good.changes.bits) {
        invivo_changes bad = {bits};
        REFUSED(invivo_changes_define(bad, &lead, NULL, &error));
        REFUSED(invivo_changes_remove(bad, "a.voice", &error));
        REFUSED(invivo_changes_document(bad, "a", "{}", 2, &error));
        REFUSED(invivo_changes_set(bad, "a.voice", "gain", &value, &error));
        REFUSED(invivo_changes_commit(bad, &error));
        REFUSED(invivo_changes_submit(bad, &error));
        invivo_changes_discard(bad);
    }
    if (bits != good.source.bits) {
        invivo_source bad = {bits};
        REFUSED(invivo_source_update(bad, "{}", 2, &error));
        REFUSED(invivo_source_refresh(bad, &error));
        REFUSED(invivo_source_close(bad, &error));
    }
    if (bits != good.target.bits) REFUSED(invivo_target_detach((invivo_target){bits}, &error));
    if (bits != good.observer.bits) REFUSED(invivo_observer_close((invivo_observer){bits}, &error));
    {
        invivo_app bad = {bits};
        REFUSED(invivo_app_runtime(bad, &made.runtime, &error));
        REFUSED(invivo_app_close(bad, &error));
    }
}

static void handles_that_are_zero_foreign_or_of_another_kind(void) {
    handles h = open_all(), other = open_all();
    const uint64_t *all = (const uint64_t *)&h;
    size_t count = sizeof(h) / sizeof(uint64_t);
    invivo_error *error;
    invivo_status status;
    invivo_object object;
    every_function_refuses(0, h);
    every_function_refuses(UINT64_MAX, h);
    every_function_refuses(0x1234567890abcdefu, h);
    for (size_t i = 0; i < count; i++) {
        every_function_refuses(all[i], h);
        /* The next slot too, unless it has a valid handle: the singleton's, and the target's key. */
        if (all[i] != h.object.bits && all[i] != h.key.bits) every_function_refuses(all[i] ^ 1, h);
        every_function_refuses(all[i] ^ ((uint64_t)1 << 32), h); /* another generation */
        every_function_refuses(all[i] | 0xffffffu, h);         /* far beyond the end of the table */
    }
    /* A valid handle of another runtime. */
    REFUSED(invivo_resolve(h.runtime, other.key, &object, &error));
    REFUSED(invivo_object_make(h.runtime, other.type, NULL, 0, &object, &error));
    REFUSED(invivo_target_declare(h.runtime, "a.b", other.type, &error));
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.other", .type = other.type};
    REFUSED(invivo_define(h.runtime, &lead, NULL, &error));
    invivo_type_options type = {.struct_size = sizeof(type), .name = "Foreign", .size = 8, .domain = other.domain};
    REFUSED(invivo_type_register(h.runtime, &type, NULL, &error));
    invivo_observer_options observer = {.struct_size = sizeof(observer), .reloaded = reloaded, .domain = other.domain};
    REFUSED(invivo_observe(h.runtime, &observer, NULL, &error));
    close_all(other);
    close_all(h);
    CHECK(calls > 2000);
}

static void everything_after_close_is_refused(void) {
    handles gone = open_all();
    close_all(gone);
    handles h = open_all(); /* uses the same slots again */
    const uint64_t *all = (const uint64_t *)&gone;
    for (size_t i = 0; i < sizeof(gone) / sizeof(uint64_t); i++) every_function_refuses(all[i], h);
    expects_error(invivo_runtime_close(gone.runtime, E), INVIVO_E_CLOSED, "the runtime is closed");
    close_all(h);
}

static void releasing_twice_takes_no_other_hold(void) {
    handles h = open_all();
    invivo_object first, second;
    OK(invivo_resolve(h.runtime, h.key, &first, E));
    OK(invivo_resolve(h.runtime, h.key, &second, E));
    CHECK(first.bits == second.bits);
    OK(invivo_object_release(first));
    OK(invivo_object_release(second));
    CHECK_EQUAL(invivo_object_release(second), INVIVO_E_HANDLE); /* the hold of the graph does not belong to the host */
    OK(invivo_resolve(h.runtime, h.key, &first, E));
    OK(invivo_object_release(first));
    OK(invivo_callable_retain(h.callable));
    OK(invivo_callable_release(h.callable));
    OK(invivo_source_close(h.source, E));
    expects_error(invivo_source_close(h.source, E), INVIVO_E_HANDLE, NULL);
    OK(invivo_observer_close(h.observer, E));
    expects_error(invivo_observer_close(h.observer, E), INVIVO_E_HANDLE, NULL);
    OK(invivo_target_detach(h.target, E));
    expects_error(invivo_target_detach(h.target, E), INVIVO_E_HANDLE, NULL);
    invivo_changes_discard(h.changes);
    invivo_changes_discard(h.changes);
    close_all(h);
}

/* A call with NULL for a required argument; the error pointer may always be NULL. */
static void null_is_refused(void) {
    handles h = open_all();
    invivo_value value = invivo_double(1);
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.b", .type = h.type};
    invivo_definition nameless = {.struct_size = sizeof(nameless), .type = h.type};
    invivo_definition typeless = {.struct_size = sizeof(typeless), .key = "a.b"};
    invivo_callable_options no_invoke = {.struct_size = sizeof(no_invoke)};
    invivo_domain_options no_post = {.struct_size = sizeof(no_post)};
    invivo_observer_options no_function = {.struct_size = sizeof(no_function)};
    invivo_source_options nothing = {.struct_size = sizeof(nothing)};
    invivo_type_options no_name = {.struct_size = sizeof(no_name), .size = 8};
    invivo_app_options no_manifest = {.struct_size = sizeof(no_manifest)};
    invivo_object object;
    invivo_callable callable;
    invivo_domain domain;
    invivo_type type;
    invivo_app app;
    invivo_runtime attached;
#define NULL_REFUSED(call) expects_error(call, INVIVO_E_ARGUMENT, NULL)
    NULL_REFUSED(invivo_runtime_open(NULL, NULL, E));
    NULL_REFUSED(invivo_runtime_descriptor(h.runtime, NULL, E));
    NULL_REFUSED(invivo_runtime_inspect(h.runtime, NULL, E));
    NULL_REFUSED(invivo_runtime_last_error(h.runtime, NULL));
    NULL_REFUSED(invivo_runtime_note_error(h.runtime, NULL));
    NULL_REFUSED(invivo_domain_register(h.runtime, NULL, &domain, E));
    NULL_REFUSED(invivo_domain_register(h.runtime, &no_post, &domain, E));
    NULL_REFUSED(invivo_callable_make(h.runtime, NULL, &callable, E));
    NULL_REFUSED(invivo_callable_make(h.runtime, &no_invoke, &callable, E));
    NULL_REFUSED(invivo_callable_call(h.callable, NULL, 1, NULL, E));
    NULL_REFUSED(invivo_value_copy(NULL, &value, E));
    NULL_REFUSED(invivo_value_copy(&value, NULL, E));
    NULL_REFUSED(invivo_value_convert(NULL, &value, INVIVO_KIND_INT8, E));
    NULL_REFUSED(invivo_type_register(h.runtime, NULL, &type, E));
    NULL_REFUSED(invivo_type_register(h.runtime, &no_name, &type, E));
    NULL_REFUSED(invivo_type_find(h.runtime, NULL, &type, E));
    NULL_REFUSED(invivo_type_find(h.runtime, "Voice", NULL, E));
    NULL_REFUSED(invivo_type_property_at(h.type, 0, NULL));
    NULL_REFUSED(invivo_object_get(h.object, NULL, &value, E));
    NULL_REFUSED(invivo_object_get(h.object, "gain", NULL, E));
    NULL_REFUSED(invivo_object_set(h.object, NULL, &value, E));
    NULL_REFUSED(invivo_object_set(h.object, "gain", NULL, E));
    NULL_REFUSED(invivo_object_call(h.object, NULL, NULL, 0, NULL, E));
    NULL_REFUSED(invivo_object_call(h.object, "play", NULL, 2, NULL, E));
    NULL_REFUSED(invivo_object_instance(h.object, h.type, NULL, E));
    NULL_REFUSED(invivo_object_type(h.object, NULL, E));
    NULL_REFUSED(invivo_object_key(h.object, NULL, E));
    NULL_REFUSED(invivo_object_runtime(h.object, NULL, E));
    NULL_REFUSED(invivo_object_make(h.runtime, h.type, NULL, 0, NULL, E));
    NULL_REFUSED(invivo_object_make(h.runtime, h.type, NULL, 3, &object, E));
    NULL_REFUSED(invivo_object_wrap(h.runtime, h.type, NULL, &object, E));
    NULL_REFUSED(invivo_target_attach(h.object, NULL, NULL, E));
    NULL_REFUSED(invivo_target_declare(h.runtime, NULL, h.type, E));
    NULL_REFUSED(invivo_key_intern(h.runtime, NULL, &h.key, E));
    OK(invivo_key_find(h.runtime, "a.voice", &h.key, E));
    NULL_REFUSED(invivo_key_intern(h.runtime, "", NULL, E));
    NULL_REFUSED(invivo_changes_open(h.runtime, NULL, E));
    NULL_REFUSED(invivo_changes_define(h.changes, NULL, NULL, E));
    NULL_REFUSED(invivo_changes_define(h.changes, &nameless, NULL, E));
    NULL_REFUSED(invivo_changes_define(h.changes, &typeless, NULL, E));
    NULL_REFUSED(invivo_changes_remove(h.changes, NULL, E));
    NULL_REFUSED(invivo_changes_document(h.changes, NULL, "{}", 2, E));
    NULL_REFUSED(invivo_changes_set(h.changes, NULL, "gain", &value, E));
    NULL_REFUSED(invivo_changes_set(h.changes, "a.voice", NULL, &value, E));
    NULL_REFUSED(invivo_changes_set(h.changes, "a.voice", "gain", NULL, E));
    NULL_REFUSED(invivo_define(h.runtime, NULL, NULL, E));
    lead.scope = 99;
    NULL_REFUSED(invivo_define(h.runtime, &lead, NULL, E));
    lead.scope = INVIVO_SCOPE_PROTOTYPE, lead.initializer_count = 2;
    NULL_REFUSED(invivo_define(h.runtime, &lead, NULL, E));
    NULL_REFUSED(invivo_define_block(h.runtime, NULL, INVIVO_BLOCK(voice, voice_properties), NULL, E));
    NULL_REFUSED(invivo_define_block(h.runtime, "a.block", NULL, NULL, E));
    NULL_REFUSED(invivo_resolve(h.runtime, h.key, NULL, E));
    NULL_REFUSED(invivo_resolve_with(h.runtime, h.key, NULL, 0, NULL, E));
    NULL_REFUSED(invivo_resolve_with(h.runtime, h.key, NULL, 1, &object, E));
    NULL_REFUSED(invivo_resolve_name(h.runtime, NULL, &object, E));
    NULL_REFUSED(invivo_resolve_name(h.runtime, "a.voice", NULL, E));
    NULL_REFUSED(invivo_peek(h.runtime, h.key, NULL));
    NULL_REFUSED(invivo_source_open(h.runtime, NULL, NULL, E));
    NULL_REFUSED(invivo_source_open(h.runtime, &nothing, NULL, E));
    NULL_REFUSED(invivo_source_update(h.source, NULL, 2, E));
    NULL_REFUSED(invivo_watch(h.runtime, NULL, E));
    NULL_REFUSED(invivo_watch(h.runtime, "", E));
    NULL_REFUSED(invivo_observe(h.runtime, NULL, NULL, E));
    NULL_REFUSED(invivo_observe(h.runtime, &no_function, NULL, E));
    NULL_REFUSED(invivo_share(h.runtime, NULL, E));
    NULL_REFUSED(invivo_attach(NULL, &attached, E));
    NULL_REFUSED(invivo_module_load(h.runtime, NULL, NULL, E));
    NULL_REFUSED(invivo_app_open(NULL, &no_manifest, E));
    NULL_REFUSED(invivo_app_open(&app, NULL, E));
    NULL_REFUSED(invivo_app_open(&app, &no_manifest, E));
    NULL_REFUSED(invivo_app_needs_python(NULL, NULL, E));
    CHECK_EQUAL(invivo_object_get(h.object, NULL, NULL, NULL), INVIVO_E_ARGUMENT);
    /* No-ops with NULL. */
    invivo_error_release(NULL);
    invivo_value_clear(NULL);
    invivo_runtime_options_init(NULL);
    invivo_live(NULL);
    invivo_view_end((invivo_view){NULL, NULL});
    CHECK_TEXT(invivo_error_text(NULL), "");
    CHECK_TEXT(invivo_report_text(NULL), "");
    CHECK_EQUAL(invivo_report_count(NULL), 0);
    CHECK(invivo_report_error(NULL) == NULL);
    CHECK_TEXT(invivo_status_name(-12345), "INVIVO_E_UNKNOWN");
    invivo_token strange = {0, NULL, {0}};
    attached = h.runtime;
    expects_error(invivo_attach(&strange, &attached, E), INVIVO_E_HANDLE, NULL);
    CHECK_EQUAL(attached.bits, 0); /* zeroed when the call fails */
    close_all(h);
}

/* A program with a shorter struct gets the defaults of its fields, and nothing behind it is written. */
static void defaults_end_with_the_callers_structure(void) {
    const size_t first = offsetof(invivo_runtime_options, start_timeout_ms), sizes[] = {0, 1, sizeof(size_t), first, first + 8};
    struct { invivo_runtime_options known; unsigned char behind[64]; } options;
    const unsigned char *bytes = (const unsigned char *)&options;
    for (size_t i = 0; i <= sizeof sizes / sizeof *sizes; i++) {
        /* The last one is the function that such programs call. */
        size_t size = i < sizeof sizes / sizeof *sizes ? sizes[i] : first, strange = 0;
        memset(&options, 0xaa, sizeof options);
        if (i < sizeof sizes / sizeof *sizes)
            invivo_runtime_options_init_sized(&options.known, size);
        else
            (invivo_runtime_options_init)(&options.known);
        for (size_t at = size; at < sizeof options; at++) strange += bytes[at] != 0xaa;
        CHECK_EQUAL(strange, 0);
        if (size < first) continue;
        CHECK_EQUAL(options.known.struct_size, size);
        CHECK_EQUAL(options.known.quiet_ms, UINT32_MAX);
        CHECK_EQUAL(options.known.max_document_bytes, 0);
        invivo_runtime runtime;
        if (OK(invivo_runtime_open(&runtime, &options.known, E))) OK(invivo_runtime_close(runtime, E));
    }
    memset(&options, 0xaa, sizeof options);
    invivo_runtime_options_init_sized(&options.known, SIZE_MAX);
    CHECK_EQUAL(options.known.struct_size, sizeof options.known);
    CHECK_EQUAL(options.behind[0], 0xaa);
}

/* A struct_size of 0, or too small, is refused; a larger one of a newer header is read as far as it is known. */
static void wrong_struct_sizes_are_refused(void) {
    handles h = open_all();
    struct { invivo_runtime_options known; char newer[64]; } options;
    invivo_runtime runtime;
    invivo_definition lead = {.struct_size = 4, .key = "a.b", .type = h.type};
    invivo_source_options source = {.struct_size = 0, .path = "a.yaml"};
    invivo_observer_options observer = {.struct_size = 1, .reloaded = reloaded};
    invivo_type_options type = {.struct_size = 0, .name = "Other", .size = 8};
    invivo_callable_options callable = {.struct_size = 2, .invoke = invoke};
    invivo_domain_options domain = {.struct_size = 3, .post = post};
    invivo_app_options app = {.struct_size = 0, .manifest = "a.yaml"};
    invivo_block_options block = {.struct_size = 5, .type_name = "Block", .size = 8};
    handles out;
    invivo_app opened;
    memset(&options, 0xff, sizeof(options));
    invivo_runtime_options_init(&options.known);
    options.known.struct_size = 0;
    NULL_REFUSED(invivo_runtime_open(&runtime, &options.known, E));
    options.known.struct_size = sizeof(options);
    if (OK(invivo_runtime_open(&runtime, &options.known, E))) OK(invivo_runtime_close(runtime, E));
    options.known.struct_size = offsetof(invivo_runtime_options, log);
    if (OK(invivo_runtime_open(&runtime, &options.known, E))) OK(invivo_runtime_close(runtime, E));
    options.known.struct_size = sizeof(options.known), options.known.default_domain = 9;
    NULL_REFUSED(invivo_runtime_open(&runtime, &options.known, E));
    NULL_REFUSED(invivo_define(h.runtime, &lead, NULL, E));
    NULL_REFUSED(invivo_source_open(h.runtime, &source, &out.source, E));
    NULL_REFUSED(invivo_observe(h.runtime, &observer, &out.observer, E));
    NULL_REFUSED(invivo_type_register(h.runtime, &type, &out.type, E));
    NULL_REFUSED(invivo_callable_make(h.runtime, &callable, &out.callable, E));
    NULL_REFUSED(invivo_domain_register(h.runtime, &domain, &out.domain, E));
    NULL_REFUSED(invivo_define_block(h.runtime, "a.block", &block, NULL, E));
    NULL_REFUSED(invivo_app_open(&opened, &app, E));
    close_all(h);
}

static invivo_status make_voice(void **instance, const invivo_build *build, const invivo_value *given, size_t count, void *user_data,
                                invivo_error **error) {
    (void)build, (void)given, (void)count, (void)user_data, (void)error;
    *instance = calloc(1, sizeof(voice));
    return INVIVO_OK;
}
static void free_voice(void *instance, void *user_data) { (void)user_data, free(instance); }
static void *weak_of(void *instance, void *user_data) { return (void)user_data, instance; }

static void refused_saying(int line, invivo_status status, const char *part) {
    if (status != INVIVO_E_ARGUMENT || !strstr(invivo_error_text(check_error), part))
        check_failed(__FILE__, line, "answers %s: %s", invivo_status_name(status), invivo_error_text(check_error));
    invivo_error_release(check_error);
    check_error = NULL;
}
#define REFUSED_SAYING(call, part) refused_saying(__LINE__, (call), part)

/* An incomplete description is refused; otherwise it would take effect in part. */
static void related_functions_must_be_given_together(void) {
    handles h = open_all();
    const invivo_type_options voices = {.struct_size = sizeof(voices), .name = "Other", .size = sizeof(voice), .alignment = _Alignof(voice)};
    const invivo_type_options made = {.struct_size = sizeof(made), .name = "Made", .make = make_voice, .release = free_voice};
    const invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.lead", .type = h.type};
    invivo_type_options type;
    invivo_definition definition;
#define TYPE_REFUSED(base, text, ...) \
    (type = base, __VA_ARGS__, REFUSED_SAYING(invivo_type_register(h.runtime, &type, NULL, E), text))
#define DEFINITION_REFUSED(text, ...) \
    (definition = lead, __VA_ARGS__, REFUSED_SAYING(invivo_define(h.runtime, &definition, NULL, E), text))
    TYPE_REFUSED(voices, "the table of properties is given, and its count is 0", type.properties = voice_properties);
    TYPE_REFUSED(voices, "the table of methods is given, and its count is 0", type.methods = voice_methods);
    TYPE_REFUSED(voices, "the table of properties is NULL, and its count is 1", type.property_count = 1);
    TYPE_REFUSED(voices, "the alignment 3 is not a power of two", type.alignment = 3);
    TYPE_REFUSED(made, "make needs a release function", type.release = NULL);
    TYPE_REFUSED(made, "weak_make, weak_load and weak_free belong together", type.weak_make = weak_of);
    TYPE_REFUSED(voices, "weak_free need a make function", type.weak_make = weak_of, type.weak_load = weak_of, type.weak_free = free_voice);
    DEFINITION_REFUSED("definition.properties is NULL, and its count is 2", definition.property_count = 2);
    invivo_block_options block = {.struct_size = sizeof block, .type_name = "Block", .size = sizeof(voice), .properties = voice_properties};
    REFUSED_SAYING(invivo_define_block(h.runtime, "a.block", &block, NULL, E),
                  "block.properties is given, and its count is 0");
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "wing", .definitions = &lead};
    const invivo_assembly *table = &assembly;
    REFUSED_SAYING(invivo_activate(h.runtime, &table, 1, NULL, E),
                  "assembly.definitions is given, and its count is 0");
    /* The stride of a table is a struct size, too. */
    invivo_property cut = voice_properties[0];
    cut.struct_size = offsetof(invivo_property, initial_text) + 3;
    TYPE_REFUSED(voices, "struct_size", type.properties = &cut, type.property_count = 1);
    close_all(h);
}

static void unknown_flags_are_refused(void) {
    handles h = open_all();
    invivo_domain_options domain = {.struct_size = sizeof domain, .post = post, .flags = 64};
    invivo_source_options source = {.struct_size = sizeof source, .name = "n.yaml", .text = "{}", .length = 2, .flags = 64};
    invivo_app_options app = {.struct_size = sizeof app, .manifest = "none.yaml", .flags = 64};
    invivo_runtime_options options;
    invivo_domain made;
    invivo_source opened;
    invivo_runtime runtime;
    REFUSED_SAYING(invivo_domain_register(h.runtime, &domain, &made, E), "options.flags is 64");
    REFUSED_SAYING(invivo_source_open(h.runtime, &source, &opened, E), "options.flags is 64");
    REFUSED_SAYING(invivo_app_check(&app, 0, NULL, E), "options.flags is 64");
    invivo_runtime_options_init(&options);
    options.flags = 4096;
    REFUSED_SAYING(invivo_runtime_open(&runtime, &options, E), "options.flags is 4096");
    close_all(h);
}

static int ended;
static void count_end(void *instance, void *user_data) { (void)instance, (void)user_data, ended++; }

static void a_view_ended_twice_leaves_later_ones_protected(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Shared", .size = sizeof(voice), .concurrency = INVIVO_SHARED,
                                   .deinit = count_end};
    invivo_definition definition = {.struct_size = sizeof(definition), .key = "a.shared", .scope = INVIVO_SCOPE_SINGLETON};
    invivo_runtime runtime;
    invivo_key key;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &definition.type, E));
    OK(invivo_define(runtime, &definition, &key, E));
    invivo_view view = invivo_view_begin(runtime);
    invivo_view_end(view);
    invivo_view_end(view);
    view = invivo_view_begin(runtime);
    CHECK(invivo_view_get(view, key) != NULL);
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(ended, 0);
    invivo_view_end(view);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(ended, 2);
}

int main(void) {
    check_begin();
    RUN_TEST(handles_that_are_zero_foreign_or_of_another_kind);
    RUN_TEST(everything_after_close_is_refused);
    RUN_TEST(releasing_twice_takes_no_other_hold);
    RUN_TEST(null_is_refused);
    RUN_TEST(defaults_end_with_the_callers_structure);
    RUN_TEST(wrong_struct_sizes_are_refused);
    RUN_TEST(related_functions_must_be_given_together);
    RUN_TEST(unknown_flags_are_refused);
    RUN_TEST(a_view_ended_twice_leaves_later_ones_protected);
    return check_end();
}
