#include "runtime/report/NumberText.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace planc::report {

namespace {

constexpr std::int64_t kWidth = 980, kNames = 170, kNumbers = 222, kBars = 236;
constexpr std::int64_t kPlot = 340, kRow = 24, kTop = 48;

constexpr auto kBarInfos = std::to_array<BarInfo>({
#define PLANC_BAR(KEY, LIGHT, DARK) {KEY, LIGHT, DARK},
#include "runtime/report/Bars.def"
});

/// Rules `.key { fill: colour }`, for dark inside a query.
template <class Infos> std::string fillRules(const Infos &infos) {
  std::string light, dark;
  for (const auto &info : infos) {
    light += fmt::format(".{}{{fill:{}}}", info.key, info.light);
    dark += fmt::format(".{}{{fill:{}}}", info.key, info.dark);
  }
  return fmt::format("{}@media(prefers-color-scheme:dark){{{}}}", light, dark);
}

constexpr std::string_view kStyle =
    "text{font:13px system-ui,sans-serif;fill:#2b2f33}"
    ".h{font-size:15px;font-weight:600}.e{text-anchor:end}.r{fill:#62686f}"
    ".b{fill:#fff}.g{stroke:#8a8f95;stroke-opacity:.25}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e6e8}.r{fill:#a3a9b0}"
    ".b{fill:#16181b}}";

} // namespace

std::string escapedXml(std::string_view text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

std::string shadeRules() { return fillRules(shades()); }

std::span<const BarInfo> bars() { return kBarInfos; }

const BarInfo &barOf(Cause cause) {
  return cause == Cause::ModelArithmetic
             ? kBarInfos.front()
             : kBarInfos[1 + static_cast<std::size_t>(groupOf(cause))];
}

std::string waterfallSvg(const Report &report) {
  const auto parts =
      apportion(report.waterfall.rankTime, report.waterfall.total(), 1000);
  std::string rows;
  std::int64_t at = 0, y = kTop;
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    const std::int64_t part = parts[i];
    if (part == 0)
      continue;
    const std::int64_t from = std::min(at, at + part) * kPlot / 1000;
    const std::int64_t width =
        std::max<std::int64_t>(std::abs(part) * kPlot / 1000, 1);
    rows += fmt::format(
        "<text class=\"e\" x=\"{}\" y=\"{}\">{}</text><text class=\"e\" "
        "x=\"{}\" y=\"{}\">{}{}.{}</text><rect class=\"{}\" x=\"{}\" y=\"{}\" "
        "width=\"{}\" height=\"14\" rx=\"1\"/><text class=\"r\" x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        kNames, y + 12, wordsOf(cause), kNumbers, y + 12, part < 0 ? "−" : "",
        std::abs(part) / 10, std::abs(part) % 10, barOf(cause).key,
        kBars + from, y + 1, width, kBars + kPlot + 12, y + 12,
        escapedXml(shortened(oneLine(report.reasons[i]), 52)));
    at += part;
    y += kRow;
  }
  const std::string title = escapedXml(
      fmt::format("{}: where 100 % of {} goes", oneLine(report.planned.plan),
                  durationText(report.stepTime)));
  const std::string description = escapedXml(fmt::format(
      "{} on {} × {}; MFU {} %.", oneLine(report.planned.model),
      grouped(report.planned.accelerators), oneLine(report.planned.accelerator),
      percentage(report.mfu(Convention::Exact))));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\" role=\"img\" aria-labelledby=\"title "
      "description\">\n<title id=\"title\">{2}</title>\n<desc "
      "id=\"description\">{3}</desc>\n<style>{4}</style>\n<rect class=\"b\" "
      "width=\"100%\" height=\"100%\"/>\n<text class=\"h\" x=\"24\" "
      "y=\"28\">{2}</text>\n<path class=\"g\" d=\"M{5} {7}V{8}M{6} "
      "{7}V{8}\"/>\n{9}</svg>\n",
      kWidth, y + 12, title, description,
      std::string(kStyle) + fillRules(bars()), kBars, kBars + kPlot, kTop - 4,
      y, rows);
}

} // namespace planc::report
