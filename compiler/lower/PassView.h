// One pass and what is known of its operators: for those who cut products in
// parts.
#pragma once

#include "compiler/lower/Kernels.h"
#include "compiler/lower/ProductParts.h"

#include <algorithm>
#include <optional>

namespace planc::lower {

/// Refers to what it is made from.
class PassView {
public:
  explicit PassView(const PartsRequest &request)
      : graph_(*request.graph), sharded_(graph_.bodies[request.body]),
        body_(graph_.graph->bodies[request.body]), pass_(*request.pass) {}

  const std::vector<program::Instruction> &all() const {
    return pass_.instructions;
  }
  const LoweredPass &lowered() const { return pass_; }
  const shard::Step *step(std::uint32_t i) const { return pass_.steps[i]; }

  bool isProduct(std::uint32_t i) const {
    return all()[i].kind == program::InstructionKind::MatMul && step(i) &&
           step(i)->results.size() == 1;
  }

  /// Of an operand, in a narrow format.
  bool isCopy(std::uint32_t i) const {
    return std::find(pass_.copies.begin(), pass_.copies.end(), i) !=
           pass_.copies.end();
  }

  /// Products that each add themselves to those before, and their sum.
  bool isSum(std::uint32_t i) const {
    return all()[i].kind == program::InstructionKind::Memory && step(i) &&
           step(i)->kind == shard::StepKind::Compute &&
           op(i).attributes.accumulated;
  }

  std::vector<std::uint32_t> readersOf(std::uint32_t of) const;
  bool reads(std::uint32_t i, std::uint32_t of) const {
    const std::vector<std::uint32_t> &deps = all()[i].deps;
    return std::find(deps.begin(), deps.end(), of) != deps.end();
  }

  const ops::Op &op(std::uint32_t i) const { return opOf(body_, *step(i)); }
  const ops::ResultRule &ruleOf(std::uint32_t i) const {
    return op(i).rules[0];
  }

  /// The dimension of the result that a product makes of `dim` of an operand;
  /// none where it sums over it, or reads the operand not as it was gathered.
  std::optional<ops::DimId> keeps(std::uint32_t product,
                                  shard::ShardedValueId operand,
                                  ops::DimId dim) const;

  /// Size of a dimension of the result on one rank; 0: it has none such.
  std::int64_t sizeOf(std::uint32_t product, ops::DimId dim) const;

  bool canCut(std::uint32_t product, ops::DimId dim, std::int64_t parts) const {
    const std::int64_t size = sizeOf(product, dim);
    return size > 0 && size % parts == 0;
  }

  /// Of the first factor, on one rank the longest; of equal ones the first.
  std::optional<ops::DimId> rowsOf(std::uint32_t product) const;

  program::Work productPart(std::uint32_t product, ops::DimId dim,
                            std::int64_t parts) const;

private:
  const ops::Value &sourceOf(shard::ShardedValueId id) const {
    return body_.forward.values[sharded_.values[id].source];
  }

  const shard::ShardedGraph &graph_;
  const shard::ShardedBody &sharded_;
  const graph::Body &body_;
  const LoweredPass &pass_;
};

} // namespace planc::lower
