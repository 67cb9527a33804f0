// Weak pools, processors, asynchronous resolves, and descriptions of the wiring in C++.
#include "check.hpp"

#include <algorithm>
#include <thread>

using invivo::definition;
using invivo::ref;

static void an_entry_lives_as_long_as_it_is_held() {
    invivo::runtime own;
    describe(own);
    own.define(definition("a.part").of<part>().prototype().parameters<int>({"number"}).with(invivo::argument(0)));
    int made = 0;
    auto parts = own.pool<part>("parts", [&](const invivo::value &key) {
        made++;
        return own.resolve<part>("a.part", key.as<int>());
    });
    {
        ref<part> one = parts.get(1), same = parts.get(1), other = parts.get(2);
        CHECK(one == same && one != other && made == 2 && parts.count() == 2 && one->number == 1);
        CHECK(parts.peek(1) == one && !parts.peek(3));
        CHECK(own.find_pool<part>("parts").get(1) == one);
        parts.put("another", one);
        CHECK(parts.peek(std::string("another")) == one && parts.entries().size() == 3);
        CHECK(parts.remove("another") && !parts.remove("another"));
        ref<part> by = parts.get(5, [&](const invivo::value &) { return own.resolve<part>("a.part", 50); });
        CHECK(by->number == 50);
        CHECK(throws(INVIVO_E_HOST, "not this number", [&] { parts.get(13); }));
        CHECK(throws(INVIVO_E_NULL, "returned no object", [&] { parts.get(6, [](const invivo::value &) { return ref<part>(); }); }));
        CHECK(parts.clear() == 3 && parts.count() == 0 && parts.get(1) != one);
        std::vector<int> key{1, 2};
        CHECK(parts.get(key, [&](const invivo::value &given) { return own.resolve<part>("a.part", given.as<std::vector<int>>()[1]); })->number == 2);
        auto plain = own.pool<part>();
        CHECK(throws(INVIVO_E_NOT_FOUND, "", [&] { plain.get(1); }));
        auto copied = plain;
        plain.close();
        CHECK(throws(INVIVO_E_HANDLE, "the pool is closed", [&] { copied.count(); }));
    }
    CHECK(parts.count() == 0 && alive == 0);
    CHECK(throws(INVIVO_E_NOT_FOUND, "parts", [&] { own.find_pool<part>("part"); }));
}

static void processors_wrap_and_change() {
    invivo::runtime own;
    describe(own);
    own.define(definition("a.part").of<part>().lazy_singleton().with(1));
    own.define(definition("a.wrap").of<part>().prototype().parameters<part &>({"inner"}).give("number", 10).give("inner", invivo::argument(0)));
    int seen = 0;
    own.process(invivo::processor("seen").key("a.part").decorate<part>([&](const ref<part> &made) { seen += made->number; }));
    CHECK(own.resolve<part>("a.part")->number == 1 && seen == 1);
    own.process(invivo::processor("wrapping").key("a.part").priority(5).decorate_by("a.wrap"));
    CHECK(own.resolve<part>("a.part")->number == 10 && own.resolve<part>("a.part")->inner->number == 1);
    own.unprocess("wrapping");
    CHECK(own.resolve<part>("a.part")->number == 1);
    own.process(invivo::processor("changing").key("a.part").process([](const invivo_definition &described, invivo_changes changes) {
        invivo_definition other = described;
        other.rank = 3;
        invivo::detail::checked([&](invivo_error **e) { return invivo_changes_define(changes, &other, nullptr, e); });
    }));
    CHECK(own.wiring()[0].rank == 3);
    CHECK(throws(INVIVO_E_HOST, "not to be changed", [&] {
        own.process(invivo::processor("refusing").of<part>().process(
            [](const invivo_definition &, invivo_changes) { throw std::runtime_error("not to be changed"); }));
    }));
    CHECK(throws(INVIVO_E_HOST, "not to be wrapped", [&] {
        own.process(invivo::processor("throwing").decorate<part>([](const ref<part> &) -> ref<part> { throw std::runtime_error("not to be wrapped"); }));
        own.resolve<part>("a.part");
    }));
    auto held = std::make_shared<int>(0);
    invivo::changes(own).process(invivo::processor("throwing").decorate<part>([held](const ref<part> &) { ++*held; })).commit();
    CHECK(own.resolve<part>("a.part")->number == 1 && *held == 1);
    own.close();
    CHECK(held.use_count() == 1);
}

