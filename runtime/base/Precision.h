// Number formats a tensor can be held in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace planc {

enum class Precision : std::uint8_t {
  Fp32,
  Bf16,
  Fp16,
  Fp8,   ///< e4m3 or e5m2, one scale a tensor
  Mxfp8, ///< e4m3, a scale of 8 bits for 32 elements
  Fp4,   ///< e2m1, a scale of 8 bits for 16 elements (nvfp4)
  Int32,
  Int8
};

std::string_view toString(Precision precision);
std::optional<Precision> precisionFromName(std::string_view name);

/// Bytes one element takes; half a one counts as whole.
std::int64_t bytesOf(Precision precision);

/// Bytes of `elements` held in the format, with their scales; saturates at the
/// largest 64-bit value.
std::int64_t bytesHeld(Precision precision, std::int64_t elements);

/// Narrow formats: a matrix product in one reads copies made for it of operands
/// held in a wider.
bool isQuantised(Precision precision);

} // namespace planc
