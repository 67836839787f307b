// Values of expressions.
#pragma once

#include "compiler/sema/Elaboration.h"

#include <functional>

namespace planc::sema {

/// What only the body of a model can evaluate.
class TensorHost {
public:
  virtual ~TensorHost() = default;
  /// A variable, a weight in scope or a given tensor.
  virtual std::optional<Value> findTensor(std::string_view name) = 0;
  virtual void addNames(std::vector<std::string_view> &names) const = 0;
  /// A call of an operator, a block or an op.
  virtual Value callTensor(const ast::CallExpr &call) = 0;
  virtual Value declareWeight(const ast::IndexExpr &index) = 0;
  virtual Value joinTensors(const ast::BinaryExpr &expr, const Value &left,
                            const Value &right) = 0;
};

/// Evaluates in one scope: the names of a file, then those of bodies inside it.
/// What is wrong is reported once and gives Poison.
class Evaluator {
public:
  Evaluator(Elaboration &elaboration, const FileScope &file,
            const Locals *locals, TensorHost *host = nullptr)
      : elaboration_(elaboration), file_(&file), locals_(locals), host_(host) {}

  Value evaluate(const ast::Expr &expr);

  // With a type to be met; `what` is the place, as in "`micro`".
  std::optional<std::int64_t> integer(const ast::Expr &expr,
                                      std::string_view what);
  /// An integer of at least `least`.
  std::optional<std::int64_t>
  atLeast(const ast::Expr &expr, std::string_view what, std::int64_t least);
  /// A number of this dimension, in base units.
  std::optional<double> quantity(const ast::Expr &expr, std::string_view what,
                                 Dimension dimension);
  std::optional<bool> boolean(const ast::Expr &expr, std::string_view what);
  /// A word: the value of a constant of this name, else the name itself.
  std::optional<std::string_view> word(const ast::Expr &expr,
                                       std::string_view what);
  /// The same for a name that is no expression.
  std::string_view word(const ast::Name &name);

  /// The value, or the name itself as a word where nothing is called so.
  Value valueOrWord(const ast::Expr &expr);

  /// What an argument is called as a dimension where it is passed by name.
  std::optional<DimensionName> dimensionName(const ast::Expr &expr) const;

  Elaboration &elaboration() { return elaboration_; }
  const FileScope &file() const { return *file_; }
  const Locals *locals() const { return locals_; }

  /// Reports that `value` stands where `expected` should.
  void reportType(source::SourceSpan span, std::string_view what,
                  std::string_view expected, const Value &value);

private:
  Value evaluateInner(const ast::Expr &expr);
  Value evaluateQuantity(const ast::QuantityExpr &expr);
  Value evaluateName(const ast::NameExpr &expr);
  Value evaluateList(const ast::ListExpr &expr);
  Value evaluateRange(const ast::RangeExpr &expr);
  Value evaluateUnary(const ast::UnaryExpr &expr);
  Value evaluateBinary(const ast::BinaryExpr &expr);
  Value evaluateLogic(const ast::BinaryExpr &expr);
  Value evaluateIf(const ast::IfExpr &expr);
  Value evaluateCall(const ast::CallExpr &expr);
  Value evaluateIndex(const ast::IndexExpr &expr);
  Value evaluateFunction(const ast::CallExpr &expr);
  void reportUnknown(const ast::QualifiedName &name);

  Elaboration &elaboration_;
  const FileScope *file_;
  const Locals *locals_;
  TensorHost *host_;
};

/// `left op right` for numbers, lists, words; reports what does not fit.
Value arithmetic(Elaboration &elaboration, const ast::BinaryExpr &expr,
                 const Value &left, const Value &right);
/// A list of these items, within the bounds.
Value makeList(Elaboration &elaboration, std::vector<Value> items,
               source::SourceSpan span);
/// min, max, … of values already known.
Value callFunction(Elaboration &elaboration, const ast::CallExpr &call,
                   const std::vector<Value> &arguments);

/// A formal gets its value. `argument` is the expression, the default where
/// there was none.
struct BoundArgument {
  const ast::Formal *formal = nullptr;
  Value value;
  const ast::Expr *argument = nullptr;
  bool isDefault = false;
};

/// Binds the arguments of a call to formals, in the order of the formals, one
/// `bind` each; defaults see what was bound before (`inside`). False after a
/// report.
struct BindRequest {
  std::string_view callee;
  source::SourceSpan callSpan;
  std::span<const ast::Formal> formals;
  std::span<const ast::Argument> arguments;
};
bool bindArguments(const BindRequest &request, Evaluator &outside,
                   Evaluator &inside,
                   const std::function<void(const BoundArgument &)> &bind);

/// The model of `decl` with these arguments; null after a report.
std::shared_ptr<const ModelInstance>
instantiate(const DeclValue &model, std::span<const ast::Argument> arguments,
            Evaluator &outside, source::SourceSpan span);

} // namespace planc::sema
