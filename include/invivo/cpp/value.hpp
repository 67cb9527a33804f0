// value.hpp: conversions between C++ values and values of the ABI. A value that does not fit exactly is an error.
#ifndef INVIVO_CPP_VALUE_HPP
#define INVIVO_CPP_VALUE_HPP

#include "object.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

namespace invivo {

/// An owned value of the ABI.
class value {
public:
    value() noexcept : raw_(invivo_null()) {}
    /// Takes over a value.
    explicit value(invivo_value owned) noexcept : raw_(owned) {}
    static value copied(const invivo_value &borrowed) {
        value made;
        detail::checked([&](invivo_error **e) { return invivo_value_copy(&made.raw_, &borrowed, e); });
        return made;
    }
    template <typename T> INVIVO_LOCAL static value of(const T &thing);
    value(const value &other) : value(copied(other.raw_)) {}
    value(value &&other) noexcept : raw_(std::exchange(other.raw_, invivo_null())) {}
    value &operator=(value other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~value() { invivo_value_clear(&raw_); }

    invivo_kind kind() const noexcept { return raw_.kind; }
    bool is_null() const noexcept { return raw_.kind == INVIVO_KIND_NULL; }
    const invivo_value &raw() const noexcept { return raw_; }
    invivo_value *out() noexcept {
        invivo_value_clear(&raw_);
        return &raw_;
    }
    invivo_value release() noexcept { return std::exchange(raw_, invivo_null()); }
    /// Converts to a T. Strings and lists are copied.
    template <typename T> INVIVO_LOCAL T as() const;

private:
    invivo_value raw_;
};

namespace detail INVIVO_LOCAL {

/// Storage for borrowed values during a call.
struct scratch {
    std::deque<std::vector<invivo_value>> lists;
    std::deque<std::vector<invivo_pair>> maps;
};

template <typename T, typename = void> struct convert {
    static_assert(sizeof(T) == 0, "this C++ type is none that crosses to other languages; pass a ref<T> for an object");
};

/// Reads a value of a kind that converts to KIND without loss.
template <typename Read> auto converted(const invivo_value &from, invivo_kind kind, Read &&read) {
    if (from.kind == kind) return read(from);
    value to;
    checked([&](invivo_error **e) { return invivo_value_convert(to.out(), &from, kind, e); });
    return read(to.raw());
}

template <typename T> struct convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind =
        std::is_signed_v<T> ? (sizeof(T) == 1   ? INVIVO_KIND_INT8
                               : sizeof(T) == 2 ? INVIVO_KIND_INT16
                               : sizeof(T) == 4 ? INVIVO_KIND_INT32
                                                : INVIVO_KIND_INT64)
                            : (sizeof(T) == 1   ? INVIVO_KIND_UINT8
                               : sizeof(T) == 2 ? INVIVO_KIND_UINT16
                               : sizeof(T) == 4 ? INVIVO_KIND_UINT32
                                                : INVIVO_KIND_UINT64);
    static std::string type_name() { return {}; }
    static invivo_value borrow(T number, scratch &) {
        invivo_value made = std::is_signed_v<T> ? invivo_int64(static_cast<int64_t>(number)) : invivo_uint64(static_cast<uint64_t>(number));
        made.kind = kind;
        return made;
    }
    static T read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) {
            return std::is_signed_v<T> ? static_cast<T>(v.as.signed_integer) : static_cast<T>(v.as.unsigned_integer);
        });
    }
};
template <> struct convert<bool> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_BOOL;
    static std::string type_name() { return {}; }
    static invivo_value borrow(bool flag, scratch &) { return invivo_bool(flag); }
    static bool read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) { return v.as.boolean; });
    }
};
template <> struct convert<float> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_FLOAT;
    static std::string type_name() { return {}; }
    static invivo_value borrow(float number, scratch &) { return invivo_float(number); }
    static float read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) { return v.as.single; });
    }
};
template <> struct convert<double> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_DOUBLE;
    static std::string type_name() { return {}; }
    static invivo_value borrow(double number, scratch &) { return invivo_double(number); }
    static double read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) { return v.as.number; });
    }
};

