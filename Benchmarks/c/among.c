/* among.c: one operation among many things that do not change: documents, decisions, secrets, trait types, rules, settings.
 *
 *     bench-among [--quick] [ROW [COUNT [EDITS]]] (among.h) */
#define _GNU_SOURCE
#include "among.h"

static void refused(invivo_status status) {
    if (!status) exit(1);
    invivo_error_release(error);
    error = NULL;
}
/* ---- documents --------------------------------------------------------------------------------------------- */

static part own;
static invivo_object object;

/* So many documents, each with the traits of one key. An object is attached to the key of the fourth. */
static void open_documents(int count) {
    open_runtime();
    invivo_changes changes = opened();
    define_parts(changes, count);
    must(invivo_target_declare(runtime, "bench.part", type, &error));
    must(invivo_target_declare(runtime, "bench.other", type, &error));
    for (int i = 0; i < count; i++) {
        char text[80];
        snprintf(text, sizeof text, "traits: { %s: [ Set: { gain: 1 } ] }\n", i == 3 ? "bench.part" : i == 4 ? "bench.other" : name_of("many.part%07d", i));
        add_document(changes, name_of("d%05d.yaml", i), text);
    }
    commit(changes);
    must(invivo_object_wrap(runtime, type, &own, &object, &error));
    must(invivo_target_attach(object, "bench.part", NULL, &error));
}
static void close_documents(void) {
    must(invivo_object_release(object));
    must(invivo_runtime_close(runtime, &error));
}
static invivo_changes edited(int number) {
    char text[80];
    invivo_changes changes = opened();
    snprintf(text, sizeof text, "traits: { bench.part: [ Set: { gain: %d } ] }\n", number);
    add_document(changes, "d00003.yaml", text);
    return changes;
}
static double edit_traits(int count) {
    double best;
    int number = 1;
    open_documents(count);
    EDITS(best, edits, commit(edited(++number)));
    if (own.gain != number) exit(1);
    close_documents();
    return best;
}
static double refuse_edit(int count) {
    double best;
    open_documents(count);
    EDITS(best, edits, refused(invivo_changes_commit(edited(2000000000), &error)));
    if (own.gain != 1) exit(1);
    close_documents();
    return best;
}
static double check_edit(int count) {
    double best;
    int number = 1;
    open_documents(count);
    EDITS(best, edits, {
        invivo_changes changes = edited(++number);
        must(invivo_changes_check(changes, &error));
        invivo_changes_discard(changes);
    });
    if (own.gain != 1) exit(1);
    close_documents();
    return best;
}
static double attach(int count) {
    part others = {0};
    invivo_object other;
    double best;
    open_documents(count);
    must(invivo_object_wrap(runtime, type, &others, &other, &error));
    EDITS(best, edits, {
        invivo_target target;
        must(invivo_target_attach(other, "bench.other", &target, &error));
        if (others.gain != 1) exit(1);
        must(invivo_target_detach(target, &error));
    });
    must(invivo_object_release(other));
    close_documents();
    return best;
}
static double open_and_close(int count) {
    double best;
    open_documents(count);
    EDITS(best, edits, {
        invivo_source source;
        invivo_source_options options = {.struct_size = sizeof options, .name = "one.yaml", .text = "config: { a: 1 }", .length = 16};
        must(invivo_source_open(runtime, &options, &source, &error));
        must(invivo_source_close(source, &error));
    });
    close_documents();
    return best;
}
static double document_text(int count) {
    invivo_value text;
    double best;
    open_documents(count);
    EDITS(best, edits, {
        must(invivo_document_text(runtime, "d00003.yaml", INVIVO_FORMAT_YAML, &text, &error));
        invivo_value_clear(&text);
    });
    close_documents();
    return best;
}
static double traits_text(int count) {
    invivo_value text;
    double best;
    open_documents(count);
    EDITS(best, edits, {
        must(invivo_traits_text(runtime, "bench.part", NULL, INVIVO_FORMAT_YAML, &text, &error));
        invivo_value_clear(&text);
    });
    close_documents();
    return best;
}

/* ---- decisions and secrets --------------------------------------------------------------------------------- */

