// runtime.hpp: runtimes.
#ifndef INVIVO_CPP_RUNTIME_HPP
#define INVIVO_CPP_RUNTIME_HPP

#include "changes.hpp"
#include "context.hpp"
#include "domain.hpp"
#include "graph.hpp"
#include "module.hpp"
#include "pool.hpp"
#include "scope.hpp"
#include "source.hpp"

#include <chrono>
#include <future>

namespace invivo {

/// A runtime that other code keeps open, such as the argument of a module entry or factory.
class runtime_ref {
public:
    explicit runtime_ref(invivo_runtime raw) noexcept : raw_(raw) {}
    invivo_runtime raw() const noexcept { return raw_; }
    /// Converts to the C handle: `type<voice>("Voice").add(synth)`.
    operator invivo_runtime() const noexcept { return raw_; }

    // ---- wiring

    /// Defines one key, as a reload.
    void define(definition &what) const { changes(raw_).define(what).commit(); }
    void define(definition &&what) const { define(what); }
    void activate(const invivo_assembly &assembly) const { changes(raw_).activate(assembly).commit(); }
    /// Describes an assembly. Until it is activated, resolving one of its keys throws an error that names it.
    void describe(const assembly &what) const { what.describe_to(raw_); }
    /// Activates assemblies with their collaborators, as one reload. Activating the same assembly again is a no-op.
    template <typename... More> INVIVO_LOCAL void activate(const assembly &first, const More &...more) const {
        (describe(first), ..., describe(more));
        const invivo_assembly raw[] = {first.described(), more.described()...};
        const invivo_assembly *pointers[1 + sizeof...(More)];
        for (size_t i = 0; i <= sizeof...(More); i++) pointers[i] = &raw[i];
        detail::checked([&](invivo_error **e) { return invivo_activate(raw_, pointers, 1 + sizeof...(More), nullptr, e); });
    }
    /// Mounts an assembly under its own prefix, beside other mounts of it.
    void mount(const assembly &what, c_text prefix, const remaps &to = {}) const {
        describe(what);
        changes(raw_).mount(what, prefix, to).commit();
    }
    void deactivate(c_text name) const { changes(raw_).deactivate(name).commit(); }
    void process(const processor &what) const { changes(raw_).process(what).commit(); }
    void unprocess(c_text name) const { changes(raw_).unprocess(name).commit(); }
    /// Adds or replaces a rule, as a reload. See `changes::add_rule`.
    template <typename F> INVIVO_LOCAL void add_rule(c_text name, const std::vector<std::string> &inputs, F function) const {
        changes(raw_).add_rule(name, inputs, std::move(function)).commit();
    }
    void remove_rule(c_text name) const { changes(raw_).remove_rule(name).commit(); }
    /// Adds or replaces a trait type, as a reload. See trait.hpp.
    template <typename Fields> INVIVO_LOCAL void add_trait(const trait<Fields> &what) const { changes(raw_).add_trait(what).commit(); }
    void remove_trait(c_text name) const { changes(raw_).remove_trait(name).commit(); }
    /// Binds a section of the configuration to a plain struct, as a reload. See `changes::bind_settings`.
    template <typename T, size_t Count> INVIVO_LOCAL
    void bind_settings(c_text name, c_text path, const invivo_property (&fields)[Count], std::function<void(const T &)> check = {}) const {
        changes(raw_).bind_settings<T>(name, path, fields, std::move(check)).commit();
    }
    /// Binds a section of the configuration to the values of a function, as a reload. See `changes::bind_settings`.
    template <typename F> INVIVO_LOCAL
    void bind_settings(c_text name, c_text path, F read, const std::vector<const char *> &secrets = {}) const {
        changes(raw_).bind_settings(name, path, std::move(read), secrets).commit();
    }
    /// Adds a plain struct as a type of settings, which the sections of a manifest name (`settings:`). `check` is as in `changes::bind_settings`.
    template <typename T, size_t Count> INVIVO_LOCAL
    void add_settings_type(c_text name, const invivo_property (&fields)[Count], std::function<void(const T &)> check = {}) const {
        std::vector<invivo_property> copied(fields, fields + Count);
        detail::add_settings_type(raw_, name, [copied, check](invivo_changes changes, const char *binding, const char *path) {
            detail::bind_settings<T>(changes, binding, path, copied.data(), copied.size(), check);
        });
    }
    /// Adds the values of a function as a type of settings. See `changes::bind_settings`.
    template <typename F> INVIVO_LOCAL void add_settings_type(c_text name, F read) const {
        detail::add_settings_type(raw_, name, [read](invivo_changes changes, const char *binding, const char *path) {
            detail::bind_settings(changes, binding, path, read);
        });
    }
    void unbind_settings(c_text name) const { changes(raw_).unbind_settings(name).commit(); }
    template <typename T> INVIVO_LOCAL invivo::settings_id<T> settings_id(const std::string &name) const { return {raw_, name}; }
    /// Returns a copy of the typed settings of the current generation, or of that of the pin. Throws
    /// INVIVO_E_NOT_FOUND if the binding does not exist, and INVIVO_E_TYPE if it is bound to another type.
    template <typename T> INVIVO_LOCAL T settings(const std::string &name) const {
        invivo::settings_id<T> id(raw_, name);
        view reading(raw_);
        const T *found = reading.settings(id);
        if (!found) throw error(INVIVO_E_NOT_FOUND, "no binding of settings has the name '" + name + "'", name);
        return *found;
    }
    void reset(c_text key, uint32_t flags = 0) const { changes(raw_).reset(key, flags).commit(); }
    /// Registers a scope. `find` returns the scope instance of the calling code, 0 = none.
    void scope(const std::string &name, std::function<uint64_t()> find, scope_listener keep = {}, scope_listener drop = {}) const {
        detail::scope_register(raw_, name, {raw_, std::move(find), std::move(keep), std::move(drop)});
    }
    /// Ends a scope instance. Its objects are released in reverse order of creation.
    void end_scope(c_text name, uint64_t place) const {
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

    // ---- pins

    /// Begins a pin: until its end, reads of the calling thread answer from one generation.
    [[nodiscard]] invivo::pin pinned(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return invivo::pin(raw_, file, line);
    }
    /// Begins a pin that belongs to no thread, for a task that several threads run one after the other: each enters it.
    [[nodiscard]] invivo::pin hold_pin(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return invivo::pin::hold(raw_, file, line);
    }

    // ---- resolving

    template <typename T> INVIVO_LOCAL key<T> key_of(c_text name) const {
        key<T> found = find_key<T>(name);
        if constexpr (!std::is_void_v<T>) {
            invivo_view now = invivo_view_begin(raw_);
            const invivo_entry *entry = invivo_view_entry(now, found.raw);
            uint64_t type = entry ? entry->type : 0;
            bool has_block = entry && entry->block;
            invivo_view_end(now);
            if (type) found.bind(type, has_block);
        }
        return found;
    }
    template <typename T, typename... Arguments> INVIVO_LOCAL ref<T> resolve(key<T> key, const Arguments &...arguments) const {
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
    template <typename T, typename... Arguments> INVIVO_LOCAL ref<T> resolve(c_text name, const Arguments &...arguments) const {
        return resolve(find_key<T>(name), arguments...);
    }
    /// Resolves the object of the one definition of type T.
    template <typename T> INVIVO_LOCAL ref<T> resolve() const { return resolve_type<T>(detail::name_of<T>()); }
    /// Resolves the object of the one definition of type T, or an empty ref if there is none.
    template <typename T> INVIVO_LOCAL ref<T> find() const { return resolve_type<T>(detail::name_of<T>(), INVIVO_LOOKUP_OPTIONAL); }
    /// Resolves the one definition of a type by the type's name, which may have generic arguments: "Repository[User]".
    /// `name` selects the definition by its key or the end of its key. `flags`: INVIVO_LOOKUP_EXACT,
    /// INVIVO_LOOKUP_OPTIONAL.
    template <typename T> INVIVO_LOCAL ref<T> resolve_type(const std::string &type, uint32_t flags = 0, c_text name = nullptr) const {
        invivo_object found{};
        detail::checked([&](invivo_error **e) { return invivo_resolve_type(raw_, type.c_str(), name, flags, &found, e); });
        return ref<T>(object(found));
    }
    /// Resolves a key, or an empty ref if it has no definition, is blocked, or its factory returns null.
    template <typename T, typename... Arguments> INVIVO_LOCAL ref<T> find(key<T> key, const Arguments &...arguments) const {
        invivo_object found{};
        detail::borrowed<Arguments...> given(arguments...);
        detail::checked([&](invivo_error **e) {
            return invivo_resolve_optional(raw_, key.raw, given.data(), given.size(), &found, e);
        });
        return ref<T>(object(found));
    }
    /// Resolves the definition of type T with this name, "lead" or "synth.lead". `flags`: INVIVO_LOOKUP_EXACT,
    /// INVIVO_LOOKUP_OPTIONAL.
    template <typename T> INVIVO_LOCAL ref<T> resolve_named(c_text name, uint32_t flags = 0) const {
        return resolve_type<T>(detail::name_of<T>(), flags, name);
    }
    /// Resolves one object of each definition of the type, by rank, then in declaration order.
    template <typename T> INVIVO_LOCAL std::vector<ref<T>> all() const { return all<T>(detail::name_of<T>()); }
    /// Resolves one object of each definition of the named type: "Repository[User]".
    template <typename T> INVIVO_LOCAL std::vector<ref<T>> all(const std::string &type) const {
        value found;
        detail::checked([&](invivo_error **e) { return invivo_resolve_all(raw_, type.c_str(), 0, found.out(), e); });
        return found.as<std::vector<ref<T>>>();
    }

    /// Returns the built shared object, or an empty ref. Never builds, never waits.
    template <typename T> INVIVO_LOCAL ref<T> peek(key<T> key) const {
        invivo_object found{};
        invivo_status status = invivo_peek(raw_, key.raw, &found);
        if (status == INVIVO_E_COLD) return {};
        detail::checked(status);
        return ref<T>(object(found));
    }
    /// Resolves in the object's domain, and calls `done(ref<T>, const error *)` there, or in the domain `deliver`.
    /// It is called once; on failure with an empty ref. A built object may be delivered before this returns.
    template <typename T, typename F> INVIVO_LOCAL void resolve_async(key<T> key, F done, invivo_domain deliver = {}) const {
        async(key, std::move(done), deliver);
    }
    /// Resolves with runtime arguments in the object's domain, and calls `done` there, or in the domain `deliver`.
    template <typename T, typename F, typename... Arguments> INVIVO_LOCAL
    void resolve_async_with(key<T> key, F done, const Arguments &...arguments) const {
        async(key, std::move(done), {}, arguments...);
    }
    /// Resolves as a future. Do not wait for it on a thread whose jobs create the object.
    template <typename T, typename... Arguments> INVIVO_LOCAL std::future<ref<T>> resolved(key<T> key, const Arguments &...arguments) const {
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
    /// Injects into an existing object with the definition of the key; nullptr: with the definition of its type, or its
    /// type needs.
    /// INVIVO_INTO_SHARED: the object becomes the shared object of the key.
    void inject(const object &thing, c_text key = nullptr, uint32_t flags = 0) const {
        invivo_key raw{};
        if (key) detail::checked([&](invivo_error **e) { return invivo_key_find(raw_, key, &raw, e); });
        detail::checked([&](invivo_error **e) { return invivo_inject_with(thing.raw(), raw, flags, e); });
    }
    /// Injects into an object and all its children, by the keys that they name or by their types.
    void inject_tree(const object &root, c_text key = nullptr, uint32_t flags = 0) const {
        invivo_tree tree{};
        tree.struct_size = sizeof(tree), tree.key = key, tree.flags = flags;
        detail::checked([&](invivo_error **e) { return invivo_inject_tree(root.raw(), &tree, e); });
    }
    /// Starts or stops the shared instance of a key. It stays in the graph.
    void start(c_text key) const {
        invivo_key raw = key_of<void>(key).raw;
        detail::checked([&](invivo_error **e) { return invivo_start(raw_, raw, e); });
    }
    void stop(c_text key) const {
        invivo_key raw = key_of<void>(key).raw;
        detail::checked([&](invivo_error **e) { return invivo_stop(raw_, raw, e); });
    }

    // ---- what belongs to an object

    /// In the setup of an object: registers a function that undoes an effect of it. It is called exactly once, before the object is
    /// set up again or ends. Outside of a setup it is called at once, and invivo::error is thrown. See setup.h.
    template <typename F> INVIVO_LOCAL void effect(F undo) const {
        auto kept = std::make_unique<F>(std::move(undo));
        F *data = kept.release();
        detail::checked([&](invivo_error **e) { return invivo_effect(raw_, undo_<F>, data, e); });
    }
    /// In the setup of an object: creates an object of a prototype that belongs to it. While it is created, `build::former` is the
    /// child that it replaces. The reference is valid until the teardown of the owner.
    template <typename T, typename... Arguments> INVIVO_LOCAL T &child(key<T> key, const Arguments &...arguments) const {
        detail::borrowed<Arguments...> given(arguments...);
        invivo_object made{};
        detail::checked([&](invivo_error **e) { return invivo_child(raw_, key.raw, given.data(), given.size(), &made, e); });
        return *ref<T>(object::retained(made));
    }
    template <typename T, typename... Arguments> INVIVO_LOCAL T &child(c_text name, const Arguments &...arguments) const {
        return child(find_key<T>(name), arguments...);
    }
    /// In the setup of an object: creates an object of a type without a definition that belongs to it.
    template <typename T, typename... Arguments> INVIVO_LOCAL T &make_child(const Arguments &...arguments) const {
        detail::borrowed<Arguments...> given(arguments...);
        invivo_type type{};
        invivo_object made{};
        detail::checked([&](invivo_error **e) { return invivo_type_find(raw_, detail::name_of<T>().c_str(), &type, e); });
        detail::checked([&](invivo_error **e) { return invivo_child_make(raw_, type, given.data(), given.size(), &made, e); });
        return *ref<T>(object::retained(made));
    }

    // ---- contexts

    /// Declares kinds of contexts, from the outermost to the innermost; they follow those that are declared already.
    void declare_contexts(const std::vector<context_kind> &kinds) const { detail::context_kinds_declare(raw_, kinds); }
    /// Describes a context of a kind, or of none, which `open` opens: `runtime.context("request").set("user", user).open()`.
    [[nodiscard]] context_builder context(c_text kind = nullptr, const char *file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return {raw_, kind, file, line};
    }
    /// Returns the current context of the calling thread, or an empty one. In a factory, hook or stop it is the context in which the
    /// object lives; otherwise the one that the thread has entered last and that has not ended.
    context_ref current_context() const noexcept { return {raw_, invivo_context_current(raw_)}; }
    /// Returns the nearest context of an object: its own, else that of its parent (`type::parent`), and so on; empty if there is none.
    context_ref context_of(const object &thing) const {
        invivo_context found{};
        detail::checked([&](invivo_error **e) { return invivo_context_of(thing.raw(), &found, e); });
        return {raw_, found};
    }
    template <typename T> INVIVO_LOCAL context_ref context_of(const ref<T> &thing) const { return context_of(thing.held()); }
    /// Detaches the context of an object. An object without one is a no-op.
    void detach_context(const object &thing) const {
        detail::checked([&](invivo_error **e) { return invivo_context_detach(thing.raw(), e); });
    }
    template <typename T> INVIVO_LOCAL void detach_context(const ref<T> &thing) const { detach_context(thing.held()); }

    // ---- pools

    template <typename T> INVIVO_LOCAL invivo::pool<T> pool(const std::string &name = {}) const { return invivo::pool<T>::open(raw_, name); }
    template <typename T, typename F> INVIVO_LOCAL invivo::pool<T> pool(const std::string &name, F make) const {
        return invivo::pool<T>::open(raw_, name, std::move(make));
    }
    template <typename T> INVIVO_LOCAL invivo::pool<T> find_pool(const std::string &name) const { return invivo::pool<T>::find(raw_, name); }

    // ---- configuration

    /// Reads the configuration at an absolute path as a T. A duration may be a number of seconds or a string such as
    /// "250 ms".
    template <typename T> INVIVO_LOCAL T config(const std::string &path) const {
        const value found = detail::config_read(raw_, path);
        if constexpr (detail::is_time<T>::value)
            if (found.raw().kind == INVIVO_KIND_STRING) return convert<T>("duration", found.as<std::string>());
        return found.as<T>();
    }
    /// Reads the configuration at an absolute path as a T; returns `otherwise` if there is no value.
    template <typename T> INVIVO_LOCAL T config(const std::string &path, T otherwise) const {
        try {
            return config<T>(path);
        } catch (const error &failed) {
            if (failed.code() != INVIVO_E_NOT_CONFIGURED) throw;
            return otherwise;
        }
    }
    /// Returns a path for reads in views, which cost as little as reading a shared object.
    template <typename T> INVIVO_LOCAL invivo::config_id<T> config_id(const std::string &path) const { return {raw_, path}; }
    template <typename T> INVIVO_LOCAL void configure(c_text path, const T &to) const { changes(raw_).configure(path, to).commit(); }
    void unconfigure(c_text path) const { changes(raw_).unconfigure(path).commit(); }
    /// Declares a configuration path as secret, as a reload. See `changes::add_secret`.
    void add_secret(c_text path) const { changes(raw_).add_secret(path).commit(); }
    void remove_secret(c_text path) const { changes(raw_).remove_secret(path).commit(); }
    /// Whether the value at a path is secret, or a part of it.
    INVIVO_LOCAL bool is_secret(c_text path) const {
        bool found = false;
        detail::checked([&](invivo_error **e) { return invivo_config_is_secret(raw_, path, &found, e); });
        return found;
    }
    /// Calls `callback(value, generation)` after each reload that changed the value at the path or below. The value is null
    /// if there is none.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer observe_config(const std::string &path, F callback) const {
        return observer(detail::config_observe(raw_, path, std::move(callback)));
    }
    /// Registers a converter: a function of a std::string_view, or of a `const value &` for all kinds, including lists
    /// and maps.
    /// An error with a path such as "value.port" receives the source location of that part.
    template <typename F> INVIVO_LOCAL void converter(const std::string &name, F read) const {
        detail::converter_register(raw_, name, std::move(read));
    }
    template <typename T> INVIVO_LOCAL T convert(const std::string &converter, std::string_view text) const {
        return detail::convert_text(raw_, converter, text).template as<T>();
    }

    // ---- descriptions of the wiring

    /// Returns one node per key, sorted by key.
    std::vector<wiring_node> wiring() const { return detail::graph_nodes(raw_); }
    /// Returns the effective definition of a key, including overrides.
    key_facts describe(const std::string &key) const { return detail::described_key(raw_, key.c_str()); }
    /// Returns the wiring as text: INVIVO_GRAPH_JSON, _DOT, _MERMAID, _KEYS_C, ...
    std::string wiring_text(uint32_t format) const { return detail::graph_describe(raw_, format).as<std::string>(); }
    /// Returns the JSON Schema of the spec files that the runtime accepts, for editors and checks.
    std::string schema_text() const { return wiring_text(INVIVO_GRAPH_SCHEMA); }
    std::vector<object_state> states() const { return detail::object_states(raw_); }
    /// Returns the documents, and how their changes are detected. Later documents override earlier ones.
    std::vector<source_state> sources() const { return detail::source_states(raw_); }

    // ---- documents as text

    /// Writes a live document as text, with references and environment variables as they were written. See
    /// invivo_document_text.
    std::string document_text(c_text name, uint32_t format = INVIVO_FORMAT_YAML) const {
        value text;
        detail::checked([&](invivo_error **e) { return invivo_document_text(raw_, name, format, text.out(), e); });
        return text.as<std::string>();
    }
    /// Writes the traits of a key, or of all keys (nullptr), in one live document or in all of them (nullptr). See
    /// invivo_traits_text.
    std::string traits_text(const char *key = nullptr, const char *document = nullptr, uint32_t format = INVIVO_FORMAT_YAML) const {
        value text;
        detail::checked([&](invivo_error **e) { return invivo_traits_text(raw_, key, document, format, text.out(), e); });
        return text.as<std::string>();
    }

    // ---- the environment

    /// Copies the environment again, on this thread, and updates what depends on it. See invivo_runtime_refresh_environment.
    void refresh_environment() {
        detail::checked([&](invivo_error **e) { return invivo_runtime_refresh_environment(raw_, e); });
    }

    // ---- properties that move

    /// Advances the clock of the properties that move. See invivo_runtime_advance.
    void advance(std::chrono::nanoseconds time) {
        detail::checked([&](invivo_error **e) {
            return invivo_runtime_advance(raw_, static_cast<uint64_t>(time.count() > 0 ? time.count() : 0), e);
        });
    }

    // ---- former generations

    /// Brings the content of a kept generation back, as a reload. See history.h.
    void rollback(uint64_t generation) {
        detail::checked([&](invivo_error **e) { return invivo_rollback(raw_, generation, e); });
    }
    /// Brings the content of the generation with a mark back.
    void rollback_to_mark(c_text name) { rollback(marked(name)); }
    /// The kept generations, the oldest first; the last one is the current one.
    std::vector<kept_generation> history() const { return detail::kept_generations(raw_); }
    /// Keeps the current generation under a name until `unmark`. Returns its number. A mark of the same name moves to it.
    uint64_t mark(c_text name) {
        uint64_t generation = 0;
        detail::checked([&](invivo_error **e) { return invivo_mark(raw_, name, &generation, e); });
        return generation;
    }
    /// Ends a mark.
    void unmark(c_text name) {
        detail::checked([&](invivo_error **e) { return invivo_unmark(raw_, name, e); });
    }
    /// Returns the number of the generation with a mark.
    uint64_t marked(c_text name) const {
        uint64_t generation = 0;
        detail::checked([&](invivo_error **e) { return invivo_marked(raw_, name, &generation, e); });
        return generation;
    }
    /// Returns the reasons why changes take effect late, or not at all.
    runtime_status status() const { return detail::status_of(raw_); }
    /// Returns the retired objects that have not been stopped, in order of creation.
    std::vector<retired_object> retired() const { return detail::retired_objects(raw_); }

    // ---- documents and observers

    /// Follows a document until the runtime closes.
    void watch(c_text path) const {
        detail::checked([&](invivo_error **e) { return invivo_watch(raw_, path, e); });
    }
    /// Follows a file until the source ends. INVIVO_SOURCE_WAIT: it may be missing or invalid at first. INVIVO_SOURCE_KEEP_GOING:
    /// traits with errors are skipped.
    [[nodiscard]] source follow(const std::string &path, uint32_t flags = 0) const { return source(raw_, path, flags); }
    /// Adds a document in memory, which its source updates. `name` is for messages. INVIVO_SOURCE_KEEP_GOING: traits with errors are
    /// skipped.
    [[nodiscard]] source document(const std::string &name, std::string_view text, uint32_t flags = 0) const {
        return source(raw_, name, text, flags);
    }
    /// Calls `callback(report)` after every reload.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer observe(F callback) const {
        invivo_observer_options options{};
        return observe_reloads(options, std::move(callback));
    }
    /// Calls `callback(generation, failed)` once: with the generation after the runtime's first commit and nullptr, or with the
    /// error of its first reload if that failed. If one of them has happened, the call follows soon on the loop thread.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer on_ready(F callback) const {
        invivo_observer_options options{};
        options.ready = [](void *data, uint64_t generation, const invivo_error *failed) {
            auto *box = static_cast<std::pair<invivo_runtime, F> *>(data);
            detail::noting(box->first, "an observer of the first reload", [&] {
                std::optional<error> wrong;
                if (failed) wrong = detail::copy_of(failed);
                box->second(generation, wrong ? &*wrong : nullptr);
            });
        };
        return observe(options, std::move(callback));
    }
    /// Calls `callback(progress)` for each phase of the reloads that begin from now on, and for the end of each former generation,
    /// on the thread that does the work. It must not wait for the runtime. See invivo_observer_options.progress.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer on_progress(F callback) const {
        invivo_observer_options options{};
        options.progress = [](void *data, const invivo_progress *raw) {
            auto *box = static_cast<std::pair<invivo_runtime, F> *>(data);
            detail::noting(box->first, "an observer of phases", [&] { box->second(progress(raw)); });
        };
        return observe(options, std::move(callback));
    }
    /// Calls `callback(report)` after each commit that changed the definition, object or value of a key, with these changes.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer observe_key(c_text key, F callback) const {
        invivo_observer_options options{};
        options.key = key;
        return observe_reloads(options, std::move(callback));
    }
    /// The same for the keys whose objects have a type, a subtype of it, or had it before the commit.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer observe_type(c_text type, F callback) const {
        invivo_observer_options options{};
        options.type = type;
        return observe_reloads(options, std::move(callback));
    }
    template <typename T, typename F> INVIVO_LOCAL [[nodiscard]] observer observe_type(F callback) const {
        return observe_type(detail::name_of<T>(), std::move(callback));
    }
    /// Calls `callback(report)` after each commit that injected into an object, changed its properties, or replaced it. The
    /// observer does not keep the object.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer observe_object(const object &observed, F callback) const {
        invivo_observer_options options{};
        options.object = observed.raw();
        return observe_reloads(options, std::move(callback));
    }
    template <typename T, typename F> INVIVO_LOCAL [[nodiscard]] observer observe_object(const ref<T> &observed, F callback) const {
        return observe_object(observed.held(), std::move(callback));
    }
    /// Calls `visit(report)` with the reports of the last reloads, the oldest first. An exception ends the visit and is thrown.
    /// The runtime keeps the last 64, and fewer if they need more than 1 MiB.
    template <typename F> INVIVO_LOCAL void each_report(F visit) const {
        std::pair<F *, std::exception_ptr> box(&visit, nullptr);
        detail::checked([&](invivo_error **e) {
            return invivo_runtime_reports(
                raw_,
                [](void *data, const invivo_report *raw) {
                    auto *visited = static_cast<std::pair<F *, std::exception_ptr> *>(data);
                    if (visited->second) return;
                    try {
                        (*visited->first)(report(raw));
                    } catch (...) { visited->second = std::current_exception(); }
                },
                &box, e);
        });
        if (box.second) std::rethrow_exception(box.second);
    }
    /// Observes commits for a cache of resolved objects: calls `callback(false)` before a commit becomes visible that gives
    /// a key another object, and `callback(true)` after that.
    /// The first call empties the cache, which stores nothing until the second. It is called on the committing thread
    /// and must not call the runtime.
    template <typename F> INVIVO_LOCAL [[nodiscard]] observer observe_publishing(F callback) const {
        invivo_observer_options options{};
        options.publishing = [](void *data, uint32_t published) {
            auto *box = static_cast<std::pair<invivo_runtime, F> *>(data);
            detail::noting(box->first, "an observer of publishing", [&] { box->second(published != 0); });
        };
        return observe(options, std::move(callback));
    }
    /// Runs the pending jobs of the calling thread's domain. Returns their number.
    unsigned poll(std::chrono::milliseconds wait = std::chrono::milliseconds(0)) const {
        uint32_t ran = 0;
        detail::checked([&](invivo_error **e) {
            return invivo_runtime_poll(raw_, detail::milliseconds_of(wait), &ran, e);
        });
        return ran;
    }
    /// Registers a domain that the program serves: `post` moves each job to the domain and runs it there.
    /// `is_current` returns whether the calling code is in a domain that is not one thread. It is called on any thread,
    /// must be fast, and must not call the runtime. INVIVO_DOMAIN_DEFAULT: the domain of confined types that name none.
    /// `begin` and `end` are called in the domain before and after the work of a commit there; both or none.
    invivo_domain domain(const std::string &name, std::function<void(job)> post, std::function<bool()> is_current = {},
                         uint32_t flags = 0, std::function<void()> begin = {}, std::function<void()> end = {}) const {
        return detail::domain_register(
            raw_, name, {std::move(post), std::move(is_current), std::move(begin), std::move(end)}, flags);
    }

    // ---- modules and other languages

    /// Loads a module (module.hpp), which stays loaded until the runtime closes.
    void load(const std::string &path) const {
        detail::checked([&](invivo_error **e) { return invivo_module_load(raw_, path.c_str(), nullptr, e); });
    }
    /// Returns the token by which another language in the process attaches to this runtime; borrowed until the runtime
    /// closes.
    const invivo_token *share() const {
        const invivo_token *token = nullptr;
        detail::checked([&](invivo_error **e) { return invivo_share(raw_, &token, e); });
        return token;
    }
    /// Attaches to the runtime of a token. The code that opened it closes it.
    static runtime_ref attached(const invivo_token *token) {
        invivo_runtime found{};
        detail::checked([&](invivo_error **e) { return invivo_attach(token, &found, e); });
        return runtime_ref(found);
    }

    /// Returns the current generation.
    uint64_t generation() const {
        uint64_t generation = 0;
        detail::checked([&](invivo_error **e) { return invivo_runtime_generation(raw_, &generation, e); });
        return generation;
    }
    /// Returns the options in force. Their name is valid until the runtime closes.
    invivo_runtime_options options() const {
        invivo_runtime_options found{};
        found.struct_size = sizeof(found);
        detail::checked([&](invivo_error **e) { return invivo_runtime_options_read(raw_, &found, e); });
        return found;
    }
    /// Changes options, all or none: those that are returned by `options()`, with other values. Throws INVIVO_E_STALE if another
    /// thread has changed options since. See invivo_runtime_options_change.
    void change(const invivo_runtime_options &to) const {
        detail::checked([&](invivo_error **e) { return invivo_runtime_options_change(raw_, &to, e); });
    }
    /// Changes options, all or none: `change([](invivo_runtime_options &options) { options.quiet_ms = 2; })`. `edit` is called
    /// again if another thread has changed options meanwhile.
    template <typename F, typename = std::enable_if_t<std::is_invocable_v<F &, invivo_runtime_options &>>> INVIVO_LOCAL
    void change(F edit) const {
        for (;;) {
            invivo_runtime_options to = options();
            edit(to);
            try {
                return change(to);
            } catch (const error &failed) {
                if (failed.code() != INVIVO_E_STALE) throw;
            }
        }
    }
    /// Returns the state of the runtime in numbers.
    invivo_runtime_info info() const {
        invivo_runtime_info info{};
        info.struct_size = sizeof(info);
        detail::checked([&](invivo_error **e) { return invivo_runtime_inspect(raw_, &info, e); });
        return info;
    }

