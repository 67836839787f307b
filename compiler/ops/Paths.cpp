#include "compiler/ops/Paths.h"

#include <algorithm>

namespace planc::ops {

namespace {

std::vector<std::string_view> partsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos)
      return parts;
    text.remove_prefix(dot + 1);
  }
}

/// `rms_norm_2` without its number.
std::string_view withoutNumber(std::string_view part) {
  std::size_t end = part.find_last_not_of("0123456789");
  bool isNumbered = end != std::string_view::npos && end > 0 &&
                    end + 1 < part.size() && part[end] == '_';
  return isNumbered ? part.substr(0, end) : part;
}

bool isSame(std::string_view asked, std::string_view part) {
  return asked == part || asked == withoutNumber(part);
}

} // namespace

bool pathNames(std::string_view path, std::string_view name) {
  std::vector<std::string_view> asked = partsOf(path), parts = partsOf(name);
  return std::search(parts.begin(), parts.end(), asked.begin(), asked.end(),
                     [](std::string_view part, std::string_view want) {
                       return isSame(want, part);
                     }) != parts.end();
}

bool pathNames(std::string_view path, const Op &op) {
  return path == toString(op.kind) || pathNames(path, op.name);
}

} // namespace planc::ops
