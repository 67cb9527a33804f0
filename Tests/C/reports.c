/* Errors of a refused document: all of them, with path and source location, up to the limit; and no other effect. */
#include "check.h"

typedef struct { double x, y; } point;
typedef struct { double gain; point where; } voice;

static const char *const former[] = {"volume"}, *const former_x[] = {"left"};
static const invivo_property point_fields[] = {INVIVO_FIELD(point, x, .max = 100, .was = former_x, .was_count = 1), INVIVO_FIELD(point, y)};
static const invivo_property properties[] = {INVIVO_FIELD(voice, gain, .max = 2, .was = former, .was_count = 1),
                                             INVIVO_FIELD(voice, where, .fields = point_fields, .field_count = 2)};

static invivo_runtime runtime;
static invivo_object object;
static invivo_source source;

static void begin(uint32_t flags) {
    invivo_runtime_options options;
    invivo_type_options voice_type = {.struct_size = sizeof(voice_type), .name = "Voice", .size = sizeof(voice), .properties = properties, .property_count = 2};
    invivo_type type;
    invivo_source_options document = {.struct_size = sizeof(document), .name = "a.yaml", .text = "{}", .length = 2};
    invivo_runtime_options_init(&options);
    options.flags |= flags;
    options.log_level = INVIVO_LOG_ERROR + 1;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &voice_type, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_target_attach(object, "a.t", NULL, E));
    OK(invivo_source_open(runtime, &document, &source, E));
}
static void end(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}
static invivo_status say(const char *text, invivo_error **error) { return invivo_source_update(source, text, strlen(text), error); }

static void errors_in_a_struct_name_the_field(void) {
    begin(0);
    expects_error(say("traits:\n  a.t:\n    - Set: { gain: 3, where: { x: q, y: [1], w: 2 } }\n", E), INVIVO_E_RANGE,
                  "a.yaml:3:20: traits.a.t[0].Set.gain: 3 is outside 0...2\n"
                  "a.yaml:3:35: traits.a.t[0].Set.where.x: expected a number, got the string 'q'\n"
                  "a.yaml:3:41: traits.a.t[0].Set.where.y: [1] (a list) is not a number\n"
                  "a.yaml:3:46: traits.a.t[0].Set.where.w: 'where' has no field 'w'; expected x, y");
    /* The long form has no level for the trait's name. */
    expects_error(say("traits:\n  a.t:\n    - Set: { gain: 1 }\n    - { type: Set, where: { left: 101 } }\n", E), INVIVO_E_RANGE,
                  "a.yaml:4:35: traits.a.t[1].where.left: 101 is outside 0...100");
    end();
}

static char last_change[128];
static void note_last(void *user_data, const invivo_report *report) {
    (void)user_data;
    snprintf(last_change, sizeof last_change, "%s %u %s", invivo_report_property(report, 0), (unsigned)invivo_report_change(report, 0),
             invivo_report_location(report, 0));
}
static void a_tuned_property_is_reported_with_the_location_of_its_value(void) {
    begin(0);
    OK(say("traits:\n  a.t:\n    - Set: { gain: 1 }\n", E));
    OK(invivo_runtime_reports(runtime, note_last, NULL, E));
    CHECK_TEXT(last_change, "gain 4 a.yaml:3:20");
    OK(say("{}", E));
    OK(invivo_runtime_reports(runtime, note_last, NULL, E));
    CHECK_TEXT(last_change, "gain 4 "); /* the base value, which no document has */
    end();
}

static void a_property_is_set_once_under_every_name(void) {
    begin(0);
    expects_error(say("traits: { a.t: [Set: { volume: 1, gain: 2 }] }", E), INVIVO_E_ARGUMENT,
                  "a.yaml:1:35: traits.a.t[0].Set.gain: 'volume' and 'gain' are the same property of Voice: give one of them");
    expects_error(say("traits: { a.t: [Set: { where: { x: 1, left: 2 } }] }", E), INVIVO_E_ARGUMENT,
                  "a.yaml:1:45: traits.a.t[0].Set.where.left: 'x' and 'left' are the same field: give one of them");
    end();
}

static void an_unknown_key_is_an_error_without_traits(void) {
    begin(0);
    expects_error(say("traits: { a.tt: [] }", E), INVIVO_E_SPEC, "a.yaml:1:11: traits.a.tt: no target has the key 'a.tt'; did you mean 'a.t'?" LATER);
    OK(say("traits: { a.t: [] }", E));
    end();
}

