// Pictures for documents: one file each, no script, light and dark, with a
// title and a description for those who cannot see them.
#pragma once

#include "runtime/report/Picture.h"
#include "runtime/report/Report.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace planc::report {

struct SvgOptions {
  /// Detail is left out until the file is no larger.
  std::size_t mostBytes = 900'000;
};

/// The step, a row for each stage and in it a band for each stream. What is
/// narrower than two pixels is shown as how much of two pixels it fills.
std::string timelineSvg(const Picture &picture, const Report &report,
                        const SvgOptions &options = {});

/// Where 100 % goes: a row for each cause, its bar from where the one before
/// ends.
std::string waterfallSvg(const Report &report);

/// `&`, `<`, `>` and quotes written so that they are text.
std::string escapedXml(std::string_view text);

/// Rules `.key { fill: colour }` for every shade; for dark inside a query.
std::string shadeRules();

/// How the bar of a cause is drawn in a waterfall.
struct BarInfo {
  std::string_view key, light, dark;
};
std::span<const BarInfo> bars();
const BarInfo &barOf(Cause cause);

} // namespace planc::report
