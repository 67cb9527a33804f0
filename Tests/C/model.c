/* The container against a model: random definitions and random operations, done twice. Once by the container, through the
 * functions that every host calls; once by a simple sequential model below, which knows no threads, no generations and no
 * counts of leases. What happens must be the same: which objects are made, in which order, with what; which setters,
 * methods and hooks run; what is shared; how each call answers; which objects are gone after it.
 *
 *     model                            the sequences that every run of the tests makes
 *     model --seed N --sequences N     so many from a seed on; each has a seed of its own
 *     model ... --trace                with all that happens in them
 *     model ... --whole                one that disagrees is shown as it is
 *     model ... --on                   the seeds of all that disagree
 *
 * A sequence that disagrees is made ever less, as long as it does, and what is left is shown.
 */
#include "check.h"

enum { KEYS = 9, ITEMS = 3, STEPS = 3, MOST_EVENTS = 3000, MOST_ARGUMENTS = 3, PARAMETERS = 3 };
enum { VALUE, NOTHING, REFERENCE, BY_TYPE, ALL_OF, ARGUMENT, ARGUMENTS, LIST, SET, MAP, PATH, PROVIDER, LAZY, RESOLVER, ASKER };
enum { FULL, BARE, OWN, TYPES };
static const char *type_names[] = {"Full", "Bare", "Own", "Thing", "Loud", "Calm"};
enum { TYPE_NAMES = 6 };
static const char *key_names[KEYS] = {"m.a", "m.b", "m.c", "m.d", "m.e", "m.f", "m.g", "m.h", "m.i"};

/* ---- chance and memory ------------------------------------------------------------------------------- */

/* What chance said is kept on tapes: one for each operation, and one for each definition in it. A sequence that disagrees is
 * played again from them with ever less on them, until nothing can go: on a tape that is at its end everything is 0, and 0 is
 * the simplest answer everywhere. */
enum { SIZE = 24, OPERATIONS = SIZE + 1, PARTS = 10, MOST_DRAWS = 1 << 11 };
typedef struct tape { bool is_left_out; int count, used; uint8_t draws[MOST_DRAWS]; } tape;
static tape tapes[OPERATIONS][PARTS]; /* the first is the operation's own */
static tape *on;
static bool replays;

static uint64_t state_of_chance;
static uint64_t chance(void) {
    uint64_t z = state_of_chance += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int drawn(int made) {
    if (replays) return on->used < on->count ? on->draws[on->used++] : 0;
    if (on->count < MOST_DRAWS) on->draws[on->count++] = (uint8_t)made;
    return made;
}
static int below(int limit) { return drawn(replays ? 0 : (int)(chance() % (uint64_t)limit)) % limit; }
static bool in(int hundred) { return drawn(replays ? 0 : (int)(chance() % 100) < hundred) != 0; }

/* All that a sequence needs ends with it. */
static char *arena;
static size_t arena_used;
enum { ARENA = 64 << 20 };
static void *take(size_t size) {
    void *place = arena + arena_used;
    arena_used += (size + 15) & ~(size_t)15;
    if (arena_used > ARENA) fprintf(stderr, "model: the arena is full\n"), abort();
    return memset(place, 0, size);
}
#define NEW(type) ((type *)take(sizeof(type)))

/* ---- what happens ------------------------------------------------------------------------------------- */

typedef struct text { char *data; size_t length; int events; } text;
enum { MOST_TEXT = 1 << 20 };
static text expected, found;
static bool tracing, is_silent, has_failed;

static void say(text *into, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (into->length < MOST_TEXT - 4096)
        into->length += (size_t)vsnprintf(into->data + into->length, 4096, format, arguments);
    va_end(arguments);
}
/* Each side counts for itself to the callback that fails. */
static int fail_expected, fail_found;
static bool falls(int *counter) { return *counter > 0 && --*counter == 0; }

/* ---- definitions -------------------------------------------------------------------------------------- */

typedef struct source source;
struct source {
    int how, key, type, number;
    uint32_t flags;
    source *items[ITEMS];
    int count;
};
typedef struct step { bool is_method; int name; source *value; } step;
typedef struct definition {
    int key, scope, type, alias, parent, rank, parameters; /* -1: none */
    uint32_t flags;
    int factory; /* 0 none, 1 makes, 2 answers null */
    source *initializer[STEPS];
    step properties[STEPS * 4], methods[STEPS * 4];
    int initializer_count, property_count, method_count;
    int before, after, after_all; /* what the hook notes; 0: none */
    int order;
} definition;

/* ---- the container's side ----------------------------------------------------------------------------- */

typedef struct thing {
    int serial, type;
    uint64_t references; /* of OWN */
    invivo_object self;
    invivo_callable callables[3];
} thing;

enum { MOST_OBJECTS = 100000 };
static thing *things[MOST_OBJECTS]; /* by serial: alive */
static int things_made, things_alive;
static invivo_runtime runtime;
static invivo_key keys[KEYS];
static invivo_type types[TYPES];

static void say_value(text *into, const invivo_value *value) {
    void *instance = NULL;
    switch (value->kind) {
    case INVIVO_KIND_NULL: say(into, "-"); return;
    case INVIVO_KIND_INT64: say(into, "%lld", (long long)value->as.signed_integer); return;
    case INVIVO_KIND_STRING: say(into, "'%.*s'", (int)value->as.string.length, value->as.string.data); return;
    case INVIVO_KIND_CALLABLE: say(into, "f"); return;
    case INVIVO_KIND_LIST:
        say(into, "[");
        for (uint64_t i = 0; i < value->as.list.count; i++) say(into, i ? "," : ""), say_value(into, &value->as.list.items[i]);
        say(into, "]");
        return;
    case INVIVO_KIND_MAP:
        say(into, "{");
        for (uint64_t i = 0; i < value->as.map.count; i++)
            say(into, "%s%.*s:", i ? "," : "", (int)value->as.map.pairs[i].length, value->as.map.pairs[i].name), say_value(into, &value->as.map.pairs[i].value);
        say(into, "}");
        return;
    case INVIVO_KIND_OBJECT:
        if (invivo_object_instance(value->as.object, (invivo_type){0}, &instance, NULL)) { say(into, "#dead"); return; }
        say(into, "#%d", ((thing *)instance)->serial);
        if (things[((thing *)instance)->serial] != instance) say(into, "(disposed)");
        return;
    default: say(into, "?%d", (int)value->kind);
    }
}
static invivo_status refuse(invivo_error **error) {
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status fallible(invivo_error **error) {
    found.events++;
    if (falls(&fail_found)) {
        say(&found, "! ");
        return refuse(error);
    }
    say(&found, " ");
    return INVIVO_OK;
}

static invivo_status begin_thing(thing *self, int type, const invivo_build *build, const invivo_value *arguments, size_t count, invivo_error **error) {
    self->serial = things_made++;
    self->type = type;
    say(&found, "+%d:%s(", self->serial, build->key.bits ? invivo_key_name(build->key) : "none");
    for (size_t i = 0; i < count; i++) say(&found, i ? "," : ""), say_value(&found, &arguments[i]);
    say(&found, ")");
    invivo_status status = fallible(error);
    if (status) return status;
    things[self->serial] = self;
    things_alive++;
    return INVIVO_OK;
}
static void end_thing(thing *self) {
    if (has_failed) return;
    if (self->serial < 0 || self->serial >= things_made || things[self->serial] != self) {
        check_failed(__FILE__, __LINE__, "#%d is disposed of twice", self->serial);
        return;
    }
    things[self->serial] = NULL;
    things_alive--;
    if (tracing) fprintf(stderr, "    ~%d\n", self->serial);
}
static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    return begin_thing(instance, (int)(intptr_t)user_data, build, arguments, count, error);
}
static void thing_deinit(void *instance, void *user_data) { (void)user_data, end_thing(instance); }
static invivo_status thing_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    thing *self = calloc(1, sizeof *self);
    invivo_status status = begin_thing(self, (int)(intptr_t)user_data, build, arguments, count, error);
    if (status) free(self);
    else self->references = 1, *instance = self;
    return status;
}
static void thing_release(void *instance, void *user_data) {
    (void)user_data;
    end_thing(instance);
    free(instance);
}
static invivo_status factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    int type = 0; /* a child may have another type than its parent, whose factory it takes over */
    (void)user_data;
    while (type < OWN && types[type].bits != build->type.bits) type++;
    return type == OWN ? thing_make(instance, build, arguments, count, (void *)(intptr_t)type, error)
                       : thing_init(*instance, build, arguments, count, (void *)(intptr_t)type, error);
}
static invivo_status null_factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    (void)arguments, (void)count, (void)user_data;
    say(&found, "0:%s", invivo_key_name(build->key));
    invivo_status status = fallible(error);
    *instance = NULL;
    return status;
}
static invivo_status thing_will(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    say(&found, "%d:will", ((thing *)instance)->serial);
    return fallible(error);
}
static invivo_status thing_did(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    say(&found, "%d:did", ((thing *)instance)->serial);
    return fallible(error);
}
static invivo_status get_slot(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static invivo_status get_serial(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_int64(((thing *)instance)->serial);
    return INVIVO_OK;
}
static invivo_status set_slot(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    thing *self = instance;
    say(&found, "%d.p%d=", self->serial, (int)(intptr_t)user_data);
    say_value(&found, value);
    invivo_status status = fallible(error);
    if (!status) self->callables[(intptr_t)user_data] = value->kind == INVIVO_KIND_CALLABLE ? value->as.callable : (invivo_callable){0};
    return status;
}
static invivo_status call_slot(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)result;
    say(&found, "%d.m%d(", ((thing *)instance)->serial, (int)(intptr_t)user_data);
    for (size_t i = 0; i < count; i++) say(&found, i ? "," : ""), say_value(&found, &arguments[i]);
    say(&found, ")");
    return fallible(error);
}
static invivo_status call_note(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)result, (void)user_data, (void)count;
    say(&found, "%d:note%lld", ((thing *)instance)->serial, (long long)arguments[0].as.signed_integer);
    return fallible(error);
}

