/* Views of keys whose objects other threads build, replace and release. A view shows a built object of its key, or
 * nothing. ThreadSanitizer runs this program too, so it covers every word that a view reads. Usage: views [ROUNDS] */
/* sanitize: yes */
#include "check.h"

enum { KEYS = 6, READERS = 3, ROUNDS = 60 };

typedef struct thing { uint64_t mark, number; } thing;
enum { MARK = 0x600d };

static invivo_runtime runtime;
static invivo_key shared[KEYS], confined[KEYS], weak[KEYS];
static int stop, seen, alive;

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    thing *self = instance;
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    self->mark = MARK;
    __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}
static void thing_deinit(void *instance, void *user_data) {
    (void)user_data;
    ((thing *)instance)->mark = 0;
    __atomic_sub_fetch(&alive, 1, __ATOMIC_RELEASE);
}
static const invivo_property thing_properties[] = {INVIVO_FIELD(thing, number)};

/* A domain that any thread may enter: its objects are confined, and views show them to every thread. */
static invivo_status post_here(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    return invivo_job_run(job);
}
static uint8_t always_here(void *user_data) {
    (void)user_data;
    return 1;
}

static void open_runtime(void) {
    invivo_domain_options everywhere = {.struct_size = sizeof everywhere, .name = "everywhere", .post = post_here,
                                        .flags = INVIVO_DOMAIN_ANY_THREAD, .is_current = always_here};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Shared", .size = sizeof(thing),
                                   .alignment = _Alignof(thing), .concurrency = INVIVO_SHARED, .init = thing_init,
                                   .deinit = thing_deinit, .properties = thing_properties, .property_count = 1};
    invivo_type of_all, of_domain;
    invivo_domain domain;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_domain_register(runtime, &everywhere, &domain, E));
    OK(invivo_type_register(runtime, &options, &of_all, E));
    options.name = "Confined";
    options.concurrency = INVIVO_CONFINED;
    options.domain = domain;
    OK(invivo_type_register(runtime, &options, &of_domain, E));
    for (int i = 0; i < KEYS; i++) {
        char name[32];
        invivo_definition definition = {.struct_size = sizeof definition, .key = name, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
        snprintf(name, sizeof name, "shared.%d", i);
        definition.type = of_all;
        OK(invivo_define(runtime, &definition, &shared[i], E));
        snprintf(name, sizeof name, "confined.%d", i);
        definition.type = of_domain;
        OK(invivo_define(runtime, &definition, &confined[i], E));
        snprintf(name, sizeof name, "weak.%d", i);
        definition.scope = INVIVO_SCOPE_WEAK_SINGLETON;
        OK(invivo_define(runtime, &definition, &weak[i], E));
    }
}

/* A shown object lives as long as the view. A weak singleton may end during a view, so it is only found. */
static void look(invivo_view view, invivo_key key) {
    thing *found = invivo_view_get(view, key);
    if (!found) return;
    if (found->mark != MARK) check_failed(__FILE__, __LINE__, "a view shows an object that is not whole");
    __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
}
static void *read_views(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_view view = invivo_view_begin(runtime);
        for (int i = 0; i < KEYS; i++) {
            look(view, shared[i]);
            look(view, confined[i]);
            (void)invivo_view_get_confined(view, shared[i]);
            (void)invivo_view_get_confined(view, weak[i]);
        }
        CHECK(invivo_view_find(view, "nobody", 6) == NULL);
        invivo_view_end(view);
    }
    return NULL;
}
static void *count_what_lives(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_live_counts live = {.struct_size = sizeof live};
        invivo_live(&live);
        CHECK(live.runtimes >= 1);
    }
    return NULL;
}

static void resolve_and_release(invivo_key key) {
    invivo_object object;
    if (OK(invivo_resolve(runtime, key, &object, E))) OK(invivo_object_release(object));
}
/* Two threads build, so that one meets the builds of the other; both release the weak ones, which are then built again. */
static void *build(void *user_data) {
    for (int i = 0; i < KEYS; i++) {
        resolve_and_release(((invivo_key *)user_data)[i]);
        resolve_and_release(shared[i]);
        resolve_and_release(confined[KEYS - 1 - i]);
        resolve_and_release(weak[i]);
    }
    return NULL;
}
/* Each round tunes built objects, so that they allocate rare data, and makes all keys cold again. */
static void change(int round) {
    invivo_changes changes;
    char text[128];
    int length = snprintf(text, sizeof text, "traits: { confined.0: [ Set: { number: %d } ], confined.1: [ Set: { number: %d } ] }",
                          round, round);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "tuning", text, (uint64_t)length, E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_LAZY_SINGLETON, E));
    OK(invivo_changes_commit(changes, E));
}

/* A thread that ends inside a view ends the view: it keeps no generation, and the runtime closes. */
static void *begin_a_view_only(void *unused) {
    (void)unused;
    invivo_view outer = invivo_view_begin(runtime), inner = invivo_view_begin(runtime);
    CHECK(invivo_view_get(outer, shared[0]) != NULL && invivo_view_get(inner, shared[0]) != NULL);
    return NULL;
}
static void a_view_ends_with_its_thread(void) {
    open_runtime();
    for (int round = 0; round < 20; round++) {
        pthread_t thread;
        resolve_and_release(shared[0]);
        CHECK(alive > 0);
        pthread_create(&thread, NULL, begin_a_view_only, NULL);
        pthread_join(thread, NULL);
        change(round);
        /* Generations end a moment after the commit. */
        struct timespec now, began;
        clock_gettime(CLOCK_MONOTONIC, &began);
        do clock_gettime(CLOCK_MONOTONIC, &now);
        while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) > 0 && now.tv_sec - began.tv_sec < CHECK_LIMIT_SECONDS);
        if (!CHECK_EQUAL(alive, 0)) break;
    }
    OK(invivo_runtime_close(runtime, E));
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : ROUNDS;
    pthread_t readers[READERS], counter;
    check_begin();
    RUN_TEST(a_view_ends_with_its_thread);
    RUN_TEST(open_runtime);
    for (int i = 0; i < READERS; i++) pthread_create(&readers[i], NULL, read_views, NULL);
    pthread_create(&counter, NULL, count_what_lives, NULL);
    for (int round = 0; round < rounds && !check_failures; round++) {
        pthread_t builders[2];
        pthread_create(&builders[0], NULL, build, shared);
        pthread_create(&builders[1], NULL, build, confined);
        /* A reload meets a build in progress. */
        if (round % 2) change(round);
        for (int i = 0; i < 2; i++) pthread_join(builders[i], NULL);
        if (round % 2 == 0) change(round);
    }
    /* Built at the end, so that at least one view shows something. */
    build(shared);
    invivo_view view = invivo_view_begin(runtime);
    for (int i = 0; i < KEYS; i++) CHECK(invivo_view_get(view, shared[i]) && invivo_view_get(view, confined[i]));
    invivo_view_end(view);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
    pthread_join(counter, NULL);
    OK(invivo_runtime_close(runtime, E));
    return check_end();
}
