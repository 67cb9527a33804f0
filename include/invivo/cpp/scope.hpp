// scope.hpp: scopes of the program: one instance per request, window, document.
#ifndef INVIVO_CPP_SCOPE_HPP
#define INVIVO_CPP_SCOPE_HPP

#include "value.hpp"

namespace invivo {

/// The objects of scope instances, as a scope is notified of them: the scope instance, the key, and the object. For
/// dropped objects, the handle only identifies them.
using scope_listener = std::function<void(uint64_t place, const char *key, const object &thing)>;

namespace detail INVIVO_LOCAL {

struct scope_box {
    invivo_runtime runtime;
    std::function<uint64_t()> find;
    scope_listener keep, drop;

    void tell(const scope_listener &listener, uint64_t place, invivo_key key, invivo_object borrowed) const noexcept {
        if (!listener) return;
        object held(borrowed); // borrowed: an object that is being disposed of takes no lease
        const char *name = key.bits ? invivo_key_name(key) : "";
        noting(runtime, "a listener of a scope", [&] { listener(place, name, held); }, name);
        (void)held.release();
    }
};

inline void scope_register(invivo_runtime runtime, const std::string &name, scope_box box) {
    auto kept = std::make_unique<scope_box>(std::move(box));
    invivo_scope_options options{};
    options.struct_size = sizeof(options);
    options.name = name.c_str();
    options.user_data = kept.get();
    options.find = [](void *data, uint64_t *place, invivo_error **failed) {
        return guarded(failed, [&] { *place = static_cast<scope_box *>(data)->find(); });
    };
    options.keep = [](void *data, uint64_t place, invivo_key key, invivo_object thing) {
        auto *own = static_cast<scope_box *>(data);
        own->tell(own->keep, place, key, thing);
    };
    options.drop = [](void *data, uint64_t place, invivo_key key, invivo_object thing) {
        auto *own = static_cast<scope_box *>(data);
        own->tell(own->drop, place, key, thing);
    };
    options.destroy = [](void *data) { delete static_cast<scope_box *>(data); };
    checked([&](invivo_error **e) { return invivo_scope_register(runtime, &options, e); });
    (void)kept.release();
}

} // namespace detail
} // namespace invivo

#endif
