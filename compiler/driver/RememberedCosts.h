// A cost model that answers each question about a kernel once.
#pragma once

#include "runtime/cost/CostModel.h"

#include <array>
#include <unordered_map>

namespace planc::driver {

/// As the model it is given, which outlives it; of one thread. A compile asks
/// for the same few kernels in every layer, form and stage.
class RememberedCosts final : public cost::CostModel {
public:
  explicit RememberedCosts(const cost::CostModel &model) : model_(model) {}

  cost::ComputeCost compute(program::InstructionKind kind,
                            const program::Work &work) const override;
  cost::CollectiveCost
  communicate(program::InstructionKind kind,
              const program::Message &message) const override {
    return model_.communicate(kind, message);
  }
  std::int64_t units() const override { return model_.units(); }

private:
  using Question = std::array<std::int64_t, 15>;
  struct Hash {
    std::size_t operator()(const Question &question) const;
  };
  static Question questionOf(program::InstructionKind kind,
                             const program::Work &work);

  const cost::CostModel &model_;
  mutable std::unordered_map<Question, cost::ComputeCost, Hash> known_;
};

} // namespace planc::driver