static void resolves_are_handed_over() {
    invivo::runtime own;
    describe(own);
    own.define(definition("a.part").of<part>().prototype().parameters<int>({"number"}).with(invivo::argument(0)));
    own.define(definition("a.one").of<part>().lazy_singleton().with(1));
    auto key = own.key_of<part>("a.part");
    CHECK(!own.peek(own.key_of<part>("a.one")));
    std::future<ref<part>> later = own.resolved(key, 3), wrong = own.resolved(key, 13);
    while (later.wait_for(std::chrono::seconds(0)) != std::future_status::ready || wrong.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        own.poll(std::chrono::milliseconds(10));
    CHECK(later.get()->number == 3);
    CHECK(throws(INVIVO_E_HOST, "not this number", [&] { wrong.get(); }));
    int told = 0;
    own.resolve_async(own.key_of<part>("a.one"), [&](ref<part> found, const invivo::error *failed) { told = failed ? -1 : found->number; });
    own.resolve_async_with(key, [&](ref<part> found, const invivo::error *) { told += found->number; }, 20);
    own.resolve_async(own.key_of<special>("a.one"), [&](ref<special> found, const invivo::error *failed) {
        told += !found && failed && failed->code() == INVIVO_E_TYPE ? 100 : 1000;
    });
    while (told < 121) own.poll(std::chrono::milliseconds(10));
    CHECK(told == 121 && own.peek(own.key_of<part>("a.one"))->number == 1);
}

static void the_wiring_and_the_states_are_facts() {
    invivo::runtime own;
    describe(own);
    own.define(definition("a.inner").of<special>().lazy_singleton().with(1).at(INVIVO_HERE));
    own.define(definition("a.outer").of<part>().lazy_singleton().give("inner", invivo::from("a.inner")).rank(2));
    own.define(definition("a.other").alias("a.outer"));
    invivo::changes set(own);
    set.define(definition("a.late").of<part>().lazy_singleton().give("inner", invivo::from("a.nothing")).waits()).commit();
    {
        ref<part> outer = own.resolve<part>("a.outer");
        std::vector<invivo::wiring_node> nodes = own.wiring();
        CHECK(nodes.size() == 4 && nodes[0].key == "a.inner" && nodes[0].type == "Special" && nodes[0].line > 0);
        CHECK(nodes[3].key == "a.outer" && nodes[3].rank == 2 && nodes[3].live == 1 && nodes[3].needs[0].key == "a.inner");
        CHECK(nodes[2].alias == "a.outer");
        CHECK(own.wiring_text(INVIVO_GRAPH_MERMAID).find("a.outer") != std::string::npos);
        for (const invivo::object_state &state : own.states()) {
            if (state.key == "a.late") CHECK(state.state == INVIVO_STATE_DORMANT && state.waits == std::vector<std::string>{"a.nothing"});
            if (state.key == "a.outer") CHECK(state.objects == 1);
        }
        own.reset("a.outer", INVIVO_RESET_DEPENDENCIES);
        CHECK(own.resolve<part>("a.outer") != outer);
        own.inject(outer.held(), "a.outer");
    }
    uint64_t generation = own.generation();
    invivo::changes(own).expect(generation).reset_scope(INVIVO_SCOPE_LAZY_SINGLETON).commit();
    CHECK(alive == 0);
    CHECK(throws(INVIVO_E_STALE, "is current", [&] { invivo::changes(own).expect(generation).reset("a.outer").commit(); }));
    CHECK(throws(INVIVO_E_DORMANT, "a.nothing", [&] { own.resolve<part>("a.late"); }));
}

int main() {
    an_entry_lives_as_long_as_it_is_held();
    processors_wrap_and_change();
    resolves_are_handed_over();
    the_wiring_and_the_states_are_facts();
    return ended();
}
