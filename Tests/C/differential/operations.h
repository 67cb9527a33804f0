/* operations.h: random operations on the live runtime. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_OPERATIONS_H
#define INVIVO_TESTS_DIFFERENTIAL_OPERATIONS_H

#include "workers.h"

static twin live;
static invivo_override handles[OPERATIONS];
static int override_number;

/* ---- held leases --------------------------------------------------------------------------------------- */

enum { MOST_LEASES = 24 };
typedef struct lease {
    invivo_object object;
    char key[32]; /* its key; "" if there is none */
    bool is_frozen, may_freeze;
    part content;
} lease;
static lease leases[MOST_LEASES];
static int lease_count;

/* The defined key with a name; -1 = none. */
static int key_of(const world *world, const char *name) {
    for (int key = 0; key < KEYS; key++) if (!strcmp(key_names[key], name)) return world->defined[key] ? key : -1;
    return -1;
}
/* Whether it is currently the shared object of its key: then reloads may inject into it. */
static bool is_current(const lease *lease) {
    invivo_key key = {0};
    invivo_object found = {0};
    if (invivo_key_find(live.runtime, lease->key, &key, NULL)) return false;
    if (invivo_peek(live.runtime, key, &found)) return false;
    (void)invivo_object_release(found);
    return found.bits == lease->object.bits;
}
static bool all_alive(const part *part) {
    const slot *slots[] = {&part->input, &part->given, &part->left, &part->right, &part->any, &part->accepted};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        if (slots[i]->kind == 'o' && !part_of(slots[i]->object)) return false;
        for (int j = 0; slots[i]->kind == 'l' && j < slots[i]->count; j++) if (!part_of(slots[i]->list[j])) return false;
    }
    return true;
}
/* A leased object keeps its content, unless it is the shared object of its key or tracked; and its references stay
 * valid. */
static void check_leases(void) {
    for (int i = 0; i < lease_count && !failure; i++) {
        lease *lease = &leases[i];
        part *part = part_of(lease->object);
        if (!part || seen[part->serial].has_ended) {
            disagree(LEASED_CHANGED, "a leased object of '%s' is gone", lease->key);
            return;
        }
        if (!all_alive(part)) disagree(LEASED_CHANGED, "a leased object of '%s' refers to one that is gone", lease->key);
        if (with(WITH_TRAITS)) lease->content.level = part->level; /* documents tune every object of a key */
        if (lease->is_frozen && memcmp(&lease->content.input, &part->input, sizeof *part - offsetof(struct part, input))) disagree(LEASED_CHANGED, "a leased object of '%s' has changed", lease->key);
        if (!lease->is_frozen && lease->may_freeze && !is_current(lease)) lease->is_frozen = true, lease->content = *part;
    }
}
static void hold(invivo_object object, bool is_for_argument) {
    invivo_key key = {0};
    if (lease_count == MOST_LEASES) {
        MUST(invivo_object_release(object));
        return;
    }
    lease *lease = &leases[lease_count++];
    memset(lease, 0, sizeof *lease);
    lease->object = object;
    if (!invivo_object_key(object, &key, NULL) && key.bits) snprintf(lease->key, sizeof lease->key, "%s", invivo_key_name(key));
    int of = key_of(&now, lease->key), scope = of < 0 ? 0 : scope_of(&now, of);
    /* Excluded: objects of scope instances have no unique current object; weak ones cannot be examined; objects from
     * methods have no key; objects with runtime arguments, which an override may have added, exist side by side. */
    const spec *top = of < 0 ? NULL : top_of(&now, of);
    bool has_argument = of >= 0 && (takes_argument(&now, of) || (top && (top->takes_argument || takes_argument(&now, top->parent))));
    lease->may_freeze = !is_for_argument && of >= 0 && !has_argument && (scope != INVIVO_SCOPE_THREAD && scope != INVIVO_SCOPE_HOST && scope != INVIVO_SCOPE_WEAK_SINGLETON && !(now.defined[of]->flags & INVIVO_DEFINITION_TRACKED));
}
static void release_one(void) {
    if (!lease_count) return;
    int index = below(lease_count);
    trace("release an object of %s\n", leases[index].key);
    invivo_object object = leases[index].object;
    leases[index] = leases[--lease_count];
    MUST(invivo_object_release(object));
}

/* ---- resolving -------------------------------------------------------------------------------------------------- */

typedef struct wish { int kind, name, argument; bool is_held; invivo_status status; } wish;
static void do_wish(void *context) {
    wish *self = context;
    invivo_object object = {0};
    invivo_error *error = NULL;
    if (self->argument) self->status = resolve_with_argument(live.runtime, name_of(self->name), self->argument, &object, &error);
    else if (self->kind == 0) self->status = invivo_resolve_name(live.runtime, name_of(self->name), &object, &error);
    else self->status = invivo_resolve_type(live.runtime, "Tool", NULL, 0, &object, &error);
    if (self->status) trace("  answers %s: %s\n", invivo_status_name(self->status), invivo_error_text(error));
    invivo_error_release(error);
    if (!object.bits) return;
    if (self->is_held) hold(object, self->argument != 0);
    else MUST(invivo_object_release(object));
}
static void resolve_one(void) {
    int worker = with(WITH_THREADS) && chance(30) ? below(WORKERS) : -1;
    wish wish = {.kind = with(WITH_TYPES) && chance(15), .name = with(WITH_EACH) && chance(15) ? KEYS + below(ENTRIES) : below(KEYS), .is_held = worker < 0 && chance(50)};
    if (!wish.kind && with(WITH_ARGUMENTS) && chance(30)) wish.argument = 1 + below(ARGUMENTS);
    trace("resolve %s%s%s%s\n", wish.kind ? "the Tool" : name_of(wish.name), wish.argument ? " of an argument" : "", wish.is_held ? " and hold it" : "", worker < 0 ? "" : " on a worker");
    if (worker < 0) do_wish(&wish);
    else on_worker(worker, do_wish, &wish);
}

