// Thresholds: what is read, what is refused where, what fails.
#include "tests/unit/Catch.h"

#include "compiler/compare/Thresholds.h"

using namespace planc::compare;

namespace {

Threshold read(std::string_view text) {
  auto found = parseThreshold(text);
  CAPTURE(std::string(text));
  REQUIRE(std::holds_alternative<Threshold>(found));
  return std::get<Threshold>(found);
}

std::string refused(std::string_view text) {
  auto found = parseThreshold(text);
  CAPTURE(std::string(text));
  REQUIRE(std::holds_alternative<ThresholdError>(found));
  const auto &error = std::get<ThresholdError>(found);
  REQUIRE(error.begin <= text.size());
  REQUIRE(error.end > error.begin);
  return std::string(text.substr(error.begin, error.end - error.begin));
}

std::vector<Number> numbers() {
  return {{"step_time", "step", Form::Time, 10.0, 10.3},
          {"mfu", "MFU", Form::Share, 0.40, 0.392},
          {"memory", "memory", Form::Size, 70e9, 76e9},
          {"exposed.tensor", "", Form::Share, 0.1, 0.12},
          {"exposed.gradients", "", Form::Share, 0.01, 0.01},
          {"cost_per_day", "cost", Form::Money, std::nullopt, 100.0}};
}

bool fails(std::string_view text) {
  return !failureOf(read(text), numbers()).empty();
}

} // namespace

TEST_CASE("thresholds on changes and on what the new plan has") {
  CHECK(fails("mfu < -0.5pp"));
  CHECK(!fails("mfu < -1pp"));
  CHECK(fails("mfu<39.5%"));
  CHECK(!fails("mfu < 39%"));
  CHECK(fails("mfu < -1%"));
  CHECK(fails("memory > 75GB"));
  CHECK(!fails("memory > 75GiB"));
  CHECK(fails("memory >= +6GB"));
  CHECK(fails("step_time > +2%"));
  CHECK(!fails("step_time > +3.1%"));
  CHECK(fails("step_time > 10s"));
  CHECK(fails("step_time > +200ms"));
  CHECK(fails("exposed > 12.9%"));
  CHECK(!fails("exposed > 13.1%"));
  CHECK(fails("exposed > +1pp"));
  CHECK(!fails("bubble > 0%"));
  CHECK(fails("cost_per_day > 99"));
  CHECK(!fails("cost_per_day > +1%")); // the old plan has no price
}

TEST_CASE("bad thresholds are refused where they are wrong") {
  CHECK(refused("mfy < 3%") == "mfy");
  CHECK(refused("mfu = 3%") == "=");
  CHECK(refused("mfu < lots") == "lots");
  CHECK(refused("mfu < 0.5pp") == "pp");
  CHECK(refused("step_time > 2%") == "%");
  CHECK(refused("step_time > 2GB") == "GB");
  CHECK(refused("memory > 75") == "");
  CHECK(refused("memory > -pp") == "-pp");
  CHECK(refused("") == "");
  CHECK(refused("mfu <") == "");
  CHECK(refused("memory > 1e999GB") == "1e999GB");
}
