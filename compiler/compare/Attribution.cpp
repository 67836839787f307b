#include "compiler/compare/Attribution.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace planc::compare {

namespace {

constexpr Units kOne = 1;

class Attributor {
public:
  explicit Attributor(const Game &game) : game_(game) {
    known_.emplace(Units(0), game.before);
    known_.emplace(all(), game.after);
    for (std::size_t i = 0; i < game.units; ++i)
      groups_.push_back({i});
  }

  Attribution run() {
    while (const std::optional<Units> failed = firstFailure())
      join(*failed);
    return share();
  }

private:
  using Groups = std::vector<std::vector<std::size_t>>;

  Units all() const { return (kOne << game_.units) - 1; }
  bool isEveryOrder() const { return groups_.size() <= kAllOrders; }

  /// Units of the groups whose bits are set.
  Units unitsOf(Units groups) const {
    Units out = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups & kOne << g)
        for (std::size_t unit : groups_[g])
          out |= kOne << unit;
    return out;
  }

  /// Sets of groups that the mean needs, smaller ones first.
  std::vector<Units> needed() const {
    std::vector<Units> out;
    const std::size_t n = groups_.size();
    if (isEveryOrder()) {
      for (Units set = 0; set < kOne << n; ++set)
        out.push_back(set);
    } else {
      const Units whole = (kOne << n) - 1;
      for (std::size_t i = 0; i <= n; ++i) {
        out.push_back((kOne << i) - 1);            // the first i
        out.push_back(whole & ~((kOne << i) - 1)); // all but these
      }
    }
    std::stable_sort(out.begin(), out.end(), [](Units a, Units b) {
      return __builtin_popcountll(a) < __builtin_popcountll(b);
    });
    return out;
  }

  void play(const std::vector<Units> &sets) {
    std::vector<Units> asked;
    for (Units set : sets)
      if (const Units units = unitsOf(set);
          known_.count(units) == 0 &&
          std::find(asked.begin(), asked.end(), units) == asked.end())
        asked.push_back(units);
    if (asked.empty())
      return;
    std::vector<std::optional<Parts>> found = game_.play(asked);
    for (std::size_t i = 0; i < asked.size(); ++i)
      known_.emplace(asked[i], std::move(found[i]));
  }

  const std::optional<Parts> &at(Units groups) const {
    return known_.at(unitsOf(groups));
  }

  /// Of the sets that are needed; single groups before any other is tried.
  std::optional<Units> firstFailure() {
    const std::vector<Units> sets = needed();
    std::vector<Units> single;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      single.push_back(kOne << g);
    for (const std::vector<Units> &some : {single, sets}) {
      play(some);
      for (Units set : some)
        if (!at(set))
          return set;
    }
    return std::nullopt;
  }

  void join(Units failed) {
    std::vector<Units> wider;
    std::vector<std::size_t> lacks;
    std::size_t last = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (failed & kOne << g) {
        last = g;
      } else {
        lacks.push_back(g);
        wider.push_back(failed | kOne << g);
      }
    play(wider);
    std::size_t other = lacks.front();
    for (std::size_t i = wider.size(); i-- > 0;)
      if (at(wider[i]))
        other = lacks[i];
    std::vector<std::size_t> &into = groups_[std::min(last, other)];
    std::vector<std::size_t> &from = groups_[std::max(last, other)];
    into.insert(into.end(), from.begin(), from.end());
    std::sort(into.begin(), into.end());
    groups_.erase(groups_.begin() +
                  static_cast<std::ptrdiff_t>(std::max(last, other)));
  }

  /// What one group adds, times `denominator`, cause by cause.
  std::vector<Int128> weighed(std::size_t group) const {
    const std::size_t n = groups_.size();
    std::vector<Int128> out(game_.before.size());
    const auto add = [&](Units without, std::int64_t weight) {
      const Parts &from = *at(without), &to = *at(without | kOne << group);
      for (std::size_t c = 0; c < out.size(); ++c)
        out[c] += Int128(weight) * (Int128(to[c]) - from[c]);
    };
    if (!isEveryOrder()) {
      const Units before = (kOne << group) - 1, whole = (kOne << n) - 1;
      add(before, 1);
      add(whole & ~(before | kOne << group), 1);
      return out;
    }
    for (Units set = 0; set < kOne << n; ++set)
      if (!(set & kOne << group)) {
        const auto size = static_cast<std::size_t>(__builtin_popcountll(set));
        add(set, factorial(size) * factorial(n - size - 1));
      }
    return out;
  }

  static std::int64_t factorial(std::size_t n) {
    std::int64_t out = 1;
    for (std::size_t i = 2; i <= n; ++i)
      out *= static_cast<std::int64_t>(i);
    return out;
  }

  Attribution share() const {
    const std::size_t n = groups_.size(), causes = game_.before.size();
    Attribution out;
    out.isEveryOrder = isEveryOrder();
    std::vector<std::vector<Int128>> raw;
    for (std::size_t g = 0; g < n; ++g) {
      out.groups.push_back({groups_[g], Parts(causes)});
      raw.push_back(weighed(g));
    }
    const std::int64_t denominator = isEveryOrder() ? factorial(n) : 2;
    for (std::size_t c = 0; c < causes; ++c) {
      std::vector<Int128> parts;
      for (std::size_t g = 0; g < n; ++g)
        parts.push_back(raw[g][c]);
      const auto whole = shareOut(parts, denominator);
      for (std::size_t g = 0; g < n; ++g)
        out.groups[g].parts[c] = whole[g];
    }
    return out;
  }

  const Game &game_;
  Groups groups_;
  std::map<Units, std::optional<Parts>> known_; ///< by units, not groups
};

} // namespace

std::vector<std::int64_t> shareOut(std::span<const Int128> parts,
                                   Int128 denominator) {
  std::vector<std::int64_t> out;
  std::vector<Int128> remainders;
  Int128 missing = 0;
  for (Int128 part : parts) {
    Int128 whole = part / denominator, rest = part % denominator;
    if (rest < 0) {
      --whole;
      rest += denominator;
    }
    out.push_back(static_cast<std::int64_t>(whole));
    remainders.push_back(rest);
    missing += rest;
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return remainders[a] > remainders[b];
                   });
  missing /= denominator;
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing)
    ++out[order[i]];
  return out;
}

Attribution attribute(const Game &game) {
  if (game.units == 0)
    return {};
  return Attributor(game).run();
}

} // namespace planc::compare
