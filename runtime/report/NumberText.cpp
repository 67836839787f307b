#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace planc::report {

namespace {

struct Scale {
  double from;
  std::string_view suffix;
};

/// The largest scale that leaves at least 1 after rounding to three digits.
template <std::size_t N>
const Scale &scaleOf(double value, const Scale (&scales)[N]) {
  for (const Scale &scale : scales)
    if (value >= scale.from * 0.9995)
      return scale;
  return scales[N - 1];
}

constexpr Scale kTimes[] = {
    {1.0, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}, {1e-12, " ps"}};
constexpr Scale kSizes[] = {{1099511627776.0, " TiB"},
                            {1073741824.0, " GiB"},
                            {1048576.0, " MiB"},
                            {1024.0, " KiB"},
                            {1.0, " B"}};
constexpr Scale kCounts[] = {
    {1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}, {1.0, ""}};

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Offset of the character `columns` characters in.
std::size_t offsetOf(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!isContinuation(text[at]) && columns-- == 0)
      break;
  return at;
}

} // namespace

std::string digits(Int128 value) {
  if (value == 0)
    return "0";
  const bool negative = value < 0;
  std::string out;
  for (; value != 0; value /= 10) {
    const int digit = static_cast<int>(value % 10);
    out.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  if (negative)
    out.push_back('-');
  std::reverse(out.begin(), out.end());
  return out;
}

std::string grouped(std::int64_t value) {
  std::string out = digits(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = out.size(); at > first + 3;) {
    at -= 3;
    out.insert(at, 1, ',');
  }
  return out;
}

std::string threeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95)
    return fmt::format("{:.0f}", value);
  return size >= 9.995 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.2f}", value);
}

std::string durationText(Duration duration) {
  if (duration.value == 0)
    return "0 s";
  const double seconds = toSeconds(duration);
  const Scale &scale = scaleOf(std::fabs(seconds), kTimes);
  if (scale.from < 1e-10)
    return fmt::format("{}{}", duration.value, scale.suffix);
  return threeDigits(seconds / scale.from) + std::string(scale.suffix);
}

std::string exactSeconds(Duration duration) {
  const bool negative = duration.value < 0;
  const Int128 size = negative ? -Int128(duration.value) : duration.value;
  const auto whole = static_cast<std::int64_t>(size / kPicosecondsPerSecond);
  const auto part = static_cast<std::int64_t>(size % kPicosecondsPerSecond);
  std::string out = fmt::format("{}{}", negative ? "-" : "", whole);
  if (part == 0)
    return out;
  out += fmt::format(".{:012d}", part);
  out.erase(out.find_last_not_of('0') + 1);
  return out;
}

std::string bytesText(Bytes bytes) {
  const Scale &scale = scaleOf(std::fabs(bytes.toDouble()), kSizes);
  if (scale.from == 1.0)
    return fmt::format("{} B", bytes.value);
  return fmt::format("{:.1f}{}", bytes.toDouble() / scale.from, scale.suffix);
}

std::string gibibytes(Bytes bytes) {
  return fmt::format("{:.1f}", bytes.toDouble() / 1073741824.0);
}

std::string scaledCount(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95 && size < 9999.5)
    return grouped(std::llround(value));
  const Scale &scale = scaleOf(size, kCounts);
  return threeDigits(value / scale.from) + std::string(scale.suffix);
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t width = columnsOf(text);
  return std::string(columns > width ? columns - width : 0, ' ') +
         std::string(text);
}

std::string percentage(double fraction) {
  return fmt::format("{:.1f}", fraction * 100.0);
}

std::string jsonNumber(double value) {
  if (!std::isfinite(value))
    return "null";
  constexpr double kExact = 9007199254740992.0; // 2^53
  if (value == std::trunc(value) && std::fabs(value) < kExact)
    return digits(static_cast<std::int64_t>(value));
  return fmt::format("{:.6g}", value);
}

double ratio(Int128 numerator, Int128 denominator) {
  return denominator == 0 ? 0.0
                          : static_cast<double>(numerator) /
                                static_cast<double>(denominator);
}

std::vector<std::int64_t> apportion(std::span<const Int128> parts, Int128 total,
                                    std::int64_t units) {
  std::vector<std::int64_t> out(parts.size());
  if (parts.empty() || total <= 0)
    return out;
  std::vector<Int128> remainders(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Int128 whole = parts[i] * units / total;
    Int128 rest = parts[i] * units % total;
    if (rest < 0) {
      --whole;
      rest += total;
    }
    out[i] = static_cast<std::int64_t>(whole);
    remainders[i] = rest;
  }
  out[0] += remainders[0] * 2 >= total ? 1 : 0;
  std::vector<std::size_t> order(parts.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t(1));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return remainders[a] > remainders[b];
                   });
  std::int64_t missing =
      units - std::accumulate(out.begin(), out.end(), std::int64_t(0));
  for (std::size_t i : order) {
    if (missing <= 0)
      break;
    ++out[i];
    --missing;
  }
  return out;
}

std::size_t columnsOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}

std::string oneLine(std::string_view text) {
  std::string out;
  bool blank = false;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7F) {
      blank = !out.empty();
      continue;
    }
    if (blank)
      out.push_back(' ');
    blank = false;
    out.push_back(c);
  }
  return out;
}

std::string cell(std::string_view text) {
  std::string out;
  for (char c : oneLine(text)) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos)
      out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (columnsOf(text) <= columns)
    return std::string(text);
  if (columns == 0)
    return "";
  return std::string(text.substr(0, offsetOf(text, columns - 1))) + "…";
}

std::string shortenedAtStart(std::string_view text, std::size_t columns) {
  const std::size_t width = columnsOf(text);
  if (width <= columns)
    return std::string(text);
  if (columns == 0)
    return "";
  return "…" + std::string(text.substr(offsetOf(text, width - columns + 1)));
}

} // namespace planc::report
