#include "compiler/driver/RememberedCosts.h"

namespace planc::driver {

RememberedCosts::Question
RememberedCosts::questionOf(program::InstructionKind kind,
                            const program::Work &work) {
  // Does not compile when work has more that a kernel's time may depend on.
  const auto &[precision, batch, m, n, k, keyHeads, flops, modelFlops,
               modelFlopsFull, bytesRead, bytesWritten, bytesAfter, kernels,
               hostWait] = work;
  return {static_cast<std::int64_t>(kind),
          static_cast<std::int64_t>(precision),
          batch,
          m,
          n,
          k,
          keyHeads,
          flops.value,
          modelFlops.value,
          modelFlopsFull.value,
          bytesRead.value,
          bytesWritten.value,
          bytesAfter.value,
          kernels,
          hostWait.value};
}

std::size_t RememberedCosts::Hash::operator()(const Question &question) const {
  std::uint64_t hash = 0;
  for (std::int64_t part : question) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e37'79b9'7f4a'7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

cost::ComputeCost RememberedCosts::compute(program::InstructionKind kind,
                                           const program::Work &work) const {
  const auto [at, isNew] = known_.try_emplace(questionOf(kind, work));
  if (isNew)
    at->second = model_.compute(kind, work);
  return at->second;
}

} // namespace planc::driver
