/* Decisions of documents about definitions (`wiring:`): reports, drawings, checks, and keys that come later. */
/* sanitize: yes */
#include "thing.h"

static invivo_runtime runtime;
static listener *heard;

static void begin_with(uint32_t flags) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.flags = flags, options.log_level = INVIVO_LOG_SILENT;
    things = 0, runtime = thing_runtime_with(&options);
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
}
static void begin(void) { begin_with(0); }
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
    listener_end(heard), free(heard);
    unlink("w.yaml"), unlink("app.yaml");
}
static invivo_status say(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(changes, error);
}
static void define(const char *key, int64_t number) {
    const invivo_injection injection = {.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(number)};
    const invivo_definition definition = {.struct_size = sizeof definition, .key = key, .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                          .properties = &injection, .property_count = 1};
    OK(invivo_define(runtime, &definition, NULL, E));
}
static int64_t number_of(const char *key) {
    invivo_object object = {0};
    void *instance = NULL;
    if (!OK(invivo_resolve_name(runtime, key, &object, E))) return -1;
    OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    int64_t number = ((thing *)instance)->number;
    OK(invivo_object_release(object));
    return number;
}

/* ---- reports and drawings ------------------------------------------------------------------------------ */

/* The last report. */
static char said[512];
static void note(void *user_data, const invivo_report *report) {
    (void)user_data;
    size_t length = 0;
    said[0] = 0;
    length += (size_t)snprintf(said, sizeof said, "%s;", invivo_report_cause(report));
    for (size_t i = 0; i < invivo_report_count(report); i++)
        length += (size_t)snprintf(said + length, sizeof said - length, " %s at %s from %u '%s';", invivo_report_key(report, i),
                                   invivo_report_location(report, i), invivo_report_origin(report, i), invivo_report_layer(report, i));
}

static const char *last_report(void) {
    OK(invivo_runtime_reports(runtime, note, NULL, E));
    return said;
}
static void a_report_has_the_cause_and_the_location(void) {
    begin();
    define("a.one", 1), define("a.two", 2);
    CHECK_EQUAL(number_of("a.one"), 1);
    OK(say("w.yaml", "wiring:\n  a.one: { alias: a.two }\n", E));
    CHECK_TEXT(last_report(), "w.yaml; a.one at w.yaml:2:19 from 2 'w.yaml';");
    CHECK_EQUAL(number_of("a.one"), 2);
    OK(say("w.yaml", NULL, E));
    CHECK_TEXT(last_report(), "w.yaml; a.one at  from 3 '';");
    CHECK_EQUAL(number_of("a.one"), 1);
    end();
}

static const char *drawn(void) {
    static char text[4096];
    invivo_value drawing;
    OK(invivo_graph_describe(runtime, INVIVO_GRAPH_JSON, &drawing, E));
    snprintf(text, sizeof text, "%s", drawing.as.string.data);
    invivo_value_clear(&drawing);
    return text;
}
static void the_graph_shows_the_decision(void) {
    begin();
    define("a.one", 1), define("a.two", 2), define("a.three", 3);
    CHECK(!strstr(drawn(), "wired"));
    OK(say("w.yaml", "wiring:\n  a.one: { alias: a.two }\n  a.three: { scope: prototype }\n", E));
    CHECK(strstr(drawn(), "\"alias\": \"a.two\""));
    CHECK(strstr(drawn(), "\"file\": \"w.yaml\", \"line\": 2, \"column\": 19, \"wired\": true"));
    CHECK(strstr(drawn(), "\"file\": \"w.yaml\", \"line\": 3, \"column\": 21, \"wired\": true"));
    /* The entry moves to another line. Nothing is created again. */
    OK(say("w.yaml", "wiring:\n\n  a.one: { alias: a.two }\n  a.three: { scope: prototype }\n", E));
    CHECK(strstr(drawn(), "\"line\": 3, \"column\": 19, \"wired\": true"));
    OK(say("w.yaml", "{}", E));
    CHECK(!strstr(drawn(), "wired"));
    end();
}

