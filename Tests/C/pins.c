/* Pins: what a thread reads while it is in one, what it keeps, and what ends it. docs/rules/reload.md, Pins. */
/* sanitize: yes */
#include "parts.h"

static invivo_type part_type, exclusive_type, owner_type, confined_type;
static _Atomic int started, stopped, most_started; /* objects stop on threads of the runtime */
static char logged[16][256];
static int log_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;

static void keep_log(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (entry->level < INVIVO_LOG_WARNING) return;
    pthread_mutex_lock(&lock);
    if (log_count < 16) snprintf(logged[log_count++], sizeof logged[0], "%s", entry->message);
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}
/* Waits for `count` warnings. */
static void await_log(int count) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (log_count < count && pthread_cond_timedwait(&came, &lock, &limit) == 0) {}
    CHECK_EQUAL(log_count, count);
    pthread_mutex_unlock(&lock);
}

static invivo_status start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    int now = ++started - stopped;
    if (now > most_started) most_started = now;
    return INVIVO_OK;
}
static invivo_status stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    stopped++;
    return INVIVO_OK;
}

/* An owner takes a.part by its initializer. */
static const invivo_injection an_input[] = {{.name = "input", .how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};

static void define_part(const char *key, uint32_t scope, invivo_type type, int64_t number) {
    invivo_injection injected[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(number)}};
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = scope, .type = type,
                                                   INITIALIZER(injected),
                                                   .flags = type.bits == exclusive_type.bits ? INVIVO_DEFINITION_EXCLUSIVE : 0}, NULL, E));
}
static void define_owner(const char *key, uint32_t scope) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .scope = scope,
                                                   .type = owner_type, INITIALIZER(an_input)}, NULL, E));
}
static void remove_key(const char *key) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_remove(set, key, E));
    OK(invivo_changes_commit(set, E));
}
static void configure(int64_t number) {
    char text[64];
    int length = snprintf(text, sizeof text, "config: { number: %lld }", (long long)number);
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, "said", text, (uint64_t)length, E));
    OK(invivo_changes_commit(set, E));
}
static void begin_with_age(uint32_t age_ms) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = keep_log, options.pin_max_age_ms = age_ms;
    trace[0] = 0, live = 0, fail_at = NULL, started = stopped = most_started = log_count = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    part_type = register_type(part_options("Part"));
    owner_type = register_type(part_options("Owner"));
    invivo_type_options other = part_options("Exclusive");
    other.start = start, other.stop = stop;
    exclusive_type = register_type(other);
    other = part_options("Confined");
    other.concurrency = INVIVO_CONFINED;
    confined_type = register_type(other);
    configure(0);
}
static void begin(void) { begin_with_age(0); }

static const invivo_place here = {.file = "pins.c", .line = 7};
static invivo_pin pin(void) {
    invivo_pin begun = invivo_pin_begin(runtime, &here);
    CHECK(begun.bits != 0);
    return begun;
}
static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}
static int64_t number_of(const char *key) {
    invivo_object object = resolve(key);
    int64_t number = object.bits ? at(object)->number : -1;
    if (object.bits) drop(object);
    return number;
}
static int64_t configured(void) {
    invivo_value value;
    OK(invivo_config_read(runtime, "number", &value, E));
    int64_t number = value.as.signed_integer;
    invivo_value_clear(&value);
    return number;
}
static invivo_runtime_info facts(void) {
    invivo_runtime_info found = {.struct_size = sizeof found};
    OK(invivo_runtime_inspect(runtime, &found, E));
    return found;
}
/* Generations end on the loop thread, and each call of inspect waits for it. */
static void await_retired(uint64_t count) {
    struct timespec now, limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (facts().retiring != count && now.tv_sec < limit.tv_sec);
    CHECK_EQUAL(facts().retiring, count);
}

