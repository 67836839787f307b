// Every operator in plain loops, as compiler/ops/Semantics.md defines it.
#pragma once

#include "tests/unit/shard/Tensor.h"

namespace planc::oracle {

struct KernelCall {
  const ops::Op *op = nullptr;
  ops::DimId seq;                       ///< whose index is the position (rope)
  std::vector<const Tensor *> operands; ///< an Add may be given fewer
  std::vector<Tensor *> results;        ///< zeros, with the places to compute
};

/// Sums run over what the operands hold, so a result over cut operands is this
/// rank's part of the sum. Reading what is not held is a complaint.
/// CrossEntropy over some of the classes gives max and sum of those, and for
/// the loss the negated logit of the target where it is among them.
void runKernel(const KernelCall &call);

} // namespace planc::oracle
