#include "runtime/calibrate/StepLog.h"

#include "runtime/calibrate/LogWords.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace planc::calibrate {

namespace {

enum class Measure : std::uint8_t { Milliseconds, Seconds, TokensPerSecond };

struct Form {
  StepForm form;
  std::string_view words, key;
  Measure measure;
};
constexpr auto kForms = std::to_array<Form>({
#define PLANC_STEP_FORM(NAME, WORDS, KEY, MEASURE)                             \
  {StepForm::NAME, WORDS, KEY, Measure::MEASURE},
#include "runtime/calibrate/StepForms.def"
});

/// What stands before a printed rate of an accelerator.
constexpr auto kTeraflops = std::to_array<std::string_view>(
    {"throughput per GPU (TFLOP/s/GPU):", " tflops:", "TFLOPS_per_GPU="});

/// The number after `key`; commas between thousands are taken out.
std::optional<double> after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  constexpr std::size_t kLongest = 64;
  const std::string_view tail = line.substr(at + key.size(), kLongest);
  std::string plain;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    const bool isGrouping = tail[i] == ',' && i > 0 && i + 3 < tail.size() &&
                            tail[i - 1] >= '0' && tail[i - 1] <= '9' &&
                            tail[i + 1] >= '0' && tail[i + 1] <= '9';
    if (!isGrouping)
      plain += tail[i];
  }
  return numberAt(plain, 0);
}

/// `step_time=820ms`: the unit right after a number.
double unitAfter(std::string_view line, std::string_view key) {
  std::size_t at = line.find(key) + key.size();
  at = std::min(line.find_first_not_of(" \t", at), line.size());
  at = std::min(line.find_first_not_of("+-.0123456789eE", at), line.size());
  return line.substr(at, 2) == "ms" ? 1e-3 : 1;
}

std::optional<double> valueOf(const Form &form, std::string_view line) {
  std::optional<double> value = after(line, form.key);
  if (!value)
    return std::nullopt;
  if (form.measure == Measure::Milliseconds)
    *value *= 1e-3;
  else if (form.measure == Measure::Seconds)
    *value *= unitAfter(line, form.key);
  // From a microsecond to planc's 53 days; any rate that a chip may have.
  const bool isTime = form.measure != Measure::TokensPerSecond;
  const bool isSound = isTime ? *value >= 1e-6 && *value < 4.6e6
                              : *value >= 1e-3 && *value < 1e12;
  return isSound ? value : std::nullopt;
}

/// The value that so many quarters of the others are below.
double quantile(const std::vector<double> &sorted, std::size_t quarters) {
  return sorted[(sorted.size() - 1) * quarters / 4];
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

} // namespace

std::string_view wordsOf(StepForm form) {
  return kForms[static_cast<std::size_t>(form)].words;
}

StepLog readStepLog(const LogText &log) {
  StepLog out;
  const auto fail = [&](LogProblemKind kind, std::string text) {
    out = {};
    out.error = LogProblem{kind, log.name, 0, std::move(text)};
    return out;
  };
  if (log.text.size() > kLargestLog)
    return fail(
        LogProblemKind::TooLarge,
        fmt::format("{} bytes, at most {}", log.text.size(), kLargestLog));
  std::array<std::vector<double>, kForms.size()> found;
  forEachLine(log.text, [&](std::int64_t, std::string_view raw) {
    const std::string line = withoutColours(raw);
    for (std::size_t f = 0; f < kForms.size(); ++f)
      if (const auto value = valueOf(kForms[f], line))
        found[f].push_back(*value);
    for (std::string_view key : kTeraflops)
      if (const auto rate = after(line, key); rate && *rate > 0)
        out.teraflops.push_back(*rate);
  });
  std::size_t best = 0;
  for (std::size_t f = 1; f < kForms.size(); ++f)
    if (found[f].size() > found[best].size())
      best = f;
  if (found[best].empty())
    return fail(LogProblemKind::NoSteps, "no line says what a step took");
  if (found[best].size() > kMostRows)
    return fail(LogProblemKind::TooLarge,
                fmt::format("more than {} steps", kMostRows));
  out.form = kForms[best].form;
  out.areTokens = kForms[best].measure == Measure::TokensPerSecond;
  out.values = std::move(found[best]);
  return out;
}

Steps stepsOf(const StepLog &log, double tokensOfAccelerator) {
  const std::size_t all = log.values.size();
  Steps out;
  constexpr std::size_t kMostSkipped = 10;
  out.skipped =
      all < 3 ? 0 : std::clamp<std::size_t>((all + 9) / 10, 1, kMostSkipped);
  std::vector<double> seconds;
  for (std::size_t i = out.skipped; i < all; ++i)
    seconds.push_back(log.areTokens ? tokensOfAccelerator / log.values[i]
                                    : log.values[i]);
  out.counted = seconds.size();
  out.median = durationFromSeconds(medianOf(seconds));
  std::sort(seconds.begin(), seconds.end());
  out.lower = durationFromSeconds(quantile(seconds, 1));
  out.upper = durationFromSeconds(quantile(seconds, 3));
  if (!log.teraflops.empty())
    out.teraflops = medianOf(log.teraflops);
  return out;
}

} // namespace planc::calibrate
