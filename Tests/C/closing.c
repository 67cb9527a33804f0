/* Close waits at most 5 s for running work, and is then refused. A refused close loses nothing. Calls that race with
 * close get a status, and nothing remains. */
/* sanitize: yes */
#include "check.h"

#include <semaphore.h>

typedef struct { double gain; invivo_object held; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1)};

static invivo_runtime runtime;
static invivo_type voice_type, slow_type;
static invivo_key lead;
static sem_t begun, released;
static int live;
static bool resolves;

static invivo_status count_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void count_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}

/* Blocks until it is released; its later resolves succeed. */
static invivo_status slow_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    sem_post(&begun);
    sem_wait(&released);
    if (resolves) {
        invivo_object object;
        OK(invivo_resolve_name(build->runtime, "a.dependency", &object, E));
        OK(invivo_object_release(object));
    }
    return count_init(instance, build, arguments, count, user_data, error);
}

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Voice", .size = sizeof(voice), .concurrency = INVIVO_SHARED,
                                   .init = count_init, .deinit = count_deinit};
    sem_init(&begun, 0, 0);
    sem_init(&released, 0, 0);
    resolves = false;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &voice_type, E));
    options.name = "Slow";
    options.init = slow_init;
    OK(invivo_type_register(runtime, &options, &slow_type, E));
}

static void define(const char *key, uint32_t scope, invivo_type type, invivo_key *out) {
    invivo_definition definition = {.struct_size = sizeof(definition), .key = key, .scope = scope, .type = type};
    OK(invivo_define(runtime, &definition, out, E));
}

/* Returns when a close has begun: no new build is accepted. */
static void wait_for_close(void) {
    invivo_object object;
    while (invivo_object_make(runtime, voice_type, NULL, 0, &object, NULL) == INVIVO_OK) OK(invivo_object_release(object));
}
static void *release_when_closing(void *unused) {
    (void)unused;
    wait_for_close();
    sem_post(&released);
    return NULL;
}

static void *resolve_slow(void *unused) {
    invivo_object object;
    (void)unused;
    if (OK(invivo_resolve(runtime, lead, &object, E))) OK(invivo_object_release(object));
    return NULL;
}
static void *make_slow(void *unused) {
    invivo_object object;
    (void)unused;
    if (OK(invivo_object_make(runtime, slow_type, NULL, 0, &object, E))) OK(invivo_object_release(object));
    return NULL;
}

static void close_waits_for_a_build_under_way(void) {
    for (int way = 0; way < 6; way++) {
        static const uint32_t scopes[] = {INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_WEAK_SINGLETON};
        pthread_t builder, watcher;
        begin();
        define("a.dependency", INVIVO_SCOPE_LAZY_SINGLETON, voice_type, NULL);
        define("a.slow", scopes[way % 3], slow_type, &lead);
        resolves = way != 1 && way != 4; /* the resolve of a plain prototype is refused: it belongs to no build */
        pthread_create(&builder, NULL, way == 5 ? make_slow : resolve_slow, NULL);
        sem_wait(&begun);
        pthread_create(&watcher, NULL, release_when_closing, NULL);
        /* Uses the deferred close, because the plain one may find the lease that the builder has just received. */
        OK(invivo_runtime_close_deferred(runtime, E));
        pthread_join(watcher, NULL);
        pthread_join(builder, NULL);
        CHECK_EQUAL(live, 0);
    }
}

