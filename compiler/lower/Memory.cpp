#include "compiler/lower/Memory.h"

#include "compiler/lower/StageWeights.h"

#include <algorithm>
#include <map>

namespace planc::lower {

using program::PassKind;

namespace {

std::vector<sema::AxisId> join(std::vector<sema::AxisId> a,
                               const std::vector<sema::AxisId> &b) {
  for (sema::AxisId axis : b)
    if (std::find(a.begin(), a.end(), axis) == a.end())
      a.push_back(axis);
  return a;
}

Bytes largestTwo(const std::map<std::size_t, Bytes> &groups) {
  std::vector<Bytes> sizes;
  for (const auto &[group, bytes] : groups)
    sizes.push_back(bytes);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  Bytes total;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, sizes.size()); ++i)
    total += sizes[i];
  return total;
}

/// Gradients that are kept cut are whole while they are added up: a layer's
/// where each backward scatters them, a chunk's where the stage does
/// (Pieces.h).
std::size_t wholeGroupOf(const EmitRequest &request, std::size_t unit) {
  const std::vector<pipeline::Chunk> &chunks = request.stages->chunks;
  if (request.stages->virtualStages == 1)
    return unit;
  for (std::size_t c = 0; c < chunks.size(); ++c)
    if (unit < chunks[c].end)
      return c;
  return chunks.size();
}

/// Parameters, gradients and optimizer states; `gathered` is the whole of the
/// largest two layers whose parameters are kept cut, `buffers` that of the
/// largest two pieces of gradients that are.
void addStates(const EmitRequest &request, std::int64_t stage,
               program::Memory &memory) {
  const sema::Plan &plan = *request.plan;
  const sema::Mesh &mesh = plan.mesh;
  std::int64_t perElement = optimizerBytes(plan);
  std::map<std::size_t, Bytes> gathered, whole;
  for (const HeldWeight &held : weightsOf(request, stage)) {
    const shard::WeightState &state = request.graph->weights[held.weight];
    std::int64_t parameterBytes = bytesOf(plan.precision.parameters);
    std::int64_t elements = state.localElements;
    memory.parameters += Bytes(
        parameterBytes * cutElements(mesh, elements, state.parameterState));
    std::int64_t gradientBytes = bytesOf(plan.precision.gradients);
    memory.gradients +=
        Bytes(gradientBytes *
              cutElements(mesh, state.gradientElements, state.gradientState));
    if (!state.gradientState.empty())
      whole[wholeGroupOf(request, held.unit)] +=
          Bytes(gradientBytes * state.gradientElements);
    memory.optimizer +=
        Bytes(perElement *
              cutElements(mesh, elements,
                          join(state.optimizerState, state.parameterState)));
    if (!state.parameterState.empty())
      gathered[held.unit] += Bytes(bytesOf(plan.precision.compute) * elements);
  }
  memory.gathered += largestTwo(gathered);
  memory.buffers += largestTwo(whole);
}

struct Held {
  Bytes activations, logits, transient;
  Bytes sum() const { return activations + logits; }
};

/// What one micro-batch keeps in one chunk.
Held heldBy(const EmitRequest &request, const pipeline::Chunk &chunk) {
  Held held;
  for (std::size_t u = chunk.begin; u < chunk.end; ++u) {
    bool isHead = u + 1 == request.stages->units.size() &&
                  !request.stages->units[u].isLayer;
    for (ops::BodyId body : request.stages->units[u].bodies) {
      const LoweredBody &lowered = (*request.bodies)[body];
      (isHead ? held.logits : held.activations) += lowered.saved;
      held.transient = std::max(held.transient, lowered.transient);
    }
  }
  return held;
}

} // namespace

program::Memory memoryOf(const EmitRequest &request, std::int64_t stage) {
  program::Memory memory;
  addStates(request, stage, memory);

  std::vector<Held> chunks;
  for (const pipeline::Chunk &chunk : request.stages->chunks)
    chunks.push_back(heldBy(request, chunk));
  Held now, peak;
  for (const pipeline::Pass &pass :
       request.stages->orders[static_cast<std::size_t>(stage)]) {
    const Held &chunk = chunks[static_cast<std::size_t>(pass.chunk)];
    if (pass.kind == PassKind::Forward) {
      now.activations += chunk.activations;
      now.logits += chunk.logits;
    }
    now.transient = chunk.transient;
    if (now.sum() + now.transient > peak.sum() + peak.transient)
      peak = now;
    if (pass.kind == PassKind::Backward) {
      now.activations -= chunk.activations;
      now.logits -= chunk.logits;
    }
  }
  memory.activations = peak.activations;
  memory.logits = peak.logits;
  memory.workspace = peak.transient;
  return memory;
}

} // namespace planc::lower
