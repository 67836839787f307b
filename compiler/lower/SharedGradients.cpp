#include "compiler/lower/SharedGradients.h"

#include "compiler/lower/StageWeights.h"

#include <algorithm>
#include <set>

namespace planc::lower {

using program::Task;

namespace {

class SharedBuilder {
public:
  explicit SharedBuilder(const SharedRequest &shared)
      : shared_(shared), request_(shared.request),
        stages_(*shared.request.stages) {}

  std::vector<Task> build() {
    if (!shared_.runs.empty())
      for (const HeldWeight &held : weightsOf(request_, shared_.stage))
        if (held.isShared && !isFrozen(request_, held.weight))
          addWeight(held.weight);
    if (stages_.holders.copies > 1)
      for (std::size_t chunk = 0; chunk < stages_.chunks.size(); ++chunk)
        addCopies(chunk);
    return std::move(tasks_);
  }

private:
  void addWeight(ops::WeightId weight) {
    std::vector<std::int64_t> holders = holdersOf(request_, weight);
    const std::int64_t count = std::ssize(holders);
    if (count < 2)
      return;
    Task task =
        allReduce(request_.graph->graph->model.weights[weight].name + " shared",
                  shared_.runs.back().completion());
    task.tag = shared_.firstTag + static_cast<std::int64_t>(weight.index());
    task.message.bytes = gradientBytes(weight);
    task.message.sizes = {count};
    task.message.strides = {count == 2
                                ? strideOver(holders.front(), holders.back())
                                : (holders.back() - holders.front()) /
                                      (count - 1) * stageStride()};
    tasks_.push_back(std::move(task));
  }

  void addCopies(std::size_t index) {
    auto run =
        std::find_if(shared_.runs.begin(), shared_.runs.end(),
                     [index](const ChunkRuns &r) { return r.chunk == index; });
    const auto chunk = static_cast<std::int64_t>(index);
    const std::int64_t one = stages_.holders.rankOf(0, chunk),
                       other = stages_.holders.rankOf(1, chunk);
    const Bytes bytes = gradientBytes(stages_.chunks[index]);
    if (run == shared_.runs.end() || one == other || bytes.value == 0)
      return;
    Task task = allReduce("copies of chunk " + std::to_string(index),
                          run->completion());
    task.tag = shared_.firstTag +
               static_cast<std::int64_t>(request_.graph->weights.size()) +
               chunk;
    task.message.bytes = bytes;
    task.message.sizes = {2};
    task.message.strides = {strideOver(one, other)};
    tasks_.push_back(std::move(task));
  }

  Task allReduce(std::string name, program::TaskId after) const {
    Task task;
    task.kind = program::TaskKind::Collective;
    task.stream = program::Stream::Gradients;
    task.deps = {after};
    task.message.kind = program::CommunicationKind::Gradients;
    task.clause = request_.plan->pipeline->clause;
    task.name = std::move(name);
    return task;
  }

  std::int64_t stageStride() const {
    return request_.plan->mesh.stride(request_.plan->pipeline->axis);
  }

  /// Accelerators between two stages that a collective joins. Two that lie in
  /// the two halves of an aligned block of stages are as far apart as the
  /// halves: which level of links they cross does not depend on where in them
  /// they are.
  std::int64_t strideOver(std::int64_t one, std::int64_t other) const {
    for (std::int64_t block = 2; block <= stages_.stages; block += 2)
      if (stages_.stages % block == 0 && one / block == other / block &&
          one / (block / 2) != other / (block / 2))
        return block / 2 * stageStride();
    return std::abs(one - other) * stageStride();
  }

  /// Of the layers' own weights.
  Bytes gradientBytes(const pipeline::Chunk &chunk) const {
    Bytes bytes;
    for (std::size_t u = chunk.begin; u < chunk.end; ++u)
      for (ops::BodyId body : stages_.units[u].bodies) {
        std::set<ops::WeightId> seen;
        for (const ops::Value &value :
             request_.graph->graph->bodies[body].forward.values)
          if (value.kind == ops::ValueKind::Weight &&
              !isShared(request_, value.weight) &&
              !isFrozen(request_, value.weight) &&
              seen.insert(value.weight).second)
            bytes += gradientBytes(value.weight);
      }
    return bytes;
  }

  /// As it lies when micro-batches are added up.
  Bytes gradientBytes(ops::WeightId weight) const {
    const shard::WeightState &state = request_.graph->weights[weight];
    return Bytes(cutElements(request_.plan->mesh, state.localElements,
                             state.gradientState) *
                 bytesOf(request_.plan->precision.gradients));
  }

  const SharedRequest &shared_;
  const EmitRequest &request_;
  const pipeline::StageGraph &stages_;
  std::vector<Task> tasks_;
};

} // namespace

std::vector<Task> sharedGradients(const SharedRequest &request) {
  return SharedBuilder(request).build();
}

} // namespace planc::lower
