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
    std::vector<std::string> lines = verifier();
    if (lines.empty())
      return;
    text_ = std::string(stage) + ": " + lines.front();
    if (lines.size() > 1)
      text_ += "; and " + std::to_string(lines.size() - 1) + " more";
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
