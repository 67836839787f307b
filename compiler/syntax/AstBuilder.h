// From ANTLR's parse tree of a file without syntax errors to the AST. Reports
// what the grammar lets through so that it can be refused well.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/syntax/TokenFilter.h"

#include "PlanParser.h"

namespace planc::syntax {

using grammar::PlanParser;

class AstBuilder {
public:
  AstBuilder(const TokenPlaces &places, const source::SourceSet &sources,
             ast::Arena &arena, diag::Emitter &emitter)
      : places_(places), sources_(sources), arena_(arena), emitter_(emitter) {}

  ast::File *build(PlanParser::FileContext *file,
                   const std::vector<source::SourceSpan> &comments);

private:
  using Context = antlr4::ParserRuleContext;
  template <class T> using Array = std::span<const T>;

  // ---- Places and pieces (AstBuilder.cpp)
  source::SourceSpan spanOf(const Context *context) const;
  source::SourceSpan spanOf(antlr4::tree::TerminalNode *node) const;
  std::string_view text(source::SourceSpan span) const {
    return sources_.text(span);
  }
  ast::Name name(PlanParser::NameContext *context);
  Array<ast::Name> names(PlanParser::NameListContext *context);
  ast::QualifiedName qualified(PlanParser::QualifiedNameContext *context);
  ast::Dimensions dimensions(PlanParser::DimensionsContext *context);
  std::string_view unquoted(source::SourceSpan span);

  /// A new node of kind T::kKind over the context's text.
  template <class T> T *make(const Context *context) {
    T *node = arena_.make<T>();
    node->kind = T::kKind;
    node->span = spanOf(context);
    return node;
  }
  /// `build` of each context, in order.
  template <class T, class C, class F>
  Array<T> each(const std::vector<C *> &contexts, F build) {
    std::vector<T> out;
    out.reserve(contexts.size());
    for (C *context : contexts)
      out.push_back(build(context));
    return arena_.copy(out);
  }

  // ---- Declarations (BuildDecl.cpp)
  const ast::Decl *decl(PlanParser::TopLevelContext *context);
  const ast::Decl *importDecl(PlanParser::ImportStandardContext *context);
  const ast::Decl *importDecl(PlanParser::ImportFileContext *context);
  const ast::Decl *clusterDecl(PlanParser::ClusterDeclContext *context);
  const ast::Decl *blockDecl(PlanParser::BlockDeclContext *context);
  const ast::Decl *opDecl(PlanParser::OpDeclContext *context);
  const ast::Decl *modelDecl(PlanParser::ModelDeclContext *context);
  const ast::Decl *modelInstance(PlanParser::ModelInstanceContext *context);
  const ast::Decl *planDecl(PlanParser::PlanDeclContext *context);
  const ast::Decl *planVariant(PlanParser::PlanVariantContext *context);
  const ast::Decl *targetDecl(PlanParser::TargetDeclContext *context);
  void language(PlanParser::LanguageLineContext *context, bool isFirst,
                ast::File &file);
  Array<ast::Formal> formals(PlanParser::FormalsContext *context);
  ast::Formal formal(PlanParser::FormalContext *context);
  ast::OpClause opClause(PlanParser::OpClauseContext *context);
  ast::ClusterReference cluster(PlanParser::ClusterReferenceContext *context);
  Array<ast::Field> fields(PlanParser::FieldBlockContext *context);
  ast::Field field(PlanParser::FieldContext *context);
  ast::Argument fieldValue(PlanParser::FieldValueContext *context);
  ast::Argument keyedValue(PlanParser::KeyedValueContext *context);
  Array<const ast::Statement *>
  statements(PlanParser::StatementBlockContext *context);
  const ast::Statement *statement(PlanParser::StatementContext *context);
  const ast::Statement *repeat(PlanParser::RepeatStatementContext *context);

  // ---- Clauses of plans (BuildClause.cpp)
  Array<const ast::Clause *> clauses(PlanParser::ClauseBlockContext *context);
  const ast::Clause *clause(PlanParser::ClauseContext *context);
  const ast::Clause *listClause(PlanParser::ClauseContext *context);
  const ast::Clause *batch(PlanParser::BatchClauseContext *context);
  void batchPart(PlanParser::BatchPartContext *context,
                 ast::BatchClause &clause);
  void batchSize(PlanParser::BatchSizeContext *context,
                 ast::BatchClause &clause);
  const ast::Clause *pipeline(PlanParser::PipelineClauseContext *context);
  const ast::Clause *minimize(PlanParser::MinimizeClauseContext *context);
  const ast::Clause *offload(PlanParser::OffloadClauseContext *context);
  /// Refuses a second value of one part of a clause.
  void setOnce(const ast::Expr *&part, const ast::Expr *value,
               std::string_view what);
  /// Refuses a word that does not count `what` (`sequence` and `sequences`).
  void checkUnit(PlanParser::NameContext *context, std::string_view what);
  ast::Argument meshAxis(PlanParser::MeshAxisContext *context);
  ast::Argument keyedEntry(PlanParser::KeyedEntryContext *context);
  Array<ast::ListedName>
  listed(const std::vector<PlanParser::ListedNameContext *> &contexts);
  ast::RecomputeItem recomputeItem(PlanParser::RecomputeItemContext *context);
  template <class T> T *makeClause(PlanParser::ClauseContext *context) {
    T *node = make<T>(context);
    node->keywordSpan = places_.span(*context->start);
    return node;
  }
  void checkDuplicates(Array<ast::Argument> arguments);

  // ---- Expressions (BuildExpr.cpp)
  const ast::Expr *expr(PlanParser::ExprContext *context);
  const ast::Expr *leaf(PlanParser::ExprContext *context);
  const ast::Expr *prefix(PlanParser::ExprContext *context);
  const ast::Expr *binary(PlanParser::ExprContext *context);
  const ast::Expr *number(PlanParser::ExprContext *context);
  const ast::Expr *quantity(PlanParser::ExprContext *context);
  const ast::Expr *list(PlanParser::ListExprContext *context);
  const ast::Expr *listItem(PlanParser::ListItemContext *context);
  const ast::Expr *index(PlanParser::IndexExprContext *context);
  const ast::Expr *reference(PlanParser::ReferenceContext *context);
  const ast::Expr *call(const Context *context, ast::QualifiedName callee,
                        PlanParser::ArgumentsContext *arguments);
  Array<ast::Argument> arguments(PlanParser::ArgumentsContext *context);
  Array<const ast::Expr *>
  exprs(const std::vector<PlanParser::ExprContext *> &contexts);
  /// Reads digits; reports and gives nothing if they are too large.
  std::optional<std::int64_t> wholeNumber(source::SourceSpan span);
  std::optional<double> realNumber(source::SourceSpan span);

  const TokenPlaces &places_;
  const source::SourceSet &sources_;
  ast::Arena &arena_;
  diag::Emitter &emitter_;
};

} // namespace planc::syntax
