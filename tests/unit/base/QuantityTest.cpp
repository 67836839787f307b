#include "tests/unit/Catch.h"

#include "runtime/base/Checked.h"
#include "runtime/base/Precision.h"
#include "runtime/base/Quantity.h"

#include <limits>

using namespace planc;

TEST_CASE("work never takes no time, and durations round up") {
  CHECK(transferTime(Bytes(1), ByteRate(3'350'000'000'000)).value == 1);
  CHECK(transferTime(Bytes(450), ByteRate(450'000'000'000)).value == 1000);
  CHECK(computeTime(Flops(0), FlopRate(1)).value == 0);
}

TEST_CASE("a duration past the range stays in it") {
  Duration d = transferTime(Bytes(std::numeric_limits<std::int64_t>::max()),
                            ByteRate(1));
  CHECK(d.value > 4'000'000'000'000'000'000);
}

TEST_CASE("checked arithmetic refuses what does not fit") {
  CHECK(checkedMul(1LL << 40, 1LL << 30) == std::nullopt);
  CHECK(checkedMul(1LL << 31, 1LL << 31) == 1LL << 62);
  CHECK(ceilDiv(7, 2) == 4);
  CHECK(ceilDiv(8, 2) == 4);
}

TEST_CASE("precisions read back their names") {
  for (Precision p : {Precision::Fp32, Precision::Bf16, Precision::Fp16,
                      Precision::Fp8, Precision::Int32, Precision::Int8})
    CHECK(precisionFromName(toString(p)) == p);
  CHECK(bytesOf(Precision::Bf16) == 2);
}
