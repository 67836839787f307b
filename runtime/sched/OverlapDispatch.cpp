#include "runtime/sched/OverlapDispatch.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace planc::sched {

namespace {

/// Larger first, then smaller node.
struct Ready {
  std::int64_t priority;
  std::uint32_t node;
  bool operator<(const Ready &o) const {
    return std::tie(priority, o.node) < std::tie(o.priority, node);
  }
};

/// Earlier first, as the top of a heap.
struct Event {
  std::int64_t time;
  std::uint32_t node; ///< past all nodes: a machine became free
  bool operator<(const Event &o) const {
    return std::tie(o.time, o.node) < std::tie(time, node);
  }
};

/// Takes the top off.
template <class T> T popped(std::priority_queue<T> &heap) {
  T out = heap.top();
  heap.pop();
  return out;
}

class Dispatcher {
public:
  Dispatcher(const OverlapNetwork &network, const DispatchRules &rules,
             std::vector<std::vector<OverlapPieceId>> buckets)
      : network_(network), rules_(rules),
        link_(static_cast<std::uint32_t>(network.problem().problem.resources)),
        nodes_(static_cast<std::uint32_t>(network.tasks() + buckets.size())),
        waiting_(nodes_), arrival_(nodes_),
        bucketOf_(network.problem().pieces.size()), next_(nodes_, kNone),
        ready_(link_ + 1), coming_(link_), free_(link_ + 1) {
    given_ = std::move(buckets);
    order_.tasks.resize(link_);
    prepareTasks();
    prepareBuckets();
  }

  std::optional<OverlapOrder> run() {
    for (std::uint32_t node = 0; node < nodes_; ++node)
      if (waiting_[node] == 0)
        events_.push({arrival_[node], node});
    std::vector<std::uint32_t> touched;
    while (!events_.empty()) {
      std::int64_t now = events_.top().time;
      touched.clear();
      while (!events_.empty() && events_.top().time == now)
        touched.push_back(take(popped(events_)));
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      for (std::uint32_t machine : touched)
        serve(machine, now);
    }
    if (served_ != nodes_)
      return std::nullopt;
    return std::move(order_);
  }

private:
  static constexpr std::uint32_t kNone =
      std::numeric_limits<std::uint32_t>::max();

  void prepareTasks() {
    std::vector<std::uint32_t> last(link_, kNone);
    for (std::uint32_t task = 0; task < network_.tasks(); ++task) {
      arrival_[task] = network_.release(task);
      waiting_[task] = static_cast<std::uint32_t>(
          network_.predecessors(task).size() + network_.needs(task).size());
      if (rules_.tasks != TaskRule::ById)
        continue;
      std::uint32_t &before = last[network_.resource(task)];
      if (before != kNone) {
        next_[before] = task;
        ++waiting_[task];
      }
      before = task;
    }
  }

  void prepareBuckets() {
    std::vector<std::uint32_t> last(network_.problem().groups.size(), kNone);
    for (std::size_t b = 0; b < given_.size(); ++b) {
      std::uint32_t node = static_cast<std::uint32_t>(network_.tasks() + b);
      for (OverlapPieceId id : given_[b]) {
        const OverlapPiece &piece = network_.problem().pieces[id];
        bucketOf_[id.index()] = node;
        arrival_[node] = std::max(arrival_[node], piece.release.value);
        waiting_[node] += piece.after.isValid();
      }
      if (rules_.link != LinkRule::FirstComeInGroups)
        continue;
      std::int32_t group = network_.problem().pieces[given_[b][0]].group;
      std::uint32_t &before = last[static_cast<std::size_t>(group)];
      if (before != kNone) {
        next_[before] = node;
        ++waiting_[node];
      }
      before = node;
    }
  }

