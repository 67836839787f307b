#include "compiler/lower/EmitProgram.h"

#include "compiler/graph/ChooseFormats.h"
#include "compiler/lower/Memory.h"
#include "compiler/lower/SharedGradients.h"
#include "compiler/lower/StageWeights.h"
#include "compiler/lower/Update.h"
#include "compiler/lower/WeightTail.h"

#include <algorithm>
#include <span>

namespace planc::lower {

using pipeline::Pass;
using program::PassKind;
using program::ProgramSet;
using program::RankClassId;
using program::RankProgram;
using program::Stream;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

/// Tags of messages: unique over the program, equal at both ends.
class Tags {
public:
  explicit Tags(const pipeline::StageGraph &stages)
      : chunks_(static_cast<std::int64_t>(stages.chunks.size())),
        microBatches_(stages.microBatches) {}

  /// Into `chunk` going forward, out of it going backward.
  std::int64_t message(const Pass &pass, std::int32_t chunk) const {
    std::int64_t direction = pass.kind == schedules::PassKind::Forward ? 0 : 1;
    return (direction * microBatches_ + pass.microBatch) * chunks_ + chunk;
  }
  std::int64_t norm() const { return 2 * microBatches_ * chunks_; }
  std::int64_t firstShared() const { return norm() + 1; }

private:
  std::int64_t chunks_, microBatches_;
};

class ClassBuilder {
public:
  ClassBuilder(const EmitRequest &request, ProgramSet &set, std::int64_t stage)
      : request_(request), set_(set), stage_(stage), tags_(*request.stages) {}

  RankProgram build(BlockBuilder &blocks) {
    const pipeline::StageGraph &stages = *request_.stages;
    program_.name = "stage " + std::to_string(stage_);
    program_.ranks = request_.accelerators / stages.stages;
    if (request_.plan->pipeline)
      program_.first =
          stage_ * request_.plan->mesh.stride(request_.plan->pipeline->axis);
    runs_.resize(stages.chunks.size());
    const schedules::Order &order =
        stages.orders[static_cast<std::size_t>(stage_)];
    const std::size_t tail = weightTail(order);
    for (std::size_t i = 0; i < tail;) {
      std::size_t end = i + 1;
      while (end < tail && order[end].withPrevious)
        ++end;
      addStep({order.data() + i, end - i}, blocks);
      i = end;
    }
    if (tail < order.size())
      addTail({order.data() + tail, order.size() - tail}, blocks);
    endRun();
    std::vector<ChunkRuns> runs;
    for (const ChunkRuns &run : runs_)
      if (run.completion().isValid())
        runs.push_back(run);
    std::stable_sort(runs.begin(), runs.end(),
                     [](const ChunkRuns &a, const ChunkRuns &b) {
                       return a.completion() < b.completion();
                     });
    addPieces(request_, runs, program_);
    for (Task &task :
         sharedGradients({request_, stage_, runs, tags_.firstShared()}))
      beforeUpdate_.push_back(program_.tasks.add(std::move(task)));
    addUpdate();
    program_.memory = memoryOf(request_, stage_);
    return std::move(program_);
  }

private:
  static PassKind programKind(schedules::PassKind kind) {
    switch (kind) {
    case schedules::PassKind::Forward:
      return PassKind::Forward;
    case schedules::PassKind::WeightGradient:
      return PassKind::WeightGradient;
    default:
      return PassKind::Backward;
    }
  }
  /// The chunk a pass hears from and the one it speaks to; −1: nobody.
  static std::int32_t sourceOf(const Pass &pass, std::size_t chunks) {
    if (pass.kind == schedules::PassKind::WeightGradient)
      return -1;
    if (pass.kind == schedules::PassKind::Forward)
      return pass.chunk - 1;
    return static_cast<std::size_t>(pass.chunk) + 1 < chunks ? pass.chunk + 1
                                                             : -1;
  }
  static std::int32_t targetOf(const Pass &pass, std::size_t chunks) {
    if (pass.kind == schedules::PassKind::WeightGradient)
      return -1;
    if (pass.kind == schedules::PassKind::Forward)
      return static_cast<std::size_t>(pass.chunk) + 1 < chunks ? pass.chunk + 1
                                                               : -1;
    return pass.chunk - 1;
  }

