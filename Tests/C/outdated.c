/* Commits that end while a shared object is being built. If such a commit has changed the object's definition or replaced an
 * object that it received, a further commit replaces it. */
/* sanitize: yes */
#include "thing.h"

static invivo_runtime runtime;
static invivo_type part_type, holder_type, confined_type, exclusive_type;
static void *(*meanwhile)(void *); /* runs on another thread during the next construction of a holder */
static const char *resolved;       /* a holder's constructor resolves this key first, as `given` */
static const uint64_t *word;       /* a version, which the first constructor reads as `version` before its object is visible */
static uint64_t version;
static int running, most_running;
static listener heard;

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
        if (word) version = __atomic_load_n(word, __ATOMIC_ACQUIRE);
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
static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Holder", .size = sizeof(thing), .alignment = _Alignof(thing),
                                   .concurrency = INVIVO_SHARED, .init = holder_init, .deinit = thing_deinit,
                                   .properties = thing_properties, .property_count = 2};
    resolved = NULL, word = NULL, most_running = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    listener_open(&heard, runtime);
    part_type = thing_register(runtime, "Part");
    OK(invivo_type_register(runtime, &options, &holder_type, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &confined_type, E));
    options.name = "Exclusive", options.concurrency = INVIVO_SHARED, options.start = start, options.stop = stop;
    OK(invivo_type_register(runtime, &options, &exclusive_type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
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

/* Waits for the commit that replaces an object which another one overtook. */
static void await_replacement(void) {
    size_t count = 0;
    while (listener_wait(&heard, count + 1) && !strstr(heard.reports[count].cause, "overtook")) count++;
}

static invivo_object resolve_replaced(const char *key) {
    await_replacement();
    return resolve(key);
}

static void a_property_that_is_replaced_during_a_build(uint32_t scope) {
    begin();
    define_part(NULL);
    define("a.holder", scope, confined_type, a_part, 1);
    invivo_object former = resolve("a.part");
    meanwhile = define_part;
    invivo_object first = resolve("a.holder"), second = resolve_replaced("a.holder"), part = resolve("a.part");
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
    invivo_object former = resolve("a.part");
    resolved = "a.part", meanwhile = define_part;
    invivo_object first = resolve("a.holder"), second = resolve_replaced("a.holder"), part = resolve("a.part");
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

/* Nothing follows it: the next report is that of a further definition. */
static void an_unrelated_commit_changes_nothing(void) {
    begin();
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, confined_type, NULL, 0);
    int made = things_made;
    meanwhile = define_part;
    invivo_object first = resolve("a.holder"), second;
    size_t count = listener_count(&heard);
    define("a.other", INVIVO_SCOPE_LAZY_SINGLETON, part_type, NULL, 0);
    listener_wait(&heard, count + 1);
    for (size_t i = 0; i < listener_count(&heard); i++) CHECK(!strstr(heard.reports[i].cause, "overtook"));
    second = resolve("a.holder");
    CHECK(first.bits == second.bits);
    CHECK_EQUAL(things_made - made, 2);
    drop(first), drop(second);
    end();
}

/* Whether every object has the current ones, and none the former part. */
static bool is_whole(invivo_object former) {
    invivo_object part = resolve("a.part"), holder = resolve("a.holder"), outer = resolve("a.outer"), outermost = resolve("a.outermost");
    bool is = part.bits != former.bits && thing_of(holder)->left.bits == part.bits && thing_of(outer)->left.bits == holder.bits &&
              thing_of(thing_of(outermost)->left)->left.bits == holder.bits;
    drop(part), drop(holder), drop(outer), drop(outermost);
    return is;
}

/* Outer objects are built around the holder, one of them through an object that is not shared. */
static void what_an_outer_object_receives_is_replaced_during_the_build(void) {
    static const invivo_injection inner[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.holder"}};
    static const invivo_injection middle[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.middle"}};
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, a_part, 1);
    define("a.middle", INVIVO_SCOPE_PROTOTYPE, part_type, inner, 1);
    define("a.outer", INVIVO_SCOPE_LAZY_SINGLETON, part_type, inner, 1);
    define("a.outermost", INVIVO_SCOPE_LAZY_SINGLETON, part_type, middle, 1);
    invivo_object former = resolve("a.part");
    meanwhile = define_part;
    invivo_object first = resolve("a.outermost"), same = resolve("a.outer");
    /* The outer objects may be replaced by the same commit, or by another one. */
    for (size_t count = 1; !is_whole(former); count++) {
        if (!listener_wait(&heard, count)) break;
    }
    drop(first), drop(same), drop(former);
    end();
}

/* A lazy reference that was used meanwhile resolves again, and the version of the key is another. */
static void a_version_changes_when_an_outdated_object_is_replaced(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, holder_type, NULL, 0);
    invivo_key key;
    OK(invivo_key_find(runtime, "a.holder", &key, E));
    word = invivo_key_version(key);
    resolved = "a.part", meanwhile = define_part;
    invivo_object first = resolve("a.holder"), second = resolve_replaced("a.holder");
    CHECK(first.bits != second.bits);
    CHECK(__atomic_load_n(word, __ATOMIC_ACQUIRE) != version);
    drop(first), drop(second);
    end();
}

/* Two of them never run at the same time. */
static void an_exclusive_object_is_stopped_first(void) {
    begin();
    define_part(NULL);
    define("a.holder", INVIVO_SCOPE_LAZY_SINGLETON, exclusive_type, NULL, 0);
    resolved = "a.part", meanwhile = define_part;
    invivo_object first = resolve("a.holder"), part = resolve("a.part");
    invivo_object second = resolve_replaced("a.holder");
    CHECK(first.bits != second.bits);
    CHECK(thing_of(second)->given.bits == part.bits);
    CHECK_EQUAL(most_running, 1);
    drop(first), drop(second), drop(part);
    end();
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
    int made = things_made;
    OK(invivo_changes_commit(changes, E));
    CHECK(things_made - made >= 3);
    await_replacement();
    invivo_object part = resolve("a.part"), holder = resolve("a.holder");
    CHECK(part.bits != former.bits);
    CHECK(thing_of(holder)->given.bits == part.bits);
    drop(holder), drop(part), drop(former);
    end();
}

int main(void) {
    check_begin();
    a_property_that_is_replaced_during_a_build(INVIVO_SCOPE_LAZY_SINGLETON);
    a_property_that_is_replaced_during_a_build(INVIVO_SCOPE_WEAK_SINGLETON);
    what_a_constructor_resolved_is_replaced_during_its_build();
    a_value_that_changes_during_a_build();
    an_unrelated_commit_changes_nothing();
    what_an_outer_object_receives_is_replaced_during_the_build();
    a_version_changes_when_an_outdated_object_is_replaced();
    an_exclusive_object_is_stopped_first();
    an_object_that_is_built_during_a_commit_is_replaced_after_it();
    return check_end();
}
