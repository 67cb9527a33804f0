/* Contexts as tables: values, the chain, life, kinds, observers and objects. docs/rules/contexts.md. */
/* sanitize: yes */
#include "thing.h"

static invivo_runtime runtime;

static invivo_key key_of(const char *name) {
    invivo_key key;
    OK(invivo_key_intern(runtime, name, &key, E));
    return key;
}
static invivo_context open_with(const invivo_context_options *options) {
    invivo_context context;
    OK(invivo_context_open(runtime, options, &context, E));
    return context;
}
static invivo_context below(invivo_context parent) {
    return open_with(&(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = parent});
}
static void set_number(invivo_context context, const char *key, int64_t number) {
    invivo_value value = invivo_int64(number);
    OK(invivo_context_set(context, key_of(key), &value, E));
}
/* The number that a get finds; -1: nothing, -2: orphaned, -3: ended. */
static int64_t number_of(invivo_context context, const char *key) {
    invivo_value value;
    invivo_status status = invivo_context_get(context, key_of(key), &value, NULL);
    if (status == INVIVO_E_NOT_FOUND) return -1;
    if (status == INVIVO_E_ORPHANED) return -2;
    if (status == INVIVO_E_STALE) return -3;
    CHECK_EQUAL(status, INVIVO_OK);
    return value.as.signed_integer;
}
static int64_t local_number(invivo_context context, const char *key) {
    invivo_value value;
    return invivo_context_get_local(context, key_of(key), &value, NULL) == INVIVO_OK ? value.as.signed_integer : -1;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static void the_first_hit_upward_wins(void) {
    invivo_context root = open_with(NULL), child = below(root), leaf = below(child);
    set_number(root, "baz", 123);
    set_number(root, "bar", 5);
    set_number(leaf, "baz", 456);
    CHECK_EQUAL(number_of(leaf, "bar"), 5);
    CHECK_EQUAL(number_of(leaf, "baz"), 456);
    CHECK_EQUAL(number_of(child, "baz"), 123);
    CHECK_EQUAL(local_number(child, "baz"), -1);
    CHECK_EQUAL(local_number(leaf, "baz"), 456);
    OK(invivo_context_remove(leaf, key_of("baz"), E));
    CHECK_EQUAL(number_of(leaf, "baz"), 123);
    OK(invivo_context_hide(child, key_of("baz"), E));
    CHECK_EQUAL(number_of(leaf, "baz"), -1);
    CHECK_EQUAL(number_of(root, "baz"), 123);
    OK(invivo_context_remove(child, key_of("baz"), E));
    CHECK_EQUAL(number_of(leaf, "baz"), 123);
    OK(invivo_context_end(leaf, E));
    OK(invivo_context_end(child, E));
    OK(invivo_context_end(root, E));
}

static void values_of_all_kinds_are_shared(void) {
    invivo_context context = open_with(NULL);
    invivo_value items[] = {invivo_int64(1), invivo_string("two"), invivo_list((invivo_value[]){invivo_bool(true)}, 1)};
    invivo_pair pairs[] = {{.name = "x", .length = 1, .value = invivo_double(2.5)}, {.name = "name", .length = 4, .value = invivo_string("n")}};
    invivo_value named = invivo_null();
    named.kind = INVIVO_KIND_ENUMERATION, named.as.enumeration.number = 3, named.as.enumeration.name = "three";
    struct { const char *key; invivo_value value; } cases[] = {
        {"bool", invivo_bool(true)}, {"int", invivo_int64(-5)}, {"uint", invivo_uint64(UINT64_MAX)}, {"float", invivo_float(1.5f)},
        {"double", invivo_double(0.1)}, {"text", invivo_string("hello")}, {"empty", invivo_string("")},
        {"bytes", invivo_bytes((const uint8_t *)"\0\1\2", 3)}, {"none", invivo_bytes(NULL, 0)}, {"list", invivo_list(items, 3)},
        {"nothing", invivo_list(NULL, 0)}, {"map", invivo_map(pairs, 2)}, {"enumeration", named}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invivo_value first, second;
        OK(invivo_context_set(context, key_of(cases[i].key), &cases[i].value, E));
        OK(invivo_context_get(context, key_of(cases[i].key), &first, E));
        OK(invivo_context_get(context, key_of(cases[i].key), &second, E));
        CHECK_EQUAL(first.kind, cases[i].value.kind);
        CHECK(memcmp(&first.as, &second.as, sizeof first.as) == 0);
        invivo_value_clear(&first);
        /* The copy outlives the value in the context. */
        if (i % 2) OK(invivo_context_remove(context, key_of(cases[i].key), E));
        if (second.kind == INVIVO_KIND_STRING) CHECK_EQUAL(second.as.string.length, cases[i].value.as.string.length);
        if (second.kind == INVIVO_KIND_STRING) CHECK_TEXT(second.as.string.data, cases[i].value.as.string.data);
        if (second.kind == INVIVO_KIND_LIST) CHECK_EQUAL(second.as.list.count, cases[i].value.as.list.count);
        if (second.kind == INVIVO_KIND_LIST && second.as.list.count) CHECK_TEXT(second.as.list.items[1].as.string.data, "two");
        if (second.kind == INVIVO_KIND_MAP) CHECK_TEXT(second.as.map.pairs[1].name, "name");
        if (second.kind == INVIVO_KIND_ENUMERATION) CHECK_TEXT(second.as.enumeration.name, "three");
        invivo_value_clear(&second);
    }
    OK(invivo_context_end(context, E));
}

static int destroyed;
static invivo_status invoke(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)error;
    *result = invivo_int64(7);
    return INVIVO_OK;
}
static void count_destroyed(void *user_data) { (void)user_data, destroyed++; }

