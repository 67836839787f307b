#include "compiler/lower/Memory.h"

#include "compiler/graph/ChooseFormats.h"
#include "compiler/lower/Offload.h"
#include "compiler/lower/OptimizerState.h"
#include "compiler/lower/Quantise.h"
#include "compiler/lower/StageWeights.h"
#include "compiler/lower/WeightTail.h"

#include <algorithm>
#include <map>
#include <utility>

namespace planc::lower {

using schedules::PassKind;

namespace {

Bytes largest(const std::map<std::size_t, Bytes> &groups, std::size_t count) {
  std::vector<Bytes> sizes;
  for (const auto &[group, bytes] : groups)
    sizes.push_back(bytes);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  Bytes total;
  for (std::size_t i = 0; i < std::min(count, sizes.size()); ++i)
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

/// Parameters, gradients and optimizer states. `gathered` is what kernels read
/// besides the parameters as they are stored: of parameters that are kept cut
/// or on the host, the layer at work and those fetched ahead, or all of them
/// where they are never let go. `buffers` is the whole of the largest two
/// pieces of gradients that are kept cut.
class States {
public:
  States(const EmitRequest &request, std::int64_t stage)
      : request_(request), plan_(*request.plan), mesh_(plan_.mesh),
        held_(weightsOf(request, stage)) {}

  void addTo(program::Memory &memory) {
    for (const HeldWeight &held : held_)
      add(held, memory);
    const bool isKept = plan_.reshard == sema::Reshard::Never;
    memory.gathered +=
        largest(fetched_, isKept ? fetched_.size() : fetchedAhead(plan_) + 1);
    memory.buffers += largest(whole_, 2);
    // Gradients that are apart are copied into a bucket to be reduced.
    if (plan_.kernels.gradientsApart &&
        plan_.bucket.kind == sema::BucketKind::Size)
      memory.buffers += std::min(plan_.bucket.size, reduced_);
  }
  /// What the update takes for itself.
  Bytes update() const { return update_; }

private:
  void add(const HeldWeight &held, program::Memory &memory) {
    const shard::WeightState &state = request_.graph->weights[held.weight];
    const std::int64_t stored =
        cutElements(mesh_, state.localElements, state.parameterState);
    const Bytes parameters(bytesOf(plan_.precision.parameters) * stored);
    (plan_.offload.parameters ? memory.host : memory.parameters) += parameters;
    const Bytes copies = weightCopies(*request_.graph, held.weight);
    if (!state.parameterState.empty() || plan_.offload.parameters)
      fetched_[held.unit] +=
          copies +
          Bytes(state.localElements *
                bytesOf(shard::gatherFormat(request_.graph->graph->options)));
    else
      memory.gathered += copies;
    addTraining(held, memory);
  }

  void addTraining(const HeldWeight &held, program::Memory &memory) {
    if (isFrozen(request_, held.weight))
      return;
    const shard::WeightState &state = request_.graph->weights[held.weight];
    const std::int64_t gradientBytes = bytesOf(plan_.precision.gradients);
    memory.gradients +=
        Bytes(gradientBytes *
              cutElements(mesh_, state.gradientElements, state.gradientState));
    if (!state.gradientState.empty())
      whole_[wholeGroupOf(request_, held.unit)] +=
          Bytes(gradientBytes * state.gradientElements);
    if (!state.partial.empty())
      reduced_ += Bytes(gradientBytes * state.gradientElements);
    const Precision made =
        graph::activationFormat(request_.graph->graph->options);
    if (plan_.kernels.gradientsApart && plan_.precision.gradients != made)
      memory.gradients += Bytes(bytesOf(made) * state.gradientElements);
    if (plan_.kernels.castsGradients &&
        plan_.precision.gradients != Precision::Fp32)
      update_ += castGradients(state);
    (plan_.offload.optimizer ? memory.host : memory.optimizer) +=
        Bytes(stateBytes(*request_.graph, plan_, held.weight));
  }

  /// Of what a rank updates: the gradients joined, and cast.
  Bytes castGradients(const shard::WeightState &state) const {
    return Bytes(
        (bytesOf(plan_.precision.gradients) + bytesOf(Precision::Fp32)) *
        cutElements(mesh_, state.localElements, state.optimizerState));
  }

  const EmitRequest &request_;
  const sema::Plan &plan_;
  const sema::Mesh &mesh_;
  std::vector<HeldWeight> held_;
  std::map<std::size_t, Bytes> fetched_, whole_;
  Bytes update_;
  Bytes reduced_; ///< gradients that are reduced over other ranks
};

struct Held {
  Bytes activations, logits, transient;
  Bytes host; ///< of activations, on the host
  Bytes sum() const { return activations + logits; }
  void add(const Held &other) {
    activations += other.activations;
    logits += other.logits;
    host += other.host;
  }
  void drop(const Held &other) {
    activations -= other.activations;
    logits -= other.logits;
    host -= other.host;
  }
};

/// What one micro-batch keeps in one chunk.
struct ChunkHeld {
  Held saved;    ///< from the forward to the backward; with the pass's own
  Held retained; ///< from the backward of inputs to that of weights
  Held made;     ///< of that, what the former makes
};

ChunkHeld heldBy(const EmitRequest &request, std::size_t index) {
  const pipeline::Chunk &chunk = request.stages->chunks[index];
  ChunkHeld held;
  const pipeline::StageGraph &stages = *request.stages;
  if (request.plan->kernels.keepsOutputs && index + 1 < stages.chunks.size() &&
      stages.stageOf(0, static_cast<std::int64_t>(index)) !=
          stages.stageOf(0, static_cast<std::int64_t>(index) + 1))
    for (ops::SlotId slot : request.stages->crossing[index + 1])
      held.saved.activations += slotBytes(request, slot);
  for (std::size_t u = chunk.begin; u < chunk.end; ++u) {
    bool isHead = u + 1 == request.stages->units.size() &&
                  !request.stages->units[u].isLayer;
    auto part = [isHead](Held &of) -> Bytes & {
      return isHead ? of.logits : of.activations;
    };
    for (ops::BodyId body : request.stages->units[u].bodies) {
      const LoweredBody &lowered = request.bodies->of(u, body);
      const Bytes away = offloadedBy(request, u, body);
      held.saved.host += away;
      part(held.saved) += lowered.saved - away;
      part(held.retained) += lowered.split.retained;
      part(held.made) += lowered.split.made;
      // One layer is at work while another's copy is under way.
      held.saved.transient =
          std::max(held.saved.transient, lowered.transient + away * 2);
      held.retained.transient =
          std::max(held.retained.transient, lowered.split.transient + away * 2);
    }
  }
  return held;
}

/// Follows one stage's order.
class Follower {
public:
  explicit Follower(std::vector<ChunkHeld> chunks)
      : chunks_(std::move(chunks)) {}

  void run(const pipeline::Pass &pass) {
    const ChunkHeld &chunk = chunks_[static_cast<std::size_t>(pass.chunk)];
    if (pass.kind == PassKind::Forward)
      now_.add(chunk.saved);
    host_ = std::max(host_, now_.host);
    if (pass.kind == PassKind::InputGradient)
      now_.add(chunk.made);
    Bytes own =
        pass.kind == PassKind::Forward || pass.kind == PassKind::Backward
            ? chunk.saved.transient
            : chunk.retained.transient;
    now_.transient = pass.withPrevious ? now_.transient + own : own;
    see();
    if (schedules::sendsBack(pass.kind))
      now_.drop(chunk.saved);
    if (pass.kind == PassKind::InputGradient) {
      now_.drop(chunk.made);
      now_.add(chunk.retained);
    }
    if (pass.kind == PassKind::WeightGradient)
      now_.drop(chunk.retained);
  }
  /// Gradients of weights at the end that are one block: what any of them reads
  /// is there until all have ended.
  void runTail(const pipeline::Pass &pass) {
    now_.transient =
        chunks_[static_cast<std::size_t>(pass.chunk)].retained.transient;
    see();
  }
  /// The most since this was asked last.
  Bytes takeMost() { return std::exchange(most_, Bytes(0)); }
  const Held &peak() const { return peak_; }
  const Held &now() const { return now_; }
  Bytes host() const { return host_; }

private:
  void see() {
    const Bytes held = now_.sum() + now_.transient;
    most_ = std::max(most_, held);
    if (held > peak_.sum() + peak_.transient)
      peak_ = now_;
  }

  std::vector<ChunkHeld> chunks_;
  Held now_, peak_;
  Bytes host_, most_;
};

std::vector<ChunkHeld> heldByChunks(const EmitRequest &request) {
  std::vector<ChunkHeld> chunks;
  for (std::size_t c = 0; c < request.stages->chunks.size(); ++c)
    chunks.push_back(heldBy(request, c));
  return chunks;
}

} // namespace

program::Memory memoryOf(const EmitRequest &request, std::int64_t stage) {
  program::Memory memory;
  States states(request, stage);
  states.addTo(memory);

  Follower follower(heldByChunks(request));
  const schedules::Order &order =
      request.stages->orders[static_cast<std::size_t>(stage)];
  const std::size_t tail = weightTail(order);
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i < tail)
      follower.run(order[i]);
    else
      follower.runTail(order[i]);
  memory.host += follower.host();
  memory.activations = follower.peak().activations;
  memory.logits = follower.peak().logits;
  memory.workspace = follower.peak().transient;
  // The update finds nothing of the passes; where it takes more than they, it
  // is the fullest moment.
  const Bytes passes = follower.peak().sum() + memory.workspace;
  if (states.update() > passes)
    memory.workspace += states.update() - passes;
  memory.unreturned = std::min(states.update(), passes);
  return memory;
}

program::MemoryCurve memoryCurveOf(const EmitRequest &request,
                                   std::int64_t stage) {
  States states(request, stage);
  program::Memory standing;
  states.addTo(standing);
  program::MemoryCurve curve;
  curve.standing = standing.total();

  Follower follower(heldByChunks(request));
  const schedules::Order &order =
      request.stages->orders[static_cast<std::size_t>(stage)];
  const std::size_t tail = weightTail(order);
  for (std::size_t i = 0; i < tail;) {
    do
      follower.run(order[i++]);
    while (i < tail && order[i].withPrevious);
    curve.runs.push_back({follower.takeMost(), follower.now().sum()});
  }
  for (std::size_t i = tail; i < order.size(); ++i)
    follower.runTail(order[i]);
  if (tail < order.size())
    curve.runs.push_back({follower.takeMost(), Bytes(0)});
  curve.runs.push_back({states.update(), Bytes(0)});
  return curve;
}

} // namespace planc::lower
