#include "compiler/sema/PlanMerger.h"

#include "compiler/diag/Kinds.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace planc::sema {

using ast::ClauseKind;
using diag::Kind;
using source::SourceSpan;

void PlanMerger::merge(std::span<const ast::Clause *const> clauses,
                       const PlanScope &scope) {
  scope_ = scope;
  for (const ast::Clause *clause : clauses) {
    clause_ = clause;
    if (!isRepeated(*clause))
      mergeOne(*clause);
  }
}

bool PlanMerger::isRepeated(const ast::Clause &clause) {
  bool maySeveral =
      clause.kind == ClauseKind::Shard || clause.kind == ClauseKind::Expect ||
      clause.kind == ClauseKind::Drop || clause.kind == ClauseKind::Offload ||
      clause.kind == ClauseKind::Attention;
  if (maySeveral || seen_.insert(clause.kind).second)
    return false;
  elaboration_.emitter()
      .report(clause.keywordSpan, Kind::DuplicateField,
              "a second `{}` in one plan", ast::keywordOf(clause.kind))
      .help("a plan says each thing once; `plan b = a with {{ … }}` varies it");
  return true;
}

void PlanMerger::mergeOne(const ast::Clause &clause) {
  switch (clause.kind) {
  case ClauseKind::Batch:
    return mergeBatch(*llvm::cast<ast::BatchClause>(&clause));
  case ClauseKind::Mesh:
    return mergeMesh(*llvm::cast<ast::MeshClause>(&clause));
  case ClauseKind::Shard:
    return mergeShard(*llvm::cast<ast::ShardClause>(&clause));
  case ClauseKind::Pipeline:
    out_.pipeline = said(*llvm::cast<ast::PipelineClause>(&clause));
    return;
  case ClauseKind::Recompute:
    out_.recompute = said(*llvm::cast<ast::RecomputeClause>(&clause));
    return;
  case ClauseKind::Optimizer:
    out_.optimizer = said(*llvm::cast<ast::OptimizerClause>(&clause));
    return;
  case ClauseKind::Precision:
    return mergeKeyed(out_.precision, out_.precisionClause,
                      llvm::cast<ast::PrecisionClause>(&clause)->entries);
  case ClauseKind::Kernels:
    return mergeKeyed(out_.kernels, out_.kernelsClause,
                      llvm::cast<ast::KernelsClause>(&clause)->entries);
  case ClauseKind::Overlap:
    return mergeOverlap(*llvm::cast<ast::OverlapClause>(&clause));
  case ClauseKind::Bucket:
    out_.bucket = said(*llvm::cast<ast::BucketClause>(&clause));
    return;
  case ClauseKind::Expect:
    return mergeExpect(*llvm::cast<ast::ExpectClause>(&clause));
  case ClauseKind::Drop:
    return dropClause(*llvm::cast<ast::DropClause>(&clause));
  case ClauseKind::Attention:
    return mergeAttention(*llvm::cast<ast::AttentionClause>(&clause));
  case ClauseKind::Train:
  case ClauseKind::Freeze:
  case ClauseKind::Prefetch:
  case ClauseKind::Reshard:
  case ClauseKind::Offload:
  case ClauseKind::Target:
  case ClauseKind::Minimize: {
    // Of those that may stand several times, a variant's first replaces all.
    if (firstOf_.insert(clause.kind).second)
      std::erase_if(out_.others, [&](const Said<ast::Clause> &other) {
        return other->kind == clause.kind;
      });
    out_.others.push_back(said(clause));
    return;
  }
  }
}

void PlanMerger::mergeBatch(const ast::BatchClause &clause) {
  BatchText &batch = out_.batch;
  if (clause.count) {
    batch = BatchText();
    batch.size = said(clause);
  }
  if (clause.micro)
    batch.micro = said(*clause.micro);
  if (clause.documents)
    batch.documents = said(*clause.documents);
  batch.clause = clause.span;
}

/// Replaces what was said of the same axes before.
void PlanMerger::mergeAttention(const ast::AttentionClause &clause) {
  for (const ast::Name &axis : clause.axes) {
    if (!contextSeen_.insert(std::string(axis.text)).second)
      elaboration_.emitter().report(axis.span, Kind::DuplicateField,
                                    "a second `attention` over `{}`",
                                    axis.text);
    std::erase_if(out_.context, [&](const ContextEntry &entry) {
      return entry.axis.text == axis.text;
    });
    out_.context.push_back({axis, said(clause)});
  }
}

// --- shard -------------------------------------------------------------------

void PlanMerger::mergeShard(const ast::ShardClause &clause) {
  std::size_t states = 0;
  for (const ast::QualifiedName &name : clause.dimensions)
    states += name.isSimple() && stateFromName(name.first());
  if (states != 0 && states != clause.dimensions.size()) {
    elaboration_.emitter()
        .report(clause.span, Kind::MixedShard,
                "this clause lists both dimensions and state")
        .help("write two clauses");
    return;
  }
  if (states != 0)
    return mergeState(clause);
  for (const ast::Name &axis : clause.axes)
    mergeAxis(clause, axis);
}

