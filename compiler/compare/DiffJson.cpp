#include "compiler/compare/DiffWriters.h"

#include "runtime/report/JsonWriter.h"

namespace planc::compare {

namespace {

using report::Json;

void side(Json &json, std::string_view key, const std::string &name,
          const driver::Session *session) {
  if (session == nullptr) {
    json.raw(key, "null");
    return;
  }
  json.object(key, [&] {
    json.text("plan", name);
    json.text("status", statusOf(session));
    if (const report::Report *report = session->report()) {
      json.text("file", report->planned.place.file);
      json.integer("line", report->planned.place.line);
      json.seconds("step_time_s", report->stepTime);
    }
  });
}

void change(Json &json, const Change &change) {
  json.text("key", change.key);
  json.text("before", change.before);
  json.text("after", change.after);
  json.text("file", change.place.file);
  json.integer("line", change.place.line);
  json.text("unit", change.unit);
  json.boolean("follows", change.isFollowing);
  json.boolean("detail", change.isDetail);
}

void value(Json &json, std::string_view key, std::optional<double> value) {
  if (value)
    json.number(key, *value);
  else
    json.raw(key, "null");
}

void number(Json &json, const Number &number) {
  json.text("key", number.key);
  value(json, "before", number.before);
  value(json, "after", number.after);
  const bool isBoth = number.before && number.after;
  value(json, "change", isBoth ? std::optional(number.change()) : std::nullopt);
}

} // namespace

std::string toJson(const Diff &diff, const std::vector<Failed> &failed) {
  return report::written([&](Json &json) {
    json.integer("schema_version", report::kSchemaVersion);
    json.array("plans", diff.plans, [&](const PlanDiff &plan) {
      side(json, "old", plan.oldName, plan.before);
      side(json, "new", plan.newName, plan.after);
      json.boolean("same", plan.isSame());
      json.array("changed", plan.changes,
                 [&](const Change &row) { change(json, row); });
      json.array("numbers", plan.numbers,
                 [&](const Number &row) { number(json, row); });
      json.array("groups", plan.groups, [&](const GroupChange &group) {
        json.texts("units", group.units);
        json.seconds("step_time_s", Duration(group.picoseconds));
      });
      json.array("because", plan.because, [&](const CauseChange &row) {
        json.text("cause", report::keyOf(row.cause));
        json.seconds("step_time_s", Duration(row.picoseconds));
        std::size_t g = 0;
        json.array("parts", row.byGroup, [&](std::int64_t part) {
          json.texts("units", plan.groups[g++].units);
          json.seconds("step_time_s", Duration(part));
        });
      });
      json.text("orders", plan.isEveryOrder ? "all" : "one and its reverse");
    });
    json.array("failed", failed, [&](const Failed &one) {
      json.text("plan", one.plan);
      json.text("threshold", one.text);
      json.text("why", one.why);
    });
  });
}

} // namespace planc::compare
