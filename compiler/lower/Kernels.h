// Which steps one kernel does, and the memory traffic of the whole.
#pragma once

#include "compiler/shard/ShardedGraph.h"

#include <set>
#include <vector>

namespace planc::lower {

/// A step and the part of the training step it is run in (a forward step may be
/// run again in the backward).
struct PlannedStep {
  const shard::Step *step = nullptr;
  program::Phase phase = program::Phase::Forward;
};

/// Steps (by their index in the list) that run as one, in the place of the
/// last.
struct Kernel {
  std::vector<std::size_t> steps;
  std::vector<shard::ShardedValueId> operands; ///< that enter from outside
  std::vector<shard::ShardedValueId> results;  ///< of all its steps
  program::Work work;
};

/// What the backward reads of the forward in a format narrower than that which
/// it was made in.
struct NarrowCopies {
  Precision format = Precision::Fp8;
  std::vector<shard::ShardedValueId> kept;
  std::set<shard::ShardedValueId> values; ///< these and views of them
};

struct KernelRequest {
  const shard::ShardedGraph *graph = nullptr;
  ops::BodyId body;
  const std::vector<PlannedStep> *steps = nullptr;
  /// Values that must reach memory besides those read by other kernels; may be
  /// null.
  const std::vector<shard::ShardedValueId> *kept = nullptr;
  /// What elementwise kernels read narrow copies of; may be null.
  const NarrowCopies *narrow = nullptr;
};

/// Elementwise steps that graph::buildGraph put into one kernel stay together
/// unless another step needs a value from their middle first. Order is
/// otherwise kept.
std::vector<Kernel> groupKernels(const KernelRequest &request);

/// What a computing step computes.
inline const ops::Op &opOf(const graph::Body &body, const shard::Step &step) {
  return step.phase == program::Phase::Forward ? body.forward.forward[step.op]
                                               : body.backward[step.op];
}

/// Bytes of one value on one rank that memory holds at a time: a chunk of what
/// is made in chunks.
Bytes heldBytes(const shard::ShardedGraph &graph, ops::BodyId body,
                shard::ShardedValueId value);

/// Bytes of one value on one rank, in its own format or another.
Bytes bytesOf(const shard::ShardedGraph &graph, ops::BodyId body,
              shard::ShardedValueId value);
Bytes bytesIn(Precision format, const shard::ShardedGraph &graph,
              ops::BodyId body, shard::ShardedValueId value);
/// Sum over distinct values.
Bytes bytesOf(const shard::ShardedGraph &graph, ops::BodyId body,
              const std::vector<shard::ShardedValueId> &values);

} // namespace planc::lower
