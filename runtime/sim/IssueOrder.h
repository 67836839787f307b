// In which buckets, and in which order, gradients are reduced and parameters
// gathered: the part of a schedule that the program leaves open.
#pragma once

#include "runtime/sim/Costs.h"
#include "runtime/timeline/Timeline.h"

namespace planc::sim {

/// What a bucket may run beside. Reductions that may not wait for the class's
/// last backward; for gathers that may not the next step waits.
enum class Overlap : std::uint8_t {
  None,
  Reductions, ///< each goes as soon as it is ready
  Gathers,    ///< each is awaited by what uses it alone
  Allowed,    ///< both
};
inline bool overlapsReductions(Overlap overlap) {
  return overlap == Overlap::Reductions || overlap == Overlap::Allowed;
}
inline bool overlapsGathers(Overlap overlap) {
  return overlap == Overlap::Gathers || overlap == Overlap::Allowed;
}
std::string_view toString(Overlap overlap);

/// Another order of a block: all of its instructions, dependences first. What
/// shares a stream starts in this order.
struct BlockOrder {
  program::BlockId block;
  std::vector<std::uint32_t> instructions;
  bool operator==(const BlockOrder &) const = default;
};

/// A run that follows IssueOrder::orders[order], not its block as it stands.
struct FormUse {
  program::TaskId task;
  std::uint32_t order = 0;
  bool operator==(const FormUse &) const = default;
};

struct ClassIssue {
  std::vector<timeline::Bucket> reduces, gathers;
  std::vector<FormUse> forms; ///< by task
  Bytes extra;                ///< memory that the forms hold over the program's
  bool operator==(const ClassIssue &) const = default;
};
struct IssueOrder {
  Overlap overlap = Overlap::Allowed;
  std::vector<BlockOrder> orders;
  Table<program::RankClassId, ClassIssue> classes;
  bool operator==(const IssueOrder &) const = default;
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
IssueOrder frameworkIssue(const program::ProgramSet &set, BucketPolicy policy,
                          Overlap overlap = Overlap::Allowed);

/// What boundaries of buckets with two legs take the links of the legs for.
enum class Legs : std::uint8_t {
  OneLink,  ///< the same: nothing else passes till both have
  TwoLinks, ///< two: the next bucket's first leg runs beside the second
};

struct Cutting {
  Overlap overlap = Overlap::Allowed;
  Legs legs = Legs::OneLink; ///< of reductions over two groups
};

/// Bucket boundaries by the exact dynamic program of runtime/sched on the times
/// of `seen` (a timeline of the same program): reductions by when pieces become
/// ready, all at once where they do not overlap; gathers by when they are used,
/// which is the same problem with time reversed. Each group's cost is taken as
/// α + β·bytes. Orders of blocks stay those of `order`, which `seen` ran.
IssueOrder chosenIssue(const program::ProgramSet &set, const Costs &costs,
                       const timeline::Timeline &seen, const IssueOrder &order,
                       Cutting cutting);

/// The same buckets, each reduction held until its class has run up to the
/// moment from which it and all behind it can still end when the last reduction
/// of the step does, if the links give them 8/`eighths` of their bandwidth; so
/// they leave the links and units of a pipeline that is still at work to its
/// own messages and kernels as long as that costs nothing. `seen` ran `order`.
IssueOrder heldIssue(const program::ProgramSet &set, const Costs &costs,
                     const timeline::Timeline &seen, const IssueOrder &order,
                     std::int64_t eighths);

/// The most that a form of the class holds over its block as it stands.
Bytes extraOf(const ClassIssue &issue, const std::vector<BlockOrder> &orders,
              const program::ProgramSet &set);

/// Rules I1…: every piece is in one bucket, pieces of a bucket may merge,
/// chains follow their first bucket (I1 to I3); an order has each instruction
/// of its block once, after what it depends on (I4), is used by runs of that
/// block (I5); what orders hold over their blocks as they stand is said (I6);
/// the first reduction of a chain may be held for a run of its class that
/// updates nothing (I7). Empty when sound.
std::vector<std::string> verify(const IssueOrder &order,
                                const program::ProgramSet &set);

/// A line a bucket and an order; reading it back gives the same
/// (compiler/syntax/ReadSchedule.h). The order is one of the program.
std::string toText(const IssueOrder &order, const program::ProgramSet &set);

} // namespace planc::sim
