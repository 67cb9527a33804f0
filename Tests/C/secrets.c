/* Secrets: no output of the library shows a secret value. docs/rules/spec-files.md, Secrets. */
/* sanitize: yes */
#include "check.h"

/* One canary enters through each channel, and everything that the library puts out is searched for it. */
#define CANARY "canary-hunter2"
#define NUMBER "987654321"
#define LENGTH "14 "

typedef struct vault { char key[48]; double level; int64_t count, plain; } vault;

static invivo_runtime runtime;
static invivo_type type;
static invivo_object object;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char output[1 << 20];
static char folder[512], document_file[600];

/* ---- output ---- */

static void put(const char *text) {
    pthread_mutex_lock(&lock);
    size_t length = strlen(output);
    if (text) snprintf(output + length, sizeof output - length, "%s\n", text);
    pthread_mutex_unlock(&lock);
}
static void keep_log(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    put(entry->message);
}
static void put_error(const invivo_error *error) {
    if (!error) return;
    put(invivo_error_text(error));
    for (size_t i = 0; i < invivo_error_count(error); i++) {
        const invivo_error *one = invivo_error_at(error, i);
        put(invivo_error_message(one)), put(invivo_error_path(one)), put(invivo_error_file(one)), put(invivo_error_needed_by(one));
        if (one != error) put(invivo_error_text(one));
        put_error(invivo_error_cause(one));
    }
}
static void put_value(const invivo_value *value) {
    char text[64] = "";
    if (value->kind == INVIVO_KIND_STRING) put(value->as.string.data);
    if (value->kind == INVIVO_KIND_INT64) snprintf(text, sizeof text, "%lld", (long long)value->as.signed_integer), put(text);
    for (size_t i = 0; value->kind == INVIVO_KIND_LIST && i < value->as.list.count; i++) put_value(&value->as.list.items[i]);
    for (size_t i = 0; value->kind == INVIVO_KIND_MAP && i < value->as.map.count; i++)
        put(value->as.map.pairs[i].name), put_value(&value->as.map.pairs[i].value);
}
static void put_report(void *user_data, const invivo_report *report) {
    (void)user_data;
    put(invivo_report_text(report)), put(invivo_report_cause(report));
    put_error(invivo_report_error(report)), put_error(invivo_report_stop_error(report));
    for (size_t i = 0; i < invivo_report_cause_count(report); i++) put(invivo_report_cause_name(report, i));
    for (size_t i = 0; i < invivo_report_warning_count(report); i++)
        put(invivo_report_warning(report, i)), put(invivo_report_warning_file(report, i));
    for (size_t i = 0; i < invivo_report_count(report); i++)
        put(invivo_report_key(report, i)), put(invivo_report_property(report, i)), put(invivo_report_location(report, i)),
            put(invivo_report_layer(report, i)), put(invivo_report_file(report, i));
}
typedef invivo_status (*lister)(invivo_runtime, invivo_value *, invivo_error **);

/* Gathers everything that the library says about the runtime. */
static void gather(void) {
    static const lister lists[] = {invivo_runtime_status, invivo_runtime_states, invivo_runtime_sources, invivo_runtime_retired,
                                   invivo_runtime_history};
    static const uint32_t formats[] = {INVIVO_GRAPH_FACTS, INVIVO_GRAPH_JSON, INVIVO_GRAPH_DOT, INVIVO_GRAPH_MERMAID};
    invivo_value value;
    invivo_error *last = NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        OK(lists[i](runtime, &value, E));
        put_value(&value);
        invivo_value_clear(&value);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        OK(invivo_graph_describe(runtime, formats[i], &value, E));
        put_value(&value);
        invivo_value_clear(&value);
    }
    OK(invivo_runtime_reports(runtime, put_report, NULL, E));
    OK(invivo_runtime_last_error(runtime, &last));
    put_error(last);
    invivo_error_release(last);
}
static void show_leak(const char *found) {
    const char *start = found;
    while (start > output && start[-1] != '\n') start--;
    fprintf(stderr, "shown: %.*s\n", (int)strcspn(start, "\n"), start);
}
static void is_clean(const char *file, int line, const char *what) {
    static const char *const sought[] = {CANARY, "hunter2", NUMBER, LENGTH "byte", LENGTH "character"};
    gather();
    for (size_t i = 0; i < sizeof sought / sizeof *sought; i++) {
        const char *found = strstr(output, sought[i]);
        if (found) check_failed(file, line, "%s: the output has '%s'", what, sought[i]), show_leak(found);
    }
    output[0] = 0;
}
#define IS_CLEAN(what) is_clean(__FILE__, __LINE__, what)
/* Expects a failure, and keeps its texts. */
static void refused(const char *file, int line, const char *what, invivo_status status, invivo_error *error) {
    if (!status) check_failed(file, line, "%s: nothing is refused", what);
    put_error(error);
    invivo_error_release(error);
}
#define REFUSED(what, call) do { invivo_error *gone = NULL; invivo_status got = (call); refused(__FILE__, __LINE__, what, got, gone); } while (0)

/* ---- host code that tells everything ---- */

static const char *text_of(const invivo_value *value) {
    static __thread char text[128];
    if (value->kind == INVIVO_KIND_STRING) snprintf(text, sizeof text, "%s", value->as.string.data);
    else if (value->kind == INVIVO_KIND_INT64) snprintf(text, sizeof text, "%lld", (long long)value->as.signed_integer);
    else if (value->kind == INVIVO_KIND_DOUBLE) snprintf(text, sizeof text, "%.0f", value->as.number);
    else if (value->kind == INVIVO_KIND_MAP && value->as.map.count) return text_of(&value->as.map.pairs[0].value);
    else snprintf(text, sizeof text, "nothing");
    return text;
}
static invivo_status tell(const invivo_value *value, invivo_error **error) {
    char message[200];
    const char *text = text_of(value);
    if (!strstr(text, "hunter2") && !strstr(text, NUMBER)) return INVIVO_OK;
    snprintf(message, sizeof message, "I refuse '%s'", text);
    /* The path and the cause tell it, too. */
    if (error) *error = invivo_error_make(INVIVO_E_RANGE, message, text, invivo_error_make(INVIVO_E_HOST, message, text, NULL));
    return INVIVO_E_RANGE;
}
static invivo_status tell_rule(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)count, (void)at, (void)user_data;
    return tell(values, error);
}
static invivo_status tell_check(const void *value, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                invivo_error **error) {
    (void)value, (void)count, (void)at, (void)user_data;
    return tell(values, error);
}
static invivo_status tell_create(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    (void)user_data;
    *out = NULL;
    return tell(section->value, error);
}
static invivo_status tell_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)instance, (void)build, (void)user_data;
    return count ? tell(arguments, error) : INVIVO_OK;
}
static bool clamps, refuses;
static char kept[64];
static invivo_status get_kept(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_value value = invivo_string(clamps ? "other" : kept);
    return invivo_value_copy(out, &value, error);
}
static invivo_status set_kept(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data;
    if (refuses) {
        snprintf(kept, sizeof kept, "other");
        if (error) *error = invivo_error_make(INVIVO_E_RANGE, value->as.string.data, NULL, NULL);
        return INVIVO_E_RANGE;
    }
    if (!clamps) {
        invivo_status status = tell(value, error);
        if (status) return status;
    }
    snprintf(kept, sizeof kept, "%s", value->as.string.data);
    return INVIVO_OK;
}
static const invivo_property properties[] = {
    INVIVO_FLAGGED_FIELD(vault, INVIVO_PROPERTY_SECRET, key),
    INVIVO_FLAGGED_FIELD(vault, INVIVO_PROPERTY_SECRET, level, .max = 2),
    INVIVO_FIELD(vault, count, .max = 10),
    INVIVO_FIELD(vault, plain),
    {.struct_size = sizeof(invivo_property), .name = "told", .kind = INVIVO_KIND_STRING, .get = get_kept, .set = set_kept},
    {.struct_size = sizeof(invivo_property), .name = "kept", .kind = INVIVO_KIND_STRING, .flags = INVIVO_PROPERTY_SECRET, .get = get_kept,
     .set = set_kept}};

