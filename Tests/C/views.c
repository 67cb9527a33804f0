/* Views of keys whose objects other threads build, replace and release. A view shows a built object of its key, or
 * nothing. ThreadSanitizer runs this program too, so it covers every word that a view reads. Usage: views [ROUNDS] */
/* sanitize: yes */
#include "check.h"

enum { KEYS = 6, READERS = 3, ROUNDS = 60 };

typedef struct thing { uint64_t mark, number; } thing;
enum { MARK = 0x600d };

static invivo_runtime runtime;
static invivo_key shared[KEYS], confined[KEYS], weak[KEYS];
static int stop, seen, alive, stopped, commits;

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

/* ---- a view keeps its own generation alone ---- */

/* With a sanitizer each commit takes several times as long. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif
#else
enum { SLOW = 0 };
#endif

static invivo_status thing_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    __atomic_add_fetch(&stopped, 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}
static invivo_type open_numbers(invivo_runtime_options *options) {
    invivo_type_options numbered = {.struct_size = sizeof numbered, .name = "Numbered", .size = sizeof(thing),
                                    .alignment = _Alignof(thing), .concurrency = INVIVO_SHARED, .init = thing_init,
                                    .deinit = thing_deinit, .stop = thing_stop, .properties = thing_properties,
                                    .property_count = 1};
    invivo_type type;
    stopped = 0;
    OK(invivo_runtime_open(&runtime, options, E));
    OK(invivo_type_register(runtime, &numbered, &type, E));
    return type;
}
/* Replaces the instances of `count` keys, and a value of the configuration, in one commit. */
static void replace(invivo_type type, const char *const *names, int count, int number) {
    invivo_changes changes;
    char text[64];
    invivo_injection given = {.name = "number", .value = invivo_int64(number)};
    int length = snprintf(text, sizeof text, "config: { number: %d }", number);
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < count; i++)
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = names[i],
                                 .scope = INVIVO_SCOPE_SINGLETON, .type = type, .properties = &given, .property_count = 1}, NULL, E));
    OK(invivo_changes_document(changes, "numbers", text, (uint64_t)length, E));
    OK(invivo_changes_commit(changes, E));
}
static uint64_t retiring(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E)); /* what can end has ended */
    return info.retiring;
}

/* One view stays open over many commits. The generations between its own and the current one end, with the objects that only they
 * show. The view goes on reading its own. */
static void a_view_keeps_its_own_generation_alone(void) {
    enum { COMMITS = SLOW ? 500 : 10000 };
    invivo_type type = open_numbers(NULL);
    const char *names[] = {"changes", "stays"};
    invivo_live_counts before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    invivo_config number;
    replace(type, names, 2, 0);
    OK(invivo_config_id(runtime, "number", INVIVO_KIND_INT64, &number, E));
    invivo_key changes, stays;
    OK(invivo_key_find(runtime, "changes", &changes, E));
    OK(invivo_key_find(runtime, "stays", &stays, E));
    invivo_view outer = invivo_view_begin(runtime), inner = invivo_view_begin(runtime);
    invivo_view_end(inner);
    thing *first = invivo_view_get(outer, changes), *kept = invivo_view_get(outer, stays);
    CHECK(first && kept && first->mark == MARK && first->number == 0);
    replace(type, names, 1, 1);
    retiring();
    invivo_live(&before);
    for (int i = 2; i <= COMMITS; i++) replace(type, names, 1, i);
    CHECK_EQUAL(retiring(), 1);
    invivo_live(&after);
    CHECK_EQUAL(after.graphs, before.graphs);
    CHECK_EQUAL(alive, 3); /* the view's, the current one, and the one that all generations share */
    CHECK_EQUAL(stopped, COMMITS - 1);
    inner = invivo_view_begin(runtime); /* an inner view sees the generation of the outer one */
    CHECK(invivo_view_get(inner, changes) == first && invivo_view_get(inner, stays) == kept);
    CHECK(first->mark == MARK && first->number == 0 && kept->mark == MARK);
    CHECK_EQUAL(invivo_view_config_int64(inner, number, -1), 0);
    invivo_object leased;
    if (OK(invivo_resolve(runtime, changes, &leased, E))) { /* a resolve inside a view gets the current object */
        void *current = NULL;
        OK(invivo_object_instance(leased, (invivo_type){0}, &current, E));
        CHECK_EQUAL(((thing *)current)->mark, MARK);
        OK(invivo_object_release(leased));
    }
    invivo_view_end(inner);
    /* The object that both generations show is replaced: the view still has it. */
    replace(type, names, 2, COMMITS + 1);
    CHECK_EQUAL(retiring(), 1);
    CHECK(kept->mark == MARK && invivo_view_get(outer, stays) == kept);
    CHECK_EQUAL(stopped, COMMITS);
    invivo_view_end(outer);
    CHECK_EQUAL(retiring(), 0);
    CHECK_EQUAL(alive, 2);
    CHECK_EQUAL(stopped, COMMITS + 2);
    OK(invivo_runtime_close(runtime, E));
}

