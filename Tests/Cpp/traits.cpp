// Trait types in C++: fields of a struct, layers, and code with its reversal.
#include "check.hpp"

struct voice {
    double gain = 1, cutoff = 1000;
    std::string wave = "sine";
};

struct duck {
    double amount = 0.5;
    std::string wave = "square";
    std::chrono::milliseconds time{20};
    std::optional<int> steps;
};

static int applied, reverted;
static invivo_status status;
static std::string last_error;

static bool tell(const invivo::runtime &own, const std::string &name, const std::string &text) {
    try {
        invivo::changes set(own.raw());
        set.document(name, text).commit();
        return true;
    } catch (const invivo::error &error) {
        status = error.code(), last_error = error.what();
        return false;
    }
}
static bool refuses(const invivo::runtime &own, const std::string &text, const char *part) {
    if (tell(own, "a", text)) return false;
    if (last_error.find(part) != std::string::npos) return true;
    std::fprintf(stderr, "missing '%s' in: %s\n", part, last_error.c_str());
    return false;
}

static invivo::ref<voice> open(const invivo::runtime &own) {
    applied = reverted = 0;
    invivo::type<voice>("Voice")
        .property<&voice::gain>("gain", {0, 8, 0, nullptr, nullptr, 0})
        .property<&voice::cutoff>("cutoff", {0, 0, 0, "Hz", nullptr, 0})
        .property<&voice::wave>("wave")
        .add(own.raw());
    own.define(invivo::definition("synth.lead").of<voice>().lazy_singleton());
    return own.resolve<voice>("synth.lead");
}

static invivo::trait<duck> ducks() {
    return invivo::trait<duck>("synth.Duck")
        .text("lowers the gain")
        .target<voice>()
        .required<&duck::amount>("amount", {0, 1, 0, nullptr, nullptr, 0})
        .field<&duck::wave>("wave")
        .field<&duck::time>("time")
        .field<&duck::steps>("steps")
        .check([](const duck &fields) {
            if (fields.wave == "noise") throw invivo::refused("noise is not ducked", 1);
            if (fields.steps.value_or(0) < 0) throw std::range_error("negative steps");
            return fields.time.count() < 5000;
        })
        .layers([](const duck &fields, invivo::layers &layers) {
            layers.scale("gain", 1 - fields.amount).set("wave", fields.wave).offset("cutoff", static_cast<double>(fields.time.count()));
            if (fields.steps) layers.offset("gain", *fields.steps);
        });
}

static void a_trait_type_declares_layers() {
    invivo::runtime own;
    invivo::ref<voice> lead = open(own);
    own.add_trait(ducks());
    CHECK(tell(own, "a", "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }"));
    CHECK(lead->gain == 0.75 && lead->cutoff == 1020 && lead->wave == "square");
    CHECK(tell(own, "a", "traits: { synth.lead: [synth.Duck: { amount: 1, wave: saw, time: 1 s, steps: 2 }] }"));
    CHECK(lead->gain == 2 && lead->cutoff == 2000 && lead->wave == "saw");
    CHECK(refuses(own, "traits: { synth.lead: [synth.Duck: { wave: saw }] }", "the field 'amount' of the trait 'synth.Duck' is missing"));
    CHECK(refuses(own, "traits: { synth.lead: [synth.Duck: { amount: 2 }] }", "a:1:"));
    CHECK(refuses(own, "traits: { synth.lead: [synth.Duck: { amount: 0, wave: noise }] }", "noise is not ducked"));
    CHECK(last_error.find("wave") != std::string::npos);
    CHECK(refuses(own, "traits: { synth.lead: [synth.Duck: { amount: 0, steps: -1 }] }", "negative steps"));
    CHECK(refuses(own, "traits: { synth.lead: [synth.Duck: { amount: 0, time: 6 s }] }", "the check does not hold"));
    CHECK(lead->gain == 2);
    own.remove_trait("synth.Duck");
    CHECK(lead->gain == 1 && lead->cutoff == 1000 && lead->wave == "sine");
    CHECK(throws(INVIVO_E_NOT_FOUND, "synth.Duck", [&] { own.remove_trait("synth.Duck"); }));
}

struct share {
    double part = 0.5;
};
static void a_field_has_a_codec() {
    invivo::runtime own;
    invivo::ref<voice> lead = open(own);
    own.add_trait(invivo::trait<share>("synth.Share")
                      .target<voice>()
                      .field<&share::part>("part", {0, 1, 0, nullptr, nullptr, 0, INVIVO_CODEC_PERCENT})
                      .layers([](const share &fields, invivo::layers &layers) { layers.set("gain", fields.part); }));
    CHECK(tell(own, "a", "traits: { synth.lead: [synth.Share: { part: 25 % }] }"));
    CHECK(lead->gain == 0.25);
}

