// What an optimizer keeps of a weight, and what it computes to update it.
#pragma once

#include "compiler/sema/Plan.h"
#include "compiler/shard/ShardedGraph.h"

#include <optional>

namespace planc::lower {

/// A weight on one rank as the matrix that its operator reads: contracted by
/// the rest, `batch` of them.
struct MatrixShape {
  std::int64_t batch = 1, rows = 1, columns = 1;
  bool isProduct = false; ///< read by a matrix product, not looked up
  bool isInLayer = false; ///< stands in a repeat

  bool operator==(const MatrixShape &) const = default;
};

/// Nothing for vectors.
std::optional<MatrixShape> matrixOf(const shard::ShardedGraph &graph,
                                    ops::WeightId weight);

/// Muon orthogonalises the matrices of layers; embeddings, the head and vectors
/// go by AdamW (K. Jordan, 2024; Moonlight, 2502.16982).
bool isOrthogonalised(const sema::Plan &plan,
                      const std::optional<MatrixShape> &shape);

/// Bytes on one rank of the optimizer states of one instance; none of a frozen
/// weight. A master copy where it is more precise than the parameters
/// themselves, and the moments: AdamW two for each element, SGD one; Adafactor
/// the means of a matrix's rows and columns (1804.04235), one for each element
/// of a vector; Muon one where it orthogonalises, else as AdamW.
std::int64_t stateBytes(const shard::ShardedGraph &graph,
                        const sema::Plan &plan, ops::WeightId weight);

} // namespace planc::lower
