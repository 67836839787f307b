#include "compiler/compare/DiffWriters.h"

#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::compare {

namespace {

constexpr std::size_t kMostRows = 40;

std::string changesOf(const PlanDiff &plan) {
  std::string out = "| changed | before | after | |\n|---|---|---|---|\n";
  std::size_t rows = 0;
  const auto shown = [](const std::string &text) {
    constexpr std::size_t kWidest = 120;
    return report::cell(report::shortened(text, kWidest));
  };
  for (const Change &change : plan.changes) {
    if (change.isDetail)
      continue;
    if (++rows > kMostRows)
      break;
    const std::string place =
        change.place.file.empty()
            ? ""
            : fmt::format("{}:{}", shown(change.place.file), change.place.line);
    out += fmt::format("| {} | {} | {} | {}{} |\n", shown(change.key),
                       shown(change.before), shown(change.after), place,
                       change.isFollowing ? " follows" : "");
  }
  return out + "\n";
}

std::string numbersOf(const PlanDiff &plan) {
  std::string out = "| | before → after | change |\n|---|---:|---:|\n";
  bool isAny = false;
  for (const Number &number : shownNumbers(plan)) {
    isAny = true;
    out += fmt::format("| {} | {} | {} |\n", report::cell(number.words),
                       pairText(number), changeText(number));
  }
  return isAny ? out + "\n" : "";
}

std::string becauseOf(const PlanDiff &plan) {
  const ShownCauses causes = shownCauses(plan);
  if (causes.rows.empty())
    return "";
  const std::vector<std::string> labels = labelsOf(plan);
  std::string out = "| because | step |", line = "|---|---:|";
  for (const std::string &label : labels) {
    out += fmt::format(" {} |", report::cell(label));
    line += "---:|";
  }
  out += "\n" + line + "\n";
  for (const ShownCause &row : causes.rows) {
    out += fmt::format("| {} | {} {} |", report::cell(row.words),
                       causes.scale.text(row.units), causes.scale.unit());
    for (std::int64_t part : row.byGroup)
      out += part == 0 ? " |" : fmt::format(" {} |", causes.scale.text(part));
    out += "\n";
  }
  out += "\n";
  for (const std::string &remark : remarksOf(plan))
    out += report::cell(remark) + "\n\n";
  return out;
}

std::string detailsOf(const PlanDiff &plan) {
  std::string out;
  std::size_t rows = 0;
  for (const Change &change : plan.changes)
    if (change.isDetail && ++rows <= kMostRows)
      out += fmt::format("| {} | {} | {} |\n", report::cell(change.key),
                         report::cell(report::shortened(change.before, 80)),
                         report::cell(report::shortened(change.after, 80)));
  return out.empty()
             ? ""
             : "| in detail | before | after |\n|---|---|---|\n" + out + "\n";
}

std::string planOf(const PlanDiff &plan) {
  std::string verdict;
  for (const std::string &piece : verdictOf(plan))
    verdict += (verdict.empty() ? "" : "; ") + report::cell(piece);
  std::string out =
      fmt::format("### {} in {}\n\n{}\n\n", report::cell(nameOf(plan)),
                  report::cell(fileOf(plan)), verdict);
  if (!plan.hasBoth() || plan.isSame())
    return out;
  if (!plan.changes.empty())
    out += changesOf(plan);
  const std::string rest =
      plan.oldReport() && plan.newReport()
          ? becauseOf(plan) + numbersOf(plan) + detailsOf(plan)
          : detailsOf(plan);
  if (!rest.empty())
    out += "<details><summary>why, and all numbers that changed</summary>\n\n" +
           rest + "</details>\n\n";
  return out;
}

} // namespace

std::string toMarkdown(const Diff &diff, const std::vector<Failed> &failed) {
  std::string out;
  if (diff.plans.empty())
    out += fmt::format("{}\n", kNoPlans);
  if (!failed.empty()) {
    out += "| fails | plan | |\n|---|---|---|\n";
    for (const Failed &one : failed)
      out += fmt::format("| {} | {} | {} |\n", report::cell(one.text),
                         report::cell(one.plan), report::cell(one.why));
    out += "\n";
  }
  constexpr std::size_t kLastLine = 200;
  std::size_t left = 0;
  for (const PlanDiff &plan : diff.plans) {
    const std::string text = planOf(plan);
    if (left != 0 || out.size() + text.size() + kLastLine > kMostMarkdown)
      ++left;
    else
      out += text;
  }
  if (left != 0)
    out += fmt::format("{} more plan{} not shown here.\n", left,
                       left == 1 ? " is" : "s are");
  return out;
}

} // namespace planc::compare
