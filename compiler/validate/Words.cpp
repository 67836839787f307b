#include "compiler/validate/Words.h"

#include <algorithm>

namespace planc::validate {

std::string wordOf(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool isWord = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (c >= 'A' && c <= 'Z')
      out.push_back(static_cast<char>(c - 'A' + 'a'));
    else if (isWord)
      out.push_back(c);
    else if (!out.empty() && out.back() != '_')
      out.push_back('_');
  }
  while (!out.empty() && out.back() == '_')
    out.pop_back();
  return out;
}

std::string lettersOf(std::string_view text) {
  std::string out = wordOf(text);
  out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
  for (std::string_view vendor : {"nvidia", "amd", "google"})
    if (out.rfind(vendor, 0) == 0)
      out.erase(0, vendor.size());
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace planc::validate
