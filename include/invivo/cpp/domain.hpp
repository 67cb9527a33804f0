// domain.hpp: domains of the program, such as a main loop or a dispatch queue.
#ifndef INVIVO_CPP_DOMAIN_HPP
#define INVIVO_CPP_DOMAIN_HPP

#include "value.hpp"

namespace invivo {

/// A job for a domain, to be run once on the domain's thread or executor. Can be moved to any thread.
/// A job that is destroyed without a run is dropped, and its reload fails.
class job {
public:
    explicit job(invivo_job owned) noexcept : raw_(owned) {}
    job(job &&other) noexcept : raw_(std::exchange(other.raw_, invivo_job{})) {}
    job &operator=(job &&other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~job() {
        if (raw_.bits) (void)invivo_job_drop(raw_);
    }

    /// Runs the job here. Returns false if it has already run, timed out, or its runtime is closed.
    bool run() {
        invivo_job once = std::exchange(raw_, invivo_job{});
        return once.bits && invivo_job_run(once) == INVIVO_OK;
    }
    /// Releases the token, for a queue of plain values. The new owner calls invivo_job_run or invivo_job_drop.
    invivo_job release() noexcept { return std::exchange(raw_, invivo_job{}); }

private:
    invivo_job raw_{};
};

namespace detail INVIVO_LOCAL {

struct domain_box {
    std::function<void(job)> post;
    std::function<bool()> is_current;
    std::function<void()> begin, end;
};

inline invivo_domain domain_register(invivo_runtime runtime, const std::string &name, domain_box box, uint32_t flags) {
    auto kept = std::make_unique<domain_box>(std::move(box));
    invivo_domain_options options{};
    options.struct_size = sizeof(options);
    options.name = name.c_str(), options.flags = flags;
    options.user_data = kept.get();
    options.post = [](void *data, invivo_job raw, invivo_error **failed) {
        return guarded(failed, [&] { static_cast<domain_box *>(data)->post(job(raw)); });
    };
    if (kept->is_current)
        options.is_current = [](void *data) -> uint8_t {
            bool is_here = false;
            (void)guarded(nullptr, [&] { is_here = static_cast<domain_box *>(data)->is_current(); });
            return is_here;
        };
    if (kept->begin && kept->end) {
        options.begin = [](void *data) { (void)guarded(nullptr, [&] { static_cast<domain_box *>(data)->begin(); }); };
        options.end = [](void *data) { (void)guarded(nullptr, [&] { static_cast<domain_box *>(data)->end(); }); };
    }
    options.destroy = [](void *data) { delete static_cast<domain_box *>(data); };
    invivo_domain made{};
    checked([&](invivo_error **e) { return invivo_domain_register(runtime, &options, &made, e); });
    (void)kept.release();
    return made;
}

} // namespace detail
} // namespace invivo

#endif
