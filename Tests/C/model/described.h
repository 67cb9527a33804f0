/* described.h: the model: values, and definitions with inherited fields. */
#ifndef INVIVO_TESTS_MODEL_DESCRIBED_H
#define INVIVO_TESTS_MODEL_DESCRIBED_H

#include "container.h"

/* A value of the model. */
typedef struct object object;
typedef struct callable callable;
typedef struct value {
    int kind; /* '-' null, 'n' number, 's' key name, 'o' object, 'l' list, 'm' map, 'f' callable */
    int number;
    object *object;
    callable *callable;
    struct value *items;
    int count;
} value;
typedef struct recipe recipe;
struct object {
    int serial, complete, leases; /* of the host */
    bool gone, seen;
    const recipe *recipe; /* its definition */
    value made_from[PARAMETERS + MOST_ARGUMENTS];
    int made_count;
    value arguments[MOST_ARGUMENTS]; /* the arguments of its creation */
    int argument_count;
    struct { value value; } kept[STEPS * 8]; /* values that each step injected */
    value slots[3];
    invivo_object handle;
    object *next;
};
struct callable { int key; bool is_lazy; value arguments[MOST_ARGUMENTS]; int argument_count; uint64_t version; bool knows; value known; };

typedef struct edge { int key, strength; } edge; /* 0 deferred, 1 injection, 2 initializer */
struct recipe {
    const definition *flat; /* NULL: an alias with arguments */
    int key, scope, target;
    source *initializer[STEPS];
    int initializer_count;
    step steps[STEPS * 8];
    int step_count;
    edge edges[64];
    int edge_count;
    bool asks;
    /* The targets of lookups by type, by position. */
    struct { int place; int bound[KEYS]; int count; } bindings[32];
    int binding_count;
    int looked_up[64], lookups;
};
typedef struct cell cell;
struct cell {
    const recipe *recipe;
    int state; /* 0 cold, 1 being built, 2 built */
    object *object;
    value arguments[MOST_ARGUMENTS];
    int argument_count;
    cell *variants;
};
typedef struct graph { cell *cells[KEYS]; const recipe *recipes[KEYS]; } graph;
typedef struct override { definition *definition; struct override *below; invivo_override handle; } override;

static definition *defined[KEYS];
static override *overridden[KEYS];
static graph *now;
static uint64_t versions[KEYS];
static object *objects; /* all objects that the model has created */
static int objects_made, definitions_made;

static bool is_shared(int scope) { return scope >= INVIVO_SCOPE_SINGLETON; }
static bool is_a(int type, int name, bool exact) {
    if (exact || name < TYPES) return type == name;
    return name == 3 || (name == 4) == (type == FULL);
}
static bool same(const value *a, const value *b) {
    if (a->kind != b->kind || a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) if (!same(&a->items[i], &b->items[i])) return false;
    return a->number == b->number && a->object == b->object && a->callable == b->callable;
}
static bool same_all(const value *a, int count_a, const value *b, int count_b) {
    if (count_a != count_b) return false;
    for (int i = 0; i < count_a; i++) if (!same(&a[i], &b[i])) return false;
    return true;
}
static void tell_value(const value *value) {
    switch (value->kind) {
    case 'n': say(&expected, "%d", value->number); return;
    case 's': say(&expected, "'%s'", key_names[value->number]); return;
    case 'f': say(&expected, "f"); return;
    case 'o': say(&expected, "#%d", value->object->serial); return;
    case 'l': case 'm':
        say(&expected, value->kind == 'l' ? "[" : "{");
        for (int i = 0; i < value->count; i++) {
            say(&expected, i ? "," : "");
            if (value->kind == 'm') say(&expected, "n%d:", i);
            tell_value(&value->items[i]);
        }
        say(&expected, value->kind == 'l' ? "]" : "}");
        return;
    default: say(&expected, "-");
    }
}
static int told(void) {
    expected.events++;
    if (falls(&fail_expected)) {
        say(&expected, "! ");
        return INVIVO_E_HOST;
    }
    say(&expected, " ");
    return 0;
}

/* -- describing: parents, overrides, types */

