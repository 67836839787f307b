#include "compiler/schedules/Execute.h"

#include <algorithm>

namespace planc::schedules {

namespace {

/// What a pass leaves behind.
enum Result : std::size_t { Forwarded, SentBack, Weighted, kResults };

/// End times of results by chunk, micro-batch and slice; −1: not there.
class Results {
public:
  Results(const Shape &shape)
      : microBatches_(shape.microBatches), slices_(shape.slices) {
    auto size = static_cast<std::size_t>(shape.chunks() * shape.microBatches *
                                         shape.slices);
    for (auto &of : ends_)
      of.assign(size, -1);
  }
  std::int64_t &at(Result what, std::int64_t chunk, std::int64_t microBatch,
                   std::int64_t slice) {
    return ends_[what][static_cast<std::size_t>(
        (chunk * microBatches_ + microBatch) * slices_ + slice)];
  }

private:
  std::int64_t microBatches_, slices_;
  std::vector<std::int64_t> ends_[kResults];
};

class Runner {
public:
  Runner(const Orders &orders, const Shape &shape, const Holders &holders,
         const PassTimes &times)
      : orders_(orders), shape_(shape), holders_(holders), times_(times),
        results_(shape), next_(orders.size(), 0), free_(orders.size(), 0),
        runs_(orders.size()) {
    for (std::size_t r = 0; r < orders.size(); ++r)
      runs_[r].resize(orders[r].size());
  }

  /// Where each rank stopped.
  const std::vector<std::size_t> &run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t r = 0; r < orders_.size(); ++r)
        while (next_[r] < orders_[r].size() && step(r))
          moved = true;
    }
    return next_;
  }
  std::vector<std::vector<TimedPass>> &runs() { return runs_; }

private:
  /// Runs the next pass of a rank, or the next two together.
  bool step(std::size_t r) {
    const Order &order = orders_[r];
    std::size_t first = next_[r], end = first + 1;
    while (end < order.size() && order[end].withPrevious)
      ++end;
    std::int64_t start = free_[r];
    for (std::size_t i = first; i < end; ++i)
      if (!readyAt(order[i], static_cast<std::int64_t>(r), start))
        return false;
    std::int64_t stop = start;
    for (std::size_t i = first; i < end; ++i)
      stop += times_.of(order[i].kind);
    for (std::size_t i = first; i < end; ++i) {
      runs_[r][i] = {start, stop};
      finish(order[i], stop);
    }
    free_[r] = stop;
    next_[r] = end;
    return true;
  }

  /// Moves `start` to where all the pass needs is there; false: it is not yet.
  bool readyAt(const Pass &pass, std::int64_t rank, std::int64_t &start) {
    const std::int64_t c = pass.chunk, i = pass.microBatch, j = pass.slice;
    auto need = [&](Result what, std::int64_t chunk, std::int64_t slice) {
      std::int64_t end = results_.at(what, chunk, i, slice);
      if (end < 0)
        return false;
      std::int64_t copy = copyOf(holders_.copies, shape_.microBatches, i);
      if (holders_.rankOf(copy, chunk) != rank)
        end += times_.transfer;
      start = std::max(start, end);
      return true;
    };
    if (pass.kind == PassKind::Forward)
      return (c == 0 || need(Forwarded, c - 1, j)) &&
             (j == 0 || need(Forwarded, c, j - 1));
    if (pass.kind == PassKind::WeightGradient)
      return need(SentBack, c, j);
    return need(Forwarded, c, j) &&
           (c + 1 == shape_.chunks() || need(SentBack, c + 1, j)) &&
           (j + 1 == shape_.slices || need(SentBack, c, j + 1));
  }

  void finish(const Pass &pass, std::int64_t end) {
    auto set = [&](Result what) {
      results_.at(what, pass.chunk, pass.microBatch, pass.slice) = end;
    };
    if (pass.kind == PassKind::Forward)
      set(Forwarded);
    if (sendsBack(pass.kind))
      set(SentBack);
    if (completesWeights(pass.kind))
      set(Weighted);
  }

  const Orders &orders_;
  const Shape &shape_;
  const Holders &holders_;
  const PassTimes &times_;
  Results results_;
  std::vector<std::size_t> next_;
  std::vector<std::int64_t> free_;
  std::vector<std::vector<TimedPass>> runs_;
};

/// Checks each pass where it stands, then that none is missing.
class Completeness {
public:
  Completeness(const Orders &orders, const Shape &shape, const Holders &holders)
      : orders_(orders), shape_(shape), holders_(holders), seen_(shape) {}

  std::vector<Fault> run() {
    for (std::size_t r = 0; r < orders_.size(); ++r)
      for (std::size_t i = 0; i < orders_[r].size(); ++i)
        look(r, i);
    if (faults_.empty())
      findMissing();
    return std::move(faults_);
  }

private:
  void add(Fault::Kind kind, std::size_t r, std::size_t i,
           std::int64_t holder = -1) {
    faults_.push_back({kind, r, i, orders_[r][i], holder});
  }

