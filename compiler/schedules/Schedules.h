// The schedules planc knows: one row each, in Schedules.def.
#pragma once

#include "compiler/schedules/Pass.h"

#include <optional>
#include <span>
#include <string_view>

namespace planc::schedules {

enum class Schedule : std::uint8_t {
#define PLANC_SCHEDULE(NAME, TEXT, PLACEMENT, CHUNKS, TAKES, ORDERS, RULE,     \
                       BUBBLE)                                                 \
  NAME,
#include "compiler/schedules/Schedules.def"
  /// The plan's own order: no row of the list.
  Own,
};

/// Where chunks live. Chunk c of p ranks: Looped, on c mod p. Zigzag, down the
/// ranks and back up, again and again. BothWays, two copies of the model: the
/// first half of the micro-batches finds chunk c on rank c, the second half on
/// rank p − 1 − c.
enum class Placement : std::uint8_t { Looped, Zigzag, BothWays };

/// How many chunks a rank holds of one copy of the model: fixed, as `virtual`
/// says (Waves: an even number, two a wave).
enum class ChunksPerRank : std::uint8_t { One, Two, AsAsked, Waves };

inline constexpr unsigned kNothing = 0, kGroup = 1, kSlices = 2, kPairs = 4;

/// A fraction of the pipeline span.
struct BubbleFormula {
  std::int64_t numerator = 0, denominator = 1;
};

struct ScheduleInfo {
  Schedule schedule;
  std::string_view name;
  Placement placement;
  ChunksPerRank chunks;
  unsigned takes;
  Orders (*orders)(const Shape &);
  bool (*fits)(const Shape &);
  /// The rule in words, as in "ZBV takes …"; empty where every shape runs.
  std::string_view rule;
  std::optional<BubbleFormula> (*bubble)(const Shape &);
};

std::span<const ScheduleInfo> allSchedules();
/// Not of Schedule::Own.
const ScheduleInfo &infoOf(Schedule schedule);
const ScheduleInfo *findSchedule(std::string_view name);
/// `order` for Schedule::Own.
std::string_view toString(Schedule schedule);

/// Which rank of the pipeline axis holds a chunk, in one copy of the model.
/// chunk < stages·virtualStages.
std::int64_t rankOf(Placement placement, std::int64_t stages, std::int64_t copy,
                    std::int64_t chunk);
constexpr std::int64_t copiesOf(Placement placement) {
  return placement == Placement::BothWays ? 2 : 1;
}
/// Which copy of the model a micro-batch runs through.
constexpr std::int64_t copyOf(std::int64_t copies, std::int64_t microBatches,
                              std::int64_t microBatch) {
  return copies > 1 && microBatch >= microBatches / 2 ? 1 : 0;
}

/// Shapes next to one that does not fit; empty where none is near.
struct Nearest {
  std::vector<std::int64_t> microBatches; ///< below, above
  std::vector<std::int64_t> groups;       ///< with the micro-batches as given
};
Nearest nearestLegal(const ScheduleInfo &info, const Shape &shape);

} // namespace planc::schedules
