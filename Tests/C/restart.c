/* Definitions and properties that are declared `restart`: a change takes effect when their object is next created. */
/* sanitize: yes */
#include "on_change.h"

static invivo_type_options device_options;
static invivo_property device_properties[4];
static invivo_type device_type;

static void begin_devices(void) {
    begin();
    memcpy(device_properties, part_properties, sizeof part_properties);
    device_properties[3] = device_properties[2];
    device_properties[3].name = "rate", device_properties[3].flags |= INVIVO_PROPERTY_RESTART;
    device_options = part_options("Device");
    device_options.start = part_start, device_options.stop = part_stop, device_options.concurrency = INVIVO_CONFINED;
    device_options.properties = device_properties, device_options.property_count = 4;
    device_type = register_type(device_options);
}

static void add(const char *key, int64_t number, invivo_type type, uint32_t scope, uint32_t flags) {
    invivo_injection properties[] = {{.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = number}}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = scope, .type = type,
                                    .flags = INVIVO_DEFINITION_RESTART | flags, PROPERTIES(properties)};
    OK(invivo_changes_define(changes, &definition, NULL, E));
}
static void define(const char *key, int64_t number) {
    describe();
    add(key, number, shared_type, INVIVO_SCOPE_LAZY_SINGLETON, 0);
    commit();
}
static int64_t number(const char *key) { return at(once(key))->number; }

static char changed[1024];
static void read_changes(void *user_data, const invivo_report *report) {
    (void)user_data;
    changed[0] = 0;
    for (size_t i = 0; i < invivo_report_count(report); i++)
        snprintf(changed + strlen(changed), sizeof changed - strlen(changed), "%s%s.%s %u", i ? ", " : "",
                 invivo_report_key(report, i), invivo_report_property(report, i), invivo_report_change(report, i));
}
static void observe_changes(void) {
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = read_changes};
    invivo_observer observer;
    OK(invivo_observe(runtime, &options, &observer, E));
}

/* The list "restart" of the status: "a.device. 3, ...". */
static const char *pending(void) {
    static char text[512];
    invivo_value found = invivo_null();
    text[0] = 0;
    OK(invivo_runtime_status(runtime, &found, E));
    const invivo_value *list = field(&found, "restart");
    for (uint64_t i = 0; i < list->as.list.count; i++) {
        const invivo_value *one = &list->as.list.items[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s.%s %llu", i ? ", " : "",
                 field(one, "key")->as.string.data, field(one, "property")->as.string.data,
                 (unsigned long long)field(one, "since")->as.unsigned_integer);
    }
    invivo_value_clear(&found);
    return text;
}

static void the_object_stays_until_it_is_created_again(void) {
    begin_devices();
    define("a.device", 1);
    invivo_injection arguments[] = {KEY("input", "a.device")};
    describe();
    ADD("a.holder", LAZY_SINGLETON, .type = shared_type, INITIALIZER(arguments));
    commit();
    invivo_object device = once("a.device"), holder = once("a.holder");
    CHECK_TEXT(pending(), "");
    observe_changes();
    trace[0] = 0;
    define("a.device", 2);
    CHECK_TEXT(trace, "");
    CHECK_TEXT(changed, "a.device. 5");
    CHECK_TEXT(pending(), "a.device. 3");
    define("a.device", 3);
    CHECK_TEXT(pending(), "a.device. 3");
    CHECK(once("a.device").bits == device.bits && once("a.holder").bits == holder.bits);
    CHECK_EQUAL(number("a.device"), 1);
    /* The definition of a dependent changes: it receives the object that is there. */
    describe();
    ADD("a.holder", LAZY_SINGLETON, .type = shared_type, .rank = 1, INITIALIZER(arguments));
    commit();
    CHECK(at(once("a.holder"))->input.bits == device.bits);
    describe();
    OK(invivo_changes_reset(changes, "a.device", 0, E));
    commit();
    CHECK_TEXT(pending(), "");
    CHECK_EQUAL(number("a.device"), 3);
    CHECK(at(once("a.holder"))->input.bits == once("a.device").bits);
    end();
}

static void the_former_definition_ends_it(void) {
    begin_devices();
    define("a.device", 1);
    invivo_object device = once("a.device");
    define("a.device", 2);
    define("a.device", 1);
    CHECK_TEXT(pending(), "");
    CHECK(once("a.device").bits == device.bits);
    /* Another parent is another definition. */
    describe();
    add("a.base", 5, shared_type, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_DEFINITION_ABSTRACT);
    ADD("a.child", LAZY_SINGLETON, .type = shared_type, .parent = "a.base", .flags = INVIVO_DEFINITION_RESTART);
    commit();
    CHECK_EQUAL(number("a.child"), 5);
    describe();
    add("a.base", 6, shared_type, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_DEFINITION_ABSTRACT);
    commit();
    CHECK_TEXT(pending(), "a.child. 5");
    CHECK_EQUAL(number("a.child"), 5);
    end();
}

