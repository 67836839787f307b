#include "runtime/report/JsonWriter.h"
#include "runtime/report/RankTime.h"
#include "runtime/report/Writers.h"

namespace planc::report {

namespace {

void writePlace(Json &json, const Place &place) {
  json.text("file", place.file);
  json.integer("line", place.line);
}

void writeHead(Json &json, const Report &report) {
  const Planned &planned = report.planned;
  json.integer("schema_version", kSchemaVersion);
  json.text("status", report.status());
  json.text("plan", planned.plan);
  json.text("model", planned.model);
  json.text("cluster", planned.cluster);
  json.text("accelerator", planned.accelerator);
  writePlace(json, planned.place);
  json.integer("accelerators", planned.accelerators);
  json.integer("accelerators_left_over", planned.leftOver);
  json.array("mesh", planned.mesh, [&](const Planned::Axis &axis) {
    json.text("axis", axis.name);
    json.integer("size", axis.size);
  });
  json.text("schedule", planned.schedule);
  json.texts("recompute", planned.recompute);
  if (planned.prefetch)
    json.integer("prefetch", *planned.prefetch);
  json.integer("sequences", planned.sequences);
  json.integer("sequence_length", planned.sequenceLength);
  json.integer("micro_batches", planned.microBatches);
  json.integer("parameters", planned.parameters);
  json.integer("active_parameters", planned.activeParameters);
}

template <class Value>
void writeConventions(Json &json, std::string_view key, Value value) {
  json.object(key, [&] {
    for (Convention convention : kConventions)
      json.number(toString(convention), value(convention));
  });
}

void writeSpeed(Json &json, const Report &report) {
  const double perSecond = report.tokensPerSecond();
  json.seconds("step_time_s", report.stepTime);
  json.number("tokens_per_s", perSecond);
  json.number("tokens_per_s_per_accelerator",
              perSecond / static_cast<double>(report.planned.accelerators));
  const auto achieved = [&](Convention convention) {
    return report.modelFlopsPerSecondPerAccelerator(convention) / 1e12;
  };
  json.number("model_tflops_per_accelerator", achieved(Convention::Exact));
  writeConventions(json, "model_tflops_per_accelerator_by_convention",
                   achieved);
  json.object("model_flops", [&] {
    for (Convention convention : kConventions)
      json.integer(toString(convention), report.modelFlops[convention]);
  });
  json.integer("recomputed_flops", report.recomputedFlops);
  writeConventions(json, "mfu", [&](Convention c) { return report.mfu(c); });
  writeConventions(json, "hfu", [&](Convention c) { return report.hfu(c); });
  const NamedPeak peak = report.printedPeak.value_or(report.peak);
  json.object("peak", [&] {
    json.text("name", peak.name);
    json.integer("flops_per_s", peak.rate.value);
  });
}

void writeBubble(Json &json, const Report &report) {
  if (!report.bubble) {
    json.raw("bubble", "null");
    return;
  }
  const Bubble &bubble = *report.bubble;
  json.object("bubble", [&] {
    json.number("fraction", ratio(bubble.rankTime, bubble.spanRankTime));
    json.number("span_fraction",
                ratio(bubble.ownIdle.value, bubble.ownSpan.value));
    if (bubble.formulaDenominator != 0) {
      json.number("formula_fraction",
                  ratio(bubble.formulaNumerator, bubble.formulaDenominator));
      json.text("formula", digits(bubble.formulaNumerator) + "/" +
                               digits(bubble.formulaDenominator));
    } else {
      json.raw("formula_fraction", "null");
      json.raw("formula", "null");
    }
    json.number("uneven_fraction", ratio(bubble.uneven, bubble.spanRankTime));
    json.number("share_of_step", ratio(bubble.rankTime, report.rankStepTime()));
  });
}

void writeCommunication(Json &json, const Report &report) {
  const std::int64_t ranks = report.planned.accelerators;
  json.array(
      "communication", report.communication, [&](const Communication &row) {
        json.text("kind", program::toString(row.kind));
        json.text("over", row.over);
        json.seconds("in_flight_s", perRank(row.inFlight, ranks));
        json.seconds("hidden_s", perRank(row.hidden(), ranks));
        json.seconds("exposed_s", perRank(row.exposed, ranks));
        json.seconds("exposed_at_least_s", perRank(row.exposedAtLeast, ranks));
        json.number("exposed_fraction",
                    ratio(row.exposed, report.rankStepTime()));
      });
}

void writeStage(Json &json, const StageMemory &stage) {
  json.text("stage", stage.stage);
  json.integer("ranks", stage.ranks);
  json.bytes("peak_bytes", stage.peak.total());
  json.bytes("parameters_bytes", stage.peak.parameters);
  json.bytes("gradients_bytes", stage.peak.gradients);
  json.bytes("optimizer_bytes", stage.peak.optimizer);
  json.bytes("activations_bytes", stage.peak.activations);
  json.bytes("gathered_bytes", stage.peak.gathered);
  json.bytes("buffers_bytes", stage.peak.buffers);
  json.bytes("logits_bytes", stage.peak.logits);
  json.bytes("workspace_bytes", stage.peak.workspace);
  if (stage.peak.host.value > 0)
    json.bytes("host_bytes", stage.peak.host);
}

void writeMemory(Json &json, const MemoryReport &memory) {
  json.object("memory", [&] {
    json.text("verdict", toString(memory.fit));
    json.bytes("peak_bytes", memory.peak());
    json.bytes("capacity_bytes", memory.capacity);
    json.bytes("reserve_bytes", memory.reserve);
    json.bytes("slack_bytes", memory.slack());
    json.text("remedy", memory.remedy);
    json.array("remedies", memory.fitting, [&](const Remedy &remedy) {
      json.text("change", remedy.change);
      json.bytes("peak_bytes", remedy.peak);
      json.seconds("step_time_s", remedy.stepTime);
    });
    if (memory.hostCapacity.value > 0) {
      json.bytes("host_capacity_bytes", memory.hostCapacity);
      json.bytes("host_bytes", memory.hostUsed);
    }
    json.array("stages", memory.stages,
               [&](const StageMemory &stage) { writeStage(json, stage); });
  });
}

/// Millionths that add up to a whole.
void writeWaterfall(Json &json, const Report &report) {
  const auto parts =
      apportion(report.waterfall.rankTime, report.waterfall.total(), 1'000'000);
  struct Row {
    Cause cause;
    std::int64_t parts;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kCauseCount; ++i)
    if (report.waterfall.rankTime[i] != 0)
      rows.push_back({static_cast<Cause>(i), parts[i]});
  json.array("waterfall", rows, [&](const Row &row) {
    json.text("cause", keyOf(row.cause));
    json.number("fraction", static_cast<double>(row.parts) / 1e6);
    json.seconds("time_s", perRank(report.waterfall[row.cause],
                                   report.planned.accelerators));
  });
}

void writeOrder(Json &json, std::string_view key, const Report &report,
                const OrderFigures &order) {
  const std::int64_t ranks = report.planned.accelerators;
  json.object(key, [&] {
    json.seconds("step_time_s", order.stepTime);
    json.seconds("exposed_s", perRank(order.exposed, ranks));
    json.number("exposed_fraction",
                ratio(order.exposed, Int128(ranks) * order.stepTime.value));
    if (report.bubble)
      json.number("bubble_fraction", ratio(order.bubble, order.spanRankTime));
    else
      json.raw("bubble_fraction", "null");
    json.number("mfu", report.mfuAt(order.stepTime));
  });
}

void writeOrders(Json &json, const Report &report) {
  if (!report.orders) {
    json.raw("orders", "null");
    return;
  }
  json.object("orders", [&] {
    const Orders &orders = *report.orders;
    json.seconds("program_s", orders.program.stepTime);
    json.seconds("framework_s", orders.framework.stepTime);
    json.text("framework_buckets", orders.frameworkBuckets);
    json.seconds("chosen_s", orders.chosen.stepTime);
    json.seconds("bound_s", orders.bound);
    json.seconds("any_order_bound_s", orders.anyOrderBound);
    json.number("above_bound_fraction", orders.aboveBound());
    writeOrder(json, "program", report, orders.program);
    writeOrder(json, "framework", report, orders.framework);
    writeOrder(json, "chosen", report, orders.chosen);
    if (report.withoutReduction)
      writeOrder(json, "chosen_without_in_network_reduction", report,
                 report.withoutReduction->figures);
    json.object("bound", [&] {
      json.seconds("step_time_s", orders.bound);
      json.number("mfu", report.mfuAt(orders.bound));
    });
  });
}

void writeExpectations(Json &json, const Report &report) {
  using Verdict = ExpectationResult::Verdict;
  json.array("expectations", report.expectations,
             [&](const ExpectationResult &row) {
               json.text("text", row.text);
               json.text("metric", row.metric);
               json.number("expected", row.expected);
               if (row.verdict == Verdict::Unknown)
                 json.raw("found", "null");
               else
                 json.number("found", row.found);
               json.boolean("holds", row.verdict == Verdict::Holds);
             });
}

void writeDiagnostics(Json &json, std::span<const DiagnosticRow> rows) {
  json.array("diagnostics", rows, [&](const DiagnosticRow &row) {
    json.text("code", row.code);
    json.text("severity", row.severity);
    json.text("file", row.file);
    json.integer("line", row.line);
    json.integer("column", row.column);
    json.text("message", row.message);
  });
}

} // namespace

std::string toJson(const Report &report) {
  return written([&](Json &json) {
    writeHead(json, report);
    writeSpeed(json, report);
    writeBubble(json, report);
    writeCommunication(json, report);
    writeMemory(json, report.memory);
    writeWaterfall(json, report);
    json.array("layers", report.layers, [&](const LayerTimes &layers) {
      json.text("name", layers.name);
      json.integer("layers", layers.layers);
      json.seconds("forward_s", layers.forward);
      json.seconds("backward_s", layers.backward);
    });
    json.array("lines", report.lines, [&](const CostLine &line) {
      writePlace(json, line.place);
      json.text("text", line.text);
      json.text("what", line.what);
      json.seconds("cost_s",
                   perRank(line.rankTime, report.planned.accelerators));
    });
    writeOrders(json, report);
    writeExpectations(json, report);
    writeDiagnostics(json, report.diagnostics);
  });
}

std::string toJson(std::string_view status,
                   std::span<const DiagnosticRow> diagnostics) {
  return written([&](Json &json) {
    json.integer("schema_version", kSchemaVersion);
    json.text("status", status);
    writeDiagnostics(json, diagnostics);
  });
}

} // namespace planc::report
