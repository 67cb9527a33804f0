// Rules in C++: functions of values that each generation satisfies.
#include "check.hpp"

static void a_rule_refuses_an_edit() {
    invivo::runtime own;
    auto counted = std::make_shared<int>(0);
    own.configure("band.high", 10);
    own.add_rule("low < high", {"band.low", "band.high"}, [counted](const invivo::rule_values &values) {
        ++*counted;
        if (!values.has(0)) return;
        if (values.get<double>(0) < 0) throw std::range_error("low is negative");
        if (values.get<double>(0) >= values.get<double>(1)) throw invivo::refused("low must be below high", 1);
    });
    CHECK(*counted == 1 && counted.use_count() == 2);
    own.configure("band.low", 5);
    CHECK(throws(INVIVO_E_HOST, "band.high: the rule 'low < high' refuses this value (because low must be below high)",
                 [&] { own.configure("band.low", 11); }));
    CHECK(throws(INVIVO_E_HOST, "band.low: the rule 'low < high' refuses this value (because low is negative)",
                 [&] { own.configure("band.low", -1); }));
    CHECK(own.config<int>("band.low") == 5);
    // A rule that returns whether the values are good. It replaces the former one.
    own.add_rule("low < high", {"band.low", "band.more"}, [](const invivo::rule_values &values) {
        return values.size() == 2 && values.get<int>(0) < values.get<int>(1, 100);
    });
    CHECK(counted.use_count() == 1);
    own.configure("band.low", 11);
    CHECK(throws(INVIVO_E_HOST, "the rule does not hold", [&] { own.configure("band.low", 100); }));
    // An index that is none, and a value of another kind.
    CHECK(throws(INVIVO_E_HOST, "the rule has fewer inputs",
                 [&] { own.add_rule("wrong", {"band.low"}, [](const invivo::rule_values &values) { return values.has(1); }); }));
    CHECK(throws(INVIVO_E_HOST, "band.low: the rule 'wrong' refuses this value (because ",
                 [&] { own.add_rule("wrong", {"band.low"}, [](const invivo::rule_values &values) { return values.get<bool>(0); }); }));
    own.remove_rule("low < high");
    own.configure("band.low", 100);
    CHECK(throws(INVIVO_E_NOT_FOUND, "no rule has the name 'low < high'", [&] { own.remove_rule("low < high"); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "the rule names no input", [&] { own.add_rule("none", {}, [](const invivo::rule_values &) {}); }));
}

int main() {
    a_rule_refuses_an_edit();
    return ended();
}