static void objects_and_callables_are_leased(void) {
    invivo_context context = open_with(NULL);
    invivo_type type;
    invivo_object object;
    invivo_callable callable;
    destroyed = 0;
    OK(invivo_type_find(runtime, "Thing", &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_callable_make(runtime, &(invivo_callable_options){.struct_size = sizeof(invivo_callable_options), .name = "seven",
                                                                .invoke = invoke, .destroy = count_destroyed}, &callable, E));
    invivo_value value = invivo_object_value(object), found;
    OK(invivo_context_set(context, key_of("object"), &value, E));
    invivo_value items[] = {invivo_object_value(object), invivo_callable_value(callable)};
    invivo_value list = invivo_list(items, 2), called = invivo_callable_value(callable);
    OK(invivo_context_set(context, key_of("list"), &list, E));
    OK(invivo_context_set(context, key_of("callable"), &called, E));
    OK(invivo_object_release(object));
    OK(invivo_callable_release(callable));
    CHECK_EQUAL(things, 1);
    OK(invivo_context_get(context, key_of("object"), &found, E));
    CHECK_EQUAL(found.as.object.bits, object.bits);
    OK(invivo_context_remove(context, key_of("object"), E));
    OK(invivo_context_remove(context, key_of("list"), E));
    CHECK_EQUAL(things, 1);
    invivo_value_clear(&found);
    CHECK_EQUAL(things, 0);
    OK(invivo_context_get(context, key_of("callable"), &found, E));
    OK(invivo_context_end(context, E));
    CHECK_EQUAL(destroyed, 0);
    invivo_value result;
    OK(invivo_callable_call(found.as.callable, NULL, 0, &result, E));
    CHECK_EQUAL(result.as.signed_integer, 7);
    invivo_value_clear(&found);
    CHECK_EQUAL(destroyed, 1);
}

static void several_keys_change_at_once_or_not_at_all(void) {
    invivo_context root = open_with(NULL), context = below(root);
    set_number(root, "b", 20);
    set_number(context, "b", 2);
    set_number(context, "c", 3);
    invivo_context_change changes[] = {{.key = key_of("a"), .what = INVIVO_VALUE_SET, .value = invivo_int64(1)},
                                       {.key = key_of("b"), .what = INVIVO_VALUE_REMOVE},
                                       {.key = key_of("c"), .what = INVIVO_VALUE_HIDE}};
    OK(invivo_context_change_values(context, changes, 3, E));
    CHECK_EQUAL(number_of(context, "a"), 1);
    CHECK_EQUAL(number_of(context, "b"), 20);
    CHECK_EQUAL(number_of(context, "c"), -1);
    changes[0].value = invivo_int64(9);
    expects_error(invivo_context_change_values(context, changes, 2, E), INVIVO_E_NOT_FOUND,
                  "b: the context has no value of its own for 'b' to remove");
    CHECK_EQUAL(number_of(context, "a"), 1);
    changes[1].key = changes[0].key;
    expects_error(invivo_context_change_values(context, changes, 2, E), INVIVO_E_ARGUMENT,
                  "a: the key 'a' is changed twice in one change");
    changes[1].what = 9, changes[1].key = key_of("b");
    expects_error(invivo_context_change_values(context, changes, 2, E), INVIVO_E_ARGUMENT,
                  "changes[1].what is 9: it is INVIVO_VALUE_SET, _REMOVE or _HIDE");
    OK(invivo_context_change_values(context, NULL, 0, E));
    OK(invivo_context_end(root, E));
    OK(invivo_context_end(context, E));
}

static void null_is_refused(void) {
    invivo_context context = open_with(NULL);
    invivo_value null = invivo_null();
    expects_error(invivo_context_set(context, key_of("a"), &null, E), INVIVO_E_NULL,
                  "a: the value for the key 'a' of a context is null: remove the key, or hide it");
    expects_error(invivo_context_set(context, key_of("a"), NULL, E), INVIVO_E_ARGUMENT, "value is NULL");
    invivo_context_value values[] = {{.key = key_of("a")}};
    invivo_context other;
    expects_error(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .values = values,
                                                                        .value_count = 1}, &other, E), INVIVO_E_NULL, NULL);
    CHECK_EQUAL(other.bits, 0);
    OK(invivo_context_end(context, E));
}

static void many_keys_are_found_and_removed_ones_take_no_room(void) {
    enum { KEYS = 20000 };
    invivo_context context = open_with(NULL);
    static invivo_key keys[KEYS];
    for (int i = 0; i < KEYS; i++) {
        char name[32];
        snprintf(name, sizeof name, "many.%d", i);
        keys[i] = key_of(name);
        invivo_value value = invivo_int64(i);
        OK(invivo_context_set(context, keys[i], &value, E));
        if (i % 16) OK(invivo_context_remove(context, keys[i], E));
    }
    for (int i = 0; i < KEYS; i++) {
        invivo_value value;
        CHECK_EQUAL(invivo_context_get(context, keys[i], &value, NULL), i % 16 ? INVIVO_E_NOT_FOUND : INVIVO_OK);
        if (i % 16 == 0) CHECK_EQUAL(value.as.signed_integer, i);
    }
    invivo_value entries;
    OK(invivo_context_entries(context, false, &entries, E));
    CHECK_EQUAL(entries.as.list.count, KEYS / 16);
    invivo_value_clear(&entries);
    OK(invivo_context_end(context, E));
}

