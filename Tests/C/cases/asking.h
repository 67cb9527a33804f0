/* asking.h: statements that resolve objects, and that inject into objects of the host. */
#ifndef INVIVO_TESTS_CASES_ASKING_H
#define INVIVO_TESTS_CASES_ASKING_H

#include "changes.h"

static size_t arguments_of(const part *words, size_t count, invivo_value *out) {
    size_t length = 0;
    for (size_t i = 0; i < count && length < 16; i++) if (!words[i].label) out[length++] = value_of(&words[i]);
    return length;
}
static void arguments_clear(invivo_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) invivo_value_clear(&values[i]);
}
/* Takes over the lease. */
static invivo_status answer_object(invivo_status status, invivo_object object, invivo_value *out) {
    if (!status && object.bits) {
        invivo_value borrowed = invivo_object_value(object);
        invivo_value_copy(out, &borrowed, NULL);
        invivo_object_release(object);
    }
    return status;
}

STATEMENT(resolve) {
    UNUSED;
    invivo_value arguments[16];
    invivo_key key;
    invivo_object object = {0};
    if (count == 2) return answer_object(invivo_resolve_name(runtime, words[1].text, &object, error), object, out);
    invivo_status status = invivo_key_find(runtime, words[1].text, &key, error);
    if (status) return status;
    size_t length = arguments_of(words + 2, count - 2, arguments);
    status = invivo_resolve_with(runtime, key, arguments, length, &object, error);
    arguments_clear(arguments, length);
    return answer_object(status, object, out);
}
STATEMENT(optional) {
    UNUSED;
    invivo_value arguments[16];
    invivo_key key;
    invivo_object object = {0};
    invivo_status status = invivo_key_intern(runtime, words[1].text, &key, error);
    if (status) return status;
    size_t length = arguments_of(words + 2, count - 2, arguments);
    status = invivo_resolve_optional(runtime, key, arguments, length, &object, error);
    arguments_clear(arguments, length);
    return answer_object(status, object, out);
}
STATEMENT(find) {
    UNUSED;
    invivo_object object = {0};
    const part *name = script_labelled(said, "named");
    uint32_t flags = (script_says(said, 1, "exact") ? INVIVO_LOOKUP_EXACT : 0) | (script_says(said, 1, "optional") ? INVIVO_LOOKUP_OPTIONAL : 0);
    return answer_object(invivo_resolve_type(runtime, words[1].text, name ? name->text : NULL, flags, &object, error), object, out);
}
STATEMENT(all) {
    UNUSED;
    return invivo_resolve_all(runtime, words[1].text, script_says(said, 1, "exact") ? INVIVO_LOOKUP_EXACT : 0, out, error);
}
STATEMENT(make) {
    UNUSED;
    invivo_value arguments[16] = {{0}};
    invivo_object object = {0};
    kind *kind = kind_named(words[1].text);
    size_t length = arguments_of(words + 2, count - 2, arguments);
    invivo_status status = kind ? invivo_object_make(runtime, kind->type[runtime_number], arguments, length, &object, error) : INVIVO_E_TYPE;
    arguments_clear(arguments, length);
    return answer_object(status, object, out);
}
STATEMENT(own) { /* an object of the host: nothing is injected */
    UNUSED;
    kind *kind = kind_named(words[1].text);
    const part *given = script_labelled(said, "given");
    invivo_value arguments[3] = {invivo_null(), invivo_null(), given ? invivo_string(given->text) : invivo_null()};
    thing *instance = script_memory(sizeof *instance);
    invivo_object object = {0};
    if (!kind) return INVIVO_E_TYPE;
    invivo_status status = thing_init(instance, NULL, arguments, 3, kind, error);
    instance->runtime = runtime;
    if (!status) status = invivo_object_wrap(runtime, kind->type[runtime_number], instance, &object, error);
    return answer_object(status, object, out);
}
STATEMENT(call) {
    UNUSED;
    invivo_value arguments[16], object = value_at(words[1].text);
    size_t length = arguments_of(words + 3, count - 3, arguments);
    invivo_status status = invivo_object_call(object.as.object, words[2].text, arguments, length, out, error);
    arguments_clear(arguments, length);
    invivo_value_clear(&object);
    return status;
}
STATEMENT(invoke) { /* a provider, lazy, weak reference or resolver */
    UNUSED;
    invivo_value arguments[16], callable = value_at(words[1].text);
    size_t length = arguments_of(words + 2, count - 2, arguments);
    if (callable.kind != INVIVO_KIND_CALLABLE) WRONG("%s is no callable", words[1].text);
    invivo_status status = invivo_callable_call(callable.as.callable, arguments, length, out, error);
    arguments_clear(arguments, length);
    invivo_value_clear(&callable);
    return status;
}
STATEMENT(release) {
    UNUSED;
    for (size_t i = 1; i < count; i++) {
        named *found = named_find(words[i].text, strlen(words[i].text));
        if (!found) {
            WRONG("'%s' is no name of this case", words[i].text);
            continue;
        }
        invivo_value_clear(&found->value);
        *found = names[--name_count];
    }
    return INVIVO_OK;
}

typedef struct awaited { pthread_mutex_t lock; int done; answer answer; } awaited;
static void async_resolved(void *user_data, invivo_object object, const invivo_error *error) {
    awaited *self = user_data;
    self->answer.status = invivo_error_code(error);
    if (error) self->answer.error = invivo_error_make(invivo_error_code(error), invivo_error_text(error), NULL, NULL);
    answer_object(self->answer.status, object, &self->answer.value);
    __atomic_store_n(&self->done, 1, __ATOMIC_SEQ_CST);
}
STATEMENT(async) {
    UNUSED;
    invivo_key key;
    awaited self = {.answer = {.value = invivo_null()}};
    invivo_status status = invivo_key_find(runtime, words[1].text, &key, error);
    if (!status) status = invivo_resolve_async(runtime, key, NULL, 0, async_resolved, &self, (invivo_domain){0}, error);
    if (status) return status;
    while (!__atomic_load_n(&self.done, __ATOMIC_SEQ_CST)) invivo_runtime_poll(runtime, 2, NULL, NULL);
    *out = self.answer.value, *error = self.answer.error;
    return self.answer.status;
}

/* ---- injection into objects of the host ---------------------------------------------------------------- */

static uint8_t tree_is_foreign(invivo_object object, void *user_data) {
    return object.bits == ((invivo_object *)user_data)->bits;
}
STATEMENT(inject) {
    UNUSED;
    invivo_key key = {0};
    invivo_value object = value_at(words[1].text);
    const part *named_key = script_labelled(said, "key");
    invivo_status status = named_key ? invivo_key_find(runtime, named_key->text, &key, error) : INVIVO_OK;
    if (!status) status = invivo_inject_with(object.as.object, key, script_says(said, 2, "shared") ? INVIVO_INTO_SHARED : 0, error);
    invivo_value_clear(&object);
    return status;
}
STATEMENT(inject_tree) {
    UNUSED;
    invivo_value object = value_at(words[1].text), other = invivo_null();
    const part *key = script_labelled(said, "key"), *foreign = script_labelled(said, "foreign");
    invivo_tree tree = {.struct_size = sizeof tree, .key = key ? key->text : NULL, .flags = script_says(said, 2, "known") ? INVIVO_INTO_KNOWN : 0};
    if (foreign) other = value_at(foreign->text), tree.is_foreign = tree_is_foreign, tree.user_data = &other.as.object;
    invivo_status status = invivo_inject_tree(object.as.object, &tree, error);
    invivo_value_clear(&object);
    invivo_value_clear(&other);
    return status;
}

#endif
