// A small model taken as far as rank programs, by hand.
#pragma once

#include "compiler/lower/EmitProgram.h"
#include "compiler/pipeline/AssignStages.h"
#include "tests/unit/ops/TinyModels.h"
#include "tests/unit/shard/Plans.h"

#include <memory>

namespace planc::lower {

/// Owns every stage, so that the later ones may point into the earlier.
struct Lowered {
  ops::Model model;
  graph::OpGraph graph;
  sema::Plan plan;
  shard::ShardedGraph sharded;
  LoweredModel bodies;
  pipeline::StageGraph stages;
  program::ProgramSet programs;
};

inline const RerunChoice kAll{true, false, {}}, kAttention{false, true, {}};

struct LoweredSpec {
  ops::Model model;
  graph::GraphOptions options;
  std::vector<oracle::AxisSpec> axes;
  std::vector<std::string> optimizerOver;
  RerunChoice recompute;
  std::string pipelineOver;
  sema::Schedule schedule = sema::Schedule::OneFOneB;
  std::int64_t virtualStages = 1;
  std::function<Duration(const program::Instruction &)> duration;
  std::int64_t microBatches = 1;
  std::string ringOver; ///< an axis that cuts the sequence
  bool overlapContext = false;
};

inline std::unique_ptr<Lowered> lowered(const LoweredSpec &spec) {
  auto out = std::make_unique<Lowered>();
  out->model = spec.model;
  out->graph = graph::buildGraph(spec.model, spec.options);
  out->plan = oracle::planOf(out->graph, spec.axes);
  out->plan.batch.microBatches = spec.microBatches;
  for (const std::string &name : spec.optimizerOver)
    out->plan.optimizerState.axes.push_back(oracle::axisOf(out->plan, name));
  if (!spec.pipelineOver.empty()) {
    sema::Pipeline pipeline;
    pipeline.axis = oracle::axisOf(out->plan, spec.pipelineOver);
    pipeline.schedule = spec.schedule;
    pipeline.virtualStages = spec.virtualStages;
    pipeline.stages = out->plan.mesh.axes[pipeline.axis].size;
    out->plan.pipeline = pipeline;
  }
  out->plan.overlap.context = spec.overlapContext;
  if (!spec.ringOver.empty()) {
    out->plan.context.resize(out->plan.mesh.axes.size());
    out->plan.context[oracle::axisOf(out->plan, spec.ringOver)].method =
        sema::ContextMethod::Ring;
  }
  out->sharded = shard::shardGraph(out->graph, out->plan);
  for (ops::BodyId body : out->sharded.bodies.ids()) {
    bool isLayer = false;
    for (const ops::Segment &segment : out->graph.model.segments)
      for (ops::BodyId iteration : segment.iterations)
        isLayer = isLayer || (iteration == body && segment.isRepeat);
    out->bodies.forms.add({lowerBody(
        out->sharded, body, isLayer ? spec.recompute : RerunChoice())});
  }
  std::vector<Duration> costs(pipeline::unitsOf(out->graph.model).size(),
                              Duration(1'000'000));
  out->stages = pipeline::assignStages({&out->model, &out->plan, costs});
  out->programs =
      emitProgram({&out->sharded, &out->stages, &out->plan, &out->bodies,
                   out->plan.mesh.devices(), "test", spec.duration});
  return out;
}

/// The body of that name.
inline const LoweredBody &bodyOf(const Lowered &lowered,
                                 const std::string &name) {
  for (ops::BodyId body : lowered.graph.bodies.ids())
    if (lowered.graph.bodies[body].forward.name == name)
      return lowered.bodies.of(0, body);
  std::abort();
}

} // namespace planc::lower