/* Threads hold views for random numbers of commits. Each goes on reading the objects of its own generation, all of one commit. */
static const char *const replaced[] = {"r.0", "r.1", "r.2", "r.3"};
static invivo_key replaced_keys[4];
static void *hold_views(void *seed) {
    unsigned chance = (unsigned)(uintptr_t)seed * 2654435761u + 1;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        thing *found[4];
        uint64_t numbers[4];
        invivo_view view = invivo_view_begin(runtime);
        int begun = __atomic_load_n(&commits, __ATOMIC_ACQUIRE);
        for (int i = 0; i < 4; i++) {
            found[i] = invivo_view_get(view, replaced_keys[i]);
            if (!CHECK(found[i] && found[i]->mark == MARK)) return NULL;
            numbers[i] = found[i]->number;
        }
        CHECK(numbers[0] == numbers[1]);
        chance = chance * 1664525u + 1013904223u;
        int until = begun + (int)(chance >> 24) % 40;
        do {
            for (int i = 0; i < 4; i++)
                if (found[i]->mark != MARK || found[i]->number != numbers[i])
                    check_failed(__FILE__, __LINE__, "a view's object has changed or ended");
            invivo_view inner = invivo_view_begin(runtime);
            CHECK(inner.graph == view.graph);
            invivo_view_end(inner);
            invivo_object object;
            if (OK(invivo_resolve(runtime, replaced_keys[chance >> 30], &object, E))) OK(invivo_object_release(object));
        } while (__atomic_load_n(&commits, __ATOMIC_ACQUIRE) < until && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE));
        invivo_view_end(view);
    }
    return NULL;
}
static void views_of_several_threads_keep_their_own_generations(void) {
    enum { HOLDERS = 3, COMMITS = SLOW ? 300 : 1500 };
    pthread_t holders[HOLDERS];
    invivo_type type = open_numbers(NULL);
    replace(type, replaced, 4, 0);
    for (int i = 0; i < 4; i++) OK(invivo_key_find(runtime, replaced[i], &replaced_keys[i], E));
    stop = commits = 0;
    for (int i = 0; i < HOLDERS; i++) pthread_create(&holders[i], NULL, hold_views, (void *)(uintptr_t)(i + 1));
    unsigned chance = 1;
    for (int i = 1; i <= COMMITS && !check_failures; i++) {
        chance = chance * 1664525u + 1013904223u;
        /* The first two always together; sometimes the others too, so that objects live over several generations. */
        replace(type, replaced, chance >> 30 ? 2 : 4, i);
        __atomic_store_n(&commits, i, __ATOMIC_RELEASE);
        if (i % 50 == 0) CHECK(retiring() <= HOLDERS);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < HOLDERS; i++) pthread_join(holders[i], NULL);
    stop = 0;
    CHECK_EQUAL(retiring(), 0);
    CHECK_EQUAL(alive, 4);
    OK(invivo_runtime_close(runtime, E));
}

/* While objects are built and replaced, each view shows one generation. */
static void a_view_shows_one_generation(int rounds) {
    pthread_t readers[READERS], counter;
    open_runtime();
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
}

int main(int count, char **arguments) {
    check_begin();
    RUN_TEST(a_view_ends_with_its_thread);
    RUN_TEST(a_view_keeps_its_own_generation_alone);
    RUN_TEST(views_of_several_threads_keep_their_own_generations);
    RUN_TEST_WITH(a_view_shows_one_generation, count > 1 ? atoi(arguments[1]) : ROUNDS);
    return check_end();
}
