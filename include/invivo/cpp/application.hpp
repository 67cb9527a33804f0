// application.hpp: running an application manifest.
#ifndef INVIVO_CPP_APPLICATION_HPP
#define INVIVO_CPP_APPLICATION_HPP

#include "runtime.hpp"

namespace invivo {

/// An application: its loaded modules, its components and its followed spec files.
/// The destructor closes it. Confined objects belong to the loop thread; use `resolve_async` on other threads.
class application {
public:
    /// Chooses the active assemblies, instead of the list in the manifest.
    using assemblies = std::function<void(const runtime_ref &, changes &)>;

    /// Opens an application. Throws all errors; on failure nothing remains open.
    /// `flags`: INVIVO_APP_WAIT, if spec files may be missing or invalid at first. `options`: those of its runtime,
    /// including the log.
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

    /// Returns its runtime, valid while the application is open.
    runtime_ref runtime() const {
        invivo_runtime found{};
        detail::checked([&](invivo_error **e) { return invivo_app_runtime(raw_, &found, e); });
        return runtime_ref(found);
    }
    /// Closes the application. Objects that are still held stay valid until they are released.
    /// Throws INVIVO_E_STOP if stop functions fail; the application is then closed. After another error it is still
    /// open.
    void close() {
        detail::checked([&](invivo_error **e) {
            invivo_status status = invivo_app_close(raw_, e);
            if (status == INVIVO_OK || status == INVIVO_E_STOP) raw_ = invivo_app{};
            return status;
        });
    }

    /// Throws the errors that opening the application would throw. Loads the modules, creates no object.
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
