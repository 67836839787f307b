#include "runtime/base/Precision.h"

#include "runtime/base/Checked.h"

#include <limits>

namespace planc {

namespace {
struct Row {
  Precision precision;
  std::string_view name;
  std::int64_t bytes;
};
constexpr Row kRows[] = {
    {Precision::Fp32, "fp32", 4},   {Precision::Bf16, "bf16", 2},
    {Precision::Fp16, "fp16", 2},   {Precision::Fp8, "fp8", 1},
    {Precision::Mxfp8, "mxfp8", 1}, {Precision::Fp4, "fp4", 1},
    {Precision::Int32, "int32", 4}, {Precision::Int8, "int8", 1},
};
} // namespace

std::string_view toString(Precision precision) {
  return kRows[static_cast<int>(precision)].name;
}

std::optional<Precision> precisionFromName(std::string_view name) {
  for (const Row &row : kRows)
    if (row.name == name)
      return row.precision;
  return std::nullopt;
}

std::int64_t bytesOf(Precision precision) {
  return kRows[static_cast<int>(precision)].bytes;
}

std::int64_t bytesHeld(Precision precision, std::int64_t elements) {
  constexpr std::int64_t kMxBlock = 32, kNvBlock = 16;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (precision == Precision::Mxfp8)
    return checkedAdd(elements, ceilDiv(elements, kMxBlock)).value_or(kMost);
  if (precision == Precision::Fp4)
    return ceilDiv(elements, 2) + ceilDiv(elements, kNvBlock);
  return checkedMul(elements, bytesOf(precision)).value_or(kMost);
}

bool isQuantised(Precision precision) {
  return precision == Precision::Fp8 || precision == Precision::Mxfp8 ||
         precision == Precision::Fp4 || precision == Precision::Int8;
}

} // namespace planc
