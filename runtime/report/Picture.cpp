#include "runtime/report/Picture.h"

#include "runtime/timeline/Queries.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace planc::report {

namespace {

using program::Instruction;
using program::InstructionClass;
using program::InstructionKind;
using program::PassKind;
using program::RankClassId;
using program::RankProgram;
using program::Stream;
using program::Task;
using timeline::CommunicationSource;
using timeline::Run;
using timeline::Wait;
using timeline::WaitCause;

constexpr std::array kShades = {
#define PLANC_SHADE(NAME, KEY, WORDS, LIGHT, DARK)                             \
  ShadeInfo{KEY, WORDS, LIGHT, DARK},
#include "runtime/report/Shades.def"
};

Shade shadeOf(program::CommunicationKind kind) {
  return kind == program::CommunicationKind::None
             ? Shade::Tensor
             : static_cast<Shade>(static_cast<int>(Shade::Tensor) +
                                  static_cast<int>(kind) - 1);
}

Shade shadeOf(const Instruction &instruction) {
  if (classOf(instruction.kind) != InstructionClass::Compute)
    return shadeOf(instruction.message.kind);
  switch (instruction.kind) {
  case InstructionKind::Attention:
  case InstructionKind::AttentionGrad:
    return Shade::Attention;
  case InstructionKind::Memory:
    return Shade::MemoryBound;
  case InstructionKind::Update:
    return Shade::Update;
  default:
    return Shade::Product;
  }
}

Shade shadeOf(const Task &task) {
  if (task.withMicroBatch >= 0)
    return Shade::Together;
  switch (task.pass) {
  case PassKind::Forward:
    return Shade::Forward;
  case PassKind::Backward:
    return Shade::Backward;
  case PassKind::WeightGradient:
    return Shade::WeightGradient;
  case PassKind::Update:
    return Shade::Update;
  }
  return Shade::Forward;
}

class Builder {
public:
  Builder(const ReportInputs &inputs,
          std::span<const program::MemoryCurve> memory,
          const PictureOptions &options)
      : set_(inputs.programs), timeline_(inputs.timeline), inputs_(inputs),
        memory_(memory), options_(options),
        last_(static_cast<std::int32_t>(timeline_.steps.size()) - 1) {}

  Picture build() && {
    for (RankClassId id : set_.classes.ids()) {
      const timeline::Window window = windowOf(timeline_, id);
      origin_ =
          id.index() == 0 ? window.begin : std::min(origin_, window.begin);
    }
    for (RankClassId id : set_.classes.ids())
      addStage(id);
    return std::move(picture_);
  }

private:
  static constexpr std::size_t kWaiting = program::kStreamCount;
  using Tracks = std::array<std::vector<PictureBlock>, kWaiting + 1>;

  void addStage(RankClassId id) {
    tracks_ = {};
    used_ = {};
    addRuns(id);
    addCommunications(id);
    addWaits(id);
    PictureStage stage;
    stage.name = set_.classes[id].name;
    stage.ranks = set_.classes[id].ranks;
    stage.tracks = taken(tracks_, used_);
    addMemory(id, stage);
    for (const PictureTrack &track : stage.tracks)
      for (const PictureBlock &block : track.blocks)
        picture_.length = std::max(picture_.length, block.end);
    picture_.stages.push_back(std::move(stage));
  }

  /// Those that are used, what ranks wait for after compute.
  static std::vector<PictureTrack>
  taken(Tracks &from, const std::array<bool, kWaiting + 1> &used) {
    std::vector<PictureTrack> out;
    const auto take = [&](std::size_t index, std::string_view name) {
      if (used[index] || !from[index].empty())
        out.push_back({std::string(name), apart(std::move(from[index]))});
    };
    take(0, toString(Stream::Compute));
    take(kWaiting, "waiting");
    for (std::size_t i = 1; i < kWaiting; ++i)
      take(i, toString(static_cast<Stream>(i)));
    return out;
  }

