#include "compiler/shard/ShardedGraph.h"

#include <algorithm>
#include <fmt/format.h>

namespace planc::shard {
namespace {

std::string bytesText(Bytes bytes) {
  struct Unit {
    std::int64_t size;
    const char *name;
  };
  for (Unit unit :
       {Unit{std::int64_t{1} << 30, "GiB"}, Unit{std::int64_t{1} << 20, "MiB"},
        Unit{std::int64_t{1} << 10, "KiB"}})
    if (bytes.value >= unit.size && bytes.value % unit.size == 0)
      return fmt::format("{}{}", bytes.value / unit.size, unit.name);
  return fmt::format("{}B", bytes.value);
}

std::string_view nameOf(StepKind kind) {
  switch (kind) {
  case StepKind::Compute:
    return "compute";
  case StepKind::AllReduce:
    return "all_reduce";
  case StepKind::AllGather:
    return "all_gather";
  case StepKind::ReduceScatter:
    return "reduce_scatter";
  case StepKind::AllToAll:
    return "all_to_all";
  case StepKind::Slice:
    return "slice";
  }
  return "";
}

class Printer {
public:
  explicit Printer(const ShardedGraph &graph) : graph_(graph) {}

  std::string run() {
    out_ = "mesh";
    for (const sema::Axis &axis : graph_.mesh.axes)
      out_ += fmt::format(" {}={}", axis.name, axis.size);
    out_ += "\n";
    for (ops::BodyId id : graph_.bodies.ids())
      printBody(id);
    out_ += "weights\n";
    for (ops::WeightId id : graph_.weights.ids())
      printWeight(id);
    return std::move(out_);
  }

private:
  std::string dimName(ops::DimId dim) const {
    return ops::fullName(graph_.graph->model.dims[dim]);
  }
  std::string axisName(AxisId axis) const {
    return graph_.mesh.axes[axis].name;
  }

  /// `[batch/2, seq, ffn/8] partial over tp`
  std::string laying(const ops::Dims &dims,
                     const std::vector<std::int64_t> &sizes,
                     const Layout &layout) const {
    std::string text = "[";
    for (std::size_t d = 0; d < dims.size(); ++d) {
      std::int64_t parts = graph_.graph->model.dims[dims[d]].size / sizes[d];
      text += fmt::format("{}{}", d ? ", " : "", dimName(dims[d]));
      if (parts > 1)
        text += fmt::format("/{}", parts);
    }
    return text + "]" + partial(layout);
  }

  std::string partial(const Layout &layout) const {
    std::string text;
    for (std::size_t a = 0; a < layout.partial.size(); ++a)
      if (layout.partial[a])
        text += fmt::format("{}{}{}", text.empty() ? " partial over " : ", ",
                            axisName(AxisId(a)),
                            layout.cut[a].isValid() ? " copies" : "");
    return text;
  }

  std::string laying(ShardedValueId id) const {
    const ShardedValue &value = body_->values[id];
    return laying(source_->forward.values[value.source].dims, value.sizes,
                  value.layout);
  }

  static std::string ids(const std::vector<ShardedValueId> &values) {
    std::string text;
    for (ShardedValueId id : values)
      text += fmt::format("{}%{}", text.empty() ? "" : ", ", id.index());
    return text;
  }

  /// `tp`, or `tp[2]` where only two of its ranks form a group.
  std::string group(const Step &step) const {
    std::string text;
    for (std::size_t i = 0; i < step.axes.size(); ++i) {
      text += fmt::format("{}{}", i ? ", " : "", axisName(step.axes[i]));
      if (step.sizes[i] != graph_.mesh.axes[step.axes[i]].size)
        text += fmt::format("[{}]", step.sizes[i]);
    }
    return text;
  }

  void printBody(ops::BodyId id) {
    body_ = &graph_.bodies[id];
    source_ = &graph_.graph->bodies[id];
    out_ += fmt::format("body {}\n", source_->forward.name);
    printPorts("in", body_->inputs);
    out_ += "  forward\n";
    for (const Step &step : body_->forward)
      printStep(step, source_->forward.forward);
    printPorts("out", body_->outputs);
    if (!body_->saved.empty())
      out_ += fmt::format("  saved {}\n", ids(body_->saved));
    printPorts("gradient in", body_->gradientInputs);
    out_ += "  backward\n";
    for (const Step &step : body_->backward)
      printStep(step, source_->backward);
    printPorts("gradient out", body_->gradientOutputs);
  }

  void printPorts(const char *what, const std::vector<Port> &ports) {
    for (const Port &port : ports)
      out_ += fmt::format("  {} %{}  # {} {}\n", what, port.value.index(),
                          graph_.graph->model.slots[port.slot].name,
                          laying(port.value));
  }

  void printStep(const Step &step, const std::vector<ops::Op> &operators) {
    out_ += "    ";
    if (!step.results.empty())
      out_ += fmt::format("{} = ", ids(step.results));
    if (step.kind == StepKind::Compute)
      out_ += ops::toString(operators[step.op].kind);
    else
      out_ += nameOf(step.kind);
    if (!step.operands.empty())
      out_ += fmt::format(" {}", ids(step.operands));
    if (step.kind != StepKind::Compute)
      printGroup(step);
    out_ += fmt::format("  # {}", step.name);
    for (ShardedValueId id : step.results)
      if (step.results.size() == 1 || step.kind == StepKind::Compute)
        out_ += fmt::format(" {}", laying(id));
    out_ += "\n";
  }

  void printGroup(const Step &step) {
    out_ += fmt::format(" over {}", group(step));
    if (step.from.isValid() && step.from != step.to)
      out_ += fmt::format(" dim {}", dimName(step.from));
    if (step.to.isValid() && step.from != step.to)
      out_ += fmt::format(" {} {}", step.from.isValid() ? "to" : "dim",
                          dimName(step.to));
    if (step.kind != StepKind::Slice)
      out_ += fmt::format(" {}", bytesText(step.bytes));
    if (step.ring != RingSteps::None)
      out_ += step.ring == RingSteps::Overlapped ? " in overlapped ring steps"
                                                 : " in ring steps";
  }

  void printWeight(ops::WeightId id) {
    const WeightState &state = graph_.weights[id];
    const ops::Weight &weight = graph_.graph->model.weights[id];
    out_ += fmt::format("  {} {}", weight.name,
                        laying(weight.dims, state.sizes, state.layout));
    printAxes("parameters", state.parameterState);
    printAxes("gradients", state.gradientState);
    printAxes("optimizer", state.optimizerState);
    if (!state.partial.empty())
      out_ += " grad" + partial(state.gradient);
    std::string text;
    for (const std::vector<Step> *steps : {&state.reduces, &state.gathers})
      for (const Step &step : *steps)
        text +=
            fmt::format("{}{} {} {}", text.empty() ? ": " : ", ",
                        nameOf(step.kind), group(step), bytesText(step.bytes));
    out_ += fmt::format("{}\n", text);
  }

  void printAxes(const char *what, const std::vector<AxisId> &axes) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      out_ += fmt::format("{}{}", i ? ", " : fmt::format(" {} over ", what),
                          axisName(axes[i]));
  }

  const ShardedGraph &graph_;
  const ShardedBody *body_ = nullptr;
  const graph::Body *source_ = nullptr;
  std::string out_;
};

} // namespace

std::string toText(const ShardedGraph &graph) { return Printer(graph).run(); }

} // namespace planc::shard
