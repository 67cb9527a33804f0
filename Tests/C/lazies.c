/* Objects of lazies and arguments of providers belong to the holder of the callable: cycles through them end, replaced
 * objects are not kept alive, and close leaves nothing. */
/* sanitize: no, the sanitizers have not been tried on it */
#include "check.h"

typedef struct node {
    int serial;
    invivo_callable late; /* its own lease */
    invivo_object left;   /* borrowed: the runtime holds the lease */
} node;

static int live, made;
static invivo_runtime runtime;
static invivo_type type, shared_type;

static invivo_status node_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    node *self = instance;
    (void)build, (void)user_data, (void)error;
    self->serial = __atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    if (count == 0 || arguments[0].kind != INVIVO_KIND_CALLABLE) return INVIVO_OK;
    self->late = arguments[0].as.callable;
    return invivo_callable_retain(self->late);
}
static void node_deinit(void *instance, void *user_data) {
    node *self = instance;
    (void)user_data;
    if (self->late.bits) invivo_callable_release(self->late);
    if (self->serial <= 0) check_failed(__FILE__, __LINE__, "a node is disposed of twice");
    self->serial = -1;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status get_late(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    invivo_value value = {.kind = INVIVO_KIND_CALLABLE, .as.callable = ((node *)instance)->late};
    if (!value.as.callable.bits) return *out = invivo_null(), INVIVO_OK;
    return invivo_value_copy(out, &value, error);
}
static invivo_status set_late(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    node *self = instance;
    invivo_callable former = self->late;
    (void)user_data, (void)error;
    self->late = value->kind == INVIVO_KIND_CALLABLE ? value->as.callable : (invivo_callable){0};
    if (self->late.bits && invivo_callable_retain(self->late)) return INVIVO_E_HOST;
    if (former.bits) invivo_callable_release(former);
    return INVIVO_OK;
}
static invivo_status get_left(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    invivo_value object = invivo_object_value(((node *)instance)->left);
    *out = invivo_null();
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_left(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((node *)instance)->left = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}
static invivo_object ask(invivo_callable late) {
    invivo_value result = invivo_null();
    OK(invivo_callable_call(late, NULL, 0, &result, E));
    return result.kind == INVIVO_KIND_OBJECT ? result.as.object : (invivo_object){0};
}
/* Calls its lazy during its creation. */
static invivo_status call_ask(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                              invivo_error **error) {
    invivo_value found = invivo_null();
    (void)user_data, (void)arguments, (void)count, (void)result;
    invivo_status status = invivo_callable_call(((node *)instance)->late, NULL, 0, &found, error);
    invivo_value_clear(&found);
    return status;
}

static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "late", .kind = INVIVO_KIND_CALLABLE, .get = get_late, .set = set_late},
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_left, .set = set_left},
};
static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "ask", .result = INVIVO_KIND_NULL, .call = call_ask}};
static const invivo_parameter parameters[] = {{.name = "late", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};

static uint64_t here = 7;
static invivo_status one_place(void *user_data, uint64_t *place, invivo_error **error) {
    (void)user_data, (void)error;
    *place = here;
    return INVIVO_OK;
}

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Node", .size = sizeof(node), .init = node_init, .deinit = node_deinit,
                                   .properties = properties, .property_count = 2, .methods = methods, .method_count = 1,
                                   .parameters = parameters, .parameter_count = 1};
    live = made = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    options.name = "Shared", options.concurrency = INVIVO_SHARED;
    OK(invivo_type_register(runtime, &options, &shared_type, E));
}
/* During fast reloads, replaced objects end a little later; this is their domain. */
static bool becomes(int most) {
    for (int tries = 0; live > most && tries < CHECK_LIMIT_SECONDS * 10; tries++) OK(invivo_runtime_poll(runtime, 100, NULL, E));
    return CHECK(live <= most);
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define LATE(parameter, kind, to) {.name = parameter, .how = INVIVO_INJECT_##kind, .items = &(invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = to}, .item_count = 1}
#define KEY(parameter, to) {.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = to}

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

/* a.a has a lazy of a.b, whose property is a.a. False if one of them would be a captive dependency. */
static bool wire(uint32_t first, uint32_t second, bool asks, bool through_initializer) {
    invivo_changes changes;
    invivo_injection to_b[] = {LATE("late", LAZY, "a.b")}, to_a[] = {KEY("left", "a.a")};
    invivo_invocation asking[] = {{.method = "ask"}};
    OK(invivo_changes_open(runtime, &changes, E));
    invivo_definition a = {.struct_size = sizeof a, .key = "a.a", .scope = first, .type = type, .scope_name = first == INVIVO_SCOPE_HOST ? "place" : NULL};
    if (through_initializer) {
        a.initializer = to_b, a.initializer_count = 1;
    } else {
        a.properties = to_b, a.property_count = 1;
    }
    if (asks) a.after = asking, a.after_count = 1;
    OK(invivo_changes_define(changes, &a, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.b", .scope = second, .type = type,
                             .properties = to_a, .property_count = 1, .scope_name = second == INVIVO_SCOPE_HOST ? "place" : NULL}, NULL, E));
    invivo_status status = invivo_changes_commit(changes, &check_error);
    if (status == INVIVO_E_CAPTIVE) return invivo_error_release(check_error), check_error = NULL, false;
    return OK(status);
}

static const uint32_t scopes[] = {INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON,
                                  INVIVO_SCOPE_WEAK_SINGLETON, INVIVO_SCOPE_THREAD, INVIVO_SCOPE_HOST};

static void remove_both(void) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.a", E));
    OK(invivo_changes_remove(changes, "a.b", E));
    OK(invivo_changes_commit(changes, E));
}

