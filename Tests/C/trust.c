/* Limits of documents, contents of errors, and permitted files. */
/* sanitize: no, its thread makes one call while the main thread waits */
#include "check.h"

typedef struct { double gain; } voice;
static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain, .initial = 1)};

static invivo_runtime open_with(const invivo_runtime_options *options) {
    invivo_runtime runtime = {0};
    OK(invivo_runtime_open(&runtime, options, E));
    OK(invivo_define_block(runtime, "synth.lead", INVIVO_BLOCK(voice, voice_properties), NULL, E));
    return runtime;
}

static invivo_status load(invivo_runtime runtime, const char *text, size_t length, invivo_error **error) {
    invivo_source_options options = {.struct_size = sizeof(options), .name = "text", .text = text, .length = length};
    return invivo_source_open(runtime, &options, NULL, error);
}

/* A list of `count` numbers: count + 2 values with the map and the list. */
static char *list_of(size_t count) {
    char *text = malloc(count * 2 + 64), *end = text + sprintf(text, "config: { a: [0");
    for (size_t i = 1; i < count; i++) end += sprintf(end, ",0");
    sprintf(end, "] }");
    return text;
}

static void limits_have_defaults_and_errors_name_the_option(void) {
    invivo_runtime_options options;
    char *text = calloc(1, (1 << 20) + 2);
    invivo_runtime runtime = open_with(NULL);
    memset(text, ' ', (1 << 20) + 1);
    memcpy(text, "{}", 2);
    OK(load(runtime, text, 1 << 20, E));
    expects_error(load(runtime, text, (1 << 20) + 1, E), INVIVO_E_TOO_LARGE,
                  "text: the document has 1048577 bytes, at most 1048576 are allowed; max_document_bytes permits more");
    free(text);
    text = list_of(49996);
    OK(load(runtime, text, strlen(text), E));
    free(text);
    text = list_of(50000);
    expects_error(load(runtime, text, strlen(text), E), INVIVO_E_TOO_LARGE, NULL);
    OK(invivo_runtime_close(runtime, E));

    invivo_runtime_options_init(&options);
    options.max_document_nodes = 100000;
    runtime = open_with(&options);
    OK(load(runtime, text, strlen(text), E));
    free(text);
    OK(invivo_runtime_close(runtime, E));

    options.max_document_nodes = 4;
    runtime = open_with(&options);
    expects_error(load(runtime, "config: { a: [1, 2] }", 21, E), INVIVO_E_TOO_LARGE,
                  "text:1:18: config.a[1]: the document has more than the 4 values allowed; max_document_nodes permits more");
    OK(invivo_runtime_close(runtime, E));
}

/* A file that is not a spec file: an error shows at most 64 characters of it, or none. */
static void errors_quote_little_of_a_document_or_nothing(void) {
    invivo_runtime_options options;
    invivo_runtime runtime;
    const char *const texts[] = {
        "root:$6$secretsecretsecretsecretsecretsecretsecretsecretsecretsecretsecretsecret:19000:0:99999:7:::\ndaemon:*:19000:0\n",
        "config: { secret: *secretsecret }", "config: { secret: !secretsecret 1 }", "config: { a: &secretsecret 1 }",
        "{\"secret\": secretsecret}", "traits: secretsecret", "traits: { synth.lead: secretsecret }",
        "traits:\n  synth.lead: [ { Set: { gain: secretsecret } } ]", "traits:\n  synth.lead: [ { secretsecret: { gain: 1 } } ]",
        "secretsecret: 1", "config: { a: \"secretsecret\\q\" }", "config: [secretsecret",
    };
    invivo_runtime_options_init(&options);
    for (int quotes = 1; quotes >= 0; quotes--) {
        int shown = 0;
        options.flags = quotes ? 0 : INVIVO_RUNTIME_WITHOUT_CONTENT;
        runtime = open_with(&options);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            invivo_error *error = NULL;
            CHECK(load(runtime, texts[i], strlen(texts[i]), &error) != INVIVO_OK);
            const char *message = invivo_error_text(error), *secret = strstr(message, "secretsecret");
            if (secret) shown++;
            if (secret && strlen(secret) > 500) check_failed(__FILE__, __LINE__, "too much is shown: %s", message);
            if (strstr(message, "secretsecretsecretsecretsecretsecretsecretsecretsecretsecretsecretsecret"))
                check_failed(__FILE__, __LINE__, "more than 64 characters are shown: %s", message);
            if (!quotes && secret) check_failed(__FILE__, __LINE__, "content is shown: %s", message);
            invivo_error_release(error);
        }
        CHECK(quotes ? shown > 3 : shown == 0);
        OK(invivo_runtime_close(runtime, E));
    }
}