static void every_read_answers_from_the_generation_of_the_pin(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    define_part("a.made", INVIVO_SCOPE_PROTOTYPE, part_type, 1);
    define_owner("a.owner", INVIVO_SCOPE_LAZY_SINGLETON);
    invivo_object owner = resolve("a.owner"), part_before = resolve("a.part");
    invivo_key key = key_of("a.part");
    invivo_pin pinned = pin();
    uint64_t before = generation();
    CHECK_EQUAL(invivo_pin_generation(pinned), before);
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    define_part("a.made", INVIVO_SCOPE_PROTOTYPE, part_type, 2);
    configure(5);
    define_part("a.new", INVIVO_SCOPE_SINGLETON, part_type, 3);
    remove_key("a.made");
    /* Resolves: of a shared object, of what was built with it, of a prototype; by key and by name. */
    CHECK_EQUAL(number_of("a.part"), 1);
    CHECK_EQUAL(number_of("a.made"), 1);
    invivo_object again = resolve("a.owner"), by_key = {0};
    CHECK_EQUAL(again.bits, owner.bits);
    CHECK_EQUAL(at(again)->input.bits, part_before.bits);
    OK(invivo_resolve(runtime, key, &by_key, E));
    CHECK_EQUAL(by_key.bits, part_before.bits);
    drop(by_key), drop(again);
    /* A key that came later is unknown. */
    expects_error(invivo_resolve_name(runtime, "a.new", &again, E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(configured(), 0);
    /* A view, at any depth of pins. */
    invivo_pin inner = pin();
    invivo_view view = invivo_view_begin(runtime);
    CHECK_EQUAL(invivo_view_generation(view), before);
    CHECK_EQUAL(((part *)invivo_view_get(view, key))->number, 1);
    invivo_view_end(view);
    OK(invivo_pin_end(inner));
    CHECK_EQUAL(number_of("a.part"), 1);
    OK(invivo_pin_end(pinned));
    CHECK_EQUAL(number_of("a.part"), 2);
    CHECK_EQUAL(number_of("a.new"), 3);
    CHECK_EQUAL(configured(), 5);
    expects_error(invivo_resolve_name(runtime, "a.made", &again, E), INVIVO_E_NOT_FOUND, NULL);
    drop(owner), drop(part_before);
    await_retired(0);
    end();
}

static void a_cold_object_is_built_once_for_the_generation_of_the_pin(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 1);
    define_owner("a.owner", INVIVO_SCOPE_LAZY_SINGLETON);
    define_part("a.same", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 9);
    invivo_pin pinned = pin(), second = invivo_pin_hold(runtime, NULL);
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 2);
    trace[0] = 0;
    invivo_object owner = resolve("a.owner"), again = resolve("a.owner"), same = resolve("a.same");
    CHECK_EQUAL(owner.bits, again.bits);
    CHECK_EQUAL(at(at(owner)->input)->number, 1);
    CHECK_TEXT(trace, "init:part init:owner init:same ");
    drop(again);
    OK(invivo_pin_end(pinned));
    /* The current generation has an owner of its own, and the same unchanged object. */
    invivo_object newer = resolve("a.owner"), newer_same = resolve("a.same");
    CHECK(newer.bits != owner.bits);
    CHECK_EQUAL(at(at(newer)->input)->number, 2);
    CHECK_EQUAL(newer_same.bits, same.bits);
    drop(owner), drop(newer), drop(same), drop(newer_same);
    /* The object ends with the last pin of its generation. */
    await_retired(1);
    CHECK_EQUAL(live, 5);
    OK(invivo_pin_end(second));
    await_retired(0);
    CHECK_EQUAL(live, 3);
    end();
}

/* Two pinned generations, of which only the older one shows the object: it ends with that one. */
static void an_object_of_a_pin_does_not_outlive_its_generations(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 1);
    invivo_pin older = invivo_pin_hold(runtime, NULL), inside = {0};
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 2);
    invivo_pin younger = invivo_pin_hold(runtime, NULL);
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 3);
    OK(invivo_pin_enter(older, &inside, E));
    CHECK_EQUAL(number_of("a.part"), 1);
    OK(invivo_pin_end(inside));
    CHECK_EQUAL(live, 1);
    OK(invivo_pin_end(older));
    await_retired(1);
    CHECK_EQUAL(live, 0);
    OK(invivo_pin_enter(younger, &inside, E));
    OK(invivo_pin_end(younger));
    CHECK_EQUAL(number_of("a.part"), 2);
    OK(invivo_pin_end(inside));
    await_retired(0);
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(number_of("a.part"), 3);
    end();
}

