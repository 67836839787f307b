// planc calibrate step FILE --log LOG: measured steps beside the prediction.
#include "runtime/calibrate/StepComparison.h"
#include "tools/planc/CalibrateVerb.h"
#include "tools/planc/CommandLine.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <llvm/Support/MemoryBuffer.h>

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json };
constexpr std::array<Choice<Format>, 2> kFormats = {
    {{"text", Format::Text}, {"json", Format::Json}}};

struct StepOptions {
  cl::SubCommand verb{"calibrate step",
                      "a training run's steps beside a plan's prediction"};
  PlanOptions plan{verb};
  TextOption log{verb, "log", "what Megatron-LM, torchtitan or NeMo printed",
                 "LOG"};
  TextOption format{verb, "format", "text or json", "FORM"};
  OutputOption output{verb, "write to FILE; .json says the form"};
};

} // namespace

std::string readFile(const std::string &path, std::string &text) {
  if (const std::string why = whyUnreadable(path); !why.empty())
    return why;
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return buffer.getError().message();
  text.assign((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  return "";
}

int runCalibrateStep(Arguments arguments) {
  static StepOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  auto session = format ? options.plan.session() : std::nullopt;
  if (!session)
    return kUsage;
  if (options.log.empty())
    return usageError("no log given: --log LOG");
  std::string text;
  if (const std::string why = readFile(options.log, text); !why.empty())
    return usageError("cannot read '" + options.log + "': " + why);
  const calibrate::StepLog log = calibrate::readStepLog({options.log, text});
  if (log.error) {
    writeError(calibrate::toText(*log.error, calibrate::ProblemIs::Error));
    return driver::exitCode(driver::Outcome::Illegal);
  }
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.run();
  printDiagnostics(compile);
  if (compile.report() == nullptr)
    return driver::exitCode(outcome);
  const auto comparison = calibrate::compareSteps(log, *compile.report());
  const std::string written = *format == Format::Json
                                  ? calibrate::toJson(comparison)
                                  : calibrate::toText(comparison);
  // The run was measured: what planc expects of it is no failure here.
  std::vector<std::string> read = compile.files();
  read.push_back(options.log);
  return writeResult(options.output, written, read) ? 0 : kUsage;
}

} // namespace planc::tool
