#include "compiler/sema/Elaborate.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/ClusterBuilder.h"
#include "compiler/sema/Constraints.h"
#include "compiler/sema/ModelBuilder.h"
#include "compiler/sema/PlanBuilder.h"
#include "compiler/sema/TargetRules.h"
#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

/// The plan asked for, or the first of the file that can run by itself.
Symbol findPlan(Elaboration &elaboration, const std::string &name) {
  const FileScope &main = elaboration.program().main();
  std::vector<std::string_view> names;
  for (const Symbol &symbol : main.own()) {
    auto *plan = llvm::dyn_cast<ast::PlanDecl>(symbol.decl);
    if (!plan)
      continue;
    bool needsArguments = false;
    for (const ast::Formal &formal : plan->formals)
      needsArguments = needsArguments || !formal.defaultValue;
    if (name.empty() ? !needsArguments : plan->name.text == name)
      return symbol;
    names.push_back(plan->name.text);
  }
  Symbol imported = name.empty() ? Symbol() : main.find(name);
  if (imported && llvm::isa<ast::PlanDecl>(imported.decl))
    return imported;
  if (name.empty())
    elaboration.emitter()
        .report({main.file().file, 0, 0}, Kind::NoPlan,
                "no plan in this file can be run")
        .help("as in `plan p for model on cluster {{ … }}`");
  else
    elaboration.emitter()
        .report(SourceSpan(), Kind::UnknownName, "no plan is called `{}`", name)
        .suggest(SourceSpan(), diag::nearestName(name, names));
  return {};
}

std::string contextOf(const PlanText &text) {
  return fmt::format("in plan `{}` for `{}`", text.name, text.model->name);
}

/// Where a plan takes less than a whole group, and a number that its size is no
/// multiple of (64 of a rack of 72), all that it takes is in one group: the
/// level is as large as what is taken. A torus keeps its size, which says
/// whether it is closed.
void keepFirst(hardware::Cluster &cluster, std::int64_t count) {
  for (std::size_t l = 0; l < cluster.levels.size(); ++l) {
    const std::int64_t inner = l == 0 ? 1 : cluster.groupSize(l - 1);
    const std::int64_t size = cluster.groupSize(l);
    if (size < count)
      continue;
    if (l < cluster.torusLevels() || size % count == 0 || count % inner != 0)
      return;
    cluster.levels[l].of = count / inner;
    for (std::size_t outer = l + 1; outer < cluster.levels.size(); ++outer)
      cluster.levels[outer].of = 1;
    return;
  }
}

/// The level that a plan takes part of each group of; nothing after a report.
std::optional<std::size_t> levelOf(Elaboration &elaboration,
                                   const GroupText &group,
                                   const hardware::Cluster &cluster) {
  std::vector<std::string_view> names;
  for (const hardware::Level &level : cluster.levels)
    names.push_back(level.name);
  const auto found = std::find(names.begin(), names.end(), group.level.text);
  if (found == names.end()) {
    elaboration.emitter()
        .report(group.level.span, Kind::UnknownName, "`{}` has no level `{}`",
                cluster.name, group.level.text)
        .suggest(group.level.span, diag::nearestName(group.level.text, names));
    return std::nullopt;
  }
  const auto l = static_cast<std::size_t>(found - names.begin());
  const hardware::Level &level = cluster.levels[l];
  if (l < cluster.torusLevels()) {
    elaboration.emitter()
        .report(group.sizeSpan, Kind::ValueOutOfRange,
                "`{}` is a dimension of a torus, which changes with its size",
                level.name)
        .help("declare a cluster with this size");
    return std::nullopt;
  }
  if (group.size < 1 || group.size > level.of) {
    elaboration.emitter()
        .report(group.sizeSpan, Kind::ValueOutOfRange,
                "{} of each `{}`, which has {}", group.size, level.name,
                level.of)
        .help("take 1 to {}", level.of);
    return std::nullopt;
  }
  return l;
}

