// Ways out of a plan that does not fit: changes compiled to see whether they
// do.
#pragma once

#include "compiler/driver/Compilation.h"

#include <functional>

namespace planc::driver {

/// Compiles the plan with the clauses in a `with { … }`. Nothing where that is
/// illegal; the step time is 0 where it does not fit.
using TryClauses =
    std::function<std::optional<report::Remedy>(const std::string &clauses)>;

/// Changes worth trying for this plan, cheapest to write first, each as clauses
/// of a variant, one a line: states cut over the axes that hold copies,
/// gradients in bf16, recomputation, a fused linear loss, a micro-batch of one,
/// more ranks on an axis that cuts weights or on the pipeline's.
std::vector<std::string> changesToTry(const Compilation &compilation);

/// Tries them and writes down what fits, fastest first, and what does not, in
/// the order tried.
void findRemedies(const Compilation &compilation, const TryClauses &tryClauses,
                  report::MemoryReport &memory);

} // namespace planc::driver
