#include "compiler/driver/Prefetch.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/Refine.h"
#include "compiler/driver/Simulate.h"

#include <algorithm>
#include <vector>

namespace planc::driver {

namespace {

/// Compiles the plan at one depth after another.
class Depths {
public:
  Depths(const Compilation &c, const Options &options)
      : c_(c), options_(options), module_(*c.module) {}

  std::int64_t choose() {
    std::vector<Duration> steps;
    for (std::int64_t depth = 0; depth <= kDeepestPrefetch; ++depth) {
      const std::optional<Duration> step = compileAt(depth);
      if (!step)
        break; // deeper needs more memory still
      steps.push_back(*step);
    }
    if (steps.empty())
      return 0;
    const Duration shortest = *std::min_element(steps.begin(), steps.end());
    const Duration least = shortest + Duration(shortest.value / kNear);
    const auto isNear = [&](Duration step) { return step <= least; };
    return std::find_if(steps.begin(), steps.end(), isNear) - steps.begin();
  }

private:
  static constexpr std::int64_t kNear = 2000;

  /// Nothing where the depth does not fit, or the step passes virtual time.
  std::optional<Duration> compileAt(std::int64_t depth) {
    module_.plan.prefetch = depth;
    const Refined refined = refine({&*c_.sharded, &module_, &*c_.cost});
    const program::ProgramSet programs = lower::emitProgram(
        {&*c_.sharded, &refined.stages, &module_.plan, &refined.bodies,
         module_.accelerators, module_.plan.name, instructionTimes(*c_.cost)});
    const Bytes usable = module_.cluster.usableMemory();
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
