/* world.h: the current definitions, overrides, documents and processors of a sequence. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_WORLD_H
#define INVIVO_TESTS_DIFFERENTIAL_WORLD_H

#include "parts.h"

/* The keys a.k0, a.k1, ... The first are tools: always shared, and found by the type `Tool`. In the middle are those of
 * an assembly, `s`, and of two mounts, `left` and `right`: they refer to their own keys and to earlier ones.
 *
 * References of a creation (initializer, factory, maker, alias, choice, decorator component) lead to earlier keys, so
 * that every key can be resolved first. Properties may refer to earlier keys; those of tools to any tool, so that there
 * are cycles of shared objects. Providers, lazies and weak references lead anywhere. The parent of a definition is an
 * earlier key too, so that inherited references follow the same rules. */
enum { TOOLS = 3, GROUPS = 3, MEMBERS = 3, FIRST_MEMBER = 5, AFTER_MEMBERS = FIRST_MEMBER + GROUPS * MEMBERS, KEYS = AFTER_MEMBERS + 4,
       MOST_OVERRIDES = 3, DOCUMENTS = 2, PROCESSORS = 2, PATHS = 3, ENTRIES = 3, TRAITS = 2, TRAIT_TYPES = 2, PLACES = 6,
       WIRED = 3, BESIDE = WIRED - 1, /* the last decision of a document is one without effect */
       ARGUMENTS = 3, /* runtime arguments are the numbers from 1 */
       BINDINGS = 2, SECTION = 3 };
static const char *key_names[KEYS] = {"a.k0", "a.k1", "a.k2", "a.k3", "a.k4", "s.m0", "s.m1", "s.m2", "left.m0", "left.m1", "left.m2",
                                      "right.m0", "right.m1", "right.m2", "a.k5", "a.k6", "a.k7", "a.k8"};
static const char *group_names[GROUPS] = {"s", "left", "right"};
/* The assembly or mount of a key; -1 = none. */
static int group_of(int key) { return key < FIRST_MEMBER || key >= AFTER_MEMBERS ? -1 : (key - FIRST_MEMBER) / MEMBERS; }
static const char *paths[PATHS] = {"n", "m", "mode"};
static const char *whole_paths[PATHS] = {"/a.n", "/a.m", "/a.mode"};
/* The sections that settings are bound to, and the keys of one of them. */
static const char *binding_names[BINDINGS] = {"Fields", "Text"};
static const char *sections[] = {"sec", "a", "", "sec.deep"};
static const char *section_names[SECTION] = {"x", "y", "more"};
static const char *section_paths[SECTION] = {"/sec.x", "/sec.y", "/sec.more"};
static const char *entry_names[ENTRIES] = {"x", "y", "z"};

enum { NOTHING, NUMBER, REFERENCE, CONFIG, LIST, PROVIDER, LAZY, WEAK, BY_TYPE, ALL_OF, ARGUMENT };
typedef struct source {
    int how, key, number, path; /* of a reference: `number` is its runtime argument plus one, 0 = none */
    uint32_t flags;
    struct source *items[2];
    int count;
} source;
enum { MAKES, ALIAS, CHOICE, MAKER, FACTORY };
/* A definition. Immutable once it is in a world. */
typedef struct spec {
    int key, kind, scope, type, target, rank;
    int parent; /* -1 = none; with a parent, the scope may be INVIVO_SCOPE_DEFAULT and the type -1: both are then inherited */
    uint32_t flags;
    bool takes_argument;
    source *input, *number, *given, *left, *right, *any, *level, *accepts;
    source *options[3];
} spec;
typedef struct processor { bool is_there, changes_definitions; int key, type, component; } processor;
/* A decision of a document about a key: that it is an alias of `value`, has the scope, or chooses the option. */
typedef struct decision { enum { DECIDES_NOTHING, DECIDES_ALIAS, DECIDES_SCOPE, DECIDES_OPTION, DECIDES_AS_DESCRIBED } what; int key, value; } decision;
typedef struct document {
    bool is_there;
    int order, values[PATHS], entries[ENTRIES]; /* -1 = the document does not set it */
    int first_entry, entry_step; /* the order of its list */
    bool has_list;
    int section[SECTION]; /* -1 = the document does not set it */
    int tuned[TRAITS], levels[TRAITS]; /* keys whose `level` it sets, -1 = none */
    decision wired[WIRED];
} document;