static void a_build_that_takes_too_long_refuses_close(void) {
    pthread_t builder;
    invivo_object object;
    begin();
    define("a.dependency", INVIVO_SCOPE_LAZY_SINGLETON, voice_type, NULL);
    define("a.slow", INVIVO_SCOPE_LAZY_SINGLETON, slow_type, &lead);
    resolves = true;
    pthread_create(&builder, NULL, resolve_slow, NULL);
    sem_wait(&begun);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    /* It is unchanged. */
    OK(invivo_object_make(runtime, voice_type, NULL, 0, &object, E));
    OK(invivo_object_release(object));
    sem_post(&released);
    pthread_join(builder, NULL);
    CHECK_EQUAL(live, 2);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

static invivo_status close_in_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                   void *user_data, invivo_error **error) {
    (void)instance, (void)arguments, (void)count, (void)user_data, (void)error;
    expects_error(invivo_runtime_close(build->runtime, E), INVIVO_E_IN_CALLBACK, NULL);
    return INVIVO_OK;
}
static void a_self_wait_is_refused_at_once(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Closer", .size = 8, .init = close_in_init};
    invivo_object object;
    invivo_key key;
    invivo_type type;
    begin();
    OK(invivo_type_register(runtime, &options, &type, E));
    define("a.closer", INVIVO_SCOPE_PROTOTYPE, type, &key);
    OK(invivo_resolve(runtime, key, &object, E));
    OK(invivo_object_release(object));
    invivo_view view = invivo_view_begin(runtime);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY,
                  "the calling thread has an open view, which no other thread can end: end it first");
    invivo_view_end(view);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status held_none(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static invivo_status keep(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    voice *self = instance;
    (void)user_data, (void)error;
    if (self->held.bits) OK(invivo_object_release(self->held));
    self->held = value->as.object;
    if (self->held.bits) OK(invivo_object_retain(self->held));
    return INVIVO_OK;
}
static void give_back(void *instance, void *user_data) {
    voice *self = instance;
    if (self->held.bits) OK(invivo_object_release(self->held));
    count_deinit(instance, user_data);
}
static void a_lease_that_a_component_takes_itself_is_left_to_the_deferring_close(void) {
    invivo_property held = {.struct_size = sizeof(held), .name = "held", .kind = INVIVO_KIND_OBJECT, .get = held_none, .set = keep};
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Keeper", .size = sizeof(voice), .init = count_init,
                                   .deinit = give_back, .properties = &held, .property_count = 1};
    invivo_injection into[] = {{.name = "held", .how = INVIVO_INJECT_REFERENCE, .reference = "a.kept"}};
    invivo_definition keeper = {.struct_size = sizeof(keeper), .key = "a.keeper", .scope = INVIVO_SCOPE_SINGLETON, .properties = into,
                                .property_count = 1};
    begin();
    OK(invivo_type_register(runtime, &options, &keeper.type, E));
    define("a.kept", INVIVO_SCOPE_SINGLETON, voice_type, NULL);
    OK(invivo_define(runtime, &keeper, NULL, E));
    CHECK_EQUAL(live, 2);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY,
                  "1 object is still leased: 'a.kept'; release them first, or defer the close until they are gone");
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(live, 0);
}

static void objects_of_definitions_are_no_leases_of_the_host(void) {
    invivo_definition constant = {.struct_size = sizeof(constant), .key = "a.constant", .scope = INVIVO_SCOPE_SINGLETON};
    invivo_object object;
    begin();
    OK(invivo_object_make(runtime, voice_type, NULL, 0, &object, E));
    constant.type = voice_type;
    constant.constant = object;
    OK(invivo_define(runtime, &constant, NULL, E));
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}

/* Constants that create nothing now are kept: under overrides, in tables, behind another definition. */
static void objects_of_hidden_definitions_are_no_leases_of_the_host(void) {
    invivo_definition constants[3] = {{0}};
    invivo_assembly table = {.struct_size = sizeof(table), .name = "t", .definitions = constants, .definition_count = 1};
    const invivo_assembly *activated[] = {&table};
    invivo_object objects[3];
    invivo_override overrides[2];
    for (int activate = 0; activate < 2; activate++) {
        begin();
        for (int i = 0; i < 3; i++) {
            OK(invivo_object_make(runtime, voice_type, NULL, 0, &objects[i], E));
            constants[i] = (invivo_definition){.struct_size = sizeof(constants[i]), .key = "a.constant", .type = voice_type,
                                               .scope = INVIVO_SCOPE_SINGLETON, .constant = objects[i]};
        }
        constants[0].key = "constant";
        if (activate) OK(invivo_activate(runtime, activated, 1, NULL, E));
        else OK(invivo_assembly_describe(runtime, &table, E));
        constants[0].key = "t.constant";
        if (activate) {
            constants[1].key = constants[2].key = "t.constant";
            OK(invivo_define(runtime, &constants[1], NULL, E)); /* replaces the member of the table */
        } else {
            constants[0].key = "a.constant";
            OK(invivo_define(runtime, &constants[0], NULL, E));
            OK(invivo_override_begin(runtime, &constants[1], &overrides[0], E));
        }
        OK(invivo_override_begin(runtime, &constants[2], &overrides[1], E));
        expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
        for (int i = 0; i < 3; i++) OK(invivo_object_release(objects[i]));
        OK(invivo_runtime_close(runtime, E));
        CHECK_EQUAL(live, 0);
    }
}

