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
  cl::opt<std::string> step{"step",
                            cl::desc("the measured step time, e.g. "
                                     "5.18s or 820ms"),
                            cl::value_desc("TIME"), cl::sub(verb),
                            cl::cat(tool::options())};
  cl::opt<std::string> peak{
      "peak", cl::desc("against another peak, e.g. 2PFLOP/s"),
      cl::value_desc("RATE"), cl::sub(verb), cl::cat(tool::options())};
  cl::opt<std::string> format{"format", cl::desc("text, json or markdown"),
                              cl::value_desc("FORM"), cl::sub(verb),
                              cl::cat(tool::options())};
  cl::opt<std::string> output{"o", cl::desc("write to FILE"),
                              cl::value_desc("FILE"), cl::sub(verb),
                              cl::cat(tool::options())};
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
  const auto format = choose(options.format, kFormats);
  auto session = format ? options.plan.session() : std::nullopt;
  if (!session)
    return kUsage;
  const std::optional<double> step = timeOf(options.step);
  if (!step)
    return usageError("--step wants a time, such as 5.18s or 820ms, found '" +
                      options.step + "'");
  if (!options.peak.empty()) {
    session->peakFlopsPerSecond = rateOf(options.peak);
    if (!session->peakFlopsPerSecond)
      return usageError("--peak wants GFLOP/s, TFLOP/s or PFLOP/s, such as "
                        "989.4TFLOP/s, found '" +
                        options.peak + "'");
  }
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
