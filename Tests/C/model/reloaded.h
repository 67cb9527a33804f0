/* reloaded.h: the model: reloads. */
#ifndef INVIVO_TESTS_MODEL_RELOADED_H
#define INVIVO_TESTS_MODEL_RELOADED_H

#include "made.h"

static cell *fresh_cell(const recipe *recipe) {
    cell *made = NEW(cell);
    made->recipe = recipe;
    return made;
}
static bool has_objects(cell *cell) {
    for (; cell; cell = cell->variants) if (cell->state == 2 && !cell->object->gone) return true;
    return false;
}
static bool counts_as_held(int key) {
    return now->cells[key] && (!is_shared(now->recipes[key]->scope) || has_objects(now->cells[key]));
}
static bool names(const recipe *recipe, const source *source, const bool *changed) {
    switch (source->how) {
    case REFERENCE:
        if (!changed || changed[source->key]) return true;
        for (int i = 0; i < source->count; i++) if (names(recipe, source->items[i], changed)) return true;
        return false;
    case ALL_OF:
        if (!changed) return true;
        for (int i = 0; i < source->number; i++) if (changed[recipe->bindings[source->key].bound[i]]) return true;
        return false;
    case LIST: case SET: case MAP: case PATH:
        for (int i = 0; i < (source->how == PATH ? 1 : source->count); i++) if (names(recipe, source->items[i], changed)) return true;
        return false;
    default: return false;
    }
}
/* The key of the created object of `key`: aliases without arguments create nothing. */
static int target_of(int key) {
    for (int i = 0; i <= KEYS; i++) {
        definition *given = described(key);
        if (!given || given->alias < 0 || given->initializer_count > 0) return key;
        key = given->alias;
    }
    return -1;
}
static bool leads_back(int key, int to, bool *seen, const recipe *const *recipes) {
    definition *given = described(key);
    if (!given) return false;
    if (given->alias >= 0 && given->initializer_count == 0)
        return given->alias == to || (!seen[given->alias] && (seen[given->alias] = true) && leads_back(given->alias, to, seen, recipes));
    const recipe *recipe = recipes[key];
    for (int i = 0; recipe && i < recipe->edge_count; i++) {
        if (recipe->edges[i].strength < 2) continue;
        int next = recipe->edges[i].key;
        if (next == to) return true;
        if (!seen[next]) {
            seen[next] = true;
            if (leads_back(next, to, seen, recipes)) return true;
        }
    }
    return false;
}
/* The keys that a source refers to, in order: it changes if a lookup by type finds another one, or nothing. */
static int keys_of(const recipe *recipe, const source *source, int *keys, int count) {
    if (source->how == PROVIDER || source->how == LAZY) source = source->items[0];
    if (source->how == ALL_OF)
        for (int i = 0; i < source->number && count < 64; i++) keys[count++] = recipe->bindings[source->key].bound[i];
    if (source->how == REFERENCE && count < 64) keys[count++] = source->key;
    if (source->how == REFERENCE || source->how == LIST || source->how == SET || source->how == MAP || source->how == PATH)
        for (int i = 0; i < (source->how == PATH ? 1 : source->count); i++) count = keys_of(recipe, source->items[i], keys, count);
    return count;
}
static bool same_keys(const recipe *one, const source *a, const recipe *other, const source *b) {
    int in_a[64], in_b[64], count = keys_of(one, a, in_a, 0);
    return count == keys_of(other, b, in_b, 0) && !memcmp(in_a, in_b, sizeof(int) * (size_t)count);
}
/* A binding without a target had one before. */
static bool is_again(const again *again, int i) {
    const source *now_there = again->recipe->steps[i].value, *before = again->former_recipe->steps[i].value;
    return names(again->recipe, now_there, again->changed)
        || (!again->changed && (names(again->former_recipe, before, NULL) || !same_keys(again->recipe, now_there, again->former_recipe, before)));
}
static int reinject(void *context, value *out) {
    again *again = context;
    frame *own = &current->frames[current->frame_count++];
    *own = (frame){.recipe = again->recipe, .object = again->object, .argument_count = again->object->argument_count, .asker = -1};
    memcpy(own->arguments, again->object->arguments, sizeof own->arguments);
    *out = (value){.kind = '-'};
    for (int i = 0; i < again->recipe->step_count; i++) {
        if (!is_again(again, i)) continue;
        again->done = i + 1;
        int status = apply(again->recipe->steps[i], i, own);
        if (status) return status;
    }
    return 0;
}

