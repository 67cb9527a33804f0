/* The log: its messages, and their end. After close no callback runs; a failing open takes over nothing. */
#include "check.h"

typedef struct { double gain; } voice;

typedef struct {
    int heard, errors, destroyed;
    bool is_closed;
    char last[512];
} ear;

static void hear(void *user_data, const invivo_log_entry *entry) {
    ear *self = user_data;
    CHECK(!self->is_closed);
    CHECK_EQUAL(self->destroyed, 0);
    self->heard++;
    if (entry->level == INVIVO_LOG_ERROR) self->errors++;
    snprintf(self->last, sizeof(self->last), "%s", entry->message);
}
static void destroyed(void *user_data) {
    ear *self = user_data;
    CHECK(!self->is_closed);
    self->destroyed++;
}

static invivo_runtime_options with(ear *self) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    *self = (ear){0};
    options.log = hear;
    options.log_user_data = self;
    options.log_destroy = destroyed;
    options.log_level = INVIVO_LOG_WARNING;
    return options;
}

static invivo_status failing_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data;
    *error = invivo_error_make(INVIVO_E_HOST, "it cannot stop", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_object made(invivo_runtime runtime) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Voice", .size = sizeof(voice), .stop = failing_stop};
    invivo_type type;
    invivo_object object = {0};
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    return object;
}

static void a_failing_stop_is_logged(void) {
    ear self;
    invivo_runtime_options options = with(&self);
    invivo_runtime runtime;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_object_release(made(runtime)));
    CHECK_EQUAL(self.errors, 1);
    CHECK(strstr(self.last, "it cannot stop") != NULL);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(self.destroyed, 1);
}

static void after_a_deferred_close_nothing_is_logged(void) {
    ear self;
    invivo_runtime_options options = with(&self);
    invivo_runtime runtime;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_object object = made(runtime);
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(self.destroyed, 1);
    self.is_closed = true;
    OK(invivo_object_release(object)); /* its stop fails */
    CHECK_EQUAL(self.heard, 0);
}

static void an_open_change_set_ends_with_its_runtime(void) {
    ear self;
    invivo_runtime_options options = with(&self);
    invivo_runtime runtime;
    invivo_changes changes;
    invivo_live_counts before = {.struct_size = sizeof(before)}, after = before;
    invivo_live(&before);
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a.yaml", "{}", 2, E));
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(self.destroyed, 1);
    self.is_closed = true;
    invivo_live(&after);
    CHECK_EQUAL(after.graphs, before.graphs);
    expects_error(invivo_changes_remove(changes, "a.v", E), INVIVO_E_HANDLE, NULL);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HANDLE, NULL);
    invivo_changes_discard(changes);
}

/* After any error, the user data belongs to the caller. */
static void a_failed_open_takes_nothing_over(void) {
    ear self;
    invivo_runtime_options options = with(&self);
    invivo_runtime runtime;
    invivo_app app;
    invivo_app_options application = {.struct_size = sizeof(application), .runtime = &options};

    expects_error(invivo_runtime_open(NULL, &options, E), INVIVO_E_ARGUMENT, NULL);
    options.struct_size = 1;
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_ARGUMENT, NULL);
    options = with(&self);
    options.name = "\xff";
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_ENCODING, NULL);
    options = with(&self);
    options.default_domain = 7;
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_ARGUMENT, NULL);
    options = with(&self);
    options.log_level = 77;
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_ARGUMENT, "options.log_level is 77; expected INVIVO_LOG_TRACE (0) to INVIVO_LOG_SILENT (5)");
    options = with(&self);
    options.flags = 4096;
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_ARGUMENT, "options.flags is 4096; expected INVIVO_RUNTIME_..., of which the sum is 113");
    options = with(&self);
    invivo_runtime *open = calloc(8192, sizeof(*open));
    size_t count = 0;
    while (count < 8192 && invivo_runtime_open(&open[count], NULL, NULL) == INVIVO_OK) count++;
    expects_error(invivo_runtime_open(&runtime, &options, E), INVIVO_E_TOO_LARGE, NULL);
    while (count > 0) OK(invivo_runtime_close(open[--count], E));
    free(open);

    expects_error(invivo_app_open(&app, &application, E), INVIVO_E_ARGUMENT, NULL);
    application.manifest = "missing.yaml";
    expects_error(invivo_app_open(&app, &application, E), INVIVO_E_NOT_FOUND, NULL);
    write_text("app.yaml", "components: { a.one: { type: Nothing } }\n");
    application.manifest = "app.yaml";
    expects_error(invivo_app_open(&app, &application, E), INVIVO_E_NOT_FOUND, NULL);
    CHECK_EQUAL(self.destroyed, 0);
    self.is_closed = true;
}

