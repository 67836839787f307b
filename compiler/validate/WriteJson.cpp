#include "compiler/validate/Writers.h"
#include "runtime/report/JsonWriter.h"

namespace planc::validate {

namespace {

using report::Json;

void optional(Json &json, std::string_view key,
              const std::optional<double> &value) {
  if (value)
    json.number(key, *value);
  else
    json.raw(key, "null");
}

/// Nothing compared is not nothing wrong: `null`.
void errors(Json &json, const ErrorSummary &summary) {
  const auto number = [&](std::string_view key, double value) {
    optional(json, key,
             summary.count > 0 ? std::optional(value) : std::nullopt);
  };
  number("median_abs_error", summary.median);
  number("mean_abs_error", summary.mean);
  number("p90_abs_error", summary.p90);
  number("worst_abs_error", summary.worst);
  number("median_error", summary.bias);
}

void summary(Json &json, const ErrorSummary &summary) {
  json.integer("rows", static_cast<std::int64_t>(summary.count));
  errors(json, summary);
}

void measured(Json &json, std::string_view name,
              const std::optional<Measured> &value) {
  if (!value)
    return;
  json.object(name, [&] {
    json.number("predicted", value->predicted);
    json.number("measured", value->measured);
    json.text("measured_by", value->by);
    json.number("error", value->error());
  });
}

void head(Json &json, const RowResult &row) {
  for (Column column : {Column::Id, Column::Source, Column::Reference,
                        Column::Tier, Column::Split, Column::Framework})
    json.text(nameOf(column), row.row.text(column));
  if (const auto year = row.row.count(Column::Year))
    json.integer("year", *year);
  if (const auto count = row.row.count(Column::Accelerators))
    json.integer("accelerators", *count);
}

void expressed(Json &json, const RowResult &row) {
  head(json, row);
  json.text("accelerator", row.accelerator);
  json.text("parallelism", row.parallelism);
  json.number("predicted_step_s", row.stepSeconds);
  if (row.step) {
    json.number("measured_step_s", row.step->measured);
    json.text("measured_by", row.step->by);
    json.number("error", row.step->error());
  }
  json.number("predicted_mfu", row.mfu);
  optional(json, "measured_mfu", row.mfuMeasured);
  measured(json, "memory_gib", row.memory);
  measured(json, "activations_gib", row.activations);
  measured(json, "layer_forward_s", row.layerForward);
  measured(json, "layer_backward_s", row.layerBackward);
  json.text("fit", row.fit);
  json.texts("assumed", row.notes);
  json.object("waterfall", [&] {
    for (std::size_t i = 0; i < report::kCauseCount; ++i)
      json.number(report::keyOf(static_cast<report::Cause>(i)),
                  row.waterfall[i]);
  });
}

} // namespace

std::string toJson(const Validation &all) {
  std::vector<RowResult const *> shown, left;
  for (const RowResult &row : all.rows)
    (row.isExpressed() ? shown : left).push_back(&row);
  return report::written([&](Json &json) {
    json.integer("schema_version", report::kSchemaVersion);
    errors(json, all.step);
    optional(json, "rank_correlation", all.rankCorrelation);
    optional(json, "rank_correlation_mfu", all.rankCorrelationMfu);
    json.integer("compared", static_cast<std::int64_t>(all.step.count));
    json.integer("not_expressed_count", static_cast<std::int64_t>(left.size()));
    json.object("memory", [&] { summary(json, all.memory); });
    json.object("activations", [&] { summary(json, all.activations); });
    json.object("layers", [&] { summary(json, all.layers); });
    json.array("groups", all.groups, [&](const Group &group) {
      json.text("by", group.by);
      json.text("name", group.name);
      summary(json, group.step);
      optional(json, "rank_correlation", group.tau);
      json.object("memory", [&] { summary(json, group.memory); });
    });
    json.array("rows", shown,
               [&](const RowResult *row) { expressed(json, *row); });
    json.array("not_expressed", left, [&](const RowResult *row) {
      head(json, *row);
      json.text("reason", row->reason);
    });
  });
}

} // namespace planc::validate
