// Pins in C++: a block of one generation, and a task that several threads run.
#include "check.hpp"

#include <thread>

using invivo::definition;

static void say(const invivo::runtime &own, int number) {
    own.define(definition("synth.part").of<part>().lazy_singleton().give("number", number));
}

static void a_block_reads_one_generation() {
    invivo::runtime own;
    describe(own);
    say(own, 1);
    {
        invivo::pin pinned = own.pinned();
        say(own, 2);
        CHECK(pinned.generation() + 1 == own.generation());
        CHECK(own.resolve<part>("synth.part")->number == 1);
        invivo::runtime_status status = own.status();
        CHECK(status.generation == own.generation() && status.pins.size() == 1 && status.former.size() == 1);
        CHECK(status.pins[0].generation == pinned.generation() && status.former[0].generation == pinned.generation());
        CHECK(status.kept.empty() && status.diverged.empty() && status.unrestored.empty() && status.running.empty());
        invivo::pin moved = std::move(pinned);
        CHECK(pinned.raw().bits == 0 && own.resolve<part>("synth.part")->number == 1);
        moved.end();
        CHECK(own.resolve<part>("synth.part")->number == 2 && moved.generation() == 0);
    }
    invivo_view view = invivo_view_begin(own.raw());
    say(own, 3);
    CHECK(throws(INVIVO_E_BUSY, "an open view of another generation", [&] { (void)own.pinned(); }));
    invivo_view_end(view);
    CHECK(throws(INVIVO_E_HANDLE, "", [&] { invivo::pin nowhere{invivo_runtime{}}; }));
}

static void threads_enter_a_held_pin() {
    invivo::runtime own;
    own.configure("synth.number", 1);
    invivo::pin held = own.hold_pin();
    own.configure("synth.number", 2);
    CHECK(own.config<int>("synth.number") == 2);
    std::thread([&] {
        invivo::pin inside = held.enter();
        CHECK(own.config<int>("synth.number") == 1);
    }).join();
    invivo::pin here = held.enter();
    std::thread([&] { CHECK(throws(INVIVO_E_DOMAIN, "the pin belongs to another thread", [&] { here.end(); })); }).join();
    CHECK(own.config<int>("synth.number") == 1);
    here = held.enter();
    held.end();
    CHECK(throws(INVIVO_E_STALE, "the pin has ended", [&] { (void)held.enter(); }));
    CHECK(own.config<int>("synth.number") == 1);
}

int main() {

    a_block_reads_one_generation();
    threads_enter_a_held_pin();
    return ended();
}
