// Gradients whose layers the next forward needs from the first to the last,
// while the backward makes them from the last to the first: one link with
// releases and delivery times that are nested the other way about.
#pragma once

#include "runtime/sched/Algorithms.h"

namespace planc::sched {

struct LayerGradient {
  Duration ready; ///< not increasing from the first layer to the last
  Bytes bytes;
  Duration forward; ///< begins when its gradient and the layer before it have
};

/// The end of the next forward when the ready layer closest to the first is
/// always sent next, cut as fine as one likes and without latency, which no
/// order beats (Jackson's rule, preemptive): max over k of ready_k + flow of
/// layers 1…k + forward of layers k…L. `psPerGibibyte` of the link.
Duration nextForwardByPriority(std::span<const LayerGradient> layers,
                               std::int64_t psPerGibibyte);

/// The same in the order in which they are ready: max over k of ready_k + flow
/// of 1…k, then the whole forward.
Duration nextForwardFirstCome(std::span<const LayerGradient> layers,
                              std::int64_t psPerGibibyte);

} // namespace planc::sched
