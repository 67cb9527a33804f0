// wiring.hpp: definitions and injections.
#ifndef INVIVO_CPP_WIRING_HPP
#define INVIVO_CPP_WIRING_HPP

#include "type.hpp"

#include <chrono>

namespace invivo {

class definition;

namespace detail INVIVO_LOCAL {
/// The functions of a definition. Each owner holds them by its own handle.
struct INVIVO_VISIBLE functions {
    std::shared_ptr<void> make, inject;
    uint64_t made_type = 0, injected_type = 0; ///< handles of the matching types, once known; read and written by any thread
    static void destroy(void *handle) noexcept { delete static_cast<functions *>(handle); }
};

/// Handles that are passed to a runtime with raw definitions. They are released unless the runtime takes them.
class handed {
public:
    handed() = default;
    handed(const handed &) = delete;
    handed &operator=(const handed &) = delete;
    ~handed() {
        for (functions *each : handles_) delete each;
    }
    void *add(const functions &copied) {
        handles_.reserve(handles_.size() + 1);
        handles_.push_back(new functions(copied));
        return handles_.back();
    }
    void keep() noexcept { handles_.clear(); }

private:
    std::vector<functions *> handles_;
};

inline const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

/// Storage for raw definitions while they are passed on.
struct rooms {
    std::deque<std::vector<invivo_injection>> injections;
    std::deque<std::vector<invivo_invocation>> invocations;
    std::deque<std::vector<invivo_option>> options;
    std::deque<invivo_definition> definitions; ///< inline definitions
    std::deque<std::vector<invivo_value>> values; ///< borrowed
};
} // namespace detail

/// The source of an injected value. Converts implicitly from a C++ constant.
class injection {
public:
    template <typename T, typename = std::enable_if_t<!std::is_base_of_v<injection, std::decay_t<T>>>> INVIVO_LOCAL
    injection(const T &constant) : constant_(value::of(constant)) {}

    /// Null if no definition has the key or type, or its factory returns null.
    injection optional() && { return flags_ |= INVIVO_INJECT_OPTIONAL, std::move(*this); }
    /// For lookups by type: the exact type only.
    injection exact() && { return flags_ |= INVIVO_INJECT_EXACT, std::move(*this); }
    /// For lookups by type: a better candidate that is added later replaces the bound one.
    injection greedy() && { return flags_ |= INVIVO_INJECT_GREEDY, std::move(*this); }
    /// The holder is set up again when what it receives changes (INVIVO_INJECT_OWNS).
    injection owns() && { return flags_ |= INVIVO_INJECT_OWNS, std::move(*this); }
    /// How the holder follows a change of what it receives: it keeps the former object or value, is rebuilt, or refuses
    /// the change. See INVIVO_ON_CHANGE_KEEP, _REBUILD and _REFUSE.
    injection keep() && { return flags_ |= INVIVO_INJECT_KEEP, std::move(*this); }
    injection rebuild() && { return flags_ |= INVIVO_INJECT_REBUILD, std::move(*this); }
    injection refuse() && { return flags_ |= INVIVO_INJECT_REFUSE, std::move(*this); }
    /// As the reference decides, whatever the definition declares.
    injection follow() && { return flags_ |= INVIVO_INJECT_FOLLOW, std::move(*this); }

    /// For all of a type, in a property: methods that receive added and removed objects instead of the whole list.
    injection hearing(std::string added, std::string removed) && {
        return added_ = std::move(added), removed_ = std::move(removed), std::move(*this);
    }
    /// For a configuration value, an entry or a value of a context: the default.
    injection otherwise(injection what) && { return items_.assign(1, std::move(what)), std::move(*this); }

    /// Returns the raw form, borrowed from this and from `room`.
    inline invivo_injection raw(detail::rooms &room, detail::handed &handed) const;

