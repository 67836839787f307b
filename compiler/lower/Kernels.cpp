#include "compiler/lower/Kernels.h"

#include "compiler/shard/Homes.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::lower {

using program::Phase;
using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

class Grouper {
public:
  explicit Grouper(const KernelRequest &request)
      : request_(request), steps_(*request.steps),
        body_(request.graph->graph->bodies[request.body]),
        sharded_(request.graph->bodies[request.body]) {}

  std::vector<Kernel> run() {
    findReaders();
    std::map<Key, std::vector<std::size_t>> groups;
    std::vector<Key> keys(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      keys[i] = keyOf(i);
      groups[keys[i]].push_back(i);
    }
    std::vector<std::vector<std::size_t>> placed(steps_.size());
    for (auto &[key, members] : groups) {
      if (members.size() > 1 && canMerge(members))
        placed[members.back()] = members;
      else
        for (std::size_t member : members)
          placed[member] = {member};
    }
    std::vector<Kernel> kernels;
    for (std::vector<std::size_t> &members : placed)
      if (!members.empty())
        kernels.push_back(makeKernel(std::move(members)));
    return kernels;
  }

private:
  /// Phase class and kernel for elementwise steps, else the step's own index.
  using Key = std::pair<std::size_t, std::uint32_t>;

  Key keyOf(std::size_t index) const {
    const Step &step = *steps_[index].step;
    if (step.kind == StepKind::Compute) {
      const ops::Op &op = opOf(body_, step);
      // A sum that matrix products add into themselves has its own traffic.
      if (ops::classOf(op.kind) == ops::OpClass::Elementwise &&
          op.kernel.isValid() && !op.attributes.accumulated)
        return {static_cast<std::size_t>(step.phase != Phase::Forward),
                op.kernel.index()};
    }
    return {index + 2, 0};
  }

  void findReaders() {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (ShardedValueId operand : steps_[i].step->operands)
        readers_[operand].push_back(i);
    if (request_.kept)
      kept_.insert(request_.kept->begin(), request_.kept->end());
    for (const auto *ports : {&sharded_.outputs, &sharded_.gradientOutputs})
      for (const shard::Port &port : *ports)
        kept_.insert(port.value);
    for (const auto &gradient : sharded_.weightGradients)
      kept_.insert(gradient.value);
  }

  bool canMerge(const std::vector<std::size_t> &members) const {
    for (std::size_t member : members)
      for (ShardedValueId result : steps_[member].step->results) {
        auto readers = readers_.find(result);
        if (readers == readers_.end())
          continue;
        for (std::size_t reader : readers->second)
          if (reader < members.back() &&
              !std::binary_search(members.begin(), members.end(), reader))
            return false;
      }
    return true;
  }

  bool leaves(const std::vector<std::size_t> &members,
              ShardedValueId value) const {
    if (kept_.count(value))
      return true;
    auto readers = readers_.find(value);
    return readers != readers_.end() &&
           std::any_of(readers->second.begin(), readers->second.end(),
                       [&](std::size_t reader) {
                         return !std::binary_search(members.begin(),
                                                    members.end(), reader);
                       });
  }

  Kernel makeKernel(std::vector<std::size_t> members) const {
    Kernel kernel;
    std::set<ShardedValueId> made;
    for (std::size_t member : members) {
      const Step &step = *steps_[member].step;
      for (ShardedValueId operand : step.operands)
        if (!made.count(operand) &&
            std::find(kernel.operands.begin(), kernel.operands.end(),
                      operand) == kernel.operands.end())
          kernel.operands.push_back(operand);
      made.insert(step.results.begin(), step.results.end());
      kernel.results.insert(kernel.results.end(), step.results.begin(),
                            step.results.end());
    }
    kernel.work = steps_[members.back()].step->work;
    if (isElementwise(members.back())) {
      kernel.work.bytesRead = Bytes();
      for (ShardedValueId operand : kernel.operands)
        kernel.work.bytesRead += readBytes(operand);
      std::vector<ShardedValueId> leaving;
      for (ShardedValueId result : kernel.results)
        if (leaves(members, result))
          leaving.push_back(result);
      kernel.work.bytesWritten =
          bytesOf(*request_.graph, request_.body, leaving);
    }
    kernel.steps = std::move(members);
    return kernel;
  }

  Bytes readBytes(ShardedValueId id) const {
    const shard::ShardedGraph &graph = *request_.graph;
    if (!request_.narrow || request_.narrow->values.count(id) == 0)
      return bytesOf(graph, request_.body, id);
    return bytesIn(request_.narrow->format, graph, request_.body, id);
  }

  bool isElementwise(std::size_t index) const { return keyOf(index).first < 2; }

  const KernelRequest &request_;
  const std::vector<PlannedStep> &steps_;
  const graph::Body &body_;
  const shard::ShardedBody &sharded_;
  std::map<ShardedValueId, std::vector<std::size_t>> readers_;
  std::set<ShardedValueId> kept_;
};

} // namespace

std::vector<Kernel> groupKernels(const KernelRequest &request) {
  return Grouper(request).run();
}

Bytes heldBytes(const shard::ShardedGraph &graph, ops::BodyId body,
                ShardedValueId id) {
  const shard::ShardedValue &value = graph.bodies[body].values[id];
  Bytes whole = bytesOf(graph, body, id);
  const std::int64_t width =
      graph.graph->bodies[body].forward.values[value.source].chunkWidth;
  if (width <= 0 || value.sizes.empty() || value.sizes.back() <= width)
    return whole;
  return Bytes(whole.value / value.sizes.back() * width);
}

Bytes bytesIn(Precision format, const shard::ShardedGraph &graph,
              ops::BodyId body, ShardedValueId id) {
  const shard::ShardedValue &value = graph.bodies[body].values[id];
  const ops::Value &source =
      graph.graph->bodies[body].forward.values[value.source];
  return shard::bytesOf(shard::heldElements(source, value.sizes), format);
}

Bytes bytesOf(const shard::ShardedGraph &graph, ops::BodyId body,
              ShardedValueId id) {
  const ops::ValueId source = graph.bodies[body].values[id].source;
  return bytesIn(graph.graph->bodies[body].forward.values[source].precision,
                 graph, body, id);
}

Bytes bytesOf(const shard::ShardedGraph &graph, ops::BodyId body,
              const std::vector<ShardedValueId> &values) {
  std::set<ShardedValueId> distinct(values.begin(), values.end());
  Bytes total;
  for (ShardedValueId value : distinct)
    total += bytesOf(graph, body, value);
  return total;
}

} // namespace planc::lower
