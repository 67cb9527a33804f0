// The C++17 header: classes described by their members, wired, resolved, called, overridden, tuned and ended.
#include <invivo/invivo.hpp>

#include <cstdio>
#include <cstdlib>

static int failures;
#define CHECK(condition) ((condition) ? (void)0 : (std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition), (void)failures++))
/// Whether `body` throws an error with this code and a text that contains `part`.
template <typename Body> static bool throws(invivo_status code, const char *part, Body &&body) {
    try {
        body();
    } catch (const invivo::error &error) {
        if (error.code() == code && std::string(error.what()).find(part) != std::string::npos) return true;
        std::fprintf(stderr, "thrown: %d %s\n", error.code(), error.what());
    }
    return false;
}

static int alive, started, stopped;

struct sound {
    virtual ~sound() = default;
    virtual double level() const = 0;
};
class clock_part {
public:
    clock_part() { alive++; }
    ~clock_part() { alive--; }
    clock_part(const clock_part &) = delete;
    int ticks = 0;
    int tick(int by) { return ticks += by; }
};
/// Its interface is not its first base: the pointers differ.
struct tagged {
    virtual ~tagged() = default;
    int tag = 7;
};
class voice : public tagged, public sound {
public:
    voice(clock_part &clock, double gain, const std::string &name, std::optional<int> note)
        : gain(gain), name(name), note(note.value_or(-1)), clock(clock) {
        if (gain > 100) throw std::runtime_error("too loud");
        alive++;
    }
    ~voice() override { alive--; }
    voice(const voice &) = delete;
    double level() const override { return gain; }
    void start() { started++; }
    void stop() { stopped++; }
    const std::string &title() const { return name; }
    void set_title(std::string text) { name = std::move(text); }
    std::vector<int> scale(const std::vector<int> &notes, int by) const {
        std::vector<int> made;
        for (int each : notes) made.push_back(each * by);
        return made;
    }
    void fail() { throw invivo::error(INVIVO_E_BUSY, "the voice is busy"); }

    double gain;
    std::string name;
    int note;
    clock_part &clock;
};
struct band {
    explicit band(std::vector<invivo::ref<sound>> all, invivo::provider<voice> more) : all(std::move(all)), more(std::move(more)) {}
    std::vector<invivo::ref<sound>> all;
    invivo::provider<voice> more;
};

struct watcher {
    explicit watcher(invivo::weak<voice> lead) : lead(std::move(lead)) {}
    invivo::weak<voice> lead;
};

static void describe(invivo_runtime runtime) {
    invivo::name<sound>("Sound");
    invivo::type<clock_part>("Clock").property<&clock_part::ticks>("ticks").method<&clock_part::tick>("tick", {"by"}).add(runtime);
    invivo::type<voice>("Voice")
        .is<sound>()
        .constructor<clock_part &, double, const std::string &, std::optional<int>>({"clock", "gain", "name", "note"})
        .property<&voice::gain>("gain", {0, 2, 0, nullptr, "how loud"})
        .property<&voice::title, &voice::set_title>("title")
        .method<&voice::scale>("scale", {"notes", "by"})
        .method<&voice::fail>("fail")
        .start<&voice::start>()
        .stop<&voice::stop>()
        .add(runtime);
    invivo::type<band>("Band").constructor<std::vector<invivo::ref<sound>>, invivo::provider<voice>>({"all", "more"}).add(runtime);
    invivo::type<watcher>("Watcher").constructor<invivo::weak<voice>>({"lead"}).add(runtime);
}