static void a_long_report_is_limited_and_counts_the_rest(void) {
    char *text = malloc(200000), last[64];
    invivo_error *error = NULL;
    int length = sprintf(text, "traits: { a.t: [Set: { ");
    begin(0);
    for (int i = 0; i < 5000; i++) length += sprintf(text + length, "k%d: 1, ", i);
    sprintf(text + length, "gain: 1 }] }");
    CHECK_EQUAL(say(text, &error), INVIVO_E_PROPERTY);
    CHECK_EQUAL(invivo_error_count(error), 101);
    snprintf(last, sizeof(last), "%s", strrchr(invivo_error_text(error), '\n') + 1);
    CHECK_TEXT(last, "a.yaml: and 4900 more errors");
    invivo_error_release(error);
    length = sprintf(text, "traits: {");
    for (int i = 0; i < 5000; i++) length += sprintf(text + length, " k%d: [],", i);
    sprintf(text + length, " a.t: [] }");
    error = NULL;
    CHECK_EQUAL(say(text, &error), INVIVO_E_SPEC);
    CHECK_EQUAL(invivo_error_count(error), 101);
    invivo_error_release(error);
    free(text);
    end();
}

/* Keys are never removed, and a document may name anything. */
static void naming_a_key_does_not_make_it_one(void) {
    for (int pending = 0; pending < 2; pending++) {
        char text[128];
        invivo_key before, after;
        begin(pending ? INVIVO_RUNTIME_PENDING_TARGETS : 0);
        OK(invivo_key_intern(runtime, "before", &before, E));
        for (int i = 0; i < 50; i++) {
            snprintf(text, sizeof(text), "traits: { never.seen%d: [Set: { gain: 1 }] }", i);
            if (pending) OK(say(text, E));
            else expects_error(say(text, E), INVIVO_E_SPEC, NULL);
        }
        OK(invivo_key_intern(runtime, "after", &after, E));
        CHECK_EQUAL((uint32_t)after.bits, (uint32_t)before.bits + 1);
        if (pending) {
            /* Pending traits apply when their target is attached. */
            void *instance = NULL;
            OK(invivo_target_attach(object, "never.seen49", NULL, E));
            OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
            CHECK_EQUAL(((voice *)instance)->gain, 1);
        }
        end();
    }
}

static uint64_t counted[8];
static size_t counted_changes;
static void count_untracked(void *user_data, const invivo_report *report) {
    (void)user_data;
    counted_changes = invivo_report_count(report);
    for (size_t i = 0; i < counted_changes && i < 8; i++) counted[i] = invivo_report_untracked(report, i);
    CHECK_EQUAL(invivo_report_untracked(report, counted_changes), 0);
}
/* Prototypes and graph-scope objects keep their dependencies when keys change: the report counts them. */
static void a_report_counts_untracked_live_objects(void) {
    static const invivo_injection helper[] = {{.name = "helper", .how = INVIVO_INJECT_REFERENCE, .reference = "a.part"}};
    invivo_type_options types = {.struct_size = sizeof(types), .name = "Part", .size = 16, .concurrency = INVIVO_SHARED};
    static const invivo_parameter input[] = {{.name = "helper", .kind = INVIVO_KIND_OBJECT}};
    invivo_observer_options watching = {.struct_size = sizeof(watching), .reloaded = count_untracked};
    invivo_type part, user;
    invivo_observer observer;
    invivo_object held[6], leaf;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &types, &part, E));
    types.name = "User", types.parameters = input, types.parameter_count = 1;
    OK(invivo_type_register(runtime, &types, &user, E));
    invivo_definition one = {.struct_size = sizeof(one), .key = "a.part", .type = part, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_definition two = {.struct_size = sizeof(two), .key = "a.user", .type = user, .scope = INVIVO_SCOPE_PROTOTYPE, .initializer = helper, .initializer_count = 1};
    invivo_definition plain = {.struct_size = sizeof(plain), .key = "a.leaf", .type = part, .scope = INVIVO_SCOPE_PROTOTYPE};
    OK(invivo_define(runtime, &one, NULL, E));
    OK(invivo_define(runtime, &two, NULL, E));
    OK(invivo_define(runtime, &plain, NULL, E));
    OK(invivo_observe(runtime, &watching, &observer, E));
    for (int i = 0; i < 3; i++) OK(invivo_resolve_name(runtime, "a.user", &held[i], E));
    OK(invivo_resolve_name(runtime, "a.leaf", &leaf, E));
    one.rank = 1;
    OK(invivo_define(runtime, &one, NULL, E)); /* a.part is shared; holders from the initializer keep it */
    CHECK_EQUAL(counted_changes, 2);
    CHECK_EQUAL(counted[0] + counted[1], 3);
    OK(invivo_object_release(held[0]));
    for (int i = 3; i < 6; i++) OK(invivo_resolve_name(runtime, "a.user", &held[i], E));
    plain.rank = 1;
    OK(invivo_define(runtime, &plain, NULL, E));
    CHECK_EQUAL(counted_changes, 1);
    CHECK_EQUAL(counted[0], 1);
    two.rank = 2;
    OK(invivo_define(runtime, &two, NULL, E));
    CHECK_EQUAL(counted[0], 5);
    for (int i = 1; i < 6; i++) OK(invivo_object_release(held[i]));
    OK(invivo_object_release(leaf));
    two.rank = 3;
    OK(invivo_define(runtime, &two, NULL, E));
    CHECK_EQUAL(counted[0], 0);
    OK(invivo_runtime_close(runtime, E));
}