static double set_among_decisions(int count) {
    double best;
    int number = 0;
    open_runtime();
    invivo_changes changes = opened();
    char *text = lines("wiring:\n", "  many.part%07d: { alias: bench.base }\n", count);
    invivo_definition base = {.struct_size = sizeof base, .key = "bench.base", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    must(invivo_changes_define(changes, &base, NULL, &error));
    define_parts(changes, count);
    add_document(changes, "wiring.yaml", text);
    commit(changes);
    EDITS(best, edits, set_unrelated(++number));
    must(invivo_runtime_close(runtime, &error));
    free(text);
    return best;
}
static void add_secrets(int count) {
    open_runtime();
    invivo_changes changes = opened();
    for (int i = 0; i < count; i++) must(invivo_changes_add_secret(changes, name_of("secrets.s%07d", i), &error));
    commit(changes);
}
static double set_among_secrets(int count) {
    double best;
    int number = 0;
    add_secrets(count);
    EDITS(best, edits, set_unrelated(++number));
    must(invivo_runtime_close(runtime, &error));
    return best;
}
static void set_one_value(const char *path, const invivo_value *value) {
    invivo_changes changes = opened();
    must(invivo_changes_configure(changes, path, value, &error));
    commit(changes);
}
/* So many runtime settings, ten in each section; with `inside`, one of them lies in another. */
static void add_settings(int count, bool inside) {
    invivo_value value = invivo_int64(1), map = {.kind = INVIVO_KIND_MAP};
    open_runtime();
    invivo_changes changes = opened();
    if (inside) {
        must(invivo_changes_configure(changes, "around", &map, &error));
        must(invivo_changes_configure(changes, "around.one", &value, &error));
    }
    for (int i = 0; i < count; i++) {
        char path[40];
        snprintf(path, sizeof path, "s%05d.v%d", i / 10, i % 10);
        must(invivo_changes_configure(changes, path, &value, &error));
    }
    commit(changes);
}
static double among_settings(int count, bool inside) {
    double best;
    int number = 0;
    add_settings(count, inside);
    EDITS(best, edits, {
        invivo_value value = invivo_int64(++number);
        set_one_value("s00000.v4", &value);
        set_one_value("s00000.v4", NULL);
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}
static double set_among_settings(int count) { return among_settings(count, false); }
static double set_among_nested_settings(int count) { return among_settings(count, true); }
static void declare_and_revoke(void) {
    invivo_changes changes = opened();
    must(invivo_changes_add_secret(changes, "secrets.one", &error));
    commit(changes);
    changes = opened();
    must(invivo_changes_remove_secret(changes, "secrets.one", &error));
    commit(changes);
}
static double declare_secret(int count) {
    double best;
    add_secrets(count);
    EDITS(best, edits, declare_and_revoke());
    must(invivo_runtime_close(runtime, &error));
    return best;
}
/* So many documents, each with a value of its own. */
static void open_values(int count) {
    open_runtime();
    invivo_changes changes = opened();
    for (int i = 0; i < count; i++) {
        char text[80];
        snprintf(text, sizeof text, "config: { many: { v%07d: 1 } }\n", i);
        add_document(changes, name_of("v%05d.yaml", i), text);
    }
    commit(changes);
}
static double declare_among_values(int count) {
    double best;
    open_values(count);
    EDITS(best, edits, declare_and_revoke());
    must(invivo_runtime_close(runtime, &error));
    return best;
}
static double source_among_values(int count) {
    double best;
    open_values(count);
    EDITS(best, edits, {
        invivo_source source;
        invivo_source_options options = {.struct_size = sizeof options, .name = "one.yaml", .text = "config: { own: { a: 1 } }", .length = 25};
        must(invivo_source_open(runtime, &options, &source, &error));
        must(invivo_source_close(source, &error));
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}
static double roll_back_among_secrets(int count) {
    double best;
    int number = 0;
    add_secrets(count);
    EDITS(best, edits, {
        uint64_t before;
        must(invivo_runtime_generation(runtime, &before, &error));
        set_unrelated(++number);
        must(invivo_rollback(runtime, before, &error));
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}

/* ---- trait types ------------------------------------------------------------------------------------------- */

static invivo_status one_layer(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                               invivo_error **e) {
    invivo_value gain = invivo_double(2);
    (void)fields, (void)values, (void)count, (void)user_data;
    return invivo_layers_set(layers, "gain", &gain, e);
}
static invivo_trait trait_named(const char *name) {
    static const char *const targets[] = {"Part"};
    return (invivo_trait){.struct_size = sizeof(invivo_trait), .name = name, .targets = targets, .target_count = 1, .layers = one_layer};
}
static void add_trait(const char *name) {
    invivo_trait trait = trait_named(name);
    must(invivo_trait_add(runtime, &trait, &error));
}
static void add_traits(invivo_changes changes, int count) {
    for (int i = 0; i < count; i++) {
        invivo_trait trait = trait_named(name_of("bench.Trait%d", i));
        must(invivo_changes_add_trait(changes, &trait, &error));
    }
}
/* A type that no document uses is added and removed, among so many types. */
static double add_trait_type(int count) {
    double best;
    open_runtime();
    invivo_changes changes = opened();
    add_traits(changes, count);
    commit(changes);
    EDITS(best, edits, {
        add_trait("bench.One");
        must(invivo_trait_remove(runtime, "bench.One", &error));
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}
/* A type that one of so many keys uses is replaced; the others use another type. Or a type that all use. */
static double replace(int count, bool all) {
    double best;
    open_runtime();
    invivo_changes changes = opened();
    char *text = lines("traits:\n  bench.part: [ bench.One: {} ]\n", "  many.part%07d: [ bench.All: {} ]\n", count);
    must(invivo_target_declare(runtime, "bench.part", type, &error));
    must(invivo_object_wrap(runtime, type, &own, &object, &error));
    define_parts(changes, count);
    invivo_trait one = trait_named("bench.One"), shared = trait_named("bench.All");
    must(invivo_changes_add_trait(changes, &one, &error));
    must(invivo_changes_add_trait(changes, &shared, &error));
    add_document(changes, "traits.yaml", text);
    commit(changes);
    must(invivo_target_attach(object, "bench.part", NULL, &error));
    EDITS(best, all ? edits / 5 : edits, add_trait(all ? "bench.All" : "bench.One"));
    if (own.gain != 2) exit(1);
    close_documents();
    free(text);
    return best;
}
static double replace_one(int count) { return replace(count, false); }
static double replace_each(int count) { return replace(count, true) / count; }

/* ---- rules and settings ------------------------------------------------------------------------------------ */

static invivo_status accept(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **e) {
    (void)values, (void)count, (void)at, (void)user_data, (void)e;
    return INVIVO_OK;
}
/* A rule with the name of its path. `changes` NULL: in a change set of its own. */
static void add_rule(invivo_changes *changes, const char *path) {
    invivo_rule rule = {.struct_size = sizeof rule, .name = path, .inputs = &path, .input_count = 1, .check = accept};
    must(changes ? invivo_changes_add_rule(*changes, &rule, &error) : invivo_rule_add(runtime, &rule, &error));
}
/* The inputs of rules: an input that nothing defines would be searched among all names, for a warning. */
static void set_inputs(invivo_changes changes, int count) {
    invivo_value value = invivo_int64(0);
    for (int i = 0; i < count; i++) must(invivo_changes_configure(changes, name_of("ruled.v%07d", i), &value, &error));
    must(invivo_changes_configure(changes, "ruled.one", &value, &error));
}
static void open_rules(int count) {
    open_runtime();
    invivo_changes changes = opened();
    set_inputs(changes, count);
    for (int i = 0; i < count; i++) add_rule(&changes, name_of("ruled.v%07d", i));
    commit(changes);
}
static double add_one_rule(int count) {
    double best;
    open_rules(count);
    EDITS(best, edits, {
        add_rule(NULL, "ruled.one");
        must(invivo_rule_remove(runtime, "ruled.one", &error));
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}
/* A value whose rule is one of so many. */
static double run_rule(int count) {
    double best;
    int number = 0;
    open_rules(count);
    EDITS(best, edits, {
        invivo_value value = invivo_int64(++number);
        invivo_changes changes = opened();
        must(invivo_changes_configure(changes, "ruled.v0000003", &value, &error));
        commit(changes);
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}
static invivo_settings section(const char *name, const char *path) {
    return (invivo_settings){.struct_size = sizeof(invivo_settings), .name = name, .path = path, .fields = part_properties,
                             .field_count = 2, .size = sizeof(part)};
}
static void open_settings(int count) {
    open_runtime();
    invivo_changes changes = opened();
    for (int i = 0; i < count; i++) {
        invivo_settings one = section(name_of("Section%d", i), name_of("sections.s%07d", i));
        must(invivo_changes_bind_settings(changes, &one, &error));
    }
    commit(changes);
}
static double bind_one(int count) {
    double best;
    open_settings(count);
    EDITS(best, edits, {
        invivo_settings one = section("One", "sections.one");
        must(invivo_settings_bind(runtime, &one, &error));
        must(invivo_settings_unbind(runtime, "One", &error));
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}

/* ---- many at once, the time of each ------------------------------------------------------------------------ */

/* Adding so many things in one change set. */
static double in_one_set(int count, void (*add)(invivo_changes changes, int count)) {
    double best = 1e300;
    for (int round = 0; round <= edits / 20; round++) {
        open_runtime();
        invivo_changes changes = opened();
        define_parts(changes, count);
        set_inputs(changes, count);
        commit(changes);
        double begun = process_ns();
        changes = opened();
        add(changes, count);
        commit(changes);
        best = fmin(best, (process_ns() - begun) / 1e3 / count);
        must(invivo_runtime_close(runtime, &error));
    }
    return best;
}
static void all_documents(invivo_changes changes, int count) {
    for (int i = 0; i < count; i++) add_document(changes, name_of("d%05d.yaml", i), name_of("traits: { many.part%07d: [ Set: { gain: 1 } ] }", i));
}
static void all_rules(invivo_changes changes, int count) {
    for (int i = 0; i < count; i++) add_rule(&changes, name_of("ruled.v%07d", i));
}
static void all_settings(invivo_changes changes, int count) {
    for (int i = 0; i < count; i++) {
        invivo_settings one = section(name_of("Section%d", i), name_of("sections.s%07d", i));
        must(invivo_changes_bind_settings(changes, &one, &error));
    }
}
static void all_secrets(invivo_changes changes, int count) {
    for (int i = 0; i < count; i++) must(invivo_changes_add_secret(changes, name_of("secrets.s%07d", i), &error));
}
static void all_values(invivo_changes changes, int count) {
    invivo_value value = invivo_int64(1);
    for (int i = 0; i < count; i++) must(invivo_changes_configure(changes, name_of("values.v%07d", i), &value, &error));
}
static double many_documents(int count) { return in_one_set(count, all_documents); }
static double many_traits(int count) { return in_one_set(count, add_traits); }
static double many_rules(int count) { return in_one_set(count, all_rules); }
static double many_settings(int count) { return in_one_set(count, all_settings); }
static double many_secrets(int count) { return in_one_set(count, all_secrets); }
static double many_values(int count) { return in_one_set(count, all_values); }

/* ---- checks and schemas ------------------------------------------------------------------------------------ */

/* A dry run of a document about so many keys, each. */
static double check_document(int count) {
    double best;
    char *text = lines("traits:\n", "  many.part%07d: [ Set: { gain: 1 } ]\n", count);
    open_runtime();
    invivo_changes changes = opened();
    define_parts(changes, count);
    commit(changes);
    EDITS(best, edits / 5, {
        changes = opened();
        add_document(changes, "all.yaml", text);
        must(invivo_changes_check(changes, &error));
        invivo_changes_discard(changes);
    });
    must(invivo_runtime_close(runtime, &error));
    free(text);
    return best / count;
}
/* A description of so many keys, each. */
static double describe(int count, uint32_t format) {
    invivo_value found;
    double best;
    open_runtime();
    invivo_changes changes = opened();
    define_parts(changes, count);
    commit(changes);
    EDITS(best, edits / 5, {
        must(invivo_graph_describe(runtime, format, &found, &error));
        invivo_value_clear(&found);
    });
    must(invivo_runtime_close(runtime, &error));
    return best / count;
}
static double describe_schema(int count) { return describe(count, INVIVO_GRAPH_SCHEMA); }
static double describe_facts(int count) { return describe(count, INVIVO_GRAPH_FACTS); }

static const operation operations[] = {
    {"trait.edit.one.of.documents", edit_traits},
    {"edit.refused.one.of.documents", refuse_edit},
    {"changes.check.one.of.documents", check_edit},
    {"attach.one.of.documents", attach},
    {"document.open.one.of.documents", open_and_close},
    {"document.text.one.of.documents", document_text},
    {"traits.text.one.of.documents", traits_text},
    {"config.set.one.of.decisions", set_among_decisions},
    {"config.set.one.of.secrets", set_among_secrets},
    {"config.set.one.of.settings", set_among_settings},
    {"config.set.one.of.nested.settings", set_among_nested_settings},
    {"secret.declare.one.of", declare_secret},
    {"secret.declare.one.of.values", declare_among_values},
    {"source.open.one.of.values", source_among_values},
    {"rollback.one.of.secrets", roll_back_among_secrets},
    {"trait.add.one.of", add_trait_type},
    {"trait.replace.one.of.targets", replace_one},
    {"rule.add.one.of", add_one_rule},
    {"rule.run.one.of", run_rule},
    {"settings.bind.one.of", bind_one},
    {"trait.replace.each.of.targets", replace_each},
    {"bulk.documents", many_documents},
    {"bulk.traits", many_traits},
    {"bulk.rules", many_rules},
    {"bulk.settings", many_settings},
    {"bulk.secrets", many_secrets},
    {"bulk.values", many_values},
    {"check.document.each.of.keys", check_document},
    {"schema.each.of.keys", describe_schema},
    {"graph.describe.each.of.keys", describe_facts},
};

int main(int argc, char **argv) { return run_all(operations, sizeof operations / sizeof *operations, argc, argv); }
