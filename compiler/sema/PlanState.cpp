// Clauses about what is kept where: recomputation, the optimizer, parameters
// gathered and let go, the host's memory, what is trained.
#include "compiler/sema/PlanBuilder.h"

#include "compiler/diag/Kinds.h"
#include "compiler/ops/Paths.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

std::vector<std::string_view> operatorKinds(const ops::Model &model) {
  std::vector<std::string_view> kinds = {"none", "all", "attention", "auto"};
  for (const ops::Body &body : model.bodies)
    for (const ops::Op &op : body.forward)
      if (std::find(kinds.begin(), kinds.end(), ops::toString(op.kind)) ==
          kinds.end())
        kinds.push_back(ops::toString(op.kind));
  return kinds;
}

bool namesOperator(const ops::Model &model, std::string_view path) {
  for (const ops::Body &body : model.bodies)
    for (const ops::Op &op : body.forward)
      if (ops::pathNames(path, op))
        return true;
  return false;
}

} // namespace

// --- recomputation -----------------------------------------------------------

bool PlanBuilder::buildRecompute() {
  if (!text_.recompute)
    return true;
  Recompute &out = plan_.recompute;
  out.clause = originOf(text_.recompute->span);
  bool isSound = true, isAlone = false;
  for (const ast::RecomputeItem &item : text_.recompute->items)
    isSound = addRecompute(item, isAlone) && isSound;
  if (!isAlone || text_.recompute->items.size() == 1)
    return isSound;
  elaboration_.emitter()
      .report(text_.recompute->span, Kind::RecomputeMixed,
              "`none` and `auto` leave nothing more to say")
      .help("write either, or list what is recomputed");
  return false;
}

bool PlanBuilder::addRecompute(const ast::RecomputeItem &item, bool &isAlone) {
  std::string word(item.name.isSimple()
                       ? in(text_.recompute.scope).word(item.name.parts.front())
                       : elaboration_.text(item.name.span));
  isAlone = isAlone || word == "none" || word == "auto";
  RecomputeItem out;
  out.origin = originOf(item.span);
  if (item.layers) {
    out.layers =
        in(text_.recompute.scope).atLeast(*item.layers, "`recompute`", 0);
    if (!out.layers)
      return false;
  }
  if ((word == "none" || word == "auto") && !item.layers) {
    plan_.recompute.isAuto = word == "auto";
    return true;
  }
  out.what = word == "all"         ? RecomputeItem::What::All
             : word == "attention" ? RecomputeItem::What::Attention
                                   : RecomputeItem::What::Named;
  out.path = word;
  if (out.what != RecomputeItem::What::All &&
      !namesOperator(*request_.model, word)) {
    std::vector<std::string_view> kinds = operatorKinds(*request_.model);
    elaboration_.emitter()
        .report(item.name.span, Kind::UnknownWord,
                "`{}` is no recomputation, and no operator of `{}`", word,
                request_.model->name)
        .help("none, all, attention, auto, an operator such as `{}`, or the "
              "path of a block or repeat",
              kinds.back())
        .suggest(item.name.span, diag::nearestName(word, kinds));
    return false;
  }
  plan_.recompute.items.push_back(std::move(out));
  return true;
}

// --- optimizer ---------------------------------------------------------------

/// `none` gives an empty format.
std::optional<std::optional<Precision>>
PlanBuilder::readFormat(const ast::Field &field, Evaluator &evaluator,
                        std::vector<std::string_view> allowed) {
  const ast::Expr *value = singleValue(elaboration_, field);
  auto word = value ? evaluator.word(*value, field.name.text) : std::nullopt;
  auto known =
      word ? oneOf(value->span, "number format", *word, allowed) : std::nullopt;
  if (!known)
    return std::nullopt;
  return precisionFromName(*known);
}

