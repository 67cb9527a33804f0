// Objects that live in contexts in C++: where they are, what their code sees, the end of contexts, and threads.
#include "check.hpp"

#include <functional>
#include <thread>

using invivo::context_ref;
using invivo::definition;
using invivo::ref;

static std::vector<context_ref> seen;
static std::optional<invivo::context_failure> last_failure;

class worker {
public:
    explicit worker(worker *above = nullptr) : above(above) { alive++; }
    worker(const worker &) = delete;
    ~worker() { alive--; }
    void start() {}
    void stop() {
        stops++;
        home = invivo::runtime_ref(runtime).current_context();
        last_failure = home.failure();
        if (stops == failing) throw std::runtime_error("the disk is full");
    }

    worker *above;
    std::string user;
    static inline invivo_runtime runtime{};
    static inline context_ref home;
    static inline int stops, failing;
};

static void open(invivo::runtime &own, std::vector<std::string> of_sessions = {}) {
    describe(own);
    own.declare_contexts({{"session", INVIVO_CONTEXT_FOLLOWS, std::move(of_sessions)}, {"request"}});
    invivo::type<worker>("Worker")
        .shared()
        .constructor<worker *>({"above"})
        .property<&worker::user>("user")
        .start<&worker::start>()
        .stop<&worker::stop>()
        .add(own);
    worker::runtime = own, worker::stops = 0, worker::failing = 0;
}

static void each_context_of_a_kind_has_its_own_object() {
    invivo::runtime own;
    open(own);
    own.define(definition("user").of<worker>().context("session"));
    own.define(definition("handler").of<worker>().context("request").with(invivo::from("user")));
    own.define(definition("each").of<part>().prototype().parameters<int>({"number"}).with(invivo::argument(0)));
    own.define(definition("place").of<part>().context());
    const auto key = own.key_of<worker>("handler");
    auto session = own.context("session").open();
    auto first = own.context("request").parent(session).open(), second = own.context("request").parent(session).open();
    auto handler = first.resolve(key);
    CHECK(first.resolve<worker>("handler") == handler && second.resolve(key) != handler);
    CHECK(handler->above == &*session.resolve<worker>("user"));
    CHECK(first.resolve<part>("each", 4)->number == 4);
    CHECK(first.resolve<part>("place") == first.resolve<part>("place") && first.resolve<part>("place") != session.resolve<part>("place"));
    CHECK(own.describe("handler").scope_name == "request" && own.describe("place").scope_name.empty());
    CHECK(throws(INVIVO_E_NOT_READY, "in no context of the kind 'request'", [&] { session.resolve(key); }));
    CHECK(throws(INVIVO_E_NOT_READY, "in no context", [&] { own.resolve(key); }));
    {
        auto entered = first.entered();
        CHECK(own.resolve(key) == handler);
    }
    first.end();
    CHECK(throws(INVIVO_E_STALE, "has ended", [&] { first.resolve(key); }));
}

static void a_type_is_resolved_in_a_context() {
    invivo::runtime own;
    open(own);
    own.define(definition("handler").of<worker>().context("request"));
    auto request = own.context("request").open();
    CHECK(request.resolve<worker>() == request.resolve<worker>("handler") && request.resolve_if<worker>() == request.resolve<worker>());
    CHECK(!request.resolve_if<part>());
}

static void code_of_an_object_sees_the_context_in_which_it_lives() {
    invivo::runtime own;
    open(own);
    const auto making = [](const invivo::build &build) {
        seen.push_back(invivo::runtime_ref(build.runtime()).current_context());
        return part();
    };
    own.define(definition("pool").lazy_singleton().made<part>(making));
    own.define(definition("user").context("session").made<part>(making));
    own.define(definition("handler").context("request").made<part>(making));
    auto session = own.context("session").open();
    auto request = own.context("request").parent(session).open();
    auto inner = own.context().parent(request).open();
    auto entered = inner.entered();
    seen.clear();
    for (const char *name : {"pool", "user", "handler"}) (void)own.resolve<part>(name);
    CHECK(seen.size() == 3 && !seen[0] && seen[1] == session && seen[2] == request);
    CHECK(own.current_context() == inner);
}

static void stops_see_why_the_block_ended() {
    invivo::runtime own;
    open(own);
    own.define(definition("handler").of<worker>().context("request"));
    {
        auto request = own.context("request").open();
        (void)request.resolve<worker>("handler");
        CHECK(!request.failure());
    }
    CHECK(worker::stops == 1 && !last_failure);
    context_ref home;
    try {
        auto request = own.context("request").open();
        home = request;
        (void)request.resolve<worker>("handler");
        auto moved = std::move(request);
        throw std::runtime_error("too many");
    } catch (const std::runtime_error &) {}
    CHECK(worker::stops == 2 && worker::home == home && last_failure && last_failure->code == INVIVO_E_HOST);
    CHECK(last_failure->message == "an exception left the block");
    // The message is known where a function runs.
    const auto fail = [&](const context_ref &request) {
        CHECK(own.current_context() == request);
        (void)own.resolve<worker>("handler");
        throw std::runtime_error("too many");
    };
    try {
        own.context("request").run(fail);
        CHECK(false);
    } catch (const std::runtime_error &) {}
    CHECK(worker::stops == 3 && last_failure && last_failure->code == INVIVO_E_HOST && last_failure->message == "too many");
    CHECK(own.context("request").run([](const context_ref &request) {
        (void)request.resolve<worker>("handler");
        return 7;
    }) == 7);
    CHECK(worker::stops == 4 && !last_failure);
    // An error of the end is thrown after a body that has returned, and logged after one that has thrown.
    worker::failing = 5;
    CHECK(throws(INVIVO_E_HOST, "the disk is full",
                 [&] { own.context("request").run([](const context_ref &request) { (void)request.resolve<worker>("handler"); }); }));
    worker::failing = 6;
    CHECK(throws(INVIVO_E_RANGE, "too many", [&] {
        own.context("request").run([](const context_ref &request) {
            (void)request.resolve<worker>("handler");
            throw invivo::error(INVIVO_E_RANGE, "too many");
        });
    }));
    CHECK(worker::stops == 6 && last_failure->code == INVIVO_E_RANGE);
}

