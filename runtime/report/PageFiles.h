// The template, style and script of the page: files in html/, embedded
// when planc is built.
#pragma once

#include <span>
#include <string_view>

namespace planc::report {

struct EmbeddedFile {
  std::string_view name, text;
};

/// `report.css`, `report.html` and scripts, in the order of their names.
std::span<const EmbeddedFile> pageFiles();

} // namespace planc::report
