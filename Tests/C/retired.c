/* Retired objects of a language with reference counts: each is stopped when no lease and no reference of its language
 * remains, and not before; after a grace time, at close, and for exclusive objects in any case. */
/* sanitize: yes */
#include "check.h"

/* Counted by its language: the runtime's reference, and those of `hold`. */
typedef struct resource {
    int references, stops;
    char name[24];
    invivo_object input;
} resource;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char trace[1 << 14];  /* the stops, in order */
static int live, stops, early, asked, asked_elsewhere, fails_to_count, first_references, start_references, fails_start;
static struct resource *registry[8]; /* the runtime's initial count of each object: first_references */
static int registered;
static int used_after_stop;
static pthread_t home;
static bool is_confined;
/* Runs once, on a separate thread, while references are counted or an object is stopped. */
static void *(*meanwhile_counting)(void *), *(*meanwhile_stopping)(void *);
static void run_meanwhile(void *(**what)(void *)) {
    pthread_t thread;
    void *(*run)(void *) = __atomic_exchange_n(what, NULL, __ATOMIC_SEQ_CST);
    if (!run) return;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
}

/* Callbacks on the thread of a call that must run none. */
static pthread_t inspecting;
static int is_inspecting, called_while_inspecting;
static void note_call(void) {
    if (__atomic_load_n(&is_inspecting, __ATOMIC_SEQ_CST) && pthread_equal(pthread_self(), inspecting)) called_while_inspecting++;
}

static void hold(resource *self) { __atomic_add_fetch(&self->references, 1, __ATOMIC_SEQ_CST); }
static void let_go(resource *self) {
    if (__atomic_sub_fetch(&self->references, 1, __ATOMIC_SEQ_CST)) return;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    free(self);
}

static invivo_status resource_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                   void *user_data, invivo_error **error) {
    resource *self = calloc(1, sizeof *self);
    const char *key = build->key.bits ? invivo_key_name(build->key) : "";
    (void)user_data, (void)error;
    if (!self) return INVIVO_E_MEMORY;
    self->references = 1 + first_references;
    if (first_references && registered < 8) registry[registered++] = self;
    snprintf(self->name, sizeof self->name, "%s", strchr(key, '.') ? strchr(key, '.') + 1 : key);
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) {
        void *used = NULL;
        self->input = arguments[0].as.object;
        OK(invivo_object_instance(self->input, (invivo_type){0}, &used, E));
        hold(used);
    }
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    *instance = self;
    return INVIVO_OK;
}
static void resource_release(void *instance, void *user_data) {
    note_call();
    resource *self = instance;
    (void)user_data;
    void *used = NULL;
    if (self->input.bits && !invivo_object_instance(self->input, (invivo_type){0}, &used, NULL)) let_go(used);
    let_go(self);
}
static invivo_status resource_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    for (int i = 0; i < start_references; i++) hold(instance); /* for example those of a thread that it starts */
    if (!fails_start) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status resource_stop(void *instance, void *user_data, invivo_error **error) {
    note_call();
    resource *self = instance;
    (void)user_data, (void)error;
    run_meanwhile(&meanwhile_stopping);
    pthread_mutex_lock(&lock);
    strncat(strncat(trace, self->name, 30), " ", 2);
    self->stops++, stops++;
    if (self->references > 1 + first_references + start_references) early++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < start_references; i++) let_go(self);
    return INVIVO_OK;
}
static invivo_status resource_count(void *instance, void *user_data, uint64_t *out, invivo_error **error) {
    note_call();
    (void)user_data;
    if (is_confined && !pthread_equal(pthread_self(), home)) __atomic_add_fetch(&asked_elsewhere, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
    if (fails_to_count) {
        *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    *out = (uint64_t)__atomic_load_n(&((resource *)instance)->references, __ATOMIC_SEQ_CST) - 1;
    run_meanwhile(&meanwhile_counting);
    return INVIVO_OK;
}

/* A property that the language does not count, and a method that creates another object. */
static invivo_status get_other(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = (invivo_value){.kind = INVIVO_KIND_NULL};
    return INVIVO_OK;
}
static invivo_status set_other(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)value, (void)error;
    return INVIVO_OK;
}
static invivo_runtime runtime;
static invivo_type type;
static invivo_status make_product(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *out,
                                  invivo_error **error) {
    invivo_object made;
    (void)instance, (void)user_data, (void)arguments, (void)count;
    invivo_status status = invivo_object_make(runtime, type, NULL, 0, &made, error);
    if (status) return status;
    void *product = NULL;
    OK(invivo_object_instance(made, type, &product, E));
    snprintf(((resource *)product)->name, sizeof ((resource *)product)->name, "product");
    const invivo_value answer = invivo_object_value(made);
    status = invivo_value_copy(out, &answer, error);
    OK(invivo_object_release(made));
    return status;
}
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "other", .kind = INVIVO_KIND_OBJECT, .get = get_other, .set = set_other}};
static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "make", .call = make_product, .result = INVIVO_KIND_OBJECT}};

