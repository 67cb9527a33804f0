/* Creation of objects from definitions: scopes, cycles, arguments, parents, injections. */
/* sanitize: yes */
#include "nodes.h"

static void graph_scope_is_one_for_each_outermost_resolve(void) {
    begin();
    DEFINE("a.fort", DEFAULT);
    invivo_injection fort[] = {KEY("left", "a.fort")}, both[] = {KEY("left", "a.fort"), KEY("right", "a.quest")};
    DEFINE("a.quest", PROTOTYPE, PROPERTIES(fort));
    DEFINE("a.knight", PROTOTYPE, PROPERTIES(both));
    invivo_object one = resolve("a.knight"), two = resolve("a.knight");
    CHECK(at(one)->left.bits == at(at(one)->right)->left.bits);
    CHECK(at(one)->left.bits != at(two)->left.bits);
    drop(one), drop(two);
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(live_objects(), 0);
    end();
}

static void a_prototype_referred_to_from_inside_its_making_is_itself(void) {
    begin();
    invivo_injection to_x[] = {KEY("left", "a.x")}, to_y[] = {KEY("left", "a.y")}, to_p[] = {KEY("left", "a.p"), KEY("right", "a.leaf")};
    describe();
    ADD("a.p", PROTOTYPE, PROPERTIES(to_x));
    ADD("a.x", PROTOTYPE, PROPERTIES(to_y));
    ADD("a.y", PROTOTYPE, PROPERTIES(to_p));
    ADD("a.leaf", PROTOTYPE);
    commit();
    for (int round = 0; round < 3; round++) {
        invivo_object p = resolve("a.p"), other = resolve("a.p");
        invivo_object y = at(at(p)->left)->left;
        CHECK(at(y)->left.bits == p.bits);
        CHECK(p.bits != other.bits);
        /* A holder of one object of the cycle holds the whole cycle. */
        OK(invivo_object_retain(y));
        drop(p), drop(other);
        CHECK_EQUAL(live, 4);
        CHECK(at(at(y)->left)->left.bits != 0);
        drop(y);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static void cycles_through_properties_are_created_and_end(void) {
    begin();
    invivo_injection to_b[] = {KEY("left", "a.b")}, to_a[] = {KEY("left", "a.a")};
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
    ADD("a.b", LAZY_SINGLETON, PROPERTIES(to_a));
    commit();
    invivo_object a = resolve("a.a"), b = resolve("a.b");
    CHECK(at(a)->left.bits == b.bits && at(b)->left.bits == a.bits);
    /* Replacing both disposes of both, although they held each other. */
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
    ADD("a.b", LAZY_SINGLETON, PROPERTIES(to_a));
    commit();
    CHECK_EQUAL(live, 4);
    drop(a);
    CHECK_EQUAL(live, 4); /* b is held, and a through it */
    drop(b);
    CHECK_EQUAL(live, 2);
    end();
}

static void an_object_may_be_injected_into_itself(void) {
    begin();
    invivo_injection itself[] = {KEY("left", "a.self"), KEY("right", "a.leaf")};
    describe();
    ADD("a.self", PROTOTYPE, PROPERTIES(itself));
    ADD("a.leaf", PROTOTYPE);
    commit();
    for (int round = 0; round < 100; round++) {
        invivo_object object = resolve("a.self");
        CHECK(at(object)->left.bits == object.bits);
        drop(object);
        CHECK_EQUAL(live, 0);
    }
    end();
}

static void an_initializer_may_close_a_cycle_with_a_property(void) {
    begin();
    invivo_injection to_b[] = {KEY("left", "a.b")}, with_a[] = {KEY("input", "a.a")}, with_b[] = {KEY("input", "a.b")}, to_a[] = {KEY("left", "a.a")};
    describe();
    ADD("a.a", GRAPH, PROPERTIES(to_b));
    ADD("a.b", GRAPH, INITIALIZER(with_a));
    commit();
    invivo_object a = resolve("a.a");
    CHECK(at(at(a)->left)->input.bits == a.bits);
    drop(a);
    CHECK_EQUAL(live, 0);
    /* From the other side the setter is deferred until the instance exists. */
    invivo_object b = resolve("a.b");
    CHECK(at(at(b)->input)->left.bits == b.bits);
    drop(b);
    CHECK_EQUAL(live, 0);
    describe();
    ADD("a.a", LAZY_SINGLETON, PROPERTIES(to_b));
    ADD("a.b", LAZY_SINGLETON, INITIALIZER(with_a));
    commit();
    b = resolve("a.b"), a = resolve("a.a");
    CHECK(at(a)->left.bits == b.bits && at(b)->input.bits == a.bits);
    drop(a), drop(b);
    /* A cycle of initializers cannot be created; the error contains the whole path. */
    describe();
    ADD("a.a", LAZY_SINGLETON, INITIALIZER(with_b));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_CYCLE,
                  "a.a: cyclic dependency: a.a -> a.b -> a.a, all through initializers; inject one of them as a "
                  "property, or by a provider");
    (void)to_a;
    end();
}

static void shared_objects_are_kept_for_each_set_of_arguments(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "note", .kind = INVIVO_KIND_INT64},
                                                  {.name = "extra", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_injection into[] = {ARGUMENT("number", 0), ARGUMENT("given", 1)};
    DEFINE("a.voice", LAZY_SINGLETON, INITIALIZER(into), .parameters = parameters, .parameter_count = 2);
    invivo_key voice = key_of("a.voice");
    invivo_object one, again, two, text, same_text;
    invivo_value sixty[] = {invivo_int64(60)}, other[] = {invivo_int64(61)}, long_one[] = {invivo_int64(60), invivo_string("x")};
    OK(invivo_resolve_with(runtime, voice, sixty, 1, &one, E));
    sixty[0] = (invivo_value){.kind = INVIVO_KIND_UINT8, .as.unsigned_integer = 60}; /* the same value of another kind */
    OK(invivo_resolve_with(runtime, voice, sixty, 1, &again, E));
    OK(invivo_resolve_with(runtime, voice, other, 1, &two, E));
    OK(invivo_resolve_with(runtime, voice, long_one, 2, &text, E));
    OK(invivo_resolve_with(runtime, voice, long_one, 2, &same_text, E));
    CHECK(one.bits == again.bits && one.bits != two.bits && text.bits == same_text.bits && text.bits != one.bits);
    CHECK_EQUAL(at(one)->number, 60);
    CHECK_EQUAL(live, 3);
    expects_error(invivo_resolve(runtime, voice, &again, E), INVIVO_E_ARITY,
                  "a.voice: a.voice(note: int64, extra: any?) takes 1 to 2 arguments, got 0: 'note' is missing");
    expects_error(invivo_resolve_with(runtime, voice, &long_one[1], 1, &again, E), INVIVO_E_TYPE, NULL);
    describe();
    invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.eager", .type = node_type,
                          .scope = INVIVO_SCOPE_SINGLETON, .parameters = parameters, .parameter_count = 2}, NULL, E);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARITY, "a.eager: an eager singleton takes no runtime arguments; 'a.eager' declares 2");
    drop(one), drop(one), drop(two), drop(text), drop(text);
    CHECK_EQUAL(live, 3); /* the graph holds them */
    end();
}

