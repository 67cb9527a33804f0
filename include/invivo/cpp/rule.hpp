// rule.hpp: conditions over values, which each generation satisfies.
#ifndef INVIVO_CPP_RULE_HPP
#define INVIVO_CPP_RULE_HPP

#include "refused.hpp"
#include "value.hpp"

namespace invivo {

/// The values of a rule's inputs, in their order. Valid during the call of the rule.
class rule_values {
public:
    rule_values(const invivo_value *raw, size_t count) noexcept : raw_(raw), count_(count) {}
    size_t size() const noexcept { return count_; }
    /// Whether the input has a value. An absent one is a configuration path that is not set, or a property without a trait.
    bool has(size_t index) const { return at(index).kind != INVIVO_KIND_NULL; }
    /// Returns the value as a T. Throws INVIVO_E_TYPE or INVIVO_E_RANGE if it does not convert.
    template <typename T> INVIVO_LOCAL T get(size_t index) const { return detail::convert<T>::read(at(index)); }
    /// Returns the value as a T, or `absent` if there is none.
    template <typename T> INVIVO_LOCAL T get(size_t index, T absent) const { return has(index) ? get<T>(index) : absent; }
    const invivo_value &at(size_t index) const {
        if (index >= count_) throw error(INVIVO_E_ARGUMENT, "the rule has fewer inputs");
        return raw_[index];
    }

private:
    const invivo_value *raw_;
    size_t count_;
};

namespace detail INVIVO_LOCAL {

using rule_function = std::function<void(const rule_values &)>;

/// A function of rule_values that throws a refusal, or returns whether the values are good.
template <typename F> rule_function rule_of(F function) {
    return [kept = std::move(function)](const rule_values &values) mutable {
        if constexpr (std::is_void_v<decltype(kept(values))>) {
            kept(values);
        } else {
            if (!kept(values)) throw refused("the rule does not hold");
        }
    };
}

inline invivo_status check_rule(const invivo_value *values, size_t count, size_t *at, void *data, invivo_error **failed) {
    return guarded(failed, [&] {
        try {
            (*static_cast<rule_function *>(data))(rule_values(values, count));
        } catch (const refused &why) {
            if (why.input() != refused::unknown) *at = why.input();
            throw;
        }
    });
}

/// Adds a rule to a change set.
inline void add_rule(invivo_changes changes, const char *name, const std::vector<std::string> &inputs, rule_function function) {
    std::vector<const char *> names;
    for (const std::string &input : inputs) names.push_back(input.c_str());
    auto kept = std::make_unique<rule_function>(std::move(function));
    invivo_rule raw{};
    raw.struct_size = sizeof(raw);
    raw.name = name;
    raw.inputs = names.data(), raw.input_count = names.size();
    raw.check = check_rule;
    raw.user_data = kept.get();
    raw.destroy = [](void *data) { delete static_cast<rule_function *>(data); };
    checked([&](invivo_error **e) { return invivo_changes_add_rule(changes, &raw, e); });
    (void)kept.release();
}

} // namespace detail
} // namespace invivo

#endif
