/* Wiring: building, injection, rebuilding, updates in place; failing constructors; cycles; builds under many threads;
 * disposal once and in order. */
/* sanitize: yes */
#include "check.h"

/* A part records its arguments. Shared types: any thread resolves them. */
typedef struct part {
    invivo_object input, helper; /* borrowed: the runtime holds the leases */
    int64_t number;
    char name[32];
    int serial;
    bool started;
} part;

static int serials, inits, deinits, starts, stops, destroyed;
static int fail_init_at, fail_start_at; /* the number of the failing call; 0 = none */
static char disposal_order[512];
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    int call = __atomic_add_fetch(&inits, 1, __ATOMIC_SEQ_CST);
    if (call == fail_init_at) {
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "the constructor fails", NULL, NULL);
        return INVIVO_E_HOST;
    }
    const char *key = invivo_key_name(build->key);
    snprintf(self->name, sizeof(self->name), "%s", key ? key : "?");
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)user_data;
    pthread_mutex_lock(&order_lock);
    strncat(disposal_order, ((part *)instance)->name, sizeof(disposal_order) - strlen(disposal_order) - 2);
    strcat(disposal_order, " ");
    deinits++;
    pthread_mutex_unlock(&order_lock);
}
static invivo_status part_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    if (__atomic_add_fetch(&starts, 1, __ATOMIC_SEQ_CST) == fail_start_at) { /* independent ones start in parallel */
        if (error) *error = invivo_error_make(INVIVO_E_HOST, "the start fails", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((part *)instance)->started = true;
    return INVIVO_OK;
}
static invivo_status part_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    CHECK(((part *)instance)->started);
    __atomic_add_fetch(&stops, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void count_destroyed(void *user_data) { __atomic_add_fetch((int *)user_data, 1, __ATOMIC_SEQ_CST); }

static invivo_status get_helper(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = ((part *)instance)->helper.bits ? invivo_object_value(((part *)instance)->helper) : invivo_null();
    if (((part *)instance)->helper.bits) invivo_object_retain(((part *)instance)->helper);
    return INVIVO_OK;
}
static invivo_status set_helper(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->helper = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return INVIVO_OK;
}

static const invivo_parameter part_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_property part_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "helper", .kind = INVIVO_KIND_OBJECT, .get = get_helper, .set = set_helper},
    INVIVO_FIELD(part, number),
};