  void look(std::size_t r, std::size_t i) {
    const Pass &pass = orders_[r][i];
    if (pass.chunk < 0 || pass.chunk >= shape_.chunks() ||
        pass.microBatch < 0 || pass.microBatch >= shape_.microBatches ||
        pass.slice < 0 || pass.slice >= shape_.slices)
      return add(Fault::Kind::OutOfRange, r, i);
    std::int64_t copy =
        copyOf(holders_.copies, shape_.microBatches, pass.microBatch);
    std::int64_t holder = holders_.rankOf(copy, pass.chunk);
    if (holder != static_cast<std::int64_t>(r))
      return add(Fault::Kind::WrongRank, r, i, holder);
    if (pass.withPrevious &&
        (i == 0 || !sendsBack(pass.kind) || orders_[r][i - 1].withPrevious ||
         orders_[r][i - 1].kind != PassKind::Forward))
      return add(Fault::Kind::NoPair, r, i);
    if (pass.kind == PassKind::Forward)
      return mark(Forwarded, r, i);
    if (at(pass.kind == PassKind::WeightGradient ? SentBack : Forwarded, pass) <
        0)
      return add(Fault::Kind::TooEarly, r, i);
    if (sendsBack(pass.kind))
      mark(SentBack, r, i);
    if (completesWeights(pass.kind))
      mark(Weighted, r, i);
  }

  std::int64_t &at(Result what, const Pass &pass) {
    return seen_.at(what, pass.chunk, pass.microBatch, pass.slice);
  }

  void mark(Result what, std::size_t r, std::size_t i) {
    std::int64_t &seen = at(what, orders_[r][i]);
    if (seen >= 0)
      return add(Fault::Kind::Twice, r, i);
    seen = 0;
  }

  void findMissing() {
    constexpr PassKind kMakes[] = {PassKind::Forward, PassKind::Backward,
                                   PassKind::WeightGradient};
    for (std::int64_t c = 0; c < shape_.chunks(); ++c)
      for (std::int64_t i = 0; i < shape_.microBatches; ++i)
        for (std::int64_t j = 0; j < shape_.slices; ++j)
          for (std::size_t what = 0; what < kResults; ++what) {
            if (seen_.at(static_cast<Result>(what), c, i, j) >= 0)
              continue;
            Pass pass{kMakes[what], static_cast<std::int32_t>(i),
                      static_cast<std::int32_t>(c),
                      static_cast<std::int32_t>(j), false};
            auto rank = static_cast<std::size_t>(holders_.rankOf(
                copyOf(holders_.copies, shape_.microBatches, i), c));
            faults_.push_back(
                {Fault::Kind::Missing, rank, orders_[rank].size(), pass, -1});
            break; // what follows is missing with it
          }
  }

  const Orders &orders_;
  const Shape &shape_;
  const Holders &holders_;
  Results seen_;
  std::vector<Fault> faults_;
};

} // namespace

std::int64_t PassTimes::of(PassKind kind) const {
  switch (kind) {
  case PassKind::Forward:
    return forward;
  case PassKind::Backward:
    return backward;
  case PassKind::InputGradient:
    return input;
  case PassKind::WeightGradient:
    return weight;
  }
  return 0;
}

Holders holdersOf(Placement placement, const Shape &shape) {
  Holders holders;
  holders.copies = copiesOf(placement);
  holders.chunks = shape.chunks();
  for (std::int64_t copy = 0; copy < holders.copies; ++copy)
    for (std::int64_t chunk = 0; chunk < holders.chunks; ++chunk)
      holders.ranks.push_back(rankOf(placement, shape.stages, copy, chunk));
  return holders;
}

Holders holdersOf(const Orders &orders, const Shape &shape) {
  Holders holders;
  holders.chunks = shape.chunks();
  holders.ranks.assign(static_cast<std::size_t>(shape.chunks()), -1);
  for (std::size_t r = 0; r < orders.size(); ++r)
    for (const Pass &pass : orders[r]) {
      if (pass.chunk < 0 || pass.chunk >= shape.chunks())
        continue;
      std::int64_t &rank = holders.ranks[static_cast<std::size_t>(pass.chunk)];
      if (rank < 0)
        rank = static_cast<std::int64_t>(r);
    }
  for (std::size_t chunk = 0; chunk < holders.ranks.size(); ++chunk)
    if (holders.ranks[chunk] < 0)
      holders.ranks[chunk] = static_cast<std::int64_t>(chunk) % shape.stages;
  return holders;
}

std::vector<Fault> check(const Orders &orders, const Shape &shape,
                         const Holders &holders) {
  std::vector<Fault> faults = Completeness(orders, shape, holders).run();
  if (!faults.empty())
    return faults;
  PassTimes times;
  Runner runner(orders, shape, holders, times);
  const std::vector<std::size_t> &stopped = runner.run();
  for (std::size_t r = 0; r < stopped.size(); ++r)
    if (stopped[r] < orders[r].size())
      faults.push_back(
          {Fault::Kind::NeverRuns, r, stopped[r], orders[r][stopped[r]], -1});
  return faults;
}

std::vector<std::vector<TimedPass>> runTimed(const Orders &orders,
                                             const Shape &shape,
                                             const Holders &holders,
                                             const PassTimes &times) {
  if (!check(orders, shape, holders).empty())
    return {};
  Runner runner(orders, shape, holders, times);
  runner.run();
  return std::move(runner.runs());
}

std::int64_t makespan(const std::vector<std::vector<TimedPass>> &runs) {
  std::int64_t last = 0;
  for (const std::vector<TimedPass> &rank : runs)
    for (const TimedPass &pass : rank)
      last = std::max(last, pass.end);
  return last;
}

} // namespace planc::schedules