    static injection of(uint32_t how, std::string reference = {}, std::vector<injection> items = {}, uint64_t index = 0) {
        injection made;
        made.how_ = how, made.reference_ = std::move(reference), made.items_ = std::move(items), made.index_ = index;
        return made;
    }
    /// A value of a context of a kind, or ("") of the nearest one.
    static injection context(const std::string &key, const std::string &kind) {
        injection made = of(INVIVO_INJECT_CONTEXT, key);
        if (!kind.empty()) made.constant_ = value::of(kind);
        return made;
    }
    injection named(std::string name) && { return name_ = std::move(name), std::move(*this); }
    /// An inline definition.
    static injection of(std::shared_ptr<definition> standing) {
        injection made;
        made.how_ = INVIVO_INJECT_REFERENCE, made.inline_ = std::move(standing);
        return made;
    }
    /// A string that a converter reads.
    static injection text(value given, std::string converter) {
        injection made;
        made.how_ = INVIVO_INJECT_TEXT, made.constant_ = std::move(given), made.reference_ = std::move(converter);
        return made;
    }

private:
    injection() = default;
    std::string name_, reference_, added_, removed_;
    uint32_t how_ = INVIVO_INJECT_VALUE, flags_ = 0;
    uint64_t index_ = 0;
    value constant_;
    std::vector<injection> items_;
    std::shared_ptr<definition> inline_;
};

/// The object of a key, with runtime arguments.
template <typename... Arguments> INVIVO_LOCAL injection from(const std::string &key, Arguments &&...arguments) {
    return injection::of(INVIVO_INJECT_REFERENCE, key, {injection(std::forward<Arguments>(arguments))...});
}
/// The object of the one definition of type T.
template <typename T> INVIVO_LOCAL injection by_type() { return injection::of(INVIVO_INJECT_TYPE, detail::name_of<T>()); }
/// The object of the one definition of the named type, which may have generic arguments: "Repository[User]".
inline injection by_type(const std::string &type) { return injection::of(INVIVO_INJECT_TYPE, type); }
/// A list with one object of each definition of type T.
template <typename T> INVIVO_LOCAL injection all_of() { return injection::of(INVIVO_INJECT_ALL, detail::name_of<T>()); }
/// A list with one object of each definition of the named type: "Repository[User]".
inline injection all_of(const std::string &type) { return injection::of(INVIVO_INJECT_ALL, type); }
/// The runtime argument with this number, from 0; or all runtime arguments.
inline injection argument(uint64_t index) { return injection::of(INVIVO_INJECT_ARGUMENT, {}, {}, index); }
inline injection arguments() { return injection::of(INVIVO_INJECT_ARGUMENTS); }
/// The value at a property path of another injection.
inline injection path(injection of, const std::string &path) { return injection::of(INVIVO_INJECT_PATH, path, {std::move(of)}); }
/// A new list for each object.
inline injection list(std::vector<injection> items) { return injection::of(INVIVO_INJECT_LIST, {}, std::move(items)); }
/// A provider, which creates an object at each call; or a lazy, which creates it once.
inline injection provider_of(injection what) { return injection::of(INVIVO_INJECT_PROVIDER, {}, {std::move(what)}); }
inline injection lazy_of(injection what) { return injection::of(INVIVO_INJECT_LAZY, {}, {std::move(what)}); }
/// A weak reference: returns the existing object, and creates nothing.
inline injection weak_of(injection what) { return injection::of(INVIVO_INJECT_WEAK, {}, {std::move(what)}); }

/// A set without duplicates; or a map by names.
inline injection set(std::vector<injection> items) { return injection::of(INVIVO_INJECT_SET, {}, std::move(items)); }
inline injection map(std::vector<std::pair<std::string, injection>> items) {
    std::vector<injection> named;
    for (auto &[name, item] : items) named.push_back(std::move(item).named(name));
    return injection::of(INVIVO_INJECT_MAP, {}, std::move(named));
}
/// The configuration value at a path, converted to its target: of the definition's own assembly, else global.
inline injection configured(const std::string &path) { return injection::of(INVIVO_INJECT_CONFIG, path); }
/// The value of a key of contexts: a lookup from the context in which the object is created; with a kind, from the nearest context of
/// that kind. A missing value is an error, unless it has a default (`otherwise`) or is `optional`.
inline injection from_context(const std::string &key, const std::string &kind = {}) { return injection::context(key, kind); }
/// For a definition with `each`: the value at a path below its entry; or the entry's name.
inline injection entry(const std::string &path = {}) { return injection::of(INVIVO_INJECT_ENTRY, path); }
inline injection entry_name() { return injection::of(INVIVO_INJECT_ENTRY_NAME); }
/// A string, or a configuration string, read by a converter ("duration"; "" = the converter of its target).
inline injection read_from(const std::string &text, const std::string &converter = {}) {
    return injection::text(value::of(text), converter);
}
inline injection read_from_config(const std::string &path, const std::string &converter = {}) {
    return injection::of(INVIVO_INJECT_TEXT, converter, {configured(path)});
}
/// A function that resolves keys; or the key of the requester, for objects that are never shared.
inline injection resolver() { return injection::of(INVIVO_INJECT_RESOLVER); }
inline injection asker() { return injection::of(INVIVO_INJECT_ASKER); }
/// An inline definition, whose key is derived from its position: `here(definition("").of<horse>())`. It is taken over.
inline injection here(definition &standing);
inline injection here(definition &&standing);

/// The context of a factory. Valid during its call.
class build {
public:
    explicit build(const invivo_build *raw) : raw_(raw) {}
    invivo_runtime runtime() const noexcept { return raw_->runtime; }
    /// The key that is being created, and the key of the requester; "" if there is none.
    std::string key() const { return raw_->key.bits ? invivo_key_name(raw_->key) : ""; }
    std::string asker() const { return raw_->asker.bits ? invivo_key_name(raw_->asker) : ""; }
    /// The object that the new one replaces, for copying during the call; null if there is none.
    /// It is null on first creation, and if the former object has another type than T. See invivo_build.former.
    template <typename T> INVIVO_LOCAL const T *former() const noexcept {
        const char *type = raw_->former.bits ? invivo_type_name(raw_->type) : nullptr;
        return type && detail::name_of<T>() == type ? static_cast<const T *>(raw_->former_instance) : nullptr;
    }
    /// Resolves another key, which becomes a dependency.
    /// An object that keeps the result stores the `ref`: a plain pointer may outlive a reload. Prefer `with`: the
    /// runtime keeps its objects alive, and checks them at activation (missing keys, captive dependencies).
    template <typename T> INVIVO_LOCAL ref<T> resolve(c_text key) const {
        invivo_object found{};
        detail::checked([&](invivo_error **e) { return invivo_resolve_name(raw_->runtime, key, &found, e); });
        return ref<T>(object(found));
    }

private:
    const invivo_build *raw_;
};

namespace detail INVIVO_LOCAL {
inline error wrong_type(const std::string &what, const std::string &given, const std::string &declared) {
    return error(INVIVO_E_TYPE, what + " '" + given + "', and the definition has the type '" + declared +
                                    "': leave out of(); is<>() of the type declares by which other types it can be looked up");
}

/// Throws if `build` is for an object of another type than T. `fitting` caches the matching type.
template <typename T> void require_made(uint64_t &fitting, const invivo_build *build) {
    if (__atomic_load_n(&fitting, __ATOMIC_RELAXED) == build->type.bits) return;
    const char *declared = invivo_type_name(build->type);
    const std::string own = name_of<T>();
    if (declared && own != declared) throw wrong_type("the function makes a", own, declared);
    __atomic_store_n(&fitting, build->type.bits, __ATOMIC_RELAXED);
}

template <typename T, typename F> struct factory {
    static invivo_status make(void **instance, const invivo_build *raw, const invivo_value *given, size_t count, void *data,
                              invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            functions &own = *static_cast<functions *>(data);
            require_made<T>(own.made_type, raw);
            F &function = *static_cast<F *>(own.make.get());
            call(function, raw, given, count, static_cast<typename method_of<F>::arguments *>(nullptr), *instance);
        });
    }
    /// The number of arguments after the build, up to the last that is not optional.
    static constexpr size_t needed() { return count(static_cast<typename method_of<F>::arguments *>(nullptr)); }

private:
    template <typename B, typename... A> static constexpr size_t count(std::tuple<B, A...> *) {
        size_t each = 0, last = 0;
        ((++each, last = convert<parameter_of<A>>::is_optional ? last : each), ...);
        (void)each;
        return last;
    }
    template <typename B, typename... A>
    static void call(F &make, const invivo_build *raw, const invivo_value *given, size_t count, std::tuple<B, A...> *, void *place) {
        static_assert(std::is_same_v<std::decay_t<B>, build>, "a factory takes a const invivo::build & first, then what `with` gives");
        call_with<A...>(make, raw, given, count, std::index_sequence_for<A...>{}, place);
    }
    template <typename... A, size_t... I>
    static void call_with(F &make, const invivo_build *raw, const invivo_value *given, size_t count, std::index_sequence<I...>,
                          void *place) {
        (void)given, (void)count;
        new (place) T(make(build(raw), convert<parameter_of<A>>::read(detail::argument(given, count, I))...));
    }
};

