// Contexts in C++: values, typed keys, kinds, the end of blocks, the current context, observers and objects.
#include "check.hpp"

#include <thread>

using invivo::context_key;
using invivo::ref;

static context_key<int> workers{"workers", 8};
static context_key<std::string> title{"title"};
static context_key<ref<part>> holder{"holder"};

static void the_first_hit_upward_wins() {
    invivo::runtime own;
    auto root = own.context().set("count", 1).set(title, "root").open();
    auto child = own.context().parent(root).open();
    CHECK(child.get<int>("count") == 1 && child.get(title) == "root" && child.get(workers) == 8);
    CHECK(!child.get_local<int>("count") && !child.get_local(workers) && !child.get_if<int>("nothing"));
    child.set("count", 2);
    child.set(workers, 3);
    CHECK(child.get<int>("count") == 2 && root.get<int>("count") == 1 && child.get(workers) == 3 && child.get_local(workers) == 3);
    child.hide("count");
    CHECK(!child.get_if<int>("count"));
    CHECK(throws(INVIVO_E_NOT_FOUND, "'count'", [&] { child.get<int>("count"); }));
    child.remove("count");
    child.remove(workers);
    CHECK(child.get<int>("count") == 1 && child.get(workers) == 8);
    CHECK(throws(INVIVO_E_NOT_FOUND, "no value of its own", [&] { child.remove("count"); }));
    CHECK(throws(INVIVO_E_NULL, "", [&] { child.set("count", std::optional<int>()); }));
}

static void values_are_of_any_kind() {
    invivo::runtime own;
    auto context = own.context().open();
    context.set("flag", true), context.set("ratio", 0.5), context.set("text", "hello"), context.set("bytes", std::vector<uint8_t>{0, 1, 2});
    context.set("list", std::vector<int>{1, 2}), context.set("map", std::map<std::string, int>{{"a", 1}});
    CHECK(context.get<bool>("flag") && context.get<double>("ratio") == 0.5 && context.get<std::string>("text") == "hello");
    CHECK(context.get<std::vector<uint8_t>>("bytes").size() == 3 && context.get<std::vector<int>>("list")[1] == 2);
    CHECK((context.get<std::map<std::string, int>>("map").at("a") == 1));
    CHECK(context.get<invivo::value>("text").kind() == INVIVO_KIND_STRING);
    CHECK(throws(INVIVO_E_TYPE, "", [&] { context.get<int>("text"); }));
}

static void objects_are_held() {
    invivo::runtime own;
    describe(own);
    own.define(invivo::definition("a.part").of<part>().prototype().parameters<int>({"number"}).with(invivo::argument(0)));
    {
        auto context = own.context().set(holder, own.resolve<part>("a.part", 7)).open();
        CHECK(alive == 1);
        ref<part> found = context.get(holder);
        CHECK(found->number == 7 && context.get<ref<part>>("holder") == found);
        CHECK(throws(INVIVO_E_TYPE, "holder", [&] { context.set("holder", 1); }));
        context.set(holder, own.resolve<part>("a.part", 8));
        CHECK(alive == 2);
    }
    CHECK(alive == 0);
}

static void a_key_is_declared_once_in_each_runtime() {
    invivo::runtime first, second;
    auto one = first.context().open(), other = second.context().open();
    one.set(workers, 1);
    CHECK(one.get(workers) == 1 && other.get(workers) == 8 && one.get(workers) == 1);
    context_key<int> different{"workers", 9};
    context_key<std::string> text{"workers"};
    CHECK(throws(INVIVO_E_EXISTS, "workers", [&] { one.get(different); }));
    CHECK(throws(INVIVO_E_EXISTS, "workers", [&] { one.get(text); }));
    context_key<invivo::value> any{"workers"};
    CHECK(one.get(any).as<int>() == 1);
    CHECK(throws(INVIVO_E_HANDLE, "another runtime", [&] { (void)second.context().parent(one).open(); }));
}

