#include "runtime/report/Trace.h"

#include "runtime/report/NumberText.h"
#include "runtime/report/Report.h"
#include "runtime/report/TraceArguments.h"
#include "runtime/timeline/Queries.h"

#include <fmt/format.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>

namespace planc::report {

namespace {

using program::BlockId;
using program::Instruction;
using program::RankClassId;
using program::RankProgram;
using program::Stream;
using timeline::Communication;
using timeline::CommunicationSource;
using timeline::Run;
using timeline::Wait;
using timeline::WaitCause;

/// After the streams.
constexpr int kWaitThread = program::kStreamCount;

std::string quoted(std::string_view text) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  stream << llvm::json::Value(llvm::json::fixUTF8(llvm::StringRef(text)));
  return std::move(stream.str());
}

/// Whole picoseconds as decimal microseconds.
std::string microseconds(Duration duration) {
  constexpr std::int64_t kPerMicrosecond = 1'000'000;
  const std::int64_t part = duration.value % kPerMicrosecond;
  std::string out = std::to_string(duration.value / kPerMicrosecond);
  if (part == 0)
    return out;
  out += fmt::format(".{:06d}", part);
  out.erase(out.find_last_not_of('0') + 1);
  return out;
}

std::string_view nameOf(const Wait &wait) {
  const bool inPipeline =
      wait.cause == WaitCause::Recv || wait.cause == WaitCause::NothingLeft;
  if (wait.splitAt >= wait.end)
    return wordsOf(inPipeline ? Cause::Bubble : Cause::Skew);
  return wordsOf(exposedBy(wait.kind));
}

/// Of an instruction, as JSON.
struct Inside {
  std::string name, arguments;
};

class TraceWriter {
public:
  TraceWriter(const program::ProgramSet &set,
              const timeline::Timeline &timeline, const TraceOptions &options)
      : set_(set), timeline_(timeline), options_(options),
        last_(static_cast<std::int32_t>(timeline.steps.size()) - 1) {
    origin_ = Duration(INT64_MAX);
    for (RankClassId id : set.classes.ids())
      origin_ = std::min(origin_, windowOf(timeline, id).begin);
    showAll_ = eventsInside() <= options.mostEvents;
  }

  std::string write() && {
    for (RankClassId id : set_.classes.ids()) {
      writeTracks(id);
      writeRuns(id);
      writeCommunications(id);
      writeWaits(id);
      writeMemory(id);
    }
    // A run comes before what begins with it inside.
    std::stable_sort(
        events_.begin(), events_.end(),
        [](const Event &a, const Event &b) { return a.at < b.at; });
    std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    out.reserve(body_.size() + 2 * events_.size() + 64);
    for (const Event &event : events_) {
      out += &event == events_.data() ? "" : ",\n";
      out.append(body_, event.first, event.size);
    }
    out += "\n]}\n";
    return out;
  }

private:
  std::size_t eventsInside() const {
    std::size_t count = 0;
    for (RankClassId id : set_.classes.ids())
      for (const Run &run : timeline_.classes[id].runs)
        if (run.step == last_)
          count += set_.blocks[run.block].instructions.size();
    return count;
  }

  struct Event {
    Duration at;
    std::size_t first, size; ///< of `body_`
  };

  template <class... Args>
  void event(Duration at, fmt::format_string<Args...> text, Args &&...args) {
    const std::size_t first = body_.size();
    fmt::format_to(std::back_inserter(body_), text,
                   std::forward<Args>(args)...);
    events_.push_back({at, first, body_.size() - first});
  }
  /// A slice; `name` and `args` are JSON already.
  void slice(RankClassId id, int thread, Duration begin, Duration end,
             std::string_view name, std::string_view args = "") {
    event(begin,
          "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
          "\"name\":{}{}{}}}",
          id.index(), thread, microseconds(begin - origin_),
          microseconds(end - begin), name,
          args.empty() ? "" : ",\"args\":", args);
  }
  void label(RankClassId id, int thread, std::string_view what,
             std::string_view args) {
    event(origin_,
          "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\","
          "\"args\":{{{}}}}}",
          id.index(), thread, what, args);
  }

  void writeTracks(RankClassId id);
  void writeRuns(RankClassId id);
  void writeInside(RankClassId id, const Run &run);
  void writeCommunications(RankClassId id);
  void writeFlow(RankClassId id, const Communication &communication);
  void writeWaits(RankClassId id);
  void writeMemory(RankClassId id);
  std::string nameOf(RankClassId id, const Communication &communication) const;
  std::string argumentsOf(RankClassId id,
                          const Communication &communication) const;
  const std::vector<Inside> &namesOf(RankClassId id, BlockId block);

