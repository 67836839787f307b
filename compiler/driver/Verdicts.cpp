#include "compiler/driver/Verdicts.h"

#include "compiler/diag/Kinds.h"
#include "compiler/driver/MakeReport.h"
#include "compiler/driver/Refine.h"

#include <algorithm>

namespace planc::driver {

namespace {

void reportMemory(const report::MemoryReport &memory, source::SourceSpan plan,
                  diag::Emitter &emitter) {
  if (memory.fit == report::Fit::DoesNotFit) {
    double gib = 1024.0 * 1024 * 1024;
    const bool isHost = memory.hostOverflows() && memory.slack() >= Bytes(0);
    auto made = isHost
                    ? emitter.report(plan, diag::Kind::DoesNotFit,
                                     "a host needs {:.1f} GiB and has {:.1f}",
                                     memory.hostUsed.toDouble() / gib,
                                     memory.hostCapacity.toDouble() / gib)
                    : emitter.report(
                          plan, diag::Kind::DoesNotFit,
                          "{} needs {:.1f} GiB, {:.1f} of {:.1f} GiB are "
                          "usable",
                          memory.stages[memory.fullest].stage,
                          memory.peak().toDouble() / gib,
                          (memory.capacity - memory.reserve).toDouble() / gib,
                          memory.capacity.toDouble() / gib);
    for (std::string_view rest = memory.remedy; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      made.help("{}", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

void reportRecompute(const Compilation &c, diag::Emitter &emitter) {
  constexpr std::int64_t kLittle = 20'000; // of a million
  std::optional<std::int64_t> saves =
      recomputeSaves({&*c.sharded, &*c.module, &*c.cost});
  if (saves && *saves < kLittle)
    emitter
        .report(c.origins[c.module->plan.recompute.clause].span,
                diag::Kind::RecomputeSavesNothing,
                "this frees {:.1f} % of what a layer keeps",
                static_cast<double>(*saves) / 1e4)
        .help("`recompute auto` takes what does free memory");
}

void reportBubble(const sema::Plan &plan, const source::OriginTable &origins,
                  diag::Emitter &emitter) {
  std::optional<BubbleAdvice> advice = bubbleAdvice(plan);
  if (!advice)
    return;
  const sema::Batch &batch = plan.batch;
  auto made = emitter.report(
      origins[plan.pipeline->clause].span, diag::Kind::BubbleLarge,
      "{}/{} of the pipeline is bubble with {} micro-batch{} on {} stages: the "
      "batch is too small for them",
      advice->numerator, advice->denominator, batch.microBatches,
      batch.microBatches == 1 ? "" : "es", plan.pipeline->stages);
  if (advice->microBatches)
    std::move(made).help(
        "under 10 % from {} micro-batches: {} sequences", *advice->microBatches,
        *advice->microBatches * (batch.sequences / batch.microBatches));
}

bool reportExpectations(const Compilation &c, diag::Emitter &emitter) {
  bool failed = false;
  for (std::size_t i = 0; i < c.report->expectations.size(); ++i) {
    const report::ExpectationResult &expectation = c.report->expectations[i];
    if (expectation.verdict != report::ExpectationResult::Verdict::Fails)
      continue;
    failed = true;
    emitter.report(c.origins[c.module->plan.expectations[i].origin].span,
                   diag::Kind::ExpectationFailed, "`{}` does not hold",
                   expectation.text);
  }
  return failed;
}

} // namespace

Outcome reportVerdicts(const Compilation &c, const Options &options,
                       diag::Emitter &emitter) {
  const sema::Plan &plan = c.module->plan;
  const report::MemoryReport &memory = c.report->memory;
  reportMemory(memory, c.origins[plan.origin].span, emitter);
  const bool lints = options.lints == Options::Lints::On;
  if (lints || options.asides == Options::Asides::Made)
    reportRecompute(c, emitter);
  // A pipeline that starves is told once.
  const bool starves =
      plan.pipeline && plan.batch.microBatches < plan.pipeline->stages;
  if (!lints || !starves)
    reportBubble(plan, c.origins, emitter);
  const bool failed = reportExpectations(c, emitter);
  if (memory.fit == report::Fit::DoesNotFit)
    return Outcome::Infeasible;
  return failed ? Outcome::ExpectationFailed : Outcome::Ok;
}

} // namespace planc::driver
