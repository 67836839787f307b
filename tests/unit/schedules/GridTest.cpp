// Closed rules and closed forms against orders that are run, over all shapes of
// a grid.
#include "compiler/schedules/Execute.h"

#include "tests/unit/Catch.h"

using namespace planc::schedules;

namespace {

constexpr PassTimes kEqual{1, 2, 1, 1, 0};

/// −1: the order never ends, or is none.
std::int64_t makespanOf(const ScheduleInfo &info, const Shape &shape) {
  auto runs = runTimed(info.orders(shape), shape,
                       holdersOf(info.placement, shape), kEqual);
  return runs.empty() ? -1 : makespan(runs);
}

std::vector<std::int64_t> chunksTried(const ScheduleInfo &info) {
  switch (info.chunks) {
  case ChunksPerRank::One:
    return {1};
  case ChunksPerRank::Two:
    return {2};
  case ChunksPerRank::Waves:
    return {2, 4};
  case ChunksPerRank::AsAsked:
    break;
  }
  return {1, 2, 3};
}

template <class Visit>
void forEachShape(const ScheduleInfo &info, Visit visit) {
  for (std::int64_t p = 1; p <= 8; ++p)
    for (std::int64_t m = 1; m <= 18; ++m)
      for (std::int64_t v : chunksTried(info))
        for (std::int64_t n = 0; n <= ((info.takes & kGroup) ? m : 0); ++n)
          for (std::int64_t k = 1; k <= ((info.takes & kSlices) ? 3 : 1); ++k)
            for (bool hasPairs : {false, true})
              if (!hasPairs || (info.takes & kPairs))
                visit(Shape{p, v, m, n, k, hasPairs});
}

std::string textOf(const ScheduleInfo &info, const Shape &shape) {
  return std::string(info.name) + " p" + std::to_string(shape.stages) + " v" +
         std::to_string(shape.virtualStages) + " m" +
         std::to_string(shape.microBatches) + " n" +
         std::to_string(shape.group) + " k" + std::to_string(shape.slices) +
         (shape.hasPairs ? " pairs" : "");
}

std::int64_t workOf(const Shape &shape) {
  return 3 * shape.microBatches * shape.virtualStages * shape.slices;
}

} // namespace

TEST_CASE("every shape that a rule lets pass runs") {
  for (const ScheduleInfo &info : allSchedules())
    forEachShape(info, [&](const Shape &shape) {
      if (!info.fits(shape))
        return;
      INFO(textOf(info, shape));
      CHECK(check(info.orders(shape), shape, holdersOf(info.placement, shape))
                .empty());
    });
}

TEST_CASE("where there is a closed form it is the order's, exactly") {
  for (const ScheduleInfo &info : allSchedules())
    forEachShape(info, [&](const Shape &shape) {
      auto form = info.fits(shape) ? info.bubble(shape) : std::nullopt;
      if (!form)
        return;
      INFO(textOf(info, shape));
      std::int64_t span = makespanOf(info, shape);
      std::int64_t work = workOf(shape);
      CHECK((span - work) * form->denominator == span * form->numerator);
    });
}

TEST_CASE("interleaved groups that the rule refuses deadlock or stall") {
  const ScheduleInfo &info = infoOf(Schedule::Interleaved1F1B);
  std::int64_t refused = 0;
  forEachShape(info, [&](const Shape &shape) {
    if (shape.stages == 1 || shape.virtualStages == 1 || info.fits(shape) ||
        (shape.group == 0 && shape.microBatches < shape.stages))
      return;
    INFO(textOf(info, shape));
    ++refused;
    std::int64_t span = makespanOf(info, shape);
    std::int64_t best = workOf(shape) + 3 * (shape.stages - 1);
    CHECK((span < 0 || span > best));
  });
  CHECK(refused > 100);
}

TEST_CASE("DualPipe needs twice as many micro-batches as stages, less two") {
  // The published condition leaves out m = 2p − 2, which runs.
  for (std::int64_t p = 2; p <= 12; p += 2)
    for (std::int64_t m = 2; m < 2 * p - 2; m += 2)
      CHECK(makespanOf(infoOf(Schedule::DualPipe), {p, 1, m}) < 0);
  for (std::int64_t p = 2; p <= 8; ++p)
    for (std::int64_t m = 1; m < 2 * p - 1; ++m)
      CHECK(makespanOf(infoOf(Schedule::DualPipeV), {p, 2, m}) < 0);
}

TEST_CASE("the nearest shapes fit") {
  for (const ScheduleInfo &info : allSchedules())
    forEachShape(info, [&](const Shape &shape) {
      if (info.fits(shape))
        return;
      INFO(textOf(info, shape));
      Nearest nearest = nearestLegal(info, shape);
      for (std::int64_t m : nearest.microBatches) {
        Shape other = shape;
        other.microBatches = m;
        CHECK(info.fits(other));
      }
      for (std::int64_t n : nearest.groups) {
        Shape other = shape;
        other.group = n;
        CHECK(info.fits(other));
      }
    });
}

TEST_CASE("what is wrong with an order is named") {
  const Shape shape{2, 1, 2};
  const ScheduleInfo &info = infoOf(Schedule::OneFOneB);
  const Holders holders = holdersOf(info.placement, shape);
  const Orders sound = info.orders(shape);
  auto kindOf = [&](const Orders &orders) {
    auto faults = check(orders, shape, holders);
    REQUIRE(!faults.empty());
    return faults.front().kind;
  };
  Orders orders = sound;
  orders[0].pop_back();
  CHECK(kindOf(orders) == Fault::Kind::Missing);
  orders = sound;
  orders[0].push_back(orders[0][0]);
  CHECK(kindOf(orders) == Fault::Kind::Twice);
  orders = sound;
  std::swap(orders[1][0], orders[1][1]);
  CHECK(kindOf(orders) == Fault::Kind::TooEarly);
  orders = sound;
  orders[0][0].microBatch = 2;
  CHECK(kindOf(orders) == Fault::Kind::OutOfRange);
  orders = sound;
  std::swap(orders[0], orders[1]);
  CHECK(kindOf(orders) == Fault::Kind::WrongRank);
  orders = sound;
  orders[0][0].withPrevious = true;
  CHECK(kindOf(orders) == Fault::Kind::NoPair);
  // Stage 0: F0 B0 F1 B1; stage 1 wants F1 before B0.
  orders = {info.orders({1, 1, 2})[0],
            infoOf(Schedule::GPipe).orders(shape)[1]};
  CHECK(kindOf(orders) == Fault::Kind::NeverRuns);
}
