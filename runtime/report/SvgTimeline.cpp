#include "runtime/report/NumberText.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace planc::report {

namespace {

constexpr std::int64_t kWidth = 1200, kLeft = 96, kRight = 16;
constexpr std::int64_t kPlot = kWidth - kLeft - kRight;
constexpr std::int64_t kLevels = 4; ///< of how much of a bin is busy

/// Vertical measures, in pixels.
struct Rows {
  std::int64_t compute = 18, other = 8, gap = 8;
  std::int64_t font = 8; ///< of the names of streams; 0: no room for any
  static Rows forStages(std::size_t stages) {
    return stages <= 8    ? Rows{22, 11, 12, 9}
           : stages <= 24 ? Rows{}
                          : Rows{9, 3, 4, 0};
  }
};

/// `waiting, tensor, send`: the bands of a stage below what it computes, in
/// their order.
std::string bandsOf(const Picture &picture) {
  const PictureStage *most = nullptr;
  for (const PictureStage &stage : picture.stages)
    if (most == nullptr || stage.tracks.size() > most->tracks.size())
      most = &stage;
  std::string out;
  for (std::size_t i = 1; most != nullptr && i < most->tracks.size(); ++i)
    out += (out.empty() ? "" : ", ") + most->tracks[i].name;
  return out;
}

/// A step's time is what one more takes: the last end may lie after it.
std::string spillText(const Picture &picture, const Report &report) {
  const Duration over = picture.length - report.stepTime;
  if (over.value <= report.stepTime.value / 1000)
    return "";
  return fmt::format("; ends {} into the next", durationText(over));
}

/// Tenths of a pixel without a needless zero.
std::string tenths(std::int64_t value) {
  return value % 10 == 0 ? fmt::format("{}", value / 10)
                         : fmt::format("{}.{}", value / 10, value % 10);
}

/// Whether dark text is read better on a colour, on light and on dark.
bool isLight(const ShadeInfo &info) {
  const auto part = [&](std::size_t at) {
    return std::stoi(std::string(info.light.substr(at, 2)), nullptr, 16);
  };
  return part(1) * 299 + part(3) * 587 + part(5) * 114 > 110'000;
}

class TimelineSvg {
public:
  TimelineSvg(const Picture &picture, std::int64_t least)
      : picture_(picture), least_(least),
        rows_(Rows::forStages(picture.stages.size())),
        length_(std::max<std::int64_t>(picture.length.value, 1)) {}

  std::string write(const Report &report) && {
    std::int64_t y = 0;
    for (const PictureStage &stage : picture_.stages) {
      names_ += fmt::format("<text class=\"n\" x=\"{}\" y=\"{}\">{}</text>\n",
                            kLeft - 8, y + rows_.compute - rows_.compute / 3,
                            escapedXml(stage.name));
      for (std::size_t t = 0; t < stage.tracks.size(); ++t)
        y += drawTrack(stage, t, y);
      y += rows_.gap;
    }
    return assembled(report, y);
  }

private:
  struct Band {
    std::int64_t y = 0, height = 0;
  };
  using Bin = std::array<std::int64_t, kShadeCount>;

  std::int64_t tenthOf(Duration at) const {
    return static_cast<std::int64_t>(Int128(at.value) * kPlot * 10 / length_);
  }
  void rectangle(Shade shade, std::int64_t level, std::int64_t begin,
                 std::int64_t end, const Band &band) {
    fmt::format_to(std::back_inserter(paths_[{shade, level}]),
                   "M{} {}h{}v{}h-{}z", tenths(kLeft * 10 + begin), band.y,
                   tenths(end - begin), band.height, tenths(end - begin));
  }

  std::int64_t drawTrack(const PictureStage &stage, std::size_t index,
                         std::int64_t y);
  void drawBlock(const PictureBlock &block, const Band &band);
  void drawInside(const PictureBlock &run, const PictureTrack &inside,
                  const Band &band);
  void drawBins(const Band &band);
  std::string assembled(const Report &report, std::int64_t height);
  struct Legend {
    std::string text;
    std::int64_t bottom = 0;
  };
  Legend legend(std::int64_t y) const;
  std::string axis(std::int64_t top, std::int64_t bottom) const;

