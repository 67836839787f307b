// How a plan names operators and weights of a model.
#pragma once

#include "compiler/ops/Op.h"

#include <string_view>

namespace planc::ops {

/// Whether the parts of `path` stand in a row among those of `name`, both
/// joined by dots: `swiglu` and `decoder.swiglu` name `decoder.swiglu.gate`.
/// A numbered copy (`rms_norm_2`) is named by what it is a copy of as well.
bool pathNames(std::string_view path, std::string_view name);

/// By the operator's kind (`silu`) or by its name (`decoder.swiglu`).
bool pathNames(std::string_view path, const Op &op);

} // namespace planc::ops
