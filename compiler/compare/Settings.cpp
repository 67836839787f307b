#include "compiler/compare/Settings.h"

#include "compiler/compare/ClusterFields.h"

#include <fmt/format.h>

namespace planc::compare {

namespace {

/// But for what the plan sets: sizes of batch and sequence.
bool sameDims(const ops::Model &a, const ops::Model &b) {
  if (a.dims.size() != b.dims.size() || a.batch != b.batch || a.seq != b.seq)
    return false;
  for (ops::DimId id : a.dims.ids()) {
    const ops::Dim &x = a.dims[id], &y = b.dims[id];
    const bool isOfPlan = id == a.batch || id == a.seq;
    if (x.name != y.name || x.scope != y.scope || x.splitAs != y.splitAs ||
        (x.size != y.size && !isOfPlan))
      return false;
  }
  return true;
}

bool sameWeights(const ops::Model &a, const ops::Model &b) {
  if (a.weights.size() != b.weights.size())
    return false;
  for (ops::WeightId id : a.weights.ids()) {
    const ops::Weight &x = a.weights[id], &y = b.weights[id];
    if (x.dims != y.dims || x.batchDims != y.batchDims ||
        x.instances != y.instances || x.fanout != y.fanout)
      return false;
  }
  return true;
}

bool sameTerms(const std::vector<ops::Term> &a,
               const std::vector<ops::Term> &b) {
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].coefficient != b[i].coefficient || a[i].factors != b[i].factors)
      return false;
  return true;
}

bool sameUserOps(const ops::Model &a, const ops::Model &b) {
  if (a.userOps.size() != b.userOps.size())
    return false;
  for (ops::UserOpId id : a.userOps.ids()) {
    const ops::UserOp &x = a.userOps[id], &y = b.userOps[id];
    if (x.result != y.result || x.contracts != y.contracts ||
        x.inOrder != y.inOrder || x.saves != y.saves ||
        x.backward != y.backward || x.gathers.size() != y.gathers.size() ||
        !sameTerms(x.flops, y.flops) || !sameTerms(x.bytes, y.bytes))
      return false;
    for (std::size_t i = 0; i < x.gathers.size(); ++i)
      if (x.gathers[i].operand != y.gathers[i].operand ||
          x.gathers[i].dim != y.gathers[i].dim)
        return false;
  }
  return true;
}

bool sameOp(const ops::Op &a, const ops::Op &b) {
  const ops::Attributes &x = a.attributes, &y = b.attributes;
  return a.kind == b.kind && a.operands == b.operands &&
         a.results == b.results && x.causal == y.causal &&
         x.window == y.window && x.dropout == y.dropout &&
         x.softCap == y.softCap && x.offsets == y.offsets &&
         x.userOp == y.userOp && x.route == y.route;
}

bool sameBody(const ops::Body &a, const ops::Body &b) {
  if (a.values.size() != b.values.size() ||
      a.forward.size() != b.forward.size() ||
      a.inputs.size() != b.inputs.size() ||
      a.outputs.size() != b.outputs.size())
    return false;
  for (ops::ValueId id : a.values.ids()) {
    const ops::Value &x = a.values[id], &y = b.values[id];
    if (x.dims != y.dims || x.kind != y.kind || x.weight != y.weight ||
        x.route != y.route)
      return false;
  }
  for (std::size_t i = 0; i < a.forward.size(); ++i)
    if (!sameOp(a.forward[i], b.forward[i]))
      return false;
  const auto samePorts = [](const auto &x, const auto &y) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i].slot != y[i].slot || x[i].value != y[i].value)
        return false;
    return true;
  };
  return samePorts(a.inputs, b.inputs) && samePorts(a.outputs, b.outputs);
}

bool sameOrder(const ops::Model &a, const ops::Model &b) {
  if (a.segments.size() != b.segments.size() ||
      a.bodies.size() != b.bodies.size() || a.loss != b.loss)
    return false;
  for (std::size_t i = 0; i < a.segments.size(); ++i)
    if (a.segments[i].isRepeat != b.segments[i].isRepeat ||
        a.segments[i].iterations != b.segments[i].iterations)
      return false;
  for (ops::BodyId id : a.bodies.ids())
    if (!sameBody(a.bodies[id], b.bodies[id]))
      return false;
  return true;
}

} // namespace

bool sameModel(const ops::Model &a, const ops::Model &b) {
  return sameDims(a, b) && sameWeights(a, b) && sameUserOps(a, b) &&
         sameOrder(a, b);
}

void addModel(const sema::Module &module, std::vector<Setting> &out) {
  const OriginId origin = module.plan.origin;
  for (const sema::ModelArgument &argument : module.arguments)
    out.push_back({"model." + argument.name, argument.value, "", origin,
                   Setting::Role::Model});
}

std::vector<Setting> settingsOf(const sema::Module &module) {
  std::vector<Setting> out;
  addModel(module, out);
  out.push_back({"accelerators", fmt::format("{}", module.accelerators), "",
                 module.plan.origin, Setting::Role::Count});
  addPlan(module, out);
  const hardware::Cluster cluster = sema::groundOf(module).cluster;
  for (const ClusterField &field : fieldsOf(cluster))
    out.push_back({field.key, field.text(cluster), "", OriginId(),
                   Setting::Role::Machine});
  return out;
}

} // namespace planc::compare
