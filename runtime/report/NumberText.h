// Numbers as people read them: three digits, a unit, a thin hand with zeros.
// None of this looks at a locale.
#pragma once

#include "runtime/base/Quantity.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace planc::report {

/// `16,384`.
std::string grouped(std::int64_t value);
std::string digits(Int128 value);

/// Three significant digits, trailing zeros kept: `6.31`, `40.0`, `512`.
std::string threeDigits(double value);

/// `6.31 s`, `512 ms`, `43.1 µs`, `15 ns`, `250 ps`; `0 s`.
std::string durationText(Duration duration);
/// Whole picoseconds as decimal seconds, without loss: `6.310000000001`.
std::string exactSeconds(Duration duration);

/// `71.2 GiB`, `31.5 MiB`, `12 B`.
std::string bytesText(Bytes bytes);
/// In GiB, one digit after the point, no unit.
std::string gibibytes(Bytes bytes);

/// `2.66 M`, `15.6 T`, `162`.
std::string scaledCount(double value);

/// Right-aligned in so many columns; `µ` is one wide.
std::string padded(std::string_view text, std::size_t columns);

/// One digit after the point: 0.3824 → `38.2`.
std::string percentage(double fraction);

/// As JSON wants a number: a whole one (bytes) with all its digits, any other
/// with six significant ones, `null` for what is no number.
std::string jsonNumber(double value);

/// numerator / denominator; 0 where the denominator is.
double ratio(Int128 numerator, Int128 denominator);

/// Whole units for each part that add up to exactly `units`: the first part
/// rounded to the nearest, the others by largest remainder, the earlier of
/// equals first. `parts` add up to `total` > 0; single parts may be negative.
std::vector<std::int64_t> apportion(std::span<const Int128> parts, Int128 total,
                                    std::int64_t units);

/// Columns a text takes where every character takes one.
std::size_t columnsOf(std::string_view text);
/// Control characters out, runs of blanks to one, no blanks at the ends.
std::string oneLine(std::string_view text);
/// What stays text inside a cell of a Markdown table.
std::string cell(std::string_view text);
/// At most `columns` wide, the end (or the start) left out with an ellipsis.
std::string shortened(std::string_view text, std::size_t columns);
std::string shortenedAtStart(std::string_view text, std::size_t columns);

} // namespace planc::report
