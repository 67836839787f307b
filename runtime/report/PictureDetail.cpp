#include "runtime/report/Picture.h"

#include <algorithm>
#include <array>

namespace planc::report {

namespace {

/// Blocks on their way to being one.
class Merged {
public:
  bool isEmpty() const { return count_ == 0; }
  Duration begin() const { return begin_; }
  Duration end() const { return end_; }

  void add(const PictureBlock &block) {
    if (count_ == 0)
      *this = Merged(block);
    else
      same_ = same_ && block.name == one_.name && block.place == one_.place;
    end_ = block.end;
    count_ += block.count;
    busy_ += block.busy;
    byShade_[static_cast<std::size_t>(block.shade)] += block.busy;
  }

  PictureBlock take() {
    PictureBlock out = one_;
    if (count_ > one_.count) {
      out.end = end_;
      out.busy = busy_;
      out.count = count_;
      out.inside = PictureBlock::kNone;
      out.microBatch = out.chunk = out.withMicroBatch = out.withChunk = -1;
      if (!same_)
        out.name = out.place = PictureBlock::kNone;
      out.shade = static_cast<Shade>(
          std::max_element(byShade_.begin(), byShade_.end()) -
          byShade_.begin());
    }
    *this = Merged();
    return out;
  }

  Merged() = default;

private:
  explicit Merged(const PictureBlock &block)
      : one_(block), begin_(block.begin) {}

  PictureBlock one_;
  Duration begin_, end_, busy_;
  std::uint32_t count_ = 0;
  bool same_ = true;
  std::array<Duration, kShadeCount> byShade_{};
};

bool isRuns(const PictureTrack &track) { return track.name == "compute"; }

enum class Which { Runs, Others };

void limitThose(Picture &picture, Which which, std::size_t most) {
  const auto countOf = [&] {
    std::size_t count = 0;
    for (const PictureStage &stage : picture.stages)
      for (const PictureTrack &track : stage.tracks)
        if (isRuns(track) == (which == Which::Runs))
          count += track.blocks.size();
    return count;
  };
  constexpr std::int64_t kFinest = 1 << 20, kCoarsest = 1 << 7;
  for (std::int64_t parts = kFinest; countOf() > most && parts >= kCoarsest;
       parts /= 2)
    for (PictureStage &stage : picture.stages)
      for (PictureTrack &track : stage.tracks)
        if (isRuns(track) == (which == Which::Runs))
          coarsen(track, picture.length / parts);
}

/// Where there are more points than that, two of each part of the step: its
/// highest from its first on, then its last.
void limitMemory(std::vector<MemoryPoint> &points, Duration length,
                 std::size_t most) {
  if (points.size() <= most || most == 0)
    return;
  const auto parts =
      std::max<std::int64_t>(static_cast<std::int64_t>(most / 2), 1);
  const std::int64_t part = length.value / parts + 1;
  std::vector<MemoryPoint> out;
  const auto add = [&](const MemoryPoint &point) {
    if (out.empty() || out.back().bytes != point.bytes)
      out.push_back(point);
  };
  for (std::size_t first = 0, end = 0; first < points.size(); first = end) {
    MemoryPoint highest = points[first];
    for (; end < points.size() &&
           points[end].at.value / part == points[first].at.value / part;
         ++end)
      highest.bytes = std::max(highest.bytes, points[end].bytes);
    add(highest);
    add(points[end - 1]);
  }
  points = std::move(out);
}

} // namespace

void coarsen(PictureTrack &track, Duration least) {
  std::vector<PictureBlock> out;
  Merged merged;
  for (const PictureBlock &block : track.blocks) {
    const bool isShort = block.end - block.begin < least;
    if (!merged.isEmpty() && (!isShort || block.begin - merged.end() >= least ||
                              merged.end() - merged.begin() >= least))
      out.push_back(merged.take());
    if (isShort)
      merged.add(block);
    else
      out.push_back(block);
  }
  if (!merged.isEmpty())
    out.push_back(merged.take());
  track.blocks = std::move(out);
}

void limit(Picture &picture, const PictureLimits &limits) {
  limitThose(picture, Which::Runs, limits.runs);
  limitThose(picture, Which::Others, limits.others);
  for (PictureStage &stage : picture.stages)
    limitMemory(stage.memory, picture.length, limits.memory);
}

} // namespace planc::report
