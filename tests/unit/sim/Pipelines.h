// Programs of plain pipelines with stated durations, for closed forms.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <algorithm>
#include <map>
#include <vector>

namespace planc::test {

using namespace planc::program;

/// One forward or backward of a rank: of micro-batch `micro` at stage `stage`.
struct PipelineOp {
  bool forward = true;
  int micro = 0, stage = 0;
};

struct PipelineShape {
  int ranks = 4, micros = 8, chunks = 1;
  Duration forward = Duration(100), backward = Duration(200);
  Duration hop;    ///< latency of a message
  Duration update; ///< of every rank; 0: no time
  ProgramSet::StepEnd end = ProgramSet::StepEnd::Joined;
};

/// The order of each rank.
using Orders = std::vector<std::vector<PipelineOp>>;

inline Orders gpipe(const PipelineShape &shape) {
  Orders orders;
  for (int r = 0; r < shape.ranks; ++r) {
    std::vector<PipelineOp> &order = orders.emplace_back();
    for (int i = 0; i < shape.micros; ++i)
      order.push_back({true, i, r});
    for (int i = 0; i < shape.micros; ++i)
      order.push_back({false, i, r});
  }
  return orders;
}

/// Interleaved 1F1B with groups of `group` micro-batches; with one chunk and
/// group = ranks it is 1F1B.
inline Orders interleaved(const PipelineShape &shape, int group) {
  int p = shape.ranks, m = shape.micros, v = shape.chunks;
  std::vector<std::pair<int, int>> visits; // micro, chunk
  for (int begin = 0; begin < m; begin += group)
    for (int chunk = 0; chunk < v; ++chunk)
      for (int i = begin; i < std::min(m, begin + group); ++i)
        visits.push_back({i, chunk});
  Orders orders;
  for (int r = 0; r < p; ++r) {
    int warm = v == 1 ? std::min(m, p - 1 - r)
                      : std::min(m * v, 2 * (p - 1 - r) + (v - 1) * group);
    std::vector<PipelineOp> &order = orders.emplace_back();
    auto forward = [&](int k) {
      order.push_back({true, visits[k].first, visits[k].second * p + r});
    };
    auto backward = [&](int k) {
      order.push_back(
          {false, visits[k].first, (v - 1 - visits[k].second) * p + r});
    };
    for (int k = 0; k < warm; ++k)
      forward(k);
    for (int k = warm; k < m * v; ++k) {
      forward(k);
      backward(k - warm);
    }
    for (int k = m * v - warm; k < m * v; ++k)
      backward(k);
  }
  return orders;
}

inline Orders oneFOneB(const PipelineShape &shape) {
  return interleaved(shape, shape.ranks);
}

/// A block of one kernel.
inline Block kernelBlock(std::string name, Duration duration) {
  Instruction kernel;
  kernel.kind = InstructionKind::MatMul;
  kernel.duration = duration;
  return {std::move(name), {kernel}};
}

/// One class a rank; a message of no bytes for every value that crosses ranks;
/// an update at the end.
inline ProgramSet pipelineProgram(const PipelineShape &shape,
                                  const Orders &orders) {
  ProgramSet set;
  set.accelerators = shape.ranks;
  set.microBatches = shape.micros;
  set.stepEnd = shape.end;
  BlockId forward = set.blocks.add(kernelBlock("forward", shape.forward));
  BlockId backward = set.blocks.add(kernelBlock("backward", shape.backward));
  BlockId update = set.blocks.add(kernelBlock("update", shape.update));
  int stages = shape.ranks * shape.chunks;
  for (int r = 0; r < shape.ranks; ++r) {
    RankProgram rank;
    rank.name = "stage " + std::to_string(r);
    rank.first = r;
    std::map<int, TaskId> forwardOf; // micro · stages + stage
    auto message = [&](TaskKind kind, int peerStage, int tag) {
      Task task;
      task.kind = kind;
      task.stream = kind == TaskKind::Send ? Stream::Send : Stream::Recv;
      task.peer =
          RankClassId(static_cast<std::size_t>(peerStage % shape.ranks));
      task.tag = tag;
      task.duration = shape.hop;
      task.message.kind = CommunicationKind::Pipeline;
      return task;
    };
    for (const PipelineOp &op : orders[static_cast<std::size_t>(r)]) {
      int before = op.forward ? op.stage - 1 : op.stage + 1;
      int after = op.forward ? op.stage + 1 : op.stage - 1;
      int key = op.micro * stages + op.stage;
      auto tag = [&](int stage) {
        return 2 * (op.micro * stages + stage) + (op.forward ? 0 : 1);
      };
      Task run;
      run.block = op.forward ? forward : backward;
      run.pass = op.forward ? PassKind::Forward : PassKind::Backward;
      run.microBatch = op.micro;
      run.chunk = op.stage;
      bool crosses = shape.ranks > 1;
      if (crosses && before >= 0 && before < stages)
        run.deps.push_back(
            rank.tasks.add(message(TaskKind::Recv, before, tag(op.stage))));
      if (!op.forward)
        run.deps.push_back(forwardOf.at(key));
      TaskId id = rank.tasks.add(run);
      if (op.forward)
        forwardOf[key] = id;
      if (crosses && after >= 0 && after < stages) {
        Task send = message(TaskKind::Send, after, tag(after));
        send.deps.push_back(id);
        rank.tasks.add(send);
      }
    }
    Task run;
    run.block = update;
    run.pass = PassKind::Update;
    rank.tasks.add(run);
    set.classes.add(rank);
  }
  return set;
}

} // namespace planc::test
