#include "runtime/report/Explanation.h"

#include "runtime/report/NumberText.h"
#include "runtime/timeline/CriticalPath.h"
#include "runtime/timeline/Queries.h"

#include <algorithm>
#include <map>

namespace planc::report {

using program::CommunicationKind;
using program::Instruction;
using program::InstructionClass;
using program::Phase;
using timeline::CommunicationSource;
using timeline::PathPart;

namespace {

std::string wordsOf(Phase phase) {
  switch (phase) {
  case Phase::Forward:
    return "forward";
  case Phase::Recompute:
    return "recomputation";
  case Phase::InputGradient:
    return "gradients of inputs";
  case Phase::WeightGradient:
    return "gradients of weights";
  case Phase::Update:
    return "optimizer update";
  }
  return "";
}

std::string collectivesOf(CommunicationKind kind) {
  switch (kind) {
  case CommunicationKind::Pipeline:
    return "messages between stages";
  case CommunicationKind::Gradients:
    return "reductions of gradients";
  case CommunicationKind::Parameters:
    return "gathers of parameters";
  case CommunicationKind::Norm:
    return "the gradients' norm";
  case CommunicationKind::Host:
    return "copies to and from the host";
  default:
    return std::string(program::toString(kind)) + " collectives";
  }
}

/// What one part of the path is a part of.
struct Sort {
  int group = 0; ///< kernels first
  std::string what;
  OriginId clause;
  auto operator<=>(const Sort &) const = default;
};

class Rows {
public:
  explicit Rows(const ReportInputs &inputs) : inputs_(inputs) {}

  void add(const PathPart &part) {
    switch (part.what) {
    case PathPart::What::Instruction:
      addInstruction(part);
      break;
    case PathPart::What::Communication:
      addTo(sortOf(part), part.length());
      break;
    case PathPart::What::Idle:
      addTo({2, "nothing that is known", OriginId()}, part.length());
      break;
    }
  }

  std::vector<PathRow> take() {
    std::vector<std::pair<Sort, PathRow>> rows(rows_.begin(), rows_.end());
    std::stable_sort(rows.begin(), rows.end(), [](auto &a, auto &b) {
      return a.first.group != b.first.group ? a.first.group < b.first.group
                                            : a.second.time > b.second.time;
    });
    std::vector<PathRow> out;
    for (auto &[sort, row] : rows) {
      row.what = sort.what;
      if (inputs_.resolve && sort.clause.isValid()) {
        ResolvedLine at = inputs_.resolve(sort.clause);
        row.place = {at.file, at.line};
        row.text = oneLine(at.text);
      }
      out.push_back(std::move(row));
    }
    return out;
  }

private:
  void addInstruction(const PathPart &part) {
    const program::Task &task =
        inputs_.programs.classes[part.rankClass].tasks[part.task];
    const Instruction &code =
        inputs_.programs.blocks[task.block].instructions[part.instruction];
    if (classOf(code.kind) != InstructionClass::Compute) {
      addTo({1, collectivesOf(code.message.kind), code.clause}, part.length());
      return;
    }
    const Duration slowed = std::min(slowedOf(part), part.length());
    addTo({0, wordsOf(code.phase), OriginId()}, part.length() - slowed);
    if (slowed > Duration(0))
      addTo({0, "slowed by communication", OriginId()}, slowed);
  }

  Duration slowedOf(const PathPart &part) const {
    const auto &runs = inputs_.timeline.classes[part.rankClass].runs;
    auto at = std::partition_point(
        runs.begin(), runs.end(),
        [&](const timeline::Run &run) { return run.begin < part.end; });
    while (at != runs.begin()) {
      --at;
      if (at->task == part.task && at->step == part.step)
        return timeline::instructionsOf(inputs_.timeline, *at)
            .times[part.instruction]
            .slowed;
      if (at->end < part.begin)
        break;
    }
    return Duration(0);
  }

  Sort sortOf(const PathPart &part) const {
    const program::RankProgram &code = inputs_.programs.classes[part.rankClass];
    const timeline::ClassTimeline &times =
        inputs_.timeline.classes[part.rankClass];
    const timeline::Communication &one =
        times.communications[part.communication];
    OriginId clause;
    switch (one.source) {
    case CommunicationSource::Send:
    case CommunicationSource::Recv:
      clause = code.tasks[program::TaskId(one.index)].clause;
      if (!clause.isValid())
        clause = inputs_.clauses.pipeline;
      break;
    case CommunicationSource::Collective:
      clause = code.tasks[program::TaskId(one.index)].clause;
      break;
    case CommunicationSource::Reduce:
      clause = code.reduces[times.reduces[one.index].pieces.front()].clause;
      break;
    case CommunicationSource::Gather:
      clause = code.gathers[times.gathers[one.index].pieces.front()].clause;
      break;
    }
    return {1, collectivesOf(one.kind), clause};
  }

  void addTo(const Sort &sort, Duration time) {
    PathRow &row = rows_[sort];
    row.time += time;
    ++row.parts;
  }

  const ReportInputs &inputs_;
  std::map<Sort, PathRow> rows_;
};

} // namespace

std::vector<PathRow> pathRows(const ReportInputs &inputs) {
  Rows rows(inputs);
  for (const PathPart &part :
       timeline::criticalPath(inputs.timeline, inputs.programs))
    rows.add(part);
  return rows.take();
}

} // namespace planc::report
