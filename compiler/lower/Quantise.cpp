#include "compiler/lower/Quantise.h"

#include "compiler/lower/Kernels.h"
#include "compiler/shard/Homes.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::lower {

using shard::ShardedValueId;

namespace {

constexpr std::int64_t kCopies = 2;

/// What a rank holds: of dispatched tokens those that there are.
std::int64_t elementsOf(const ops::Body &body,
                        const shard::ShardedValue &value) {
  return shard::heldElements(body.values[value.source], value.sizes);
}

/// Whether every backward operator that reads the value reads a copy.
bool onlyCopies(const shard::ShardedGraph &graph, ops::BodyId body,
                ShardedValueId value) {
  const graph::Body &source = graph.graph->bodies[body];
  const shard::ShardedBody &sharded = graph.bodies[body];
  bool isRead = false;
  for (const shard::Step &step : sharded.backward) {
    if (std::find(step.operands.begin(), step.operands.end(), value) ==
        step.operands.end())
      continue;
    isRead = true;
    if (step.kind != shard::StepKind::Compute ||
        step.phase == program::Phase::Forward ||
        !isQuantised(source.forward, source.backward[step.op],
                     sharded.values[value]))
      return false;
  }
  return isRead;
}

/// The format in which products read copies of the weight.
std::optional<Precision> formatOf(const shard::ShardedGraph &graph,
                                  ops::WeightId weight) {
  for (const graph::Body &body : graph.graph->bodies)
    for (const ops::Op &op : body.forward.forward)
      for (ops::ValueId operand : op.operands) {
        const ops::Value &value = body.forward.values[operand];
        if (value.kind == ops::ValueKind::Weight && value.weight == weight &&
            op.attributes.compute && planc::isQuantised(*op.attributes.compute))
          return op.attributes.compute;
      }
  return std::nullopt;
}

} // namespace

namespace {

/// Looks for values of which the backward needs no more than a narrow copy.
class Narrowing {
public:
  Narrowing(const shard::ShardedGraph &graph, ops::BodyId body,
            const std::vector<PlannedStep> &steps)
      : source_(graph.graph->bodies[body]), sharded_(graph.bodies[body]),
        options_(graph.graph->options) {
    for (const PlannedStep &planned : steps)
      for (ShardedValueId operand : planned.step->operands)
        readers_[operand].push_back(planned.step);
  }

  NarrowCopies run(const std::vector<ShardedValueId> &kept) {
    NarrowCopies out;
    if (!options_.saved)
      return out;
    out.format = *options_.saved;
    for (ShardedValueId value : kept) {
      const ops::Value &source = sourceOf(value);
      Found found;
      if (source.kind == ops::ValueKind::Activation &&
          planc::bytesOf(*options_.saved) < planc::bytesOf(source.precision) &&
          readNarrowly(value, found) && found.isElementwise) {
        out.kept.push_back(value);
        out.values.insert(found.values.begin(), found.values.end());
      }
    }
    return out;
  }

private:
  struct Found {
    bool isElementwise = false;
    std::vector<ShardedValueId> values; ///< itself and its views
  };

  const ops::Value &sourceOf(ShardedValueId value) const {
    return source_.forward.values[sharded_.values[value].source];
  }

  bool readNarrowly(ShardedValueId value, Found &found) const {
    found.values.push_back(value);
    auto readers = readers_.find(value);
    return readers == readers_.end() ||
           std::all_of(readers->second.begin(), readers->second.end(),
                       [&](const shard::Step *step) {
                         return readsNarrowly(*step, value, found);
                       });
  }

  bool readsNarrowly(const shard::Step &step, ShardedValueId value,
                     Found &found) const {
    if (step.kind != shard::StepKind::Compute)
      return false;
    const ops::Op &op = opOf(source_, step);
    switch (ops::classOf(op.kind)) {
    case ops::OpClass::Elementwise:
      found.isElementwise = true;
      return true;
    case ops::OpClass::View:
      return readNarrowly(step.results[0], found);
    default:
      return isQuantised(source_.forward, op, sharded_.values[value]);
    }
  }

  const graph::Body &source_;
  const shard::ShardedBody &sharded_;
  const graph::GraphOptions &options_;
  std::map<ShardedValueId, std::vector<const shard::Step *>> readers_;
};

} // namespace

NarrowCopies narrowCopies(const shard::ShardedGraph &graph, ops::BodyId body,
                          const std::vector<PlannedStep> &steps,
                          const std::vector<ShardedValueId> &kept) {
  return Narrowing(graph, body, steps).run(kept);
}

bool isQuantised(const ops::Body &body, const ops::Op &op,
                 const shard::ShardedValue &value) {
  const ops::OpClass kind = ops::classOf(op.kind);
  const bool isProduct =
      kind == ops::OpClass::Contraction || kind == ops::OpClass::Attention;
  const ops::Value &source = body.values[value.source];
  return isProduct && op.attributes.compute &&
         planc::isQuantised(*op.attributes.compute) &&
         source.kind != ops::ValueKind::Statistic &&
         planc::bytesOf(source.precision) > 1;
}

Bytes quantisedBytes(Precision format, const ops::Body &body,
                     const shard::ShardedValue &value) {
  return Bytes(
      saturatingMul(kCopies, bytesHeld(format, elementsOf(body, value))));
}

Bytes savedBytes(const SavedRequest &request,
                 const std::vector<ShardedValueId> &kept) {
  const shard::ShardedGraph &graph = request.graph;
  const ops::BodyId body = request.body;
  const Precision format = graph.graph->options.compute;
  Bytes total;
  for (ShardedValueId value :
       std::set<ShardedValueId>(kept.begin(), kept.end()))
    total += request.narrow.values.count(value) != 0
                 ? bytesIn(request.narrow.format, graph, body, value)
             : planc::isQuantised(format) && onlyCopies(graph, body, value)
                 ? bytesIn(format, graph, body, value)
                 : bytesOf(graph, body, value);
  return total;
}

Bytes weightCopies(const shard::ShardedGraph &graph, ops::WeightId weight) {
  std::optional<Precision> format = formatOf(graph, weight);
  if (!format)
    return Bytes();
  const bool isStored = planc::bytesOf(graph.graph->options.parameters) == 1;
  return Bytes((isStored ? kCopies - 1 : kCopies) *
               bytesHeld(*format, graph.weights[weight].localElements));
}

} // namespace planc::lower
