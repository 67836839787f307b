#include "compiler/sema/TargetQuantities.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Words.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;

namespace {

constexpr std::string_view kQuantities[] = {
#define PLANC_TARGET_QUANTITY(Name, Text) Text,
#include "compiler/sema/TargetQuantities.def"
};

enum class Set : std::uint8_t {
#define PLANC_TARGET_SET(Name, Text) Name,
#include "compiler/sema/TargetQuantities.def"
};
constexpr std::string_view kSets[] = {
#define PLANC_TARGET_SET(Name, Text) Text,
#include "compiler/sema/TargetQuantities.def"
};

constexpr std::string_view kFunctions[] = {"ways", "overlaps"};

/// The place of `name` in a list of names.
template <std::size_t N>
std::optional<std::size_t> indexIn(const std::string_view (&list)[N],
                                   std::string_view name) {
  auto at = std::find(std::begin(list), std::end(list), name);
  if (at == std::end(list))
    return std::nullopt;
  return static_cast<std::size_t>(at - std::begin(list));
}

bool contains(const std::vector<AxisId> &axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::int64_t layersOf(const ops::Model &model) {
  std::int64_t layers = 0;
  for (const ops::Segment &segment : model.segments)
    if (segment.isRepeat)
      layers += std::ssize(segment.iterations);
  return layers;
}

bool areEqual(const std::vector<std::int64_t> &counts) {
  return std::all_of(counts.begin(), counts.end(),
                     [&](std::int64_t each) { return each == counts.front(); });
}

} // namespace

std::vector<TargetSubject> targetSubjects(const ops::Model &model) {
  TargetSubject common;
  common.model = &model;
  std::vector<TargetSubject> out;
  for (const ops::Weight &weight : model.weights)
    if (weight.batchDims > 0)
      common.experts = weight.dims.front();
  std::vector<TargetSubject::Attention> found;
  for (const ops::Body &body : model.bodies)
    for (const ops::Op &op : body.forward) {
      if (op.kind == ops::OpKind::CrossEntropy)
        common.vocab = body.values[op.operands[0]].dims.back();
      if (op.kind != ops::OpKind::Attention)
        continue;
      // [batch, seq, heads, head_size] for q and k.
      const ops::Dims &q = body.values[op.operands[0]].dims;
      const ops::Dims &k = body.values[op.operands[1]].dims;
      TargetSubject::Attention attention{q[2], k[2], q[3]};
      if (std::find(found.begin(), found.end(), attention) == found.end())
        found.push_back(attention);
    }
  for (const TargetSubject::Attention &attention : found) {
    out.push_back(common);
    out.back().attention = attention;
  }
  for (TargetSubject &subject : out)
    subject.vocab = common.vocab;
  if (out.empty())
    out.push_back(common);
  return out;
}

void TargetHost::remember(Read read) {
  auto isSame = [&](const Read &other) { return other.text == read.text; };
  if (std::none_of(reads_.begin(), reads_.end(), isSame))
    reads_.push_back(std::move(read));
}

void TargetHost::addNames(std::vector<std::string_view> &names) const {
  names.insert(names.end(), std::begin(kQuantities), std::end(kQuantities));
  names.insert(names.end(), std::begin(kFunctions), std::end(kFunctions));
}

std::optional<Value> TargetHost::findTensor(std::string_view name) {
  auto at = indexIn(kQuantities, name);
  if (!at)
    return std::nullopt;
  auto quantity = static_cast<TargetQuantity>(*at);
  Value value = valueOf(quantity);
  if (!value.isPoison())
    remember({std::string(name), describe(value), quantity, {}});
  return value;
}

Value TargetHost::sizeOf(std::optional<ops::DimId> dim) {
  return dim ? Value(subject_.model->dims[*dim].size) : absent();
}

Value TargetHost::valueOf(TargetQuantity quantity) {
  const std::optional<Pipeline> &pipeline = plan_.pipeline;
  const auto &attention = subject_.attention;
  auto ofAttention = [&](auto member) {
    return attention ? sizeOf((*attention).*member) : absent();
  };
  switch (quantity) {
  case TargetQuantity::Layers:
    return layersOf(*subject_.model);
  case TargetQuantity::Heads:
    return ofAttention(&TargetSubject::Attention::heads);
  case TargetQuantity::KvHeads:
    return ofAttention(&TargetSubject::Attention::keyHeads);
  case TargetQuantity::HeadSize:
    return ofAttention(&TargetSubject::Attention::headSize);
  case TargetQuantity::Vocab:
    return sizeOf(subject_.vocab);
  case TargetQuantity::Experts:
    return sizeOf(subject_.experts);
  case TargetQuantity::Accelerators:
    return plan_.mesh.devices();
  case TargetQuantity::Sequences:
    return plan_.batch.sequences;
  case TargetQuantity::Seq:
    return plan_.batch.sequenceLength;
  case TargetQuantity::Micro:
    return plan_.batch.micro;
  case TargetQuantity::MicroBatches:
    return plan_.batch.microBatches;
  case TargetQuantity::Stages:
    return pipeline ? pipeline->stages : std::int64_t(1);
  case TargetQuantity::Virtual:
    return pipeline ? pipeline->virtualStages : std::int64_t(1);
  case TargetQuantity::Group:
    return pipeline ? pipeline->group.value_or(pipeline->stages)
                    : std::int64_t(1);
  case TargetQuantity::Schedule:
    return Word{plan_.pipeline ? schedules::toString(plan_.pipeline->schedule)
                               : std::string_view("none")};
  case TargetQuantity::Balanced:
    return !pipeline || pipeline->layers.empty() || areEqual(pipeline->layers);
  }
  return Poison();
}

// --- functions ---------------------------------------------------------------

Value TargetHost::callTensor(const ast::CallExpr &call) {
  std::string_view name = elaboration_.text(call.callee.span);
  if (name == "ways")
    return ways(call);
  if (name == "overlaps")
    return overlaps(call);
  std::vector<std::string_view> names(functionNames().begin(),
                                      functionNames().end());
  names.insert(names.end(), std::begin(kFunctions), std::end(kFunctions));
  elaboration_.emitter()
      .report(call.callee.span, Kind::UnknownName, "nothing is called `{}`",
              name)
      .suggest(call.callee.span, diag::nearestName(name, names));
  return Poison();
}

std::optional<std::vector<std::string_view>>
TargetHost::namesIn(const ast::CallExpr &call) {
  std::vector<std::string_view> out;
  for (const ast::Argument &argument : call.arguments) {
    auto *name = llvm::dyn_cast<ast::NameExpr>(argument.value);
    if (!name || !name->name.isSimple() || argument.name.isPresent()) {
      elaboration_.emitter().report(
          argument.span, Kind::TypeMismatch, "`{}` takes names, as in `{}`",
          call.callee.first(),
          call.callee.first() == "ways" ? "ways(heads)" : "overlaps(pipeline)");
      return std::nullopt;
    }
    out.push_back(name->name.first());
  }
  if (!out.empty())
    return out;
  elaboration_.emitter().report(call.span, Kind::TypeMismatch,
                                "`{}` takes at least one name",
                                call.callee.first());
  return std::nullopt;
}

/// Is the set cut by the axis? Sets that this model lacks make it absent.
bool TargetHost::lists(AxisId axis, std::string_view set) {
  const auto &attention = subject_.attention;
  std::optional<ops::DimId> dim;
  switch (static_cast<Set>(*indexIn(kSets, set))) {
  case Set::Optimizer:
    return contains(plan_.optimizerState.axes, axis);
  case Set::Gradients:
    return contains(plan_.gradients.axes, axis);
  case Set::Parameters:
    return contains(plan_.parameters.axes, axis);
  case Set::Batch:
    dim = subject_.model->batch;
    break;
  case Set::Seq:
    dim = subject_.model->seq;
    break;
  case Set::Heads:
    dim = attention ? std::optional(attention->heads) : std::nullopt;
    break;
  case Set::KvHeads:
    dim = attention ? std::optional(attention->keyHeads) : std::nullopt;
    break;
  case Set::Vocab:
    dim = subject_.vocab;
    break;
  case Set::Experts:
    dim = subject_.experts;
    break;
  }
  isAbsent_ = isAbsent_ || !dim;
  for (const ListedDim &listed : plan_.lists[axis].list)
    if (dim && std::find(listed.dims.begin(), listed.dims.end(), *dim) !=
                   listed.dims.end())
      return true;
  return false;
}

Value TargetHost::ways(const ast::CallExpr &call) {
  auto names = namesIn(call);
  if (!names)
    return Poison();
  for (std::size_t i = 0; i < names->size(); ++i)
    if (std::string_view name = (*names)[i]; !indexIn(kSets, name)) {
      source::SourceSpan span = call.arguments[i].span;
      std::vector<std::string_view> known(std::begin(kSets), std::end(kSets));
      elaboration_.emitter()
          .report(span, Kind::UnknownName, "nothing that is cut is `{}`", name)
          .suggest(span, diag::nearestName(name, known));
      return Poison();
    }
  Read read{std::string(elaboration_.text(call.span)), "", std::nullopt, {}};
  std::int64_t product = 1; // divides the accelerators
  for (AxisId axis : plan_.mesh.axes.ids()) {
    bool listsAll = true;
    for (std::string_view name : *names)
      listsAll = lists(axis, name) && listsAll;
    if (!listsAll)
      continue;
    product *= plan_.mesh.axes[axis].size;
    read.axes.push_back(axis);
  }
  if (isAbsent_)
    return Poison();
  read.value = fmt::format("{}", product);
  remember(std::move(read));
  return product;
}

Value TargetHost::overlaps(const ast::CallExpr &call) {
  auto names = namesIn(call);
  if (!names)
    return Poison();
  bool all = true;
  for (std::string_view name : *names) {
    auto at = std::find_if(std::begin(kOverlapWords), std::end(kOverlapWords),
                           [&](auto &kind) { return kind.name == name; });
    if (at == std::end(kOverlapWords)) {
      elaboration_.emitter().report(call.span, Kind::UnknownName,
                                    "nothing that overlaps is `{}`", name);
      return Poison();
    }
    all = all && plan_.overlap.*(at->member);
  }
  return all;
}

Value TargetHost::declareWeight(const ast::IndexExpr &index) {
  elaboration_.emitter().report(index.span, Kind::TypeMismatch,
                                "`{}` is no quantity of a plan",
                                elaboration_.text(index.span));
  return Poison();
}

Value TargetHost::joinTensors(const ast::BinaryExpr &expr, const Value &,
                              const Value &) {
  elaboration_.emitter().report(expr.span, Kind::TypeMismatch,
                                "`{}` is no quantity of a plan",
                                elaboration_.text(expr.span));
  return Poison();
}

} // namespace planc::sema