/* The definition below a decision is checked too. An error of both is one error. */
static void an_error_of_a_decided_definition_is_reported_once(void) {
    begin();
    const invivo_definition base = {.struct_size = sizeof base, .key = "a.base", .type_name = "Thing", .flags = INVIVO_DEFINITION_ABSTRACT};
    const invivo_definition one = {.struct_size = sizeof one, .key = "a.one", .parent = "a.base"};
    OK(invivo_define(runtime, &base, NULL, E));
    OK(invivo_define(runtime, &one, NULL, E));
    OK(say("w.yaml", "wiring: { a.one: { scope: lazy-singleton } }\n", E));
    invivo_changes changes;
    invivo_error *error = NULL;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.base", E));
    CHECK_EQUAL(invivo_changes_commit(changes, &error), INVIVO_E_NOT_FOUND);
    CHECK_EQUAL(invivo_error_count(error), 1);
    CHECK(strstr(invivo_error_text(error), "'a.base'"));
    invivo_error_release(error);
    end();
}

/* So is an error of the decision itself, which the compiler would find as well. */
static void an_error_of_a_decision_is_reported_once(void) {
    begin();
    define("a.one", 1);
    const invivo_definition other = {.struct_size = sizeof other, .key = "a.other", .alias = "a.one"};
    OK(invivo_define(runtime, &other, NULL, E));
    static const char *const decisions[] = {
        "wiring: { a.one: { alias: a.one } }", "wiring: { a.one: { alias: a.none } }", "wiring: { a.one: { choose: x } }",
        "wiring: { a.other: { scope: singleton } }", "wiring: { a.one: { alias: a.other } }",
    };
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        invivo_error *error = NULL;
        CHECK(say("w.yaml", decisions[i], &error) != INVIVO_OK);
        if (invivo_error_count(error) != 1) check_failed(__FILE__, __LINE__, "%s: %s", decisions[i], invivo_error_text(error));
        CHECK(strstr(invivo_error_text(error), "w.yaml:1:"));
        invivo_error_release(error);
    }
    end();
}

/* ---- keys that come later ------------------------------------------------------------------------------ */

static void a_decision_waits_for_its_key_when_allowed(void) {
    begin_with(INVIVO_RUNTIME_PENDING_TARGETS);
    define("a.two", 2);
    OK(say("w.yaml", "wiring:\n  a.late: { alias: a.two }\n", E));
    CHECK_TEXT(listener_last(heard)->warnings,
               "w.yaml:2:20: no definition has the key 'a.late' yet; its wiring waits for one\n");
    OK(say("n.yaml", "wiring: { a.later: null }\n", E));
    /* A report has the warnings about the documents that change. */
    CHECK_TEXT(listener_last(heard)->warnings,
               "n.yaml:1:20: no definition has the key 'a.later' yet; its wiring waits for one\n");
    OK(say("n.yaml", NULL, E));
    define("a.late", 1);
    CHECK_EQUAL(number_of("a.late"), 2);
    /* The key goes, and comes again. */
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.late", E));
    OK(invivo_changes_commit(changes, E));
    define("a.late", 3);
    CHECK_EQUAL(number_of("a.late"), 2);
    OK(say("w.yaml", NULL, E));
    CHECK_EQUAL(number_of("a.late"), 3);
    end();
}

/* One set may define a key and decide about it. */
static void a_set_defines_and_decides(void) {
    begin();
    invivo_changes changes;
    const char *text = "wiring: { a.one: { alias: a.two } }";
    const invivo_definition one = {.struct_size = sizeof one, .key = "a.one", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    const invivo_definition two = {.struct_size = sizeof two, .key = "a.two", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "w.yaml", text, strlen(text), E));
    OK(invivo_changes_define(changes, &one, NULL, E));
    OK(invivo_changes_define(changes, &two, NULL, E));
    OK(invivo_changes_check(changes, E));
    OK(invivo_changes_commit(changes, E));
    CHECK(strstr(drawn(), "\"alias\": \"a.two\""));
    end();
}