template <typename T, typename F> struct injector {
    static invivo_status inject(void *instance, const invivo_build *raw, const invivo_value *given, size_t count, void *data,
                                invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            functions &own = *static_cast<functions *>(data);
            F &function = *static_cast<F *>(own.inject.get());
            call(function, *as_declared(instance, own.injected_type, raw), raw, given, count, static_cast<typename method_of<F>::arguments *>(nullptr));
        });
    }

private:
    /// The instance as a T, which is its type or a base of it. A class without a name cannot be checked.
    static T *as_declared(void *instance, uint64_t &fitting, const invivo_build *build) {
        if (__atomic_load_n(&fitting, __ATOMIC_RELAXED) == build->type.bits) return static_cast<T *>(instance);
        const char *declared = invivo_type_name(build->type);
        upcast by = nullptr;
        if (!declared || !has_name<T>()) return static_cast<T *>(instance);
        if (!leads_to<T>(declared, by)) throw wrong_type("the function injects into a", name_of<T>(), declared);
        if (by) return static_cast<T *>(by(instance));
        __atomic_store_n(&fitting, build->type.bits, __ATOMIC_RELAXED);
        return static_cast<T *>(instance);
    }

    template <typename I, typename B, typename... A>
    static void call(F &inject, T &instance, const invivo_build *raw, const invivo_value *given, size_t count, std::tuple<I, B, A...> *) {
        static_assert(std::is_same_v<std::decay_t<B>, build>,
                      "it takes the object and a const invivo::build & first, then runtime arguments");
        call_with<A...>(inject, instance, raw, given, count, std::index_sequence_for<A...>{});
    }
    template <typename... A, size_t... I>
    static void call_with(F &inject, T &instance, const invivo_build *raw, const invivo_value *given, size_t count,
                          std::index_sequence<I...>) {
        (void)given, (void)count;
        inject(instance, build(raw), convert<parameter_of<A>>::read(detail::argument(given, count, I))...);
    }
};

