// The text of a rank program.
//
//   program "NAME" FIELD* { ITEM* }         FIELD: accelerators= microbatches=
//                                                  end=joined|free
//   ITEM:  block "NAME" { LINE* }           numbered from 0, in order
//          class "NAME" FIELD* { LINE* }    ranks= first=; numbered likewise
//   LINE:  WORD FIELD*                      one line; FIELD is key=value
//
// In a block a WORD is an instruction kind (InstructionKinds.def), numbered
// from 0; in a class it is
//   memory                  at most once
//   run send recv collective   tasks, numbered from 0 in the order they stand
//   reduce gather           pieces, each kind numbered from 0
//
// A value is a word ([A-Za-z_][A-Za-z0-9_-]*), a whole number with an optional
// minus, a number with the unit B or ps touching it, a text in double quotes
// (escapes \" \\ \n), a list [v, v, …] of numbers, or of pairs
// `task:instruction`. Fields come in any order; one that is absent has its
// default, and a default is not printed. `#` starts a comment to the end of the
// line. Places in the user's text (OriginId) are not part of the text.
//
//   instruction fields: name stream(compute) phase(forward) duration makes
//                       frees deps
//     kernels:     precision(bf16) batch(1) m n k keyheads flops modelflops
//                  fullflops read written after kernels(1) hostwait
//     others:      bytes sizes strides for(none) copies(0) nodes(0)
//   task fields: name stream(compute; send: send; recv: recv) deps duration
//     run:         block pass(forward) micro(-1) chunk(-1) withmicro(-1)
//                  withchunk(-1)
//     others:      bytes sizes strides for(none) tag(-1); send, recv: peer
//   piece fields: name collective(reduce: all_reduce, gather: all_gather) bytes
//     sizes strides for(none) task instruction(0) uses then layer(-1)
//   memory fields: parameters gradients optimizer activations gathered buffers
//     logits workspace unreturned host, in B
#include "runtime/program/ProgramSet.h"

#include <fmt/format.h>

namespace planc::program {

namespace {

class Printer {
public:
  std::string print(const ProgramSet &set) {
    word("program");
    quoted(set.name);
    number("accelerators", set.accelerators, 1);
    number("microbatches", set.microBatches, 1);
    if (set.stepEnd == ProgramSet::StepEnd::Free)
      text("end", "free");
    open();
    for (const Block &block : set.blocks)
      printBlock(block);
    for (const RankProgram &rankClass : set.classes)
      printClass(rankClass);
    close();
    return std::move(out_);
  }

private:
  void printBlock(const Block &block) {
    word("block");
    quoted(block.name);
    open();
    for (const Instruction &instruction : block.instructions)
      printInstruction(instruction);
    close();
  }

  void printInstruction(const Instruction &instruction) {
    word(toString(instruction.kind));
    name(instruction.name);
    if (instruction.stream != Stream::Compute)
      text("stream", toString(instruction.stream));
    if (instruction.phase != Phase::Forward)
      text("phase", toString(instruction.phase));
    printWork(instruction.work);
    printMessage(instruction.message);
    duration(instruction.duration);
    bytes("makes", instruction.makes);
    bytes("frees", instruction.frees);
    list("deps", instruction.deps, [](std::uint32_t dep) { return dep; });
    out_ += '\n';
  }

  void printWork(const Work &work) {
    if (work.precision != Precision::Bf16)
      text("precision", toString(work.precision));
    number("batch", work.batch, 1);
    number("m", work.m, 0);
    number("n", work.n, 0);
    number("k", work.k, 0);
    number("keyheads", work.keyHeads, 0);
    number("flops", work.flops.value, 0);
    number("modelflops", work.modelFlops.value, 0);
    number("fullflops", work.modelFlopsFull.value, 0);
    bytes("read", work.bytesRead);
    bytes("written", work.bytesWritten);
    bytes("after", work.bytesAfter);
    number("kernels", work.kernels, 1);
    number("hostwait", work.hostWait.value, 0);
  }

  void printMessage(const Message &message) {
    bytes("bytes", message.bytes);
    auto same = [](std::int64_t n) { return n; };
    list("sizes", message.sizes, same);
    list("strides", message.strides, same);
    if (message.kind != CommunicationKind::None)
      text("for", toString(message.kind));
    number("copies", message.copies, 0);
    number("nodes", message.nodes, 0);
  }

