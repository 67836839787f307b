// What a step costs and why, as plain values (docs/metrics.md, M1–M10).
//
// Everything is kept as it was counted: picoseconds, bytes, operations. Ratios
// are made last, by the writers and by the functions below, so that no two
// readers round differently. `rankTime` is time summed over all accelerators.
#pragma once

#include "runtime/base/Precision.h"
#include "runtime/base/Quantity.h"
#include "runtime/program/ProgramSet.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::report {

/// Version of the JSON form; keys are added, never renamed.
inline constexpr int kSchemaVersion = 1;

enum class Cause : std::uint8_t {
#define PLANC_CAUSE(NAME, KEY, TEXT, GROUP) NAME,
#include "runtime/report/Causes.def"
};
inline constexpr std::size_t kCauseCount =
    static_cast<std::size_t>(Cause::StepEnd) + 1;

enum class CauseGroup : std::uint8_t { Work, Communication, Wait };

std::string_view keyOf(Cause cause);   ///< `exposed_tensor`
std::string_view wordsOf(Cause cause); ///< `exposed tensor`
CauseGroup groupOf(Cause cause);
/// The cause of waiting for communication of a kind; not for None.
Cause exposedBy(program::CommunicationKind kind);

/// Time of all ranks by cause. Entries may be negative only for LowerPeak: work
/// that runs in a faster precision than the named peak.
struct Waterfall {
  std::array<Int128, kCauseCount> rankTime{};

  Int128 &operator[](Cause cause) {
    return rankTime[static_cast<std::size_t>(cause)];
  }
  Int128 operator[](Cause cause) const {
    return rankTime[static_cast<std::size_t>(cause)];
  }
  Int128 total() const;
};

/// The three conventions of model FLOPs, always side by side (M2).
enum class Convention : std::uint8_t { Exact, Full, SixNd };
inline constexpr std::array<Convention, 3> kConventions = {
    Convention::Exact, Convention::Full, Convention::SixNd};
/// `exact`, `full`, `6nd`.
std::string_view toString(Convention convention);

/// Of one step, all accelerators together.
struct ModelFlops {
  Int128 exact = 0, full = 0, sixNd = 0;
  /// Parts that frameworks count in ways of their own (FlopCounts.def).
  Int128 attention = 0;     ///< of `full`
  Int128 repeatForward = 0; ///< of `full`: the forward of layers
  Int128 lookups = 0;       ///< of `sixNd`: tables of embeddings

  Int128 operator[](Convention convention) const;
};

struct NamedPeak {
  std::string name; ///< `bf16`; what `--peak` was given as
  FlopRate rate;    ///< of one accelerator
};

struct Place {
  std::string file;
  std::int64_t line = 0; ///< from 1; 0 where there is no place
};

/// What was planned, as the head of the report says it.
struct Planned {
  std::string plan, model, cluster, accelerator;
  Place place;
  struct Axis {
    std::string name;
    std::int64_t size = 1;
  };
  std::vector<Axis> mesh; ///< outermost first
  std::string schedule;   ///< `Interleaved1F1B × 8`; empty: no pipeline
  std::int64_t accelerators = 1;
  /// Of whole groups left over at the outermost level reached.
  std::int64_t leftOver = 0;
  std::int64_t sequences = 0, sequenceLength = 0, microBatches = 1;
  std::int64_t parameters = 0, activeParameters = 0;
  /// What stages make again, where layers differ or planc chose: a line for
  /// stages in a row that do the same.
  std::vector<std::string> recompute;
  /// Layers whose parameters are gathered ahead, where planc chose.
  std::optional<std::int64_t> prefetch;

  std::int64_t tokens() const { return sequences * sequenceLength; }
};

/// Exposed and hidden communication of one kind (M7).
struct Communication {
  program::CommunicationKind kind = program::CommunicationKind::None;
  /// Rank-time on the wire, once for each message, or charged to waiting for it
  /// where that is more (a collective queued behind another).
  Int128 inFlight = 0;
  Int128 exposed = 0; ///< charged to it in the waterfall; ≤ inFlight
  /// What no order of the same collectives hides: waits inside a block that
  /// nothing of the block can fill.
  Int128 exposedAtLeast = 0;
  std::string over; ///< outermost level of links it crosses; empty: several

  Int128 hidden() const { return inFlight - exposed; }
};

/// Bubble by the two conventions, beside the schedule's closed form (M6).
struct Bubble {
  Int128 rankTime = 0;     ///< cause Bubble
  Int128 spanRankTime = 0; ///< ranks × pipeline span
  /// The longest rank's own span, and that less the most work of a rank.
  Duration ownSpan, ownIdle;
  /// A denominator of 0: the schedule has no closed form.
  std::int64_t formulaNumerator = 0, formulaDenominator = 0;
  /// What ranks with less pipeline work than the most loaded one do not have:
  /// the larger part of what the closed form does not know.
  Int128 uneven = 0;
};

