// context.hpp: contexts: values that are inherited from context to context. See context.h.
#ifndef INVIVO_CPP_CONTEXT_HPP
#define INVIVO_CPP_CONTEXT_HPP

#include "changes.hpp"

#include <atomic>
#include <chrono>
#include <exception>

namespace invivo {

/// A kind of contexts, for `runtime_ref::declare_contexts`.
struct context_kind {
    std::string name;
    uint32_t policy = INVIVO_CONTEXT_FOLLOWS;
    std::vector<std::string> provides{}; ///< the values that each context of the kind has from its opening on
    std::vector<std::string> live{};     ///< further such values, which may change while the context is open
};

namespace detail INVIVO_LOCAL {

inline invivo_key context_key_named(invivo_runtime runtime, c_text name) {
    invivo_key found{};
    checked([&](invivo_error **e) { return invivo_key_intern(runtime, name, &found, e); });
    return found;
}

inline void context_kinds_declare(invivo_runtime runtime, const std::vector<context_kind> &kinds) {
    std::deque<std::vector<invivo_context_provided>> provided;
    std::vector<invivo_context_kind> table;
    for (const context_kind &kind : kinds) {
        provided.emplace_back();
        for (const std::string &key : kind.provides) provided.back().push_back({key.c_str(), 0, 0});
        for (const std::string &key : kind.live) provided.back().push_back({key.c_str(), INVIVO_PROVIDED_LIVE, 0});
        invivo_context_kind raw{};
        raw.struct_size = sizeof(raw);
        raw.name = kind.name.c_str(), raw.policy = kind.policy;
        raw.provides = provided.back().data(), raw.provided_count = provided.back().size();
        table.push_back(raw);
    }
    checked([&](invivo_error **e) { return invivo_context_declare_kinds(runtime, table.data(), table.size(), e); });
}

/// A type that is not deduced from an argument.
template <typename T> struct exactly {
    using type = T;
};
template <typename T> using exactly_t = typename exactly<T>::type;

} // namespace detail

/// A key of contexts with the type of its values, and an optional default: `invivo::context_key<int> workers{"workers", 8};`.
/// It is declared to a runtime when it is first used there; another declaration of the name is INVIVO_E_EXISTS. As a rule a
/// variable of the program. Any thread may use it.
template <typename T> class context_key {
public:
    explicit context_key(std::string name) : name_(std::move(name)) {}
    INVIVO_LOCAL context_key(std::string name, const T &initial) : name_(std::move(name)), initial_(value::of(initial)) {}
    context_key(const context_key &) = delete;
    context_key &operator=(const context_key &) = delete;
    ~context_key() {
        for (const known *each = known_.load(); each;) delete std::exchange(each, each->next);
    }

    const std::string &name() const noexcept { return name_; }
    /// Returns the key in a runtime.
    INVIVO_LOCAL invivo_key in(invivo_runtime runtime) const {
        for (const known *each = known_.load(std::memory_order_acquire); each; each = each->next)
            if (each->runtime == runtime.bits) return each->key;
        declare(runtime);
        auto *added = new known{runtime.bits, detail::context_key_named(runtime, name_), known_.load()};
        while (!known_.compare_exchange_weak(added->next, added)) {}
        return added->key;
    }

private:
    INVIVO_LOCAL void declare(invivo_runtime runtime) const {
        using form = detail::convert<T>;
        const std::string type = form::type_name();
        invivo_context_key raw{};
        raw.struct_size = sizeof(raw);
        raw.name = name_.c_str();
        raw.kind = form::is_optional ? static_cast<invivo_kind>(INVIVO_KIND_ANY) : form::kind;
        raw.type_name = raw.kind == INVIVO_KIND_ANY || type.empty() ? nullptr : type.c_str();
        raw.initial = initial_ ? &initial_->raw() : nullptr;
        if (raw.kind == INVIVO_KIND_ANY && !raw.initial) return;
        detail::checked([&](invivo_error **e) { return invivo_context_declare_key(runtime, &raw, e); });
    }

    /// The key in one runtime. Entries are added in front, and stay until the end.
    struct known {
        uint64_t runtime;
        invivo_key key;
        known *next;
    };
    std::string name_;
    std::optional<value> initial_;
    mutable std::atomic<known *> known_{nullptr};
};

/// Makes a context the current one of the calling thread, until the end of its block.
class entered_context {
public:
    explicit entered_context(invivo_context context) : raw_(context) {
        detail::checked([&](invivo_error **e) { return invivo_context_enter(raw_, e); });
    }
    entered_context(const entered_context &) = delete;
    entered_context &operator=(const entered_context &) = delete;
    ~entered_context() { (void)invivo_context_leave(raw_, nullptr); }

private:
    invivo_context raw_;
};

/// Changes of several keys of a context, all at one instant or none: `context.change().set("a", 1).remove("b").commit()`.
class context_change {
public:
    context_change(invivo_runtime runtime, invivo_context context) noexcept : runtime_(runtime), context_(context) {}

