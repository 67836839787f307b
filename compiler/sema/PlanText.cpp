#include "compiler/sema/PlanText.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/PlanMerger.h"

#include "llvm/Support/Casting.h"

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

constexpr std::string_view kStateNames[kStateKinds] = {"optimizer", "gradients",
                                                       "parameters"};

class PlanResolver {
public:
  static constexpr int kMaxVariants = 64;

  PlanResolver(Elaboration &elaboration, int depth)
      : elaboration_(elaboration), depth_(depth) {}

  std::optional<PlanText> resolve(Symbol plan,
                                  std::span<const ast::Argument> arguments,
                                  Evaluator &outside, SourceSpan use);

private:
  bool addBase(const ast::PlanDecl &decl, const PlanScope &scope);
  bool setModel(const ast::PlanDecl &decl, const PlanScope &scope);
  bool setCluster(const ast::ClusterReference &reference,
                  const PlanScope &scope);
  Evaluator in(const PlanScope &scope) {
    return Evaluator(elaboration_, *scope.file, scope.locals.get());
  }

  /// Where a name stands, or the argument of the call that gave it a value.
  SourceSpan placeOf(const ast::QualifiedName &name, const PlanScope &scope);

  Elaboration &elaboration_;
  int depth_; ///< plans that vary this one
  PlanText out_;
};

SourceSpan PlanResolver::placeOf(const ast::QualifiedName &name,
                                 const PlanScope &scope) {
  const Binding *formal =
      name.isSimple() ? scope.locals->find(name.first()) : nullptr;
  return formal ? formal->origin : name.span;
}

std::optional<PlanText>
PlanResolver::resolve(Symbol plan, std::span<const ast::Argument> arguments,
                      Evaluator &outside, SourceSpan use) {
  auto *decl = llvm::cast<ast::PlanDecl>(plan.decl);
  if (depth_ > kMaxVariants) {
    elaboration_.emitter().report(
        use, Kind::TooDeep, "plans vary plans more than {} deep", kMaxVariants);
    return std::nullopt;
  }
  if (!elaboration_.enter(*decl, use))
    return std::nullopt;
  auto locals = std::make_shared<Locals>();
  PlanScope scope{plan.home, locals};
  Evaluator inside(elaboration_, *plan.home, locals.get());
  BindRequest request{decl->name.text, use, decl->formals, arguments};
  bool isSound =
      bindArguments(request, outside, inside, [&](const BoundArgument &bound) {
        locals->bindings.push_back({bound.formal->name.text, bound.value,
                                    std::nullopt, bound.argument->span, false,
                                    nullptr});
      });
  if (isSound && decl->base)
    isSound = addBase(*decl, scope);
  else if (isSound)
    isSound = setModel(*decl, scope);
  if (isSound && decl->cluster.isPresent())
    isSound = setCluster(decl->cluster, scope);
  elaboration_.leave(*decl);
  if (!isSound)
    return std::nullopt;
  out_.isVariant = decl->base != nullptr;
  out_.hasFormals = out_.hasFormals || !decl->formals.empty();
  out_.name = std::string(decl->name.text);
  out_.span = decl->name.span;
  PlanMerger(elaboration_, out_).merge(decl->clauses, scope);
  return std::move(out_);
}

bool PlanResolver::addBase(const ast::PlanDecl &decl, const PlanScope &scope) {
  auto *call = llvm::dyn_cast<ast::CallExpr>(decl.base);
  auto *name = llvm::dyn_cast<ast::NameExpr>(decl.base);
  const ast::QualifiedName &base = call ? call->callee : name->name;
  Symbol symbol = scope.file->find(base);
  if (!symbol) {
    elaboration_.emitter()
        .report(base.span, Kind::UnknownName, "no plan is called `{}`",
                elaboration_.text(base.span))
        .suggest(base.span, diag::nearestName(elaboration_.text(base.span),
                                              scope.file->names()));
    return false;
  }
  if (!llvm::isa<ast::PlanDecl>(symbol.decl)) {
    elaboration_.emitter().report(
        base.span, Kind::WrongKind, "`{}` is {}, not a plan",
        elaboration_.text(base.span),
        describeType(DeclValue{symbol.decl, symbol.home}));
    return false;
  }
  Evaluator outside = in(scope);
  auto arguments = call ? call->arguments : std::span<const ast::Argument>();
  auto text = PlanResolver(elaboration_, depth_ + 1)
                  .resolve(symbol, arguments, outside, decl.base->span);
  if (text)
    out_ = std::move(*text);
  return text.has_value();
}

bool PlanResolver::setModel(const ast::PlanDecl &decl, const PlanScope &scope) {
  Value value = in(scope).evaluate(*decl.model);
  auto *name = llvm::dyn_cast<ast::NameExpr>(decl.model);
  SourceSpan place = name ? placeOf(name->name, scope) : decl.model->span;
  out_.model = elaboration_.asModel(value, place);
  out_.modelSpan = decl.model->span;
  return out_.model != nullptr;
}

bool PlanResolver::setCluster(const ast::ClusterReference &reference,
                              const PlanScope &scope) {
  ast::NameExpr expr;
  expr.kind = ast::ExprKind::Name;
  expr.span = reference.name.span;
  expr.name = reference.name;
  Value value = in(scope).evaluate(expr);
  if (value.isPoison())
    return false;
  if (auto *cluster = value.as<ClusterValue>()) {
    out_.cluster = *cluster;
  } else {
    auto *found = value.as<DeclValue>();
    auto *decl =
        found ? llvm::dyn_cast<ast::ClusterDecl>(found->decl) : nullptr;
    if (!decl) {
      SourceSpan place = placeOf(reference.name, scope);
      elaboration_.emitter()
          .report(place, Kind::WrongKind, "`{}` is {}, not a cluster",
                  elaboration_.text(place), describeType(value))
          .note(reference.name.span, "a cluster is needed here");
      return false;
    }
    out_.cluster = {decl, found->home, std::nullopt, {}};
  }
  out_.clusterSpan = reference.span;
  out_.groups.clear();
  for (const ast::Argument &group : reference.groups) {
    const auto size = in(scope).integer(*group.value, "part of a group");
    if (!size)
      return false;
    out_.groups.push_back({group.name, *size, group.value->span});
  }
  if (!reference.count)
    return true;
  out_.cluster.count =
      in(scope).integer(*reference.count, "a number of accelerators");
  out_.cluster.countSpan = reference.count->span;
  return out_.cluster.count.has_value();
}

} // namespace

std::string_view nameOf(StateKind kind) {
  return kStateNames[static_cast<std::size_t>(kind)];
}

std::optional<StateKind> stateFromName(std::string_view name) {
  for (std::size_t i = 0; i < kStateKinds; ++i)
    if (kStateNames[i] == name)
      return static_cast<StateKind>(i);
  return std::nullopt;
}

std::optional<PlanText> resolvePlan(Elaboration &elaboration, Symbol plan,
                                    SourceSpan use) {
  Evaluator outside(elaboration, *plan.home, nullptr);
  return PlanResolver(elaboration, 0).resolve(plan, {}, outside, use);
}

} // namespace planc::sema