  const Picture &picture_;
  std::int64_t least_; ///< tenths of a pixel: narrower blocks share bins
  Rows rows_;
  std::int64_t length_;
  std::vector<Bin> bins_;
  std::map<std::pair<Shade, std::int64_t>, std::string> paths_;
  std::string names_, labels_;
  std::size_t labelCount_ = 0;
};

std::int64_t TimelineSvg::drawTrack(const PictureStage &stage,
                                    std::size_t index, std::int64_t y) {
  const PictureTrack &track = stage.tracks[index];
  const bool isCompute = index == 0;
  const Band band{y, isCompute ? rows_.compute : rows_.other};
  bins_.assign(static_cast<std::size_t>(kPlot * 10 / least_ + 1), Bin{});
  for (const PictureBlock &block : track.blocks)
    drawBlock(block, band);
  if (!isCompute)
    for (const PictureBlock &run : stage.tracks[0].blocks)
      if (run.inside != PictureBlock::kNone)
        for (const PictureTrack &inside : picture_.insides[run.inside].tracks)
          if (inside.name == track.name)
            drawInside(run, inside, band);
  drawBins(band);
  if (!isCompute && rows_.font > 0)
    names_ += fmt::format("<text class=\"s\" x=\"{}\" y=\"{}\">{}</text>\n",
                          kLeft - 8, y + band.height - band.height / 5,
                          escapedXml(track.name));
  return band.height + 1;
}

void TimelineSvg::drawBlock(const PictureBlock &block, const Band &band) {
  const std::int64_t begin = tenthOf(block.begin), end = tenthOf(block.end);
  if (end - begin >= least_ && block.busy == block.end - block.begin) {
    // A hair between neighbours.
    rectangle(block.shade, kLevels, begin, end - (end - begin > 40 ? 5 : 2),
              band);
    constexpr std::size_t kMostLabels = 2'000;
    if (band.height >= 16 && end - begin >= 160 && block.microBatch >= 0 &&
        labelCount_++ < kMostLabels)
      labels_ += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>",
                             isLight(infoOf(block.shade)) ? " class=\"k\"" : "",
                             tenths(kLeft * 10 + (begin + end) / 2),
                             band.y + band.height - 6, block.microBatch);
    return;
  }
  // Spread over the bins it touches.
  const std::int64_t span =
      std::max<std::int64_t>((block.end - block.begin).value, 1);
  const std::int64_t perBin =
      static_cast<std::int64_t>(Int128(length_) * least_ / (kPlot * 10)) + 1;
  for (std::int64_t at = block.begin.value; at < block.end.value;) {
    const auto bin = static_cast<std::size_t>(at / perBin);
    const std::int64_t stop =
        std::min((at / perBin + 1) * perBin, block.end.value);
    if (bin < bins_.size())
      bins_[bin][static_cast<std::size_t>(block.shade)] +=
          static_cast<std::int64_t>(Int128(stop - at) * block.busy.value /
                                    span);
    at = stop;
  }
}

/// What is inside a run, one by one where there is room, else as one block.
void TimelineSvg::drawInside(const PictureBlock &run,
                             const PictureTrack &inside, const Band &band) {
  if (inside.blocks.empty())
    return;
  if (tenthOf(run.end) - tenthOf(run.begin) >= 4 * least_) {
    for (PictureBlock block : inside.blocks) {
      block.begin += run.begin;
      block.end += run.begin;
      drawBlock(block, band);
    }
    return;
  }
  PictureBlock all = inside.blocks.front();
  all.end = run.begin + inside.blocks.back().end;
  all.begin += run.begin;
  all.busy = Duration(0);
  for (const PictureBlock &block : inside.blocks)
    all.busy += block.busy;
  all.count = 2;
  drawBlock(all, band);
}

/// Equal bins beside each other are one rectangle.
void TimelineSvg::drawBins(const Band &band) {
  const std::int64_t perBin =
      static_cast<std::int64_t>(Int128(length_) * least_ / (kPlot * 10)) + 1;
  const auto look = [&](const Bin &bin) {
    std::int64_t sum = 0;
    for (std::int64_t part : bin)
      sum += part;
    const auto shade = static_cast<Shade>(
        std::max_element(bin.begin(), bin.end()) - bin.begin());
    const std::int64_t level =
        std::min(kLevels, (sum * kLevels + perBin - 1) / perBin);
    return std::pair(level == 0 ? Shade::Forward : shade, level);
  };
  for (std::size_t i = 0; i < bins_.size();) {
    const auto [shade, level] = look(bins_[i]);
    std::size_t end = i + 1;
    while (end < bins_.size() && look(bins_[end]) == std::pair(shade, level))
      ++end;
    const auto first = static_cast<std::int64_t>(i) * least_;
    const auto last =
        std::min(static_cast<std::int64_t>(end) * least_, kPlot * 10);
    if (level > 0 && first < last)
      rectangle(shade, level, first, last, band);
    i = end;
  }
}

