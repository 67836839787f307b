#include "compiler/diag/Emitter.h"

#include <algorithm>

namespace planc::diag {

namespace {

/// Names longer than this are never a slip of another; keeps the table small.
constexpr std::size_t kMaxNameLength = 64;

} // namespace

std::size_t editDistance(std::string_view a, std::string_view b) {
  // Three rows of the table of optimal string alignment: row[j] is the distance
  // of a[0, i) and b[0, j).
  std::vector<std::size_t> beforeLast(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    std::swap(beforeLast, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string_view>
nearestName(std::string_view name,
            const std::vector<std::string_view> &candidates) {
  if (name.empty() || name.size() > kMaxNameLength)
    return std::nullopt;
  std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
  std::optional<std::string_view> best;
  for (std::string_view candidate : candidates) {
    if (candidate == name || candidate.size() > name.size() + limit ||
        name.size() > candidate.size() + limit)
      continue;
    std::size_t distance = editDistance(name, candidate);
    // A name all of whose letters would change is not near.
    if (distance > limit || distance >= candidate.size())
      continue;
    best = candidate;
    if (distance == 0)
      return best;
    limit = distance - 1;
  }
  return best;
}

} // namespace planc::diag
