#include "compiler/sema/Units.h"

#include "tests/unit/Catch.h"

using namespace planc::sema;

namespace {
double base(std::string_view number, std::string_view word) {
  Unit unit = parseUnit(word).value();
  return std::stod(std::string(number)) * unit.numerator / unit.denominator;
}
} // namespace

TEST_CASE("Units are exact where numbers are", "[units]") {
  CHECK(base("80", "GiB") == 80.0 * 1024 * 1024 * 1024);
  CHECK(base("400", "Gb/s") == 50e9);
  CHECK(base("1", "kB") == 1000);
  CHECK(base("989.4", "TFLOP/s") == 989.4e12);
  CHECK(base("38", "%") == 0.38);
  CHECK(base("1.5", "us") == 1.5e-6);
  CHECK(base("54", "d") == 54 * 86400.0);
  CHECK(base("7.2", "USD/h") == 7.2 / 3600);
  CHECK(base("3", "Hz") == 3);
}

TEST_CASE("Units have dimensions", "[units]") {
  CHECK(parseUnit("GB/s")->dimension == kByteRate);
  CHECK(parseUnit("TFLOP/s")->dimension == kFlopRate);
  CHECK(parseUnit("%")->dimension.isNone());
  CHECK(parseUnit("s/s")->dimension.isNone());
  CHECK(divide(kBytes, kByteRate) == kSeconds);
  CHECK(multiply(kSeconds, kByteRate) == kBytes);
  CHECK(power(kSeconds, -1) == kPerTime);
  CHECK_FALSE(power(kSeconds, 1000).has_value());
}

TEST_CASE("A word that is no unit gets the nearest", "[units]") {
  for (std::string_view word :
       {"stages", "GB/size", "", "/", "B/", "/s", "GB/s/s", "kKiB", "k"})
    CHECK_FALSE(parseUnit(word).has_value());
  CHECK(nearestUnit("gb/S") == "GB/s");
  CHECK(nearestUnit("KB") == "kB");
  CHECK(nearestUnit("TFLOPS/s") == "TFLOP/s");
  CHECK_FALSE(nearestUnit("tokens").has_value());
}

TEST_CASE("Quantities are shown as people write them", "[units]") {
  CHECK(formatQuantity(80.0 * (1 << 30), kBytes) == "80GiB");
  CHECK(formatQuantity(1.5e-6, kSeconds) == "1.5us");
  CHECK(formatQuantity(989.4e12, kFlopRate) == "989.4TFLOP/s");
  CHECK(formatQuantity(0.5, kNoDimension) == "0.5");
  CHECK(toString(kByteRate) == "bytes per second");
}
