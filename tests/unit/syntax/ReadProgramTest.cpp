#include "tests/unit/Catch.h"

#include "compiler/diag/Kinds.h"
#include "compiler/diag/Verifier.h"
#include "compiler/syntax/ReadProgram.h"
#include "tests/unit/syntax/Parsed.h"
#include "tests/unit/syntax/RandomPrograms.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

using namespace planc;
using namespace planc::program;

namespace {

struct Read {
  source::SourceSet sources;
  source::FileId id;
  diag::CaptureConsumer diagnostics;
  std::optional<ProgramSet> set;

  explicit Read(std::string text, std::string name = "test.prog") {
    id = sources.add(std::move(name), std::move(text));
    diag::Emitter emitter(diagnostics);
    set = syntax::readProgram(id, sources, emitter);
  }

  std::string firstKind() const {
    if (diagnostics.diagnostics.empty())
      return "";
    return std::string(diag::infoOf(diagnostics.diagnostics[0].kind).name);
  }
  std::string firstMessage() const {
    return diagnostics.diagnostics.empty() ? ""
                                           : diagnostics.diagnostics[0].message;
  }
};

/// Reads or says why not, never neither and never both; what reads prints as a
/// text that reads as the same.
void checkEitherOr(const std::string &text) {
  Read read(text);
  if (read.set.has_value() != read.diagnostics.diagnostics.empty())
    FAIL("neither a program nor an error, or both, for: " << text);
  for (const diag::Diagnostic &d : read.diagnostics.diagnostics)
    if (d.span.end > text.size() || d.span.begin > d.span.end)
      FAIL("a place outside the text for: " << text);
  if (!read.set)
    return;
  std::string printed = toText(*read.set);
  Read again(printed);
  if (!again.set || toText(*again.set) != printed)
    FAIL("not the same when read again: " << text);
}

std::vector<std::filesystem::path> programsIn(const char *folder) {
  std::vector<std::filesystem::path> out;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".prog")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

constexpr std::string_view kPipeline = R"(# two stages
program "small \"one\"" accelerators=2 microbatches=1 end=free {
  block "forward \\ 0" {
    matmul name="wq" batch=2 m=3 n=4 k=5 flops=240 modelflops=200 fullflops=220 read=7B written=8B precision=fp8 duration=100ps
    all_reduce stream=tensor bytes=64B sizes=[2, 4] strides=[8, 1] for=tensor duration=30ps deps=[0]
    attention-grad keyheads=6 kernels=3 phase=input-gradient deps=[0, 1] duration=9ps

  }
  class "stage 0" ranks=4 first=3 {
    memory parameters=1B gradients=2B optimizer=3B activations=4B gathered=5B buffers=6B logits=7B workspace=8B
    run block=0 pass=backward micro=0 chunk=1 # comment
    send peer=1 tag=5 bytes=9B for=pipeline deps=[0] duration=11ps
    collective name="norm" stream=gradients tag=2 bytes=4B for=norm
    reduce name="w" collective=reduce_scatter bytes=10B sizes=[4] strides=[1] for=gradients task=0 instruction=2 then=1 layer=3
    reduce bytes=10B task=0 instruction=3
    gather task=0 bytes=12B uses=[0:1, 0:2] for=parameters
  }
  class "stage 1" {
    recv peer=0 tag=5 bytes=9B for=pipeline
    collective tag=2 bytes=4B
  }
}
)";

} // namespace