    template <typename T> INVIVO_LOCAL context_change &set(c_text key, const T &to) {
        return add(detail::context_key_named(runtime_, key), INVIVO_VALUE_SET, value::of(to));
    }
    template <typename T> INVIVO_LOCAL context_change &set(const context_key<T> &key, const detail::exactly_t<T> &to) {
        return add(key.in(runtime_), INVIVO_VALUE_SET, value::of<T>(to));
    }
    context_change &remove(c_text key) { return add(detail::context_key_named(runtime_, key), INVIVO_VALUE_REMOVE); }
    template <typename T> INVIVO_LOCAL context_change &remove(const context_key<T> &key) { return add(key.in(runtime_), INVIVO_VALUE_REMOVE); }
    context_change &hide(c_text key) { return add(detail::context_key_named(runtime_, key), INVIVO_VALUE_HIDE); }
    template <typename T> INVIVO_LOCAL context_change &hide(const context_key<T> &key) { return add(key.in(runtime_), INVIVO_VALUE_HIDE); }
    /// Applies the changes. A change that is not committed has no effect.
    void commit() {
        detail::checked([&](invivo_error **e) { return invivo_context_change_values(context_, changes_.data(), changes_.size(), e); });
    }

private:
    context_change &add(invivo_key key, uint32_t what, value to = {}) {
        values_.push_back(std::move(to));
        changes_.push_back({key, what, 0, values_.back().raw()});
        return *this;
    }

    invivo_runtime runtime_;
    invivo_context context_;
    std::deque<value> values_;
    std::vector<invivo_context_change> changes_;
};

/// A value that lookups from a context find.
struct context_entry {
    std::string key;
    value content;
    uint64_t distance = 0; ///< the number of contexts between; 0: the context itself
};

/// How a context ends, for `context_ref::end`.
struct context_ending {
    std::chrono::milliseconds timeout{0}; ///< of the whole end; 0: `end_timeout_ms` of the runtime
    bool refuses_children = false;        ///< while contexts hold it strongly, the end has no effect and throws INVIVO_E_BUSY
    invivo_status failure = INVIVO_OK;    ///< why the work in the context failed, for `context_ref::failure`
    std::string failure_message{};
};

/// Why the work in a context failed.
struct context_failure {
    invivo_status code = INVIVO_OK;
    std::string message;
};

/// A context that other code keeps open. Small; may be empty. After the end of the context, calls throw INVIVO_E_STALE.
class context_ref {
public:
    context_ref() noexcept = default;
    context_ref(invivo_runtime runtime, invivo_context raw) noexcept : runtime_(runtime), raw_(raw) {}
    invivo_context raw() const noexcept { return raw_; }
    invivo_runtime runtime() const noexcept { return runtime_; }
    explicit operator bool() const noexcept { return raw_.bits != 0; }
    friend bool operator==(const context_ref &a, const context_ref &b) noexcept { return a.raw_.bits == b.raw_.bits; }
    friend bool operator!=(const context_ref &a, const context_ref &b) noexcept { return !(a == b); }

    // ---- values

