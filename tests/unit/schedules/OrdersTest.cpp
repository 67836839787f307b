// Orders as published, and what each schedule costs at equal chunks.
#include "compiler/schedules/Execute.h"
#include "compiler/schedules/Generators.h"

#include "tests/unit/Catch.h"

using namespace planc::schedules;

namespace {

std::string text(const Orders &orders, std::size_t rank,
                 std::int64_t chunks = 1) {
  return toText(orders[rank], textOf(orders, chunks));
}

std::int64_t makespanOf(Schedule schedule, const Shape &shape,
                        const PassTimes &times = {1, 2, 1, 1, 0}) {
  const ScheduleInfo &info = infoOf(schedule);
  auto runs = runTimed(info.orders(shape), shape,
                       holdersOf(info.placement, shape), times);
  return runs.empty() ? -1 : makespan(runs);
}

} // namespace

TEST_CASE("1F1B: four stages, eight micro-batches, as published") {
  Orders orders = oneFOneB({4, 1, 8});
  CHECK(text(orders, 0) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  CHECK(text(orders, 1) == "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
  CHECK(text(orders, 3) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST_CASE("1F1B with pairs has one forward more ahead") {
  Orders orders = oneFOneB({2, 1, 4, 0, 1, true});
  CHECK(text(orders, 0) == "F0 F1 F2&B0 F3&B1 B2 B3");
  CHECK(text(orders, 1) == "F0 F1&B0 F2&B1 F3&B2 B3");
}

TEST_CASE("interleaved 1F1B: two chunks a stage, groups of four") {
  Orders orders = interleaved1F1B({4, 2, 8});
  CHECK(text(orders, 0, 2) ==
        "F0.0 F1.0 F2.0 F3.0 F0.4 F1.4 F2.4 F3.4 F4.0 F5.0 F6.0 B0.4 F7.0 B1.4 "
        "F4.4 B2.4 F5.4 B3.4 F6.4 B0.0 F7.4 B1.0 B2.0 B3.0 B4.4 B5.4 B6.4 B7.4 "
        "B4.0 B5.0 B6.0 B7.0");
  CHECK(text(orders, 3, 2) ==
        "F0.3 F1.3 F2.3 F3.3 F0.7 B0.7 F1.7 B1.7 F2.7 B2.7 F3.7 B3.7 F4.3 B0.3 "
        "F5.3 B1.3 F6.3 B2.3 F7.3 B3.3 F4.7 B4.7 F5.7 B5.7 F6.7 B6.7 F7.7 B7.7 "
        "B4.3 B5.3 B6.3 B7.3");
}

TEST_CASE("ZB-H1 as published") {
  Orders orders = zbH1({4, 1, 8});
  CHECK(text(orders, 0) ==
        "F0 F1 F2 F3 B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 "
        "W7");
  CHECK(text(orders, 3) ==
        "F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 "
        "W7");
}

TEST_CASE("ZB-V as published") {
  CHECK(text(zbV({4, 2, 8}), 3, 2).substr(0, 67) ==
        "F0.3 F0.4 F1.3 F1.4 F2.3 F2.4 F3.3 F3.4 B0.4 W0.4 F4.3 B0.3 W0.3 F4");
}

TEST_CASE("DualPipe as published") {
  Orders orders = dualPipe({4, 1, 8});
  CHECK(text(orders, 0, 2) ==
        "F0.0 F1.0 F2.0 F4.3 B4.3 W4.3 F5.3 F3.0&D5.3 F6.3&D0.0 D6.3 F7.3&D1.0 "
        "D7.3 B2.0 W2.0 B3.0 W3.0");
  CHECK(text(orders, 1, 2) ==
        "F0.1 F4.2 F1.1 F5.2 F2.1 D4.2 F6.2&D0.1 F3.1&D5.2 F7.2&D1.1 D6.2 D2.1 "
        "B7.2 B3.1 W7.2 W3.1");
}

TEST_CASE("Chimera as published") {
  Orders orders = chimera({4, 1, 4});
  CHECK(text(orders, 0, 2) == "F0.0 F1.0 F2.3 B2.3 F3.3 B3.3 B0.0 B1.0");
  CHECK(text(orders, 1, 2) == "F0.1 F2.2 F1.1 F3.2 B2.2 B0.1 B3.2 B1.1");
}

TEST_CASE("makespans with every pass of one unit") {
  CHECK(makespanOf(Schedule::OneFOneB, {4, 1, 8}) == 33);
  CHECK(makespanOf(Schedule::ZBH1, {4, 1, 8}) == 27);
  CHECK(makespanOf(Schedule::ZBH2, {4, 1, 8}) == 27);
  CHECK(makespanOf(Schedule::ZBV, {4, 2, 8}) == 51);
  CHECK(makespanOf(Schedule::VHalf, {4, 2, 8}) == 53);
  CHECK(makespanOf(Schedule::VHalf, {8, 2, 16}) == 113);
  CHECK(makespanOf(Schedule::VMin, {4, 2, 8}) == 59);
  CHECK(makespanOf(Schedule::VMin, {8, 2, 16}) == 123);
  CHECK(makespanOf(Schedule::VMin, {4, 2, 8}, {2, 3, 2, 1, 0}) == 117);
  CHECK(makespanOf(Schedule::DualPipe, {4, 1, 8}) == 26);
  CHECK(makespanOf(Schedule::DualPipe, {8, 1, 20}) == 66);
  CHECK(makespanOf(Schedule::DualPipeV, {4, 2, 10}) == 66);
  CHECK(makespanOf(Schedule::Hanayo, {4, 2, 4}) == 36);
  CHECK(makespanOf(Schedule::Hanayo, {4, 4, 4}) == 61);
  CHECK(makespanOf(Schedule::Hanayo, {4, 8, 4}) == 109);
}
