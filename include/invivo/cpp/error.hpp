// error.hpp: errors as exceptions, and their conversion at the C ABI.
#ifndef INVIVO_CPP_ERROR_HPP
#define INVIVO_CPP_ERROR_HPP

#include "../invivo.h"

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

/* Marks what depends on a C++ type of the program: hidden in each image (program, library, module). g++ gives static variables of
 * inline functions and templates process-wide symbols, and a program linked with -rdynamic offers its functions to modules. Without
 * the mark, types of one name in two images would be mixed up. */
#define INVIVO_LOCAL __attribute__((visibility("hidden")))
/* Marks a class that classes of the program contain; it does not depend on their types. */
#define INVIVO_VISIBLE __attribute__((visibility("default")))

namespace invivo {

/// A NUL-terminated string parameter: a literal, a std::string, a std::filesystem::path, or nullptr where documented.
/// Valid as long as its origin.
class c_text {
public:
    constexpr c_text(const char *text) noexcept : text_(text) {}
    template <typename T, typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T &>().c_str()), const char *>>>
    c_text(const T &text) noexcept : text_(text.c_str()) {}
    operator const char *() const noexcept { return text_; }

private:
    const char *text_;
};

/// The exception for a failed call. Copies share one immutable error, which any thread may read.
class error : public std::exception {
public:
    /// Creates an error for a callback to throw. All languages receive its code and message.
    explicit error(invivo_status code, const std::string &message, const std::string &path = {})
        : error(code, invivo_error_make(code, message.c_str(), path.empty() ? nullptr : path.c_str(), nullptr)) {}
    /// Takes over an owned error. NULL becomes the text of the status.
    error(invivo_status code, invivo_error *owned)
        : status_(code),
          raw_(owned ? owned : invivo_error_make(code, invivo_status_text(code), nullptr, nullptr), invivo_error_release) {}

    invivo_status code() const noexcept { return status_; }
    /// The complete text, one line per error.
    const char *what() const noexcept override { return invivo_error_text(raw_.get()); }
    const char *message() const noexcept { return invivo_error_message(raw_.get()); }
    /// The key path, "synth.lead.gain", or "".
    const char *path() const noexcept { return invivo_error_path(raw_.get()); }
    const char *file() const noexcept { return invivo_error_file(raw_.get()); }
    unsigned line() const noexcept { return invivo_error_line(raw_.get()); }
    unsigned column() const noexcept { return invivo_error_column(raw_.get()); }
    /// The violated wiring rule ("wiring.missing"), or "".
    const char *rule() const noexcept { return invivo_error_rule(raw_.get()); }
    /// The dependents of the definition at fault ("app.main -> app.player"), or "".
    const char *needed_by() const noexcept { return invivo_error_needed_by(raw_.get()); }

    /// The errors of the call, one by one.
    std::vector<error> errors() const {
        std::vector<error> found;
        for (size_t i = 0; i < invivo_error_count(raw_.get()); i++) found.push_back(part(invivo_error_at(raw_.get(), i)));
        return found;
    }
    /// The cause, if there is one.
    std::unique_ptr<error> cause() const {
        const invivo_error *under = invivo_error_cause(raw_.get());
        return under ? std::make_unique<error>(part(under)) : nullptr;
    }

    const invivo_error *raw() const noexcept { return raw_.get(); }

private:
    error(invivo_status code, std::shared_ptr<invivo_error> raw) : status_(code), raw_(std::move(raw)) {}
    /// Shares the ownership of the whole error.
    error part(const invivo_error *borrowed) const {
        return error(invivo_error_code(borrowed),
                     std::shared_ptr<invivo_error>(raw_, const_cast<invivo_error *>(borrowed)));
    }

    invivo_status status_;
    std::shared_ptr<invivo_error> raw_;
};

namespace detail INVIVO_LOCAL {

/// Calls a function whose last parameter is the error: `checked([&](auto e) { return invivo_watch(r, path, e); })`.
template <typename Call> void checked(Call &&call) {
    invivo_error *failed = nullptr;
    invivo_status status = call(&failed);
    if (status != INVIVO_OK) throw error(status, failed);
}

/// Calls a function without an error parameter.
inline void checked(invivo_status status) {
    if (status != INVIVO_OK) throw error(status, static_cast<invivo_error *>(nullptr));
}

/// Copies a borrowed error.
inline error copy_of(const invivo_error *borrowed) { return error(invivo_error_code(borrowed), invivo_error_copy(borrowed)); }

inline invivo_status answer(invivo_error **out, invivo_status status, const char *message, const char *path = nullptr) noexcept {
    if (out) *out = invivo_error_make(status, message, path, nullptr);
    return status;
}

/// Runs the body of a callback. An exception becomes its status and error; none is thrown through C.
template <typename Body> invivo_status guarded(invivo_error **out, Body &&body) noexcept {
    try {
        body();
        return INVIVO_OK;
    } catch (const error &failed) {
        // Copies the causes, and whether the error already names its dependents.
        if (out) *out = invivo_error_copy(failed.raw());
        return failed.code();
    } catch (const std::bad_alloc &) {
        return answer(out, INVIVO_E_MEMORY, "out of memory");
    } catch (const std::exception &failed) {
        return answer(out, INVIVO_E_HOST, failed.what());
    } catch (...) {
        return answer(out, INVIVO_E_HOST, "something that is no std::exception was thrown");
    }
}

/// Runs a callback without an error result. An exception is logged and kept as the runtime's last error, with its
/// origin.
template <typename Body> void noting(invivo_runtime runtime, const char *who, Body &&body, const char *path = nullptr) noexcept {
    invivo_error *failed = nullptr;
    invivo_status status = guarded(&failed, body);
    if (status == INVIVO_OK) return;
    invivo_error *noted = nullptr;
    try {
        std::string text = std::string(who) + " threw: " + (failed ? invivo_error_text(failed) : invivo_status_text(status));
        noted = invivo_error_make(status, text.c_str(), path && *path ? path : nullptr, nullptr);
    } catch (const std::bad_alloc &) {
        // If that fails, without the origin.
    }
    (void)invivo_runtime_note_error(runtime, noted ? noted : failed);
    invivo_error_release(noted);
    invivo_error_release(failed);
}

} // namespace detail
} // namespace invivo

#endif
