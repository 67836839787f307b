// planc trace FILE -o t.json: the timeline, for Perfetto; -o t.svg: drawn.
#include "runtime/report/Svg.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Chrome, Svg };

struct TraceVerbOptions {
  cl::SubCommand verb{"trace", "the timeline, for ui.perfetto.dev"};
  PlanOptions plan{verb};
  TextOption format{verb, "format",
                    "chrome (JSON that Perfetto opens) or svg (a picture)",
                    "FORM"};
  OutputOption output{verb, "write to FILE; .json and .svg say the form"};
};

constexpr std::array<Choice<Format>, 2> kFormats = {
    {{"chrome", Format::Chrome, "json"}, {"svg", Format::Svg}}};

} // namespace

int runTrace(Arguments arguments) {
  static TraceVerbOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  if (!format)
    return kUsage;
  const auto session = options.plan.session();
  if (!session)
    return kUsage;
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.run();
  printDiagnostics(compile);
  const report::Report *made = compile.report();
  if (made == nullptr)
    return driver::exitCode(outcome);
  const std::string text = *format == Format::Svg
                               ? report::timelineSvg(compile.picture(), *made)
                               : compile.trace();
  if (!writeResult(options.output, text, compile))
    return kUsage;
  return driver::exitCode(outcome);
}

} // namespace planc::tool
