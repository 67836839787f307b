#include "runtime/calibrate/StepComparison.h"

#include "runtime/report/JsonWriter.h"

#include <fmt/format.h>

#include <cmath>

namespace planc::calibrate {

namespace {

using report::Cause;

/// By how much one cause alone may be off before something else is the likelier
/// reason. For orientation: how far measured runs lie from what planc takes for
/// granted, not a law. Arithmetic is counted, not estimated.
struct Range {
  double least = 1, most = 1;
};
Range plausible(Cause cause) {
  switch (cause) {
  case Cause::ModelArithmetic:
  case Cause::Repeated:
  case Cause::LowerPeak:
    return {1, 1};
  case Cause::BelowPeak:
    return {0.5, 2};
  case Cause::MemoryBound:
  case Cause::Update:
    return {0.6, 2};
  case Cause::Recomputation:
    return {0.7, 1.5};
  case Cause::LaunchGaps:
    return {0, 10};
  case Cause::Slowed:
    return {0, 3};
  case Cause::ExposedTensor:
  case Cause::ExposedContext:
  case Cause::ExposedExperts:
  case Cause::ExposedGradients:
  case Cause::ExposedParameters:
  case Cause::ExposedPipeline:
  case Cause::ExposedNorm:
  case Cause::ExposedHost:
    return {0, 3};
  case Cause::Skew:
  case Cause::Bubble:
  case Cause::StepEnd:
    return {0.7, 1.5};
  case Cause::Stragglers:
    return {0, 4};
  }
  return {1, 1};
}

std::string factorText(double factor) {
  constexpr double kMost = 1000; // as wide as its column
  return factor < 0        ? "none"
         : factor >= kMost ? "x > 1000"
                           : fmt::format("x {:.2f}", factor);
}

} // namespace

double StepComparison::ratio() const {
  return toSeconds(steps.median) / toSeconds(run.predicted);
}

StepComparison compareSteps(const StepLog &log, const report::Report &report) {
  const double accelerators = static_cast<double>(report.planned.accelerators);
  StepComparison out;
  out.form = log.form;
  out.steps =
      stepsOf(log, static_cast<double>(report.planned.tokens()) / accelerators);
  out.run = report::measuredRun(report, out.steps.median);
  const double more = toSeconds(out.steps.median) - toSeconds(report.stepTime);
  // What is less than half a percent of a step explains nothing.
  constexpr double kLeast = 0.005;
  for (std::size_t i = 0; i < report::kCauseCount; ++i) {
    Suspect suspect;
    suspect.cause = static_cast<Cause>(i);
    const double time = static_cast<double>(report.waterfall[suspect.cause]) /
                        accelerators /
                        static_cast<double>(kPicosecondsPerSecond);
    if (time < kLeast * toSeconds(report.stepTime))
      continue;
    suspect.predicted = durationFromSeconds(time);
    suspect.factor = (time + more) / time;
    const Range range = plausible(suspect.cause);
    suspect.isPlausible =
        suspect.factor >= range.least && suspect.factor <= range.most;
    out.suspects.push_back(suspect);
  }
  if (out.steps.teraflops)
    for (const auto &row : out.run.rows)
      if (std::abs(row.flopsPerSecond / 1e12 / *out.steps.teraflops - 1) < 0.02)
        out.countedAs.push_back(row.count);
  return out;
}

std::string toText(const StepComparison &c) {
  const Steps &steps = c.steps;
  std::string out = fmt::format(
      "measured {} a step ({}: median of {}, {} skipped; the middle half {} to "
      "{})\npredicted {}: measured / predicted {:.3f}\n",
      report::durationText(steps.median), wordsOf(c.form), steps.counted,
      steps.skipped, report::durationText(steps.lower),
      report::durationText(steps.upper), report::durationText(c.run.predicted),
      c.ratio());
  if (steps.teraflops) {
    std::string names;
    for (report::FlopCount count : c.countedAs)
      names += (names.empty() ? "" : ", ") + std::string(keyOf(count));
    out += fmt::format("the log prints {} TFLOP/s: {}\n",
                       report::threeDigits(*steps.teraflops),
                       names.empty() ? "no convention below within 2 %"
                                     : "counted as " + names);
  }
  out += "\nif one cause alone were the reason\n" +
         report::padded("predicted", 31) + report::padded("of step", 10) +
         report::padded("to be", 10) + "\n";
  for (const Suspect &s : c.suspects)
    out += fmt::format(
        "  {:<18}{}{}{}{}\n", report::wordsOf(s.cause),
        report::padded(report::durationText(s.predicted), 11),
        report::padded(report::percentage(toSeconds(s.predicted) /
                                          toSeconds(c.run.predicted)) +
                           " %",
                       10),
        report::padded(factorText(s.factor), 10),
        s.isPlausible ? "   plausible" : "");
  return out + "\n" + report::toText(c.run);
}

std::string toJson(const StepComparison &c) {
  return report::written([&](report::Json &json) {
    json.integer("schema_version", report::kSchemaVersion);
    json.text("plan", c.run.planned.plan);
    json.text("form", wordsOf(c.form));
    json.seconds("step_time_s", c.steps.median);
    json.seconds("lower_quartile_s", c.steps.lower);
    json.seconds("upper_quartile_s", c.steps.upper);
    json.integer("steps", static_cast<std::int64_t>(c.steps.counted));
    json.integer("skipped", static_cast<std::int64_t>(c.steps.skipped));
    json.seconds("predicted_step_time_s", c.run.predicted);
    json.number("ratio", c.ratio());
    if (c.steps.teraflops)
      json.number("printed_tflops", *c.steps.teraflops);
    std::vector<std::string> names;
    for (report::FlopCount count : c.countedAs)
      names.emplace_back(keyOf(count));
    json.texts("counted_as", names);
    json.array("causes", c.suspects, [&](const Suspect &s) {
      json.text("name", report::keyOf(s.cause));
      json.seconds("predicted_s", s.predicted);
      json.number("factor", s.factor);
      json.boolean("plausible", s.isPlausible);
    });
    json.array("conventions", c.run.rows,
               [&](const report::MeasuredRun::Row &row) {
                 json.text("name", keyOf(row.count));
                 json.number("flops_per_s_per_accelerator", row.flopsPerSecond);
                 if (row.mfu)
                   json.number("mfu", *row.mfu);
                 json.number("hfu", row.hfu);
               });
  });
}

} // namespace planc::calibrate
