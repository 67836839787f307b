#include "tests/unit/Catch.h"

#include "compiler/validate/Statistics.h"

#include <cmath>

using namespace planc::validate;

TEST_CASE("errors are summed up by size, the bias keeps its sign") {
  const ErrorSummary summary = summaryOf({-0.1, 0.2, -0.3, 0.0, -0.4});
  CHECK(summary.count == 5);
  CHECK(summary.median == Approx(0.2));
  CHECK(summary.mean == Approx(0.2));
  CHECK(summary.p90 == Approx(0.36)); // between the fourth and the fifth
  CHECK(summary.worst == Approx(0.4));
  CHECK(summary.bias == Approx(-0.1));
  CHECK(summaryOf({}).count == 0);
}

TEST_CASE("kendall's tau counts pairs in order, and equals for neither") {
  const Pair ordered[] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
  CHECK(*kendallTau(ordered) == Approx(1));
  const Pair reversed[] = {{4, 10}, {3, 20}, {2, 30}, {1, 40}};
  CHECK(*kendallTau(reversed) == Approx(-1));
  // One pair of six the other way round.
  const Pair swapped[] = {{1, 10}, {3, 20}, {2, 30}, {4, 40}};
  CHECK(*kendallTau(swapped) == Approx(4.0 / 6));
  // τ-b: five pairs differ in prediction, six in measurement.
  const Pair tied[] = {{1, 10}, {2, 20}, {2, 30}, {4, 40}};
  CHECK(*kendallTau(tied) == Approx(5 / std::sqrt(5.0 * 6)));
  const Pair equal[] = {{1, 10}, {1, 20}};
  CHECK(!kendallTau(equal));
}
