#include "compiler/driver/Outcome.h"

namespace planc::driver {

int exitCode(Outcome outcome) {
  switch (outcome) {
  case Outcome::Ok:
    return 0;
  case Outcome::Environment:
    return 1;
  case Outcome::Illegal:
    return 2;
  case Outcome::ExpectationFailed:
    return 3;
  case Outcome::Infeasible:
    return 4;
  case Outcome::Unsupported:
    return 5;
  case Outcome::Internal:
    return 70;
  }
  return 70;
}

std::string_view statusOf(Outcome outcome) {
  switch (outcome) {
  case Outcome::Ok:
    return "ok";
  case Outcome::Environment:
    return "environment";
  case Outcome::Illegal:
    return "illegal";
  case Outcome::ExpectationFailed:
    return "expectation_failed";
  case Outcome::Infeasible:
    return "infeasible";
  case Outcome::Unsupported:
    return "unsupported";
  case Outcome::Internal:
    return "internal_error";
  }
  return "internal_error";
}

Outcome outcomeOf(FailureKind kind) {
  switch (kind) {
  case FailureKind::Illegal:
    return Outcome::Illegal;
  case FailureKind::Infeasible:
    return Outcome::Infeasible;
  case FailureKind::Unsupported:
    return Outcome::Unsupported;
  case FailureKind::Internal:
    return Outcome::Internal;
  }
  return Outcome::Internal;
}

} // namespace planc::driver