static const invivo_parameter parameters[] = {{.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};

static char warning[512], warned_key[64];

static void hear(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    pthread_mutex_lock(&lock);
    snprintf(warning, sizeof warning, "%s", entry->message);
    snprintf(warned_key, sizeof warned_key, "%s", entry->path);
    pthread_mutex_unlock(&lock);
}

static void begin_with(uint32_t grace, bool confined) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.stop_grace_ms = grace, options.log = hear, options.log_level = INVIVO_LOG_WARNING;
    options.history = INVIVO_HISTORY_NONE;
    live = stops = early = asked = asked_elsewhere = fails_to_count = first_references = start_references = fails_start = 0;
    trace[0] = warning[0] = warned_key[0] = 0;
    home = pthread_self(), is_confined = confined;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type_options described = {
        .struct_size = sizeof described, .name = "Resource", .concurrency = confined ? INVIVO_CONFINED : INVIVO_SHARED,
        .make = resource_make, .release = resource_release, .start = resource_start, .stop = resource_stop,
        .count_references = resource_count, .parameters = parameters, .parameter_count = 1,
        .properties = properties, .property_count = 1, .methods = methods, .method_count = 1};
    OK(invivo_type_register(runtime, &described, &type, E));
}
static void begin(void) { begin_with(0, false); }
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(asked_elsewhere, 0);
}

#define DEFINE(given_key, given_scope, ...)                                                                               \
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key,            \
                                                   .scope = INVIVO_SCOPE_##given_scope, .type = type, __VA_ARGS__}, NULL, E))
#define TAKES(given_key) \
    .initializer = &(invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = given_key}, .initializer_count = 1

static invivo_object resolve(const char *name) {
    invivo_key key;
    invivo_object object = {0};
    if (OK(invivo_key_find(runtime, name, &key, E))) OK(invivo_resolve(runtime, key, &object, E));
    return object;
}
static resource *instance_of(invivo_object object) {
    void *instance = NULL;
    OK(invivo_object_instance(object, type, &instance, E));
    return instance;
}
/* Resolves, takes a reference in the language, and releases the lease. */
static resource *take(const char *name) {
    invivo_object object = resolve(name);
    resource *self = instance_of(object);
    hold(self);
    OK(invivo_object_release(object));
    return self;
}
/* Waits until `count` objects have been stopped, without other activity. */
static void await_stops(int count) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    pthread_mutex_lock(&lock);
    while (stops < count && !pthread_cond_timedwait(&changed, &lock, &limit)) {}
    CHECK_EQUAL(stops, count);
    pthread_mutex_unlock(&lock);
}
static const invivo_value *fact(const invivo_value *map, const char *name) {
    for (uint64_t i = 0; i < map->as.map.count; i++)
        if (strcmp(map->as.map.pairs[i].name, name) == 0) return &map->as.map.pairs[i].value;
    return NULL;
}
/* "key type reason leases; ..." */
static const char *retired(void) {
    static char text[1024];
    invivo_value found;
    text[0] = 0;
    if (!OK(invivo_runtime_retired(runtime, &found, E))) return "";
    for (uint64_t i = 0; i < found.as.list.count; i++) {
        const invivo_value *one = &found.as.list.items[i];
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s %s %s %d; ", fact(one, "key")->as.string.data,
                 fact(one, "type")->as.string.data, fact(one, "reason")->as.string.data,
                 (int)fact(one, "leases")->as.unsigned_integer);
        CHECK(fact(one, "retired_ns")->as.unsigned_integer > 0);
    }
    invivo_value_clear(&found);
    return text;
}

