// `# planc: allow(NAME) reason`: findings that someone has seen and wants kept.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

namespace planc::lint {

/// One name of one comment. It holds for its own line, or, where the comment
/// has the line to itself, for the next line with code.
struct Allowance {
  std::string name;
  source::SourceSpan span; ///< of the name
  std::uint32_t line = 0;  ///< that it is about
  bool isUsed = false;
};

/// Of one file. Reports names that are no warning's, and comments without a
/// reason.
std::vector<Allowance> readAllowances(const ast::File &file,
                                      const source::SourceSet &sources,
                                      diag::Emitter &emitter);

/// Is the diagnostic silenced; marks what silences it. Never an error.
bool isSilenced(const diag::Diagnostic &diagnostic,
                const source::SourceSet &sources,
                std::vector<Allowance> &allowances);

/// Reports what silenced nothing.
void reportUnused(const std::vector<Allowance> &allowances,
                  diag::Emitter &emitter);

} // namespace planc::lint
