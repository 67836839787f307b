// Copies between an accelerator and its host's memory, and what the host's
// processors do there (docs/cost.md C12).
#pragma once

#include "runtime/cost/CostModel.h"
#include "runtime/hardware/Cluster.h"

namespace planc::cost {

/// All accelerators of a host do the same at the same time, so each has its
/// share of the host's memory bandwidth: a copy takes the slower of its link
/// and that share, an update the bytes of states it reads and writes at that
/// share (ZeRO-Offload's CPU Adam is bound by memory: 2101.06840, 5.2). What a
/// copy takes of the host's memory stands after the cluster's levels in
/// `levels`: copies both ways at once share it.
CollectiveCost hostCost(const hardware::Cluster &cluster,
                        program::InstructionKind kind,
                        const program::Message &message);

} // namespace planc::cost