static invivo_status set_number(invivo_changes changes, const char *key, invivo_error **error) {
    const invivo_value five = invivo_int64(5);
    OK(invivo_changes_set(changes, key, "number", &five, E));
    return invivo_changes_commit(changes, error);
}
/* An alias or a choice has no property, whoever made it one. */
static void a_property_is_set_for_the_key_that_creates_the_object(void) {
    const char *text = "wiring: { a.decided: { alias: a.one } }";
    const char *const decided = "a.decided.number: 'a.decided' is an alias and creates no object of its own; set the property for 'a.one'";
    const invivo_injection chooser = {.how = INVIVO_INJECT_VALUE, .value = invivo_int64(1)};
    const invivo_option option = {.when = INVIVO_WHEN_OTHERWISE, .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}};
    invivo_changes changes;
    begin();
    define("a.one", 1);
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.alias", .alias = "a.one"}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.choice", .chooser = &chooser,
                     .options = &option, .option_count = 1}, NULL, E));
    OK(invivo_changes_open(runtime, &changes, E));
    expects_error(set_number(changes, "a.alias", E), INVIVO_E_ARGUMENT,
                  "a.alias.number: 'a.alias' is an alias and creates no object of its own; set the property for 'a.one'");
    OK(invivo_changes_open(runtime, &changes, E));
    expects_error(set_number(changes, "a.choice", E), INVIVO_E_ARGUMENT,
                  "a.choice.number: 'a.choice' is a choice and creates no object of its own; set the property for the definitions that it selects");
    OK(invivo_changes_open(runtime, &changes, E));
    expects_error(set_number(changes, "a.nothing", E), INVIVO_E_NOT_FOUND, NULL);
    /* In one set with the definition and the document, and in a later one. */
    const invivo_definition two = {.struct_size = sizeof two, .key = "a.decided", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "w.yaml", text, strlen(text), E));
    OK(invivo_changes_define(changes, &two, NULL, E));
    expects_error(set_number(changes, "a.decided", E), INVIVO_E_ARGUMENT, decided);
    define("a.decided", 2);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "w.yaml", text, strlen(text), E));
    expects_error(set_number(changes, "a.decided", E), INVIVO_E_ARGUMENT, decided);
    OK(say("w.yaml", text, E));
    OK(invivo_changes_open(runtime, &changes, E));
    expects_error(set_number(changes, "a.decided", E), INVIVO_E_ARGUMENT, decided);
    end();
}

static invivo_object shared(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    OK(invivo_object_release(object));
    return object;
}
/* Holders of the target are not rebuilt for what lies below an alias, nor for a decision that changes nothing. */
static void a_decision_that_changes_nothing_rebuilds_nothing(void) {
    const invivo_injection chooser = {.how = INVIVO_INJECT_CONFIG, .reference = "/a.pick"}, given = {.name = "given", .how = INVIVO_INJECT_REFERENCE, .reference = "a.choice"};
    const invivo_option options[] = {{.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(1), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}},
                                     {.when = INVIVO_WHEN_EQUAL, .value = invivo_int64(2), .use = {.how = INVIVO_INJECT_REFERENCE, .reference = "a.one"}}};
    begin();
    define("a.one", 1), define("a.two", 2);
    OK(say("c.yaml", "config: { a: { pick: 1 } }", E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.choice", .chooser = &chooser,
                     .options = options, .option_count = 2}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.holder", .type_name = "Thing",
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON, .initializer = &given, .initializer_count = 1}, NULL, E));
    uint64_t holder = shared("a.holder").bits;
    const char *const texts[] = {"wiring: { a.choice: { choose: 1 } }", "wiring: { a.choice: { choose: 2 } }", "{}",
                                 "wiring: { a.two: { alias: a.one } }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        OK(say("w.yaml", texts[i], E));
        CHECK(shared("a.holder").bits == holder);
    }
    define("a.two", 3);
    CHECK(shared("a.holder").bits == holder);
    CHECK_EQUAL(number_of("a.two"), 1);
    OK(say("w.yaml", "{}", E));
    CHECK_EQUAL(number_of("a.two"), 3);
    CHECK(shared("a.holder").bits == holder);
    end();
}

/* The traits of a key that a document has made an alias wait, and apply again. */
static void traits_of_an_alias_wait(void) {
    thing_concurrency = INVIVO_CONFINED;
    begin();
    thing_concurrency = INVIVO_SHARED;
    define("a.one", 1), define("a.two", 2);
    OK(say("t.yaml", "traits: { a.one: [{ Set: { number: 5 } }] }", E));
    CHECK_EQUAL(number_of("a.one"), 5);
    OK(say("w.yaml", "wiring: { a.one: { alias: a.two } }", E));
    CHECK_EQUAL(number_of("a.one"), 2);
    OK(say("w.yaml", NULL, E));
    CHECK_EQUAL(number_of("a.one"), 5);
    end();
}

/* ---- files and manifests ------------------------------------------------------------------------------- */

