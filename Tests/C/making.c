/* Making: how definitions come to objects. Scopes, circles, arguments, parents, hooks, providers, lookups by type; and that
 * nothing half-made and nothing that only holds itself is left. */
#include "check.h"

/* A node says what happens to it, in `trace`. */
typedef struct node {
    char name[24];
    int serial;
    invivo_object left, right, input; /* borrowed: the runtime holds the leases */
    int64_t number;
    invivo_value any, given;
} node;

static char trace[4096];
static pthread_t main_thread; /* the only one that traces */
static int serials, live;
static const char *fail_at; /* the event that fails: "did:a.x" */

static invivo_status say(const char *what, const char *name, invivo_error **error) {
    char event[64];
    snprintf(event, sizeof event, "%s:%s", what, name);
    if (pthread_equal(pthread_self(), main_thread) && strlen(trace) + strlen(event) + 2 < sizeof trace) strcat(strcat(trace, event), " ");
    if (!fail_at || strcmp(fail_at, event) != 0) return INVIVO_OK;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static invivo_status node_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    node *self = instance;
    const char *key = build->key.bits ? invivo_key_name(build->key) : "made";
    (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", strchr(key, '.') ? strchr(key, '.') + 1 : key);
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    if (count > 2) invivo_value_copy(&self->given, &arguments[2], NULL);
    invivo_status status = say("init", self->name, error);
    if (!status) __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    if (status) invivo_value_clear(&self->given);
    return status;
}
static void node_deinit(void *instance, void *user_data) {
    node *self = instance;
    (void)user_data;
    say("end", self->name, NULL);
    invivo_value_clear(&self->any);
    invivo_value_clear(&self->given);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status node_will(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("will", ((node *)instance)->name, error);
}
static invivo_status node_did(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("did", ((node *)instance)->name, error);
}
static invivo_status get_object(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(*(invivo_object *)((char *)instance + (size_t)user_data));
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_object(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    size_t offset = (size_t)user_data;
    *(invivo_object *)((char *)instance + offset) = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return say(offset == offsetof(node, left) ? "left" : "right", ((node *)instance)->name, error);
}
static invivo_status get_any(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    return invivo_value_copy(out, &((node *)instance)->any, error);
}
static invivo_status set_any(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    invivo_value_clear(&((node *)instance)->any);
    return invivo_value_copy(&((node *)instance)->any, value, error);
}
static invivo_status call_note(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    char what[40];
    (void)user_data, (void)result, (void)count;
    snprintf(what, sizeof what, "%.*s", (int)arguments[0].as.string.length, arguments[0].as.string.data);
    return say(what, ((node *)instance)->name, error);
}
static invivo_status call_add(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                              invivo_error **error) {
    node *self = instance;
    (void)user_data, (void)result;
    self->number += count > 0 && arguments[0].kind == INVIVO_KIND_INT64 ? arguments[0].as.signed_integer : 1;
    return say("add", self->name, error);
}
/* make(number): another object of the type of `left`, or null for 0. */
static invivo_status call_make(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                               invivo_error **error) {
    invivo_runtime runtime;
    invivo_type type;
    invivo_object self = ((node *)instance)->left, made;
    (void)user_data, (void)count;
    if (arguments[0].as.signed_integer == 0) return INVIVO_OK;
    if (invivo_object_runtime(self, &runtime, error) || invivo_object_type(self, &type, error)) return INVIVO_E_HOST;
    invivo_value values[] = {invivo_null(), arguments[0]};
    if (invivo_object_make(runtime, type, values, 2, &made, error)) return INVIVO_E_HOST;
    invivo_value borrowed = invivo_object_value(made);
    invivo_status status = invivo_value_copy(result, &borrowed, error);
    invivo_object_release(made);
    return status;
}

static const invivo_parameter one_any[] = {{.name = "value", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_parameter one_text[] = {{.name = "text", .kind = INVIVO_KIND_STRING}};
static const invivo_parameter one_number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
static const invivo_method node_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "note", .parameters = one_text, .parameter_count = 1, .call = call_note},
    {.struct_size = sizeof(invivo_method), .name = "add", .parameters = one_any, .parameter_count = 1, .call = call_add},
    {.struct_size = sizeof(invivo_method), .name = "make", .parameters = one_number, .parameter_count = 1, .result = INVIVO_KIND_ANY, .call = call_make},
};
static const invivo_parameter node_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property node_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(node, left)},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(node, right)},
    {.struct_size = sizeof(invivo_property), .name = "any", .kind = INVIVO_KIND_ANY, .get = get_any, .set = set_any},
    INVIVO_FIELD(node, number),
};
static const char *node_supertypes[] = {"Thing"};

static invivo_runtime runtime;
static invivo_type node_type, leaf_type, held_type;

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Node", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = node_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3, .properties = node_properties, .property_count = 4,
                                   .methods = node_methods, .method_count = 3, .supertypes = node_supertypes, .supertype_count = 1,
                                   .will_inject = node_will, .did_inject = node_did};
    trace[0] = 0, serials = live = 0, fail_at = NULL;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &node_type, E));
    options.name = "Leaf", options.will_inject = options.did_inject = NULL;
    OK(invivo_type_register(runtime, &options, &leaf_type, E));
    /* Injected into again where it is, while a shared one is made anew. */
    options.name = "Held", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &held_type, E));
}
static void end(void) {
    fail_at = NULL;
    /* Nodes keep copies of values, which lease what is in them until their end. */
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(live, 0);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define KEY(parameter, given) {.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = given}
#define CONSTANT(parameter, given) {.name = parameter, .how = INVIVO_INJECT_VALUE, .value = given}
#define ARGUMENT(parameter, number) {.name = parameter, .how = INVIVO_INJECT_ARGUMENT, .index = number}
#define DEFINE(given_key, given_scope, ...)                                                                     \
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key,  \
                                                   .scope = INVIVO_SCOPE_##given_scope, .type = node_type, __VA_ARGS__}, NULL, E))
#define PROPERTIES(array) .properties = array, .property_count = COUNT(array)
#define INITIALIZER(array) .initializer = array, .initializer_count = COUNT(array)

static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static node *at(invivo_object object) {
    void *instance = NULL;
    if (object.bits) OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
static void drop(invivo_object object) { OK(invivo_object_release(object)); }
static invivo_key key_of(const char *name) {
    invivo_key key = {0};
    OK(invivo_key_find(runtime, name, &key, E));
    return key;
}
static int64_t live_objects(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return (int64_t)info.objects;
}

/* Several definitions that name each other are one change set. */
static invivo_changes changes;
static void describe(void) { OK(invivo_changes_open(runtime, &changes, E)); }
#define ADD(given_key, given_scope, ...)                                                                        \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, \
                                                           .scope = INVIVO_SCOPE_##given_scope, .type = node_type, __VA_ARGS__}, NULL, E))
#define ADD_ALIAS(given_key, target, ...)                                                                       \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, \
                                                           .alias = target, __VA_ARGS__}, NULL, E))
static void commit(void) { OK(invivo_changes_commit(changes, E)); }

/* ---- scopes ------------------------------------------------------------------------------------------ */

static void graph_scope_is_one_for_each_outermost_resolve(void) {
    begin();
    DEFINE("a.fort", DEFAULT);
    invivo_injection fort[] = {KEY("left", "a.fort")}, both[] = {KEY("left", "a.fort"), KEY("right", "a.quest")};
    DEFINE("a.quest", PROTOTYPE, PROPERTIES(fort));
    DEFINE("a.knight", PROTOTYPE, PROPERTIES(both));
    invivo_object one = resolve("a.knight"), two = resolve("a.knight");
    CHECK(at(one)->left.bits == at(at(one)->right)->left.bits);
    CHECK(at(one)->left.bits != at(two)->left.bits);
    drop(one), drop(two);
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(live_objects(), 0);
    end();
}

