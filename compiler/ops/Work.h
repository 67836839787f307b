// Work of an operator on one device, from local sizes.
#pragma once

#include "compiler/ops/Op.h"
#include "runtime/program/Instruction.h"

namespace planc::ops {

/// Local size of every dimension of every operand and result, in their order.
/// The keys' `seq` may differ from the queries'.
struct LocalShapes {
  std::vector<std::vector<std::int64_t>> operands, results;
};

/// FLOPs and the shape of the product; memory traffic counts each operand and
/// result once (fusion is the kernel's business: compiler/lower).
/// Model FLOPs by METRICS M2: matrix products and attention only.
struct WorkRequest {
  const Op *op = nullptr;
  const Model *model = nullptr;
  LocalShapes shapes;
  std::vector<Precision> operandPrecisions, resultPrecisions;
};
program::Work workOf(const WorkRequest &request);

} // namespace planc::ops
