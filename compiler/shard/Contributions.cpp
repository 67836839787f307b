#include "compiler/shard/Contributions.h"

#include <algorithm>

namespace planc::shard {
namespace {

class Settling {
public:
  Settling(Contributions contributions, Emission &emission,
           const MoveContext &context)
      : all_(std::move(contributions)), emission_(emission), context_(context),
        target_(all_.home) {}

  std::vector<ShardedValueId> run() {
    for (std::size_t a = 0; a < target_.cut.size(); ++a)
      leavePartial(a);
    for (std::size_t axis = fewest(); axis < target_.cut.size();
         axis = fewest()) {
      addAlike();
      bringHome(axis);
    }
    for (ShardedValueId &value : all_.values)
      value = emission_.moveAll(value, target_, context_);
    return std::move(all_.values);
  }

private:
  const Layout &layout(ShardedValueId id) const { return emission_.layout(id); }

  void leavePartial(std::size_t axis) {
    const Layout &first = layout(all_.values[0]);
    bool alike = std::all_of(all_.values.begin(), all_.values.end(),
                             [&](ShardedValueId id) {
                               return layout(id).partial[axis] &&
                                      layout(id).cut[axis] == first.cut[axis];
                             });
    bool overCopies = first.cut[axis].isValid();
    if (!alike || (all_.rest == Contributions::Rest::AtHome && !overCopies))
      return;
    target_.cut[axis] = first.cut[axis];
    target_.partial[axis] = true;
  }

  bool toSum(ShardedValueId id, std::size_t axis) const {
    return layout(id).partial[axis] && !target_.partial[axis];
  }

  /// Who is still partial on the axis.
  std::vector<bool> holders(std::size_t axis) const {
    std::vector<bool> out;
    for (ShardedValueId id : all_.values)
      out.push_back(toSum(id, axis));
    return out;
  }

  /// The unsettled axis with the fewest holders; past the last: none.
  std::size_t fewest() const {
    std::size_t best = target_.cut.size();
    std::ptrdiff_t least = 0;
    for (std::size_t a = 0; a < target_.cut.size(); ++a) {
      std::vector<bool> who = holders(a);
      std::ptrdiff_t count = std::count(who.begin(), who.end(), true);
      if (count > 0 && (best == target_.cut.size() || count < least)) {
        best = a;
        least = count;
      }
    }
    return best;
  }

  bool isUnsettled(ShardedValueId id) const {
    for (std::size_t a = 0; a < target_.cut.size(); ++a)
      if (toSum(id, a))
        return true;
    return false;
  }

  void addAlike() {
    std::vector<ShardedValueId> left;
    std::vector<bool> taken(all_.values.size(), false);
    for (std::size_t i = 0; i < all_.values.size(); ++i) {
      if (taken[i])
        continue;
      std::vector<ShardedValueId> alike;
      for (std::size_t j = i; j < all_.values.size(); ++j) {
        bool joins =
            j == i || (isUnsettled(all_.values[i]) && !taken[j] &&
                       layout(all_.values[i]) == layout(all_.values[j]));
        if (joins) {
          taken[j] = true;
          alike.push_back(all_.values[j]);
        }
      }
      left.push_back(alike.size() == 1 ? alike[0] : all_.add(alike));
    }
    all_.values = std::move(left);
  }

  /// On `axis` and, at once, on the axes that the same values are partial on.
  void bringHome(std::size_t axis) {
    std::vector<bool> who = holders(axis);
    Layout home = target_;
    std::vector<bool> together;
    for (std::size_t a = 0; a < target_.cut.size(); ++a)
      together.push_back(holders(a) == who);
    for (std::size_t i = 0; i < all_.values.size(); ++i) {
      if (!who[i])
        continue;
      Layout to = layout(all_.values[i]);
      for (std::size_t a = 0; a < to.cut.size(); ++a)
        if (together[a]) {
          to.cut[a] = home.cut[a];
          to.partial[a] = false;
        }
      all_.values[i] = emission_.moveAll(all_.values[i], to, context_);
    }
  }

  Contributions all_;
  Emission &emission_;
  MoveContext context_;
  Layout target_;
};

} // namespace

std::vector<ShardedValueId> settle(Contributions contributions,
                                   Emission &emission,
                                   const MoveContext &context) {
  return Settling(std::move(contributions), emission, context).run();
}

} // namespace planc::shard
