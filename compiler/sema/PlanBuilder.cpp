#include "compiler/sema/PlanBuilder.h"

#include "compiler/diag/Kinds.h"
#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

PlanBuilder::PlanBuilder(Elaboration &elaboration, const PlanRequest &request)
    : elaboration_(elaboration), request_(request), text_(*request.text) {}

Evaluator PlanBuilder::in(const PlanScope &scope) {
  return Evaluator(elaboration_, *scope.file, scope.locals.get());
}

OriginId PlanBuilder::originOf(SourceSpan span) {
  return elaboration_.origin(span, plan_.origin);
}

std::optional<std::string_view>
PlanBuilder::oneOf(SourceSpan span, std::string_view what,
                   std::string_view found,
                   const std::vector<std::string_view> &allowed) {
  if (std::find(allowed.begin(), allowed.end(), found) != allowed.end())
    return found;
  std::string list;
  for (std::size_t i = 0; i < allowed.size(); ++i)
    list += (i == 0                    ? ""
             : i + 1 == allowed.size() ? " or "
                                       : ", ") +
            std::string(allowed[i]);
  elaboration_.emitter()
      .report(span, Kind::UnknownWord, "`{}` is no {}", found, what)
      .help("{}", list)
      .suggest(span, diag::nearestName(found, allowed));
  return std::nullopt;
}

std::optional<Plan> PlanBuilder::build() {
  plan_.name = text_.name;
  plan_.origin = elaboration_.origin(text_.span);
  bool isSound = buildMesh();
  if (!isSound)
    return std::nullopt;
  isSound = buildLists();
  isSound = buildStates() && isSound;
  isSound = buildPipeline() && isSound;
  isSound = buildBatch() && isSound;
  isSound = buildRecompute() && isSound;
  isSound = buildOptimizer() && isSound;
  isSound = buildPrecision() && isSound;
  isSound = buildKernels() && isSound;
  isSound = buildContext() && isSound;
  isSound = buildOverlap() && isSound;
  isSound = buildBucket() && isSound;
  isSound = buildExpectations() && isSound;
  isSound = checkOthers() && isSound;
  return isSound ? std::optional(std::move(plan_)) : std::nullopt;
}

// --- mesh --------------------------------------------------------------------

bool PlanBuilder::buildMesh() {
  if (text_.mesh.empty()) {
    elaboration_.emitter()
        .report(text_.span, Kind::MissingClause, "`{}` has no `mesh`",
                text_.name)
        .help("as in `mesh dp = rest, tp = 8`");
    return false;
  }
  plan_.meshClause = originOf(text_.meshClause);
  bool isSound = true;
  std::optional<AxisId> rest;
  SourceSpan restSpan;
  for (const KeyedEntry &entry : text_.mesh) {
    auto *name = llvm::dyn_cast<ast::NameExpr>(entry.value);
    bool isRest = name && name->name.isSimple() && name->name.first() == "rest";
    auto size = isRest ? std::optional<std::int64_t>(1) : axisSize(entry);
    isSound = isSound && size;
    AxisId axis = plan_.mesh.axes.add(
        {entry.key, size.value_or(1), originOf(entry.span), isRest});
    if (!isRest)
      continue;
    if (rest) {
      elaboration_.emitter()
          .report(entry.span, Kind::SeveralRest, "a second axis is `rest`")
          .note(restSpan, "the first is here");
      isSound = false;
    }
    rest = axis;
    restSpan = entry.span;
  }
  std::optional<std::int64_t> product = 1;
  for (const Axis &axis : plan_.mesh.axes)
    if (product)
      product = checkedMul(*product, axis.size);
  if (!isSound)
    return false;
  if (!product || *product > request_.accelerators ||
      (!rest && *product != request_.accelerators)) {
    std::string shown = product ? fmt::format("{}", *product) : "too many";
    auto builder = elaboration_.emitter().report(
        text_.meshClause, Kind::MeshDoesNotFill,
        "the axes make {} accelerators, the plan has {}", shown,
        request_.accelerators);
    std::move(builder).note(text_.clusterSpan, "{} accelerators are taken here",
                            request_.accelerators);
    if (product && !helpAxes(builder, *product) && !rest)
      std::move(builder).help("one axis may be `rest`");
    return false;
  }
  return !rest || setRest(*rest, restSpan);
}