/* A binding of settings. */
typedef struct binding { int version, section; } binding; /* version 0: there is none */

typedef struct world {
    const spec *defined[KEYS];
    int order[KEYS], counter;
    struct { const spec *spec; int number; } overrides[KEYS][MOST_OVERRIDES];
    int override_count[KEYS];
    int bases[KEYS]; /* the base value of the property `level`; -1 = none */
    bool sets_base[KEYS]; /* the last change set sets it */
    document documents[DOCUMENTS];
    int operator_says[PATHS]; /* -1 = no entry, -2 = null */
    processor processors[PROCESSORS];
    binding bindings[BINDINGS];
    int section_says[SECTION]; /* runtime settings, as operator_says */
    int versions[TRAIT_TYPES]; /* of the trait types, from 1; 0 = it is not there */
    /* The members at activation of each assembly or mount; single members may have changed since. */
    /* The targets of lookups by type, by position: a key, or -1. */
    int bound[KEYS][PLACES];
    bool is_active[GROUPS];
    int remapped[GROUPS]; /* of a mount: the remapped key for `a.k0`; -1 = that key */
    const spec *tables[GROUPS][MEMBERS];
    bool has_each;
    int each_type, each_order, each_parent; /* -1 = no parent */
} world;

/* The features of a sequence: drawn first, so that a failing sequence loses those that it does not need. */
enum { WITH_CIRCLES = 1, WITH_PROCESSORS = 2, WITH_THREADS = 4, WITH_HOST_SCOPE = 8, WITH_FAILURES = 16, WITH_OVERRIDES = 32,
       WITH_LATE = 64, WITH_TYPES = 128, WITH_CONFIG = 256, WITH_EACH = 512, WITH_LIFE = 1024, WITH_TRACKED = 2048, WITH_GROUPS = 4096,
       WITH_WAITS = 8192, WITH_STOPS = 16384, WITH_ARGUMENTS = 32768, WITH_TRAITS = 65536, WITH_REMAPS = 131072, WITH_PARENTS = 262144, WITH_ROLLBACKS = 524288,
       WITH_SETUPS = 1 << 20, WITH_PINS = 1 << 21, WITH_OWNERS = 1 << 22, WITH_WIRING = 1 << 23, WITH_SETTINGS = 1 << 24,
       WITH_BASES = 1 << 25, FEATURES = 26 };
static int features;
static bool with(int feature) { return features & feature; }

/* Setups: the key of the child that the object of each key creates; -1 = none. An earlier key, usually one of two that usually are
 * prototypes. Without a definition, or with another scope, the setup fails. */
enum { FIRST_CHILD = TOOLS, CHILDREN = 2 };
static int child_keys[KEYS];
static bool is_child(int key) { return with(WITH_SETUPS) && key >= FIRST_CHILD && key < FIRST_CHILD + CHILDREN; }
static void draw_children(void) {
    for (int key = 0; key < KEYS; key++) {
        int among = key - FIRST_CHILD < CHILDREN ? key - FIRST_CHILD : CHILDREN;
        child_keys[key] = with(WITH_SETUPS) && among > 0 && chance(60) ? chance(90) ? FIRST_CHILD + below(among) : below(key) : -1;
    }
}
static bool has_setups(void) { return with(WITH_SETUPS); }
static const char *child_of(const char *key) {
    for (int i = 0; i < KEYS; i++) if (!strcmp(key_names[i], key)) return child_keys[i] < 0 ? NULL : key_names[child_keys[i]];
    return NULL;
}

