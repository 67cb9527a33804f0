/* compiled.h: the model: compiled definitions, and errors of definitions. */
#ifndef INVIVO_TESTS_MODEL_COMPILED_H
#define INVIVO_TESTS_MODEL_COMPILED_H

#include "described.h"

static void note_edge(recipe *recipe, int key, int strength) {
    for (int i = 0; i < recipe->edge_count; i++) {
        if (recipe->edges[i].key != key) continue;
        if (recipe->edges[i].strength < strength) recipe->edges[i].strength = strength;
        return;
    }
    recipe->edges[recipe->edge_count++] = (edge){key, strength};
}
static source *constant_null(void) {
    source *made = NEW(source);
    made->how = NOTHING;
    return made;
}
static void bind(recipe *recipe, int place, const int *bound, int count) {
    int index = recipe->binding_count++;
    recipe->bindings[index].place = place;
    recipe->bindings[index].count = count;
    memcpy(recipe->bindings[index].bound, bound, (size_t)count * sizeof(int));
}
/* The second lookup at one position, of a method that is called twice, is separate. */
static int lookup_place(recipe *recipe, int place) {
    int number = 0;
    for (int i = 0; i < recipe->lookups; i++) number += recipe->looked_up[i] == place;
    recipe->looked_up[recipe->lookups++] = place;
    return place + number * 100000000;
}
static bool is_never_made(const definition *of) { return of->flags & INVIVO_DEFINITION_ABSTRACT; }
/* A definition receives only declared runtime arguments. An alias passes its arguments on, after its own. */
static void check_count(int count, int key) {
    definition *target = flat_described(key);
    for (int i = 0; i <= KEYS && target && target->alias >= 0; i++) {
        if (i == KEYS) return;
        count += target->initializer_count;
        target = flat_described(target->alias);
    }
    if (!target || (target->parameters < 0 && is_never_made(target))) return;
    if (count > (target->parameters < 0 ? 0 : target->parameters)) wrong(INVIVO_E_ARITY);
}
/* `place` names the position in the definition, also of nested items. */
static source *compile_source(recipe *recipe, const definition *flat, source *given, int strength, int place, const struct recipe *former) {
    source *made = NEW(source);
    *made = *given;
    switch (given->how) {
    case REFERENCE: {
        definition *target = described(given->key);
        if (!target) {
            if (given->flags & INVIVO_INJECT_OPTIONAL) return constant_null();
            wrong(INVIVO_E_NOT_FOUND);
            return made;
        }
        note_edge(recipe, given->key, strength);
        if (is_never_made(target) && !is_never_made(flat)) wrong(INVIVO_E_ABSTRACT);
        for (int i = 0; i < given->count; i++) made->items[i] = compile_source(recipe, flat, given->items[i], strength, place * 16 + 1 + i, former);
        check_count(given->count, given->key);
        return made;
    }
    case BY_TYPE: {
        place = lookup_place(recipe, place);
        int list[KEYS], count = candidates(given->type, given->flags & INVIVO_INJECT_EXACT, list), kept = 0, chosen = -1;
        for (int i = 0; i < count; i++) if (list[i] != recipe->key) list[kept++] = list[i];
        if (!kept && strength == 0) kept = count; /* itself, through a deferred reference and as the only candidate */
        if (former && !(given->flags & INVIVO_INJECT_GREEDY)) {
            for (int i = 0; i < former->binding_count; i++) {
                if (former->bindings[i].place != place) continue;
                for (int j = 0; j < kept; j++) if (former->bindings[i].count > 0 && list[j] == former->bindings[i].bound[0]) chosen = list[j];
            }
        }
        if (chosen < 0) chosen = best_of(list, kept);
        if (chosen == -2) wrong(INVIVO_E_AMBIGUOUS);
        if (chosen == -1 && !(given->flags & INVIVO_INJECT_OPTIONAL)) wrong(INVIVO_E_NOT_FOUND);
        if (chosen < 0) return constant_null();
        bind(recipe, place, &chosen, 1);
        note_edge(recipe, chosen, strength);
        made->how = REFERENCE, made->key = chosen, made->count = 0;
        return made;
    }
    case ALL_OF: {
        int list[KEYS], count = candidates(given->type, given->flags & INVIVO_INJECT_EXACT, list);
        bind(recipe, lookup_place(recipe, place), list, count);
        source *all = NEW(source);
        all->how = ALL_OF, all->number = count;
        all->key = recipe->binding_count - 1;
        for (int i = 0; i < count; i++) note_edge(recipe, list[i], strength);
        return all;
    }
    case ARGUMENT:
        if (given->number >= (flat->parameters < 0 ? 0 : flat->parameters)) wrong(INVIVO_E_ARITY);
        return made;
    case PROVIDER: case LAZY:
        made->items[0] = compile_source(recipe, flat, given->items[0], 0, place, former);
        if (made->items[0]->how == NOTHING) return constant_null(); /* an optional one without a target */
        return made;
    case ASKER: recipe->asks = true; return made;
    case LIST: case SET: case MAP:
        for (int i = 0; i < given->count; i++) made->items[i] = compile_source(recipe, flat, given->items[i], strength, place * 16 + (given->how == MAP ? 9 : 5) + i, former);
        return made;
    case PATH:
        made->items[0] = compile_source(recipe, flat, given->items[0], strength, place, former);
        return made;
    default: return made;
    }
}