static invivo_runtime runtime;
static invivo_type part_type, confined_type;

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Part", .size = sizeof(part), .alignment = _Alignof(part),
                                   .concurrency = INVIVO_SHARED, .init = part_init, .deinit = part_deinit, .start = part_start,
                                   .stop = part_stop, .parameters = part_parameters, .parameter_count = 2,
                                   .properties = part_properties, .property_count = 2, .user_data = &destroyed,
                                   .destroy = count_destroyed};
    serials = inits = deinits = starts = stops = destroyed = fail_init_at = fail_start_at = 0;
    disposal_order[0] = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &part_type, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED, options.destroy = NULL;
    OK(invivo_type_register(runtime, &options, &confined_type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(destroyed, 1);
    CHECK_EQUAL(starts - (fail_start_at ? 1 : 0), stops);
}

#define INTO(reference_key) (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = reference_key}
#define NAMED(parameter, reference_key) \
    (invivo_injection){.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = reference_key}
#define VALUE(parameter, given) (invivo_injection){.name = parameter, .how = INVIVO_INJECT_VALUE, .value = given}

static invivo_definition simple(const char *key, uint32_t scope) {
    invivo_definition made = {.struct_size = sizeof(made), .key = key, .scope = scope, .type = part_type};
    return made;
}
static invivo_definition with(const char *key, uint32_t scope, const invivo_injection *initializer, size_t count) {
    invivo_definition made = simple(key, scope);
    made.initializer = initializer, made.initializer_count = count;
    return made;
}
static invivo_definition helped(const char *key, uint32_t scope, const invivo_injection *properties, size_t count) {
    invivo_definition made = simple(key, scope);
    made.properties = properties, made.property_count = count;
    made.type = confined_type; /* injected again in place; a shared one is rebuilt */
    return made;
}

static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static part *instance_of(invivo_object object) {
    void *instance = NULL;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
/* The serial number of a key's object; the lease is released. */
static int serial(const char *key) {
    invivo_object object = resolve(key);
    part *found = instance_of(object);
    int number = found ? found->serial : -1;
    OK(invivo_object_release(object));
    return number;
}
static invivo_status define(invivo_definition definition, invivo_error **error) { return invivo_define(runtime, &definition, NULL, error); }
static uint64_t generation(void) {
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return info.generation;
}

/* ---- scopes and injections ----------------------------------------------------------------------------- */

static void scopes_determine_number_and_time_of_builds(void) {
    begin();
    OK(define(simple("a.prototype", INVIVO_SCOPE_PROTOTYPE), E));
    OK(define(simple("a.lazy", INVIVO_SCOPE_LAZY_SINGLETON), E));
    CHECK_EQUAL(inits, 0);
    OK(define(simple("a.eager", INVIVO_SCOPE_SINGLETON), E));
    CHECK_EQUAL(inits, 1);
    CHECK_EQUAL(serial("a.eager"), 1);
    CHECK(serial("a.prototype") != serial("a.prototype"));
    CHECK_EQUAL(deinits, 2);
    CHECK_EQUAL(serial("a.lazy"), serial("a.lazy"));
    invivo_key key;
    invivo_object object;
    OK(invivo_key_find(runtime, "a.lazy", &key, E));
    OK(invivo_peek(runtime, key, &object));
    OK(invivo_object_release(object));
    invivo_value two[] = {invivo_null(), invivo_int64(5)};
    expects_error(invivo_resolve_with(runtime, key, two, 2, &object, E), INVIVO_E_ARITY,
                  "a.lazy: 'a.lazy' declares no runtime arguments, got 2; declare them (parameters)");
    OK(invivo_key_find(runtime, "a.prototype", &key, E));
    expects_error(invivo_resolve_with(runtime, key, two, 2, &object, E), INVIVO_E_ARITY,
                  "a.prototype: 'a.prototype' declares no runtime arguments, got 2; declare them (parameters)");
    expects_error(invivo_resolve_name(runtime, "a.lasy", &object, E), INVIVO_E_NOT_FOUND,
                  "a.lasy: no definition has the key 'a.lasy'; did you mean 'a.lazy'?");
    end();
    CHECK_EQUAL(deinits, serials);
}

static void injection_goes_by_position_name_and_property(void) {
    begin();
    invivo_changes changes;
    /* The references are defined later in the same change set. */
    invivo_injection by_position[] = {INTO("a.source"), VALUE(NULL, invivo_int64(3))};
    invivo_injection by_name[] = {VALUE("number", invivo_int64(4)), NAMED("input", "a.source")};
    invivo_injection by_property[] = {NAMED("helper", "a.source"), VALUE("number", invivo_int64(9))};
    invivo_definition first = with("a.first", INVIVO_SCOPE_SINGLETON, by_position, 2);
    invivo_definition second = with("a.second", INVIVO_SCOPE_SINGLETON, by_name, 2);
    invivo_definition third = helped("a.third", INVIVO_SCOPE_SINGLETON, by_property, 2);
    invivo_definition source = simple("a.source", INVIVO_SCOPE_LAZY_SINGLETON);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &first, NULL, E));
    OK(invivo_changes_define(changes, &second, NULL, E));
    OK(invivo_changes_define(changes, &third, NULL, E));
    OK(invivo_changes_define(changes, &source, NULL, E));
    OK(invivo_changes_commit(changes, E));
    invivo_object made = resolve("a.source"), object = resolve("a.first");
    CHECK(instance_of(object)->input.bits == made.bits);
    CHECK_EQUAL(instance_of(object)->number, 3);
    OK(invivo_object_release(object));
    object = resolve("a.second");
    CHECK(instance_of(object)->input.bits == made.bits);
    CHECK_EQUAL(instance_of(object)->number, 4);
    OK(invivo_object_release(object));
    object = resolve("a.third");
    CHECK(instance_of(object)->helper.bits == made.bits);
    CHECK_EQUAL(instance_of(object)->number, 9);
    OK(invivo_object_release(object));
    OK(invivo_object_release(made));
    end();
    CHECK_EQUAL(deinits, 4);
    /* Reverse order of creation: the first one built the source before itself. */
    CHECK_TEXT(disposal_order, "a.third a.second a.first a.source ");
}

