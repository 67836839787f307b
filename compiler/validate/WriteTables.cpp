#include "compiler/validate/Csv.h"
#include "compiler/validate/Writers.h"
#include "runtime/report/NumberText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace planc::validate {

namespace {

using report::cell;
using report::padded;
using report::percentage;

constexpr std::size_t kWorst = 20;

/// `+4.1`.
std::string signedPercent(double error) {
  return fmt::format("{}{}", error < 0 ? "−" : "+",
                     percentage(std::abs(error)));
}

std::string tauText(const std::optional<double> &tau) {
  return tau ? fmt::format("{:.2f}", *tau) : "–";
}

/// A size of errors: `4.1`; a dash where nothing was compared.
std::string sizeText(const ErrorSummary &summary, double size) {
  return summary.count > 0 ? percentage(size) : "–";
}

std::string biasText(const ErrorSummary &summary) {
  return summary.count > 0 ? signedPercent(summary.bias) : "–";
}

std::string secondsText(double seconds) { return report::threeDigits(seconds); }

/// The causes that take most of a step besides the model's arithmetic.
std::string lossesOf(const RowResult &row) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < report::kCauseCount; ++i)
    order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return row.waterfall[a] > row.waterfall[b];
                   });
  std::string out = fmt::format("arithmetic {}", percentage(row.waterfall[0]));
  for (std::size_t i = 0; i < 4; ++i)
    if (row.waterfall[order[i]] >= 0.01)
      out += fmt::format(", {} {}",
                         report::wordsOf(static_cast<report::Cause>(order[i])),
                         percentage(row.waterfall[order[i]]));
  return out;
}

/// Reasons with the numbers and names in them left out, so that they add up.
std::string kindOf(std::string_view reason) {
  std::string out;
  for (char c : reason) {
    const bool isDigit = c >= '0' && c <= '9';
    if (isDigit && !out.empty() && out.back() == 'N')
      continue;
    out.push_back(isDigit ? 'N' : c);
  }
  return out;
}

std::string groupTable(const Validation &all, std::string_view by,
                       std::string_view title) {
  std::string out =
      fmt::format("| {} | rows | median | mean | 90th | worst | bias | τ | "
                  "memory, median |\n"
                  "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
                  title);
  for (const Group &group : all.groups)
    if (group.by == by && group.step.count + group.memory.count > 0)
      out += fmt::format(
          "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(group.name),
          group.step.count, sizeText(group.step, group.step.median),
          sizeText(group.step, group.step.mean),
          sizeText(group.step, group.step.p90),
          sizeText(group.step, group.step.worst), biasText(group.step),
          tauText(group.tau),
          group.memory.count > 0
              ? fmt::format("{} ({})", percentage(group.memory.median),
                            group.memory.count)
              : "–");
  return out;
}

std::string worstTable(const Validation &all) {
  std::string out =
      "| row | measured | predicted | off | where the predicted step goes, % "
      "|\n|---|---:|---:|---:|---|\n";
  const auto rows = worstFirst(all);
  for (std::size_t i = 0; i < std::min(kWorst, rows.size()); ++i) {
    const RowResult &row = *rows[i];
    out += fmt::format(
        "| {} | {} s | {} s | {} % | {} |\n", cell(row.row.text(Column::Id)),
        secondsText(row.step->measured), secondsText(row.step->predicted),
        signedPercent(row.step->error()), lossesOf(row));
  }
  return out;
}

std::string reasonTable(const Validation &all) {
  struct Kind {
    std::size_t count = 0;
    std::string example, id;
  };
  std::map<std::string, Kind> kinds;
  for (const RowResult &row : all.rows)
    if (!row.isExpressed()) {
      Kind &kind =
          kinds[row.row.text(Column::Source) + ": " + kindOf(row.reason)];
      if (kind.count++ == 0) {
        kind.example = row.reason;
        kind.id = row.row.text(Column::Id);
      }
    }
  std::string out = "| rows | source | the reason of the first | the first "
                    "|\n|---:|---|---|---|\n";
  for (const auto &[key, kind] : kinds)
    out += fmt::format("| {} | {} | {} | {} |\n", kind.count,
                       cell(key.substr(0, key.find(": "))), cell(kind.example),
                       cell(kind.id));
  return out;
}

std::string summaryLine(std::string_view what, const ErrorSummary &summary) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", what,
                     summary.count, sizeText(summary, summary.median),
                     sizeText(summary, summary.mean),
                     sizeText(summary, summary.p90),
                     sizeText(summary, summary.worst), biasText(summary));
}

std::size_t leftOut(const Validation &all) {
  return static_cast<std::size_t>(
      std::count_if(all.rows.begin(), all.rows.end(),
                    [](const RowResult &row) { return !row.isExpressed(); }));
}

} // namespace

std::vector<const RowResult *> worstFirst(const Validation &all) {
  std::vector<const RowResult *> rows;
  for (const RowResult &row : all.rows)
    if (row.isExpressed() && row.step)
      rows.push_back(&row);
  std::stable_sort(
      rows.begin(), rows.end(), [](const RowResult *a, const RowResult *b) {
        return std::abs(a->step->error()) > std::abs(b->step->error());
      });
  return rows;
}