/* ---- a refused close --------------------------------------------------------------------------------- */

static double gain(void) {
    invivo_view view = invivo_view_begin(runtime);
    const voice *now = invivo_view_block(view, lead);
    double value = now ? now->gain : -1;
    invivo_view_end(view);
    return value;
}

static void *hold_a_view(void *unused) {
    (void)unused;
    invivo_view view = invivo_view_begin(runtime);
    sem_post(&begun);
    sem_wait(&released);
    invivo_view_end(view);
    return NULL;
}
static void *edit_when_closing(void *unused) {
    (void)unused;
    wait_for_close();
    write_text("a.yaml", "traits: { synth.lead: [ Set: { gain: 5 } ] }\n");
    return NULL;
}

static void a_refused_close_loses_no_edit(void) {
    pthread_t reader, editor;
    listener *heard = malloc(sizeof(*heard));
    begin();
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), &lead, E));
    write_text("a.yaml", "traits: { synth.lead: [ Set: { gain: 4 } ] }\n");
    OK(invivo_watch(runtime, "a.yaml", E));
    listener_open(heard, runtime);
    pthread_create(&reader, NULL, hold_a_view, NULL);
    sem_wait(&begun);
    pthread_create(&editor, NULL, edit_when_closing, NULL);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_BUSY, NULL);
    pthread_join(editor, NULL);
    sem_post(&released);
    pthread_join(reader, NULL);
    listener_wait(heard, 1);
    CHECK_EQUAL(gain(), 5);
    write_text("a.yaml", "traits: { synth.lead: [ Set: { gain: 6 } ] }\n");
    listener_wait(heard, 2);
    CHECK_EQUAL(gain(), 6);
    OK(invivo_runtime_close(runtime, E));
    listener_end(heard);
    free(heard);
}

/* ---- a domain without a thread ----------------------------------------------------------------------- */

static invivo_object confined;
static invivo_source source;
static sem_t waiting;

static void log_wait(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (strstr(entry->message, "a job waits for the domain")) sem_post(&waiting);
}
static void *open_and_end(void *unused) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Confined", .size = sizeof(voice),
                                   .properties = voice_properties, .property_count = 1};
    invivo_runtime_options open;
    invivo_type type;
    (void)unused;
    invivo_runtime_options_init(&open);
    open.log = log_wait;
    open.log_level = INVIVO_LOG_DEBUG;
    OK(invivo_runtime_open(&runtime, &open, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &confined, E));
    OK(invivo_target_attach(confined, "a.target", NULL, E));
    return NULL;
}
static void *update_target(void *unused) {
    static const char text[] = "traits: { a.target: [ Set: { gain: 3 } ] }";
    (void)unused;
    expects_error(invivo_source_update(source, text, sizeof(text) - 1, E), INVIVO_E_CLOSED, NULL);
    return NULL;
}
static void a_domain_whose_thread_is_gone_does_not_keep_close(void) {
    static const char empty[] = "{}";
    pthread_t opener, updater;
    sem_init(&waiting, 0, 0);
    pthread_create(&opener, NULL, open_and_end, NULL);
    pthread_join(opener, NULL);
    invivo_source_options options = {.struct_size = sizeof(options), .name = "memory.yaml", .text = empty, .length = sizeof(empty) - 1};
    OK(invivo_source_open(runtime, &options, &source, E));
    pthread_create(&updater, NULL, update_target, NULL);
    sem_wait(&waiting);
    OK(invivo_runtime_close_deferred(runtime, E));
    pthread_join(updater, NULL);
    OK(invivo_object_release(confined));
}

/* ---- calls that race with close ---------------------------------------------------------------------- */

static bool stop;
static invivo_key prototype, shared;
static void hear(void *user_data, const invivo_report *report) { (void)user_data, (void)report; }

static void expects_open_or_closed(invivo_status status, invivo_object object) {
    if (status == INVIVO_OK) OK(invivo_object_release(object));
    else CHECK_EQUAL(status, INVIVO_E_CLOSED);
}