  const program::ProgramSet &set_;
  const timeline::Timeline &timeline_;
  const TraceOptions &options_;
  std::int32_t last_;
  Duration origin_;
  bool showAll_ = true;
  RankClassId named_; ///< whose ranks `names_` are of
  Table<BlockId, std::vector<Inside>> names_;
  std::string body_;
  std::vector<Event> events_;
};

void TraceWriter::writeTracks(RankClassId id) {
  const RankProgram &code = set_.classes[id];
  label(id, 0, "process_name",
        "\"name\":" +
            quoted(fmt::format("{} ({} rank{})", code.name, grouped(code.ranks),
                               code.ranks == 1 ? "" : "s")));
  label(id, 0, "process_sort_index",
        fmt::format("\"sort_index\":{}", id.index()));
  for (int thread = 0; thread <= kWaitThread; ++thread) {
    const std::string_view name = thread == kWaitThread
                                      ? "waiting for"
                                      : toString(static_cast<Stream>(thread));
    label(id, thread, "thread_name", "\"name\":" + quoted(name));
    label(id, thread, "thread_sort_index",
          fmt::format("\"sort_index\":{}", thread));
  }
}

/// Texts of a block's instructions as JSON, made once for a class.
const std::vector<Inside> &TraceWriter::namesOf(RankClassId id, BlockId block) {
  if (named_ != id) {
    names_ = {};
    names_.resize(set_.blocks.size());
    named_ = id;
  }
  std::vector<Inside> &names = names_[block];
  if (names.empty())
    for (const Instruction &instruction : set_.blocks[block].instructions)
      names.push_back(
          {quoted(instruction.name.empty()
                      ? toString(instruction.kind)
                      : std::string_view(instruction.name)),
           collectiveArguments(instruction.kind, instruction.message,
                               set_.classes[id].first)});
  return names;
}

void TraceWriter::writeRuns(RankClassId id) {
  std::vector<char> isShown(set_.blocks.size());
  for (const Run &run : timeline_.classes[id].runs) {
    if (run.step != last_)
      continue;
    const program::Task &task = set_.classes[id].tasks[run.task];
    std::string name = set_.blocks[run.block].name;
    if (task.microBatch >= 0)
      name += fmt::format(", micro-batch {}", task.microBatch);
    if (task.withMicroBatch >= 0)
      name += fmt::format(" and {}", task.withMicroBatch);
    slice(id, 0, run.begin, run.end, quoted(name));
    char &shown = isShown[run.block.index()];
    if (showAll_ || shown == 0)
      writeInside(id, run);
    shown = 1;
  }
}

void TraceWriter::writeInside(RankClassId id, const Run &run) {
  const auto [origin, times] = instructionsOf(timeline_, run);
  const std::vector<Inside> &names = namesOf(id, run.block);
  const auto &code = set_.blocks[run.block].instructions;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (times[i].begin < times[i].end)
      slice(id, static_cast<int>(code[i].stream), origin + times[i].begin,
            origin + times[i].end, names[i].name, names[i].arguments);
}

std::string TraceWriter::nameOf(RankClassId id,
                                const Communication &communication) const {
  const RankProgram &code = set_.classes[id];
  const timeline::ClassTimeline &times = timeline_.classes[id];
  switch (communication.source) {
  case CommunicationSource::Send:
  case CommunicationSource::Recv:
  case CommunicationSource::Collective:
    return code.tasks[program::TaskId(communication.index)].name;
  case CommunicationSource::Reduce:
    return fmt::format("bucket {}, {} pieces", communication.index,
                       times.reduces[communication.index].pieces.size());
  case CommunicationSource::Gather:
    return fmt::format("gather {}, {} pieces", communication.index,
                       times.gathers[communication.index].pieces.size());
  }
  return "";
}

std::string TraceWriter::argumentsOf(RankClassId id,
                                     const Communication &communication) const {
  using program::InstructionKind;
  const RankProgram &code = set_.classes[id];
  const timeline::ClassTimeline &times = timeline_.classes[id];
  const auto ofBucket = [&](const timeline::Bucket &bucket,
                            const auto &pieces) {
    const program::Piece &piece = pieces[bucket.pieces.front()];
    program::Message message = piece.message;
    message.bytes = bucket.bytes;
    return collectiveArguments(piece.collective, message, code.first);
  };
  switch (communication.source) {
  case CommunicationSource::Send:
  case CommunicationSource::Recv: {
    const program::Task &task =
        code.tasks[program::TaskId(communication.index)];
    const bool isSend = communication.source == CommunicationSource::Send;
    return collectiveArguments(
        isSend ? InstructionKind::Send : InstructionKind::Recv, task.message,
        std::min(code.first, set_.classes[task.peer].first));
  }
  case CommunicationSource::Collective:
    return collectiveArguments(
        InstructionKind::AllReduce,
        code.tasks[program::TaskId(communication.index)].message,
        communication.kind == program::CommunicationKind::Norm ? 0
                                                               : code.first);
  case CommunicationSource::Reduce:
    return ofBucket(times.reduces[communication.index], code.reduces);
  case CommunicationSource::Gather:
    return ofBucket(times.gathers[communication.index], code.gathers);
  }
  return "";
}

/// Slices of one track may not overlap for a viewer; messages do, since the
/// latency of one does not hold the link: each is shown from where the one
/// before it ends.
void TraceWriter::writeCommunications(RankClassId id) {
  std::array<Duration, kWaitThread> ends{};
  for (Communication communication : timeline_.classes[id].communications) {
    if (communication.step != last_)
      continue;
    Duration &end = ends[static_cast<std::size_t>(communication.stream)];
    communication.begin = std::max(communication.begin, end);
    end = communication.end = std::max(communication.end, end);
    std::string name = nameOf(id, communication);
    if (name.empty())
      name = program::toString(communication.kind);
    slice(id, static_cast<int>(communication.stream), communication.begin,
          communication.end, quoted(name), argumentsOf(id, communication));
    writeFlow(id, communication);
  }
}

/// An arrow from a Send to its Recv.
void TraceWriter::writeFlow(RankClassId id,
                            const Communication &communication) {
  const bool isSend = communication.source == CommunicationSource::Send;
  if (!isSend && communication.source != CommunicationSource::Recv)
    return;
  const program::Task &task =
      set_.classes[id].tasks[program::TaskId(communication.index)];
  const RankClassId from = isSend ? id : task.peer;
  const RankClassId to = isSend ? task.peer : id;
  event(communication.begin,
        "{{\"ph\":\"{}\",\"bp\":\"e\",\"cat\":\"message\",\"name\":"
        "\"message\",\"id\":\"{}.{}.{}\",\"pid\":{},\"tid\":{},\"ts\":{}}}",
        isSend ? "s" : "f", from.index(), to.index(), task.tag, id.index(),
        static_cast<int>(communication.stream),
        microseconds(communication.begin - origin_));
}

/// What is held from the begin of a run, and from its end where the next does
/// not begin at once.
void TraceWriter::writeMemory(RankClassId id) {
  if (id.index() >= options_.memory.size())
    return;
  const program::MemoryCurve &curve = options_.memory[id.index()];
  std::vector<std::size_t> place(set_.classes[id].tasks.size());
  std::size_t count = 0;
  for (program::TaskId task : set_.classes[id].tasks.ids())
    if (set_.classes[id].tasks[task].kind == program::TaskKind::Run)
      place[task.index()] = count++;
  const auto show = [&](Duration at, Bytes bytes) {
    event(at,
          "{{\"ph\":\"C\",\"pid\":{},\"ts\":{},\"name\":\"memory\","
          "\"args\":{{\"bytes\":{}}}}}",
          id.index(), microseconds(at - origin_),
          (curve.standing + bytes).value);
  };
  const std::vector<Run> &runs = timeline_.classes[id].runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t at = place[runs[i].task.index()];
    if (runs[i].step != last_ || at >= curve.runs.size())
      continue;
    show(runs[i].begin, curve.runs[at].during);
    if (i + 1 == runs.size() || runs[i].end < runs[i + 1].begin)
      show(runs[i].end, curve.runs[at].after);
  }
}

void TraceWriter::writeWaits(RankClassId id) {
  const timeline::Window window = windowOf(timeline_, id);
  for (const Wait &wait : timeline_.classes[id].waits)
    if (wait.begin >= window.begin && wait.end <= window.end &&
        wait.begin < wait.end)
      slice(id, kWaitThread, wait.begin, wait.end,
            quoted(report::nameOf(wait)));
}

} // namespace

std::string toTrace(const program::ProgramSet &set,
                    const timeline::Timeline &timeline,
                    const TraceOptions &options) {
  return TraceWriter(set, timeline, options).write();
}

} // namespace planc::report
