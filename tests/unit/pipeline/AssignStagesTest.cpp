#include "compiler/pipeline/AssignStages.h"

#include "tests/unit/Catch.h"

#include <algorithm>
#include <random>

using namespace planc;
using namespace planc::pipeline;

namespace {

struct Score {
  std::int64_t longest = 0;
  Int128 squares = 0;
  auto operator<=>(const Score &) const = default;
};

Score scoreOf(const std::vector<Duration> &costs,
              const std::vector<std::size_t> &ends) {
  Score score;
  std::size_t at = 0;
  for (std::size_t end : ends) {
    std::int64_t sum = 0;
    for (; at < end; ++at)
      sum += costs[at].value;
    score.longest = std::max(score.longest, sum);
    Int128 scaled = Int128(sum) >> 10;
    score.squares += scaled * scaled;
  }
  return score;
}

void tryAll(const std::vector<Duration> &costs, std::size_t chunks,
            std::vector<std::size_t> &ends, Score &best) {
  if (ends.size() + 1 == chunks) {
    ends.push_back(costs.size());
    best = std::min(best, scoreOf(costs, ends));
    ends.pop_back();
    return;
  }
  for (std::size_t end = ends.empty() ? 0 : ends.back(); end <= costs.size();
       ++end) {
    ends.push_back(end);
    tryAll(costs, chunks, ends, best);
    ends.pop_back();
  }
}

std::vector<Duration> times(std::vector<std::int64_t> values) {
  std::vector<Duration> out;
  for (std::int64_t value : values)
    out.push_back(Duration(value << 20));
  return out;
}

} // namespace

TEST_CASE("the balanced cut is the best of all cuts") {
  std::mt19937 random(7);
  for (int instance = 0; instance < 300; ++instance) {
    std::size_t units = 1 + random() % 8, chunks = 1 + random() % 4;
    std::vector<std::int64_t> values(units);
    for (std::int64_t &value : values)
      value = static_cast<std::int64_t>(random() % 20);
    std::vector<Duration> costs = times(values);
    std::vector<std::size_t> ends = balancedCut(costs, chunks), tried;
    REQUIRE(ends.size() == chunks);
    REQUIRE(ends.back() == units);
    Score best{std::numeric_limits<std::int64_t>::max(), 0};
    tryAll(costs, chunks, tried, best);
    Score found = scoreOf(costs, ends);
    CHECK(found.longest == best.longest);
    // Of equally long cuts the one with the least sum of squares.
    CHECK(found.squares <= best.squares);
  }
}

TEST_CASE("embedding and loss stand at the ends of a Llama-like stack") {
  // 126 layers, a cheap embedding and a head of one and a half layers over 128
  // chunks: every layer alone.
  std::vector<std::int64_t> values(128, 10);
  values.front() = 1;
  values.back() = 15;
  std::vector<std::size_t> ends = balancedCut(times(values), 128);
  for (std::size_t c = 0; c < 128; ++c)
    CHECK(ends[c] == c + 1);
}

TEST_CASE("a head of a third of a layer goes with the last layers") {
  std::vector<std::int64_t> values(98, 12);
  values.front() = 1;
  values.back() = 4;
  std::vector<std::size_t> ends = balancedCut(times(values), 24);
  // Embedding and four layers, then fours, then four and the head.
  CHECK(ends[0] == 5);
  CHECK(ends[22] == 93);
  CHECK(ends[23] == 98);
}
