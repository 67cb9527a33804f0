/* Weak references: callables that return the existing instance. They create and hold nothing, and set no order. During
 * the last release, a call returns a live object or null. */
/* sanitize: yes */
#include "nodes.h"
#include <sched.h>

#define REF(...) &(invivo_injection)INVIVO_GIVE(INVIVO_REF(__VA_ARGS__))
#define GIVEN(given_key, given_scope, ...)                                                                      \
    (invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, .scope = INVIVO_SCOPE_##given_scope, .type = node_type, __VA_ARGS__}
#define WEAK(parameter, of) {.name = parameter, .how = INVIVO_INJECT_WEAK, .items = of, .item_count = 1}

static invivo_callable any_of(invivo_object object) { return at(object)->any.as.callable; }
static invivo_object asked_with(invivo_callable callable, const invivo_value *arguments, size_t count) {
    invivo_value result = invivo_null();
    OK(invivo_callable_call(callable, arguments, count, &result, E));
    return result.kind == INVIVO_KIND_OBJECT ? result.as.object : (invivo_object){0};
}
static invivo_object asked(invivo_callable callable) { return asked_with(callable, NULL, 0); }
/* The result of a weak reference, without the lease. */
static uint64_t there(invivo_callable callable) {
    invivo_object found = asked(callable);
    if (found.bits) drop(found);
    return found.bits;
}

static void shared_ones_that_are_built_are_there_and_nothing_is_made(void) {
    begin();
    invivo_injection lazy[] = {WEAK("any", REF("a.lazy"))}, eager[] = {WEAK("any", REF("a.eager"))}, typed[] = {WEAK("any", &(invivo_injection){INVIVO_BY_TYPE("Leaf")})};
    invivo_injection weak[] = {WEAK("any", REF("a.weak"))};
    DEFINE("a.lazy", LAZY_SINGLETON);
    DEFINE("a.eager", SINGLETON, .type = leaf_type);
    DEFINE("a.weak", WEAK_SINGLETON);
    DEFINE("a.to_lazy", LAZY_SINGLETON, PROPERTIES(lazy));
    DEFINE("a.to_eager", LAZY_SINGLETON, PROPERTIES(eager));
    DEFINE("a.to_type", LAZY_SINGLETON, PROPERTIES(typed));
    DEFINE("a.to_weak", LAZY_SINGLETON, PROPERTIES(weak));
    invivo_object to_lazy = resolve("a.to_lazy"), to_eager = resolve("a.to_eager"), to_type = resolve("a.to_type"), to_weak = resolve("a.to_weak");
    int before = serials;
    CHECK(!there(any_of(to_lazy)) && !there(any_of(to_weak)));
    CHECK_EQUAL(serials, before);
    invivo_object made = resolve("a.eager"), found = asked(any_of(to_eager));
    CHECK(made.bits == found.bits && made.bits == there(any_of(to_type)));
    drop(made), drop(found);
    made = resolve("a.lazy");
    CHECK(made.bits == there(any_of(to_lazy)));
    drop(made);
    CHECK(there(any_of(to_lazy)));
    /* A weak singleton lives as long as it has a holder; the result holds it, the reference does not. */
    made = resolve("a.weak");
    found = asked(any_of(to_weak));
    CHECK(made.bits == found.bits);
    drop(made);
    CHECK(there(any_of(to_weak)) == found.bits);
    drop(found);
    CHECK(!there(any_of(to_weak)));
    CHECK_EQUAL(live, before + 1);
    drop(to_lazy), drop(to_eager), drop(to_type), drop(to_weak);
    end();
}

static void arguments_select_the_instance(void) {
    begin();
    const invivo_parameter parameters[] = {{.name = "number", .kind = INVIVO_KIND_INT64}, {.name = "other", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_injection numbered[] = {{.name = "number", .how = INVIVO_INJECT_ARGUMENT}};
    invivo_injection free_one[] = {WEAK("any", REF("a.one"))}, bound[] = {WEAK("any", REF("a.one", INVIVO_WITH(INVIVO_GIVE(INVIVO_INT(2)))))};
    DEFINE("a.leaf", LAZY_SINGLETON);
    DEFINE("a.one", WEAK_SINGLETON, .parameters = parameters, .parameter_count = 2, INITIALIZER(numbered));
    DEFINE("a.free", LAZY_SINGLETON, PROPERTIES(free_one));
    DEFINE("a.bound", LAZY_SINGLETON, PROPERTIES(bound));
    /* If an argument of an alias does not exist, the result is null: it is not created. */
    invivo_injection given[] = {{INVIVO_INT(3)}, {INVIVO_REF("a.leaf")}}, list[] = {{INVIVO_INT(4)}, {INVIVO_LIST(INVIVO_GIVE(INVIVO_REF("a.leaf")))}};
    invivo_injection to_given[] = {WEAK("any", REF("a.given"))}, to_list[] = {WEAK("any", REF("a.list"))};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.given", .alias = "a.one", INITIALIZER(given)}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.list", .alias = "a.one", INITIALIZER(list)}, NULL, E));
    DEFINE("a.to_given", LAZY_SINGLETON, PROPERTIES(to_given));
    DEFINE("a.to_list", LAZY_SINGLETON, PROPERTIES(to_list));
    invivo_object free_holder = resolve("a.free"), bound_holder = resolve("a.bound"), by_alias = resolve("a.to_given"), by_list = resolve("a.to_list");
    int before = serials;
    CHECK(!there(any_of(by_alias)) && !there(any_of(by_list)) && !there(any_of(bound_holder)));
    CHECK_EQUAL(serials, before);
    invivo_key key;
    OK(invivo_key_find(runtime, "a.one", &key, E));
    invivo_value two = invivo_int64(2), five = invivo_int64(5);
    invivo_object made;
    OK(invivo_resolve_with(runtime, key, &two, 1, &made, E));
    CHECK(there(any_of(bound_holder)) == made.bits);
    invivo_object same = asked_with(any_of(free_holder), &two, 1), none = asked_with(any_of(free_holder), &five, 1);
    CHECK(same.bits == made.bits && !none.bits);
    drop(same), drop(made);
    invivo_value unused = invivo_null();
    expects_error(invivo_callable_call(any_of(free_holder), NULL, 0, &unused, E), INVIVO_E_ARITY, NULL);
    made = resolve("a.given");
    CHECK(there(any_of(by_alias)) == made.bits);
    drop(made);
    made = resolve("a.list");
    CHECK(there(any_of(by_list)) == made.bits);
    drop(made);
    CHECK(!there(any_of(by_list)) && !there(any_of(by_alias)));
    drop(free_holder), drop(bound_holder), drop(by_alias), drop(by_list);
    end();
}

