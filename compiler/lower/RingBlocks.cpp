#include "compiler/lower/RingBlocks.h"

#include <algorithm>

namespace planc::lower {

using program::Work;

namespace {

/// Σ over y ≤ x of y clamped to [0, most].
Int128 clampedSum(std::int64_t x, std::int64_t most) {
  if (x <= 0)
    return 0;
  const Int128 y = std::min(x, most);
  return y * (y + 1) / 2 +
         static_cast<Int128>(x - static_cast<std::int64_t>(y)) * most;
}

/// Pairs whose key stands at most `ahead` past its query.
Int128 pairsUpTo(Positions queries, Positions keys, std::int64_t ahead) {
  const std::int64_t most = keys.end - keys.begin;
  const std::int64_t first = queries.begin + ahead + 1 - keys.begin;
  const std::int64_t last = queries.end + ahead - keys.begin;
  return clampedSum(last, most) - clampedSum(first - 1, most);
}

Int128 pairsOfOne(Positions queries, Positions keys, const Mask &mask) {
  if (queries.begin >= queries.end || keys.begin >= keys.end)
    return 0;
  Int128 pairs = mask.causal
                     ? pairsUpTo(queries, keys, 0)
                     : static_cast<Int128>(queries.end - queries.begin) *
                           (keys.end - keys.begin);
  if (mask.window)
    pairs -= pairsUpTo(queries, keys, -*mask.window);
  return pairs;
}

Positions overlap(Positions a, Positions b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Positions `from` up to `to`, counted along the list.
std::vector<Positions> slice(const std::vector<Positions> &list,
                             std::int64_t from, std::int64_t to) {
  std::vector<Positions> out;
  std::int64_t at = 0;
  for (const Positions &each : list) {
    const std::int64_t size = each.end - each.begin;
    Positions part = overlap({from, to}, {at, at + size});
    if (part.begin < part.end)
      out.push_back({each.begin + part.begin - at, each.begin + part.end - at});
    at += size;
  }
  return out;
}

std::int64_t scaled(std::int64_t value, Int128 part, Int128 whole) {
  return whole > 0 ? static_cast<std::int64_t>(value * part / whole) : 0;
}

} // namespace

Int128 pairsBetween(Positions queries, Positions keys, const Mask &mask) {
  if (!mask.document)
    return pairsOfOne(queries, keys, mask);
  // Only documents that hold positions of both.
  const std::int64_t size = *mask.document;
  const std::int64_t from = std::max(queries.begin, keys.begin) / size;
  const std::int64_t to = std::min(queries.end, keys.end);
  Int128 pairs = 0;
  for (std::int64_t at = from * size; at < to; at += size)
    pairs += pairsOfOne(overlap(queries, {at, at + size}),
                        overlap(keys, {at, at + size}), mask);
  return pairs;
}

std::vector<std::vector<Positions>>
placesInRing(std::int64_t length, const std::vector<std::int64_t> &sizes,
             const Mask &mask) {
  std::vector<std::vector<Positions>> places = {{{0, length}}};
  std::int64_t left = length;
  for (std::int64_t size : sizes) {
    std::vector<std::vector<Positions>> finer;
    const std::int64_t part = left / size;
    for (const std::vector<Positions> &whole : places)
      for (std::int64_t r = 0; r < size; ++r) {
        if (!mask.causal || part % 2 != 0) {
          finer.push_back(slice(whole, r * part, (r + 1) * part));
          continue;
        }
        const std::int64_t half = part / 2, mirrored = 2 * size - 1 - r;
        std::vector<Positions> both = slice(whole, r * half, (r + 1) * half);
        for (const Positions &each :
             slice(whole, mirrored * half, (mirrored + 1) * half))
          both.push_back(each);
        finer.push_back(std::move(both));
      }
    places = std::move(finer);
    left = part;
  }
  return places;
}

std::vector<RingStepPairs> ringPairs(std::int64_t length,
                                     const std::vector<std::int64_t> &sizes,
                                     const Mask &mask) {
  const std::vector<std::vector<Positions>> places =
      placesInRing(length, sizes, mask);
  const std::size_t members = places.size();
  std::vector<RingStepPairs> out(members);
  for (std::size_t t = 0; t < members; ++t)
    for (std::size_t r = 0; r < members; ++r) {
      Int128 pairs = 0;
      for (const Positions &queries : places[r])
        for (const Positions &keys : places[(r + members - t) % members])
          pairs += pairsBetween(queries, keys, mask);
      out[t].most = std::max(out[t].most, pairs);
      out[t].all += pairs;
    }
  return out;
}

std::vector<Work> ringBlocks(const RingRequest &request) {
  const shard::Step &step = *request.attention;
  const ops::Attributes &attributes = request.op->attributes;
  const bool backward = request.op->kind == ops::OpKind::AttentionGrad;
  const std::size_t query = backward ? 1 : 0;
  const auto sizeOf = [&](shard::ShardedValueId id) {
    return bytesOf(*request.graph, request.body, id);
  };
  Bytes around, own, made; // keys and values; what each block reads; and writes
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    (i == query + 1 || i == query + 2 ? around : own) +=
        sizeOf(step.operands[i]);
  Bytes gradients; // of keys and values: of one block at a time
  for (std::size_t r = 0; r < step.results.size(); ++r)
    (backward && r > 0 ? gradients : made) += sizeOf(step.results[r]);

  const std::int64_t length = request.graph->bodies[request.body]
                                  .values[step.operands[query + 1]]
                                  .sizes[1];
  const std::vector<RingStepPairs> pairs =
      ringPairs(length, request.gather->sizes,
                {attributes.causal, attributes.window, attributes.document});
  const auto members = static_cast<std::int64_t>(pairs.size());
  Int128 total = 0;
  for (const RingStepPairs &each : pairs)
    total += each.all;
  // Queries that are cut finer than the ring see every block alike.
  const bool even = total == 0 || step.work.m * members != length;
  std::vector<Work> blocks;
  Int128 before = 0;
  for (std::int64_t t = 0; t < members; ++t) {
    const RingStepPairs &each = pairs[static_cast<std::size_t>(t)];
    const Int128 all = even ? 1 : each.all,
                 most = even ? 1 : each.most * members;
    const Int128 whole = even ? members : total;
    const auto share = [&](Flops flops) {
      return Flops(scaled(flops.value, before + all, whole) -
                   scaled(flops.value, before, whole));
    };
    Work work = step.work;
    work.n = length / members;
    work.flops = Flops(scaled(step.work.flops.value, most, whole));
    work.modelFlops = share(step.work.modelFlops);
    work.modelFlopsFull = share(step.work.modelFlopsFull);
    work.bytesRead = own + Bytes(around.value / members);
    work.bytesWritten = made + Bytes(gradients.value / members);
    if (t > 0) {
      work.bytesRead += made + Bytes(gradients.value / members);
      work.kernels = 2; // the block, and what joins it to those before
    }
    before += all;
    blocks.push_back(work);
  }
  return blocks;
}

} // namespace planc::lower