static void a_graph_of_classes() {
    invivo::runtime own;
    describe(own.raw());
    {
        invivo::changes set(own.raw());
        set.define(invivo::definition("synth.clock").of<clock_part>().lazy_singleton())
            .define(invivo::definition("synth.lead").of<voice>().lazy_singleton().at(INVIVO_HERE).with(
                invivo::by_type<clock_part>(), 0.5, "lead"))
            .define(invivo::definition("synth.voice").of<voice>().prototype().parameters<double>({"gain"})
                        .give("clock", invivo::from("synth.clock")).give("gain", invivo::argument(0)).give("name", "voice"))
            .define(invivo::definition("synth.band").of<band>().graph().with(
                invivo::list({invivo::from("synth.lead"), invivo::from("synth.voice", 0.25)}),
                invivo::provider_of(invivo::from("synth.voice"))))
            .define(invivo::definition("synth.watcher").of<watcher>().graph().with(invivo::weak_of(invivo::from("synth.lead"))));
        set.check();
        set.commit();
    }
    invivo::ref<watcher> watching = own.resolve<watcher>("synth.watcher");
    CHECK(!watching->lead() && started == 0);
    invivo::key<voice> lead = own.key_of<voice>("synth.lead");
    invivo::ref<voice> first = own.resolve(lead);
    CHECK(first->gain == 0.5 && first->name == "lead" && first->note == -1);
    CHECK(own.resolve<voice>("synth.lead") == first);
    CHECK(watching->lead() == first);
    CHECK(own.resolve<clock_part>().get() == &first->clock);
    CHECK(started == 1);
    invivo::ref<voice> other = own.resolve<voice>("synth.voice", 0.75);
    CHECK(other != first && other->gain == 0.75 && &other->clock == &first->clock);
    invivo::ref<band> all = own.resolve<band>("synth.band");
    CHECK(all->all.size() == 2 && all->all[0]->level() == 0.5 && all->all[1]->level() == 0.25);
    CHECK(all->more(1.5)->gain == 1.5);
    CHECK(throws(INVIVO_E_ARITY, "synth.voice", [&] { own.all<voice>(); }));
    {
        invivo::view now(own.raw());
        CHECK(now.get(own.key_of<clock_part>("synth.clock")) == &first->clock);
    }
    // Members by name, from any language.
    CHECK(first.held().get("gain").as<double>() == 0.5);
    first.held().set("gain", 1);
    CHECK(first->gain == 1);
    CHECK(throws(INVIVO_E_RANGE, "gain", [&] { first.held().set("gain", 3.0); }));
    first.held().set("title", "solo");
    CHECK(first.held().get("title").as<std::string>() == "solo");
    CHECK((first.held().call("scale", std::vector<int>{1, 2}, 3).as<std::vector<int>>() == std::vector<int>{3, 6}));
    CHECK(throws(INVIVO_E_BUSY, "the voice is busy", [&] { first.held().call("fail"); }));
    CHECK(throws(INVIVO_E_RANGE, "300", [&] { invivo::value::of(300).as<int8_t>(); }));
    CHECK(throws(INVIVO_E_TYPE, "where a 'Clock' is needed", [&] { invivo::ref<clock_part> wrong(first.held()); }));
    // Documents tune it.
    invivo::changes(own.raw()).document("tuning.yaml", "traits: { synth.lead: [Set: { gain: 1.25 }] }").commit();
    CHECK(first->gain == 1.25);
    CHECK(throws(INVIVO_E_BUSY, "", [&] { own.close(); }));
    first = {}, other = {}, all = {}, watching = {};
    own.close();
    CHECK(alive == 0 && started == stopped && started > 0);
}

struct pool_of_users : clock_part {};
struct order_desk {
    clock_part *first;
    std::vector<invivo::ref<clock_part>> all;
    order_desk(clock_part &first, std::vector<invivo::ref<clock_part>> all) : first(&first), all(std::move(all)) {}
};

