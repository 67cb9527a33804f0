/* The former object (invivo_build.former): the object that a commit replaces, while the new one is created. */
/* sanitize: yes */
#include "check.h"

typedef struct counter {
    int64_t count, argument;
    int made, stopped;
    uint8_t rest[64];
} counter;

static invivo_runtime runtime;
static invivo_type counter_type, other_type, holder_type;
static int made, former_seen, injected_former;
static bool fails, was_stopped;

/* Copies the count of the former object. */
static invivo_status counter_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    const counter *former = build->former_instance;
    (void)arguments, (void)count, (void)user_data;
    CHECK_EQUAL(build->former.bits != 0, former != NULL);
    ((counter *)instance)->made = ++made;
    if (former) {
        void *found = NULL;
        former_seen++;
        OK(invivo_object_instance(build->former, build->type, &found, E));
        CHECK(found == former);
        was_stopped = former->stopped > 0;
        ((counter *)instance)->count = former->count;
    }
    if (fails) {
        *error = invivo_error_make(INVIVO_E_HOST, "it fails on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    return INVIVO_OK;
}
static invivo_status counter_start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_status counter_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    ((counter *)instance)->stopped++;
    return INVIVO_OK;
}
static invivo_status note_former(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    (void)instance, (void)arguments, (void)count, (void)user_data, (void)error;
    injected_former += build->former.bits != 0;
    return INVIVO_OK;
}
static invivo_status decorator_sees_none(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data,
                                         invivo_error **error) {
    (void)object, (void)out, (void)user_data, (void)error;
    CHECK_EQUAL(build->former.bits, 0);
    CHECK(!build->former_instance);
    return INVIVO_OK;
}

static const invivo_property counter_properties[] = {INVIVO_FIELD(counter, argument)};
static const invivo_parameter holder_parameters[] = {{.name = "part", .kind = INVIVO_KIND_OBJECT}};

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Counter", .size = sizeof(counter), .alignment = 8,
                                   .concurrency = INVIVO_SHARED, .init = counter_init, .start = counter_start, .stop = counter_stop,
                                   .properties = counter_properties, .property_count = 1};
    made = former_seen = injected_former = 0, fails = was_stopped = false;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &counter_type, E));
    options.name = "Other";
    OK(invivo_type_register(runtime, &options, &other_type, E));
    options.name = "Holder", options.init = NULL, options.parameters = holder_parameters, options.parameter_count = 1;
    OK(invivo_type_register(runtime, &options, &holder_type, E));
}
static invivo_definition defined(const char *key, uint32_t scope) {
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = scope, .type = counter_type};
}
static invivo_key key_of(const char *name) {
    invivo_key key = {0};
    OK(invivo_key_find(runtime, name, &key, E));
    return key;
}
static counter *counter_of(const char *key) {
    invivo_object object;
    void *instance = NULL;
    if (!OK(invivo_resolve_name(runtime, key, &object, E))) return NULL;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    OK(invivo_object_release(object));
    return instance;
}

static void the_new_object_copies_from_the_former_one(void) {
    begin();
    invivo_definition lazy = defined("f.lazy", INVIVO_SCOPE_LAZY_SINGLETON), eager = defined("f.eager", INVIVO_SCOPE_SINGLETON);
    lazy.inject = note_former;
    OK(invivo_define(runtime, &lazy, NULL, E));
    OK(invivo_define(runtime, &eager, NULL, E));
    counter_of("f.lazy")->count = 7;
    counter_of("f.eager")->count = 8;
    CHECK_EQUAL(former_seen, 0); /* there is none at first creation */
    CHECK_EQUAL(injected_former, 0);
    OK(invivo_define(runtime, &lazy, NULL, E));
    OK(invivo_define(runtime, &eager, NULL, E));
    CHECK_EQUAL(former_seen, 2);
    CHECK_EQUAL(injected_former, 1);
    CHECK(!was_stopped); /* it is in use until the commit succeeds */
    CHECK_EQUAL(counter_of("f.lazy")->count, 7);
    CHECK_EQUAL(counter_of("f.eager")->count, 8);
    OK(invivo_runtime_close(runtime, E));
}

