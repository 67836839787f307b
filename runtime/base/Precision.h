// Number formats a tensor can be held in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace planc {

enum class Precision : std::uint8_t { Fp32, Bf16, Fp16, Fp8, Int32, Int8 };

std::string_view toString(Precision precision);
std::optional<Precision> precisionFromName(std::string_view name);

/// Bytes one element takes.
std::int64_t bytesOf(Precision precision);

} // namespace planc
