// What a rank holds over one step, run by run (METRICS M8).
#pragma once

#include "runtime/base/Quantity.h"

#include <algorithm>
#include <vector>

namespace planc::program {

/// Over what is there all along.
struct RunMemory {
  Bytes during; ///< the most while the run is under way
  Bytes after;  ///< from its end to the begin of the next
};

/// Of one class of ranks. `runs` has one entry for each Run task, in the order
/// of their ids; the most of `standing` + `during` is the total of the class's
/// Memory.
struct MemoryCurve {
  Bytes standing; ///< states, what is gathered, buffers
  std::vector<RunMemory> runs;

  Bytes peak() const {
    Bytes most;
    for (const RunMemory &run : runs)
      most = std::max(most, run.during);
    return standing + most;
  }
};

} // namespace planc::program