static void several_keys_change_at_once() {
    invivo::runtime own;
    auto root = own.context().set("b", 20).open();
    auto context = own.context().parent(root).set("b", 2).open();
    context.change().set("a", 1).set(title, "t").remove("b").hide(workers).commit();
    CHECK(context.get<int>("a") == 1 && context.get(title) == "t" && context.get<int>("b") == 20 && !context.get_if(workers));
    CHECK(throws(INVIVO_E_NOT_FOUND, "'b'", [&] { context.change().set("a", 2).remove("b").commit(); }));
    CHECK(context.get<int>("a") == 1);
    (void)context.change().set("a", 3);
    CHECK(context.get<int>("a") == 1);
    auto entries = context.entries();
    CHECK(entries.size() == 3 && entries[0].key == "a" && entries[0].distance == 0 && entries[1].key == "b" && entries[1].distance == 1);
    CHECK(entries[1].content.as<int>() == 20 && context.entries(true).size() == 2);
}

static void the_block_ends_its_context() {
    invivo::runtime own;
    invivo::context_ref seen;
    {
        auto context = own.context().open();
        seen = context;
        CHECK(!seen.is_ended());
        invivo::context moved = std::move(context);
        CHECK(!context && moved == seen && !seen.is_ended());
        context = std::move(moved);
        CHECK(context == seen && !moved);
    }
    CHECK(seen.is_ended());
    CHECK(throws(INVIVO_E_STALE, "has ended", [&] { seen.get<int>("a"); }));
    auto root = own.context().open();
    auto held = own.context().parent(root).holds_parent().open();
    auto loose = own.context().parent(root).open();
    root.end();
    root.end();
    CHECK(held.is_ended() && !loose.is_ended());
    CHECK(throws(INVIVO_E_ORPHANED, "", [&] { (void)loose.parent(); }));
}

static void the_last_holder_ends_a_context() {
    invivo::runtime own;
    invivo::shared_context first(own.context().set("a", 1).open());
    invivo::context_ref seen = first;
    {
        invivo::shared_context second = first, third(seen);
        first = {};
        CHECK(!first && second.get<int>("a") == 1 && third == second);
        second = std::move(third);
        CHECK(second.get<int>("a") == 1);
    }
    CHECK(seen.is_ended());
    CHECK(throws(INVIVO_E_STALE, "", [&] { invivo::shared_context late(seen); }));
}

static void close_ends_contexts() {
    invivo::context kept;
    {
        invivo::runtime own;
        kept = own.context().set("a", 1).open();
        own.close();
        CHECK(kept.is_ended());
    }
    // Its destructor ends a context that has ended.
}

static void kinds_have_an_order_and_provide_values() {
    invivo::runtime own;
    own.declare_contexts({{"session"}, {"request", INVIVO_CONTEXT_FOLLOWS, {"user"}, {"theme"}}});
    own.declare_contexts({{"session"}});
    CHECK(throws(INVIVO_E_EXISTS, "request", [&] { own.declare_contexts({{"request"}}); }));
    CHECK(throws(INVIVO_E_NOT_FOUND, "'user', 'theme'", [&] { (void)own.context("request").open(); }));
    auto session = own.context("session").open();
    auto request = own.context("request").parent(session).set("user", "ada").set("theme", "dark").open();
    CHECK(request.kind() == "request" && session.parent() == invivo::context_ref() && request.parent() == session);
    CHECK(request.find_kind("session") == session && request.find_kind("request") == request);
    CHECK(throws(INVIVO_E_NOT_FOUND, "'request'", [&] { (void)request.find_kind("request", INVIVO_FIND_ABOVE); }));
    CHECK(throws(INVIVO_E_READ_ONLY, "contexts.cpp:", [&] { request.set("user", "bob"); }));
    request.set("theme", "light");
    CHECK(throws(INVIVO_E_ARGUMENT, "inner kind", [&] { (void)own.context("session").parent(request).open(); }));
}

static void a_thread_has_a_current_context() {
    invivo::runtime own;
    auto root = own.context().set("a", 1).open();
    CHECK(!own.current_context());
    {
        auto inside = root.entered();
        CHECK(own.current_context() == root);
        auto child = own.context().open();
        CHECK(child.parent() == root && child.get<int>("a") == 1);
        CHECK(!own.context().detached().open().parent());
        {
            auto deeper = child.entered();
            CHECK(own.current_context() == child);
            std::thread([&] {
                CHECK(!own.current_context());
                auto here = root.entered();
                CHECK(own.current_context() == root);
            }).join();
        }
        CHECK(own.current_context() == root);
    }
    CHECK(!own.current_context());
    root.end();
    CHECK(throws(INVIVO_E_STALE, "", [&] { auto late = root.entered(); }));
}

