#include "tests/unit/Catch.h"
#include "tests/unit/report/Toy.h"

#include "runtime/report/Attribution.h"

using namespace planc;
using namespace planc::report;
using namespace planc::report::test;

TEST_CASE("m4: every picosecond of every rank has one cause") {
  const Toy toy = layerToy(Recomputed::Yes);
  const Report report = buildReport(toy.inputs());
  CHECK(verify(report).empty());
  CHECK(report.waterfall.total() == 6 * 730);

  const Waterfall &parts = report.waterfall;
  CHECK(parts[Cause::ModelArithmetic] == 6 * 150);
  CHECK(parts[Cause::BelowPeak] == 6 * 150);
  CHECK(parts[Cause::MemoryBound] == 6 * 40);
  CHECK(parts[Cause::LaunchGaps] == 6 * 30);
  CHECK(parts[Cause::ExposedTensor] == 6 * 50);
  CHECK(parts[Cause::Recomputation] == 6 * 210);
  CHECK(parts[Cause::Update] == 6 * 80);
  CHECK(parts[Cause::Skew] == 4 * 3);
  CHECK(parts[Cause::ExposedNorm] == 4 * 17);
  CHECK(parts[Cause::StepEnd] == 2 * 20);
}

TEST_CASE("m4: work done on copies is a cause of its own") {
  Toy toy = layerToy(Recomputed::No);
  toy.flops.exact = 6 * 150 - 100;
  const Report report = buildReport(toy.inputs());
  CHECK(verify(report).empty());
  CHECK(report.waterfall[Cause::ModelArithmetic] == 6 * 150 - 100);
  CHECK(report.waterfall[Cause::Repeated] == 100);
}

TEST_CASE("m4: model FLOPs that nobody runs break a rule") {
  Toy toy = layerToy(Recomputed::No);
  toy.flops.exact = 6 * 150 + 100;
  const auto broken = verify(buildReport(toy.inputs()));
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].substr(0, 3) == "R3:");
}

TEST_CASE("m4: slower neighbours are charged to communication underneath") {
  Toy toy = layerToy(Recomputed::No);
  timeline::Run &run = toy.timeline.classes[program::RankClassId(0)].runs[2];
  REQUIRE(run.step == 1);
  toy.timeline.instructions = toy.timeline.isolated[run.form].instructions;
  for (timeline::InstructionTimes &times : toy.timeline.instructions) {
    times.begin += run.begin;
    times.end += run.begin;
  }
  // 5 ps of the memory kernel; the wait that follows is as much shorter.
  toy.timeline.instructions[2].end += Duration(5);
  toy.timeline.instructions[2].slowed = Duration(5);
  run.first = 0;
  timeline::Wait wait = toy.timeline.isolated[run.form].waits[0];
  wait.begin = wait.splitAt = wait.begin + run.begin + Duration(5);
  wait.end += run.begin;
  wait.task = run.task;
  toy.timeline.classes[program::RankClassId(0)].waits.push_back(wait);

  const Report report = buildReport(toy.inputs());
  CHECK(verify(report).empty());
  CHECK(report.waterfall[Cause::Slowed] == 4 * 5);
  CHECK(report.waterfall[Cause::ExposedTensor] == 6 * 50 - 4 * 5);
}

TEST_CASE("m3: recomputation lowers MFU and lifts HFU above it") {
  const Report plain = buildReport(layerToy(Recomputed::No).inputs());
  const Report again = buildReport(layerToy(Recomputed::Yes).inputs());
  CHECK(plain.mfu(Convention::Exact) == Approx(150.0 / 520));
  CHECK(plain.mfu(Convention::Full) == Approx(160.0 / 520));
  CHECK(plain.mfu(Convention::SixNd) == Approx(140.0 / 520));
  CHECK(plain.hfu(Convention::Exact) == plain.mfu(Convention::Exact));
  CHECK(again.recomputedFlops == 6 * 100);
  CHECK(again.mfu(Convention::Exact) == Approx(150.0 / 730));
  CHECK(again.hfu(Convention::Exact) == Approx(250.0 / 730));
}

TEST_CASE("m3: --peak rescales what is printed and nothing else") {
  const Toy toy = layerToy(Recomputed::No);
  ReportInputs inputs = toy.inputs();
  inputs.printedPeak = NamedPeak{"sparse", FlopRate(2 * kFlopsPerSecond)};
  const Report report = buildReport(inputs);
  CHECK(report.mfu(Convention::Exact) == Approx(75.0 / 520));
  CHECK(report.waterfall[Cause::ModelArithmetic] == 6 * 150);
  CHECK(metric(report, "mfu", "").value() == Approx(150.0 / 520));
}

