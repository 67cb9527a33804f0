/* How declarations to keep, rebuild or refuse meet lookups that find something else, tracked objects, factories, lazies, choices, exclusive
   objects and resets. */
/* sanitize: yes */
#include "on_change.h"

static invivo_type list_type, other_type, exclusive_type;

static invivo_status set_list(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    ((part *)instance)->number = (int64_t)value->as.list.count;
    return say("list", ((part *)instance)->name, error);
}
static invivo_status get_list(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data;
    const invivo_value none = invivo_list(NULL, 0);
    return invivo_value_copy(out, &none, error);
}
static invivo_status ignore(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)value, (void)error;
    return INVIVO_OK;
}
static const invivo_property list_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "all", .kind = INVIVO_KIND_LIST, .get = get_list, .set = set_list},
    {.struct_size = sizeof(invivo_property), .name = "later", .kind = INVIVO_KIND_ANY, .get = get_list, .set = ignore},
    {.struct_size = sizeof(invivo_property), .name = "left", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(part, left)},
    {.struct_size = sizeof(invivo_property), .name = "right", .kind = INVIVO_KIND_OBJECT, .get = get_object, .set = set_object, .user_data = (void *)offsetof(part, right)},
};

static void begin_lists(void) {
    begin();
    invivo_type_options options = part_options("Holder");
    options.supertype_count = 0, options.concurrency = INVIVO_CONFINED;
    options.properties = list_properties, options.property_count = 4;
    list_type = register_type(options);
    options = part_options("Other"); /* not a Thing */
    options.supertype_count = 0;
    other_type = register_type(options);
    options.name = "Device", options.concurrency = INVIVO_CONFINED;
    options.start = part_start, options.stop = part_stop;
    exclusive_type = register_type(options);
}

/* A tracked object receives what a new object would receive, when its lookup finds something else. */
static void tracked_objects_follow_their_lookups(void) {
    enum { TYPE, GREEDY, LIST, OPTIONAL, KINDS };
    for (int kind = 0; kind < KINDS; kind++)
        for (int removes = 0; removes < 2; removes++) {
            begin_lists();
            invivo_injection property = {.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Thing"};
            if (kind == GREEDY) property.flags = INVIVO_INJECT_GREEDY;
            if (kind == LIST) property.name = "all", property.how = INVIVO_INJECT_ALL;
            if (kind == OPTIONAL) property = (invivo_injection){.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_OPTIONAL, .reference = "a.two"};
            describe();
            ADD("a.one", SINGLETON, .type = shared_type);
            ADD("a.two", SINGLETON, .type = shared_type, .rank = 5);
            ADD("a.tracked", PROTOTYPE, .type = list_type, .flags = INVIVO_DEFINITION_TRACKED, .properties = &property, .property_count = 1);
            commit();
            invivo_object tracked = resolve("a.tracked");
            CHECK_EQUAL(kind == LIST ? at(tracked)->number : (int64_t)at(tracked)->left.bits, kind == LIST ? 2 : (int64_t)once("a.two").bits);
            describe();
            if (removes) OK(invivo_changes_remove(changes, "a.two", E));
            else ADD("a.two", SINGLETON, .type = other_type, .rank = 5);
            commit();
            invivo_object fresh = resolve("a.tracked");
            CHECK_EQUAL(at(tracked)->left.bits, at(fresh)->left.bits);
            CHECK_EQUAL(at(tracked)->number, at(fresh)->number);
            CHECK(kind == OPTIONAL || kind == LIST || at(tracked)->left.bits == once("a.one").bits);
            drop(fresh);
            drop(tracked);
            end();
        }
}

/* A tracked object receives the constants of its new definition that differ, and those of new properties. */
static void tracked_objects_receive_other_constants(void) {
    begin_lists();
    describe();
    ADD("a.one", SINGLETON, .type = shared_type);
    commit();
    const invivo_injection first[] = {KEY("left", "a.one"), {.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 1}}};
    const invivo_injection other[] = {KEY("left", "a.one"), {.name = "number", .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 2}}};
    const invivo_injection without[] = {KEY("left", "a.one")};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.tracked", .scope = INVIVO_SCOPE_PROTOTYPE, .type = confined_type,
                                    .flags = INVIVO_DEFINITION_TRACKED, PROPERTIES(first)};
    OK(invivo_define(runtime, &definition, NULL, E));
    invivo_object tracked = resolve("a.tracked");
    CHECK_EQUAL(at(tracked)->number, 1);
    definition.properties = other;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(at(tracked)->number, 2);
    at(tracked)->number = 7; /* its own change stays while the constant is the same */
    definition.rank = 1;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(at(tracked)->number, 7);
    definition.properties = without, definition.property_count = 1;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(at(tracked)->number, 7);
    definition.properties = first, definition.property_count = 2;
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(at(tracked)->number, 1);
    /* Another kind of number, and an element of a list, are other constants, too. */
    const invivo_injection items[][2] = {{{.value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 1}}, {.value = {.kind = INVIVO_KIND_INT64}}},
                                         {{.value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 2}}, {.value = {.kind = INVIVO_KIND_INT64}}}};
    invivo_injection list = {.name = "all", .how = INVIVO_INJECT_LIST, .items = items[0], .item_count = 2};
    invivo_definition lists = {.struct_size = sizeof lists, .key = "a.lists", .scope = INVIVO_SCOPE_PROTOTYPE, .type = list_type,
                               .flags = INVIVO_DEFINITION_TRACKED, .properties = &list, .property_count = 1};
    OK(invivo_define(runtime, &lists, NULL, E));
    invivo_object other_tracked = resolve("a.lists");
    trace[0] = 0;
    lists.rank = 1;
    OK(invivo_define(runtime, &lists, NULL, E));
    CHECK_TEXT(trace, "");
    list.items = items[1];
    OK(invivo_define(runtime, &lists, NULL, E));
    CHECK_TEXT(trace, "list:lists ");
    drop(other_tracked);
    /* A commit that fails afterwards restores it. */
    definition.properties = other;
    describe();
    OK(invivo_changes_define(changes, &definition, NULL, E));
    ADD("a.one", SINGLETON, .type = shared_type, .rank = 4);
    fail_at = "left:tracked";
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    fail_at = NULL;
    CHECK_EQUAL(at(tracked)->number, 1);
    drop(tracked);
    end();
}

