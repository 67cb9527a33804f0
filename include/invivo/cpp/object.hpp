// object.hpp: leases on live objects, typed and not; what a C++ type is called, and how its instances are reached.
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

/// One lease on a live object, whatever language made it. Empty ones hold nothing.
class object {
public:
    object() noexcept = default;
    /// Takes over a lease.
    explicit object(invivo_object owned) noexcept : raw_(owned) {}
    /// Takes a lease of its own.
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
    /// Gives the lease away.
    invivo_object release() noexcept { return std::exchange(raw_, invivo_object{}); }
    friend bool operator==(const object &a, const object &b) noexcept { return a.raw_.bits == b.raw_.bits; }
    friend bool operator!=(const object &a, const object &b) noexcept { return !(a == b); }

    /// The registered name of its type.
    std::string type_name() const {
        invivo_type type{};
        detail::checked([&](invivo_error **e) { return invivo_object_type(raw_, &type, e); });
        return invivo_type_name(type);
    }
    /// The key it was made for, or "".
    std::string key() const {
        invivo_key key{};
        detail::checked([&](invivo_error **e) { return invivo_object_key(raw_, &key, e); });
        return key.bits ? invivo_key_name(key) : "";
    }
    /// A property by name, in the object's domain.
    value get(c_text property) const;
    template <typename T> INVIVO_LOCAL void set(c_text property, const T &to) const;
    /// A method by name.
    template <typename... Arguments> INVIVO_LOCAL value call(c_text method, const Arguments &...arguments) const;

private:
    invivo_object raw_{};
};

namespace detail INVIVO_LOCAL {

/// What the compiler calls a type, for messages.
template <typename T> const char *cpp_name() {
#ifdef __GXX_RTTI
    return typeid(T).name();
#else
    return "(compiled without RTTI)";
#endif
}

/// What is known of a C++ type in this program: its registered name, and how one gets to it from types that are derived
/// from it. Written while types are described.
struct type_facts {
    std::string name;
    std::map<std::string, void *(*)(void *)> upcasts;
};
/// Functions, because g++ makes the guard of a variable template visible whatever its own visibility is.
template <typename T> type_facts &facts_of() {
    static type_facts facts;
    return facts;
}
inline std::mutex facts_lock;
/// Holds the lock across fork, so that no child finds it locked by a thread that it does not have.
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

/// Turns a pointer to an instance of a described type into one to the class or a base of it; nullptr: it stays as it is.
using upcast = void *(*)(void *);

/// Whether instances of the type lead to a T: it is that very type, or described as derived from it. Then `by` says how.
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

/// How one gets to a T from instances of the type.
template <typename T> upcast upcast_from(invivo_type type) {
    const char *found = open_name(type);
    upcast by = nullptr;
    if (!leads_to<T>(found, by))
        throw error(INVIVO_E_TYPE, std::string("the object is a '") + found + "' where a " + wanted_name<T>() + " is needed");
    return by;
}

/// The instance of an object as a T: of that very type, or of one that is described as derived from it.
template <typename T> T *instance_of(invivo_object object) {
    invivo_type type{};
    void *instance = nullptr;
    checked([&](invivo_error **e) { return invivo_object_type(object, &type, e); });
    checked([&](invivo_error **e) { return invivo_object_instance(object, type, &instance, e); });
    upcast up = upcast_from<T>(type);
    return static_cast<T *>(up ? up(instance) : instance);
}

/// Whether a block of the type is a T: the struct that was declared here by that name, or, of a T that was not declared here, one
/// that the fields fill.
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

/// Names a C++ type that is never described here: an interface, or a type that a module brings.
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
    /// The lease itself.
    const object &held() const noexcept { return held_; }
    friend bool operator==(const ref &a, const ref &b) noexcept { return a.held_ == b.held_; }
    friend bool operator!=(const ref &a, const ref &b) noexcept { return !(a == b); }

private:
    object held_;
    T *instance_ = nullptr;
};

} // namespace invivo

#endif
