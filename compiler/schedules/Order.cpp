#include "compiler/schedules/Pass.h"

#include <fmt/format.h>

namespace planc::schedules {

std::string toText(const Pass &pass, const PassText &how) {
  std::string out;
  switch (pass.kind) {
  case PassKind::Forward:
    out = "F";
    break;
  case PassKind::Backward:
    out = how.mixed ? "D" : "B";
    break;
  case PassKind::InputGradient:
    out = "B";
    break;
  case PassKind::WeightGradient:
    out = "W";
    break;
  }
  out += fmt::format("{}", pass.microBatch);
  if (how.withChunk)
    out += fmt::format(".{}", pass.chunk);
  if (how.withSlice)
    out += fmt::format("/{}", pass.slice);
  return out;
}

PassText textOf(const Orders &orders, std::int64_t chunksPerRank) {
  PassText how;
  how.withChunk = chunksPerRank > 1;
  for (const Order &order : orders)
    for (const Pass &pass : order) {
      how.mixed = how.mixed || pass.kind == PassKind::InputGradient;
      how.withSlice = how.withSlice || pass.slice > 0;
    }
  return how;
}

std::string toText(const Order &order, const PassText &how) {
  std::string out;
  for (const Pass &pass : order) {
    if (!out.empty())
      out += pass.withPrevious ? '&' : ' ';
    out += toText(pass, how);
  }
  return out;
}

} // namespace planc::schedules