static void a_prototype_referred_to_from_inside_its_making_is_itself(void) {
    begin();
    invivo_injection to_x[] = {KEY("left", "a.x")}, to_y[] = {KEY("left", "a.y")}, to_p[] = {KEY("left", "a.p"), KEY("right", "a.leaf")};
    describe();
    ADD("a.p", PROTOTYPE, PROPERTIES(to_x));
    ADD("a.x", PROTOTYPE, PROPERTIES(to_y));
    ADD("a.y", PROTOTYPE, PROPERTIES(to_p));
    ADD("a.leaf", PROTOTYPE);
    commit();
    for (int round = 0; round < 3; round++) {
        invivo_object p = resolve("a.p"), other = resolve("a.p");
        invivo_object y = at(at(p)->left)->left;
        CHECK(at(y)->left.bits == p.bits);
        CHECK(p.bits != other.bits);
        /* Whoever holds one of the circle holds all of it. */
        OK(invivo_object_retain(y));
        drop(p), drop(other);
        CHECK_EQUAL(live, 4);
        CHECK(at(at(y)->left)->left.bits != 0);
        drop(y);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static void circles_through_properties_are_made_and_end(void) {
    begin();
    invivo_injection to_b[] = {KEY("left", "a.b")}, to_a[] = {KEY("left", "a.a")};
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
    ADD("a.b", LAZY_SINGLETON, PROPERTIES(to_a));
    commit();
    invivo_object a = resolve("a.a"), b = resolve("a.b");
    CHECK(at(a)->left.bits == b.bits && at(b)->left.bits == a.bits);
    /* Replacing both disposes of both, though each held the other. */
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
    ADD("a.b", LAZY_SINGLETON, PROPERTIES(to_a));
    commit();
    CHECK_EQUAL(live, 4);
    drop(a);
    CHECK_EQUAL(live, 4); /* b is held, and through it a */
    drop(b);
    CHECK_EQUAL(live, 2);
    end();
}

static void an_object_may_be_injected_into_itself(void) {
    begin();
    invivo_injection itself[] = {KEY("left", "a.self"), KEY("right", "a.leaf")};
    describe();
    ADD("a.self", PROTOTYPE, PROPERTIES(itself));
    ADD("a.leaf", PROTOTYPE);
    commit();
    for (int round = 0; round < 100; round++) {
        invivo_object object = resolve("a.self");
        CHECK(at(object)->left.bits == object.bits);
        drop(object);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static void an_initializer_may_close_a_circle_with_a_property(void) {
    begin();
    invivo_injection to_b[] = {KEY("left", "a.b")}, with_a[] = {KEY("input", "a.a")}, with_b[] = {KEY("input", "a.b")}, to_a[] = {KEY("left", "a.a")};
    describe();
    ADD("a.a", GRAPH, PROPERTIES(to_b));
    ADD("a.b", GRAPH, INITIALIZER(with_a));
    commit();
    invivo_object a = resolve("a.a");
    CHECK(at(at(a)->left)->input.bits == a.bits);
    drop(a);
    CHECK_EQUAL(live, 0);
    /* From the other side the property waits until the instance exists. */
    invivo_object b = resolve("a.b");
    CHECK(at(at(b)->input)->left.bits == b.bits);
    drop(b);
    CHECK_EQUAL(live, 0);
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
    ADD("a.b", LAZY_SINGLETON, INITIALIZER(with_a));
    commit();
    b = resolve("a.b"), a = resolve("a.a");
    CHECK(at(a)->left.bits == b.bits && at(b)->input.bits == a.bits);
    drop(a), drop(b);
    /* Through initializers alone it cannot be made, and that is told with the whole path. */
    describe();
    ADD("a.a", LAZY_SINGLETON, INITIALIZER(with_b));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CYCLE,
                  "a.a: the wiring goes round in a circle: a.a -> a.b -> a.a, all through initializers; inject one of them as a "
                  "property, or by a provider");
    (void)to_a;
    end();
}

static void shared_objects_are_kept_for_each_set_of_arguments(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "note", .kind = INVIVO_KIND_INT64},
                                                  {.name = "extra", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_injection into[] = {ARGUMENT("number", 0), ARGUMENT("given", 1)};
    DEFINE("a.voice", LAZY_SINGLETON, INITIALIZER(into), .parameters = parameters, .parameter_count = 2);
    invivo_key voice = key_of("a.voice");
    invivo_object one, again, two, text, same_text;
    invivo_value sixty[] = {invivo_int64(60)}, other[] = {invivo_int64(61)}, long_one[] = {invivo_int64(60), invivo_string("x")};
    OK(invivo_resolve_with(runtime, voice, sixty, 1, &one, E));
    sixty[0] = (invivo_value){.kind = INVIVO_KIND_UINT8, .as.unsigned_integer = 60}; /* the same value in another kind */
    OK(invivo_resolve_with(runtime, voice, sixty, 1, &again, E));
    OK(invivo_resolve_with(runtime, voice, other, 1, &two, E));
    OK(invivo_resolve_with(runtime, voice, long_one, 2, &text, E));
    OK(invivo_resolve_with(runtime, voice, long_one, 2, &same_text, E));
    CHECK(one.bits == again.bits && one.bits != two.bits && text.bits == same_text.bits && text.bits != one.bits);
    CHECK_EQUAL(at(one)->number, 60);
    CHECK_EQUAL(live, 3);
    expects_error(invivo_resolve(runtime, voice, &again, E), INVIVO_E_ARITY,
                  "a.voice: a.voice(note: int64, extra: any?) takes 1 to 2 arguments, got 0");
    expects_error(invivo_resolve_with(runtime, voice, &long_one[1], 1, &again, E), INVIVO_E_TYPE, NULL);
    describe();
    invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.eager", .type = node_type,
                          .scope = INVIVO_SCOPE_SINGLETON, .parameters = parameters, .parameter_count = 2}, NULL, E);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARITY, "a.eager: an eager singleton takes no runtime arguments; 'a.eager' declares 2");
    drop(one), drop(one), drop(two), drop(text), drop(text);
    CHECK_EQUAL(live, 3); /* the graph holds them */
    end();
}

static void arguments_are_passed_on_and_bound(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "note", .kind = INVIVO_KIND_INT64}};
    invivo_injection into[] = {ARGUMENT("number", 0)};
    invivo_injection on[] = {ARGUMENT(NULL, 0)}, fixed[] = {CONSTANT(NULL, invivo_int64(25))};
    invivo_injection child[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.inner", .items = on, .item_count = 1},
                                {.name = "right", .how = INVIVO_INJECT_REFERENCE, .reference = "a.inner", .items = fixed, .item_count = 1},
                                {.name = "any", .how = INVIVO_INJECT_ARGUMENTS}};
    describe();
    ADD("a.inner", PROTOTYPE, INITIALIZER(into), .parameters = parameters, .parameter_count = 1);
    ADD("a.outer", PROTOTYPE, PROPERTIES(child), .parameters = parameters, .parameter_count = 1);
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.short", .alias = "a.outer",
                             .initializer = fixed, .initializer_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.shorter", .alias = "a.short"}, NULL, E));
    commit();
    invivo_value seven[] = {invivo_int64(7)};
    invivo_object outer;
    OK(invivo_resolve_with(runtime, key_of("a.outer"), seven, 1, &outer, E));
    CHECK_EQUAL(at(at(outer)->left)->number, 7);
    CHECK_EQUAL(at(at(outer)->right)->number, 25);
    CHECK_EQUAL(at(outer)->any.as.list.count, 1);
    drop(outer);
    outer = resolve("a.shorter");
    CHECK_EQUAL(at(at(outer)->left)->number, 25);
    drop(outer);
    CHECK_EQUAL(live, 0);
    end();
}

/* An alias that says what it takes gives its target whatever it says, in any order. */
static void an_alias_with_parameters_arranges_what_its_target_gets(void) {
    begin();
    static const invivo_parameter two[] = {{.name = "left", .kind = INVIVO_KIND_INT64}, {.name = "right", .kind = INVIVO_KIND_INT64}};
    static const invivo_parameter one[] = {{.name = "right", .kind = INVIVO_KIND_INT64}};
    invivo_injection all[] = {{.name = "any", .how = INVIVO_INJECT_ARGUMENTS}};
    invivo_injection turned[] = {ARGUMENT(NULL, 1), ARGUMENT(NULL, 0)};
    invivo_injection few[] = {CONSTANT(NULL, invivo_int64(1))};
    describe();
    ADD("a.pair", LAZY_SINGLETON, PROPERTIES(all), .parameters = two, .parameter_count = 2);
    ADD_ALIAS("a.turned", "a.pair", INITIALIZER(turned), .parameters = two, .parameter_count = 2);
    OK(invivo_changes_define(changes, &(invivo_definition)INVIVO_ALIAS("a.last", "a.turned", INVIVO_PARAMETERS({.name = "right", .kind = INVIVO_KIND_INT64}),
                             INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_ARG(0)), INVIVO_GIVE(INVIVO_INT(25)))), NULL, E));
    commit();
    invivo_value given[] = {invivo_int64(7), invivo_int64(8)}, back[] = {invivo_int64(8), invivo_int64(7)}, three[3] = {0};
    invivo_object pair, same, other;
    OK(invivo_resolve_with(runtime, key_of("a.turned"), given, 2, &pair, E));
    CHECK_EQUAL(at(pair)->any.as.list.items[0].as.signed_integer, 8);
    CHECK_EQUAL(at(pair)->any.as.list.items[1].as.signed_integer, 7);
    OK(invivo_resolve_with(runtime, key_of("a.pair"), back, 2, &same, E));
    CHECK(pair.bits == same.bits); /* one object: the arguments of the target count */
    OK(invivo_resolve_with(runtime, key_of("a.last"), given, 1, &other, E));
    CHECK_EQUAL(at(other)->any.as.list.items[0].as.signed_integer, 25);
    CHECK_EQUAL(at(other)->any.as.list.items[1].as.signed_integer, 7);
    drop(pair), drop(same), drop(other);
    /* What does not fit says what the alias takes. */
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_resolve_with(runtime, key_of("a.last"), three, 3, &other, &error), INVIVO_E_ARITY);
    CHECK(strcmp(invivo_error_path(error), "a.last") == 0);
    invivo_error_release(error), error = NULL;
    describe();
    ADD_ALIAS("a.short", "a.pair", INITIALIZER(few), .parameters = one, .parameter_count = 1);
    CHECK_EQUAL(invivo_changes_commit(changes, &error), INVIVO_E_ARITY);
    CHECK(strstr(invivo_error_text(error), "the alias gives 1 argument to") != NULL);
    invivo_error_release(error);
    end();
    CHECK_EQUAL(live, 0);
}

