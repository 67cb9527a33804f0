/* Commits that end while a shared object is being built. The object is not shared if the commit has changed its definition or
 * replaced what it received: whoever waited for it receives it, and the next resolve builds another one. */
/* sanitize: yes */
#include "check.h"

typedef struct part {
    int serial;
    invivo_object given, found; /* borrowed: the first by property, the second resolved by the constructor */
    int64_t number;
} part;

static invivo_runtime runtime;
static invivo_type shared_type, confined_type, holder_type;
static int serials, live;
static void *(*commit_meanwhile)(void *); /* what another thread does during the next construction of a holder */
static const char *resolved_before;       /* the key that the constructor of a holder resolves before that */

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    part *self = instance;
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static invivo_status holder_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    part *self = instance;
    void *(*commit)(void *) = commit_meanwhile;
    pthread_t thread;
    commit_meanwhile = NULL;
    if (resolved_before) {
        OK(invivo_resolve_name(runtime, resolved_before, &self->found, E));
        OK(invivo_object_release(self->found));
    }
    if (commit) {
        pthread_create(&thread, NULL, commit, NULL);
        pthread_join(thread, NULL);
    }
    return part_init(instance, build, arguments, count, user_data, error);
}
static void part_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status get_given(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((part *)instance)->given);
    (void)user_data;
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_given(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->given = value->as.object;
    return INVIVO_OK;
}
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "given", .kind = INVIVO_KIND_OBJECT, .get = get_given, .set = set_given},
    INVIVO_FIELD(part, number),
};

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Shared", .size = sizeof(part), .alignment = _Alignof(part),
                                   .concurrency = INVIVO_SHARED, .init = part_init, .deinit = part_deinit,
                                   .properties = properties, .property_count = 2};
    serials = live = 0, resolved_before = NULL;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &shared_type, E));
    options.init = holder_init;
    options.name = "Holder";
    OK(invivo_type_register(runtime, &options, &holder_type, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &confined_type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}
static void define(const char *key, uint32_t scope, invivo_type type, const invivo_injection *given, size_t count) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = scope, .type = type,
                                                   .properties = given, .property_count = count}, NULL, E));
}
static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static part *at(invivo_object object) {
    void *instance = NULL;
    if (object.bits) OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
static void drop(invivo_object object) { OK(invivo_object_release(object)); }

static const invivo_injection a_part[] = {{.name = "given", .how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};

static void *define_part(void *unused) {
    (void)unused;
    define("a.part", INVIVO_SCOPE_LAZY_SINGLETON, shared_type, NULL, 0);
    drop(resolve("a.part"));
    return NULL;
}
static void *define_number(void *unused) {
    (void)unused;
    invivo_injection number[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(7)}};
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, number, 1);
    return NULL;
}

/* The object that was overtaken is the caller's alone. Returns it with a lease, and the shared one after it. */
static invivo_object resolve_twice(const char *key, invivo_object *second) {
    invivo_object first = resolve(key);
    *second = resolve(key);
    invivo_object third = resolve(key);
    CHECK(second->bits != first.bits);
    CHECK(third.bits == second->bits);
    drop(third);
    return first;
}

static void a_property_that_is_replaced_during_a_build(uint32_t scope) {
    begin();
    define_part(NULL);
    define("a.holder", scope, confined_type, a_part, 1);
    invivo_object former = resolve("a.part"), second;
    commit_meanwhile = define_part;
    invivo_object first = resolve_twice("a.holder", &second), part = resolve("a.part");
    CHECK(part.bits != former.bits);
    CHECK(at(first)->given.bits == former.bits);
    CHECK(at(second)->given.bits == part.bits);
    drop(first), drop(second), drop(part), drop(former);
    end();
}

static void what_a_constructor_resolved_is_replaced_during_its_build(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, NULL, 0);
    invivo_object former = resolve("a.part"), second;
    resolved_before = "a.part", commit_meanwhile = define_part;
    invivo_object first = resolve_twice("a.holder", &second), part = resolve("a.part");
    CHECK(at(first)->found.bits == former.bits);
    CHECK(at(second)->found.bits == part.bits);
    /* From here on it is a dependency like any other. */
    drop(part);
    define_part(NULL);
    invivo_object third = resolve("a.holder");
    part = resolve("a.part");
    CHECK(at(third)->found.bits == part.bits);
    drop(first), drop(second), drop(third), drop(part), drop(former);
    end();
}

static void a_value_that_changes_during_a_build(void) {
    begin();
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, NULL, 0);
    commit_meanwhile = define_number;
    drop(resolve("a.holder"));
    invivo_object later = resolve("a.holder");
    CHECK_EQUAL(at(later)->number, 7);
    drop(later);
    end();
}

static void an_unrelated_commit_changes_nothing(void) {
    begin();
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, confined_type, NULL, 0);
    commit_meanwhile = define_part;
    invivo_object first = resolve("a.holder"), second = resolve("a.holder");
    CHECK(first.bits == second.bits);
    CHECK_EQUAL(serials, 2);
    drop(first), drop(second);
    end();
}

/* A second thread waits for the object from before the commit: both receive the same one. */
static void *resolve_holder(void *out) {
    *(invivo_object *)out = resolve("a.holder");
    return NULL;
}
static pthread_t waiter;
static invivo_object waited;
static void *wait_and_define_part(void *unused) {
    (void)unused;
    pthread_create(&waiter, NULL, resolve_holder, &waited);
    usleep(50000); /* where it has not come to wait yet, it builds the next one */
    return define_part(NULL);
}
static void those_who_wait_receive_a_whole_object(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, a_part, 1);
    invivo_object former = resolve("a.part");
    resolved_before = "a.part", commit_meanwhile = wait_and_define_part;
    invivo_object first = resolve("a.holder");
    pthread_join(waiter, NULL);
    invivo_object second = resolve("a.holder"), part = resolve("a.part");
    CHECK(waited.bits == first.bits || waited.bits == second.bits);
    CHECK(at(first)->found.bits == former.bits && at(first)->given.bits == former.bits);
    CHECK(at(second)->found.bits == part.bits && at(second)->given.bits == part.bits);
    drop(first), drop(second), drop(waited), drop(part), drop(former);
    end();
}

int main(void) {
    check_begin();
    a_property_that_is_replaced_during_a_build(INVIVO_SCOPE_LAZY_SINGLETON);
    a_property_that_is_replaced_during_a_build(INVIVO_SCOPE_WEAK_SINGLETON);
    what_a_constructor_resolved_is_replaced_during_its_build();
    a_value_that_changes_during_a_build();
    an_unrelated_commit_changes_nothing();
    those_who_wait_receive_a_whole_object();
    return check_end();
}
