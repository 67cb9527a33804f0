/* Misuse of every function of the headers, outside callbacks, inside them and in a forked child: NULL pointers; zero,
 * stale, foreign and wrong-kind handles; a closed runtime; impossible struct sizes.
 * Nothing crashes, traps or hangs, and each call returns a suitable status. calls.h is generated, so a new function is
 * tested as soon as it is declared. Usage: every_call [FUNCTION] */
#include "calls.h"
#include "check.h"

enum { MOST_OUTS = 16 };
enum { MANY_SECONDS = 120 };

typedef struct { double gain; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1)};

/* The current test, for a signal handler to print. */
static char at[256];
static void died(int number) {
    const char *why = number == SIGALRM ? "hangs" : "crashes";
    (void)!write(2, at, strlen(at));
    (void)!write(2, ": ", 2);
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
    _exit(3);
}

/* ---- a runtime with one handle of each kind ---------------------------------------------------------- */

static const every_call *current;
static const arguments *inside; /* a callback calls `current` with it, once */
static bool came_inside;
static void attempt(const char *where, const arguments *use);
static void call_inside(const char *where) {
    const arguments *use = inside;
    if (!use) return;
    inside = NULL;
    came_inside = true;
    attempt(where, use);
}

static invivo_status voice_init(void *instance, const invivo_build *build, const invivo_value *given, size_t count,
                                void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)given, (void)count, (void)user_data, (void)error;
    call_inside("inside an initializer");
    return INVIVO_OK;
}
static invivo_status play(void *instance, void *user_data, const invivo_value *given, size_t count, invivo_value *result,
                          invivo_error **error) {
    (void)instance, (void)user_data, (void)given, (void)count, (void)result, (void)error;
    return INVIVO_OK;
}
static const invivo_method voice_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "play", .result = INVIVO_KIND_NULL, .call = play}};
static invivo_status invoke(void *user_data, const invivo_value *given, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)given, (void)count, (void)result, (void)error;
    return INVIVO_OK;
}
static void reloaded(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    call_inside("inside an observer");
}
static uint64_t last_job;
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    last_job = job.bits;
    return invivo_job_run(job);
}
static int64_t answer_nothing(void) { return 0; }

