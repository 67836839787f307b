#include "runtime/report/NumberText.h"
#include "runtime/report/Page.h"
#include "runtime/report/RankTime.h"
#include "runtime/report/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace planc::report {

namespace {

constexpr std::size_t kDetailColumn = 24;
constexpr std::size_t kNumberEnd = 26;
constexpr std::size_t kBarColumn = 29;
constexpr std::size_t kBarCells = 20;
constexpr std::size_t kReasonColumn = 51;
constexpr std::size_t kCostColumn = 70;

std::string meshText(const Planned &planned) {
  std::string out;
  for (const Planned::Axis &axis : planned.mesh)
    out += fmt::format("{}{} {}", out.empty() ? "" : " · ", oneLine(axis.name),
                       grouped(axis.size));
  return out;
}

std::string batchText(const Planned &planned) {
  return fmt::format(
      "{} × {} tokens in {} micro-batch{}", grouped(planned.sequences),
      grouped(planned.sequenceLength), grouped(planned.microBatches),
      planned.microBatches == 1 ? "" : "es");
}

/// The parts on one line, or as many lines as they need.
void writeParts(Page &page, const std::vector<std::string> &parts) {
  std::size_t width = kValueColumn;
  for (const std::string &part : parts)
    width += columnsOf(part);
  const std::size_t gaps = parts.size() > 1 ? parts.size() - 1 : 1;
  const std::size_t spare = width < kColumns ? (kColumns - width) / gaps : 0;
  if (spare >= 2) {
    page.to(kValueColumn);
    for (std::size_t i = 0; i < parts.size(); ++i)
      page.to(0, i == 0 ? 0 : std::min<std::size_t>(spare, 5)).put(parts[i]);
    page.endLine();
    return;
  }
  for (const std::string &part : parts) {
    page.to(kValueColumn).put(part);
    page.endLine();
  }
}

/// What stages make again, as far as a few lines hold it.
void writeRecompute(Page &page, const Planned &planned) {
  constexpr std::size_t kMostLines = 4;
  std::size_t lines = 0, shown = 0;
  for (const std::string &choice : planned.recompute) {
    const std::vector<std::string> parts =
        wrapped("recompute " + oneLine(choice), kColumns - kValueColumn);
    if (lines > 0 && lines + parts.size() > kMostLines)
      break;
    for (const std::string &part : parts) {
      page.to(kValueColumn).put(part);
      page.endLine();
    }
    lines += parts.size();
    ++shown;
  }
  if (shown == planned.recompute.size())
    return;
  page.to(kValueColumn)
      .put(fmt::format("  and {} more groups of stages: --format json has all",
                       planned.recompute.size() - shown));
  page.endLine();
}

void writeHead(Page &page, const Planned &planned) {
  const std::string what =
      fmt::format("{} on {} × {}", oneLine(planned.model),
                  grouped(planned.accelerators), oneLine(planned.accelerator));
  page.put(shortened(oneLine(planned.plan), 40)).to(kValueColumn).put(what);
  const std::size_t used =
      std::max(kValueColumn, columnsOf(oneLine(planned.plan)) + 2) +
      columnsOf(what) + 2;
  if (used + 20 <= kColumns)
    page.right(shortenedAtStart(placeText(planned.place), kColumns - used),
               kColumns, Mark::Name);
  page.endLine();

  std::vector<std::string> parts;
  if (!planned.mesh.empty())
    parts.push_back(meshText(planned));
  parts.push_back(batchText(planned));
  if (!planned.schedule.empty())
    parts.push_back(planned.schedule);
  writeParts(page, parts);
  writeRecompute(page, planned);
  if (planned.prefetch) {
    page.to(kValueColumn).put(fmt::format("prefetch {}", *planned.prefetch));
    page.endLine();
  }
  if (planned.leftOver > 0) {
    page.to(kValueColumn)
        .put(fmt::format("{} accelerators of a group it reaches are left over",
                         grouped(planned.leftOver)));
    page.endLine();
  }
}

void writeSpeed(Page &page, const Report &report) {
  page.put("step").to(kValueColumn).put(durationText(report.stepTime));
  const double each = report.tokensPerSecond() /
                      static_cast<double>(report.planned.accelerators);
  page.to(kDetailColumn)
      .put(fmt::format("{} tokens/s, {} per accelerator",
                       scaledCount(report.tokensPerSecond()),
                       scaledCount(each)));
  page.endLine();

  const NamedPeak &peak = report.printedPeak.value_or(report.peak);
  const double achieved =
      report.modelFlopsPerSecondPerAccelerator(Convention::Exact);
  page.put("MFU").to(kValueColumn);
  page.put(percentage(report.mfu(Convention::Exact)) + " %").to(kDetailColumn);
  page.put(fmt::format("exact, {} of {:.1f} TFLOP/s {}",
                       threeDigits(achieved / 1e12),
                       peak.rate.toDouble() / 1e12, oneLine(peak.name)));
  const std::string others =
      fmt::format("full {} %   6nd {} %   HFU {} %",
                  percentage(report.mfu(Convention::Full)),
                  percentage(report.mfu(Convention::SixNd)),
                  percentage(report.hfu(Convention::Exact)));
  constexpr std::size_t kLeastGap = 2, kGap = 5;
  if (columnsOf(others) + kLeastGap <= page.room()) {
    page.to(0, std::min(kGap, page.room() - columnsOf(others)));
  } else {
    page.endLine();
    page.to(kDetailColumn);
  }
  page.put(others);
  page.endLine();
}

/// In the unit of the peak, which stands first in the line, left out.
std::string inUnitOf(Bytes peak, Bytes bytes) {
  const std::string first = bytesText(peak), text = bytesText(bytes);
  const std::size_t unit = first.rfind(' '), own = text.rfind(' ');
  return first.substr(unit) == text.substr(own) ? text.substr(0, own) : text;
}

std::string verdictText(const MemoryReport &memory) {
  const auto text = [&](Bytes bytes) { return inUnitOf(memory.peak(), bytes); };
  switch (memory.fit) {
  case Fit::Fits:
    return fmt::format("fits with {} {}", text(memory.slack()),
                       memory.reserve.value > 0 ? "above the reserve"
                                                : "to spare");
  case Fit::Tight:
    return fmt::format("tight: {} into the reserve of {}",
                       text(memory.peak() + memory.reserve - memory.capacity),
                       text(memory.reserve));
  case Fit::DoesNotFit:
    if (memory.slack() >= Bytes(0))
      return fmt::format("fits, its host does not: {} of {}",
                         text(memory.hostUsed), text(memory.hostCapacity));
    return fmt::format(
        "does not fit: {} too much{}", text(Bytes(0) - memory.slack()),
        memory.reserve.value > 0
            ? fmt::format(", {} usable", text(memory.capacity - memory.reserve))
            : "");
  }
  return "";
}

void writeMemory(Page &page, const MemoryReport &memory) {
  if (memory.stages.empty())
    return;
  const Bytes peak = memory.peak();
  const Mark mark = memory.fit == Fit::Fits ? Mark::Good : Mark::Bad;
  page.put("memory").to(kValueColumn).put(bytesText(peak));
  page.to(kDetailColumn)
      .put(fmt::format("of {} on {}, ", inUnitOf(peak, memory.capacity),
                       oneLine(memory.stages[memory.fullest].stage)))
      .put(verdictText(memory), mark);
  const auto emptiest = std::min_element(
      memory.stages.begin(), memory.stages.end(),
      [](auto &a, auto &b) { return a.peak.total() < b.peak.total(); });
  const std::string least = fmt::format("; {}: {}", oneLine(emptiest->stage),
                                        inUnitOf(peak, emptiest->peak.total()));
  if (emptiest->peak.total() < peak && columnsOf(least) <= page.room())
    page.put(least);
  page.endLine();
  if (memory.hostCapacity.value > 0) {
    const bool isIn = memory.hostUsed <= memory.hostCapacity;
    page.to(kDetailColumn)
        .put(fmt::format("{} of {} of each host", bytesText(memory.hostUsed),
                         bytesText(memory.hostCapacity)),
             isIn ? Mark::Good : Mark::Bad);
    page.endLine();
  }
  for (std::string_view rest = memory.remedy; !rest.empty();) {
    // `largest are …; less with …` takes two lines.
    const std::size_t end = std::min(rest.find_first_of("\n;"), rest.size());
    page.to(kDetailColumn).put(rest.substr(0, end));
    page.endLine();
    rest.remove_prefix(std::min(end + 1, rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
}

/// A bar of whole and eighth cells.
std::string barOf(std::int64_t permille, std::int64_t largest) {
  static constexpr std::string_view kEighths[] = {"",  "▏", "▎", "▍",
                                                  "▌", "▋", "▊", "▉"};
  const std::int64_t scale = std::max<std::int64_t>(largest, 400);
  const std::int64_t cells = static_cast<std::int64_t>(kBarCells);
  const std::int64_t eighths = std::max<std::int64_t>(
      (permille * cells * 8 + scale / 2) / scale, permille > 0 ? 1 : 0);
  std::string out;
  for (std::int64_t i = 0; i < eighths / 8; ++i)
    out += "█";
  return out += kEighths[eighths > 0 ? eighths % 8 : 0];
}

/// METRICS M4's last line: from the exact convention at the plan's own peak to
/// the printed peak.
void writeConversion(Page &page, const Report &report) {
  if (!report.printedPeak)
    return;
  page.to(2).put("at the printed peak");
  page.right(percentage(report.mfu(Convention::Exact)), kNumberEnd);
  page.to(kBarColumn)
      .put(fmt::format("MFU by {:.1f} TFLOP/s, not by {:.1f} of {}",
                       report.printedPeak->rate.toDouble() / 1e12,
                       report.peak.rate.toDouble() / 1e12, report.peak.name));
  page.endLine();
}

void writeWaterfall(Page &page, const Report &report) {
  const auto &parts = report.waterfall.rankTime;
  const std::vector<std::int64_t> permille =
      apportion(parts, report.waterfall.total(), 1000);
  const std::int64_t largest =
      *std::max_element(permille.begin(), permille.end());
  page.put("where 100 % goes");
  page.endLine();
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    if (permille[i] == 0)
      continue;
    page.to(2).put(wordsOf(static_cast<Cause>(i)));
    page.right(fmt::format("{:.1f}", static_cast<double>(permille[i]) / 10.0),
               kNumberEnd);
    page.to(kBarColumn).put(barOf(permille[i], largest));
    page.to(kReasonColumn).put(oneLine(report.reasons[i]));
    page.endLine();
  }
  writeConversion(page, report);
}

/// Three orders of the work, then the bounds, which say a step time only.
void writeOrders(Page &page, const Report &report) {
  if (!report.orders)
    return;
  constexpr std::size_t kColumn = 12, kRemark = 3;
  const Orders &orders = *report.orders;
  const auto row = [&](std::string_view name,
                       const std::vector<std::string> &cells) {
    page.to(name == "overlap" ? 0 : 2).put(name);
    for (std::size_t i = 0; i < cells.size(); ++i)
      page.right(cells[i], kNumberEnd + i * kColumn);
  };
  const auto figures = [&](std::string_view name, const OrderFigures &order) {
    std::vector<std::string> cells = {
        durationText(order.stepTime),
        durationText(perRank(order.exposed, report.planned.accelerators))};
    if (report.bubble)
      cells.push_back(percentage(ratio(order.bubble, order.spanRankTime)) +
                      " %");
    cells.push_back(percentage(report.mfuAt(order.stepTime)) + " %");
    row(name, cells);
  };
  std::vector<std::string> heads = {"step", "exposed", "bubble", "MFU"};
  if (!report.bubble)
    heads.erase(heads.begin() + 2);
  row("overlap", heads);
  page.endLine();
  figures("program order", orders.program);
  page.endLine();
  figures("framework", orders.framework);
  page.to(0, kRemark).put("bucket " + orders.frameworkBuckets);
  page.endLine();
  figures("planc", orders.chosen);
  page.to(0, kRemark)
      .put(
          fmt::format("{} % above the bound", percentage(orders.aboveBound())));
  page.endLine();
  if (report.withoutReduction) {
    figures("planc without", report.withoutReduction->figures);
    page.to(0, kRemark)
        .put("in-network reduction at " +
             oneLine(report.withoutReduction->levels));
    page.endLine();
  }
  const auto bound = [&](std::string_view name, Duration step,
                         std::string_view remark) {
    std::vector<std::string> cells = {durationText(step), "–", "–",
                                      percentage(report.mfuAt(step)) + " %"};
    if (!report.bubble)
      cells.erase(cells.begin() + 2);
    row(name, cells);
    if (!remark.empty())
      page.to(0, kRemark).put(remark);
    page.endLine();
  };
  const bool two = orders.twoBounds();
  bound("lower bound", orders.bound, two ? "passes in this order" : "");
  if (two)
    bound("", orders.anyOrderBound, "passes in any order");
}

void writeLines(Page &page, const Report &report) {
  if (report.lines.empty())
    return;
  page.put("lines that cost most");
  page.endLine();
  for (const CostLine &line : report.lines) {
    const bool here = line.place.file == report.planned.place.file;
    const Duration cost = perRank(line.rankTime, report.planned.accelerators);
    page.right(here ? std::to_string(line.place.line)
                    : shortenedAtStart(placeText(line.place), 24),
               4, Mark::Name);
    page.to(6).put(shortened(clauseText(line.text), 62)).to(kCostColumn);
    page.put(fmt::format("{} {}", durationText(cost), line.what));
    page.endLine();
  }
}

/// A value in the unit its metric is read in.
std::string metricText(std::string_view metric, double value) {
  if (metric == "memory")
    return bytesText(Bytes(std::llround(value)));
  if (metric == "step_time")
    return durationText(durationFromSeconds(value));
  if (metric == "mfu" || metric == "hfu" || metric == "bubble" ||
      metric == "exposed")
    return percentage(value) + " %";
  return scaledCount(value);
}

void writeExpectations(Page &page, const Report &report) {
  if (!report.expectations.empty())
    page.endLine();
  bool first = true;
  for (const ExpectationResult &row : report.expectations) {
    using Verdict = ExpectationResult::Verdict;
    page.put(first ? "expect" : "").to(kValueColumn);
    page.put(shortened(oneLine(row.text), 40)).to(kReasonColumn);
    if (row.verdict == Verdict::Unknown)
      page.put("no such metric", Mark::Bad);
    else if (row.verdict == Verdict::Holds)
      page.put("holds", Mark::Good)
          .put(", found " + metricText(row.metric, row.found));
    else
      page.put("fails", Mark::Bad)
          .put(", found " + metricText(row.metric, row.found));
    page.endLine();
    first = false;
  }
}

} // namespace

std::string toText(const Report &report, const TextOptions &options) {
  Page page(options.color);
  writeHead(page, report.planned);
  page.endLine();
  writeSpeed(page, report);
  writeMemory(page, report.memory);
  page.endLine();
  writeWaterfall(page, report);
  page.endLine();
  writeOrders(page, report);
  page.endLine();
  writeLines(page, report);
  writeExpectations(page, report);
  return page.take();
}

} // namespace planc::report
