#include "compiler/lower/Blocks.h"

#include <algorithm>

namespace planc::lower {

using program::PassKind;

namespace {
const LoweredPass &passOf(const LoweredBody &body, PassKind kind) {
  return kind == PassKind::Forward ? body.forward : body.backward;
}
} // namespace

ChunkPass BlockBuilder::pass(const pipeline::Chunk &chunk, PassKind kind) {
  ChunkPass out;
  for (std::size_t u = chunk.begin; u < chunk.end; ++u)
    for (ops::BodyId body : request_.stages->units[u].bodies)
      out.parts.push_back({u, body, 0});
  if (kind != PassKind::Forward)
    std::reverse(out.parts.begin(), out.parts.end());
  std::uint32_t at = 0;
  std::vector<std::uint32_t> key;
  for (ChunkPass::Part &part : out.parts) {
    part.first = at;
    at += static_cast<std::uint32_t>(
        passOf((*request_.bodies)[part.body], kind).instructions.size());
    key.push_back(part.body.index());
  }
  auto &known = kind == PassKind::Forward ? forward_ : backward_;
  auto [entry, isNew] = known.try_emplace(std::move(key));
  if (isNew)
    entry->second = set_.blocks.add(join(out.parts, kind));
  out.block = entry->second;
  return out;
}

program::Block BlockBuilder::join(const std::vector<ChunkPass::Part> &parts,
                                  PassKind kind) const {
  program::Block block;
  for (const ChunkPass::Part &part : parts) {
    if (!block.name.empty())
      block.name += " + ";
    block.name += request_.graph->graph->bodies[part.body].forward.name;
  }
  if (parts.size() > 1)
    block.name = request_.graph->graph->bodies[parts[0].body].forward.name +
                 " .. " +
                 request_.graph->graph->bodies[parts.back().body].forward.name;
  block.name += kind == PassKind::Forward ? " forward" : " backward";

  // Who wrote each slot last, within this block.
  std::map<ops::SlotId, std::uint32_t> writer;
  for (const ChunkPass::Part &part : parts) {
    const LoweredPass &pass = passOf((*request_.bodies)[part.body], kind);
    for (program::Instruction instruction : pass.instructions) {
      for (std::uint32_t &dep : instruction.deps)
        dep += part.first;
      block.instructions.push_back(std::move(instruction));
    }
    for (const LoweredPass::SlotUse &read : pass.reads)
      if (auto found = writer.find(read.slot); found != writer.end()) {
        auto &deps = block.instructions[part.first + read.instruction].deps;
        if (std::find(deps.begin(), deps.end(), found->second) == deps.end())
          deps.push_back(found->second);
      }
    for (const LoweredPass::SlotUse &write : pass.writes)
      writer[write.slot] = part.first + write.instruction;
  }
  for (program::Instruction &instruction : block.instructions)
    std::sort(instruction.deps.begin(), instruction.deps.end());
  return block;
}

} // namespace planc::lower
