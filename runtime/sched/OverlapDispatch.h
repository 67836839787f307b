// Serves resources and the link in time order: whoever is free takes the first
// of what is ready.
#pragma once

#include "runtime/sched/OverlapNetwork.h"

namespace planc::sched {

enum class TaskRule {
  ById,
  ByPriority,
  Patient ///< by priority, and nothing that would still run when a task of a
          ///< higher priority is known to arrive
};
enum class LinkRule {
  ByPriority,
  FirstCome,        ///< the bucket that became ready first
  FirstComeInGroups ///< and those of a group in the order given
};

struct DispatchRules {
  TaskRule tasks = TaskRule::ById;
  LinkRule link = LinkRule::FirstCome;
  std::vector<std::int64_t> taskPriority;   ///< larger first, ties by id
  std::vector<std::int64_t> bucketPriority; ///< likewise
};

/// The order in which resources take tasks and the link these buckets; nothing
/// when it stands still. O((n + dependences) log n).
std::optional<OverlapOrder>
dispatch(const OverlapNetwork &network, const DispatchRules &rules,
         std::vector<std::vector<OverlapPieceId>> buckets);

} // namespace planc::sched
