// Clauses that say how, not where: kernels, precision, overlap, …
#include "compiler/sema/PlanBuilder.h"
#include "compiler/sema/TargetRules.h"

#include "compiler/diag/Kinds.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <cmath>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

void PlanBuilder::reportUnsupported(SourceSpan span, std::string_view what) {
  elaboration_.emitter().report(span, Kind::Unsupported,
                                "planc does not know {} yet", what);
}

bool PlanBuilder::buildRecompute() {
  if (!text_.recompute)
    return true;
  plan_.recomputeClause = originOf(text_.recompute->span);
  const ast::RecomputeItem &item = text_.recompute->items.front();
  if (text_.recompute->items.size() > 1 || item.layers) {
    reportUnsupported(text_.recompute->span,
                      "recomputation of several things or of some layers");
    return false;
  }
  std::string_view word =
      item.name.isSimple()
          ? in(text_.recompute.scope).word(item.name.parts.front())
          : elaboration_.text(item.name.span);
  if (word == "none" || word == "all" || word == "attention") {
    plan_.recompute = word == "none"  ? Recompute::None
                      : word == "all" ? Recompute::All
                                      : Recompute::Attention;
    return true;
  }
  // An operator, a repeat or something inside one is meant by its name.
  bool isKnown = word == "auto";
  for (const ops::Body &body : request_.model->bodies)
    for (const ops::Op &op : body.forward)
      isKnown = isKnown || op.name.find(word) != std::string::npos;
  if (isKnown)
    reportUnsupported(item.span, fmt::format("recomputation of `{}`", word));
  else
    oneOf(item.span, "recomputation", word,
          {"none", "all", "attention", "auto"});
  return false;
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
  if (*kind == "adafactor" || *kind == "muon") {
    reportUnsupported(name.span, fmt::format("the optimizer {}", *kind));
    return false;
  }
  out.kind = *kind == "sgd" ? OptimizerKind::Sgd : OptimizerKind::AdamW;
  auto format = [&](const ast::Field &field,
                    bool mayBeNone) -> std::optional<std::optional<Precision>> {
    const ast::Expr *value = singleValue(elaboration_, field);
    auto word = value ? evaluator.word(*value, field.name.text) : std::nullopt;
    if (!word)
      return std::nullopt;
    std::vector<std::string_view> allowed = {"fp32", "bf16", "fp16", "fp8"};
    if (mayBeNone)
      allowed.push_back("none");
    auto known = oneOf(value->span, "number format", *word, allowed);
    if (!known)
      return std::nullopt;
    return precisionFromName(*known);
  };
  return readFields(
      elaboration_, "`optimizer`", text_.optimizer->options,
      {{"master",
        [&](const ast::Field &f) {
          auto found = format(f, true);
          if (found)
            out.master = *found;
          return found.has_value();
        }},
       {"moments",
        [&](const ast::Field &f) {
          auto found = format(f, false);
          if (found)
            out.moments = **found;
          return found.has_value();
        }},
       {"clip", [&](const ast::Field &f) {
          const ast::Expr *value = singleValue(elaboration_, f);
          auto *none = value ? llvm::dyn_cast<ast::NameExpr>(value) : nullptr;
          if (none && evaluator.word(*none, "`clip`") == "none") {
            out.clip = 0;
            return true;
          }
          auto norm = value ? readNumber(evaluator, *value, "`clip`", {})
                            : std::nullopt;
          out.clip = norm.value_or(out.clip);
          return norm.has_value();
        }}});
}

// --- precision and kernels ---------------------------------------------------

bool PlanBuilder::checkPeak(Precision precision, SourceSpan span) {
  const hardware::Accelerator &accelerator = request_.cluster->accelerator;
  if (accelerator.peak(precision))
    return true;
  std::string formats;
  for (const hardware::Peak &peak : accelerator.peaks)
    formats +=
        (formats.empty() ? "" : ", ") + std::string(toString(peak.precision));
  elaboration_.emitter()
      .report(span, Kind::NotOnAccelerator, "`{}` has no peak for {}",
              accelerator.name, toString(precision))
      .help("it has {}", formats);
  return false;
}

