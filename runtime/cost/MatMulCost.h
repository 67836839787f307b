// Time of a matrix product by tile and wave quantisation (docs/cost.md C1).
#pragma once

#include "runtime/hardware/Cluster.h"

#include <cstdint>

namespace planc::cost {

/// `batch` products of [m, k] × [k, n].
struct MatMulShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  /// Differ: one kernel for products of m rows on average (tokens of experts).
  enum class Rows { Equal, Differ } rows = Rows::Equal;
  std::int64_t elementBytes = 2;
};

/// What the accelerator gives a product: its peak in operations per second, the
/// share of it a well-tiled one reaches, and bytes per second for partial sums.
struct MatMulRates {
  double peak = 0, efficiency = 1, bandwidth = 0;
};

/// The share of its rate that a product keeps where a row of a matrix has
/// `extent` elements: all of it if that is a multiple of 16 bytes. Each halving
/// of what it is a multiple of costs as much, down to the accelerator's share
/// for 2 bytes.
double alignedShare(const hardware::Accelerator &accelerator,
                    std::int64_t extent, std::int64_t elementBytes);

/// Seconds of arithmetic, operands free; the best of a few tile shapes and
/// splits of k. Rows are taken to be n long, so that of operands only those of
/// the second count as out of line. A shape with an extent of 0 takes none.
double matmulSeconds(const hardware::Accelerator &accelerator,
                     const MatMulShape &shape, const MatMulRates &rates);

} // namespace planc::cost
