#include "compiler/compare/DiffWriters.h"

#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace planc::compare {

namespace {

const Number *find(const PlanDiff &plan, std::string_view key) {
  for (const Number &number : plan.numbers)
    if (number.key == key)
      return &number;
  return nullptr;
}

std::string fitWords(const report::Report &report) {
  const report::MemoryReport &memory = report.memory;
  const Bytes slack = memory.slack();
  switch (memory.fit) {
  case report::Fit::Fits:
    return "";
  case report::Fit::Tight:
    return fmt::format(", tight: {} above the reserve",
                       report::bytesText(slack));
  case report::Fit::DoesNotFit:
    return memory.hostOverflows() && slack.value >= 0
               ? ", does not fit on the host"
               : fmt::format(", does not fit: {} too much",
                             report::bytesText(Bytes(-slack.value)));
  }
  return "";
}

std::string piece(const PlanDiff &plan, std::string_view key,
                  std::string_view words) {
  const Number *number = find(plan, key);
  if (number == nullptr)
    return "";
  if (!number->isChanged())
    return fmt::format("{} {}", words, textOf(number->form, *number->after));
  const std::string by = changeText(*number);
  return fmt::format("{} {}{}", words, pairText(*number),
                     by.empty() || number->form == Form::Share
                         ? ""
                         : fmt::format(" ({})", by));
}

/// Of the side that can be run.
std::string single(const report::Report &report) {
  return fmt::format(
      "step {}    MFU {} %    memory {}{}",
      report::durationText(report.stepTime),
      report::percentage(report.ownMfu(report::Convention::Exact)),
      report::bytesText(report.memory.peak()), fitWords(report));
}

std::string withStatus(std::string_view what, const driver::Session *session) {
  const report::Report *report = session->report();
  if (report != nullptr)
    return fmt::format("{}    {}", what, single(*report));
  return fmt::format("{}, {}", what, statusOf(session));
}

} // namespace

std::string_view statusOf(const driver::Session *session) {
  return session == nullptr ? "none" : driver::statusOf(session->outcome());
}

std::string nameOf(const PlanDiff &plan) {
  // Of a file that has no plan to name.
  if (plan.oldName.empty() && plan.newName.empty())
    return fileOf(plan);
  if (plan.oldName.empty() || plan.oldName == plan.newName || !plan.after)
    return plan.after ? plan.newName : plan.oldName;
  return plan.newName.empty() ? plan.oldName
                              : plan.oldName + " → " + plan.newName;
}

std::string fileOf(const PlanDiff &plan) {
  const driver::Options &options =
      (plan.after ? plan.after : plan.before)->options();
  return options.reader ? options.root + options.file : options.file;
}

bool hasSeveralFiles(const Diff &diff) {
  return std::any_of(diff.plans.begin(), diff.plans.end(),
                     [&](const PlanDiff &plan) {
                       return plan.after && diff.plans.front().after &&
                              fileOf(plan) != fileOf(diff.plans.front());
                     });
}

std::vector<std::string> verdictOf(const PlanDiff &plan) {
  if (plan.before == nullptr)
    return {withStatus("new plan", plan.after)};
  if (plan.after == nullptr)
    return {withStatus("removed", plan.before)};
  const report::Report *before = plan.oldReport(), *after = plan.newReport();
  if (after == nullptr && before == nullptr)
    return {fmt::format("{} before and {} now", statusOf(plan.before),
                        statusOf(plan.after))};
  if (after == nullptr)
    return {fmt::format("now {}; it was    {}", statusOf(plan.after),
                        single(*before))};
  if (before == nullptr)
    return {fmt::format("was {}; now    {}", statusOf(plan.before),
                        single(*after))};
  if (plan.isSame())
    return {plan.oldName == plan.newName ? "no change"
                                         : "no change but of the name"};
  const bool isNumberless =
      before->memory.fit == after->memory.fit &&
      std::none_of(plan.numbers.begin(), plan.numbers.end(),
                   [](const Number &number) { return number.isChanged(); });
  std::vector<std::string> out;
  if (isNumberless)
    out.push_back("no number changes");
  for (const auto &[key, words] :
       {std::pair{"step_time", "step"}, {"mfu", "MFU"}, {"memory", "memory"}})
    if (std::string text = piece(plan, key, words); !text.empty())
      out.push_back(std::move(text));
  out.back() += fitWords(*after);
  return out;
}