static void a_chain_of_ten_thousand_works_and_ends(void) {
    enum { LEVELS = 10000 };
    static invivo_context chain[LEVELS];
    for (int hold = 0; hold < 2; hold++) {
        for (int i = 0; i < LEVELS; i++)
            chain[i] = open_with(&(invivo_context_options){
                .struct_size = sizeof(invivo_context_options), .parent = i ? chain[i - 1] : (invivo_context){0},
                .flags = hold && i ? INVIVO_CONTEXT_STRONG_PARENT : 0});
        set_number(chain[0], "deep", 1);
        CHECK_EQUAL(number_of(chain[LEVELS - 1], "deep"), 1);
        if (hold) {
            for (int i = 0; i < LEVELS; i++) OK(invivo_context_release(chain[i], E));
        } else {
            for (int i = 0; i < LEVELS; i++) OK(invivo_context_end(chain[i], E));
        }
        CHECK_EQUAL(number_of(chain[LEVELS - 1], "deep"), -3);
    }
}

static void a_borrowed_value_stays_until_the_view_ends(void) {
    invivo_context root = open_with(NULL), context = below(root);
    invivo_value text = invivo_string("first"), other = invivo_string("second");
    OK(invivo_context_set(root, key_of("text"), &text, E));
    invivo_view outer = invivo_view_begin(runtime), view = invivo_view_begin(runtime);
    const invivo_value *borrowed = invivo_view_context_value(view, context, key_of("text"));
    CHECK_TEXT(borrowed ? borrowed->as.string.data : NULL, "first");
    OK(invivo_context_set(root, key_of("text"), &other, E));
    for (int i = 0; i < 4000; i++) OK(invivo_context_set(root, key_of("text"), &other, E));
    invivo_view_end(view);
    CHECK_TEXT(borrowed ? borrowed->as.string.data : NULL, "first");
    OK(invivo_context_end(context, E));
    OK(invivo_context_end(root, E));
    CHECK_TEXT(borrowed ? borrowed->as.string.data : NULL, "first");
    CHECK(invivo_view_context_value(outer, context, key_of("text")) == NULL);
    invivo_view_end(outer);
    CHECK(invivo_view_context_value((invivo_view){0}, root, key_of("text")) == NULL);
}

static void entries_have_their_origin(void) {
    invivo_context root = open_with(NULL), middle = below(root), leaf = below(middle);
    set_number(root, "a", 1), set_number(root, "b", 2), set_number(root, "c", 3);
    set_number(middle, "b", 20), set_number(leaf, "d", 4);
    OK(invivo_context_hide(leaf, key_of("c"), E));
    invivo_value entries;
    OK(invivo_context_entries(leaf, false, &entries, E));
    const struct { const char *name; int64_t number; uint64_t distance; } expected[] = {{"a", 1, 2}, {"b", 20, 1}, {"d", 4, 0}};
    CHECK_EQUAL(entries.as.list.count, 3);
    for (size_t i = 0; i < 3 && i < entries.as.list.count; i++) {
        const invivo_value *entry = entries.as.list.items[i].as.list.items;
        CHECK_TEXT(entry[0].as.string.data, expected[i].name);
        CHECK_EQUAL(entry[1].as.signed_integer, expected[i].number);
        CHECK_EQUAL(entry[2].as.unsigned_integer, expected[i].distance);
    }
    invivo_value_clear(&entries);
    OK(invivo_context_entries(leaf, true, &entries, E));
    CHECK_EQUAL(entries.as.list.count, 1);
    invivo_value_clear(&entries);
    OK(invivo_context_end(root, E));
    expects_error(invivo_context_entries(leaf, false, &entries, E), INVIVO_E_ORPHANED,
                  "the context cannot find the values above it: a context above it has ended, which it does not hold");
    OK(invivo_context_entries(leaf, true, &entries, E));
    invivo_value_clear(&entries);
    OK(invivo_context_end(leaf, E));
    OK(invivo_context_end(middle, E));
}

/* ---- life --------------------------------------------------------------------------------------------- */

static void a_weak_parent_that_has_ended_leaves_an_orphan(void) {
    invivo_context root = open_with(NULL), child = below(root), parent;
    set_number(root, "a", 1), set_number(child, "b", 2);
    OK(invivo_context_release(root, E));
    CHECK_EQUAL(number_of(child, "b"), 2);
    CHECK_EQUAL(number_of(child, "a"), -2);
    invivo_value value;
    expects_error(invivo_context_get(child, key_of("a"), &value, E), INVIVO_E_ORPHANED,
                  "a: the context cannot find the value for the key 'a': a context above it has ended, which it does not hold");
    expects_error(invivo_context_parent(child, &parent, E), INVIVO_E_ORPHANED, NULL);
    CHECK_EQUAL(number_of(root, "a"), -3);
    OK(invivo_context_end(child, E));
}