static void arguments_are_passed_on_and_bound(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "note", .kind = INVIVO_KIND_INT64}};
    invivo_injection into[] = {ARGUMENT("number", 0)};
    invivo_injection on[] = {ARGUMENT(NULL, 0)}, fixed[] = {CONSTANT(NULL, invivo_int64(25))};
    invivo_injection child[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.inner", .items = on, .item_count = 1},
                                {.name = "right", .how = INVIVO_INJECT_REFERENCE, .reference = "a.inner", .items = fixed, .item_count = 1},
                                {.name = "any", .how = INVIVO_INJECT_ARGUMENTS}};
    describe();
    ADD("a.inner", PROTOTYPE, INITIALIZER(into), .parameters = parameters, .parameter_count = 1);
    ADD("a.outer", PROTOTYPE, PROPERTIES(child), .parameters = parameters, .parameter_count = 1);
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.short", .alias = "a.outer",
                             .initializer = fixed, .initializer_count = 1}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.shorter", .alias = "a.short"}, NULL, E));
    commit();
    invivo_value seven[] = {invivo_int64(7)};
    invivo_object outer;
    OK(invivo_resolve_with(runtime, key_of("a.outer"), seven, 1, &outer, E));
    CHECK_EQUAL(at(at(outer)->left)->number, 7);
    CHECK_EQUAL(at(at(outer)->right)->number, 25);
    CHECK_EQUAL(at(outer)->any.as.list.count, 1);
    drop(outer);
    outer = resolve("a.shorter");
    CHECK_EQUAL(at(at(outer)->left)->number, 25);
    drop(outer);
    CHECK_EQUAL(live, 0);
    end();
}

