// The forms of a validation. Each is a pure function of its argument.
#pragma once

#include "compiler/validate/Validate.h"

#include <string>

namespace planc::validate {

/// For people: the summary, a line a source, the rows that are furthest off.
std::string toText(const Validation &all);

/// One object: `median_abs_error`, `mean_abs_error`, `p90_abs_error`,
/// `rank_correlation` of step times, then everything else; errors are
/// predicted ÷ measured − 1, as fractions; times in seconds.
std::string toJson(const Validation &all);

/// The tables of the manual's page.
std::string toMarkdown(const Validation &all);

/// A row a row.
std::string toCsv(const Validation &all);

/// Predicted against measured step times, both by logarithm.
std::string toSvg(const Validation &all);

/// Rows with a step time, the furthest off first.
std::vector<const RowResult *> worstFirst(const Validation &all);

} // namespace planc::validate
