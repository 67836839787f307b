#include "tests/unit/Catch.h"

#include "compiler/driver/Explain.h"
#include "runtime/report/RankTime.h"

#include <fmt/format.h>

using namespace planc;
using namespace planc::driver;

namespace {

/// Plain data parallelism in one node, over links of `link` bytes a second.
std::string planText(std::int64_t link) {
  return fmt::format(R"(language 1

import std.models.gpt
import std.clusters.a100

cluster one_node {{
  accelerator a100_sxm
  level node of 8 {{ link {}B/s, latency 1.9us }}
}}

plan hidden for gpt2_small on one_node {{
  batch   512 sequences of 1024 tokens, micro 64 sequences
  mesh    dp = rest
  shard   batch over dp
  overlap gradients
  bucket  auto
}}
)",
                     link);
}

Options optionsOf(std::int64_t link) {
  Options options;
  options.file = "hidden.plan";
  options.text = planText(link);
  return options;
}

const report::Exposure *
gradientsOf(const std::vector<report::Exposure> &exposures) {
  for (const report::Exposure &exposure : exposures)
    if (exposure.kind == program::CommunicationKind::Gradients)
      return &exposure;
  return nullptr;
}

bool areHidden(std::int64_t link) {
  Session session(optionsOf(link));
  REQUIRE(session.run() == Outcome::Ok);
  const report::Report &report = *session.report();
  for (const report::Communication &row : report.communication)
    if (row.kind == program::CommunicationKind::Gradients)
      return report::isHidden(row.exposed, report.rankStepTime());
  return true;
}

} // namespace

TEST_CASE("explain: the bandwidth that it names hides, two percent less not") {
  constexpr std::int64_t kLink = 300'000'000'000;
  Session session(optionsOf(kLink));
  REQUIRE(session.run() == Outcome::Ok);
  const report::Explanation explanation = session.explain();
  const report::Exposure *gradients = gradientsOf(explanation.exposures);
  REQUIRE(gradients);
  CHECK_FALSE(areHidden(kLink));
  const report::Way *way = nullptr;
  for (const report::Way &one : gradients->ways)
    if (one.resource == "bandwidth of node")
      way = &one;
  REQUIRE(way);
  int k = 1;
  while (millionthsAt(k) < way->millionths)
    ++k;
  REQUIRE(millionthsAt(k) == way->millionths);
  const auto linkAt = [&](int step) {
    return static_cast<std::int64_t>(Int128(kLink) * millionthsAt(step) /
                                     1'000'000);
  };
  CHECK(areHidden(linkAt(k)));
  CHECK_FALSE(areHidden(linkAt(k - 1)));
}

TEST_CASE("m11: one percent more is what a plan with one percent more says") {
  constexpr std::int64_t kLink = 30'000'000'000;
  Session session(optionsOf(kLink)), more(optionsOf(kLink / 100 * 101));
  REQUIRE(session.run() == Outcome::Ok);
  REQUIRE(more.run() == Outcome::Ok);
  const Duration change = more.report()->stepTime - session.report()->stepTime;
  CHECK(change < Duration(0));
  bool isFound = false;
  for (const report::Sensitivity &row : session.explain().sensitivities)
    if (row.resource == "bandwidth of node") {
      isFound = true;
      CHECK(row.change == change);
    }
  CHECK(isFound);
}
