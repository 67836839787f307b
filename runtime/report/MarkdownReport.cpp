#include "runtime/report/NumberText.h"
#include "runtime/report/RankTime.h"
#include "runtime/report/Writers.h"

#include <fmt/format.h>

namespace planc::report {

namespace {

/// The same between backticks.
std::string code(std::string_view text) {
  std::string out;
  for (char c : oneLine(text)) {
    if (c == '`')
      continue;
    if (c == '|')
      out.push_back('\\');
    out.push_back(c);
  }
  return "`" + out + "`";
}

std::string percent(double fraction) { return percentage(fraction) + " %"; }

std::string headOf(const Report &report) {
  const Planned &planned = report.planned;
  std::string mesh;
  for (const Planned::Axis &axis : planned.mesh)
    mesh += fmt::format("{}{} {}", mesh.empty() ? "" : " · ", cell(axis.name),
                        grouped(axis.size));
  return fmt::format(
      "### {}: {} on {} × {}\n\n{}{}{} × {} tokens in {} micro-batches{}\n\n",
      cell(planned.plan), cell(planned.model), grouped(planned.accelerators),
      cell(planned.accelerator), mesh, mesh.empty() ? "" : "; ",
      grouped(planned.sequences), grouped(planned.sequenceLength),
      grouped(planned.microBatches),
      planned.schedule.empty() ? "" : "; " + cell(planned.schedule));
}

std::string choicesOf(const Planned &planned) {
  std::string out;
  for (const std::string &line : planned.recompute)
    out += fmt::format("- recompute {}\n", cell(line));
  if (planned.prefetch)
    out += fmt::format("- prefetch {}\n", *planned.prefetch);
  return out.empty() ? out : out + "\n";
}

std::string numbersOf(const Report &report) {
  const NamedPeak peak = report.printedPeak.value_or(report.peak);
  const MemoryReport &memory = report.memory;
  std::string out = "| | | |\n|---|---:|---|\n";
  out += fmt::format(
      "| step | {} | {} tokens/s, {} per accelerator |\n",
      durationText(report.stepTime), scaledCount(report.tokensPerSecond()),
      scaledCount(report.tokensPerSecond() /
                  static_cast<double>(report.planned.accelerators)));
  out += fmt::format(
      "| MFU | {} | exact, of {:.1f} TFLOP/s {}; full {}, 6nd {}; HFU {} |\n",
      percent(report.mfu(Convention::Exact)), peak.rate.toDouble() / 1e12,
      cell(peak.name), percent(report.mfu(Convention::Full)),
      percent(report.mfu(Convention::SixNd)),
      percent(report.hfu(Convention::Exact)));
  if (!memory.stages.empty())
    out += fmt::format("| memory | {} | of {} on {}: {}{} |\n",
                       bytesText(memory.peak()), bytesText(memory.capacity),
                       cell(memory.stages[memory.fullest].stage),
                       memory.fit == Fit::Fits    ? "fits"
                       : memory.fit == Fit::Tight ? "**tight**"
                                                  : "**does not fit**",
                       memory.remedy.empty() ? "" : "; " + cell(memory.remedy));
  return out + "\n";
}

std::string waterfallOf(const Report &report) {
  const auto permille =
      apportion(report.waterfall.rankTime, report.waterfall.total(), 1000);
  std::string out = "| where 100 % goes | % | |\n|---|---:|---|\n";
  for (std::size_t i = 0; i < kCauseCount; ++i)
    if (permille[i] != 0)
      out += fmt::format(
          "| {} | {:.1f} | {} |\n", wordsOf(static_cast<Cause>(i)),
          static_cast<double>(permille[i]) / 10.0, cell(report.reasons[i]));
  return out + "\n";
}

std::string ordersOf(const Report &report) {
  if (!report.orders)
    return "";
  const Orders &orders = *report.orders;
  std::string out = report.bubble
                        ? "| overlap | step | exposed | bubble | MFU | |\n"
                          "|---|---:|---:|---:|---:|---|\n"
                        : "| overlap | step | exposed | MFU | |\n"
                          "|---|---:|---:|---:|---|\n";
  const auto row = [&](std::string_view name, const OrderFigures &order,
                       const std::string &remark) {
    out += fmt::format(
        "| {} | {} | {} |{} {} | {} |\n", name, durationText(order.stepTime),
        durationText(perRank(order.exposed, report.planned.accelerators)),
        report.bubble
            ? " " + percent(ratio(order.bubble, order.spanRankTime)) + " |"
            : "",
        percent(report.mfuAt(order.stepTime)), remark);
  };
  row("program order", orders.program, "");
  row("framework", orders.framework, "bucket " + orders.frameworkBuckets);
  row("planc", orders.chosen,
      percent(orders.aboveBound()) + " above the bound");
  if (report.withoutReduction)
    row("planc without", report.withoutReduction->figures,
        "in-network reduction at " + cell(report.withoutReduction->levels));
  const auto bound = [&](Duration step, std::string_view remark) {
    out += fmt::format("| lower bound | {} | |{} {} | {} |\n",
                       durationText(step), report.bubble ? " |" : "",
                       percent(report.mfuAt(step)), remark);
  };
  const bool two = orders.twoBounds();
  bound(orders.bound, two ? "passes in this order" : "");
  if (two)
    bound(orders.anyOrderBound, "passes in any order");
  return out + "\n";
}

std::string linesOf(const Report &report) {
  if (report.lines.empty())
    return "";
  std::string out = "| lines that cost most | | |\n|---|---|---|\n";
  for (const CostLine &line : report.lines)
    out += fmt::format(
        "| {}:{} | {} | {} {} |\n", cell(line.place.file), line.place.line,
        code(line.text),
        durationText(perRank(line.rankTime, report.planned.accelerators)),
        line.what);
  return out + "\n";
}

std::string stagesOf(const Report &report) {
  std::string out = "<details><summary>memory by stage</summary>\n\n"
                    "| stage | GiB | parameters | gradients | optimizer | "
                    "activations | other |\n"
                    "|---|---:|---:|---:|---:|---:|---:|\n";
  for (const StageMemory &stage : report.memory.stages) {
    const program::Memory &peak = stage.peak;
    const Bytes other =
        peak.gathered + peak.buffers + peak.logits + peak.workspace;
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(stage.stage),
                    gibibytes(peak.total()), gibibytes(peak.parameters),
                    gibibytes(peak.gradients), gibibytes(peak.optimizer),
                    gibibytes(peak.activations), gibibytes(other));
  }
  return out + "\n</details>\n";
}

std::string expectationsOf(const Report &report) {
  std::string out;
  for (const ExpectationResult &row : report.expectations) {
    using Verdict = ExpectationResult::Verdict;
    out += fmt::format("- {} {}\n", code(row.text),
                       row.verdict == Verdict::Holds   ? "holds"
                       : row.verdict == Verdict::Fails ? "**fails**"
                                                       : "**is unknown**");
  }
  return out.empty() ? out : out + "\n";
}

} // namespace

std::string toMarkdown(const Report &report) {
  return headOf(report) + choicesOf(report.planned) + numbersOf(report) +
         expectationsOf(report) + waterfallOf(report) + ordersOf(report) +
         linesOf(report) + stagesOf(report);
}

} // namespace planc::report
