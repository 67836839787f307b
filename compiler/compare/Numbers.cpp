#include "compiler/compare/Numbers.h"

#include "runtime/report/BuildReport.h"
#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace planc::compare {

namespace {

struct Scale {
  double of;
  std::string_view unit;
};
constexpr Scale kTimes[] = {
    {1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}, {1e-12, "ps"}};
constexpr Scale kSizes[] = {{1099511627776.0, "TiB"},
                            {1073741824.0, "GiB"},
                            {1048576.0, "MiB"},
                            {1024.0, "KiB"},
                            {1.0, "B"}};
constexpr Scale kCounts[] = {
    {1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}};

template <std::size_t N> Scale scaleOf(double value, const Scale (&scales)[N]) {
  for (const Scale &scale : scales)
    if (std::fabs(value) >= scale.of * 0.9995)
      return scale;
  return scales[N - 1];
}

Scale scaleOf(Form form, double value) {
  switch (form) {
  case Form::Time:
    return scaleOf(value, kTimes);
  case Form::Size:
    return scaleOf(value, kSizes);
  case Form::Share:
    return {0.01, "%"};
  case Form::Count:
    return std::fabs(value) < 99999.5 ? Scale{1, ""} : scaleOf(value, kCounts);
  case Form::Money:
    return {1, "USD/day"};
  }
  return {1, ""};
}

/// Three digits, but of sizes and shares one behind the point.
int decimalsOf(Form form, double scaled) {
  const double size = std::fabs(scaled);
  if (form == Form::Size || form == Form::Share)
    return 1;
  if (form == Form::Count && size == std::trunc(size))
    return 0;
  return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

std::string plain(double value, int decimals) {
  if (decimals == 0 && std::fabs(value) < 9e15)
    return report::grouped(std::llround(value));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string withUnit(const std::string &text, std::string_view unit) {
  return unit.empty() ? text : text + " " + std::string(unit);
}

constexpr auto kNumbers = std::to_array<NumberInfo>({
#define PLANC_NUMBER(KEY, WORDS, FORM) {KEY, WORDS, Form::FORM},
#include "compiler/compare/Numbers.def"
});

std::optional<double> valueOf(std::string_view key,
                              const report::Report &report,
                              double pricePerHour) {
  const auto accelerators = static_cast<double>(report.planned.accelerators);
  if (key == "parameters")
    return static_cast<double>(report.planned.parameters);
  if (key == "accelerators")
    return accelerators;
  if (key == "cost_per_day")
    return pricePerHour > 0 ? std::optional(accelerators * pricePerHour * 24)
                            : std::nullopt;
  if (key == "bubble" && !report.bubble)
    return std::nullopt;
  return report::metric(report, key, "");
}

/// Shares of the step by kind, where there are any.
void addExposed(const report::Report &report, std::vector<Number> &out) {
  for (std::size_t i = 0; i < report::kCauseCount; ++i) {
    const auto cause = static_cast<report::Cause>(i);
    if (report::groupOf(cause) != report::CauseGroup::Communication ||
        report.waterfall[cause] == 0)
      continue;
    const std::string_view kind = report::keyOf(cause).substr(8);
    out.push_back({fmt::format("exposed.{}", kind),
                   std::string(report::wordsOf(cause)), Form::Share,
                   report::metric(report, "exposed", kind), std::nullopt});
  }
}

} // namespace

std::span<const NumberInfo> numberInfos() { return kNumbers; }

std::vector<Number> numbersOf(const report::Report &report,
                              double pricePerHour) {
  std::vector<Number> out;
  for (const NumberInfo &info : kNumbers) {
    if (info.key == "exposed")
      addExposed(report, out);
    else if (const auto value = valueOf(info.key, report, pricePerHour);
             value || (info.key != "bubble" && info.key != "cost_per_day"))
      out.push_back({std::string(info.key), std::string(info.words), info.form,
                     value, std::nullopt});
  }
  return out;
}

std::vector<Number> paired(const std::vector<Number> &before,
                           const std::vector<Number> &after) {
  std::vector<Number> out = before;
  std::size_t at = 0;
  for (const Number &number : after) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const Number &other) {
          return other.key == number.key;
        });
    if (same != out.end()) {
      same->after = number.before;
      at = static_cast<std::size_t>(same - out.begin()) + 1;
      continue;
    }
    Number fresh = number;
    std::swap(fresh.before, fresh.after);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at++), fresh);
  }
  return out;
}

