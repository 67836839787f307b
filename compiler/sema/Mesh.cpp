#include "compiler/sema/Plan.h"

namespace planc::sema {

std::int64_t Mesh::devices() const {
  std::int64_t product = 1;
  for (const Axis &axis : axes)
    product *= axis.size;
  return product;
}

std::int64_t Mesh::stride(AxisId axis) const {
  std::int64_t product = 1;
  for (std::size_t inner = axis.index() + 1; inner < axes.size(); ++inner)
    product *= axes[AxisId(inner)].size;
  return product;
}

} // namespace planc::sema
