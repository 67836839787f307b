// In which buckets, and in which order, gradients are reduced and parameters
// gathered: the part of a schedule that the program leaves open.
#pragma once

#include "runtime/sim/Costs.h"
#include "runtime/timeline/Timeline.h"

namespace planc::sim {

enum class Overlap : std::uint8_t {
  None,    ///< reductions wait for the class's last backward, the next step for
           ///< every gather
  Allowed, ///< each bucket goes as soon as it is ready
};

struct ClassIssue {
  std::vector<timeline::Bucket> reduces, gathers;
};
struct IssueOrder {
  Overlap overlap = Overlap::Allowed;
  Table<program::RankClassId, ClassIssue> classes;
};

/// Sizes of buckets (LANGUAGE: `bucket`).
struct BucketPolicy {
  enum class Kind : std::uint8_t {
    Size,
    Layer,
    One,
    Ddp,
    Megatron
  } kind = Kind::Ddp;
  Bytes size;                      ///< Size
  std::int64_t gradientBytes = 4;  ///< Megatron: of one gradient element
  std::int64_t parameterBytes = 2; ///< Megatron: of one gathered element
};

/// One bucket for all pieces that may merge, nothing overlapped: the
/// order every gain is measured against.
IssueOrder programIssue(const program::ProgramSet &set);

/// What the framework does: pieces merged in the order they become ready.
IssueOrder frameworkIssue(const program::ProgramSet &set, BucketPolicy policy);

/// Bucket boundaries by the exact dynamic program of runtime/sched on the times
/// of `seen` (a timeline of the same program): reductions by when pieces become
/// ready; gathers by when they are used, which is the same problem with time
/// reversed. Each group's cost is taken as α + β·bytes.
IssueOrder chosenIssue(const program::ProgramSet &set, const Costs &costs,
                       const timeline::Timeline &seen);

/// Rules I1…: every piece is in one bucket, pieces of a bucket may merge,
/// chains follow their first bucket. Empty when sound.
std::vector<std::string> verify(const IssueOrder &order,
                                const program::ProgramSet &set);

} // namespace planc::sim
