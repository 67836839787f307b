// Schedules that run gradients of inputs and of weights apart.
#include "compiler/schedules/Generators.h"
#include "compiler/schedules/Orders.h"

#include <algorithm>
#include <map>

namespace planc::schedules {

namespace {

/// Forwards, `warmUp` of them ahead of the B's, and W's `lag` B's behind.
Order staggered(const Order &forwards, const Order &inputs, std::int64_t warmUp,
                std::int64_t lag) {
  Order order;
  order.reserve(3 * forwards.size());
  const std::int64_t count = std::ssize(forwards);
  for (std::int64_t k = 0; k < count + warmUp + lag; ++k) {
    auto at = [count](std::int64_t i) { return i >= 0 && i < count; };
    if (at(k))
      order.push_back(forwards[static_cast<std::size_t>(k)]);
    if (at(k - warmUp))
      order.push_back(inputs[static_cast<std::size_t>(k - warmUp)]);
    if (at(k - warmUp - lag)) {
      Pass weights = inputs[static_cast<std::size_t>(k - warmUp - lag)];
      weights.kind = PassKind::WeightGradient;
      order.push_back(weights);
    }
  }
  return order;
}

Orders zeroBubble(const Shape &shape, std::int64_t depth) {
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r) {
    Order forwards, inputs;
    for (std::int64_t i = 0; i < shape.microBatches; ++i) {
      forwards.push_back(makePass(PassKind::Forward, i, r));
      inputs.push_back(makePass(PassKind::InputGradient, i, r));
    }
    orders.push_back(
        staggered(forwards, inputs, depth * (shape.stages - 1 - r), depth * r));
  }
  return orders;
}

/// Passes of the two chunks of a V, counted chunk by chunk and kind by kind;
/// those of micro-batches that are not there are left out.
class VOrder {
public:
  VOrder(const Shape &shape, std::int64_t r)
      : microBatches_(shape.microBatches), near_(r),
        far_(2 * shape.stages - 1 - r) {}

  enum Side { Near, Far };

  void add(PassKind kind, Side side) {
    std::int64_t &next = next_[{kind, side}];
    if (next < microBatches_)
      order_.push_back(makePass(kind, next, side == Near ? near_ : far_));
    ++next;
  }
  std::int64_t count(PassKind kind, Side side) const {
    auto found = next_.find({kind, side});
    return found == next_.end() ? 0 : found->second;
  }
  Order take() { return std::move(order_); }

private:
  std::int64_t microBatches_, near_, far_;
  std::map<std::pair<PassKind, Side>, std::int64_t> next_;
  Order order_;
};

Order zbVRank(const Shape &shape, std::int64_t r) {
  constexpr PassKind F = PassKind::Forward, B = PassKind::InputGradient,
                     W = PassKind::WeightGradient;
  constexpr auto Near = VOrder::Near, Far = VOrder::Far;
  const std::int64_t p = shape.stages;
  const std::int64_t n = std::max(shape.microBatches, 2 * p - 1);
  VOrder order(shape, r);
  auto farTurn = [&] {
    order.add(F, Far);
    order.add(B, Far);
    order.add(W, Far);
  };
  for (std::int64_t i = 0; i < 2 * (p - r) - 1; ++i)
    order.add(F, Near);
  for (std::int64_t i = 0; i < r; ++i) {
    order.add(F, Far);
    order.add(F, Near);
  }
  for (std::int64_t i = 0; i < p - r; ++i)
    farTurn();
  while (order.count(F, Near) < n || order.count(F, Far) < n) {
    if (order.count(F, Near) < n)
      order.add(F, Near);
    order.add(B, Near);
    order.add(W, Near);
    farTurn();
  }
  for (std::int64_t i = 0; i < r; ++i) {
    order.add(B, Near);
    order.add(B, Far);
  }
  for (std::int64_t i = 0; i < p - r; ++i) {
    order.add(B, Near);
    order.add(W, Near);
  }
  for (auto side : {Far, Near})
    while (order.count(W, side) < n)
      order.add(W, side);
  return order.take();
}

} // namespace

Order chunkVisits(PassKind kind, const Shape &shape, std::int64_t r) {
  const std::int64_t p = shape.stages, v = shape.virtualStages,
                     m = shape.microBatches, group = groupOf(shape);
  Order order;
  for (std::int64_t begin = 0; begin < m; begin += group)
    for (std::int64_t local = 0; local < v; ++local)
      for (std::int64_t i = begin; i < std::min(m, begin + group); ++i) {
        std::int64_t chunk = kind == PassKind::Forward ? local : v - 1 - local;
        order.push_back(makePass(kind, i, chunk * p + r));
      }
  return order;
}

Orders zbH1(const Shape &shape) { return zeroBubble(shape, 1); }

Orders zbH2(const Shape &shape) { return zeroBubble(shape, 2); }

Orders interleavedZeroBubble(const Shape &shape) {
  const std::int64_t p = shape.stages, v = shape.virtualStages;
  Orders orders;
  for (std::int64_t r = 0; r < p; ++r)
    orders.push_back(staggered(chunkVisits(PassKind::Forward, shape, r),
                               chunkVisits(PassKind::InputGradient, shape, r),
                               p - 1 - r + (v - 1) * groupOf(shape), r));
  return orders;
}

Orders zbV(const Shape &shape) {
  Orders orders;
  for (std::int64_t r = 0; r < shape.stages; ++r)
    orders.push_back(zbVRank(shape, r));
  return orders;
}

} // namespace planc::schedules