static void exclusive_objects_are_the_newest_also_in_a_pin(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, exclusive_type, 1);
    define_owner("a.owner", INVIVO_SCOPE_LAZY_SINGLETON);
    define_part("a.cold", INVIVO_SCOPE_LAZY_SINGLETON, exclusive_type, 1);
    invivo_key key = key_of("a.part");
    invivo_pin pinned = pin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, exclusive_type, 2);
    define_part("a.cold", INVIVO_SCOPE_LAZY_SINGLETON, exclusive_type, 2);
    CHECK_EQUAL(number_of("a.part"), 2);
    invivo_object by_key = {0}, owner = resolve("a.owner");
    OK(invivo_resolve(runtime, key, &by_key, E));
    CHECK_EQUAL(at(by_key)->number, 2);
    /* What is built in the pin gets it, too. */
    CHECK_EQUAL(at(owner)->input.bits, by_key.bits);
    drop(by_key), drop(owner);
    CHECK_EQUAL(number_of("a.cold"), 2);
    invivo_view view = invivo_view_begin(runtime);
    CHECK(invivo_view_get(view, key) == NULL);
    invivo_view_end(view);
    define_part("a.part", INVIVO_SCOPE_SINGLETON, exclusive_type, 3);
    CHECK_EQUAL(number_of("a.part"), 3);
    OK(invivo_pin_end(pinned));
    CHECK_EQUAL(number_of("a.part"), 3);
    CHECK_EQUAL(number_of("a.cold"), 2);
    CHECK_EQUAL(most_started, 2);
    end();
}

static void pins_nest_and_end_in_any_order(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    invivo_pin held = invivo_pin_hold(runtime, NULL), first = {0};
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    CHECK_EQUAL(number_of("a.part"), 2);
    invivo_pin outer = pin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 3);
    OK(invivo_pin_enter(held, &first, E));
    OK(invivo_pin_end(held));
    OK(invivo_pin_end(held));
    CHECK_EQUAL(number_of("a.part"), 1);
    invivo_pin innermost = pin();
    OK(invivo_pin_end(outer));
    OK(invivo_pin_end(first));
    CHECK_EQUAL(number_of("a.part"), 1);
    OK(invivo_pin_end(innermost));
    CHECK_EQUAL(number_of("a.part"), 3);
    CHECK_EQUAL(invivo_pin_generation(first), 0);
    expects_error(invivo_pin_enter(first, &outer, E), INVIVO_E_STALE,
                  "the pin has ended: threads enter a pin while it is open, and the one that began it ends it last");
    CHECK_EQUAL(outer.bits, 0);
    expects_error(invivo_pin_enter(innermost, NULL, E), INVIVO_E_ARGUMENT, "out is NULL");
    await_retired(0);
    end();
}

/* A view keeps what it reads when the pin ends before it. In a view of a former generation no pin begins. */
static void pins_and_views_overlap(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    invivo_key key = key_of("a.part");
    invivo_pin pinned = pin(), held = invivo_pin_hold(runtime, NULL), inside;
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    invivo_view view = invivo_view_begin(runtime);
    invivo_pin inner = pin();
    CHECK_EQUAL(invivo_pin_generation(inner), invivo_view_generation(view));
    OK(invivo_pin_end(inner));
    OK(invivo_pin_end(pinned));
    for (int i = 0; i < 20; i++) define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 3 + i);
    CHECK_EQUAL(((part *)invivo_view_get(view, key))->number, 1);
    CHECK_EQUAL(invivo_pin_begin(runtime, NULL).bits, 0);
    CHECK_EQUAL(invivo_pin_hold(runtime, NULL).bits, 0);
    OK(invivo_pin_enter(held, &inside, E)); /* of the same generation */
    OK(invivo_pin_end(inside));
    invivo_view_end(view);
    view = invivo_view_begin(runtime);
    pinned = pin();
    CHECK_EQUAL(invivo_pin_generation(pinned), invivo_view_generation(view));
    expects_error(invivo_pin_enter(held, &inside, E), INVIVO_E_BUSY,
                  "the calling thread has an open view of another generation: end the view, and then enter the pin");
    invivo_view_end(view);
    CHECK_EQUAL(number_of("a.part"), 22);
    OK(invivo_pin_enter(held, &inside, E));
    CHECK_EQUAL(number_of("a.part"), 1);
    CHECK_EQUAL(invivo_pin_current(runtime).bits, inside.bits);
    OK(invivo_pin_end(inside));
    CHECK_EQUAL(invivo_pin_current(runtime).bits, pinned.bits);
    OK(invivo_pin_end(held));
    OK(invivo_pin_end(pinned));
    CHECK_EQUAL(invivo_pin_current(runtime).bits, 0);
    await_retired(0);
    end();
}

