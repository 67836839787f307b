// A collective and the products around it, cut in parts.
#pragma once

#include "compiler/lower/LowerBody.h"

namespace planc::lower {

/// What may be cut in one pass.
struct PartsSite {
  enum class Way : std::uint8_t { Gathered, Scattered, Reduced } way;
  std::uint32_t collective = 0;
  /// Gathered: products that read what is gathered, and copies of it in a
  /// narrow format that they read instead, in order. Else products that make
  /// what is reduced; where there are several the sum they add into comes last.
  std::vector<std::uint32_t> kernels;
  /// By kernel: the dimension of its result that is cut.
  std::vector<ops::DimId> dims;
  std::int64_t parts = 1;
};

struct PartsRequest {
  const shard::ShardedGraph *graph = nullptr;
  ops::BodyId body;
  const LoweredPass *pass = nullptr;
};

/// The ways to cut at an instruction; none where it is no collective of
/// activations, or where an operator cannot work on a part.
std::vector<PartsSite> partsSites(const PartsRequest &request,
                                  std::uint32_t collective);

struct CutPass {
  LoweredPass pass;
  /// By instruction before: the one that completes it now.
  std::vector<std::uint32_t> place;
  Bytes received; ///< parts of others, held until they are added up
};
CutPass cutInParts(const PartsRequest &request, const PartsSite &site);

} // namespace planc::lower
