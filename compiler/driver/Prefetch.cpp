#include "compiler/driver/Prefetch.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/Refine.h"
#include "compiler/driver/Simulate.h"

#include <algorithm>
#include <map>

namespace planc::driver {

namespace {

/// Compiles the plan at one depth after another.
class Depths {
public:
  Depths(const Compilation &c, const Options &options)
      : c_(c), options_(options), module_(*c.module) {}

  std::int64_t choose() {
    std::optional<Duration> shortest;
    for (std::int64_t depth = 0; depth <= kDeepestPrefetch;
         depth = std::max<std::int64_t>(1, 2 * depth)) {
      const std::optional<Duration> step = stepAt(depth);
      if (!step)
        break; // deeper needs more memory still
      shortest = std::min(shortest.value_or(*step), *step);
    }
    if (!shortest)
      return 0;
    // By halves: within them a deeper one is no slower.
    const Duration least = *shortest + Duration(shortest->value / kNear);
    const auto isNear = [&](std::int64_t depth) {
      const std::optional<Duration> step = stepAt(depth);
      return step && *step <= least;
    };
    std::int64_t above = 0, below = -1;
    while (!isNear(above)) {
      below = above;
      above = std::max<std::int64_t>(1, 2 * above);
    }
    while (above - below > 1) {
      const std::int64_t middle = below + (above - below) / 2;
      (isNear(middle) ? above : below) = middle;
    }
    return above;
  }

private:
  static constexpr std::int64_t kNear = 2000;

  /// Nothing where the depth does not fit, or the step passes virtual time.
  std::optional<Duration> stepAt(std::int64_t depth) {
    auto [at, isNew] = known_.try_emplace(depth);
    if (isNew)
      at->second = compileAt(depth);
    return at->second;
  }

  std::optional<Duration> compileAt(std::int64_t depth) {
    module_.plan.prefetch = depth;
    const Refined refined = refine({&module_, &*c_.sharded, &*c_.cost});
    const program::ProgramSet programs = lower::emitProgram(
        {&*c_.sharded, &refined.stages, &module_.plan, &refined.bodies,
         module_.accelerators, module_.plan.name, instructionTimes(*c_.cost)});
    const Bytes usable =
        module_.cluster.accelerator.memory - module_.cluster.reserve;
    for (const program::RankProgram &rankClass : programs.classes)
      if (rankClass.memory.total() > usable)
        return std::nullopt;
    Result<Duration> step =
        frameworkStep(programs, *c_.cost, module_.plan, options_);
    return step ? std::optional(*step) : std::nullopt;
  }

  const Compilation &c_;
  const Options &options_;
  sema::Module module_;
  std::map<std::int64_t, std::optional<Duration>> known_;
};

} // namespace

bool choosesPrefetch(const sema::Plan &plan) {
  const bool fetches = !plan.parameters.axes.empty() || plan.offload.parameters;
  return plan.prefetchIsAuto && plan.overlap.parameters && fetches &&
         plan.reshard != sema::Reshard::Never;
}

std::int64_t chosenPrefetch(const Compilation &c, const Options &options) {
  return choosesPrefetch(c.module->plan) ? Depths(c, options).choose()
                                         : c.module->plan.prefetch;
}

} // namespace planc::driver
