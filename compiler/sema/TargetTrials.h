// The nearest plans that a target would take: one number of the plan changed at
// a time, tried on every rule.
#pragma once

#include "compiler/sema/TargetRules.h"

namespace planc::sema {

class TargetTrials {
public:
  explicit TargetTrials(const TargetRules &rules) : rules_(rules) {}

  /// A number of a plan that its author may change.
  struct Knob {
    enum class Kind : std::uint8_t {
      Axis,
      Virtual,
      Group,
      Micro,
      Sequences,
      Length
    } kind = Kind::Axis;
    AxisId axis;
    std::int64_t now = 0;
    source::SourceSpan place;
  };
  /// Those that what a rule asked for depends on.
  std::vector<Knob> knobsOf(const std::vector<TargetHost::Read> &reads) const;

  /// `tp may be 1, 2 or 4`; nothing where no value near helps. A value is
  /// offered if with it all rules hold, the batch divides, and all dimensions
  /// do. Tries a few thousand values at most.
  std::optional<std::string> adviceOn(const Knob &knob) const;

private:
  std::vector<std::int64_t> valuesNear(const Knob &knob) const;
  bool works(const Knob &knob, std::int64_t value) const;
  bool set(const Knob &knob, std::int64_t value, Plan &plan) const;
  bool setMicroBatches(Plan &plan) const;
  bool divides(const Plan &plan) const;
  bool holdsAll(const Plan &plan) const;

  const TargetRules &rules_;
};

} // namespace planc::sema