/* ---- channels ---- */

enum { MEMORY, FILES, VARIABLE, CONTENT, ENVIRONMENT, SETTING, CHANNELS };
static const char *const channels[] = {"document", "file", "variable", "content of a file", "environment", "setting"};

static invivo_changes changes(void) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    return set;
}
static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes set = changes();
    OK(invivo_changes_document(set, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(set, error);
}
static invivo_status document_with(const char *name, const char *before, const char *value, const char *after, invivo_error **error) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s", before, value, after);
    return document(name, text, error);
}
static bool is_number(const char *value) { return value[strspn(value, "0123456789")] == 0; }
static invivo_source followed;
static int has_given;

/* Gives db.password a value through a channel. */
static invivo_status give(int channel, const char *value, invivo_error **error) {
    char text[700];
    switch (channel) {
    case MEMORY: return document_with("a.yaml", "config: { db: { password: ", value, ", host: here } }", error);
    case FILES:
        snprintf(text, sizeof text, "config:\n  db: { password: %s }\n", value);
        write_text(document_file, text);
        if (followed.bits) return invivo_source_refresh(followed, error);
        invivo_source_options options = {.struct_size = sizeof options, .path = document_file};
        return invivo_source_open(runtime, &options, &followed, error);
    case VARIABLE:
        setenv("IV_CANARY", value, 1);
        if (has_given++) return invivo_runtime_refresh_environment(runtime, error);
        OK(invivo_runtime_refresh_environment(runtime, E));
        return document_with("a.yaml", "config: { db: { password: \"", "${IV_CANARY}", "\" } }", error);
    case CONTENT:
        snprintf(text, sizeof text, "%s/secret%d", folder, has_given++);
        write_text(text, value);
        return document_with("a.yaml", "config: { db: { password: \"file:", text, "\" } }", error);
    case ENVIRONMENT:
        setenv("IV_S__db__password", value, 1);
        return invivo_runtime_refresh_environment(runtime, error);
    default: {
        invivo_changes set = changes();
        invivo_value given = is_number(value) ? invivo_int64(atoll(value)) : invivo_string(value);
        OK(invivo_changes_configure(set, "db.password", &given, E));
        return invivo_changes_commit(set, error);
    }
    }
}
static void begin(void) {
    const char *roots[] = {folder};
    invivo_runtime_options options;
    unsetenv("IV_S__db__password");
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    options.environment_prefix = "IV_S__";
    options.document_roots = roots, options.document_root_count = 1;
    options.log = keep_log;
    options.log_level = INVIVO_LOG_TRACE;
    output[0] = kept[0] = 0;
    clamps = refuses = false;
    followed = (invivo_source){0}, has_given = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_parameter parameter = {.name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL};
    invivo_type_options vault_type = {.struct_size = sizeof vault_type, .name = "Vault", .size = sizeof(vault), .properties = properties,
                                      .property_count = sizeof properties / sizeof *properties, .init = tell_init,
                                      .parameters = &parameter, .parameter_count = 1};
    OK(invivo_type_register(runtime, &vault_type, &type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    unsetenv("IV_S__db__password"), unsetenv("IV_CANARY");
}
static void secret(const char *path) {
    invivo_changes set = changes();
    OK(invivo_changes_add_secret(set, path, E));
    OK(invivo_changes_commit(set, E));
}
static bool is_secret(const char *path) {
    bool found = false;
    OK(invivo_config_is_secret(runtime, path, &found, E));
    return found;
}

/* ---- receivers ---- */

static invivo_status define(const char *key, const invivo_injection *initializer, const invivo_injection *property, invivo_error **error) {
    invivo_definition definition = {.struct_size = sizeof definition, .key = key, .scope = INVIVO_SCOPE_SINGLETON, .type = type,
                                    .initializer = initializer, .initializer_count = initializer ? 1 : 0, .properties = property,
                                    .property_count = property ? 1 : 0};
    return invivo_define(runtime, &definition, NULL, error);
}
static invivo_injection password(const char *name) {
    return (invivo_injection){.name = name, .how = INVIVO_INJECT_CONFIG, .reference = "/db.password"};
}
static void receive_count(void) {
    invivo_injection injection = password("count");
    OK(define("a.count", NULL, &injection, E));
}
static void receive_setter(void) {
    invivo_injection injection = password("told");
    OK(define("a.setter", NULL, &injection, E));
}
static void receive_constructor(void) {
    invivo_injection injection = password("given");
    OK(define("a.constructor", &injection, NULL, E));
}
static void receive_rule(void) {
    static const char *const inputs[] = {"/db.password"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "tells", .inputs = inputs, .input_count = 1, .check = tell_rule};
    OK(invivo_rule_add(runtime, &rule, E));
}
typedef struct login { int64_t password; } login;
static const invivo_property login_fields[] = {INVIVO_FIELD(login, password)};
static const invivo_property limited_fields[] = {INVIVO_FIELD(login, password, .max = 10)};
static void receive_check(void) {
    invivo_settings settings = {.struct_size = sizeof settings, .name = "Login", .path = "db", .fields = login_fields, .field_count = 1,
                                .size = sizeof(login), .check = tell_check};
    OK(invivo_settings_bind(runtime, &settings, E));
}
static void receive_field(void) {
    invivo_settings settings = {.struct_size = sizeof settings, .name = "Login", .path = "db", .fields = limited_fields, .field_count = 1,
                                .size = sizeof(login)};
    OK(invivo_settings_bind(runtime, &settings, E));
}
static void receive_create(void) {
    invivo_settings settings = {.struct_size = sizeof settings, .name = "Login", .path = "db", .create = tell_create};
    OK(invivo_settings_bind(runtime, &settings, E));
}
static void receive_choice(void) {
    invivo_option options[] = {{.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}},
                               {.when = INVIVO_WHEN_EQUAL, .value = invivo_string("1"), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}}};
    invivo_injection chooser = {.how = INVIVO_INJECT_CONFIG, .reference = "/db.password"};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.choice", .chooser = &chooser, .options = options, .option_count = 2};
    OK(define("a.one", NULL, NULL, E));
    OK(invivo_define(runtime, &definition, NULL, E));
}
static void receive_view(void) {
    invivo_config id;
    OK(invivo_config_id(runtime, "db.password", INVIVO_KIND_INT64, &id, E));
}