/// A std::chrono::duration is a number of seconds, as with the converter "duration". Integral durations are rounded to
/// the nearest unit.
template <typename Number, typename Period> struct convert<std::chrono::duration<Number, Period>> {
    using time = std::chrono::duration<Number, Period>;
    using seconds = std::chrono::duration<double>;
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_DOUBLE;
    static std::string type_name() { return {}; }
    static invivo_value borrow(time span, scratch &) { return invivo_double(std::chrono::duration_cast<seconds>(span).count()); }
    static time read(const invivo_value &from) {
        const std::chrono::duration<double, Period> units = seconds(convert<double>::read(from));
        if constexpr (std::is_floating_point_v<Number>) return time(static_cast<Number>(units.count()));
        const double whole = std::round(units.count());
        const double limit = std::ldexp(1.0, std::numeric_limits<Number>::digits);
        if (!(whole < limit && whole >= -limit))
            throw error(INVIVO_E_RANGE, "a time of " + std::to_string(convert<double>::read(from)) + " s does not fit");
        return time(static_cast<Number>(whole));
    }
};
template <typename T> struct is_time : std::false_type {};
template <typename Number, typename Period> struct is_time<std::chrono::duration<Number, Period>> : std::true_type {};

/// Enumerations convert by number.
template <typename T> struct convert<T, std::enable_if_t<std::is_enum_v<T>>> {
    using number = std::underlying_type_t<T>;
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = convert<number>::kind;
    static std::string type_name() { return {}; }
    static invivo_value borrow(T thing, scratch &room) { return convert<number>::borrow(static_cast<number>(thing), room); }
    static T read(const invivo_value &from) { return static_cast<T>(convert<number>::read(from)); }
};

struct text_kind {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_STRING;
    static std::string type_name() { return {}; }
};
template <> struct convert<std::string> : text_kind {
    static invivo_value borrow(const std::string &text, scratch &) { return invivo_string_n(text.data(), text.size()); }
    static std::string read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) { return std::string(v.as.string.data, v.as.string.length); });
    }
};
template <> struct convert<std::string_view> : text_kind {
    static invivo_value borrow(std::string_view text, scratch &) { return invivo_string_n(text.data(), text.size()); }
    /// Borrowed from the value during the call.
    static std::string_view read(const invivo_value &from) {
        if (from.kind != kind) throw error(INVIVO_E_TYPE, std::string("a ") + invivo_kind_name(from.kind) + " where a string is needed");
        return {from.as.string.data, static_cast<size_t>(from.as.string.length)};
    }
};
template <> struct convert<std::filesystem::path> : text_kind {
    static invivo_value borrow(const std::filesystem::path &path, scratch &) {
        return invivo_string_n(path.native().data(), path.native().size());
    }
    static std::filesystem::path read(const invivo_value &from) { return convert<std::string>::read(from); }
};
template <> struct convert<const char *> : text_kind {
    static invivo_value borrow(const char *text, scratch &) { return text ? invivo_string(text) : invivo_null(); }
};
template <size_t N> struct convert<char[N]> : convert<const char *> {};

template <> struct convert<std::vector<uint8_t>> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_BYTES;
    static std::string type_name() { return {}; }
    static invivo_value borrow(const std::vector<uint8_t> &bytes, scratch &) { return invivo_bytes(bytes.data(), bytes.size()); }
    static std::vector<uint8_t> read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) {
            return std::vector<uint8_t>(v.as.bytes.data, v.as.bytes.data + v.as.bytes.length);
        });
    }
};

template <typename T> struct convert<std::vector<T>> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_LIST;
    static std::string type_name() { return {}; }
    static invivo_value borrow(const std::vector<T> &items, scratch &room) {
        std::vector<invivo_value> values;
        values.reserve(items.size());
        for (const auto &item : items) values.push_back(convert<T>::borrow(item, room));
        room.lists.push_back(std::move(values));
        return invivo_list(room.lists.back().data(), room.lists.back().size());
    }
    static std::vector<T> read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) {
            std::vector<T> items;
            items.reserve(v.as.list.count);
            for (uint64_t i = 0; i < v.as.list.count; i++) items.push_back(convert<T>::read(v.as.list.items[i]));
            return items;
        });
    }
};

template <typename T> struct convert<std::map<std::string, T>> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_MAP;
    static std::string type_name() { return {}; }
    static invivo_value borrow(const std::map<std::string, T> &entries, scratch &room) {
        std::vector<invivo_pair> pairs;
        pairs.reserve(entries.size());
        for (const auto &[name, thing] : entries) pairs.push_back({name.data(), name.size(), convert<T>::borrow(thing, room)});
        room.maps.push_back(std::move(pairs));
        return invivo_map(room.maps.back().data(), room.maps.back().size());
    }
    static std::map<std::string, T> read(const invivo_value &from) {
        return converted(from, kind, [](const invivo_value &v) {
            std::map<std::string, T> entries;
            for (uint64_t i = 0; i < v.as.map.count; i++) {
                const invivo_pair &pair = v.as.map.pairs[i];
                entries.emplace(std::string(pair.name, pair.length), convert<T>::read(pair.value));
            }
            return entries;
        });
    }
};

