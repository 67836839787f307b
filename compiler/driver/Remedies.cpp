#include "compiler/driver/Remedies.h"

#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace planc::driver {

namespace {

constexpr std::size_t kMostShown = 4;
/// Beyond this a mesh is no plan of a person's, and each try takes long.
constexpr std::size_t kMostAxes = 64;

class Changes {
public:
  explicit Changes(const Compilation &c)
      : c_(c), plan_(c.module->plan), model_(c.module->model) {}

  std::vector<std::string> run() {
    if (plan_.mesh.axes.size() > kMostAxes)
      return {};
    sortAxes();
    addStates();
    addActivations();
    addMoreRanks();
    return std::move(out_);
  }

private:
  /// An axis holds copies of most weights, or cuts them.
  void sortAxes() {
    for (sema::AxisId axis : plan_.mesh.axes.ids()) {
      if (plan_.pipeline && plan_.pipeline->axis == axis)
        continue;
      std::int64_t whole = 0, cut = 0;
      for (const shard::WeightState &state : c_.sharded->weights)
        (state.layout.cut[axis.index()].isValid() ? cut : whole) +=
            state.localElements;
      const bool isListed = listsWeights(axis);
      if (isListed || cut > whole)
        cutting_.push_back(axis);
      else if (plan_.mesh.axes[axis].size > 1)
        copies_.push_back(axis);
    }
  }

  /// Axes of one rank cut nothing, but may be made to.
  bool listsWeights(sema::AxisId axis) const {
    for (const sema::ListedDim &listed : plan_.lists[axis].list)
      for (ops::DimId dim : listed.dims)
        for (const ops::Weight &weight : model_.weights)
          if (std::find(weight.dims.begin(), weight.dims.end(), dim) !=
              weight.dims.end())
            return true;
    return false;
  }

  std::string nameOf(sema::AxisId axis) const {
    return plan_.mesh.axes[axis].name;
  }

  /// Those of the three kinds of state that are not cut over all copies yet.
  std::string shardText(std::size_t kinds) const {
    const std::pair<std::string_view, const sema::StateSharding *> states[] = {
        {"optimizer", &plan_.optimizerState},
        {"gradients", &plan_.gradients},
        {"parameters", &plan_.parameters}};
    std::string what, axes;
    for (sema::AxisId axis : copies_)
      axes += (axes.empty() ? "" : ", ") + nameOf(axis);
    for (std::size_t i = 0; i < kinds; ++i) {
      const std::vector<sema::AxisId> &now = states[i].second->axes;
      const bool isMore =
          std::any_of(copies_.begin(), copies_.end(), [&](sema::AxisId axis) {
            return std::find(now.begin(), now.end(), axis) == now.end();
          });
      if (isMore)
        what += (what.empty() ? "" : ", ") + std::string(states[i].first);
    }
    return what.empty() ? "" : fmt::format("shard {} over {}", what, axes);
  }

  static std::string join(const std::string &a, const std::string &b) {
    return a.empty() ? b : b.empty() ? a : a + "\n" + b;
  }

  void add(const std::string &clauses) {
    if (!clauses.empty() &&
        std::find(out_.begin(), out_.end(), clauses) == out_.end())
      out_.push_back(clauses);
  }

  void addStates() {
    optimizer_ = shardText(1);
    all_ = shardText(3);
    const std::string narrow = plan_.precision.gradients == Precision::Fp32
                                   ? "precision gradients = bf16"
                                   : "";
    add(optimizer_);
    add(narrow);
    add(join(optimizer_, narrow));
    add(shardText(2));
    add(all_);
  }

  void addActivations() {
    const bool isAll =
        plan_.recompute.isAuto ||
        std::any_of(plan_.recompute.items.begin(), plan_.recompute.items.end(),
                    [](const sema::RecomputeItem &item) {
                      return item.what == sema::RecomputeItem::What::All &&
                             !item.layers;
                    });
    const std::string recompute = isAll ? "" : "recompute auto";
    const std::string micro =
        plan_.batch.micro > 1 ? "batch micro 1 sequence" : "";
    const std::string loss = plan_.kernels.loss == sema::LossKernel::Linear
                                 ? ""
                                 : "kernels loss = linear";
    add(loss);
    add(recompute);
    add(micro);
    add(join(loss, recompute));
    add(join(recompute, micro));
    add(join(optimizer_, recompute));
    add(join(all_, recompute));
    activations_ = recompute;
  }

  /// Twice as many ranks on an axis, half as many on one that holds copies.
  void addMoreRanks() {
    auto even =
        std::find_if(copies_.begin(), copies_.end(), [&](sema::AxisId axis) {
          return plan_.mesh.axes[axis].size % 2 == 0;
        });
    if (even == copies_.end())
      return;
    const sema::Axis &copy = plan_.mesh.axes[*even];
    // With one rank left there is nothing to cut states over.
    const std::string states = copy.size > 2 ? optimizer_ : "";
    std::vector<std::string> meshes;
    for (sema::AxisId axis : plan_.mesh.axes.ids())
      if ((plan_.pipeline && plan_.pipeline->axis == axis) ||
          std::find(cutting_.begin(), cutting_.end(), axis) != cutting_.end())
        meshes.push_back(fmt::format("mesh {} = {}, {} = {}", copy.name,
                                     copy.size / 2, nameOf(axis),
                                     plan_.mesh.axes[axis].size * 2));
    if (cutting_.empty())
      meshes.push_back(newAxis(*even));
    for (const std::string &mesh : meshes) {
      add(mesh);
      add(join(mesh, states));
      add(join(join(mesh, states), activations_));
    }
  }