static uint64_t place;
static invivo_status here(void *user_data, uint64_t *out, invivo_error **error) {
    (void)user_data, (void)error;
    return *out = place, INVIVO_OK;
}
static void *ask_elsewhere(void *callable) { return (void *)(uintptr_t)there(*(invivo_callable *)callable); }
static void an_object_of_a_host_scope_is_that_of_the_calling_scope_instance(void) {
    begin();
    OK(invivo_scope_register(runtime, &(invivo_scope_options){.struct_size = sizeof(invivo_scope_options), .name = "desk", .find = here}, E));
    DEFINE("a.desk", HOST, .scope_name = "desk");
    DEFINE("a.thread", THREAD);
    invivo_injection to_desk[] = {WEAK("any", REF("a.desk"))}, to_thread[] = {WEAK("any", REF("a.thread"))};
    /* No captive dependency: it holds nothing. */
    DEFINE("a.to_desk", SINGLETON, PROPERTIES(to_desk));
    DEFINE("a.to_thread", SINGLETON, PROPERTIES(to_thread));
    invivo_object at_desk = resolve("a.to_desk"), in_thread = resolve("a.to_thread");
    int before = serials;
    place = 7;
    CHECK(!there(any_of(at_desk)) && !there(any_of(in_thread)));
    invivo_object seventh = resolve("a.desk"), own = resolve("a.thread");
    CHECK(there(any_of(at_desk)) == seventh.bits && there(any_of(in_thread)) == own.bits);
    place = 8;
    CHECK(!there(any_of(at_desk)));
    place = 0; /* no scope instance: null */
    CHECK(!there(any_of(at_desk)));
    pthread_t other;
    void *found = NULL;
    pthread_create(&other, NULL, ask_elsewhere, &at(in_thread)->any.as.callable);
    pthread_join(other, &found);
    CHECK(!found);
    CHECK_EQUAL(serials, before + 2);
    drop(seventh), drop(own), drop(at_desk), drop(in_thread);
    end();
}

