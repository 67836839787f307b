#include "compiler/lower/Blocks.h"

#include "compiler/lower/MergePasses.h"
#include "compiler/lower/Offload.h"
#include "compiler/lower/StageWeights.h"
#include "compiler/lower/WeightTail.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace planc::lower {

using schedules::PassKind;

namespace {

const LoweredPass &passOf(const LoweredBody &body, PassKind kind) {
  switch (kind) {
  case PassKind::Forward:
    return body.forward;
  case PassKind::InputGradient:
    return body.split.input;
  case PassKind::WeightGradient:
    return body.split.weight;
  case PassKind::Backward:
    break;
  }
  return body.backward;
}

std::string_view wordOf(PassKind kind) {
  switch (kind) {
  case PassKind::Forward:
    return " forward";
  case PassKind::InputGradient:
    return " input gradients";
  case PassKind::WeightGradient:
    return " weight gradients";
  case PassKind::Backward:
    break;
  }
  return " backward";
}

} // namespace

ChunkPass BlockBuilder::pass(const pipeline::Chunk &chunk, PassKind kind) {
  ChunkPass out;
  for (std::size_t u = chunk.begin; u < chunk.end; ++u)
    for (ops::BodyId body : request_.stages->units[u].bodies)
      out.parts.push_back(ChunkPass::Part{u, body, 0, {}, {}, {}});
  if (kind != PassKind::Forward)
    std::reverse(out.parts.begin(), out.parts.end());
  std::uint32_t at = 0;
  std::vector<std::uint32_t> key;
  for (ChunkPass::Part &part : out.parts) {
    // Gradients of weights read neither parameters nor what came back before.
    if (kind != PassKind::WeightGradient) {
      part.parametersIn = fetchedBy(request_, part.body);
      (kind == PassKind::Forward ? part.activationsOut : part.activationsIn) =
          offloadedBy(request_, part.unit, part.body);
    }
    part.first = at + part.copiesIn();
    at = part.first + (part.activationsOut.value > 0) +
         static_cast<std::uint32_t>(
             passOf(request_.bodies->of(part.unit, part.body), kind)
                 .instructions.size());
    key.push_back(part.body.index());
    key.push_back(static_cast<std::uint32_t>(
        request_.bodies->formOf(part.unit, part.body)));
    key.push_back(part.activationsIn.value > 0 ||
                  part.activationsOut.value > 0);
  }
  auto [entry, isNew] = blocks_.try_emplace({kind, std::move(key)});
  if (isNew)
    entry->second = set_.blocks.add(join(out.parts, kind));
  out.block = entry->second;
  return out;
}

const PairedPass &BlockBuilder::together(const ChunkPass &forward,
                                         const ChunkPass &backward) {
  auto [entry, isNew] = pairs_.try_emplace({forward.block, backward.block});
  if (isNew) {
    MergedPasses merged =
        mergePasses(set_.blocks[forward.block], set_.blocks[backward.block],
                    request_.duration);
    entry->second = {set_.blocks.add(std::move(merged.block)),
                     std::move(merged.first), std::move(merged.second)};
  }
  return entry->second;
}

const TailPass &
BlockBuilder::tail(const std::vector<TailGroup> &groups,
                   const std::vector<const ChunkPass *> &passes) {
  std::vector<std::pair<program::BlockId, std::size_t>> key;
  for (std::size_t g = 0; g < groups.size(); ++g)
    key.emplace_back(passes[g]->block, groups[g].passes);
  auto [entry, isNew] = tails_.try_emplace(std::move(key));
  if (isNew) {
    MergedTail merged = mergeTail(groups, passes, set_);
    entry->second = {set_.blocks.add(std::move(merged.block)),
                     std::move(merged.places)};
  }
  return entry->second;
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
  block.name += wordOf(kind);

  // Who wrote each slot last, within this block.
  std::map<ops::SlotId, std::uint32_t> writer;
  for (const ChunkPass::Part &part : parts) {
    const LoweredPass &pass =
        passOf(request_.bodies->of(part.unit, part.body), kind);
    addCopiesIn(part, block);
    for (program::Instruction instruction : pass.instructions) {
      for (std::uint32_t &dep : instruction.deps)
        dep += part.first;
      // A plan that overlaps no gradients scatters them between its kernels.
      if (!request_.plan->overlap.gradients &&
          instruction.stream == program::Stream::Gradients)
        instruction.stream = program::Stream::Compute;
      block.instructions.push_back(std::move(instruction));
    }
    if (kind == PassKind::Backward && !block.instructions.empty())
      block.instructions.back().frees +=
          request_.bodies->of(part.unit, part.body).saved - part.activationsIn;
    for (const LoweredPass::SlotUse &read : pass.reads)
      if (auto found = writer.find(read.slot); found != writer.end()) {
        auto &deps = block.instructions[part.first + read.instruction].deps;
        if (std::find(deps.begin(), deps.end(), found->second) == deps.end())
          deps.push_back(found->second);
      }
    for (const LoweredPass::SlotUse &write : pass.writes)
      writer[write.slot] = part.first + write.instruction;
    awaitCopies(part, block);
    addCopyOut(part, block);
  }
  holdFetches(parts, block);
  for (program::Instruction &instruction : block.instructions)
    std::sort(instruction.deps.begin(), instruction.deps.end());
  return block;
}

