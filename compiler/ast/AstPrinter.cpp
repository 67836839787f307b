#include "compiler/ast/Ast.h"
#include "compiler/ast/PrintPieces.h"

#include "llvm/Support/Casting.h"

#include <fmt/format.h>

namespace planc::ast {

using llvm::cast;

namespace {

std::string printListed(const ListedName &item) {
  return fmt::format("{}{}", item.isDropped ? "not " : "",
                     printPath(item.name));
}

std::string printField(const Field &field) {
  return fmt::format("{} {}", field.name.text,
                     joined(field.values, printArgument));
}

std::string printRecompute(const RecomputeItem &item) {
  std::string out = printPath(item.name);
  if (item.layers)
    out += fmt::format(" for {} layers", printExpr(*item.layers));
  return out;
}

std::string printBatch(const BatchClause &batch) {
  std::vector<std::string> parts;
  if (batch.count && batch.unit == BatchUnit::Sequences)
    parts.push_back(fmt::format("{} sequences of {} tokens",
                                printExpr(*batch.count),
                                printExpr(*batch.length)));
  else if (batch.count)
    parts.push_back(fmt::format("{} tokens in sequences of {}",
                                printExpr(*batch.count),
                                printExpr(*batch.length)));
  if (batch.micro)
    parts.push_back(fmt::format("micro {} sequences", printExpr(*batch.micro)));
  if (batch.documents)
    parts.push_back(
        fmt::format("documents of {} tokens", printExpr(*batch.documents)));
  return joined(std::span<const std::string>(parts),
                [](const std::string &part) { return part; });
}

std::string printMinimize(const MinimizeClause &clause) {
  std::string out = printExpr(*clause.metric);
  if (!clause.constraints.empty())
    out += " where " + joined(clause.constraints, printExprPointer);
  return out;
}

std::string printOffload(const OffloadClause &clause) {
  std::string out = joined(clause.what, printListed);
  if (clause.where.isPresent())
    out += fmt::format(" to {}", clause.where.text);
  return out;
}

std::string printWords(std::span<const Name> words) {
  std::string out;
  for (const Name &word : words)
    out += fmt::format("{}{}", out.empty() ? "" : " ", word.text);
  return out;
}

/// A clause without its keyword and the fields in its braces.
std::string printClauseHead(const Clause &clause) {
  switch (clause.kind) {
  case ClauseKind::Batch:
    return printBatch(*cast<BatchClause>(&clause));
  case ClauseKind::Mesh:
    return joined(cast<MeshClause>(&clause)->axes, printArgument);
  case ClauseKind::Shard: {
    auto *shard = cast<ShardClause>(&clause);
    return fmt::format("{} over {}", joined(shard->dimensions, printPath),
                       joined(shard->axes, printName));
  }
  case ClauseKind::Pipeline:
    return fmt::format("over {}", cast<PipelineClause>(&clause)->axis.text);
  case ClauseKind::Attention: {
    auto *attention = cast<AttentionClause>(&clause);
    return fmt::format("over {} using {}", joined(attention->axes, printName),
                       attention->method.text);
  }
  case ClauseKind::Recompute:
    return joined(cast<RecomputeClause>(&clause)->items, printRecompute);
  case ClauseKind::Optimizer:
    return printName(cast<OptimizerClause>(&clause)->name);
  case ClauseKind::Precision:
    return joined(cast<PrecisionClause>(&clause)->entries, printArgument);
  case ClauseKind::Kernels:
    return joined(cast<KernelsClause>(&clause)->entries, printArgument);
  case ClauseKind::Train:
    return joined(cast<TrainClause>(&clause)->paths, printListed);
  case ClauseKind::Freeze:
    return joined(cast<FreezeClause>(&clause)->paths, printListed);
  case ClauseKind::Overlap:
    return joined(cast<OverlapClause>(&clause)->kinds, printListed);
  case ClauseKind::Bucket:
    return printExpr(*cast<BucketClause>(&clause)->value);
  case ClauseKind::Prefetch:
    return printExpr(*cast<PrefetchClause>(&clause)->layers);
  case ClauseKind::Reshard:
    return printWords(cast<ReshardClause>(&clause)->words);
  case ClauseKind::Offload:
    return printOffload(*cast<OffloadClause>(&clause));
  case ClauseKind::Target:
    return printName(cast<TargetClause>(&clause)->name);
  case ClauseKind::Expect:
    return joined(cast<ExpectClause>(&clause)->conditions, printExprPointer);
  case ClauseKind::Minimize:
    return printMinimize(*cast<MinimizeClause>(&clause));
  case ClauseKind::Drop:
    return printName(cast<DropClause>(&clause)->name);
  }
  return "";
}

std::string printFormals(std::span<const Formal> formals) {
  if (formals.empty())
    return "";
  return "(" +
         joined(formals,
                [](const Formal &formal) {
                  std::string out(formal.name.text);
                  if (formal.isTensor)
                    out += printDimensions(formal.dimensions);
                  if (formal.defaultValue)
                    out +=
                        fmt::format(" = {}", printExpr(*formal.defaultValue));
                  return out;
                }) +
         ")";
}

/// Writes declarations, a line a thing, two spaces a level.
class Printer {
public:
  std::string print(const File &file) {
    line(fmt::format("language {}", file.languageVersion));
    for (const Decl *decl : file.decls)
      printDecl(*decl);
    return std::move(out_);
  }

private:
  void line(std::string_view text) {
    out_.append(2 * depth_, ' ').append(text).append("\n");
  }