  void printClass(const RankProgram &rankClass) {
    word("class");
    quoted(rankClass.name);
    number("ranks", rankClass.ranks, 1);
    number("first", rankClass.first, 0);
    open();
    printMemory(rankClass.memory);
    for (const Task &task : rankClass.tasks)
      printTask(task);
    for (const Piece &piece : rankClass.reduces)
      printPiece(piece);
    for (const Piece &piece : rankClass.gathers)
      printPiece(piece);
    close();
  }

  void printMemory(const Memory &memory) {
    if (memory.total() == Bytes(0))
      return;
    word("memory");
    bytes("parameters", memory.parameters);
    bytes("gradients", memory.gradients);
    bytes("optimizer", memory.optimizer);
    bytes("activations", memory.activations);
    bytes("gathered", memory.gathered);
    bytes("buffers", memory.buffers);
    bytes("logits", memory.logits);
    bytes("workspace", memory.workspace);
    bytes("unreturned", memory.unreturned);
    bytes("host", memory.host);
    out_ += '\n';
  }

  static Stream usualStream(TaskKind kind) {
    if (kind == TaskKind::Send)
      return Stream::Send;
    return kind == TaskKind::Recv ? Stream::Recv : Stream::Compute;
  }

  void printTask(const Task &task) {
    word(toString(task.kind));
    name(task.name);
    if (task.stream != usualStream(task.kind))
      text("stream", toString(task.stream));
    if (task.kind == TaskKind::Run) {
      id("block", task.block);
      if (task.pass != PassKind::Forward)
        text("pass", toString(task.pass));
      number("micro", task.microBatch, -1);
      number("chunk", task.chunk, -1);
      number("withmicro", task.withMicroBatch, -1);
      number("withchunk", task.withChunk, -1);
    } else {
      id("peer", task.peer);
      number("tag", task.tag, -1);
      printMessage(task.message);
    }
    duration(task.duration);
    list("deps", task.deps, [](TaskId dep) { return dep.index(); });
    out_ += '\n';
  }

  void printPiece(const Piece &piece) {
    bool reduce = piece.kind == Piece::Kind::Reduce;
    word(reduce ? "reduce" : "gather");
    name(piece.name);
    if (piece.collective !=
        (reduce ? InstructionKind::AllReduce : InstructionKind::AllGather))
      text("collective", toString(piece.collective));
    printMessage(piece.message);
    id("task", piece.task);
    number("instruction", piece.instruction, 0);
    list("uses", piece.uses, [](const Piece::Use &use) {
      return fmt::format("{}:{}", use.task.index(), use.instruction);
    });
    id("then", piece.then);
    number("layer", piece.layer, -1);
    out_ += '\n';
  }

  void word(std::string_view text) {
    out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    out_ += text;
  }
  void open() {
    out_ += " {\n";
    ++depth_;
  }
  void close() {
    --depth_;
    word("}\n");
  }
  void text(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out_), " {}={}", key, value);
  }
  void number(std::string_view key, std::int64_t value, std::int64_t usual) {
    if (value != usual)
      fmt::format_to(std::back_inserter(out_), " {}={}", key, value);
  }
  void bytes(std::string_view key, Bytes value) {
    if (value != Bytes(0))
      fmt::format_to(std::back_inserter(out_), " {}={}B", key, value.value);
  }
  void duration(const std::optional<Duration> &value) {
    if (value)
      fmt::format_to(std::back_inserter(out_), " duration={}ps", value->value);
  }
  template <class Tag> void id(std::string_view key, Id<Tag> value) {
    if (value.isValid())
      fmt::format_to(std::back_inserter(out_), " {}={}", key, value.index());
  }
  void name(const std::string &value) {
    if (value.empty())
      return;
    out_ += " name=";
    escaped(value);
  }
  void quoted(const std::string &value) {
    out_ += ' ';
    escaped(value);
  }
  void escaped(const std::string &value) {
    out_ += '"';
    for (char c : value) {
      if (c == '"' || c == '\\')
        out_ += '\\';
      if (c == '\n')
        out_ += "\\n";
      else
        out_ += c;
    }
    out_ += '"';
  }
  template <class T, class F>
  void list(std::string_view key, const std::vector<T> &values, F show) {
    if (values.empty())
      return;
    fmt::format_to(std::back_inserter(out_), " {}=[", key);
    for (std::size_t i = 0; i < values.size(); ++i)
      fmt::format_to(std::back_inserter(out_), "{}{}", i ? ", " : "",
                     show(values[i]));
    out_ += ']';
  }

  std::string out_;
  int depth_ = 0;
};

} // namespace

std::string toText(const ProgramSet &set) { return Printer().print(set); }

} // namespace planc::program
