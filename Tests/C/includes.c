/* Files that spec files include or refer to, while they are followed: edits, failed reloads, and what is left. */
/* sanitize: yes */
#include "check.h"

static invivo_runtime runtime;
static listener heard;

static void replace(const char *name, const char *text) {
    char next[64];
    snprintf(next, sizeof next, "%s.next", name);
    write_text(next, text);
    CHECK(rename(next, name) == 0);
}

/* -1 if the path is not configured. */
static int64_t number(const char *path) {
    invivo_value value;
    if (invivo_config_read(runtime, path, &value, NULL)) return -1;
    int64_t found = value.kind == INVIVO_KIND_INT64 ? value.as.signed_integer : -1;
    invivo_value_clear(&value);
    return found;
}

static uint64_t source_count(const char *role) {
    invivo_value all;
    uint64_t found = 0;
    OK(invivo_runtime_sources(runtime, &all, E));
    for (uint64_t i = 0; i < all.as.list.count; i++) {
        const invivo_value *map = &all.as.list.items[i];
        for (uint64_t j = 0; j < map->as.map.count; j++)
            if (!strcmp(map->as.map.pairs[j].name, "role") && !strcmp(map->as.map.pairs[j].value.as.string.data, role)) found++;
    }
    invivo_value_clear(&all);
    return found;
}

static void begin(void) {
    invivo_runtime_options options = {.struct_size = sizeof options, .log_level = INVIVO_LOG_SILENT, .quiet_ms = 50};
    OK(invivo_runtime_open(&runtime, &options, E));
}

/* Edits of several files are one reload each; a refused one changes nothing. */
static void edits(void) {
    invivo_source source;
    begin();
    replace("value", "one");
    replace("b.yaml", "config: {b: 1}");
    replace("a.yaml", "include: b.yaml\nconfig: {a: 1, v: 'file:value'}");
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "a.yaml"}, &source, E));
    CHECK_EQUAL(number("b"), 1);
    CHECK_EQUAL(source_count("include"), 1);
    CHECK_EQUAL(source_count("value"), 1);
    listener_open(&heard, runtime);
    for (int i = 2; i < 12; i++) {
        char text[128];
        size_t count = listener_count(&heard);
        snprintf(text, sizeof text, "config: {b: %d}", i);
        replace("b.yaml", text);
        snprintf(text, sizeof text, "include: b.yaml\nconfig: {a: %d, v: 'file:value'}", i);
        replace("a.yaml", text);
        while (number("b") != i || number("a") != i) {
            if (!listener_wait(&heard, ++count)) break;
        }
    }
    /* The values of a refused reload are those from before. */
    size_t count = listener_count(&heard);
    replace("b.yaml", "config: {b: [}");
    listener_wait(&heard, count + 1);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_E_SYNTAX);
    CHECK(strstr(listener_last(&heard)->error, "a.yaml:1:10: include"));
    CHECK(strstr(listener_last(&heard)->error, "b.yaml:1:"));
    CHECK_EQUAL(number("b"), 11);
    replace("b.yaml", "config: {b: 50}");
    listener_wait(&heard, count + 2);
    CHECK_EQUAL(number("b"), 50);
    OK(invivo_source_close(source, E));
    CHECK_EQUAL(source_count("include") + source_count("value") + source_count("source"), 0);
    CHECK_EQUAL(number("b"), -1);
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}

/* Two files whose names only look the same are two files. */
static void names_are_compared_by_their_bytes(void) {
    invivo_source source;
    begin();
    replace("\xc3\xa9.yaml", "config: {composed: 1}");
    replace("e\xcc\x81.yaml", "config: {decomposed: 2}");
    replace("a.yaml", "include: [\xc3\xa9.yaml, e\xcc\x81.yaml]");
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "a.yaml"}, &source, E));
    CHECK_EQUAL(number("composed"), 1);
    CHECK_EQUAL(number("decomposed"), 2);
    CHECK_EQUAL(source_count("include"), 2);
    OK(invivo_source_close(source, E));
    OK(invivo_runtime_close(runtime, E));
}

