// Rollbacks and marks in C++, and files whose bytes a rollback refused.
#include "check.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using invivo::definition;

static void define(invivo::runtime &own, int number) {
    own.define(definition("synth.part").of<part>().lazy_singleton().give("number", number));
}

static void a_rollback_brings_a_generation_back() {
    invivo::runtime own;
    describe(own);
    define(own, 1);
    uint64_t first = own.mark("first");
    define(own, 2);
    own.rollback(first);
    CHECK(own.resolve<part>("synth.part")->number == 1);
    own.rollback(first + 1);
    CHECK(own.resolve<part>("synth.part")->number == 2);
    own.rollback_to_mark("first");
    CHECK(own.resolve<part>("synth.part")->number == 1);
    CHECK(own.marked("first") == first);
    invivo::changes(own.raw()).rollback(first + 1).commit();
    CHECK(own.resolve<part>("synth.part")->number == 2);
    std::vector<invivo::kept_generation> kept = own.history();
    CHECK(kept.size() == 7 && kept[1].generation == first && kept[1].first == first);
    CHECK(kept[1].marks == std::vector<std::string>{"first"} && kept[1].cause == "define synth.part");
    CHECK(kept.back().generation == own.generation() && kept.back().cause == "rollback to generation 2");
    CHECK(kept.back().time > kept.front().time && kept.back().time <= std::chrono::system_clock::now());
    own.unmark("first");
    CHECK(throws(INVIVO_E_NOT_FOUND, "no generation is marked 'first'", [&] { own.rollback_to_mark("first"); }));
    CHECK(throws(INVIVO_E_NOT_FOUND, "there is no generation 99 yet", [&] { own.rollback(99); }));
}

static void refused_bytes_are_shown_and_tried_again() {
    std::string file = (std::filesystem::temp_directory_path() / ("invivo-history-" + std::to_string(getpid()) + ".yaml")).string();
    auto write = [&](int number) { std::ofstream(file) << "config: { n: " << number << " }\n"; };
    invivo::runtime own;
    write(1);
    invivo::source source = own.follow(file);
    uint64_t good = own.generation();
    write(2);
    source.refresh();
    CHECK(own.config<int>("n") == 2 && !own.sources()[0].diverged);
    own.rollback(good);
    source.refresh();
    invivo::source_state state = own.sources()[0];
    CHECK(own.config<int>("n") == 1 && state.diverged && state.live_hash.size() == 32 && state.file_hash.size() == 32);
    CHECK(state.live_hash != state.file_hash);
    source.retry();
    CHECK(own.config<int>("n") == 2 && own.sources()[0].live_hash.empty());
    std::filesystem::remove(file);
}

static void a_refresh_of_the_environment() {
    setenv("IV_CPP", "1", 1), setenv("IV_CPP__a__two", "1", 1);
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.environment_prefix = "IV_CPP__";
    invivo::runtime own(options);
    invivo::changes(own).document("a.yaml", "config: { a: { one: \"${IV_CPP}\" } }").commit();
    setenv("IV_CPP", "2", 1), setenv("IV_CPP__a__two", "2", 1);
    CHECK(own.config<std::string>("a.one") == "1" && own.config<int>("a.two") == 1);
    own.refresh_environment();
    CHECK(own.config<std::string>("a.one") == "2" && own.config<int>("a.two") == 2);
    unsetenv("IV_CPP");
    CHECK(throws(INVIVO_E_SPEC, "the environment variable 'IV_CPP' is not set", [&] { own.refresh_environment(); }));
    CHECK(own.config<std::string>("a.one") == "2");
    unsetenv("IV_CPP__a__two");
}

int main() {
    a_refresh_of_the_environment();
    a_rollback_brings_a_generation_back();
    refused_bytes_are_shown_and_tried_again();
    return ended();
}
