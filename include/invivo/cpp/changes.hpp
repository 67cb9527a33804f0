// changes.hpp: views, reports and change sets.
#ifndef INVIVO_CPP_CHANGES_HPP
#define INVIVO_CPP_CHANGES_HPP

#include "assembly.hpp"
#include "config.hpp"
#include "pin.hpp"
#include "processor.hpp"
#include "rule.hpp"
#include "settings.hpp"
#include "source.hpp"
#include "trait.hpp"
#include "wiring.hpp"

namespace invivo {

/// A key whose objects or blocks are of type T. Small; valid while its runtime is open.
/// Reads through it are type-checked: with the type that the key had when it was found at once, with another type by a
/// lookup at each read.
template <typename T> struct key {
    invivo_key raw{};
    uint64_t object_type = 0;         ///< The type whose instances convert to T through `upcast`; 0 = look at each read.
    detail::upcast upcast = nullptr;
    uint64_t block_type = 0;          ///< The type whose block is a T; 0 = look at each read.
    const char *name() const noexcept { return invivo_key_name(raw); }

    /// Remembers the type of the key if it converts to T. Otherwise each read throws.
    INVIVO_LOCAL void bind(uint64_t type, bool has_block) {
        const char *found = invivo_type_name(invivo_type{type});
        if (!found) return;
        if (detail::leads_to<T>(found, upcast)) object_type = type;
        if (has_block && detail::is_block_of<T>(invivo_type{type}, found)) block_type = type;
    }
};

/// A read of one generation by the thread that began it. Takes no lock and never waits.
class view {
public:
    explicit view(invivo_runtime runtime) noexcept : raw_(invivo_view_begin(runtime)) {}
    view(const view &) = delete;
    view &operator=(const view &) = delete;
    ~view() { invivo_view_end(raw_); }

