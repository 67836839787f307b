#include "compiler/graph/OpGraph.h"

#include <fmt/format.h>

#include <iterator>

namespace planc::graph {
namespace {

class Printer {
public:
  explicit Printer(const OpGraph &graph) : graph_(graph) {}
  std::string print();

private:
  template <class... T>
  void line(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(out_), format,
                   std::forward<T>(values)...);
    out_ += '\n';
  }
  std::string dims(const ops::Dims &dims) const;
  std::string operand(const ops::Body &body, const ops::Op &op,
                      std::size_t i) const;
  std::string attributes(const ops::Op &op) const;
  void printHead();
  void printBody(const Body &body);
  void printOps(const ops::Body &body, const std::vector<ops::Op> &ops);
  void printPorts(const char *word, const ops::Body &body,
                  const std::vector<ops::Port> &ports);

  const OpGraph &graph_;
  std::string out_;
};

std::string Printer::dims(const ops::Dims &dims) const {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + fullName(graph_.model.dims[dims[i]]);
  return text + "]";
}

std::string Printer::operand(const ops::Body &body, const ops::Op &op,
                             std::size_t i) const {
  const ops::Value &value = body.values[op.operands[i]];
  if (value.kind == ops::ValueKind::Weight)
    return value.name + dims(value.dims);
  const ops::OperandUse &use = op.rules[0].operands[i];
  if (use.oneHot && !use.dims.empty())
    return fmt::format("%{} one-hot {}", value.name,
                       fullName(graph_.model.dims[use.dims.back().dim]));
  return "%" + value.name;
}

std::string Printer::attributes(const ops::Op &op) const {
  const ops::Attributes &of = op.attributes;
  std::string text;
  bool attention = classOf(op.kind) == ops::OpClass::Attention;
  if (of.causal && attention)
    text += " causal";
  if (of.window && attention)
    text += fmt::format(" window {}", *of.window);
  bool drops = attention || op.kind == ops::OpKind::Dropout ||
               op.kind == ops::OpKind::DropoutGrad;
  if (of.dropout > 0 && drops)
    text += fmt::format(" dropout {}", of.dropout);
  for (std::size_t i = 0; i < of.offsets.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : " at ", of.offsets[i]);
  if (of.accumulated)
    text += " accumulated";
  if (of.unfused)
    text += " unfused";
  if (op.kind == ops::OpKind::User || op.kind == ops::OpKind::UserGrad)
    text += " " + graph_.model.userOps[of.userOp].name;
  return text;
}

void Printer::printOps(const ops::Body &body, const std::vector<ops::Op> &ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const ops::Op &op = ops[i];
    std::string results, shapes;
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      const ops::Value &value = body.values[op.results[r]];
      results += (r ? ", %" : "%") + value.name;
      shapes += fmt::format("{}{} {}", r ? ", " : "", dims(value.dims),
                            toString(value.precision));
    }
    std::string operands;
    for (std::size_t o = 0; o < op.operands.size(); ++o)
      operands += (o ? ", " : "") + operand(body, op, o);
    bool joins = i > 0 && ops[i - 1].kernel == op.kernel;
    line("    {} {} = {}{}{} {}  : {}  {} {}", joins ? "+" : "-", results,
         op.again ? "again " : "", toString(op.kind), attributes(op), operands,
         shapes, program::toString(op.phase), op.name);
  }
}

void Printer::printPorts(const char *word, const ops::Body &body,
                         const std::vector<ops::Port> &ports) {
  for (const ops::Port &port : ports)
    line("  {} {} = %{} {}", word, graph_.model.slots[port.slot].name,
         body.values[port.value].name, dims(body.values[port.value].dims));
}

void Printer::printBody(const Body &body) {
  const ops::Body &forward = body.forward;
  line("body {}", forward.name);
  printPorts("in", forward, forward.inputs);
  line("  forward");
  printOps(forward, forward.forward);
  printPorts("out", forward, forward.outputs);
  for (ops::ValueId saved : body.saved)
    line("  saved %{} {} {}", forward.values[saved].name,
         dims(forward.values[saved].dims),
         toString(forward.values[saved].precision));
  printPorts("gradient in", forward, body.gradientInputs);
  if (body.lossGradient.isValid())
    line("  gradient in loss = %{}", forward.values[body.lossGradient].name);
  line("  backward");
  printOps(forward, body.backward);
  printPorts("gradient out", forward, body.gradientOutputs);
  for (const Body::WeightGradient &gradient : body.weightGradients)
    line("  gradient of {} = %{}", graph_.model.weights[gradient.weight].name,
         forward.values[gradient.value].name);
}

void Printer::printHead() {
  const ops::Model &model = graph_.model;
  const GraphOptions &options = graph_.options;
  line("graph {}", model.name);
  line("formats compute {}, parameters {}, gradients {}, logits {}",
       toString(options.compute), toString(options.parameters),
       toString(options.gradients), toString(options.logits));
  for (const ops::Dim &dim : model.dims)
    line("dim {} = {}", fullName(dim), dim.size);
  for (const ops::Weight &weight : model.weights)
    line("weight {} {} x {}", weight.name, dims(weight.dims), weight.instances);
  for (const ops::Slot &slot : model.slots)
    line("{} {} {}", slot.given ? "given" : "slot", slot.name, dims(slot.dims));
  for (const ops::Segment &segment : model.segments) {
    std::string text;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < segment.iterations.size(); ++i) {
      ++runs;
      bool last = i + 1 == segment.iterations.size() ||
                  segment.iterations[i + 1] != segment.iterations[i];
      if (!last)
        continue;
      const Body &body = graph_.bodies[segment.iterations[i]];
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ",
                          body.forward.name, runs);
      runs = 0;
    }
    line("{} {}", segment.isRepeat ? "repeat" : "run", text);
  }
}

std::string Printer::print() {
  printHead();
  for (const Body &body : graph_.bodies)
    printBody(body);
  return std::move(out_);
}

} // namespace

std::string toText(const OpGraph &graph) { return Printer(graph).print(); }

} // namespace planc::graph
