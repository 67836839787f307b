#include "runtime/calibrate/LogProblem.h"

#include "runtime/report/NumberText.h"

#include <fmt/format.h>

namespace planc::calibrate {

namespace {
struct Info {
  std::string_view code, help;
};
constexpr Info kInfos[] = {
#define PLANC_LOG_PROBLEM(NAME, CODE, HELP) {CODE, HELP},
#include "runtime/calibrate/LogProblems.def"
};
} // namespace

std::string_view codeOf(LogProblemKind kind) {
  return kInfos[static_cast<std::size_t>(kind)].code;
}
std::string_view helpOf(LogProblemKind kind) {
  return kInfos[static_cast<std::size_t>(kind)].help;
}

std::string toText(const LogProblem &problem, ProblemIs severity) {
  const std::string place =
      report::oneLine(problem.log) +
      (problem.line > 0 ? fmt::format(":{}", problem.line) : std::string());
  return fmt::format("{}: {}[{}]: {}\n   help: {}\n", place,
                     severity == ProblemIs::Error ? "error" : "warning",
                     codeOf(problem.kind),
                     report::shortened(report::oneLine(problem.text), 200),
                     helpOf(problem.kind));
}

} // namespace planc::calibrate
