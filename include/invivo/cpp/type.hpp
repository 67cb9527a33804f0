// type.hpp: describing a C++ class to a runtime: constructor, properties, methods, bases.
#ifndef INVIVO_CPP_TYPE_HPP
#define INVIVO_CPP_TYPE_HPP

#include "refused.hpp"
#include "value.hpp"

namespace invivo {

class injection;

/// The optional description of a property.
struct facts {
    double min = 0, max = 0; ///< Inclusive; the range applies only if min < max.
    double step = 0;
    const char *unit = nullptr, *text = nullptr;
    uint32_t flags = 0; ///< INVIVO_PROPERTY_...
    uint32_t codec = INVIVO_CODEC_NONE; ///< the text form of its values, INVIVO_CODEC_...

    /// The description of a property or field, whose strings stay with the caller.
    invivo_property property(const char *name, invivo_kind kind) const {
        invivo_property made{};
        made.struct_size = sizeof(made);
        made.name = name, made.kind = kind, made.flags = flags, made.codec = codec;
        made.min = min, made.max = max, made.step = step;
        made.unit = unit, made.text = text;
        return made;
    }
};

/// Writes a value of a property as text, by its codec, with its unit, or by the name of a choice. See invivo_property_text.
template <typename T> INVIVO_LOCAL std::string property_text(invivo_type described, const std::string &property, const T &of) {
    const value given = value::of(of);
    value text;
    detail::checked([&](invivo_error **e) { return invivo_property_text(described, property.c_str(), &given.raw(), text.out(), e); });
    return text.as<std::string>();
}
/// Reads a value of a property from text, as a spec file does.
template <typename T> INVIVO_LOCAL T property_read(invivo_type described, const std::string &property, std::string_view text) {
    value found;
    detail::checked([&](invivo_error **e) {
        return invivo_property_read(described, property.c_str(), text.data(), text.size(), found.out(), e);
    });
    return found.as<T>();
}

namespace detail INVIVO_LOCAL {

template <typename Member> struct member_of;
template <typename C, typename M> struct member_of<M C::*> {
    using owner = C;
    using field = M;
};
template <typename C, typename R, typename... A> struct function_of {
    using owner = C;
    using result = R;
    using arguments = std::tuple<A...>;
};
template <typename F> struct method_of;
template <typename C, typename R, typename... A> struct method_of<R (C::*)(A...)> : function_of<C, R, A...> {};
template <typename C, typename R, typename... A> struct method_of<R (C::*)(A...) const> : function_of<C, R, A...> {};
template <typename C, typename R, typename... A> struct method_of<R (C::*)(A...) noexcept> : function_of<C, R, A...> {};
template <typename C, typename R, typename... A> struct method_of<R (C::*)(A...) const noexcept> : function_of<C, R, A...> {};
template <typename F> struct method_of : method_of<decltype(&F::operator())> {};
template <typename R, typename... A> struct method_of<R (*)(A...)> : function_of<void, R, A...> {};

/// Storage for the tables of one description until it is registered. Strings and tables do not move.
struct INVIVO_VISIBLE tables {
    std::deque<std::string> texts;
    std::deque<std::vector<invivo_parameter>> parameters;

    const char *keep(std::string text) {
        texts.push_back(std::move(text));
        return texts.back().c_str();
    }

