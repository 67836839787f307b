#include "compiler/pipeline/ChooseRecompute.h"

#include <algorithm>
#include <tuple>

namespace planc::pipeline {

namespace {

using Moment = RecomputeProblem::Moment;

/// Memory by moment: what is kept, and the largest transient of its chunk.
struct Partial {
  std::vector<std::int64_t> kept, transient;
  std::int64_t time = 0;
  std::size_t before = 0; ///< index among the states of the layer before
  std::size_t option = 0;

  std::int64_t at(std::size_t moment) const {
    return kept[moment] + transient[moment];
  }
};

bool isWithin(const Partial &state, std::int64_t budget,
              const std::vector<std::int64_t> &least) {
  for (std::size_t m = 0; m < state.kept.size(); ++m)
    if (state.at(m) + least[m] > budget)
      return false;
  return true;
}

/// Nowhere more memory, and no more time.
bool dominates(const Partial &a, const Partial &b) {
  if (a.time > b.time)
    return false;
  for (std::size_t m = 0; m < a.kept.size(); ++m)
    if (a.kept[m] > b.kept[m] || a.transient[m] > b.transient[m])
      return false;
  return true;
}

class Chooser {
public:
  explicit Chooser(const RecomputeProblem &problem)
      : problem_(problem), moments_(withoutDominated(problem.moments)) {}

  std::optional<std::vector<std::size_t>> run() {
    findLeast();
    Partial start;
    start.kept.assign(moments_.size(), 0);
    start.transient = start.kept;
    steps_.push_back({start});
    for (std::size_t l = 0; l < problem_.layers.size(); ++l) {
      extend(l);
      if (steps_.back().empty())
        return std::nullopt;
    }
    const std::vector<Partial> &last = steps_.back();
    std::size_t best = 0;
    for (std::size_t i = 1; i < last.size(); ++i)
      if (last[i].time < last[best].time)
        best = i;
    return trace(best);
  }

private:
  const std::vector<RecomputeOption> &optionsOf(std::size_t layer) const {
    return problem_.options[problem_.layers[layer].kind];
  }

  /// By layer: the least that it and those after it keep, at every moment.
  void findLeast() {
    least_.assign(problem_.layers.size() + 1,
                  std::vector<std::int64_t>(moments_.size(), 0));
    for (std::size_t l = problem_.layers.size(); l-- > 0;) {
      std::int64_t saved = optionsOf(l).front().saved.value;
      for (const RecomputeOption &option : optionsOf(l))
        saved = std::min(saved, option.saved.value);
      for (std::size_t m = 0; m < moments_.size(); ++m)
        least_[l][m] = least_[l + 1][m] +
                       saved * moments_[m].inFlight[problem_.layers[l].chunk];
    }
  }

  void extend(std::size_t layer) {
    const std::size_t chunk = problem_.layers[layer].chunk;
    std::vector<Partial> next;
    const std::vector<Partial> &now = steps_.back();
    for (std::size_t s = 0; s < now.size(); ++s)
      for (std::size_t o = 0; o < optionsOf(layer).size(); ++o) {
        const RecomputeOption &option = optionsOf(layer)[o];
        Partial state = now[s];
        state.before = s;
        state.option = o;
        state.time += option.time.value;
        for (std::size_t m = 0; m < moments_.size(); ++m) {
          state.kept[m] += option.saved.value * moments_[m].inFlight[chunk];
          if (moments_[m].chunk == chunk)
            state.transient[m] =
                std::max(state.transient[m], option.transient.value);
        }
        if (isWithin(state, problem_.budget.value, least_[layer + 1]))
          next.push_back(std::move(state));
      }
    steps_.push_back(thinned(std::move(next)));
  }

