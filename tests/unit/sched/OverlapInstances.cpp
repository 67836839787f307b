#include "tests/unit/sched/OverlapInstances.h"

#include <algorithm>
#include <array>
#include <random>

namespace planc::tests {

using namespace sched;

std::string_view nameOf(OverlapFamily family) {
  constexpr std::array<std::string_view, kOverlapFamilies> kNames = {
      "backward", "two streams",   "groups",        "gathers",
      "latency",  "network bound", "compute bound", "anything"};
  return kNames[static_cast<std::size_t>(family)];
}

namespace {

/// Ranges of what is drawn.
struct Sizes {
  int time = 9;            ///< of a task, at most
  int bytes = 6;           ///< of a piece, at most
  int latency = 3;         ///< of a group, at most
  int perByteQuarters = 6; ///< a quarter of a picosecond a byte, at most
};

Sizes sizesOf(OverlapFamily family) {
  switch (family) {
  case OverlapFamily::Latency:
    return {9, 2, 12, 2};
  case OverlapFamily::NetworkBound:
    return {4, 12, 4, 12};
  case OverlapFamily::ComputeBound:
    return {20, 5, 2, 3};
  default:
    return {};
  }
}

class Builder {
public:
  Builder(OverlapFamily family, std::uint32_t seed, std::size_t layers)
      : family_(family), sizes_(sizesOf(family)),
        random_(seed * 8 + static_cast<std::uint32_t>(family)),
        layers_(static_cast<int>(layers)) {}

  OverlapProblem build() {
    int groups =
        family_ == OverlapFamily::Groups || family_ == OverlapFamily::Anything
            ? between(2, 3)
            : 1;
    for (int group = 0; group < groups; ++group)
      out_.groups.push_back(
          {Duration(between(0, sizes_.latency)),
           std::int64_t(between(0, sizes_.perByteQuarters)) << 28});
    out_.problem.resources = 1;
    if (family_ == OverlapFamily::Anything)
      anything();
    else if (family_ == OverlapFamily::Gathers)
      gathers();
    else
      backward(TaskId());
    return std::move(out_);
  }

private:
  int between(int least, int most) {
    return least + static_cast<int>(random_() %
                                    static_cast<unsigned>(most - least + 1));
  }

  TaskId task(std::size_t resource, int least, std::vector<TaskId> after) {
    Task out;
    out.resource = ResourceId(resource);
    out.duration = Duration(between(least, sizes_.time));
    for (TaskId id : after)
      if (id.isValid())
        out.deps.push_back({id, Duration(between(0, 7) ? 0 : between(1, 4))});
    return out_.problem.tasks.add(std::move(out));
  }

  OverlapPieceId piece(TaskId after, int scale = 1) {
    OverlapPiece out;
    out.after = after;
    out.bytes = Bytes(between(0, sizes_.bytes) * scale);
    out.group = between(0, static_cast<int>(out_.groups.size()) - 1);
    out.tail = Duration(between(0, 2) ? 0 : between(0, sizes_.time));
    return out_.pieces.add(std::move(out));
  }

  /// From the last layer to the first: a gradient of inputs, a gradient of
  /// weights that may wait, a piece.
  void backward(TaskId from) {
    bool streams = family_ == OverlapFamily::TwoStreams;
    if (streams)
      out_.problem.resources = 2;
    TaskId chain = from;
    for (int layer = 0; layer < layers_; ++layer) {
      TaskId before = chain;
      chain = task(0, 1, {before});
      if (streams && (layer == 0 || between(0, 1)))
        chain = task(1, 1, {chain});
      if (layer + 1 == layers_)
        piece(chain, between(0, 1) ? 4 : 1);
      else
        piece(task(0, 0, {between(0, 1) ? chain : before}));
    }
  }

  void gathers() {
    TaskId chain;
    int layers = std::max(1, layers_ - 1);
    for (int layer = 0; layer < layers; ++layer) {
      OverlapPieceId id = piece(TaskId());
      chain = task(0, 1, {chain});
      out_.pieces[id].users = {chain};
      out_.pieces[id].tail = Duration(0);
      out_.pieces[id].release = Duration(between(0, 2) ? 0 : between(1, 6));
    }
    out_.groups.push_back(out_.groups[0]);
    layers_ = between(1, 2);
    backward(chain);
  }

