// Whole-number arithmetic that says when it does not fit in 64 bits.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace planc {

inline std::optional<std::int64_t> checkedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out))
    return std::nullopt;
  return out;
}

inline std::optional<std::int64_t> checkedMul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out))
    return std::nullopt;
  return out;
}

/// For counts of work, where what does not fit is more than anything can do:
/// the largest instead, for factors ≥ 0.
inline std::int64_t saturatingMul(std::int64_t a, std::int64_t b) {
  return checkedMul(a, b).value_or(std::numeric_limits<std::int64_t>::max());
}

/// ⌈a / b⌉ for a ≥ 0, b > 0.
inline std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

} // namespace planc