static void unshared_targets_are_refused(void) {
    begin();
    DEFINE("a.prototype", PROTOTYPE);
    DEFINE("a.graph", DEFAULT);
    invivo_injection asker[] = {{.name = "any", .how = INVIVO_INJECT_ASKER}};
    DEFINE("a.asks", LAZY_SINGLETON, PROPERTIES(asker));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.alias", .alias = "a.prototype"}, NULL, E));
    invivo_option options[] = {{.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = {INVIVO_REF("a.prototype")}},
                               {.when = INVIVO_WHEN_OTHERWISE, .use = {INVIVO_REF("a.graph")}}};
    const invivo_parameter number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.choice", .parameters = number, .parameter_count = 1,
                              .chooser = &(invivo_injection){INVIVO_ARG(0)}, .options = options, .option_count = 2}, NULL, E));
    static const struct { const char *to, *why; } wrong[] = {
        {"a.prototype", "which has the scope 'prototype'"}, {"a.graph", "which has the scope 'graph'"}, {"a.asks", "which depends on its requester"},
        {"a.alias", "which has the scope 'prototype'"}, {"a.choice", "a choice of prototypes"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        invivo_injection weak[] = {WEAK("any", REF(wrong[i].to))};
        invivo_status status = invivo_define(runtime, &GIVEN("a.holder", LAZY_SINGLETON, PROPERTIES(weak)), NULL, E);
        CHECK_EQUAL(status, INVIVO_E_ARGUMENT);
        const char *text = check_error ? invivo_error_text(check_error) : "";
        if (!CHECK(strstr(text, wrong[i].why) && strstr(text, "use a provider"))) fprintf(stderr, "%s\n", text);
        if (check_error) invivo_error_release(check_error), check_error = NULL;
    }
    /* Nor may a change cause it. */
    DEFINE("a.kept", LAZY_SINGLETON);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.name", .alias = "a.kept"}, NULL, E));
    invivo_injection kept[] = {WEAK("any", REF("a.kept"))}, named[] = {WEAK("any", REF("a.name"))};
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(kept));
    expects_error(invivo_define(runtime, &GIVEN("a.kept", PROTOTYPE), NULL, E), INVIVO_E_ARGUMENT, NULL);
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(named));
    expects_error(invivo_define(runtime, &GIVEN("a.kept", PROTOTYPE), NULL, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.name", .alias = "a.prototype"}, NULL, E),
                  INVIVO_E_ARGUMENT, NULL);
    /* A key without a definition has no instance. */
    invivo_injection config[] = {WEAK("any", &(invivo_injection){INVIVO_CONFIG("x")})}, missing[] = {WEAK("any", REF("a.none"))};
    invivo_injection optional[] = {WEAK("any", &(invivo_injection){INVIVO_REF_OPTIONAL("a.none")})};
    expects_error(invivo_define(runtime, &GIVEN("a.holder", LAZY_SINGLETON, PROPERTIES(config)), NULL, E), INVIVO_E_NOT_CONFIGURED, NULL);
    expects_error(invivo_define(runtime, &GIVEN("a.holder", LAZY_SINGLETON, PROPERTIES(missing)), NULL, E), INVIVO_E_NOT_FOUND, NULL);
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(optional));
    invivo_object holder = resolve("a.holder");
    CHECK_EQUAL(at(holder)->any.kind, INVIVO_KIND_NULL);
    drop(holder);
    end();
}

/* A constant exists already, regardless of its scope; a blocked definition has no instance. */
static void constants_are_found_and_blocked_definitions_are_not(void) {
    begin();
    invivo_object own;
    OK(invivo_object_make(runtime, node_type, NULL, 0, &own, E));
    invivo_injection to_constant[] = {WEAK("any", REF("a.constant"))}, to_dormant[] = {WEAK("any", REF("a.dormant"))};
    DEFINE("a.constant", DEFAULT, .constant = own);
    DEFINE("a.to_constant", LAZY_SINGLETON, PROPERTIES(to_constant));
    invivo_object holder = resolve("a.to_constant");
    CHECK(there(any_of(holder)) == own.bits);
    drop(holder), drop(own);
    DEFINE("a.need", LAZY_SINGLETON);
    invivo_injection need[] = {{.name = "left", INVIVO_REF("a.need")}};
    DEFINE("a.dormant", LAZY_SINGLETON, PROPERTIES(need), .flags = INVIVO_DEFINITION_WAITS);
    DEFINE("a.to_dormant", LAZY_SINGLETON, PROPERTIES(to_dormant));
    holder = resolve("a.to_dormant");
    CHECK(!there(any_of(holder)));
    drop(holder);
    end();
}

