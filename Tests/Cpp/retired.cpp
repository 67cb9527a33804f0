// Replaced objects are stopped when no ref holds them any more, and not before.
#include "check.hpp"

#include <atomic>
#include <thread>
#include <vector>

static std::atomic<int> stops{0};

struct pool {
    std::atomic<bool> stopped{false};
    void stop() {
        stopped = true;
        stops++;
    }
};

static void replace(const invivo::runtime_ref &own) { own.define(invivo::definition("a.pool").of<pool>().lazy_singleton()); }

static void describe(const invivo::runtime_ref &own) {
    invivo::type<pool>("Pool").shared().stop<&pool::stop>().add(own);
    replace(own);
}

static void a_ref_keeps_it() {
    invivo::runtime own;
    describe(own);
    invivo::ref<pool> old = own.resolve<pool>("a.pool");
    replace(own);
    CHECK(own.resolve<pool>("a.pool") != old);
    std::vector<invivo::retired_object> retired = own.retired();
    CHECK(retired.size() == 1 && retired[0].key == "a.pool" && retired[0].type == "Pool" && retired[0].reason == "leased");
    CHECK(retired[0].leases == 1 && retired[0].retired_ns > 0 && retired[0].idle_ns == 0);
    CHECK(!old->stopped);
    old = {};
    CHECK(stops == 1 && own.retired().empty());
    own.close();
    CHECK(stops == 2);
}

static void no_thread_uses_a_stopped_object_during_reloads() {
    invivo::runtime own;
    describe(own);
    stops = 0;
    std::atomic<int> uses{0}, used_after_stop{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> users;
    CHECK(!own.resolve<pool>("a.pool")->stopped);  // each commit rebuilds built objects
    for (int i = 0; i < 8; i++) {
        users.emplace_back([&] {
            while (!over) {
                invivo::ref<pool> held = own.resolve<pool>("a.pool");
                for (int n = 0; n < 50; n++)
                    if (held->stopped) used_after_stop++;
                uses++;
            }
        });
    }
    for (int i = 0; i < 100; i++) {
        int before = uses;
        replace(own);
        while (uses < before + 16) std::this_thread::yield();
    }
    over = true;
    for (std::thread &user : users) user.join();
    CHECK(used_after_stop == 0);
    own.close();
    CHECK(stops == 101);
}

int main() {
    a_ref_keeps_it();
    no_thread_uses_a_stopped_object_during_reloads();
    return ended();
}