/* A build for a sanitizer needs more of it than the usual 8 MiB for as many objects as may need each other. */
enum { SMALL_STACK = 512 << 10, LARGE_STACK = 64 << 20 };
static void on_a_stack(size_t size, void *(*body)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    if (CHECK_EQUAL(pthread_create(&thread, &attributes, body, NULL), 0)) pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}
static void *resolve_without_end(void *unused) {
    (void)unused;
    invivo_object object;
    invivo_value one[] = {invivo_int64(1)};
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_resolve_with(runtime, key_of("a.deep"), one, 1, &object, &error), INVIVO_E_CYCLE);
    CHECK(strstr(invivo_error_text(error), "the wiring does not end: 256 objects need each other") != NULL);
    invivo_error_release(error);
    return NULL;
}

static void a_wiring_that_never_ends_is_an_error(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "next", .kind = INVIVO_KIND_ANY}};
    invivo_injection nested[] = {{.how = INVIVO_INJECT_ARGUMENTS}};
    invivo_injection deeper[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.deep", .items = nested, .item_count = 1}};
    DEFINE("a.deep", PROTOTYPE, PROPERTIES(deeper), .parameters = parameters, .parameter_count = 1);
    on_a_stack(LARGE_STACK, resolve_without_end);
    CHECK_EQUAL(live, 0);
    end();
}

enum { LONG = 800 };
static invivo_object long_chain;
static void define_chain(uint32_t scope, int length) {
    char names[LONG + 1][16];
    invivo_injection next[LONG];
    describe();
    for (int i = 0; i <= length; i++) snprintf(names[i], sizeof names[i], "a.n%d", i);
    for (int i = 0; i <= length; i++) {
        if (i < length) next[i] = (invivo_injection)KEY("input", names[i + 1]);
        invivo_definition definition = {.struct_size = sizeof definition, .key = names[i], .scope = scope, .type = leaf_type,
                                        .initializer = i < length ? &next[i] : NULL, .initializer_count = i < length};
        OK(invivo_changes_define(changes, &definition, NULL, E));
    }
    commit();
}
static void *resolve_chain(void *unused) {
    (void)unused;
    expects_error(invivo_resolve_name(runtime, "a.n0", &long_chain, E), INVIVO_E_CYCLE, NULL);
    CHECK_EQUAL(live, 0);
    /* The limit is of what is made at once: from the other end it is made piece by piece. */
    for (int i = LONG - 2; i >= 0; i -= 2) {
        char name[16];
        snprintf(name, sizeof name, "a.n%d", i);
        drop(resolve(name));
    }
    CHECK_EQUAL(live, LONG + 1);
    return NULL;
}
static void *make_chain(void *unused) {
    (void)unused;
    OK(invivo_resolve_name(runtime, "a.n0", &long_chain, E));
    return NULL;
}
static void *drop_chain(void *unused) {
    (void)unused;
    drop(long_chain);
    return NULL;
}
static void a_long_chain_is_an_error_on_a_small_stack_and_no_crash(void) {
    begin();
    define_chain(INVIVO_SCOPE_LAZY_SINGLETON, LONG);
    on_a_stack(SMALL_STACK, resolve_chain);
    end();
    /* Made where there is room, it ends where there is little. */
    begin();
    define_chain(INVIVO_SCOPE_PROTOTYPE, 200);
    on_a_stack(LARGE_STACK, make_chain);
    CHECK_EQUAL(live, 201);
    on_a_stack(SMALL_STACK, drop_chain);
    CHECK_EQUAL(live, 0);
    end();
}

static void a_chain_longer_than_any_stack_ends(void) {
    begin();
    invivo_injection former[] = {ARGUMENT("input", 0)};
    static const invivo_parameter parameters[] = {{.name = "former", .kind = INVIVO_KIND_ANY}};
    DEFINE("a.link", PROTOTYPE, .type = leaf_type, INITIALIZER(former), .parameters = parameters, .parameter_count = 1);
    invivo_key key = key_of("a.link");
    invivo_value none = invivo_null();
    invivo_object last = {0};
    OK(invivo_resolve_with(runtime, key, &none, 1, &last, E));
    for (int i = 0; i < 50000; i++) {
        invivo_value held = invivo_object_value(last);
        invivo_object next;
        if (invivo_resolve_with(runtime, key, &held, 1, &next, NULL)) check_failed(__FILE__, __LINE__, "link %d is not made", i);
        drop(last);
        last = next;
    }
    CHECK_EQUAL(live, 50001);
    drop(last);
    CHECK_EQUAL(live, 0);
    end();
}

static void a_weak_singleton_lives_as_long_as_somebody_holds_it(void) {
    begin();
    DEFINE("a.weak", WEAK_SINGLETON);
    invivo_object one = resolve("a.weak"), again = resolve("a.weak");
    CHECK(one.bits == again.bits);
    int serial = at(one)->serial;
    drop(one);
    CHECK_EQUAL(live, 1);
    drop(again);
    CHECK_EQUAL(live, 0);
    one = resolve("a.weak");
    CHECK(at(one)->serial != serial);
    drop(one);
    invivo_injection weak[] = {KEY("left", "a.weak")};
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(weak));
    invivo_object holder = resolve("a.holder");
    CHECK_EQUAL(live, 2);
    one = resolve("a.weak");
    CHECK(at(holder)->left.bits == one.bits);
    drop(one), drop(holder);
    CHECK_EQUAL(live, 2);
    end();
}

/* Instances counted by the host, with weak references: a cell that outlives its instance. */
typedef struct counted { int count; struct weak *weak; } counted;
typedef struct weak { counted *instance; int users; } weak;
static int counted_live, weak_live;
static invivo_status counted_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    counted *made = calloc(1, sizeof *made);
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    if (!made) return INVIVO_E_MEMORY;
    made->count = 1, counted_live++;
    *instance = made;
    return INVIVO_OK;
}
static void counted_release(void *instance, void *user_data) {
    counted *self = instance;
    (void)user_data;
    if (--self->count) return;
    if (self->weak) self->weak->instance = NULL;
    counted_live--;
    free(self);
}
static void *counted_weak_make(void *instance, void *user_data) {
    counted *self = instance;
    (void)user_data;
    if (!self->weak) {
        self->weak = calloc(1, sizeof *self->weak);
        if (!self->weak) return NULL;
        self->weak->instance = self, weak_live++;
    }
    self->weak->users++;
    return self->weak;
}
static void *counted_weak_load(void *reference, void *user_data) {
    weak *self = reference;
    (void)user_data;
    if (self->instance) self->instance->count++;
    return self->instance;
}
static void counted_weak_free(void *reference, void *user_data) {
    weak *self = reference;
    (void)user_data;
    if (--self->users) return;
    if (self->instance) self->instance->weak = NULL;
    weak_live--;
    free(self);
}
static void a_weak_singleton_that_its_host_counts_is_found_again(void) {
    begin();
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Counted", .concurrency = INVIVO_SHARED, .make = counted_make,
                                   .release = counted_release, .weak_make = counted_weak_make, .weak_load = counted_weak_load,
                                   .weak_free = counted_weak_free};
    OK(invivo_type_register(runtime, &options, &type, E));
    DEFINE("a.weak", WEAK_SINGLETON, .type = type);
    invivo_object handle = resolve("a.weak");
    counted *instance = (counted *)at(handle);
    instance->count++; /* the host's own reference */
    drop(handle);
    CHECK_EQUAL(counted_live, 1);
    handle = resolve("a.weak");
    CHECK((counted *)at(handle) == instance);
    invivo_object again = resolve("a.weak");
    CHECK(again.bits == handle.bits);
    drop(again), drop(handle);
    counted_release(instance, NULL);
    CHECK_EQUAL(counted_live, 0);
    handle = resolve("a.weak");
    CHECK_EQUAL(counted_live, 1);
    drop(handle);
    CHECK_EQUAL(counted_live, 0);
    end();
    CHECK_EQUAL(weak_live, 0);
}

