// wiring.hpp: definitions and what goes into them.
#ifndef INVIVO_CPP_WIRING_HPP
#define INVIVO_CPP_WIRING_HPP

#include "type.hpp"

namespace invivo {

class definition;

/// Where a value comes from when an object is made. A constant of C++ is one by itself.
class injection {
public:
    template <typename T, typename = std::enable_if_t<!std::is_base_of_v<injection, std::decay_t<T>>>>
    injection(const T &constant) : constant_(value::of(constant)) {}

    /// Null when nothing has the key or type, or what makes it answers null.
    injection optional() && { return flags_ |= INVIVO_INJECT_OPTIONAL, std::move(*this); }
    /// Of a type: itself only, not what says that it is it.
    injection exact() && { return flags_ |= INVIVO_INJECT_EXACT, std::move(*this); }
    /// Of a type: a better candidate that comes later is taken.
    injection greedy() && { return flags_ |= INVIVO_INJECT_GREEDY, std::move(*this); }

    /// The raw form, borrowed from this and from `room`.
    invivo_injection raw(std::deque<std::vector<invivo_injection>> &room) const {
        invivo_injection made{};
        made.name = name_.empty() ? nullptr : name_.c_str();
        made.how = how_, made.flags = flags_, made.index = index_;
        made.value = constant_.raw();
        made.reference = reference_.empty() ? nullptr : reference_.c_str();
        std::vector<invivo_injection> items;
        for (const injection &item : items_) items.push_back(item.raw(room));
        if (!items.empty()) {
            room.push_back(std::move(items));
            made.items = room.back().data(), made.item_count = room.back().size();
        }
        return made;
    }

    static injection of(uint32_t how, std::string reference = {}, std::vector<injection> items = {}, uint64_t index = 0) {
        injection made;
        made.how_ = how, made.reference_ = std::move(reference), made.items_ = std::move(items), made.index_ = index;
        return made;
    }
    injection named(std::string name) && { return name_ = std::move(name), std::move(*this); }

private:
    injection() = default;
    std::string name_, reference_;
    uint32_t how_ = INVIVO_INJECT_VALUE, flags_ = 0;
    uint64_t index_ = 0;
    value constant_;
    std::vector<injection> items_;
};

/// What a key resolves to, with runtime arguments.
template <typename... Arguments> injection from(const std::string &key, Arguments &&...arguments) {
    return injection::of(INVIVO_INJECT_REFERENCE, key, {injection(std::forward<Arguments>(arguments))...});
}
/// What the one definition of the type makes.
template <typename T> injection by_type() { return injection::of(INVIVO_INJECT_TYPE, detail::name_of<T>()); }
/// A list: one of each definition of the type.
template <typename T> injection all_of() { return injection::of(INVIVO_INJECT_ALL, detail::name_of<T>()); }
/// The runtime argument of this number, from 0; all of them.
inline injection argument(uint64_t index) { return injection::of(INVIVO_INJECT_ARGUMENT, {}, {}, index); }
inline injection arguments() { return injection::of(INVIVO_INJECT_ARGUMENTS); }
/// The value at a path of properties of what another injection gives.
inline injection path(injection of, const std::string &path) { return injection::of(INVIVO_INJECT_PATH, path, {std::move(of)}); }
/// A fresh list for each object.
inline injection list(std::vector<injection> items) { return injection::of(INVIVO_INJECT_LIST, {}, std::move(items)); }
/// A function that makes it each time; that makes it once.
inline injection provider_of(injection what) { return injection::of(INVIVO_INJECT_PROVIDER, {}, {std::move(what)}); }
inline injection lazy_of(injection what) { return injection::of(INVIVO_INJECT_LAZY, {}, {std::move(what)}); }

/// What a factory may ask. Valid during its call.
class build {
public:
    explicit build(const invivo_build *raw) : raw_(raw) {}
    invivo_runtime runtime() const noexcept { return raw_->runtime; }
    /// The key being made, and the one that it is made for; "" when there is none.
    std::string key() const { return raw_->key.bits ? invivo_key_name(raw_->key) : ""; }
    std::string asker() const { return raw_->asker.bits ? invivo_key_name(raw_->asker) : ""; }
    /// Resolves another key, which becomes a dependency.
    template <typename T> ref<T> resolve(const char *key) const {
        invivo_object found{};
        detail::checked([&](invivo_error **e) { return invivo_resolve_name(raw_->runtime, key, &found, e); });
        return ref<T>(object(found));
    }

private:
    const invivo_build *raw_;
};

namespace detail {
/// A factory written in C++; owned by the definition.
template <typename T, typename F> struct factory_box {
    F make;

    static invivo_status run(void **instance, const invivo_build *raw, const invivo_value *given, size_t count, void *data,
                             invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            using arguments = typename method_of<F>::arguments;
            call(static_cast<factory_box *>(data)->make, *instance, raw, given, count, static_cast<arguments *>(nullptr));
        });
    }
    static void destroy(void *data) noexcept { delete static_cast<factory_box *>(data); }

private:
    template <typename B, typename... A>
    static void call(F &make, void *place, const invivo_build *raw, const invivo_value *given, size_t count, std::tuple<B, A...> *) {
        static_assert(std::is_same_v<std::decay_t<B>, build>, "a factory takes a const invivo::build & first, then runtime arguments");
        call_with<A...>(make, place, raw, given, count, std::index_sequence_for<A...>{});
    }
    template <typename... A, size_t... I>
    static void call_with(F &make, void *place, const invivo_build *raw, const invivo_value *given, size_t count,
                          std::index_sequence<I...>) {
        (void)given, (void)count;
        new (place) T(make(build(raw), convert<parameter_of<A>>::read(detail::argument(given, count, I))...));
    }
};
} // namespace detail

