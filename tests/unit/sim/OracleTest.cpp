// With contention off, a simulation is a longest path: built here from the
// program alone, as a scheduling problem in program order.
#include "tests/unit/Catch.h"

#include "runtime/sched/Algorithms.h"
#include "tests/unit/sim/RandomPrograms.h"

using namespace planc;
using namespace planc::test;

namespace {

constexpr std::int32_t kSteps = 2;

class LongestPath {
public:
  LongestPath(const RandomProgram &program, const sim::IssueOrder &order)
      : program_(program), set_(program.set), order_(order) {
    streams_ = set_.classes.size() * program::kStreamCount;
    problem_.resources = streams_;
    for (std::int32_t step = 0; step < kSteps; ++step)
      addStep(step);
    for (std::int32_t step = 0; step < kSteps; ++step)
      for (RankClassId c : set_.classes.ids())
        linkClass(step, c);
  }

  /// Of the gate that ends a run.
  Duration endOf(const sched::Schedule &schedule, std::int32_t step,
                 RankClassId c, TaskId task) const {
    return schedule.begin[at(step, c).ends[task.index()]];
  }

  const sched::Problem &problem() const { return problem_; }

private:
  struct Nodes {
    std::vector<sched::TaskId> begins, ends; ///< by task
    std::vector<std::vector<sched::TaskId>> instructions;
    std::vector<sched::TaskId> reduces, gathers;
    sched::TaskId join;
  };

  const Nodes &at(std::int32_t step, RankClassId c) const {
    return nodes_[static_cast<std::size_t>(step)][c.index()];
  }

  sched::TaskId node(Duration duration, std::size_t resource) {
    sched::Task task;
    task.duration = duration;
    task.resource = sched::ResourceId(resource);
    return problem_.tasks.add(task);
  }
  /// A moment: on a resource of its own.
  sched::TaskId moment() { return node(Duration(0), problem_.resources++); }
  void link(sched::TaskId before, sched::TaskId after,
            Duration lag = Duration(0)) {
    problem_.tasks[after].deps.push_back({before, lag});
  }
  std::size_t resource(RankClassId c, Stream stream) const {
    return c.index() * program::kStreamCount + static_cast<std::size_t>(stream);
  }

  void addStep(std::int32_t step) {
    nodes_.emplace_back();
    sched::TaskId join = moment();
    for (RankClassId c : set_.classes.ids()) {
      Nodes nodes;
      nodes.join = join;
      const RankProgram &rank = set_.classes[c];
      for (TaskId id : rank.tasks.ids())
        addTask(nodes, c, id);
      for (const timeline::Bucket &bucket : order_.classes[c].reduces) {
        const bool second = sim::overlapsReductions(order_.overlap) &&
                            bucket.after != timeline::Bucket::kNone;
        nodes.reduces.push_back(
            node(bucketDuration(rank, rank.reduces, bucket),
                 resource(c, second ? Stream::Sums : Stream::Gradients)));
      }
      for (const timeline::Bucket &bucket : order_.classes[c].gathers)
        if (step + 1 < kSteps)
          nodes.gathers.push_back(
              node(bucketDuration(rank, rank.gathers, bucket),
                   resource(c, Stream::Parameters)));
      nodes_.back().push_back(nodes);
    }
  }

  Duration bucketDuration(const RankProgram &rank,
                          const Table<PieceId, Piece> &pieces,
                          const timeline::Bucket &bucket) const {
    return program_.costs
        .bucket(rank, pieces[bucket.pieces.front()], bucket.bytes)
        .duration;
  }

  void addTask(Nodes &nodes, RankClassId c, TaskId id) {
    const Task &task = set_.classes[c].tasks[id];
    const sim::OpCost &cost = program_.costs.tasks[c.index()][id.index()];
    nodes.begins.push_back(
        task.kind == TaskKind::Send
            ? node(cost.duration - cost.latency, resource(c, Stream::Send))
            : moment());
    nodes.instructions.emplace_back();
    if (task.kind == TaskKind::Run) {
      const Block &block = set_.blocks[task.block];
      for (std::size_t i = 0; i < block.instructions.size(); ++i)
        nodes.instructions.back().push_back(
            node(program_.costs.instructions[task.block.index()][i].duration,
                 resource(c, block.instructions[i].stream)));
    }
    nodes.ends.push_back(moment());
  }

  void linkClass(std::int32_t step, RankClassId c) {
    const Nodes &nodes = at(step, c);
    const RankProgram &rank = set_.classes[c];
    for (TaskId id : rank.tasks.ids()) {
      const Task &task = rank.tasks[id];
      link(nodes.begins[id.index()], nodes.ends[id.index()],
           problem_.tasks[nodes.begins[id.index()]].duration);
      for (TaskId dep : task.deps)
        link(nodes.ends[dep.index()], nodes.begins[id.index()]);
      if (task.kind == TaskKind::Run)
        linkRun(step, c, id);
      if (task.kind == TaskKind::Send)
        linkTransfer(step, c, id);
    }
    linkReduces(step, c);
    if (step + 1 < kSteps)
      linkGathers(step, c);
  }