static void after_a_failure_the_former_object_is_unchanged_and_serves(void) {
    begin();
    invivo_definition lazy = defined("f.lazy", INVIVO_SCOPE_LAZY_SINGLETON);
    OK(invivo_define(runtime, &lazy, NULL, E));
    counter *own = counter_of("f.lazy");
    own->count = 7;
    memset(own->rest, 0xa5, sizeof own->rest);
    counter before = *own;
    fails = true;
    expects_error(invivo_define(runtime, &lazy, NULL, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(former_seen, 1);
    CHECK(counter_of("f.lazy") == own);
    CHECK(memcmp(&before, own, sizeof before) == 0);
    fails = false;
    OK(invivo_define(runtime, &lazy, NULL, E));
    CHECK_EQUAL(counter_of("f.lazy")->count, 7);
    OK(invivo_runtime_close(runtime, E));
}

static size_t warnings;
static char warning[256];
static void note_warnings(void *user_data, const invivo_report *report) {
    (void)user_data;
    warnings = invivo_report_warning_count(report);
    if (warnings) snprintf(warning, sizeof warning, "%s", invivo_report_warning(report, 0));
}
static void another_type_has_no_former_object_and_a_warning(void) {
    begin();
    invivo_definition lazy = defined("f.lazy", INVIVO_SCOPE_LAZY_SINGLETON);
    invivo_observer_options hears = {.struct_size = sizeof hears, .reloaded = note_warnings};
    invivo_observer observer;
    OK(invivo_define(runtime, &lazy, NULL, E));
    counter_of("f.lazy")->count = 7;
    OK(invivo_observe(runtime, &hears, &observer, E));
    lazy.type = other_type;
    OK(invivo_define(runtime, &lazy, NULL, E));
    CHECK_EQUAL(former_seen, 0);
    CHECK_EQUAL(counter_of("f.lazy")->count, 0);
    CHECK_EQUAL(warnings, 1);
    CHECK(strstr(warning, "f.lazy: its type changes from 'Counter' to 'Other'") != NULL);
    OK(invivo_define(runtime, &lazy, NULL, E));
    CHECK_EQUAL(former_seen, 1);
    CHECK_EQUAL(warnings, 0);
    OK(invivo_observer_close(observer, E));
    OK(invivo_runtime_close(runtime, E));
}

static void an_exclusive_former_object_is_stopped(void) {
    begin();
    invivo_definition one = defined("f.one", INVIVO_SCOPE_SINGLETON);
    one.flags = INVIVO_DEFINITION_EXCLUSIVE;
    OK(invivo_define(runtime, &one, NULL, E));
    counter_of("f.one")->count = 7;
    OK(invivo_define(runtime, &one, NULL, E));
    CHECK_EQUAL(former_seen, 1);
    CHECK(was_stopped);
    CHECK_EQUAL(counter_of("f.one")->count, 7);
    OK(invivo_runtime_close(runtime, E));
}

static void prototypes_aliases_and_later_resolves_have_none(void) {
    begin();
    invivo_definition prototype = defined("f.each", INVIVO_SCOPE_PROTOTYPE), lazy = defined("f.lazy", INVIVO_SCOPE_LAZY_SINGLETON);
    invivo_definition alias = {.struct_size = sizeof alias, .key = "f.alias", .alias = "f.lazy"};
    OK(invivo_define(runtime, &prototype, NULL, E));
    OK(invivo_define(runtime, &lazy, NULL, E));
    OK(invivo_define(runtime, &alias, NULL, E));
    counter_of("f.alias")->count = 7;
    counter_of("f.each");
    OK(invivo_define(runtime, &prototype, NULL, E));
    counter_of("f.each");
    CHECK_EQUAL(former_seen, 0);
    /* A key that was an alias has no former object: its target stays. */
    invivo_definition own = defined("f.alias", INVIVO_SCOPE_SINGLETON);
    OK(invivo_define(runtime, &own, NULL, E));
    CHECK_EQUAL(former_seen, 0);
    /* A reset without dependents creates the next object on demand, when the former one is stopped. */
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset(changes, "f.lazy", 0, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(counter_of("f.lazy")->count, 0);
    CHECK_EQUAL(former_seen, 0);
    OK(invivo_runtime_close(runtime, E));
}

static void a_decorator_receives_none(void) {
    begin();
    invivo_definition lazy = defined("f.lazy", INVIVO_SCOPE_LAZY_SINGLETON);
    invivo_processor decorator = {.struct_size = sizeof decorator, .name = "look", .decorate = decorator_sees_none};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &decorator, E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_define(runtime, &lazy, NULL, E));
    counter_of("f.lazy")->count = 7;
    OK(invivo_define(runtime, &lazy, NULL, E));
    CHECK_EQUAL(former_seen, 1);
    OK(invivo_runtime_close(runtime, E));
}

/* Of several objects of a key, the former object has the same runtime arguments. */
static void the_former_object_has_the_same_arguments(void) {
    begin();
    invivo_injection by_argument = {.name = "argument", .how = INVIVO_INJECT_ARGUMENT};
    invivo_definition part = defined("f.part", INVIVO_SCOPE_LAZY_SINGLETON);
    const invivo_parameter parameter = {.name = "argument", .kind = INVIVO_KIND_INT64};
    part.parameters = &parameter, part.parameter_count = 1;
    part.properties = &by_argument, part.property_count = 1;
    OK(invivo_define(runtime, &part, NULL, E));
    for (int i = 1; i <= 2; i++) {
        invivo_value number = invivo_int64(i);
        invivo_injection bound = {.how = INVIVO_INJECT_VALUE, .value = number};
        invivo_injection reference = {.name = "part", .how = INVIVO_INJECT_REFERENCE, .reference = "f.part", .items = &bound, .item_count = 1};
        invivo_definition holder = defined(i == 1 ? "f.first" : "f.second", INVIVO_SCOPE_SINGLETON);
        holder.type = holder_type, holder.initializer = &reference, holder.initializer_count = 1;
        invivo_object object;
        void *instance = NULL;
        OK(invivo_define(runtime, &holder, NULL, E));
        OK(invivo_resolve_with(runtime, key_of("f.part"), &number, 1, &object, E));
        OK(invivo_object_instance(object, counter_type, &instance, E));
        ((counter *)instance)->count = 10 * i;
        OK(invivo_object_release(object));
    }
    OK(invivo_define(runtime, &part, NULL, E));
    CHECK_EQUAL(former_seen, 2);
    for (int i = 1; i <= 2; i++) {
        invivo_value number = invivo_int64(i);
        invivo_object object;
        void *instance = NULL;
        OK(invivo_resolve_with(runtime, key_of("f.part"), &number, 1, &object, E));
        OK(invivo_object_instance(object, counter_type, &instance, E));
        CHECK_EQUAL(((counter *)instance)->argument, i);
        CHECK_EQUAL(((counter *)instance)->count, 10 * i);
        OK(invivo_object_release(object));
    }
    OK(invivo_runtime_close(runtime, E));
}

/* A weak singleton has a former object as long as its holder, which the commit rebuilds, keeps it. */
static void a_weak_singleton_that_the_commit_needs_has_one(void) {
    begin();
    invivo_injection reference = {.name = "part", .how = INVIVO_INJECT_REFERENCE, .reference = "f.weak"};
    invivo_definition weak = defined("f.weak", INVIVO_SCOPE_WEAK_SINGLETON), holder = defined("f.holder", INVIVO_SCOPE_SINGLETON);
    holder.type = holder_type, holder.initializer = &reference, holder.initializer_count = 1;
    OK(invivo_define(runtime, &weak, NULL, E));
    OK(invivo_define(runtime, &holder, NULL, E));
    counter_of("f.weak")->count = 7;
    OK(invivo_define(runtime, &weak, NULL, E));
    CHECK_EQUAL(former_seen, 1);
    CHECK_EQUAL(counter_of("f.weak")->count, 7);
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_begin();
    RUN_TEST(the_new_object_copies_from_the_former_one);
    RUN_TEST(after_a_failure_the_former_object_is_unchanged_and_serves);
    RUN_TEST(another_type_has_no_former_object_and_a_warning);
    RUN_TEST(an_exclusive_former_object_is_stopped);
    RUN_TEST(prototypes_aliases_and_later_resolves_have_none);
    RUN_TEST(a_decorator_receives_none);
    RUN_TEST(the_former_object_has_the_same_arguments);
    RUN_TEST(a_weak_singleton_that_the_commit_needs_has_one);
    return check_end();
}