static void an_edit_of_a_file_decides(void) {
    begin();
    define("a.one", 1), define("a.two", 2);
    write_text("w.yaml", "wiring: {}\n");
    OK(invivo_watch(runtime, "w.yaml", E));
    size_t count = listener_count(heard);
    write_text("w.yaml.next", "wiring: { a.one: { alias: a.two } }\n");
    CHECK(rename("w.yaml.next", "w.yaml") == 0);
    listener_wait(heard, count + 1);
    CHECK_TEXT(listener_last(heard)->cause, "w.yaml");
    CHECK_EQUAL(number_of("a.one"), 2);
    write_text("w.yaml.next", "wiring: { a.one: { alias: a.too } }\n");
    CHECK(rename("w.yaml.next", "w.yaml") == 0);
    listener_wait(heard, count + 2);
    CHECK(strstr(listener_last(heard)->error, "w.yaml:1:27: wiring.a.one: no definition has the key 'a.too'; did you mean 'a.two'?"));
    CHECK_EQUAL(number_of("a.one"), 2);
    end();
}

static invivo_status load(void *user_data, invivo_runtime loading, const char *name, const char *path, invivo_error **error) {
    (void)user_data, (void)name, (void)path, (void)error;
    thing_register(loading, "Thing");
    return INVIVO_OK;
}
static void a_check_of_a_manifest_includes_decisions(void) {
    invivo_app_options options = {.struct_size = sizeof options, .manifest = "app.yaml", .load_module = load};
    invivo_value drawing;
    write_text("things.py", "");
    write_text("app.yaml", "modules: { things: things.py }\n"
                           "components:\n"
                           "  a.one: { type: Thing }\n"
                           "  a.two: { type: Thing }\n"
                           "specs: [w.yaml]\n");
    write_text("w.yaml", "wiring: { a.oen: { alias: a.two } }\n");
    expects_error(invivo_app_check(&options, 0, NULL, E), INVIVO_E_NOT_FOUND,
                  "w.yaml:1:27: wiring.a.oen: no definition has the key 'a.oen'; did you mean 'a.one'?" LATER);
    write_text("w.yaml", "wiring: { a.one: { alias: a.two } }\n");
    if (OK(invivo_app_check(&options, INVIVO_GRAPH_JSON, &drawing, E))) {
        CHECK(strstr(drawing.as.string.data, "\"file\": \"w.yaml\", \"line\": 1, \"column\": 27, \"wired\": true"));
        invivo_value_clear(&drawing);
    }
    /* A component with an error of its own is known, and decisions about it are not checked against what could be read of it. */
    write_text("app.yaml", "modules: { things: things.py }\n"
                           "components:\n"
                           "  a.one: { type: Thing }\n"
                           "  a.pick: { type: Thing, choose: { $new: { type: Missing } }, options: [{ when: x, use: $a.one }] }\n"
                           "specs: [w.yaml]\n");
    write_text("w.yaml", "wiring: { a.pick: { choose: x } }\n");
    invivo_error *error = NULL;
    CHECK(invivo_app_check(&options, 0, NULL, &error) != INVIVO_OK);
    CHECK_EQUAL(invivo_error_count(error), 1);
    CHECK(strstr(invivo_error_text(error), "app.yaml:4:50: components.a.pick.choose.$new: no type 'Missing' is registered"));
    invivo_error_release(error);
    unlink("app.yaml"), unlink("w.yaml"), unlink("things.py");
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* A reader of a key relies on the layout of its type. */
typedef struct narrow { double level; } narrow;
typedef struct wide { double level, more[64]; } wide;
static void an_alias_never_shows_another_layout(void) {
    static const invivo_property narrow_fields[] = {INVIVO_BLOCK_FIELD(narrow, level, .initial = 1)};
    static const invivo_property wide_fields[] = {INVIVO_BLOCK_FIELD(wide, level, .initial = 2)};
    begin();
    invivo_key wide_key, other_key;
    OK(invivo_define_block(runtime, "b.narrow", INVIVO_BLOCK(narrow, narrow_fields), NULL, E));
    OK(invivo_define_block(runtime, "b.wide", INVIVO_BLOCK(wide, wide_fields), &wide_key, E));
    invivo_definition second = {.struct_size = sizeof second, .key = "b.other", .type_name = "wide", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &second, &other_key, E));
    expects_error(say("w.yaml", "wiring: { b.wide: { alias: b.narrow } }", E), INVIVO_E_TYPE,
                  "w.yaml:1:28: wiring.b.wide: 'b.narrow' is of type 'narrow', and 'b.wide' of type 'wide': an alias leads to the same "
                  "type, because it has a block");
    invivo_view view = invivo_view_begin(runtime);
    CHECK(((const wide *)invivo_view_block(view, wide_key))->level == 2);
    invivo_view_end(view);
    OK(say("w.yaml", "wiring: { b.wide: { alias: b.other } }\ntraits: { b.other: [{ Set: { level: 5 } }] }", E));
    view = invivo_view_begin(runtime);
    CHECK(((const wide *)invivo_view_block(view, wide_key))->level == 5);
    invivo_view_end(view);
    /* Nor when the target changes later, under its own name or another one. */
    second.type_name = "narrow";
    expects_error(invivo_define(runtime, &second, NULL, E), INVIVO_E_TYPE,
                  "w.yaml:1:28: wiring.b.wide: 'b.other' is of type 'narrow', and 'b.wide' of type 'wide': an alias leads to the same "
                  "type, because it has a block");
    const invivo_definition mid = {.struct_size = sizeof mid, .key = "b.mid", .alias = "b.other"};
    OK(invivo_define(runtime, &mid, NULL, E));
    OK(say("w.yaml", "wiring: { b.wide: { alias: b.mid } }", E));
    expects_error(invivo_define(runtime, &second, NULL, E), INVIVO_E_TYPE,
                  "w.yaml:1:28: wiring.b.wide: 'b.mid' is of type 'narrow', and 'b.wide' of type 'wide': an alias leads to the same type, "
                  "because it has a block");
    define("a.one", 1);
    expects_error(say("x.yaml", "wiring: { a.one: { alias: b.narrow } }", E), INVIVO_E_TYPE,
                  "x.yaml:1:27: wiring.a.one: 'b.narrow' is of type 'narrow', and 'a.one' of type 'Thing': an alias leads to the same type, a "
                  "subtype, or a type with a common supertype");
    end();
}