    /// Returns the built shared instance, borrowed until the view ends; nullptr if it is not built.
    /// Throws INVIVO_E_TYPE if it is not a T.
    template <typename T> INVIVO_LOCAL T *get(key<T> key) const {
        void *instance = invivo_view_get(raw_, key.raw);
        if (!instance) return nullptr;
        if constexpr (!std::is_void_v<T>) {
            // The order matters: the type is stored before the instance.
            uint64_t type = invivo_entry_type(invivo_view_entry(raw_, key.raw));
            detail::upcast up = type == key.object_type ? key.upcast : detail::upcast_from<T>(invivo_type{type});
            if (up) instance = up(instance);
        }
        return static_cast<T *>(instance);
    }
    /// Returns the block of a key, borrowed until the view ends; nullptr if it has none. Throws INVIVO_E_TYPE if it is
    /// not a T.
    template <typename T> INVIVO_LOCAL const T *block(key<T> key) const {
        const invivo_entry *entry = invivo_view_entry(raw_, key.raw);
        if (!entry || !entry->block) return nullptr;
        if constexpr (!std::is_void_v<T>)
            if (entry->type != key.block_type) detail::check_block<T>(invivo_type{entry->type});
        return static_cast<const T *>(entry->block);
    }
    /// Returns the configuration value, borrowed until the view ends; nullptr if there is none.
    template <typename T> INVIVO_LOCAL const invivo_value *config(config_id<T> id) const noexcept { return invivo_view_config(raw_, id.raw()); }
    /// Returns the configuration value as a T; `otherwise` if there is none. A std::string_view is borrowed until the
    /// view ends.
    template <typename T> INVIVO_LOCAL T config(config_id<T> id, T otherwise) const {
        const invivo_value *found = config(id);
        return found ? detail::convert<T>::read(*found) : otherwise;
    }
    /// Returns the typed settings of this generation, borrowed until the view ends; nullptr if it has none.
    template <typename T> INVIVO_LOCAL const T *settings(settings_id<T> id) const noexcept {
        return static_cast<const T *>(invivo_view_settings(raw_, id.raw()));
    }
    uint64_t generation() const noexcept { return invivo_view_generation(raw_); }
    invivo_view raw() const noexcept { return raw_; }

private:
    invivo_view raw_;
};

/// A report about one reload. Valid during the call of the observer.
class report {
public:
    /// A location. `file` is "" if it is unknown; `line` and `column` count from 1, and are 0 if they are unknown.
    struct source_location {
        const char *file;
        uint32_t line, column;
    };
    explicit report(const invivo_report *raw) noexcept : raw_(raw) {}
    uint64_t generation() const noexcept { return invivo_report_generation(raw_); }
    bool succeeded() const noexcept { return invivo_report_status(raw_) == INVIVO_OK; }
    const char *cause() const noexcept { return invivo_report_cause(raw_); }
    /// The parts of the cause: their kinds (INVIVO_CAUSE_...) and the names in them.
    size_t cause_count() const noexcept { return invivo_report_cause_count(raw_); }
    uint32_t cause_kind(size_t index) const noexcept { return invivo_report_cause_kind(raw_, index); }
    const char *cause_name(size_t index) const noexcept { return invivo_report_cause_name(raw_, index); }
    const char *text() const noexcept { return invivo_report_text(raw_); }
    /// The warnings: "a.yaml:2:10: 'audio.volum' is not read by anything; did you mean 'audio.volume'?"
    size_t warning_count() const noexcept { return invivo_report_warning_count(raw_); }
    const char *warning(size_t index) const noexcept { return invivo_report_warning(raw_, index); }
    /// The kind of a warning (INVIVO_WARNING_...), and its location.
    uint32_t warning_kind(size_t index) const noexcept { return invivo_report_warning_kind(raw_, index); }
    source_location warning_location(size_t index) const noexcept {
        return {invivo_report_warning_file(raw_, index), invivo_report_warning_line(raw_, index), invivo_report_warning_column(raw_, index)};
    }
    size_t count() const noexcept { return invivo_report_count(raw_); }
    const char *key(size_t index) const noexcept { return invivo_report_key(raw_, index); }
    uint32_t change(size_t index) const noexcept { return invivo_report_change(raw_, index); }
    const char *property(size_t index) const noexcept { return invivo_report_property(raw_, index); }
    /// Where the new value or definition is written: "tuning.yaml:3:12"; "" if there is none, or if a call gave it without a
    /// location.
    const char *location(size_t index) const noexcept { return invivo_report_location(raw_, index); }
    /// The origin of the new value or definition (INVIVO_ORIGIN_...), the name of its layer, and its location.
    uint32_t origin(size_t index) const noexcept { return invivo_report_origin(raw_, index); }
    const char *layer(size_t index) const noexcept { return invivo_report_layer(raw_, index); }
    source_location location_of(size_t index) const noexcept {
        return {invivo_report_file(raw_, index), invivo_report_line(raw_, index), invivo_report_column(raw_, index)};
    }
    /// The number of changes that a kept report (`runtime::each_report`) does not contain.
    uint64_t omitted() const noexcept { return invivo_report_omitted(raw_); }
    const invivo_report *raw() const noexcept { return raw_; }

private:
    const invivo_report *raw_;
};

/// One phase of a reload, or the end of a former generation. Valid during the call of the observer.
class progress {
public:
    explicit progress(const invivo_progress *raw) noexcept : raw_(raw) {}
    /// INVIVO_PROGRESS_...
    uint32_t phase() const noexcept { return raw_->phase; }
    /// The number of the reload, the same in all its phases; 0 for INVIVO_PROGRESS_RETIRED.
    uint64_t reload() const noexcept { return raw_->reload; }
    /// The current generation; for INVIVO_PROGRESS_RETIRED the one that has ended.
    uint64_t generation() const noexcept { return raw_->generation; }
    const char *cause() const noexcept { return raw_->cause; }
    /// Returns why the reload was refused; nothing for other phases.
    std::optional<error> failed() const {
        return raw_->error ? std::optional<error>(detail::copy_of(raw_->error)) : std::nullopt;
    }
    const invivo_progress *raw() const noexcept { return raw_; }

private:
    const invivo_progress *raw_;
};

/// An observer of reloads. The destructor removes it.
class observer {
public:
    observer() noexcept = default;
    explicit observer(invivo_observer owned) noexcept : raw_(owned) {}
    observer(observer &&other) noexcept : raw_(std::exchange(other.raw_, invivo_observer{})) {}
    observer &operator=(observer &&other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~observer() {
        if (raw_.bits) invivo_observer_close(raw_, nullptr);
    }
    /// Returns the generation that was current when it was added: it is notified of the commits of later ones.
    uint64_t generation() const {
        uint64_t found = 0;
        detail::checked([&](invivo_error **e) { return invivo_observer_generation(raw_, &found, e); });
        return found;
    }

private:
    invivo_observer raw_{};
};

/// An override of a key. The destructor ends it.
class override_guard {
public:
    explicit override_guard(invivo_override owned) noexcept : raw_(owned) {}
    override_guard(override_guard &&other) noexcept : raw_(std::exchange(other.raw_, invivo_override{})) {}
    override_guard &operator=(override_guard &&) = delete;
    /// Ends the override now. Throws on failure; the override is then still active, and can be ended again.
    void end() {
        detail::checked([&](invivo_error **e) { return invivo_override_end(raw_, e); });
        raw_ = {};
    }
    ~override_guard() {
        if (raw_.bits) invivo_override_end(raw_, nullptr);
    }

private:
    invivo_override raw_{};
};

/// A change set: takes effect as one reload or not at all. The destructor discards a set that was not committed.
class changes {
public:
    explicit changes(invivo_runtime runtime) {
        detail::checked([&](invivo_error **e) { return invivo_changes_open(runtime, &raw_, e); });
    }
    /// Refers to a change set that other code commits or discards.
    static changes lent(invivo_changes raw) noexcept { return changes(raw, false); }
    changes(const changes &) = delete;
    changes &operator=(const changes &) = delete;
    ~changes() {
        if (is_own_ && raw_.bits) invivo_changes_discard(raw_);
    }

