#include "compiler/validate/CompareRow.h"

#include "compiler/driver/Session.h"
#include "compiler/source/ImportResolver.h"
#include "compiler/validate/RowPlan.h"
#include "runtime/report/MeasuredRun.h"
#include "stdlib/EmbeddedFiles.h"

#include <fmt/format.h>

#include <exception>

namespace planc::validate {

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

/// The text of a row's `plan_file`: beside the table, or in the library.
std::variant<RowPlan, NotExpressed> planFrom(const MeasuredRow &row,
                                             const Table &table) {
  const std::string &file = row.text(Column::PlanFile);
  RowPlan out;
  out.plan = row.text(Column::Plan);
  if (table.folder.empty()) {
    for (const EmbeddedFile &embedded : standardLibrary())
      if (embedded.name == file)
        out.text = embedded.text;
  } else {
    source::SourceSet sources;
    source::ImportResolver resolver(sources);
    resolver.setRoot(table.folder, table.folder);
    source::LoadResult loaded = resolver.loadFile(file);
    if (auto *id = std::get_if<source::FileId>(&loaded)) {
      out.text = sources[*id].text();
      out.file = sources[*id].name();
    }
  }
  if (out.text.empty())
    return NotExpressed{fmt::format("there is no plan file `{}`", file)};
  return out;
}

/// Ways to count that rows name, besides those of FlopCounts.def.
std::optional<report::FlopCount> countOf(const std::string &text) {
  constexpr std::pair<std::string_view, report::FlopCount> kAlike[] = {
      {"megatron_hfu", report::FlopCount::MegatronSc21},
      {"megatron_sc21", report::FlopCount::MegatronSc21},
      {"sc21", report::FlopCount::MegatronSc21},
      {"model", report::FlopCount::Full},
      {"megatron_full", report::FlopCount::Full},
      {"korthikanti", report::FlopCount::Full},
      {"llm_foundry", report::FlopCount::LlmFoundry},
      {"mosaic", report::FlopCount::LlmFoundry},
      // google/maxtext, README tables: before it halved attention.
      {"maxtext", report::FlopCount::Full},
      {"6n", report::FlopCount::SixNd},
      {"causal", report::FlopCount::Exact}};
  if (const auto count = report::flopCountFromKey(text))
    return count;
  for (const auto &[name, count] : kAlike)
    if (name == wordOf(text))
      return count;
  return std::nullopt;
}

/// The step that takes what the row says its accelerators did.
class MeasuredStep {
public:
  MeasuredStep(const MeasuredRow &row, const report::Report &report)
      : row_(row), report_(report) {}

  std::optional<Measured> find() const {
    const report::Planned &planned = report_.planned;
    const auto tokens = static_cast<double>(planned.tokens());
    const auto all = static_cast<double>(planned.accelerators);
    const auto sequences = static_cast<double>(planned.sequences);
    if (const auto seconds = row_.number(Column::StepS))
      return step(*seconds, Column::StepS, "");
    if (const auto rate = row_.number(Column::SamplesS))
      return step(sequences / *rate, Column::SamplesS, "");
    if (const auto rate = row_.number(Column::SamplesEachS))
      return step(sequences / *rate / all, Column::SamplesEachS, "");
    if (const auto rate = row_.number(Column::TokensS))
      return step(tokens / *rate / all, Column::TokensS, "");
    if (const auto rate = row_.number(Column::TokensAllS))
      return step(tokens / *rate, Column::TokensAllS, "");
    if (auto found = byTflops())
      return found;
    return byMfu();
  }

private:
  Measured step(double seconds, Column column, std::string_view count) const {
    std::string by(nameOf(column));
    if (!count.empty())
      by += fmt::format(" ({})", count);
    return {toSeconds(report_.stepTime), seconds, by};
  }

  std::optional<Measured> byTflops() const {
    const auto rate = row_.number(Column::Tflops);
    const auto count = countOf(row_.text(Column::TflopsDef));
    if (!rate || !count)
      return std::nullopt;
    return step(flops(*count) / (*rate * 1e12), Column::Tflops,
                report::keyOf(*count));
  }

