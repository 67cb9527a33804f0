// Assemblies in C++: described, activated, derived, mounted, removed; inline definitions; aliases with arguments; host
// scopes.
#include "check.hpp"

#include <thread>

using invivo::definition;

static void an_assembly_is_described_activated_and_removed() {
    invivo::runtime own;
    describe(own);
    auto held = std::make_shared<int>(0);
    {
        invivo::assembly armory("armory"), camelot("camelot");
        armory.is("Weapons").at(INVIVO_HERE).define(definition("sword").of<part>().lazy_singleton().with(7));
        camelot.needs("weapons", "Weapons")
            .define(definition("knight").lazy_singleton().parameters<int>({"number"}).with(invivo::argument(0)).made<part>(
                [held](const invivo::build &build, int number) {
                    return part(number + ++*held, build.resolve<part>("armory.sword").get());
                }))
            .define(definition("squire").of<part>().prototype().give("inner", invivo::from("weapons.sword")).give("number", 3))
            .define(definition("rider").of<part>().graph().give("number", 1).give(
                "inner", invivo::here(definition("").of<special>().graph().with(4))))
            .define(definition("pair").of<part>().prototype().parameters<int, int>({"left", "right"}).with(invivo::argument(0))
                        .set("heard", invivo::argument(1)))
            .define(definition("turned").alias("pair", invivo::argument(1), invivo::argument(0)).parameters<int, int>({"a", "b"}))
            .define(definition("tuned").of<part>().graph().with(1).injected<part>([held](part &made, const invivo::build &build) {
                made.number += 40;
                CHECK(build.key() == "camelot.tuned");
            }));
        own.describe(camelot);
        CHECK(throws(INVIVO_E_NOT_READY, "the assembly 'camelot' must be activated", [&] { own.resolve<part>("camelot.rider"); }));
        CHECK(throws(INVIVO_E_NOT_FOUND, "Weapons", [&] { own.activate(camelot); }));
        own.activate(camelot, armory);
        uint64_t before = own.generation();
        invivo::ref<part> knight = own.resolve<part>("camelot.knight", 5);
        own.activate(camelot);
        CHECK(own.generation() == before);
        CHECK((own.resolve<part>("camelot.knight", 5)) == knight);
        CHECK(knight->number == 6 && knight->inner->number == 7);
        CHECK(own.resolve<part>("camelot.squire")->inner == own.resolve<part>("armory.sword").get());
        CHECK(own.resolve<part>("camelot.rider")->inner->number == 4);
        CHECK(own.resolve<part>("camelot.rider.inner")->number == 4);
        invivo::ref<part> turned = own.resolve<part>("camelot.turned", 1, 2);
        CHECK(turned->number == 2 && turned->heard == 1);
        CHECK(own.resolve<part>("camelot.tuned")->number == 41);
        CHECK(throws(INVIVO_E_NOT_FOUND, "camelot", [&] { own.deactivate("armory"); }));
        own.deactivate("camelot");
        CHECK(throws(INVIVO_E_NOT_READY, "camelot", [&] { own.resolve<part>("camelot.rider"); }));
    }
    own.close();
    CHECK(held.use_count() == 1);
}

static void a_derived_one_stands_in_and_mounts_stand_beside_each_other() {
    invivo::runtime own;
    describe(own);
    invivo::assembly studio("studio"), other("other"), voice("voice");
    studio.define(definition("clock").of<part>().lazy_singleton().with(44));
    other.define(definition("clock").of<part>().lazy_singleton().with(96));
    voice.define(definition("filter").of<part>().lazy_singleton().give("number", invivo::configured("cutoff")).give(
        "inner", invivo::from("studio.clock")));
    invivo::assembly bass("voice", voice);
    bass.define(definition("lead").of<part>().lazy_singleton().with(9));
    own.configure("voice.cutoff", 3);
    own.configure("left.cutoff", 4);
    own.activate(studio, other);
    own.mount(voice, "left");
    own.mount(voice, "right", {{"studio", "other"}});
    CHECK(own.resolve<part>("left.filter")->inner->number == 44 && own.resolve<part>("left.filter")->number == 4);
    CHECK(own.resolve<part>("right.filter")->inner->number == 96 && own.resolve<part>("right.filter")->number == 3);
    own.activate(bass);
    CHECK(own.resolve<part>("voice.lead")->number == 9 && own.resolve<part>("voice.filter")->number == 3);
    own.deactivate("left");
    CHECK(throws(INVIVO_E_NOT_FOUND, "left.filter", [&] { own.resolve<part>("left.filter"); }));
}

static thread_local uint64_t document;
static void scopes_have_places() {
    invivo::runtime own;
    describe(own);
    int kept = 0, dropped = 0;
    own.scope(
        "document", [] { return document; },
        [&](uint64_t place, const char *key, const invivo::object &thing) {
            kept += place == 7 && std::string(key) == "a.page" && thing.type_name() == "Part";
        },
        [&](uint64_t, const char *, const invivo::object &) { dropped++; });
    own.define(definition("a.page").of<part>().in_scope("document").with(1));
    own.define(definition("a.each").of<part>().thread().with(2));
    CHECK(throws(INVIVO_E_NOT_READY, "document", [&] { own.resolve<part>("a.page"); }));
    document = 7;
    invivo::ref<part> first = own.resolve<part>("a.page");
    CHECK(own.resolve<part>("a.page") == first && kept == 1);
    document = 8;
    CHECK(own.resolve<part>("a.page") != first);
    first = {};
    own.end_scope("document", 7);
    own.end_scope("document", 8);
    CHECK(dropped == 2);
    own.scope("failing", []() -> uint64_t { throw std::runtime_error("nobody knows"); });
    own.define(definition("a.lost").of<part>().in_scope("failing"));
    CHECK(throws(INVIVO_E_HOST, "nobody knows", [&] { own.resolve<part>("a.lost"); }));
}

int main() {
    an_assembly_is_described_activated_and_removed();
    a_derived_one_stands_in_and_mounts_stand_beside_each_other();
    scopes_have_places();
    return ended();
}