/* The kept argument of a key that the factory resolves, too: the object follows what the factory resolved. */
static invivo_status resolve_it_again(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data, invivo_error **error) {
    invivo_object object;
    invivo_status status = invivo_resolve_name(build->runtime, "a.part", &object, error);
    if (status != INVIVO_OK) return status;
    status = part_init(*instance, build, arguments, count, user_data, error);
    ((part *)*instance)->left = object;
    invivo_object_release(object);
    return status;
}
static void a_factory_and_a_kept_argument_share_a_key(void) {
    begin_lists();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection arguments[] = {{.how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"}};
    describe();
    ADD("a.holder", SINGLETON, .type = shared_type, .factory = resolve_it_again, INITIALIZER(arguments));
    commit();
    invivo_object holder = once("a.holder");
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(once("a.holder").bits != holder.bits);
    CHECK_EQUAL(at(once("a.holder"))->left.bits, once("a.part").bits);
    end();
}

/* A lazy or provider of the key that a kept lookup finds changes nothing about the lookup. */
static void a_kept_lookup_beside_a_deferred_reference(void) {
    const uint32_t ways[] = {INVIVO_INJECT_LAZY, INVIVO_INJECT_PROVIDER};
    for (int way = 0; way < 2; way++) {
        begin_lists();
        const invivo_injection argument = {.name = "input", .how = INVIVO_INJECT_TYPE, .flags = INVIVO_INJECT_KEEP | INVIVO_INJECT_OPTIONAL, .reference = "Thing"};
        const invivo_injection item = KEY(NULL, "a.part");
        const invivo_injection property = {.name = "later", .how = ways[way], .items = &item, .item_count = 1};
        describe();
        ADD("a.part", SINGLETON, .type = other_type);
        ADD("a.holder", SINGLETON, .type = list_type, .initializer = &argument, .initializer_count = 1, .properties = &property, .property_count = 1);
        commit();
        invivo_object holder = once("a.holder");
        CHECK_EQUAL(at(holder)->input.bits, 0);
        describe();
        ADD("a.part", SINGLETON, .type = shared_type); /* found from now on */
        commit();
        CHECK_EQUAL(once("a.holder").bits, holder.bits);
        CHECK(kept_since("a.holder", "a.part") > 0);
        end();
    }
}

/* A list that follows, and that finds one more object: the key that another injection refuses or keeps has not changed. */
static void only_what_differs_in_a_list_counts(void) {
    const uint32_t declared[] = {INVIVO_INJECT_REFUSE, INVIVO_INJECT_KEEP};
    for (int way = 0; way < 2; way++) {
        begin_lists();
        const invivo_injection properties[] = {{.name = "all", .how = INVIVO_INJECT_ALL, .reference = "Part"},
                                               {.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = declared[way], .reference = "a.one"}};
        describe();
        ADD("a.one", SINGLETON, .type = shared_type);
        ADD("a.two", SINGLETON, .type = shared_type);
        ADD("a.holder", SINGLETON, .type = list_type, PROPERTIES(properties));
        commit();
        invivo_object holder = once("a.holder");
        observe();
        describe();
        ADD("a.three", SINGLETON, .type = shared_type);
        commit();
        CHECK_TEXT(last, "");
        CHECK_EQUAL(once("a.holder").bits, holder.bits);
        CHECK_EQUAL(at(holder)->number, 3);
        CHECK_EQUAL(kept_since("a.holder", "a.one"), 0);
        end();
    }
}

/* A kept list is marked for what it lacks, or still has. */
static void a_kept_list_is_marked_for_what_differs(void) {
    begin_lists();
    const invivo_injection property = {.name = "all", .how = INVIVO_INJECT_ALL, .flags = INVIVO_INJECT_KEEP, .reference = "Part"};
    describe();
    ADD("a.one", SINGLETON, .type = shared_type);
    ADD("a.two", SINGLETON, .type = shared_type);
    ADD("a.holder", SINGLETON, .type = list_type, .properties = &property, .property_count = 1);
    commit();
    once("a.holder");
    describe();
    OK(invivo_changes_remove(changes, "a.two", E));
    commit();
    CHECK_EQUAL(at(once("a.holder"))->number, 2);
    CHECK_EQUAL(kept_since("a.holder", "a.one"), 0);
    CHECK_EQUAL(kept_since("a.holder", "a.two"), generation());
    describe();
    ADD("a.three", SINGLETON, .type = shared_type);
    commit();
    CHECK_EQUAL(kept_since("a.holder", "a.one"), 0);
    CHECK_EQUAL(kept_since("a.holder", "a.three"), generation());
    end();
}

/* An exclusive object is stopped before its replacement is created. Who would keep an object that holds it is refused, whichever of the
   definitions between them comes last. */
static void exclusive_objects_are_not_kept_through_others(void) {
    for (int last_one = 0; last_one < 4; last_one++) {
        begin_lists();
        const invivo_injection device = KEY("left", "a.device"), inner = KEY("input", "a.inner");
        const invivo_injection kept = {.name = "input", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.outer"};
        const char *expected = "a.holder: 'a.holder' would keep the former 'a.device' of 'a.outer' after a change (on_change: keep), but that one is "
                               "exclusive: a reload stops it before it creates the new one; declare another on_change for its injection";
        for (int step = 0; step < 2; step++) {
            describe();
            for (int part = 0; part < 4; part++) {
                if (step == 0 ? part == last_one : part != last_one) {
                    /* In the first set it is there without the reference that matters. */
                    if (step == 1) continue;
                    if (part == 0) ADD("a.device", SINGLETON, .type = exclusive_type);
                    if (part == 1) ADD("a.inner", SINGLETON, .type = list_type);
                    if (part == 2) ADD("a.outer", SINGLETON, .type = list_type);
                    if (part == 3) ADD("a.holder", SINGLETON, .type = list_type);
                    continue;
                }
                if (part == 0) ADD("a.device", SINGLETON, .type = exclusive_type, .flags = INVIVO_DEFINITION_EXCLUSIVE);
                if (part == 1) ADD("a.inner", SINGLETON, .type = list_type, .properties = &device, .property_count = 1);
                if (part == 2) ADD("a.outer", SINGLETON, .type = list_type, .initializer = &inner, .initializer_count = 1);
                if (part == 3) ADD("a.holder", SINGLETON, .type = list_type, .initializer = &kept, .initializer_count = 1);
            }
            if (step == 0) commit();
            else expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARGUMENT, expected);
        }
        end();
    }
}

/* A choice that comes to select an exclusive definition, by the configuration alone. */
static invivo_status choose_device(int64_t which) {
    const invivo_value value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = which};
    describe();
    OK(invivo_changes_configure(changes, "a.mode", &value, E));
    return invivo_changes_commit(changes, E);
}
static void a_choice_of_an_exclusive_object_is_not_kept(void) {
    begin_lists();
    const invivo_injection kept = {.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.choice"};
    const invivo_injection mode = {.how = INVIVO_INJECT_CONFIG, .reference = "mode"};
    const invivo_option options[] = {{.when = INVIVO_WHEN_EQUAL, .value = {.kind = INVIVO_KIND_INT64, .as.signed_integer = 1}, .use = KEY(NULL, "a.device")},
                                     {.when = INVIVO_WHEN_OTHERWISE, .use = KEY(NULL, "a.one")}};
    OK(choose_device(0));
    describe();
    ADD("a.one", SINGLETON, .type = exclusive_type);
    ADD("a.device", SINGLETON, .type = exclusive_type, .flags = INVIVO_DEFINITION_EXCLUSIVE);
    ADD("a.choice", DEFAULT, .chooser = &mode, .options = options, .option_count = 2);
    ADD("a.holder", SINGLETON, .type = list_type, .properties = &kept, .property_count = 1);
    commit();
    once("a.holder");
    expects_error(choose_device(1), INVIVO_E_ARGUMENT,
                  "a.holder: 'a.holder' would keep the former 'a.device' of 'a.choice' after a change (on_change: keep), but that one is exclusive: a "
                  "reload stops it before it creates the new one; declare another on_change for its injection");
    OK(choose_device(2));
    end();
}

/* A reset of a scope concerns the objects that have this scope now. */
static void a_reset_follows_a_changed_scope(void) {
    begin_lists();
    describe();
    ADD("a.part", LAZY_SINGLETON, .type = shared_type);
    commit();
    once("a.part");
    describe();
    ADD("a.part", SINGLETON, .type = shared_type);
    commit();
    invivo_object part = once("a.part");
    describe();
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_LAZY_SINGLETON, E));
    commit();
    CHECK_EQUAL(once("a.part").bits, part.bits);
    describe();
    OK(invivo_changes_reset_scope(changes, INVIVO_SCOPE_SINGLETON, E));
    commit();
    CHECK(once("a.part").bits != part.bits);
    end();
}

