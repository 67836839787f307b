#include "compiler/pipeline/StageGraph.h"

#include <algorithm>
#include <fmt/format.h>

namespace planc::pipeline {

using program::PassKind;

namespace {

/// Runs the orders as far as their dependences let them, times apart.
/// done[kind][chunk] [micro-batch]; gives the place each stage stopped at.
class DryRun {
public:
  explicit DryRun(const StageGraph &graph)
      : graph_(graph), chunks_(static_cast<std::int32_t>(graph.chunks.size())),
        next_(graph.orders.size(), 0) {
    for (auto &done : done_)
      done.assign(graph.chunks.size() *
                      static_cast<std::size_t>(graph.microBatches),
                  false);
  }

  const std::vector<std::size_t> &run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t stage = 0; stage < next_.size(); ++stage)
        while (next_[stage] < graph_.orders[stage].size() &&
               isReady(graph_.orders[stage][next_[stage]])) {
          finish(graph_.orders[stage][next_[stage]++]);
          moved = true;
        }
    }
    return next_;
  }

private:
  std::size_t at(std::int32_t chunk, std::int32_t microBatch) const {
    return static_cast<std::size_t>(chunk) *
               static_cast<std::size_t>(graph_.microBatches) +
           static_cast<std::size_t>(microBatch);
  }
  bool isReady(const Pass &pass) const {
    if (pass.kind == PassKind::Forward)
      return pass.chunk == 0 || done_[0][at(pass.chunk - 1, pass.microBatch)];
    if (!done_[0][at(pass.chunk, pass.microBatch)])
      return false;
    return pass.chunk + 1 == chunks_ ||
           done_[1][at(pass.chunk + 1, pass.microBatch)];
  }
  void finish(const Pass &pass) {
    done_[pass.kind == PassKind::Forward ? 0 : 1]
         [at(pass.chunk, pass.microBatch)] = true;
  }

  const StageGraph &graph_;
  std::int32_t chunks_;
  std::vector<std::size_t> next_;
  std::vector<bool> done_[2];
};

std::string nameOf(const Pass &pass, bool withChunk) {
  char letter = pass.kind == PassKind::Forward    ? 'F'
                : pass.kind == PassKind::Backward ? 'B'
                                                  : 'W';
  return withChunk ? fmt::format("{}{}.{}", letter, pass.microBatch, pass.chunk)
                   : fmt::format("{}{}", letter, pass.microBatch);
}

void verifyChunks(const StageGraph &graph, std::vector<std::string> &broken) {
  std::size_t at = 0;
  for (std::size_t c = 0; c < graph.chunks.size(); ++c) {
    const Chunk &chunk = graph.chunks[c];
    if (chunk.begin != at || chunk.end < chunk.begin)
      broken.push_back(fmt::format("Q1: chunk {} holds units {}..{}, expected "
                                   "to begin at {}",
                                   c, chunk.begin, chunk.end, at));
    at = chunk.end;
    if (chunk.stage != static_cast<std::int64_t>(c) % graph.stages)
      broken.push_back(
          fmt::format("Q5: chunk {} is on stage {}", c, chunk.stage));
  }
  if (at != graph.units.size())
    broken.push_back(fmt::format("Q1: {} units, {} of them in chunks",
                                 graph.units.size(), at));
}

void verifyOrder(const StageGraph &graph, std::size_t stage,
                 std::vector<std::string> &broken) {
  auto count =
      static_cast<std::size_t>(graph.virtualStages * graph.microBatches);
  std::vector<int> seen[2];
  seen[0].assign(
      graph.chunks.size() * static_cast<std::size_t>(graph.microBatches), 0);
  seen[1] = seen[0];
  for (const Pass &pass : graph.orders[stage]) {
    std::size_t at = static_cast<std::size_t>(pass.chunk) *
                         static_cast<std::size_t>(graph.microBatches) +
                     static_cast<std::size_t>(pass.microBatch);
    bool backward = pass.kind != PassKind::Forward;
    if (graph.chunks[static_cast<std::size_t>(pass.chunk)].stage !=
        static_cast<std::int64_t>(stage))
      broken.push_back(fmt::format("Q2: stage {} runs {} of another stage",
                                   stage, nameOf(pass, true)));
    if (backward && !seen[0][at])
      broken.push_back(fmt::format("Q3: stage {}: {} before its forward", stage,
                                   nameOf(pass, true)));
    ++seen[backward][at];
  }
  for (const auto &counts : seen) {
    auto once = std::count(counts.begin(), counts.end(), 1);
    auto twice = std::count_if(counts.begin(), counts.end(),
                               [](int n) { return n > 1; });
    if (static_cast<std::size_t>(once) != count || twice)
      broken.push_back(fmt::format("Q2: stage {} runs {} passes once, {} more "
                                   "than once; expected {} and 0",
                                   stage, once, twice, count));
  }
}

} // namespace

std::vector<std::int64_t> peakInFlight(const StageGraph &graph) {
  std::vector<std::int64_t> peaks;
  for (const std::vector<Pass> &order : graph.orders) {
    std::int64_t now = 0, peak = 0;
    for (const Pass &pass : order) {
      now += pass.kind == PassKind::Forward ? 1 : 0;
      peak = std::max(peak, now);
      now -= pass.kind == PassKind::Backward ? 1 : 0;
    }
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<std::string> verify(const StageGraph &graph) {
  std::vector<std::string> broken;
  verifyChunks(graph, broken);
  for (std::size_t stage = 0; stage < graph.orders.size(); ++stage)
    verifyOrder(graph, stage, broken);
  if (!broken.empty())
    return broken;
  DryRun dry(graph);
  const std::vector<std::size_t> &stopped = dry.run();
  for (std::size_t stage = 0; stage < stopped.size(); ++stage)
    if (stopped[stage] < graph.orders[stage].size())
      broken.push_back(
          fmt::format("Q4: stage {} waits for ever before {}", stage,
                      nameOf(graph.orders[stage][stopped[stage]], true)));
  for (std::size_t c = 1; c < graph.crossing.size(); ++c)
    if (graph.crossing[c].empty())
      broken.push_back(fmt::format("Q6: nothing crosses into chunk {}", c));
  return broken;
}

std::string toText(const StageGraph &graph) {
  std::string out =
      fmt::format("stages {} virtual {} micro-batches {}\n", graph.stages,
                  graph.virtualStages, graph.microBatches);
  for (std::size_t c = 0; c < graph.chunks.size(); ++c) {
    const Chunk &chunk = graph.chunks[c];
    out += fmt::format("chunk {} on stage {}:", c, chunk.stage);
    if (chunk.begin == chunk.end)
      out += " nothing";
    else if (chunk.end - chunk.begin == 1)
      out += " " + graph.units[chunk.begin].name;
    else
      out += fmt::format(" {} .. {}", graph.units[chunk.begin].name,
                         graph.units[chunk.end - 1].name);
    out += '\n';
  }
  for (std::size_t stage = 0; stage < graph.orders.size(); ++stage) {
    out += fmt::format("stage {}:", stage);
    for (const Pass &pass : graph.orders[stage])
      out += " " + nameOf(pass, graph.virtualStages > 1);
    out += '\n';
  }
  return out;
}

} // namespace planc::pipeline
