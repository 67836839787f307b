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
};

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