TEST_CASE("m6: the bubble of GPipe is its closed form to the picosecond") {
  for (const auto &[stages, microBatches] :
       {std::pair{16, 16}, {4, 8}, {2, 1}, {1, 3}}) {
    const Toy toy = gpipeToy(stages, microBatches);
    ReportInputs inputs = toy.inputs();
    inputs.pipeline = PipelineShape{stages, microBatches, 1, stages - 1,
                                    microBatches + stages - 1};
    const Report report = buildReport(inputs);
    REQUIRE(report.bubble);
    const Bubble &bubble = *report.bubble;
    CHECK(verify(report).empty());
    CHECK(bubble.rankTime * (microBatches + stages - 1) ==
          bubble.spanRankTime * (stages - 1));
    CHECK(Int128(bubble.ownIdle.value) * bubble.formulaDenominator ==
          Int128(bubble.ownSpan.value) * bubble.formulaNumerator);
    CHECK(report.waterfall[Cause::ExposedPipeline] == 0);
  }
}

TEST_CASE("m6: ranks with less work than the fullest explain the rest") {
  const Toy toy = layerToy(Recomputed::No);
  ReportInputs inputs = toy.inputs();
  inputs.pipeline = PipelineShape{};
  CHECK(buildReport(inputs).bubble->uneven == 0);
  Toy uneven = layerToy(Recomputed::No);
  uneven.programs.classes[program::RankClassId(1)]
      .tasks[program::TaskId(0)]
      .pass = program::PassKind::Update;
  ReportInputs fewer = uneven.inputs();
  fewer.pipeline = PipelineShape{};
  CHECK(buildReport(fewer).bubble->uneven == 2 * 420);
}

TEST_CASE("m5: a receive is bubble before the wire, transfer on it") {
  Toy toy = gpipeToy(2, 1);
  for (timeline::Wait &wait :
       toy.timeline.classes[program::RankClassId(1)].waits)
    wait.splitAt = wait.end - Duration(1000);
  const Report report = buildReport(toy.inputs());
  CHECK(report.waterfall[Cause::ExposedPipeline] == 1000);
  REQUIRE(report.lines.size() == 1);
  CHECK(report.lines[0].place.line == 12); // the pipeline's clause
  CHECK(report.lines[0].what == "bubble");
}

TEST_CASE("m7: waits that no order of a block's collectives avoids") {
  const Toy toy = layerToy(Recomputed::No);
  const auto waits =
      unavoidableWaits(toy.programs.blocks[program::BlockId(0)], toy.cost);
  const auto tensor =
      static_cast<std::size_t>(program::CommunicationKind::Tensor);
  CHECK(waits[tensor] == Duration(50));
  const Report report = buildReport(toy.inputs());
  for (const Communication &row : report.communication)
    CHECK(row.exposedAtLeast <= row.exposed);
}

TEST_CASE("m8: fits, tight under the reserve, does not fit") {
  const auto verdict = [](std::int64_t bytes) {
    Toy toy = layerToy(Recomputed::No);
    toy.programs.classes[program::RankClassId(1)].memory.activations =
        Bytes(bytes);
    return buildReport(toy.inputs());
  };
  CHECK(verdict(900).memory.fit == Fit::Fits);
  CHECK(verdict(901).memory.fit == Fit::Tight);
  CHECK(verdict(1000).memory.fit == Fit::Tight);
  const Report report = verdict(1001);
  CHECK(report.memory.fit == Fit::DoesNotFit);
  CHECK(report.memory.fullest == 1);
  CHECK(report.memory.remedy.find("activations") != std::string::npos);
  CHECK(report.status() == "infeasible");
}

TEST_CASE("costs are charged to lines, dearest first") {
  const Toy toy = layerToy(Recomputed::Yes);
  const Report report = buildReport(toy.inputs());
  REQUIRE(report.lines.size() == 2);
  CHECK(report.lines[0].place.line == 13);
  CHECK(report.lines[0].what == "recomputation");
  CHECK(report.lines[0].rankTime == 6 * 210);
  CHECK(report.lines[1].place.line == 11);
  CHECK(report.lines[1].what == "exposed");
  CHECK(report.lines[1].rankTime == 6 * 50);
}

TEST_CASE("expectations hold, fail, or name what no report has") {
  const Toy toy = layerToy(Recomputed::No);
  ReportInputs inputs = toy.inputs();
  using Comparison = Expectation::Comparison;
  inputs.expectations = {
      {"mfu", "full", Comparison::GreaterEqual, 0.30, "mfu(full) >= 30%", {}},
      {"mfu", "", Comparison::Greater, 0.30, "mfu > 30%", {}},
      {"step_time", "", Comparison::Less, 521e-12, "step_time < 521ps", {}},
      {"exposed", "tensor", Comparison::LessEqual, 0.1, "exposed", {}},
      {"mfu", "sparse", Comparison::Equal, 0.1, "mfu(sparse)", {}},
      {"joy", "", Comparison::Equal, 1, "joy = 1", {}},
  };
  const Report report = buildReport(inputs);
  using Verdict = ExpectationResult::Verdict;
  const Verdict wanted[] = {Verdict::Holds, Verdict::Fails,   Verdict::Holds,
                            Verdict::Holds, Verdict::Unknown, Verdict::Unknown};
  for (std::size_t i = 0; i < std::size(wanted); ++i)
    CHECK(report.expectations[i].verdict == wanted[i]);
  CHECK(report.status() == "expectation_failed");
}
