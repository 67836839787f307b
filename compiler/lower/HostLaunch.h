// Passes whose kernels the host launches more slowly than they run
// (docs/cost.md, C17).
#pragma once

#include "compiler/lower/LowerBody.h"
#include "compiler/lower/MergePasses.h"

namespace planc::lower {

/// What a launch takes the host, and how many launches the module around a
/// product is worth, the product's own among them.
struct HostPace {
  Duration launch;
  double module = 1;
  /// Blocking: a launch begins when the kernel before has ended.
  enum class Launches { Queued, Blocking } launches = Launches::Queued;
};

/// The host's time for one pass. The module around a product runs once a pass:
/// with the product of the weight's gradient it is only a launch. `launch` is
/// at most a second; past virtual time the sum stays at its largest.
Duration hostTime(const std::vector<program::Instruction> &instructions,
                  const HostPace &pace);

/// Where the host needs longer for a pass than the pass takes, its kernels wait
/// for the difference, shared by how much longer each is to launch than to run:
/// then lengthOf the pass is about hostTime. The host is taken to begin a pass
/// together with the accelerator, so a lead that it has from one pass is not
/// counted in the next. Where launches block, kernels wait for all of it.
void waitForHost(LoweredBody &body, const HostPace &pace,
                 const InstructionTime &time);

} // namespace planc::lower
