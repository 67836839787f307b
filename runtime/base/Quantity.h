// Whole numbers with a unit: bytes, operations, picoseconds and the rates
// between them. Nothing that decides an order is a floating-point number.
#pragma once

#include <compare>
#include <cstdint>

namespace planc {

/// 128 bits: FLOPs of a whole step pass 2^63.
__extension__ typedef __int128 Int128;

/// A whole number of one unit. Addition stays in the unit; multiplying two
/// quantities is a named function, because its unit is another.
template <class Unit> struct Quantity {
  std::int64_t value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t v) : value(v) {}

  constexpr auto operator<=>(const Quantity &) const = default;
  constexpr Quantity operator+(Quantity o) const {
    return Quantity(value + o.value);
  }
  constexpr Quantity operator-(Quantity o) const {
    return Quantity(value - o.value);
  }
  constexpr Quantity operator*(std::int64_t n) const {
    return Quantity(value * n);
  }
  constexpr Quantity operator/(std::int64_t n) const {
    return Quantity(value / n);
  }
  constexpr Quantity &operator+=(Quantity o) {
    value += o.value;
    return *this;
  }
  constexpr Quantity &operator-=(Quantity o) {
    value -= o.value;
    return *this;
  }
  constexpr double toDouble() const { return static_cast<double>(value); }
};

using Bytes = Quantity<struct BytesUnit>;
using Flops = Quantity<struct FlopsUnit>;       ///< operations, not a rate
using Duration = Quantity<struct DurationUnit>; ///< picoseconds; 106 days fit
using ByteRate = Quantity<struct ByteRateUnit>; ///< bytes per second
using FlopRate = Quantity<struct FlopRateUnit>; ///< operations per second

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

constexpr double toSeconds(Duration d) {
  return d.toDouble() / static_cast<double>(kPicosecondsPerSecond);
}

/// Rounded up, so that work never takes no time.
Duration durationFromSeconds(double seconds);

/// bytes ÷ (rate × efficiency), rounded up to a picosecond. `efficiency` in (0,
/// 1].
Duration transferTime(Bytes bytes, ByteRate rate, double efficiency = 1.0);

/// flops ÷ (rate × efficiency), rounded up to a picosecond.
Duration computeTime(Flops flops, FlopRate rate, double efficiency = 1.0);

} // namespace planc
