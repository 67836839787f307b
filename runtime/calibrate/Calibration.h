// Fits the levels of a cluster to measured collectives, with the cost model
// that the compiler uses.
//
// Levels are fitted from the inside out, each to the tables whose ranks cross
// it and none outside it; what a level has no table for stays as the cluster
// says, but for the innermost, which may be what binds a log that crosses it.
// What is minimised is the mean over rows of 1 - min(p/m, m/p) for predicted p
// and measured m, rows below 1 MiB with a quarter of the weight.
// The search steps through grids of values; it has no randomness and stops at a
// fixed number of steps, so equal logs give equal clusters everywhere.
#pragma once

#include "runtime/calibrate/Knobs.h"
#include "runtime/calibrate/Placing.h"
#include "runtime/cost/CostModel.h"

#include <span>

namespace planc::calibrate {

struct FittedRow {
  std::int64_t bytes = 0;
  double measured = 0, fitted = 0, before = 0; ///< seconds
  cost::Algorithm algorithm = cost::Algorithm::None;
};

/// Mean and largest |predicted - measured| / measured over rows of 1 MiB and
/// up; 0 where there are none.
struct Misfit {
  double mean = 0, worst = 0;
  std::int64_t rows = 0;
};

struct FittedTable {
  Placed placed;
  std::vector<FittedRow> rows;
  Misfit fitted, before; ///< `before`: as the cluster was
  /// Predicted by a fit that did not see the row: with all of the table's rows
  /// left out where other tables are of the same level, else every second one.
  Misfit heldOut;
  enum class Left : std::uint8_t { Nothing, Table, EverySecondSize } left{};
};

struct FittedConstant {
  std::size_t level = 0;
  Knob knob;
  double before = 0, value = 0;
  /// False where twice or half the value fits as well: the logs do not tell.
  bool isTold = true;
};

struct Calibration {
  std::string base; ///< name of the cluster it began with
  hardware::Cluster cluster;
  std::vector<FittedConstant> constants;
  std::vector<FittedTable> tables;
  std::vector<std::string> notes;
};

/// Tables as `place` placed them on `base`.
Calibration fitCluster(const hardware::Cluster &base,
                       std::span<const Placed> tables);

struct WrittenCluster {
  std::string name;   ///< of the new cluster
  std::string module; ///< `std.clusters.h100`, where the accelerator is from
};
/// A .plan file with the cluster, readable, each constant with where it is
/// from.
std::string toPlan(const Calibration &calibration,
                   const WrittenCluster &written);
std::string toText(const Calibration &calibration);
std::string toJson(const Calibration &calibration);

} // namespace planc::calibrate