/* An object from a method of another object is stopped before that: at close, and when both are replaced. */
static void an_object_from_a_method_is_stopped_before_its_maker(void) {
    const invivo_injection maker = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.maker"};
    for (int way = 0; way < 3; way++) {
        begin();
        DEFINE("a.maker", LAZY_SINGLETON);
        DEFINE("a.product", LAZY_SINGLETON, .maker_method = "make", .maker = &maker, .maker_count = 1);
        OK(invivo_object_release(resolve("a.product")));
        DEFINE("a.other", LAZY_SINGLETON);
        OK(invivo_object_release(resolve("a.other")));
        if (way == 1) {
            DEFINE("a.maker", LAZY_SINGLETON); /* the product is rebuilt, too */
            CHECK_TEXT(trace, "product maker ");
        }
        if (way == 2) {
            resource *product = take("a.product");
            DEFINE("a.maker", LAZY_SINGLETON);
            CHECK_TEXT(trace, "");
            let_go(product);
            await_stops(2);
            CHECK_TEXT(trace, "product maker ");
        }
        trace[0] = 0;
        end();
        const char *product = strstr(trace, "product "), *its_maker = strstr(trace, "maker ");
        CHECK(strlen(trace) == strlen("product maker other ") && product && its_maker && product < its_maker);
    }
}

/* Objects of an unreferenced cycle end: at once if their language refers to none, else when it releases them, or at
 * close. */
static void a_cycle_is_stopped_once(void) {
    const invivo_injection self = {.name = "other", .how = INVIVO_INJECT_REFERENCE, .reference = "a.one"};
    const invivo_injection two = {.name = "other", .how = INVIVO_INJECT_REFERENCE, .reference = "a.two"};
    for (int way = 0; way < 6; way++) {
        begin();
        if (way < 3) {
            DEFINE("a.one", WEAK_SINGLETON, .properties = &self, .property_count = 1);
        } else {
            invivo_changes changes;
            OK(invivo_changes_open(runtime, &changes, E));
            for (int i = 0; i < 2; i++)
                OK(invivo_changes_define(changes, &(invivo_definition){
                    .struct_size = sizeof(invivo_definition), .key = i ? "a.one" : "a.two", .type = type,
                    .scope = INVIVO_SCOPE_WEAK_SINGLETON, .properties = i ? &two : &self, .property_count = 1}, NULL, E));
            OK(invivo_changes_commit(changes, E));
        }
        resource *held = NULL;
        int members = way < 3 ? 1 : 2;
        if (way % 3 == 0) {
            OK(invivo_object_release(resolve("a.one")));
            CHECK_EQUAL(stops, members);
            CHECK_EQUAL(live, 0);
        } else {
            held = take("a.one");
            CHECK_EQUAL(stops, 0);
            if (way % 3 == 1) {
                let_go(held);
                await_stops(members);
            }
        }
        if (way % 3 == 2) {
            OK(invivo_runtime_close(runtime, E));
            let_go(held);
            CHECK_EQUAL(live, 0);
        } else {
            end();
        }
        CHECK_EQUAL(stops, members);
    }
}

static void a_replaced_object_is_stopped_when_its_language_lets_go_of_it(void) {
    begin();
    first_references = 3; /* held from its creation on, for example by a registry */
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    CHECK_EQUAL(asked, 3); /* at its creation, and around its start */
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 0);
    CHECK_TEXT(retired(), "a.pool Resource referenced 0; ");
    invivo_object new = resolve("a.pool");
    CHECK(instance_of(new) != pool);
    OK(invivo_object_release(new));
    let_go(pool);
    await_stops(1); /* no thread calls the runtime */
    CHECK_EQUAL(early, 0);
    CHECK_TEXT(retired(), "");
    /* Without a reference: by the commit. */
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 2);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(registered, 3);
    CHECK_EQUAL(live, 3); /* of the registry, which outlives the runtime */
    while (registered > 0 && registered--)
        for (int i = 0; i < 3; i++) let_go(registry[registered]);
    CHECK_EQUAL(live, 0);
}

static char told[512];
static void keep_report(void *user_data, const invivo_report *report) {
    (void)user_data;
    snprintf(told, sizeof told, "%s", invivo_report_text(report));
}

