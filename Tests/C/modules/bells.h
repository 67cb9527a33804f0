/* A module that registers one of each kind. In the file to be corrected, its entry then fails. */
#include <invivo/invivo.h>

#include <stdlib.h>

typedef struct { double pitch; } bell;
static const invivo_property bell_properties[] = {INVIVO_FIELD(bell, pitch)};

static void count_reload(void *calls, const invivo_report *report) {
    (void)report;
    ++*(int *)calls;
}
static invivo_status read_pitch(void *unused, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)unused, (void)length, (void)error;
    *out = invivo_double(atof(text));
    return INVIVO_OK;
}
static invivo_status find_tower(void *unused, uint64_t *place, invivo_error **error) {
    (void)unused, (void)error;
    *place = 1;
    return INVIVO_OK;
}
static invivo_status run_job(void *unused, invivo_job job, invivo_error **error) {
    (void)unused, (void)error;
    return invivo_job_run(job);
}

/* The environment contains the host's counter of observer calls, as a number. */
static invivo_status register_bells(invivo_runtime runtime, invivo_error **error) {
    const char *calls = getenv("BELLS_CALLS");
    invivo_type type;
    invivo_domain domain;
    invivo_pool pool;
    invivo_observer observer;
    invivo_status status = invivo_domain_register(
        runtime, &(invivo_domain_options){.struct_size = sizeof(invivo_domain_options), .name = "tower", .post = run_job}, &domain, error);
    if (!status)
        status = invivo_type_register(
            runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Bell", .concurrency = INVIVO_SHARED, .size = sizeof(bell),
                                            .alignment = _Alignof(bell), .properties = bell_properties, .property_count = 1}, &type, error);
    if (!status) status = invivo_type_extend(runtime, type, "Instrument", error);
    if (!status)
        status = invivo_converter_register(
            runtime, &(invivo_converter_options){.struct_size = sizeof(invivo_converter_options), .name = "pitch", .convert = read_pitch}, error);
    if (!status)
        status = invivo_scope_register(
            runtime, &(invivo_scope_options){.struct_size = sizeof(invivo_scope_options), .name = "tower", .find = find_tower}, error);
    if (!status)
        status = invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "tower.bell",
                                                             .scope = INVIVO_SCOPE_SINGLETON, .type = type}, NULL, error);
    if (!status) {
        invivo_definition low = {.struct_size = sizeof(low), .key = "low", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type};
        invivo_assembly chimes = {.struct_size = sizeof(chimes), .name = "chimes", .definitions = &low, .definition_count = 1};
        const invivo_assembly *all[] = {&chimes};
        status = invivo_activate(runtime, all, 1, NULL, error);
    }
    if (!status) status = invivo_pool_open(runtime, &(invivo_pool_options){.struct_size = sizeof(invivo_pool_options), .name = "bells"}, &pool, error);
    if (!status)
        status = invivo_observe(
            runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = count_reload,
                                                .user_data = calls ? (void *)(uintptr_t)strtoull(calls, NULL, 10) : NULL}, &observer, error);
    return status;
}
