#include "compiler/lower/HostLaunch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace planc::lower {

using program::Instruction;
using program::InstructionClass;
using program::InstructionKind;
using program::Phase;

namespace {

/// A quarter of the range: with a kernel's own time it still fits.
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;

Duration launchesOf(const Instruction &instruction, const HostPace &pace) {
  const bool isKernel =
      program::classOf(instruction.kind) == InstructionClass::Compute;
  double launches = isKernel ? std::max(instruction.work.kernels, 0) : 1;
  if (instruction.kind == InstructionKind::MatMul &&
      instruction.phase != Phase::WeightGradient)
    launches += pace.module - 1;
  const double time = launches * static_cast<double>(pace.launch.value);
  return Duration(static_cast<std::int64_t>(
      std::min(std::floor(time), static_cast<double>(kMost))));
}

void waitIn(std::vector<Instruction> &pass, const HostPace &pace,
            const InstructionTime &time) {
  const bool blocks = pace.launches == HostPace::Launches::Blocking;
  const Duration host = hostTime(pass, pace);
  const std::int64_t late =
      blocks ? host.value : (host - lengthOf(pass, time)).value;
  if (late <= 0)
    return;
  std::vector<std::int64_t> behind(pass.size(), 0);
  Int128 all = 0;
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (program::classOf(pass[i].kind) == InstructionClass::Compute) {
      const std::int64_t launches = launchesOf(pass[i], pace).value;
      behind[i] =
          blocks ? launches
                 : std::max<std::int64_t>(0, launches - time(pass[i]).value);
      all += behind[i];
    }
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (behind[i] > 0)
      pass[i].work.hostWait =
          Duration(static_cast<std::int64_t>(Int128(late) * behind[i] / all));
}

} // namespace

Duration hostTime(const std::vector<Instruction> &instructions,
                  const HostPace &pace) {
  Int128 total = 0;
  for (const Instruction &instruction : instructions)
    total += launchesOf(instruction, pace).value;
  return Duration(static_cast<std::int64_t>(std::min<Int128>(total, kMost)));
}

void waitForHost(LoweredBody &body, const HostPace &pace,
                 const InstructionTime &time) {
  if (pace.launch.value <= 0)
    return;
  for (LoweredPass *pass :
       {&body.forward, &body.backward, &body.split.input, &body.split.weight})
    waitIn(pass->instructions, pace, time);
}

} // namespace planc::lower
