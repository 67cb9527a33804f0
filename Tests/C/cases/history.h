/* history.h: statements of files, rollbacks and marks. */
#ifndef INVIVO_TESTS_CASES_HISTORY_H
#define INVIVO_TESTS_CASES_HISTORY_H

#include "changes.h"

/* The sources that are open, by their names. */
static struct { const char *name; invivo_source source; } sources[16];
static size_t source_count;

/* A path in the folder for files, which is made when the first one is written. */
static char folder[256];
static const char *file_named(const char *name) {
    static char path[512];
    const char *base = getenv("TMPDIR");
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/invivo-case-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(folder)) WRONG("no folder: %s", strerror(errno));
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}
static void remove_files(void) {
    if (folder[0]) nftw(folder, check_remove, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = 0, source_count = 0;
}

/* The variables that a case has set, which are removed at its end. */
static char variables[64][128];
static size_t variable_count;
static void set_variable(const char *name) {
    if (variable_count == sizeof variables / sizeof *variables) WRONG("too many variables");
    snprintf(variables[variable_count++], sizeof *variables, "%s", name);
}
static void remove_variables(void) {
    while (variable_count) unsetenv(variables[--variable_count]);
}

static invivo_source source_named(const char *name) {
    for (size_t i = 0; i < source_count; i++)
        if (!strcmp(sources[i].name, name)) return sources[i].source;
    WRONG("no source is '%s'", name);
    return (invivo_source){0};
}

STATEMENT(write) { /* a file */
    UNUSED;
    write_text(file_named(words[1].text), script_raw(said));
    return INVIVO_OK;
}
STATEMENT(follow) {
    UNUSED;
    invivo_source_options options = {.struct_size = sizeof options, .path = file_named(words[1].text), .name = words[1].text,
                                     .flags = script_says(said, 2, "keep_going") ? INVIVO_SOURCE_KEEP_GOING : 0};
    if (source_count == sizeof sources / sizeof *sources) WRONG("too many sources");
    invivo_status status = invivo_source_open(runtime, &options, &sources[source_count].source, error);
    if (!status) sources[source_count++].name = words[1].text;
    return status;
}
STATEMENT(refresh) {
    UNUSED;
    invivo_source source = source_named(words[1].text);
    return script_says(said, 2, "retry") ? invivo_source_retry(source, error) : invivo_source_refresh(source, error);
}
STATEMENT(unfollow) {
    UNUSED;
    return invivo_source_close(source_named(words[1].text), error);
}
STATEMENT(diverged) { /* exactly these sources */
    UNUSED;
    invivo_value found = invivo_null();
    size_t diverged = 0;
    invivo_status status = invivo_runtime_sources(runtime, &found, error);
    if (status) return status;
    for (uint64_t i = 0; i < found.as.list.count; i++) {
        const invivo_pair *pairs = found.as.list.items[i].as.map.pairs;
        /* An included file has its path as its name. */
        const char *path = pairs[0].value.as.string.data, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        if (strcmp(pairs[5].name, "diverged") != 0) WRONG("the sixth fact is '%s'", pairs[5].name);
        if (!pairs[5].value.as.boolean) continue;
        diverged++;
        if (!script_says(said, 1, name)) WRONG("'%s' has diverged", name);
    }
    if (diverged != count - 1) WRONG("%zu sources have diverged", diverged);
    invivo_value_clear(&found);
    return INVIVO_OK;
}

STATEMENT(setenv) {
    UNUSED;
    if (setenv(words[1].text, words[2].text, 1)) WRONG("setenv: %s", strerror(errno));
    set_variable(words[1].text);
    return INVIVO_OK;
}
STATEMENT(unsetenv) {
    UNUSED;
    unsetenv(words[1].text);
    return INVIVO_OK;
}
STATEMENT(advance) {
    UNUSED;
    return invivo_runtime_advance(runtime, strtoull(words[1].text, NULL, 10) * 1000000, error);
}
STATEMENT(refresh_environment) {
    UNUSED;
    return invivo_runtime_refresh_environment(runtime, error);
}

STATEMENT(mark) {
    UNUSED;
    return invivo_mark(runtime, words[1].text, NULL, error);
}
STATEMENT(unmark) {
    UNUSED;
    return invivo_unmark(runtime, words[1].text, error);
}
STATEMENT(rollback) { /* to a mark, or to the generation before the current one */
    UNUSED;
    uint64_t generation = 0;
    invivo_status status;
    if (!strcmp(words[1].text, "former")) {
        status = invivo_runtime_generation(runtime, &generation, error);
        generation--;
    } else {
        status = invivo_marked(runtime, words[1].text, &generation, error);
    }
    if (status) return status;
    return is_open ? invivo_changes_rollback(changes, generation, error) : invivo_rollback(runtime, generation, error);
}
STATEMENT(kept) { /* so many generations, with the current one */
    UNUSED;
    invivo_value found = invivo_null();
    invivo_status status = invivo_runtime_history(runtime, &found, error);
    if (status) return status;
    if ((long)found.as.list.count != atol(words[1].text)) WRONG("%llu are kept", (unsigned long long)found.as.list.count);
    invivo_value_clear(&found);
    return INVIVO_OK;
}

#endif