std::string textOf(Form form, double value) {
  const Scale scale = scaleOf(form, value);
  const double scaled = value / scale.of;
  return withUnit(plain(scaled, decimalsOf(form, scaled)), scale.unit);
}

std::string pairText(const Number &number) {
  if (!number.before || !number.after)
    return (number.before ? textOf(number.form, *number.before) : "–") + " → " +
           (number.after ? textOf(number.form, *number.after) : "–");
  const double larger =
      std::max(std::fabs(*number.before), std::fabs(*number.after));
  const Scale scale = scaleOf(number.form, larger);
  const double before = *number.before / scale.of,
               after = *number.after / scale.of;
  constexpr int kMost = 6;
  int decimals = decimalsOf(number.form, larger / scale.of);
  while (number.isChanged() && decimals < kMost &&
         plain(before, decimals) == plain(after, decimals))
    ++decimals;
  return withUnit(plain(before, decimals) + " → " + plain(after, decimals),
                  scale.unit);
}

std::string signedText(double value, int decimals) {
  std::string digits = fmt::format("{:.{}f}", std::fabs(value), decimals);
  const bool isZero = digits.find_first_not_of("0.") == std::string::npos;
  return (isZero ? "±" : value < 0 ? "−" : "+") + digits;
}

std::string changeText(const Number &number) {
  if (!number.before || !number.after || !number.isChanged())
    return "";
  const bool isShare = number.form == Form::Share;
  if (!isShare && *number.before == 0)
    return "";
  const double percent =
      isShare ? number.change() * 100 : number.change() / *number.before * 100;
  constexpr int kMost = 6;
  int decimals = 1;
  while (decimals < kMost &&
         std::fabs(percent) * std::pow(10.0, decimals) < 0.5)
    ++decimals;
  return signedText(percent, decimals) + (isShare ? " pp" : " %");
}

TimeScale::TimeScale(std::int64_t largestPicoseconds) {
  const double largest = std::fabs(static_cast<double>(largestPicoseconds));
  const Scale scale = scaleOf(largest * 1e-12, kTimes);
  unit_ = scale.unit;
  decimals_ = decimalsOf(Form::Time, largest * 1e-12 / scale.of);
  const double step = scale.of * 1e12 / std::pow(10.0, decimals_);
  step_ = std::max<std::int64_t>(std::llround(step), 1);
  if (step < 1) // whole picoseconds
    decimals_ = 0;
}

std::int64_t TimeScale::rounded(std::int64_t picoseconds) const {
  const std::int64_t size = std::abs(picoseconds);
  const std::int64_t units = size / step_ + (size % step_ * 2 >= step_ ? 1 : 0);
  return picoseconds < 0 ? -units : units;
}

std::vector<std::int64_t>
TimeScale::rounded(const std::vector<std::int64_t> &parts,
                   std::int64_t sum) const {
  std::vector<std::int64_t> out;
  std::vector<std::size_t> order;
  std::int64_t missing = sum;
  const auto floorOf = [&](std::int64_t part) {
    return part / step_ - (part % step_ < 0 ? 1 : 0);
  };
  for (std::int64_t part : parts) {
    order.push_back(out.size());
    out.push_back(floorOf(part));
    missing -= out.back();
  }
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return parts[a] - out[a] * step_ > parts[b] - out[b] * step_;
      });
  // One each to the largest remainders; a sum that was rounded further away
  // goes to the first of them.
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing)
    ++out[order[i]];
  if (!order.empty())
    out[order[0]] += missing;
  return out;
}

std::string TimeScale::text(std::int64_t units) const {
  return signedText(static_cast<double>(units) / std::pow(10.0, decimals_),
                    decimals_);
}

} // namespace planc::compare