/* What is made for many arguments and gone is asked for now and then: neither arguments nor weak references add up. */
static void what_its_host_counts_leaves_its_arguments_when_it_is_gone(void) {
    begin();
    invivo_type type;
    const invivo_parameter number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    const invivo_injection argument[] = {{.name = "number", .how = INVIVO_INJECT_ARGUMENT}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Counted", .concurrency = INVIVO_SHARED, .make = counted_make,
                                   .release = counted_release, .weak_make = counted_weak_make, .weak_load = counted_weak_load,
                                   .weak_free = counted_weak_free, .parameters = number, .parameter_count = 1};
    OK(invivo_type_register(runtime, &options, &type, E));
    DEFINE("a.weak", WEAK_SINGLETON, .type = type, INITIALIZER(argument), .parameters = number, .parameter_count = 1);
    invivo_key key;
    OK(invivo_key_find(runtime, "a.weak", &key, E));
    counted *kept[10] = {0};
    for (int i = 0; i < 2000; i++) {
        invivo_value value = invivo_int64(i);
        invivo_object handle = {0};
        if (!OK(invivo_resolve_with(runtime, key, &value, 1, &handle, E))) break;
        if (i % 200 == 0) kept[i / 200] = (counted *)at(handle), kept[i / 200]->count++;
        drop(handle);
        if (!CHECK(weak_live <= 64)) break;
    }
    CHECK_EQUAL(counted_live, 10);
    for (int i = 0; i < 10; i++) { /* those that somebody holds are found again */
        invivo_value value = invivo_int64(i * 200);
        invivo_object handle = {0};
        OK(invivo_resolve_with(runtime, key, &value, 1, &handle, E));
        CHECK((counted *)at(handle) == kept[i]);
        drop(handle);
        counted_release(kept[i], NULL);
    }
    CHECK_EQUAL(counted_live, 0);
    end();
    CHECK_EQUAL(weak_live, 0);
}

/* ---- parents ----------------------------------------------------------------------------------------- */

static void a_child_takes_over_from_its_parents(void) {
    begin();
    invivo_injection numbers[] = {CONSTANT("number", invivo_int64(12)), CONSTANT("any", invivo_string("base"))};
    invivo_injection leaf[] = {KEY("left", "a.leaf")}, other[] = {CONSTANT("number", invivo_int64(346))};
    describe();
    ADD("a.leaf", LAZY_SINGLETON);
    ADD("a.base", LAZY_SINGLETON, PROPERTIES(numbers), .flags = INVIVO_DEFINITION_ABSTRACT);
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.middle", .parent = "a.base",
                             PROPERTIES(leaf)}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.child", .parent = "a.middle",
                             PROPERTIES(other)}, NULL, E));
    commit();
    invivo_object child = resolve("a.child"), again = resolve("a.child"), middle = resolve("a.middle"), base;
    CHECK(child.bits == again.bits); /* the scope came from the base */
    CHECK_EQUAL(at(child)->number, 346);
    CHECK_EQUAL(at(middle)->number, 12);
    CHECK(at(child)->left.bits == at(middle)->left.bits);
    CHECK_EQUAL(at(child)->any.as.string.length, 4);
    expects_error(invivo_resolve_name(runtime, "a.base", &base, E), INVIVO_E_ABSTRACT,
                  "a.base: the definition is abstract: type 'Node', key 'a.base', scope lazy singleton; define a child of it");
    /* A changed parent remakes its children. */
    invivo_injection changed[] = {CONSTANT("number", invivo_int64(1)), CONSTANT("any", invivo_string("other"))};
    DEFINE("a.base", LAZY_SINGLETON, PROPERTIES(changed), .flags = INVIVO_DEFINITION_ABSTRACT);
    drop(middle), middle = resolve("a.middle");
    CHECK_EQUAL(at(middle)->number, 1);
    drop(child), drop(again), drop(middle);
    describe();
    OK(invivo_changes_remove(changes, "a.base", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    describe();
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.lost", .parent = "a.bsae"}, NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

/* ---- hooks ------------------------------------------------------------------------------------------- */

static invivo_status inject_by_code(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                    void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data;
    return say("inject", ((node *)instance)->name, error);
}

static void hooks_run_in_their_order(void) {
    begin();
    invivo_injection leaf[] = {KEY("left", "a.leaf")}, text[] = {CONSTANT(NULL, invivo_string("before"))};
    invivo_injection after_text[] = {CONSTANT(NULL, invivo_string("after"))}, all_text[] = {CONSTANT(NULL, invivo_string("all"))};
    invivo_invocation before[] = {{"note", text, 1}}, methods[] = {{"add", NULL, 0}, {"add", NULL, 0}};
    invivo_invocation after[] = {{"note", after_text, 1}}, all[] = {{"note", all_text, 1}};
    DEFINE("a.leaf", GRAPH, .after_all = all, .after_all_count = 1);
    DEFINE("a.top", LAZY_SINGLETON, PROPERTIES(leaf), .before = before, .before_count = 1, .methods = methods, .method_count = 2,
           .after = after, .after_count = 1, .after_all = all, .after_all_count = 1, .inject = inject_by_code);
    invivo_object top = resolve("a.top");
    CHECK_TEXT(trace, "init:top will:top before:top init:leaf will:leaf left:top add:top add:top inject:top after:top "
                      "all:leaf did:leaf all:top did:top ");
    CHECK_EQUAL(at(top)->number, 2);
    drop(top);
    end();
}

static void a_failing_step_leaves_nothing_half_made(void) {
    static const char *events[] = {"init:b", "will:b", "left:a", "did:b", "did:a", "init:c", "will:a", "left:c"};
    for (size_t i = 0; i < COUNT(events); i++) {
        begin();
        invivo_injection to_b[] = {KEY("left", "a.b"), KEY("right", "a.c")}, to_a[] = {KEY("left", "a.a")};
        describe();
        ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
        ADD("a.b", LAZY_SINGLETON);
        ADD("a.c", LAZY_SINGLETON, PROPERTIES(to_a));
        commit();
        fail_at = events[i];
        invivo_object object;
        expects_error(invivo_resolve_name(runtime, "a.a", &object, E), INVIVO_E_HOST, NULL);
        /* What was complete by itself may stay; nothing that leads to a. */
        invivo_object found = {0};
        CHECK_EQUAL(invivo_peek(runtime, key_of("a.a"), &found), INVIVO_E_COLD);
        CHECK_EQUAL(invivo_peek(runtime, key_of("a.c"), &found), INVIVO_E_COLD);
        CHECK(live <= 1);
        fail_at = NULL;
        object = resolve("a.a");
        CHECK(at(at(object)->right)->left.bits == object.bits);
        CHECK_EQUAL(live, 3);
        drop(object);
        end();
    }
}

static int refused_in; /* the set that is refused, counted from now on; 0: none */
static invivo_status set_or_refuse(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    if (refused_in == 0 || --refused_in > 0) return set_object(instance, user_data, value, error);
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "not back", NULL, NULL);
    return INVIVO_E_HOST;
}
/* What could not be put back stays; a later reload that fails puts that back, and makes nothing for it. */
static void what_could_not_be_put_back_is_what_is_put_back_later(void) {
    static const invivo_property stubborn[] = {
        {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_or_refuse, .user_data = (void *)offsetof(node, left)},
        {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(node, right)}};
    begin();
    invivo_type type;
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Stubborn", .size = sizeof(node),
        .alignment = _Alignof(node), .concurrency = INVIVO_CONFINED, .init = node_init, .deinit = node_deinit, .properties = stubborn, .property_count = 2}, &type, E));
    invivo_injection both[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.d", .flags = INVIVO_INJECT_OPTIONAL}, KEY("right", "a.e")};
    describe();
    ADD("a.d", GRAPH, .type = leaf_type);
    ADD("a.e", GRAPH, .type = leaf_type);
    ADD("a.h", LAZY_SINGLETON, .type = type, PROPERTIES(both));
    commit();
    invivo_object holder = resolve("a.h");
    CHECK(at(holder)->left.bits != 0);
    fail_at = "init:e", refused_in = 2;
    describe();
    OK(invivo_changes_remove(changes, "a.d", E));
    ADD("a.e", GRAPH, .type = leaf_type);
    check_error = NULL;
    CHECK_EQUAL(invivo_changes_commit(changes, E), INVIVO_E_HOST);
    CHECK(strstr(invivo_error_text(check_error), "could not be undone: not back"));
    invivo_error_release(check_error);
    CHECK_EQUAL(at(holder)->left.bits, 0);
    trace[0] = 0;
    describe();
    ADD("a.d", GRAPH, .type = leaf_type);
    ADD("a.e", GRAPH, .type = leaf_type);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_TEXT(trace, "init:d left:h init:e right:h left:h end:d ");
    CHECK_EQUAL(at(holder)->left.bits, 0);
    drop(holder);
    end();
}

