/* Arguments of hooks are received by method: if a reload replaces one, objects that keep their identity receive the
 * call again; an object of a shared type is rebuilt. */
#include "check.h"

typedef struct part { int serial; } part;
static int serials, live;
static char trace[4096];
static const char *refused;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    ((part *)instance)->serial = ++serials, live++;
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    live--;
}
/* hear(what, value): records it in the trace. */
static invivo_status call_hear(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    char event[64], said[32] = "none";
    void *other = NULL;
    (void)instance, (void)user_data, (void)count, (void)result;
    if (arguments[1].kind == INVIVO_KIND_OBJECT && !invivo_object_instance(arguments[1].as.object, (invivo_type){0}, &other, error))
        snprintf(said, sizeof said, "%d", ((part *)other)->serial);
    if (arguments[1].kind == INVIVO_KIND_INT64) snprintf(said, sizeof said, "=%d", (int)arguments[1].as.signed_integer);
    if (arguments[1].kind == INVIVO_KIND_STRING) snprintf(said, sizeof said, "%.*s", (int)arguments[1].as.string.length, arguments[1].as.string.data);
    snprintf(event, sizeof event, "%.*s:%s ", (int)arguments[0].as.string.length, arguments[0].as.string.data, said);
    strcat(trace, event);
    if (!refused || strcmp(refused, event) != 0) return INVIVO_OK;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static const invivo_parameter heard[] = {{.name = "what", .kind = INVIVO_KIND_STRING}, {.name = "value", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "hear", .parameters = heard, .parameter_count = 2, .call = call_hear}};

static invivo_runtime runtime;
static invivo_type part_type, holder_type, shared_type;

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .init = part_init, .deinit = part_deinit,
                                   .concurrency = INVIVO_SHARED};
    serials = live = 0, trace[0] = 0, refused = NULL;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &part_type, E));
    options.name = "SharedHolder", options.methods = methods, options.method_count = 1;
    OK(invivo_type_register(runtime, &options, &shared_type, E));
    options.name = "Holder", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &holder_type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}
#define TEXT(text) {.how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_STRING, .as.string = {text, sizeof(text) - 1}}}
#define KEY(key) {.how = INVIVO_INJECT_REFERENCE, .reference = key}
#define HOOK(array) {.method = "hear", .arguments = array, .argument_count = 2}
static const invivo_injection with_one[] = {TEXT("before"), KEY("h.one")}, with_two[] = {TEXT("method"), KEY("h.two")},
                              with_three[] = {TEXT("after"), KEY("h.three")}, with_four[] = {TEXT("all"), KEY("h.four")},
                              with_none[] = {TEXT("plain"), TEXT("")};
static const invivo_invocation before[] = {HOOK(with_one), HOOK(with_none)}, call[] = {HOOK(with_two)}, after[] = {HOOK(with_three)}, after_all[] = {HOOK(with_four)};
static const char *const parts[] = {"h.one", "h.two", "h.three", "h.four"};

static void define_part(const char *key, int32_t rank) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                     .type = part_type, .rank = rank}, NULL, E));
}
static void define_holder(uint32_t scope, uint32_t flags, invivo_type type) {
    for (int i = 0; i < 4; i++) define_part(parts[i], 0);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.holder", .scope = scope, .flags = flags,
                     .type = type, .before = before, .before_count = 2, .methods = call, .method_count = 1, .after = after, .after_count = 1,
                     .after_all = after_all, .after_all_count = 1}, NULL, E));
}
static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static void drop(invivo_object object) { OK(invivo_object_release(object)); }

