// The semantic model: a model, a cluster and a plan as values.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/diag/Emitter.h"
#include "compiler/ops/Op.h"
#include "compiler/sema/Plan.h"
#include "compiler/source/Origin.h"
#include "runtime/hardware/Cluster.h"

#include <string>
#include <string_view>
#include <vector>

namespace planc::sema {

/// A formal of the model and what it was given, as it would be written.
struct ModelArgument {
  std::string name, value;
};

/// The target a plan is for; no name: none.
struct TargetName {
  std::string name;
  bool isStandard = false; ///< of the standard library
};

/// Everything one evaluation of a plan needs, with nothing of the text left
/// open.
struct Module {
  ops::Model model;
  hardware::Cluster cluster;
  std::int64_t accelerators = 0; ///< taken of the cluster
  Plan plan;
  /// Accelerators of whole groups left over at the outermost level reached,
  /// said in the report.
  std::int64_t leftOver = 0;

  // What nothing is computed from, for those who compare plans.
  std::string family; ///< the declaration that `model` is an instance of
  std::vector<ModelArgument> arguments;
  TargetName target;
  /// Groups of each level as the cluster declares it; that in `cluster` may be
  /// cut down to what the plan takes.
  std::vector<std::int64_t> levelSizes;
};

/// A model and a machine that are there, for a plan to be made of its clauses
/// alone. `cluster` is whole.
struct Ground {
  ops::Model model;
  hardware::Cluster cluster;
  std::int64_t accelerators = 0; ///< that the plan takes
};
/// Those of a plan that was elaborated, as before it was.
Ground groundOf(const Module &module);

/// `param` set from outside: `-D name=value`, by text.
struct Override {
  std::string name, value;
};

/// A `param` of the files, for tuners and for messages.
struct ParameterInfo {
  std::string name, defaultText, domainText;
  OriginId origin;
};

/// Names of one compile bound to their declarations: all files parsed and
/// imported. Reusable: elaborate() may be called many times with different
/// overrides.
class Program;

} // namespace planc::sema
