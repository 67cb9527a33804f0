// source.hpp: sources of documents.
#ifndef INVIVO_CPP_SOURCE_HPP
#define INVIVO_CPP_SOURCE_HPP

#include "error.hpp"

#include <string_view>

namespace invivo {

/// A followed document. It applies until the destructor closes it, as a reload.
class source {
public:
    explicit source(invivo_source owned) noexcept : raw_(owned) {}
    /// Opens a file. It is read, checked and committed before this returns; throws on failure.
    source(invivo_runtime runtime, const std::string &path, uint32_t flags) {
        invivo_source_options options{};
        options.path = path.c_str(), options.flags = flags;
        open(runtime, options);
    }
    /// Opens a document in memory.
    source(invivo_runtime runtime, const std::string &name, std::string_view text, uint32_t flags = 0) {
        invivo_source_options options{};
        options.flags = flags, options.name = name.c_str(), options.text = text.data(), options.length = text.size();
        open(runtime, options);
    }
    source(source &&other) noexcept : raw_(std::exchange(other.raw_, invivo_source{})) {}
    source &operator=(source &&other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~source() {
        if (raw_.bits) (void)invivo_source_close(raw_, nullptr);
    }

    /// Replaces the text of a document in memory, as one reload. Returns when the reload is done.
    void update(std::string_view text) const {
        detail::checked([&](invivo_error **e) { return invivo_source_update(raw_, text.data(), text.size(), e); });
    }
    /// Checks a file for changes now.
    void refresh() const {
        detail::checked([&](invivo_error **e) { return invivo_source_refresh(raw_, e); });
    }
    /// Checks a file for changes now. Bytes that a rollback refused are tried again.
    void retry() const {
        detail::checked([&](invivo_error **e) { return invivo_source_retry(raw_, e); });
    }
    /// Closes the source. Throws on failure; the source is then still open.
    void close() {
        detail::checked([&](invivo_error **e) { return invivo_source_close(raw_, e); });
        raw_ = invivo_source{};
    }
    invivo_source raw() const noexcept { return raw_; }

private:
    void open(invivo_runtime runtime, invivo_source_options &options) {
        options.struct_size = sizeof(options);
        detail::checked([&](invivo_error **e) { return invivo_source_open(runtime, &options, &raw_, e); });
    }

    invivo_source raw_{};
};

} // namespace invivo

#endif
