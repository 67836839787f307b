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

bool hasWords(std::string_view text, std::string_view words) {
  const auto isWord = [&](std::size_t at) {
    return at < text.size() &&
           ((text[at] >= 'a' && text[at] <= 'z') ||
            (text[at] >= 'A' && text[at] <= 'Z') ||
            (text[at] >= '0' && text[at] <= '9') || text[at] == '_');
  };
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1))
    if ((at == 0 || !isWord(at - 1)) && !isWord(at + words.size()))
      return true;
  return false;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string commentOf(std::string_view text) {
  constexpr std::size_t kWidth = 90;
  std::string out = "#";
  std::size_t width = 1;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end =
        std::min(text.find_first_of(" \n\r\t", begin), text.size());
    if (end > begin) {
      if (width + end - begin > kWidth && width > 1) {
        out += "\n#";
        width = 1;
      }
      out += " ";
      out += text.substr(begin, end - begin);
      width += end - begin + 1;
    }
    begin = end + 1;
  }
  return out + "\n";
}

} // namespace planc::validate