/// Groups as large as the plan takes of them (64 of a rack's 72).
bool shrinkGroups(Elaboration &elaboration, const PlanText &text,
                  hardware::Cluster &cluster) {
  std::vector<std::optional<source::SourceSpan>> given(cluster.levels.size());
  for (const GroupText &group : text.groups) {
    const auto l = levelOf(elaboration, group, cluster);
    if (!l)
      return false;
    if (given[*l]) {
      elaboration.emitter()
          .report(group.level.span, Kind::DuplicateField, "`{}` is given twice",
                  group.level.text)
          .note(*given[*l], "first here");
      return false;
    }
    given[*l] = group.level.span;
    cluster.levels[*l].of = group.size;
  }
  const std::int64_t wanted = text.cluster.count.value_or(1);
  if (text.groups.empty() || wanted <= cluster.size())
    return true;
  const GroupText &last = text.groups.back();
  elaboration.emitter()
      .report(text.cluster.countSpan, Kind::TooFewAccelerators,
              "{} accelerators of `{}`, which has {} where {} of each `{}` are "
              "taken",
              wanted, cluster.name, cluster.size(), last.size, last.level.text)
      .help("take {} or fewer, or more of each `{}`", cluster.size(),
            last.level.text);
  return false;
}

/// Accelerators that lie idle in the groups that a plan takes part of.
std::int64_t idleInGroups(const hardware::Cluster &whole,
                          const hardware::Cluster &part, std::int64_t count) {
  std::int64_t idle = 0, inside = 1;
  for (std::size_t l = 0; l < whole.levels.size(); ++l) {
    const std::int64_t left = whole.levels[l].of - part.levels[l].of;
    idle += ceilDiv(count, part.groupSize(l)) * left * inside;
    inside *= whole.levels[l].of;
  }
  return idle;
}

/// The plan on the model and the accelerators that `out` has.
bool buildPlan(Elaboration &elaboration, const PlanText &text, Module &out) {
  for (const hardware::Level &level : out.cluster.levels)
    out.levelSizes.push_back(level.of);
  keepFirst(out.cluster, out.accelerators);
  PlanRequest request{&text, &out.model, &out.cluster, out.accelerators};
  auto plan = PlanBuilder(elaboration, request).build();
  if (!plan)
    return false;
  out.plan = std::move(*plan);
  for (ops::WeightId weight : out.plan.frozen)
    out.model.weights[weight].isFrozen = true;
  if (!Constraints(elaboration, text, out.model, out.plan).check() ||
      !TargetRules(elaboration, text, out.model, out.plan).check())
    return false;
  if (auto use = findTarget(elaboration, text); use && *use) {
    out.target.name = std::string(use->decl->name.text);
    out.target.isStandard =
        elaboration.program().standardTarget(out.target.name).decl == use->decl;
  }
  return true;
}

bool build(Elaboration &elaboration, const PlanText &text, Module &out) {
  std::optional<hardware::Cluster> cluster;
  std::optional<ops::Model> model;
  {
    // Most of both stands in other files.
    diag::ContextScope context(elaboration.emitter(), text.span,
                               contextOf(text));
    cluster = buildCluster(elaboration, *text.cluster.decl, *text.cluster.home);
    OriginId asked = elaboration.origin(text.modelSpan);
    model = ModelBuilder(elaboration, *text.model, asked).build();
  }
  if (!cluster)
    return false;
  const hardware::Cluster whole = *cluster;
  if (!shrinkGroups(elaboration, text, *cluster))
    return false;
  SourceSpan place = text.cluster.countSpan.isValid() ? text.cluster.countSpan
                                                      : text.clusterSpan;
  auto taken = takeFirst(elaboration, *cluster, text.cluster.count, place);
  if (!model || !taken)
    return false;
  out.model = std::move(*model);
  out.cluster = std::move(*cluster);
  out.accelerators = taken->count;
  out.leftOver =
      taken->leftOver + idleInGroups(whole, out.cluster, out.accelerators);
  out.family = std::string(text.model->model->name.text);
  for (const Binding &formal : text.model->formals.bindings)
    out.arguments.push_back({std::string(formal.name), describe(formal.value)});
  return buildPlan(elaboration, text, out);
}

} // namespace

