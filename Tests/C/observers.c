/* Observers of keys, types, objects and paths: what they hear, in which order, and how they begin and end. */
/* sanitize: yes */
#include "parts.h"

#include <sched.h>
#include <semaphore.h>

static invivo_type part_type, list_type, plain_type;

static void begin(void) {
    begin_with(0);
    invivo_type_options options = part_options("Part"); /* a Thing */
    part_type = register_type(options);
    options.name = "Panel", options.concurrency = INVIVO_CONFINED;
    list_type = register_type(options);
    options.name = "Plain", options.supertype_count = 0;
    plain_type = register_type(options);
}

/* What observers hear: "name(a.x defined, a.y.number tuned) ". */
static char heard[4096];
static void hear(void *name, const invivo_report *report) {
    size_t length = strlen(heard);
    length += (size_t)snprintf(heard + length, sizeof heard - length, "%s(", (const char *)name);
    if (invivo_report_status(report) != INVIVO_OK) length += (size_t)snprintf(heard + length, sizeof heard - length, "%s", invivo_status_name(invivo_report_status(report)));
    for (size_t index = 0; index < invivo_report_count(report); index++) {
        const char *property = invivo_report_property(report, index);
        length += (size_t)snprintf(heard + length, sizeof heard - length, "%s%s%s%s %s", index ? ", " : "", invivo_report_key(report, index), *property ? "." : "", property,
                                   change_names[invivo_report_change(report, index)]);
    }
    snprintf(heard + length, sizeof heard - length, ") ");
}
static int destroyed;
static void destroy(void *name) { (void)name, __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST); }
static invivo_observer_options options_of(const char *name) {
    return (invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = hear, .user_data = (void *)(uintptr_t)name, .destroy = destroy};
}
static invivo_observer add(invivo_observer_options options) {
    invivo_observer observer = {0};
    OK(invivo_observe(runtime, &options, &observer, E));
    CHECK(observer.bits != 0);
    return observer;
}
#define OBSERVE_WITH(function, name, ...)                                                                    \
    add((invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = function, \
                                  .user_data = (void *)(uintptr_t)(name), .destroy = destroy, __VA_ARGS__})
#define OBSERVE(name, ...) OBSERVE_WITH(hear, name, __VA_ARGS__)
#define EVERYTHING .key = NULL
#define HEARD(text) (CHECK_TEXT(heard, text), heard[0] = 0)

static int64_t number = 1;
static void define(const char *key, uint32_t scope, invivo_type type, const char *left, uint32_t flags) {
    invivo_injection properties[] = {{.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = number++}}, KEY("left", left)};
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = scope, .type = type, .flags = flags,
                                    .properties = properties, .property_count = left ? 2 : 1};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}
static void close_observer(invivo_observer observer) { OK(invivo_observer_close(observer, E)); }
static void finish(void) {
    end();
    heard[0] = 0, destroyed = 0;
}

