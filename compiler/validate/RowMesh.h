// The axes of a row, and how its state is cut over them.
#pragma once

#include "compiler/validate/RowPlan.h"

#include <optional>
#include <string>
#include <variant>

namespace planc::validate {

/// A number of the row that is 1 where it is not given.
std::int64_t ways(const MeasuredRow &row, Column column);

/// How the axes of the row make its accelerators.
struct Mesh {
  std::int64_t pp = 1, replica = 1, dp = 1, ep = 1, cp = 1, tp = 1;
  std::int64_t ranks() const { return dp * replica * ep; } ///< of the batch
};

/// The row has a number of accelerators.
std::variant<Mesh, NotExpressed> meshOf(const MeasuredRow &row);

/// How state is cut: `1`, `2`, `3`, `fsdp`, `hybrid 16`; 4 is `fsdp no_sync`:
/// gradients are not.
struct Zero {
  std::int64_t stage = 0, within = 0;
};

/// Nothing for words that say nothing of it.
std::optional<Zero> zeroOf(const std::string &text);

} // namespace planc::validate
