// runtime.hpp: runtimes, change sets, views, observers.
#ifndef INVIVO_CPP_RUNTIME_HPP
#define INVIVO_CPP_RUNTIME_HPP

#include "wiring.hpp"

#include <chrono>

namespace invivo {

/// A key whose objects are Ts. Small; as good as long as its runtime is open.
template <typename T> struct key {
    invivo_key raw{};
    const char *name() const noexcept { return invivo_key_name(raw); }
};

/// A reading of one generation by the thread that began it: no lock, no wait.
class view {
public:
    explicit view(invivo_runtime runtime) noexcept : raw_(invivo_view_begin(runtime)) {}
    view(const view &) = delete;
    view &operator=(const view &) = delete;
    ~view() { invivo_view_end(raw_); }

    /// The built shared instance, borrowed until the view ends; nullptr while it is cold.
    template <typename T> T *get(key<T> key) const noexcept { return static_cast<T *>(invivo_view_get(raw_, key.raw)); }
    /// The key's block, likewise.
    template <typename T> const T *block(key<T> key) const noexcept {
        return static_cast<const T *>(invivo_view_block(raw_, key.raw));
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
    /// Ends it now; throws what stands in the way.
    void end() {
        invivo_override ended = std::exchange(raw_, invivo_override{});
        detail::checked([&](invivo_error **e) { return invivo_override_end(ended, e); });
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
    changes(const changes &) = delete;
    changes &operator=(const changes &) = delete;
    ~changes() {
        if (raw_.bits) invivo_changes_discard(raw_);
    }

    changes &define(definition &what) {
        what.give_to([&](const invivo_definition &raw) {
            detail::checked([&](invivo_error **e) { return invivo_changes_define(raw_, &raw, nullptr, e); });
        });
        return *this;
    }
    changes &define(definition &&what) { return define(what); }
    changes &remove(const char *key) {
        detail::checked([&](invivo_error **e) { return invivo_changes_remove(raw_, key, e); });
        return *this;
    }
    /// The base value of a tunable property.
    template <typename T> changes &set(const char *key, const char *property, const T &to) {
        detail::scratch room;
        invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_changes_set(raw_, key, property, &given, e); });
        return *this;
    }
    /// The text of a document in memory.
    changes &document(const char *name, std::string_view text) {
        detail::checked([&](invivo_error **e) { return invivo_changes_document(raw_, name, text.data(), text.size(), e); });
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
    invivo_changes raw_{};
};

/// A runtime that somebody else keeps open: what a module's entry point or a factory is handed.
class runtime_ref {
public:
    explicit runtime_ref(invivo_runtime raw) noexcept : raw_(raw) {}
    invivo_runtime raw() const noexcept { return raw_; }

    // ---- wiring

    /// Defines one key, as a reload.
    void define(definition &what) const { changes(raw_).define(what).commit(); }
    void define(definition &&what) const { define(what); }
    void activate(const invivo_assembly &assembly) const { changes(raw_).activate(assembly).commit(); }
    [[nodiscard]] override_guard override_with(definition &what) const {
        invivo_override made{};
        what.give_to([&](const invivo_definition &raw) {
            detail::checked([&](invivo_error **e) { return invivo_override_begin(raw_, &raw, &made, e); });
        });
        return override_guard(made);
    }
    [[nodiscard]] override_guard override_with(definition &&what) const { return override_with(what); }

    // ---- resolving