static void an_error_names_who_needed_what_failed(void) {
    begin();
    invivo_injection to_b[] = {KEY("left", "a.b")}, to_c[] = {KEY("input", "a.c")};
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b), .file = "wiring.c", .line = 7);
    ADD("a.b", GRAPH, INITIALIZER(to_c), .file = "wiring.c", .line = 8);
    ADD("a.c", GRAPH, .file = "wiring.c", .line = 9);
    commit();
    fail_at = "init:c";
    invivo_object object;
    expects_error(invivo_resolve_name(runtime, "a.a", &object, E), INVIVO_E_HOST,
                  "wiring.c:9: a.c: on purpose; needed by 'a.b' (wiring.c:8), by 'a.a' (wiring.c:7)");
    end();
}

static invivo_key hook_key;
static int hook_depth;
static invivo_status resolve_in_hook(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                     void *user_data, invivo_error **error) {
    invivo_object object;
    invivo_status status;
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    if (hook_depth++ > 3) return INVIVO_E_HOST;
    status = invivo_resolve(runtime, hook_key, &object, error);
    if (!status) invivo_object_release(object);
    return status;
}
static invivo_status did_resolve(void *instance, void *user_data, invivo_error **error) {
    return resolve_in_hook(instance, NULL, NULL, 0, user_data, error);
}
static void a_hook_may_resolve_and_that_completes_by_itself(void) {
    begin();
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Asking", .size = 8, .alignment = 8, .concurrency = INVIVO_SHARED,
                                   .did_inject = did_resolve};
    OK(invivo_type_register(runtime, &options, &type, E));
    DEFINE("a.leaf", GRAPH);
    DEFINE("a.asking", LAZY_SINGLETON, .type = type);
    hook_key = key_of("a.leaf"), hook_depth = 0;
    drop(resolve("a.asking"));
    CHECK_EQUAL(hook_depth, 1);
    CHECK_TEXT(trace, "init:leaf will:leaf did:leaf end:leaf ");
    /* Even itself: it is there, only its hooks are not over. */
    DEFINE("a.self", LAZY_SINGLETON, .type = type);
    hook_key = key_of("a.self"), hook_depth = 0;
    drop(resolve("a.self"));
    CHECK_EQUAL(hook_depth, 1);
    end();
}

/* ---- what is injected -------------------------------------------------------------------------------- */

static invivo_object call_for(invivo_callable callable, const invivo_value *arguments, size_t count) {
    invivo_value result = invivo_null();
    OK(invivo_callable_call(callable, arguments, count, &result, E));
    invivo_object object = result.kind == INVIVO_KIND_OBJECT ? result.as.object : (invivo_object){0};
    return object; /* the lease of the value is the caller's */
}

static void providers_make_each_time_and_lazies_once(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "a", .kind = INVIVO_KIND_INT64}, {.name = "b", .kind = INVIVO_KIND_INT64}};
    invivo_injection into[] = {ARGUMENT("number", 1)};
    invivo_injection bound[] = {CONSTANT(NULL, invivo_int64(1))};
    invivo_injection target[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.made", .items = bound, .item_count = 1}};
    invivo_injection shared[] = {KEY(NULL, "a.shared")}, none[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.none", .flags = INVIVO_INJECT_OPTIONAL}};
    invivo_injection provider[] = {{.name = "any", .how = INVIVO_INJECT_PROVIDER, .items = target, .item_count = 1}};
    invivo_injection lazy[] = {{.name = "any", .how = INVIVO_INJECT_LAZY, .items = shared, .item_count = 1}};
    invivo_injection optional[] = {{.name = "any", .how = INVIVO_INJECT_PROVIDER, .items = none, .item_count = 1}};
    DEFINE("a.made", PROTOTYPE, INITIALIZER(into), .parameters = parameters, .parameter_count = 2);
    DEFINE("a.shared", LAZY_SINGLETON);
    DEFINE("a.maker", LAZY_SINGLETON, PROPERTIES(provider));
    DEFINE("a.sleeper", LAZY_SINGLETON, PROPERTIES(lazy));
    DEFINE("a.without", LAZY_SINGLETON, PROPERTIES(optional));
    invivo_object maker = resolve("a.maker"), sleeper = resolve("a.sleeper"), without = resolve("a.without");
    CHECK_EQUAL(at(without)->any.kind, INVIVO_KIND_NULL);
    CHECK_EQUAL(at(maker)->any.kind, INVIVO_KIND_CALLABLE);
    CHECK_EQUAL(live, 3);
    invivo_value nine[] = {invivo_int64(9)};
    invivo_object one = call_for(at(maker)->any.as.callable, nine, 1), two = call_for(at(maker)->any.as.callable, nine, 1);
    CHECK(one.bits != two.bits);
    CHECK_EQUAL(at(one)->number, 9);
    drop(one), drop(two);
    one = call_for(at(sleeper)->any.as.callable, NULL, 0), two = call_for(at(sleeper)->any.as.callable, NULL, 0);
    CHECK(one.bits == two.bits);
    drop(two);
    /* Who holds a provider or a lazy is left alone; the lazy asks again. */
    int serial = at(sleeper)->serial;
    DEFINE("a.shared", LAZY_SINGLETON);
    invivo_object after = resolve("a.sleeper");
    CHECK_EQUAL(at(after)->serial, serial);
    two = call_for(at(after)->any.as.callable, NULL, 0);
    CHECK(two.bits != one.bits);
    drop(one), drop(two), drop(after), drop(maker), drop(sleeper), drop(without);
    end();
}

static void collections_are_fresh_and_paths_are_followed(void) {
    begin();
    invivo_injection items[] = {KEY("x", "a.leaf"), CONSTANT("y", invivo_int64(2)), KEY("z", "a.leaf")};
    invivo_injection list[] = {{.name = "any", .how = INVIVO_INJECT_LIST, .items = items, .item_count = 3}};
    invivo_injection set[] = {{.name = "any", .how = INVIVO_INJECT_SET, .items = items, .item_count = 3}};
    invivo_injection map[] = {{.name = "any", .how = INVIVO_INJECT_MAP, .items = items, .item_count = 3}};
    invivo_injection holder[] = {KEY(NULL, "a.holder")}, number[] = {{.name = "number", .how = INVIVO_INJECT_PATH, .reference = "left.number", .items = holder, .item_count = 1}};
    invivo_injection seven[] = {CONSTANT("number", invivo_int64(7))}, leaf[] = {KEY("left", "a.leaf")};
    DEFINE("a.leaf", LAZY_SINGLETON, PROPERTIES(seven));
    DEFINE("a.list", PROTOTYPE, PROPERTIES(list));
    DEFINE("a.set", PROTOTYPE, PROPERTIES(set));
    DEFINE("a.map", PROTOTYPE, PROPERTIES(map));
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(leaf));
    DEFINE("a.path", PROTOTYPE, PROPERTIES(number));
    invivo_object a_list = resolve("a.list"), a_set = resolve("a.set"), a_map = resolve("a.map"), path = resolve("a.path");
    CHECK_EQUAL(at(a_list)->any.as.list.count, 3);
    CHECK_EQUAL(at(a_set)->any.as.list.count, 2);
    CHECK_EQUAL(at(a_map)->any.as.map.count, 3);
    CHECK(at(a_map)->any.as.map.pairs[2].value.as.object.bits == at(a_list)->any.as.list.items[0].as.object.bits);
    CHECK_EQUAL(at(path)->number, 7);
    drop(a_list), drop(a_set), drop(a_map), drop(path);
    number[0].reference = "left.numer";
    DEFINE("a.path", PROTOTYPE, PROPERTIES(number));
    invivo_object none;
    expects_error(invivo_resolve_name(runtime, "a.path", &none, E), INVIVO_E_PROPERTY, NULL);
    end();
}

static invivo_status make_none(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    *instance = NULL;
    return INVIVO_OK;
}