static const struct receiver { const char *name; void (*receive)(void); const char *first, *canary; bool takes_maps; } receivers[] = {
    {"a value of the wrong kind", receive_count, "1", CANARY, true},
    {"a value outside of the range", receive_count, "1", NUMBER, true},
    {"a setter", receive_setter, "fine", CANARY, true},
    {"a constructor", receive_constructor, "fine", CANARY, true},
    {"a rule", receive_rule, "fine", CANARY, true},
    {"a check of settings", receive_check, "1", NUMBER, false},
    {"a field of settings", receive_field, "1", NUMBER, false},
    {"a field of the wrong kind", receive_field, "1", CANARY, false},
    {"a create function", receive_create, "fine", CANARY, true},
    {"a choice", receive_choice, "1", CANARY, true},
    {"a view", receive_view, "1", CANARY, true}};

/* Whether a bound struct accepts what a channel gives: the document in memory has a second key. */
static void no_output_shows_a_secret_of_the_configuration(void) {
    for (int channel = 0; channel < CHANNELS; channel++) {
        for (size_t i = 0; i < sizeof receivers / sizeof *receivers; i++) {
            const struct receiver *receiver = &receivers[i];
            char what[160];
            if (channel == MEMORY && !receiver->takes_maps) continue;
            /* The content of a file is a string. */
            if (channel == CONTENT && receiver->receive == receive_view) continue;
            snprintf(what, sizeof what, "%s, by the channel %s", receiver->name, channels[channel]);
            begin();
            secret("db.password");
            OK(give(channel, receiver->first, E));
            receiver->receive();
            REFUSED(what, give(channel, receiver->canary, &gone));
            IS_CLEAN(what);
            end();
        }
    }
}

/* The receiver comes after the value, and the generation before it is brought back. */
static void a_receiver_that_comes_later_and_a_rollback_show_nothing(void) {
    for (int channel = 0; channel < CHANNELS; channel++) {
        invivo_injection count = password("count"), told = password("told"), given = password("given");
        static const char *const inputs[] = {"/db.password"};
        invivo_rule rule = {.struct_size = sizeof rule, .name = "tells", .inputs = inputs, .input_count = 1, .check = tell_rule};
        uint64_t generation = 0;
        begin();
        secret("db");
        OK(give(channel, CANARY, E));
        OK(invivo_runtime_generation(runtime, &generation, E));
        REFUSED(channels[channel], define("a.count", NULL, &count, &gone));
        REFUSED(channels[channel], define("a.told", NULL, &told, &gone));
        REFUSED(channels[channel], define("a.given", &given, NULL, &gone));
        REFUSED(channels[channel], invivo_rule_add(runtime, &rule, &gone));
        OK(give(channel, "fine", E));
        receive_rule();
        REFUSED(channels[channel], invivo_rollback(runtime, generation, &gone));
        IS_CLEAN(channels[channel]);
        end();
    }
}

/* The declaration comes after the value, and goes. */
static void a_declaration_applies_to_values_that_are_there(void) {
    invivo_injection count = password("count");
    invivo_config id;
    begin();
    OK(give(MEMORY, CANARY, E));
    CHECK(!is_secret("db.password"));
    secret("db.password");
    CHECK(is_secret("db.password") && is_secret("db") && is_secret("db.password.part") && !is_secret("db.host") && !is_secret("db.pass"));
    REFUSED("a definition", define("a.count", NULL, &count, &gone));
    REFUSED("a view", invivo_config_id(runtime, "db.password", INVIVO_KIND_INT64, &id, &gone));
    REFUSED("a view of the map", invivo_config_id(runtime, "db", INVIVO_KIND_INT64, &id, &gone));
    IS_CLEAN("a declaration after the value");
    /* Reads have the value. */
    invivo_value value;
    OK(invivo_config_read(runtime, "db.password", &value, E));
    CHECK_TEXT(value.as.string.data, CANARY);
    invivo_value_clear(&value);
    OK(invivo_document_text(runtime, "a.yaml", INVIVO_FORMAT_YAML, &value, E));
    CHECK(strstr(value.as.string.data, CANARY));
    invivo_value_clear(&value);
    /* A rollback takes the declaration back. */
    invivo_changes set = changes();
    OK(invivo_changes_remove_secret(set, "db.password", E));
    OK(invivo_changes_commit(set, E));
    CHECK(!is_secret("db.password"));
    REFUSED("a definition", define("a.count", NULL, &count, &gone));
    CHECK(strstr(output, CANARY));
    uint64_t generation = 0;
    OK(invivo_runtime_generation(runtime, &generation, E));
    OK(invivo_rollback(runtime, generation - 1, E));
    CHECK(is_secret("db.password"));
    OK(invivo_rollback(runtime, generation, E));
    CHECK(!is_secret("db.password"));
    /* The declaration that a rollback brings back is one, and ends with one revocation. */
    OK(invivo_rollback(runtime, generation - 1, E));
    CHECK(is_secret("db.password"));
    set = changes();
    OK(invivo_changes_remove_secret(set, "db.password", E));
    OK(invivo_changes_commit(set, E));
    CHECK(!is_secret("db.password"));
    set = changes();
    OK(invivo_changes_remove_secret(set, "db.passwort", E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_NOT_FOUND, "config.db.passwort: no change set has declared 'db.passwort' as secret");
    set = changes();
    expects_error(invivo_changes_add_secret(set, "db..x", E), INVIVO_E_ARGUMENT, "'db..x' is not a configuration path: names joined by dots");
    invivo_changes_discard(set);
    end();
}

/* The default of an injection stands for the secret. */
static void no_output_shows_the_default_of_a_secret(void) {
    static const struct { const char *what, *property; bool isInitializer, isText, isChoice; } uses[] = {
        {"a property", "count", false, false, false}, {"a setter", "told", false, false, false}, {"a converter", "count", false, true, false},
        {"an initializer", NULL, true, false, false}, {"a choice", NULL, false, false, true}};
    begin();
    secret("db.password");
    OK(define("a.one", NULL, NULL, E));
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        invivo_injection value = {.how = INVIVO_INJECT_VALUE, .value = invivo_string(CANARY)};
        invivo_injection read = {.name = uses[i].property, .how = INVIVO_INJECT_CONFIG, .reference = "/db.password", .items = &value, .item_count = 1};
        invivo_injection text = {.name = uses[i].property, .how = INVIVO_INJECT_TEXT, .reference = "url", .items = &read, .item_count = 1};
        invivo_option option = {.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}};
        invivo_definition definition = {.struct_size = sizeof definition, .key = "a.default", .scope = INVIVO_SCOPE_SINGLETON, .type = type};
        if (uses[i].isText) value.value = invivo_string("http://u:" CANARY "@ h");
        if (uses[i].isChoice) {
            definition = (invivo_definition){.struct_size = sizeof definition, .key = "a.default", .chooser = &read, .options = &option, .option_count = 1};
        } else if (uses[i].isInitializer) {
            definition.initializer = &read, definition.initializer_count = 1;
        } else {
            definition.properties = uses[i].isText ? &text : &read, definition.property_count = 1;
        }
        REFUSED(uses[i].what, invivo_define(runtime, &definition, NULL, &gone));
        IS_CLEAN(uses[i].what);
    }
    end();
}

