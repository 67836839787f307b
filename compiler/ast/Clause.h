// The clauses of a plan. The syntax gives each its shape; which words and
// values are allowed is for sema to say, so clauses of a later version of the
// compiler parse as well.
#pragma once

#include "compiler/ast/Expr.h"

namespace planc::ast {

enum class ClauseKind : std::uint8_t {
#define PLANC_CLAUSE(Name) Name,
#include "compiler/ast/NodeKinds.def"
};

/// The keyword a clause of this kind starts with: `batch`, `mesh`, …, `not`.
std::string_view keywordOf(ClauseKind kind);

/// Base of every clause; `span` is the whole clause.
struct Clause {
  ClauseKind kind;
  SourceSpan span;
  SourceSpan keywordSpan;
};

template <ClauseKind K> struct ClauseOf : Clause {
  static constexpr ClauseKind kKind = K;
  static bool classof(const Clause *c) { return c->kind == K; }
};

/// `name value` or `name key = value, …`. `values` is one entry without a name,
/// or several with names. A value may be an AtExpr or a PerExpr.
struct Field {
  Name name;
  std::span<const Argument> values;
  SourceSpan span;

  bool isKeyed() const { return values.front().name.isPresent(); }
};

/// A path or word in a list; `not path` drops it from the list inherited.
struct ListedName {
  QualifiedName name;
  bool isDropped = false;
  SourceSpan span;
};

/// Which unit the first number of a batch counts.
enum class BatchUnit : std::uint8_t { Sequences, Tokens };

/// `2048 sequences of 8192 tokens`, `16777216 tokens in sequences of 8192`;
/// then, in any order, `micro 1 sequence` and `documents of 4096`. In a `with`
/// the size may be left out: `batch micro 2 sequences`.
struct BatchClause : ClauseOf<ClauseKind::Batch> {
  BatchUnit unit = BatchUnit::Sequences;
  const Expr *count = nullptr;     ///< of `unit`; null where left out
  const Expr *length = nullptr;    ///< tokens a sequence; null with `count`
  const Expr *micro = nullptr;     ///< sequences a micro-batch; may be null
  const Expr *documents = nullptr; ///< tokens a document; may be null
};

/// Outermost axis first. `axis = rest` is an entry whose value is a NameExpr
/// `rest`; `rest` is reserved and no other NameExpr carries it.
struct MeshClause : ClauseOf<ClauseKind::Mesh> {
  std::span<const Argument> axes;
};

struct ShardClause : ClauseOf<ClauseKind::Shard> {
  std::span<const QualifiedName> dimensions; ///< or state: `optimizer` …
  std::span<const Name> axes;
};

/// Options as fields: `schedule X`, `virtual N`, `group N`, `layers balanced`,
/// `layers [5] + 10 * [6]`, `order [ … ]`.
struct PipelineClause : ClauseOf<ClauseKind::Pipeline> {
  Name axis;
  std::span<const Field> options;
};

struct AttentionClause : ClauseOf<ClauseKind::Attention> {
  std::span<const Name> axes;
  Name method; ///< `ring`, `gather`, `ulysses`
};

struct RecomputeItem {
  QualifiedName name;           ///< `none`, `all`, `auto`, operator or path
  const Expr *layers = nullptr; ///< of `for 4 layers`; may be null
  SourceSpan span;
};

struct RecomputeClause : ClauseOf<ClauseKind::Recompute> {
  std::span<const RecomputeItem> items;
};

struct OptimizerClause : ClauseOf<ClauseKind::Optimizer> {
  Name name;
  std::span<const Field> options; ///< `master fp32`, `moments fp32`, `clip 1.0`
};

struct PrecisionClause : ClauseOf<ClauseKind::Precision> {
  std::span<const Argument> entries;
};

struct KernelsClause : ClauseOf<ClauseKind::Kernels> {
  std::span<const Argument> entries;
};

struct TrainClause : ClauseOf<ClauseKind::Train> {
  std::span<const ListedName> paths;
};

struct FreezeClause : ClauseOf<ClauseKind::Freeze> {
  std::span<const ListedName> paths;
};

struct OverlapClause : ClauseOf<ClauseKind::Overlap> {
  std::span<const ListedName> kinds;
};

struct BucketClause : ClauseOf<ClauseKind::Bucket> {
  const Expr *value = nullptr;
};

struct PrefetchClause : ClauseOf<ClauseKind::Prefetch> {
  const Expr *layers = nullptr;
};

/// `never`, or `after forward`.
struct ReshardClause : ClauseOf<ClauseKind::Reshard> {
  std::span<const Name> words; ///< one or two
};

struct OffloadClause : ClauseOf<ClauseKind::Offload> {
  std::span<const ListedName> what;
  Name where; ///< absent after `none`
};

struct TargetClause : ClauseOf<ClauseKind::Target> {
  Name name;
};

/// Comparisons over metrics; in a `with`, `not metric` (a UnaryExpr) drops one.
struct ExpectClause : ClauseOf<ClauseKind::Expect> {
  std::span<const Expr *const> conditions;
};

struct MinimizeClause : ClauseOf<ClauseKind::Minimize> {
  const Expr *metric = nullptr;
  std::span<const Expr *const> constraints;
};

/// `not NAME` as a clause of its own, in a `with`.
struct DropClause : ClauseOf<ClauseKind::Drop> {
  Name name;
};

} // namespace planc::ast
