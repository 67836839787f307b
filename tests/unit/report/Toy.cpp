#include "tests/unit/report/Toy.h"

#include "runtime/timeline/Queries.h"

namespace planc::report::test {

using program::Block;
using program::BlockId;
using program::CommunicationKind;
using program::Instruction;
using program::InstructionKind;
using program::PassKind;
using program::Phase;
using program::RankClassId;
using program::RankProgram;
using program::Stream;
using program::Task;
using program::TaskId;
using timeline::InstructionTimes;
using timeline::Wait;
using timeline::WaitCause;

namespace {

constexpr std::int64_t kLaunch = 10;

InstructionTimes between(std::int64_t begin, std::int64_t end) {
  return {Duration(begin), Duration(end), Duration(0)};
}

Instruction product(std::int64_t flops, Phase phase) {
  Instruction instruction;
  instruction.kind = InstructionKind::MatMul;
  instruction.phase = phase;
  instruction.name = "decoder.wq";
  instruction.work.flops = Flops(flops);
  instruction.work.modelFlops = Flops(phase == Phase::Recompute ? 0 : flops);
  instruction.work.modelFlopsFull = instruction.work.modelFlops;
  return instruction;
}

Instruction memory(std::int64_t bytes, Phase phase) {
  Instruction instruction;
  instruction.kind = InstructionKind::Memory;
  instruction.phase = phase;
  instruction.name = "decoder.norm";
  instruction.work.bytesRead = Bytes(bytes);
  return instruction;
}

/// Ends: product 210, gather 310, memory 260, product 420 after a wait of 50.
Block layerBlock() {
  Block block;
  block.name = "chunk 0 forward";
  block.instructions.push_back(product(100, Phase::Forward));
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = Stream::Tensor;
  gather.message = {Bytes(100), {2}, {1}, CommunicationKind::Tensor};
  gather.deps = {0};
  gather.clause = OriginId(1);
  gather.name = "decoder.wq gather";
  block.instructions.push_back(gather);
  block.instructions.push_back(memory(40, Phase::Forward));
  block.instructions.push_back(product(50, Phase::Forward));
  block.instructions.back().deps = {1, 2};
  return block;
}

timeline::IsolatedRun layerAlone() {
  timeline::IsolatedRun run;
  run.duration = Duration(420);
  run.instructions = {between(0, 210), between(210, 310), between(210, 260),
                      between(310, 420)};
  Wait wait;
  wait.begin = wait.splitAt = Duration(260);
  wait.end = Duration(310);
  wait.cause = WaitCause::Instruction;
  wait.kind = CommunicationKind::Tensor;
  wait.index = 1;
  run.waits = {wait};
  return run;
}

timeline::IsolatedRun oneKernel(std::int64_t length) {
  timeline::IsolatedRun run;
  run.duration = Duration(length);
  run.instructions = {between(0, length)};
  return run;
}

Task runOf(BlockId block, PassKind pass) {
  Task task;
  task.block = block;
  task.pass = pass;
  return task;
}

} // namespace

cost::ComputeCost ToyCost::compute(InstructionKind kind,
                                   const program::Work &work) const {
  cost::ComputeCost cost;
  cost.launch = Duration(kLaunch);
  if (kind == InstructionKind::MatMul) {
    cost.bound = cost::Bound::Arithmetic;
    cost.arithmetic = Duration(work.flops.value);
    cost.total = Duration(kLaunch + 2 * work.flops.value);
  } else {
    cost.total = Duration(kLaunch + work.bytesRead.value);
  }
  return cost;
}

cost::CollectiveCost
ToyCost::communicate(InstructionKind, const program::Message &message) const {
  cost::CollectiveCost cost;
  cost.total = Duration(message.bytes.value);
  return cost;
}

Toy::Toy() {
  cluster.name = "toys";
  cluster.accelerator.name = "toy";
  cluster.accelerator.peaks = {{Precision::Bf16, FlopRate(kFlopsPerSecond)}};
  cluster.accelerator.memory = Bytes(1000);
  cluster.reserve = Bytes(100);
  cluster.levels.resize(1);
  cluster.levels[0].name = "node";
  cluster.levels[0].of = 8;
  timeline.steps.resize(2);
  planned.plan = "toy";
  planned.model = "small";
  planned.accelerator = "toy";
  planned.place = {"toy.plan", 7};
  planned.sequences = 2;
  planned.sequenceLength = 3;
}

ReportInputs Toy::inputs() const {
  ReportInputs inputs{programs,
                      timeline,
                      cost,
                      cluster,
                      planned,
                      flops,
                      {"bf16", FlopRate(kFlopsPerSecond)},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {}};
  inputs.resolve = [](OriginId id) {
    return ResolvedLine{"toy.plan", id.index() + 10, 1,
                        "  clause " + std::to_string(id.index()) + "  # why"};
  };
  inputs.clauses.pipeline = OriginId(2);
  inputs.clauses.recompute = OriginId(3);
  return inputs;
}

void Toy::run(RankClassId id, TaskId task, std::int32_t step, Duration idle,
              Wait wait) {
  timeline::ClassTimeline &times = timeline.classes[id];
  const Duration from =
      times.runs.empty() ? Duration(0) : times.runs.back().end;
  if (idle > Duration(0)) {
    wait.rankClass = id;
    wait.step = step;
    wait.task = task;
    wait.begin = from;
    wait.end = from + idle;
    wait.splitAt =
        wait.cause == WaitCause::NothingLeft ? wait.end : from + wait.splitAt;
    times.waits.push_back(wait);
    if (wait.cause == WaitCause::Collective)
      times.communications.push_back(
          {timeline::CommunicationSource::Collective, Stream::Gradients,
           wait.kind, step, task.index(), wait.begin, wait.splitAt, wait.end});
  }
  timeline::Run run;
  run.task = task;
  run.block = programs.classes[id].tasks[task].block;
  run.form = timeline::FormId(run.block.index());
  run.step = step;
  run.begin = from + idle;
  run.end = run.begin + timeline.isolated[run.form].duration;
  times.runs.push_back(run);
}

Toy layerToy(Recomputed recomputed) {
  Toy toy;
  toy.programs.accelerators = toy.planned.accelerators = 6;
  const BlockId layer = toy.programs.blocks.add(layerBlock());
  toy.timeline.isolated.add(layerAlone());
  Block again;
  again.name = "chunk 0 recompute";
  again.instructions.push_back(product(100, Phase::Recompute));
  const BlockId recompute = toy.programs.blocks.add(again);
  toy.timeline.isolated.add(oneKernel(210));
  Block update;
  update.name = "update";
  update.instructions.push_back(memory(70, Phase::Update));
  const BlockId last = toy.programs.blocks.add(update);
  toy.timeline.isolated.add(oneKernel(80));

  for (std::int64_t ranks : {4, 2}) {
    RankProgram code;
    code.name = "stage " + std::to_string(toy.programs.classes.size());
    code.ranks = ranks;
    code.tasks.add(runOf(layer, PassKind::Forward));
    if (recomputed == Recomputed::Yes)
      code.tasks.add(runOf(recompute, PassKind::Backward));
    code.tasks.add(runOf(last, PassKind::Update));
    toy.programs.classes.add(code);
    toy.timeline.classes.add({});
  }
  const RankClassId first(0), second(1);
  Wait reduction;
  reduction.cause = WaitCause::Collective;
  reduction.kind = CommunicationKind::Norm;
  reduction.splitAt = Duration(3);
  const std::size_t tasks = toy.programs.classes[first].tasks.size();
  for (std::int32_t step : {0, 1})
    for (std::size_t task = 0; task < tasks; ++task) {
      toy.run(first, TaskId(task), step, Duration(task + 1 == tasks ? 20 : 0),
              reduction);
      toy.run(second, TaskId(task), step);
    }
  toy.timeline.stepTime = Duration(recomputed == Recomputed::Yes ? 730 : 520);
  toy.flops = {6 * 150, 6 * 160, 6 * 140};
  return toy;
}

Toy gpipeToy(std::int64_t stages, std::int64_t microBatches) {
  constexpr std::int64_t kForward = 1'000'000, kBackward = 2'000'000;
  Toy toy;
  toy.programs.accelerators = toy.planned.accelerators = stages;
  const auto stated = [&](Phase phase, std::int64_t length) {
    Block block;
    block.instructions.push_back(product(0, phase));
    block.instructions.back().duration = Duration(length);
    toy.timeline.isolated.add(oneKernel(length));
    return toy.programs.blocks.add(block);
  };
  const BlockId forward = stated(Phase::Forward, kForward);
  const BlockId backward = stated(Phase::InputGradient, kBackward);
  Wait wait;
  wait.cause = WaitCause::Recv;
  wait.kind = CommunicationKind::Pipeline;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    RankProgram code;
    code.name = "stage " + std::to_string(stage);
    for (std::int64_t i = 0; i < 2 * microBatches; ++i)
      code.tasks.add(i < microBatches ? runOf(forward, PassKind::Forward)
                                      : runOf(backward, PassKind::Backward));
    const RankClassId id = toy.programs.classes.add(code);
    toy.timeline.classes.add({});
    const std::int64_t below = stages - 1 - stage;
    for (std::int32_t step : {0, 1}) {
      for (std::int64_t i = 0; i < 2 * microBatches; ++i) {
        std::int64_t idle = 0;
        if (i == 0) // from the end of its last backward, or of nothing
          idle = stage * kForward + (step == 1 ? stage * kBackward : 0);
        if (i == microBatches)
          idle = below * (kForward + kBackward);
        wait.splitAt = Duration(idle);
        toy.run(id, TaskId(static_cast<std::size_t>(i)), step, Duration(idle),
                wait);
      }
    }
  }
  const std::int64_t span =
      (microBatches + stages - 1) * (kForward + kBackward);
  toy.timeline.stepTime = Duration(span);
  for (std::int64_t step : {0, 1})
    toy.timeline.steps[static_cast<std::size_t>(step)] = {
        Duration(step * span), Duration((step + 1) * span)};
  return toy;
}

} // namespace planc::report::test