    /// Returns the value of a key here, in the nearest context above that has one, or the default of the key.
    template <typename T> INVIVO_LOCAL T get(c_text key) const { return got<T>(detail::context_key_named(runtime_, key)); }
    template <typename T> INVIVO_LOCAL T get(const context_key<T> &key) const { return got<T>(key.in(runtime_)); }
    /// Returns the value that `get` returns, or nothing if there is none.
    template <typename T> INVIVO_LOCAL std::optional<T> get_if(c_text key) const {
        return found<T>(invivo_context_get, detail::context_key_named(runtime_, key));
    }
    template <typename T> INVIVO_LOCAL std::optional<T> get_if(const context_key<T> &key) const {
        return found<T>(invivo_context_get, key.in(runtime_));
    }
    /// Returns the value that the context itself has, or nothing.
    template <typename T> INVIVO_LOCAL std::optional<T> get_local(c_text key) const {
        return found<T>(invivo_context_get_local, detail::context_key_named(runtime_, key));
    }
    template <typename T> INVIVO_LOCAL std::optional<T> get_local(const context_key<T> &key) const {
        return found<T>(invivo_context_get_local, key.in(runtime_));
    }
    /// Sets a value in this context. It shadows the values above.
    template <typename T> INVIVO_LOCAL void set(c_text key, const T &to) const { put<T>(detail::context_key_named(runtime_, key), to); }
    template <typename T> INVIVO_LOCAL void set(const context_key<T> &key, const detail::exactly_t<T> &to) const { put<T>(key.in(runtime_), to); }
    /// Removes the value or the tombstone of this context. Throws INVIVO_E_NOT_FOUND if there is none.
    void remove(c_text key) const { remove(detail::context_key_named(runtime_, key)); }
    template <typename T> INVIVO_LOCAL void remove(const context_key<T> &key) const { remove(key.in(runtime_)); }
    /// Hides a key: lookups from here and below find no value above, and not the default.
    void hide(c_text key) const { hide(detail::context_key_named(runtime_, key)); }
    template <typename T> INVIVO_LOCAL void hide(const context_key<T> &key) const { hide(key.in(runtime_)); }
    /// Begins a change of several keys.
    [[nodiscard]] context_change change() const { return {runtime_, raw_}; }
    /// Returns the values that lookups find, sorted by name; with `local`, those of the context itself.
    std::vector<context_entry> entries(bool local = false) const {
        value listed;
        detail::checked([&](invivo_error **e) { return invivo_context_entries(raw_, local, listed.out(), e); });
        std::vector<context_entry> all;
        for (uint64_t i = 0; i < listed.raw().as.list.count; i++) {
            const invivo_value *parts = listed.raw().as.list.items[i].as.list.items;
            all.push_back({detail::convert<std::string>::read(parts[0]), value::copied(parts[1]), detail::convert<uint64_t>::read(parts[2])});
        }
        return all;
    }
    /// Calls `callback(std::optional<T>)` after changes of the key here or above, with the current value. Without a domain, on the
    /// thread of the change. Changes that follow each other closely are one call. It ends with the observer or the context.
    template <typename T, typename F> INVIVO_LOCAL [[nodiscard]] observer observe(c_text key, F callback, invivo_domain domain = {}) const {
        return observed<T>(detail::context_key_named(runtime_, key), std::move(callback), domain);
    }
    template <typename T, typename F>
    INVIVO_LOCAL [[nodiscard]] observer observe(const context_key<T> &key, F callback, invivo_domain domain = {}) const {
        return observed<T>(key.in(runtime_), std::move(callback), domain);
    }

    // ---- the chain

    /// Returns the parent; empty if there is none. Throws INVIVO_E_ORPHANED if it has ended.
    context_ref parent() const {
        return other([&](invivo_context *out, invivo_error **e) { return invivo_context_parent(raw_, out, e); });
    }
    /// Returns the name of the kind, or "".
    std::string kind() const {
        const char *name = nullptr;
        detail::checked([&](invivo_error **e) { return invivo_context_kind_name(raw_, &name, e); });
        return name ? name : "";
    }
    /// Returns the object that the context is; empty if it has none.
    invivo::object object() const {
        invivo_object held{};
        detail::checked([&](invivo_error **e) { return invivo_context_object(raw_, &held, e); });
        return invivo::object(held);
    }
    bool is_ended() const noexcept {
        const char *name = nullptr;
        return invivo_context_kind_name(raw_, &name, nullptr) != INVIVO_OK;
    }
    /// Finds the nearest context upward with an object of type T, of a derived type, or with T as an interface. Throws
    /// INVIVO_E_NOT_FOUND if there is none. `flags`: INVIVO_FIND_ABOVE, INVIVO_FIND_EXACT_TYPE.
    template <typename T> INVIVO_LOCAL context_ref find(uint32_t flags = 0) const { return find_type(detail::name_of<T>(), flags); }
    /// Finds the nearest context upward with an object of a registered type.
    context_ref find_type(c_text type, uint32_t flags = 0) const { return find(nullptr, type, flags); }
    /// Finds the nearest context upward of a kind.
    context_ref find_kind(c_text kind, uint32_t flags = 0) const { return find(kind, nullptr, flags); }

