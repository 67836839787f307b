// Every picosecond of every rank's compute stream over one steady step, charged
// to a cause and, where the plan has one, to a line (METRICS M4, M5).
#pragma once

#include "runtime/report/BuildReport.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace planc::report {

inline constexpr std::size_t kKinds =
    static_cast<std::size_t>(program::CommunicationKind::Host) + 1;

/// Why a clause costs something; in the order in which they are named.
enum class Charge : std::uint8_t {
  Exposed,
  Bubble,
  Transfer,
  SmallMatrices,
  Recomputation,
  Update,
  Repeated,
};
inline constexpr std::size_t kCharges =
    static_cast<std::size_t>(Charge::Repeated) + 1;
using Charges = std::array<Int128, kCharges>;

/// Rank-time of kernels of one sort, and what of it their arithmetic takes at
/// the peak of their own precision. Recomputation left out.
struct KernelShare {
  Int128 time = 0, arithmetic = 0;
};

struct Attribution {
  Waterfall waterfall;
  Int128 recomputedFlops = 0;
  Int128 launches = 0;
  KernelShare products, attention;
  /// Memory-bound kernels by the last part of their names.
  std::map<std::string, Int128> memoryKernels;
  std::array<Int128, kKinds> inFlight{}, exposedAtLeast{};
  std::map<OriginId, Charges> charges; ///< by clause
};

Attribution attribute(const ReportInputs &inputs);

/// Idle time of the compute stream, by kind of communication, when every
/// collective of the block starts as soon as it can: the order of kernels is
/// the block's, nothing else holds a collective up. No order of its collectives
/// waits less.
std::array<Duration, kKinds> unavoidableWaits(const program::Block &block,
                                              const cost::CostModel &cost);

} // namespace planc::report
