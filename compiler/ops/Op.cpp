#include "compiler/ops/Op.h"

#include "runtime/base/Checked.h"

#include <limits>
#include <numeric>

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

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMillion = 1'000'000;

Share reduced(std::int64_t of, std::int64_t in) {
  std::int64_t common = std::gcd(of, in);
  return common > 0 ? Share{of / common, in / common} : Share{};
}

/// Weights of experts stand before a bar: `gate[experts | hidden, ffn]`.
const Route *routeOf(const Model &model, const Weight &weight) {
  for (const Body &body : model.bodies)
    for (const Op &op : body.forward)
      for (std::int64_t i = 0; i < weight.batchDims; ++i)
        if (op.attributes.route.isRouted() &&
            op.attributes.route.experts ==
                weight.dims[static_cast<std::size_t>(i)])
          return &op.attributes.route;
  return nullptr;
}

enum class Counted { All, Active };

std::int64_t countParameters(const Model &model, Counted counted) {
  std::int64_t total = 0;
  for (const Weight &weight : model.weights) {
    std::optional<std::int64_t> elements = weight.instances;
    for (DimId dim : weight.dims)
      if (elements)
        elements = checkedMul(*elements, model.dims[dim].size);
    if (const Route *route =
            counted == Counted::Active ? routeOf(model, weight) : nullptr;
        route && elements)
      elements = askedShare(*route).take(*elements);
    std::optional<std::int64_t> sum =
        elements ? checkedAdd(total, *elements) : std::nullopt;
    total = sum.value_or(kMost);
  }
  return total;
}

} // namespace

std::int64_t Share::take(Int128 elements) const {
  Int128 taken = isWhole() || in <= 0
                     ? elements
                     : elements / in * of + (elements % in * of + in - 1) / in;
  return taken > kMost ? kMost : static_cast<std::int64_t>(taken);
}

Share askedShare(const Route &route) {
  return route.isRouted() ? reduced(route.topK, route.count) : Share{};
}

Share heldShare(const Route &route, const Dims &dims,
                const std::vector<std::int64_t> &sizes) {
  if (!route.isRouted())
    return {};
  bool isCut = false;
  for (std::size_t d = 0; d < dims.size() && d < sizes.size(); ++d)
    isCut = isCut || (dims[d] == route.experts && sizes[d] < route.count);
  std::int64_t over = route.capacity > 0 ? route.capacity
                      : isCut            ? route.imbalance
                                         : kMillion;
  // No expert has more rows than there are tokens.
  Share share = reduced(route.topK * over, route.count * kMillion);
  return share.of > share.in ? Share{} : share;
}

std::int64_t parameterCount(const Model &model) {
  return countParameters(model, Counted::All);
}

std::int64_t activeParameterCount(const Model &model) {
  return countParameters(model, Counted::Active);
}

} // namespace planc::ops
