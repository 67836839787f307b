#include "compiler/validate/RowClauses.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::validate {

namespace {

/// `{ … }`, as addPipeline writes it, takes more fields.
bool hasBraces(const std::string &rest) {
  constexpr std::string_view kEnd = " }";
  return rest.size() > kEnd.size() &&
         rest.compare(rest.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
}

/// `, key = value` for those of `list` whose keys are not in `own`.
std::string otherKeys(const std::string &list, const std::string &own) {
  std::string out;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    const std::string pair = list.substr(begin, end - begin);
    const std::string key = pair.substr(0, pair.find(' '));
    if (own.rfind(key + " ", 0) != 0 &&
        own.find(", " + key + " ") == std::string::npos)
      out += ", " + pair;
    begin = end + 2;
  }
  return out;
}

} // namespace

RowClauses::RowClauses(const std::string &text) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(" \n\t"));
    const std::size_t space = part.find(' ');
    if (!part.empty())
      own_.push_back({part.substr(0, space), space == std::string::npos
                                                 ? ""
                                                 : part.substr(space + 1)});
    begin = end + 1;
  }
}

bool RowClauses::hasOwn(std::string_view word, std::string_view key) const {
  for (const Clause &own : own_)
    if (own.word == word && own.rest.find(key) != std::string::npos)
      return true;
  return false;
}

void RowClauses::addOwn() {
  for (const Clause &own : own_) {
    const auto at = std::find_if(
        clauses_.begin(), clauses_.end(),
        [&](const Clause &clause) { return clause.word == own.word; });
    const bool isKeyed = own.word == "precision" || own.word == "kernels";
    if (at == clauses_.end() || own.word == "shard")
      clauses_.push_back(own);
    else if (own.word == "pipeline" && own.rest.rfind("over", 0) != 0 &&
             hasBraces(at->rest))
      at->rest.insert(at->rest.size() - 2, ", " + own.rest);
    else if (isKeyed)
      at->rest = own.rest + otherKeys(at->rest, own.rest);
    else
      at->rest = own.rest;
  }
}

std::string RowClauses::text() const {
  std::string out;
  for (const Clause &clause : clauses_)
    out += fmt::format("  {:<10} {}\n", clause.word, clause.rest);
  return out;
}

} // namespace planc::validate