struct boost {
    double by = 1;
};
static invivo::trait<boost> boosts(const std::shared_ptr<int> &counted) {
    return invivo::trait<boost>("synth.Boost").field<&boost::by>("by").apply<voice>([counted](voice &target, const boost &fields) {
        applied++;
        target.gain += fields.by;
        return [by = fields.by, counted](voice &one) {
            reverted++;
            one.gain -= by;
        };
    });
}

static void a_trait_type_runs_code() {
    auto counted = std::make_shared<int>();
    {
        invivo::runtime own;
        invivo::ref<voice> lead = open(own);
        own.add_trait(boosts(counted));
        CHECK(counted.use_count() == 2);
        CHECK(tell(own, "a", "traits: { synth.lead: [Set: { gain: 2 }, synth.Boost: {}, Scale: { gain: 2 }] }"));
        CHECK(lead->gain == 6 && applied == 1 && counted.use_count() == 3);
        CHECK(tell(own, "a", "traits: { synth.lead: [Set: { gain: 1 }, synth.Boost: { by: 2 }, Scale: { gain: 2 }] }"));
        CHECK(lead->gain == 6 && applied == 2 && reverted == 1 && counted.use_count() == 3);
        // Another type under the name: the former reversal, the new application.
        own.add_trait(invivo::trait<boost>("synth.Boost").field<&boost::by>("by").apply<voice>(
            [](const invivo::object &target, voice &instance, const boost &fields) {
                target.set("cutoff", instance.cutoff * fields.by);
            }));
        CHECK(lead->gain == 2 && lead->cutoff == 2000 && reverted == 2 && counted.use_count() == 1);
        // Without a reversal, what was set is put back.
        CHECK(tell(own, "a", "traits: {}"));
        CHECK(lead->gain == 1 && lead->cutoff == 1000);
        // An exception refuses the commit.
        own.add_trait(invivo::trait<>("synth.Fails").target("*").apply([](const invivo::object &target, const invivo::no_fields &) {
            target.set("gain", 5.0);
            throw std::runtime_error("no more");
        }));
        CHECK(refuses(own, "traits: { synth.lead: [synth.Fails: {}] }", "no more"));
        CHECK(lead->gain == 1);
        // A reversal that throws. The next commit restores the object.
        int fails = 1;
        own.add_trait(invivo::trait<>("synth.Fails").target("Voice").apply([&](const invivo::object &target, const invivo::no_fields &) {
            return std::function<void()>([&fails, gain = target.get("gain").as<double>()] {
                if (fails-- > 0) throw std::runtime_error("not now");
                (void)gain;
            });
        }));
        CHECK(tell(own, "a", "traits: { synth.lead: [synth.Fails: {}] }"));
        CHECK(refuses(own, "traits: {}", "not now"));
        own.add_trait(boosts(counted));
        CHECK(tell(own, "a", "traits: { synth.lead: [synth.Boost: { by: 3 }] }"));
        CHECK(lead->gain == 4);
    }
    CHECK(counted.use_count() == 1);
}

