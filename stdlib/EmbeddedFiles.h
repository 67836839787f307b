// Files of the repository that live inside the binary.
#pragma once

#include <span>
#include <string_view>

namespace planc {

struct EmbeddedFile {
  std::string_view name; ///< path below its root, with '/': `models/llama.plan`
  std::string_view text;
};

/// The standard library, in the order of the files' names.
std::span<const EmbeddedFile> standardLibrary();

/// Tables of runs that were measured elsewhere, `measured/….csv`, likewise.
std::span<const EmbeddedFile> measuredRuns();

} // namespace planc
