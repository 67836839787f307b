#include "runtime/timeline/Timeline.h"

#include <array>

namespace planc::timeline {

std::string_view toString(WaitCause cause) {
  constexpr std::array<std::string_view, 7> kNames = {
      "instruction", "recv", "collective",  "reduce",
      "gather",      "join", "nothing-left"};
  return kNames[static_cast<std::size_t>(cause)];
}

Window windowOf(const Timeline &timeline, RankClassId rankClass) {
  const std::vector<Run> &runs = timeline.classes[rankClass].runs;
  Window out;
  if (runs.empty())
    return out;
  out.end = runs.back().end;
  for (const Run &run : runs)
    if (run.step < runs.back().step)
      out.begin = run.end;
  return out;
}

} // namespace planc::timeline