namespace {

/// Of [begin, end), the last on the compute stream.
std::optional<std::uint32_t> lastKernel(const program::Block &block,
                                        std::uint32_t begin,
                                        std::uint32_t end) {
  for (std::uint32_t i = end; i-- > begin;)
    if (block.instructions[i].stream == program::Stream::Compute)
      return i;
  return std::nullopt;
}

bool isGather(const program::Instruction &instruction) {
  return instruction.kind == program::InstructionKind::AllGather &&
         instruction.message.kind == program::CommunicationKind::Parameters;
}

bool isFetch(const program::Instruction &instruction) {
  return instruction.deps.empty() &&
         (isGather(instruction) ||
          instruction.kind == program::InstructionKind::HostIn);
}

} // namespace

void BlockBuilder::addCopiesIn(const ChunkPass::Part &part,
                               program::Block &block) const {
  for (Bytes bytes : {part.parametersIn, part.activationsIn})
    if (bytes.value > 0)
      block.instructions.push_back(
          hostCopy(request_, program::InstructionKind::HostIn, bytes));
}

/// Gathers of a part wait for its parameters, its first kernel for all that
/// comes from the host.
void BlockBuilder::awaitCopies(const ChunkPass::Part &part,
                               program::Block &block) const {
  if (part.copiesIn() == 0)
    return;
  bool isFirst = true;
  for (std::size_t i = part.first; i < block.instructions.size(); ++i) {
    program::Instruction &instruction = block.instructions[i];
    const bool isKernel = instruction.stream == program::Stream::Compute;
    if (part.parametersIn.value > 0 && isGather(instruction))
      instruction.deps.push_back(part.first - part.copiesIn());
    if (!isKernel || !std::exchange(isFirst, false))
      continue;
    for (std::uint32_t c = part.copiesIn(); c > 0; --c)
      instruction.deps.push_back(part.first - c);
  }
}

void BlockBuilder::addCopyOut(const ChunkPass::Part &part,
                              program::Block &block) const {
  if (part.activationsOut.value == 0)
    return;
  program::Instruction copy = hostCopy(
      request_, program::InstructionKind::HostOut, part.activationsOut);
  const auto end = static_cast<std::uint32_t>(block.instructions.size());
  if (auto last = lastKernel(block, part.first, end))
    copy.deps.push_back(*last);
  block.instructions.push_back(std::move(copy));
}

void BlockBuilder::holdFetches(const std::vector<ChunkPass::Part> &parts,
                               program::Block &block) const {
  const std::size_t ahead = fetchedAhead(*request_.plan);
  for (std::size_t p = ahead + 1; p < parts.size(); ++p) {
    const std::uint32_t end =
        p + 1 < parts.size()
            ? parts[p + 1].first - parts[p + 1].copiesIn()
            : static_cast<std::uint32_t>(block.instructions.size());
    // Parts without kernels of their own are looked through.
    std::optional<std::uint32_t> before;
    for (std::size_t q = p - ahead; q-- > 0 && !before;)
      before = lastKernel(block, parts[q].first,
                          parts[q + 1].first - parts[q + 1].copiesIn());
    for (std::uint32_t i = parts[p].first - parts[p].copiesIn();
         before && i < end; ++i)
      if (isFetch(block.instructions[i]))
        block.instructions[i].deps.push_back(*before);
  }
}

} // namespace planc::lower
