#include "tools/planc/Terminal.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace planc::tool {

namespace {

/// 0, or the errno of what went wrong; a reader that left is nothing wrong.
int writeAll(std::FILE *file, std::string_view text) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  errno = 0;
  const bool isWritten =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
      std::fflush(file) == 0;
  const int error = isWritten || errno == EPIPE ? 0 : errno;
  // What is still buffered must not be written at exit.
  if (!isWritten)
    std::setvbuf(file, nullptr, _IONBF, 0);
  std::signal(SIGPIPE, before);
  return error;
}

} // namespace

bool writeOutput(const std::string &path, std::string_view text) {
  const bool isStandard = path.empty() || path == "-";
  std::FILE *file = isStandard ? stdout : std::fopen(path.c_str(), "wb");
  int error = file == nullptr ? errno : writeAll(file, text);
  if (!isStandard && file != nullptr && std::fclose(file) != 0 && error == 0)
    error = errno;
  if (error == 0)
    return true;
  usageError("cannot write " + (isStandard ? "the output" : "'" + path + "'") +
             ": " + std::strerror(error));
  return false;
}

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

void writeError(std::string_view text) { writeAll(stderr, text); }

int usageError(std::string_view text) {
  writeError("planc: " + std::string(text) + "\n");
  return kUsage;
}

bool wantsColor(Channel channel) {
  const char *noColor = std::getenv("NO_COLOR");
  const char *terminal = std::getenv("TERM");
  if (noColor != nullptr && *noColor != '\0')
    return false;
  if (terminal == nullptr || std::strcmp(terminal, "dumb") == 0)
    return false;
  return isatty(channel == Channel::Output ? STDOUT_FILENO : STDERR_FILENO) !=
         0;
}

} // namespace planc::tool
