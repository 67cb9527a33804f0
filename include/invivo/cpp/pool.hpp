// pool.hpp: weak pools: tables whose entries live as long as their objects have holders.
#ifndef INVIVO_CPP_POOL_HPP
#define INVIVO_CPP_POOL_HPP

#include "value.hpp"

namespace invivo {

namespace detail INVIVO_LOCAL {
/// The factory of a pool: a function of a key that returns a ref<T>. `data` is the function.
template <typename T, typename F>
invivo_status pool_make(void *data, const invivo_value *key, invivo_object *out, invivo_error **failed) noexcept {
    return guarded(failed, [&] {
        ref<T> made = (*static_cast<F *>(data))(value::copied(*key));
        if (!made) throw error(INVIVO_E_NULL, "the factory of the pool entry returned no object");
        *out = object(made.held()).release();
    });
}
} // namespace detail

/// A pool of objects of type T. A key is any type that `value::of` takes: a number, a string, a list of these, ...
/// Copyable; any thread may use it. The pool ends with `close` or with its runtime.
template <typename T> class pool {
public:
    pool() noexcept = default;
    explicit pool(invivo_pool raw) noexcept : raw_(raw) {}
    /// Opens a pool; an empty `name` means no name. `make(value)` creates missing objects, unless a get has its own
    /// factory.
    template <typename F> INVIVO_LOCAL static pool open(invivo_runtime runtime, const std::string &name, F make) {
        auto kept = std::make_unique<F>(std::move(make));
        pool opened = open(runtime, name, detail::pool_make<T, F>, kept.get(), [](void *data) { delete static_cast<F *>(data); });
        (void)kept.release();
        return opened;
    }
    static pool open(invivo_runtime runtime, const std::string &name = {}) { return open(runtime, name, nullptr, nullptr, nullptr); }
    static pool find(invivo_runtime runtime, const std::string &name) {
        pool found;
        detail::checked([&](invivo_error **e) { return invivo_pool_find(runtime, name.c_str(), &found.raw_, e); });
        return found;
    }

    /// Returns the live object of a key, or creates it with the factory of the pool, once for all threads.
    template <typename K> INVIVO_LOCAL ref<T> get(const K &key) const { return get(key, nullptr, nullptr); }
    /// Returns the live object of a key, or creates it with `make(value)`.
    template <typename K, typename F> INVIVO_LOCAL ref<T> get(const K &key, F make) const { return get(key, detail::pool_make<T, F>, &make); }
    /// Returns the live object of a key, or an empty ref.
    template <typename K> INVIVO_LOCAL ref<T> peek(const K &key) const {
        detail::borrowed<K> given(key);
        invivo_object found{};
        return missing(invivo_pool_peek(raw_, given.data(), &found)) ? ref<T>() : ref<T>(object(found));
    }
    /// Adds an existing object.
    template <typename K> INVIVO_LOCAL void put(const K &key, const ref<T> &thing) const {
        detail::borrowed<K> given(key);
        detail::checked([&](invivo_error **e) { return invivo_pool_put(raw_, given.data(), thing.held().raw(), e); });
    }
    /// Removes an entry; its object lives on. Returns whether there was one.
    template <typename K> INVIVO_LOCAL bool remove(const K &key) const {
        detail::borrowed<K> given(key);
        return !missing(invivo_pool_remove(raw_, given.data(), nullptr));
    }
    /// Lists the live entries in unspecified order.
    INVIVO_LOCAL std::vector<std::pair<value, ref<T>>> entries() const {
        value listed;
        detail::checked([&](invivo_error **e) { return invivo_pool_list(raw_, listed.out(), e); });
        std::vector<std::pair<value, ref<T>>> found;
        for (uint64_t i = 0; i < listed.raw().as.list.count; i++) {
            const invivo_value *pair = listed.raw().as.list.items[i].as.list.items;
            found.emplace_back(value::copied(pair[0]), detail::convert<ref<T>>::read(pair[1]));
        }
        return found;
    }
    uint64_t count() const {
        uint64_t found = 0;
        detail::checked([&](invivo_error **e) { return invivo_pool_count(raw_, &found, e); });
        return found;
    }
    /// Removes all entries, as a reload. Returns their number.
    uint64_t clear() const {
        uint64_t cleared = 0;
        detail::checked([&](invivo_error **e) { return invivo_pool_clear(raw_, &cleared, e); });
        return cleared;
    }
    void close() {
        detail::checked([&](invivo_error **e) { return invivo_pool_close(std::exchange(raw_, invivo_pool{}), e); });
    }
    invivo_pool raw() const noexcept { return raw_; }

private:
    static pool open(invivo_runtime runtime, const std::string &name, invivo_pool_make make, void *data, void (*destroy)(void *)) {
        invivo_pool_options options{};
        options.struct_size = sizeof(options);
        options.name = name.empty() ? nullptr : name.c_str();
        options.make = make, options.user_data = data, options.destroy = destroy;
        pool opened;
        detail::checked([&](invivo_error **e) { return invivo_pool_open(runtime, &options, &opened.raw_, e); });
        return opened;
    }
    template <typename K> INVIVO_LOCAL ref<T> get(const K &key, invivo_pool_make make, void *data) const {
        detail::borrowed<K> given(key);
        invivo_object found{};
        detail::checked([&](invivo_error **e) { return invivo_pool_get(raw_, given.data(), make, data, &found, e); });
        return ref<T>(object(found));
    }
    static bool missing(invivo_status status) {
        if (status == INVIVO_E_NOT_FOUND) return true;
        detail::checked(status);
        return false;
    }

    invivo_pool raw_{};
};

} // namespace invivo

#endif