  /// By begin, each from where the one before it ends: messages on one stream
  /// overlap in their latencies, receives are posted ahead.
  static std::vector<PictureBlock> apart(std::vector<PictureBlock> blocks) {
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](auto &a, auto &b) { return a.begin < b.begin; });
    Duration end;
    std::vector<PictureBlock> out;
    for (PictureBlock &block : blocks) {
      block.begin = std::max(block.begin, end);
      if (block.begin >= block.end)
        continue;
      block.busy = block.end - block.begin;
      end = block.end;
      out.push_back(block);
    }
    return out;
  }

  void addRuns(RankClassId id);
  void addCommunications(RankClassId id);
  void addWaits(RankClassId id);
  void addMemory(RankClassId id, PictureStage &stage) const;
  std::uint32_t insideOf(const Run &run);
  std::uint32_t nameOf(std::string_view name);
  std::uint32_t placeOf(OriginId origin);
  OriginId clauseOf(const Task &task) const;
  std::string textOf(RankClassId id, const timeline::Communication &one) const;

  const program::ProgramSet &set_;
  const timeline::Timeline &timeline_;
  const ReportInputs &inputs_;
  std::span<const program::MemoryCurve> memory_;
  PictureOptions options_;
  std::int32_t last_;
  Duration origin_;
  std::size_t ownInside_ = 0; ///< blocks of insides that are one run's own
  Tracks tracks_;
  std::array<bool, kWaiting + 1> used_{};
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::map<std::size_t, std::uint32_t> placeOfOrigin_;
  std::map<std::tuple<std::string, std::int64_t>, std::uint32_t> places_;
  std::map<std::size_t, std::uint32_t> insides_; ///< by form
  Picture picture_;
};

std::uint32_t Builder::nameOf(std::string_view name) {
  if (const auto at = names_.find(name); at != names_.end())
    return at->second;
  const auto index = static_cast<std::uint32_t>(picture_.names.size());
  picture_.names.emplace_back(name);
  names_.emplace(name, index);
  return index;
}

std::uint32_t Builder::placeOf(OriginId origin) {
  if (!origin.isValid() || !inputs_.resolve)
    return PictureBlock::kNone;
  const auto [known, isNew] =
      placeOfOrigin_.try_emplace(origin.index(), PictureBlock::kNone);
  if (!isNew)
    return known->second;
  ResolvedLine line = inputs_.resolve(origin);
  if (line.line == 0)
    return PictureBlock::kNone;
  const auto next = static_cast<std::uint32_t>(picture_.places.size());
  const auto [at, isNewLine] =
      places_.try_emplace({line.file, line.line}, next);
  if (isNewLine)
    picture_.places.push_back(std::move(line));
  return known->second = at->second;
}

/// What a pass is there for: the order of the pipeline, else the batch.
OriginId Builder::clauseOf(const Task &task) const {
  const PlanClauses &clauses = inputs_.clauses;
  if (task.clause.isValid())
    return task.clause;
  if (task.pass == PassKind::Update)
    return clauses.optimizer;
  return clauses.pipeline.isValid() ? clauses.pipeline : clauses.batch;
}

void Builder::addRuns(RankClassId id) {
  for (const Run &run : timeline_.classes[id].runs) {
    if (run.step != last_)
      continue;
    const Task &task = set_.classes[id].tasks[run.task];
    PictureBlock block;
    block.begin = run.begin - origin_;
    block.end = run.end - origin_;
    block.shade = shadeOf(task);
    block.name = nameOf(set_.blocks[run.block].name);
    block.place = placeOf(clauseOf(task));
    block.microBatch = task.microBatch;
    block.chunk = task.chunk;
    block.withMicroBatch = task.withMicroBatch;
    block.withChunk = task.withChunk;
    block.inside = insideOf(run);
    tracks_[0].push_back(block);
    for (const Instruction &instruction : set_.blocks[run.block].instructions)
      used_[static_cast<std::size_t>(instruction.stream)] = true;
  }
}

std::uint32_t Builder::insideOf(const Run &run) {
  if (run.isReused())
    if (const auto at = insides_.find(run.form.index()); at != insides_.end())
      return at->second;
  const auto &code = set_.blocks[run.block].instructions;
  if (!run.isReused()) {
    if (ownInside_ + code.size() > options_.mostInside)
      return PictureBlock::kNone;
    ownInside_ += code.size();
  }
  const auto [origin, times] = instructionsOf(timeline_, run);
  const Duration shift = run.isReused() ? Duration(0) : origin - run.begin;
  Tracks tracks;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (times[i].begin >= times[i].end)
      continue;
    PictureBlock block;
    block.begin = times[i].begin + shift;
    block.end = times[i].end + shift;
    block.shade = shadeOf(code[i]);
    block.name = nameOf(code[i].name.empty() ? toString(code[i].kind)
                                             : std::string_view(code[i].name));
    block.place =
        placeOf(code[i].clause.isValid() ? code[i].clause : code[i].origin);
    tracks[static_cast<std::size_t>(code[i].stream)].push_back(block);
  }
  const auto index = static_cast<std::uint32_t>(picture_.insides.size());
  picture_.insides.push_back({taken(tracks, {})});
  if (run.isReused())
    insides_.emplace(run.form.index(), index);
  return index;
}