/* A set that is discarded, or that fails, leaves no document. */
static void documents_of_change_sets_are_open_when_they_are_committed(void) {
    invivo_runtime runtime;
    invivo_changes changes;
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_open(&runtime, NULL, E));
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%d.yaml", i);
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_document(changes, name, i % 2 ? "{}" : "nonsense: [", i % 2 ? 2 : 11, E));
        if (i % 2) invivo_changes_discard(changes);
        else expects_error(invivo_changes_commit(changes, E), INVIVO_E_SYNTAX, NULL);
    }
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.sources, 0);
    for (int round = 0; round < 2; round++) {
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_document(changes, "a.yaml", round ? NULL : "traits: {}", round ? 0 : 10, E));
        OK(invivo_changes_commit(changes, E));
        OK(invivo_runtime_inspect(runtime, &info, E));
        CHECK_EQUAL(info.sources, 1 - round);
    }
    OK(invivo_runtime_close(runtime, E));
}

/* Levels below info report the effects of a reload and the duration of each phase. */
static char everything[16384];
static int reloads_of_file;
static uint32_t built_at;
static void collect(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    size_t length = strlen(everything);
    snprintf(everything + length, sizeof(everything) - length, "%s\n", entry->message);
    CHECK_EQUAL(entry->struct_size, sizeof(invivo_log_entry));
    if (strcmp(entry->message, "'a.lead' is built") == 0) built_at = entry->level;
    for (uint64_t i = 0; i < entry->field_count; i++) {
        if (strcmp(entry->fields[i].name, "reload") != 0 || entry->level != INVIVO_LOG_INFO) continue;
        const invivo_value *cause = &entry->fields[i].value;
        CHECK_EQUAL(cause->kind, INVIVO_KIND_STRING);
        if (cause->as.string.length == 6 && memcmp(cause->as.string.data, "a.yaml", 6) == 0) reloads_of_file++;
    }
}
static void the_details_are_logged_at_lower_levels(void) {
    static const invivo_property properties[] = {INVIVO_FIELD(voice, gain)};
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = collect;
    options.log_level = INVIVO_LOG_TRACE;
    options.default_domain = INVIVO_DOMAIN_LOOP;
    invivo_runtime runtime;
    invivo_type type;
    invivo_type_options voices = {.struct_size = sizeof(voices), .name = "Voice", .size = sizeof(voice),
                                  .properties = properties, .property_count = 1};
    invivo_definition lead = {.struct_size = sizeof(lead), .key = "a.lead", .scope = INVIVO_SCOPE_SINGLETON};
    write_text("a.yaml", "traits: { a.lead: [Set: { gain: 2 }] }\n");
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &voices, &type, E));
    lead.type = type;
    OK(invivo_define(runtime, &lead, NULL, E));
    OK(invivo_watch(runtime, "a.yaml", E));
    OK(invivo_runtime_close(runtime, E));
    CHECK(strstr(everything, "'a.lead' is built\n") != NULL);
    CHECK_EQUAL(built_at, INVIVO_LOG_DEBUG);
    CHECK_EQUAL(reloads_of_file, 1);
    /* In chronological order. */
    CHECK(strstr(everything, "'a.lead' is built\n") < strstr(everything, "a.yaml: 39 bytes\n"));
    CHECK(strstr(everything, "a.yaml: 39 bytes\n") < strstr(everything, "a.yaml: detect "));
    CHECK(strstr(everything, "a job for the domain 'loop'") != NULL);
    CHECK(strstr(everything, "a.yaml: 39 bytes\n") != NULL);
    CHECK(strstr(everything, "a.yaml: detect ") != NULL && strstr(everything, ", plan ") != NULL);
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_failing_stop_is_logged);
    RUN_TEST(after_a_deferred_close_nothing_is_logged);
    RUN_TEST(an_open_change_set_ends_with_its_runtime);
    RUN_TEST(a_failed_open_takes_nothing_over);
    RUN_TEST(documents_of_change_sets_are_open_when_they_are_committed);
    RUN_TEST(the_details_are_logged_at_lower_levels);
    return check_end();
}