/// The recipe for a key, being written: `invivo::definition("synth.lead").of<voice>().lazy_singleton().give("gain", 0.5)`.
class definition {
public:
    explicit definition(std::string key) : key_(std::move(key)) {}

    template <typename T> definition &of() { return type_ = detail::name_of<T>(), *this; }
    definition &of(std::string type) { return type_ = std::move(type), *this; }

    definition &prototype() { return scope(INVIVO_SCOPE_PROTOTYPE); }
    definition &graph() { return scope(INVIVO_SCOPE_GRAPH); }
    definition &singleton() { return scope(INVIVO_SCOPE_SINGLETON); }
    definition &lazy_singleton() { return scope(INVIVO_SCOPE_LAZY_SINGLETON); }
    definition &weak_singleton() { return scope(INVIVO_SCOPE_WEAK_SINGLETON); }
    definition &scope(uint32_t scope) { return scope_ = scope, *this; }

    /// Constructor arguments by position, after those that were given before.
    template <typename... A> definition &with(A &&...arguments) {
        (initializer_.push_back(injection(std::forward<A>(arguments))), ...);
        return *this;
    }
    /// One by the parameter's name.
    template <typename A> definition &give(const std::string &parameter, A &&what) {
        return initializer_.push_back(injection(std::forward<A>(what)).named(parameter)), *this;
    }
    /// A property, set after making, in the order in which they are said.
    template <typename A> definition &set(const std::string &property, A &&what) {
        return properties_.push_back(injection(std::forward<A>(what)).named(property)), *this;
    }
    /// A method, called after the properties; before all injection; after it; when the whole graph is complete.
    template <typename... A> definition &call(const std::string &method, A &&...with) {
        return add(methods_, method, {injection(std::forward<A>(with))...});
    }
    template <typename... A> definition &before(const std::string &method, A &&...with) {
        return add(before_, method, {injection(std::forward<A>(with))...});
    }
    template <typename... A> definition &after(const std::string &method, A &&...with) {
        return add(after_, method, {injection(std::forward<A>(with))...});
    }
    template <typename... A> definition &after_all(const std::string &method, A &&...with) {
        return add(after_all_, method, {injection(std::forward<A>(with))...});
    }
    /// The runtime arguments that it takes.
    template <typename... A> definition &parameters(const std::vector<std::string> &names = {}) {
        const auto &table = tables_.take<A...>(names);
        return parameters_ = table.data(), parameter_count_ = table.size(), *this;
    }

    /// Made by a function: `.made<voice>([](const invivo::build &build, double gain) { return voice(...); })`.
    template <typename T, typename F> definition &made(F make) {
        using box = detail::factory_box<T, F>;
        of<T>();
        drop();
        data_ = new box{std::move(make)};
        factory_ = box::run, destroy_ = box::destroy;
        return *this;
    }
    /// The answer of a method of another object.
    template <typename... A> definition &made_by(injection maker, const std::string &method, A &&...with) {
        maker_.assign(1, std::move(maker));
        (maker_.push_back(injection(std::forward<A>(with))), ...);
        return maker_method_ = method, *this;
    }
    /// The object itself.
    definition &constant(object thing) { return constant_ = std::move(thing), *this; }
    /// This key is then another one, with runtime arguments.
    template <typename... A> definition &alias(const std::string &other, A &&...arguments) {
        return alias_ = other, with(std::forward<A>(arguments)...);
    }
    definition &parent(std::string key) { return parent_ = std::move(key), *this; }
    /// INVIVO_DEFINITION_ABSTRACT, _HIDDEN_CLASS, ...
    definition &flags(uint32_t flags) { return flags_ |= flags, *this; }
    definition &abstract() { return flags(INVIVO_DEFINITION_ABSTRACT); }
    definition &hidden() { return flags(INVIVO_DEFINITION_HIDDEN_CLASS | INVIVO_DEFINITION_HIDDEN_INTERFACE); }
    definition &rank(int32_t rank) { return rank_ = rank, *this; }
    /// Where it is declared, for messages: INVIVO_HERE.
    definition &at(const char *file, uint32_t line) { return file_ = file, line_ = line, *this; }

