// Schedules whose backward is whole, chunks in a loop around the ranks.
#include "compiler/schedules/Generators.h"
#include "compiler/schedules/Orders.h"

#include <algorithm>

namespace planc::schedules {

namespace {

enum class Together : std::uint8_t { No, Yes };

Together pairsOf(const Shape &shape) {
  return shape.hasPairs ? Together::Yes : Together::No;
}

/// `warmUp` forwards, then (forward, backward) pairs, then the backwards left.
/// Pairs that run together take one forward more ahead, so that the two do not
/// need each other.
Order warmUpThenPairs(const Order &forwards, const Order &backwards,
                      std::int64_t warmUp, Together together = Together::No) {
  auto warm = static_cast<std::size_t>(std::min<std::int64_t>(
      warmUp + (together == Together::Yes ? 1 : 0), std::ssize(forwards)));
  Order order(forwards.begin(),
              forwards.begin() + static_cast<std::ptrdiff_t>(warm));
  order.reserve(forwards.size() + backwards.size());
  for (std::size_t k = 0; k < backwards.size(); ++k) {
    if (warm + k < forwards.size())
      order.push_back(forwards[warm + k]);
    order.push_back(backwards[k]);
    order.back().withPrevious =
        together == Together::Yes && warm + k < forwards.size();
  }
  return order;
}

/// One pass of every micro-batch, in order.
Order everyMicroBatch(PassKind kind, const Shape &shape, std::int64_t chunk) {
  Order order;
  for (std::int64_t i = 0; i < shape.microBatches; ++i)
    order.push_back(makePass(kind, i, chunk));
  return order;
}

/// One pass of every slice of every micro-batch; backwards from the last slice.
Order everySlice(PassKind kind, const Shape &shape, std::int64_t chunk) {
  Order order;
  for (std::int64_t i = 0; i < shape.microBatches; ++i)
    for (std::int64_t j = 0; j < shape.slices; ++j) {
      Pass pass = makePass(kind, i, chunk);
      pass.slice = static_cast<std::int32_t>(
          kind == PassKind::Forward ? j : shape.slices - 1 - j);
      order.push_back(pass);
    }
  return order;
}

Orders ahead(const Shape &shape, std::int64_t perRank) {
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r)
    orders.push_back(
        warmUpThenPairs(everyMicroBatch(PassKind::Forward, shape, r),
                        everyMicroBatch(PassKind::Backward, shape, r),
                        perRank * (shape.stages - 1 - r), pairsOf(shape)));
  return orders;
}

} // namespace

Orders gPipe(const Shape &shape) {
  const std::int64_t m = shape.microBatches;
  const std::int64_t group = shape.group ? shape.group : m;
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r) {
    Order order;
    for (std::int64_t begin = 0; begin < m; begin += group)
      for (PassKind kind : {PassKind::Forward, PassKind::Backward})
        for (std::int64_t i = begin; i < std::min(m, begin + group); ++i)
          order.push_back(makePass(kind, i, r));
    orders.push_back(std::move(order));
  }
  return orders;
}

Orders oneFOneB(const Shape &shape) { return ahead(shape, 1); }

Orders eager1F1B(const Shape &shape) { return ahead(shape, 2); }

Orders kFkB(const Shape &shape) {
  const std::int64_t m = shape.microBatches;
  const std::int64_t k = shape.group ? shape.group : 1;
  const std::int64_t units = (m + k - 1) / k;
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r) {
    const std::int64_t warmUp = shape.stages - 1 - r;
    Order order;
    auto add = [&](PassKind kind, std::int64_t unit) {
      for (std::int64_t i = unit * k; i < std::min(m, (unit + 1) * k); ++i)
        if (unit >= 0)
          order.push_back(makePass(kind, i, r));
    };
    for (std::int64_t step = 0; step < units + warmUp; ++step) {
      add(PassKind::Forward, step);
      add(PassKind::Backward, step - warmUp);
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

Orders interleaved1F1B(const Shape &shape) {
  const std::int64_t p = shape.stages, v = shape.virtualStages;
  Orders orders;
  for (std::int64_t r = 0; r < p; ++r)
    orders.push_back(warmUpThenPairs(chunkVisits(PassKind::Forward, shape, r),
                                     chunkVisits(PassKind::Backward, shape, r),
                                     2 * (p - 1 - r) + (v - 1) * groupOf(shape),
                                     pairsOf(shape)));
  return orders;
}

Orders loopedBfs(const Shape &shape) {
  const std::int64_t p = shape.stages, v = shape.virtualStages;
  Orders orders;
  for (std::int64_t r = 0; r < p; ++r) {
    Order order;
    for (std::int64_t local = 0; local < v; ++local)
      for (const Pass &pass :
           everyMicroBatch(PassKind::Forward, shape, local * p + r))
        order.push_back(pass);
    for (std::int64_t local = v; local-- > 0;)
      for (const Pass &pass :
           everyMicroBatch(PassKind::Backward, shape, local * p + r))
        order.push_back(pass);
    orders.push_back(std::move(order));
  }
  return orders;
}

Orders teraPipe(const Shape &shape) {
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r) {
    Order order = everySlice(PassKind::Forward, shape, r);
    for (const Pass &pass : everySlice(PassKind::Backward, shape, r))
      order.push_back(pass);
    orders.push_back(std::move(order));
  }
  return orders;
}

Orders seq1F1B(const Shape &shape) {
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r)
    orders.push_back(warmUpThenPairs(everySlice(PassKind::Forward, shape, r),
                                     everySlice(PassKind::Backward, shape, r),
                                     shape.stages - 1 - r + shape.slices - 1));
  return orders;
}

} // namespace planc::schedules
