#include "compiler/lower/Rerun.h"

#include "compiler/ops/Paths.h"

#include <algorithm>
#include <set>

namespace planc::lower {

using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

Rerun everything(const shard::ShardedBody &sharded, const ops::Body &body) {
  Rerun rerun;
  for (std::uint32_t i = 0; i < sharded.forward.size(); ++i)
    rerun.steps.push_back(i);
  for (const shard::Port &port : sharded.inputs)
    if (body.values[sharded.values[port.value].source].kind !=
        ops::ValueKind::Given)
      rerun.kept.push_back(port.value);
  return rerun;
}

class Partial {
public:
  Partial(const shard::ShardedGraph &graph, ops::BodyId body,
          const RerunChoice &choice)
      : sharded_(graph.bodies[body]), body_(graph.graph->bodies[body].forward),
        choice_(choice), maker_(sharded_.values.size(), nullptr) {
    for (const Step &step : sharded_.forward)
      for (ShardedValueId result : step.results)
        maker_[result.index()] = &step;
  }

  Rerun run() {
    findDropped();
    Rerun rerun;
    std::set<ShardedValueId> wanted;
    for (ShardedValueId value : sharded_.saved)
      (dropped_.count(value) ? wanted : kept_).insert(value);
    rerun.steps = closure(std::move(wanted));
    rerun.kept.assign(kept_.begin(), kept_.end());
    return rerun;
  }

private:
  const ops::Op &opOf(const Step &step) const { return body_.forward[step.op]; }

  /// Logits of a fused linear loss are made again, chunk by chunk, as if named.
  bool isNamed(const ops::Op &op) const {
    return op.attributes.chunkWidth > 0 ||
           std::any_of(choice_.paths.begin(), choice_.paths.end(),
                       [&](const std::string &path) {
                         return ops::pathNames(path, op);
                       });
  }

  /// Made again whenever what comes of it is: operators that were named, and
  /// what moves data without computing.
  bool isRedone(const Step &step) const {
    if (step.kind != StepKind::Compute)
      return true;
    const ops::Op &op = opOf(step);
    return ops::classOf(op.kind) == ops::OpClass::View || isNamed(op) ||
           (choice_.attention && op.kind == ops::OpKind::Attention);
  }

  /// Does it make what was not there before it, in another form?
  bool isNew(const Step &step) const {
    return step.kind == StepKind::Compute &&
           ops::classOf(opOf(step).kind) != ops::OpClass::View;
  }

  void findDropped() {
    for (const Step &step : sharded_.forward) {
      if (!isNew(step)) {
        bool fromDropped = std::any_of(
            step.operands.begin(), step.operands.end(),
            [&](ShardedValueId id) { return dropped_.count(id) != 0; });
        if (fromDropped)
          dropped_.insert(step.results.begin(), step.results.end());
        if (step.kind != StepKind::Compute)
          continue;
      }
      const ops::Op &op = opOf(step);
      bool onlyRest = choice_.attention && op.kind == ops::OpKind::Attention;
      if (!isNamed(op) && !onlyRest)
        continue;
      for (std::size_t r = isNamed(op) ? 0 : 1; r < step.results.size(); ++r)
        dropped_.insert(step.results[r]);
    }
  }

  bool isStored(ShardedValueId id) const {
    ops::ValueKind kind = body_.values[sharded_.values[id].source].kind;
    return kind == ops::ValueKind::Weight || kind == ops::ValueKind::Given;
  }

  /// Steps that make `wanted` again; what they read from elsewhere is kept.
  std::vector<std::uint32_t> closure(std::set<ShardedValueId> wanted) {
    std::vector<std::uint32_t> steps;
    for (std::size_t i = sharded_.forward.size(); i-- > 0;) {
      const Step &step = sharded_.forward[i];
      bool makes =
          std::any_of(step.results.begin(), step.results.end(),
                      [&](ShardedValueId r) { return wanted.count(r) != 0; });
      if (!makes)
        continue;
      steps.push_back(static_cast<std::uint32_t>(i));
      for (ShardedValueId operand : step.operands) {
        const Step *maker = maker_[operand.index()];
        if (kept_.count(operand) || (isStored(operand) && !maker))
          continue;
        if (maker && isRedone(*maker))
          wanted.insert(operand);
        else
          kept_.insert(operand);
      }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const shard::ShardedBody &sharded_;
  const ops::Body &body_;
  const RerunChoice &choice_;
  std::vector<const Step *> maker_; ///< by value; null: comes from outside
  std::set<ShardedValueId> dropped_, kept_;
};

} // namespace

std::string toText(const RerunChoice &choice) {
  std::string out = choice.all ? "all" : "";
  if (choice.attention && !choice.all)
    out = "attention";
  if (!choice.all)
    for (const std::string &path : choice.paths)
      out += (out.empty() ? "" : ", ") + path;
  return out.empty() ? "none" : out;
}

Rerun planRerun(const shard::ShardedGraph &graph, ops::BodyId body,
                const RerunChoice &choice) {
  const shard::ShardedBody &sharded = graph.bodies[body];
  const ops::Body &forward = graph.graph->bodies[body].forward;
  const bool inChunks = std::any_of(
      forward.forward.begin(), forward.forward.end(),
      [](const ops::Op &op) { return op.attributes.chunkWidth > 0; });
  if (choice.isNone() && !inChunks)
    return {{}, sharded.saved};
  if (choice.all)
    return everything(sharded, forward);
  return Partial(graph, body, choice).run();
}

} // namespace planc::lower
