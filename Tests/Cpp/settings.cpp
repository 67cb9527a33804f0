// Typed settings in C++: sections of the configuration as values of a C++ type.
#include "check.hpp"

struct audio {
    double rate;
    int64_t voices;
    char device[16];
};
static const invivo_property fields[] = {
    INVIVO_FIELD(audio, rate, .initial = 48000, .unit = "Hz"),
    INVIVO_FLAGGED_FIELD(audio, INVIVO_PROPERTY_REQUIRED, voices, .min = 1, .max = 64),
    INVIVO_FIELD(audio, device, .initial_text = "default")};

static void document(const invivo::runtime &own, const char *text) {
    invivo::changes set(own.raw());
    set.document("a.yaml", text);
    set.commit();
}

static void a_section_is_a_plain_struct() {
    invivo::runtime own;
    document(own, "config: { audio: { rate: 44.1 kHz, voices: 2 } }");
    auto counted = std::make_shared<int>(0);
    own.bind_settings<audio>("Audio", "audio", fields, [counted](const audio &read) {
        ++*counted;
        if (read.voices == 3) throw invivo::refused("three is too many", 1);
        if (read.voices == 4) throw std::runtime_error("four, too");
    });
    CHECK(own.settings<audio>("Audio").rate == 44100);
    CHECK(own.settings<audio>("Audio").voices == 2);
    CHECK(std::string(own.settings<audio>("Audio").device) == "default");
    auto id = own.settings_id<audio>("Audio");
    {
        invivo::view view(own.raw());
        const audio *former = view.settings(id);
        document(own, "config: { audio: { voices: 5 } }");
        CHECK(view.settings(id) == former && former->voices == 2);
    }
    CHECK(own.settings<audio>("Audio").voices == 5);
    CHECK(*counted == 2);
    CHECK(throws(INVIVO_E_HOST, "a.yaml:2:20: config.audio.voices: the check of the settings 'Audio' refuses this value (because three is too many)",
                 [&] { document(own, "config:\n  audio: { voices: 3 }"); }));
    CHECK(throws(INVIVO_E_HOST, "a.yaml:2:10: config.audio: the check of the settings 'Audio' refuses this value (because four, too)",
                 [&] { document(own, "config:\n  audio: { voices: 4 }"); }));
    CHECK(throws(INVIVO_E_PROPERTY, "a.yaml:2:12: config.audio.voises: the settings 'Audio' have no field 'voises'; did you mean 'voices'?",
                 [&] { document(own, "config:\n  audio: { voises: 3 }"); }));
    CHECK(own.settings<audio>("Audio").voices == 5);
    own.unbind_settings("Audio");
    CHECK(throws(INVIVO_E_NOT_FOUND, "no binding of settings has the name 'Audio'", [&] { own.settings<audio>("Audio"); }));
    CHECK(throws(INVIVO_E_NOT_FOUND, "no binding of settings has the name 'Audio'", [&] { own.unbind_settings("Audio"); }));
}

struct listing {
    std::string title;
    std::vector<int> items;
    static int alive;
    listing() { alive++; }
    listing(const listing &other) : title(other.title), items(other.items) { alive++; }
    ~listing() { alive--; }
};
int listing::alive;

static void a_function_reads_a_section() {
    setenv("SETTINGS_NUMBER", "7", 1);
    {
        invivo::runtime own;
        document(own, "config: { list: { title: one, items: [1, 2] } }");
        own.bind_settings("List", "list", [](const invivo::section &section) {
            listing made;
            made.title = section.get<std::string>("title");
            made.items = section.get<std::vector<int>>("items", {});
            return made;
        });
        CHECK(own.settings<listing>("List").items.size() == 2);
        CHECK(own.settings<listing>("List").title == "one");
        document(own, "config: { list: { title: two } }");
        CHECK(own.settings<listing>("List").items.empty());
        CHECK(throws(INVIVO_E_TYPE, "a.yaml:2:18: config.list.title: ", [&] { document(own, "config:\n  list: { title: [1] }"); }));
        CHECK(throws(INVIVO_E_NOT_CONFIGURED, "config.list.title: 'title' is not set", [&] { document(own, "config: { list: { items: [] } }"); }));
        CHECK(own.settings<listing>("List").title == "two");
        document(own, "config: { list: { title: '${SETTINGS_NUMBER}' } }");
        CHECK(own.settings<listing>("List").title == "7");
    }
    CHECK(listing::alive == 0);
}

struct corner { int64_t x, y; };
struct shape { corner from; double width; };
static const invivo_property corner_fields[] = {INVIVO_FIELD(corner, x, .max = 9), INVIVO_FIELD(corner, y)};
static const invivo_property shape_fields[] = {
    INVIVO_FIELD(shape, width),
    [] {
        invivo_property made{};
        made.struct_size = sizeof(made), made.name = "from", made.kind = INVIVO_KIND_MAP;
        made.offset = offsetof(shape, from), made.size = sizeof(corner), made.fields = corner_fields, made.field_count = 2;
        return made;
    }()};
