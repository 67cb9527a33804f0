// runtime.hpp: runtimes, change sets, views, observers.
#ifndef INVIVO_CPP_RUNTIME_HPP
#define INVIVO_CPP_RUNTIME_HPP

#include "assembly.hpp"
#include "config.hpp"
#include "graph.hpp"
#include "pool.hpp"
#include "processor.hpp"
#include "scope.hpp"
#include "wiring.hpp"

#include <chrono>
#include <future>

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
    /// What the configuration says, borrowed until the view ends; nullptr where there is nothing.
    template <typename T> const invivo_value *config(config_id<T> id) const noexcept { return invivo_view_config(raw_, id.raw()); }
    /// The same as a T; `otherwise` where there is nothing. A std::string_view is borrowed until the view ends.
    template <typename T> T config(config_id<T> id, T otherwise) const {
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
    /// Says what the configuration is at a whole path, over what documents say (nullptr removes it); takes that back.
    template <typename T> changes &configure(const char *path, const T &to) {
        detail::scratch room;
        invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_changes_configure(raw_, path, &given, e); });
        return *this;
    }
    changes &unconfigure(const char *path) {
        detail::checked([&](invivo_error **e) { return invivo_changes_configure(raw_, path, nullptr, e); });
        return *this;
    }
    changes &process(const processor &what) {
        what.give_to([&](const invivo_processor &raw) {
            detail::checked([&](invivo_error **e) { return invivo_changes_process(raw_, &raw, e); });
        });
        return *this;
    }
    changes &unprocess(const char *name) {
        detail::checked([&](invivo_error **e) { return invivo_changes_unprocess(raw_, name, e); });
        return *this;
    }
    /// Lets go of a key's shared instances (INVIVO_RESET_DEPENDENCIES: of what they got too); of those of a scope.
    changes &reset(const char *key, uint32_t flags = 0) {
        detail::checked([&](invivo_error **e) { return invivo_changes_reset(raw_, key, flags, e); });
        return *this;
    }
    changes &reset_scope(uint32_t scope) {
        detail::checked([&](invivo_error **e) { return invivo_changes_reset_scope(raw_, scope, e); });
        return *this;
    }
    /// An assembly that its runtime knows (`runtime.describe`), under its name or a prefix.
    changes &activate(const assembly &described) { return activate(described.described()); }
    changes &mount(const assembly &described, const char *prefix, const remaps &to = {}) {
        invivo_assembly raw = described.described();
        std::vector<invivo_remap> pairs = detail::raw_remaps(to);
        detail::checked([&](invivo_error **e) {
            return invivo_changes_mount(raw_, &raw, prefix, pairs.data(), pairs.size(), e);
        });
        return *this;
    }
    changes &deactivate(const char *name) {
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
    invivo_changes raw_{};
};

/// A runtime that somebody else keeps open: what a module's entry point or a factory is handed.
class runtime_ref {
public:
    explicit runtime_ref(invivo_runtime raw) noexcept : raw_(raw) {}
    invivo_runtime raw() const noexcept { return raw_; }
    /// It goes wherever its handle does: `type<voice>("Voice").add(synth)`.
    operator invivo_runtime() const noexcept { return raw_; }

    // ---- wiring

