// Every field of sema::Plan as a setting. The structured bindings name them
// all: a field that is added does not compile until it is a setting or is said
// to be none.
#include "compiler/compare/Exact.h"
#include "compiler/compare/Settings.h"

#include <fmt/format.h>

namespace planc::compare {

namespace {

using Role = Setting::Role;
using sema::Plan;

std::string_view wordOf(bool holds) { return holds ? "yes" : "no"; }

std::string joined(const std::vector<std::string> &words) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? "" : ", ") + word;
  return out;
}

class Writer {
public:
  Writer(const sema::Module &module, std::vector<Setting> &out)
      : module_(module), plan_(module.plan), out_(out) {}

  void run();

private:
  void add(std::string key, std::string value, OriginId origin) {
    out_.push_back({std::move(key), value, value, origin, Role::Clause});
  }
  /// The clause says nothing of it.
  void addSilent(std::string key, std::string value, OriginId origin) {
    out_.push_back(
        {std::move(key), std::move(value), "", origin, Role::Clause});
  }
  void addFollowing(std::string key, std::string value, OriginId origin) {
    out_.push_back(
        {std::move(key), std::move(value), "", origin, Role::Follows});
  }
  void addFormat(std::string key, std::optional<Precision> format,
                 OriginId origin) {
    if (format)
      add(std::move(key), std::string(toString(*format)), origin);
  }

  void addBatch();
  void addMesh();
  void addLists();
  void addState(std::string_view name, const sema::StateSharding &state);
  void addPipeline();
  void addOrder(const sema::Pipeline &pipeline);
  void addContext();
  void addRecompute();
  void addOptimizer();
  void addPrecision();
  void addKernels();
  void addOverlap();
  void addBucket();
  void addResidence();
  void addExpectations();

  const sema::Module &module_;
  const Plan &plan_;
  std::vector<Setting> &out_;
};

void Writer::run() {
  [[maybe_unused]] const auto &[name, origin, mesh, meshClause, lists, context,
                                optimizerState, gradients, parameters, batch,
                                pipeline, recompute, optimizer, precision,
                                kernels, overlap, bucket, prefetch,
                                prefetchIsAuto, prefetchClause, reshard,
                                reshardClause, offload, frozen, expectations] =
      plan_;
  addBatch();
  addMesh();
  addLists();
  addState("optimizer", optimizerState);
  addState("gradients", gradients);
  addState("parameters", parameters);
  addPipeline();
  addContext();
  addRecompute();
  addOptimizer();
  addPrecision();
  addKernels();
  addOverlap();
  addBucket();
  addResidence();
  if (!module_.target.name.empty())
    out_.push_back({"target", module_.target.name,
                    module_.target.isStandard ? module_.target.name : "",
                    OriginId(), Role::Clause});
  addExpectations();
}

void Writer::addBatch() {
  const auto &[sequences, sequenceLength, micro, microBatches, documents,
               clause] = plan_.batch;
  add("batch.sequences", fmt::format("{}", sequences), clause);
  add("batch.tokens", fmt::format("{}", sequenceLength), clause);
  add("batch.micro", fmt::format("{}", micro), clause);
  if (documents)
    add("batch.documents", fmt::format("{}", *documents), clause);
  addFollowing("batch.microBatches", fmt::format("{}", microBatches), clause);
}

void Writer::addMesh() {
  std::vector<std::string> order;
  for (const sema::Axis &axis : plan_.mesh.axes) {
    const auto &[name, size, origin, isRest] = axis;
    const std::string key = "mesh." + name;
    if (isRest)
      out_.push_back(
          {key, fmt::format("{}", size), "rest", origin, Role::Clause});
    else
      add(key, fmt::format("{}", size), origin);
    order.push_back(name);
  }
  add("mesh.order", joined(order), plan_.meshClause);
}

void Writer::addLists() {
  for (sema::AxisId axis : plan_.lists.ids()) {
    const auto &[list, clause] = plan_.lists[axis];
    std::vector<std::string> words;
    for (const sema::ListedDim &listed : list)
      words.push_back(listed.text);
    if (!words.empty())
      add("shard." + plan_.mesh.axes[axis].name, joined(words), clause);
  }
}

