// planc-opt FILE.prog: reads a program text, runs it in virtual time with the
// durations it states, and prints what came of it. For tests; people use planc.
#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"
#include "compiler/syntax/ReadProgram.h"
#include "compiler/syntax/ReadSchedule.h"
#include "runtime/sim/Engine.h"
#include "tools/planc-opt/Summary.h"

#include <fmt/format.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

namespace planc::tool {

namespace {

namespace cl = llvm::cl;

enum class Order { Program, Framework, Chosen };
enum class Print { Summary, Program, Schedule, Timeline };

struct CommandLine {
  cl::OptionCategory category{"options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE"),
                            cl::cat(category)};
  cl::opt<Order> order{
      "order", cl::desc("of buckets"), cl::init(Order::Framework),
      cl::values(clEnumValN(Order::Program, "program", "nothing overlapped"),
                 clEnumValN(Order::Framework, "framework", "by --bucket"),
                 clEnumValN(Order::Chosen, "chosen", "by the optimiser")),
      cl::cat(category)};
  cl::opt<std::string> schedule{
      "schedule", cl::desc("a schedule's text, instead of --order"),
      cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<sim::BucketPolicy::Kind> bucket{
      "bucket", cl::desc("of the framework order"),
      cl::init(sim::BucketPolicy::Kind::Ddp),
      cl::values(
          clEnumValN(sim::BucketPolicy::Kind::Ddp, "ddp", "PyTorch's"),
          clEnumValN(sim::BucketPolicy::Kind::Megatron, "megatron",
                     "Megatron's"),
          clEnumValN(sim::BucketPolicy::Kind::Layer, "layer", "one a layer"),
          clEnumValN(sim::BucketPolicy::Kind::One, "one", "one"),
          clEnumValN(sim::BucketPolicy::Kind::Size, "size",
                     "of --bucket-bytes")),
      cl::cat(category)};
  cl::opt<std::uint64_t> bucketBytes{"bucket-bytes", cl::init(25u << 20),
                                     cl::desc("size with --bucket=size"),
                                     cl::cat(category)};
  cl::opt<std::uint64_t> bucketLatency{"bucket-latency", cl::init(0),
                                       cl::desc("picoseconds of every bucket"),
                                       cl::cat(category)};
  cl::opt<std::uint64_t> bucketMebibyte{
      "bucket-mebibyte", cl::init(0),
      cl::desc("picoseconds of every MiB of a bucket"), cl::cat(category)};
  cl::opt<unsigned> linkShare{
      "link-share", cl::init(0),
      cl::desc("percent of the rank's link that every message takes"),
      cl::cat(category)};
  cl::opt<unsigned> memoryShare{
      "memory-share", cl::init(0),
      cl::desc("percent of the memory bandwidth that every collective and "
               "message takes from kernels, which want all of it"),
      cl::cat(category)};
  cl::opt<sim::Contention> contention{
      "contention", cl::desc("for links and memory"),
      cl::init(sim::Contention::On),
      cl::values(clEnumValN(sim::Contention::Off, "off", "none"),
                 clEnumValN(sim::Contention::On, "on", "the default")),
      cl::cat(category)};
  cl::opt<bool> flat{"flat", cl::desc("simulate every instruction of each run"),
                     cl::cat(category)};
  cl::opt<Print> print{
      "print", cl::desc("what"), cl::init(Print::Summary),
      cl::values(clEnumValN(Print::Summary, "summary", "numbers"),
                 clEnumValN(Print::Program, "program", "the text again"),
                 clEnumValN(Print::Schedule, "schedule", "the order's text"),
                 clEnumValN(Print::Timeline, "timeline", "of the first step")),
      cl::cat(category)};
};

constexpr int kUsage = 1;

int exitCode(FailureKind kind) {
  switch (kind) {
  case FailureKind::Illegal:
    return 2;
  case FailureKind::Infeasible:
    return 4;
  case FailureKind::Unsupported:
    return 5;
  case FailureKind::Internal:
    return 70;
  }
  return 70;
}

std::string_view wordFor(FailureKind kind) {
  switch (kind) {
  case FailureKind::Illegal:
    return "illegal";
  case FailureKind::Infeasible:
    return "infeasible";
  case FailureKind::Unsupported:
    return "unsupported";
  case FailureKind::Internal:
    return "internal error";
  }
  return "internal error";
}

int fail(FailureKind kind, const std::string &text) {
  llvm::errs() << "planc-opt: " << wordFor(kind) << ": " << text << "\n";
  return exitCode(kind);
}

int usage(const std::string &text) {
  llvm::errs() << "planc-opt: " << text << "\n";
  return kUsage;
}

/// A byte more than a program may have is enough to refuse it.
std::optional<std::string> readFile(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return std::nullopt;
  constexpr std::size_t kChunk = 64 << 10;
  std::string text;
  errno = 0;
  for (std::size_t got = 1;
       got > 0 && text.size() <= syntax::kMaxProgramBytes;) {
    std::size_t size = text.size();
    text.resize(size + kChunk);
    got = std::fread(text.data() + size, 1, kChunk, file);
    text.resize(size + got);
  }
  bool failed = std::ferror(file) != 0;
  int error = errno;
  std::fclose(file);
  errno = error;
  if (failed)
    return std::nullopt;
  return text;
}

class Run {
public:
  explicit Run(const CommandLine &options) : options_(options) {}

