// planc mfu FILE --step 5.18s: the MFU of a measured run, by every convention.
#include "runtime/report/MeasuredRun.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Quantities.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json, Markdown };

struct MfuOptions {
  cl::SubCommand verb{"mfu", "the MFU of a measured run, by every convention"};
  PlanOptions plan{verb};
  TextOption step{verb, "step", "the measured step time, e.g. 5.18s or 820ms",
                  "TIME"};
  TextOption peak{verb, "peak", "against another peak, e.g. 2PFLOP/s", "RATE"};
  TextOption format{verb, "format", "text, json or markdown", "FORM"};
  OutputOption output{verb, "write to FILE; .json and .md say the form"};
};

constexpr std::array<Choice<Format>, 3> kFormats = {
    {{"text", Format::Text},
     {"json", Format::Json},
     {"markdown", Format::Markdown}}};

std::string write(Format format, const report::MeasuredRun &run) {
  switch (format) {
  case Format::Text:
    return report::toText(run);
  case Format::Json:
    return report::toJson(run);
  case Format::Markdown:
    return report::toMarkdown(run);
  }
  return "";
}

} // namespace

int runMfu(Arguments arguments) {
  static MfuOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  auto session = format ? options.plan.session() : std::nullopt;
  if (!session)
    return kUsage;
  const std::optional<double> step = timeOf(options.step);
  if (!step)
    return usageError("--step wants a time, such as 5.18s or 820ms, found '" +
                      options.step + "'");
  if (const auto code = setPeak(*session, options.peak))
    return *code;
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.run();
  printDiagnostics(compile);
  if (compile.report() == nullptr)
    return driver::exitCode(outcome);
  const auto run =
      report::measuredRun(*compile.report(), durationFromSeconds(*step));
  if (!writeResult(options.output, write(*format, run), compile))
    return kUsage;
  // The run was measured: whether planc thinks that it fits or meets what is
  // expected of it is said above, and no failure.
  return 0;
}

} // namespace planc::tool