void Writer::addState(std::string_view name, const sema::StateSharding &state) {
  const auto &[axes, clause] = state;
  std::vector<std::string> words;
  for (sema::AxisId axis : axes)
    words.push_back(plan_.mesh.axes[axis].name);
  if (!words.empty())
    add(fmt::format("state.{}", name), joined(words), clause);
}

void Writer::addPipeline() {
  if (!plan_.pipeline)
    return;
  [[maybe_unused]] const auto &[axis, stages, schedule, virtualStages, group,
                                hasPairs, layers, order, orderOrigins, clause,
                                scheduleOrigin, virtualOrigin, layersOrigin,
                                orderOrigin] = *plan_.pipeline;
  add("pipeline.over", plan_.mesh.axes[axis].name, clause);
  const OriginId at = scheduleOrigin.isValid() ? scheduleOrigin : clause;
  const std::string name(schedules::toString(schedule));
  const bool isOwn = schedule == sema::Schedule::Own;
  out_.push_back(
      {"pipeline.schedule", name, isOwn ? "" : name, at, Role::Clause});
  const std::string chunks = fmt::format("{}", virtualStages);
  // Some schedules say themselves how many there are.
  const bool isAsked =
      isOwn ||
      schedules::infoOf(schedule).chunks == schedules::ChunksPerRank::AsAsked ||
      schedules::infoOf(schedule).chunks == schedules::ChunksPerRank::Waves;
  const OriginId said = virtualOrigin.isValid() ? virtualOrigin : clause;
  if (isAsked && (virtualStages != 1 || virtualOrigin.isValid()))
    add("pipeline.virtual", chunks, said);
  else
    addSilent("pipeline.virtual", chunks, said);
  if (group)
    add("pipeline.group", fmt::format("{}", *group), clause);
  if (hasPairs)
    add("pipeline.pairs", "true", clause);
  std::string counts;
  for (std::int64_t count : layers)
    counts += fmt::format("{}{}", counts.empty() ? "[" : ", ", count);
  if (counts.empty())
    addSilent("pipeline.layers", "balanced", clause);
  else
    add("pipeline.layers", counts + "]", layersOrigin);
  addOrder(*plan_.pipeline);
}

void Writer::addOrder(const sema::Pipeline &pipeline) {
  const schedules::PassText how =
      schedules::textOf(pipeline.order, pipeline.virtualStages);
  std::vector<std::string> ranks;
  for (const schedules::Order &rank : pipeline.order)
    ranks.push_back("\"" + schedules::toText(rank, how) + "\"");
  if (!ranks.empty())
    add("pipeline.order", "[" + joined(ranks) + "]", pipeline.orderOrigin);
}

void Writer::addContext() {
  constexpr std::string_view kMethods[] = {"gather", "ring", "ulysses"};
  for (sema::AxisId axis : plan_.context.ids()) {
    const auto &[method, clause] = plan_.context[axis];
    // Gathering is what happens without a word.
    if (method != sema::ContextMethod::Gather)
      add("attention." + plan_.mesh.axes[axis].name,
          std::string(kMethods[static_cast<std::size_t>(method)]), clause);
  }
}

void Writer::addRecompute() {
  const auto &[items, isAuto, clause] = plan_.recompute;
  std::vector<std::string> words;
  for (const sema::RecomputeItem &item : items) {
    [[maybe_unused]] const auto &[what, path, layers, origin] = item;
    words.push_back(layers ? fmt::format("{} for {} layers", path, *layers)
                           : path);
  }
  add("recompute",
      isAuto          ? "auto"
      : words.empty() ? "none"
                      : joined(words),
      clause);
}

void Writer::addOptimizer() {
  constexpr std::string_view kKinds[] = {"adamw", "sgd", "adafactor", "muon"};
  const auto &[kind, master, moments, clip, clause] = plan_.optimizer;
  add("optimizer", std::string(kKinds[static_cast<std::size_t>(kind)]), clause);
  add("optimizer.master", master ? std::string(toString(*master)) : "none",
      clause);
  add("optimizer.moments", std::string(toString(moments)), clause);
  add("optimizer.clip", clip == 0 ? "none" : exact(clip), clause);
}

