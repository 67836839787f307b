#include "compiler/source/ImportResolver.h"

#include "stdlib/EmbeddedFiles.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace planc::source {

namespace fs = std::filesystem;

namespace {

/// A file descriptor that closes itself.
class Descriptor {
public:
  // Without O_NONBLOCK, opening a named pipe would wait for its other end.
  explicit Descriptor(const std::string &path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

LoadFailure failureOfErrno() {
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
    return {LoadError::NotFound, "there is no such file"};
  return {LoadError::NotReadable, std::strerror(errno)};
}

std::variant<std::string, LoadFailure>
readRegularFile(const std::string &path) {
  Descriptor file(path);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    return failureOfErrno();
  if (S_ISDIR(status.st_mode))
    return LoadFailure{LoadError::NotReadable, "it is a folder"};
  if (!S_ISREG(status.st_mode))
    return LoadFailure{LoadError::NotReadable, "it is not a regular file"};
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return failureOfErrno();
    if (got == 0)
      return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > SourceSet::kMaxFileBytes)
      return LoadFailure{LoadError::TooLarge, "it has more than 4 MiB"};
  }
}

bool escapesByName(std::string_view path) {
  if (path.empty() || path.front() == '/' ||
      path.find('\0') != std::string_view::npos)
    return true;
  for (const fs::path &part : fs::path(path))
    if (part == "..")
      return true;
  return false;
}

bool isBelow(const fs::path &path, const fs::path &root) {
  auto [inRoot, inPath] =
      std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return inRoot == root.end();
}

std::string joined(std::string_view folder, std::string_view path) {
  if (folder.empty())
    return std::string(path);
  std::string out(folder);
  if (out.back() != '/')
    out += '/';
  return out.append(path);
}

/// `models/llama.plan` → `std.models.llama`
std::string dottedName(std::string_view embedded) {
  std::string out = "std.";
  out += embedded.substr(0, embedded.rfind(".plan"));
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

} // namespace

void ImportResolver::setRoot(std::string folder, std::string shown) {
  root_ = folder.empty() ? "." : std::move(folder);
  shownRoot_ = std::move(shown);
}

void ImportResolver::addMemoryFile(std::string path, std::string text) {
  memory_.insert_or_assign(std::move(path), std::move(text));
}

LoadResult ImportResolver::loadMain(const std::string &path) {
  std::string folder = fs::path(path).parent_path().string();
  if (!root_)
    setRoot(folder, folder);
  return loadFromDisk(path, path);
}

LoadResult ImportResolver::loadFile(std::string_view path) {
  if (escapesByName(path))
    return LoadFailure{LoadError::EscapesRoot,
                       "only files below the root folder can be imported"};
  std::string normal = fs::path(path).lexically_normal().string();
  std::string shown = joined(shownRoot_, normal);
  if (auto found = memory_.find(normal); found != memory_.end())
    return remember("memory:" + normal, shown, found->second);
  if (reader_) {
    const std::string key = "reader:" + normal;
    if (auto known = loaded_.find(key); known != loaded_.end())
      return known->second;
    auto read = reader_(normal);
    if (auto *failure = std::get_if<LoadFailure>(&read))
      return *failure;
    return remember(key, std::move(shown),
                    std::get<std::string>(std::move(read)));
  }
  if (!root_)
    return LoadFailure{LoadError::NotFound, "there is no such file"};
  std::error_code error;
  fs::path root = fs::canonical(*root_, error);
  if (error)
    return LoadFailure{LoadError::NotFound, "the root folder is not there"};
  fs::path file = fs::canonical(root / normal, error);
  if (!error && !isBelow(file, root))
    return LoadFailure{LoadError::EscapesRoot,
                       "a symbolic link leads out of the root folder"};
  return loadFromDisk((root / normal).string(), shown);
}

LoadResult
ImportResolver::loadStandard(const std::vector<std::string_view> &path) {
  std::string wanted;
  for (std::string_view part : path)
    wanted += wanted.empty() ? std::string(part) : "." + std::string(part);
  return loadDotted(wanted);
}

LoadResult ImportResolver::loadDotted(std::string_view dotted) {
  for (const EmbeddedFile &file : standardLibrary())
    if (dottedName(file.name) == dotted) {
      std::string name = "std/" + std::string(file.name);
      return remember(name, name, std::string(file.text));
    }
  return LoadFailure{LoadError::NotFound,
                     "the standard library has no such file"};
}

std::vector<std::string> ImportResolver::standardNames() {
  std::vector<std::string> out;
  for (const EmbeddedFile &file : standardLibrary())
    out.push_back(dottedName(file.name));
  return out;
}

LoadResult ImportResolver::loadFromDisk(const std::string &path,
                                        std::string shown) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  std::string key = error ? path : canonical.string();
  if (auto found = loaded_.find(key); found != loaded_.end())
    return found->second;
  auto read = readRegularFile(key);
  if (auto *failure = std::get_if<LoadFailure>(&read))
    return *failure;
  return remember(key, std::move(shown),
                  std::get<std::string>(std::move(read)));
}

LoadResult ImportResolver::remember(const std::string &key, std::string shown,
                                    std::string text) {
  if (auto found = loaded_.find(key); found != loaded_.end())
    return found->second;
  if (text.size() > SourceSet::kMaxFileBytes)
    return LoadFailure{LoadError::TooLarge, "it has more than 4 MiB"};
  FileId id = sources_->add(std::move(shown), std::move(text));
  loaded_.emplace(key, id);
  return id;
}

} // namespace planc::source