static void cycles_through_lazies_end_in_every_scope(void) {
    for (size_t i = 0; i < COUNT(scopes); i++) {
        for (size_t j = 0; j < COUNT(scopes); j++) {
            for (int way = 0; way < 4; way++) {
                begin();
                OK(invivo_scope_register(runtime, &(invivo_scope_options){.struct_size = sizeof(invivo_scope_options), .name = "place",
                                         .find = one_place}, E));
                if (!wire(scopes[i], scopes[j], way & 1, way & 2)) {
                    end();
                    continue;
                }
                for (int round = 0; round < 3; round++) {
                    invivo_object a = resolve("a.a");
                    invivo_object b = ask(at(a)->late), again = ask(at(a)->late);
                    CHECK(b.bits && b.bits == again.bits);
                    drop(again), drop(a), drop(b);
                }
                /* Unshared objects are already gone; the rest ends when no definition remains. */
                bool is_shared = scopes[i] > INVIVO_SCOPE_GRAPH && scopes[i] != INVIVO_SCOPE_WEAK_SINGLETON;
                bool other = scopes[j] > INVIVO_SCOPE_GRAPH && scopes[j] != INVIVO_SCOPE_WEAK_SINGLETON;
                if (!is_shared && !other) CHECK_EQUAL(live, 0);
                if (way == 0) {
                    remove_both();
                    if (!CHECK_EQUAL(live, 0)) fprintf(stderr, "scopes %u and %u\n", scopes[i], scopes[j]);
                }
                end();
            }
        }
    }
}

static void a_lazy_that_its_holder_calls_closes_a_cycle(void) {
    begin();
    wire(INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_PROTOTYPE, true, false);
    invivo_object a = resolve("a.a");
    invivo_object b = ask(at(a)->late);
    CHECK(at(b)->left.bits == a.bits);
    CHECK_EQUAL(live, 2);
    drop(a);
    CHECK_EQUAL(live, 2); /* b is held, and a through it */
    CHECK(at(at(b)->left)->late.bits != 0);
    drop(b);
    CHECK_EQUAL(live, 0);
    end();
}

