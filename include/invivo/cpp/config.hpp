// config.hpp: reading and observing the configuration, and converters.
#ifndef INVIVO_CPP_CONFIG_HPP
#define INVIVO_CPP_CONFIG_HPP

#include "value.hpp"

namespace invivo {

/// A configuration path that views read as a T. Small; valid while its runtime is open.
template <typename T> class config_id {
public:
    config_id() noexcept = default;
    INVIVO_LOCAL config_id(invivo_runtime runtime, const std::string &path) {
        detail::checked([&](invivo_error **e) { return invivo_config_id(runtime, path.c_str(), kind(), &raw_, e); });
    }
    invivo_config raw() const noexcept { return raw_; }

private:
    INVIVO_LOCAL static constexpr invivo_kind kind() {
        if constexpr (std::is_arithmetic_v<T>) return detail::convert<T>::kind;
        else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) return INVIVO_KIND_STRING;
        else return INVIVO_KIND_ANY;
    }
    invivo_config raw_{};
};

namespace detail INVIVO_LOCAL {

inline value config_read(invivo_runtime runtime, const std::string &path) {
    value found;
    checked([&](invivo_error **e) { return invivo_config_read(runtime, path.c_str(), found.out(), e); });
    return found;
}

/// Observes a path: calls `callback(value, generation)`.
template <typename F> invivo_observer config_observe(invivo_runtime runtime, const std::string &path, F callback) {
    auto kept = std::make_unique<std::pair<invivo_runtime, F>>(runtime, std::move(callback));
    invivo_config_observer_options options{};
    options.struct_size = sizeof(options);
    options.user_data = kept.get();
    options.changed = [](void *data, const char *where, const invivo_value *now, uint64_t generation) {
        auto *box = static_cast<std::pair<invivo_runtime, F> *>(data);
        noting(box->first, "an observer of the configuration", [&] { box->second(value::copied(*now), generation); }, where);
    };
    options.destroy = [](void *data) { delete static_cast<std::pair<invivo_runtime, F> *>(data); };
    invivo_observer made{};
    checked([&](invivo_error **e) { return invivo_config_observe(runtime, path.c_str(), &options, &made, e); });
    (void)kept.release();
    return made;
}

/// Registers a converter: a function of a std::string_view that returns a type that `value::of` takes, or throws.
/// A function of a `const value &` converts values of all kinds.
template <typename F> void converter_register(invivo_runtime runtime, const std::string &name, F read) {
    auto kept = std::make_unique<F>(std::move(read));
    invivo_converter_options options{};
    options.struct_size = sizeof(options);
    options.name = name.c_str();
    options.user_data = kept.get();
    if constexpr (std::is_invocable_v<F &, std::string_view>) {
        options.convert = [](void *data, const char *text, uint64_t length, invivo_value *out, invivo_error **failed) {
            return guarded(failed, [&] {
                auto found = (*static_cast<F *>(data))(std::string_view(text, static_cast<size_t>(length)));
                *out = value::of(found).release();
            });
        };
    } else {
        options.read = [](void *data, const invivo_value *given, invivo_value *out, invivo_error **failed) {
            return guarded(failed, [&] {
                const value whole = value::copied(*given);
                auto found = (*static_cast<F *>(data))(whole);
                *out = value::of(found).release();
            });
        };
    }
    options.destroy = [](void *data) { delete static_cast<F *>(data); };
    checked([&](invivo_error **e) { return invivo_converter_register(runtime, &options, e); });
    (void)kept.release();
}

inline value convert_text(invivo_runtime runtime, const std::string &converter, std::string_view text) {
    value found;
    checked([&](invivo_error **e) {
        return invivo_convert(runtime, converter.c_str(), text.data(), text.size(), found.out(), e);
    });
    return found;
}

} // namespace detail
} // namespace invivo

#endif
