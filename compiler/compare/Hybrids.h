// Plans between two plans: some settings of one, the others of the other.
#pragma once

#include "compiler/compare/Attribution.h"
#include "compiler/compare/Changes.h"
#include "compiler/driver/Library.h"

namespace planc::compare {

/// Rank-time by cause in picoseconds of one accelerator: adds up to the step
/// time exactly (largest remainder, in the order of causes).
Parts partsOf(const report::Report &report);

class Hybrids {
public:
  /// All outlive this. Places of the two sides have numbers of their own
  /// (driver::Options::firstOrigin).
  Hybrids(const Side &before, const Side &after,
          const std::vector<Change> &changes);

  std::size_t units() const { return units_.size(); }
  const std::vector<std::string> &names() const { return units_; }

  /// The old plan with these units of the new one, as the text of a file.
  std::string textOf(Units applied) const;
  /// What it runs on.
  sema::Ground groundOf(Units applied) const;

  /// Compiled, each checked as any plan is; nothing for one that is refused or
  /// cannot be run. Several at a time.
  std::vector<std::optional<Parts>> play(const std::vector<Units> &sets) const;

private:
  bool isApplied(std::string_view unit, Units applied) const;
  /// Empty for what did not change.
  std::string_view unitOf(std::string_view key) const;
  std::optional<Parts> compile(Units applied) const;

  const Side &before_, &after_;
  const std::vector<Change> &changes_;
  std::vector<std::string> units_;
  sema::Ground oldGround_, newGround_;
};

} // namespace planc::compare