enum class Fit : std::uint8_t { Fits, Tight, DoesNotFit };
/// `fits`, `tight`, `does_not_fit`.
std::string_view toString(Fit fit);

struct StageMemory {
  std::string stage; ///< name of the rank class
  std::int64_t ranks = 1;
  program::Memory peak;
};

/// A change of the plan, compiled as well to see whether it fits.
struct Remedy {
  std::string change; ///< clauses, as a variant would say them
  Bytes peak;
  Duration stepTime;
};

struct MemoryReport {
  Fit fit = Fit::Fits;
  Bytes capacity, reserve; ///< usable is capacity − reserve
  std::vector<StageMemory> stages;
  std::size_t fullest = 0;      ///< index into stages
  Bytes hostCapacity, hostUsed; ///< of one host; both 0 without offloading
  bool hostOverflows() const { return hostUsed > hostCapacity; }
  std::vector<Remedy> fitting; ///< changes that fit, fastest first
  std::vector<Remedy> failing; ///< changes that do not, smallest first
  std::string remedy;          ///< sentences, a line each; empty when it fits

  Bytes peak() const;
  /// Above the reserve when not negative.
  Bytes slack() const { return capacity - reserve - peak(); }
};

/// A line of the user's text and what it costs: time charged to it, averaged
/// over ranks.
struct CostLine {
  Place place;
  std::string text; ///< the line as written, blanks run together
  std::string what; ///< `exposed`, `bubble and transfer`
  Int128 rankTime = 0;
};

/// The same work in one order.
struct OrderFigures {
  Duration stepTime;
  Int128 exposed = 0;      ///< rank-time of all kinds of communication (M7)
  Int128 bubble = 0;       ///< rank-time (M6)
  Int128 spanRankTime = 0; ///< ranks × pipeline span
};

/// Three orders, and the step times that no order beats (M10).
struct Orders {
  OrderFigures program, framework, chosen;
  Duration bound;               ///< passes of each rank in the schedule's order
  Duration anyOrderBound;       ///< passes in any order; never above the other
  std::string frameworkBuckets; ///< whose: the word of a plan's `bucket`

  /// (chosen − bound) / bound.
  double aboveBound() const;
  /// Whether another order of passes may be worth half a percent.
  bool twoBounds() const;
};

/// The chosen order where no switch sums (M12).
struct WithoutReduction {
  std::string levels; ///< that sum: `leaf, spine`
  OrderFigures figures;
};

struct ExpectationResult {
  std::string text; ///< as written
  std::string metric;
  enum class Verdict : std::uint8_t {
    Holds,
    Fails,
    Unknown
  } verdict = Verdict::Unknown;
  double expected = 0, found = 0; ///< base units; found only if not Unknown
  Place place;
};

struct DiagnosticRow {
  std::string code, severity, message;
  std::string file;
  std::int64_t line = 0, column = 0;
};

/// Layers of one repeat that are alike: one micro-batch through one of them,
/// alone on its accelerators, with collectives that it waits for.
struct LayerTimes {
  std::string name; ///< of the repeat
  std::int64_t layers = 0;
  Duration forward, backward; ///< backward with what it makes again
};

struct Report {
  Planned planned;
  Duration stepTime;
  ModelFlops modelFlops;
  Int128 recomputedFlops = 0;
  NamedPeak peak;                       ///< the plan's own (M3)
  std::optional<NamedPeak> printedPeak; ///< `--peak`
  Waterfall waterfall;
  /// A short reason beside a row of the waterfall, where there is one.
  std::array<std::string, kCauseCount> reasons;
  std::vector<Communication> communication; ///< kinds that occur, in order
  std::optional<Bubble> bubble;             ///< with a pipeline only
  MemoryReport memory;
  std::vector<LayerTimes> layers; ///< in model order
  std::vector<CostLine> lines;    ///< dearest first, at most kLines
  std::optional<Orders> orders;
  /// Where that changes the step by a thousandth or more.
  std::optional<WithoutReduction> withoutReduction;
  std::vector<ExpectationResult> expectations;
  std::vector<DiagnosticRow> diagnostics; ///< warnings and remarks

  static constexpr std::size_t kLines = 3;

  Int128 rankStepTime() const; ///< accelerators × step time
  /// 0–1, by the printed peak.
  double mfu(Convention convention) const;
  /// Of the same work in another step time; `exact`.
  double mfuAt(Duration stepTime) const;
  double hfu(Convention convention) const;
  /// 0–1, by the plan's own peak, which is what expectations are held against.
  double ownMfu(Convention convention) const;
  double ownHfu(Convention convention) const;
  double tokensPerSecond() const;
  double modelFlopsPerSecondPerAccelerator(Convention convention) const;
  /// ok, expectation_failed or infeasible.
  std::string_view status() const;
};

/// Rules R1…: causes add up to accelerators × step time; MFU by the plan's own
/// peak is the share of model arithmetic; exposed ≤ in flight; no cause but
/// LowerPeak below zero. One line per broken rule, empty when sound.
std::vector<std::string> verify(const Report &report);

} // namespace planc::report
