/* Registrations of a module's entry are committed or dropped as a whole. Not built yet (docs/rules/wiring.md, W-R12).
 * This program is expected to fail with exit status 1 and one line per remaining registration. Any other failure ends
 * it with exit status 0, which the build refuses. */
#include "check.h"

typedef struct { int64_t number; } plain;
static const invivo_property plain_properties[] = {INVIVO_FIELD(plain, number)};
static int calls;

/* The corrected file has the path of the failed one. */
static void put_module(const char *name) {
    char path[4096];
    FILE *from;
    char bytes[65536];
    size_t length;
    snprintf(path, sizeof(path), "%s/lib%s.so", TEST_MODULES, name);
    from = fopen(path, "r");
    unlink("bells.so");
    FILE *to = fopen("bells.so", "w");
    if (!from || !to) check_failed(path, 0, "cannot be copied: %s", strerror(errno));
    while (from && to && (length = fread(bytes, 1, sizeof(bytes), from)) > 0)
        if (fwrite(bytes, 1, length, to) != length) check_failed(path, 0, "cannot be copied: %s", strerror(errno));
    if (from) fclose(from);
    if (to) fclose(to);
}

/* No registration of the module exists. */
static void expect_nothing(invivo_runtime runtime) {
    invivo_type type = {0};
    invivo_object object = {0};
    invivo_pool pool = {0};
    invivo_value value = {0};
    uint32_t state = 0;
    expects_error(invivo_type_find(runtime, "Bell", &type, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_resolve_name(runtime, "tower.bell", &object, E), INVIVO_E_NOT_FOUND, NULL);
    if (object.bits) OK(invivo_object_release(object));
    OK(invivo_resolve_all(runtime, "Instrument", 0, &value, E));
    CHECK_EQUAL(value.as.list.count, 0);
    invivo_value_clear(&value);
    OK(invivo_assembly_state(runtime, "chimes", &state, E));
    CHECK_EQUAL(state, INVIVO_ASSEMBLY_UNKNOWN);
    expects_error(invivo_convert(runtime, "pitch", "1", 1, &value, E), INVIVO_E_NOT_FOUND, NULL);
    invivo_value_clear(&value);
    expects_error(invivo_scope_end(runtime, "tower", 1, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_pool_find(runtime, "bells", &pool, E), INVIVO_E_NOT_FOUND, NULL);
    calls = 0;
    OK(invivo_define_block(runtime, "plain", INVIVO_BLOCK(plain, plain_properties), NULL, E));
    CHECK_EQUAL(calls, 0);
}

/* The corrected file works in a runtime that has not seen the failed one. */
static void what_is_needed_works(void) {
    invivo_runtime runtime;
    invivo_object bell = {0};
    put_module("bells");
    OK(invivo_runtime_open(&runtime, NULL, E));
    expect_nothing(runtime);
    OK(invivo_module_load(runtime, "bells.so", NULL, E));
    OK(invivo_resolve_name(runtime, "tower.bell", &bell, E));
    OK(invivo_object_release(bell));
    CHECK_EQUAL(calls, 0);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a", .scope = INVIVO_SCOPE_PROTOTYPE,
                                                   .type_name = "Bell"}, NULL, E));
    CHECK_EQUAL(calls, 1);
    OK(invivo_runtime_close(runtime, E));
}

static void a_failed_entry_leaves_nothing_and_the_corrected_file_is_accepted(void) {
    invivo_runtime runtime;
    invivo_object bell = {0};
    OK(invivo_runtime_open(&runtime, NULL, E));
    put_module("bells_that_fail");
    expects_error(invivo_module_load(runtime, "bells.so", NULL, E), INVIVO_E_HOST, "the bells are cracked");
    expect_nothing(runtime);
    put_module("bells");
    OK(invivo_module_load(runtime, "bells.so", NULL, E));
    OK(invivo_resolve_name(runtime, "tower.bell", &bell, E));
    if (bell.bits) OK(invivo_object_release(bell));
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    char text[32];
    check_directory();
    snprintf(text, sizeof(text), "%llu", (unsigned long long)(uintptr_t)&calls);
    setenv("BELLS_CALLS", text, 1);
    check_begin();
    RUN_TEST(what_is_needed_works);
    if (check_failures) return fprintf(stderr, "nothing is shown\n"), 0;
    RUN_TEST(a_failed_entry_leaves_nothing_and_the_corrected_file_is_accepted);
    return check_end();
}