  std::optional<Measured> byMfu() const {
    const auto share = row_.number(Column::Mfu);
    const auto count = countOf(row_.text(Column::MfuDef));
    if (!share || !count)
      return std::nullopt;
    return step(flops(*count) / (*share * report_.peak.rate.toDouble()),
                Column::Mfu, report::keyOf(*count));
  }

  double flops(report::FlopCount count) const {
    return static_cast<double>(report::flopsBy(count, report_.modelFlops)) /
           static_cast<double>(report_.planned.accelerators);
  }

  const MeasuredRow &row_;
  const report::Report &report_;
};

/// The largest over stages, in GiB; `part` gives bytes.
template <class Part> double largest(const report::Report &report, Part part) {
  double most = 0;
  for (const report::StageMemory &stage : report.memory.stages)
    most = std::max(most, part(stage.peak) / kGib);
  return most;
}

/// What a row's figure of memory is of.
struct MemoryKind {
  bool reserved = false; ///< what the allocator took for the tensors
  bool device = false;   ///< with it, what the driver and communication take
  bool last = false;     ///< of the last stage, not of the fullest
};

/// `last` and one of `allocated` (as nothing said), `reserved` and `device`;
/// nothing where the words say something else.
std::optional<MemoryKind> memoryKindOf(std::string text) {
  MemoryKind kind;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('_'), text.size());
    const std::string word = text.substr(0, end);
    text.erase(0, end + 1);
    if (word == "last")
      kind.last = true;
    else if (word == "reserved")
      kind.reserved = true;
    else if (word == "device")
      kind.reserved = kind.device = true;
    else if (word != "allocated")
      return std::nullopt;
  }
  return kind;
}

/// GiB; nothing where what the row's figure is of is not known.
std::optional<double> memoryOf(const report::Report &report,
                               const MeasuredRow &row) {
  const auto kind = memoryKindOf(wordOf(row.text(Column::MemoryDef)));
  if (!kind)
    return std::nullopt;
  const auto of = [&](const program::Memory &peak) {
    double bytes = peak.total().toDouble();
    if (kind->reserved)
      bytes += peak.unreturned.toDouble();
    if (kind->device)
      bytes += report.memory.reserve.toDouble();
    return bytes;
  };
  const std::vector<report::StageMemory> &stages = report.memory.stages;
  if (kind->last && !stages.empty())
    return of(stages.back().peak) / kGib;
  return largest(report, of);
}

std::string parallelismOf(const MeasuredRow &row) {
  std::string out;
  for (Column column :
       {Column::Tp, Column::Cp, Column::Pp, Column::Ep, Column::Dp})
    if (row.count(column).value_or(1) > 1)
      out += fmt::format("{}{}", out.empty() ? "" : " · ", nameOf(column));
  const std::string zero = wordOf(row.text(Column::Zero));
  if (zero == "3" || zero.rfind("fsdp", 0) == 0 || zero.rfind("hybrid", 0) == 0)
    out += out.empty() ? "fsdp" : " · fsdp";
  return out;
}

/// Nothing computes faster than the peak, whatever is counted.
std::string whyNotBelievable(const RowResult &result) {
  if (!result.mfuMeasured || *result.mfuMeasured <= 1)
    return "";
  std::string why = "its step would be above the peak";
  for (Column each : {Column::TokensS, Column::SamplesEachS})
    if (result.step->by == nameOf(each))
      why += ": is the rate of all accelerators?";
  return why;
}

void fillLayer(RowResult &result, const report::Report &report) {
  const auto most = std::max_element(
      report.layers.begin(), report.layers.end(),
      [](const report::LayerTimes &a, const report::LayerTimes &b) {
        return a.layers < b.layers;
      });
  if (most == report.layers.end())
    return;
  const auto measured = [&](Column column, Duration time) {
    std::optional<Measured> out;
    if (const auto seconds = result.row.number(column))
      out = {toSeconds(time), *seconds, std::string(nameOf(column))};
    return out;
  };
  result.layerForward = measured(Column::LayerForwardS, most->forward);
  result.layerBackward = measured(Column::LayerBackwardS, most->backward);
}

