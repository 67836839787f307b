// Units of quantities: what a unit word means, and the algebra of dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::sema {

/// Powers of the base units: byte, second, operation, watt, dollar.
struct Dimension {
  std::int8_t byte = 0, second = 0, flop = 0, watt = 0, usd = 0;

  bool operator==(const Dimension &) const = default;
  bool isNone() const { return *this == Dimension(); }
};

inline constexpr Dimension kNoDimension{};
inline constexpr Dimension kBytes{1, 0, 0, 0, 0};
inline constexpr Dimension kSeconds{0, 1, 0, 0, 0};
inline constexpr Dimension kByteRate{1, -1, 0, 0, 0};
inline constexpr Dimension kFlopRate{0, -1, 1, 0, 0};
inline constexpr Dimension kPower{0, 0, 0, 1, 0};
inline constexpr Dimension kPricePerTime{0, -1, 0, 0, 1};
inline constexpr Dimension kPerTime{0, -1, 0, 0, 0};

/// Nothing if a power leaves -100…100.
std::optional<Dimension> multiply(Dimension a, Dimension b);
std::optional<Dimension> divide(Dimension a, Dimension b);
std::optional<Dimension> power(Dimension a, std::int64_t exponent);

/// `bytes`, `bytes per second`, `seconds`, `a plain number`; for others the
/// powers: `byte^2 second^-1`.
std::string toString(Dimension dimension);

/// value in base units = number · numerator ÷ denominator.
struct Unit {
  double numerator = 1, denominator = 1;
  Dimension dimension;
};

/// `GB/s`, `GiB`, `%`, `us`, `USD/h`; nothing for anything else. kB, MB, … are
/// powers of ten, KiB, MiB, … of two, `b` is bits.
std::optional<Unit> parseUnit(std::string_view word);

/// The unit most likely meant by a word that is none: the same letters in
/// another case, else a near one.
std::optional<std::string> nearestUnit(std::string_view word);

/// A value in base units as people write it: `80GiB`, `1.5us`, `2.5`; at most
/// six digits.
std::string formatQuantity(double value, Dimension dimension);

} // namespace planc::sema
