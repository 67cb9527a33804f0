/* Weak singletons in each memory model: an object lives exactly as long as it has a holder. */
/* sanitize: yes */
#include "nodes.h"

static void a_weak_singleton_lives_as_long_as_it_is_held(void) {
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

/* Instances with host reference counts and weak references: a cell that outlives its instance. */
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

/* A stopped object is never resolved again, although its host still refers to it. */
static int counted_stops;
static invivo_status counted_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    counted_stops++;
    return INVIVO_OK;
}
static void a_stopped_object_is_never_found_again(void) {
    begin();
    invivo_type type;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Counted", .concurrency = INVIVO_SHARED, .make = counted_make,
                                   .release = counted_release, .stop = counted_stop, .weak_make = counted_weak_make,
                                   .weak_load = counted_weak_load, .weak_free = counted_weak_free};
    OK(invivo_type_register(runtime, &options, &type, E));
    DEFINE("a.weak", WEAK_SINGLETON, .type = type);
    counted_stops = 0;
    invivo_object handle = resolve("a.weak");
    counted *instance = (counted *)at(handle);
    instance->count++; /* the host's own reference */
    drop(handle);
    CHECK_EQUAL(counted_stops, 1);
    CHECK_EQUAL(counted_live, 1);
    handle = resolve("a.weak");
    CHECK((counted *)at(handle) != instance);
    drop(handle);
    CHECK_EQUAL(counted_stops, 2);
    counted_release(instance, NULL);
    CHECK_EQUAL(counted_live, 0);
    end();
    CHECK_EQUAL(weak_live, 0);
}

/* Ended objects for many arguments are removed from time to time: neither arguments nor weak references accumulate. */
static void an_ended_instance_with_host_counts_releases_its_arguments(void) {
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
    for (int i = 0; i < 10; i++) { /* held objects are found again */
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

/* Two types with host reference counts, each with its own functions: calls of the wrong ones are detected. */
static int kind_mistakes;
#define KIND_MARK(kind) ((void *)(intptr_t)(kind))
typedef struct kind_counted { counted base; intptr_t kind; invivo_object inner; } kind_counted;
typedef struct kind_weak { weak *base; intptr_t kind; } kind_weak;
static invivo_status kind_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    kind_counted *made = calloc(1, sizeof *made);
    (void)build, (void)error;
    if (!made) return INVIVO_E_MEMORY;
    made->base.count = 1, made->kind = (intptr_t)user_data, counted_live++;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) made->inner = arguments[0].as.object;
    *instance = made;
    return INVIVO_OK;
}
static void kind_release(void *instance, void *user_data) {
    if (((kind_counted *)instance)->kind != (intptr_t)user_data) kind_mistakes++;
    counted_release(instance, user_data);
}
static void *kind_weak_make(void *instance, void *user_data) {
    if (((kind_counted *)instance)->kind != (intptr_t)user_data) kind_mistakes++;
    kind_weak *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->base = counted_weak_make(instance, user_data), made->kind = (intptr_t)user_data;
    return made;
}
static void *kind_weak_load(void *reference, void *user_data) {
    if (((kind_weak *)reference)->kind != (intptr_t)user_data) kind_mistakes++;
    return counted_weak_load(((kind_weak *)reference)->base, user_data);
}
static void kind_weak_free(void *reference, void *user_data) {
    if (((kind_weak *)reference)->kind != (intptr_t)user_data) kind_mistakes++;
    counted_weak_free(((kind_weak *)reference)->base, user_data);
    free(reference);
}
static invivo_type register_kind(const char *name, intptr_t kind, bool isShared) {
    static const char *const kinds[] = {"Kind"};
    static const invivo_parameter inner[] = {{.name = "inner", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_type type = {0};
    invivo_type_options options = {.struct_size = sizeof options, .name = name, .make = kind_make, .release = kind_release,
                                   .weak_make = kind_weak_make, .weak_load = kind_weak_load, .weak_free = kind_weak_free,
                                   .user_data = KIND_MARK(kind), .parameters = inner, .parameter_count = 1};
    if (isShared) options.concurrency = INVIVO_SHARED;
    if (strcmp(name, "Kind") != 0) options.supertypes = kinds, options.supertype_count = 1;
    OK(invivo_type_register(runtime, &options, &type, E));
    return type;
}
static invivo_type sibling_type;
static invivo_status wrap_in_sibling(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    invivo_value argument = invivo_object_value(object);
    (void)user_data;
    return invivo_object_make(build->runtime, sibling_type, &argument, 1, out, error);
}
static void the_replacement_of_a_weak_singleton_is_shared_with_another_type(void) {
    begin();
    kind_mistakes = 0;
    invivo_type type = register_kind("Kind", 1, true);
    sibling_type = register_kind("Sibling", 2, true);
    DEFINE("a.weak", WEAK_SINGLETON, .type = type);
    describe();
    OK(invivo_changes_process(changes, &(invivo_processor){.struct_size = sizeof(invivo_processor), .name = "siblings", .key = "a.weak",
                                                           .decorate = wrap_in_sibling}, E));
    commit();
    invivo_object handle = resolve("a.weak");
    kind_counted *instance = (kind_counted *)at(handle);
    CHECK_EQUAL(instance->kind, 2);
    instance->base.count++; /* the host's own reference */
    drop(handle);
    handle = resolve("a.weak");
    CHECK((kind_counted *)at(handle) == instance);
    drop(handle);
    kind_release(instance, KIND_MARK(2));
    CHECK_EQUAL(counted_live, 0);
    handle = resolve("a.weak"); /* and another one after its end */
    drop(handle);
    CHECK_EQUAL(counted_live, 0);
    CHECK_EQUAL(kind_mistakes, 0);
    end();
    CHECK_EQUAL(weak_live, 0);
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(a_weak_singleton_lives_as_long_as_it_is_held);
    RUN_TEST(a_weak_singleton_that_its_host_counts_is_found_again);
    RUN_TEST(a_stopped_object_is_never_found_again);
    RUN_TEST(an_ended_instance_with_host_counts_releases_its_arguments);
    RUN_TEST(the_replacement_of_a_weak_singleton_is_shared_with_another_type);
    return check_end();
}