static void a_key_is_observed_here_and_above() {
    invivo::runtime own;
    auto root = own.context().open();
    auto child = own.context().parent(root).open();
    std::vector<std::optional<int>> seen;
    {
        invivo::observer watching = child.observe<int>("a", [&](std::optional<int> now) { seen.push_back(now); });
        root.set("a", 1), child.set("a", 2), child.set("b", 3), child.remove("a"), root.remove("a");
        CHECK((seen == std::vector<std::optional<int>>{1, 2, 1, std::nullopt}));
    }
    child.set("a", 4);
    CHECK(seen.size() == 4);
    invivo::observer failing = child.observe(title, [&](std::optional<std::string> now) {
        seen.push_back(now ? static_cast<int>(now->size()) : -1);
        throw std::runtime_error("not so");
    });
    child.set(title, "four");
    CHECK(seen.back() == 4 && own.status().last_error.find("an observer of a context threw: not so") != std::string::npos);
    child.end();
}

struct surface {
    virtual ~surface() = default;
};
struct panel : surface {
    invivo::object above;
    invivo::object parent() const { return above; }
};

static void objects_have_contexts() {
    invivo::runtime own;
    invivo::name<surface>("Surface");
    invivo::type<panel>("Panel").is<surface>().parent<&panel::parent>().add(own);
    own.define(invivo::definition("a.window").of<panel>().lazy_singleton());
    own.define(invivo::definition("a.button").of<panel>().lazy_singleton());
    {
        ref<panel> window = own.resolve<panel>("a.window"), button = own.resolve<panel>("a.button");
        button->above = window.held();
        CHECK(!own.context_of(button));
        auto context = own.context().object(window).open();
        context.attach(window);
        CHECK(own.context_of(window) == context && own.context_of(button) == context);
        auto inner = own.context().parent(context).open();
        inner.attach(button.held());
        CHECK(own.context_of(button) == inner);
        own.detach_context(button);
        own.detach_context(button.held());
        CHECK(own.context_of(button) == context);
        CHECK(inner.find<panel>() == context && inner.find<surface>() == context && inner.find_type("Surface") == context);
        CHECK(throws(INVIVO_E_NOT_FOUND, "Surface", [&] { (void)inner.find<surface>(INVIVO_FIND_EXACT_TYPE); }));
        CHECK(throws(INVIVO_E_NOT_FOUND, "Panel", [&] { (void)context.find<panel>(INVIVO_FIND_ABOVE); }));
        CHECK(context.object() == window.held() && !inner.object());
        window->above = button.held();
        own.detach_context(window);
        CHECK(throws(INVIVO_E_CYCLE, "Panel", [&] { (void)own.context_of(button); }));
        window->above = {}, button->above = {};
        // The object is the only holder.
        invivo::context_ref last = context;
        context.attach(window);
        { invivo::shared_context gone(std::move(context)); }
        CHECK(!last.is_ended() && own.context_of(window) == last);
        own.detach_context(window);
        CHECK(last.is_ended());
    }
}

static void threads_use_one_chain() {
    invivo::runtime own;
    context_key<int> shared{"shared", -1};
    auto root = own.context().set(shared, 0).open();
    std::vector<std::thread> threads;
    for (int index = 0; index < 4; index++)
        threads.emplace_back([&, index] {
            auto child = own.context().parent(root).open();
            for (int round = 0; round < 500; round++) {
                if (index == 0) root.set(shared, round);
                int before = child.get(shared);
                CHECK(child.get(shared) >= before);
                child.change().set("own", round).commit();
                CHECK(child.get<int>("own") == round);
            }
        });
    for (std::thread &each : threads) each.join();
    CHECK(root.get(shared) == 499);
}

int main() {
    the_first_hit_upward_wins();
    values_are_of_any_kind();
    objects_are_held();
    a_key_is_declared_once_in_each_runtime();
    several_keys_change_at_once();
    the_block_ends_its_context();
    the_last_holder_ends_a_context();
    close_ends_contexts();
    kinds_have_an_order_and_provide_values();
    a_thread_has_a_current_context();
    a_key_is_observed_here_and_above();
    objects_have_contexts();
    threads_use_one_chain();
    return ended();
}