inline uint32_t milliseconds_of(std::chrono::milliseconds time) {
    if (time.count() < 0 || time.count() > UINT32_MAX)
        throw error(INVIVO_E_ARGUMENT, std::to_string(time.count()) + " ms is not a time to wait; expected 0 to 4294967295 ms");
    return static_cast<uint32_t>(time.count());
}
} // namespace detail

/// A builder for a definition: `invivo::definition("synth.lead").of<voice>().lazy_singleton().give("gain", 0.5)`.
class definition {
public:
    explicit definition(std::string key) : key_(std::move(key)) {}

    template <typename T> INVIVO_LOCAL definition &of() { return type_ = detail::name_of<T>(), *this; }
    definition &of(std::string type) { return type_ = std::move(type), *this; }
    /// Sets the type with its generic arguments, "Repository[User]". Lookups for that name prefer this definition at
    /// equal rank.
    definition &generic(std::string type) { return generic_ = std::move(type), *this; }

    definition &prototype() { return scope(INVIVO_SCOPE_PROTOTYPE); }
    definition &graph() { return scope(INVIVO_SCOPE_GRAPH); }
    definition &singleton() { return scope(INVIVO_SCOPE_SINGLETON); }
    definition &lazy_singleton() { return scope(INVIVO_SCOPE_LAZY_SINGLETON); }
    definition &weak_singleton() { return scope(INVIVO_SCOPE_WEAK_SINGLETON); }
    /// One object in each context in which it is resolved; with a kind, in each context of that kind (context.h).
    definition &context(std::string kind = {}) { return scope_name_ = std::move(kind), scope(INVIVO_SCOPE_CONTEXT); }
    /// One object per thread, until the thread ends.
    definition &thread() { return scope(INVIVO_SCOPE_THREAD); }
    /// One object per instance of a host scope (`runtime.scope`).
    definition &in_scope(std::string name) { return scope_name_ = std::move(name), scope(INVIVO_SCOPE_HOST); }
    definition &scope(uint32_t scope) { return scope_ = scope, *this; }