std::string Builder::textOf(RankClassId id,
                            const timeline::Communication &one) const {
  const RankProgram &code = set_.classes[id];
  switch (one.source) {
  case CommunicationSource::Send:
  case CommunicationSource::Recv:
  case CommunicationSource::Collective:
    return code.tasks[program::TaskId(one.index)].name;
  case CommunicationSource::Reduce:
  case CommunicationSource::Gather: {
    const bool isReduce = one.source == CommunicationSource::Reduce;
    const auto &pieces = isReduce
                             ? timeline_.classes[id].reduces[one.index].pieces
                             : timeline_.classes[id].gathers[one.index].pieces;
    const auto &all = isReduce ? code.reduces : code.gathers;
    const std::string &first = all[pieces.front()].name;
    return pieces.size() == 1
               ? first
               : first + " and " + std::to_string(pieces.size() - 1) + " more";
  }
  }
  return "";
}

void Builder::addCommunications(RankClassId id) {
  const RankProgram &code = set_.classes[id];
  for (const timeline::Communication &one :
       timeline_.classes[id].communications) {
    if (one.step != last_)
      continue;
    PictureBlock block;
    block.begin = std::max(one.begin - origin_, Duration(0));
    block.end = one.end - origin_;
    block.shade = one.source == CommunicationSource::Recv &&
                          one.kind == program::CommunicationKind::Pipeline
                      ? Shade::Receive
                      : shadeOf(one.kind);
    std::string name = textOf(id, one);
    block.name =
        nameOf(name.empty() ? toString(one.kind) : std::string_view(name));
    OriginId clause;
    if (one.source == CommunicationSource::Reduce)
      clause =
          code.reduces[timeline_.classes[id].reduces[one.index].pieces.front()]
              .clause;
    else if (one.source == CommunicationSource::Gather)
      clause =
          code.gathers[timeline_.classes[id].gathers[one.index].pieces.front()]
              .clause;
    else {
      const Task &task = code.tasks[program::TaskId(one.index)];
      clause = task.clause;
      block.microBatch = task.microBatch;
      block.chunk = task.chunk;
    }
    block.place = placeOf(clause);
    tracks_[static_cast<std::size_t>(one.stream)].push_back(block);
  }
}

void Builder::addWaits(RankClassId id) {
  const timeline::Window window = windowOf(timeline_, id);
  const auto add = [&](Duration begin, Duration end, Shade shade) {
    if (begin >= end)
      return;
    PictureBlock block;
    block.begin = begin - origin_;
    block.end = end - origin_;
    block.shade = shade;
    tracks_[kWaiting].push_back(block);
  };
  for (const Wait &wait : timeline_.classes[id].waits) {
    if (wait.begin < window.begin || wait.end > window.end)
      continue;
    const bool isBubble =
        wait.cause == WaitCause::Recv || wait.cause == WaitCause::NothingLeft;
    add(wait.begin, wait.splitAt, isBubble ? Shade::Bubble : Shade::Skew);
    add(wait.splitAt, wait.end, shadeOf(wait.kind));
  }
}

void Builder::addMemory(RankClassId id, PictureStage &stage) const {
  if (id.index() >= memory_.size())
    return;
  const program::MemoryCurve &curve = memory_[id.index()];
  std::vector<std::size_t> place(set_.classes[id].tasks.size());
  std::size_t count = 0;
  for (program::TaskId task : set_.classes[id].tasks.ids())
    if (set_.classes[id].tasks[task].kind == program::TaskKind::Run)
      place[task.index()] = count++;
  const auto add = [&](Duration at, Bytes bytes) {
    at = at - origin_;
    bytes += curve.standing;
    if (!stage.memory.empty() && stage.memory.back().at == at)
      stage.memory.back().bytes = bytes;
    else if (stage.memory.empty() || stage.memory.back().bytes != bytes)
      stage.memory.push_back({at, bytes});
  };
  for (const Run &run : timeline_.classes[id].runs) {
    const std::size_t at = place[run.task.index()];
    if (run.step != last_ || at >= curve.runs.size())
      continue;
    add(run.begin, curve.runs[at].during);
    add(run.end, curve.runs[at].after);
  }
}

} // namespace

std::span<const ShadeInfo> shades() { return kShades; }
const ShadeInfo &infoOf(Shade shade) {
  return kShades[static_cast<std::size_t>(shade)];
}

std::size_t Picture::blockCount() const {
  std::size_t count = 0;
  for (const PictureStage &stage : stages)
    for (const PictureTrack &track : stage.tracks)
      count += track.blocks.size();
  return count;
}

std::size_t Picture::passCount() const {
  std::size_t count = 0;
  for (const PictureStage &stage : stages)
    if (!stage.tracks.empty())
      count += stage.tracks.front().blocks.size();
  return count;
}

Picture makePicture(const ReportInputs &inputs,
                    std::span<const program::MemoryCurve> memory,
                    const PictureOptions &options) {
  return Builder(inputs, memory, options).build();
}

} // namespace planc::report