/* The keys that a source resolves without arguments. */
static void note_wanted(const recipe *recipe, const source *source, bool *wanted) {
    switch (source->how) {
    case REFERENCE:
        if (!source->count) wanted[source->key] = true;
        for (int i = 0; i < source->count; i++) note_wanted(recipe, source->items[i], wanted);
        return;
    case ALL_OF:
        for (int i = 0; i < source->number; i++) wanted[recipe->bindings[source->key].bound[i]] = true;
        return;
    case LIST: case SET: case MAP: case PATH:
        for (int i = 0; i < (source->how == PATH ? 1 : source->count); i++) note_wanted(recipe, source->items[i], wanted);
        return;
    case PROVIDER: case LAZY:
        for (int i = 0; source->items[0] && i < source->items[0]->count; i++) note_wanted(recipe, source->items[0]->items[i], wanted);
        return;
    default: return;
    }
}

static bool same_initializer_edges(const recipe *a, const recipe *b) {
    for (int key = 0; key < KEYS; key++) {
        bool in_a = false, in_b = false;
        for (int i = 0; i < a->edge_count; i++) in_a |= a->edges[i].key == key && a->edges[i].strength == 2;
        for (int i = 0; i < b->edge_count; i++) in_b |= b->edges[i].key == key && b->edges[i].strength == 2;
        if (in_a != in_b) return false;
    }
    for (int i = 0; i < a->initializer_count && i < b->initializer_count; i++)
        if (!same_keys(a, a->initializer[i], b, b->initializer[i])) return false;
    return true;
}
static bool same_bindings(const recipe *a, const recipe *b) {
    if (a->binding_count != b->binding_count || a->edge_count != b->edge_count) return false;
    for (int i = 0; i < a->binding_count; i++) {
        if (a->bindings[i].place != b->bindings[i].place || a->bindings[i].count != b->bindings[i].count) return false;
        if (memcmp(a->bindings[i].bound, b->bindings[i].bound, sizeof(int) * (size_t)a->bindings[i].count)) return false;
    }
    return true;
}

/* Whether a change lies below an override and leaves its effective definition equal. */
static bool is_below_override(const plan *plan, int key, const recipe *former, const recipe *next) {
    const override *top = overridden[key], *after = plan->overridden[key];
    if (!top || !after || top->definition != after->definition || !former || former->key != key || !next || next->key != key) return false;
    definition *a = NEW(definition), *b = NEW(definition);
    *a = *former->flat, *b = *next->flat;
    a->order = b->order;
    return !memcmp(a, b, sizeof *a) && same_bindings(former, next);
}

/* Whether the definitions are valid when all overrides have ended: 0, or a status. */
static int without_overrides(plan *plan) {
    override *above[KEYS];
    const recipe *recipes[KEYS];
    bool any = false;
    for (int key = 0; key < KEYS; key++) any |= plan->overridden[key] != NULL;
    if (!any) return 0;
    memcpy(above, plan->overridden, sizeof above);
    memset(plan->overridden, 0, sizeof plan->overridden);
    for (int key = 0; key < KEYS; key++) {
        definition *given = described(key);
        const recipe *former = now->recipes[key] && now->recipes[key]->key == key ? now->recipes[key] : NULL;
        recipes[key] = given ? compile(given, former) : NULL;
    }
    for (int key = 0; key < KEYS && !plan->code_count; key++) {
        bool seen[KEYS] = {false};
        if ((recipes[key] && leads_back(key, key, seen, recipes)) || target_of(key) < 0) wrong(INVIVO_E_CYCLE);
    }
    memcpy(plan->overridden, above, sizeof above);
    return plan->code_count ? plan->codes[0] : 0;
}

