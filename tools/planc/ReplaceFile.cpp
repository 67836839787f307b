#include "tools/planc/ReplaceFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace planc::tool {

namespace {

/// False with errno.
bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0;
}

/// As far as it is allowed; what is not stays with who writes.
void keepOwner(int file, const struct stat &status) {
  if (::fchown(file, status.st_uid, status.st_gid) == 0)
    return;
  if (::fchown(file, static_cast<uid_t>(-1), status.st_gid) != 0)
    return;
}

} // namespace

std::string replaceFile(const std::string &path, std::string_view text) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error)
    return error.message();
  struct stat status {};
  if (::stat(real.c_str(), &status) != 0)
    return std::strerror(errno);
  // A file that must not be written is not replaced either.
  if (::access(real.c_str(), W_OK) != 0)
    return std::strerror(errno);
  std::string name = (real.parent_path() / ".planc-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0)
    return std::strerror(errno);
  std::string why;
  keepOwner(file, status);
  if (!writeAll(file, text) || ::fchmod(file, status.st_mode & 07777) != 0)
    why = std::strerror(errno);
  if (::close(file) != 0 && why.empty())
    why = std::strerror(errno);
  if (why.empty() && ::rename(name.c_str(), real.c_str()) != 0)
    why = std::strerror(errno);
  if (!why.empty())
    ::unlink(name.c_str());
  return why;
}

} // namespace planc::tool
