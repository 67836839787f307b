#include "compiler/syntax/AstBuilder.h"

#include "compiler/diag/Kinds.h"

#include <map>

namespace planc::syntax {

using diag::Kind;
using source::SourceSpan;

std::span<const ast::Clause *const>
AstBuilder::clauses(PlanParser::ClauseBlockContext *context) {
  return each<const ast::Clause *>(context->clause(),
                                   [&](auto *c) { return clause(c); });
}

const ast::Clause *AstBuilder::clause(PlanParser::ClauseContext *context) {
  if (auto *c = dynamic_cast<PlanParser::BatchClauseContext *>(context))
    return batch(c);
  if (auto *c = dynamic_cast<PlanParser::ShardClauseContext *>(context)) {
    auto *node = makeClause<ast::ShardClause>(c);
    node->dimensions = each<ast::QualifiedName>(
        c->pathList()->qualifiedName(), [&](auto *q) { return qualified(q); });
    node->axes = names(c->nameList());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::PipelineClauseContext *>(context))
    return pipeline(c);
  if (auto *c = dynamic_cast<PlanParser::AttentionClauseContext *>(context)) {
    auto *node = makeClause<ast::AttentionClause>(c);
    node->axes = names(c->nameList());
    node->method = name(c->name());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::OptimizerClauseContext *>(context)) {
    auto *node = makeClause<ast::OptimizerClause>(c);
    node->name = name(c->name());
    node->options = fields(c->fieldBlock());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::BucketClauseContext *>(context)) {
    auto *node = makeClause<ast::BucketClause>(c);
    node->value = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::PrefetchClauseContext *>(context)) {
    auto *node = makeClause<ast::PrefetchClause>(c);
    node->layers = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::MinimizeClauseContext *>(context))
    return minimize(c);
  if (auto *c = dynamic_cast<PlanParser::TargetClauseContext *>(context)) {
    auto *node = makeClause<ast::TargetClause>(c);
    node->name = name(c->name());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::DropClauseContext *>(context)) {
    auto *node = makeClause<ast::DropClause>(c);
    node->name = name(c->name());
    return node;
  }
  return listClause(context);
}

/// Clauses that are a list of one kind of entry.
const ast::Clause *AstBuilder::listClause(PlanParser::ClauseContext *context) {
  if (auto *c = dynamic_cast<PlanParser::MeshClauseContext *>(context)) {
    auto *node = makeClause<ast::MeshClause>(c);
    node->axes = each<ast::Argument>(c->meshAxis(),
                                     [&](auto *a) { return meshAxis(a); });
    checkDuplicates(node->axes);
    return node;
  }
  auto entries = [&](auto *node, auto *c) {
    node->entries = each<ast::Argument>(c->keyedEntry(),
                                        [&](auto *e) { return keyedEntry(e); });
    checkDuplicates(node->entries);
    return node;
  };
  if (auto *c = dynamic_cast<PlanParser::PrecisionClauseContext *>(context))
    return entries(makeClause<ast::PrecisionClause>(c), c);
  if (auto *c = dynamic_cast<PlanParser::KernelsClauseContext *>(context))
    return entries(makeClause<ast::KernelsClause>(c), c);
  if (auto *c = dynamic_cast<PlanParser::RecomputeClauseContext *>(context)) {
    auto *node = makeClause<ast::RecomputeClause>(c);
    node->items = each<ast::RecomputeItem>(
        c->recomputeItem(), [&](auto *i) { return recomputeItem(i); });
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::TrainClauseContext *>(context)) {
    auto *node = makeClause<ast::TrainClause>(c);
    node->paths = listed(c->listedName());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::FreezeClauseContext *>(context)) {
    auto *node = makeClause<ast::FreezeClause>(c);
    node->paths = listed(c->listedName());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::OverlapClauseContext *>(context)) {
    auto *node = makeClause<ast::OverlapClause>(c);
    node->kinds = listed(c->listedName());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::ReshardClauseContext *>(context)) {
    auto *node = makeClause<ast::ReshardClause>(c);
    node->words = each<ast::Name>(c->name(), [&](auto *n) { return name(n); });
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::ExpectClauseContext *>(context)) {
    auto *node = makeClause<ast::ExpectClause>(c);
    node->conditions = exprs(c->expr());
    return node;
  }
  return offload(dynamic_cast<PlanParser::OffloadClauseContext *>(context));
}

const ast::Clause *
AstBuilder::offload(PlanParser::OffloadClauseContext *context) {
  auto *node = makeClause<ast::OffloadClause>(context);
  node->what = listed(context->listedName());
  node->where = name(context->name());
  return node;
}

const ast::Clause *
AstBuilder::pipeline(PlanParser::PipelineClauseContext *context) {
  auto *node = makeClause<ast::PipelineClause>(context);
  node->axis = name(context->name());
  node->options = fields(context->fieldBlock());
  return node;
}

const ast::Clause *
AstBuilder::minimize(PlanParser::MinimizeClauseContext *context) {
  auto *node = makeClause<ast::MinimizeClause>(context);
  auto all = exprs(context->expr());
  node->metric = all.front();
  node->constraints = all.subspan(1);
  return node;
}

const ast::Clause *AstBuilder::batch(PlanParser::BatchClauseContext *context) {
  auto *node = makeClause<ast::BatchClause>(context);
  for (PlanParser::BatchPartContext *part : context->batchPart())
    batchPart(part, *node);
  return node;
}

void AstBuilder::setOnce(const ast::Expr *&part, const ast::Expr *value,
                         std::string_view what) {
  if (part)
    emitter_
        .report(value->span, Kind::DuplicatePart,
                "{} of the batch is given twice", what)
        .label(part->span, "first here");
  part = value;
}

void AstBuilder::checkUnit(PlanParser::NameContext *context,
                           std::string_view what) {
  if (!context)
    return;
  ast::Name unit = name(context);
  if (unit.text == what || unit.text == what.substr(0, what.size() - 1))
    return;
  emitter_
      .report(unit.span, Kind::BatchUnit, "`{}` stands where `{}` should",
              unit.text, what)
      .fix(unit.span, std::string(what));
}

void AstBuilder::batchPart(PlanParser::BatchPartContext *context,
                           ast::BatchClause &clause) {
  if (auto *m = dynamic_cast<PlanParser::BatchMicroContext *>(context)) {
    setOnce(clause.micro, expr(m->expr()), "`micro`");
    checkUnit(m->name(), "sequences");
  } else if (auto *d =
                 dynamic_cast<PlanParser::BatchDocumentsContext *>(context)) {
    setOnce(clause.documents, expr(d->expr()), "`documents`");
    checkUnit(d->name(), "tokens");
  } else if (auto *s = dynamic_cast<PlanParser::BatchSizeContext *>(context)) {
    batchSize(s, clause);
  }
}

void AstBuilder::batchSize(PlanParser::BatchSizeContext *context,
                           ast::BatchClause &clause) {
  setOnce(clause.count, expr(context->expr()), "the size");
  PlanParser::BatchLengthContext *length = context->batchLength();
  if (auto *in = dynamic_cast<PlanParser::LengthInContext *>(length)) {
    clause.unit = ast::BatchUnit::Tokens;
    clause.length = expr(in->expr());
    checkUnit(context->name(), "tokens");
    checkUnit(in->name(0), "sequences");
    checkUnit(in->name(1), "tokens");
  } else if (auto *each =
                 dynamic_cast<PlanParser::LengthEachContext *>(length)) {
    clause.unit = ast::BatchUnit::Sequences;
    clause.length = expr(each->expr());
    checkUnit(context->name(), "sequences");
    checkUnit(each->name(), "tokens");
  }
}

ast::Argument AstBuilder::meshAxis(PlanParser::MeshAxisContext *context) {
  if (auto *r = dynamic_cast<PlanParser::MeshRestContext *>(context)) {
    auto *rest = arena_.make<ast::NameExpr>();
    rest->kind = ast::ExprKind::Name;
    rest->span = spanOf(r->REST());
    rest->name = {arena_.copy(std::vector<ast::Name>{{"rest", rest->span}}),
                  rest->span};
    return {name(r->name()), rest, spanOf(r)};
  }
  if (auto *s = dynamic_cast<PlanParser::MeshSizeContext *>(context))
    return {name(s->name()), expr(s->expr()), spanOf(s)};
  auto *drop = dynamic_cast<PlanParser::MeshDropContext *>(context);
  return {name(drop->name()), nullptr, spanOf(drop)};
}

ast::Argument AstBuilder::keyedEntry(PlanParser::KeyedEntryContext *context) {
  if (auto *v = dynamic_cast<PlanParser::EntryValueContext *>(context))
    return {name(v->name()), expr(v->expr()), spanOf(v)};
  auto *drop = dynamic_cast<PlanParser::EntryDropContext *>(context);
  return {name(drop->name()), nullptr, spanOf(drop)};
}

std::span<const ast::ListedName> AstBuilder::listed(
    const std::vector<PlanParser::ListedNameContext *> &contexts) {
  return each<ast::ListedName>(contexts, [&](auto *c) {
    return ast::ListedName{qualified(c->qualifiedName()), c->NOT() != nullptr,
                           spanOf(c)};
  });
}

ast::RecomputeItem
AstBuilder::recomputeItem(PlanParser::RecomputeItemContext *context) {
  ast::RecomputeItem out;
  out.name = qualified(context->qualifiedName());
  out.span = spanOf(context);
  if (!context->expr())
    return out;
  out.layers = expr(context->expr());
  ast::Name unit = name(context->name());
  if (unit.text != "layers" && unit.text != "layer")
    emitter_
        .report(unit.span, Kind::ExpectedToken,
                "expected `layers` after the number, found `{}`", unit.text)
        .help("it reads `recompute all for N layers`");
  return out;
}

void AstBuilder::checkDuplicates(std::span<const ast::Argument> arguments) {
  std::map<std::string_view, SourceSpan> first;
  for (const ast::Argument &argument : arguments) {
    if (!argument.name.isPresent())
      continue;
    auto [known, isNew] = first.emplace(argument.name.text, argument.name.span);
    if (!isNew)
      emitter_
          .report(argument.name.span, Kind::DuplicateArgument,
                  "`{}` is given twice", argument.name.text)
          .label(known->second, "first here");
  }
}

} // namespace planc::syntax