static void a_hook_is_called_again_with_what_took_the_place(uint32_t scope, uint32_t flags) {
    begin();
    define_holder(scope, flags, holder_type);
    invivo_object holder = resolve("h.holder");
    CHECK_TEXT(trace, "before:2 plain: method:3 after:4 all:5 ");
    static const char *const expected[] = {"before:6 ", "method:7 ", "after:8 ", "all:9 "};
    for (int i = 0; i < 4; i++) {
        trace[0] = 0;
        define_part(parts[i], 1);
        if (scope == INVIVO_SCOPE_PROTOTYPE) drop(resolve(parts[i]));
        CHECK_TEXT(trace, expected[i]);
        CHECK_EQUAL(live, 5); /* the replaced object has ended */
    }
    if (scope != INVIVO_SCOPE_PROTOTYPE) {
        invivo_object same = resolve("h.holder");
        CHECK(same.bits == holder.bits);
        drop(same);
    }
    drop(holder);
    end();
}

static void a_refused_hook_gets_the_former_back(void) {
    begin();
    define_holder(INVIVO_SCOPE_SINGLETON, 0, holder_type);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < 4; i++)
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = parts[i], .rank = 1,
                                 .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = part_type}, NULL, E));
    trace[0] = 0, refused = "all:9 ";
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_TEXT(trace, "before:6 method:7 after:8 all:9 all:5 after:4 method:3 before:2 ");
    CHECK_EQUAL(live, 5);
    end();
}

static void an_object_of_a_shared_type_is_rebuilt(void) {
    begin();
    define_holder(INVIVO_SCOPE_LAZY_SINGLETON, 0, shared_type);
    invivo_object holder = resolve("h.holder");
    trace[0] = 0;
    define_part("h.three", 1);
    CHECK_TEXT(trace, "before:2 plain: method:3 after:6 all:5 ");
    invivo_object now = resolve("h.holder");
    CHECK(now.bits != holder.bits);
    drop(holder), drop(now);
    end();
}

static void say(const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    OK(invivo_changes_commit(changes, E));
}
static void a_hook_follows_the_configuration(void) {
    begin();
    say("config: { global: { rate: 5 } }");
    invivo_injection rate[] = {TEXT("rate"), {.how = INVIVO_INJECT_CONFIG, .reference = "rate"}};
    invivo_invocation hook[] = {HOOK(rate)};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.holder", .scope = INVIVO_SCOPE_SINGLETON,
                     .type = holder_type, .after = hook, .after_count = 1}, NULL, E));
    invivo_object holder = resolve("h.holder");
    say("config: { global: { rate: 6 } }");
    CHECK_TEXT(trace, "rate:=5 rate:=6 ");
    invivo_object same = resolve("h.holder");
    CHECK(same.bits == holder.bits);
    drop(holder), drop(same);
    end();
}

static void a_lookup_by_type_in_a_hook_is_rebound(void) {
    begin();
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.one", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                     .type = part_type}, NULL, E));
    invivo_injection greedy[] = {TEXT("type"), {.how = INVIVO_INJECT_TYPE, .reference = "Part", .flags = INVIVO_INJECT_GREEDY}};
    invivo_invocation hook[] = {HOOK(greedy)};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.holder", .scope = INVIVO_SCOPE_SINGLETON,
                     .type = holder_type, .after_all = hook, .after_all_count = 1}, NULL, E));
    define_part("h.better", 5);
    CHECK_TEXT(trace, "type:2 type:3 ");
    end();
}

static void the_last_hook_may_ask_for_whom_its_object_was_made(void) {
    begin();
    invivo_injection asker[] = {TEXT("for"), {.how = INVIVO_INJECT_ASKER}};
    invivo_invocation last[] = {HOOK(asker)}, first[] = {HOOK(asker)};
    invivo_injection given[] = {TEXT("has"), KEY("h.asked")};
    invivo_invocation takes[] = {HOOK(given)};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.asked", .scope = INVIVO_SCOPE_PROTOTYPE,
                     .type = holder_type, .after = first, .after_count = 1, .after_all = last, .after_all_count = 1}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.holder", .scope = INVIVO_SCOPE_PROTOTYPE,
                     .type = holder_type, .methods = takes, .method_count = 1}, NULL, E));
    drop(resolve("h.asked"));
    CHECK_TEXT(trace, "for:none for:none ");
    trace[0] = 0;
    drop(resolve("h.holder"));
    CHECK_TEXT(trace, "for:h.holder has:3 for:h.holder ");
    end();
}