static invivo_key watched;
static char moments[16];
static void note_publishing(void *user_data, uint32_t published) {
    (void)user_data;
    invivo_view now = invivo_view_begin(runtime);
    const voice *gain = invivo_view_block(now, watched);
    size_t length = strlen(moments);
    snprintf(moments + length, sizeof moments - length, "%c%c", published ? '+' : '-', gain ? 'b' : '0');
    invivo_view_end(now);
}
/* A cache observer is called before and after a commit becomes visible, only if a key gets another object. */
static void a_cache_is_called_before_and_after_a_commit_becomes_visible(void) {
    static const invivo_property properties[] = {INVIVO_FIELD(voice, gain, .initial = 1)};
    invivo_observer_options caching = {.struct_size = sizeof(caching), .publishing = note_publishing}, neither = {.struct_size = sizeof(neither)};
    invivo_observer observer;
    invivo_source source = {0};
    const char *tuned = "traits: { a.gain: [{ Set: { gain: 2 } }] }", *broken = "traits: { a.gain: 1 }";
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_key_intern(runtime, "a.gain", &watched, E));
    expects_error(invivo_observe(runtime, &neither, &observer, E), INVIVO_E_ARGUMENT, NULL);
    OK(invivo_observe(runtime, &caching, &observer, E));
    OK(invivo_define_block(runtime, "a.gain", INVIVO_BLOCK(voice, properties), NULL, E));
    CHECK_TEXT(moments, "-0+b");
    moments[0] = 0;
    invivo_source_options options = {.struct_size = sizeof(options), .name = "tuning", .text = tuned, .length = strlen(tuned)};
    OK(invivo_source_open(runtime, &options, &source, E));
    CHECK(invivo_source_update(source, broken, strlen(broken), NULL) != INVIVO_OK);
    CHECK_TEXT(moments, "");
    OK(invivo_observer_close(observer, E));
    OK(invivo_define_block(runtime, "a.other", INVIVO_BLOCK(voice, properties), NULL, E));
    CHECK_TEXT(moments, "");
    OK(invivo_runtime_close(runtime, E));
}

/* ---- reports as data: causes, origins, kinds of warnings -------------------------------------------------- */

