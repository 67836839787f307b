// What `planc check` found, for other programs: annotations of GitHub, SARIF.
#pragma once

#include "compiler/diag/Consumers.h"
#include "compiler/driver/CheckFile.h"

#include <string>
#include <vector>

namespace planc::tool {

/// One diagnostic with its place in words; as long as its CheckedFile lives.
struct Finding {
  const diag::Diagnostic *diagnostic = nullptr;
  diag::Severity severity = diag::Severity::Warning;
  std::string file;              ///< empty: no place
  source::LineColumn begin, end; ///< columns count code points; end exclusive
  std::string_view line;         ///< the text of the first line, in the sources

  std::string_view code() const { return diag::infoOf(diagnostic->kind).name; }
};

std::vector<Finding> findingsOf(const driver::CheckedFile &checked,
                                const diag::Levels &levels);

/// Workflow commands, worst first; one a line.
std::string toGitHub(const std::vector<Finding> &findings);

/// SARIF 2.1.0.
std::string toSarif(const std::vector<Finding> &findings);

} // namespace planc::tool