/* The names that are possible are not those of the document. */
static void possible_names_are_shown_without_content(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.flags = INVIVO_RUNTIME_WITHOUT_CONTENT;
    invivo_runtime runtime = open_with(&options);
    const char *text = "secretsecret: 1";
    expects_error(load(runtime, text, strlen(text), E), INVIVO_E_SPEC,
                  "text:1:1: unknown key '...'; expected 'traits', 'config', 'wiring' or 'include'");
    text = "wiring: { a: { scope: 3 } }";
    expects_error(load(runtime, text, strlen(text), E), INVIVO_E_SPEC,
                  "text:1:23: wiring.a.scope: expected 'prototype', 'graph', 'lazy-singleton', 'singleton', 'weak-singleton', 'context' "
                  "or 'thread', found an integer");
    OK(invivo_runtime_close(runtime, E));
}

/* Names of entries are parts of keys, which are shown; the name of a refused entry is not. */
static void names_of_entries_are_keys(void) {
    static const invivo_injection gain = {.name = "gain", .how = INVIVO_INJECT_ENTRY, .reference = "gain"};
    const invivo_type_options voices = {.struct_size = sizeof(voices), .name = "Voice", .size = sizeof(voice),
                                        .concurrency = INVIVO_SHARED, .alignment = 8,
                                        .properties = voice_properties, .property_count = 1};
    const invivo_definition one = {.struct_size = sizeof(one), .key = "synth.voice", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                   .type_name = "Voice", .properties = &gain, .property_count = 1, .each = "voices"};
    const char *const texts[][2] = {
        {"config: { synth.voices: { lead: { gain: secretsecret } } }", "synth.voice[lead]"},
        {"config: { synth.voices: [ { name: lead, gain: secretsecret } ] }", "synth.voice[lead]"},
        {"config: { synth.voices: [ { name: secret.secret } ] }", "config.synth.voices: '...' is no name"},
        {"config: { synth.voices: [ { name: secretsecret }, { name: secretsecret } ] }", "config.synth.voices: two entries are '...'"},
    };
    invivo_runtime_options options;
    invivo_type type;
    invivo_runtime_options_init(&options);
    options.flags = INVIVO_RUNTIME_WITHOUT_CONTENT;
    invivo_runtime runtime = open_with(&options);
    OK(invivo_type_register(runtime, &voices, &type, E));
    OK(invivo_define(runtime, &one, NULL, E));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        invivo_error *error = NULL;
        CHECK(load(runtime, texts[i][0], strlen(texts[i][0]), &error) != INVIVO_OK);
        const char *message = invivo_error_text(error);
        if (!strstr(message, texts[i][1]) || strstr(message, "secret")) check_failed(__FILE__, __LINE__, "it is said: %s", message);
        invivo_error_release(error);
    }
    OK(invivo_runtime_close(runtime, E));
}

static char *settings(int count) {
    char *text = malloc((size_t)count * 24 + 16), *end = text + sprintf(text, "config:\n");
    for (int i = 0; i < count; i++) end += sprintf(end, "  all.v%d: %d\n", i, i);
    return text;
}

