#include "runtime/program/Liveness.h"

#include <algorithm>
#include <numeric>

namespace planc::program {

std::vector<std::uint32_t> orderAsItStands(const Block &block) {
  std::vector<std::uint32_t> order(block.instructions.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<Bytes> heldAlong(const Block &block,
                             std::span<const std::uint32_t> order) {
  const std::vector<Instruction> &all = block.instructions;
  std::vector<std::uint32_t> readers(all.size());
  for (const Instruction &instruction : all)
    for (std::uint32_t dep : instruction.deps)
      ++readers[dep];
  std::vector<char> ended(all.size());
  std::size_t allBefore = 0; // instructions [0, allBefore) have ended
  Bytes now;
  std::vector<Bytes> held;
  held.reserve(order.size());
  for (std::uint32_t i : order) {
    now += all[i].makes;
    held.push_back(now);
    for (std::uint32_t dep : all[i].deps)
      if (--readers[dep] == 0)
        now -= all[dep].makes;
    ended[i] = 1;
    for (; allBefore < all.size() && ended[allBefore]; ++allBefore)
      now -= all[allBefore].frees;
  }
  return held;
}

Bytes peakOf(const Block &block, std::span<const std::uint32_t> order) {
  const std::vector<Bytes> held = heldAlong(block, order);
  return held.empty() ? Bytes(0) : *std::max_element(held.begin(), held.end());
}

} // namespace planc::program
