// A measured run as the text of a plan's file.
#pragma once

#include "compiler/validate/MeasuredRow.h"
#include "compiler/validate/Words.h"

#include <string>
#include <variant>
#include <vector>

namespace planc::validate {

/// Text that planc reads, its plan's name, and what had to be assumed.
struct RowPlan {
  std::string text;
  std::string plan;
  std::vector<std::string> notes;
  std::string file; ///< where the text is on disk; empty: nowhere
};

/// Why a row cannot be written as a plan.
struct NotExpressed {
  std::string reason;
};

/// Reads nothing but the row and the standard library; the same row gives the
/// same text.
std::variant<RowPlan, NotExpressed> planOf(const MeasuredRow &row);

// What planOf is made of.

struct RowModel {
  std::string imports, declaration; ///< empty where a standard one is meant
  std::string name;
  std::string family;
  std::vector<std::string> notes;
  bool hasKeyHeads = false, hasExperts = false;
};
std::variant<RowModel, NotExpressed> modelOf(const MeasuredRow &row);

struct RowCluster {
  std::string imports, declaration;
  std::string name;
  std::vector<std::string> notes;
};
std::variant<RowCluster, NotExpressed> clusterOf(const MeasuredRow &row);

/// What the framework of a row does where the row does not say.
struct FrameworkHabits {
  std::string_view overlap; ///< empty: planc's own
  std::string_view drop;    ///< empty: the model's own
  std::string_view kernels; ///< keys of that clause
  bool sequenceParallel = false;
  /// Of gradients that are reduced at once; 0: not of one size.
  std::int64_t bucket = 0;
  bool evenLayers = false;     ///< in stages, unless the row says otherwise
  bool padsVocabulary = false; ///< to a multiple of 128 a rank
};
FrameworkHabits habitsOf(const MeasuredRow &row);

} // namespace planc::validate
