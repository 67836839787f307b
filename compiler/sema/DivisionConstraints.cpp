// Dimensions and batches against the axes that cut them.
#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "compiler/ops/Roles.h"
#include "compiler/sema/TargetRules.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <cstdlib>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

/// `1, 2, 4 or 8`
std::string listOf(const std::vector<std::int64_t> &values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out += (i == 0                   ? ""
            : i + 1 == values.size() ? " or "
                                     : ", ") +
           std::to_string(values[i]);
  return out;
}

/// All divisors up to `most`, the least first.
std::vector<std::int64_t> divisorsUpTo(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d <= most && d <= n; ++d)
    if (n % d == 0)
      out.push_back(d);
  return out;
}

std::int64_t nearestOf(const std::vector<std::int64_t> &values,
                       std::int64_t wanted) {
  return *std::min_element(
      values.begin(), values.end(), [&](std::int64_t a, std::int64_t b) {
        return std::llabs(a - wanted) < std::llabs(b - wanted);
      });
}

/// A search no longer than this is worth a better message.
constexpr std::int64_t kMostTried = 4096;

} // namespace

/// Only what the schedule would take as well; `step` is the sequences of all
/// ranks' micro-batches.
void Constraints::helpBatch(diag::Builder &builder, std::int64_t ways,
                            std::int64_t step) {
  std::int64_t whole = plan_.batch.sequences / step;
  std::vector<std::int64_t> sequences;
  for (std::int64_t m = whole; m > 0 && m > whole - kMostTried; --m)
    if (takes(m)) {
      sequences.push_back(m * step);
      break;
    }
  for (std::int64_t m = whole + 1; m < whole + kMostTried; ++m)
    if (auto above = checkedMul(m, step); above && takes(m)) {
      sequences.push_back(*above);
      break;
    }
  if (!sequences.empty())
    builder.help("{} sequences would do", listOf(sequences));
  if (plan_.batch.sequences % ways != 0)
    return;
  std::int64_t share = plan_.batch.sequences / ways;
  constexpr std::size_t kMostShown = 8;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size : divisorsUpTo(share, std::min(share, kMostTried)))
    if (takes(share / size) && sizes.size() < kMostShown)
      sizes.push_back(size);
  if (!sizes.empty())
    builder.help("micro may be {}", listOf(sizes));
}

std::vector<Constraints::HeadPair> Constraints::headPairs() const {
  std::vector<HeadPair> out;
  for (const ops::Body &body : model_.bodies)
    for (const ops::Op &op : body.forward) {
      if (op.kind != ops::OpKind::Attention)
        continue;
      // [batch, seq, heads, head_size] for q, k and v.
      HeadPair pair{body.values[op.operands[0]].dims[2],
                    body.values[op.operands[1]].dims[2]};
      if (pair.heads != pair.keyHeads &&
          std::find(out.begin(), out.end(), pair) == out.end())
        out.push_back(pair);
    }
  return out;
}

std::vector<Constraints::Listing>
Constraints::listingsOf(ops::DimId dim) const {
  std::vector<Listing> out;
  for (AxisId id : plan_.mesh.axes.ids())
    for (const ListedDim &listed : plan_.lists[id].list)
      if (ops::contains(listed.dims, dim)) {
        out.push_back({id, &listed});
        break;
      }
  return out;
}

bool Constraints::checkHeads(const HeadPair &pair) {
  bool isSound = true;
  std::string heads = ops::fullName(model_.dims[pair.heads]);
  std::string keyHeads = ops::fullName(model_.dims[pair.keyHeads]);
  for (AxisId id : plan_.mesh.axes.ids()) {
    const ListedDim *first = nullptr, *second = nullptr;
    for (const ListedDim &listed : plan_.lists[id].list) {
      if (!first && ops::contains(listed.dims, pair.heads))
        first = &listed;
      if (!second && ops::contains(listed.dims, pair.keyHeads))
        second = &listed;
    }
    if (!first == !second)
      continue;
    const ListedDim &there = first ? *first : *second;
    std::string merged = heads + ", " + keyHeads;
    elaboration_.emitter()
        .report(spanOf(there.origin), Kind::HeadsApart,
                "`{}` lists `{}` and not `{}`", plan_.mesh.axes[id].name,
                first ? heads : keyHeads, first ? keyHeads : heads)
        .help("attention maps `{}` onto `{}`: list both, `{}`", keyHeads, heads,
              merged)
        .fix(spanOf(there.origin), merged);
    isSound = false;
  }
  return isSound;
}

