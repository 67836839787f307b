#include "compiler/sema/ModulePrinter.h"

#include <fmt/core.h>

#include <iterator>

namespace planc::sema {

namespace {

class Printer {
public:
  explicit Printer(const Module &module) : module_(module) {}

  std::string run() {
    printModel();
    printCluster();
    printPlan();
    return std::move(out_);
  }

private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string dims(const ops::Dims &dims, std::int64_t bar = 0) const;
  std::string names(const ops::Body &body,
                    const std::vector<ops::ValueId> &values) const;
  std::string attributes(const ops::Op &op) const;
  std::string axes(const std::vector<AxisId> &axes) const;
  void printModel();
  void printUserOps();
  void printBody(const ops::Body &body);
  void printCluster();
  void printAccelerator();
  void printPlan();
  void printShard();
  void printPipeline();
  void printHow();
  void printExpectations();

  const Module &module_;
  std::string out_;
};

std::string Printer::dims(const ops::Dims &dims, std::int64_t bar) const {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    bool afterBar = bar != 0 && i == static_cast<std::size_t>(bar);
    text += i == 0 ? "" : afterBar ? " | " : ", ";
    text += ops::fullName(module_.model.dims[dims[i]]);
  }
  return text + "]";
}

std::string Printer::names(const ops::Body &body,
                           const std::vector<ops::ValueId> &values) const {
  std::string text;
  for (ops::ValueId value : values)
    text += (text.empty() ? "%" : ", %") + body.values[value].name;
  return text;
}

std::string Printer::attributes(const ops::Op &op) const {
  std::string text;
  if (op.attributes.causal)
    text += " causal";
  if (op.attributes.window)
    text += fmt::format(" window {}", *op.attributes.window);
  if (op.attributes.dropout > 0)
    text += fmt::format(" dropout {}", op.attributes.dropout);
  if (op.attributes.userOp.isValid())
    text +=
        fmt::format(" {}", module_.model.userOps[op.attributes.userOp].name);
  return text;
}

// --- model -------------------------------------------------------------------

void Printer::printModel() {
  const ops::Model &model = module_.model;
  std::int64_t all = ops::parameterCount(model);
  std::int64_t active = ops::activeParameterCount(model);
  if (active == all)
    line("model {}: {} parameters", model.name, all);
  else
    line("model {}: {} parameters, {} active", model.name, all, active);
  for (const ops::Dim &dim : model.dims)
    line("  dim {} = {}", ops::fullName(dim), dim.size);
  for (const ops::Weight &weight : model.weights)
    line("  weight {}{} x {}, read {}", weight.name,
         dims(weight.dims, weight.batchDims), weight.instances, weight.fanout);
  for (const ops::Slot &slot : model.slots)
    line("  slot {}{}{}", slot.name, dims(slot.dims),
         slot.given ? " given" : "");
  printUserOps();
  for (const ops::Segment &segment : model.segments) {
    std::string runs;
    // Runs of one body as body x count.
    for (std::size_t i = 0; i < segment.iterations.size();) {
      std::size_t end = i;
      while (end < segment.iterations.size() &&
             segment.iterations[end] == segment.iterations[i])
        ++end;
      runs += fmt::format("{}{} x {}", runs.empty() ? "" : ", ",
                          model.bodies[segment.iterations[i]].name, end - i);
      i = end;
    }
    line("  segment {}{}", segment.isRepeat ? segment.name + ": " : "", runs);
  }
  for (const ops::Body &body : model.bodies)
    printBody(body);
  const ops::Body &last = model.bodies[model.segments.back().iterations.back()];
  line("  loss %{}", last.values[model.loss].name);
}

void Printer::printUserOps() {
  auto formula = [&](const std::vector<ops::Term> &terms) {
    std::string text;
    for (const ops::Term &term : terms) {
      text += fmt::format("{}{}", text.empty() ? "" : " + ", term.coefficient);
      for (ops::DimId dim : term.factors)
        text += "*" + ops::fullName(module_.model.dims[dim]);
    }
    return text.empty() ? "0" : text;
  };
  for (const ops::UserOp &op : module_.model.userOps)
    line("  op {} -> {} flops {} bytes {} backward {}", op.name,
         dims(op.result), formula(op.flops), formula(op.bytes), op.backward);
}

void Printer::printBody(const ops::Body &body) {
  line("  body {}", body.name);
  for (const ops::Port &port : body.inputs)
    line("    in  %{} = {}", body.values[port.value].name,
         module_.model.slots[port.slot].name);
  for (const ops::Op &op : body.forward)
    line("    {} = {}({}){} : {} \"{}\"", names(body, op.results),
         ops::toString(op.kind), names(body, op.operands), attributes(op),
         dims(body.values[op.results.front()].dims), op.name);
  for (const ops::Port &port : body.outputs)
    line("    out {} = %{}", module_.model.slots[port.slot].name,
         body.values[port.value].name);
}

// --- cluster -----------------------------------------------------------------

void Printer::printAccelerator() {
  const hardware::Accelerator &a = module_.cluster.accelerator;
  line("accelerator {}", a.name);
  for (const hardware::Peak &peak : a.peaks)
    line("  peak {} = {} FLOP/s", toString(peak.precision), peak.rate.value);
  line("  memory {} B at {} B/s", a.memory.value, a.bandwidth.value);
  line("  units {}, power {} W", a.units, a.watts);
#define PLANC_ACCELERATOR_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                \
  line("  {} {:.9g}", NAME, a.constants.MEMBER);
#include "runtime/hardware/Constants.def"
}

void Printer::printCluster() {
  printAccelerator();
  const hardware::Cluster &cluster = module_.cluster;
  line("cluster {}: {} accelerators, {} taken, {} left over", cluster.name,
       // What a plan takes of a group may be all that is kept of it.
       std::max(cluster.size(), module_.accelerators + module_.leftOver),
       module_.accelerators, module_.leftOver);
  for (const hardware::Level &level : cluster.levels) {
    line(
        "  level {} of {}: link {} B/s, latency {} ps, oversubscription {}{}{}",
        level.name, level.of, level.link.value, level.latency.value,
        level.oversubscription,
        level.inNetworkReduction ? ", in-network reduction" : "",
        level.wiring == hardware::Wiring::Torus      ? ", torus"
        : level.wiring == hardware::Wiring::FullMesh ? ", full mesh"
                                                     : "");
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                      \
  line("    {} {:.9g}", NAME, level.constants.MEMBER);
#include "runtime/hardware/Constants.def"
  }
  line("  reserve {} B, price {} USD/h", cluster.reserve.value,
       cluster.pricePerHour);
  if (cluster.host.memory.value > 0)
    line("  host of {}: memory {} B at {} B/s, link {} B/s, latency {} ps",
         cluster.perHost(), cluster.host.memory.value,
         cluster.host.bandwidth.value, cluster.host.link.value,
         cluster.host.latency.value);
  if (cluster.failures)
    line("  failures {} per {} s of {}", cluster.failures->count,
         cluster.failures->seconds, cluster.failures->accelerators);
}

// --- plan --------------------------------------------------------------------

std::string Printer::axes(const std::vector<AxisId> &axes) const {
  std::string text;
  for (AxisId axis : axes)
    text += (text.empty() ? "" : ", ") + module_.plan.mesh.axes[axis].name;
  return text;
}

void Printer::printPlan() {
  const Plan &plan = module_.plan;
  line("plan {}", plan.name);
  line("  batch {} sequences of {} tokens, micro {}: {} micro-batches",
       plan.batch.sequences, plan.batch.sequenceLength, plan.batch.micro,
       plan.batch.microBatches);
  for (const Axis &axis : plan.mesh.axes)
    line("  axis {} = {}", axis.name, axis.size);
  printShard();
  printPipeline();
  printHow();
  printExpectations();
}

void Printer::printShard() {
  const Plan &plan = module_.plan;
  for (AxisId id : plan.mesh.axes.ids()) {
    std::string text;
    for (const ListedDim &listed : plan.lists[id].list) {
      text += (text.empty() ? "" : ", ") + listed.text;
      bool isItself = "[" + listed.text + "]" == dims(listed.dims);
      if (!isItself)
        text += " " + dims(listed.dims);
    }
    if (!text.empty())
      line("  shard {} over {}", text, plan.mesh.axes[id].name);
  }
  if (!plan.optimizerState.axes.empty())
    line("  shard optimizer over {}", axes(plan.optimizerState.axes));
  if (!plan.gradients.axes.empty())
    line("  shard gradients over {}", axes(plan.gradients.axes));
  if (!plan.parameters.axes.empty())
    line("  shard parameters over {}", axes(plan.parameters.axes));
}

void Printer::printPipeline() {
  if (!module_.plan.pipeline)
    return;
  const Pipeline &p = *module_.plan.pipeline;
  std::string layers;
  for (std::int64_t count : p.layers)
    layers += fmt::format("{}{}", layers.empty() ? "" : ", ", count);
  line("  pipeline over {}: {} stages, schedule {}, virtual {}, group {}, "
       "layers {}",
       module_.plan.mesh.axes[p.axis].name, p.stages,
       schedules::toString(p.schedule), p.virtualStages,
       p.group ? fmt::format("{}", *p.group) : "auto",
       layers.empty() ? "balanced" : "[" + layers + "]");
}

void Printer::printHow() {
  const Plan &plan = module_.plan;
  std::string recompute = plan.recompute.isAuto ? "auto" : "";
  for (const RecomputeItem &item : plan.recompute.items)
    recompute += fmt::format(
        "{}{}{}", recompute.empty() ? "" : ", ", item.path,
        item.layers ? fmt::format(" for {} layers", *item.layers) : "");
  line("  recompute {}", recompute.empty() ? "none" : recompute);
  constexpr std::string_view kOptimizers[] = {"adamw", "sgd", "adafactor",
                                              "muon"};
  line("  optimizer {} master {} moments {} clip {}",
       kOptimizers[static_cast<std::size_t>(plan.optimizer.kind)],
       plan.optimizer.master ? toString(*plan.optimizer.master) : "none",
       toString(plan.optimizer.moments), plan.optimizer.clip);
  line("  prefetch {} reshard {}",
       plan.prefetchIsAuto ? "auto" : std::to_string(plan.prefetch),
       plan.reshard == Reshard::Never ? "never" : "after forward");
  if (plan.offload.any())
    line("  offload{}{}{} to host", plan.offload.optimizer ? " optimizer" : "",
         plan.offload.activations ? " activations" : "",
         plan.offload.parameters ? " parameters" : "");
  for (ops::WeightId weight : plan.frozen)
    line("  frozen {}", module_.model.weights[weight].name);
  const PrecisionPlan &precision = plan.precision;
  line("  precision compute {} attention {} logits {} parameters {} gradients "
       "{}",
       toString(precision.compute),
       toString(precision.attention.value_or(precision.compute)),
       toString(precision.logits), toString(precision.parameters),
       toString(precision.gradients));
  if (precision.router)
    line("  precision router {}", toString(*precision.router));
  if (precision.dispatch)
    line("  precision dispatch {}", toString(*precision.dispatch));
  if (precision.saved)
    line("  precision saved {}", toString(*precision.saved));
  line("  kernels attention {}{} loss {} modules {} graphs {}",
       toString(plan.kernels.attention),
       plan.kernels.attentionGiven ? "" : " (newest)",
       ops::kLossKernelNames[static_cast<std::size_t>(plan.kernels.loss)],
       kModuleNames[static_cast<std::size_t>(plan.kernels.modules)],
       plan.kernels.graphs);
  for (const KernelChoice &choice : kKernelChoices)
    if (plan.kernels.*choice.member)
      line("  kernels {} {}", choice.key, choice.other);
  constexpr std::string_view kMethods[] = {"gather", "ring", "ulysses"};
  for (AxisId axis : plan.context.ids())
    if (plan.context[axis].clause.isValid())
      line("  attention over {} using {}", plan.mesh.axes[axis].name,
           kMethods[static_cast<std::size_t>(plan.context[axis].method)]);
  if (plan.batch.documents)
    line("  documents of {} tokens", *plan.batch.documents);
  std::string overlap;
  for (const OverlapWord &word : kOverlapWords)
    if (plan.overlap.*word.member)
      overlap += fmt::format(" {}", word.name);
  line("  overlap{}", overlap);
  if (plan.bucket.kind == BucketKind::Size)
    line("  bucket {} B", plan.bucket.size.value);
  for (const BucketWord &word : kBucketWords)
    if (plan.bucket.kind == word.kind)
      line("  bucket {}", word.name);
}

void Printer::printExpectations() {
  for (const Expectation &expectation : module_.plan.expectations)
    line("  expect {}: {} {} in base units", expectation.text,
         expectation.metric, expectation.value);
}

} // namespace

std::string printModule(const Module &module) { return Printer(module).run(); }

} // namespace planc::sema