/* An alias with parameters gives its target any arguments, in any order. */
static void an_alias_with_parameters_arranges_the_arguments_of_its_target(void) {
    begin();
    static const invivo_parameter two[] = {{.name = "left", .kind = INVIVO_KIND_INT64}, {.name = "right", .kind = INVIVO_KIND_INT64}};
    static const invivo_parameter one[] = {{.name = "right", .kind = INVIVO_KIND_INT64}};
    invivo_injection all[] = {{.name = "any", .how = INVIVO_INJECT_ARGUMENTS}};
    invivo_injection turned[] = {ARGUMENT(NULL, 1), ARGUMENT(NULL, 0)};
    invivo_injection few[] = {CONSTANT(NULL, invivo_int64(1))};
    describe();
    ADD("a.pair", LAZY_SINGLETON, PROPERTIES(all), .parameters = two, .parameter_count = 2);
    ADD_ALIAS("a.turned", "a.pair", INITIALIZER(turned), .parameters = two, .parameter_count = 2);
    OK(invivo_changes_define(changes, &(invivo_definition)INVIVO_ALIAS("a.last", "a.turned", INVIVO_PARAMETERS({.name = "right", .kind = INVIVO_KIND_INT64}),
                             INVIVO_INITIALIZER(INVIVO_GIVE(INVIVO_ARG(0)), INVIVO_GIVE(INVIVO_INT(25)))), NULL, E));
    commit();
    invivo_value given[] = {invivo_int64(7), invivo_int64(8)}, back[] = {invivo_int64(8), invivo_int64(7)}, three[3] = {0};
    invivo_object pair, same, other;
    OK(invivo_resolve_with(runtime, key_of("a.turned"), given, 2, &pair, E));
    CHECK_EQUAL(at(pair)->any.as.list.items[0].as.signed_integer, 8);
    CHECK_EQUAL(at(pair)->any.as.list.items[1].as.signed_integer, 7);
    OK(invivo_resolve_with(runtime, key_of("a.pair"), back, 2, &same, E));
    CHECK(pair.bits == same.bits); /* one object: the arguments of the target count */
    OK(invivo_resolve_with(runtime, key_of("a.last"), given, 1, &other, E));
    CHECK_EQUAL(at(other)->any.as.list.items[0].as.signed_integer, 25);
    CHECK_EQUAL(at(other)->any.as.list.items[1].as.signed_integer, 7);
    drop(pair), drop(same), drop(other);
    /* An error about a misfit contains the parameters of the alias. */
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_resolve_with(runtime, key_of("a.last"), three, 3, &other, &error), INVIVO_E_ARITY);
    CHECK(strcmp(invivo_error_path(error), "a.last") == 0);
    invivo_error_release(error), error = NULL;
    describe();
    ADD_ALIAS("a.short", "a.pair", INITIALIZER(few), .parameters = one, .parameter_count = 1);
    CHECK_EQUAL(invivo_changes_commit(changes, &error), INVIVO_E_ARITY);
    CHECK(strstr(invivo_error_text(error), "the alias gives 1 argument to") != NULL);
    invivo_error_release(error);
    end();
    CHECK_EQUAL(live, 0);
}

/* ---- parents ----------------------------------------------------------------------------------------- */

