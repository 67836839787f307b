// planc report FILE: what a step costs and why.
#include "runtime/report/Writers.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json, Markdown };
enum class ColorChoice { Auto, Always, Never };

struct ReportOptions {
  cl::SubCommand verb{"report", "what a step costs and why"};
  PlanOptions plan{verb};
  TextOption format{verb, "format", "text, json or markdown", "FORM"};
  OutputOption output{verb};
  TextOption peak{verb, "peak", "print MFU against another peak, e.g. 2PFLOP/s",
                  "RATE"};
  TextOption color{verb, "color",
                   "colour: auto (on a terminal), always or never", "WHEN"};
};

constexpr std::array<Choice<Format>, 3> kFormats = {
    {{"text", Format::Text},
     {"json", Format::Json},
     {"markdown", Format::Markdown}}};
constexpr std::array<Choice<ColorChoice>, 3> kColors = {
    {{"auto", ColorChoice::Auto},
     {"always", ColorChoice::Always},
     {"never", ColorChoice::Never}}};

/// What the words of the options mean.
struct Written {
  Format format;
  report::Color color;
};

/// Nothing after a message.
std::optional<Written> formOf(const ReportOptions &options) {
  const auto format = choose(options.format, kFormats);
  const auto color = format ? choose(options.color, kColors) : std::nullopt;
  if (!color)
    return std::nullopt;
  const bool isColored =
      *color == ColorChoice::Always ||
      (*color == ColorChoice::Auto && options.output.empty() &&
       wantsColor(Channel::Output));
  return Written{*format,
                 isColored ? report::Color::Always : report::Color::Never};
}

/// Empty where a form has nothing to say without a report.
std::string write(const Written &form, const driver::Session &session) {
  const report::Report *made = session.report();
  if (form.format == Format::Json) {
    const auto rows = rowsOf(session);
    if (made == nullptr)
      return report::toJson(statusOf(session.outcome()), rows);
    report::Report whole = *made;
    whole.diagnostics = rows;
    return report::toJson(whole);
  }
  if (made == nullptr)
    return "";
  return form.format == Format::Markdown ? report::toMarkdown(*made)
                                         : report::toText(*made, {form.color});
}

} // namespace

int runReport(Arguments arguments) {
  static ReportOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto form = formOf(options);
  if (!form)
    return kUsage;
  auto session = options.plan.session();
  if (!session)
    return kUsage;
  if (const auto code = setPeak(*session, options.peak))
    return *code;
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.run();
  printDiagnostics(compile);
  const std::string text = write(*form, compile);
  if (!text.empty() && !writeResult(options.output, text, compile))
    return kUsage;
  return driver::exitCode(outcome);
}

} // namespace planc::tool
