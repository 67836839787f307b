#include "runtime/report/MeasuredRun.h"

#include "runtime/report/JsonWriter.h"

#include <fmt/format.h>

#include <array>

namespace planc::report {

namespace {

enum class Hardware { Plan, Third, Within };

struct CountInfo {
  std::string_view key, words, source;
  Hardware hardware;
  Int128 (*flops)(const ModelFlops &f);
};

constexpr std::array<CountInfo, kFlopCounts> kCounts = {{
#define PLANC_FLOP_COUNT(NAME, KEY, HARDWARE, FLOPS, WHAT, SOURCE)             \
  {KEY, WHAT, SOURCE, Hardware::HARDWARE,                                      \
   [](const ModelFlops &f) -> Int128 { return FLOPS; }},
#include "runtime/report/FlopCounts.def"
}};

const CountInfo &infoOf(FlopCount count) {
  return kCounts[static_cast<std::size_t>(count)];
}

std::string meshOf(const Planned &planned) {
  std::string mesh;
  for (const Planned::Axis &axis : planned.mesh)
    mesh += fmt::format("{}{} {}", mesh.empty() ? "" : " · ", axis.name,
                        grouped(axis.size));
  return mesh;
}

std::string peakText(const NamedPeak &peak) {
  return fmt::format("{} {}FLOP/s", peak.name,
                     scaledCount(peak.rate.toDouble()));
}

/// `12.3`, or a dash.
std::string share(const std::optional<double> &value) {
  return value ? percentage(*value) : "–";
}

} // namespace

std::string_view keyOf(FlopCount count) { return infoOf(count).key; }
std::string_view wordsOf(FlopCount count) { return infoOf(count).words; }
std::string_view sourceOf(FlopCount count) { return infoOf(count).source; }

std::optional<FlopCount> flopCountFromKey(std::string_view key) {
  for (std::size_t i = 0; i < kFlopCounts; ++i)
    if (kCounts[i].key == key)
      return static_cast<FlopCount>(i);
  return std::nullopt;
}

bool countsRecomputation(FlopCount count) {
  return infoOf(count).hardware == Hardware::Within;
}

Int128 flopsBy(FlopCount count, const ModelFlops &flops) {
  return infoOf(count).flops(flops);
}

Int128 hardwareFlopsBy(FlopCount count, const Report &report) {
  const Int128 flops = flopsBy(count, report.modelFlops);
  switch (infoOf(count).hardware) {
  case Hardware::Plan:
    return flops + report.recomputedFlops;
  case Hardware::Third:
    return report.recomputedFlops > 0 ? flops + flops / 3 : flops;
  case Hardware::Within:
    return flops;
  }
  return flops;
}

MeasuredRun measuredRun(const Report &report, Duration stepTime) {
  MeasuredRun run{report.planned,
                  stepTime,
                  report.stepTime,
                  report.printedPeak.value_or(report.peak),
                  {}};
  const double rankSeconds =
      toSeconds(stepTime) * static_cast<double>(report.planned.accelerators);
  const double perPeak = 1 / (rankSeconds * run.peak.rate.toDouble());
  for (std::size_t i = 0; i < kFlopCounts; ++i) {
    MeasuredRun::Row row;
    row.count = static_cast<FlopCount>(i);
    row.flops = flopsBy(row.count, report.modelFlops);
    row.hardwareFlops = hardwareFlopsBy(row.count, report);
    row.flopsPerSecond = static_cast<double>(row.flops) / rankSeconds;
    if (!countsRecomputation(row.count))
      row.mfu = static_cast<double>(row.flops) * perPeak;
    row.hfu = static_cast<double>(row.hardwareFlops) * perPeak;
    run.rows.push_back(row);
  }
  return run;
}

std::string toText(const MeasuredRun &run) {
  const Planned &planned = run.planned;
  std::string out =
      fmt::format("{}: {} on {} × {}   {}   {} × {} tokens\n"
                  "step {} as measured, {} as predicted   peak {}\n\n"
                  "counted as      TFLOP/s   MFU %   HFU %   what\n",
                  oneLine(planned.plan), oneLine(planned.model),
                  grouped(planned.accelerators), oneLine(planned.accelerator),
                  meshOf(planned), grouped(planned.sequences),
                  grouped(planned.sequenceLength), durationText(run.stepTime),
                  durationText(run.predicted), peakText(run.peak));
  for (const MeasuredRun::Row &row : run.rows)
    out += fmt::format("{:<14}{}{}{}   {}\n", keyOf(row.count),
                       padded(threeDigits(row.flopsPerSecond / 1e12), 9),
                       padded(share(row.mfu), 8), padded(share(row.hfu), 8),
                       wordsOf(row.count));
  return out;
}

std::string toJson(const MeasuredRun &run) {
  return written([&](Json &json) {
    json.integer("schema_version", kSchemaVersion);
    json.text("plan", run.planned.plan);
    json.text("model", run.planned.model);
    json.text("cluster", run.planned.cluster);
    json.integer("accelerators", run.planned.accelerators);
    json.seconds("step_time_s", run.stepTime);
    json.seconds("predicted_step_time_s", run.predicted);
    json.object("peak", [&] {
      json.text("name", run.peak.name);
      json.integer("flops_per_s", run.peak.rate.value);
    });
    json.array("conventions", run.rows, [&](const MeasuredRun::Row &row) {
      json.text("name", keyOf(row.count));
      json.text("counts", wordsOf(row.count));
      json.text("source", sourceOf(row.count));
      json.integer("flops", row.flops);
      json.integer("hardware_flops", row.hardwareFlops);
      json.number("flops_per_s_per_accelerator", row.flopsPerSecond);
      if (row.mfu)
        json.number("mfu", *row.mfu);
      else
        json.raw("mfu", "null");
      json.number("hfu", row.hfu);
    });
  });
}

std::string toMarkdown(const MeasuredRun &run) {
  std::string out = fmt::format(
      "`{}` in {} a step, against {} (predicted: {}).\n\n"
      "| counted as | TFLOP/s | MFU | HFU | what |\n|---|---:|---:|---:|---|\n",
      oneLine(run.planned.plan), durationText(run.stepTime), peakText(run.peak),
      durationText(run.predicted));
  for (const MeasuredRun::Row &row : run.rows)
    out += fmt::format("| {} | {} | {} | {} | {} |\n", keyOf(row.count),
                       threeDigits(row.flopsPerSecond / 1e12),
                       row.mfu ? share(row.mfu) + " %" : "–",
                       share(row.hfu) + " %", wordsOf(row.count));
  return out;
}

} // namespace planc::report