/* No order and no cycle: each may be created by the object that refers to it weakly, and is called during the creation. */
static invivo_callable asked_inside;
static int answers, nulls;
static invivo_status ask_inside(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    answers++;
    nulls += !there(asked_inside);
    return INVIVO_OK;
}
static void it_sets_no_order_and_forms_no_cycle(void) {
    begin();
    invivo_injection through[] = {{.name = "input", INVIVO_REF("a.holder")}}, weak[] = {WEAK("any", REF("a.target"))};
    describe();
    ADD("a.holder", LAZY_SINGLETON, PROPERTIES(weak));
    ADD("a.target", LAZY_SINGLETON, INITIALIZER(through), .inject = ask_inside);
    commit();
    invivo_object holder = resolve("a.holder");
    CHECK_EQUAL(serials, 1);
    asked_inside = any_of(holder), answers = nulls = 0;
    invivo_object target = resolve("a.target");
    CHECK(answers == 1 && nulls == 1); /* null during its creation */
    CHECK(there(asked_inside) == target.bits);
    drop(target), drop(holder);
    end();
}

/* The holder keeps its identity and is not notified; the callable returns the current object. */
static void a_rebuilt_object_needs_no_reload_of_the_holder(void) {
    begin();
    invivo_injection weak[] = {WEAK("any", REF("a.weak"))};
    DEFINE("a.weak", WEAK_SINGLETON);
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(weak));
    invivo_object holder = resolve("a.holder"), former = resolve("a.weak");
    int before = serials;
    CHECK(there(any_of(holder)) == former.bits);
    DEFINE("a.weak", WEAK_SINGLETON, .rank = 1);
    CHECK(!there(any_of(holder)));
    CHECK_EQUAL(serials, before);
    invivo_object now = resolve("a.weak"), same = resolve("a.holder");
    CHECK(now.bits != former.bits && there(any_of(holder)) == now.bits && same.bits == holder.bits);
    drop(former), drop(now), drop(same), drop(holder);
    end();
}

static void *ask_for_error(void *callable) {
    invivo_value result = invivo_null();
    expects_error(invivo_callable_call(*(invivo_callable *)callable, NULL, 0, &result, E), INVIVO_E_DOMAIN, NULL);
    return NULL;
}
static void confined_ones_are_for_their_domain_and_close_ends_it(void) {
    begin();
    invivo_injection weak[] = {WEAK("any", REF("a.held"))};
    DEFINE("a.held", LAZY_SINGLETON, .type = held_type);
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(weak));
    invivo_object holder = resolve("a.holder"), held;
    invivo_callable callable = any_of(holder);
    pthread_t other;
    for (int built = 0; built < 2; built++) { /* built or not */
        if (built) held = resolve("a.held");
        pthread_create(&other, NULL, ask_for_error, &callable);
        pthread_join(other, NULL);
    }
    CHECK(there(callable) == held.bits);
    OK(invivo_callable_retain(callable));
    drop(held), drop(holder);
    end();
    invivo_value result = invivo_null();
    expects_error(invivo_callable_call(callable, NULL, 0, &result, E), INVIVO_E_CLOSED, NULL);
    OK(invivo_callable_release(callable));
}

/* Instances with host reference counts and weak references; a lock makes them shared. */
typedef struct counted { int count; struct weakly *weak; } counted;
typedef struct weakly { counted *instance; int users; } weakly;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static int counted_live, weak_live;
static invivo_status counted_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                  invivo_error **error) {
    counted *made = calloc(1, sizeof *made);
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    if (!made) return INVIVO_E_MEMORY;
    made->count = 1;
    __atomic_add_fetch(&counted_live, 1, __ATOMIC_SEQ_CST);
    return *instance = made, INVIVO_OK;
}
static void counted_release(void *instance, void *user_data) {
    counted *self = instance;
    (void)user_data;
    pthread_mutex_lock(&counts);
    bool is_last = !--self->count;
    if (is_last && self->weak) self->weak->instance = NULL;
    pthread_mutex_unlock(&counts);
    if (!is_last) return;
    __atomic_sub_fetch(&counted_live, 1, __ATOMIC_SEQ_CST);
    free(self);
}
static void *counted_weak_make(void *instance, void *user_data) {
    counted *self = instance;
    (void)user_data;
    pthread_mutex_lock(&counts);
    if (!self->weak && (self->weak = calloc(1, sizeof *self->weak))) self->weak->instance = self, weak_live++;
    if (self->weak) self->weak->users++;
    pthread_mutex_unlock(&counts);
    return self->weak;
}
static void *counted_weak_load(void *reference, void *user_data) {
    weakly *self = reference;
    (void)user_data;
    pthread_mutex_lock(&counts);
    counted *found = self->instance;
    if (found) found->count++;
    pthread_mutex_unlock(&counts);
    sched_yield(); /* other threads call meanwhile */
    return found;
}
static void counted_weak_free(void *reference, void *user_data) {
    weakly *self = reference;
    (void)user_data;
    pthread_mutex_lock(&counts);
    bool is_last = !--self->users;
    if (is_last && self->instance) self->instance->weak = NULL;
    weak_live -= is_last;
    pthread_mutex_unlock(&counts);
    if (is_last) free(self);
}
static void begin_counted(void) {
    begin();
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Counted", .concurrency = INVIVO_SHARED, .make = counted_make,
                                   .release = counted_release, .weak_make = counted_weak_make, .weak_load = counted_weak_load,
                                   .weak_free = counted_weak_free};
    OK(invivo_type_register(runtime, &options, &type, E));
    invivo_injection weak[] = {WEAK("any", REF("a.weak"))};
    DEFINE("a.weak", WEAK_SINGLETON, .type = type);
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(weak));
}

