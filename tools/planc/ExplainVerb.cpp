// planc explain CODE: the page of a diagnostic.
#include "compiler/diag/Emitter.h"
#include "tools/planc/PlanFile.h"
#include "tools/planc/Terminal.h"

namespace planc::tool {

namespace cl = llvm::cl;

namespace {

struct ExplainOptions {
  cl::SubCommand verb{"explain", "the page of a diagnostic"};
  cl::opt<std::string> code{cl::Positional, cl::desc("CODE"), cl::sub(verb),
                            cl::cat(tool::options())};
};

bool isFile(std::string_view argument) {
  constexpr std::string_view kSuffix = ".plan";
  return argument.find('/') != std::string_view::npos ||
         (argument.size() > kSuffix.size() &&
          argument.substr(argument.size() - kSuffix.size()) == kSuffix);
}

std::vector<std::string_view> allCodes() {
  std::vector<std::string_view> codes;
  for (std::size_t i = 0; i < diag::kindCount(); ++i)
    codes.push_back(diag::infoOf(static_cast<diag::Kind>(i)).name);
  return codes;
}

} // namespace

int runExplain(Arguments arguments) {
  static ExplainOptions options;
  if (const auto code = parseArguments(arguments, options.verb))
    return *code;
  const std::string &code = options.code;
  if (code.empty())
    return usageError("explain wants the code of a diagnostic, such as "
                      "not-divisible");
  if (isFile(code)) {
    usageError("explaining a plan is not supported yet; `planc report " + code +
               "` says where its time goes");
    return driver::exitCode(driver::Outcome::Unsupported);
  }
  if (const std::optional<std::string> page = diag::explainKind(code))
    return writeOutput("", *page) ? 0 : kUsage;
  const std::vector<std::string_view> codes = allCodes();
  const auto near = diag::nearestName(code, codes);
  return usageError("no diagnostic '" + code + "'" +
                    (near ? "; did you mean " + std::string(*near) + "?" : ""));
}

} // namespace planc::tool