static world now; /* of the live runtime */
static bool has_set_bases; /* the sequence has set a base value */
/* The worlds of the last generations. */
enum { KEPT_WORLDS = 64 };
static struct { uint64_t generation; world world; bool is_there; } kept_worlds[KEPT_WORLDS];

static bool is_tool(int key) { return key < TOOLS; }

/* ---- decisions of documents ---------------------------------------------------------------------------------- */

static const char *scope_words[] = {[INVIVO_SCOPE_PROTOTYPE] = "prototype", [INVIVO_SCOPE_GRAPH] = "graph", [INVIVO_SCOPE_SINGLETON] = "singleton",
                                    [INVIVO_SCOPE_LAZY_SINGLETON] = "lazy-singleton", [INVIVO_SCOPE_WEAK_SINGLETON] = "weak-singleton",
                                    [INVIVO_SCOPE_THREAD] = "thread", [INVIVO_SCOPE_HOST] = "request"};
/* The decision about a key that is in force: that of the last document. */
static const decision *decision_of(const world *world, int key) {
    const decision *found = NULL;
    for (int i = 0, order = -1; i < DOCUMENTS; i++) {
        const document *document = &world->documents[i];
        for (int j = 0; j < WIRED && document->is_there && document->order > order; j++)
            if (document->wired[j].what && document->wired[j].key == key) found = &document->wired[j], order = document->order;
    }
    return found;
}
static bool decides(const world *world, int key, int what) {
    const decision *found = decision_of(world, key);
    return found && (int)found->what == what;
}

/* ---- parents -------------------------------------------------------------------------------------------------- */

/* The parent of a definition of `key`; -1 = none. In a mount, a remap applies to parents too. */
static int parent_of(const world *world, int key, const spec *spec) {
    int group = group_of(key);
    if (spec->parent == 0 && group >= 0 && world->is_active[group] && world->remapped[group] >= 0) return world->remapped[group];
    return spec->parent;
}
/* The nearest definition, from a key up its parents, that satisfies `says`; NULL if there is none. */
static const spec *inherited(const world *world, int key, bool (*says)(const spec *)) {
    while (key >= 0 && world->defined[key]) {
        const spec *spec = world->defined[key];
        if (says(spec)) return spec;
        key = spec->kind == ALIAS ? -1 : parent_of(world, key, spec);
    }
    return NULL;
}
static bool says_scope(const spec *spec) { return spec->kind != ALIAS && spec->kind != CHOICE && spec->scope != INVIVO_SCOPE_DEFAULT; }
static bool says_type(const spec *spec) { return spec->kind != ALIAS && spec->kind != CHOICE && spec->type >= 0; }
static bool says_parameters(const spec *spec) { return spec->takes_argument; }
static int scope_of(const world *world, int key) {
    const spec *base = world->defined[key];
    if (world->override_count[key] && base && (base->kind == ALIAS || base->kind == CHOICE)) {
        /* There is no scope to keep: it is inherited, or the override is shared. */
        const spec *top = world->overrides[key][world->override_count[key] - 1].spec;
        return top->parent < 0 ? INVIVO_SCOPE_LAZY_SINGLETON : scope_of(world, top->parent);
    }
    /* With a decision, the chain is searched from the nearest key that has a scope or one. */
    for (int at = key; at >= 0 && world->defined[at] && world->defined[at]->kind != ALIAS; at = parent_of(world, at, world->defined[at])) {
        if (decides(world, at, DECIDES_SCOPE)) return decision_of(world, at)->value;
        if (says_scope(world->defined[at])) break;
    }
    const spec *found = inherited(world, key, says_scope);
    return found ? found->scope : INVIVO_SCOPE_GRAPH;
}
/* -1 = unknown. */
static int type_of(const world *world, int key) {
    const spec *found = inherited(world, key, says_type);
    return found ? found->type : -1;
}
static bool takes_argument(const world *world, int key) { return inherited(world, key, says_parameters) != NULL; }

/* ---- random definitions ------------------------------------------------------------------------------------ */