/* The type of an entry is that of its pattern, and so is that of a definition whose parent it is. */
static void a_decision_is_checked_when_a_pattern_changes(void) {
    begin();
    invivo_type type;
    invivo_type_options loose = {.struct_size = sizeof loose, .name = "Loose", .size = 8, .concurrency = INVIVO_SHARED};
    OK(invivo_type_register(runtime, &loose, &type, E));
    define("a.one", 1);
    OK(say("c.yaml", "config: { a: { items: { x: 1 } } }", E));
    invivo_definition pattern = {.struct_size = sizeof pattern, .key = "a.item", .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                 .each = "items"};
    OK(invivo_define(runtime, &pattern, NULL, E));
    const invivo_definition child = {.struct_size = sizeof child, .key = "a.child", .parent = "a.item[x]"};
    OK(invivo_define(runtime, &child, NULL, E));
    OK(say("w.yaml", "wiring: { a.one: { alias: a.child } }", E));
    pattern.type_name = "Loose";
    expects_error(invivo_define(runtime, &pattern, NULL, E), INVIVO_E_TYPE,
                  "w.yaml:1:27: wiring.a.one: 'a.child' is of type 'Loose', and 'a.one' of type 'Thing': an alias leads to the same type, a "
                  "subtype, or a type with a common supertype");
    CHECK_EQUAL(number_of("a.one"), 0);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(a_report_has_the_cause_and_the_location);
    RUN_TEST(the_graph_shows_the_decision);
    RUN_TEST(an_error_of_a_decided_definition_is_reported_once);
    RUN_TEST(an_error_of_a_decision_is_reported_once);
    RUN_TEST(a_decision_waits_for_its_key_when_allowed);
    RUN_TEST(a_set_defines_and_decides);
    RUN_TEST(a_property_is_set_for_the_key_that_creates_the_object);
    RUN_TEST(a_decision_that_changes_nothing_rebuilds_nothing);
    RUN_TEST(traits_of_an_alias_wait);
    RUN_TEST(an_edit_of_a_file_decides);
    RUN_TEST(a_check_of_a_manifest_includes_decisions);
    RUN_TEST(an_alias_never_shows_another_layout);
    RUN_TEST(a_decision_is_checked_when_a_pattern_changes);
    return check_end();
}
