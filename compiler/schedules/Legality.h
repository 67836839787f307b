// Which shapes a schedule runs with: closed rules. Tests hold them equal to
// running the orders (Execute.h) over a grid of shapes.
#pragma once

#include "compiler/schedules/Pass.h"

#include <string_view>

namespace planc::schedules {

struct Rule {
  bool (*fits)(const Shape &);
  /// What the schedule takes, as in "groups that …"; empty where every shape
  /// runs.
  std::string_view text;
};

extern const Rule always, groupInside, groupsFill, dualPipeFits, dualPipeVFits,
    chimeraFits;

} // namespace planc::schedules