static void references_from_a_start_do_not_count_and_the_report_names_others(void) {
    static const invivo_observer_options observer = {.struct_size = sizeof observer, .reloaded = keep_report};
    begin();
    start_references = 2;
    OK(invivo_observe(runtime, &observer, &(invivo_observer){0}, E));
    DEFINE("a.pool", LAZY_SINGLETON);
    let_go(take("a.pool"));
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 1);
    CHECK(strstr(told, "a.pool rebuilt") != NULL && strstr(told, "still referred to") == NULL);
    resource *pool = take("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 1);
    const char *end_of_line = strstr(told, "; ");
    CHECK_TEXT(end_of_line ? end_of_line : told,
               "; the old instance of a.pool is still referred to and stays started: it is stopped when nothing refers to it, at "
               "the latest after 30.0 s (stop_grace); an exclusive definition stops it first");
    /* Once. */
    OK(invivo_object_release(resolve("a.pool")));
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 2);
    CHECK(strstr(told, "still referred to") == NULL);
    /* Stopped and started manually: references from the start count as before. */
    let_go(pool);
    await_stops(3);
    OK(invivo_object_release(resolve("a.pool")));
    invivo_key key;
    OK(invivo_key_find(runtime, "a.pool", &key, E));
    OK(invivo_stop(runtime, key, E));
    OK(invivo_start(runtime, key, E));
    CHECK_EQUAL(stops, 4);
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 5);
    CHECK_EQUAL(early, 0);
    end();
}

static void a_source_that_fails_does_not_end_the_looks(void) {
    begin();
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    expects_error(invivo_watch(runtime, "/nonexistent/a.yaml", E), INVIVO_E_NOT_FOUND, NULL);
    let_go(pool);
    await_stops(1);
    end();
}

static void leases_are_never_cut_short_and_the_last_one_stops_at_once(void) {
    begin_with(1, false);
    DEFINE("a.pool", LAZY_SINGLETON);
    invivo_object old = resolve("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_TEXT(retired(), "a.pool Resource leased 1; ");
    CHECK_EQUAL(stops, 0);
    int before = asked;
    OK(invivo_object_release(old));
    CHECK_EQUAL(stops, 1);
    CHECK_EQUAL(asked, before + 1);
    /* Both: a lease, then a reference. */
    old = resolve("a.pool");
    resource *pool = instance_of(old);
    DEFINE("a.pool", LAZY_SINGLETON);
    hold(pool);
    OK(invivo_object_release(old));
    let_go(pool);
    await_stops(2);
    end();
}

static void dependents_are_stopped_first(void) {
    begin();
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    const invivo_injection user[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.pool"}};
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.pool", .scope = INVIVO_SCOPE_SINGLETON, .type = type}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.user", .scope = INVIVO_SCOPE_SINGLETON, .type = type, .initializer = user, .initializer_count = 1}, NULL, E));
    OK(invivo_changes_commit(changes, E));
    resource *one = take("a.user");
    DEFINE("a.pool", SINGLETON);
    CHECK_EQUAL(stops, 0);
    CHECK_TEXT(retired(), "a.pool Resource leased 1; a.user Resource referenced 0; ");
    let_go(one);
    await_stops(2);
    CHECK_TEXT(trace, "user pool ");
    /* A prototype holds the pool. */
    DEFINE("a.request", PROTOTYPE, TAKES("a.pool"));
    invivo_object request = resolve("a.request");
    trace[0] = 0;
    DEFINE("a.pool", SINGLETON);
    CHECK_TEXT(trace, "user ");
    OK(invivo_object_release(request));
    CHECK_TEXT(trace, "user request pool ");
    end();
}

static void a_view_keeps_it(void) {
    begin_with(1, false);
    DEFINE("a.pool", LAZY_SINGLETON);
    OK(invivo_object_release(resolve("a.pool")));
    invivo_view view = invivo_view_begin(runtime);
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 0);
    CHECK_TEXT(retired(), "a.pool Resource read 0; ");
    invivo_view_end(view);
    await_stops(1);
    end();
}

/* The inspection functions run no host code: another thread ends objects that a view kept. */
static void inspection_ends_nothing(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    begin();
    DEFINE("a.pool", LAZY_SINGLETON);
    inspecting = pthread_self(), called_while_inspecting = 0;
    for (int i = 0; i < 50; i++) {
        OK(invivo_object_release(resolve("a.pool")));
        invivo_view view = invivo_view_begin(runtime);
        DEFINE("a.pool", LAZY_SINGLETON);
        CHECK_EQUAL(stops, i);
        invivo_view_end(view);
        __atomic_store_n(&is_inspecting, 1, __ATOMIC_SEQ_CST);
        if (i % 2) OK(invivo_runtime_inspect(runtime, &info, E));
        else CHECK_TEXT(retired(), "");
        __atomic_store_n(&is_inspecting, 0, __ATOMIC_SEQ_CST);
        await_stops(i + 1);
    }
    CHECK_EQUAL(called_while_inspecting, 0);
    end();
}