/* Objects of a former definition, which the present one does not track, keep nothing as far as the graph and the reports know. */
static void objects_of_a_former_definition_are_not_marked(void) {
    begin_lists();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    const invivo_injection property = {.name = "left", .how = INVIVO_INJECT_REFERENCE, .flags = INVIVO_INJECT_KEEP, .reference = "a.part"};
    describe();
    ADD("a.tracked", PROTOTYPE, .type = list_type, .flags = INVIVO_DEFINITION_TRACKED, .properties = &property, .property_count = 1);
    commit();
    invivo_object tracked = resolve("a.tracked");
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK(kept_since("a.tracked", "a.part") > 0);
    describe();
    ADD("a.tracked", PROTOTYPE, .type = list_type, .flags = INVIVO_DEFINITION_TRACKED);
    commit();
    CHECK_EQUAL(kept_since("a.tracked", "a.part"), 0); /* it has received everything that this definition names */
    describe();
    ADD("a.tracked", PROTOTYPE, .type = list_type, .properties = &property, .property_count = 1);
    commit();
    observe();
    replace("a.part", INVIVO_SCOPE_SINGLETON);
    CHECK_TEXT(last, "");
    CHECK_EQUAL(kept_since("a.tracked", "a.part"), 0);
    drop(tracked);
    end();
}

int main(void) {
    check_begin();
    tracked_objects_follow_their_lookups();
    tracked_objects_receive_other_constants();
    a_factory_and_a_kept_argument_share_a_key();
    a_kept_lookup_beside_a_deferred_reference();
    only_what_differs_in_a_list_counts();
    a_kept_list_is_marked_for_what_differs();
    exclusive_objects_are_not_kept_through_others();
    a_choice_of_an_exclusive_object_is_not_kept();
    a_reset_follows_a_changed_scope();
    objects_of_a_former_definition_are_not_marked();
    return check_end();
}
