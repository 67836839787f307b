// Names of one compile bound to their declarations: the main file and all it
// imports, parsed, with a scope each.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/diag/Emitter.h"
#include "compiler/source/ImportResolver.h"

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace planc::sema {

class FileScope;

/// A declaration and the scope its own names are looked up in.
struct Symbol {
  const ast::Decl *decl = nullptr;
  const FileScope *home = nullptr;

  explicit operator bool() const { return decl != nullptr; }
};

/// What the names of one file mean: its own declarations, those of the files it
/// imports without an alias, and its aliases. An import does not hand on what
/// the imported file imports.
class FileScope {
public:
  const ast::File &file() const { return *file_; }
  /// `a`, or `alias.a`; an empty symbol if there is none.
  Symbol find(const ast::QualifiedName &name) const;
  Symbol find(std::string_view name) const;
  /// In the order written.
  const std::vector<Symbol> &own() const { return own_; }
  /// All that find() knows under a simple name, in alphabetical order.
  std::vector<std::string_view> names() const;
  /// Of the files under an alias; empty for an unknown alias.
  std::vector<std::string_view> namesUnder(std::string_view alias) const;

private:
  friend class ProgramLoader;
  const ast::File *file_ = nullptr;
  std::vector<Symbol> own_;
  std::map<std::string_view, Symbol> names_;
  std::map<std::string_view, const FileScope *> aliases_;
};

/// What loading needs from outside. `parse` gives the AST of a file, or null
/// after it reported what is wrong; the nodes and `sources` must outlive the
/// Program.
struct LoadContext {
  const source::SourceSet *sources = nullptr;
  source::ImportResolver *resolver = nullptr;
  std::function<const ast::File *(source::FileId)> parse;
  diag::Emitter *emitter = nullptr;
};

/// Immutable, so that several threads may elaborate it at once.
class Program {
public:
  /// Null after errors were reported: a file that does not parse, an import
  /// that is not there or goes in a circle, a name declared twice.
  static std::unique_ptr<const Program> load(source::FileId main,
                                             const LoadContext &context);

  const FileScope &main() const { return *main_; }
  const source::SourceSet &sources() const { return *sources_; }
  /// A target of the standard library, known without an import where some plan
  /// has a `target`; an empty symbol if there is none.
  Symbol standardTarget(std::string_view name) const;
  /// Their names, in the order of the library.
  std::vector<std::string_view> standardTargets() const;
  /// In the order they were first imported, after the main file.
  const std::vector<std::unique_ptr<FileScope>> &files() const {
    return files_;
  }

private:
  friend class ProgramLoader;
  const source::SourceSet *sources_ = nullptr;
  std::vector<std::unique_ptr<FileScope>> files_;
  const FileScope *main_ = nullptr;
  std::vector<Symbol> standardTargets_;
};

} // namespace planc::sema
