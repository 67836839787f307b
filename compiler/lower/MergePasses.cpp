#include "compiler/lower/MergePasses.h"

#include <algorithm>
#include <array>

namespace planc::lower {

using program::Block;
using program::Instruction;

namespace {

/// When streams are free and instructions have ended, as a block grows.
class Streams {
public:
  std::int64_t startOf(const Instruction &instruction,
                       const std::vector<std::int64_t> &ends) const {
    std::int64_t start = free_[static_cast<std::size_t>(instruction.stream)];
    for (std::uint32_t dep : instruction.deps)
      start = std::max(start, ends[dep]);
    return start;
  }
  void occupy(const Instruction &instruction, std::int64_t end) {
    free_[static_cast<std::size_t>(instruction.stream)] = end;
  }

private:
  std::array<std::int64_t, program::kStreamCount> free_{};
};

/// Takes instructions of two blocks one by one.
class Merger {
public:
  Merger(const Block &first, const Block &second) : blocks_{&first, &second} {
    merged_.block.name = first.name + " & " + second.name;
    merged_.block.instructions.reserve(first.instructions.size() +
                                       second.instructions.size());
  }

  bool has(std::size_t which) const {
    return placesOf(which).size() < blocks_[which]->instructions.size();
  }
  /// The next one, with dependences in the merged block.
  Instruction head(std::size_t which) const {
    const std::vector<std::uint32_t> &places = placesOf(which);
    Instruction instruction = blocks_[which]->instructions[places.size()];
    for (std::uint32_t &dep : instruction.deps)
      dep = places[dep];
    std::sort(instruction.deps.begin(), instruction.deps.end());
    return instruction;
  }
  void take(std::size_t which, Instruction instruction) {
    (which == 0 ? merged_.first : merged_.second)
        .push_back(
            static_cast<std::uint32_t>(merged_.block.instructions.size()));
    merged_.block.instructions.push_back(std::move(instruction));
  }
  MergedPasses finish() { return std::move(merged_); }

private:
  const std::vector<std::uint32_t> &placesOf(std::size_t which) const {
    return which == 0 ? merged_.first : merged_.second;
  }

  const Block *blocks_[2];
  MergedPasses merged_;
};

MergedPasses listSchedule(const Block &first, const Block &second,
                          const InstructionTime &time) {
  Merger merger(first, second);
  Streams streams;
  std::vector<std::int64_t> ends;
  while (merger.has(0) || merger.has(1)) {
    std::size_t which = merger.has(1) ? 1 : 0;
    Instruction chosen = merger.head(which);
    std::int64_t start = streams.startOf(chosen, ends);
    if (which == 1 && merger.has(0)) {
      Instruction other = merger.head(0);
      std::int64_t otherStart = streams.startOf(other, ends);
      if (otherStart < start) {
        which = 0;
        chosen = std::move(other);
        start = otherStart;
      }
    }
    ends.push_back(start + time(chosen).value);
    streams.occupy(chosen, ends.back());
    merger.take(which, std::move(chosen));
  }
  return merger.finish();
}

} // namespace

MergedPasses concatenatePasses(const Block &first, const Block &second) {
  Merger merger(first, second);
  for (std::size_t which : {std::size_t(0), std::size_t(1)})
    while (merger.has(which))
      merger.take(which, merger.head(which));
  return merger.finish();
}

MergedPasses mergePasses(const Block &first, const Block &second,
                         const InstructionTime &time) {
  MergedPasses simple = concatenatePasses(first, second);
  if (!time)
    return simple;
  MergedPasses listed = listSchedule(first, second, time);
  return lengthOf(listed.block.instructions, time) <=
                 lengthOf(simple.block.instructions, time)
             ? listed
             : simple;
}

Duration lengthOf(const std::vector<Instruction> &instructions,
                  const InstructionTime &time) {
  Streams streams;
  std::vector<std::int64_t> ends;
  std::int64_t last = 0;
  for (const Instruction &instruction : instructions) {
    ends.push_back(streams.startOf(instruction, ends) +
                   time(instruction).value);
    streams.occupy(instruction, ends.back());
    last = std::max(last, ends.back());
  }
  return Duration(last);
}

} // namespace planc::lower