  template <class F> void indented(F body) {
    ++depth_;
    body();
    --depth_;
  }

  void fields(std::span<const Field> list) {
    indented([&] {
      for (const Field &field : list)
        line(printField(field));
    });
  }

  void printDecl(const Decl &decl) {
    switch (decl.kind) {
    case DeclKind::Import:
      return printImport(*cast<ImportDecl>(&decl));
    case DeclKind::Let:
      return line(fmt::format("let {} = {}", decl.name.text,
                              printExpr(*cast<LetDecl>(&decl)->value)));
    case DeclKind::Param:
      return printParam(*cast<ParamDecl>(&decl));
    case DeclKind::Accelerator:
      line(fmt::format("accelerator {}", decl.name.text));
      return fields(cast<AcceleratorDecl>(&decl)->fields);
    case DeclKind::Cluster:
      return printCluster(*cast<ClusterDecl>(&decl));
    case DeclKind::Block:
      line(fmt::format("block {}{}", decl.name.text,
                       printFormals(cast<BlockDecl>(&decl)->formals)));
      return statements(cast<BlockDecl>(&decl)->body);
    case DeclKind::Op:
      return printOp(*cast<OpDecl>(&decl));
    case DeclKind::Model:
      return printModel(*cast<ModelDecl>(&decl));
    case DeclKind::Plan:
      return printPlan(*cast<PlanDecl>(&decl));
    case DeclKind::Target:
      return printTarget(*cast<TargetDecl>(&decl));
    }
  }

  void printImport(const ImportDecl &import) {
    std::string target =
        import.isFile ? printText(import.file) : printPath(import.path);
    if (import.alias.isPresent())
      target += fmt::format(" as {}", import.alias.text);
    line(fmt::format("import {}", target));
  }

  void printParam(const ParamDecl &param) {
    std::string text = fmt::format("param {} = {}", param.name.text,
                                   printExpr(*param.defaultValue));
    if (param.domain)
      text += fmt::format(" in {}", printExpr(*param.domain));
    line(text);
  }

  void printCluster(const ClusterDecl &cluster) {
    line(fmt::format("cluster {}", cluster.name.text));
    fields(cluster.fields);
    indented([&] {
      for (const Level &level : cluster.levels) {
        line(fmt::format("level {} of {}", level.name.text,
                         printExpr(*level.size)));
        fields(level.fields);
      }
    });
  }

  void printOp(const OpDecl &op) {
    line(fmt::format("op {}{} -> {}", op.name.text, printFormals(op.formals),
                     joined(op.results, printDimensions)));
    indented([&] {
      for (const OpClause &clause : op.clauses)
        line(printOpClause(clause));
    });
  }

