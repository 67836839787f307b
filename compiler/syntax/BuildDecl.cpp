#include "compiler/syntax/AstBuilder.h"

#include "compiler/diag/Kinds.h"

namespace planc::syntax {

using diag::Kind;
using source::SourceSpan;

void AstBuilder::language(PlanParser::LanguageLineContext *context,
                          bool isFirst, ast::File &file) {
  SourceSpan span = spanOf(context);
  if (!isFirst)
    emitter_.report(span, Kind::LanguageNotFirst,
                    "`language` stands once, first in a file");
  SourceSpan version = spanOf(context->NUMBER());
  if (text(version) != "1")
    emitter_
        .report(version, Kind::UnknownLanguage,
                "version {} of the language is not known", text(version))
        .note("this planc knows version 1");
  file.languageVersion = 1;
}

const ast::Decl *AstBuilder::decl(PlanParser::TopLevelContext *context) {
  if (auto *c = dynamic_cast<PlanParser::ImportStandardContext *>(context))
    return importDecl(c);
  if (auto *c = dynamic_cast<PlanParser::ImportFileContext *>(context))
    return importDecl(c);
  if (auto *c = dynamic_cast<PlanParser::LetDeclContext *>(context)) {
    auto *node = make<ast::LetDecl>(c);
    node->name = name(c->name());
    node->value = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::ParamDeclContext *>(context)) {
    auto *node = make<ast::ParamDecl>(c);
    node->name = name(c->name());
    node->defaultValue = expr(c->expr(0));
    node->domain = c->expr(1) ? expr(c->expr(1)) : nullptr;
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::AcceleratorDeclContext *>(context)) {
    auto *node = make<ast::AcceleratorDecl>(c);
    node->name = name(c->name());
    node->fields = fields(c->fieldBlock());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::ClusterDeclContext *>(context))
    return clusterDecl(c);
  if (auto *c = dynamic_cast<PlanParser::BlockDeclContext *>(context))
    return blockDecl(c);
  if (auto *c = dynamic_cast<PlanParser::OpDeclContext *>(context))
    return opDecl(c);
  if (auto *c = dynamic_cast<PlanParser::ModelDeclContext *>(context))
    return modelDecl(c);
  if (auto *c = dynamic_cast<PlanParser::ModelInstanceContext *>(context))
    return modelInstance(c);
  if (auto *c = dynamic_cast<PlanParser::PlanDeclContext *>(context))
    return planDecl(c);
  if (auto *c = dynamic_cast<PlanParser::TargetDeclContext *>(context))
    return targetDecl(c);
  return planVariant(dynamic_cast<PlanParser::PlanVariantContext *>(context));
}

const ast::Decl *
AstBuilder::importDecl(PlanParser::ImportStandardContext *context) {
  auto *node = make<ast::ImportDecl>(context);
  node->path = qualified(context->qualifiedName());
  node->targetSpan = node->path.span;
  node->alias = name(context->name());
  return node;
}

const ast::Decl *
AstBuilder::importDecl(PlanParser::ImportFileContext *context) {
  auto *node = make<ast::ImportDecl>(context);
  node->isFile = true;
  node->targetSpan = spanOf(context->TEXT());
  node->file = unquoted(node->targetSpan);
  node->alias = name(context->name());
  return node;
}

const ast::Decl *
AstBuilder::clusterDecl(PlanParser::ClusterDeclContext *context) {
  auto *node = make<ast::ClusterDecl>(context);
  node->name = name(context->name());
  std::vector<ast::Field> plain;
  std::vector<ast::Level> levels;
  for (auto *item : context->clusterBlock()->clusterItem()) {
    if (auto *c = dynamic_cast<PlanParser::ClusterLevelContext *>(item))
      levels.push_back({name(c->name()), expr(c->expr()),
                        fields(c->fieldBlock()), spanOf(c)});
    else if (auto *f = dynamic_cast<PlanParser::ClusterFieldContext *>(item))
      plain.push_back(field(f->field()));
  }
  node->fields = arena_.copy(plain);
  node->levels = arena_.copy(levels);
  return node;
}

const ast::Decl *AstBuilder::blockDecl(PlanParser::BlockDeclContext *context) {
  auto *node = make<ast::BlockDecl>(context);
  node->name = name(context->name());
  node->formals = formals(context->formals());
  node->body = statements(context->statementBlock());
  return node;
}

const ast::Decl *AstBuilder::opDecl(PlanParser::OpDeclContext *context) {
  auto *node = make<ast::OpDecl>(context);
  node->name = name(context->name());
  node->formals = formals(context->formals());
  node->results = each<ast::Dimensions>(context->dimensions(),
                                        [&](auto *c) { return dimensions(c); });
  node->clauses = each<ast::OpClause>(context->opBlock()->opClause(),
                                      [&](auto *c) { return opClause(c); });
  return node;
}

const ast::Decl *AstBuilder::modelDecl(PlanParser::ModelDeclContext *context) {
  auto *node = make<ast::ModelDecl>(context);
  node->name = name(context->name());
  node->formals = formals(context->formals());
  node->body = statements(context->statementBlock());
  return node;
}

const ast::Decl *
AstBuilder::modelInstance(PlanParser::ModelInstanceContext *context) {
  auto *node = make<ast::ModelDecl>(context);
  node->name = name(context->name());
  node->base = reference(context->reference());
  return node;
}

const ast::Decl *AstBuilder::planDecl(PlanParser::PlanDeclContext *context) {
  auto *node = make<ast::PlanDecl>(context);
  node->name = name(context->name());
  node->formals = formals(context->formals());
  node->model = reference(context->reference());
  node->cluster = cluster(context->clusterReference());
  node->clauses = clauses(context->clauseBlock());
  return node;
}

const ast::Decl *
AstBuilder::planVariant(PlanParser::PlanVariantContext *context) {
  auto *node = make<ast::PlanDecl>(context);
  node->name = name(context->name());
  node->formals = formals(context->formals());
  node->base = reference(context->reference());
  if (context->clusterReference())
    node->cluster = cluster(context->clusterReference());
  if (context->clauseBlock())
    node->clauses = clauses(context->clauseBlock());
  return node;
}

const ast::Decl *
AstBuilder::targetDecl(PlanParser::TargetDeclContext *context) {
  auto *node = make<ast::TargetDecl>(context);
  node->name = name(context->name());
  std::vector<ast::Field> plain;
  std::vector<ast::Rule> rules;
  for (auto *item : context->targetBlock()->targetItem()) {
    if (auto *c = dynamic_cast<PlanParser::TargetRuleContext *>(item))
      rules.push_back({name(c->name()), fields(c->fieldBlock()), spanOf(c)});
    else if (auto *f = dynamic_cast<PlanParser::TargetFieldContext *>(item))
      plain.push_back(field(f->field()));
  }
  node->fields = arena_.copy(plain);
  node->rules = arena_.copy(rules);
  return node;
}

std::span<const ast::Formal>
AstBuilder::formals(PlanParser::FormalsContext *context) {
  if (!context)
    return {};
  return each<ast::Formal>(context->formal(),
                           [&](auto *c) { return formal(c); });
}

ast::Formal AstBuilder::formal(PlanParser::FormalContext *context) {
  ast::Formal out;
  out.span = spanOf(context);
  if (auto *c = dynamic_cast<PlanParser::TensorFormalContext *>(context)) {
    out.name = name(c->name());
    out.isTensor = true;
    out.dimensions = dimensions(c->dimensions());
  } else if (auto *v =
                 dynamic_cast<PlanParser::ValueFormalContext *>(context)) {
    out.name = name(v->name());
    out.defaultValue = v->expr() ? expr(v->expr()) : nullptr;
  }
  return out;
}

ast::OpClause AstBuilder::opClause(PlanParser::OpClauseContext *context) {
  ast::OpClause out{};
  out.span = spanOf(context);
  if (auto *o = dynamic_cast<PlanParser::OpInOrderContext *>(context)) {
    out.kind = ast::OpClauseKind::InOrder;
    out.dimensions = names(o->nameList());
  } else if (auto *c =
                 dynamic_cast<PlanParser::OpContractsContext *>(context)) {
    out.kind = ast::OpClauseKind::Contracts;
    out.dimensions = names(c->nameList());
  } else if (auto *g = dynamic_cast<PlanParser::OpGathersContext *>(context)) {
    out.kind = ast::OpClauseKind::Gathers;
    out.dimensions = names(g->nameList());
    out.operand = name(g->name());
  } else if (auto *s = dynamic_cast<PlanParser::OpSavesContext *>(context)) {
    out.kind = ast::OpClauseKind::Saves;
    out.dimensions = names(s->nameList());
  } else if (auto *f = dynamic_cast<PlanParser::OpFieldContext *>(context)) {
    out.kind = ast::OpClauseKind::Field;
    std::vector<ast::Argument> value{{{}, expr(f->expr()), spanOf(f->expr())}};
    out.field = {name(f->name()), arena_.copy(value), out.span};
  }
  return out;
}

ast::ClusterReference
AstBuilder::cluster(PlanParser::ClusterReferenceContext *context) {
  return {
      qualified(context->qualifiedName()),
      context->expr() ? expr(context->expr()) : nullptr,
      each<ast::Argument>(
          context->groupSize(),
          [&](auto *c) {
            return ast::Argument{name(c->name()), expr(c->expr()), spanOf(c)};
          }),
      spanOf(context)};
}

std::span<const ast::Field>
AstBuilder::fields(PlanParser::FieldBlockContext *context) {
  if (!context)
    return {};
  return each<ast::Field>(context->field(), [&](auto *c) { return field(c); });
}

ast::Field AstBuilder::field(PlanParser::FieldContext *context) {
  ast::Field out;
  out.span = spanOf(context);
  if (auto *c = dynamic_cast<PlanParser::PlainFieldContext *>(context)) {
    out.name = name(c->name());
    out.values = arena_.copy(std::vector{fieldValue(c->fieldValue())});
  } else if (auto *k = dynamic_cast<PlanParser::KeyedFieldContext *>(context)) {
    out.name = name(k->name());
    out.values = each<ast::Argument>(k->keyedValue(),
                                     [&](auto *v) { return keyedValue(v); });
    checkDuplicates(out.values);
  }
  return out;
}

ast::Argument AstBuilder::keyedValue(PlanParser::KeyedValueContext *context) {
  ast::Argument out = fieldValue(context->fieldValue());
  out.name = name(context->name());
  out.span = spanOf(context);
  return out;
}

ast::Argument AstBuilder::fieldValue(PlanParser::FieldValueContext *context) {
  const ast::Expr *value = expr(context->expr());
  SourceSpan span = spanOf(context);
  if (auto *a =
          dynamic_cast<PlanParser::AtTailContext *>(context->fieldTail())) {
    auto *node = make<ast::AtExpr>(context);
    node->value = value;
    node->at = expr(a->expr());
    return {{}, node, span};
  }
  if (auto *p =
          dynamic_cast<PlanParser::PerTailContext *>(context->fieldTail())) {
    auto *node = make<ast::PerExpr>(context);
    node->count = value;
    node->time = expr(p->expr(0));
    node->population = p->expr(1) ? expr(p->expr(1)) : nullptr;
    return {{}, node, span};
  }
  return {{}, value, span};
}

std::span<const ast::Statement *const>
AstBuilder::statements(PlanParser::StatementBlockContext *context) {
  auto out = each<const ast::Statement *>(
      context->statement(), [&](auto *c) { return statement(c); });
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    if (out[i]->kind == ast::StatementKind::Return)
      emitter_
          .report(out[i + 1]->span, Kind::UnreachedStatement,
                  "nothing after `return` is reached")
          .label(out[i]->span, "returns here");
  return out;
}

const ast::Statement *
AstBuilder::statement(PlanParser::StatementContext *context) {
  if (auto *c = dynamic_cast<PlanParser::AssignStatementContext *>(context)) {
    auto *node = make<ast::AssignStatement>(c);
    node->targets =
        each<ast::Name>(c->name(), [&](auto *n) { return name(n); });
    node->value = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::LetStatementContext *>(context)) {
    auto *node = make<ast::LetStatement>(c);
    node->name = name(c->name());
    node->value = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::RepeatStatementContext *>(context))
    return repeat(c);
  if (auto *c = dynamic_cast<PlanParser::WeightStatementContext *>(context)) {
    auto *node = make<ast::WeightStatement>(c);
    node->name = name(c->name());
    node->dimensions = dimensions(c->dimensions());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::InputStatementContext *>(context)) {
    auto *node = make<ast::InputStatement>(c);
    node->name = name(c->name());
    node->dimensions = dimensions(c->dimensions());
    return node;
  }
  auto *c = dynamic_cast<PlanParser::ReturnStatementContext *>(context);
  auto *node = make<ast::ReturnStatement>(c);
  node->values = exprs(c->expr());
  return node;
}

const ast::Statement *
AstBuilder::repeat(PlanParser::RepeatStatementContext *context) {
  auto *node = make<ast::RepeatStatement>(context);
  node->count = expr(context->expr());
  node->name = name(context->name(0));
  node->index = name(context->name(1));
  node->body = statements(context->statementBlock());
  return node;
}

} // namespace planc::syntax