template <> struct convert<std::nullptr_t> {
    static constexpr bool is_optional = true;
    static constexpr invivo_kind kind = INVIVO_KIND_NULL;
    static std::string type_name() { return {}; }
    static invivo_value borrow(std::nullptr_t, scratch &) { return invivo_null(); }
};
template <typename T> struct convert<std::optional<T>> {
    static constexpr bool is_optional = true;
    static constexpr invivo_kind kind = convert<T>::kind;
    static std::string type_name() { return convert<T>::type_name(); }
    static invivo_value borrow(const std::optional<T> &thing, scratch &room) {
        return thing ? convert<T>::borrow(*thing, room) : invivo_null();
    }
    static std::optional<T> read(const invivo_value &from) {
        if (from.kind == INVIVO_KIND_NULL) return std::nullopt;
        return convert<T>::read(from);
    }
};

/// Any value.
template <> struct convert<value> {
    static constexpr bool is_optional = true;
    static constexpr invivo_kind kind = INVIVO_KIND_ANY;
    static std::string type_name() { return {}; }
    static invivo_value borrow(const value &thing, scratch &) {
        invivo_value borrowed = thing.raw();
        return borrowed;
    }
    static value read(const invivo_value &from) { return value::copied(from); }
};

struct object_kind {
    static constexpr invivo_kind kind = INVIVO_KIND_OBJECT;
    static invivo_object handle(const invivo_value &from) {
        if (from.kind != kind)
            throw error(INVIVO_E_TYPE, std::string("a ") + invivo_kind_name(from.kind) + " where an object is needed");
        return from.as.object;
    }
};
template <> struct convert<object> : object_kind {
    static constexpr bool is_optional = false;
    static std::string type_name() { return {}; }
    static invivo_value borrow(const object &thing, scratch &) {
        return thing ? invivo_object_value(thing.raw()) : invivo_null();
    }
    static object read(const invivo_value &from) { return object::retained(handle(from)); }
};
template <typename T> struct convert<ref<T>> : object_kind {
    static constexpr bool is_optional = false;
    static std::string type_name() { return name_of<T>(); }
    static invivo_value borrow(const ref<T> &thing, scratch &room) { return convert<object>::borrow(thing.held(), room); }
    static ref<T> read(const invivo_value &from) { return ref<T>(object::retained(handle(from))); }
};
/// Borrowed: an injected object lives at least as long as its holder.
template <typename T> struct convert<T *> : object_kind {
    static constexpr bool is_optional = true;
    static std::string type_name() { return name_of<T>(); }
    static T *read(const invivo_value &from) {
        return from.kind == INVIVO_KIND_NULL ? nullptr : instance_of<T>(handle(from));
    }
};
template <typename T> struct convert<T &> : object_kind {
    static constexpr bool is_optional = false;
    static std::string type_name() { return name_of<T>(); }
    static T &read(const invivo_value &from) { return *instance_of<T>(handle(from)); }
};
/// For parameters: a const reference to a value type is read like the value type.
template <typename T, typename = void> struct is_plain_value : std::false_type {};
template <typename T> struct is_plain_value<std::vector<T>> : std::true_type {};
template <typename T> struct is_plain_value<std::map<std::string, T>> : std::true_type {};
template <typename T> struct is_plain_value<std::optional<T>> : std::true_type {};
template <typename T> struct is_plain_value<ref<T>> : std::true_type {};
template <> struct is_plain_value<std::string> : std::true_type {};
template <> struct is_plain_value<value> : std::true_type {};
template <> struct is_plain_value<object> : std::true_type {};
template <typename T> struct is_plain_value<T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>> : std::true_type {};
template <typename T>
using parameter_of = std::conditional_t<is_plain_value<std::remove_cv_t<std::remove_reference_t<T>>>::value,
                                        std::remove_cv_t<std::remove_reference_t<T>>, std::remove_cv_t<T>>;

/// Arguments of a call, borrowed for its duration.
template <typename... Arguments> class borrowed {
public:
    explicit borrowed(const Arguments &...arguments) : values_{convert<Arguments>::borrow(arguments, room_)..., invivo_null()} {}
    const invivo_value *data() const noexcept { return sizeof...(Arguments) ? values_ : nullptr; }
    static constexpr size_t size() noexcept { return sizeof...(Arguments); }

private:
    scratch room_;
    invivo_value values_[sizeof...(Arguments) + 1];
};
template <typename... Arguments> borrowed(const Arguments &...) -> borrowed<Arguments...>;

inline const invivo_value &argument(const invivo_value *arguments, size_t count, size_t index) {
    static const invivo_value null = invivo_null();
    return index < count ? arguments[index] : null;
}

} // namespace detail

