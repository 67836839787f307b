// What the step time is made of: the chain of kernels, collectives and messages
// that each began when the one before it ended.
#pragma once

#include "runtime/timeline/Timeline.h"

namespace planc::timeline {

struct PathPart {
  enum class What : std::uint8_t {
    Instruction,   ///< of a block: a kernel or a collective
    Communication, ///< a message, a collective task or a bucket
    Idle,          ///< nothing that this timeline knows of
  } what = What::Idle;
  RankClassId rankClass;
  std::int32_t step = 0;
  Duration begin, end;
  TaskId task;                     ///< Instruction: the run
  std::uint32_t instruction = 0;   ///< Instruction: index in its block
  std::uint32_t communication = 0; ///< index in the class's communications

  Duration length() const { return end - begin; }
};

/// One period of the class that has the longest window, walked from its end to
/// its beginning and over to whatever class it waited for; earliest first. Each
/// part begins where the one before it ends, and together they are as long as
/// the step. Where two things ended at the same moment the kernel is taken
/// before a collective, and the lower id before the higher.
std::vector<PathPart> criticalPath(const Timeline &timeline,
                                   const program::ProgramSet &programs);

} // namespace planc::timeline