    /// Defines one key, as a reload.
    void define(definition &what) const { changes(raw_).define(what).commit(); }
    void define(definition &&what) const { define(what); }
    void activate(const invivo_assembly &assembly) const { changes(raw_).activate(assembly).commit(); }
    /// Makes an assembly known: until it is activated, resolving its keys says so.
    void describe(const assembly &what) const { what.describe_to(raw_); }
    /// Activates assemblies, with the collaborators that they need, as one reload. The same again is nothing.
    template <typename... More> void activate(const assembly &first, const More &...more) const {
        (describe(first), ..., describe(more));
        const invivo_assembly raw[] = {first.described(), more.described()...};
        const invivo_assembly *pointers[1 + sizeof...(More)];
        for (size_t i = 0; i <= sizeof...(More); i++) pointers[i] = &raw[i];
        detail::checked([&](invivo_error **e) { return invivo_activate(raw_, pointers, 1 + sizeof...(More), nullptr, e); });
    }
    /// Activates it under a prefix of its own, beside others of it.
    void mount(const assembly &what, const char *prefix, const remaps &to = {}) const {
        describe(what);
        changes(raw_).mount(what, prefix, to).commit();
    }
    void deactivate(const char *name) const { changes(raw_).deactivate(name).commit(); }
    void process(const processor &what) const { changes(raw_).process(what).commit(); }
    void unprocess(const char *name) const { changes(raw_).unprocess(name).commit(); }
    void reset(const char *key, uint32_t flags = 0) const { changes(raw_).reset(key, flags).commit(); }
    /// A scope of the program's own: `find` says where the calling code is, 0 = nowhere.
    void scope(const std::string &name, std::function<uint64_t()> find, scope_listener keep = {}, scope_listener drop = {}) const {
        detail::scope_register(raw_, name, {std::move(find), std::move(keep), std::move(drop)});
    }
    /// Ends a place of a scope: what was made there is let go, last made first.
    void end_scope(const char *name, uint64_t place) const {
        detail::checked([&](invivo_error **e) { return invivo_scope_end(raw_, name, place, e); });
    }
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
    /// What a key resolves to, or an empty one where it has no definition, lies dormant or makes nothing.
    template <typename T, typename... Arguments> ref<T> find(key<T> key, const Arguments &...arguments) const {
        invivo_object found{};
        detail::borrowed<Arguments...> given(arguments...);
        detail::checked([&](invivo_error **e) {
            return invivo_resolve_optional(raw_, key.raw, given.data(), given.size(), &found, e);
        });
        return ref<T>(object(found));
    }
    /// What the definition of the type makes that has this name, "lead" or "synth.lead"; INVIVO_LOOKUP_EXACT, _OPTIONAL.
    template <typename T> ref<T> resolve_named(const char *name, uint32_t flags = 0) const {
        invivo_object found{};
        std::string type = detail::name_of<T>();
        detail::checked([&](invivo_error **e) { return invivo_resolve_type(raw_, type.c_str(), name, flags, &found, e); });
        return ref<T>(object(found));
    }
    /// One object of each definition of the type, by rank, then as declared.
    template <typename T> std::vector<ref<T>> all() const {
        value found;
        std::string type = detail::name_of<T>();
        detail::checked([&](invivo_error **e) { return invivo_resolve_all(raw_, type.c_str(), 0, found.out(), e); });
        return found.as<std::vector<ref<T>>>();
    }

    /// The built shared object, or an empty ref; never builds, never waits.
    template <typename T> ref<T> peek(key<T> key) const {
        invivo_object found{};
        invivo_status status = invivo_peek(raw_, key.raw, &found);
        if (status == INVIVO_E_COLD) return {};
        detail::checked(status);
        return ref<T>(object(found));
    }
    /// Resolves where the object belongs, and calls `done(ref<T>, const error *)` there, or as a job of the domain `deliver`:
    /// once, with an empty ref where it failed. What is built already may be handed over before this returns.
    template <typename T, typename F> void resolve_async(key<T> key, F done, invivo_domain deliver = {}) const {
        async(key, std::move(done), deliver);
    }
    /// The same with runtime arguments.
    template <typename T, typename F, typename... Arguments>
    void resolve_async_with(key<T> key, F done, const Arguments &...arguments) const {
        async(key, std::move(done), {}, arguments...);
    }
    /// As a future. Do not wait for it on a thread whose jobs make the object.
    template <typename T, typename... Arguments> std::future<ref<T>> resolved(key<T> key, const Arguments &...arguments) const {
        auto promise = std::make_shared<std::promise<ref<T>>>();
        std::future<ref<T>> later = promise->get_future();
        async(
            key,
            [promise](ref<T> found, const error *failed) {
                if (failed) promise->set_exception(std::make_exception_ptr(*failed));
                else promise->set_value(std::move(found));
            },
            {}, arguments...);
        return later;
    }
    /// Injects into an object made elsewhere, as the key's definition says, or (nullptr) that of its type, or what its type
    /// needs. INVIVO_INTO_SHARED: it becomes the key's shared object.
    void inject(const object &thing, const char *key = nullptr, uint32_t flags = 0) const {
        invivo_key raw{};
        if (key) detail::checked([&](invivo_error **e) { return invivo_key_find(raw_, key, &raw, e); });
        detail::checked([&](invivo_error **e) { return invivo_inject_with(thing.raw(), raw, flags, e); });
    }
    /// Injects into an object and all that its types say are its children, by the keys that they name or by their types.
    void inject_tree(const object &root, const char *key = nullptr, uint32_t flags = 0) const {
        invivo_tree tree{};
        tree.struct_size = sizeof(tree), tree.key = key, tree.flags = flags;
        detail::checked([&](invivo_error **e) { return invivo_inject_tree(root.raw(), &tree, e); });
    }
    /// Starts a shared instance again, or stops it; it stays where it is.
    void start(const char *key) const {
        invivo_key raw = key_of<void>(key).raw;
        detail::checked([&](invivo_error **e) { return invivo_start(raw_, raw, e); });
    }
    void stop(const char *key) const {
        invivo_key raw = key_of<void>(key).raw;
        detail::checked([&](invivo_error **e) { return invivo_stop(raw_, raw, e); });
    }

