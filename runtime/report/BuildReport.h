// From a program and its timeline to the report.
#pragma once

#include "runtime/cost/CostModel.h"
#include "runtime/hardware/Cluster.h"
#include "runtime/program/ProgramSet.h"
#include "runtime/report/Report.h"
#include "runtime/timeline/Timeline.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace planc::report {

struct ResolvedLine {
  std::string file;
  std::int64_t line = 0, column = 0; ///< from 1; 0: nowhere
  std::string text;                  ///< the whole line
};
/// From an origin to the line of text it came from. Called with valid ids only.
using OriginResolver = std::function<ResolvedLine(OriginId)>;

/// Where the plan says what; invalid for what it does not say. Costs that no
/// instruction's own clause explains are charged to these.
struct PlanClauses {
  OriginId batch, pipeline, recompute, optimizer, optimizerState, precision;
  OriginId repeated; ///< the axis whose ranks work alike, else the mesh
};

/// The shape of a pipeline, for the closed form of its bubble.
struct PipelineShape {
  std::int64_t stages = 1, microBatches = 1, virtualStages = 1;
  /// The closed form, unreduced: (p − 1) / (v·m + p − 1). A denominator of 0:
  /// the schedule has none.
  std::int64_t formulaNumerator = 0, formulaDenominator = 0;
};

struct Expectation {
  std::string metric;   ///< `mfu`, `memory`, `step_time`, …
  std::string argument; ///< `full`; empty
  enum class Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal
  } comparison = Comparison::GreaterEqual;
  double value = 0; ///< base units: seconds, bytes, 0–1
  std::string text; ///< as written
  OriginId origin;
};

struct ReportInputs {
  const program::ProgramSet &programs;
  const timeline::Timeline &timeline; ///< of the chosen order, two steps
  const cost::CostModel &cost;        ///< the one the timeline was made with
  const hardware::Cluster &cluster;
  Planned planned;
  ModelFlops modelFlops;
  NamedPeak peak;
  std::optional<NamedPeak> printedPeak; ///< `--peak`
  /// Of the other orders and the bound; `chosen` is set from the timeline.
  std::optional<Orders> orders;
  std::optional<PipelineShape> pipeline;
  std::vector<Expectation> expectations;
  OriginResolver resolve;
  PlanClauses clauses;
  /// By class: what the chosen order holds over the program's memory; empty:
  /// nothing.
  std::vector<Bytes> held;
  std::vector<LayerTimes> layers;
};

/// `inputs.programs` passes program::verify and the timeline is one of it.
Report buildReport(const ReportInputs &inputs);

/// The value of a metric an `expect` may name, in base units: `step_time`,
/// `mfu`, `hfu` (argument: a convention, else exact), `memory`, `bubble`,
/// `exposed` (argument: a kind, else all), `tokens_per_s`,
/// `tokens_per_s_per_accelerator`, `model_tflops_per_accelerator` (argument: a
/// convention). Nothing for any other.
std::optional<double> metric(const Report &report, std::string_view name,
                             std::string_view argument);

} // namespace planc::report
