// error.hpp: what went wrong, as an exception; and how one travels through the C ABI.
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

/// The text of a parameter, with a zero at its end: a literal, a std::string, a std::filesystem::path, or nullptr where that is
/// said. Valid as long as what it was made from.
class c_text {
public:
    constexpr c_text(const char *text) noexcept : text_(text) {}
    template <typename T, typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T &>().c_str()), const char *>>>
    c_text(const T &text) noexcept : text_(text.c_str()) {}
    operator const char *() const noexcept { return text_; }

private:
    const char *text_;
};

/// What a call of Invivo answered instead of success. Copies share one immutable error; any thread may read it.
class error : public std::exception {
public:
    /// For a callback to throw: it arrives with its code and message in whatever language called.
    explicit error(invivo_status code, const std::string &message, const std::string &path = {})
        : error(code, invivo_error_make(code, message.c_str(), path.empty() ? nullptr : path.c_str(), nullptr)) {}
    /// Takes over an owned error; NULL is told by the status' text.
    error(invivo_status code, invivo_error *owned)
        : status_(code),
          raw_(owned ? owned : invivo_error_make(code, invivo_status_text(code), nullptr, nullptr), invivo_error_release) {}

    invivo_status code() const noexcept { return status_; }
    /// The whole as a person would read it, one line an error.
    const char *what() const noexcept override { return invivo_error_text(raw_.get()); }
    const char *message() const noexcept { return invivo_error_message(raw_.get()); }
    /// The key path, "synth.lead.gain", or "".
    const char *path() const noexcept { return invivo_error_path(raw_.get()); }
    const char *file() const noexcept { return invivo_error_file(raw_.get()); }
    unsigned line() const noexcept { return invivo_error_line(raw_.get()); }
    unsigned column() const noexcept { return invivo_error_column(raw_.get()); }
    /// What a check of the wiring calls it ("wiring.missing"), or "".
    const char *rule() const noexcept { return invivo_error_rule(raw_.get()); }
    /// Who needs what is wrong ("app.main -> app.player"), or "".
    const char *needed_by() const noexcept { return invivo_error_needed_by(raw_.get()); }

    /// All that the call found wrong, each alone.
    std::vector<error> errors() const {
        std::vector<error> found;
        for (size_t i = 0; i < invivo_error_count(raw_.get()); i++) found.push_back(part(invivo_error_at(raw_.get(), i)));
        return found;
    }
    /// The error underneath, if there is one.
    std::unique_ptr<error> cause() const {
        const invivo_error *under = invivo_error_cause(raw_.get());
        return under ? std::make_unique<error>(part(under)) : nullptr;
    }

    const invivo_error *raw() const noexcept { return raw_.get(); }

private:
    error(invivo_status code, std::shared_ptr<invivo_error> raw) : status_(code), raw_(std::move(raw)) {}
    /// Shares the ownership of the whole.
    error part(const invivo_error *borrowed) const {
        return error(invivo_error_code(borrowed),
                     std::shared_ptr<invivo_error>(raw_, const_cast<invivo_error *>(borrowed)));
    }

    invivo_status status_;
    std::shared_ptr<invivo_error> raw_;
};

namespace detail INVIVO_LOCAL {

/// Makes a call that takes an error out parameter last: `checked([&](auto e) { return invivo_watch(r, path, e); })`.
template <typename Call> void checked(Call &&call) {
    invivo_error *failed = nullptr;
    invivo_status status = call(&failed);
    if (status != INVIVO_OK) throw error(status, failed);
}

/// One without such a parameter.
inline void checked(invivo_status status) {
    if (status != INVIVO_OK) throw error(status, static_cast<invivo_error *>(nullptr));
}

/// An error of one's own that says what a borrowed one says.
inline error copy_of(const invivo_error *borrowed) { return error(invivo_error_code(borrowed), invivo_error_copy(borrowed)); }

inline invivo_status answer(invivo_error **out, invivo_status status, const char *message, const char *path = nullptr) noexcept {
    if (out) *out = invivo_error_make(status, message, path, nullptr);
    return status;
}

/// Runs a callback's body: what it throws becomes its status and error. Nothing is thrown through C.
template <typename Body> invivo_status guarded(invivo_error **out, Body &&body) noexcept {
    try {
        body();
        return INVIVO_OK;
    } catch (const error &failed) {
        // With its causes, and whether it says already who needed what failed.
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

/// Runs a callback that has nobody to throw to: what it throws is logged and kept as the runtime's last error, with who threw it.
template <typename Body> void noting(invivo_runtime runtime, const char *who, Body &&body, const char *path = nullptr) noexcept {
    invivo_error *failed = nullptr;
    invivo_status status = guarded(&failed, body);
    if (status == INVIVO_OK) return;
    invivo_error *noted = nullptr;
    try {
        std::string text = std::string(who) + " threw: " + (failed ? invivo_error_text(failed) : invivo_status_text(status));
        noted = invivo_error_make(status, text.c_str(), path && *path ? path : nullptr, nullptr);
    } catch (const std::bad_alloc &) {
        // Without who threw it, then.
    }
    (void)invivo_runtime_note_error(runtime, noted ? noted : failed);
    invivo_error_release(noted);
    invivo_error_release(failed);
}

} // namespace detail
} // namespace invivo

#endif
