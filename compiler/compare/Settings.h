// What a plan says once its defaults, imports and variants are resolved: one
// setting a line, by a key that stays the same where the text is written
// otherwise. Names, places and comments are no settings.
#pragma once

#include "compiler/sema/Module.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace planc::compare {

struct Setting {
  /// What a hybrid of two plans does with it.
  enum class Role : std::uint8_t {
    Clause,  ///< of the plan: written again as a clause
    Model,   ///< a part of the model, which is taken whole
    Machine, ///< a field of the cluster: copied (ClusterFields.h)
    Count,   ///< accelerators taken
    Follows, ///< from others; shown, and never applied by itself
    Expected ///< an `expect`: no number depends on it
  };
  std::string key;   ///< `pipeline.virtual`
  std::string value; ///< exact: equal settings have equal values
  /// What the clause says; empty: nothing, and the value follows.
  std::string text;
  OriginId origin; ///< the place that said it; none: by default
  Role role = Role::Clause;
};

/// In the order of the manual's table of clauses; keys are unique.
std::vector<Setting> settingsOf(const sema::Module &module);

// Its parts, which append.
void addModel(const sema::Module &module, std::vector<Setting> &out);
void addPlan(const sema::Module &module, std::vector<Setting> &out);

/// `{ … }` of a plan with these settings: those of Role::Clause, and no others.
std::string clausesOf(std::span<const Setting> settings);

/// A file with one plan of these clauses. It names a model and a cluster that
/// nothing is computed from (sema::elaborateOn).
std::string fileOf(std::span<const Setting> settings);

/// The same model but for names and places, and for what the plan says of it.
bool sameModel(const ops::Model &a, const ops::Model &b);

} // namespace planc::compare
