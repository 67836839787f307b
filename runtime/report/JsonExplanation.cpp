#include "runtime/report/Explanation.h"
#include "runtime/report/JsonWriter.h"
#include "runtime/report/RankTime.h"

namespace planc::report {

namespace {

using Source = Exposure::Largest::Source;

std::string_view keyOf(Source source) {
  switch (source) {
  case Source::Block:
    return "block";
  case Source::Message:
    return "message";
  case Source::Collective:
    return "collective";
  case Source::Reduce:
    return "reduce";
  case Source::Gather:
    return "gather";
  }
  return "";
}

void writeLargest(Json &json, const Exposure::Largest &largest,
                  std::int64_t ranks) {
  json.object("largest", [&] {
    json.text("source", keyOf(largest.source));
    json.text("name", largest.name);
    json.text("stage", largest.stage);
    json.seconds("exposed_s", perRank(largest.rankTime, ranks));
    json.integer("times", largest.times);
    if (largest.source != Source::Reduce && largest.source != Source::Gather)
      return;
    json.bytes("bytes", largest.bytes);
    json.seconds("leaves_s", largest.leaves);
    json.seconds("lands_s", largest.lands);
    json.seconds("uncovered_s", largest.uncovered);
    json.boolean("behind_another", largest.isBehind);
  });
}

void writeExposure(Json &json, const Exposure &exposure, std::int64_t ranks) {
  json.text("kind", program::toString(exposure.kind));
  json.text("over", exposure.over);
  json.seconds("exposed_s", perRank(exposure.rankTime, ranks));
  writeLargest(json, exposure.largest, ranks);
  json.array("hidden_if", exposure.ways, [&](const Way &way) {
    json.text("resource", way.resource);
    json.text("has", way.has);
    json.text("needs", way.needs);
    if (way.millionths > 0)
      json.number("factor", static_cast<double>(way.millionths) / 1e6);
    else
      json.raw("factor", "null");
  });
  json.array("not_enough", exposure.notEnough, [&](const NotEnough &tried) {
    json.text("resource", tried.resource);
    json.number("factor", static_cast<double>(tried.millionths) / 1e6);
    json.seconds("left_s", tried.left);
  });
}

} // namespace

std::string toJson(const Explanation &all) {
  return written([&](Json &json) {
    json.integer("schema_version", kSchemaVersion);
    json.text("status", all.status);
    json.text("plan", all.planned.plan);
    json.text("model", all.planned.model);
    json.text("cluster", all.planned.cluster);
    json.integer("accelerators", all.planned.accelerators);
    json.seconds("step_time_s", all.stepTime);
    json.array("critical_path", all.path, [&](const PathRow &row) {
      json.text("what", row.what);
      json.seconds("time_s", row.time);
      json.integer("parts", row.parts);
      json.text("file", row.place.file);
      json.integer("line", row.place.line);
    });
    json.array("exposed", all.exposures, [&](const Exposure &exposure) {
      writeExposure(json, exposure, all.planned.accelerators);
    });
    json.boolean("all_changes_tried", !all.isCut);
    json.array("plan_changes", all.changes, [&](const PlanChange &row) {
      json.text("clauses", row.clauses);
      json.seconds("change_s", row.change);
      json.number("change_fraction",
                  ratio(row.change.value, all.stepTime.value));
    });
    json.array("sensitivities", all.sensitivities, [&](const Sensitivity &row) {
      json.text("resource", row.resource);
      json.text("has", row.has);
      json.seconds("change_s", row.change);
      json.number("change_fraction",
                  ratio(row.change.value, all.stepTime.value));
    });
  });
}

} // namespace planc::report