static void after_the_grace_time_it_is_stopped_with_a_warning(void) {
    begin_with(1, false);
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    await_stops(1);
    CHECK_EQUAL(early, 1);
    CHECK_EQUAL(pool->stops, 1);
    CHECK_TEXT(warned_key, "a.pool");
    CHECK(strstr(warning, "'a.pool' of type 'Resource' is stopped although its language still refers to it"));
    let_go(pool);
    /* If counting fails, the object is treated as referenced. */
    OK(invivo_object_release(resolve("a.pool")));
    fails_to_count = 1;
    DEFINE("a.pool", LAZY_SINGLETON);
    await_stops(2);
    end();
}

/* A lease interrupts the grace time: it begins anew afterwards. */
static void the_grace_time_restarts_after_a_lease(void) {
    begin_with(1000, false);
    DEFINE("a.pool", LAZY_SINGLETON);
    invivo_object old = resolve("a.pool");
    resource *pool = instance_of(old);
    hold(pool);
    OK(invivo_object_release(old));
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_TEXT(retired(), "a.pool Resource referenced 0; ");
    OK(invivo_object_retain(old));
    DEFINE("a.other", LAZY_SINGLETON); /* a commit checks it */
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 <= 1000);
    OK(invivo_object_release(old));
    CHECK_EQUAL(stops, 0);
    CHECK_TEXT(retired(), "a.pool Resource referenced 0; ");
    let_go(pool);
    await_stops(1);
    CHECK_EQUAL(early, 0);
    end();
}

/* An object that is a constant of another definition is not retired with it. */
static void a_constant_of_another_definition_is_not_retired(void) {
    begin();
    DEFINE("a.pool", LAZY_SINGLETON);
    invivo_object pool = resolve("a.pool");
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.front",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, .constant = pool}, NULL, E));
    OK(invivo_object_release(resolve("a.front")));
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.front", E));
    OK(invivo_changes_commit(changes, E));
    CHECK_TEXT(retired(), "");
    OK(invivo_object_release(pool));
    CHECK_TEXT(retired(), "");
    CHECK_EQUAL(stops, 0);
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_EQUAL(stops, 1);
    end();
}

static void without_a_limit_it_waits(void) {
    begin_with(INVIVO_STOP_GRACE_UNLIMITED, false);
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    for (int i = 0; i < 20; i++) CHECK_TEXT(retired(), "a.pool Resource referenced 0; ");
    CHECK_EQUAL(stops, 0);
    let_go(pool);
    await_stops(1);
    CHECK_TEXT(warning, "");
    end();
}

static void close_stops_everything_in_reverse_order(void) {
    begin();
    DEFINE("a.one", SINGLETON);
    DEFINE("a.two", SINGLETON);
    resource *one = take("a.one"), *two = take("a.two");
    DEFINE("a.one", SINGLETON);
    DEFINE("a.two", SINGLETON);
    OK(invivo_object_release(resolve("a.one")));
    CHECK_EQUAL(stops, 0);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(stops, 4);
    CHECK_EQUAL(early, 2);
    CHECK_EQUAL(live, 2);
    let_go(one), let_go(two);
    CHECK_EQUAL(live, 0);
}

static void a_close_that_is_refused_ends_nothing(void) {
    begin();
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    invivo_object leased = resolve("a.pool");
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    CHECK_EQUAL(stops, 0);
    OK(invivo_object_release(leased));
    let_go(pool);
    await_stops(1);
    end();
}

static void an_exclusive_object_is_stopped_by_the_commit(void) {
    begin();
    DEFINE("a.port", SINGLETON, .flags = INVIVO_DEFINITION_EXCLUSIVE);
    resource *port = take("a.port");
    DEFINE("a.port", SINGLETON, .flags = INVIVO_DEFINITION_EXCLUSIVE);
    CHECK_EQUAL(stops, 1);
    CHECK_EQUAL(port->stops, 1);
    CHECK_TEXT(retired(), "");
    let_go(port);
    end();
    CHECK_EQUAL(stops, 2);
}

static void a_failed_commit_stops_nothing_that_stays(void) {
    begin();
    DEFINE("a.pool", SINGLETON);
    resource *pool = take("a.pool");
    fails_start = 1;
    expects_error(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.pool",
                                .scope = INVIVO_SCOPE_SINGLETON, .type = type}, NULL, E), INVIVO_E_HOST, NULL);
    fails_start = 0;
    CHECK_EQUAL(stops, 0);
    CHECK_EQUAL(live, 1);
    CHECK_TEXT(retired(), "");
    let_go(pool);
    end();
    CHECK_EQUAL(stops, 1);
}

