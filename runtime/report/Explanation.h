// Why a step is as long as it is: what it hangs on, what of communication is
// exposed and what would hide it, and what one percent of everything is worth
// (METRICS M7, M11).
#pragma once

#include "runtime/report/BuildReport.h"

#include <string>
#include <vector>

namespace planc::report {

/// Parts of the critical path of one sort.
struct PathRow {
  std::string what; ///< `forward`, `tensor collectives`
  Duration time;
  std::int64_t parts = 0;
  Place place;      ///< line of the clause that made it; 0: none
  std::string text; ///< the line as written
};

/// A number of the cluster that hides an exposure when it is changed alone.
struct Way {
  std::string resource; ///< `bandwidth of fabric`
  std::string has, needs;
  std::int64_t millionths = 0; ///< needs ÷ has; 0: a switch turned on
};

/// One that was changed as far as the search goes, and did not.
struct NotEnough {
  std::string resource;
  std::int64_t millionths = 0; ///< of what it has
  Duration left;               ///< exposed still, per rank
};

/// What of one kind of communication is exposed.
struct Exposure {
  program::CommunicationKind kind = program::CommunicationKind::None;
  Int128 rankTime = 0;
  std::string over; ///< outermost level of links; empty: several

  /// The collective, message or bucket of it that is waited for longest.
  struct Largest {
    std::string name;  ///< `decoder.wq`, `decoder.w2 .. decoder.wq`
    std::string stage; ///< the class that waits; empty: all that have it
    enum class Source : std::uint8_t {
      Block,      ///< in blocks: `times` of them
      Message,    ///< between stages
      Collective, ///< a task
      Reduce,
      Gather,
    } source = Source::Block;
    Int128 rankTime = 0;
    std::int64_t times = 0; ///< a step, by the mean of the ranks, rounded up
    Bytes bytes;            ///< Reduce, Gather
    /// Reduce, Gather: from the step's begin on this stage.
    Duration leaves, lands, uncovered;
    bool isBehind = false;  ///< began when another bucket ended
    std::string lastToCome; ///< Reduce: the piece that was ready last
  } largest;

  std::vector<Way> ways;
  std::vector<NotEnough> notEnough;
};

/// M11: the change of the step time for one percent more.
struct Sensitivity {
  std::string resource, has;
  Duration change; ///< negative: the step gets shorter
};

/// Another word in the plan, compiled to see what it does.
struct PlanChange {
  std::string clauses; ///< as a variant would say them
  Duration change;     ///< of the step time, negative
};

struct Explanation {
  std::string status; ///< of the report
  Planned planned;
  Duration stepTime;
  double aboveBound = 0;
  std::vector<PathRow> path; ///< kernels, then the rest, the longest first
  std::vector<Exposure> exposures; ///< the largest first
  std::vector<Sensitivity> sensitivities;
  std::vector<PlanChange> changes; ///< that help, most first
  bool isCut = false; ///< the search ended before all changes were tried

  static constexpr std::size_t kExposures = 4;
};

/// The critical path by sort and line; adds up to the step time.
std::vector<PathRow> pathRows(const ReportInputs &inputs);

/// Kinds whose exposed part is a thousandth of the step or more, at most
/// Explanation::kExposures. `ways` and `notEnough` are left empty.
std::vector<Exposure> exposuresOf(const ReportInputs &inputs,
                                  const Report &report);

/// What counts as hidden: less than a thousandth of the step, rank-time.
bool isHidden(Int128 exposed, Int128 rankStepTime);

std::string toText(const Explanation &explanation);
std::string toJson(const Explanation &explanation);

} // namespace planc::report
