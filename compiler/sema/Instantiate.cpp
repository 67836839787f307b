// Calls: arguments to formals, and models to instances.
#include "compiler/sema/Evaluate.h"

#include "compiler/diag/Kinds.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;

namespace {

/// The argument for each formal, null where left out; nothing after a report.
std::optional<std::vector<const ast::Expr *>>
matchArguments(const BindRequest &request, diag::Emitter &emitter) {
  std::vector<const ast::Expr *> out(request.formals.size(), nullptr);
  std::size_t position = 0;
  for (const ast::Argument &argument : request.arguments) {
    std::size_t index = position;
    if (argument.name.isPresent()) {
      index = 0;
      while (index < out.size() &&
             request.formals[index].name.text != argument.name.text)
        ++index;
    } else {
      ++position;
    }
    if (index >= out.size()) {
      std::vector<std::string_view> names;
      for (const ast::Formal &formal : request.formals)
        names.push_back(formal.name.text);
      if (argument.name.isPresent())
        emitter
            .report(argument.name.span, Kind::UnknownArgument,
                    "`{}` takes no argument called `{}`", request.callee,
                    argument.name.text)
            .suggest(argument.name.span,
                     diag::nearestName(argument.name.text, names));
      else
        emitter.report(argument.span, Kind::UnknownArgument,
                       "`{}` takes {} arguments, not {}", request.callee,
                       out.size(), request.arguments.size());
      return std::nullopt;
    }
    if (out[index]) {
      emitter.report(argument.span, Kind::DuplicateField, "`{}` is given twice",
                     request.formals[index].name.text);
      return std::nullopt;
    }
    out[index] = argument.value;
  }
  return out;
}

} // namespace

bool bindArguments(const BindRequest &request, Evaluator &outside,
                   Evaluator &inside,
                   const std::function<void(const BoundArgument &)> &bind) {
  diag::Emitter &emitter = outside.elaboration().emitter();
  auto matched = matchArguments(request, emitter);
  if (!matched)
    return false;
  bool isComplete = true;
  std::string missing;
  for (std::size_t i = 0; i < request.formals.size(); ++i) {
    const ast::Formal &formal = request.formals[i];
    BoundArgument bound{&formal, Value(), (*matched)[i], false};
    if (bound.argument) {
      bound.value = outside.evaluate(*bound.argument);
    } else if (formal.defaultValue) {
      bound.argument = formal.defaultValue;
      bound.isDefault = true;
      bound.value = inside.evaluate(*formal.defaultValue);
    } else {
      missing +=
          fmt::format("{}`{}`", missing.empty() ? "" : ", ", formal.name.text);
      continue;
    }
    isComplete = isComplete && !bound.value.isPoison();
    bind(bound);
  }
  if (!missing.empty())
    emitter
        .report(request.callSpan, Kind::MissingArgument, "`{}` is missing {}",
                request.callee, missing)
        .help("give it by name, as in `{}(name = value)`", request.callee);
  return isComplete && missing.empty();
}

std::shared_ptr<const ModelInstance>
instantiate(const DeclValue &model, std::span<const ast::Argument> arguments,
            Evaluator &outside, source::SourceSpan span) {
  Elaboration &elaboration = outside.elaboration();
  auto *decl = llvm::cast<ast::ModelDecl>(model.decl);
  if (!elaboration.enter(*decl, span))
    return nullptr;
  auto out = std::make_shared<ModelInstance>();
  Evaluator inside(elaboration, *model.home, &out->formals);
  BindRequest request{decl->name.text, span, decl->formals, arguments};
  bool isBound =
      bindArguments(request, outside, inside, [&](const BoundArgument &bound) {
        std::string_view name = bound.formal->name.text;
        // A model's formals name its dimensions, whatever they are given.
        out->formals.bindings.push_back({name, bound.value,
                                         DimensionName{std::string(name), ""},
                                         bound.argument->span, false, nullptr});
      });
  std::shared_ptr<const ModelInstance> result;
  if (isBound && decl->base) {
    Value base = inside.evaluate(*decl->base);
    if (auto instance = elaboration.asModel(base, decl->base->span)) {
      auto copy = std::make_shared<ModelInstance>(*instance);
      copy->name = std::string(decl->name.text);
      result = copy;
    }
  } else if (isBound) {
    out->name = std::string(decl->name.text);
    out->model = decl;
    out->home = model.home;
    out->span = span;
    result = out;
  }
  elaboration.leave(*decl);
  return result;
}

} // namespace planc::sema
