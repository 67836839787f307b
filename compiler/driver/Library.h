// The standard library, parsed once for many compiles.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/source/ImportResolver.h"

#include <vector>

namespace planc::driver {

/// Immutable once made, so that sessions on several threads may share one; it
/// outlives them.
class Library {
public:
  Library();

  /// Makes the library's files the first of `sources`, under the same ids as
  /// here. `resolver` is of the same set, both new.
  static void addTo(source::ImportResolver &resolver);
  /// Null for a file that is not the library's.
  const ast::File *find(source::FileId file) const;

private:
  source::SourceSet sources_;
  ast::Arena arena_;
  std::vector<const ast::File *> files_; ///< by id
};

} // namespace planc::driver