std::optional<std::int64_t> PlanBuilder::axisSize(const KeyedEntry &entry) {
  return in(entry.scope)
      .atLeast(*entry.value, fmt::format("the axis `{}`", entry.key), 1);
}

bool PlanBuilder::setRest(AxisId rest, SourceSpan span) {
  std::int64_t others = plan_.mesh.devices();
  if (request_.accelerators % others == 0) {
    plan_.mesh.axes[rest].size = request_.accelerators / others;
    return true;
  }
  std::int64_t below = request_.accelerators / others * others;
  // The caret stands at an axis that alone is wrong.
  for (const Axis &axis : plan_.mesh.axes)
    if (axis.size > 1 && request_.accelerators % (others / axis.size) == 0)
      span = elaboration_.spanOf(axis.origin);
  auto builder = elaboration_.emitter().report(
      span, Kind::MeshDoesNotFill,
      "{} accelerators are no multiple of the other axes' {}",
      request_.accelerators, others);
  std::move(builder).note(text_.clusterSpan, "{} accelerators are taken here",
                          request_.accelerators);
  if (!helpAxes(builder, others))
    std::move(builder).help("{} or {} accelerators would do", below,
                            below + others);
  return false;
}

namespace {

/// What the axis cuts, as it is written; empty for none.
std::string listOver(std::string_view axis, const PlanText &text,
                     const Elaboration &elaboration) {
  std::string out;
  for (const AxisEntry &entry : text.lists)
    if (entry.axis.text == axis)
      for (const ast::QualifiedName &name : entry.clause->dimensions)
        out += fmt::format("{}{}", out.empty() ? "" : ", ",
                           elaboration.text(name.span));
  return out;
}

} // namespace

/// Says of each axis that could be changed alone what it may be; false if there
/// is none. `product` is that of all axes, `rest` counted as 1.
bool PlanBuilder::helpAxes(diag::Builder &builder, std::int64_t product) {
  constexpr int kMostShown = 8;
  constexpr std::int64_t kMostTried = 1 << 16;
  bool isHelped = false;
  for (const KeyedEntry &entry : text_.mesh) {
    const Axis &axis =
        plan_.mesh
            .axes[AxisId(static_cast<std::size_t>(&entry - text_.mesh.data()))];
    std::int64_t others = product / axis.size;
    if (axis.size == 1 || request_.accelerators % others != 0)
      continue;
    std::int64_t left = request_.accelerators / others;
    if (!hasRest()) {
      std::string list =
          left == 1 ? listOver(axis.name, text_, elaboration_) : "";
      builder.help("`{} = {}` would do{}", axis.name, left,
                   list.empty() ? ""
                                : fmt::format(": another axis may list `{}` "
                                              "as well as its own",
                                              list));
      isHelped = true;
      continue;
    }
    std::string sizes;
    int shown = 0;
    for (std::int64_t d = 1; d <= std::min(left, kMostTried); ++d)
      if (left % d == 0 && ++shown <= kMostShown)
        sizes += fmt::format("{}{}", shown == 1 ? "" : ", ", d);
    builder.help("{} may be {}{}", axis.name, sizes,
                 shown > kMostShown ? ", …" : "");
    isHelped = true;
  }
  return isHelped;
}

bool PlanBuilder::hasRest() const {
  return std::any_of(
      text_.mesh.begin(), text_.mesh.end(), [](const KeyedEntry &entry) {
        auto *name = llvm::dyn_cast<ast::NameExpr>(entry.value);
        return name && name->name.isSimple() && name->name.first() == "rest";
      });
}

// --- shard -------------------------------------------------------------------

std::optional<AxisId> PlanBuilder::axisOf(const ast::Name &name) {
  std::vector<std::string_view> names;
  for (AxisId id : plan_.mesh.axes.ids()) {
    if (plan_.mesh.axes[id].name == name.text)
      return id;
    names.push_back(plan_.mesh.axes[id].name);
  }
  elaboration_.emitter()
      .report(name.span, Kind::UnknownAxis, "the mesh has no axis `{}`",
              name.text)
      .note(text_.meshClause, "the mesh is here")
      .suggest(name.span, diag::nearestName(name.text, names));
  return std::nullopt;
}