static void a_held_parent_ends_with_its_last_holder(void) {
    invivo_context root = open_with(NULL);
    invivo_context child = open_with(&(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = root,
                                                                 .flags = INVIVO_CONTEXT_STRONG_PARENT});
    set_number(root, "a", 1);
    OK(invivo_context_retain(root, E));
    OK(invivo_context_release(root, E));
    OK(invivo_context_release(root, E));
    CHECK_EQUAL(number_of(child, "a"), 1);
    OK(invivo_context_release(child, E));
    CHECK_EQUAL(number_of(root, "a"), -3);
    OK(invivo_context_release(child, E));
    OK(invivo_context_release((invivo_context){0}, E));
}

static void the_end_of_a_context_ends_those_that_hold_it(void) {
    invivo_context root = open_with(NULL), kept[3];
    for (int i = 0; i < 3; i++)
        kept[i] = open_with(&(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = i == 2 ? kept[0] : root,
                                                      .flags = INVIVO_CONTEXT_STRONG_PARENT});
    invivo_context loose = below(root);
    OK(invivo_context_end(root, E));
    for (int i = 0; i < 3; i++) CHECK_EQUAL(number_of(kept[i], "a"), -3);
    CHECK_EQUAL(number_of(loose, "a"), -2);
    OK(invivo_context_end(root, E));
    OK(invivo_context_end(loose, E));
    OK(invivo_context_end(loose, E));
}

static void an_ended_handle_never_denotes_another_context(void) {
    invivo_context first = open_with(NULL);
    OK(invivo_context_end(first, E));
    for (int i = 0; i < 1000; i++) {
        invivo_context next = open_with(NULL);
        CHECK(next.bits != first.bits);
        set_number(next, "a", i);
        CHECK_EQUAL(number_of(first, "a"), -3);
        OK(invivo_context_end(next, E));
    }
    invivo_value value;
    invivo_context other;
    invivo_object object;
    const char *name;
    value = invivo_int64(1);
    expects_error(invivo_context_set(first, key_of("a"), &value, E), INVIVO_E_STALE, "the context has ended");
    expects_error(invivo_context_get(first, key_of("a"), &value, E), INVIVO_E_STALE, "the context has ended");
    expects_error(invivo_context_remove(first, key_of("a"), E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_parent(first, &other, E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_object(first, &object, E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_kind_name(first, &name, E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_retain(first, E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_enter(first, E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = first},
                                      &other, E), INVIVO_E_STALE, NULL);
    expects_error(invivo_context_set((invivo_context){0}, key_of("a"), &value, E), INVIVO_E_HANDLE, "the context handle is zero");
    expects_error(invivo_context_end((invivo_context){12345}, E), INVIVO_E_HANDLE, "this is not the handle of a context");
    expects_error(invivo_context_end((invivo_context){runtime.bits}, E), INVIVO_E_HANDLE, NULL);
}

static void contexts_of_other_runtimes_are_refused(void) {
    invivo_runtime other = thing_runtime();
    invivo_context own = open_with(NULL), foreign, child;
    OK(invivo_context_open(other, NULL, &foreign, E));
    expects_error(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options),
                                                                        .parent = foreign}, &child, E),
                  INVIVO_E_HANDLE, "the parent is a context of another runtime");
    invivo_value value = invivo_int64(1);
    expects_error(invivo_context_set(foreign, key_of("a"), &value, E), INVIVO_E_HANDLE, "the key belongs to another runtime, or is no key");
    expects_error(invivo_context_get(foreign, key_of("a"), &value, E), INVIVO_E_HANDLE, NULL);
    OK(invivo_runtime_close(other, E));
    expects_error(invivo_context_set(foreign, key_of("a"), &value, E), INVIVO_E_STALE, NULL);
    OK(invivo_context_end(foreign, E));
    OK(invivo_context_end(own, E));
}

static void close_ends_all_contexts(void) {
    invivo_runtime other = thing_runtime();
    invivo_type type;
    invivo_object object;
    invivo_context context, child;
    invivo_key key;
    OK(invivo_type_find(other, "Thing", &type, E));
    OK(invivo_object_make(other, type, NULL, 0, &object, E));
    OK(invivo_key_intern(other, "object", &key, E));
    invivo_context_value values[] = {{.key = key, .value = invivo_object_value(object)}};
    OK(invivo_context_open(other, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .values = values,
                                                            .value_count = 1, .object = object}, &context, E));
    OK(invivo_context_open(other, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = context}, &child, E));
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(other, E));
    CHECK_EQUAL(things, 0);
    invivo_value value;
    expects_error(invivo_context_get(child, key, &value, E), INVIVO_E_STALE, NULL);
}

static void close_releases_the_defaults_of_keys(void) {
    for (int deferred = 0; deferred < 2; deferred++) {
        invivo_runtime other = thing_runtime();
        invivo_type type;
        invivo_object object;
        OK(invivo_type_find(other, "Thing", &type, E));
        OK(invivo_object_make(other, type, NULL, 0, &object, E));
        invivo_value alone = invivo_object_value(object), list = invivo_list(&alone, 1);
        OK(invivo_context_declare_key(other, &(invivo_context_key){.struct_size = sizeof(invivo_context_key), .name = "alone",
                                                                   .kind = INVIVO_KIND_OBJECT, .initial = &alone}, E));
        OK(invivo_context_declare_key(other, &(invivo_context_key){.struct_size = sizeof(invivo_context_key), .name = "list",
                                                                   .kind = INVIVO_KIND_ANY, .initial = &list}, E));
        expects_error(invivo_runtime_close(other, E), INVIVO_E_BUSY, NULL);
        OK(invivo_object_release(object));
        CHECK_EQUAL(things, 1);
        OK(deferred ? invivo_runtime_close_deferred(other, E) : invivo_runtime_close(other, E));
        CHECK_EQUAL(things, 0);
    }
}

