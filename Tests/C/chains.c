/* Long dependency chains: endless wirings, and chains longer than a stack. */
/* sanitize: yes */
#include "nodes.h"

/* A sanitizer build needs more stack than the usual 8 MiB for the maximum chain. */
enum { SMALL_STACK = 512 << 10, LARGE_STACK = 64 << 20 };
static void on_a_stack(size_t size, void *(*body)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    if (CHECK_EQUAL(pthread_create(&thread, &attributes, body, NULL), 0)) pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}
static void *resolve_without_end(void *unused) {
    (void)unused;
    invivo_object object;
    invivo_value one[] = {invivo_int64(1)};
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_resolve_with(runtime, key_of("a.deep"), one, 1, &object, &error), INVIVO_E_CYCLE);
    CHECK(strstr(invivo_error_text(error), "the chain of dependencies does not end: 256 objects need each other") != NULL);
    invivo_error_release(error);
    return NULL;
}

static void a_wiring_that_never_ends_is_an_error(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "next", .kind = INVIVO_KIND_ANY}};
    invivo_injection nested[] = {{.how = INVIVO_INJECT_ARGUMENTS}};
    invivo_injection deeper[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.deep", .items = nested, .item_count = 1}};
    DEFINE("a.deep", PROTOTYPE, PROPERTIES(deeper), .parameters = parameters, .parameter_count = 1);
    on_a_stack(LARGE_STACK, resolve_without_end);
    CHECK_EQUAL(live, 0);
    end();
}

enum { LONG = 800 };
static invivo_object long_chain;
static void define_chain(uint32_t scope, int length) {
    char names[LONG + 1][16];
    invivo_injection next[LONG];
    describe();
    for (int i = 0; i <= length; i++) snprintf(names[i], sizeof names[i], "a.n%d", i);
    for (int i = 0; i <= length; i++) {
        if (i < length) next[i] = (invivo_injection)KEY("input", names[i + 1]);
        invivo_definition definition = {.struct_size = sizeof definition, .key = names[i], .scope = scope, .type = leaf_type,
                                        .initializer = i < length ? &next[i] : NULL, .initializer_count = i < length};
        OK(invivo_changes_define(changes, &definition, NULL, E));
    }
    commit();
}
static void *resolve_chain(void *unused) {
    (void)unused;
    expects_error(invivo_resolve_name(runtime, "a.n0", &long_chain, E), INVIVO_E_CYCLE, NULL);
    CHECK_EQUAL(live, 0);
    /* The limit applies to objects that are created together: from the other end they are created one by one. */
    for (int i = LONG - 2; i >= 0; i -= 2) {
        char name[16];
        snprintf(name, sizeof name, "a.n%d", i);
        drop(resolve(name));
    }
    CHECK_EQUAL(live, LONG + 1);
    return NULL;
}
static void *make_chain(void *unused) {
    (void)unused;
    OK(invivo_resolve_name(runtime, "a.n0", &long_chain, E));
    return NULL;
}
static void *drop_chain(void *unused) {
    (void)unused;
    drop(long_chain);
    return NULL;
}
static void a_long_chain_is_an_error_on_a_small_stack_and_no_crash(void) {
    begin();
    define_chain(INVIVO_SCOPE_LAZY_SINGLETON, LONG);
    on_a_stack(SMALL_STACK, resolve_chain);
    end();
    /* Created where the stack is large, disposed of where it is small. */
    begin();
    define_chain(INVIVO_SCOPE_PROTOTYPE, 200);
    on_a_stack(LARGE_STACK, make_chain);
    CHECK_EQUAL(live, 201);
    on_a_stack(SMALL_STACK, drop_chain);
    CHECK_EQUAL(live, 0);
    end();
}

static void a_chain_longer_than_any_stack_ends(void) {
    begin();
    invivo_injection former[] = {ARGUMENT("input", 0)};
    static const invivo_parameter parameters[] = {{.name = "former", .kind = INVIVO_KIND_ANY}};
    DEFINE("a.link", PROTOTYPE, .type = leaf_type, INITIALIZER(former), .parameters = parameters, .parameter_count = 1);
    invivo_key key = key_of("a.link");
    invivo_value none = invivo_null();
    invivo_object last = {0};
    OK(invivo_resolve_with(runtime, key, &none, 1, &last, E));
    for (int i = 0; i < 50000; i++) {
        invivo_value held = invivo_object_value(last);
        invivo_object next;
        if (invivo_resolve_with(runtime, key, &held, 1, &next, NULL)) check_failed(__FILE__, __LINE__, "link %d is not made", i);
        drop(last);
        last = next;
    }
    CHECK_EQUAL(live, 50001);
    drop(last);
    CHECK_EQUAL(live, 0);
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(a_wiring_that_never_ends_is_an_error);
    RUN_TEST(a_long_chain_is_an_error_on_a_small_stack_and_no_crash);
    RUN_TEST(a_chain_longer_than_any_stack_ends);
    return check_end();
}