static void names_with_arguments_and_other_types() {
    invivo::runtime own;
    invivo::type<clock_part>("Clock").property<&clock_part::ticks>("ticks").add(own);
    invivo::type<pool_of_users>("PooledClock").stands_for("Clock").property<&clock_part::ticks>("ticks").add(own);
    own.define(invivo::definition("app.users").of<clock_part>().lazy_singleton().generic("Clock[User]"));
    own.define(invivo::definition("app.orders").of<clock_part>().lazy_singleton().generic("Clock[Order]"));
    invivo_key key{};
    const auto finds = [&](const char *type, uint32_t flags) {
        return invivo_key_of_type(own.raw(), type, nullptr, flags, &key, nullptr) == INVIVO_OK ? std::string(invivo_key_name(key)) : "";
    };
    CHECK(finds("Clock[User]", 0) == "app.users" && finds("Clock[Order]", 0) == "app.orders");
    CHECK(&*own.resolve_type<clock_part>("Clock[User]") == &*own.resolve<clock_part>("app.users"));
    CHECK(!own.resolve_type<clock_part>("Clock[Item]", INVIVO_LOOKUP_OPTIONAL));
    CHECK(own.all<clock_part>("Clock[Order]").size() == 1 && own.all<clock_part>().size() == 2);
    invivo::type<order_desk>("OrderDesk").constructor<clock_part &, std::vector<invivo::ref<clock_part>>>().add(own);
    own.define(invivo::definition("app.desk").of<order_desk>().graph().with(invivo::by_type("Clock[Order]"), invivo::all_of("Clock[Order]")));
    const auto orders = own.resolve<clock_part>("app.orders");
    const auto desk = own.resolve<order_desk>();
    CHECK(desk->first == &*orders && desk->all.size() == 1 && &*desk->all[0] == &*orders);
    own.define(invivo::definition("app.pooled").of<pool_of_users>().lazy_singleton());
    invivo::changes(own).remove("app.users").remove("app.orders").commit();
    CHECK(finds("Clock", INVIVO_LOOKUP_EXACT) == "app.pooled");
}

/// A factory reads the object that it replaces. There is none at first, nor for another type.
static void a_factory_copies_from_the_former_object() {
    invivo::runtime own;
    describe(own.raw());
    own.define(invivo::definition("synth.clock").of<clock_part>().lazy_singleton());
    int former_seen = 0;
    auto define = [&] {
        own.define(invivo::definition("synth.kept").lazy_singleton().made<voice>([&former_seen](const invivo::build &build) {
            const voice *former = build.former<voice>();
            CHECK(!build.former<clock_part>());
            if (former) former_seen++;
            return voice(*build.resolve<clock_part>("synth.clock"), 0.5, build.key(), former ? former->note + 1 : 1);
        }));
    };
    define();
    CHECK(own.resolve<voice>("synth.kept")->note == 1 && former_seen == 0);
    define();
    CHECK(own.resolve<voice>("synth.kept")->note == 2 && former_seen == 1);
}