/* Of a type that takes its runtime. */
static invivo_runtime taken;
static int takes;
static const char *fails_to_take;
static invivo_status take_runtime(void *instance, void *user_data, invivo_runtime given, invivo_error **error) {
    invivo_object part;
    (void)instance, (void)user_data;
    taken = given, takes++;
    strcat(trace, "takes ");
    if (fails_to_take) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, fails_to_take, NULL, NULL);
        return INVIVO_E_HOST;
    }
    invivo_status status = invivo_resolve_name(given, "h.one", &part, error); /* it may be used at once */
    if (!status) invivo_object_release(part);
    return status;
}
static invivo_status did_inject(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    strcat(trace, "did ");
    return INVIVO_OK;
}

static void a_type_takes_its_runtime_when_all_is_complete(void) {
    begin();
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Taker", .size = sizeof(part), .init = part_init,
                                   .deinit = part_deinit, .concurrency = INVIVO_SHARED, .methods = methods, .method_count = 1,
                                   .take_runtime = take_runtime, .did_inject = did_inject};
    OK(invivo_type_register(runtime, &options, &type, E));
    takes = 0, fails_to_take = NULL;
    define_part("h.one", 0);
    const invivo_injection all[] = {TEXT("all"), TEXT("last")}, inner[] = {TEXT("has"), KEY("h.inner")};
    const invivo_invocation hook[] = {HOOK(all)}, has[] = {HOOK(inner)};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.inner", .type = type}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "h.taker", .type = type,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, .methods = has, .method_count = 1, .after_all = hook, .after_all_count = 1}, NULL, E));
    /* A failing one fails the resolve, and leaves nothing. */
    fails_to_take = "no room";
    invivo_object none;
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_resolve_name(runtime, "h.taker", &none, &error), INVIVO_E_HOST);
    CHECK(strstr(invivo_error_text(error), "no room") != NULL);
    invivo_error_release(error);
    CHECK_EQUAL(live, 0);
    /* Children before parents, each once; after the hooks of the definition, before the last one of the type. */
    fails_to_take = NULL, takes = 0, trace[0] = 0, serials = 0;
    drop(resolve("h.taker"));
    CHECK_TEXT(trace, "has:2 takes did all:last takes did ");
    CHECK_EQUAL(takes, 2);
    CHECK(taken.bits == runtime.bits);
    drop(resolve("h.taker"));
    CHECK_EQUAL(takes, 2);
    /* Also for objects of the host. */
    invivo_object made;
    invivo_key key;
    OK(invivo_object_make(runtime, type, NULL, 0, &made, E));
    takes = 0, trace[0] = 0;
    OK(invivo_key_find(runtime, "h.inner", &key, E));
    OK(invivo_inject(made, key, E));
    CHECK_EQUAL(takes, 1);
    drop(made);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST_WITH(a_hook_is_called_again_with_what_took_the_place, INVIVO_SCOPE_SINGLETON, 0);
    RUN_TEST_WITH(a_hook_is_called_again_with_what_took_the_place, INVIVO_SCOPE_LAZY_SINGLETON, 0);
    RUN_TEST_WITH(a_hook_is_called_again_with_what_took_the_place, INVIVO_SCOPE_PROTOTYPE, INVIVO_DEFINITION_TRACKED);
    RUN_TEST(a_refused_hook_gets_the_former_back);
    RUN_TEST(an_object_of_a_shared_type_is_rebuilt);
    RUN_TEST(a_hook_follows_the_configuration);
    RUN_TEST(a_lookup_by_type_in_a_hook_is_rebound);
    RUN_TEST(the_last_hook_may_ask_for_whom_its_object_was_made);
    RUN_TEST(a_type_takes_its_runtime_when_all_is_complete);
    return check_end();
}