static invivo_status wrap(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    invivo_value argument = invivo_object_value(object);
    (void)user_data;
    return invivo_object_make(build->runtime, type, &argument, 1, out, error);
}

static void overrides_resets_removals_and_decorators_are_no_different(void) {
    begin();
    invivo_override over;
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.pool", .type = type}, &over, E));
    resource *above = take("a.pool");
    OK(invivo_override_end(over, E));
    CHECK(above->stops == 0);
    let_go(above), let_go(pool);
    await_stops(2);
    pool = take("a.pool");
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset(changes, "a.pool", 0, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(stops, 2);
    let_go(pool);
    await_stops(3);
    pool = take("a.pool");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.pool", E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(stops, 3);
    CHECK_TEXT(retired(), "a.pool Resource referenced 0; ");
    let_go(pool);
    await_stops(4);
    /* A replacement, and the object that it wraps. */
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.pool", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type}, NULL, E));
    OK(invivo_changes_process(changes, &(invivo_processor){.struct_size = sizeof(invivo_processor), .name = "wraps", .key = "a.pool", .decorate = wrap}, E));
    OK(invivo_changes_commit(changes, E));
    resource *shell = take("a.pool");
    CHECK_TEXT(shell->name, "");
    trace[0] = 0;
    DEFINE("a.pool", LAZY_SINGLETON);
    CHECK_TEXT(trace, "");
    let_go(shell);
    await_stops(6);
    CHECK_TEXT(trace, " pool ");
    CHECK_EQUAL(early, 0);
    end();
}

static uint64_t here;
static invivo_status find(void *user_data, uint64_t *place, invivo_error **error) {
    (void)user_data, (void)error;
    *place = here;
    return INVIVO_OK;
}

static void scopes_and_weak_singletons_are_no_different(void) {
    begin();
    OK(invivo_scope_register(runtime, &(invivo_scope_options){.struct_size = sizeof(invivo_scope_options), .name = "request", .find = find}, E));
    DEFINE("a.host", HOST, .scope_name = "request");
    DEFINE("a.thread", THREAD);
    DEFINE("a.weak", WEAK_SINGLETON);
    here = 7;
    resource *host = take("a.host"), *thread = take("a.thread"), *weak = take("a.weak");
    /* It has no handles; its language holds it, and it is still the same. */
    CHECK(take("a.weak") == weak);
    let_go(weak);
    CHECK_EQUAL(stops, 0);
    DEFINE("a.host", HOST, .scope_name = "request");
    DEFINE("a.thread", THREAD);
    CHECK_EQUAL(stops, 0);
    let_go(weak);
    await_stops(1);
    let_go(host);
    await_stops(2);
    let_go(thread);
    await_stops(3);
    CHECK_EQUAL(early, 0);
    end();
}

/* A weak singleton that was not replaced lives as long as its language refers to it: the grace time begins at its
 * replacement. */
static void a_weak_singleton_has_no_grace_time_before_it_is_replaced(void) {
    begin_with(1, false);
    DEFINE("a.weak", WEAK_SINGLETON);
    resource *weak = take("a.weak");
    CHECK_TEXT(retired(), "");
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 <= 2);
    DEFINE("a.other", LAZY_SINGLETON); /* a commit checks it */
    CHECK_EQUAL(stops, 0);
    CHECK(take("a.weak") == weak);
    let_go(weak);
    DEFINE("a.weak", WEAK_SINGLETON);
    await_stops(1);
    CHECK_EQUAL(early, 1);
    CHECK(strstr(warning, "'a.weak' of type 'Resource' is stopped although its language still refers to it"));
    let_go(weak);
    end();
}

static resource *found_meanwhile;
static void *finds_the_weak(void *unused) {
    (void)unused;
    found_meanwhile = take("a.weak");
    return NULL;
}

/* A resolve during the count of references gets the weak singleton, and it lives. A resolve during its stop gets a new
 * one. */
static void a_weak_singleton_is_not_stopped_during_its_resolve(void) {
    begin();
    DEFINE("a.weak", WEAK_SINGLETON);
    invivo_object leased = resolve("a.weak");
    resource *weak = instance_of(leased);
    found_meanwhile = NULL, meanwhile_counting = finds_the_weak;
    OK(invivo_object_release(leased)); /* nothing refers to it, and then a resolve does */
    CHECK(found_meanwhile == weak);
    CHECK_EQUAL(stops, 0);
    found_meanwhile = NULL, meanwhile_stopping = finds_the_weak;
    let_go(weak);
    await_stops(1);
    CHECK_EQUAL(early, 0);
    CHECK(found_meanwhile && found_meanwhile->stops == 0);
    let_go(found_meanwhile);
    await_stops(2);
    end();
}

