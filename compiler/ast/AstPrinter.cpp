#include "compiler/ast/Ast.h"

#include "llvm/Support/Casting.h"

#include <fmt/format.h>

namespace planc::ast {

using llvm::cast;

std::string_view keywordOf(ClauseKind kind) {
  switch (kind) {
  case ClauseKind::Batch:
    return "batch";
  case ClauseKind::Mesh:
    return "mesh";
  case ClauseKind::Shard:
    return "shard";
  case ClauseKind::Pipeline:
    return "pipeline";
  case ClauseKind::Attention:
    return "attention";
  case ClauseKind::Recompute:
    return "recompute";
  case ClauseKind::Optimizer:
    return "optimizer";
  case ClauseKind::Precision:
    return "precision";
  case ClauseKind::Train:
    return "train";
  case ClauseKind::Freeze:
    return "freeze";
  case ClauseKind::Kernels:
    return "kernels";
  case ClauseKind::Overlap:
    return "overlap";
  case ClauseKind::Bucket:
    return "bucket";
  case ClauseKind::Prefetch:
    return "prefetch";
  case ClauseKind::Reshard:
    return "reshard";
  case ClauseKind::Offload:
    return "offload";
  case ClauseKind::Target:
    return "target";
  case ClauseKind::Expect:
    return "expect";
  case ClauseKind::Minimize:
    return "minimize";
  case ClauseKind::Drop:
    return "not";
  }
  return "";
}

namespace {

template <class T, class F>
std::string joined(std::span<const T> list, F text) {
  std::string out;
  for (const T &item : list) {
    if (!out.empty())
      out += ", ";
    out += text(item);
  }
  return out;
}

std::string printName(const Name &name) { return std::string(name.text); }

std::string printPath(const QualifiedName &path) {
  std::string out;
  for (const Name &part : path.parts) {
    if (!out.empty())
      out += '.';
    out += part.text;
  }
  return out;
}

std::string printArgument(const Argument &argument) {
  if (argument.isDropped())
    return fmt::format("not {}", argument.name.text);
  if (!argument.name.isPresent())
    return printExpr(*argument.value);
  return fmt::format("{} = {}", argument.name.text, printExpr(*argument.value));
}

std::string printDimensions(const Dimensions &dimensions) {
  std::size_t bar = dimensions.barAt;
  std::string out = "[";
  if (dimensions.hasBar())
    out += joined(dimensions.names.first(bar), printName) + " | ";
  return out + joined(dimensions.names.subspan(bar), printName) + "]";
}

std::string printListed(const ListedName &item) {
  return fmt::format("{}{}", item.isDropped ? "not " : "",
                     printPath(item.name));
}

std::string printField(const Field &field) {
  return fmt::format("{} {}", field.name.text,
                     joined(field.values, printArgument));
}

/// How tightly an expression holds together; the grammar's order.
int tightness(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::At:
  case ExprKind::Per:
    return -1;
  case ExprKind::If:
    return 0;
  case ExprKind::Range:
    return 5;
  case ExprKind::Unary:
    return cast<UnaryExpr>(&expr)->op == UnaryOperator::Not ? 3 : 8;
  case ExprKind::Binary:
    break;
  default:
    return 10;
  }
  switch (cast<BinaryExpr>(&expr)->op) {
  case BinaryOperator::Or:
    return 1;
  case BinaryOperator::And:
    return 2;
  case BinaryOperator::Add:
  case BinaryOperator::Subtract:
    return 6;
  case BinaryOperator::Multiply:
  case BinaryOperator::Divide:
  case BinaryOperator::FloorDivide:
  case BinaryOperator::Modulo:
    return 7;
  case BinaryOperator::Power:
    return 9;
  default:
    return 4;
  }
}

std::string operand(const Expr &expr, int least) {
  std::string text = printExpr(expr);
  return tightness(expr) < least ? fmt::format("({})", text) : text;
}

std::string printReal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string printText(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out + "\"";
}

std::string printBinary(const BinaryExpr &binary) {
  int own = tightness(binary);
  // Only `**` groups from the right; comparisons do not chain at all.
  bool fromRight = binary.op == BinaryOperator::Power;
  bool chains = !isComparison(binary.op);
  return fmt::format(
      "{} {} {}", operand(*binary.left, own + (fromRight || !chains)),
      spelling(binary.op), operand(*binary.right, own + !fromRight));
}

std::string printUnary(const UnaryExpr &unary) {
  return fmt::format("{}{}{}", spelling(unary.op),
                     unary.op == UnaryOperator::Not ? " " : "",
                     operand(*unary.operand, tightness(unary)));
}

std::string printPer(const PerExpr &per) {
  std::string out =
      fmt::format("{} per {}", printExpr(*per.count), printExpr(*per.time));
  if (per.population)
    out += fmt::format(" of {}", printExpr(*per.population));
  return out;
}

std::string printQuantity(const QuantityExpr &quantity) {
  if (quantity.isInteger)
    return fmt::format("{}{}", quantity.integer, quantity.unit);
  return fmt::format("{}{}", quantity.value, quantity.unit);
}

std::string printRecompute(const RecomputeItem &item) {
  std::string out = printPath(item.name);
  if (item.layers)
    out += fmt::format(" for {} layers", printExpr(*item.layers));
  return out;
}

auto printExprPointer = [](const Expr *expr) { return printExpr(*expr); };

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
    if (cluster.count)
      out += fmt::format("[{}]", printExpr(*cluster.count));
    return out;
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

std::string printExpr(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Integer:
    return fmt::format("{}", cast<IntegerExpr>(&expr)->value);
  case ExprKind::Real:
    return printReal(cast<RealExpr>(&expr)->value);
  case ExprKind::Quantity:
    return printQuantity(*cast<QuantityExpr>(&expr));
  case ExprKind::Text:
    return printText(cast<TextExpr>(&expr)->value);
  case ExprKind::Bool:
    return cast<BoolExpr>(&expr)->value ? "true" : "false";
  case ExprKind::Name:
    return printPath(cast<NameExpr>(&expr)->name);
  case ExprKind::List:
    return fmt::format("[{}]",
                       joined(cast<ListExpr>(&expr)->items, printExprPointer));
  case ExprKind::Range:
    return fmt::format("{}..{}", operand(*cast<RangeExpr>(&expr)->low, 6),
                       operand(*cast<RangeExpr>(&expr)->high, 6));
  case ExprKind::Unary:
    return printUnary(*cast<UnaryExpr>(&expr));
  case ExprKind::Binary:
    return printBinary(*cast<BinaryExpr>(&expr));
  case ExprKind::If: {
    auto *choice = cast<IfExpr>(&expr);
    return fmt::format("if {} then {} else {}", printExpr(*choice->condition),
                       printExpr(*choice->thenValue),
                       printExpr(*choice->elseValue));
  }
  case ExprKind::Call:
    return fmt::format("{}({})", printPath(cast<CallExpr>(&expr)->callee),
                       joined(cast<CallExpr>(&expr)->arguments, printArgument));
  case ExprKind::Index:
    return fmt::format("{}{}", cast<IndexExpr>(&expr)->name.text,
                       printDimensions(cast<IndexExpr>(&expr)->dimensions));
  case ExprKind::At:
    return fmt::format("{} at {}", printExpr(*cast<AtExpr>(&expr)->value),
                       printExpr(*cast<AtExpr>(&expr)->at));
  case ExprKind::Per:
    return printPer(*cast<PerExpr>(&expr));
  }
  return "";
}

std::string printAst(const File &file) { return Printer().print(file); }

} // namespace planc::ast
