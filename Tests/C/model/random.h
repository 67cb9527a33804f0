/* random.h: the input of both sides: random definitions; and their printed form. */
#ifndef INVIVO_TESTS_MODEL_RANDOM_H
#define INVIVO_TESTS_MODEL_RANDOM_H

#include "reloaded.h"

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

/* -- printing */

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

#endif
