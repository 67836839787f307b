// From the words of an import to the bytes of a file.
#pragma once

#include "compiler/source/SourceSet.h"

#include <functional>
#include <map>
#include <variant>

namespace planc::source {

enum class LoadError {
  NotFound,
  NotReadable, ///< a folder, a device, no permission
  TooLarge,    ///< more than SourceSet::kMaxFileBytes
  EscapesRoot, ///< absolute, `..`, or through a symbolic link out of the root
};

struct LoadFailure {
  LoadError error;
  std::string text; ///< a sentence without the file's name, for a note
};

using LoadResult = std::variant<FileId, LoadFailure>;

/// The bytes of a file that is not on disk, by its path below the root.
using FileReader =
    std::function<std::variant<std::string, LoadFailure>(const std::string &)>;

/// Finds files, each once: a second import of a file gives the same id. The
/// standard library comes from inside the binary; everything else from memory
/// first, then from below the root folder on disk.
class ImportResolver {
public:
  explicit ImportResolver(SourceSet &sources) : sources_(&sources) {}

  /// Folder that file imports are relative to. `shown` stands before their
  /// names in messages ("" or "examples"). Without a root nothing is read from
  /// disk.
  void setRoot(std::string folder, std::string shown);
  /// Asked instead of the disk, main file included; nothing of the disk is read
  /// then. A root is set.
  void setReader(FileReader reader) { reader_ = std::move(reader); }
  /// A file that needs no disk, by its path relative to the root.
  void addMemoryFile(std::string path, std::string text);

  /// The file given to the compiler; its folder becomes the root unless one is
  /// set.
  LoadResult loadMain(const std::string &path);
  /// `import "dir/file.plan"`.
  LoadResult loadFile(std::string_view path);
  /// `import std.models.llama`, as {"std", "models", "llama"}.
  LoadResult loadStandard(const std::vector<std::string_view> &path);
  /// `std.models.gpt`.
  LoadResult loadDotted(std::string_view dotted);
  /// Dotted names of all of the standard library: `std.models.llama`.
  static std::vector<std::string> standardNames();

private:
  LoadResult loadFromDisk(const std::string &path, std::string shown);
  LoadResult remember(const std::string &key, std::string shown,
                      std::string text);

  SourceSet *sources_;
  std::optional<std::string> root_;
  std::string shownRoot_;
  FileReader reader_;
  std::map<std::string, std::string, std::less<>> memory_;
  std::map<std::string, FileId> loaded_; ///< by canonical path or `std/…`
};

} // namespace planc::source
