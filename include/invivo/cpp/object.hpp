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
    value get(const char *property) const;
    template <typename T> INVIVO_LOCAL void set(const char *property, const T &to) const;
    /// A method by name.
    template <typename... Arguments> INVIVO_LOCAL value call(const char *method, const Arguments &...arguments) const;

private:
    invivo_object raw_{};
};

namespace detail INVIVO_LOCAL {

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
        throw error(INVIVO_E_TYPE, std::string("the C++ type ") + typeid(plain).name() + " has no name; describe it, or name it by invivo::name<T>(\"...\")");
    return name;
}

/// The instance of an object as a T: of that very type, or of one that is described as derived from it.
template <typename T> T *instance_of(invivo_object object) {
    using plain = std::remove_cv_t<T>;
    invivo_type type{};
    void *instance = nullptr;
    checked([&](invivo_error **e) { return invivo_object_type(object, &type, e); });
    checked([&](invivo_error **e) { return invivo_object_instance(object, type, &instance, e); });
    const char *found = invivo_type_name(type);
    std::lock_guard<std::mutex> held(facts_lock);
    const type_facts &facts = facts_of<plain>();
    if (facts.name == found) return static_cast<T *>(instance);
    auto upcast = facts.upcasts.find(found);
    if (upcast == facts.upcasts.end())
        throw error(INVIVO_E_TYPE, std::string("the object is a '") + found + "' where a '" + facts.name + "' is needed");
    return static_cast<T *>(upcast->second(instance));
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
