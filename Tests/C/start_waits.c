/* Two threads that wait for each other through a start hook: the build that holds nothing begins again. */
/* sanitize: yes */
#include "check.h"
#include <semaphore.h>

static invivo_runtime runtime;
static invivo_type starter, user, plain;
static int live;
static sem_t second_is_built;

static invivo_status resolve(const char *key, invivo_error **error) {
    invivo_object object;
    invivo_status status = invivo_resolve_name(runtime, key, &object, error);
    if (!status) OK(invivo_object_release(object));
    return status;
}

/* The start hook of "a.first" needs "a.second", which another thread creates by now. */
static invivo_status start(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data;
    sem_wait(&second_is_built);
    return resolve("a.second", error);
}
/* The initializer of "a.second" needs "a.first". */
static invivo_status user_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    sem_post(&second_is_built);
    invivo_status status = resolve("a.first", error);
    if (!status) __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return status;
}
static invivo_status init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
/* The last hook of "a.outer" resolves "a.first" in a build of its own. */
static invivo_status did_inject(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data;
    return resolve("a.first", error);
}

static invivo_type register_type(invivo_type_options options) {
    invivo_type type;
    options.struct_size = sizeof options, options.size = sizeof(int), options.concurrency = INVIVO_SHARED;
    options.deinit = deinit;
    OK(invivo_type_register(runtime, &options, &type, E));
    return type;
}
static void begin(void) {
    OK(invivo_runtime_open(&runtime, NULL, E));
    live = 0;
    sem_init(&second_is_built, 0, 0);
    starter = register_type((invivo_type_options){.name = "Starter", .init = init, .start = start});
    user = register_type((invivo_type_options){.name = "User", .init = user_init});
    plain = register_type((invivo_type_options){.name = "Plain", .init = init, .did_inject = did_inject});
    const invivo_definition definitions[] = {
        {.struct_size = sizeof(invivo_definition), .key = "a.first", .type = starter, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
        {.struct_size = sizeof(invivo_definition), .key = "a.second", .type = user, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
        {.struct_size = sizeof(invivo_definition), .key = "a.outer", .type = plain, .scope = INVIVO_SCOPE_LAZY_SINGLETON}};
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) OK(invivo_define(runtime, &definitions[i], NULL, E));
}

static void *run(void *key) {
    OK(resolve(key, E));
    return NULL;
}

/* Whichever of them closes the cycle, the build of "a.second" gives way to the hook, which creates it. */
static void a_start_hook_and_a_build_wait_for_each_other(const char *outermost) {
    for (int round = 0; round < 20; round++) {
        begin();
        pthread_t threads[2];
        const char *keys[] = {outermost, "a.second"};
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, (void *)keys[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        OK(invivo_runtime_close(runtime, E));
        CHECK_EQUAL(live, 0);
        sem_destroy(&second_is_built);
    }
}

int main(void) {
    check_begin();
    a_start_hook_and_a_build_wait_for_each_other("a.first");
    a_start_hook_and_a_build_wait_for_each_other("a.outer");
    return check_end();
}
