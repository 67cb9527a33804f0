// The configuration in C++: injected, read in views, observed, converted; choices and entries.
#include "check.hpp"

#include <filesystem>
#include <stdlib.h>
#include <unistd.h>

using invivo::definition;

static void values_are_injected_read_observed_and_taken_back() {
    invivo::runtime own;
    describe(own);
    own.configure("synth.number", 3);
    own.define(definition("synth.part").of<part>().lazy_singleton().give("number", invivo::configured("number")));
    own.define(definition("synth.some").of<part>().lazy_singleton().give("number", invivo::configured("none").otherwise(8)));
    CHECK(throws(INVIVO_E_NOT_CONFIGURED, "synth.none", [&] {
        own.define(definition("synth.bad").of<part>().lazy_singleton().give("number", invivo::configured("none")));
    }));
    CHECK(own.resolve<part>("synth.part")->number == 3 && own.resolve<part>("synth.some")->number == 8);
    int64_t heard = 0;
    invivo::observer watching = own.observe_config("synth.number", [&](const invivo::value &now, uint64_t generation) {
        CHECK(generation == own.generation());
        heard = now.is_null() ? -1 : now.as<int64_t>();
    });
    auto number = own.config_id<int>("synth.number");
    auto text = own.config_id<std::string_view>("synth.text");
    auto list = own.config_id<std::vector<int>>("synth.list");
    own.configure("synth.number", 4);
    CHECK(heard == 4 && own.resolve<part>("synth.part")->number == 4 && own.config<int>("synth.number") == 4);
    invivo::changes(own).document("a.yaml", "config: { synth: { number: 5, text: saw, list: [1, 2] } }").commit();
    {
        invivo::view now(own);
        CHECK(now.config(number, 0) == 4 && now.config(text, std::string_view("none")) == "saw");
        CHECK((now.config(list, {}) == std::vector<int>{1, 2}));
        CHECK(now.config(own.config_id<double>("synth.nothing"), 2.5) == 2.5);
    }
    own.unconfigure("synth.number");
    CHECK(heard == 5 && own.config<int>("synth.number") == 5 && own.config<int>("synth.nothing", 6) == 6);
    CHECK(throws(INVIVO_E_NOT_CONFIGURED, "synth.nothing", [&] { own.config<int>("synth.nothing"); }));
    watching = {};
}

static void texts_are_read_by_converters() {
    invivo::runtime own;
    describe(own);
    own.converter("dozen", [](std::string_view text) {
        if (text != "dozen") throw invivo::error(INVIVO_E_CONVERSION, "that is no dozen");
        return 12;
    });
    CHECK(own.convert<int>("dozen", "dozen") == 12 && own.convert<double>("duration", "250 ms") == 0.25);
    CHECK(throws(INVIVO_E_CONVERSION, "no dozen", [&] { own.convert<int>("dozen", "ten"); }));
    own.define(definition("a.eggs").of<part>().graph().give("number", invivo::read_from("dozen", "dozen")));
    CHECK(own.resolve<part>("a.eggs")->number == 12);
    own.configure("a.size", "dozen");
    own.define(definition("a.more").of<part>().graph().give("number", invivo::read_from_config("size", "dozen")));
    CHECK(own.resolve<part>("a.more")->number == 12);
}

static void values_of_every_kind_are_read_by_converters() {
    invivo::runtime own;
    describe(own);
    own.converter("sum", [](const invivo::value &given) {
        int sum = 0;
        for (int each : given.as<std::vector<int>>()) sum += each;
        return sum;
    });
    own.configure("a.parts", std::vector<int>{3, 4, 5});
    own.define(definition("a.sum").of<part>().graph().give("number", invivo::read_from_config("parts", "sum")));
    CHECK(own.resolve<part>("a.sum")->number == 12);
    CHECK(throws(INVIVO_E_TYPE, "sum", [&] { own.configure("a.parts", "word"); }));
}

