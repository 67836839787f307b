// From the text of a model with its formals bound to ops::Model: bodies, slots
// and weights, blocks inlined, equal iterations shared.
#pragma once

#include "compiler/ops/Infer.h"
#include "compiler/sema/Evaluate.h"

#include <map>
#include <memory>
#include <set>

namespace planc::sema {

class ModelBuilder final : public TensorHost {
public:
  static constexpr std::int64_t kMaxIterations = 5'000;
  static constexpr std::int64_t kMaxOperators = 100'000;
  static constexpr int kMaxBlockDepth = 64;

  ModelBuilder(Elaboration &elaboration, const ModelInstance &instance,
               OriginId origin);

  /// Sizes of `batch` and `seq` are left 0. Nothing after a report.
  std::optional<ops::Model> build();

  std::optional<Value> findTensor(std::string_view name) override;
  void addNames(std::vector<std::string_view> &names) const override;
  Value callTensor(const ast::CallExpr &call) override;
  Value declareWeight(const ast::IndexExpr &index) override;
  Value joinTensors(const ast::BinaryExpr &expr, const Value &left,
                    const Value &right) override;

private:
  /// A name that holds a tensor. `current` is its last definition; `slot` is
  /// made when another body reads it.
  struct Variable {
    std::string slotName;
    ops::SlotId slot;
    Tensor current;
    source::SourceSpan span;
  };
  struct WeightEntry {
    ops::WeightId id;
    source::SourceSpan span;
  };
  /// Names of one body, iteration or block. `parent` is around it in the text;
  /// a block starts a chain of its own.
  struct Scope {
    Scope *parent = nullptr;
    std::string path; ///< `decoder.swiglu`
    const FileScope *file = nullptr;
    bool isIteration = false;
    Locals locals;
    std::map<std::string, Variable, std::less<>> variables;
    std::map<std::string, WeightEntry, std::less<>> weights;
    std::map<std::string, int, std::less<>> counts; ///< of local names
  };
  /// A body being made, known by its serial number before it has an id.
  struct OpenBody {
    ops::Body body;
    std::set<std::string> valueNames, opNames;
    std::set<ops::ValueId> named; ///< after a variable
    std::map<ops::WeightId, ops::ValueId> weightValues;
    std::map<ops::SlotId, ops::ValueId> slotInputs;
    std::uint32_t sameAs = 0; ///< serial of the equal one that is kept
  };
  struct OpenSegment {
    ops::Segment segment;
    std::vector<std::uint32_t> serials;
  };
  struct OperatorCall {
    ops::OpKind kind = ops::OpKind::Add;
    ops::Attributes attributes;
    std::vector<Tensor> operands;
    ops::Dims over;
    ops::DimId along;           ///< split, concat
    ops::Dims parts;            ///< split
    std::optional<Tensor> sink; ///< attention: becomes its fourth operand
    source::SourceSpan sinkSpan;
    const ops::UserOp *userOp = nullptr;
    bool weights = true; ///< dispatch: asked for; combine: multiplied in
    std::string name;    ///< local; empty: after the weight or the kind
    bool hasGain = true, hasBias = true; ///< of a norm
    source::SourceSpan span;
    std::vector<source::SourceSpan> operandSpans;
  };

  // ModelBuilder.cpp: statements and the whole.
  Evaluator evaluator();
  bool failed() const;
  std::string join(const std::string &name) const;
  std::string localName(std::string_view name);
  std::optional<Value>
  runStatements(std::span<const ast::Statement *const> statements);
  void runAssign(const ast::AssignStatement &statement);
  void assign(const ast::Name &target, const Value &value,
              const ast::Expr &expr);
  void nameResult(const Tensor &tensor, std::string_view name);
  void runInput(const ast::InputStatement &statement);
  void runLet(const ast::LetStatement &statement);
  Value runReturn(const ast::ReturnStatement &statement);
  std::optional<ops::Model> assemble(const Scope &top);
  bool setLoss(const Scope &top);
  bool checkOneLoss(const ops::Body &body);
  void nameStretches();
  void countReads();
  bool checkParameters();

  // ModelBodies.cpp: bodies, slots and repeats.
  OpenBody &current();
  std::uint32_t openBody();
  void closeStretch();
  ops::ValueId addValue(std::string name, ops::Value value);
  ops::ValueId use(const Tensor &tensor);
  Tensor read(Variable &variable);
  ops::SlotId slotOf(const Tensor &tensor);
  void write(std::uint32_t body, ops::SlotId slot, ops::ValueId value);
  ops::ValueId inputOf(ops::SlotId slot);
  const ops::Dims &dimsOf(const Tensor &tensor) const;
  Variable *findVariable(std::string_view name, bool *crossesIteration);
  void runRepeat(const ast::RepeatStatement &statement);
  void runSegment(const ast::RepeatStatement &statement, std::int64_t count,
                  const std::string &path);
  void unroll(const ast::RepeatStatement &statement, std::int64_t count,
              const std::string &path);
  void runIteration(const ast::RepeatStatement &statement, std::int64_t index,
                    const std::string &path, bool *indexUsed);
  void writeCarried(Scope *scope);
  std::uint32_t shareEqual(std::uint32_t serial);