    /// Adds constructor arguments by position, after those that were given before.
    template <typename... A> INVIVO_LOCAL definition &with(A &&...arguments) {
        (initializer_.push_back(injection(std::forward<A>(arguments))), ...);
        return *this;
    }
    /// Adds a constructor argument by parameter name.
    template <typename A> INVIVO_LOCAL definition &give(const std::string &parameter, A &&what) {
        return initializer_.push_back(injection(std::forward<A>(what)).named(parameter)), *this;
    }
    /// Adds a property, set after creation, in order of declaration.
    template <typename A> INVIVO_LOCAL definition &set(const std::string &property, A &&what) {
        return properties_.push_back(injection(std::forward<A>(what)).named(property)), *this;
    }
    /// Adds a method call: after the properties (`call`); before all injection (`before`); after it (`after`); when the
    /// whole graph is complete (`after_all`).
    template <typename... A> INVIVO_LOCAL definition &call(const std::string &method, A &&...with) {
        return add(methods_, method, {injection(std::forward<A>(with))...});
    }
    template <typename... A> INVIVO_LOCAL definition &before(const std::string &method, A &&...with) {
        return add(before_, method, {injection(std::forward<A>(with))...});
    }
    template <typename... A> INVIVO_LOCAL definition &after(const std::string &method, A &&...with) {
        return add(after_, method, {injection(std::forward<A>(with))...});
    }
    template <typename... A> INVIVO_LOCAL definition &after_all(const std::string &method, A &&...with) {
        return add(after_all_, method, {injection(std::forward<A>(with))...});
    }
    /// Declares the runtime arguments. `argument(n)` injects one: `.parameters<int>({"note"}).with(argument(0))`.
    template <typename... A> INVIVO_LOCAL definition &parameters(const std::vector<std::string> &names = {}) {
        const auto &table = tables_.take<A...>("the definition of '" + key_ + "'", names);
        return parameters_ = table.data(), parameter_count_ = table.size(), *this;
    }
    /// Sets the defaults of the last runtime arguments: `.parameters<int, double>({"note", "gain"}).defaults(60, 0.5)`.
    template <typename... A> INVIVO_LOCAL definition &defaults(const A &...values) {
        return defaults_ = {value::of(values)...}, *this;
    }

