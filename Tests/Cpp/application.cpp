// Type needs, trees, domains, sources, modules and applications in C++.
#include "check.hpp"

#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>

#include <unistd.h>

using invivo::definition;
using invivo::object;
using invivo::ref;

class player {
public:
    part *instrument = nullptr;
    std::string said;
    void said_nothing() {}
    void refuse_to_stop() { throw std::runtime_error("the player plays on"); }
};

static void what_a_type_needs_is_filled_wherever_it_is_made() {
    invivo::runtime own;
    describe(own);
    invivo::type<player>("Player")
        .property<&player::instrument>("instrument")
        .property<&player::said>("said")
        .needs("instrument", invivo::by_type<part>())
        .needs("said", invivo::configured("says").otherwise("nothing"))
        .add(own);
    own.define(definition("a.part").of<part>().lazy_singleton().with(3));
    own.define(definition("a.other").of<part>().lazy_singleton().with(4).flags(INVIVO_DEFINITION_HIDDEN_CLASS));
    own.define(definition("a.player").of<player>());
    own.define(definition("a.own").of<player>().set("instrument", invivo::from("a.other")));
    CHECK(own.resolve<player>("a.player")->instrument->number == 3);
    CHECK(own.resolve<player>("a.player")->said == "nothing");
    CHECK(own.resolve<player>("a.own")->instrument->number == 4);
    invivo_type type{};
    invivo_object made{};
    CHECK(invivo_type_find(own, "Player", &type, nullptr) == INVIVO_OK);
    CHECK(invivo_object_make(own, type, nullptr, 0, &made, nullptr) == INVIVO_OK);
    CHECK(ref<player>(object(made))->instrument->number == 3);
    CHECK(throws(INVIVO_E_PROPERTY, "horn", [&] { invivo::type<player>("Wrong").needs("horn", 1).add(own); }));
}

class node {
public:
    std::vector<object> children;
    const char *wanted = nullptr;
    int number = 0;
    object child(size_t index) const {
        if (wanted && std::string(wanted) == "fails") throw std::runtime_error("no children today");
        return index < children.size() ? children[index] : object();
    }
    const char *key() const { return wanted; }
};

static void a_tree_is_injected_by_what_its_types_say() {
    invivo::runtime own;
    invivo::type<node>("Node").property<&node::number>("number").child<&node::child>().key_name<&node::key>().add(own);
    own.define(definition("a.root").of<node>().set("number", 1).rank(1));
    own.define(definition("a.leaf").of<node>().set("number", 2));
    ref<node> root, leaf;
    invivo_type type{};
    CHECK(invivo_type_find(own, "Node", &type, nullptr) == INVIVO_OK);
    for (ref<node> *each : {&root, &leaf}) {
        invivo_object made{};
        CHECK(invivo_object_make(own, type, nullptr, 0, &made, nullptr) == INVIVO_OK);
        *each = ref<node>(object(made));
    }
    root->children.push_back(leaf.held());
    leaf->wanted = "a.leaf";
    own.inject_tree(root.held());
    CHECK(root->number == 1 && leaf->number == 2);
    leaf->wanted = "fails";
    CHECK(throws(INVIVO_E_HOST, "no children today", [&] { own.inject_tree(root.held()); }));
    root->children.clear();
}