bool PlanBuilder::readClip(const ast::Field &field, Evaluator &evaluator) {
  const ast::Expr *value = singleValue(elaboration_, field);
  auto *none = value ? llvm::dyn_cast<ast::NameExpr>(value) : nullptr;
  if (none && evaluator.word(*none, "`clip`") == "none") {
    plan_.optimizer.clip = 0;
    return true;
  }
  auto norm =
      value ? readNumber(evaluator, *value, "`clip`", {}) : std::nullopt;
  plan_.optimizer.clip = norm.value_or(plan_.optimizer.clip);
  return norm.has_value();
}

bool PlanBuilder::buildOptimizer() {
  if (!text_.optimizer)
    return true;
  Evaluator evaluator = in(text_.optimizer.scope);
  const ast::Name &name = text_.optimizer->name;
  auto kind = oneOf(name.span, "optimizer", evaluator.word(name),
                    {"adamw", "sgd", "adafactor", "muon"});
  if (!kind)
    return false;
  Optimizer &out = plan_.optimizer;
  out.clause = originOf(text_.optimizer->span);
  out.kind = *kind == "sgd"         ? OptimizerKind::Sgd
             : *kind == "adafactor" ? OptimizerKind::Adafactor
             : *kind == "muon"      ? OptimizerKind::Muon
                                    : OptimizerKind::AdamW;
  return readFields(
      elaboration_, "`optimizer`", text_.optimizer->options,
      {{"master",
        [&](const ast::Field &f) {
          auto found =
              readFormat(f, evaluator, {"fp32", "bf16", "fp16", "fp8", "none"});
          if (found)
            out.master = *found;
          return found.has_value();
        }},
       {"moments",
        [&](const ast::Field &f) {
          auto found =
              readFormat(f, evaluator, {"fp32", "bf16", "fp16", "fp8"});
          if (found)
            out.moments = **found;
          return found.has_value();
        }},
       {"clip", [&](const ast::Field &f) { return readClip(f, evaluator); }}});
}

// --- parameters gathered, the host -------------------------------------------

bool PlanBuilder::buildPrefetch(const Said<ast::Clause> &said) {
  auto *clause = llvm::cast<ast::PrefetchClause>(said.node);
  Evaluator evaluator = in(said.scope);
  plan_.prefetchClause = originOf(clause->span);
  Value value = evaluator.valueOrWord(*clause->layers);
  if (value.isPoison())
    return false;
  if (auto *word = value.as<Word>()) {
    plan_.prefetchIsAuto =
        oneOf(clause->layers->span, "number of layers", word->text, {"auto"})
            .has_value();
    return plan_.prefetchIsAuto;
  }
  auto layers = evaluator.atLeast(*clause->layers, "`prefetch`", 0);
  plan_.prefetch = layers.value_or(1);
  return layers.has_value();
}

bool PlanBuilder::buildReshard(const Said<ast::Clause> &said) {
  auto *clause = llvm::cast<ast::ReshardClause>(said.node);
  Evaluator evaluator = in(said.scope);
  std::string_view first = evaluator.word(clause->words[0]);
  bool isAfter = first == "after" && clause->words.size() == 2 &&
                 evaluator.word(clause->words[1]) == "forward";
  plan_.reshardClause = originOf(clause->span);
  if (isAfter)
    return true;
  if (first == "never" && clause->words.size() == 1) {
    plan_.reshard = Reshard::Never;
    return true;
  }
  elaboration_.emitter()
      .report(clause->span, Kind::UnknownWord,
              "`{}` is no time at which parameters are let go",
              elaboration_.text(clause->span))
      .help("`reshard after forward` or `reshard never`");
  return false;
}