static void a_choice_follows_a_value_and_there_is_one_of_each_entry() {
    invivo::runtime own;
    describe(own);
    own.configure("a.wave", "saw");
    invivo::changes set(own);
    set.define(definition("a.saw").of<part>().graph().with(1))
        .define(definition("a.sine").of<special>().graph().with(2))
        .define(definition("a.wave").choose(invivo::configured("wave")).when("saw", invivo::from("saw")).when(3, invivo::from("sine"))
                    .when_named().otherwise(invivo::from("a.sine")))
        .define(definition("a.by").choose(invivo::argument(0)).parameters<invivo::object>({"what"}).when_exactly<special>(
                    invivo::from("a.saw")).when_is<part>(invivo::from("a.sine")));
    CHECK(throws(INVIVO_E_NOT_FOUND, "saw", [&] { set.check(); }));
    invivo::changes again(own);
    again.define(definition("a.saw").of<part>().graph().with(1))
        .define(definition("a.sine").of<special>().graph().with(2))
        .define(definition("a.wave").choose(invivo::configured("wave")).when("saw", invivo::from("a.saw")).when_named().otherwise(
            invivo::from("a.sine")))
        .define(definition("a.by").choose(invivo::argument(0)).parameters<invivo::object>({"what"}).when_exactly<special>(
                    invivo::from("a.saw")).when_is<part>(invivo::from("a.sine")))
        .commit();
    CHECK(own.resolve<part>("a.wave")->number == 1);
    own.configure("a.wave", "sine");
    CHECK(own.resolve<part>("a.wave")->number == 2);
    invivo::ref<part> plain = own.resolve<part>("a.saw");
    invivo::ref<part> fine = own.resolve<part>("a.sine");
    CHECK(own.resolve<part>("a.by", fine.held())->number == 1 && own.resolve<part>("a.by", plain.held())->number == 2);
    own.configure("a.voices", std::map<std::string, std::map<std::string, int>>{{"bass", {{"note", 40}}}, {"lead", {{"note", 60}}}});
    own.define(definition("a.voice").of<part>().lazy_singleton().each("voices").give("number", invivo::entry("note")));
    CHECK(own.resolve<part>("a.voice[lead]")->number == 60 && own.resolve<part>("a.voice[bass]")->number == 40);
}

struct filter {
    virtual ~filter() = default;
    virtual int order() const = 0;
    int calls = 0;
};
struct low_pass : filter {
    int order() const override { return 1; }
};
struct high_pass : filter {
    int order() const override { return 2; }
};
struct channel {
    filter &used;
    explicit channel(filter &given) : used(given) {}
};

/* The type of the choice is an abstract class, whose objects are those of derived classes. */
static void a_choice_has_an_abstract_class() {
    invivo::runtime own;
    invivo::type<filter>("Filter").property<&filter::calls>("calls").method<&filter::order>("order").add(own.raw());
    invivo::type<low_pass>("LowPass").is<filter>().add(own.raw());
    invivo::type<high_pass>("HighPass").is<filter>().add(own.raw());
    invivo::type<channel>("Channel").constructor<filter &>({"used"}).add(own.raw());
    own.configure("a.kind", "low");
    invivo::changes set(own);
    set.define(definition("a.low").of<low_pass>().lazy_singleton())
        .define(definition("a.high").of<high_pass>().lazy_singleton())
        .define(definition("a.filter").of<filter>().rank(1).choose(invivo::configured("kind")).when("low", invivo::from("a.low")).when(
            "high", invivo::from("a.high")))
        .define(definition("a.channel").of<channel>().prototype().with(invivo::by_type<filter>()))
        .commit();
    CHECK(own.resolve<filter>("a.filter")->order() == 1 && own.resolve<filter>()->order() == 1);
    CHECK(own.resolve<channel>("a.channel")->used.order() == 1);
    invivo::changes(own).document("a.yaml", "wiring: { a.filter: { choose: high } }").commit();
    CHECK(own.resolve<filter>("a.filter")->order() == 2 && own.resolve<channel>("a.channel")->used.order() == 2);
    CHECK(throws(INVIVO_E_RANGE, "a.yaml:1:31: wiring.a.filter: no option is for 'hgih'", [&] {
        invivo::changes(own).document("a.yaml", "wiring: { a.filter: { choose: hgih } }").commit();
    }));
    CHECK(throws(INVIVO_E_UNSUPPORTED, "'Filter' is an abstract class: create an object of a class derived from it", [&] {
        own.define(definition("a.plain").of<filter>().lazy_singleton());
        own.resolve<filter>("a.plain");
    }));
}

static void write(const std::string &path, const char *text) {
    std::FILE *file = std::fopen(path.c_str(), "w");
    CHECK(file && std::fputs(text, file) >= 0 && std::fclose(file) == 0);
}

static void a_definition_names_the_key_of_its_traits() {
    invivo::runtime own;
    describe(own);
    own.define(definition("synth.part").of<part>().lazy_singleton().spec_key("synth.parts"));
    own.define(definition("synth.other").of<part>().lazy_singleton().spec_key(INVIVO_SPEC_KEY_NONE));
    invivo::changes(own).document("a.yaml", "traits: { synth.parts: [Set: { heard: 5 }] }").commit();
    CHECK(own.resolve<part>("synth.part")->heard == 5);
    CHECK(throws(INVIVO_E_SPEC, "has no traits", [&] {
        invivo::changes(own).document("a.yaml", "traits: { synth.other: [Set: { heard: 5 }] }").commit();
    }));
}

