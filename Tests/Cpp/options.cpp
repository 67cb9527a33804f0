// The options of an open runtime in C++.
#include "check.hpp"

#include <chrono>

static void options_are_read_and_changed() {
    invivo_runtime_options given{};
    invivo_runtime_options_init(&given);
    given.name = "app", given.log_level = INVIVO_LOG_SILENT;
    invivo::runtime own(given);
    invivo_runtime_options found = own.options();
    CHECK(std::string(found.name) == "app" && found.quiet_ms == 10 && found.history == 16);
    found.quiet_ms = 2, found.history = INVIVO_HISTORY_NONE;
    own.change(found);
    CHECK(own.options().quiet_ms == 2 && own.options().history == INVIVO_HISTORY_NONE);
    CHECK(throws(INVIVO_E_STALE, "the options were changed since they were read: read them again, or set options.revision to 0",
                 [&] { own.change(found); }));
    CHECK(own.generation() == 0);
}

static void an_edit_is_made_again_when_another_change_came_first() {
    invivo::runtime own;
    int calls = 0;
    own.change([&](invivo_runtime_options &options) {
        if (calls++ == 0) own.change([](invivo_runtime_options &other) { other.history = 3; });
        options.quiet_ms = 5;
    });
    CHECK(calls == 2 && own.options().quiet_ms == 5 && own.options().history == 3);
    CHECK(throws(INVIVO_E_ARGUMENT, "options.default_domain is 1, the runtime's is 0: it cannot change while the runtime is open; begin with the options of invivo_runtime_options_read, or open another runtime",
                 [&] { own.change([](invivo_runtime_options &options) { options.default_domain = INVIVO_DOMAIN_LOOP; }); }));
}

int main() {
    options_are_read_and_changed();
    an_edit_is_made_again_when_another_change_came_first();
    return ended();
}
