// Attention and its gradient in plain loops.
#pragma once

#include "tests/unit/shard/Kernels.h"

namespace planc::oracle {

void attention(const KernelCall &call);
void attentionGrad(const KernelCall &call);
void sinkGrad(const KernelCall &call);

/// 1 where dropout keeps the element: a function of the operator and the
/// element's place in the whole tensor.
double keeps(const std::string &op, const std::vector<int> &at, double p);

} // namespace planc::oracle
