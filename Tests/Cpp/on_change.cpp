// How definitions follow changes of their dependencies, in C++.
#include "check.hpp"

#include <string>

using invivo::definition;
using invivo::from;

struct disk {
    int64_t number = 0;
};
struct recorder {
    const disk *taken = nullptr;
    explicit recorder(const disk *given) : taken(given) {}
};

static void define_disk(invivo::runtime &own, int64_t number) {
    own.define(definition("a.disk").singleton().made<disk>([number](const invivo::build &) { return disk{number}; }));
}
static uint64_t kept_since(invivo::runtime &own, const std::string &key) {
    for (const invivo::wiring_node &node : own.wiring())
        for (const auto &need : node.needs)
            if (node.key == key && need.kept_since) return need.kept_since;
    return 0;
}
static void describe_all(invivo::runtime &own) {
    invivo::type<disk>("Disk").constructor<>().add(own);
    invivo::type<recorder>("Recorder").constructor<const disk *>().add(own);
    define_disk(own, 1);
}

static void an_object_keeps_the_former_one() {
    invivo::runtime own;
    describe_all(own);
    own.define(definition("a.kept").of<recorder>().singleton().with(from("a.disk").keep()));
    own.define(definition("a.all").of<recorder>().singleton().with(from("a.disk")).on_change(INVIVO_ON_CHANGE_KEEP));
    own.define(definition("a.followed").of<recorder>().singleton().with(from("a.disk").rebuild()));
    auto kept = own.resolve<recorder>("a.kept"), all = own.resolve<recorder>("a.all"), followed = own.resolve<recorder>("a.followed");
    define_disk(own, 2);
    CHECK(own.resolve<recorder>("a.kept").get() == kept.get() && kept->taken->number == 1);
    CHECK(own.resolve<recorder>("a.all").get() == all.get() && all->taken->number == 1);
    CHECK(own.resolve<recorder>("a.followed")->taken->number == 2);
    CHECK(kept_since(own, "a.kept") == own.generation());
    CHECK(kept_since(own, "a.followed") == 0);
}

static void a_change_is_refused_with_a_reason() {
    invivo::runtime own;
    describe_all(own);
    own.define(definition("a.busy").of<recorder>().singleton().with(from("a.disk").refuse()).on_change(INVIVO_ON_CHANGE_FOLLOW, "it records"));
    CHECK(throws(INVIVO_E_REFUSED, "'a.busy' refuses a change of 'a.disk': it records", [&] { define_disk(own, 2); }));
    CHECK(own.resolve<disk>("a.disk")->number == 1);
}

static void a_change_waits_for_a_restart() {
    invivo::runtime own;
    invivo::type<disk>("Disk").constructor<>().add(own);
    auto describe = [&](int64_t number) {
        own.define(definition("a.disk").singleton().restart().made<disk>([number](const invivo::build &) { return disk{number}; }));
    };
    describe(1);
    auto first = own.resolve<disk>("a.disk");
    CHECK(own.status().restart.empty());
    describe(2);
    CHECK(own.resolve<disk>("a.disk").get() == first.get());
    auto pending = own.status().restart;
    CHECK(pending.size() == 1 && pending[0].key == "a.disk" && pending[0].property.empty() && pending[0].since == own.generation());
    own.reset("a.disk");
    CHECK(own.resolve<disk>("a.disk")->number == 2);
    CHECK(own.status().restart.empty());
}

int main() {
    an_object_keeps_the_former_one();
    a_change_waits_for_a_restart();
    a_change_is_refused_with_a_reason();
    return ended();
}
