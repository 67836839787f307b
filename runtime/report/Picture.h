// One step as blocks to draw: what SVG and the page are made from.
#pragma once

#include "runtime/program/MemoryCurve.h"
#include "runtime/report/BuildReport.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace planc::report {

enum class Shade : std::uint8_t {
#define PLANC_SHADE(NAME, KEY, WORDS, LIGHT, DARK) NAME,
#include "runtime/report/Shades.def"
};
inline constexpr std::size_t kShadeCount = 0
#define PLANC_SHADE(NAME, KEY, WORDS, LIGHT, DARK) +1
#include "runtime/report/Shades.def"
    ;
struct ShadeInfo {
  std::string_view key, words, light, dark;
};
/// In the order of Shade.
std::span<const ShadeInfo> shades();
const ShadeInfo &infoOf(Shade shade);

struct PictureBlock {
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  Duration begin, end; ///< from the picture's begin; inside a run: from its own
  Duration busy; ///< of several made one: what they take; ≤ end − begin
  Shade shade = Shade::Forward;
  std::uint32_t count = 1;      ///< how many were made one
  std::uint32_t name = kNone;   ///< index into Picture::names
  std::uint32_t place = kNone;  ///< index into Picture::places
  std::uint32_t inside = kNone; ///< runs: index into Picture::insides
  std::int32_t microBatch = -1, chunk = -1;
  /// Of the backward beside a forward, as program::Task has it; -1 without.
  std::int32_t withMicroBatch = -1, withChunk = -1;

  bool operator==(const PictureBlock &) const = default;
};

/// Blocks of one stream (or of what a rank waits for), by begin, none over
/// another.
struct PictureTrack {
  std::string name; ///< `compute`, `waiting`, a stream's
  std::vector<PictureBlock> blocks;
};

struct MemoryPoint {
  Duration at;
  Bytes bytes; ///< from then on
};

struct PictureStage {
  std::string name;
  std::int64_t ranks = 1;
  std::vector<PictureTrack> tracks; ///< compute, waiting, then streams in use
  std::vector<MemoryPoint> memory;  ///< by time
};

/// What happens inside runs that are alike, once: by track of a stage's, as
/// `tracks` of it name them.
struct PictureInside {
  std::vector<PictureTrack> tracks;
};

struct Picture {
  Duration length; ///< of the step as drawn: first begin to last end
  std::vector<PictureStage> stages;
  std::vector<PictureInside> insides;
  std::vector<std::string> names;
  std::vector<ResolvedLine> places;

  std::size_t blockCount() const; ///< of all stages, insides apart
  std::size_t passCount() const;  ///< of them, on compute tracks
};

struct PictureOptions {
  /// Runs that something outside touched have insides of their own, up to so
  /// many blocks in all; later ones have none.
  std::size_t mostInside = 20'000;
};

/// The last step of the timeline. `memory` is by class, or empty.
Picture makePicture(const ReportInputs &inputs,
                    std::span<const program::MemoryCurve> memory,
                    const PictureOptions &options = {});

/// Neighbours shorter than `least` with less than that between them become one
/// block of the shade that most of it has, at least `least` long where there is
/// enough to merge. Keeps the sum of `busy`.
void coarsen(PictureTrack &track, Duration least);

/// How much detail a page takes.
struct PictureLimits {
  std::size_t runs = 150'000;  ///< of all compute tracks
  std::size_t others = 50'000; ///< of all other tracks
  std::size_t memory = 1'000;  ///< points of a stage; see limit
};
/// Coarsens tracks, all alike, until no more than that is left, or a track has
/// about a hundred blocks. A stage with more points of memory keeps two of each
/// part of the step: the highest, from the first on, and the last. So no curve
/// is below what it was, and what is held in a wait between parts stays.
void limit(Picture &picture, const PictureLimits &limits);

/// An object on one line, for a reader that draws. Times are whole ticks of
/// `tick_s` seconds. A track's `blocks` are three numbers a block, two inside a
/// run: ticks since the block before, an index into `kinds`, and the
/// micro-batch; `with`, where a track has pairs, the micro-batch of each
/// block's other pass. A kind is [ticks, busy share in thousandths, shade,
/// name, place, inside, count, chunk, chunk of the other pass]; -1 where there
/// is none. `memory` is two numbers a point: ticks since the point before,
/// bytes.
std::string toJson(const Picture &picture);

} // namespace planc::report