static definition *covered(definition *base, const override *top, definition *const *all);
static definition *flat_of(definition *given, definition *const *all, override *const *covers) {
    definition *line[KEYS + 1];
    int count = 0;
    for (definition *step = given; step && count <= KEYS;) {
        line[count++] = step;
        int parent = step->parent;
        if (parent < 0) break;
        step = all[parent] ? covered(all[parent], covers[parent], all) : NULL;
        for (int i = 0; i < count && step; i++) if (line[i]->key == step->key) step = NULL;
    }
    definition *flat = NEW(definition);
    *flat = *line[--count];
    while (count-- > 0) {
        definition child = *line[count], former = *flat;
        *flat = child;
        if (child.type < 0) flat->type = former.type;
        if (child.scope == 0) flat->scope = former.scope;
        if (!child.factory && child.initializer_count == 0) {
            flat->factory = former.factory;
            memcpy(flat->initializer, former.initializer, sizeof former.initializer);
            flat->initializer_count = former.initializer_count;
        }
        if (child.parameters < 0) flat->parameters = former.parameters;
        flat->property_count = 0;
        for (int i = 0; i < former.property_count; i++) {
            step chosen = former.properties[i];
            for (int j = child.property_count - 1; j >= 0; j--) if (child.properties[j].name == chosen.name) chosen = child.properties[j];
            flat->properties[flat->property_count++] = chosen;
        }
        for (int j = 0; j < child.property_count; j++) {
            bool known = false;
            for (int i = 0; i < former.property_count; i++) known |= former.properties[i].name == child.properties[j].name;
            if (!known) flat->properties[flat->property_count++] = child.properties[j];
        }
        flat->method_count = 0;
        for (int i = 0; i < former.method_count; i++) {
            bool again = false;
            for (int j = 0; j < child.method_count; j++) again |= child.methods[j].name == former.methods[i].name;
            if (!again) flat->methods[flat->method_count++] = former.methods[i];
        }
        for (int j = 0; j < child.method_count; j++) flat->methods[flat->method_count++] = child.methods[j];
        if (!child.before) flat->before = former.before;
        if (!child.after) flat->after = former.after;
        if (!child.after_all) flat->after_all = former.after_all;
    }
    return flat;
}
/* A key under an override keeps its scope, type, runtime arguments, visibility and rank, own or inherited. */
static definition *covered(definition *base, const override *top, definition *const *all) {
    if (!top) return base;
    static override *const none[KEYS];
    definition *made = NEW(definition), *flat = base->alias < 0 ? flat_of(base, all, none) : base;
    *made = *top->definition;
    /* An alias has no scope to keep: the override has its own, or is shared. */
    if (base->alias < 0) made->scope = flat->scope ? flat->scope : INVIVO_SCOPE_GRAPH;
    else if (!made->scope && made->parent < 0) made->scope = INVIVO_SCOPE_LAZY_SINGLETON;
    if (made->parameters < 0) made->parameters = flat->parameters;
    if (made->type < 0) made->type = flat->type;
    made->rank = base->rank, made->order = base->order;
    uint32_t kept = INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE;
    made->flags = (made->flags & ~kept) | (base->flags & kept);
    return made;
}

/* The effect of a change set. */
typedef struct plan {
    definition *defined[KEYS];
    override *overridden[KEYS];
    bool declared[KEYS];
    graph *next;
    int codes[64], code_count;
} plan;
static plan *planned;

static definition *described(int key) {
    definition *base = planned->defined[key];
    return base ? covered(base, planned->overridden[key], planned->defined) : NULL;
}
static definition *flat_described(int key) {
    definition *given = described(key);
    return given && given->alias < 0 ? flat_of(given, planned->defined, planned->overridden) : given;
}
static void wrong(int code) { if (planned->code_count < 64) planned->codes[planned->code_count++] = code; }

/* The candidates for a type, the best first. */
static int candidates(int name, bool exact, int *out) {
    int count = 0;
    definition *flats[KEYS];
    for (int key = 0; key < KEYS; key++) {
        definition *flat = flat_described(key);
        flats[key] = flat;
        if (!flat || flat->alias >= 0 || flat->type < 0 || (flat->flags & INVIVO_DEFINITION_ABSTRACT)) continue;
        bool own = flat->type == name;
        if (!is_a(flat->type, name, exact)) continue;
        if (flat->flags & (own ? INVIVO_DEFINITION_HIDDEN_CLASS : INVIVO_DEFINITION_HIDDEN_INTERFACE)) continue;
        int place = count++;
        while (place > 0 && (flats[out[place - 1]]->rank < flat->rank || (flats[out[place - 1]]->rank == flat->rank && flats[out[place - 1]]->order > flat->order))) {
            out[place] = out[place - 1];
            place--;
        }
        out[place] = key;
    }
    return count;
}
static int best_of(const int *list, int count) { /* -1 none, -2 several */
    if (count == 0) return -1;
    if (count > 1 && flat_described(list[0])->rank == flat_described(list[1])->rank) return -2;
    return list[0];
}

#endif