  static std::string printOpClause(const OpClause &clause) {
    std::string list = joined(clause.dimensions, printName);
    switch (clause.kind) {
    case OpClauseKind::InOrder:
      return fmt::format("over {} in order", list);
    case OpClauseKind::Contracts:
      return fmt::format("contracts {}", list);
    case OpClauseKind::Gathers:
      return fmt::format("gathers {} of {}", list, clause.operand.text);
    case OpClauseKind::Saves:
      return fmt::format("saves {}", list);
    case OpClauseKind::Field:
      return printField(clause.field);
    }
    return "";
  }

  void printModel(const ModelDecl &model) {
    if (model.base)
      return line(fmt::format("model {} = {}", model.name.text,
                              printExpr(*model.base)));
    line(fmt::format("model {}{}", model.name.text,
                     printFormals(model.formals)));
    statements(model.body);
  }

  static std::string printCluster(const ClusterReference &cluster) {
    std::string out = " on " + printPath(cluster.name);
    if (!cluster.count)
      return out;
    out += '[' + printExpr(*cluster.count);
    for (const Argument &group : cluster.groups)
      out += fmt::format(", {} = {}", group.name.text, printExpr(*group.value));
    return out + ']';
  }

  void printPlan(const PlanDecl &plan) {
    std::string head =
        fmt::format("plan {}{}", plan.name.text, printFormals(plan.formals));
    if (plan.base)
      head += fmt::format(" = {}", printExpr(*plan.base));
    if (plan.model)
      head += fmt::format(" for {}", printExpr(*plan.model));
    if (plan.cluster.isPresent())
      head += printCluster(plan.cluster);
    if (plan.base && !plan.clauses.empty())
      head += " with";
    line(head);
    indented([&] {
      for (const Clause *clause : plan.clauses)
        printClause(*clause);
    });
  }

  void printTarget(const TargetDecl &target) {
    line(fmt::format("target {}", target.name.text));
    fields(target.fields);
    indented([&] {
      for (const Rule &rule : target.rules) {
        line(fmt::format("rule {}", rule.name.text));
        fields(rule.fields);
      }
    });
  }

  void printClause(const Clause &clause) {
    line(fmt::format("{} {}", keywordOf(clause.kind), printClauseHead(clause)));
    if (clause.kind == ClauseKind::Pipeline)
      fields(cast<PipelineClause>(&clause)->options);
    if (clause.kind == ClauseKind::Optimizer)
      fields(cast<OptimizerClause>(&clause)->options);
  }

  void statements(std::span<const Statement *const> list) {
    indented([&] {
      for (const Statement *statement : list)
        printStatement(*statement);
    });
  }

  void printStatement(const Statement &statement) {
    switch (statement.kind) {
    case StatementKind::Assign: {
      auto *assign = cast<AssignStatement>(&statement);
      return line(fmt::format("{} = {}", joined(assign->targets, printName),
                              printExpr(*assign->value)));
    }
    case StatementKind::Weight: {
      auto *weight = cast<WeightStatement>(&statement);
      return line(fmt::format("weight {}{}", weight->name.text,
                              printDimensions(weight->dimensions)));
    }
    case StatementKind::Input: {
      auto *input = cast<InputStatement>(&statement);
      return line(fmt::format("input {}{}", input->name.text,
                              printDimensions(input->dimensions)));
    }
    case StatementKind::Let: {
      auto *let = cast<LetStatement>(&statement);
      return line(
          fmt::format("let {} = {}", let->name.text, printExpr(*let->value)));
    }
    case StatementKind::Repeat:
      return printRepeat(*cast<RepeatStatement>(&statement));
    case StatementKind::Return:
      return line(fmt::format(
          "return {}",
          joined(cast<ReturnStatement>(&statement)->values, printExprPointer)));
    }
  }

  void printRepeat(const RepeatStatement &repeat) {
    std::string head = fmt::format("repeat {} as {}", printExpr(*repeat.count),
                                   repeat.name.text);
    if (repeat.index.isPresent())
      head += fmt::format("({})", repeat.index.text);
    line(head);
    statements(repeat.body);
  }

  std::string out_;
  std::size_t depth_ = 0;
};

} // namespace

std::string printAst(const File &file) { return Printer().print(file); }

} // namespace planc::ast