  // ModelWeights.cpp: dimensions and weights.
  std::optional<ops::Dims> resolve(const ast::Dimensions &dimensions);
  std::optional<ops::DimId> resolve(const ast::Name &name);
  std::optional<ops::DimId> intern(const DimensionName &name, std::int64_t size,
                                   source::SourceSpan origin,
                                   source::SourceSpan use);
  const WeightEntry *findWeight(std::string_view name) const;
  std::optional<ops::WeightId> declare(const ast::Name &name,
                                       const ast::Dimensions &dimensions);
  ops::WeightId makeWeight(const std::string &local, const ops::Dims &dims,
                           std::int64_t batchDims, source::SourceSpan span);
  bool checkRedeclared(const ast::Name &name, const WeightEntry &entry,
                       const ops::Dims &dims, std::size_t batchDims);
  void lintNearby(const ast::Name &name, const ops::Dims &dims);
  Binding bindDimension(std::string_view name, ops::DimId dim) const;

  // ModelCalls.cpp: operators.
  Value callOperator(const ast::CallExpr &call, ops::OpKind kind);
  bool readOperands(const ast::CallExpr &call, OperatorCall &out);
  bool readOption(const ast::CallExpr &call, const ast::Argument &argument,
                  OperatorCall &out);
  bool readProbability(const ast::Expr &expr, OperatorCall &out);
  bool readSoftCap(const ast::Expr &expr, OperatorCall &out);
  bool readSink(const ast::Expr &expr, OperatorCall &out);
  bool readWindow(const ast::Expr &expr, OperatorCall &out);
  bool readOver(const ast::Expr &expr, OperatorCall &out);
  void addNormWeights(OperatorCall &call);
  void addTargets(OperatorCall &call);
  bool count(source::SourceSpan span);
  Value apply(OperatorCall call);
  std::vector<Tensor> applyAll(OperatorCall call);
  void reportShape(const OperatorCall &call, const ops::ShapeError &error);

  // ModelParts.cpp: split and concat.
  Value callSplit(const ast::CallExpr &call);
  Value callConcat(const ast::CallExpr &call);
  bool readTensors(const ast::CallExpr &call, OperatorCall &out);
  std::optional<ops::DimId> readAlong(const ast::CallExpr &call);
  bool readSizes(const ast::CallExpr &call, OperatorCall &out);
  bool refuseData(ops::DimId dim, source::SourceSpan span);
  std::optional<ops::DimId> makeDimension(const ast::Name &name,
                                          std::int64_t size);

  // ModelExperts.cpp: tokens routed to experts.
  static bool isRouteOption(std::string_view name);
  bool readRouteOption(const ast::Argument &argument, OperatorCall &out);
  bool readFactor(const ast::Expr &expr, std::string_view name, double least,
                  std::int64_t &out);
  bool readCount(const ast::Expr &expr, std::string_view name,
                 std::int64_t &out);
  bool checkDispatch(const ast::CallExpr &call, const OperatorCall &out);
  Value dispatch(const ast::CallExpr &call, OperatorCall out);
  Value combine(OperatorCall out);
  bool readWeights(const ast::Expr &expr, std::string_view name,
                   OperatorCall &out);
  const ops::Op *dispatchOf(ops::ValueId value);
  void reportCarried(const Tensor &tensor);

  // ModelBlocks.cpp.
  Value callBlock(const ast::BlockDecl &block, const FileScope &home,
                  const ast::CallExpr &call);
  bool bindFormals(std::span<const ast::Formal> formals, Scope &scope,
                   const ast::CallExpr &call,
                   std::vector<const ast::Expr *> *tensorArguments);
  bool bindTensor(const ast::Formal &formal, const Tensor &tensor, Scope &scope,
                  const ast::Expr &argument);

  // ModelUserOps.cpp: operators that a file declares.
  Value callUserOp(const ast::OpDecl &decl, const FileScope &home,
                   const ast::CallExpr &call);
  std::optional<ops::UserOp> userOp(const ast::OpDecl &decl);
  bool readClause(const ast::OpDecl &decl, const ast::OpClause &clause,
                  ops::UserOp &op);
  std::optional<std::size_t> operandIndex(const ast::OpDecl &decl,
                                          const ast::Name &name);
  bool checkFormula(const ast::Name &name, const ast::Expr &expr,
                    const std::vector<ops::Term> &terms);
  std::optional<std::vector<ops::Term>> polynomial(const ast::Expr &expr);
  ops::UserOpId shareUserOp(ops::UserOp op);

  Elaboration &elaboration_;
  const ModelInstance &instance_;
  OriginId origin_; ///< parent of what is made now
  std::size_t errorsBefore_;

  ops::Model model_;
  Scope *scope_ = nullptr;
  std::map<std::pair<std::string, std::string>, ops::DimId> dims_;
  std::map<std::string, std::vector<ops::WeightId>> weightsByName_;
  std::map<std::string, ops::SlotId, std::less<>> given_;
  /// Serial of the last body that writes a slot.
  std::map<ops::SlotId, std::uint32_t> lastWriter_;
  std::map<std::string, ops::UserOpId> userOps_;
  std::map<std::string, source::SourceSpan> repeats_; ///< by path

  std::vector<OpenBody> bodies_; ///< by serial
  std::vector<OpenSegment> segments_;
  std::optional<std::uint32_t> current_; ///< serial of the body being made
  bool inIteration_ = false;
  std::map<std::string, std::uint32_t> classes_; ///< of the open segment
  std::vector<ops::WeightId> declaredInIteration_;
  std::int64_t operators_ = 0;
  int nearbySaid_ = 0; ///< warnings of lintNearby()
  int blockDepth_ = 0;
};

} // namespace planc::sema
