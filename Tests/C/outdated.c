/* Commits that end while a shared object is being built. The object is not shared if the commit has changed its definition or
 * replaced an object that it received. Threads that waited for it receive it; the next resolve builds another one. */
/* sanitize: yes */
#include "thing.h"

static invivo_runtime runtime;
static invivo_type part_type, holder_type, confined_type, exclusive_type;
static void *(*meanwhile)(void *); /* runs on another thread during the next construction of a holder */
static const char *resolved;       /* a holder's constructor resolves this key first, as `given` */
static int running, most_running, waits;

static invivo_status holder_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    thing *self = instance;
    void *(*other)(void *) = meanwhile;
    invivo_object given = resolved ? thing_shared(runtime, resolved) : (invivo_object){0};
    pthread_t thread;
    meanwhile = NULL;
    if (other) {
        pthread_create(&thread, NULL, other, NULL);
        pthread_join(thread, NULL);
    }
    invivo_status status = thing_init(instance, build, arguments, count, user_data, error);
    if (given.bits) self->given = given;
    return status;
}
static invivo_status start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    int now = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
    if (now > most_running) most_running = now;
    return INVIVO_OK;
}
static invivo_status stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void note(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (strstr(entry->message, "waited") && strstr(entry->message, "a.holder")) __atomic_add_fetch(&waits, 1, __ATOMIC_SEQ_CST);
}

static void begin(void) {
    invivo_runtime_options runtime_options;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Holder", .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = INVIVO_SHARED, .init = holder_init, .deinit = thing_deinit,
                                   .properties = thing_properties, .property_count = 2};
    resolved = NULL, most_running = waits = 0;
    invivo_runtime_options_init(&runtime_options);
    runtime_options.log = note;
    OK(invivo_runtime_open(&runtime, &runtime_options, E));
    part_type = thing_register(runtime, "Part");
    OK(invivo_type_register(runtime, &options, &holder_type, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &confined_type, E));
    options.name = "Exclusive", options.concurrency = INVIVO_SHARED, options.start = start, options.stop = stop;
    OK(invivo_type_register(runtime, &options, &exclusive_type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
    CHECK_EQUAL(running, 0);
}
static void define(const char *key, uint32_t scope, invivo_type type, const invivo_injection *given, size_t count) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = scope, .type = type,
                                                   .properties = given, .property_count = count,
                                                   .flags = type.bits == exclusive_type.bits ? INVIVO_DEFINITION_EXCLUSIVE : 0}, NULL, E));
}
static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static void drop(invivo_object object) { OK(invivo_object_release(object)); }

static const invivo_injection a_part[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};

static void *define_part(void *unused) {
    (void)unused;
    define("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, NULL, 0);
    drop(resolve("a.part"));
    return NULL;
}
static void *define_number(void *unused) {
    (void)unused;
    invivo_injection number[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(7)}};
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, number, 1);
    return NULL;
}

/* Returns the outdated object with a lease, and the one that is shared after it. */
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
    meanwhile = define_part;
    invivo_object first = resolve_twice("a.holder", &second), part = resolve("a.part");
    CHECK(part.bits != former.bits);
    CHECK(thing_of(first)->left.bits == former.bits);
    CHECK(thing_of(second)->left.bits == part.bits);
    drop(first), drop(second), drop(part), drop(former);
    end();
}

static void what_a_constructor_resolved_is_replaced_during_its_build(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, NULL, 0);
    invivo_object former = resolve("a.part"), second;
    resolved = "a.part", meanwhile = define_part;
    invivo_object first = resolve_twice("a.holder", &second), part = resolve("a.part");
    CHECK(thing_of(first)->given.bits == former.bits);
    CHECK(thing_of(second)->given.bits == part.bits);
    /* From here on it is a dependency like any other. */
    drop(part);
    define_part(NULL);
    invivo_object third = resolve("a.holder");
    part = resolve("a.part");
    CHECK(thing_of(third)->given.bits == part.bits);
    drop(first), drop(second), drop(third), drop(part), drop(former);
    end();
}

static void a_value_that_changes_during_a_build(void) {
    begin();
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, NULL, 0);
    meanwhile = define_number;
    drop(resolve("a.holder"));
    invivo_object later = resolve("a.holder");
    CHECK_EQUAL(thing_of(later)->number, 7);
    drop(later);
    end();
}