/* ---- changes ------------------------------------------------------------------------------------------------------ */

/* Keys that a change set has used. */
enum { FIRST_GROUP = KEYS + DOCUMENTS + PATHS + PROCESSORS + 1, FIRST_TRAIT_TYPE = FIRST_GROUP + GROUPS, FIRST_SECTION = FIRST_TRAIT_TYPE + TRAIT_TYPES,
       FIRST_BINDING = FIRST_SECTION + SECTION, ALL_USED = FIRST_BINDING + BINDINGS };
static void commit_comparison(const world *next, invivo_status status, const char *text);

/* A former exclusive object whose start fails during an undo stays stopped until the host starts it. */
static void start_again(const char *text) {
    for (int key = 0; key < KEYS; key++) {
        char line[64];
        invivo_key id = {0};
        snprintf(line, sizeof line, "%s: could not be started again", key_names[key]);
        if (!strstr(text, line)) continue;
        trace("  start %s\n", key_names[key]);
        if (MUST(invivo_key_find(live.runtime, key_names[key], &id, E))) MUST(invivo_start(live.runtime, id, E));
    }
}
/* Commits that change no definition may follow: of their generations nothing is known. */
static void keep_world(void) {
    uint64_t generation = 0;
    MUST(invivo_runtime_generation(live.runtime, &generation, E));
    kept_worlds[generation % KEPT_WORLDS].generation = generation;
    kept_worlds[generation % KEPT_WORLDS].world = now;
    kept_worlds[generation % KEPT_WORLDS].is_there = true;
}
/* The result of a commit: the next world, or the unchanged one. */
static void take_answer(world *next, invivo_status status, invivo_error *error, bool was_to_fail) {
    bind(next);
    bool has_fallen = was_to_fail && countdown == 0;
    countdown = 0;
    trace("  answers %s%s%s\n", invivo_status_name(status), status ? ": " : "", status ? invivo_error_text(error) : "");
    if (has_fallen && status) start_again(invivo_error_text(error));
    /* Each time would cost more than everything else. */
    if (status && !has_fallen && chance(25)) commit_comparison(next, status, invivo_error_text(error));
    memset(next->sets_base, 0, sizeof next->sets_base);
    if (!status) now = *next, keep_world();
    invivo_error_release(error);
}
static bool arm(void) {
    countdown = with(WITH_FAILURES) && chance(20) ? 1 + below(8) : 0;
    if (countdown) trace("  the callback number %d fails\n", countdown);
    return countdown > 0;
}

