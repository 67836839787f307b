#include "tests/unit/Catch.h"
#include "tests/unit/report/Parsed.h"
#include "tests/unit/report/Toy.h"

#include "runtime/report/HtmlReport.h"
#include "runtime/report/Picture.h"
#include "runtime/report/Svg.h"
#include "runtime/report/Trace.h"
#include "runtime/report/TraceArguments.h"

using namespace planc;
using namespace planc::report;
using namespace planc::report::test;

namespace {

Duration busyOf(const PictureTrack &track) {
  Duration sum;
  for (const PictureBlock &block : track.blocks)
    sum += block.busy;
  return sum;
}

PictureBlock blockOf(std::int64_t begin, std::int64_t end, Shade shade) {
  PictureBlock block;
  block.begin = Duration(begin);
  block.end = Duration(end);
  block.busy = Duration(end - begin);
  block.shade = shade;
  return block;
}

Bytes heldAt(const std::vector<MemoryPoint> &points, Duration time) {
  Bytes held;
  for (const MemoryPoint &point : points)
    if (point.at <= time)
      held = point.bytes;
  return held;
}

} // namespace

TEST_CASE("picture: a block for each pass, idle time said to be bubble") {
  const Toy toy = gpipeToy(2, 3);
  const Picture picture = makePicture(toy.inputs(), {});
  REQUIRE(picture.stages.size() == 2);
  const PictureStage &first = picture.stages[0];
  REQUIRE(first.tracks.size() == 2);
  CHECK(first.tracks[0].name == "compute");
  CHECK(first.tracks[0].blocks.size() == 6);
  CHECK(first.tracks[1].name == "waiting");
  REQUIRE(first.tracks[1].blocks.size() == 1);
  CHECK(first.tracks[1].blocks[0].shade == Shade::Bubble);
  // Three forwards of 1 us and three backwards of 2 us.
  CHECK(busyOf(first.tracks[0]) == Duration(9'000'000));
  const PictureBlock &pass = first.tracks[0].blocks[0];
  REQUIRE(pass.inside != PictureBlock::kNone);
  CHECK(picture.insides[pass.inside].tracks[0].blocks.size() == 1);
}

TEST_CASE("picture: runs that something touched have insides up to a limit") {
  Toy toy = gpipeToy(2, 3);
  timeline::Timeline &timeline = toy.timeline;
  const program::RankClassId first(0);
  for (timeline::Run &run : timeline.classes[first].runs) {
    const auto &alone = timeline.isolated[run.form].instructions;
    run.first = static_cast<std::uint32_t>(timeline.instructions.size());
    for (timeline::InstructionTimes times : alone) {
      times.begin += run.begin;
      times.end += run.begin;
      timeline.instructions.push_back(times);
    }
  }
  const Picture all = makePicture(toy.inputs(), {});
  const PictureBlock &pass = all.stages[0].tracks[0].blocks[1];
  REQUIRE(pass.inside != PictureBlock::kNone);
  CHECK(all.insides[pass.inside].tracks[0].blocks[0].begin == Duration(0));
  const Picture few = makePicture(toy.inputs(), {}, {2});
  std::size_t with = 0;
  for (const PictureBlock &block : few.stages[0].tracks[0].blocks)
    with += block.inside != PictureBlock::kNone;
  CHECK(with == 2);
}

TEST_CASE("picture: coarser blocks are as busy as those they were") {
  PictureTrack track{"send", {}};
  for (std::int64_t i = 0; i < 100; ++i)
    track.blocks.push_back(blockOf(10 * i, 10 * i + 4, Shade::Pipeline));
  track.blocks.push_back(blockOf(2'000, 2'500, Shade::Gradients));
  const Duration busy = busyOf(track);
  coarsen(track, Duration(50));
  CHECK(track.blocks.size() < 25);
  CHECK(busyOf(track) == busy);
  CHECK(track.blocks.back() == blockOf(2'000, 2'500, Shade::Gradients));
  std::uint32_t count = 0;
  Duration end;
  for (const PictureBlock &block : track.blocks) {
    CHECK(block.begin >= end);
    CHECK(block.busy <= block.end - block.begin);
    end = block.end;
    count += block.count;
  }
  CHECK(count == 101);
}