    // ---- objects that live in contexts

    /// Resolves a key, with this as the current context of the call. Throws INVIVO_E_NOT_READY for an object of a kind of which no
    /// context is open here or above.
    template <typename T, typename... Arguments> INVIVO_LOCAL ref<T> resolve(key<T> key, const Arguments &...arguments) const {
        invivo_object found{};
        if constexpr (sizeof...(Arguments) == 0) {
            detail::checked([&](invivo_error **e) { return invivo_context_resolve(raw_, key.raw, &found, e); });
        } else {
            detail::borrowed<Arguments...> given(arguments...);
            entered_context inside(raw_);
            detail::checked([&](invivo_error **e) {
                return invivo_resolve_with(runtime_, key.raw, given.data(), given.size(), &found, e);
            });
        }
        return ref<T>(invivo::object(found));
    }
    template <typename T, typename... Arguments> INVIVO_LOCAL ref<T> resolve(c_text name, const Arguments &...arguments) const {
        key<T> found;
        detail::checked([&](invivo_error **e) { return invivo_key_find(runtime_, name, &found.raw, e); });
        return resolve(found, arguments...);
    }
    /// Resolves the object of the one definition of type T.
    template <typename T> INVIVO_LOCAL ref<T> resolve() const { return of_type<T>(0); }
    /// Resolves the object of the one definition of type T, or an empty ref if there is none.
    template <typename T> INVIVO_LOCAL ref<T> resolve_if() const { return of_type<T>(INVIVO_LOOKUP_OPTIONAL); }
    /// Returns why the work in the context failed that is ending, for code that stops its objects; nothing if it has not failed.
    std::optional<context_failure> failure() const {
        const char *message = nullptr;
        const invivo_status code = invivo_context_failure(raw_, &message);
        if (code == INVIVO_OK) return std::nullopt;
        return context_failure{code, message ? message : ""};
    }

    // ---- the current context, and objects

    /// Makes it the current context of the calling thread, until the end of the block.
    [[nodiscard]] entered_context entered() const { return entered_context(raw_); }
    /// Attaches the context to an object, which is then one of its holders, and replaces the former one.
    void attach(const invivo::object &to) const {
        detail::checked([&](invivo_error **e) { return invivo_context_attach(raw_, to.raw(), e); });
    }
    template <typename T> INVIVO_LOCAL void attach(const ref<T> &to) const { attach(to.held()); }

    /// Ends the context, whoever holds it: waits for builds in it, and stops its objects, the last created first. Ending it again
    /// returns the result of the first call. Returns the keys, or types, of its objects that are still held; they end with their last
    /// lease.
    std::vector<std::string> end(const context_ending &how = {}) const {
        invivo_context_ending options{};
        options.struct_size = sizeof(options);
        options.timeout_ms = detail::milliseconds_of(how.timeout);
        options.flags = how.refuses_children ? static_cast<uint32_t>(INVIVO_END_REFUSES_CHILDREN) : 0;
        options.failure = how.failure, options.failure_message = detail::text_or_null(how.failure_message);
        value leased;
        detail::checked([&](invivo_error **e) { return invivo_context_end_with(raw_, &options, leased.out(), e); });
        return leased.as<std::vector<std::string>>();
    }

protected:
    template <typename F> context_ref other(F find) const {
        invivo_context found{};
        detail::checked([&](invivo_error **e) { return find(&found, e); });
        return {runtime_, found};
    }

    invivo_runtime runtime_{};
    invivo_context raw_{};

private:
    using getter = invivo_status (*)(invivo_context, invivo_key, invivo_value *, invivo_error **);