/* A new definition ends the base value of the former one, but not one that the same change set sets. */
static void define_key(world *next, int key, const spec *spec) {
    next->defined[key] = spec;
    if (!next->sets_base[key]) next->bases[key] = -1;
}
/* Whether a remap of a.k0 changes a member. */
static bool is_remapped_by(const spec *member) {
    const source *const sources[] = {member->input, member->given, member->left, member->right, member->any, member->accepts, member->options[0], member->options[1], member->options[2]};
    bool refers = member->parent == 0 || (member->kind != MAKES && member->kind != CHOICE && member->target == 0);
    for (int i = 0; i < 9; i++) {
        if (!sources[i]) continue;
        refers |= sources[i]->how == REFERENCE && sources[i]->key == 0;
        for (int j = 0; j < sources[i]->count; j++) refers |= sources[i]->items[j]->how == REFERENCE && sources[i]->items[j]->key == 0;
    }
    return refers;
}
/* Activates, replaces or removes an assembly or mount. */
static void edit_group(world *next, invivo_changes changes, int group) {
    int first = FIRST_MEMBER + group * MEMBERS;
    if (next->is_active[group] && chance(25)) {
        trace("  deactivate %s\n", group_names[group]);
        next->is_active[group] = false;
        for (int i = 0; i < MEMBERS; i++) define_key(next, first + i, NULL);
        MUST(invivo_changes_deactivate(changes, group_names[group], E));
        return;
    }
    bool is_same = next->is_active[group] && chance(25);
    trace("  activate %s%s\n", group_names[group], is_same ? " as it was" : "");
    const spec *members[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        const spec *kept = next->is_active[group] && (is_same || chance(40)) ? next->tables[group][i] : NULL;
        members[i] = kept || is_same ? kept : chance(80) ? random_spec(next, first + i, false) : NULL;
        if (members[i]) print_spec(kept ? "still" : "with", members[i]);
    }
    /* An unused remap is an error. */
    bool is_remappable = false;
    for (int i = 0; i < MEMBERS; i++) is_remappable |= members[i] && members[i]->kind != ALIAS && members[i]->kind != CHOICE && members[i]->parent == 0;
    for (int i = 0; i < MEMBERS; i++) is_remappable |= members[i] && members[i]->left && members[i]->left->how == REFERENCE && members[i]->left->key == 0;
    /* The binding that a new runtime receives would be remapped too. */
    for (int i = 0; i < MEMBERS * PLACES; i++) {
        const spec *member = members[i / PLACES];
        const source *source = member && member->kind != ALIAS && member->kind != CHOICE ? source_at(member, i % PLACES) : NULL;
        if (next->override_count[first + i / PLACES] || (source && source->how == BY_TYPE)) is_remappable = false;
    }
    int remapped = with(WITH_REMAPS) && group > 0 && is_remappable && chance(70) ? 1 + below(TOOLS - 1) : -1;
    if (remapped >= 0) trace("  where a.k0 means %s\n", key_names[remapped]);
    /* Repeated activation is a no-op, also after changes of single members (W-A3). */
    is_same = next->is_active[group] && next->remapped[group] == remapped;
    bool is_remapped_anew = next->remapped[group] != remapped;
    next->remapped[group] = remapped;
    for (int i = 0; i < MEMBERS; i++) is_same = is_same && is_same_spec(members[i], next->tables[group][i]);
    for (int i = 0; i < MEMBERS && !is_same; i++) {
        if (members[i] && !next->defined[first + i]) next->order[first + i] = ++next->counter;
        bool stays = members[i] && is_same_spec(members[i], next->defined[first + i]) && !(is_remapped_anew && is_remapped_by(members[i]));
        if (!stays) define_key(next, first + i, members[i]);
        next->tables[group][i] = next->defined[first + i] = members[i];
    }
    next->is_active[group] = true;
    add_group(&live, changes, group, next->tables[group], next->remapped[group], NULL);
}
/* A separate definition would have other references than one in the table of its mount. */
static bool is_remapped(const world *world, int key) { return group_of(key) >= 0 && world->is_active[group_of(key)] && world->remapped[group_of(key)] >= 0; }
/* A key that has an override; -1 = none. */
static int some_covered_key(const world *world) {
    int found[KEYS], count = 0;
    for (int key = 0; key < KEYS; key++) if (is_covered(world, key)) found[count++] = key;
    return count ? found[below(count)] : -1;
}
/* Tools stay what lookups by type find. */
static decision random_decision(const world *world, int other) {
    decision made = {.what = DECIDES_NOTHING, .key = -1};
    int key = TOOLS + below(KEYS - TOOLS), covered = with(WITH_OVERRIDES) && chance(50) ? some_covered_key(world) : -1;
    for (int tries = chance(80) ? KEYS : 0; tries > 0 && !world->defined[key]; tries--) key = key + 1 < KEYS ? key + 1 : TOOLS;
    if (covered >= TOOLS) key = covered;
    if (!with(WITH_WIRING) || key == other || is_child(key) || chance(40)) return made;
    made.key = key;
    const spec *spec = world->defined[key];
    if (chance(10)) made.what = DECIDES_AS_DESCRIBED;
    else if (spec && spec->kind == CHOICE && chance(80)) made.what = DECIDES_OPTION, made.value = below(3);
    /* Often the scope that it has: such a decision must have no effect, and hide none. */
    else if (chance(50)) made.what = DECIDES_SCOPE, made.value = spec && spec->parent < 0 && chance(40) ? spec->scope : random_scope(key);
    else if ((made.value = some_key(world, key, key)) >= 0) made.what = DECIDES_ALIAS;
    return made;
}
/* Whether the objects of a key have properties that can be set, and it has objects of its own. */
static bool has_tunable_objects(const world *world, int key) {
    const spec *spec = world->defined[key];
    if (!spec || spec->kind == ALIAS || spec->kind == CHOICE || decides(world, key, DECIDES_ALIAS)) return false;
    int type = type_of(world, key);
    return type >= 0 && !kinds[type].is_shared;
}
/* A new runtime would refuse the base value that such a key has from before. */
static bool inherits_shared_type(const world *world, int key) {
    int type = world->defined[key] && world->defined[key]->type < 0 ? type_of(world, key) : -1;
    return type >= 0 && kinds[type].is_shared;
}
/* Sets a base value, usually of a key whose objects can be changed in place. */
static void edit_base(world *next, invivo_changes changes) {
    int key = below(KEYS), value = 60 + below(6);
    for (int tries = chance(94) ? KEYS : 0; tries > 0 && !has_tunable_objects(next, key); tries--) key = (key + 1) % KEYS;
    trace("  the base value of %s is %d\n", key_names[key], value);
    next->bases[key] = value, next->sets_base[key] = has_set_bases = true;
    invivo_value number = invivo_int64(value);
    MUST(invivo_changes_set(changes, key_names[key], "level", &number, E));
}
/* A key whose shared object is changed in place when one of its values changes; -1 = none. `path` receives that value. */
static int some_reader(const world *world, int *path) {
    int found[KEYS], count = 0;
    for (int key = TOOLS; key < KEYS; key++) {
        const spec *spec = world->defined[key];
        bool reads = has_tunable_objects(world, key) && ((spec->level && spec->level->how == CONFIG) || (spec->any && spec->any->how == CONFIG));
        int scope = reads && !is_child(key) ? scope_of(world, key) : INVIVO_SCOPE_PROTOTYPE;
        if (scope == INVIVO_SCOPE_LAZY_SINGLETON || scope == INVIVO_SCOPE_SINGLETON) found[count++] = key;
    }
    if (!count) return -1;
    const spec *spec = world->defined[found[below(count)]];
    *path = spec->level && spec->level->how == CONFIG ? spec->level->path : spec->any->path;
    return spec->key;
}
/* Changes a value in a document that had it, beside a decision about a reader of the value. The decision has no effect: it is the scope
 * that the key has anyway, or says that the key is as described. */