static recipe *compile(definition *given, const recipe *former) {
    recipe *made = NEW(recipe);
    int before = planned->code_count;
    made->key = given->key, made->target = -1;
    /* Parents. */
    int seen[KEYS + 1] = {0};
    for (definition *step = given; step->parent >= 0;) {
        definition *parent = described(step->parent);
        if (!parent) { wrong(INVIVO_E_NOT_FOUND); break; }
        if (parent->alias >= 0) { wrong(INVIVO_E_ARGUMENT); break; }
        if (seen[parent->key]++ || parent->key == given->key) { wrong(INVIVO_E_CYCLE); break; }
        step = parent;
    }
    for (int i = 0; i < given->property_count; i++)
        for (int j = 0; j < i; j++) if (given->properties[i].name == given->properties[j].name) wrong(INVIVO_E_EXISTS);
    if (given->alias >= 0) {
        if (!described(given->alias)) { wrong(INVIVO_E_NOT_FOUND); return NULL; }
        made->target = given->alias;
        if (given->initializer_count > 0) note_edge(made, given->alias, 2);
        made->initializer_count = given->initializer_count;
        for (int i = 0; i < given->initializer_count; i++) made->initializer[i] = compile_source(made, given, given->initializer[i], 2, 1 + i, former);
        definition *whole = flat_described(made->target);
        if (whole && is_never_made(whole)) wrong(INVIVO_E_ABSTRACT);
        check_count(given->initializer_count, made->target);
        return planned->code_count == before ? made : NULL;
    }
    definition *flat = flat_of(given, planned->defined, planned->overridden);
    made->flat = flat;
    if (flat->type < 0) { wrong(INVIVO_E_ARGUMENT); return NULL; }
    if (flat->scope == INVIVO_SCOPE_SINGLETON && flat->parameters > 0) wrong(INVIVO_E_ARITY);
    made->initializer_count = flat->initializer_count;
    for (int i = 0; i < flat->initializer_count; i++) made->initializer[i] = compile_source(made, flat, flat->initializer[i], 2, (flat->factory ? 301 : 1) + i, former);
    for (int i = 0; i < flat->property_count; i++) {
        for (int j = 0; j < i; j++) if (flat->properties[j].name == flat->properties[i].name) wrong(INVIVO_E_EXISTS);
        step step = flat->properties[i];
        step.value = compile_source(made, flat, step.value, 1, 100 + step.name, former);
        made->steps[made->step_count++] = step;
    }
    for (int i = 0; i < flat->method_count; i++) {
        step step = flat->methods[i];
        step.value = compile_source(made, flat, step.value, 1, 200 + step.name, former);
        made->steps[made->step_count++] = step;
    }
    made->scope = made->asks ? INVIVO_SCOPE_PROTOTYPE : flat->scope ? flat->scope : INVIVO_SCOPE_GRAPH;
    return planned->code_count == before ? made : NULL;
}

#endif
