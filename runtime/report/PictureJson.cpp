#include "runtime/report/NumberText.h"
#include "runtime/report/Picture.h"

#include <fmt/format.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace planc::report {

namespace {

std::string quoted(std::string_view text) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  stream << llvm::json::Value(llvm::json::fixUTF8(llvm::StringRef(text)));
  return std::move(stream.str());
}

std::int64_t orNone(std::uint32_t index) {
  return index == PictureBlock::kNone ? -1 : static_cast<std::int64_t>(index);
}

class PictureWriter {
public:
  explicit PictureWriter(const Picture &picture)
      : picture_(picture),
        tick_(std::max<std::int64_t>(picture.length.value >> 32, 1)) {}

  std::string write() && {
    const std::string stages =
        list(picture_.stages, [&](auto &stage) { stageTo(stage); });
    const std::string insides = list(picture_.insides, [&](auto &inside) {
      put("{{\"tracks\":{}}}", tracks(inside.tracks, Columns::Two));
    });
    const std::string names =
        list(picture_.names, [&](auto &name) { out_ += quoted(name); });
    const std::string places = list(picture_.places, [&](auto &place) {
      put("{{\"file\":{},\"line\":{},\"text\":{}}}", quoted(place.file),
          place.line, quoted(oneLine(place.text)));
    });
    const std::string infos = list(shades(), [&](auto &shade) {
      put("{{\"key\":\"{}\",\"words\":\"{}\"}}", shade.key, shade.words);
    });
    return fmt::format(
        "{{\"tick_s\":{},\"length\":{},\"shades\":{},\"names\":{}"
        ",\"places\":{},\"kinds\":[{}],\"insides\":{},"
        "\"stages\":{}}}",
        exactSeconds(Duration(tick_)), ticks(picture_.length), infos, names,
        places, kindText_, insides, stages);
  }

private:
  enum class Columns { Two, Three };

  std::int64_t ticks(Duration duration) const {
    return (duration.value + tick_ / 2) / tick_;
  }
  template <class... Args>
  void put(fmt::format_string<Args...> text, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
  }
  template <class Rows, class Body>
  std::string list(const Rows &rows, Body body) {
    std::string outer = std::exchange(out_, "[");
    bool isFirst = true;
    for (const auto &row : rows) {
      if (!std::exchange(isFirst, false))
        out_ += ',';
      body(row);
    }
    out_ += ']';
    return std::exchange(out_, std::move(outer));
  }

  std::size_t kindOf(const PictureBlock &block, std::int64_t length) {
    const std::int64_t span = (block.end - block.begin).value;
    const std::int64_t busy =
        static_cast<std::int64_t>(Int128(block.busy.value) * 1000 / span);
    const auto [at, isNew] = kinds_.try_emplace(
        std::tuple(length, busy, block.shade, block.name, block.place,
                   block.inside, block.count, block.chunk, block.withChunk),
        kinds_.size());
    if (isNew)
      fmt::format_to(std::back_inserter(kindText_),
                     "{}[{},{},{},{},{},{},{},{},{}]",
                     kindText_.empty() ? "" : ",", length, busy,
                     static_cast<int>(block.shade), orNone(block.name),
                     orNone(block.place), orNone(block.inside), block.count,
                     block.chunk, block.withChunk);
    return at->second;
  }

  std::string blocks(const PictureTrack &track, Columns columns) {
    std::int64_t end = 0;
    return list(track.blocks, [&](const PictureBlock &block) {
      const std::int64_t begin = ticks(block.begin), last = ticks(block.end);
      put("{},{}", begin - end, kindOf(block, last - begin));
      if (columns == Columns::Three)
        put(",{}", block.microBatch);
      end = last;
    });
  }

  std::string tracks(const std::vector<PictureTrack> &all, Columns columns) {
    return list(all, [&](const PictureTrack &track) {
      const std::string flat = blocks(track, columns);
      put("{{\"name\":{},\"blocks\":{}", quoted(track.name), flat);
      const bool hasPairs = std::any_of(
          track.blocks.begin(), track.blocks.end(),
          [](const PictureBlock &block) { return block.withMicroBatch >= 0; });
      if (hasPairs)
        put(",\"with\":{}", list(track.blocks, [&](const PictureBlock &block) {
              put("{}", block.withMicroBatch);
            }));
      out_ += '}';
    });
  }

  void stageTo(const PictureStage &stage) {
    const std::string flat = tracks(stage.tracks, Columns::Three);
    std::int64_t before = 0;
    const std::string memory =
        list(stage.memory, [&](const MemoryPoint &point) {
          const std::int64_t at = ticks(point.at);
          put("{},{}", at - before, point.bytes.value);
          before = at;
        });
    put("{{\"name\":{},\"ranks\":{},\"tracks\":{},\"memory\":{}}}",
        quoted(stage.name), stage.ranks, flat, memory);
  }

  const Picture &picture_;
  std::int64_t tick_; ///< picoseconds
  std::string out_, kindText_;
  std::map<std::tuple<std::int64_t, std::int64_t, Shade, std::uint32_t,
                      std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t,
                      std::int32_t>,
           std::size_t>
      kinds_;
};

} // namespace

std::string toJson(const Picture &picture) {
  return PictureWriter(picture).write();
}

} // namespace planc::report
