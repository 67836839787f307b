// Files of a commit, read by git itself and without a shell.
#pragma once

#include "compiler/driver/Session.h"

#include <optional>
#include <string>
#include <variant>

namespace planc::tool {

/// A file as a commit has it.
struct CommittedFile {
  /// Main file and imports come from the commit, by its names; nothing: the
  /// commit has no such file, under this name or the one it had before.
  std::optional<driver::Options> options;
};

/// `ref` is anything that names a commit but does not begin with `-`. A message
/// instead where it names none, git is not there or the file is in no
/// repository.
std::variant<CommittedFile, std::string> fileAt(const std::string &ref,
                                                const std::string &file);

} // namespace planc::tool