static void wiring_errors_are_reported_at_once(void) {
    begin();
    invivo_changes changes;
    invivo_injection unknown[] = {NAMED("inptu", "a.suorce"), VALUE("number", invivo_string("x"))};
    invivo_injection unknown_property[] = {VALUE("numbr", invivo_int64(1)), NAMED("helper", "a.other")};
    invivo_definition first = with("a.first", INVIVO_SCOPE_SINGLETON, unknown, 2);
    invivo_definition second = helped("a.second", INVIVO_SCOPE_SINGLETON, unknown_property, 2);
    invivo_definition source = simple("a.source", INVIVO_SCOPE_LAZY_SINGLETON);
    first.file = "wiring.c", first.line = 7, first.column = 3;
    uint64_t before = generation();
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &first, NULL, E));
    OK(invivo_changes_define(changes, &second, NULL, E));
    OK(invivo_changes_define(changes, &source, NULL, E));
    expects_error(invivo_changes_define(changes, &source, NULL, E), INVIVO_E_EXISTS, NULL);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARITY,
                  "wiring.c:7:3: a.first: 'Part' has no initializer parameter 'inptu'; did you mean 'input'?\n"
                  "wiring.c:7:3: a.first: initializer parameter 'inptu' needs 'a.suorce', which is not defined; did you mean 'a.source'?\n"
                  "wiring.c:7:3: a.first: argument 'number' of Part(input: object?, number: int64?): 'x' (a string) is not a whole number\n"
                  "a.second: Confined has no property 'numbr'; did you mean 'number'?\n"
                  "a.second: the property 'helper' needs 'a.other', which is not defined");
    CHECK_EQUAL(generation(), before);
    CHECK_EQUAL(inits, 0);
    /* A definition without a type. */
    invivo_error *error = NULL;
    invivo_definition untyped = {.struct_size = sizeof untyped, .key = "a.untyped", .file = "wiring.c", .line = 9, .column = 2};
    CHECK_EQUAL(invivo_define(runtime, &untyped, NULL, &error), INVIVO_E_ARGUMENT);
    CHECK_EQUAL(invivo_error_code(error), INVIVO_E_ARGUMENT);
    CHECK_TEXT(invivo_error_path(error), "a.untyped");
    CHECK_TEXT(invivo_error_file(error), "wiring.c");
    CHECK_EQUAL(invivo_error_line(error), 9);
    CHECK_EQUAL(invivo_error_column(error), 2);
    CHECK_EQUAL(invivo_error_count(error), 1);
    CHECK(strstr(invivo_error_message(error), "type"));
    invivo_error_release(error);
    CHECK_EQUAL(generation(), before);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HANDLE, NULL); /* closed, also after a failure */
    end();
}

static void aliases_are_the_key_they_name(void) {
    begin();
    invivo_definition alias = {.struct_size = sizeof(alias), .key = "a.now", .alias = "a.one"};
    invivo_definition second_alias = {.struct_size = sizeof(alias), .key = "a.nower", .alias = "a.now"};
    invivo_injection through[] = {INTO("a.nower")};
    OK(define(simple("a.one", INVIVO_SCOPE_SINGLETON), E));
    OK(define(simple("a.two", INVIVO_SCOPE_SINGLETON), E));
    OK(define(alias, E));
    OK(define(second_alias, E));
    OK(define(with("a.holder", INVIVO_SCOPE_SINGLETON, through, 1), E));
    CHECK_EQUAL(serial("a.now"), serial("a.one"));
    CHECK_EQUAL(serial("a.nower"), serial("a.one"));
    int holder = serial("a.holder"), one = serial("a.one"), two = serial("a.two");
    alias.alias = "a.two";
    OK(define(alias, E));
    CHECK_EQUAL(serial("a.nower"), two);
    CHECK_EQUAL(serial("a.one"), one); /* unchanged */
    CHECK(serial("a.holder") != holder); /* its initializer received another one */
    alias.alias = "a.nower";
    expects_error(define(alias, E), INVIVO_E_CYCLE, "a.now: cyclic dependency: a.now -> a.nower -> a.now");
    alias.alias = "a.non";
    expects_error(define(alias, E), INVIVO_E_NOT_FOUND, NULL);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.two", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, "'a.two' cannot be removed: the alias 'a.now' names it");
    end();
    CHECK_EQUAL(deinits, serials);
}

