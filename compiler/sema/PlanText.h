// A plan with its variants merged: which clause counts, and where its names
// are looked up. No value is known yet.
#pragma once

#include "compiler/sema/Evaluate.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace planc::sema {

/// Where the names of a clause are looked up: its plan's file and formals.
struct PlanScope {
  const FileScope *file = nullptr;
  std::shared_ptr<const Locals> locals;
};

/// Something a clause says, with its scope. `clause` is the whole clause.
template <class T> struct Said {
  const T *node = nullptr;
  PlanScope scope;
  source::SourceSpan clause;

  explicit operator bool() const { return node != nullptr; }
  const T *operator->() const { return node; }
};

/// An entry of a clause that merges by key.
struct KeyedEntry {
  std::string key;
  const ast::Expr *value = nullptr; ///< null for a plain word of a list
  PlanScope scope;
  source::SourceSpan span, clause;
};

enum class StateKind : std::uint8_t { Optimizer, Gradients, Parameters };
inline constexpr std::size_t kStateKinds = 3;
std::string_view nameOf(StateKind kind);
std::optional<StateKind> stateFromName(std::string_view name);

/// One axis and the clause that says what it cuts.
struct AxisEntry {
  ast::Name axis;
  Said<ast::ShardClause> clause;
};

/// One axis and the clause that says how attention works over it.
struct ContextEntry {
  ast::Name axis;
  Said<ast::AttentionClause> clause;
};

/// `batch` in parts, since a variant may change one.
struct BatchText {
  Said<ast::BatchClause> size; ///< the clause with the sequences
  Said<ast::Expr> micro, documents;
  source::SourceSpan clause;
};

/// `rack = 64`: what a plan takes of each group of a level.
struct GroupText {
  ast::Name level;
  std::int64_t size = 1;
  source::SourceSpan sizeSpan;
};

struct PlanText {
  std::string name;
  source::SourceSpan span; ///< the name in its own declaration
  bool hasFormals = false; ///< it, or one it varies
  bool isVariant = false;  ///< of another plan
  std::shared_ptr<const ModelInstance> model;
  source::SourceSpan modelSpan;
  ClusterValue cluster;
  std::vector<GroupText> groups;
  source::SourceSpan clusterSpan;

  BatchText batch;
  std::vector<KeyedEntry> mesh, precision, kernels, overlap, expect;
  source::SourceSpan meshClause, precisionClause, kernelsClause, overlapClause;
  bool hasOverlap = false; ///< else the default
  std::vector<AxisEntry> lists;
  std::vector<ContextEntry> context;
  std::array<Said<ast::ShardClause>, kStateKinds> states;
  Said<ast::PipelineClause> pipeline;
  Said<ast::RecomputeClause> recompute;
  Said<ast::OptimizerClause> optimizer;
  Said<ast::BucketClause> bucket;
  /// Clauses that change nothing where they say what holds anyway, and are not
  /// supported else.
  std::vector<Said<ast::Clause>> others;
};

/// The plan of this name and all it varies. Nothing after a report.
std::optional<PlanText> resolvePlan(Elaboration &elaboration, Symbol plan,
                                    source::SourceSpan use);

} // namespace planc::sema
