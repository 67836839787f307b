#include "compiler/lower/OverlapTensor.h"

#include "compiler/lower/ProductParts.h"

#include <algorithm>
#include <numeric>

namespace planc::lower {

namespace {

struct Changes {
  std::vector<std::uint32_t> place; ///< of every instruction there was
  Bytes received;
};

Changes overlap(const TensorOverlap &request, LoweredPass &pass) {
  Changes changes;
  changes.place.resize(pass.instructions.size());
  std::iota(changes.place.begin(), changes.place.end(), 0u);
  Duration length = lengthOf(pass.instructions, request.time);
  for (std::size_t i = 0; i < changes.place.size(); ++i) {
    std::optional<CutPass> best;
    const PartsRequest parts{request.graph, request.body, &pass};
    for (const PartsSite &site : partsSites(parts, changes.place[i])) {
      CutPass cut = cutInParts(parts, site);
      const Duration now = lengthOf(cut.pass.instructions, request.time);
      if (now >= length)
        continue;
      length = now;
      best = std::move(cut);
    }
    if (!best)
      continue;
    pass = std::move(best->pass);
    for (std::uint32_t &place : changes.place)
      place = best->place[place];
    changes.received = std::max(changes.received, best->received);
  }
  return changes;
}

void follow(const Changes &changes,
            std::vector<LoweredBody::Gradient> &gradients) {
  for (LoweredBody::Gradient &gradient : gradients)
    gradient.instruction = changes.place[gradient.instruction];
  std::stable_sort(gradients.begin(), gradients.end(),
                   [](const auto &a, const auto &b) {
                     return a.instruction < b.instruction;
                   });
}

void follow(const Changes &changes,
            std::vector<LoweredBody::Scatter> &scatters) {
  for (LoweredBody::Scatter &scatter : scatters)
    if (scatter.instruction < changes.place.size())
      scatter.instruction = changes.place[scatter.instruction];
}

} // namespace

void overlapTensor(const TensorOverlap &request, LoweredBody &lowered) {
  const Bytes forward = overlap(request, lowered.forward).received;
  const Changes backward = overlap(request, lowered.backward);
  follow(backward, lowered.gradients);
  follow(backward, lowered.scatters);
  lowered.transient += std::max(forward, backward.received);

  LoweredBody::Split &split = lowered.split;
  const Changes input = overlap(request, split.input);
  follow(input, split.inputGradients);
  const Changes weight = overlap(request, split.weight);
  follow(weight, split.weightGradients);
  follow(weight, split.scatters);
  split.transient += std::max({forward, input.received, weight.received});
}

} // namespace planc::lower