  /// Gives the exit code.
  int run() {
    auto program = [&](auto file, const auto &sources, auto &emitter) {
      set_ = syntax::readProgram(file, sources, emitter);
      return set_.has_value();
    };
    if (int code = read(options_.file, program); code != 0)
      return code;
    auto schedule = [&](auto file, const auto &sources, auto &emitter) {
      schedule_ = syntax::readSchedule(file, sources, *set_, emitter);
      return schedule_.has_value();
    };
    if (!options_.schedule.empty())
      if (int code = read(options_.schedule, schedule); code != 0)
        return code;
    if (options_.print == Print::Program) {
      llvm::outs() << program::toText(*set_);
      return 0;
    }
    if (options_.print == Print::Schedule && schedule_) {
      llvm::outs() << sim::toText(*schedule_, *set_);
      return 0;
    }
    if (int code = state(); code != 0)
      return code;
    return simulate();
  }

private:
  /// Gives the exit code. `reader(file, sources, emitter)` is false after an
  /// error.
  template <class Reader> int read(const std::string &path, Reader reader) {
    std::optional<std::string> text = readFile(path);
    if (!text)
      return usage(
          fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    source::SourceSet sources;
    source::FileId file = sources.add(path, std::move(*text));
    diag::ConsoleConsumer console(llvm::errs(), sources, diag::Colour::Never);
    diag::Emitter emitter(console);
    const bool isRead = reader(file, sources, emitter);
    emitter.finish();
    return isRead ? 0 : exitCode(emitter.failure());
  }

  void shareOf(sim::OpCost &cost) const {
    constexpr auto kPercent = static_cast<std::int32_t>(cost::kWhole / 100);
    cost.links[0] = static_cast<std::int32_t>(options_.linkShare) * kPercent;
    cost.memoryShare =
        static_cast<std::int32_t>(options_.memoryShare) * kPercent;
  }

  int state() {
    sim::AffineCost affine{
        Duration(static_cast<std::int64_t>(options_.bucketLatency)),
        Duration(static_cast<std::int64_t>(options_.bucketMebibyte))};
    Result<sim::Costs> costs = sim::statedCosts(*set_, affine);
    if (!costs)
      return fail(costs.failure().kind, costs.failure().text);
    costs_ = std::move(*costs);
    for (program::BlockId id : set_->blocks.ids()) {
      const auto &instructions = set_->blocks[id].instructions;
      for (std::size_t i = 0; i < instructions.size(); ++i) {
        sim::OpCost &cost = costs_.instructions[id.index()][i];
        if (classOf(instructions[i].kind) == program::InstructionClass::Compute)
          cost.memoryShare = cost::kWhole;
        else
          shareOf(cost);
      }
    }
    for (auto &tasks : costs_.tasks)
      for (sim::OpCost &cost : tasks)
        shareOf(cost);
    costs_.bucket = [this, affine](const program::RankProgram &rankClass,
                                   const program::Piece &piece, Bytes bytes) {
      sim::OpCost cost = affine(rankClass, piece, bytes);
      shareOf(cost);
      return cost;
    };
    return 0;
  }

  Result<timeline::Timeline> simulate(const sim::IssueOrder &order,
                                      std::int32_t steps) const {
    sim::Options options;
    options.steps = steps;
    options.contention = options_.contention;
    options.mode = options_.flat ? sim::Mode::Flat : sim::Mode::Reuse;
    return sim::simulate(*set_, costs_, order, options);
  }

  Result<sim::IssueOrder> makeOrder() const {
    if (schedule_)
      return *schedule_;
    if (options_.order == Order::Program)
      return sim::programIssue(*set_);
    sim::BucketPolicy policy;
    policy.kind = options_.bucket;
    policy.size = Bytes(static_cast<std::int64_t>(options_.bucketBytes));
    sim::IssueOrder framework = sim::frameworkIssue(*set_, policy);
    if (options_.order == Order::Framework)
      return framework;
    Result<timeline::Timeline> seen = simulate(framework, 2);
    if (!seen)
      return seen.failure();
    return sim::chosenIssue(*set_, costs_, *seen, framework, {});
  }

  /// Sums over all ranks stay exact.
  bool fits() const {
    constexpr std::int64_t kMostRanks = std::int64_t(1) << 40;
    return std::all_of(set_->classes.begin(), set_->classes.end(),
                       [](const program::RankProgram &one) {
                         return one.ranks <= kMostRanks;
                       });
  }

  int simulate() {
    if (!fits())
      return fail(FailureKind::Unsupported, "a class has too many ranks");
    Result<sim::IssueOrder> order = makeOrder();
    if (!order)
      return fail(order.failure().kind, order.failure().text);
    if (auto broken = sim::verify(*order, *set_); !broken.empty())
      return fail(FailureKind::Internal, broken[0]);
    if (options_.print == Print::Schedule) {
      llvm::outs() << sim::toText(*order, *set_);
      return 0;
    }
    Result<timeline::Timeline> one = simulate(*order, 1);
    Result<timeline::Timeline> two = simulate(*order, 2);
    for (const auto *timeline : {&one, &two}) {
      if (!*timeline)
        return fail(timeline->failure().kind, timeline->failure().text);
      if (auto broken = timeline::verify(**timeline, *set_); !broken.empty())
        return fail(FailureKind::Internal, broken[0]);
    }
    if (options_.print == Print::Timeline)
      llvm::outs() << timeline::toText(*one, *set_);
    else
      llvm::outs() << toText(summarise(*one, *set_), *set_, two->stepTime);
    return 0;
  }

  const CommandLine &options_;
  std::optional<program::ProgramSet> set_;
  std::optional<sim::IssueOrder> schedule_; ///< --schedule
  sim::Costs costs_;
};

int checkedRun(const CommandLine &options) {
  constexpr std::uint64_t kMost = std::uint64_t(1) << 60;
  if (options.file.empty())
    return usage("no FILE given");
  if (options.linkShare > 100 || options.memoryShare > 100)
    return usage("a share is at most 100 percent");
  if (options.bucketBytes > kMost || options.bucketLatency > kMost ||
      options.bucketMebibyte > kMost)
    return usage("a number of a bucket is too large");
  return Run(options).run();
}

int guarded(int count, const char *const *values) {
  try {
    CommandLine options;
    cl::HideUnrelatedOptions(options.category);
    if (!cl::ParseCommandLineOptions(count, values, "", &llvm::errs()))
      return kUsage;
    return checkedRun(options);
  } catch (const std::exception &error) {
    return fail(FailureKind::Internal, error.what());
  }
}

} // namespace

} // namespace planc::tool

int main(int argc, char **argv) { return planc::tool::guarded(argc, argv); }
