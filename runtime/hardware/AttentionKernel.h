// Kernels of attention that a plan may name, and which of them an accelerator
// has.
#pragma once

#include "runtime/hardware/Cluster.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace planc::hardware {

enum class AttentionKernel : std::uint8_t {
#define PLANC_FUSED_ATTENTION(NAME, TEXT, FORWARD, BACKWARD) NAME,
#include "runtime/hardware/AttentionKernels.def"
  Unfused, ///< batched products and a softmax over all scores
};
inline constexpr auto kAttentionKernelNames = std::to_array<std::string_view>({
#define PLANC_FUSED_ATTENTION(NAME, TEXT, FORWARD, BACKWARD) TEXT,
#include "runtime/hardware/AttentionKernels.def"
    "unfused",
});
inline std::string_view toString(AttentionKernel kernel) {
  return kAttentionKernelNames[static_cast<std::size_t>(kernel)];
}

/// Shares of the peak over many keys at head size 128; 0 where the accelerator
/// has no such kernel.
struct AttentionShares {
  double forward = 0, backward = 0;
};
/// Of a fused kernel; of unfused attention, whose parts have their own costs,
/// ones.
AttentionShares attentionShares(const Accelerator &accelerator,
                                AttentionKernel kernel);
bool hasKernel(const Accelerator &accelerator, AttentionKernel kernel);
/// What runs where a plan names none: the first of the list that the
/// accelerator has, FlashAttention-1 left out; unfused where it has none.
AttentionKernel newestKernel(const Accelerator &accelerator);

} // namespace planc::hardware
