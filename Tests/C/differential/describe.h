/* describe.h: the definitions, documents and processors of a world in the form of the C API. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_DESCRIBE_H
#define INVIVO_TESTS_DIFFERENTIAL_DESCRIBE_H

#include "settings.h"

/* The described assembly or mount, and its members, which have short names there; other keys with the prefix do not. */
static int described_group = -1;
static const spec *const *described_members;
static const char *name_of_key(int key) {
    bool is_member = described_group >= 0 && group_of(key) == described_group && described_members[key - FIRST_MEMBER - described_group * MEMBERS];
    return is_member ? strchr(key_names[key], '.') + 1 : key_names[key];
}
static void describe_source(int of, const source *from, invivo_injection *into) {
    static const uint32_t how[] = {INVIVO_INJECT_VALUE, INVIVO_INJECT_VALUE, INVIVO_INJECT_REFERENCE, INVIVO_INJECT_CONFIG, INVIVO_INJECT_LIST,
                                   INVIVO_INJECT_PROVIDER, INVIVO_INJECT_LAZY, INVIVO_INJECT_WEAK, INVIVO_INJECT_TYPE, INVIVO_INJECT_ALL, INVIVO_INJECT_ARGUMENT};
    into->how = how[from->how], into->flags = from->flags;
    if (from->how == NUMBER) into->value = invivo_int64(from->number);
    if (from->how == REFERENCE) into->reference = name_of_key(from->key);
    if (from->how == BY_TYPE || from->how == ALL_OF) into->reference = from->how == ALL_OF && from->key ? "Voice" : "Tool";
    invivo_injection *items = take(sizeof *items * 2);
    for (int i = 0; i < from->count; i++) describe_source(of, from->items[i], &items[i]);
    into->items = items, into->item_count = (uint64_t)from->count;
    if (from->how == REFERENCE && from->number) items[0].value = invivo_int64(from->number), into->item_count = 1;
    if (from->how == CONFIG) {
        /* Members of an assembly would have its configuration, and so would definitions that inherit from them. */
        into->reference = group_of(of) < 0 && !with(WITH_PARENTS) ? paths[from->path] : whole_paths[from->path];
        if (from->number) items[0].how = INVIVO_INJECT_VALUE, items[0].value = invivo_int64(100 + from->number), into->item_count = 1;
    }
}
/* The world of the new runtime. */
static const world *bindings;
static void add_named(int of, invivo_injection *table, uint64_t *count, const char *name, const source *source) {
    if (!source) return;
    invivo_injection *into = &table[(*count)++];
    describe_source(of, source, into);
    into->name = name;
    /* A new runtime receives the binding. */
    for (int place = 0; bindings && place < PLACES && source->how == BY_TYPE && !(source->flags & INVIVO_INJECT_GREEDY); place++) {
        const spec *spec = effective(bindings, of);
        if (!spec || source_at(spec, place) != source || bindings->bound[of][place] < 0) continue;
        into->how = INVIVO_INJECT_REFERENCE, into->reference = key_names[bindings->bound[of][place]];
    }
}

/* A factory that resolves a key, and keeps the number of its creation. */
static invivo_status factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                             invivo_error **error) {
    const spec *spec = user_data;
    part *self = *instance;
    invivo_object found = {0};
    (void)arguments, (void)count;
    if (falls()) return fail("a factory fails on purpose", error);
    invivo_status status = invivo_resolve_name(build->runtime, key_names[spec->target], &found, error);
    if (status) return status;
    part *other = part_of(found);
    self->number = other ? 1000 + other->number : -1;
    (void)invivo_object_release(found);
    return part_begin(self);
}
static invivo_status decorate(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    (void)build;
    return wrap(object, 200 + (int64_t)(intptr_t)user_data, out, error);
}

