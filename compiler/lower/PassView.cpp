#include "compiler/lower/PassView.h"

#include "compiler/ops/Work.h"

namespace planc::lower {

using shard::ShardedValueId;
using shard::Step;

std::vector<std::uint32_t> PassView::readersOf(std::uint32_t of) const {
  std::vector<std::uint32_t> readers;
  for (std::uint32_t i = of + 1; i < all().size(); ++i)
    if (reads(i, of))
      readers.push_back(i);
  return readers;
}

std::optional<ops::DimId> PassView::keeps(std::uint32_t product,
                                          ShardedValueId operand,
                                          ops::DimId dim) const {
  const std::vector<ShardedValueId> &operands = step(product)->operands;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (operands[o] != operand)
      continue;
    for (const ops::DimUse &use : ruleOf(product).operands[o].dims)
      if (use.dim == dim && use.role == ops::Role::Map)
        return use.as;
    return std::nullopt;
  }
  return std::nullopt;
}

std::int64_t PassView::sizeOf(std::uint32_t product, ops::DimId dim) const {
  const ops::Dims &dims = ruleOf(product).dims;
  const auto at = std::find(dims.begin(), dims.end(), dim);
  if (at == dims.end() || std::count(dims.begin(), dims.end(), dim) != 1)
    return 0;
  return sharded_.values[step(product)->results[0]]
      .sizes[static_cast<std::size_t>(at - dims.begin())];
}

std::optional<ops::DimId> PassView::rowsOf(std::uint32_t product) const {
  std::optional<ops::DimId> best;
  for (const ops::DimUse &use : ruleOf(product).operands[0].dims)
    if (use.role == ops::Role::Map &&
        (!best || sizeOf(product, use.as) > sizeOf(product, *best)))
      best = use.as;
  return best;
}

program::Work PassView::productPart(std::uint32_t product, ops::DimId dim,
                                    std::int64_t parts) const {
  const Step &whole = *step(product);
  const ops::ResultRule &rule = ruleOf(product);
  ops::WorkRequest request;
  request.op = &opOf(body_, whole);
  request.model = &graph_.graph->model;
  for (std::size_t o = 0; o < whole.operands.size(); ++o) {
    std::vector<std::int64_t> sizes = sharded_.values[whole.operands[o]].sizes;
    const std::vector<ops::DimUse> &uses = rule.operands[o].dims;
    for (std::size_t d = 0; d < uses.size() && d < sizes.size(); ++d)
      if (uses[d].role == ops::Role::Map && uses[d].as == dim)
        sizes[d] /= parts;
    request.addOperand(sourceOf(whole.operands[o]), std::move(sizes));
  }
  std::vector<std::int64_t> sizes = sharded_.values[whole.results[0]].sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (rule.dims[d] == dim)
      sizes[d] /= parts;
  request.addResult(sourceOf(whole.results[0]), std::move(sizes));
  return ops::workOf(request);
}

} // namespace planc::lower