  /// One pass, or a forward and a backward together.
  void addStep(std::span<const Pass> passes, BlockBuilder &blocks) {
    Task task;
    task.kind = TaskKind::Run;
    task.pass = programKind(passes.front().kind);
    task.microBatch = passes.front().microBatch;
    task.chunk = passes.front().chunk;
    const PairedPass *pair = nullptr;
    if (passes.size() == 1) {
      task.block = passOf(passes.front(), blocks).block;
    } else {
      pair = &blocks.together(passOf(passes[0], blocks),
                              passOf(passes[1], blocks));
      task.block = pair->block;
      task.withMicroBatch = passes[1].microBatch;
      task.withChunk = passes[1].chunk;
    }
    const std::size_t chunks = request_.stages->chunks.size();
    for (const Pass &pass : passes)
      if (std::int32_t source = sourceOf(pass, chunks); source >= 0)
        if (TaskId received = addTransfer(TaskKind::Recv, pass, source);
            received.isValid())
          task.deps.push_back(received);
    if (lastSend_.isValid() && !request_.plan->overlap.pipeline)
      task.deps.push_back(lastSend_);
    TaskId ran = program_.tasks.add(std::move(task));
    note(passes.front(), {ran, pair ? &pair->forward : nullptr});
    if (pair)
      note(passes[1], {ran, &pair->backward});
    for (const Pass &pass : passes)
      if (std::int32_t target = targetOf(pass, chunks); target >= 0)
        if (TaskId sent = addTransfer(TaskKind::Send, pass, target);
            sent.isValid()) {
          program_.tasks[sent].deps.push_back(ran);
          lastSend_ = sent;
        }
  }

  /// Gradients of weights at the end, in one task.
  void addTail(std::span<const Pass> passes, BlockBuilder &blocks) {
    const std::vector<TailGroup> groups = groupsOf(passes);
    std::vector<const ChunkPass *> own;
    Pass last = passes.back();
    for (const TailGroup &group : groups) {
      last.chunk = static_cast<std::int32_t>(group.chunk);
      last.microBatch = group.lastMicroBatch;
      own.push_back(&passOf(last, blocks));
    }
    const TailPass &tail = blocks.tail(groups, own);
    Task task;
    task.kind = TaskKind::Run;
    task.pass = PassKind::WeightGradient;
    task.block = tail.block;
    task.microBatch = last.microBatch;
    task.chunk = last.chunk;
    if (lastSend_.isValid() && !request_.plan->overlap.pipeline)
      task.deps.push_back(lastSend_);
    const TaskId ran = program_.tasks.add(std::move(task));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      last.chunk = static_cast<std::int32_t>(groups[g].chunk);
      note(last, {ran, &tail.places[g]});
    }
  }

  /// The block of a pass alone, made when it is first run.
  const ChunkPass &passOf(const Pass &pass, BlockBuilder &blocks) {
    auto index = static_cast<std::size_t>(pass.chunk);
    ChunkRuns &run = runs_[index];
    run.chunk = index;
    ChunkPass &out = pass.kind == schedules::PassKind::Forward    ? run.forward
                     : pass.kind == schedules::PassKind::Backward ? run.backward
                     : pass.kind == schedules::PassKind::InputGradient
                         ? run.input
                         : run.weight;
    if (!out.block.isValid())
      out = blocks.pass(request_.stages->chunks[index], pass.kind);
    return out;
  }

  void note(const Pass &pass, PassRun ran) {
    auto index = static_cast<std::size_t>(pass.chunk);
    ChunkRuns &run = runs_[index];
    switch (pass.kind) {
    case schedules::PassKind::Forward:
      if (!run.firstForward.isValid())
        run.firstForward = ran;
      break;
    case schedules::PassKind::Backward:
      run.lastBackward = ran;
      break;
    case schedules::PassKind::InputGradient:
      run.lastInput = ran;
      break;
    case schedules::PassKind::WeightGradient:
      run.lastWeight = ran;
      break;
    }
    if (!schedules::completesWeights(pass.kind))
      return;
    if (lastChunk_ != index)
      endRun();
    lastChunk_ = index;
    lastCompletion_ = ran;
  }

  /// The stage turns from the chunk whose gradients it completed last.
  void endRun() {
    if (lastChunk_)
      runs_[*lastChunk_].runEnds.push_back(lastCompletion_);
  }

