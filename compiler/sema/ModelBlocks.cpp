// Calls of blocks: inlined, with a scope of their own.
#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;

Value ModelBuilder::callBlock(const ast::BlockDecl &block,
                              const FileScope &home,
                              const ast::CallExpr &call) {
  if (blockDepth_ >= kMaxBlockDepth) {
    elaboration_.emitter().report(call.span, Kind::TooDeep,
                                  "blocks call blocks more than {} deep",
                                  kMaxBlockDepth);
    return Poison();
  }
  Scope scope;
  scope.file = &home;
  if (!bindFormals(block.formals, scope, call, nullptr) || !count(call.span) ||
      !elaboration_.enter(block, call.callee.span))
    return Poison();
  ++blockDepth_;
  Scope *outer = std::exchange(scope_, &scope);
  OriginId outerOrigin =
      std::exchange(origin_, elaboration_.origin(call.span, origin_));
  std::optional<Value> result = runStatements(block.body);
  scope_ = outer;
  origin_ = outerOrigin;
  --blockDepth_;
  elaboration_.leave(block);
  if (result)
    return *result;
  elaboration_.emitter().report(block.name.span, Kind::NoReturn,
                                "the block `{}` has no `return`",
                                block.name.text);
  return Poison();
}

/// Tensor formals become variables and name the dimensions they are given;
/// others become constants. The scope's path is set here, after the arguments,
/// so that calls are numbered in the order they run.
bool ModelBuilder::bindFormals(
    std::span<const ast::Formal> formals, Scope &scope,
    const ast::CallExpr &call,
    std::vector<const ast::Expr *> *tensorArguments) {
  Evaluator outside = evaluator();
  Evaluator inside(elaboration_, *scope.file, &scope.locals, this);
  BindRequest request{elaboration_.text(call.callee.span), call.span, formals,
                      call.arguments};
  std::vector<std::size_t> named; ///< bindings that take the call's path
  bool isSound = true;
  auto bind = [&](const BoundArgument &bound) {
    if (bound.value.isPoison())
      return;
    std::string_view name = bound.formal->name.text;
    if (auto *tensor = bound.value.as<Tensor>()) {
      isSound =
          bindTensor(*bound.formal, *tensor, scope, *bound.argument) && isSound;
      if (tensorArguments)
        tensorArguments->push_back(bound.argument);
      return;
    }
    if (bound.formal->isTensor) {
      outside.reportType(bound.argument->span,
                         fmt::format("`{}`", bound.formal->name.text),
                         "a tensor", bound.value);
      isSound = false;
      return;
    }
    auto passed =
        bound.isDefault ? std::nullopt : outside.dimensionName(*bound.argument);
    if (!passed)
      named.push_back(scope.locals.bindings.size());
    scope.locals.bindings.push_back(
        {name, bound.value,
         passed.value_or(DimensionName{std::string(name), ""}),
         bound.argument->span, false, nullptr});
  };
  if (!bindArguments(request, outside, inside, bind) || !isSound)
    return false;
  scope.path = join(localName(call.callee.last()));
  for (std::size_t index : named)
    scope.locals.bindings[index].dimension->scope = scope.path;
  return true;
}

bool ModelBuilder::bindTensor(const ast::Formal &formal, const Tensor &tensor,
                              Scope &scope, const ast::Expr &argument) {
  Variable &variable = scope.variables[std::string(formal.name.text)];
  variable.slotName = std::string(formal.name.text);
  variable.span = formal.span;
  variable.current = tensor;
  if (!formal.isTensor)
    return true;
  const ops::Dims &dims = dimsOf(tensor);
  auto describeDims = [&] {
    std::string text = "[";
    for (ops::DimId dim : dims)
      text += (text.size() > 1 ? ", " : "") + ops::fullName(model_.dims[dim]);
    return text + "]";
  };
  std::span<const ast::Name> names = formal.dimensions.names;
  bool fits = names.size() == dims.size();
  for (std::size_t i = 0; fits && i < dims.size(); ++i) {
    Binding binding = bindDimension(names[i].text, dims[i]);
    const Binding *known = scope.locals.findHere(names[i].text);
    fits = !known || known->dimension == binding.dimension;
    if (!known)
      scope.locals.bindings.push_back(std::move(binding));
  }
  if (fits)
    return true;
  elaboration_.emitter()
      .report(argument.span, Kind::ShapeMismatch,
              "found {} where `{}` is expected", describeDims(),
              elaboration_.text(formal.span))
      .note(formal.span, "the formal is here");
  return false;
}

} // namespace planc::sema
