// A file with another text, all of it or none.
#pragma once

#include <string>
#include <string_view>

namespace planc::tool {

/// Through a new file beside it that takes its name: whoever reads meanwhile
/// sees the old text or the new one. Keeps the mode, and owner and group
/// where that is allowed; follows links. Why not, else empty; then the file is
/// as it was.
std::string replaceFile(const std::string &path, std::string_view text);

} // namespace planc::tool