static void factories_overrides_and_errors() {
    invivo::runtime own;
    describe(own.raw());
    int heard = 0;
    invivo::observer watching = own.observe([&](const invivo::report &report) { heard += report.succeeded() ? 1 : 100; });
    own.define(invivo::definition("synth.clock").of<clock_part>().lazy_singleton());
    auto held = std::make_shared<int>(0);
    own.define(invivo::definition("synth.made").graph().parameters<double>({"gain"}).with(invivo::argument(0)).made<voice>(
        [held](const invivo::build &build, double gain) {
            ++*held;
            return voice(*build.resolve<clock_part>("synth.clock"), gain, build.key(), 5);
        }));
    CHECK(heard == 2);
    {
        invivo::ref<voice> made = own.resolve<voice>("synth.made", 0.5);
        CHECK(made->note == 5 && made->name == "synth.made" && *held == 1);
    }
    own.define(invivo::definition("synth.left_out").graph().parameters<double, int>({"gain", "note"}).defaults(9)
                   .with(invivo::argument(0), invivo::argument(1))
                   .made<voice>([](const invivo::build &build, double gain, int note) {
                       return voice(*build.resolve<clock_part>("synth.clock"), gain, build.key(), note);
                   }));
    CHECK(own.resolve<voice>("synth.left_out", 0.5)->note == 9 && own.resolve<voice>("synth.left_out", 0.5, 8)->note == 8);
    CHECK(throws(INVIVO_E_ARITY, "'gain' is missing", [&] { own.resolve<voice>("synth.left_out"); }));
    CHECK(throws(INVIVO_E_ARITY, "2 runtime argument(s) have a default, and 1 are declared", [&] {
        own.define(invivo::definition("synth.more").of<voice>().parameters<double>({"gain"}).defaults(1, 2));
    }));
    heard = 2;
    CHECK(throws(INVIVO_E_ARITY, "synth.lacks: the function that makes it takes 1 argument(s) after the build, got 0", [&] {
        own.define(invivo::definition("synth.lacks").made<voice>([](const invivo::build &build, double gain, std::optional<int>) {
            return voice(*build.resolve<clock_part>("synth.clock"), gain, build.key(), 5);
        }));
    }));
    CHECK(throws(INVIVO_E_HOST, "too loud", [&] { own.resolve<voice>("synth.made", 101.0); }));
    // An error that passes through C++ functions names each step once, and keeps its causes.
    own.define(invivo::definition("synth.broken").made<clock_part>([](const invivo::build &) -> clock_part {
        throw invivo::error(INVIVO_E_HOST, invivo_error_make(INVIVO_E_HOST, "no pulse", nullptr,
                                                             invivo_error_make(INVIVO_E_SYSTEM, "no quartz", nullptr, nullptr)));
    }));
    for (const char *outer : {"synth.inner", "synth.outer"}) {
        std::string asked = outer == std::string("synth.outer") ? "synth.inner" : "synth.broken";
        own.define(invivo::definition(outer).made<clock_part>([asked](const invivo::build &build) -> clock_part {
            build.resolve<clock_part>(asked.c_str());
            std::abort();
        }));
    }
    try {
        own.resolve<clock_part>("synth.outer");
        CHECK(false);
    } catch (const invivo::error &error) {
        CHECK(std::string(error.what()) == "synth.broken: no pulse; needed by 'synth.inner', by 'synth.outer' (because no quartz)");
        CHECK(error.cause() && error.cause()->code() == INVIVO_E_SYSTEM);
    }
    heard = 2;
    clock_part *real = own.resolve<clock_part>("synth.clock").get();
    {
        invivo::override_guard trial = own.override_with(invivo::definition("synth.clock").of<clock_part>());
        CHECK(own.resolve<clock_part>("synth.clock").get() != real);
    }
    // An override whose end fails stays, and can be ended again.
    auto breaks = std::make_shared<bool>(false);
    own.define(invivo::definition("synth.pulse").singleton().made<clock_part>([breaks](const invivo::build &) -> clock_part {
        if (*breaks) throw std::runtime_error("no pulse now");
        return clock_part();
    }));
    {
        invivo::override_guard trial = own.override_with(invivo::definition("synth.pulse").of<clock_part>());
        clock_part *other = own.resolve<clock_part>("synth.pulse").get();
        *breaks = true;
        CHECK(throws(INVIVO_E_HOST, "no pulse now", [&] { trial.end(); }));
        CHECK(own.resolve<clock_part>("synth.pulse").get() == other);
        *breaks = false;
        trial.end();
        CHECK(own.resolve<clock_part>("synth.pulse").get() != other);
    }
    invivo::changes(own.raw()).remove("synth.pulse").commit();
    // A refused definition releases its contents, and the error names the fault and its location.
    CHECK(throws(INVIVO_E_NOT_FOUND, "wiring.cpp:", [&] {
        own.define(invivo::definition("synth.bad").at(INVIVO_HERE).made<voice>([held](const invivo::build &) -> voice { std::abort(); })
                       .with(invivo::from("synth.clok")));
    }));
    try {
        invivo::changes set(own.raw());
        set.define(invivo::definition("a.one").of<voice>().lazy_singleton().with(invivo::from("a.none"), 1.0, "x"))
            .define(invivo::definition("a.two").of<voice>().lazy_singleton().with(invivo::from("a.nobody"), 1.0, "x"));
        set.commit();
        CHECK(false);
    } catch (const invivo::error &error) {
        CHECK(error.errors().size() == 2);
        CHECK(std::string(error.errors()[1].rule()) == "wiring.missing");
    }
    invivo::changes(own.raw()).remove("synth.made").commit();
    watching = {};
    own.close();
    CHECK(held.use_count() == 1);
    CHECK(alive == 0);
}

struct moon;
struct planet {
    planet() { alive++; }
    ~planet() { alive--; }
    moon *satellite = nullptr;
    clock_part *clock = nullptr;
    void prepare() { prepared = true; }
    bool prepared = false;
    void take(invivo_runtime given) { taken = given; }
    invivo_runtime taken = {};
};
struct moon {
    explicit moon(planet &around) : around(around) { alive++; }
    ~moon() { alive--; }
    planet &around;
};

