// Reads by a typed key are checked and convert to the right base; exceptions of callbacks are logged.
#include "check.hpp"

#include <thread>

using invivo::definition;
using invivo::key;
using invivo::view;

struct reader {
    virtual ~reader() = default;
    virtual const char *read() const { return "read"; }
};
struct eraser {
    virtual ~eraser() = default;
    virtual const char *erase() const { return "erased"; }
};
struct disk : eraser, reader {};
struct tape : reader {
    explicit tape(const reader *inner = nullptr) : under(inner) {}
    const char *read() const override { return "from tape"; }
    const reader *under;
};
struct tuning {
    double gain, width;
};
struct other_tuning {
    double gain, width, more;
};
static const invivo_property tuning_fields[] = {INVIVO_FIELD(tuning, gain, .initial = 1), INVIVO_FIELD(tuning, width, .initial = 2)};

static void describe_devices(invivo_runtime runtime) {
    invivo::name<reader>("Reader"), invivo::name<eraser>("Eraser");
    invivo::type<disk>("Disk").is<reader>().is<eraser>().shared().add(runtime);
    invivo::type<tape>("Tape").constructor<const reader *>({"under"}).is<reader>().shared().add(runtime);
}

static void a_view_leads_to_the_base_that_the_key_names() {
    invivo::runtime own;
    describe_devices(own);
    own.define(definition("a.device").of<disk>().singleton());
    key<reader> by_reader = own.key_of<reader>("a.device");
    key<eraser> by_eraser = own.key_of<eraser>("a.device");
    key<reader> by_hand{by_reader.raw};
    {
        view now(own);
        CHECK(std::string(now.get(by_reader)->read()) == "read" && now.get(by_reader) == own.resolve(by_reader).get());
        CHECK(std::string(now.get(by_eraser)->erase()) == "erased");
        CHECK(now.get(by_hand) == now.get(by_reader));
        CHECK(now.get(own.key_of<disk>("a.device")) == own.resolve<disk>("a.device").get());
        CHECK(throws(INVIVO_E_TYPE, "a 'Disk' where a 'Tape'", [&] { now.get(own.key_of<tape>("a.device")); }));
        CHECK(throws(INVIVO_E_TYPE, "no name", [&] { now.get(own.key_of<part>("a.device")); }));
    }
    // The key stays, with an object of another class.
    own.define(definition("a.device").of<tape>().singleton());
    {
        view now(own);
        CHECK(std::string(now.get(by_reader)->read()) == "from tape");
        CHECK(throws(INVIVO_E_TYPE, "a 'Tape' where a 'Eraser'", [&] { now.get(by_eraser); }));
    }
    own.define(definition("a.cold").of<disk>().lazy_singleton());
    {
        view now(own);
        CHECK(now.get(own.key_of<tape>("a.cold")) == nullptr);
    }
}

static void a_view_knows_what_a_decorator_put_there() {
    invivo::runtime own;
    describe_devices(own);
    own.define(definition("a.tape").of<tape>().prototype().parameters<reader &>({"under"}).with(invivo::argument(0)));
    own.define(definition("a.device").of<disk>().lazy_singleton());
    own.process(invivo::processor("taping").key("a.device").decorate_by("a.tape"));
    key<reader> device = own.key_of<reader>("a.device");
    key<disk> as_disk = own.key_of<disk>("a.device");
    CHECK(std::string(own.resolve(device)->read()) == "from tape");
    view now(own);
    CHECK(std::string(now.get(device)->read()) == "from tape");
    CHECK(throws(INVIVO_E_TYPE, "a 'Tape' where a 'Disk'", [&] { now.get(as_disk); }));
}

static void a_block_is_of_the_struct_that_the_key_names() {
    invivo::runtime own;
    invivo_key raw{};
    invivo::detail::checked([&](invivo_error **e) {
        return invivo_define_block(own, "a.tuning", INVIVO_BLOCK(tuning, tuning_fields), &raw, e);
    });
    struct alike {
        double gain, width;
    };
    view now(own);
    CHECK(now.block(own.key_of<tuning>("a.tuning"))->gain == 1);
    CHECK(now.block(own.key_of<alike>("a.tuning")) && now.block(key<tuning>{raw}));
    CHECK(throws(INVIVO_E_TYPE, "the block of 'tuning'", [&] { now.block(own.key_of<other_tuning>("a.tuning")); }));
    CHECK(throws(INVIVO_E_TYPE, "the block of 'tuning'", [&] { now.block(key<float>{raw}); }));
}

