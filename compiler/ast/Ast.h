// What was written: declarations and statements. Every node has the span of its
// whole text. All nodes of a file that parsed are complete: pointers are never
// null unless said.
#pragma once

#include "compiler/ast/Arena.h"
#include "compiler/ast/Clause.h"
#include "compiler/ast/Expr.h"

#include <string>

namespace planc::ast {

enum class StatementKind : std::uint8_t {
#define PLANC_STATEMENT(Name) Name,
#include "compiler/ast/NodeKinds.def"
};

struct Statement {
  StatementKind kind;
  SourceSpan span;
};

template <StatementKind K> struct StatementOf : Statement {
  static constexpr StatementKind kKind = K;
  static bool classof(const Statement *s) { return s->kind == K; }
};

struct AssignStatement : StatementOf<StatementKind::Assign> {
  std::span<const Name> targets; ///< at least one
  const Expr *value = nullptr;
};

struct WeightStatement : StatementOf<StatementKind::Weight> {
  Name name;
  Dimensions dimensions;
};

struct InputStatement : StatementOf<StatementKind::Input> {
  Name name;
  Dimensions dimensions;
};

struct LetStatement : StatementOf<StatementKind::Let> {
  Name name;
  const Expr *value = nullptr;
};

struct RepeatStatement : StatementOf<StatementKind::Repeat> {
  const Expr *count = nullptr;
  Name name;
  Name index; ///< may be absent
  std::span<const Statement *const> body;
};

/// Last of its block.
struct ReturnStatement : StatementOf<StatementKind::Return> {
  std::span<const Expr *const> values; ///< at least one
};

/// A parameter of a block, op, model or plan: `ffn`, `kv_heads = heads`, or,
/// in a block or op, a tensor `x[batch, seq, hidden]`.
struct Formal {
  Name name;
  bool isTensor = false;
  Dimensions dimensions;              ///< of a tensor
  const Expr *defaultValue = nullptr; ///< may be null
  SourceSpan span;
};

enum class OpClauseKind : std::uint8_t {
#define PLANC_OP_CLAUSE(Name) Name,
#include "compiler/ast/NodeKinds.def"
};

/// One line of an `op`. InOrder, Contracts, Gathers: `dimensions` (and, for
/// Gathers, `operand`). Saves: `dimensions` are the operands kept. Field:
/// `field`, one of `flops`, `bytes`, `backward`.
struct OpClause {
  OpClauseKind kind;
  SourceSpan span;
  std::span<const Name> dimensions;
  Name operand;
  Field field;
};

enum class DeclKind : std::uint8_t {
#define PLANC_DECL(Name) Name,
#include "compiler/ast/NodeKinds.def"
};

/// Base of every declaration. `name` is absent for an import.
struct Decl {
  DeclKind kind;
  SourceSpan span;
  Name name;
};

template <DeclKind K> struct DeclOf : Decl {
  static constexpr DeclKind kKind = K;
  static bool classof(const Decl *d) { return d->kind == K; }
};

/// Either `path` (`std.models.llama`) or `file` ("dir/file.plan").
struct ImportDecl : DeclOf<DeclKind::Import> {
  bool isFile = false;
  QualifiedName path;
  std::string_view file;
  SourceSpan targetSpan; ///< of the path or the text with its quotes
  Name alias;            ///< may be absent
};

struct LetDecl : DeclOf<DeclKind::Let> {
  const Expr *value = nullptr;
};

struct ParamDecl : DeclOf<DeclKind::Param> {
  const Expr *defaultValue = nullptr;
  const Expr *domain = nullptr; ///< list, range, `legal`, a call; may be null
};

struct AcceleratorDecl : DeclOf<DeclKind::Accelerator> {
  std::span<const Field> fields;
};

struct Level {
  Name name;
  const Expr *size = nullptr;
  std::span<const Field> fields;
  SourceSpan span;
};

struct ClusterDecl : DeclOf<DeclKind::Cluster> {
  std::span<const Field> fields; ///< `accelerator X`, `failures …`, …
  std::span<const Level> levels; ///< from the inside out
};

struct BlockDecl : DeclOf<DeclKind::Block> {
  std::span<const Formal> formals;
  std::span<const Statement *const> body;
};

struct OpDecl : DeclOf<DeclKind::Op> {
  std::span<const Formal> formals;
  std::span<const Dimensions> results; ///< at least one
  std::span<const OpClause> clauses;
};

/// `model m(formals) { body }`, or `model m = base(arguments)`: then `base` is
/// a CallExpr, or a NameExpr.
struct ModelDecl : DeclOf<DeclKind::Model> {
  std::span<const Formal> formals;
  const Expr *base = nullptr; ///< null with a body
  std::span<const Statement *const> body;
};

/// `h100_pods[gpus]`, `gb200_nvl72[256, rack = 64]`; without the bracket
/// `count` is null.
struct ClusterReference {
  QualifiedName name; ///< no parts where left out
  const Expr *count = nullptr;
  std::span<const Argument> groups; ///< taken of each group of a level; named
  SourceSpan span;

  bool isPresent() const { return span.isValid(); }
};

/// Three shapes:
/// `plan p(formals) for M on C[n] { clauses }` — `base` null;
/// `plan p = base with { clauses }` — model null, cluster absent;
/// `plan p = base on C[n]` (and `with …` may follow) — model null.
/// `model` and `base` are a NameExpr or a CallExpr.
struct PlanDecl : DeclOf<DeclKind::Plan> {
  std::span<const Formal> formals;
  const Expr *model = nullptr;
  ClusterReference cluster;
  const Expr *base = nullptr;
  std::span<const Clause *const> clauses;
};

/// `rule heads { needs …, says "…", source "…" }`
struct Rule {
  Name name;
  std::span<const Field> fields;
  SourceSpan span;
};

/// What a framework refuses, as data.
struct TargetDecl : DeclOf<DeclKind::Target> {
  std::span<const Field> fields; ///< `version "…"`, `pads vocab = …`
  std::span<const Rule> rules;   ///< in the order written
};

struct Comment {
  SourceSpan span; ///< from `#` to before the line break
};

/// One parsed file.
struct File {
  source::FileId file;
  int languageVersion = 1;
  std::span<const Decl *const> decls; ///< in the order written
  std::span<const Comment> comments;  ///< in the order written
};

/// Deterministic text: one node a line, indented, with `line:column`s left out
/// so that moving text leaves it equal.
std::string printAst(const File &file);

/// An expression as it would be written, on one line, fully parenthesised only
/// where the grammar needs it.
std::string printExpr(const Expr &expr);

} // namespace planc::ast