/* Gives each object a level. */
static invivo_status set_level(const invivo_definition *described, invivo_changes changes, void *user_data, invivo_error **error) {
    invivo_definition mine = *described;
    uint64_t count = 0;
    if (described->alias || described->option_count) return INVIVO_OK;
    invivo_injection *properties = take((described->property_count + 1) * sizeof *properties);
    for (uint64_t i = 0; i < described->property_count; i++)
        if (strcmp(described->properties[i].name, "level")) properties[count++] = described->properties[i];
    properties[count++] = (invivo_injection){.name = "level", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(500 + (int64_t)(intptr_t)user_data)};
    mine.properties = properties, mine.property_count = count;
    return invivo_changes_define(changes, &mine, NULL, error);
}

static const invivo_parameter argument[] = {{.name = "n", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}};
static invivo_definition describe(const twin *twin, const spec *spec) {
    invivo_definition made = {.struct_size = sizeof made, 
                              .key = name_of_key(spec->key), .scope = (uint32_t)spec->scope, .flags = spec->flags, .rank = spec->rank};
    if (spec->kind == ALIAS) return made.alias = name_of_key(spec->target), made.scope = 0, made;
    if (spec->kind == CHOICE) {
        invivo_injection *chooser = take(2 * sizeof *chooser);
        invivo_option *options = take(3 * sizeof *options);
        chooser[0] = (invivo_injection){.how = INVIVO_INJECT_CONFIG, .reference = group_of(spec->key) < 0 ? "mode" : "/a.mode", .items = &chooser[1], .item_count = 1};
        chooser[1].how = INVIVO_INJECT_VALUE, chooser[1].value = invivo_int64(0);
        for (int i = 0; i < 3; i++) {
            if (!spec->options[i]) continue;
            invivo_option *option = &options[made.option_count++];
            option->when = i == 2 ? INVIVO_WHEN_OTHERWISE : INVIVO_WHEN_EQUAL, option->value = invivo_int64(i);
            describe_source(spec->key, spec->options[i], &option->use);
        }
        made.chooser = chooser, made.options = options, made.scope = 0;
        return made;
    }
    if (spec->type >= 0) made.type = twin->types[spec->type];
    if (spec->parent >= 0) made.parent = name_of_key(spec->parent);
    if (spec->scope == INVIVO_SCOPE_HOST) made.scope_name = "request";
    invivo_injection *tables = take(12 * sizeof *tables), *initializer = tables, *properties = tables + 4;
    if (spec->kind == MAKER) {
        invivo_injection *maker = tables + 8;
        maker[0] = (invivo_injection){.how = INVIVO_INJECT_REFERENCE, .reference = name_of_key(spec->target)};
        maker[1].how = INVIVO_INJECT_VALUE, maker[1].value = invivo_int64(spec->type * 64 + spec->key);
        made.maker_method = "make", made.maker = maker, made.maker_count = 2;
    } else if (spec->kind == FACTORY) {
        made.factory = factory, made.user_data = (void *)spec;
    }
    add_named(spec->key, initializer, &made.initializer_count, "input", spec->input);
    add_named(spec->key, initializer, &made.initializer_count, "number", spec->number);
    add_named(spec->key, initializer, &made.initializer_count, "given", spec->given);
    add_named(spec->key, properties, &made.property_count, "left", spec->left);
    add_named(spec->key, properties, &made.property_count, "right", spec->right);
    add_named(spec->key, properties, &made.property_count, "any", spec->any);
    add_named(spec->key, properties, &made.property_count, "level", spec->level);
    made.initializer = initializer, made.properties = properties;
    if (spec->takes_argument) made.parameters = argument, made.parameter_count = 1;
    if (spec->accepts) {
        invivo_invocation *method = NEW(invivo_invocation);
        uint64_t count = 0;
        add_named(spec->key, tables + 10, &count, NULL, spec->accepts);
        *method = (invivo_invocation){.method = "accept", .arguments = tables + 10, .argument_count = 1};
        made.methods = method, made.method_count = 1;
    }
    return made;
}
static invivo_definition describe_each(const twin *twin, int type, int parent) {
    static const invivo_injection none = {.how = INVIVO_INJECT_VALUE, .value = {.kind = INVIVO_KIND_INT64, .as = {.signed_integer = 77}}};
    static const invivo_injection initializer[] = {{.name = "number", .how = INVIVO_INJECT_ENTRY, .reference = "n", .items = &none, .item_count = 1},
                                                   {.name = "given", .how = INVIVO_INJECT_ENTRY_NAME}};
    return (invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.each", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                               .type = twin->types[type], .each = "voices", .parent = parent < 0 ? NULL : key_names[parent],
                               .initializer = initializer, .initializer_count = 2};
}