  void anything() {
    out_.problem.resources = static_cast<std::size_t>(between(1, 3));
    int tasks = layers_ * 2;
    for (int i = 0; i < tasks; ++i) {
      std::vector<TaskId> after;
      for (int dep = 0; dep < i; ++dep)
        if (between(0, 99) < 20)
          after.push_back(TaskId(static_cast<std::size_t>(dep)));
      std::size_t on = static_cast<std::size_t>(
          between(0, static_cast<int>(out_.problem.resources) - 1));
      TaskId id = task(on, 0, after);
      out_.problem.tasks[id].release = Duration(between(0, 3) ? 0 : 5);
    }
    for (int i = 0; i < layers_ + 1; ++i) {
      int after = between(-1, tasks - 1);
      OverlapPieceId id =
          piece(after < 0 ? TaskId() : TaskId(static_cast<std::size_t>(after)));
      if (after + 1 < tasks && between(0, 2) == 0)
        out_.pieces[id].users = {
            TaskId(static_cast<std::size_t>(between(after + 1, tasks - 1)))};
    }
  }

  OverlapFamily family_;
  Sizes sizes_;
  std::mt19937 random_;
  int layers_;
  OverlapProblem out_;
};

} // namespace

OverlapProblem overlapInstance(OverlapFamily family, std::uint32_t seed,
                               std::size_t layers) {
  return Builder(family, seed, layers).build();
}

namespace {

class StepBuilder {
public:
  explicit StepBuilder(const TrainingStep &step) : step_(step) {}

  OverlapProblem build() {
    out_.problem.resources = step_.collectives ? 2 : 1;
    for (int layer = 0; layer < step_.layers; ++layer)
      forward();
    for (int layer = 0; layer < step_.layers; ++layer)
      backward(layer);
    links();
    return std::move(out_);
  }

private:
  static constexpr std::int64_t kMicrosecond = 1'000'000;

  std::int64_t between(int least, int most) {
    return least + static_cast<std::int64_t>(
                       random_() % static_cast<unsigned>(most - least + 1));
  }

  TaskId task(std::size_t resource, TaskId after) {
    Task out;
    out.resource = ResourceId(resource);
    out.duration = Duration(between(20, 400) * kMicrosecond);
    if (after.isValid())
      out.deps.push_back({after, Duration(0)});
    busy_ += out.duration.value;
    return out_.problem.tasks.add(std::move(out));
  }

  void forward() {
    for (int i = 0; i < 4; ++i) {
      chain_ = task(step_.collectives && i == 3, chain_);
      if (!step_.gathers || i != 0)
        continue;
      OverlapPiece piece;
      piece.bytes = Bytes(between(1, 8) << 20);
      piece.users = {chain_};
      out_.pieces.add(std::move(piece));
    }
  }

  void backward(int layer) {
    TaskId before = chain_, attention;
    for (int i = 0; i < 4; ++i) {
      chain_ = task(step_.collectives && i == 3, chain_);
      attention = i == 2 ? chain_ : attention;
    }
    task(0, before);
    OverlapPiece piece;
    piece.after = task(0, attention);
    piece.bytes = Bytes(between(2, 16) << 20);
    if (layer + 1 == step_.layers)
      piece.bytes = Bytes(std::int64_t(2'000'000) * step_.layers);
    piece.group = layer % step_.groups + step_.gathers;
    out_.pieces.add(std::move(piece));
  }

  void links() {
    std::int64_t bytes = 0;
    for (const OverlapPiece &piece : out_.pieces)
      bytes += piece.bytes.value;
    Int128 time = Int128(busy_) * step_.linkPercent / 100;
    for (int group = 0; group < step_.groups + step_.gathers; ++group)
      out_.groups.push_back({Duration((20 + 10 * group) * kMicrosecond),
                             static_cast<std::int64_t>((time << 30) / bytes)});
  }

  TrainingStep step_;
  std::mt19937 random_{7};
  OverlapProblem out_;
  TaskId chain_;
  std::int64_t busy_ = 0;
};

} // namespace

OverlapProblem trainingStep(const TrainingStep &step) {
  return StepBuilder(step).build();
}

} // namespace planc::tests
