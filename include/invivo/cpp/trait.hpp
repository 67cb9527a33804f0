// trait.hpp: trait types, which spec files use by name.
#ifndef INVIVO_CPP_TRAIT_HPP
#define INVIVO_CPP_TRAIT_HPP

#include "rule.hpp"
#include "type.hpp"

namespace invivo {

/// The layers that a trait declares, in order. Valid during the call of the function that receives it, on its thread.
class layers {
public:
    explicit layers(invivo_layers *raw) noexcept : raw_(raw) {}
    layers(const layers &) = delete;
    layers &operator=(const layers &) = delete;

    /// Sets a property.
    template <typename T> INVIVO_LOCAL layers &set(c_text property, const T &to) {
        detail::scratch room;
        const invivo_value given = detail::convert<T>::borrow(to, room);
        detail::checked([&](invivo_error **e) { return invivo_layers_set(raw_, property, &given, e); });
        return *this;
    }
    /// Multiplies the value of the layer below, or the base value.
    layers &scale(c_text property, double factor) {
        detail::checked([&](invivo_error **e) { return invivo_layers_scale(raw_, property, factor, e); });
        return *this;
    }
    /// Adds a number to the value of the layer below, or to the base value.
    layers &offset(c_text property, double amount) {
        detail::checked([&](invivo_error **e) { return invivo_layers_offset(raw_, property, amount, e); });
        return *this;
    }

private:
    invivo_layers *raw_;
};

/// The fields of a trait type without fields.
struct no_fields {};

namespace detail INVIVO_LOCAL {

/// Takes one application of a trait back. The object is borrowed.
using trait_reversal = std::function<void(const object &)>;

/// The functions of a trait type, and how they read their fields.
template <typename Fields> struct trait_functions {
    std::vector<void (*)(Fields &, const invivo_value &)> readers;
    std::function<void(const Fields &)> check;
    std::function<void(const Fields &, invivo::layers &)> layers;
    /// Returns an empty function if the values that were set are to be put back.
    std::function<trait_reversal(const object &, const Fields &)> apply;
    bool repeats = false;

    Fields read(const invivo_value *values, size_t count) const {
        Fields fields{};
        for (size_t i = 0; i < readers.size() && i < count; i++) readers[i](fields, values[i]);
        return fields;
    }
};

/// The C functions of a trait type. Their data is a shared pointer to the functions.
template <typename Fields> struct trait_thunks {
    using held = std::shared_ptr<const trait_functions<Fields>>;
    static const trait_functions<Fields> &functions(void *data) { return **static_cast<held *>(data); }

    template <auto Member> static void read(Fields &fields, const invivo_value &from) {
        using field = typename member_of<decltype(Member)>::field;
        if (from.kind != INVIVO_KIND_NULL || convert<field>::is_optional) fields.*Member = convert<field>::read(from);
    }
    static invivo_status check(const void *, const invivo_value *values, size_t count, size_t *at, void *data,
                               invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            try {
                functions(data).check(functions(data).read(values, count));
            } catch (const refused &why) {
                if (why.input() != refused::unknown) *at = why.input();
                throw;
            }
        });
    }
    static invivo_status declare(const void *, const invivo_value *values, size_t count, invivo_layers *raw, void *data,
                                 invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            layers declared(raw);
            functions(data).layers(functions(data).read(values, count), declared);
        });
    }
    static invivo_status apply(invivo_object target, void *, const void *, const invivo_value *values, size_t count,
                               invivo_reversal *reversal, void *data, invivo_error **failed) noexcept {
        return guarded(failed, [&] {
            trait_reversal back = functions(data).apply(object::retained(target), functions(data).read(values, count));
            if (!back) return;
            reversal->data = new trait_reversal(std::move(back));
            reversal->revert = revert;
            if (functions(data).repeats && reversal->struct_size >= sizeof(invivo_reversal)) reversal->flags = INVIVO_REVERSAL_REPEATS;
            reversal->destroy = [](void *kept) { delete static_cast<trait_reversal *>(kept); };
        });
    }
    static invivo_status revert(invivo_object target, void *, void *kept, invivo_error **failed) noexcept {
        return guarded(failed, [&] { (*static_cast<trait_reversal *>(kept))(object::retained(target)); });
    }
    static void destroy(void *data) noexcept { delete static_cast<held *>(data); }
};