static void a_hundred_thousand_cycles_leave_nothing(void) {
    begin();
    wire(INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, true, true);
    for (int i = 0; i < 100000; i++) {
        drop(resolve("a.a"));
        if (live > 0 && !CHECK_EQUAL(live, 0)) break;
    }
    CHECK_EQUAL(made, 200000);
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.objects, 0);
    end();
}

static void reloads_replace_cycles_and_leave_nothing(void) {
    begin();
    for (int round = 0; round < 2000; round++) {
        wire(scopes[2 + round % 3], scopes[2 + round / 3 % 3], round & 4, round & 8);
        invivo_object a = resolve("a.a");
        drop(ask(at(a)->late));
        drop(a);
        if (round % 100 == 0 && !becomes(2)) break;
    }
    remove_both();
    becomes(0);
    end();
}

/* Another thread releases the last lease: the object ends in its domain, which has not begun that at close. */
static void *give_back(void *object) {
    OK(invivo_object_release(*(invivo_object *)object));
    return NULL;
}
static void close_does_not_count_pending_disposals(void) {
    begin();
    invivo_injection to_a[] = {KEY("left", "a.a")};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.a", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.b", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type,
                              .properties = to_a, .property_count = 1}, NULL, E));
    invivo_object b = resolve("a.b");
    pthread_t other;
    CHECK(!pthread_create(&other, NULL, give_back, &b));
    CHECK(!pthread_join(other, NULL));
    CHECK_EQUAL(live, 2);
    end();
}

static void the_object_of_a_lazy_ends_when_it_is_replaced(void) {
    begin();
    invivo_injection late[] = {LATE("late", LAZY, "a.b")};
    invivo_definition b = {.struct_size = sizeof b, .key = "a.b", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type};
    OK(invivo_define(runtime, &b, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.a", .scope = INVIVO_SCOPE_SINGLETON,
                     .type = type, .properties = late, .property_count = 1}, NULL, E));
    invivo_object a = resolve("a.a");
    invivo_object one = ask(at(a)->late);
    uint64_t former = one.bits;
    drop(one);
    CHECK_EQUAL(live, 2);
    b.rank = 1;
    OK(invivo_define(runtime, &b, NULL, E));
    CHECK_EQUAL(live, 1); /* without a further call */
    one = ask(at(a)->late);
    CHECK(one.bits != former);
    drop(one), drop(a);
    CHECK_EQUAL(live, 2);
    end();
}

static void arguments_of_a_provider_are_followed_and_end_in_cycles(void) {
    begin();
    static const invivo_parameter any[] = {{.name = "other", .kind = INVIVO_KIND_ANY}};
    invivo_injection other[] = {{.name = "left", .how = INVIVO_INJECT_ARGUMENT}};
    invivo_injection given[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.leaf"}}, itself[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.own"}};
    invivo_injection provider[] = {{.name = "late", .how = INVIVO_INJECT_PROVIDER, .item_count = 1,
                                    .items = &(invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = "a.made", .items = given, .item_count = 1}}};
    invivo_injection circle[] = {{.name = "late", .how = INVIVO_INJECT_PROVIDER, .item_count = 1,
                                  .items = &(invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = "a.made", .items = itself, .item_count = 1}}};
    invivo_definition leaf = {.struct_size = sizeof leaf, .key = "a.leaf", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &leaf, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof leaf, .key = "a.made", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type,
                             .parameters = any, .parameter_count = 1, .properties = other, .property_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof leaf, .key = "a.user", .scope = INVIVO_SCOPE_SINGLETON, .type = type,
                             .properties = provider, .property_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof leaf, .key = "a.own", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type,
                             .properties = circle, .property_count = 1}, NULL, E));
    OK(invivo_changes_commit(changes, E));
    /* The argument is the current object, although the provider was created before. */
    invivo_object user = resolve("a.user");
    leaf.rank = 1;
    OK(invivo_define(runtime, &leaf, NULL, E));
    invivo_object now = resolve("a.leaf"), given_now = ask(at(user)->late);
    CHECK(at(given_now)->left.bits == now.bits);
    drop(now), drop(given_now), drop(user);
    CHECK_EQUAL(live, 2);
    for (int i = 0; i < 1000; i++) {
        invivo_object own = resolve("a.own"), other_one = ask(at(own)->late);
        CHECK(at(other_one)->left.bits == own.bits);
        drop(own), drop(other_one);
    }
    CHECK_EQUAL(live, 2);
    end();
}

