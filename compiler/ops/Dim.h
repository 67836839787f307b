// Named dimensions of a model's tensors.
#pragma once

#include "runtime/base/Table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace planc::ops {

using DimId = Id<struct DimTag>;

/// Two dimensions of one name and scope are one dimension. `scope` is where an
/// unnamed size (a literal or an expression) became a dimension: the call or
/// repeat it was passed to, as `decoder.moe`; empty for a name passed on.
struct Dim {
  std::string name;
  std::string scope;
  std::int64_t size = 0; ///< of the whole model, before any cut
  OriginId origin{};
  /// Valid: this dimension counts the same things as another (the choices of a
  /// router and its experts). No axis lists it; where a value is cut along it,
  /// it is cut as the other is.
  DimId splitAs{};
};
using DimTable = Table<DimId, Dim>;

using Dims = std::vector<DimId>;

/// `ffn`, or `moe.ffn` where a scope sets it apart.
std::string fullName(const Dim &dim);

} // namespace planc::ops