TEST_CASE("every field of a program text is read into its place") {
  Read read{std::string(kPipeline)};
  INFO(read.firstMessage());
  REQUIRE(read.set);
  const ProgramSet &set = *read.set;
  CHECK(set.name == "small \"one\"");
  CHECK(set.accelerators == 2);
  CHECK(set.stepEnd == ProgramSet::StepEnd::Free);
  REQUIRE(set.blocks.size() == 1);
  const Block &block = set.blocks[BlockId(0)];
  CHECK(block.name == "forward \\ 0");
  REQUIRE(block.instructions.size() == 3);
  const Instruction &matmul = block.instructions[0];
  CHECK(matmul.kind == InstructionKind::MatMul);
  CHECK(matmul.name == "wq");
  CHECK(matmul.work.precision == Precision::Fp8);
  CHECK(matmul.work.batch == 2);
  CHECK(matmul.work.m == 3);
  CHECK(matmul.work.n == 4);
  CHECK(matmul.work.k == 5);
  CHECK(matmul.work.flops == Flops(240));
  CHECK(matmul.work.modelFlops == Flops(200));
  CHECK(matmul.work.modelFlopsFull == Flops(220));
  CHECK(matmul.work.bytesRead == Bytes(7));
  CHECK(matmul.work.bytesWritten == Bytes(8));
  CHECK(matmul.duration == Duration(100));
  const Instruction &reduce = block.instructions[1];
  CHECK(reduce.stream == Stream::Tensor);
  CHECK(reduce.message.bytes == Bytes(64));
  CHECK(reduce.message.sizes == std::vector<std::int64_t>{2, 4});
  CHECK(reduce.message.strides == std::vector<std::int64_t>{8, 1});
  CHECK(reduce.message.kind == CommunicationKind::Tensor);
  const Instruction &grad = block.instructions[2];
  CHECK(grad.work.keyHeads == 6);
  CHECK(grad.work.kernels == 3);
  CHECK(grad.phase == Phase::InputGradient);
  CHECK(grad.deps == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("classes, tasks and pieces are read into their places") {
  Read read{std::string(kPipeline)};
  REQUIRE(read.set);
  const RankProgram &stage = read.set->classes[RankClassId(0)];
  CHECK(stage.ranks == 4);
  CHECK(stage.first == 3);
  CHECK(stage.memory.total() == Bytes(36));
  CHECK(stage.memory.workspace == Bytes(8));
  REQUIRE(stage.tasks.size() == 3);
  const Task &run = stage.tasks[TaskId(0)];
  CHECK(run.pass == PassKind::Backward);
  CHECK(run.microBatch == 0);
  CHECK(run.chunk == 1);
  const Task &send = stage.tasks[TaskId(1)];
  CHECK(send.kind == TaskKind::Send);
  CHECK(send.stream == Stream::Send);
  CHECK(send.peer == RankClassId(1));
  CHECK(send.tag == 5);
  CHECK(send.duration == Duration(11));
  CHECK(send.deps == std::vector<TaskId>{TaskId(0)});
  CHECK(stage.tasks[TaskId(2)].stream == Stream::Gradients);
  REQUIRE(stage.reduces.size() == 2);
  const Piece &piece = stage.reduces[PieceId(0)];
  CHECK(piece.collective == InstructionKind::ReduceScatter);
  CHECK(piece.instruction == 2);
  CHECK(piece.then == PieceId(1));
  CHECK(piece.layer == 3);
  CHECK(stage.reduces[PieceId(1)].collective == InstructionKind::AllReduce);
  const Piece &gather = stage.gathers[PieceId(0)];
  CHECK(gather.kind == Piece::Kind::Gather);
  CHECK(gather.collective == InstructionKind::AllGather);
  REQUIRE(gather.uses.size() == 2);
  CHECK(gather.uses[1].task == TaskId(0));
  CHECK(gather.uses[1].instruction == 2);
  CHECK(read.set->classes[RankClassId(1)].tasks[TaskId(0)].stream ==
        Stream::Recv);
}

TEST_CASE("what is printed reads as the same, for programs of every kind") {
  std::string all;
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    ProgramSet set = test::RandomProgram(seed).make();
    REQUIRE(verify(set) == std::vector<std::string>{});
    std::string text = toText(set);
    Read read(text);
    INFO(read.firstMessage());
    REQUIRE(read.set);
    CHECK(toText(*read.set) == text);
    all += text;
  }
  // The programs have every field there is.
  std::istringstream keys(
      "accelerators microbatches end ranks first name stream phase duration "
      "deps precision batch m n k keyheads flops modelflops fullflops read "
      "written kernels bytes sizes strides for block pass micro chunk tag peer "
      "collective task instruction uses then layer parameters gradients "
      "optimizer activations gathered buffers logits workspace");
  for (std::string key; keys >> key;) {
    CAPTURE(key);
    CHECK(all.find(fmt::format(" {}=", key)) != std::string::npos);
  }
}

TEST_CASE(
    "order of fields, defaults, comments and Windows lines do not matter") {
  Read plain("program \"x\" {\n  block \"b\" {\n    matmul m=2 n=3\n  }\n}\n");
  Read other(
      "\xEF\xBB\xBF\n# a program\r\nprogram \"x\" microbatches=1{\r\n\r\n"
      "block \"b\"{ # here\r\nmatmul   n=3 m=2 k=0 deps=[]\r\n}}");
  INFO(other.firstMessage());
  REQUIRE(plain.set);
  REQUIRE(other.set);
  CHECK(toText(*plain.set) == toText(*other.set));
}

TEST_CASE("each program text with mistakes says what is wrong with it") {
  std::set<diag::Kind> shown;
  std::string all;
  for (const auto &path : programsIn(PLANC_PROGRAM_ERRORS)) {
    CAPTURE(path);
    Read read(readFile(path), path.filename().string());
    CHECK(!read.set);
    CHECK(diag::compare(read.id, read.sources, read.diagnostics.diagnostics) ==
          std::vector<std::string>());
    for (const diag::Diagnostic &d : read.diagnostics.diagnostics) {
      shown.insert(d.kind);
      all += d.message + "\n";
    }
  }
  for (diag::Kind kind : {diag::Kind::ProgramWord, diag::Kind::ProgramValue,
                          diag::Kind::ProgramRule, diag::Kind::ExpectedToken})
    CHECK(shown.contains(kind));
  for (const char *raw : {"mismatched", "viable", "extraneous", "<EOF>",
                          "NEWLINE", "token recognition"})
    CHECK(all.find(raw) == std::string::npos);
}

TEST_CASE("a program cut off at every byte, or with another byte there") {
  std::string text(kPipeline);
  for (std::size_t length = 0; length <= text.size(); ++length)
    checkEitherOr(text.substr(0, length));
  std::mt19937 random(11);
  static constexpr std::string_view kBytes = "{}[],=:\"# \n19a-\\@\x80\t";
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    if (random() % 2)
      changed.erase(at, 1 + random() % 3);
    else
      changed[at] = kBytes[random() % kBytes.size()];
    checkEitherOr(changed);
  }
}

