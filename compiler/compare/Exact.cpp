#include "compiler/compare/Exact.h"

#include "compiler/sema/Units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace planc::compare {

namespace {

/// In base units; what is read back from the text is within a half.
struct Shown {
  std::int64_t value;
  double perBase; ///< of these in one base unit
  std::string_view unit;
  sema::Dimension dimension;
};

std::string text(const Shown &shown) {
  std::string out = sema::formatQuantity(
      static_cast<double>(shown.value) / shown.perBase, shown.dimension);
  double number = 0;
  const char *end = out.data() + out.size();
  const auto read = std::from_chars(out.data(), end, number);
  const auto unit =
      sema::parseUnit({read.ptr, static_cast<std::size_t>(end - read.ptr)});
  if (read.ec == std::errc() && unit) {
    const double base =
        number * unit->numerator / unit->denominator * shown.perBase;
    if (std::fabs(base) < 9e18 && std::llround(base) == shown.value)
      return out;
  }
  return fmt::format("{}{}", shown.value, shown.unit);
}

} // namespace

std::string exact(double number) { return fmt::format("{}", number); }

std::string exact(Bytes bytes) {
  constexpr std::int64_t kMebi = 1 << 20;
  // Sizes of memory and buckets are powers of two more often than of ten.
  if (bytes.value >= kMebi && bytes.value % kMebi == 0 &&
      bytes.value < kMebi << 10)
    return fmt::format("{}MiB", bytes.value / kMebi);
  return text({bytes.value, 1, "B", sema::kBytes});
}
std::string exact(ByteRate rate) {
  return text({rate.value, 1, "B/s", sema::kByteRate});
}
std::string exact(FlopRate rate) {
  return text({rate.value, 1, "FLOP/s", sema::kFlopRate});
}
std::string exact(Duration time) {
  return text({time.value, 1e12, "ps", sema::kSeconds});
}

std::string expected(std::string_view metric, double value) {
  if (metric == "memory")
    return exact(Bytes(std::llround(value)));
  if (metric == "step_time")
    return exact(Duration(std::llround(value * 1e12)));
  if (metric == "mfu" || metric == "hfu" || metric == "bubble" ||
      metric == "exposed")
    return fmt::format("{}%", std::round(value * 1e8) / 1e6);
  return exact(value);
}

} // namespace planc::compare
