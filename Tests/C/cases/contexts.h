/* contexts.h: statements for contexts. */
#ifndef INVIVO_TESTS_CASES_CONTEXTS_H
#define INVIVO_TESTS_CASES_CONTEXTS_H

#include "processing.h"

/* The contexts of a case by name, and their observers. A name stays when its context has ended. */
typedef struct named_context {
    char name[32];
    invivo_context context;
} named_context;
static named_context named_contexts[64];
static size_t context_count;

static named_context *context_named(const char *name) {
    for (size_t i = 0; i < context_count; i++)
        if (!strcmp(named_contexts[i].name, name)) return &named_contexts[i];
    return NULL;
}
static invivo_context context_at(const char *name) {
    named_context *found = context_named(name);
    if (!found) WRONG("'%s' is no context of this case", name);
    return found ? found->context : (invivo_context){0};
}
static const char *context_said(invivo_context context) {
    for (size_t i = context_count; context.bits && i > 0; i--)
        if (named_contexts[i - 1].context.bits == context.bits) return named_contexts[i - 1].name;
    return "none";
}
static void expect_context(invivo_context found, const char *wanted) {
    if (strcmp(context_said(found), wanted)) WRONG("the context is %s", context_said(found));
}
static invivo_key context_key(const char *name) {
    invivo_key key = {0};
    OK(invivo_key_intern(runtime, name, &key, E));
    return key;
}

/* "set KEY VALUE", "remove KEY", "hide KEY" below a statement. */
static size_t context_changes(const line *said, invivo_context_change *changes) {
    size_t length = 0;
    for (size_t i = 0; i < said->below_count && length < 16; i++) {
        const line *below = said->below[i];
        bool sets = script_is(below, "set"), removes = script_is(below, "remove");
        if (!sets && !removes && !script_is(below, "hide")) continue;
        changes[length++] = (invivo_context_change){.key = context_key(below->words[1].text),
                                                    .what = sets ? INVIVO_VALUE_SET : removes ? INVIVO_VALUE_REMOVE : INVIVO_VALUE_HIDE,
                                                    .value = sets ? value_of(&below->words[2]) : invivo_null()};
    }
    return length;
}

static invivo_status context_open(const line *said, const part *words, invivo_error **error) {
    const part *kind = script_labelled(said, "kind"), *below = script_labelled(said, "below"), *object = script_labelled(said, "object");
    invivo_context_change given[16];
    invivo_context_value values[16];
    size_t length = context_changes(said, given);
    for (size_t i = 0; i < length; i++) values[i] = (invivo_context_value){.key = given[i].key, .value = given[i].value};
    invivo_value held = object ? value_at(object->text) : invivo_null();
    invivo_context_options options = {
        .struct_size = sizeof options, .kind = kind ? kind->text : NULL, .parent = below ? context_at(below->text) : (invivo_context){0},
        .flags = (script_says(said, 3, "detached") ? INVIVO_CONTEXT_DETACHED : 0) | (script_says(said, 3, "strong") ? INVIVO_CONTEXT_STRONG_PARENT : 0) |
                 (script_says(said, 3, "weak") ? INVIVO_CONTEXT_WEAK_PARENT : 0),
        .values = values, .value_count = length, .object = held.kind == INVIVO_KIND_OBJECT ? held.as.object : (invivo_object){0}};
    named_context *named = context_named(words[2].text);
    if (!named) named = &named_contexts[context_count++];
    snprintf(named->name, sizeof named->name, "%s", words[2].text);
    invivo_status status = invivo_context_open(runtime, &options, &named->context, error);
    for (size_t i = 0; i < length; i++) invivo_value_clear(&values[i].value);
    invivo_value_clear(&held);
    return status;
}

static invivo_status context_declare(const part *words, size_t count, invivo_error **error) {
    invivo_context_kind kind = {.struct_size = sizeof kind, .name = words[2].text, .policy = INVIVO_CONTEXT_FOLLOWS};
    invivo_context_provided provided[16];
    for (size_t i = 3; i < count; i++)
        for (size_t j = 0; words[i].call && j < words[i].count && kind.provided_count < 16; j++)
            provided[kind.provided_count++] = (invivo_context_provided){
                .key = words[i].items[j].text, .flags = strcmp(words[i].text, "live") ? 0 : INVIVO_PROVIDED_LIVE};
    kind.provides = provided;
    return invivo_context_declare_kinds(runtime, &kind, 1, error);
}

static invivo_status context_declare_key(const line *said, const part *words, invivo_error **error) {
    const part *kind = script_labelled(said, "kind"), *type = script_labelled(said, "type"), *initial = script_labelled(said, "default");
    invivo_value value = initial ? value_of(initial) : invivo_null();
    invivo_context_key key = {.struct_size = sizeof key, .name = words[2].text, .kind = INVIVO_KIND_ANY, .type_name = type ? type->text : NULL,
                              .initial = initial ? &value : NULL};
    for (uint32_t i = 0; kind && i < INVIVO_KIND_COUNT; i++) if (!strcmp(invivo_kind_name(i), kind->text)) key.kind = i;
    if (type) key.kind = INVIVO_KIND_OBJECT;
    invivo_status status = invivo_context_declare_key(runtime, &key, error);
    invivo_value_clear(&value);
    return status;
}