TEST_CASE("lines of a program left out, doubled or put elsewhere") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::string text = toText(test::RandomProgram(seed).make());
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = text.find('\n', at) + 1;
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    std::mt19937 random(seed);
    std::swap(lines[random() % lines.size()], lines[random() % lines.size()]);
    if (seed % 2)
      lines.push_back(lines[random() % lines.size()]);
    std::string changed;
    for (const std::string &line : lines)
      changed += line;
    checkEitherOr(changed);
  }
}

TEST_CASE("huge and hostile program texts are refused by name") {
  std::string head = "program \"x\" {\n  block \"b\" {\n";
  CHECK(Read(std::string(syntax::kMaxProgramBytes + 1, ' ')).firstKind() ==
        "file-too-large");
  CHECK(Read(head + std::string(1'000'000, '[')).firstKind() ==
        "expected-token");
  CHECK(Read(head + "matmul deps=" + std::string(1'000'000, '[')).firstKind() ==
        "expected-token");
  CHECK(Read(head + std::string(1'000'000, '{')).firstKind() ==
        "expected-token");
  CHECK(Read(head + "matmul m=" + std::string(1'000'000, '9')).firstKind() ==
        "expected-token"); // the line never ends
  CHECK(Read(head + "matmul m=" + std::string(1'000'000, '9') + "\n}\n}\n")
            .firstKind() == "number-too-large");
  std::string tokens;
  for (std::size_t i = 0; i < syntax::kMaxProgramTokens / 2 + 10; ++i)
    tokens += "1,";
  CHECK(Read(head + tokens).firstKind() == "too-many-tokens");
  CHECK(Read("program \"\xC3\x28\" {\n}\n").firstKind() == "not-utf8");
}

TEST_CASE("a hundred thousand lines are read") {
  std::string text = "program \"long\" microbatches=50000 {\n  block \"b\" {\n"
                     "    matmul duration=3ps\n  }\n  class \"a\" {\n";
  for (int i = 0; i < 50'000; ++i) {
    text += fmt::format("    run block=0 micro={} chunk=0\n", i);
    text += fmt::format("    send peer=1 tag={} bytes=512B for=pipeline "
                        "deps=[{}] duration=1ps\n",
                        i, 2 * i);
  }
  text += "  }\n  class \"b\" first=1 {\n";
  for (int i = 0; i < 50'000; ++i)
    text += fmt::format("    recv peer=0 tag={} bytes=512B for=pipeline\n", i);
  text += "  }\n}\n";
  Read read(text);
  INFO(read.firstMessage());
  REQUIRE(read.set);
  CHECK(read.set->classes[RankClassId(0)].tasks.size() == 100'000);
  Read again(toText(*read.set));
  REQUIRE(again.set);
  CHECK(toText(*again.set) == toText(*read.set));
}
