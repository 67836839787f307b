// Expected-error comments: a test file says itself what is wrong with it.
//
//   shard heads over tp  # expected-error[not-divisible] {{cannot be cut}}
//   # expected-error@+1 {{expected a name}}
//   # expected-warning@-2[unused-axis] {{…}}
//
// `@+N` counts from the comment's own line; `@*` stands for any line of the
// file. The kind in `[ ]` may be left out; `{{text}}` is part of the message.
#pragma once

#include "compiler/diag/Consumers.h"

namespace planc::diag {

struct Expectation {
  Severity severity = Severity::Error;
  std::uint32_t line = 0; ///< 1-based; 0 for any line
  std::string kind;       ///< "" for any
  std::string text;
  std::uint32_t writtenOn = 0; ///< line of the comment, for messages
};

/// What the comments of a file expect. A comment that starts like one but
/// cannot be read is said in `mistakes`.
struct Expectations {
  std::vector<Expectation> list;
  std::vector<std::string> mistakes;
};

Expectations readExpectations(const source::SourceFile &file);

/// Compares what was found in one file with what it expects; each expectation
/// is met by one diagnostic and the other way round. Gives one line a
/// difference, nothing if there is none. Diagnostics in other files are
/// differences.
std::vector<std::string> compare(source::FileId file,
                                 const source::SourceSet &sources,
                                 const std::vector<Diagnostic> &found);

} // namespace planc::diag
