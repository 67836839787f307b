// Reductions that wait so that others have the links.
#include "runtime/sim/IssueOrder.h"

#include <algorithm>
#include <limits>

namespace planc::sim {

using program::RankClassId;
using program::RankProgram;
using timeline::Bucket;
using timeline::Communication;

namespace {

struct RunEnd {
  Duration end;
  program::TaskId task;
};

/// Passes of one class in the last step, by end.
std::vector<RunEnd> passEnds(const timeline::Timeline &seen,
                             const program::ProgramSet &set, RankClassId id) {
  std::vector<RunEnd> ends;
  const auto last = static_cast<std::int32_t>(seen.steps.size()) - 1;
  for (const timeline::Run &run : seen.classes[id].runs)
    if (run.step == last &&
        set.classes[id].tasks[run.task].pass != program::PassKind::Update)
      ends.push_back({run.end, run.task});
  return ends;
}

/// Reductions of one class in the last step, by bucket.
std::vector<const Communication *> reductionsOf(const timeline::Timeline &seen,
                                                RankClassId id) {
  std::vector<const Communication *> out(seen.classes[id].reduces.size());
  const auto last = static_cast<std::int32_t>(seen.steps.size()) - 1;
  for (const Communication &one : seen.classes[id].communications)
    if (one.source == timeline::CommunicationSource::Reduce && one.step == last)
      out[one.index] = &one;
  return out;
}

Duration stretched(Duration time, std::int64_t eighths) {
  const Int128 most = std::numeric_limits<std::int64_t>::max() / 4;
  return Duration(static_cast<std::int64_t>(
      std::min(most, Int128(time.value) * eighths / 8)));
}

} // namespace

IssueOrder heldIssue(const program::ProgramSet &set, const Costs &costs,
                     const timeline::Timeline &seen, const IssueOrder &order,
                     std::int64_t eighths) {
  IssueOrder out = order;
  Duration end(0);
  for (RankClassId id : set.classes.ids())
    for (const Communication *one : reductionsOf(seen, id))
      end = std::max(end, one->end);
  for (RankClassId id : set.classes.ids()) {
    const RankProgram &rankClass = set.classes[id];
    const std::vector<RunEnd> runs = passEnds(seen, set, id);
    const std::vector<const Communication *> ran = reductionsOf(seen, id);
    std::vector<Bucket> &buckets = out.classes[id].reduces;
    Duration latest = end;
    for (std::size_t b = buckets.size(); b-- > 0;) {
      Bucket &bucket = buckets[b];
      latest -= stretched(costs
                              .bucket(rankClass,
                                      rankClass.reduces[bucket.pieces.front()],
                                      bucket.bytes)
                              .duration,
                          eighths);
      bucket.hold = program::TaskId();
      if (bucket.after != Bucket::kNone)
        continue;
      auto after = std::partition_point(
          runs.begin(), runs.end(),
          [&](const RunEnd &run) { return run.end <= latest; });
      if (after != runs.begin() && (after - 1)->end > ran[b]->ready)
        bucket.hold = (after - 1)->task;
    }
  }
  return out;
}

} // namespace planc::sim