/* A key below `limit`, usually a defined one; -1 = none. */
static int some_key(const world *world, int of, int limit) {
    int found[KEYS], count = 0;
    if (limit <= 0) return -1;
    if (chance(5)) return below(limit < FIRST_MEMBER ? limit : FIRST_MEMBER);
    for (int key = 0; key < limit; key++) {
        if (group_of(key) >= 0 && group_of(of) >= 0 && group_of(key) != group_of(of)) continue;
        if (group_of(of) >= 0 && key >= AFTER_MEMBERS) continue;
        /* A reference to an abstract definition is refused, so it is rare. */
        if (world->defined[key] && (!(world->defined[key]->flags & INVIVO_DEFINITION_ABSTRACT) || chance(8))) found[count++] = key;
    }
    return count ? found[below(count)] : -1;
}
static source *reference(const world *world, int of, int limit) {
    int key = some_key(world, of, limit);
    if (key < 0) return NULL;
    source *made = NEW(source);
    made->how = REFERENCE, made->key = key;
    if (chance(20)) made->flags = INVIVO_INJECT_OPTIONAL;
    if (takes_argument(world, key) && chance(60)) made->number = 1 + below(ARGUMENTS);
    return made;
}
static source *config_source(void) {
    source *made = NEW(source);
    made->how = CONFIG, made->path = below(2), made->number = 1 + below(3);
    return made;
}
static source *number_source(void) {
    source *made = NEW(source);
    if (with(WITH_CONFIG) && chance(40)) {
        made->how = CONFIG, made->path = below(2);
        made->number = chance(70) ? 1 + below(3) : 0; /* the default; 0 = none */
    } else {
        made->how = NUMBER, made->number = below(5);
    }
    return made;
}
static source *argument_source(void) {
    source *made = NEW(source);
    made->how = ARGUMENT;
    return made;
}
static source *late_source(const world *world, int key) {
    source *made = NEW(source), *of = reference(world, key, KEYS);
    if (!of) return NULL;
    made->how = PROVIDER + below(3), made->items[0] = of, made->count = 1;
    return made;
}
static source *type_source(int how) {
    source *made = NEW(source);
    made->how = how;
    if (how == ALL_OF) made->key = with(WITH_EACH) && chance(40); /* all voices instead of all tools */
    /* A new runtime receives the bindings of a definition's own lookups, not of inherited ones: these are greedy. */
    if (how == BY_TYPE) made->flags = (!with(WITH_PARENTS) && chance(50) ? 0 : INVIVO_INJECT_GREEDY) | (chance(30) ? INVIVO_INJECT_OPTIONAL : 0);
    return made;
}
/* A source for a target that takes an object. `limit` selects the keys. */
static source *object_source(const world *world, int key, int limit) {
    if (with(WITH_TYPES) && !is_tool(key) && chance(15)) return type_source(BY_TYPE);
    return reference(world, key, limit);
}
static source *any_source(const world *world, int key, int limit) {
    switch (below(6)) {
    case 0: case 1: return object_source(world, key, limit);
    case 2: return number_source();
    case 3: {
        source *made = NEW(source);
        made->how = LIST;
        for (int i = 0, count = below(3); i < count; i++) {
            source *item = reference(world, key, limit);
            if (item) made->items[made->count++] = item;
        }
        return made;
    }
    case 4: return with(WITH_LATE) ? late_source(world, key) : NULL;
    default: return with(WITH_TYPES) && !is_tool(key) ? type_source(ALL_OF) : NULL;
    }
}

static int random_scope(int key) {
    static const int scopes[] = {INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_LAZY_SINGLETON, INVIVO_SCOPE_SINGLETON, INVIVO_SCOPE_WEAK_SINGLETON,
                                 INVIVO_SCOPE_PROTOTYPE, INVIVO_SCOPE_GRAPH, INVIVO_SCOPE_THREAD, INVIVO_SCOPE_HOST};
    int scope = scopes[below(is_tool(key) ? 4 : 8)];
    if (scope == INVIVO_SCOPE_THREAD && !with(WITH_THREADS)) scope = INVIVO_SCOPE_PROTOTYPE;
    if (scope == INVIVO_SCOPE_HOST && !with(WITH_HOST_SCOPE)) scope = INVIVO_SCOPE_GRAPH;
    return scope;
}
static int random_type(int key) { return is_tool(key) ? below(2) : SAW + below(4); }