/* A source that fails to open leaves no watch and no descriptor; one that waits is tried when its include appears. */
static void waiting(void) {
    invivo_source source;
    begin();
    replace("a.yaml", "include: [late.yaml]\nconfig: {a: 1}");
    invivo_source_options options = {.struct_size = sizeof options, .path = "a.yaml"};
    expects_error(invivo_source_open(runtime, &options, &source, E), INVIVO_E_NOT_FOUND,
                  "a.yaml:1:11: include[0]: the file cannot be included: late.yaml: no such file");
    invivo_live_counts live = {.struct_size = sizeof live};
    invivo_live(&live);
    CHECK_EQUAL(live.descriptors, 0);
    listener_open(&heard, runtime);
    options.flags = INVIVO_SOURCE_WAIT;
    OK(invivo_source_open(runtime, &options, &source, E));
    CHECK_EQUAL(number("a"), -1);
    size_t count = listener_count(&heard);
    replace("late.yaml", "config: {late: 1}");
    while (number("a") != 1 && listener_wait(&heard, ++count)) {}
    CHECK_EQUAL(number("late"), 1);
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}

/* The budget counts all files also when one of them is edited, and after a rollback. */
static void budget(void) {
    invivo_runtime_options options = {.struct_size = sizeof options, .log_level = INVIVO_LOG_SILENT, .quiet_ms = 50, .max_document_nodes = 12};
    OK(invivo_runtime_open(&runtime, &options, E));
    replace("b.yaml", "config: {b: [1, 2]}");
    replace("c.yaml", "config: {c: 1}");
    replace("a.yaml", "include: [b.yaml, c.yaml]");
    OK(invivo_watch(runtime, "a.yaml", E)); /* 4, 5 and 3 values */
    listener_open(&heard, runtime);
    const char *too_many = "a.yaml:1:19: include[1]: the document and its files have 13 values up to here, at most 12 are allowed; "
                           "max_document_nodes permits more";
    size_t count = listener_count(&heard);
    replace("b.yaml", "config: {b: [1, 2, 3]}");
    listener_wait(&heard, ++count);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_E_TOO_LARGE);
    CHECK(strstr(listener_last(&heard)->error, too_many));
    replace("b.yaml", "config: {b: 2}");
    listener_wait(&heard, ++count);
    CHECK_EQUAL(number("b"), 2);
    uint64_t small = listener_last(&heard)->generation;
    replace("c.yaml", "config: {c: [1, 2]}");
    listener_wait(&heard, ++count);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_OK);
    replace("b.yaml", "config: {b: [1, 2]}");
    listener_wait(&heard, ++count);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_E_TOO_LARGE);
    CHECK_EQUAL(number("b"), 2);
    OK(invivo_rollback(runtime, small, E)); /* c: 1, unlike its file */
    listener_wait(&heard, ++count);
    replace("b.yaml", "config: {b: [2, 1]}");
    while (number("b") != -1 && listener_wait(&heard, ++count)) {}
    CHECK_EQUAL(number("c"), 1);
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}

/* The roots are options that the host reads, and that cannot change. */
static void roots(void) {
    char folder[512], root[600];
    const char *given[] = {root};
    CHECK(getcwd(folder, sizeof folder) != NULL);
    snprintf(root, sizeof root, "%s/shared", folder);
    CHECK(mkdir("shared", 0755) == 0 && mkdir("own", 0755) == 0);
    replace("shared/b.yaml", "config: {b: 1}");
    replace("own/a.yaml", "include: ../shared/b.yaml");
    begin();
    char text[1200];
    snprintf(text, sizeof text,
             "own/a.yaml:1:10: include: '../shared/b.yaml' lies outside of %s/own: a document reads files below its own directory; the "
             "option document_roots permits other directories", folder);
    expects_error(invivo_watch(runtime, "own/a.yaml", E), INVIVO_E_FILE, text);
    OK(invivo_runtime_close(runtime, E));
    invivo_runtime_options options = {.struct_size = sizeof options, .log_level = INVIVO_LOG_SILENT, .document_roots = given,
                                      .document_root_count = 1};
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_watch(runtime, "own/a.yaml", E));
    CHECK_EQUAL(number("b"), 1);
    invivo_runtime_options read = {.struct_size = sizeof read};
    OK(invivo_runtime_options_read(runtime, &read, E));
    CHECK_EQUAL(read.document_root_count, 1);
    CHECK_TEXT(read.document_roots[0], root);
    OK(invivo_runtime_options_change(runtime, &read, E));
    read.document_root_count = 0;
    expects_error(invivo_runtime_options_change(runtime, &read, E), INVIVO_E_ARGUMENT,
                  "options.document_roots is not the runtime's: it cannot change while the runtime is open; begin with the options of "
                  "invivo_runtime_options_read, or open another runtime");
    OK(invivo_runtime_close(runtime, E));
    options.document_roots = NULL;
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_ARGUMENT,
                  "options.document_roots is NULL, and its count is 1");
}

