/* A change set that waits for a domain does not block others. Not built yet (docs/rules/wiring.md, W-R11): this program
 * is expected to fail. */
/* sanitize: no, it is expected to fail */
#include "check.h"

typedef struct { double depth; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, depth)};

static invivo_runtime runtime;
static invivo_job posted;
static int posts;
static invivo_status tuned;
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    posted = job;
    __atomic_add_fetch(&posts, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static invivo_job next_job(int number) {
    while (__atomic_load_n(&posts, __ATOMIC_SEQ_CST) < number) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    return posted;
}

static invivo_status commit_document(const char *name, const char *text) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, strlen(text), E));
    return invivo_changes_commit(changes, NULL);
}
static void *define_voice(void *type) {
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.voice",
                                                   .scope = INVIVO_SCOPE_SINGLETON, .type = *(invivo_type *)type}, NULL, E));
    return NULL;
}
static void *tune_voice(void *unused) {
    (void)unused;
    tuned = commit_document("a.yaml", "traits: { a.voice: [ Set: { depth: 3 } ] }");
    return NULL;
}

int main(void) {
    check_begin();
    invivo_runtime_options options;
    invivo_domain domain;
    invivo_type type;
    pthread_t thread;
    invivo_runtime_options_init(&options);
    options.commit_timeout_ms = 2000;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_domain_register(runtime, &(invivo_domain_options){.struct_size = sizeof(invivo_domain_options), .name = "window", .post = post}, &domain, E));
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Voice", .size = sizeof(voice),
                                                            .alignment = _Alignof(voice), .domain = domain, .properties = voice_properties,
                                                            .property_count = 1}, &type, E));
    pthread_create(&thread, NULL, define_voice, &type);
    OK(invivo_job_run(next_job(1)));
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, tune_voice, NULL);
    invivo_job waits = next_job(2);
    OK(commit_document("b.yaml", "config: { b: { x: 1 } }"));
    (void)invivo_job_run(waits); /* the first one still waits */
    pthread_join(thread, NULL);
    CHECK_EQUAL(tuned, INVIVO_OK);
    OK(invivo_runtime_close(runtime, E));
    return check_end();
}
