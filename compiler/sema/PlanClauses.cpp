// Clauses that say how, not where: kernels, precision, overlap, …
#include "compiler/sema/PlanBuilder.h"

#include "compiler/sema/TargetRules.h"

#include "compiler/diag/Kinds.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

void PlanBuilder::reportUnsupported(SourceSpan span, std::string_view what) {
  elaboration_.emitter().report(span, Kind::Unsupported,
                                "planc does not know {} yet", what);
}

// --- kernels -----------------------------------------------------------------

bool PlanBuilder::buildKernels() {
  bool isSound = true;
  if (!text_.kernels.empty())
    plan_.kernels.clause = originOf(text_.kernelsClause);
  std::vector<std::string_view> keys = {"attention", "loss", "modules",
                                        "graphs"};
  for (const KernelChoice &choice : kKernelChoices)
    keys.push_back(choice.key);
  for (const KeyedEntry &entry : text_.kernels) {
    auto key = oneOf(entry.span, "kernel", entry.key, keys);
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
    plan_.kernels.attention =
        hardware::newestKernel(request_.cluster->accelerator);
  return isSound;
}

std::optional<std::size_t>
PlanBuilder::indexIn(std::span<const std::string_view> names, SourceSpan span,
                     std::string_view what, std::string_view found) {
  const auto known = oneOf(span, what, found, {names.begin(), names.end()});
  if (!known)
    return std::nullopt;
  return static_cast<std::size_t>(
      std::find(names.begin(), names.end(), *known) - names.begin());
}

bool PlanBuilder::setKernel(const KeyedEntry &entry, std::string_view word) {
  SourceSpan span = entry.value->span;
  Kernels &out = plan_.kernels;
  if (entry.key == "loss") {
    const auto at =
        indexIn(ops::kLossKernelNames, span, "kernel of the loss", word);
    out.loss = static_cast<LossKernel>(at.value_or(0));
    out.lossClause = originOf(entry.span);
    return at.has_value();
  }
  for (const KernelChoice &choice : kKernelChoices)
    if (entry.key == choice.key) {
      auto known = oneOf(span, fmt::format("word for `{}`", choice.key), word,
                         {choice.usual, choice.other});
      out.*choice.member = known == choice.other;
      return known.has_value();
    }
  if (entry.key == "modules") {
    const auto at = indexIn(kModuleNames, span, "stack of modules", word);
    out.modules = static_cast<Modules>(at.value_or(0));
    return at.has_value();
  }
  const auto at = indexIn(hardware::kAttentionKernelNames, span,
                          "kernel of attention", word);
  if (!at)
    return false;
  out.attentionGiven = true;
  out.attention = static_cast<AttentionKernel>(*at);
  const hardware::Accelerator &accelerator = request_.cluster->accelerator;
  if (hardware::hasKernel(accelerator, out.attention))
    return true;
  elaboration_.emitter()
      .report(span, Kind::NotOnAccelerator, "`{}` has no kernel {}",
              accelerator.name, word)
      .help("it would be there with its `{}_efficiency`", word);
  return false;
}

// --- overlap and bucket ------------------------------------------------------

bool PlanBuilder::buildOverlap() {
  if (!text_.hasOverlap)
    return true;
  Overlap &out = plan_.overlap;
  std::vector<std::string_view> words;
  for (const OverlapWord &word : kOverlapWords) {
    out.*word.member = false;
    words.push_back(word.name);
  }
  words.push_back("none");
  out.clause = originOf(text_.overlapClause);
  bool isSound = true;
  for (const KeyedEntry &entry : text_.overlap) {
    auto known =
        oneOf(entry.span, "communication to overlap", entry.key, words);
    isSound = isSound && known;
    for (const OverlapWord &word : kOverlapWords)
      if (word.name == entry.key)
        out.*word.member = true;
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
    std::vector<std::string_view> names;
    for (const BucketWord &one : kBucketWords)
      names.push_back(one.name);
    auto known = oneOf(expr.span, "way to make buckets", word->text, names);
    for (const BucketWord &one : kBucketWords)
      if (known && *known == one.name)
        plan_.bucket.kind = one.kind;
    return known.has_value();
  }
  auto size = readNumber(evaluator, expr, "`bucket`", {kBytes, 1});
  if (!size)
    return false;
  plan_.bucket.kind = BucketKind::Size;
  plan_.bucket.size = Bytes(std::llround(*size));
  return true;
}

bool PlanBuilder::buildContext() {
  plan_.context.resize(plan_.mesh.axes.size());
  bool isSound = true;
  for (const ContextEntry &entry : text_.context) {
    const ast::AttentionClause &clause = *entry.clause.node;
    auto axis = axisOf(entry.axis);
    auto known = oneOf(clause.method.span, "way of attention",
                       in(entry.clause.scope).word(clause.method),
                       {"ring", "gather", "ulysses"});
    isSound = isSound && axis && known;
    if (!axis || !known)
      continue;
    plan_.context[*axis] = {*known == "ring"      ? ContextMethod::Ring
                            : *known == "ulysses" ? ContextMethod::Ulysses
                                                  : ContextMethod::Gather,
                            originOf(clause.span)};
  }
  return isSound;
}

// --- others ------------------------------------------------------------------

bool PlanBuilder::checkOthers() {
  bool isSound = true;
  for (const Said<ast::Clause> &clause : text_.others)
    isSound = checkOther(clause) && isSound;
  return isSound;
}

bool PlanBuilder::checkOther(const Said<ast::Clause> &said) {
  const ast::Clause *clause = said.node;
  switch (clause->kind) {
  case ast::ClauseKind::Prefetch:
    return buildPrefetch(said);
  case ast::ClauseKind::Reshard:
    return buildReshard(said);
  case ast::ClauseKind::Offload:
    return buildOffload(said);
  case ast::ClauseKind::Train:
  case ast::ClauseKind::Freeze:
    return buildTrained(said);
  default:
    break;
  }
  if (llvm::isa<ast::TargetClause>(clause)) // its rules: TargetRules.h
    return findTarget(elaboration_, text_).has_value();
  reportUnsupported(clause->span, fmt::format("the clause `{}`",
                                              ast::keywordOf(clause->kind)));
  return false;
}

} // namespace planc::sema
