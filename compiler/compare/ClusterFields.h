// Fields of a cluster, each with its key, its text and a way to copy it.
#pragma once

#include "runtime/hardware/Cluster.h"

#include <functional>
#include <string>
#include <vector>

namespace planc::compare {

struct ClusterField {
  std::string key; ///< `accelerator.peak bf16`, `cluster.pod.link`
  std::function<std::string(const hardware::Cluster &)> text; ///< exact
  std::function<void(hardware::Cluster &to, const hardware::Cluster &from)>
      copy;
};

/// All that a step, its memory or its price may depend on; names are no part.
/// The fields work for every cluster with as many levels.
std::vector<ClusterField> fieldsOf(const hardware::Cluster &cluster);

/// `node of 8, pod of 384`: what makes fields of levels comparable.
std::string levelsText(const hardware::Cluster &cluster);
/// The names alone.
std::string levelNames(const hardware::Cluster &cluster);

} // namespace planc::compare
