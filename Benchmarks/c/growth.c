/* growth.c: the cost of wiring as it grows: activation, lookups, a reload of one key, memory; and object graphs. */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <malloc.h>
#include <string.h>

static void must(invivo_status status, invivo_error *error) {
    if (!status) return;
    fprintf(stderr, "%s\n", invivo_error_text(error));
    exit(1);
}

typedef struct { invivo_object input; double numbers[4]; } part;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)build, (void)user_data, (void)error;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) ((part *)instance)->input = arguments[0].as.object;
    return INVIVO_OK;
}
static const invivo_parameter part_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "second", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
};

static invivo_runtime open_runtime(invivo_type *type) {
    invivo_error *error = NULL;
    invivo_runtime own;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .concurrency = INVIVO_SHARED, .size = sizeof(part),
                                   .alignment = 8, .init = part_init, .parameters = part_parameters, .parameter_count = 2};
    must(invivo_runtime_open(&own, NULL, &error), error);
    must(invivo_type_register(own, &options, type, &error), error);
    return own;
}

/* Every tenth key starts a chain; each other key depends on the preceding one. */
static invivo_status define(invivo_changes changes, invivo_type type, long i, uint32_t scope, invivo_error **error) {
    char name[32], before[32];
    snprintf(name, sizeof name, "many.k%07ld", i);
    snprintf(before, sizeof before, "many.k%07ld", i - 1);
    invivo_injection input[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = before}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = name, .type = type, .scope = scope,
                                    .initializer = input, .initializer_count = i % 10 ? 1 : 0};
    return invivo_changes_define(changes, &definition, NULL, error);
}

static void grow(long count) {
    invivo_error *error = NULL;
    invivo_type type;
    char row_name[64];
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    invivo_runtime own = open_runtime(&type);
    invivo_changes changes;
    must(invivo_changes_open(own, &changes, &error), error);
    double begun = wall_ns();
    for (long i = 0; i < count; i++) must(define(changes, type, i, INVIVO_SCOPE_LAZY_SINGLETON, &error), error);
    must(invivo_changes_commit(changes, &error), error);
    double activation = (wall_ns() - begun) / (double)count;
    double bytes = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / (double)count;
    snprintf(row_name, sizeof row_name, "grow.activate.%ld", count);
    row(row_name, activation, "ns", "none", 0, "recorded, for each definition", true);
    if (count >= 1000) {
        snprintf(row_name, sizeof row_name, "memory.definition.%ld", count);
        row(row_name, bytes, "bytes", "none", 0, "<= 200", bytes <= 200);
    }
    /* A cold chain of ten, then lookups by name among all. */
    before = mallinfo2().uordblks + mallinfo2().hblkhd;
    begun = wall_ns();
    long chains = count / 10 < 1000 ? count / 10 : 1000;
    for (long i = 0; i < chains; i++) {
        char name[32];
        invivo_object object;
        snprintf(name, sizeof name, "many.k%07ld", i * (count / 10 / chains) * 10 + 9);
        must(invivo_resolve_name(own, name, &object, &error), error);
        invivo_object_release(object);
    }
    snprintf(row_name, sizeof row_name, "grow.build.%ld", count);
    row(row_name, (wall_ns() - begun) / (double)(chains * 10), "ns", "none", 0, "recorded, for each object of a cold chain of 10", true);
    if (count >= 1000) {
        double each = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / (double)(chains * 10) - sizeof(part);
        snprintf(row_name, sizeof row_name, "memory.instance.%ld", count);
        row(row_name, each, "bytes", "none", 0, "<= 64 over the instance", each <= 64);
    }
    invivo_view view = invivo_view_begin(own);
    long lookups = 200000;
    begun = wall_ns();
    for (long i = 0; i < lookups; i++) {
        char name[32] = "many.k0000009";
        long chain = (i * 7919) % chains * (count / 10 / chains) * 10 + 9;
        for (int digit = 12; digit > 5; digit--) name[digit] = (char)('0' + chain % 10), chain /= 10;
        KEEP(invivo_view_find(view, name, 13));
    }
    snprintf(row_name, sizeof row_name, "grow.find.%ld", count);
    row(row_name, (wall_ns() - begun) / (double)lookups, "ns", "none", 0, "recorded", true);
    invivo_view_end(view);
    /* A key without dependents, redefined; then one at the end of a built chain. */
    long rounds = count > 100000 ? 100 : 300;
    begun = wall_ns();
    for (long i = 0; i < rounds; i++) {
        must(invivo_changes_open(own, &changes, &error), error);
        must(define(changes, type, 9, INVIVO_SCOPE_LAZY_SINGLETON, &error), error);
        must(invivo_changes_commit(changes, &error), error);
    }
    snprintf(row_name, sizeof row_name, "grow.reload.%ld", count);
    row(row_name, (wall_ns() - begun) / (double)rounds / 1e3, "us", "none", 0, "recorded", true);
    /* A scope with a constant number of objects, regardless of the definitions: ten objects of one chain. */
    must(invivo_changes_open(own, &changes, &error), error);
    must(invivo_changes_reset_scope(changes, INVIVO_SCOPE_LAZY_SINGLETON, &error), error);
    must(invivo_changes_commit(changes, &error), error);
    double reset = 0;
    for (long i = 0; i < rounds; i++) {
        invivo_object object;
        must(invivo_resolve_name(own, "many.k0000009", &object, &error), error);
        invivo_object_release(object);
        begun = wall_ns();
        must(invivo_changes_open(own, &changes, &error), error);
        must(invivo_changes_reset_scope(changes, INVIVO_SCOPE_LAZY_SINGLETON, &error), error);
        must(invivo_changes_commit(changes, &error), error);
        reset += wall_ns() - begun;
    }
    snprintf(row_name, sizeof row_name, "reset.scope.%ld", count);
    static double reset_floor;
    if (count == 1000) reset_floor = reset / (double)rounds / 1e3;
    row(row_name, reset / (double)rounds / 1e3, "us", count > 1000 ? "the same among 1,000" : "none", count > 1000 ? reset_floor : 0,
        count > 1000 ? "<= 2 x among 1,000" : "recorded, ten objects held", count <= 1000 || reset / (double)rounds / 1e3 <= 2 * reset_floor);
    begun = wall_ns();
    must(invivo_runtime_close(own, &error), error);
    snprintf(row_name, sizeof row_name, "grow.close.%ld", count);
    row(row_name, (wall_ns() - begun) / (double)count, "ns", "none", 0, "recorded, for each definition", true);
}

