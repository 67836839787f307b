// Values of a plan's clauses.
#pragma once

#include "compiler/sema/Fields.h"
#include "compiler/sema/PlanText.h"
#include "runtime/hardware/Cluster.h"

namespace planc::sema {

struct PlanRequest {
  const PlanText *text = nullptr;
  const ops::Model *model = nullptr;
  const hardware::Cluster *cluster = nullptr;
  std::int64_t accelerators = 0;
};

/// Every clause read; what only the whole plan can tell is for Constraints.h.
class PlanBuilder {
public:
  PlanBuilder(Elaboration &elaboration, const PlanRequest &request);

  /// Nothing after a report.
  std::optional<Plan> build();

private:
  // PlanBuilder.cpp: batch, mesh, shard.
  bool buildMesh();
  std::optional<std::int64_t> axisSize(const KeyedEntry &entry);
  bool setRest(AxisId rest, source::SourceSpan span);
  bool helpAxes(diag::Builder &builder, std::int64_t product);
  bool hasRest() const;
  bool buildLists();
  ListedDim listDimension(const ast::QualifiedName &name);
  ops::Dims matching(const ast::QualifiedName &name) const;
  bool buildStates();
  std::optional<AxisId> axisOf(const ast::Name &name);
  bool buildBatch();

  // PlanPipeline.cpp.
  bool buildPipeline();
  bool readSchedule(const ast::Field &field, Evaluator &evaluator,
                    Pipeline &out);
  bool readLayers(const ast::Field &field, Evaluator &evaluator, Pipeline &out);
  bool readOrder(const ast::Field &field, Evaluator &evaluator, Pipeline &out);
  bool readPasses(std::string_view text, source::SourceSpan span,
                  Pipeline &out);
  bool checkOptions(Pipeline &out, const ast::Field *given);

  // PlanState.cpp: what is kept where, what is trained.
  bool buildRecompute();
  bool addRecompute(const ast::RecomputeItem &item, bool &isAlone);
  bool buildOptimizer();
  std::optional<std::optional<Precision>>
  readFormat(const ast::Field &field, Evaluator &evaluator,
             std::vector<std::string_view> allowed);
  bool readClip(const ast::Field &field, Evaluator &evaluator);
  bool buildPrefetch(const Said<ast::Clause> &said);
  bool buildReshard(const Said<ast::Clause> &said);
  bool buildOffload(const Said<ast::Clause> &said);
  bool buildTrained(const Said<ast::Clause> &said);
  std::optional<std::vector<ops::WeightId>>
  weightsNamed(std::span<const ast::ListedName> paths);

  // PlanPrecision.cpp.
  bool buildPrecision();
  std::optional<Precision> formatOfRole(const KeyedEntry &entry);
  bool checkPeak(Precision precision, source::SourceSpan span);

  // PlanClauses.cpp: the rest.
  bool buildKernels();
  bool setKernel(const KeyedEntry &entry, std::string_view word);
  bool buildContext();
  bool buildOverlap();
  bool buildBucket();
  bool checkOthers();
  bool checkOther(const Said<ast::Clause> &clause);

  // PlanExpectations.cpp.
  bool buildExpectations();
  std::optional<Expectation> expectation(const KeyedEntry &entry);
  bool readMetric(const ast::Expr &metric, Expectation &out,
                  Dimension &dimension);

  void reportUnsupported(source::SourceSpan span, std::string_view what);

  Evaluator in(const PlanScope &scope);
  OriginId originOf(source::SourceSpan span);
  /// The word, if it is one of these; else reports and gives nothing.
  std::optional<std::string_view>
  oneOf(source::SourceSpan span, std::string_view what, std::string_view found,
        const std::vector<std::string_view> &allowed);
  /// The same, by its place among them.
  std::optional<std::size_t> indexIn(std::span<const std::string_view> names,
                                     source::SourceSpan span,
                                     std::string_view what,
                                     std::string_view found);

  Elaboration &elaboration_;
  const PlanRequest &request_;
  const PlanText &text_;
  Plan plan_;
};

} // namespace planc::sema