/* A possible parent for another key's definition; -1 = none. */
static int some_parent(const world *world, int of) {
    int found[KEYS], count = 0;
    for (int key = 0; key < of; key++) {
        if (group_of(key) >= 0 && group_of(of) >= 0 && group_of(key) != group_of(of)) continue;
        if (group_of(of) >= 0 && key >= AFTER_MEMBERS) continue;
        /* An alias as parent is refused. */
        if (world->defined[key] && (world->defined[key]->kind != ALIAS || chance(5))) found[count++] = key;
    }
    return count ? found[below(count)] : -1;
}
static void inherit(const world *world, int key, spec *made) {
    int former = type_of(world, made->parent);
    if (chance(50)) made->scope = INVIVO_SCOPE_DEFAULT;
    /* Only tools have the type Tool. An object from a method has its own type. */
    if (made->kind != MAKER && former >= 0 && is_tool(made->parent) == is_tool(key) && chance(60)) made->type = -1;
    if (takes_argument(world, made->parent) && made->scope == INVIVO_SCOPE_SINGLETON) made->scope = INVIVO_SCOPE_LAZY_SINGLETON;
}
static spec *random_spec(const world *world, int key, bool is_override) {
    spec *made = NEW(spec);
    made->key = key, made->parent = -1;
    made->kind = key > 0 && chance(25) ? 1 + below(4) : MAKES;
    made->type = random_type(key);
    made->scope = random_scope(key);
    if (is_child(key) && chance(90)) made->kind = MAKES, made->scope = INVIVO_SCOPE_PROTOTYPE;
    if (is_tool(key) && made->kind != MAKER && made->kind != FACTORY) made->kind = MAKES;
    if (made->kind == CHOICE && !with(WITH_CONFIG)) made->kind = MAKES;
    if (made->kind != MAKES && (made->target = some_key(world, key, key)) < 0) made->kind = MAKES;
    if (made->kind == CHOICE) {
        bool any = false;
        for (int i = 0; i < 3; i++) any |= (made->options[i] = i < 2 || chance(50) ? reference(world, key, key) : NULL) != NULL;
        if (any) return made;
        made->kind = MAKES;
    }
    if (made->kind == ALIAS) return made;
    if (chance(15)) made->rank = 1;
    if (with(WITH_PARENTS) && chance(40) && (made->parent = some_parent(world, key)) >= 0) inherit(world, key, made);
    int scope = made->scope != INVIVO_SCOPE_DEFAULT ? made->scope : scope_of(world, made->parent);
    int type = made->type >= 0 ? made->type : type_of(world, made->parent);
    bool is_once = scope == INVIVO_SCOPE_LAZY_SINGLETON || scope == INVIVO_SCOPE_SINGLETON;
    if (with(WITH_LIFE) && is_once && kinds[type].has_life && chance(30)) made->flags |= INVIVO_DEFINITION_EXCLUSIVE;
    if (with(WITH_TRACKED) && (scope == INVIVO_SCOPE_PROTOTYPE || scope == INVIVO_SCOPE_GRAPH) && !kinds[type].is_shared && chance(40))
        made->flags |= INVIVO_DEFINITION_TRACKED;
    /* An owner that keeps its children would have one that a new runtime could not create. */
    if (with(WITH_PARENTS) && !is_override && !is_child(key) && chance(10)) made->flags |= INVIVO_DEFINITION_ABSTRACT;
    if (with(WITH_WAITS) && !with(WITH_TYPES) && !is_override && chance(15)) made->flags |= INVIVO_DEFINITION_WAITS;
    int limit = is_tool(key) && with(WITH_CIRCLES) ? TOOLS : key;
    if (made->kind == MAKES && (made->parent < 0 || chance(40))) {
        if (chance(45)) made->input = object_source(world, key, key);
        if (chance(50)) made->number = number_source();
        if (chance(25)) made->given = any_source(world, key, key);
    }
    if (with(WITH_ARGUMENTS) && made->kind == MAKES && scope != INVIVO_SCOPE_SINGLETON && chance(30)) {
        made->takes_argument = true;
        if (chance(60)) made->number = argument_source();
    }
    if (chance(40)) made->left = object_source(world, key, limit);
    if (chance(25)) made->right = object_source(world, key, limit);
    if (chance(30)) made->any = made->takes_argument && chance(50) ? argument_source() : any_source(world, key, limit);
    if (chance(30)) made->level = number_source();
    if (is_once && !is_tool(key) && !kinds[type].is_shared && with(WITH_CONFIG) && with(WITH_WIRING) && chance(50)) made->level = config_source();
    if (chance(15)) made->accepts = any_source(world, key, key);
    bool is_known = scope != INVIVO_SCOPE_PROTOTYPE && scope != INVIVO_SCOPE_GRAPH;
    if (with(WITH_OWNERS) && (is_known || made->flags & INVIVO_DEFINITION_TRACKED || chance(2))) {
        source *const owned[] = {made->input, made->given, made->left, made->right, made->any, made->level, made->accepts};
        for (int i = 0; i < 7; i++)
            if (owned[i] && owned[i]->how >= REFERENCE && owned[i]->how < ARGUMENT && chance(40)) owned[i]->flags |= INVIVO_INJECT_OWNS;
    }
    return made;
}