/* Ten nodes, created and released: by hand with malloc, and as graph-scope definitions. Node i takes i - 1 and i - 2,
 * so most are shared within the graph. */
typedef struct hand { struct hand *first, *second; int count; double numbers[4]; } hand;
static hand *taken(hand *node) {
    if (node) node->count++;
    return node;
}
static hand *make_by_hand(void) {
    hand *nodes[10];
    for (int i = 0; i < 10; i++) {
        hand *node = calloc(1, sizeof *node);
        if (!node) exit(1);
        node->first = i > 0 ? taken(nodes[i - 1]) : NULL;
        node->second = i > 1 ? taken(nodes[i - 2]) : NULL;
        nodes[i] = node;
    }
    return taken(nodes[9]);
}
static void end_by_hand(hand *node) {
    if (!node || --node->count > 0) return;
    end_by_hand(node->first);
    end_by_hand(node->second);
    free(node);
}

typedef struct taker { invivo_object first, second; double numbers[4]; } taker;
static invivo_status taker_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user, invivo_error **error) {
    taker *self = instance;
    (void)build, (void)user, (void)error;
    if (count > 0) self->first = arguments[0].as.object;
    if (count > 1) self->second = arguments[1].as.object;
    return INVIVO_OK;
}
static const invivo_parameter taker_parameters[] = {{"first", INVIVO_KIND_OBJECT, INVIVO_PARAMETER_OPTIONAL, NULL},
                                                    {"second", INVIVO_KIND_OBJECT, INVIVO_PARAMETER_OPTIONAL, NULL}};

static void graph10(bool quick) {
    invivo_error *error = NULL;
    invivo_type type;
    invivo_runtime own;
    invivo_changes changes;
    invivo_key key;
    invivo_object object;
    char names[10][16];
    invivo_type_options options = {.struct_size = sizeof options, .name = "Taker", .concurrency = INVIVO_SHARED, .size = sizeof(taker),
                                   .alignment = 8, .init = taker_init, .parameters = taker_parameters, .parameter_count = 2};
    must(invivo_runtime_open(&own, NULL, &error), error);
    must(invivo_type_register(own, &options, &type, &error), error);
    must(invivo_changes_open(own, &changes, &error), error);
    for (int i = 0; i < 10; i++) {
        snprintf(names[i], sizeof names[i], "graph.n%d", i);
        invivo_injection takes[2] = {{.how = INVIVO_INJECT_REFERENCE, .reference = i > 0 ? names[i - 1] : NULL},
                                     {.how = INVIVO_INJECT_REFERENCE, .reference = i > 1 ? names[i - 2] : NULL}};
        invivo_definition node = {.struct_size = sizeof node, .key = names[i], .type = type, .scope = INVIVO_SCOPE_GRAPH,
                                  .initializer = takes, .initializer_count = i > 1 ? 2 : (uint64_t)i};
        must(invivo_changes_define(changes, &node, &key, &error), error);
    }
    must(invivo_changes_commit(changes, &error), error);
    /* Checks the sharing: the second input of the last node is the first input of its first input. */
    void *last, *before;
    must(invivo_resolve(own, key, &object, &error), error);
    must(invivo_object_instance(object, type, &last, &error), error);
    must(invivo_object_instance(((taker *)last)->first, type, &before, &error), error);
    if (((taker *)last)->second.bits != ((taker *)before)->first.bits) exit(1);
    invivo_object_release(object);
    long count = quick ? 20000 : 200000;
    double by_hand = 1e300, ours = 1e300;
    for (int round = 0; round < 5; round++) {
        double begun = wall_ns();
        for (long i = 0; i < count; i++) {
            hand *node = make_by_hand();
            KEEP(node);
            end_by_hand(node);
        }
        double each = (wall_ns() - begun) / (double)count;
        if (each < by_hand) by_hand = each;
        begun = wall_ns();
        for (long i = 0; i < count; i++) {
            must(invivo_resolve(own, key, &object, &error), error);
            invivo_object_release(object);
        }
        each = (wall_ns() - begun) / (double)count;
        if (each < ours) ours = each;
    }
    row("c.graph10", ours, "ns", "ten nodes by hand", by_hand, "<= 2 x by hand", ours <= 2 * by_hand);
    must(invivo_runtime_close(own, &error), error);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    graph10(quick);
    for (long count = 10; count <= (quick ? 100000 : 1000000) && count <= (getenv("MOST") ? atol(getenv("MOST")) : 1000000); count *= count == 10 ? 100 : count == 100000 ? 10 : 100) grow(count);
    return 0;
}