bool PlanBuilder::buildOffload(const Said<ast::Clause> &said) {
  auto *clause = llvm::cast<ast::OffloadClause>(said.node);
  Evaluator evaluator = in(said.scope);
  Offload &out = plan_.offload;
  out.clause = originOf(clause->span);
  if (clause->what.size() == 1 && !clause->where.isPresent() &&
      elaboration_.text(clause->what.front().span) == "none")
    return true;
  bool isSound =
      oneOf(clause->where.isPresent() ? clause->where.span : clause->span,
            "place to offload to",
            clause->where.isPresent() ? clause->where.text : "", {"host"})
          .has_value();
  for (const ast::ListedName &listed : clause->what) {
    std::string word(listed.name.isSimple()
                         ? evaluator.word(listed.name.parts.front())
                         : elaboration_.text(listed.name.span));
    auto known = oneOf(listed.span, "state to offload", word,
                       {"optimizer", "activations", "parameters"});
    if (listed.isDropped)
      elaboration_.emitter()
          .report(listed.span, Kind::Unsupported,
                  "`not` drops nothing in `offload`")
          .help("list what is offloaded");
    isSound = isSound && known && !listed.isDropped;
    out.optimizer = out.optimizer || word == "optimizer";
    out.activations = out.activations || word == "activations";
    out.parameters = out.parameters || word == "parameters";
  }
  if (!isSound || request_.cluster->host.memory.value > 0)
    return isSound;
  elaboration_.emitter()
      .report(clause->span, Kind::NoHostMemory,
              "the cluster `{}` states no memory of its hosts",
              request_.cluster->name)
      .help("as in `host_memory 2TiB at 400GB/s`, `host_link 55GB/s`");
  return false;
}

// --- what is trained ---------------------------------------------------------

/// Weights that the paths name, without those that a `not` behind them names;
/// of all where the first is a `not`. A path that names none is reported.
std::optional<std::vector<ops::WeightId>>
PlanBuilder::weightsNamed(std::span<const ast::ListedName> paths) {
  const Table<ops::WeightId, ops::Weight> &weights = request_.model->weights;
  std::vector<std::string_view> names;
  for (const ops::Weight &weight : weights)
    names.push_back(weight.name);
  std::vector<ops::WeightId> out;
  if (!paths.empty() && paths.front().isDropped)
    for (ops::WeightId id : weights.ids())
      out.push_back(id);
  bool isSound = true;
  for (const ast::ListedName &path : paths) {
    std::string_view text = elaboration_.text(path.name.span);
    std::vector<ops::WeightId> meant;
    for (ops::WeightId id : weights.ids())
      if (text == "all" || ops::pathNames(text, weights[id].name))
        meant.push_back(id);
    if (path.isDropped)
      std::erase_if(out, [&](ops::WeightId id) {
        return std::find(meant.begin(), meant.end(), id) != meant.end();
      });
    else
      out.insert(out.end(), meant.begin(), meant.end());
    if (!meant.empty())
      continue;
    elaboration_.emitter()
        .report(path.name.span, Kind::UnknownName,
                "`{}` has no weight `{}`, nor a block or repeat with weights",
                request_.model->name, text)
        .suggest(path.name.span, diag::nearestName(text, names));
    isSound = false;
  }
  return isSound ? std::optional(out) : std::nullopt;
}

bool PlanBuilder::buildTrained(const Said<ast::Clause> &said) {
  auto *train = llvm::dyn_cast<ast::TrainClause>(said.node);
  auto named = weightsNamed(
      train ? train->paths : llvm::cast<ast::FreezeClause>(said.node)->paths);
  if (!named)
    return false;
  for (ops::WeightId id : request_.model->weights.ids()) {
    bool isNamed = std::find(named->begin(), named->end(), id) != named->end();
    bool isKnown = std::find(plan_.frozen.begin(), plan_.frozen.end(), id) !=
                   plan_.frozen.end();
    if (isNamed != (train != nullptr) && !isKnown)
      plan_.frozen.push_back(id);
  }
  if (plan_.frozen.size() < request_.model->weights.size())
    return true;
  elaboration_.emitter()
      .report(said.node->span, Kind::NothingTrained,
              "no weight of `{}` is left to train", request_.model->name)
      .help("`train` lists what is trained, `freeze` what is not");
  return false;
}

} // namespace planc::sema
