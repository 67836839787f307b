#include "runtime/base/Precision.h"

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

} // namespace planc
