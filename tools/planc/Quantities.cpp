#include "tools/planc/Quantities.h"

#include <charconv>
#include <span>

namespace planc::tool {

namespace {

struct Unit {
  std::string_view word;
  double base;
};
constexpr Unit kRates[] = {
    {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
constexpr Unit kTimes[] = {
    {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60.0}, {"h", 3600.0}};

std::optional<double> quantityOf(std::string_view text,
                                 std::span<const Unit> units) {
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc())
    return std::nullopt;
  const std::string_view word(rest, static_cast<std::size_t>(end - rest));
  for (const Unit &unit : units)
    if (unit.word == word)
      return value * unit.base;
  return std::nullopt;
}

} // namespace

std::optional<double> rateOf(std::string_view text) {
  const auto rate = quantityOf(text, kRates);
  // Rates are 64-bit whole numbers.
  return rate && *rate >= 1 && *rate < 9e18 ? rate : std::nullopt;
}

std::optional<double> timeOf(std::string_view text) {
  const auto seconds = quantityOf(text, kTimes);
  return seconds && *seconds >= 1e-12 && *seconds < 4.6e6 ? seconds
                                                          : std::nullopt;
}

} // namespace planc::tool
