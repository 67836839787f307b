// Texts of users that are not repeated whole.
#pragma once

#include <cstddef>
#include <string>

namespace planc::source {

/// To so many bytes and an ellipsis, not inside of a character.
inline void shorten(std::string &text, std::size_t longest) {
  if (text.size() <= longest)
    return;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  text.resize(end);
  text += "…";
}

} // namespace planc::source
