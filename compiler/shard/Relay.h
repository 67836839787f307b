// Values of one body in every laying they are needed in, and the steps that
// make one laying from another.
#pragma once

#include "compiler/shard/Moves.h"

namespace planc::shard {

/// What a re-laying is for.
struct MoveContext {
  program::Phase phase = program::Phase::Forward;
  OriginId origin;
  program::CommunicationKind communication = program::CommunicationKind::Tensor;
  /// Attention's key positions: gathering them, and scattering their gradients,
  /// is CommunicationKind::Context.
  ops::DimId keys;
};

/// Appends values to a body and steps to one of its passes.
class Emission {
public:
  Emission(const ops::Body &body, const Homes &homes, ShardedBody &out)
      : body_(&body), homes_(&homes), out_(&out) {}

  void into(std::vector<Step> &steps) { steps_ = &steps; }

  ShardedValueId add(ops::ValueId source, Layout layout);
  void push(Step step) { steps_->push_back(std::move(step)); }

  /// One collective (or slice) on `from`.
  ShardedValueId move(ShardedValueId from, const Move &move,
                      const MoveContext &context);
  /// All moves from one laying to another.
  ShardedValueId moveAll(ShardedValueId from, const Layout &to,
                         const MoveContext &context);

  const Layout &layout(ShardedValueId id) const {
    return out_->values[id].layout;
  }
  const ops::Value &source(ShardedValueId id) const {
    return body_->values[out_->values[id].source];
  }

private:
  const ops::Body *body_;
  const Homes *homes_;
  ShardedBody *out_;
  std::vector<Step> *steps_ = nullptr;
};

/// Remembers every laying of every value within a pass, so that a value is
/// re-laid once for all its readers.
class Relay {
public:
  Relay(const ops::Body &body, const Homes &homes, Emission &emission)
      : body_(body), homes_(homes), emission_(emission),
        layings_(body.values.size()) {}

  /// The laying a value is made in: at home unless its maker leaves it
  /// otherwise. Replaces what was known of the value.
  void define(ops::ValueId value, ShardedValueId id);
  /// Another laying that is there; kept for the backward.
  void remember(ops::ValueId value, ShardedValueId id) {
    layings_[value.index()].push_back({id, false});
  }
  bool isDefined(ops::ValueId value) const {
    return !layings_[value.index()].empty();
  }
  ShardedValueId made(ops::ValueId value) const {
    return layings_[value.index()].front().id;
  }

  /// From forward to backward: kept are values before an all-gather (after it,
  /// with `kernels gathers = kept`), and after a slice or an all-to-all;
  /// weights as they are stored.
  void beginBackward();

  struct Wanted {
    Layout layout;
    std::vector<bool> gathered; ///< axes made whole before anything else
  };
  /// The value laid as wanted; emits what is missing. A given tensor is loaded
  /// so, and needs no definition.
  ShardedValueId lay(ops::ValueId value, const Wanted &wanted,
                     const MoveContext &context);

private:
  struct Laying {
    ShardedValueId id;
    bool afterGather = false;
  };

  bool isLetGo(const Move &move) const;
  ShardedValueId find(ops::ValueId value, const Layout &layout) const;
  const Laying &closest(ops::ValueId value, const Layout &wanted) const;
  ShardedValueId follow(ops::ValueId value, Laying from, const Layout &to,
                        const MoveContext &context);

  const ops::Body &body_;
  const Homes &homes_;
  Emission &emission_;
  std::vector<std::vector<Laying>> layings_; ///< by value; first: as made
};

} // namespace planc::shard
