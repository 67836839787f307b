#include "runtime/sched/NextForward.h"

#include <algorithm>

namespace planc::sched {

namespace {

Duration forwardOf(std::span<const LayerGradient> layers) {
  Duration out(0);
  for (const LayerGradient &layer : layers)
    out += layer.forward;
  return out;
}

} // namespace

Duration nextForwardByPriority(std::span<const LayerGradient> layers,
                               std::int64_t psPerGibibyte) {
  LinkCost flow{Duration(0), psPerGibibyte};
  Duration out(0), behind = forwardOf(layers);
  Bytes sum(0);
  for (const LayerGradient &layer : layers) {
    sum += layer.bytes;
    out = std::max(out, layer.ready + flow.of(sum) + behind);
    behind -= layer.forward;
  }
  return out;
}

Duration nextForwardFirstCome(std::span<const LayerGradient> layers,
                              std::int64_t psPerGibibyte) {
  LinkCost flow{Duration(0), psPerGibibyte};
  Duration last(0);
  Bytes sum(0);
  for (const LayerGradient &layer : layers) {
    sum += layer.bytes;
    last = std::max(last, layer.ready + flow.of(sum));
  }
  return last + forwardOf(layers);
}

} // namespace planc::sched
