// planc explain FILE: why a step is as long as it is; planc explain CODE: the
// page of a diagnostic.
#include "compiler/diag/Emitter.h"
#include "runtime/report/Explanation.h"
#include "runtime/report/Writers.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

#include <array>

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

enum class Format { Text, Json };

struct ExplainOptions {
  cl::SubCommand verb{"explain",
                      "why a step is as long as it is, and what would make it "
                      "shorter; with the code of a diagnostic, its page"};
  PlanOptions plan{verb, "FILE|CODE"};
  TextOption format{verb, "format", "text or json", "FORM"};
  OutputOption output{verb, "write to FILE; .json says the form"};
};

constexpr std::array<Choice<Format>, 2> kFormats = {
    {{"text", Format::Text}, {"json", Format::Json}}};

/// What has a slash, ends in `.plan`, or is there and no diagnostic's code is a
/// file; all else a code.
bool isFile(const std::string &argument) {
  constexpr std::string_view kSuffix = ".plan";
  return argument.find('/') != std::string::npos ||
         (argument.size() > kSuffix.size() && argument.ends_with(kSuffix)) ||
         (!diag::explainKind(argument) && exists(argument));
}

std::vector<std::string_view> allCodes() {
  std::vector<std::string_view> codes;
  for (std::size_t i = 0; i < diag::kindCount(); ++i)
    codes.push_back(diag::infoOf(static_cast<diag::Kind>(i)).name);
  return codes;
}

int explainPlan(const ExplainOptions &options) {
  const auto format =
      chooseForm(options.format, options.output.getValue(), kFormats);
  const auto session = format ? options.plan.session() : std::nullopt;
  if (!session)
    return kUsage;
  driver::Session compile(*session);
  const driver::Outcome outcome = compile.run();
  printDiagnostics(compile);
  std::string text;
  if (compile.report() != nullptr) {
    report::Explanation made = compile.explain();
    made.changes = compile.planChanges();
    text =
        *format == Format::Json ? report::toJson(made) : report::toText(made);
  } else if (*format == Format::Json) {
    text = report::toJson(driver::statusOf(outcome), rowsOf(compile));
  }
  if (!text.empty() && !writeResult(options.output, text, compile))
    return kUsage;
  return driver::exitCode(outcome);
}

int explainCode(const std::string &code) {
  if (const std::optional<std::string> page = diag::explainKind(code))
    return writeOutput("", *page) ? 0 : kUsage;
  const std::vector<std::string_view> codes = allCodes();
  const auto near = diag::nearestName(code, codes);
  return usageError("no diagnostic '" + code + "'" +
                    (near ? "; did you mean " + std::string(*near) + "?" : ""));
}

} // namespace

int runExplain(Arguments arguments) {
  static ExplainOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const std::string &operand = options.plan.file;
  if (operand.empty())
    return usageError("explain wants a plan's file, or the code of a "
                      "diagnostic, such as not-divisible");
  return isFile(operand) ? explainPlan(options) : explainCode(operand);
}

} // namespace planc::tool