static const invivo_parameter thing_parameters[] = {
    {.name = "x", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "y", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "z", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_parameter note_parameters[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
#define SLOT(index) {.struct_size = sizeof(invivo_property), .name = "p" #index, .kind = INVIVO_KIND_ANY, .get = get_slot, .set = set_slot, .user_data = (void *)index}
static const invivo_property thing_properties[] = {
    SLOT(0), SLOT(1), SLOT(2),
    {.struct_size = sizeof(invivo_property), .name = "serial", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PROPERTY_READ_ONLY, .get = get_serial},
};
#define METHOD(index) {.struct_size = sizeof(invivo_method), .name = "m" #index, .parameters = thing_parameters, .parameter_count = 1, .call = call_slot, .user_data = (void *)index}
static const invivo_method thing_methods[] = {
    METHOD(0), METHOD(1), METHOD(2),
    {.struct_size = sizeof(invivo_method), .name = "note", .parameters = note_parameters, .parameter_count = 1, .call = call_note},
};

static void open_runtime(void) {
    static const char *loud[] = {"Thing", "Loud"}, *calm[] = {"Thing", "Calm"};
    OK(invivo_runtime_open(&runtime, NULL, E));
    for (int i = 0; i < TYPES; i++) {
        invivo_type_options options = {
            .struct_size = sizeof options, .name = type_names[i], .concurrency = INVIVO_CONFINED, .supertypes = i == FULL ? loud : calm, .supertype_count = 2,
            .parameters = thing_parameters, .parameter_count = PARAMETERS, .properties = thing_properties, .property_count = 4,
            .methods = thing_methods, .method_count = 4, .user_data = (void *)(intptr_t)i};
        if (i == OWN) options.make = thing_make, options.release = thing_release;
        else options.size = sizeof(thing), options.alignment = _Alignof(thing), options.init = thing_init, options.deinit = thing_deinit;
        if (i == FULL) options.will_inject = thing_will, options.did_inject = thing_did;
        OK(invivo_type_register(runtime, &options, &types[i], E));
    }
    for (int i = 0; i < KEYS; i++) OK(invivo_key_intern(runtime, key_names[i], &keys[i], E));
}

/* ---- the model ---------------------------------------------------------------------------------------- */

/* A value as the model knows it. */
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
    int serial, complete, leases; /* the host's */
    bool gone, seen;
    const recipe *recipe; /* what it was made by */
    value made_from[PARAMETERS + MOST_ARGUMENTS];
    int made_count;
    value arguments[MOST_ARGUMENTS]; /* with which it was made */
    int argument_count;
    struct { value value; } kept[STEPS * 8]; /* what each step injected */
    value slots[3];
    invivo_object handle;
    object *next;
};
struct callable { int key; bool is_lazy; value arguments[MOST_ARGUMENTS]; int argument_count; uint64_t version; bool knows; value known; };

typedef struct edge { int key, strength; } edge; /* 0 late, 1 injection, 2 initializer */
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
    /* What lookups by type were bound to, by their places. */
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
static object *objects; /* all that the model has ever made */
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
/* A key under an override keeps its scope, type, runtime arguments, visibility and rank, wherever it has them from. */
static definition *covered(definition *base, const override *top, definition *const *all) {
    if (!top) return base;
    static override *const none[KEYS];
    definition *made = NEW(definition), *flat = base->alias < 0 ? flat_of(base, all, none) : base;
    *made = *top->definition;
    made->scope = flat->scope ? flat->scope : INVIVO_SCOPE_GRAPH;
    if (made->parameters < 0) made->parameters = flat->parameters;
    if (made->type < 0) made->type = flat->type;
    made->rank = base->rank, made->order = base->order;
    uint32_t kept = INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE;
    made->flags = (made->flags & ~kept) | (base->flags & kept);
    return made;
}

/* What a change set leads to. */
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

/* Candidates for a type, the best first. */
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

/* -- compiling */

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
/* The second lookup at one place, of a method that is called twice, is another. */
static int lookup_place(recipe *recipe, int place) {
    int number = 0;
    for (int i = 0; i < recipe->lookups; i++) number += recipe->looked_up[i] == place;
    recipe->looked_up[recipe->lookups++] = place;
    return place + number * 100000000;
}
/* `place` names where in the definition it stands, items in items too. */
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
        for (int i = 0; i < given->count; i++) made->items[i] = compile_source(recipe, flat, given->items[i], strength, place * 16 + 1 + i, former);
        if (strength && given->count > 0 && target->alias < 0) {
            definition *whole = flat_described(given->key);
            if (whole->parameters >= 0 && given->count > whole->parameters) wrong(INVIVO_E_ARITY);
        }
        return made;
    }
    case BY_TYPE: {
        place = lookup_place(recipe, place);
        int list[KEYS], count = candidates(given->type, given->flags & INVIVO_INJECT_EXACT, list), kept = 0, chosen = -1;
        for (int i = 0; i < count; i++) if (list[i] != recipe->key) list[kept++] = list[i];
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
        if (made->items[0]->how == NOTHING) return constant_null(); /* an optional one of nothing */
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
        if (whole && whole->alias < 0 && whole->parameters >= 0 && given->initializer_count > whole->parameters) wrong(INVIVO_E_ARITY);
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

/* -- making: chains as the header tells of them */

typedef struct frame {
    const recipe *recipe;
    value arguments[MOST_ARGUMENTS];
    int argument_count;
    cell *cell;
    object *object;
    int asker, mark, low, temps;
    bool is_null; /* what makes it answered null */
} frame;
typedef struct deferred { int frame; frame whose; step step; int index; bool done, let_go; } deferred;
typedef struct entry { const recipe *recipe; value arguments[MOST_ARGUMENTS]; int argument_count; object *object; cell *cell; int low; } entry;
enum { DEEPEST = 256, MOST_MADE = 4096 };
typedef struct chain {
    graph *graph;
    frame frames[DEEPEST + 2];
    int frame_count;
    entry made[MOST_MADE];
    int made_count;
    struct { frame whose; } completed[MOST_MADE];
    int completed_count;
    deferred deferred[MOST_MADE];
    int deferred_count;
    value temps[MOST_MADE]; /* what is held while a step is worked out */
    int temp_count;
    int later;
    int depth;
} chain;
static chain *current;
static bool too_much; /* the sequence is given up: more happens than is of use */

static int resolve(int key, const value *arguments, int count, value *out);

static void hold(value value) {
    if (current->temp_count < MOST_MADE) current->temps[current->temp_count++] = value;
    else too_much = true;
}
static void reach(const value *value);
static void reach_object(object *object) {
    if (!object || object->seen) return;
    object->seen = true;
    for (int i = 0; i < object->made_count; i++) reach(&object->made_from[i]);
    for (int i = 0; i < STEPS * 8; i++) reach(&object->kept[i].value);
}
static void reach(const value *value) {
    if (value->kind == 'o') reach_object(value->object);
    for (int i = 0; i < value->count; i++) reach(&value->items[i]);
    if (value->kind == 'f') {
        for (int i = 0; i < value->callable->argument_count; i++) reach(&value->callable->arguments[i]);
        /* Of what a reload has made another one, a lazy knows nothing any more. */
        if (value->callable->knows && value->callable->version == versions[value->callable->key]) reach(&value->callable->known);
    }
}
static void reach_graph(graph *graph) {
    for (int key = 0; graph && key < KEYS; key++) {
        for (cell *cell = graph->cells[key]; cell; cell = cell->variants) {
            if (cell->state == 2 && cell->recipe->scope != INVIVO_SCOPE_WEAK_SINGLETON) reach_object(cell->object);
            /* Of weak ones that are gone too: those are looked through when there are many. */
            for (int i = 0; i < cell->argument_count; i++) reach(&cell->arguments[i]);
        }
    }
}
/* Marks what somebody holds. */
static graph *also; /* the graph of a reload under way */
static cell *held_by_commit[MOST_MADE]; /* what a reload made is there until it is over, and gone if that fails */
static int held_count;
/* For one reload: what of a kept object is injected again. */
typedef struct again { const recipe *recipe, *former_recipe; object *object; const bool *changed; value former[STEPS * 8]; int done; } again;
static again *agains; /* what they had is there until it is over: it may have to be put back */
static int again_count;
static void reach_frame(const frame *frame) {
    reach_object(frame->object);
    for (int i = 0; i < frame->argument_count; i++) reach(&frame->arguments[i]);
}
static void reach_all(void) {
    for (object *object = objects; object; object = object->next) object->seen = false;
    for (object *object = objects; object; object = object->next) if (object->leases > 0) reach_object(object);
    reach_graph(now), reach_graph(also);
    for (int i = 0; also && i < held_count; i++) reach_object(held_by_commit[i]->object);
    for (int i = 0; also && i < again_count; i++)
        for (int j = 0; j < STEPS * 8; j++) reach(&agains[i].former[j]);
    if (!current) return;
    for (int i = 0; i < current->temp_count; i++) reach(&current->temps[i]);
    for (int i = 0; i < current->made_count; i++) {
        reach_object(current->made[i].object);
        for (int j = 0; j < current->made[i].argument_count; j++) reach(&current->made[i].arguments[j]);
    }
    for (int i = 0; i < current->completed_count; i++) reach_frame(&current->completed[i].whose);
    for (int i = 0; i < current->deferred_count; i++) if (!current->deferred[i].let_go) reach_frame(&current->deferred[i].whose);
    for (int i = 0; i < current->frame_count; i++) reach_frame(&current->frames[i]);
}
static bool is_held(object *object) {
    reach_all();
    return object->seen;
}

static int evaluate_all(source *const *sources, int count, const frame *whose, value *out);
static int evaluate(const source *source, const frame *whose, value *out) {
    int status, temps = current->temp_count;
    *out = (value){.kind = '-'};
    switch (source->how) {
    case VALUE: out->kind = 'n', out->number = source->number; return 0;
    case REFERENCE: {
        value given[MOST_ARGUMENTS];
        if ((status = evaluate_all(source->items, source->count, whose, given))) return status;
        status = resolve(source->key, given, source->count, out);
        break;
    }
    case ALL_OF: {
        value *items = take(sizeof(value) * KEYS);
        int count = 0;
        for (int i = 0; i < source->number; i++) {
            if ((status = resolve(whose->recipe->bindings[source->key].bound[i], NULL, 0, &items[count]))) return status;
            hold(items[count]);
            if (items[count].kind != '-') count++;
        }
        *out = (value){.kind = 'l', .items = items, .count = count};
        return 0;
    }
    case ARGUMENT: if (source->number < whose->argument_count) *out = whose->arguments[source->number]; return 0;
    case ARGUMENTS:
        *out = (value){.kind = 'l', .count = whose->argument_count, .items = take(sizeof(value) * MOST_ARGUMENTS)};
        memcpy(out->items, whose->arguments, sizeof(value) * (size_t)whose->argument_count);
        return 0;
    case LIST: case SET: case MAP: {
        value *items = take(sizeof(value) * ITEMS);
        if ((status = evaluate_all(source->items, source->count, whose, items))) return status;
        int count = source->count;
        if (source->how == SET) {
            count = 0;
            for (int i = 0; i < source->count; i++) {
                bool known = false;
                for (int j = 0; j < count; j++) known |= same(&items[j], &items[i]);
                if (!known) items[count++] = items[i];
            }
        }
        *out = (value){.kind = source->how == MAP ? 'm' : 'l', .items = items, .count = count};
        return 0;
    }
    case PATH: {
        value from;
        if ((status = evaluate(source->items[0], whose, &from))) return status;
        current->temp_count = temps; /* what is only read from is not held */
        if (from.kind == '-') return source->flags & INVIVO_INJECT_OPTIONAL ? 0 : INVIVO_E_NULL;
        if (from.kind != 'o') return INVIVO_E_NULL;
        *out = (value){.kind = 'n', .number = from.object->serial};
        return 0;
    }
    case PROVIDER: case LAZY:
        out->kind = 'f', out->callable = NEW(callable);
        out->callable->key = source->items[0]->key, out->callable->is_lazy = source->how == LAZY;
        out->callable->argument_count = source->items[0]->count;
        return evaluate_all(source->items[0]->items, source->items[0]->count, whose, out->callable->arguments);
    case RESOLVER: out->kind = 'f', out->callable = NEW(callable), out->callable->key = -1; return 0;
    case ASKER: if (whose->asker >= 0) out->kind = 's', out->number = whose->asker; return 0;
    default: return 0;
    }
    current->temp_count = temps;
    if (!status) hold(*out);
    return status;
}
static int evaluate_all(source *const *sources, int count, const frame *whose, value *out) {
    for (int i = 0; i < count; i++) {
        int status = evaluate(sources[i], whose, &out[i]);
        if (status) return status;
    }
    return 0;
}

static void hold_to(int frame) {
    for (int i = frame + 1; i < current->frame_count; i++) if (current->frames[i].low > frame) current->frames[i].low = frame;
}
typedef struct marks { int made, completed, deferred, temps; } marks;
static marks mark(void) { return (marks){current->made_count, current->completed_count, current->deferred_count, current->temp_count}; }
/* What was made since leaves nothing behind, but for shared objects that were complete. */
static void take_back(marks to) {
    for (int i = to.made; i < current->made_count; i++) if (current->made[i].cell) current->made[i].cell->state = 0;
    current->made_count = to.made, current->completed_count = to.completed, current->deferred_count = to.deferred, current->temp_count = to.temps;
}

static int apply(step step, int index, frame *whose) {
    object *object = whose->object;
    int status, temps = current->temp_count;
    value value;
    if ((status = evaluate(step.value, whose, &value))) return status;
    if (!step.is_method) {
        if (value.kind == '-' && step.value->how == REFERENCE && !(step.value->flags & INVIVO_INJECT_OPTIONAL)) return INVIVO_E_NULL;
        say(&expected, "%d.p%d=", object->serial, step.name);
        tell_value(&value);
        if ((status = told())) return status;
        object->slots[step.name] = value;
    } else {
        say(&expected, "%d.m%d(", object->serial, step.name);
        tell_value(&value);
        say(&expected, ")");
        if ((status = told())) return status;
    }
    object->kept[index].value = value;
    current->temp_count = temps;
    return 0;
}
static int run_step(step step, int index, frame *whose, int place) {
    marks before = mark();
    current->later = -1;
    int status = apply(step, index, whose);
    if (status != INVIVO_E_CYCLE || current->later < 0 || current->later >= place) return status;
    int later = current->later;
    current->later = -1;
    take_back(before);
    current->deferred[current->deferred_count++] = (deferred){.frame = later, .whose = *whose, .step = step, .index = index};
    hold_to(later);
    return 0;
}
static int note(object *object, int number) {
    if (!number) return 0;
    say(&expected, "%d:note%d", object->serial, number);
    return told();
}
static int inject(frame *whose, int place) {
    const definition *flat = whose->recipe->flat;
    object *object = whose->object;
    int status;
    if (flat->type == FULL) {
        say(&expected, "%d:will", object->serial);
        if ((status = told())) return status;
    }
    if ((status = note(object, flat->before))) return status;
    for (int i = 0; i < whose->recipe->step_count; i++) if ((status = run_step(whose->recipe->steps[i], i, whose, place))) return status;
    return note(object, flat->after);
}

/* The steps that waited for a frame, each as if its object were made just now. */
static int run_deferred(int place) {
    for (int i = 0; i < current->deferred_count; i++) {
        if (current->deferred[i].frame != place || current->deferred[i].done) continue;
        current->deferred[i].done = true;
        deferred step = current->deferred[i];
        frame *own = &current->frames[current->frame_count++];
        *own = step.whose;
        own->low = current->frame_count - 1, own->mark = current->made_count, own->cell = NULL;
        int status = apply(step.step, step.index, own);
        own = &current->frames[--current->frame_count];
        if (own->low < current->frames[current->frame_count - 1].low) current->frames[current->frame_count - 1].low = own->low;
        if (status) return status;
    }
    /* Their objects are held until all of them are taken. */
    for (int i = 0; i < current->deferred_count; i++) if (current->deferred[i].frame == place && current->deferred[i].done) current->deferred[i].let_go = true;
    return 0;
}
static int make_instance(int place) {
    frame *frame = &current->frames[place];
    const recipe *recipe = frame->recipe;
    const definition *flat = recipe->flat;
    int status, temps = current->temp_count;
    value values[PARAMETERS + MOST_ARGUMENTS];
    int count = recipe->initializer_count;
    if (flat->flags & INVIVO_DEFINITION_ABSTRACT) return INVIVO_E_ABSTRACT;
    if ((status = evaluate_all(recipe->initializer, count, frame, values))) return status;
    frame = &current->frames[place];
    if (flat->parameters < 0) for (int i = 0; i < frame->argument_count; i++) values[count++] = frame->arguments[i];
    if (!flat->factory && count > PARAMETERS) return INVIVO_E_ARITY;
    if (flat->factory == 2) {
        say(&expected, "0:%s", key_names[recipe->key]);
        if ((status = told())) return status;
        current->temp_count = temps;
        if (!(flat->flags & INVIVO_DEFINITION_NULLABLE)) return INVIVO_E_NULL;
        current->frames[place].is_null = true;
        return run_deferred(place);
    }
    object *made = NEW(object);
    made->serial = objects_made++;
    if (objects_made >= MOST_OBJECTS - 10) too_much = true;
    say(&expected, "+%d:%s(", made->serial, key_names[recipe->key]);
    for (int i = 0; i < count; i++) say(&expected, i ? "," : ""), tell_value(&values[i]);
    say(&expected, ")");
    if ((status = told())) return status;
    made->next = objects, objects = made;
    made->recipe = recipe;
    memcpy(made->made_from, values, sizeof(value) * (size_t)count);
    made->made_count = recipe->initializer_count; /* runtime arguments are the caller's */
    made->argument_count = frame->argument_count;
    memcpy(made->arguments, frame->arguments, sizeof made->arguments);
    frame->object = made;
    current->temp_count = temps;
    if ((status = run_deferred(place))) return status;
    if ((status = inject(&current->frames[place], place))) return status;
    static int completions;
    current->frames[place].object->complete = ++completions;
    if (flat->after_all || flat->type == FULL) {
        current->completed[current->completed_count++].whose = current->frames[place];
        current->frames[place].low = 0;
    }
    return 0;
}
static void settle_shared(int from) {
    int kept = from;
    for (int i = from; i < current->made_count; i++) {
        entry *entry = &current->made[i];
        if (!entry->cell) {
            current->made[kept++] = *entry;
            continue;
        }
        entry->cell->state = 2, entry->cell->object = entry->object;
        if (also && held_count < MOST_MADE) held_by_commit[held_count++] = entry->cell;
    }
    current->made_count = kept;
}
static int make(const recipe *recipe, const value *arguments, int count, cell *cell, value *out) {
    int place = current->frame_count;
    marks before = mark();
    if (expected.events > MOST_EVENTS || current->made_count > MOST_MADE - 64 || current->completed_count > MOST_MADE - 64 || current->deferred_count > MOST_MADE - 64) too_much = true;
    if (too_much) return INVIVO_E_TOO_LARGE;
    frame *frame = &current->frames[current->frame_count++];
    *frame = (struct frame){.recipe = recipe, .argument_count = count, .cell = cell, .mark = before.made, .low = place,
                            .asker = place > 0 ? current->frames[place - 1].recipe->key : -1};
    if (count) memcpy(frame->arguments, arguments, sizeof(value) * (size_t)count);
    int status = make_instance(place);
    struct frame ended = current->frames[--current->frame_count];
    *out = (value){.kind = '-'};
    if (status) {
        take_back(before);
        return status;
    }
    if (ended.object) *out = (value){.kind = 'o', .object = ended.object};
    if (ended.object && (cell || recipe->scope == INVIVO_SCOPE_GRAPH)) {
        entry *made = &current->made[current->made_count++];
        *made = (entry){.recipe = recipe, .argument_count = count, .object = ended.object, .cell = cell, .low = ended.low < place ? ended.low : INT32_MAX};
        if (count) memcpy(made->arguments, arguments, sizeof(value) * (size_t)count);
    }
    if (ended.low < place) {
        if (current->frames[place - 1].low > ended.low) current->frames[place - 1].low = ended.low;
        return 0;
    }
    for (int i = ended.mark; i < current->made_count; i++) if (current->made[i].low >= place) current->made[i].low = INT32_MAX;
    if (place > 0) settle_shared(ended.mark);
    return 0;
}
static int in_flight(int place, value *out) {
    if (current->frames[place].is_null) return 0;
    if (!current->frames[place].object) {
        current->later = place;
        return INVIVO_E_CYCLE;
    }
    hold_to(place);
    *out = (value){.kind = 'o', .object = current->frames[place].object};
    return 0;
}
static int take_made(const entry *entry, value *out) {
    if (entry->low < current->frame_count) hold_to(entry->low);
    *out = (value){.kind = 'o', .object = entry->object};
    return 0;
}

static int resolve(int key, const value *arguments, int count, value *out) {
    *out = (value){.kind = '-'};
    const recipe *recipe = current->graph->recipes[key];
    if (!recipe) return INVIVO_E_NOT_FOUND;
    if (current->frame_count >= DEEPEST) return INVIVO_E_CYCLE;
    if (recipe->target >= 0) {
        value bound[MOST_ARGUMENTS * 2];
        frame alias = {.recipe = recipe, .argument_count = count, .asker = -1};
        if (count) memcpy(alias.arguments, arguments, sizeof(value) * (size_t)count);
        int status = evaluate_all(recipe->initializer, recipe->initializer_count, &alias, bound);
        if (status) return status;
        if (recipe->initializer_count + count > MOST_ARGUMENTS) return INVIVO_E_ARITY;
        if (count) memcpy(bound + recipe->initializer_count, arguments, sizeof(value) * (size_t)count);
        return resolve(recipe->target, bound, recipe->initializer_count + count, out);
    }
    value given[MOST_ARGUMENTS] = {0};
    if (count) memcpy(given, arguments, sizeof(value) * (size_t)count);
    if (recipe->flat->parameters < 0) {
        if (count > 0 && is_shared(recipe->scope)) return INVIVO_E_ARITY;
    } else {
        if (count > recipe->flat->parameters) return INVIVO_E_ARITY;
        while (count < recipe->flat->parameters) given[count++] = (value){.kind = '-'};
    }
    if (!is_shared(recipe->scope)) {
        for (int i = current->frame_count - 1; i >= 0; i--) {
            frame *frame = &current->frames[i];
            if (frame->recipe == recipe && !frame->cell && same_all(frame->arguments, frame->argument_count, given, count)) return in_flight(i, out);
        }
        if (recipe->scope == INVIVO_SCOPE_GRAPH) {
            for (int i = current->made_count - 1; i >= 0; i--) {
                entry *entry = &current->made[i];
                if (entry->recipe == recipe && !entry->cell && same_all(entry->arguments, entry->argument_count, given, count)) return take_made(entry, out);
            }
        }
        return make(recipe, given, count, NULL, out);
    }
    cell *cell = current->graph->cells[recipe->key];
    int variants = 0;
    while (cell && !same_all(cell->arguments, cell->argument_count, given, count)) {
        if (!cell->variants) {
            cell->variants = NEW(struct cell);
            cell->variants->recipe = recipe, cell->variants->argument_count = count;
            memcpy(cell->variants->arguments, given, sizeof given);
        }
        cell = cell->variants;
        if (++variants >= 15 && recipe->scope == INVIVO_SCOPE_WEAK_SINGLETON) too_much = true;
    }
    if (cell->state == 2 && (recipe->scope != INVIVO_SCOPE_WEAK_SINGLETON || (!cell->object->gone && is_held(cell->object)))) {
        *out = (value){.kind = 'o', .object = cell->object};
        return 0;
    }
    if (cell->state == 1) {
        for (int i = current->frame_count - 1; i >= 0; i--) if (current->frames[i].cell == cell) return in_flight(i, out);
        for (int i = current->made_count - 1; i >= 0; i--) if (current->made[i].cell == cell) return take_made(&current->made[i], out);
        return INVIVO_E_CYCLE;
    }
    cell->state = 1;
    int status = make(recipe, given, count, cell, out);
    if (status || out->kind == '-') cell->state = 0;
    return status;
}

/* An outermost resolve: `body` in a chain, and then the hooks for its end. */
typedef int (*body_function)(void *context, value *out);
static int whole(graph *graph, body_function body, void *context, value *out) {
    static chain chains[2];
    chain *outer = current;
    current = &chains[outer != NULL];
    memset(current, 0, offsetof(chain, frames));
    current->graph = graph, current->later = -1;
    current->frame_count = current->made_count = current->completed_count = current->deferred_count = current->temp_count = 0;
    int status = body(context, out);
    if (!status) hold(*out);
    for (int i = 0; !status && i < current->completed_count; i++) {
        frame *whose = &current->completed[i].whose;
        if ((status = note(whose->object, whose->recipe->flat->after_all))) break;
        if (whose->recipe->flat->type != FULL) continue;
        say(&expected, "%d:did", whose->object->serial);
        status = told();
    }
    if (status) take_back((marks){0});
    else settle_shared(0);
    current->made_count = current->frame_count = current->completed_count = current->deferred_count = current->temp_count = 0;
    current = outer;
    return status;
}
typedef struct wish { int key; const value *arguments; int count; } wish;
static int resolve_wish(void *context, value *out) {
    wish *wish = context;
    return resolve(wish->key, wish->arguments, wish->count, out);
}

/* -- reloads */

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
/* The key that is really made when `key` is: aliases without arguments are nothing of their own. */
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
/* What is bound to nothing now was bound to something. */
static bool is_again(const again *again, int i) {
    return names(again->recipe, again->recipe->steps[i].value, again->changed)
        || (!again->changed && names(again->former_recipe, again->former_recipe->steps[i].value, NULL));
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

static bool same_initializer_edges(const recipe *a, const recipe *b) {
    for (int key = 0; key < KEYS; key++) {
        bool in_a = false, in_b = false;
        for (int i = 0; i < a->edge_count; i++) in_a |= a->edges[i].key == key && a->edges[i].strength == 2;
        for (int i = 0; i < b->edge_count; i++) in_b |= b->edges[i].key == key && b->edges[i].strength == 2;
        if (in_a != in_b) return false;
    }
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

/* Commits `plan`: 0, or a status. With the status of a plan that is refused, `plan->codes` says all that is wrong. */
static int commit(plan *plan) {
    planned = plan;
    graph *next = NEW(graph);
    *next = *now;
    plan->next = next;
    /* What has a changed parent is another definition too. */
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
    /* Recipes of what changes, and of what looks for types or needs what goes. */
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
        /* What is under an override is still there. */
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
    /* Who follows: along the edges of what there was, to the end. */
    bool remade[KEYS] = {false}, injected[KEYS] = {false}, cold[KEYS] = {false}, kept_rebound[KEYS] = {false};
    int queue[KEYS], count = 0;
    for (int key = 0; key < KEYS; key++) if (plan->declared[key]) queue[count++] = key, remade[key] = true;
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
    int builds[KEYS], build_count = 0;
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
    /* Aliases without arguments show what they name. */
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
    /* What was there before; what the commit makes with other arguments has got what is new. */
    again *list = agains = take(sizeof(again) * 256);
    for (int key = 0; key < KEYS; key++) {
        if ((!injected[key] && !kept_rebound[key]) || remade[key]) continue;
        /* In the order in which they were complete. */
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
    for (int i = 0; i < build_count && !status; i++) status = whole(next, resolve_wish, &(wish){.key = builds[i]}, &ignored);
    for (int i = 0; i < again_count && !status; i++) status = whole(next, reinject, &list[i], &ignored);
    if (status) {
        /* Everything that was injected again gets back what it had, the last first. */
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
    /* Its version changes with how it is made too, whatever it is called. */
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

/* ---- both sides --------------------------------------------------------------------------------------- */

static uint64_t seed_of_this;
static void differ(const char *format, ...) {
    va_list arguments;
    char text[8000];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!has_failed && !is_silent) check_failed(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed_of_this, text);
    has_failed = true;
}

static const char *slot_names[] = {"p0", "p1", "p2"}, *method_names[] = {"m0", "m1", "m2"}, *pair_names[] = {"n0", "n1", "n2"};
static const char *parameter_names[] = {"x", "y", "z"};
static void describe_source(const source *from, invivo_injection *into) {
    static const uint32_t how[] = {INVIVO_INJECT_VALUE, INVIVO_INJECT_VALUE, INVIVO_INJECT_REFERENCE, INVIVO_INJECT_TYPE, INVIVO_INJECT_ALL,
        INVIVO_INJECT_ARGUMENT, INVIVO_INJECT_ARGUMENTS, INVIVO_INJECT_LIST, INVIVO_INJECT_SET, INVIVO_INJECT_MAP, INVIVO_INJECT_PATH,
        INVIVO_INJECT_PROVIDER, INVIVO_INJECT_LAZY, INVIVO_INJECT_RESOLVER, INVIVO_INJECT_ASKER};
    invivo_injection *items = from->count ? take(sizeof *items * (size_t)from->count) : NULL;
    into->how = how[from->how], into->flags = from->flags;
    if (from->how == VALUE) into->value = invivo_int64(from->number);
    if (from->how == REFERENCE) into->reference = key_names[from->key];
    if (from->how == BY_TYPE || from->how == ALL_OF) into->reference = type_names[from->type];
    if (from->how == ARGUMENT) into->index = (uint64_t)from->number;
    if (from->how == PATH) into->reference = "serial";
    for (int i = 0; i < from->count; i++) {
        describe_source(from->items[i], &items[i]);
        if (from->how == MAP) items[i].name = pair_names[i];
    }
    into->items = items, into->item_count = (uint64_t)from->count;
}
static invivo_definition *describe(const definition *from) {
    static const invivo_parameter any[] = {
        {.name = "i", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}, {.name = "j", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_definition *into = NEW(invivo_definition);
    into->struct_size = sizeof *into;
    into->key = key_names[from->key], into->scope = (uint32_t)from->scope, into->flags = from->flags, into->rank = from->rank;
    if (from->type >= 0) into->type = types[from->type];
    if (from->alias >= 0) into->alias = key_names[from->alias];
    if (from->parent >= 0) into->parent = key_names[from->parent];
    if (from->parameters > 0) into->parameters = any, into->parameter_count = (uint64_t)from->parameters;
    if (from->factory) into->factory = from->factory == 1 ? factory : null_factory;
    invivo_injection *initializer = take(sizeof *initializer * STEPS), *properties = take(sizeof *properties * STEPS), *arguments = take(sizeof *arguments * STEPS);
    invivo_invocation *methods = take(sizeof *methods * STEPS), *hooks = take(sizeof *hooks * 3);
    invivo_injection *notes = take(sizeof *notes * 3);
    for (int i = 0; i < from->initializer_count; i++) {
        describe_source(from->initializer[i], &initializer[i]);
        if (from->alias < 0 && !from->factory && in(50)) initializer[i].name = parameter_names[i];
    }
    for (int i = 0; i < from->property_count; i++) describe_source(from->properties[i].value, &properties[i]), properties[i].name = slot_names[from->properties[i].name];
    for (int i = 0; i < from->method_count; i++) {
        describe_source(from->methods[i].value, &arguments[i]);
        methods[i] = (invivo_invocation){.method = method_names[from->methods[i].name], .arguments = &arguments[i], .argument_count = 1};
    }
    int numbers[] = {from->before, from->after, from->after_all};
    for (int i = 0; i < 3; i++) {
        notes[i] = (invivo_injection){.how = INVIVO_INJECT_VALUE, .value = invivo_int64(numbers[i])};
        hooks[i] = (invivo_invocation){.method = "note", .arguments = &notes[i], .argument_count = 1};
    }
    into->initializer = initializer, into->initializer_count = (uint64_t)from->initializer_count;
    into->properties = properties, into->property_count = (uint64_t)from->property_count;
    into->methods = methods, into->method_count = (uint64_t)from->method_count;
    into->before = &hooks[0], into->before_count = from->before != 0;
    into->after = &hooks[1], into->after_count = from->after != 0;
    into->after_all = &hooks[2], into->after_all_count = from->after_all != 0;
    return into;
}

/* -- random definitions */

static int some_key(const plan *plan) {
    for (int i = 0; i < 20; i++) {
        int key = below(KEYS);
        if (plan->defined[key]) return key;
    }
    return below(KEYS);
}
static source *random_source(const plan *plan, const definition *owner, int depth) {
    source *made = NEW(source);
    int kind = below(100);
    if (depth > 1) kind = kind % 62;
    made->flags = in(15) ? INVIVO_INJECT_OPTIONAL : 0;
    if (kind < 8) {
        made->how = in(80) ? VALUE : NOTHING, made->number = below(5);
    } else if (kind < 46) {
        made->how = REFERENCE, made->key = in(97) ? some_key(plan) : below(KEYS);
        definition *target = plan->defined[made->key];
        int count = target && target->parameters > 0 ? below(target->parameters + 1) : in(1);
        for (int i = 0; i < count; i++) {
            made->items[made->count] = NEW(source);
            *made->items[made->count] = (source){.how = VALUE, .number = below(3)};
            if (owner->parameters > 0 && in(40)) *made->items[made->count] = (source){.how = ARGUMENT, .number = below(owner->parameters)};
            if (depth < 2 && in(8)) *made->items[made->count] = (source){.how = REFERENCE, .key = some_key(plan)};
            made->count++;
        }
    } else if (kind < 52) {
        made->how = BY_TYPE, made->type = below(TYPE_NAMES), made->flags |= in(30) ? INVIVO_INJECT_GREEDY : 0;
        if (in(70)) made->flags |= INVIVO_INJECT_OPTIONAL;
    } else if (kind < 56) {
        made->how = owner->parameters > 0 ? (in(70) ? ARGUMENT : ARGUMENTS) : ASKER;
        made->number = owner->parameters > 0 ? below(owner->parameters) : 0;
        if (made->how == ASKER && in(60)) made->how = VALUE, made->number = 7;
    } else if (kind < 62) {
        made->how = PATH, made->items[0] = NEW(source), made->count = 1;
        *made->items[0] = (source){.how = REFERENCE, .key = some_key(plan), .flags = made->flags};
    } else if (kind < 68) {
        made->how = ALL_OF, made->type = below(TYPE_NAMES), made->flags = in(20) ? INVIVO_INJECT_EXACT : 0;
    } else if (kind < 84) {
        made->how = kind < 76 ? LIST : kind < 80 ? SET : MAP, made->count = 1 + below(ITEMS);
        for (int i = 0; i < made->count; i++) made->items[i] = random_source(plan, owner, depth + 1);
    } else if (kind < 97) {
        made->how = kind < 91 ? PROVIDER : LAZY, made->count = 1, made->items[0] = NEW(source);
        *made->items[0] = (source){.how = REFERENCE, .key = some_key(plan), .flags = made->flags};
        if (in(20)) *made->items[0] = (source){.how = BY_TYPE, .type = below(TYPE_NAMES), .flags = INVIVO_INJECT_OPTIONAL};
        else if (plan->defined[made->items[0]->key] && plan->defined[made->items[0]->key]->parameters > 0 && in(50)) {
            made->items[0]->items[0] = NEW(source), made->items[0]->count = 1;
            *made->items[0]->items[0] = (source){.how = VALUE, .number = below(3)};
        }
    } else {
        made->how = RESOLVER;
    }
    if (made->how != REFERENCE && made->how != BY_TYPE && made->how != PATH && made->how != ALL_OF) made->flags = 0;
    if (made->how == PATH) made->flags &= INVIVO_INJECT_OPTIONAL;
    return made;
}
static definition *random_definition(const plan *plan, int key) {
    definition *made = NEW(definition);
    *made = (definition){.key = key, .type = below(TYPES), .alias = -1, .parent = -1, .parameters = -1, .rank = in(25) ? below(3) : 0};
    if (in(10)) {
        made->alias = some_key(plan), made->type = -1, made->rank = 0;
        if (made->alias == key) made->alias = (key + 1) % KEYS;
        if (plan->defined[made->alias] && plan->defined[made->alias]->parameters > 0 && in(60)) {
            made->initializer_count = 1, made->initializer[0] = NEW(source);
            *made->initializer[0] = (source){.how = VALUE, .number = below(3)};
        }
        return made;
    }
    made->scope = below(6);
    if (in(15)) made->parent = some_key(plan);
    if (made->parent == key) made->parent = -1;
    if (made->parent >= 0) {
        if (in(50)) made->type = -1;
        if (in(50)) made->scope = 0;
    }
    if (in(25) && made->scope != INVIVO_SCOPE_SINGLETON) made->parameters = 1 + below(2);
    if (in(6)) made->flags |= INVIVO_DEFINITION_ABSTRACT;
    if (in(6)) made->flags |= INVIVO_DEFINITION_HIDDEN_CLASS;
    if (in(6)) made->flags |= INVIVO_DEFINITION_HIDDEN_INTERFACE;
    if (made->type >= 0 && in(20)) {
        made->factory = in(70) ? 1 : 2;
        if (made->factory == 2) made->flags |= INVIVO_DEFINITION_NULLABLE;
    }
    if (in(50)) for (int i = below(STEPS); i >= 0; i--) made->initializer[made->initializer_count++] = random_source(plan, made, 0);
    if (in(60)) {
        int name = below(3);
        for (int i = below(STEPS); i >= 0; i--) {
            made->properties[made->property_count++] = (step){.name = name, .value = random_source(plan, made, 0)};
            name = in(98) ? (name + 1) % 3 : name;
        }
    }
    if (in(30)) for (int i = below(STEPS); i >= 0; i--) made->methods[made->method_count++] = (step){.is_method = true, .name = below(3), .value = random_source(plan, made, 0)};
    if (in(15)) made->before = 1 + below(9);
    if (in(15)) made->after = 1 + below(9);
    if (in(15)) made->after_all = 1 + below(9);
    return made;
}

/* -- for people */

static void print_source(const source *from) {
    static const char *how[] = {"value", "null", "", "type", "all", "argument", "arguments", "list", "set", "map", "path", "provider", "lazy", "resolver", "asker"};
    fprintf(stderr, "%s", how[from->how]);
    if (from->how == VALUE || from->how == ARGUMENT) fprintf(stderr, " %d", from->number);
    if (from->how == REFERENCE) fprintf(stderr, "%s", key_names[from->key]);
    if (from->how == BY_TYPE || from->how == ALL_OF) fprintf(stderr, " %s", type_names[from->type]);
    if (from->flags & INVIVO_INJECT_OPTIONAL) fprintf(stderr, "?");
    if (from->flags & INVIVO_INJECT_EXACT) fprintf(stderr, " exact");
    if (from->flags & INVIVO_INJECT_GREEDY) fprintf(stderr, " greedy");
    if (!from->count) return;
    fprintf(stderr, "(");
    for (int i = 0; i < from->count; i++) fprintf(stderr, i ? ", " : ""), print_source(from->items[i]);
    fprintf(stderr, ")");
}
static void print_definition(const definition *from) {
    static const char *scopes[] = {"default", "prototype", "graph", "singleton", "lazy", "weak"};
    fprintf(stderr, "  %s: ", key_names[from->key]);
    if (from->alias >= 0) fprintf(stderr, "alias %s", key_names[from->alias]);
    else fprintf(stderr, "%s %s", scopes[from->scope], from->type < 0 ? "-" : type_names[from->type]);
    if (from->parent >= 0) fprintf(stderr, " parent %s", key_names[from->parent]);
    if (from->parameters >= 0) fprintf(stderr, " takes %d", from->parameters);
    if (from->rank) fprintf(stderr, " rank %d", from->rank);
    if (from->flags) fprintf(stderr, " flags %u", from->flags);
    if (from->factory) fprintf(stderr, " factory%s", from->factory == 2 ? " null" : "");
    for (int i = 0; i < from->initializer_count; i++) fprintf(stderr, "%s", i ? ", " : " init("), print_source(from->initializer[i]), fprintf(stderr, "%s", i + 1 == from->initializer_count ? ")" : "");
    for (int i = 0; i < from->property_count; i++) fprintf(stderr, " p%d=", from->properties[i].name), print_source(from->properties[i].value);
    for (int i = 0; i < from->method_count; i++) fprintf(stderr, " m%d(", from->methods[i].name), print_source(from->methods[i].value), fprintf(stderr, ")");
    if (from->before) fprintf(stderr, " before %d", from->before);
    if (from->after) fprintf(stderr, " after %d", from->after);
    if (from->after_all) fprintf(stderr, " after_all %d", from->after_all);
    fprintf(stderr, "\n");
}

/* -- operations */

static plan steady;
static void stand(void) {
    memcpy(steady.defined, defined, sizeof defined);
    memcpy(steady.overridden, overridden, sizeof overridden);
    steady.next = now;
    planned = &steady;
}
static void begin_operation(const char *format, ...) {
    expected.length = found.length = 0, expected.events = found.events = 0;
    expected.data[0] = found.data[0] = 0;
    fail_expected = fail_found = in(12) ? 1 + below(8) : 0;
    stand();
    if (!tracing) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", fail_expected ? " (a callback fails)" : "");
}
static void end_operation(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    fail_expected = fail_found = 0;
    OK(invivo_runtime_inspect(runtime, &info, E));
    if (tracing) fprintf(stderr, "  expected: %s\n  found:    %s\n", expected.data, found.data);
    if (strcmp(expected.data, found.data) != 0) differ("it should happen\n  %s\nand it happened\n  %s", expected.data, found.data);
    reach_all();
    for (object *object = objects; object; object = object->next) {
        if (object->gone) continue;
        bool lives = things[object->serial] != NULL;
        if (object->seen != lives) differ("#%d (%s) %s", object->serial, key_names[object->recipe->key], lives ? "is still there, and nobody holds it" : "is gone, and somebody holds it");
        if (!object->seen) object->gone = true;
    }
    if (objects_made != things_made) differ("%d objects should have been made, %d were", objects_made, things_made);
}
static void compare_status(int should, invivo_status is, invivo_error *error) {
    if (tracing && is) fprintf(stderr, "  error: %s\n", invivo_error_text(error));
    if (should != is) differ("it should answer %s and answers %s: %s\n  should %s\n  did    %s", invivo_status_name(should), invivo_status_name(is), invivo_error_text(error), expected.data, found.data);
    invivo_error_release(error);
}

static object *leased[64];
static int leased_count;
static int serial_of(invivo_object object) {
    void *instance = NULL;
    if (!object.bits || invivo_object_instance(object, (invivo_type){0}, &instance, NULL)) return -1;
    return ((thing *)instance)->serial;
}
/* One lease was answered: it is kept, or given back at once. */
static void answer(int status, const value *value, invivo_object is) {
    int should = !status && value->kind == 'o' ? value->object->serial : -1;
    if (serial_of(is) != should)
        differ("it should answer #%d and answers #%d\n  should %s\n  did    %s", should, serial_of(is), expected.data, found.data);
    if (!is.bits) return;
    if (should >= 0 && !has_failed && leased_count < 60 && in(50)) {
        value->object->leases++, value->object->handle = is;
        leased[leased_count++] = value->object;
    } else {
        OK(invivo_object_release(is));
    }
}
static int random_arguments(int key, value *model, invivo_value *real) {
    definition *flat = flat_described(key);
    int most = flat && flat->parameters > 0 ? flat->parameters : 0, count = most ? below(most + 1) : in(5) ? 1 : 0;
    for (int i = 0; i < count; i++) {
        int number = below(3);
        model[i] = (value){.kind = 'n', .number = number};
        real[i] = invivo_int64(number);
    }
    return count;
}
static void do_resolve(void) {
    int key = below(KEYS);
    value arguments[MOST_ARGUMENTS], result = {.kind = '-'};
    invivo_value real[MOST_ARGUMENTS];
    stand();
    int count = random_arguments(key, arguments, real);
    bool optional = in(15);
    begin_operation("resolve %s with %d%s", key_names[key], count, optional ? " optional" : "");
    int status = whole(now, resolve_wish, &(wish){key, arguments, count}, &result);
    if (optional && status == INVIVO_E_NOT_FOUND && !now->recipes[key]) status = 0;
    else if (!optional && !status && result.kind == '-') status = INVIVO_E_NULL;
    if (too_much) return;
    invivo_object object = {0};
    invivo_error *error = NULL;
    invivo_status is = optional ? invivo_resolve_optional(runtime, keys[key], real, (size_t)count, &object, &error)
                       : count ? invivo_resolve_with(runtime, keys[key], real, (size_t)count, &object, &error)
                       : in(80) ? invivo_resolve(runtime, keys[key], &object, &error)
                                : invivo_resolve_name(runtime, key_names[key], &object, &error);
    compare_status(status, is, error);
    answer(status, &result, object);
    end_operation();
}
typedef struct type_wish { int list[KEYS], count; bool all; } type_wish;
static int resolve_type_wish(void *context, value *out) {
    type_wish *wish = context;
    int status = 0;
    if (!wish->all) return resolve(wish->list[0], NULL, 0, out);
    value *items = take(sizeof(value) * KEYS);
    *out = (value){.kind = 'l', .items = items};
    for (int i = 0; i < wish->count && !status; i++) {
        status = resolve(wish->list[i], NULL, 0, &items[out->count]);
        if (!status) hold(items[out->count]);
        if (!status && items[out->count].kind == 'o') out->count++;
    }
    return status;
}
static void do_type(void) {
    int name = below(TYPE_NAMES), status = 0;
    bool exact = in(25), optional = in(30);
    type_wish wish = {.all = in(50)};
    value result = {.kind = '-'};
    uint32_t flags = (exact ? INVIVO_LOOKUP_EXACT : 0) | (optional && !wish.all ? INVIVO_LOOKUP_OPTIONAL : 0);
    invivo_error *error = NULL;
    begin_operation("resolve %s %s %s", wish.all ? "all of" : "the", type_names[name], exact ? "exactly" : "");
    wish.count = candidates(name, exact, wish.list);
    int best = best_of(wish.list, wish.count);
    if (wish.all) status = whole(now, resolve_type_wish, &wish, &result);
    else if (best == -2) status = INVIVO_E_AMBIGUOUS;
    else if (best == -1) status = optional ? 0 : INVIVO_E_NOT_FOUND;
    else status = whole(now, resolve_type_wish, &wish, &result);
    if (!wish.all && !status && best >= 0 && result.kind == '-' && !optional) status = INVIVO_E_NULL;
    if (too_much) return;
    if (wish.all) {
        invivo_value list = invivo_null();
        invivo_status is = invivo_resolve_all(runtime, type_names[name], flags, &list, &error);
        compare_status(status, is, error);
        if (!status && !is) {
            if ((int)list.as.list.count != result.count) differ("all should be %d and are %d", result.count, (int)list.as.list.count);
            for (int i = 0; i < result.count && !has_failed; i++)
                if (serial_of(list.as.list.items[i].as.object) != result.items[i].object->serial) differ("item %d of all should be #%d", i, result.items[i].object->serial);
        }
        invivo_value_clear(&list);
    } else {
        invivo_object object = {0};
        invivo_status is = invivo_resolve_type(runtime, type_names[name], NULL, flags, &object, &error);
        compare_status(status, is, error);
        answer(status, &result, object);
    }
    end_operation();
}
static void do_release(void) {
    if (!leased_count) return;
    int index = below(leased_count);
    object *object = leased[index];
    leased[index] = leased[--leased_count];
    begin_operation("release #%d", object->serial);
    object->leases--;
    OK(invivo_object_release(object->handle));
    end_operation();
}
static void do_call(void) {
    object *candidates[64];
    int slots[64], count = 0;
    for (object *object = objects; object && count < 64; object = object->next)
        for (int i = 0; i < 3 && !object->gone && count < 64; i++)
            if (object->slots[i].kind == 'f') candidates[count] = object, slots[count++] = i;
    if (!count) return;
    int index = below(count), status;
    callable *callable = candidates[index]->slots[slots[index]].callable;
    invivo_callable real = things[candidates[index]->serial]->callables[slots[index]];
    value arguments[MOST_ARGUMENTS], result = {.kind = '-'};
    invivo_value given[MOST_ARGUMENTS], answered = invivo_null();
    invivo_error *error = NULL;
    int given_count = 0, key = callable->key;
    if (key < 0) key = below(KEYS), given[given_count++] = invivo_string(key_names[key]);
    memcpy(arguments, callable->arguments, sizeof arguments);
    begin_operation("call p%d of #%d for %s", slots[index], candidates[index]->serial, key_names[key]);
    if (callable->knows && callable->version == versions[key]) result = callable->known, status = 0;
    else {
        uint64_t version = versions[key];
        status = whole(now, resolve_wish, &(wish){key, arguments, callable->argument_count}, &result);
        if (callable->is_lazy && !status) callable->knows = true, callable->known = result, callable->version = version;
    }
    if (too_much) return;
    invivo_status is = invivo_callable_call(real, given, (size_t)given_count, &answered, &error);
    compare_status(status, is, error);
    int should = !status && result.kind == 'o' ? result.object->serial : -1;
    if (!has_failed && (answered.kind == INVIVO_KIND_OBJECT ? serial_of(answered.as.object) : -1) != should) differ("it should answer #%d", should);
    invivo_value_clear(&answered);
    end_operation();
}

static void finish_commit(plan *plan, int status, invivo_status is, invivo_error *error) {
    bool fits = status == is;
    /* What a removal makes impossible is told as that. */
    for (int key = 0; key < KEYS && plan->code_count; key++) fits |= plan->declared[key] && !plan->defined[key] && is == INVIVO_E_NOT_FOUND;
    for (int i = 0; i < plan->code_count; i++) fits |= plan->codes[i] == is;
    if (tracing && is) fprintf(stderr, "  error: %s\n", invivo_error_text(error));
    if (!fits) differ("it should answer %s and answers %s: %s\n  should %s\n  did    %s", invivo_status_name(status), invivo_status_name(is), invivo_error_text(error), expected.data, found.data);
    invivo_error_release(error);
    stand();
    end_operation();
}
static plan *next_plan(void) {
    plan *made = NEW(plan);
    memcpy(made->defined, defined, sizeof defined);
    memcpy(made->overridden, overridden, sizeof overridden);
    return made;
}
static void do_change(int at_least) {
    plan *plan = next_plan();
    int order[KEYS], count = at_least ? at_least : 1 + below(3), removed = 0;
    for (int i = 0; i < KEYS; i++) order[i] = i;
    for (int i = 0; i < KEYS; i++) { int j = i + below(KEYS - i), key = order[i]; order[i] = order[j], order[j] = key; }
    begin_operation("change");
    if (!at_least && in(25)) removed = 1;
    tape *own = on;
    int left = 0;
    for (int i = 0; i < count; i++) left += !own[1 + i].is_left_out;
    if (!left) return;
    /* What is said of first may be named by all. */
    for (int i = 0; i < count; i++) {
        if (i < removed || own[1 + i].is_left_out) continue;
        if (!plan->defined[order[i]]) {
            plan->defined[order[i]] = NEW(definition);
            *plan->defined[order[i]] = (definition){.key = order[i], .alias = -1, .parent = -1, .parameters = -1};
        }
    }
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (int i = 0; i < count; i++) {
        int key = order[i];
        if (own[1 + i].is_left_out) continue;
        plan->declared[key] = true;
        if (i < removed) {
            if (!defined[key]) wrong(INVIVO_E_NOT_FOUND), plan->codes[plan->code_count++] = INVIVO_E_NOT_FOUND;
            plan->defined[key] = NULL;
            if (tracing) fprintf(stderr, "  %s: removed\n", key_names[key]);
            OK(invivo_changes_remove(changes, key_names[key], E));
            continue;
        }
        on = &own[1 + i];
        definition *made = random_definition(plan, key);
        made->order = defined[key] ? defined[key]->order : ++definitions_made;
        plan->defined[key] = made;
        if (tracing) print_definition(made);
        OK(invivo_changes_define(changes, describe(made), NULL, E));
        on = own;
    }
    int status = plan->code_count ? plan->codes[0] : commit(plan);
    if (too_much) {
        invivo_changes_discard(changes);
        return;
    }
    invivo_error *error = NULL;
    invivo_status is = invivo_changes_commit(changes, &error);
    finish_commit(plan, status, is, error);
}
static void do_override(void) {
    plan *plan = next_plan();
    override *made = NEW(override);
    int key = some_key(plan);
    begin_operation("override");
    made->definition = random_definition(plan, key);
    if (made->definition->alias >= 0) return;
    made->below = plan->overridden[key];
    plan->overridden[key] = made;
    plan->declared[key] = true;
    if (tracing) print_definition(made->definition);
    int status = plan->defined[key] ? commit(plan) : INVIVO_E_NOT_FOUND;
    if (too_much) return;
    invivo_error *error = NULL;
    invivo_status is = invivo_override_begin(runtime, describe(made->definition), &made->handle, &error);
    finish_commit(plan, status, is, error);
}
static void do_override_end(void) {
    int keys_with[KEYS], count = 0;
    for (int key = 0; key < KEYS; key++) if (overridden[key]) keys_with[count++] = key;
    if (!count) return;
    int key = keys_with[below(count)], depth = 0;
    for (override *step = overridden[key]; step; step = step->below) depth++;
    int index = below(depth);
    plan *plan = next_plan();
    begin_operation("end of override %d of %s", index, key_names[key]);
    /* A copy of the stack without it. */
    override *ended = NULL, **place = &plan->overridden[key];
    for (override *step = overridden[key]; step; step = step->below, index--) {
        if (index == 0) { ended = step; continue; }
        *place = NEW(override);
        **place = *step;
        place = &(*place)->below;
    }
    *place = NULL;
    if (plan->defined[key]) plan->declared[key] = true;
    int status = commit(plan);
    if (too_much) return;
    invivo_error *error = NULL;
    invivo_status is = invivo_override_end(ended->handle, &error);
    finish_commit(plan, status, is, error);
}

static void run(uint64_t seed) {
    seed_of_this = state_of_chance = seed;
    arena_used = 0, has_failed = too_much = false;
    memset(defined, 0, sizeof defined), memset(overridden, 0, sizeof overridden), memset(versions, 0, sizeof versions);
    memset(things, 0, sizeof(thing *) * (size_t)(things_made < MOST_OBJECTS ? things_made : MOST_OBJECTS));
    memset(&steady, 0, sizeof steady);
    for (int i = 0; i < OPERATIONS; i++)
        for (int j = 0; j < PARTS; j++) if (replays) tapes[i][j].used = 0; else tapes[i][j].is_left_out = false, tapes[i][j].count = 0;
    objects = NULL, current = NULL, also = NULL, now = NEW(graph);
    objects_made = things_made = things_alive = definitions_made = leased_count = 0;
    open_runtime();
    on = tapes[0];
    int keys_at_first = 3 + below(KEYS - 2);
    do_change(keys_at_first);
    for (int i = 0; i < SIZE && !has_failed && !too_much; i++) {
        on = tapes[1 + i];
        if (on->is_left_out) continue;
        int kind = below(100);
        if (kind < 42) do_resolve();
        else if (kind < 52) do_type();
        else if (kind < 65) do_release();
        else if (kind < 73) do_call();
        else if (kind < 90) do_change(i < 3 && !now->recipes[0] ? 4 : 0);
        else if (kind < 95) do_override();
        else do_override_end();
    }
    if (has_failed || too_much) {
        fail_found = 0;
        bool failed = has_failed;
        has_failed = true; /* nothing more is compared */
        while (leased_count) (void)invivo_object_release(leased[--leased_count]->handle);
        if (invivo_runtime_close(runtime, NULL)) (void)invivo_runtime_close_deferred(runtime, NULL);
        has_failed = failed;
        return;
    }
    while (leased_count && !has_failed) do_release();
    OK(invivo_runtime_close(runtime, E));
    if (things_alive && tracing) {
        for (object *object = objects; object; object = object->next) {
            if (!things[object->serial]) continue;
            expected.length = 0;
            say(&expected, "#%d %s from(", object->serial, key_names[object->recipe->key]);
            for (int i = 0; i < object->made_count; i++) tell_value(&object->made_from[i]), say(&expected, " ");
            say(&expected, ")");
            for (int i = 0; i < STEPS * 8; i++) if (object->kept[i].value.kind) say(&expected, " "), tell_value(&object->kept[i].value);
            fprintf(stderr, "%s\n", expected.data);
        }
    }
    if (things_alive) differ("%d objects are left after close", things_alive);
}

/* ---- the least that disagrees -------------------------------------------------------------------------- */

static int tries_left;
static bool still_disagrees(void) {
    if (tries_left-- <= 0) return false;
    run(seed_of_this);
    if (!has_failed) return false;
    for (int i = 0; i < OPERATIONS; i++)
        for (int j = 0; j < PARTS; j++) if (tapes[i][j].count > tapes[i][j].used) tapes[i][j].count = tapes[i][j].used;
    return true;
}
static bool without(int from, int count, int part) {
    bool former[OPERATIONS], any = false;
    for (int i = from; i < from + count && i < OPERATIONS; i++) {
        former[i] = tapes[i][part].is_left_out;
        any |= !former[i];
        tapes[i][part].is_left_out = true;
    }
    if (!any) return false;
    static tape kept[OPERATIONS][PARTS];
    memcpy(kept, tapes, sizeof tapes);
    if (still_disagrees()) return true;
    memcpy(tapes, kept, sizeof tapes);
    for (int i = from; i < from + count && i < OPERATIONS; i++) tapes[i][part].is_left_out = former[i];
    return false;
}
static bool with_less(tape *changed, int from, int count, int by) { /* by 0: without these */
    static tape kept[OPERATIONS][PARTS];
    if (from + count > changed->count) return false;
    memcpy(kept, tapes, sizeof tapes);
    if (!by) {
        memmove(changed->draws + from, changed->draws + from + count, (size_t)(changed->count - from - count));
        changed->count -= count;
    } else {
        if (changed->draws[from] < by) return false;
        changed->draws[from] = (uint8_t)(changed->draws[from] - by);
    }
    if (still_disagrees()) return true;
    memcpy(tapes, kept, sizeof tapes);
    return false;
}
static void shrink(void) {
    bool was_tracing = tracing, is_less = true;
    tracing = false, is_silent = replays = true, tries_left = 60000;
    while (is_less && tries_left > 0) {
        is_less = false;
        for (int count = OPERATIONS / 2; count > 0; count /= 2)
            for (int i = 1; i < OPERATIONS; i += count) is_less |= without(i, count, 0);
        for (int i = 0; i < OPERATIONS; i++)
            for (int part = 1; part < PARTS && !tapes[i][0].is_left_out; part++) is_less |= tapes[i][part].used && without(i, 1, part);
        for (int i = OPERATIONS - 1; i >= 0; i--) {
            for (int part = 0; part < PARTS && !tapes[i][0].is_left_out; part++) {
                tape *changed = &tapes[i][part];
                for (int count = 32; count > 0; count /= 2)
                    for (int from = changed->count - count; from >= 0; from--) is_less |= with_less(changed, from, count, 0);
                for (int from = 0; from < changed->count; from++) {
                    is_less |= changed->draws[from] > 0 && with_less(changed, from, 1, changed->draws[from]);
                    for (int by = changed->draws[from] / 2; by > 0; by /= 2) is_less |= with_less(changed, from, 1, by);
                }
            }
        }
    }
    is_silent = false, tracing = true;
    fprintf(stderr, "seed %llu disagrees; the least of it that does (%d tries left):\n", (unsigned long long)seed_of_this, tries_left);
    run(seed_of_this);
    tracing = was_tracing, replays = false;
}

static uint64_t first_seed = 1;
static int wanted = 3000, disagreed;
static bool shrinks = true, goes_on;

/* On a stack that is large enough for the longest chain that the container allows, in any build of it. */
static void *run_all(void *unused) {
    int done = 0, given_up = 0;
    (void)unused;
    for (; done < wanted && (!disagreed || goes_on); done++) {
        is_silent = shrinks || goes_on;
        run(first_seed + (uint64_t)done);
        is_silent = false;
        given_up += too_much;
        if (!has_failed) continue;
        disagreed++;
        if (shrinks) shrink();
        else if (goes_on) fprintf(stderr, "seed %llu disagrees\n", (unsigned long long)first_seed + (unsigned long long)done);
    }
    printf("model: %d sequences from seed %llu, %d of them cut short, %d disagree\n", done, (unsigned long long)first_seed, given_up, disagreed);
    if (given_up > 1 + done / 100) check_failed(__FILE__, __LINE__, "that many are cut short: too little is compared");
    return NULL;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc) first_seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--sequences") && i + 1 < argc) wanted = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--trace")) tracing = true, shrinks = false;
        else if (!strcmp(argv[i], "--whole")) shrinks = false;
        else if (!strcmp(argv[i], "--on")) goes_on = true, shrinks = false;
        else return fprintf(stderr, "usage: model [--seed N] [--sequences N] [--trace] [--whole] [--on]\n"), 2;
    }
    pthread_attr_t attributes;
    pthread_t thread;
    arena = malloc(ARENA), expected.data = calloc(1, MOST_TEXT), found.data = calloc(1, MOST_TEXT);
    check_begin();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)256 << 20);
    if (CHECK_EQUAL(pthread_create(&thread, &attributes, run_all, NULL), 0)) pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    free(arena), free(expected.data), free(found.data);
    return check_end() || disagreed;
}
