// One row: written as a plan, compiled, compared.
#pragma once

#include "compiler/validate/Validate.h"

namespace planc::driver {
class Library;
}

namespace planc::validate {

/// What the compiler makes of a plan.
struct Compiled {
  std::optional<report::Report> report;
  std::string reason; ///< where there is none
  /// What was read for a plan written by hand: it and what it imports.
  std::vector<std::string> files;
};

/// Fills in the plan's text, or the reason why there is none.
void writePlan(RowResult &result, const Table &table);

/// The plan that a row stands for, without its comments: rows with equal keys
/// are compiled once.
std::string keyOf(const RowResult &result);

/// Lets no exception out.
Compiled compilePlan(const RowResult &result, const driver::Library &library);

/// Fills in the rest of a row that has a plan.
void compare(RowResult &result, const Compiled &compiled);

} // namespace planc::validate