struct dial {
    double gain = 1.5;
    int steps = 7;
};
static const invivo_property dial_fields[] = {INVIVO_FIELD(dial, gain), INVIVO_FIELD(dial, steps)};

static void a_block_begins_as_its_struct_does() {
    invivo::runtime own;
    invivo_key raw{};
    invivo::detail::checked([&](invivo_error **e) {
        return invivo_define_block(own, "a.dial", INVIVO_BLOCK(dial, dial_fields), &raw, e);
    });
    view now(own);
    const dial *found = now.block(own.key_of<dial>("a.dial"));
    CHECK(found->gain == 1.5 && found->steps == 7);
}

struct pair_of {
    pair_of(int first, int second) : sum(first + second) {}
    int add(int more) { return sum + more; }
    int sum;
};
static void a_constructor_names_all_of_its_parameters_or_none() {
    CHECK(throws(INVIVO_E_ARGUMENT, "2 parameters and 1 name", [] { invivo::type<pair_of>("Pair").constructor<int, int>({"first"}); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "2 parameters and 3 names",
                 [] { invivo::type<pair_of>("Pair").constructor<int, int>({"first", "second", "third"}); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "add", [] { invivo::type<pair_of>("Pair").method<&pair_of::add>("add", {"more", "most"}); }));
    invivo::type<pair_of>("Pair").constructor<int, int>().constructor<int, int>({"first", "second"});
}

static void what_a_callback_throws_is_noted() {
    std::string logged;
    invivo_runtime_options listening{};
    listening.struct_size = sizeof(listening);
    listening.log_user_data = &logged;
    listening.log = [](void *to, const invivo_log_entry *entry) {
        *static_cast<std::string *>(to) += std::string(entry->message) + "\n";
    };
    invivo::runtime own(listening);
    describe(own);
    own.define(definition("a.part").of<part>().lazy_singleton().with(1));
    auto noted = [&](const std::string &text) {
        bool is_there = logged.find(text) != std::string::npos;
        if (!is_there) std::fprintf(stderr, "logged: %s\n", logged.c_str());
        logged.clear();
        return is_there;
    };
    {
        auto hears = own.observe([](const invivo::report &) { throw std::runtime_error("in observe"); });
        own.configure("a.b", 1);
        CHECK(noted("an observer of reloads threw: in observe\n"));
        invivo_error *last = nullptr;
        CHECK(invivo_runtime_last_error(own, &last) == INVIVO_OK && last && invivo_error_code(last) == INVIVO_E_HOST);
        invivo_error_release(last);
    }
    {
        auto hears = own.observe_publishing([](bool done) { if (done) throw std::runtime_error("in publishing"); });
        own.resolve<part>("a.part");
        own.reset("a.part");
        CHECK(noted("an observer of publishing threw: in publishing\n"));
    }
    {
        auto hears = own.observe_config("a.b", [](const invivo::value &, uint64_t) { throw std::runtime_error("in config"); });
        own.configure("a.b", 2);
        CHECK(noted("a.b: an observer of the configuration threw: in config\n"));
    }
    own.resolve_async(own.key_of<part>("a.part"), [](invivo::ref<part>, const invivo::error *) { throw std::runtime_error("in done"); });
    own.poll();
    CHECK(noted("the callback of resolve_async threw: in done\n"));
    own.scope("window", [] { return uint64_t(1); }, [](uint64_t, const char *, const invivo::object &) { throw std::runtime_error("in keep"); });
    own.define(definition("a.pane").of<part>().in_scope("window").with(1));
    own.resolve<part>("a.pane");
    CHECK(noted("a.pane: a listener of a scope threw: in keep\n"));
}

static void the_definition_in_force_is_described() {
    struct voice {
        explicit voice(int note = 0, const voice *under = nullptr) : note(note), under(under) {}
        int note;
        const voice *under;
    };
    invivo::runtime own;
    invivo_type type = invivo::type<voice>("Voice").constructor<int, const voice *>({"note", "under"}).add(own);
    own.scope("window", [] { return uint64_t(1); });
    int line = __LINE__ + 1;
    own.define(definition("a.voice").of<voice>().at(INVIVO_HERE).scope(INVIVO_SCOPE_PROTOTYPE).parameters<int>({"note"}).defaults(60).with(invivo::argument(0)));
    own.define(definition("a.pane").of<voice>().in_scope("window").parameters<double, const voice *>({"gain", "under"}).with(0, invivo::argument(1)));
    invivo::key_facts facts = own.describe("a.voice");
    CHECK(facts.type.bits == type.bits && facts.making == "initializer");
    CHECK(facts.scope == INVIVO_SCOPE_PROTOTYPE && facts.scope_name.empty());
    CHECK(facts.file == __FILE__ && facts.line == static_cast<uint32_t>(line));
    CHECK(facts.parameters.size() == 1 && facts.parameters[0].name == "note" && facts.parameters[0].kind == INVIVO_KIND_INT32);
    CHECK(facts.parameters[0].type.empty() && !facts.parameters[0].optional);
    CHECK(facts.parameters[0].fallback.as<int>() == 60);
    facts = own.describe("a.pane");
    CHECK(facts.scope == INVIVO_SCOPE_HOST && facts.scope_name == "window");
    CHECK(facts.parameters.size() == 2 && !facts.parameters[0].optional && facts.parameters[0].fallback.is_null());
    CHECK(facts.parameters.size() == 2 && facts.parameters[1].kind == INVIVO_KIND_OBJECT && facts.parameters[1].type == "Voice");
    CHECK(facts.parameters.size() == 2 && facts.parameters[1].optional);
    CHECK(throws(INVIVO_E_NOT_FOUND, "a.nothing", [&] { own.describe("a.nothing"); }));
    own.close();
}

struct level_base {
    int rank = 9;
};
struct level_of {
    constexpr explicit level_of(double gain = 5) : gain(gain) {}
    double gain;
};
struct level_late {
    level_late() : gain(std::stod("5")) {}
    double gain;
};
/// A known initial value outside its range is refused, as in C and in Swift's blocks.
static void a_member_begins_in_its_range() {
    invivo::runtime own;
    struct plain {
        double gain = 5;
        uint8_t count = 3;
        const float fixed = 0.25f;
    };
    CHECK(throws(INVIVO_E_ARGUMENT, "Level.gain: the initial value: 5 is outside 0...1",
                 [&] { invivo::type<plain>("Level").property<&plain::gain>("gain", {0, 1}).add(own); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "Level.count: the initial value: 3 is outside 4...8", [&] {
        invivo::type<plain>("Level").property<&plain::gain>("gain", {0, 5}).property<&plain::count>("count", {4, 8}).add(own);
    }));
    CHECK(throws(INVIVO_E_ARGUMENT, "Level.fixed: the initial value: 0.25 is outside 0.5...1",
                 [&] { invivo::type<plain>("Level").property<&plain::fixed>("fixed", {0.5, 1}).add(own); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "Level.rank: the initial value: 9 is outside 0...1", [&] {
        struct derived : level_base {};
        invivo::type<derived>("Level").property<&derived::rank>("rank", {0, 1}).add(own);
    }));
    // In the range, at its ends, or without one.
    invivo::type<plain>("Level").property<&plain::gain>("gain", {0, 5}).property<&plain::count>("count", {3, 8}).property<&plain::fixed>("fixed").add(own);
    own.define(definition("a.level").of<plain>().prototype());
    CHECK(own.resolve<plain>("a.level")->gain == 5);
    // Unknown before an object exists.
    invivo::type<level_of>("LevelOf").constructor<double>({"gain"}).property<&level_of::gain>("gain", {0, 1}).add(own);
    invivo::type<level_late>("LevelLate").property<&level_late::gain>("gain", {0, 1}).add(own);
    own.close();
}

int main() {
    a_member_begins_in_its_range();
    the_definition_in_force_is_described();
    a_view_leads_to_the_base_that_the_key_names();
    a_view_knows_what_a_decorator_put_there();
    a_block_is_of_the_struct_that_the_key_names();
    a_block_begins_as_its_struct_does();
    a_constructor_names_all_of_its_parameters_or_none();
    what_a_callback_throws_is_noted();
    return ended();
}
