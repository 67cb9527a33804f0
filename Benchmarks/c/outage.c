/* outage.c: the effect of replacing a service on its users: the time without it, and the wait of others during a call
 * in the old one. */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct { int64_t version; } service;

static void must(invivo_status status, invivo_error *error) {
    if (status) exit(invivo_error_report(error));
}

/* A call stays in it until it is released. */
static atomic_int sits, leaves;
static invivo_status call_sit(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                              invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count, (void)result, (void)error;
    sits = 1;
    while (!leaves) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return INVIVO_OK;
}
static const invivo_method methods[] = {{.struct_size = sizeof(invivo_method), .name = "sit", .call = call_sit}};
static const invivo_property properties[] = {INVIVO_FIELD(service, version)};

static invivo_runtime runtime;
static invivo_type type;
static invivo_key key;

static void define(const char *name, int64_t version) {
    invivo_error *error = NULL;
    const invivo_injection with[] = {{.name = "version", .value = invivo_int64(version)}};
    must(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = name, .type = type,
                       .scope = INVIVO_SCOPE_LAZY_SINGLETON, .properties = with, .property_count = 1}, NULL, &error), error);
}

static atomic_int stop;
static long asked;
static double away, longest;
static void *ask(void *unused) {
    (void)unused;
    double since = 0, former = wall_ns();
    while (!stop) {
        invivo_object object;
        invivo_status status = invivo_resolve(runtime, key, &object, NULL);
        double now = wall_ns();
        if (status && since == 0) since = former;
        if (!status && since != 0) away += now - since, since = 0;
        if (!status) invivo_object_release(object);
        if (now - former > longest) longest = now - former;
        former = now, asked++;
    }
    return NULL;
}
static void *sit(void *unused) {
    invivo_error *error = NULL;
    invivo_object object;
    invivo_value nothing = invivo_null();
    (void)unused;
    must(invivo_resolve(runtime, key, &object, &error), error);
    must(invivo_object_call(object, "sit", NULL, 0, &nothing, &error), error);
    invivo_object_release(object);
    return NULL;
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    invivo_error *error = NULL;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Service", .size = sizeof(service), .alignment = 8,
                                   .concurrency = INVIVO_SHARED, .methods = methods, .method_count = 1,
                                   .properties = properties, .property_count = 1};
    pthread_t thread;
    must(invivo_runtime_open(&runtime, NULL, &error), error);
    must(invivo_type_register(runtime, &options, &type, &error), error);
    define("o.service", 0);
    must(invivo_key_find(runtime, "o.service", &key, &error), error);
    pthread_create(&thread, NULL, ask, NULL);
    int rounds = quick ? 500 : 5000;
    for (int i = 1; i <= rounds; i++) define("o.service", i);
    stop = 1;
    pthread_join(thread, NULL);
    row("reload.outage", away, "ns", "resolves of it meanwhile", (double)asked, "0", away == 0);
    row("reload.outage.longest", longest, "ns", "reloads", rounds, "recorded: a resolve of it, the scheduler included", true);

    /* Other operations during a call in the old one, one by one. */
    double worst = 0, replaced = 0;
    for (int round = 0; round < (quick ? 5 : 20); round++) {
        char name[32];
        invivo_object object;
        invivo_key other;
        sits = leaves = 0;
        pthread_create(&thread, NULL, sit, NULL);
        while (!sits) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        double begun = wall_ns();
        define("o.service", -round);
        replaced = fmax(replaced, wall_ns() - begun);
        snprintf(name, sizeof name, "o.other%d", round);
        begun = wall_ns();
        define(name, round);
        worst = fmax(worst, wall_ns() - begun);
        must(invivo_key_find(runtime, name, &other, &error), error);
        for (int i = 0; i < 2; i++) { /* cold, then built */
            begun = wall_ns();
            must(invivo_resolve(runtime, other, &object, &error), error);
            worst = fmax(worst, wall_ns() - begun);
            invivo_object_release(object);
        }
        leaves = 1;
        pthread_join(thread, NULL);
    }
    row("reload.outage.others", worst / 1e3, "us", "the replacement itself", replaced / 1e3, "<= 1000 us", worst <= 1e6);
    must(invivo_runtime_close(runtime, &error), error);
    return 0;
}