    /// Creates the object with a function: `.with(0.5).made<voice>([](const invivo::build &build, double gain) { return
    /// voice(...); })`.
    /// After the build it receives the values of `with` and `give`, which must cover its parameters.
    template <typename T, typename F> INVIVO_LOCAL definition &made(F make) {
        made_ = detail::name_of<T>();
        type_ = made_;
        functions_.make = std::make_shared<F>(std::move(make));
        factory_ = detail::factory<T, F>::make;
        needed_ = detail::factory<T, F>::needed();
        return *this;
    }
    /// Injects with a function, between the methods and `after`: `[](voice &made, const invivo::build &build) { ... }`.
    template <typename T, typename F> INVIVO_LOCAL definition &injected(F inject) {
        functions_.inject = std::make_shared<F>(std::move(inject));
        injector_ = detail::injector<T, F>::inject;
        return *this;
    }
    /// The result of a method of another object is the object.
    template <typename... A> INVIVO_LOCAL definition &made_by(injection maker, const std::string &method, A &&...with) {
        maker_.assign(1, std::move(maker));
        (maker_.push_back(injection(std::forward<A>(with))), ...);
        return maker_method_ = method, *this;
    }
    /// An existing object.
    definition &constant(object thing) { return constant_ = std::move(thing), *this; }
    /// An alias of another key, with runtime arguments.
    template <typename... A> INVIVO_LOCAL definition &alias(const std::string &other, A &&...arguments) {
        return alias_ = other, with(std::forward<A>(arguments)...);
    }
    /// A choice: the key stands for the first option that matches the value of `chooser`. Add options with `when` and
    /// `otherwise`.
    definition &choose(injection chooser) { return chooser_.assign(1, std::move(chooser)), *this; }
    template <typename T> INVIVO_LOCAL definition &when(const T &equal, injection use) {
        return options_.push_back({INVIVO_WHEN_EQUAL, value::of(equal), {}, {std::move(use)}}), *this;
    }
    /// Matches an object of this type or a subtype (`when_is`); of exactly this type (`when_exactly`).
    template <typename T> INVIVO_LOCAL definition &when_is(injection use) {
        return options_.push_back({INVIVO_WHEN_KIND, {}, detail::name_of<T>(), {std::move(use)}}), *this;
    }
    template <typename T> INVIVO_LOCAL definition &when_exactly(injection use) {
        return options_.push_back({INVIVO_WHEN_EXACT, {}, detail::name_of<T>(), {std::move(use)}}), *this;
    }
    /// Matches a string: the name of a definition.
    definition &when_named() { return options_.push_back({INVIVO_WHEN_NAMED, {}, {}, {}}), *this; }
    definition &otherwise(injection use) { return options_.push_back({INVIVO_WHEN_OTHERWISE, {}, {}, {std::move(use)}}), *this; }
    /// One instance per entry of the map or list at this configuration path.
    definition &each(std::string path) { return each_ = std::move(path), *this; }
    definition &parent(std::string key) { return parent_ = std::move(key), *this; }
    /// INVIVO_DEFINITION_ABSTRACT, _HIDDEN_CLASS, ...
    definition &flags(uint32_t flags) { return flags_ |= flags, *this; }
    definition &abstract() { return flags(INVIVO_DEFINITION_ABSTRACT); }
    definition &hidden() { return flags(INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE); }
    /// At most one object at a time; blocked while dependencies are missing; live prototypes follow reloads.
    definition &exclusive() { return flags(INVIVO_DEFINITION_EXCLUSIVE); }
    definition &waits() { return flags(INVIVO_DEFINITION_WAITS); }
    definition &tracked() { return flags(INVIVO_DEFINITION_TRACKED); }
    /// A change of the definition takes effect when its object is next created (INVIVO_DEFINITION_RESTART).
    definition &restart() { return flags(INVIVO_DEFINITION_RESTART); }
    /// Names the key in `traits:` whose traits apply to its objects; INVIVO_SPEC_KEY_NONE: none.
    definition &spec_key(std::string key) { return spec_key_ = std::move(key), *this; }
    /// How its objects follow changes of what they receive: INVIVO_ON_CHANGE_KEEP, ...; `reason` is for REFUSE.
    definition &on_change(uint32_t how, std::string reason = {}) { return on_change_ = how, reason_ = std::move(reason), *this; }
    /// The start and stop timeouts of its objects.
    definition &start_timeout(std::chrono::milliseconds time) { return start_timeout_ = detail::milliseconds_of(time), *this; }
    definition &stop_timeout(std::chrono::milliseconds time) { return stop_timeout_ = detail::milliseconds_of(time), *this; }
    definition &rank(int32_t rank) { return rank_ = rank, *this; }
    /// Sets the source location for messages: INVIVO_HERE.
    definition &at(const char *file, uint32_t line) { return file_ = file, line_ = line, *this; }

    definition(definition &&) = default;
    definition(const definition &) = delete;
    definition &operator=(const definition &) = delete;