/* ---- properties and traits ---- */

static void attach(void) {
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_target_attach(object, "a.t", NULL, E));
}
static invivo_status trait(int channel, const char *name, const char *value, invivo_error **error) {
    char text[700], path[600];
    if (channel == VARIABLE) {
        setenv("IV_CANARY", value, 1);
        OK(document("a.yaml", "{}", E));
        OK(invivo_runtime_refresh_environment(runtime, E));
        value = "${IV_CANARY}";
    } else if (channel == CONTENT) {
        OK(document("a.yaml", "{}", E));
        snprintf(path, sizeof path, "%s/secret%zu", folder, strlen(value));
        write_text(path, value);
    }
    snprintf(text, sizeof text, "traits:\n  a.t:\n    - %s: \"%s%s\" }\n", name, channel == CONTENT ? "file:" : "", channel == CONTENT ? path : value);
    if (channel == MEMORY && is_number(value)) snprintf(text, sizeof text, "traits:\n  a.t:\n    - %s: %s }\n", name, value);
    return document("a.yaml", text, error);
}
static invivo_status tell_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                 invivo_error **error) {
    (void)fields, (void)count, (void)layers, (void)user_data;
    return tell(values, error);
}
static invivo_status tell_apply(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)instance, (void)fields, (void)count, (void)reversal, (void)user_data;
    return tell(values, error);
}
typedef struct parameters { char word[48]; } parameters;
static const invivo_property parameter_fields[] = {INVIVO_FLAGGED_FIELD(parameters, INVIVO_PROPERTY_SECRET, word)};
static const invivo_property number_fields[] = {{.struct_size = sizeof(invivo_property), .name = "word", .kind = INVIVO_KIND_DOUBLE,
                                                 .flags = INVIVO_PROPERTY_SECRET, .max = 5, .size = 8}};

/* Trait types that put their parameter into each part of a layer. */
enum { NUMBER_VALUE, SCALED, SHIFTED, TEXT_VALUE, NAME, NAME_SCALED, KINDS_OF_LAYERS };
static const char *const layer_kinds[] = {"a number", "a scale", "an offset", "a text", "a name", "a name of a scale"};
static int kinds[KINDS_OF_LAYERS];

static invivo_status put_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                invivo_error **error) {
    (void)fields, (void)count;
    double number = values->kind == INVIVO_KIND_DOUBLE ? values->as.number : 0;
    invivo_value one = invivo_int64(1);
    switch (*(int *)user_data) {
    case SCALED: return invivo_layers_scale(layers, "count", number, error);
    case SHIFTED: return invivo_layers_offset(layers, "count", number, error);
    case NAME: return invivo_layers_set(layers, values->as.string.data, &one, error);
    case NAME_SCALED: return invivo_layers_scale(layers, values->as.string.data, 2, error);
    default: return invivo_layers_set(layers, "count", values, error);
    }
}
/* The property that a layer is for is not secret, and the parameter is, or comes from a variable or a file. */
static void no_output_shows_a_parameter_in_a_layer(void) {
    static const int used[] = {MEMORY, VARIABLE, CONTENT};
    static const char *const targets[] = {"*"};
    const invivo_property open_word[] = {INVIVO_FIELD(parameters, word)};
    const invivo_property open_number[] = {{.struct_size = sizeof(invivo_property), .name = "word", .kind = INVIVO_KIND_DOUBLE, .size = 8}};
    invivo_property secret_number = *open_number;
    secret_number.flags = INVIVO_PROPERTY_SECRET;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        int channel = used[i];
        begin();
        attach();
        void *instance = NULL;
        OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
        ((vault *)instance)->count = 1;
        for (int kind = 0; kind < KINDS_OF_LAYERS; kind++) {
            char name[32], use[64];
            bool is_text = kind >= TEXT_VALUE;
            kinds[kind] = kind;
            snprintf(name, sizeof name, "m.Put%d", kind), snprintf(use, sizeof use, "%s: { word", name);
            invivo_trait put_trait = {.struct_size = sizeof put_trait, .name = name, .targets = targets, .target_count = 1, .field_count = 1,
                                      .size = is_text ? sizeof(parameters) : 8, .layers = put_layers, .user_data = &kinds[kind]};
            put_trait.fields = is_text ? (channel == MEMORY ? parameter_fields : open_word) : channel == MEMORY ? &secret_number : open_number;
            OK(invivo_trait_add(runtime, &put_trait, E));
            REFUSED(layer_kinds[kind], trait(channel, use, is_text ? CANARY : NUMBER, &gone));
            IS_CLEAN(layer_kinds[kind]);
        }
        OK(invivo_object_release(object));
        end();
    }
}

