/* Objects in cycles, used by several threads: resolves, releases, traversals, and reloads. Nothing is disposed of twice
 * or while it is held, and no unreferenced cycle remains. */
/* sanitize: yes */
#include "check.h"

enum { THREADS = 3, HELD = 6 };
static const uint64_t alive = 0x6976612d65766c61, dead = 0x646165642d616564;

typedef struct node {
    uint64_t mark;
    uint64_t left, right; /* handles of objects; the runtime holds the leases */
} node;

static int live, wrong, rounds = 4000;
static invivo_runtime runtime;
static invivo_type type;

static invivo_status node_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    __atomic_store_n(&((node *)instance)->mark, alive, __ATOMIC_RELEASE);
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void node_deinit(void *instance, void *user_data) {
    (void)user_data;
    if (__atomic_exchange_n(&((node *)instance)->mark, dead, __ATOMIC_ACQ_REL) != alive) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status get_node(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    uint64_t bits = __atomic_load_n((uint64_t *)((char *)instance + (size_t)user_data), __ATOMIC_ACQUIRE);
    invivo_value object = invivo_object_value((invivo_object){bits});
    *out = invivo_null();
    return bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_node(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)error;
    __atomic_store_n((uint64_t *)((char *)instance + (size_t)user_data), value->kind == INVIVO_KIND_OBJECT ? value->as.object.bits : 0,
                     __ATOMIC_RELEASE);
    return INVIVO_OK;
}
static const invivo_property properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_node, .set = set_node, .user_data = (void *)offsetof(node, left)},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_node, .set = set_node, .user_data = (void *)offsetof(node, right)},
};

static void add(invivo_changes changes, const char *key, uint32_t scope, const char *left, const char *right) {
    invivo_injection into[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = left},
                               {.name = "right", .how = INVIVO_INJECT_REFERENCE, .reference = right}};
    invivo_definition definition = {.struct_size = sizeof(definition), .key = key, .scope = scope, .type = type, .properties = into,
                                    .property_count = right ? 2 : 1};
    OK(invivo_changes_define(changes, &definition, NULL, E));
}
static void add_shared(invivo_changes changes, unsigned way) {
    if (way & 1) add(changes, "s.a", INVIVO_SCOPE_LAZY_SINGLETON, "s.b", way & 8 ? "w.a" : NULL);
    if (way & 2) add(changes, "s.b", INVIVO_SCOPE_LAZY_SINGLETON, way & 8 ? "s.a" : "s.c", NULL);
    if (way & 4) add(changes, "s.c", INVIVO_SCOPE_LAZY_SINGLETON, "s.a", way & 8 ? "s.b" : NULL);
    if (way & 16) add(changes, "w.b", INVIVO_SCOPE_WEAK_SINGLETON, "w.a", way & 8 ? "w.b" : NULL);
}

static const char *const keys[] = {"p.a", "p.b", "w.a", "w.b", "s.a", "s.b", "s.c"};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static unsigned draw(unsigned *seed) { return *seed = *seed * 1664525 + 1013904223, *seed >> 8; }

static bool is_alive(invivo_object object) {
    void *instance = NULL;
    return OK(invivo_object_instance(object, type, &instance, E)) && __atomic_load_n(&((node *)instance)->mark, __ATOMIC_ACQUIRE) == alive;
}

static void *use(void *number) {
    unsigned seed = (unsigned)(intptr_t)number * 7919 + 1;
    invivo_object held[HELD] = {{0}};
    for (int round = 0; round < rounds; round++) {
        invivo_object *place = &held[draw(&seed) % HELD];
        unsigned what = draw(&seed) % 8;
        if (place->bits && !is_alive(*place)) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
        if (place->bits && what < 2) {
            /* Moves on to a neighbor and releases the former object: a reload may just have replaced the neighbor. */
            invivo_value next = invivo_null();
            invivo_status status = invivo_object_get(*place, what ? "left" : "right", &next, NULL);
            if (status != INVIVO_OK && status != INVIVO_E_HANDLE) check_failed(__FILE__, __LINE__, "a get answers %s", invivo_status_name(status));
            OK(invivo_object_release(*place));
            *place = next.kind == INVIVO_KIND_OBJECT ? next.as.object : (invivo_object){0};
        } else if (place->bits) {
            OK(invivo_object_release(*place));
            place->bits = 0;
        } else {
            OK(invivo_resolve_name(runtime, keys[draw(&seed) % KEYS], place, E));
        }
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i].bits) OK(invivo_object_release(held[i]));
    }
    return NULL;
}

static bool stop;
static void *reload(void *unused) {
    unsigned seed = 42;
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_changes changes;
        unsigned way = draw(&seed) % 32;
        if (!(way & 23)) continue;
        OK(invivo_changes_open(runtime, &changes, E));
        add_shared(changes, way);
        OK(invivo_changes_commit(changes, E));
    }
    return NULL;
}

/* Objects that readers still protect are released a little later. */
static bool ends_at(int count) {
    struct timespec now;
    time_t limit;
    clock_gettime(CLOCK_MONOTONIC, &now);
    limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    while (__atomic_load_n(&live, __ATOMIC_SEQ_CST) != count && now.tv_sec < limit) {
        invivo_runtime_info info = {.struct_size = sizeof(info)};
        OK(invivo_runtime_inspect(runtime, &info, E));
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return CHECK_EQUAL(live, count);
}

static void circles_end_exactly_once(bool reloads) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Node", .size = sizeof(node), .concurrency = INVIVO_SHARED,
                                   .init = node_init, .deinit = node_deinit, .properties = properties, .property_count = 2};
    pthread_t users[THREADS], reloader;
    invivo_changes changes;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_changes_open(runtime, &changes, E));
    add(changes, "p.a", INVIVO_SCOPE_PROTOTYPE, "p.b", NULL);
    add(changes, "p.b", INVIVO_SCOPE_GRAPH, "p.a", "w.a");
    add(changes, "w.a", INVIVO_SCOPE_WEAK_SINGLETON, "w.b", NULL);
    add_shared(changes, 23);
    OK(invivo_changes_commit(changes, E));
    stop = false;
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&users[i], NULL, use, (void *)i);
    if (reloads) pthread_create(&reloader, NULL, reload, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(users[i], NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    if (reloads) pthread_join(reloader, NULL);
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < KEYS; i++) OK(invivo_changes_remove(changes, keys[i], E));
    OK(invivo_changes_commit(changes, E));
    ends_at(0);
    CHECK_EQUAL(wrong, 0);
    OK(invivo_runtime_close(runtime, E));
}

int main(int count, char **arguments) {
    if (count > 1) rounds = atoi(arguments[1]);
    check_begin();
    circles_end_exactly_once(false);
    circles_end_exactly_once(true);
    return check_end();
}