static void a_child_takes_over_from_its_parents(void) {
    begin();
    invivo_injection numbers[] = {CONSTANT("number", invivo_int64(12)), CONSTANT("any", invivo_string("base"))};
    invivo_injection leaf[] = {KEY("left", "a.leaf")}, other[] = {CONSTANT("number", invivo_int64(346))};
    describe();
    ADD("a.leaf", LAZY_SINGLETON);
    ADD("a.base", LAZY_SINGLETON, PROPERTIES(numbers), .flags = INVIVO_DEFINITION_ABSTRACT);
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.middle", .parent = "a.base",
                             PROPERTIES(leaf)}, NULL, E));
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.child", .parent = "a.middle",
                             PROPERTIES(other)}, NULL, E));
    commit();
    invivo_object child = resolve("a.child"), again = resolve("a.child"), middle = resolve("a.middle"), base;
    CHECK(child.bits == again.bits); /* the scope is inherited from the base */
    CHECK_EQUAL(at(child)->number, 346);
    CHECK_EQUAL(at(middle)->number, 12);
    CHECK(at(child)->left.bits == at(middle)->left.bits);
    CHECK_EQUAL(at(child)->any.as.string.length, 4);
    expects_error(invivo_resolve_name(runtime, "a.base", &base, E), INVIVO_E_ABSTRACT,
                  "a.base: the definition is abstract: type 'Node', key 'a.base', scope lazy singleton; define a child of it");
    /* A changed parent rebuilds its children. */
    invivo_injection changed[] = {CONSTANT("number", invivo_int64(1)), CONSTANT("any", invivo_string("other"))};
    DEFINE("a.base", LAZY_SINGLETON, PROPERTIES(changed), .flags = INVIVO_DEFINITION_ABSTRACT);
    drop(middle), middle = resolve("a.middle");
    CHECK_EQUAL(at(middle)->number, 1);
    drop(child), drop(again), drop(middle);
    describe();
    OK(invivo_changes_remove(changes, "a.base", E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    describe();
    OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.lost", .parent = "a.bsae"}, NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

/* Each level is visited once. */
static void a_line_of_parents_may_be_of_any_length(void) {
    enum { LEVELS = 3000 };
    begin();
    char key[24] = "a.0", parent[24];
    invivo_injection first[] = {CONSTANT("number", invivo_int64(1)), CONSTANT("any", invivo_int64(7))}, middle[] = {CONSTANT("number", invivo_int64(2))};
    describe();
    ADD("a.0", PROTOTYPE, PROPERTIES(first), .flags = INVIVO_DEFINITION_ABSTRACT);
    for (int i = 1; i < LEVELS; i++) {
        invivo_definition level = {.struct_size = sizeof level, .key = key, .parent = parent, .properties = middle, .property_count = i == LEVELS / 2};
        snprintf(parent, sizeof parent, "%s", key);
        snprintf(key, sizeof key, "a.%d", i);
        OK(invivo_changes_define(changes, &level, NULL, E));
    }
    commit();
    invivo_object last = resolve(key);
    CHECK_EQUAL(at(last)->number, 2);
    CHECK_EQUAL(at(last)->any.as.signed_integer, 7);
    drop(last);
    first[1].value = invivo_int64(8);
    DEFINE("a.0", PROTOTYPE, PROPERTIES(first), .flags = INVIVO_DEFINITION_ABSTRACT);
    last = resolve(key);
    CHECK_EQUAL(at(last)->any.as.signed_integer, 8);
    drop(last);
    end();
}

/* ---- injections ---------------------------------------------------------------------------------------- */

static invivo_object call_for(invivo_callable callable, const invivo_value *arguments, size_t count) {
    invivo_value result = invivo_null();
    OK(invivo_callable_call(callable, arguments, count, &result, E));
    invivo_object object = result.kind == INVIVO_KIND_OBJECT ? result.as.object : (invivo_object){0};
    return object; /* the lease of the value is the caller's */
}

static void providers_make_each_time_and_lazies_once(void) {
    begin();
    static const invivo_parameter parameters[] = {{.name = "a", .kind = INVIVO_KIND_INT64}, {.name = "b", .kind = INVIVO_KIND_INT64}};
    invivo_injection into[] = {ARGUMENT("number", 1)};
    invivo_injection bound[] = {CONSTANT(NULL, invivo_int64(1))};
    invivo_injection target[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.made", .items = bound, .item_count = 1}};
    invivo_injection shared[] = {KEY(NULL, "a.shared")}, none[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "a.none", .flags = INVIVO_INJECT_OPTIONAL}};
    invivo_injection provider[] = {{.name = "any", .how = INVIVO_INJECT_PROVIDER, .items = target, .item_count = 1}};
    invivo_injection lazy[] = {{.name = "any", .how = INVIVO_INJECT_LAZY, .items = shared, .item_count = 1}};
    invivo_injection optional[] = {{.name = "any", .how = INVIVO_INJECT_PROVIDER, .items = none, .item_count = 1}};
    DEFINE("a.made", PROTOTYPE, INITIALIZER(into), .parameters = parameters, .parameter_count = 2);
    DEFINE("a.shared", LAZY_SINGLETON);
    DEFINE("a.maker", LAZY_SINGLETON, PROPERTIES(provider));
    DEFINE("a.sleeper", LAZY_SINGLETON, PROPERTIES(lazy));
    DEFINE("a.without", LAZY_SINGLETON, PROPERTIES(optional));
    invivo_object maker = resolve("a.maker"), sleeper = resolve("a.sleeper"), without = resolve("a.without");
    CHECK_EQUAL(at(without)->any.kind, INVIVO_KIND_NULL);
    CHECK_EQUAL(at(maker)->any.kind, INVIVO_KIND_CALLABLE);
    CHECK_EQUAL(live, 3);
    invivo_value nine[] = {invivo_int64(9)};
    invivo_object one = call_for(at(maker)->any.as.callable, nine, 1), two = call_for(at(maker)->any.as.callable, nine, 1);
    CHECK(one.bits != two.bits);
    CHECK_EQUAL(at(one)->number, 9);
    drop(one), drop(two);
    one = call_for(at(sleeper)->any.as.callable, NULL, 0), two = call_for(at(sleeper)->any.as.callable, NULL, 0);
    CHECK(one.bits == two.bits);
    drop(two);
    /* Holders of a provider or lazy are unaffected; the lazy resolves again. */
    int serial = at(sleeper)->serial;
    DEFINE("a.shared", LAZY_SINGLETON);
    invivo_object after = resolve("a.sleeper");
    CHECK_EQUAL(at(after)->serial, serial);
    two = call_for(at(after)->any.as.callable, NULL, 0);
    CHECK(two.bits != one.bits);
    drop(one), drop(two), drop(after), drop(maker), drop(sleeper), drop(without);
    end();
}

static void collections_are_fresh_and_paths_are_followed(void) {
    begin();
    invivo_injection items[] = {KEY("x", "a.leaf"), CONSTANT("y", invivo_int64(2)), KEY("z", "a.leaf")};
    invivo_injection list[] = {{.name = "any", .how = INVIVO_INJECT_LIST, .items = items, .item_count = 3}};
    invivo_injection set[] = {{.name = "any", .how = INVIVO_INJECT_SET, .items = items, .item_count = 3}};
    invivo_injection map[] = {{.name = "any", .how = INVIVO_INJECT_MAP, .items = items, .item_count = 3}};
    invivo_injection holder[] = {KEY(NULL, "a.holder")}, number[] = {{.name = "number", .how = INVIVO_INJECT_PATH, .reference = "left.number", .items = holder, .item_count = 1}};
    invivo_injection seven[] = {CONSTANT("number", invivo_int64(7))}, leaf[] = {KEY("left", "a.leaf")};
    DEFINE("a.leaf", LAZY_SINGLETON, PROPERTIES(seven));
    DEFINE("a.list", PROTOTYPE, PROPERTIES(list));
    DEFINE("a.set", PROTOTYPE, PROPERTIES(set));
    DEFINE("a.map", PROTOTYPE, PROPERTIES(map));
    DEFINE("a.holder", LAZY_SINGLETON, PROPERTIES(leaf));
    DEFINE("a.path", PROTOTYPE, PROPERTIES(number));
    invivo_object a_list = resolve("a.list"), a_set = resolve("a.set"), a_map = resolve("a.map"), path = resolve("a.path");
    CHECK_EQUAL(at(a_list)->any.as.list.count, 3);
    CHECK_EQUAL(at(a_set)->any.as.list.count, 2);
    CHECK_EQUAL(at(a_map)->any.as.map.count, 3);
    /* In order, the same shared object each time; a set contains duplicates once. */
    invivo_object leaf_itself = resolve("a.leaf"), another = resolve("a.list");
    for (int i = 0; i < 3; i++) {
        const invivo_value *item = &at(a_list)->any.as.list.items[i], *own = &at(another)->any.as.list.items[i];
        const invivo_pair *pair = &at(a_map)->any.as.map.pairs[i];
        CHECK(item != own);
        CHECK_EQUAL(pair->name[0], "xyz"[i]);
        CHECK_EQUAL(item->kind, i == 1 ? INVIVO_KIND_INT64 : INVIVO_KIND_OBJECT);
        CHECK(item->kind == pair->value.kind && item->kind == own->kind);
        if (i == 1) {
            CHECK_EQUAL(item->as.signed_integer, 2);
        } else {
            CHECK(item->as.object.bits == leaf_itself.bits && own->as.object.bits == leaf_itself.bits);
            CHECK(pair->value.as.object.bits == leaf_itself.bits);
        }
    }
    CHECK(at(a_set)->any.as.list.items[0].as.object.bits == leaf_itself.bits);
    CHECK_EQUAL(at(a_set)->any.as.list.items[1].as.signed_integer, 2);
    drop(leaf_itself), drop(another);
    CHECK(at(a_map)->any.as.map.pairs[2].value.as.object.bits == at(a_list)->any.as.list.items[0].as.object.bits);
    CHECK_EQUAL(at(path)->number, 7);
    drop(a_list), drop(a_set), drop(a_map), drop(path);
    number[0].reference = "left.numer";
    DEFINE("a.path", PROTOTYPE, PROPERTIES(number));
    invivo_object none;
    expects_error(invivo_resolve_name(runtime, "a.path", &none, E), INVIVO_E_PROPERTY, NULL);
    end();
}

static int nones;
static invivo_status make_none(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    *instance = NULL;
    nones++;
    return INVIVO_OK;
}

static void null_goes_only_where_it_may(void) {
    begin();
    invivo_injection needed[] = {KEY("left", "a.none")};
    invivo_injection optional[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "a.none", .flags = INVIVO_INJECT_OPTIONAL},
                                   {.name = "right", .how = INVIVO_INJECT_REFERENCE, .reference = "a.missing", .flags = INVIVO_INJECT_OPTIONAL}};
    DEFINE("a.none", LAZY_SINGLETON, .factory = make_none, .flags = INVIVO_DEFINITION_NULLABLE);
    DEFINE("a.needs", PROTOTYPE, PROPERTIES(needed));
    DEFINE("a.may", PROTOTYPE, PROPERTIES(optional));
    invivo_object object = {0};
    expects_error(invivo_resolve_name(runtime, "a.needs", &object, E), INVIVO_E_NULL,
                  "a.needs: the property 'left' of 'a.needs' needs 'a.none', whose factory returned null; declare it optional");
    /* Null is not kept: each resolve tries again. */
    nones = 0;
    for (int i = 1; i <= 3; i++) {
        OK(invivo_resolve_optional(runtime, key_of("a.none"), NULL, 0, &object, E));
        CHECK_EQUAL(object.bits, 0);
        CHECK_EQUAL(nones, i);
    }
    invivo_error *error = NULL;
    CHECK_EQUAL(invivo_resolve(runtime, key_of("a.none"), &object, &error), INVIVO_E_NULL);
    CHECK_EQUAL(invivo_error_code(error), INVIVO_E_NULL);
    CHECK_TEXT(invivo_error_path(error), "a.none");
    CHECK_EQUAL(nones, 4);
    invivo_error_release(error);
    object = resolve("a.may");
    CHECK_EQUAL(at(object)->left.bits, 0);
    drop(object);
    CHECK_EQUAL(live, 0);
    end();
}

static invivo_status make_asked(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                                invivo_error **error) {
    (void)arguments, (void)count, (void)user_data, (void)error;
    snprintf(((node *)*instance)->name, sizeof ((node *)*instance)->name, "%s", build->asker.bits ? invivo_key_name(build->asker) : "nobody");
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}

static void methods_of_other_objects_create_and_factories_know_the_requester(void) {
    begin();
    invivo_injection leaf[] = {KEY("left", "a.leaf")}, maker[] = {KEY(NULL, "a.maker"), CONSTANT(NULL, invivo_int64(5))};
    invivo_injection asks[] = {{.name = "any", .how = INVIVO_INJECT_ASKER}, KEY("left", "a.logger")}, log[] = {KEY("left", "a.logger")};
    invivo_injection asker[] = {{.name = "any", .how = INVIVO_INJECT_ASKER}};
    DEFINE("a.leaf", LAZY_SINGLETON);
    DEFINE("a.maker", LAZY_SINGLETON, PROPERTIES(leaf));
    DEFINE("a.product", LAZY_SINGLETON, .maker_method = "make", .maker = maker, .maker_count = 2);
    invivo_object product = resolve("a.product"), again = resolve("a.product");
    CHECK(product.bits == again.bits);
    CHECK_EQUAL(at(product)->number, 5);
    /* One was created for the key, beside its maker and the maker's dependencies. */
    CHECK_EQUAL(live, 3);
    invivo_type made_type = {0};
    OK(invivo_object_type(product, &made_type, E));
    CHECK(made_type.bits == node_type.bits);
    DEFINE("a.each", PROTOTYPE, .maker_method = "make", .maker = maker, .maker_count = 2);
    invivo_object each = resolve("a.each"), next = resolve("a.each");
    CHECK(each.bits != next.bits && each.bits != product.bits);
    CHECK_EQUAL(live, 5);
    drop(each), drop(next);
    drop(product), drop(again);
    DEFINE("a.shape", LAZY_SINGLETON, .maker_method = "make", .maker = maker, .maker_count = 2, .flags = INVIVO_DEFINITION_ABSTRACT);
    expects_error(invivo_resolve_name(runtime, "a.shape", &product, E), INVIVO_E_ABSTRACT, NULL);
    CHECK_EQUAL(live, 3);
    DEFINE("a.logger", LAZY_SINGLETON, .factory = make_asked, PROPERTIES(asker));
    DEFINE("a.one", LAZY_SINGLETON, PROPERTIES(log));
    DEFINE("a.two", LAZY_SINGLETON, PROPERTIES(log));
    invivo_object one = resolve("a.one"), two = resolve("a.two");
    CHECK(at(one)->left.bits != at(two)->left.bits); /* an object with its requester is never shared */
    CHECK_TEXT(at(at(one)->left)->name, "a.one");
    CHECK(at(at(two)->left)->any.kind == INVIVO_KIND_STRING);
    drop(one), drop(two);
    (void)asks;
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    RUN_TEST(graph_scope_is_one_for_each_outermost_resolve);
    RUN_TEST(a_prototype_referred_to_from_inside_its_making_is_itself);
    RUN_TEST(cycles_through_properties_are_created_and_end);
    RUN_TEST(an_object_may_be_injected_into_itself);
    RUN_TEST(an_initializer_may_close_a_cycle_with_a_property);
    RUN_TEST(shared_objects_are_kept_for_each_set_of_arguments);
    RUN_TEST(arguments_are_passed_on_and_bound);
    RUN_TEST(an_alias_with_parameters_arranges_the_arguments_of_its_target);
    RUN_TEST(a_child_takes_over_from_its_parents);
    RUN_TEST(a_line_of_parents_may_be_of_any_length);
    RUN_TEST(providers_make_each_time_and_lazies_once);
    RUN_TEST(collections_are_fresh_and_paths_are_followed);
    RUN_TEST(null_goes_only_where_it_may);
    RUN_TEST(methods_of_other_objects_create_and_factories_know_the_requester);
    return check_end();
}