bool PlanBuilder::buildPrecision() {
  bool isSound = true;
  PrecisionPlan &out = plan_.precision;
  if (!text_.precision.empty())
    out.clause = originOf(text_.precisionClause);
  SourceSpan computeSpan = text_.clusterSpan;
  for (const KeyedEntry &entry : text_.precision) {
    auto key = oneOf(entry.span, "part with a precision", entry.key,
                     {"compute", "attention", "router", "logits", "parameters",
                      "gradients"});
    auto word = in(entry.scope).word(*entry.value, "a precision");
    auto known = word ? oneOf(entry.value->span, "number format", *word,
                              {"fp32", "bf16", "fp16", "fp8"})
                      : std::nullopt;
    if (!key || !known) {
      isSound = false;
      continue;
    }
    Precision precision = *precisionFromName(*known);
    if (*key == "compute") {
      out.compute = precision;
      computeSpan = entry.span;
    } else if (*key == "attention") {
      out.attention = precision;
      isSound = checkPeak(precision, entry.span) && isSound;
    } else if (*key == "logits") {
      out.logits = precision;
    } else if (*key == "parameters") {
      out.parameters = precision;
    } else if (*key == "gradients") {
      out.gradients = precision;
    } else {
      reportUnsupported(entry.span, "the precision of a router");
      isSound = false;
    }
  }
  return checkPeak(out.compute, computeSpan) && isSound;
}

bool PlanBuilder::buildKernels() {
  bool isSound = true;
  if (!text_.kernels.empty())
    plan_.kernels.clause = originOf(text_.kernelsClause);
  for (const KeyedEntry &entry : text_.kernels) {
    auto key = oneOf(entry.span, "kernel", entry.key,
                     {"attention", "norm", "loss", "graphs"});
    if (!key) {
      isSound = false;
    } else if (*key == "graphs") {
      auto on = in(entry.scope).boolean(*entry.value, "`graphs`");
      plan_.kernels.graphs = on.value_or(false);
      isSound = isSound && on;
    } else {
      auto word = in(entry.scope).word(*entry.value, "a kernel");
      isSound = word && setKernel(entry, *word) && isSound;
    }
  }
  if (!plan_.kernels.attentionGiven)
    chooseKernel();
  return isSound;
}

bool PlanBuilder::setKernel(const KeyedEntry &entry, std::string_view word) {
  SourceSpan span = entry.value->span;
  Kernels &out = plan_.kernels;
  if (entry.key == "norm") {
    auto known = oneOf(span, "kernel of norms", word, {"fused", "unfused"});
    out.fusedNorm = known != "unfused";
    return known.has_value();
  }
  if (entry.key == "loss") {
    auto known = oneOf(span, "kernel of the loss", word, {"fused", "eager"});
    out.fusedLoss = known != "eager";
    return known.has_value();
  }
  auto known = oneOf(span, "kernel of attention", word,
                     {"flash2", "flash3", "cudnn", "unfused"});
  if (!known)
    return false;
  out.attentionGiven = true;
  out.attention = *known == "flash2"   ? AttentionKernel::Flash2
                  : *known == "flash3" ? AttentionKernel::Flash3
                  : *known == "cudnn"  ? AttentionKernel::Cudnn
                                       : AttentionKernel::Unfused;
  const hardware::Accelerator &accelerator = request_.cluster->accelerator;
  double efficiency =
      *known == "flash3"   ? accelerator.constants.flash3Efficiency
      : *known == "cudnn"  ? accelerator.constants.cudnnEfficiency
      : *known == "flash2" ? accelerator.constants.flash2Efficiency
                           : 1;
  if (efficiency > 0)
    return true;
  elaboration_.emitter()
      .report(span, Kind::NotOnAccelerator, "`{}` has no kernel {}",
              accelerator.name, *known)
      .help("it would be there with its `{}_efficiency`", *known);
  return false;
}

/// The newest the accelerator has.
void PlanBuilder::chooseKernel() {
  const auto &constants = request_.cluster->accelerator.constants;
  plan_.kernels.attention =
      constants.flash3Efficiency > 0   ? AttentionKernel::Flash3
      : constants.cudnnEfficiency > 0  ? AttentionKernel::Cudnn
      : constants.flash2Efficiency > 0 ? AttentionKernel::Flash2
                                       : AttentionKernel::Unfused;
}

