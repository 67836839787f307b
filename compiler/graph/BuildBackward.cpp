#include "compiler/graph/BuildBackward.h"

#include "compiler/graph/ChooseFormats.h"
#include "compiler/graph/FoldElementwise.h"
#include "compiler/ops/Gradient.h"
#include "compiler/ops/Roles.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::graph {
namespace {

using ops::OpKind;
using ops::ValueId;
using ops::ValueKind;
using program::Phase;

class Backward {
public:
  Backward(Body &body, const BackwardRequest &request);
  void build();

private:
  /// What a backward kernel is the mirror of.
  struct Group {
    ops::KernelId kernel; ///< of the forward; none: a kernel of its own
    Phase phase = Phase::InputGradient;
    auto operator<=>(const Group &) const = default;
  };

  const ops::Value &value(ValueId id) const { return body_.forward.values[id]; }
  bool isWanted(ValueId id) const { return request_.flow->wanted[id.index()]; }
  std::string freshName(const std::string &base);
  ValueId addGradient(ValueId of, const std::string &name);
  void emit(ops::Op op, ops::KernelId mirrors);

  void receive();
  void differentiate(std::size_t index);
  ops::GradientRequest describe(const ops::Op &op,
                                const std::vector<ValueId> &arrived) const;
  ValueId sumOf(ValueId of);
  bool areProducts(const std::vector<ValueId> &parts) const;
  std::vector<ValueId> giveResults(const ops::GradientOp &plan,
                                   const ops::Op &forward, ValueId dy);
  void send();
  void sumWeights();

  bool staysInside(ValueId id) const;
  ValueId redone(ValueId id, const ops::Op &forOp, Phase phase);
  void foldKernels();
  void listWeightGradients();
  void listSaved();

