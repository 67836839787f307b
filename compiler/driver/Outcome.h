// How a compile ended, and what that is called and exits with.
#pragma once

#include "runtime/base/Status.h"

#include <string_view>

namespace planc::driver {

/// The exit code of the tool follows from it.
enum class Outcome {
  Ok,
  Environment,       ///< 1
  Illegal,           ///< 2
  ExpectationFailed, ///< 3
  Infeasible,        ///< 4: a report exists all the same
  Unsupported,       ///< 5
  Internal,          ///< 70
};
int exitCode(Outcome outcome);
/// `ok`, `illegal`, …: the word for it in JSON.
std::string_view statusOf(Outcome outcome);
/// The worse of two: what keeps planc from saying more comes first (internal
/// errors, environment, illegal, unsupported, infeasible, an expectation).
Outcome worse(Outcome one, Outcome other);
/// The same of their exit codes.
int worseExit(int one, int other);
/// Neither a report, nor one that says no: something is wrong or missing.
bool isMistake(Outcome outcome);
/// What errors of a kind amount to.
Outcome outcomeOf(FailureKind kind);

} // namespace planc::driver
