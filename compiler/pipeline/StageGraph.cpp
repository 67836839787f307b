#include "compiler/pipeline/StageGraph.h"

#include "compiler/pipeline/DrawGrid.h"

#include <algorithm>
#include <fmt/format.h>

namespace planc::pipeline {

using schedules::Fault;
using schedules::PassKind;

namespace {

void verifyChunks(const StageGraph &graph, std::vector<std::string> &broken) {
  std::size_t at = 0;
  for (std::size_t c = 0; c < graph.chunks.size(); ++c) {
    const Chunk &chunk = graph.chunks[c];
    if (chunk.begin != at || chunk.end < chunk.begin)
      broken.push_back(fmt::format("Q1: chunk {} holds units {}..{}, expected "
                                   "to begin at {}",
                                   c, chunk.begin, chunk.end, at));
    at = chunk.end;
  }
  if (at != graph.units.size())
    broken.push_back(fmt::format("Q1: {} units, {} of them in chunks",
                                 graph.units.size(), at));
}

void verifyHolders(const StageGraph &graph, std::vector<std::string> &broken) {
  for (std::int64_t stage = 0; stage < graph.stages; ++stage) {
    auto held = std::count(graph.holders.ranks.begin(),
                           graph.holders.ranks.end(), stage);
    if (held != graph.virtualStages * graph.holders.copies)
      broken.push_back(fmt::format("Q5: stage {} holds {} chunks, expected {}",
                                   stage, held,
                                   graph.virtualStages * graph.holders.copies));
  }
}

std::string textOf(const StageGraph &graph, const Fault &fault) {
  std::string pass = schedules::toText(
      fault.pass, schedules::textOf(graph.orders, graph.virtualStages));
  switch (fault.kind) {
  case Fault::Kind::OutOfRange:
    return fmt::format("Q2: stage {} runs {}, which is not there", fault.rank,
                       pass);
  case Fault::Kind::WrongRank:
    return fmt::format("Q5: stage {} runs {} of stage {}", fault.rank, pass,
                       fault.holder);
  case Fault::Kind::Twice:
    return fmt::format("Q2: stage {} runs {} twice", fault.rank, pass);
  case Fault::Kind::Missing:
    return fmt::format("Q2: stage {} does not run {}", fault.rank, pass);
  case Fault::Kind::TooEarly:
    return fmt::format("Q3: stage {}: {} before what it needs", fault.rank,
                       pass);
  case Fault::Kind::NoPair:
    return fmt::format("Q2: stage {}: {} runs with no forward", fault.rank,
                       pass);
  case Fault::Kind::NeverRuns:
    return fmt::format("Q4: stage {} waits for ever before {}", fault.rank,
                       pass);
  }
  return "";
}

} // namespace

bool StageGraph::holds(std::int64_t stage, std::int64_t chunk) const {
  for (std::int64_t copy = 0; copy < holders.copies; ++copy)
    if (holders.rankOf(copy, chunk) == stage)
      return true;
  return false;
}

std::vector<std::int64_t> peakInFlight(const StageGraph &graph) {
  std::vector<std::int64_t> peaks;
  for (const schedules::Order &order : graph.orders) {
    std::int64_t now = 0, peak = 0;
    for (const Pass &pass : order) {
      now += pass.kind == PassKind::Forward ? 1 : 0;
      peak = std::max(peak, now);
      now -= schedules::sendsBack(pass.kind) ? 1 : 0;
    }
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<std::string> verify(const StageGraph &graph) {
  std::vector<std::string> broken;
  verifyChunks(graph, broken);
  verifyHolders(graph, broken);
  for (const Fault &fault :
       schedules::check(graph.orders, graph.shape(), graph.holders))
    broken.push_back(textOf(graph, fault));
  if (!broken.empty())
    return broken;
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
    out += fmt::format("chunk {} on stage {}", c,
                       graph.holders.rankOf(0, static_cast<std::int64_t>(c)));
    for (std::int64_t copy = 1; copy < graph.holders.copies; ++copy)
      out += fmt::format(
          " and {}", graph.holders.rankOf(copy, static_cast<std::int64_t>(c)));
    out += ':';
    if (chunk.begin == chunk.end)
      out += " nothing";
    else if (chunk.end - chunk.begin == 1)
      out += " " + graph.units[chunk.begin].name;
    else
      out += fmt::format(" {} .. {}", graph.units[chunk.begin].name,
                         graph.units[chunk.end - 1].name);
    out += '\n';
  }
  const schedules::PassText how = schedules::textOf(
      graph.orders, graph.virtualStages * graph.holders.copies);
  for (std::size_t stage = 0; stage < graph.orders.size(); ++stage)
    out += fmt::format("stage {}: {}\n", stage,
                       schedules::toText(graph.orders[stage], how));
  return out + drawGrid(graph);
}

} // namespace planc::pipeline