TimelineSvg::Legend TimelineSvg::legend(std::int64_t y) const {
  std::string out;
  std::int64_t x = kLeft;
  for (std::size_t i = 0; i < kShadeCount; ++i) {
    const auto shade = static_cast<Shade>(i);
    const bool isUsed =
        std::any_of(paths_.begin(), paths_.end(),
                    [&](auto &path) { return path.first.first == shade; });
    if (!isUsed)
      continue;
    const ShadeInfo &info = infoOf(shade);
    const auto width = static_cast<std::int64_t>(info.words.size()) * 7 + 34;
    if (x + width > kWidth - kRight) {
      x = kLeft;
      y += 18;
    }
    out += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"11\" "
                       "height=\"11\" rx=\"2\"/><text x=\"{}\" y=\"{}\">{}"
                       "</text>\n",
                       info.key, x, y, x + 17, y + 10, info.words);
    x += width;
  }
  if (rows_.font == 0) {
    y += 18;
    out += fmt::format("<text x=\"{}\" y=\"{}\">below what a stage "
                       "computes: {}</text>\n",
                       kLeft, y + 10, bandsOf(picture_));
  }
  return {std::move(out), y + 18};
}

std::string TimelineSvg::axis(std::int64_t top, std::int64_t bottom) const {
  // 1, 2 or 5 times a power of ten: five to twelve marks.
  std::int64_t step = 1;
  for (std::int64_t power = 1; length_ / step > 12; power *= 10)
    for (std::int64_t times : {1, 2, 5})
      if (length_ / step > 12)
        step = power * times;
  std::string out;
  for (std::int64_t at = 0; at <= length_; at += step) {
    const std::string x = tenths(kLeft * 10 + tenthOf(Duration(at)));
    out +=
        fmt::format("<path class=\"g\" d=\"M{} {}V{}\"/><text class=\"t\" "
                    "x=\"{}\" y=\"{}\">{}</text>\n",
                    x, top, bottom, x, bottom + 14, durationText(Duration(at)));
  }
  return out;
}

std::string TimelineSvg::assembled(const Report &report, std::int64_t height) {
  const Planned &planned = report.planned;
  const std::string title = escapedXml(
      fmt::format("{}: one step, {}{}", oneLine(planned.plan),
                  durationText(report.stepTime), spillText(picture_, report)));
  const std::string description = escapedXml(fmt::format(
      "{} on {} × {}. A row for each of {} stages, in it a band for each "
      "stream (below what it computes: {}), {} from the first begin to the "
      "last end; MFU {} %.",
      oneLine(planned.model), grouped(planned.accelerators),
      oneLine(planned.accelerator), picture_.stages.size(), bandsOf(picture_),
      durationText(picture_.length),
      percentage(report.mfu(Convention::Exact))));
  const Legend keys = legend(40);
  const std::int64_t top = keys.bottom + 8;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "width=\"{}\" height=\"{}\" role=\"img\" aria-labelledby=\"title "
      "description\">\n<title id=\"title\">{}</title>\n<desc "
      "id=\"description\">{}</desc>\n<style>{}\n"
      "text{{font:12px system-ui,sans-serif;fill:#2b2f33}}"
      ".h{{font-size:15px;font-weight:600}}.n{{text-anchor:end}}"
      ".s{{text-anchor:end;font-size:{}px;fill:#62686f}}"
      ".t{{text-anchor:middle;fill:#62686f}}.g{{stroke:#8a8f95;"
      "stroke-opacity:.25}}.m text{{text-anchor:middle;font-size:10px;"
      "fill:#fff}}.m .k{{fill:#0c1116}}"
      "@media(prefers-color-scheme:dark){{text{{fill:#e4e6e8}}"
      ".s,.t{{fill:#a3a9b0}}.b{{fill:#16181b}}}}</style>\n"
      "<rect class=\"b\" width=\"100%\" height=\"100%\"/>\n"
      "<text class=\"h\" x=\"{}\" y=\"22\">{}</text>\n{}",
      kWidth, top + height + 24, kWidth, top + height + 24, title, description,
      ".b{fill:#fff}" + shadeRules(), std::max<std::int64_t>(rows_.font, 1),
      kLeft, title, keys.text);
  out += fmt::format("<g transform=\"translate(0 {})\">\n{}{}", top,
                     axis(0, height), names_);
  for (const auto &[key, path] : paths_)
    out += fmt::format(
        "<path class=\"{}\"{} d=\"{}\"/>\n", infoOf(key.first).key,
        key.second == kLevels
            ? ""
            : fmt::format(" opacity=\".{}\"", 100 * key.second / kLevels),
        path);
  return out + "<g class=\"m\">" + labels_ + "</g>\n</g>\n</svg>\n";
}

} // namespace

std::string timelineSvg(const Picture &picture, const Report &report,
                        const SvgOptions &options) {
  constexpr std::int64_t kFinest = 20, kCoarsest = 320;
  for (std::int64_t least = kFinest;; least *= 2) {
    std::string out = TimelineSvg(picture, least).write(report);
    if (out.size() <= options.mostBytes || least >= kCoarsest)
      return out;
  }
}

} // namespace planc::report