/* ---- kinds and keys ------------------------------------------------------------------------------------ */

static void kinds_have_an_order_and_provide_values(void) {
    const invivo_context_provided of_request[] = {{.key = "user"}, {.key = "locale", .flags = INVIVO_PROVIDED_LIVE}};
    const invivo_context_kind kinds[] = {
        {.struct_size = sizeof(invivo_context_kind), .name = "application", .policy = INVIVO_CONTEXT_FOLLOWS},
        {.struct_size = sizeof(invivo_context_kind), .name = "session", .policy = INVIVO_CONTEXT_FOLLOWS},
        {.struct_size = sizeof(invivo_context_kind), .name = "request", .policy = INVIVO_CONTEXT_FOLLOWS, .provides = of_request,
         .provided_count = 2}};
    OK(invivo_context_declare_kinds(runtime, kinds, 3, E));
    OK(invivo_context_declare_kinds(runtime, kinds + 1, 1, E));
    invivo_context_kind other = kinds[2];
    other.provided_count = 1;
    expects_error(invivo_context_declare_kinds(runtime, &other, 1, E), INVIVO_E_EXISTS,
                  "request: the kind of contexts 'request' is declared with another policy or other values");
    other = kinds[0], other.name = "new", other.policy = 0;
    expects_error(invivo_context_declare_kinds(runtime, &other, 1, E), INVIVO_E_ARGUMENT,
                  "new: the kind of contexts 'new' has no known policy: choose INVIVO_CONTEXT_FOLLOWS");

    invivo_context_value values[] = {{.key = key_of("user"), .value = invivo_string("ada")},
                                     {.key = key_of("locale"), .value = invivo_string("de")}};
    invivo_context_options options = {.struct_size = sizeof options, .kind = "sesion"};
    invivo_context session, request, inner, found;
    expects_error(invivo_context_open(runtime, &options, &session, E), INVIVO_E_NOT_FOUND,
                  "sesion: no kind of contexts 'sesion' is declared; did you mean 'session'?");
    options.kind = "session";
    session = open_with(&options);
    options.kind = "request", options.parent = session;
    expects_error(invivo_context_open(runtime, &options, &request, E), INVIVO_E_NOT_FOUND,
                  "request: a context of the kind 'request' is opened with 'user', 'locale': give the values when it opens");
    options.values = values, options.value_count = 2;
    options.place = (invivo_place){.file = "server.c", .line = 12};
    request = open_with(&options);
    options.parent = request;
    inner = open_with(&options);
    options.kind = "session", options.value_count = 0;
    expects_error(invivo_context_open(runtime, &options, &found, E), INVIVO_E_ARGUMENT,
                  "session: a context of the kind 'session' cannot be opened in one of the kind 'request', which is declared as an inner kind");
    invivo_value text = invivo_string("bob");
    expects_error(invivo_context_set(request, key_of("user"), &text, E), INVIVO_E_READ_ONLY,
                  "user: the value for the key 'user' is provided at the opening of the context 'request' (opened at server.c:12), and cannot change: declare it as live, or set it in a context below");
    OK(invivo_context_set(request, key_of("locale"), &text, E));
    const char *name;
    OK(invivo_context_kind_name(request, &name, E));
    CHECK_TEXT(name, "request");

    invivo_context_query query = {.struct_size = sizeof query, .kind = "request"};
    OK(invivo_context_find(inner, &query, &found, E));
    CHECK_EQUAL(found.bits, inner.bits);
    query.flags = INVIVO_FIND_ABOVE;
    OK(invivo_context_find(inner, &query, &found, E));
    CHECK_EQUAL(found.bits, request.bits);
    query.kind = "application";
    expects_error(invivo_context_find(inner, &query, &found, E), INVIVO_E_NOT_FOUND,
                  "the context 'request' (opened at server.c:12) is in no context of the kind 'application'");
    OK(invivo_context_end(session, E));
    CHECK_EQUAL(number_of(inner, "user"), -3);
}

