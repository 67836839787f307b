#include "compiler/driver/PrintSchedule.h"

#include <fmt/format.h>

namespace planc::driver {

namespace {

using Pieces = Table<program::PieceId, program::Piece>;

void printBuckets(std::string &out, std::string_view what,
                  const std::vector<timeline::Bucket> &buckets,
                  const Pieces &pieces) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const timeline::Bucket &bucket = buckets[b];
    if (bucket.pieces.empty())
      continue;
    const program::Piece &first = pieces[bucket.pieces.front()];
    const program::Piece &last = pieces[bucket.pieces.back()];
    out +=
        fmt::format("  {} {}: {} of {} over {}, {} pieces, {}", what, b,
                    program::toString(first.collective), bucket.bytes.value,
                    first.message.members(), bucket.pieces.size(), first.name);
    if (bucket.pieces.size() > 1)
      out += fmt::format(" .. {}", last.name);
    if (bucket.after != timeline::Bucket::kNone)
      out += fmt::format(", after {}", bucket.after);
    out += '\n';
  }
}

char letterOf(program::PassKind pass) {
  switch (pass) {
  case program::PassKind::Forward:
    return 'F';
  case program::PassKind::WeightGradient:
    return 'W';
  default:
    return 'B';
  }
}

void printPasses(std::string &out, const program::RankProgram &rank) {
  out += "  order:";
  for (const program::Task &task : rank.tasks)
    if (task.kind == program::TaskKind::Run && task.microBatch >= 0) {
      out += fmt::format(" {}{}.{}", letterOf(task.pass), task.microBatch,
                         task.chunk);
      if (task.withMicroBatch >= 0)
        out += fmt::format("&B{}.{}", task.withMicroBatch, task.withChunk);
    }
  out += '\n';
}

} // namespace

std::string printSchedule(const sim::IssueOrder &order,
                          const program::ProgramSet &programs) {
  std::string out = fmt::format(
      "overlap {}\n", order.overlap == sim::Overlap::None ? "none" : "allowed");
  for (program::RankClassId id : programs.classes.ids()) {
    const program::RankProgram &rank = programs.classes[id];
    const sim::ClassIssue &issue = order.classes[id];
    out += fmt::format("{} ({} ranks)\n", rank.name, rank.ranks);
    printPasses(out, rank);
    printBuckets(out, "reduce", issue.reduces, rank.reduces);
    printBuckets(out, "gather", issue.gathers, rank.gathers);
  }
  return out;
}

} // namespace planc::driver