/* The effective definition of a key with an override: the override with the fields that the key keeps, which may be
 * inherited. */
static invivo_definition stand_in(const twin *twin, const world *world, int key) {
    const spec *base = world->defined[key], *top = top_of(world, key);
    invivo_definition made = describe(twin, top);
    bool makes = top->kind != ALIAS && top->kind != CHOICE;
    int type = top->type >= 0 ? top->type : type_of(world, key);
    made.scope = makes ? (uint32_t)scope_of(world, key) : 0, made.scope_name = made.scope == INVIVO_SCOPE_HOST ? "request" : NULL;
    made.flags = base->flags & ~(uint32_t)INVIVO_DEFINITION_ABSTRACT, made.rank = base->rank;
    if (makes && type >= 0) made.type = twin->types[type];
    if (top->kind != ALIAS && takes_argument(world, key)) made.parameters = argument, made.parameter_count = 1;
    if (!makes || (type >= 0 && !kinds[type].has_life)) made.flags &= ~(uint32_t)INVIVO_DEFINITION_EXCLUSIVE;
    if (!makes || type < 0 || kinds[type].is_shared) made.flags &= ~(uint32_t)INVIVO_DEFINITION_TRACKED;
    return made;
}
/* An assembly or mount with these members; with overrides, in their effective form. */
static void add_group(const twin *twin, invivo_changes changes, int group, const spec *const *members, int remapped, const world *world) {
    invivo_definition *table = take(MEMBERS * sizeof *table);
    invivo_assembly assembly = {.struct_size = sizeof assembly, .name = group == 0 ? group_names[0] : "t", .definitions = table};
    described_group = group, described_members = members;
    for (int i = 0; i < MEMBERS; i++) {
        int key = FIRST_MEMBER + group * MEMBERS + i;
        bool is_covered_there = world && is_covered(world, key);
        if (members[i]) table[assembly.definition_count++] = is_covered_there ? stand_in(twin, world, key) : describe(twin, members[i]);
    }
    described_group = -1;
    if (!assembly.definition_count) assembly.definitions = NULL;
    if (group == 0) MUST(invivo_changes_activate(changes, &assembly, NULL, E));
    else {
        invivo_remap remap = {.from = key_names[0], .to = key_names[remapped < 0 ? 0 : remapped]};
        MUST(invivo_changes_mount(changes, &assembly, group_names[group], remapped < 0 ? NULL : &remap, remapped < 0 ? 0 : 1, E));
    }
}

