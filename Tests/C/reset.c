/* Reset: a key alone, with its dependencies, a scope. Dependents are updated, former instances end, unrelated objects
 * are not affected. */
#include "check.h"

typedef struct part {
    int serial;
    invivo_object input, helper;
} part;

static int serials, live;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    part *self = instance;
    (void)build, (void)user_data, (void)error;
    self->serial = ++serials, live++;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    live--;
}
static invivo_status get_helper(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((part *)instance)->helper);
    (void)user_data;
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_helper(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->helper = value->as.object;
    return INVIVO_OK;
}
static const invivo_parameter parameters[] = {{.name = "input", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "helper", .kind = INVIVO_KIND_OBJECT, .get = get_helper, .set = set_helper}};

static invivo_runtime runtime;
static invivo_type shared_type, confined_type;
static invivo_changes changes;

static void begin(void) {
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .alignment = 8,
                                   .concurrency = INVIVO_SHARED, .init = part_init, .deinit = part_deinit,
                                   .parameters = parameters, .parameter_count = 1, .properties = properties, .property_count = 1};
    serials = live = 0;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &shared_type, E));
    options.name = "Confined", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &confined_type, E));
    OK(invivo_changes_open(runtime, &changes, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
}
#define ADD(given_key, given_scope, given_type, ...)                                                                        \
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key,      \
                                                           .scope = INVIVO_SCOPE_##given_scope, .type = given_type, __VA_ARGS__}, NULL, E))
#define REFERENCE(parameter, given) {.name = parameter, .how = INVIVO_INJECT_REFERENCE, .reference = given}
#define INITIALIZER(array) .initializer = array, .initializer_count = 1
#define PROPERTIES(array) .properties = array, .property_count = 1

static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static part *at(invivo_object object) {
    void *instance = NULL;
    if (object.bits) OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
static int serial(const char *key) {
    invivo_object object = resolve(key);
    int number = at(object) ? at(object)->serial : -1;
    OK(invivo_object_release(object));
    return number;
}
static bool is_cold(const char *name) {
    invivo_key key = {0};
    invivo_object object;
    OK(invivo_key_find(runtime, name, &key, E));
    invivo_status status = invivo_peek(runtime, key, &object);
    if (!status) invivo_object_release(object);
    return status == INVIVO_E_COLD;
}
static void reset(const char *key, uint32_t flags) {
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset(changes, key, flags, E));
    OK(invivo_changes_commit(changes, E));
}

static void define_all(void) {
    static const invivo_injection through_a[] = {REFERENCE(NULL, "r.a")}, through_b[] = {REFERENCE(NULL, "r.b")};
    static const invivo_injection helped[] = {REFERENCE("helper", "r.a")};
    ADD("r.a", LAZY_SINGLETON, shared_type);
    ADD("r.b", LAZY_SINGLETON, shared_type, INITIALIZER(through_a));
    ADD("r.c", LAZY_SINGLETON, shared_type, INITIALIZER(through_b));
    ADD("r.kept", LAZY_SINGLETON, confined_type, PROPERTIES(helped));
    ADD("r.other", LAZY_SINGLETON, shared_type);
    ADD("r.eager", SINGLETON, shared_type);
    ADD("r.never", LAZY_SINGLETON, shared_type);
    OK(invivo_changes_commit(changes, E));
}

static void a_key_alone_is_let_go_and_its_dependents_follow(void) {
    begin();
    define_all();
    listener *heard = malloc(sizeof *heard);
    int a = serial("r.a"), b = serial("r.b"), c = serial("r.c"), other = serial("r.other");
    invivo_object kept = resolve("r.kept");
    int kept_was = at(kept)->serial, was_live = live;
    listener_open(heard, runtime);
    reset("r.c", 0);
    CHECK_TEXT(listener_last(heard)->changes, "r.c remade");
    CHECK_TEXT(listener_last(heard)->cause, "reset r.c");
    CHECK(is_cold("r.c")); /* no dependent requests one */
    CHECK_EQUAL(live, was_live - 1);
    CHECK_EQUAL(serial("r.b"), b);
    CHECK(serial("r.c") != c);
    c = serial("r.c");
    reset("r.a", 0);
    CHECK_TEXT(listener_last(heard)->changes, "r.a remade; r.b remade; r.c remade; r.kept reinjected");
    CHECK(serial("r.a") != a);
    CHECK(serial("r.b") != b);
    CHECK(serial("r.c") != c);
    CHECK_EQUAL(serial("r.other"), other);
    CHECK_EQUAL(at(kept)->serial, kept_was);
    CHECK_EQUAL(at(at(kept)->helper)->serial, serial("r.a"));
    CHECK_EQUAL(live, was_live);
    CHECK(is_cold("r.never"));
    int eager = serial("r.eager");
    reset("r.eager", 0);
    CHECK(!is_cold("r.eager")); /* an eager singleton is built at once */
    CHECK(serial("r.eager") != eager);
    size_t count = listener_count(heard);
    reset("r.never", 0); /* a cold key stays cold */
    CHECK_EQUAL(listener_count(heard), count + 1);
    CHECK_TEXT(listener_last(heard)->changes, "");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset(changes, "r.nevre", 0, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, "r.nevre: no definition has the key 'r.nevre'; did you mean 'r.never'?");
    OK(invivo_changes_open(runtime, &changes, E));
    expects_error(invivo_changes_reset(changes, "r.a", 8, E), INVIVO_E_ARGUMENT, NULL);
    expects_error(invivo_changes_reset_scope(changes, INVIVO_SCOPE_PROTOTYPE, E), INVIVO_E_ARGUMENT, NULL);
    invivo_changes_discard(changes);
    OK(invivo_object_release(kept));
    end();
    listener_end(heard), free(heard);
}

static void a_key_with_its_dependencies_is_let_go(void) {
    begin();
    define_all();
    int a = serial("r.a"), b = serial("r.b"), c = serial("r.c"), other = serial("r.other");
    reset("r.c", INVIVO_RESET_DEPENDENCIES);
    CHECK(is_cold("r.a") && is_cold("r.b") && is_cold("r.c"));
    CHECK(serial("r.a") != a);
    CHECK(serial("r.b") != b);
    CHECK(serial("r.c") != c);
    CHECK_EQUAL(serial("r.other"), other);
    /* By an alias, and combined with a definition in one set. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "r.name", .alias = "r.c"}, NULL, E));
    b = serial("r.b");
    reset("r.name", 0);
    CHECK(is_cold("r.c"));
    CHECK_EQUAL(serial("r.b"), b);
    end();
}

static void a_scope_is_let_go(void) {
    begin();
    define_all();
    static const invivo_parameter numbers[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    OK(invivo_changes_open(runtime, &changes, E));
    ADD("r.weak", WEAK_SINGLETON, shared_type);
    ADD("r.many", LAZY_SINGLETON, shared_type, .parameters = numbers, .parameter_count = 1);
    OK(invivo_changes_commit(changes, E));
    invivo_key many;
    OK(invivo_key_find(runtime, "r.many", &many, E));
    for (int i = 0; i < 10; i++) {
        invivo_value number = invivo_int64(i);
        invivo_object object;
        OK(invivo_resolve_with(runtime, many, &number, 1, &object, E));
        OK(invivo_object_release(object));
    }
    int a = serial("r.a"), c = serial("r.c"), eager = serial("r.eager");
    invivo_object weak = resolve("r.weak");
    CHECK_EQUAL(live, 15);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_LAZY_SINGLETON, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(live, 2); /* the eager and the weak one */
    CHECK(is_cold("r.a") && is_cold("r.b") && is_cold("r.c"));
    CHECK(serial("r.a") != a);
    CHECK(serial("r.c") != c);
    CHECK_EQUAL(serial("r.eager"), eager);
    CHECK_EQUAL(serial("r.weak"), at(weak)->serial);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_WEAK_SINGLETON, E));
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_SINGLETON, E));
    OK(invivo_changes_commit(changes, E));
    CHECK(serial("r.weak") != at(weak)->serial); /* its holder keeps the former one */
    CHECK(serial("r.eager") != eager);
    OK(invivo_object_release(weak));
    end();
}

