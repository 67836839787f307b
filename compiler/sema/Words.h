// Words and functions that every file knows.
#pragma once

#include "compiler/ops/Op.h"

#include <optional>
#include <span>
#include <string_view>

namespace planc::sema {

/// A value of its own where nothing of that name is declared.
bool isWord(std::string_view text);
/// May not be declared.
bool isReservedWord(std::string_view text);
std::span<const std::string_view> allWords();

/// `min max ceil floor divisors log2 sum`.
std::span<const std::string_view> functionNames();
bool isFunction(std::string_view name);

/// Operators as a model calls them.
struct OperatorName {
  std::string_view name;
  std::optional<ops::OpKind> kind; ///< none: not supported yet
};
std::span<const OperatorName> operatorNames();
const OperatorName *findOperator(std::string_view name);

} // namespace planc::sema
