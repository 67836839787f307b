#include "compiler/sema/Words.h"

#include "runtime/base/Precision.h"

#include <algorithm>

namespace planc::sema {

namespace {

constexpr std::string_view kWords[] = {
#define PLANC_WORD(Text) Text,
#define PLANC_RESERVED_WORD(Text) Text,
#include "compiler/sema/Words.def"
};

constexpr std::string_view kReserved[] = {
#define PLANC_RESERVED_WORD(Text) Text,
#include "compiler/sema/Words.def"
};

constexpr std::string_view kFunctions[] = {"min",      "max",  "ceil", "floor",
                                           "divisors", "log2", "sum"};

constexpr OperatorName kOperators[] = {
#define PLANC_OP(NAME, TEXT, CLASS)
#define PLANC_LANGUAGE_OP(NAME, TEXT, CLASS) {TEXT, ops::OpKind::NAME},
#include "compiler/ops/OpKinds.def"
    // Known by name, not supported yet.
    {"conv", std::nullopt},
};

bool contains(std::span<const std::string_view> list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

} // namespace

bool isWord(std::string_view text) {
  return contains(kWords, text) || precisionFromName(text).has_value();
}

bool isReservedWord(std::string_view text) { return contains(kReserved, text); }

std::span<const std::string_view> allWords() { return kWords; }

std::span<const std::string_view> functionNames() { return kFunctions; }

bool isFunction(std::string_view name) { return contains(kFunctions, name); }

std::span<const OperatorName> operatorNames() { return kOperators; }

const OperatorName *findOperator(std::string_view name) {
  for (const OperatorName &op : kOperators)
    if (op.name == name)
      return &op;
  return nullptr;
}

} // namespace planc::sema
