// Everything planc has to say of one file: each of its plans compiled, what is
// wrong, what was expected, what is wasted; less what comments silence.
#pragma once

#include "compiler/driver/Session.h"

#include <map>

namespace planc::driver {

struct CheckedFile {
  static constexpr std::size_t kMostOfAKind = 20;

  /// By place, each once. Of warnings at a clause that several plans share only
  /// the first plan's, and of each kind of warning no more than kMostOfAKind.
  std::vector<diag::Diagnostic> diagnostics;
  /// The worst of its plans'; warnings change nothing.
  Outcome outcome = Outcome::Ok;
  std::size_t plans = 0;    ///< compiled
  std::size_t silenced = 0; ///< diagnostics that comments silenced
  /// Warnings and remarks that were too many to list; the last listed one of
  /// their kind says so.
  std::map<diag::Kind, std::size_t> unlisted;
  /// Where the diagnostics' spans point.
  std::unique_ptr<Session> session;

  const source::SourceSet &sources() const { return session->sources(); }
};

/// Every plan of the file that can run by itself, or the one that is named.
/// `options.asides` and `lints` are not read.
CheckedFile checkFile(const Options &options);

} // namespace planc::driver
