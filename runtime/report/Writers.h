// The forms a report is written in. Each is a pure function of its arguments:
// the same report gives the same bytes, whatever the locale or the machine.
#pragma once

#include "runtime/report/Report.h"

#include <span>
#include <string>
#include <string_view>

namespace planc::report {

enum class Color : std::uint8_t { Never, Always };

struct TextOptions {
  Color color = Color::Never;
};

/// One screen, at most 100 columns, UTF-8.
std::string toText(const Report &report, const TextOptions &options = {});

/// One object, two spaces of indentation, ended by a newline (schema:
/// kSchemaVersion). Ratios have six digits, times are in seconds, sizes in
/// bytes.
std::string toJson(const Report &report);

/// The same object for a compile without a report: schema_version, status and
/// diagnostics.
std::string toJson(std::string_view status,
                   std::span<const DiagnosticRow> diagnostics);

/// GitHub-flavoured, for a comment in a code review.
std::string toMarkdown(const Report &report);

} // namespace planc::report