static void rollback_and_undo(void) {
    begin_devices();
    define("a.device", 1);
    invivo_object device = once("a.device");
    uint64_t first = generation();
    define("a.device", 2);
    uint64_t second = generation();
    OK(invivo_rollback(runtime, first, E));
    CHECK_TEXT(pending(), "");
    CHECK(once("a.device").bits == device.bits);
    OK(invivo_rollback(runtime, second, E));
    CHECK_TEXT(pending(), "a.device. 4");
    CHECK(once("a.device").bits == device.bits);
    /* A change set that fails leaves it as it is. */
    describe();
    add("a.device", 1, shared_type, INVIVO_SCOPE_LAZY_SINGLETON, 0);
    OK(invivo_changes_reset(changes, "a.device", 0, E));
    ADD("a.other", SINGLETON, .type = shared_type);
    fail_at = "init:other";
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    fail_at = NULL;
    CHECK_TEXT(pending(), "a.device. 4");
    CHECK(once("a.device").bits == device.bits);
    end();
}

static void other_types_and_scopes_are_refused(void) {
    begin_devices();
    define("a.device", 1);
    invivo_object device = once("a.device");
    describe();
    add("a.device", 1, confined_type, INVIVO_SCOPE_LAZY_SINGLETON, 0);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED, "a.device: 'a.device' is declared restart, and its object exists: its type cannot change meanwhile; reset the key in the same change set, or restart the program");
    describe();
    add("a.device", 1, shared_type, INVIVO_SCOPE_SINGLETON, 0);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED, NULL);
    describe();
    add("a.device", 1, shared_type, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_DEFINITION_EXCLUSIVE);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED, NULL);
    CHECK(once("a.device").bits == device.bits);
    CHECK_TEXT(pending(), "");
    describe();
    add("a.device", 7, confined_type, INVIVO_SCOPE_SINGLETON, 0);
    OK(invivo_changes_reset(changes, "a.device", 0, E));
    commit();
    CHECK_EQUAL(number("a.device"), 7);
    /* A definition that is not declared so becomes one at once. */
    replace("a.plain", INVIVO_SCOPE_LAZY_SINGLETON);
    device = once("a.plain");
    define("a.plain", 50);
    CHECK(once("a.plain").bits != device.bits);
    CHECK_EQUAL(number("a.plain"), 50);
    end();
}

