// planc report FILE: what a step costs and why.
#include "runtime/report/HtmlReport.h"
#include "runtime/report/Svg.h"
#include "runtime/report/Writers.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json, Markdown, Html, Svg };

struct ReportOptions {
  cl::SubCommand verb{"report", "what a step costs and why"};
  PlanOptions plan{verb};
  TextOption format{verb, "format",
                    "text, json, markdown, html (one page with everything) or "
                    "svg (where 100 % goes)",
                    "FORM"};
  OutputOption output{verb, "write to FILE; .html, .svg, .json and .md say the "
                            "form"};
  TextOption peak{verb, "peak", "print MFU against another peak, e.g. 2PFLOP/s",
                  "RATE"};
  ColorOption color{verb};
};

constexpr std::array<Choice<Format>, 5> kFormats = {
    {{"text", Format::Text},
     {"json", Format::Json},
     {"markdown", Format::Markdown},
     {"html", Format::Html},
     {"svg", Format::Svg}}};

/// What the words of the options mean.
struct Written {
  Format format;
  report::Color color;
};

/// Nothing after a message.
std::optional<Written> formOf(const ReportOptions &options) {
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  const auto color =
      format ? colorOf(options.color, options.output) : std::nullopt;
  if (!color)
    return std::nullopt;
  return Written{*format, *color};
}

std::string page(const report::Report &whole, const driver::Session &session) {
  report::Picture picture = session.picture();
  // What one percent more is worth takes a few dozen steps more, each as long
  // as this one.
  constexpr std::size_t kMostPasses = 10'000;
  std::optional<report::Explanation> explanation;
  if (picture.passCount() <= kMostPasses)
    explanation = session.explain();
  report::limit(picture, {});
  return report::toHtml(
      {whole, picture, session.assumptions(), std::move(explanation)});
}

/// Empty where a form has nothing to say without a report.
std::string write(const Written &form, const driver::Session &session) {
  const report::Report *made = session.report();
  if (made == nullptr)
    return form.format == Format::Json
               ? report::toJson(driver::statusOf(session.outcome()),
                                rowsOf(session))
               : "";
  report::Report whole = *made;
  whole.diagnostics = rowsOf(session);
  switch (form.format) {
  case Format::Text:
    return report::toText(*made, {form.color});
  case Format::Json:
    return report::toJson(whole);
  case Format::Markdown:
    return report::toMarkdown(*made);
  case Format::Html:
    return page(whole, session);
  case Format::Svg:
    return report::waterfallSvg(*made);
  }
  return "";
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
