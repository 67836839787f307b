// DualPipe and its fold.
#include "compiler/schedules/Generators.h"
#include "compiler/schedules/Orders.h"

#include <algorithm>
#include <deque>

namespace planc::schedules {

namespace {

/// One of the two directions that pass through a rank.
struct Direction {
  std::int64_t firstMicroBatch = 0, chunk = 0;
  std::int64_t forwards = 0, backwards = 0; ///< run so far
};

/// The eight phases of a rank. Direction 0 is the one whose end is nearer.
class DualOrder {
public:
  /// `half`: ranks until the directions meet; `depth`: ranks from the nearer
  /// end; `microBatches`: of one direction.
  struct Place {
    std::int64_t half = 1, depth = 0, microBatches = 0;
  };

  DualOrder(Direction near, Direction far, Place place)
      : directions_{near, far}, place_(place) {}

  Order build() {
    const std::int64_t toMiddle = place_.half - 1 - place_.depth;
    const std::int64_t fromEnd = place_.depth + 1;
    repeat(2 * toMiddle, [&] { forward(0); });
    repeat(fromEnd, [&] {
      forward(0);
      forward(1);
    });
    repeat(toMiddle, [&] {
      inputs(1);
      weights();
      forward(1);
    });
    bool isFirst = true;
    repeat(place_.microBatches - 2 * place_.half + fromEnd, [&] {
      // In the middle the first two have nothing to overlap with yet.
      forward(0);
      whole(1, isFirst && toMiddle == 0 ? Together::No : Together::Yes);
      forward(1);
      whole(0, Together::Yes);
      isFirst = false;
    });
    repeat(toMiddle, [&] {
      whole(1, Together::No);
      forward(1);
      whole(0, Together::Yes);
    });
    drain(fromEnd);
    repeat(toMiddle, [&] {
      weights();
      inputs(0);
    });
    repeat(fromEnd, [&] { weights(); });
    return std::move(order_);
  }

private:
  enum class Together : std::uint8_t { No, Yes };

  template <class Body> static void repeat(std::int64_t times, Body body) {
    for (std::int64_t i = 0; i < times; ++i)
      body();
  }

  /// Backwards of both directions in turn; the second half of them split.
  void drain(std::int64_t pairs) {
    for (std::int64_t k = 0; k < 2 * pairs; ++k) {
      std::size_t direction = k % 2 == 0 ? 1 : 0;
      if (k < pairs)
        whole(direction, Together::No);
      else
        inputs(direction);
    }
  }

  void forward(std::size_t d) {
    Direction &to = directions_[d];
    order_.push_back(makePass(PassKind::Forward,
                              to.firstMicroBatch + to.forwards++, to.chunk));
  }
  void whole(std::size_t d, Together together) {
    Direction &to = directions_[d];
    order_.push_back(makePass(PassKind::Backward,
                              to.firstMicroBatch + to.backwards++, to.chunk));
    order_.back().withPrevious = together == Together::Yes;
  }
  void inputs(std::size_t d) {
    Direction &to = directions_[d];
    order_.push_back(makePass(PassKind::InputGradient,
                              to.firstMicroBatch + to.backwards++, to.chunk));
    owed_.push_back(order_.back());
    owed_.back().kind = PassKind::WeightGradient;
  }
  void weights() {
    if (owed_.empty())
      return;
    order_.push_back(owed_.front());
    owed_.pop_front();
  }

  Direction directions_[2];
  Place place_;
  Order order_;
  std::deque<Pass> owed_;
};

} // namespace

Orders dualPipe(const Shape &shape) {
  const std::int64_t p = shape.stages, each = shape.microBatches / 2;
  Orders orders;
  for (std::int64_t r = 0; r < p; ++r) {
    Direction down{0, r}, up{each, p - 1 - r};
    bool isUpper = r < p / 2;
    orders.push_back(DualOrder(isUpper ? down : up, isUpper ? up : down,
                               {p / 2, std::min(r, p - 1 - r), each})
                         .build());
  }
  return orders;
}

Orders dualPipeV(const Shape &shape) {
  const std::int64_t p = shape.stages;
  Orders orders;
  for (std::int64_t r = 0; r < p; ++r)
    orders.push_back(
        DualOrder({0, r}, {0, 2 * p - 1 - r}, {p, r, shape.microBatches})
            .build());
  return orders;
}

} // namespace planc::schedules