static void a_rebuilt_object_has_the_changed_definition(void) {
    begin_devices();
    replace("a.part", INVIVO_SCOPE_LAZY_SINGLETON);
    replace("a.other", INVIVO_SCOPE_LAZY_SINGLETON);
    for (int round = 1; round <= 2; round++) {
        invivo_injection arguments[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .reference = "a.part", .flags = INVIVO_INJECT_FOLLOW},
                                        {.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = round}}};
        invivo_injection properties[] = {KEY("left", "a.other")};
        describe();
        ADD("a.device", LAZY_SINGLETON, .type = shared_type, .flags = INVIVO_DEFINITION_RESTART, INITIALIZER(arguments), PROPERTIES(properties));
        commit();
        CHECK_EQUAL(number("a.device"), 1);
    }
    /* The object holds what its own definition named. */
    invivo_object part = at(once("a.device"))->input, other = at(once("a.device"))->left;
    trace[0] = 0;
    replace("a.other", INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK(at(once("a.device"))->left.bits == other.bits && strcmp(name_of(other), "other") == 0);
    CHECK(strstr(trace, "stop:other") == NULL);
    /* The object follows `a.part`: it is created again, as the changed definition says. */
    replace("a.part", INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK_EQUAL(number("a.device"), 2);
    CHECK(at(once("a.device"))->input.bits != part.bits && at(once("a.device"))->left.bits != other.bits);
    CHECK_TEXT(pending(), "");
    end();
}

/* A definition of a confined type that follows its dependencies. */
static void follow(const char *property, const char *key, uint32_t flags, invivo_status expected) {
    invivo_injection properties[] = {{.name = property, .how = INVIVO_INJECT_REFERENCE, .reference = key, .flags = flags}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.device", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = confined_type,
                                    .flags = INVIVO_DEFINITION_RESTART, .on_change = INVIVO_ON_CHANGE_FOLLOW, PROPERTIES(properties)};
    describe();
    OK(invivo_changes_define(changes, &definition, NULL, E));
    if (expected) expects_error(invivo_changes_commit(changes, E), expected, NULL);
    else commit();
}
static void the_object_has_the_references_of_its_own_definition(void) {
    begin_devices();
    replace("a.x", INVIVO_SCOPE_LAZY_SINGLETON), replace("a.y", INVIVO_SCOPE_LAZY_SINGLETON);
    follow("left", "a.x", 0, INVIVO_OK);
    part *device = at(once("a.device"));
    invivo_object x = device->left;
    follow("right", "a.y", 0, INVIVO_OK);
    trace[0] = 0;
    replace("a.y", INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK(strstr(trace, "device") == NULL);
    CHECK(device->left.bits == x.bits && !device->right.bits);
    follow("left", "a.x", 0, INVIVO_OK);
    CHECK_TEXT(pending(), "");
    CHECK(at(once("a.device")) == device && device->left.bits == x.bits && !device->right.bits);
    replace("a.x", INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK(at(once("a.device")) == device && device->left.bits == once("a.x").bits);
    /* What it follows is replaced while another definition waits: it is created from that one. */
    follow("left", "a.y", 0, INVIVO_OK);
    CHECK(device->left.bits == once("a.x").bits);
    replace("a.x", INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK(at(once("a.device"))->left.bits == once("a.y").bits);
    CHECK_TEXT(pending(), "");
    /* So do refusals and marks follow the object. */
    follow("left", "a.x", INVIVO_INJECT_REFUSE, INVIVO_OK);
    describe();
    OK(invivo_changes_reset(changes, "a.device", 0, E));
    commit();
    once("a.device");
    follow("left", "a.y", 0, INVIVO_OK);
    describe();
    ADD("a.x", LAZY_SINGLETON, .type = shared_type, .rank = 4);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED, NULL);
    end();
}

static void tunable(int64_t number) {
    describe();
    add("a.device", number, device_type, INVIVO_SCOPE_LAZY_SINGLETON, 0);
    commit();
}
static void base_values_wait_too(void) {
    begin_devices();
    tunable(1);
    CHECK_EQUAL(number("a.device"), 1);
    describe();
    invivo_value five = invivo_int64(5);
    OK(invivo_changes_set(changes, "a.device", "number", &five, E));
    commit();
    CHECK_EQUAL(number("a.device"), 1);
    CHECK_TEXT(pending(), "a.device. 2");
    uint64_t with_five = generation();
    tunable(1);
    CHECK_TEXT(pending(), "");
    CHECK_EQUAL(number("a.device"), 1);
    OK(invivo_rollback(runtime, with_five, E));
    CHECK_TEXT(pending(), "a.device. 4");
    describe();
    OK(invivo_changes_reset(changes, "a.device", 0, E));
    commit();
    CHECK_EQUAL(number("a.device"), 5);
    tunable(2);
    OK(invivo_rollback(runtime, with_five, E));
    CHECK_TEXT(pending(), "");
    CHECK_EQUAL(number("a.device"), 5);
    end();
}

static void rank_and_visibility_do_not_wait(void) {
    begin_devices();
    define("a.device", 1);
    once("a.device");
    describe();
    add("a.device", 1, shared_type, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_DEFINITION_HIDDEN_CLASS);
    commit();
    CHECK_TEXT(pending(), "");
    /* A definition that would be blocked is refused. */
    invivo_injection properties[] = {KEY("left", "a.nobody")};
    describe();
    ADD("a.device", LAZY_SINGLETON, .type = shared_type, .flags = INVIVO_DEFINITION_RESTART | INVIVO_DEFINITION_WAITS, PROPERTIES(properties));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_REFUSED, NULL);
    end();
}

/* A commit overtakes the build of the object. */
static pthread_barrier_t barrier;
static int is_slow;
static invivo_status slow(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                          invivo_error **error) {
    if (__atomic_exchange_n(&is_slow, 0, __ATOMIC_SEQ_CST)) pthread_barrier_wait(&barrier), pthread_barrier_wait(&barrier);
    return part_init(*instance, build, arguments, count, user_data, error);
}
static void define_slow(int64_t number) {
    invivo_injection properties[] = {{.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = number}}};
    describe();
    ADD("a.device", LAZY_SINGLETON, .type = shared_type, .flags = INVIVO_DEFINITION_RESTART, .factory = slow, PROPERTIES(properties));
    commit();
}
static void *build_slowly(void *object) {
    *(invivo_object *)object = resolve("a.device");
    return NULL;
}
static void an_object_that_is_being_built_stays(void) {
    pthread_t thread;
    invivo_object built = {0};
    begin_devices();
    CHECK_EQUAL(pthread_barrier_init(&barrier, NULL, 2), 0);
    define_slow(1);
    is_slow = 1;
    CHECK_EQUAL(pthread_create(&thread, NULL, build_slowly, &built), 0);
    pthread_barrier_wait(&barrier);
    define_slow(2);
    define_slow(3);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    replace("a.other", INVIVO_SCOPE_LAZY_SINGLETON);
    CHECK(once("a.device").bits == built.bits);
    CHECK_EQUAL(number("a.device"), 1);
    CHECK_TEXT(pending(), "a.device. 2");
    drop(built);
    end();
}

static void removal_takes_effect_at_once(void) {
    begin_devices();
    define("a.device", 1);
    once("a.device");
    define("a.device", 2);
    trace[0] = 0;
    describe();
    OK(invivo_changes_remove(changes, "a.device", E));
    commit();
    CHECK_TEXT(trace, "stop:device end:device ");
    CHECK_TEXT(pending(), "");
    end();
}

static void blocks_cannot_wait(void) {
    typedef struct { double level; } block;
    static const invivo_property fields[] = {INVIVO_BLOCK_FIELD(block, level)};
    begin_devices();
    invivo_type_options options = part_options("Blocked");
    options.properties = fields, options.property_count = 1, options.block_size = sizeof(block);
    invivo_type type = register_type(options);
    describe();
    ADD("a.device", LAZY_SINGLETON, .type = type, .flags = INVIVO_DEFINITION_RESTART);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARGUMENT, "a.device: restart is for types without a block, and 'Blocked' has one, which is read without the object: declare restart for its properties");
    end();
}

