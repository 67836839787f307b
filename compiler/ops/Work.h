// Work of an operator on one device, from local sizes.
#pragma once

#include "compiler/ops/Op.h"
#include "runtime/program/Instruction.h"

namespace planc::ops {

/// Local size of every dimension of every operand and result, in their order.
/// The keys' `seq` may differ from the queries'. A one-hot operand may list the
/// dimension it indexes last, or leave it out.
struct LocalShapes {
  std::vector<std::vector<std::int64_t>> operands, results;
};

/// Of rows that are routed to experts, what is there: what the busiest rank
/// holds and works on, and what the model asks for.
struct Fill {
  Share held, asked;
};
Fill fillOf(const Value &value, const std::vector<std::int64_t> &sizes);

/// FLOPs and the shape of the product; memory traffic counts each operand and
/// result once (fusion is the kernel's business: compiler/lower), with these
/// exceptions:
///  - a lookup touches the rows it looks up, not the table;
///  - a weight gradient is added to what the micro-batches before it left: its
///    result is read, too; unfused, after the product (`bytesAfter`);
///  - `accumulated` sums are read again by each product after the first, and
///  are
///    no kernel of their own;
///  - a fused norm's weight gradient is made in the kernel of its input
///  gradient
///    and reads nothing again;
///  - `unfused` kernels pass intermediates through memory (Work.cpp lists
///  them).
///
/// Model FLOPs by METRICS M2: matrix products and attention only, none in
/// Phase::Recompute. Attention, for m query and n key positions, counts
/// m·n/2 pairs when causal, m·w − m·w²/2n with a window (n: of one document,
/// where sequences are packed); its backward is twice the forward. Of routed
/// rows model FLOPs count what the model asks for, the executed ones what the
/// busiest rank works on. A flash
/// backward executes five products where the model has four; an unfused one
/// executes the full square. FLOPs past 63 bits stay at the largest number.
struct WorkRequest {
  const Op *op = nullptr;
  const Model *model = nullptr;
  LocalShapes shapes;
  std::vector<Precision> operandPrecisions, resultPrecisions;
  std::vector<Fill> operandFills, resultFills; ///< empty: everything is there

  void addOperand(const Value &value, std::vector<std::int64_t> sizes);
  void addResult(const Value &value, std::vector<std::int64_t> sizes);
};
program::Work workOf(const WorkRequest &request);

} // namespace planc::ops