void PlanMerger::mergeAxis(const ast::ShardClause &clause,
                           const ast::Name &axis) {
  auto at = std::find_if(
      out_.lists.begin(), out_.lists.end(),
      [&](const AxisEntry &entry) { return entry.axis.text == axis.text; });
  bool isSecond = !axesSeen_.insert(std::string(axis.text)).second &&
                  at != out_.lists.end();
  if (!isSecond) {
    if (at != out_.lists.end())
      out_.lists.erase(at);
    out_.lists.push_back({axis, said(clause)});
    return;
  }
  const ast::ShardClause &first = *at->clause.node;
  std::string merged;
  std::set<std::string> names;
  for (const ast::ShardClause *each : {&first, &clause})
    for (const ast::QualifiedName &name : each->dimensions) {
      std::string text(elaboration_.text(name.span));
      if (names.insert(text).second)
        merged += (merged.empty() ? "" : ", ") + text;
    }
  elaboration_.emitter()
      .report(clause.span, Kind::AxisListedTwice,
              "`{}` has two lists of dimensions", axis.text)
      .note(first.span, "the first is here")
      .help("one list says which comes first: `shard {} over {}`", merged,
            axis.text)
      .fix(first.span, fmt::format("shard {} over {}", merged, axis.text));
}

void PlanMerger::mergeState(const ast::ShardClause &clause) {
  for (const ast::QualifiedName &name : clause.dimensions) {
    StateKind kind = *stateFromName(name.first());
    auto &state = out_.states[static_cast<std::size_t>(kind)];
    if (!statesSeen_.insert(kind).second) {
      elaboration_.emitter()
          .report(name.span, Kind::DuplicateField, "`{}` is cut by two clauses",
                  name.first())
          .note(state->span, "the first is here")
          .help("name all axes in one: `shard {} over a, b`", name.first());
      continue;
    }
    state = said(clause);
  }
}

// --- what merges by key ------------------------------------------------------

void PlanMerger::put(std::vector<KeyedEntry> &entries, KeyedEntry entry) {
  if (!keysSeen_.insert({&entries, entry.key}).second) {
    elaboration_.emitter().report(entry.span, Kind::DuplicateField,
                                  "`{}` stands twice in one plan", entry.key);
    return;
  }
  auto at = std::find_if(
      entries.begin(), entries.end(),
      [&](const KeyedEntry &other) { return other.key == entry.key; });
  if (at == entries.end())
    entries.push_back(std::move(entry));
  else
    *at = std::move(entry);
}

void PlanMerger::drop(std::vector<KeyedEntry> &entries, std::string_view key,
                      SourceSpan span) {
  std::size_t gone = std::erase_if(
      entries, [&](const KeyedEntry &other) { return other.key == key; });
  if (gone == 0)
    reportNothing(key, span);
}

void PlanMerger::reportNothing(std::string_view name, SourceSpan span) {
  elaboration_.emitter().report(span, Kind::NothingToDrop,
                                "there is no `{}` to drop", name);
}

void PlanMerger::mergeKeyed(std::vector<KeyedEntry> &entries, SourceSpan &place,
                            std::span<const ast::Argument> arguments) {
  for (const ast::Argument &argument : arguments) {
    std::string key(argument.name.text);
    if (argument.isDropped()) {
      drop(entries, key, argument.span);
      if (clause_->kind == ClauseKind::Mesh) { // what it cuts goes with an axis
        std::erase_if(out_.context, [&](const ContextEntry &entry) {
          return entry.axis.text == key;
        });
        std::erase_if(out_.lists, [&](const AxisEntry &entry) {
          return entry.axis.text == key;
        });
      }
    } else if (!argument.name.isPresent())
      elaboration_.emitter().report(argument.span, Kind::TypeMismatch,
                                    "`{}` takes `name = value`",
                                    ast::keywordOf(clause_->kind));
    else
      put(entries, {key, argument.value, scope_, argument.span, clause_->span});
  }
  place = clause_->span;
}

