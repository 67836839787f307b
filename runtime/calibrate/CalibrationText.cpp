// What was fitted and how well, as text and as JSON.
#include "runtime/calibrate/Calibration.h"
#include "runtime/report/JsonWriter.h"
#include "runtime/report/Report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace planc::calibrate {

namespace {

using report::oneLine;

/// Signed percent of the measured time.
std::string off(double predicted, double measured) {
  return fmt::format("{:+.1f}", (predicted / measured - 1) * 100);
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

std::string timeText(double seconds) {
  return report::durationText(durationFromSeconds(seconds));
}

std::string_view wordsOf(FittedTable::Left left) {
  switch (left) {
  case FittedTable::Left::Nothing:
    return "nothing";
  case FittedTable::Left::Table:
    return "this log";
  case FittedTable::Left::EverySecondSize:
    return "every second size";
  }
  return "nothing";
}

std::string valueOf(const FittedConstant &constant, double value) {
  switch (constant.knob.grid) {
  case Grid::Share:
    return fmt::format("{:.1f} %", value * 100);
  case Grid::Bytes:
    return value >= 1e9   ? fmt::format("{:.3g} GB", value / 1e9)
           : value >= 1e6 ? fmt::format("{:.3g} MB", value / 1e6)
                          : fmt::format("{:.3g} kB", value / 1e3);
  case Grid::Time:
    return timeText(value);
  }
  return "";
}

std::string tableText(const FittedTable &t) {
  const LogTable &table = t.placed.table;
  std::string out = fmt::format(
      "\n{}: {} of {} x {}{}\n", oneLine(table.log), nameOf(table.test),
      t.placed.shape.groups, t.placed.shape.ranks,
      table.device.empty() ? "" : " " + oneLine(table.device));
  out += report::padded("size", 10) + report::padded("measured", 12) +
         report::padded("fitted", 12) + report::padded("off %", 9) +
         report::padded("before %", 10) + "   algorithm\n";
  for (const FittedRow &row : t.rows)
    out += report::padded(report::bytesText(Bytes(row.bytes)), 10) +
           report::padded(timeText(row.measured), 12) +
           report::padded(timeText(row.fitted), 12) +
           report::padded(off(row.fitted, row.measured), 9) +
           report::padded(off(row.before, row.measured), 10) + "   " +
           std::string(cost::toString(row.algorithm)) + "\n";
  if (t.fitted.rows > 0)
    out += fmt::format("from 1 MiB: mean {}, worst {}; before: mean {}, worst "
                       "{}\n",
                       percent(t.fitted.mean), percent(t.fitted.worst),
                       percent(t.before.mean), percent(t.before.worst));
  if (t.left != FittedTable::Left::Nothing)
    out += fmt::format("with {} left out: mean {}, worst {}\n", wordsOf(t.left),
                       percent(t.heldOut.mean), percent(t.heldOut.worst));
  return out;
}

Misfit overall(const Calibration &calibration, Misfit FittedTable::*which) {
  Misfit out;
  for (const FittedTable &table : calibration.tables) {
    const Misfit &one = table.*which;
    out.mean += one.mean * static_cast<double>(one.rows);
    out.worst = std::max(out.worst, one.worst);
    out.rows += one.rows;
  }
  out.mean /= static_cast<double>(std::max<std::int64_t>(1, out.rows));
  return out;
}

void misfitJson(report::Json &json, std::string_view key, const Misfit &m) {
  json.object(key, [&] {
    json.number("mean_abs_error", m.mean);
    json.number("worst_abs_error", m.worst);
    json.integer("rows", m.rows);
  });
}

void tableJson(report::Json &json, const FittedTable &t) {
  const LogTable &table = t.placed.table;
  json.text("log", table.log);
  json.text("collective", nameOf(table.test));
  json.text("device", table.device);
  json.integer("groups", t.placed.shape.groups);
  json.integer("ranks_of_group", t.placed.shape.ranks);
  misfitJson(json, "fitted", t.fitted);
  misfitJson(json, "before", t.before);
  json.text("left_out", wordsOf(t.left));
  if (t.left != FittedTable::Left::Nothing)
    misfitJson(json, "held_out", t.heldOut);
  json.array("rows", t.rows, [&](const FittedRow &row) {
    json.integer("bytes", row.bytes);
    json.number("measured_s", row.measured);
    json.number("fitted_s", row.fitted);
    json.number("before_s", row.before);
    json.text("algorithm", cost::toString(row.algorithm));
  });
}

} // namespace

std::string toText(const Calibration &calibration) {
  std::string out =
      fmt::format("fitted, beginning with {}\n", oneLine(calibration.base));
  for (const FittedConstant &c : calibration.constants)
    out += fmt::format("  {:<8} {:<21}{}   before {}{}\n",
                       oneLine(calibration.cluster.levels[c.level].name),
                       c.knob.name, report::padded(valueOf(c, c.value), 10),
                       valueOf(c, c.before), c.isTold ? "" : "   (not told)");
  for (const FittedTable &table : calibration.tables)
    out += tableText(table);
  const Misfit fitted = overall(calibration, &FittedTable::fitted);
  const Misfit before = overall(calibration, &FittedTable::before);
  const Misfit held = overall(calibration, &FittedTable::heldOut);
  out += fmt::format("\nall rows from 1 MiB: mean error {}; before {}",
                     percent(fitted.mean), percent(before.mean));
  if (held.rows > 0)
    out += fmt::format("; held out {}", percent(held.mean));
  out += "\n";
  for (const std::string &note : calibration.notes)
    out += "note: " + oneLine(note) + "\n";
  return out;
}

std::string toJson(const Calibration &calibration) {
  return report::written([&](report::Json &json) {
    json.integer("schema_version", report::kSchemaVersion);
    json.text("base", calibration.base);
    misfitJson(json, "fitted", overall(calibration, &FittedTable::fitted));
    misfitJson(json, "before", overall(calibration, &FittedTable::before));
    misfitJson(json, "held_out", overall(calibration, &FittedTable::heldOut));
    json.array("constants", calibration.constants,
               [&](const FittedConstant &c) {
                 json.text("level", calibration.cluster.levels[c.level].name);
                 json.text("name", c.knob.name);
                 json.number("value", c.value);
                 json.number("before", c.before);
                 json.boolean("told", c.isTold);
               });
    json.array("tables", calibration.tables,
               [&](const FittedTable &t) { tableJson(json, t); });
    json.texts("notes", calibration.notes);
  });
}

} // namespace planc::calibrate