std::vector<std::string> labelsOf(const PlanDiff &plan) {
  const auto shortOf = [](const std::string &unit) {
    return unit.substr(unit.rfind('.') + 1);
  };
  const auto isAlone = [&](const std::string &unit) {
    int same = 0;
    for (const GroupChange &group : plan.groups)
      for (const std::string &other : group.units)
        same += shortOf(other) == shortOf(unit);
    return same == 1;
  };
  std::vector<std::string> out;
  for (const GroupChange &group : plan.groups) {
    std::string label;
    constexpr std::size_t kMostShown = 3;
    for (std::size_t i = 0; i < std::min(group.units.size(), kMostShown); ++i) {
      const std::string &unit = group.units[i];
      label +=
          (label.empty() ? "" : "+") + (isAlone(unit) ? shortOf(unit) : unit);
    }
    if (group.units.size() > kMostShown)
      label += "+…";
    out.push_back(std::move(label));
  }
  return out;
}

std::vector<std::string> remarksOf(const PlanDiff &plan) {
  std::vector<std::string> out;
  for (const GroupChange &group : plan.groups) {
    if (group.units.size() < 2)
      continue;
    std::string units;
    for (const std::string &unit : group.units)
      units += (units.empty() ? "" : ", ") + unit;
    out.push_back(fmt::format(
        "applied together, since not every one can be alone: {}", units));
  }
  if (!plan.isEveryOrder)
    out.push_back("what each contributed is the mean of applying them in this "
                  "order and in its reverse");
  const Number *count = find(plan, "accelerators");
  if (plan.oldReport() && plan.newReport() && count && count->isChanged())
    out.push_back("causes are times of one accelerator, on average");
  return out;
}

ShownCauses shownCauses(const PlanDiff &plan) {
  std::int64_t largest = 0, total = 0;
  for (const CauseChange &row : plan.because) {
    largest = std::max(largest, std::abs(row.picoseconds));
    total += row.picoseconds;
  }
  const std::int64_t least = largest / 100; // smaller ones are others
  std::vector<const CauseChange *> large;
  CauseChange others{report::Cause::StepEnd, 0, Parts(plan.groups.size())};
  for (const CauseChange &row : plan.because) {
    if (std::abs(row.picoseconds) > least) {
      large.push_back(&row);
      continue;
    }
    others.picoseconds += row.picoseconds;
    for (std::size_t g = 0; g < row.byGroup.size(); ++g)
      others.byGroup[g] += row.byGroup[g];
  }
  std::stable_sort(large.begin(), large.end(), [](auto *a, auto *b) {
    return std::abs(a->picoseconds) > std::abs(b->picoseconds);
  });
  ShownCauses out{TimeScale(largest), {}};
  std::vector<std::int64_t> times;
  for (const CauseChange *row : large)
    times.push_back(row->picoseconds);
  times.push_back(others.picoseconds);
  const auto units = out.scale.rounded(times, out.scale.rounded(total));
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool isOther = i == large.size();
    const CauseChange &row = isOther ? others : *large[i];
    if (isOther && units[i] == 0)
      continue;
    out.rows.push_back(
        {isOther ? "others" : std::string(report::wordsOf(row.cause)), units[i],
         out.scale.rounded(row.byGroup, units[i])});
  }
  return out;
}

std::vector<Number> shownNumbers(const PlanDiff &plan) {
  std::vector<Number> out;
  const Number *mfu = find(plan, "mfu"), *count = find(plan, "accelerators");
  for (const Number &number : plan.numbers) {
    const bool isOnce =
        !(number.key == "hfu" && mfu && mfu->before == number.before &&
          mfu->after == number.after) &&
        !(number.key == "tokens_per_s_per_accelerator" && count &&
          !count->isChanged());
    const bool isSeen = !number.before || !number.after ||
                        number.form != Form::Share ||
                        textOf(number.form, *number.before) !=
                            textOf(number.form, *number.after);
    if (number.isChanged() && isOnce && isSeen)
      out.push_back(number);
  }
  return out;
}

namespace {

/// What the new plan expects of itself and does not keep.
void addExpectations(const PlanDiff &plan, std::vector<Failed> &out) {
  if (plan.newReport() == nullptr)
    return;
  for (const report::ExpectationResult &row : plan.newReport()->expectations) {
    if (row.verdict != report::ExpectationResult::Verdict::Fails)
      continue;
    const Number *number = find(plan, row.metric);
    out.push_back(
        {nameOf(plan), "expect " + row.text,
         fmt::format("it is {}", number ? textOf(number->form, row.found)
                                        : report::threeDigits(row.found))});
  }
}

} // namespace

std::vector<Failed> failuresOf(const Diff &diff,
                               const std::vector<Threshold> &thresholds) {
  std::vector<Failed> out;
  for (const PlanDiff &plan : diff.plans)
    addExpectations(plan, out);
  for (const PlanDiff &plan : diff.plans)
    for (const Threshold &threshold : thresholds)
      if (std::string why = failureOf(threshold, plan.numbers); !why.empty())
        out.push_back({nameOf(plan), threshold.text, std::move(why)});
  return out;
}

} // namespace planc::compare
