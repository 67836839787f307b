#include "runtime/report/Explanation.h"
#include "runtime/report/NumberText.h"
#include "runtime/report/Page.h"
#include "runtime/report/RankTime.h"

#include <fmt/format.h>

namespace planc::report {

namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kFirstEnd = 40, kSecondEnd = 50, kRemark = 53;

void write(Page &page, const std::string &sentence) {
  for (const std::string &line : wrapped(sentence, kColumns - kIndent)) {
    page.to(kIndent).put(line);
    page.endLine();
  }
}

std::string quoted(const std::string &name) {
  return "`" + oneLine(name) + "`";
}

void writeHead(Page &page, const Explanation &all) {
  const Planned &planned = all.planned;
  page.put(shortened(oneLine(planned.plan), 40)).to(kValueColumn);
  page.put(fmt::format("{} on {} × {}, a step of {}", oneLine(planned.model),
                       grouped(planned.accelerators),
                       oneLine(planned.accelerator),
                       durationText(all.stepTime)));
  const std::string place = placeText(planned.place);
  if (columnsOf(place) + 2 <= page.room())
    page.right(place, kColumns, Mark::Name);
  page.endLine();
  page.to(kValueColumn)
      .put(percentage(all.aboveBound) + " % above the lower bound");
  page.endLine();
}

void writePath(Page &page, const Explanation &all) {
  page.put(
      "what the step hangs on, each beginning when one before it had ended");
  page.endLine();
  for (const PathRow &row : all.path) {
    page.to(2).put(row.what).right(durationText(row.time), kFirstEnd);
    page.right(percentage(ratio(row.time.value, all.stepTime.value)) + " %",
               kSecondEnd);
    if (row.place.line > 0)
      page.to(kRemark).put(
          fmt::format("{}  {}", row.place.line, clauseText(row.text)));
    page.endLine();
  }
}

std::string timesText(std::int64_t times) {
  return times == 1 ? "once" : grouped(times) + " times";
}

void writeLargest(Page &page, const Exposure &exposure, std::int64_t ranks) {
  const Exposure::Largest &largest = exposure.largest;
  const Duration each = perRank(largest.rankTime, ranks);
  using Source = Exposure::Largest::Source;
  switch (largest.source) {
  case Source::Block:
    write(page,
          fmt::format("The largest part is {}, waited for {} a step, {} of the "
                      "{} in all: what comes next needs it.",
                      quoted(largest.name), timesText(largest.times),
                      durationText(each),
                      durationText(perRank(exposure.rankTime, ranks))));
    break;
  case Source::Message:
    write(page,
          fmt::format("The largest part is {} waiting for messages of {}, {} a "
                      "step.",
                      oneLine(largest.stage), oneLine(largest.name),
                      timesText(largest.times)));
    break;
  case Source::Collective:
    write(page, fmt::format("The largest part is {}, {} a step.",
                            largest.name.empty() ? "the meeting of all ranks"
                                                 : quoted(largest.name),
                            timesText(largest.times)));
    break;
  case Source::Reduce:
  case Source::Gather: {
    const bool isReduce = largest.source == Source::Reduce;
    write(page,
          fmt::format(
              "The {} bucket of {} that is waited for longest ({}, {}) leaves "
              "at {} and lands at {}; nothing is left to hide it after {}.",
              isReduce ? "gradient" : "parameter", oneLine(largest.stage),
              quoted(largest.name), bytesText(largest.bytes),
              durationText(largest.leaves), durationText(largest.lands),
              durationText(largest.uncovered)));
    if (largest.isBehind)
      write(page, "It leaves when the bucket before it has landed.");
    else if (isReduce)
      write(page, fmt::format("It leaves when its last gradient, {}, is there.",
                              quoted(largest.lastToCome)));
    break;
  }
  }
}

std::string wayText(const Way &way) {
  if (way.millionths == 0)
    return way.resource;
  return fmt::format("the {} were {} (is {})", oneLine(way.resource), way.needs,
                     way.has);
}

void writeExposure(Page &page, const Exposure &exposure,
                   const Explanation &all) {
  const std::int64_t ranks = all.planned.accelerators;
  page.to(2).put(fmt::format(
      "{}: {} of the step of a rank, {} %{}", program::toString(exposure.kind),
      durationText(perRank(exposure.rankTime, ranks)),
      percentage(ratio(exposure.rankTime, Int128(ranks) * all.stepTime.value)),
      exposure.over.empty() ? "" : ", over " + oneLine(exposure.over)));
  page.endLine();
  writeLargest(page, exposure, ranks);
  std::string ways;
  for (const Way &way : exposure.ways)
    ways +=
        (ways.empty() ? "It would be hidden if " : ", or if ") + wayText(way);
  if (!ways.empty())
    write(page, ways + ".");
  for (const NotEnough &tried : exposure.notEnough) {
    const double share = static_cast<double>(tried.millionths) / 1e6;
    write(page, fmt::format("With {} the {} {} of it would be left.",
                            share > 1 ? fmt::format("{:.0f} times", share)
                                      : fmt::format("{:.0f} % of", 100 * share),
                            oneLine(tried.resource), durationText(tried.left)));
  }
}

void writeSensitivities(Page &page, const Explanation &all) {
  page.put("one percent more of").right("changes the step by", kSecondEnd);
  page.endLine();
  for (const Sensitivity &row : all.sensitivities) {
    const std::string sign = row.change.value > 0 ? "+" : "";
    page.to(2).put(oneLine(row.resource));
    page.right(sign + durationText(row.change), kFirstEnd);
    page.right(fmt::format("{}{:.3f} %", sign,
                           100 * ratio(row.change.value, all.stepTime.value)),
               kSecondEnd);
    page.to(kRemark).put("now " + row.has);
    page.endLine();
  }
}

void writeChanges(Page &page, const Explanation &all) {
  page.put("what other words of the plan would do");
  page.endLine();
  for (const PlanChange &row : all.changes)
    write(page, fmt::format(
                    "`{}` shortens the step by {}, {} %.", oneLine(row.clauses),
                    durationText(Duration(0) - row.change),
                    percentage(ratio(-row.change.value, all.stepTime.value))));
  page.endLine();
}

} // namespace

std::string toText(const Explanation &all) {
  Page page(Color::Never);
  writeHead(page, all);
  page.endLine();
  writePath(page, all);
  page.endLine();
  page.put(all.exposures.empty()
               ? "no communication is exposed for a thousandth of the step"
               : "what communication is exposed, and what would hide it");
  page.endLine();
  for (const Exposure &exposure : all.exposures)
    writeExposure(page, exposure, all);
  if (all.isCut)
    write(page, "There were too many changes to try them all.");
  page.endLine();
  if (!all.changes.empty())
    writeChanges(page, all);
  writeSensitivities(page, all);
  return page.take();
}

} // namespace planc::report
