// Schedules that have no formula for their order: a rank that is free takes the
// best pass that is ready.
#include "compiler/schedules/Execute.h"
#include "compiler/schedules/Generators.h"
#include "compiler/schedules/Orders.h"

#include <algorithm>
#include <functional>
#include <set>

namespace planc::schedules {

namespace {

/// Smaller first. The order of equal ranks is micro-batch, then chunk.
using Priority = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

class Lister {
public:
  Lister(const Shape &shape, Placement placement,
         std::function<Priority(const Pass &)> priority)
      : shape_(shape), holders_(holdersOf(placement, shape)),
        priority_(std::move(priority)),
        ready_(static_cast<std::size_t>(shape.stages)),
        orders_(static_cast<std::size_t>(shape.stages)) {}

  Orders run() {
    for (std::size_t r = 0; r < orders_.size(); ++r)
      idle_.insert(r);
    for (std::int64_t i = 0; i < shape_.microBatches; ++i)
      offer(makePass(PassKind::Forward, i, 0));
    std::int64_t now = 0;
    for (;;) {
      startIdle(now);
      if (running_.empty())
        return std::move(orders_);
      now = std::get<0>(*running_.begin());
      while (!running_.empty() && std::get<0>(*running_.begin()) == now) {
        std::size_t rank = std::get<1>(*running_.begin());
        running_.erase(running_.begin());
        idle_.insert(rank);
        offerAfter(orders_[rank].back());
      }
    }
  }

private:
  using Entry = std::tuple<Priority, std::int32_t, std::int32_t, PassKind>;

  void offer(const Pass &pass) {
    std::int64_t copy =
        copyOf(holders_.copies, shape_.microBatches, pass.microBatch);
    auto rank = static_cast<std::size_t>(holders_.rankOf(copy, pass.chunk));
    ready_[rank].insert(
        {priority_(pass), pass.microBatch, pass.chunk, pass.kind});
  }

  void offerAfter(const Pass &pass) {
    if (pass.kind == PassKind::Backward) {
      if (pass.chunk > 0)
        offer(makePass(PassKind::Backward, pass.microBatch, pass.chunk - 1));
    } else if (pass.chunk + 1 < shape_.chunks()) {
      offer(makePass(PassKind::Forward, pass.microBatch, pass.chunk + 1));
    } else {
      offer(makePass(PassKind::Backward, pass.microBatch, pass.chunk));
    }
  }

  void startIdle(std::int64_t now) {
    for (auto rank = idle_.begin(); rank != idle_.end();) {
      std::set<Entry> &ready = ready_[*rank];
      if (ready.empty()) {
        ++rank;
        continue;
      }
      auto [priority, microBatch, chunk, kind] = *ready.begin();
      ready.erase(ready.begin());
      orders_[*rank].push_back(makePass(kind, microBatch, chunk));
      running_.insert({now + PassTimes().of(kind), *rank});
      rank = idle_.erase(rank);
    }
  }

  Shape shape_;
  Holders holders_;
  std::function<Priority(const Pass &)> priority_;
  std::vector<std::set<Entry>> ready_;                      ///< by rank
  std::set<std::tuple<std::int64_t, std::size_t>> running_; ///< end, rank
  std::set<std::size_t> idle_;
  Orders orders_;
};

} // namespace

Orders hanayo(const Shape &shape) {
  return Lister(shape, Placement::Zigzag,
                [](const Pass &pass) -> Priority {
                  if (pass.kind == PassKind::Forward)
                    return {1, -pass.chunk, pass.microBatch};
                  return {0, 0, pass.microBatch};
                })
      .run();
}

Orders chimera(const Shape &shape) {
  const std::int64_t half = std::max<std::int64_t>(1, shape.microBatches / 2);
  return Lister(shape, Placement::BothWays,
                [half](const Pass &pass) -> Priority {
                  return {pass.kind == PassKind::Forward,
                          pass.microBatch % half, -pass.chunk};
                })
      .run();
}

} // namespace planc::schedules
