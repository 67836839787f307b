// What may be fitted of a level of links, each on a grid of values that print
// without loss, so that what was fitted is what is written.
#pragma once

#include "runtime/hardware/Cluster.h"

#include <string_view>
#include <vector>

namespace planc::calibrate {

enum class Grid : std::uint8_t {
  Share, ///< 0.1 % to 100 %, a thousandth apart
  Bytes, ///< 0, then two digits from 1 kB to 99 GB
  Time,  ///< 0, then two digits from 100 ns to 9.9 ms
};

struct Knob {
  std::string_view name; ///< of the field in a .plan
  Grid grid = Grid::Share;
  double hardware::LevelConstants::*constant = nullptr; ///< none: the latency

  int last() const; ///< largest index
  double valueAt(int index) const;
  /// The index whose value is nearest.
  int indexOf(double value) const;
  double read(const hardware::Level &level) const;
  void write(hardware::Level &level, double value) const;
};

enum class KnobSet : std::uint8_t {
  Ring,     ///< efficiency, latency, message_half, message_ramp
  Switch,   ///< reduction_efficiency, latency, reduction_half, reduction_ramp
  Transfer, ///< transfer_efficiency
};
std::vector<Knob> knobsOf(KnobSet set);

} // namespace planc::calibrate