private:
    template <typename F> static invivo_status undo_(void *data, invivo_error **failed) noexcept {
        std::unique_ptr<F> undo(static_cast<F *>(data));
        return detail::guarded(failed, [&] { (*undo)(); });
    }

    template <typename F> INVIVO_LOCAL observer observe_reloads(invivo_observer_options &options, F callback) const {
        options.reloaded = [](void *data, const invivo_report *raw) {
            auto *box = static_cast<std::pair<invivo_runtime, F> *>(data);
            detail::noting(box->first, "an observer of reloads", [&] { box->second(report(raw)); });
        };
        return observe(options, std::move(callback));
    }

    template <typename F> INVIVO_LOCAL observer observe(invivo_observer_options &options, F callback) const {
        auto kept = std::make_unique<std::pair<invivo_runtime, F>>(raw_, std::move(callback));
        options.struct_size = sizeof(options);
        options.user_data = kept.get();
        options.destroy = [](void *data) { delete static_cast<std::pair<invivo_runtime, F> *>(data); };
        invivo_observer made{};
        detail::checked([&](invivo_error **e) { return invivo_observe(raw_, &options, &made, e); });
        (void)kept.release();
        return observer(made);
    }
    template <typename T, typename F, typename... Arguments> INVIVO_LOCAL
    void async(key<T> key, F done, invivo_domain deliver, const Arguments &...arguments) const {
        auto kept = std::make_unique<std::pair<invivo_runtime, F>>(raw_, std::move(done));
        detail::borrowed<Arguments...> given(arguments...);
        detail::checked([&](invivo_error **e) {
            return invivo_resolve_async(raw_, key.raw, given.data(), given.size(), finished<T, F>, kept.get(), deliver, e);
        });
        (void)kept.release();
    }
    template <typename T, typename F> INVIVO_LOCAL static void finished(void *data, invivo_object found, const invivo_error *failed) noexcept {
        std::unique_ptr<std::pair<invivo_runtime, F>> kept(static_cast<std::pair<invivo_runtime, F> *>(data));
        detail::noting(kept->first, "the callback of resolve_async", [&] {
            ref<T> typed;
            std::optional<error> wrong;
            try {
                object held(found);
                if (failed) wrong = detail::copy_of(failed);
                else typed = ref<T>(std::move(held));
            } catch (const error &unfit) {
                wrong = unfit;
            }
            kept->second(std::move(typed), wrong ? &*wrong : nullptr);
        });
    }
    template <typename T> INVIVO_LOCAL key<T> find_key(c_text name) const {
        key<T> found;
        detail::checked([&](invivo_error **e) { return invivo_key_find(raw_, name, &found.raw, e); });
        return found;
    }

protected:
    invivo_runtime raw_{};
};

/// An owned runtime. The destructor closes it; objects that are still held stay valid until they are released.
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
    /// Closes the runtime. Throws INVIVO_E_STOP if stop functions fail; the runtime is then closed.
    /// After another error, such as objects that are still held, it is still open.
    void close() {
        detail::checked([&](invivo_error **e) {
            invivo_status status = invivo_runtime_close(raw_, e);
            if (status == INVIVO_OK || status == INVIVO_E_STOP) raw_ = invivo_runtime{};
            return status;
        });
    }

private:
    explicit runtime(const invivo_runtime_options *options) : runtime_ref(invivo_runtime{}) {
        detail::checked([&](invivo_error **e) { return invivo_runtime_open(&raw_, options, e); });
    }
};

} // namespace invivo

#endif