// --- overlap and bucket ------------------------------------------------------

bool PlanBuilder::buildOverlap() {
  if (!text_.hasOverlap)
    return true;
  Overlap &out = plan_.overlap;
  out = {
      false, false, false, false, false, false, originOf(text_.overlapClause)};
  struct Row {
    std::string_view name;
    bool &on;
  };
  const Row rows[] = {
      {"gradients", out.gradients}, {"parameters", out.parameters},
      {"pipeline", out.pipeline},   {"tensor", out.tensor},
      {"experts", out.experts},     {"context", out.context}};
  bool isSound = true;
  for (const KeyedEntry &entry : text_.overlap) {
    auto known = oneOf(entry.span, "communication to overlap", entry.key,
                       {"gradients", "parameters", "pipeline", "tensor",
                        "experts", "context", "none"});
    isSound = isSound && known;
    for (const Row &row : rows)
      if (row.name == entry.key)
        row.on = true;
  }
  return isSound;
}

bool PlanBuilder::buildBucket() {
  if (!text_.bucket)
    return true;
  Evaluator evaluator = in(text_.bucket.scope);
  const ast::Expr &expr = *text_.bucket->value;
  plan_.bucket.clause = originOf(text_.bucket->span);
  Value value = evaluator.valueOrWord(expr);
  if (value.isPoison())
    return false;
  if (auto *word = value.as<Word>()) {
    auto known = oneOf(expr.span, "way to make buckets", word->text,
                       {"auto", "layer", "one", "ddp", "megatron"});
    if (!known)
      return false;
    plan_.bucket.kind = *known == "auto"    ? BucketKind::Auto
                        : *known == "layer" ? BucketKind::Layer
                        : *known == "one"   ? BucketKind::One
                        : *known == "ddp"   ? BucketKind::Ddp
                                            : BucketKind::Megatron;
    return true;
  }
  auto size = readNumber(evaluator, expr, "`bucket`", {kBytes, 1});
  if (!size)
    return false;
  plan_.bucket.kind = BucketKind::Size;
  plan_.bucket.size = Bytes(std::llround(*size));
  return true;
}

// --- clauses of later versions -----------------------------------------------

bool PlanBuilder::checkOthers() {
  bool isSound = true;
  for (const Said<ast::Clause> &clause : text_.others)
    isSound = checkOther(clause) && isSound;
  return isSound;
}

/// What says only what holds anyway is fine.
bool PlanBuilder::checkOther(const Said<ast::Clause> &said) {
  const ast::Clause *clause = said.node;
  if (auto *attention = llvm::dyn_cast<ast::AttentionClause>(clause)) {
    bool areThere = true;
    for (const ast::Name &axis : attention->axes)
      areThere = axisOf(axis) && areThere;
    auto known = oneOf(attention->method.span, "way of attention",
                       in(said.scope).word(attention->method),
                       {"ring", "gather", "ulysses"});
    if (!areThere || !known)
      return false;
    if (*known == "gather")
      return true;
    reportUnsupported(clause->span, fmt::format("{} attention", *known));
    return false;
  }
  if (auto *offload = llvm::dyn_cast<ast::OffloadClause>(clause);
      offload && offload->what.size() == 1 &&
      elaboration_.text(offload->what.front().span) == "none")
    return true;
  if (auto *reshard = llvm::dyn_cast<ast::ReshardClause>(clause);
      reshard && reshard->words.size() == 2 &&
      reshard->words[0].text == "after" && reshard->words[1].text == "forward")
    return true;
  if (auto *prefetch = llvm::dyn_cast<ast::PrefetchClause>(clause)) {
    auto layers = in(said.scope).atLeast(*prefetch->layers, "`prefetch`", 0);
    if (!layers || *layers == 1)
      return layers.has_value();
  }
  if (llvm::isa<ast::TargetClause>(clause)) // its rules: TargetRules.h
    return findTarget(elaboration_, text_).has_value();
  reportUnsupported(clause->span, fmt::format("the clause `{}`",
                                              ast::keywordOf(clause->kind)));
  return false;
}

} // namespace planc::sema