static char said[4096];
static void note_causes(void *user_data, const invivo_report *report) {
    static const char *const kinds[] = {"file", "document", "close", "define", "remove", "set", "configure", "reset", "reset_scope", "override",
                                        "override_end", "activate", "deactivate", "mount", "attach", "detach", "clear", "process", "unprocess",
                                        "rule", "rule_remove", "rollback", "type", "manifest", "overtaken", "more",
                                        "trait", "trait_remove", "environment", "bind", "unbind"};
    size_t length = 0, count = invivo_report_cause_count(report);
    (void)user_data;
    said[0] = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(said + length, sizeof said - length, "%s%s(%s)", i ? " " : "", kinds[invivo_report_cause_kind(report, i)], invivo_report_cause_name(report, i));
    CHECK_TEXT(invivo_report_cause_name(report, count), "");
    CHECK_EQUAL(invivo_report_cause_kind(report, count), 0);
}
static void note_origins(void *user_data, const invivo_report *report) {
    static const char *const origins[] = {"none", "file", "document", "call", "assembly", "manifest", "override", "rollback", "environment"};
    size_t length = 0, count = invivo_report_count(report);
    (void)user_data;
    said[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const char *property = invivo_report_property(report, i);
        length += (size_t)snprintf(said + length, sizeof said - length, "%s%s%s%s %s(%s) %s:%u:%u", i ? "; " : "", invivo_report_key(report, i), *property ? "." : "",
                                   property, origins[invivo_report_origin(report, i)], invivo_report_layer(report, i), invivo_report_file(report, i),
                                   invivo_report_line(report, i), invivo_report_column(report, i));
    }
    CHECK_TEXT(invivo_report_layer(report, count), "");
    CHECK_TEXT(invivo_report_file(report, count), "");
    CHECK_EQUAL(invivo_report_origin(report, count) + invivo_report_line(report, count) + invivo_report_column(report, count), 0);
}
static void note_warnings(void *user_data, const invivo_report *report) {
    size_t length = 0, count = invivo_report_warning_count(report);
    (void)user_data;
    said[0] = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(said + length, sizeof said - length, "%s%u %s:%u:%u", i ? "; " : "", invivo_report_warning_kind(report, i),
                                   invivo_report_warning_file(report, i), invivo_report_warning_line(report, i), invivo_report_warning_column(report, i));
    CHECK_TEXT(invivo_report_warning_file(report, count), "");
    CHECK_EQUAL(invivo_report_warning_kind(report, count) + invivo_report_warning_line(report, count) + invivo_report_warning_column(report, count), 0);
}
/* Checks a part of the last report. */
#define LAST(of, text) (OK(invivo_runtime_reports(runtime, note_##of, NULL, E)), CHECK_TEXT(said, text))

static invivo_type voice_type(void) {
    invivo_type found;
    OK(invivo_type_find(runtime, "Voice", &found, E));
    return found;
}
static invivo_definition voice_at(const char *key, const char *file, uint32_t line) {
    static int32_t rank;
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type = voice_type(), .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                               .file = file, .line = line, .rank = ++rank};
}

static void the_cause_of_a_reload_is_data(void) {
    invivo_changes changes;
    invivo_override override;
    invivo_value one = invivo_int64(1), gain = invivo_double(1);
    begin(0);
    LAST(causes, "document(a.yaml)");
    OK(say("config: {n: 1}", E));
    LAST(causes, "document(a.yaml)");
    invivo_definition definition = voice_at("a.one", NULL, 0), other = voice_at("a.one", NULL, 0);
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &definition, NULL, E));
    OK(invivo_changes_configure(changes, "m", &one, E));
    OK(invivo_changes_document(changes, "b.yaml", "{}", 2, E));
    OK(invivo_changes_commit(changes, E));
    LAST(causes, "define(a.one) configure(m) document(b.yaml)");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "a.one", "gain", &gain, E));
    OK(invivo_changes_commit(changes, E));
    LAST(causes, "set(a.one.gain)");
    OK(invivo_override_begin(runtime, &other, &override, E));
    LAST(causes, "override(a.one)");
    OK(invivo_override_end(override, E));
    LAST(causes, "override_end(a.one)");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_reset(changes, "a.one", 0, E));
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_SINGLETON, E));
    OK(invivo_changes_commit(changes, E));
    LAST(causes, "reset(a.one) reset_scope(singleton)");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.one", E));
    OK(invivo_changes_commit(changes, E));
    LAST(causes, "remove(a.one)");
    OK(invivo_rollback(runtime, 2, E));
    LAST(causes, "rollback(2)");
    write_text("f.yaml", "config: {f: 1}");
    invivo_source file;
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "f.yaml"}, &file, E));
    LAST(causes, "file(f.yaml)");
    OK(invivo_source_close(file, E));
    LAST(causes, "close(f.yaml)");
    /* A long cause ends with a part for the rest, as its text does. */
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < 100; i++) {
        char path[32];
        snprintf(path, sizeof path, "path.number%d", i);
        OK(invivo_changes_configure(changes, path, &one, E));
    }
    OK(invivo_changes_commit(changes, E));
    LAST(causes, "configure(path.number0) configure(path.number1) configure(path.number2) configure(path.number3) more()");
    end();
}