static void an_instance_with_host_counts_is_found_without_handles(void) {
    begin_counted();
    invivo_object holder = resolve("a.holder"), handle = resolve("a.weak"), again;
    counted *instance = (counted *)at(handle);
    pthread_mutex_lock(&counts);
    instance->count++; /* the host's own reference */
    pthread_mutex_unlock(&counts);
    drop(handle);
    handle = asked(any_of(holder)), again = resolve("a.weak");
    CHECK(handle.bits && (counted *)at(handle) == instance && again.bits == handle.bits);
    drop(again), drop(handle);
    counted_release(instance, NULL);
    CHECK(!there(any_of(holder)) && !there(any_of(holder)));
    CHECK_EQUAL(counted_live, 0);
    handle = resolve("a.weak");
    CHECK(there(any_of(holder)) == handle.bits);
    drop(handle), drop(holder);
    end();
    CHECK_EQUAL(weak_live, 0);
}

enum { ROUNDS = 4000 };
static volatile int found_count;
static void *ask_often(void *callable) {
    for (int i = 0; i < ROUNDS; i++) {
        invivo_object found = asked(*(invivo_callable *)callable);
        if (!found.bits) continue;
        /* A returned object is live. */
        CHECK(at(found) != NULL);
        drop(found);
        __atomic_add_fetch(&found_count, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}
static void *resolve_often(void *unused) {
    for (int i = 0; i < ROUNDS; i++) drop(resolve("a.weak"));
    return unused;
}
static void race(invivo_callable callable) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i & 1 ? resolve_often : ask_often, &callable);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void calls_during_the_last_release_return_a_live_object_or_null(void) {
    begin();
    invivo_injection weak[] = {WEAK("any", REF("a.weak"))};
    DEFINE("a.weak", WEAK_SINGLETON);
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(weak));
    invivo_object holder = resolve("a.holder");
    race(any_of(holder));
    CHECK_EQUAL(live, 1);
    CHECK(!there(any_of(holder)));
    drop(holder);
    end();
    begin_counted();
    holder = resolve("a.holder");
    race(any_of(holder));
    CHECK_EQUAL(counted_live, 0);
    /* A held object is always found, also during other lookups. */
    invivo_object handle = resolve("a.weak");
    counted *instance = (counted *)at(handle);
    pthread_mutex_lock(&counts);
    instance->count++;
    pthread_mutex_unlock(&counts);
    drop(handle);
    found_count = 0;
    race(any_of(holder));
    CHECK_EQUAL(found_count, 2 * ROUNDS);
    counted_release(instance, NULL);
    CHECK_EQUAL(counted_live, 0);
    drop(holder);
    end();
    CHECK_EQUAL(weak_live, 0);
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(shared_ones_that_are_built_are_there_and_nothing_is_made);
    RUN_TEST(arguments_select_the_instance);
    RUN_TEST(an_object_of_a_host_scope_is_that_of_the_calling_scope_instance);
    RUN_TEST(unshared_targets_are_refused);
    RUN_TEST(constants_are_found_and_blocked_definitions_are_not);
    RUN_TEST(it_sets_no_order_and_forms_no_cycle);
    RUN_TEST(a_rebuilt_object_needs_no_reload_of_the_holder);
    RUN_TEST(confined_ones_are_for_their_domain_and_close_ends_it);
    RUN_TEST(an_instance_with_host_counts_is_found_without_handles);
    RUN_TEST(calls_during_the_last_release_return_a_live_object_or_null);
    return check_end();
}
