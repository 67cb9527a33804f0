// changes.hpp: views, reports, and what one reload is to change.
#ifndef INVIVO_CPP_CHANGES_HPP
#define INVIVO_CPP_CHANGES_HPP

#include "assembly.hpp"
#include "config.hpp"
#include "processor.hpp"
#include "source.hpp"
#include "wiring.hpp"

namespace invivo {

/// A key whose objects, or blocks, are Ts. Small; as good as long as its runtime is open. What is read by it is checked: of the
/// type that the key had when it was found at once, of another type by a lookup at each reading.
template <typename T> struct key {
    invivo_key raw{};
    uint64_t object_type = 0;         ///< The type whose instances lead to a T, by `upcast`; 0 = look at each reading.
    detail::upcast upcast = nullptr;
    uint64_t block_type = 0;          ///< The type whose block is a T; 0 = look at each reading.
    const char *name() const noexcept { return invivo_key_name(raw); }

    /// Remembers the type that the key has, as far as that leads to a T. What it does not lead to is an error of the reading.
    INVIVO_LOCAL void bind(uint64_t type, bool has_block) {
        const char *found = invivo_type_name(invivo_type{type});
        if (!found) return;
        if (detail::leads_to<T>(found, upcast)) object_type = type;
        if (has_block && detail::is_block_of<T>(invivo_type{type}, found)) block_type = type;
    }
};

/// A reading of one generation by the thread that began it: no lock, no wait.
class view {
public:
    explicit view(invivo_runtime runtime) noexcept : raw_(invivo_view_begin(runtime)) {}
    view(const view &) = delete;
    view &operator=(const view &) = delete;
    ~view() { invivo_view_end(raw_); }

    /// The built shared instance, borrowed until the view ends; nullptr while it is cold. Throws INVIVO_E_TYPE where it is no T.
    template <typename T> INVIVO_LOCAL T *get(key<T> key) const {
        void *instance = invivo_view_get(raw_, key.raw);
        if (!instance) return nullptr;
        if constexpr (!std::is_void_v<T>) {
            // In this order: the type stands there before the instance does.
            uint64_t type = invivo_entry_type(invivo_view_entry(raw_, key.raw));
            detail::upcast up = type == key.object_type ? key.upcast : detail::upcast_from<T>(invivo_type{type});
            if (up) instance = up(instance);
        }
        return static_cast<T *>(instance);
    }
    /// The key's block, likewise.
    template <typename T> INVIVO_LOCAL const T *block(key<T> key) const {
        const invivo_entry *entry = invivo_view_entry(raw_, key.raw);
        if (!entry || !entry->block) return nullptr;
        if constexpr (!std::is_void_v<T>)
            if (entry->type != key.block_type) detail::check_block<T>(invivo_type{entry->type});
        return static_cast<const T *>(entry->block);
    }
    /// What the configuration says, borrowed until the view ends; nullptr where there is nothing.
    template <typename T> INVIVO_LOCAL const invivo_value *config(config_id<T> id) const noexcept { return invivo_view_config(raw_, id.raw()); }
    /// The same as a T; `otherwise` where there is nothing. A std::string_view is borrowed until the view ends.
    template <typename T> INVIVO_LOCAL T config(config_id<T> id, T otherwise) const {
        const invivo_value *found = config(id);
        return found ? detail::convert<T>::read(*found) : otherwise;
    }
    uint64_t generation() const noexcept { return invivo_view_generation(raw_); }
    invivo_view raw() const noexcept { return raw_; }

private:
    invivo_view raw_;
};

/// What one reload changed. Valid while an observer is told of it.
class report {
public:
    explicit report(const invivo_report *raw) noexcept : raw_(raw) {}
    uint64_t generation() const noexcept { return invivo_report_generation(raw_); }
    bool succeeded() const noexcept { return invivo_report_status(raw_) == INVIVO_OK; }
    const char *cause() const noexcept { return invivo_report_cause(raw_); }
    const char *text() const noexcept { return invivo_report_text(raw_); }
    /// "a.yaml:2:10: 'audio.volum' is not read by anything; did you mean 'audio.volume'?"
    size_t warning_count() const noexcept { return invivo_report_warning_count(raw_); }
    const char *warning(size_t index) const noexcept { return invivo_report_warning(raw_, index); }
    size_t count() const noexcept { return invivo_report_count(raw_); }
    const char *key(size_t index) const noexcept { return invivo_report_key(raw_, index); }
    uint32_t change(size_t index) const noexcept { return invivo_report_change(raw_, index); }
    const invivo_report *raw() const noexcept { return raw_; }

private:
    const invivo_report *raw_;
};

/// Hears of reloads until it ends.
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

private:
    invivo_observer raw_{};
};

/// Another recipe or object in a key's place, until it is ended.
class override_guard {
public:
    explicit override_guard(invivo_override owned) noexcept : raw_(owned) {}
    override_guard(override_guard &&other) noexcept : raw_(std::exchange(other.raw_, invivo_override{})) {}
    override_guard &operator=(override_guard &&) = delete;
    /// Ends it now; throws what stands in the way: the override then stays, and can be ended again.
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

/// What one reload is to change. Dropped without a commit it changes nothing.
class changes {
public:
    explicit changes(invivo_runtime runtime) {
        detail::checked([&](invivo_error **e) { return invivo_changes_open(runtime, &raw_, e); });
    }
    /// One that somebody else commits or discards.
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
    /// The base value of a tunable property.
    template <typename T> INVIVO_LOCAL changes &set(c_text key, c_text property, const T &to) {
        detail::scratch room;
        invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_changes_set(raw_, key, property, &given, e); });
        return *this;
    }
    /// The text of a document in memory.
    changes &document(c_text name, std::string_view text) {
        detail::checked([&](invivo_error **e) { return invivo_changes_document(raw_, name, text.data(), text.size(), e); });
        return *this;
    }
    /// Follows a file for the life of the runtime, from the commit on. Its content is part of the same reload.
    /// INVIVO_SOURCE_WAIT: the set is committed without it where it is not there or not good yet.
    changes &watch(const std::string &path, uint32_t flags = 0) {
        open(path, flags, nullptr);
        return *this;
    }
    /// The same until the source ends. A source that ends before the commit is an error of the commit.
    [[nodiscard]] source follow(const std::string &path, uint32_t flags = 0) {
        invivo_source opened{};
        open(path, flags, &opened);
        return source(opened);
    }
    /// Says what the configuration is at a whole path, over what documents say (nullptr removes it); takes that back.
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
    /// Lets go of a key's shared instances (INVIVO_RESET_DEPENDENCIES: of what they got too); of those of a scope.
    changes &reset(c_text key, uint32_t flags = 0) {
        detail::checked([&](invivo_error **e) { return invivo_changes_reset(raw_, key, flags, e); });
        return *this;
    }
    changes &reset_scope(uint32_t scope) {
        detail::checked([&](invivo_error **e) { return invivo_changes_reset_scope(raw_, scope, e); });
        return *this;
    }
    /// An assembly that its runtime knows (`runtime.describe`), under its name or a prefix.
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
    /// Throws all that would be wrong; makes nothing.
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