static invivo_pin handed;
static void *in_another_thread(void *unused) {
    invivo_pin inside = {0};
    (void)unused;
    CHECK_EQUAL(number_of("a.part"), 2);
    OK(invivo_pin_enter(handed, &inside, E));
    CHECK_EQUAL(number_of("a.part"), 1);
    CHECK_EQUAL(configured(), 0);
    CHECK_EQUAL(invivo_pin_end(handed), INVIVO_E_DOMAIN);
    OK(invivo_pin_end(inside));
    CHECK_EQUAL(number_of("a.part"), 2);
    return NULL;
}
static void *that_ends_in_a_pin(void *unused) {
    (void)unused;
    handed = pin();
    return NULL;
}
static void in_thread(void *(*body)(void *)) {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, body, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}
static void other_threads_enter_a_pin_and_do_not_end_it(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    handed = pin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    configure(1);
    in_thread(in_another_thread);
    CHECK_EQUAL(number_of("a.part"), 1);
    OK(invivo_pin_end(handed));
    /* The pin of a thread that has ended stays open until another one ends it. */
    in_thread(that_ends_in_a_pin);
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 3);
    await_retired(1);
    CHECK_EQUAL(number_of("a.part"), 3);
    OK(invivo_pin_end(handed));
    await_retired(0);
    end();
}

static void a_pin_keeps_its_own_generation_only(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 0);
    invivo_pin pinned = pin();
    for (int i = 1; i <= 200; i++) define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, i);
    await_retired(1);
    CHECK_EQUAL(live, 2);
    CHECK_EQUAL(number_of("a.part"), 0);
    OK(invivo_pin_end(pinned));
    await_retired(0);
    CHECK_EQUAL(live, 1);
    end();
}

static void close_ends_all_pins_and_logs_them(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    uint64_t first = generation();
    invivo_pin pinned = pin(), held = invivo_pin_hold(runtime, NULL), inside;
    char expected[256];
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    await_log(2);
    snprintf(expected, sizeof expected,
             "pins.c:7: the pin of generation %llu that thread %d began was open when the runtime was closed: end each pin when its "
             "request or job is done", (unsigned long long)first, (int)gettid());
    CHECK_TEXT(logged[0], expected);
    OK(invivo_pin_end(pinned));
    OK(invivo_pin_end(held));
    expects_error(invivo_pin_enter(held, &inside, E), INVIVO_E_STALE, NULL);
    CHECK_EQUAL(invivo_pin_begin(runtime, &here).bits, 0);
    CHECK_EQUAL(invivo_pin_begin((invivo_runtime){0}, NULL).bits, 0);
    CHECK_EQUAL(invivo_pin_end((invivo_pin){0}), INVIVO_OK);
    CHECK_EQUAL(invivo_pin_end((invivo_pin){UINT64_MAX}), INVIVO_E_HANDLE);
    /* The next runtime has the same core: this thread is in none of its pins. */
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 4);
    CHECK_EQUAL(number_of("a.part"), 4);
    end();
}

static void close_ends_pins_that_keep_objects_of_methods(void) {
    begin();
    invivo_injection maker[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};
    invivo_object made;
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 1);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.made", .type = part_type,
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON, .maker_method = "make", .maker = maker,
                                                   .maker_count = 1}, NULL, E));
    OK(invivo_resolve_name(runtime, "a.made", &made, E));
    OK(invivo_object_release(made));
    invivo_pin held = invivo_pin_hold(runtime, NULL);
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 2);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    OK(invivo_pin_end(held));
}