bool Constraints::checkDivisible() {
  bool isSound = true;
  std::vector<HeadPair> pairs = headPairs();
  for (ops::DimId dim : model_.dims.ids()) {
    auto pair = std::find_if(pairs.begin(), pairs.end(),
                             [&](auto &each) { return each.keyHeads == dim; });
    if (pair != pairs.end()) {
      isSound = checkKeyHeads(*pair) && isSound;
      continue;
    }
    std::vector<Listing> listings = listingsOf(dim);
    std::int64_t ways = 1;
    for (const Listing &listing : listings)
      ways *= plan_.mesh.axes[listing.axis].size;
    if (model_.dims[dim].size % ways == 0)
      continue;
    reportNotDivisible(dim, listings, Kind::NotDivisible);
    isSound = false;
  }
  return isSound;
}

/// Can `left` of the dimension be cut so many ways? Key heads may be held in
/// copies.
bool Constraints::fits(ops::DimId dim, std::int64_t left,
                       std::int64_t size) const {
  if (left % size == 0)
    return true;
  std::vector<HeadPair> pairs = headPairs();
  return size % left == 0 &&
         std::any_of(pairs.begin(), pairs.end(), [&](const HeadPair &pair) {
           return pair.keyHeads == dim;
         });
}

void Constraints::reportNotDivisible(ops::DimId id,
                                     const std::vector<Listing> &listings,
                                     Kind kind) {
  const ops::Dim &dim = model_.dims[id];
  // The innermost axis is the one most likely to be changed.
  const Listing &last = listings.back();
  const Axis &axis = plan_.mesh.axes[last.axis];
  std::int64_t ways = 1;
  for (const Listing &listing : listings)
    ways *= plan_.mesh.axes[listing.axis].size;
  std::string name = ops::fullName(dim);
  auto builder = elaboration_.emitter().report(
      spanOf(last.listed->origin), kind, "`{}` = {} cannot be cut {} ways",
      name, dim.size, ways);
  for (const Listing &listing : listings) {
    const Axis &each = plan_.mesh.axes[listing.axis];
    auto entry = std::find_if(
        text_.lists.begin(), text_.lists.end(),
        [&](const AxisEntry &other) { return other.axis.text == each.name; });
    std::move(builder).label(entry->axis.span, "{} = {} (line {})", each.name,
                             each.size,
                             elaboration_.lineOf(spanOf(each.origin)));
  }
  if (id == model_.seq || id == model_.batch)
    std::move(builder).note(spanOf(plan_.batch.clause), "`{}` is {} here", name,
                            dim.size);
  else if (dim.origin.isValid())
    std::move(builder).note(spanOf(dim.origin), "`{}` is {} in `{}` here", name,
                            dim.size, model_.name);
  TargetRules target(elaboration_, text_, model_, plan_);
  if (auto padded = target.padded(id); padded && *padded % ways == 0)
    std::move(builder).help("`{}` pads `{}` to {}: write that into the model",
                            target.name(), name, *padded);
  std::int64_t others = ways / axis.size;
  if (dim.size % others != 0)
    return;
  std::int64_t left = dim.size / others;
  std::vector<std::int64_t> fitting;
  for (std::int64_t d = 1; d <= std::min(axis.size * 4, kMostTried); ++d)
    if (fits(id, left, d))
      fitting.push_back(d);
  // Sizes that all the other dimensions of this axis would take as well.
  std::vector<std::int64_t> best;
  for (std::int64_t size : fitting) {
    bool fitsAll = true;
    for (const ListedDim &listed : plan_.lists[last.axis].list)
      for (ops::DimId other : listed.dims) {
        bool isFree = other == model_.batch;
        fitsAll =
            fitsAll && (isFree || fits(other, model_.dims[other].size, size));
      }
    if (fitsAll)
      best.push_back(size);
  }
  std::move(builder).help("{} may be {}; nearest: `{} = {}`", axis.name,
                          listOf(best), axis.name, nearestOf(best, axis.size));
}

} // namespace planc::sema
