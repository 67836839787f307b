#include "compiler/pipeline/DrawGrid.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace planc::pipeline {

using schedules::PassKind;
using schedules::TimedPass;

namespace {

/// How many of these passes run together from `first` on.
std::size_t togetherAt(const schedules::Order &order, std::size_t first) {
  std::size_t end = first + 1;
  while (end < order.size() && order[end].withPrevious)
    ++end;
  return end - first;
}

class Grid {
public:
  Grid(const StageGraph &graph, const std::vector<std::vector<TimedPass>> &runs)
      : graph_(graph), runs_(runs),
        slots_(static_cast<std::size_t>(schedules::makespan(runs))),
        how_(schedules::textOf(graph.orders, 1)),
        cell_(2 + fmt::format("{}", graph.microBatches - 1).size()) {}

  std::string draw() const {
    std::string out = heading();
    for (std::size_t stage = 0; stage < runs_.size(); ++stage)
      out += line(stage);
    return out;
  }

private:
  std::string heading() const {
    std::int64_t busy = 0;
    for (const schedules::Order &order : graph_.orders)
      for (const Pass &pass : order)
        busy += schedules::PassTimes().of(pass.kind);
    std::int64_t all = static_cast<std::int64_t>(slots_) * graph_.stages;
    std::int64_t idle = all - busy, common = std::gcd(idle, all);
    return fmt::format("drawn with {}: {} slots, idle {}/{}\n",
                       how_.mixed ? "F 1, B 1, W 1, D 2" : "F 1, B 2", slots_,
                       idle / common, all / common);
  }

  /// `F3`, small where the chunk is not the stage's first.
  std::string nameOf(const Pass &pass, std::size_t stage) const {
    std::string name = schedules::toText(pass, how_);
    bool isFirst = true;
    for (std::int64_t chunk = 0; chunk < pass.chunk; ++chunk)
      isFirst = isFirst && graph_.holders.rankOf(0, chunk) !=
                               static_cast<std::int64_t>(stage);
    if (graph_.holders.copies > 1)
      isFirst = schedules::copyOf(graph_.holders.copies, graph_.microBatches,
                                  pass.microBatch) == 0;
    if (!isFirst)
      name.front() = static_cast<char>(name.front() - 'A' + 'a');
    return name;
  }

  std::string line(std::size_t stage) const {
    const schedules::Order &order = graph_.orders[stage];
    std::string text;
    std::size_t at = 0;
    auto fillTo = [&](std::int64_t slot) {
      for (; at < static_cast<std::size_t>(slot); ++at) {
        text += '.';
        text.append(cell_ - 1, ' ');
      }
    };
    for (std::size_t i = 0; i < order.size();) {
      const TimedPass &run = runs_[stage][i];
      fillTo(run.start);
      std::string name = nameOf(order[i], stage);
      std::size_t count = togetherAt(order, i);
      for (std::size_t k = 1; k < count; ++k)
        name += "&" + nameOf(order[i + k], stage);
      std::size_t width =
          static_cast<std::size_t>(run.end - run.start) * cell_ - 1;
      if (name.size() < width)
        name.append(width - name.size(), run.end - run.start > 1 ? '-' : ' ');
      text += name + ' ';
      at = static_cast<std::size_t>(run.end);
      i += count;
    }
    fillTo(static_cast<std::int64_t>(slots_));
    std::string prefix = fmt::format("stage {} |", stage);
    std::size_t digits = fmt::format("{}", graph_.stages - 1).size();
    prefix.insert(6, digits - fmt::format("{}", stage).size(), ' ');
    std::size_t room = (kGridWidth - prefix.size() - 3) / cell_ * cell_;
    if (text.size() > room)
      return prefix + text.substr(0, room) + "…\n";
    text.erase(text.find_last_not_of(' ') + 1);
    return prefix + text + "\n";
  }

  const StageGraph &graph_;
  const std::vector<std::vector<TimedPass>> &runs_;
  std::size_t slots_;
  schedules::PassText how_;
  std::size_t cell_; ///< characters of a slot, the blank after it included
};

} // namespace

std::string drawGrid(const StageGraph &graph) {
  std::vector<std::vector<TimedPass>> runs = schedules::runTimed(
      graph.orders, graph.shape(), graph.holders, schedules::PassTimes());
  if (runs.empty() || graph.stages == 1)
    return "";
  return Grid(graph, runs).draw();
}

} // namespace planc::pipeline