/* ---- the affected set -------------------------------------------------------------------------------- */

static void exactly_the_dependents_are_redone(void) {
    begin();
    invivo_injection base[] = {INTO("a.base")}, middle[] = {INTO("a.middle")}, side[] = {NAMED("helper", "a.base")};
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
    OK(define(with("a.middle", INVIVO_SCOPE_SINGLETON, base, 1), E));
    OK(define(with("a.top", INVIVO_SCOPE_SINGLETON, middle, 1), E));
    OK(define(helped("a.side", INVIVO_SCOPE_SINGLETON, side, 1), E));
    invivo_definition read_anywhere = helped("a.wide", INVIVO_SCOPE_SINGLETON, side, 1);
    read_anywhere.type = part_type;
    OK(define(read_anywhere, E));
    OK(define(simple("a.stranger", INVIVO_SCOPE_SINGLETON), E));
    OK(define(with("a.cold", INVIVO_SCOPE_LAZY_SINGLETON, base, 1), E));
    int base_was = serial("a.base"), middle_was = serial("a.middle"), top = serial("a.top"), stranger = serial("a.stranger");
    int wide = serial("a.wide");
    invivo_object kept = resolve("a.side");
    int side_was = instance_of(kept)->serial;
    listener *heard = malloc(sizeof(*heard));
    listener_open(heard, runtime);
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
    CHECK_TEXT(listener_last(heard)->changes,
               "a.base remade; a.middle remade; a.wide remade; a.top remade; a.side reinjected");
    CHECK(serial("a.wide") != wide); /* any thread may read it: it is never changed in place */
    CHECK(serial("a.base") != base_was);
    CHECK(serial("a.middle") != middle_was);
    CHECK(serial("a.top") != top);
    CHECK_EQUAL(serial("a.stranger"), stranger);
    CHECK_EQUAL(serial("a.side"), side_was);
    invivo_object made = resolve("a.base"), cold = resolve("a.cold");
    CHECK(instance_of(kept)->helper.bits == made.bits);
    CHECK(instance_of(cold)->input.bits == made.bits);
    OK(invivo_object_release(cold));
    OK(invivo_object_release(made));
    OK(invivo_object_release(kept));
    end();
    listener_end(heard);
    free(heard);
    CHECK_EQUAL(deinits, serials);
}

/* A resolve in a factory is an edge too. */
static invivo_status make_from_base(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                    void *user_data, invivo_error **error) {
    invivo_object base;
    (void)arguments, (void)count;
    invivo_status status = invivo_resolve_name(build->runtime, user_data, &base, error);
    if (status) return status;
    part *self = *instance;
    self->number = instance_of(base)->serial;
    snprintf(self->name, sizeof(self->name), "%s", invivo_key_name(build->key));
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    invivo_object_release(base);
    return INVIVO_OK;
}

static void a_resolve_while_building_is_a_dependency(void) {
    begin();
    invivo_definition made = simple("a.made", INVIVO_SCOPE_SINGLETON);
    made.factory = make_from_base, made.user_data = "a.base";
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
    OK(define(made, E));
    int before = serial("a.made");
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
    CHECK(serial("a.made") != before);
    invivo_object object = resolve("a.made");
    CHECK_EQUAL(instance_of(object)->number, serial("a.base"));
    OK(invivo_object_release(object));
    end();
    CHECK_EQUAL(deinits, serials);
}

static void removal_with_dependents_is_refused(void) {
    begin();
    invivo_injection base[] = {INTO("a.base")};
    invivo_changes changes;
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
    OK(define(with("a.top", INVIVO_SCOPE_SINGLETON, base, 1), E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.base", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, "a.top: 'a.base' cannot be removed: 'a.top' needs it");
    CHECK_EQUAL(deinits, 0);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.basse", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND,
                  "a.basse: no definition has the key 'a.basse'; did you mean 'a.base'?");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.base", E));
    OK(invivo_changes_remove(changes, "a.top", E));
    OK(invivo_changes_commit(changes, E));
    invivo_object object;
    expects_error(invivo_resolve_name(runtime, "a.top", &object, E), INVIVO_E_NOT_FOUND, NULL);
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E)); /* and is added again */
    CHECK_EQUAL(serial("a.base"), 3);
    end();
    CHECK_EQUAL(deinits, 3);
}