static void a_change_set_takes_a_file() {
    char folder[] = "/tmp/invivo-cpp-XXXXXX";
    CHECK(mkdtemp(folder));
    std::string path = std::string(folder) + "/settings.yaml", missing = std::string(folder) + "/missing.yaml";
    write(path, "config: { synth: { number: 3 } }\ntraits: { synth.part: [Set: { heard: 5 }] }");
    {
        invivo::runtime own;
        describe(own);
        invivo::changes set(own);
        set.define(definition("synth.part").of<part>().lazy_singleton().give("number", invivo::configured("number"))).watch(path);
        set.check();
        CHECK(own.sources().empty());
        set.commit();
        {
            invivo::changes lost(own);
            {
                invivo::source followed = lost.follow(missing);
                CHECK(throws(INVIVO_E_NOT_FOUND, "missing.yaml", [&] { lost.check(); }));
                CHECK(throws(INVIVO_E_NOT_READY, "not committed yet", [&] { followed.refresh(); }));
            }
            CHECK(throws(INVIVO_E_ARGUMENT, "closed before its change set was committed", [&] { lost.commit(); }));
        }
        CHECK(own.sources().size() == 1 && own.resolve<part>("synth.part")->number == 3 && own.resolve<part>("synth.part")->heard == 5);
        write(missing, "config: { synth: { number: 4 } }");
        invivo::changes more(own);
        invivo::source later = more.follow(missing);
        more.commit();
        CHECK(own.resolve<part>("synth.part")->number == 4);
        write(missing, "config: { synth: { number: 6 } }");
        later.refresh();
        CHECK(own.resolve<part>("synth.part")->number == 6);
        later.close();
        CHECK(own.resolve<part>("synth.part")->number == 3 && own.sources().size() == 1);
        std::remove(missing.c_str());
        CHECK(throws(INVIVO_E_NOT_FOUND, "missing.yaml", [&] { invivo::changes(own).watch(missing).commit(); }));
        invivo::changes(own).watch(missing, INVIVO_SOURCE_WAIT).commit();
        CHECK(own.sources().size() == 2);
    }
    std::remove(path.c_str());
    CHECK(rmdir(folder) == 0);
}

static void a_cache_hears_of_commits() {
    invivo::runtime own;
    describe(own);
    std::string calls;
    invivo::observer watching = own.observe_publishing([&](bool published) { calls += published ? ") " : "("; });
    own.define(definition("a.part").of<part>().lazy_singleton());
    CHECK(calls == "() ");
    CHECK(throws(INVIVO_E_NOT_FOUND, "a.none", [&] { own.define(definition("a.part").of<part>().with(1, invivo::from("a.none"))); }));
    CHECK(calls == "() ");
    watching = {};
    own.define(definition("a.part").of<part>().lazy_singleton());
    CHECK(calls == "() ");
}

static void a_report_has_the_warnings() {
    invivo_runtime_options silent;
    invivo_runtime_options_init(&silent);
    silent.log_level = INVIVO_LOG_SILENT;
    invivo::runtime own(silent);
    describe(own);
    own.configure("synth.number", 3);
    own.define(definition("synth.part").of<part>().lazy_singleton().give("number", invivo::configured("number")));
    std::string warned;
    invivo::observer watching = own.observe([&](const invivo::report &report) {
        for (size_t i = 0; i < report.warning_count(); i++) warned += report.warning(i);
    });
    own.configure("synth.nubmer", 3);
    CHECK(warned == "'synth.nubmer' is not read by anything; did you mean 'synth.number'?");
    std::vector<std::string> kept;
    own.each_report([&](const invivo::report &report) { kept.push_back(report.cause()); });
    CHECK(!kept.empty() && kept.back().find("synth.nubmer") != std::string::npos);
    int visits = 0;
    CHECK(throws(INVIVO_E_HOST, "enough", [&] { own.each_report([&](const invivo::report &) { visits++; throw invivo::error(INVIVO_E_HOST, "enough"); }); }));
    CHECK(visits == 1);
}

static void names_and_paths_may_be_strings_and_paths() {
    invivo::runtime own;
    describe(own);
    const std::string key = "synth.part", number = "number", path = "synth.number";
    own.configure(path, 3);
    own.define(definition(key).of<part>().lazy_singleton().give(number, invivo::configured(number)));
    CHECK(own.resolve<part>(key)->number == 3 && own.resolve<part>(own.key_of<part>(key))->number == 3);
    own.resolve<part>(key).held().set(number, 4);
    CHECK(own.resolve<part>(key).held().get(number).as<int>() == 4);
    own.start(key), own.stop(key), own.reset(key);
    CHECK(own.resolve<part>(key)->number == 3);
    invivo::changes(own).remove(key).commit();
    own.unconfigure(path);
    const std::filesystem::path nowhere = "/nowhere/settings.yaml";
    CHECK(throws(INVIVO_E_NOT_FOUND, "settings.yaml", [&] { own.watch(nowhere); }));
    CHECK(throws(INVIVO_E_NOT_FOUND, "settings.yaml", [&] { invivo::source lost = own.follow(nowhere); }));
}