/* Commits `plan`: returns 0, or a status. If the plan is refused, `plan->codes` lists all errors. */
static int commit(plan *plan) {
    planned = plan;
    graph *next = NEW(graph);
    *next = *now;
    plan->next = next;
    /* A definition with a changed parent is changed too. */
    for (bool more = true; more;) {
        more = false;
        for (int key = 0; key < KEYS; key++) {
            definition *base = plan->defined[key];
            if (!base || plan->declared[key]) continue;
            bool follows = base->parent >= 0 && plan->declared[base->parent];
            for (override *step = plan->overridden[key]; step; step = step->below) follows |= step->definition->parent >= 0 && plan->declared[step->definition->parent];
            if (follows) plan->declared[key] = more = true;
        }
    }
    /* Compiled definitions of changes, of lookups by type, and of dependents of removed keys. */
    bool rebound[KEYS] = {false};
    const recipe *recipes[KEYS];
    memcpy(recipes, now->recipes, sizeof recipes);
    for (int key = 0; key < KEYS; key++) {
        definition *given = described(key);
        if (!given) { recipes[key] = NULL; continue; }
        const recipe *former = now->recipes[key];
        if (former && former->key != key) former = NULL; /* it was an alias */
        bool is_alias = given->alias >= 0;
        recipe *made = compile(given, former);
        /* A definition under an override still exists, and is valid without it. */
        if (plan->overridden[key]) compile(plan->defined[key], NULL);
        if (plan->defined[key]->parent >= 0 && !plan->defined[plan->defined[key]->parent]) wrong(INVIVO_E_NOT_FOUND);
        for (override *step = plan->overridden[key]; step; step = step->below)
            if (step->definition->parent >= 0 && !plan->defined[step->definition->parent]) wrong(INVIVO_E_NOT_FOUND);
        if (plan->declared[key] || (is_alias && given->initializer_count == 0)) recipes[key] = made;
        else if (made && former && !same_bindings(made, former)) recipes[key] = made, rebound[key] = true;
    }
    if (plan->code_count) return plan->codes[0];
    for (int key = 0; key < KEYS; key++) {
        bool seen[KEYS] = {false};
        if (recipes[key] && leads_back(key, key, seen, recipes)) { wrong(INVIVO_E_CYCLE); return INVIVO_E_CYCLE; }
        if (target_of(key) < 0) { wrong(INVIVO_E_CYCLE); return INVIVO_E_CYCLE; }
    }
    if (without_overrides(plan)) return plan->codes[0];
    /* The dependents: along the former edges, transitively. */
    bool remade[KEYS] = {false}, injected[KEYS] = {false}, cold[KEYS] = {false}, kept_rebound[KEYS] = {false};
    int queue[KEYS], count = 0;
    for (int key = 0; key < KEYS; key++)
        if (plan->declared[key] && !is_below_override(plan, key, now->recipes[key], recipes[key])) queue[count++] = key, remade[key] = true;
    for (int key = 0; key < KEYS; key++) {
        if (!rebound[key] || remade[key]) continue;
        const recipe *former = now->recipes[key];
        if (is_shared(former->scope) && counts_as_held(key) && same_initializer_edges(former, recipes[key])) kept_rebound[key] = true;
        else {
            queue[count++] = key, remade[key] = true;
            if (!counts_as_held(key)) cold[key] = true;
        }
    }
    for (int i = 0; i < count; i++) {
        int key = queue[i];
        for (int alias = 0; alias < KEYS; alias++) {
            if (!defined[alias] || remade[alias]) continue;
            definition *former = covered(defined[alias], overridden[alias], defined);
            if (former->alias == key) remade[alias] = true, queue[count++] = alias;
        }
        for (int holder = 0; holder < KEYS; holder++) {
            const recipe *recipe = now->recipes[holder];
            if (!recipe || recipe->key != holder) continue;
            int strength = 0;
            for (int j = 0; j < recipe->edge_count; j++) if (recipe->edges[j].key == key) strength = recipe->edges[j].strength;
            if (!strength) continue;
            bool held = counts_as_held(holder);
            if (strength == 1 && held && is_shared(recipe->scope)) injected[holder] = true;
            else if (!remade[holder]) {
                remade[holder] = true, queue[count++] = holder;
                if (!held) cold[holder] = true;
            }
        }
    }
    int builds[KEYS * 2], build_count = 0;
    for (int i = 0; i < count; i++) {
        int key = queue[i];
        definition *given = described(key);
        cell *former = now->recipes[key] && now->recipes[key]->key == key && now->recipes[key]->target < 0 ? now->cells[key] : NULL;
        next->recipes[key] = given ? recipes[key] : NULL;
        next->cells[key] = NULL;
        if (!given || recipes[key]->target >= 0) continue;
        next->cells[key] = fresh_cell(recipes[key]);
        if (cold[key] || (recipes[key]->flat->flags & INVIVO_DEFINITION_ABSTRACT)) continue;
        bool is_built = former && former->state == 2 && now->recipes[key]->scope != INVIVO_SCOPE_WEAK_SINGLETON && former->argument_count == 0 && former->object;
        if (recipes[key]->scope == INVIVO_SCOPE_SINGLETON || (is_built && recipes[key]->scope == INVIVO_SCOPE_LAZY_SINGLETON)) builds[build_count++] = key;
    }
    for (int key = 0; key < KEYS; key++) if (kept_rebound[key]) next->recipes[key] = recipes[key];
    /* Aliases without arguments show their targets. */
    for (int key = 0; key < KEYS; key++) {
        definition *given = described(key);
        if (!given || given->alias < 0 || given->initializer_count > 0) continue;
        int target = target_of(key);
        next->recipes[key] = next->recipes[target], next->cells[key] = NULL;
    }
    also = next;
    held_count = again_count = 0;
    int status = 0;
    value ignored;
    /* Existing objects; new objects of the commit with other arguments already have the new values. */
    again *list = agains = take(sizeof(again) * 256);
    for (int key = 0; key < KEYS; key++) {
        if ((!injected[key] && !kept_rebound[key]) || remade[key]) continue;
        /* In the order of their completion. */
        object *sorted[64];
        int sorted_count = 0;
        for (cell *cell = now->cells[key]; cell; cell = cell->variants) {
            if (cell->state != 2 || cell->object->gone) continue;
            int place = sorted_count++;
            while (place > 0 && sorted[place - 1]->complete > cell->object->complete) sorted[place] = sorted[place - 1], place--;
            sorted[place] = cell->object;
        }
        for (int i = 0; i < sorted_count; i++) {
            again *again = &list[again_count++];
            *again = (struct again){.recipe = next->recipes[key], .former_recipe = now->recipes[key], .object = sorted[i], .changed = kept_rebound[key] ? NULL : remade};
            for (int j = 0; j < STEPS * 8; j++) again->former[j] = sorted[i]->kept[j].value;
        }
    }
    /* A cold shared object that is injected into a kept object is built before the injection. */
    bool wanted[KEYS] = {false};
    for (int i = 0; i < again_count; i++)
        for (int j = 0; j < list[i].recipe->step_count; j++) note_wanted(list[i].recipe, list[i].recipe->steps[j].value, wanted);
    for (int key = 0; key < KEYS; key++) {
        const recipe *recipe = wanted[key] ? next->recipes[key] : NULL;
        if (!recipe || recipe->target >= 0 || !is_shared(recipe->scope) || (recipe->flat->flags & INVIVO_DEFINITION_ABSTRACT)) continue;
        if (!has_objects(next->cells[recipe->key])) builds[build_count++] = key;
    }
    for (int i = 0; i < build_count && !status; i++) status = whole(next, resolve_wish, &(wish){.key = builds[i]}, &ignored);
    for (int i = 0; i < again_count && !status; i++) status = whole(next, reinject, &list[i], &ignored);
    if (status) {
        /* All repeated injections are reverted, in reverse order. */
        int after = fail_expected;
        for (int k = again_count - 1; k >= 0; k--) {
            again *again = &list[k];
            for (int i = again->done - 1; i >= 0; i--) {
                step step = again->recipe->steps[i];
                if (!is_again(again, i)) continue;
                say(&expected, step.is_method ? "%d.m%d(" : "%d.p%d=", again->object->serial, step.name);
                tell_value(&again->former[i]);
                say(&expected, step.is_method ? ")" : "");
                if (told()) continue; /* it could not be undone */
                again->object->kept[i].value = again->former[i];
                if (!step.is_method) again->object->slots[step.name] = again->former[i];
            }
        }
        fail_expected = after;
        also = NULL;
        for (int i = 0; i < held_count; i++) held_by_commit[i]->state = 0;
        return status;
    }
    also = NULL;
    now = next;
    memcpy(defined, plan->defined, sizeof defined);
    memcpy(overridden, plan->overridden, sizeof overridden);
    /* Its version also changes with its way of creation, under every name. */
    for (int key = 0; key < KEYS; key++) {
        bool is_other = remade[key];
        for (int name = key, i = 0; !is_other && i <= KEYS && defined[name]; i++) {
            is_other = kept_rebound[name];
            name = described(name)->alias;
            if (name < 0) break;
        }
        if (is_other) versions[key]++;
    }
    return 0;
}

#endif
