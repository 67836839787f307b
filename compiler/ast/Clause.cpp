#include "compiler/ast/Clause.h"

namespace planc::ast {

std::string_view keywordOf(ClauseKind kind) {
  switch (kind) {
  case ClauseKind::Batch:
    return "batch";
  case ClauseKind::Mesh:
    return "mesh";
  case ClauseKind::Shard:
    return "shard";
  case ClauseKind::Pipeline:
    return "pipeline";
  case ClauseKind::Attention:
    return "attention";
  case ClauseKind::Recompute:
    return "recompute";
  case ClauseKind::Optimizer:
    return "optimizer";
  case ClauseKind::Precision:
    return "precision";
  case ClauseKind::Train:
    return "train";
  case ClauseKind::Freeze:
    return "freeze";
  case ClauseKind::Kernels:
    return "kernels";
  case ClauseKind::Overlap:
    return "overlap";
  case ClauseKind::Bucket:
    return "bucket";
  case ClauseKind::Prefetch:
    return "prefetch";
  case ClauseKind::Reshard:
    return "reshard";
  case ClauseKind::Offload:
    return "offload";
  case ClauseKind::Target:
    return "target";
  case ClauseKind::Expect:
    return "expect";
  case ClauseKind::Minimize:
    return "minimize";
  case ClauseKind::Drop:
    return "not";
  }
  return "";
}

} // namespace planc::ast
