// refused.hpp: how a check of the host refuses values.
#ifndef INVIVO_CPP_REFUSED_HPP
#define INVIVO_CPP_REFUSED_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace invivo {

/// Thrown by a rule, or by the check of a trait type or property: the values do not satisfy it. Any other exception refuses them, too.
class refused : public std::runtime_error {
public:
    static constexpr size_t unknown = SIZE_MAX;
    /// `input` is the index of the input or field at fault, whose source location the error has. Without it, that is the first
    /// input that changes, or the trait.
    explicit refused(const std::string &message, size_t input = unknown) : std::runtime_error(message), input_(input) {}
    size_t input() const noexcept { return input_; }

private:
    size_t input_;
};

} // namespace invivo

#endif
