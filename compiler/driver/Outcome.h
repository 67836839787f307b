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
/// What errors of a kind amount to.
Outcome outcomeOf(FailureKind kind);

} // namespace planc::driver
