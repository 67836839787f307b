// Quantities on the command line.
#pragma once

#include <optional>
#include <string_view>

namespace planc::tool {

/// `989.4TFLOP/s` in FLOPs per second; at least one.
std::optional<double> rateOf(std::string_view text);

/// `5.18s`, `820ms`, `1.5min` in seconds; from a picosecond to the 53 days of
/// planc's clock.
std::optional<double> timeOf(std::string_view text);

} // namespace planc::tool
