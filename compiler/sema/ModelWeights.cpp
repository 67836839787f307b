// Names in brackets: dimensions, and the weights that have them.
#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Words.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

std::optional<ops::DimId> ModelBuilder::intern(const DimensionName &name,
                                               std::int64_t size,
                                               SourceSpan origin,
                                               SourceSpan use) {
  if (size < 1) {
    elaboration_.emitter()
        .report(use, Kind::ValueOutOfRange,
                "the dimension `{}` has size {}; it is at least 1", name.name,
                size)
        .note(origin, "its size is given here");
    return std::nullopt;
  }
  auto [at, isNew] =
      dims_.emplace(std::pair(name.scope, name.name), ops::DimId());
  if (isNew) {
    at->second = model_.dims.add(
        {name.name, name.scope, size, elaboration_.origin(origin, origin_)});
    return at->second;
  }
  const ops::Dim &dim = model_.dims[at->second];
  if (dim.size == size)
    return at->second;
  bool isOfData = at->second == model_.batch || at->second == model_.seq;
  std::string before = isOfData ? "the data's" : fmt::format("{}", dim.size);
  elaboration_.emitter()
      .report(use, Kind::DimensionSizesDiffer, "`{}` is {} and {}",
              ops::fullName(dim), before, size)
      .note(elaboration_.spanOf(dim.origin), "`{}` is {} here",
            ops::fullName(dim), before)
      .note(origin, "and {} here", size)
      .help("`let` gives a size a name of its own");
  return std::nullopt;
}

std::optional<ops::DimId> ModelBuilder::resolve(const ast::Name &name) {
  if (const Binding *binding = scope_->locals.find(name.text)) {
    if (binding->used)
      *binding->used = true;
    if (binding->isOfData)
      return dims_.at({binding->dimension->scope, binding->dimension->name});
    if (binding->value.isPoison())
      return std::nullopt;
    auto *size = binding->value.as<std::int64_t>();
    if (size && binding->dimension)
      return intern(*binding->dimension, *size, binding->origin, name.span);
    elaboration_.emitter()
        .report(name.span, Kind::NotADimension,
                "`{}` is {}; a dimension is an integer with a name", name.text,
                size ? "the index of a repeat" : describeType(binding->value))
        .help("`let` gives a size a name");
    return std::nullopt;
  }
  if (name.text == "batch")
    return model_.batch;
  if (name.text == "seq")
    return model_.seq;
  ast::QualifiedName qualified{{&name, 1}, name.span};
  ast::NameExpr expr;
  expr.kind = ast::ExprKind::Name;
  expr.span = name.span;
  expr.name = qualified;
  Value value = Evaluator(elaboration_, *scope_->file, &scope_->locals, this)
                    .evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (auto *size = value.as<std::int64_t>())
    return intern({std::string(name.text), ""}, *size,
                  scope_->file->find(name.text).decl->span, name.span);
  elaboration_.emitter().report(name.span, Kind::NotADimension,
                                "`{}` is {}; a dimension is an integer",
                                name.text, describeType(value));
  return std::nullopt;
}

std::optional<ops::Dims>
ModelBuilder::resolve(const ast::Dimensions &dimensions) {
  ops::Dims dims;
  bool isComplete = true;
  for (const ast::Name &name : dimensions.names) {
    auto dim = resolve(name);
    isComplete = isComplete && dim;
    dims.push_back(dim.value_or(ops::DimId()));
  }
  return isComplete ? std::optional(dims) : std::nullopt;
}

Binding ModelBuilder::bindDimension(std::string_view name,
                                    ops::DimId dim) const {
  const ops::Dim &of = model_.dims[dim];
  bool isOfData = dim == model_.batch || dim == model_.seq;
  return {name,
          of.size,
          DimensionName{of.name, of.scope},
          elaboration_.spanOf(of.origin),
          isOfData,
          nullptr};
}

// --- weights -----------------------------------------------------------------

const ModelBuilder::WeightEntry *
ModelBuilder::findWeight(std::string_view name) const {
  for (const Scope *at = scope_; at; at = at->parent)
    if (auto found = at->weights.find(name); found != at->weights.end())
      return &found->second;
  return nullptr;
}

Value ModelBuilder::declareWeight(const ast::IndexExpr &index) {
  auto weight = declare(index.name, index.dimensions);
  return weight ? Value(Tensor{0, {}, *weight}) : Value();
}

