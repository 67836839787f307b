// The text of an order of issue, in the words of a program's text
// (runtime/program/ProgramPrinter.cpp).
//
//   schedule "NAME" overlap=none|allowed { ITEM* }
//   ITEM:  block "NAME" index= { LINE* }    another order of that block of the
//                                           program
//          class "NAME" extra(0B) { LINE* } every class, in the program's order
//
// In a block a LINE is
//   order instructions=[i, i, …]   numbered from 0 through the whole text
// and in a class
//   reduce gather   pieces=[p, p, …] after(none) hold(none): buckets, each kind
//                   numbered from 0, in the order of issue; `hold`: a task, a
//                   run that ends before a reduction begins
//   form            task= order=: that run follows that order
//
// What a bucket is made of stands behind it as a comment.
#include "runtime/sim/IssueOrder.h"

#include <fmt/format.h>

namespace planc::sim {

namespace {

using Pieces = Table<program::PieceId, program::Piece>;

template <class T, class F>
std::string listed(const std::vector<T> &values, F show) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    out += fmt::format("{}{}", i ? ", " : "", show(values[i]));
  return out + "]";
}

/// A name without what ends a line or a text.
std::string quoted(const std::string &name) {
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string inComment(std::string name) {
  for (char &c : name)
    if (c == '\n')
      c = ' ';
  return name;
}

void printBuckets(std::string &out, std::string_view word,
                  const std::vector<timeline::Bucket> &buckets,
                  const Pieces &pieces) {
  for (const timeline::Bucket &bucket : buckets) {
    out += fmt::format(
        "    {} pieces={}", word,
        listed(bucket.pieces, [](program::PieceId id) { return id.index(); }));
    if (bucket.after != timeline::Bucket::kNone)
      out += fmt::format(" after={}", bucket.after);
    if (bucket.hold.isValid())
      out += fmt::format(" hold={}", bucket.hold.index());
    if (!bucket.pieces.empty()) {
      const program::Piece &first = pieces[bucket.pieces.front()];
      const program::Piece &last = pieces[bucket.pieces.back()];
      out += fmt::format("  # {} of {} over {}, {} pieces, {}",
                         program::toString(first.collective),
                         bucket.bytes.value, first.message.members(),
                         bucket.pieces.size(), inComment(first.name));
      if (bucket.pieces.size() > 1)
        out += " .. " + inComment(last.name);
    }
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

/// The passes of a class, which are the program's and no part of the schedule.
void printPasses(std::string &out, const program::RankProgram &rank) {
  out += fmt::format("    # {} ranks, order:", rank.ranks);
  for (const program::Task &task : rank.tasks)
    if (task.kind == program::TaskKind::Run && task.microBatch >= 0) {
      out += fmt::format(" {}{}.{}", letterOf(task.pass), task.microBatch,
                         task.chunk);
      if (task.withMicroBatch >= 0)
        out += fmt::format("&B{}.{}", task.withMicroBatch, task.withChunk);
    }
  out += '\n';
}

void printClass(std::string &out, const ClassIssue &issue,
                const program::RankProgram &rank) {
  out += "  class " + quoted(rank.name);
  if (issue.extra != Bytes(0))
    out += fmt::format(" extra={}B", issue.extra.value);
  out += " {\n";
  printPasses(out, rank);
  printBuckets(out, "reduce", issue.reduces, rank.reduces);
  printBuckets(out, "gather", issue.gathers, rank.gathers);
  for (const FormUse &use : issue.forms)
    out +=
        fmt::format("    form task={} order={}\n", use.task.index(), use.order);
  out += "  }\n";
}

} // namespace

std::string toText(const IssueOrder &order, const program::ProgramSet &set) {
  std::string out = fmt::format("schedule {} overlap={} {{\n", quoted(set.name),
                                toString(order.overlap));
  for (const BlockOrder &one : order.orders)
    out += fmt::format(
        "  block {} index={} {{\n    order instructions={}\n  }}\n",
        quoted(set.blocks[one.block].name), one.block.index(),
        listed(one.instructions, [](std::uint32_t i) { return i; }));
  for (program::RankClassId id : set.classes.ids())
    printClass(out, order.classes[id], set.classes[id]);
  return out + "}\n";
}

} // namespace planc::sim
