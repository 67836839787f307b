// Pieces that may share buckets, and buckets made of them.
#pragma once

#include "runtime/sched/Algorithms.h"
#include "runtime/sched/TwoLinks.h"
#include "runtime/sim/IssueOrder.h"

#include <functional>
#include <span>

namespace planc::sim {

using Pieces = Table<program::PieceId, program::Piece>;

/// Both and what follows them agree in collective, group and kind.
bool mayMerge(const Pieces &pieces, program::PieceId a, program::PieceId b);

/// Pieces that may share buckets, in the order of their ids; followers left
/// out.
std::vector<std::vector<program::PieceId>> groupsOf(const Pieces &pieces);

/// By reduce piece: whether it is the second leg of a reduction. It follows a
/// piece, or a scatter inside a pass has made it ready, or another that may
/// share its bucket.
std::vector<char> secondLegs(const program::ProgramSet &set,
                             const program::RankProgram &rankClass);

/// Of all, at most the largest number there is.
Bytes bytesOf(const Pieces &pieces, const std::vector<program::PieceId> &ids);

/// Bytes of a group's pieces, ready at once.
std::vector<sched::Item> itemsOf(const Pieces &pieces,
                                 const std::vector<program::PieceId> &group);

/// Boundaries of one group.
using Cut =
    std::function<sched::Buckets(const std::vector<program::PieceId> &)>;

/// First buckets of all chains, as pieces, in the order they are served.
using Heads = std::vector<std::vector<program::PieceId>>;
/// What is done to them once they are in order.
using Join = std::function<void(Heads &)>;

/// Buckets of every group, in order of their last pieces, each chain right
/// behind its first bucket. `order` sorts the pieces of a group, and buckets of
/// several; empty: by id.
std::vector<timeline::Bucket> cutAll(const Pieces &pieces,
                                     std::span<const Duration> order,
                                     const Cut &cut, const Join &join = {});

/// The line through what buckets of `most` and a sixteenth of it cost, all
/// links of the chain one after the other; and those through the first link and
/// the second, of a chain of two.
sched::LinkCost lineThrough(const Costs &costs,
                            const program::RankProgram &rankClass,
                            const Pieces &pieces, program::PieceId first,
                            Bytes most);
sched::TwoLinks linesThrough(const Costs &costs,
                             const program::RankProgram &rankClass,
                             const Pieces &pieces, program::PieceId first,
                             Bytes most);

} // namespace planc::sim