static void context_changed(void *user_data, invivo_context context, invivo_key key, const invivo_value *value) {
    (void)user_data, (void)value;
    event(NULL, "changed(%s/%s)", context_said(context), invivo_key_name(key));
}

STATEMENT(context) {
    UNUSED;
    const char *verb = words[1].text, *name = words[2].text, *more = count > 3 ? words[3].text : "";
    if (!strcmp(verb, "kind")) return context_declare(words, count, error);
    if (!strcmp(verb, "key")) return context_declare_key(said, words, error);
    if (!strcmp(verb, "open")) return context_open(said, words, error);
    if (!strcmp(verb, "current")) {
        expect_context(invivo_context_current(runtime), name);
        return INVIVO_OK;
    }
    if (!strcmp(verb, "detach") || !strcmp(verb, "of")) {
        invivo_context found = {0};
        invivo_value object = value_at(name);
        invivo_status status = !strcmp(verb, "of") ? invivo_context_of(object.as.object, &found, error) : invivo_context_detach(object.as.object, error);
        if (!status && !strcmp(verb, "of")) expect_context(found, more);
        invivo_value_clear(&object);
        return status;
    }
    invivo_context context = context_at(name), found = {0};
    invivo_object object = {0};
    if (!strcmp(verb, "end")) return invivo_context_end(context, error);
    if (!strcmp(verb, "hold")) return invivo_context_retain(context, error);
    if (!strcmp(verb, "release")) return invivo_context_release(context, error);
    if (!strcmp(verb, "get")) return invivo_context_get(context, context_key(more), out, error);
    if (!strcmp(verb, "local")) return invivo_context_get_local(context, context_key(more), out, error);
    if (!strcmp(verb, "remove")) return invivo_context_remove(context, context_key(more), error);
    if (!strcmp(verb, "hide")) return invivo_context_hide(context, context_key(more), error);
    if (!strcmp(verb, "entries")) return invivo_context_entries(context, !strcmp(more, "local"), out, error);
    if (!strcmp(verb, "object")) return answer_object(invivo_context_object(context, &object, error), object, out);
    if (!strcmp(verb, "set")) {
        invivo_value value = value_of(&words[4]);
        invivo_status status = invivo_context_set(context, context_key(more), &value, error);
        invivo_value_clear(&value);
        return status;
    }
    if (!strcmp(verb, "change")) {
        invivo_context_change changes[16];
        size_t length = context_changes(said, changes);
        invivo_status status = invivo_context_change_values(context, changes, length, error);
        for (size_t i = 0; i < length; i++) invivo_value_clear(&changes[i].value);
        return status;
    }
    if (!strcmp(verb, "parent")) {
        invivo_status status = invivo_context_parent(context, &found, error);
        if (!status) expect_context(found, more);
        return status;
    }
    if (!strcmp(verb, "kind_of")) {
        const char *kind;
        invivo_status status = invivo_context_kind_name(context, &kind, error);
        if (!status && strcmp(kind ? kind : "none", more)) WRONG("the kind is %s", kind ? kind : "none");
        return status;
    }
    if (!strcmp(verb, "find")) { /* context find NAME FOUND kind=K | type=T [exact] [above] */
        const part *kind = script_labelled(said, "kind"), *type = script_labelled(said, "type");
        invivo_context_query query = {.struct_size = sizeof query, .kind = kind ? kind->text : NULL, .type = type ? type->text : NULL,
                                      .flags = (script_says(said, 4, "above") ? INVIVO_FIND_ABOVE : 0) |
                                               (script_says(said, 4, "exact") ? INVIVO_FIND_EXACT_TYPE : 0)};
        invivo_status status = invivo_context_find(context, &query, &found, error);
        if (!status) expect_context(found, more);
        return status;
    }
    if (!strcmp(verb, "attach")) {
        invivo_value target = value_at(more);
        invivo_status status = invivo_context_attach(context, target.as.object, error);
        invivo_value_clear(&target);
        return status;
    }
    if (!strcmp(verb, "observe")) {
        invivo_observer observer;
        invivo_context_observer options = {.struct_size = sizeof options, .changed = context_changed};
        return invivo_context_observe(context, context_key(more), &options, &observer, error);
    }
    if (!strcmp(verb, "inside")) {
        invivo_status status = invivo_context_enter(context, error);
        if (status) return status;
        for (size_t i = 0; i < said->below_count; i++) run(said->below[i]);
        return invivo_context_leave(context, error);
    }
    WRONG("a context does not '%s'", verb);
    return INVIVO_OK;
}

#endif