template <typename F> struct is_function_object : std::false_type {};
template <typename F> struct is_function_object<std::function<F>> : std::true_type {};

/// Calls a function that returns a reversal, or nothing. The reversal takes the instance, the object or nothing.
template <typename T, typename Call> trait_reversal reversal_of(Call &&call) {
    if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
    } else {
        auto back = call();
        using reversal = decltype(back);
        if constexpr (is_function_object<reversal>::value) {
            if (!back) return {};
        }
        return [back = std::move(back)](const object &target) mutable {
            (void)target;
            if constexpr (std::is_invocable_v<reversal &>) {
                back();
            } else if constexpr (std::is_invocable_v<reversal &, const object &>) {
                back(target);
            } else {
                back(*instance_of<T>(target.raw()));
            }
        };
    }
}

} // namespace detail

/// Describes a trait type, whose fields are members of the struct Fields:
///
///     struct duck { double amount = 0.5; };
///     runtime.add_trait(invivo::trait<duck>("synth.Duck").target("Voice").field<&duck::amount>("amount").layers(
///         [](const duck &fields, invivo::layers &layers) { layers.scale("gain", 1 - fields.amount); }));
///
/// A spec file can then list `synth.Duck: { amount: 0.25 }` for a Voice. See trait.h.
template <typename Fields = no_fields> class INVIVO_LOCAL trait {
    static_assert(std::is_default_constructible_v<Fields>, "the initial values of the fields are those of Fields()");

public:
    explicit trait(const std::string &name) : name_(name) {}

    trait &text(const std::string &line) { return text_ = line, *this; }
    /// Adds a type of accepted targets, or a supertype of them; "*" accepts all.
    trait &target(const std::string &type) { return targets_.push_back(type), *this; }
    template <typename T> INVIVO_LOCAL trait &target() { return target(detail::name_of<T>()); }

    /// Adds a field that a spec file may give. Its initial value is that of `Fields()`.
    template <auto Member> INVIVO_LOCAL trait &field(const char *called, const facts &given = {}) {
        return add<Member>(called, given);
    }
    /// Adds a field that a spec file must give.
    template <auto Member> INVIVO_LOCAL trait &required(const char *called, facts given = {}) {
        given.flags |= INVIVO_PROPERTY_REQUIRED;
        return add<Member>(called, given);
    }

    /// Sets the check of the fields. It gets a `const Fields &`, and refuses them by throwing (`refused` with the index of the
    /// field, or any other exception), or by returning false.
    template <typename F> INVIVO_LOCAL trait &check(F function) {
        edit().check = [kept = std::move(function)](const Fields &fields) {
            if constexpr (std::is_void_v<decltype(kept(fields))>) {
                kept(fields);
            } else {
                if (!kept(fields)) throw refused("the check does not hold");
            }
        };
        return *this;
    }
    /// Sets the function that declares the layers. It gets a `const Fields &` and a `layers &`.
    template <typename F> INVIVO_LOCAL trait &layers(F function) {
        edit().layers = std::move(function);
        return *this;
    }
    /// Sets the function that changes an object. It gets a `const object &` and a `const Fields &`, and returns its reversal, a
    /// function of the same object, or without parameters. If it returns nothing or an empty std::function, the values that
    /// it has set by `object::set` are put back instead. The runtime keeps the reversal as long as the object, so it must not
    /// hold a lease of it.
    template <typename F> INVIVO_LOCAL trait &apply(F function) {
        edit().apply = [kept = std::move(function)](const object &target, const Fields &fields) {
            return detail::reversal_of<void>([&] { return kept(target, fields); });
        };
        return *this;
    }
    /// Sets the function that changes an instance of T. It gets a `T &` and a `const Fields &`, or also the object, as
    /// `const object &, T &, const Fields &`. The reversal may take a `T &`. Without another target, the type accepts T.
    template <typename T, typename F> INVIVO_LOCAL trait &apply(F function) {
        edit().apply = [kept = std::move(function)](const object &target, const Fields &fields) {
            T &instance = *detail::instance_of<T>(target.raw());
            if constexpr (std::is_invocable_v<const F &, const object &, T &, const Fields &>) {
                return detail::reversal_of<T>([&] { return kept(target, instance, fields); });
            } else {
                return detail::reversal_of<T>([&] { return kept(instance, fields); });
            }
        };
        default_target_ = detail::name_of<T>();
        return *this;
    }

    /// The reversal may run again after a failure: later commits call it until it succeeds, and nothing below the trait changes
    /// until then. Without this, a reversal that fails is treated as done.
    trait &repeats() { return edit().repeats = true, *this; }

    /// Adds it to a change set, or replaces the type with the same name.
    void add(invivo_changes changes) const {
        using thunks = detail::trait_thunks<Fields>;
        std::vector<const char *> targets;
        for (const std::string &each : targets_) targets.push_back(each.c_str());
        if (targets.empty() && !default_target_.empty()) targets.push_back(default_target_.c_str());
        std::vector<invivo_property> properties;
        for (const described &each : fields_) properties.push_back(each.property());
        invivo_trait raw{};
        raw.struct_size = sizeof(raw);
        raw.name = name_.c_str();
        raw.text = text_.empty() ? nullptr : text_.c_str();
        raw.targets = targets.data(), raw.target_count = targets.size();
        raw.fields = properties.data(), raw.field_count = properties.size();
        if (functions_->check) raw.check = thunks::check;
        if (functions_->layers) raw.layers = thunks::declare;
        if (functions_->apply) raw.apply = thunks::apply;
        auto held = std::make_unique<typename thunks::held>(functions_);
        raw.user_data = held.get();
        raw.destroy = thunks::destroy;
        detail::checked([&](invivo_error **e) { return invivo_changes_add_trait(changes, &raw, e); });
        (void)held.release();
    }

private:
    using functions = detail::trait_functions<Fields>;

    /// A field, with the storage of its description.
    struct described {
        std::string name, unit, text;
        invivo_kind kind;
        facts given;
        value initial;

        invivo_property property() const {
            invivo_property made = given.property(name.c_str(), kind);
            made.unit = unit.empty() ? nullptr : unit.c_str();
            made.text = text.empty() ? nullptr : text.c_str();
            made.initial_value = initial.is_null() ? nullptr : &initial.raw();
            return made;
        }
    };

    template <auto Member> INVIVO_LOCAL trait &add(const char *called, const facts &given) {
        using field = typename detail::member_of<decltype(Member)>::field;
        static_assert(std::is_same_v<typename detail::member_of<decltype(Member)>::owner, Fields>, "a field is a member of Fields");
        const char *unit = detail::is_time<field>::value && !given.unit ? "s" : given.unit;
        value initial;
        if (!(given.flags & INVIVO_PROPERTY_REQUIRED)) initial = value::of<field>(Fields().*Member);
        fields_.push_back({called, unit ? unit : "", given.text ? given.text : "", detail::convert<field>::kind, given, std::move(initial)});
        edit().readers.push_back(detail::trait_thunks<Fields>::template read<Member>);
        return *this;
    }
    /// The functions, for a change. Those that a runtime has are copied first.
    functions &edit() {
        if (functions_.use_count() > 1) functions_ = std::make_shared<functions>(*functions_);
        return *functions_;
    }

    std::string name_, text_, default_target_;
    std::vector<std::string> targets_;
    std::deque<described> fields_;
    std::shared_ptr<functions> functions_ = std::make_shared<functions>();
};

} // namespace invivo

#endif
