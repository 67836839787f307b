#include "compiler/validate/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace planc::validate {

namespace {

constexpr double kSize = 560, kLeft = 64, kTop = 24;

/// Enough that neighbours differ; told apart by nothing else, so that no more
/// accelerators than these get one of their own.
constexpr std::string_view kInks[] = {"#1f77b4", "#d62728", "#2ca02c",
                                      "#9467bd", "#ff7f0e", "#17becf",
                                      "#8c564b", "#e377c2", "#7f7f7f"};

/// Whole powers of ten around all times.
struct Axis {
  int low = -1, high = 2;

  double at(double seconds) const {
    return kSize * (std::log10(seconds) - low) / (high - low);
  }
};

Axis axisOf(const std::vector<const RowResult *> &rows) {
  double least = 1, most = 10;
  for (const RowResult *row : rows) {
    least = std::min({least, row->step->measured, row->step->predicted});
    most = std::max({most, row->step->measured, row->step->predicted});
  }
  return {static_cast<int>(std::floor(std::log10(least))),
          static_cast<int>(std::ceil(std::log10(most)))};
}

std::string frame(const Axis &axis) {
  std::string out;
  for (int power = axis.low; power <= axis.high; ++power) {
    const double at = kSize * (power - axis.low) / (axis.high - axis.low);
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} "
        "{4:.1f}H{5:.1f}\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{6:.1f}\" "
        "text-anchor=\"middle\">{7:g}</text>\n"
        "<text x=\"{8:.1f}\" y=\"{9:.1f}\" text-anchor=\"end\">{7:g}</text>\n",
        kLeft + at, kTop, kTop + kSize, kLeft, kTop + kSize - at, kLeft + kSize,
        kTop + kSize + 18, std::pow(10.0, power), kLeft - 6,
        kTop + kSize - at + 4);
  }
  // Equal, and a fifth to either side.
  for (double times : {1.0, 1.2, 1 / 1.2}) {
    const double shift = kSize * std::log10(times) / (axis.high - axis.low);
    out += fmt::format(
        "<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} "
        "{:.1f}\"/>\n",
        times == 1 ? "equal" : "near", kLeft + std::max(0.0, -shift),
        kTop + kSize - std::max(0.0, shift),
        kLeft + kSize - std::max(0.0, shift), kTop + std::max(0.0, -shift));
  }
  return out;
}

} // namespace

std::string toSvg(const Validation &all) {
  std::vector<const RowResult *> rows;
  std::map<std::string, std::string_view> inks;
  for (const RowResult &row : all.rows)
    if (row.isExpressed() && row.step) {
      rows.push_back(&row);
      inks[row.accelerator];
    }
  std::size_t next = 0;
  for (auto &[accelerator, ink] : inks)
    ink = kInks[std::min(next++, std::size(kInks) - 1)];
  const Axis axis = axisOf(rows);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 640\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<style>.grid{{stroke:#ddd;fill:none}}.equal{{stroke:#000}}.near{{stroke:"
      "#999;stroke-dasharray:4 4}}circle{{fill-opacity:.55}}</style>\n"
      "<rect width=\"780\" height=\"640\" fill=\"#fff\"/>\n{}",
      frame(axis));
  for (const RowResult *row : rows)
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" "
                       "fill=\"{}\"/>\n",
                       kLeft + axis.at(row->step->measured),
                       kTop + kSize - axis.at(row->step->predicted),
                       inks[row->accelerator]);
  double y = kTop + 12;
  for (const auto &[accelerator, ink] : inks) {
    out +=
        fmt::format("<circle cx=\"640\" cy=\"{:.0f}\" r=\"4\" "
                    "fill=\"{}\"/>\n<text x=\"650\" y=\"{:.0f}\">{}</text>\n",
                    y - 4, ink, y, accelerator);
    y += 18;
  }
  return out +
         fmt::format("<text x=\"{:.0f}\" y=\"630\" text-anchor=\"middle\">"
                     "measured step, s</text>\n"
                     "<text transform=\"translate(16 {:.0f}) "
                     "rotate(-90)\" text-anchor=\"middle\">predicted step, "
                     "s</text>\n</svg>\n",
                     kLeft + kSize / 2, kTop + kSize / 2);
}

} // namespace planc::validate
