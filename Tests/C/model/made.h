/* made.h: the model: creation, with chains as the header describes them. */
#ifndef INVIVO_TESTS_MODEL_MADE_H
#define INVIVO_TESTS_MODEL_MADE_H

#include "compiled.h"

typedef struct frame {
    const recipe *recipe;
    value arguments[MOST_ARGUMENTS];
    int argument_count;
    cell *cell;
    object *object;
    int asker, mark, low, temps;
    bool is_null; /* its factory returned null */
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
    value temps[MOST_MADE]; /* objects that are held while a step is evaluated */
    int temp_count;
    int later;
    int depth;
} chain;
static chain *current;
static bool too_much; /* the sequence is abandoned: it has too many events */

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
        /* A lazy drops an object that a reload replaced. */
        if (value->callable->knows && value->callable->version == versions[value->callable->key]) reach(&value->callable->known);
    }
}
static void reach_graph(graph *graph) {
    for (int key = 0; graph && key < KEYS; key++) {
        for (cell *cell = graph->cells[key]; cell; cell = cell->variants) {
            if (cell->state == 2 && cell->recipe->scope != INVIVO_SCOPE_WEAK_SINGLETON) reach_object(cell->object);
            /* Ended weak ones are removed when there are many. */
            for (int i = 0; i < cell->argument_count; i++) reach(&cell->arguments[i]);
        }
    }
}
/* Marks held objects. */
static graph *also; /* the graph of the current reload */
static cell *held_by_commit[MOST_MADE]; /* objects of a reload exist until its end, and are dropped if it fails */
static int held_count;
/* For one reload: injections that are repeated in a kept object. */
typedef struct again { const recipe *recipe, *former_recipe; object *object; const bool *changed; value former[STEPS * 8]; int done; } again;
static again *agains; /* their former values exist until the end: they may have to be restored */
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
        current->temp_count = temps; /* an object that is only read from is not held */
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
/* Objects created since then are dropped, except for complete shared objects. */
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

/* The deferred steps of a frame, each as if its object had just been created. */
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
    made->made_count = recipe->initializer_count; /* runtime arguments belong to the caller */
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
        if (count > 0) return INVIVO_E_ARITY;
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

#endif