/* Trait types: one declares layers, the other runs code. */
static _Atomic int applications; /* without an end of their reversals */
typedef struct application { int serial, version; } application;
static invivo_status declare_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                    invivo_error **error) {
    double by = (double)values[0].as.signed_integer;
    invivo_value fifty = invivo_int64(50);
    (void)fields, (void)count;
    if (falls()) return fail("a declaration of layers fails on purpose", error);
    switch (*(const int *)user_data) {
    case 1: return invivo_layers_scale(layers, "level", by, error);
    case 2: return invivo_layers_offset(layers, "level", 10 * by, error);
    default: {
        invivo_status status = invivo_layers_set(layers, "level", &fifty, error);
        return status ? status : invivo_layers_offset(layers, "level", by, error);
    }
    }
}
static invivo_status reverse_code(invivo_object target, void *instance, void *data, invivo_error **error) {
    const application *self = data;
    part *one = instance;
    (void)target, (void)error;
    if (one->serial != self->serial || seen[one->serial].has_ended) disagree(SETUPS_DIFFER, "the trait of another object is reversed (serial %d)", self->serial);
    one->level -= 1000 * self->version;
    return INVIVO_OK;
}
static void forget_code(void *data) {
    applications--;
    free(data);
}
static invivo_status apply_code(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                invivo_reversal *reversal, void *user_data, invivo_error **error) {
    part *one = instance;
    (void)target, (void)fields, (void)values, (void)count;
    if (falls()) return fail("a trait fails on purpose", error);
    application *self = malloc(sizeof *self);
    *self = (application){one->serial, *(const int *)user_data};
    one->level += 1000 * self->version;
    applications++;
    reversal->revert = reverse_code, reversal->data = self, reversal->destroy = forget_code;
    return INVIVO_OK;
}
static const char *trait_type_names[TRAIT_TYPES] = {"t.Layers", "t.Code"};
static void add_trait_type(invivo_changes changes, int number, int version) {
    static const char *const targets[] = {"Thing"};
    static const invivo_property fields[] = {{.struct_size = sizeof(invivo_property), .name = "by", .kind = INVIVO_KIND_INT64, .initial = 2}};
    invivo_trait trait = {.struct_size = sizeof trait, .name = trait_type_names[number], .targets = targets, .target_count = 1,
                          .user_data = (void *)(uintptr_t)&versions[version]};
    if (number == 0) trait.fields = fields, trait.field_count = 1, trait.layers = declare_layers;
    else trait.apply = apply_code;
    MUST(invivo_changes_add_trait(changes, &trait, E));
}

/* The traits of one key: a value, relative layers, a condition, traits that all documents inherit from each other, and those of the
 * trait types. */
static int print_trait(char *text, int level) {
    switch (level) {
    case 3: return sprintf(text, "Scale: { level: 3 }");
    case 4: return sprintf(text, "Offset: { level: 40 }");
    case 5:
        return sprintf(text, "When: { config: %s, is: 1, traits: [{ Set: { level: 900 } }], otherwise: [{ Offset: { level: 1 } }] }",
                       whole_paths[0]);
    case 6: return sprintf(text, "Inherit: { traits: .base }");
    case 7: return sprintf(text, "t.Layers: { by: 3 }");
    case 8: return sprintf(text, "t.Layers: {} }, { t.Code: {} }, { Scale: { level: 2 }");
    case 9: return sprintf(text, "t.Code: {} }, { t.Layers: {} }, { t.Code: {}");
    case 10: return sprintf(text, "Ramp: { to: { level: 1200 }, over: 1 s }");
    default: return sprintf(text, "Set: { level: %d }", 700 + level);
    }
}

