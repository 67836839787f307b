#include "compiler/lower/WeightTail.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace planc::lower {

using program::Instruction;
using schedules::PassKind;

std::size_t weightTail(const schedules::Order &order) {
  std::size_t begin = order.size();
  std::set<std::int32_t> chunks;
  while (begin > 0 && order[begin - 1].kind == PassKind::WeightGradient &&
         !order[begin - 1].withPrevious)
    chunks.insert(order[--begin].chunk);
  return chunks.size() < order.size() - begin ? begin : order.size();
}

std::vector<TailGroup> groupsOf(std::span<const schedules::Pass> tail) {
  std::vector<TailGroup> groups;
  for (const schedules::Pass &pass : tail) {
    const auto chunk = static_cast<std::size_t>(pass.chunk);
    auto group =
        std::find_if(groups.begin(), groups.end(),
                     [&](const TailGroup &g) { return g.chunk == chunk; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {chunk, 0, 0});
    ++group->passes;
    group->lastMicroBatch = pass.microBatch;
  }
  std::sort(
      groups.begin(), groups.end(), [](const TailGroup &a, const TailGroup &b) {
        return a.passes != b.passes ? a.passes < b.passes : a.chunk > b.chunk;
      });
  return groups;
}

MergedTail mergeTail(const std::vector<TailGroup> &groups,
                     const std::vector<const ChunkPass *> &passes,
                     const program::ProgramSet &set) {
  MergedTail out;
  std::size_t count = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    count += groups[g].passes;
    const std::vector<Instruction> &all =
        set.blocks[passes[g]->block].instructions;
    // By micro-batch, by instruction of the pass.
    std::vector<std::vector<std::uint32_t>> places(
        groups[g].passes, std::vector<std::uint32_t>(all.size()));
    const std::vector<ChunkPass::Part> &parts = passes[g]->parts;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::size_t end =
          p + 1 < parts.size() ? parts[p + 1].first : all.size();
      for (std::vector<std::uint32_t> &place : places)
        for (std::size_t i = parts[p].first; i < end; ++i) {
          Instruction instruction = all[i];
          for (std::uint32_t &dep : instruction.deps)
            dep = place[dep];
          std::sort(instruction.deps.begin(), instruction.deps.end());
          place[i] = static_cast<std::uint32_t>(out.block.instructions.size());
          out.block.instructions.push_back(std::move(instruction));
        }
    }
    out.places.push_back(std::move(places.back()));
  }
  out.block.name = fmt::format("{} passes of weight gradients", count);
  return out;
}

} // namespace planc::lower