struct lists {
    std::vector<std::vector<int>> rows;
    std::map<std::string, int> limits;
};

static bool refuses(const invivo::runtime &own, const char *section, const char *message) {
    try {
        document(own, (std::string("config: { s: ") + section + " }").c_str());
        std::fprintf(stderr, "%s is accepted\n", section);
    } catch (const invivo::error &error) {
        if (std::string(error.what()).find(message) == 0) return true;
        std::fprintf(stderr, "%s: expected %s\n", error.what(), message);
    }
    return false;
}

/* Each error has the location of the part at fault: an unknown key that of the key, a wrong value that of the value. */
static void errors_in_parts_have_their_locations() {
    struct row { const char *section, *message; };
    setenv("SETTINGS_WORD", "hidden", 1);
    invivo::runtime own;
    own.bind_settings<shape>("Shape", "s", shape_fields);
    for (const row &each : {row{"{ from: { z: 1 } }", "a.yaml:1:24: config.s.from.z: 'from' has no field 'z'; expected x, y"},
                            row{"{ from: { x: a } }", "a.yaml:1:27: config.s.from.x: "},
                            row{"{ from: { x: 10 } }", "a.yaml:1:27: config.s.from.x: 10 is outside 0...9"},
                            row{"{ from: [1] }", "a.yaml:1:22: config.s.from: "},
                            row{"{ form: { x: 1 } }", "a.yaml:1:16: config.s.form: the settings 'Shape' have no field 'form'; did you mean 'from'?"}}) {
        CHECK(refuses(own, each.section, each.message));
    }
    own.unbind_settings("Shape");
    own.bind_settings("Lists", "s", [](const invivo::section &section) {
        lists made;
        made.rows = section.get<std::vector<std::vector<int>>>("rows", {});
        made.limits = section.get<std::optional<std::map<std::string, int>>>("limits", {}).value_or(std::map<std::string, int>());
        return made;
    });
    for (const row &each : {row{"{ rows: [[1], [2, a]] }", "a.yaml:1:32: config.s.rows[1][1]: "},
                            row{"{ rows: [[1], 2] }", "a.yaml:1:28: config.s.rows[1]: "}, row{"{ rows: 2 }", "a.yaml:1:22: config.s.rows: "},
                            row{"{ limits: { a: 1, b: c } }", "a.yaml:1:35: config.s.limits.b: "},
                            row{"{ rows: [['${SETTINGS_WORD}']] }", "a.yaml:1:24: config.s.rows[0][0]: the value has another kind"}}) {
        CHECK(refuses(own, each.section, each.message));
    }
}

struct wide { double rate, more; int64_t voices; };

static void settings_are_read_as_their_type() {
    invivo::runtime own;
    document(own, "config: { audio: { voices: 2 }, list: { title: one } }");
    own.bind_settings<audio>("Audio", "audio", fields);
    own.bind_settings("List", "list", [](const invivo::section &section) { return section.get<std::string>("title"); });
    CHECK(throws(INVIVO_E_TYPE, "Audio: the settings 'Audio' are read as ", [&] { own.settings<wide>("Audio"); }));
    CHECK(throws(INVIVO_E_TYPE, "Audio: the settings 'Audio' are read as ", [&] { own.settings_id<std::string>("Audio"); }));
    CHECK(throws(INVIVO_E_TYPE, "List: the settings 'List' are read as ", [&] { own.settings<int>("List"); }));
    CHECK(own.settings<std::string>("List") == "one");
    auto id = own.settings_id<audio>("Audio");
    /* A reader of `audio` never sees another type. */
    CHECK(throws(INVIVO_E_TYPE, "Audio: the settings 'Audio' are read as ", [&] {
        own.bind_settings("Audio", "audio", [](const invivo::section &) { return 1; });
    }));
    own.bind_settings<audio>("Audio", "audio", fields);
    invivo::view view(own.raw());
    CHECK(view.settings(id)->voices == 2);
}