static void base_values_are_set_in_the_kept_instance(void) {
    begin();
    invivo_changes changes;
    invivo_definition one = simple("a.one", INVIVO_SCOPE_SINGLETON);
    one.type = confined_type;
    OK(define(one, E));
    invivo_object object = resolve("a.one");
    invivo_value value = invivo_int64(12), wrong = invivo_string("12");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "a.one", "number", &value, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(instance_of(object)->number, 12);
    CHECK_EQUAL(serial("a.one"), instance_of(object)->serial);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "a.one", "number", &wrong, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_TYPE, "a.one.number: '12' (a string) is not a whole number");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "a.one", "nummer", &value, E));
    OK(invivo_changes_set(changes, "a.two", "number", &value, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_PROPERTY,
                  "a.one.nummer: Confined has no property 'nummer'; did you mean 'number'?\n"
                  "a.two: no definition has the key 'a.two'");
    CHECK_EQUAL(instance_of(object)->number, 12);
    OK(invivo_object_release(object));
    end();
}

/* ---- failures ---------------------------------------------------------------------------------------- */

/* One commit adds two lazy definitions, rebuilds two eager ones and builds a cold one: constructor 1 fails, then 2,
 * then 3, ... Each failure changes nothing, and the new objects are disposed of. */
static void a_failing_constructor_leaves_everything_as_it_was(void) {
    for (int what = 0; what < 2; what++) {
        begin();
        invivo_injection base[] = {INTO("a.base")}, pulled[] = {INTO("b.lazy"), VALUE(NULL, invivo_int64(2))};
        invivo_injection cold[] = {INTO("a.cold")};
        OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
        OK(define(with("a.top", INVIVO_SCOPE_SINGLETON, base, 1), E));
        OK(define(with("a.cold", INVIVO_SCOPE_LAZY_SINGLETON, base, 1), E));
        OK(define(helped("a.side", INVIVO_SCOPE_SINGLETON, (invivo_injection[]){NAMED("helper", "a.base")}, 1), E));
        invivo_object side = resolve("a.side");
        uint64_t before = generation();
        int base_was = serial("a.base"), top = serial("a.top"), live = serials - deinits, faults = 0, user_data = 0;
        while (faults < 50) {
            invivo_changes changes;
            invivo_definition definitions[] = {simple("a.base", INVIVO_SCOPE_SINGLETON), simple("b.lazy", INVIVO_SCOPE_LAZY_SINGLETON),
                                               with("b.eager", INVIVO_SCOPE_SINGLETON, pulled, 2),
                                               with("b.puller", INVIVO_SCOPE_SINGLETON, cold, 1)};
            definitions[3].user_data = &user_data, definitions[3].destroy = count_destroyed;
            OK(invivo_changes_open(runtime, &changes, E));
            for (int i = 0; i < 4; i++) OK(invivo_changes_define(changes, &definitions[i], NULL, E));
            *(what ? &fail_start_at : &fail_init_at) = (what ? starts : inits) + faults + 1;
            invivo_status status = invivo_changes_commit(changes, E);
            if (status == INVIVO_OK) break;
            if (what) starts--; /* the failed one */
            faults++;
            CHECK_EQUAL(status, INVIVO_E_HOST);
            if (!strstr(invivo_error_text(check_error), what ? "the start fails" : "the constructor fails"))
                check_failed(__FILE__, __LINE__, "says %s", invivo_error_text(check_error));
            invivo_error_release(check_error);
            check_error = NULL;
            CHECK_EQUAL(user_data, faults); /* the definition that was not added is missing */
            CHECK_EQUAL(generation(), before);
            CHECK_EQUAL(serial("a.base"), base_was);
            CHECK_EQUAL(serial("a.top"), top);
            CHECK_EQUAL(serials - deinits, live);
            invivo_object made = resolve("a.base");
            CHECK(instance_of(side)->helper.bits == made.bits);
            OK(invivo_object_release(made));
            invivo_object none;
            expects_error(invivo_resolve_name(runtime, "b.eager", &none, E), INVIVO_E_NOT_FOUND, NULL);
        }
        CHECK_EQUAL(faults, 6); /* base, top, lazy, eager, cold, puller */
        fail_init_at = fail_start_at = 0;
        CHECK(serial("a.base") != base_was);
        invivo_object made = resolve("a.base"), pulled_in = resolve("a.cold");
        CHECK(instance_of(pulled_in)->input.bits == made.bits);
        CHECK(instance_of(side)->helper.bits == made.bits);
        OK(invivo_object_release(pulled_in));
        OK(invivo_object_release(made));
        OK(invivo_object_release(side));
        OK(invivo_runtime_close(runtime, E));
        CHECK_EQUAL(destroyed, 1);
        CHECK_EQUAL(user_data, faults + 1);
        CHECK_EQUAL(deinits, serials);
    }
}