static void use(int what, unsigned turn) {
    char text[64];
    invivo_object object;
    invivo_observer observer;
    invivo_observer_options observing = {.struct_size = sizeof(observing), .reloaded = hear};
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    invivo_changes changes;
    invivo_target target;
    switch (what) {
    case 0: /* a prototype with an injection */
        if (invivo_resolve(runtime, prototype, &object, NULL) == INVIVO_OK) OK(invivo_object_release(object));
        break;
    case 1:
        snprintf(text, sizeof(text), "traits: {a.shared: [Set: {gain: %u}]}", turn % 100);
        invivo_source_update(source, text, strlen(text), NULL);
        break;
    case 2:
        if (invivo_observe(runtime, &observing, &observer, NULL) == INVIVO_OK) invivo_observer_close(observer, NULL);
        break;
    case 3:
        if (invivo_resolve(runtime, prototype, &object, NULL) == INVIVO_OK) {
            if (invivo_target_attach(object, "a.target", &target, NULL) == INVIVO_OK) invivo_target_detach(target, NULL);
            OK(invivo_object_release(object));
        }
        break;
    case 4:
        if (invivo_changes_open(runtime, &changes, NULL) == INVIVO_OK) {
            invivo_value value = invivo_double(turn);
            if (invivo_changes_set(changes, "a.shared", "gain", &value, NULL) != INVIVO_OK || invivo_changes_submit(changes, NULL) != INVIVO_OK)
                invivo_changes_discard(changes);
        }
        break;
    case 5:
        invivo_runtime_inspect(runtime, &info, NULL);
        if (invivo_watch(runtime, "a.yaml", NULL) == INVIVO_OK) sched_yield();
        break;
    default:
        if (invivo_peek(runtime, shared, &object) == INVIVO_OK) OK(invivo_object_release(object));
        expects_open_or_closed(invivo_resolve_name(runtime, "a.shared", &object, NULL), object);
        expects_open_or_closed(invivo_resolve_type(runtime, "Voice", "shared", 0, &object, NULL), object);
        break;
    }
}
static void *use_until_stopped(void *what) {
    /* Close gets its turn even with fewer cores than threads. */
    for (unsigned turn = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); turn++) use((int)(intptr_t)what, turn), sched_yield();
    return NULL;
}

static int race_rounds = 140;
static void a_call_that_races_with_close_gets_a_status(void) {
    static const invivo_parameter parameters[] = {{.name = "next", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    static const char empty[] = "{}";
    invivo_property in_block = voice_properties[0];
    in_block.flags |= INVIVO_PROPERTY_BLOCK;
    write_text("a.yaml", "{}\n");
    for (int round = 0; round < race_rounds; round++) {
        invivo_type_options type = {.struct_size = sizeof(type), .name = "Voice", .size = sizeof(voice), .concurrency = INVIVO_SHARED,
                                    .block_size = sizeof(voice), .properties = &in_block, .property_count = 1,
                                    .parameters = parameters, .parameter_count = 1};
        invivo_injection next = {.name = "next", .how = INVIVO_INJECT_REFERENCE, .reference = "a.shared"};
        invivo_source_options memory = {.struct_size = sizeof(memory), .name = "memory.yaml", .text = empty, .length = sizeof(empty) - 1};
        pthread_t threads[2];
        invivo_status status;
        stop = false;
        OK(invivo_runtime_open(&runtime, NULL, E));
        OK(invivo_type_register(runtime, &type, &voice_type, E));
        define("a.shared", INVIVO_SCOPE_SINGLETON, voice_type, &shared);
        invivo_definition definition = {.struct_size = sizeof(definition), .key = "a.prototype", .scope = INVIVO_SCOPE_PROTOTYPE,
                                        .type = voice_type, .initializer = &next, .initializer_count = 1};
        OK(invivo_define(runtime, &definition, &prototype, E));
        OK(invivo_source_open(runtime, &memory, &source, E));
        for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, use_until_stopped, (void *)((round + i * (round / 7)) % 7));
        /* Threads that always hold a lease make close fail as long as they continue. */
        for (int tries = 0; (status = invivo_runtime_close(runtime, E)) == INVIVO_E_BUSY && tries < 1000; tries++)
            invivo_error_release(check_error), check_error = NULL;
        __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        if (status == INVIVO_E_BUSY) {
            invivo_error_release(check_error);
            OK(invivo_runtime_close(runtime, E)); /* no lease is held any more */
        } else {
            OK(status);
        }
    }
}

static pthread_barrier_t together;

/* ---- last leases of confined objects, released on other threads ---------------------------------------- */

static int confined_ended;
static void confined_end(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_add_fetch(&confined_ended, 1, __ATOMIC_SEQ_CST);
}
static invivo_object given[200];
static void *give_back_half(void *first) {
    pthread_barrier_wait(&together);
    for (intptr_t i = (intptr_t)first; i < 200; i += 2) OK(invivo_object_release(given[i]));
    return NULL;
}
static void objects_that_end_during_close_end_once(void) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Confined", .size = sizeof(voice), .deinit = confined_end};
    pthread_barrier_init(&together, NULL, 3);
    for (int round = 0; round < 100; round++) {
        invivo_type type;
        pthread_t others[2];
        confined_ended = 0;
        OK(invivo_runtime_open(&runtime, NULL, E));
        OK(invivo_type_register(runtime, &options, &type, E));
        for (int i = 0; i < 200; i++) OK(invivo_object_make(runtime, type, NULL, 0, &given[i], E));
        for (intptr_t i = 0; i < 2; i++) pthread_create(&others[i], NULL, give_back_half, (void *)i);
        pthread_barrier_wait(&together);
        OK(invivo_runtime_close_deferred(runtime, E));
        for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
        if (!CHECK_EQUAL(confined_ended, 200)) break;
    }
    pthread_barrier_destroy(&together);
}