static void an_old_pin_is_logged_once(void) {
    begin_with_age(1);
    invivo_pin pinned = pin();
    await_log(1);
    CHECK(strncmp(logged[0], "pins.c:7: the pin of generation ", 32) == 0);
    CHECK(strstr(logged[0], " is open for 0 s: end each pin when its request or job is done") != NULL);
    invivo_pin second = pin();
    await_log(2);
    OK(invivo_pin_end(pinned));
    OK(invivo_pin_end(second));
    end();
    CHECK_EQUAL(log_count, 2);
}

/* A change set that a pinned thread commits, its observers, and its jobs see the newest generation. */
static int64_t observed_number, built_number;
static void observe(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    observed_number = number_of("a.part");
}
static invivo_status owner_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    built_number = number_of("a.part");
    return part_init(instance, build, arguments, count, user_data, error);
}
static void a_commit_in_a_pin_changes_the_newest_generation(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    invivo_type_options eager = part_options("Eager");
    invivo_observer observer;
    eager.init = owner_init;
    invivo_type eager_type = register_type(eager);
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = observe}, &observer, E));
    invivo_pin pinned = pin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    CHECK_EQUAL(observed_number, 2);
    define_part("a.eager", INVIVO_SCOPE_SINGLETON, eager_type, 0);
    CHECK_EQUAL(built_number, 2);
    CHECK_EQUAL(number_of("a.part"), 1);
    /* A set that was written in the pin for its generation is stale. */
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_expect(set, invivo_pin_generation(pinned), E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_STALE, NULL);
    OK(invivo_pin_end(pinned));
    OK(invivo_observer_close(observer, E));
    end();
}

/* A confined object is injected in place; a pin shows the object as it is now. */
static void what_a_commit_sets_in_place_is_the_newest(void) {
    static const invivo_injection left[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.confined", .scope = INVIVO_SCOPE_SINGLETON,
                                                   .type = confined_type, PROPERTIES(left)}, NULL, E));
    invivo_pin pinned = pin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    invivo_object confined = resolve("a.confined");
    CHECK_EQUAL(at(at(confined)->left)->number, 2);
    CHECK_EQUAL(number_of("a.part"), 1);
    drop(confined);
    OK(invivo_pin_end(pinned));
    end();
}

/* A cache of resolved objects stays empty while a pin keeps a former generation. */
static int cache_calls[64], cache_count;
static void cache_publishing(void *user_data, uint32_t published) {
    (void)user_data;
    pthread_mutex_lock(&lock);
    if (cache_count < 64) cache_calls[cache_count++] = (int)published;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}
static void await_cache(const char *expected) {
    struct timespec limit;
    char found[65] = {0};
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (cache_count < (int)strlen(expected) && pthread_cond_timedwait(&came, &lock, &limit) == 0) {}
    for (int i = 0; i < cache_count; i++) found[i] = (char)('0' + cache_calls[i]);
    CHECK_TEXT(found, expected);
    pthread_mutex_unlock(&lock);
}
static void caches_stay_empty_while_a_pin_keeps_a_former_generation(void) {
    begin();
    invivo_observer cache, late;
    cache_count = 0;
    invivo_observer_options options = {.struct_size = sizeof options, .publishing = cache_publishing};
    OK(invivo_observe(runtime, &options, &cache, E));
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    await_cache("01");
    invivo_pin pinned = pin(), second = invivo_pin_hold(runtime, NULL);
    await_cache("01");
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 3);
    await_cache("010");
    OK(invivo_pin_end(pinned));
    options.user_data = &late; /* an equal observer would be the same one */
    OK(invivo_observe(runtime, &options, &late, E));
    await_cache("0100");
    OK(invivo_observer_close(late, E));
    OK(invivo_pin_end(second));
    await_cache("01001");
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 4);
    await_cache("0100101");
    OK(invivo_observer_close(cache, E));
    end();
}