static invivo_status load(void *, invivo_runtime loading, const char *, const char *, invivo_error **failed) {
    return invivo::detail::guarded(failed, [&] {
        invivo::runtime_ref host(loading);
        host.add_settings_type<audio>("Audio", fields, [](const audio &read) {
            if (read.voices == 3) throw invivo::refused("three is too many", 1);
        });
        host.add_settings_type("List", [](const invivo::section &section) { return section.get<std::string>("title"); });
    });
}
static void a_manifest_names_a_type() {
    auto write = [](const char *path, const char *text) {
        FILE *file = std::fopen(path, "w");
        std::fputs(text, file);
        std::fclose(file);
    };
    invivo_error *failed = nullptr;
    invivo_app_options options{};
    invivo_runtime_options silent;
    invivo_runtime_options_init(&silent);
    silent.log_level = INVIVO_LOG_SILENT;
    options.struct_size = sizeof(options), options.manifest = "settings_app.yaml", options.load_module = load, options.runtime = &silent;
    write("settings_module.py", "");
    write("settings_app.yaml", "modules: { m: settings_module.py }\nsettings: { audio: Audio, list: List }\n"
                               "config: { audio: { voices: 2 }, list: { title: one } }\n");
    invivo_app app{};
    CHECK(invivo_app_open(&app, &options, &failed) == INVIVO_OK);
    invivo_runtime opened{};
    CHECK(invivo_app_runtime(app, &opened, &failed) == INVIVO_OK);
    CHECK(invivo::runtime_ref(opened).settings<audio>("Audio").voices == 2);
    CHECK(invivo::runtime_ref(opened).settings<std::string>("List") == "one");
    CHECK(invivo_app_close(app, &failed) == INVIVO_OK);
    write("settings_app.yaml", "modules: { m: settings_module.py }\nsettings: { audio: Audio }\nconfig: { audio: { voices: 3 } }\n");
    CHECK(invivo_app_check(&options, 0, nullptr, &failed) == INVIVO_E_HOST);
    CHECK(std::strstr(invivo_error_text(failed), "settings_app.yaml:3:28: config.audio.voices: the check of the settings 'Audio' refuses"));
    invivo_error_release(failed);
    std::remove("settings_app.yaml"), std::remove("settings_module.py");
}

static void secret_parts_of_a_section_are_not_shown() {
    invivo::runtime own;
    document(own, "config: { list: { title: one } }");
    own.bind_settings("List", "list", [](const invivo::section &section) {
        const auto title = section.get<std::string>("title");
        if (title == "hunter2") throw invivo::error(INVIVO_E_RANGE, title + " is refused", "title");
        listing made;
        made.title = title;
        return made;
    }, {"title"});
    CHECK(own.is_secret("list.title") && own.is_secret("list") && !own.is_secret("list.items"));
    CHECK(throws(INVIVO_E_RANGE, "a.yaml:1:26: config.list.title: the create function of the settings 'List' refuses the values (",
                 [&] { document(own, "config: { list: { title: hunter2 } }"); }));
    own.unbind_settings("List");
    CHECK(!own.is_secret("list.title"));
    own.add_secret("list");
    CHECK(own.is_secret("list.title"));
    own.remove_secret("list");
    CHECK(!own.is_secret("list.title"));
}

static void an_assembly_declares_secrets_while_it_is_active() {
    invivo::runtime own;
    document(own, "config: { db: { password: fine } }");
    invivo::assembly base("base"), store("store", base);
    base.secret("tls"), store.secret("db.password");
    own.activate(store);
    CHECK(own.is_secret("db.password") && own.is_secret("tls.key") && !own.is_secret("db.host"));
    own.deactivate("store");
    CHECK(!own.is_secret("db") && !own.is_secret("tls"));
}

struct client {
    explicit client(const std::string &password, std::optional<int> = {}) {
        if (password == "hunter2") throw std::runtime_error(password + " is refused");
    }
};

static void a_secret_parameter_of_a_constructor_is_not_shown() {
    invivo::runtime own;
    document(own, "config: { db: { password: fine, port: 12345 } }");
    invivo::type<client>("Client").constructor<const std::string &, std::optional<int>>({"password", "port"}).secret("password").secret("port").add(
        own.raw());
    own.define(invivo::definition("a.client").of<client>().singleton().with(invivo::configured("/db.password"), invivo::configured("/db.port")));
    CHECK(throws(INVIVO_E_HOST, "<secret> is refused", [&] { document(own, "config: { db: { password: hunter2, port: 12345 } }"); }));
    CHECK(throws(INVIVO_E_CONVERSION, "<secret> is an unsuitable value", [&] { document(own, "config: { db: { password: fine, port: hunter2 } }"); }));
    CHECK(throws(INVIVO_E_ARGUMENT, "the constructor of 'Other' has no parameter 'pasword'", [&] {
        invivo::type<client>("Other").constructor<const std::string &>({"password"}).secret("pasword");
    }));
}

int main() {
    a_section_is_a_plain_struct();
    a_function_reads_a_section();
    errors_in_parts_have_their_locations();
    settings_are_read_as_their_type();
    a_manifest_names_a_type();
    secret_parts_of_a_section_are_not_shown();
    an_assembly_declares_secrets_while_it_is_active();
    a_secret_parameter_of_a_constructor_is_not_shown();
    return ended();
}
