#include "tools/planc/Git.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Program.h>

#include <filesystem>
#include <vector>

namespace planc::tool {

namespace fs = std::filesystem;

namespace {

struct Answer {
  int code = 0;
  std::string out;
};

/// A file for a moment.
class Temporary {
public:
  Temporary() {
    isThere_ = !llvm::sys::fs::createTemporaryFile("planc-git", "out", path_);
  }
  ~Temporary() {
    if (isThere_)
      llvm::sys::fs::remove(path_);
  }
  Temporary(const Temporary &) = delete;
  Temporary &operator=(const Temporary &) = delete;
  bool isThere() const { return isThere_; }
  llvm::StringRef path() const { return path_; }
  std::string read(std::size_t most) const {
    auto buffer = llvm::MemoryBuffer::getFile(path_);
    return buffer ? (*buffer)->getBuffer().substr(0, most).str()
                  : std::string();
  }

private:
  llvm::SmallString<128> path_;
  bool isThere_ = false;
};

class Git {
public:
  explicit Git(std::string folder) : folder_(std::move(folder)) {
    if (auto found = llvm::sys::findProgramByName("git"))
      program_ = *found;
  }
  bool isThere() const { return !program_.empty(); }

  /// Plumbing only: nothing of the user's settings changes what it prints.
  /// Of that, no more than the first `most` bytes.
  Answer run(const std::vector<std::string> &arguments,
             std::size_t most = std::string::npos) const {
    Temporary out;
    if (!out.isThere())
      return {-1, ""};
    std::vector<llvm::StringRef> words = {"git", "-C", folder_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    // An empty redirection is /dev/null.
    const int code = llvm::sys::ExecuteAndWait(
        program_, words, {},
        {llvm::StringRef(""), out.path(), llvm::StringRef("")});
    return {code, out.read(most)};
  }

private:
  std::string folder_, program_;
};

std::string firstLine(const std::string &text) {
  return text.substr(0, text.find('\n'));
}

/// What the file was called in the commit, by git's own finding of renames;
/// empty where it finds none. Names are those from the top of the repository.
std::string renamedFrom(const Git &git, const std::string &commit,
                        const std::string &name) {
  const Answer changes =
      git.run({"diff", "--no-ext-diff", "--no-textconv", "--find-renames",
               "--name-status", "-z", commit});
  std::vector<std::string> fields;
  for (std::size_t at = 0; at < changes.out.size();) {
    const std::size_t end =
        std::min(changes.out.find('\0', at), changes.out.size());
    fields.push_back(changes.out.substr(at, end - at));
    at = end + 1;
  }
  for (std::size_t i = 0; i + 1 < fields.size();) {
    const bool hasTwo = fields[i][0] == 'R' || fields[i][0] == 'C';
    if (hasTwo && i + 2 < fields.size() && fields[i + 2] == name)
      return fields[i + 1];
    i += hasTwo ? 3 : 2;
  }
  return "";
}

std::string folderOf(const std::string &name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash + 1);
}

} // namespace

std::variant<CommittedFile, std::string> fileAt(const std::string &ref,
                                                const std::string &file) {
  if (ref.empty() || ref[0] == '-')
    return "'" + ref + "' is no name of a commit";
  const fs::path path(file);
  const std::string folder =
      path.has_parent_path() ? path.parent_path().string() : ".";
  const Git git(folder);
  if (!git.isThere())
    return std::string("there is no git on this machine's PATH");
  const Answer prefix = git.run({"rev-parse", "--show-prefix"});
  if (prefix.code != 0)
    return "'" + file + "' is in no git repository";
  const Answer found =
      git.run({"rev-parse", "--verify", "--quiet", ref + "^{commit}"});
  if (found.code != 0)
    return "the repository has no commit '" + ref + "'";
  const std::string commit = firstLine(found.out);
  std::string name = firstLine(prefix.out) + path.filename().string();
  if (git.run({"cat-file", "-e", commit + ":" + name}).code != 0)
    name = renamedFrom(git, commit, name);
  if (name.empty())
    return CommittedFile();
  driver::Options options;
  options.file = name.substr(folderOf(name).size());
  options.root = ref + ":" + folderOf(name);
  options.reader = [git, commit,
                    below = folderOf(name)](const std::string &asked)
      -> std::variant<std::string, source::LoadFailure> {
    // A byte more than a file may have, for the resolver to refuse.
    Answer blob = git.run({"cat-file", "blob", commit + ":" + below + asked},
                          source::SourceSet::kMaxFileBytes + 1);
    if (blob.code != 0)
      return source::LoadFailure{source::LoadError::NotFound,
                                 "the commit has no such file"};
    return std::move(blob.out);
  };
  return CommittedFile{std::move(options)};
}

} // namespace planc::tool
