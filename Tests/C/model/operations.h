/* operations.h: random operations, performed by both sides. */
#ifndef INVIVO_TESTS_MODEL_OPERATIONS_H
#define INVIVO_TESTS_MODEL_OPERATIONS_H

#include "random.h"

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
/* A returned lease is kept, or released at once. */
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
    /* The error of a removal names the removal. */
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
    /* Keys that are declared first may be referenced by all. */
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

#endif
