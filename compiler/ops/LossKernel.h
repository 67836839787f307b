// How a loss over logits is computed.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace planc::ops {

/// Eager: every operator makes a tensor of its own in fp32; InPlace: one copy
/// in fp32, in whose place softmax and gradient are made. Linear: the product
/// that makes the logits and the loss in one, a chunk of tokens at a time, made
/// again in the backward.
enum class LossKernel : std::uint8_t { Fused, Eager, InPlace, Linear };
/// Words of a plan.
inline constexpr auto kLossKernelNames =
    std::to_array<std::string_view>({"fused", "eager", "inplace", "linear"});

/// The loss is kernels of its own that pass tensors through memory.
inline bool isUnfused(LossKernel loss) {
  return loss == LossKernel::Eager || loss == LossKernel::InPlace;
}

} // namespace planc::ops