static void no_output_shows_a_secret_of_a_trait(void) {
    static const int used[] = {MEMORY, VARIABLE, CONTENT};
    static const char *const targets[] = {"*"};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        int channel = used[i];
        begin();
        attach();
        OK(trait(channel, "Set: { key", "fine", E));
        REFUSED("the wrong kind", trait(channel, "Set: { level", CANARY, &gone));
        REFUSED("the range", trait(channel, "Set: { level", NUMBER, &gone));
        REFUSED("a factor", trait(channel, "Scale: { level", CANARY, &gone));
        REFUSED("a factor of a text", trait(channel, "Scale: { key", CANARY, &gone));
        REFUSED("the length", trait(channel, "Set: { key", CANARY CANARY CANARY CANARY, &gone));
        REFUSED("a setter", trait(channel, "Set: { kept", CANARY, &gone));
        IS_CLEAN(channels[channel]);
        /* A value that the object changes, and one that other code changes. */
        clamps = true;
        OK(trait(channel, "Set: { kept", CANARY, E));
        IS_CLEAN("an adjusted value");
        clamps = false;
        OK(document("a.yaml", "{}", E));
        OK(trait(channel, "Set: { key", CANARY, E));
        void *instance = NULL;
        OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
        snprintf(((vault *)instance)->key, 48, "other-hunter2");
        OK(document("a.yaml", "{}", E));
        IS_CLEAN("a foreign change");
        /* Rules over the property. */
        static const char *const inputs[] = {"a.t.key"};
        invivo_rule rule = {.struct_size = sizeof rule, .name = "tells", .inputs = inputs, .input_count = 1, .check = tell_rule};
        OK(invivo_rule_add(runtime, &rule, E));
        REFUSED("a rule", trait(channel, "Set: { key", CANARY, &gone));
        OK(invivo_rule_remove(runtime, "tells", E));
        IS_CLEAN("a rule over a property");
        /* Trait types of the host. */
        invivo_trait checked = {.struct_size = sizeof checked, .name = "m.Checked", .targets = targets, .target_count = 1, .check = tell_check,
                                .fields = parameter_fields, .field_count = 1, .size = sizeof(parameters), .layers = tell_layers};
        invivo_trait layered = checked, applied = checked, limited = checked;
        layered.name = "m.Layered", layered.check = NULL;
        applied.name = "m.Applied", applied.check = NULL, applied.layers = NULL, applied.apply = tell_apply;
        limited.name = "m.Limited", limited.fields = number_fields, limited.size = 8, limited.check = NULL;
        OK(invivo_trait_add(runtime, &checked, E)), OK(invivo_trait_add(runtime, &layered, E));
        OK(invivo_trait_add(runtime, &applied, E)), OK(invivo_trait_add(runtime, &limited, E));
        REFUSED("a check", trait(channel, "m.Checked: { word", CANARY, &gone));
        REFUSED("layers", trait(channel, "m.Layered: { word", CANARY, &gone));
        REFUSED("apply", trait(channel, "m.Applied: { word", CANARY, &gone));
        REFUSED("a field", trait(channel, "m.Limited: { word", NUMBER, &gone));
        REFUSED("a field of the wrong kind", trait(channel, "m.Limited: { word", CANARY, &gone));
        REFUSED("a key beside it", trait(channel, "m.Checked: { wort: 1, word", CANARY, &gone));
        IS_CLEAN("a trait type");
        OK(invivo_object_release(object));
        end();
    }
}

/* The base value below a trait comes from a secret of the configuration, and the property has no flag. */
static void a_base_value_from_a_secret_is_not_shown(void) {
    for (int i = 0; i < 4; i++) {
        invivo_injection injection = password("told");
        begin();
        secret("db.password");
        clamps = true; /* the setter takes everything */
        OK(give(MEMORY, CANARY, E));
        OK(define("a.setter", NULL, &injection, E));
        clamps = false;
        OK(document("b.yaml", "traits: { a.setter: [Set: { told: plain }] }", E));
        output[0] = 0;
        if (i == 0) {
            /* It cannot be set again. */
            REFUSED("a restored value", document("b.yaml", "{}", &gone));
            CHECK(strstr(output, "a.setter.told: the value cannot be set (its message is not shown, because it could quote a hidden value)"));
        } else if (i == 3) {
            /* Neither can the change be undone. The next commit tries again. */
            refuses = true;
            REFUSED("a restored value", document("b.yaml", "{}", &gone));
            OK(document("c.yaml", "config: { other: 1 }", E));
            gather();
            CHECK(strstr(output, "a.setter: its traits still cannot be put back: the value cannot be set (its message is not shown, because it could quote a hidden value)"));
            refuses = false;
        } else {
            /* The object returns another value, or other code has changed it. */
            clamps = true;
            if (i == 2) OK(document("b.yaml", "traits: { a.setter: [Set: { told: plainer }] }", E));
            OK(document("b.yaml", "{}", E));
        }
        IS_CLEAN("a base value");
        end();
    }
}

/* A secret parameter shows no value of the configuration, no argument and no constant; the path itself is not declared. */
static void a_secret_parameter_shows_no_value(void) {
    static const invivo_parameter secret_word[] = {{.name = "word", .kind = INVIVO_KIND_STRING, .flags = INVIVO_PARAMETER_SECRET}};
    static const invivo_parameter secret_count[] = {{.name = "count", .kind = INVIVO_KIND_INT64,
                                                     .flags = INVIVO_PARAMETER_SECRET | INVIVO_PARAMETER_OPTIONAL}};
    static const int used[] = {MEMORY, VARIABLE, CONTENT, SETTING};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        begin();
        invivo_type text = {0}, number = {0}, plain = type;
        invivo_type_options options = {.struct_size = sizeof options, .name = "m.Text", .size = sizeof(vault), .init = tell_init,
                                       .parameters = secret_word, .parameter_count = 1};
        OK(invivo_type_register(runtime, &options, &text, E));
        options.name = "m.Number", options.parameters = secret_count;
        OK(invivo_type_register(runtime, &options, &number, E));
        OK(give(used[i], "fine", E));
        invivo_injection injection = password("word");
        type = text;
        OK(define("a.text", &injection, NULL, E));
        REFUSED("a constructor", give(used[i], CANARY, &gone));
        CHECK(strstr(output, "<secret>"));
        IS_CLEAN(channels[used[i]]);
        invivo_changes set = changes();
        OK(invivo_changes_remove(set, "a.text", E));
        OK(invivo_changes_commit(set, E));
        /* The kind is wrong. */
        OK(give(used[i], "7", E));
        injection.name = "count";
        type = number;
        OK(define("a.number", &injection, NULL, E));
        REFUSED("a kind", give(used[i], CANARY, &gone));
        /* Constants and arguments. */
        invivo_value canary = invivo_string(CANARY);
        invivo_injection constant = {.name = "count", .how = INVIVO_INJECT_VALUE, .value = canary};
        REFUSED("a constant", define("a.constant", &constant, NULL, &gone));
        REFUSED("an argument", invivo_object_make(runtime, number, &canary, 1, &object, &gone));
        REFUSED("an argument", invivo_object_make(runtime, text, &canary, 1, &object, &gone));
        CHECK(!is_secret("db.password"));
        IS_CLEAN("a parameter");
        type = plain;
        end();
    }
}

