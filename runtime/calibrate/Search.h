// The smallest value of a function on a grid, found by steps that halve.
#pragma once

#include "runtime/calibrate/Knobs.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace planc::calibrate {

/// Calls `look` with the neighbours of `at` that are `step` away in one
/// direction or in two at once, cut off at the grid's ends.
template <class Look>
void forEachNeighbour(const std::vector<Knob> &knobs,
                      const std::vector<int> &at, int step, Look look) {
  const auto moved = [&](std::vector<int> place, std::size_t k, int by) {
    place[k] = std::clamp(place[k] + by, 0, knobs[k].last());
    return place;
  };
  for (std::size_t k = 0; k < knobs.size(); ++k)
    for (int by : {-step, step}) {
      const std::vector<int> one = moved(at, k, by);
      look(one);
      for (std::size_t j = 0; j < k; ++j)
        for (int other : {-step, step})
          look(moved(one, j, other));
    }
}

/// The best place reached from any of `starts` by going to the best neighbour
/// while that is better, then with half the step. Of equal places that of the
/// earlier start.
template <class Judge>
std::vector<int> search(const std::vector<Knob> &knobs,
                        const std::vector<std::vector<int>> &starts,
                        const Judge &judge) {
  constexpr int kFirstStep = 128, kMostMoves = 400;
  std::vector<int> best = starts.front();
  double least = std::numeric_limits<double>::infinity();
  for (std::vector<int> at : starts) {
    double here = judge(at);
    int moves = 0;
    for (int step = kFirstStep; step > 0 && moves < kMostMoves; ++moves) {
      std::vector<int> next = at;
      double nearest = here;
      forEachNeighbour(knobs, at, step, [&](const std::vector<int> &place) {
        const double value = judge(place);
        if (value < nearest * (1 - 1e-9)) {
          nearest = value;
          next = place;
        }
      });
      if (next == at)
        step /= 2;
      at = next;
      here = nearest;
    }
    if (here < least * (1 - 1e-9)) {
      least = here;
      best = at;
    }
  }
  return best;
}

} // namespace planc::calibrate