void Writer::addPrecision() {
  const auto &[compute, logits, parameters, gradients, attention, router,
               dispatch, saved, clause] = plan_.precision;
  addFormat("precision.compute", compute, clause);
  addFormat("precision.attention", attention, clause);
  addFormat("precision.router", router, clause);
  addFormat("precision.logits", logits, clause);
  addFormat("precision.parameters", parameters, clause);
  addFormat("precision.gradients", gradients, clause);
  addFormat("precision.dispatch", dispatch, clause);
  addFormat("precision.saved", saved, clause);
}

void Writer::addKernels() {
  [[maybe_unused]] const auto &[attention, attentionGiven, graphs, loss,
                                modules, unfusedNorm, unfusedAccumulation,
                                unfusedElementwise, keepsGathers, keepsOutputs,
                                gradientsApart, castsGradients,
                                normWeightsApart, blocksLaunches, clause,
                                lossClause] = plan_.kernels;
  const std::string kernel(toString(attention));
  out_.push_back({"kernels.attention", kernel, attentionGiven ? kernel : "",
                  clause, Role::Clause});
  add("kernels.loss",
      std::string(ops::kLossKernelNames[static_cast<std::size_t>(loss)]),
      lossClause.isValid() ? lossClause : clause);
  add("kernels.modules",
      std::string(sema::kModuleNames[static_cast<std::size_t>(modules)]),
      clause);
  add("kernels.graphs", graphs ? "true" : "false", clause);
  for (const sema::KernelChoice &choice : sema::kKernelChoices)
    add(fmt::format("kernels.{}", choice.key),
        std::string(plan_.kernels.*choice.member ? choice.other : choice.usual),
        clause);
}

void Writer::addOverlap() {
  [[maybe_unused]] const auto &[gradients, parameters, pipeline, tensor,
                                context, experts, weights, clause] =
      plan_.overlap;
  for (const sema::OverlapWord &word : sema::kOverlapWords)
    add(fmt::format("overlap.{}", word.name),
        std::string(wordOf(plan_.overlap.*word.member)), clause);
}

void Writer::addBucket() {
  const auto &[kind, size, clause] = plan_.bucket;
  if (kind == sema::BucketKind::Size)
    add("bucket", exact(size), clause);
  for (const sema::BucketWord &word : sema::kBucketWords)
    if (word.kind == kind)
      add("bucket", std::string(word.name), clause);
}

/// What is where when: gathered, let go, on the host, trained.
void Writer::addResidence() {
  add("prefetch",
      plan_.prefetchIsAuto ? "auto" : fmt::format("{}", plan_.prefetch),
      plan_.prefetchClause);
  add("reshard",
      plan_.reshard == sema::Reshard::Never ? "never" : "after forward",
      plan_.reshardClause);
  const auto &[optimizer, activations, parameters, clause] = plan_.offload;
  add("offload.optimizer", std::string(wordOf(optimizer)), clause);
  add("offload.activations", std::string(wordOf(activations)), clause);
  add("offload.parameters", std::string(wordOf(parameters)), clause);
  std::vector<std::string> frozen;
  for (ops::WeightId weight : plan_.frozen)
    frozen.push_back(module_.model.weights[weight].name);
  if (!frozen.empty())
    add("freeze", joined(frozen), OriginId());
}

void Writer::addExpectations() {
  using Comparison = sema::Expectation::Comparison;
  for (const sema::Expectation &expectation : plan_.expectations) {
    [[maybe_unused]] const auto &[metric, argument, comparison, value, text,
                                  origin] = expectation;
    const std::string_view sign = comparison == Comparison::Less        ? "<"
                                  : comparison == Comparison::LessEqual ? "<="
                                  : comparison == Comparison::Greater   ? ">"
                                  : comparison == Comparison::GreaterEqual
                                      ? ">="
                                      : "==";
    const std::string key =
        argument.empty()
            ? fmt::format("expect.{} {}", metric, sign)
            : fmt::format("expect.{}({}) {}", metric, argument, sign);
    out_.push_back({key, expected(metric, value), "", origin, Role::Expected});
  }
}

} // namespace

void addPlan(const sema::Module &module, std::vector<Setting> &out) {
  Writer(module, out).run();
}

} // namespace planc::compare