static void fill(arguments *live) {
    invivo_runtime runtime = {0};
    invivo_type type = {0};
    invivo_key key = {0};
    invivo_object object = {0};
    invivo_callable callable = {0};
    invivo_domain domain = {0};
    invivo_source source = {0};
    invivo_target target = {0};
    invivo_observer observer = {0};
    invivo_changes changes = {0};
    invivo_override override = {0};
    invivo_config config = {0};
    invivo_pool pool = {0};
    invivo_type_options voices = {.struct_size = sizeof voices, .name = "Voice", .size = sizeof(voice),
                                  .alignment = _Alignof(voice), .init = voice_init, .properties = voice_properties,
                                  .property_count = 1, .methods = voice_methods, .method_count = 1};
    invivo_callable_options callables = {.struct_size = sizeof callables, .invoke = invoke};
    invivo_domain_options domains = {.struct_size = sizeof domains, .post = post, .flags = INVIVO_DOMAIN_ANY_THREAD};
    invivo_source_options sources = {.struct_size = sizeof sources, .name = "m.yaml", .length = 20,
                                     .text = "config: { a: { b: 1 } }"};
    invivo_observer_options observers = {.struct_size = sizeof observers, .reloaded = reloaded};
    sources.length = strlen(sources.text);
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_domain_register(runtime, &domains, &domain, E));
    OK(invivo_type_register(runtime, &voices, &type, E));
    invivo_definition voiced = {.struct_size = sizeof voiced, .key = "a.voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
    OK(invivo_define(runtime, &voiced, &key, E));
    voiced.key = "a.each";
    voiced.scope = INVIVO_SCOPE_PROTOTYPE;
    OK(invivo_define(runtime, &voiced, NULL, E));
    OK(invivo_override_begin(runtime, &voiced, &override, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_callable_make(runtime, &callables, &callable, E));
    OK(invivo_source_open(runtime, &sources, &source, E));
    OK(invivo_target_attach(object, "b.voice", &target, E));
    OK(invivo_observe(runtime, &observers, &observer, E));
    OK(invivo_config_id(runtime, "a.b", INVIVO_KIND_INT64, &config, E));
    invivo_pool_options pools = {.struct_size = sizeof pools, .name = "voices"};
    OK(invivo_pool_open(runtime, &pools, &pool, E));
    invivo_context context;
    OK(invivo_context_open(runtime, NULL, &context, E));
    OK(invivo_changes_open(runtime, &changes, E));
    *live = (arguments){.runtime = runtime.bits, .object = object.bits, .key = key.bits, .type = type.bits,
                        .callable = callable.bits, .domain = domain.bits, .job = last_job, .changes = changes.bits,
                        .source = source.bits, .target = target.bits, .observer = observer.bits,
                        .override = override.bits, .config = config.bits, .pool = pool.bits, .pin = invivo_pin_hold(runtime, NULL).bits,
                        .context = context.bits};
}
/* Cleans up after any calls. */
static void end(const arguments *live) {
    (void)invivo_override_end((invivo_override){live->override}, NULL);
    (void)invivo_pin_end((invivo_pin){live->pin});
    (void)invivo_object_release((invivo_object){live->object});
    (void)invivo_callable_release((invivo_callable){live->callable});
    invivo_changes_discard((invivo_changes){live->changes});
    invivo_status status = invivo_runtime_close_deferred((invivo_runtime){live->runtime}, NULL);
    if (status != INVIVO_OK && status != INVIVO_E_CLOSED)
        check_failed(__FILE__, __LINE__, "%s: the runtime cannot be closed afterwards: %s", at, invivo_status_name(status));
}

/* ---- one call ----------------------------------------------------------------------------------------- */

static const char *mode;        /* the fault of the call */
static const char *expectation; /* "handle": it must be refused as a bad handle; "size"; "forked"; "" */

static bool is_one_of(invivo_status status, const invivo_status *list) {
    for (; *list; list++)
        if (*list == status) return true;
    return false;
}

static char outs[MOST_OUTS * ROOM] __attribute__((aligned(16)));

static void attempt(const char *where, const arguments *given) {
    static const invivo_status of_handles[] = {INVIVO_E_HANDLE, INVIVO_E_CLOSED, INVIVO_E_STALE, INVIVO_E_ARGUMENT,
                                               INVIVO_E_COLD, INVIVO_E_FORKED, INVIVO_E_NOT_FOUND, 0};
    arguments use = *given;
    invivo_error *error = NULL;
    invivo_status status;
    bool is_named;
    if (use.error) use.error = &error;
    if (use.outs) memset(outs, 0x5a, sizeof outs);
    /* Pointers that are written through or ended, but are no out parameters, begin as zero. */
    if (use.outs && strcmp(current->name, "invivo_value_clear") == 0) memset(outs, 0, sizeof outs);
    snprintf(at, sizeof at, "%s %s: %s", current->name, where, mode);
    alarm(CHECK_LIMIT_SECONDS);
    status = current->call(&use);
    alarm(0);
    if (!(current->flags & ANSWERS_STATUS)) {
        invivo_error_release(error);
        return;
    }
    is_named = strcmp(invivo_status_name(status), "INVIVO_E_UNKNOWN") != 0;
    if (!is_named) check_failed(__FILE__, __LINE__, "%s answers the unknown status %d", at, status);
    if (status == INVIVO_E_INTERNAL) check_failed(__FILE__, __LINE__, "%s answers INVIVO_E_INTERNAL", at);
    if ((status == INVIVO_OK) == (error != NULL) && current->flags & TAKES_ERROR && use.error)
        check_failed(__FILE__, __LINE__, "%s answers %s %s an error", at, invivo_status_name(status), error ? "with" : "without");
    if (error && invivo_error_code(error) != status)
        check_failed(__FILE__, __LINE__, "%s answers %s, and the error is %s", at, invivo_status_name(status),
                     invivo_status_name(invivo_error_code(error)));
    /* What has ended may be ended or released again, and so may no pin. */
    bool is_ended = status == INVIVO_OK && (mode[0] == 'z' || mode[0] == 's') &&
                    (strcmp(current->name, "invivo_pin_end") == 0 || strcmp(current->name, "invivo_context_end") == 0 ||
                     strcmp(current->name, "invivo_context_end_with") == 0 ||
                     strcmp(current->name, "invivo_context_failure") == 0 || strcmp(current->name, "invivo_context_release") == 0);
    if (strcmp(expectation, "handle") == 0 && current->flags & TAKES_HANDLE && !is_one_of(status, of_handles) && !is_ended)
        check_failed(__FILE__, __LINE__, "%s answers %s (%s)", at, invivo_status_name(status), invivo_error_text(error));
    /* Other fields of the struct may be wrong too: the size is checked first. */
    if (strcmp(expectation, "size") == 0 &&
        (status != INVIVO_E_ARGUMENT || (current->flags & TAKES_ERROR && !strstr(invivo_error_text(error), "struct_size"))))
        check_failed(__FILE__, __LINE__, "%s answers %s (%s)", at, invivo_status_name(status), invivo_error_text(error));
    /* Structs may be checked first. */
    if (strcmp(expectation, "forked") == 0 && status != INVIVO_E_FORKED &&
        !(status == INVIVO_E_ARGUMENT && current->flags & TAKES_RECORD))
        check_failed(__FILE__, __LINE__, "%s answers %s (%s)", at, invivo_status_name(status), invivo_error_text(error));
    if (status != INVIVO_OK && use.outs)
        for (int i = 0; i < MOST_OUTS; i++) {
            uint64_t first;
            memcpy(&first, outs + i * ROOM, sizeof first);
            if (current->outs >> i & 1 && first) check_failed(__FILE__, __LINE__, "%s fails and leaves its out parameter %d as it was", at, i);
        }
    invivo_error_release(error);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static const char *const texts[] = {"a.voice", "b", NULL};
static char record[16384] __attribute__((aligned(16)));
static invivo_value number;
static invivo_error *failure;

static arguments with_pointers(arguments use) {
    memset(record, 0, sizeof record);
    number = invivo_int64(1);
    use.text = "a.voice";
    use.texts = texts;
    use.value = &number;
    use.failure = failure;
    use.record = record;
    use.outs = outs;
    use.function = (void (*)(void))answer_nothing;
    use.error = &failure; /* replaced by the call's own */
    return use;
}
static arguments stale; /* handles of a closed runtime */
static arguments all_handles(uint64_t bits) {
    arguments use = {.runtime = bits, .object = bits, .key = bits, .type = bits, .callable = bits, .domain = bits,
                     .job = bits, .changes = bits, .source = bits, .target = bits, .observer = bits, .module = bits,
                     .app = bits, .override = bits, .config = bits, .pool = bits, .pin = bits, .context = bits};
    return use;
}

static void bad_handles(const char *where) {
    static const uint64_t garbage[] = {UINT64_MAX, 1, 0x1000000000000001, 0x3fff000000000000, 0x2fffffffffffffff,
                                       0x30000001ffffffff, 0x5abcdef012345678};
    arguments use;
    expectation = "handle";
    mode = "zero handles, NULL pointers";
    use = all_handles(0);
    attempt(where, &use);
    mode = "zero handles";
    use = with_pointers(use);
    attempt(where, &use);
    mode = "stale handles, NULL pointers";
    attempt(where, &stale);
    mode = "stale handles";
    use = with_pointers(stale);
    attempt(where, &use);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        char what[48];
        snprintf(what, sizeof what, "handles of %#llx", (unsigned long long)garbage[i]);
        mode = what;
        use = with_pointers(all_handles(garbage[i]));
        attempt(where, &use);
    }
    /* Each handle has the next kind. */
    mode = "handles of other kinds";
    use = with_pointers(stale);
    use.runtime = stale.object, use.object = stale.key, use.key = stale.type, use.type = stale.callable;
    use.callable = stale.domain, use.domain = stale.changes, use.job = stale.source, use.changes = stale.target;
    use.source = stale.observer, use.target = stale.runtime, use.observer = stale.pool, use.pool = stale.override, use.pin = stale.object, use.context = stale.runtime;
    use.override = stale.runtime, use.app = stale.runtime, use.module = stale.runtime;
    attempt(where, &use);
    expectation = "";
}

static void in_a_runtime(void (*body)(const arguments *live)) {
    arguments live;
    fill(&live);
    if (!check_failures) body(&live);
    end(&live);
}

static void with_null(const arguments *live) {
    mode = "NULL pointers";
    attempt("", live);
}
static void with_wild_numbers(const arguments *live) {
    arguments use = *live;
    mode = "NULL pointers and the largest numbers";
    use.number = UINT64_MAX;
    attempt("", &use);
}
static void with_everything(const arguments *live) {
    arguments use = with_pointers(*live);
    mode = "empty structs";
    attempt("", &use);
}
static void with_other_runtimes_handles(const arguments *live) {
    arguments other;
    fill(&other);
    mode = "handles of another runtime";
    other.runtime = live->runtime;
    other = with_pointers(other);
    attempt("", &other);
    arguments use = with_pointers(*live);
    use.key = other.key, use.type = other.type, use.domain = other.domain;
    attempt("", &use);
    end(&other);
}
static void with_impossible_sizes(const arguments *live) {
    static const size_t sizes[] = {SIZE_MAX, (size_t)1 << 63, (size_t)1 << 62, (size_t)1 << 40, ((size_t)1 << 20) + 1, 1, 7};
    if (!(current->flags & TAKES_RECORD)) return;
    if (strncmp(current->name, "invivo_runtime_options_init", 27) == 0) return; /* write it */
    expectation = "size";
    size_t count = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < count || current->cuts[i - count]; i++) {
        char what[48];
        arguments use = with_pointers(*live);
        use.record_size = i < count ? sizes[i] : current->cuts[i - count];
        use.number = strcmp(current->name, "invivo_context_declare_kinds") == 0; /* the number of structs; elsewhere an index */
        snprintf(what, sizeof what, "a struct_size of %zu", use.record_size);
        mode = what;
        attempt("", &use);
    }
    expectation = "";
}

