// Verifiers between stages: a broken rule is planc's own bug.
#pragma once

#include "compiler/driver/Session.h"

namespace planc::driver {

/// Asks verifiers and keeps what they say; with Verify::Off it asks none.
class Checks {
public:
  explicit Checks(Options::Verify verify) : verify_(verify) {}

  /// `verifier` gives a line for every broken rule.
  template <class Verifier>
  void run(std::string_view stage, Verifier verifier) {
    if (verify_ == Options::Verify::Off || failed())
      return;
    for (const std::string &line : verifier()) {
      if (text_.empty())
        text_ = std::string(stage) + ": ";
      else
        text_ += "; ";
      text_ += line;
    }
  }

  bool failed() const { return !text_.empty(); }
  std::optional<Failure> failure() const {
    if (!failed())
      return std::nullopt;
    return Failure{FailureKind::Internal, text_, OriginId()};
  }

private:
  Options::Verify verify_;
  std::string text_;
};

} // namespace planc::driver
