#include "compiler/format/UnifiedDiff.h"

#include <algorithm>
#include <vector>

namespace planc::format {

namespace {

using Lines = std::vector<std::string_view>;

/// With their line breaks.
Lines linesOf(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

enum class Edit : char { Keep = ' ', Drop = '-', Add = '+' };

/// E. Myers, An O(ND) difference algorithm (1986): the furthest that d changes
/// reach on each diagonal, for d = 0, 1, …, then the way back.
class Myers {
public:
  Myers(const Lines &a, const Lines &b) : a_(a), b_(b) {}

  std::vector<Edit> run() {
    const std::size_t same = commonPrefix();
    out_.assign(same, Edit::Keep);
    begin_ = same;
    endA_ = a_.size();
    endB_ = b_.size();
    std::size_t tail = 0;
    while (endA_ > begin_ && endB_ > begin_ && a_[endA_ - 1] == b_[endB_ - 1])
      --endA_, --endB_, ++tail;
    if (!search())
      replaceAll();
    out_.insert(out_.end(), tail, Edit::Keep);
    return std::move(out_);
  }

private:
  static constexpr long kMaxChanges = 1500;

  std::size_t commonPrefix() const {
    const auto [a, b] =
        std::mismatch(a_.begin(), a_.end(), b_.begin(), b_.end());
    return static_cast<std::size_t>(a - a_.begin());
  }

  long sizeA() const { return static_cast<long>(endA_ - begin_); }
  long sizeB() const { return static_cast<long>(endB_ - begin_); }

  /// Along a diagonal as far as lines are equal.
  long slide(long x, long diagonal) const {
    while (x < sizeA() && x - diagonal < sizeB() &&
           a_[begin_ + static_cast<std::size_t>(x)] ==
               b_[begin_ + static_cast<std::size_t>(x - diagonal)])
      ++x;
    return x;
  }

  /// Where on the diagonal a change leads after those in `furthest`.
  static bool isAdded(const std::vector<long> &furthest, long k, long d,
                      long middle) {
    const auto at = [&](long diagonal) {
      return furthest[static_cast<std::size_t>(diagonal + middle)];
    };
    return k == -d || (k != d && at(k - 1) < at(k + 1));
  }

  bool search() {
    const long most = std::min(sizeA() + sizeB(), kMaxChanges);
    std::vector<std::vector<long>> trace;
    std::vector<long> furthest(3, 0);
    for (long d = 0; d <= most; ++d) {
      std::vector<long> next(static_cast<std::size_t>(2 * d + 3), 0);
      for (long k = -d; k <= d; k += 2) {
        long x = 0;
        if (d > 0) {
          const bool added = isAdded(furthest, k, d, d);
          x = furthest[static_cast<std::size_t>(added ? k + 1 + d
                                                      : k - 1 + d)] +
              (added ? 0 : 1);
        }
        x = slide(x, k);
        next[static_cast<std::size_t>(k + d + 1)] = x;
        if (x >= sizeA() && x - k >= sizeB()) {
          trace.push_back(std::move(next));
          goBack(trace, d, k);
          return true;
        }
      }
      trace.push_back(next);
      furthest = std::move(next);
    }
    return false;
  }

  void goBack(const std::vector<std::vector<long>> &trace, long d, long k) {
    std::vector<Edit> reversed;
    long x = sizeA();
    for (; d > 0; --d) {
      const std::vector<long> &before = trace[static_cast<std::size_t>(d - 1)];
      const bool added = isAdded(before, k, d, d);
      const long from = added ? k + 1 : k - 1;
      const long start =
          before[static_cast<std::size_t>(from + d)] + (added ? 0 : 1);
      reversed.insert(reversed.end(), static_cast<std::size_t>(x - start),
                      Edit::Keep);
      reversed.push_back(added ? Edit::Add : Edit::Drop);
      x = before[static_cast<std::size_t>(from + d)];
      k = from;
    }
    reversed.insert(reversed.end(), static_cast<std::size_t>(x), Edit::Keep);
    out_.insert(out_.end(), reversed.rbegin(), reversed.rend());
  }

  void replaceAll() {
    out_.insert(out_.end(), endA_ - begin_, Edit::Drop);
    out_.insert(out_.end(), endB_ - begin_, Edit::Add);
  }

  const Lines &a_, &b_;
  std::vector<Edit> out_;
  std::size_t begin_ = 0, endA_ = 0, endB_ = 0;
};

/// Edits to hunks.
class Writer {
public:
  Writer(const Lines &a, const Lines &b, const std::vector<Edit> &edits)
      : a_(a), b_(b), edits_(edits) {}

  std::string run() {
    for (std::size_t i = 0; i < edits_.size();) {
      if (edits_[i] == Edit::Keep) {
        advance(edits_[i++]);
        continue;
      }
      i = hunk(i);
    }
    return std::move(out_);
  }

private:
  static constexpr std::size_t kContext = 3;

  void advance(Edit edit) {
    atA_ += edit != Edit::Add;
    atB_ += edit != Edit::Drop;
  }

  /// One past the last edit of the hunk whose first change is at `change`.
  std::size_t endOf(std::size_t change) const {
    std::size_t end = change, kept = 0;
    for (std::size_t i = change; i < edits_.size() && kept <= 2 * kContext;
         ++i) {
      kept = edits_[i] == Edit::Keep ? kept + 1 : 0;
      if (kept == 0)
        end = i + 1;
    }
    return std::min(end + kContext, edits_.size());
  }

  std::size_t hunk(std::size_t change) {
    const std::size_t lead = std::min(std::min(kContext, atA_), atB_);
    const std::size_t begin = change - lead, end = endOf(change);
    atA_ -= lead;
    atB_ -= lead;
    const std::size_t firstA = atA_, firstB = atB_;
    std::string body;
    for (std::size_t i = begin; i < end; ++i) {
      body += static_cast<char>(edits_[i]);
      body += edits_[i] == Edit::Add ? b_[atB_] : a_[atA_];
      if (body.back() != '\n')
        body += "\n\\ No newline at end of file\n";
      advance(edits_[i]);
    }
    out_ += "@@ -" + range(firstA, atA_) + " +" + range(firstB, atB_) +
            " @@\n" + body;
    return end;
  }

  static std::string range(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    std::string out = std::to_string(count == 0 ? begin : begin + 1);
    if (count != 1)
      out += "," + std::to_string(count);
    return out;
  }

  const Lines &a_, &b_;
  const std::vector<Edit> &edits_;
  std::string out_;
  std::size_t atA_ = 0, atB_ = 0;
};

} // namespace

std::string unifiedDiff(std::string_view name, std::string_view before,
                        std::string_view after) {
  if (before == after)
    return "";
  const Lines a = linesOf(before), b = linesOf(after);
  const std::vector<Edit> edits = Myers(a, b).run();
  std::string out;
  for (std::string_view mark : {"--- ", "+++ "}) {
    out += mark;
    out += name;
    out += name.find(' ') == std::string_view::npos ? "\n" : "\t\n";
  }
  return out + Writer(a, b, edits).run();
}

} // namespace planc::format