static void null_goes_only_where_it_may(void) {
    begin();
    invivo_injection needed[] = {KEY("left", "a.none")};
    invivo_injection optional[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.none", .flags = INVIVO_INJECT_OPTIONAL},
                                   {.name = "right", .how = INVIVO_INJECT_REFERENCE, .reference = "a.missing", .flags = INVIVO_INJECT_OPTIONAL}};
    DEFINE("a.none", LAZY_SINGLETON, .factory = make_none, .flags = INVIVO_DEFINITION_NULLABLE);
    DEFINE("a.needs", PROTOTYPE, PROPERTIES(needed));
    DEFINE("a.may", PROTOTYPE, PROPERTIES(optional));
    invivo_object object = {0};
    expects_error(invivo_resolve_name(runtime, "a.needs", &object, E), INVIVO_E_NULL,
                  "a.needs: the property 'left' of 'a.needs' needs 'a.none', and what makes that answered null; make the place optional");
    OK(invivo_resolve_optional(runtime, key_of("a.none"), NULL, 0, &object, E));
    CHECK_EQUAL(object.bits, 0);
    expects_error(invivo_resolve(runtime, key_of("a.none"), &object, E), INVIVO_E_NULL, NULL);
    object = resolve("a.may");
    CHECK_EQUAL(at(object)->left.bits, 0);
    drop(object);
    CHECK_EQUAL(live, 0);
    end();
}

static invivo_status make_asked(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)arguments, (void)count, (void)user_data, (void)error;
    snprintf(((node *)*instance)->name, sizeof ((node *)*instance)->name, "%s", build->asker.bits ? invivo_key_name(build->asker) : "nobody");
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}

static void methods_of_other_objects_make_and_factories_know_who_asks(void) {
    begin();
    invivo_injection leaf[] = {KEY("left", "a.leaf")}, maker[] = {KEY(NULL, "a.maker"), CONSTANT(NULL, invivo_int64(5))};
    invivo_injection asks[] = {{.name = "any", .how = INVIVO_INJECT_ASKER}, KEY("left", "a.logger")}, log[] = {KEY("left", "a.logger")};
    invivo_injection asker[] = {{.name = "any", .how = INVIVO_INJECT_ASKER}};
    DEFINE("a.leaf", LAZY_SINGLETON);
    DEFINE("a.maker", LAZY_SINGLETON, PROPERTIES(leaf));
    DEFINE("a.product", LAZY_SINGLETON, .maker_method = "make", .maker = maker, .maker_count = 2);
    invivo_object product = resolve("a.product"), again = resolve("a.product");
    CHECK(product.bits == again.bits);
    CHECK_EQUAL(at(product)->number, 5);
    drop(product), drop(again);
    DEFINE("a.logger", LAZY_SINGLETON, .factory = make_asked, PROPERTIES(asker));
    DEFINE("a.one", LAZY_SINGLETON, PROPERTIES(log));
    DEFINE("a.two", LAZY_SINGLETON, PROPERTIES(log));
    invivo_object one = resolve("a.one"), two = resolve("a.two");
    CHECK(at(one)->left.bits != at(two)->left.bits); /* what asks is never shared */
    CHECK_TEXT(at(at(one)->left)->name, "a.one");
    CHECK(at(at(two)->left)->any.kind == INVIVO_KIND_STRING);
    drop(one), drop(two);
    (void)asks;
    end();
}

/* ---- lookups ----------------------------------------------------------------------------------------- */

static invivo_status by_type(const char *type, const char *name, uint32_t flags, invivo_object *out) {
    return invivo_resolve_type(runtime, type, name, flags, out, E);
}

static void types_are_looked_up(void) {
    begin();
    invivo_object object = {0}, other = {0};
    expects_error(by_type("Node", NULL, 0, &object), INVIVO_E_NOT_FOUND, "Node: nothing makes a 'Node'");
    OK(by_type("Node", NULL, INVIVO_LOOKUP_OPTIONAL, &object));
    CHECK_EQUAL(object.bits, 0);
    DEFINE("a.one", LAZY_SINGLETON);
    OK(by_type("Node", NULL, 0, &object));
    OK(by_type("Thing", NULL, 0, &other));
    CHECK(object.bits == other.bits);
    drop(object), drop(other);
    expects_error(by_type("Thing", NULL, INVIVO_LOOKUP_EXACT, &object), INVIVO_E_NOT_FOUND, NULL);
    expects_error(by_type("Thingy", NULL, 0, &object), INVIVO_E_NOT_FOUND, "Thingy: nothing makes a 'Thingy', did you mean 'Thing'?");
    DEFINE("a.two", LAZY_SINGLETON);
    DEFINE("a.base", LAZY_SINGLETON, .flags = INVIVO_DEFINITION_ABSTRACT);
    DEFINE("a.hidden", LAZY_SINGLETON, .flags = INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE);
    expects_error(by_type("Node", NULL, 0, &object), INVIVO_E_AMBIGUOUS,
                  "Node: several make a 'Node': a.one, a.two; name one, or give one a higher rank");
    OK(by_type("Node", "two", 0, &object));
    drop(object);
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type, .rank = 1);
    OK(by_type("Thing", NULL, 0, &object));
    CHECK_TEXT(at(object)->name, "leaf");
    drop(object);
    invivo_value all;
    OK(invivo_resolve_all(runtime, "Thing", 0, &all, E));
    CHECK_EQUAL(all.as.list.count, 3);
    if (all.as.list.count == 3) {
        CHECK_TEXT(at(all.as.list.items[0].as.object)->name, "leaf");
        CHECK_TEXT(at(all.as.list.items[1].as.object)->name, "one");
        CHECK_TEXT(at(all.as.list.items[2].as.object)->name, "two");
    }
    invivo_value_clear(&all);
    OK(invivo_resolve_all(runtime, "Nothing", 0, &all, E));
    CHECK_EQUAL(all.as.list.count, 0);
    invivo_value_clear(&all);
    end();
}