/* Whether two definitions are equal; the code of a factory is that of its definition. */
static bool is_same_source(const source *a, const source *b) {
    if (!a || !b) return a == b;
    if (a->how != b->how || a->key != b->key || a->number != b->number || a->path != b->path || a->flags != b->flags || a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) if (!is_same_source(a->items[i], b->items[i])) return false;
    return true;
}
static bool is_same_spec(const spec *a, const spec *b) {
    if (!a || !b || a == b || a->kind == FACTORY) return a == b;
    if (a->kind != b->kind) return false;
    /* An alias has no type or scope; nor has a choice, or a target. */
    if (a->kind == ALIAS) return a->target == b->target;
    bool is_same = a->kind == CHOICE || (a->scope == b->scope && a->type == b->type && a->target == b->target && a->parent == b->parent && a->rank == b->rank && a->flags == b->flags && a->takes_argument == b->takes_argument);
    const source *const one[] = {a->input, a->number, a->given, a->left, a->right, a->any, a->level, a->accepts, a->options[0], a->options[1], a->options[2]};
    const source *const other[] = {b->input, b->number, b->given, b->left, b->right, b->any, b->level, b->accepts, b->options[0], b->options[1], b->options[2]};
    for (int i = 0; i < 11; i++) is_same = is_same && is_same_source(one[i], other[i]);
    return is_same;
}

/* ---- lookups by type ------------------------------------------------------------------------------------------ */

