// The clauses of the plan that a row is written as: those that its columns ask
// for, and those that it says in a plan's own words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace planc::validate {

class RowClauses {
public:
  /// `own`: the row's column of clauses, `;` between them.
  explicit RowClauses(const std::string &own);

  void add(std::string word, std::string rest) {
    clauses_.push_back({std::move(word), std::move(rest)});
  }
  /// True if a clause of the row says it, in its own words.
  bool hasOwn(std::string_view word, std::string_view key) const;
  /// Those of the row: `pipeline layers …` goes into the pipeline's braces,
  /// keys beside keys, a shard beside shards, all else instead.
  void addOwn();
  /// A line each.
  std::string text() const;

private:
  /// One clause: its first word and what follows.
  struct Clause {
    std::string word, rest;
  };

  std::vector<Clause> own_, clauses_;
};

} // namespace planc::validate