static void cycles_are_errors_with_their_path(void) {
    begin();
    invivo_injection to_b[] = {INTO("a.b")}, to_c[] = {INTO("a.c")}, to_a[] = {INTO("a.a")};
    invivo_changes changes;
    invivo_definition a = with("a.a", INVIVO_SCOPE_LAZY_SINGLETON, to_b, 1), b = with("a.b", INVIVO_SCOPE_LAZY_SINGLETON, to_c, 1),
                      c = with("a.c", INVIVO_SCOPE_LAZY_SINGLETON, to_a, 1);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &a, NULL, E));
    OK(invivo_changes_define(changes, &b, NULL, E));
    OK(invivo_changes_define(changes, &c, NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CYCLE,
                  "a.a: cyclic dependency: a.a -> a.b -> a.c -> a.a, all through initializers; inject one of them as "
                  "a property, or by a provider");
    /* An error that only occurs while building. */
    invivo_definition x = simple("a.x", INVIVO_SCOPE_LAZY_SINGLETON), y = simple("a.y", INVIVO_SCOPE_LAZY_SINGLETON);
    x.factory = y.factory = make_from_base;
    x.user_data = "a.y", y.user_data = "a.x";
    OK(define(x, E));
    OK(define(y, E));
    invivo_object object;
    invivo_status status = invivo_resolve_name(runtime, "a.x", &object, E);
    CHECK_EQUAL(status, INVIVO_E_CYCLE);
    CHECK(strstr(invivo_error_text(check_error), "a.x -> a.y -> a.x") != NULL);
    invivo_error_release(check_error);
    check_error = NULL;
    end();
}

/* ---- threads ----------------------------------------------------------------------------------------- */

enum { THREADS = 64 };
static pthread_barrier_t barrier;
static invivo_key slow_key, cross_keys[2];
static uint64_t found[THREADS];

static invivo_status make_slow(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    struct timespec pause = {0, 20 * 1000 * 1000};
    (void)arguments, (void)count, (void)error, (void)build, (void)user_data;
    nanosleep(&pause, NULL); /* slow on purpose: all other threads arrive meanwhile */
    ((part *)*instance)->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void *resolve_slow(void *index) {
    invivo_object object = {0};
    pthread_barrier_wait(&barrier);
    if (OK(invivo_resolve(runtime, slow_key, &object, E))) {
        found[(size_t)index] = object.bits;
        OK(invivo_object_release(object));
    }
    return NULL;
}

static void a_cold_build_happens_once_under_64_threads(void) {
    begin();
    invivo_definition slow = simple("a.slow", INVIVO_SCOPE_LAZY_SINGLETON);
    slow.factory = make_slow;
    OK(invivo_define(runtime, &slow, &slow_key, E));
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, resolve_slow, (void *)i);
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (size_t i = 0; i < THREADS; i++) CHECK(found[i] == found[0] && found[i]);
    CHECK_EQUAL(serials, 1);
    end();
    CHECK_EQUAL(deinits, 1);
}