  /// Without dominated states, in the order of their times; an even sample with
  /// both ends where there are too many.
  static std::vector<Partial> thinned(std::vector<Partial> states) {
    std::stable_sort(
        states.begin(), states.end(), [](const Partial &a, const Partial &b) {
          return a.time != b.time ? a.time < b.time : a.kept < b.kept;
        });
    std::vector<Partial> kept;
    for (Partial &state : states)
      // What dominates it is most often near it in time.
      if (std::none_of(kept.rbegin(), kept.rend(), [&](const Partial &other) {
            return dominates(other, state);
          }))
        kept.push_back(std::move(state));
    if (kept.size() <= kMostStates)
      return kept;
    std::vector<Partial> sample;
    for (std::size_t i = 0; i < kMostStates; ++i)
      sample.push_back(kept[i * (kept.size() - 1) / (kMostStates - 1)]);
    return sample;
  }

  std::vector<std::size_t> trace(std::size_t state) const {
    std::vector<std::size_t> out(problem_.layers.size());
    for (std::size_t l = out.size(); l-- > 0;) {
      const Partial &at = steps_[l + 1][state];
      out[l] = at.option;
      state = at.before;
    }
    return out;
  }

  const RecomputeProblem &problem_;
  std::vector<Moment> moments_;
  std::vector<std::vector<std::int64_t>> least_;
  std::vector<std::vector<Partial>> steps_; ///< by layers done
};

bool fits(const RecomputeProblem &problem,
          const std::vector<std::size_t> &chosen) {
  for (const Moment &moment : problem.moments) {
    std::int64_t kept = 0, transient = 0;
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      const RecomputeProblem::Layer &layer = problem.layers[l];
      const RecomputeOption &option = problem.options[layer.kind][chosen[l]];
      kept += option.saved.value * moment.inFlight[layer.chunk];
      if (layer.chunk == moment.chunk)
        transient = std::max(transient, option.transient.value);
    }
    if (kept + transient > problem.budget.value)
      return false;
  }
  return true;
}

std::int64_t timeOf(const RecomputeProblem &problem,
                    const std::vector<std::size_t> &chosen) {
  std::int64_t time = 0;
  for (std::size_t l = 0; l < chosen.size(); ++l)
    time += problem.options[problem.layers[l].kind][chosen[l]].time.value;
  return time;
}

} // namespace

std::vector<Moment> withoutDominated(const std::vector<Moment> &moments) {
  auto covers = [](const Moment &a, const Moment &b) {
    return a.chunk == b.chunk &&
           std::equal(a.inFlight.begin(), a.inFlight.end(), b.inFlight.begin(),
                      [](auto x, auto y) { return x >= y; });
  };
  std::vector<Moment> out;
  for (const Moment &moment : moments) {
    if (std::any_of(out.begin(), out.end(),
                    [&](const Moment &m) { return covers(m, moment); }))
      continue;
    std::erase_if(out, [&](const Moment &m) { return covers(moment, m); });
    out.push_back(moment);
  }
  return out;
}

std::optional<std::vector<std::size_t>>
chooseRecompute(const RecomputeProblem &problem) {
  // Often what takes least time fits, and nothing has to be weighed.
  const auto quicker = [](const RecomputeOption &a, const RecomputeOption &b) {
    return std::tie(a.time, a.saved) < std::tie(b.time, b.saved);
  };
  std::vector<std::size_t> quickest;
  for (const RecomputeProblem::Layer &layer : problem.layers) {
    const std::vector<RecomputeOption> &options = problem.options[layer.kind];
    quickest.push_back(static_cast<std::size_t>(
        std::min_element(options.begin(), options.end(), quicker) -
        options.begin()));
  }
  if (fits(problem, quickest))
    return quickest;
  return Chooser(problem).run();
}

std::optional<std::vector<std::size_t>>
chooseRecomputeByTrying(const RecomputeProblem &problem) {
  std::vector<std::size_t> chosen(problem.layers.size(), 0);
  std::optional<std::vector<std::size_t>> best;
  for (;;) {
    if (fits(problem, chosen) &&
        (!best || timeOf(problem, chosen) < timeOf(problem, *best)))
      best = chosen;
    std::size_t l = 0;
    while (l < chosen.size() &&
           ++chosen[l] == problem.options[problem.layers[l].kind].size())
      chosen[l++] = 0;
    if (l == chosen.size())
      return best;
  }
}

} // namespace planc::pipeline