static void an_observer_of_a_key_hears_of_its_changes_alone(void) {
    begin();
    OBSERVE("one", .key = "a.one");
    OBSERVE("later", .key = "a.later");
    HEARD("");
    define("a.one", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("one(a.one defined) ");
    define("a.two", INVIVO_SCOPE_SINGLETON, part_type, "a.one", 0);
    HEARD("");
    describe();
    ADD("a.one", SINGLETON, .type = part_type);
    ADD("a.later", SINGLETON, .type = part_type);
    commit();
    HEARD("one(a.one remade) later(a.later defined) ");
    fail_at = "init:one";
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.one", .type = part_type, .scope = INVIVO_SCOPE_SINGLETON, .rank = 2};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_HOST, NULL);
    fail_at = NULL;
    HEARD(""); /* nothing has changed */
    describe();
    OK(invivo_changes_remove(changes, "a.later", E));
    commit();
    HEARD("later(a.later removed) ");
    finish();
}

typedef struct levels { double gain; } levels;
static const invivo_property level_properties[] = {INVIVO_FIELD(levels, gain)};
static void an_observer_of_a_key_hears_of_base_values(void) {
    invivo_value value = invivo_double(2);
    begin();
    OBSERVE("levels", .key = "a.levels");
    OK(invivo_define_block(runtime, "a.levels", INVIVO_BLOCK(levels, level_properties), NULL, E));
    HEARD("levels(a.levels defined) ");
    describe();
    OK(invivo_changes_set(changes, "a.levels", "gain", &value, E));
    commit();
    HEARD("levels(a.levels.gain tuned) ");
    finish();
}

static void an_observer_of_a_type_hears_of_all_its_keys(void) {
    begin();
    OBSERVE("things", .type = "Thing");
    OBSERVE("panels", .type = "Panel");
    OBSERVE("unknown", .type = "Nothing");
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("things(a.part defined) ");
    define("a.panel", INVIVO_SCOPE_SINGLETON, list_type, "a.part", 0);
    HEARD("things(a.panel defined) panels(a.panel defined) ");
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("things(a.part remade, a.panel reinjected) panels(a.panel reinjected) ");
    define("a.plain", INVIVO_SCOPE_SINGLETON, plain_type, NULL, 0);
    HEARD("");
    define("a.plain", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0); /* one from now on */
    HEARD("things(a.plain remade) ");
    define("a.plain", INVIVO_SCOPE_SINGLETON, plain_type, NULL, 0); /* one until now */
    HEARD("things(a.plain remade) ");
    describe();
    OK(invivo_changes_remove(changes, "a.panel", E));
    commit();
    HEARD("things(a.panel removed) panels(a.panel removed) ");
    finish();
}

static invivo_status document(const char *text) {
    static invivo_source source;
    static invivo_runtime opened;
    if (opened.bits == runtime.bits) return invivo_source_update(source, text, strlen(text), E);
    opened = runtime;
    invivo_source_options options = {.struct_size = sizeof options, .name = "t.yaml", .text = text, .length = strlen(text)};
    return invivo_source_open(runtime, &options, &source, E);
}

static void an_observer_of_an_object_hears_of_this_object(void) {
    begin();
    define("a.part", INVIVO_SCOPE_SINGLETON, list_type, NULL, 0);
    define("a.panel", INVIVO_SCOPE_SINGLETON, list_type, "a.part", 0);
    define("a.tracked", INVIVO_SCOPE_PROTOTYPE, list_type, "a.part", INVIVO_DEFINITION_TRACKED);
    invivo_object panel = resolve("a.panel"), one = resolve("a.tracked"), part = resolve("a.part");
    OBSERVE("panel", .object = panel);
    OBSERVE("one", .object = one);
    OBSERVE("part", .object = part);
    drop(part);
    OK(document("traits: {a.panel: [Set: {number: 7}], a.part: [Set: {number: 8}]}"));
    HEARD("panel(a.panel.number tuned) part(a.part.number tuned) ");
    define("a.other", INVIVO_SCOPE_SINGLETON, list_type, NULL, 0);
    HEARD("");
    define("a.part", INVIVO_SCOPE_SINGLETON, list_type, NULL, 0); /* replaces the part, and is injected into the others */
    HEARD("panel(a.panel reinjected) one(a.tracked remade) part(a.part remade) ");
    define("a.part", INVIVO_SCOPE_SINGLETON, list_type, NULL, 0); /* another part */
    HEARD("panel(a.panel reinjected) one(a.tracked remade) ");
    define("a.panel", INVIVO_SCOPE_SINGLETON, list_type, NULL, 0);
    HEARD("panel(a.panel remade) ");
    drop(panel);
    drop(one);
    /* Observers of objects that ended are removed when there are many. */
    for (int index = 0; index < 200; index++) {
        invivo_object object = make(plain_type);
        OBSERVE("many", .object = object);
        drop(object);
    }
    CHECK(destroyed > 100);
    end();
    CHECK_EQUAL(destroyed, 203);
    heard[0] = 0, destroyed = 0;
}

/* Types, then objects, then all others in the order of their subscription. */
static void hear_path(void *name, const char *path, const invivo_value *value, uint64_t generation) {
    (void)generation, (void)value;
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "%s(%s) ", (const char *)name, path);
}
static void observers_are_called_in_order(void) {
    begin();
    define("a.part", INVIVO_SCOPE_SINGLETON, list_type, NULL, 0);
    invivo_object part = resolve("a.part");
    const invivo_config_observer_options path = {.struct_size = sizeof path, .changed = hear_path, .user_data = (void *)(uintptr_t)"path"};
    invivo_observer observer;
    OBSERVE("all", EVERYTHING);
    OBSERVE("key", .key = "a.part");
    OK(invivo_config_observe(runtime, "speed", &path, &observer, E));
    OBSERVE("object", .object = part);
    OBSERVE("type", .type = "Panel");
    OBSERVE("all2", EVERYTHING);
    OBSERVE("object2", .object = part);
    OBSERVE("type2", .type = "Thing");
    drop(part);
    OK(document("traits: {a.part: [Set: {number: 8}]}\nconfig: {speed: 3}"));
    HEARD("type(a.part.number tuned) type2(a.part.number tuned) object(a.part.number tuned) object2(a.part.number tuned) "
          "all(speed configured, a.part.number tuned) key(a.part.number tuned) path(speed) all2(speed configured, a.part.number tuned) ");
    OK(document("traits: {a.part: [Set: {number: 8}]}\nconfig: {speed: 3, a: {part: 1}}")); /* a path like a key */
    HEARD("all(a.part configured) all2(a.part configured) ");
    OK(document("traits: {a.part: [Set: {number: 8}]}\nconfig: {speed: 4, a: {part: 1}}"));
    HEARD("all(speed configured) path(speed) all2(speed configured) ");
    finish();
}