  Body &body_;
  const BackwardRequest &request_;
  const std::size_t forwardValues_;
  const Precision held_;
  std::vector<std::vector<ValueId>> parts_; ///< gradient's, by forward value
  std::vector<std::size_t> makers_;         ///< forward operator, by value
  std::vector<bool> inside_;                ///< by forward value
  std::vector<bool> isLogits_;              ///< by forward value
  std::vector<Group> groups_;               ///< by backward operator
  std::map<ValueId, ValueId> again_;        ///< of the gradient being made
  std::set<std::string> names_;
  std::map<ops::WeightId, ValueId> firstRead_, weightSums_;
};

constexpr std::size_t kNone = ~std::size_t{0};

Backward::Backward(Body &body, const BackwardRequest &request)
    : body_(body), request_(request),
      forwardValues_(body.forward.values.size()),
      held_(activationFormat(*request.options)), parts_(forwardValues_),
      makers_(forwardValues_, kNone), inside_(forwardValues_, true),
      isLogits_(forwardValues_, false) {
  const std::vector<ops::Op> &forward = body.forward.forward;
  for (const ops::Value &known : body.forward.values)
    names_.insert(known.name);
  for (std::size_t i = 0; i < forward.size(); ++i) {
    for (ValueId result : forward[i].results)
      makers_[result.index()] = i;
    for (ValueId operand : forward[i].operands) {
      std::size_t maker = makers_[operand.index()];
      if (maker == kNone || forward[maker].kernel != forward[i].kernel)
        inside_[operand.index()] = false;
    }
    if (forward[i].kind == OpKind::CrossEntropy)
      isLogits_[forward[i].operands[0].index()] = true;
  }
  for (const ops::Port &port : body.forward.outputs)
    inside_[port.value.index()] = false;
  if (request.loss.isValid())
    inside_[request.loss.index()] = false;
  for (ValueId id : body.forward.values.ids()) {
    const ops::Value &known = value(id);
    if (known.kind == ValueKind::Weight)
      firstRead_.emplace(known.weight, id);
    bool elementwise =
        makers_[id.index()] != kNone &&
        classOf(forward[makers_[id.index()]].kind) == ops::OpClass::Elementwise;
    if (!elementwise || known.kind == ValueKind::Statistic)
      inside_[id.index()] = false;
  }
}

std::string Backward::freshName(const std::string &base) {
  std::string name = base;
  for (std::size_t copy = 2; !names_.insert(name).second; ++copy)
    name = base + "." + std::to_string(copy);
  return name;
}

/// A gradient has the format of its value, but that of logits and of tokens
/// that travel in a narrow format goes on as an activation's.
ValueId Backward::addGradient(ValueId of, const std::string &name) {
  ops::Value gradient = value(of);
  gradient.name = freshName(name);
  if (gradient.kind == ValueKind::Weight) {
    gradient.kind = ValueKind::WeightGradient;
    gradient.precision = request_.options->gradients;
  } else {
    gradient.kind = ValueKind::Gradient;
    if (isLogits_[of.index()] || isQuantised(gradient.precision))
      gradient.precision = held_;
  }
  return body_.forward.values.add(std::move(gradient));
}

void Backward::emit(ops::Op op, ops::KernelId mirrors) {
  bool own = request_.options->elementwise == GraphOptions::Fusion::Unfused;
  if (request_.options->normWeights == GraphOptions::Fusion::Unfused &&
      (op.kind == ops::OpKind::RmsNormWeightGrad ||
       op.kind == ops::OpKind::LayerNormWeightGrad))
    op.attributes.unfused = true;
  if (op.kind == ops::OpKind::MatMul && op.phase == Phase::WeightGradient)
    op.attributes.unfused =
        request_.options->accumulation == GraphOptions::Fusion::Unfused;
  groups_.push_back({own ? ops::KernelId() : mirrors, op.phase});
  body_.backward.push_back(std::move(op));
}

/// What later bodies and the loss send.
void Backward::receive() {
  const std::vector<ops::Port> &outputs = body_.forward.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!request_.flow->outputs[i])
      continue;
    ValueId of = outputs[i].value;
    ValueId received = addGradient(of, "grad " + value(of).name);
    body_.gradientInputs.push_back({outputs[i].slot, received});
    parts_[of.index()].push_back(received);
  }
  if (!request_.loss.isValid() || !isWanted(request_.loss))
    return;
  ValueId seed =
      addGradient(request_.loss, "grad " + value(request_.loss).name);
  body_.forward.values[seed].kind = ValueKind::Given;
  body_.lossGradient = seed;
  parts_[request_.loss.index()].push_back(seed);
}

bool Backward::areProducts(const std::vector<ValueId> &parts) const {
  return std::all_of(parts.begin(), parts.end(), [&](ValueId part) {
    return std::any_of(
        body_.backward.begin(), body_.backward.end(), [&](const ops::Op &op) {
          return op.kind == OpKind::MatMul && op.results[0] == part;
        });
  });
}

/// The gradient of a value: its contributions, added. Not valid where no
/// gradient arrives.
ValueId Backward::sumOf(ValueId of) {
  const std::vector<ValueId> parts = parts_[of.index()];
  if (parts.size() < 2)
    return parts.empty() ? ValueId() : parts[0];
  std::string name = "grad " + value(of).name;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ops::Value &part = body_.forward.values[parts[i]];
    if (part.name != name)
      continue;
    names_.erase(name);
    part.name = freshName(name + ".1");
  }
  ops::Op op;
  op.kind = OpKind::Add;
  op.name = name;
  op.operands = parts;
  op.attributes.accumulated =
      request_.options->elementwise == GraphOptions::Fusion::Fused &&
      areProducts(parts);
  op.results = {addGradient(of, name)};
  op.origin = value(of).origin;
  bool isWeight = value(of).kind == ValueKind::Weight;
  op.phase = isWeight ? Phase::WeightGradient : Phase::InputGradient;
  ops::ResultRule rule;
  rule.dims = value(of).dims;
  for (ValueId part : parts)
    rule.operands.push_back(ops::mapAll(value(part).dims));
  op.rules = {rule};
  ValueId sum = op.results[0];
  ops::KernelId mirrors;
  if (inside_[of.index()])
    mirrors = body_.forward.forward[makers_[of.index()]].kernel;
  emit(std::move(op), mirrors);
  parts_[of.index()] = {sum};
  return sum;
}

