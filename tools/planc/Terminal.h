// Standard output and standard error. Both may be closed early by whoever
// reads them (`planc FILE | head`); that is not an error.
#pragma once

#include <string>
#include <string_view>

namespace planc::tool {

inline constexpr int kUsage = 1; ///< exit code; the others follow an Outcome

/// To the file, or to standard output where `path` is empty or `-`. False,
/// with a message, when the file cannot be written.
bool writeOutput(const std::string &path, std::string_view text);

bool exists(const std::string &path);

void writeError(std::string_view text);
/// `planc: TEXT` and a line break to standard error; gives kUsage.
int usageError(std::string_view text);

enum class Channel { Output, Error };
/// A terminal that did not ask for no colour (NO_COLOR, TERM=dumb).
bool wantsColor(Channel channel);

} // namespace planc::tool
