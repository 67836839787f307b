#include "compiler/ops/Op.h"

#include "runtime/base/Checked.h"

#include <limits>

namespace planc::ops {

std::string_view toString(OpKind kind) {
  switch (kind) {
#define PLANC_OP(NAME, TEXT, CLASS)                                            \
  case OpKind::NAME:                                                           \
    return TEXT;
#include "compiler/ops/OpKinds.def"
  }
  return "";
}

OpClass classOf(OpKind kind) {
  switch (kind) {
#define PLANC_OP(NAME, TEXT, CLASS)                                            \
  case OpKind::NAME:                                                           \
    return OpClass::CLASS;
#include "compiler/ops/OpKinds.def"
  }
  return OpClass::View;
}

std::string fullName(const Dim &dim) {
  return dim.scope.empty() ? dim.name : dim.scope + "." + dim.name;
}

std::int64_t parameterCount(const Model &model) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  for (const Weight &weight : model.weights) {
    std::optional<std::int64_t> elements = weight.instances;
    for (DimId dim : weight.dims)
      if (elements)
        elements = checkedMul(*elements, model.dims[dim].size);
    std::optional<std::int64_t> sum =
        elements ? checkedAdd(total, *elements) : std::nullopt;
    total = sum.value_or(kMost);
  }
  return total;
}

} // namespace planc::ops