static void decide_beside_a_value(const world *former, document *document, int number) {
    int path = 0, key = some_reader(former, &path);
    for (int i = 0; i < BESIDE; i++) if (document->wired[i].key == key) return;
    if (key < 0) return;
    if (decision_of(former, key) && !decides(former, key, DECIDES_AS_DESCRIBED) && !decides(former, key, DECIDES_SCOPE)) return;
    document->values[path] = (former->documents[number].values[path] + 1) % 3;
    trace("  %s and a decision about %s\n", paths[path], key_names[key]);
    document->wired[BESIDE] = (decision){.what = chance(80) ? DECIDES_SCOPE : DECIDES_AS_DESCRIBED, .key = key, .value = scope_of(former, key)};
}
static void edit_document(world *next, invivo_changes changes, int number) {
    document *document = &next->documents[number];
    if (document->is_there && chance(15)) {
        document->is_there = false;
    } else {
        if (!document->is_there) document->order = ++next->counter;
        document->is_there = true;
        for (int i = 0; i < PATHS; i++) document->values[i] = chance(60) ? below(3) : -1;
        for (int i = 0; i < ENTRIES; i++) document->entries[i] = with(WITH_EACH) && chance(50) ? below(3) : -1;
        for (int i = 0; i < SECTION; i++) document->section[i] = with(WITH_SETTINGS) && chance(50) ? below(7) : -1;
        for (int i = 0; i < TRAITS; i++) document->tuned[i] = with(WITH_TRAITS) && chance(50) ? below(KEYS) : -1, document->levels[i] = below(next->versions[0] && next->versions[1] ? 11 : 7);
        for (int i = 0; i < BESIDE; i++) document->wired[i] = random_decision(next, i ? document->wired[0].key : -1);
        document->wired[BESIDE].what = DECIDES_NOTHING;
        if (with(WITH_WIRING) && chance(60)) decide_beside_a_value(&now, document, number);
        document->first_entry = below(ENTRIES), document->entry_step = 1 + below(2), document->has_list = chance(30);
    }
    trace("  document%d %s\n", number, document->is_there ? document_text(document, NULL) : "is taken away");
    add_document(changes, number, document, NULL);
}
static void edit_binding(world *next, invivo_changes changes, int number) {
    binding *binding = &next->bindings[number];
    if (binding->version && chance(30)) {
        binding->version = 0;
        trace("  unbind the settings %s\n", binding_names[number]);
        MUST(invivo_changes_unbind_settings(changes, binding_names[number], E));
    } else {
        binding->version = 1 + below(VERSIONS), binding->section = chance(60) ? 0 : below(4);
        trace("  bind version %d of the settings %s to '%s'\n", binding->version, binding_names[number], sections[binding->section]);
        add_binding(changes, number, binding);
    }
}
static void edit(world *next, invivo_changes changes, bool *used) {
    int what = below(100);
    if (what >= 45 && what < 60 && with(WITH_GROUPS)) {
        int group = below(GROUPS);
        for (int i = 0; i < MEMBERS; i++) if (used[FIRST_MEMBER + group * MEMBERS + i]) return;
        if (used[FIRST_GROUP + group]) return;
        used[FIRST_GROUP + group] = true;
        edit_group(next, changes, group);
    } else if (what < 60 || what >= 97) {
        int key = below(KEYS);
        /* Only existing members of an assembly are redefined separately. */
        if (used[key] || (group_of(key) >= 0 && (used[FIRST_GROUP + group_of(key)] || !next->defined[key]))) return;
        if (is_remapped(next, key)) return;
        used[key] = true;
        const spec *made = random_spec(next, key, false);
        if (!next->defined[key]) next->order[key] = ++next->counter;
        define_key(next, key, made);
        invivo_definition definition = describe(&live, made);
        print_spec("define", made);
        MUST(invivo_changes_define(changes, &definition, NULL, E));
    } else if (what < 67) {
        int key = below(KEYS);
        if (used[key] || !next->defined[key] || (group_of(key) >= 0 && used[FIRST_GROUP + group_of(key)])) return;
        /* A new runtime would refuse the remap if nothing else used it. */
        if (is_remapped(next, key)) return;
        /* A mount of an assembly that never had it would wait for an outer key with another name. */
        for (int i = FIRST_MEMBER; i < AFTER_MEMBERS && group_of(key) >= 0; i++)
            if (group_of(i) == group_of(key) && next->defined[i] && next->defined[i]->parent == key) return;
        used[key] = true;
        trace("  remove %s\n", key_names[key]);
        define_key(next, key, NULL);
        MUST(invivo_changes_remove(changes, key_names[key], E));
    } else if (what < 80) {
        int number = below(DOCUMENTS);
        if (!with(WITH_CONFIG) || used[KEYS + number]) return;
        used[KEYS + number] = true;
        edit_document(next, changes, number);
    } else if (what < 83 && with(WITH_TRAITS) && chance(50)) {
        int number = below(TRAIT_TYPES);
        if (used[FIRST_TRAIT_TYPE + number]) return;
        used[FIRST_TRAIT_TYPE + number] = true;
        next->versions[number] = 1 + below(VERSIONS);
        trace("  version %d of %s\n", next->versions[number], trait_type_names[number]);
        add_trait_type(changes, number, next->versions[number]);
    } else if (what < 85 && with(WITH_SETTINGS) && chance(60)) {
        int number = below(BINDINGS);
        if (used[FIRST_BINDING + number]) return;
        used[FIRST_BINDING + number] = true;
        edit_binding(next, changes, number);
    } else if (what < 86 && with(WITH_SETTINGS) && chance(50)) {
        int number = below(SECTION);
        if (used[FIRST_SECTION + number]) return;
        used[FIRST_SECTION + number] = true;
        next->section_says[number] = below(9) - 2;
        trace("  configure %s %d\n", section_paths[number], next->section_says[number]);
        add_section_value(changes, number, next->section_says[number]);
    } else if (what < 86) {
        int path = below(PATHS);
        if (!with(WITH_CONFIG) || used[KEYS + DOCUMENTS + path]) return;
        used[KEYS + DOCUMENTS + path] = true;
        next->operator_says[path] = below(5) - 2;
        trace("  configure %s %d\n", whole_paths[path], next->operator_says[path]);
        add_operator_value(changes, path, next->operator_says[path]);
    } else if (what < 91) {
        int number = below(PROCESSORS);
        if (!with(WITH_PROCESSORS) || used[KEYS + DOCUMENTS + PATHS + number]) return;
        used[KEYS + DOCUMENTS + PATHS + number] = true;
        processor *processor = &next->processors[number];
        if (processor->is_there && chance(50)) {
            processor->is_there = false;
        } else {
            *processor = (struct processor){.is_there = true, .key = -1, .type = -1, .component = -1};
            /* In cycles of shared objects, the build order decides whether a reference can wait for a decorator. */
            int first = with(WITH_CIRCLES) ? TOOLS : 0;
            if (chance(70)) processor->key = first + below(KEYS - first), processor->component = chance(30) ? some_key(next, processor->key, processor->key) : -1;
            else processor->type = with(WITH_CIRCLES) ? SAW + below(4) : below(TYPES);
            processor->changes_definitions = chance(30);
        }
        trace("  processor %d: %s key %d type %d component %d\n", number, !processor->is_there ? "removed" : processor->changes_definitions ? "changes definitions" : "decorates", processor->key, processor->type, processor->component);
        add_processor(&live, changes, number, processor);
    } else if (what < 94) {
        int key = below(KEYS);
        if (used[key] || !next->defined[key]) return;
        bool dependencies = chance(40);
        trace("  reset %s%s\n", key_names[key], dependencies ? " with dependencies" : "");
        MUST(invivo_changes_reset(changes, key_names[key], dependencies ? INVIVO_RESET_DEPENDENCIES : 0, E));
    } else if (what < 95) {
        static const uint32_t scopes[] = {INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON};
        uint32_t scope = scopes[below(3)];
        trace("  reset scope %u\n", scope);
        MUST(invivo_changes_reset_scope(changes, scope, E));
    } else if (with(WITH_EACH) && !used[KEYS + DOCUMENTS + PATHS + PROCESSORS]) {
        used[KEYS + DOCUMENTS + PATHS + PROCESSORS] = true;
        if (next->has_each && chance(40)) {
            next->has_each = false;
            trace("  remove a.each\n");
            MUST(invivo_changes_remove(changes, "a.each", E));
        } else {
            if (!next->has_each) next->each_order = ++next->counter;
            next->has_each = true, next->each_type = SINGER + below(2);
            /* References of a tool form no cycle with lists of all voices. */
            next->each_parent = with(WITH_PARENTS) && chance(60) ? some_parent(next, TOOLS) : -1;
            trace("  define a.each %s%s%s\n", kinds[next->each_type].name, next->each_parent < 0 ? "" : " parent ", next->each_parent < 0 ? "" : key_names[next->each_parent]);
            invivo_definition each = describe_each(&live, next->each_type, next->each_parent);
            MUST(invivo_changes_define(changes, &each, NULL, E));
        }
    }
}
/* Properties with Ramp move. */
static void advance(int milliseconds) {
    trace("advance %d ms\n", milliseconds);
    MUST(invivo_runtime_advance(live.runtime, (uint64_t)milliseconds * 1000000, E));
}
static void change(int edits) {
    world next = now;
    bool used[ALL_USED] = {false};
    invivo_changes changes;
    invivo_error *error = NULL;
    trace("change\n");
    if (!MUST(invivo_changes_open(live.runtime, &changes, E))) return;
    /* Beside other changes, before them or alone. */
    bool sets_base = with(WITH_BASES) && chance(22), is_first = sets_base && chance(30), is_alone = sets_base && chance(20);
    if (is_first) edit_base(&next, changes);
    for (int i = 0; i < edits && !is_alone; i++) edit(&next, changes, used);
    if (sets_base && !is_first) edit_base(&next, changes);
    for (int key = 0; key < KEYS; key++)
        if (next.bases[key] >= 0 && !next.sets_base[key] && inherits_shared_type(&next, key)) {
            trace("  discarded\n");
            return invivo_changes_discard(changes);
        }
    bool is_armed = arm();
    invivo_status status = invivo_changes_commit(changes, &error);
    take_answer(&next, status, error, is_armed);
    if (with(WITH_TRAITS) && chance(30)) advance(below(600));
}
static void first_definitions(void) {
    world next = now;
    invivo_changes changes;
    invivo_error *error = NULL;
    trace("begin with\n");
    if (!MUST(invivo_changes_open(live.runtime, &changes, E))) return;
    int count = with(WITH_SETUPS) ? 6 + below(4) : 3 + below(7);
    for (int i = 0; i < count; i++) {
        int key = i < FIRST_MEMBER ? i : i - FIRST_MEMBER + AFTER_MEMBERS;
        const spec *made = random_spec(&next, key, false);
        next.order[key] = ++next.counter;
        next.defined[key] = made;
        invivo_definition definition = describe(&live, made);
        print_spec("define", made);
        MUST(invivo_changes_define(changes, &definition, NULL, E));
    }
    for (int i = 0; i < TRAIT_TYPES && with(WITH_TRAITS); i++) add_trait_type(changes, i, next.versions[i] = 1 + below(VERSIONS));
    bool is_armed = arm();
    invivo_status status = invivo_changes_commit(changes, &error);
    take_answer(&next, status, error, is_armed);
}
/* A simple definition that reads the configuration, usually with an object from the beginning. */
static void define_reader(world *next, invivo_changes changes) {
    spec *made = NEW(spec);
    made->key = AFTER_MEMBERS + below(KEYS - AFTER_MEMBERS), made->parent = -1, made->kind = MAKES;
    made->type = chance(50) ? SAW : DRILL, made->scope = chance(70) ? INVIVO_SCOPE_SINGLETON : INVIVO_SCOPE_LAZY_SINGLETON;
    made->level = config_source();
    if (next->defined[made->key]) return;
    next->order[made->key] = ++next->counter;
    define_key(next, made->key, made);
    print_spec("define", made);
    invivo_definition definition = describe(&live, made);
    MUST(invivo_changes_define(changes, &definition, NULL, E));
}
/* A change set of its own, because random definitions are often refused. */
static void first_document(void) {
    world next = now;
    invivo_changes changes;
    invivo_error *error = NULL;
    trace("continue with\n");
    if (!MUST(invivo_changes_open(live.runtime, &changes, E))) return;
    if (with(WITH_CONFIG)) edit_document(&next, changes, 0);
    if (with(WITH_CONFIG) && with(WITH_WIRING) && chance(70)) define_reader(&next, changes);
    for (int i = 0; i < BINDINGS && with(WITH_SETTINGS); i++) if (chance(60)) edit_binding(&next, changes, i);
    invivo_status status = invivo_changes_commit(changes, &error);
    take_answer(&next, status, error, false);
}
/* Definitions, documents and runtime settings are those of a former generation. Overrides, processors, trait types and bindings stay. */
static void roll_back(void) {
    uint64_t current = 0;
    invivo_error *error = NULL;
    if (!MUST(invivo_runtime_generation(live.runtime, &current, E))) return;
    uint64_t to = current - (uint64_t)below(current < 18 ? (int)current + 1 : 18);
    if (!kept_worlds[to % KEPT_WORLDS].is_there || kept_worlds[to % KEPT_WORLDS].generation != to) return;
    world next = kept_worlds[to % KEPT_WORLDS].world;
    memcpy(next.bound, now.bound, sizeof next.bound);
    memcpy(next.overrides, now.overrides, sizeof next.overrides);
    memcpy(next.override_count, now.override_count, sizeof next.override_count);
    memcpy(next.processors, now.processors, sizeof next.processors);
    memcpy(next.versions, now.versions, sizeof next.versions);
    memcpy(next.bindings, now.bindings, sizeof next.bindings);
    next.counter = now.counter;
    /* The key of a processor stays. */
    for (int i = 0; i < PROCESSORS; i++)
        if (next.processors[i].is_there && next.processors[i].key >= 0 && !next.defined[next.processors[i].key]) return;
    trace("rollback to %llu\n", (unsigned long long)to);
    bool is_armed = arm();
    invivo_status status = invivo_rollback(live.runtime, to, &error);
    if (status == INVIVO_E_NOT_FOUND && strstr(invivo_error_text(error), "is not kept")) {
        countdown = 0;
        return invivo_error_release(error);
    }
    take_answer(&next, status, error, is_armed);
}
static void begin_override(void) {
    int key = below(KEYS);
    /* Also above the decision of a document. */
    bool is_decided = with(WITH_WIRING) && chance(60);
    for (int tries = 2 * KEYS; tries > 0 && !(now.defined[key] && (!is_decided || decision_of(&now, key))); tries--) key = (key + 1) % KEYS;
    for (int tries = KEYS; tries > 0 && !now.defined[key]; tries--) key = (key + 1) % KEYS;
    int *count = &now.override_count[key];
    if (!now.defined[key] || *count == MOST_OVERRIDES || override_number == OPERATIONS || is_remapped(&now, key)) return;
    world next = now;
    const spec *made = random_spec(&next, key, true);
    invivo_definition definition = describe(&live, made);
    invivo_error *error = NULL;
    /* The key keeps these. */
    definition.scope = 0, definition.flags = 0, definition.rank = 0, definition.scope_name = NULL;
    trace("override %d\n", override_number);
    print_spec("with", made);
    next.overrides[key][next.override_count[key]].spec = made;
    next.overrides[key][next.override_count[key]++].number = override_number;
    bool is_armed = arm();
    invivo_status status = invivo_override_begin(live.runtime, &definition, &handles[override_number], &error);
    if (!status) override_number++;
    take_answer(&next, status, error, is_armed);
}
static void end_override(void) {
    int found[KEYS], count = 0;
    for (int key = 0; key < KEYS; key++) if (now.override_count[key]) found[count++] = key;
    if (!count) return;
    world next = now;
    int key = found[below(count)], index = below(now.override_count[key]);
    invivo_override handle = handles[now.overrides[key][index].number];
    invivo_error *error = NULL;
    next.override_count[key]--;
    for (int i = index; i < next.override_count[key]; i++) next.overrides[key][i] = next.overrides[key][i + 1];
    trace("end of the override %d of %s\n", now.overrides[key][index].number, key_names[key]);
    bool is_armed = arm();
    invivo_status status = invivo_override_end(handle, &error);
    take_answer(&next, status, error, is_armed);
}