static void a_callable_that_outlives_its_holder_still_resolves(void) {
    begin();
    wire(INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_PROTOTYPE, true, false);
    invivo_object a = resolve("a.a");
    invivo_callable late = at(a)->late;
    CHECK_EQUAL(invivo_callable_retain(late), INVIVO_OK);
    drop(a); /* the cycle ends, with the object of the lazy */
    CHECK_EQUAL(live, 0);
    invivo_object one = ask(late), two = ask(late);
    CHECK(one.bits && one.bits == two.bits);
    drop(one), drop(two);
    /* It now belongs to the callable and is no lease of a host: close is not refused. */
    CHECK(live > 0);
    end();
    CHECK_EQUAL(invivo_callable_release(late), INVIVO_OK);
}

static void a_lazy_of_a_host_scope_returns_the_object_of_the_scope_instance(void) {
    begin();
    OK(invivo_scope_register(runtime, &(invivo_scope_options){.struct_size = sizeof(invivo_scope_options), .name = "place", .find = one_place}, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.b", .scope = INVIVO_SCOPE_HOST,
                     .scope_name = "place", .type = type}, NULL, E));
    invivo_injection late[] = {LATE("late", LAZY, "a.b")};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.a", .scope = INVIVO_SCOPE_SINGLETON,
                     .type = type, .properties = late, .property_count = 1}, NULL, E));
    invivo_object a = resolve("a.a");
    invivo_object one = ask(at(a)->late), again = ask(at(a)->late);
    CHECK(one.bits == again.bits);
    here = 8;
    invivo_object other = ask(at(a)->late);
    CHECK(other.bits != one.bits);
    here = 7;
    drop(a), drop(one), drop(again), drop(other);
    end();
}

/* A choice stands for the selected definition: the lazy follows its scope. */
static void a_lazy_of_a_choice_returns_the_object_of_the_scope_instance(void) {
    begin();
    OK(invivo_scope_register(runtime, &(invivo_scope_options){.struct_size = sizeof(invivo_scope_options), .name = "place", .find = one_place}, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.placed", .scope = INVIVO_SCOPE_HOST,
                     .scope_name = "place", .type = type}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.kept",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type}, NULL, E));
    const invivo_injection chooser = {.how = INVIVO_INJECT_CONFIG, .reference = "/a.pick"};
    const invivo_option options[] = {{.when = INVIVO_WHEN_EQUAL, .value = invivo_string("placed"), .use = KEY(NULL, "a.placed")},
                                     {.when = INVIVO_WHEN_OTHERWISE, .use = KEY(NULL, "a.kept")}};
    const invivo_value pick = invivo_string("placed"), other_pick = invivo_string("other");
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "a.pick", &pick, E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.b", .chooser = &chooser,
                     .options = options, .option_count = 2}, NULL, E));
    invivo_injection late[] = {LATE("late", LAZY, "a.b")};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.a", .scope = INVIVO_SCOPE_SINGLETON,
                     .type = type, .properties = late, .property_count = 1}, NULL, E));
    invivo_object a = resolve("a.a");
    for (int decided = 0; decided < 2; decided++) {
        const char *text = "wiring: { a.b: { choose: placed } }";
        if (decided) {
            OK(invivo_changes_open(runtime, &changes, E));
            OK(invivo_changes_document(changes, "w.yaml", text, strlen(text), E));
            OK(invivo_changes_configure(changes, "a.pick", &other_pick, E));
            OK(invivo_changes_commit(changes, E));
        }
        invivo_object one = ask(at(a)->late), again = ask(at(a)->late);
        CHECK(one.bits == again.bits);
        here = 8;
        invivo_object other = ask(at(a)->late), direct = resolve("a.placed");
        CHECK(other.bits != one.bits && other.bits == direct.bits);
        here = 7;
        drop(one), drop(again), drop(other), drop(direct);
    }
    drop(a);
    end();
}

