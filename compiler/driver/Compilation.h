// Every value of one compile, in the order they are made.
#pragma once

#include "compiler/driver/RememberedCosts.h"
#include "compiler/driver/Session.h"
#include "compiler/lower/EmitProgram.h"
#include "compiler/pipeline/StageGraph.h"
#include "compiler/sema/Program.h"
#include "compiler/shard/ShardedGraph.h"
#include "runtime/cost/RooflineCostModel.h"
#include "runtime/sim/Engine.h"

namespace planc::driver {

/// What the simulator was given and what it made of it.
struct Runs {
  sim::Costs costs;
  sim::IssueOrder order; ///< the one that was chosen
  timeline::Timeline chosen;
  std::optional<report::Orders> orders; ///< without asides: none
};

/// Filled from the top to the bottom by compile(); what is empty was not
/// reached. A later value may point into an earlier one, so this does not move.
struct Compilation {
  std::unique_ptr<const sema::Program> program;
  source::OriginTable origins;
  std::optional<sema::Module> module;
  std::optional<graph::OpGraph> graph;
  std::optional<shard::ShardedGraph> sharded;
  std::optional<cost::RooflineCostModel> model;
  std::optional<RememberedCosts> cost; ///< the model's
  lower::LoweredModel bodies;
  std::optional<pipeline::StageGraph> stages;
  std::optional<program::ProgramSet> programs;
  std::optional<Runs> runs;
  std::optional<report::Report> report;

  Compilation() = default;
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;
};

/// The whole flow (Pipeline.cpp), as far as `last`; no `last`: to the report.
/// Stops early after errors were reported to `emitter`, or with a Failure.
std::optional<Failure> compile(Compilation &compilation, const Options &options,
                               std::optional<Stage> last,
                               diag::Emitter &emitter);

/// The second half of compile(), from the programs on; they are there.
std::optional<Failure> simulate(Compilation &compilation,
                                const Options &options,
                                std::optional<Stage> last);

} // namespace planc::driver
