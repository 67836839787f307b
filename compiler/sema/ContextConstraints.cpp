// Attention over axes that cut the sequence, and key heads held in copies.
#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "compiler/ops/Roles.h"
#include "runtime/base/Checked.h"

#include <algorithm>

namespace planc::sema {

using diag::Kind;

namespace {

/// What is left of a dimension after an axis; 1 where neighbours hold copies.
std::int64_t after(std::int64_t left, std::int64_t size) {
  return left % size == 0 ? left / size : 1;
}

/// May `size` ranks share these heads, key heads perhaps in copies?
bool mayBorrow(std::int64_t heads, std::int64_t keyHeads, std::int64_t size) {
  return heads % size == 0 && (keyHeads % size == 0 || size % keyHeads == 0);
}

/// Sizes up to four times `wanted` that may.
std::string sizesFor(std::int64_t heads, std::int64_t keyHeads,
                     std::int64_t wanted) {
  std::string out;
  for (std::int64_t size = 1; size <= std::min(heads, 4 * wanted); ++size)
    if (mayBorrow(heads, keyHeads, size))
      out += (out.empty() ? "" : ", ") + std::to_string(size);
  return out;
}

} // namespace

// --- copies of key heads -----------------------------------------------------

bool Constraints::checkKeyHeads(const HeadPair &pair) {
  std::vector<Listing> listings;
  std::int64_t left = model_.dims[pair.keyHeads].size;
  for (const Listing &listing : listingsOf(pair.keyHeads)) {
    listings.push_back(listing);
    const std::int64_t size = plan_.mesh.axes[listing.axis].size;
    if (!fits(pair.keyHeads, left, size)) {
      reportNotDivisible(pair.keyHeads, listings, Kind::KvHeadsNotDivisible);
      return false;
    }
    // Copies of heads that are not there are said of the heads.
    if (left % size != 0 && model_.dims[pair.heads].size % size == 0)
      remarkCopies(pair, listing, size / left);
    left = after(left, size);
  }
  return true;
}

void Constraints::remarkCopies(const HeadPair &pair, const Listing &listing,
                               std::int64_t copies) {
  std::optional<std::int64_t> more = 0;
  for (const ops::Weight &weight : model_.weights) {
    if (!ops::contains(weight.dims, pair.keyHeads))
      continue;
    std::optional<std::int64_t> elements =
        checkedMul(weight.instances, copies - 1);
    for (ops::DimId dim : weight.dims)
      if (elements)
        elements = checkedMul(*elements, model_.dims[dim].size);
    more = more && elements ? checkedAdd(*more, *elements) : std::nullopt;
  }
  const ops::Dim &dim = model_.dims[pair.keyHeads];
  elaboration_.emitter().report(
      spanOf(listing.listed->origin), Kind::KvHeadsCopied,
      "`{}` = {} over {} = {}: each is held {} times, {} parameters more over "
      "the axis",
      ops::fullName(dim), dim.size, plan_.mesh.axes[listing.axis].name,
      plan_.mesh.axes[listing.axis].size, copies, more.value_or(0));
}

// --- attention over axes -----------------------------------------------------

/// Whether the axis cuts the sequence of these queries, [batch, seq, heads,
/// size].
bool Constraints::isContext(AxisId axis, const ops::Dims &query) const {
  for (const ListedDim &listed : plan_.lists[axis].list)
    for (ops::DimId dim : query)
      if (ops::contains(listed.dims, dim))
        return dim == query[1];
  return false;
}

bool Constraints::checkContext() {
  bool isSound = true;
  for (AxisId axis : plan_.mesh.axes.ids()) {
    bool isUsed = false, isCausal = false;
    for (const ops::Body &body : model_.bodies)
      for (const ops::Op &op : body.forward)
        if (op.kind == ops::OpKind::Attention &&
            isContext(axis, body.values[op.operands[0]].dims)) {
          isUsed = true;
          isCausal = isCausal || op.attributes.causal;
        }
    const ContextAxis &context = plan_.context[axis];
    if (context.clause.isValid() && !isUsed) {
      const std::string &name = plan_.mesh.axes[axis].name;
      elaboration_.emitter()
          .report(spanOf(context.clause), Kind::AttentionWithoutSequence,
                  "`{}` does not cut the sequence of attention", name)
          .help("`shard seq over {}` makes it cut the sequence", name);
      isSound = false;
    } else if (isUsed && context.method == ContextMethod::Ring &&
               plan_.kernels.attention == AttentionKernel::Unfused) {
      elaboration_.emitter()
          .report(spanOf(context.clause), Kind::Unsupported,
                  "attention is unfused; a ring needs a fused kernel")
          .help("`kernels attention = flash2`, or `using gather`");
      isSound = false;
    } else if (isUsed && isCausal && context.method != ContextMethod::Ulysses) {
      isSound = checkBalance(axis) && isSound;
    }
  }
  std::vector<HeadPair> checked;
  for (const ops::Body &body : model_.bodies)
    for (const ops::Op &op : body.forward) {
      if (op.kind != ops::OpKind::Attention)
        continue;
      HeadPair pair{body.values[op.operands[0]].dims[2],
                    body.values[op.operands[1]].dims[2]};
      if (std::find(checked.begin(), checked.end(), pair) != checked.end())
        continue;
      checked.push_back(pair);
      isSound = checkBorrowed(pair) && isSound;
    }
  return isSound;
}

/// Rank r of n holds chunks r and 2n - 1 - r of what the axes outside left.
bool Constraints::checkBalance(AxisId axis) {
  std::int64_t outside = 1, all = 1;
  const ListedDim *listed = nullptr;
  for (const Listing &listing : listingsOf(model_.seq)) {
    if (listing.axis == axis)
      listed = listing.listed;
    if (listing.axis < axis)
      outside *= plan_.mesh.axes[listing.axis].size;
    all *= plan_.mesh.axes[listing.axis].size;
  }
  const std::int64_t size = plan_.mesh.axes[axis].size;
  const std::int64_t length = plan_.batch.sequenceLength;
  if (!listed || size == 1 || length % all != 0)
    return true; // said where it is not divisible
  const std::int64_t chunks = outside * size * 2;
  if (length % chunks == 0)
    return true;
  const ContextAxis &context = plan_.context[axis];
  // For every axis that cuts them, balanced or not.
  const std::int64_t whole = 2 * all, below = length / whole * whole;
  const std::string lengths =
      below > 0 ? fmt::format("{} or {}", below, below + whole)
                : fmt::format("{}", whole);
  elaboration_.emitter()
      .report(
          spanOf(context.clause.isValid() ? context.clause : listed->origin),
          Kind::SequenceNotBalanced,
          "sequences of {} tokens cannot be cut in {} chunks, two a rank",
          length, chunks)
      .note(spanOf(plan_.batch.clause), "the sequences are given here")
      .help("{} tokens would do, or `attention over {} using ulysses`", lengths,
            plan_.mesh.axes[axis].name);
  return false;
}

/// What the axes that list a dimension leave of it.
std::int64_t Constraints::leftOf(ops::DimId dim) const {
  std::int64_t left = model_.dims[dim].size;
  for (const Listing &listing : listingsOf(dim))
    left = after(left, plan_.mesh.axes[listing.axis].size);
  return left;
}

bool Constraints::checkBorrowed(const HeadPair &pair) {
  std::int64_t heads = leftOf(pair.heads), keyHeads = leftOf(pair.keyHeads);
  for (AxisId axis : plan_.mesh.axes.ids()) {
    const ContextAxis &context = plan_.context[axis];
    bool isListed = false; // then the heads are cut for it already
    for (const Listing &listing : listingsOf(pair.heads))
      isListed = isListed || listing.axis == axis;
    if (context.method != ContextMethod::Ulysses || isListed)
      continue;
    const std::int64_t size = plan_.mesh.axes[axis].size;
    const std::string &name = plan_.mesh.axes[axis].name;
    if (!mayBorrow(heads, keyHeads, size)) {
      const ops::DimId dim = heads % size != 0 ? pair.heads : pair.keyHeads;
      const std::int64_t left = dim == pair.heads ? heads : keyHeads;
      auto builder = elaboration_.emitter().report(
          spanOf(context.clause), Kind::HeadsNotBorrowed,
          "`{}` has {} of {} `{}` to borrow, which {} ranks cannot share", name,
          left, model_.dims[dim].size, ops::fullName(model_.dims[dim]), size);
      std::move(builder)
          .help("{} may be {}", name, sizesFor(heads, keyHeads, size))
          .help("`attention over {} using ring` borrows none", name);
      return false;
    }
    heads = after(heads, size);
    keyHeads = after(keyHeads, size);
  }
  return true;
}

} // namespace planc::sema
