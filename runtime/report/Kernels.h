// What a kernel's time is made of, from its cost alone: asked once for each
// instruction of each block.
#pragma once

#include "runtime/report/BuildReport.h"

namespace planc::report {

/// Picoseconds of one launch of an instruction. `model` + `lower` is what its
/// model FLOPs take at the peak of its own precision.
struct KernelParts {
  enum class Sort : std::uint8_t {
    Product,   ///< matrix product
    Attention, ///< forward or backward
    Memory,    ///< anything else
  } sort = Sort::Memory;
  program::Phase phase = program::Phase::Forward;
  /// What is above launch and model arithmetic is charged to.
  Cause rest = Cause::MemoryBound;
  std::int64_t model = 0; ///< model FLOPs at the plan's peak
  std::int64_t lower = 0; ///< more than that at its own precision's peak
  std::int64_t launch = 0;
  std::int64_t after = 0;      ///< memory-bound kernels of its own after it
  std::int64_t straggle = 0;   ///< until the slowest accelerator has it too
  std::int64_t arithmetic = 0; ///< executed FLOPs at its own peak
  /// Of the time alone: what a product of this many FLOPs takes longer than a
  /// large, well-tiled one.
  std::int64_t smallness = 0;
  Int128 modelFlops = 0, recomputedFlops = 0;
  std::int32_t launches = 0;
};

/// Of a Compute instruction.
KernelParts partsOf(const program::Instruction &instruction,
                    const ReportInputs &inputs);

} // namespace planc::report