/* The second resolve creates a build plan, which calls the initializer with constants. */
static void a_prototype_shows_no_secret_each_time(void) {
    static const invivo_parameter word[] = {{.name = "word", .kind = INVIVO_KIND_STRING, .flags = INVIVO_PARAMETER_SECRET}};
    for (int i = 0; i < 2; i++) {
        begin();
        invivo_injection injection = password("given"), constant = {.name = "word", .how = INVIVO_INJECT_VALUE, .value = invivo_string(CANARY)};
        invivo_type_options options = {.struct_size = sizeof options, .name = "m.Text", .size = sizeof(vault), .init = tell_init,
                                       .parameters = word, .parameter_count = 1};
        if (i) OK(invivo_type_register(runtime, &options, &type, E));
        else secret("db.password");
        OK(give(MEMORY, CANARY, E));
        invivo_definition definition = {.struct_size = sizeof definition, .key = "a.part", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type,
                                        .initializer = i ? &constant : &injection, .initializer_count = 1};
        OK(invivo_define(runtime, &definition, NULL, E));
        for (int j = 0; j < 4; j++) REFUSED("a prototype", invivo_resolve_name(runtime, "a.part", &object, &gone));
        CHECK(strstr(output, "I refuse '<secret>'"));
        IS_CLEAN("a prototype");
        end();
    }
}

/* A base value and an override are checked like other values. */
static void a_secret_property_is_masked_wherever_its_value_comes_from(void) {
    begin();
    OK(define("a.t", NULL, NULL, E));
    invivo_changes set = changes();
    invivo_value value = invivo_string(CANARY), number = invivo_double(987654321);
    OK(invivo_changes_set(set, "a.t", "level", &value, E));
    REFUSED("a base value", invivo_changes_commit(set, &gone));
    set = changes();
    OK(invivo_changes_set(set, "a.t", "level", &number, E));
    REFUSED("a base value", invivo_changes_commit(set, &gone));
    invivo_injection wrong = {.name = "level", .how = INVIVO_INJECT_VALUE, .value = value};
    REFUSED("a constant", define("a.u", NULL, &wrong, &gone));
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.t", .scope = INVIVO_SCOPE_SINGLETON, .type = type,
                                    .properties = &wrong, .property_count = 1};
    invivo_override replaced;
    REFUSED("an override", invivo_override_begin(runtime, &definition, &replaced, &gone));
    OK(invivo_resolve_name(runtime, "a.t", &object, E));
    REFUSED("a write", invivo_object_set(object, "level", &value, &gone));
    REFUSED("a write", invivo_object_set(object, "kept", &value, &gone));
    invivo_value read;
    REFUSED("a text", invivo_property_read(type, "level", CANARY, strlen(CANARY), &read, &gone));
    OK(invivo_object_release(object));
    IS_CLEAN("a property");
    end();
}

/* ---- documents ---- */

static void errors_of_form_quote_no_text_while_there_are_secrets(void) {
    static const char *const wrong[] = {"{\"config\": {\"db\": {\"password\": " CANARY "}}}", "config: { db: { password: !!int " CANARY " } }",
                                        "config: { db: { password: *" CANARY " } }", "config:\n  db:\n    password: [" CANARY "\n",
                                        "config: { db: { password: 987654321987654321987654321 } }", "config: { db: { password: &" CANARY " x } }",
                                        "config: { db: { password: !" CANARY " x } }",
                                        /* Well-formed texts that are no documents. */
                                        CANARY "\n", NUMBER, "98765.4321", "config: " CANARY, "config: " NUMBER, "traits: " CANARY, "specs: " CANARY,
                                        "wiring: " CANARY, "traits: { a.b: " CANARY " }", "traits: { a.b: [" CANARY "] }", "traits: { a.b: [" NUMBER "] }",
                                        "traits: { a.b: [{ Set: " CANARY " }] }", "wiring: { a.b: " CANARY " }", "wiring: { a.b: { alias: " NUMBER " } }",
                                        "wiring: { a.b: { scope: " NUMBER " } }", "include: " NUMBER, "include: [" NUMBER "]",
                                        "traits: { a.t: [{ Ramp: { to: { plain: 1 }, over: " CANARY " } }] }",
                                        "traits: { a.t: [{ Ramp: { to: " CANARY ", over: 1 } }] }", "traits: { a.t: [{ Inherit: { traits: " NUMBER " } }] }",
                                        "traits: { a.t: [{ When: { config: [" CANARY "], traits: " CANARY " } }] }",
                                        "traits: { a.t: [{ When: { profile: " NUMBER ", traits: [] } }] }", "traits: { a.t: [{ type: " NUMBER " }] }"};
    static const char *const declared[] = {"db.password", ""};
    for (size_t at = 0; at < sizeof declared / sizeof *declared; at++) {
        begin();
        attach();
        secret(declared[at]);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            REFUSED(wrong[i], document(i ? "a.yaml" : "a.json", wrong[i], &gone));
            CHECK(!strstr(output, "98765.4321"));
            IS_CLEAN(wrong[i]);
        }
        /* A file with a secret that is included instead of read as a value. */
        char path[600], text[700];
        snprintf(path, sizeof path, "%s/secret.txt", folder), snprintf(text, sizeof text, "include: [%s]", path);
        write_text(path, CANARY "\n");
        REFUSED("an included file", document("a.yaml", text, &gone));
        IS_CLEAN("an included file");
        OK(invivo_object_release(object));
        end();
    }
    /* The set with the document declares the secret. */
    begin();
    invivo_changes set = changes();
    OK(invivo_changes_add_secret(set, "db.password", E));
    OK(invivo_changes_document(set, "a.json", wrong[0], strlen(wrong[0]), E));
    REFUSED("a set", invivo_changes_commit(set, &gone));
    IS_CLEAN("a set that declares the secret");
    end();
}

static void entries_of_a_secret_are_no_keys(void) {
    begin();
    secret("users");
    OK(document("a.yaml", "config: { users: { " CANARY ": 1 } }", E));
    output[0] = 0;
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.user", .scope = INVIVO_SCOPE_LAZY_SINGLETON, .type = type,
                                    .each = "/users"};
    expects_error(invivo_define(runtime, &definition, NULL, E), INVIVO_E_UNSUPPORTED,
                  "a.yaml:1:18: config.users: 'a.user' is for each entry of 'users', which is secret: the names of the entries would be keys, "
                  "which reports and graphs show; use a path that is not secret, and declare the secret values in the entries");
    end();
}

/* ---- declarations ---- */

static void a_secret_field_of_settings_is_a_secret_path(void) {
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password)};
    static const char *const parts[] = {"password"};
    invivo_settings bound[] = {{.struct_size = sizeof(invivo_settings), .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                                .size = sizeof(login), .check = tell_check},
                               {.struct_size = sizeof(invivo_settings), .name = "Login", .path = "db", .create = tell_create, .secrets = parts,
                                .secret_count = 1}};
    for (int i = 0; i < 2; i++) {
        begin();
        OK(give(SETTING, "1", E));
        OK(invivo_settings_bind(runtime, &bound[i], E));
        CHECK(is_secret("db.password") && !is_secret("db.host"));
        receive_count();
        REFUSED("a field", give(SETTING, i ? CANARY : NUMBER, &gone));
        REFUSED("a form", document("a.json", "{\"config\": {\"db\": {\"password\": " CANARY "}}}", &gone));
        IS_CLEAN("a secret field");
        OK(invivo_settings_unbind(runtime, "Login", E));
        CHECK(!is_secret("db.password"));
        end();
    }
}