/* With `above`, without decisions about keys that have overrides there. */
static const char *document_text(const document *document, const world *above) {
    char *text = take(2048);
    int length = sprintf(text, "config:\n  a:\n    always: 1\n");
    for (int i = 0; i < PATHS; i++) if (document->values[i] >= 0) length += sprintf(text + length, "    %s: %d\n", paths[i], document->values[i]);
    bool any = false;
    for (int i = 0; i < ENTRIES; i++) {
        int entry = (document->first_entry + i * document->entry_step) % ENTRIES;
        if (document->entries[entry] < 0) continue;
        if (!any) length += sprintf(text + length, "    voices:\n"), any = true;
        length += sprintf(text + length, document->has_list ? "      - { name: %s, n: %d }\n" : "      %s: { n: %d }\n", entry_names[entry], document->entries[entry]);
    }
    any = false;
    for (int i = 0; i < SECTION; i++) {
        if (document->section[i] < 0) continue;
        if (!any) length += sprintf(text + length, "  sec:\n"), any = true;
        length += sprintf(text + length, document->section[i] == 6 ? "    %s: wrong\n" : "    %s: %d\n", section_names[i], document->section[i]);
    }
    any = false;
    bool inherits = false;
    for (int i = 0; i < TRAITS; i++) {
        int key = document->tuned[i];
        if (key < 0 || (i && key == document->tuned[0])) continue;
        if (!any) length += sprintf(text + length, "traits:\n"), any = true;
        length += sprintf(text + length, "  %s: [ { ", key_names[key]);
        length += print_trait(text + length, document->levels[i]);
        length += sprintf(text + length, " } ]\n");
        inherits = inherits || document->levels[i] == 6;
    }
    if (inherits) length += sprintf(text + length, "  .base: [ { Scale: { level: 2 } }, { Offset: { level: %d } } ]\n", 5 + document->levels[0]);
    any = false;
    for (int i = 0; i < WIRED; i++) {
        const decision *wired = &document->wired[i];
        if (!wired->what || (above && is_covered(above, wired->key))) continue;
        if (!any) length += sprintf(text + length, "wiring:\n"), any = true;
        length += sprintf(text + length, "  %s: ", key_names[wired->key]);
        switch (wired->what) {
        case DECIDES_ALIAS: length += sprintf(text + length, "{ alias: %s }\n", key_names[wired->value]); break;
        case DECIDES_SCOPE: length += sprintf(text + length, "{ scope: %s }\n", scope_words[wired->value]); break;
        case DECIDES_OPTION: length += sprintf(text + length, "{ choose: %d }\n", wired->value); break;
        default: length += sprintf(text + length, "null\n");
        }
    }
    return text;
}
static void add_document(invivo_changes changes, int number, const document *document, const world *above) {
    char name[] = "document0";
    name[8] = (char)('0' + number);
    const char *text = document->is_there ? document_text(document, above) : NULL;
    MUST(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
}
static void add_operator_value(invivo_changes changes, int path, int says) {
    invivo_value value = says == -2 ? invivo_null() : invivo_int64(says);
    MUST(invivo_changes_configure(changes, whole_paths[path], says == -1 ? NULL : &value, E));
}
static void add_section_value(invivo_changes changes, int number, int says) {
    invivo_value value = says == -2 ? invivo_null() : invivo_int64(says);
    MUST(invivo_changes_configure(changes, section_paths[number], says == -1 ? NULL : &value, E));
}
static void add_processor(const twin *twin, invivo_changes changes, int number, const processor *processor) {
    char name[] = "p0";
    name[1] = (char)('0' + number);
    (void)twin;
    if (!processor->is_there) {
        MUST(invivo_changes_unprocess(changes, name, E));
        return;
    }
    invivo_processor made = {.struct_size = sizeof made, .name = name, .priority = number,
                             .key = processor->key >= 0 ? key_names[processor->key] : NULL,
                             .type = processor->type >= 0 ? kinds[processor->type].name : NULL};
    if (processor->changes_definitions) made.process = set_level, made.user_data = (void *)(intptr_t)number;
    else if (processor->component >= 0) made.component = key_names[processor->component], made.method = "wrap";
    else made.decorate = decorate, made.user_data = (void *)(intptr_t)number;
    MUST(invivo_changes_process(changes, &made, E));
}

/* ---- a new runtime ------------------------------------------------------------------------------------- */

/* Whether a key or a parent, from which it may inherit its type, has an override. */
static bool is_below_override(const world *world, int key) {
    for (; key >= 0 && world->defined[key] && world->defined[key]->kind != ALIAS; key = parent_of(world, key, world->defined[key])) if (is_covered(world, key)) return true;
    return key >= 0 && is_covered(world, key);
}
/* The base values of keys that are below overrides or not. A key that a document makes an alias keeps an earlier one, which has no effect. */
static void add_bases(invivo_changes changes, const world *world, bool are_below) {
    for (int key = 0; key < KEYS; key++) {
        if (world->bases[key] < 0 || is_below_override(world, key) != are_below) continue;
        if (decides(world, key, DECIDES_ALIAS) && !world->sets_base[key]) continue;
        invivo_value value = invivo_int64(world->bases[key]);
        MUST(invivo_changes_set(changes, key_names[key], "level", &value, E));
    }
}
/* Commits a whole world in one change set. A key with overrides is first defined in its effective form, and no document decides
 * about it; then the last override begins, and the definition beneath is committed with the decisions, which may be invalid. A
 * processor of a removed key affects nothing. */
static invivo_status commit_bound(twin *twin, const world *world, invivo_error **error) {
    invivo_changes changes;
    invivo_status status;
    bool any_covered = false;
    for (int key = 0; key < KEYS; key++) any_covered |= is_covered(world, key);
    if (!MUST(invivo_changes_open(twin->runtime, &changes, E))) return INVIVO_E_HOST;
    for (int i = 0; i < TRAIT_TYPES; i++) if (world->versions[i]) add_trait_type(changes, i, world->versions[i]);
    for (int order = 0, done = 0; done < DOCUMENTS && order <= world->counter; order++)
        for (int i = 0; i < DOCUMENTS; i++)
            if (world->documents[i].is_there && world->documents[i].order == order) add_document(changes, i, &world->documents[i], world);
    for (int i = 0; i < PATHS; i++) if (world->operator_says[i] != -1) add_operator_value(changes, i, world->operator_says[i]);
    for (int i = 0; i < SECTION; i++) if (world->section_says[i] != -1) add_section_value(changes, i, world->section_says[i]);
    for (int i = 0; i < BINDINGS; i++) if (world->bindings[i].version) add_binding(changes, i, &world->bindings[i]);
    for (int i = 0; i < PROCESSORS; i++) if (world->processors[i].is_there && (world->processors[i].key < 0 || world->defined[world->processors[i].key])) add_processor(twin, changes, i, &world->processors[i]);
    for (int order = 0; order <= world->counter; order++) {
        if (world->has_each && world->each_order == order) {
            invivo_definition each = describe_each(twin, world->each_type, world->each_parent);
            MUST(invivo_changes_define(changes, &each, NULL, E));
        }
        for (int key = 0; key < KEYS; key++) {
            const spec *spec = world->defined[key];
            if (!spec || world->order[key] != order) continue;
            /* Members are added with their assembly; one with an override is defined separately. */
            if (group_of(key) >= 0) continue;
            invivo_definition made = describe(twin, spec);
            if (is_covered(world, key)) made = stand_in(twin, world, key);
            MUST(invivo_changes_define(changes, &made, NULL, E));
        }
    }
    for (int group = 0; group < GROUPS; group++) {
        if (!world->is_active[group]) continue;
        const spec *members[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) members[i] = world->defined[FIRST_MEMBER + group * MEMBERS + i];
        add_group(twin, changes, group, members, world->remapped[group], world);
    }
    add_bases(changes, world, false);
    status = invivo_changes_commit(changes, error);
    if (status || !any_covered) return status;
    for (int key = 0; key < KEYS; key++) {
        if (!is_covered(world, key)) continue;
        invivo_definition above = describe(twin, top_of(world, key));
        invivo_override handle;
        above.scope = 0, above.flags = 0, above.rank = 0, above.scope_name = NULL;
        if ((status = invivo_override_begin(twin->runtime, &above, &handle, error))) return status;
    }
    MUST(invivo_changes_open(twin->runtime, &changes, E));
    for (int key = 0; key < KEYS; key++) {
        if (!is_covered(world, key)) continue;
        invivo_definition made = describe(twin, world->defined[key]);
        MUST(invivo_changes_define(changes, &made, NULL, E));
    }
    for (int i = 0; i < DOCUMENTS && with(WITH_WIRING); i++) if (world->documents[i].is_there) add_document(changes, i, &world->documents[i], NULL);
    add_bases(changes, world, true);
    return invivo_changes_commit(changes, error);
}

static invivo_status commit_world(twin *twin, const world *world, invivo_error **error) {
    bindings = world;
    invivo_status status = commit_bound(twin, world, error);
    bindings = NULL;
    return status;
}

#endif