/* Providers and lazies that a shared object has, and a resolve on another thread. */
static invivo_object provided(invivo_object holder, const char *property) {
    invivo_value callable = {0}, result = {0};
    OK(invivo_object_get(holder, property, &callable, E));
    OK(invivo_callable_call(callable.as.callable, NULL, 0, &result, E));
    invivo_value_clear(&callable);
    return result.as.object;
}
typedef struct holder { invivo_value provider, lazy; } holder;
static invivo_status get_value(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    return invivo_value_copy(out, (invivo_value *)((char *)instance + (size_t)user_data), error);
}
static invivo_status set_value(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    return invivo_value_copy((invivo_value *)((char *)instance + (size_t)user_data), value, error);
}
static void holder_deinit(void *instance, void *user_data) {
    (void)user_data;
    invivo_value_clear(&((holder *)instance)->provider), invivo_value_clear(&((holder *)instance)->lazy);
}
static invivo_object resolved_elsewhere;
static void on_resolved(void *user_data, invivo_object object, const invivo_error *error) {
    (void)user_data;
    CHECK(!error);
    pthread_mutex_lock(&lock);
    resolved_elsewhere = object;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}
static void providers_lazies_and_other_threads_follow_the_pin(void) {
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "provider", .kind = INVIVO_KIND_CALLABLE, .get = get_value, .set = set_value, .user_data = (void *)offsetof(holder, provider)},
        {.struct_size = sizeof(invivo_property), .name = "lazy", .kind = INVIVO_KIND_CALLABLE, .get = get_value, .set = set_value, .user_data = (void *)offsetof(holder, lazy)},
    };
    static const invivo_injection part[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};
    static const invivo_injection injected[] = {
        {.name = "provider", .how = INVIVO_INJECT_PROVIDER, .items = part, .item_count = 1},
        {.name = "lazy", .how = INVIVO_INJECT_LAZY, .items = part, .item_count = 1},
    };
    begin();
    invivo_type_options options = {.struct_size = sizeof options, .name = "Holder", .size = sizeof(holder), .alignment = _Alignof(holder),
                                   .concurrency = INVIVO_SHARED, .deinit = holder_deinit, .properties = properties, .property_count = 2};
    invivo_type holder_type = register_type(options);
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 1);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.holder", .scope = INVIVO_SCOPE_SINGLETON,
                                                   .type = holder_type, PROPERTIES(injected)}, NULL, E));
    invivo_object holding = resolve("a.holder");
    invivo_pin pinned = pin();
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 2);
    for (int round = 0; round < 2; round++) {
        const char *names[] = {"provider", "lazy"};
        for (int i = 0; i < 2; i++) {
            invivo_object object = provided(holding, names[i]);
            CHECK_EQUAL(at(object)->number, round ? 2 : 1);
            drop(object);
        }
        resolved_elsewhere.bits = 0;
        OK(invivo_resolve_async(runtime, key_of("a.part"), NULL, 0, on_resolved, NULL, (invivo_domain){0}, E));
        pthread_mutex_lock(&lock);
        while (!resolved_elsewhere.bits) pthread_cond_wait(&came, &lock);
        pthread_mutex_unlock(&lock);
        CHECK_EQUAL(at(resolved_elsewhere)->number, round ? 2 : 1);
        drop(resolved_elsewhere);
        OK(invivo_pin_end(pinned));
    }
    drop(holding);
    end();
}

/* The function of a pool, and a job that the pinned thread runs, belong to no pin. */
static invivo_status make_entry(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)key, (void)user_data;
    return invivo_resolve_name(runtime, "a.made", out, error);
}
static void *resolve_confined(void *unused) {
    (void)unused;
    OK(invivo_resolve_async(runtime, key_of("a.confined"), NULL, 0, on_resolved, NULL, (invivo_domain){0}, E));
    return NULL;
}
static void functions_of_pools_and_jobs_belong_to_no_pin(void) {
    begin();
    invivo_pool pool;
    invivo_object entry, again;
    invivo_value key = invivo_int64(1);
    invivo_type_options reading = part_options("Reading");
    reading.concurrency = INVIVO_CONFINED, reading.init = owner_init;
    invivo_type reading_type = register_type(reading);
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    define_part("a.made", INVIVO_SCOPE_PROTOTYPE, part_type, 1);
    define_part("a.confined", INVIVO_SCOPE_LAZY_SINGLETON, reading_type, 0);
    OK(invivo_pool_open(runtime, &(invivo_pool_options){.struct_size = sizeof(invivo_pool_options), .make = make_entry}, &pool, E));
    invivo_pin pinned = pin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    define_part("a.made", INVIVO_SCOPE_PROTOTYPE, part_type, 2);
    OK(invivo_pool_get(pool, &key, NULL, NULL, &entry, E));
    CHECK_EQUAL(at(entry)->number, 2);
    CHECK_EQUAL(number_of("a.made"), 1);
    built_number = 0, resolved_elsewhere.bits = 0;
    in_thread(resolve_confined);
    while (!resolved_elsewhere.bits) OK(invivo_runtime_poll(runtime, 1000, NULL, E));
    CHECK_EQUAL(built_number, 2);
    CHECK_EQUAL(number_of("a.part"), 1);
    OK(invivo_pin_end(pinned));
    OK(invivo_pool_get(pool, &key, NULL, NULL, &again, E));
    CHECK_EQUAL(again.bits, entry.bits);
    drop(again), drop(entry), drop(resolved_elsewhere);
    OK(invivo_pool_close(pool, E));
    end();
}