/* Each declaration of a path counts, also if the path is secret already. A binding with the same name ends those of the former one. */
static void a_path_is_secret_until_its_last_declaration_ends(void) {
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password)};
    static const invivo_property open_fields[] = {INVIVO_FIELD(login, password)};
    invivo_settings closed = {.struct_size = sizeof closed, .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                              .size = sizeof(login)};
    invivo_settings open = closed;
    open.fields = open_fields;
    begin();
    OK(give(SETTING, "1", E));
    secret("db.password");
    OK(invivo_settings_bind(runtime, &closed, E));
    invivo_changes set = changes();
    OK(invivo_changes_remove_secret(set, "db.password", E));
    OK(invivo_changes_commit(set, E));
    CHECK(is_secret("db.password"));
    receive_count();
    REFUSED("a field", give(SETTING, NUMBER, &gone));
    IS_CLEAN("a path with two declarations");
    for (int round = 0; round < 2; round++) {
        OK(invivo_settings_bind(runtime, &closed, E));
        CHECK(is_secret("db.password"));
        OK(invivo_settings_bind(runtime, &open, E));
        CHECK(!is_secret("db.password"));
    }
    end();
}

/* One set moves a path from a change set's declaration to that of settings: the declaration of the change set is over. */
static void a_declaration_moves_to_settings(void) {
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password)};
    const invivo_settings closed = {.struct_size = sizeof closed, .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                                    .size = sizeof(login)};
    begin();
    secret("db.password");
    invivo_changes set = changes();
    OK(invivo_changes_remove_secret(set, "db.password", E));
    OK(invivo_changes_bind_settings(set, &closed, E));
    OK(invivo_changes_commit(set, E));
    CHECK(is_secret("db.password"));
    set = changes();
    OK(invivo_changes_remove_secret(set, "db.password", E));
    expects_error(invivo_changes_commit(set, E), INVIVO_E_NOT_FOUND, "config.db.password: no change set has declared 'db.password' as secret");
    CHECK(is_secret("db.password"));
    end();
}

/* A rollback brings former values back, and the binding stays. */
static void a_rollback_keeps_the_secrets_of_settings(void) {
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password)};
    const invivo_settings closed = {.struct_size = sizeof closed, .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                                    .size = sizeof(login)};
    uint64_t generation;
    begin();
    OK(document("a.yaml", "config: { db: { password: " NUMBER " } }", E));
    OK(invivo_runtime_generation(runtime, &generation, E));
    OK(invivo_settings_bind(runtime, &closed, E));
    OK(document("a.yaml", "config: { db: { password: 1 } }", E));
    OK(invivo_rollback(runtime, generation, E));
    CHECK(is_secret("db.password"));
    const invivo_injection count = password("count");
    REFUSED("a value of a rollback", define("a.count", NULL, &count, &gone));
    IS_CLEAN("a rollback");
    end();
}

/* An assembly that a rollback brings back declares its secrets beside a binding that has taken its place. */
static void a_rollback_adds_the_declarations_of_an_assembly(void) {
    static const char *const paths[] = {"db.password"};
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password)};
    const invivo_settings closed = {.struct_size = sizeof closed, .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                                    .size = sizeof(login)};
    const invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "store", .secrets = paths, .secret_count = 1};
    uint64_t generation;
    begin();
    invivo_changes set = changes();
    OK(invivo_changes_activate(set, &assembly, NULL, E));
    OK(invivo_changes_commit(set, E));
    OK(invivo_runtime_generation(runtime, &generation, E));
    set = changes();
    OK(invivo_changes_deactivate(set, "store", E));
    OK(invivo_changes_bind_settings(set, &closed, E));
    OK(invivo_changes_commit(set, E));
    CHECK(is_secret("db.password"));
    OK(invivo_rollback(runtime, generation, E));
    CHECK(is_secret("db.password"));
    set = changes();
    OK(invivo_changes_deactivate(set, "store", E));
    OK(invivo_changes_commit(set, E));
    CHECK(is_secret("db.password"));
    OK(invivo_settings_unbind(runtime, "Login", E));
    CHECK(!is_secret("db.password"));
    end();
}

/* Spec files may use a former name of a field, too. */
static void a_former_name_of_a_secret_field_is_secret(void) {
    static const char *const former[] = {"pin", "word"};
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password, .was = former, .was_count = 2)};
    const invivo_settings closed = {.struct_size = sizeof closed, .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                                    .size = sizeof(login)};
    begin();
    OK(invivo_settings_bind(runtime, &closed, E));
    CHECK(is_secret("db.password") && is_secret("db.pin") && is_secret("db.word") && !is_secret("db.host"));
    OK(invivo_settings_unbind(runtime, "Login", E));
    CHECK(!is_secret("db.password") && !is_secret("db.pin"));
    end();
}

/* Fields of settings that are bound no more explain no declared path. */
static void a_misspelled_path_resembles_a_field_that_is_bound(void) {
    static const invivo_property secret_fields[] = {INVIVO_FLAGGED_FIELD(login, INVIVO_PROPERTY_SECRET, password)};
    const invivo_settings closed = {.struct_size = sizeof closed, .name = "Login", .path = "db", .fields = secret_fields, .field_count = 1,
                                    .size = sizeof(login)};
    invivo_settings other = closed;
    other.name = "Other", other.path = "other";
    for (int bound = 0; bound < 2; bound++) {
        begin();
        OK(invivo_settings_bind(runtime, &closed, E));
        OK(invivo_settings_bind(runtime, &other, E));
        if (!bound) OK(invivo_settings_unbind(runtime, "Login", E));
        secret("db.pasword");
        OK(invivo_runtime_reports(runtime, put_report, NULL, E));
        CHECK_EQUAL(strstr(output, "did you mean 'db.password'?") != NULL, bound);
        end();
    }
}

