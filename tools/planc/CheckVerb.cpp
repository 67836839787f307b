// planc check FILE: reads and checks, compiles nothing.
#include "runtime/report/Writers.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json };

struct CheckOptions {
  cl::SubCommand verb{"check", "read and check, compile nothing"};
  PlanOptions plan{verb};
  TextOption format{verb, "format", "text or json", "FORM"};
};

constexpr std::array<Choice<Format>, 2> kFormats = {
    {{"text", Format::Text}, {"json", Format::Json}}};

} // namespace

int runCheck(Arguments arguments) {
  static CheckOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format = choose(options.format, kFormats);
  if (!format)
    return kUsage;
  const auto session = options.plan.session();
  if (!session)
    return kUsage;
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.check();
  printDiagnostics(compile);
  if (*format == Format::Json &&
      !writeOutput("", report::toJson(statusOf(outcome), rowsOf(compile))))
    return kUsage;
  return driver::exitCode(outcome);
}

} // namespace planc::tool