/* The same for resolves and releases of the host on many threads. */
enum { WEAK_USERS = 4, WEAK_USES = 2000 };
static void *uses_the_weak(void *unused) {
    (void)unused;
    for (int i = 0; i < WEAK_USES; i++) {
        resource *weak = take("a.weak");
        if (__atomic_load_n(&weak->stops, __ATOMIC_SEQ_CST)) __atomic_add_fetch(&used_after_stop, 1, __ATOMIC_SEQ_CST);
        let_go(weak);
    }
    return NULL;
}
static void no_thread_gets_a_weak_singleton_that_was_stopped(void) {
    pthread_t users[WEAK_USERS];
    begin();
    used_after_stop = 0;
    DEFINE("a.weak", WEAK_SINGLETON);
    for (int i = 0; i < WEAK_USERS; i++) pthread_create(&users[i], NULL, uses_the_weak, NULL);
    for (int i = 0; i < WEAK_USERS; i++) pthread_join(users[i], NULL);
    CHECK_EQUAL(used_after_stop, 0);
    end();
    CHECK_EQUAL(early, 0);
}

/* A manually stopped one waits for no reference: there is nothing to stop. */
static void a_manually_stopped_object_waits_for_no_reference(void) {
    invivo_key key;
    begin();
    DEFINE("a.weak", WEAK_SINGLETON);
    DEFINE("a.other", WEAK_SINGLETON);
    resource *weak = take("a.weak"), *other = take("a.other");
    invivo_object leased = resolve("a.weak");
    OK(invivo_key_find(runtime, "a.weak", &key, E));
    OK(invivo_stop(runtime, key, E));
    CHECK_EQUAL(weak->stops, 1);
    OK(invivo_object_release(leased));
    DEFINE("a.third", LAZY_SINGLETON); /* a commit checks both */
    CHECK_EQUAL(weak->references, 1);  /* the reference of the runtime is gone */
    CHECK_EQUAL(other->references, 2);
    CHECK_EQUAL(other->stops, 0);
    let_go(weak), let_go(other);
    await_stops(2);
    end();
}

static void *removes(void *unused) {
    (void)unused;
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.pool", E));
    OK(invivo_changes_commit(changes, E));
    return NULL;
}

static void it_is_asked_about_where_it_may_be_touched(void) {
    begin_with(0, true);
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    pthread_t other;
    pthread_create(&other, NULL, removes, NULL);
    pthread_join(other, NULL);
    CHECK_EQUAL(stops, 0);
    let_go(pool);
    /* By one job for its domain. */
    while (stops == 0) OK(invivo_runtime_poll(runtime, 1000, NULL, E));
    CHECK_EQUAL(stops, 1);
    CHECK_EQUAL(asked_elsewhere, 0);
    end();
}

static void a_forked_child_stops_nothing(void) {
    begin();
    DEFINE("a.pool", LAZY_SINGLETON);
    resource *pool = take("a.pool");
    DEFINE("a.pool", LAZY_SINGLETON);
    invivo_object leased = resolve("a.pool");
    pid_t child = fork();
    if (child == 0) {
        invivo_value found;
        invivo_status status = invivo_runtime_retired(runtime, &found, NULL);
        let_go(pool);
        invivo_object_release(leased);
        _exit(stops == 0 && status == INVIVO_E_FORKED ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    OK(invivo_object_release(leased));
    let_go(pool);
    await_stops(1);
    end();
}

enum { USERS = 8, RELOADS = 100 };
static int over, uses;

static void *uses_the_pool(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
        resource *pool = take("a.pool");
        for (int i = 0; i < 50; i++)
            if (__atomic_load_n(&pool->stops, __ATOMIC_SEQ_CST)) __atomic_add_fetch(&used_after_stop, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&uses, 1, __ATOMIC_SEQ_CST);
        let_go(pool);
    }
    return NULL;
}

static void no_thread_uses_a_stopped_object_during_reloads(void) {
    pthread_t users[USERS];
    begin();
    over = uses = used_after_stop = 0;
    DEFINE("a.pool", LAZY_SINGLETON);
    let_go(take("a.pool")); /* each commit rebuilds built objects */
    for (int i = 0; i < USERS; i++) pthread_create(&users[i], NULL, uses_the_pool, NULL);
    for (int i = 0; i < RELOADS; i++) {
        int before = __atomic_load_n(&uses, __ATOMIC_SEQ_CST);
        DEFINE("a.pool", LAZY_SINGLETON);
        /* It is used between two reloads. */
        while (__atomic_load_n(&uses, __ATOMIC_SEQ_CST) < before + 2 * USERS) sched_yield();
    }
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < USERS; i++) pthread_join(users[i], NULL);
    CHECK_EQUAL(used_after_stop, 0);
    CHECK_EQUAL(early, 0);
    await_stops(RELOADS);
    end();
    CHECK_EQUAL(stops, RELOADS + 1);
}

