/* changes.h: statements of change sets and assemblies, and statements that run on other threads. */
#ifndef INVIVO_TESTS_CASES_CHANGES_H
#define INVIVO_TESTS_CASES_CHANGES_H

#include "build.h"

typedef struct answer {
    invivo_status status;
    invivo_error *error;
    invivo_value value;
} answer;

static invivo_status perform(const line *said, size_t from, invivo_value *out, invivo_error **error);

typedef struct job {
    const char *name;
    pthread_t thread;
    const line *said;
    size_t from;
    answer answer;
    pthread_barrier_t *start;
    int done;
} job;
static job jobs[16];
static size_t job_count;

static void *job_run(void *argument) {
    job *self = argument;
    if (self->start) pthread_barrier_wait(self->start);
    self->answer.status = perform(self->said, self->from, &self->answer.value, &self->answer.error);
    __atomic_store_n(&self->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
/* Its action may need this thread: objects of its domain are created here. */
static void job_wait(job *self) {
    while (!__atomic_load_n(&self->done, __ATOMIC_SEQ_CST)) invivo_runtime_poll(runtime, 2, NULL, NULL);
    pthread_join(self->thread, NULL);
}

/* ---- change sets --------------------------------------------------------------------------------------- */

static invivo_changes changes; /* of `begin` */
static bool is_open;

/* The open change set, or a new one that is committed at once. */
#define IN_CHANGES(call)                                                                          \
    do {                                                                                          \
        invivo_changes set = changes;                                                             \
        invivo_status status = is_open ? INVIVO_OK : invivo_changes_open(runtime, &set, error);   \
        if (status) return status;                                                                \
        status = (call);                                                                          \
        if (is_open) return status;                                                               \
        if (!status) return invivo_changes_commit(set, error);                                    \
        invivo_changes_discard(set);                                                              \
        return status;                                                                            \
    } while (0)

#define STATEMENT(name)                                                                                        \
    static invivo_status do_##name(const line *said, const part *words, size_t count, invivo_value *out, invivo_error **error)
#define UNUSED (void)said, (void)words, (void)count, (void)out, (void)error

/* "Page.note(after)" in the form of its event. */
static const char *event_of(const part *word) {
    static __thread char text[128];
    snprintf(text, sizeof text, word->call ? "%s(%s)" : "%s", word->text, word->count ? word->items[0].text : "");
    return text;
}

STATEMENT(begin) {
    UNUSED;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    is_open = !status;
    return status;
}
STATEMENT(commit) {
    UNUSED;
    is_open = false;
    return invivo_changes_commit(changes, error);
}
STATEMENT(discard) {
    UNUSED;
    is_open = false;
    invivo_changes_discard(changes);
    return INVIVO_OK;
}
STATEMENT(check) {
    UNUSED;
    return invivo_changes_check(changes, error);
}
STATEMENT(define) {
    UNUSED;
    const invivo_definition *definition = definition_of(said, 1);
    IN_CHANGES(invivo_changes_define(set, definition, NULL, error));
}
STATEMENT(remove) {
    UNUSED;
    IN_CHANGES(invivo_changes_remove(set, words[1].text, error));
}
STATEMENT(document) {
    UNUSED;
    const char *text = count > 2 && !strcmp(words[2].text, "none") ? NULL : script_raw(said);
    IN_CHANGES(invivo_changes_document(set, words[1].text, text, text ? strlen(text) : 0, error));
}
STATEMENT(configure) {
    UNUSED;
    invivo_value value = value_of(&words[2]);
    constants[constant_count++] = value;
    IN_CHANGES(invivo_changes_configure(set, words[1].text, &value, error));
}
STATEMENT(unconfigure) {
    UNUSED;
    IN_CHANGES(invivo_changes_configure(set, words[1].text, NULL, error));
}
STATEMENT(secret) {
    UNUSED;
    if (script_says(said, 2, "none")) IN_CHANGES(invivo_changes_remove_secret(set, words[1].text, error));
    IN_CHANGES(invivo_changes_add_secret(set, words[1].text, error));
}
STATEMENT(secrecy) {
    UNUSED;
    bool found = false;
    invivo_status status = invivo_config_is_secret(runtime, words[1].text, &found, error);
    if (!status && found != !strcmp(words[2].text, "true")) WRONG("'%s' is %s secret", words[1].text, found ? "a" : "no");
    return status;
}
STATEMENT(reset) {
    UNUSED;
    uint32_t flags = script_says(said, 2, "dependencies") ? INVIVO_RESET_DEPENDENCIES : 0;
    IN_CHANGES(invivo_changes_reset(set, words[1].text, flags, error));
}
STATEMENT(reset_scope) {
    UNUSED;
    IN_CHANGES(invivo_changes_reset_scope(set, scope_of(words[1].text), error));
}

STATEMENT(expect_generation) {
    UNUSED;
    uint64_t generation = 0;
    invivo_status status = invivo_runtime_generation(runtime, &generation, error);
    if (status) return status;
    if (!strcmp(words[1].text, "former")) generation--;
    IN_CHANGES(invivo_changes_expect(set, generation, error));
}

/* ---- assemblies ---------------------------------------------------------------------------------------- */

STATEMENT(assembly) {
    UNUSED;
    /* A second assembly with the name is another one; the first may have been referred to before. */
    invivo_assembly *table = assembly_named(words[1].text);
    if (table->name || table->base) {
        table = script_memory(sizeof *table);
        table->struct_size = sizeof *table;
        tables[table_count++] = (table_of){words[1].text, table};
    }
    assembly_fill(table, said);
    return INVIVO_OK;
}
STATEMENT(describe) {
    UNUSED;
    for (size_t i = 1; i < count; i++) {
        invivo_status status = invivo_assembly_describe(runtime, assembly_named(words[i].text), error);
        if (status) return status;
    }
    return INVIVO_OK;
}
STATEMENT(activate) {
    UNUSED;
    const invivo_assembly *given[16];
    for (size_t i = 1; i < count && i <= 16; i++) given[i - 1] = assembly_named(words[i].text);
    if (!is_open) return invivo_activate(runtime, given, count - 1, NULL, error);
    for (size_t i = 1; i < count; i++) {
        invivo_status status = invivo_changes_activate(changes, given[i - 1], NULL, error);
        if (status) return status;
    }
    return INVIVO_OK;
}
STATEMENT(deactivate) {
    UNUSED;
    const char *given[16];
    for (size_t i = 1; i < count && i <= 16; i++) given[i - 1] = words[i].text;
    return invivo_deactivate(runtime, given, count - 1, error);
}
STATEMENT(mount) {
    UNUSED;
    invivo_remap remaps[16];
    size_t length = 0;
    for (size_t i = 0; i < said->below_count && length < 16; i++)
        if (script_is(said->below[i], "remap")) remaps[length++] = (invivo_remap){said->below[i]->words[1].text, said->below[i]->words[2].text};
    return invivo_mount(runtime, assembly_named(words[1].text), words[2].text, remaps, length, error);
}
STATEMENT(activity) {
    static const char *const states[] = {"unknown", "inactive", "active"};
    UNUSED;
    uint32_t state;
    invivo_status status = invivo_assembly_state(runtime, words[1].text, &state, error);
    if (!status && strcmp(states[state], words[2].text)) WRONG("'%s' is %s", words[1].text, states[state]);
    return status;
}

#endif
