// `emit --stage=sema`.
#pragma once

#include "compiler/sema/Module.h"

#include <string>

namespace planc::sema {

/// Model, cluster and plan, one thing a line; equal modules print equally.
std::string printModule(const Module &module);

} // namespace planc::sema