static void an_assembly_declares_secrets_while_it_is_active(void) {
    static const char *const paths[] = {"db.password", "/tls"}, *const wrong[] = {"a..b"};
    invivo_assembly base = {.struct_size = sizeof base, .name = "base", .secrets = paths + 1, .secret_count = 1};
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "store", .base = &base, .secrets = paths, .secret_count = 1};
    begin();
    invivo_changes set = changes();
    OK(invivo_changes_activate(set, &assembly, NULL, E));
    OK(invivo_changes_commit(set, E));
    CHECK(is_secret("db.password") && is_secret("tls.key"));
    OK(give(MEMORY, "1", E));
    receive_count();
    REFUSED("a value", give(MEMORY, CANARY, &gone));
    IS_CLEAN("an assembly");
    set = changes();
    OK(invivo_changes_deactivate(set, "store", E));
    OK(invivo_changes_commit(set, E));
    CHECK(!is_secret("db.password") && !is_secret("tls"));
    assembly.secrets = wrong;
    set = changes();
    expects_error(invivo_changes_activate(set, &assembly, NULL, E), INVIVO_E_ARGUMENT, "'a..b' is not a configuration path: names joined by dots");
    invivo_changes_discard(set);
    end();
}

/* Whether one path lies at or below another one. */
static bool lies_in(const char *path, const char *outer) {
    size_t length = strlen(outer);
    return !length || (!strncmp(path, outer, length) && (!path[length] || path[length] == '.'));
}

/* Declarations of change sets and of settings begin and end in any order, several in one set: the others stay. */
static void declarations_begin_and_end_in_any_order(void) {
    static const char *const paths[] = {"a", "a.b", "a.b.c", "a.bc", "d", "d.e", "d.e.f", "g.h.i"};
    enum { COUNT = sizeof paths / sizeof *paths };
    typedef struct {
        double b, bc;
    } section;
    static const invivo_property fields[] = {INVIVO_FLAGGED_FIELD(section, INVIVO_PROPERTY_SECRET, b),
                                             INVIVO_FLAGGED_FIELD(section, INVIVO_PROPERTY_SECRET, bc)};
    begin();
    bool declared[COUNT] = {false}, bound = false;
    uint32_t random = 2463534242u;
    for (int step = 0; step < 400; step++) {
        invivo_changes changes;
        OK(invivo_changes_open(runtime, &changes, E));
        for (unsigned count = random % 3 + 1; count; count--) {
            random ^= random << 13, random ^= random >> 17, random ^= random << 5;
            const unsigned which = (random >> 8) % COUNT;
            if (declared[which]) OK(invivo_changes_remove_secret(changes, paths[which], E));
            else OK(invivo_changes_add_secret(changes, paths[which], E));
            declared[which] = !declared[which];
        }
        if (random % 5 == 0) {
            const invivo_settings settings = {.struct_size = sizeof settings, .name = "A", .path = "a", .fields = fields,
                                              .field_count = 2, .size = sizeof(section)};
            if (bound) OK(invivo_changes_unbind_settings(changes, "A", E));
            else OK(invivo_changes_bind_settings(changes, &settings, E));
            bound = !bound;
        }
        OK(invivo_changes_commit(changes, E));
        for (unsigned i = 0; i < COUNT; i++) {
            bool expected = bound && (lies_in(paths[i], "a.b") || lies_in("a.b", paths[i]) || lies_in(paths[i], "a.bc"));
            for (unsigned k = 0; k < COUNT; k++)
                if (declared[k] && (lies_in(paths[i], paths[k]) || lies_in(paths[k], paths[i]))) expected = true;
            if (is_secret(paths[i]) != expected)
                check_failed(__FILE__, __LINE__, "step %d: %s is %ssecret", step, paths[i], expected ? "not " : "");
        }
    }
    end();
}

/* ---- messages ---- */

static void messages_name_the_place_and_what_was_expected(void) {
    invivo_error *error = NULL;
    begin();
    secret("db.password");
    OK(give(MEMORY, "1", E));
    receive_count();
    expects_error(give(MEMORY, CANARY, E), INVIVO_E_CONVERSION,
                  "a.yaml:1:27: config.db.password: the property 'count' of 'a.count': <secret> is an unsuitable value; expected a whole number from 0 to 10");
    expects_error(give(MEMORY, "11", E), INVIVO_E_RANGE,
                  "a.yaml:1:27: config.db.password: the property 'count' of 'a.count': <secret> is a value outside of the range; expected a whole number from 0 to 10");
    receive_rule();
    expects_error(give(MEMORY, NUMBER, E), INVIVO_E_RANGE, NULL);
    invivo_changes set = changes();
    OK(invivo_changes_remove(set, "a.count", E));
    OK(invivo_changes_commit(set, E));
    expects_error(give(MEMORY, CANARY, E), INVIVO_E_HOST,
                  "a.yaml:1:27: db.password: the rule 'tells' refuses the values (its message is not shown, because it could quote a hidden value)");
    OK(invivo_rule_remove(runtime, "tells", E));
    OK(give(MEMORY, "fine", E));
    receive_constructor();
    CHECK_EQUAL(give(MEMORY, CANARY, &error), INVIVO_E_RANGE);
    CHECK(strstr(invivo_error_text(error), "I refuse '<secret>'"));
    invivo_error_release(error);
    invivo_value value;
    OK(invivo_graph_describe(runtime, INVIVO_GRAPH_JSON, &value, E));
    CHECK(strstr(value.as.string.data, "{\"key\": \"db.password\", \"how\": \"configuration\", \"secret\": true}"));
    invivo_value_clear(&value);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    if (!getcwd(folder, sizeof folder)) return 1;
    snprintf(document_file, sizeof document_file, "%s/main.yaml", folder);
    RUN_TEST(no_output_shows_a_secret_of_the_configuration);
    RUN_TEST(a_receiver_that_comes_later_and_a_rollback_show_nothing);
    RUN_TEST(a_declaration_applies_to_values_that_are_there);
    RUN_TEST(no_output_shows_the_default_of_a_secret);
    RUN_TEST(no_output_shows_a_secret_of_a_trait);
    RUN_TEST(no_output_shows_a_parameter_in_a_layer);
    RUN_TEST(a_base_value_from_a_secret_is_not_shown);
    RUN_TEST(a_secret_parameter_shows_no_value);
    RUN_TEST(a_prototype_shows_no_secret_each_time);
    RUN_TEST(a_secret_property_is_masked_wherever_its_value_comes_from);
    RUN_TEST(errors_of_form_quote_no_text_while_there_are_secrets);
    RUN_TEST(entries_of_a_secret_are_no_keys);
    RUN_TEST(a_secret_field_of_settings_is_a_secret_path);
    RUN_TEST(a_path_is_secret_until_its_last_declaration_ends);
    RUN_TEST(a_declaration_moves_to_settings);
    RUN_TEST(a_rollback_keeps_the_secrets_of_settings);
    RUN_TEST(a_rollback_adds_the_declarations_of_an_assembly);
    RUN_TEST(a_former_name_of_a_secret_field_is_secret);
    RUN_TEST(a_misspelled_path_resembles_a_field_that_is_bound);
    RUN_TEST(an_assembly_declares_secrets_while_it_is_active);
    RUN_TEST(declarations_begin_and_end_in_any_order);
    RUN_TEST(messages_name_the_place_and_what_was_expected);
    return check_end();
}