    const std::string &key() const noexcept { return key_; }
    /// Passes the raw form to `take`, which copies it. If that succeeds, the runtime shares the ownership of its
    /// functions.
    template <typename Take> INVIVO_LOCAL void give_to(Take &&take) const {
        detail::rooms room;
        detail::handed handed;
        invivo_definition raw = this->raw(room, handed);
        take(raw);
        handed.keep();
    }
    /// Returns the raw form, borrowed from this and from `room`. The contents of `handed` are released, unless
    /// `handed.keep()` is called.
    invivo_definition raw(detail::rooms &room, detail::handed &handed) const {
        invivo_definition raw{};
        raw.struct_size = sizeof(raw);
        raw.key = key_.c_str();
        raw.scope = scope_, raw.flags = flags_, raw.rank = rank_, raw.on_change = on_change_;
        raw.on_change_reason = reason_.empty() ? nullptr : reason_.c_str();
        raw.scope_name = detail::text_or_null(scope_name_);
        raw.spec_key = detail::text_or_null(spec_key_);
        raw.type_name = detail::text_or_null(type_);
        raw.generic = detail::text_or_null(generic_);
        if (!made_.empty() && made_ != type_) throw detail::wrong_type("'" + key_ + "': the function makes a", made_, type_);
        if (parent_.empty() && initializer_.size() < needed_) {
            const std::string message = "the function that makes it takes " + std::to_string(needed_) + " argument(s) after the build, got " +
                                        std::to_string(initializer_.size()) +
                                        ": give them by with(...); declare runtime arguments by parameters<...>(...), and give argument(n)";
            throw error(INVIVO_E_ARITY, invivo_error_make(INVIVO_E_ARITY, message.c_str(), key_.c_str(), nullptr));
        }
        raw.factory = factory_, raw.inject = injector_;
        if (factory_ || injector_) raw.user_data = handed.add(functions_), raw.destroy = detail::functions::destroy;
        table(initializer_, raw.initializer, raw.initializer_count, room, handed);
        table(properties_, raw.properties, raw.property_count, room, handed);
        raw.alias = detail::text_or_null(alias_);
        raw.file = file_, raw.line = line_;
        raw.parent = detail::text_or_null(parent_);
        raw.parameters = parameters_, raw.parameter_count = parameter_count_;
        if (!defaults_.empty()) {
            if (defaults_.size() > parameter_count_) {
                const std::string message = std::to_string(defaults_.size()) + " runtime argument(s) have a default, and " +
                                            std::to_string(parameter_count_) + " are declared by parameters<...>(...)";
                throw error(INVIVO_E_ARITY, invivo_error_make(INVIVO_E_ARITY, message.c_str(), key_.c_str(), nullptr));
            }
            std::vector<invivo_value> values(parameter_count_ - defaults_.size(), invivo_null());
            for (const value &each : defaults_) values.push_back(each.raw());
            room.values.push_back(std::move(values));
            raw.defaults = room.values.back().data();
        }
        table(methods_, raw.methods, raw.method_count, room, handed);
        table(before_, raw.before, raw.before_count, room, handed);
        table(after_, raw.after, raw.after_count, room, handed);
        table(after_all_, raw.after_all, raw.after_all_count, room, handed);
        raw.maker_method = detail::text_or_null(maker_method_);
        table(maker_, raw.maker, raw.maker_count, room, handed);
        raw.constant = constant_.raw();
        raw.each = detail::text_or_null(each_);
        raw.start_timeout_ms = start_timeout_, raw.stop_timeout_ms = stop_timeout_;
        if (!chooser_.empty()) {
            uint64_t count = 0;
            table(chooser_, raw.chooser, count, room, handed);
            std::vector<invivo_option> made;
            for (const option &each : options_) {
                invivo_option one{};
                one.when = each.when, one.value = each.equal.raw(), one.name = detail::text_or_null(each.type);
                if (!each.use.empty()) one.use = each.use[0].raw(room, handed);
                made.push_back(one);
            }
            room.options.push_back(std::move(made));
            raw.options = room.options.back().data(), raw.option_count = room.options.back().size();
        }
        return raw;
    }

private:
    struct invocation {
        std::string method;
        std::vector<injection> arguments;
    };
    struct option {
        uint32_t when;
        value equal;
        std::string type;
        std::vector<injection> use; ///< one, or none
    };