ops::GradientRequest
Backward::describe(const ops::Op &op,
                   const std::vector<ValueId> &arrived) const {
  ops::GradientRequest out;
  out.op = &op;
  if (op.kind == OpKind::User)
    out.userOp = &request_.model->userOps[op.attributes.userOp];
  for (ValueId operand : op.operands) {
    out.operandDims.push_back(value(operand).dims);
    out.isWeight.push_back(value(operand).kind == ValueKind::Weight);
    out.wanted.push_back(isWanted(operand));
  }
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    out.resultDims.push_back(value(op.results[r]).dims);
    out.arrived.push_back(arrived[r].isValid());
  }
  return out;
}

std::vector<ValueId> Backward::giveResults(const ops::GradientOp &plan,
                                           const ops::Op &forward, ValueId dy) {
  std::vector<ValueId> results;
  for (std::size_t target : plan.targets) {
    ValueId of = forward.operands[target];
    if (value(of).kind == ValueKind::Weight)
      of = firstRead_[value(of).weight];
    ValueId result = addGradient(of, "grad " + value(of).name);
    if (plan.kind == OpKind::CombineGrad && request_.options->dispatch)
      body_.forward.values[result].precision = *request_.options->dispatch;
    results.push_back(result);
    if (isWanted(of))
      parts_[of.index()].push_back(result);
  }
  if (plan.targets.empty()) {
    ops::Value between = value(dy);
    between.name = freshName(between.name + " step");
    between.kind = ValueKind::Gradient;
    between.dims = plan.rules[0].dims;
    if (!ops::contains(between.dims, between.route.experts))
      between.route = ops::Route();
    results.push_back(body_.forward.values.add(std::move(between)));
  }
  return results;
}

void Backward::differentiate(std::size_t index) {
  const ops::Op &forward = body_.forward.forward[index];
  if (std::none_of(forward.operands.begin(), forward.operands.end(),
                   [&](ValueId operand) { return isWanted(operand); }))
    return;
  std::vector<ValueId> arrived; // gradients of the results
  for (ValueId result : forward.results)
    arrived.push_back(value(result).kind == ValueKind::Activation
                          ? sumOf(result)
                          : ValueId());
  auto first = std::find_if(arrived.begin(), arrived.end(),
                            [](ValueId id) { return id.isValid(); });
  if (first == arrived.end())
    return;
  const ValueId dy = *first;
  ops::Gradient plan = ops::differentiate(describe(forward, arrived));
  std::vector<ValueId> steps;
  for (const ops::GradientOp &planned : plan.ops) {
    again_.clear();
    ops::Op op;
    op.kind = planned.kind;
    op.attributes = forward.attributes;
    op.attributes.offsets = planned.offsets;
    op.name = forward.name;
    op.phase = planned.phase;
    op.rules = planned.rules;
    op.origin = forward.origin;
    for (const ops::GradientSource &source : planned.operands) {
      using Kind = ops::GradientSource::Kind;
      op.operands.push_back(
          source.kind == Kind::OutputGradient ? arrived[source.index]
          : source.kind == Kind::Operand
              ? redone(forward.operands[source.index], forward, planned.phase)
          : source.kind == Kind::Result
              ? redone(forward.results[source.index], forward, planned.phase)
              : steps[source.index]);
    }
    op.results = giveResults(planned, forward, dy);
    steps.push_back(op.results[0]);
    emit(std::move(op), forward.kernel);
  }
  for (std::size_t operand : plan.passed)
    parts_[forward.operands[operand].index()].push_back(dy);
}