/* Inside callbacks calls may be refused, and must not wait forever. */
static void open_view(arguments *use) { use->view = invivo_view_begin((invivo_runtime){use->runtime}); }
static void inside_an_initializer(const arguments *live) {
    arguments use = with_pointers(*live);
    invivo_object made = {0};
    mode = "empty structs";
    inside = &use;
    came_inside = false;
    if (invivo_resolve_name((invivo_runtime){live->runtime}, "a.each", &made, NULL) == INVIVO_OK) invivo_object_release(made);
    CHECK(came_inside);
}
static void inside_an_observer(const arguments *live) {
    arguments use = with_pointers(*live);
    invivo_key key;
    invivo_definition again = {.struct_size = sizeof again, .key = "a.again", .type = {live->type}, .scope = INVIVO_SCOPE_PROTOTYPE};
    mode = "empty structs";
    inside = &use;
    came_inside = false;
    (void)invivo_define((invivo_runtime){live->runtime}, &again, &key, NULL);
    CHECK(came_inside);
}
static void inside_an_initializer_without_pointers(const arguments *live) {
    invivo_object made = {0};
    mode = "NULL pointers";
    inside = live;
    came_inside = false;
    if (invivo_resolve_name((invivo_runtime){live->runtime}, "a.each", &made, NULL) == INVIVO_OK) invivo_object_release(made);
    CHECK(came_inside);
}
static void with_views(const arguments *live) {
    arguments use = with_pointers(*live);
    mode = "a view";
    open_view(&use);
    attempt("", &use);
    mode = "a view, and other handles zero";
    arguments zero = with_pointers(all_handles(0));
    zero.view = use.view;
    attempt("", &zero);
    invivo_view_end(use.view);
    mode = "a view of a closed runtime";
    invivo_runtime closed;
    OK(invivo_runtime_open(&closed, NULL, E));
    OK(invivo_runtime_close(closed, E));
    use.view = invivo_view_begin(closed);
    attempt("", &use);
}
static void zeroed_views_read_nothing(const arguments *live) {
    invivo_view none = {0};
    invivo_key key = {live->key};
    CHECK_EQUAL(invivo_view_generation(none), 0);
    CHECK(!invivo_view_get(none, key) && !invivo_view_get(none, (invivo_key){0}) && !invivo_view_get_confined(none, key));
    CHECK(!invivo_view_block(none, key) && !invivo_view_find(none, "a.voice", 7) && !invivo_view_entry(none, key));
    CHECK(invivo_view_key(none, "a.voice", 7).bits == 0);
    CHECK(!invivo_view_config(none, (invivo_config){live->config}) && !invivo_view_config_late(none, (invivo_config){live->config}));
    invivo_view_end(none);
}

