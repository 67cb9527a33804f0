// application.hpp: an application manifest, run.
#ifndef INVIVO_CPP_APPLICATION_HPP
#define INVIVO_CPP_APPLICATION_HPP

#include "runtime.hpp"

namespace invivo {

/// An application: its modules loaded, its components made, its specs followed. Its end closes it. Confined objects belong to the
/// loop thread: from elsewhere they are reached by `resolve_async`.
class application {
public:
    /// The assemblies that are active from the start, in the place of those that the manifest lists.
    using assemblies = std::function<void(const runtime_ref &, changes &)>;

    /// INVIVO_APP_WAIT: spec files need not be good yet. Throws all that is wrong, and nothing is left running. `options`: those of
    /// its runtime, the log among them.
    explicit application(const std::string &manifest, uint32_t flags = 0, const invivo_runtime_options *options = nullptr)
        : application(manifest, assemblies(), flags, options) {}
    application(const std::string &manifest, assemblies active, uint32_t flags = 0,
                const invivo_runtime_options *options = nullptr) {
        settings of(manifest, active, flags, options);
        detail::checked([&](invivo_error **e) { return invivo_app_open(&raw_, &of.options, e); });
    }
    application(application &&other) noexcept : raw_(std::exchange(other.raw_, invivo_app{})) {}
    application &operator=(application &&) = delete;
    ~application() {
        if (raw_.bits) (void)invivo_app_close(raw_, nullptr);
    }

    /// Its runtime, as long as it is open.
    runtime_ref runtime() const {
        invivo_runtime found{};
        detail::checked([&](invivo_error **e) { return invivo_app_runtime(raw_, &found, e); });
        return runtime_ref(found);
    }
    /// Closes it; objects that are still held live on until they are let go. Throws what stands in the way, and is then still
    /// open, or what failed to stop (INVIVO_E_STOP), and is then closed.
    void close() {
        detail::checked([&](invivo_error **e) {
            invivo_status status = invivo_app_close(raw_, e);
            if (status == INVIVO_OK || status == INVIVO_E_STOP) raw_ = invivo_app{};
            return status;
        });
    }

    /// Throws all that opening it would find wrong. Loads the modules, and makes nothing.
    static void check(const std::string &manifest, assemblies active = {}, uint32_t flags = 0,
                      const invivo_runtime_options *options = nullptr) {
        settings of(manifest, active, flags, options);
        detail::checked([&](invivo_error **e) { return invivo_app_check(&of.options, 0, nullptr, e); });
    }

private:
    struct settings {
        invivo_app_options options{};
        settings(const std::string &manifest, assemblies &active, uint32_t flags, const invivo_runtime_options *runtime) {
            options.struct_size = sizeof(options);
            options.manifest = manifest.c_str(), options.flags = flags, options.runtime = runtime;
            if (!active) return;
            options.user_data = &active;
            options.assemblies = [](void *data, invivo_runtime opened, invivo_changes raw, invivo_error **failed) {
                return detail::guarded(failed, [&] {
                    changes set = changes::lent(raw);
                    (*static_cast<assemblies *>(data))(runtime_ref(opened), set);
                });
            };
        }
    };

    invivo_app raw_{};
};

} // namespace invivo

#endif