  /// An axis that cuts what weights have besides the model's width.
  std::string newAxis(sema::AxisId halved) const {
    std::set<ops::DimId> kept;
    for (const ops::Slot &slot : model_.slots)
      kept.insert(slot.dims.begin(), slot.dims.end());
    for (const ops::Body &body : model_.bodies)
      for (const ops::Op &op : body.forward)
        if (op.kind == ops::OpKind::Attention)
          for (ops::ValueId operand : op.operands)
            kept.insert(body.values[operand].dims.back());
    std::string dims;
    for (const ops::Weight &weight : model_.weights)
      for (ops::DimId dim : weight.dims)
        if (kept.insert(dim).second)
          dims += ops::fullName(model_.dims[dim]) + ", ";
    std::string mesh = "mesh ";
    for (sema::AxisId axis : plan_.mesh.axes.ids())
      mesh +=
          fmt::format("{} = {}, ", nameOf(axis),
                      plan_.mesh.axes[axis].size / (axis == halved ? 2 : 1));
    return fmt::format("{}ways = 2\nshard {}{} over ways", mesh, dims,
                       ops::fullName(model_.dims[model_.seq]));
  }

  const Compilation &c_;
  const sema::Plan &plan_;
  const ops::Model &model_;
  std::vector<sema::AxisId> copies_, cutting_;
  std::string optimizer_, all_, activations_;
  std::vector<std::string> out_;
};

/// `clause`, `clause`: size and step.
std::string quoted(const std::string &change) {
  std::string out = "`";
  for (char c : change)
    out += c == '\n' ? std::string("`, `") : std::string(1, c);
  return out + "`";
}

std::string described(const report::Remedy &remedy) {
  return fmt::format("{}, {} a step: {}", report::bytesText(remedy.peak),
                     report::durationText(remedy.stepTime),
                     quoted(remedy.change));
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines(1);
  for (char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

/// Says all that the other does, and more, without being faster.
bool isMoreThan(const report::Remedy &more, const report::Remedy &other) {
  const std::vector<std::string> a = linesOf(more.change),
                                 b = linesOf(other.change);
  return a.size() > b.size() && more.stepTime >= other.stepTime &&
         std::all_of(b.begin(), b.end(), [&](const std::string &line) {
           return std::find(a.begin(), a.end(), line) != a.end();
         });
}

void dropMore(std::vector<report::Remedy> &remedies) {
  const std::vector<report::Remedy> all = remedies;
  std::erase_if(remedies, [&](const report::Remedy &remedy) {
    return std::any_of(all.begin(), all.end(), [&](const auto &other) {
      return isMoreThan(remedy, other);
    });
  });
}

Bytes statesOf(const report::MemoryReport &memory) {
  const program::Memory &fullest = memory.stages[memory.fullest].peak;
  return fullest.parameters + fullest.gradients + fullest.optimizer;
}

void writeSentences(report::MemoryReport &memory) {
  std::vector<std::string> lines;
  if (statesOf(memory) <= memory.capacity - memory.reserve)
    lines.push_back(memory.remedy);
  else
    lines.push_back(
        fmt::format("states alone are {}: a shorter sequence cannot help",
                    report::bytesText(statesOf(memory))));
  for (std::size_t i = 0; i < std::min(kMostShown, memory.fitting.size()); ++i)
    lines.push_back(described(memory.fitting[i]));
  if (memory.fitting.empty() && !memory.failing.empty())
    lines.push_back(
        fmt::format("none of {} changes tried fits", memory.failing.size()));
  if (!memory.failing.empty())
    lines.push_back(fmt::format("not enough, {}: {}",
                                report::bytesText(memory.failing[0].peak),
                                quoted(memory.failing[0].change)));
  memory.remedy.clear();
  for (const std::string &line : lines)
    memory.remedy += (memory.remedy.empty() ? "" : "\n") + line;
}

} // namespace

std::vector<std::string> changesToTry(const Compilation &compilation) {
  return Changes(compilation).run();
}

void findRemedies(const Compilation &compilation, const TryClauses &tryClauses,
                  report::MemoryReport &memory) {
  for (const std::string &change : changesToTry(compilation))
    if (std::optional<report::Remedy> tried = tryClauses(change))
      (tried->stepTime > Duration(0) ? memory.fitting : memory.failing)
          .push_back(std::move(*tried));
  std::stable_sort(
      memory.fitting.begin(), memory.fitting.end(),
      [](const auto &a, const auto &b) { return a.stepTime < b.stepTime; });
  dropMore(memory.fitting);
  writeSentences(memory);
}

} // namespace planc::driver