template <typename T> INVIVO_LOCAL value value::of(const T &thing) {
    detail::scratch room;
    return copied(detail::convert<T>::borrow(thing, room));
}
template <typename T> INVIVO_LOCAL T value::as() const { return detail::convert<T>::read(raw_); }

inline value object::get(c_text property) const {
    value found;
    detail::checked([&](invivo_error **e) { return invivo_object_get(raw_, property, found.out(), e); });
    return found;
}
template <typename T> INVIVO_LOCAL void object::set(c_text property, const T &to) const {
    detail::scratch room;
    invivo_value given = detail::convert<T>::borrow(to, room);
    detail::checked([&](invivo_error **e) { return invivo_object_set(raw_, property, &given, e); });
}
template <typename... Arguments> INVIVO_LOCAL value object::call(c_text method, const Arguments &...arguments) const {
    value result;
    detail::borrowed<Arguments...> given(arguments...);
    detail::checked([&](invivo_error **e) {
        return invivo_object_call(raw_, method, given.data(), given.size(), result.out(), e);
    });
    return result;
}

/// A function of any language.
class callable {
public:
    callable() noexcept = default;
    explicit callable(invivo_callable owned) noexcept : raw_(owned) {}
    callable(const callable &other) : raw_(other.raw_) {
        if (raw_.bits) detail::checked(invivo_callable_retain(raw_));
    }
    callable(callable &&other) noexcept : raw_(std::exchange(other.raw_, invivo_callable{})) {}
    callable &operator=(callable other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~callable() {
        if (raw_.bits) invivo_callable_release(raw_);
    }
    explicit operator bool() const noexcept { return raw_.bits != 0; }
    invivo_callable raw() const noexcept { return raw_; }

    template <typename... Arguments> INVIVO_LOCAL value operator()(const Arguments &...arguments) const {
        value result;
        detail::borrowed<Arguments...> given(arguments...);
        detail::checked([&](invivo_error **e) {
            return invivo_callable_call(raw_, given.data(), given.size(), result.out(), e);
        });
        return result;
    }

private:
    invivo_callable raw_{};
};

/// A function that creates a T at each call, or returns the one that it created: INVIVO_INJECT_PROVIDER and
/// INVIVO_INJECT_LAZY.
template <typename T> class provider {
public:
    provider() noexcept = default;
    explicit provider(callable make) noexcept : make_(std::move(make)) {}
    template <typename... Arguments> INVIVO_LOCAL ref<T> operator()(const Arguments &...arguments) const {
        return make_(arguments...).template as<ref<T>>();
    }
    const callable &function() const noexcept { return make_; }

private:
    callable make_;
};

/// A function that returns the existing T with a lease, or an empty ref: INVIVO_INJECT_WEAK.
template <typename T> class weak {
public:
    weak() noexcept = default;
    explicit weak(callable find) noexcept : find_(std::move(find)) {}
    template <typename... Arguments> INVIVO_LOCAL ref<T> operator()(const Arguments &...arguments) const {
        return find_(arguments...).template as<std::optional<ref<T>>>().value_or(ref<T>());
    }
    const callable &function() const noexcept { return find_; }

private:
    callable find_;
};

namespace detail INVIVO_LOCAL {
template <> struct convert<callable> {
    static constexpr bool is_optional = false;
    static constexpr invivo_kind kind = INVIVO_KIND_CALLABLE;
    static std::string type_name() { return {}; }
    static invivo_value borrow(const callable &thing, scratch &) {
        return thing ? invivo_callable_value(thing.raw()) : invivo_null();
    }
    static callable read(const invivo_value &from) {
        if (from.kind != kind)
            throw error(INVIVO_E_TYPE, std::string("a ") + invivo_kind_name(from.kind) + " where a callable is needed");
        checked(invivo_callable_retain(from.as.callable));
        return callable(from.as.callable);
    }
};
template <typename T> struct convert<provider<T>> : convert<callable> {
    static invivo_value borrow(const provider<T> &thing, scratch &room) { return convert<callable>::borrow(thing.function(), room); }
    static provider<T> read(const invivo_value &from) { return provider<T>(convert<callable>::read(from)); }
};
template <typename T> struct convert<weak<T>> : convert<callable> {
    static invivo_value borrow(const weak<T> &thing, scratch &room) { return convert<callable>::borrow(thing.function(), room); }
    static weak<T> read(const invivo_value &from) { return weak<T>(convert<callable>::read(from)); }
};
template <> struct is_plain_value<callable> : std::true_type {};
template <typename T> struct is_plain_value<weak<T>> : std::true_type {};
template <typename T> struct is_plain_value<provider<T>> : std::true_type {};
} // namespace detail

} // namespace invivo

#endif
