#include "runtime/report/TraceArguments.h"

#include <fmt/format.h>

namespace planc::report {

namespace {

using program::InstructionKind;
using program::Message;

/// Words of the profiler's; empty: none of its.
std::string_view nameOf(InstructionKind kind) {
  switch (kind) {
  case InstructionKind::AllReduce:
    return "allreduce";
  case InstructionKind::AllGather:
    return "_allgather_base";
  case InstructionKind::ReduceScatter:
    return "_reduce_scatter_base";
  case InstructionKind::AllToAll:
    return "all_to_all";
  case InstructionKind::Broadcast:
    return "broadcast";
  case InstructionKind::CollectivePermute:
  case InstructionKind::CollectiveStep:
    return "batch_isend_irecv";
  case InstructionKind::Send:
    return "send";
  case InstructionKind::Recv:
    return "recv";
  default:
    return "";
  }
}

struct Sizes {
  std::int64_t in = 0, out = 0;
};

Sizes sizesOf(InstructionKind kind, const Message &message) {
  const std::int64_t whole = message.bytes.value;
  const std::int64_t part =
      whole / std::max<std::int64_t>(message.members(), 1);
  switch (kind) {
  case InstructionKind::AllGather:
    return {part, whole};
  case InstructionKind::ReduceScatter:
    return {whole, part};
  case InstructionKind::Send:
    return {whole, 0};
  case InstructionKind::Recv:
    return {0, whole};
  default:
    return {whole, whole};
  }
}

/// `[0, 8, 16, 24]`.
std::string ranksOf(const Message &message, std::int64_t first) {
  constexpr std::int64_t kMost = 32;
  const std::int64_t members = message.members();
  std::string out = "[";
  for (std::int64_t i = 0; i < std::min(members, kMost); ++i) {
    std::int64_t rest = i, rank = first;
    for (std::size_t axis = message.sizes.size(); axis-- > 0;) {
      rank += rest % message.sizes[axis] * message.strides[axis];
      rest /= message.sizes[axis];
    }
    out += fmt::format("{}{}", i == 0 ? "" : ", ", rank);
  }
  return out + (members > kMost ? ", ...]" : "]");
}

/// `8 apart 1`, `4 apart 64 by 8 apart 1`: groups of one shape have one name.
std::string groupOf(const Message &message) {
  std::string out;
  for (std::size_t axis = 0; axis < message.sizes.size(); ++axis)
    out += fmt::format("{}{} apart {}", axis == 0 ? "" : " by ",
                       message.sizes[axis], message.strides[axis]);
  return out;
}

} // namespace

std::string collectiveArguments(InstructionKind kind, const Message &message,
                                std::int64_t first) {
  const std::string_view name = nameOf(kind);
  if (name.empty() || message.sizes.empty())
    return "";
  const Sizes sizes = sizesOf(kind, message);
  return fmt::format(
      "{{\"Collective name\":\"{}\",\"In msg nelems\":{},\"Out msg "
      "nelems\":{},\"dtype\":\"Byte\",\"Group size\":{},\"Process Group "
      "Name\":\"{}\",\"Process Group Description\":\"{}\",\"Process Group "
      "Ranks\":\"{}\"}}",
      name, sizes.in, sizes.out, message.members(), groupOf(message),
      program::toString(message.kind), ranksOf(message, first));
}

} // namespace planc::report