/* A build goes on in its generation when its factory ends the pin around it, and what it may have borrowed lives on. */
static invivo_pin ended_by_factory;
static invivo_object former_part;
static void *look_at_the_runtime(void *unused) {
    (void)unused;
    facts();
    return NULL;
}
static invivo_status ending_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    if (ended_by_factory.bits) { /* a commit builds it once more, because a.part has changed */
        OK(invivo_pin_end(ended_by_factory));
        ended_by_factory.bits = 0;
        in_thread(look_at_the_runtime); /* ends the generations that nothing keeps */
        invivo_object part = resolve("a.part");
        CHECK_EQUAL(part.bits, former_part.bits);
        built_number = at(part)->number;
        drop(part);
    }
    return part_init(instance, build, arguments, count, user_data, error);
}
static void a_factory_ends_the_pin_around_it(void) {
    begin();
    invivo_type_options options = part_options("Ending");
    options.init = ending_init;
    invivo_type ending_type = register_type(options);
    define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 1);
    define_part("a.ending", INVIVO_SCOPE_LAZY_SINGLETON, ending_type, 0);
    former_part = resolve("a.part");
    drop(former_part);
    ended_by_factory = pin();
    for (int i = 2; i < 20; i++) define_part("a.part", INVIVO_SCOPE_LAZY_SINGLETON, part_type, i);
    drop(resolve("a.ending"));
    CHECK_EQUAL(built_number, 1);
    CHECK_EQUAL(number_of("a.part"), 19);
    await_retired(0);
    end();
}

static void a_forked_child_begins_no_pin(void) {
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 1);
    invivo_key key = key_of("a.part");
    drop(resolve("a.part"));
    invivo_pin pinned = pin(), held = invivo_pin_hold(runtime, NULL);
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 2);
    pid_t child = fork();
    if (child == 0) {
        invivo_pin inside = {0};
        invivo_view view = invivo_view_begin(runtime);
        int wrong = ((part *)invivo_view_get(view, key))->number != 1;
        invivo_view_end(view);
        wrong |= (invivo_pin_begin(runtime, NULL).bits != 0) << 1;
        wrong |= (invivo_pin_enter(held, &inside, NULL) != INVIVO_E_FORKED) << 2;
        wrong |= (invivo_pin_end(pinned) != INVIVO_OK) << 3;
        view = invivo_view_begin(runtime);
        wrong |= (((part *)invivo_view_get(view, key))->number != 2) << 4;
        invivo_view_end(view);
        _exit(wrong);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(number_of("a.part"), 1);
    OK(invivo_pin_end(pinned));
    OK(invivo_pin_end(held));
    end();
}