/* A child may read; all other calls on its parent's runtime are refused. */
static const char *const answered_in_a_child[] = {
    "invivo_runtime_close", "invivo_runtime_close_deferred", "invivo_app_close",
    "invivo_resolve", "invivo_resolve_name", "invivo_resolve_with", "invivo_resolve_optional", "invivo_peek",
    "invivo_key_find", "invivo_key_of_type", "invivo_config_read", "invivo_config_is_secret", "invivo_config_id",
    "invivo_pin_end", "invivo_object_retain", "invivo_object_release", "invivo_object_instance", "invivo_object_type", "invivo_object_key",
    "invivo_object_runtime",
    /* Descriptions and functions belong to the process, not to the runtime. */
    "invivo_type_property_at", "invivo_type_parameter_at", "invivo_type_method_at", "invivo_property_text",
    "invivo_property_read", "invivo_callable_call",
    "invivo_callable_retain", "invivo_callable_release", NULL};
static void in_a_child(const arguments *live) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        arguments use = with_pointers(*live);
        bool answers = false;
        for (const char *const *each = answered_in_a_child; *each; each++) answers |= strcmp(*each, current->name) == 0;
        check_failures = 0;
        mode = "the parent's handles";
        /* The test has no app, and its job has run. */
        answers |= strcmp(current->handle, "app") == 0 || strcmp(current->handle, "job") == 0;
        expectation = *current->handle && !answers ? "forked" : "";
        attempt("in a forked child", &use);
        expectation = "";
        mode = "NULL pointers";
        attempt("in a forked child", live);
        bad_handles("in a forked child");
        _exit(check_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) check_failed(__FILE__, __LINE__, "%s: the child ended with status %d, signal %d", current->name, WEXITSTATUS(status), WTERMSIG(status));
}

