// pin.hpp: pins.
#ifndef INVIVO_CPP_PIN_HPP
#define INVIVO_CPP_PIN_HPP

#include "error.hpp"

namespace invivo {

/// A pin: while it exists, reads of its thread answer from one generation. It ends at the end of its block, on the thread
/// that began it. See pin.h.
class pin {
public:
    /// Begins a pin of the generation that the calling thread reads.
    explicit pin(invivo_runtime runtime, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : raw_(begun(invivo_pin_begin, runtime, file, line)) {}
    pin(pin &&other) noexcept : raw_(std::exchange(other.raw_, invivo_pin{})) {}
    pin &operator=(pin &&other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    /// Ending a pin on another thread than its own has no effect; close ends it.
    ~pin() { invivo_pin_end(raw_); }

    /// Begins a pin that belongs to no thread. Threads enter it; any thread may end it.
    [[nodiscard]] static pin hold(invivo_runtime runtime, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
        return pin(begun(invivo_pin_hold, runtime, file, line));
    }
    /// Begins a further pin of the same generation, for the calling thread.
    [[nodiscard]] pin enter() const {
        invivo_pin inside{};
        detail::checked([&](invivo_error **e) { return invivo_pin_enter(raw_, &inside, e); });
        return pin(inside);
    }
    /// Ends it before the end of its block. Throws INVIVO_E_DOMAIN if another thread is in it.
    void end() {
        invivo_status status = invivo_pin_end(raw_);
        if (status) throw error(status, "the pin belongs to another thread, which ends it");
        raw_ = {};
    }
    /// The generation; 0 if it has ended.
    uint64_t generation() const noexcept { return invivo_pin_generation(raw_); }
    invivo_pin raw() const noexcept { return raw_; }

private:
    explicit pin(invivo_pin raw) noexcept : raw_(raw) {}

    static invivo_pin begun(invivo_pin (*begin)(invivo_runtime, const invivo_place *), invivo_runtime runtime, const char *file, int line) {
        const invivo_place place{file, static_cast<uint32_t>(line), 0};
        invivo_pin made = begin(runtime, &place);
        if (made.bits) return made;
        uint64_t generation = 0;
        detail::checked([&](invivo_error **e) { return invivo_runtime_generation(runtime, &generation, e); });
        throw error(INVIVO_E_BUSY, "a pin cannot begin: the thread has an open view of another generation, which must end first, "
                                   "or a million pins are open, or there is no memory");
    }
    invivo_pin raw_;
};

} // namespace invivo

#endif