/* ---- targets ----------------------------------------------------------------------------------------- */

static invivo_object target;
static void *attach(void *key) {
    pthread_barrier_wait(&together);
    OK(invivo_target_attach(target, key, NULL, E));
    return NULL;
}
static int says(invivo_type type, const char *text, double wanted) {
    voice *now = NULL;
    OK(invivo_source_update(source, text, strlen(text), E));
    OK(invivo_object_instance(target, type, (void **)&now, E));
    return now && now->gain == wanted;
}
static void an_object_attached_by_two_threads_has_one_key(void) {
    static const char empty[] = "{}";
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Target", .size = sizeof(voice),
                                   .properties = voice_properties, .property_count = 1};
    invivo_source_options memory = {.struct_size = sizeof(memory), .name = "memory.yaml", .text = empty, .length = sizeof(empty) - 1};
    invivo_type type;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_target_declare(runtime, "k.one", type, E));
    OK(invivo_target_declare(runtime, "k.two", type, E));
    OK(invivo_source_open(runtime, &memory, &source, E));
    pthread_barrier_init(&together, NULL, 2);
    for (int round = 0; round < 200; round++) {
        pthread_t other;
        /* No job is left in this thread's domain, which only joins. */
        OK(invivo_source_update(source, empty, sizeof(empty) - 1, E));
        OK(invivo_object_make(runtime, type, NULL, 0, &target, E));
        pthread_create(&other, NULL, attach, (void *)"k.one");
        attach((void *)"k.two");
        pthread_join(other, NULL);
        int one = says(type, "traits: {k.one: [Set: {gain: 11}]}", 11), two = says(type, "traits: {k.two: [Set: {gain: 22}]}", 22);
        CHECK_EQUAL(one + two, 1);
        OK(invivo_object_release(target));
    }
    pthread_barrier_destroy(&together);
    OK(invivo_runtime_close(runtime, E));
}

int main(int argc, char **argv) {
    if (argc > 1) race_rounds = atoi(argv[1]);
    check_begin();
    check_directory();
    RUN_TEST(close_waits_for_a_build_under_way);
    RUN_TEST(a_build_that_takes_too_long_refuses_close);
    RUN_TEST(a_self_wait_is_refused_at_once);
    RUN_TEST(a_lease_that_a_component_takes_itself_is_left_to_the_deferring_close);
    RUN_TEST(objects_of_definitions_are_no_leases_of_the_host);
    RUN_TEST(objects_of_hidden_definitions_are_no_leases_of_the_host);
    RUN_TEST(a_refused_close_loses_no_edit);
    RUN_TEST(a_domain_whose_thread_is_gone_does_not_keep_close);
    RUN_TEST(a_call_that_races_with_close_gets_a_status);
    RUN_TEST(objects_that_end_during_close_end_once);
    RUN_TEST(an_object_attached_by_two_threads_has_one_key);
    return check_end();
}