std::string toText(const Validation &all) {
  std::string out = fmt::format(
      "{} rows, {} with a step time, {} not expressed\n\n"
      "                        rows   median     mean     90th    worst     "
      "bias    τ\n",
      all.rows.size(), all.step.count, leftOut(all));
  auto line = [&](std::string_view name, const ErrorSummary &summary,
                  const std::optional<double> &tau) {
    const std::string_view unit = summary.count > 0 ? " %" : "  ";
    out +=
        fmt::format("{:<22}{:>6}", report::shortened(name, 22), summary.count);
    for (double size :
         {summary.median, summary.mean, summary.p90, summary.worst})
      out += fmt::format("{}{}", padded(sizeText(summary, size), 7), unit);
    out += fmt::format("{}{}   {}\n", padded(biasText(summary), 7), unit,
                       tauText(tau));
  };
  line("step time", all.step, all.rankCorrelation);
  line("memory", all.memory, std::nullopt);
  line("activations", all.activations, std::nullopt);
  line("layers, alone", all.layers, std::nullopt);
  for (std::string_view by : {"source", "tier"}) {
    out += fmt::format("\nstep time by {}\n", by);
    for (const Group &group : all.groups)
      if (group.by == by)
        line("  " + group.name, group.step, group.tau);
  }
  out += "\nfurthest off\n";
  const auto rows = worstFirst(all);
  for (std::size_t i = 0; i < std::min<std::size_t>(5, rows.size()); ++i)
    out +=
        fmt::format("  {:<46} {:>8} s predicted, {:>8} s measured\n      {}\n",
                    report::shortened(rows[i]->row.text(Column::Id), 46),
                    secondsText(rows[i]->step->predicted),
                    secondsText(rows[i]->step->measured), lossesOf(*rows[i]));
  return out;
}

std::string toMarkdown(const Validation &all) {
  std::string out = fmt::format(
      "{} rows: {} with a step time, {} not expressed. Errors in percent of "
      "what "
      "was measured; *bias* is their median with its sign, *τ* Kendall's rank "
      "correlation of step times within a source, {} in the mean over sources "
      "of "
      "four rows or more ({} of MFU).\n\n"
      "| all rows | rows | median | mean | 90th | worst | bias |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n",
      all.rows.size(), all.step.count, leftOut(all),
      tauText(all.rankCorrelation), tauText(all.rankCorrelationMfu));
  out += summaryLine("step time", all.step);
  out += summaryLine("memory", all.memory);
  out += summaryLine("activations", all.activations);
  out += summaryLine("layers, alone", all.layers);
  constexpr std::pair<std::string_view, std::string_view> kGroups[] = {
      {"source", "source"},
      {"tier", "tier"},
      {"accelerator", "accelerator"},
      {"year", "year"},
      {"parallelism", "parallelism"}};
  for (const auto &[by, title] : kGroups)
    out += "\n" + groupTable(all, by, title);
  out += "\n### Furthest off\n\n" + worstTable(all);
  if (leftOut(all) > 0)
    out += "\n### Not expressed\n\n" + reasonTable(all);
  return out;
}

std::string toCsv(const Validation &all) {
  std::string out = "id,source,tier,split,framework,accelerator,accelerators,"
                    "parallelism,measured_by,measured_step_s,predicted_step_s,"
                    "error,measured_mfu,predicted_mfu,measured_memory_gib,"
                    "predicted_memory_gib,measured_activations_gib,predicted_"
                    "activations_gib,measured_layer_forward_s,"
                    "predicted_layer_forward_s,measured_layer_backward_s,"
                    "predicted_layer_backward_s,fit,not_expressed\n";
  auto number = [](const std::optional<double> &value) {
    return value ? report::jsonNumber(*value) : std::string();
  };
  auto both = [&](const std::optional<Measured> &value) {
    return value ? number(value->measured) + "," + number(value->predicted)
                 : std::string(",");
  };
  for (const RowResult &row : all.rows) {
    for (Column column : {Column::Id, Column::Source, Column::Tier,
                          Column::Split, Column::Framework})
      out += csvField(row.row.text(column)) + ",";
    out += csvField(row.isExpressed() ? row.accelerator
                                      : row.row.text(Column::Accelerator)) +
           "," + csvField(row.row.text(Column::Accelerators)) + "," +
           row.parallelism + ",";
    out += (row.step ? csvField(row.step->by) : "") + "," + both(row.step) +
           "," + (row.step ? number(row.step->error()) : "") + ",";
    out += number(row.mfuMeasured) + "," +
           (row.isExpressed() ? number(row.mfu) : "") + ",";
    out += both(row.memory) + "," + both(row.activations) + "," +
           both(row.layerForward) + "," + both(row.layerBackward) + "," +
           row.fit + "," + csvField(row.reason) + "\n";
  }
  return out;
}

} // namespace planc::validate
