#include "runtime/calibrate/Placing.h"

#include "runtime/hardware/Placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace planc::calibrate {

namespace {

using program::InstructionKind;

std::optional<InstructionKind> kindOf(Test test) {
  // What is read and not costed is marked None, which is no instruction.
  enum class Costed {
    None,
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    CollectivePermute
  };
  Costed costed = Costed::None;
  switch (test) {
  case Test::Unknown:
    break;
#define PLANC_NCCL_TEST(NAME, PROGRAM, FACTOR, INSTRUCTION)                    \
  case Test::NAME:                                                             \
    costed = Costed::INSTRUCTION;                                              \
    break;
#include "runtime/calibrate/NcclTests.def"
  }
  switch (costed) {
  case Costed::None:
    return std::nullopt;
  case Costed::AllReduce:
    return InstructionKind::AllReduce;
  case Costed::AllGather:
    return InstructionKind::AllGather;
  case Costed::ReduceScatter:
    return InstructionKind::ReduceScatter;
  case Costed::AllToAll:
    return InstructionKind::AllToAll;
  case Costed::CollectivePermute:
    return InstructionKind::CollectivePermute;
  }
  return std::nullopt;
}

/// As few equal groups of the innermost level as it takes.
std::int64_t fewestGroups(std::int64_t ranks, std::int64_t inner) {
  std::int64_t groups = (ranks + inner - 1) / inner;
  while (ranks % groups != 0)
    ++groups;
  return groups;
}

/// Groups of the innermost level. Where that level is larger than a host (a
/// rack on one switch), ranks fill it.
Shape shapeOf(const LogTable &table, const Shape &said,
              const hardware::Cluster &cluster, std::string &note) {
  if (said.groups > 0)
    return said;
  const std::int64_t ranks = table.ranks;
  const std::int64_t inner = cluster.levels.front().of;
  const bool isHost = cluster.perHost() >= inner;
  std::int64_t together = table.ranksOfHost;
  if (together <= 0 || !isHost) {
    together = ranks / fewestGroups(ranks, inner);
    if (ranks > inner || table.ranksOfHost <= 0)
      note = fmt::format("{} ranks taken as {} x {}", ranks, ranks / together,
                         together);
  }
  together = std::gcd(ranks, std::min(ranks, together));
  return {ranks / together, together};
}

} // namespace

Placement place(const LogTable &table, const Shape &said,
                const hardware::Cluster &cluster) {
  Placement out;
  Placed placed;
  placed.table = table;
  const auto fail = [&](LogProblemKind kind, std::string text) {
    out.error =
        LogProblem{kind, table.log, table.rows.front().line, std::move(text)};
    return out;
  };
  const std::optional<InstructionKind> kind = kindOf(table.test);
  if (!kind)
    return fail(LogProblemKind::NotFitted,
                fmt::format("{} is read, and nothing is fitted to it",
                            nameOf(table.test)));
  placed.kind = *kind;
  if (table.rows.size() > kMostSizes)
    return fail(LogProblemKind::TooLarge,
                fmt::format("the test has {} sizes, and links are fitted to {} "
                            "at most",
                            table.rows.size(), kMostSizes));
  if (table.rows.back().bytes < kLargeMessage)
    return fail(LogProblemKind::TooFewSizes,
                fmt::format("the largest size is {} B, and links are fitted "
                            "from {} B up",
                            table.rows.back().bytes, kLargeMessage));
  if (said.groups <= 0 && table.ranks <= 0)
    return fail(LogProblemKind::UnknownRanks,
                "neither lines of ranks nor bandwidths say how many ranks "
                "there were");
  placed.shape = shapeOf(table, said, cluster, placed.note);
  const std::int64_t ranks = placed.shape.groups * placed.shape.ranks;
  if (table.ranks > 0 && table.ranks != ranks)
    return fail(LogProblemKind::RanksDisagree,
                fmt::format("{} x {} are {} ranks, the log says {}",
                            placed.shape.groups, placed.shape.ranks, ranks,
                            table.ranks));
  if (ranks < 2)
    return fail(LogProblemKind::NoLevel, "one rank sends nothing");
  if (placed.shape.groups > 1 && cluster.levels.size() < 2)
    return fail(LogProblemKind::NoLevel,
                fmt::format("{} groups, and `{}` has one level",
                            placed.shape.groups, cluster.name));
  hardware::Cluster wide = cluster;
  widen(wide, placed);
  wide.levels.front().of = placed.shape.ranks;
  placed.message.sizes = {placed.shape.groups, placed.shape.ranks};
  placed.message.strides = {wide.levels.front().of, 1};
  const auto shape =
      hardware::shapeOf(wide, {placed.message.sizes, placed.message.strides});
  placed.level = shape.outermost().value_or(0);
  out.placed = std::move(placed);
  return out;
}

void widen(hardware::Cluster &cluster, const Placed &placed) {
  hardware::Level &inner = cluster.levels.front();
  inner.of = std::max(inner.of, placed.shape.ranks);
  std::int64_t room = 1;
  for (std::size_t l = 1; l < cluster.levels.size(); ++l)
    room *= cluster.levels[l].of;
  if (room < placed.shape.groups) {
    hardware::Level &outer = cluster.levels.back();
    const std::int64_t rest = room / outer.of;
    outer.of = (placed.shape.groups + rest - 1) / rest;
  }
}

} // namespace planc::calibrate