static void loading_that_takes_too_long_is_abandoned(void) {
    invivo_runtime_options options;
    char *text = settings(20000);
    invivo_runtime_options_init(&options);
    options.load_timeout_ms = 1;
    invivo_runtime runtime = open_with(&options);
    expects_error(load(runtime, text, strlen(text), E), INVIVO_E_TIMEOUT,
                  "text: loading takes too long and is abandoned; load_timeout_ms permits more");
    /* A small document takes a small part of the limit, unless its thread is not scheduled. */
    invivo_status status = INVIVO_E_TIMEOUT;
    for (int i = 0; status == INVIVO_E_TIMEOUT && i < 1000; i++) status = load(runtime, "config: { a: 1 }", 16, NULL);
    CHECK_EQUAL(status, INVIVO_OK);
    OK(invivo_runtime_close(runtime, E));
    free(text);
}

static void an_error_about_many_documents_names_the_first_ones(void) {
    enum { COUNT = 200 };
    invivo_runtime_options options;
    invivo_changes changes;
    char *text = settings(1000);
    invivo_runtime_options_init(&options);
    options.load_timeout_ms = 1;
    invivo_runtime runtime = open_with(&options);
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.yaml", i);
        OK(invivo_changes_document(changes, name, text, strlen(text), E));
    }
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_TIMEOUT,
                  "200 documents (0.yaml, 1.yaml and 198 others): loading takes too long and is abandoned; load_timeout_ms permits more");
    OK(invivo_runtime_close(runtime, E));
    free(text);
}

static void *loads(void *runtime) {
    char *text = settings(24000);
    invivo_status status;
    do status = load(*(invivo_runtime *)runtime, text, strlen(text), NULL);
    while (!status);
    CHECK(status == INVIVO_E_CLOSED || status == INVIVO_E_HANDLE || status == INVIVO_E_STALE);
    free(text);
    return NULL;
}

static void close_abandons_loading(void) {
    invivo_runtime_options options;
    pthread_t thread;
    invivo_runtime_options_init(&options);
    options.load_timeout_ms = INVIVO_LOAD_UNLIMITED;
    invivo_runtime runtime = open_with(&options);
    pthread_create(&thread, NULL, loads, &runtime);
    for (int i = 0; i < 2000; i++) sched_yield();
    OK(invivo_runtime_close(runtime, E));
    pthread_join(thread, NULL);
}

static void a_module_that_others_can_write_is_refused_or_warned_about(void) {
    invivo_runtime_options options;
    invivo_runtime runtime;
    invivo_error *error = NULL;
    write_text("module.so", "no module");
    CHECK(chmod("module.so", 0666) == 0);
    for (int permits = 0; permits < 2; permits++) {
        invivo_runtime_options_init(&options);
        options.flags = permits ? INVIVO_RUNTIME_FOREIGN_FILES : 0;
        runtime = open_with(&options);
        CHECK(invivo_module_load(runtime, "module.so", NULL, &error) != INVIVO_OK);
        bool is_named = strstr(invivo_error_text(error), "INVIVO_RUNTIME_FOREIGN_FILES") != NULL;
        CHECK_EQUAL(is_named, !permits && geteuid() == 0);
        invivo_error_release(error);
        error = NULL;
        OK(invivo_runtime_close(runtime, E));
    }
}

