#include "compiler/shard/Relay.h"

#include <algorithm>

namespace planc::shard {

using program::CommunicationKind;

// --- Emission ----------------------------------------------------------------

ShardedValueId Emission::add(ops::ValueId source, Layout layout) {
  const ops::Value &value = body_->values[source];
  ShardedValue sharded;
  sharded.source = source;
  sharded.sizes = homes_->localSizes(value.dims, layout);
  sharded.layout = std::move(layout);
  sharded.name = value.name;
  return out_->values.add(std::move(sharded));
}

namespace {

const char *verb(StepKind kind) {
  switch (kind) {
  case StepKind::AllReduce:
    return " reduce";
  case StepKind::AllGather:
    return " gather";
  case StepKind::ReduceScatter:
    return " scatter";
  case StepKind::AllToAll:
    return " exchange";
  case StepKind::Slice:
    return " slice";
  case StepKind::Compute:
    break;
  }
  return "";
}

bool movesKeys(const Move &move, ops::DimId keys) {
  if (!keys.isValid())
    return false;
  return (move.kind == StepKind::AllGather && move.from == keys) ||
         (move.kind == StepKind::ReduceScatter && move.to == keys);
}

/// Around attention, on an axis whose heads it borrows.
bool borrows(const Move &move, ops::DimId keys, const Homes &homes) {
  return keys.isValid() &&
         homes.method(move.axes[0]) == sema::ContextMethod::Ulysses &&
         (move.from == keys || move.to == keys ||
          homes
              .borrowed({move.from.isValid() ? move.from : keys,
                         move.to.isValid() ? move.to : keys},
                        move.axes[0])
              .isValid());
}

/// Tokens that go to their experts or come back.
bool exchangesRows(StepKind kind, const ops::Value &value) {
  return kind == StepKind::AllToAll && value.route.isRouted();
}

} // namespace

ShardedValueId Emission::move(ShardedValueId from, const Move &move,
                              const MoveContext &context) {
  ShardedValueId to =
      add(out_->values[from].source, afterMove(layout(from), move, *homes_));
  Step step;
  step.kind = move.kind;
  step.phase = context.phase;
  step.operands = {from};
  step.results = {to};
  setGroup(step, move, *homes_);
  step.from = move.from;
  step.to = move.to;
  if (move.kind != StepKind::Slice) {
    step.bytes = groupBytes(move.kind, source(from), out_->values[from].sizes,
                            out_->values[to].sizes);
    bool isContext =
        movesKeys(move, context.keys) || borrows(move, context.keys, *homes_);
    step.communication = isContext ? CommunicationKind::Context
                         : exchangesRows(move.kind, source(from))
                             ? CommunicationKind::Experts
                             : context.communication;
    if (movesKeys(move, context.keys) &&
        homes_->method(move.axes[0]) == sema::ContextMethod::Ring)
      step.ring = homes_->plan().overlap.context ? RingSteps::Overlapped
                                                 : RingSteps::Serial;
  }
  step.name = source(from).name + verb(move.kind);
  step.origin = context.origin;
  step.clause = homes_->plan().lists[move.axes[0]].clause;
  if (step.communication == CommunicationKind::Context &&
      homes_->method(move.axes[0]) != sema::ContextMethod::Gather)
    step.clause = homes_->plan().context[move.axes[0]].clause;
  push(std::move(step));
  return to;
}

ShardedValueId Emission::moveAll(ShardedValueId from, const Layout &to,
                                 const MoveContext &context) {
  for (const Move &each : planMoves(layout(from), to, *homes_))
    from = move(from, each, context);
  return from;
}

// --- Relay -------------------------------------------------------------------

void Relay::define(ops::ValueId value, ShardedValueId id) {
  layings_[value.index()] = {{id, false}};
}

void Relay::beginBackward() {
  for (ops::ValueId value : body_.values.ids()) {
    std::vector<Laying> &layings = layings_[value.index()];
    ops::ValueKind kind = body_.values[value].kind;
    if (layings.empty())
      continue;
    if (kind == ops::ValueKind::Weight)
      layings.resize(1);
    std::erase_if(layings, [](const Laying &l) { return l.afterGather; });
  }
}

ShardedValueId Relay::find(ops::ValueId value, const Layout &layout) const {
  for (const Laying &laying : layings_[value.index()])
    if (emission_.layout(laying.id) == layout)
      return laying.id;
  return {};
}

/// The laying nearest to the wanted one among those on the way from the value
/// as made: on every axis they lie in one way or the other.
const Relay::Laying &Relay::closest(ops::ValueId value,
                                    const Layout &wanted) const {
  const std::vector<Laying> &layings = layings_[value.index()];
  const Layout &made = emission_.layout(layings.front().id);
  const Laying *best = &layings.front();
  std::ptrdiff_t most = -1;
  for (const Laying &laying : layings) {
    const Layout &layout = emission_.layout(laying.id);
    std::ptrdiff_t reached = 0;
    bool onTheWay = true;
    for (std::size_t a = 0; a < layout.cut.size(); ++a) {
      bool there = layout.cut[a] == wanted.cut[a] &&
                   layout.partial[a] == wanted.partial[a];
      bool summed = layout.cut[a] == made.cut[a] && !layout.partial[a];
      bool same =
          layout.cut[a] == made.cut[a] && layout.partial[a] == made.partial[a];
      onTheWay = onTheWay && (there || same || (summed && !wanted.partial[a]));
      reached += there ? 2 : summed ? 1 : 0;
    }
    if (onTheWay && reached > most) {
      most = reached;
      best = &laying;
    }
  }
  return *best;
}

/// What a gather made is gathered again by the backward, unless the plan keeps
/// it. What travels around a ring is never there as a whole.
bool Relay::isLetGo(const Move &move) const {
  return move.kind == StepKind::AllGather &&
         (!homes_.plan().kernels.keepsGathers ||
          homes_.method(move.axes[0]) == sema::ContextMethod::Ring);
}

ShardedValueId Relay::follow(ops::ValueId value, Laying from, const Layout &to,
                             const MoveContext &context) {
  for (const Move &move : planMoves(emission_.layout(from.id), to, homes_)) {
    from.id = emission_.move(from.id, move, context);
    from.afterGather = from.afterGather || isLetGo(move);
    layings_[value.index()].push_back(from);
  }
  return from.id;
}

ShardedValueId Relay::lay(ops::ValueId value, const Wanted &wanted,
                          const MoveContext &context) {
  if (ShardedValueId known = find(value, wanted.layout); known.isValid())
    return known;
  if (body_.values[value].kind == ops::ValueKind::Given) {
    ShardedValueId loaded = emission_.add(value, wanted.layout);
    layings_[value.index()].push_back({loaded, false});
    return loaded;
  }
  Layout whole = emission_.layout(made(value));
  bool twoSteps = false;
  for (std::size_t a = 0; a < whole.cut.size(); ++a)
    if (wanted.gathered[a] && wanted.layout.cut[a].isValid()) {
      whole.cut[a] = ops::DimId();
      whole.partial[a] = false;
      twoSteps = true;
    }
  if (!twoSteps)
    return follow(value, closest(value, wanted.layout), wanted.layout, context);
  Wanted first{whole, std::vector<bool>(whole.cut.size(), false)};
  return follow(value, {lay(value, first, context), true}, wanted.layout,
                context);
}

} // namespace planc::shard