static void an_equal_observer_is_the_same(void) {
    begin();
    const char *one = "one", *two = "two";
    invivo_observer first = OBSERVE(one, .key = "a.part"), again = OBSERVE(one, .key = "a.part");
    CHECK_EQUAL(first.bits, again.bits);
    CHECK_EQUAL(destroyed, 0);
    invivo_observer others[] = {OBSERVE(two, .key = "a.part"), OBSERVE(one, .key = "a.other"), OBSERVE(one, .type = "a.part"), OBSERVE(one, EVERYTHING)};
    for (size_t index = 0; index < COUNT(others); index++)
        for (size_t other = 0; other < index; other++) CHECK(others[index].bits != others[other].bits && others[index].bits != first.bits);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("one(a.part defined) two(a.part defined) one(a.part defined) ");
    close_observer(first);
    CHECK_EQUAL(destroyed, 1);
    expects_error(invivo_observer_close(again, E), INVIVO_E_HANDLE, NULL);
    close_observer(others[3]);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("two(a.part remade) ");
    CHECK(OBSERVE(one, .key = "a.part").bits != first.bits);
    /* Observers of a path, too. */
    const invivo_config_observer_options path = {.struct_size = sizeof path, .changed = hear_path, .user_data = (void *)(uintptr_t)one, .destroy = destroy};
    invivo_observer paths[3];
    OK(invivo_config_observe(runtime, "speed", &path, &paths[0], E));
    OK(invivo_config_observe(runtime, "speed", &path, &paths[1], E));
    OK(invivo_config_observe(runtime, "depth", &path, &paths[2], E));
    CHECK_EQUAL(paths[0].bits, paths[1].bits);
    CHECK(paths[0].bits != paths[2].bits);
    finish();
}

/* Two objects whose setups add equal observers have one each. */
static invivo_status observe_in_setup(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_observer_options options = options_of("setup");
    options.key = "a.part";
    invivo_observer one, two;
    invivo_status status = invivo_observe(runtime, &options, &one, error);
    if (!status) status = invivo_observe(runtime, &options, &two, error);
    CHECK_EQUAL(one.bits, two.bits);
    return status;
}
static void each_setup_has_its_own_observer(void) {
    begin_with(0);
    invivo_type_options options = part_options("Part");
    part_type = register_type(options);
    options.name = "Listener", options.setup = observe_in_setup;
    plain_type = register_type(options);
    define("a.one", INVIVO_SCOPE_SINGLETON, plain_type, NULL, 0);
    define("a.two", INVIVO_SCOPE_SINGLETON, plain_type, NULL, 0);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("setup(a.part defined) setup(a.part defined) ");
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("setup(a.part remade) ");
    define("a.two", INVIVO_SCOPE_SINGLETON, plain_type, NULL, 0);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("setup(a.part remade) ");
    finish();
}

/* The generation from which on an observer hears. */
static uint64_t first_generation, since;
static void add_another(void *name, const invivo_report *report) {
    (void)name;
    if (since) return;
    first_generation = invivo_report_generation(report);
    invivo_observer observer = OBSERVE("added", .key = "a.part");
    OK(invivo_observer_generation(observer, &since, E));
}
static void an_observer_knows_its_first_generation(void) {
    begin();
    since = 0;
    invivo_observer early = OBSERVE("early", .key = "a.part");
    uint64_t found = 99;
    OK(invivo_observer_generation(early, &found, E));
    CHECK_EQUAL(found, generation());
    invivo_observer adding = OBSERVE_WITH(add_another, "adding", EVERYTHING);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("early(a.part defined) "); /* not the commit during which it was added */
    CHECK_EQUAL(since, first_generation);
    CHECK_EQUAL(since, generation());
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("early(a.part remade) added(a.part remade) ");
    close_observer(adding);
    expects_error(invivo_observer_generation(adding, &found, E), INVIVO_E_HANDLE, NULL);
    expects_error(invivo_observer_generation(early, NULL, E), INVIVO_E_ARGUMENT, "out is NULL");
    finish();
}

