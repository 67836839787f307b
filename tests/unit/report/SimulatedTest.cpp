#include "tests/unit/report/Simulated.h"
#include "tests/unit/Catch.h"
#include "tests/unit/report/Toy.h"

#include "runtime/report/Trace.h"
#include "runtime/report/WaitShares.h"
#include "tests/unit/sim/Pipelines.h"

#include <llvm/Support/JSON.h>

using namespace planc;
using namespace planc::report;
using planc::report::test::simulate;
using planc::report::test::Toy;

namespace {

Report reportOf(const program::ProgramSet &set,
                const timeline::Timeline &timeline) {
  Toy toy;
  toy.programs = set;
  toy.timeline = timeline;
  toy.planned.accelerators = 0;
  for (const program::RankProgram &code : set.classes)
    toy.planned.accelerators += code.ranks;
  toy.programs.accelerators = toy.planned.accelerators;
  ReportInputs inputs = toy.inputs();
  inputs.pipeline = PipelineShape{};
  return buildReport(inputs);
}

/// The row of the small table says what the report itself says.
void checkFigures(const Report &report, const OrderFigures &figures) {
  Int128 exposed = 0;
  for (std::size_t i = 0; i < kCauseCount; ++i)
    if (groupOf(static_cast<Cause>(i)) == CauseGroup::Communication)
      exposed += report.waterfall.rankTime[i];
  CHECK(figures.stepTime == report.stepTime);
  CHECK(figures.exposed == exposed);
  CHECK(figures.bubble == report.waterfall[Cause::Bubble]);
  CHECK(figures.spanRankTime == report.bubble->spanRankTime);
}

} // namespace

TEST_CASE("m4: causes of random programs add up, reused or flat") {
  int ran = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    planc::test::RandomPrograms random(seed, {});
    planc::test::RandomProgram program = random.make();
    std::int64_t ranks = 1;
    for (program::RankClassId id : program.set.classes.ids())
      program.set.classes[id].ranks = ranks++;
    program.set.accelerators = ranks * (ranks - 1) / 2;
    const sim::Contention contention =
        seed % 3 == 0 ? sim::Contention::Off : sim::Contention::On;
    INFO("seed " << seed);
    const auto reused = simulate(program, contention, sim::Mode::Reuse);
    if (!reused)
      continue; // an order that can never run
    const auto flat = simulate(program, contention, sim::Mode::Flat);
    REQUIRE(flat);
    const Report report = reportOf(program.set, *reused);
    CHECK(verify(report) == std::vector<std::string>{});
    CHECK(report.waterfall.rankTime ==
          reportOf(program.set, *flat).waterfall.rankTime);
    checkFigures(report, figuresOf(program.set, *reused));
    checkFigures(report, figuresOf(program.set, *flat));
    ++ran;
  }
  CHECK(ran > 100);
}

TEST_CASE("m6: simulated GPipe and 1F1B have the bubble of the closed form") {
  planc::test::PipelineShape shape;
  shape.ranks = 16;
  shape.micros = 16;
  shape.update = Duration(50);
  for (const auto end : {program::ProgramSet::StepEnd::Joined,
                         program::ProgramSet::StepEnd::Free}) {
    shape.end = end;
    for (const planc::test::Orders &orders :
         {planc::test::gpipe(shape), planc::test::oneFOneB(shape)}) {
      const auto set = planc::test::pipelineProgram(shape, orders);
      const Report report = reportOf(set, simulate(set));
      CHECK(verify(report) == std::vector<std::string>{});
      REQUIRE(report.bubble);
      CHECK(report.bubble->spanRankTime == 16 * 31 * 300);
      // Without a meeting all ranks but the first update inside the pipeline's
      // span; as long, they wait between two pipelines.
      const bool joined = end == program::ProgramSet::StepEnd::Joined;
      const Int128 between = joined ? 0 : 15 * shape.update.value;
      CHECK(report.bubble->rankTime == 16 * 15 * 300 - between);
      if (!joined)
        CHECK(report.waterfall[Cause::StepEnd] == between);
      CHECK(Int128(report.bubble->ownIdle.value) * 31 ==
            Int128(report.bubble->ownSpan.value) * 15);
    }
  }
}

TEST_CASE("m6: simulated Interleaved1F1B has the bubble of the closed form") {
  planc::test::PipelineShape shape;
  shape.ranks = 16;
  shape.micros = 16;
  shape.chunks = 2;
  const auto set =
      planc::test::pipelineProgram(shape, planc::test::interleaved(shape, 16));
  const Report report = reportOf(set, simulate(set));
  REQUIRE(report.bubble);
  CHECK(report.bubble->rankTime * 47 == report.bubble->spanRankTime * 15);
}

TEST_CASE("m5: messages that take time are exposed, and not more") {
  planc::test::PipelineShape shape;
  shape.ranks = 4;
  shape.micros = 4;
  shape.hop = Duration(7);
  const auto set =
      planc::test::pipelineProgram(shape, planc::test::gpipe(shape));
  const Report report = reportOf(set, simulate(set));
  CHECK(verify(report) == std::vector<std::string>{});
  CHECK(report.waterfall[Cause::ExposedPipeline] > 0);
  REQUIRE(report.communication.size() == 1);
  CHECK(report.communication[0].exposed ==
        report.waterfall[Cause::ExposedPipeline]);
}

TEST_CASE("trace: an arrow from every send to its receive") {
  planc::test::PipelineShape shape;
  shape.ranks = 3;
  shape.micros = 2;
  shape.hop = Duration(7);
  const auto set =
      planc::test::pipelineProgram(shape, planc::test::gpipe(shape));
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(toTrace(set, simulate(set)));
  REQUIRE(static_cast<bool>(value));
  std::map<std::string, int> arrows;
  for (const llvm::json::Value &event :
       *value->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &fields = *event.getAsObject();
    const std::string phase = fields.getString("ph")->str();
    if (phase == "s" || phase == "f")
      arrows[fields.getString("id")->str()] += phase == "s" ? 1 : 10;
  }
  CHECK(arrows.size() == 8);
  for (const auto &[id, ends] : arrows)
    CHECK(ends == 11);
}