/* Readers in pins, threads that enter them, and commits. Each reader sees one pair of equal numbers during its pin. */
enum { READERS = 3, ROUNDS = 300 };
static bool over;
static invivo_pin offered[READERS];
static void *read_in_pins(void *which) {
    unsigned seed = (unsigned)(size_t)which;
    for (int round = 0; round < ROUNDS; round++) {
        invivo_pin own = {0}, from = {__atomic_load_n(&offered[rand_r(&seed) % READERS].bits, __ATOMIC_ACQUIRE)};
        if (round % 3 == 0 && from.bits) {
            invivo_error *error = NULL;
            invivo_status status = invivo_pin_enter(from, &own, &error);
            CHECK(status == INVIVO_OK || status == INVIVO_E_STALE);
            invivo_error_release(error);
        }
        if (!own.bits) own = pin();
        int64_t first = number_of("a.part"), second = number_of("a.lazy"), third = number_of("a.made");
        invivo_view view = invivo_view_begin(runtime);
        part *shown = invivo_view_get(view, key_of("a.part"));
        CHECK(shown && shown->number == first);
        if (rand_r(&seed) % 2) {
            OK(invivo_pin_end(own));
            CHECK(shown && shown->number == first);
            invivo_view_end(view);
        } else {
            invivo_view_end(view);
            CHECK_EQUAL(number_of("a.part"), first);
            OK(invivo_pin_end(own));
        }
        CHECK_EQUAL(second, first);
        CHECK_EQUAL(third, first);
        if (rand_r(&seed) % 4 == 0) {
            invivo_pin held = invivo_pin_hold(runtime, NULL);
            held.bits = __atomic_exchange_n(&offered[rand_r(&seed) % READERS].bits, held.bits, __ATOMIC_ACQ_REL);
            CHECK_EQUAL(invivo_pin_end(held), INVIVO_OK);
        }
    }
    return NULL;
}
static void *commit_numbers(void *unused) {
    (void)unused;
    for (int64_t number = 1; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); number++) {
        invivo_injection injected[] = {{.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(number)}};
        invivo_changes set;
        OK(invivo_changes_open(runtime, &set, E));
        const char *keys[] = {"a.part", "a.lazy", "a.made"};
        uint32_t scopes[] = {INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_PROTOTYPE};
        for (int i = 0; i < 3; i++)
            OK(invivo_changes_define(set, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = keys[i], .scope = scopes[i],
                                                               .type = part_type, INITIALIZER(injected)}, NULL, E));
        OK(invivo_changes_commit(set, E));
    }
    return NULL;
}
static void pins_and_commits_under_threads(void) {
    pthread_t readers[READERS], writer;
    begin();
    define_part("a.part", INVIVO_SCOPE_SINGLETON, part_type, 0);
    define_part("a.lazy", INVIVO_SCOPE_LAZY_SINGLETON, part_type, 0);
    define_part("a.made", INVIVO_SCOPE_PROTOTYPE, part_type, 0);
    over = false;
    pthread_create(&writer, NULL, commit_numbers, NULL);
    for (size_t i = 0; i < READERS; i++) pthread_create(&readers[i], NULL, read_in_pins, (void *)(i + 1));
    for (int i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    pthread_join(writer, NULL);
    for (int i = 0; i < READERS; i++) {
        OK(invivo_pin_end(offered[i]));
        offered[i].bits = 0;
    }
    await_retired(0);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(every_read_answers_from_the_generation_of_the_pin);
    RUN_TEST(a_cold_object_is_built_once_for_the_generation_of_the_pin);
    RUN_TEST(an_object_of_a_pin_does_not_outlive_its_generations);
    RUN_TEST(exclusive_objects_are_the_newest_also_in_a_pin);
    RUN_TEST(pins_nest_and_end_in_any_order);
    RUN_TEST(pins_and_views_overlap);
    RUN_TEST(other_threads_enter_a_pin_and_do_not_end_it);
    RUN_TEST(a_pin_keeps_its_own_generation_only);
    RUN_TEST(close_ends_all_pins_and_logs_them);
    RUN_TEST(close_ends_pins_that_keep_objects_of_methods);
    RUN_TEST(an_old_pin_is_logged_once);
    RUN_TEST(a_commit_in_a_pin_changes_the_newest_generation);
    RUN_TEST(what_a_commit_sets_in_place_is_the_newest);
    RUN_TEST(caches_stay_empty_while_a_pin_keeps_a_former_generation);
    RUN_TEST(providers_lazies_and_other_threads_follow_the_pin);
    RUN_TEST(functions_of_pools_and_jobs_belong_to_no_pin);
    RUN_TEST(a_factory_ends_the_pin_around_it);
    RUN_TEST(a_forked_child_begins_no_pin);
    RUN_TEST(pins_and_commits_under_threads);
    return check_end();
}
