#include "compiler/sema/Units.h"

#include "compiler/diag/Emitter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace planc::sema {

namespace {

struct Row {
  std::string_view name;
  double numerator, denominator;
  Dimension dimension;
  bool takesPrefix; ///< k M G T P E
};

constexpr Dimension kFlops{0, 0, 1, 0, 0};
constexpr Dimension kDollars{0, 0, 0, 0, 1};
constexpr Dimension kEnergy{0, 1, 0, 1, 0};

// Bits stand as an eighth, times as a whole number over a power of ten, so that
// what can be exact is.
constexpr Row kRows[] = {
    {"B", 1, 1, kBytes, true},         {"b", 1, 8, kBytes, true},
    {"KiB", 0x1p10, 1, kBytes, false}, {"MiB", 0x1p20, 1, kBytes, false},
    {"GiB", 0x1p30, 1, kBytes, false}, {"TiB", 0x1p40, 1, kBytes, false},
    {"PiB", 0x1p50, 1, kBytes, false}, {"FLOP", 1, 1, kFlops, true},
    {"s", 1, 1, kSeconds, false},      {"ms", 1, 1e3, kSeconds, false},
    {"us", 1, 1e6, kSeconds, false},   {"ns", 1, 1e9, kSeconds, false},
    {"ps", 1, 1e12, kSeconds, false},  {"min", 60, 1, kSeconds, false},
    {"h", 3600, 1, kSeconds, false},   {"d", 86400, 1, kSeconds, false},
    {"Hz", 1, 1, kPerTime, true},      {"W", 1, 1, kPower, true},
    {"Wh", 3600, 1, kEnergy, true},    {"J", 1, 1, kEnergy, true},
    {"USD", 1, 1, kDollars, false},    {"%", 1, 100, kNoDimension, false},
};

struct Prefix {
  char letter;
  double factor;
};
constexpr Prefix kPrefixes[] = {{'k', 1e3},  {'M', 1e6},  {'G', 1e9},
                                {'T', 1e12}, {'P', 1e15}, {'E', 1e18}};

std::optional<Unit> parseWord(std::string_view word) {
  for (const Row &row : kRows)
    if (row.name == word)
      return Unit{row.numerator, row.denominator, row.dimension};
  if (word.size() < 2)
    return std::nullopt;
  for (const Prefix &prefix : kPrefixes) {
    if (prefix.letter != word.front())
      continue;
    for (const Row &row : kRows)
      if (row.takesPrefix && row.name == word.substr(1))
        return Unit{row.numerator * prefix.factor, row.denominator,
                    row.dimension};
  }
  return std::nullopt;
}

std::optional<Dimension> combine(Dimension a, Dimension b, int sign) {
  auto join = [&](std::int8_t x, std::int8_t y, std::int8_t &out) {
    int sum = x + sign * y;
    out = static_cast<std::int8_t>(sum);
    return sum >= -100 && sum <= 100;
  };
  Dimension out;
  bool fits = join(a.byte, b.byte, out.byte) &&
              join(a.second, b.second, out.second) &&
              join(a.flop, b.flop, out.flop) &&
              join(a.watt, b.watt, out.watt) && join(a.usd, b.usd, out.usd);
  return fits ? std::optional(out) : std::nullopt;
}

/// All words without a `/`, with their prefixes.
std::vector<std::string> allWords() {
  std::vector<std::string> out;
  for (const Row &row : kRows) {
    out.emplace_back(row.name);
    if (row.takesPrefix)
      for (const Prefix &prefix : kPrefixes)
        out.push_back(std::string(1, prefix.letter).append(row.name));
  }
  return out;
}

bool equalButForCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// One side of a `/`. What is a unit stays.
std::optional<std::string> nearestWord(std::string_view word) {
  if (parseWord(word))
    return std::string(word);
  std::vector<std::string> words = allWords();
  for (const std::string &candidate : words)
    if (equalButForCase(candidate, word))
      return candidate;
  std::vector<std::string_view> views(words.begin(), words.end());
  if (auto near = diag::nearestName(word, views))
    return std::string(*near);
  return std::nullopt;
}

/// A unit to show a dimension in; the first whose number is at least one.
struct Shown {
  Dimension dimension;
  std::string_view unit;
};
constexpr Shown kShown[] = {
    {kBytes, "PiB"},        {kBytes, "TiB"},          {kBytes, "GiB"},
    {kBytes, "MiB"},        {kBytes, "KiB"},          {kBytes, "B"},
    {kSeconds, "d"},        {kSeconds, "h"},          {kSeconds, "s"},
    {kSeconds, "ms"},       {kSeconds, "us"},         {kSeconds, "ns"},
    {kByteRate, "TB/s"},    {kByteRate, "GB/s"},      {kByteRate, "MB/s"},
    {kByteRate, "kB/s"},    {kByteRate, "B/s"},       {kFlopRate, "PFLOP/s"},
    {kFlopRate, "TFLOP/s"}, {kFlopRate, "GFLOP/s"},   {kFlopRate, "FLOP/s"},
    {kPower, "W"},          {kPricePerTime, "USD/h"},
};

} // namespace

