// A text parsed, with everything that belongs to it.
#pragma once

#include "compiler/diag/Consumers.h"
#include "compiler/syntax/ParseFile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace planc {

struct Parsed {
  source::SourceSet sources;
  source::FileId id;
  ast::Arena arena;
  diag::CaptureConsumer diagnostics;
  const ast::File *file = nullptr;

  explicit Parsed(std::string text, std::string name = "test.plan") {
    id = sources.add(std::move(name), std::move(text));
    diag::Emitter emitter(diagnostics);
    file = syntax::parseFile(id, sources, arena, emitter);
  }

  /// The names of what was reported, in order.
  std::vector<std::string> kinds() const {
    std::vector<std::string> out;
    for (const diag::Diagnostic &d : diagnostics.diagnostics)
      out.emplace_back(diag::infoOf(d.kind).name);
    return out;
  }
  std::string print() const {
    return file ? ast::printAst(*file) : "(no file)";
  }
  template <class T> const T &decl(std::size_t index) const {
    return *static_cast<const T *>(file->decls[index]);
  }
};

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The .plan files of a folder, by name.
inline std::vector<std::filesystem::path> plansIn(const char *folder) {
  std::vector<std::filesystem::path> out;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".plan")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace planc
