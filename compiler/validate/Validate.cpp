#include "compiler/validate/Validate.h"

#include "compiler/diag/Consumers.h"
#include "compiler/driver/Library.h"
#include "compiler/validate/CompareRow.h"
#include "runtime/base/Parallel.h"
#include "stdlib/EmbeddedFiles.h"

#include <algorithm>
#include <map>

namespace planc::validate {

namespace {

/// Rows of a source from which on their order says something.
constexpr std::size_t kRanked = 4;

bool isCounted(const RowResult &row) {
  return row.isExpressed() && row.row.text(Column::Split) != "fit";
}

/// Each distinct plan once, on whichever thread comes to it first. The files
/// that were read for them.
std::vector<std::string> compareAll(std::vector<RowResult> &rows,
                                    std::size_t threads) {
  std::map<std::string, std::size_t> indices;
  std::vector<std::size_t> first, plan(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].isExpressed())
      continue;
    const auto [at, isNew] = indices.emplace(keyOf(rows[i]), first.size());
    if (isNew)
      first.push_back(i);
    plan[i] = at->second;
  }
  std::vector<Compiled> compiled(first.size());
  const driver::Library library;
  forEachOnThreads(first.size(), threads, [&](std::size_t i) {
    compiled[i] = compilePlan(rows[first[i]], library);
  });
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].isExpressed())
      compare(rows[i], compiled[plan[i]]);
  std::vector<std::string> files;
  for (const Compiled &one : compiled)
    files.insert(files.end(), one.files.begin(), one.files.end());
  return files;
}

struct Sample {
  std::vector<double> step, memory, activations, layers;
  std::vector<Pair> times, mfus;

  void add(const RowResult &row) {
    if (row.step) {
      step.push_back(row.step->error());
      times.push_back({row.step->predicted, row.step->measured});
    }
    if (row.mfuMeasured)
      mfus.push_back({row.mfu, *row.mfuMeasured});
    if (row.memory)
      memory.push_back(row.memory->error());
    if (row.activations)
      activations.push_back(row.activations->error());
    for (const auto *layer : {&row.layerForward, &row.layerBackward})
      if (*layer)
        layers.push_back((*layer)->error());
  }
};

std::optional<double> tauOf(const std::vector<Pair> &pairs) {
  return pairs.size() < kRanked ? std::nullopt : kendallTau(pairs);
}

std::string groupOf(const RowResult &row, std::string_view by) {
  if (by == "source")
    return row.row.text(Column::Source);
  if (by == "tier")
    return row.row.text(Column::Tier);
  if (by == "accelerator")
    return row.accelerator;
  if (by == "year")
    return row.row.text(Column::Year);
  return row.parallelism;
}

void addGroups(Validation &out, std::string_view by) {
  std::map<std::string, Sample> samples;
  for (const RowResult &row : out.rows)
    if (isCounted(row))
      samples[groupOf(row, by)].add(row);
  for (const auto &[name, sample] : samples)
    out.groups.push_back({std::string(by), name.empty() ? "not said" : name,
                          summaryOf(sample.step), summaryOf(sample.memory),
                          tauOf(sample.times)});
}

std::optional<double> meanOf(const std::vector<double> &values) {
  if (values.empty())
    return std::nullopt;
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

void summarise(Validation &out) {
  Sample all;
  std::map<std::string, Sample> sources;
  for (const RowResult &row : out.rows)
    if (isCounted(row)) {
      all.add(row);
      sources[groupOf(row, "source")].add(row);
    }
  out.step = summaryOf(all.step);
  out.memory = summaryOf(all.memory);
  out.activations = summaryOf(all.activations);
  out.layers = summaryOf(all.layers);
  std::vector<double> taus, tausMfu;
  for (const auto &[name, sample] : sources) {
    if (const auto tau = tauOf(sample.times))
      taus.push_back(*tau);
    if (const auto tau = tauOf(sample.mfus))
      tausMfu.push_back(*tau);
  }
  out.rankCorrelation = meanOf(taus);
  out.rankCorrelationMfu = meanOf(tausMfu);
  for (std::string_view by :
       {"source", "tier", "accelerator", "year", "parallelism"})
    addGroups(out, by);
}

} // namespace

std::vector<Table> standardTables() {
  std::vector<Table> out;
  for (const EmbeddedFile &file : measuredRuns())
    out.push_back(
        {"std/" + std::string(file.name), std::string(file.text), ""});
  return out;
}

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

Validated validate(const ValidateOptions &options) {
  Validated out;
  const std::vector<Table> tables =
      options.tables.empty() ? standardTables() : options.tables;
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  Validation result;
  for (const Table &table : tables) {
    const source::FileId id = out.sources.add(table.name, table.text);
    auto rows = readRows(id, out.sources[id], emitter);
    for (MeasuredRow &row : rows ? *rows : std::vector<MeasuredRow>()) {
      if (!options.only.empty() && !matches(options.only, row.text(Column::Id)))
        continue;
      result.rows.emplace_back();
      result.rows.back().row = std::move(row);
      writePlan(result.rows.back(), table);
    }
  }
  emitter.finish();
  out.diagnostics = std::move(captured.diagnostics);
  if (emitter.hasErrors())
    return out;
  out.files = compareAll(result.rows, options.threads);
  for (const Table &table : options.tables)
    out.files.push_back(table.name);
  summarise(result);
  out.result = std::move(result);
  return out;
}

} // namespace planc::validate
