// What an expression can be.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/ops/Op.h"
#include "compiler/sema/Units.h"

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace planc::sema {

class FileScope;
struct Value;

/// Something wrong that has been reported; quiet from then on.
struct Poison {};

/// Base units.
struct Quantity {
  double value = 0;
  Dimension dimension; ///< never none: that is a real
};

/// A word of the language or a name used as one: `none`, `1F1B`, `bf16`.
struct Word {
  std::string_view text;
};

struct List {
  std::shared_ptr<const std::vector<Value>> items;
  std::int64_t leaves = 0; ///< items that are no list, at any depth
  std::int32_t depth = 1;  ///< of lists in each other
};

/// Both ends included.
struct Range {
  std::int64_t low = 0, high = 0;
};

/// A tensor of the model being built, where it was made; weights belong to no
/// body.
struct Tensor {
  std::uint32_t body = 0;
  ops::ValueId value;
  ops::WeightId weight; ///< valid: then only this

  /// Not after an error in what it was assigned.
  bool isSet() const { return value.isValid() || weight.isValid(); }
};

/// Of a block that returns several.
struct Tuple {
  std::shared_ptr<const std::vector<Value>> items;
};

/// A model with its formals bound.
struct ModelInstance;
struct ModelValue {
  std::shared_ptr<const ModelInstance> instance;
};

/// A cluster, whole or its first `count` accelerators.
struct ClusterValue {
  const ast::ClusterDecl *decl = nullptr;
  const FileScope *home = nullptr;
  std::optional<std::int64_t> count;
  source::SourceSpan countSpan;
};

/// Another declaration by name, where one is expected.
struct DeclValue {
  const ast::Decl *decl = nullptr;
  const FileScope *home = nullptr;
};

struct Value {
  std::variant<Poison, std::int64_t, double, bool, std::string, Quantity, Word,
               List, Range, Tensor, Tuple, ModelValue, ClusterValue, DeclValue>
      v;

  Value() = default;
  template <class T> Value(T value) : v(std::move(value)) {}

  template <class T> const T *as() const { return std::get_if<T>(&v); }
  bool isPoison() const { return as<Poison>() != nullptr; }
  bool isNumber() const {
    return as<std::int64_t>() || as<double>() || as<Quantity>();
  }
};

/// `an integer`, `a list`, `bytes` …
std::string describeType(const Value &value);
/// As it would be written: `8`, `80GiB`, `[1, 2]`; long lists cut short.
std::string describe(const Value &value);

/// `1 layer`, `2 layers`; `plural` is what is added to the noun.
std::string counted(std::int64_t count, std::string_view noun,
                    std::string_view plural = "s");

/// The number of an int, a real or a quantity.
std::optional<double> numberOf(const Value &value);
Dimension dimensionOf(const Value &value);

/// Equal kind and content; numbers by value. Not for tensors.
bool sameValue(const Value &a, const Value &b);

} // namespace planc::sema