static void bindings_by_type_stay_unless_they_are_greedy(void) {
    begin();
    invivo_injection kept[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Leaf"}};
    invivo_injection greedy[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Leaf", .flags = INVIVO_INJECT_GREEDY}};
    invivo_injection every[] = {{.name = "any", .how = INVIVO_INJECT_ALL, .reference = "Leaf"}};
    DEFINE("a.one", LAZY_SINGLETON, .type = leaf_type);
    DEFINE("a.kept", LAZY_SINGLETON, .type = held_type, PROPERTIES(kept));
    DEFINE("a.greedy", LAZY_SINGLETON, .type = held_type, PROPERTIES(greedy));
    DEFINE("a.all", LAZY_SINGLETON, .type = held_type, PROPERTIES(every));
    invivo_object keeps = resolve("a.kept"), takes = resolve("a.greedy"), all = resolve("a.all");
    int serial = at(takes)->serial;
    CHECK_TEXT(at(at(keeps)->left)->name, "one");
    DEFINE("a.two", LAZY_SINGLETON, .type = leaf_type, .rank = 5);
    CHECK_TEXT(at(at(keeps)->left)->name, "one");
    CHECK_TEXT(at(at(takes)->left)->name, "two");
    CHECK_EQUAL(at(takes)->serial, serial); /* injected again, the same object */
    CHECK_EQUAL(at(all)->any.as.list.count, 2);
    /* Defined anew, a working binding still stays; without its target it takes the other. */
    DEFINE("a.kept", LAZY_SINGLETON, .type = held_type, PROPERTIES(kept));
    drop(keeps), keeps = resolve("a.kept");
    CHECK_TEXT(at(at(keeps)->left)->name, "one");
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    CHECK_TEXT(at(at(keeps)->left)->name, "two");
    CHECK_EQUAL(at(all)->any.as.list.count, 1);
    describe();
    OK(invivo_changes_remove(changes, "a.two", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    drop(keeps), drop(takes), drop(all);
    end();
}

static void hosts_objects_are_injected_into(void) {
    begin();
    invivo_injection leaf[] = {KEY("left", "a.leaf")};
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    DEFINE("a.node", LAZY_SINGLETON, PROPERTIES(leaf));
    invivo_object object;
    OK(invivo_object_make(runtime, node_type, NULL, 0, &object, E));
    trace[0] = 0;
    OK(invivo_inject(object, (invivo_key){0}, E));
    CHECK_TEXT(trace, "will:made init:leaf left:made did:made ");
    CHECK(at(object)->left.bits != 0);
    invivo_object shared = resolve("a.node");
    CHECK(shared.bits != object.bits);
    drop(shared);
    OK(invivo_inject(object, key_of("a.node"), E));
    expects_error(invivo_inject(object, key_of("a.leaf"), E), INVIVO_E_TYPE, NULL);
    drop(object);
    end();
}

static void what_is_said_last_of_a_key_in_one_change_set_counts(void) {
    begin();
    DEFINE("a.v", LAZY_SINGLETON);
    describe();
    OK(invivo_changes_remove(changes, "a.v", E));
    ADD("a.v", LAZY_SINGLETON);
    commit();
    drop(resolve("a.v"));
    describe();
    ADD("a.v", LAZY_SINGLETON);
    OK(invivo_changes_remove(changes, "a.v", E));
    commit();
    invivo_object none;
    expects_error(invivo_resolve_name(runtime, "a.v", &none, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

/* ---- overrides --------------------------------------------------------------------------------------- */

static int64_t number_of(const char *key) {
    invivo_object object = resolve(key);
    int64_t number = object.bits ? at(object)->number : -1;
    drop(object);
    return number;
}
static invivo_override override(const char *key, int64_t number) {
    invivo_override made = {0};
    invivo_injection with[] = {CONSTANT("number", invivo_int64(number))};
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type = node_type,
                             INITIALIZER(with)}, &made, E));
    return made;
}

static void overrides_lie_on_each_other_and_go_in_any_order(void) {
    begin();
    invivo_injection one[] = {CONSTANT("number", invivo_int64(1))}, into[] = {KEY("left", "a.key")}, through[] = {KEY("input", "a.key")};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(one), .flags = INVIVO_DEFINITION_HIDDEN_INTERFACE);
    DEFINE("a.keeps", LAZY_SINGLETON, .type = held_type, PROPERTIES(into));
    DEFINE("a.follows", LAZY_SINGLETON, INITIALIZER(through));
    invivo_object keeps = resolve("a.keeps");
    CHECK_EQUAL(at(at(keeps)->left)->number, 1);
    CHECK_EQUAL(at(at(keeps)->left)->serial, 2);
    invivo_override two = override("a.key", 2), three = override("a.key", 3);
    CHECK_EQUAL(number_of("a.key"), 3);
    CHECK_EQUAL(at(at(keeps)->left)->number, 3); /* the dependent follows and stays itself */
    invivo_object first = resolve("a.key"), again = resolve("a.key");
    CHECK(first.bits == again.bits); /* the scope stays */
    drop(first), drop(again);
    expects_error(by_type("Thing", "key", 0, &first), INVIVO_E_NOT_FOUND, NULL); /* and so does what hides it */
    OK(invivo_override_end(two, E));
    CHECK_EQUAL(number_of("a.key"), 3);
    expects_error(invivo_override_end(two, E), INVIVO_E_HANDLE, NULL);
    /* Defined anew meanwhile: that shows when the override goes. */
    invivo_injection four[] = {CONSTANT("number", invivo_int64(4))};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(four));
    CHECK_EQUAL(number_of("a.key"), 3);
    OK(invivo_override_end(three, E));
    CHECK_EQUAL(number_of("a.key"), 4);
    CHECK_EQUAL(at(at(keeps)->left)->number, 4);
    invivo_override lost;
    invivo_definition unknown = {.struct_size = sizeof unknown, .key = "a.kye", .type = node_type};
    expects_error(invivo_override_begin(runtime, &unknown, &lost, E), INVIVO_E_NOT_FOUND,
                  "a.kye: no definition has the key 'a.kye', did you mean 'a.key'?");
    (void)override("a.key", 9); /* goes with the runtime */
    drop(keeps);
    end();
}

static void an_object_stands_in_for_a_key(void) {
    begin();
    invivo_injection into[] = {KEY("left", "a.key")};
    DEFINE("a.key", LAZY_SINGLETON);
    DEFINE("a.keeps", LAZY_SINGLETON, .type = held_type, PROPERTIES(into));
    invivo_object double_, keeps = resolve("a.keeps"), real = at(keeps)->left;
    OK(invivo_object_make(runtime, leaf_type, NULL, 0, &double_, E));
    invivo_definition stand_in = {.struct_size = sizeof stand_in, .key = "a.key", .constant = double_};
    invivo_override in_place;
    OK(invivo_override_begin(runtime, &stand_in, &in_place, E));
    CHECK(at(keeps)->left.bits == double_.bits);
    invivo_object found = resolve("a.key");
    CHECK(found.bits == double_.bits && found.bits != real.bits);
    drop(found);
    OK(invivo_override_end(in_place, E));
    found = resolve("a.key");
    CHECK(found.bits != double_.bits);
    drop(found);
    /* Two keys with one object: it ends with its last holder, not with one of the keys. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.one", .constant = double_,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.two", .constant = double_,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    drop(double_);
    found = resolve("a.one");
    CHECK(found.bits == double_.bits);
    drop(found), drop(resolve("a.two"));
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    (void)live_objects();
    found = resolve("a.two");
    CHECK(found.bits == double_.bits);
    drop(found), drop(keeps);
    end();
}

/* ---- programs: what is made again and again, in one sweep ----------------------------------------------- */

/* Its init resolves `asked`. */
static const char *asked;
static invivo_object answered;
static invivo_status asking_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    invivo_status status = node_init(instance, build, arguments, count, user_data, error);
    if (status || !asked) return status;
    status = invivo_resolve_name(build->runtime, asked, &answered, error);
    if (status) node_deinit(instance, user_data);
    return status;
}

static void begin_with_simple_types(invivo_type *asking) {
    begin();
    invivo_type_options options = {.struct_size = sizeof options, .name = "Asks", .size = sizeof(node), .alignment = _Alignof(node),
                                   .concurrency = INVIVO_SHARED, .init = asking_init, .deinit = node_deinit,
                                   .parameters = node_parameters, .parameter_count = 3};
    asked = NULL;
    OK(invivo_type_register(runtime, &options, asking, E));
}
#define LEAF(given_key, given_scope, ...) ADD(given_key, given_scope, .type = leaf_type, __VA_ARGS__)

static void a_graph_made_by_a_program_is_the_same_graph(void) {
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection base[] = {KEY("input", "a.base"), CONSTANT("number", invivo_int64(3))}, shared[] = {KEY("input", "a.shared")};
    invivo_injection both[] = {KEY("input", "a.one"), CONSTANT("number", invivo_int64(9)), KEY("given", "a.two")};
    describe();
    LEAF("a.shared", LAZY_SINGLETON, .flags = 0);
    LEAF("a.base", GRAPH, INITIALIZER(shared));
    LEAF("a.one", PROTOTYPE, INITIALIZER(base));
    LEAF("a.two", PROTOTYPE, INITIALIZER(base));
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    invivo_object kept = {0};
    for (int round = 0; round < 6; round++) {
        trace[0] = 0;
        invivo_object top = resolve("a.top");
        invivo_object one = at(top)->input, two = at(top)->given.as.object;
        CHECK_TEXT(trace, round ? "init:base init:one init:two init:top " : "init:shared init:base init:one init:two init:top ");
        CHECK_EQUAL(at(top)->number, 9);
        CHECK_EQUAL(at(one)->number, 3);
        CHECK(one.bits != two.bits && at(one)->input.bits == at(two)->input.bits);
        CHECK(at(at(one)->input)->input.bits != 0);
        CHECK_EQUAL(live, 5);
        trace[0] = 0;
        if (round % 2) {
            /* A part that is held outlives the whole, with all that it was made from. */
            kept = one;
            OK(invivo_object_retain(kept));
        }
        drop(top);
        if (round % 2) {
            CHECK_EQUAL(live, 3);
            CHECK(at(at(kept)->input)->input.bits != 0);
            drop(kept);
        }
        CHECK_EQUAL(live, 1);
        if (round % 2 == 0) CHECK_TEXT(trace, "end:top end:one end:two end:base ");
    }
    /* A reload of what it is made from, or of its constants, counts at once. */
    both[1].value = invivo_int64(10);
    base[1].value = invivo_int64(4);
    describe();
    LEAF("a.top", GRAPH, INITIALIZER(both));
    LEAF("a.two", PROTOTYPE, INITIALIZER(base));
    commit();
    for (int round = 0; round < 4; round++) {
        invivo_object top = resolve("a.top");
        CHECK_EQUAL(at(top)->number, 10);
        CHECK_EQUAL(at(at(top)->given.as.object)->number, 4);
        CHECK_EQUAL(at(at(top)->input)->number, 3);
        drop(top);
    }
    /* So does what a document says for a part of it. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.shared", .type = leaf_type,
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    for (int round = 0; round < 3; round++) {
        invivo_object top = resolve("a.top"), now = resolve("a.shared");
        CHECK(at(at(at(top)->input)->input)->input.bits == now.bits);
        drop(top), drop(now);
    }
    end();
}

static void a_program_that_fails_takes_all_of_it_back(void) {
    static const char *events[] = {"init:base", "init:one", "init:two", "init:top"};
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection base[] = {KEY("input", "a.base")}, shared[] = {KEY("input", "a.shared")};
    invivo_injection both[] = {KEY("input", "a.one"), CONSTANT("number", invivo_int64(9)), KEY("given", "a.two")};
    describe();
    LEAF("a.shared", LAZY_SINGLETON, .flags = 0);
    LEAF("a.base", GRAPH, INITIALIZER(shared));
    LEAF("a.one", PROTOTYPE, INITIALIZER(base));
    LEAF("a.two", PROTOTYPE, INITIALIZER(base));
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    for (int round = 0; round < 3; round++) drop(resolve("a.top"));
    for (size_t i = 0; i < COUNT(events); i++) {
        char key[16];
        invivo_object object = {0};
        invivo_error *error = NULL;
        fail_at = events[i];
        CHECK_EQUAL(invivo_resolve(runtime, key_of("a.top"), &object, &error), INVIVO_E_HOST);
        snprintf(key, sizeof key, "a.%s", events[i] + 5);
        CHECK_TEXT(invivo_error_path(error), key);
        invivo_error_release(error);
        CHECK_EQUAL(live, 1);
        CHECK_EQUAL(live_objects(), 1);
        fail_at = NULL;
        drop(resolve("a.top"));
    }
    end();
}

static void an_init_in_a_program_resolves_in_the_same_graph(void) {
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection base[] = {KEY("input", "a.base")}, both[] = {KEY("input", "a.base"), CONSTANT("number", invivo_int64(1)), KEY("given", "a.asks")};
    describe();
    LEAF("a.base", GRAPH, .flags = 0);
    LEAF("a.other", GRAPH, INITIALIZER(base));
    ADD("a.asks", GRAPH, .type = asking);
    LEAF("a.top", GRAPH, INITIALIZER(both));
    commit();
    for (int round = 0; round < 5; round++) {
        asked = "a.base";
        invivo_object top = resolve("a.top");
        CHECK(answered.bits == at(top)->input.bits);
        drop(answered);
        drop(top);
        asked = "a.other"; /* made meanwhile, from the same base */
        top = resolve("a.top");
        CHECK(at(answered)->input.bits == at(top)->input.bits);
        drop(answered), drop(top);
        CHECK_EQUAL(live, 0);
        /* What is on its way is not there yet. */
        asked = "a.top";
        invivo_object none;
        invivo_error *error = NULL;
        CHECK_EQUAL(invivo_resolve(runtime, key_of("a.top"), &none, &error), INVIVO_E_CYCLE);
        invivo_error_release(error);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static void *make_graphs(void *key) {
    for (int i = 0; i < 2000; i++) {
        invivo_object object;
        if (invivo_resolve(runtime, *(invivo_key *)key, &object, NULL)) {
            check_failed(__FILE__, __LINE__, "a graph is not made");
        } else if (invivo_object_release(object)) {
            check_failed(__FILE__, __LINE__, "a graph is not given back");
        }
    }
    return NULL;
}
static void programs_run_in_many_threads_while_reloads_change_them(void) {
    invivo_type asking;
    begin_with_simple_types(&asking);
    invivo_injection shared[] = {KEY("input", "a.shared")}, base[] = {KEY("input", "a.base")};
    describe();
    LEAF("a.shared", LAZY_SINGLETON, .flags = 0);
    LEAF("a.base", GRAPH, INITIALIZER(shared));
    LEAF("a.top", PROTOTYPE, INITIALIZER(base));
    commit();
    invivo_key key = key_of("a.top");
    pthread_t threads[3];
    for (size_t i = 0; i < COUNT(threads); i++) pthread_create(&threads[i], NULL, make_graphs, &key);
    for (int i = 0; i < 100; i++) DEFINE("a.shared", LAZY_SINGLETON, .type = leaf_type);
    for (size_t i = 0; i < COUNT(threads); i++) pthread_join(threads[i], NULL);
    /* Where the threads had done all they do while one change was on its way, nobody has asked for the shared one since. */
    drop(resolve("a.top"));
    (void)live_objects(); /* looks for what can be disposed */
    CHECK_EQUAL(live, 1);
    end();
}

/* ---- many -------------------------------------------------------------------------------------------- */

static void graphs_come_and_go_without_a_trace(void) {
    begin();
    invivo_injection to_x[] = {KEY("left", "a.x"), KEY("right", "a.g")}, to_p[] = {KEY("left", "a.p"), KEY("right", "a.g")};
    describe();
    ADD("a.p", PROTOTYPE, PROPERTIES(to_x), .type = leaf_type);
    ADD("a.x", PROTOTYPE, PROPERTIES(to_p), .type = leaf_type);
    ADD("a.g", GRAPH, .type = leaf_type);
    commit();
    invivo_key key = key_of("a.p");
    for (int i = 0; i < 20000; i++) {
        invivo_object object;
        trace[0] = 0;
        if (invivo_resolve(runtime, key, &object, NULL) || invivo_object_release(object)) check_failed(__FILE__, __LINE__, "a graph is not made and given back");
    }
    CHECK_EQUAL(serials, 60000);
    CHECK_EQUAL(live, 0);
    end();
}

static void a_type_may_say_later_that_it_is_something_more(void) {
    begin();
    invivo_injection wants[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Singer"}};
    invivo_object object;
    DEFINE("a.leaf", LAZY_SINGLETON, .type = leaf_type);
    expects_error(invivo_resolve_type(runtime, "Singer", NULL, 0, &object, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_type_extend(runtime, leaf_type, "Singer", E));
    OK(invivo_type_extend(runtime, leaf_type, "Singer", E)); /* again: nothing */
    OK(invivo_resolve_type(runtime, "Singer", NULL, 0, &object, E));
    invivo_object same = resolve("a.leaf");
    CHECK(object.bits == same.bits);
    drop(same), drop(object);
    DEFINE("a.user", LAZY_SINGLETON, PROPERTIES(wants));
    invivo_object user = resolve("a.user");
    CHECK_TEXT(at(at(user)->left)->name, "leaf");
    drop(user);
    /* What is defined later is found by it as well. */
    DEFINE("a.second", LAZY_SINGLETON, .type = leaf_type, .rank = 3);
    OK(invivo_resolve_type(runtime, "Singer", NULL, 0, &object, E));
    CHECK_TEXT(at(object)->name, "second");
    drop(object);
    expects_error(invivo_resolve_type(runtime, "Singer", NULL, INVIVO_LOOKUP_EXACT, &object, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_type_extend(runtime, leaf_type, "", E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_type_extend(runtime, (invivo_type){0}, "Singer", E), INVIVO_E_HANDLE, NULL);
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    graph_scope_is_one_for_each_outermost_resolve();
    a_prototype_referred_to_from_inside_its_making_is_itself();
    circles_through_properties_are_made_and_end();
    an_object_may_be_injected_into_itself();
    an_initializer_may_close_a_circle_with_a_property();
    shared_objects_are_kept_for_each_set_of_arguments();
    arguments_are_passed_on_and_bound();
    an_alias_with_parameters_arranges_what_its_target_gets();
    a_wiring_that_never_ends_is_an_error();
    a_long_chain_is_an_error_on_a_small_stack_and_no_crash();
    a_chain_longer_than_any_stack_ends();
    a_weak_singleton_lives_as_long_as_somebody_holds_it();
    a_weak_singleton_that_its_host_counts_is_found_again();
    what_its_host_counts_leaves_its_arguments_when_it_is_gone();
    a_child_takes_over_from_its_parents();
    what_could_not_be_put_back_is_what_is_put_back_later();
    an_error_names_who_needed_what_failed();
    hooks_run_in_their_order();
    a_failing_step_leaves_nothing_half_made();
    a_hook_may_resolve_and_that_completes_by_itself();
    providers_make_each_time_and_lazies_once();
    collections_are_fresh_and_paths_are_followed();
    null_goes_only_where_it_may();
    methods_of_other_objects_make_and_factories_know_who_asks();
    types_are_looked_up();
    bindings_by_type_stay_unless_they_are_greedy();
    hosts_objects_are_injected_into();
    what_is_said_last_of_a_key_in_one_change_set_counts();
    overrides_lie_on_each_other_and_go_in_any_order();
    an_object_stands_in_for_a_key();
    a_graph_made_by_a_program_is_the_same_graph();
    a_program_that_fails_takes_all_of_it_back();
    an_init_in_a_program_resolves_in_the_same_graph();
    programs_run_in_many_threads_while_reloads_change_them();
    graphs_come_and_go_without_a_trace();
    a_type_may_say_later_that_it_is_something_more();
    return check_end();
}
