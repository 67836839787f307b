#include "runtime/report/Picture.h"

#include <algorithm>
#include <array>

namespace planc::report {

namespace {

constexpr std::size_t kShadeCount = static_cast<std::size_t>(Shade::Skew) + 1;

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
      out.microBatch = out.chunk = out.withMicroBatch = -1;
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

/// The highest of each part of the step where there are more points than that.
void limitMemory(std::vector<MemoryPoint> &points, Duration length,
                 std::size_t most) {
  if (points.size() <= most || most == 0)
    return;
  const Duration part(length.value / static_cast<std::int64_t>(most) + 1);
  std::vector<MemoryPoint> out;
  for (const MemoryPoint &point : points) {
    const Duration at(point.at.value / part.value * part.value);
    if (!out.empty() && out.back().at == at)
      out.back().bytes = std::max(out.back().bytes, point.bytes);
    else
      out.push_back({at, point.bytes});
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
