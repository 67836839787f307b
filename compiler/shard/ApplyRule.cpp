#include "compiler/shard/ApplyRule.h"

#include "compiler/ops/Roles.h"

#include <algorithm>

namespace planc::shard {
namespace {

using ops::DimId;
using ops::DimUse;
using ops::OperandUse;
using ops::Role;

/// The use of a dimension where the operand holds it first: where it is cut.
const DimUse *firstUse(const OperandUse &use, DimId dim) {
  for (const DimUse &each : use.dims)
    if (each.dim == dim)
      return &each;
  return nullptr;
}

/// The dimension of the operand that is summed under the name `dim`.
const DimUse *contraction(const OperandUse &use, DimId dim) {
  for (const DimUse &each : use.dims)
    if (each.role == Role::Contract && ops::sumName(each) == dim)
      return &each;
  return nullptr;
}

/// The rule for one result on one axis.
class OneResult {
public:
  OneResult(const RuleRequest &request, const Homes &homes, std::size_t result)
      : request_(request), homes_(homes), rule_(request.op->rules[result]),
        home_(homeToMake(request.homes[result])) {}

  AxisChoice choose() {
    choice_.operands.resize(rule_.operands.size());
    choice_.results.resize(1);
    makeGatheredWhole();
    if (std::size_t sum = wholeSum(); sum < rule_.operands.size()) {
      choice_.operands[sum].partial = true;
      choice_.results[0].partial = true;
    } else if (DimId dim = contractedInPlace(); dim.isValid())
      workInPlace(dim);
    else if (home_.isValid())
      followResult();
    return std::move(choice_);
  }

private:
  /// A dimension that the operator makes: it works as operand 0 lies.
  DimId homeToMake(DimId home) const {
    if (!home.isValid() || home != rule_.made)
      return home;
    const DimUse *use = firstUse(rule_.operands[0], request_.operands[0].cut);
    return use && use->role == Role::Map ? use->as : home;
  }

  /// A gradient left as a sum on its way to a weight's: all others are whole.
  std::size_t wholeSum() const {
    std::size_t i = 0;
    while (i < rule_.operands.size() && !(request_.operands[i].partial &&
                                          !request_.operands[i].cut.isValid()))
      ++i;
    return i;
  }

  /// Rule 1.
  void makeGatheredWhole() {
    for (std::size_t i = 0; i < rule_.operands.size(); ++i) {
      DimId cut = request_.operands[i].cut;
      const DimUse *use = firstUse(rule_.operands[i], cut);
      choice_.operands[i].gathered = use && use->role == Role::Gather;
    }
  }

  /// Rule 2: the dimension, the first in the axis's list, that every operand
  /// which contracts it has for its home.
  DimId contractedInPlace() const {
    DimId best;
    for (const OperandUse &use : rule_.operands)
      for (const DimUse &each : use.dims) {
        DimId dim = ops::sumName(each);
        if (each.role != Role::Contract || !isHomeOfAll(dim))
          continue;
        if (!best.isValid() ||
            homes_.rank(dim, request_.axis) < homes_.rank(best, request_.axis))
          best = dim;
      }
    return best;
  }

  bool isHomeOfAll(DimId dim) const {
    if (!homes_.rank(dim, request_.axis))
      return false;
    int partials = 0;
    for (std::size_t i = 0; i < rule_.operands.size(); ++i) {
      const OperandUse &use = rule_.operands[i];
      const DimUse *summed = contraction(use, dim);
      if (!summed)
        continue;
      const OperandState &state = request_.operands[i];
      // What no axis lists is sliced for nothing where it is whole.
      bool isFree = summed->dim != dim && !state.cut.isValid() &&
                    !state.partial && !homes_.rank(summed->dim, request_.axis);
      if (isFree)
        continue;
      if (state.cut != summed->dim || firstUse(use, summed->dim) != summed)
        return false;
      partials += state.partial && state.linear;
    }
    // Copies of a part would be summed once each, unless one factor is itself
    // a sum over the copies.
    return homes_.copies(dim, request_.axis) == 1 || partials == 1;
  }

  void workInPlace(DimId dim) {
    for (std::size_t i = 0; i < rule_.operands.size(); ++i)
      if (const DimUse *summed = contraction(rule_.operands[i], dim)) {
        choice_.operands[i].cut = summed->dim;
        choice_.operands[i].partial = request_.operands[i].partial;
      }
    choice_.statistics = rule_.statistics > 0;
    choice_.results[0].partial = true;
  }

  /// Rule 3.
  void followResult() {
    bool maps = false;
    for (std::size_t i = 0; i < rule_.operands.size(); ++i) {
      const DimUse *use = mappedHome(i);
      if (!use)
        continue;
      maps = true;
      choice_.operands[i].cut = use->dim;
      sumHeadsOfOnePart(use->dim);
    }
    if (!maps)
      return;
    choice_.results[0].cut = home_;
    keepSumOverCopies();
  }

  const DimUse *mappedHome(std::size_t operand) const {
    // A dimension that stands twice in the result comes from operand 0 first.
    bool twice = std::count(rule_.dims.begin(), rule_.dims.end(), home_) > 1;
    if (twice && operand > 0)
      return nullptr;
    const OperandUse &use = rule_.operands[operand];
    for (const DimUse &each : use.dims)
      if (each.role == Role::Map && each.as == home_ &&
          firstUse(use, each.dim) == &each)
        return &each;
    return nullptr;
  }

  /// `heads` mapped onto fewer `kv_heads`: each copy has summed its own heads.
  void sumHeadsOfOnePart(DimId from) {
    if (homes_.parts(from, request_.axis) > homes_.parts(home_, request_.axis))
      choice_.results[0].partial = true;
  }

  /// A sum over copies stays one through an operator that leaves its laying as
  /// it is.
  void keepSumOverCopies() {
    auto isPartial = [](const OperandState &s) { return s.partial; };
    if (std::count_if(request_.operands.begin(), request_.operands.end(),
                      isPartial) != 1)
      return;
    for (std::size_t i = 0; i < request_.operands.size(); ++i) {
      const OperandState &state = request_.operands[i];
      if (state.partial && state.linear && state.cut == home_ &&
          choice_.operands[i].cut == home_) {
        choice_.operands[i].partial = true;
        choice_.results[0].partial = true;
      }
    }
  }

  const RuleRequest &request_;
  const Homes &homes_;
  const ops::ResultRule &rule_;
  DimId home_;
  AxisChoice choice_;
};

AxisChoice workWhole(std::vector<AxisChoice> choices) {
  AxisChoice whole;
  whole.operands.resize(choices[0].operands.size());
  whole.results.resize(choices.size());
  for (const AxisChoice &choice : choices)
    for (std::size_t i = 0; i < whole.operands.size(); ++i)
      whole.operands[i].gathered =
          whole.operands[i].gathered || choice.operands[i].gathered;
  return whole;
}

} // namespace

AxisChoice applyRule(const RuleRequest &request, const Homes &homes) {
  std::vector<AxisChoice> choices;
  for (std::size_t r = 0; r < request.op->rules.size(); ++r)
    choices.push_back(OneResult(request, homes, r).choose());
  for (const AxisChoice &choice : choices)
    if (choice.operands != choices[0].operands ||
        choice.statistics != choices[0].statistics)
      return workWhole(std::move(choices));
  AxisChoice all = choices[0];
  for (std::size_t r = 1; r < choices.size(); ++r)
    all.results.push_back(choices[r].results[0]);
  return all;
}

} // namespace planc::shard
