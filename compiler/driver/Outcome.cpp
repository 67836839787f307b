#include "compiler/driver/Outcome.h"

#include <array>

namespace planc::driver {

namespace {

constexpr std::array kWorstFirst = {
    Outcome::Internal,    Outcome::Environment, Outcome::Illegal,
    Outcome::Unsupported, Outcome::Infeasible,  Outcome::ExpectationFailed};

} // namespace

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

Outcome worse(Outcome one, Outcome other) {
  for (const Outcome outcome : kWorstFirst)
    if (one == outcome || other == outcome)
      return outcome;
  return Outcome::Ok;
}

int worseExit(int one, int other) {
  for (const Outcome outcome : kWorstFirst)
    if (const int code = exitCode(outcome); one == code || other == code)
      return code;
  return exitCode(Outcome::Ok);
}

bool isMistake(Outcome outcome) {
  return outcome != Outcome::Ok && outcome != Outcome::Infeasible &&
         outcome != Outcome::ExpectationFailed;
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
