// What a plan's report shows to be wasted although it is legal. Each finding is
// a warning with the numbers of this plan and a way out; a plan that does
// nothing odd gets none.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/sema/Module.h"
#include "compiler/shard/ShardedGraph.h"
#include "compiler/source/Origin.h"
#include "runtime/report/Report.h"

namespace planc::lint {

/// One compile that came to its report. `orders` of the report may be missing;
/// what needs the bound is then not said.
struct Subject {
  const sema::Module &module;
  const shard::ShardedGraph &sharded;
  const report::Report &report;
  const source::OriginTable &origins;

  source::SourceSpan span(OriginId origin) const {
    return origins[origin].span;
  }
};

/// A share of a step that is worth a word: a twentieth.
inline constexpr double kWorthSaying = 0.05;

/// Rank-time of the step that ranks wait for one kind of communication, as a
/// share of all.
double exposedShare(const report::Report &report,
                    program::CommunicationKind kind);

void lint(const Subject &subject, diag::Emitter &emitter);

/// Heads and cut dimensions that leave their last tile empty (Tiles.cpp).
void lintTiles(const Subject &subject, diag::Emitter &emitter);

} // namespace planc::lint