    template <typename T> INVIVO_LOCAL ref<T> of_type(uint32_t flags) const {
        invivo_object found{};
        entered_context inside(raw_);
        detail::checked([&](invivo_error **e) {
            return invivo_resolve_type(runtime_, detail::name_of<T>().c_str(), nullptr, flags, &found, e);
        });
        return ref<T>(invivo::object(found));
    }
    template <typename T> INVIVO_LOCAL T got(invivo_key key) const {
        value held;
        detail::checked([&](invivo_error **e) { return invivo_context_get(raw_, key, held.out(), e); });
        return held.as<T>();
    }
    template <typename T> INVIVO_LOCAL std::optional<T> found(getter how, invivo_key key) const {
        value held;
        invivo_status status = how(raw_, key, held.out(), nullptr);
        if (status == INVIVO_E_NOT_FOUND) return std::nullopt;
        // A missing value creates no error; another failure is read with its error.
        if (status) detail::checked([&](invivo_error **e) { return how(raw_, key, held.out(), e); });
        return held.as<T>();
    }
    template <typename T> INVIVO_LOCAL void put(invivo_key key, const T &to) const {
        detail::scratch room;
        const invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_context_set(raw_, key, &given, e); });
    }
    void remove(invivo_key key) const {
        detail::checked([&](invivo_error **e) { return invivo_context_remove(raw_, key, e); });
    }
    void hide(invivo_key key) const {
        detail::checked([&](invivo_error **e) { return invivo_context_hide(raw_, key, e); });
    }
    context_ref find(c_text kind, c_text type, uint32_t flags) const {
        invivo_context_query query{};
        query.struct_size = sizeof(query);
        query.kind = kind, query.type = type, query.flags = flags;
        return other([&](invivo_context *out, invivo_error **e) { return invivo_context_find(raw_, &query, out, e); });
    }
    template <typename T, typename F> INVIVO_LOCAL observer observed(invivo_key key, F callback, invivo_domain domain) const {
        auto kept = std::make_unique<std::pair<invivo_runtime, F>>(runtime_, std::move(callback));
        invivo_context_observer options{};
        options.struct_size = sizeof(options);
        options.user_data = kept.get();
        options.domain = domain;
        options.changed = [](void *data, invivo_context, invivo_key changed, const invivo_value *now) {
            auto *box = static_cast<std::pair<invivo_runtime, F> *>(data);
            detail::noting(
                box->first, "an observer of a context",
                [&] {
                    std::optional<T> content;
                    if (now) content.emplace(detail::convert<T>::read(*now));
                    box->second(std::move(content));
                },
                invivo_key_name(changed));
        };
        options.destroy = [](void *data) { delete static_cast<std::pair<invivo_runtime, F> *>(data); };
        invivo_observer made{};
        detail::checked([&](invivo_error **e) { return invivo_context_observe(raw_, key, &options, &made, e); });
        (void)kept.release();
        return observer(made);
    }
};

/// A context that ends with its block. The destructor does not throw: an error of the end is logged, and is the runtime's last error.
/// If an exception leaves the block, code that stops the objects of the context finds INVIVO_E_HOST in `failure`, without the message
/// of the exception, which a destructor cannot know; `context_builder::run` passes it.
class context : public context_ref {
public:
    context() noexcept = default;
    /// Takes over an open context.
    context(invivo_runtime runtime, invivo_context owned) noexcept : context_ref(runtime, owned) {}
    context(context &&from) noexcept : context_ref(from), exceptions_(from.exceptions_) { from.raw_ = {}; }
    context &operator=(context &&from) noexcept {
        std::swap(runtime_, from.runtime_), std::swap(raw_, from.raw_), std::swap(exceptions_, from.exceptions_);
        return *this;
    }
    ~context() {
        if (std::uncaught_exceptions() > exceptions_) end_after(INVIVO_E_HOST, "an exception left the block");
        else end_after(INVIVO_OK, nullptr);
    }
    /// Leaves the end of the context to the caller, who is its holder now.
    invivo_context release() noexcept { return std::exchange(raw_, invivo_context{}); }

private:
    friend class context_builder;

    /// Ends the context after work that has failed, or has not. An error of the end is logged.
    void end_after(invivo_status failure, const char *message) noexcept {
        if (!raw_.bits) return;
        invivo_context_ending options{};
        options.struct_size = sizeof(options);
        options.failure = failure, options.failure_message = message;
        invivo_error *failed = nullptr;
        if (invivo_context_end_with(release(), &options, nullptr, &failed) != INVIVO_OK) (void)invivo_runtime_note_error(runtime_, failed);
        invivo_error_release(failed);
    }

    int exceptions_ = std::uncaught_exceptions(); ///< of the thread, when the block began
};