static void misuse(void) {
    check_failures = 0;
    failure = invivo_error_make(INVIVO_E_HOST, "made for this", "a.b", NULL);
    expectation = "";
    fill(&stale);
    end(&stale);
    bad_handles("");
    in_a_runtime(with_null);
    in_a_runtime(with_wild_numbers);
    in_a_runtime(with_everything);
    in_a_runtime(with_other_runtimes_handles);
    in_a_runtime(with_impossible_sizes);
    in_a_runtime(with_views);
    in_a_runtime(inside_an_initializer);
    in_a_runtime(inside_an_initializer_without_pointers);
    in_a_runtime(inside_an_observer);
    in_a_runtime(in_a_child);
    invivo_error_release(failure);
}

int main(int count, char **given) {
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGALRM};
    size_t total = sizeof every_calls / sizeof *every_calls;
    check_begin();
    for (size_t i = 0; i < total; i++) {
        int status = -1;
        pid_t child;
        if (count > 1 && strcmp(every_calls[i].name, given[1]) != 0) continue;
        current = &every_calls[i];
        child = fork();
        if (child == 0) {
            for (size_t j = 0; j < sizeof deadly / sizeof *deadly; j++) signal(deadly[j], died);
            check_directory();
            misuse();
            nftw(check_place, check_remove, 16, FTW_DEPTH | FTW_PHYS);
            _exit(check_failures != 0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0) check_failed(__FILE__, __LINE__, "%s: status %d, signal %d", every_calls[i].name, WEXITSTATUS(status), WTERMSIG(status));
    }
    in_a_runtime(zeroed_views_read_nothing);
    printf("%zu functions\n", total);
    return check_end();
}