static void pointers_close_circles_and_follow_reloads() {
    invivo::runtime own;
    invivo::name<moon>("Moon");
    invivo::type<clock_part>("Clock").property<&clock_part::ticks>("ticks").add(own);
    invivo::type<planet>("Planet")
        .property<&planet::satellite>("satellite")
        .property<&planet::clock>("clock")
        .prepare<&planet::prepare>()
        .take_runtime<&planet::take>()
        .add(own);
    invivo::type<moon>("Moon").constructor<planet &>({"around"}).add(own);
    invivo::changes(own)
        .define(invivo::definition("sky.planet").of<planet>().lazy_singleton().set("satellite", invivo::from("sky.moon"))
                    .set("clock", invivo::by_type<clock_part>().optional()))
        .define(invivo::definition("sky.moon").of<moon>().lazy_singleton().with(invivo::from("sky.planet")))
        .commit();
    {
        invivo::ref<planet> earth = own.resolve<planet>("sky.planet");
        CHECK(earth->satellite && &earth->satellite->around == earth.get() && !earth->clock && earth->prepared && earth->taken.bits);
        own.define(invivo::definition("sky.clock").of<clock_part>().lazy_singleton().set("ticks", 5));
        CHECK(earth->clock && earth->clock->ticks == 5);
        own.define(invivo::definition("sky.clock").of<clock_part>().lazy_singleton().set("ticks", 6));
        CHECK(earth->clock && earth->clock->ticks == 6);
        CHECK(throws(INVIVO_E_UNSUPPORTED, "can be injected, not read", [&] { earth.held().get("clock"); }));
        CHECK(own.resolve_named<clock_part>("clock")->ticks == 6);
        CHECK(!own.resolve_named<clock_part>("sun", INVIVO_LOOKUP_OPTIONAL));
        CHECK(own.find(own.key_of<clock_part>("sky.clock"))->ticks == 6);
        own.inject_tree(invivo::object(earth.held()), nullptr, INVIVO_INTO_KNOWN);
    }
    own.close(); // nothing outside holds the cycle
    CHECK(alive == 0);
}

// A function that creates or injects another class than the definition's would write beyond its memory.
struct small {
    int number = 1;
};
struct large : small {
    double many[64] = {};
};

static void functions_fit_the_type_of_their_definition() {
    invivo::runtime own;
    invivo::type<small>("Small").constructor<>().add(own);
    invivo::type<large>("Large").is<small>().constructor<>().add(own);
    auto makes_large = [](const invivo::build &) { return large(); };
    CHECK(throws(INVIVO_E_TYPE, "'a.made': the function makes a 'Large', and the definition has the type 'Small'", [&] {
        own.define(invivo::definition("a.made").made<large>(makes_large).of<small>());
    }));
    own.define(invivo::definition("a.made").of<small>().made<large>(makes_large));
    CHECK(own.resolve<large>("a.made")->many[63] == 0);
    CHECK(own.resolve<small>("a.made")->number == 1);
    own.define(invivo::definition("a.child").of<small>().parent("a.made"));
    CHECK(throws(INVIVO_E_TYPE, "the function makes a 'Large', and the definition has the type 'Small'",
                 [&] { own.resolve<small>("a.child"); }));
    own.define(invivo::definition("a.injected").of<small>().injected<large>([](large &it, const invivo::build &) { it.many[63] = 1; }));
    CHECK(throws(INVIVO_E_TYPE, "the function injects into a 'Large', and the definition has the type 'Small'",
                 [&] { own.resolve<small>("a.injected"); }));
    own.define(invivo::definition("a.base").of<large>().injected<small>([](small &it, const invivo::build &) { it.number = 7; }));
    CHECK(own.resolve<large>("a.base")->number == 7);
    CHECK(own.resolve<large>("a.base")->number == 7);
    own.close();
}

int main() {
    functions_fit_the_type_of_their_definition();
    pointers_close_circles_and_follow_reloads();
    a_graph_of_classes();
    a_factory_copies_from_the_former_object();
    factories_overrides_and_errors();
    names_with_arguments_and_other_types();
    invivo_live_counts live{};
    live.struct_size = sizeof(live);
    invivo_live(&live);
    CHECK(live.objects == 0 && live.runtimes == 0 && live.errors == 0 && live.callables == 0);
    if (failures) std::fprintf(stderr, "%d checks failed\n", failures);
    return failures != 0;
}