/* One that closes itself, and the next one, in its call. */
static invivo_observer itself, next;
static void close_both(void *name, const invivo_report *report) {
    hear(name, report);
    close_observer(itself);
    close_observer(next);
}
static void an_observer_ends_in_its_call(void) {
    begin();
    itself = OBSERVE_WITH(close_both, "itself", .key = "a.part");
    next = OBSERVE("next", .key = "a.part");
    OBSERVE("last", .key = "a.part");
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("itself(a.part defined) last(a.part defined) ");
    CHECK_EQUAL(destroyed, 2);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("last(a.part remade) ");
    finish();
}

/* While an observer is being closed, an equal one is another observer, and stays one when the closes are over. */
static invivo_observer closing, successor;
static void *close_it(void *unused) {
    (void)unused;
    (void)invivo_observer_close(closing, NULL); /* one of them may find it closed */
    return NULL;
}
static void subscribe_again(void *name, const invivo_report *report) {
    static pthread_t closers[2];
    hear(name, report);
    if (successor.bits) return;
    for (int i = 0; i < 2; i++) CHECK_EQUAL(pthread_create(&closers[i], NULL, close_it, NULL), 0);
    do {
        sched_yield();
        successor = OBSERVE_WITH(subscribe_again, name, .key = "a.part");
    } while (successor.bits == closing.bits);
    for (int i = 0; i < 2; i++) CHECK_EQUAL(pthread_detach(closers[i]), 0);
}
static void an_observer_that_is_being_closed_is_no_equal_one(void) {
    begin();
    const char *name = "again";
    closing = OBSERVE_WITH(subscribe_again, name, .key = "a.part");
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("again(a.part defined) ");
    while (__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST) == 0) sched_yield(); /* the closes are over, or nearly */
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("again(a.part remade) ");
    CHECK_EQUAL(OBSERVE_WITH(subscribe_again, name, .key = "a.part").bits, successor.bits);
    end();
    CHECK_EQUAL(destroyed, 2);
    destroyed = 0;
}

