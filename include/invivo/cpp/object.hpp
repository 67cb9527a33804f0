// object.hpp: leases on live objects, and the registered names and conversions of C++ types.
#ifndef INVIVO_CPP_OBJECT_HPP
#define INVIVO_CPP_OBJECT_HPP

#include "error.hpp"

#include <map>
#include <mutex>
#include <pthread.h>
#include <type_traits>
#include <typeinfo>

namespace invivo {

class value;

/// A lease on a live object of any language. May be empty.
class object {
public:
    object() noexcept = default;
    /// Takes over a lease.
    explicit object(invivo_object owned) noexcept : raw_(owned) {}
    /// Adds a lease.
    static object retained(invivo_object borrowed) {
        detail::checked(invivo_object_retain(borrowed));
        return object(borrowed);
    }
    object(const object &other) : raw_(other.raw_) {
        if (raw_.bits) detail::checked(invivo_object_retain(raw_));
    }
    object(object &&other) noexcept : raw_(std::exchange(other.raw_, invivo_object{})) {}
    object &operator=(object other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~object() {
        if (raw_.bits) invivo_object_release(raw_);
    }

    explicit operator bool() const noexcept { return raw_.bits != 0; }
    invivo_object raw() const noexcept { return raw_; }
    /// Releases the ownership of the lease to the caller.
    invivo_object release() noexcept { return std::exchange(raw_, invivo_object{}); }
    friend bool operator==(const object &a, const object &b) noexcept { return a.raw_.bits == b.raw_.bits; }
    friend bool operator!=(const object &a, const object &b) noexcept { return !(a == b); }

    /// The registered name of the object's type.
    std::string type_name() const {
        invivo_type type{};
        detail::checked([&](invivo_error **e) { return invivo_object_type(raw_, &type, e); });
        return invivo_type_name(type);
    }
    /// The key for which the object was created, or "".
    std::string key() const {
        invivo_key key{};
        detail::checked([&](invivo_error **e) { return invivo_object_key(raw_, &key, e); });
        return key.bits ? invivo_key_name(key) : "";
    }
    /// Reads or sets a property by name. Call it in the object's domain.
    value get(c_text property) const;
    template <typename T> INVIVO_LOCAL void set(c_text property, const T &to) const;
    /// Calls a method by name.
    template <typename... Arguments> INVIVO_LOCAL value call(c_text method, const Arguments &...arguments) const;

private:
    invivo_object raw_{};
};

namespace detail INVIVO_LOCAL {

/// The compiler's name of a type, for messages.
template <typename T> const char *cpp_name() {
#ifdef __GXX_RTTI
    return typeid(T).name();
#else
    return "(compiled without RTTI)";
#endif
}

/// The registered name of a C++ type in this program, and its conversions from derived types. Written while types are
/// described.
struct type_facts {
    std::string name;
    std::map<std::string, void *(*)(void *)> upcasts;
};
/// Functions, because g++ exports the guard of a variable template regardless of its visibility.
template <typename T> type_facts &facts_of() {
    static type_facts facts;
    return facts;
}
inline std::mutex facts_lock;
/// Holds the lock across a fork, so that a child never inherits it locked.
struct facts_fork {
    facts_fork() {
        pthread_atfork([] { facts_lock.lock(); }, [] { facts_lock.unlock(); }, [] { facts_lock.unlock(); });
    }
};
inline facts_fork facts_held_across_fork;

template <typename T> std::string name_of() {
    using plain = std::remove_cv_t<T>;
    std::lock_guard<std::mutex> held(facts_lock);
    const std::string &name = facts_of<plain>().name;
    if (name.empty())
        throw error(INVIVO_E_TYPE, std::string("the C++ type ") + cpp_name<plain>() + " has no name; describe it, or name it by invivo::name<T>(\"...\")");
    return name;
}

/// Whether the type has a name.
template <typename T> bool has_name() {
    std::lock_guard<std::mutex> held(facts_lock);
    return !facts_of<std::remove_cv_t<T>>().name.empty();
}

/// Converts a pointer to an instance of a described type to the class or one of its bases; nullptr = no conversion.
using upcast = void *(*)(void *);

/// Whether instances of the type convert to T: it is that type, or described as derived from it. `by` receives the
/// conversion.
template <typename T> bool leads_to(const char *type, upcast &by) {
    std::lock_guard<std::mutex> held(facts_lock);
    const type_facts &facts = facts_of<std::remove_cv_t<T>>();
    if (facts.name == type) return by = nullptr, true;
    auto known = facts.upcasts.find(type);
    return known != facts.upcasts.end() && (by = known->second, true);
}

template <typename T> std::string wanted_name() {
    std::lock_guard<std::mutex> held(facts_lock);
    const std::string &name = facts_of<std::remove_cv_t<T>>().name;
    return name.empty() ? std::string("C++ type ") + cpp_name<T>() + ", which has no name," : "'" + name + "'";
}

inline const char *open_name(invivo_type type) {
    const char *found = invivo_type_name(type);
    if (!found) throw error(INVIVO_E_HANDLE, "the runtime of the type is closed");
    return found;
}

/// The conversion from instances of the type to T.
template <typename T> upcast upcast_from(invivo_type type) {
    const char *found = open_name(type);
    upcast by = nullptr;
    if (!leads_to<T>(found, by))
        throw error(INVIVO_E_TYPE, std::string("the object is a '") + found + "' where a " + wanted_name<T>() + " is needed");
    return by;
}

/// The instance of an object as a T. Its type must be T, or described as derived from T.
template <typename T> T *instance_of(invivo_object object) {
    invivo_type type{};
    void *instance = nullptr;
    checked([&](invivo_error **e) { return invivo_object_type(object, &type, e); });
    checked([&](invivo_error **e) { return invivo_object_instance(object, type, &instance, e); });
    upcast up = upcast_from<T>(type);
    return static_cast<T *>(up ? up(instance) : instance);
}

/// Whether a block of the type is a T: T was declared as a block with that name, or the fields fill an undeclared T.
template <typename T> bool is_block_of(invivo_type type, const char *found) {
    if (const char *declared = __atomic_load_n(&invivo_block_of<std::remove_cv_t<T>>::name, __ATOMIC_RELAXED))
        return std::string(declared) == found;
    uint64_t end = 0;
    for (uint64_t i = 0; i < invivo_type_property_count(type); i++) {
        invivo_property property{};
        property.struct_size = sizeof(property);
        checked(invivo_type_property_at(type, i, &property));
        if (!property.get && (property.flags & INVIVO_PROPERTY_BLOCK) && property.offset + property.size > end)
            end = property.offset + property.size;
    }
    return end <= sizeof(T) && sizeof(T) - end < sizeof(uint64_t);
}

template <typename T> void check_block(invivo_type type) {
    const char *found = open_name(type);
    if (!is_block_of<T>(type, found))
        throw error(INVIVO_E_TYPE, std::string("the block of '") + found + "' has not the layout of the C++ type " + cpp_name<T>());
}

} // namespace detail

/// Names a C++ type that is never described here: an interface, or a type of a module.
template <typename T> INVIVO_LOCAL void name(const std::string &registered) {
    std::lock_guard<std::mutex> held(detail::facts_lock);
    detail::facts_of<std::remove_cv_t<T>>().name = registered;
}

/// A lease on an object, and its instance as a T.
template <typename T> class ref {
public:
    ref() noexcept = default;
    INVIVO_LOCAL explicit ref(object lease) : held_(std::move(lease)), instance_(held_ ? detail::instance_of<T>(held_.raw()) : nullptr) {}

    T *get() const noexcept { return instance_; }
    T &operator*() const noexcept { return *instance_; }
    T *operator->() const noexcept { return instance_; }
    explicit operator bool() const noexcept { return instance_ != nullptr; }
    /// The lease.
    const object &held() const noexcept { return held_; }
    friend bool operator==(const ref &a, const ref &b) noexcept { return a.held_ == b.held_; }
    friend bool operator!=(const ref &a, const ref &b) noexcept { return !(a == b); }

private:
    object held_;
    T *instance_ = nullptr;
};

} // namespace invivo

#endif