/* Without modules: only the form is checked, and no code runs. */
static void a_check_without_modules_runs_nothing(void) {
    invivo_app_options options = {.struct_size = sizeof(options), .manifest = "app.yaml", .flags = INVIVO_APP_WITHOUT_MODULES};
    write_text("app.yaml", "modules: { no: /nowhere/no.so }\ncomponents:\n  a.b: { type: Unknown }\nspecs: [spec.yaml]\n");
    write_text("spec.yaml", "traits: {}\n");
    OK(invivo_app_check(&options, 0, NULL, E));
    write_text("spec.yaml", "traits: [\n");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_SYNTAX, NULL);
    write_text("spec.yaml", "trait: {}\n");
    CHECK(invivo_app_check(&options, 0, NULL, NULL) != INVIVO_OK);
    /* Included files, and files that are values, are read. All errors are reported. */
    write_text("spec.yaml", "config: { a: { b: 'file:value' } }\n");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_NOT_FOUND,
                  "spec.yaml:1:19: config.a.b: the file of this value cannot be read: value: no such file");
    write_text("spec.yaml", "include: [base.yaml, missing.yaml]\n");
    write_text("base.yaml", "include: deep.yaml\n");
    write_text("deep.yaml", "traits: { a.b: [Unknown: {}] }\nwiring: { a.b: { scope: singelton } }\n");
    invivo_error *error = NULL;
    CHECK(invivo_app_check(&options, 0, NULL, &error) != INVIVO_OK);
    CHECK_EQUAL(invivo_error_count(error), 2);
    CHECK(error && strstr(invivo_error_text(error), "deep.yaml:2:25: wiring.a.b.scope: unknown scope 'singelton'; did you mean 'singleton'?"));
    CHECK(error && strstr(invivo_error_text(error), "spec.yaml:1:22: include[1]: the file cannot be included: missing.yaml: no such file"));
    invivo_error_release(error);
    write_text("spec.yaml", "include: base.yaml\n");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_SPEC, NULL);
    write_text("deep.yaml", "include: spec.yaml\n");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_CYCLE, NULL);
    write_text("deep.yaml", "traits: { a.b: [Unknown: {}] }\n");
    OK(invivo_app_check(&options, 0, NULL, E));
    unlink("base.yaml"), unlink("deep.yaml");
    write_text("app.yaml", "modules: [");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_SYNTAX, NULL);
    options.flags = 0;
    write_text("app.yaml", "modules: { no: /nowhere/no.so }\nspecs: []\n");
    CHECK(invivo_app_check(&options, 0, NULL, NULL) != INVIVO_OK);
}

/* The way in which documents are followed is data. */
static void sources_are_listed(void) {
    invivo_runtime runtime = open_with(NULL);
    invivo_value list = {0};
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    write_text("followed.yaml", "traits: {}\n");
    OK(invivo_watch(runtime, "followed.yaml", E));
    OK(load(runtime, "{}", 2, E));
    OK(invivo_runtime_sources(runtime, &list, E));
    CHECK_EQUAL(list.as.list.count, 2);
    for (uint64_t i = 0; i < list.as.list.count; i++) {
        static const char *const expected[2][3] = {{"followed.yaml", "followed.yaml", "watching"}, {"text", "", "memory"}};
        const invivo_value *facts = &list.as.list.items[i];
        for (uint64_t j = 0; j < facts->as.map.count; j++) {
            const invivo_pair *pair = &facts->as.map.pairs[j];
            if (!strcmp(pair->name, "name")) CHECK_TEXT(pair->value.as.string.data, expected[i][0]);
            if (!strcmp(pair->name, "path")) CHECK_TEXT(pair->value.as.string.data, expected[i][1]);
            if (!strcmp(pair->name, "follows")) CHECK_TEXT(pair->value.as.string.data, expected[i][2]);
        }
    }
    invivo_value_clear(&list);
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.overflows, 0);
    CHECK_EQUAL(info.sources, 2);
    OK(invivo_runtime_close(runtime, E));
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(limits_have_defaults_and_errors_name_the_option);
    RUN_TEST(errors_quote_little_of_a_document_or_nothing);
    RUN_TEST(possible_names_are_shown_without_content);
    RUN_TEST(names_of_entries_are_keys);
    RUN_TEST(loading_that_takes_too_long_is_abandoned);
    RUN_TEST(an_error_about_many_documents_names_the_first_ones);
    RUN_TEST(close_abandons_loading);
    RUN_TEST(a_module_that_others_can_write_is_refused_or_warned_about);
    RUN_TEST(a_check_without_modules_runs_nothing);
    RUN_TEST(sources_are_listed);
    return check_end();
}
