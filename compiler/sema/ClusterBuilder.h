// Hardware from its text.
#pragma once

#include "compiler/sema/Evaluate.h"
#include "runtime/hardware/Cluster.h"

namespace planc::sema {

/// The cluster with its accelerator; nothing after a report. What it gives
/// passes hardware::verify.
std::optional<hardware::Cluster> buildCluster(Elaboration &elaboration,
                                              const ast::ClusterDecl &cluster,
                                              const FileScope &home);

/// The plan takes the first `count` of it, whole inner levels first.
struct Taken {
  std::int64_t count = 0;
  /// Of the last group it takes a part of, what it leaves.
  std::int64_t leftOver = 0;
};
std::optional<Taken> takeFirst(Elaboration &elaboration,
                               const hardware::Cluster &cluster,
                               std::optional<std::int64_t> count,
                               source::SourceSpan span);

} // namespace planc::sema
