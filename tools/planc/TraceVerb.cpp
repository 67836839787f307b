// planc trace FILE -o t.json: the timeline, for Perfetto.
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

struct TraceVerbOptions {
  cl::SubCommand verb{"trace", "the timeline, for ui.perfetto.dev"};
  PlanOptions plan{verb};
  OutputOption output{verb};
};

} // namespace

int runTrace(Arguments arguments) {
  static TraceVerbOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto session = options.plan.session();
  if (!session)
    return kUsage;
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.run();
  printDiagnostics(compile);
  if (compile.report() != nullptr &&
      !writeResult(options.output, compile.trace(), compile))
    return kUsage;
  return driver::exitCode(outcome);
}

} // namespace planc::tool
