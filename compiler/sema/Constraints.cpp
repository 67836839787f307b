#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "compiler/ops/Roles.h"
#include "runtime/base/Checked.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

bool contains(const std::vector<AxisId> &axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

} // namespace

bool Constraints::check() {
  bool isSound = checkAxes();
  isSound = checkListed() && isSound;
  isSound = setBatch() && isSound;
  if (!isSound)
    return false;
  isSound = checkPositions();
  for (const HeadPair &pair : headPairs())
    isSound = checkHeads(pair) && isSound;
  isSound = checkDivisible() && isSound;
  isSound = checkContext() && isSound;
  isSound = checkLoss() && isSound;
  isSound = checkPipeline() && isSound;
  return isSound && checkSizes();
}

// --- axes --------------------------------------------------------------------

bool Constraints::checkAxes() {
  bool isSound = true;
  warnAlike();
  warnOverOne();
  for (AxisId id : plan_.mesh.axes.ids()) {
    const Axis &axis = plan_.mesh.axes[id];
    bool isCut = !plan_.lists[id].list.empty();
    const StateSharding *state = nullptr;
    for (const StateSharding *each :
         {&plan_.optimizerState, &plan_.gradients, &plan_.parameters})
      if (contains(each->axes, id))
        state = each;
    bool isPipeline = plan_.pipeline && plan_.pipeline->axis == id;
    if (!isCut && !state && !isPipeline) {
      elaboration_.emitter()
          .report(spanOf(axis.origin), Kind::AxisUnused,
                  "the axis `{}` stands in no clause", axis.name)
          .help("`shard batch over {}` makes it data parallel", axis.name);
      isSound = false;
    } else if (isPipeline && (isCut || state)) {
      OriginId clause = isCut ? plan_.lists[id].clause : state->clause;
      elaboration_.emitter()
          .report(spanOf(clause), Kind::AxisUsedTwice,
                  "`{}` is the pipeline's axis and cuts nothing else",
                  axis.name)
          .note(spanOf(plan_.pipeline->clause), "the pipeline is here");
      isSound = false;
    }
  }
  return isSound;
}

/// Axes whose ranks all do the same.
void Constraints::warnAlike() {
  for (AxisId id : plan_.mesh.axes.ids()) {
    const Axis &axis = plan_.mesh.axes[id];
    if (axis.size == 1 || !plan_.lists[id].list.empty())
      continue;
    const StateSharding *state = nullptr;
    for (const StateSharding *each :
         {&plan_.parameters, &plan_.gradients, &plan_.optimizerState})
      if (contains(each->axes, id))
        state = each;
    if (!state)
      continue;
    elaboration_.emitter()
        .report(spanOf(axis.origin), Kind::RanksAlike,
                "the {} ranks of `{}` run the same data", axis.size, axis.name)
        .note(spanOf(state->clause), "`{}` cuts state and no dimension",
              axis.name)
        .help("`shard batch over {}` gives each its own", axis.name);
  }
}

/// State that is cut over nothing.
void Constraints::warnOverOne() {
  for (const StateSharding *state :
       {&plan_.optimizerState, &plan_.gradients, &plan_.parameters}) {
    std::int64_t ranks = 1;
    std::string axes;
    for (AxisId axis : state->axes) {
      ranks *= plan_.mesh.axes[axis].size;
      axes += fmt::format("{}`{}`", axes.empty() ? "" : ", ",
                          plan_.mesh.axes[axis].name);
    }
    if (!axes.empty() && ranks == 1)
      elaboration_.emitter()
          .report(spanOf(state->clause), Kind::StateOverOne,
                  "{} has one rank: cutting state over it saves nothing", axes)
          .note(text_.meshClause, "the mesh is here");
  }
}

bool Constraints::checkListed() {
  bool isSound = true;
  for (const AxisList &list : plan_.lists)
    for (const ListedDim &listed : list.list)
      if (listed.dims.empty())
        isSound = checkUnknown(listed) && isSound;
  return isSound;
}

bool Constraints::checkUnknown(const ListedDim &listed) {
  std::vector<std::string_view> names;
  std::set<std::string> shown;
  for (const ops::Dim &dim : model_.dims) {
    if (dim.splitAs.isValid())
      continue; // no axis lists it
    names.push_back(dim.name);
    shown.insert(dim.name);
  }
  bool isKnown = false;
  for (const Binding &formal : text_.model->formals.bindings)
    isKnown = isKnown || formal.name == listed.text;
  std::string list;
  for (const std::string &name : shown)
    list += (list.empty() ? "" : ", ") + name;
  if (isKnown || text_.hasFormals) {
    elaboration_.emitter().report(spanOf(listed.origin), Kind::DimensionIdle,
                                  "no tensor of `{}` has a dimension `{}`",
                                  model_.name, listed.text);
    return true;
  }
  elaboration_.emitter()
      .report(spanOf(listed.origin), Kind::DimensionNotInModel,
              "no tensor of `{}` has a dimension `{}`", model_.name,
              listed.text)
      .help("there are {}", list)
      .suggest(spanOf(listed.origin), diag::nearestName(listed.text, names));
  return false;
}

// --- batch -------------------------------------------------------------------

bool Constraints::setBatch() {
  Batch &batch = plan_.batch;
  std::int64_t ways = 1; // divides the accelerators, so it fits
  std::string axes;
  for (AxisId id : plan_.mesh.axes.ids())
    for (const ListedDim &listed : plan_.lists[id].list)
      if (ops::contains(listed.dims, model_.batch)) {
        ways *= plan_.mesh.axes[id].size;
        axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ",
                            plan_.mesh.axes[id].name, plan_.mesh.axes[id].size);
        break;
      }
  auto step = checkedMul(ways, batch.micro);
  if (step && batch.sequences % *step == 0) {
    batch.microBatches = batch.sequences / *step;
    model_.dims[model_.batch].size = *step;
    model_.dims[model_.seq].size = batch.sequenceLength;
    return true;
  }
  auto builder = elaboration_.emitter().report(
      spanOf(batch.clause), Kind::BatchNotDivisible,
      "{} cannot be shared by {} in micro-batches of {}",
      counted(batch.sequences, "sequence"), counted(ways, "rank"), batch.micro);
  if (!axes.empty())
    std::move(builder).note(text_.meshClause, "`batch` is cut over {}", axes);
  if (step)
    helpBatch(builder, ways, *step);
  return false;
}

/// Learned positions end somewhere.
bool Constraints::checkPositions() {
  std::int64_t length = plan_.batch.sequenceLength;
  for (const ops::Body &body : model_.bodies)
    for (const ops::Op &op : body.forward) {
      if (op.kind != ops::OpKind::Embed)
        continue;
      const ops::Value &indices = body.values[op.operands[0]];
      const ops::Value &table = body.values[op.operands[1]];
      const ops::Dim &rows = model_.dims[table.dims.front()];
      if (indices.dims != ops::Dims{model_.seq} || rows.size >= length)
        continue;
      elaboration_.emitter()
          .report(spanOf(plan_.batch.clause), Kind::ValueOutOfRange,
                  "sequences of {} tokens; `{}` has {} positions", length,
                  model_.name, rows.size)
          .note(spanOf(rows.origin), "`{}` is {} here", rows.name, rows.size)
          .help("give the model a `{}` of {}", rows.name, length);
      return false;
    }
  return true;
}

// --- heads -------------------------------------------------------------------

// --- sizes -------------------------------------------------------------------

} // namespace planc::sema