/* Random sequences against a model: the serial number of each key. */
static void resets_equal_a_model(void) {
    enum { KEYS = 12 };
    unsigned state = 7;
    begin();
    int needs[KEYS], known[KEYS] = {0};
    for (int i = 0; i < KEYS; i++) {
        char key[16], need[16];
        needs[i] = i && i % 3 ? i - 1 : -1;
        snprintf(key, sizeof key, "m.%d", i);
        snprintf(need, sizeof need, "m.%d", needs[i]);
        invivo_injection into[] = {REFERENCE(NULL, need)};
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key,
                                 .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = shared_type, .initializer = into,
                                 .initializer_count = needs[i] >= 0}, NULL, E));
    }
    OK(invivo_changes_commit(changes, E));
    for (int round = 0; round < 600; round++) {
        char key[16];
        state = state * 1664525u + 1013904223u;
        int i = (int)((state >> 8) % KEYS);
        snprintf(key, sizeof key, "m.%d", i);
        if (state >> 30) {
            int found = serial(key);
            if (known[i]) CHECK_EQUAL(found, known[i]);
            for (int j = i; j >= 0; j = needs[j]) {
                char name[16];
                snprintf(name, sizeof name, "m.%d", j);
                int now = serial(name);
                if (known[j]) CHECK_EQUAL(now, known[j]);
                known[j] = now;
            }
            continue;
        }
        bool deep = state >> 29 & 1;
        reset(key, deep ? INVIVO_RESET_DEPENDENCIES : 0);
        /* A built key and its built dependents are replaced; a cold key is not affected, and nothing else changes. */
        bool changes_here[KEYS] = {false};
        for (int j = i; j >= 0; j = deep ? needs[j] : -1)
            for (int k = j; k < KEYS && known[k] && (k == j || needs[k] == k - 1); k++) changes_here[k] = true;
        for (int j = 0; j < KEYS; j++) {
            char name[16];
            snprintf(name, sizeof name, "m.%d", j);
            if (!known[j]) continue;
            int now = serial(name);
            if (changes_here[j]) CHECK(now != known[j]);
            else CHECK_EQUAL(now, known[j]);
            known[j] = now;
        }
    }
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(a_key_alone_is_let_go_and_its_dependents_follow);
    RUN_TEST(a_key_with_its_dependencies_is_let_go);
    RUN_TEST(a_scope_is_let_go);
    RUN_TEST(resets_equal_a_model);
    return check_end();
}