  void linkRun(std::int32_t step, RankClassId c, TaskId id) {
    const Nodes &nodes = at(step, c);
    const Task &task = set_.classes[c].tasks[id];
    sched::TaskId begin = nodes.begins[id.index()];
    const Block &block = set_.blocks[task.block];
    const auto &inside = nodes.instructions[id.index()];
    for (std::size_t i = 0; i < inside.size(); ++i) {
      link(begin, inside[i]);
      link(inside[i], nodes.ends[id.index()]);
      for (std::uint32_t dep : block.instructions[i].deps)
        link(inside[dep], inside[i]);
    }
    sched::TaskId &last = lastRun_[c.index()];
    if (last.isValid())
      link(last, begin);
    last = nodes.ends[id.index()];
    if (task.pass != PassKind::Update)
      return;
    sched::TaskId arrival = moment();
    for (sched::TaskId reduce : nodes.reduces)
      link(reduce, arrival);
    for (const sched::Dependence &dep : problem_.tasks[begin].deps)
      link(dep.on, arrival);
    link(arrival, begin);
    if (set_.stepEnd == ProgramSet::StepEnd::Joined) {
      link(arrival, nodes.join);
      link(nodes.join, begin);
    }
  }

  void linkTransfer(std::int32_t step, RankClassId c, TaskId id) {
    const Task &send = set_.classes[c].tasks[id];
    const sim::OpCost &cost = program_.costs.tasks[c.index()][id.index()];
    const RankProgram &peer = set_.classes[send.peer];
    for (TaskId other : peer.tasks.ids())
      if (peer.tasks[other].kind == TaskKind::Recv &&
          peer.tasks[other].peer == c && peer.tasks[other].tag == send.tag)
        link(at(step, c).begins[id.index()],
             at(step, send.peer).ends[other.index()], cost.latency);
  }

  void linkReduces(std::int32_t step, RankClassId c) {
    const Nodes &nodes = at(step, c);
    const RankProgram &rank = set_.classes[c];
    const auto &buckets = order_.classes[c].reduces;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      if (buckets[b].after != timeline::Bucket::kNone) {
        link(nodes.reduces[buckets[b].after], nodes.reduces[b]);
      } else if (!sim::overlapsReductions(order_.overlap)) {
        for (TaskId id : rank.tasks.ids())
          if (rank.tasks[id].kind == TaskKind::Run &&
              rank.tasks[id].pass != PassKind::Update)
            link(nodes.ends[id.index()], nodes.reduces[b]);
      } else {
        for (PieceId id : buckets[b].pieces) {
          const Piece &piece = rank.reduces[id];
          const auto &inside = nodes.instructions[piece.task.index()];
          link(piece.instruction < inside.size()
                   ? inside[piece.instruction]
                   : nodes.ends[piece.task.index()],
               nodes.reduces[b]);
        }
        if (buckets[b].hold.isValid())
          link(nodes.ends[buckets[b].hold.index()], nodes.reduces[b]);
      }
    }
  }

  void linkGathers(std::int32_t step, RankClassId c) {
    const RankProgram &rank = set_.classes[c];
    const auto &buckets = order_.classes[c].gathers;
    const Nodes &next = at(step + 1, c);
    for (std::size_t b = 0; b < buckets.size(); ++b)
      for (PieceId id : buckets[b].pieces) {
        const Piece &piece = rank.gathers[id];
        sched::TaskId gather = at(step, c).gathers[b];
        link(at(step, c).ends[piece.task.index()], gather);
        if (!sim::overlapsGathers(order_.overlap)) {
          for (TaskId run : rank.tasks.ids())
            if (rank.tasks[run].kind == TaskKind::Run)
              link(gather, next.begins[run.index()]);
        } else {
          for (const Piece::Use &use : piece.uses)
            link(gather, next.instructions[use.task.index()][use.instruction]);
        }
      }
  }

  const RandomProgram &program_;
  const ProgramSet &set_;
  const sim::IssueOrder &order_;
  std::size_t streams_ = 0;
  sched::Problem problem_;
  std::vector<std::vector<Nodes>> nodes_; ///< by step and class
  std::vector<sched::TaskId> lastRun_ = std::vector<sched::TaskId>(16);
};

} // namespace

TEST_CASE("with contention off the simulation is the longest path") {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    RandomShape shape;
    shape.ownStreams = true;
    RandomProgram program = RandomPrograms(seed, shape).make();
    CAPTURE(seed);
    sim::BucketPolicy size;
    size.kind = sim::BucketPolicy::Kind::Size;
    size.size = Bytes(4 << 20);
    for (const sim::IssueOrder &order :
         {sim::programIssue(program.set),
          sim::frameworkIssue(program.set, size),
          sim::frameworkIssue(program.set, size, sim::Overlap::Reductions),
          sim::frameworkIssue(program.set, size, sim::Overlap::Gathers),
          withHolds(sim::frameworkIssue(program.set, size), program.set,
                    seed)}) {
      Result<timeline::Timeline> timeline =
          sim::simulate(program.set, program.costs, order,
                        {kSteps, sim::Contention::Off, sim::Mode::Reuse});
      REQUIRE(timeline);
      LongestPath path(program, order);
      REQUIRE(sched::check(path.problem()) == std::vector<std::string>{});
      std::optional<sched::Schedule> schedule =
          sched::scheduleInProgramOrder(path.problem());
      REQUIRE(schedule);
      REQUIRE(sched::verify(path.problem(), *schedule) ==
              std::vector<std::string>{});
      for (RankClassId c : program.set.classes.ids())
        for (const timeline::Run &run : timeline->classes[c].runs)
          REQUIRE(run.end == path.endOf(*schedule, run.step, c, run.task));
    }
  }
}
