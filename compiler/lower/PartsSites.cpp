// Where a collective and the products around it may be cut.
#include "compiler/lower/PassView.h"

#include <algorithm>
#include <map>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
using program::Stream;
using shard::Step;

namespace {

using Way = PartsSite::Way;

/// Products that keep the gathered dimension, and copies of what is gathered
/// that they read: by instruction, the dimension of the result.
std::map<std::uint32_t, ops::DimId> readersOfParts(const PassView &pass,
                                                   std::uint32_t collective,
                                                   std::int64_t parts) {
  const Step &gather = *pass.step(collective);
  std::map<std::uint32_t, ops::DimId> found;
  const auto addProducts = [&](std::uint32_t of) {
    bool any = false;
    for (std::uint32_t reader : pass.readersOf(of)) {
      if (!pass.isProduct(reader))
        continue;
      const auto dim = pass.keeps(reader, gather.results[0], gather.from);
      if (!dim || !pass.canCut(reader, *dim, parts))
        continue;
      found[reader] = *dim;
      any = true;
    }
    return any;
  };
  addProducts(collective);
  for (std::uint32_t reader : pass.readersOf(collective))
    if (pass.isCopy(reader) && addProducts(reader))
      found[reader] = gather.from;
  return found;
}

std::vector<PartsSite> gathered(const PassView &pass,
                                std::uint32_t collective) {
  PartsSite site{Way::Gathered, collective, {}, {}, 1};
  site.parts = pass.all()[collective].message.members();
  const auto found = readersOfParts(pass, collective, site.parts);
  bool any = false;
  for (const auto &[reader, dim] : found) {
    // They run from where the first stood: what they read is there.
    const std::uint32_t first = found.begin()->first;
    const std::vector<std::uint32_t> &deps = pass.all()[reader].deps;
    if (!std::all_of(deps.begin(), deps.end(), [&](std::uint32_t dep) {
          return dep < first ||
                 std::find(site.kernels.begin(), site.kernels.end(), dep) !=
                     site.kernels.end();
        }))
      continue;
    site.kernels.push_back(reader);
    site.dims.push_back(dim);
    any = any || pass.isProduct(reader);
  }
  if (!any || site.parts < 2)
    return {};
  return {site};
}

/// The products whose results, added up, a collective reduces; the sum last.
std::vector<std::uint32_t> madeBy(const PassView &pass,
                                  std::uint32_t collective) {
  const std::vector<std::uint32_t> &deps = pass.all()[collective].deps;
  if (deps.size() != 1 || !pass.step(deps[0]) ||
      pass.step(deps[0])->results != pass.step(collective)->operands)
    return {};
  if (pass.isProduct(deps[0]))
    return deps;
  if (!pass.isSum(deps[0]))
    return {};
  std::vector<std::uint32_t> kernels = pass.all()[deps[0]].deps;
  for (std::uint32_t product : kernels)
    if (!pass.isProduct(product) || pass.readersOf(product).size() != 1)
      return {};
  if (kernels.size() != pass.step(deps[0])->operands.size())
    return {};
  kernels.push_back(deps[0]);
  return kernels;
}

bool cutAlong(const PassView &pass, PartsSite &site, ops::DimId dim) {
  site.dims.assign(site.kernels.size(), dim);
  return std::all_of(
      site.kernels.begin(), site.kernels.end(), [&](std::uint32_t kernel) {
        return pass.isSum(kernel) || pass.canCut(kernel, dim, site.parts);
      });
}

std::vector<PartsSite> reduced(const PassView &pass, std::uint32_t collective) {
  PartsSite site{Way::Scattered, collective, madeBy(pass, collective), {}, 1};
  if (site.kernels.empty())
    return {};
  std::vector<PartsSite> sites;
  if (pass.all()[collective].kind == InstructionKind::ReduceScatter) {
    site.parts = pass.all()[collective].message.members();
    if (site.parts > 1 && cutAlong(pass, site, pass.step(collective)->to))
      sites.push_back(site);
    return sites;
  }
  site.way = Way::Reduced;
  const auto rows = pass.rowsOf(site.kernels.front());
  for (std::int64_t parts : {2, 4, 8}) {
    site.parts = parts;
    if (rows && cutAlong(pass, site, *rows))
      sites.push_back(site);
  }
  return sites;
}

} // namespace

std::vector<PartsSite> partsSites(const PartsRequest &request,
                                  std::uint32_t collective) {
  const PassView pass(request);
  const Instruction &instruction = pass.all()[collective];
  if (instruction.stream != Stream::Tensor || !pass.step(collective))
    return {};
  switch (instruction.kind) {
  case InstructionKind::AllGather:
    return gathered(pass, collective);
  case InstructionKind::ReduceScatter:
  case InstructionKind::AllReduce:
    return reduced(pass, collective);
  default:
    return {};
  }
}

} // namespace planc::lower