    template <typename... A> INVIVO_LOCAL
    const std::vector<invivo_parameter> &take(const std::string &owner, const std::vector<std::string> &names) {
        if (!names.empty() && names.size() != sizeof...(A))
            throw error(INVIVO_E_ARGUMENT, owner + " has " + std::to_string(sizeof...(A)) +
                                               (sizeof...(A) == 1 ? " parameter and " : " parameters and ") +
                                               std::to_string(names.size()) + (names.size() == 1 ? " name" : " names") +
                                               ": name all of them, or none");
        std::vector<invivo_parameter> table;
        (add<parameter_of<A>>(table, names), ...);
        parameters.push_back(std::move(table));
        return parameters.back();
    }

private:
    template <typename A> INVIVO_LOCAL void add(std::vector<invivo_parameter> &table, const std::vector<std::string> &names) {
        invivo_parameter parameter{};
        size_t index = table.size();
        parameter.name = keep(index < names.size() ? names[index] : "argument" + std::to_string(index));
        parameter.kind = convert<A>::kind;
        parameter.flags = convert<A>::is_optional ? static_cast<uint32_t>(INVIVO_PARAMETER_OPTIONAL) : 0u;
        std::string type = convert<A>::type_name();
        if (!type.empty()) parameter.type_name = keep(type);
        table.push_back(parameter);
    }
};

/// Whether the compiler can compute the initial value of a member of `T()`: the constructor is constexpr, and the
/// member is a number.
template <typename T, auto Member, typename = void> struct is_start_known : std::false_type {};
template <typename T, auto Member>
struct is_start_known<T, Member, std::void_t<std::bool_constant<(static_cast<double>(T().*Member) < 0 || true)>>> : std::true_type {};

/// A pointer to an object that the runtime holds as long as this pointer exists.
template <typename T> constexpr bool is_borrowed = std::is_pointer_v<T> && std::is_class_v<std::remove_pointer_t<T>>;

template <typename T> struct thunks {
    template <typename... A>
    static invivo_status construct(void *instance, const invivo_build *, const invivo_value *arguments, size_t count, void *,
                                   invivo_error **out) noexcept {
        return guarded(out, [&] { construct_with<A...>(instance, arguments, count, std::index_sequence_for<A...>{}); });
    }
    static void destroy(void *instance, void *) noexcept { static_cast<T *>(instance)->~T(); }

    template <auto Member> static invivo_status get(void *instance, void *, invivo_value *out, invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            const auto &found = static_cast<const T *>(instance)->*Member;
            if constexpr (is_borrowed<std::decay_t<decltype(found)>>) {
                if (found)
                    throw error(INVIVO_E_UNSUPPORTED, "a pointer does not say whose it is: it can be injected, not read; an invivo::ref can be both");
            } else {
                *out = value::of(found).release();
            }
        });
    }
    template <auto Member>
    static invivo_status set(void *instance, void *, const invivo_value *to, invivo_error **failed) noexcept {
        using field = typename member_of<decltype(Member)>::field;
        return guarded(failed, [&] { static_cast<T *>(instance)->*Member = convert<field>::read(*to); });
    }
    template <auto Getter> static invivo_status ask(void *instance, void *, invivo_value *out, invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            using result = std::remove_cv_t<std::remove_reference_t<decltype((static_cast<T *>(instance)->*Getter)())>>;
            const result &found = (static_cast<T *>(instance)->*Getter)();
            *out = value::of<result>(found).release();
        });
    }
    template <auto Setter>
    static invivo_status tell(void *instance, void *, const invivo_value *to, invivo_error **failed) noexcept {
        using given = std::tuple_element_t<0, typename method_of<decltype(Setter)>::arguments>;
        return guarded(failed, [&] { (static_cast<T *>(instance)->*Setter)(convert<parameter_of<given>>::read(*to)); });
    }
    template <auto Check> static invivo_status verify(void *, const invivo_value *value, invivo_error **failed) noexcept {
        using traits = method_of<decltype(Check)>;
        using given = parameter_of<std::tuple_element_t<0, typename traits::arguments>>;
        return guarded(failed, [&] {
            if constexpr (std::is_void_v<typename traits::result>) {
                Check(convert<given>::read(*value));
            } else {
                if (!Check(convert<given>::read(*value))) throw refused("the check does not hold");
            }
        });
    }
    template <auto Method>
    static invivo_status call(void *instance, void *, const invivo_value *arguments, size_t count, invivo_value *result,
                              invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            using traits = method_of<decltype(Method)>;
            call_with<Method>(static_cast<T *>(instance), arguments, count, result,
                              static_cast<typename traits::arguments *>(nullptr),
                              std::make_index_sequence<std::tuple_size_v<typename traits::arguments>>{});
        });
    }
    template <auto Method> static invivo_status hook(void *instance, void *, invivo_error **failed) noexcept {
        return guarded(failed, [&] { (static_cast<T *>(instance)->*Method)(); });
    }
    template <auto Method>
    static invivo_status take(void *instance, void *, invivo_runtime runtime, invivo_error **failed) noexcept {
        return guarded(failed, [&] { (static_cast<T *>(instance)->*Method)(runtime); });
    }

    template <auto Method>
    static invivo_status child(void *instance, void *, uint64_t index, invivo_object *out, invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            object found = (static_cast<T *>(instance)->*Method)(static_cast<size_t>(index));
            *out = found.release();
        });
    }
    template <auto Method>
    static invivo_status key_name(void *instance, void *, const char **out, invivo_error **failed) noexcept {
        return guarded(failed, [&] { *out = (static_cast<T *>(instance)->*Method)(); });
    }

    template <auto Method> static invivo_status parent(void *instance, void *, invivo_object *out, invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            object found = (static_cast<T *>(instance)->*Method)();
            *out = found.release();
        });
    }

    /// The `make` function of an abstract class.
    static invivo_status refuse(void **, const invivo_build *, const invivo_value *, size_t, void *, invivo_error **failed) noexcept {
        return guarded(failed, [] {
            throw error(INVIVO_E_UNSUPPORTED, "'" + name_of<T>() + "' is an abstract class: create an object of a class derived from it");
        });
    }