static void a_change_has_the_origin_of_its_value(void) {
    invivo_override override;
    invivo_changes changes;
    invivo_source file;
    invivo_value value = invivo_int64(7), gain = invivo_double(1);
    begin(0);
    OK(say("traits:\n  a.t:\n    - Set: { gain: 1 }\nconfig:\n  n: 1\n", E));
    LAST(origins, "n document(a.yaml) a.yaml:5:6; a.t.gain document(a.yaml) a.yaml:3:20");
    OK(say("config: {}", E));
    LAST(origins, "n none() :0:0; a.t.gain none() :0:0");
    write_text("f.yaml", "config:\n  f: 2\n");
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = "f.yaml"}, &file, E));
    LAST(origins, "f file(f.yaml) f.yaml:2:6");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "f", &value, E));
    OK(invivo_changes_commit(changes, E));
    LAST(origins, "f call() :0:0");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "f", NULL, E));
    OK(invivo_changes_commit(changes, E));
    LAST(origins, "f file(f.yaml) f.yaml:2:6"); /* of the layer below */
    invivo_definition one = voice_at("a.one", "wiring.c", 42), two = voice_at("a.one", "test.c", 7), three = voice_at("a.two", NULL, 0);
    OK(invivo_define(runtime, &one, NULL, E));
    LAST(origins, "a.one call() wiring.c:42:0");
    OK(invivo_define(runtime, &three, NULL, E));
    LAST(origins, "a.two call() :0:0");
    OK(invivo_override_begin(runtime, &two, &override, E));
    LAST(origins, "a.one override() test.c:7:0");
    OK(invivo_override_end(override, E));
    LAST(origins, "a.one call() wiring.c:42:0");
    invivo_object live;
    OK(invivo_resolve_name(runtime, "a.one", &live, E));
    OK(invivo_object_release(live));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_set(changes, "a.one", "gain", &gain, E));
    OK(invivo_changes_commit(changes, E));
    LAST(origins, "a.one.gain call() :0:0"); /* not the location of the definition */
    invivo_definition listed[] = {voice_at("part.one", "module.c", 3)};
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = "part", .definitions = listed, .definition_count = 1};
    OK(invivo_activate(runtime, (const invivo_assembly *const[]){&assembly}, 1, NULL, E));
    LAST(origins, "part.one assembly(part) module.c:3:0");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "f", &value, E));
    OK(invivo_changes_remove(changes, "a.two", E));
    OK(invivo_changes_commit(changes, E));
    LAST(origins, "f call() :0:0; a.two none() :0:0");
    uint64_t now = 0;
    OK(invivo_runtime_generation(runtime, &now, E));
    OK(invivo_rollback(runtime, now - 1, E));
    LAST(origins, "f rollback(f.yaml) f.yaml:2:6; a.two rollback() :0:0");
    end();
}

static void a_warning_has_a_kind_and_a_location(void) {
    begin(INVIVO_RUNTIME_PENDING_TARGETS);
    OK(say("traits:\n  a.t:\n    - Set: { volume: 1 }\n", E));
    LAST(warnings, "5 a.yaml:3:14"); /* the former name of gain */
    OK(say("traits:\n  b.later: [ Set: { gain: 1 } ]\n", E));
    LAST(warnings, "6 a.yaml:2:3");
    OK(invivo_config_id(runtime, "audio.volume", INVIVO_KIND_ANY, &(invivo_config){0}, E));
    OK(say("config:\n  audio:\n    volum: 1\n", E));
    LAST(warnings, "4 a.yaml:3:12");
    OK(say("{}", E));
    LAST(warnings, "");
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(errors_in_a_struct_name_the_field);
    RUN_TEST(a_tuned_property_is_reported_with_the_location_of_its_value);
    RUN_TEST(a_property_is_set_once_under_every_name);
    RUN_TEST(an_unknown_key_is_an_error_without_traits);
    RUN_TEST(a_long_report_is_limited_and_counts_the_rest);
    RUN_TEST(naming_a_key_does_not_make_it_one);
    RUN_TEST(a_report_counts_untracked_live_objects);
    RUN_TEST(a_cache_is_called_before_and_after_a_commit_becomes_visible);
    check_directory();
    RUN_TEST(the_cause_of_a_reload_is_data);
    RUN_TEST(a_change_has_the_origin_of_its_value);
    RUN_TEST(a_warning_has_a_kind_and_a_location);
    return check_end();
}