/* Two threads whose builds depend on each other: each has begun its own before it requests the other's. */
static invivo_status make_cross(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    size_t other = (size_t)user_data;
    static __thread bool met;
    invivo_object object;
    invivo_status status;
    (void)build, (void)arguments, (void)count;
    /* Once: the one that backs off restarts. */
    if (!met) met = true, pthread_barrier_wait(&barrier);
    status = invivo_resolve(runtime, cross_keys[other], &object, error);
    if (status) return status;
    invivo_object_release(object);
    ((part *)*instance)->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void *resolve_cross(void *index) {
    invivo_object object;
    invivo_error *error = NULL;
    invivo_status status = invivo_resolve(runtime, cross_keys[(size_t)index], &object, &error);
    CHECK_EQUAL(status, INVIVO_E_CYCLE);
    if (!strstr(invivo_error_text(error), "cyclic dependency")) check_failed(__FILE__, __LINE__, "says %s", invivo_error_text(error));
    invivo_error_release(error);
    return NULL;
}
static void two_threads_that_wait_for_each_other_get_an_error(void) {
    begin();
    invivo_definition one = simple("a.one", INVIVO_SCOPE_LAZY_SINGLETON), two = simple("a.two", INVIVO_SCOPE_LAZY_SINGLETON);
    one.factory = two.factory = make_cross;
    one.user_data = (void *)1, two.user_data = (void *)0;
    OK(invivo_define(runtime, &one, &cross_keys[0], E));
    OK(invivo_define(runtime, &two, &cross_keys[1], E));
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, resolve_cross, (void *)i);
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    end();
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static void a_lease_keeps_a_replaced_instance(void) {
    begin();
    OK(define(simple("a.one", INVIVO_SCOPE_SINGLETON), E));
    invivo_object held = resolve("a.one");
    int before = instance_of(held)->serial;
    OK(define(simple("a.one", INVIVO_SCOPE_SINGLETON), E));
    CHECK_EQUAL(instance_of(held)->serial, before);
    CHECK_EQUAL(deinits, 0);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY,
                  "1 object is still leased: 'a.one'; release them first, or defer the close until they are gone");
    OK(invivo_object_release(held));
    CHECK_EQUAL(deinits, 1);
    CHECK_EQUAL(invivo_object_release(held), INVIVO_E_HANDLE);
    end();
    CHECK_EQUAL(deinits, 2);
}

static void a_view_keeps_its_generation(void) {
    begin();
    invivo_key key;
    invivo_definition one = simple("a.one", INVIVO_SCOPE_SINGLETON);
    OK(invivo_define(runtime, &one, &key, E));
    invivo_view view = invivo_view_begin(runtime);
    part *seen = invivo_view_get(view, key);
    int before = seen->serial;
    OK(define(one, E));
    CHECK_EQUAL(deinits, 0);
    CHECK_EQUAL(((part *)invivo_view_get(view, key))->serial, before);
    invivo_view inner = invivo_view_begin(runtime); /* an inner one sees the generation of the outer */
    CHECK(invivo_view_find(inner, "a.one", 5) == seen);
    invivo_view_end(inner);
    invivo_view_end(view);
    view = invivo_view_begin(runtime);
    CHECK(((part *)invivo_view_get(view, key))->serial != before);
    invivo_view_end(view);
    (void)generation(); /* retires finished generations */
    CHECK_EQUAL(deinits, 1);
    end();
}