private:
    template <typename... A, size_t... I>
    static void construct_with(void *instance, const invivo_value *arguments, size_t count, std::index_sequence<I...>) {
        (void)arguments, (void)count;
        new (instance) T(convert<parameter_of<A>>::read(argument(arguments, count, I))...);
    }
    template <auto Method, typename... A, size_t... I>
    static void call_with(T *instance, const invivo_value *arguments, size_t count, invivo_value *result, std::tuple<A...> *,
                          std::index_sequence<I...>) {
        (void)arguments, (void)count;
        using returned = typename method_of<decltype(Method)>::result;
        if constexpr (std::is_void_v<returned>) {
            (instance->*Method)(convert<parameter_of<A>>::read(argument(arguments, count, I))...);
        } else {
            using plain = std::remove_cv_t<std::remove_reference_t<returned>>;
            plain answered = (instance->*Method)(convert<parameter_of<A>>::read(argument(arguments, count, I))...);
            if (result) *result = value::of<plain>(answered).release();
        }
    }
};

} // namespace detail

/// Describes the class T: `invivo::type<voice>("Voice").constructor<clock &, double>({"clock", "gain"}).add(runtime)`.
/// Its objects are C++ objects in memory of the runtime: created by a constructor, ended by the destructor. An abstract class has
/// no objects of its own. Choices, lookups and references use it for those of derived classes.
template <typename T> class INVIVO_LOCAL type {
public:
    explicit type(const std::string &registered) : name_(registered) {
        name<T>(registered);
        options_.struct_size = sizeof(options_);
        options_.name = name_.c_str();
        if constexpr (!std::is_abstract_v<T>) {
            options_.size = sizeof(T);
            options_.alignment = alignof(T);
            if constexpr (!std::is_trivially_destructible_v<T>) options_.deinit = detail::thunks<T>::destroy;
            if constexpr (std::is_default_constructible_v<T>) options_.init = detail::thunks<T>::template construct<>;
        } else {
            options_.make = detail::thunks<T>::refuse;
            options_.release = [](void *, void *) {};
        }
    }
    type(const type &) = delete;
    type &operator=(const type &) = delete;

    /// Declares the objects as shared: immutable, and safe to read on every thread. Otherwise they are confined to
    /// their domain.
    type &shared() { return options_.concurrency = INVIVO_SHARED, *this; }
    type &domain(invivo_domain where) { return options_.domain = where, *this; }
    /// Sets the type for which this one stands, and adds it as a supertype. Lookups for it treat definitions of this
    /// type as exact matches.
    type &stands_for(const std::string &name) {
        supertypes_.push_back(options_.lookup_name = tables_.keep(name));
        return *this;
    }
    type &text(const std::string &line) { return options_.text = tables_.keep(line), *this; }

    /// Sets the constructor and the names of its parameters. References and pointers are injected objects, which live
    /// as long as the object. A pointer or optional may be left out.
    template <typename... A> INVIVO_LOCAL type &constructor(const std::vector<std::string> &names = {}) {
        static_assert(std::is_constructible_v<T, A...>, "the class has no such constructor");
        const auto &table = tables_.take<A...>("the constructor of '" + name_ + "'", names);
        options_.init = detail::thunks<T>::template construct<A...>;
        options_.parameters = table.data(), options_.parameter_count = table.size();
        return *this;
    }

    /// Marks a parameter of the constructor as secret: errors show none of its values (INVIVO_PARAMETER_SECRET).
    type &secret(const std::string &parameter) {
        for (std::vector<invivo_parameter> &table : tables_.parameters) {
            for (invivo_parameter &each : table) {
                if (table.data() != options_.parameters || parameter != each.name) continue;
                each.flags |= static_cast<uint32_t>(INVIVO_PARAMETER_SECRET);
                return *this;
            }
        }
        throw error(INVIVO_E_ARGUMENT, "the constructor of '" + name_ + "' has no parameter '" + parameter + "'; name them in constructor<...>(...)");
    }

    /// Adds a data member: `.property<&voice::gain>("gain", {.min = 0, .max = 2})` (designated initializers are C++20).
    /// A pointer to a described class takes an object, which lives at least as long as the holder; it can close a
    /// cycle. `add` refuses an initial value outside its range, such as `double gain = 5;` in 0...1, if the compiler
    /// can compute it: with a constexpr default constructor. Otherwise the initial value is not checked, because
    /// registration creates no object. The unit of a std::chrono::duration is "s" by default: documents may use 250 ms.
    template <auto Member> INVIVO_LOCAL type &property(const char *called, facts given = {}) {
        using field = typename detail::member_of<decltype(Member)>::field;
        if (detail::is_time<std::remove_const_t<field>>::value && !given.unit) given.unit = "s";
        if constexpr (std::is_arithmetic_v<field>) {
            if constexpr (detail::is_start_known<T, Member>::value) {
                constexpr field start = T().*Member;
                if (given.min < given.max && !(given.min <= static_cast<double>(start) && static_cast<double>(start) <= given.max))
                    outside_.emplace_back(properties_.size(), value::of<std::remove_cv_t<field>>(start));
            }
        }
        if constexpr (std::is_const_v<field>) {
            return property(called, detail::convert<std::remove_const_t<field>>::kind,
                            detail::thunks<T>::template get<Member>, nullptr, given);
        } else {
            return property(called, detail::convert<field>::kind, detail::thunks<T>::template get<Member>,
                            detail::thunks<T>::template set<Member>, given);
        }
    }
    /// Adds a property with a getter and a setter.
    template <auto Getter, auto Setter> INVIVO_LOCAL type &property(const char *called, facts given = {}) {
        using result = std::remove_cv_t<std::remove_reference_t<typename detail::method_of<decltype(Getter)>::result>>;
        if (detail::is_time<result>::value && !given.unit) given.unit = "s";
        return property(called, detail::convert<result>::kind,
                        detail::thunks<T>::template ask<Getter>, detail::thunks<T>::template tell<Setter>, given);
    }
    /// Sets the check of the values of a property: a function, which refuses a value by throwing or by returning false.
    /// `.property<&voice::steps>("steps").verify<&voice::is_even>("steps")`. It runs while a change is planned, so that a spec
    /// file with a wrong value is refused before any object exists. It must not wait or call the runtime; see
    /// invivo_property.verify.
    template <auto Check> INVIVO_LOCAL type &verify(const char *called) {
        for (invivo_property &each : properties_) {
            if (std::string_view(each.name) != called) continue;
            each.verify = detail::thunks<T>::template verify<Check>;
            return *this;
        }
        throw error(INVIVO_E_ARGUMENT, "'" + name_ + "' has no property '" + called + "' to verify; add the property first");
    }
    template <auto Method> INVIVO_LOCAL type &method(const char *called, const std::vector<std::string> &names = {}) {
        using traits = detail::method_of<decltype(Method)>;
        const auto &table = take(called, names, static_cast<typename traits::arguments *>(nullptr));
        invivo_method made{};
        made.struct_size = sizeof(made);
        made.name = tables_.keep(called);
        made.parameters = table.data(), made.parameter_count = table.size();
        if constexpr (std::is_void_v<typename traits::result>)
            made.result = INVIVO_KIND_NULL;
        else
            made.result = detail::convert<std::remove_cv_t<std::remove_reference_t<typename traits::result>>>::kind;
        made.call = detail::thunks<T>::template call<Method>;
        methods_.push_back(made);
        return *this;
    }

    /// Adds a base class or interface as a supertype. It must have a name.
    template <typename Base> INVIVO_LOCAL type &is() {
        static_assert(std::is_base_of_v<Base, T>, "the class is not derived from it");
        supertypes_.push_back(tables_.keep(detail::name_of<Base>()));
        std::lock_guard<std::mutex> held(detail::facts_lock);
        detail::facts_of<std::remove_cv_t<Base>>().upcasts[name_] = [](void *instance) -> void * {
            return static_cast<Base *>(static_cast<T *>(instance));
        };
        return *this;
    }

    /// Sets the prepare function, which runs before any object of the commit is started. It may fail, and must have no
    /// outside effect.
    template <auto Method> INVIVO_LOCAL type &prepare() { return options_.prepare = detail::thunks<T>::template hook<Method>, *this; }
    template <auto Method> INVIVO_LOCAL type &start() { return options_.start = detail::thunks<T>::template hook<Method>, *this; }
    template <auto Method> INVIVO_LOCAL type &stop() { return options_.stop = detail::thunks<T>::template hook<Method>, *this; }
    /// Sets the method that sets an object up, and the one that tears it down again; see setup.h and runtime::effect.
    template <auto Method> INVIVO_LOCAL type &setup() { return options_.setup = detail::thunks<T>::template hook<Method>, *this; }
    template <auto Method> INVIVO_LOCAL type &teardown() { return options_.teardown = detail::thunks<T>::template hook<Method>, *this; }
    /// Sets the method that is called after a commit that replaced something that the object uses.
    template <auto Method> INVIVO_LOCAL type &refresh() { return options_.refresh = detail::thunks<T>::template hook<Method>, *this; }
    /// Sets the method for values that depend on other values. It runs after `setup` and `refresh`, and after commits that set properties.
    template <auto Method> INVIVO_LOCAL type &finalize() { return options_.finalize = detail::thunks<T>::template hook<Method>, *this; }
    /// Its objects are not set up again when their children change.
    type &keeps_children() noexcept { return options_.keeps_children = 1, *this; }
    template <auto Method> INVIVO_LOCAL type &will_inject() { return options_.will_inject = detail::thunks<T>::template hook<Method>, *this; }
    template <auto Method> INVIVO_LOCAL type &did_inject() { return options_.did_inject = detail::thunks<T>::template hook<Method>, *this; }
    /// Sets a method that receives the runtime, when all objects of the build are complete.
    template <auto Method> INVIVO_LOCAL type &take_runtime() { return options_.take_runtime = detail::thunks<T>::template take<Method>, *this; }

    /// Adds a type need: an injection for a property of each of its objects. The injection of a definition wins.
    /// `.needs("clock", invivo::by_type<clock>())`
    type &needs(const std::string &property, injection what);

    /// Sets the children for `inject_tree`: a method of the child's number, from 0, that returns an object, empty after
    /// the last.
    template <auto Method> INVIVO_LOCAL type &child() { return options_.child = detail::thunks<T>::template child<Method>, *this; }
    /// Sets a method that returns the key for `inject_tree` as a const char *, valid until the next call, or nullptr.
    template <auto Method> INVIVO_LOCAL type &key_name() { return options_.key_name = detail::thunks<T>::template key_name<Method>, *this; }

    /// Sets a method that returns the object in which an object stands, such as its window or view; empty for none. For
    /// `runtime_ref::context_of`.
    template <auto Method> INVIVO_LOCAL type &parent() { return options_.parent = detail::thunks<T>::template parent<Method>, *this; }

    /// Registers the type. Call it once per runtime.
    invivo_type add(invivo_runtime runtime);

private:
    type &property(const char *called, invivo_kind kind, decltype(invivo_property::get) get, decltype(invivo_property::set) set,
                   const facts &given) {
        invivo_property made = given.property(tables_.keep(called), kind);
        made.get = get, made.set = set;
        made.unit = given.unit ? tables_.keep(given.unit) : nullptr;
        made.text = given.text ? tables_.keep(given.text) : nullptr;
        properties_.push_back(made);
        return *this;
    }
    template <typename... A> INVIVO_LOCAL
    const std::vector<invivo_parameter> &take(const char *called, const std::vector<std::string> &names, std::tuple<A...> *) {
        return tables_.take<A...>("the method '" + name_ + "." + called + "'", names);
    }

    std::string name_;
    detail::tables tables_;
    invivo_type_options options_{};
    std::vector<invivo_property> properties_;
    std::vector<invivo_method> methods_;
    std::vector<const char *> supertypes_;
    std::vector<std::shared_ptr<injection>> needs_;
    std::vector<std::pair<size_t, value>> outside_; ///< properties with an initial value outside their range
};

} // namespace invivo

#endif
