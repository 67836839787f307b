// JSON read back.
#pragma once

#include "tests/unit/Catch.h"

#include <llvm/Support/JSON.h>

#include <string>

namespace planc::report::test {

/// Null, and the test fails, where it is none.
inline llvm::json::Value parsed(const std::string &text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    FAIL(llvm::toString(value.takeError()));
    return nullptr;
  }
  return *value;
}

} // namespace planc::report::test
