// MFU of a run that was measured, by every way of counting (METRICS M2, M3).
#pragma once

#include "runtime/report/Report.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::report {

/// Ways to count the FLOPs of a step: the conventions of planc's own and those
/// of frameworks and papers (FlopCounts.def).
enum class FlopCount : std::uint8_t {
#define PLANC_FLOP_COUNT(NAME, KEY, HARDWARE, FLOPS, WHAT, SOURCE) NAME,
#include "runtime/report/FlopCounts.def"
};
inline constexpr std::size_t kFlopCounts =
    static_cast<std::size_t>(FlopCount::Bloom) + 1;

std::string_view keyOf(FlopCount count);    ///< `megatron-sc21`
std::string_view wordsOf(FlopCount count);  ///< what is counted
std::string_view sourceOf(FlopCount count); ///< who counts so
std::optional<FlopCount> flopCountFromKey(std::string_view key);
/// True where recomputation is part of the count: it makes an HFU, no MFU.
bool countsRecomputation(FlopCount count);

/// Of one step, all accelerators together.
Int128 flopsBy(FlopCount count, const ModelFlops &flops);
/// The same with what is made again, by the count's own rule.
Int128 hardwareFlopsBy(FlopCount count, const Report &report);

/// A report's plan run in another, measured, time.
struct MeasuredRun {
  Planned planned;
  Duration stepTime, predicted;
  NamedPeak peak; ///< that of `--peak`, else the plan's own

  struct Row {
    FlopCount count;
    Int128 flops = 0, hardwareFlops = 0;
    double flopsPerSecond = 0; ///< an accelerator, by `flops`
    std::optional<double> mfu; ///< 0–1; none where recomputation is counted
    double hfu = 0;
  };
  std::vector<Row> rows; ///< in the order of FlopCounts.def
};

/// `stepTime` is above zero.
MeasuredRun measuredRun(const Report &report, Duration stepTime);

std::string toText(const MeasuredRun &run);
std::string toJson(const MeasuredRun &run);
std::string toMarkdown(const MeasuredRun &run);

} // namespace planc::report