static const spec *top_of(const world *world, int key) {
    return world->override_count[key] ? world->overrides[key][world->override_count[key] - 1].spec : NULL;
}
static bool is_covered(const world *world, int key) { return world->defined[key] && world->override_count[key] > 0; }
static const spec *effective(const world *world, int key) {
    const spec *top = top_of(world, key);
    return world->defined[key] && top ? top : world->defined[key];
}
static const source *source_at(const spec *spec, int place) {
    const source *const at[PLACES] = {spec->input, spec->given, spec->left, spec->right, spec->any, spec->accepts};
    return at[place];
}
/* The tool with the highest rank; -1 if there is none, or more than one. An override keeps its key's rank. */
static int best_tool(const world *world) {
    int best = -1;
    bool is_one = true;
    for (int key = 0; key < TOOLS; key++) {
        if (!world->defined[key]) continue;
        int order = best < 0 ? 1 : world->defined[key]->rank - world->defined[best]->rank;
        if (order > 0) best = key, is_one = true;
        else if (order == 0) is_one = false;
    }
    return is_one ? best : -1;
}
/* A binding stays as long as possible, unless the lookup is greedy; also after a redefinition (W-L2). */
static void bind(world *world) {
    for (int key = 0; key < KEYS; key++)
        for (int place = 0; place < PLACES; place++) {
            const spec *spec = effective(world, key);
            bool makes = spec && spec->kind != ALIAS && spec->kind != CHOICE && (top_of(world, key) || !decides(world, key, DECIDES_ALIAS));
            const source *source = makes ? source_at(spec, place) : NULL;
            int *bound = &world->bound[key][place];
            if (!source || source->how != BY_TYPE) *bound = -1;
            else if (*bound < 0 || !world->defined[*bound] || source->flags & INVIVO_INJECT_GREEDY) *bound = best_tool(world);
        }
}

/* ---- printing ------------------------------------------------------------------------------------------ */

static void print_source(const char *name, const source *source) {
    static const char *const how[] = {"nothing", "number", "ref", "config", "list", "provider", "lazy", "weak", "type Tool", "all", "argument"};
    if (!source) return;
    fprintf(stderr, " %s%s", name, how[source->how]);
    if (source->how == NUMBER) fprintf(stderr, "(%d)", source->number);
    if (source->how == CONFIG) fprintf(stderr, "(%s, default %d)", paths[source->path], source->number);
    if (source->how == ALL_OF) fprintf(stderr, " %s", source->key ? "Voice" : "Tool");
    if (source->how == REFERENCE) fprintf(stderr, "(%s)", key_names[source->key]);
    if (source->how == REFERENCE && source->number) fprintf(stderr, " of %d", source->number);
    if (source->flags & INVIVO_INJECT_OPTIONAL) fprintf(stderr, "?");
    if (source->flags & INVIVO_INJECT_OWNS) fprintf(stderr, " owned");
    for (int i = 0; i < source->count; i++) print_source("(", source->items[i]), fprintf(stderr, ")");
}
static void print_spec(const char *what, const spec *spec) {
    static const char *const scopes[] = {"", "prototype", "graph", "singleton", "lazy", "weak", "", "thread", "host"};
    static const char *const kind[] = {"", "alias", "choice", "maker", "factory"};
    if (!is_tracing) return;
    fprintf(stderr, "  %s %s %s %s", what, key_names[spec->key], kind[spec->kind], spec->kind == MAKES || spec->kind == CHOICE ? "" : key_names[spec->target]);
    if (spec->kind != ALIAS && spec->kind != CHOICE)
        fprintf(stderr, " %s %s rank %d%s%s", spec->type < 0 ? "" : kinds[spec->type].name, scopes[spec->scope], spec->rank,
                spec->flags & INVIVO_DEFINITION_EXCLUSIVE ? " exclusive" : "", spec->flags & INVIVO_DEFINITION_TRACKED ? " tracked" : "");
    if (spec->parent >= 0) fprintf(stderr, " parent %s", key_names[spec->parent]);
    if (spec->flags & INVIVO_DEFINITION_ABSTRACT) fprintf(stderr, " abstract");
    if (spec->flags & INVIVO_DEFINITION_WAITS) fprintf(stderr, " waits");
    if (spec->takes_argument) fprintf(stderr, " takes an argument");
    print_source("input=", spec->input), print_source("number=", spec->number), print_source("given=", spec->given);
    print_source("left=", spec->left), print_source("right=", spec->right), print_source("any=", spec->any);
    print_source("level=", spec->level), print_source("accept=", spec->accepts);
    for (int i = 0; i < 3; i++) print_source(i == 2 ? "otherwise " : i ? "1: " : "0: ", spec->options[i]);
    fprintf(stderr, "\n");
}

#endif
