#include "runtime/timeline/Timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

namespace planc::timeline {

namespace {

std::string_view toString(CommunicationSource source) {
  constexpr std::array<std::string_view, 5> kNames = {
      "send", "recv", "collective", "reduce", "gather"};
  return kNames[static_cast<std::size_t>(source)];
}

class Printer {
public:
  Printer(const Timeline &timeline, const program::ProgramSet &set)
      : timeline_(timeline), set_(set) {}

  std::string print() {
    append("timeline step={}ps\n", timeline_.stepTime.value);
    for (FormId id : timeline_.isolated.ids())
      if (std::optional<program::BlockId> block = blockOf(id))
        printForm(id, *block);
    for (RankClassId id : timeline_.classes.ids())
      printClass(id);
    return std::move(out_);
  }

private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), format,
                   std::forward<Args>(args)...);
  }

  /// The first forms are the blocks; of the others, runs tell.
  std::optional<program::BlockId> blockOf(FormId form) const {
    if (form.index() < set_.blocks.size())
      return program::BlockId(form.index());
    for (const ClassTimeline &of : timeline_.classes)
      for (const Run &run : of.runs)
        if (run.form == form)
          return run.block;
    return std::nullopt;
  }

  void printForm(FormId id, program::BlockId block) {
    const IsolatedRun &apart = timeline_.isolated[id];
    append("block {} \"{}\" alone={}ps", block.index(), set_.blocks[block].name,
           apart.duration.value);
    if (id.index() >= set_.blocks.size())
      append(" order={}", id.index() - set_.blocks.size());
    append("\n");
    printInstructions(block, apart.instructions);
  }

  void printInstructions(program::BlockId id,
                         std::span<const InstructionTimes> times) {
    const program::Block &block = set_.blocks[id];
    for (std::size_t i = 0; i < times.size(); ++i)
      append("    {} {} {} \"{}\"\n", times[i].begin.value, times[i].end.value,
             toString(block.instructions[i].stream),
             block.instructions[i].name);
  }

  void printClass(RankClassId id) {
    const ClassTimeline &of = timeline_.classes[id];
    append("class {} \"{}\"\n", id.index(), set_.classes[id].name);
    std::vector<std::pair<Duration, std::function<void()>>> entries;
    for (const Wait &wait : of.waits)
      entries.push_back({wait.begin, [&] { print(wait); }});
    for (const Communication &one : of.communications)
      entries.push_back({one.begin, [&] { print(one); }});
    for (const Run &run : of.runs)
      entries.push_back({run.begin, [&, id] { print(id, run); }});
    std::stable_sort(
        entries.begin(), entries.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
    for (const auto &entry : entries)
      entry.second();
  }

  void print(RankClassId id, const Run &run) {
    const program::Task &task = set_.classes[id].tasks[run.task];
    append("  {} {} compute run {} step={} {} micro={}", run.begin.value,
           run.end.value, run.task.index(), run.step, toString(task.pass),
           task.microBatch);
    if (task.withMicroBatch >= 0)
      append(" with={}", task.withMicroBatch);
    append(" \"{}\"\n", set_.blocks[run.block].name);
    if (run.isReused())
      return;
    std::span<const InstructionTimes> all = timeline_.instructions;
    printInstructions(
        run.block,
        all.subspan(run.first, set_.blocks[run.block].instructions.size()));
  }

  void print(const Communication &one) {
    append("  {} {} {} {} {} step={} ready={}\n", one.begin.value,
           one.end.value, toString(one.stream), toString(one.source), one.index,
           one.step, one.ready.value);
  }

  void print(const Wait &wait) {
    append("  {} {} wait {} split={} for={} step={}\n", wait.begin.value,
           wait.end.value, timeline::toString(wait.cause), wait.splitAt.value,
           toString(wait.kind), wait.step);
  }

  const Timeline &timeline_;
  const program::ProgramSet &set_;
  std::string out_;
};

} // namespace

std::string toText(const Timeline &timeline, const program::ProgramSet &set) {
  return Printer(timeline, set).print();
}

} // namespace planc::timeline
