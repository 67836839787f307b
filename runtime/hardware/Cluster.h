// Accelerators and the levels of links that join them.
#pragma once

#include "runtime/base/Id.h"
#include "runtime/base/Precision.h"
#include "runtime/base/Quantity.h"

#include <optional>
#include <string>
#include <vector>

namespace planc::hardware {

struct AcceleratorConstants {
#define PLANC_ACCELERATOR_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                \
  double MEMBER = DEFAULT;
#include "runtime/hardware/Constants.def"
};
struct LevelConstants {
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                      \
  double MEMBER = DEFAULT;
#include "runtime/hardware/Constants.def"
};

struct Peak {
  Precision precision = Precision::Bf16;
  FlopRate rate; ///< dense
};

struct Accelerator {
  std::string name;
  std::vector<Peak> peaks;
  Bytes memory;
  ByteRate bandwidth;
  std::int64_t units = 1; ///< streaming multiprocessors
  double watts = 0;
  AcceleratorConstants constants;

  std::optional<FlopRate> peak(Precision precision) const;
};

/// How the groups of a level are joined.
enum class Wiring : std::uint8_t {
  Switched, ///< every accelerator reaches every other at its link's rate
  Torus,    ///< a line: a link to each neighbour; closed to a ring at its ends
  FullMesh, ///< a link of its own to each of the others
};

/// One level of a cluster, from the inside out: `of` groups of the level inside
/// it (of accelerators, at the innermost).
struct Level {
  std::string name;
  std::int64_t of = 1;
  ByteRate link; ///< one direction, per accelerator; one of its links where
                 ///< the wiring gives it several
  Wiring wiring = Wiring::Switched;
  Duration latency; ///< one hop
  bool inNetworkReduction = false;
  double oversubscription = 1; ///< > 1: links upwards are this much thinner
  LevelConstants constants;
};

struct Failures {
  double count = 0, seconds = 0, accelerators = 0;
};

/// The computer that accelerators sit in, as far as offloading sees it.
struct Host {
  Bytes memory;       ///< of one host, for all its accelerators; 0: not stated
  ByteRate bandwidth; ///< of that memory
  ByteRate link;      ///< one direction, per accelerator; 0: not stated
  Duration latency;   ///< of one copy
  std::int64_t accelerators = 0; ///< that share it; 0: the innermost level's
};

struct Cluster {
  std::string name;
  Accelerator accelerator;
  std::vector<Level> levels; ///< innermost first
  Host host;
  Bytes reserve;           ///< memory nobody can use
  double pricePerHour = 0; ///< of one accelerator
  std::optional<Failures> failures;

  /// Levels, from the inside, that are dimensions of one torus.
  std::size_t torusLevels() const;
  /// Accelerators of the whole cluster; saturates at the largest 64-bit value.
  std::int64_t size() const;
  /// Accelerators in one group of level `index` (levels[0].of · … ·
  /// levels[index].of).
  std::int64_t groupSize(std::size_t index) const;
  /// Of one accelerator, without the reserve.
  Bytes usableMemory() const { return accelerator.memory - reserve; }
  /// Accelerators that share one host.
  std::int64_t perHost() const;
};

/// One line per broken rule, empty when sound. D1 at least one level; D2 levels
/// have members; D3 the size fits in 64 bits; D4 units; D5 memory and its
/// bandwidth; D6 a positive peak, each precision once; D7 constants are not
/// negative, efficiencies at most 1; D8 links have a rate, oversubscription is
/// at least 1; D9 the reserve fits in memory; D10 a torus has no other level
/// inside it, and only the innermost level is a full mesh; D11 a host with
/// memory has its bandwidth and a link.
std::vector<std::string> verify(const Cluster &cluster);

} // namespace planc::hardware