/* One that is added while a commit becomes visible does not hear of it, whatever it observes, and says so. */
static invivo_observer during[2];
static void *add_during(void *unused) {
    (void)unused;
    during[0] = OBSERVE("key", .key = "a.part");
    during[1] = OBSERVE("type", .type = "Part");
    return NULL;
}
static void add_while_publishing(void *user_data, uint32_t published) {
    pthread_t thread;
    (void)user_data;
    if (published || during[0].bits) return;
    CHECK_EQUAL(pthread_create(&thread, NULL, add_during, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}
static void an_observer_of_the_moment_of_a_commit(void) {
    begin();
    invivo_observer_options options = {.struct_size = sizeof options, .publishing = add_while_publishing};
    add(options);
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    CHECK(during[0].bits && during[1].bits);
    HEARD("");
    for (int i = 0; i < 2; i++) {
        uint64_t found = 0;
        OK(invivo_observer_generation(during[i], &found, E));
        CHECK_EQUAL(found, generation());
    }
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("type(a.part remade) key(a.part remade) ");
    finish();
}

/* Attaching an object to a key changes its properties; a pool with the name of a key is no key. */
static void targets_and_pools(void) {
    begin();
    OK(invivo_target_declare(runtime, "t.panel", list_type, E));
    OK(document("traits: {t.panel: [Set: {number: 7}]}"));
    invivo_object panel = make(list_type);
    OBSERVE("panel", .object = panel);
    OBSERVE("key", .key = "a.pool");
    invivo_target target;
    OK(invivo_target_attach(panel, "t.panel", &target, E));
    CHECK_EQUAL(at(panel)->number, 7);
    CHECK(strstr(heard, "panel(") != NULL);
    heard[0] = 0;
    OK(invivo_target_detach(target, E));
    CHECK_EQUAL(at(panel)->number, 0);
    CHECK(strstr(heard, "panel(") != NULL);
    heard[0] = 0;
    define("a.pool", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("key(a.pool defined) ");
    invivo_pool pool;
    const invivo_pool_options pool_options = {.struct_size = sizeof pool_options, .name = "a.pool"};
    OK(invivo_pool_open(runtime, &pool_options, &pool, E));
    OK(invivo_pool_clear(pool, NULL, E));
    HEARD("");
    drop(panel);
    /* Observers of ended objects end after as many commits as there are observers. */
    for (int i = 0; i < 4; i++) define("a.pool", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    CHECK_EQUAL(destroyed, 1);
    finish();
}

/* The first commit, or the error of the first reload, once. */
static sem_t told;
static char readiness[256];
static void ready(void *name, uint64_t first, const invivo_error *error) {
    size_t length = strlen(readiness);
    snprintf(readiness + length, sizeof readiness - length, "%s(%s %d) ", (const char *)name, error ? invivo_status_name(invivo_error_code(error)) : "live", (int)first);
    sem_post(&told);
}
static void the_first_generation_is_announced_once(void) {
    CHECK_EQUAL(sem_init(&told, 0, 0), 0);
    begin();
    invivo_observer_options options = {.struct_size = sizeof options, .ready = ready, .user_data = (void *)(uintptr_t)"early", .destroy = destroy};
    invivo_observer early = add(options), closed;
    CHECK_EQUAL(add(options).bits, early.bits);
    options.user_data = (void *)(uintptr_t)"closed";
    closed = add(options);
    close_observer(closed);
    CHECK_TEXT(readiness, "");
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    CHECK_TEXT(readiness, "early(live 1) ");
    define("a.part", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    CHECK_TEXT(readiness, "early(live 1) ");
    CHECK_EQUAL(sem_wait(&told), 0);
    options.user_data = (void *)(uintptr_t)"late";
    add(options);
    CHECK_EQUAL(sem_wait(&told), 0); /* on the loop thread */
    CHECK_TEXT(readiness, "early(live 1) late(live 1) ");
    end();
    CHECK_EQUAL(destroyed, 3);
    destroyed = 0, readiness[0] = 0;

    begin();
    options.user_data = (void *)(uintptr_t)"early";
    add(options);
    fail_at = "init:part";
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.part", .type = part_type, .scope = INVIVO_SCOPE_SINGLETON};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_HOST, NULL);
    fail_at = NULL;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_TEXT(readiness, "early(INVIVO_E_HOST 0) ");
    readiness[0] = 0;
    finish();
    CHECK_EQUAL(sem_destroy(&told), 0);
}

static void publishing(void *user_data, uint32_t published) { (void)user_data, (void)published; }
static void bad_input_is_refused(void) {
    begin();
    invivo_object object = make(plain_type);
    invivo_observer_options options = options_of("bad");
    invivo_observer observer;
    options.key = "a.part", options.type = "Part";
    expects_error(invivo_observe(runtime, &options, &observer, E), INVIVO_E_ARGUMENT, "options.key and options.type are given: an observer observes one of them");
    options.key = NULL, options.object = object;
    expects_error(invivo_observe(runtime, &options, &observer, E), INVIVO_E_ARGUMENT, "options.type and options.object are given: an observer observes one of them");
    options.type = NULL, options.publishing = publishing;
    expects_error(invivo_observe(runtime, &options, &observer, E), INVIVO_E_ARGUMENT,
                  "options.object and options.publishing are given: the caches of resolved objects depend on all of them");
    options.publishing = NULL;
    invivo_runtime other;
    OK(invivo_runtime_open(&other, NULL, E));
    expects_error(invivo_observe(other, &options, &observer, E), INVIVO_E_HANDLE, "options.object belongs to another runtime");
    OK(invivo_runtime_close(other, E));
    drop(object);
    expects_error(invivo_observe(runtime, &options, &observer, E), INVIVO_E_HANDLE, NULL);
    CHECK_EQUAL(observer.bits, 0);
    CHECK_EQUAL(destroyed, 0); /* not taken over */
    options = options_of("old");
    options.key = "a.part", options.struct_size = offsetof(invivo_observer_options, key); /* before there were subjects */
    OK(invivo_observe(runtime, &options, &observer, E));
    define("a.other", INVIVO_SCOPE_SINGLETON, part_type, NULL, 0);
    HEARD("old(a.other defined) ");
    finish();
}

int main(void) {
    check_begin();
    an_observer_of_a_key_hears_of_its_changes_alone();
    an_observer_of_a_key_hears_of_base_values();
    an_observer_of_a_type_hears_of_all_its_keys();
    an_observer_of_an_object_hears_of_this_object();
    observers_are_called_in_order();
    an_equal_observer_is_the_same();
    each_setup_has_its_own_observer();
    an_observer_knows_its_first_generation();
    an_observer_ends_in_its_call();
    an_observer_that_is_being_closed_is_no_equal_one();
    an_observer_of_the_moment_of_a_commit();
    targets_and_pools();
    the_first_generation_is_announced_once();
    bad_input_is_refused();
    return check_end();
}