    definition(const definition &) = delete;
    definition &operator=(const definition &) = delete;
    ~definition() { drop(); }

    /// Hands it to whoever takes it; what a factory holds then belongs to the runtime, unless that fails.
    template <typename Take> void give_to(Take &&take) {
        std::deque<std::vector<invivo_injection>> room;
        std::deque<std::vector<invivo_invocation>> calls;
        invivo_definition raw{};
        raw.struct_size = sizeof(raw);
        raw.key = key_.c_str();
        raw.scope = scope_, raw.flags = flags_, raw.rank = rank_;
        raw.type_name = type_.empty() ? nullptr : type_.c_str();
        raw.factory = factory_, raw.user_data = data_, raw.destroy = destroy_;
        table(initializer_, raw.initializer, raw.initializer_count, room);
        table(properties_, raw.properties, raw.property_count, room);
        raw.alias = alias_.empty() ? nullptr : alias_.c_str();
        raw.file = file_, raw.line = line_;
        raw.parent = parent_.empty() ? nullptr : parent_.c_str();
        raw.parameters = parameters_, raw.parameter_count = parameter_count_;
        table(methods_, raw.methods, raw.method_count, room, calls);
        table(before_, raw.before, raw.before_count, room, calls);
        table(after_, raw.after, raw.after_count, room, calls);
        table(after_all_, raw.after_all, raw.after_all_count, room, calls);
        raw.maker_method = maker_method_.empty() ? nullptr : maker_method_.c_str();
        table(maker_, raw.maker, raw.maker_count, room);
        raw.constant = constant_.raw();
        take(raw);
        data_ = nullptr, destroy_ = nullptr;
    }

private:
    struct invocation {
        std::string method;
        std::vector<injection> arguments;
    };
    using rooms = std::deque<std::vector<invivo_injection>>;

    definition &add(std::vector<invocation> &to, const std::string &method, std::vector<injection> arguments) {
        return to.push_back({method, std::move(arguments)}), *this;
    }
    static void table(const std::vector<injection> &from, const invivo_injection *&to, uint64_t &count, rooms &room) {
        std::vector<invivo_injection> raw;
        for (const injection &each : from) raw.push_back(each.raw(room));
        room.push_back(std::move(raw));
        to = room.back().data(), count = room.back().size();
    }
    static void table(const std::vector<invocation> &from, const invivo_invocation *&to, uint64_t &count, rooms &room,
                      std::deque<std::vector<invivo_invocation>> &calls) {
        std::vector<invivo_invocation> raw;
        for (const invocation &each : from) {
            invivo_invocation made{};
            made.method = each.method.c_str();
            table(each.arguments, made.arguments, made.argument_count, room);
            raw.push_back(made);
        }
        calls.push_back(std::move(raw));
        to = calls.back().data(), count = calls.back().size();
    }
    void drop() noexcept {
        if (destroy_) destroy_(data_);
        data_ = nullptr, destroy_ = nullptr;
    }

    std::string key_, type_, alias_, parent_, maker_method_;
    const char *file_ = nullptr;
    uint32_t scope_ = INVIVO_SCOPE_DEFAULT, flags_ = 0, line_ = 0;
    int32_t rank_ = 0;
    detail::tables tables_;
    const invivo_parameter *parameters_ = nullptr;
    uint64_t parameter_count_ = 0;
    std::vector<injection> initializer_, properties_, maker_;
    std::vector<invocation> methods_, before_, after_, after_all_;
    object constant_;
    decltype(invivo_definition::factory) factory_ = nullptr;
    void *data_ = nullptr;
    void (*destroy_)(void *) = nullptr;
};

/// `definition("app.lead").at(INVIVO_HERE)`.
#define INVIVO_HERE __FILE__, __LINE__

} // namespace invivo

#endif