std::optional<ops::WeightId>
ModelBuilder::declare(const ast::Name &name,
                      const ast::Dimensions &dimensions) {
  auto dims = resolve(dimensions);
  const WeightEntry *known = findWeight(name.text);
  if (!dims) {
    if (!known) // known by name from here on, so that one mistake is said once
      scope_->weights[std::string(name.text)] = {ops::WeightId(), name.span};
    return std::nullopt;
  }
  if (known) {
    if (!known->id.isValid() ||
        !checkRedeclared(name, *known, *dims, dimensions.barAt))
      return std::nullopt;
    return known->id;
  }
  bool isTaken = findVariable(name.text, nullptr) || given_.contains(name.text);
  if (isTaken || findOperator(name.text)) {
    elaboration_.emitter()
        .report(name.span, isTaken ? Kind::NameClash : Kind::ReservedName,
                "a weight cannot be called `{}`, as {} is", name.text,
                isTaken ? "a tensor" : "an operator")
        .help("choose another name");
    return std::nullopt;
  }
  for (std::size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i] != model_.batch && (*dims)[i] != model_.seq)
      continue;
    elaboration_.emitter()
        .report(dimensions.names[i].span, Kind::WeightOverData,
                "the weight `{}` would have a dimension `{}`", name.text,
                dimensions.names[i].text)
        .help("a weight is the same for all data; give it a size of its own");
    return std::nullopt;
  }
  lintNearby(name, *dims);
  ops::WeightId id =
      makeWeight(std::string(name.text), *dims,
                 static_cast<std::int64_t>(dimensions.barAt), name.span);
  return id;
}

ops::WeightId ModelBuilder::makeWeight(const std::string &local,
                                       const ops::Dims &dims,
                                       std::int64_t batchDims,
                                       SourceSpan span) {
  std::string full = join(local);
  ops::WeightId id;
  // Iterations that are not equal may still share a weight's table entry.
  std::vector<ops::WeightId> &known = weightsByName_[full];
  for (ops::WeightId old : known)
    if (model_.weights[old].dims == dims &&
        model_.weights[old].batchDims == batchDims)
      id = old;
  if (id.isValid()) {
    ++model_.weights[id].instances;
  } else {
    std::string unique =
        known.empty() ? full : fmt::format("{}#{}", full, known.size());
    id = model_.weights.add({unique, dims, batchDims, 1, 0, false,
                             elaboration_.origin(span, origin_)});
    known.push_back(id);
  }
  scope_->weights[local] = {id, span};
  if (inIteration_)
    declaredInIteration_.push_back(id);
  return id;
}

bool ModelBuilder::checkRedeclared(const ast::Name &name,
                                   const WeightEntry &entry,
                                   const ops::Dims &dims,
                                   std::size_t batchDims) {
  const ops::Weight &weight = model_.weights[entry.id];
  if (weight.dims == dims &&
      weight.batchDims == static_cast<std::int64_t>(batchDims))
    return true;
  elaboration_.emitter()
      .report(name.span, Kind::WeightRedeclared,
              "the weight `{}` has other brackets than at first", name.text)
      .note(entry.span, "it is declared here")
      .help("leave the brackets out to use the same weight, or choose another "
            "name");
  return false;
}

namespace {

/// `up1` and `up2` are a series, not a slip.
bool differInDigits(std::string_view a, std::string_view b) {
  auto lettersOf = [](std::string_view text) {
    std::string out;
    for (char c : text)
      if (c < '0' || c > '9')
        out += c;
    return out;
  };
  return lettersOf(a) == lettersOf(b);
}

} // namespace

void ModelBuilder::lintNearby(const ast::Name &name, const ops::Dims &dims) {
  constexpr int kMostSaid = 5;
  if (name.text.size() <= 3 || nearbySaid_ >= kMostSaid)
    return;
  for (const Scope *at = scope_; at; at = at->parent)
    for (const auto &[other, entry] : at->weights) {
      if (!entry.id.isValid() || model_.weights[entry.id].dims != dims ||
          differInDigits(name.text, other) ||
          diag::editDistance(name.text, other) != 1)
        continue;
      ++nearbySaid_;
      elaboration_.emitter()
          .report(name.span, Kind::WeightNearby,
                  "`{}` is a new weight, one letter away from `{}`", name.text,
                  other)
          .note(entry.span, "`{}` is declared here", other)
          .suggest(name.span, std::string_view(other));
      return;
    }
}

} // namespace planc::sema
