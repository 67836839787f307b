#include "runtime/cost/MatMulCost.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace planc::cost {

namespace {

struct Tile {
  double rows, columns;
};

/// Of the largest tile: whole, half, quarter, in both directions.
constexpr double kTileParts[] = {1.0, 0.5, 0.25};
/// Units that share the k of one tile.
constexpr double kSplits[] = {1, 2, 4, 8, 16};
/// Partial sums are written and read once, in fp32.
constexpr double kPartialSumBytes = 8;

/// Of n in pieces of `piece`: the share that is work, the rest is padding.
double filled(double n, double piece) {
  return n / (piece * std::ceil(n / piece));
}

/// Tiles that the rows of one product take. Rows that differ end anywhere in
/// their last tile: half of it is padding on average.
double rowTiles(const MatMulShape &shape, double rows) {
  const double exact = static_cast<double>(shape.m) / rows;
  return shape.rows == MatMulShape::Rows::Equal ? std::ceil(exact)
                                                : std::max(1.0, exact + 0.5);
}

/// How much slower than the largest a smaller tile is: it loads more operands
/// for each result.
double tileFactor(const hardware::AcceleratorConstants &c, Tile tile) {
  const auto speed = [&](double rows, double columns) {
    const double reuse = rows * columns / (rows + columns);
    return reuse / (reuse + c.tileHalf);
  };
  return speed(tile.rows, tile.columns) / speed(c.tileRows, c.tileColumns);
}

/// What a load brings at most, and what the accelerator's share is stated for.
constexpr std::int64_t kWidestLoad = 16, kNarrowestLoad = 2;

} // namespace

double alignedShare(const hardware::Accelerator &accelerator,
                    std::int64_t extent, std::int64_t elementBytes) {
  const double most = std::log2(kWidestLoad / kNarrowestLoad);
  std::int64_t load = kWidestLoad;
  double halvings = 0;
  while (load > elementBytes && extent % (load / elementBytes) != 0) {
    load /= 2;
    ++halvings;
  }
  return std::pow(accelerator.constants.unalignedEfficiency, halvings / most);
}

double matmulSeconds(const hardware::Accelerator &accelerator,
                     const MatMulShape &shape, const MatMulRates &rates) {
  if (shape.batch <= 0 || shape.m <= 0 || shape.n <= 0 || shape.k <= 0)
    return 0;
  const hardware::AcceleratorConstants &c = accelerator.constants;
  const double units = static_cast<double>(accelerator.units);
  const double batch = static_cast<double>(shape.batch),
               m = static_cast<double>(shape.m),
               n = static_cast<double>(shape.n),
               k = static_cast<double>(shape.k);
  const double rate =
      rates.peak * rates.efficiency *
      alignedShare(accelerator, shape.n,
                   std::max<std::int64_t>(1, shape.elementBytes));
  const double atCap = 2 * batch * m * n * k / rate;
  double best = std::numeric_limits<double>::infinity();
  for (double rowPart : kTileParts)
    for (double columnPart : kTileParts)
      for (double split : kSplits) {
        const Tile tile{std::max(1.0, c.tileRows * rowPart),
                        std::max(1.0, c.tileColumns * columnPart)};
        if (split > 1 && shape.rows == MatMulShape::Rows::Differ)
          continue;
        const double downwards = rowTiles(shape, tile.rows);
        const double tiles =
            batch * downwards * std::ceil(n / tile.columns) * split;
        const double share = m / (tile.rows * downwards) *
                             filled(n, tile.columns) * filled(tiles, units) *
                             tileFactor(c, tile) * k / (k + c.kHalf * split);
        const double sums = split > 1 ? split * batch * m * n *
                                            kPartialSumBytes / rates.bandwidth
                                      : 0;
        best = std::min(best, atCap / share + sums);
      }
  return best;
}

} // namespace planc::cost
