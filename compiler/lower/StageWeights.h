// Which weights a stage holds, how large they are on one of its ranks, and what
// brings their gradients home.
#pragma once

#include "compiler/lower/EmitProgram.h"

namespace planc::lower {

/// One instance of a weight on a stage: a layer's own, or one shared by several
/// units.
struct HeldWeight {
  ops::WeightId weight;
  std::size_t unit = 0; ///< first unit of the stage that uses it
  bool isShared = false;
};

/// In the order of the units; a shared weight once.
std::vector<HeldWeight> weightsOf(const EmitRequest &request,
                                  std::int64_t stage);

/// Whether all units read one instance of the weight.
bool isShared(const EmitRequest &request, ops::WeightId weight);

/// Whether the plan trains it not: it has neither gradient nor states.
bool isFrozen(const EmitRequest &request, ops::WeightId weight);

/// Stages that hold a shared weight, in order.
std::vector<std::int64_t> holdersOf(const EmitRequest &request,
                                    ops::WeightId weight);

/// Layers whose parameters are fetched while another is at work.
std::size_t fetchedAhead(const sema::Plan &plan);

/// Elements of a flat buffer of `elements` cut over `axes`, padded.
std::int64_t cutElements(const sema::Mesh &mesh, std::int64_t elements,
                         const std::vector<sema::AxisId> &axes);

} // namespace planc::lower