std::optional<Dimension> multiply(Dimension a, Dimension b) {
  return combine(a, b, 1);
}

std::optional<Dimension> divide(Dimension a, Dimension b) {
  return combine(a, b, -1);
}

std::optional<Dimension> power(Dimension a, std::int64_t exponent) {
  if (exponent < -100 || exponent > 100)
    return a.isNone() ? std::optional(a) : std::nullopt;
  Dimension out;
  std::int64_t steps = exponent < 0 ? -exponent : exponent;
  for (std::int64_t i = 0; i < steps; ++i) {
    auto next = exponent < 0 ? divide(out, a) : multiply(out, a);
    if (!next)
      return std::nullopt;
    out = *next;
  }
  return out;
}

std::string toString(Dimension dimension) {
  struct Known {
    Dimension dimension;
    std::string_view text;
  };
  static constexpr Known kKnown[] = {
      {kNoDimension, "a plain number"},
      {kBytes, "bytes"},
      {kSeconds, "a time"},
      {kByteRate, "bytes per second"},
      {kFlopRate, "operations per second"},
      {kFlops, "operations"},
      {kPower, "a power"},
      {kEnergy, "an energy"},
      {kDollars, "money"},
      {kPricePerTime, "money per time"},
      {kPerTime, "a frequency"},
  };
  for (const Known &known : kKnown)
    if (known.dimension == dimension)
      return std::string(known.text);
  std::string out;
  auto add = [&](std::string_view name, std::int8_t exponent) {
    if (exponent == 0)
      return;
    if (!out.empty())
      out += ' ';
    out += name;
    if (exponent != 1)
      out += fmt::format("^{}", exponent);
  };
  add("byte", dimension.byte);
  add("second", dimension.second);
  add("FLOP", dimension.flop);
  add("watt", dimension.watt);
  add("USD", dimension.usd);
  return out;
}

std::optional<Unit> parseUnit(std::string_view word) {
  std::size_t slash = word.find('/');
  if (slash == std::string_view::npos)
    return parseWord(word);
  auto above = parseWord(word.substr(0, slash));
  auto below = parseWord(word.substr(slash + 1));
  if (!above || !below)
    return std::nullopt;
  auto dimension = divide(above->dimension, below->dimension);
  if (!dimension)
    return std::nullopt;
  return Unit{above->numerator * below->denominator,
              above->denominator * below->numerator, *dimension};
}

std::optional<std::string> nearestUnit(std::string_view word) {
  std::size_t slash = word.find('/');
  if (slash == std::string_view::npos)
    return nearestWord(word);
  auto above = nearestWord(word.substr(0, slash));
  auto below = nearestWord(word.substr(slash + 1));
  if (!above || !below)
    return std::nullopt;
  return *above + "/" + *below;
}

namespace {

/// `9.2e18`, without the sign and the zeros of C's exponents.
std::string formatNumber(double value) {
  std::string out = fmt::format("{:.6g}", value);
  std::size_t plus = out.find("e+");
  if (plus != std::string::npos)
    out.erase(plus + 1, out[plus + 2] == '0' ? 2 : 1);
  return out;
}

} // namespace

std::string formatQuantity(double value, Dimension dimension) {
  if (dimension.isNone())
    return formatNumber(value);
  std::string last;
  for (const Shown &shown : kShown) {
    if (!(shown.dimension == dimension))
      continue;
    Unit unit = *parseUnit(shown.unit);
    double number = value * unit.denominator / unit.numerator;
    last = formatNumber(number) + std::string(shown.unit);
    if (std::fabs(number) >= 1)
      return last;
  }
  if (!last.empty())
    return last;
  return formatNumber(value) + " " + toString(dimension);
}

} // namespace planc::sema
