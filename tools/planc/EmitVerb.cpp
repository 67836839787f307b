// planc emit FILE --stage=STAGE: what a stage made, as text.
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

std::string allStages() {
  std::string out;
  for (std::string_view name : driver::stageNames())
    out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

struct EmitOptions {
  std::string stages = "one of " + allStages();
  cl::SubCommand verb{"emit", "what a stage made"};
  PlanOptions plan{verb};
  TextOption stage{verb, "stage", stages.c_str(), "STAGE"};
  OutputOption output{verb};
};

} // namespace

int runEmit(Arguments arguments) {
  static EmitOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto stage = driver::stageFromName(options.stage.getValue());
  if (!stage)
    return usageError(options.stage.empty()
                          ? "emit wants --stage=STAGE, " + options.stages
                          : "no stage '" + options.stage + "'; it is " +
                                options.stages);
  const auto session = options.plan.session();
  if (!session)
    return kUsage;
  driver::Session compile(*session);
  const std::optional<std::string> text = compile.emit(*stage);
  printDiagnostics(compile);
  if (text && !writeResult(options.output, *text, compile))
    return kUsage;
  return driver::exitCode(compile.outcome());
}

} // namespace planc::tool
