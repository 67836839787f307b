#include "compiler/ops/Roles.h"

namespace planc::ops {

OperandUse mapAll(const Dims &dims) {
  OperandUse use;
  for (DimId dim : dims)
    use.dims.push_back(mapped(dim));
  return use;
}

OperandUse mapInto(const Dims &dims, const Dims &result) {
  OperandUse use;
  for (DimId dim : dims)
    use.dims.push_back(contains(result, dim) ? mapped(dim) : contracted(dim));
  return use;
}

OperandUse mapRows(const Dims &dims) {
  OperandUse use = mapAll(dims);
  if (!dims.empty())
    use.dims.back() = gathered(dims.back());
  return use;
}

OperandUse gatherAll(const Dims &dims) {
  OperandUse use;
  for (DimId dim : dims)
    use.dims.push_back(gathered(dim));
  return use;
}

OperandUse oneHot(const Dims &dims, DimUse indexed) {
  OperandUse use = mapAll(dims);
  use.dims.push_back(indexed);
  use.oneHot = true;
  return use;
}

} // namespace planc::ops
