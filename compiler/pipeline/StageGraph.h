// The stage graph: layers in stages and chunks, and the order in which every
// stage runs its passes. It needs no times; in-flight counts follow from the
// order alone.
#pragma once

#include "compiler/ops/Op.h"
#include "compiler/schedules/Execute.h"
#include "compiler/sema/Plan.h"

#include <string>
#include <vector>

namespace planc::pipeline {

/// The smallest thing a cut separates: one iteration of a repeat; all that
/// stands before the first repeat; all that stands after the last. What stands
/// between two repeats goes with the iteration that follows.
struct Unit {
  std::vector<ops::BodyId> bodies; ///< in the order they run
  bool isLayer = false;            ///< an iteration of a repeat
  std::string name;                ///< `decoder[17]`, `embed`
};

/// Units in model order.
std::vector<Unit> unitsOf(const ops::Model &model);

/// A virtual stage: the units [begin, end). May be empty.
struct Chunk {
  std::size_t begin = 0, end = 0;
  bool operator==(const Chunk &) const = default;
};

using schedules::Pass;

struct StageGraph {
  std::int64_t stages = 1, virtualStages = 1, microBatches = 1;
  std::vector<Unit> units;
  std::vector<Chunk> chunks;
  schedules::Holders holders; ///< which stage has which chunk, by copy
  schedules::Orders orders;   ///< by stage
  /// Slots alive at the cut before each chunk (index 0 is unused): sent
  /// forward, their gradients sent back.
  std::vector<std::vector<ops::SlotId>> crossing;

  /// Where a micro-batch finds a chunk.
  std::int64_t stageOf(std::int64_t microBatch, std::int64_t chunk) const {
    return holders.rankOf(
        schedules::copyOf(holders.copies, microBatches, microBatch), chunk);
  }
  /// Does the stage hold a chunk, in one copy of the model or another?
  bool holds(std::int64_t stage, std::int64_t chunk) const;
  schedules::Shape shape() const {
    return {stages, virtualStages, microBatches};
  }
};

/// Most passes whose forward has started and whose backward (of inputs) has not
/// ended, by stage: micro-batches × chunks in flight at the worst moment of the
/// order.
std::vector<std::int64_t> peakInFlight(const StageGraph &graph);

/// Rules Q1…Q6; one line per broken rule:
/// Q1 every unit is in exactly one chunk, in order; Q2 every stage runs every
/// micro-batch forward and backward once through each of its chunks; Q3 a
/// backward stands after its forward, weight gradients after their backward;
/// Q4 executed in order, no stage waits for ever; Q5 a pass runs on the stage
/// that holds its chunk, every stage holds as many; Q6 crossing slots are alive
/// on both sides.
std::vector<std::string> verify(const StageGraph &graph);

/// Chunks with their units, then the order of every stage, as `F0.3 B0.3 …`
/// (micro-batch, chunk) where a stage holds several chunks, `F0 B0 …` where
/// one; then the same drawn over time (DrawGrid.h).
std::string toText(const StageGraph &graph);

} // namespace planc::pipeline
