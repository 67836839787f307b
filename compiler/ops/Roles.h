// Small builders for the rules of operators: what happens to each dimension.
#pragma once

#include "compiler/ops/Op.h"

#include <algorithm>

namespace planc::ops {

inline bool contains(const Dims &dims, DimId dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

inline DimUse mapped(DimId dim) { return {dim, Role::Map, dim}; }
inline DimUse mappedAs(DimId dim, DimId as) { return {dim, Role::Map, as}; }
inline DimUse contracted(DimId dim) { return {dim, Role::Contract, {}}; }
inline DimUse gathered(DimId dim) { return {dim, Role::Gather, {}}; }

/// Summed together with `with`, which another operand has.
inline DimUse contractedWith(DimId dim, DimId with) {
  return {dim, Role::Contract, with};
}
/// Needed whole, and the result's `as` is made of it.
inline DimUse gatheredAs(DimId dim, DimId as) {
  return {dim, Role::Gather, as};
}
/// Under which name a contracted dimension is summed.
inline DimId sumName(const DimUse &use) {
  return use.as.isValid() ? use.as : use.dim;
}

/// Every dimension is the result's.
OperandUse mapAll(const Dims &dims);

/// Dimensions of `result` are mapped, all others contracted.
OperandUse mapInto(const Dims &dims, const Dims &result);

/// The last dimension is needed whole, the others are mapped (a row operator).
OperandUse mapRows(const Dims &dims);

/// Every dimension is needed whole (a norm's gain).
OperandUse gatherAll(const Dims &dims);

/// Indices over `dims` standing for a one-hot tensor with `indexed` last.
OperandUse oneHot(const Dims &dims, DimUse indexed);

} // namespace planc::ops