static void descriptions_are_checked() {
    invivo::runtime own;
    invivo::ref<voice> lead = open(own);
    auto counted = std::make_shared<int>();
    CHECK(throws(INVIVO_E_ARGUMENT, "neither layers nor apply", [&] { own.add_trait(invivo::trait<>("synth.None").target("*")); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "accepts no target", [&] {
        own.add_trait(invivo::trait<>("synth.None").layers([counted](const invivo::no_fields &, invivo::layers &) {}));
    }));
    CHECK(counted.use_count() == 1);
    CHECK(throws(INVIVO_E_ARGUMENT, "layers and apply", [&] {
        own.add_trait(boosts(counted).layers([](const boost &, invivo::layers &) {}));
    }));
    // A description can be changed and added again, and the type that was added stays as it was.
    invivo::trait<boost> described = boosts(counted);
    own.add_trait(described);
    described.check([](const boost &fields) { return fields.by < 2; });
    CHECK(tell(own, "a", "traits: { synth.lead: [synth.Boost: { by: 3 }] }"));
    CHECK(lead->gain == 4);
    invivo::changes set(own.raw());
    set.add_trait(described);
    CHECK(throws(INVIVO_E_EXISTS, "twice in one change set", [&] { set.add_trait(described); }));
    CHECK(throws(INVIVO_E_HOST, "the check does not hold", [&] { set.commit(); }));
    CHECK(lead->gain == 4);
}

struct holder {
    invivo::ref<voice> kept;
};
static void close_puts_attached_objects_back() {
    auto counted = std::make_shared<int>(0);
    {
        invivo::runtime own;
        (void)open(own);
        invivo::type<holder>("Holder").property<&holder::kept>("kept").add(own.raw());
        own.define(invivo::definition("synth.holder").of<holder>().lazy_singleton());
        own.add_trait(boosts(counted));
        invivo::ref<holder> holds = own.resolve<holder>("synth.holder");
        invivo_type type{};
        invivo_object made{};
        invivo_target target{};
        invivo::detail::checked([&](invivo_error **e) { return invivo_type_find(own.raw(), "Voice", &type, e); });
        invivo::detail::checked([&](invivo_error **e) { return invivo_object_make(own.raw(), type, nullptr, 0, &made, e); });
        holds->kept = invivo::ref<voice>(invivo::object(made));
        invivo::detail::checked([&](invivo_error **e) { return invivo_target_attach(made, "synth.free", &target, e); });
        CHECK(tell(own, "a", "traits: { synth.free: [synth.Boost: { by: 3 }] }"));
        CHECK(holds->kept->gain == 4 && applied == 1);
    }
    CHECK(reverted == 1);
    CHECK(counted.use_count() == 1);
}

// A reversal that may run again is called by each commit until it succeeds; nothing below it changes until then.
static void a_reversal_repeats() {
    invivo::runtime own;
    invivo::ref<voice> lead = open(own);
    int fails = 2;
    own.add_trait(invivo::trait<>("synth.Late").repeats().apply<voice>([&](voice &target, const invivo::no_fields &) {
        target.gain += 10;
        return [&fails](voice &one) {
            if (fails-- > 0) throw std::runtime_error("not now");
            one.gain -= 10;
        };
    }));
    CHECK(tell(own, "a", "traits: { synth.lead: [Set: { gain: 2 }, synth.Late: {}] }"));
    CHECK(lead->gain == 12);
    CHECK(refuses(own, "traits: {}", "not now"));
    CHECK(lead->gain == 12 && fails == 1);
    CHECK(tell(own, "b", "config: { x: 1 }"));
    CHECK(lead->gain == 12 && fails == 0);
    CHECK(tell(own, "b", "config: { x: 2 }"));
    CHECK(lead->gain == 12 && fails == -1); // put back, and applied again
    CHECK(tell(own, "a", "traits: {}"));
    CHECK(lead->gain == 1 && fails == -2);
}

struct screen {
    int64_t columns = 0;
    std::string name = "main";
    static bool is_even(int64_t value) { return value % 2 == 0; }
};
static void no_blanks(const std::string &name) {
    if (name.find(' ') != std::string::npos) throw invivo::error(INVIVO_E_RANGE, "expected a name without blanks");
}
static void values_are_verified() {
    invivo::runtime own;
    invivo::type<screen> described("Screen");
    described.property<&screen::columns>("columns").verify<&screen::is_even>("columns");
    described.property<&screen::name>("name").verify<&no_blanks>("name");
    CHECK(throws(INVIVO_E_ARGUMENT, "'Screen' has no property 'rows' to verify", [&] { described.verify<&screen::is_even>("rows"); }));
    described.add(own.raw());
    own.define(invivo::definition("a.screen").of<screen>().lazy_singleton());
    CHECK(refuses(own, "traits: { a.screen: [Set: { columns: 3 }] }", "a:1:38: a.screen.columns: the check does not hold"));
    CHECK(refuses(own, "traits: { a.screen: [Set: { name: two words }] }", "a:1:35: a.screen.name: expected a name without blanks"));
    CHECK(status == INVIVO_E_RANGE);
    CHECK(tell(own, "a", "traits: { a.screen: [Set: { columns: 4, name: two }] }"));
    invivo::ref<screen> one = own.resolve<screen>("a.screen");
    CHECK(one->columns == 4 && one->name == "two");
    CHECK(refuses(own, "traits: { a.screen: [Set: { columns: 5 }] }", "the check does not hold"));
    CHECK(one->columns == 4);
}

int main() {
    a_reversal_repeats();
    values_are_verified();
    a_trait_type_declares_layers();
    a_field_has_a_codec();
    a_trait_type_runs_code();
    descriptions_are_checked();
    close_puts_attached_objects_back();
    return ended();
}