    template <typename T> key<T> key_of(const char *name) const {
        key<T> found;
        detail::checked([&](invivo_error **e) { return invivo_key_find(raw_, name, &found.raw, e); });
        return found;
    }
    template <typename T, typename... Arguments> ref<T> resolve(key<T> key, const Arguments &...arguments) const {
        invivo_object found{};
        if constexpr (sizeof...(Arguments) == 0) {
            detail::checked([&](invivo_error **e) { return invivo_resolve(raw_, key.raw, &found, e); });
        } else {
            detail::borrowed<Arguments...> given(arguments...);
            detail::checked([&](invivo_error **e) {
                return invivo_resolve_with(raw_, key.raw, given.data(), given.size(), &found, e);
            });
        }
        return ref<T>(object(found));
    }
    template <typename T, typename... Arguments> ref<T> resolve(const char *name, const Arguments &...arguments) const {
        return resolve(key_of<T>(name), arguments...);
    }
    /// What the one definition of the type makes.
    template <typename T> ref<T> resolve() const {
        invivo_object found{};
        std::string type = detail::name_of<T>();
        detail::checked([&](invivo_error **e) { return invivo_resolve_type(raw_, type.c_str(), nullptr, 0, &found, e); });
        return ref<T>(object(found));
    }
    /// The same, or an empty one where nothing makes one.
    template <typename T> ref<T> find() const {
        invivo_object found{};
        std::string type = detail::name_of<T>();
        detail::checked([&](invivo_error **e) {
            return invivo_resolve_type(raw_, type.c_str(), nullptr, INVIVO_LOOKUP_OPTIONAL, &found, e);
        });
        return ref<T>(object(found));
    }
    /// One object of each definition of the type, by rank, then as declared.
    template <typename T> std::vector<ref<T>> all() const {
        value found;
        std::string type = detail::name_of<T>();
        detail::checked([&](invivo_error **e) { return invivo_resolve_all(raw_, type.c_str(), 0, found.out(), e); });
        return found.as<std::vector<ref<T>>>();
    }

    // ---- tuning and following

    /// Follows a document for the life of the runtime.
    void watch(const char *path) const {
        detail::checked([&](invivo_error **e) { return invivo_watch(raw_, path, e); });
    }
    /// Calls `told(report)` after every reload.
    template <typename F> [[nodiscard]] observer observe(F told) const {
        auto kept = std::make_unique<F>(std::move(told));
        invivo_observer_options options{};
        options.struct_size = sizeof(options);
        options.user_data = kept.get();
        options.reloaded = [](void *data, const invivo_report *raw) {
            (void)detail::guarded(nullptr, [&] { (*static_cast<F *>(data))(report(raw)); });
        };
        options.destroy = [](void *data) { delete static_cast<F *>(data); };
        invivo_observer made{};
        detail::checked([&](invivo_error **e) { return invivo_observe(raw_, &options, &made, e); });
        (void)kept.release();
        return observer(made);
    }
    /// Runs what waits for the calling thread's domain; answers how much that was.
    unsigned poll(std::chrono::milliseconds wait = std::chrono::milliseconds(0)) const {
        uint32_t ran = 0;
        detail::checked([&](invivo_error **e) {
            return invivo_runtime_poll(raw_, static_cast<uint32_t>(wait.count()), &ran, e);
        });
        return ran;
    }
    /// The generation that holds.
    uint64_t generation() const {
        invivo_runtime_info info{};
        info.struct_size = sizeof(info);
        detail::checked([&](invivo_error **e) { return invivo_runtime_inspect(raw_, &info, e); });
        return info.generation;
    }

protected:
    invivo_runtime raw_{};
};

/// A runtime of one's own. Its end closes it; objects that are still held then live on until they are let go.
class runtime : public runtime_ref {
public:
    runtime() : runtime(nullptr) {}
    explicit runtime(const invivo_runtime_options &options) : runtime(&options) {}
    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;
    runtime(runtime &&other) noexcept : runtime_ref(std::exchange(other.raw_, invivo_runtime{})) {}
    ~runtime() {
        if (raw_.bits && invivo_runtime_close(raw_, nullptr) != INVIVO_OK) invivo_runtime_close_deferred(raw_, nullptr);
    }
    /// Closes it; throws what stands in the way (objects that are still held), and is then still open.
    void close() {
        detail::checked([&](invivo_error **e) { return invivo_runtime_close(raw_, e); });
        raw_ = invivo_runtime{};
    }

private:
    explicit runtime(const invivo_runtime_options *options) : runtime_ref(invivo_runtime{}) {
        detail::checked([&](invivo_error **e) { return invivo_runtime_open(&raw_, options, e); });
    }
};

} // namespace invivo

#endif