static void tune(const char *text) { OK(invivo_changes_open(runtime, &changes, E)), OK(invivo_changes_document(changes, "a.yaml", text, text ? strlen(text) : 0, E)), commit(); }
static void properties_wait_for_the_next_object(void) {
    begin_devices();
    describe();
    ADD("a.device", LAZY_SINGLETON, .type = device_type);
    commit();
    CHECK_EQUAL(number("a.device"), 0);
    observe_changes();
    tune("traits: { a.device: [Set: { rate: 5, number: 3 }] }");
    CHECK_TEXT(changed, "a.device.number 4, a.device.rate 5");
    CHECK_TEXT(pending(), "a.device.rate 2");
    CHECK_EQUAL(number("a.device"), 3);
    tune("traits: { a.device: [Set: { rate: 6, number: 3 }] }");
    CHECK_TEXT(pending(), "a.device.rate 2");
    tune(NULL);
    CHECK_TEXT(pending(), "");
    tune("traits: { a.device: [Set: { rate: 7 }] }");
    CHECK_TEXT(pending(), "a.device.rate 5");
    describe();
    OK(invivo_changes_reset(changes, "a.device", 0, E));
    commit();
    CHECK_TEXT(pending(), "");
    CHECK_EQUAL(number("a.device"), 7);
    tune(NULL);
    CHECK_TEXT(pending(), "a.device.rate 7");
    CHECK_EQUAL(number("a.device"), 7);
    /* A weak singleton: the next object has the new value. */
    describe();
    ADD("a.weak", WEAK_SINGLETON, .type = device_type);
    commit();
    invivo_object weak = resolve("a.weak");
    tune("traits: { a.weak: [Set: { rate: 5 }] }");
    CHECK_TEXT(pending(), "a.device.rate 7, a.weak.rate 9");
    drop(weak);
    weak = resolve("a.weak");
    CHECK_EQUAL(at(weak)->number, 5);
    CHECK_TEXT(pending(), "a.device.rate 7");
    drop(weak);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(the_object_stays_until_it_is_created_again);
    RUN_TEST(the_former_definition_ends_it);
    RUN_TEST(rollback_and_undo);
    RUN_TEST(other_types_and_scopes_are_refused);
    RUN_TEST(a_rebuilt_object_has_the_changed_definition);
    RUN_TEST(the_object_has_the_references_of_its_own_definition);
    RUN_TEST(base_values_wait_too);
    RUN_TEST(rank_and_visibility_do_not_wait);
    RUN_TEST(an_object_that_is_being_built_stays);
    RUN_TEST(removal_takes_effect_at_once);
    RUN_TEST(blocks_cannot_wait);
    RUN_TEST(properties_wait_for_the_next_object);
    return check_end();
}
