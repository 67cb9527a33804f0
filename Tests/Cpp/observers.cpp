// Observers of keys, types and objects, in C++.
#include "check.hpp"

#include <stdexcept>
#include <string>

using invivo::definition;

struct disk {
    int64_t number = 0;
};
struct player {
    int64_t volume = 0;
};

static void define_disk(invivo::runtime &own, const char *key, int64_t number) {
    own.define(definition(key).singleton().made<disk>([number](const invivo::build &) { return disk{number}; }));
}

static void each_hears_of_its_own_changes() {
    invivo::runtime own;
    invivo::type<disk>("Disk").constructor<>().add(own);
    invivo::type<player>("Player").constructor<>().add(own);
    define_disk(own, "a.disk", 1);
    auto disk_object = own.resolve<disk>("a.disk");
    std::string heard;
    auto hear = [&heard](const char *name) {
        return [&heard, name](const invivo::report &report) {
            heard += name;
            for (size_t index = 0; index < report.count(); index++) heard += std::string(" ") + report.key(index);
            heard += ";";
        };
    };
    auto key = own.observe_key("a.disk", hear("key"));
    auto type = own.observe_type<disk>(hear("type"));
    auto named = own.observe_type("Player", hear("named"));
    auto object = own.observe_object(disk_object, hear("object"));
    CHECK(key.generation() == own.generation());
    own.define(definition("a.player").of<player>().singleton());
    CHECK(heard == "named a.player;");
    heard.clear();
    define_disk(own, "a.disk", 2);
    CHECK(heard == "type a.disk;object a.disk;key a.disk;");
    heard.clear();
    define_disk(own, "a.other", 3);
    CHECK(heard == "type a.other;");
    heard.clear();
    { auto ended = std::move(key); }
    define_disk(own, "a.disk", 4); /* the object was replaced before */
    CHECK(heard == "type a.disk;");
}

static void the_first_reload_is_announced() {
    invivo::runtime own;
    invivo::type<disk>("Disk").constructor<>().add(own);
    std::string heard;
    auto ready = own.on_ready([&heard](uint64_t generation, const invivo::error *failed) {
        heard += failed ? failed->what() : "live " + std::to_string(generation);
    });
    CHECK(heard.empty());
    define_disk(own, "a.disk", 1);
    define_disk(own, "a.disk", 2);
    CHECK(heard == "live 1");
}

static void phases_are_announced() {
    invivo::runtime own;
    invivo::type<disk>("Disk").constructor<>().add(own);
    std::string heard;
    auto phases = own.on_progress([&heard](const invivo::progress &progress) {
        heard += std::to_string(progress.phase()) + (progress.failed() ? " failed; " : "; ");
        if (progress.phase() == INVIVO_PROGRESS_PLANNED) throw std::runtime_error("on purpose"); /* changes nothing */
    });
    define_disk(own, "a.disk", 1);
    CHECK(heard == "0; 1; 2; 5; ");
    heard.clear();
    try {
        own.define(definition("a.wrong").of<player>().singleton());
        CHECK(false);
    } catch (const invivo::error &) {}
    CHECK(heard == "0; 3 failed; ");
    { auto ended = std::move(phases); }
    define_disk(own, "a.disk", 2);
    CHECK(heard == "0; 3 failed; ");
}

static void reports_are_data() {
    invivo::runtime own;
    std::string heard;
    auto observer = own.observe([&heard](const invivo::report &report) {
        heard += std::to_string(report.cause_count()) + ' ' + std::to_string(report.cause_kind(0)) + ' ' + report.cause_name(0) + ' ';
        const auto location = report.location_of(0);
        heard += std::to_string(report.origin(0)) + ' ' + report.layer(0) + ' ' + location.file + ':' + std::to_string(location.line) + ':' + std::to_string(location.column);
        for (size_t index = 0; index < report.warning_count(); index++) heard += " warning " + std::to_string(report.warning_kind(index)) + ' ' + report.warning_location(index).file;
    });
    auto document = own.document("a.yaml", "config: {n: 1}");
    CHECK(heard == "1 1 a.yaml 2 a.yaml a.yaml:1:13");
}

int main() {
    each_hears_of_its_own_changes();
    the_first_reload_is_announced();
    phases_are_announced();
    reports_are_data();
    return ended();
}