/* Writes a document with many references to one file. */
static void refer(const char *name, int count) {
    char text[512];
    int length = sprintf(text, "config: {%c: [", name[0]);
    for (int i = 0; i < count; i++) length += sprintf(text + length, "%s\"file:v\"", i ? ", " : "");
    sprintf(text + length, "]}");
    replace(name, text);
}
static void write_value(int bytes) {
    char value[512] = {0};
    memset(value, 'x', (size_t)bytes);
    replace("v", value);
}
/* Each reference adds a copy of the file. */
static void repeated_values(void) {
    invivo_runtime_options options = {.struct_size = sizeof options, .log_level = INVIVO_LOG_SILENT, .quiet_ms = 50, .max_document_bytes = 1000};
    OK(invivo_runtime_open(&runtime, &options, E));
    write_value(100);
    refer("r.yaml", 9); /* 103 bytes and 900 */
    expects_error(invivo_watch(runtime, "r.yaml", E), INVIVO_E_TOO_LARGE,
                  "r.yaml:1:94: config.r[8]: the document and its files have 1003 bytes up to here, at most 1000 are allowed; "
                  "max_document_bytes permits more");
    refer("r.yaml", 8);
    OK(invivo_watch(runtime, "r.yaml", E)); /* 93 bytes and 800 */
    listener_open(&heard, runtime);
    size_t count = listener_count(&heard);
    /* The file grows. */
    write_value(120);
    listener_wait(&heard, ++count);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_E_TOO_LARGE);
    CHECK(strstr(listener_last(&heard)->error, "r.yaml:1:84: config.r[7]: the document and its files have 1053 bytes up to here"));
    write_value(113);
    listener_wait(&heard, ++count);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_OK);
    /* The copies of an included document count with it, except one if another document has the value, too. */
    write_value(50);
    listener_wait(&heard, ++count);
    CHECK_EQUAL(listener_last(&heard)->status, INVIVO_OK);
    refer("s.yaml", 10);
    replace("t.yaml", "include: [r.yaml, s.yaml]");
    expects_error(invivo_watch(runtime, "t.yaml", E), INVIVO_E_TOO_LARGE,
                  "t.yaml:1:19: include[1]: the document and its files have 1081 bytes up to here, at most 1000 are allowed; "
                  "max_document_bytes permits more");
    OK(invivo_runtime_close(runtime, E));
    listener_end(&heard);
}

static void a_value_of_two_documents_counts_once(void) {
    invivo_runtime_options options = {.struct_size = sizeof options, .log_level = INVIVO_LOG_SILENT, .max_document_bytes = 800};
    OK(invivo_runtime_open(&runtime, &options, E));
    write_value(450);
    refer("u.yaml", 1), refer("v.yaml", 1);
    replace("w.yaml", "include: [u.yaml, v.yaml]");
    OK(invivo_watch(runtime, "w.yaml", E));
    refer("v.yaml", 2);
    expects_error(invivo_watch(runtime, "v.yaml", E), INVIVO_E_TOO_LARGE, NULL);
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_directory();
    check_begin();
    RUN_TEST(edits);
    RUN_TEST(names_are_compared_by_their_bytes);
    RUN_TEST(waiting);
    RUN_TEST(budget);
    RUN_TEST(roots);
    RUN_TEST(repeated_values);
    RUN_TEST(a_value_of_two_documents_counts_once);
    return check_end();
}