  /// The machine that an event is news for.
  std::uint32_t take(const Event &event) {
    if (event.node >= nodes_)
      return event.node - nodes_;
    std::uint32_t node = event.node;
    bool task = node < network_.tasks();
    if (task && rules_.tasks == TaskRule::Patient)
      forget(node);
    std::uint32_t machine = task ? network_.resource(node) : link_;
    std::int64_t priority = 0;
    if (task && rules_.tasks != TaskRule::ById)
      priority = rules_.taskPriority[node];
    else if (!task && rules_.link == LinkRule::ByPriority)
      priority = rules_.bucketPriority[node - network_.tasks()];
    else if (!task)
      priority = -arrival_[node];
    ready_[machine].push({priority, node});
    return machine;
  }

  void serve(std::uint32_t machine, std::int64_t now) {
    while (!ready_[machine].empty() && free_[machine] <= now) {
      std::uint32_t node = 0;
      if (rules_.tasks != TaskRule::Patient || machine == link_)
        node = popped(ready_[machine]).node;
      else if (!pickPatiently(machine, now, node))
        return;
      ++served_;
      std::int64_t end = now;
      if (node < network_.tasks()) {
        end += network_.duration(node);
        order_.tasks[machine].push_back(TaskId(node));
        finishTask(node, end);
      } else {
        std::vector<OverlapPieceId> &pieces = given_[node - network_.tasks()];
        end += network_.costOf(pieces);
        for (OverlapPieceId id : pieces)
          for (TaskId user : network_.problem().pieces[id].users)
            reach(user.index(), end);
        order_.buckets.push_back(std::move(pieces));
      }
      if (next_[node] != kNone)
        reach(next_[node], end);
      free_[machine] = end;
      events_.push({end, nodes_ + machine});
    }
  }

  void finishTask(std::uint32_t task, std::int64_t end) {
    for (const OverlapNetwork::Arc &arc : network_.successors(task))
      reach(arc.to, end + arc.lag);
    for (std::uint32_t piece : network_.makes(task))
      reach(bucketOf_[piece], end);
  }

  void reach(std::uint32_t node, std::int64_t time) {
    arrival_[node] = std::max(arrival_[node], time);
    if (--waiting_[node] != 0)
      return;
    events_.push({arrival_[node], node});
    if (rules_.tasks == TaskRule::Patient && node < network_.tasks())
      coming_[network_.resource(node)].push_back(node);
  }

  void forget(std::uint32_t task) {
    std::vector<std::uint32_t> &coming = coming_[network_.resource(task)];
    coming.erase(std::remove(coming.begin(), coming.end(), task), coming.end());
  }

  /// The first by priority that ends before what comes with a higher one.
  bool pickPatiently(std::uint32_t machine, std::int64_t now,
                     std::uint32_t &node) {
    std::vector<Ready> passed;
    bool found = false;
    while (!found && !ready_[machine].empty() && passed.size() < kLooks) {
      Ready first = popped(ready_[machine]);
      std::int64_t end = now + network_.duration(first.node);
      found = std::none_of(coming_[machine].begin(), coming_[machine].end(),
                           [&](std::uint32_t other) {
                             return arrival_[other] < end &&
                                    rules_.taskPriority[other] > first.priority;
                           });
      if (found)
        node = first.node;
      else
        passed.push_back(first);
    }
    for (const Ready &each : passed)
      ready_[machine].push(each);
    return found;
  }

  static constexpr std::size_t kLooks = 64;
  const OverlapNetwork &network_;
  const DispatchRules &rules_;
  std::uint32_t link_, nodes_, served_ = 0;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::int64_t> arrival_;
  std::vector<std::uint32_t> bucketOf_, next_;
  std::vector<std::priority_queue<Ready>> ready_;
  std::vector<std::vector<std::uint32_t>> coming_; ///< arrivals known
  std::vector<std::int64_t> free_;
  std::vector<std::vector<OverlapPieceId>> given_;
  std::priority_queue<Event> events_;
  OverlapOrder order_;
};

} // namespace

std::optional<OverlapOrder>
dispatch(const OverlapNetwork &network, const DispatchRules &rules,
         std::vector<std::vector<OverlapPieceId>> buckets) {
  return Dispatcher(network, rules, std::move(buckets)).run();
}

} // namespace planc::sched