    definition &add(std::vector<invocation> &to, const std::string &method, std::vector<injection> arguments) {
        return to.push_back({method, std::move(arguments)}), *this;
    }
    static void table(const std::vector<injection> &from, const invivo_injection *&to, uint64_t &count, detail::rooms &room,
                      detail::handed &handed) {
        std::vector<invivo_injection> raw;
        for (const injection &each : from) raw.push_back(each.raw(room, handed));
        room.injections.push_back(std::move(raw));
        to = room.injections.back().data(), count = room.injections.back().size();
    }
    static void table(const std::vector<invocation> &from, const invivo_invocation *&to, uint64_t &count, detail::rooms &room,
                      detail::handed &handed) {
        std::vector<invivo_invocation> raw;
        for (const invocation &each : from) {
            invivo_invocation made{};
            made.method = each.method.c_str();
            table(each.arguments, made.arguments, made.argument_count, room, handed);
            raw.push_back(made);
        }
        room.invocations.push_back(std::move(raw));
        to = room.invocations.back().data(), count = room.invocations.back().size();
    }

    std::string key_, type_, alias_, parent_, maker_method_, scope_name_, each_, generic_, spec_key_;
    const char *file_ = nullptr;
    std::string reason_;
    uint32_t scope_ = INVIVO_SCOPE_DEFAULT, flags_ = 0, on_change_ = INVIVO_ON_CHANGE_DEFAULT, line_ = 0, start_timeout_ = 0, stop_timeout_ = 0;
    int32_t rank_ = 0;
    detail::tables tables_;
    const invivo_parameter *parameters_ = nullptr;
    uint64_t parameter_count_ = 0;
    std::vector<value> defaults_;
    std::vector<injection> initializer_, properties_, maker_, chooser_;
    std::vector<invocation> methods_, before_, after_, after_all_;
    std::vector<option> options_;
    object constant_;
    detail::functions functions_;
    decltype(invivo_definition::factory) factory_ = nullptr;
    std::string made_;  ///< the type that the factory creates
    size_t needed_ = 0; ///< arguments of the factory
    decltype(invivo_definition::inject) injector_ = nullptr;
};

inline invivo_injection injection::raw(detail::rooms &room, detail::handed &handed) const {
    invivo_injection made{};
    made.name = detail::text_or_null(name_);
    made.how = how_, made.flags = flags_, made.index = index_;
    made.value = constant_.raw();
    made.reference = detail::text_or_null(reference_);
    made.added = detail::text_or_null(added_), made.removed = detail::text_or_null(removed_);
    std::vector<invivo_injection> items;
    for (const injection &item : items_) items.push_back(item.raw(room, handed));
    if (!items.empty()) {
        room.injections.push_back(std::move(items));
        made.items = room.injections.back().data(), made.item_count = room.injections.back().size();
    }
    if (inline_) {
        invivo_definition standing = inline_->raw(room, handed);
        standing.key = nullptr;
        room.definitions.push_back(standing);
        made.definition = &room.definitions.back();
    }
    return made;
}
template <typename T> INVIVO_LOCAL type<T> &type<T>::needs(const std::string &property, injection what) {
    needs_.push_back(std::make_shared<injection>(std::move(what).named(property)));
    return *this;
}

template <typename T> INVIVO_LOCAL invivo_type type<T>::add(invivo_runtime runtime) {
    invivo_type made{};
    detail::rooms room;
    detail::handed handed;
    std::vector<invivo_injection> needs;
    for (const std::shared_ptr<injection> &each : needs_) needs.push_back(each->raw(room, handed));
    options_.needs = needs.data(), options_.need_count = needs.size();
    // The runtime refuses these. The initial values of a constructor with parameters are unknown.
    for (auto &[index, start] : outside_) properties_[index].initial_value = options_.parameter_count ? nullptr : &start.raw();
    options_.properties = properties_.empty() ? nullptr : properties_.data(), options_.property_count = properties_.size();
    options_.methods = methods_.empty() ? nullptr : methods_.data(), options_.method_count = methods_.size();
    options_.supertypes = supertypes_.data(), options_.supertype_count = supertypes_.size();
    detail::checked([&](invivo_error **e) { return invivo_type_register(runtime, &options_, &made, e); });
    handed.keep();
    options_.needs = nullptr, options_.need_count = 0;
    return made;
}

inline injection here(definition &standing) { return injection::of(std::make_shared<definition>(std::move(standing))); }
inline injection here(definition &&standing) { return here(standing); }

/// `definition("app.lead").at(INVIVO_HERE)`.
#define INVIVO_HERE __FILE__, __LINE__

} // namespace invivo

#endif