/// A main loop of one thread.
class loop {
public:
    loop() : thread_([this] { serve(); }) {}
    ~loop() {
        {
            std::lock_guard<std::mutex> held(lock_);
            ends_ = true;
        }
        came_.notify_one();
        thread_.join();
    }
    void post(invivo::job job) {
        {
            std::lock_guard<std::mutex> held(lock_);
            jobs_.push_back(std::move(job));
        }
        came_.notify_one();
    }
    bool is_here() const { return std::this_thread::get_id() == thread_.get_id(); }
    int ran = 0;

private:
    void serve() {
        std::unique_lock<std::mutex> held(lock_);
        while (true) {
            came_.wait(held, [&] { return ends_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            invivo::job next = std::move(jobs_.front());
            jobs_.pop_front();
            held.unlock();
            if (next.run()) ran++;
            CHECK(!next.run()); // once
            held.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable came_;
    std::deque<invivo::job> jobs_;
    bool ends_ = false;
    std::thread thread_;
};

class window {
public:
    int width = 0;
    std::thread::id made_by = std::this_thread::get_id(), set_by;
    int get_width() const { return width; }
    void set_width(int to) { width = to, set_by = std::this_thread::get_id(); }
};

static void objects_of_a_domain_are_touched_there_alone() {
    loop main;
    invivo::runtime own;
    invivo_domain screen = own.domain("screen", [&](invivo::job job) { main.post(std::move(job)); }, [&] { return main.is_here(); });
    invivo::type<window>("Window").property<&window::get_width, &window::set_width>("width").domain(screen).add(own);
    own.define(definition("a.window").of<window>().singleton().set("width", 5));
    CHECK(throws(INVIVO_E_DOMAIN, "a.window", [&] { own.resolve<window>("a.window"); }));
    std::promise<bool> told;
    own.resolve_async(own.key_of<window>("a.window"), [&](ref<window> found, const invivo::error *failed) {
        told.set_value(!failed && main.is_here() && found->made_by == found->set_by && found->made_by == std::this_thread::get_id() &&
                       found->width == 5);
    });
    CHECK(told.get_future().get());
    own.close();
    CHECK(main.ran > 0);
}

static void a_domain_that_refuses_or_loses_a_job_fails_what_posted_it() {
    invivo::runtime own;
    bool refuses = true;
    invivo_domain nowhere = own.domain("nowhere", [&](invivo::job) {
        if (refuses) throw std::runtime_error("the screen is dark");
    });
    invivo::type<window>("Window").property<&window::get_width, &window::set_width>("width").domain(nowhere).add(own);
    CHECK(throws(INVIVO_E_HOST, "the screen is dark", [&] { own.define(definition("a.window").of<window>().singleton()); }));
    refuses = false;
    CHECK(throws(INVIVO_E_HOST, "dropped its job", [&] { own.define(definition("a.window").of<window>().singleton()); }));
}

static void documents_come_from_sources_and_go_with_them() {
    invivo::runtime own;
    describe(own);
    {
        invivo::source said = own.document("said.yaml", "config: { volume: 3 }");
        CHECK(own.config<int>("volume") == 3);
        said.update("config: { volume: 4 }");
        CHECK(own.config<int>("volume") == 4);
        CHECK(throws(INVIVO_E_SYNTAX, "said.yaml:1", [&] { said.update("config: {"); }));
        CHECK(own.config<int>("volume") == 4);
        invivo::source moved = std::move(said);
        CHECK(own.config<int>("volume") == 4);
    }
    CHECK(own.config<int>("volume", 0) == 0);
    std::ofstream("followed.yaml") << "config: { volume: 5 }\n";
    invivo::source file = own.follow("followed.yaml");
    CHECK(own.config<int>("volume") == 5);
    std::ofstream("followed.yaml") << "config: { volume: 6 }\n";
    file.refresh();
    CHECK(own.config<int>("volume") == 6);
    file.close();
    CHECK(own.config<int>("volume", 0) == 0);
    CHECK(throws(INVIVO_E_NOT_FOUND, "nowhere.yaml", [&] { invivo::source lost = own.follow("nowhere.yaml"); }));
    CHECK(own.config<int>("volume", 0) == 0);
}

#define MODULE TEST_MODULES "/libinstruments.so"

static void modules_are_loaded_and_runtimes_shared() {
    invivo::runtime own;
    own.load(MODULE);
    own.define(definition("a.bell").of("Bell").lazy_singleton().set("pitch", 220.0));
    invivo_key key{};
    invivo_object found{};
    CHECK(invivo_key_find(own, "a.bell", &key, nullptr) == INVIVO_OK && invivo_resolve(own, key, &found, nullptr) == INVIVO_OK);
    CHECK(object(found).call("ring").as<double>() == 440);
    CHECK(throws(INVIVO_E_HOST, "one bell is enough", [&] { own.load(MODULE); }));
    CHECK(throws(INVIVO_E_FILE, "libnothing.so", [&] { own.load("libnothing.so"); }));
    invivo::runtime_ref other = invivo::runtime_ref::attached(own.share());
    CHECK(other.generation() == own.generation());
}

static void write_manifest(const std::string &rest) {
    std::ofstream("app.yaml") << "modules: { instruments: " MODULE " }\n" << rest;
}
static void an_application_is_a_manifest_run() {
    write_manifest("components:\n  a.bell: { type: Bell, properties: { pitch: 100 } }\nassemblies: [chimes]\n");
    invivo::application::check("app.yaml");
    {
        invivo::application running("app.yaml");
        invivo_object found{};
        CHECK(invivo_resolve_name(running.runtime(), "a.bell", &found, nullptr) == INVIVO_OK);
        CHECK(object(found).get("pitch").as<double>() == 100);
        CHECK(invivo_resolve_name(running.runtime(), "chimes.low", &found, nullptr) == INVIVO_OK);
        object held(found);
        running.close();
        CHECK(held.get("pitch").as<double>() == 110); // a held object lives on
        CHECK(throws(INVIVO_E_HANDLE, "", [&] { running.runtime(); }));
    }
    write_manifest("components:\n  a.bell: { type: Bel, properties: { pitch: 1 } }\n  a.other: { type: Bell, properties: { pich: 100 } }\n");
    CHECK(throws(INVIVO_E_NOT_FOUND, "app.yaml:3:19", [&] { invivo::application::check("app.yaml"); }));
    CHECK(throws(INVIVO_E_NOT_FOUND, "did you mean 'pitch'", [&] { invivo::application wrong("app.yaml"); }));
    // The host chooses the assemblies.
    write_manifest("components: {}\n");
    invivo::assembly tower("tower");
    tower.define(definition("bell").of("Bell").lazy_singleton().set("pitch", 55.0));
    auto active = [&](const invivo::runtime_ref &runtime, invivo::changes &set) {
        runtime.describe(tower);
        set.activate(tower);
    };
    invivo::application::check("app.yaml", active);
    invivo::application running("app.yaml", active);
    invivo_object found{};
    CHECK(invivo_resolve_name(running.runtime(), "tower.bell", &found, nullptr) == INVIVO_OK);
    CHECK(object(found).get("pitch").as<double>() == 55);
    CHECK(throws(INVIVO_E_HOST, "no tower stands", [&] {
        invivo::application none("app.yaml", [](const invivo::runtime_ref &, invivo::changes &) { throw std::runtime_error("no tower stands"); });
    }));
}

static void what_fails_to_stop_is_thrown_and_it_is_closed() {
    invivo::runtime own;
    invivo::type<player>("Player").start<&player::said_nothing>().stop<&player::refuse_to_stop>().add(own);
    own.define(definition("a.player").of<player>().singleton());
    CHECK(throws(INVIVO_E_STOP, "the player plays on", [&] { own.close(); }));
    CHECK(own.raw().bits == 0);
}

int main() {
    char directory[] = "/tmp/invivo-cpp-XXXXXX";
    if (!mkdtemp(directory) || chdir(directory) != 0) return 1;
    what_a_type_needs_is_filled_wherever_it_is_made();
    a_tree_is_injected_by_what_its_types_say();
    objects_of_a_domain_are_touched_there_alone();
    a_domain_that_refuses_or_loses_a_job_fails_what_posted_it();
    documents_come_from_sources_and_go_with_them();
    modules_are_loaded_and_runtimes_shared();
    an_application_is_a_manifest_run();
    what_fails_to_stop_is_thrown_and_it_is_closed();
    for (const char *left : {"app.yaml", "followed.yaml"}) unlink(left);
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
    return ended();
}