std::optional<Module> elaborate(const Program &program,
                                const ElaborateRequest &request,
                                source::OriginTable &origins,
                                diag::Emitter &emitter) {
  std::size_t before = emitter.reportedErrors();
  Elaboration elaboration(program, origins, emitter);
  elaboration.setOverrides(request.overrides);
  elaboration.checkOverrides();
  elaboration.checkConstants();
  Symbol symbol = findPlan(elaboration, request.plan);
  if (!symbol || emitter.reportedErrors() != before)
    return std::nullopt;
  auto text = resolvePlan(elaboration, symbol, symbol.decl->name.span);
  if (!text || emitter.reportedErrors() != before)
    return std::nullopt;
  Module out;
  if (!build(elaboration, *text, out) || emitter.reportedErrors() != before)
    return std::nullopt;
  return out;
}

Ground groundOf(const Module &module) {
  Ground ground{module.model, module.cluster, module.accelerators};
  for (ops::Weight &weight : ground.model.weights)
    weight.isFrozen = false;
  for (std::size_t l = 0; l < ground.cluster.levels.size(); ++l)
    ground.cluster.levels[l].of = module.levelSizes[l];
  return ground;
}

std::optional<Module> elaborateOn(const Program &program, const Ground &ground,
                                  source::OriginTable &origins,
                                  diag::Emitter &emitter) {
  const std::size_t before = emitter.reportedErrors();
  Elaboration elaboration(program, origins, emitter);
  Symbol symbol = findPlan(elaboration, "");
  auto text = symbol ? resolvePlan(elaboration, symbol, symbol.decl->name.span)
                     : std::nullopt;
  if (!text)
    return std::nullopt;
  text->hasFormals = true;
  Module out;
  out.model = ground.model;
  out.cluster = ground.cluster;
  auto taken = takeFirst(elaboration, out.cluster, ground.accelerators,
                         text->clusterSpan);
  if (!taken)
    return std::nullopt;
  out.accelerators = taken->count;
  out.leftOver = taken->leftOver;
  if (!buildPlan(elaboration, *text, out) || emitter.reportedErrors() != before)
    return std::nullopt;
  return out;
}

std::vector<PlanInfo> plansOf(const Program &program,
                              source::OriginTable &origins) {
  std::vector<PlanInfo> out;
  for (const Symbol &symbol : program.main().own())
    if (auto *plan = llvm::dyn_cast<ast::PlanDecl>(symbol.decl))
      out.push_back({std::string(plan->name.text), origins.add(plan->name.span),
                     !plan->formals.empty()});
  return out;
}

std::vector<ParameterInfo> parametersOf(const Program &program,
                                        source::OriginTable &origins) {
  std::vector<ParameterInfo> out;
  auto add = [&](const ast::Decl *decl) {
    auto *param = llvm::dyn_cast<ast::ParamDecl>(decl);
    if (!param)
      return;
    const source::SourceSet &sources = program.sources();
    std::string domain(param->domain ? sources.text(param->domain->span) : "");
    out.push_back({std::string(param->name.text),
                   std::string(sources.text(param->defaultValue->span)), domain,
                   origins.add(param->span)});
  };
  const FileScope &main = program.main();
  for (const Symbol &symbol : main.own())
    add(symbol.decl);
  // Imported without an alias, in the order of their names.
  for (std::string_view name : main.names())
    if (main.find(name).home != &main)
      add(main.find(name).decl);
  return out;
}

} // namespace planc::sema