bool Backward::staysInside(ValueId id) const {
  return request_.options->elementwise == GraphOptions::Fusion::Fused &&
         inside_[id.index()];
}

/// The value itself where memory has it, else a copy made again for `forOp`'s
/// gradient.
ValueId Backward::redone(ValueId id, const ops::Op &forOp, Phase phase) {
  if (!staysInside(id))
    return id;
  if (auto known = again_.find(id); known != again_.end())
    return known->second;
  ops::Op op = body_.forward.forward[makers_[id.index()]];
  op.phase = phase;
  op.again = true;
  for (ValueId &operand : op.operands)
    operand = redone(operand, forOp, phase);
  ValueId copy;
  for (ValueId &result : op.results) {
    ops::Value made = value(result);
    made.name = freshName("again " + made.name);
    ValueId added = body_.forward.values.add(std::move(made));
    if (result == id)
      copy = added;
    result = added;
  }
  emit(std::move(op), forOp.kernel);
  again_[id] = copy;
  return copy;
}

/// What earlier bodies receive.
void Backward::send() {
  for (const ops::Port &port : body_.forward.inputs) {
    if (!isWanted(port.value))
      continue;
    ValueId sum = sumOf(port.value);
    if (sum.isValid())
      body_.gradientOutputs.push_back({port.slot, sum});
  }
}

void Backward::sumWeights() {
  for (auto [weight, read] : firstRead_) {
    ValueId sum = sumOf(read);
    if (sum.isValid())
      weightSums_[weight] = sum;
  }
}

void Backward::foldKernels() {
  std::vector<ops::Op> &backward = body_.backward;
  KernelGroups groups(backward);
  std::map<Group, std::vector<std::size_t>> mirrored;
  std::map<ops::KernelId, std::vector<std::size_t>> norms;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (!groups_[i].kernel.isValid())
      continue;
    if (classOf(backward[i].kind) == ops::OpClass::Elementwise)
      mirrored[groups_[i]].push_back(i);
    else if (classOf(backward[i].kind) == ops::OpClass::Row &&
             !backward[i].attributes.unfused)
      norms[groups_[i].kernel].push_back(i);
  }
  for (const auto &[group, members] : mirrored)
    groups.join(members);
  for (const auto &[kernel, members] : norms)
    groups.join(members);
  std::vector<bool> outside(body_.forward.values.size(), false);
  for (const ops::Port &port : body_.gradientOutputs)
    outside[port.value.index()] = true;
  for (const auto &[weight, sum] : weightSums_)
    outside[sum.index()] = true;
  if (request_.options->elementwise == GraphOptions::Fusion::Fused)
    groups.joinNeighbours(outside);
  std::size_t first = 0;
  for (const ops::Op &op : body_.forward.forward)
    first = std::max<std::size_t>(first, op.kernel.index() + 1);
  groups.lay(backward, first);
}

void Backward::listWeightGradients() {
  std::map<ValueId, ops::WeightId> weights;
  for (const auto &[weight, sum] : weightSums_)
    weights[sum] = weight;
  for (const ops::Op &op : body_.backward)
    for (ValueId result : op.results)
      if (auto found = weights.find(result); found != weights.end())
        body_.weightGradients.push_back({found->second, result});
}

void Backward::listSaved() {
  std::set<ValueId> saved;
  for (const ops::Op &op : body_.backward)
    for (ValueId operand : op.operands)
      if (operand.index() < forwardValues_ &&
          value(operand).kind != ValueKind::Weight &&
          value(operand).kind != ValueKind::Given)
        saved.insert(operand);
  body_.saved.assign(saved.begin(), saved.end());
}

void Backward::build() {
  receive();
  for (std::size_t i = body_.forward.forward.size(); i-- > 0;)
    differentiate(i);
  send();
  sumWeights();
  foldKernels();
  listWeightGradients();
  listSaved();
}

} // namespace

void buildBackward(Body &body, const BackwardRequest &request) {
  Backward(body, request).build();
}

} // namespace planc::graph