    changes &define(definition &what) {
        what.give_to([&](const invivo_definition &raw) {
            detail::checked([&](invivo_error **e) { return invivo_changes_define(raw_, &raw, nullptr, e); });
        });
        return *this;
    }
    changes &define(definition &&what) { return define(what); }
    changes &remove(c_text key) {
        detail::checked([&](invivo_error **e) { return invivo_changes_remove(raw_, key, e); });
        return *this;
    }
    /// Sets the base value of a tunable property.
    template <typename T> INVIVO_LOCAL changes &set(c_text key, c_text property, const T &to) {
        detail::scratch room;
        invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_changes_set(raw_, key, property, &given, e); });
        return *this;
    }
    /// Adds or replaces a document in memory.
    changes &document(c_text name, std::string_view text) {
        detail::checked([&](invivo_error **e) { return invivo_changes_document(raw_, name, text.data(), text.size(), e); });
        return *this;
    }
    /// Follows a file from the commit on, until the runtime closes. Its content is part of the same reload.
    /// With INVIVO_SOURCE_WAIT, a missing or invalid file does not prevent the commit.
    changes &watch(const std::string &path, uint32_t flags = 0) {
        open(path, flags, nullptr);
        return *this;
    }
    /// Follows a file from the commit on, until the source ends. A source that ends before the commit makes the commit
    /// fail.
    [[nodiscard]] source follow(const std::string &path, uint32_t flags = 0) {
        invivo_source opened{};
        open(path, flags, &opened);
        return source(opened);
    }
    /// Adds a runtime setting, which overrides all documents (nullptr removes the value). `unconfigure` removes the
    /// setting.
    template <typename T> INVIVO_LOCAL changes &configure(c_text path, const T &to) {
        detail::scratch room;
        invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_changes_configure(raw_, path, &given, e); });
        return *this;
    }
    changes &unconfigure(c_text path) {
        detail::checked([&](invivo_error **e) { return invivo_changes_configure(raw_, path, nullptr, e); });
        return *this;
    }
    /// Declares a configuration path as secret, with everything below it: errors, warnings, reports and logs show its values as
    /// `<secret>`. See config.h.
    changes &add_secret(c_text path) {
        detail::checked([&](invivo_error **e) { return invivo_changes_add_secret(raw_, path, e); });
        return *this;
    }
    changes &remove_secret(c_text path) {
        detail::checked([&](invivo_error **e) { return invivo_changes_remove_secret(raw_, path, e); });
        return *this;
    }
    changes &process(const processor &what) {
        what.give_to([&](const invivo_processor &raw) {
            detail::checked([&](invivo_error **e) { return invivo_changes_process(raw_, &raw, e); });
        });
        return *this;
    }
    changes &unprocess(c_text name) {
        detail::checked([&](invivo_error **e) { return invivo_changes_unprocess(raw_, name, e); });
        return *this;
    }
    /// Adds a rule over configuration paths and properties ("synth.lead.gain"), or replaces the one with the same name.
    /// `function` gets the values as `const rule_values &`. It refuses them by throwing (`refused`, or any other exception),
    /// or by returning false. See rule.h.
    template <typename F> INVIVO_LOCAL changes &add_rule(c_text name, const std::vector<std::string> &inputs, F function) {
        detail::add_rule(raw_, name, inputs, detail::rule_of(std::move(function)));
        return *this;
    }
    changes &remove_rule(c_text name) {
        detail::checked([&](invivo_error **e) { return invivo_changes_remove_rule(raw_, name, e); });
        return *this;
    }
    /// Adds a trait type, or replaces the one with the same name. See trait.hpp.
    template <typename Fields> INVIVO_LOCAL changes &add_trait(const trait<Fields> &what) {
        what.add(raw_);
        return *this;
    }
    changes &remove_trait(c_text name) {
        detail::checked([&](invivo_error **e) { return invivo_changes_remove_trait(raw_, name, e); });
        return *this;
    }
    /// Binds a section of the configuration to a plain struct T, which a table of INVIVO_FIELD describes. `check` gets each new value,
    /// and refuses it by throwing (`refused` with the index of a field, or any other exception). See settings.h.
    template <typename T, size_t Count> INVIVO_LOCAL
    changes &bind_settings(c_text name, c_text path, const invivo_property (&fields)[Count], std::function<void(const T &)> check = {}) {
        detail::bind_settings<T>(raw_, name, path, fields, Count, std::move(check));
        return *this;
    }
    /// Binds a section to the values that `read` returns, a function of a `const section &`. It runs on a thread of the runtime, and must
    /// not wait. The path of an `invivo::error` that it throws names the entry at fault.
    /// `secrets` are the paths in the section that are secret while it is bound.
    template <typename F> INVIVO_LOCAL
    changes &bind_settings(c_text name, c_text path, F read, const std::vector<const char *> &secrets = {}) {
        detail::bind_settings(raw_, name, path, std::move(read), secrets);
        return *this;
    }
    changes &unbind_settings(c_text name) {
        detail::checked([&](invivo_error **e) { return invivo_changes_unbind_settings(raw_, name, e); });
        return *this;
    }
    /// Drops the shared instances of a key. INVIVO_RESET_DEPENDENCIES: also their dependencies. `reset_scope` drops
    /// those of a scope.
    changes &reset(c_text key, uint32_t flags = 0) {
        detail::checked([&](invivo_error **e) { return invivo_changes_reset(raw_, key, flags, e); });
        return *this;
    }
    changes &reset_scope(uint32_t scope) {
        detail::checked([&](invivo_error **e) { return invivo_changes_reset_scope(raw_, scope, e); });
        return *this;
    }
    /// Makes the set depend on a generation. If another one is current when its reload begins, the set is refused with
    /// INVIVO_E_STALE.
    changes &expect(uint64_t generation) {
        detail::checked([&](invivo_error **e) { return invivo_changes_expect(raw_, generation, e); });
        return *this;
    }
    /// Makes the set roll back to a kept generation. It changes nothing else then. See history.h.
    changes &rollback(uint64_t generation) {
        detail::checked([&](invivo_error **e) { return invivo_changes_rollback(raw_, generation, e); });
        return *this;
    }
    /// Activates an assembly that has been described to the runtime (`runtime.describe`), or mounts it under a prefix.
    changes &activate(const assembly &described) { return activate(described.described()); }
    changes &mount(const assembly &described, c_text prefix, const remaps &to = {}) {
        invivo_assembly raw = described.described();
        std::vector<invivo_remap> pairs = detail::raw_remaps(to);
        detail::checked([&](invivo_error **e) {
            return invivo_changes_mount(raw_, &raw, prefix, pairs.data(), pairs.size(), e);
        });
        return *this;
    }
    changes &deactivate(c_text name) {
        detail::checked([&](invivo_error **e) { return invivo_changes_deactivate(raw_, name, e); });
        return *this;
    }
    changes &activate(const invivo_assembly &assembly) {
        detail::checked([&](invivo_error **e) { return invivo_changes_activate(raw_, &assembly, nullptr, e); });
        return *this;
    }
    /// Throws all errors that a commit would find. Creates no object.
    void check() const {
        detail::checked([&](invivo_error **e) { return invivo_changes_check(raw_, e); });
    }
    void commit() {
        invivo_changes ended = std::exchange(raw_, invivo_changes{});
        detail::checked([&](invivo_error **e) { return invivo_changes_commit(ended, e); });
    }
    void submit() {
        invivo_changes ended = std::exchange(raw_, invivo_changes{});
        detail::checked([&](invivo_error **e) { return invivo_changes_submit(ended, e); });
    }
    invivo_changes raw() const noexcept { return raw_; }

private:
    changes(invivo_changes raw, bool is_own) noexcept : raw_(raw), is_own_(is_own) {}
    void open(const std::string &path, uint32_t flags, invivo_source *out) {
        invivo_source_options options{};
        options.struct_size = sizeof(options), options.path = path.c_str(), options.flags = flags;
        detail::checked([&](invivo_error **e) { return invivo_changes_watch(raw_, &options, out, e); });
    }

    invivo_changes raw_{};
    bool is_own_ = true;
};

} // namespace invivo

#endif
