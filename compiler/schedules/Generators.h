// One function a schedule: the order of every rank. Needs a shape that its rule
// lets pass; others give orders that are incomplete or never run (Execute.h
// tells).
#pragma once

#include "compiler/schedules/Pass.h"

namespace planc::schedules {

// Looped.cpp. One chunk a rank.

/// All forwards, then all backwards (Huang et al., 1811.06965). With a group:
/// so many micro-batches at a time, which bounds what is in flight and pays the
/// fill and drain each time.
Orders gPipe(const Shape &shape);
/// Rank r: stages − 1 − r forwards, then pairs, then the rest (PipeDream-flush;
/// Narayanan et al., 2104.04473). With pairs that run together one forward more
/// ahead, as Megatron-LM overlaps experts' communication.
Orders oneFOneB(const Shape &shape);
/// 1F1B with 2·(stages − 1 − r) forwards ahead: transfers hide behind them
/// (Zhuang et al., 2211.05322).
Orders eager1F1B(const Shape &shape);
/// 1F1B whose unit is `group` micro-batches forward, then backward.
Orders kFkB(const Shape &shape);

// Looped.cpp. Chunk c on rank c mod stages.

/// Groups of `group` (0: stages) micro-batches, chunk by chunk inside a group;
/// rank r warms up with min(m·v, 2(p − 1 − r) + (v − 1)·group) forwards, then
/// pairs (2104.04473, 2.2; the free group size is Llama 3's, 2407.21783,
/// 3.3.2).
Orders interleaved1F1B(const Shape &shape);
/// All micro-batches through a chunk, then through the next; backward the same
/// from the last (Lamy-Poirier, 2211.05953).
Orders loopedBfs(const Shape &shape);

// Looped.cpp. `slices` pieces of each sequence, one after the other.

/// GPipe over slices; the backward visits them from the last (Li et al.,
/// 2102.07988).
Orders teraPipe(const Shape &shape);
/// 1F1B over slices with slices − 1 more ahead (2406.03488).
Orders seq1F1B(const Shape &shape);

// ZeroBubble.cpp. Backwards split in B and W.

/// Depth d of 1 and 2: d·(p − 1 − r) forwards ahead, weight gradients d·r
/// behind (Qi et al., 2401.10241).
Orders zbH1(const Shape &shape);
Orders zbH2(const Shape &shape);
/// Interleaved with one forward a hop ahead, weight gradients r behind, as
/// PyTorch's schedule of this name.
Orders interleavedZeroBubble(const Shape &shape);
/// Two chunks, down and back up; memory of 1F1B (2401.10241, 5.2; the order is
/// that of PyTorch's ScheduleZBVZeroBubble).
Orders zbV(const Shape &shape);

// VPattern.cpp. Two chunks, down and back up; backwards split.

/// Six slots a micro-batch that repeat, with about half and a third of 1F1B's
/// activations; weight gradients in the first slots free after their B, the
/// beginning and the end moved together (Qi et al., 2405.15362).
Orders vHalf(const Shape &shape);
Orders vMin(const Shape &shape);

// Bidirectional.cpp. Two ends feed in; forwards and backwards in pairs.

/// Two copies of the model (DeepSeek-V3, 2412.19437, 3.2.1).
Orders dualPipe(const Shape &shape);
/// The same folded: two chunks, one copy.
Orders dualPipeV(const Shape &shape);

// Listed.cpp. By list scheduling with backwards twice as long as forwards.

/// Waves over zig-zag chunks: backward first, then the deepest forward (Liu et
/// al., 2308.15762).
Orders hanayo(const Shape &shape);
/// Two copies of the model in opposite directions: backward first, then the
/// oldest micro-batch (Li and Hoefler, 2107.06925).
Orders chimera(const Shape &shape);

} // namespace planc::schedules
