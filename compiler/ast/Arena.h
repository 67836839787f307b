// Memory of one AST: nodes are made here, never freed one by one.
#pragma once

#include "llvm/Support/Allocator.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace planc::ast {

/// Owns the nodes of any number of files. Nodes live as long as the arena, and
/// are trivially destructible. Texts that stand in the source are views of it,
/// so the SourceSet must live as long as well.
class Arena {
public:
  template <class T, class... Args> T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (memory_.Allocate(sizeof(T), alignof(T)))
        T{std::forward<Args>(args)...};
  }

  template <class T> std::span<const T> copy(const std::vector<T> &values) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (values.empty())
      return {};
    T *out = static_cast<T *>(
        memory_.Allocate(sizeof(T) * values.size(), alignof(T)));
    std::uninitialized_copy(values.begin(), values.end(), out);
    return {out, values.size()};
  }

  std::string_view copy(std::string_view text) {
    if (text.empty())
      return {};
    char *out = static_cast<char *>(memory_.Allocate(text.size(), 1));
    std::copy(text.begin(), text.end(), out);
    return {out, text.size()};
  }

private:
  llvm::BumpPtrAllocator memory_;
};

} // namespace planc::ast
