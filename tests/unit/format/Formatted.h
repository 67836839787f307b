// A text in the one style, with everything that belongs to it.
#pragma once

#include "compiler/diag/Consumers.h"
#include "compiler/format/Format.h"
#include "compiler/syntax/ParseFile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace planc {

struct Formatted {
  source::SourceSet sources;
  diag::CaptureConsumer diagnostics;
  std::optional<std::string> text;

  explicit Formatted(std::string from) {
    const source::FileId id = sources.add("test.plan", std::move(from));
    diag::Emitter emitter(diagnostics);
    text = format::format(id, sources, emitter);
  }

  std::string kinds() const {
    std::string out;
    for (const diag::Diagnostic &d : diagnostics.diagnostics)
      out += std::string(diag::infoOf(d.kind).name) + ": " + d.message + "\n";
    return out;
  }
};

/// In the style, or what kept it from that.
inline std::string styled(std::string text) {
  Formatted made(std::move(text));
  return made.text ? *made.text : made.kinds();
}

/// What the AST says of a text; empty where it does not parse.
inline std::string treeOf(std::string text) {
  source::SourceSet sources;
  diag::CaptureConsumer diagnostics;
  diag::Emitter emitter(diagnostics);
  ast::Arena arena;
  const source::FileId id = sources.add("test.plan", std::move(text));
  const ast::File *file = syntax::parseFile(id, sources, arena, emitter);
  return file ? ast::printAst(*file) : "";
}

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Every .plan file of the repository whose text parses, by name.
inline std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> out;
  for (const char *folder :
       {"examples", "stdlib", "tests/text", "tests/errors", "tests/golden"}) {
    const auto root = std::filesystem::path(PLANC_ROOT) / folder;
    if (!std::filesystem::exists(root))
      continue;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(root))
      if (entry.path().extension() == ".plan")
        out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace planc
