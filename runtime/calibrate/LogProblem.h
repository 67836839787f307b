// What is wrong with a measured log, and where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace planc::calibrate {

enum class LogProblemKind : std::uint8_t {
#define PLANC_LOG_PROBLEM(NAME, CODE, HELP) NAME,
#include "runtime/calibrate/LogProblems.def"
};

std::string_view codeOf(LogProblemKind kind); ///< `log-no-rows`
std::string_view helpOf(LogProblemKind kind); ///< the way out

struct LogProblem {
  LogProblemKind kind = LogProblemKind::NoRows;
  std::string log;       ///< as the user named it
  std::int64_t line = 0; ///< from 1; 0: the whole log
  std::string text;
};

enum class ProblemIs : std::uint8_t { Error, Warning };

/// `FILE:LINE: error[code]: text` and a line with the way out.
std::string toText(const LogProblem &problem, ProblemIs severity);

} // namespace planc::calibrate