static void the_end_returns_what_is_held_and_refuses_children() {
    invivo_runtime_options options{};
    invivo_runtime_options_init(&options);
    options.end_timeout_ms = 7000;
    invivo::runtime own(options);
    CHECK(own.options().end_timeout_ms == 7000);
    open(own);
    own.define(definition("handler").of<worker>().context("request"));
    auto session = own.context("session").open();
    auto request = own.context("request").parent(session).open();
    auto handler = request.resolve<worker>("handler");
    invivo::context_ending refusing;
    refusing.refuses_children = true;
    CHECK(throws(INVIVO_E_BUSY, "request", [&] { session.end(refusing); }));
    CHECK(!session.is_ended());
    invivo::context_ending failed;
    failed.timeout = std::chrono::seconds(30), failed.failure = INVIVO_E_RANGE, failed.failure_message = "too many";
    CHECK(request.end(failed) == std::vector<std::string>{"handler"});
    CHECK(session.end(refusing).empty() && session.is_ended());
    // What is held is stopped with its last lease.
    handler = {};
    CHECK(worker::stops == 1 && alive == 0);
}

static void a_value_of_a_context_is_injected() {
    invivo::runtime own;
    open(own, {"user"});
    own.define(definition("near").of<worker>().context("request").set("user", invivo::from_context("user")));
    own.define(definition("far").of<worker>().context("request").set("user", invivo::from_context("user", "session")));
    own.define(definition("other").of<worker>().context("request").set("user", invivo::from_context("guest").otherwise("nobody")));
    auto session = own.context("session").set("user", "ada").open();
    auto request = own.context("request").parent(session).set("user", "bob").open();
    CHECK(request.resolve<worker>("near")->user == "bob" && request.resolve<worker>("far")->user == "ada");
    CHECK(request.resolve<worker>("other")->user == "nobody");
}

// Work that is started in a context: it enters the context by itself.

static void a_thread_sees_no_context_until_it_enters_one() {
    invivo::runtime own;
    open(own);
    own.define(definition("handler").of<worker>().context("request"));
    auto request = own.context("request").open();
    auto entered = request.entered();
    auto handler = own.resolve<worker>("handler");
    std::thread([&] {
        CHECK(!own.current_context());
        CHECK(throws(INVIVO_E_NOT_READY, "in no context", [&] { own.resolve<worker>("handler"); }));
        CHECK(request.resolve<worker>("handler") == handler);
        auto here = request.entered();
        CHECK(own.current_context() == request && own.resolve<worker>("handler") == handler);
    }).join();
    CHECK(own.current_context() == request);
}

static void a_thread_that_a_factory_starts_sees_no_context() {
    invivo::runtime own;
    open(own);
    const auto making = [](const invivo::build &build) {
        const invivo::runtime_ref runtime(build.runtime());
        std::thread([&] { seen.push_back(runtime.current_context()); }).join();
        return part();
    };
    own.define(definition("pool").lazy_singleton().made<part>(making));
    own.define(definition("handler").context("request").made<part>(making));
    auto request = own.context("request").open();
    auto entered = request.entered();
    seen.clear();
    (void)own.resolve<part>("pool"), (void)own.resolve<part>("handler");
    CHECK(seen.size() == 2 && !seen[0] && !seen[1]);
}

// A coroutine is a sequence of steps that any thread may run: each step enters the context, and none keeps it over a suspension.
static void each_step_of_a_coroutine_enters_its_context() {
    invivo::runtime own;
    open(own);
    auto request = own.context("request").open();
    const context_ref kept = request;
    std::function<void()> step = [&] {
        auto here = kept.entered();
        CHECK(own.current_context() == kept);
    };
    step();
    CHECK(!own.current_context());
    std::thread([&] {
        CHECK(!own.current_context());
        step();
        CHECK(!own.current_context());
    }).join();
    // An entry that is left by another thread stays on its own.
    CHECK(invivo_context_enter(kept.raw(), nullptr) == INVIVO_OK);
    std::thread([&] { CHECK(invivo_context_leave(kept.raw(), nullptr) == INVIVO_E_DOMAIN); }).join();
    CHECK(own.current_context() == kept);
    CHECK(invivo_context_leave(kept.raw(), nullptr) == INVIVO_OK);
}

int main() {
    each_context_of_a_kind_has_its_own_object();
    a_type_is_resolved_in_a_context();
    code_of_an_object_sees_the_context_in_which_it_lives();
    stops_see_why_the_block_ended();
    the_end_returns_what_is_held_and_refuses_children();
    a_value_of_a_context_is_injected();
    a_thread_sees_no_context_until_it_enters_one();
    a_thread_that_a_factory_starts_sees_no_context();
    each_step_of_a_coroutine_enters_its_context();
    return ended();
}
