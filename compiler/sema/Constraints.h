// What is refused of a plan whose clauses are fine one by one.
#pragma once

#include "compiler/schedules/Execute.h"
#include "compiler/sema/PlanBuilder.h"

namespace planc::sema {

/// Sets the number of micro-batches and the sizes of `batch` and `seq`, then
/// checks all that LANGUAGE "What is refused" asks of mesh, model and schedule
/// together. False after a report.
class Constraints {
public:
  Constraints(Elaboration &elaboration, const PlanText &text, ops::Model &model,
              Plan &plan)
      : elaboration_(elaboration), text_(text), model_(model), plan_(plan) {}

  bool check();

private:
  /// A pair that some attention maps onto each other.
  struct HeadPair {
    ops::DimId heads, keyHeads;
    bool operator==(const HeadPair &) const = default;
  };
  /// Where an axis lists a dimension.
  struct Listing {
    AxisId axis;
    const ListedDim *listed = nullptr;
  };

  // Constraints.cpp: axes and dimensions.
  bool checkAxes();
  void warnAlike();
  void warnOverOne();
  bool checkListed();
  bool checkUnknown(const ListedDim &listed);
  bool setBatch();
  bool checkPositions();
  std::vector<Listing> listingsOf(ops::DimId dim) const;
  std::vector<HeadPair> headPairs() const;
  bool checkHeads(const HeadPair &pair);
  bool checkDivisible();
  bool fits(ops::DimId dim, std::int64_t left, std::int64_t size) const;
  void reportNotDivisible(ops::DimId dim, const std::vector<Listing> &listings,
                          diag::Kind kind);
  bool checkSizes();
  bool checkLoss();
  bool checkFormulas(const ops::Op &op);
  source::SourceSpan spanOf(OriginId origin) const {
    return elaboration_.spanOf(origin);
  }

  // ContextConstraints.cpp: attention over the sequence, copies of key heads.
  bool checkKeyHeads(const HeadPair &pair);
  void remarkCopies(const HeadPair &pair, const Listing &listing,
                    std::int64_t copies);
  bool checkContext();
  bool isContext(AxisId axis, const ops::Dims &query) const;
  bool checkBalance(AxisId axis);
  bool checkBorrowed(const HeadPair &pair);
  std::int64_t leftOf(ops::DimId dim) const;

  // ScheduleConstraints.cpp: stages, chunks, micro-batches.
  bool checkPipeline();
  bool checkPasses();
  /// Does the schedule run with so many micro-batches?
  bool takes(std::int64_t microBatches) const;
  void helpBatch(diag::Builder &builder, std::int64_t ways, std::int64_t step);
  bool checkFit(const Pipeline &pipeline);
  bool checkHolders(const Pipeline &pipeline,
                    const schedules::Holders &holders);
  bool checkOrder(const Pipeline &pipeline);
  void reportFault(const Pipeline &pipeline, const schedules::Fault &fault);
  bool checkUnits(const Pipeline &pipeline);
  bool checkLayers(const Pipeline &pipeline, std::int64_t iterations);

  Elaboration &elaboration_;
  const PlanText &text_;
  ops::Model &model_;
  Plan &plan_;
};

} // namespace planc::sema
