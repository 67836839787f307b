// The nearest plans that a target would take: one number of the plan changed at
// a time, tried on every rule.
#pragma once

#include "compiler/sema/TargetRules.h"

namespace planc::sema {

class TargetTrials {
public:
  explicit TargetTrials(const TargetRules &rules);

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
  /// do; a mesh without `rest` takes as many accelerators as its axes then
  /// make. Tries a few thousand values at most, fewer where the rules are long
  /// texts.
  std::optional<std::string> adviceOn(const Knob &knob);

private:
  /// What goes wrong in a plan that is only tried is nobody's mistake.
  class Silence final : public diag::Consumer {
    void handle(const diag::Diagnostic &) override {}
    void handleSuppressed(std::size_t) override {}
  };

  std::vector<std::int64_t> valuesNear(const Knob &knob);
  bool works(const Knob &knob, std::int64_t value);
  bool set(const Knob &knob, std::int64_t value, Plan &plan) const;
  bool setMicroBatches(Plan &plan) const;
  /// Does planc's own schedule run with the plan's chunks and micro-batches?
  bool isScheduled(const Plan &plan);
  bool divides(const Plan &plan) const;
  bool holdsAll(const Plan &plan);
  bool mayTry() const;

  const TargetRules &rules_;
  Silence silence_;
  diag::Emitter emitter_;
  source::OriginTable origins_;
  Elaboration quiet_;
  std::int64_t mostTries_ = 0; ///< of all knobs together
};

} // namespace planc::sema
