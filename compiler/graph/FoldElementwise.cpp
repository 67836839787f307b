#include "compiler/graph/FoldElementwise.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::graph {
namespace {

bool isElementwise(const ops::Op &op) {
  return classOf(op.kind) == ops::OpClass::Elementwise;
}

} // namespace

KernelGroups::KernelGroups(const std::vector<ops::Op> &ops)
    : ops_(ops), group_(ops.size()), readers_(ops.size()) {
  std::map<ops::ValueId, std::size_t> makers;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    group_[i] = i;
    for (ops::ValueId operand : ops[i].operands)
      if (auto maker = makers.find(operand); maker != makers.end())
        readers_[maker->second].push_back(i);
    for (ops::ValueId result : ops[i].results)
      makers[result] = i;
  }
}

std::size_t KernelGroups::sizeOf(std::size_t group) const {
  return static_cast<std::size_t>(
      std::count(group_.begin(), group_.end(), group));
}

/// Groups in an order that can be executed: of those that are ready, the one
/// whose first operator stands first. Shorter than the number of groups if they
/// wait for each other.
std::vector<std::size_t>
KernelGroups::order(const std::vector<std::size_t> &groups) const {
  std::vector<std::size_t> waits(groups.size(), 0);
  std::vector<std::vector<std::size_t>> next(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t reader : readers_[i])
      if (groups[reader] != groups[i]) {
        next[groups[i]].push_back(groups[reader]);
        ++waits[groups[reader]];
      }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i] == i && waits[i] == 0)
      ready.insert(i);
  std::vector<std::size_t> out;
  while (!ready.empty()) {
    std::size_t group = *ready.begin();
    ready.erase(ready.begin());
    out.push_back(group);
    for (std::size_t after : next[group])
      if (--waits[after] == 0)
        ready.insert(after);
  }
  return out;
}

bool KernelGroups::isAcyclic(const std::vector<std::size_t> &groups) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < groups.size(); ++i)
    count += groups[i] == i;
  return order(groups).size() == count;
}

void KernelGroups::join(const std::vector<std::size_t> &members) {
  std::set<std::size_t> joined;
  for (std::size_t member : members)
    joined.insert(group_[member]);
  if (joined.size() < 2)
    return;
  std::size_t size = 0;
  for (std::size_t group : joined)
    size += sizeOf(group);
  if (size > kMostFused)
    return;
  std::vector<std::size_t> groups = group_;
  for (std::size_t &group : groups)
    if (joined.count(group))
      group = *joined.begin();
  if (isAcyclic(groups))
    group_ = std::move(groups);
}

void KernelGroups::joinNeighbours(const std::vector<bool> &readOutside) {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (!isElementwise(ops_[i]))
      continue;
    for (ops::ValueId result : ops_[i].results) {
      std::vector<std::size_t> members = {i};
      bool fits = !readOutside[result.index()];
      for (std::size_t reader : readers_[i]) {
        const ops::Op &op = ops_[reader];
        if (std::find(op.operands.begin(), op.operands.end(), result) ==
            op.operands.end())
          continue;
        fits = fits && isElementwise(op) && op.phase == ops_[i].phase;
        members.push_back(reader);
      }
      if (fits)
        join(members);
    }
  }
}

std::size_t KernelGroups::lay(std::vector<ops::Op> &ops,
                              std::size_t first) const {
  std::vector<std::vector<std::size_t>> members(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    members[group_[i]].push_back(i);
  std::vector<ops::Op> laid;
  laid.reserve(ops.size());
  std::size_t kernel = first;
  for (std::size_t group : order(group_)) {
    for (std::size_t member : members[group]) {
      laid.push_back(ops[member]);
      laid.back().kernel = ops::KernelId(kernel);
    }
    ++kernel;
  }
  ops = std::move(laid);
  return kernel;
}

} // namespace planc::graph
