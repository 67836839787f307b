#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/TargetRules.h"
#include "runtime/base/Checked.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

bool contains(const ops::Dims &dims, ops::DimId dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

bool contains(const std::vector<AxisId> &axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// `1, 2, 4 or 8`
std::string listOf(const std::vector<std::int64_t> &values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out += (i == 0                   ? ""
            : i + 1 == values.size() ? " or "
                                     : ", ") +
           std::to_string(values[i]);
  return out;
}

/// All divisors up to `most`, the least first.
std::vector<std::int64_t> divisorsUpTo(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d <= most && d <= n; ++d)
    if (n % d == 0)
      out.push_back(d);
  return out;
}

std::int64_t nearestOf(const std::vector<std::int64_t> &values,
                       std::int64_t wanted) {
  return *std::min_element(
      values.begin(), values.end(), [&](std::int64_t a, std::int64_t b) {
        return std::llabs(a - wanted) < std::llabs(b - wanted);
      });
}

/// A search no longer than this is worth a better message.
constexpr std::int64_t kMostTried = 4096;

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
      if (contains(listed.dims, model_.batch)) {
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

/// Only what the schedule would take as well; `step` is the sequences of all
/// ranks' micro-batches.
void Constraints::helpBatch(diag::Builder &builder, std::int64_t ways,
                            std::int64_t step) {
  std::int64_t whole = plan_.batch.sequences / step;
  std::vector<std::int64_t> sequences;
  for (std::int64_t m = whole; m > 0 && m > whole - kMostTried; --m)
    if (takes(m)) {
      sequences.push_back(m * step);
      break;
    }
  for (std::int64_t m = whole + 1; m < whole + kMostTried; ++m)
    if (auto above = checkedMul(m, step); above && takes(m)) {
      sequences.push_back(*above);
      break;
    }
  if (!sequences.empty())
    builder.help("{} sequences would do", listOf(sequences));
  if (plan_.batch.sequences % ways != 0)
    return;
  std::int64_t share = plan_.batch.sequences / ways;
  constexpr std::size_t kMostShown = 8;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size : divisorsUpTo(share, std::min(share, kMostTried)))
    if (takes(share / size) && sizes.size() < kMostShown)
      sizes.push_back(size);
  if (!sizes.empty())
    builder.help("micro may be {}", listOf(sizes));
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

std::vector<Constraints::HeadPair> Constraints::headPairs() const {
  std::vector<HeadPair> out;
  for (const ops::Body &body : model_.bodies)
    for (const ops::Op &op : body.forward) {
      if (op.kind != ops::OpKind::Attention)
        continue;
      // [batch, seq, heads, head_size] for q, k and v.
      HeadPair pair{body.values[op.operands[0]].dims[2],
                    body.values[op.operands[1]].dims[2]};
      if (pair.heads != pair.keyHeads &&
          std::find(out.begin(), out.end(), pair) == out.end())
        out.push_back(pair);
    }
  return out;
}

std::vector<Constraints::Listing>
Constraints::listingsOf(ops::DimId dim) const {
  std::vector<Listing> out;
  for (AxisId id : plan_.mesh.axes.ids())
    for (const ListedDim &listed : plan_.lists[id].list)
      if (contains(listed.dims, dim)) {
        out.push_back({id, &listed});
        break;
      }
  return out;
}

bool Constraints::checkHeads(const HeadPair &pair) {
  bool isSound = true;
  std::string heads = ops::fullName(model_.dims[pair.heads]);
  std::string keyHeads = ops::fullName(model_.dims[pair.keyHeads]);
  for (AxisId id : plan_.mesh.axes.ids()) {
    const ListedDim *first = nullptr, *second = nullptr;
    for (const ListedDim &listed : plan_.lists[id].list) {
      if (!first && contains(listed.dims, pair.heads))
        first = &listed;
      if (!second && contains(listed.dims, pair.keyHeads))
        second = &listed;
    }
    if (!first == !second)
      continue;
    const ListedDim &there = first ? *first : *second;
    std::string merged = heads + ", " + keyHeads;
    elaboration_.emitter()
        .report(spanOf(there.origin), Kind::HeadsApart,
                "`{}` lists `{}` and not `{}`", plan_.mesh.axes[id].name,
                first ? heads : keyHeads, first ? keyHeads : heads)
        .help("attention maps `{}` onto `{}`: list both, `{}`", keyHeads, heads,
              merged)
        .fix(spanOf(there.origin), merged);
    isSound = false;
  }
  return isSound;
}

// --- sizes -------------------------------------------------------------------

bool Constraints::checkDivisible() {
  bool isSound = true;
  std::vector<HeadPair> pairs = headPairs();
  for (ops::DimId dim : model_.dims.ids()) {
    auto pair = std::find_if(pairs.begin(), pairs.end(),
                             [&](auto &each) { return each.keyHeads == dim; });
    if (pair != pairs.end()) {
      isSound = checkKeyHeads(*pair) && isSound;
      continue;
    }
    std::vector<Listing> listings = listingsOf(dim);
    std::int64_t ways = 1;
    for (const Listing &listing : listings)
      ways *= plan_.mesh.axes[listing.axis].size;
    if (model_.dims[dim].size % ways == 0)
      continue;
    reportNotDivisible(dim, listings, Kind::NotDivisible);
    isSound = false;
  }
  return isSound;
}

/// Can `left` of the dimension be cut so many ways? Key heads may be held in
/// copies.
bool Constraints::fits(ops::DimId dim, std::int64_t left,
                       std::int64_t size) const {
  if (left % size == 0)
    return true;
  std::vector<HeadPair> pairs = headPairs();
  return size % left == 0 &&
         std::any_of(pairs.begin(), pairs.end(), [&](const HeadPair &pair) {
           return pair.keyHeads == dim;
         });
}

void Constraints::reportNotDivisible(ops::DimId id,
                                     const std::vector<Listing> &listings,
                                     Kind kind) {
  const ops::Dim &dim = model_.dims[id];
  // The innermost axis is the one most likely to be changed.
  const Listing &last = listings.back();
  const Axis &axis = plan_.mesh.axes[last.axis];
  std::int64_t ways = 1;
  for (const Listing &listing : listings)
    ways *= plan_.mesh.axes[listing.axis].size;
  std::string name = ops::fullName(dim);
  auto builder = elaboration_.emitter().report(
      spanOf(last.listed->origin), kind, "`{}` = {} cannot be cut {} ways",
      name, dim.size, ways);
  for (const Listing &listing : listings) {
    const Axis &each = plan_.mesh.axes[listing.axis];
    auto entry = std::find_if(
        text_.lists.begin(), text_.lists.end(),
        [&](const AxisEntry &other) { return other.axis.text == each.name; });
    std::move(builder).label(entry->axis.span, "{} = {} (line {})", each.name,
                             each.size,
                             elaboration_.lineOf(spanOf(each.origin)));
  }
  if (id == model_.seq || id == model_.batch)
    std::move(builder).note(spanOf(plan_.batch.clause), "`{}` is {} here", name,
                            dim.size);
  else if (dim.origin.isValid())
    std::move(builder).note(spanOf(dim.origin), "`{}` is {} in `{}` here", name,
                            dim.size, model_.name);
  TargetRules target(elaboration_, text_, model_, plan_, plan_.mesh.devices());
  if (auto padded = target.padded(id); padded && *padded % ways == 0)
    std::move(builder).help("`{}` pads `{}` to {}: write that into the model",
                            target.name(), name, *padded);
  std::int64_t others = ways / axis.size;
  if (dim.size % others != 0)
    return;
  std::int64_t left = dim.size / others;
  std::vector<std::int64_t> fitting;
  for (std::int64_t d = 1; d <= std::min(axis.size * 4, kMostTried); ++d)
    if (fits(id, left, d))
      fitting.push_back(d);
  // Sizes that all the other dimensions of this axis would take as well.
  std::vector<std::int64_t> best;
  for (std::int64_t size : fitting) {
    bool fitsAll = true;
    for (const ListedDim &listed : plan_.lists[last.axis].list)
      for (ops::DimId other : listed.dims) {
        bool isFree = other == model_.batch;
        fitsAll =
            fitsAll && (isFree || fits(other, model_.dims[other].size, size));
      }
    if (fitsAll)
      best.push_back(size);
  }
  std::move(builder).help("{} may be {}; nearest: `{} = {}`", axis.name,
                          listOf(best), axis.name, nearestOf(best, axis.size));
}

/// A fused linear loss is one kernel with the product that makes its logits, so
/// nothing else may stand between but what works element by element.
bool Constraints::checkLoss() {
  if (plan_.kernels.loss != LossKernel::Linear)
    return true;
  const ops::Body &body =
      model_.bodies[model_.segments.back().iterations.back()];
  ops::ValueId logits;
  for (const ops::Op &op : body.forward)
    if (op.kind == ops::OpKind::CrossEntropy)
      logits = op.operands[0];
  auto readersOf = [&](ops::ValueId value) {
    std::ptrdiff_t count = 0;
    for (const ops::Op &op : body.forward)
      count += std::count(op.operands.begin(), op.operands.end(), value);
    for (const ops::Port &port : body.outputs)
      count += port.value == value;
    return count;
  };
  for (auto op = body.forward.rbegin(); op != body.forward.rend(); ++op) {
    if (op->results[0] != logits || readersOf(logits) != 1)
      continue;
    if (op->kind == ops::OpKind::MatMul)
      return true;
    if (classOf(op->kind) != ops::OpClass::Elementwise ||
        op->operands.size() != 1)
      break;
    logits = op->operands[0];
  }
  elaboration_.emitter()
      .report(
          spanOf(plan_.kernels.lossClause), Kind::Unsupported,
          "the logits of `{}` are not made by a product for the loss alone, "
          "which planc needs for a fused linear loss",
          model_.name)
      .help("`loss = fused` or `eager` would do");
  return false;
}

/// Operations of one operator and elements of one tensor are counted in 64
/// bits; a factor of two, of heads, of backward and bytes stays free.
bool Constraints::checkSizes() {
  constexpr std::int64_t kMost = std::int64_t(1) << 58;
  for (const ops::Body &body : model_.bodies)
    for (const ops::Op &op : body.forward) {
      std::set<ops::DimId> dims;
      ops::Route route;
      for (const auto *list : {&op.operands, &op.results})
        for (ops::ValueId value : *list) {
          dims.insert(body.values[value].dims.begin(),
                      body.values[value].dims.end());
          if (body.values[value].route.isRouted())
            route = body.values[value].route;
        }
      std::optional<std::int64_t> product = 1;
      if (route.isRouted()) { // so many experts have a token, not all
        dims.erase(route.experts);
        dims.erase(route.choices);
        product = route.topK;
      }
      for (ops::DimId dim : dims)
        if (product)
          product = checkedMul(*product, model_.dims[dim].size);
      bool hasKeys = op.kind == ops::OpKind::Attention;
      if (product && hasKeys)
        product = checkedMul(*product, model_.dims[model_.seq].size);
      if (op.kind == ops::OpKind::User && !checkFormulas(op))
        return false;
      if (product && *product <= kMost)
        continue;
      elaboration_.emitter()
          .report(spanOf(plan_.batch.clause), Kind::NumberOutOfRange,
                  "`{}` would take more than 2^58 operations a micro-batch",
                  op.name)
          .note("a micro-batch of all ranks is {} sequences of {} tokens",
                model_.dims[model_.batch].size, model_.dims[model_.seq].size)
          .note(spanOf(op.origin), "the operator is here");
      return false;
    }
  return true;
}

/// The formulas of an `op` at the sizes it is called with.
bool Constraints::checkFormulas(const ops::Op &op) {
  constexpr double kMost = 0x1p61;
  const ops::UserOp &user = model_.userOps[op.attributes.userOp];
  auto valueOf = [&](const std::vector<ops::Term> &terms) {
    double sum = 0;
    for (const ops::Term &term : terms) {
      double product = term.coefficient;
      for (ops::DimId dim : term.factors)
        product *= static_cast<double>(model_.dims[dim].size);
      sum += product;
    }
    return sum;
  };
  double flops = valueOf(user.flops), bytes = valueOf(user.bytes);
  if (flops < 0 || bytes < 0) {
    elaboration_.emitter().report(spanOf(op.origin), Kind::ValueOutOfRange,
                                  "the {} of `{}` are below zero here",
                                  flops < 0 ? "flops" : "bytes", user.name);
    return false;
  }
  bool fits = flops * std::max(1.0, user.backward) <= kMost && bytes <= kMost;
  if (!fits)
    elaboration_.emitter()
        .report(spanOf(op.origin), Kind::NumberOutOfRange,
                "`{}` would take more than 2^61 {} a micro-batch", user.name,
                bytes <= kMost ? "operations" : "bytes")
        .note(spanOf(plan_.batch.clause),
              "a micro-batch of all ranks is {} of {} tokens",
              counted(model_.dims[model_.batch].size, "sequence"),
              model_.dims[model_.seq].size);
  return fits;
}

} // namespace planc::sema
