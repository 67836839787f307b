// Times the simulator on a plan: one compile, then the chosen order again and
// again. `items_per_second` counts instructions run in virtual time, flat, and
// the tasks and runs of both modes.
//
// usage: sim_bench FILE [PLAN] [--benchmark_…]
#include "compiler/driver/Compilation.h"

#include <benchmark/benchmark.h>

#include <cstdio>

namespace {

using namespace planc;

/// Of both steps: what runs, where every instruction of a run counts, and
/// messages and buckets.
std::int64_t operationsOf(const program::ProgramSet &programs) {
  std::int64_t count = 0;
  for (const program::RankProgram &code : programs.classes) {
    for (const program::Task &task : code.tasks)
      count += task.kind == program::TaskKind::Run
                   ? static_cast<std::int64_t>(
                         programs.blocks[task.block].instructions.size())
                   : 1;
    count += static_cast<std::int64_t>(code.reduces.size());
  }
  return count * sim::Options().steps;
}

void simulate(benchmark::State &state, const driver::Compilation *compiled,
              sim::Mode mode) {
  sim::Options options;
  options.mode = mode;
  for (auto _ : state) {
    auto timeline = sim::simulate(*compiled->programs, compiled->runs->costs,
                                  compiled->runs->order, options);
    benchmark::DoNotOptimize(timeline);
  }
  state.SetItemsProcessed(state.iterations() *
                          operationsOf(*compiled->programs));
}

} // namespace

int main(int count, char **arguments) {
  benchmark::Initialize(&count, arguments);
  if (count < 2) {
    std::fprintf(stderr, "usage: sim_bench FILE [PLAN]\n");
    return 1;
  }
  driver::Options options;
  options.file = arguments[1];
  if (count > 2)
    options.planName = arguments[2];
  driver::Session session(options);
  session.run();
  const driver::Compilation &compiled = session.compilation();
  if (!compiled.runs) {
    std::fprintf(stderr, "%s does not compile\n", arguments[1]);
    return 1;
  }
  benchmark::RegisterBenchmark("flat", simulate, &compiled, sim::Mode::Flat);
  benchmark::RegisterBenchmark("reused", simulate, &compiled, sim::Mode::Reuse);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