    // ---- pools

    template <typename T> invivo::pool<T> pool(const std::string &name = {}) const { return invivo::pool<T>::open(raw_, name); }
    template <typename T, typename F> invivo::pool<T> pool(const std::string &name, F make) const {
        return invivo::pool<T>::open(raw_, name, std::move(make));
    }
    template <typename T> invivo::pool<T> find_pool(const std::string &name) const { return invivo::pool<T>::find(raw_, name); }

    // ---- configuration

    /// What holds now at a whole path, as a T.
    template <typename T> T config(const std::string &path) const { return detail::config_read(raw_, path).as<T>(); }
    /// The same, or `otherwise` where there is nothing.
    template <typename T> T config(const std::string &path, T otherwise) const {
        try {
            return config<T>(path);
        } catch (const error &failed) {
            if (failed.code() != INVIVO_E_NOT_CONFIGURED) throw;
            return otherwise;
        }
    }
    /// For reading in views, at the price of a shared object.
    template <typename T> invivo::config_id<T> config_id(const std::string &path) const { return {raw_, path}; }
    template <typename T> void configure(const char *path, const T &to) const { changes(raw_).configure(path, to).commit(); }
    void unconfigure(const char *path) const { changes(raw_).unconfigure(path).commit(); }
    /// Calls `told(value, generation)` after each reload that changed what is at the path or below it; the value is null
    /// where nothing is.
    template <typename F> [[nodiscard]] observer observe_config(const std::string &path, F told) const {
        return observer(detail::config_observe(raw_, path, std::move(told)));
    }
    /// Registers what reads texts: a function of a std::string_view.
    template <typename F> void converter(const std::string &name, F read) const {
        detail::converter_register(raw_, name, std::move(read));
    }
    template <typename T> T convert(const std::string &converter, std::string_view text) const {
        return detail::convert_text(raw_, converter, text).template as<T>();
    }

    // ---- the wiring as it stands

    /// One node for each key, by key.
    std::vector<wiring_node> wiring() const { return detail::graph_nodes(raw_); }
    /// INVIVO_GRAPH_JSON, _DOT, _MERMAID, _KEYS_C, ...
    std::string wiring_text(uint32_t format) const { return detail::graph_describe(raw_, format).as<std::string>(); }
    std::vector<object_state> states() const { return detail::object_states(raw_); }

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

private:
    template <typename T, typename F, typename... Arguments>
    void async(key<T> key, F done, invivo_domain deliver, const Arguments &...arguments) const {
        auto kept = std::make_unique<F>(std::move(done));
        detail::borrowed<Arguments...> given(arguments...);
        detail::checked([&](invivo_error **e) {
            return invivo_resolve_async(raw_, key.raw, given.data(), given.size(), finished<T, F>, kept.get(), deliver, e);
        });
        (void)kept.release();
    }
    template <typename T, typename F> static void finished(void *data, invivo_object found, const invivo_error *failed) noexcept {
        std::unique_ptr<F> done(static_cast<F *>(data));
        (void)detail::guarded(nullptr, [&] {
            ref<T> typed;
            std::optional<error> wrong;
            try {
                object held(found);
                if (failed) wrong = detail::copy_of(failed);
                else typed = ref<T>(std::move(held));
            } catch (const error &unfit) {
                wrong = unfit;
            }
            (*done)(std::move(typed), wrong ? &*wrong : nullptr);
        });
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
