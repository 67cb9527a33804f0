/* Overrides: another recipe, or an object, in the place of a key. */
#include "nodes.h"

static int64_t number_of(const char *key) {
    invivo_object object = resolve(key);
    int64_t number = object.bits ? at(object)->number : -1;
    drop(object);
    return number;
}
static invivo_override override(const char *key, int64_t number) {
    invivo_override made = {0};
    invivo_injection with[] = {CONSTANT("number", invivo_int64(number))};
    OK(invivo_override_begin(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .type = node_type,
                             INITIALIZER(with)}, &made, E));
    return made;
}

static void overrides_lie_on_each_other_and_go_in_any_order(void) {
    begin();
    invivo_injection one[] = {CONSTANT("number", invivo_int64(1))}, into[] = {KEY("left", "a.key")}, through[] = {KEY("input", "a.key")};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(one), .flags = INVIVO_DEFINITION_HIDDEN_INTERFACE);
    DEFINE("a.keeps", LAZY_SINGLETON, .type = held_type, PROPERTIES(into));
    DEFINE("a.follows", LAZY_SINGLETON, INITIALIZER(through));
    invivo_object keeps = resolve("a.keeps");
    CHECK_EQUAL(at(at(keeps)->left)->number, 1);
    CHECK_EQUAL(at(at(keeps)->left)->serial, 2);
    invivo_override two = override("a.key", 2), three = override("a.key", 3);
    CHECK_EQUAL(number_of("a.key"), 3);
    CHECK_EQUAL(at(at(keeps)->left)->number, 3); /* the dependent follows and stays itself */
    invivo_object first = resolve("a.key"), again = resolve("a.key");
    CHECK(first.bits == again.bits); /* the scope stays */
    drop(first), drop(again);
    expects_error(by_type("Thing", "key", 0, &first), INVIVO_E_NOT_FOUND, NULL); /* and so does what hides it */
    OK(invivo_override_end(two, E));
    CHECK_EQUAL(number_of("a.key"), 3);
    expects_error(invivo_override_end(two, E), INVIVO_E_HANDLE, NULL);
    /* Defined anew meanwhile: that shows when the override goes. */
    invivo_injection four[] = {CONSTANT("number", invivo_int64(4))};
    DEFINE("a.key", LAZY_SINGLETON, INITIALIZER(four));
    CHECK_EQUAL(number_of("a.key"), 3);
    OK(invivo_override_end(three, E));
    CHECK_EQUAL(number_of("a.key"), 4);
    CHECK_EQUAL(at(at(keeps)->left)->number, 4);
    invivo_override lost;
    invivo_definition unknown = {.struct_size = sizeof unknown, .key = "a.kye", .type = node_type};
    expects_error(invivo_override_begin(runtime, &unknown, &lost, E), INVIVO_E_NOT_FOUND,
                  "a.kye: no definition has the key 'a.kye', did you mean 'a.key'?");
    (void)override("a.key", 9); /* goes with the runtime */
    drop(keeps);
    end();
}

static void an_object_stands_in_for_a_key(void) {
    begin();
    invivo_injection into[] = {KEY("left", "a.key")};
    DEFINE("a.key", LAZY_SINGLETON);
    DEFINE("a.keeps", LAZY_SINGLETON, .type = held_type, PROPERTIES(into));
    invivo_object double_, keeps = resolve("a.keeps"), real = at(keeps)->left;
    OK(invivo_object_make(runtime, leaf_type, NULL, 0, &double_, E));
    invivo_definition stand_in = {.struct_size = sizeof stand_in, .key = "a.key", .constant = double_};
    invivo_override in_place;
    OK(invivo_override_begin(runtime, &stand_in, &in_place, E));
    CHECK(at(keeps)->left.bits == double_.bits);
    invivo_object found = resolve("a.key");
    CHECK(found.bits == double_.bits && found.bits != real.bits);
    drop(found);
    OK(invivo_override_end(in_place, E));
    found = resolve("a.key");
    CHECK(found.bits != double_.bits);
    drop(found);
    /* Two keys with one object: it ends with its last holder, not with one of the keys. */
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.one", .constant = double_,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "a.two", .constant = double_,
                     .scope = INVIVO_SCOPE_LAZY_SINGLETON}, NULL, E));
    drop(double_);
    found = resolve("a.one");
    CHECK(found.bits == double_.bits);
    drop(found), drop(resolve("a.two"));
    describe();
    OK(invivo_changes_remove(changes, "a.one", E));
    commit();
    (void)live_objects();
    found = resolve("a.two");
    CHECK(found.bits == double_.bits);
    drop(found), drop(keeps);
    end();
}

int main(void) {
    check_begin();
    main_thread = pthread_self();
    overrides_lie_on_each_other_and_go_in_any_order();
    an_object_stands_in_for_a_key();
    return check_end();
}
