// Setup and teardown in C++: effects and children that belong to objects.
#include "check.hpp"

#include <string>
#include <vector>

using invivo::definition;

static std::string trace;
static invivo::runtime_ref opened{invivo_runtime{}};
static int failing;

struct leaf {
    std::string name;
    int64_t size = 0;
    int handed_over = 0;
    void setup() {
        trace += "setup " + name + ", ";
        opened.effect([this] { trace += "undo " + name + ", "; });
    }
};

struct root {
    std::vector<leaf *> leaves;
    void setup() {
        leaves = {&opened.child<leaf>("ui.leaf", "x"), &opened.child<leaf>("ui.leaf", "y")};
        opened.effect([kept = std::string("root")] { trace += "undo " + kept + ", "; });
        if (failing-- > 0) throw std::runtime_error("not today");
    }
    void teardown() { trace += "teardown, "; }
    void refresh() { trace += "refresh, "; }
    void finalize() { trace += "finalize, "; }
};

struct maker {
    leaf *made = nullptr;
    void setup() { made = &opened.make_child<leaf>(); }
};


static void define_leaf(invivo::runtime &own, int64_t size) {
    own.define(definition("ui.leaf").prototype().parameters<std::string>({"name"}).with(invivo::argument(0)).made<leaf>(
        [size](const invivo::build &build, const std::string &name) {
            const leaf *former = build.former<leaf>();
            return leaf{name, size, former ? former->handed_over + 1 : 0};
        }));
}
static void describe_all(invivo::runtime &own) {
    opened = invivo::runtime_ref(own.raw());
    trace.clear();
    invivo::type<leaf>("Leaf").constructor<>().setup<&leaf::setup>().add(own);
    invivo::type<root>("Root").constructor<>().setup<&root::setup>().teardown<&root::teardown>().refresh<&root::refresh>()
        .finalize<&root::finalize>().add(own);
    define_leaf(own, 0);
    own.define(definition("ui.root").of<root>().lazy_singleton());
}

static void reloads_leave_one_of_everything() {
    invivo::runtime own;
    describe_all(own);
    {
        const auto found = own.resolve<root>("ui.root");
        CHECK(trace == "setup x, setup y, finalize, ");
        for (int i = 1; i <= 10; i++) {
            trace.clear();
            define_leaf(own, i);
            CHECK(trace == "teardown, undo root, setup x, setup y, undo y, undo x, finalize, ");
            for (leaf *each : found->leaves) CHECK(each->size == i && each->handed_over == i);
        }
        failing = 1;
        CHECK(throws(INVIVO_E_HOST, "not today", [&] { define_leaf(own, 11); }));
        CHECK(found->leaves.size() == 2 && found->leaves[0]->size == 10 && found->leaves[0]->handed_over == 11);
    }
    trace.clear();
    own.close();
    CHECK(trace == "teardown, undo root, undo y, undo x, ");
}

static void children_may_have_no_definition() {
    invivo::runtime own;
    describe_all(own);
    invivo::type<maker>("Maker").constructor<>().setup<&maker::setup>().keeps_children().add(own);
    own.define(definition("ui.maker").of<maker>().lazy_singleton());
    CHECK(own.resolve<maker>("ui.maker")->made->handed_over == 0);
}

static void an_effect_outside_of_a_setup_is_undone_at_once() {
    invivo::runtime own;
    describe_all(own);
    int undone = 0;
    CHECK(throws(INVIVO_E_ARGUMENT, "invivo_effect was called outside of a setup", [&] { own.effect([&] { undone++; }); }));
    CHECK(undone == 1);
    CHECK(throws(INVIVO_E_ARGUMENT, "invivo_child was called outside of a setup", [&] { own.child<leaf>("ui.leaf", "z"); }));
}

struct panel {
    const leaf *shown = nullptr;
    int setups = 0, refreshes = 0;
    void setup() { setups++; }
    void refresh() { refreshes++; }
};

static void an_owner_of_an_injected_object() {
    invivo::runtime own;
    describe_all(own);
    auto describe = [&](int64_t size) {
        own.define(definition("ui.shown").lazy_singleton().made<leaf>([size](const invivo::build &) { return leaf{"shown", size, 0}; }));
    };
    describe(1);
    invivo::type<panel>("Panel").constructor<>().property<&panel::shown>("shown").setup<&panel::setup>().refresh<&panel::refresh>().add(own);
    own.define(definition("ui.owner").of<panel>().lazy_singleton().set("shown", invivo::from("ui.shown").owns()));
    own.define(definition("ui.user").of<panel>().lazy_singleton().set("shown", invivo::from("ui.shown")));
    auto owner = own.resolve<panel>("ui.owner"), user = own.resolve<panel>("ui.user");
    describe(2);
    CHECK(owner->shown->size == 2 && owner->setups == 2 && owner->refreshes == 0);
    CHECK(user->shown->size == 2 && user->setups == 1 && user->refreshes == 1);
}

int main() {
    reloads_leave_one_of_everything();
    children_may_have_no_definition();
    an_effect_outside_of_a_setup_is_undone_at_once();
    an_owner_of_an_injected_object();
    return ended();
}