static void an_unrelated_commit_changes_nothing(void) {
    begin();
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, confined_type, NULL, 0);
    int made = things_made;
    meanwhile = define_part;
    invivo_object first = resolve("a.holder"), second = resolve("a.holder");
    CHECK(first.bits == second.bits);
    CHECK_EQUAL(things_made - made, 2);
    drop(first), drop(second);
    end();
}

/* Another thread waits for the object from before the commit on: both receive the same one. */
static pthread_t waiter;
static invivo_object waited;
static void *resolve_holder(void *unused) {
    (void)unused;
    waited = resolve("a.holder");
    return NULL;
}
static void *wait_and_define_part(void *unused) {
    (void)unused;
    pthread_create(&waiter, NULL, resolve_holder, NULL);
    while (!__atomic_load_n(&waits, __ATOMIC_SEQ_CST)) sched_yield();
    return define_part(NULL);
}
static void those_who_wait_receive_the_same_object(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, a_part, 1);
    invivo_object former = resolve("a.part");
    resolved = "a.part", meanwhile = wait_and_define_part;
    invivo_object first = resolve("a.holder");
    pthread_join(waiter, NULL);
    invivo_object second = resolve("a.holder"), part = resolve("a.part");
    CHECK(waited.bits == first.bits);
    CHECK(second.bits != first.bits);
    CHECK(thing_of(first)->given.bits == former.bits && thing_of(first)->left.bits == former.bits);
    CHECK(thing_of(second)->given.bits == part.bits && thing_of(second)->left.bits == part.bits);
    drop(first), drop(second), drop(waited), drop(part), drop(former);
    end();
}

/* Waits for the commit that replaces an object which another one overtook. */
static listener heard;
static void await_replacement(void) {
    size_t count = 0;
    while (listener_wait(&heard, count + 1) && !strstr(heard.reports[count].cause, "overtook")) count++;
}

/* It stays until a commit has stopped it: two of them never run at the same time. */
static void an_exclusive_object_is_replaced_by_a_commit_of_its_own(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, exclusive_type, NULL, 0);
    listener_open(&heard, runtime);
    resolved = "a.part", meanwhile = define_part;
    invivo_object first = resolve("a.holder"), part = resolve("a.part");
    await_replacement();
    invivo_object second = resolve("a.holder");
    CHECK(first.bits != second.bits);
    CHECK(thing_of(second)->given.bits == part.bits);
    CHECK_EQUAL(most_running, 1);
    drop(first), drop(second), drop(part);
    end();
    listener_end(&heard);
}

/* A constructor of the commit has another thread build a holder, for the former generation. The plan did not know it. */
static void *build_holder(void *unused) {
    (void)unused;
    drop(resolve("a.holder"));
    return NULL;
}
static void an_object_that_is_built_during_a_commit_is_replaced_after_it(void) {
    invivo_changes changes;
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, NULL, 0);
    invivo_object former = resolve("a.part");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.part",
                                                           .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = part_type}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.eager",
                                                           .scope = INVIVO_SCOPE_SINGLETON, .type = holder_type}, NULL, E));
    resolved = "a.part", meanwhile = build_holder;
    listener_open(&heard, runtime);
    int made = things_made;
    OK(invivo_changes_commit(changes, E));
    CHECK(things_made - made >= 3);
    await_replacement();
    invivo_object part = resolve("a.part"), holder = resolve("a.holder");
    CHECK(part.bits != former.bits);
    CHECK(thing_of(holder)->given.bits == part.bits);
    drop(holder), drop(part), drop(former);
    end();
    listener_end(&heard);
}

int main(void) {
    check_begin();
    a_property_that_is_replaced_during_a_build(INVIVO_SCOPE_LAZY_SINGLETON);
    a_property_that_is_replaced_during_a_build(INVIVO_SCOPE_WEAK_SINGLETON);
    what_a_constructor_resolved_is_replaced_during_its_build();
    a_value_that_changes_during_a_build();
    an_unrelated_commit_changes_nothing();
    those_who_wait_receive_the_same_object();
    an_exclusive_object_is_replaced_by_a_commit_of_its_own();
    an_object_that_is_built_during_a_commit_is_replaced_after_it();
    return check_end();
}
