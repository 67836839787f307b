// From a program with open `param`s to one plan with nothing left open.
#pragma once

#include "compiler/sema/Module.h"
#include "compiler/sema/Program.h"
#include "compiler/source/Origin.h"

#include <optional>
#include <string>
#include <vector>

namespace planc::sema {

struct ElaborateRequest {
  /// As the main file knows it; empty: the first plan of the main file.
  std::string plan;
  std::vector<Override> overrides;
};

/// The plan, its model and the part of its cluster it takes; nothing after
/// errors were reported. Origins of everything in the module are added to
/// `origins`. May be called many times for one program, from several threads
/// with an OriginTable and an Emitter each. An override whose name or value
/// does not fit is reported without a place.
///
/// Bounds, each with its diagnostic: 5,000 iterations of a repeat, 100,000
/// operators in a model, 64 blocks inside each other, 64 plans that vary each
/// other, 256 definitions that lean on each other, 1,000,000 items in a
/// list, 2^58 operations in one operator.
std::optional<Module> elaborate(const Program &program,
                                const ElaborateRequest &request,
                                source::OriginTable &origins,
                                diag::Emitter &emitter);

/// The first plan of `program` with its own clauses, but on this ground: what
/// its text says of model and cluster is not looked at. All that is checked of
/// a plan is checked of this one; a dimension that the model lacks is remarked
/// on as in a recipe.
std::optional<Module> elaborateOn(const Program &program, const Ground &ground,
                                  source::OriginTable &origins,
                                  diag::Emitter &emitter);

struct PlanInfo {
  std::string name;
  OriginId origin;
  bool hasFormals = false; ///< a recipe: others call it, it cannot run itself
};

/// Plans of the main file in the order written.
std::vector<PlanInfo> plansOf(const Program &program,
                              source::OriginTable &origins);

/// Every `param` an override can name, those of the main file first.
std::vector<ParameterInfo> parametersOf(const Program &program,
                                        source::OriginTable &origins);

} // namespace planc::sema
