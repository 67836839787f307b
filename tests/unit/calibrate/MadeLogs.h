// Logs as nccl-tests prints them, made from a cluster's own costs.
#pragma once

#include "runtime/calibrate/Calibration.h"
#include "runtime/cost/CollectiveCost.h"

#include <fmt/format.h>

#include <string>

namespace planc::calibrate {

enum class Layout {
  Old,   ///< no root, `error`
  New,   ///< root, `#wrong`
  Short, ///< out of place only, no count of errors
};

struct Made {
  Test test = Test::AllReduce;
  program::InstructionKind kind = program::InstructionKind::AllReduce;
  Shape shape{1, 8};
  Layout layout = Layout::New;
  std::int64_t smallest = 1 << 13, largest = std::int64_t{1} << 33;
};

inline std::string header(Layout layout) {
  switch (layout) {
  case Layout::Old:
    return "# size count type redop time algbw busbw error time algbw busbw "
           "error\n";
  case Layout::New:
    return "# size count type redop root time algbw busbw #wrong time algbw "
           "busbw #wrong\n";
  case Layout::Short:
    return "# size count type redop root time algbw busbw\n";
  }
  return "";
}

inline std::string madeRow(const Made &made, std::int64_t bytes,
                           double seconds) {
  const std::int64_t ranks = made.shape.groups * made.shape.ranks;
  const double speed = static_cast<double>(bytes) / seconds / 1e9;
  const std::string one =
      fmt::format(" {:.2f} {:.2f} {:.2f}", seconds * 1e6, speed,
                  speed * busFactor(made.test, ranks));
  const bool reduces =
      made.test == Test::AllReduce || made.test == Test::ReduceScatter;
  std::string out = fmt::format("  {} {} float {}", bytes, bytes / 4,
                                reduces ? "sum" : "none");
  switch (made.layout) {
  case Layout::Old:
    return out + one + " 2e-07" + one + " 0e+00\n";
  case Layout::New:
    return out + " -1" + one + " N/A" + one + " 0\n";
  case Layout::Short:
    return out + " -1" + one + "\n";
  }
  return out;
}

/// A log of hosts with `shape.ranks` each.
inline std::string madeLog(const hardware::Cluster &cluster, const Made &made) {
  std::string out = fmt::format("# Collective test starting: {}_perf\n"
                                "# nThread 1 nGpus 1 minBytes 8 maxBytes 9\n"
                                "# Using devices\n",
                                nameOf(made.test));
  for (std::int64_t rank = 0; rank < made.shape.groups * made.shape.ranks;
       ++rank)
    out += fmt::format("#  Rank {:2} Group  0 Pid 1 on host-{} device {:2} "
                       "[0000:00:00] Some Chip 80GB\n",
                       rank, rank / made.shape.ranks, rank % made.shape.ranks);
  out += header(made.layout);
  program::Message message;
  message.sizes = {made.shape.groups, made.shape.ranks};
  message.strides = {cluster.levels[0].of, 1};
  for (std::int64_t bytes = made.smallest; bytes <= made.largest; bytes *= 2) {
    message.bytes = Bytes(bytes);
    const auto cost = cost::CollectiveCosts(cluster).cost(made.kind, message);
    out += madeRow(made, bytes, toSeconds(cost.total));
  }
  return out +
         "# Out of bounds values : 0 OK\n# Avg bus bandwidth : 1\n"
         "# Collective test concluded: " +
         std::string(nameOf(made.test)) + "_perf\n";
}

} // namespace planc::calibrate