/// All dimensions of that name; of a qualified one, those made further in than
/// the repeat or call it names.
ops::Dims PlanBuilder::matching(const ast::QualifiedName &name) const {
  std::string qualifier;
  for (std::size_t i = 0; i + 1 < name.parts.size(); ++i)
    qualifier += "." + std::string(name.parts[i].text);
  if (!qualifier.empty())
    qualifier += ".";
  ops::Dims out;
  for (ops::DimId id : request_.model->dims.ids()) {
    const ops::Dim &dim = request_.model->dims[id];
    std::string scope = "." + dim.scope + ".";
    if (dim.name == name.last() && !dim.splitAs.isValid() &&
        scope.find(qualifier) != std::string::npos)
      out.push_back(id);
  }
  return out;
}

ListedDim PlanBuilder::listDimension(const ast::QualifiedName &name) {
  return {std::string(elaboration_.text(name.span)), matching(name),
          originOf(name.span)};
}

bool PlanBuilder::buildLists() {
  plan_.lists.resize(plan_.mesh.axes.size());
  bool isSound = true;
  for (const AxisEntry &entry : text_.lists) {
    auto axis = axisOf(entry.axis);
    isSound = isSound && axis;
    if (!axis)
      continue;
    AxisList &list = plan_.lists[*axis];
    list.clause = originOf(entry.clause->span);
    for (const ast::QualifiedName &name : entry.clause->dimensions)
      list.list.push_back(listDimension(name));
  }
  return isSound;
}

bool PlanBuilder::buildStates() {
  StateSharding *states[kStateKinds] = {&plan_.optimizerState, &plan_.gradients,
                                        &plan_.parameters};
  bool isSound = true;
  for (std::size_t i = 0; i < kStateKinds; ++i) {
    const Said<ast::ShardClause> &clause = text_.states[i];
    if (!clause)
      continue;
    states[i]->clause = originOf(clause->span);
    for (const ast::Name &name : clause->axes) {
      auto axis = axisOf(name);
      isSound = isSound && axis;
      if (axis && std::find(states[i]->axes.begin(), states[i]->axes.end(),
                            *axis) == states[i]->axes.end())
        states[i]->axes.push_back(*axis);
    }
    // Outermost first, as the mesh has them.
    std::sort(states[i]->axes.begin(), states[i]->axes.end());
  }
  return isSound;
}

// --- batch -------------------------------------------------------------------

bool PlanBuilder::buildBatch() {
  const BatchText &text = text_.batch;
  if (!text.size) {
    elaboration_.emitter()
        .report(text_.span, Kind::MissingClause, "`{}` has no `batch`",
                text_.name)
        .help("as in `batch 2048 sequences of 8192 tokens, micro 1 sequence`");
    return false;
  }
  Batch &batch = plan_.batch;
  batch.clause = originOf(text.clause);
  Evaluator evaluator = in(text.size.scope);
  auto count = evaluator.atLeast(*text.size->count, "a batch", 1);
  auto length = evaluator.atLeast(*text.size->length, "a sequence", 1);
  auto micro =
      text.micro
          ? in(text.micro.scope).atLeast(*text.micro.node, "a micro-batch", 1)
          : std::optional<std::int64_t>(1);
  if (!count || !length || !micro)
    return false;
  if (text.documents) {
    auto documents =
        in(text.documents.scope).atLeast(*text.documents.node, "a document", 1);
    if (!documents)
      return false;
    if (*documents > *length) {
      elaboration_.emitter()
          .report(text.documents->span, Kind::ValueOutOfRange,
                  "documents of {} tokens in sequences of {}", *documents,
                  *length)
          .help("`documents` is for sequences that hold several");
      return false;
    }
    batch.documents = *documents;
  }
  batch.sequences = *count;
  batch.sequenceLength = *length;
  batch.micro = *micro;
  if (text.size->unit == ast::BatchUnit::Tokens) {
    if (*count % *length != 0) {
      elaboration_.emitter()
          .report(text.size->span, Kind::BatchNotDivisible,
                  "{} tokens are no whole sequences of {}", *count, *length)
          .help("{} or {} tokens would be", *count / *length * *length,
                (*count / *length + 1) * *length);
      return false;
    }
    batch.sequences = *count / *length;
  }
  if (!checkedMul(batch.sequences, batch.sequenceLength)) {
    elaboration_.emitter().report(text.size->span, Kind::NumberOutOfRange,
                                  "the tokens of a step do not fit in 64 bits");
    return false;
  }
  return true;
}

} // namespace planc::sema
