// `# planc: allow(NAME) reason`: findings that someone has seen and wants kept.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace planc::lint {

/// The comments of files, one name at a time. Each holds for its own line, or,
/// where the comment has the line to itself, for the next line with code.
class Allowances {
public:
  /// One file more. Reports names that are no warning's, and comments without a
  /// reason.
  void read(const ast::File &file, const source::SourceSet &sources,
            diag::Emitter &emitter);

  /// Is the diagnostic silenced; remembers what silenced it. Never an error.
  bool silences(const diag::Diagnostic &diagnostic,
                const source::SourceSet &sources);

  /// Reports what silenced nothing on the lines of `compiled`: spans of one
  /// file in the order written, of which all was said that there is to say.
  void reportUnused(std::span<const source::SourceSpan> compiled,
                    const source::SourceSet &sources,
                    diag::Emitter &emitter) const;

private:
  /// What is silenced, and on which line.
  using Key = std::tuple<source::FileId, std::uint32_t, diag::Kind>;
  struct Allowance {
    Key key;
    source::SourceSpan span; ///< of the name
  };

  std::vector<Allowance> allowances_; ///< in the order read
  std::map<Key, bool> isUsed_;
};

} // namespace planc::lint
