// Small programs with timelines worked out by hand.
#pragma once

#include "runtime/report/BuildReport.h"

#include <string>

namespace planc::report::test {

/// One FLOP a picosecond; a kernel takes 10 ps to launch and runs at half of
/// its peak; a memory kernel takes a picosecond a byte; so does a collective.
class ToyCost final : public cost::CostModel {
public:
  cost::ComputeCost compute(program::InstructionKind kind,
                            const program::Work &work) const override;
  cost::CollectiveCost
  communicate(program::InstructionKind kind,
              const program::Message &message) const override;
  std::int64_t units() const override { return 1; }
};

inline constexpr std::int64_t kFlopsPerSecond = kPicosecondsPerSecond;

struct Toy {
  program::ProgramSet programs;
  timeline::Timeline timeline;
  hardware::Cluster cluster;
  ToyCost cost;
  Planned planned;
  ModelFlops flops;

  Toy();
  ReportInputs inputs() const;

  /// A run right after the last one of its class; `wait` before it, charged as
  /// it says, its `begin` and `end` filled in. Instruction times are those of
  /// the block alone.
  void run(program::RankClassId id, program::TaskId task, std::int32_t step,
           Duration idle = {}, timeline::Wait wait = {});
};

enum class Recomputed { No, Yes };

/// Two classes, of 4 and of 2 ranks, of one block each and an update. The block
/// has two products, a memory kernel and a gather that it waits 55 ps for.
Toy layerToy(Recomputed recomputed);

/// A GPipe of `stages` equal stages: forward 1 us, backward 2 us, free
/// transfers, no update.
Toy gpipeToy(std::int64_t stages, std::int64_t microBatches);

} // namespace planc::report::test