void fill(RowResult &result, const report::Report &report) {
  const MeasuredRow &row = result.row;
  result.accelerator = report.planned.accelerator;
  result.parallelism = parallelismOf(row);
  result.fit = report::toString(report.memory.fit);
  result.stepSeconds = toSeconds(report.stepTime);
  result.mfu = report.ownMfu(report::Convention::Exact);
  result.step = MeasuredStep(row, report).find();
  if (result.step)
    result.mfuMeasured =
        result.mfu * result.step->predicted / result.step->measured;
  result.reason = whyNotBelievable(result);
  if (!result.isExpressed()) {
    result.step.reset();
    result.mfuMeasured.reset();
    return;
  }
  if (const auto memory = row.number(Column::MemoryGib))
    if (const auto predicted = memoryOf(report, row))
      result.memory = {*predicted, *memory, "memory_gib"};
  if (const auto activations = row.number(Column::ActivationsGib))
    result.activations = {largest(report,
                                  [](const program::Memory &m) {
                                    return m.activations.toDouble();
                                  }),
                          *activations, "activations_gib"};
  fillLayer(result, report);
  for (std::size_t i = 0; i < report::kCauseCount; ++i)
    result.waterfall[i] = static_cast<double>(report.waterfall.rankTime[i]) /
                          static_cast<double>(report.rankStepTime());
  if (!result.step && !result.memory && !result.activations &&
      !result.layerForward && !result.layerBackward)
    result.reason = "how its measured value was counted is not known";
}

/// What the compiler says first, on one line.
std::string refusalOf(const driver::Session &session) {
  for (const diag::Diagnostic &diagnostic : session.diagnostics())
    if (diagnostic.severity() == diag::Severity::Error)
      return fmt::format("{}: {}", diag::infoOf(diagnostic.kind).name,
                         diagnostic.message);
  return "the compiler made no report";
}

void writePlanOf(RowResult &result, const Table &table) {
  const MeasuredRow &row = result.row;
  auto plan = row.has(Column::PlanFile) ? planFrom(row, table) : planOf(row);
  if (auto *no = std::get_if<NotExpressed>(&plan)) {
    result.reason = no->reason;
    return;
  }
  auto &written = std::get<RowPlan>(plan);
  result.planText = std::move(written.text);
  result.planFile = std::move(written.file);
  result.planName = std::move(written.plan);
  result.notes = std::move(written.notes);
}

} // namespace

void writePlan(RowResult &result, const Table &table) {
  if (!result.row.problem.empty()) {
    result.reason = result.row.problem;
    return;
  }
  // One row that goes wrong does not take the others with it.
  try {
    writePlanOf(result, table);
  } catch (const std::exception &error) {
    result.reason = fmt::format("internal error: {}", error.what());
  }
}

std::string keyOf(const RowResult &result) {
  std::string key = result.planFile + "\n" + result.planName + "\n";
  std::string_view rest = result.planText;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n') + 1, rest.size());
    const std::size_t size = end == 0 ? rest.size() : end;
    if (rest.front() != '#')
      key += rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return key;
}

Compiled compilePlan(const RowResult &result, const driver::Library &library) {
  try {
    driver::Options options;
    options.file = result.planFile;
    if (options.file.empty()) {
      options.file = result.row.text(Column::Id) + ".plan";
      options.text = result.planText;
    }
    options.planName = result.planName;
    options.library = &library;
    options.asides = driver::Options::Asides::Skipped;
    driver::Session session(std::move(options));
    session.run();
    Compiled out;
    if (!result.planFile.empty())
      out.files = session.files();
    if (session.report() != nullptr)
      out.report = *session.report();
    else
      out.reason = refusalOf(session);
    return out;
  } catch (const std::exception &error) {
    return {std::nullopt, fmt::format("internal error: {}", error.what()), {}};
  }
}

void compare(RowResult &result, const Compiled &compiled) {
  if (compiled.report)
    fill(result, *compiled.report);
  else
    result.reason = compiled.reason;
}

} // namespace planc::validate