void PlanMerger::mergeMesh(const ast::MeshClause &clause) {
  std::vector<KeyedEntry> before = out_.mesh;
  mergeKeyed(out_.mesh, out_.meshClause, clause.axes);
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < clause.axes.size(); ++i)
    places.emplace(clause.axes[i].name.text, i);
  auto placeOf = [&](const KeyedEntry &entry) {
    auto at = places.find(entry.key);
    return at == places.end() ? clause.axes.size() : at->second;
  };
  bool namesAll = std::all_of(out_.mesh.begin(), out_.mesh.end(),
                              [&](const KeyedEntry &entry) {
                                return placeOf(entry) < clause.axes.size();
                              });
  // Where an axis stands decides how close its members are: all named, in this
  // order; else a new one has no place.
  if (namesAll) {
    std::stable_sort(out_.mesh.begin(), out_.mesh.end(),
                     [&](const KeyedEntry &a, const KeyedEntry &b) {
                       return placeOf(a) < placeOf(b);
                     });
    return;
  }
  std::string all;
  for (const KeyedEntry &entry : out_.mesh)
    all += (all.empty() ? "" : ", ") + entry.key;
  for (const KeyedEntry &entry : out_.mesh) {
    bool isNew = std::none_of(
        before.begin(), before.end(),
        [&](const KeyedEntry &other) { return other.key == entry.key; });
    if (!isNew)
      continue;
    elaboration_.emitter()
        .report(entry.span, Kind::AxisWithoutPlace,
                "`{}` is new here: where does it stand in the mesh?", entry.key)
        .help("name every axis, outermost first ({}), in the order you mean",
              all);
  }
}

void PlanMerger::mergeOverlap(const ast::OverlapClause &clause) {
  // In a variant the words add to those inherited, the default ones too.
  if (!out_.hasOverlap && out_.isVariant)
    for (std::string_view word : {"gradients", "parameters", "pipeline"})
      out_.overlap.push_back(
          {std::string(word), nullptr, scope_, clause.span, clause.span});
  for (const ast::ListedName &listed : clause.kinds) {
    std::string name(
        listed.name.isSimple()
            ? Evaluator(elaboration_, *scope_.file, scope_.locals.get())
                  .word(listed.name.parts.front())
            : elaboration_.text(listed.name.span));
    if (listed.isDropped)
      drop(out_.overlap, name, listed.span);
    else if (name == "none")
      out_.overlap.clear();
    else
      put(out_.overlap, {name, nullptr, scope_, listed.span, clause.span});
  }
  out_.hasOverlap = true;
  out_.overlapClause = clause.span;
}

void PlanMerger::mergeExpect(const ast::ExpectClause &clause) {
  for (const ast::Expr *condition : clause.conditions) {
    auto *unary = llvm::dyn_cast<ast::UnaryExpr>(condition);
    if (unary && unary->op == ast::UnaryOperator::Not) {
      drop(out_.expect, ast::printExpr(*unary->operand), unary->span);
      continue;
    }
    auto *binary = llvm::dyn_cast<ast::BinaryExpr>(condition);
    if (!binary || !ast::isComparison(binary->op)) {
      elaboration_.emitter()
          .report(condition->span, Kind::NotAComparison,
                  "`{}` compares nothing", elaboration_.text(condition->span))
          .help("as in `expect mfu(full) >= 36%`");
      continue;
    }
    putExpectation({ast::printExpr(*binary->left), condition, scope_,
                    condition->span, clause.span});
  }
}

/// A plan may expect several things of one metric; a variant's replace all that
/// was expected of it.
void PlanMerger::putExpectation(KeyedEntry entry) {
  std::string text = ast::printExpr(*entry.value);
  if (!keysSeen_.insert({&out_.expect, text}).second) {
    elaboration_.emitter().report(entry.span, Kind::DuplicateField,
                                  "`{}` stands twice in one plan", text);
    return;
  }
  if (metricsSeen_.insert(entry.key).second)
    std::erase_if(out_.expect, [&](const KeyedEntry &other) {
      return other.key == entry.key;
    });
  out_.expect.push_back(std::move(entry));
}

// --- dropping ----------------------------------------------------------------

bool PlanMerger::dropNamed(std::string_view name) {
  if (auto state = stateFromName(name))
    if (clear(out_.states[static_cast<std::size_t>(*state)]))
      return true;
  if (name == "shard") {
    bool was = !out_.lists.empty();
    out_.lists.clear();
    for (auto &state : out_.states)
      was = clear(state) || was;
    return was;
  }
  if (name == "pipeline")
    return clear(out_.pipeline);
  if (name == "attention") {
    bool was = !out_.context.empty();
    out_.context.clear();
    return was;
  }
  if (name == "recompute")
    return clear(out_.recompute);
  if (name == "optimizer")
    return clear(out_.optimizer);
  if (name == "bucket")
    return clear(out_.bucket);
  if (name == "precision")
    return clear(out_.precision);
  if (name == "kernels")
    return clear(out_.kernels);
  if (name == "expect")
    return clear(out_.expect);
  if (name == "overlap") {
    out_.overlap.clear();
    return std::exchange(out_.hasOverlap, false);
  }
  return std::erase_if(out_.others, [&](const Said<ast::Clause> &other) {
           return ast::keywordOf(other->kind) == name;
         }) != 0;
}

void PlanMerger::dropClause(const ast::DropClause &clause) {
  if (!dropNamed(clause.name.text))
    reportNothing(clause.name.text, clause.name.span);
}

} // namespace planc::sema
