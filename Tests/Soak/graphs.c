/* Creates and releases a million graphs: memory does not grow. */
#include "../C/check.h"

typedef struct part { invivo_object given; } part;
static invivo_status set_given(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->given = value->as.object;
    return INVIVO_OK;
}
static invivo_status get_given(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static long resident(void) {
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv) {
    static const invivo_property properties[] = {
        {.struct_size = sizeof(invivo_property), .name = "given", .kind = INVIVO_KIND_ANY, .get = get_given, .set = set_given}};
    int count = argc > 1 ? atoi(argv[1]) : 1000000;
    invivo_runtime runtime;
    invivo_type type;
    invivo_key key;
    check_begin();
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "Part",
        .size = sizeof(part), .alignment = 8, .properties = properties, .property_count = 1}, &type, E));
    /* A cycle of graph-scope objects, with a prototype in it. */
    invivo_injection to[] = {{.name = "given", .how = INVIVO_INJECT_REFERENCE, .reference = "a.two"},
                             {.name = "given", .how = INVIVO_INJECT_REFERENCE, .reference = "a.three"},
                             {.name = "given", .how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}};
    static const char *names[] = {"a.one", "a.two", "a.three"};
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < 3; i++)
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = names[i], .type = type,
            .scope = i == 1 ? INVIVO_SCOPE_PROTOTYPE : INVIVO_SCOPE_GRAPH, .properties = &to[i], .property_count = 1}, NULL, E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_key_find(runtime, "a.one", &key, E));
    long before = 0;
    for (int i = 0; i < count && !check_failures; i++) {
        invivo_object object;
        if (i == count / 10) before = resident();
        if (!OK(invivo_resolve(runtime, key, &object, E))) break;
        OK(invivo_object_release(object));
    }
    long grown = resident() - before;
    printf("graphs: %d resolves, %ld KiB more than after a tenth of them\n", count, grown / 1024);
    if (grown > 2 << 20) check_failed(__FILE__, __LINE__, "memory grew by %ld bytes", grown);
    OK(invivo_runtime_close(runtime, E));
    return check_end();
}