static void *ask_often(void *callable) {
    for (int i = 0; i < 2000; i++) drop(ask(*(invivo_callable *)callable));
    return NULL;
}
static void several_threads_get_one_object_of_a_lazy(void) {
    begin();
    invivo_injection late[] = {LATE("late", LAZY, "a.b")}, to_a[] = {KEY("left", "a.a")};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.b", .scope = INVIVO_SCOPE_PROTOTYPE,
                             .type = shared_type, .properties = to_a, .property_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.a", .scope = INVIVO_SCOPE_WEAK_SINGLETON,
                             .type = shared_type, .properties = late, .property_count = 1}, NULL, E));
    OK(invivo_changes_commit(changes, E));
    for (int round = 0; round < 50; round++) {
        pthread_t threads[3];
        invivo_object a = resolve("a.a");
        for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, ask_often, &at(a)->late);
        if (round & 1) OK(invivo_changes_open(runtime, &changes, E));
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
        CHECK_EQUAL(live, 2);
        if (round & 1) invivo_changes_discard(changes);
        drop(a);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static volatile bool over;
static void *replace(void *unused) {
    invivo_definition b = {.struct_size = sizeof b, .key = "a.b", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = shared_type};
    invivo_injection to_a[] = {KEY("left", "a.a")};
    b.properties = to_a, b.property_count = 1;
    while (!over) b.rank++, OK(invivo_define(runtime, &b, NULL, E));
    return unused;
}
static void reloads_replace_objects_of_lazies_in_use(void) {
    begin();
    invivo_injection late[] = {LATE("late", LAZY, "a.b")}, to_a[] = {KEY("left", "a.a")};
    invivo_changes changes;
    pthread_t threads[2], reloader;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.b", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                             .type = shared_type, .properties = to_a, .property_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.a", .scope = INVIVO_SCOPE_WEAK_SINGLETON,
                             .type = shared_type, .properties = late, .property_count = 1}, NULL, E));
    OK(invivo_changes_commit(changes, E));
    invivo_object a = resolve("a.a");
    over = false;
    pthread_create(&reloader, NULL, replace, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, ask_often, &at(a)->late);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    over = true;
    pthread_join(reloader, NULL);
    drop(a);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(cycles_through_lazies_end_in_every_scope);
    RUN_TEST(a_lazy_that_its_holder_calls_closes_a_cycle);
    RUN_TEST(a_hundred_thousand_cycles_leave_nothing);
    RUN_TEST(reloads_replace_cycles_and_leave_nothing);
    RUN_TEST(close_does_not_count_pending_disposals);
    RUN_TEST(the_object_of_a_lazy_ends_when_it_is_replaced);
    RUN_TEST(arguments_of_a_provider_are_followed_and_end_in_cycles);
    RUN_TEST(a_callable_that_outlives_its_holder_still_resolves);
    RUN_TEST(a_lazy_of_a_host_scope_returns_the_object_of_the_scope_instance);
    RUN_TEST(a_lazy_of_a_choice_returns_the_object_of_the_scope_instance);
    RUN_TEST(several_threads_get_one_object_of_a_lazy);
    RUN_TEST(reloads_replace_objects_of_lazies_in_use);
    return check_end();
}