/// One of the holders of a context. A context without a kind ends with its last holder. May be empty.
class shared_context : public context_ref {
public:
    shared_context() noexcept = default;
    /// Adds a holder.
    explicit shared_context(const context_ref &held) : context_ref(held) { retain(); }
    /// Takes over the hold of the opener. The context ends by `end`, or with its last holder.
    explicit shared_context(context &&opened) noexcept : context_ref(opened) { (void)opened.release(); }
    shared_context(const shared_context &from) : context_ref(from) { retain(); }
    shared_context(shared_context &&from) noexcept : context_ref(from) { from.raw_ = {}; }
    shared_context &operator=(shared_context from) noexcept {
        std::swap(runtime_, from.runtime_), std::swap(raw_, from.raw_);
        return *this;
    }
    ~shared_context() {
        if (raw_.bits) (void)invivo_context_release(raw_, nullptr);
    }

private:
    void retain() const {
        if (raw_.bits) detail::checked([&](invivo_error **e) { return invivo_context_retain(raw_, e); });
    }
};

/// A context that is being described: `runtime.context("request").set("user", user).open()`.
class context_builder {
public:
    context_builder(invivo_runtime runtime, c_text kind, const char *file, int line)
        : runtime_(runtime), kind_(kind ? kind : ""), place_{file, static_cast<uint32_t>(line), 0} {}

    /// Adds a value, which is in the context before any other code has it.
    template <typename T> INVIVO_LOCAL context_builder &set(c_text key, const T &to) {
        return add(detail::context_key_named(runtime_, key), value::of(to));
    }
    template <typename T> INVIVO_LOCAL context_builder &set(const context_key<T> &key, const detail::exactly_t<T> &to) {
        return add(key.in(runtime_), value::of<T>(to));
    }
    /// Sets the context in which lookups continue. By default it is the current one of the calling thread, or none.
    context_builder &parent(const context_ref &above) { return parent_ = above.raw(), *this; }
    /// The context has no parent, even if the thread has a current context.
    context_builder &detached() { return flags_ |= INVIVO_CONTEXT_DETACHED, *this; }
    /// Sets whether the context holds its parent. By default only a context with a kind does.
    context_builder &holds_parent(bool holds = true) {
        return flags_ |= static_cast<uint32_t>(holds ? INVIVO_CONTEXT_STRONG_PARENT : INVIVO_CONTEXT_WEAK_PARENT), *this;
    }
    /// Sets the object that the context is. The context holds it until it ends.
    context_builder &object(const invivo::object &itself) { return object_ = itself, *this; }
    template <typename T> INVIVO_LOCAL context_builder &object(const ref<T> &itself) { return object(itself.held()); }

    /// Opens the context, which ends with the block of the result.
    [[nodiscard]] context open() const {
        std::vector<invivo_context_value> given;
        for (const auto &[key, to] : values_) given.push_back({key, to.raw()});
        invivo_context_options options{};
        options.struct_size = sizeof(options);
        options.kind = kind_.empty() ? nullptr : kind_.c_str();
        options.parent = parent_, options.flags = flags_;
        options.values = given.data(), options.value_count = given.size();
        options.object = object_.raw(), options.place = place_;
        invivo_context opened{};
        detail::checked([&](invivo_error **e) { return invivo_context_open(runtime_, &options, &opened, e); });
        return {runtime_, opened};
    }

    /// Opens the context, calls `body(context_ref)` with it as the current one of the thread, and ends it. An exception of `body` is
    /// thrown again after the end, which receives its message; an error of the end is logged then, and thrown otherwise.
    template <typename Body> INVIVO_LOCAL auto run(Body &&body) const {
        context opened = open();
        const auto call = [&] {
            const entered_context inside(opened.raw());
            return body(static_cast<const context_ref &>(opened));
        };
        const auto guarded = [&]() -> decltype(call()) {
            try {
                return call();
            } catch (const error &failed) {
                opened.end_after(failed.code(), failed.what());
                throw;
            } catch (const std::exception &failed) {
                opened.end_after(INVIVO_E_HOST, failed.what());
                throw;
            }
        };
        if constexpr (std::is_void_v<decltype(call())>) {
            guarded();
            context_ref(opened.runtime(), opened.release()).end();
        } else {
            auto result = guarded();
            context_ref(opened.runtime(), opened.release()).end();
            return result;
        }
    }

private:
    context_builder &add(invivo_key key, value to) { return values_.emplace_back(key, std::move(to)), *this; }

    invivo_runtime runtime_;
    std::string kind_;
    invivo_place place_;
    invivo_context parent_{};
    uint32_t flags_ = 0;
    std::vector<std::pair<invivo_key, value>> values_;
    invivo::object object_;
};

} // namespace invivo

#endif
