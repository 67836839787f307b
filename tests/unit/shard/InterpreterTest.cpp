// The judge of the derived backward and of the sharding rule: real tensors.
#include "tests/unit/shard/Interpreter.h"
#include "tests/unit/Catch.h"
#include "tests/unit/shard/RandomCase.h"

#include <cmath>
#include <cstdlib>

using namespace planc;
using namespace planc::oracle;

namespace {

/// More by the environment: thousands were run, hundreds are.
std::uint32_t seedCount() {
  const char *asked = std::getenv("PLANC_SHARD_SEEDS");
  return asked ? static_cast<std::uint32_t>(std::atoi(asked)) : 400;
}

double lossWith(const graph::OpGraph &graph, Inputs inputs,
                const Parameter &parameter, std::size_t element, double step) {
  inputs.weights.at(parameter).data[element] += step;
  return runWhole(graph, inputs, Passes::Forward).loss;
}

/// Of every weight some entries against central differences.
void checkGradients(const graph::OpGraph &graph, std::uint32_t seed) {
  REQUIRE(graph::verify(graph) == std::vector<std::string>());
  Inputs inputs = randomInputs(graph, seed);
  Outcome outcome = runWhole(graph, inputs, Passes::Both);
  CHECK(outcome.gradients.size() == inputs.weights.size());
  const double step = 1e-5;
  int jumps = 0;
  for (const auto &[parameter, gradient] : outcome.gradients) {
    INFO("seed " << seed << ", gradient of "
                 << graph.model.weights[parameter.first].name);
    std::size_t stride = gradient.size() / 3 + 1;
    for (std::size_t i = seed % stride; i < gradient.size(); i += stride) {
      double up = lossWith(graph, inputs, parameter, i, step);
      double down = lossWith(graph, inputs, parameter, i, -step);
      double wanted = (up - down) / (2 * step);
      // A token that another expert gets inside the step makes a jump.
      if (std::abs(up - 2 * outcome.loss + down) > 1e-6) {
        ++jumps;
        continue;
      }
      CHECK(std::abs(gradient.data[i] - wanted) <
            1e-6 * (1 + std::abs(wanted)));
    }
  }
  CHECK(jumps <= 8);
}

} // namespace

TEST_CASE("derived gradients equal finite differences") {
  complaints().clear();
  for (std::uint32_t seed = 1; seed <= 12; ++seed)
    checkGradients(CaseMaker(seed).make().graph, seed);
  CHECK(complaints() == std::vector<std::string>());
}

TEST_CASE("every rank of every random plan gets what one device gets") {
  for (std::uint32_t seed = 1; seed <= seedCount(); ++seed) {
    complaints().clear();
    RandomCase random = CaseMaker(seed).make();
    INFO("seed " << seed << ", " << random.graph.model.name << " over "
                 << random.text);
    Inputs inputs = randomInputs(random.graph, seed);
    Outcome outcome = runWhole(random.graph, inputs, Passes::Both);
    shard::ShardedGraph sharded = shard::shardGraph(random.graph, random.plan);
    std::vector<std::string> none;
    CHECK(shard::verify(sharded) == none);
    CHECK(runSharded(sharded, random.plan, inputs, outcome) == none);
    CHECK(complaints() == none);
  }
}