/* Stops the shared object of a key manually, performs another operation, and starts it again. */
static void stop_by_hand(void) {
    int key = below(KEYS);
    invivo_key id = {0};
    invivo_error *error = NULL;
    const spec *spec = now.defined[key];
    if (!spec || spec->kind == ALIAS || spec->kind == CHOICE || (scope_of(&now, key) != INVIVO_SCOPE_LAZY_SINGLETON && scope_of(&now, key) != INVIVO_SCOPE_SINGLETON)) return;
    if (!MUST(invivo_key_find(live.runtime, key_names[key], &id, E))) return;
    invivo_status status = invivo_stop(live.runtime, id, &error);
    trace("stop %s: %s\n", key_names[key], invivo_status_name(status));
    invivo_error_release(error), error = NULL;
    if (chance(50)) change(1);
    else resolve_one();
    status = invivo_start(live.runtime, id, &error);
    trace("start %s: %s\n", key_names[key], status ? invivo_error_text(error) : "");
    invivo_error_release(error);
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

/* A change that the live runtime refused is refused by a new one too, or one of its keys cannot be resolved there. */
static void commit_comparison(const world *next, invivo_status status, const char *text) {
    twin fresh;
    invivo_error *error = NULL;
    if (failure || !open_twin(&fresh)) return;
    invivo_status answered = commit_world(&fresh, next, &error);
    bool is_refused = answered != INVIVO_OK;
    for (int i = 0; i < NAMES && !is_refused; i++) {
        invivo_object object = {0};
        is_refused = invivo_resolve_name(fresh.runtime, name_of(i), &object, NULL) == status;
        if (object.bits) MUST(invivo_object_release(object));
    }
    if (!is_refused) disagree(STATUS_DIFFERS, "the live runtime refuses a change that a fresh one accepts: %s: %s", invivo_status_name(status), text);
    invivo_error_release(error);
    close_twin(&fresh, "fresh");
}
/* A build that a reload has overtaken is followed by a change set of the runtime. */
static void settle(void) {
    invivo_value status = invivo_null();
    for (bool is_settled = false; !is_settled && !failure;) {
        if (!MUST(invivo_runtime_status(live.runtime, &status, E))) return;
        is_settled = entry_of(&status, "running")->kind == INVIVO_KIND_NULL && entry_of(&status, "waiting_sets")->as.unsigned_integer == 0;
        invivo_value_clear(&status);
        if (!is_settled) MUST(invivo_runtime_poll(live.runtime, 1, NULL, E));
    }
}
static void compare(void) {
    comparison both = {.live = &live};
    invivo_error *error = NULL;
    trace("compare\n");
    settle();
    if (with(WITH_TRAITS)) advance(10000);
    if (failure || !open_twin(&both.fresh)) return;
    uint64_t former_place = place_of_host;
    /* Eager objects of a host scope are created in a scope instance, as in the live runtime. */
    place_of_host = 1;
    invivo_status status = commit_world(&both.fresh, &now, &error);
    if (status) disagree(STATUS_DIFFERS, "the live runtime has accepted what a fresh one refuses: %s: %s", invivo_status_name(status), invivo_error_text(error));
    invivo_error_release(error);
    /* Weak objects are the same on all threads: their lazies are resolved on the main thread first. */
    invivo_object held[2][NAMES] = {{{0}}}, with_argument[2][KEYS * ARGUMENTS] = {{{0}}};
    for (int i = 0; i < NAMES * 2 && !status && !failure; i++)
        (void)invivo_resolve_name(i % 2 ? live.runtime : both.fresh.runtime, name_of(i / 2), &held[i % 2][i / 2], NULL);
    for (int i = 0; i < KEYS * ARGUMENTS * 2 && with(WITH_ARGUMENTS) && !status && !failure; i++)
        (void)resolve_with_argument(i % 2 ? live.runtime : both.fresh.runtime, name_of(i / 2 / ARGUMENTS), 1 + i / 2 % ARGUMENTS, &with_argument[i % 2][i / 2], NULL);
    if (!status) compare_here(&both);
    for (int i = 0; i < WORKERS && !status && !failure; i++) if (workers[i].is_there) on_worker(i, compare_here, &both);
    for (int i = 0; i < NAMES * 2; i++) if (held[i % 2][i / 2].bits) MUST(invivo_object_release(held[i % 2][i / 2]));
    for (int i = 0; i < KEYS * ARGUMENTS * 2; i++) if (with_argument[i % 2][i / 2].bits) MUST(invivo_object_release(with_argument[i % 2][i / 2]));
    place_of_host = former_place;
    close_twin(&both.fresh, "fresh");
}

/* ---- pins --------------------------------------------------------------------------------------------------- */

/* What the reads in a pin have found. */
static struct {
    invivo_pin pin;
    uint64_t generation;
    world world;
    struct { invivo_object object; int64_t number; bool is_known; } keys[KEYS];
    text text;
} pinned;
static text pinned_text;

/* Reads of a pin find the same content and the same shared objects, whatever is committed meanwhile. Excluded are exclusive objects,
 * which are the newest, and objects of scope instances or with arguments. */
static bool is_same_in_a_pin(int key) {
    const spec *spec = pinned.world.defined[key], *top = top_of(&pinned.world, key);
    if (!spec || spec->kind == ALIAS || spec->kind == CHOICE || (top && (top->kind == ALIAS || top->kind == CHOICE))) return false;
    if (decides(&pinned.world, key, DECIDES_ALIAS)) return false;
    if (spec->flags & INVIVO_DEFINITION_EXCLUSIVE || takes_argument(&pinned.world, key)) return false;
    if (top && (top->takes_argument || takes_argument(&pinned.world, top->parent))) return false;
    int scope = scope_of(&pinned.world, key);
    return scope == INVIVO_SCOPE_LAZY_SINGLETON || scope == INVIVO_SCOPE_SINGLETON;
}
static void read_in_the_pin(bool changes) {
    invivo_pin inside = {0};
    observation self = {.into = &pinned_text};
    uint64_t former_place = place_of_host;
    if (!MUST(invivo_pin_enter(pinned.pin, &inside, E))) return;
    place_of_host = 1;
    pinned_text.length = 0, pinned_text.data[0] = 0;
    for (int i = 0; i < PATHS; i++) {
        invivo_value value = invivo_null();
        invivo_status status = invivo_config_read(live.runtime, whole_paths[i], &value, NULL);
        put(&pinned_text, "%s: %s ", whole_paths[i], invivo_status_name(status)), show_value(&self, &value);
        invivo_value_clear(&value);
    }
    char settings[4096];
    print_settings(&live, settings, sizeof settings);
    put(&pinned_text, "%s", settings);
    if (invivo_pin_generation(pinned.pin) != pinned.generation) disagree(PIN_CHANGED, "the generation of a pin changes");
    if (!pinned.text.length) pinned.text = pinned_text;
    else if (strcmp(pinned.text.data, pinned_text.data)) disagree(PIN_CHANGED, "the configuration changes in a pin: %s, now %s", pinned.text.data, pinned_text.data);
    for (int key = 0; key < KEYS && !failure; key++) {
        invivo_object object = {0};
        if (!is_same_in_a_pin(key)) continue;
        invivo_status status = invivo_resolve_name(live.runtime, key_names[key], &object, NULL);
        part *part = part_of(object);
        if (pinned.keys[key].is_known && status) disagree(PIN_CHANGED, "in a pin, '%s' can no longer be resolved: %s", key_names[key], invivo_status_name(status));
        if (object.bits && (!part || seen[part->serial].has_ended || !all_alive(part))) disagree(PIN_CHANGED, "in a pin, '%s' has ended", key_names[key]);
        if (pinned.keys[key].is_known && part && (object.bits != pinned.keys[key].object.bits || part->number != pinned.keys[key].number)) disagree(PIN_CHANGED, "in a pin, '%s' changes", key_names[key]);
        if (part) pinned.keys[key].is_known = true, pinned.keys[key].object = object, pinned.keys[key].number = part->number;
        if (object.bits) MUST(invivo_object_release(object));
    }
    place_of_host = former_place;
    if (changes) change(1);
    MUST(invivo_pin_end(inside));
}
static void use_a_pin(void) {
    if (!pinned.pin.bits) {
        trace("begin a pin\n");
        memset(&pinned, 0, sizeof pinned);
        pinned.pin = invivo_pin_hold(live.runtime, NULL);
        if (!pinned.pin.bits) return disagree(CALL_FAILED, "no pin begins");
        pinned.generation = invivo_pin_generation(pinned.pin), pinned.world = now;
        if (chance(70)) trace("  read in it\n"), read_in_the_pin(false);
    } else if (chance(70)) {
        bool changes = chance(30);
        trace("read in the pin\n");
        read_in_the_pin(changes);
    } else {
        trace("end the pin\n");
        MUST(invivo_pin_end(pinned.pin));
        pinned.pin.bits = 0;
    }
}

/* ---- a sequence ----------------------------------------------------------------------------------------------------- */

static void operate(void) {
    int what = below(100);
    if (what < 6 && with(WITH_ROLLBACKS)) return roll_back();
    if (what < 32) return change(1 + below(3));
    if (what < 44) return with(WITH_OVERRIDES) ? begin_override() : change(1);
    if (what < 52) return with(WITH_OVERRIDES) ? end_override() : change(2);
    if (what < 60 && with(WITH_PINS)) return use_a_pin();
    if (what < 78) return resolve_one();
    if (what < 88) return release_one();
    if (what < 92 && with(WITH_HOST_SCOPE)) {
        place_of_host = (uint64_t)below(3);
        return trace("at place %llu\n", (unsigned long long)place_of_host);
    }
    if (what < 94 && with(WITH_HOST_SCOPE)) {
        uint64_t place = 1 + (uint64_t)below(2);
        trace("end of place %llu\n", (unsigned long long)place);
        MUST(invivo_scope_end(live.runtime, "request", place, E));
        return;
    }
    if (what < 97 && with(WITH_THREADS)) {
        trace("end of a worker\n");
        return end_worker(below(WORKERS));
    }
    if (what < 99 && with(WITH_STOPS) && with(WITH_LIFE)) return stop_by_hand();
    if (what == 99) compare();
}

static void run(uint64_t seed) {
    invivo_live_counts before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    seed_of_sequence = random_state = seed;
    parts_made = 0;
    parts_alive = 0;
    countdown = 0;
    applications = bindings_alive = section_texts_alive = 0;
    failure = AGREES, arena_used = 0, lease_count = override_number = 0, place_of_host = 1;
    memset(&now, 0, sizeof now);
    for (int i = 0; i < KEPT_WORLDS; i++) kept_worlds[i].is_there = false;
    for (int i = 0; i < PATHS; i++) now.operator_says[i] = -1;
    for (int i = 0; i < SECTION; i++) now.section_says[i] = -1;
    memset(now.bound, -1, sizeof now.bound);
    memset(now.remapped, -1, sizeof now.remapped);
    memset(now.bases, -1, sizeof now.bases);
    has_set_bases = false;
    for (int i = 0; i < OPERATIONS; i++) {
        tapes[i].used = 0;
        if (!is_replay) tapes[i].count = 0, tapes[i].is_left_out = false;
    }
    invivo_live(&before);
    current_tape = &tapes[0];
    features = 0;
    for (int i = 0; i < FEATURES; i++) features |= chance(65) << i;
    stops_fail = with(WITH_STOPS);
    pinned.pin.bits = 0;
    draw_children();
    trace("seed %llu, features %x\n", (unsigned long long)seed, features);
    if (open_twin(&live)) first_definitions(), first_document();
    int count = 4 + below(OPERATIONS - 4);
    for (int i = 1; i < count && !failure; i++) {
        current_tape = &tapes[i];
        if (current_tape->is_left_out) continue;
        operate();
        check_leases();
    }
    current_tape = &tapes[OPERATIONS - 1];
    compare();
    while (lease_count) release_one();
    for (int i = 0; i < WORKERS; i++) end_worker(i);
    close_twin(&live, "live");
    if (failure) return;
    for (int i = 0; i < parts_made; i++) {
        if (!seen[i].has_ended) disagree(LEFT_BEHIND, "an object is left after close (serial %d of %d)", i, parts_made);
        if (seen[i].is_started) disagree(STOPS_DIFFER, "an object was started and never stopped (serial %d)", i);
    }
    if (applications) disagree(LEFT_BEHIND, "%d reversals of traits are left after close", (int)applications);
    if (bindings_alive || section_texts_alive)
        disagree(LEFT_BEHIND, "%d bindings of settings and %d of their values are left after close", (int)bindings_alive, (int)section_texts_alive);
    invivo_live(&after);
    if (memcmp(&before, &after, sizeof before))
        disagree(LEFT_BEHIND, "left after close: objects %lld, callables %lld, errors %lld, graphs %lld, blocks %lld", (long long)(after.objects - before.objects),
                 (long long)(after.callables - before.callables), (long long)(after.errors - before.errors), (long long)(after.graphs - before.graphs), (long long)(after.blocks - before.blocks));
}

#endif