class clockwork {
public:
    explicit clockwork(std::chrono::milliseconds period, std::filesystem::path file) : period(period), file(std::move(file)) {}
    std::chrono::milliseconds period;
    std::chrono::duration<float> pause{};
    std::filesystem::path file;
};

static void times_are_seconds_and_paths_are_strings() {
    using namespace std::chrono_literals;
    invivo::runtime own;
    invivo::type<clockwork>("Clockwork")
        .constructor<std::chrono::milliseconds, std::filesystem::path>({"period", "file"})
        .property<&clockwork::period>("period")
        .property<&clockwork::pause>("pause")
        .add(own);
    own.configure("synth.period", "1 min 250 ms");
    own.configure("synth.number", 0.0016);
    own.configure("synth.file", std::filesystem::path("/tmp/a"));
    CHECK(own.config<std::chrono::milliseconds>("synth.period") == 60250ms);
    CHECK(own.config<std::chrono::milliseconds>("synth.number") == 2ms && own.config<std::filesystem::path>("synth.file") == "/tmp/a");
    CHECK(own.config<std::chrono::seconds>("synth.none", 5s) == 5s);
    own.configure("synth.file", 1e300);
    CHECK(throws(INVIVO_E_RANGE, "does not fit", [&] { own.config<std::chrono::nanoseconds>("synth.file"); }));
    own.define(definition("synth.clock").of<clockwork>().lazy_singleton().with(250ms, std::filesystem::path("/tmp/b")));
    invivo::source tuned = own.document("t", "traits: { synth.clock: [Set: { pause: 1.5 s }] }");
    invivo::ref<clockwork> made = own.resolve<clockwork>("synth.clock");
    CHECK(made->period == 250ms && made->file == "/tmp/b" && made->pause == 1.5s);
    made.held().set("period", 10ms);
    CHECK(made->period == 10ms && made.held().get("period").as<std::chrono::microseconds>() == 10000us);
}

struct dimmer {
    double level = 1, share = 0;
};

static void values_and_documents_are_text() {
    invivo::runtime own;
    const invivo_type described = invivo::type<dimmer>("Dimmer")
        .property<&dimmer::level>("level", [] { invivo::facts said; said.codec = INVIVO_CODEC_DECIBEL; return said; }())
        .property<&dimmer::share>("share", [] { invivo::facts said; said.codec = INVIVO_CODEC_PERCENT; return said; }())
        .add(own);
    CHECK(invivo::property_read<double>(described, "level", "20 dB") == 10);
    CHECK(invivo::property_text(described, "share", 0.25) == "25 %");
    CHECK(throws(INVIVO_E_CONVERSION, "level", [&] { invivo::property_read<double>(described, "level", "loud"); }));
    own.define(definition("room.dimmer").of<dimmer>().singleton());
    auto object = own.resolve<dimmer>("room.dimmer");
    invivo::changes(own).document("a.yaml", "traits: { room.dimmer: [ Set: { share: 50 % } ] }").commit();
    CHECK(object->share == 0.5);
    CHECK(own.document_text("a.yaml", INVIVO_FORMAT_JSON) == "{\"traits\":{\"room.dimmer\":[{\"Set\":{\"share\":\"50 %\"}}]}}");
    CHECK(own.traits_text("room.dimmer") == "traits:\n  room.dimmer:\n    -\n      Set:\n        share: \"50 %\"\n");
    CHECK(own.traits_text(nullptr, "a.yaml") == own.traits_text());
    CHECK(throws(INVIVO_E_NOT_FOUND, "b.yaml", [&] { own.document_text("b.yaml"); }));
}

int main() {
    times_are_seconds_and_paths_are_strings();
    names_and_paths_may_be_strings_and_paths();
    a_report_has_the_warnings();
    a_definition_names_the_key_of_its_traits();
    a_change_set_takes_a_file();
    a_cache_hears_of_commits();
    values_are_injected_read_observed_and_taken_back();
    values_and_documents_are_text();
    texts_are_read_by_converters();
    values_of_every_kind_are_read_by_converters();
    a_choice_follows_a_value_and_there_is_one_of_each_entry();
    a_choice_has_an_abstract_class();
    return ended();
}