static void a_key_may_declare_its_type_and_default(void) {
    invivo_value eight = invivo_int64(8), wrong = invivo_string("x"), found;
    invivo_context_key key = {.struct_size = sizeof key, .name = "workers", .kind = INVIVO_KIND_INT32, .initial = &eight};
    invivo_context context = open_with(NULL), child = below(context);
    OK(invivo_context_declare_key(runtime, &key, E));
    OK(invivo_context_declare_key(runtime, &key, E));
    OK(invivo_context_get(child, key_of("workers"), &found, E));
    CHECK_EQUAL(found.kind, INVIVO_KIND_INT32);
    CHECK_EQUAL(found.as.signed_integer, 8);
    expects_error(invivo_context_get_local(child, key_of("workers"), &found, E), INVIVO_E_NOT_FOUND,
                  "workers: the context has no value for the key 'workers' of its own");
    expects_error(invivo_context_set(context, key_of("workers"), &wrong, E), INVIVO_E_TYPE,
                  "workers: the value for the key 'workers' of contexts cannot be used: 'x' (a string) is not a whole number");
    set_number(context, "workers", 9);
    OK(invivo_context_get(child, key_of("workers"), &found, E));
    CHECK_EQUAL(found.kind, INVIVO_KIND_INT32);
    CHECK_EQUAL(found.as.signed_integer, 9);
    OK(invivo_context_hide(child, key_of("workers"), E));
    CHECK_EQUAL(number_of(child, "workers"), -1);
    key.kind = INVIVO_KIND_INT64;
    expects_error(invivo_context_declare_key(runtime, &key, E), INVIVO_E_EXISTS,
                  "workers: the key 'workers' of contexts is declared with another type or default");
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "default.%d", i);
        invivo_value initial = invivo_string(name);
        OK(invivo_context_declare_key(runtime, &(invivo_context_key){.struct_size = sizeof key, .name = name, .kind = INVIVO_KIND_STRING,
                                                                     .initial = &initial}, E));
        OK(invivo_context_get(child, key_of(name), &found, E));
        CHECK_TEXT(found.as.string.data, name);
        invivo_value_clear(&found);
    }
    OK(invivo_context_declare_key(runtime, &(invivo_context_key){.struct_size = sizeof key, .name = "thing", .kind = INVIVO_KIND_OBJECT,
                                                                 .type_name = "Other"}, E));
    invivo_type type;
    invivo_object object;
    OK(invivo_type_find(runtime, "Thing", &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    invivo_value value = invivo_object_value(object);
    expects_error(invivo_context_set(context, key_of("thing"), &value, E), INVIVO_E_TYPE,
                  "thing: the value for the key 'thing' of contexts cannot be used: an object of type 'Other' is needed, not of type 'Thing'");
    OK(invivo_type_extend(runtime, type, "Other", E));
    OK(invivo_context_set(context, key_of("thing"), &value, E));
    OK(invivo_object_release(object));
    OK(invivo_context_end(context, E));
    OK(invivo_context_end(child, E));
}

/* ---- the current context -------------------------------------------------------------------------------- */

static void *enter_elsewhere(void *context) {
    invivo_context entered = *(invivo_context *)context, child;
    CHECK_EQUAL(invivo_context_current(runtime).bits, 0);
    expects_error(invivo_context_leave(entered, E), INVIVO_E_DOMAIN,
                  "the calling thread has not entered the context: each thread leaves the contexts that it has entered");
    OK(invivo_context_enter(entered, E));
    OK(invivo_context_open(runtime, NULL, &child, E));
    CHECK_EQUAL(number_of(child, "a"), 1);
    OK(invivo_context_end(child, E));
    return NULL;
}

static void a_thread_has_a_current_context(void) {
    invivo_context first = open_with(NULL), second = open_with(NULL), parent, child;
    set_number(first, "a", 1);
    CHECK_EQUAL(invivo_context_current(runtime).bits, 0);
    OK(invivo_context_enter(first, E));
    OK(invivo_context_enter(second, E));
    OK(invivo_context_enter(first, E));
    CHECK_EQUAL(invivo_context_current(runtime).bits, first.bits);
    child = open_with(NULL);
    OK(invivo_context_parent(child, &parent, E));
    CHECK_EQUAL(parent.bits, first.bits);
    CHECK_EQUAL(number_of(child, "a"), 1);
    OK(invivo_context_end(child, E));
    child = open_with(&(invivo_context_options){.struct_size = sizeof(invivo_context_options), .flags = INVIVO_CONTEXT_DETACHED});
    OK(invivo_context_parent(child, &parent, E));
    CHECK_EQUAL(parent.bits, 0);
    OK(invivo_context_end(child, E));
    OK(invivo_context_leave(first, E));
    CHECK_EQUAL(invivo_context_current(runtime).bits, second.bits);
    OK(invivo_context_leave(first, E));
    CHECK_EQUAL(invivo_context_current(runtime).bits, second.bits);
    expects_error(invivo_context_leave(first, E), INVIVO_E_DOMAIN, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, enter_elsewhere, &first);
    pthread_join(thread, NULL);
    OK(invivo_context_enter(first, E));
    OK(invivo_context_end(first, E));
    /* One that has ended is no current context, and can still be left. */
    CHECK_EQUAL(invivo_context_current(runtime).bits, second.bits);
    OK(invivo_context_leave(first, E));
    OK(invivo_context_leave(second, E));
    OK(invivo_context_end(second, E));
    CHECK_EQUAL(invivo_context_current(runtime).bits, 0);
}

/* ---- observers ------------------------------------------------------------------------------------------ */

static int calls;
static int64_t last;
static invivo_observer observer;
static void changed(void *user_data, invivo_context context, invivo_key key, const invivo_value *value) {
    (void)context, (void)key;
    calls++;
    last = value ? value->as.signed_integer : -1;
    if (user_data == &calls && calls < 4) {
        /* A change in the callback is followed by one more call. */
        invivo_value next = invivo_int64(last + 1);
        OK(invivo_context_set(context, key, &next, E));
    }
    if (user_data == &observer) OK(invivo_observer_close(observer, E));
}
static invivo_context_observer observing(void *user_data) {
    return (invivo_context_observer){.struct_size = sizeof(invivo_context_observer), .changed = changed, .user_data = user_data,
                                     .destroy = count_destroyed};
}

static void a_key_is_observed_here_and_above(void) {
    invivo_context root = open_with(NULL), child = below(root), leaf = below(child);
    invivo_context_observer options = observing(NULL);
    calls = destroyed = 0;
    OK(invivo_context_observe(child, key_of("a"), &options, &observer, E));
    set_number(child, "a", 1);
    CHECK_EQUAL(calls, 1);
    CHECK_EQUAL(last, 1);
    set_number(leaf, "a", 2);
    set_number(child, "b", 2);
    CHECK_EQUAL(calls, 1);
    set_number(root, "a", 3);
    CHECK_EQUAL(calls, 2);
    CHECK_EQUAL(last, 1);
    OK(invivo_context_remove(child, key_of("a"), E));
    CHECK_EQUAL(last, 3);
    OK(invivo_context_hide(child, key_of("a"), E));
    CHECK_EQUAL(last, -1);
    CHECK_EQUAL(calls, 4);
    OK(invivo_context_remove(child, key_of("a"), E));
    OK(invivo_context_end(root, E));
    CHECK_EQUAL(last, -1);
    CHECK_EQUAL(calls, 6);
    CHECK_EQUAL(destroyed, 0);
    OK(invivo_context_end(child, E));
    CHECK_EQUAL(calls, 6);
    CHECK_EQUAL(destroyed, 1);
    expects_error(invivo_observer_close(observer, E), INVIVO_E_HANDLE, NULL);
    OK(invivo_context_end(leaf, E));
}

static void an_observer_may_change_and_close(void) {
    invivo_context context = open_with(NULL);
    invivo_context_observer options = observing(&calls);
    calls = destroyed = 0;
    OK(invivo_context_observe(context, key_of("a"), &options, &observer, E));
    set_number(context, "a", 1);
    CHECK_EQUAL(calls, 4);
    CHECK_EQUAL(number_of(context, "a"), 4);
    OK(invivo_observer_close(observer, E));
    CHECK_EQUAL(destroyed, 1);
    options = observing(&observer), calls = 0;
    OK(invivo_context_observe(context, key_of("a"), &options, &observer, E));
    set_number(context, "a", 1);
    set_number(context, "a", 2);
    CHECK_EQUAL(calls, 1);
    CHECK_EQUAL(destroyed, 2);
    options.changed = NULL;
    expects_error(invivo_context_observe(context, key_of("a"), &options, &observer, E), INVIVO_E_ARGUMENT, "options.changed is NULL");
    OK(invivo_context_end(context, E));
}

static invivo_job kept_job;
static invivo_status keep_job(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    CHECK_EQUAL(kept_job.bits, 0);
    kept_job = job;
    return INVIVO_OK;
}
static void run_job(void) {
    if (kept_job.bits) OK(invivo_job_run(kept_job));
    kept_job.bits = 0;
}

static void changes_are_coalesced_in_a_domain(void) {
    invivo_context context = open_with(NULL);
    invivo_domain domain;
    OK(invivo_domain_register(runtime, &(invivo_domain_options){.struct_size = sizeof(invivo_domain_options), .name = "observers", .post = keep_job}, &domain, E));
    invivo_context_observer options = observing(NULL);
    options.domain = domain, calls = 0;
    OK(invivo_context_observe(context, key_of("a"), &options, &observer, E));
    for (int i = 1; i <= 10; i++) set_number(context, "a", i);
    CHECK_EQUAL(calls, 0);
    run_job();
    CHECK_EQUAL(calls, 1);
    CHECK_EQUAL(last, 10);
    set_number(context, "a", 11);
    run_job();
    CHECK_EQUAL(calls, 2);
    set_number(context, "a", 12);
    OK(invivo_context_end(context, E));
    run_job();
    CHECK_EQUAL(calls, 2);
}

/* ---- objects -------------------------------------------------------------------------------------------- */

typedef struct view { invivo_object above; } view;
static invivo_status parent_of(void *instance, void *user_data, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = ((view *)instance)->above;
    return out->bits ? invivo_object_retain(*out) : INVIVO_OK;
}
static invivo_object view_above(invivo_type type, invivo_object above) {
    invivo_object object;
    void *instance;
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    ((view *)instance)->above = above;
    return object;
}
static uint64_t context_of(invivo_object object) {
    invivo_context context;
    OK(invivo_context_of(object, &context, E));
    return context.bits;
}

static void an_object_finds_its_context_and_that_of_its_surroundings(void) {
    invivo_type type;
    static const char *const supertypes[] = {"Surface"};
    OK(invivo_type_register(runtime, &(invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = "View", .size = sizeof(view),
                                                            .supertypes = supertypes, .supertype_count = 1, .parent = parent_of}, &type, E));
    invivo_object window = view_above(type, (invivo_object){0}), other = view_above(type, (invivo_object){0}), button = view_above(type, window);
    invivo_context of_window = open_with(NULL), of_other = open_with(NULL), of_button = below(of_window);
    CHECK_EQUAL(context_of(button), 0);
    OK(invivo_context_attach(of_window, window, E));
    OK(invivo_context_attach(of_other, other, E));
    OK(invivo_context_release(of_other, E));
    CHECK_EQUAL(context_of(button), of_window.bits);
    /* A moved object finds its new surroundings. */
    void *instance;
    OK(invivo_object_instance(button, type, &instance, E));
    ((view *)instance)->above = other;
    CHECK_EQUAL(context_of(button), of_other.bits);
    OK(invivo_context_attach(of_button, button, E));
    CHECK_EQUAL(context_of(button), of_button.bits);
    OK(invivo_context_attach(of_window, button, E));
    CHECK_EQUAL(context_of(button), of_window.bits);
    OK(invivo_context_end(of_button, E));
    OK(invivo_context_detach(button, E));
    OK(invivo_context_detach(button, E));
    CHECK_EQUAL(context_of(button), of_other.bits);
    /* The last holder is the object. */
    CHECK_EQUAL(number_of(of_other, "a"), -1);
    ((view *)instance)->above = button;
    invivo_context found;
    expects_error(invivo_context_of(button, &found, E), INVIVO_E_CYCLE, "the object of type 'View' stands in itself, by its parents");
    ((view *)instance)->above = (invivo_object){0};
    OK(invivo_object_release(other));
    CHECK_EQUAL(number_of(of_other, "a"), -3);
    /* An attached context that has ended is none. */
    OK(invivo_context_end(of_window, E));
    CHECK_EQUAL(context_of(window), 0);
    OK(invivo_object_release(button));
    OK(invivo_object_release(window));
    expects_error(invivo_context_of(window, &found, E), INVIVO_E_HANDLE, NULL);
}

static void a_context_may_be_an_object(void) {
    invivo_type type, view_type;
    invivo_object router, page, found;
    OK(invivo_type_find(runtime, "Thing", &type, E));
    OK(invivo_type_find(runtime, "View", &view_type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &router, E));
    page = view_above(view_type, (invivo_object){0});
    invivo_context root = open_with(&(invivo_context_options){.struct_size = sizeof(invivo_context_options), .object = router});
    invivo_context middle = open_with(&(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = root, .object = page});
    invivo_context leaf = below(middle), where;
    OK(invivo_object_release(router));
    OK(invivo_object_release(page));
    invivo_context_query query = {.struct_size = sizeof query, .type = "Thing"};
    OK(invivo_context_find(leaf, &query, &where, E));
    CHECK_EQUAL(where.bits, root.bits);
    OK(invivo_context_object(where, &found, E));
    CHECK_EQUAL(found.bits, router.bits);
    OK(invivo_object_release(found));
    query.type = "Surface";
    OK(invivo_context_find(leaf, &query, &where, E));
    CHECK_EQUAL(where.bits, middle.bits);
    query.flags = INVIVO_FIND_EXACT_TYPE;
    expects_error(invivo_context_find(leaf, &query, &where, E), INVIVO_E_NOT_FOUND, "the context is in no context with an object of the type 'Surface'");
    query.type = "View";
    OK(invivo_context_find(middle, &query, &where, E));
    query.flags |= INVIVO_FIND_ABOVE;
    expects_error(invivo_context_find(middle, &query, &where, E), INVIVO_E_NOT_FOUND, NULL);
    OK(invivo_context_object(leaf, &found, E));
    CHECK_EQUAL(found.bits, 0);
    query.kind = "session";
    expects_error(invivo_context_find(leaf, &query, &where, E), INVIVO_E_ARGUMENT,
                  "query.kind and query.type are given: only one of them can be");
    OK(invivo_context_end(leaf, E));
    OK(invivo_context_end(middle, E));
    OK(invivo_context_end(root, E));
}

int main(void) {
    check_begin();
    runtime = thing_runtime();
    RUN_TEST(the_first_hit_upward_wins);
    RUN_TEST(values_of_all_kinds_are_shared);
    RUN_TEST(objects_and_callables_are_leased);
    RUN_TEST(several_keys_change_at_once_or_not_at_all);
    RUN_TEST(null_is_refused);
    RUN_TEST(many_keys_are_found_and_removed_ones_take_no_room);
    RUN_TEST(a_chain_of_ten_thousand_works_and_ends);
    RUN_TEST(a_borrowed_value_stays_until_the_view_ends);
    RUN_TEST(entries_have_their_origin);
    RUN_TEST(a_weak_parent_that_has_ended_leaves_an_orphan);
    RUN_TEST(a_held_parent_ends_with_its_last_holder);
    RUN_TEST(the_end_of_a_context_ends_those_that_hold_it);
    RUN_TEST(an_ended_handle_never_denotes_another_context);
    RUN_TEST(contexts_of_other_runtimes_are_refused);
    RUN_TEST(close_ends_all_contexts);
    RUN_TEST(close_releases_the_defaults_of_keys);
    RUN_TEST(kinds_have_an_order_and_provide_values);
    RUN_TEST(a_key_may_declare_its_type_and_default);
    RUN_TEST(a_thread_has_a_current_context);
    RUN_TEST(a_key_is_observed_here_and_above);
    RUN_TEST(an_observer_may_change_and_close);
    RUN_TEST(changes_are_coalesced_in_a_domain);
    RUN_TEST(an_object_finds_its_context_and_that_of_its_surroundings);
    RUN_TEST(a_context_may_be_an_object);
    OK(invivo_runtime_close(runtime, E));
    return check_end();
}