  /// A message between this pass's chunk and `other`; none inside one stage.
  TaskId addTransfer(TaskKind kind, const Pass &pass, std::int32_t other) {
    const pipeline::StageGraph &stages = *request_.stages;
    std::int64_t peer = stages.stageOf(pass.microBatch, other);
    if (peer == stage_)
      return TaskId();
    // The cut lies before the later of the two chunks.
    std::int32_t cut = std::max(pass.chunk, other);
    std::int32_t into = kind == TaskKind::Recv ? pass.chunk : other;
    Task task;
    task.kind = kind;
    task.stream = kind == TaskKind::Recv ? Stream::Recv : Stream::Send;
    task.peer = RankClassId(static_cast<std::size_t>(peer));
    task.tag = tags_.message(pass, into);
    task.message = crossingMessage(cut, peer);
    task.clause = request_.plan->pipeline->clause;
    task.microBatch = pass.microBatch;
    task.chunk = pass.chunk;
    task.name = kind == TaskKind::Recv ? "recv" : "send";
    return program_.tasks.add(std::move(task));
  }

  program::Message crossingMessage(std::int32_t cut, std::int64_t peer) const {
    program::Message message;
    message.kind = program::CommunicationKind::Pipeline;
    for (ops::SlotId slot :
         request_.stages->crossing[static_cast<std::size_t>(cut)])
      message.bytes += slotBytes(request_, slot);
    const sema::Mesh &mesh = request_.plan->mesh;
    std::int64_t stride = mesh.stride(request_.plan->pipeline->axis);
    message.sizes = {2};
    message.strides = {std::abs(peer - stage_) * stride};
    return message;
  }

  void addUpdate() {
    if (set_.stepEnd == ProgramSet::StepEnd::Joined &&
        request_.accelerators > 1) {
      Task norm;
      norm.kind = TaskKind::Collective;
      norm.stream = Stream::Gradients;
      norm.deps = beforeUpdate_;
      norm.tag = tags_.norm();
      norm.message.kind = program::CommunicationKind::Norm;
      norm.message.bytes = Bytes(bytesOf(Precision::Fp32));
      norm.message.sizes = {request_.accelerators};
      norm.message.strides = {1};
      norm.clause = request_.plan->optimizer.clause;
      norm.name = "gradient norm";
      beforeUpdate_.push_back(program_.tasks.add(std::move(norm)));
    }
    Task task;
    task.kind = TaskKind::Run;
    task.pass = PassKind::Update;
    task.block = set_.blocks.add(updateBlock(request_, stage_));
    task.deps = beforeUpdate_;
    task.name = "update";
    TaskId update = program_.tasks.add(std::move(task));
    for (program::Piece &piece : program_.gathers)
      piece.task = update;
  }

  const EmitRequest &request_;
  ProgramSet &set_;
  std::int64_t stage_;
  Tags tags_;
  RankProgram program_;
  std::vector<ChunkRuns> runs_;
  TaskId lastSend_;
  std::optional<std::size_t> lastChunk_; ///< whose gradients were completed
  PassRun lastCompletion_;
  std::vector<TaskId> beforeUpdate_;
};

} // namespace

Bytes slotBytes(const EmitRequest &request, ops::SlotId slot) {
  const shard::Layout &layout = request.graph->slots[slot];
  const ops::Model &model = request.graph->graph->model;
  std::int64_t elements = 1;
  for (ops::DimId dim : model.slots[slot].dims) {
    std::int64_t size = model.dims[dim].size;
    for (sema::AxisId axis : request.plan->mesh.axes.ids())
      if (layout.cut[axis.index()] == dim)
        size /= request.plan->mesh.axes[axis].size;
    elements *= size;
  }
  return Bytes(elements *
               bytesOf(graph::activationFormat(request.graph->graph->options)));
}

ProgramSet emitProgram(const EmitRequest &request) {
  ProgramSet set;
  set.name = request.name;
  set.accelerators = request.accelerators;
  set.microBatches = static_cast<std::int32_t>(request.stages->microBatches);
  set.stepEnd = request.plan->optimizer.clip > 0 ? ProgramSet::StepEnd::Joined
                                                 : ProgramSet::StepEnd::Free;
  BlockBuilder blocks(request, set);
  for (std::int64_t stage = 0; stage < request.stages->stages; ++stage)
    set.classes.add(ClassBuilder(request, set, stage).build(blocks));
  return set;
}

} // namespace planc::lower
