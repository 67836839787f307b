#include "compiler/driver/PlanWords.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::driver {

namespace {

/// The plan's list with one word more.
std::string overlapWith(const sema::Plan &plan, const sema::OverlapWord &more) {
  std::string list;
  for (const sema::OverlapWord &word : sema::kOverlapWords)
    if (plan.overlap.*word.member || word.name == more.name)
      list += (list.empty() ? "" : ", ") + std::string(word.name);
  return "overlap " + list;
}

/// Balanced chunks alone: others were drawn for their number.
std::string moreChunks(const sema::Plan &plan) {
  if (!plan.pipeline)
    return "";
  const sema::Pipeline &pipeline = *plan.pipeline;
  const schedules::ChunksPerRank chunks =
      schedules::infoOf(pipeline.schedule).chunks;
  if ((chunks != schedules::ChunksPerRank::AsAsked &&
       chunks != schedules::ChunksPerRank::Waves) ||
      !pipeline.layers.empty() || pipeline.group || pipeline.hasPairs)
    return "";
  return fmt::format("pipeline over {} {{ schedule {}, virtual {} }}",
                     plan.mesh.axes[pipeline.axis].name,
                     schedules::infoOf(pipeline.schedule).name,
                     2 * pipeline.virtualStages);
}

} // namespace

std::vector<std::string> wordsToTry(const sema::Plan &plan) {
  std::vector<std::string> out;
  for (const sema::OverlapWord &word : sema::kOverlapWords)
    if (!(plan.overlap.*word.member))
      out.push_back(overlapWith(plan, word));
  if (plan.bucket.kind != sema::BucketKind::Auto)
    out.push_back("bucket auto");
  if (const std::string chunks = moreChunks(plan); !chunks.empty())
    out.push_back(chunks);
  return out;
}

std::vector<report::PlanChange> changesThatHelp(const Compilation &compilation,
                                                const TryClauses &tryClauses) {
  constexpr std::int64_t kLeast = 1'000; // part of the step
  const Duration step = compilation.runs->chosen.stepTime;
  std::vector<report::PlanChange> out;
  for (const std::string &clauses : wordsToTry(compilation.module->plan))
    if (const std::optional<report::Remedy> tried = tryClauses(clauses);
        tried && tried->stepTime > Duration(0) &&
        (step - tried->stepTime).value >= step.value / kLeast)
      out.push_back({clauses, tried->stepTime - step});
  std::stable_sort(out.begin(), out.end(), [](const auto &a, const auto &b) {
    return a.change < b.change;
  });
  return out;
}

} // namespace planc::driver
