#include "compiler/lower/HostLaunch.h"

#include "tests/unit/Catch.h"
#include "tests/unit/lower/Lowered.h"

#include <algorithm>

using namespace planc;
using namespace planc::lower;
using program::Instruction;
using program::InstructionClass;
using program::InstructionKind;
using program::Phase;

namespace {

constexpr Duration kKernel = Duration(5'000'000);

LoweredBody layer() {
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike({});
  return bodyOf(*lowered(spec), "decoder");
}

/// Every kernel and collective takes as long, and then waits.
Duration timeOf(const Instruction &instruction) {
  return kKernel + instruction.work.hostWait;
}

std::int64_t modulesIn(const LoweredPass &pass) {
  return std::count_if(pass.instructions.begin(), pass.instructions.end(),
                       [](const Instruction &instruction) {
                         return instruction.kind == InstructionKind::MatMul &&
                                instruction.phase != Phase::WeightGradient;
                       });
}

std::int64_t launchesIn(const LoweredPass &pass) {
  std::int64_t launches = 0;
  for (const Instruction &instruction : pass.instructions)
    launches += classOf(instruction.kind) == InstructionClass::Compute
                    ? instruction.work.kernels
                    : 1;
  return launches;
}

} // namespace

TEST_CASE("a host that launches in time keeps nobody waiting") {
  const LoweredBody before = layer();
  const Duration length = lengthOf(before.forward.instructions, timeOf);
  LoweredBody after = before;
  waitForHost(after, {Duration(length.value / launchesIn(before.forward)), 1},
              timeOf);
  CHECK(lengthOf(after.forward.instructions, timeOf) == length);
  waitForHost(after, {Duration(0), 5.5}, timeOf);
  CHECK(lengthOf(after.forward.instructions, timeOf) == length);
}

TEST_CASE("launches that no time can hold stay at the longest") {
  LoweredBody after = layer();
  Instruction &first = after.forward.instructions.front();
  first.work.kernels = 1 << 30;
  const HostPace pace{durationFromSeconds(1), 5.5};
  const Duration host = hostTime(after.forward.instructions, pace);
  CHECK(host.value > 0);
  CHECK(toSeconds(host) > 25.0 * 86400);
  waitForHost(after, pace, timeOf);
  for (const Instruction &instruction : after.forward.instructions)
    CHECK(instruction.work.hostWait.value >= 0);
}

TEST_CASE("a pass is as long as its launches, or as itself") {
  const LoweredBody before = layer();
  for (const std::int64_t launch : {4'000'000, 6'000'000, 13'500'000})
    for (const double module : {1.0, 5.5}) {
      CAPTURE(launch, module);
      LoweredBody after = before;
      const HostPace pace{Duration(launch), module};
      waitForHost(after, pace, timeOf);
      for (LoweredPass LoweredBody::*pass :
           {&LoweredBody::forward, &LoweredBody::backward}) {
        const Duration host = hostTime((before.*pass).instructions, pace);
        CHECK(host.value ==
              Approx(static_cast<double>(launch) *
                     (static_cast<double>(launchesIn(before.*pass)) +
                      (module - 1) *
                          static_cast<double>(modulesIn(before.*pass)))));
        const Duration length = lengthOf((after.*pass).instructions, timeOf);
        const Duration longest =
            std::max(host, lengthOf((before.*pass).instructions, timeOf));
        CHECK(std::abs((length - longest).value) <
              static_cast<std::int64_t>((before.*pass).instructions.size()));
      }
    }
}

TEST_CASE("launches that block add up with what they launch") {
  const LoweredBody before = layer();
  for (const std::int64_t launch : {1'000'000, 20'000'000}) {
    CAPTURE(launch);
    LoweredBody after = before;
    const HostPace pace{Duration(launch), 5.5, HostPace::Launches::Blocking};
    waitForHost(after, pace, timeOf);
    const Duration host = hostTime(before.forward.instructions, pace);
    const Duration sum = host + lengthOf(before.forward.instructions, timeOf);
    const Duration length = lengthOf(after.forward.instructions, timeOf);
    CHECK(std::abs((length - sum).value) <
          static_cast<std::int64_t>(before.forward.instructions.size()));
  }
}
