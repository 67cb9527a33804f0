/* Threads that open, resolve in, end and reload contexts at the same time: each object is stopped and ended once, is not used
 * afterwards, and none is left.
 *
 *   context_object_threads [ROUNDS] */
/* sanitize: yes */
#include "check.h"

enum { THREADS = 6, STEPS = 60, TYPES = 3, ALIVE = 0x600d600d, STOPPED = 0x57095709, DEAD = 0xdeaddead };
static const char *const type_names[TYPES] = {"User", "Handler", "Upload"};

typedef struct part {
    uint32_t state; /* atomic */
    int type;
    invivo_object inputs[2];
} part;

static invivo_runtime runtime;
static invivo_key keys[TYPES + 1];
static int made[TYPES], stopped[TYPES], ended[TYPES];
static invivo_context session;
static int session_turn; /* atomic: the newest session */

static void use(const part *self) {
    uint32_t state = __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);
    if (state != ALIVE && state != STOPPED) check_failed(__FILE__, __LINE__, "an object is used after its end: %x", state);
}
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)build, (void)error;
    part *self = instance;
    self->type = (int)(intptr_t)user_data;
    for (size_t i = 0; i < count && i < 2; i++) {
        void *input = NULL;
        self->inputs[i] = arguments[i].as.object;
        if (invivo_object_instance(arguments[i].as.object, (invivo_type){0}, &input, NULL) == INVIVO_OK) use(input);
        else check_failed(__FILE__, __LINE__, "an input has ended");
    }
    __atomic_store_n(&self->state, ALIVE, __ATOMIC_RELEASE);
    __atomic_add_fetch(&made[self->type], 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}
static invivo_status part_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    use(instance);
    return INVIVO_OK;
}
static invivo_status part_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data, (void)error;
    part *self = instance;
    if (__atomic_exchange_n(&self->state, STOPPED, __ATOMIC_ACQ_REL) != ALIVE) check_failed(__FILE__, __LINE__, "an object is stopped twice");
    __atomic_add_fetch(&stopped[self->type], 1, __ATOMIC_RELAXED);
    /* Its dependencies are there. */
    for (int i = 0; i < 2; i++) {
        void *input = NULL;
        if (!self->inputs[i].bits) continue;
        if (invivo_object_instance(self->inputs[i], (invivo_type){0}, &input, NULL) == INVIVO_OK) use(input);
        else check_failed(__FILE__, __LINE__, "an input of a stopped object has ended");
    }
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)user_data;
    part *self = instance;
    if (__atomic_exchange_n(&self->state, DEAD, __ATOMIC_ACQ_REL) == DEAD) check_failed(__FILE__, __LINE__, "an object ends twice");
    __atomic_add_fetch(&ended[self->type], 1, __ATOMIC_RELAXED);
}

static invivo_status define(int index, uint32_t version) {
    static const char *const names[] = {"user", "handler", "upload"};
    invivo_injection inputs[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = index == 2 ? "handler" : "user"}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = names[index], .type_name = type_names[index],
                                    .scope = index == 2 ? INVIVO_SCOPE_PROTOTYPE : INVIVO_SCOPE_CONTEXT, .scope_name = index == 0 ? "session" : index == 1 ? "request" : NULL,
                                    .initializer = inputs, .initializer_count = index ? 1 : 0, .stop_timeout_ms = 20000 + version};
    return invivo_define(runtime, &definition, NULL, NULL);
}

/* The calls may meet the end of a context, of which there are these answers. */
static bool is_expected(invivo_status status) { return status == INVIVO_OK || status == INVIVO_E_STALE || status == INVIVO_E_ORPHANED || status == INVIVO_E_NOT_READY; }
#define MAY_END(call) may_end_(__LINE__, (call))
static bool may_end_(int line, invivo_status status) {
    if (!is_expected(status)) check_failed(__FILE__, line, "returns %s", invivo_status_name(status));
    return status == INVIVO_OK;
}

static invivo_context open_kind(const char *kind, invivo_context parent) {
    invivo_context context = {0};
    invivo_context_options options = {.struct_size = sizeof options, .kind = kind, .parent = parent, .flags = parent.bits ? 0 : INVIVO_CONTEXT_DETACHED};
    return MAY_END(invivo_context_open(runtime, &options, &context, NULL)) ? context : (invivo_context){0};
}
static void *work(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument * 0x9e3779b97f4a7c15 | 1;
    for (int step = 0; step < STEPS; step++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        invivo_context parent = {.bits = __atomic_load_n(&session.bits, __ATOMIC_ACQUIRE)}, request;
        switch (random >> 40 & 15) {
        case 0: { /* another session for all; the former ends with what is in it */
            invivo_context next = open_kind("session", (invivo_context){0});
            parent.bits = __atomic_exchange_n(&session.bits, next.bits, __ATOMIC_ACQ_REL);
            MAY_END(invivo_context_end(parent, NULL));
            continue;
        }
        case 1:
            if (define((int)(random >> 50) % TYPES, (uint32_t)step) != INVIVO_OK) check_failed(__FILE__, __LINE__, "a definition is refused");
            continue;
        default: break;
        }
        request = open_kind("request", parent);
        if (!request.bits) continue;
        invivo_object leases[3] = {{0}};
        for (int i = 0; i < 3; i++) {
            void *instance;
            if (MAY_END(invivo_context_resolve(request, keys[(random >> (8 + 2 * i)) % TYPES], &leases[i], NULL))
                && invivo_object_instance(leases[i], (invivo_type){0}, &instance, NULL) == INVIVO_OK) use(instance);
        }
        if (random >> 30 & 1) MAY_END(invivo_context_end(request, NULL));
        for (int i = 0; i < 3; i++) if (leases[i].bits) invivo_object_release(leases[i]);
        if (random >> 31 & 1) MAY_END(invivo_context_end(request, NULL));
    }
    return NULL;
}
static void threads_meet(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    const invivo_context_kind kinds[] = {{.struct_size = sizeof *kinds, .name = "session", .policy = INVIVO_CONTEXT_FOLLOWS},
                                         {.struct_size = sizeof *kinds, .name = "request", .policy = INVIVO_CONTEXT_FOLLOWS}};
    static const invivo_parameter parameters[] = {{.name = "one", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    OK(invivo_context_declare_kinds(runtime, kinds, 2, E));
    for (int i = 0; i < TYPES; i++) {
        invivo_type_options type = {.struct_size = sizeof type, .name = type_names[i], .concurrency = INVIVO_SHARED, .size = sizeof(part), .alignment = 8,
                                    .init = part_init, .deinit = part_deinit, .start = part_start, .stop = part_stop, .user_data = (void *)(intptr_t)i,
                                    .parameters = parameters, .parameter_count = 1};
        invivo_type out;
        OK(invivo_type_register(runtime, &type, &out, E));
        made[i] = stopped[i] = ended[i] = 0;
    }
    static const char *const names[] = {"user", "handler", "upload"};
    for (int i = 0; i < TYPES; i++) {
        OK(define(i, 0));
        OK(invivo_key_find(runtime, names[i], &keys[i], E));
    }
    session = open_kind("session", (invivo_context){0});
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1 + 100 * (uintptr_t)session_turn));
    session_turn++;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(invivo_runtime_close(runtime, E));
    for (int i = 0; i < TYPES; i++) {
        CHECK(made[i] > 0);
        CHECK_EQUAL(stopped[i], made[i]);
        CHECK_EQUAL(ended[i], made[i]);
    }
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 4;
    check_begin();
    for (int i = 0; i < rounds && !check_failures; i++) RUN_TEST(threads_meet);
    return check_end();
}