TEST_CASE("picture: a limit keeps long blocks and the highest memory") {
  Picture picture;
  picture.length = Duration(1 << 20);
  picture.stages.resize(1);
  PictureTrack track{"recv", {}};
  for (std::int64_t i = 0; i < 10'000; ++i)
    track.blocks.push_back(blockOf(100 * i, 100 * i + 30, Shade::Pipeline));
  picture.stages[0].tracks = {track};
  for (std::int64_t i = 0; i < 10'000; ++i)
    picture.stages[0].memory.push_back(
        {Duration(100 * i), Bytes(i == 4'321 ? 99 : i % 7)});
  PictureLimits limits;
  limits.others = 1'000;
  limits.memory = 100;
  limit(picture, limits);
  CHECK(picture.blockCount() <= 1'000);
  CHECK(busyOf(picture.stages[0].tracks[0]) == busyOf(track));
  CHECK(picture.stages[0].memory.size() <= 100);
  Bytes most;
  for (const MemoryPoint &point : picture.stages[0].memory)
    most = std::max(most, point.bytes);
  CHECK(most == Bytes(99));
}

TEST_CASE("picture: with fewer points memory falls in waits as it did") {
  // Passes of 10 each, after each tenth one that holds little and a wait.
  std::vector<MemoryPoint> whole;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < 1'000; ++i, at += 10) {
    whole.push_back({Duration(at), Bytes(100 + i % 3)});
    if (i % 10 == 9) {
      whole.push_back({Duration(at += 10), Bytes(20)});
      at += 290;
    }
  }
  Picture picture;
  picture.length = Duration(at);
  picture.stages.resize(1);
  picture.stages[0].memory = whole;
  PictureLimits limits;
  limits.memory = 400;
  limit(picture, limits);
  const std::vector<MemoryPoint> &few = picture.stages[0].memory;
  REQUIRE(few.size() <= 400);
  std::int64_t waiting = 0;
  for (Duration time(5); time < picture.length; time += Duration(10)) {
    const Bytes was = heldAt(whole, time), now = heldAt(few, time);
    CHECK(now >= was);
    waiting += was == Bytes(20) && now == was;
  }
  // Of 100 waits of 30 tens all but what lies in the part it begins in.
  CHECK(waiting > 100 * 20);
}

TEST_CASE("picture: its JSON parses and has every block") {
  const Toy toy = gpipeToy(3, 4);
  const Picture picture = makePicture(toy.inputs(), {});
  const llvm::json::Value value = parsed(toJson(picture));
  const llvm::json::Array &stages = *value.getAsObject()->getArray("stages");
  std::size_t numbers = 0;
  for (const llvm::json::Value &stage : stages)
    for (const llvm::json::Value &track :
         *stage.getAsObject()->getArray("tracks"))
      numbers += track.getAsObject()->getArray("blocks")->size();
  CHECK(numbers == 3 * picture.blockCount());
}

TEST_CASE("page: no name ends the block of data or becomes a tag") {
  const Toy toy = gpipeToy(2, 3);
  ReportInputs inputs = toy.inputs();
  inputs.planned.plan = "</script><script>alert(1)</script>";
  const Report report = buildReport(inputs);
  const Picture picture = makePicture(inputs, {});
  const std::string page = toHtml({report, picture, {}, {}});
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("\\u003c/script>") != std::string::npos);
  CHECK(page.find("{{data}}") == std::string::npos);
  CHECK(page == toHtml({report, picture, {}, {}}));
  const auto isText = [](const std::string &svg) {
    return svg.find("<script") == std::string::npos &&
           svg.find("&lt;/script&gt;") != std::string::npos;
  };
  CHECK(isText(timelineSvg(picture, report)));
  CHECK(isText(waterfallSvg(report)));
}

TEST_CASE("picture: an SVG gives up detail before it grows too large") {
  const Toy toy = gpipeToy(4, 500);
  const ReportInputs inputs = toy.inputs();
  const Report report = buildReport(inputs);
  const Picture picture = makePicture(inputs, {});
  const std::string whole = timelineSvg(picture, report);
  SvgOptions options;
  options.mostBytes = whole.size() - 1;
  CHECK(timelineSvg(picture, report, options).size() < whole.size());
}

TEST_CASE("trace: a collective says what the profiler would") {
  program::Message message;
  message.bytes = Bytes(1'024);
  message.sizes = {2, 4};
  message.strides = {64, 1};
  message.kind = program::CommunicationKind::Gradients;
  const std::string text = collectiveArguments(
      program::InstructionKind::ReduceScatter, message, 128);
  const llvm::json::Value value = parsed(text);
  const llvm::json::Object &given = *value.getAsObject();
  CHECK(given.getString("Collective name") ==
        llvm::StringRef("_reduce_scatter_base"));
  CHECK(given.getInteger("In msg nelems") == std::int64_t(1'024));
  CHECK(given.getInteger("Out msg nelems") == std::int64_t(128));
  CHECK(given.getInteger("Group size") == std::int64_t(8));
  CHECK(given.getString("Process Group Ranks") ==
        llvm::StringRef("[128, 129, 130, 131, 192, 193, 194, 195]"));
  CHECK(given.getString("Process Group Name") ==
        llvm::StringRef("2 apart 64 by 4 apart 1"));
  CHECK(collectiveArguments(program::InstructionKind::MatMul, message, 0)
            .empty());
}

TEST_CASE("trace: a counter follows the memory of each run") {
  const Toy toy = gpipeToy(2, 3);
  TraceOptions options;
  program::MemoryCurve curve;
  curve.standing = Bytes(100);
  for (std::int64_t i = 1; i <= 6; ++i)
    curve.runs.push_back({Bytes(10 * i), Bytes(i)});
  options.memory = {curve, curve};
  const std::string text = toTrace(toy.programs, toy.timeline, options);
  const llvm::json::Value value = parsed(text);
  std::int64_t most = 0;
  std::size_t count = 0;
  for (const llvm::json::Value &event :
       *value.getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &fields = *event.getAsObject();
    if (fields.getString("ph") != llvm::StringRef("C"))
      continue;
    ++count;
    most = std::max(most, *fields.getObject("args")->getInteger("bytes"));
  }
  CHECK(most == 160);
  CHECK(count >= 2 * 7);
}