/* Closing a pool does not affect its retired objects. */
static void a_pool_closes_while_its_objects_are_retired(void) {
    for (int refers = 0; refers < 2; refers++) {
        begin();
        invivo_pool pool;
        invivo_value key = invivo_string("r"), list = {0};
        OK(invivo_pool_open(runtime, &(invivo_pool_options){.struct_size = sizeof(invivo_pool_options), .name = "resources"}, &pool, E));
        DEFINE("a.r", LAZY_SINGLETON);
        invivo_object former = resolve("a.r");
        resource *self = instance_of(former);
        OK(invivo_pool_put(pool, &key, former, E));
        hold(self);
        if (refers) OK(invivo_object_release(former));
        DEFINE("a.r", LAZY_SINGLETON);
        OK(invivo_runtime_retired(runtime, &list, E));
        CHECK_EQUAL(list.as.list.count, 1);
        invivo_value_clear(&list);
        OK(invivo_pool_close(pool, E));
        OK(invivo_runtime_retired(runtime, &list, E));
        CHECK_EQUAL(list.as.list.count, 1);
        invivo_value_clear(&list);
        CHECK_EQUAL(self->stops, 0);
        CHECK_EQUAL(stops, 0);
        if (!refers) OK(invivo_object_release(former));
        CHECK_EQUAL(self->stops, 0);
        let_go(self);
        await_stops(1);
        CHECK_EQUAL(early, 0);
        expects_error(invivo_pool_count(pool, &(uint64_t){0}, E), INVIVO_E_HANDLE, NULL);
        end();
    }
}

int main(void) {
    check_begin();
    RUN_TEST(an_object_from_a_method_is_stopped_before_its_maker);
    RUN_TEST(a_cycle_is_stopped_once);
    RUN_TEST(a_replaced_object_is_stopped_when_its_language_lets_go_of_it);
    RUN_TEST(references_from_a_start_do_not_count_and_the_report_names_others);
    RUN_TEST(a_source_that_fails_does_not_end_the_looks);
    RUN_TEST(leases_are_never_cut_short_and_the_last_one_stops_at_once);
    RUN_TEST(dependents_are_stopped_first);
    RUN_TEST(a_view_keeps_it);
    RUN_TEST(inspection_ends_nothing);
    RUN_TEST(after_the_grace_time_it_is_stopped_with_a_warning);
    RUN_TEST(the_grace_time_restarts_after_a_lease);
    RUN_TEST(a_constant_of_another_definition_is_not_retired);
    RUN_TEST(without_a_limit_it_waits);
    RUN_TEST(close_stops_everything_in_reverse_order);
    RUN_TEST(a_close_that_is_refused_ends_nothing);
    RUN_TEST(an_exclusive_object_is_stopped_by_the_commit);
    RUN_TEST(a_failed_commit_stops_nothing_that_stays);
    RUN_TEST(overrides_resets_removals_and_decorators_are_no_different);
    RUN_TEST(scopes_and_weak_singletons_are_no_different);
    RUN_TEST(a_weak_singleton_has_no_grace_time_before_it_is_replaced);
    RUN_TEST(a_weak_singleton_is_not_stopped_during_its_resolve);
    RUN_TEST(no_thread_gets_a_weak_singleton_that_was_stopped);
    RUN_TEST(a_manually_stopped_object_waits_for_no_reference);
    RUN_TEST(it_is_asked_about_where_it_may_be_touched);
    RUN_TEST(a_forked_child_stops_nothing);
    RUN_TEST(no_thread_uses_a_stopped_object_during_reloads);
    RUN_TEST(a_pool_closes_while_its_objects_are_retired);
    return check_end();
}
