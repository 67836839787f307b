#include "compiler/compare/DiffWriters.h"

#include "runtime/report/Page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace planc::compare {

using report::Mark;
using report::Page;

namespace {

constexpr std::size_t kKeyColumn = report::kValueColumn, kTextColumn = 38,
                      kPlaceColumn = 66, kNumberEnd = 46, kGroupColumn = 50;
constexpr std::size_t kMostChanges = 40;

class Writer {
public:
  explicit Writer(Page &page) : page_(page) {}

  /// Has more to say than its first line.
  static bool isLong(const PlanDiff &plan) {
    return plan.hasBoth() && !plan.changes.empty();
  }

  void plan(const PlanDiff &plan) {
    head(plan);
    if (isLong(plan)) {
      changes(plan);
      because(plan);
      numbers(plan);
    }
  }

private:
  void head(const PlanDiff &plan) {
    const std::string name =
        report::shortened(report::oneLine(nameOf(plan)), report::kColumns / 2);
    page_.put(name).to(kKeyColumn, 4);
    std::size_t used = std::max(kKeyColumn, report::columnsOf(name) + 4);
    bool isFirst = true;
    for (const std::string &piece : verdictOf(plan)) {
      const std::size_t width = report::columnsOf(piece);
      if (!isFirst && used + width + 4 > report::kColumns) {
        page_.endLine();
        page_.to(kKeyColumn);
        used = kKeyColumn;
      } else if (!isFirst) {
        page_.to(used + 4, 4);
        used += 4;
      }
      page_.put(piece, markOf(plan, piece));
      used += width;
      isFirst = false;
    }
    page_.endLine();
  }

  /// Colour for the step alone: faster is good.
  static Mark markOf(const PlanDiff &plan, const std::string &piece) {
    if (plan.hasBoth() && plan.newReport() == nullptr)
      return Mark::Bad;
    if (!plan.oldReport() || !plan.newReport() || piece.rfind("step", 0) != 0)
      return Mark::None;
    const Duration before = plan.oldReport()->stepTime,
                   after = plan.newReport()->stepTime;
    return after < before   ? Mark::Good
           : before < after ? Mark::Bad
                            : Mark::None;
  }

  void section(std::string_view name) {
    if (name_ != name)
      page_.put(name);
    name_ = name;
    page_.to(kKeyColumn);
  }

  void changes(const PlanDiff &plan) {
    name_ = "";
    std::size_t shown = 0, left = 0;
    for (const Change &change : plan.changes) {
      if (change.isDetail)
        continue;
      if (++shown > kMostChanges) {
        ++left;
        continue;
      }
      section("changed");
      page_.put(report::shortened(report::oneLine(change.key), 40))
          .to(kTextColumn);
      const std::string text =
          fmt::format("{} → {}{}", report::oneLine(change.before),
                      report::oneLine(change.after),
                      change.isFollowing ? "  (follows)" : "");
      const std::string place =
          change.place.file.empty() ? "" : report::placeText(change.place);
      const std::size_t from =
          std::max(kTextColumn, kKeyColumn + report::columnsOf(change.key) + 2);
      const std::size_t room = report::kColumns - from;
      const bool isWide =
          report::columnsOf(text) + 2 +
              std::min<std::size_t>(report::columnsOf(place), 32) >
          room;
      page_.put(report::shortened(text, room));
      if (!place.empty() && !isWide)
        page_.to(kPlaceColumn)
            .put(report::shortenedAtStart(place, page_.room()), Mark::Name);
      page_.endLine();
      if (!place.empty() && isWide) {
        page_.to(kPlaceColumn)
            .put(report::shortenedAtStart(place, 34), Mark::Name);
        page_.endLine();
      }
    }
    if (left != 0) {
      page_.to(kKeyColumn).put(fmt::format("and {} more", left));
      page_.endLine();
    }
  }

  void because(const PlanDiff &plan) {
    const ShownCauses causes = shownCauses(plan);
    if (causes.rows.empty())
      return;
    const std::vector<std::string> labels = labelsOf(plan);
    name_ = "";
    for (const ShownCause &row : causes.rows) {
      section("because");
      page_.put(row.words);
      page_.right(fmt::format("{} {}", causes.scale.text(row.units),
                              causes.scale.unit()),
                  kNumberEnd);
      if (plan.groups.size() > 1)
        shares(causes.scale, row, labels);
      else if (!labels.empty())
        page_.to(kGroupColumn).put(labels[0]);
      page_.endLine();
    }
    for (const std::string &remark : remarksOf(plan))
      for (const std::string &line :
           report::wrapped(remark, report::kColumns - kKeyColumn)) {
        page_.to(kKeyColumn).put(line);
        page_.endLine();
      }
  }

  /// The largest first, in as many lines as it takes.
  void shares(const TimeScale &scale, const ShownCause &row,
              const std::vector<std::string> &labels) {
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < labels.size(); ++g)
      if (row.byGroup[g] != 0)
        order.push_back(g);
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return std::abs(row.byGroup[a]) > std::abs(row.byGroup[b]);
        });
    page_.to(kGroupColumn);
    bool isFirst = true;
    for (std::size_t g : order) {
      const std::string text =
          fmt::format("{} {}", labels[g], scale.text(row.byGroup[g]));
      if (!isFirst && report::columnsOf(text) + 3 > page_.room()) {
        page_.endLine();
        page_.to(kGroupColumn);
        isFirst = true;
      }
      page_.to(0, isFirst ? 0 : 3).put(text);
      isFirst = false;
    }
  }

  void numbers(const PlanDiff &plan) {
    if (!plan.oldReport() || !plan.newReport())
      return;
    name_ = "";
    for (const Number &number : shownNumbers(plan)) {
      section("numbers");
      page_.put(number.words).to(kTextColumn).put(pairText(number));
      page_.to(kPlaceColumn).put(changeText(number));
      page_.endLine();
    }
  }

  Page &page_;
  std::string_view name_;
};

} // namespace

std::string toText(const Diff &diff, const std::vector<Failed> &failed,
                   report::Color color) {
  Page page(color);
  bool isFirst = true, wasLong = false;
  const bool withFiles = hasSeveralFiles(diff);
  std::string file;
  if (diff.plans.empty()) {
    page.put(kNoPlans);
    page.endLine();
  }
  for (const PlanDiff &plan : diff.plans) {
    if (withFiles && fileOf(plan) != file && plan.after) {
      if (!isFirst)
        page.endLine();
      file = fileOf(plan);
      page.put(
          report::shortenedAtStart(report::oneLine(file), report::kColumns),
          Mark::Name);
      page.endLine();
      isFirst = true;
      wasLong = false;
    }
    const bool isLong = Writer::isLong(plan);
    if (!isFirst && (isLong || wasLong))
      page.endLine();
    Writer(page).plan(plan);
    isFirst = false;
    wasLong = isLong;
  }
  if (!failed.empty())
    page.endLine();
  for (const Failed &one : failed) {
    page.put("fails", Mark::Bad).to(kKeyColumn);
    page.put(report::oneLine(one.text)).to(kTextColumn);
    page.put(fmt::format("{}: {}", report::oneLine(one.plan), one.why));
    page.endLine();
  }
  return page.take();
}

} // namespace planc::compare