static invivo_status make_awaited(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    (void)arguments, (void)count, (void)error, (void)build, (void)user_data;
    pthread_barrier_wait(&barrier); /* begun */
    pthread_barrier_wait(&barrier); /* replaced meanwhile */
    ((part *)*instance)->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void objects_of_a_replaced_graph_stay_while_a_view_may_read_them(void) {
    begin();
    invivo_definition slow = simple("a.slow", INVIVO_SCOPE_LAZY_SINGLETON);
    slow.factory = make_awaited;
    OK(invivo_define(runtime, &slow, &slow_key, E));
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    invivo_view view = invivo_view_begin(runtime);
    pthread_create(&thread, NULL, resolve_slow, (void *)0);
    for (int i = 0; i < 2; i++) pthread_barrier_wait(&barrier); /* the thread starts, and builds */
    OK(define(simple("a.slow", INVIVO_SCOPE_LAZY_SINGLETON), E));
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    (void)generation(); /* retires finished generations */
    part *seen = invivo_view_get(view, slow_key);
    CHECK(seen != NULL);
    CHECK_EQUAL(deinits, 0);
    invivo_view_end(view);
    (void)generation();
    CHECK_EQUAL(deinits, 1);
    end();
}

static void objects_outlive_a_deferred_close(void) {
    begin();
    invivo_injection base[] = {INTO("a.base")};
    OK(define(simple("a.base", INVIVO_SCOPE_SINGLETON), E));
    OK(define(with("a.top", INVIVO_SCOPE_SINGLETON, base, 1), E));
    invivo_object held = resolve("a.top");
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(deinits, 0); /* the top holds the base */
    CHECK_TEXT(instance_of(held)->name, "a.top");
    OK(invivo_object_release(held));
    CHECK_EQUAL(deinits, 2);
    CHECK_TEXT(disposal_order, "a.top a.base ");
    CHECK_EQUAL(destroyed, 1);
}

/* Entries point to their cells after a creation: those of other names too, at any position. */
static void an_alias_shows_later_objects(void) {
    enum { HALF = 128 };
    invivo_error *error = NULL;
    invivo_runtime own;
    invivo_changes changes;
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Late", .concurrency = INVIVO_SHARED, .size = 32,
                                   .alignment = 8};
    if (!CHECK(!invivo_runtime_open(&own, NULL, &error)) || !CHECK(!invivo_type_register(own, &options, &type, &error))
        || !CHECK(!invivo_changes_open(own, &changes, &error)))
        return;
    for (int i = 0; i < 2 * HALF; i++) {
        char key[32], other[32];
        snprintf(key, sizeof key, "late.k%d", i);
        snprintf(other, sizeof other, "late.k%d", i - HALF);
        invivo_definition made = {.struct_size = sizeof made, .key = key, .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
        invivo_definition alias = {.struct_size = sizeof alias, .key = key, .alias = other};
        CHECK(!invivo_changes_define(changes, i < HALF ? &made : &alias, NULL, &error));
    }
    CHECK(!invivo_changes_commit(changes, &error));
    for (int i = 0; i < HALF; i += 17) {
        char key[32], other[32];
        invivo_object object;
        int length = snprintf(key, sizeof key, "late.k%d", i), other_length = snprintf(other, sizeof other, "late.k%d", i + HALF);
        CHECK(!invivo_resolve_name(own, key, &object, &error));
        invivo_object_release(object);
        invivo_view view = invivo_view_begin(own);
        CHECK(invivo_view_find(view, key, (size_t)length) != NULL);
        CHECK(invivo_view_find(view, key, (size_t)length) == invivo_view_find(view, other, (size_t)other_length));
        invivo_view_end(view);
    }
    CHECK(!invivo_runtime_close(own, &error));
}

/* Keys are dense numbers: an interned key between two of them would be visible. */
static void names_that_are_only_asked_for_are_not_kept(void) {
    invivo_runtime own;
    invivo_key first, second, missing = {7};
    invivo_object object;
    OK(invivo_runtime_open(&own, NULL, E));
    OK(invivo_key_intern(own, "a.first", &first, E));
    CHECK_EQUAL(invivo_key_find(own, "a.missing", &missing, NULL), INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(missing.bits, 0);
    expects_error(invivo_key_find(own, "a.missing", &missing, E), INVIVO_E_NOT_FOUND, "a.missing: no definition has the key 'a.missing'");
    expects_error(invivo_resolve_name(own, "b.missing", &object, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_resolve_type(own, "Missing", "c.missing", 0, &object, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_key_intern(own, "a.second", &second, E));
    CHECK_EQUAL((uint32_t)second.bits, (uint32_t)first.bits + 1);
    OK(invivo_runtime_close(own, E));
}

int main(void) {
    check_begin();
    RUN_TEST(names_that_are_only_asked_for_are_not_kept);
    RUN_TEST(an_alias_shows_later_objects);
    RUN_TEST(scopes_determine_number_and_time_of_builds);
    RUN_TEST(injection_goes_by_position_name_and_property);
    RUN_TEST(wiring_errors_are_reported_at_once);
    RUN_TEST(aliases_are_the_key_they_name);
    RUN_TEST(exactly_the_dependents_are_redone);
    RUN_TEST(a_resolve_while_building_is_a_dependency);
    RUN_TEST(removal_with_dependents_is_refused);
    RUN_TEST(base_values_are_set_in_the_kept_instance);
    RUN_TEST(a_failing_constructor_leaves_everything_as_it_was);
    RUN_TEST(cycles_are_errors_with_their_path);
    RUN_TEST(a_cold_build_happens_once_under_64_threads);
    RUN_TEST(two_threads_that_wait_for_each_other_get_an_error);
    RUN_TEST(a_lease_keeps_a_replaced_instance);
    RUN_TEST(a_view_keeps_its_generation);
    RUN_TEST(objects_of_a_replaced_graph_stay_while_a_view_may_read_them);
    RUN_TEST(objects_outlive_a_deferred_close);
    return check_end();
}
